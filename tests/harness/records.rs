//! The commands that look at runs, past and present, with the real binary.

use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::binary::Place;
use crate::jobs::{Driver, attempts, expect, place, wait_until, workflow};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 16] = [
        ("a summary tells outcomes, core hours and memory", summary),
        ("status tells how each task stands", status),
        ("status while a driver runs", status_of_a_running_driver),
        ("status after a driver was killed", status_after_a_kill),
        ("log shows what a job was given and said", log),
        ("results are shown without running", results),
        ("a long line is shown as it was printed", long_line),
        ("without a store commands say so", no_store),
        ("a name that no job has", no_such_task),
        ("runs are listed, of one program or of all", runs),
        ("why tells what is kept and what has changed", why),
        ("why runs nothing", why_runs_nothing),
        ("why tells of what runs", why_of_what_runs),
        ("what files hold is part of a key", files),
        ("a file whose name only evaluation tells", unknown_file),
        ("a file that changes while it is used", changing_file),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("records: {name}"), test)).collect()
}

const TWO: &str = "\
s = (v: 1, 0, 2)
m = map((x: 6/(x + 1)), s) in 3 chunks for 1 [min] on 1 core with 512 [MiB]
f = reduce((a, b: a + b), m) in 2 chunks on 1 core
b = 1/0 on 1 core
print('before')
print(m)
print(b)
print(f)
";

/// What a command says to tools.
pub fn json(place: &Place, arguments: &[&str]) -> Result<Value, Failed> {
    let ran = place.run(&[arguments, &["--format", "json"]].concat());
    let value: Value = serde_json::from_str(&ran.stdout).map_err(|error| format!("{error} in {ran:?}"))?;
    expect(ran.code == Some(0) && value["version"] == 1, &ran)?;
    Ok(value)
}

