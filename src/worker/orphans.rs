//! Ending jobs whose driver is gone.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::processes::{self, Process};
use crate::job::{Holder, Life};

/// How long a job may take to end itself and all that it has started, as it does when it is asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How long the system may take to end what is ended by force.
const FORCE: Duration = Duration::from_secs(3);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Ends the jobs of these processes of this machine with all that they have started, first asking and then by force; gives, for each,
/// the processes that are there still.
pub fn end(holders: &[Holder]) -> Vec<Vec<i32>> {
    let all = processes::all();
    let mut families: Vec<Vec<Process>> = holders.iter().map(|holder| family(holder, &all)).collect();
    for holder in holders.iter().filter(|holder| holder.life() == Life::Here) {
        // who has ended in the meantime needs no signal
        let _ = killpg(leader(holder), Signal::SIGTERM);
    }
    wait(&mut families, GRACE);
    for process in families.iter().flatten() {
        let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
    }
    wait(&mut families, FORCE);
    families.into_iter().map(|family| family.into_iter().map(|process| process.pid).collect()).collect()
}

fn leader(holder: &Holder) -> Pid {
    Pid::from_raw(holder.pid.cast_signed())
}

fn family(holder: &Holder, all: &[Process]) -> Vec<Process> {
    if holder.life() == Life::Here { processes::of_job(all, leader(holder).as_raw()) } else { Vec::new() }
}

/// Waits until all are gone, but no longer than that; forgets those that are.
fn wait(families: &mut [Vec<Process>], patience: Duration) {
    let end = Instant::now() + patience;
    loop {
        let all = processes::all();
        families.iter_mut().for_each(|family| family.retain(|process| all.iter().any(|other| other.is_same(process))));
        if families.iter().all(Vec::is_empty) || Instant::now() >= end {
            return;
        }
        thread::sleep(PAUSE);
    }
}
