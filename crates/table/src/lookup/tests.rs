//! Lookups find every value of every type.

#![allow(clippy::from_iter_instead_of_collect, reason = "names the array type")]

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::compute::SortOptions;
use arrow::compute::kernels::cmp::lt;
use proptest::prelude::*;

use super::*;
use disk::RealDisk;

const COLUMNS: usize = 13;

type Row = (Option<i64>, Option<f64>, Option<String>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let integer = prop_oneof![
        1 => Just(None),
        1 => Just(Some(i64::MIN)),
        1 => Just(Some(i64::MAX)),
        2 => any::<i64>().prop_map(Some),
        8 => (-5i64..5).prop_map(Some),
    ];
    let real = prop_oneof![
        1 => Just(None),
        4 => any::<f64>().prop_map(Some),
        4 => (-3i64..3).prop_map(|n| Some(n as f64)),
        1 => prop::sample::select(vec![f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]).prop_map(Some),
    ];
    let text = prop_oneof![
        1 => Just(None),
        1 => Just(Some(String::new())),
        4 => "[ab]{0,4}".prop_map(Some),
        4 => (0u32..50).prop_map(|n| Some(format!("+1-{n:06}"))),
        1 => "é{30,40}[ab]{0,3}".prop_map(Some),
        1 => ".{0,20}".prop_map(Some),
    ];
    prop::collection::vec((integer, real, text), 0..80)
}

/// A column of each stored type.
fn column(i: usize, rows: &[Row]) -> ArrayRef {
    let n = || rows.iter().map(|r| r.0);
    let x = || rows.iter().map(|r| r.1);
    let s = || rows.iter().map(|r| r.2.as_deref());
    let decimal = |values: Vec<Option<i128>>, digits, scale| -> ArrayRef {
        Arc::new(Decimal128Array::from_iter(values).with_precision_and_scale(digits, scale).unwrap())
    };
    match i {
        0 => Arc::new(BooleanArray::from_iter(n().map(|v| v.map(|v| v & 1 == 1)))),
        1 => Arc::new(Int8Array::from_iter(n().map(|v| v.map(|v| v as i8)))),
        2 => Arc::new(Int16Array::from_iter(n().map(|v| v.map(|v| v as i16)))),
        3 => Arc::new(Int32Array::from_iter(n().map(|v| v.map(|v| v as i32)))),
        4 => Arc::new(Int64Array::from_iter(n())),
        5 => Arc::new(Float32Array::from_iter(x().map(|v| v.map(|v| v as f32)))),
        6 => Arc::new(Float64Array::from_iter(x())),
        7 => Arc::new(Date32Array::from_iter(n().map(|v| v.map(|v| v as i32)))),
        8 => Arc::new(TimestampMicrosecondArray::from_iter(n()).with_timezone("UTC")),
        9 => decimal(n().map(|v| v.map(|v| i128::from(v % 9_999_999))).collect(), 7, 2),
        10 => decimal(n().map(|v| v.map(|v| i128::from(v) * 1_000_000_007)).collect(), 30, 6),
        11 => Arc::new(StringArray::from_iter(s())),
        _ => Arc::new(BinaryArray::from_iter(s().map(|v| v.map(str::as_bytes)))),
    }
}

/// Writes and opens the index of a segment with the row groups `groups`.
fn written(root: &Path, groups: &[RecordBatch]) -> Option<Lookup> {
    let schema = groups[0].schema();
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let path = root.join("a.parquet");
    let mut writer = LookupWriter::new(&path, &schema, &names).unwrap();
    groups.iter().enumerate().for_each(|(group, rows)| writer.add(rows, group));
    let rows = groups.iter().map(|g| g.num_rows() as u64).sum();
    writer.finish(Arc::new(RealDisk), rows, groups.len()).unwrap();
    Lookup::open(root, &segment(rows))
}

fn segment(rows: u64) -> Segment {
    let nothing = BTreeMap::new;
    Segment {
        path: "a.parquet".to_owned(),
        bytes: 1,
        rows,
        partition: nothing(),
        columns: BTreeMap::new(),
        tags: nothing(),
    }
}