fn states(status: &Value) -> Vec<(String, String)> {
    let tasks = status["tasks"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tasks.iter().map(|task| (text(&task["name"]), text(&task["state"]))).collect()
}

fn summary() -> Result<(), Failed> {
    let place = place("a = 1 + 1 for 1 [hour] on 1 core with 256 [MiB]\nprint(a)\n");
    let says = ["jobs: 1 done, 0 failed, 0 kept\n", "core hours: 1.00 asked, 0.00 used", "of 256 MiB asked, by `a`"];
    workflow(&place).ends(0, "2\n", &says)?;
    let again = workflow(&place);
    again.ends(0, "2\n", &["0 done, 0 failed, 1 kept"])?;
    expect(!again.stderr.contains("memory: at most"), again)
}

fn status() -> Result<(), Failed> {
    let place = place(TWO);
    workflow(&place).ends(1, "'before'\n(m: 3.0, 6.0, 2.0)\n11.0\n", &["5 done, 1 failed"])?;
    let status = json(&place, &["status"])?;
    let wanted = [("b", "failed"), ("m 1/3", "done"), ("m 2/3", "done"), ("m 3/3", "done"), ("f 1/2", "done"), ("f 2/2", "done")];
    let wanted: Vec<_> = wanted.map(|(name, state)| (name.to_owned(), state.to_owned())).into();
    expect(states(&status) == wanted, states(&status))?;
    let task = &status["tasks"][1];
    expect(task["cores"] == 1 && task["memory"] == 512 << 20 && task["walltime_ms"] == 60_000, task)?;
    expect(task["peak_rss"].as_u64() > Some(1 << 20) && task["cpu_us"].as_u64() > Some(0), task)?;
    expect(status["run"]["state"] == "failed" && status["driver"].is_null(), &status["run"])?;
    place.run(&["status"]).prints_some(&[
        "run 1 of ",
        "model.scl: failed",
        "jobs: 1 failed, 5 done",
        "failed     b",
        "evaluation failed",
    ])?;
    workflow(&place);
    place.run(&["status", "--all"]).prints_some(&["run 2 of", "jobs: 1 failed, 5 kept", "kept       m 3/3"])?;
    place.run(&["status", "--run", "1"]).prints_some(&["5 done"])
}

fn status_of_a_running_driver() -> Result<(), Failed> {
    let place = place(
        "a = sum(map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 100000, 1))) on 1 core\nb = a + 1 on 1 core\nprint(b)\n",
    );
    let driver = Driver::start(&place)?;
    driver.jobs(1)?;
    wait_until(|| json(&place, &["status"]).is_ok_and(|status| status["tasks"][0]["state"] == "running"))?;
    let status = json(&place, &["status"])?;
    expect(status["run"]["state"] == "running" && status["driver"]["holder"]["pid"] == driver.pid().as_raw(), &status)?;
    place.run(&["status"]).prints_some(&["the store is used by process", "jobs: 1 running, 1 wait for inputs", "running    a"])?;
    place.run(&["log", "a"]).prints_some(&["a: running", "statement: a = sum("])?;
    driver.interrupt()?.ends(1, "", &["interrupted", "1 cancelled"])?;
    let status = json(&place, &["status"])?;
    expect(status["run"]["state"] == "interrupted" && states(&status) == [("a".to_owned(), "cancelled".to_owned())], &status)
}

fn status_after_a_kill() -> Result<(), Failed> {
    let place =
        place("a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 200, 1))) on 1 core\nprint(a)\n");
    let driver = Driver::start(&place)?;
    let held = |attempt: &PathBuf| attempt.join("process.json").exists();
    wait_until(|| attempts(&place.path().join(".scl")).iter().any(held))?;
    wait_until(|| json(&place, &["status"]).is_ok_and(|status| status["tasks"][0]["state"] == "running"))?;
    driver.kill()?;
    let status = json(&place, &["status"])?;
    expect(status["run"]["state"] == "killed" && status["driver"].is_null(), &status)?;
    let text = place.run(&["status"]);
    expect(!text.stdout.contains("the store is used by"), &text)?;
    wait_until(|| json(&place, &["status"]).is_ok_and(|status| status["tasks"][0]["state"] == "done"))
}

fn log() -> Result<(), Failed> {
    let place = place(TWO);
    workflow(&place);
    let ran = place.run(&["log", "b"]);
    ran.prints_some(&[
        "b: failed, evaluation failed",
        "statement: b = 1/0 on 1 core",
        "attempt-1",
        "stdout: empty",
        "stderr:\nmodel.scl:4:5",
    ])?;
    place.run(&["log", "m"]).prints_some(&["m 1/3: done", "m 2/3: done", "m 3/3: done"])?;
    let log = json(&place, &["log", "m 2/3"])?;
    expect(log["logs"].as_array().map(Vec::len) == Some(1) && log["logs"][0]["task"]["name"] == "m 2/3", log)?;
    std::fs::remove_dir_all(place.path().join(".scl/jobs"))?;
    place.run(&["log", "b"]).prints_some(&["which is not there any more"])
}

fn results() -> Result<(), Failed> {
    let place = place(TWO);
    workflow(&place);
    place.write("model.scl", "this is no program");
    place.run(&["results"]).ends(0, "'before'\n(m: 3.0, 6.0, 2.0)\n11.0\n", &["warning[W0725]", "failed"])?;
    place.run(&["results", "m", "m 2/3", "f 2/2"]).prints("(m: 3.0, 6.0, 2.0)\n(m: 6.0)\n2.0\n")?;
    place.run(&["results", "f"]).is_refused(&["E0726", "`f 1/2`"])?;
    place.run(&["results", "b"]).ends(1, "", &["E0728", "evaluation failed"])?;
    let values = json(&place, &["results", "m 1/3"])?;
    expect(values["values"][0]["text"] == "(m: 3.0)", &values)?;
    expect(json(&place, &["results"])?["lines"].as_array().map(Vec::len) == Some(3), "lines")?;
    for attempt in attempts(&place.path().join(".scl")) {
        std::fs::write(attempt.join("result.arrow"), "altered")?;
    }
    place.run(&["results", "m"]).ends(1, "", &["E0804", "was changed after it was written"])?;
    std::fs::remove_dir_all(place.path().join(".scl/jobs"))?;
    place.run(&["results", "m"]).ends(1, "", &["E0729"])
}

/// Longer than what was once kept of a line; nothing is said of a run that printed all.
fn long_line() -> Result<(), Failed> {
    let place = place("n = 1 on 1 core\nprint(range(0, 20000, n))\n");
    let ran = workflow(&place);
    expect(ran.code == Some(0) && ran.stdout.len() > 100_000, ran.stdout.len())?;
    let again = place.run(&["results"]);
    expect(again.stdout == ran.stdout && again.stderr.is_empty(), (again.stdout.len(), again.stderr))
}

fn no_store() -> Result<(), Failed> {
    let place = place("print(1)\n");
    workflow(&place).prints("1\n")?;
    for command in [&["status"] as &[&str], &["log", "a"], &["results"]] {
        place.run(command).is_refused(&["E0723", "--store"])?;
    }
    place.run(&["status", "--store", "model.scl"]).ends(2, "", &["E07"])
}

fn no_such_task() -> Result<(), Failed> {
    let place = place("rates = 1 on 1 core\nprint(rates)\n");
    workflow(&place).prints("1\n")?;
    place.run(&["log", "rate"]).is_refused(&["E0725", "did you mean `rates`?"])?;
    place.run(&["results", "nothing"]).is_refused(&["E0725", "scl status --all"])?;
    place.run(&["status", "--run", "7"]).is_refused(&["E0724", "no run 7"])?;
    place.run(&["status", "--store", ".scl", "--program", "other.scl"]).is_refused(&["E0724", "other.scl"])
}

fn runs() -> Result<(), Failed> {
    let place = place("a = 1 on 1 core\nprint(a)\n");
    workflow(&place).prints("1\n")?;
    place.write("other.scl", "a = 2 on 1 core\nb = 1/0 on 1 core\nprint(a)\nprint(b)\n");
    place.run(&["run", "other.scl"]).ends(1, "2\n", &[])?;
    let ran = place.run(&["status", "--runs"]);
    ran.prints_some(&["1  done", "model.scl", "2  failed", "other.scl"])?;
    let one = json(&place, &["status", "--runs", "--program", "model.scl"])?;
    expect(one["runs"].as_array().map(Vec::len) == Some(1) && one["runs"][0]["run"] == 1, &one)?;
    place.run(&["status", "--program", "model.scl"]).prints_some(&["run 1 of", "jobs: 1 done"])
}

const CHAIN: &str = "\
f(x) = x + 1
a = 2
b = f(a) on 1 core
c = 10 * b on 1 core
d = 7 on 1 core
print(c, d)
";

fn why() -> Result<(), Failed> {
    let place = place(CHAIN);
    let never =
        "b: to be computed; no run has computed it yet\nc: to be computed; after `b`\nd: to be computed; no run has computed it yet\n";
    place.run(&["why", "model.scl"]).prints(never)?;
    workflow(&place).prints("30 7\n")?;
    place.run(&["why", "model.scl"]).prints("b: kept\nc: kept\nd: kept\n")?;
    place.write("model.scl", CHAIN.replace("x + 1", "x + 2"));
    place.run(&["why", "model.scl"]).prints("b: to be computed; changed: function `f`\nc: to be computed; after `b`\nd: kept\n")?;
    place.write("model.scl", CHAIN.replace("a = 2", "a = 3").replace("10 * b", "b * 10"));
    let text = "b: to be computed; changed: input `a`\nc: to be computed; after `b`\nd: kept\n";
    place.run(&["why", "model.scl"]).prints(text)?;
    place.write("model.scl", CHAIN.replace("10 * b", "b * 10"));
    place.run(&["why", "model.scl", "c"]).prints("c: to be computed; changed: the expression\n")?;
    let answer = json(&place, &["why", "model.scl", "c"])?;
    expect(answer["tasks"][0]["state"] == "to be computed" && answer["tasks"][0]["changes"][0] == "the expression", &answer)?;
    place.run(&["why", "model.scl", "e"]).is_refused(&["E0725", "the program has no job of `e`"])?;
    place.write("model.scl", "a = 1/0 on 1 core\nprint(a)\n");
    workflow(&place);
    place.run(&["why", "model.scl"]).prints("a: to be computed; the last run has no result: evaluation failed\n")
}

fn why_runs_nothing() -> Result<(), Failed> {
    let place = place("a = 1 on 1 core\nb = 2\nb to file 'b.json'\nprint(a)\n");
    place.run(&["why", "model.scl"]).prints("a: to be computed; no run has computed it yet\n")?;
    expect(!place.path().join(".scl").exists() && !place.path().join("b.json").exists(), "nothing is made")?;
    place.write("model.scl", "print(1)\n");
    place.run(&["why", "model.scl"]).prints("the program has no jobs\n")?;
    place.write("model.scl", "a = nowhere on 1 core\n");
    place.run(&["why", "model.scl"]).is_refused(&["E0201"])
}

fn why_of_what_runs() -> Result<(), Failed> {
    let place = place(
        "a = sum(map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 100000, 1))) on 1 core\nprint(a)\n",
    );
    let driver = Driver::start(&place)?;
    wait_until(|| place.run(&["why", "model.scl"]).stdout == "a: running\n")?;
    driver.interrupt()?.ends(1, "", &["interrupted"])
}

const READS: &str = "name = 'x.json'\na = Quantity from file name on 1 core\nprint(a)\n";

/// A quantity as a file.
fn quantity(place: &Place, number: &str) -> Result<(), Failed> {
    place.deferred(format!("q = {number}\nq to file 'new.json'\n"));
    std::fs::rename(place.path().join("new.json"), place.path().join("x.json"))?;
    Ok(())
}

fn files() -> Result<(), Failed> {
    let place = place(READS);
    quantity(&place, "1.5 [m]")?;
    workflow(&place).ends(0, "1.5 [meter]\n", &["1 done"])?;
    workflow(&place).ends(0, "1.5 [meter]\n", &["0 done, 0 failed, 1 kept"])?;
    quantity(&place, "2.5 [m]")?;
    place.run(&["why", "model.scl"]).prints("a: to be computed; changed: file `x.json`\n")?;
    workflow(&place).ends(0, "2.5 [meter]\n", &["1 done"])?;
    quantity(&place, "1.5 [m]")?;
    workflow(&place).ends(0, "1.5 [meter]\n", &["0 done, 0 failed, 1 kept"])?;
    std::fs::remove_file(place.path().join("x.json"))?;
    workflow(&place).ends(1, "", &["x.json"])
}

fn unknown_file() -> Result<(), Failed> {
    let place = place("read(name) = Quantity from file name\na = read('x.json') on 1 core\nprint(a)\n");
    quantity(&place, "1.5 [m]")?;
    workflow(&place).ends(0, "1.5 [meter]\n", &["1 done"])?;
    workflow(&place).ends(0, "1.5 [meter]\n", &["1 done, 0 failed, 0 kept"])?;
    place.run(&["why", "model.scl"]).prints("a: to be computed; it reads a file whose name only evaluation tells\n")
}

/// The job has read the file, or is going to, when it gets another content.
fn changing_file() -> Result<(), Failed> {
    let long = "sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 300, 1)))";
    let place = place(&format!("a = Quantity from file 'x.json'\nb = ({long} + (Quantity from file 'x.json')) on 1 core\nprint(b)\n"));
    quantity(&place, "1")?;
    let driver = Driver::start(&place)?;
    driver.jobs(1)?;
    quantity(&place, "2")?;
    driver.end()?.ends(1, "", &["E0705", "x.json"])?;
    workflow(&place).ends(0, "1499985044852\n", &["1 done"])
}
