//! Jobs of a Slurm cluster.

pub use lower::{Lowered, Memory, show_minutes};
pub use script::{Batch, UNPREPARED, job_name, script, tag, within};

mod lower;
mod script;
