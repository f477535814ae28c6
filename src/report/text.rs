//! Diagnostics as text, drawn by ariadne.
//!
//! ariadne writes the place of each section itself, but counts bytes as characters in some and knows nothing of excerpts. So it
//! is given a private mark in place of the file's name, and the mark with the place that follows is then replaced by ours.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display, Write};
use std::sync::Arc;

use ariadne::{Cache, CharSet, Color, Config, IndexType, Label, Report, ReportKind, Source};

use super::Style;
use super::sections::{self, Section, printable};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FileId, SourceMap};

/// Stands before and after the number of a section; never in a source or a message.
const MARK: char = '\u{1}';

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    let mut drawer = Drawer { sources, style, files: BTreeMap::new() };
    let mut output = String::new();
    for diagnostic in diagnostics {
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(&drawer.draw(diagnostic));
    }
    output
}

/// Draws one diagnostic after the other and keeps the indexed files.
struct Drawer<'a> {
    sources: &'a SourceMap,
    style: Style,
    files: BTreeMap<FileId, Source<Arc<str>>>,
}

/// What ariadne asks for the texts of one diagnostic; a section's number is its id.
struct Texts<'a> {
    files: &'a BTreeMap<FileId, Source<Arc<str>>>,
    excerpts: BTreeMap<usize, Source<Arc<str>>>,
    sections: &'a [Section<'a>],
}

impl Drawer<'_> {
    fn draw(&mut self, diagnostic: &Diagnostic) -> String {
        let sections = sections::sections(&diagnostic.labels, self.sources);
        for section in sections.iter().filter(|section| section.excerpt.is_none()) {
            self.index(section.file);
        }
        let excerpt = |(index, section): (usize, &Section)| {
            let excerpt = section.excerpt.as_deref()?;
            Some((index, Source::from(printable(&Arc::from(excerpt)))))
        };
        let excerpts = sections.iter().enumerate().filter_map(excerpt).collect();
        let texts = Texts { files: &self.files, excerpts, sections: &sections };
        let mut drawn = Vec::new();
        match self.report(diagnostic, &sections) {
            Some(report) if report.write(texts, &mut drawn).is_ok() => {
                let drawn = String::from_utf8_lossy(&drawn);
                let body = drawn.split_once('\n').map_or("", |(_, body)| body);
                self.heading(diagnostic) + &trimmed(&placed(body, &sections, self.sources))
            }
            Some(_) | None => self.heading(diagnostic) + &remarks(diagnostic),
        }
    }

    /// The first line. ariadne's own would be coloured even without colour.
    fn heading(&self, diagnostic: &Diagnostic) -> String {
        let (word, color) = match diagnostic.severity {
            Severity::Error => ("error", 31),
            Severity::Warning => ("warning", 33),
        };
        let (code, message) = (clean(&diagnostic.code), clean(&diagnostic.message));
        if self.style.color { format!("\x1b[{color}m{word}[{code}]\x1b[0m: {message}\n") } else { format!("{word}[{code}]: {message}\n") }
    }

    fn index(&mut self, file: FileId) {
        if let Some(source) = self.sources.get(file) {
            self.files.entry(file).or_insert_with(|| Source::from(printable(&source.text)));
        }
    }

    /// The drawing to be made; none without a place.
    fn report(&self, diagnostic: &Diagnostic, sections: &[Section]) -> Option<Report<'static, (usize, std::ops::Range<usize>)>> {
        let color = match diagnostic.severity {
            Severity::Error => Color::Red,
            Severity::Warning => Color::Yellow,
        };
        let place = (0, sections.first()?.marks.first()?.range.clone());
        let mut builder = Report::build(ReportKind::Error, place).with_config(self.config());
        for (index, section) in sections.iter().enumerate() {
            for mark in &section.marks {
                let label = Label::new((index, mark.range.clone())).with_order(index as i32);
                let label = label.with_color(if mark.label.primary { color } else { Color::Blue });
                // ariadne underlines nothing on a line of which it has nothing to say
                builder.add_label(match mark.label.message.as_str() {
                    "" if section.has_words_beside(mark) => label,
                    "" => label.with_message("here"),
                    message => label.with_message(clean(message)),
                });
            }
        }
        diagnostic.notes.iter().for_each(|note| builder.add_note(clean(note)));
        diagnostic.help.iter().for_each(|help| builder.add_help(clean(help)));
        Some(builder.finish())
    }

    fn config(&self) -> Config {
        let char_set = if self.style.unicode { CharSet::Unicode } else { CharSet::Ascii };
        Config::new().with_index_type(IndexType::Byte).with_color(self.style.color).with_char_set(char_set)
    }
}

impl Cache<usize> for Texts<'_> {
    type Storage = Arc<str>;

    fn fetch(&mut self, id: &usize) -> Result<&Source<Arc<str>>, impl Debug> {
        let file = self.sections.get(*id).and_then(|section| self.files.get(&section.file));
        self.excerpts.get(id).or(file).ok_or("no such section")
    }

    fn display<'b>(&self, id: &'b usize) -> Option<impl Display + 'b> {
        Some(format!("{MARK}{id}{MARK}"))
    }
}

/// The drawing with the place of each section instead of its mark and of what ariadne thinks its place is.
fn placed(drawn: &str, sections: &[Section], sources: &SourceMap) -> String {
    let mut pieces = drawn.split(MARK);
    let mut output = pieces.next().unwrap_or("").to_owned();
    while let (Some(id), Some(rest)) = (pieces.next(), pieces.next()) {
        let section = id.parse().ok().and_then(|index: usize| sections.get(index));
        if let Some((section, file)) = section.and_then(|section| Some((section, sources.get(section.file)?))) {
            let (line, column) = section.position;
            // Writing to a string cannot fail.
            let _ = write!(output, "{}:{line}:{column}", clean(&file.name));
        }
        output.push_str(rest.trim_start_matches(|character: char| character == ':' || character == '?' || character.is_ascii_digit()));
    }
    output
}

/// The lines without the blanks that ariadne leaves at their ends.
fn trimmed(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// Notes and help of a diagnostic without a place.
fn remarks(diagnostic: &Diagnostic) -> String {
    let notes = diagnostic.notes.iter().map(|note| format!("  Note: {}\n", clean(note)));
    let help = diagnostic.help.iter().map(|help| format!("  Help: {}\n", clean(help)));
    notes.chain(help).collect()
}

fn clean(text: &str) -> String {
    printable(&Arc::from(text)).to_string()
}

#[cfg(test)]
mod tests;
