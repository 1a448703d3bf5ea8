//! This crate's reader and the Parquet library's read the same values as encoded.

use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

use pages::{Codec, EncodedColumn, EncodingSet, PageFormat};
use parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use parquet::data_type::Int32Type;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field as Value, Row};
use proptest::prelude::*;

use super::*;
use crate::{ErrorKind, Field, FieldType, SegmentSchema};
use disk::RealDisk;

/// Writes one row group of one column and opens it again.
fn write(ty: FieldType, encode: impl Fn(&mut Encoder) -> EncodedColumn, path: &Path) -> SegmentReader {
    write_with(PageFormat::default(), ty, encode, path)
}

/// Like [`write`], with a format.
fn write_with(
    format: PageFormat,
    ty: FieldType,
    encode: impl Fn(&mut Encoder) -> EncodedColumn,
    path: &Path,
) -> SegmentReader {
    let schema = SegmentSchema::new(&[Field::new("c", ty)]).unwrap();
    let mut encoder = Encoder::new(&schema, format).unwrap();
    let mut writer = SegmentWriter::create(Arc::new(RealDisk), path, &schema).unwrap();
    writer.row_group(vec![encode(&mut encoder)]).unwrap();
    writer.finish(vec![("key".to_owned(), "value".to_owned())]).unwrap();
    SegmentReader::open(path).unwrap()
}

