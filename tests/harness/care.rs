//! What becomes of a store: jobs that are ended, results that are removed, damage of every kind, and layouts of earlier versions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use nix::sys::signal::{Signal, kill};

use crate::binary::Place;
use crate::jobs::{Driver, attempts, expect, place, wait_until, workflow};
use crate::records::json;

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 33] = [
        ("a run is cancelled", cancelled_run),
        ("one job of a run is cancelled", cancelled_job),
        ("what waits for its inputs is cancelled", cancelled_before_it_began),
        ("what waits for the job of another task is cancelled", cancelled_shared),
        ("what waits for another try is cancelled", cancelled_between_tries),
        ("only the run that is named is cancelled", cancelled_by_name),
        ("a driver that has not entered its run is asked for nothing", cancelled_too_early),
        ("what a killed driver left is cancelled", cancelled_orphan),
        ("only what is left of the program that is named is cancelled", cancelled_orphan_by_name),
        ("what nobody runs is not cancelled", nothing_to_cancel),
        ("what is not used any more is removed", unreachable),
        ("what a run that was broken off did not come to is not removed", reachable),
        ("what is old is removed, and runs are forgotten", old),
        ("what is too much is removed, the oldest first", too_much),
        ("what several jobs have counts once", links),
        ("attempts and files that nothing needs are removed", superseded),
        ("nothing is removed while a driver runs", used_store),
        ("what still runs is not removed", running_job),
        ("a result that was altered or truncated is computed anew", damaged_result),
        ("an earlier result is used when the last one is damaged", earlier_result),
        ("a job whose process is not named any more", damaged_holder),
        ("a manifest that was truncated is no evidence", damaged_manifest),
        ("a result that was copied from another job is none", copied_result),
        ("a damaged index is made anew", damaged_index),
        ("a newer store is refused", newer_store),
        ("a store whose mark was lost is used", lost_mark),
        ("a directory of a job that is removed while it runs", removed_job),
        ("a store that is removed while it is used", removed_store),
        ("a store that can only be read", read_only_store),
        ("a disk that is full", full_disk),
        ("a store of the first layout is brought up to date", first_layout),
        ("all files are private", private),
        ("what many jobs share is written once", shared),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("care: {name}"), test)).collect()
}

/// Computes for minutes, in little memory.
const LONG: &str = "sum(map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 100000, 1)))";

/// Two jobs, of which one depends on `n`.
fn two_jobs(n: u32) -> String {
    format!("n = {n}\na = n + 1 on 1 core\nb = 7 * 3 on 1 core\nprint(a, b)\n")
}

fn store(place: &Place) -> PathBuf {
    place.path().join(".scl")
}

/// The files of this name of all attempts.
fn files(place: &Place, name: &str) -> Vec<PathBuf> {
    attempts(&store(place)).into_iter().map(|attempt| attempt.join(name)).collect()
}

fn jobs(place: &Place) -> usize {
    fs::read_dir(store(place).join("jobs")).map_or(0, Iterator::count)
}

/// A driver whose job has begun, as far as records tell.
fn driver_of(place: &Place) -> Result<Driver, Failed> {
    let driver = Driver::start(place)?;
    driver.jobs(1)?;
    wait_until(|| json(place, &["status"]).is_ok_and(|status| status["tasks"][0]["state"] == "running"))?;
    Ok(driver)
}

fn cancelled_run() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    place.run(&["cancel"]).prints("ended: a\nended: run 1\n")?;
    expect(kill(job, None).is_err(), "the process is gone")?;
    driver.end()?.ends(1, "", &["interrupted", "1 cancelled"])?;
    place.run(&["cancel"]).prints("nothing runs\n")
}

fn cancelled_job() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nb = 1 + 1 on 1 core\nprint(b)\nprint(a)\n"));
    let driver = driver_of(&place)?;
    place.run(&["cancel", "b2"]).is_refused(&["E0725"])?;
    place.run(&["cancel", "a"]).prints("ended: a\n")?;
    driver.end()?.ends(1, "2\n", &["the job of `a` failed: cancelled", "jobs: 1 done, 0 failed, 0 kept, 1 cancelled"])?;
    let status = json(&place, &["status"])?;
    expect(status["tasks"][0]["state"] == "cancelled" && status["run"]["state"] == "failed", status)
}

