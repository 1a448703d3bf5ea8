//! Rules and refusals of Line protocol.

use super::*;

#[test]
fn line_protocol_reads_every_kind_of_value() {
    lines(
        "t,host=a i=-5i,u=5u,f=1.5,n=3,e=-1.5e-3,s=\"x\",b=true,b2=F 7\n",
        &["t 7 host=\"a\" i=-5 u=5 f=1.5 n=3.0 e=-0.0015 s=\"x\" b=true b2=false"],
    );
    lines(
        "t v=t 1\nt v=T 2\nt v=True 3\nt v=TRUE 4\nt v=f 5",
        &["t 1 v=true", "t 2 v=true", "t 3 v=true", "t 4 v=true", "t 5 v=false"],
    );
}

#[test]
fn names_in_two_unicode_forms_are_one_column() {
    lines("t é=1 1\nt e\u{301}=2 2\nt é=3 3", &["t 1 é=1.0", "t 2 é=2.0", "t 3 é=3.0"]);
    // As of a field that a line repeats, the last value counts.
    lines("t e\u{301}=1,é=2 1", &["t 1 é=2.0"]);
    let twice = serde_json::json!({"m": "t", "columns": {"é": [1], "e\u{301}": [2]}});
    messagepack(&twice, &["refused 0 t.é: the name occurs twice"]);
    let error = decode(Format::Csv { table: "t" }, "é,e\u{301}\n1,2".as_bytes(), &REFUSING, &wide()).unwrap_err();
    assert!(error.to_string().contains("occurs twice"), "{error}");
}

