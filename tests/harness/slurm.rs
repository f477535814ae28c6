//! Jobs of a real Slurm: two pretended nodes on this machine, started by `tests/slurm/up`.
//!
//! Where Slurm cannot be had (no root, no packages) these tests are ignored, and a line says so. `SCL_TEST_SLURM_KILLS` sets at how many
//! moments drivers are killed.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};

use crate::binary::{Place, Ran};
use crate::jobs::{attempts, expect};
use crate::recovery::{at, entries, processes};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 30] = [
        ("an example", example),
        ("chunks are one array", array),
        ("a request is what Slurm reads", lowered),
        ("a job over its walltime", walltime),
        ("a job over its memory", memory),
        ("a job that ends with a status", status),
        ("a job that is killed", killed),
        ("a job that someone else cancels", cancelled),
        ("a queue that is not there", no_queue),
        ("a request that no queue can run", too_large),
        ("no more jobs than the site allows", limit),
        ("what the site says to run first", prepared),
        ("names that no shell should see", hostile),
        ("a node that fails", node),
        ("a controller that is away", controller),
        ("a reply that is lost", lost_reply),
        ("jobs that Slurm has forgotten", forgotten),
        ("jobs that only the accounting knows", accounting),
        ("an interrupt leaves jobs to Slurm", interrupted),
        ("a second interrupt cancels them", interrupted_twice),
        ("status, log and cancel without a driver", commands),
        ("a driver killed at any step", killed_at_each_point),
        ("a driver killed at any moment", killed_at_random),
        ("a job that is submitted twice runs once", twice),
        ("a submission that arrives late", late),
        ("a run that is cancelled while it is submitted", cancelled_early),
        ("more chunks than the user may submit", user_limit),
        ("jobs that only the controller knows", deaf_queue),
        ("what is not yet submitted is cancelled for good", never_begins),
        ("clients that do not answer keep nobody", leaving_the_deaf),
    ];
    let missing = missing();
    if let Some(what) = &missing {
        eprintln!("skipped: {} tests with a real Slurm, for {what}", tests.len());
    }
    let trial = |(name, test): (&str, Test)| Trial::test(format!("slurm: {name}"), test).with_ignored_flag(missing.is_some());
    tests.into_iter().map(trial).collect()
}

/// What is not there that these tests need.
fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("its daemons are started as root".to_owned());
    }
    let there = |program: &str| ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    let programs = ["munged", "slurmctld", "slurmd", "sbatch", "slurmdbd", "mariadbd"];
    programs.into_iter().find(|program| !there(program)).map(|program| format!("there is no {program}; tests/run-all installs it"))
}

/// A cluster; it ends when it is dropped.
struct Cluster {
    folder: tempfile::TempDir,
}

/// The one that tests share which do nothing to it.
static SHARED: Mutex<Option<Arc<Cluster>>> = Mutex::new(None);

