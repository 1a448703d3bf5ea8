//! What a program must know to read an ensemble, or to change it.
//!
//! A row of `sim.ensembles` lists needs, such as `write:extension`. A program that does not know one of them leaves the
//! ensemble alone: those that begin with `write:` concern only programs that add worlds, all others also readers.

use std::collections::BTreeSet;

use crate::error::EnsembleError;

/// The ensemble was extended: its ranges may begin anywhere, and a program that resumes it fills the gaps between them.
pub(crate) const EXTENSION: &str = "write:extension";

/// Event columns hold differences from expected values.
pub(crate) const COMPACT: &str = "compact";

/// The needs that this program knows.
const KNOWN: [&str; 2] = [EXTENSION, COMPACT];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs(BTreeSet<String>);

impl Needs {
    /// Reads a list with commas.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.split(',').map(str::trim).filter(|need| !need.is_empty()).map(str::to_owned).collect())
    }

    /// The list with commas; `None` if it is empty.
    pub(crate) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.iter().map(String::as_str).collect::<Vec<_>>().join(","))
    }

    #[must_use]
    pub(crate) fn with(mut self, need: &str) -> Self {
        self.0.insert(need.to_owned());
        self
    }

    /// Checks that this program knows enough for an access to the ensemble `name`.
    pub(crate) fn check(&self, name: &str, access: Access) -> Result<(), EnsembleError> {
        let concerns = |need: &&String| access == Access::Write || !need.starts_with("write:");
        let lacks = self.0.iter().filter(concerns).filter(|need| !KNOWN.contains(&need.as_str()));
        let lacks: Vec<String> = lacks.map(|need| format!("{need:?}")).collect();
        if lacks.is_empty() {
            return Ok(());
        }
        let action = match access {
            Access::Read => "read",
            Access::Write => "change",
        };
        Err(EnsembleError::Newer { name: name.to_owned(), action, lacks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_needs_are_refused() {
        let said = |text: &str, access| Needs::parse(text).check("season", access).err().map(|error| error.to_string());
        for access in [Access::Read, Access::Write] {
            assert_eq!(said("", access), None);
            assert_eq!(said("compact,write:extension", access), None);
        }
        assert_eq!(said("write:extension, write:zones", Access::Read), None);
        let refused = |action, lacks| {
            Some(format!(
                "cannot {action} ensemble \"season\": a newer version of this program stored it with {lacks}, which this \
                 version does not know; update this program"
            ))
        };
        assert_eq!(said("write:zones,write:extension", Access::Write), refused("change", "\"write:zones\""));
        assert_eq!(said("b,write:a", Access::Read), refused("read", "\"b\""));
        assert_eq!(said("b,write:a", Access::Write), refused("change", "\"b\" and \"write:a\""));
    }

    #[test]
    fn needs_are_a_sorted_list() {
        let needs = Needs::parse("write:zones").with(EXTENSION).with(EXTENSION);
        assert_eq!(needs.text().as_deref(), Some("write:extension,write:zones"));
        assert_eq!(Needs::parse(&needs.text().unwrap()), needs);
        assert_eq!(Needs::default().text(), None);
    }
}
