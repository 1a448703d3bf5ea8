//! Conditions that the variants must meet; otherwise the benchmark fails.

use std::collections::BTreeMap;

use serde::Serialize;

use super::insert::VariantFigures;
use super::pass::Stored;
use crate::harness::bars::Grade;

/// A condition and its measured figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gate {
    /// The compared figures.
    pub name: String,
    pub status: Grade,
    pub value: f64,
    pub limit: f64,
    pub detail: String,
}

/// Distinct values from which a Bloom filter is worthwhile.
const DISTINCT_MIN: f64 = 1000.0;

/// All gates: on the stored content after the first pass and the second (`again`), the inserts of the first pass, and
/// the distinct values of columns.
pub(crate) fn gates(
    expected: &Stored,
    stored: &BTreeMap<&'static str, Stored>,
    again: &BTreeMap<&'static str, Stored>,
    inserts: &BTreeMap<&'static str, VariantFigures>,
    distinct: &BTreeMap<&'static str, u64>,
) -> Vec<Gate> {
    let mut gates = vec![
        same("rows of every variant", stored, expected.rows as f64, |s| s.rows == expected.rows),
        same("content of every variant", stored, 0.0, |s| s.hash == expected.hash),
        same("rows of every variant, with indexes", again, expected.rows as f64, |s| s.rows == expected.rows),
        same("content of every variant, with indexes", again, 0.0, |s| s.hash == expected.hash),
    ];
    let bytes = |variant: &str| stored.get(variant).map(|s| s.bytes as f64);
    let speed = |variant: &str| inserts.get(variant).map(|f| f.rows_per_s);
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?.max(1.0));
    gates.extend(ratio(bytes("pruned"), bytes("column")).map(|r| at_most("size, pruned to column", r, 1.20, 1.40)));
    gates.extend(
        ratio(bytes("clustered"), bytes("pruned")).map(|r| at_most("size, clustered to pruned", r, 1.40, 1.60)),
    );
    gates.extend(
        ratio(speed("clustered"), speed("row")).map(|r| at_least("insert speed, clustered to row", r, 0.50, 0.30)),
    );
    gates.extend(distinct.iter().map(|(column, n)| {
        // A useless filter only wastes space, so it never fails the benchmark.
        let gate = at_least(&format!("distinct values of {column}"), *n as f64, DISTINCT_MIN, 0.0);
        Gate { detail: "counted exactly; a Bloom filter pays from 1,000 on".to_owned(), ..gate }
    }));
    gates
}

fn same(name: &str, stored: &BTreeMap<&'static str, Stored>, limit: f64, is_same: impl Fn(&Stored) -> bool) -> Gate {
    let different: Vec<String> =
        stored.iter().filter(|(_, s)| !is_same(s)).map(|(n, s)| format!("{n}: {} rows, {}", s.rows, s.hash)).collect();
    let (name, value) = (name.to_owned(), different.len() as f64);
    if different.is_empty() {
        return Gate { name, status: Grade::Pass, value: limit, limit, detail: "as generated".to_owned() };
    }
    Gate { name, status: Grade::Fail, value, limit, detail: different.join("; ") }
}

fn at_most(name: &str, value: f64, pass: f64, warn: f64) -> Gate {
    let detail = format!("passes below {pass}, warns below {warn}");
    Gate { name: name.to_owned(), status: grade(value < pass, value < warn), value, limit: pass, detail }
}

fn at_least(name: &str, value: f64, pass: f64, warn: f64) -> Gate {
    let detail = format!("passes from {pass}, warns from {warn}");
    Gate { name: name.to_owned(), status: grade(value >= pass, value >= warn), value, limit: pass, detail }
}

fn grade(passes: bool, nearly: bool) -> Grade {
    match (passes, nearly) {
        (true, _) => Grade::Pass,
        (false, true) => Grade::Warn,
        (false, false) => Grade::Fail,
    }
}

#[cfg(test)]
mod tests {
    use world::ContentHash;

    use super::*;

    #[test]
    fn a_gate_says_what_it_found() {
        let statuses = |f: fn(f64) -> Gate| [1.0, 1.3, 1.5].map(|v| f(v).status);
        assert_eq!(statuses(|v| at_most("a", v, 1.2, 1.4)), [Grade::Pass, Grade::Warn, Grade::Fail]);
        assert_eq!(statuses(|v| at_least("a", v, 1.5, 1.2)), [Grade::Fail, Grade::Warn, Grade::Pass]);
    }

    #[test]
    fn a_lost_or_changed_row_fails() {
        let good = Stored { rows: 10, bytes: 100, lookup_bytes: 0, hash: ContentHash(7) };
        let status = |other: Stored| {
            let stored = BTreeMap::from([("column", good), ("pruned", other)]);
            let gates = gates(&good, &stored, &BTreeMap::new(), &BTreeMap::new(), &BTreeMap::new());
            [gates[0].status, gates[1].status]
        };
        assert_eq!(status(good), [Grade::Pass; 2]);
        assert_eq!(status(Stored { rows: 9, ..good }), [Grade::Fail, Grade::Pass]);
        assert_eq!(status(Stored { hash: ContentHash(8), ..good }), [Grade::Pass, Grade::Fail]);
    }
}
