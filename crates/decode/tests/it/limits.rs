//! What a body may ask of us, and bodies that break off.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::types::Int8Type;
use arrow::array::{
    ArrayRef, AsArray as _, Date32Array, DictionaryArray, Int8Array, Int32Array, Int64Array, LargeStringArray,
    ListArray, NullArray, RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use decode::{DecodeErrorKind, Decoded, Format, Limits, OnConflict, Precision, Request, decode, expand, expand_stream};
use rmpv::Value;

use crate::load::{self, packed};
use crate::plain::{REFUSING, shown, wide};

const LINES: Format<'_> = Format::LineProtocol { precision: Precision::Microseconds };
const JSON: Format<'_> = Format::Json { table: "cpu" };
const CSV: Format<'_> = Format::Csv { table: "cpu" };
const ARROW: Format<'_> = Format::ArrowStream { table: "cpu" };

fn run(format: Format<'_>, body: &[u8], limits: &Limits) -> Decoded {
    decode(format, body, &REFUSING, limits).unwrap()
}

/// Rows taken and items refused.
fn counts(decoded: &Decoded) -> (usize, usize) {
    let rows = decoded.tables.iter().map(|(_, rows)| rows.num_rows()).sum();
    (rows, decoded.refused.len() + decoded.refused_beyond)
}

fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    load::arrow_stream(&RecordBatch::try_from_iter_with_nullable(columns).unwrap())
}

#[test]
fn bodies_are_expanded_by_their_first_bytes() {
    let body = load::columnar(&load::records(300, 1));
    let limits = Limits::default();
    assert!(matches!(expand(&body, &limits), Ok(Cow::Borrowed(same)) if same == body));
    assert_eq!(expand(&load::gzip(&body), &limits).unwrap(), body);
    assert_eq!(expand(&zstd::encode_all(&body[..], 3).unwrap(), &limits).unwrap(), body);
    // Members and frames one after the other are one body.
    let (front, back) = body.split_at(1_000);
    assert_eq!(expand(&[load::gzip(front), load::gzip(back)].concat(), &limits).unwrap(), body);
    let frames = [zstd::encode_all(front, 3).unwrap(), zstd::encode_all(back, 3).unwrap()].concat();
    assert_eq!(expand(&frames, &limits).unwrap(), body);
    let frames = [sized_frame(front), sized_frame(back)].concat();
    assert_eq!(expand(&frames, &limits).unwrap(), body);
    assert_eq!(expand(&sized_frame(&body), &limits).unwrap(), body);
}

/// A zstd frame that says how many bytes it holds.
fn sized_frame(body: &[u8]) -> Vec<u8> {
    let frame = zstd::bulk::compress(body, 3).unwrap();
    assert_eq!(zstd::zstd_safe::get_frame_content_size(&frame).unwrap(), Some(body.len() as u64));
    frame
}

#[test]
fn a_frame_that_claims_other_bytes_than_it_holds_is_refused() {
    let mut frame = sized_frame(&load::columnar(&load::records(300, 1)));
    // The size follows the magic number and the descriptor, in two bytes above 255, less 256.
    assert_eq!(frame[4] >> 6, 1);
    for claim in [0, u16::MAX] {
        frame[5..7].copy_from_slice(&claim.to_le_bytes());
        let error = expand(&frame, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::Malformed, "{claim}");
    }
}

#[test]
fn streams_are_expanded_by_their_first_bytes() {
    let body = load::csv(&load::records(3_000, 1));
    let read = |packed: &[u8]| {
        let (packing, mut stream) = expand_stream(packed).unwrap();
        let mut plain = Vec::new();
        let read = std::io::Read::read_to_end(&mut stream, &mut plain);
        (packing, read.map(|_| plain).map_err(|error| error.to_string()))
    };
    for short in [&b""[..], b"a", b"a,b"] {
        assert_eq!(read(short), (None, Ok(short.to_vec())));
    }
    assert_eq!(read(&body), (None, Ok(body.clone())));
    let (front, back) = body.split_at(10_000);
    let gzip = [load::gzip(front), load::gzip(back)].concat();
    let zstd = [zstd::encode_all(front, 3).unwrap(), zstd::encode_all(back, 3).unwrap()].concat();
    for (name, packed) in [("gzip", gzip), ("zstd", zstd)] {
        assert_eq!(read(&packed), (Some(name), Ok(body.clone())));
        let cut = format!("the {name} data ends early: it is cut off");
        assert_eq!(read(&packed[..packed.len() - 3]), (Some(name), Err(cut)));
        let mut damaged = packed.clone();
        damaged[40..80].fill(0xFF);
        let error = read(&damaged).1.unwrap_err();
        assert!(error.starts_with(&format!("the {name} data is damaged: ")), "{error}");
    }
}