/// Ends the shared cluster: statics are not dropped.
pub fn stop() {
    drop(SHARED.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl Cluster {
    fn shared() -> Result<Arc<Cluster>, Failed> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*shared {
            Some(cluster) => Ok(cluster.clone()),
            None => Ok(shared.insert(Arc::new(Cluster::start(&[])?)).clone()),
        }
    }

    fn start(settings: &[(&str, &str)]) -> Result<Cluster, Failed> {
        let cluster = Cluster { folder: tempfile::Builder::new().prefix("scl-slurm").tempdir()? };
        let port = free_port()?.to_string();
        let mut up = Command::new(script("up"));
        up.arg(cluster.folder.path()).arg(port).envs(settings.iter().copied());
        // a pipe would be kept open by the daemons
        let log = cluster.folder.path().join("up.log");
        let status = up.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&log)?).status()?;
        expect(status.success(), fs::read_to_string(&log)).map(|()| cluster)
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// The binary, with this cluster.
    fn scl(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = place.scl(arguments);
        command.env("SLURM_CONF", self.conf());
        let wrappers = place.path().join("wrappers");
        if wrappers.is_dir() {
            command.env("PATH", format!("{}:{}", wrappers.display(), std::env::var("PATH").unwrap_or_default()));
        }
        command
    }

    fn run(&self, place: &Place, arguments: &[&str]) -> Result<Ran, Failed> {
        Ok(Ran::from(self.scl(place, arguments).output()?))
    }

    fn driver(&self, place: &Place) -> Result<Child, Failed> {
        Ok(self
            .scl(place, &["run", "model.scl"])
            .stdout(Stdio::null())
            .stderr(fs::File::create(place.path().join("driver.log"))?)
            .spawn()?)
    }

    /// What one of Slurm's clients says.
    fn ask(&self, program: &str, arguments: &[&str]) -> Result<String, Failed> {
        let output = Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).stdin(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The ids of jobs of a place that are not over.
    fn jobs(&self, place: &Place) -> Result<Vec<String>, Failed> {
        let text = self.ask("squeue", &["--noheader", "--array", "--format=%A|%F_%K|%Z"])?;
        let own = text.lines().filter(|line| line.contains(&*place.path().to_string_lossy()));
        Ok(own.filter_map(|line| Some(line.split('|').next()?.to_owned())).collect())
    }

    /// The job of a driver that was killed when it began to run.
    fn abandoned(&self, place: &Place) -> Result<String, Failed> {
        let mut driver = self.driver(place)?;
        let id = self.running(place)?;
        driver.kill()?;
        driver.wait()?;
        Ok(id)
    }

    fn running(&self, place: &Place) -> Result<String, Failed> {
        wait_for(|| {
            let text = self.ask("squeue", &["--noheader", "--states=running", "--format=%A|%Z"]).ok()?;
            let line = text.lines().find(|line| line.contains(&*place.path().to_string_lossy()))?;
            Some(line.split('|').next()?.to_owned())
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // what is left is in a temporary directory
        let _ = Command::new(script("down")).arg(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm").join(name)
}

/// The first of four ports that nobody uses.
fn free_port() -> Result<u16, Failed> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 400).unwrap_or(0) * 64;
    for _ in 0..64 {
        let port = 20_000 + start + NEXT.fetch_add(4, Ordering::Relaxed);
        if (port..port + 4).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return Ok(port);
        }
    }
    Err("no four ports in a row are free".into())
}

const SITE: &str = "\
[slurm]
cluster = \"test\"
largest_array = 10000
[[slurm.queue]]
name = \"main\"
nodes = [{ count = 2, cores = 8, memory_mib = 16000 }]
";

fn place(program: &str) -> Place {
    place_with(SITE, program)
}

fn place_with(site: &str, program: &str) -> Place {
    let place = Place::new();
    place.write("site.toml", site);
    place.write("model.scl", program);
    place
}

/// A job that takes some seconds, or much longer.
fn busy(seconds: u32) -> String {
    format!("map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) + x), range(0, {}, 1))", 300 * seconds)
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Result<T, Failed> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Some(found) = look() {
            return Ok(found);
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err("it did not come to pass in a minute".into())
}

fn nothing_is_left(cluster: &Cluster, place: &Place) -> Result<(), Failed> {
    let gone = wait_for(|| cluster.jobs(place).ok()?.is_empty().then_some(()));
    gone.map_err(|_| format!("Slurm still has {:?}", cluster.jobs(place)).into())
}

/// A program that is found before one of Slurm's, of the same name, which it may call as `$REAL`.
fn wrap(place: &Place, program: &str, script: &str) -> Result<(), Failed> {
    let folder = place.path().join("wrappers");
    fs::create_dir_all(&folder)?;
    let path = folder.join(program);
    fs::write(&path, format!("#!/bin/bash\nREAL=/usr/bin/{program}\n{script}\n"))?;
    Ok(fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?)
}

fn example() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/arrhenius.scl");
    let place = place(&fs::read_to_string(source)?);
    let deferred = place.run(&["run", "--mode", "deferred", "model.scl"]);
    cluster.run(&place, &["run", "model.scl"])?.ends(0, &deferred.stdout, &["2 done, 0 failed"])?;
    cluster.run(&place, &["run", "model.scl"])?.ends(0, &deferred.stdout, &["0 done, 0 failed, 2 kept"])?;
    nothing_is_left(&cluster, &place)
}

fn array() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place("s = range(0, 1000, 1)\nm = map((x: x**2), s) in 200 chunks on 1 core with 20 [MiB] for 2 [min]\nprint(sum(m))\n");
    for program in ["sbatch", "squeue", "scontrol"] {
        wrap(&place, program, &format!("echo >>{}; exec $REAL \"$@\"", place.path().join(format!("{program}.calls")).display()))?;
    }
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "332833500\n", &["200 done, 0 failed"])?;
    let calls = |program: &str| fs::read_to_string(place.path().join(format!("{program}.calls"))).unwrap_or_default().lines().count();
    expect(calls("sbatch") == 1, calls("sbatch"))?;
    expect(calls("squeue") <= 60 && calls("scontrol") <= 60, (calls("squeue"), calls("scontrol")))?;
    nothing_is_left(&cluster, &place)
}

