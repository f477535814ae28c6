//! Files in memory without reading them: the kernel brings what is looked at, and takes it back when it needs the room.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file of a value whose bytes stay where they are.
pub fn map(path: &Path) -> io::Result<Mmap> {
    // SAFETY: The bytes must not change while they are mapped. A file of a value is written once: a result by the process that took its
    // attempt, which nobody takes again, before the manifest names it; an input in a directory that is being prepared, before that gets
    // its name, or under a temporary name when it has to be written again. After that this program gives it other names, or removes
    // names, and the bytes live on as long as they are mapped. Whoever writes into the store from outside meets the checksum, which
    // is looked at before the bytes are used; should someone shorten a file while it is mapped, the process ends by a signal, which
    // its driver, or the next run, takes for what it is.
    unsafe { Mmap::map(&File::open(path)?) }
}