/// The rows as read by the Parquet library.
fn read_plainly(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn column(row: &Row) -> &Value {
    row.get_column_iter().next().unwrap().1
}

fn integer(value: &Value) -> Option<i32> {
    match value {
        Value::Byte(v) => Some(i32::from(*v)),
        Value::Short(v) => Some(i32::from(*v)),
        Value::Int(v) => Some(*v),
        Value::Null => None,
        other => panic!("{other:?} is not an integer"),
    }
}

/// Checks both readers against `expected` (`None` is NULL), for all rows and for the middle third.
fn check_integers(reader: &SegmentReader, expected: &[Option<i32>]) {
    let nulls = |values: &[Option<i32>]| values.iter().map(|v| v.unwrap_or(i32::MIN)).collect::<Vec<_>>();
    assert_eq!(reader.flat(0, 0, 0..expected.len()).unwrap(), FlatValues::Integers(nulls(expected)));
    let (from, to) = (expected.len() / 3, expected.len() * 2 / 3);
    assert_eq!(reader.flat(0, 0, from..to).unwrap(), FlatValues::Integers(nulls(&expected[from..to])));
    let plain: Vec<_> = read_plainly(reader.path()).iter().map(|r| integer(column(r))).collect();
    assert_eq!(plain, expected);
}

/// Any codec and encoding set.
fn any_format() -> impl Strategy<Value = PageFormat> {
    let codec = prop_oneof![
        Just(Codec::None),
        Just(Codec::Snappy),
        Just(Codec::Lz4),
        Just(Codec::Gzip),
        (1..=22).prop_map(Codec::Zstd)
    ];
    let encodings = prop_oneof![Just(EncodingSet::Portable), Just(EncodingSet::Dense)];
    (codec, encodings).prop_map(|(codec, encodings)| PageFormat { codec, encodings })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn small_integers_round_trip(
        values in prop::collection::vec(any::<i8>(), 1..400), mask in any::<i8>(), nullable in any::<bool>(),
        format in any_format(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let values: Vec<i8> = values.into_iter().map(|v| if v == i8::MIN { v } else { v & mask }).collect();
        let expected: Vec<_> = values.iter().map(|&v| (!nullable || v != i8::MIN).then_some(i32::from(v))).collect();
        let column = FlatColumn::I8 { values: &values, nullable };
        let reader = write_with(format, FieldType::Int8, |e| e.flat(0, column).unwrap(), &folder.path().join("s"));
        check_integers(&reader, &expected);
    }

    #[test]
    fn wide_integers_round_trip(
        values in prop::collection::vec(any::<i16>(), 1..300), nullable in any::<bool>(), format in any_format(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let expected: Vec<_> = values.iter().map(|&v| (!nullable || v != i16::MIN).then_some(i32::from(v))).collect();
        let column = FlatColumn::I16 { values: &values, nullable };
        let reader = write_with(format, FieldType::Int16, |e| e.flat(0, column).unwrap(), &folder.path().join("s"));
        check_integers(&reader, &expected);
    }

    #[test]
    fn runs_round_trip(runs in prop::collection::vec((any::<i32>(), 1u32..40), 1..60), format in any_format()) {
        let folder = tempfile::tempdir().unwrap();
        let runs: Vec<_> = runs.into_iter().filter(|(v, _)| *v != i32::MIN).chain([(1, 2)]).collect();
        let expected: Vec<_> = runs.iter().flat_map(|&(v, n)| std::iter::repeat_n(Some(v), n as usize)).collect();
        let column = FlatColumn::IntRuns(&runs);
        let reader = write_with(format, FieldType::Int32, |e| e.flat(0, column).unwrap(), &folder.path().join("s"));
        check_integers(&reader, &expected);
    }

    #[test]
    fn lists_round_trip(
        lists in prop::collection::vec(prop::collection::vec(any::<i32>(), 1..80), 1..20), mask in any::<i32>(),
        format in any_format(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let lists: Vec<Vec<i32>> = lists.into_iter().map(|l| l.into_iter().map(|v| v & mask).collect()).collect();
        let rows: Vec<_> = lists.iter().map(|l| ListRows::I32(l)).collect();
        let reader = write_with(format, FieldType::Int32List, |e| e.lists(0, &rows).unwrap(), &folder.path().join("s"));
        let mut read = Vec::new();
        reader.lists(0, 0, 0..lists.len(), |_, values| read.push(match values {
            ListValues::I16(v) => v.into_iter().map(i32::from).collect(),
            ListValues::I32(v) => v,
            other => panic!("{other:?}"),
        })).unwrap();
        prop_assert_eq!(&read, &lists);
        let plain: Vec<Vec<i32>> = read_plainly(reader.path()).iter().map(|row| match column(row) {
            Value::ListInternal(list) => list.elements().iter().map(|v| integer(v).unwrap()).collect(),
            other => panic!("{other:?} is not a list"),
        }).collect();
        prop_assert_eq!(plain, lists);
    }

    #[test]
    fn real_lists_round_trip(list in prop::collection::vec(any::<f64>(), 1..80), format in any_format()) {
        let folder = tempfile::tempdir().unwrap();
        let rows = [ListRows::Null, ListRows::F64(&list)];
        let reader = write_with(format, FieldType::DoubleList, |e| e.lists(0, &rows).unwrap(), &folder.path().join("s"));
        let mut read = Vec::new();
        reader.lists(0, 0, [0, 1], |_, values| read.push(values)).unwrap();
        prop_assert_eq!(&read[0], &ListValues::Null);
        let ListValues::F64(values) = &read[1] else { panic!("{:?}", read[1]) };
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(values), bits(&list));
    }

    #[test]
    fn texts_round_trip(codes in prop::collection::vec(prop::option::of(0u8..30), 1..300), format in any_format()) {
        let folder = tempfile::tempdir().unwrap();
        let words: Vec<String> = (0..30).map(|i| format!("wörd-{i}{}", "x".repeat(i % 3))).collect();
        let stored: Vec<u8> = codes.iter().map(|c| c.unwrap_or(u8::MAX)).collect();
        let column_values = FlatColumn::Labels { codes: &stored, dictionary: &words };
        let reader = write_with(format, FieldType::Text, |e| e.flat(0, column_values).unwrap(), &folder.path().join("s"));
        let read = codes.iter().map(|c| c.map_or(u32::MAX, u32::from)).collect();
        let read = FlatValues::Texts { codes: read, dictionary: words.clone() };
        prop_assert_eq!(reader.flat(0, 0, 0..codes.len()).unwrap(), read);
        let plain: Vec<Option<String>> = read_plainly(reader.path()).iter().map(|row| match column(row) {
            Value::Str(text) => Some(text.clone()),
            Value::Null => None,
            other => panic!("{other:?} is not a text"),
        }).collect();
        let expected: Vec<_> = codes.iter().map(|c| c.map(|c| words[usize::from(c)].clone())).collect();
        prop_assert_eq!(plain, expected);
    }
}

#[test]
fn later_pages_are_found_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<i16> = (0..PAGE_ROWS as i32 * 2 + 77).map(|i| (i % 999) as i16).collect();
    let column = FlatColumn::I16 { values: &values, nullable: false };
    let reader = write(FieldType::Int16, |e| e.flat(0, column).unwrap(), &folder.path().join("s"));
    for from in [0, PAGE_ROWS - 1, PAGE_ROWS, 2 * PAGE_ROWS + 70] {
        let expected = values[from..from + 5].iter().map(|&v| i32::from(v)).collect();
        assert_eq!(reader.flat(0, 0, from..from + 5).unwrap(), FlatValues::Integers(expected));
    }
}

fn compressed(codec: Codec) -> PageFormat {
    PageFormat { codec, ..PageFormat::default() }
}

#[test]
fn portable_pages_use_widely_supported_encodings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let encodings = |encodings, ty, encode: &dyn Fn(&mut Encoder) -> EncodedColumn| -> Vec<Encoding> {
        write_with(PageFormat { encodings, ..PageFormat::default() }, ty, encode, &path);
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        reader.metadata().row_group(0).column(0).encodings().collect()
    };
    let wide = FlatColumn::I32 { values: &[70_000, i32::MIN, -70_000], nullable: true };
    let lists = [ListRows::I32(&[7, 70_000]), ListRows::I16(&[300]), ListRows::Null];
    let reals = [ListRows::F64(&[0.5, -1e300])];
    for (set, has) in [(EncodingSet::Dense, true), (EncodingSet::Portable, false)] {
        for (ty, encode) in [
            (FieldType::Int32, &(|e: &mut Encoder| e.flat(0, wide).unwrap()) as &dyn Fn(&mut Encoder) -> EncodedColumn),
            (FieldType::Int32List, &|e| e.lists(0, &lists).unwrap()),
            (FieldType::DoubleList, &|e| e.lists(0, &reals).unwrap()),
        ] {
            assert_eq!(encodings(set, ty, encode).contains(&Encoding::BYTE_STREAM_SPLIT), has, "{set} {ty:?}");
        }
    }
}

/// The column's size on disk, and the codec in its footer.
fn stored_as(codec: Codec, values: &[i16], path: &Path) -> (i64, Compression) {
    let column = FlatColumn::I16 { values, nullable: false };
    write_with(compressed(codec), FieldType::Int16, |e| e.flat(0, column).unwrap(), path);
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let chunk = reader.metadata().row_group(0).column(0);
    (chunk.compressed_size(), chunk.compression())
}

#[test]
fn footer_names_the_codec_used() {
    let folder = tempfile::tempdir().unwrap();
    // Several pages of different lengths: buffers that codecs reuse must not leak into the next page.
    let values: Vec<i16> = (0..PAGE_ROWS as i32 * 2 + 77).map(|i| (i / 50 % 999) as i16).collect();
    let stored = |codec| stored_as(codec, &values, &folder.path().join("s"));
    let (plain, name) = stored(Codec::None);
    assert_eq!((plain > values.len() as i64, name), (true, Compression::UNCOMPRESSED));
    for (codec, name) in [
        (Codec::Snappy, Compression::SNAPPY),
        (Codec::Lz4, Compression::LZ4_RAW),
        (Codec::Gzip, Compression::GZIP(GzipLevel::default())),
        (Codec::Zstd(9), Compression::ZSTD(ZstdLevel::default())),
    ] {
        let (size, named) = stored(codec);
        assert_eq!((size < plain / 5, named), (true, name), "{codec}: {size} of {plain} bytes");
        assert_eq!(read_plainly(&folder.path().join("s")).len(), values.len());
    }
}

#[test]
fn unsupported_codecs_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let schema = SegmentSchema::new(&[Field::new("c", FieldType::Int32)]).unwrap();
    let properties = WriterProperties::builder().set_compression(Compression::LZ4).build();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema.root.clone(), Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[1, 2, 3], Some(&[1, 1, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    assert_eq!(read_plainly(&path).len(), 3);
    let said = SegmentReader::open(&path).unwrap_err().to_string();
    let expected = format!(
        "cannot read column \"c\" of the segment {}: codec LZ4 with Hadoop framing is not supported: rewrite it with none, \
         Snappy, LZ4_RAW, gzip or zstd",
        path.display()
    );
    assert_eq!(said, expected);
}

#[test]
fn invalid_zstd_levels_are_rejected() {
    let schema = SegmentSchema::new(&[Field::new("c", FieldType::Int8)]).unwrap();
    assert!(Encoder::new(&schema, compressed(Codec::Zstd(99))).is_err());
}

#[test]
fn reading_damaged_pages_never_panics() {
    for codec in [Codec::None, Codec::Snappy, Codec::Lz4, Codec::Gzip, Codec::default()] {
        damage_every_byte(codec);
    }
}

fn damage_every_byte(codec: Codec) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let values: Vec<i16> = (0..2_000).map(|i| (i * 37 % 300) as i16).collect();
    write_with(compressed(codec), FieldType::Int32List, |e| e.lists(0, &[ListRows::I16(&values)]).unwrap(), &path);
    let sound = std::fs::read(&path).unwrap();
    // Write in place: some systems sync a file that is truncated and rewritten, which is slow.
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for (at, byte) in sound.iter().enumerate().skip(4) {
        file.write_all_at(&[byte ^ 0x41], at as u64).unwrap();
        let result = SegmentReader::open(&path).and_then(|reader| {
            let rows = reader.rows(0).min(1);
            reader.lists(0, 0, 0..rows, |_, _| {})
        });
        if let Err(error) = result {
            assert_eq!(error.kind(), ErrorKind::Damaged, "{codec}, byte {at}: {error}");
        }
        file.write_all_at(&[*byte], at as u64).unwrap();
    }
}

#[test]
fn unfinished_segments_leave_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let schema = SegmentSchema::new(&[Field::new("c", FieldType::Int8)]).unwrap();
    let path = folder.path().join("deep/er/s");
    drop(SegmentWriter::create(Arc::new(RealDisk), &path, &schema).unwrap());
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    let column = FlatColumn::I8 { values: &[1, 2], nullable: false };
    let reader = write(FieldType::Int8, |e| e.flat(0, column).unwrap(), &path);
    assert_eq!(reader.metadata()["key"], "value");
    assert_eq!((reader.row_groups(), reader.rows(0), reader.column("c").unwrap()), (1, 2, 0));
    assert!(reader.column("d").unwrap_err().to_string().ends_with("is damaged: no column \"d\""));
}

