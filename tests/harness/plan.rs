//! `scl plan`: what would be asked for, and the scripts, for programs beside site files.

use std::path::Path;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::binary::{Place, Ran};
use crate::golden;
use crate::jobs::expect;

type Test = fn() -> Result<(), Failed>;

/// A golden for each case of `tests/plan`, and what depends on more than that.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 5] = [
        ("the jobs of a run are those that were planned", keys),
        ("this machine has limits and no scripts", local),
        ("tools read an object", object),
        ("what is wrong is said", wrong),
        ("without a site file Slurm is asked", detected),
    ];
    let mut trials = golden::folder("plan", planned);
    trials.extend(tests.into_iter().map(|(name, test)| Trial::test(format!("plan: {name}"), test)));
    trials
}

/// The plan, then the script of each submission, which bash understands; or what is wrong.
fn planned(path: &Path, text: &str) -> String {
    let place = Place::new();
    place.write("model.scl", text);
    let plan = |arguments: &[&str]| {
        let fixed = ["plan", "model.scl", "--system", "slurm", "--store", "/shared/model's/.scl"];
        let mut command = place.scl(&[&fixed, arguments].concat());
        Ran::from(command.env("SCL_SITE", path.with_extension("site.toml")).output().expect("the binary starts"))
    };
    let Ran { code, stdout, stderr } = plan(&[]);
    let mut out = if code == Some(0) { stdout } else { format!("{stdout}{stderr}status {code:?}\n") };
    let object: Value = serde_json::from_str(&plan(&["--format", "json"]).stdout).unwrap_or_default();
    for name in object["statements"].as_array().into_iter().flatten().flat_map(submissions) {
        let script = plan(&["--script", &name]).stdout;
        let checked = Command::new("bash").args(["-n", "-c", &script]).output().expect("bash starts");
        out.push_str(&format!("---- {name}\n{script}{}", String::from_utf8_lossy(&checked.stderr)));
    }
    let out = out.replace(&place.path().display().to_string(), "HERE").replace(env!("CARGO_BIN_EXE_scl"), "SCL");
    without_keys(&out)
}

/// The names of the submissions of a statement: its own, or those of the first part of each array.
fn submissions(statement: &Value) -> Vec<String> {
    let name = statement["name"].as_str().unwrap_or_default();
    let sizes: Vec<u64> = statement["submissions"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    if sizes.len() < 2 {
        return vec![name.to_owned()];
    }
    let start = |at: usize| sizes[..at].iter().sum::<u64>() + 1;
    (0..sizes.len()).map(|at| format!("{name} {}/{}", start(at), statement["jobs"])).collect()
}

/// What the keys are is tested elsewhere, and changes with their version.
fn without_keys(text: &str) -> String {
    let is_key = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let line = |line: &str| match line.split_once('/') {
        Some((key, rest)) if is_key(key) => format!("(key)/{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

const CHUNKS: &str = "\
s = (v: 1.5, 2.5, 3.5)
f(x) = x**2
k = map((x: f(x)), s) in 2 chunks on 1 core with 100 [MiB] for 1 [min]
print(k)
";

fn keys() -> Result<(), Failed> {
    let place = Place::new();
    place.write("model.scl", CHUNKS);
    place.write("site.toml", "system = \"slurm\"\n[slurm]\n[[slurm.queue]]\nname = \"main\"\n");
    let attempts = |script: &str| -> Vec<String> {
        script.lines().filter(|line| line.contains("/attempt-") && !line.contains('$')).map(str::to_owned).collect()
    };
    let planned = place.run(&["plan", "model.scl", "--script", "k"]);
    let paths = attempts(&planned.stdout);
    expect(paths.len() == 2 && !planned.stdout.contains("KEY-"), &planned)?;
    expect(!place.path().join(".scl").exists(), "nothing is written")?;
    place.write("site.toml", "system = \"local\"\n");
    place.run(&["run", "--quiet", "model.scl"]).prints("(k: 2.25, 6.25, 12.25)\n")?;
    let jobs = place.path().join(".scl/jobs");
    expect(paths.iter().all(|path| jobs.join(path).join("manifest.json").exists()), paths)?;
    place.write("site.toml", "system = \"slurm\"\n[slurm]\n[[slurm.queue]]\nname = \"main\"\n");
    let again = attempts(&place.run(&["plan", "model.scl", "--script", "k 2/2"]).stdout);
    expect(again.len() == 2 && again.iter().all(|path| path.ends_with("/attempt-2")), again)
}

fn local() -> Result<(), Failed> {
    let place = Place::new();
    place.write("model.scl", CHUNKS);
    let plan = |arguments: &[&str]| place.run(&[&["plan", "--system", "local", "model.scl"], arguments].concat());
    let machine = [
        "lowered   1 of ",
        " cores, 100 of ",
        "jobs      2\n",
        "at most 0.03 core hours, each job at most 1m",
        "total: 2 jobs, at most 0.03",
    ];
    plan(&[]).prints_some(&machine)?;
    plan(&["--script", "k"]).is_refused(&["error[E0849]", "--system slurm"])?;
    place.write("model.scl", "a = sum(range(0, 10000, 1)) on 99999 cores\nprint(a)\n");
    plan(&[]).is_refused(&["error[E0810]", "model.scl:1:"])
}

fn object() -> Result<(), Failed> {
    let place = Place::new();
    place.write("model.scl", CHUNKS);
    place.write("site.toml", "[slurm]\ncluster = \"big\"\nlargest_array = 1\n[[slurm.queue]]\nname = \"main\"\n");
    let plan: Value = serde_json::from_str(&place.run(&["plan", "model.scl", "--format", "json"]).stdout)?;
    let statement = &plan["statements"][0];
    expect(plan["version"] == 1 && plan["system"] == "slurm" && plan["cluster"] == "big", &plan)?;
    expect(statement["name"] == "k" && statement["line"] == 3 && statement["queue"] == "main", &plan)?;
    expect(statement["submissions"] == serde_json::json!([1, 1]) && statement["options"][4] == "--mem-per-cpu=100M", &plan)?;
    expect(plan["total"]["jobs"] == 2 && plan["critical_path"]["jobs"][0] == "k 1/2", &plan)?;
    let script: Value = serde_json::from_str(&place.run(&["plan", "model.scl", "--format", "json", "--script", "k 2/2"]).stdout)?;
    expect(script["version"] == 1 && script["script"].as_str().is_some_and(|script| script.starts_with("#!/bin/bash\n")), &script)
}

fn wrong() -> Result<(), Failed> {
    let place = Place::new();
    place.write("site.toml", "[slurm]\n[[slurm.queue]]\nname = \"main\"\n");
    place.write("model.scl", CHUNKS);
    place.run(&["plan", "model.scl", "--script", "kk"]).is_refused(&["error[E0725]"])?;
    place.write("model.scl", "print(a)\n");
    place.run(&["plan", "model.scl"]).is_refused(&["error[E0201]"])?;
    place.write("site.toml", "[slurm]\nqueue = 3\n");
    place.run(&["plan", "model.scl"]).is_refused(&["error["])
}

/// By clients that repeat what those of a real Slurm said.
fn detected() -> Result<(), Failed> {
    let place = crate::site::place("two-nodes");
    place.write("model.scl", CHUNKS);
    let plan = crate::site::run(&place, &["plan", "model.scl"], "/usr/bin:/bin");
    plan.prints_some(&["--partition=main", "--mem-per-cpu=100M", "total: 2 jobs in 1 submission,"])
}
