//! Where the inputs of earlier sessions are kept.

use std::ffi::OsString;
use std::path::PathBuf;

/// The file of the history: `scl/history` in `$XDG_STATE_HOME`, or else in `~/.local/state`. `None` when there is no home. As the
/// specification of these variables wants it, a relative directory counts as none.
pub fn history_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("scl/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_where_the_specification_wants_it() {
        let with = |pairs: &'static [(&str, &str)]| {
            history_file(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value)))
        };
        assert_eq!(with(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/scl/history".into()));
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/state/scl/history".into()));
        assert_eq!(with(&[("XDG_STATE_HOME", "s"), ("HOME", "/h")]), Some("/h/.local/state/scl/history".into()));
        assert_eq!(with(&[("XDG_STATE_HOME", "")]), None);
    }
}
