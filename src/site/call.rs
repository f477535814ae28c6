//! Calls of a batch system's clients. Each has a time limit, for some hang for ever when their server does.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use process_control::{ChildExt, Control};

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its exit status; nothing when it was killed, ran out of time or could not be started.
    pub status: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained of, or what there is to complain of.
    pub stderr: String,
}

impl Reply {
    /// Whether it ended well.
    pub fn is_well(&self) -> bool {
        self.status == Some(0)
    }

    /// Its complaint in one line.
    pub fn complaint(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match (lines.is_empty(), self.status) {
            (false, _) => lines.join("; "),
            (true, Some(status)) => format!("it ended with status {status} and said nothing"),
            (true, None) => "it was killed".to_owned(),
        }
    }
}

/// Variables that a batch system sets in its jobs, or that change what its clients do: what is submitted from within a job must not
/// inherit that job's. The path of the configuration is no such thing.
const LEAKING: [&str; 10] = ["SLURM_", "SLURMD_", "SBATCH_", "SQUEUE_", "SCANCEL_", "SINFO_", "SACCT_", "PMI_", "PMIX_", "SCL_"];

/// Runs a client in a directory and waits for it, but for no longer than the limit. It is in a process group of its own: Ctrl-C is for the
/// driver, which must learn what has become of the call.
pub fn call(program: &str, arguments: &[OsString], directory: Option<&Path>, limit: Duration) -> Reply {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    directory.into_iter().for_each(|directory| {
        command.current_dir(directory);
    });
    for (name, _) in std::env::vars_os().filter(|(name, _)| leaks(name)) {
        command.env_remove(name);
    }
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Reply { stderr: format!("`{program}` cannot be run: {error}"), ..Reply::default() },
    };
    match child.controlled_with_output().time_limit(limit).terminate_for_timeout().wait() {
        Ok(Some(output)) => Reply {
            status: output.status.code().and_then(|code| i32::try_from(code).ok()),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        },
        Ok(None) => Reply { stderr: format!("`{program}` did not answer within {} s", limit.as_secs()), ..Reply::default() },
        Err(error) => Reply { stderr: format!("`{program}`: {error}"), ..Reply::default() },
    }
}

fn leaks(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| LEAKING.iter().any(|prefix| name.starts_with(prefix)) && name != "SLURM_CONF" && name != "SCL_SITE")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(script: &str, limit: Duration) -> Reply {
        call("sh", &["-c".into(), script.into()], None, limit)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_reply_has_all_that_was_said() {
        let reply = shell("echo out; echo a >&2; echo b >&2; exit 3", LONG);
        assert_eq!((reply.status, &*reply.stdout, &*reply.complaint()), (Some(3), "out\n", "a; b"));
        assert_eq!(shell("exit 4", LONG).complaint(), "it ended with status 4 and said nothing");
        assert_eq!(shell("kill -9 $$", LONG).complaint(), "it was killed");
        assert!(shell("exit 0", LONG).is_well());
        let missing = call("no-such-program-anywhere", &[], None, LONG);
        assert!(missing.status.is_none() && missing.complaint().contains("cannot be run"), "{missing:?}");
    }

    #[test]
    fn nothing_hangs() {
        let began = Instant::now();
        let reply = shell("sleep 1000", Duration::from_millis(300));
        assert!(!reply.is_well() && reply.complaint().contains("did not answer"), "{reply:?}");
        // what it has started keeps its streams open
        let reply = shell("sleep 20 & echo said; exec sleep 1000", Duration::from_millis(300));
        assert!(!reply.is_well(), "{reply:?}");
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    }

    #[test]
    fn what_belongs_to_a_job_does_not_leak() {
        assert!(leaks(OsStr::new("SLURM_JOB_ID")) && leaks(OsStr::new("SBATCH_PARTITION")) && leaks(OsStr::new("PMI_RANK")));
        assert!(!leaks(OsStr::new("SLURM_CONF")) && !leaks(OsStr::new("PATH")) && !leaks(OsStr::new("OMP_NUM_THREADS")));
    }
}
