//! What of the sources a report shows.
//!
//! The marks of a diagnostic are grouped into sections: runs of marks of one file that are near each other. A section is drawn
//! from the whole file, which is indexed once, unless a marked line is too long to be shown; then from an excerpt: a text with the
//! same line numbers in which the lines before are empty and long lines are cut to a window around their marks.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Label;
use crate::source::{FileId, SourceFile, SourceMap};

/// A line with more bytes is cut.
const LONG_LINE: usize = 200;
/// So many bytes are kept before and after the marks of a long line.
const MARGIN: usize = 60;
/// So many bytes of the marks of a long line are kept.
const WIDEST: usize = 80;
/// Stands for what was cut.
const CUT: &str = "...";
/// Marks that are more lines apart are drawn in separate sections, and a mark over more lines is drawn at its first.
const NEAR: usize = 50;

/// Marks of one file that are drawn together.
pub(super) struct Section<'a> {
    /// The file.
    pub(super) file: FileId,
    /// Line and column of the most important mark.
    pub(super) position: (usize, usize),
    /// A text to draw instead of the whole file.
    pub(super) excerpt: Option<String>,
    /// The marks, in the order of the text.
    pub(super) marks: Vec<Mark<'a>>,
}

/// A place to mark.
pub(super) struct Mark<'a> {
    /// Byte range in the text to draw, never empty unless the text is.
    pub(super) range: Range<usize>,
    /// What is said of it.
    pub(super) label: &'a Label,
    lines: Range<usize>,
}

/// The sections of a diagnostic, that of the most important mark first.
pub(super) fn sections<'a>(labels: &'a [Label], sources: &SourceMap) -> Vec<Section<'a>> {
    let mut sections: Vec<Section> = Vec::new();
    for label in labels {
        let Some(file) = sources.get(label.span.file) else { continue };
        let mark = mark(label, file);
        let position = file.position(mark.range.start as u32);
        match sections.iter_mut().find(|section| section.file == label.span.file && section.is_near(&mark)) {
            Some(section) => section.marks.push(mark),
            None => sections.push(Section { file: label.span.file, position, excerpt: None, marks: vec![mark] }),
        }
    }
    for section in &mut sections {
        // In the order of the text: otherwise ariadne draws the same lines again.
        section.marks.sort_by_key(|mark| (mark.lines.end, mark.range.start));
        if let Some(file) = sources.get(section.file) {
            section.cut_long_lines(file);
        }
    }
    sections
}

/// A range of whole characters within the text.
pub(super) fn clamp(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    start..text.ceil_char_boundary(range.end).max(start)
}

/// The text with every character that would disturb a terminal or the count of lines replaced by a space of as many bytes.
pub(super) fn printable(text: &Arc<str>) -> Arc<str> {
    if !text.chars().any(disturbs) {
        return text.clone();
    }
    text.chars().map(replacement).collect::<String>().into()
}

impl Section<'_> {
    /// Whether something is said of a mark's line.
    pub(super) fn has_words_beside(&self, mark: &Mark) -> bool {
        self.marks.iter().any(|other| !other.label.message.is_empty() && other.lines.end == mark.lines.end)
    }

    fn is_near(&self, mark: &Mark) -> bool {
        self.marks.iter().any(|other| {
            let gap = mark.lines.start.max(other.lines.start) - mark.lines.start.min(other.lines.start);
            gap <= NEAR
        })
    }

    fn cut_long_lines(&mut self, file: &SourceFile) {
        let lines = self.marks.iter().flat_map(|mark| [mark.lines.start, mark.lines.end]);
        if lines.clone().all(|line| file.line(line).len() <= LONG_LINE) {
            return;
        }
        let (first, last) = lines.fold((usize::MAX, 0), |(first, last), line| (first.min(line), last.max(line)));
        let ranges: Vec<Range<usize>> = self.marks.iter().map(|mark| mark.range.clone()).collect();
        let before = ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let mut start = file.text[..before].rfind('\n').map_or(0, |newline| newline + 1);
        let mut excerpt = "\n".repeat(first - 1);
        for (line, text) in (first..=last).zip(file.text[start..].split_inclusive('\n')) {
            self.add_line(&mut excerpt, (line, start, text.trim_end_matches(['\r', '\n'])), &ranges);
            start += text.len();
        }
        for mark in &mut self.marks {
            mark.range = widen(&excerpt, mark.range.clone());
        }
        self.excerpt = Some(excerpt);
    }

    /// Adds a line (its number, first byte and text), cut to what is around the marks, and moves the marks that start or end in it.
    fn add_line(&mut self, excerpt: &mut String, (line, start, text): (usize, usize, &str), ranges: &[Range<usize>]) {
        let window = window(text, start, ranges);
        excerpt.push_str(if window.start > 0 { CUT } else { "" });
        let moved = |offset: usize| excerpt.len() + (offset.clamp(start + window.start, start + window.end) - start - window.start);
        for (mark, range) in self.marks.iter_mut().zip(ranges) {
            if mark.lines.start == line {
                mark.range.start = moved(range.start);
            }
            if mark.lines.end == line {
                mark.range.end = moved(range.end);
            }
        }
        excerpt.push_str(&text[window.clone()]);
        excerpt.push_str(if window.end < text.len() { CUT } else { "" });
        excerpt.push('\n');
    }
}

fn mark<'a>(label: &'a Label, file: &SourceFile) -> Mark<'a> {
    let mut range = widen(&file.text, clamp(&file.text, label.span.range()));
    let (first, _) = file.position(range.start as u32);
    let (mut last, _) = file.position(range.end.saturating_sub(1).max(range.start) as u32);
    if last > first + NEAR {
        let rest = &file.text[range.start..];
        range.end = range.start + rest.find('\n').unwrap_or(rest.len()).max(1);
        last = first;
    }
    Mark { range, label, lines: first..last }
}

/// The range, or when it is empty the character after it, or at the end of the text the last one that can be seen.
fn widen(text: &str, range: Range<usize>) -> Range<usize> {
    if !range.is_empty() {
        return range;
    }
    match text[range.start..].chars().next() {
        Some(next) => range.start..range.start + next.len_utf8(),
        None => {
            let seen = text.trim_end();
            let seen = if seen.is_empty() { text } else { seen };
            let width = seen.chars().next_back().map_or(0, char::len_utf8);
            seen.len() - width..seen.len()
        }
    }
}

/// The part of a line (which starts at `start`) to show: all of it, or what is around the marks.
fn window(text: &str, start: usize, marks: &[Range<usize>]) -> Range<usize> {
    if text.len() <= LONG_LINE {
        return 0..text.len();
    }
    let within = |offset: &usize| (start..=start + text.len()).contains(offset);
    let offsets = marks.iter().flat_map(|mark| [mark.start, mark.end]).filter(within).map(|offset| offset - start);
    let (first, last) = offsets.fold((text.len(), 0), |(first, last), offset| (first.min(offset), last.max(offset)));
    // A line between marked ones has no marks: its beginning is shown.
    let first = if first > last { 0 } else { first };
    let last = last.clamp(first, first + WIDEST);
    text.floor_char_boundary(first.saturating_sub(MARGIN))..text.ceil_char_boundary((last + MARGIN).min(text.len()))
}

fn disturbs(character: char) -> bool {
    (character.is_control() && character != '\n' && character != '\t') || matches!(character, '\u{2028}' | '\u{2029}')
}

fn replacement(character: char) -> char {
    match character.len_utf8() {
        _ if !disturbs(character) => character,
        1 => ' ',
        2 => '\u{a0}',
        _ => '\u{2003}',
    }
}
