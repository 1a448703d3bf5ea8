//! Random rows, rendered in every format, decode to what plain decoders make of the same bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::types::Int8Type;
use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int16Array, LargeStringArray, RecordBatch,
    TimestampMillisecondArray, UInt32Array,
};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use decode::{Decoded, Format, Precision, decode};
use proptest::prelude::*;
use rmpv::Value;

use crate::load;
use crate::plain::{Item, REFUSING, Row, Val, outcome, sorted, wide};

fn run(format: Format<'_>, body: &[u8]) -> Decoded {
    decode(format, body, &REFUSING, &wide()).unwrap()
}

/// Few names, so that types meet; one needs escapes everywhere, and there are more than are looked for one by one.
const NAMES: [&str; 12] = ["a", "b", "host", "usage", "c", "a,b c=d\\e\"f", "größe", "d1", "d2", "d3", "d4", "d5"];
const TABLES: [&str; 3] = ["cpu", "mem-1", "disk_2"];

/// Values that every format can write and read exactly. Most are floats, so that most rows are taken.
fn val() -> impl Strategy<Value = Val> {
    prop_oneof![
        1 => Just(Val::Null),
        2 => any::<i64>().prop_map(Val::Int),
        2 => (-1000i64..1000).prop_map(Val::Int),
        9 => (-9_999_999i32..9_999_999).prop_map(|v| Val::Float(f64::from(v) / 100.0)),
        1 => any::<bool>().prop_map(Val::Bool),
        1 => text().prop_map(Val::Text),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "[ -~]{1,12}", "[a-z\"\\\\,= \n\tä€😀]{1,12}"]
}

/// A field's type follows from its name, but for one value in `usual`.
fn field(name: usize, usual: u32) -> impl Strategy<Value = (String, Val)> {
    (val(), any::<i64>(), text(), 0..usual).prop_map(move |(val, int, text, odd)| {
        let val = match (odd, name % 4, val) {
            (0, _, val) => val,
            (1, _, _) => Val::Null,
            (_, 0, _) => Val::Int(int),
            (_, 1, Val::Int(int)) => Val::Int(int),
            (_, 1, _) => Val::Float(int as i32 as f64 / 8.0),
            (_, 2, _) => Val::Text(text),
            (_, _, _) => Val::Bool(int > 0),
        };
        (NAMES[name].to_owned(), val)
    })
}

fn micros() -> impl Strategy<Value = Option<i64>> {
    prop::option::weighted(0.8, 10_000_000_000_000i64..9_999_999_999_999_999)
}

fn row() -> impl Strategy<Value = Row> {
    let fields = prop::collection::vec((0..NAMES.len()).prop_flat_map(|name| field(name, 10)), 0..6);
    (0..TABLES.len(), micros(), fields).prop_map(|(table, micros, fields)| {
        let mut seen = Vec::new();
        let fields = fields.into_iter().filter(|(name, _)| {
            let new = !seen.contains(name);
            seen.push(name.clone());
            new
        });
        Row { table: TABLES[table].to_owned(), micros, fields: fields.collect() }
    })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec(row(), 1..40)
}

/// Rows of mostly one table with the same fields; in one of ten, one is missing.
fn rows_alike() -> impl Strategy<Value = Vec<Row>> {
    let names = prop::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 1..6);
    names.prop_flat_map(|names| {
        let fields: Vec<_> = names.iter().map(|name| field(*name, 60)).collect();
        let row = (0..30usize, micros(), fields, 0..60usize);
        let row = row.prop_map(|(table, micros, mut fields, missing)| {
            if missing < fields.len() {
                fields.remove(missing);
            }
            Row { table: TABLES[table.saturating_sub(27)].to_owned(), micros, fields }
        });
        prop::collection::vec(row, 1..40)
    })
}

fn to_messagepack(val: &Val) -> Value {
    match val {
        Val::Null => Value::Nil,
        Val::Int(v) => (*v).into(),
        Val::Float(v) => (*v).into(),
        Val::Bool(v) => (*v).into(),
        Val::Text(v) => v.as_str().into(),
    }
}

fn from_messagepack(value: &Value) -> Val {
    match value {
        Value::Nil => Val::Null,
        Value::Boolean(v) => Val::Bool(*v),
        Value::Integer(v) => Val::Int(v.as_i64().unwrap()),
        Value::F64(v) => Val::Float(*v),
        Value::String(v) => Val::Text(v.as_str().unwrap().to_owned()),
        other => panic!("{other} was not written"),
    }
}

/// A batch read by rmpv.
fn read_messagepack(body: &[u8]) -> Vec<(usize, Item)> {
    let batch = rmpv::decode::read_value(&mut &body[..]).unwrap();
    let items = batch["batch"].as_array().unwrap().clone();
    items.iter().map(read_item).enumerate().collect()
}

