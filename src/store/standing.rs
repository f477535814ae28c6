//! How runs and tasks stand: words for people, tools and the index.

use serde::Serialize;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Its driver lives, as far as can be seen from here.
    Running,
    /// All that was asked for is there.
    Done,
    /// Something is missing.
    Failed,
    /// The user ended it.
    Interrupted,
    /// Its driver is gone without a word.
    Killed,
    /// No run: it stands for all jobs that were found when there was no index.
    Found,
}

/// How a batch task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskState {
    /// It has failed.
    Failed,
    /// Its process is gone without a word, or was never begun.
    Lost,
    /// Someone ended it on purpose.
    Cancelled,
    /// It runs.
    Running,
    /// It was submitted and has not begun, or it failed and is going to be tried again.
    Waiting,
    /// It was computed.
    Done,
    /// The result of an earlier run was taken.
    Kept,
    /// A task of the same run that computes the same has the job.
    Shared,
}

impl RunState {
    const ALL: [RunState; 6] =
        [RunState::Running, RunState::Done, RunState::Failed, RunState::Interrupted, RunState::Killed, RunState::Found];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Interrupted => "interrupted",
            RunState::Killed => "killed",
            RunState::Found => "found",
        }
    }

    /// The state of this word.
    pub(super) fn of(name: &str) -> Option<Self> {
        RunState::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl TaskState {
    /// All, those first that people look for first.
    pub const ALL: [TaskState; 8] = [
        TaskState::Failed,
        TaskState::Lost,
        TaskState::Cancelled,
        TaskState::Running,
        TaskState::Waiting,
        TaskState::Done,
        TaskState::Kept,
        TaskState::Shared,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            TaskState::Failed => "failed",
            TaskState::Lost => "lost",
            TaskState::Cancelled => "cancelled",
            TaskState::Running => "running",
            TaskState::Waiting => "waiting",
            TaskState::Done => "done",
            TaskState::Kept => "kept",
            TaskState::Shared => "shared",
        }
    }

    /// The state of this word.
    pub(super) fn of(name: &str) -> Option<Self> {
        TaskState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether it has a result.
    pub fn has_result(self) -> bool {
        match self {
            TaskState::Done | TaskState::Kept | TaskState::Shared => true,
            TaskState::Failed | TaskState::Lost | TaskState::Cancelled | TaskState::Running | TaskState::Waiting => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_again_and_those_of_tools_are_the_same() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::of(state.name()), Some(state));
            assert_eq!(serde_json::to_value(state).expect("a word"), state.name());
        }
        for state in RunState::ALL {
            assert_eq!(RunState::of(state.name()), Some(state));
            assert_eq!(serde_json::to_value(state).expect("a word"), state.name());
        }
    }
}
