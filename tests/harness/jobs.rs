//! Workflow mode with the real binary: jobs are processes, their directories are on the disk, and some of them end badly.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::binary::{Place, Ran};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 40] = [
        ("jobs print what one process prints", same_as_deferred),
        ("each chunk has a directory that tells all", directories),
        ("a second run keeps all results", kept),
        ("fresh computes again", fresh),
        ("only what changed is computed", changed),
        ("resources do not matter for what is kept", resources_do_not_matter),
        ("equal tasks share a job", equal_tasks),
        ("a chunk that fails", failing_chunk),
        ("a failed job is tried again by the next run", tried_again),
        ("a failed input", failed_input),
        ("a branch that is not taken", non_strict),
        ("a job that is killed", killed),
        ("a job that is killed is tried again", retried),
        ("site files say what is tried again", site_files),
        ("a site file with faults", faulty_site_file),
        ("a job that takes too long", walltime),
        ("a job that takes too much memory", memory),
        ("a job that takes more memory than there is of its own is let be", modest),
        ("more cores than there are", too_many_cores),
        ("more memory than there is", too_much_memory),
        ("more than there is, made smaller", clamped),
        ("more chunks than elements", too_many_chunks),
        ("never more jobs than cores", cores_are_kept_to),
        ("no more threads than were asked for", threads_are_kept_to),
        ("interrupted by the user", interrupted),
        ("interrupted while this process computes", interrupted_between_jobs),
        ("interrupted while it waits for another run", interrupted_while_waiting),
        ("a driver that is killed leaves its job to the next", adopted),
        ("a job that is left behind and not needed keeps its cores", left_behind),
        ("jobs are children of their driver, wherever they come from", copies),
        ("the server of processes is killed", server_killed),
        ("an attempt that was never begun", never_begun),
        ("two runs of one store", two_runs),
        ("two models in one store", two_models),
        ("a driver whose clock is an hour off", clock_off),
        ("a store with an awkward name", awkward_store),
        ("a store that cannot be written", unwritable_store),
        ("static faults begin no job", static_faults),
        ("a line of JSON for each event", events),
        ("a directory that is no job", no_job),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("jobs: {name}"), test)).collect()
}

const RATES: &str = "\
use exp from numpy
R = 8.314 [J/mol/K]
barrier = 90 [kJ/mol]
rate(prefactor, t) = prefactor * exp(-barrier / (R * t))
temperatures = (T: 300.0, 400.0, 500.0) [K]
rates = map((t: rate(1.0e12 [1/s], t)), temperatures) in 2 chunks for 1 [min] on 1 core with 512 [MiB]
best = reduce((x, y: if(x > y, x, y)), rates) on 1 core
print(rates)
print(best, sum(rates))
";

/// Computes for minutes, in little memory.
const LONG: &str = "map((x: if(sum(range(0.0*x, 5000000.0, 1.0)) > 0, 499999500000, 0) + x), range(0, 100000, 1))";

/// A place with a program, `model.scl`.
pub fn place(program: &str) -> Place {
    let place = Place::new();
    place.write("model.scl", program);
    place
}

/// Runs it.
pub fn workflow(place: &Place) -> Ran {
    place.run(&["run", "model.scl"])
}

/// The attempts of all jobs, sorted.
pub fn attempts(store: &Path) -> Vec<PathBuf> {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    let is_attempt = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("attempt-"));
    let mut attempts: Vec<PathBuf> = entries(&store.join("jobs")).iter().flat_map(|job| entries(job)).filter(is_attempt).collect();
    attempts.sort();
    attempts
}

fn manifest(attempt: &Path) -> Result<Value, Failed> {
    Ok(serde_json::from_str::<Value>(&std::fs::read_to_string(attempt.join("manifest.json"))?)?["content"].take())
}

/// A fault that shows what it is about, unless something holds.
pub fn expect(holds: bool, what: impl std::fmt::Debug) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("{what:?}").into()) }
}

fn same_as_deferred() -> Result<(), Failed> {
    let place = place(RATES);
    let deferred = place.run(&["run", "--mode", "deferred", "model.scl"]);
    expect(deferred.code == Some(0) && deferred.stdout.lines().count() == 2 && !place.path().join(".scl").exists(), &deferred)?;
    workflow(&place).ends(0, &deferred.stdout, &["jobs: 3 done, 0 failed, 0 kept"])?;
    place.run(&["run", "--mode", "instant", "model.scl"]).prints(&deferred.stdout)
}

