//! Compares functions with simple, slow evaluations.

use std::fmt::Write as _;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use proptest::prelude::*;
use sql::Engine;
use table::Layout;

use crate::pruning;
use crate::support::{ask, cells, open, stored_in};

/// A group, an integer, a real number, and whether a filter accepts the row.
type Row = (u8, Option<i64>, Option<f64>, bool);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let integer = prop_oneof![-5..5_i64, any::<i64>()];
    let real = prop_oneof![
        (-8..8_i32).prop_map(|n| f64::from(n) / 4.0),
        -1e9..1e9_f64,
        prop::sample::select(vec![-0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE]),
    ];
    prop::collection::vec((0..4_u8, prop::option::of(integer), prop::option::of(real), any::<bool>()), 1..most)
}

/// The rows as a table in SQL.
fn table(rows: &[Row]) -> String {
    let mut sql = "(VALUES ".to_owned();
    for (at, (group, integer, real, pass)) in rows.iter().enumerate() {
        let integer = integer.map_or("NULL".to_owned(), |n| format!("'{n}'"));
        let real = real.map_or("NULL".to_owned(), |x| format!("'{x:?}'"));
        write!(sql, "{}({group}, {integer}::BIGINT, {real}::DOUBLE, {pass})", if at > 0 { ", " } else { "" }).unwrap();
    }
    sql + ") AS e(k, n, x, pass)"
}

/// The least value that at least the given percentage of values does not exceed.
fn least<T: PartialOrd + Copy>(values: &[T], hundredths: usize) -> Option<T> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let is_enough =
        |value: &&T| sorted.iter().filter(|other| other <= value).count() * 100 >= hundredths * sorted.len();
    sorted.iter().find(is_enough).copied()
}

struct Asked {
    engine: Engine,
    runtime: tokio::runtime::Runtime,
    _data: tempfile::TempDir,
}

fn asked() -> Asked {
    let (data, runtime) = (tempfile::tempdir().unwrap(), tokio::runtime::Runtime::new().unwrap());
    let engine = runtime.block_on(async {
        stored_in(data.path()).await;
        open(data.path()).await
    });
    Asked { engine, runtime, _data: data }
}

