//! Conditions follow SQL's three-valued logic, whatever the optimizer does.

use std::fmt;

use arrow::array::{Array as _, AsArray};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sql::Condition;
use table::upkeep::Filter as _;

use crate::support::{ask, engine};

const COLUMNS: [&str; 3] = ["a", "b", "c"];

type Row = [Option<i64>; COLUMNS.len()];

#[derive(Debug, Clone, Copy)]
enum Value {
    Column(usize),
    Number(Option<i64>),
}

#[derive(Debug, Clone)]
enum Term {
    List { value: usize, elements: Vec<Value>, negated: bool },
    Comparison { value: usize, with: Value, negated: bool },
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Case { when: Box<Self>, then: Box<Self> },
}

impl Value {
    fn of(self, row: &Row) -> Option<i64> {
        match self {
            Self::Column(place) => row[place],
            Self::Number(number) => number,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(place) => f.write_str(COLUMNS[*place]),
            Self::Number(Some(number)) => write!(f, "{number}"),
            Self::Number(None) => f.write_str("NULL"),
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List { value, elements, negated } => {
                let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
                write!(f, "{}{} IN ({})", COLUMNS[*value], if *negated { " NOT" } else { "" }, elements.join(", "))
            }
            Self::Comparison { value, with, negated } => {
                write!(f, "{} {} {with}", COLUMNS[*value], if *negated { "<>" } else { "=" })
            }
            Self::Not(term) => write!(f, "NOT ({term})"),
            Self::And(left, right) => write!(f, "({left} AND {right})"),
            Self::Or(left, right) => write!(f, "({left} OR {right})"),
            Self::Case { when, then } => write!(f, "CASE WHEN {when} THEN {then} ELSE {when} END"),
        }
    }
}

impl Term {
    /// The value for a row by standard SQL.
    fn truth(&self, row: &Row) -> Option<bool> {
        let equal = |a: Option<i64>, b: Option<i64>| Some(a? == b?);
        let either = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        };
        match self {
            Self::List { value, elements, negated } => {
                let found = elements.iter().map(|element| equal(row[*value], element.of(row)));
                found.fold(Some(false), either).map(|found| found != *negated)
            }
            Self::Comparison { value, with, negated } => {
                equal(row[*value], with.of(row)).map(|equal| equal != *negated)
            }
            Self::Not(term) => term.truth(row).map(|truth| !truth),
            Self::And(left, right) => {
                let not = |term: &Self| term.truth(row).map(|truth| !truth);
                either(not(left), not(right)).map(|truth| !truth)
            }
            Self::Or(left, right) => either(left.truth(row), right.truth(row)),
            Self::Case { when, then } => if when.truth(row) == Some(true) { then } else { when }.truth(row),
        }
    }
}

fn terms() -> impl Strategy<Value = Term> {
    let column = 0..COLUMNS.len();
    let value = prop_oneof![
        6 => (0_i64..4).prop_map(|number| Value::Number(Some(number))),
        1 => Just(Value::Number(None)),
        1 => column.clone().prop_map(Value::Column),
    ];
    let list = (column.clone(), prop::collection::vec(value.clone(), 1..5), any::<bool>());
    let leaf = prop_oneof![
        3 => list.prop_map(|(value, elements, negated)| Term::List { value, elements, negated }),
        2 => (column, value, any::<bool>()).prop_map(|(value, with, negated)| Term::Comparison { value, with, negated }),
    ];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let two = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            3 => two.clone().prop_map(|(left, right)| Term::And(left, right)),
            3 => two.clone().prop_map(|(left, right)| Term::Or(left, right)),
            2 => inner.prop_map(|term| Term::Not(Box::new(term))),
            1 => two.prop_map(|(when, then)| Term::Case { when, then }),
        ]
    })
}

/// Every combination of 0, 1, 2 and NULL in the first two columns, with some values of the third.
fn rows() -> Vec<Row> {
    let values = [Some(0), Some(1), Some(2), None];
    let pairs = values.into_iter().flat_map(|a| values.into_iter().map(move |b| (a, b)));
    pairs.enumerate().map(|(place, (a, b))| [a, b, values[place * 7 % 4]]).collect()
}

