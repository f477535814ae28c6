//! Names of files within a string.

use std::fs;
use std::path::Path;

use super::{Candidate, Completion};

/// The most files that are offered.
const MOST: usize = 500;

/// Files and directories for a path that begins at `start`, with or without an opening quote. A file gets its closing quote, a
/// directory a slash; hidden ones are offered when a dot was typed.
pub fn complete(before: &str, start: usize) -> Completion {
    let written = before.get(start..).unwrap_or_default();
    let quote = written.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let path = quote.map_or(written, |quote| written.trim_start_matches(quote));
    let (directory, partial) = path.rsplit_once('/').map_or(("", path), |(directory, partial)| (directory, partial));
    let listed = match (directory, path.starts_with('/')) {
        ("", true) => Path::new("/"),
        ("", false) => Path::new("."),
        (directory, _) => Path::new(directory),
    };
    let entries = fs::read_dir(listed).into_iter().flatten().flatten().take(MOST);
    let candidates = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_hidden = name.starts_with('.') && !partial.starts_with('.');
        if is_hidden || !name.starts_with(partial) || name.contains(['\'', '"', '\\']) {
            return None;
        }
        let is_directory = entry.path().is_dir();
        let end = if is_directory { "/".to_owned() } else { quote.map(String::from).unwrap_or_default() };
        let shown = if is_directory { format!("{name}/") } else { name.clone() };
        Some(Candidate { shown, inserted: format!("{name}{end}") })
    });
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_unstable();
    Completion { start: before.len() - partial.len(), candidates }
}
