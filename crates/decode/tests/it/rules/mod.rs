//! Each rule and each refusal of the formats, one body each.

mod line_protocol;
mod messagepack;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampNanosecondArray};
use arrow::datatypes::{DataType, Field, Schema};
use decode::{DecodeErrorKind, Format, Limits, OnConflict, Precision, Request, decode};
use rmpv::Value;

use crate::load::packed;
use crate::plain::{NOW, REFUSING, shown, wide};

/// Decodes a body and compares the rows and refusals, line by line.
#[track_caller]
fn check(format: Format<'_>, body: &[u8], expected: &[&str]) {
    let decoded = decode(format, body, &REFUSING, &wide()).unwrap();
    assert_eq!(shown(&decoded), expected, "{}", String::from_utf8_lossy(body));
}

#[track_caller]
fn lines(body: &str, expected: &[&str]) {
    check(Format::LineProtocol { precision: Precision::Microseconds }, body.as_bytes(), expected);
}

#[track_caller]
fn json(body: &str, expected: &[&str]) {
    check(Format::Json { table: "t" }, body.as_bytes(), expected);
}

#[track_caller]
fn csv(body: &str, expected: &[&str]) {
    check(Format::Csv { table: "t" }, body.as_bytes(), expected);
}

/// Decodes a body that keeps what does not fit.
#[track_caller]
fn overflowing(
    format: Format<'_>,
    columns: Option<&Schema>,
    body: &str,
    expected: &[&str],
    overflows: &[(&str, &str)],
) {
    let request = Request { now_micros: NOW, on_conflict: OnConflict::Overflow, columns };
    let decoded = decode(format, body.as_bytes(), &request, &wide()).unwrap();
    assert_eq!(shown(&decoded), expected, "{body}");
    let found: Vec<_> =
        decoded.overflows.iter().map(|(_, overflow)| (overflow.name.as_str(), overflow.overflow.as_str())).collect();
    assert_eq!(found, overflows, "{body}");
}

/// Decodes MessagePack written as JSON.
#[track_caller]
fn messagepack(body: &serde_json::Value, expected: &[&str]) {
    check(Format::MessagePack, &packed(&to_messagepack(body)), expected);
}

pub(crate) fn to_messagepack(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Nil,
        serde_json::Value::Bool(v) => (*v).into(),
        serde_json::Value::Number(v) => match (v.as_i64(), v.as_u64()) {
            (Some(v), _) => v.into(),
            (None, Some(v)) => v.into(),
            _ => v.as_f64().unwrap().into(),
        },
        serde_json::Value::String(v) => v.as_str().into(),
        serde_json::Value::Array(v) => Value::Array(v.iter().map(to_messagepack).collect()),
        serde_json::Value::Object(v) => {
            Value::Map(v.iter().map(|(key, value)| (key.as_str().into(), to_messagepack(value))).collect())
        }
    }
}

#[test]
fn values_that_do_not_fit_are_kept_as_text() {
    let kept = ["t 1000000 v=1 v_text=NULL", "t 2000000 v=NULL v_text=\"x\""];
    overflowing(
        Format::Json { table: "t" },
        None,
        "{\"time\":1,\"v\":1}\n{\"time\":2,\"v\":\"x\"}",
        &kept,
        &[("v", "v_text")],
    );
    overflowing(Format::Csv { table: "t" }, None, "time,v\n1,1\n2,x\n", &kept, &[("v", "v_text")]);
    let lines = Format::LineProtocol { precision: Precision::Seconds };
    overflowing(lines, None, "t v=1i 1\nt v=\"x\" 2", &kept, &[("v", "v_text")]);
    // Columns that mix types, and columns that differ from those of an item before.
    let columns = serde_json::json!([
        {"m": "t", "columns": {"time": [1, 2], "v": [1, "x"]}},
        {"m": "t", "columns": {"time": [3, 4], "v": [true, null]}},
    ]);
    let request = Request { now_micros: NOW, ..Request::default() };
    let decoded = decode(Format::MessagePack, &packed(&to_messagepack(&columns)), &request, &wide()).unwrap();
    let rows = [kept[0], kept[1], "t 3000000 v=NULL v_text=\"true\"", "t 4000000 v=NULL v_text=NULL"];
    assert_eq!(shown(&decoded), rows);
    assert_eq!((decoded.overflows.len(), decoded.overflows[0].1.rows), (1, 2));
    // The last of two fields counts, wherever it goes.
    overflowing(lines, None, "t v=1i 1\nt v=\"x\",v=2i 2", &["t 1000000 v=1", "t 2000000 v=2"], &[]);
    // A time that cannot be read is kept, too.
    let body = "{\"time\":\"soon\",\"v\":1}";
    let row = format!("t {NOW} v=1 time_text=\"soon\"");
    overflowing(Format::Json { table: "t" }, None, body, &[&row], &[("time", "time_text")]);
}

