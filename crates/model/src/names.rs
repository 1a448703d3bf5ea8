//! Unknown names, reported with suggestions.

use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {:?}{}", shown(name), self.advice())]
pub struct UnknownName {
    /// The subject of the message: `no entity`, `a game has no outcome`.
    pub what: String,
    pub name: String,
    /// Similar names, the most similar first.
    pub nearest: Vec<String>,
    /// All valid names, if they are few.
    pub have: Vec<String>,
}

impl UnknownName {
    /// Reports `name` as missing from `names`.
    pub fn new<'a>(what: impl Into<String>, name: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        const LISTED_MAX: usize = 12;
        let mut seen = HashSet::new();
        let mut names: Vec<&str> = names.into_iter().filter(|name| seen.insert(*name)).collect();
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        // The time of a comparison grows with the product of both lengths. Names this long are not typing errors.
        let nearest = if name.len() > COMPARED_BYTES_MAX { Vec::new() } else { owned(nearest(name, &names)) };
        if names.len() > LISTED_MAX {
            names.clear();
        }
        Self { what: what.into(), name: name.to_owned(), nearest, have: owned(names) }
    }

    /// The end of the message: `; did you mean a, b?`, or a list of the valid names.
    pub fn advice(&self) -> String {
        match (&self.nearest[..], &self.have[..]) {
            ([], []) => String::new(),
            ([], have) => format!("; there are: {}", have.join(", ")),
            (nearest, _) => format!("; did you mean {}?", nearest.join(", ")),
        }
    }
}

/// Maximum length in bytes of a name that may be a misspelling.
const COMPARED_BYTES_MAX: usize = 256;

/// The start of a name, for messages.
fn shown(name: &str) -> &str {
    &name[..name.floor_char_boundary(COMPARED_BYTES_MAX)]
}

/// Up to three of `names` that are similar to `name`, the most similar first.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Vec<&'a str> {
    const LIKENESS_MIN: f64 = 0.72;
    let mut near: Vec<(f64, &str)> = names
        .iter()
        .map(|n| (strsim::jaro_winkler(name, n), *n))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(3).map(|(_, n)| n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_told_else_all_where_they_are_few() {
        let said = |name: &str, names: &[&str]| {
            UnknownName::new("a game has no outcome", name, names.iter().copied()).to_string()
        };
        let names = ["home_points", "home_punts", "away_points"];
        assert_eq!(
            said("home_poins", &names),
            "a game has no outcome \"home_poins\"; did you mean home_points, home_punts?"
        );
        assert_eq!(said("x", &names), "a game has no outcome \"x\"; there are: home_points, home_punts, away_points");
        let many: Vec<String> = (0..13).map(|place| format!("home_{place}")).collect();
        assert_eq!(said("x", &many.iter().map(String::as_str).collect::<Vec<_>>()), "a game has no outcome \"x\"");
        let twice = ["home_points", "home_points", "y"];
        assert_eq!(said("home_point", &twice), "a game has no outcome \"home_point\"; did you mean home_points?");
        assert_eq!(said("x", &twice), "a game has no outcome \"x\"; there are: home_points, y");
        assert_eq!(said("x", &[]), "a game has no outcome \"x\"");
        let long = "home_points".repeat(100_000);
        assert!(said(&long, &names).len() < 400);
    }
}
