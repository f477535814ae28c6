//! The loops of a program in the widest vectors that the processor has, a place with `unsafe`.
//!
//! The program is built for any processor of its family; on one that has AVX2 the same loops run in a second copy that was compiled for
//! it. Both give the same bits: nothing is reordered, and no multiplication is fused with an addition.

#![allow(unsafe_code)]

use super::execute::Machine;

/// Computes all registers of a slice.
#[cfg(target_arch = "x86_64")]
pub fn run(machine: &mut Machine, start: usize, len: usize) {
    if is_x86_feature_detected!("avx2") {
        // SAFETY: The processor has the instructions.
        unsafe { run_avx2(machine, start, len) }
    } else {
        machine.run_here(start, len);
    }
}

/// Computes all registers of a slice.
#[cfg(not(target_arch = "x86_64"))]
pub fn run(machine: &mut Machine, start: usize, len: usize) {
    machine.run_here(start, len);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(machine: &mut Machine, start: usize, len: usize) {
    machine.run_here(start, len);
}