#[test]
fn columns_of_the_table_decide_types_and_names() {
    let text = |name: &str, ty| Field::new(name, ty, true);
    let columns = Schema::new(vec![
        text("at", DataType::Utf8),
        text("n", DataType::Float64),
        text("old.name", DataType::Int64),
        text("both.name", DataType::Int64),
        text("both_name", DataType::Int64),
        text("v_text", DataType::Int64),
        text("v", DataType::Boolean),
    ]);
    overflowing(
        Format::Json { table: "t" },
        Some(&columns),
        r#"{"time":1,"at":"2024-01-02T03:04:05Z","n":1,"old":{"name":2},"both":{"name":3},"v":4,"new":{"one":5}}"#,
        &[concat!(
            r#"t 1000000 at="2024-01-02T03:04:05Z" n=1.0 old.name=2 both_name=3 "#,
            r#"new_one=5 v_text_text="4""#
        )],
        &[("v", "v_text_text")],
    );
    let csv = "time,at,made\n1,2024-01-02T03:04:05,2024-01-02T03:04:05\n";
    let row = "t 1000000 at=\"2024-01-02T03:04:05\" made=@1704164645000000";
    overflowing(Format::Csv { table: "t" }, Some(&columns), csv, &[row], &[]);
}

#[test]
fn integers_past_2_53_never_become_floats() {
    let large = "1234567890123456789";
    let refused =
        |reason: &str| format!("refused 2 t.v: it is {reason}: a column of both would change integers past 2^53");
    let kept = format!("t {NOW} v={large}");
    let float = refused("float here and integer in rows before");
    lines(&format!("t v={large}i\nt v=1.5\nt v=2"), &[&kept, &format!("t {NOW} v=2"), &float]);
    json(&format!("{{\"v\":{large}}}\n{{\"v\":1.5}}"), &[&kept, &float]);
    csv(&format!("v\n{large}\n1.5"), &[&kept, &float.replace("refused 2", "refused 3")]);
    let integer = refused("integer here and float in rows before");
    json(&format!("{{\"v\":1.5}}\n{{\"v\":{large}}}"), &[&format!("t {NOW} v=1.5"), &integer]);
    json(
        "{\"v\":9007199254740991}\n{\"v\":1.5}",
        &[&format!("t {NOW} v=9007199254740991.0"), &format!("t {NOW} v=1.5")],
    );
}

#[test]
fn names_of_metrics_name_tables() {
    for (written, name) in [
        ("servers.web-1.cpu.load", "servers.web-1.cpu.load"),
        ("stats.timers.api/login.p99", "stats.timers.api/login.p99"),
        ("5xx_count", "5xx_count"),
        ("_internal", "_internal"),
        ("..", ".."),
        ("disk\\ usage", "disk usage"),
        ("a\\,b", "a,b"),
        ("°C", "°C"),
        ("gro\u{308}ße", "größe"),
    ] {
        lines(&format!("{written} v=1 1\n"), &[&format!("{name} 1 v=1.0")]);
    }
}

