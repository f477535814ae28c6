//! What happens to the jobs of a run, on stderr while it happens.
//!
//! On a terminal it is a few lines that are drawn anew and are gone when the run is over; elsewhere a line for each event, for people or
//! for tools. Results go to stdout, which may be the same terminal: what writes them does so within [`Stage::clear`].

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::run::{Event, EventKind, Progress, Running, Watcher};

/// How often the lines on a terminal are drawn, at most.
const INTERVAL: Duration = Duration::from_millis(100);

/// How many of the jobs that run have a line of their own on a terminal.
const SHOWN: usize = 10;

/// The most characters of a job's name on a terminal.
const LONGEST_NAME: usize = 40;

/// The version of the events in JSON.
const VERSION: u32 = 1;

/// What is told of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing.
    Nothing,
    /// Only what is of no single job: that nothing moves, and why.
    Notes,
    /// A line for each event.
    Lines,
    /// A JSON object in a line for each event.
    Json,
    /// How the run stands, on a terminal.
    Live,
}

/// Tells of the jobs of one run; when it is dropped, nothing of it is left on the terminal.
#[derive(Debug)]
pub struct Display {
    form: Form,
    stage: Stage,
    drawn: Option<Instant>,
}

/// Where lines are drawn.
#[derive(Clone, Debug)]
pub struct Stage(ProgressBar);

impl Stage {
    /// Takes away what is drawn, as long as something else is written to the terminal.
    pub fn clear<T>(&self, write: impl FnOnce() -> T) -> T {
        self.0.suspend(write)
    }
}

impl Display {
    /// Nothing drawn yet.
    pub fn new(form: Form) -> Self {
        let target = if form == Form::Live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Display { form, stage: Stage(bar), drawn: None }
    }

    /// Where it draws.
    pub fn stage(&self) -> Stage {
        self.stage.clone()
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.stage.0.finish_and_clear();
    }
}

impl Watcher for Display {
    fn note(&mut self, event: &Event) {
        let line = match (self.form, &event.kind) {
            (Form::Nothing | Form::Notes, _) => None,
            (Form::Json, _) => Some(object(event).to_string()),
            // there may be thousands, and the end says how many
            (Form::Lines, EventKind::Kept) => None,
            (Form::Lines, _) => Some(line(event)),
            (Form::Live, EventKind::Failed { .. } | EventKind::Retried { .. }) => Some(line(event)),
            (Form::Live, EventKind::Kept | EventKind::Adopted { .. } | EventKind::Started { .. } | EventKind::Done { .. }) => None,
        };
        if let Some(line) = line {
            self.stage.clear(|| complain!("{line}"));
        }
    }

    fn say(&mut self, text: &str) {
        let line = match self.form {
            Form::Nothing => return,
            Form::Json => json!({ "version": VERSION, "event": "note", "message": text }).to_string(),
            Form::Notes | Form::Lines | Form::Live => text.to_owned(),
        };
        self.stage.clear(|| complain!("{line}"));
    }

    fn wants_progress(&self) -> bool {
        self.form == Form::Live && self.drawn.is_none_or(|drawn| drawn.elapsed() >= INTERVAL)
    }

    fn look(&mut self, progress: &Progress) {
        self.drawn = Some(Instant::now());
        self.stage.0.set_message(standing(progress));
    }
}

/// An event for people.
fn line(event: &Event) -> String {
    let name = &event.name;
    match &event.kind {
        EventKind::Kept => format!("{name}: kept"),
        EventKind::Adopted { .. } => format!("{name}: goes on, an earlier run began it"),
        EventKind::Started { attempt: 1 } => format!("{name}: started"),
        EventKind::Started { attempt } => format!("{name}: started, attempt {attempt}"),
        EventKind::Done { took } => format!("{name}: done{}", after(" in", *took)),
        EventKind::Failed { cause, took } => format!("{name}: failed{}: {cause}", after(" after", *took)),
        EventKind::Retried { cause, pause } => format!("{name}: tried again in {}: {cause}", short(*pause)),
    }
}

fn after(word: &str, time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{word} {}", short(time)))
}

/// An event for tools.
fn object(event: &Event) -> Value {
    let seconds = |time: &Option<Duration>| time.map(|time| time.as_secs_f64());
    let (kind, mut object) = match &event.kind {
        EventKind::Kept => ("kept", json!({})),
        EventKind::Adopted { attempt } => ("adopted", json!({ "attempt": attempt })),
        EventKind::Started { attempt } => ("started", json!({ "attempt": attempt })),
        EventKind::Done { took } => ("done", json!({ "seconds": seconds(took) })),
        EventKind::Failed { cause, took } => ("failed", json!({ "cause": cause, "message": cause.to_string(), "seconds": seconds(took) })),
        EventKind::Retried { cause, pause } => {
            ("retried", json!({ "cause": cause, "message": cause.to_string(), "pause_seconds": pause.as_secs_f64() }))
        }
    };
    object["version"] = VERSION.into();
    object["event"] = kind.into();
    object["job"] = (*event.name).into();
    object
}