fn directories() -> Result<(), Failed> {
    let place = place(RATES);
    workflow(&place);
    let attempts = attempts(&place.path().join(".scl"));
    expect(attempts.len() == 3, &attempts)?;
    for attempt in &attempts {
        for file in ["task.json", "task.txt", "command", "stdout", "stderr", "manifest.json"] {
            expect(attempt.join(file).is_file(), (attempt, file))?;
        }
        let manifest = manifest(attempt)?;
        let result = manifest["outcome"]["result"]["file"].as_str().unwrap_or_default();
        expect(manifest["outcome"]["outcome"] == "success" && attempt.join(result).is_file(), &manifest)?;
        expect(std::fs::read_to_string(attempt.join("command"))?.contains("exec"), attempt)?;
    }
    let statements: BTreeSet<String> = attempts.iter().flat_map(|attempt| std::fs::read_to_string(attempt.join("task.txt"))).collect();
    expect(statements.len() == 2 && statements.iter().any(|text| text.starts_with("rates = map(")), &statements)
}

fn kept() -> Result<(), Failed> {
    let place = place(RATES);
    let first = workflow(&place);
    let before = attempts(&place.path().join(".scl"));
    workflow(&place).ends(0, &first.stdout, &["jobs: 0 done, 0 failed, 3 kept"])?;
    expect(attempts(&place.path().join(".scl")) == before, before)
}

fn fresh() -> Result<(), Failed> {
    let place = place(RATES);
    let first = workflow(&place);
    place.run(&["run", "--fresh", "model.scl"]).ends(0, &first.stdout, &["jobs: 3 done, 0 failed, 0 kept"])?;
    let attempts = attempts(&place.path().join(".scl"));
    expect(attempts.len() == 6 && attempts.iter().filter(|path| path.ends_with("attempt-2")).count() == 3, attempts)
}

fn changed() -> Result<(), Failed> {
    let place = place("a = 2\nb = 3 * a on 1 core\nc = 4 on 1 core\nprint(b, c)\n");
    workflow(&place).ends(0, "6 4\n", &["2 done, 0 failed, 0 kept"])?;
    place.write("model.scl", "# moved\n\na = 5\nb = 3 * a on 1 core\n\n\nc = 4 on 1 core\nprint(b, c)\n");
    workflow(&place).ends(0, "15 4\n", &["1 done, 0 failed, 1 kept"])
}

fn resources_do_not_matter() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nprint(a)\n");
    workflow(&place).prints("5\n")?;
    place.write("model.scl", "a = 2 + 3 for 2 [h] on 1 core with 100 [MiB]\nprint(a)\n");
    workflow(&place).ends(0, "5\n", &["0 done, 0 failed, 1 kept"])
}

fn equal_tasks() -> Result<(), Failed> {
    let place = place("n = 7\na = n + 1 on 1 core\nb = n + 1 on 1 core\nprint(a, b)\n");
    workflow(&place).ends(0, "8 8\n", &["jobs: 1 done, 0 failed, 1 kept"])?;
    expect(attempts(&place.path().join(".scl")).len() == 1, "one attempt")
}

fn failing_chunk() -> Result<(), Failed> {
    let program = "s = (v: 1, 0, 2)\nm = map((x: 6/x), s) in 3 chunks on 1 core\ntotal = sum(m)\nprint('before')\nprint(m)\nprint(total)\nprint('after')\n";
    let place = place(program);
    let says = ["model.scl:2:13", "division by zero", "jobs: 2 done, 1 failed", "while computing this", "log ", "stderr"];
    workflow(&place).ends(1, "'before'\n'after'\n", &says)?;
    let failed = |attempt: &&PathBuf| manifest(attempt).is_ok_and(|manifest| manifest["outcome"]["cause"]["cause"] == "evaluation");
    let attempts = attempts(&place.path().join(".scl"));
    expect(attempts.len() == 3 && attempts.iter().filter(failed).count() == 1, attempts)
}

fn tried_again() -> Result<(), Failed> {
    let place = place("a = 1/0 on 1 core\nprint(a)\n");
    workflow(&place).ends(1, "", &["1 failed"])?;
    workflow(&place).ends(1, "", &["1 failed, 0 kept"])?;
    expect(attempts(&place.path().join(".scl")).len() == 2, "two attempts")
}

