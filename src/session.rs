//! The interactive session: inputs are taken one by one, checked together with all that was accepted before, and what they ask for
//! is computed.
//!
//! ```text
//! Lines ──text──▶ magic, program or expression ──▶ checked with the model ──▶ Engine ──▶ Screen
//! ```
//!
//! The core ([`Session`]) takes whole texts and knows no terminal. Where texts come from ([`Lines`]), what computes ([`Engine`]) and
//! where answers go ([`Screen`]) are traits, so that a pipe, a terminal and a test drive the same core. Crate rustyline is known to
//! `terminal` only; what it shows and offers, colours and completions, are pure functions of `highlight` and `complete`.

use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::TaskGraph;
use crate::model::Model;
use crate::run::Summary;
use crate::source::{FileId, SourceMap};

pub use complete::{Candidate, Completion, complete};
pub use help::{TOPICS, Topic};
pub use highlight::highlight;
pub use history::history_file;
pub use plain::Plain;
pub use state::Session;
pub use terminal::Terminal;
pub use vocabulary::Vocabulary;

mod complete;
mod description;
mod faults;
mod help;
mod highlight;
mod history;
mod input;
mod magic;
mod plain;
mod state;
mod terminal;
mod vocabulary;

#[cfg(test)]
mod tests;

/// Where the inputs of a session come from.
pub trait Lines {
    /// Waits for the next input; the session is there for completions.
    fn next(&mut self, session: &Session) -> Next;
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    /// A whole input, perhaps of several lines.
    Text(String),
    /// The user dropped what was typed.
    Dropped,
    /// Something to be shown; an error ends the session, for there will be no more inputs.
    Trouble(Box<Diagnostic>),
    /// There are no more inputs.
    End,
}

/// What computes, and reads programs.
pub trait Engine {
    /// Reads a program's text and gives it a place among the sources.
    fn read(&mut self, path: &Path, sources: &mut SourceMap) -> Result<(FileId, Arc<str>), Box<Diagnostic>>;

    /// Computes what the outputs of a model need, and gives away each line that is printed.
    fn run(&mut self, computation: Computation, line: &mut dyn FnMut(&str)) -> Result<Summary, Refused>;
}

/// What an input asks for.
#[derive(Clone, Debug)]
pub struct Computation {
    /// The model; what is known of earlier inputs is a literal in it. Its outputs are those of the input.
    pub model: Arc<Model>,
    /// Its tasks.
    pub graph: Arc<TaskGraph>,
    /// All inputs so far.
    pub sources: Arc<SourceMap>,
}

/// Why nothing was computed.
#[derive(Debug)]
pub struct Refused {
    /// Whose fault it is.
    pub verdict: Verdict,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// Where answers go.
pub trait Screen {
    /// A line that was printed by the program.
    fn result(&mut self, line: &str);

    /// The answer to a magic: lines that end with a line end.
    fn answer(&mut self, text: &str);

    /// What is wrong, or may be, with one input; called once for each input, also when there is nothing to say.
    fn report(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap);
}

/// How an input, or a session, went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All well.
    #[default]
    Well,
    /// Something failed while it was computed, or was interrupted. What was defined stays.
    Failed,
    /// It was refused, and changed nothing.
    Wrong,
}

/// What a session does after an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It takes the next one.
    Done(Verdict),
    /// It ends.
    Leave,
}

/// Takes inputs until there are no more; gives the worst of all verdicts.
pub fn run(session: &mut Session, lines: &mut dyn Lines, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Verdict {
    let mut worst = Verdict::Well;
    loop {
        match lines.next(session) {
            Next::Text(text) => match session.take(&text, engine, screen) {
                Answer::Done(verdict) => worst = worst.max(verdict),
                Answer::Leave => return worst,
            },
            Next::Dropped => {}
            Next::Trouble(trouble) => {
                screen.report(std::slice::from_ref(&trouble), session.sources());
                if trouble.severity == Severity::Error {
                    return worst.max(Verdict::Failed);
                }
            }
            Next::End => return worst,
        }
    }
}
