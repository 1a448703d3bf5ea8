//! Encodes records in each wire format, by hand if that is cheaper: the load shares the processor with the server.

use std::io;
use std::sync::{Arc, LazyLock};

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;

use super::format::WireFormat;
use super::records::{HOSTS, Measurement, Records};

/// The hosts' names, each nine bytes long.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| (0..HOSTS).map(|host| format!("server{host:03}")).collect());

/// Appends records of a table to `out`.
pub(crate) fn encode(format: WireFormat, of: &Measurement, records: &Records, out: &mut Vec<u8>) -> io::Result<()> {
    match format {
        WireFormat::Columnar => columnar(of, records, out),
        WireFormat::Rows => rows(of, records, out),
        WireFormat::Lp => line_protocol(of, records, out),
        WireFormat::Json => json(of, records, out),
        WireFormat::Arrow => return arrow(of, records, out).map_err(io::Error::other),
    }
    Ok(())
}

pub(crate) fn name(host: u16) -> &'static str {
    &NAMES[host as usize]
}

fn columnar(of: &Measurement, records: &Records, out: &mut Vec<u8>) {
    out.push(0x82);
    text("m", out);
    text(&of.name, out);
    text("columns", out);
    out.push(0x85);
    text("time", out);
    array(records.times.len(), out);
    records.times.iter().for_each(|time| integer(*time, out));
    text("host", out);
    array(records.hosts.len(), out);
    records.hosts.iter().for_each(|host| text(name(*host), out));
    for (field, values) in of.fields.iter().zip(&records.values) {
        text(field, out);
        array(values.len(), out);
        values.iter().for_each(|value| float(*value, out));
    }
}

fn rows(of: &Measurement, records: &Records, out: &mut Vec<u8>) {
    out.push(0x81);
    text("batch", out);
    array(records.times.len(), out);
    for row in 0..records.times.len() {
        out.push(0x84);
        text("m", out);
        text(&of.name, out);
        text("t", out);
        integer(records.times[row], out);
        text("h", out);
        text(name(records.hosts[row]), out);
        text("fields", out);
        out.push(0x83);
        for (field, values) in of.fields.iter().zip(&records.values) {
            text(field, out);
            float(values[row], out);
        }
    }
}

fn line_protocol(of: &Measurement, records: &Records, out: &mut Vec<u8>) {
    for row in 0..records.times.len() {
        out.extend(of.name.as_bytes());
        out.extend(b",host=");
        out.extend(name(records.hosts[row]).as_bytes());
        for (place, (field, values)) in of.fields.iter().zip(&records.values).enumerate() {
            out.push(if place == 0 { b' ' } else { b',' });
            out.extend(field.as_bytes());
            out.push(b'=');
            decimal(values[row], out);
        }
        out.push(b' ');
        digits(records.times[row], out);
        out.push(b'\n');
    }
}

fn json(of: &Measurement, records: &Records, out: &mut Vec<u8>) {
    for row in 0..records.times.len() {
        out.extend(b"{\"time\":");
        digits(records.times[row], out);
        out.extend(b",\"host\":\"");
        out.extend(name(records.hosts[row]).as_bytes());
        out.push(b'"');
        for (field, values) in of.fields.iter().zip(&records.values) {
            out.extend(b",\"");
            out.extend(field.as_bytes());
            out.extend(b"\":");
            decimal(values[row], out);
        }
        out.extend(b"}\n");
    }
}

fn arrow(of: &Measurement, records: &Records, out: &mut Vec<u8>) -> Result<(), ArrowError> {
    let batch = record_batch(of, records)?;
    let mut writer = StreamWriter::try_new(out, &batch.schema())?;
    writer.write(&batch)?;
    writer.finish()
}

/// The records as the server must decode them.
pub(crate) fn record_batch(of: &Measurement, records: &Records) -> Result<RecordBatch, ArrowError> {
    let time = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let mut fields = vec![Field::new("time", time, false), Field::new("host", DataType::Utf8, true)];
    fields.extend(of.fields.map(|field| Field::new(field, DataType::Float64, true)));
    let times = TimestampMicrosecondArray::from(records.times.clone()).with_timezone("UTC");
    let hosts = StringArray::from_iter_values(records.hosts.iter().map(|host| name(*host)));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(hosts)];
    for values in &records.values {
        columns.push(Arc::new(Float64Array::from_iter_values(values.iter().map(|value| real(*value)))));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// The double nearest to a number of hundredths.
fn real(hundredths: u16) -> f64 {
    f64::from(hundredths) / 100.0
}

/// Appends a text of less than 32 bytes as MessagePack.
fn text(of: &str, out: &mut Vec<u8>) {
    out.push(0xa0 | of.len() as u8);
    out.extend(of.as_bytes());
}

fn array(length: usize, out: &mut Vec<u8>) {
    out.push(0xdd);
    out.extend((length as u32).to_be_bytes());
}

fn integer(value: i64, out: &mut Vec<u8>) {
    let mut bytes = [0xd3; 9];
    bytes[1..].copy_from_slice(&value.to_be_bytes());
    out.extend(bytes);
}

fn float(hundredths: u16, out: &mut Vec<u8>) {
    let mut bytes = [0xcb; 9];
    bytes[1..].copy_from_slice(&real(hundredths).to_be_bytes());
    out.extend(bytes);
}

/// Appends hundredths below 10,000 as a decimal number: `3.07`.
fn decimal(hundredths: u16, out: &mut Vec<u8>) {
    let digit = |n: u16| b'0' + (n % 10) as u8;
    if hundredths >= 1_000 {
        out.push(digit(hundredths / 1_000));
    }
    out.extend([digit(hundredths / 100), b'.', digit(hundredths / 10), digit(hundredths)]);
}

/// Appends the digits of a number above 0.
fn digits(mut value: i64, out: &mut Vec<u8>) {
    let mut text = [b'0'; 20];
    let mut at = text.len();
    while value > 0 {
        at -= 1;
        text[at] += (value % 10) as u8;
        value /= 10;
    }
    out.extend(&text[at..]);
}