fn lowered() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 2 cores with 3 [GiB] for 30.5 [min]\nprint(a)\n", busy(1000)));
    let mut driver = cluster.driver(&place)?;
    let id = cluster.running(&place)?;
    let job = cluster.ask("scontrol", &["--oneliner", "show", "job", &id])?;
    for part in ["NumCPUs=2 ", "NumTasks=1 ", "NumNodes=1 ", "MinMemoryCPU=3G ", "TimeLimit=00:31:00 ", "Partition=main "] {
        expect(job.contains(part), (part, &job))?;
    }
    cluster.ask("scancel", &[&id])?;
    expect(driver.wait()?.code() == Some(1), "a job was cancelled")?;
    nothing_is_left(&cluster, &place)
}

fn walltime() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core for 2 [s]\nprint(a)\n", busy(1000)));
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "walltime of 2s exceeded", "model.scl:1"])?;
    nothing_is_left(&cluster, &place)
}

fn memory() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place("a = sum(map((x: x), range(0, 20000000, 1))) on 1 core with 60 [MiB] for 1 [min]\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "out of memory", "60 MiB requested"])?;
    nothing_is_left(&cluster, &place)
}

fn status() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place_with(&SITE.replace("[[", "setup = ['echo it is broken >&2; exit 3']\n[["), "a = 1 on 1 core\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "exit status 3", "it is broken"])?;
    let place = place_with(&SITE.replace("[[", "setup = ['false']\n[["), "a = 1 on 1 core\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "never started", "a setup line of the site file failed"])
}

fn killed() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    let mut driver = cluster.driver(&place)?;
    let job = wait_for(|| processes(place.path(), "exec").first().copied())?;
    kill(Pid::from_raw(job), Signal::SIGKILL)?;
    driver.wait()?;
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(log.contains("killed by signal 9") && log.contains("E0701"), log)?;
    nothing_is_left(&cluster, &place)
}

fn cancelled() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    let mut driver = cluster.driver(&place)?;
    let id = cluster.running(&place)?;
    cluster.ask("scancel", &[&id])?;
    expect(driver.wait()?.code() == Some(1), "its job was cancelled")?;
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(log.contains("failed: cancelled") && log.contains(&format!("job {id}")), log)
}

fn no_queue() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place_with(&SITE.replace("\"main\"", "\"gone\""), "a = 1 on 1 core\nprint(a)\n");
    let ran = cluster.run(&place, &["run", "--retries", "3", "model.scl"])?;
    ran.ends(1, "", &["E0701", "refused: sbatch: error", "Invalid partition name specified", "model.scl:1"])
}

fn too_large() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place("a = 1 on 64 cores with 1 [GiB]\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.is_refused(&["E0840", "model.scl:1", "8 cores", "64 are requested", "`main`"])?;
    expect(!place.path().join(".scl").exists(), "nothing was begun")
}

fn limit() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let site = SITE.replace("[[", "most_jobs = 2\n[[");
    let place = place_with(&site, "s = range(0, 6, 1)\nm = map((x: x**2), s) in 6 chunks on 1 core\nprint(sum(m))\n");
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "55\n", &["allows no more jobs at a time", "6 done"])
}

fn prepared() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = Place::new();
    let said = place.path().join("said");
    let lines = format!("environment = {{ GREETING = \"it's $HOME;\" }}\nsetup = ['printf %s \"$GREETING\" >{}']\n[[", said.display());
    place.write("site.toml", SITE.replace("[[", &lines));
    place.write("model.scl", "a = 1 on 1 core\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.prints("1\n")?;
    expect(fs::read_to_string(&said)? == "it's $HOME;", fs::read_to_string(&said))
}

