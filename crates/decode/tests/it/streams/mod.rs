//! Each rule of streams of rows, one stream each.

mod fields;
mod messagepack;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use decode::{DecodeError, Limits, RowFormat, RowReader, RowRules, Rows, overflow_name};
use rmpv::Value;

use crate::load::{events, packed};
use crate::plain::{NOW, cell};
use crate::rules::to_messagepack;

/// Rows, refused records and overflows as lines: `time name=value ...`, `refused position field: reason [record]` and
/// `overflow name -> overflow: rows from position, "sample", holds`.
pub(crate) fn shown(bytes: &[u8], rows: &Rows) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(batch) = &rows.batch {
        let schema = batch.schema();
        for row in 0..batch.num_rows() {
            let mut line = cell(batch.column(0), row).trim_start_matches('@').to_owned();
            for (field, column) in schema.fields().iter().zip(batch.columns()).skip(1) {
                line = line + " " + field.name() + "=" + &cell(column, row);
            }
            lines.push(line);
        }
    }
    for refused in &rows.refused {
        let field = refused.field.as_ref().map(|field| format!(" {field}")).unwrap_or_default();
        let record = String::from_utf8_lossy(&bytes[refused.bytes.clone()]).into_owned();
        lines.push(format!("refused {}{field}: {} [{record}]", refused.position, refused.reason));
    }
    for overflow in &rows.overflows {
        let (rows, position, holds) = (overflow.rows, overflow.position, overflow.holds);
        lines.push(format!(
            "overflow {} -> {}: {rows} from {position}, {:?}, {holds}",
            overflow.name, overflow.overflow, overflow.sample
        ));
    }
    lines
}

#[track_caller]
fn check(format: RowFormat, rules: &RowRules, bytes: &[u8], expected: &[&str]) {
    let mut reader = RowReader::new(format, rules, &Limits::default()).unwrap();
    let rows = reader.read(bytes, true, NOW).unwrap();
    assert_eq!(rows.taken, bytes.len());
    let now = NOW.to_string();
    let expected: Vec<String> = expected.iter().map(|line| line.replace("NOW", &now)).collect();
    assert_eq!(shown(bytes, &rows), expected, "{}", String::from_utf8_lossy(bytes));
}

#[track_caller]
fn json(text: &str, expected: &[&str]) {
    check(RowFormat::Json, &RowRules::default(), text.as_bytes(), expected);
}

#[track_caller]
fn csv(text: &str, expected: &[&str]) {
    check(RowFormat::Csv, &RowRules::default(), text.as_bytes(), expected);
}