fn cancelled_orphan() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    driver.kill()?;
    expect(kill(job, None).is_ok(), "the job goes on")?;
    place.run(&["cancel", "b"]).is_refused(&["E0731"])?;
    let answer = json(&place, &["cancel", "a"])?;
    expect(answer["tasks"][0]["name"] == "a" && answer["tasks"][0]["survives"].is_null(), answer)?;
    wait_until(|| kill(job, None).is_err())?;
    place.run(&["cancel"]).prints("nothing runs\n")?;
    let stands = || json(&place, &["status"]).map(|status| status["tasks"][0]["state"] == "cancelled");
    expect(stands()?, "it was ended on purpose")?;
    fs::remove_file(store(&place).join("index.sqlite"))?;
    expect(stands()?, "its directory says so too")
}

fn cancelled_before_it_began() -> Result<(), Failed> {
    let slow = "sum(map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 150, 1)))";
    let place = place(&format!("a = {slow} on 1 core\nb = a + 1 on 1 core\nprint(a)\nprint(b)\n"));
    let driver = driver_of(&place)?;
    place.run(&["cancel", "c"]).is_refused(&["E0725"])?;
    place.run(&["cancel", "b"]).prints("will not begin: b\n")?;
    driver.end()?.ends(1, "74999925011175\n", &["the job of `b` failed: cancelled", "jobs: 1 done, 0 failed, 0 kept, 1 cancelled"])?;
    let status = json(&place, &["status"])?;
    expect(status["tasks"][1]["state"] == "cancelled" && attempts(&store(&place)).len() == 1, status)
}

/// `b` computes what `a` does.
fn cancelled_shared() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nb = {LONG} on 1 core\nprint(a)\nprint(b)\n"));
    let driver = driver_of(&place)?;
    wait_until(|| json(&place, &["status"]).is_ok_and(|status| status["tasks"][1]["state"] == "shared"))?;
    place.run(&["cancel", "b"]).prints("ended: a\nended: b\n")?;
    driver.end()?.ends(1, "", &["the job of `a` failed: cancelled", "1 cancelled"])?;
    let status = json(&place, &["status"])?;
    expect(status["tasks"][0]["state"] == "cancelled" && status["tasks"][1]["state"] == "cancelled", status)
}

fn cancelled_between_tries() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    place.write("site.toml", "[retries]\nsignal = 3\npause_seconds = 100\n");
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    kill(job, Signal::SIGKILL)?;
    wait_until(|| json(&place, &["status"]).is_ok_and(|status| status["tasks"][0]["state"] == "waiting"))?;
    place.run(&["cancel", "a"]).prints("ended: a\n")?;
    driver.end()?.ends(1, "", &["the job of `a` failed: cancelled", "1 cancelled"])?;
    let status = json(&place, &["status"])?;
    expect(status["tasks"][0]["state"] == "cancelled", status)
}

/// One run is over when another one begins.
fn cancelled_by_name() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    place.write("b.scl", "b = 1 on 1 core\nprint(b)\n");
    place.run(&["run", "b.scl"]).prints("1\n")?;
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    let user = format!("process {}", driver.pid());
    for named in [["-p", "b.scl"], ["--run", "1"]] {
        place.run(&[&["cancel"], &named[..]].concat()).is_refused(&["E0734", "run 1 of ", "b.scl is over", &user])?;
    }
    place.run(&["cancel", "-p", "c.scl"]).is_refused(&["E0724", "c.scl"])?;
    expect(kill(job, None).is_ok(), "the other run goes on")?;
    place.run(&["cancel", "-p", "model.scl"]).prints("ended: a\nended: run 2\n")?;
    driver.end()?.ends(1, "", &["interrupted"])
}