fn read_item(item: &Value) -> Item {
    let table = item["m"].as_str().unwrap().to_owned();
    if let Some(columns) = item["columns"].as_map() {
        let len = columns[0].1.as_array().unwrap().len();
        return (0..len)
            .map(|at| {
                let cells = columns.iter().map(|(name, values)| (name.as_str().unwrap(), &values[at]));
                let micros = cells.clone().find(|(name, _)| *name == "time").and_then(|(_, value)| value.as_i64());
                let fields = cells.filter(|(name, _)| *name != "time");
                let fields = fields.map(|(name, value)| (name.to_owned(), from_messagepack(value))).collect();
                Row { table: table.clone(), micros, fields }
            })
            .collect();
    }
    let host = item["h"].as_str().map(|host| ("host".to_owned(), Val::Text(host.to_owned())));
    let fields = item["fields"].as_map().unwrap().iter();
    let fields = fields.map(|(name, value)| (name.as_str().unwrap().to_owned(), from_messagepack(value)));
    vec![Row { table, micros: item["t"].as_i64(), fields: host.into_iter().chain(fields).collect() }]
}

fn write_row(row: &Row, turn: usize) -> Value {
    let (is_host, fields): (Vec<_>, Vec<_>) = row.fields.iter().partition(|(name, val)| {
        // A host is text, and may have a key of its own.
        name == "host" && matches!(val, Val::Text(_)) && turn.is_multiple_of(2)
    });
    let pair = |(name, val): &(String, Val)| (name.as_str().into(), to_messagepack(val));
    let fields = fields.into_iter().map(pair).collect();
    let mut keys = vec![("m".into(), row.table.as_str().into()), ("fields".into(), Value::Map(fields))];
    keys.extend(is_host.into_iter().map(|(_, val)| ("h".into(), to_messagepack(val))));
    if let Some(micros) = row.micros {
        keys.push(("t".into(), micros.into()));
    }
    // Keys come in any order.
    let len = keys.len();
    keys.rotate_left(turn % len);
    Value::Map(keys)
}

fn write_columns(rows: &[Row], turn: usize) -> Value {
    let mut columns: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for (name, val) in &row.fields {
            let values = columns.entry(name).or_default();
            values.resize(at, Value::Nil);
            values.push(to_messagepack(val));
        }
    }
    columns.values_mut().for_each(|values| values.resize(rows.len(), Value::Nil));
    if !turn.is_multiple_of(4) {
        columns.insert("time", rows.iter().map(|row| row.micros.map_or(Value::Nil, Into::into)).collect());
    }
    let columns = columns.into_iter().map(|(name, values)| (name.into(), Value::Array(values))).collect();
    let mut keys = vec![("columns".into(), Value::Map(columns)), ("m".into(), rows[0].table.as_str().into())];
    keys.rotate_left(turn % 2);
    Value::Map(keys)
}

fn to_line(row: &Row) -> Option<String> {
    let escape = |text: &str| text.replace(',', "\\,").replace('=', "\\=").replace(' ', "\\ ");
    let mut line = row.table.clone();
    // Texts without a newline that do not end with a backslash may as well be tags.
    let is_tag = |val: &Val| matches!(val, Val::Text(t) if !t.contains('\n') && !t.ends_with('\\') && t.len() % 2 == 0);
    for (name, val) in &row.fields {
        if let Val::Text(text) = val
            && is_tag(val)
        {
            write!(line, ",{}={}", escape(name), escape(text)).unwrap();
        }
    }
    let fields: Vec<String> = row
        .fields
        .iter()
        .filter(|(_, val)| !is_tag(val))
        .filter_map(|(name, val)| {
            let val = match val {
                Val::Null => return None,
                Val::Int(v) => format!("{v}i"),
                Val::Float(v) => v.to_string(),
                Val::Bool(v) => ["f", "F", "false", "False", "FALSE", "t", "T", "true", "True", "TRUE"]
                    [usize::from(*v) * 5 + name.len() % 5]
                    .to_owned(),
                Val::Text(v) => format!("\"{}\"", v.replace('\\', "\\\\").replace('"', "\\\"")),
            };
            Some(format!("{}={val}", escape(name)))
        })
        .collect();
    if fields.is_empty() {
        return None;
    }
    write!(line, " {}", fields.join(",")).unwrap();
    if let Some(micros) = row.micros {
        write!(line, " {micros}").unwrap();
    }
    Some(line + "\n")
}

fn from_json(value: &serde_json::Value) -> Val {
    match value {
        serde_json::Value::Null => Val::Null,
        serde_json::Value::Bool(v) => Val::Bool(*v),
        serde_json::Value::Number(v) => v.as_i64().map_or_else(|| Val::Float(v.as_f64().unwrap()), Val::Int),
        serde_json::Value::String(v) => Val::Text(v.clone()),
        other => panic!("{other} was not written"),
    }
}

