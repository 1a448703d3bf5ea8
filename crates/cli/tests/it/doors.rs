//! The same rows become the same columns over every interface: one table of cases for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use arrow::ipc::reader::StreamReader;
use rmpv::Value as Packed;
use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{program, run};

/// Rows in each format that supports them, and the expected columns.
struct Case {
    json: &'static str,
    /// Empty without a header.
    csv: &'static str,
    lines: &'static str,
    /// Whether MessagePack over HTTP supports the same rows; it has its own types.
    packed: bool,
    /// A line for each column, ordered by name: name, type, and the values in the order of `time`.
    columns: &'static [&'static str],
}

const CASES: &[Case] = &[
    // Nested objects.
    Case {
        json: r#"{"time":1,"a":{"b":1,"c":{"d":"x"}},"e":true}"#,
        csv: "time,a_b,a_c_d,e\n1,1,x,true\n",
        lines: "t a_b=1i,a_c_d=\"x\",e=true 1",
        packed: false,
        columns: &["a_b int 1", "a_c_d text \"x\"", "e bool true"],
    },
    // Arrays.
    Case {
        json: r#"{"time":1,"s":["b","a","b"],"n":[2,1],"o":[{"x":1}],"e":[]}"#,
        csv: "",
        lines: "",
        packed: false,
        columns: &[r"e set []", r#"n set ["1","2"]"#, r#"o text "[{\"x\":1}]""#, r#"s set ["a","b"]"#],
    },
    // NULL, and missing fields.
    Case {
        json: "{\"time\":1,\"a\":1,\"n\":null}\n{\"time\":2,\"b\":\"x\"}",
        csv: "time,a,n,b\n1,1,,\n2,,,x\n",
        lines: "t a=1i 1\nt b=\"x\" 2",
        packed: true,
        columns: &["a int 1 null", "b text null \"x\""],
    },
    // Empty objects, and a row with only a time.
    Case {
        json: "{\"time\":1,\"v\":1}\n{\"time\":2,\"o\":{}}\n{\"time\":3}",
        csv: "time,v\n1,1\n2,\n3,\n",
        lines: "",
        packed: false,
        columns: &["v int 1 null null"],
    },
    // Booleans and texts mixed with numbers.
    Case {
        json: "{\"time\":1,\"v\":1}\n{\"time\":2,\"v\":true}\n{\"time\":3,\"v\":\"x\"}\n{\"time\":4,\"v\":2}",
        csv: "time,v\n1,1\n2,true\n3,x\n4,2\n",
        lines: "t v=1i 1\nt v=true 2\nt v=\"x\" 3\nt v=2i 4",
        packed: true,
        columns: &["v int 1 null null 2", "v_text text null \"true\" \"x\" null"],
    },
    // Numbers mixed with texts: in CSV every cell is a text.
    Case {
        json: "{\"time\":1,\"v\":\"x\"}\n{\"time\":2,\"v\":5}\n{\"time\":3,\"v\":false}",
        csv: "",
        lines: "t v=\"x\" 1\nt v=5i 2\nt v=false 3",
        packed: true,
        columns: &["v text \"x\" null null", "v_text text null \"5\" \"false\""],
    },
    // Integers followed by a real number.
    Case {
        json: "{\"time\":1,\"v\":1}\n{\"time\":2,\"v\":0.5}\n{\"time\":3,\"v\":2}",
        csv: "time,v\n1,1\n2,0.5\n3,2\n",
        lines: "t v=1i 1\nt v=0.5 2\nt v=2i 3",
        packed: true,
        columns: &["v real 1.0 0.5 2.0"],
    },
    // Integers past 2^53.
    Case {
        json: "{\"time\":1,\"v\":9007199254740993}\n{\"time\":2,\"v\":1.5}\n{\"time\":3,\"v\":2.0}",
        csv: "time,v\n1,9007199254740993\n2,1.5\n3,2.0\n",
        lines: "t v=9007199254740993i 1\nt v=1.5 2\nt v=2.0 3",
        packed: true,
        columns: &["v int 9007199254740993 null 2", "v_text text null \"1.5\" null"],
    },
    Case {
        json: "{\"time\":1,\"v\":1.5}\n{\"time\":2,\"v\":9007199254740993}",
        csv: "time,v\n1,1.5\n2,9007199254740993\n",
        lines: "t v=1.5 1\nt v=9007199254740993i 2",
        packed: true,
        columns: &["v real 1.5 null", "v_text text null \"9007199254740993\""],
    },
    // Integers past 64 bits.
    Case {
        json: "{\"time\":1,\"v\":1}\n{\"time\":2,\"v\":18446744073709551615}",
        csv: "time,v\n1,1\n2,18446744073709551615\n",
        lines: "",
        packed: false,
        columns: &["v int 1 null", "v_text text null \"18446744073709551615\""],
    },
    // Numbers and dates in quotes stay texts.
    Case {
        json: "{\"time\":1,\"v\":\"007\",\"d\":\"2024-01-02\"}\n{\"time\":2,\"v\":\"12\",\"d\":\"soon\"}",
        csv: "time,v,d\n1,007,2024-01-02\n2,12,soon\n",
        lines: "t v=\"007\",d=\"2024-01-02\" 1\nt v=\"12\",d=\"soon\" 2",
        packed: true,
        columns: &["d text \"2024-01-02\" \"soon\"", "v text \"007\" \"12\""],
    },
    // Times in quotes; formats with types keep texts.
    Case {
        json: "{\"time\":1,\"at\":\"2024-01-02T03:04:05Z\"}\n{\"time\":2,\"at\":\"2024-01-02T03:04:05.5+01:00\"}\n{\"time\":3,\"at\":\"soon\"}",
        csv: "time,at\n1,2024-01-02T03:04:05\n2,2024-01-02T03:04:05.5+01:00\n3,soon\n",
        lines: "",
        packed: false,
        columns: &[
            "at time \"2024-01-02T03:04:05Z\" \"2024-01-02T02:04:05.500Z\" null",
            "at_text text null null \"soon\"",
        ],
    },
    // The row's time in seconds, milli-, micro- and nanoseconds, and as text.
    Case {
        json: "{\"time\":1700000000,\"v\":1}\n{\"time\":1700000001000,\"v\":2}\n{\"time\":1700000002000000,\"v\":3}\n{\"time\":1700000003000000001,\"v\":4}\n{\"time\":\"2023-11-14T22:13:24Z\",\"v\":5}\n{\"time\":\"1700000005\",\"v\":6}\n{\"time\":1700000006.5,\"v\":7}",
        csv: "time,v\n1700000000,1\n1700000001000,2\n1700000002000000,3\n1700000003000000001,4\n2023-11-14T22:13:24Z,5\n\"1700000005\",6\n1700000006.5,7\n",
        lines: "",
        packed: false,
        columns: &["time_nanos int null null null 1 null null null", "v int 1 2 3 4 5 6 7"],
    },
    // Names: dots, spaces, digits, letters of any language, case.
    Case {
        json: r#"{"time":1,"a.b":1,"disk usage":2,"5xx":3,"größe":4,"_x":5,"Load":6,"load":7,"a/b":8}"#,
        csv: "time,a.b,disk usage,5xx,größe,_x,Load,load,a/b\n1,1,2,3,4,5,6,7,8\n",
        lines: r"t a.b=1i,disk\ usage=2i,5xx=3i,größe=4i,_x=5i,Load=6i,load=7i,a/b=8i 1",
        packed: true,
        columns: &[
            "5xx int 3",
            "Load int 6",
            "_x int 5",
            "a.b int 1",
            "a/b int 8",
            "disk usage int 2",
            "größe int 4",
            "load_case int 7",
        ],
    },
    // A name in another Unicode normalization form.
    Case {
        json: "{\"time\":1,\"gro\u{308}ße\":1}",
        csv: "time,gro\u{308}ße\n1,1\n",
        lines: "t gro\u{308}ße=1i 1",
        packed: true,
        columns: &["größe int 1"],
    },
    // Fields with the names of this program's own columns.
    Case {
        json: "{\"time\":1,\"v\":1,\"v_text\":\"mine\",\"time_nanos\":7}\n{\"time\":2,\"v\":\"x\",\"v_text\":\"own\"}",
        csv: "time,v,v_text,time_nanos\n1,1,mine,7\n2,x,own,\n",
        lines: "t v=1i,v_text=\"mine\",time_nanos=7i 1\nt v=\"x\",v_text=\"own\" 2",
        packed: true,
        columns: &[
            "time_nanos int 7 null",
            "v int 1 null",
            "v_text text \"mine\" \"own\"",
            "v_text_text text null \"x\"",
        ],
    },
    // Empty texts, quotes and newlines.
    Case {
        json: "{\"time\":1,\"s\":\"\",\"q\":\"a,\\\"b\\\"\\nc\"}",
        csv: "time,s,q\n1,\"\",\"a,\"\"b\"\"\nc\"\n",
        lines: "t s=\"\",q=\"a,\\\"b\\\"\nc\" 1",
        packed: true,
        columns: &["q text \"a,\\\"b\\\"\\nc\"", "s text \"\""],
    },
];

fn pack(value: &Value) -> Packed {
    match value {
        Value::Null => Packed::Nil,
        Value::Bool(v) => (*v).into(),
        Value::Number(v) => match (v.as_i64(), v.as_u64()) {
            (Some(v), _) => v.into(),
            (None, Some(v)) => v.into(),
            _ => v.as_f64().unwrap().into(),
        },
        Value::String(v) => v.as_str().into(),
        Value::Array(v) => Packed::Array(v.iter().map(pack).collect()),
        Value::Object(v) => Packed::Map(v.iter().map(|(key, value)| (key.as_str().into(), pack(value))).collect()),
    }
}

fn bytes_of(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| rmpv::encode::write_value(&mut bytes, &pack(value)).unwrap());
    bytes
}