/// Reads MessagePack written as JSON, one value after the other.
#[track_caller]
fn messagepack(rules: &RowRules, values: &[serde_json::Value], expected: &[&str]) {
    let bytes: Vec<u8> = values.iter().flat_map(|value| packed(&to_messagepack(value))).collect();
    check(RowFormat::MessagePack, rules, &bytes, expected);
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn every_kind_of_value_gives_its_column_a_type() {
    json(
        "{\"time\":5,\"i\":-1,\"f\":0.1,\"s\":\"x\\n\",\"b\":true,\"n\":null,\"t\":\"2024-01-02T03:04:05.5+01:00\",\"g\":[\"b\",\"a\",\"b\"]}\n",
        &["5000000 i=-1 f=0.1 s=\"x\\n\" b=true t=@1704161045500000 g=[\"a\", \"b\"]"],
    );
    json("\n  {\"a\":1}\r\n\n{\"b\":2}", &["NOW a=1 b=NULL", "NOW a=NULL b=2"]);
    json("\u{feff}{\"a\":1}", &["NOW a=1"]);
    json("", &[]);
}

#[test]
fn nested_objects_are_flattened() {
    json("{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":3}", &["NOW a_b_c=1 a_d=2 e=3"]);
    json("{\"a\":{}}", &["NOW"]);
    json("{\"a\":{\"b\":1},\"a_b\":2}", &["refused 1 a_b: the name occurs twice [{\"a\":{\"b\":1},\"a_b\":2}]"]);
}

#[test]
fn arrays_are_sets_or_texts() {
    json("{\"a\":[]}\n{\"a\":[\"x\"]}\n{\"a\":null}", &["NOW a=[]", "NOW a=[\"x\"]", "NOW a=NULL"]);
    json("{\"a\":[2, 1.50, true, null, \"\\u0041\"]}", &["NOW a=[\"1.50\", \"2\", \"A\", \"null\", \"true\"]"]);
    json("{\"a\":[1, {\"b\": []}]}", &["NOW a=\"[1, {\\\"b\\\": []}]\""]);
    json(
        "{\"a\":[\"x\"]}\n{\"a\":[[1]]}\n{\"a\":\"y\"}",
        &[
            "NOW a=[\"x\"] a_text=NULL",
            "NOW a=NULL a_text=\"[[1]]\"",
            "NOW a=NULL a_text=\"y\"",
            "overflow a -> a_text: 2 from 2, \"[[1]]\", set of texts",
        ],
    );
}

#[test]
fn only_full_times_are_recognised() {
    for text in ["2024-01-02T03:04:05Z", "2024-01-02 03:04:05+00:00", "2024-01-02t03:04:05.000z"] {
        json(&format!("{{\"t\":\"{text}\"}}"), &["NOW t=@1704164645000000"]);
    }
    for text in
        ["2024-01-02", "2024-01-02T03:04:05", "2024-13-02T03:04:05Z", "2024-01-02T03:04:05.Z", "2024-01-02T03:04:05+01"]
    {
        json(&format!("{{\"t\":\"{text}\"}}"), &[&format!("NOW t=\"{text}\"")]);
    }
    // A column of texts keeps them.
    json("{\"t\":\"x\"}\n{\"t\":\"2024-01-02T03:04:05Z\"}", &["NOW t=\"x\"", "NOW t=\"2024-01-02T03:04:05Z\""]);
    json(
        "{\"t\":\"2024-01-02T03:04:05Z\"}\n{\"t\":1}",
        &[
            "NOW t=@1704164645000000 t_text=NULL",
            "NOW t=NULL t_text=\"1\"",
            "overflow t -> t_text: 1 from 2, \"1\", timestamp",
        ],
    );
}

#[test]
fn integers_widen_and_everything_else_goes_to_the_overflow() {
    json("{\"a\":1}\n{\"a\":0.5}\n{\"a\":2}", &["NOW a=1.0", "NOW a=0.5", "NOW a=2.0"]);
    json(
        "{\"a\":1}\n{\"a\":\"x\\ty\"}\n{\"a\":true}\n{\"a\":[ 1 ]}\n{\"a\":2}",
        &[
            "NOW a=1 a_text=NULL",
            "NOW a=NULL a_text=\"x\\ty\"",
            "NOW a=NULL a_text=\"true\"",
            "NOW a=NULL a_text=\"[ 1 ]\"",
            "NOW a=2 a_text=NULL",
            "overflow a -> a_text: 3 from 2, \"x\\ty\", integer",
        ],
    );
    json(
        "{\"a\":\"x\"}\n{\"a\":1.50}\n{\"a\":{\"b\":1}}",
        &[
            "NOW a=\"x\" a_text=NULL a_b=NULL",
            "NOW a=NULL a_text=\"1.50\" a_b=NULL",
            "NOW a=NULL a_text=NULL a_b=1",
            "overflow a -> a_text: 1 from 2, \"1.50\", text",
        ],
    );
}

#[test]
fn an_overflow_column_gives_way_to_a_field_of_its_name() {
    // In the same row, before or behind.
    json(
        "{\"a\":1}\n{\"a\":\"x\",\"a_text\":\"own\"}\n{\"a\":\"y\",\"a_text\":null}",
        &[
            "NOW a=1 a_text=NULL a_text_text=NULL",
            "NOW a=NULL a_text=\"own\" a_text_text=\"x\"",
            "NOW a=NULL a_text=\"y\" a_text_text=NULL",
            "overflow a -> a_text_text: 1 from 2, \"x\", integer",
            "overflow a -> a_text: 1 from 3, \"y\", integer",
        ],
    );
    // As a column of another type.
    json(
        "{\"a\":1,\"a_text\":2}\n{\"a\":\"x\"}\n{\"a\":\"y\",\"a_text\":\"z\"}",
        &[
            "NOW a=1 a_text=2 a_text_text=NULL a_text_text_text=NULL",
            "NOW a=NULL a_text=NULL a_text_text=\"x\" a_text_text_text=NULL",
            "NOW a=NULL a_text=NULL a_text_text=\"y\" a_text_text_text=\"z\"",
            "overflow a -> a_text_text: 2 from 2, \"x\", integer",
            "overflow a_text -> a_text_text_text: 1 from 3, \"z\", integer",
        ],
    );
    assert_eq!(overflow_name("a", |_| false), "a_text");
    assert_eq!(overflow_name("a", |name| name.len() < 8), "a_text_text");
}

#[test]
fn integers_of_any_size_are_kept() {
    json("{\"a\":18446744073709551616}", &["NOW a=1.8446744073709552e19"]);
    json(
        "{\"a\":9223372036854775807}\n{\"a\":9223372036854775808}\n",
        &[
            "NOW a=9223372036854775807 a_text=NULL",
            "NOW a=NULL a_text=\"9223372036854775808\"",
            "overflow a -> a_text: 1 from 2, \"9223372036854775808\", integer",
        ],
    );
    json(
        "{\"a\":1}\n{\"a\":18446744073709551615}\n{\"b\":1e999}",
        &[
            "NOW a=1 a_text=NULL b_text=NULL",
            "NOW a=NULL a_text=\"18446744073709551615\" b_text=NULL",
            "NOW a=NULL a_text=NULL b_text=\"1e999\"",
            "overflow a -> a_text: 1 from 2, \"18446744073709551615\", integer",
            "overflow b -> b_text: 1 from 3, \"1e999\", nothing yet",
        ],
    );
    csv(
        "a,b\n1,2\n18446744073709551616,18446744073709551615\n",
        &[
            "NOW a=1.0 b=2 b_text=NULL",
            "NOW a=1.8446744073709552e19 b=NULL b_text=\"18446744073709551615\"",
            "overflow b -> b_text: 1 from 3, \"18446744073709551615\", integer",
        ],
    );
}

#[test]
fn what_is_no_row_is_refused_with_its_line_and_bytes() {
    json(
        "{\"a\":1}\n\n{\"a\":\r\n 7 \n{}\n{\"a\":1,\"a\":2}\n[{\"a\":1}]\n{\"a\":1} x\n{\"a\":[1,]}\n{\"a\":2}\n{\"a",
        &[
            "NOW a=1",
            "NOW a=2",
            "refused 3: the line ends where a value is expected [{\"a\":]",
            "refused 4: expected `{`, found \"7 \" [7]",
            "refused 5: it names no field [{}]",
            "refused 6 a: the name occurs twice [{\"a\":1,\"a\":2}]",
            "refused 7: it is an array: send one object a line [[{\"a\":1}]]",
            "refused 8: expected the end of the line, found \"x\" [{\"a\":1} x]",
            "refused 9: expected a value, found \"]}\" [{\"a\":[1,]}]",
            "refused 11: the line ends where a closing quote is expected [{\"a]",
        ],
    );
    let bytes = b"{\"a\":\"\xff\"}\n{\"a\":\"x\"}\n{\"a\":[\"\xfe\"]}\n";
    let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default()).unwrap();
    let rows = reader.read(bytes, true, NOW).unwrap();
    assert_eq!(rows.batch.unwrap().num_rows(), 1);
    let refused: Vec<_> = rows.refused.iter().map(|r| (r.position, r.reason.as_str(), r.bytes.clone())).collect();
    assert_eq!(refused, [(1, "the line is not valid UTF-8", 0..9), (3, "the line is not valid UTF-8", 20..31)]);
}

