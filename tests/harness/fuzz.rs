//! Replays what fuzzing keeps: the corpus, and every input that once broke something.
//!
//! The fuzzers themselves are in `tests/fuzz`, a crate of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::exercise;

/// What one input may take, also in a debug build on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

type Exercise = fn(&[u8]);

/// One test for the corpus of each target, and one for each regression.
pub fn trials() -> Vec<Trial> {
    let targets: [(&str, Exercise); 3] = [("program", exercise::program), ("evaluate", exercise::evaluate), ("decode", exercise::decode)];
    targets.into_iter().flat_map(|(name, target)| of_target(name, target)).collect()
}

fn of_target(name: &'static str, target: Exercise) -> Vec<Trial> {
    let mut trials = vec![Trial::test(format!("fuzz::{name}::corpus"), move || corpus(name, target))];
    trials.extend(files("regressions", name).into_iter().map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("fuzz::{name}::{stem}"), move || replay(&path, target))
    }));
    trials
}

fn corpus(name: &str, target: Exercise) -> Result<(), Failed> {
    let files = files("corpus", name);
    if files.is_empty() {
        return Err("the corpus is empty".into());
    }
    files.iter().try_for_each(|path| replay(path, target))
}

fn files(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz").join(folder).join(target);
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn replay(path: &Path, target: Exercise) -> Result<(), Failed> {
    let data = std::fs::read(path)?;
    let begin = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| exercise::deep(|| target(&data))));
    if let Err(panic) = ended {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        return Err(format!("{}: {}", path.display(), text.unwrap_or("a panic")).into());
    }
    match begin.elapsed() {
        took if took > LONGEST => Err(format!("{} took {took:?}", path.display()).into()),
        _ => Ok(()),
    }
}
