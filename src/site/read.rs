//! One site file, as text.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::retries::KINDS;
use super::{Site, System};
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{FileId, Span};

pub use marks::Marks;
pub(super) use slurm::STYLES;

mod marks;
mod slurm;

/// The longest pause that can be asked for.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// The key of the first pause.
const PAUSE: &str = "pause_seconds";

/// The key of the longest pause.
const LONGEST_PAUSE: &str = "longest_pause_seconds";

/// Enters what a file says; what is wrong with it has no effect.
pub(super) fn file(file: FileId, text: &str, site: &mut Site) -> Vec<Diagnostic> {
    let mut reader = Reader { file, diagnostics: Vec::new() };
    match DeTable::parse(text) {
        Ok(table) => reader.top(table.get_ref(), site),
        Err(error) => {
            let span = reader.span(error.span().unwrap_or(0..0));
            reader.diagnostics.push(no_toml(error.message(), span));
        }
    }
    reader.diagnostics.sort_by_key(|diagnostic| diagnostic.span().start);
    reader.diagnostics
}

struct Reader {
    file: FileId,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    fn top(&mut self, table: &DeTable, site: &mut Site) {
        for (key, value) in table {
            match &**key.get_ref() {
                "retries" => self.table("retries", value).into_iter().for_each(|retries| self.retries(retries, site)),
                "system" => site.system = self.one_of("system", value, &SYSTEMS).or(site.system),
                "slurm" => {
                    let cluster = site.slurm.get_or_insert_default();
                    self.table("slurm", value).into_iter().for_each(|table| self.slurm(table, cluster));
                }
                _ => self.unknown(key, "", &["retries", "slurm", "system"]),
            }
        }
    }

    fn retries(&mut self, table: &DeTable, site: &mut Site) {
        for (key, value) in table {
            let name = &**key.get_ref();
            if let Some((kind, _, _)) = KINDS.iter().find(|(_, known, _)| *known == name) {
                let count = self.value(name, value, "a whole number from 0 on", |number| number.parse().ok());
                site.retries.counts.extend(count.map(|count| (*kind, count)));
            } else if name == PAUSE {
                site.retries.pause = self.value(name, value, SECONDS, seconds).unwrap_or(site.retries.pause);
            } else if name == LONGEST_PAUSE {
                site.retries.longest_pause = self.value(name, value, SECONDS, seconds).unwrap_or(site.retries.longest_pause);
            } else {
                let known: Vec<_> = KINDS.iter().map(|(_, known, _)| *known).chain([PAUSE, LONGEST_PAUSE]).collect();
                self.unknown(key, " in `[retries]`", &known);
            }
        }
    }

    fn unknown(&mut self, key: &Spanned<Cow<str>>, place: &str, known: &[&str]) {
        let span = self.span(key.span());
        self.diagnostics.push(unknown_key(key.get_ref(), place, known, span));
    }

    fn table<'t>(&mut self, name: &str, value: &'t Spanned<DeValue>) -> Option<&'t DeTable<'t>> {
        let table = value.get_ref().as_table();
        self.wanted(name, "a table", value, table)
    }

    /// A text that stands for something.
    fn one_of<T: Copy>(&mut self, name: &str, value: &Spanned<DeValue>, known: &[(&str, T)]) -> Option<T> {
        let text = value.get_ref().as_str();
        let found = known.iter().find(|(word, _)| text == Some(word)).map(|(_, meaning)| *meaning);
        let words: Vec<_> = known.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        self.wanted(name, &words.join(" or "), value, found)
    }

    /// What was found, or a diagnostic that it is not what is wanted.
    fn wanted<T>(&mut self, name: &str, wanted: &str, value: &Spanned<DeValue>, found: Option<T>) -> Option<T> {
        if found.is_none() {
            let span = self.span(value.span());
            self.diagnostics.push(wrong_value(name, wanted, &shown(value.get_ref()), span));
        }
        found
    }

    /// A number, if it is one and `parse` takes it.
    fn value<T>(&mut self, name: &str, value: &Spanned<DeValue>, wanted: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let number = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            DeValue::Float(number) => Some(number.as_str()),
            _ => None,
        };
        self.wanted(name, wanted, value, number.and_then(parse))
    }
}

/// Where jobs run, as a file says it.
pub(super) const SYSTEMS: [(&str, System); 2] = [("local", System::Local), ("slurm", System::Slurm)];

const SECONDS: &str = "a number of seconds, from 0 to a week";

fn seconds(number: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(number.parse().ok()?).ok().filter(|pause| *pause <= LONGEST)
}

/// Numbers as they are, others by their type.
fn shown(value: &DeValue) -> String {
    match value {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            format!("of type {}", value.type_str())
        }
    }
}

fn no_toml(message: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0831", format!("the site file is not TOML: {message}"), span)
}

fn unknown_key(name: &str, place: &str, known: &[&str], span: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0832", format!("there is no key `{name}`{place}"), span);
    match nearest(name, known.iter().copied()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help(format!("known: {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))),
    }
}

fn wrong_value(name: &str, wanted: &str, found: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0833", format!("`{name}` must be {wanted}"), span).here(format!("this is {found}"))
}