/// How a run stands: a line of totals, then one for each job that runs.
fn standing(progress: &Progress) -> String {
    let Progress { over, needed, possible, failed, pausing, running } = progress;
    let most = if possible > needed { format!(" to {possible}") } else { String::new() };
    let mut text = format!("jobs: {over} of {needed}{most} over, {} running", running.len());
    for (count, what) in [(failed, "failed"), (pausing, "to be tried again")] {
        if *count > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {count} {what}");
        }
    }
    let shown = &running[..running.len().min(SHOWN)];
    let names: Vec<String> = shown.iter().map(|job| clipped(&job.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (job, name) in shown.iter().zip(names) {
        let _ = write!(text, "\n  {name:width$}  {}", used(job));
    }
    match running.len() - shown.len() {
        0 => {}
        rest => {
            let _ = write!(text, "\n  and {rest} more");
        }
    }
    text
}

fn clipped(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME { name.to_owned() } else { name.chars().take(LONGEST_NAME - 3).chain("...".chars()).collect() }
}

/// The time that a job has used, against what it may use.
fn used(job: &Running) -> String {
    // what changes all the time cannot be read
    let time = short(Duration::from_secs(job.time.as_secs()));
    match job.walltime {
        Some(walltime) => {
            let part = job.time.as_secs_f64() / walltime.as_secs_f64().max(f64::MIN_POSITIVE);
            format!("{time} of {} ({:.0} %)", short(walltime), 100.0 * part)
        }
        None => time,
    }
}

/// A time for people, in no more than two units.
fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{} s", (time.as_secs_f64() * 100.0).round() / 100.0),
        10..60 => format!("{seconds} s"),
        60..3600 => two(seconds / 60, "min", seconds % 60, "s"),
        3600..86400 => two(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two(seconds / 86400, "d", seconds % 86400 / 3600, "h"),
    }
}

fn two(large: u64, unit: &str, small: u64, smaller: &str) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {smaller}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Cause;

    const KILLED: Cause = Cause::Signal { signal: 9 };

    fn running(name: &str, seconds: u64, walltime: Option<u64>) -> Running {
        Running { name: name.into(), time: Duration::from_secs(seconds), walltime: walltime.map(Duration::from_secs) }
    }

    #[test]
    fn totals_say_what_is_not_known_yet() {
        let mut progress = Progress { over: 3, needed: 10, possible: 10, ..Progress::default() };
        assert_eq!(standing(&progress), "jobs: 3 of 10 over, 0 running");
        progress.possible = 14;
        progress.failed = 1;
        progress.pausing = 2;
        assert_eq!(standing(&progress), "jobs: 3 of 10 to 14 over, 0 running, 1 failed, 2 to be tried again");
    }

    #[test]
    fn each_job_has_a_line_with_its_time() {
        let jobs = vec![running("rates 1/2", 75, Some(600)), running("a", 12, None)];
        let progress = Progress { needed: 2, possible: 2, running: jobs, ..Progress::default() };
        let expected = "jobs: 0 of 2 over, 2 running\n  rates 1/2  1 min 15 s of 10 min (12 %)\n  a          12 s";
        assert_eq!(standing(&progress), expected);
    }

    #[test]
    fn many_jobs_and_long_names_do_not_fill_the_screen() {
        let jobs = (0..25).map(|_| running(&"é".repeat(1000), 1, None)).collect();
        let text = standing(&Progress { running: jobs, ..Progress::default() });
        assert_eq!(text.lines().count(), SHOWN + 2);
        assert!(text.lines().all(|line| line.chars().count() < 80) && text.ends_with("\n  and 15 more"), "{text}");
    }

    #[test]
    fn events_for_people_and_tools() {
        let took = Some(Duration::from_millis(1250));
        let pause = Duration::from_secs(90);
        let cases = [
            (EventKind::Kept, "a: kept", r#"{"event":"kept","job":"a","version":1}"#),
            (
                EventKind::Adopted { attempt: 2 },
                "a: goes on, an earlier run began it",
                r#"{"attempt":2,"event":"adopted","job":"a","version":1}"#,
            ),
            (EventKind::Started { attempt: 1 }, "a: started", r#"{"attempt":1,"event":"started","job":"a","version":1}"#),
            (EventKind::Started { attempt: 3 }, "a: started, attempt 3", r#"{"attempt":3,"event":"started","job":"a","version":1}"#),
            (EventKind::Done { took }, "a: done in 1.25 s", r#"{"event":"done","job":"a","seconds":1.25,"version":1}"#),
            (EventKind::Done { took: None }, "a: done", r#"{"event":"done","job":"a","seconds":null,"version":1}"#),
            (
                EventKind::Failed { cause: KILLED, took },
                "a: failed after 1.25 s: killed by signal 9 (SIGKILL)",
                r#"{"cause":{"cause":"signal","signal":9},"event":"failed","job":"a","message":"killed by signal 9 (SIGKILL)","seconds":1.25,"version":1}"#,
            ),
            (
                EventKind::Retried { cause: KILLED, pause },
                "a: tried again in 1 min 30 s: killed by signal 9 (SIGKILL)",
                r#"{"cause":{"cause":"signal","signal":9},"event":"retried","job":"a","message":"killed by signal 9 (SIGKILL)","pause_seconds":90.0,"version":1}"#,
            ),
        ];
        for (kind, text, tools) in cases {
            let event = Event { name: "a".into(), kind };
            assert_eq!(line(&event), text);
            assert_eq!(object(&event), serde_json::from_str::<Value>(tools).expect("JSON"));
        }
    }

    #[test]
    fn times_have_no_more_than_two_units() {
        let times = [
            (0, "0 s"),
            (1, "1 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min 59 s"),
            (3600, "1 h"),
            (5430, "1 h 30 min"),
            (90000, "1 d 1 h"),
        ];
        for (seconds, text) in times {
            assert_eq!(short(Duration::from_secs(seconds)), text);
        }
        assert_eq!(short(Duration::from_micros(12_345)), "0.01 s");
        assert!(!short(Duration::MAX).is_empty());
    }
}
