//! Sessions: golden transcripts, the same through a pipe of the real binary, and the examples of the help.

use std::fs::File;
use std::io::Cursor;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use scl::check::Mode;
use scl::diagnostic::Diagnostic;
use scl::eval::STACK_SIZE;
use scl::io::Files;
use scl::report::{self, Style};
use scl::run::{self, Program, Summary};
use scl::session::{Answer, Computation, Engine, Lines, Next, Plain, Refused, Screen, Session, TOPICS, Topic, Verdict};
use scl::source::{FileId, SourceMap};

use crate::binary::{Place, Ran};
use crate::golden;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let mut trials = golden::folder("session", transcript);
    trials.extend(golden::files_of_folder("tests/session", "scl").into_iter().map(|path| {
        let name = format!("session: through a pipe: {}", path.file_stem().unwrap_or_default().to_string_lossy());
        Trial::test(name, move || through_a_pipe(&path))
    }));
    trials.extend(TOPICS.iter().map(|topic| {
        let name = format!("session: the examples of the help on {}", topic.name);
        Trial::test(name, || examples(topic))
    }));
    trials.push(Trial::test("session: the one in the README is real", readme));
    trials.push(Trial::test("session: programs are loaded as a whole or not at all", loading));
    trials.push(Trial::test("session: jobs are run when they are asked for, and once", jobs));
    trials.push(Trial::test("session: diagnostics for tools are one object for each input", for_tools));
    trials.push(Trial::test("session: an interrupt ends what comes out of a pipe, and its jobs", interrupted));
    trials.push(Trial::test("session: input that is no text", no_text));
    trials.push(Trial::test("session: a thousand statements do not slow it down", thousand_statements));
    trials
}

/// The inputs of a case, each behind `> `, and what follows each.
fn transcript(_: &Path, text: &str) -> String {
    on_deep_stack(|| {
        let place = Place::new();
        let mut page = Page::default();
        let mut session = Session::new(Mode::Workflow);
        let mut lines = Echoed { lines: Plain::new(Cursor::new(text.to_owned())), echo: String::new() };
        let mut engine = InProcess { place: place.path().to_owned() };
        let mut verdict = Verdict::Well;
        while let Next::Text(text) = lines.next(&session) {
            page.text.push_str(&std::mem::take(&mut lines.echo));
            match session.take(&text, &mut engine, &mut page) {
                Answer::Done(one) => verdict = verdict.max(one),
                Answer::Leave => break,
            }
        }
        page.text + &format!("=> {verdict:?}\n")
    })
}

/// The real binary says the same, without the inputs.
fn through_a_pipe(case: &Path) -> Result<(), Failed> {
    let expected = std::fs::read_to_string(case.with_extension("expected"))?;
    let answers: String = expected.lines().filter(|line| !line.starts_with("> ")).map(|line| format!("{line}\n")).collect();
    let (answers, verdict) = answers.rsplit_once("=> ").ok_or("no verdict at the end")?;
    let status = match verdict.trim() {
        "Well" => 0,
        "Failed" => 1,
        _ => 2,
    };
    let place = Place::new();
    // one file for both, so that the order is seen
    let said = File::create(place.path().join("said"))?;
    let mut command: Command = place.scl(&["repl"]);
    command.stdin(File::open(case)?).stdout(said.try_clone()?).stderr(said);
    let code = command.status()?.code();
    let said = std::fs::read_to_string(place.path().join("said"))?;
    if said == answers && code == Some(status) { Ok(()) } else { Err(format!("status {code:?}, wanted {status}\n{said}").into()) }
}

/// Each example of a text gives what the text says, in one session from its begin to its end.
fn examples(topic: &Topic) -> Result<(), Failed> {
    let place = Place::new();
    let examples: Vec<&str> = topic.text.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let inputs: String = examples.iter().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect();
    let expected: String = examples.iter().filter(|line| !line.starts_with("> ")).map(|line| format!("{line}\n")).collect();
    if inputs.is_empty() {
        return Err("the text has no example".into());
    }
    if let Some(line) = topic.text.lines().find(|line| line.chars().count() > 140) {
        return Err(format!("too long: {line}").into());
    }
    place.write("inputs", inputs);
    let mut command = place.scl(&["repl", "--quiet"]);
    let output = command.stdin(File::open(place.path().join("inputs"))?).stderr(Stdio::piped()).output()?;
    let (said, complaints) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if said == expected && complaints.is_empty() { Ok(()) } else { Err(format!("{said}{complaints}").into()) }
}