#[test]
fn bombs_are_refused_early() {
    let zeros = vec![0; 10 << 20];
    for bomb in [load::gzip(&zeros), zstd::encode_all(&zeros[..], 3).unwrap(), sized_frame(&zeros)] {
        for limits in [
            Limits { expanded_bytes_max: 1 << 20, ..Limits::default() },
            Limits { ratio_max: 10, ..Limits::default() },
            Limits { body_bytes_max: 100, ..Limits::default() },
        ] {
            assert_eq!(expand(&bomb, &limits).unwrap_err().kind(), DecodeErrorKind::TooLarge);
        }
        assert_eq!(expand(&bomb, &Limits { ratio_max: usize::MAX, ..Limits::default() }).unwrap(), zeros);
    }
}

#[test]
fn a_zstd_window_over_eight_megabytes_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    encoder.include_contentsize(false).unwrap();
    std::io::Write::write_all(&mut encoder, &[1; 1000]).unwrap();
    let error = expand(&encoder.finish().unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Malformed);
}

#[test]
fn compressed_bodies_that_break_off_are_errors() {
    let body = load::rows(&load::records(5, 1));
    for packed in [load::gzip(&body), zstd::encode_all(&body[..], 3).unwrap(), sized_frame(&body)] {
        for len in 4..packed.len() {
            let error = expand(&packed[..len], &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Malformed, "at {len}");
        }
    }
}

#[test]
fn binary_bodies_that_break_off_are_errors() {
    let records = load::records(6, 1);
    for body in [load::columnar(&records), load::rows(&records)] {
        for len in 0..body.len() {
            assert!(decode(Format::MessagePack, &body[..len], &REFUSING, &wide()).is_err(), "at {len}");
        }
        assert_eq!(counts(&run(Format::MessagePack, &body, &wide())), (6, 0));
    }
    let decoded = run(CSV, &load::csv(&records), &wide());
    let body = load::arrow_stream(&decoded.tables[0].1);
    // A stream may lack the mark of its end, since its rows are there.
    let whole: Vec<usize> =
        (0..body.len()).filter(|len| decode(ARROW, &body[..*len], &REFUSING, &wide()).is_ok()).collect();
    assert_eq!(whole, [body.len() - 8]);
    assert_eq!(run(ARROW, &body[..whole[0]], &wide()), run(ARROW, &body, &wide()));
}

#[test]
fn a_wrong_byte_anywhere_is_no_panic() {
    let records = load::records(3, 1);
    let rows = run(CSV, &load::csv(&records), &wide());
    let bodies = [
        (Format::MessagePack, load::columnar(&records)),
        (Format::MessagePack, load::rows(&records)),
        (LINES, load::line_protocol(&records)),
        (JSON, load::ndjson(&records)),
        (CSV, load::csv(&records)),
        // Arrow's own reader does panic on some of these.
        (ARROW, load::arrow_stream(&rows.tables[0].1)),
    ];
    for (format, mut body) in bodies {
        for at in 0..body.len() {
            let right = body[at];
            for wrong in [0x00, 0x01, b'"', b'\n', 0x7f, 0x80, 0xff, right ^ 1, right ^ 0x40] {
                body[at] = wrong;
                // Either answer is right; that there is one is what counts.
                let _ = decode(format, &body, &REFUSING, &wide());
            }
            body[at] = right;
        }
    }
}

#[test]
fn bodies_of_lines_that_break_off_keep_their_whole_lines() {
    let records = load::records(6, 1);
    for (format, body, header) in
        [(LINES, load::line_protocol(&records), 0), (JSON, load::ndjson(&records), 0), (CSV, load::csv(&records), 1)]
    {
        for len in 0..=body.len() {
            let part = &body[..len];
            let newlines = part.split(|byte| *byte == b'\n').count() - 1;
            match decode(format, part, &REFUSING, &wide()) {
                Ok(decoded) => {
                    let whole = newlines.saturating_sub(header);
                    let (rows, refused) = counts(&decoded);
                    let begun = usize::from(newlines >= header && !part.ends_with(b"\n") && len > 0);
                    assert!(rows >= whole && rows + refused == whole + begun, "at {len}: {rows}, {refused}");
                }
                Err(_) => assert!(newlines < header, "at {len}"),
            }
        }
    }
}

