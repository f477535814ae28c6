//! SCL: a small declarative workflow language with physical units.

pub mod batch;
pub mod builtin;
pub mod check;
pub mod cli;
pub mod diagnostic;
pub mod eval;
pub mod graph;
pub mod io;
pub mod job;
pub mod model;
pub mod ops;
pub mod report;
pub mod resources;
pub mod run;
pub mod session;
pub mod site;
pub mod source;
pub mod store;
pub mod syntax;
pub mod units;
pub mod value;
pub mod worker;
