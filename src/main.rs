//! The `scl` command.

fn main() {}
