//! The `scl` command.

fn main() -> std::process::ExitCode {
    scl::cli::main()
}
