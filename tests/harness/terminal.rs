//! `scl repl` on a terminal: keys are typed into a pseudo-terminal, and what stands on its screen afterwards is looked at.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use nix::pty::{Winsize, openpty};

use crate::binary::Place;

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 15] = [
        ("prompts, and results behind a mark", results),
        ("an input goes on while it is not complete", continued),
        ("several inputs can be pasted", pasted),
        ("an empty line ends what is not complete", given_up),
        ("Tab completes names, columns and units", completed),
        ("two Tabs list what there is", listed),
        ("Ctrl-C drops what was typed", dropped),
        ("Ctrl-C ends a computation and not the session", interrupted),
        ("Ctrl-C ends jobs and not the session", interrupted_job),
        ("the arrow brings back earlier inputs, also of earlier sessions", remembered),
        ("a history that cannot be kept is said once", forgetful),
        ("colours, unless they are not wanted", coloured),
        ("a terminal that cannot be edited on", dumb),
        ("lines about running jobs are drawn among results, and gone in the end", watched),
        ("a terminal that cannot be drawn on gets a line for each event", watched_on_paper),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("terminal: {name}"), test)).collect()
}

const ENTER: &str = "\r";
const TAB: &str = "\t";
const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// How long something may take to appear.
const PATIENCE: Duration = Duration::from_secs(30);

/// Rows and columns.
const SIZE: (NonZeroU16, NonZeroU16) = (NonZeroU16::new(40).unwrap(), NonZeroU16::new(100).unwrap());

/// A session on a terminal of its own.
struct Desk {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Desk {
    /// Sits down at a session in a place.
    fn at(place: &Place) -> Result<Desk, Failed> {
        Desk::with(place, &[], |_| {})
    }

    fn with(place: &Place, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Result<Desk, Failed> {
        let mut desk = Desk::before(place, &[&["repl"], arguments].concat(), prepare)?;
        desk.see("Input >")?;
        Ok(desk)
    }

    /// Sits down before any command.
    fn before(place: &Place, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Result<Desk, Failed> {
        let size = Winsize { ws_row: SIZE.0.get(), ws_col: SIZE.1.get(), ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None)?;
        // a session leader has the terminal as its own, so that Ctrl-C is a signal for it
        let mut command = Command::new("setsid");
        let scl = place.scl(arguments);
        command.args(["--ctty", "--wait"]).arg(scl.get_program()).args(scl.get_args()).current_dir(place.path());
        command.env("TERM", "xterm-256color").env("XDG_STATE_HOME", place.path().join("state")).env_remove("NO_COLOR");
        prepare(&mut command);
        let end = |fd: &OwnedFd| fd.try_clone().map(Stdio::from);
        let child = command.stdin(end(&pty.slave)?).stdout(end(&pty.slave)?).stderr(end(&pty.slave)?).spawn()?;
        let screen = Arc::new(Mutex::new(vt100::Parser::new(SIZE.0, SIZE.1, 1000)));
        let (mut written, shown) = (File::from(pty.master.try_clone()?), screen.clone());
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // an error is the end: nobody has the other side open any longer
            while let Ok(count @ 1..) = written.read(&mut bytes) {
                shown.lock().unwrap_or_else(PoisonError::into_inner).process(&bytes[..count]);
            }
        });
        Ok(Desk { child, keyboard: File::from(pty.master), screen })
    }

    fn press(&mut self, keys: &str) -> Result<(), Failed> {
        Ok(self.keyboard.write_all(keys.as_bytes())?)
    }

    /// Types a line, and waits for what it brings and for the next prompt.
    fn enter(&mut self, line: &str, brings: &str) -> Result<(), Failed> {
        self.press(line)?;
        self.press(ENTER)?;
        self.see(brings)?;
        self.prompted()
    }

