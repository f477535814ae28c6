//! Drivers and jobs in narrow places: nobody reads what they say, nothing can be written, someone else has the store.

use std::fs::{self, OpenOptions};
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};

use crate::binary::{Place, Ran};
use crate::care::Small;
use crate::jobs::{attempts, expect, place, wait_until, workflow};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 6] = [
        ("a stderr without room", full_stderr),
        ("a stderr that nobody reads", closed_stderr),
        ("limits hold on a full disk without a driver", limits_on_a_full_disk),
        ("a store that can only be read leaves jobs to their driver", read_only),
        ("a job that may run on another machine", another_machine),
        ("a driver that was killed before it could note its jobs", unnoted),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("straits: {name}"), test)).collect()
}

const LONG: &str = "sum(map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 100000, 1)))";

const TWO: &str = "a = 6 * 7 on 1 core\nb = a + 1 on 1 core\nprint(a, b)\n";

fn full_stderr() -> Result<(), Failed> {
    let place = place(TWO);
    for format in ["text", "json"] {
        let full = OpenOptions::new().write(true).open("/dev/full")?;
        let output = place.scl(&["run", "--fresh", "--format", format, "model.scl"]).stderr(full).output()?;
        Ran::from(output).prints("42 43\n")?;
    }
    Ok(())
}

fn closed_stderr() -> Result<(), Failed> {
    let place = place(TWO);
    let mut driver = place.scl(&["run", "model.scl"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(driver.stderr.take());
    Ran::from(driver.wait_with_output()?).prints("42 43\n")?;
    workflow(&place).ends(0, "42 43\n", &["0 done, 0 failed, 2 kept"])
}

/// Fills a filesystem to the last byte.
fn fill(place: &Place) -> Result<(), Failed> {
    let mut file = fs::File::create(place.path().join(".scl/filler"))?;
    let mut size = 1 << 20;
    while size > 0 {
        if std::io::Write::write_all(&mut file, &vec![0; size]).is_err() {
            size /= 2;
        }
    }
    Ok(())
}

fn limits_on_a_full_disk() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core for 2 [s]\nprint(a)\n"));
    let Some(_small) = Small::mount(&place.path().join(".scl"), "400k")? else { return Ok(()) };
    let mut driver = place.scl(&["run", "model.scl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let holder = || attempts(&place.path().join(".scl")).first().map(|attempt| attempt.join("process.json"));
    wait_until(|| holder().is_some_and(|holder| holder.exists()))?;
    let text = fs::read_to_string(holder().ok_or("no attempt")?)?;
    let pid = serde_json::from_str::<serde_json::Value>(&text)?["content"]["pid"].to_string();
    driver.kill()?;
    driver.wait()?;
    fill(&place)?;
    wait_until(|| !fs::exists(format!("/proc/{pid}")).unwrap_or(true))
}

/// Nothing can be computed there, and what the driver that has it computes is not for others to end.
fn read_only() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let store = place.path().join(".scl");
    let Some(small) = Small::mount(&store, "4m")? else { return Ok(()) };
    let mut driver = place.scl(&["run", "model.scl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    wait_until(|| attempts(&store).first().is_some_and(|attempt| attempt.join("process.json").exists()))?;
    driver.kill()?;
    driver.wait()?;
    // the job has its streams open for writing, so that its filesystem cannot become read-only, but another view of it can
    let view = place.path().join("view");
    fs::create_dir(&view)?;
    let mount = |arguments: &[&str]| std::process::Command::new("mount").args(arguments).arg(&view).status();
    expect(mount(&["--bind", &store.to_string_lossy()])?.success() && mount(&["-o", "remount,bind,ro"])?.success(), "a view of the store")?;
    let ran = place.run(&["run", "--store", "view", "model.scl"]);
    let unmounted = std::process::Command::new("umount").arg("-l").arg(&view).status()?;
    ran.ends(1, "", &["W0722", "E0702", "ead-only file"])?;
    drop(small);
    expect(unmounted.success(), unmounted)?;
    end_all(&place)
}

/// Ends the jobs of a place, each by its number.
fn end_all(place: &Place) -> Result<(), Failed> {
    let name = place.path().to_string_lossy().into_owned();
    for entry in fs::read_dir("/proc")?.flatten() {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if line.split('\0').nth(1) == Some("exec") && line.contains(&name) {
            let pid = entry.file_name().to_string_lossy().parse()?;
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)?;
        }
    }
    Ok(())
}

/// The directories tell what the index does not.
fn unnoted() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a)\n"));
    let store = place.path().join(".scl");
    let mut driver = place.scl(&["run", "model.scl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    wait_until(|| attempts(&store).first().is_some_and(|attempt| attempt.join("process.json").exists()))?;
    driver.kill()?;
    driver.wait()?;
    let index = rusqlite::Connection::open(store.join("index.sqlite"))?;
    index.execute("DELETE FROM task", ())?;
    drop(index);
    place.run(&["status", "--program", "model.scl"]).prints_some(&["jobs: 1 running", "running    a"])?;
    place.run(&["cancel", "--program", "model.scl"]).prints("ended: a\n")?;
    place.run(&["status", "--program", "model.scl"]).prints_some(&["jobs: 1 cancelled"])
}

fn another_machine() -> Result<(), Failed> {
    let place = place("a = 6 * 7 on 1 core\nprint(a)\n");
    workflow(&place).prints("42\n")?;
    let attempt = attempts(&place.path().join(".scl")).pop().ok_or("no attempt")?;
    fs::remove_file(attempt.join("manifest.json"))?;
    let holder = attempt.join("process.json");
    let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&holder)?)?;
    value["content"]["host"] = "node7".into();
    fs::write(&holder, value.to_string())?;
    workflow(&place).ends(0, "42\n", &["warning[W0727]", "node7", "1 done"])
}