#[test]
fn integers_widen_to_floats_and_nothing_else_changes() {
    lines("t v=1i 1\nt v=2.5 2\nt v=3i 3", &["t 1 v=1.0", "t 2 v=2.5", "t 3 v=3.0"]);
    json("{\"v\":1}\n{\"v\":2.5}", &[&format!("t {NOW} v=1.0"), &format!("t {NOW} v=2.5")]);
    csv("v,time\n1,1\n2.5,2", &["t 1000000 v=1.0", "t 2000000 v=2.5"]);
    // A refused row leaves neither its type, nor its values, nor its columns.
    lines(
        "t v=1i,s=\"x\" 1\nt v=2.5,s=2,new=1 2\nt v=3i 3",
        &["t 1 v=1 s=\"x\"", "t 3 v=3 s=NULL", "refused 2 t.s: it is float here and text in rows before"],
    );
    lines(
        "t v=1i 1\nt w=2,v=\"x\" 2\nt w=\"text\" 3",
        &["t 1 v=1 w=NULL", "t 3 v=NULL w=\"text\"", "refused 2 t.v: it is text here and integer in rows before"],
    );
}

#[test]
fn nanoseconds_are_kept_whatever_the_format() {
    let expected = ["t 1700000000123456 v=1 time_nanos=789", "t 1700000000123456 v=2 time_nanos=NULL"];
    let times = [serde_json::json!("2023-11-14T22:13:20.123456789Z"), serde_json::json!(1_700_000_000_123_456_i64)];
    let [fine, plain] = &times;
    json(&format!("{{\"time\":{fine},\"v\":1}}\n{{\"time\":{plain},\"v\":2}}"), &expected);
    csv(&format!("time,v\n{fine},1\n{plain},2\n"), &expected);
    let row = |time, v| serde_json::json!({"m": "t", "t": time, "fields": {"v": v}});
    messagepack(&serde_json::json!([row(fine, 1), row(plain, 2)]), &expected);
    let columns = serde_json::json!({"m": "t", "columns": {"v": [1, 2], "time": [fine, plain]}});
    messagepack(&columns, &[expected[0], "t 1700000000123456 v=2 time_nanos=0"]);
    let own = r#"{"time":1700000000123456789,"v":1,"time_nanos":"mine"}"#;
    let reason = "the name is for the nanoseconds of the row's time, which has some: give the field another";
    json(own, &[&format!("refused 1 t.time_nanos: {reason}")]);
    let own = serde_json::json!({"m": "t", "columns": {"time": [fine], "time_nanos": [1]}});
    messagepack(&own, &[&format!("refused 0 t.time_nanos: {reason}")]);
}

#[test]
fn arrow_times_keep_their_nanoseconds() {
    let of = |times: Vec<i64>, own: bool| {
        let times: ArrayRef = Arc::new(TimestampNanosecondArray::from(times).with_timezone("Europe/Berlin"));
        let v: ArrayRef = Arc::new(Int64Array::from(vec![1; times.len()]));
        let columns = [("time", times), ("v", v.clone()), ("time_nanos", v)];
        let rows = RecordBatch::try_from_iter(columns.into_iter().take(if own { 3 } else { 2 })).unwrap();
        let body = crate::load::arrow_stream(&rows);
        shown(&decode(Format::ArrowStream { table: "t" }, &body, &REFUSING, &wide()).unwrap())
    };
    assert_eq!(of(vec![1_000, 2_001], false), ["t 1 v=1 time_nanos=NULL", "t 2 v=1 time_nanos=1"]);
    assert_eq!(of(vec![1_000, 2_000], false), ["t 1 v=1", "t 2 v=1"]);
    assert_eq!(of(vec![1_000], true), ["t 1 v=1 time_nanos=1"]);
    let reason = "the name is for the nanoseconds of the row's time, which has some: give the field another";
    assert_eq!(of(vec![1_001], true), [format!("refused 0 t.time_nanos: {reason}")]);
}