fn hostile() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    for name in ["a b", "it's", "$(touch pwned)", "semi;colon", "new\nline", "per%cent%j", "back\\slash", "quo\"te", "-rf"] {
        let place = place("a = 6 * 7 on 1 core\nprint(a)\n");
        let folder = place.path().join(name);
        fs::create_dir(&folder)?;
        for file in ["site.toml", "model.scl"] {
            fs::rename(place.path().join(file), folder.join(file))?;
        }
        let output = cluster.scl(&place, &["run", "model.scl"]).current_dir(&folder).output()?;
        Ran::from(output).prints("42\n").map_err(|fault| format!("{name:?}: {}", fault.message().unwrap_or_default()))?;
        expect(!folder.join("pwned").exists() && !place.path().join("pwned").exists(), name)?;
    }
    Ok(())
}

fn node() -> Result<(), Failed> {
    let cluster = Cluster::start(&[])?;
    let place = place(&format!("a = sum({}) on 8 cores\nprint(a)\n", busy(8)));
    let mut driver = cluster.driver(&place)?;
    let id = cluster.running(&place)?;
    let node = cluster.ask("squeue", &["--noheader", "--format=%N", "--jobs", &id])?.trim().to_owned();
    cluster.ask("scontrol", &["update", &format!("nodename={node}"), "state=down", "reason=test"])?;
    expect(driver.wait()?.success(), fs::read_to_string(place.path().join("driver.log")))?;
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(log.contains("node failure") && log.contains("1 done"), log)?;
    cluster.ask("scontrol", &["update", &format!("nodename={node}"), "state=resume"])?;
    nothing_is_left(&cluster, &place)
}

fn controller() -> Result<(), Failed> {
    let cluster = Cluster::start(&[])?;
    let place = place(&format!("a = sum({}) on 1 core\nb = a - a + 7 on 1 core\nprint(b)\n", busy(4)));
    let mut driver = cluster.driver(&place)?;
    cluster.running(&place)?;
    cluster.ask("scontrol", &["shutdown", "controller"])?;
    thread::sleep(Duration::from_secs(20));
    let started = Command::new("slurmctld").env("SLURM_CONF", cluster.conf()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    expect(started.success(), "the controller starts again")?;
    let pid = wait_for(|| fs::read_to_string(cluster.folder.path().join("slurmctld.pid")).ok().filter(|pid| !pid.is_empty()))?;
    fs::write(cluster.folder.path().join("pids"), format!("{}{pid}\n", fs::read_to_string(cluster.folder.path().join("pids"))?))?;
    let log = || fs::read_to_string(place.path().join("driver.log"));
    expect(driver.wait()?.success(), log())?;
    expect(log()?.contains("2 done, 0 failed"), log())?;
    nothing_is_left(&cluster, &place)?;
    no_key_succeeded_twice(&place)
}

fn lost_reply() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place("s = range(0, 4, 1)\nm = map((x: x**2), s) in 2 chunks on 1 core\nprint(sum(m))\n");
    let calls = place.path().join("calls");
    wrap(&place, "sbatch", &format!("echo >>{}; $REAL \"$@\" >/dev/null 2>&1; exit 1", calls.display()))?;
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "14\n", &["2 done, 0 failed", "was not answered"])?;
    let calls = fs::read_to_string(calls)?.lines().count();
    expect(calls == 1, format!("it was submitted {calls} times"))?;
    no_key_succeeded_twice(&place)
}

/// What has ended and was purged is known by its manifests; what was cancelled and purged counts as lost after the deadline.
fn forgotten() -> Result<(), Failed> {
    let cluster = Cluster::start(&[("MIN_JOB_AGE", "2")])?;
    let site = SITE.replace("[[", "unknown_after_minutes = 1\n[[");
    let place = place_with(&site, "s = range(0, 4, 1)\nm = map((x: x**2), s) in 2 chunks on 1 core\nprint(sum(m))\n");
    let mut driver = cluster.driver(&place)?;
    wait_for(|| (!ids(&place).is_empty()).then_some(()))?;
    driver.kill()?;
    driver.wait()?;
    let purged = |id: &str| wait_for(|| cluster.ask("scontrol", &["show", "job", id]).ok()?.is_empty().then_some(()));
    for id in ids(&place) {
        purged(&id)?;
    }
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "14\n", &["0 done, 0 failed, 2 kept"])?;

    let place = place_with(&site, &format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    let id = cluster.abandoned(&place)?;
    let job = wait_for(|| processes(place.path(), "exec").first().copied())?;
    kill(Pid::from_raw(job), Signal::SIGKILL)?;
    purged(&id)?;
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["unknown cause", "neither squeue nor scontrol nor sacct", "for 1 min"])
}