#[test]
fn threads_read_one_segment_concurrently() {
    let folder = tempfile::tempdir().unwrap();
    let row = |row: i32| (0..50).map(|i| (row * 7919 + i * 31) % 20_000).collect::<Vec<i32>>();
    let rows: Vec<Vec<i32>> = (0..200).map(row).collect();
    let lists: Vec<ListRows<'_>> = rows.iter().map(|r| ListRows::I32(r)).collect();
    let reader = write(FieldType::Int32List, |e| e.lists(0, &lists).unwrap(), &folder.path().join("shared.parquet"));
    let read_all = || {
        let mut read = Vec::new();
        reader.lists(0, 0, 0..rows.len(), |_, values| read.push(values)).unwrap();
        let integers = |values: &ListValues| match values {
            ListValues::I16(v) => v.iter().map(|v| i32::from(*v)).collect(),
            ListValues::I32(v) => v.clone(),
            other => panic!("{other:?} are not integers"),
        };
        assert_eq!(read.iter().map(integers).collect::<Vec<Vec<i32>>>(), rows);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| read_all()));
        }
    });
}

#[test]
fn runs_of_one_row_each_fill_several_pages() {
    let folder = tempfile::tempdir().unwrap();
    let count = 65_536 + 70_000;
    let runs: Vec<(i32, u32)> = (0..count).map(|n| (n, 1)).collect();
    let numbers = |e: &mut Encoder| e.flat(0, FlatColumn::IntRuns(&runs)).unwrap();
    let reader = write(FieldType::Int32, numbers, &folder.path().join("numbers"));
    check_integers(&reader, &(0..count).map(Some).collect::<Vec<_>>());
    let texts: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
    let runs: Vec<(&str, u32)> = texts.iter().map(|text| (text.as_str(), 1)).collect();
    let encode = |e: &mut Encoder| e.flat(0, FlatColumn::TextRuns(&runs)).unwrap();
    let reader = write(FieldType::Text, encode, &folder.path().join("texts"));
    let read: Vec<String> = read_plainly(reader.path())
        .iter()
        .map(|row| match column(row) {
            Value::Str(text) => text.clone(),
            other => panic!("{other:?} is not a text"),
        })
        .collect();
    assert_eq!(read, texts);
}