#[test]
fn columns_are_limited() {
    let names: Vec<String> = (0..10_000).map(|at| format!("c{at}")).collect();
    let limits = wide();
    let reason = "the table has 1000 columns, as many as are allowed";
    let fields = names.iter().map(|name| format!("{name}=1")).collect::<Vec<_>>().join(",");
    let refused = |decoded: Decoded| {
        assert_eq!(counts(&decoded), (0, 1));
        assert!(decoded.refused[0].reason.contains("1000"), "{}", decoded.refused[0].reason);
    };
    assert_eq!(
        shown(&run(LINES, format!("cpu {fields} 1").as_bytes(), &limits)),
        [format!("refused 1 cpu.c1000: {reason}")]
    );
    let object = names.iter().map(|name| format!("\"{name}\":1")).collect::<Vec<_>>().join(",");
    refused(run(JSON, format!("{{{object}}}").as_bytes(), &limits));
    let pairs = |one: Value| Value::Map(names.iter().map(|name| (name.as_str().into(), one.clone())).collect());
    for (key, one) in [("fields", 1.into()), ("columns", Value::Array(vec![1.into()]))] {
        let body = packed(&Value::Map(vec![("m".into(), "cpu".into()), (key.into(), pairs(one))]));
        refused(run(Format::MessagePack, &body, &limits));
    }
    assert!(decode(CSV, names.join(",").as_bytes(), &REFUSING, &limits).is_err());
    let one: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    refused(run(ARROW, &stream(names.iter().map(|name| (name.as_str(), one.clone())).collect()), &limits));
    // As many as are allowed are taken, in any order of the names.
    let limits = Limits { columns_max: 20, ..wide() };
    let line = |order: Vec<usize>| order.iter().map(|at| format!("c{at}={at}i")).collect::<Vec<_>>().join(",");
    let body = format!("cpu {} 1\ncpu {} 1\ncpu c20=1i\n", line((0..20).collect()), line((0..20).rev().collect()));
    let lines = shown(&run(LINES, body.as_bytes(), &limits));
    assert_eq!(lines[0], lines[1]);
    assert_eq!(lines[2..], ["refused 3 cpu.c20: the table has 20 columns, as many as are allowed"]);
    // A refused row's columns take no place.
    let body = format!("cpu v=1 1\ncpu {},v=\"x\" 1\ncpu {} 1\n", line((0..19).collect()), line((20..39).collect()));
    assert_eq!(counts(&run(LINES, body.as_bytes(), &limits)), (2, 1));
}

#[test]
fn tables_are_limited_and_a_refused_one_takes_no_place() {
    let limits = Limits { tables_max: 12, ..wide() };
    let mut body = (0..20).fold(String::new(), |body, at| body + &format!("bad{at} v=\nt{at} v=1 1\n"));
    let decoded = run(LINES, body.as_bytes(), &limits);
    assert_eq!(decoded.tables.len(), 12);
    let last = decoded.refused.last().unwrap();
    assert_eq!(last.reason, "the body names 12 tables, as many as are allowed");
    assert_eq!((last.position, last.table.as_deref()), (40, Some("t19")));
    // Those that were opened are found again.
    body.push_str("t3 v=2 2\nt11 v=2 2\n");
    assert_eq!(counts(&run(LINES, body.as_bytes(), &limits)).0, 14);
}