#[test]
fn ndjson_reads_every_kind_of_value() {
    json(
        " { \"time\" : 1 , \"i\":-5, \"f\":1.5e1, \"s\":\"x\", \"b\":false, \"n\":null } \r\n\n",
        &["t 1000000 i=-5 f=15.0 s=\"x\" b=false"],
    );
    json(
        r#"{"time":1,"s":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00"}"#,
        &["t 1000000 s=\"\\\"\\\\/\\u{8}\\u{c}\\n\\r\\tä😀\""],
    );
    json(r#"{"time":1,"a":{"b":{"c":1},"d":2,"e":{}},"f":3}"#, &["t 1000000 a_b_c=1 a_d=2 f=3"]);
    // A name that holds a value in one line and an object in another.
    json("{\"time\":1,\"a\":1}\n{\"time\":2,\"a\":{\"b\":2}}", &["t 1000000 a=1 a_b=NULL", "t 2000000 a=NULL a_b=2"]);
    // `time` is the row's time at the top only.
    json(r#"{"time":1,"a":{"time":5}}"#, &["t 1000000 a_time=5"]);
}

#[test]
fn ndjson_refuses_a_line_and_keeps_the_others() {
    let good = r#"{"time":1,"v":1}"#;
    for (bad, reason) in [
        ("{}", ": it names no field"),
        ("5", ": expected `{`, found \"5\""),
        ("[{}]", ": it is an array: send one object a line"),
        (r#"{"v":[1]}"#, ".v: it is set of texts here and integer in rows before"),
        (r#"{"v":"x"}"#, ".v: it is text here and integer in rows before"),
        (r#"{"v":1,"v":2}"#, ".v: the name occurs twice"),
        (r#"{"time":1,"time":2,"v":1}"#, ".time: the name occurs twice"),
        (r#"{"time":true,"v":1}"#, ".time: boolean is not a time"),
        (r#"{"time":"x","v":1}"#, ".time: \"x\" is not a time"),
        (r#"{"v":01}"#, ": expected a number, found \"01}\""),
        (r#"{"v":1.}"#, ": expected a number, found \"1.}\""),
        (r#"{"v":-}"#, ": expected a number, found \"-}\""),
        (r#"{"v":+1}"#, ": expected a value, found \"+1}\""),
        (r#"{"v":NaN}"#, ".v: JSON has no NaN: leave the field out, or write null"),
        (r#"{"v":Infinity}"#, ".v: JSON has no Infinity: leave the field out, or write null"),
        (r#"{"v":-Infinity}"#, ".v: JSON has no -Infinity: leave the field out, or write null"),
        (r#"{"v":Nan}"#, ": expected a value, found \"Nan}\""),
        (r#"{"v":tru}"#, ": expected a value, found \"tru}\""),
        (r#"{"v":1e999}"#, ".v: 1e999 does not fit 64 bits"),
        (r#"{"v":18446744073709551615}"#, ".v: 18446744073709551615 does not fit 64 bits"),
        (r#"{"v":1"#, ": the line ends where `}` is expected"),
        (r#"{"v":"x"#, ": the line ends where a closing quote is expected"),
        (r#"{"v"}"#, ": expected `:`, found \"}\""),
        (r"{v:1}", ": expected a name, found \"v:1}\""),
        (r#"{"v":1,}"#, ": expected a name, found \"}\""),
        (r"{,}", ": expected a name, found \",}\""),
        (r#"{"a":{,},"v":1}"#, ": expected a name, found \",},\\\"v\\\":1}\""),
        (r#"{"v":1}}"#, ": expected the end of the line, found \"}\""),
        (r#"{"v":1} x"#, ": expected the end of the line, found \"x\""),
        ("{\"s\":\"a\tb\"}", ": expected a closing quote, found \"\\tb\\\"}\""),
        (r#"{"s":"\x"}"#, ": a text has a `\\` that JSON does not know"),
        (r#"{"s":"\ud800"}"#, ": a text has an invalid `\\u` escape"),
        (r#"{"s":"\ud800\u0041"}"#, ": a text has an invalid `\\u` escape"),
        (r#"{"s":"\u12"}"#, ": a text has an invalid `\\u` escape"),
        (r#"{"":1}"#, ": a field has no name"),
        (r#"{"a\nb":1}"#, ".a\nb: the name has control characters"),
        (r#"{"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":1}}}}}}}}}"#, ".h: objects are nested over 8 levels deep"),
    ] {
        let reason = format!("refused 2 t{reason}");
        json(&format!("{good}\n{bad}\n{good}"), &["t 1000000 v=1", "t 1000000 v=1", &reason]);
    }
    json(r#"{"time":1,"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":1}}}}}}}}"#, &["t 1000000 a_b_c_d_e_f_g_h=1"]);
}

#[test]
fn csv_cells_tell_their_types() {
    csv(
        "\u{feff}time,i,f,b,s,z,n\r\n1,-5,1.5,True,x,007,\r\n,,,,,,\n",
        &["t 1000000 i=-5 f=1.5 b=true s=\"x\" z=\"007\"", &format!("t {NOW} i=NULL f=NULL b=NULL s=NULL z=NULL")],
    );
    csv(
        "time,s\n1,\"a,\"\"b\"\"\nc\"\n2,\"\"\n3,5\n4,true",
        &["t 1000000 s=\"a,\\\"b\\\"\\nc\"", "t 2000000 s=\"\"", "t 3000000 s=\"5\"", "t 4000000 s=\"true\""],
    );
    csv("time,v\n2023-11-14T22:13:20Z,\"5\"", &["t 1700000000000000 v=\"5\""]);
    csv("a,b", &[]);
}

#[test]
fn csv_refuses_a_line_and_keeps_the_others() {
    for (bad, reason) in [
        ("1", ": it has 1 cells, where the header has 2"),
        ("1,2,3", ": it has more cells than the header, which has 2"),
        ("1,x", ".v: it is text here and integer in rows before"),
        ("1,\"5\"", ".v: it is text here and integer in rows before"),
        ("1,true", ".v: it is boolean here and integer in rows before"),
        ("1,18446744073709551615", ".v: 18446744073709551615 does not fit 64 bits"),
        ("x,1", ".time: \"x\" is not a time"),
        ("1,\"x", ".v: a quote is never closed"),
        ("1,x\"y\"", ".v: a quote stands inside a cell that does not begin with one"),
        ("1,\"x\"y", ".v: something stands between a closing quote and the next comma"),
        ("1,\"x\ny\"z", ".v: something stands between a closing quote and the next comma"),
    ] {
        let reason = format!("refused 3 t{reason}");
        csv(&format!("time,v\n1,1\n{bad}\n1,1"), &["t 1000000 v=1", "t 1000000 v=1", &reason]);
    }
    for (header, reason) in [
        ("", "header: column 1: a field has no name"),
        ("a,,b", "header: column 2: a field has no name"),
        ("a,a", "header: the column \"a\" occurs twice"),
        ("time,time", "header: the column \"time\" occurs twice"),
        ("a\"b", "header: a quote stands inside"),
    ] {
        let error =
            decode(Format::Csv { table: "t" }, format!("{header}\n1,2").as_bytes(), &REFUSING, &wide()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn a_table_name_beside_the_body_is_checked() {
    for name in ["", "t\0", "t\n", &"t".repeat(129)] {
        for format in [Format::Json { table: name }, Format::Csv { table: name }, Format::ArrowStream { table: name }] {
            let error = decode(format, b"", &REFUSING, &wide()).unwrap_err();
            assert!(error.to_string().starts_with("the table's name"), "{error}");
        }
    }
    json("", &[]);
}
