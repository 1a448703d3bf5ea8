//! The naming rules for all inputs: allowed field names, and the column that stores each field.
//!
//! Delta Lake allows no two columns that differ only by case, so a field whose name matches another column's in another
//! case gets its own column, `NAME_case`: fields never mix, and none is refused.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::error::DecodeError;
use super::limits::Limits;
use super::refusal::{Taken, refuse, refuse_field};

/// The time column of each row.
pub const TIME: &str = "time";
/// The column of the nanoseconds past the microsecond in [`TIME`]: 0 to 999; NULL or 0 for none.
pub const TIME_NANOS: &str = "time_nanos";
/// Why a sender's own column cannot have that name.
pub(crate) const NANOS_TWICE: &str =
    "the name is for the nanoseconds of the row's time, which has some: give the field another";

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

/// Returns the name of the overflow column of the column `name`, which takes values that do not fit as text:
/// `NAME_text`, with further `_text` suffixes while the name is taken.
///
/// A name is taken if the row has a value of its own under it, or a column of that name does not hold text. All code
/// that fits rows to columns calls this function, so that the names agree.
pub fn overflow_name(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut overflow = format!("{name}_text");
    while taken(&overflow) {
        overflow.push_str("_text");
    }
    overflow
}

pub(crate) fn check_name(name: &[u8], limits: &Limits) -> Taken<()> {
    if name.len() > limits.name_bytes_max {
        let shown = &name[..limits.name_bytes_max.min(32)];
        let reason = format!("the name has {} bytes, where {} are allowed", name.len(), limits.name_bytes_max);
        return refuse_field(shown, reason);
    }
    match std::str::from_utf8(name) {
        Ok("") => refuse("a field has no name"),
        Ok(TIME) => refuse_field(name, "the name `time` is the row's own time: give the field another"),
        Ok(text) if text.chars().any(char::is_control) => refuse_field(name, "the name has control characters"),
        Ok(_) => Ok(()),
        Err(_) => refuse_field(name, "the name is not valid UTF-8"),
    }
}

/// Checks a table's name and returns its Unicode normal form; an error says why it is invalid.
pub(crate) fn check_table_name<'n>(name: &'n [u8], limits: &Limits) -> Result<Cow<'n, str>, String> {
    let fits = |name: &[u8]| match name.len() {
        bytes if bytes > limits.table_bytes_max => {
            Err(format!("it has {bytes} bytes, where {} are allowed", limits.table_bytes_max))
        }
        _ => Ok(()),
    };
    fits(name)?;
    let name = match std::str::from_utf8(name) {
        Err(_) => return Err("it is not valid UTF-8".to_owned()),
        Ok("") => return Err("it is empty".to_owned()),
        Ok(text) if text.chars().any(char::is_control) => return Err("it has control characters".to_owned()),
        Ok(text) => normal(text),
    };
    // The normal form of some letters is longer.
    fits(name.as_bytes())?;
    Ok(name)
}

/// As [`check_table_name`], for the table of a whole body.
pub(crate) fn body_table<'n>(name: &'n str, limits: &Limits) -> Result<Cow<'n, str>, DecodeError> {
    check_table_name(name.as_bytes(), limits).map_err(|reason| DecodeError::TableName { name: name.to_owned(), reason })
}

/// A name that stands twice among `names`, in one form or in two.
pub(crate) fn repeated<'n>(names: impl Iterator<Item = &'n [u8]>) -> Option<&'n [u8]> {
    let form = |name: &'n [u8]| match std::str::from_utf8(name).map(normal) {
        Ok(Cow::Owned(name)) => Cow::Owned(name.into_bytes()),
        _ => Cow::Borrowed(name),
    };
    let mut names: Vec<(Cow<'_, [u8]>, &[u8])> = names.map(|name| (form(name), name)).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1)
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
