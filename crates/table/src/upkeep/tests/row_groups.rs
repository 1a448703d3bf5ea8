//! Merging joins small row groups, and copies large ones with all that belongs to them. Damage stays in its row group.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Int64Type};
use disk::RealDisk;
use disk::watched::{Operation, WatchedDisk};
use parquet::arrow::ArrowWriter;
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::RowGroupMetaData;

use super::{disk, rows, schema, segments};
use crate::input::Input;
use crate::layout::{GROUP_BYTES, Layout, TableOptions};
use crate::log::{Change, ColumnStatistics, Segment, Table};
use crate::upkeep::compact::merges;
use crate::upkeep::{LayoutChange, RewriteOptions, compact, rebuild, rewrite};
use crate::{ErrorKind, Inserter};

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
        for (leaf, chunk) in about.columns().iter().enumerate() {
            assert_eq!(offsets[group][leaf].page_locations()[0].offset, chunk.data_page_offset());
        }
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

#[tokio::test(flavor = "multi_thread")]
async fn row_groups_of_long_rows_have_few() {
    const ROW_BYTES: usize = 1 << 20;
    let root = tempfile::tempdir().unwrap();
    let text = |row: usize| char::from(b'a' + (row % 26) as u8).to_string().repeat(ROW_BYTES - row % 50);
    let texts = |rows: std::ops::Range<usize>| {
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(rows.map(text)));
        RecordBatch::try_from_iter([("text", column)]).unwrap()
    };
    let options = TableOptions::new(Layout::Pruned);
    let schema = texts(0..1).schema();
    let inserter = Inserter::open_or_create(root.path(), disk(), &schema, &options).await.unwrap();
    for rows in [0..45, 45..90, 90..135] {
        inserter.insert(&[texts(rows)]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for counts in [&[45, 45, 45][..], &[128, 7]] {
        let mut found = Vec::new();
        for segment in segments(root.path()).await {
            let (_, footer) = Input::open(root.path(), &schema, &segment).unwrap().with_page_index().unwrap();
            found.extend(footer.row_groups().iter().map(RowGroupMetaData::num_rows));
            // Encoding adds the lengths of the texts.
            let bytes_max = (GROUP_BYTES + GROUP_BYTES / 100) as i64;
            assert!(footer.row_groups().iter().all(|group| group.total_byte_size() <= bytes_max));
            for (columns, group) in footer.offset_index().unwrap().iter().zip(footer.row_groups()) {
                // One to three texts each.
                assert!(3 * columns[0].page_locations().len() >= group.num_rows() as usize);
            }
        }
        assert_eq!(found, counts);
        compact(root.path(), disk(), None).await.unwrap();
    }
}

#[test]
fn segments_of_many_bytes_are_not_merged() {
    let merged = |megabytes: &[u64]| -> Vec<usize> {
        let segment = |megabytes: &u64| Segment { rows: 10, bytes: megabytes << 20, ..Segment::default() };
        merges(megabytes.iter().map(segment).collect()).iter().map(Vec::len).collect()
    };
    assert_eq!(merged(&[100, 1, 300, 100]), [3]);
    assert_eq!(merged(&[200; 6]), [2, 2, 2]);
    assert_eq!(merged(&[257, 256, 256, 256]), [2]);
    assert_eq!(merged(&[u64::MAX >> 20, 1, 1]), [2]);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(path, to).unwrap();
        }
    }
}