/// Runs the program with arguments and stdin.
fn feed(data: &Path, words: &[&str], stdin: &[u8]) -> Output {
    let mut program = program(words);
    program.arg("--data").arg(data).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    child.wait_with_output().unwrap()
}

fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The columns of a table, in the form of a case.
fn columns(server: &Served, table: &str) -> Vec<String> {
    let sql = format!("SELECT * FROM \"{table}\" ORDER BY time");
    let rows = server.sql(&sql);
    let stream = server.post_json("/api/v1/sql?format=arrow", &json!({"sql": sql})).body;
    let schema = StreamReader::try_new(&stream[..], None).unwrap().schema();
    let kind = |ty: &str| match ty {
        ty if ty.starts_with("Int64") => "int",
        ty if ty.starts_with("Float64") => "real",
        ty if ty.starts_with("Utf8") => "text",
        ty if ty.starts_with("Boolean") => "bool",
        ty if ty.starts_with("Timestamp") => "time",
        ty if ty.starts_with("List") => "set",
        other => panic!("{other} is no type of ours"),
    };
    let mut columns = BTreeMap::new();
    for column in schema.fields() {
        let name = column.name();
        let mut line = format!("{name} {}", kind(&column.data_type().to_string()));
        rows.as_array().unwrap().iter().for_each(|row| write!(line, " {}", row[name]).unwrap());
        columns.insert(name.to_owned(), line);
    }
    columns.remove("time");
    columns.into_values().collect()
}

