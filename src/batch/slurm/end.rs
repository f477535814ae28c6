//! Ending jobs of a driver that is gone.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::client;
use super::replies::{self, Phase};
use crate::job::{Attempt, Submission, Ticket};

/// How long a job may take to end when Slurm is asked for it.
const PATIENCE: Duration = Duration::from_secs(40);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// A job that may not have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// How Slurm calls it, or by which tag it would be found.
    pub id: String,
    /// Why it is not known to have ended.
    pub reason: String,
}

/// Ends the jobs of these attempts, all at once, and waits until they have; for each that may not have, why.
pub fn end(jobs: &Path, attempts: &[Attempt]) -> Vec<Option<Survivor>> {
    let mut open: BTreeMap<usize, Ticket> = BTreeMap::new();
    for (place, attempt) in attempts.iter().enumerate() {
        open.extend(attempt.ticket().ok().flatten().map(|ticket| (place, ticket)));
    }
    if open.is_empty() {
        return vec![None; attempts.len()];
    }
    let end = Instant::now() + PATIENCE;
    let mut reason = "it is not over".to_owned();
    loop {
        match client::queue() {
            Ok(lines) => {
                let mut ids = Vec::new();
                open.retain(|place, ticket| match replies::line(&lines, &ticket.tag, ticket.index) {
                    Some(line) if !matches!(line.phase, Phase::Ended(_)) => {
                        ids.push(ticket.id_within(&line.id));
                        true
                    }
                    Some(_) | None => {
                        // it is over all the same; a later run asks Slurm again
                        let _ = attempts[*place].note_cancelled();
                        false
                    }
                });
                if let Some(complaint) = (!ids.is_empty()).then(|| client::cancel(&ids).err()).flatten() {
                    reason = complaint;
                }
            }
            Err(complaint) => reason = complaint,
        }
        if open.is_empty() || Instant::now() >= end {
            break;
        }
        thread::sleep(PAUSE);
    }
    let name = |ticket: &Ticket| match Submission::at(jobs, &ticket.tag).id() {
        Ok(Some(id)) => ticket.id_within(&id),
        Ok(None) | Err(_) => ticket.tag.clone(),
    };
    let survivor = |place| open.get(&place).map(|ticket| Survivor { id: name(ticket), reason: reason.clone() });
    (0..attempts.len()).map(survivor).collect()
}

/// What Slurm says of the jobs of these attempts just now, as `4711_2 PENDING (Priority)`; nothing of those that it does not know.
pub fn standing(attempts: &[Attempt]) -> Result<Vec<Option<String>>, String> {
    let lines = client::queue()?;
    let line = |attempt: &Attempt| {
        let ticket = attempt.ticket().ok()??;
        let line = replies::line(&lines, &ticket.tag, ticket.index)?;
        let reason = if matches!(&*line.reason, "None" | "") { String::new() } else { format!(" ({})", line.reason) };
        Some(format!("job {} {}{reason}", ticket.id_within(&line.id), line.state))
    };
    Ok(attempts.iter().map(line).collect())
}
