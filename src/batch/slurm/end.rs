//! Ending jobs of a driver that is gone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::client;
use super::replies::{self, Lines, Phase};
use crate::job::{Attempt, Holder, Submission, Ticket};

/// How long a job may take to end when Slurm is asked for it.
const PATIENCE: Duration = Duration::from_secs(40);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// After how long Slurm is asked again to end what is left.
const AGAIN: Duration = Duration::from_secs(5);

/// A job that may not have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// How Slurm calls it, or by which tag it would be found.
    pub id: String,
    /// Why it is not known to have ended.
    pub reason: String,
}

/// Ends the jobs of these attempts, all at once, and waits until they have; for each that may not have, why.
///
/// An attempt that nobody has taken is taken away, so that it never begins. Of the others Slurm must say that they are over: that a query
/// leaves one out says nothing.
pub fn end(jobs: &Path, attempts: &[Attempt]) -> Vec<Option<Survivor>> {
    let mut open: BTreeMap<usize, Open> = BTreeMap::new();
    for (place, attempt) in attempts.iter().enumerate() {
        let Ok(Some(ticket)) = attempt.ticket() else { continue };
        let id = Submission::at(jobs, &ticket.tag).id().ok().flatten();
        let begun = !matches!(attempt.take(&Holder::nobody()), Ok(true));
        if begun || id.is_some() {
            open.insert(place, Open { ticket, id, begun, reason: "it is not over".to_owned() });
        } else {
            // it never begins all the same
            let _ = attempt.note_cancelled();
        }
    }
    let end = Instant::now() + PATIENCE;
    let (mut asked, mut refused, mut again) = (HashSet::new(), None, Instant::now() + AGAIN);
    while !open.is_empty() {
        if Instant::now() >= again {
            asked.clear();
            again += AGAIN;
        }
        let ids: Vec<String> = open.values().filter_map(Open::slurm_id).filter(|id| asked.insert(id.clone())).collect();
        if !ids.is_empty() {
            refused = client::cancel(&ids).err();
        }
        let over = look(&mut open, refused.as_deref());
        for place in over {
            open.remove(&place);
            // it is over all the same; a later run asks Slurm again
            let _ = attempts[place].note_cancelled();
        }
        if open.is_empty() || Instant::now() >= end {
            break;
        }
        thread::sleep(PAUSE);
    }
    let survivor = |job: &Open| Survivor { id: job.slurm_id().unwrap_or_else(|| job.ticket.tag.clone()), reason: job.reason.clone() };
    (0..attempts.len()).map(|place| open.get(&place).map(survivor)).collect()
}

/// A job that may not be over.
struct Open {
    ticket: Ticket,
    id: Option<String>,
    /// Whether a process has taken its attempt.
    begun: bool,
    reason: String,
}

impl Open {
    fn slurm_id(&self) -> Option<String> {
        self.id.as_ref().map(|id| self.ticket.id_within(id))
    }
}

/// The jobs that are over, by Slurm's word; those without an id learn it.
fn look(open: &mut BTreeMap<usize, Open>, refused: Option<&str>) -> Vec<usize> {
    let lines = client::queue();
    let mut details = HashMap::new();
    let mut over = Vec::new();
    for (place, job) in open.iter_mut() {
        let line = lines.as_ref().ok().and_then(|lines| replies::line(lines, &job.ticket));
        match (line, &lines) {
            (Some(line), _) => {
                job.id = Some(line.id.clone());
                let ended = matches!(line.phase, Phase::Ended(_));
                over.extend(ended.then_some(*place));
                job.reason = refused.map_or_else(|| format!("Slurm says {}", line.state), ToOwned::to_owned);
            }
            (None, Err(complaint)) => job.reason.clone_from(complaint),
            (None, Ok(_)) => match is_over(job, &mut details) {
                Ok(()) => over.push(*place),
                Err(reason) => job.reason = reason,
            },
        }
    }
    over
}

/// Asks for a job that the query has left out, once for all elements of its array; or why nobody can say.
fn is_over(job: &Open, details: &mut HashMap<String, Result<Lines, String>>) -> Result<(), String> {
    let Some(id) = &job.id else {
        return if job.begun { Err("Slurm does not know it, but a process has begun it".to_owned()) } else { Ok(()) };
    };
    match details.entry(id.clone()).or_insert_with(|| client::details(id)) {
        Ok(lines) => match replies::line(lines, &job.ticket) {
            Some(line) if !matches!(line.phase, Phase::Ended(_)) => Err(format!("Slurm says {}", line.state)),
            Some(_) | None => Ok(()),
        },
        Err(complaint) if client::is_unknown(complaint) => Ok(()),
        Err(complaint) => Err(complaint.clone()),
    }
}

/// What Slurm says of the jobs of these attempts just now, as `4711_2 PENDING (Priority)`; nothing of those that it does not know.
pub fn standing(attempts: &[Attempt]) -> Result<Vec<Option<String>>, String> {
    let lines = client::queue()?;
    let line = |attempt: &Attempt| {
        let ticket = attempt.ticket().ok()??;
        let line = replies::line(&lines, &ticket)?;
        let reason = if matches!(&*line.reason, "None" | "") { String::new() } else { format!(" ({})", line.reason) };
        Some(format!("job {} {}{reason}", ticket.id_within(&line.id), line.state))
    };
    Ok(attempts.iter().map(line).collect())
}