fn failed_input() -> Result<(), Failed> {
    let ran = workflow(&place("bad = 1/0\na = bad + 1 on 1 core\nb = a * 2 on 1 core\nprint(b)\nprint('after')\n"));
    ran.ends(1, "'after'\n", &["division by zero"])?;
    expect(ran.stderr.contains("model.scl:1:7"), &ran)
}

fn non_strict() -> Result<(), Failed> {
    workflow(&place("bad = 1/0\na = if(true, 5, bad) ? on 1 core\nprint(a)\n")).prints("5\n")?;
    workflow(&place("bad = 1/0\na = if(true, 5, bad) on 1 core\nprint(a)\n")).ends(0, "5\n", &[])
}

/// A driver that is going to be disturbed.
pub struct Driver {
    child: Child,
}

impl Driver {
    /// Runs `model.scl`.
    pub fn start(place: &Place) -> Result<Driver, Failed> {
        Driver::start_with(place, &[])
    }

    fn start_with(place: &Place, arguments: &[&str]) -> Result<Driver, Failed> {
        let mut command = place.scl(&[&["run", "model.scl"], arguments].concat());
        Ok(Driver { child: command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()? })
    }

    /// The processes of its jobs, as soon as there are so many.
    pub fn jobs(&self, count: usize) -> Result<Vec<Pid>, Failed> {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let jobs = children(self.child.id());
            if jobs.len() >= count {
                return Ok(jobs);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err("the jobs did not begin".into())
    }

    /// As a user who presses Ctrl-C.
    pub fn interrupt(self) -> Result<Ran, Failed> {
        kill(self.pid(), Signal::SIGINT)?;
        self.end()
    }

    /// Ends it without a chance to do anything about it.
    pub fn kill(mut self) -> Result<(), Failed> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Its number.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Waits for its end, but not for ever: a test that hangs says nothing.
    pub fn end(self) -> Result<Ran, Failed> {
        let pid = self.pid();
        let (over, waiting) = mpsc::channel::<()>();
        thread::spawn(move || {
            if waiting.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = kill(pid, Signal::SIGKILL);
            }
        });
        let output = self.child.wait_with_output()?;
        drop(over);
        Ok(Ran::from(output))
    }
}

/// The processes that a process has started and that run another program by now.
fn children(parent: u32) -> Vec<Pid> {
    children_called(parent, "exec")
}

/// Those of them that run this program with this command.
fn children_called(parent: u32, name: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_child = |pid: &i32| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let command = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        status.contains(&format!("\nPPid:\t{parent}\n")) && command.split('\0').nth(1) == Some(name)
    };
    let pids = entries.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    pids.filter(is_child).map(Pid::from_raw).collect()
}

fn killed() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint('before')\nprint(a[0])\nprint('after')\n"));
    let driver = Driver::start(&place)?;
    kill(driver.jobs(1)?[0], Signal::SIGKILL)?;
    let says = ["model.scl:1:1", "the job of `a` failed", "signal 9 (SIGKILL)", "attempt-1/stderr"];
    driver.end()?.ends(1, "'before'\n'after'\n", &says)
}

/// Takes about a second, and is 3.
const SLOW: &str = "sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) * 0 + x), range(0, 250, 1))) - 31122";

/// Begins a run and kills its first job.
fn kill_first_job(place: &Place, arguments: &[&str]) -> Result<Ran, Failed> {
    let driver = Driver::start_with(place, arguments)?;
    kill(driver.jobs(1)?[0], Signal::SIGKILL)?;
    driver.end()
}

fn retried() -> Result<(), Failed> {
    let place = place(&format!("a = {SLOW} on 1 core\nprint(a)\n"));
    let ran = kill_first_job(&place, &["--retries", "1"])?;
    ran.ends(0, "3\n", &["a: tried again in 1 s: killed by signal 9 (SIGKILL)", "a: started, attempt 2", "jobs: 1 done, 0 failed"])?;
    let attempts = attempts(&place.path().join(".scl"));
    let ended: Vec<bool> = attempts.iter().map(|attempt| attempt.join("manifest.json").exists()).collect();
    expect(ended == [false, true], &attempts)?;
    workflow(&place).ends(0, "3\n", &["0 done, 0 failed, 1 kept"])
}