#[test]
fn values_are_limited_where_rows_are_sparse() {
    // Each row names another column: a table of them is nearly nothing but NULLs.
    let limits = Limits { cells_max: 10_000, ..wide() };
    let body = (0..1_000).fold(String::new(), |body, at| body + &format!("cpu c{at}=1 1\n"));
    let decoded = run(LINES, body.as_bytes(), &limits);
    let (rows, refused) = counts(&decoded);
    assert!(rows * decoded.tables[0].1.num_columns() <= 10_000 && refused == 1_000 - rows && rows > 10);
    let reason = "the body holds more than 10000 values, rows times columns: send fewer rows at once";
    assert_eq!(decoded.refused[0].reason, reason);
    // A batch of columns, and one that names columns of its own.
    let item = |name: &str, rows: usize| {
        let columns = Value::Map(vec![(name.into(), Value::Array(vec![1.into(); rows]))]);
        Value::Map(vec![("m".into(), "cpu".into()), ("columns".into(), columns)])
    };
    let batch = packed(&Value::Array(vec![item("a", 3_000), item("b", 3_000), item("a", 100)]));
    let decoded = run(Format::MessagePack, &batch, &limits);
    assert_eq!(counts(&decoded), (3_100, 1));
    let batch = packed(&item("a", 10_001));
    assert_eq!(counts(&run(Format::MessagePack, &batch, &limits)), (0, 1));
}

#[test]
fn rows_of_arrow_that_take_no_bytes_are_limited() {
    let limits = Limits { cells_max: 10_000, ..wide() };
    let empty: ArrayRef = Arc::new(NullArray::new(1_000_000));
    let ones: ArrayRef = Arc::new(Int8Array::from(vec![1; 1_000_000]));
    let decoded = run(ARROW, &stream(vec![("v", ones), ("n", empty)]), &limits);
    assert_eq!(counts(&decoded), (0, 1));
    // All record batches of a stream together.
    let one = RecordBatch::try_from_iter([("v", Arc::new(Int8Array::from(vec![1; 3_000])) as ArrayRef)]).unwrap();
    let mut body = Vec::new();
    let mut writer = StreamWriter::try_new(&mut body, &one.schema()).unwrap();
    [&one, &one].into_iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    let decoded = run(ARROW, &body, &limits);
    assert_eq!((counts(&decoded), decoded.refused[0].position), ((3_000, 1), 1));
    // A dictionary may name a long text a thousand times.
    let text = "x".repeat(10_000);
    let words: DictionaryArray<Int8Type> = vec![text.as_str(); 1_000].into_iter().collect();
    let body = stream(vec![("w", Arc::new(words))]);
    let decoded = run(ARROW, &body, &Limits { expanded_bytes_max: 1 << 20, ..wide() });
    assert_eq!(shown(&decoded), ["refused 0 cpu.w: its texts are too long in all: send fewer rows at once"]);
    assert_eq!(counts(&run(ARROW, &body, &wide())), (1_000, 0));
}

#[test]
fn views_of_arrow_are_limited_before_they_are_checked() {
    let text = "x".repeat(10_000);
    let limits = Limits { expanded_bytes_max: 1 << 20, ..wide() };
    // A view names its text in one buffer; all of these name the same.
    let same = |rows: usize| -> StringViewArray {
        let one = StringViewArray::from(vec![text.as_str()]);
        StringViewArray::new(vec![one.views()[0]; rows].into(), one.data_buffers().to_vec(), None)
    };
    let lists = |rows: usize| -> ArrayRef {
        let item = Arc::new(Field::new("item", DataType::Utf8View, true));
        Arc::new(ListArray::new(item, OffsetBuffer::from_lengths([rows]), Arc::new(same(rows)), None))
    };
    let coded = |rows: usize| -> ArrayRef {
        Arc::new(DictionaryArray::new(Int32Array::from_iter_values(0..rows as i32), Arc::new(same(rows))))
    };
    for column in [Arc::new(same(50)), lists(50), coded(50)] {
        assert_eq!(counts(&run(ARROW, &stream(vec![("w", column)]), &limits)).1, 0);
    }
    let ones = |rows: usize| -> ArrayRef { Arc::new(Int64Array::from(vec![1; rows])) };
    let words = |rows: usize| -> ArrayRef { Arc::new(StringArray::from(vec!["a"; rows])) };
    for (rows, column) in [(200, Arc::new(same(200)) as ArrayRef), (1, lists(200)), (200, coded(200))] {
        // The place of the views depends on the columns before.
        let body =
            stream(vec![("a", ones(rows)), ("b", words(rows)), ("c", Arc::new(NullArray::new(rows))), ("w", column)]);
        let error = decode(ARROW, &body, &REFUSING, &limits).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::Malformed);
        assert!(error.to_string().contains("its texts have more than 1048576 bytes in all"), "{error}");
    }
}