/// Sends the rows of a case over every interface that supports them; returns the tables.
fn send(server: &Served, data: &Path, folder: &Path, case: &Case, number: usize) -> Vec<String> {
    let rows: Vec<Value> = case.json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut tables = Vec::new();
    let mut door = |name: &str| {
        tables.push(format!("{name}_{number}"));
        tables.last().unwrap().clone()
    };
    let stored = |path: &str, body: &[u8]| {
        let reply = server.post(path, body);
        assert_eq!(reply.status, 204, "{path}: {}", reply.text());
    };
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let from_http = door("http_json");
    stored(&format!("/api/v1/write/json?table={from_http}"), case.json.as_bytes());
    succeeds(&feed(data, &["append", &door("append_json")], case.json.as_bytes()));
    succeeds(&run(data, &["table", "insert", &door("insert_json"), &file("rows.jsonl", case.json.as_bytes())]));
    succeeds(&feed(data, &["append", &door("append_msgpack"), "--in", "msgpack"], &bytes_of(&rows)));
    if !case.csv.is_empty() {
        stored(&format!("/api/v1/write/csv?table={}", door("http_csv")), case.csv.as_bytes());
        succeeds(&feed(data, &["append", &door("append_csv"), "--in", "csv"], case.csv.as_bytes()));
        succeeds(&run(data, &["table", "insert", &door("insert_csv"), &file("rows.csv", case.csv.as_bytes())]));
    }
    if !case.lines.is_empty() {
        let lines = format!("\n{}", case.lines).replace("\nt ", &format!("\n{} ", door("lines")));
        stored("/write?db=default&precision=s", lines.as_bytes());
    }
    if case.packed {
        let table = door("http_columnar");
        let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.as_object().unwrap().keys()).collect();
        let column = |name: &String| (name.clone(), rows.iter().map(|row| row[name].clone()).collect::<Value>());
        let columns: serde_json::Map<String, Value> = names.into_iter().map(column).collect();
        stored("/api/v1/write/msgpack", &bytes_of(&[json!({"m": table, "columns": columns})]));
        let table = door("http_msgpack");
        let items = rows.iter().cloned().map(|mut row| {
            let time = row.as_object_mut().unwrap().remove("time");
            json!({"m": table, "t": time, "fields": row})
        });
        stored("/api/v1/write/msgpack", &bytes_of(&[Value::Array(items.collect())]));
    }
    // Columns with declared types.
    let arrow = json!({"sql": format!("SELECT * FROM {from_http}")});
    let arrow = server.post_json("/api/v1/sql?format=arrow", &arrow);
    stored(&format!("/api/v1/write/arrow?table={}", door("http_arrow")), &arrow.body);
    let parquet = folder.join(format!("{number}.parquet"));
    let parquet = parquet.to_str().unwrap();
    succeeds(&run(data, &["export", &from_http, "--to", parquet]));
    succeeds(&run(data, &["table", "insert", &door("insert_parquet"), parquet]));
    tables
}

