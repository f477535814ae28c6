//! Reads bytes as everything that scl reads besides programs.

#![no_main]

#[path = "../../harness/exercise.rs"]
#[allow(dead_code, reason = "each target uses one of its functions")]
mod exercise;

libfuzzer_sys::fuzz_target!(|data: &[u8]| exercise::deep(|| exercise::decode(data)));
