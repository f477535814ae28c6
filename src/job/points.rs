//! Places where a test has this process killed, as a machine that fails would.
//!
//! In builds with debug assertions, `SCL_TEST_KILL=run:17` kills the driver the 17th time that it comes to such a place, and
//! `SCL_TEST_KILL=exec:3` each job the third time. In other builds there is nothing of this.

/// A place between two steps of which the first may be the last.
#[inline]
pub fn point() {
    #[cfg(debug_assertions)]
    armed::pass();
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    static PASSED: AtomicU64 = AtomicU64::new(0);

    /// At which place, when this process is meant.
    static FATAL: LazyLock<Option<u64>> = LazyLock::new(|| {
        let order = std::env::var("SCL_TEST_KILL").ok()?;
        let (command, place) = order.split_once(':')?;
        if std::env::args().nth(1)? == command { place.parse().ok() } else { None }
    });

    pub fn pass() {
        if let Some(fatal) = *FATAL
            && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == fatal
        {
            // nobody outlives this signal
            let _ = kill(Pid::this(), Signal::SIGKILL);
        }
    }
}