impl Asked {
    fn ask(&self, sql: &str) -> arrow::record_batch::RecordBatch {
        self.runtime.block_on(ask(&self.engine, sql)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn whole_numbers(&self, sql: &str) -> Vec<Option<i64>> {
        let answer = self.ask(sql);
        cast(answer.column(0), &DataType::Int64).unwrap().as_primitive::<Int64Type>().iter().collect()
    }
}

#[test]
fn quantiles_match_plain_evaluation() {
    let asked = asked();
    proptest!(ProptestConfig::with_cases(40), |(rows in rows(80), hundredths in 0..=100_usize)| {
        let p = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let sql = format!(
            "SELECT k, quantile(n, {p}), quantile(x, {p}), quantile(x, {p}) FILTER (WHERE pass) FROM {} GROUP BY k ORDER BY k",
            table(&rows)
        );
        let answer = asked.ask(&sql);
        let groups: Vec<u8> = (0..4).filter(|group| rows.iter().any(|row| row.0 == *group)).collect();
        prop_assert_eq!(answer.num_rows(), groups.len());
        for (at, group) in groups.into_iter().enumerate() {
            let of = || rows.iter().filter(move |row| row.0 == group);
            let integers = answer.column(1).as_primitive::<Int64Type>().iter().nth(at).unwrap();
            prop_assert_eq!(integers, least(&of().filter_map(|row| row.1).collect::<Vec<_>>(), hundredths));
            let real = |column: usize| answer.column(column).as_primitive::<Float64Type>().iter().nth(at).unwrap();
            prop_assert_eq!(real(2), least(&of().filter_map(|row| row.2).collect::<Vec<_>>(), hundredths));
            let passed: Vec<f64> = of().filter(|row| row.3).filter_map(|row| row.2).collect();
            prop_assert_eq!(real(3), least(&passed, hundredths));
        }
        let whole = asked.whole_numbers(&format!("SELECT quantile(n, {p}) FROM {}", table(&rows)));
        prop_assert_eq!(whole[0], least(&rows.iter().filter_map(|row| row.1).collect::<Vec<_>>(), hundredths));
    });
}

/// With this many groups, the first aggregation step passes rows on unaggregated.
#[test]
fn filtered_quantiles_skip_partial_aggregation() {
    let answer = asked().ask(
        "SELECT count(q), sum(q) FROM (SELECT quantile(value, 0.5) FILTER (WHERE value % 3 = 0) AS q \
         FROM generate_series(0, 599999) GROUP BY value % 300000)",
    );
    let least: Vec<i64> = (0..300_000).filter(|n| n % 3 == 0).collect();
    assert_eq!(cells(&answer), [[least.len().to_string(), least.iter().sum::<i64>().to_string()]]);
}

#[test]
fn histogram_buckets_count_values_between_edges() {
    let asked = asked();
    proptest!(ProptestConfig::with_cases(40), |(rows in rows(80), buckets in 1..9_usize)| {
        let sql = format!(
            "SELECT b.low, b.high, b.count FROM (SELECT unnest(histogram(x, {buckets})) AS b FROM {}) ORDER BY b.low, b.high",
            table(&rows)
        );
        let answer = asked.ask(&sql);
        let mut values: Vec<f64> = rows.iter().filter_map(|row| row.2).collect();
        values.sort_by(f64::total_cmp);
        let (Some(&first), Some(&last)) = (values.first(), values.last()) else {
            prop_assert_eq!(answer.num_rows(), 0);
            return Ok(());
        };
        let expected = if first < last { buckets } else { 1 };
        prop_assert_eq!(answer.num_rows(), expected);
        let edges = |column: usize| answer.column(column).as_primitive::<Float64Type>().values().to_vec();
        let (low, high) = (edges(0), edges(1));
        let counts = answer.column(2).as_primitive::<Int64Type>().values().to_vec();
        prop_assert_eq!((low[0], high[expected - 1]), (first, last));
        for at in 0..expected {
            // All buckets have the same width, up to rounding.
            let share = at as f64 / expected as f64;
            let edge = first * (1.0 - share) + last * share;
            prop_assert!((low[at] - edge).abs() <= 1e-9 * first.abs().max(last.abs()), "{} for {edge}", low[at]);
            if at > 0 {
                prop_assert_eq!(low[at], high[at - 1]);
            }
            let is_in = |value: &&f64| low[at] <= **value && (**value < high[at] || at + 1 == expected);
            prop_assert_eq!(counts[at], values.iter().filter(is_in).count() as i64);
        }
    });
}

#[test]
fn approximate_quantiles_are_near_exact_ones() {
    let asked = asked();
    // An uneven distribution: shuffled squares.
    let values: Vec<i64> = (0..20_000_i64).map(|n| (n * 7_919 % 20_000).pow(2)).collect();
    let from = "(SELECT (value * 7919 % 20000) * (value * 7919 % 20000) AS x FROM generate_series(0, 19999))";
    for hundredths in [1, 10, 50, 90, 95, 99] {
        let p = f64::from(hundredths) / 100.0;
        let found = asked.whole_numbers(&format!("SELECT approx_quantile(x, {p}) FROM {from}"))[0].unwrap();
        let share = values.iter().filter(|value| **value <= found).count() as f64 / values.len() as f64;
        assert!((share - p).abs() < 0.01, "{p}: {found} is at {share}");
    }
}

/// The month of a time, counted from January 1970.
fn month_of(micros: i64) -> i64 {
    let time = arrow::temporal_conversions::timestamp_us_to_datetime(micros).unwrap().format("%Y-%m").to_string();
    let (year, month) = time.split_once('-').unwrap();
    (year.parse::<i64>().unwrap() - 1970) * 12 + month.parse::<i64>().unwrap() - 1
}

#[test]
fn time_buckets_align_to_the_origin() {
    let asked = asked();
    let units = prop::sample::select(vec![
        ("second", 1_i64),
        ("minute", 60),
        ("hour", 3_600),
        ("day", 86_400),
        ("week", 604_800),
    ]);
    // From 1900 to 2100, and on bucket edges.
    let time =
        prop_oneof![-2_208_988_800_000_000..4_102_444_800_000_000_i64, (-50..50_i64).prop_map(|n| n * 3_600_000_000)];
    let origin = prop::option::of(-1_000_000_000_000..1_000_000_000_000_i64);
    proptest!(ProptestConfig::with_cases(150), |((unit, seconds) in units, count in 1..40_i64, time in time, origin in origin)| {
        let at = |micros: i64| format!("arrow_cast({micros}, 'Timestamp(Microsecond, None)')");
        let from = origin.map_or(String::new(), |origin| format!(", {}", at(origin)));
        let sql = format!("SELECT CAST(arrow_cast(time_bucket('{count} {unit}', {}{from}), 'Timestamp(Microsecond, None)') AS BIGINT)", at(time));
        let (width, origin) = (count * seconds * 1_000_000, origin.unwrap_or(0));
        prop_assert_eq!(asked.whole_numbers(&sql)[0], Some(time - (time - origin).rem_euclid(width)));
        let months = format!("SELECT CAST(arrow_cast(time_bucket('{count} months', {}), 'Timestamp(Microsecond, None)') AS BIGINT)", at(time));
        let begin = asked.whole_numbers(&months)[0].unwrap();
        prop_assert_eq!(month_of(begin), month_of(time) - month_of(time).rem_euclid(count));
        prop_assert!(begin <= time && month_of(begin - 1) == month_of(begin) - 1, "{} does not start a month", begin);
    });
}

#[test]
fn set_has_follows_three_valued_logic() {
    let asked = asked();
    for (set, member, expected) in [
        ("['a', 'b']", "'a'", "true"),
        ("['a', 'b']", "'c'", "false"),
        ("['a', 'b']", "'A'", "false"),
        ("make_array()::TEXT[]", "'a'", "false"),
        ("NULL::TEXT[]", "'a'", "NULL"),
        ("['a', NULL]", "'a'", "true"),
        ("['a', NULL]", "'b'", "false"),
        ("['a', 'b']", "NULL::TEXT", "NULL"),
    ] {
        for from in ["", " FROM (VALUES (1)) AS e(k)"] {
            let found = cells(&asked.ask(&format!("SELECT set_has({set}, {member}){from}")));
            assert_eq!(found, [[expected]], "{set} {member}{from}");
        }
        // Sets and members as columns.
        let sql = format!("SELECT set_has(s, m) FROM (VALUES ({set}, {member}), (['z'], 'z')) AS e(s, m)");
        assert_eq!(cells(&asked.ask(&sql)), [[expected], ["true"]], "{set} {member}");
    }
}

/// The ordering of a function is not derived for values of unknown range.
#[tokio::test(flavor = "multi_thread")]
async fn partial_functions_can_order_rows() {
    let data = tempfile::tempdir().unwrap();
    let rows: Vec<pruning::Row> = (1..=9).map(|n| (Some(n % 3), Some(f64::from(n as i32) / 9.0), None)).collect();
    pruning::insert(data.path(), ("pruned", Layout::Pruned, false), 4, &[pruning::batch(&rows, 1)]).await;
    let engine = open(data.path()).await;
    for function in ["acos", "acosh", "asin", "atanh", "ln", "log2", "log10", "sqrt"] {
        let places =
            format!("SELECT row_number() OVER (PARTITION BY i64 ORDER BY {function}(f64)) AS place FROM pruned");
        let sql = format!("SELECT place, count(*) FROM ({places}) GROUP BY place ORDER BY place");
        assert_eq!(cells(&ask(&engine, &sql).await.unwrap()), [["1", "3"], ["2", "3"], ["3", "3"]], "{function}");
    }
}