/// This process has the lock, and says nothing of itself or of a run.
fn cancelled_too_early() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place).prints("2 21\n")?;
    let lock = fs::File::open(store(&place).join("lock"))?;
    lock.lock()?;
    for command in [&["cancel"] as &[&str], &["cancel", "a"]] {
        place.run(command).is_refused(&["E0734", "run 1 of", "used by another process"])?;
    }
    expect(fs::read_dir(store(&place).join("wishes")).is_err(), "nothing was asked")
}

fn cancelled_orphan_by_name() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    driver.kill()?;
    place.write("b.scl", "b = 1 on 1 core\nprint(b)\n");
    place.run(&["run", "b.scl"]).prints("1\n")?;
    place.run(&["cancel", "-p", "b.scl"]).prints("nothing runs\n")?;
    place.run(&["cancel", "--run", "2"]).prints("nothing runs\n")?;
    expect(kill(job, None).is_ok(), "what another program left goes on")?;
    place.run(&["cancel", "-p", "model.scl"]).prints("ended: a\n")?;
    wait_until(|| kill(job, None).is_err())
}

fn nothing_to_cancel() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    place.run(&["cancel"]).is_refused(&["E0723"])?;
    workflow(&place).prints("2 21\n")?;
    place.run(&["cancel"]).prints("nothing runs\n")?;
    place.run(&["cancel", "a"]).is_refused(&["E0731", "`a`"])
}

fn unreachable() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place).prints("2 21\n")?;
    place.write("model.scl", two_jobs(2));
    workflow(&place).prints("3 21\n")?;
    place.run(&["gc"]).prints_some(&["removed: 0 jobs", "left: 3 jobs"])?;
    place.run(&["gc", "--unreachable", "--dry-run"]).prints_some(&["would be removed: 1 jobs", "left: 2 jobs"])?;
    expect(jobs(&place) >= 3, jobs(&place))?;
    let answer = json(&place, &["gc", "--unreachable"])?;
    expect(answer["swept"]["removed"] == 1 && answer["swept"]["left"] == 2, &answer)?;
    workflow(&place).ends(0, "3 21\n", &["2 kept"])?;
    place.write("model.scl", two_jobs(1));
    workflow(&place).ends(0, "2 21\n", &["1 done, 0 failed, 1 kept"])
}

/// The second run is ended before it comes to `c`; the third fails.
fn reachable() -> Result<(), Failed> {
    let program = |a: &str| format!("a = {a} on 1 core\nb = if(a > 0, 5, 6) on 1 core\nc = b + 1 on 1 core\nprint(c)\n");
    let place = place(&program("2"));
    workflow(&place).prints("6\n")?;
    place.write("model.scl", program(LONG));
    let driver = driver_of(&place)?;
    place.run(&["gc", "--unreachable"]).ends(1, "", &["E0732"])?;
    driver.interrupt()?.ends(1, "", &["interrupted"])?;
    place.write("model.scl", program("1/0"));
    workflow(&place).ends(1, "", &["division by zero"])?;
    place.run(&["gc", "--unreachable"]).prints_some(&["removed: 0 jobs", "left: 7 jobs"])?;
    place.write("model.scl", program("2"));
    workflow(&place).ends(0, "6\n", &["0 done, 0 failed, 3 kept"])?;
    place.run(&["gc", "--unreachable"]).prints_some(&["removed: 4 jobs", "left: 3 jobs"])
}

fn old() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place).prints("2 21\n")?;
    workflow(&place).prints("2 21\n")?;
    place.run(&["gc", "--older-than", "1day"]).prints_some(&["removed: 0 jobs", "left: 2 jobs"])?;
    std::thread::sleep(std::time::Duration::from_millis(50));
    place.run(&["gc", "--older-than", "10ms"]).prints_some(&["removed: 2 jobs", "1 runs", "left: 0 jobs of 0 B"])?;
    let runs = json(&place, &["status", "--runs"])?;
    expect(runs["runs"].as_array().map(Vec::len) == Some(1), runs)?;
    workflow(&place).ends(0, "2 21\n", &["2 done"])?;
    place.run(&["gc", "--older-than", "soon"]).is_refused(&["--older-than"])
}