#[test]
fn a_refused_record_leaves_nothing_behind() {
    json(
        "{\"a\":1,\"b\":2,\"c\":}\n{\"a\":\"x\"}\n{\"a\":5,\"d\":6,}",
        &[
            "NOW a=\"x\"",
            "refused 1: expected a value, found \"}\" [{\"a\":1,\"b\":2,\"c\":}]",
            "refused 3: expected a name, found \"}\" [{\"a\":5,\"d\":6,}]",
        ],
    );
}

#[test]
fn a_time_that_cannot_be_read_is_kept_as_text() {
    json(
        "{\"time\":\"soon\",\"a\":1}\n{\"time\":null,\"a\":2}\n{\"time\":\"1700000000\"}\n{\"time\":[1]}\n{\"time\":true}",
        &[
            "NOW a=1 time_text=\"soon\"",
            "NOW a=2 time_text=NULL",
            "1700000000000000 a=NULL time_text=NULL",
            "NOW a=NULL time_text=\"[1]\"",
            "NOW a=NULL time_text=\"true\"",
            "overflow time -> time_text: 3 from 1, \"soon\", the row's time",
        ],
    );
}

#[test]
fn csv_keeps_what_does_not_fit_and_quoted_newlines() {
    csv(
        "a,b,t\n1,x,2024-01-02T03:04:05Z\nq,2,soon\n,\"two\nlines\",\n1.5\n\"3,y,z\n4,w,",
        &[
            "NOW a=1 b=\"x\" t=@1704164645000000 a_text=NULL t_text=NULL",
            "NOW a=NULL b=\"2\" t=NULL a_text=\"q\" t_text=\"soon\"",
            "NOW a=NULL b=\"two\\nlines\" t=NULL a_text=NULL t_text=NULL",
            "NOW a=4 b=\"w\" t=NULL a_text=NULL t_text=NULL",
            "refused 6: it has 1 cells, where the header has 3 [1.5]",
            "refused 7 a: a quote is never closed [\"3,y,z]",
            "overflow a -> a_text: 1 from 3, \"q\", integer",
            "overflow t -> t_text: 1 from 3, \"soon\", timestamp",
        ],
    );
    csv(
        "a,b\n\"1\n2\",\"x\n3,4",
        &[
            "NOW a=3 b=4",
            "refused 2 b: a quote that opens on the next line is never closed [\"1]",
            "refused 3 a: a quote stands inside a cell that does not begin with one [2\",\"x]",
        ],
    );
    csv("", &[]);
    csv("a,b", &[]);
    let mut reader = RowReader::new(RowFormat::Csv, &RowRules::default(), &Limits::default()).unwrap();
    assert!(reader.read(b"a,a\n1,2\n", true, NOW).is_err());
}