fn batch(name: &str, column: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([(name, column, true)]).unwrap()
}

/// `a < b` as in SQL.
fn below(a: &ArrayRef, b: &ArrayRef) -> bool {
    lt(a, b).unwrap().value(0)
}

type Holds<'a> = Box<dyn Fn(&ArrayRef) -> bool + 'a>;

fn check(i: usize, groups: &[Vec<Row>], probes: &[(usize, usize)]) -> Result<(), TestCaseError> {
    let all: Vec<Row> = groups.iter().flatten().cloned().collect();
    let root = tempfile::tempdir().unwrap();
    let batches: Vec<RecordBatch> = groups.iter().map(|rows| batch("c", column(i, rows))).collect();
    let lookup = written(root.path(), &batches).unwrap();
    prop_assert_eq!((lookup.groups(), lookup.find("other", &[])), (groups.len(), None));
    let all = column(i, &all);
    for (a, b) in probes.iter().map(|(a, b)| (a % all.len(), b % all.len())) {
        let (Some(low), Some(high)) = (Key::of(&all, a), Key::of(&all, b)) else { continue };
        let (a, b) = (all.slice(a, 1), all.slice(b, 1));
        let is_long = |column: &ArrayRef| Key::of(column, 0).is_some_and(|key| key.is_cut());
        // Truncation may hide the difference between a bound and a value.
        let is_cut = low.is_cut() || high.is_cut();
        let ranges: [(KeyRange, Holds<'_>); 5] = [
            (KeyRange::of(&low), Box::new(|v| !below(v, &a) && !below(&a, v))),
            (KeyRange::between(Bound::Unbounded, Bound::Excluded(&low)), Box::new(|v| below(v, &a))),
            (KeyRange::between(Bound::Excluded(&low), Bound::Unbounded), Box::new(|v| below(&a, v))),
            (
                KeyRange::between(Bound::Included(&low), Bound::Included(&high)),
                Box::new(|v| !below(v, &a) && !below(&b, v)),
            ),
            (
                KeyRange::between(Bound::Excluded(&low), Bound::Excluded(&high)),
                Box::new(|v| below(&a, v) && below(v, &b)),
            ),
        ];
        for (range, holds) in ranges {
            let found = lookup.find("c", &[range]).unwrap().groups;
            for (group, rows) in batches.iter().enumerate() {
                let values = || (0..rows.num_rows()).map(|row| rows.column(0).slice(row, 1)).filter(|v| v.is_valid(0));
                let expected = values().any(|v| holds(&v));
                let may_differ = !expected && (is_cut || values().any(|v| is_long(&v) || v.data_type().is_floating()));
                prop_assert!(found[group] == expected || may_differ, "column {}, group {}, {:?}", i, group, found);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn lookups_match_a_full_scan(
        i in 0..COLUMNS,
        groups in prop::collection::vec(rows(), 1..12),
        probes in prop::collection::vec((any::<usize>(), any::<usize>()), 1..20),
    ) {
        prop_assume!(groups.iter().any(|g| !g.is_empty()));
        check(i, &groups, &probes)?;
    }
}

#[test]
fn keys_sort_like_values() {
    let values = [f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN];
    let column: ArrayRef = Arc::new(Float64Array::from_iter_values(values));
    let keys: Vec<Key> = (0..values.len()).filter_map(|row| Key::of(&column, row)).collect();
    assert!(keys.is_sorted() && keys[3] == keys[4] && keys[2] < keys[3] && keys[4] < keys[5]);
    let narrow: ArrayRef = Arc::new(Float32Array::from_iter_values(values.map(|v| v as f32)));
    assert!((0..values.len()).filter_map(|row| Key::of(&narrow, row)).is_sorted());
    let mixed: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(1)]));
    assert_eq!(Key::of(&mixed, 0), None);
    let sorted = arrow::compute::sort(&column, Some(SortOptions::default())).unwrap();
    assert_eq!(Key::of(&sorted, 0), keys.first().cloned());
}

/// Numbers, telephone numbers and texts of several lengths, each in many blocks.
#[test]
fn lookups_search_across_blocks() {
    const GROUPS: i64 = 5;
    const EACH: i64 = 9_000;
    let value = |group: i64, i: i64| (i * GROUPS + group) * 7_919 % 100_003;
    let group = |group: i64| {
        let values = || (0..EACH).map(move |i| value(group, i));
        let columns: [(&str, ArrayRef); 3] = [
            ("n", Arc::new(Int64Array::from_iter_values(values()))),
            ("phone", Arc::new(StringArray::from_iter_values(values().map(|n| format!("+1-{n:010}"))))),
            (
                "word",
                Arc::new(StringArray::from_iter_values(
                    values().map(|n| format!("{n}: of {}", "x".repeat(n as usize % 9))),
                )),
            ),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let groups: Vec<RecordBatch> = (0..GROUPS).map(group).collect();
    let root = tempfile::tempdir().unwrap();
    let lookup = written(root.path(), &groups).unwrap();
    let blocks: Vec<usize> = lookup.blocks();
    assert!(blocks.iter().all(|&n| n > 20), "{blocks:?}");
    for name in ["n", "phone", "word"] {
        for probe in 0..300 {
            let (holder, row) = (probe % GROUPS as usize, probe * 29);
            let key = Key::of(groups[holder].column_by_name(name).unwrap(), row).unwrap();
            let found = lookup.find(name, &[KeyRange::of(&key)]).unwrap();
            let expected: Vec<bool> = (0..GROUPS as usize).map(|g| g == holder).collect();
            assert_eq!(found.groups, expected, "{name} {probe}");
            assert!((1..30_000).contains(&found.bytes), "{} bytes", found.bytes);
            // Blocks past the key are answered from the index, without reading them.
            let past = lookup.find(name, &[KeyRange::between(Bound::Included(&key), Bound::Unbounded)]).unwrap();
            assert!(past.groups[holder] && past.bytes < 60_000);
        }
        let none = Key::of(&StringArray::from(vec!["+1-0000100004"]), 0).unwrap();
        let none = lookup.find(name, &[KeyRange::of(&none)]).unwrap();
        assert_eq!(none.groups, [false; GROUPS as usize], "{name}");
    }
}

#[test]
fn damaged_indexes_never_give_wrong_answers() {
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values((0..5_000).map(|i| i * i)));
    let root = tempfile::tempdir().unwrap();
    let batches = [batch("c", values.slice(0, 2_500)), batch("c", values.slice(2_500, 2_500))];
    written(root.path(), &batches).unwrap();
    let path = path_of(&root.path().join("a.parquet"));
    let whole = std::fs::read(&path).unwrap();
    let key = Key::of(&values, 100).unwrap();
    let mut kept = 0;
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&path, &bytes).unwrap();
        let found = Lookup::open(root.path(), &segment(5_000)).and_then(|l| l.find("c", &[KeyRange::of(&key)]));
        // Damage in other blocks goes unnoticed.
        kept += usize::from(found.is_some_and(|found| found.groups == [true, false]));
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(Lookup::open(root.path(), &segment(5_000)).is_none(), "cut at {at}");
    }
    assert!(kept > 0 && kept < whole.len() / 7);
    std::fs::write(&path, &whole).unwrap();
    assert!(Lookup::open(root.path(), &segment(4_999)).is_none(), "index of another segment");
    std::fs::remove_file(&path).unwrap();
    assert!(Lookup::open(root.path(), &segment(5_000)).is_none());
}

#[test]
fn index_paths_map_to_segments() {
    assert_eq!(path_of(Path::new("t/ab.parquet")), Path::new("t/_lookup/ab.lookup"));
    assert_eq!(segment_of("_lookup/ab.lookup").as_deref(), Some("ab.parquet"));
    assert_eq!(segment_of("day=1/_lookup/ab.lookup").as_deref(), Some("day=1/ab.parquet"));
    for other in ["ab.lookup", "_lookup/ab.parquet", "my_lookup/ab.lookup", "_lookup/.ab.lookup"] {
        assert_eq!(segment_of(other), None, "{other}");
    }
}
