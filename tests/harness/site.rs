//! `scl site`, with clients that repeat what those of a real Slurm said.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::binary::{Place, Ran};
use crate::jobs::expect;

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 8] = [
        ("detect prints a file that agrees with what there is", detect),
        ("detect does not replace a file unless it is told to", force),
        ("without Slurm detect says what to do", no_slurm),
        ("no partition for this user", no_partition),
        ("show tells what holds and where it comes from", show),
        ("check finds what would fail", check),
        ("check without Slurm", check_without),
        ("a file that is wrong is not compared", wrong),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("site: {name}"), test)).collect()
}

/// A directory with clients that say what is in `tests/site/<name>.*`.
pub fn place(name: &str) -> Place {
    let place = Place::new();
    let replies = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/site").join(name);
    let reply = replies.display();
    client(&place, "sbatch", "exit 1");
    client(&place, "scontrol", &format!("[ \"$1 $2\" = '-o show' ] && exec cat \"{reply}.$3\""));
    client(&place, "sacctmgr", &format!("exec cat \"{reply}.accounts\""));
    place
}

fn client(place: &Place, name: &str, script: &str) {
    std::fs::create_dir_all(place.path().join("bin")).expect("the directory can be written");
    let path = place.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("the directory can be written");
}

/// With the clients of the place before all others, or without any.
pub fn run(place: &Place, arguments: &[&str], path: &str) -> Ran {
    let own = format!("{}:{path}", place.path().join("bin").display());
    Ran::from(place.scl(arguments).env("PATH", own).output().expect("the binary starts"))
}

fn site(place: &Place, arguments: &[&str]) -> Ran {
    run(place, &[&["site"], arguments].concat(), "/usr/bin:/bin")
}

fn without_slurm(arguments: &[&str], file: &str) -> Ran {
    let place = Place::new();
    place.write("site.toml", file);
    // what starts the binary is found on the same path
    client(&place, "env", "exec /usr/bin/env \"$@\"");
    run(&place, &[&["site"], arguments].concat(), "/nowhere")
}

fn detect() -> Result<(), Failed> {
    let place = place("odd");
    let found = site(&place, &["detect"]);
    found.prints_some(&["# left out: `shut` is down\n", "account = \"phys\"\n", "name = \"chem\"\n"])?;
    let written = site(&place, &["detect", "--write"]);
    written.prints_some(&["config/scl/site.toml describes 4 queues"])?;
    let file = std::fs::read_to_string(place.path().join("config/scl/site.toml"))?;
    expect(file == found.stdout, &file)?;
    let checked = site(&place, &["check"]);
    checked.ends(0, &format!("checked {}\n", place.path().join("config/scl/site.toml").display()), &[])?;
    expect(checked.stderr.is_empty(), &checked)?;
    let object: Value = serde_json::from_str(&site(&place, &["detect", "--format", "json"]).stdout)?;
    expect(object["version"] == 1 && object["left_out"][0]["queue"] == "bio", &object)?;
    expect(object["site"]["slurm"]["queue"][0]["name"] == "main" && object["file"].is_null(), &object)
}

fn force() -> Result<(), Failed> {
    let place = place("two-nodes");
    let file = place.write("mine.toml", "# mine\n");
    site(&place, &["detect", "--output", "mine.toml"]).is_refused(&["error[E0844]", "--force"])?;
    expect(std::fs::read_to_string(&file)? == "# mine\n", "it was kept")?;
    site(&place, &["detect", "--output", "mine.toml", "--force"]).prints("mine.toml describes 2 queues\n")?;
    expect(std::fs::read_to_string(&file)?.contains("[[slurm.queue]]"), "it was replaced")?;
    site(&place, &["detect", "--output", "mine.toml/under/it", "--force"]).ends(1, "", &["error[E0848]"])?;
    let nowhere = place
        .scl(&["site", "detect", "--write"])
        .env("PATH", place.path().join("bin").display().to_string() + ":/usr/bin:/bin")
        .env_remove("HOME")
        .env_remove("XDG_CONFIG_HOME")
        .output()?;
    Ran::from(nowhere).is_refused(&["error[E0848]", "neither HOME nor XDG_CONFIG_HOME", "--output"])
}

fn no_slurm() -> Result<(), Failed> {
    without_slurm(&["detect"], "").ends(1, "", &["error[E0842]", "`scontrol -o show config`", "cannot be run", "--system local"])?;
    let place = place("odd");
    client(&place, "scontrol", "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)' >&2; exit 1");
    site(&place, &["detect"]).ends(1, "", &["error[E0842]", "Unable to contact slurm controller"])?;
    site(&place, &["show"]).ends(1, "", &["error[E0842]"])
}