fn accounting() -> Result<(), Failed> {
    let cluster = Cluster::start(&[("ACCOUNTING", "1"), ("MIN_JOB_AGE", "2")])?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    let id = cluster.abandoned(&place)?;
    let job = wait_for(|| processes(place.path(), "exec").first().copied())?;
    kill(Pid::from_raw(job), Signal::SIGKILL)?;
    wait_for(|| cluster.ask("scontrol", &["show", "job", &id]).ok()?.is_empty().then_some(()))?;
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "killed by signal 9", &format!("job {id}")])?;
    let small = self::place("a = 1 on 1 core\nprint(a)\n");
    cluster.run(&small, &["run", "model.scl"])?.prints("1\n")
}

fn interrupted() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(6)));
    let mut driver = cluster.driver(&place)?;
    let id = cluster.running(&place)?;
    kill(Pid::from_raw(i32::try_from(driver.id())?), Signal::SIGINT)?;
    expect(driver.wait()?.code() == Some(1), "it was interrupted")?;
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(log.contains("left: 1 job goes on; run it again"), log)?;
    expect(cluster.jobs(&place)? == [id.as_str()], "the job goes on")?;
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "8999911619100\n", &["1 done, 0 failed", "goes on, an earlier run began it"])?;
    expect(ids(&place) == [id.as_str()], ids(&place))?;
    no_key_succeeded_twice(&place)
}

fn interrupted_twice() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    let mut driver = cluster.driver(&place)?;
    cluster.running(&place)?;
    let pid = Pid::from_raw(i32::try_from(driver.id())?);
    kill(pid, Signal::SIGINT)?;
    wait_for(|| fs::read_to_string(place.path().join("driver.log")).ok()?.contains("interrupt again").then_some(()))?;
    kill(pid, Signal::SIGINT)?;
    expect(driver.wait()?.code() == Some(1), "it was interrupted")?;
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(log.contains("cancelling all jobs") && log.contains("1 cancelled"), log)?;
    nothing_is_left(&cluster, &place)
}

fn commands() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("s = range(0, 4, 1)\nm = map((x: x + sum({})), s) in 2 chunks on 1 core\nprint(sum(m))\n", busy(1000)));
    cluster.abandoned(&place)?;
    let id = ids(&place).pop().ok_or("no id")?;
    let status = || cluster.run(&place, &["status", "--program", "model.scl"]);
    // a process is there before it has taken its attempt
    let taken = || attempts(&place.path().join(".scl")).iter().filter(|attempt| attempt.join("process.json").exists()).count();
    wait_for(|| (taken() == 2).then_some(()))?;
    status()?.prints_some(&["2 running", &format!("job {id}_1 RUNNING"), &format!("job {id}_2 RUNNING")])?;
    cluster.run(&place, &["log", "--program", "model.scl", "m 1/2"])?.prints_some(&["m 1/2: running", "statement: m = map("])?;
    let swept = cluster.run(&place, &["gc", "--program", "model.scl", "--older-than", "0s"])?;
    expect(cluster.jobs(&place)?.len() == 2, swept)?;
    cluster.run(&place, &["cancel", "--program", "model.scl"])?.prints_some(&["ended: m 1/2", "ended: m 2/2"])?;
    nothing_is_left(&cluster, &place)?;
    status()?.prints_some(&["2 cancelled"])
}

const MODEL: &str = "\
base = 2 * 21 on 1 core
s = (s: 1, 2, 3, 4)
parts = map((x: x * base), s) in 2 chunks on 1 core with 64 [MiB] for 1 [min]
print(base, parts)
";

const PRINTED: &str = "42 (parts: 42, 84, 126, 168)\n";

/// Drivers that are killed at the same time, each at a place of its own: they mostly wait.
const AT_ONCE: u64 = 4;

fn killed_at_each_point() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    // the clerk's steps and the driver's are counted together, so that one run comes to a few more than another
    let (next, most) = (AtomicU64::new(1), AtomicU64::new(u64::MAX));
    let worker = || -> Result<(), Failed> {
        loop {
            let point = next.fetch_add(1, Ordering::Relaxed);
            if point > most.load(Ordering::Relaxed) {
                return Ok(());
            }
            let place = place(MODEL);
            let mut driver = cluster.scl(&place, &["run", "model.scl"]);
            driver.env("SCL_TEST_KILL", format!("run:{point}")).stdout(Stdio::null()).stderr(Stdio::null());
            if driver.status()?.signal() != Some(Signal::SIGKILL as i32) {
                most.fetch_min(point, Ordering::Relaxed);
                continue;
            }
            recovers(&cluster, &place).map_err(|fault| at(&format!("killed at point {point}"), &fault))?;
        }
    };
    together(&worker)?;
    let last = most.load(Ordering::Relaxed);
    expect(!cfg!(debug_assertions) || last > 20, format!("there are only {last} points"))
}