/// The project's file counts more than the user's, the one that is named most of all, and the command line more than each.
fn site_files() -> Result<(), Failed> {
    let place = place(&format!("a = {SLOW} on 1 core\nprint(a)\n"));
    std::fs::create_dir_all(place.path().join("config/scl"))?;
    place.write("config/scl/site.toml", "[retries]\nsignal = 3\npause_seconds = 0.125\n");
    kill_first_job(&place, &[])?.ends(0, "3\n", &["tried again in 0.13 s", "1 done"])?;
    place.write("site.toml", "[retries]\nsignal = 0\n");
    kill_first_job(&place, &["--fresh"])?.ends(1, "", &["E0701", "signal 9"])?;
    kill_first_job(&place, &["--fresh", "--retries", "1"])?.ends(0, "3\n", &["tried again in 0.13 s", "1 done"])
}

fn faulty_site_file() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nprint(a)\n");
    place.write("named.toml", "[retries]\nsignals = 3\n");
    let with = |name: &str| Ran::from(place.scl(&["run", "model.scl"]).env("SCL_SITE", name).output().expect("the binary starts"));
    with("named.toml").is_refused(&["E0832", "named.toml:2:1", "did you mean `signal`?"])?;
    with("missing.toml").is_refused(&["E0830", "missing.toml"])?;
    place.write("named.toml", "[retries]\nsignal = 3\n");
    with("named.toml").prints("5\n")?;
    std::fs::create_dir_all(place.path().join("elsewhere/site.toml"))?;
    let elsewhere = &["run", "--store", "elsewhere", "model.scl"];
    place.run(elsewhere).ends(0, "5\n", &["warning[W0830]", "passed over"])?;
    std::fs::remove_dir(place.path().join("elsewhere/site.toml"))?;
    place.write("elsewhere/site.toml", "retries = 3\n");
    place.run(elsewhere).is_refused(&["E0833", "elsewhere/site.toml"])?;
    place.write("site.toml", "retries = 3\n");
    workflow(&place).is_refused(&["E0833", "site.toml:1:11"])?;
    place.run(&["repl"]).is_refused(&["E0833"])
}

fn walltime() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} for 1 [s] on 1 core\nprint(a[0])\nprint('after')\n"));
    workflow(&place).ends(1, "'after'\n", &["model.scl:1:1", "walltime of 1s exceeded", "for 1 [s]", "ask for more time"])?;
    let manifest = manifest(&attempts(&place.path().join(".scl"))[0])?;
    expect(manifest["outcome"]["cause"]["cause"] == "walltime", manifest)
}

fn memory() -> Result<(), Failed> {
    let place = place("a = map((x: 2*x), range(0, 100000000, 1)) on 1 core with 64 [MiB]\nprint(a)\nprint('after')\n");
    workflow(&place).ends(1, "'after'\n", &["out of memory", "64 MiB requested", "ask for more memory"])?;
    let manifest = manifest(&attempts(&place.path().join(".scl"))[0])?;
    expect(manifest["outcome"]["cause"]["cause"] == "out_of_memory", manifest)
}

fn modest() -> Result<(), Failed> {
    workflow(&place("a = sum(range(0, 1000000, 1)) on 1 core with 256 [MiB]\nprint(a)\n")).prints("499999500000\n")
}

fn too_many_cores() -> Result<(), Failed> {
    let place = place("a = 1 on 1 core\nprint(a)\nb = 2 on 100000 cores\nprint(b)\n");
    workflow(&place).is_refused(&["E0810", "model.scl:3", "100000 cores are requested"])?;
    expect(!place.path().join(".scl").exists(), "nothing is stored")?;
    place.run(&["run", "--mode", "deferred", "model.scl"]).prints("1\n2\n")
}

fn too_much_memory() -> Result<(), Failed> {
    let place = place("print('a')\nb = 2 on 1 core with 500 [TiB]\nprint(b)\n");
    workflow(&place).is_refused(&["E0812", "model.scl:2", "memory"])
}

/// Both numbers are said, and the job keeps to what it got.
fn clamped() -> Result<(), Failed> {
    let cores = thread::available_parallelism()?;
    let place = place("a = 1 + 1 on 100000 cores\nb = 2 + 2 on 1 core with 500 [TiB]\nc = 3 on 1 core\nprint(a, b, c)\n");
    let ran = place.run(&["run", "--clamp", "model.scl"]);
    let says = [
        "W0810",
        "100000 cores are requested",
        &format!("this machine has {cores} for us"),
        &format!("it runs on {cores} core"),
        "524288000 MiB",
    ];
    ran.ends(0, "2 4 3\n", &says)?;
    expect(ran.stderr.matches("W0810").count() == 2, &ran)?;
    let mut given = Vec::new();
    for attempt in attempts(&place.path().join(".scl")) {
        let task: Value = serde_json::from_str(&std::fs::read_to_string(attempt.join("task.json"))?)?;
        given.push(task["content"]["request"]["cores"].as_u64());
    }
    given.sort_unstable();
    expect(given == [Some(1), Some(1), Some(cores.get() as u64)], &given)?;
    // what was computed smaller is kept as what it is
    place.run(&["run", "--clamp", "--quiet", "model.scl"]).ends(0, "2 4 3\n", &["W0810"])
}

