//! Columns of sets: every layout and every maintenance operation preserves them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, LargeListBuilder, LargeStringBuilder, ListBuilder, RecordBatch,
    StringBuilder, TimestampMicrosecondArray,
};
use arrow::compute::kernels::cmp::gt_eq;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef, TimeUnit};
use disk::{Disk, RealDisk};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use table::cluster::{ClusterOptions, cluster};
use table::upkeep::{
    Fate, Filter, LayoutChange, RewriteOptions, TrimLimit, TrimOptions, compact, delete_rows, last_rows, rewrite, trim,
};
use table::{
    Appender, Clustering, Curve, Inserter, Layout, Segment, Table, TableOptions, advise, inspect, set_of, set_type,
    storable,
};
use twox_hash::XxHash64;

type Set = Option<Vec<String>>;

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn schema() -> SchemaRef {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    Arc::new(Schema::new(vec![
        Field::new("time", time, true),
        Field::new("groups", set_type(), true),
        Field::new("id", DataType::Int64, true),
    ]))
}

fn sets(sets: &[Set]) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, false));
    for set in sets {
        match set {
            Some(texts) => lists.append_value(texts.iter().map(Some)),
            None => lists.append_null(),
        }
    }
    Arc::new(lists.finish())
}

/// Rows with their ids as times, in seconds.
fn rows(first: i64, of: &[Set]) -> RecordBatch {
    let ids = || first..first + of.len() as i64;
    let times = TimestampMicrosecondArray::from_iter_values(ids().map(|id| id * 1_000_000)).with_timezone("UTC");
    let columns: Vec<ArrayRef> = vec![Arc::new(times), sets(of), Arc::new(Int64Array::from_iter_values(ids()))];
    RecordBatch::try_new(schema(), columns).unwrap()
}

fn of_rows(batch: &RecordBatch, found: &mut BTreeMap<i64, Set>) {
    assert_eq!(batch.column_by_name("groups").unwrap().data_type(), &set_type());
    let ids = batch.column_by_name("id").unwrap().as_primitive::<Int64Type>();
    let lists = batch.column_by_name("groups").unwrap().as_list::<i32>();
    for (row, &id) in ids.values().iter().enumerate() {
        let texts = |list: ArrayRef| list.as_string::<i32>().iter().map(|t| t.unwrap().to_owned()).collect();
        let set = lists.is_valid(row).then(|| texts(lists.value(row)));
        assert!(found.insert(id, set).is_none(), "row {id} occurs twice");
    }
}

async fn segments(root: &Path) -> Vec<Segment> {
    Table::open(root, disk()).await.unwrap().unwrap().segments().await.unwrap()
}

/// The sets of all rows by id, read with the Parquet library.
async fn stored(root: &Path) -> BTreeMap<i64, Set> {
    let mut found = BTreeMap::new();
    let table = Table::open(root, disk()).await.unwrap().unwrap();
    let statistics = matches!(table.options().unwrap().layout, Layout::Pruned | Layout::Clustered);
    for segment in table.segments().await.unwrap() {
        let file = File::open(root.join(&segment.path)).unwrap();
        let mut of_segment = BTreeMap::new();
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        reader.for_each(|batch| of_rows(&batch.unwrap(), &mut of_segment));
        let nulls = of_segment.values().filter(|set| set.is_none()).count() as u64;
        let statistics_of_sets = segment.columns.get("groups");
        assert_eq!(statistics_of_sets.and_then(|s| s.nulls), statistics.then_some(nulls));
        assert!(statistics_of_sets.is_none_or(|s| s.min.is_none() && s.max.is_none()));
        found.extend(of_segment);
    }
    found
}

fn options(layout: Layout) -> TableOptions {
    let clustering =
        (layout == Layout::Clustered).then(|| Clustering { columns: vec!["id".to_owned()], curve: Curve::Hilbert });
    TableOptions { clustering, lookup: vec!["id".to_owned()], group_rows: 100, ..TableOptions::new(layout) }
}

async fn change(root: &Path, layout: Layout) {
    let cluster = (layout == Layout::Clustered).then(|| vec!["id".to_owned()]);
    let change = LayoutChange { layout: Some(layout), cluster, ..LayoutChange::default() };
    let options = RewriteOptions { change, memory: 1, ..RewriteOptions::default() };
    rewrite(root, disk(), &options).await.unwrap();
}

/// Selects rows with at least this many texts.
struct Larger(i64);

impl Filter for Larger {
    fn fate(&self, _: &Segment) -> Fate {
        Fate::Look
    }

    fn columns(&self) -> Vec<String> {
        vec!["groups".to_owned()]
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        let lists = rows.column(0).as_list::<i32>();
        let counts = lists.iter().map(|list| list.map(|list| list.len() as i64)).collect::<Int64Array>();
        gt_eq(&counts, &Int64Array::new_scalar(self.0)).map_err(|e| e.to_string())
    }
}