    /// Everything on the screen.
    fn contents(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> Result<(), Failed> {
        let begin = Instant::now();
        loop {
            let contents = self.contents();
            if holds(&contents) {
                return Ok(());
            }
            if begin.elapsed() > PATIENCE {
                return Err(format!("{what} did not appear:\n{contents}").into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn see(&mut self, text: &str) -> Result<(), Failed> {
        self.until(text, |contents| contents.contains(text))
    }

    /// The last line is an empty prompt.
    fn prompted(&mut self) -> Result<(), Failed> {
        self.until("an empty prompt", |contents| contents.trim_end().ends_with("Input >"))
    }

    /// The last lines of the screen are these.
    fn ends_with(&mut self, lines: &[&str]) -> Result<(), Failed> {
        let wanted = lines.join("\n");
        self.until(&wanted, |contents| contents.trim_end().ends_with(&wanted))
    }

    /// Leaves by Ctrl-D; the session ends well.
    fn leave(mut self) -> Result<(), Failed> {
        self.prompted()?;
        self.press(CTRL_D)?;
        self.ended()
    }

    fn ended(&mut self) -> Result<(), Failed> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("{status}\n{}", self.contents()).into()),
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
        Err(format!("the session does not end\n{}", self.contents()).into())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn results() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("v = 36.0 [km/h]", "v = 36.0")?;
    desk.enter("v [m/s]", "Output > 10.0 [meter / second]")?;
    desk.ends_with(&["Input > v = 36.0 [km/h]", "Input > v [m/s]", "Output > 10.0 [meter / second]", "Input >"])?;
    desk.enter("w = v + 1 [kg]; x = nope", "unknown name `nope`")?;
    desk.enter("v", "Output > 36.0 [kilometer / hour]")?;
    desk.press("%exit\r")?;
    desk.ended()
}

fn continued() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.press("s = (T: 1.0,\r2.0,\r3.0) [K]\r")?;
    desk.prompted()?;
    // lines stand below what their bracket encloses
    desk.ends_with(&["Input > s = (T: 1.0,", "             2.0,", "             3.0) [K]", "Input >"])?;
    desk.enter("s", "Output > (T: 1.0, 2.0, 3.0) [kelvin]")?;
    desk.press("y = 1 +\r2\ry\r")?;
    desk.ends_with(&["Input > y = 1 +", "            2", "Input > y", "Output > 3", "Input >"])?;
    desk.leave()
}

fn pasted() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    // as terminals mark what is pasted
    desk.press("\x1b[200~a = 1 [m]\nb = 2 * a\nb\nb [cm]\x1b[201~\r")?;
    desk.ends_with(&["Output > 2 [meter]", "Output > 200.0 [centimeter]", "Input >"])?;
    desk.press("c = 1\rc\r")?;
    desk.ends_with(&["Input > c = 1", "Input > c", "Output > 1", "Input >"])?;
    desk.leave()
}

fn given_up() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("x = (1 +\r", "error[")?;
    desk.enter("2 + 2", "Output > 4")?;
    desk.leave()
}

fn completed() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("gases = ((name: 'He', 'Ar'), (mass: 4.0, 39.9) [u])", "gases")?;
    desk.press("gas")?;
    desk.press(TAB)?;
    desk.press(".ma")?;
    desk.press(TAB)?;
    desk.enter("", "Output > (mass: 4.0, 39.9) [unified_atomic_mass_unit]")?;
    desk.press("2.0 [kilojou")?;
    desk.press(TAB)?;
    desk.enter("] [J]", "Output > 2000.0 [joule]")?;
    desk.see("2.0 [kilojoule] [J]")?;
    desk.press("%ver")?;
    desk.press(TAB)?;
    desk.see("Input > %version")?;
    desk.press(ENTER)?;
    desk.ends_with(&["Input > %version", concat!("scl ", env!("CARGO_PKG_VERSION")), "Input >"])?;
    desk.leave()
}

fn listed() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("alpha = 1; alps = 2", "alps")?;
    desk.press("x = al")?;
    desk.press(TAB)?;
    desk.press(TAB)?;
    desk.until("a list", |contents| contents.contains("all") && contents.contains("alpha") && contents.matches("alps").count() > 1)?;
    desk.press(CTRL_C)?;
    desk.prompted()?;
    desk.leave()
}

fn dropped() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.press("x = (1,\r 2")?;
    desk.see("2")?;
    desk.press(CTRL_C)?;
    desk.prompted()?;
    desk.enter("1 + 1", "Output > 2")?;
    desk.enter("x", "unknown name `x`")?;
    desk.leave()
}

/// Computes for minutes.
const LONG: &str = "long = map((x: sum(map((y: x + y), range(0, 1000, 1)))), range(0, 1000000, 1))";

fn interrupted() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("a = 2", "a = 2")?;
    desk.enter(LONG, "range(0, 1000000, 1))")?;
    desk.press("sum(long) + a\r")?;
    desk.see("sum(long)")?;
    thread::sleep(Duration::from_millis(300));
    desk.press(CTRL_C)?;
    desk.see("interrupted")?;
    desk.prompted()?;
    desk.enter("a + 1", "Output > 3")?;
    // no thread goes on with what nobody waits for
    let begin = Instant::now();
    loop {
        let before = ticks(&desk.child)?;
        thread::sleep(Duration::from_millis(300));
        match ticks(&desk.child)? - before {
            0..3 => return desk.leave(),
            spent if begin.elapsed() > PATIENCE => return Err(format!("it goes on: {spent} ticks").into()),
            _ => {}
        }
    }
}

/// The processor time that a process has used, in hundredths of a second.
fn ticks(child: &Child) -> Result<u64, Failed> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let fields: Vec<&str> = stat.rsplit_once(')').ok_or("no name")?.1.split_whitespace().collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
}

fn interrupted_job() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter(&format!("{LONG} on 1 core for 10.0 [min]"), "[min]")?;
    desk.press("sum(long)\r")?;
    desk.until("a job", |_| place.path().join(".scl/jobs").read_dir().is_ok_and(|mut jobs| jobs.next().is_some()))?;
    thread::sleep(Duration::from_millis(300));
    desk.press(CTRL_C)?;
    desk.see("interrupted: none of its jobs goes on")?;
    desk.prompted()?;
    desk.enter("1 + 2", "Output > 3")?;
    desk.leave()
}

