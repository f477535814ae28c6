//! Generates the parser from the grammars in `grammar/`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=grammar");
    lalrpop::Configuration::new().set_in_dir("grammar").emit_rerun_directives(true).process()
}