async fn check(batches: Vec<Vec<Set>>, layout: Layout) {
    let folder = tempfile::tempdir().unwrap();
    let root = &folder.path().join("events");
    let inserter = Inserter::open_or_create(root, disk(), &schema(), &options(layout)).await.unwrap();
    let mut expected = BTreeMap::new();
    for batch in batches {
        let rows = rows(expected.len() as i64, &batch);
        inserter.insert(std::slice::from_ref(&rows)).await.unwrap();
        of_rows(&rows, &mut expected);
    }
    assert_eq!(stored(root).await, expected);
    drop(inserter);
    compact(root, disk(), None).await.unwrap();
    assert_eq!(stored(root).await, expected);
    for layout in [Layout::Clustered, Layout::Column, Layout::Pruned, Layout::Clustered] {
        change(root, layout).await;
        assert_eq!(stored(root).await, expected, "{layout}");
    }
    let all = ClusterOptions { all: true, memory: 1, ..ClusterOptions::default() };
    let clustered = cluster(root, disk(), all).await.unwrap();
    assert!(clustered.spilled_bytes > 0);
    assert_eq!(stored(root).await, expected);
    let before = TrimLimit::Before("1970-01-01T00:00:07Z".to_owned());
    let trimmed = trim(root, disk(), &TrimOptions { limit: before, column: None, apply: true }).await.unwrap();
    expected.retain(|id, _| *id >= 7);
    assert_eq!(stored(root).await, expected);
    let deleted = delete_rows(root, disk(), Arc::new(Larger(3)), true).await.unwrap();
    let rows = expected.len();
    expected.retain(|_, set| set.as_ref().is_none_or(|texts| texts.len() < 3));
    assert_eq!((trimmed.deleted.rows > 0, deleted.rows as usize), (true, rows - expected.len()));
    assert_eq!(stored(root).await, expected);
}

fn set() -> impl Strategy<Value = Set> {
    let common = prop::collection::btree_set(prop::sample::select(vec!["mod2", "mod3", "mod5", "none", ""]), 0..4);
    let common = common.prop_map(|texts| Some(texts.into_iter().map(str::to_owned).collect()));
    let any = prop::collection::btree_set(".{0,12}", 0..30).prop_map(|texts| Some(texts.into_iter().collect()));
    prop_oneof![1 => Just(None), 6 => common, 2 => any]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn maintenance_preserves_sets(
        batches in prop::collection::vec(prop::collection::vec(set(), 1..250), 1..4),
        layout in prop::sample::select(vec![Layout::Column, Layout::Pruned, Layout::Clustered]),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(check(batches, layout));
    }
}