fn values(rows: &[Row]) -> String {
    let value = |value: &Option<i64>| value.map_or("NULL".to_owned(), |value| value.to_string());
    let row = |row: &Row| format!("({})", row.iter().map(value).collect::<Vec<_>>().join(", "));
    format!("(VALUES {}) AS t(a, b, c)", rows.iter().map(row).collect::<Vec<_>>().join(", "))
}

#[test]
fn conditions_follow_three_valued_logic() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (engine, _data) = runtime.block_on(engine());
    let (rows, table) = (rows(), values(&rows()));
    let config = Config { cases: 100, failure_persistence: None, ..Config::default() };
    let check = |terms: Vec<Term>| {
        let named: Vec<String> = terms.iter().enumerate().map(|(i, term)| format!("{term} AS v{i}")).collect();
        let answer = runtime.block_on(ask(&engine, &format!("SELECT {} FROM {table}", named.join(", ")))).unwrap();
        for (place, term) in terms.iter().enumerate() {
            let due: Vec<Option<bool>> = rows.iter().map(|row| term.truth(row)).collect();
            // Constant columns are Boolean too.
            let found: Vec<Option<bool>> = answer.column(place).as_boolean().iter().collect();
            prop_assert_eq!(found, due.clone(), "SELECT {}", term);
            let sql = format!("SELECT count(*) FROM {table} WHERE {term}");
            let kept = runtime.block_on(ask(&engine, &sql)).unwrap();
            let kept = kept.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0);
            prop_assert_eq!(kept, due.iter().filter(|due| **due == Some(true)).count() as i64, "{}", sql);
            prop_assert_eq!(
                doomed(term, &rows),
                due.iter().map(|due| *due == Some(true)).collect::<Vec<_>>(),
                "{}",
                term
            );
        }
        Ok(())
    };
    TestRunner::new(config).run(&prop::collection::vec(terms(), 4), check).unwrap();
}

/// The rows that a deletion removes.
fn doomed(term: &Term, rows: &[Row]) -> Vec<bool> {
    let column = |place: usize| {
        let values: arrow::array::Int64Array = rows.iter().map(|row| row[place]).collect();
        (COLUMNS[place], std::sync::Arc::new(values) as arrow::array::ArrayRef, true)
    };
    let batch = arrow::record_batch::RecordBatch::try_from_iter_with_nullable((0..COLUMNS.len()).map(column)).unwrap();
    let condition = Condition::parse(&term.to_string(), &batch.schema()).unwrap();
    let places: Vec<usize> = condition.columns().iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
    let doomed = condition.doomed(&batch.project(&places).unwrap()).unwrap();
    doomed.iter().map(|doomed| doomed == Some(true)).collect()
}

#[tokio::test]
async fn operations_on_null_are_null() {
    let (engine, _data) = engine().await;
    // Examples of https://github.com/apache/datafusion/issues/24246.
    let of_null = [
        "log(x, 1.0)",
        "power(x, 0.0)",
        "i ^ i",
        "(i ^ 7) ^ i",
        "i IN (1) AND i IN (2)",
        "i NOT IN (1) OR i NOT IN (2)",
        // The simplifier turns these into lists.
        "s !~ '^(a|b)$' OR s NOT IN ('c')",
        "s ~ '^(a|b)$' AND s ~ '^(c|d)$'",
        "(s LIKE 'a' OR s LIKE 'b') AND s IN ('c', 'd')",
        "(i BETWEEN 1 AND 1 OR i BETWEEN 2 AND 2) AND (i BETWEEN 3 AND 3 OR i BETWEEN 4 AND 4)",
    ];
    for sql in of_null {
        let sql = format!("SELECT {sql} AS v FROM (VALUES (NULL::DOUBLE, NULL::INT, NULL::TEXT)) AS t(x, i, s)");
        let answer = ask(&engine, &sql).await.unwrap();
        assert!(answer.column(0).is_null(0), "{sql}");
    }
    for function in ["array_has", "set_has"] {
        let sql = format!("SELECT {function}([i, 1], 2) AS v FROM (VALUES (NULL::INT)) AS t(i)");
        let answer = ask(&engine, &sql).await.unwrap();
        assert!(answer.column(0).is_valid(0) && !answer.column(0).as_boolean().value(0), "{sql}");
    }
}