/// A session through a pipe.
fn piped(place: &Place, arguments: &[&str], inputs: impl AsRef<[u8]>) -> Result<Ran, Failed> {
    let inputs = File::open(place.write("inputs", inputs))?;
    Ok(place.scl(&[&["repl"], arguments].concat()).stdin(inputs).output()?.into())
}

fn readme() -> Result<(), Failed> {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))?;
    let session = readme.split("## A session").nth(1).and_then(|rest| rest.split("\n## ").next()).ok_or("no section")?;
    let lines: Vec<&str> = session.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let expected: String = lines.iter().filter_map(|line| line.strip_prefix("Output > ")).map(|line| format!("{line}\n")).collect();
    let inputs = lines.iter().filter(|line| !line.starts_with("Output > "));
    let inputs: String = inputs.map(|line| format!("{}\n", line.strip_prefix("Input > ").unwrap_or(line))).collect();
    if expected.is_empty() {
        return Err("no output".into());
    }
    piped(&Place::new(), &[], inputs)?.prints(&expected)
}

fn loading() -> Result<(), Failed> {
    let place = Place::new();
    place.write("sound.scl", "a = 1\nb = a + 1\nprint(b)\n");
    place.write("faulty.scl", "c = 1\nprint(c)\nd = nope\n");
    place.write("unfinished.scl", "e = (1,\n");
    let inputs = "%load 'sound.scl'\n%load 'faulty.scl'\nc\n%load unfinished.scl\n%load 'missing.scl'\n%load 'sound.scl'\na + b\n";
    let says = ["faulty.scl:3:5", "unknown name `c`", "unfinished.scl:1:", "E0001", "missing.scl", "repeated definition of `a`"];
    piped(&place, &[], inputs)?.ends(2, "2\n3\n", &says)
}

fn jobs() -> Result<(), Failed> {
    let place = Place::new();
    let inputs = "\
        r = (r: 1, 2, 3, 4)\n\
        d = map((x: 2 * x), r) in 2 chunks on 1 core\n\
        never = 1 + 1 on 1 core\n\
        1 + 1\n\
        sum(d)\n\
        sum(d) + d[0]\n\
        e = d[1] on 1 core\n\
        e\n";
    let ran = piped(&place, &[], inputs)?;
    ran.ends(0, "2\n20\n22\n4\n", &["jobs: 2 done, 0 failed, 0 kept\n", "jobs: 1 done, 0 failed, 0 kept\n"])?;
    let jobs = |place: &Place| Ok::<usize, Failed>(std::fs::read_dir(place.path().join(".scl/jobs"))?.count());
    // of three jobs, and the texts of the inputs
    if jobs(&place)? != 4 {
        return Err(format!("{} jobs", jobs(&place)?).into());
    }
    // another session finds them
    piped(&place, &[], inputs)?.ends(0, "2\n20\n22\n4\n", &["jobs: 0 done, 0 failed, 2 kept\njobs: 0 done, 0 failed, 1 kept\n"])?;
    piped(&place, &["--fresh", "--store", "elsewhere"], inputs)?.ends(0, "2\n20\n22\n4\n", &["jobs: 2 done"])?;
    piped(&place, &["--mode", "deferred"], "x = 1 + 1 on 1 core\nx\n")?.ends(0, "2\n", &[])?;
    piped(&place, &[], "x = 1 + 1 on 100000 cores\n1 + 1\nx\n")?.ends(2, "2\n", &["error["])
}

fn for_tools() -> Result<(), Failed> {
    let ran = piped(&Place::new(), &["--format", "json"], "a = 1\nnope\n1 / 0\n%version\n")?;
    let objects: Vec<serde_json::Value> = ran.stderr.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let codes: Vec<&str> = objects.iter().map(|object| object["diagnostics"][0]["code"].as_str().unwrap_or("none")).collect();
    if codes == ["none", "E0201", "E0420", "none"] && ran.code == Some(2) { Ok(()) } else { Err(format!("{ran:?}").into()) }
}