/// A set that is not NULL.
#[expect(clippy::unnecessary_wraps, reason = "rows hold optional sets")]
fn one(texts: &[&str]) -> Set {
    Some(texts.iter().map(|&text| text.to_owned()).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_become_sets_unless_a_text_is_null() {
    let root = tempfile::tempdir().unwrap();
    let mut large = LargeListBuilder::new(LargeStringBuilder::new());
    large.append_value([Some("a"), Some("b")]);
    large.append_null();
    large.append_value([Some("x"), None]);
    let large: ArrayRef = Arc::new(large.finish());
    let batch = |lists: ArrayRef| {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..lists.len() as i64));
        RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("groups", lists, true)]).unwrap()
    };
    let lists = storable(root.path(), &batch(large.clone()).schema()).unwrap();
    assert_eq!(lists.field(1).data_type(), &set_type());
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root.path(), disk(), &lists, &options).await.unwrap();
    assert_eq!(inserter.schema(), &lists, "storing the type does not change it");
    // The slice excludes the last list and its NULL.
    inserter.insert(&[batch(large.slice(0, 2))]).await.unwrap();
    assert_eq!(stored(root.path()).await, [(0, one(&["a", "b"])), (1, None)].into());
    let refused = inserter.insert(&[batch(large)]).await.unwrap_err().to_string();
    assert!(refused.contains("\"groups\"") && refused.contains("a set contains NULL"), "{refused}");
    let numbers: ArrayRef =
        Arc::new(arrow::array::ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(1)])]));
    assert!(set_of(&numbers).is_none());
    let refused = storable(root.path(), &batch(numbers).schema()).unwrap_err().to_string();
    assert!(refused.contains("\"groups\"") && refused.contains("is not supported"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn options_that_sets_do_not_support_fail() {
    let root = tempfile::tempdir().unwrap();
    let named = || vec!["groups".to_owned()];
    let clustering = Some(Clustering { columns: named(), curve: Curve::Hilbert });
    for options in [
        TableOptions { bloom: named(), ..TableOptions::new(Layout::Pruned) },
        TableOptions { lookup: named(), ..TableOptions::new(Layout::Column) },
        TableOptions { clustering, ..TableOptions::new(Layout::Clustered) },
    ] {
        let refused = Inserter::open_or_create(root.path(), disk(), &schema(), &options).await.unwrap_err().to_string();
        assert!(refused.contains("column \"groups\" holds sets"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_name_sets_by_their_column() {
    let root = tempfile::tempdir().unwrap();
    let batch = rows(0, &[one(&["a", "b"]), None, one(&[]), one(&["a", "b"])]);
    let inserter = Inserter::open_or_create(root.path(), disk(), &schema(), &options(Layout::Pruned)).await.unwrap();
    inserter.insert(std::slice::from_ref(&batch)).await.unwrap();
    let reports = inspect(root.path(), &segments(root.path()).await).unwrap();
    assert_eq!(reports.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["time", "groups", "id"]);
    assert_eq!((reports[1].groups, reports[1].groups_with_bounds, reports[0].groups_with_bounds), (1, 0, 1));
    let advice = advise(&[batch]).unwrap();
    assert_eq!((advice[1].column.as_str(), advice[1].distinct), ("groups", 2));
    assert!(!advice[1].bloom.yes && !advice[1].cluster.yes);
}

#[tokio::test(flavor = "multi_thread")]
async fn sets_use_dictionaries_and_compress_if_smaller() {
    // Incompressible sets, then equal sets.
    let scattered = |i: u64| Some(vec![format!("{:02x}", XxHash64::oneshot(0, &i.to_le_bytes()) % 256)]);
    let alike = |_: u64| one(&["mod2", "mod3"]);
    for (sets, codec) in
        [((0..50_000).map(scattered).collect::<Vec<_>>(), "uncompressed"), ((0..50_000).map(alike).collect(), "zstd")]
    {
        let root = tempfile::tempdir().unwrap();
        let options = TableOptions::new(Layout::Pruned);
        let inserter = Inserter::open_or_create(root.path(), disk(), &schema(), &options).await.unwrap();
        inserter.insert(&[rows(0, &sets)]).await.unwrap();
        let report = inspect(root.path(), &segments(root.path()).await).unwrap().remove(1);
        assert!(report.encodings.contains("rle_dictionary"), "{report:?}");
        assert!(report.codecs.contains(codec) && report.codecs.len() == 1, "{report:?}");
        assert!(report.bytes < if codec == "zstd" { 5_000 } else { 55_000 }, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_add_sets_as_new_columns() {
    let root = tempfile::tempdir().unwrap();
    let (before, batch) = (rows(0, &[None, None]), rows(2, &[one(&["a"]), None, one(&[])]));
    let before = before.project(&[0, 2]).unwrap();
    let options = TableOptions::new(Layout::Pruned);
    let appender = Appender::open_or_create(root.path(), disk(), &before.schema(), &options).await.unwrap();
    for (position, rows) in [(1, before), (2, batch)] {
        let segment = appender.write(std::slice::from_ref(&rows), None).unwrap();
        appender.commit(vec![segment], &rows.schema(), position).await.unwrap();
    }
    let table = Table::open(root.path(), disk()).await.unwrap().unwrap();
    let columns = table.arrow_schema().unwrap();
    assert_eq!(columns.field_with_name("groups").unwrap(), &Field::new("groups", set_type(), true));
    compact(root.path(), disk(), None).await.unwrap();
    let expected = [(0, None), (1, None), (2, one(&["a"])), (3, None), (4, one(&[]))];
    assert_eq!(stored(root.path()).await, expected.into());
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_with_equal_sets_are_replaced() {
    let root = tempfile::tempdir().unwrap();
    let same_time = |id: i64, set: Set| {
        let batch = rows(id, &[set]);
        let time = rows(0, &[None]).column(0).clone();
        RecordBatch::try_new(schema(), vec![time, batch.column(1).clone(), batch.column(2).clone()]).unwrap()
    };
    let options = TableOptions::new(Layout::Pruned);
    let appender = Appender::open_or_create(root.path(), disk(), &schema(), &options).await.unwrap();
    let rounds = [
        vec![same_time(1, one(&["a", "b"])), same_time(2, one(&["a"])), same_time(3, None), same_time(4, one(&[]))],
        vec![
            same_time(5, one(&["a", "b"])),
            same_time(6, one(&["ab"])),
            same_time(7, None),
            same_time(8, one(&["ab"])),
        ],
    ];
    for (position, batches) in (1..).zip(rounds) {
        let (rows, superseding) = last_rows(batches, "time", &["groups".to_owned()]).unwrap();
        let segment = appender.write(&rows, None).unwrap();
        let superseding = Arc::new(superseding.unwrap());
        appender.commit_superseding(vec![segment], &schema(), position, superseding).await.unwrap();
    }
    let left: Vec<i64> = stored(root.path()).await.into_keys().collect();
    assert_eq!(left, [2, 4, 5, 7, 8]);
}
