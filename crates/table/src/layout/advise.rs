//! Advises on Bloom filters, statistics and clustering columns, from a sample of the rows.
//!
//! A filter helps questions by equality if few row groups hold a value and bounds cannot exclude the others. Bounds
//! help if adjacent rows have similar values. Clustering makes adjacent rows similar, which pays off for columns with
//! repeated values.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryArray, RecordBatch, make_comparator};
use arrow::compute::{SortOptions, concat_batches, sort_to_indices, take};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::row::{Row, RowConverter, SortField};

use super::limits::GROUP_ROWS_MAX;

pub const ADVICE_ROWS: usize = 1_000_000;
/// Maximum number of filters: each costs ten bits per value.
const BLOOM_COLUMNS_MAX: usize = 3;
/// Minimum number of distinct values for a filter to be useful.
const BLOOM_DISTINCT_MIN: usize = 1_000;
/// A filter pays off if at most this share of the row groups holds a value.
const BLOOM_GROUPS_MAX: f64 = 0.5;
/// Rows per block; the bounds of blocks are compared with those of all rows.
const BLOCK_ROWS: usize = 10_000;
/// Wider bounds exclude almost nothing.
const WIDE: f64 = 0.9;
/// Narrower bounds find a value about as well as a filter.
const NARROW: f64 = 0.1;
/// Minimum number of distinct values for clustering.
const CLUSTER_DISTINCT_MIN: usize = 10;

/// Advice for one column, with reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    pub column: String,
    /// Distinct values in the sample, without NULL.
    pub distinct: usize,
    /// Average share of all values, by rank, within the bounds of 10,000 adjacent rows: near 0 for sorted rows, near 1
    /// for rows in random order.
    pub span: f64,
    pub bloom: Verdict,
    /// Whether statistics exclude rows in the current order.
    pub statistics: Verdict,
    pub cluster: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub yes: bool,
    pub reason: String,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", if self.yes { "yes" } else { "no" }, self.reason)
    }
}

impl Verdict {
    fn yes(reason: impl Into<String>) -> Self {
        Self { yes: true, reason: reason.into() }
    }

    fn no(reason: impl Into<String>) -> Self {
        Self { yes: false, reason: reason.into() }
    }
}

/// Advises on every column from the first [`ADVICE_ROWS`] rows of `sample`, in order of insertion.
pub fn advise(sample: &[RecordBatch]) -> Result<Vec<Advice>, ArrowError> {
    let Some(first) = sample.first() else { return Ok(Vec::new()) };
    let rows = concat_batches(first.schema_ref(), sample)?;
    let rows = rows.slice(0, rows.num_rows().min(ADVICE_ROWS));
    let column = |(place, field): (usize, &arrow::datatypes::FieldRef)| of_column(field.name(), rows.column(place));
    let mut advice = first.schema_ref().fields().iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
    keep_best_filters(&mut advice);
    Ok(advice)
}

/// Keeps filters only on the columns with the most distinct values.
fn keep_best_filters(advice: &mut [Advice]) {
    let mut deserving: Vec<&mut Advice> = advice.iter_mut().filter(|a| a.bloom.yes).collect();
    deserving.sort_by_key(|a| std::cmp::Reverse(a.distinct));
    for advice in deserving.into_iter().skip(BLOOM_COLUMNS_MAX) {
        advice.bloom = Verdict::no(format!("{BLOOM_COLUMNS_MAX} other columns have more distinct values"));
    }
}

fn of_column(name: &str, values: &ArrayRef) -> Result<Advice, ArrowError> {
    let is_set = values.data_type().is_nested();
    let (distinct, span) = if is_set { order(&as_keys(values)?)? } else { order(values)? };
    let (ty, rows) = (values.data_type(), values.len());
    let [bloom, statistics, cluster] = if is_set {
        [(); 3].map(|()| Verdict::no("holds sets: filters, bounds and clustering do not support them"))
    } else {
        [bloom(ty, rows, distinct, span), statistics(distinct, span), cluster(rows, distinct, span)]
    };
    Ok(Advice { column: name.to_owned(), distinct, span, bloom, statistics, cluster })
}

/// Converts values without an order to bytes that sort; NULL stays NULL.
fn as_keys(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(values))?;
    let key = |(row, key): (usize, Row<'_>)| values.is_valid(row).then(|| key.as_ref().to_vec());
    Ok(Arc::new(rows.iter().enumerate().map(key).collect::<BinaryArray>()))
}

/// Returns the number of distinct values, and the average span of adjacent rows.
fn order(values: &ArrayRef) -> Result<(usize, f64), ArrowError> {
    let sorted = sort_to_indices(values, Some(SortOptions { descending: false, nulls_first: false }), None)?;
    let present = values.len() - values.null_count();
    let in_order = take(values, &sorted, None)?;
    let compare = make_comparator(&in_order, &in_order, SortOptions::default())?;
    let mut ranks = vec![u32::MAX; values.len()];
    let mut distinct = 0;
    for (place, row) in sorted.values().iter().take(present).enumerate() {
        if place == 0 || compare(place - 1, place).is_ne() {
            distinct += 1;
        }
        ranks[*row as usize] = distinct as u32 - 1;
    }
    let spans: Vec<f64> = ranks.chunks(BLOCK_ROWS).filter_map(|block| span(block, distinct)).collect();
    let mean = if spans.is_empty() { 0.0 } else { spans.iter().sum::<f64>() / spans.len() as f64 };
    Ok((distinct, mean))
}

