use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use pages::{Codes, Dictionary};

use crate::column::{Column, Kind, Values};
use crate::error::AskError;

const NAMES: [&str; 6] = ["n", "x", "host", "flag", "tags", "time"];
const KINDS: [Kind; 6] = [Kind::Int, Kind::Float, Kind::Text, Kind::Bool, Kind::Set, Kind::Time];

fn bound(text: &str) -> Cond {
    let names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    let binder = Binder { names: &names, kinds: &KINDS, text, what: "condition" };
    binder.bind(&parse(text, "condition").unwrap(), false).unwrap()
}

struct Memory(HashMap<usize, Column>);

impl Rows for Memory {
    fn rows(&self) -> usize {
        5
    }

    fn column(&mut self, column: usize) -> Result<&Column, AskError> {
        Ok(&self.0[&column])
    }
}

/// Five rows; the last is NULL in every column.
fn rows() -> Memory {
    let mut dictionary = Dictionary::default();
    ["alpha", "beta"].iter().for_each(|word| dictionary.push(word));
    let dictionary = Arc::new(dictionary);
    let values = [
        Values::Ints(vec![i64::MIN, -1, 3, i64::MAX, 0]),
        Values::Floats(vec![f64::NEG_INFINITY, 0.0, 2.5, f64::NAN, 0.0]),
        Values::Texts { codes: Codes::U8(vec![0, 1, 0, 1, 2]), dictionary: dictionary.clone() },
        Values::Ints(vec![0, 1, 0, 1, 0]),
        Values::Sets { ends: vec![0, 1, 3, 4, 4], codes: vec![0, 0, 1, 1], dictionary },
        Values::Ints(vec![0, 1_000_000, 2_000_000, 3_000_000, 0]),
    ];
    let valid = Some(vec![true, true, true, true, false]);
    Memory(values.into_iter().map(|values| Column { values, valid: valid.clone() }).enumerate().collect())
}

fn matching(text: &str) -> Vec<usize> {
    let mask = bound(text).mask(&mut rows()).unwrap();
    (0..5).filter(|row| mask[*row]).collect()
}

#[test]
fn conditions_match_expected_rows() {
    for (text, rows) in [
        ("n > 2.5", vec![2, 3]),
        ("n >= 3 and n <= 3.9", vec![2]),
        ("n < -9223372036854775807", vec![0]),
        ("n != 3", vec![0, 1, 3]),
        ("3 = n", vec![2]),
        ("n IN (3, -1, 2.5)", vec![1, 2]),
        ("n NOT IN (3, NULL)", vec![]),
        ("NOT n IN (3)", vec![0, 1, 3]),
        ("n = 2.5 OR n != 2.5", vec![0, 1, 2, 3]),
        ("x > 1000", vec![3]),
        ("x = -0.0", vec![1]),
        ("NOT x <= 2.5", vec![3]),
        ("x IN (2.5, 7)", vec![2]),
        ("n + 1 = x * 0 + 4", vec![2]),
        ("n * n > 9", vec![0, 3]),
        ("n / 2 = 1.5", vec![2]),
        ("-n > -3 AND n > 0 - 2", vec![1]),
        ("n > x", vec![0, 2]),
        ("abs(n) < 4", vec![1, 2]),
        ("min(n, x) = 2.5 or max(n, 1) = 1", vec![0, 1, 2, 4]),
        ("host = 'alpha'", vec![0, 2]),
        ("host ~ '^b' OR flag", vec![1, 3]),
        ("host !~ 'a$'", vec![]),
        ("host > 'alpha'", vec![1, 3]),
        ("NOT flag", vec![0, 2]),
        ("flag = true", vec![1, 3]),
        ("tags HAS 'alpha'", vec![1, 2]),
        ("tags NOT HAS 'alpha'", vec![0, 3]),
        ("host IS NULL", vec![4]),
        ("NOT (host IS NULL OR n > 0)", vec![0, 1]),
        ("NOT (host = 'alpha' AND n > 0)", vec![0, 1, 3]),
        ("time >= '1970-01-01T00:00:02Z'", vec![2, 3]),
        ("time < '1970-01-01 00:00:01'", vec![0]),
        ("host = NULL", vec![]),
        ("true AND (n = 3)", vec![2]),
        ("((n)) = 3 AND (flag OR (n + 1) > 1)", vec![2]),
        ("\"host\" = 'al''pha' OR false", vec![]),
    ] {
        assert_eq!(matching(text), rows, "{text}");
    }
}