fn too_many_chunks() -> Result<(), Failed> {
    let place = place("s = range(1, 1 + 2, 1)\nm = map((x: 2*x), s) in 3 chunks on 1 core\nprint(m)\nprint('after')\n");
    workflow(&place).ends(1, "'after'\n", &["E0540", "write `in 2 chunks` or less"])?;
    expect(attempts(&place.path().join(".scl")).is_empty(), "no job")
}

/// Manifests say when jobs began and ended: at no time may more have run than there are cores.
fn cores_are_kept_to() -> Result<(), Failed> {
    let cores = thread::available_parallelism()?.get();
    let jobs = 3 * cores.min(4);
    let work: String = (0..jobs).map(|job| format!("a{job} = sum(range({job}, 200000, 1)) on 1 core\n")).collect();
    let names: Vec<String> = (0..jobs).map(|job| format!("a{job}")).collect();
    let place = place(&format!("{work}wide = 1 + 1 on {cores} cores\nprint({}, wide)\n", names.join(", ")));
    expect(workflow(&place).code == Some(0), "all well")?;
    let mut events = Vec::new();
    for attempt in attempts(&place.path().join(".scl")) {
        let manifest = manifest(&attempt)?;
        let wide = std::fs::read_to_string(attempt.join("task.txt"))?.starts_with("wide");
        let size = if wide { cores as i64 } else { 1 };
        events.push((manifest["started"].as_i64(), size));
        events.push((manifest["ended"].as_i64(), -size));
    }
    expect(events.len() == 2 * (jobs + 1), &events)?;
    // what ends in the millisecond in which another begins is counted as gone
    events.sort_unstable();
    let mut used = 0;
    let most = events.iter().map(|(_, size)| {
        used += size;
        used
    });
    expect(most.max() <= Some(cores as i64), &events)
}

/// Two threads wait, one performs tasks, and one looks at elements.
fn threads_are_kept_to() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG}\nb = map((x: x + a[0]), range(0, 9, 1))\nprint(a[0])\nprint(b)\n"));
    let mut child = place.scl(&["run", "-j", "1", "model.scl"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let threads = || std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count);
    let begun = wait_until(|| threads() >= 4);
    thread::sleep(Duration::from_millis(200));
    let most = threads();
    child.kill()?;
    child.wait()?;
    begun?;
    expect(most == 4, most)
}

fn interrupted() -> Result<(), Failed> {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let place = place(&format!("quick = 1 + 1 on 1 core\na = {LONG} on 1 core\nprint(quick)\nprint(a[0])\n"));
        let driver = Driver::start(&place)?;
        let finished = |attempt: &PathBuf| attempt.join("manifest.json").exists();
        wait_until(|| attempts(&place.path().join(".scl")).iter().any(finished))?;
        let jobs = driver.jobs(1)?;
        kill(driver.pid(), signal)?;
        driver.end()?.ends(1, "2\n", &["interrupted"])?;
        for job in jobs {
            wait_until(|| kill(job, None).is_err())?;
        }
        place.write("model.scl", "quick = 1 + 1 on 1 core\nprint(quick)\n");
        workflow(&place).ends(0, "2\n", &["1 kept"])?;
    }
    Ok(())
}

/// The only job is over, and a thread has begun what no signal can end.
fn interrupted_between_jobs() -> Result<(), Failed> {
    let place = place(&format!("quick = 1 + 1 on 1 core\nprint(quick)\na = {LONG}\nprint(a[0])\n"));
    let driver = Driver::start(&place)?;
    let kept = |attempt: &PathBuf| attempt.join("manifest.json").exists();
    wait_until(|| attempts(&place.path().join(".scl")).iter().any(kept))?;
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    kill(driver.pid(), Signal::SIGINT)?;
    driver.end()?.ends(1, "2\n", &["interrupted", "jobs: 1 done, 0 failed"])?;
    expect(begun.elapsed() < Duration::from_secs(20), begun.elapsed())
}