fn remembered() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::at(&place)?;
    desk.enter("first = 11", "first")?;
    desk.press("second = (22 +\r33)\r")?;
    desk.prompted()?;
    desk.leave()?;
    let mut desk = Desk::at(&place)?;
    desk.press(UP)?;
    desk.ends_with(&["Input > second = (22 +", "                  33)"])?;
    desk.press(ENTER)?;
    desk.enter("second", "Output > 55")?;
    desk.press(&UP.repeat(4))?;
    desk.ends_with(&["Input > first = 11"])?;
    desk.enter("", "first = 11")?;
    desk.enter("first", "Output > 11")?;
    desk.leave()?;
    let history = std::fs::read_to_string(place.path().join("state/scl/history"))?;
    if history.contains("second = (22 +\\n") { Ok(()) } else { Err(history.into()) }
}

fn forgetful() -> Result<(), Failed> {
    let place = Place::new();
    place.write("state", "no directory");
    let mut desk = Desk::at(&place)?;
    desk.see("warning[W0850]")?;
    desk.enter("1 + 1", "Output > 2")?;
    desk.enter("1 + 2", "Output > 3")?;
    desk.press(&UP.repeat(2))?;
    desk.ends_with(&["Input > 1 + 1"])?;
    desk.press(CTRL_C)?;
    desk.prompted()?;
    let count = desk.contents().matches("warning[W0850]").count();
    desk.leave()?;
    if count == 1 { Ok(()) } else { Err(format!("said {count} times").into()) }
}

fn coloured() -> Result<(), Failed> {
    let place = Place::new();
    let colours = |desk: &mut Desk| {
        desk.enter("x = 'text' + nope", "unknown name")?;
        let screen = desk.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let screen = screen.screen();
        let mut cells = (0..SIZE.0.get()).flat_map(|row| (0..SIZE.1.get()).filter_map(move |column| screen.cell(row, column)));
        Ok::<bool, Failed>(cells.any(|cell| cell.fgcolor() != vt100::Color::Default))
    };
    let mut desk = Desk::at(&place)?;
    if !colours(&mut desk)? {
        return Err("no colours".into());
    }
    desk.leave()?;
    for (arguments, variable) in [(&["--color", "never"][..], ""), (&[], "1")] {
        let mut desk = Desk::with(&place, arguments, |command| {
            if !variable.is_empty() {
                command.env("NO_COLOR", variable);
            }
        })?;
        if colours(&mut desk)? {
            return Err(format!("colours with {arguments:?} and NO_COLOR={variable}").into());
        }
        desk.leave()?;
    }
    Ok(())
}

fn dumb() -> Result<(), Failed> {
    let place = Place::new();
    let mut desk = Desk::with(&place, &[], |command| {
        command.env("TERM", "dumb");
    })?;
    desk.enter("x = (1 +\n2)", "2)")?;
    desk.enter("x", "Output > 3")?;
    desk.leave()
}

/// Takes about two seconds.
const SLOW: &str =
    "slow = sum(map((x: if(sum(range(0.0*x, 500000.0, 1.0)) > 0, 4999950000, 0) * 0 + x), range(0, 400, 1))) on 1 core for 10.0 [min]\n";

fn watched() -> Result<(), Failed> {
    let place = Place::new();
    place.write(
        "model.scl",
        format!("quick = 1 + 1 on 1 core # allow(W0611)\n{SLOW}print('first')\nprint(quick)\nprint(slow)\nprint('last')\n"),
    );
    let mut desk = Desk::before(&place, &["run", "model.scl"], |_| {})?;
    let screen = desk.screen.clone();
    desk.until("how it stands", |_| {
        let screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
        let rows: Vec<String> = screen.screen().rows(0, SIZE.1.get()).take(4).map(|row| row.trim_end().to_owned()).collect();
        let [first, quick, totals, slow] = rows.as_slice() else { return false };
        let drawn = totals == "jobs: 1 of 2 over, 1 running" && slow.starts_with("  slow  ") && slow.contains(" s of 10 min (");
        first == "'first'" && quick == "2" && drawn
    })?;
    desk.ended()?;
    // two lines at the end tell what the jobs took
    desk.until("what was printed, and the summary", |contents| {
        let lines: Vec<&str> = contents.trim().lines().map(str::trim_end).collect();
        lines.len() == 7 && lines[..5] == ["'first'", "2", "79800", "'last'", "jobs: 2 done, 0 failed, 0 kept"]
    })
}

fn watched_on_paper() -> Result<(), Failed> {
    let place = Place::new();
    place.write("model.scl", format!("{SLOW}print('first')\nprint(slow)\n"));
    let mut desk = Desk::before(&place, &["run", "model.scl"], |command| {
        command.env("TERM", "dumb");
    })?;
    desk.ended()?;
    desk.until("all events", |contents| {
        let lines: Vec<&str> = contents.trim().lines().collect();
        let told = |line: &str| lines.iter().any(|other| other.starts_with(line));
        lines.len() == 7 && told("slow: started") && told("slow: done in ") && told("79800") && told("jobs: 1 done")
    })
}
