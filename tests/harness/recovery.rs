//! Whatever is killed, and whenever: the next run prints what an undisturbed one prints, nothing that had finished is computed again, and
//! nothing is left running.
//!
//! Drivers and jobs are killed at each place between two steps (`src/job/points.rs`, in builds with debug assertions), and at random
//! moments. `SCL_TEST_KILLS` sets how many of the latter.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::binary::Place;

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 5] = [
        ("a driver killed at any step", driver_at_each_point),
        ("jobs killed at any step", jobs_at_each_point),
        ("a driver killed at any moment", driver_at_random),
        ("jobs killed by any signal", jobs_by_each_signal),
        ("a machine that fails", reboot),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("recovery: {name}"), test)).collect()
}

/// A value that others need, chunks, equal tasks, one that needs all: seven jobs of six keys.
const MODEL: &str = "\
base = 2 * 21 on 1 core
s = (s: 1, 2, 3, 4)
parts = map((x: x * base), s) in 3 chunks on 1 core with 64 [MiB] for 1 [min]
again = 2 * 21 on 1 core
total = sum(parts) + again on 1 core
print(base, parts)
print(total)
";

const PRINTED: &str = "42 (parts: 42, 84, 126, 168)\n462\n";

/// More places than any process here comes to.
const MOST_POINTS: u64 = 400;

fn driver_at_each_point() -> Result<(), Failed> {
    for point in 1..MOST_POINTS {
        let place = place();
        if !is_killed(killed_at(&place, &format!("run:{point}"))?) {
            return enough(point);
        }
        recovers(&place).map_err(|fault| at(&format!("the driver was killed at point {point}"), &fault))?;
    }
    Err("there is no end of points".into())
}

/// Each job is killed at its n-th step; the run says so and ends, and the next one computes what is missing.
fn jobs_at_each_point() -> Result<(), Failed> {
    for point in 1..MOST_POINTS {
        let place = place();
        if killed_at(&place, &format!("exec:{point}"))?.success() {
            return enough(point);
        }
        recovers(&place).map_err(|fault| at(&format!("jobs were killed at point {point}"), &fault))?;
    }
    Err("there is no end of points".into())
}

fn enough(point: u64) -> Result<(), Failed> {
    if cfg!(debug_assertions) && point < 8 { Err(format!("there are only {} points", point - 1).into()) } else { Ok(()) }
}

fn driver_at_random() -> Result<(), Failed> {
    let kills: u32 = std::env::var("SCL_TEST_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(40);
    let undisturbed = Instant::now();
    recovers(&place())?;
    let whole = undisturbed.elapsed();
    for number in 0..kills {
        let place = place();
        let mut driver = start(&place, None)?;
        // spread over the time that a run takes, in an order without a rhythm
        thread::sleep(whole.mul_f64(f64::from(number * 61 % kills) / f64::from(kills)));
        driver.kill()?;
        driver.wait()?;
        recovers(&place).map_err(|fault| at(&format!("kill {number} of {kills}"), &fault))?;
    }
    Ok(())
}

/// Signals that end a process, or stop it for good, sent to the job and all that it started.
fn jobs_by_each_signal() -> Result<(), Failed> {
    const LONG: &str =
        "a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 60, 1))) on 1 core\nprint(a)\n";
    for signal in Signal::iterator() {
        let place = Place::new();
        place.write("model.scl", LONG);
        let mut driver = start(&place, None)?;
        let job = wait_for(|| processes(place.path(), "exec").first().copied())?;
        let _ = killpg(Pid::from_raw(job), signal);
        if matches!(signal, Signal::SIGSTOP | Signal::SIGTSTP | Signal::SIGTTIN | Signal::SIGTTOU) {
            // what is stopped is neither over nor lost: it goes on
            let _ = killpg(Pid::from_raw(job), Signal::SIGCONT);
        }
        driver.wait()?;
        let ran = place.run(&["run", "model.scl"]);
        ran.prints("299997001770\n").map_err(|fault| at(signal.as_str(), &fault))?;
        nothing_runs(place.path())?;
    }
    Ok(())
}

/// All processes at once, as when the power fails; the files stay.
fn reboot() -> Result<(), Failed> {
    for wait in [0, 20, 40, 60, 80, 120, 160, 240] {
        let place = place();
        let mut driver = start(&place, None)?;
        thread::sleep(Duration::from_millis(wait));
        driver.kill()?;
        driver.wait()?;
        for _ in 0..3 {
            for job in processes(place.path(), "exec") {
                // it may be gone already
                let _ = kill(Pid::from_raw(job), Signal::SIGKILL);
            }
        }
        recovers(&place).map_err(|fault| at(&format!("everything was killed after {wait} ms"), &fault))?;
    }
    Ok(())
}

/// What had finished stays as it is, what is missing is computed once, and then nothing runs.
fn recovers(place: &Place) -> Result<(), Failed> {
    let before = successes(place.path())?;
    let ran = place.run(&["run", "model.scl"]);
    ran.prints(PRINTED)?;
    let after = successes(place.path())?;
    for (key, attempts) in &after {
        if attempts.len() != 1 {
            return Err(format!("{key} succeeded in {attempts:?}").into());
        }
        if before.get(key).is_some_and(|before| before != attempts) {
            return Err(format!("{key} was finished by {:?} and again by {attempts:?}", before[key]).into());
        }
    }
    if after.len() != 5 {
        return Err(format!("there are results of {} keys", after.len()).into());
    }
    let again = place.run(&["run", "model.scl"]);
    again.ends(0, PRINTED, &["0 done, 0 failed"])?;
    nothing_runs(place.path())
}

/// The attempts of each key that have a manifest of success.
fn successes(place: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>, Failed> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for job in entries(&place.join(".scl/jobs")) {
        for attempt in entries(&job) {
            let Ok(text) = std::fs::read_to_string(attempt.join("manifest.json")) else { continue };
            let manifest: serde_json::Value =
                serde_json::from_str(&text).map_err(|error| format!("{attempt:?} has half a manifest: {error}"))?;
            if manifest["content"]["outcome"]["outcome"] == "success" {
                let key = job.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.entry(key).or_default().push(attempt);
            }
        }
    }
    Ok(found)
}

pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

fn place() -> Place {
    let place = Place::new();
    place.write("model.scl", MODEL);
    place
}

fn start(place: &Place, kill: Option<&str>) -> Result<std::process::Child, Failed> {
    let mut command: Command = place.scl(&["run", "model.scl"]);
    if let Some(kill) = kill {
        command.env("SCL_TEST_KILL", kill);
    }
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

fn killed_at(place: &Place, kill: &str) -> Result<ExitStatus, Failed> {
    Ok(start(place, Some(kill))?.wait()?)
}

fn is_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::SIGKILL as i32)
}

pub fn at(what: &str, fault: &Failed) -> Failed {
    format!("{what}: {}", fault.message().unwrap_or_default()).into()
}

/// Processes of this program with this command that work in a directory.
pub fn processes(directory: &Path, command: &str) -> Vec<i32> {
    let name = directory.to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    let is_one = |pid: &i32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').nth(1) == Some(command) && line.contains(&name)
    };
    pids.filter(is_one).collect()
}

/// A job that is ended takes a moment to go.
fn nothing_runs(directory: &Path) -> Result<(), Failed> {
    let gone = wait_for(|| processes(directory, "exec").is_empty().then_some(()));
    gone.map_err(|_| format!("{:?} still run", processes(directory, "exec")).into())
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Result<T, Failed> {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if let Some(found) = look() {
            return Ok(found);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err("it did not come to pass in half a minute".into())
}