fn too_much() -> Result<(), Failed> {
    let place = place("a = 1 + 1 on 1 core\nprint(a)\n");
    workflow(&place).prints("2\n")?;
    place.write("other.scl", "b = 2 + 2 on 1 core\nprint(b)\n");
    place.run(&["run", "other.scl"]).prints("4\n")?;
    let all = json(&place, &["gc"])?["swept"]["left_bytes"].as_u64().unwrap_or_default();
    place.run(&["gc", "--max-size", &format!("{}B", all - 1)]).prints_some(&["removed: 1 jobs", "left: 1 jobs"])?;
    place.run(&["run", "other.scl"]).ends(0, "4\n", &["1 kept"])?;
    workflow(&place).ends(0, "2\n", &["1 done"])
}

/// A value of some size is in a file that all chunks read: removing one of them frees next to nothing.
fn links() -> Result<(), Failed> {
    let place = place("s = (v: 1, 2, 3)\nn = range(0, 200000, 1)\nm = map((x: x*sum(n)), s) in 3 chunks on 1 core\nprint(m[0])\n");
    workflow(&place).prints("19999900000\n")?;
    let bytes = |answer: &serde_json::Value, name: &str| answer["swept"][name].as_u64().unwrap_or_default();
    let all = bytes(&json(&place, &["gc"])?, "left_bytes");
    expect((1_600_000..3_000_000).contains(&all), all)?;
    let answer = json(&place, &["gc", "--max-size", &format!("{}B", all - 1)])?;
    expect(answer["swept"]["removed"] == 1 && bytes(&answer, "removed_bytes") < 200_000, &answer)?;
    expect(bytes(&answer, "left_bytes") == all - bytes(&answer, "removed_bytes"), &answer)?;
    let answer = json(&place, &["gc", "--older-than", "0s"])?;
    expect(bytes(&answer, "removed_bytes") > 1_600_000 && bytes(&answer, "left_bytes") == 0, &answer)
}

/// Of three attempts the second has a sound result, and the last one has failed.
fn superseded() -> Result<(), Failed> {
    let place = place("a = 1 + 1 on 1 core\nprint(a)\n");
    workflow(&place).prints("2\n")?;
    for _ in 0..2 {
        place.run(&["run", "--fresh", "model.scl"]).prints("2\n")?;
    }
    let all = attempts(&store(&place));
    expect(all.len() == 3, &all)?;
    fs::remove_file(all[2].join("manifest.json"))?;
    for path in ["", "wishes", "jobs", "jobs/texts"].map(|path| store(&place).join(path)).iter().chain(&all) {
        fs::create_dir_all(path)?;
        fs::write(path.join(".result.json.host.12-3"), "half")?;
    }
    place.run(&["gc", "--dry-run"]).prints_some(&["removed: 0 jobs", ", 7 files", "left: 1 jobs"])?;
    expect(attempts(&store(&place)) == all, "nothing is removed to say it")?;
    place.run(&["gc"]).prints_some(&["removed: 0 jobs", ", 7 files", "left: 1 jobs"])?;
    expect(attempts(&store(&place)) == all[1..], attempts(&store(&place)))?;
    expect(json(&place, &["gc"])?["swept"]["leftovers"] == 0, "all is gone")?;
    expect(store(&place).join(".gitignore").exists(), "it has a use")?;
    workflow(&place).ends(0, "2\n", &["1 kept"])
}

fn used_store() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let driver = driver_of(&place)?;
    place.run(&["gc", "--unreachable"]).ends(1, "", &["E0732", &format!("process {}", driver.pid())])?;
    driver.interrupt()?.ends(1, "", &["interrupted"])
}

fn running_job() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    driver_of(&place)?.kill()?;
    place.run(&["gc", "--older-than", "0s"]).prints_some(&["removed: 0 jobs", "1 of them only because they run"])?;
    place.run(&["cancel"]).prints("ended: a\n")?;
    place.run(&["gc", "--older-than", "0s"]).prints_some(&["removed: 1 jobs"])
}

