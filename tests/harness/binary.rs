//! The real binary, started as users start it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::Failed;
use tempfile::TempDir;

/// A directory of its own for a program and what comes of it.
pub struct Place {
    folder: TempDir,
}

/// What a run of the binary gave.
#[derive(Debug)]
pub struct Ran {
    /// The exit status; `None` after a signal.
    pub code: Option<i32>,
    /// All of it.
    pub stdout: String,
    /// All of it.
    pub stderr: String,
}

impl Place {
    /// An empty one.
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().expect("a temporary directory") }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).expect("the directory can be written");
        path
    }

    /// The binary, to be started in it. It heeds signals also when the tests were started by something that ignores them (`nohup`, a
    /// background job of a script), which it would inherit.
    pub fn scl(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP,INT,QUIT,TERM", env!("CARGO_BIN_EXE_scl")]).args(arguments);
        command.current_dir(self.path()).stdin(Stdio::null()).env_remove("NO_COLOR");
        // the user's own configuration is none of the tests' business
        command.env("XDG_CONFIG_HOME", self.path().join("config")).env_remove("SCL_SITE").env_remove("SLURM_CONF");
        command
    }

    /// Runs the binary to its end.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.scl(arguments).output().expect("the binary starts"))
    }

    /// Runs a text in deferred mode.
    pub fn deferred(&self, program: impl AsRef<[u8]>) -> Ran {
        self.write("program.scl", program);
        self.run(&["run", "--mode", "deferred", "program.scl"])
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Ran {
    /// It went well and printed just this.
    pub fn prints(&self, stdout: &str) -> Result<(), Failed> {
        self.ends(0, stdout, &[])
    }

    /// It went well and printed all of this, among other things.
    pub fn prints_some(&self, parts: &[&str]) -> Result<(), Failed> {
        match parts.iter().find(|part| !self.stdout.contains(**part)) {
            None if self.code == Some(0) => Ok(()),
            missing => Err(format!("no {missing:?} in {self:?}").into()),
        }
    }

    /// Nothing ran, and stderr says all of this.
    pub fn is_refused(&self, says: &[&str]) -> Result<(), Failed> {
        self.ends(2, "", says)
    }

    /// The exit status, the whole of stdout, parts of stderr.
    pub fn ends(&self, code: i32, stdout: &str, says: &[&str]) -> Result<(), Failed> {
        let missing = says.iter().find(|part| !self.stderr.contains(**part));
        if self.code == Some(code) && self.stdout == stdout && missing.is_none() {
            return Ok(());
        }
        let clip = |text: &str| text.chars().take(3000).collect::<String>();
        let wanted = format!("wanted status {code}, stdout {:?}, stderr with {says:?}", clip(stdout));
        Err(format!("{wanted}\ngot {:?}\nstdout {:?}\nstderr\n{}", self.code, clip(&self.stdout), clip(&self.stderr)).into())
    }
}
