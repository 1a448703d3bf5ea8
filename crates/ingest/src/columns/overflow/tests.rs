//! Fits batches in turn and checks the columns.

use arrow::array::{BooleanArray, Float64Array, Int64Array, ListBuilder, StringBuilder, TimestampMicrosecondArray};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::super::Policy;
use super::*;

fn ints(values: &[Option<i64>]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn floats(values: &[Option<f64>]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn sets(values: &[&[&str]]) -> ArrayRef {
    let mut sets = ListBuilder::new(StringBuilder::new());
    values.iter().for_each(|set| sets.append_value(set.iter().map(Some)));
    Arc::new(sets.finish())
}

fn rows(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(n, c)| (*n, c.clone(), true))).unwrap()
}

/// Fits batches in turn. Returns the columns with all their values, NULL as `-`, and the reported overflows.
fn check(batches: &[RecordBatch], expected: &[(&str, &str)]) -> Vec<Overflow> {
    let mut columns = Columns::new(&Schema::empty());
    let mut overflows = Vec::new();
    let fitted: Vec<RecordBatch> = batches
        .iter()
        .map(|rows| {
            let fitted = columns.fit(rows.clone(), Policy::KEEP).unwrap();
            assert_eq!(fitted.rows.num_rows(), rows.num_rows(), "a row was dropped");
            overflows.extend(fitted.overflows);
            fitted.rows
        })
        .collect();
    let whole: Vec<RecordBatch> = fitted.iter().map(|rows| columns.conform(rows).unwrap()).collect();
    let whole = arrow::compute::concat_batches(columns.schema(), &whole).unwrap();
    let options = FormatOptions::default().with_null("-");
    let found: Vec<(String, String)> = (whole.schema().fields().iter().zip(whole.columns()))
        .map(|(field, column)| {
            let shown = ArrayFormatter::try_new(column, &options).unwrap();
            (field.name().clone(), (0..column.len()).map(|i| shown.value(i).to_string()).collect::<Vec<_>>().join(" "))
        })
        .collect();
    let expected: Vec<_> = expected.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    assert_eq!(found, expected);
    overflows
}

#[test]
fn integers_widen_and_all_else_goes_into_the_overflow() {
    let overflows = check(
        &[
            rows(&[("a", ints(&[Some(1)]))]),
            rows(&[("a", floats(&[Some(2.5)]))]),
            rows(&[("a", texts(&[None, Some("x")])), ("b", ints(&[Some(7), Some(8)]))]),
            rows(&[("a", Arc::new(BooleanArray::from(vec![true])))]),
            rows(&[("a", ints(&[Some(3)]))]),
            rows(&[("a", sets(&[&["p", "q\""]]))]),
        ],
        &[("a", "1.0 2.5 - - - 3.0 -"), ("b", "- - 7 8 - - -"), ("a_text", "- - - x true - [\"p\",\"q\\\"\"]")],
    );
    let reason = "holds real numbers, and text came".to_owned();
    assert_eq!(overflows[0], Overflow { field: "a".into(), overflow: "a_text".into(), reason, rows: 1, first: 1 });
    assert_eq!(overflows.len(), 3);
}

#[test]
fn numbers_and_times_that_come_for_text_keep_their_digits() {
    let time: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_500_000]).with_timezone("UTC"));
    check(
        &[rows(&[("a", texts(&[Some("t")]))]), rows(&[("a", ints(&[Some(-5)]))]), rows(&[("a", time)])],
        &[("a", "t - -"), ("a_text", "- -5 1970-01-01T00:00:01.500Z")],
    );
}

#[test]
fn an_overflow_column_that_is_taken_by_something_else_has_another_name() {
    check(
        &[
            rows(&[("a", ints(&[Some(1)])), ("a_text", ints(&[Some(2)]))]),
            rows(&[("a", texts(&[Some("x")])), ("a_text", texts(&[Some("y")]))]),
        ],
        &[("a", "1 -"), ("a_text", "2 -"), ("a_text_text", "- x"), ("a_text_text_text", "- y")],
    );
}