fn interrupted() -> Result<(), Failed> {
    let place = Place::new();
    let long = "map((x: sum(map((y: x + y), range(0, 1000, 1)))), range(0, 1000000, 1))";
    let inputs = File::open(place.write("inputs", format!("a = {long} on 1 core\nsum(a)\n1 + 1\n")))?;
    let child = place.scl(&["repl"]).stdin(inputs).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let begin = Instant::now();
    while !place.path().join(".scl/jobs").read_dir().is_ok_and(|mut jobs| jobs.next().is_some()) {
        if begin.elapsed() > Duration::from_secs(30) {
            return Err("no job begins".into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT)?;
    let output = child.wait_with_output()?;
    let signal = output.status.signal();
    let ran = Ran::from(output);
    if signal == Some(2) && ran.stdout.is_empty() && ran.stderr.contains("none of its jobs goes on") {
        Ok(())
    } else {
        Err(format!("{ran:?}").into())
    }
}

fn no_text() -> Result<(), Failed> {
    piped(&Place::new(), &[], b"1 + 1\n\xff\n2 + 2\n")?.ends(1, "2\n", &["error[E0855]", "UTF-8"])
}

/// The last inputs of a long session take about as long as the first ones would in a program: no more than a few milliseconds, here with
/// much leeway for machines that are busy and for a binary that is not optimised.
fn thousand_statements() -> Result<(), Failed> {
    const STATEMENTS: usize = 1000;
    const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 50 });
    on_deep_stack(|| {
        let mut session = Session::new(Mode::Workflow);
        let (mut engine, mut page) = (InProcess { place: PathBuf::new() }, Page::default());
        session.take("x0 = 1.0 [m]", &mut engine, &mut page);
        for index in 1..STATEMENTS {
            session.take(&format!("x{index} = x{} + 1.0 [m] * {index}", index - 1), &mut engine, &mut page);
        }
        let slowest = |session: &mut Session, page: &mut Page, engine: &mut InProcess| {
            let one = |index: usize| {
                let begin = Instant::now();
                session.take(&format!("x{index} [km]"), engine, page);
                begin.elapsed()
            };
            [STATEMENTS - 1, STATEMENTS / 2, 3].map(one)
        };
        let times = slowest(&mut session, &mut page, &mut engine);
        if page.text.lines().count() != 3 {
            return Err(page.text.into());
        }
        // of several, one may be slow for other reasons
        if times.iter().min().is_some_and(|time| *time < MOST) { Ok(()) } else { Err(format!("{times:?}").into()) }
    })
}

/// Lines of a text that are written down as they are read.
struct Echoed {
    lines: Plain<Cursor<String>>,
    echo: String,
}

impl Lines for Echoed {
    fn next(&mut self, session: &Session) -> Next {
        let next = self.lines.next(session);
        if let Next::Text(text) = &next {
            self.echo.extend(text.lines().map(|line| format!("> {line}\n")));
        }
        next
    }
}

/// Everything that is said, as it would be through a pipe.
#[derive(Default)]
struct Page {
    text: String,
}

impl Screen for Page {
    fn result(&mut self, line: &str) {
        self.text.push_str(&format!("{line}\n"));
    }

    fn answer(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn report(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        self.text.push_str(&report::text(diagnostics, sources, Style::default()));
    }
}

/// Computes in this process, with files below a directory.
struct InProcess {
    place: PathBuf,
}

impl Engine for InProcess {
    fn read(&mut self, path: &Path, sources: &mut SourceMap) -> Result<(FileId, Arc<str>), Box<Diagnostic>> {
        let text: Arc<str> = std::fs::read_to_string(self.place.join(path)).expect("a file of the test").into();
        Ok((sources.add(path.display().to_string(), text.clone()), text))
    }

    fn run(&mut self, computation: Computation, line: &mut dyn FnMut(&str)) -> Result<Summary, Refused> {
        let Computation { model, graph, sources } = computation;
        let files = Arc::new(Files { base: self.place.clone() });
        let program = Program { model, graph, sources, world: files.clone(), exporter: files };
        Ok(run::run(&program, 1, None, line))
    }
}

/// Checking recurses over trees, whose depth is bounded for this stack.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work).expect("a thread");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
