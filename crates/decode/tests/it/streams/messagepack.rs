//! Streams of MessagePack.

use super::*;

#[test]
fn messagepack_is_maps_or_arrays_of_maps() {
    messagepack(
        &RowRules::default(),
        &[
            serde_json::json!({"a": 1, "o": {"p": {"q": "x"}}, "g": ["b", "a", 1.0, null]}),
            serde_json::json!([{"a": 2.5}, {}, 3, {"a": "s"}]),
            serde_json::json!([]),
            serde_json::json!({"time": 5, "a": [[1, {"k": "v\"\n", "2": []}], 2]}),
        ],
        &[
            "NOW a=1.0 g=[\"1.0\", \"a\", \"b\", \"null\"] o_p_q=\"x\" a_text=NULL",
            "NOW a=2.5 g=NULL o_p_q=NULL a_text=NULL",
            "NOW a=NULL g=NULL o_p_q=NULL a_text=\"s\"",
            "5000000 a=NULL g=NULL o_p_q=NULL a_text=\"[[1,{\\\"2\\\":[],\\\"k\\\":\\\"v\\\\\\\"\\\\n\\\"}],2]\"",
            "refused 2: it names no field [\u{fffd}]",
            "refused 3: it is integer, but a map is expected [\u{3}]",
            "overflow a -> a_text: 2 from 4, \"s\", float",
        ],
    );
}

#[test]
fn messagepack_has_values_that_json_has_not() {
    let row = |value: Value| packed(&Value::Map(vec![("a".into(), value)]));
    let mut bytes = row(Value::Ext(-1, vec![0, 0, 0, 5]));
    bytes.extend(row(u64::MAX.into()));
    bytes.extend(row((1u64 << 63).into()));
    check(
        RowFormat::MessagePack,
        &RowRules::default(),
        &bytes,
        &[
            "NOW a=@5000000 a_text=NULL",
            "NOW a=NULL a_text=\"18446744073709551615\"",
            "NOW a=NULL a_text=\"9223372036854775808\"",
            "overflow a -> a_text: 2 from 1, \"18446744073709551615\", timestamp",
        ],
    );
    for bad in [Value::Binary(vec![1]), Value::Ext(5, vec![1]), Value::Array(vec![Value::Binary(vec![1])])] {
        let mut reader = RowReader::new(RowFormat::MessagePack, &RowRules::default(), &Limits::default()).unwrap();
        let rows = reader.read(&row(bad), true, NOW).unwrap();
        assert_eq!((rows.batch, rows.refused.len()), (None, 1));
        assert_eq!(rows.refused[0].field.as_deref(), Some("a"));
    }
}

#[test]
fn messagepack_that_breaks_off_is_set_aside_whole() {
    let row = |v: i64| packed(&Value::Map(vec![("a".into(), v.into())]));
    let good = row(1);
    for (bad, refused) in [(&b"\x82\xa1a"[..], 1), (b"\xc1\x81\xa1a\x01", 1), (b"\x93", 1)] {
        let bytes = [&good[..], bad].concat();
        let mut reader = RowReader::new(RowFormat::MessagePack, &RowRules::default(), &Limits::default()).unwrap();
        let rows = reader.read(&bytes, true, NOW).unwrap();
        assert_eq!((rows.taken, rows.batch.unwrap().num_rows(), rows.refused.len()), (bytes.len(), 1, refused));
        assert_eq!(rows.refused[0].bytes.end, bytes.len());
    }
    // Nobody knows where a record begins behind what is none.
    let mut reader = RowReader::new(RowFormat::MessagePack, &RowRules::default(), &Limits::default()).unwrap();
    assert_eq!(reader.read(b"\xc1", false, NOW).unwrap().refused[0].bytes, 0..1);
    let rows = reader.read(&good, false, NOW).unwrap();
    assert_eq!((rows.taken, rows.batch, rows.refused[0].bytes.clone()), (good.len(), None, 0..good.len()));
}