fn killed_at_random() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let kills: u64 = std::env::var("SCL_TEST_SLURM_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let next = AtomicU64::new(0);
    let worker = || -> Result<(), Failed> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= kills {
                return Ok(());
            }
            let place = place(MODEL);
            let mut driver = cluster.driver(&place)?;
            thread::sleep(Duration::from_millis(number * 61 % kills * 2000 / kills));
            driver.kill()?;
            driver.wait()?;
            recovers(&cluster, &place).map_err(|fault| at(&format!("kill {number} of {kills}"), &fault))?;
        }
    };
    together(&worker)
}

fn together(worker: &(dyn Fn() -> Result<(), Failed> + Sync)) -> Result<(), Failed> {
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })
}

/// The next run prints what an undisturbed one prints, no key succeeded twice, and nothing is left.
fn recovers(cluster: &Cluster, place: &Place) -> Result<(), Failed> {
    cluster.run(place, &["run", "model.scl"])?.prints(PRINTED)?;
    no_key_succeeded_twice(place)?;
    cluster.run(place, &["run", "model.scl"])?.ends(0, PRINTED, &["0 done, 0 failed"])?;
    nothing_is_left(cluster, place)
}

fn twice() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place("a = 6 * 7 on 1 core\nprint(a)\n");
    wrap(&place, "sbatch", "$REAL \"$@\" >/dev/null; exec $REAL \"$@\"")?;
    cluster.run(&place, &["run", "model.scl"])?.prints("42\n")?;
    nothing_is_left(&cluster, &place)?;
    no_key_succeeded_twice(&place)
}

/// It was on its way for longer than anybody waits, and came twice.
fn late() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(2)));
    let first = place.path().join("first");
    wrap(
        &place,
        "sbatch",
        &format!(
            "if mkdir {first}; then (sleep 8; $REAL \"$@\") >/dev/null 2>&1 & echo 'sbatch: error: Socket timed out' >&2; exit 1; fi\n\
             exec $REAL \"$@\"",
            first = first.display()
        ),
    )?;
    let ran = cluster.run(&place, &["run", "model.scl"])?;
    ran.ends(0, "2999970179700\n", &["1 done, 0 failed", "was not answered"])?;
    // the one that came too late has begun nothing
    thread::sleep(Duration::from_secs(3));
    nothing_is_left(&cluster, &place)?;
    no_key_succeeded_twice(&place)
}

fn cancelled_early() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("s = range(0, 600, 1)\nm = map((x: x + sum({})), s) in 600 chunks on 1 core\nprint(sum(m))\n", busy(1000)));
    let mut driver = cluster.driver(&place)?;
    let pid = Pid::from_raw(i32::try_from(driver.id())?);
    let log = || fs::read_to_string(place.path().join("driver.log")).unwrap_or_default();
    wait_for(|| place.path().join(".scl/jobs/submissions").exists().then_some(()))?;
    kill(pid, Signal::SIGINT)?;
    wait_for(|| log().contains("interrupt again").then_some(()))?;
    kill(pid, Signal::SIGINT)?;
    expect(driver.wait()?.code() == Some(1), "it was interrupted")?;
    expect(log().contains("600 cancelled"), log())?;
    nothing_is_left(&cluster, &place)
}

