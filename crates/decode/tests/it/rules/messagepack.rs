//! Rules and refusals of MessagePack.

use super::*;

#[test]
fn messagepack_columnar() {
    let columns =
        serde_json::json!({"m": "t", "columns": {"time": [1, 2, null], "v": [1, 2.5, null], "s": ["a", null, "b"]}});
    messagepack(&columns, &["t 1000000 s=\"a\" v=1.0", "t 2000000 s=NULL v=2.5", &format!("t {NOW} s=\"b\" v=NULL")]);
    let tagged = serde_json::json!({"m": "t", "tag_keys": ["s"], "columns": {"s": ["a"], "b": [true], "n": [null]}});
    messagepack(&tagged, &[&format!("t {NOW} b=true s=\"a\"")]);
}

#[test]
fn messagepack_rows() {
    let row = serde_json::json!({"m": "t", "t": 1, "h": "x", "fields": {"v": 1.5, "n": null}, "tags": {"dc": "eu", "rack": 7, "up": true}});
    messagepack(&row, &["t 1000000 host=\"x\" v=1.5 dc=\"eu\" rack=\"7\" up=\"true\""]);
    messagepack(&serde_json::json!([{"m": "t", "fields": {"v": 1}}]), &[&format!("t {NOW} v=1")]);
    let same = serde_json::json!({"m": "t", "t": 1, "h": "x", "tags": {"host": "x"}, "fields": {}});
    messagepack(&same, &["t 1000000 host=\"x\""]);
}

#[test]
fn a_host_is_a_text_in_every_row() {
    let row = |host: serde_json::Value| serde_json::json!({"m": "t", "t": 1, "h": host, "fields": {"v": 1}});
    let rows = serde_json::json!([row("a".into()), row(2.5.into()), row(2.5.into()), row(1e21.into())]);
    let of = |host: &str| format!("t 1000000 host=\"{host}\" v=1");
    messagepack(&rows, &[&of("a"), &of("2.5"), &of("2.5"), &of("1e21")]);
    // A field gave the column another type.
    let field = serde_json::json!({"m": "t", "t": 1, "fields": {"host": 1.5, "v": 1}});
    let rows = serde_json::json!([field, row(2.5.into()), row(2.5.into())]);
    let differs = |position: usize| format!("refused {position} t.host: it is text here and float in rows before");
    messagepack(&rows, &["t 1000000 host=1.5 v=1", &differs(1), &differs(2)]);
}

#[test]
fn messagepack_times() {
    for (time, micros) in [
        (serde_json::json!(1_700_000_000), 1_700_000_000_000_000_i64),
        (serde_json::json!(1_700_000_000_123_i64), 1_700_000_000_123_000),
        (serde_json::json!(1_700_000_000_123_456_i64), 1_700_000_000_123_456),
        (serde_json::json!(1_700_000_000_123_456_000_i64), 1_700_000_000_123_456),
        (serde_json::json!(1_700_000_000.5), 1_700_000_000_500_000),
        // The double next to it is below: whoever cuts it loses a microsecond.
        (serde_json::json!(1_700_000_000.000_001), 1_700_000_000_000_001),
        (serde_json::json!("2023-11-14T22:13:20.000001Z"), 1_700_000_000_000_001),
        (serde_json::json!("2023-11-14T23:13:20+01:00"), 1_700_000_000_000_000),
        (serde_json::json!(-1), -1_000_000),
        (serde_json::json!(0), 0),
        (serde_json::json!(9_999_999_999_i64), 9_999_999_999_000_000),
        (serde_json::json!(10_000_000_000_i64), 10_000_000_000_000),
        (serde_json::json!(10_000_000_000_000_i64), 10_000_000_000_000),
        (serde_json::json!(10_000_000_000_000_000_i64), 10_000_000_000_000),
    ] {
        let expected = format!("t {micros} v=1");
        messagepack(&serde_json::json!({"m": "t", "t": time, "fields": {"v": 1}}), &[&expected]);
        messagepack(&serde_json::json!({"m": "t", "columns": {"time": [time], "v": [1]}}), &[&expected]);
        json(&format!("{{\"time\":{time},\"v\":1}}"), &[&expected]);
    }
    for (bytes, expected) in [
        (vec![0, 0, 0, 1], "1000000 v=1"),
        ((((2_000u64) << 34) | 1).to_be_bytes().to_vec(), "1000002 v=1"),
        ((((2_001u64) << 34) | 1).to_be_bytes().to_vec(), "1000002 v=1 time_nanos=1"),
        ([&3_000u32.to_be_bytes()[..], &(-1i64).to_be_bytes()].concat(), "-999997 v=1"),
    ] {
        let fields = Value::Map(vec![("v".into(), 1.into())]);
        let body =
            Value::Map(vec![("m".into(), "t".into()), ("t".into(), Value::Ext(-1, bytes)), ("fields".into(), fields)]);
        check(Format::MessagePack, &packed(&body), &[&format!("t {expected}")]);
    }
    let far = [&0u32.to_be_bytes()[..], &9_200_000_000_000i64.to_be_bytes()].concat();
    let fields = Value::Map(vec![("v".into(), 1.into())]);
    let body = Value::Map(vec![("m".into(), "t".into()), ("t".into(), Value::Ext(-1, far)), ("fields".into(), fields)]);
    let decoded = decode(Format::MessagePack, &packed(&body), &REFUSING, &wide()).unwrap();
    assert!(decoded.tables.is_empty() && decoded.refused.len() == 1, "{decoded:?}");
}

