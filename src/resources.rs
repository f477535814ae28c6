//! What a task asks for: cores, memory per core, walltime.
//!
//! The annotation `for TIME on N cores with MEMORY` becomes a [`Request`] here, and stays one until a batch system's own language
//! needs text: quantities are typed, exact (whole bytes, whole nanoseconds) and valid by construction.

pub use annotation::request;
pub use request::{Impossible, Information, Request, Time, show_memory, show_time};

mod annotation;
mod decimal;
mod request;