/// The array becomes smaller until it is taken; a job alone that is refused when there is no other is refused for good.
fn user_limit() -> Result<(), Failed> {
    let cluster = Cluster::start(&[("ACCOUNTING", "1"), ("EXTRA", "AccountingStorageEnforce=associations,limits")])?;
    for words in [
        ["add", "account", "test", "cluster=test"].as_slice(),
        &["add", "user", "root", "account=test"],
        &["modify", "user", "root", "set", "MaxSubmitJobs=5"],
    ] {
        cluster.ask("sacctmgr", &[&["--immediate"], words].concat())?;
    }
    cluster.ask("scontrol", &["reconfigure"])?;
    let model = "s = range(0, 12, 1)\nm = map((x: x**2), s) in 12 chunks on 1 core\nprint(sum(m))\n";
    let place = place(model);
    cluster.run(&place, &["run", "model.scl"])?.ends(0, "506\n", &["takes no more jobs now", "12 done, 0 failed"])?;
    no_key_succeeded_twice(&place)?;
    cluster.ask("sacctmgr", &["--immediate", "modify", "user", "root", "set", "MaxSubmitJobs=0"])?;
    let place = self::place("a = 1 on 1 core\nprint(a)\n");
    cluster.run(&place, &["run", "model.scl"])?.ends(1, "", &["E0701", "refused: sbatch: error", "job submit limit"])
}

/// An empty answer of squeue ends nothing: all are asked for, by turns, and none is given up.
fn deaf_queue() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let lines: String = (0..12).map(|number| format!("a{number} = {number} + sum({}) on 1 core\n", busy(1000))).collect();
    let place = place_with(&SITE.replace("[[", "unknown_after_minutes = 1\n[["), &format!("{lines}print(a0)\n"));
    wrap(&place, "squeue", "exit 0")?;
    let mut driver = cluster.driver(&place)?;
    wait_for(|| (ids(&place).len() == 12).then_some(()))?;
    thread::sleep(Duration::from_secs(75));
    let log = fs::read_to_string(place.path().join("driver.log"))?;
    expect(!log.contains("failed") && driver.try_wait()?.is_none(), log)?;
    driver.kill()?;
    driver.wait()?;
    // nor does scl cancel believe it
    let ran = cluster.run(&place, &["cancel", "--program", "model.scl"])?;
    expect(ran.stdout.matches("ended: a").count() == 12, &ran)?;
    nothing_is_left(&cluster, &place)
}

fn never_begins() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    wrap(&place, "sbatch", "sleep 4; exec $REAL \"$@\"")?;
    let mut driver = cluster.driver(&place)?;
    wait_for(|| place.path().join(".scl/jobs/submissions").exists().then_some(()))?;
    thread::sleep(Duration::from_secs(1));
    driver.kill()?;
    driver.wait()?;
    cluster.run(&place, &["cancel", "--program", "model.scl"])?.prints_some(&["ended: a"])?;
    wait_for(|| {
        (!cluster
            .ask("squeue", &["--noheader", "--states=all", "--format=%Z"])
            .ok()?
            .matches(&*place.path().to_string_lossy())
            .next()?
            .is_empty())
        .then_some(())
    })?;
    nothing_is_left(&cluster, &place)?;
    expect(processes(place.path(), "exec").is_empty(), "the job came, and did not begin")
}

fn leaving_the_deaf() -> Result<(), Failed> {
    let cluster = Cluster::shared()?;
    let place = place(&format!("a = sum({}) on 1 core\nprint(a)\n", busy(1000)));
    wrap(&place, "squeue", "exec sleep 1000")?;
    let mut driver = cluster.driver(&place)?;
    wait_for(|| (!ids(&place).is_empty()).then_some(()))?;
    thread::sleep(Duration::from_secs(3));
    let began = Instant::now();
    kill(Pid::from_raw(i32::try_from(driver.id())?), Signal::SIGINT)?;
    driver.wait()?;
    expect(began.elapsed() < Duration::from_secs(15), began.elapsed())?;
    fs::remove_file(place.path().join("wrappers/squeue"))?;
    cluster.run(&place, &["cancel", "--program", "model.scl"])?.prints_some(&["ended: a"])?;
    nothing_is_left(&cluster, &place)
}

/// How Slurm calls what was submitted from a place.
fn ids(place: &Place) -> Vec<String> {
    let submissions = entries(&place.path().join(".scl/jobs/submissions"));
    submissions.iter().filter_map(|path| Some(fs::read_to_string(path.join("id")).ok()?.trim().to_owned())).collect()
}

fn no_key_succeeded_twice(place: &Place) -> Result<(), Failed> {
    let mut successes: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for job in entries(&place.path().join(".scl/jobs")) {
        for attempt in entries(&job) {
            let manifest = fs::read_to_string(attempt.join("manifest.json")).unwrap_or_default();
            if manifest.contains("\"success\"") {
                *successes.entry(job.clone()).or_default() += 1;
            }
        }
    }
    expect(!successes.is_empty() && successes.values().all(|count| *count == 1), successes)
}