/// The second run has nothing of its own to end; the first one goes on.
fn interrupted_while_waiting() -> Result<(), Failed> {
    let place = place(&format!("a = {LONG} on 1 core\nprint(a[0])\n"));
    let first = Driver::start(&place)?;
    let jobs = first.jobs(1)?;
    let second = Driver::start(&place)?;
    thread::sleep(Duration::from_millis(500));
    kill(second.pid(), Signal::SIGINT)?;
    second.end()?.ends(1, "", &[&format!("waiting for process {}", first.pid()), "interrupted"])?;
    expect(kill(jobs[0], None).is_ok(), "the job of the first run goes on")?;
    kill(first.pid(), Signal::SIGINT)?;
    first.end()?.ends(1, "", &["interrupted"])
}

fn adopted() -> Result<(), Failed> {
    let place =
        place("a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 300, 1))) on 1 core\nprint(a)\n");
    let mut driver = Driver::start(&place)?;
    let held = |attempt: &PathBuf| attempt.join("process.json").exists();
    wait_until(|| attempts(&place.path().join(".scl")).iter().any(held))?;
    driver.child.kill()?;
    driver.child.wait()?;
    workflow(&place).ends(0, "1499985044850\n", &["0 failed"])?;
    expect(attempts(&place.path().join(".scl")).len() == 1, "the job that was running is taken over")
}

/// A job that is over at once, so that those after it come from the server, and two that go on for long.
fn served() -> String {
    format!("a = 1 + 1 on 1 core\nb = {LONG} on 1 core\nc = {LONG} on 1 core\nprint(a)\nprint(a + b[0])\nprint(a + c[1])\n")
}

/// The server of a driver, as soon as there is one.
fn server(driver: &Driver) -> Result<Pid, Failed> {
    wait_until(|| !children_called(driver.child.id(), "serve").is_empty())?;
    Ok(children_called(driver.child.id(), "serve")[0])
}

fn copies() -> Result<(), Failed> {
    if thread::available_parallelism()?.get() < 2 {
        return Ok(());
    }
    let place = place(&served());
    let driver = Driver::start(&place)?;
    let server = server(&driver)?;
    // a copy has its name before it is ready, and the first job is over soon
    let begun = || attempts(&place.path().join(".scl")).iter().filter(|attempt| attempt.join("process.json").exists()).count();
    wait_until(|| begun() == 3 && children(driver.child.id()).len() == 2)?;
    let jobs = driver.jobs(2)?;
    for job in &jobs {
        expect(nix::unistd::getpgid(Some(*job)) == Ok(*job), "a job is the leader of its group")?;
        let command = std::fs::read_to_string(format!("/proc/{job}/cmdline"))?;
        let attempt = attempts(&place.path().join(".scl")).into_iter().find(|attempt| command.contains(&*attempt.to_string_lossy()));
        let attempt = attempt.ok_or("its name says what it does")?;
        let output = std::fs::read_link(format!("/proc/{job}/fd/1"))?;
        expect(output == attempt.join("stdout").canonicalize()?, output)?;
        expect(std::fs::read_link(format!("/proc/{job}/fd/0"))? == Path::new("/dev/null"), "there is nothing to read")?;
    }
    // Ctrl-C reaches the group of the driver
    expect(nix::unistd::getpgid(Some(server)) == Ok(server), "the server is in a group of its own")?;
    let held: Vec<_> = std::fs::read_dir(format!("/proc/{server}/fd"))?.flatten().map(|file| std::fs::read_link(file.path())).collect();
    expect(held.iter().flatten().all(|file| !file.starts_with(place.path())), held)?;
    kill(jobs[0], Signal::SIGKILL)?;
    kill(jobs[1], Signal::SIGABRT)?;
    driver.end()?.ends(1, "2\n", &["signal 9 (SIGKILL)", "signal 6 (SIGABRT)"])?;
    wait_until(|| kill(server, None).is_err())
}