#[test]
fn conditions_translate_to_sql() {
    for (text, sql) in [
        ("n>1 and not host='it''s'", "(n > 1) AND (NOT (host = 'it''s'))"),
        ("tags not has 'a' or host !~ 'b'", "(NOT array_has(tags, 'a')) OR (host !~ 'b')"),
        ("n / 2 >= -0.5", "(CAST(n AS DOUBLE) / 2) >= -5e-1"),
        ("time IS NOT NULL", "\"time\" IS NOT NULL"),
        ("abs(n - 1) < max(x, 2)", "abs((n - 1)) < greatest(x, 2)"),
        ("\"Host\" IN ('a', NULL)", "\"Host\" IN ('a', NULL)"),
    ] {
        assert_eq!(sql_condition(&parse(text, "condition").unwrap()), sql, "{text}");
    }
}

/// Runs on a thread with half the usual stack.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap()
}

/// One condition nested `depth` levels deep for each way to nest.
fn nested(depth: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| open.repeat(depth) + inner + &close.repeat(depth);
    vec![
        around("(", "n > 0", ")"),
        around("NOT ", "n > 0", ""),
        format!("{} > 0", around("-", "n", "")),
        format!("n > {}", around("(", "1", ")")),
        format!("n IN ({})", around("-", "1", "")),
        format!("n > {}", around("(x - 1 + 2 * ", "1", ")")),
        around("(n > 1 OR x < 9 AND host IS NULL OR ", "flag", ")"),
    ]
}

#[test]
fn conditions_at_the_limits_fit_the_stack() {
    on_a_small_stack(|| {
        for text in nested(expr::DEPTH_MAX) {
            let parsed = match parse(&text, "condition") {
                Ok(parsed) => parsed,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(format!("{:?}", parsed.clone()), format!("{parsed:?}"));
            bound(&text).mask(&mut rows()).unwrap();
            assert_eq!(sql_condition(&parsed).matches("NOT").count(), text.matches("NOT").count());
        }
    });
}

#[test]
fn long_chains_are_evaluated_in_order() {
    on_a_small_stack(|| {
        let links = expr::NODES_MAX / 4;
        assert_eq!(matching(&format!("n{} = {}", " - 1 + 2".repeat(links / 2), links / 2 + 3)), [2]);
        assert_eq!(matching(&format!("n = 77{}", " OR n = 3".repeat(links))), [2]);
        assert_eq!(matching(&format!("n > 0{}", " AND n < 4".repeat(links))), [2]);
        assert_eq!(matching(&format!("n IN (3{})", ", 4".repeat(10 * expr::NODES_MAX))), [2]);
        assert_eq!(matching("n + 12 / 2 / 3 * 2 - 1 = 6"), [2]);
    });
    let sql = sql_condition(&parse("n - 1 - 2 > n * 2 / 3 / x * 4", "condition").unwrap());
    assert_eq!(sql, "(n - 1 - 2) > (CAST(n * 2 AS DOUBLE) / 3 / x * 4)");
}

/// Deep and wide conditions from the grammar, without those that SQL writes differently.
fn printable() -> impl Strategy<Value = String> {
    let select = |words: &[&'static str]| prop::sample::select(words.to_vec()).prop_map(str::to_owned);
    let number =
        select(&["n", "x", "0", "1", "-2.5", "9223372036854775807", "1e300"]).prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|a| format!("-({a})")),
                (prop::collection::vec((inner, prop::sample::select(vec!["+", "-"])), 1..4)).prop_map(|parts| {
                    let terms: Vec<_> = parts.iter().map(|(a, o)| format!("({a}) {o} ")).collect();
                    terms.concat() + "1"
                }),
            ]
        });
    let comparison = (number.clone(), select(&["<", "<=", ">", ">=", "=", "!="]), number);
    let test = prop_oneof![
        comparison.prop_map(|(a, o, b)| format!("{a} {o} {b}")),
        select(&[
            "flag",
            "host ~ '^a'",
            "host !~ 'b$'",
            "n IN (1, -1, NULL)",
            "x IS NOT NULL",
            "host > 'a''b'",
            "true",
            "tags IS NULL"
        ]),
    ];
    test.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("NOT ({a})")),
            prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| format!("({})", parts.join(" AND "))),
            prop::collection::vec(inner, 2..5).prop_map(|parts| format!("({})", parts.join(" OR "))),
        ]
    })
}

proptest! {
    /// Printing a condition preserves its meaning.
    #[test]
    fn printed_conditions_match_same_rows(text in printable()) {
        let printed = sql_condition(&parse(&text, "condition").unwrap());
        let again = sql_condition(&parse(&printed, "condition").unwrap());
        let mask = |text: &str| bound(text).mask(&mut rows()).map_err(|error| error.to_string());
        let (rows, printed_rows) = (mask(&text), mask(&printed));
        prop_assert_eq!(&rows, &printed_rows, "{} is {}", text, printed);
        prop_assert_eq!(printed, again);
    }
}
