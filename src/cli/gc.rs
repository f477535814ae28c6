//! `scl gc`: removes from a store what is old, too much, or not used any more.

use std::process::ExitCode;
use std::time::Duration;

use bytesize::ByteSize;
use serde_json::json;

use super::FAILED;
use super::driver::{repaired, unusable};
use super::records::{Answer, Place, Refusal, unreadable_index, warn};
use crate::diagnostic::Fault;
use crate::store::{Access, Found, Limits, Records, Swept, sweep};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What no run has used for longer than this, as in `30days` or `12h`
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,
    /// What was used the longest ago, until all results together take no more than this, as in `10GiB`
    #[arg(long, value_name = "SIZE")]
    max_size: Option<ByteSize>,
    /// What no run of its program has used since the last one that went well
    #[arg(long)]
    unreachable: bool,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    arguments.place.answer(collect(arguments))
}

fn collect(arguments: &Arguments) -> Result<Answer, Refusal> {
    let store = arguments.place.store()?;
    let lock = match store.lock().map_err(|error| unusable(&error))? {
        Access::Mine(lock) => lock,
        Access::Taken(owner) => return Err(in_use(owner.map_or_else(|| "another process".to_owned(), |owner| owner.to_string()))),
        Access::Unclear(owner) => return Err(in_use(owner.to_string())),
        Access::ReadOnly => return Err(Fault::new("E0733", "the store can only be read, and so can nothing be removed").into()),
    };
    let limits =
        Limits { age: arguments.older_than, size: arguments.max_size.map(|size| size.as_u64()), unreachable: arguments.unreachable };
    heed_index(arguments, Records::open(&store)?.1)?;
    let swept = sweep(&store, &lock, limits, arguments.dry_run)?;
    swept.repaired.iter().for_each(|text| warn(&arguments.place.reporting, repaired(text.clone())));
    Ok(Answer::new(text(&swept, arguments.dry_run), json!({ "dry_run": arguments.dry_run, "swept": swept })))
}

/// When results were used is in the index only: without it nobody knows which of them are old.
fn heed_index(arguments: &Arguments, found: Found) -> Result<(), Refusal> {
    let needs_times = arguments.older_than.is_some() || arguments.max_size.is_some();
    match found {
        Found::DirectoriesInstead(reason) if needs_times => {
            let fault =
                Fault::new("E0735", format!("the index of runs cannot be read, and so it is not known when results were used: {reason}"));
            let help = "without limits of age and size only what nothing can use is removed; the next run makes the index anew";
            return Err(Refusal { fault: fault.help(help), status: FAILED });
        }
        Found::DirectoriesInstead(reason) => warn(&arguments.place.reporting, unreadable_index(&reason)),
        Found::Directories if needs_times => {
            let fault = Fault::new("W0726", "there is no index of runs: what counts is when results were written, not when they were used");
            warn(&arguments.place.reporting, fault);
        }
        Found::Index | Found::Directories => {}
    }
    Ok(())
}

fn text(swept: &Swept, dry_run: bool) -> String {
    let Swept { removed, removed_bytes, left, left_bytes, in_use, runs, leftovers, repaired: _ } = swept;
    let verb = if dry_run { "would be removed" } else { "removed" };
    let size = |bytes: &u64| ByteSize(*bytes).display().iec().to_string();
    let mut text = format!("{verb}: {removed} jobs of {}", size(removed_bytes));
    for (count, what) in [(runs, "runs"), (leftovers, "files that nothing uses")] {
        if *count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    }
    text.push_str(&format!("\nleft: {left} jobs of {}", size(left_bytes)));
    if *in_use > 0 {
        text.push_str(&format!(", {in_use} of them only because they run"));
    }
    text + "\n"
}

fn in_use(owner: String) -> Refusal {
    let fault =
        Fault::new("E0732", format!("the store is used by {owner}")).help("wait until that run is over, or end it with `scl cancel`");
    Refusal { fault, status: FAILED }
}
