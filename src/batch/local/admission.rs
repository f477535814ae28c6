//! Which job is next.
//!
//! First come, first served. When the first one does not fit, later ones may go before it as long as they do not delay it: the
//! time at which it will fit follows from the walltimes of what runs, and a later job must be over by then or fit beside it.
//! Where a walltime is missing nothing is known of that time, and nobody passes. So large requests never starve.

use std::time::Duration;

use crate::batch::Capacity;
use crate::resources::Request;

/// What a waiting job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) cores: u32,
    pub(super) memory: u64,
    /// For how long at most; none if nobody knows.
    pub(super) time: Option<Duration>,
}

impl Need {
    pub(super) fn of(request: &Request) -> Self {
        Need { cores: request.cores().get(), memory: request.memory_bytes().unwrap_or(0), time: request.duration() }
    }
}

/// What is not used.
#[derive(Clone, Copy, Debug)]
struct Free {
    cores: u32,
    memory: u64,
}

impl Free {
    fn has(self, need: &Need) -> bool {
        need.cores <= self.cores && need.memory <= self.memory
    }

    fn without(self, need: &Need) -> Free {
        Free { cores: self.cores.saturating_sub(need.cores), memory: self.memory.saturating_sub(need.memory) }
    }

    fn with(self, need: &Need) -> Free {
        Free { cores: self.cores.saturating_add(need.cores), memory: self.memory.saturating_add(need.memory) }
    }
}

/// The place in the queue of the job that may begin now; `running` jobs have the time that is left to them.
pub(super) fn next(capacity: Capacity, running: &[Need], waiting: &[Need]) -> Option<usize> {
    let all = Free { cores: capacity.cores, memory: capacity.memory };
    let free = running.iter().fold(all, Free::without);
    let (first, later) = waiting.split_first()?;
    if free.has(first) {
        return Some(0);
    }
    let (wait, spare) = reservation(free, running, first)?;
    let passes = |need: &Need| free.has(need) && (need.time.is_some_and(|time| time <= wait) || spare.has(need));
    later.iter().position(passes).map(|place| place + 1)
}

/// When `first` will fit at the latest, and what is then left beside it.
fn reservation(free: Free, running: &[Need], first: &Need) -> Option<(Duration, Free)> {
    let mut ends: Vec<_> = running.iter().filter_map(|need| need.time.map(|time| (time, need))).collect();
    ends.sort_by_key(|(time, _)| *time);
    let mut then = free;
    for (time, need) in ends {
        then = then.with(need);
        if then.has(first) {
            return Some((time, then.without(first)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MACHINE: Capacity = Capacity { cores: 4, memory: 100 };

    fn need(cores: u32, memory: u64, seconds: u64) -> Need {
        Need { cores, memory, time: (seconds > 0).then(|| Duration::from_secs(seconds)) }
    }

    #[test]
    fn the_first_one_goes_when_it_fits() {
        assert_eq!(next(MACHINE, &[], &[]), None);
        assert_eq!(next(MACHINE, &[], &[need(4, 100, 0)]), Some(0));
        assert_eq!(next(MACHINE, &[need(1, 0, 0)], &[need(3, 0, 0), need(1, 0, 0)]), Some(0));
        assert_eq!(next(MACHINE, &[need(1, 60, 0)], &[need(1, 41, 0)]), None);
    }

    #[test]
    fn nobody_delays_the_first_one() {
        let running = [need(3, 0, 60)];
        assert_eq!(next(MACHINE, &running, &[need(4, 0, 1), need(1, 0, 60)]), Some(1), "over in time");
        assert_eq!(next(MACHINE, &running, &[need(4, 0, 1), need(1, 0, 61)]), None, "over too late");
        assert_eq!(next(MACHINE, &running, &[need(4, 0, 1), need(1, 0, 0)]), None, "who knows when");
        assert_eq!(next(MACHINE, &running, &[need(3, 0, 1), need(1, 0, 0)]), Some(1), "there is room for both");
        assert_eq!(next(MACHINE, &[need(3, 0, 0)], &[need(4, 0, 1), need(1, 0, 1)]), None, "the first one's turn is unknown");
        assert_eq!(next(MACHINE, &running, &[need(4, 0, 1), need(2, 0, 1), need(1, 0, 1)]), Some(2), "what fits now");
    }

    fn needs(count: usize) -> impl Strategy<Value = Vec<Need>> {
        prop::collection::vec((1_u32..=4, 0_u64..=100, 0_u64..50).prop_map(|(cores, memory, time)| need(cores, memory, time)), 0..count)
    }

    /// Runs a queue to its end on a simulated clock, each job for its whole walltime; when each job began, in the order of the queue.
    fn simulate(jobs: &[Need]) -> Vec<u64> {
        let mut starts = vec![0; jobs.len()];
        let mut waiting: Vec<usize> = (0..jobs.len()).collect();
        let mut running: Vec<(usize, u64)> = Vec::new();
        let mut now = 0;
        while !waiting.is_empty() {
            running.retain(|(_, end)| *end > now);
            let left = |(job, end): &(usize, u64)| Need { time: Some(Duration::from_secs(end - now)), ..jobs[*job] };
            let busy: Vec<_> = running.iter().map(left).collect();
            let queue: Vec<_> = waiting.iter().map(|job| jobs[*job]).collect();
            match next(MACHINE, &busy, &queue) {
                Some(place) => {
                    let job = waiting.remove(place);
                    starts[job] = now;
                    running.push((job, now + jobs[job].time.map_or(0, |time| time.as_secs())));
                    let used = running.iter().fold((0, 0), |used, (job, _)| (used.0 + jobs[*job].cores, used.1 + jobs[*job].memory));
                    assert!(used.0 <= MACHINE.cores && used.1 <= MACHINE.memory, "{used:?}");
                }
                None => now = running.iter().map(|(_, end)| *end).min().expect("what does not fit waits for something"),
            }
        }
        starts
    }

    proptest! {
        #[test]
        fn what_is_chosen_fits(running in needs(6), waiting in needs(6)) {
            if let Some(place) = next(MACHINE, &running, &waiting) {
                let used = running.iter().map(|need| need.cores).sum::<u32>() + waiting[place].cores;
                prop_assert!(used <= MACHINE.cores);
            }
        }

        #[test]
        fn everybody_has_a_turn(jobs in needs(12).prop_map(|mut jobs| { jobs.retain(|job| job.time.is_some()); jobs })) {
            let starts = simulate(&jobs);
            let longest = jobs.iter().filter_map(|job| job.time).max().unwrap_or_default().as_secs();
            for (place, start) in starts.iter().enumerate() {
                prop_assert!(*start <= longest * place as u64, "job {} of {:?} began at {}", place, jobs, start);
            }
        }
    }
}