fn damaged_holder() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let driver = driver_of(&place)?;
    let job = driver.jobs(1)?[0];
    driver.kill()?;
    fs::write(files(&place, "process.json").remove(0), "")?;
    let status = json(&place, &["status"])?;
    expect(status["tasks"][0]["state"] == "running", status)?;
    place.run(&["gc", "--older-than", "0s"]).prints_some(&["removed: 0 jobs", "1 of them only because they run"])?;
    place.run(&["cancel"]).prints("ended: a\n")?;
    wait_until(|| kill(job, None).is_err())?;
    place.run(&["gc", "--older-than", "0s"]).prints_some(&["removed: 1 jobs"])
}

fn damaged_result() -> Result<(), Failed> {
    let altered = |bytes: &[u8]| [bytes, b" "].concat();
    let truncated = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    for damage in [&altered as &dyn Fn(&[u8]) -> Vec<u8>, &truncated] {
        let place = place(&two_jobs(1));
        workflow(&place).prints("2 21\n")?;
        let result = files(&place, "result.json").remove(0);
        fs::write(&result, damage(&fs::read(&result)?))?;
        workflow(&place).ends(0, "2 21\n", &["1 done, 0 failed, 1 kept", "warning[W0720]", "it is computed anew", "was changed"])?;
        let again = workflow(&place);
        again.ends(0, "2 21\n", &["2 kept"])?;
        expect(!again.stderr.contains("W0720"), again)?;
    }
    Ok(())
}

fn earlier_result() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place);
    place.run(&["run", "--fresh", "model.scl"]).ends(0, "2 21\n", &["2 done"])?;
    for result in files(&place, "result.json").iter().filter(|path| path.parent().is_some_and(|parent| parent.ends_with("attempt-2"))) {
        fs::remove_file(result)?;
    }
    workflow(&place).ends(0, "2 21\n", &["2 kept", "warning[W0720]", "an earlier one is used"])
}

fn damaged_manifest() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place);
    for manifest in files(&place, "manifest.json") {
        let bytes = fs::read(&manifest)?;
        fs::write(&manifest, &bytes[..bytes.len() - 20])?;
    }
    workflow(&place).ends(0, "2 21\n", &["2 done", "warning[W0720]", "is damaged"])?;
    workflow(&place).ends(0, "2 21\n", &["2 kept"])
}

fn copied_result() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place).prints("2 21\n")?;
    let attempts = attempts(&store(&place));
    for file in ["manifest.json", "result.json"] {
        fs::copy(attempts[0].join(file), attempts[1].join(file))?;
    }
    workflow(&place).ends(0, "2 21\n", &["1 done, 0 failed, 1 kept", "warning[W0720]", "it is of the job"])
}

fn damaged_index() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place);
    let index = store(&place).join("index.sqlite");
    let bytes = fs::read(&index)?;
    fs::write(&index, &bytes[..bytes.len() / 3])?;
    let status = place.run(&["status"]);
    status.prints_some(&["jobs that were found", "jobs: 2 done"])?;
    expect(status.stderr.contains("warning[W0724]"), &status)?;
    let before = fs::read(&index)?;
    for limit in [["--older-than", "0s"], ["--max-size", "1B"]] {
        for dry in [&["--dry-run"] as &[&str], &[]] {
            place.run(&[&["gc"], &limit[..], dry].concat()).ends(1, "", &["E0735"])?;
        }
    }
    expect(fs::read(&index)? == before, "it is left to the next run")?;
    workflow(&place).ends(0, "2 21\n", &["2 kept", "warning[W0721]", "index.damaged-"])?;
    let again = workflow(&place);
    again.ends(0, "2 21\n", &["2 kept"])?;
    expect(!again.stderr.contains("W0721"), &again)?;
    fs::remove_file(&index)?;
    place.run(&["results", "b"]).prints("21\n")?;
    let ran = place.run(&["gc", "--older-than", "1h"]);
    expect(ran.code == Some(0) && ran.stderr.contains("warning[W0726]"), ran)?;
    workflow(&place).ends(0, "2 21\n", &["2 kept"])
}