#[test]
fn messagepack_refuses_an_item_and_keeps_the_others() {
    let good = serde_json::json!({"m": "t", "t": 1, "fields": {"v": 1}});
    for (bad, reason) in [
        (serde_json::json!(5), "?: it is integer, but a map is expected"),
        (serde_json::json!({}), "?: it names no table: the key `m` is missing"),
        (serde_json::json!({"m": 5}), "?: `m` is integer, but text is expected"),
        (serde_json::json!({"m": "t"}), "t: it names no field"),
        (serde_json::json!({"m": "t", "fields": {}}), "t: it names no field"),
        (serde_json::json!({"m": "t", "fields": [1]}), "t: `fields` is an array, but a map is expected"),
        (
            serde_json::json!({"m": "t", "fields": {"v": [1]}}),
            "t.v: it is an array, but a number, text or boolean is expected",
        ),
        (serde_json::json!({"m": "t", "fields": {"v": "x"}}), "t.v: it is text here and integer in rows before"),
        (
            serde_json::json!({"m": "t", "fields": {"v": u64::MAX}}),
            "t.v: it is an integer over 9223372036854775807, but a number, text or boolean is expected",
        ),
        (serde_json::json!({"m": "t", "fields": {"": 1}}), "t: a field has no name"),
        (serde_json::json!({"m": "t", "t": true, "fields": {"v": 1}}), "t.time: boolean is not a time"),
        (serde_json::json!({"m": "t", "t": "yesterday", "fields": {"v": 1}}), "t.time: \"yesterday\" is not a time"),
        (serde_json::json!({"m": "t", "t": 1e300, "fields": {"v": 1}}), &format!("t.time: {} is not a time", 1e300)),
        (serde_json::json!({"m": "t", "fields": {"v": 1}, "tags": {"v": "x"}}), "t.v: the name occurs twice"),
        (serde_json::json!({"m": "t", "h": "x", "fields": {}, "tags": {"host": "y"}}), "t.host: the name occurs twice"),
        (serde_json::json!({"m": "t", "f": [1]}), "t: the key \"f\" is not known"),
        (
            serde_json::json!({"m": "t\n", "fields": {"v": 1}}),
            "t\n: the table's name is not accepted: it has control characters",
        ),
        (
            serde_json::json!({"m": "t", "columns": {"v": [1]}, "fields": {"v": 1}}),
            "t: it is columnar and a row at once: `columns` stands beside `t`, `h`, `fields` or `tags`",
        ),
        (serde_json::json!({"m": "t", "columns": {}}), "t: it names no field"),
        (serde_json::json!({"m": "t", "columns": {"time": [1]}}), "t: it names no field"),
        (serde_json::json!({"m": "t", "columns": {"v": []}}), "t: its columns are empty"),
        (serde_json::json!({"m": "t", "columns": {"v": 1}}), "t.v: it is integer, but an array is expected"),
        (
            serde_json::json!({"m": "t", "columns": {"v": [1], "w": [1, 2]}}),
            "t.w: it has 2 values, where columns before have 1",
        ),
        (
            serde_json::json!({"m": "t", "columns": {"v": [1, "x"]}}),
            "t.v: it is text in row 1 and integer in rows before",
        ),
        (serde_json::json!({"m": "t", "columns": {"v": ["x"]}}), "t.v: it is text here and integer in items before"),
        (
            serde_json::json!({"m": "t", "columns": {"v": [1, [2]]}}),
            "t.v: row 1: it is an array, but a number, text or boolean is expected",
        ),
        (
            serde_json::json!({"m": "t", "columns": {"time": [1, "x"], "v": [1, 2]}}),
            "t.time: row 1: \"x\" is not a time",
        ),
        (serde_json::json!({"batch": []}), "?: the key \"batch\" is not known"),
    ] {
        let batch = serde_json::json!({"batch": [good, bad, good]});
        messagepack(&batch, &["t 1000000 v=1", "t 1000000 v=1", &format!("refused 1 {reason}")]);
    }
    let twice = Value::Map(vec![("v".into(), 1.into()), ("v".into(), 2.into())]);
    let row = |fields| packed(&Value::Map(vec![("m".into(), "t".into()), ("fields".into(), fields)]));
    check(Format::MessagePack, &row(twice), &["refused 0 t.v: the name occurs twice"]);
    let binary = Value::Map(vec![("v".into(), Value::Binary(vec![1]))]);
    check(
        Format::MessagePack,
        &row(binary),
        &["refused 0 t.v: it is binary data, but a number, text or boolean is expected"],
    );
    let column = |text: &[u8]| [b"\x82\xa1m\xa1t\xa7columns\x81\xa1s\x92\xa1x".as_slice(), &[0xa1], text].concat();
    check(Format::MessagePack, &column(b"\xff"), &["refused 0 t.s: the text in row 1 is not valid UTF-8"]);
}