/// Jobs that run go on, and those after them begin.
fn server_killed() -> Result<(), Failed> {
    let model = format!("a = 1 + 1 on 1 core\nb = {SLOW} + a on 1 core\nc = b + 1 on 1 core\nd = c + 1 on 1 core\nprint(d)\n");
    let place = place(&model);
    let driver = Driver::start(&place)?;
    kill(server(&driver)?, Signal::SIGKILL)?;
    driver.end()?.ends(0, "7\n", &["jobs: 4 done, 0 failed"])?;
    place.write("model.scl", served());
    let driver = Driver::start(&place)?;
    let server = server(&driver)?;
    let jobs = driver.jobs(1)?;
    driver.kill()?;
    wait_until(|| kill(server, None).is_err())?;
    for job in jobs {
        expect(kill(job, None).is_ok(), "a job goes on without its driver")?;
        kill(job, Signal::SIGTERM)?;
        wait_until(|| kill(job, None).is_err())?;
    }
    Ok(())
}

/// What the next run does not need goes on, and the cores that it has are given to nobody else.
fn left_behind() -> Result<(), Failed> {
    let cores = thread::available_parallelism()?;
    let place = place(&format!("a = {LONG} on {cores} cores\nprint(a[0])\n"));
    let mut driver = Driver::start(&place)?;
    let job = driver.jobs(1)?[0];
    let held = |attempt: &PathBuf| attempt.join("process.json").exists();
    wait_until(|| attempts(&place.path().join(".scl")).iter().any(held))?;
    driver.child.kill()?;
    driver.child.wait()?;
    place.write("model.scl", "b = 1 + 1 on 1 core\nprint(b)\n");
    // it is the same store by any name
    std::os::unix::fs::symlink(".scl", place.path().join("link"))?;
    let next = Driver::start_with(&place, &["--store", "link"])?;
    thread::sleep(Duration::from_millis(1500));
    let waited = attempts(&place.path().join(".scl")).iter().filter(|attempt| held(attempt)).count();
    let survived = kill(job, None).is_ok();
    kill(job, Signal::SIGTERM)?;
    next.end()?.ends(0, "2\n", &["1 job of an earlier run still runs here", "1 done, 0 failed"])?;
    expect(survived && waited == 1, (survived, waited))
}

/// A driver that was killed between two steps leaves less than an attempt behind, which the next run passes by.
fn never_begun() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nprint(a)\n");
    workflow(&place).prints("5\n")?;
    let first = attempts(&place.path().join(".scl")).remove(0);
    for files in [vec!["manifest.json"], vec!["process.json"], vec!["task.json", "result.json", "stdout", "stderr"]] {
        for file in files {
            let _ = std::fs::remove_file(first.join(file));
        }
        let _ = std::fs::remove_dir_all(first.with_file_name("attempt-2"));
        workflow(&place).ends(0, "5\n", &["1 done, 0 failed, 0 kept"])?;
        workflow(&place).ends(0, "5\n", &["0 done, 0 failed, 1 kept"])?;
    }
    Ok(())
}

fn two_runs() -> Result<(), Failed> {
    let place =
        place("a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 100, 1))) on 1 core\nprint(a)\n");
    let runs = [Driver::start(&place)?, Driver::start(&place)?];
    for run in runs {
        run.end()?.ends(0, "499995004950\n", &["0 failed"])?;
    }
    expect(attempts(&place.path().join(".scl")).len() == 1, "the second run takes what the first one has computed")
}

