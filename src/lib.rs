//! SCL: a small declarative workflow language with physical units.

/// Says a line on stderr. Nobody may be there to read it, or no room to keep it: that ends neither a driver, which has jobs to look after,
/// nor a job, which has limits to keep to.
macro_rules! complain {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

/// The same for lines that are whole already.
macro_rules! complain_as_is {
    ($text:expr) => {{
        use std::io::Write as _;
        let _ = std::io::stderr().write_all($text.as_bytes());
    }};
}

pub mod batch;
pub mod builtin;
pub mod check;
pub mod cli;
pub mod diagnostic;
pub mod eval;
pub mod graph;
pub mod hash;
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