#[test]
fn the_same_rows_become_the_same_columns_through_every_door() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &[]);
    for (number, case) in CASES.iter().enumerate() {
        for table in send(&server, &data, folder.path(), case, number) {
            assert_eq!(columns(&server, &table), case.columns, "{table}: {}", case.json);
        }
    }
    server.stop();
}

/// Invalid lines, each after a valid one, and the reason.
const REFUSED: &[(&str, &str)] = &[
    (r#"{"time":1,"v":1,"v":2}"#, "occurs twice"),
    (r#"{"time":1,"a":{"b":1},"a_b":2}"#, "occurs twice"),
    (r#"{"time":1,"":1}"#, "a field has no name"),
    (r#"{"time":1,"a\nb":1}"#, "control characters"),
    (r#"{"time":1,"v":NaN}"#, "NaN"),
    (r#"{"time":1,"v":Infinity}"#, "Infinity"),
    (r#"{"time":1,"v":"#, "the line ends where"),
    ("{}", "names no field"),
    ("[1]", "it is an array"),
];

#[test]
fn what_is_no_row_is_refused_by_every_door_with_the_same_reason() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &[]);
    let long = format!("{{\"time\":1,\"{}\":1}}", "n".repeat(257));
    for (line, reason) in REFUSED.iter().copied().chain([(long.as_str(), "257 bytes, where 256 are allowed")]) {
        let body = format!("{{\"time\":1,\"v\":1}}\n{line}\n");
        let reply = server.post("/api/v1/write/json?table=http", body.as_bytes());
        let said = reply.json();
        assert_eq!((reply.status, &said["stored"]), (400, &json!(1)), "{said}");
        let appended = feed(&data, &["append", "append"], body.as_bytes());
        let path = folder.path().join("rows.jsonl");
        fs::write(&path, &body).unwrap();
        let inserted = run(&data, &["table", "insert", "file", path.to_str().unwrap()]);
        assert_eq!((appended.status.code(), inserted.status.code()), (Some(1), Some(2)), "{line}");
        let shell = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
        let (appended, inserted) = (shell(&appended), shell(&inserted));
        for said in [said["error"].as_str().unwrap(), appended.as_str(), inserted.as_str()] {
            assert!(said.contains(reason), "{line}: {said}");
        }
    }
    server.stop();
}

#[test]
fn every_door_refuses_conflicts_where_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &[]);
    let good = "{\"time\":1,\"v\":1}\n";
    let bad = "{\"time\":2,\"v\":\"x\"}\n{\"time\":3,\"v\":2}\n";
    let path = folder.path().join("rows.jsonl");
    let header = [("x-manyworlds-on-conflict", "refuse")];
    fs::write(&path, good).unwrap();
    for table in ["http", "append", "file"] {
        succeeds(&run(&data, &["table", "insert", table, path.to_str().unwrap()]));
    }
    fs::write(&path, bad).unwrap();
    let reply = server.send("POST", "/api/v1/write/json?table=http", &header, bad.as_bytes());
    assert_eq!((reply.status, &reply.json()["stored"]), (400, &json!(1)), "{}", reply.text());
    let wrong = server.send("POST", "/api/v1/write/json?table=http", &[(header[0].0, "drop")], bad.as_bytes());
    assert_eq!(wrong.status, 400, "{}", wrong.text());
    let appended = feed(&data, &["append", "append", "--on-conflict", "refuse"], bad.as_bytes());
    assert_eq!(appended.status.code(), Some(1), "{appended:?}");
    let inserted = run(&data, &["table", "insert", "file", path.to_str().unwrap(), "--on-conflict", "refuse"]);
    assert_eq!(inserted.status.code(), Some(2), "{inserted:?}");
    assert!(String::from_utf8_lossy(&inserted.stderr).contains("it is text here and integer"), "{inserted:?}");
    for (table, values) in [("http", "v int 1 2"), ("append", "v int 1 2"), ("file", "v int 1")] {
        assert_eq!(columns(&server, table), [values], "{table}");
    }
    server.stop();
}

#[test]
fn rows_without_a_time_get_one_unless_they_are_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &[]);
    let rows = "{\"v\":1}\n{\"v\":2,\"time\":\"soon\"}\n";
    assert_eq!(server.post("/api/v1/write/json?table=http", rows.as_bytes()).status, 204);
    succeeds(&feed(&data, &["append", "append"], rows.as_bytes()));
    let path = folder.path().join("rows.jsonl");
    fs::write(&path, rows).unwrap();
    succeeds(&run(&data, &["table", "insert", "file", path.to_str().unwrap()]));
    for table in ["http", "append"] {
        let sql = format!("SELECT v, time_text, time IS NULL AS timeless FROM {table} ORDER BY v");
        let expected =
            json!([{"v": 1, "time_text": null, "timeless": false}, {"v": 2, "time_text": "soon", "timeless": false}]);
        assert_eq!(server.sql(&sql), expected, "{table}");
    }
    assert_eq!(
        server.sql("SELECT * FROM file ORDER BY v"),
        json!([{"v": 1, "time_text": null}, {"v": 2, "time_text": "soon"}])
    );
    server.stop();
}

#[test]
fn tables_with_dotted_columns_keep_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data, &[]);
    let nested = "{\"time\":2,\"a\":{\"b\":2}}\n";
    let path = folder.path().join("rows.jsonl");
    fs::write(&path, nested).unwrap();
    for table in ["http", "append", "file"] {
        // A table as a server of an older version left it.
        assert_eq!(server.post(&format!("/api/v1/write/json?table={table}"), b"{\"time\":1,\"a.b\":1}").status, 204);
    }
    server.stop();
    let server = Served::start(&data, &[]);
    assert_eq!(server.post("/api/v1/write/json?table=http", nested.as_bytes()).status, 204);
    succeeds(&feed(&data, &["append", "append"], nested.as_bytes()));
    succeeds(&run(&data, &["table", "insert", "file", path.to_str().unwrap()]));
    for table in ["http", "append", "file"] {
        assert_eq!(columns(&server, table), ["a.b int 1 2"], "{table}");
    }
    server.stop();
}