#[test]
fn times_of_arrow_that_have_no_date_are_refused() {
    let ones: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    for far in [i64::MAX, i64::MIN + 1] {
        let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![far]));
        let body = stream(vec![("time", times), ("v", ones.clone())]);
        let refused = "refused 0 cpu.time: row 0: the value is not a time, or out of range";
        assert_eq!(shown(&run(ARROW, &body, &wide())), [refused]);
    }
}

#[test]
fn batches_of_arrow_share_a_huge_dictionary() {
    // Each batch took time for the whole dictionary: minutes for all.
    let words = StringArray::from_iter_values((0..200_000).map(|word| word.to_string()));
    let words: ArrayRef = Arc::new(LargeStringArray::from_iter(words.iter()));
    let batch = |word: i32| {
        let coded: ArrayRef = Arc::new(DictionaryArray::new(Int32Array::from(vec![word]), words.clone()));
        RecordBatch::try_from_iter([("w", coded)]).unwrap()
    };
    let mut body = Vec::new();
    let mut writer = StreamWriter::try_new(&mut body, &batch(0).schema()).unwrap();
    (0..3_000).for_each(|word| writer.write(&batch(word)).unwrap());
    writer.finish().unwrap();
    drop(writer);
    let decoded = run(ARROW, &body, &wide());
    assert_eq!(counts(&decoded), (3_000, 0));
    let words = decoded.tables[0].1.column_by_name("w").unwrap().as_string::<i32>();
    assert!(words.iter().enumerate().all(|(row, word)| word == Some(&*row.to_string())));
}

#[test]
fn values_of_other_types_are_limited() {
    let rows = 3_000;
    let values: Vec<Value> = std::iter::once("x".into()).chain((1..rows).map(Value::from)).collect();
    let item = |value: Vec<Value>| {
        let columns = Value::Map(vec![("v".into(), Value::Array(value))]);
        packed(&Value::Map(vec![("m".into(), "cpu".into()), ("columns".into(), columns)]))
    };
    let keep = Request { on_conflict: OnConflict::Overflow, ..REFUSING };
    let body = item(values.clone());
    let limits = Limits { cells_max: 24_000, ..wide() };
    assert_eq!(counts(&decode(Format::MessagePack, &body, &keep, &limits).unwrap()), (rows as usize, 0));
    let limits = Limits { cells_max: 23_000, ..wide() };
    let decoded = decode(Format::MessagePack, &body, &keep, &limits).unwrap();
    assert_eq!(
        shown(&decoded),
        ["refused 0 cpu: 2876 values have another type than those before: send fewer rows at once"]
    );
    // Tags of tiny numbers have few digits.
    let tag = Value::Map(vec![
        ("m".into(), "cpu".into()),
        ("h".into(), Value::F64(5e-324)),
        ("fields".into(), { Value::Map(vec![("v".into(), 1.into())]) }),
    ]);
    assert!(shown(&run(Format::MessagePack, &packed(&tag), &wide())).concat().contains("5e-324"));
}

#[test]
fn compressed_batches_of_arrow_are_refused_before_they_are_expanded() {
    let words: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    for column in [numbers, Arc::new(words)] {
        let batch = RecordBatch::try_from_iter([("v", column)]).unwrap();
        for compression in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
            let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
            let mut body = Vec::new();
            let mut writer = StreamWriter::try_new_with_options(&mut body, &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            drop(writer);
            let error = decode(ARROW, &body, &REFUSING, &wide()).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Malformed);
            assert!(error.to_string().contains("compress the whole body with gzip or zstd"), "{error}");
            // Broken off anywhere, it is refused, too.
            (0..body.len()).for_each(|end| assert!(decode(ARROW, &body[..end], &REFUSING, &wide()).is_err()));
        }
    }
}

#[test]
fn arrow_types_that_do_not_fit_are_refused_by_name() {
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let ones: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let body = stream(vec![("v", ones.clone()), ("d", dates.clone()), ("time", dates)]);
    assert_eq!(
        shown(&run(ARROW, &body, &wide())),
        [
            "refused 0 cpu.d: its type Date32 is not stored: send integers, floats, text, booleans, times or lists of text",
            "refused 0 cpu.time: a time cannot be Date32",
        ]
    );
    let huge: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
    let decoded = run(ARROW, &stream(vec![("u", huge)]), &wide());
    assert_eq!(counts(&decoded), (0, 1));
    assert_eq!(decoded.refused[0].field.as_deref(), Some("u"));
    assert_eq!(counts(&run(ARROW, &stream(vec![("v", ones.clone()), ("v", ones)]), &wide())), (0, 1));
}

