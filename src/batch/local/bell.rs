//! Learning at once that a child of this process may have ended.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::thread;

use signal_hook::SigId;
use signal_hook::consts::SIGCHLD;
use signal_hook::low_level::{pipe, unregister};

use crate::batch::Waker;

/// Tells someone of each such signal until it is dropped.
#[derive(Debug)]
pub(super) struct Bell {
    signal: SigId,
}

impl Bell {
    /// A thread tells, since little can be done while a signal is handled.
    pub(super) fn hang(waker: Waker) -> io::Result<Self> {
        let (mut heard, rung) = UnixStream::pair()?;
        let ring = move || {
            let mut strokes = [0; 64];
            while heard.read(&mut strokes).is_ok_and(|count| count > 0) {
                waker();
            }
        };
        // when the signal is not handled any more the other end of the stream is gone, and the thread ends
        let bell = Bell { signal: pipe::register(SIGCHLD, rung)? };
        thread::Builder::new().name("scl-children".to_owned()).spawn(ring)?;
        Ok(bell)
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        unregister(self.signal);
    }
}