fn newer_store() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place);
    let mark = store(&place).join("store.json");
    let text = fs::read_to_string(&mark)?;
    fs::write(&mark, text.replace("\"format\": 2", "\"format\": 77"))?;
    workflow(&place).ends(1, "", &["error[E0720]", "format 77", "format 2", "newer scl"])?;
    for command in [&["status"] as &[&str], &["results"], &["gc"], &["cancel"], &["why", "model.scl"]] {
        place.run(command).is_refused(&["E0720"])?;
    }
    expect(fs::read_to_string(&mark)?.contains("77"), "it is left alone")
}

/// As after a loss of power, and by another hand.
fn lost_mark() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    workflow(&place);
    let mark = store(&place).join("store.json");
    fs::write(&mark, "")?;
    workflow(&place).ends(0, "2 21\n", &["2 kept"])?;
    fs::write(&mark, "{")?;
    workflow(&place).ends(1, "", &["error[E0703]", "store.json", "remove this file"])?;
    fs::remove_file(&mark)?;
    workflow(&place).ends(0, "2 21\n", &["2 kept"])
}

/// The job cannot leave its result, and the driver neither hangs nor breaks.
fn removed_job() -> Result<(), Failed> {
    let place = place(
        "a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 200, 1))) on 1 core\nprint('before')\nprint(a)\nprint('after')\n",
    );
    let driver = driver_of(&place)?;
    for job in fs::read_dir(store(&place).join("jobs"))? {
        fs::remove_dir_all(job?.path())?;
    }
    driver.end()?.ends(1, "'before'\n'after'\n", &["the job of `a` failed"])?;
    workflow(&place).ends(0, "'before'\n999990019900\n'after'\n", &["1 done"])
}

fn removed_store() -> Result<(), Failed> {
    let place = place(
        "a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 200, 1))) on 1 core\nb = a + 1 on 1 core\nprint(b)\n",
    );
    let driver = driver_of(&place)?;
    fs::remove_dir_all(store(&place))?;
    driver.end()?.ends(1, "", &["the job of `a` failed", "warning[W0723]"])?;
    workflow(&place).ends(0, "999990019901\n", &["2 done"])
}

/// A filesystem of its own, which only root can make.
pub struct Small {
    path: PathBuf,
}

impl Small {
    /// Nothing where it is not allowed, which is said.
    pub fn mount(path: &Path, size: &str) -> Result<Option<Small>, Failed> {
        fs::create_dir_all(path)?;
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "tmpfs"]).arg(path);
        if command.output().is_ok_and(|output| output.status.success()) {
            return Ok(Some(Small { path: path.to_owned() }));
        }
        eprintln!("skipped: only root can mount a filesystem of its own for this test");
        Ok(None)
    }

    pub fn make_read_only(&self) -> Result<(), Failed> {
        let status = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.path).status()?;
        expect(status.success(), status)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

fn read_only_store() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    let Some(small) = Small::mount(&store(&place), "4m")? else { return Ok(()) };
    workflow(&place).prints("2 21\n")?;
    small.make_read_only()?;
    let ran = workflow(&place);
    ran.ends(0, "2 21\n", &["2 kept", "warning[W0722]"])?;
    place.run(&["status"]).prints_some(&["jobs: 2 done"])?;
    place.run(&["results", "a"]).prints("2\n")?;
    place.run(&["why", "model.scl"]).prints("a: kept\nb: kept\n")?;
    place.run(&["gc"]).is_refused(&["E0733"])?;
    place.run(&["cancel"]).is_refused(&["E0730"])?;
    place.write("model.scl", two_jobs(2) + "print(b)\n");
    workflow(&place).ends(1, "21\n", &["1 kept", "W0722", "E0702", "read-only filesystem"])
}