#[test]
fn line_protocol_escapes() {
    lines(r"t,a\,b=c\ d\=e x\ y=1 1", &["t 1 a,b=\"c d=e\" x y=1.0"]);
    lines(r#"t s="a\"b\\c\d" 1"#, &["t 1 s=\"a\\\"b\\\\c\\\\d\""]);
    lines(r"t,a=b\c v=1 1", &["t 1 a=\"b\\\\c\" v=1.0"]);
    lines(
        "t s=\"two\nlines, one = text\",v=1 1\nt v=2 2",
        &["t 1 s=\"two\\nlines, one = text\" v=1.0", "t 2 s=NULL v=2.0"],
    );
}

#[test]
fn line_protocol_passes_over_comments_and_blank_lines() {
    lines("# a comment\n\n  \r\n\tt v=1 1\r\n#t v=2 2\nt v=3   3   \n", &["t 1 v=1.0", "t 3 v=3.0"]);
    lines("", &[]);
}

#[test]
fn line_protocol_times_have_the_unit_that_was_said() {
    let body = b"t v=1 1700000000123456789\nt v=2 -1\nt v=3";
    let of = |precision| shown(&decode(Format::LineProtocol { precision }, body, &REFUSING, &wide()).unwrap());
    let nanoseconds = ["t 1700000000123456 v=1.0 time_nanos=789", "t -1 v=2.0 time_nanos=999"];
    assert_eq!(of(Precision::Nanoseconds)[..2], nanoseconds);
    assert_eq!(of(Precision::Nanoseconds)[2], format!("t {NOW} v=3.0 time_nanos=NULL"));
    let seconds = of(Precision::Seconds);
    assert_eq!(seconds[0], "t -1000000 v=2.0");
    assert_eq!(seconds[2], "refused 1 t: the timestamp is out of range");
    let far =
        decode(Format::LineProtocol { precision: Precision::Seconds }, b"t v=1 9223372036854", &REFUSING, &wide());
    assert_eq!(shown(&far.unwrap()), ["refused 1 t: the timestamp is out of range"]);
    assert_eq!(of(Precision::Milliseconds)[0], "t -1000 v=2.0");
    assert_eq!(of(Precision::Microseconds)[1], "t -1 v=2.0");
}

#[test]
fn line_protocol_refuses_a_line_and_keeps_the_others() {
    let good = "t v=1 1";
    for (bad, reason) in [
        ("t", "t: it has no field: write `table field=value`"),
        ("t,a=b", "t: it has no field: write `table field=value`"),
        ("t 5", "t: \"5\" is not followed by `=` and a value"),
        ("t v", "t: \"v\" is not followed by `=` and a value"),
        ("t v=", "t.v: no value is written \"\""),
        ("t v=x", "t.v: no value is written \"x\""),
        ("t v=1x", "t.v: no value is written \"x\""),
        ("t v=tr", "t.v: no value is written \"tr\""),
        ("t v=NaN", "t.v: no value is written \"NaN\""),
        ("t v=1.5i", "t.v: no value is written \"i\""),
        ("t v=1e999", "t.v: 1e999 does not fit 64 bits"),
        ("t v=9223372036854775808i", "t.v: 9223372036854775808i does not fit 64 bits"),
        ("t v=9223372036854775808u", "t.v: 9223372036854775808u does not fit 64 bits"),
        ("t v=-1u", "t.v: an unsigned integer has a sign"),
        ("t v=\"x", "t.v: its text has no closing quote"),
        ("t v=\"x\"y", "t.v: no value is written \"y\""),
        ("t,a= v=1", "t.a: the tag has no value: leave it out instead"),
        ("t,a=b=c v=1", "t.a: a tag's value has a `=`: write `\\=`"),
        ("t,=b v=1", "t: a tag or field has no name"),
        ("t,a v=1", "t: \"a\" is not followed by `=` and a value"),
        ("t,a=1,a=2 v=1", "t.a: the name occurs twice"),
        ("t,w=1 w=2", "t.w: the name occurs twice"),
        ("t,time=1 v=2", "t.time: the name `time` is the row's own time: give the field another"),
        ("t v=1,", "t: it has no field: write `table field=value`"),
        ("t v=1 2 3", "t: expected the timestamp or the end of the line, found \"3\""),
        ("t v=1 x", "t: expected the timestamp or the end of the line, found \"x\""),
        ("t v=1 99999999999999999999", "t: the timestamp is out of range"),
        ("t v=\"x\"", "t.v: it is text here and float in rows before"),
        ("t v=true", "t.v: it is boolean here and float in rows before"),
        (",a=b v=1", "?: the table's name is not accepted: it is empty"),
        ("t\x01 v=1", "t\x01: the table's name is not accepted: it has control characters"),
        ("t a\x01b=1", "t.a\x01b: the name has control characters"),
    ] {
        let body = format!("{good}\n{bad}\n# a comment\n{good}\n");
        lines(&body, &["t 1 v=1.0", "t 1 v=1.0", &format!("refused 2 {reason}")]);
    }
}

#[test]
fn line_protocol_takes_the_last_of_two_fields() {
    lines("t v=1i,w=2i,v=3i 1", &["t 1 v=3 w=2"]);
    lines("t v=1i 1\nt v=2.5,v=3i 2", &["t 1 v=1", "t 2 v=3"]);
    lines("t v=1i 1\nt v=3i,v=2.5 2", &["t 1 v=1.0", "t 2 v=2.5"]);
    lines("t v=1i,v=\"x\" 1", &["t 1 v=\"x\""]);
    lines("t v=1i 1\nt v=2i,v=\"x\" 2", &["t 1 v=1", "refused 2 t.v: it is text here and integer in rows before"]);
}

#[test]
fn a_refused_line_with_lines_in_its_text_is_refused_whole() {
    // What a text holds must not become a record, however bad its line is.
    lines(
        "t,a= s=\"x\nt v=9 9\ny\" 1\nt v=1 1",
        &["t 1 v=1.0", "refused 1 t.a: the tag has no value: leave it out instead"],
    );
    lines(
        "t v=1i 1\nt,a=\\=\\,\\\\ a\\\\,\\, v=true,s=\"x\nt v=9 9\"\nt v=2i 2",
        &["t 1 v=1", "t 2 v=2", "refused 2 t.v: it is boolean here and integer in rows before"],
    );
    lines("t v=NaN,w=,s=\"x\nt v=9 9\"\nt v=1 1", &["t 1 v=1.0", "refused 1 t.v: no value is written \"NaN\""]);
    // A quote that is never closed takes no line along.
    lines("t v=\"x\nt v=1 1", &["t 1 v=1.0", "refused 1 t.v: its text has no closing quote"]);
}

#[test]
fn a_line_that_is_no_utf8_is_refused() {
    let format = Format::LineProtocol { precision: Precision::Microseconds };
    check(
        format,
        b"t v=1 1\nt s=\"\xff\" 2\nt \xff=1 3\nt s=\"\xc3\xa4\" 4",
        &[
            "t 1 v=1.0 s=NULL",
            "t 4 v=NULL s=\"ä\"",
            "refused 2 t: the line is not valid UTF-8",
            "refused 3 t.\u{fffd}: the name is not valid UTF-8",
        ],
    );
    check(
        Format::Json { table: "t" },
        b"{\"s\":\"\xff\"}\n{\"s\":\"x\",\"time\":20000000000000}",
        &["t 20000000000000 s=\"x\"", "refused 1 t: the line is not valid UTF-8"],
    );
    check(
        Format::Csv { table: "t" },
        b"s,time\n\xff,1\nx,2",
        &["t 2000000 s=\"x\"", "refused 2 t: the line is not valid UTF-8"],
    );
}

#[test]
fn line_protocol_takes_the_type_of_the_last_value_of_a_field() {
    lines("t v=1,v=\"x\" 1\nt v=\"y\" 2", &["t 1 v=\"x\"", "t 2 v=\"y\""]);
    lines("t v=1i,v=2.5 1\nt v=3 2", &["t 1 v=2.5", "t 2 v=3.0"]);
}
