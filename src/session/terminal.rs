//! Inputs from a terminal, with editing, completion, colours and a history (crate rustyline).

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustyline::completion::{self, Completer};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Editor, Event, EventContext, EventHandler, KeyCode, KeyEvent,
    Modifiers, RepeatCount,
};

use super::vocabulary::Vocabulary;
use super::{Candidate, Lines, Next, Session, complete, faults, highlight, input, plain};
use crate::diagnostic::Diagnostic;

/// Stands before an input.
const PROMPT: &str = "Input > ";

/// How many inputs are remembered.
const REMEMBERED: usize = 10_000;

/// So many candidates are listed without asking.
const LISTED: usize = 150;

/// A terminal.
pub struct Terminal {
    editor: Editor<Assistant, FileHistory>,
    /// Where inputs are remembered; `None` when that is not possible.
    history: Option<PathBuf>,
    trouble: Option<Diagnostic>,
    /// What was pasted with an earlier input and is not taken yet.
    pasted: VecDeque<String>,
}

impl Terminal {
    /// The terminal of this process, with colours or without, and with a file of inputs that is read now and added to later. A file
    /// that cannot be used is said once, and the session goes on without it.
    ///
    /// # Errors
    /// `E0855` when the terminal cannot be used.
    pub fn open(history: Option<PathBuf>, colour: bool) -> Result<Terminal, Box<Diagnostic>> {
        let trouble = history.is_none().then(faults::no_place_for_history);
        let unusable = |error| Box::new(faults::unreadable_input(&as_io(error)));
        let mut editor = editor(colour).map_err(unusable)?;
        for newline in [KeyEvent(KeyCode::Enter, Modifiers::NONE), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
            editor.bind_sequence(newline, EventHandler::Conditional(Box::new(Continue)));
        }
        let mut terminal = Terminal { editor, history, trouble, pasted: VecDeque::new() };
        let loaded = terminal.history.as_deref().map_or(Ok(()), |path| load(&mut terminal.editor, path));
        terminal.heed(loaded);
        Ok(terminal)
    }

    fn remember(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        // without a file the editor still remembers the inputs of this session
        let added = self.editor.add_history_entry(text.trim_end()).map(|_| ());
        let kept = added.and_then(|()| self.history.as_deref().map_or(Ok(()), |path| self.editor.append_history(path)));
        self.heed(kept);
    }

    /// Of a history that cannot be kept one warning is enough.
    fn heed(&mut self, result: rustyline::Result<()>) {
        if let (Err(error), Some(path)) = (result, self.history.as_deref()) {
            self.trouble = Some(faults::unusable_history(path, &error));
            self.history = None;
        }
    }
}

impl Lines for Terminal {
    fn next(&mut self, session: &Session) -> Next {
        if let Some(trouble) = self.trouble.take() {
            return Next::Trouble(Box::new(trouble));
        }
        if let Some(text) = self.pasted.pop_front() {
            return Next::Text(text);
        }
        if let Some(assistant) = self.editor.helper_mut() {
            assistant.vocabulary = session.vocabulary();
        }
        match self.editor.readline(PROMPT) {
            Ok(text) => {
                self.remember(&text);
                self.pasted.extend(plain::split(&text));
                self.pasted.pop_front().map_or(Next::Dropped, Next::Text)
            }
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Next::Dropped,
            Err(ReadlineError::Eof) => Next::End,
            Err(error) => Next::Trouble(Box::new(faults::unreadable_input(&as_io(error)))),
        }
    }
}

fn editor(colour: bool) -> rustyline::Result<Editor<Assistant, FileHistory>> {
    let config = Config::builder()
        .max_history_size(REMEMBERED)?
        .completion_type(CompletionType::List)
        .completion_prompt_limit(LISTED)
        .color_mode(if colour { ColorMode::Forced } else { ColorMode::Disabled })
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant::default()));
    Ok(editor)
}

/// A history that is not there yet gets its directory.
fn load(editor: &mut Editor<Assistant, FileHistory>, path: &Path) -> rustyline::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    match editor.load_history(path) {
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn as_io(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// What the editor asks while a text is typed.
#[derive(Default)]
struct Assistant {
    vocabulary: Vocabulary,
    /// The input is over: no bracket is marked any longer.
    over: Cell<bool>,
}

impl rustyline::Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl completion::Candidate for Candidate {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.inserted
    }
}

impl Completer for Assistant {
    type Candidate = Candidate;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Candidate>)> {
        let completion = complete(line, at, &self.vocabulary);
        Ok((completion.start, completion.candidates))
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        Cow::Owned(highlight(line, if self.over.get() { usize::MAX } else { at }))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[32m{prompt}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.over.set(kind == CmdKind::ForcedRefresh);
        true
    }
}

/// For terminals that cannot be edited on.
impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let more = input::next_line(context.input(), 0).is_some();
        Ok(if more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// Enter goes on with the input as long as it is not complete: on a new line, indented as far as what it belongs to.
struct Continue;

impl ConditionalEventHandler for Continue {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let indent = input::next_line(context.line(), PROMPT.len())?;
        Some(Cmd::Insert(1, format!("\n{}", " ".repeat(indent))))
    }
}