/// A table with two segments, of 180 and 90 rows, whose row groups merging copies.
async fn two_segments(root: &Path) -> [Segment; 2] {
    insert(&small_groups(root).await, &[180, 90]).await;
    Table::open(root, disk()).await.unwrap().unwrap().segments_by_age().await.unwrap().try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_an_error_or_leaves_all_rows() {
    let whole = tempfile::tempdir().unwrap();
    let [first, _] = two_segments(whole.path()).await;
    let bytes = std::fs::read(whole.path().join(&first.path)).unwrap();
    for place in (0..bytes.len()).rev().step_by(29) {
        let root = tempfile::tempdir().unwrap();
        copy(whole.path(), root.path());
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        std::fs::write(root.path().join(&first.path), damaged).unwrap();
        match compact(root.path(), disk(), None).await {
            Ok(_) => {
                let all = segments(root.path()).await;
                assert_eq!(all.iter().map(|segment| segment.rows).sum::<u64>(), 270, "byte {place}");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Damaged, "byte {place}: {error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_page_indexes_are_not_copied() {
    let root = tempfile::tempdir().unwrap();
    let [first, _] = two_segments(root.path()).await;
    let (_, footer) = Input::open(root.path(), &schema(), &first).unwrap().with_page_index().unwrap();
    let chunk = footer.row_group(0).column(0);
    let (from, length) = (chunk.offset_index_offset().unwrap() as usize, chunk.offset_index_length().unwrap() as usize);
    let path = root.path().join(&first.path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[from..from + length].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    compact(root.path(), disk(), None).await.unwrap();
    assert!(ids_of(root.path()).await.into_iter().eq(0..270));
    let merged = segments(root.path()).await.remove(0);
    let (_, footer) = Input::open(root.path(), &schema(), &merged).unwrap().with_page_index().unwrap();
    assert!(footer.offset_index().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn segments_with_other_rows_than_logged_are_not_merged() {
    let root = tempfile::tempdir().unwrap();
    let [first, second] = two_segments(root.path()).await;
    std::fs::copy(root.path().join(&second.path), root.path().join(&first.path)).unwrap();
    let error = compact(root.path(), disk(), None).await.unwrap_err();
    assert!(error.to_string().ends_with("it has 90 rows, but the log says 180"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_keep_the_nulls_of_sets() {
    let root = tempfile::tempdir().unwrap();
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(Field::new("element", DataType::Utf8, false));
    for row in 0..80 {
        lists.values().append_value(format!("word {}", row % 3));
        lists.append(row % 4 > 0);
    }
    let column: ArrayRef = Arc::new(lists.finish());
    let rows = RecordBatch::try_from_iter_with_nullable([("words", column, true)]).unwrap();
    let options = TableOptions { group_rows: 100, ..TableOptions::new(Layout::Pruned) };
    let inserter = Inserter::open_or_create(root.path(), disk(), &rows.schema(), &options).await.unwrap();
    for _ in 0..2 {
        inserter.insert(std::slice::from_ref(&rows)).await.unwrap();
    }
    compact(root.path(), disk(), None).await.unwrap();
    let [merged] = segments(root.path()).await.try_into().unwrap();
    assert_eq!((merged.groups(), merged.rows, merged.columns["words"].nulls), (Some(2), 160, Some(40)));
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disks_damage_no_segment() {
    let root = tempfile::tempdir().unwrap();
    let options = TableOptions::new(Layout::Pruned);
    let inserter = Inserter::open_or_create(root.path(), disk(), &schema(), &options).await.unwrap();
    for from in [0, 90_000] {
        let ids = rows(from..from + 90_000);
        let bits = ids.column(0).as_primitive::<Int64Type>().values().iter();
        // Does not compress.
        let noise = bits.map(|id| (id.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> 8) as f64);
        let mut columns = ids.columns().to_vec();
        columns[3] = Arc::new(Float64Array::from_iter_values(noise));
        inserter.insert(&[RecordBatch::try_new(schema(), columns).unwrap()]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let full = WatchedDisk::over(RealDisk, |operation, path| match operation {
        Operation::Write if path.to_string_lossy().contains(".parquet") => Err(std::io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    });
    let error = compact(root.path(), Arc::new(full), None).await.unwrap_err();
    assert!(error.to_string().contains("free some space") && error.kind() == ErrorKind::Environment, "{error}");
    assert_eq!(compact(root.path(), disk(), None).await.unwrap().segments_out, 1);
    assert_eq!(groups(root.path()).await, [90_000, 90_000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_saves_sound_row_groups() {
    let root = tempfile::tempdir().unwrap();
    let inserter = small_groups(root.path()).await;
    insert(&inserter, &[300, 50]).await;
    let all = segments(root.path()).await;
    let first = all.iter().find(|segment| segment.rows == 300).unwrap();
    let (_, footer) = Input::open(root.path(), &schema(), first).unwrap().with_page_index().unwrap();
    let path = root.path().join(&first.path);
    let mut bytes = std::fs::read(&path).unwrap();
    let (from, length) = footer.row_group(1).column(0).byte_range();
    bytes[from as usize..(from + length) as usize].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    for apply in [false, true] {
        let found = rebuild(root.path(), disk(), apply, None).await.unwrap();
        assert_eq!((found.segments, found.rows, found.damaged.len()), (1, 250, 1));
        assert_eq!((found.damaged[0].rows, found.damaged[0].kept.is_some()), (100, apply));
    }
    let mut ids = ids_of(root.path()).await;
    ids.sort_unstable();
    assert!(ids.into_iter().eq((0..100).chain(200..350)));
    let mut rows = groups(root.path()).await;
    rows.sort_unstable();
    assert_eq!(rows, [50, 100, 100]);
    let levels =
        segments(root.path()).await.iter().map(|segment| segment.columns.get("level").cloned()).collect::<Vec<_>>();
    assert!(levels.iter().flatten().all(|level| level.min.is_none()), "NaN has no order: {levels:?}");
    assert_eq!(rebuild(root.path(), disk(), false, None).await.unwrap().damaged, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn widened_columns_lose_their_bloom_filters() {
    let root = tempfile::tempdir().unwrap();
    let inserter = small_groups(root.path()).await;
    insert(&inserter, &[250]).await;
    let change = LayoutChange { widen: vec!["id".to_owned()], ..LayoutChange::default() };
    rewrite(root.path(), disk(), &RewriteOptions { change, ..RewriteOptions::default() }).await.unwrap();
    let table = Table::open(root.path(), disk()).await.unwrap().unwrap();
    let widened = table.arrow_schema().unwrap();
    assert_eq!(*widened.field_with_name("id").unwrap().data_type(), DataType::Float64);
    assert!(table.options().unwrap().bloom.is_empty());
    for segment in segments(root.path()).await {
        let input = Input::open(root.path(), &widened, &segment).unwrap();
        let mut chunks = input.metadata().metadata().row_groups().iter().map(|group| group.column(0));
        assert!(chunks.all(|chunk| chunk.bloom_filter_offset().is_none()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_of_other_writers_do_not_deny_nan() {
    let root = tempfile::tempdir().unwrap();
    let inserter = small_groups(root.path()).await;
    inserter.insert(&[rows(4..10)]).await.unwrap();
    let has_bounds = async || {
        let all = segments(root.path()).await;
        all.iter().map(|segment| segment.columns.get("level").is_some_and(|c| c.min.is_some())).collect::<Vec<_>>()
    };
    assert_eq!(has_bounds().await, [true]);
    // One of these levels is NaN, which the bounds of some writers leave out.
    let (path, batch) = ("theirs.parquet", rows(0..10));
    let file = std::fs::File::create(root.path().join(path)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let theirs = Segment {
        path: path.to_owned(),
        bytes: root.path().join(path).metadata().unwrap().len(),
        rows: 10,
        partition: BTreeMap::new(),
        columns: BTreeMap::from([("level".to_owned(), ColumnStatistics::between(0, 9))]),
        tags: BTreeMap::new(),
    };
    let mut table = Table::open(root.path(), disk()).await.unwrap().unwrap();
    table.commit(&Change { add: vec![theirs], ..Change::default() }).await.unwrap();
    compact(root.path(), disk(), None).await.unwrap();
    assert_eq!(has_bounds().await, [false]);
}