fn no_partition() -> Result<(), Failed> {
    let place = place("odd");
    client(&place, "scontrol", "[ $3 = partition ] && echo PartitionName=a State=DOWN; [ $3 = config ] && echo ClusterName = x; exit 0");
    site(&place, &["detect"]).ends(1, "", &["error[E0843]", "`a` is down"])
}

fn show() -> Result<(), Failed> {
    let place = place("two-nodes");
    site(&place, &["show"]).prints_some(&["# no site file describes a cluster", "system = \"slurm\"\n", "name = \"short\"\n"])?;
    place.write("site.toml", "[retries]\nsignal = 2\n[slurm]\naccount = \"me\"\n");
    std::fs::create_dir(place.path().join(".scl"))?;
    place.write(".scl/site.toml", "[slurm]\naccount = \"you\"\n");
    let text = "# from site.toml\n# from .scl/site.toml\nsystem = \"slurm\"\n\n[retries]\nsignal = 2\n\n[slurm]\naccount = \"you\"\nmemory = \"per_core\"\nlargest_array = 1000\n";
    site(&place, &["show"]).prints(text)?;
    let object: Value = serde_json::from_str(&site(&place, &["show", "--format", "json"]).stdout)?;
    expect(object["files"][1] == ".scl/site.toml" && object["site"]["slurm"]["account"] == "you" && object["detected"] == false, &object)?;
    site(&place, &["show", "--program", "elsewhere/model.scl"]).prints_some(&["# no site file describes a cluster"])?;
    without_slurm(&["show"], "").prints("# from site.toml\nsystem = \"local\"\n")
}

const WRONG: &str = "\
[slurm]
account = \"nobody\"
largest_array = 20000
program = \"/no/such/scl\"
directory = \"/no/such\"
modules = [\"gcc/13\", \"fftw\"]
[[slurm.queue]]
name = \"mian\"
[[slurm.queue]]
name = \"shut\"
[[slurm.queue]]
name = \"threads\"
nodes = [{ cores = 8, memory_mib = 30000 }, { cores = 9, memory_mib = 3000 }]
longest_minutes = 5000
[[slurm.queue]]
name = \"chem\"
account = \"physics\"
most_memory_mib = 5000
";

fn check() -> Result<(), Failed> {
    let place = place("odd");
    // a login shell of bash reads it
    place.write(".bash_profile", "module() { printf '%s\\n' /modules: gcc/12 'gcc/13(default)' fftw2/3; }\n");
    place.write("site.toml", WRONG);
    let path = format!("{}:/usr/bin:/bin", place.path().join("bin").display());
    let ran = place.scl(&["site", "check", "--format", "json"]).env("PATH", path).env("HOME", place.path()).output()?;
    let ran = Ran::from(ran);
    let object: Value = serde_json::from_str(&ran.stdout)?;
    let found = object["diagnostics"].as_array().map_or(&[] as &[Value], Vec::as_slice).iter();
    let found: Vec<String> = found.map(|fault| format!("{} {}", fault["code"].as_str().unwrap_or_default(), marked(fault))).collect();
    let wanted = [
        "E0847 \"nobody\"",
        "E0846 20000",
        "W0843 \"/no/such/scl\"",
        "W0843 \"/no/such\"",
        "W0844 \"fftw\"",
        "E0845 \"mian\"",
        "W0842 \"shut\"",
        "E0846 30000",
        "E0846 9",
        "E0846 5000",
        "E0847 \"physics\"",
        "E0846 5000",
    ];
    expect(found == wanted && ran.code == Some(2), (found, ran))
}

/// The text that a diagnostic marks.
fn marked(fault: &Value) -> &str {
    let label = &fault["labels"][0];
    let at = |name: &str| label[name]["offset"].as_u64().or(label[name].as_u64()).unwrap_or_default() as usize;
    WRONG.get(at("start")..at("end")).unwrap_or_default()
}

fn check_without() -> Result<(), Failed> {
    without_slurm(&["check"], "[slurm]\n").ends(0, "checked site.toml\n", &["warning[W0845]"])?;
    let place = place("odd");
    client(&place, "scontrol", "exit 3");
    place.write("site.toml", "[slurm]\n");
    site(&place, &["check"]).ends(1, "checked site.toml\n", &["error[E0842]", "status 3"])?;
    place.write("site.toml", "");
    site(&place, &["check"]).ends(0, "checked site.toml\n", &[])
}

fn wrong() -> Result<(), Failed> {
    for command in ["show", "check"] {
        without_slurm(&[command], "[slrm]\n").is_refused(&["error[E0832]", "did you mean `slurm`?"])?;
    }
    Ok(())
}