#[test]
fn a_quote_that_is_never_closed_does_not_hold_the_stream_up() {
    let limits = Limits { text_bytes_max: 8, ..Limits::default() };
    let mut reader = RowReader::new(RowFormat::Csv, &RowRules::default(), &limits).unwrap();
    let bytes = b"a\n\"x\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let rows = reader.read(bytes, false, NOW).unwrap();
    assert_eq!((rows.taken, rows.batch.unwrap().num_rows()), (bytes.len(), 9));
    assert_eq!((rows.refused[0].position, rows.refused[0].bytes.clone()), (2, 2..4));
}

#[test]
fn types_positions_and_headers_are_kept_over_chunks() {
    let mut reader = RowReader::new(RowFormat::Csv, &RowRules::default(), &Limits::default()).unwrap();
    let mut read = |bytes: &[u8], last| {
        let rows = reader.read(bytes, last, NOW).unwrap();
        (rows.taken, shown(bytes, &rows))
    };
    let now = |line: &str| line.replace("NOW", &NOW.to_string());
    assert_eq!(read(b"a,", false), (0, vec![]));
    assert_eq!(read(b"a,b\n1,\"x", false), (4, vec![]));
    assert_eq!(read(b"1,\"x\ny\"\n2", false), (8, vec![now("NOW a=1 b=\"x\\ny\"")]));
    // Only what has values is in the batch, of the type that it has had.
    assert_eq!(
        read(b"z,\n2", false),
        (3, vec![now("NOW a_text=\"z\""), "overflow a -> a_text: 1 from 4, \"z\", integer".into()])
    );
    assert_eq!(read(b"2,3", true), (3, vec![now("NOW a=2 b=\"3\"")]));
}

