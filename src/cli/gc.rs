//! `scl gc`: removes from a store what is old, too much, or not used any more.

use std::process::ExitCode;
use std::time::Duration;

use bytesize::ByteSize;
use serde_json::json;

use super::FAILED;
use super::driver::unusable;
use super::records::{Answer, Place, Refusal};
use crate::diagnostic::Fault;
use crate::store::{Access, Limits, Swept, sweep};

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
    let swept = sweep(&store, &lock, limits, arguments.dry_run)?;
    Ok(Answer::new(text(&swept, arguments.dry_run), json!({ "dry_run": arguments.dry_run, "swept": swept })))
}

fn text(swept: &Swept, dry_run: bool) -> String {
    let Swept { removed, removed_bytes, left, left_bytes, in_use, runs, leftovers } = swept;
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