#[test]
fn messagepack_that_is_none_is_an_error() {
    for (body, reason) in [
        (&b""[..], "it ends early"),
        (b"\xc1", "no value begins with 0xc1"),
        (b"\x01", "it is integer, but a map or an array is expected"),
        (b"\x90\x00", "something follows its end"),
        (b"\xdd\xff\xff\xff\xff", "it ends early"),
        (b"\x82\xa5batch\x90\xa1m\xa1t", "other keys stand beside `batch`"),
        (b"\x81\xa5batch\x01", "`batch` is not an array"),
        (b"\x81\xa7columns\x81\xa1v\xdd\xff\xff\xff\xff", "it ends early"),
    ] {
        let error = decode(Format::MessagePack, body, &REFUSING, &wide()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.kind(), DecodeErrorKind::Malformed);
    }
}

/// Decodes maps with columns that keep what does not fit.
fn keeping(maps: &serde_json::Value, limits: &Limits) -> (Vec<String>, Vec<(String, String, usize)>) {
    let request = Request { now_micros: NOW, on_conflict: OnConflict::Overflow, columns: None };
    let decoded = decode(Format::MessagePack, &packed(&to_messagepack(maps)), &request, limits).unwrap();
    let overflows = decoded.overflows.iter().map(|(_, o)| (o.name.clone(), o.overflow.clone(), o.rows));
    (shown(&decoded), overflows.collect())
}

#[test]
fn items_with_columns_too_many_leave_no_report_of_what_did_not_fit() {
    let mut texts = vec![serde_json::json!("s")];
    texts.resize(1_000, serde_json::json!(1));
    let maps = serde_json::json!([{"m": "t", "columns": {"a": [1]}}, {"m": "t", "columns": {"x": texts}}]);
    let (lines, overflows) = keeping(&maps, &Limits { cells_max: 500, ..wide() });
    assert_eq!(lines[0], format!("t {NOW} a=1"));
    assert!(lines[1].starts_with("refused 1 t: ") && lines.len() == 2, "{lines:?}");
    assert_eq!(overflows, []);
}

#[test]
fn numbers_that_fit_the_columns_of_items_before_stay_there() {
    let large = 9_007_199_254_740_993_i64;
    let of = |first: &[serde_json::Value], then: &[serde_json::Value]| {
        keeping(&serde_json::json!([{"m": "t", "columns": {"x": first}}, {"m": "t", "columns": {"x": then}}]), &wide())
    };
    let (lines, overflows) = of(&[0.5.into()], &[1.into(), large.into(), serde_json::Value::Null, 2.into()]);
    let expected = ["x=0.5 x_text=NULL", "x=1.0 x_text=NULL", &format!("x=NULL x_text=\"{large}\"")];
    assert_eq!(lines[..3], expected.map(|row| format!("t {NOW} {row}")));
    assert_eq!(lines[3..], ["x=NULL x_text=NULL", "x=2.0 x_text=NULL"].map(|row| format!("t {NOW} {row}")));
    assert_eq!(overflows, [("x".to_owned(), "x_text".to_owned(), 1)]);
    let (lines, overflows) = of(&[large.into()], &[1.5.into(), 2.0.into()]);
    let expected = [&format!("x={large} x_text=NULL"), "x=NULL x_text=\"1.5\"", "x=2 x_text=NULL"];
    assert_eq!(lines, expected.map(|row| format!("t {NOW} {row}")));
    assert_eq!(overflows, [("x".to_owned(), "x_text".to_owned(), 1)]);
}
