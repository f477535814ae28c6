//! Generates the parser from the grammars in `grammar/`, and the table of the pages in `stdlib/codes/`.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // every job starts this program anew, and moving a large one to another address takes a third of that time
    println!("cargo:rustc-link-arg-bins=-no-pie");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=grammar");
    println!("cargo:rerun-if-changed=stdlib/codes");
    pages(Path::new(&std::env::var("OUT_DIR")?))?;
    lalrpop::Configuration::new().set_in_dir("grammar").emit_rerun_directives(true).process()
}

/// An array of pairs, code and text, in the order of the codes.
fn pages(out: &Path) -> std::io::Result<()> {
    let names = std::fs::read_dir("stdlib/codes")?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect::<std::io::Result<_>>()?;
    names.sort();
    let codes = names.iter().filter_map(|name| name.strip_suffix(".md"));
    let row = |code: &str| format!("(\"{code}\", include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/stdlib/codes/{code}.md\"))),\n");
    std::fs::write(out.join("pages.rs"), format!("[\n{}]", codes.map(row).collect::<String>()))
}
