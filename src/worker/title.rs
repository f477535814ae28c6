//! What a process is called in the list of processes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Error, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// The part of this process's memory where the system reads the arguments that it was called with, the first one (its own name) left
/// out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Title {
    place: u64,
    room: usize,
}

impl Title {
    /// Where it is in this process.
    pub(super) fn find() -> io::Result<Self> {
        let stat = fs::read("/proc/self/stat")?;
        let arguments = fs::read("/proc/self/cmdline")?;
        parse(&stat, &arguments).ok_or_else(|| Error::from(ErrorKind::InvalidData))
    }

    /// Has this process, which may be a copy of the one where the place was found, look as if it had been called with other arguments.
    pub(super) fn set(self, arguments: &[&OsStr]) -> io::Result<()> {
        let mut text = arguments.join(OsStr::new("\0")).as_bytes().to_vec();
        if text.len() >= self.room {
            return Err(Error::from(ErrorKind::InvalidInput));
        }
        // the last byte is to be zero, or the system reads on
        text.resize(self.room, 0);
        File::options().write(true).open("/proc/self/mem")?.write_all_at(&text, self.place)
    }
}

/// `pid (name) state … arg_start arg_end …`, where the name may hold anything, and the arguments with a zero after each.
fn parse(stat: &[u8], arguments: &[u8]) -> Option<Title> {
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let mut rest = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace().skip(45).map(str::parse::<u64>);
    let (start, end) = (rest.next()?.ok()?, rest.next()?.ok()?);
    let name = u64::try_from(arguments.iter().position(|byte| *byte == 0)? + 1).ok()?;
    let place = start.checked_add(name).filter(|_| start > 0)?;
    Some(Title { place, room: usize::try_from(end.checked_sub(place)?).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_after_the_own_name() {
        let fields: Vec<String> = (3..=52).map(|field| (field * 100).to_string()).collect();
        let stat = format!("7 (a) b) {}\n", fields.join(" "));
        let title = parse(stat.as_bytes(), b"scl\0serve\0").expect("a place");
        assert_eq!((title.place, title.room), (4804, 96));
        assert!(parse(b"7 (a) S 1", b"scl\0").is_none() && parse(stat.as_bytes(), b"").is_none());
        assert!(title.set(&[OsStr::new(&"x".repeat(96))]).is_err());
    }
}
