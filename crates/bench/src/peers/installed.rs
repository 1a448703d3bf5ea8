//! A peer on this machine.

use std::path::PathBuf;

use serde::Serialize;

/// A peer that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Installed {
    pub version: String,
    /// Its program or archive; Python, if it is a Python package.
    pub program: PathBuf,
}

/// The first word that begins with digits and a dot.
pub(super) fn version(printed: &str) -> Option<String> {
    let words = printed.split(|c: char| c.is_whitespace() || c == '-' || c == ',');
    let mut words = words.map(|word| word.trim_start_matches('v'));
    let is_version = |word: &&str| {
        word.split_once('.').is_some_and(|(first, rest)| {
            !first.is_empty()
                && first.bytes().all(|b| b.is_ascii_digit())
                && rest.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    words.find(is_version).map(str::to_owned)
}