/// Each takes what the other has computed, whichever was first.
fn two_models() -> Result<(), Failed> {
    let place = Place::new();
    let shared = "a = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, 100, 1))) on 1 core\n";
    place.write("one.scl", format!("{shared}b = a + 1 on 1 core\nprint(a, b)\n"));
    place.write("two.scl", format!("{shared}c = a + 2 on 1 core\nprint(a, c)\n"));
    let start = |model| Ok::<_, Failed>(place.scl(&["run", model]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?);
    let drivers = [Driver { child: start("one.scl")? }, Driver { child: start("two.scl")? }];
    for (driver, result) in drivers.into_iter().zip(["499995004950 499995004951\n", "499995004950 499995004952\n"]) {
        driver.end()?.ends(0, result, &["0 failed"])?;
    }
    expect(attempts(&place.path().join(".scl")).len() == 3, "what both need is computed once")
}

/// Everything in the store seems to be of the next hour, or of the last one: what runs is taken over, and what is done is kept.
fn clock_off() -> Result<(), Failed> {
    const HOUR: Duration = Duration::from_secs(3600);
    for later in [true, false] {
        let place = place(&format!("quick = 1 + 1 on 1 core\na = {SLOW} for 10 [min] on 1 core\nprint(quick, a)\n"));
        let store = place.path().join(".scl");
        let mut driver = Driver::start(&place)?;
        let has = |file: &str| attempts(&store).iter().filter(|attempt| attempt.join(file).exists()).count();
        wait_until(|| has("process.json") == 2 && has("manifest.json") == 1)?;
        driver.child.kill()?;
        driver.child.wait()?;
        let now = std::time::SystemTime::now();
        let other = if later { now + HOUR } else { now - HOUR };
        for attempt in attempts(&store) {
            for file in std::fs::read_dir(&attempt)? {
                std::fs::File::open(file?.path())?.set_modified(other)?;
            }
            let path = attempt.join("manifest.json");
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let mut manifest: Value = serde_json::from_str(&text)?;
            for time in ["started", "ended"] {
                let told = manifest["content"][time].as_u64().ok_or("no time")?;
                manifest["content"][time] = (if later { told + 3_600_000 } else { told - 3_600_000 }).into();
            }
            std::fs::write(&path, manifest.to_string())?;
        }
        workflow(&place).ends(0, "2 3\n", &["a: goes on", "1 done, 0 failed, 1 kept"])?;
        expect(has("task.json") == 2, "nothing is computed twice")?;
    }
    Ok(())
}

/// Waits until something holds, for a minute.
pub fn wait_until(mut holds: impl FnMut() -> bool) -> Result<(), Failed> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if holds() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err("it did not come to pass in a minute".into())
}

fn awkward_store() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nprint(a)\n");
    for store in ["with blanks", "it's", "a \"quoted\" one", "back\\slash", "-dash", "$HOME;ls", "größe"] {
        let store = format!("--store={store}");
        place.run(&["run", &store, "model.scl"]).ends(0, "5\n", &["1 done"])?;
        place.run(&["run", &store, "model.scl"]).ends(0, "5\n", &["1 kept"])?;
    }
    place.write("odd 'name'.scl", "a = 2 + 3 on 1 core\nprint(a)\n");
    place.run(&["run", "odd 'name'.scl"]).prints("5\n")
}

/// A file stands where the store should be: not even root can write into it.
fn unwritable_store() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nprint('before')\nprint(a)\n");
    place.write("file", "");
    let ran = place.run(&["run", "--store", "file/store", "model.scl"]);
    // known before anything runs, and so said before
    ran.ends(1, "", &["E0703", "model.scl:1:11", "--store"])
}

/// Each line is an object, the last one holds the diagnostics.
fn events() -> Result<(), Failed> {
    let place = place("a = 2 + 3 on 1 core\nb = a / 0 on 1 core\nprint(a)\nprint(b)\n");
    let happened = |arguments: &[&str]| -> Result<Vec<(String, String)>, Failed> {
        let ran = place.run(&[&["run", "--format", "json", "model.scl"], arguments].concat());
        ran.ends(1, "5\n", &[])?;
        let lines = ran.stderr.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        let (last, events) = lines.split_last().ok_or("nothing on stderr")?;
        let faults: Vec<&Value> =
            last["diagnostics"].as_array().ok_or("no diagnostics")?.iter().filter(|each| each["severity"] == "error").collect();
        expect(faults.len() == 1 && faults[0]["code"] == "E0420" && events.iter().all(|event| event["version"] == 1), &lines)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(events.iter().map(|event| (text(&event["event"]), text(&event["job"]))).collect())
    };
    let told = |events: &[(&str, &str)]| events.iter().map(|(event, job)| ((*event).to_owned(), (*job).to_owned())).collect::<Vec<_>>();
    let first = happened(&[])?;
    expect(first == told(&[("started", "a"), ("done", "a"), ("started", "b"), ("failed", "b")]), &first)?;
    let second = happened(&[])?;
    expect(second == told(&[("kept", "a"), ("started", "b"), ("failed", "b")]), &second)?;
    expect(happened(&["--quiet"])?.is_empty(), "quiet")
}

fn static_faults() -> Result<(), Failed> {
    let place = place("a = 1 on 1 core\nprint(a)\nb = nowhere\n");
    workflow(&place).is_refused(&["E0201"])?;
    expect(!place.path().join(".scl").exists(), "nothing is stored")
}

fn no_job() -> Result<(), Failed> {
    let place = Place::new();
    for directory in ["missing", "."] {
        let ran = place.run(&["exec", directory]);
        expect(!matches!(ran.code, Some(0 | 101) | None) && !ran.stderr.is_empty(), &ran)?;
    }
    Ok(())
}