#[test]
fn a_call_ends_where_its_values_or_refused_records_are_many() {
    let limits = Limits { cells_max: 200, ..Limits::default() };
    let text = (0..100).map(|at| format!("{{\"a\":{at}}}\n")).collect::<Vec<_>>().concat();
    let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &limits).unwrap();
    let (mut at, mut rows, mut calls) = (0, 0, 0);
    while at < text.len() {
        let taken = reader.read(&text.as_bytes()[at..], true, NOW).unwrap();
        assert!(taken.taken > 0 && taken.refused.is_empty());
        rows += taken.batch.unwrap().num_rows();
        (at, calls) = (at + taken.taken, calls + 1);
    }
    assert_eq!(rows, 100);
    assert!(calls > 1);
    let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default()).unwrap();
    let text = "x\n".repeat(25_000);
    let (mut at, mut positions) = (0, Vec::new());
    while at < text.len() {
        let rows = reader.read(&text.as_bytes()[at..], true, NOW).unwrap();
        assert!(rows.refused.len() <= 10_000);
        positions.extend(rows.refused.iter().map(|refused| refused.position));
        at += rows.taken;
    }
    assert_eq!(positions, (1..=25_000).collect::<Vec<_>>());
}

#[test]
fn a_line_may_be_long() {
    let text = format!("{{\"a\":[{}\"x\"]}}\n", "\"0123456789\",".repeat(50_000));
    let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default()).unwrap();
    assert_eq!(reader.read(&text.as_bytes()[..65_536], false, NOW).unwrap().taken, 0);
    let rows = reader.read(text.as_bytes(), false, NOW).unwrap();
    assert_eq!(cell(rows.batch.unwrap().column(1), 0), "[\"0123456789\", \"x\"]");
    // But not so long that offsets of 32 bits do not reach its end.
    assert!(matches!(reader.read(&vec![b'x'; 128 << 20], false, NOW), Err(DecodeError::TooLarge { .. })));
}

#[test]
fn the_specs_events_have_their_types() {
    let bytes = events(1000);
    let mut reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default()).unwrap();
    let rows = reader.read(&bytes, true, NOW).unwrap();
    let batch = rows.batch.unwrap();
    assert_eq!((batch.num_rows(), batch.num_columns(), rows.overflows.len(), rows.refused.len()), (1000, 10, 0, 0));
    let kinds: Vec<_> = batch.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == DataType::Int64).count(), 5);
    assert_eq!(kinds.iter().filter(|kind| **kind == DataType::Utf8).count(), 3);
    assert!(matches!(kinds[6], DataType::List(_)));
}

#[test]
fn what_a_table_has_decides_and_not_what_a_stream_begins_with() {
    let known = Schema::new(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Float64, true),
        Field::new("unused", DataType::Boolean, true),
    ]);
    let reader = RowReader::new(RowFormat::Json, &RowRules::default(), &Limits::default()).unwrap();
    let mut reader = reader.knowing(&known);
    let rows = reader.read(b"{\"a\":\"x\",\"b\":1}\n{\"a\":2,\"b\":2}\n", true, 0).unwrap();
    let batch = rows.batch.unwrap();
    let names: Vec<_> = batch.schema_ref().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["time", "a", "b", "a_text"]);
    assert_eq!(batch.column(1).as_primitive::<Int64Type>().iter().collect::<Vec<_>>(), [None, Some(2)]);
    assert_eq!(*batch.column(2).data_type(), DataType::Float64);
    assert_eq!((rows.overflows.len(), rows.overflows[0].rows), (1, 1));
}