#[test]
fn an_overflow_column_that_came_along_takes_what_does_not_fit_in_other_rows() {
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    let mixed = rows(&[("a", ints(&[Some(1), None])), ("a_text", texts(&[None, Some("x")]))]);
    check(&[rows(&[("a", flags)]), mixed], &[("a", "true - -"), ("a_text", "- 1 x")]);
}

#[test]
fn a_row_with_a_value_of_its_own_in_the_overflow_column_has_another() {
    let mixed = rows(&[("a", texts(&[Some("x"), Some("y")])), ("a_text", texts(&[None, Some("own")]))]);
    let overflows = check(
        &[rows(&[("a", ints(&[Some(1)]))]), mixed],
        &[("a", "1 - -"), ("a_text", "- x own"), ("a_text_text", "- - y")],
    );
    assert_eq!(overflows.iter().map(|t| (t.rows, t.first)).collect::<Vec<_>>(), [(1, 0), (1, 1)]);
}

#[test]
fn columns_without_values_do_not_fix_a_type() {
    check(
        &[rows(&[("a", texts(&[None])), ("b", ints(&[Some(1)]))]), rows(&[("a", ints(&[Some(4)]))])],
        &[("b", "1 -"), ("a", "- 4")],
    );
}

#[test]
fn however_rows_are_cut_the_values_are_where_they_were() {
    let batch = |a: ArrayRef| rows(&[("a", a)]);
    let all =
        [batch(ints(&[Some(1)])), batch(texts(&[Some("x")])), batch(floats(&[Some(0.5)])), batch(texts(&[Some("y")]))];
    let whole = {
        let mut columns = Columns::new(&Schema::empty());
        let fitted = all.iter().map(|b| columns.fit(b.clone(), Policy::KEEP).unwrap().rows).collect::<Vec<_>>();
        fitted.iter().map(|b| columns.conform(b).unwrap()).collect::<Vec<_>>()
    };
    // A digest may cut after any batch: the next starts from the table's columns.
    for cut in 1..all.len() {
        let mut columns = Columns::new(&Schema::empty());
        all[..cut].iter().for_each(|b| drop(columns.fit(b.clone(), Policy::KEEP).unwrap()));
        let mut after = Columns::new(columns.schema());
        let fitted = all[cut..].iter().map(|b| after.fit(b.clone(), Policy::KEEP).unwrap().rows).collect::<Vec<_>>();
        let fitted = fitted.iter().map(|b| after.conform(b).unwrap()).collect::<Vec<_>>();
        assert_eq!(fitted, whole[cut..], "cut at {cut}");
    }
}

#[test]
fn rows_left_out_bring_no_columns_and_no_types() {
    let mut columns = Columns::new(&rows(&[("a", ints(&[])), ("b", ints(&[]))]).schema());
    let before = columns.schema().clone();
    let policy = Policy { on_conflict: OnConflict::Refuse, columns_max: 9 };
    let sent = rows(&[("a", texts(&[Some("t")])), ("b", floats(&[Some(2.5)])), ("z", texts(&[Some("only here")]))]);
    let fitted = columns.fit(sent, policy).unwrap();
    assert_eq!((fitted.rows.num_rows(), fitted.conflicts.len(), columns.schema()), (0, 1, &before));
    let sent = rows(&[
        ("a", texts(&[Some("t"), None])),
        ("b", floats(&[Some(2.5), None])),
        ("z", texts(&[None, Some("kept")])),
    ]);
    let fitted = columns.fit(sent, policy).unwrap();
    assert_eq!(fitted.rows, rows(&[("z", texts(&[Some("kept")]))]));
    let types: Vec<_> = columns.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types, [DataType::Int64, DataType::Int64, DataType::Utf8]);
}