#[test]
fn names_and_texts_are_limited() {
    let limits = wide();
    let long = "n".repeat(257);
    let lines = format!("cpu {long}=1\n{} v=1\ncpu s=\"{}\"\n", "t".repeat(129), "x".repeat((1 << 20) + 1));
    let decoded = run(LINES, lines.as_bytes(), &limits);
    let reasons: Vec<&str> = decoded.refused.iter().map(|refused| refused.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the name has 257 bytes, where 256 are allowed",
            "the table's name is not accepted: it has 129 bytes, where 128 are allowed",
            "the text has 1048577 bytes, where 1048576 are allowed",
        ]
    );
    let fits = format!("{} {}=1,s=\"{}\"\n", "t".repeat(128), "n".repeat(256), "x".repeat(1 << 20));
    assert_eq!(counts(&run(LINES, fits.as_bytes(), &limits)), (1, 0));
    // The normal form of this letter has four bytes for two.
    let decoded = run(LINES, format!("{} v=1\n", "\u{344}".repeat(64)).as_bytes(), &limits);
    assert_eq!(decoded.refused[0].reason, "the table's name is not accepted: it has 256 bytes, where 128 are allowed");
    let text = Value::Array(vec!["x".into(), "x".repeat(11).into()]);
    let columns = Value::Map(vec![("s".into(), text)]);
    let body = packed(&Value::Map(vec![("m".into(), "cpu".into()), ("columns".into(), columns)]));
    let decoded = run(Format::MessagePack, &body, &Limits { text_bytes_max: 10, ..wide() });
    assert_eq!(shown(&decoded), ["refused 0 cpu.s: row 1: the text has 11 bytes, where 10 are allowed"]);
}

#[test]
fn deep_nesting_takes_no_stack() {
    let depth = 1_000_000;
    let json = format!("{}1{}\n{{\"v\":1}}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(counts(&run(JSON, json.as_bytes(), &wide())), (1, 1));
    let endless = Limits { depth_max: usize::MAX, name_bytes_max: usize::MAX, ..wide() };
    let thousand = format!("{}1{}", "{\"a\":".repeat(1_000), "}".repeat(1_000));
    assert_eq!(counts(&run(JSON, thousand.as_bytes(), &endless)), (1, 0));
    let mut body = b"\x82\xa1m\xa1t\xa6fields\x81\xa1v".to_vec();
    body.extend(vec![0x91; depth]);
    body.push(1);
    assert_eq!(counts(&run(Format::MessagePack, &body, &wide())), (0, 1));
}

/// Where each refused line were looked for its end in all that follows, this would take hours.
#[test]
fn refused_lines_take_no_longer_than_they_are() {
    for line in [
        "\" ,v=\"",
        "x v=\"a\",w=\"",
        "x \",w=\"",
        "x v=\",a=1\",w=\"",
        "x v=\"",
        "x v=\",w=\"",
        "x v=\"\\",
        "x,a= v=\"\",\"",
    ] {
        let body = format!("{line}\n").repeat(300_000);
        for format in [LINES, JSON, CSV] {
            if let Ok(decoded) = decode(format, body.as_bytes(), &REFUSING, &wide()) {
                let (rows, refused) = counts(&decoded);
                assert!(rows + refused <= 300_000);
            }
        }
        run(CSV, format!("a,b\n{body}").as_bytes(), &wide());
    }
}

#[test]
fn refusals_beyond_the_limit_are_counted() {
    let decoded = run(LINES, "x\n".repeat(1_000).as_bytes(), &Limits { refused_max: 3, ..wide() });
    assert_eq!((decoded.refused.len(), decoded.refused_beyond), (3, 997));
    assert_eq!(decoded.refused[2].position, 3);
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let limits = Limits { expanded_bytes_max: 10, ..Limits::default() };
    let error = decode(LINES, b"cpu v=1 1\nx", &REFUSING, &limits).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::TooLarge);
}