fn span(ranks: &[u32], distinct: usize) -> Option<f64> {
    let present = || ranks.iter().filter(|rank| **rank != u32::MAX);
    let (low, high) = (present().min()?, present().max()?);
    Some(f64::from(high - low + 1) / distinct as f64)
}

fn bloom(ty: &DataType, rows: usize, distinct: usize, span: f64) -> Verdict {
    if matches!(ty, DataType::Float32 | DataType::Float64 | DataType::Boolean) {
        return Verdict::no("questions rarely filter it by equality");
    }
    if distinct < BLOOM_DISTINCT_MIN {
        return Verdict::no(format!("{distinct} distinct values: bounds and dictionaries are as good"));
    }
    if span < NARROW {
        return Verdict::no(format!("inserted in order: bounds narrow a value to {:.1}% of the rows", span * 100.0));
    }
    // Poisson: the probability that a row group contains a value that occurs `rows / distinct` times in the sample.
    let in_group = 1.0 - (-(GROUP_ROWS_MAX.min(rows) as f64) / distinct as f64).exp();
    if in_group > BLOOM_GROUPS_MAX {
        return Verdict::no(format!(
            "each value is in {:.0}% of the row groups: a filter would skip few",
            in_group * 100.0
        ));
    }
    Verdict::yes(format!(
        "{distinct} distinct values in random order: each is in {:.0}% of the row groups",
        in_group * 100.0
    ))
}

fn statistics(distinct: usize, span: f64) -> Verdict {
    match span {
        _ if distinct < 2 => Verdict::no("one value: bounds exclude all rows or none"),
        s if s < WIDE => Verdict::yes(format!("bounds of 10,000 rows span {:.1}% of the values", s * 100.0)),
        _ => Verdict::no("random order: bounds exclude nothing unless the table is clustered by this column"),
    }
}

fn cluster(rows: usize, distinct: usize, span: f64) -> Verdict {
    if distinct < CLUSTER_DISTINCT_MIN {
        return Verdict::no(format!("{distinct} distinct values: too few for clustering"));
    }
    if distinct > rows / CLUSTER_DISTINCT_MIN {
        return Verdict::no("values rarely repeat: use a Bloom filter instead");
    }
    if span < NARROW {
        return Verdict::yes("values repeat and come in order: clustering without this column would lose that order");
    }
    Verdict::yes(format!("{distinct} repeated values in random order"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arrow::array::{Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn advice_follows_order_and_repetition() {
        let n = 300_000_i64;
        let scrambled = |i: i64, of: i64| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 20).rem_euclid(of);
        let columns: [(&str, ArrayRef); 6] = [
            ("sequence", Arc::new(Int64Array::from_iter_values(0..n))),
            ("person", Arc::new(StringArray::from_iter_values((0..n).map(|i| format!("p{}", scrambled(i, 400_000)))))),
            ("tower", Arc::new(Int32Array::from_iter_values((0..n).map(|i| scrambled(i, 10_000) as i32)))),
            ("hour", Arc::new(Int32Array::from_iter_values((0..n).map(|i| (i * 24 / n) as i32)))),
            ("kind", Arc::new(Int32Array::from_iter_values((0..n).map(|i| scrambled(i, 3) as i32)))),
            ("constant", Arc::new(Int32Array::from_iter((0..n).map(|i| (i % 2 == 0).then_some(7))))),
        ];
        let advice = advise(&[RecordBatch::try_from_iter(columns).unwrap()]).unwrap();
        let of = |name: &str| advice.iter().find(|a| a.column == name).unwrap();
        let blooms: Vec<_> = advice.iter().filter(|a| a.bloom.yes).map(|a| a.column.as_str()).collect();
        assert_eq!(blooms, ["person"]);
        let bounded: Vec<_> = advice.iter().filter(|a| a.statistics.yes).map(|a| a.column.as_str()).collect();
        assert_eq!(bounded, ["sequence", "hour"]);
        let clusters: Vec<_> = advice.iter().filter(|a| a.cluster.yes).map(|a| a.column.as_str()).collect();
        assert_eq!(clusters, ["tower", "hour"]);
        let towers: HashSet<i64> = (0..n).map(|i| scrambled(i, 10_000)).collect();
        assert_eq!((of("sequence").distinct, of("constant").distinct), (300_000, 1));
        assert_eq!(of("tower").distinct, towers.len());
        assert!(of("sequence").span < 0.04 && of("tower").span > 0.99);
        assert!(of("sequence").bloom.reason.contains("inserted in order"), "{}", of("sequence").bloom.reason);
        assert!(of("tower").bloom.reason.contains("row groups"), "{}", of("tower").bloom.reason);
    }

    #[test]
    fn best_columns_keep_their_filters() {
        let n = 200_000_i64;
        let column = |of: i64, salt: i64| -> ArrayRef {
            let value = |i: i64| ((i + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 16).rem_euclid(of);
            Arc::new(Int64Array::from_iter_values((0..n).map(value)))
        };
        let columns = [
            ("a", column(900_000, 1)),
            ("b", column(500_000, 2)),
            ("c", column(800_000, 3)),
            ("d", column(700_000, 4)),
        ];
        let advice = advise(&[RecordBatch::try_from_iter(columns).unwrap()]).unwrap();
        let kept: Vec<_> = advice.iter().filter(|a| a.bloom.yes).map(|a| a.column.as_str()).collect();
        assert_eq!(kept, ["a", "c", "d"]);
    }

    #[test]
    fn no_rows_give_no_advice() {
        assert_eq!(advise(&[]).unwrap(), []);
    }
}
