//! Records as a fleet of hosts sends them, and their bodies in each format, written by other people's writers where
//! there are any. Shared by the tests and the bench.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow::array::RecordBatch;
use rmpv::Value;

/// One record of the load.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) table: &'static str,
    pub(crate) micros: i64,
    pub(crate) host: String,
    /// `usage`, `idle` and `wait`, in hundredths.
    pub(crate) hundredths: [u32; 3],
}

pub(crate) const FIELDS: [&str; 3] = ["usage", "idle", "wait"];

impl Record {
    fn value(&self, field: usize) -> f64 {
        f64::from(self.hundredths[field]) / 100.0
    }
}

/// Records of three tables in turns and a thousand hosts, the same for each seed.
pub(crate) fn records(count: usize, seed: u64) -> Vec<Record> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    (0..count)
        .map(|at| Record {
            table: ["cpu", "mem", "disk"][at % 3],
            micros: 1_760_000_000_000_000 + at as i64 * 37,
            host: format!("server{:03}", next(1_000)),
            hundredths: [next(10_000) as u32, next(10_000) as u32, next(10_000) as u32],
        })
        .collect()
}

/// A batch of one columnar item a table; of one table, the item alone.
pub(crate) fn columnar(records: &[Record]) -> Vec<u8> {
    let mut items: Vec<Value> = ["cpu", "mem", "disk"]
        .into_iter()
        .map(|table| (table, records.iter().filter(|r| r.table == table).collect::<Vec<_>>()))
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(table, rows)| {
            let mut columns = vec![
                ("time".into(), Value::Array(rows.iter().map(|r| r.micros.into()).collect())),
                ("host".into(), Value::Array(rows.iter().map(|r| r.host.as_str().into()).collect())),
            ];
            for (at, name) in FIELDS.into_iter().enumerate() {
                columns.push((name.into(), Value::Array(rows.iter().map(|r| r.value(at).into()).collect())));
            }
            Value::Map(vec![("m".into(), table.into()), ("columns".into(), Value::Map(columns))])
        })
        .collect();
    match items.len() {
        1 => packed(&items.remove(0)),
        _ => packed(&Value::Map(vec![("batch".into(), Value::Array(items))])),
    }
}

/// A batch of rows.
pub(crate) fn rows(records: &[Record]) -> Vec<u8> {
    let row = |r: &Record| {
        let fields = FIELDS.into_iter().enumerate().map(|(at, name)| (name.into(), r.value(at).into())).collect();
        Value::Map(vec![
            ("m".into(), r.table.into()),
            ("t".into(), r.micros.into()),
            ("h".into(), r.host.as_str().into()),
            ("fields".into(), Value::Map(fields)),
            ("tags".into(), Value::Map(Vec::new())),
        ])
    };
    packed(&Value::Map(vec![("batch".into(), Value::Array(records.iter().map(row).collect()))]))
}

/// MessagePack as rmpv writes it.
pub(crate) fn packed(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("memory does not fail");
    bytes
}

pub(crate) fn line_protocol(records: &[Record]) -> Vec<u8> {
    let mut text = String::new();
    for r in records {
        let _ = write!(text, "{},host={} ", r.table, r.host);
        for (at, name) in FIELDS.into_iter().enumerate() {
            let _ = write!(text, "{}{name}={:.2}", if at > 0 { "," } else { "" }, r.value(at));
        }
        let _ = writeln!(text, " {}", r.micros * 1_000);
    }
    text.into_bytes()
}

pub(crate) fn ndjson(records: &[Record]) -> Vec<u8> {
    let mut text = String::new();
    for r in records {
        let _ = write!(text, "{{\"time\":{},\"host\":\"{}\"", r.micros, r.host);
        for (at, name) in FIELDS.into_iter().enumerate() {
            let _ = write!(text, ",\"{name}\":{:.2}", r.value(at));
        }
        text.push_str("}\n");
    }
    text.into_bytes()
}

pub(crate) fn csv(records: &[Record]) -> Vec<u8> {
    let mut text = "time,host,usage,idle,wait\n".to_owned();
    for r in records {
        let _ = writeln!(text, "{},{},{:.2},{:.2},{:.2}", r.micros, r.host, r.value(0), r.value(1), r.value(2));
    }
    text.into_bytes()
}

pub(crate) fn arrow_stream(rows: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut bytes, &rows.schema()).expect("a stream");
    writer.write(rows).expect("a stream");
    writer.finish().expect("a stream");
    bytes
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

/// Events as a fleet of web hosts sends them, one JSON object a line: ten fields, one of them a set.
pub(crate) fn events(count: usize) -> Vec<u8> {
    let mut text = String::new();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for at in 0..count {
        let host = next(20);
        let groups: Vec<String> =
            [2, 3, 5].into_iter().filter(|n| at % n == 0).map(|n| format!("\"mod{n}\"")).collect();
        let groups = if groups.is_empty() { "\"none\"".to_owned() } else { groups.join(", ") };
        let status = ["200", "200", "200", "200", "200", "301", "403", "404", "500"][next(9) as usize];
        let _ = writeln!(
            text,
            "{{\"time\": {}, \"weight\": {}, \"random_int\": {}, \"ping\": {}, \"host\": \"host_{host:02}\", \
             \"status\": \"{status}\", \"groups\": [{groups}], \"host_index\": {host}, \"index_int\": {at}, \
             \"region\": \"{}\"}}",
            1_760_000_000 + at / 4,
            [1, 10, 100][next(3) as usize],
            next(1000),
            60 + host + next(40),
            ["north", "east", "south", "west"][next(4) as usize],
        );
    }
    text.into_bytes()
}
