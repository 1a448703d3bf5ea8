//! Rules of fields: their names, times and paths.

use super::*;

#[test]
fn another_field_may_be_the_time() {
    let rules = RowRules { time: Some("meta_at".to_owned()), ..RowRules::default() };
    check(
        RowFormat::Json,
        &rules,
        b"{\"meta\":{\"at\":5},\"time\":7}\n{\"meta\":{\"at\":\"x\"}}\n{\"time\":null}",
        &[
            "5000000 time_text=\"7\" meta_at_text=NULL",
            "NOW time_text=NULL meta_at_text=\"x\"",
            "NOW time_text=NULL meta_at_text=NULL",
            "overflow time -> time_text: 1 from 1, \"7\", the row's time",
            "overflow meta_at -> meta_at_text: 1 from 2, \"x\", the row's time",
        ],
    );
    check(
        RowFormat::Csv,
        &RowRules { time: Some("t".to_owned()), ..RowRules::default() },
        b"a,t\n1,2\n",
        &["2000000 a=1"],
    );
}

#[test]
fn fields_may_be_left_out() {
    let rules = RowRules { exclude: names(&["a", "o_x", "p"]), ..RowRules::default() };
    check(
        RowFormat::Json,
        &rules,
        b"{\"a\":[[1]],\"b\":1,\"o\":{\"x\":\"s\",\"y\":2},\"p\":{\"q\":[{}]}}\n{\"a\":1}\n{\"a\":1,\"a\":2}\n{\"p\":{]}",
        &[
            "NOW b=1 o_y=2",
            "NOW b=NULL o_y=NULL",
            "refused 3 a: the name occurs twice [{\"a\":1,\"a\":2}]",
            "refused 4: expected a name, found \"]}\" [{\"p\":{]}]",
        ],
    );
    check(RowFormat::Csv, &rules, b"a,b\n1,2\n", &["NOW b=2"]);
    messagepack(
        &rules,
        &[serde_json::json!({"a": [[1]], "b": 1, "o": {"x": 1, "y": 2}, "p": {"q": 1}})],
        &["NOW b=1 o_y=2"],
    );
    let rules = RowRules { exclude: names(&["time"]), ..RowRules::default() };
    check(RowFormat::Json, &rules, b"{\"time\":5,\"a\":1}", &["NOW a=1"]);
}

#[test]
fn fields_may_be_integers() {
    let rules = RowRules { ints: names(&["a"]), ..RowRules::default() };
    check(
        RowFormat::Json,
        &rules,
        b"{\"a\":\"42\"}\n{\"a\":7.0}\n{\"a\":-3}\n{\"a\":1e3}\n{\"a\":7.5}\n{\"a\":\"x\"}\n{\"a\":1e300}\n{\"a\":true}\n{\"a\":null}\n{\"a\":9007199254740993.0}",
        &[
            "NOW a=42 a_text=NULL",
            "NOW a=7 a_text=NULL",
            "NOW a=-3 a_text=NULL",
            "NOW a=1000 a_text=NULL",
            "NOW a=NULL a_text=\"7.5\"",
            "NOW a=NULL a_text=\"x\"",
            "NOW a=NULL a_text=\"1e300\"",
            "NOW a=NULL a_text=\"true\"",
            "NOW a=NULL a_text=NULL",
            "NOW a=NULL a_text=\"9007199254740993.0\"",
            "overflow a -> a_text: 5 from 5, \"7.5\", integer",
        ],
    );
    check(
        RowFormat::Csv,
        &rules,
        b"a\n\"42\"\nx\n",
        &["NOW a=42 a_text=NULL", "NOW a=NULL a_text=\"x\"", "overflow a -> a_text: 1 from 3, \"x\", integer"],
    );
}

#[test]
fn fields_may_be_times() {
    let of = |format: Option<&str>| RowRules {
        timestamps: vec![("t".to_owned(), format.map(str::to_owned))],
        ..RowRules::default()
    };
    check(
        RowFormat::Json,
        &of(None),
        b"{\"t\":1700000000}\n{\"t\":1700000000.5}\n{\"t\":\"2024-01-02\"}\n{\"t\":\"1700000000000\"}\n{\"t\":\"x\"}",
        &[
            "NOW t=@1700000000000000 t_text=NULL",
            "NOW t=@1700000000500000 t_text=NULL",
            "NOW t=@1704153600000000 t_text=NULL",
            "NOW t=@1700000000000000 t_text=NULL",
            "NOW t=NULL t_text=\"x\"",
            "overflow t -> t_text: 1 from 5, \"x\", timestamp",
        ],
    );
    for (format, text, time) in [
        ("%d/%m/%Y %H:%M", "\"02/01/2024 03:04\"", 1_704_164_640_000_000i64),
        ("%Y-%m-%d %H:%M:%S %z", "\"2024-01-02 03:04:05 +0100\"", 1_704_161_045_000_000),
        ("%Y%m%d", "20240102", 1_704_153_600_000_000),
        ("%s", "1700000000", 1_700_000_000_000_000),
        ("%Y-%m-%d %H", "\"2024-01-02 03\"", 1_704_164_400_000_000),
    ] {
        check(RowFormat::Json, &of(Some(format)), format!("{{\"t\":{text}}}").as_bytes(), &[&format!("NOW t=@{time}")]);
    }
    check(
        RowFormat::Csv,
        &of(Some("%H:%M")),
        b"t\n2024\n",
        &["NOW t_text=\"2024\"", "overflow t -> t_text: 1 from 2, \"2024\", timestamp"],
    );
    let time = RowRules { timestamps: vec![("time".to_owned(), Some("%Y".to_owned() + "-%j"))], ..RowRules::default() };
    check(RowFormat::Json, &time, b"{\"time\":\"1970-002\",\"a\":1}", &["86400000000 a=1"]);
}