fn full_disk() -> Result<(), Failed> {
    let place = place(&two_jobs(1));
    let Some(_small) = Small::mount(&store(&place), "400k")? else { return Ok(()) };
    workflow(&place).prints("2 21\n")?;
    let filler = store(&place).join("filler");
    // down to the last byte
    let mut size = 1 << 20;
    let mut file = fs::File::create(&filler)?;
    while size > 0 {
        if std::io::Write::write_all(&mut file, &vec![0; size]).is_err() {
            size /= 2;
        }
    }
    drop(file);
    place.write("model.scl", two_jobs(2) + "print(b)\n");
    workflow(&place).ends(1, "21\n", &["E0702", "No space left on device", "W0723", "1 failed, 1 kept"])?;
    place.run(&["results", "--run", "1", "a"]).prints("2\n")?;
    fs::remove_file(&filler)?;
    workflow(&place).ends(0, "3 21\n21\n", &["1 done, 0 failed, 1 kept"])
}

/// The store was made by the last program that knew only this layout. When the rules of keys change, its results are not found any more,
/// and this test is to say so.
fn first_layout() -> Result<(), Failed> {
    let place = Place::new();
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores");
    copy(&stored.join("format-1"), &store(&place))?;
    fs::copy(stored.join("format-1.scl"), place.path().join("model.scl"))?;
    place.run(&["status"]).prints_some(&["jobs that were found", "jobs: 1 failed, 1 done", "failed     c", "evaluation failed"])?;
    place.run(&["results", "b"]).prints("9\n")?;
    let mark = || fs::read_to_string(store(&place).join("store.json"));
    expect(mark()?.contains("\"format\": 1"), "to look changes nothing")?;
    workflow(&place).ends(1, "9\n", &["jobs: 0 done, 1 failed, 1 kept"])?;
    expect(mark()?.contains("\"format\": 2"), mark()?)?;
    let runs = json(&place, &["status", "--runs"])?;
    expect(runs["runs"][0]["state"] == "failed" && runs["runs"][1]["state"] == "found", &runs)?;
    place.run(&["status", "--run", "1", "--all"]).prints_some(&["done       b"])
}

fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

fn private() -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt;
    fn open_to_others(path: &Path) -> Vec<PathBuf> {
        let mode = fs::metadata(path).map_or(0, |file| file.permissions().mode());
        let inside = fs::read_dir(path).into_iter().flatten().flatten().flat_map(|entry| open_to_others(&entry.path()));
        let own = if mode & 0o077 == 0 { Vec::new() } else { vec![path.to_owned()] };
        own.into_iter().chain(inside).collect()
    }
    let place = place("s = (v: 1, 2, 3)\nm = map((x: 2*x), s) in 3 chunks on 1 core\nprint(m)\n");
    workflow(&place).prints("(m: 2, 4, 6)\n")?;
    let open = open_to_others(&store(&place));
    expect(open.is_empty() && attempts(&store(&place)).len() == 3, open)
}

/// The text of the program, and a value that all jobs read; texts that no job stands in any more are removed.
fn shared() -> Result<(), Failed> {
    use std::os::unix::fs::MetadataExt;
    let note = "# words that stand nowhere else\n";
    let place = place(&format!("{note}s = (v: 1, 2, 3)\nn = 5\nm = map((x: n*x), s) in 3 chunks on 1 core\nprint(m)\n"));
    workflow(&place).prints("(m: 5, 10, 15)\n")?;
    let texts = || fs::read_dir(store(&place).join("jobs/texts")).map_or(0, Iterator::count);
    expect(texts() == 1, texts())?;
    for task in files(&place, "task.json") {
        expect(!fs::read_to_string(&task)?.contains("words that stand nowhere else"), task)?;
    }
    let shared = attempts(&store(&place)).into_iter().map(|attempt| attempt.join("../inputs/001-n.json"));
    let nodes: std::collections::BTreeSet<u64> = shared.flat_map(fs::metadata).map(|file| file.ino()).collect();
    expect(nodes.len() == 1, &nodes)?;
    place.write("model.scl", two_jobs(1));
    workflow(&place).prints("2 21\n")?;
    expect(texts() == 2, texts())?;
    place.run(&["gc", "--unreachable"]).prints_some(&["removed: 3 jobs", "left: 2 jobs"])?;
    place.run(&["gc"]).prints_some(&["removed: 0 jobs"])?;
    expect(texts() == 1, texts())?;
    workflow(&place).ends(0, "2 21\n", &["2 kept"])
}