/// Rows without NULLs, as formats without NULL have them.
fn without_nulls(row: &Row) -> Row {
    let fields = row.fields.iter().filter(|(_, val)| *val != Val::Null).cloned().collect();
    Row { fields, ..row.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn messagepack(rows in rows(), turns in prop::collection::vec(0usize..12, 40)) {
        let mut items = Vec::new();
        let mut rest = &rows[..];
        for turn in turns {
            let len = rest.iter().take_while(|row| row.table == rest[0].table).count().min(turn);
            match rest {
                [] => break,
                _ if len > 1 && rest[..len].iter().any(|row| !row.fields.is_empty()) => {
                    items.push(write_columns(&rest[..len], turn));
                    rest = &rest[len..];
                }
                [row, more @ ..] => {
                    items.push(write_row(row, turn));
                    rest = more;
                }
            }
        }
        let body = load::packed(&Value::Map(vec![("batch".into(), Value::Array(items.clone()))]));
        prop_assert_eq!(sorted(&run(Format::MessagePack, &body)), outcome(&read_messagepack(&body)));
        // An array of maps is the same.
        let bare = load::packed(&Value::Array(items));
        prop_assert_eq!(run(Format::MessagePack, &bare), run(Format::MessagePack, &body));
    }

    #[test]
    fn messagepack_rows_alike(rows in rows_alike(), turn in 0usize..12) {
        let items = rows.iter().map(|row| write_row(row, turn)).collect();
        let body = load::packed(&Value::Map(vec![("batch".into(), Value::Array(items))]));
        prop_assert_eq!(sorted(&run(Format::MessagePack, &body)), outcome(&read_messagepack(&body)));
    }

    #[test]
    fn line_protocol(rows in rows()) {
        let mut body = String::new();
        let mut items = Vec::new();
        for row in &rows {
            let line = 1 + body.matches('\n').count();
            if let Some(text) = to_line(row) {
                body.push_str(&text);
                items.push((line, vec![without_nulls(row)]));
            }
        }
        let decoded = run(Format::LineProtocol { precision: Precision::Microseconds }, body.as_bytes());
        prop_assert_eq!(sorted(&decoded), outcome(&items));
    }

    #[test]
    fn ndjson(rows in rows()) {
        let mut body = String::new();
        for row in &rows {
            let mut object = serde_json::Map::new();
            for (name, val) in &row.fields {
                let value = match val {
                    Val::Null => serde_json::Value::Null,
                    Val::Int(v) => (*v).into(),
                    Val::Float(v) => (*v).into(),
                    Val::Bool(v) => (*v).into(),
                    Val::Text(v) => v.as_str().into(),
                };
                object.insert(name.clone(), value);
            }
            // A line that has a time and nothing else is a row of one column.
            if let Some(micros) = row.micros.filter(|_| !row.fields.is_empty()) {
                object.insert("time".to_owned(), micros.into());
            }
            writeln!(body, "{}", serde_json::Value::Object(object)).unwrap();
        }
        let items: Vec<(usize, Item)> = body.lines().enumerate().map(|(at, line)| {
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
            let micros = object.get("time").and_then(serde_json::Value::as_i64);
            let fields = object.iter().filter(|(name, _)| *name != "time");
            let fields = fields.map(|(name, value)| (name.clone(), from_json(value))).collect();
            (at + 1, vec![Row { table: "cpu".to_owned(), micros, fields }])
        }).collect();
        prop_assert_eq!(sorted(&run(Format::Json { table: "cpu" }, body.as_bytes())), outcome(&items));
    }

    #[test]
    fn csv(rows in rows()) {
        let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::NonNumeric).from_writer(Vec::new());
        writer.write_record(["time"].iter().chain(&NAMES)).unwrap();
        let mut bodies = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        for row in &rows {
            // Texts are quoted, the others not, and NULL is nothing.
            let cells = NAMES.iter().map(|name| match row.fields.iter().find(|(n, _)| n == name) {
                None | Some((_, Val::Null)) => String::new(),
                Some((_, Val::Int(v))) => v.to_string(),
                Some((_, Val::Float(v))) => format!("{v:?}"),
                Some((_, Val::Bool(v))) => v.to_string(),
                Some((_, Val::Text(v))) => format!("\"{}\"", v.replace('"', "\"\"")),
            });
            let time = row.micros.map(|micros| micros.to_string()).unwrap_or_default();
            let line: Vec<String> = [time].into_iter().chain(cells).collect();
            bodies.push_str(&line.join(","));
            bodies.push('\n');
        }
        let mut reader = csv::ReaderBuilder::new().quoting(true).from_reader(bodies.as_bytes());
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let mut seen: BTreeMap<String, bool> = BTreeMap::new();
        let mut items = Vec::new();
        for (record, row) in reader.records().zip(&rows) {
            let record = record.unwrap();
            let line = record.position().unwrap().line() as usize;
            let fields: Vec<(String, Val)> = names.iter().zip(&record).skip(1).map(|(name, cell)| {
                // The csv crate does not tell whether a cell was quoted; what was written does.
                let quoted = row.fields.iter().any(|(n, val)| n == name && matches!(val, Val::Text(_)));
                let texts = seen.get(name).copied().unwrap_or(false);
                (name.clone(), from_cell(cell, quoted || (texts && !cell.is_empty())))
            }).collect();
            let item = (line, vec![Row { table: "cpu".to_owned(), micros: record[0].parse().ok(), fields: fields.clone() }]);
            items.push(item);
            // A column that holds texts so far holds nothing else.
            if outcome(&items).refused.last() != Some(&line) {
                for (name, val) in fields {
                    if val != Val::Null {
                        seen.entry(name).or_insert(matches!(val, Val::Text(_)));
                    }
                }
            }
        }
        prop_assert_eq!(sorted(&run(Format::Csv { table: "cpu" }, bodies.as_bytes())), outcome(&items));
    }

    #[test]
    fn arrow_stream(
        rows in prop::collection::vec((any::<i16>(), any::<u32>(), any::<f32>(), prop::option::of("[a-z]{0,3}"), any::<Option<bool>>()), 1..50),
        cut in 0usize..50,
    ) {
        let micros = |at: usize| Some(at as i64 * 1_000);
        let texts: Vec<Option<&str>> = rows.iter().map(|r| r.3.as_deref()).collect();
        let small = Int16Array::from_iter(rows.iter().map(|r| (r.0 % 5 != 0).then_some(r.0)));
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(small.clone()),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|r| r.1))),
            Arc::new(TimestampMillisecondArray::from_iter_values(0..rows.len() as i64)),
            Arc::new(Float32Array::from_iter_values(rows.iter().map(|r| r.2))),
            Arc::new(LargeStringArray::from(texts.clone())),
            Arc::new(texts.iter().copied().collect::<DictionaryArray<Int8Type>>()),
            Arc::new(BooleanArray::from_iter(rows.iter().map(|r| r.4))),
        ];
        let names = ["small", "unsigned", "time", "float", "large", "word", "flag"];
        let fields: Vec<Field> = names.iter().zip(&arrays).map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
        prop_assert_eq!(fields[2].data_type(), &DataType::Timestamp(TimeUnit::Millisecond, None));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        let cut = cut.min(rows.len());
        let mut body = Vec::new();
        let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut body, &batch.schema()).unwrap();
        writer.write(&batch.slice(0, cut)).unwrap();
        writer.write(&batch.slice(cut, rows.len() - cut)).unwrap();
        writer.finish().unwrap();
        let expected: Vec<Row> = rows.iter().enumerate().map(|(at, r)| {
            let text = r.3.clone().map_or(Val::Null, Val::Text);
            let small = if r.0 % 5 == 0 { Val::Null } else { Val::Int(r.0.into()) };
            Row { table: "cpu".to_owned(), micros: micros(at), fields: vec![
                ("small".to_owned(), small),
                ("unsigned".to_owned(), Val::Int(r.1.into())),
                ("float".to_owned(), Val::Float(r.2.into())),
                ("large".to_owned(), text.clone()),
                ("word".to_owned(), text),
                ("flag".to_owned(), r.4.map_or(Val::Null, Val::Bool)),
            ]}
        }).collect();
        // An Arrow stream states its types: a column of NULLs stays.
        let decoded = run(Format::ArrowStream { table: "cpu" }, &body);
        prop_assert_eq!(decoded.tables[0].1.num_columns(), 7);
        let decoded = sorted(&decoded);
        let expected = outcome(&[(0, expected)]);
        let expected = &expected.tables["cpu"];
        for field in expected.schema().fields() {
            let name = field.name();
            prop_assert_eq!(decoded.tables["cpu"].column_by_name(name), expected.column_by_name(name));
        }
        prop_assert!(decoded.refused.is_empty());
    }
}

/// What a cell says, by the standard library's parsers.
fn from_cell(cell: &str, is_text: bool) -> Val {
    let canonical = |text: &str| serde_json::from_str::<serde_json::Number>(text).is_ok();
    match cell {
        text if is_text => Val::Text(text.to_owned()),
        "" => Val::Null,
        "true" => Val::Bool(true),
        "false" => Val::Bool(false),
        text if canonical(text) && text.parse::<i64>().is_ok() => Val::Int(text.parse().unwrap()),
        text if canonical(text) => Val::Float(text.parse().unwrap()),
        text => Val::Text(text.to_owned()),
    }
}
