//! The one crate of integration tests: golden folders, rules of the house, properties, and the real binary.
//!
//! A golden folder holds cases, `name.scl`, each beside what it must give, `name.expected`. `BLESS=1 cargo test` writes the latter anew;
//! the difference is for review.

// a test that is skipped says so
#![allow(clippy::print_stderr)]

#[path = "harness/binary.rs"]
mod binary;
#[path = "harness/care.rs"]
mod care;
#[path = "harness/cascades.rs"]
mod cascades;
#[path = "harness/examples.rs"]
mod examples;
#[path = "harness/exercise.rs"]
mod exercise;
#[path = "harness/explain.rs"]
mod explain;
#[path = "harness/format.rs"]
mod format;
#[path = "harness/fuzz.rs"]
mod fuzz;
#[path = "harness/golden.rs"]
mod golden;
#[path = "harness/hostile.rs"]
mod hostile;
#[path = "harness/house.rs"]
mod house;
#[path = "harness/jobs.rs"]
mod jobs;
#[path = "harness/keys.rs"]
mod keys;
#[path = "harness/plan.rs"]
mod plan;
#[path = "harness/programs.rs"]
mod programs;
#[path = "harness/records.rs"]
mod records;
#[path = "harness/recovery.rs"]
mod recovery;
#[path = "harness/robust.rs"]
mod robust;
#[path = "harness/session.rs"]
mod session;
#[path = "harness/site.rs"]
mod site;
#[path = "harness/slurm.rs"]
mod slurm;
#[path = "harness/straits.rs"]
mod straits;
#[path = "harness/syntax.rs"]
mod syntax;
#[path = "harness/terminal.rs"]
mod terminal;

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let rooms = [
        syntax::trials(),
        format::trials(),
        programs::trials(),
        cascades::trials(),
        house::trials(),
        robust::trials(),
        jobs::trials(),
        recovery::trials(),
        hostile::trials(),
        records::trials(),
        keys::trials(),
        site::trials(),
        plan::trials(),
        care::trials(),
        straits::trials(),
        examples::trials(),
        fuzz::trials(),
        explain::trials(),
        session::trials(),
        terminal::trials(),
        slurm::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, rooms.into_iter().flatten().collect());
    slurm::stop();
    conclusion.exit_code()
}