#[test]
fn nanoseconds_of_the_rows_time_are_kept_beside_it() {
    json(
        "{\"time\":\"1970-01-01T00:00:00.000001Z\",\"a\":1}\n{\"time\":\"1970-01-01T00:00:00.000001002Z\",\"a\":2}",
        &[
            "1 a=1 time_nanos=NULL",
            "1 a=2 time_nanos=2",
            "overflow time -> time_nanos: 1 from 2, \"1970-01-01T00:00:00.000001002Z\", the row's time",
        ],
    );
    // The field's own column of that name is another's: the time is kept as it is written.
    json(
        "{\"time\":1700000000000000001,\"time_nanos\":\"mine\"}",
        &[
            "1700000000000000 time_nanos=\"mine\" time_text=\"1700000000000000001\"",
            "overflow time -> time_text: 1 from 1, \"1700000000000000001\", the row's time",
        ],
    );
    let other = RowRules { timestamps: vec![("t".to_owned(), None)], ..RowRules::default() };
    check(
        RowFormat::Json,
        &other,
        b"{\"t\":1700000000000001000}\n{\"t\":1700000000000000001}",
        &[
            "NOW t=@1700000000000001 t_text=NULL",
            "NOW t=NULL t_text=\"1700000000000000001\"",
            "overflow t -> t_text: 1 from 2, \"1700000000000000001\", timestamp",
        ],
    );
}

#[test]
fn only_what_lies_under_a_path_is_the_row() {
    let rules = RowRules { path: Some("$.a.b".to_owned()), ..RowRules::default() };
    check(
        RowFormat::Json,
        &rules,
        b"{\"x\":[{\"a\":1}],\"a\":{\"c\":0,\"b\":{\"v\":1}}}\n{\"a\":{\"b\":[{\"v\":2},7,{},{\"v\":\"3\"}]}}\n{\"a\":1}\n{\"a\":{\"b\":5}}\n{\"a\":{\"b\":[{\"v\":9},}\n{\"a\":{\"b\":[]}}",
        &[
            "NOW v=1 v_text=NULL",
            "NOW v=2 v_text=NULL",
            "NOW v=NULL v_text=\"3\"",
            "refused 2: expected `{`, found \"7,{},{\\\"v\\\":\\\"3\\\"}]}\" [7]",
            "refused 2: it names no field [{}]",
            "refused 3: it has nothing at `$.a.b` [{\"a\":1}]",
            "refused 4: the value at `$.a.b` is not an object [{\"a\":{\"b\":5}}]",
            "refused 5: expected a value, found \"}\" [{\"a\":{\"b\":[{\"v\":9},}]",
            "overflow v -> v_text: 1 from 2, \"3\", integer",
        ],
    );
    let rules = RowRules { path: Some("a".to_owned()), ..RowRules::default() };
    let value = serde_json::json!({"x": 1, "a": [{"v": 1}, {"v": 2}]});
    messagepack(&rules, &[value, serde_json::json!({"a": {"v": 3}})], &["NOW v=1", "NOW v=2", "NOW v=3"]);
    assert_eq!(RowRules { path: Some("$".to_owned()), ..RowRules::default() }.path.as_deref(), Some("$"));
    check(RowFormat::Json, &RowRules { path: Some("$".to_owned()), ..RowRules::default() }, b"{\"v\":1}", &["NOW v=1"]);
}

#[test]
fn rules_that_make_no_sense_are_errors() {
    let error = |format, rules: RowRules| match RowReader::new(format, &rules, &Limits::default()) {
        Err(error @ DecodeError::Rules { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let path = |path: &str| RowRules { path: Some(path.to_owned()), ..RowRules::default() };
    for bad in ["", "a..b", "a[0]", "$.a.", "$.*"] {
        assert!(error(RowFormat::Json, path(bad)).contains("is not a path"), "{bad}");
    }
    assert!(error(RowFormat::Csv, path("a")).contains("CSV has none"));
    let format = RowRules { timestamps: vec![("t".to_owned(), Some("%Q".to_owned()))], ..RowRules::default() };
    assert!(error(RowFormat::Json, format).contains("\"%Q\", of the field \"t\", is not a time format"));
    let both = RowRules { ints: names(&["t"]), time: Some("t".to_owned()), ..RowRules::default() };
    assert!(error(RowFormat::Json, both).contains("\"t\" is named twice, for two purposes"));
}
