//! Merging joins small row groups, and copies large ones with all that belongs to them.

use std::path::Path;
use std::time::Duration;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::RowGroupMetaData;

use super::{disk, rows, schema, segments};
use crate::Inserter;
use crate::input::Input;
use crate::layout::{Layout, TableOptions};
use crate::log::{Change, ColumnStatistics, Table};
use crate::upkeep::compact;

/// The ids of all rows in stored order.
async fn ids_of(root: &Path) -> Vec<i64> {
    let mut all = Vec::new();
    for segment in segments(root).await {
        for batch in Input::open(root, &schema(), &segment).unwrap().rows(None, None).unwrap() {
            all.extend_from_slice(batch.unwrap().column(0).as_primitive::<Int64Type>().values());
        }
    }
    all
}

/// The rows of each row group, in the order of segments.
async fn groups(root: &Path) -> Vec<i64> {
    let mut rows = Vec::new();
    for segment in segments(root).await {
        let input = Input::open(root, &schema(), &segment).unwrap();
        rows.extend(input.metadata().metadata().row_groups().iter().map(RowGroupMetaData::num_rows));
    }
    rows
}

/// A table with row groups of up to 100 rows.
async fn small_groups(root: &Path) -> Inserter {
    let options = TableOptions { group_rows: 100, bloom: vec!["id".to_owned()], ..TableOptions::new(Layout::Pruned) };
    Inserter::open_or_create(root, disk(), &schema(), &options).await.unwrap()
}

/// Inserts rows as segments of these lengths, with ids from 0 on.
async fn insert(inserter: &Inserter, counts: &[i64]) {
    let mut from = 0;
    for count in counts {
        inserter.insert(&[rows(from..from + count)]).await.unwrap();
        from += count;
        // Segments of the same millisecond have no defined age.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_row_groups_are_copied_with_all_that_belongs_to_them() {
    let root = tempfile::tempdir().unwrap();
    // Small groups are joined, until they are large.
    insert(&small_groups(root.path()).await, &[70, 180, 20, 40, 95]).await;
    compact(root.path(), disk(), None).await.unwrap();
    let after = segments(root.path()).await.remove(0);
    assert_eq!(groups(root.path()).await, [70, 90, 90, 60, 95]);
    assert_eq!((after.rows, after.groups()), (405, Some(5)));
    assert_eq!(after.columns["id"], ColumnStatistics { nulls: Some(0), ..ColumnStatistics::between(0, 404) });
    assert_eq!(after.columns["at"].nulls, Some((0..405).filter(|id| id % 10 == 9).count() as u64));
    let input = Input::open(root.path(), &schema(), &after).unwrap();
    let (file, footer) = input.with_page_index().unwrap();
    let (columns, offsets) = (footer.column_index().unwrap(), footer.offset_index().unwrap());
    let mut next = 0;
    for (group, about) in footer.row_groups().iter().enumerate() {
        assert_eq!(columns[group][0].num_pages() as usize, offsets[group][0].page_locations().len());
        let filter = Sbbf::read_from_column_chunk(about.column(0), &file).unwrap().unwrap();
        let ids = next..next + about.num_rows();
        assert!(ids.clone().all(|id| filter.check(&id)));
        assert!((1_000..2_000).filter(|id| filter.check(id)).count() < 100, "the filter excludes other numbers");
        next = ids.end;
    }
    assert!(ids_of(root.path()).await.into_iter().eq(0..405));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_groups_of_other_options_are_not_copied() {
    let root = tempfile::tempdir().unwrap();
    insert(&small_groups(root.path()).await, &[80, 70]).await;
    let mut table = Table::open_locked(root.path(), disk()).await.unwrap().unwrap();
    let properties = [("manyworlds.encodings".to_owned(), Some("dense".to_owned()))].into();
    table.commit(&Change { properties, ..Change::default() }).await.unwrap();
    drop(table);
    compact(root.path(), disk(), None).await.unwrap();
    assert_eq!(groups(root.path()).await, [75, 75]);
    assert!(ids_of(root.path()).await.into_iter().eq(0..150));
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_with_several_row_groups_merge() {
    let root = tempfile::tempdir().unwrap();
    insert(&small_groups(root.path()).await, &[50, 250]).await;
    let done = compact(root.path(), disk(), None).await.unwrap();
    assert_eq!((done.segments_in, done.segments_out), (2, 1));
    assert_eq!(segments(root.path()).await[0].groups(), Some(3));
}
