//! The naming rules for all inputs: allowed field names, and the column that stores each field.
//!
//! Delta Lake allows no two columns that differ only by case, so a field whose name matches another column's in another
//! case gets its own column, `NAME_case`: fields never mix, and none is refused.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Returns a name in Unicode normal form C, so that names that look the same are the same.
pub fn normal(name: &str) -> Cow<'_, str> {
    if name.is_ascii() || is_nfc_quick(name.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.nfc().collect())
}

/// A key equal for all names that some reader may confuse: readers differ in how they ignore case.
fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let lower = name.nfc().flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

#[derive(Debug, Clone, Default)]
pub struct ColumnNames {
    by_fold: HashMap<String, String>,
}

impl ColumnNames {
    /// Adds the name of an existing column. Of two that differ only by case, as other writers may create, the first
    /// counts.
    pub fn insert(&mut self, column: &str) {
        self.by_fold.entry(folded(column)).or_insert_with(|| column.to_owned());
    }

    /// Whether a column of exactly this name exists, or can be added.
    pub fn allows(&self, column: &str) -> bool {
        self.by_fold.get(&folded(column)).is_none_or(|have| have == column)
    }

    /// Returns the distinct columns for the fields of some rows, in their order, and adds their names. A field has the
    /// column of its own name, or, if a column has that name in another case, `NAME_case`, `NAME_case2` and so on.
    pub fn resolve(&mut self, fields: &[&str]) -> Vec<String> {
        let mut used = HashSet::new();
        let mut columns: Vec<Option<String>> = fields
            .iter()
            .map(|field| {
                let name = normal(field);
                if !self.allows(&name) || used.contains(name.as_ref()) {
                    return None;
                }
                self.insert(&name);
                used.insert(name.to_string());
                Some(name.into_owned())
            })
            .collect();
        // Exact names have their columns by now, so no other field takes them.
        for (field, column) in fields.iter().zip(&mut columns).filter(|(_, column)| column.is_none()) {
            let name = self.beside(&normal(field), |name| used.contains(name));
            self.insert(&name);
            used.insert(name.clone());
            *column = Some(name);
        }
        columns.into_iter().flatten().collect()
    }

    fn beside(&self, name: &str, used: impl Fn(&str) -> bool) -> String {
        let mut number = 1;
        loop {
            let other = if number == 1 { format!("{name}_case") } else { format!("{name}_case{number}") };
            if self.allows(&other) && !used(&other) {
                return other;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(have: &[&str], fields: &[&str]) -> Vec<String> {
        let mut names = ColumnNames::default();
        have.iter().for_each(|name| names.insert(name));
        names.resolve(fields)
    }

    #[test]
    fn names_in_another_case_get_columns_of_their_own() {
        assert_eq!(resolve(&["time", "load"], &["load", "host"]), ["load", "host"]);
        assert_eq!(resolve(&["time", "load"], &["Load", "Time"]), ["Load_case", "Time_case"]);
        assert_eq!(resolve(&[], &["Load", "load", "LOAD"]), ["Load", "load_case", "LOAD_case2"]);
        assert_eq!(resolve(&["load", "Load_case"], &["Load"]), ["Load_case"]);
        assert_eq!(resolve(&["load", "Load_case"], &["LOAD"]), ["LOAD_case2"]);
    }

    #[test]
    fn exact_names_come_before_derived_ones() {
        assert_eq!(resolve(&["load"], &["Load", "Load_case"]), ["Load_case2", "Load_case"]);
        assert_eq!(resolve(&["Load"], &["load", "Load"]), ["load_case", "Load"]);
    }

    #[test]
    fn unicode_case_and_composition_are_seen() {
        assert_eq!(resolve(&["größe"], &["GRÖSSE", "gro\u{308}ße"]), ["GRÖSSE_case", "größe"]);
        assert_eq!(resolve(&["σ"], &["ς"]), ["ς_case"]);
        assert_eq!(resolve(&["k"], &["\u{212a}"]), ["K_case"]);
        assert_eq!(resolve(&["é"], &["e\u{301}", "E\u{301}"]), ["é", "É_case"]);
    }
}
