//! Encodes columns as rows of the protocol, in text or binary format.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Float32Array, Float64Array, Int16Array,
    Int32Array, Int64Array, IntervalMonthDayNanoArray, ListArray, RecordBatch, StringArray, StringViewArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt32Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::error::ArrowError;
use arrow::json::writer::{EncoderOptions, make_encoder};
use bytes::{BufMut as _, BytesMut};
use chrono::{DateTime, NaiveDate, TimeDelta};
use pgwire::messages::data::{FORMAT_CODE_BINARY, FieldDescription, RowDescription};
use sql::postgres::{JSON, JSONB, length_of, oid_of, oid_of_field, type_of};

use super::intervals;

/// Days and microseconds from 1970, Arrow's epoch, to 2000, the protocol's.
pub(super) const EPOCH_DAYS: i32 = 10_957;
pub(super) const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * 86_400_000_000;

/// PostgreSQL's numbers of the types of OIDs and of lists of them.
const OID: u32 = 26;
const OIDS: u32 = 1028;

/// The result formats that the client asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Formats(pub(super) Vec<i16>);

impl Formats {
    pub(super) fn of(&self, column: usize) -> i16 {
        match self.0.as_slice() {
            [] => 0,
            [all] => *all,
            each => each.get(column).copied().unwrap_or_default(),
        }
    }
}

/// The row description of a schema.
pub(super) fn description(schema: &Schema, formats: &Formats) -> RowDescription {
    let field = |(place, field): (usize, &FieldRef)| {
        let oid = oid_of_field(field);
        let name = field.name().replace('\0', " ");
        FieldDescription::new(name, 0, 0, oid, length_of(oid), -1, formats.of(place))
    };
    RowDescription::new(schema.fields().iter().enumerate().map(field).collect())
}

/// Encoded rows of an answer, written one by one.
pub(super) struct Lines {
    columns: Vec<Cells>,
    pub(super) rows: usize,
    /// The next row to write.
    pub(super) next: usize,
}

impl Lines {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self, ArrowError> {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns()).map(|(field, values)| Cells::of(field, values));
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, rows: batch.num_rows(), next: 0 })
    }

    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Writes a row's values.
    pub(super) fn write(&self, row: usize, formats: &Formats, out: &mut BytesMut) {
        for (place, column) in self.columns.iter().enumerate() {
            column.put(row, formats.of(place) == FORMAT_CODE_BINARY, out);
        }
    }

    /// Writes a value as text without its length; `false` for NULL.
    pub(super) fn write_text(&self, row: usize, column: usize, out: &mut BytesMut) -> bool {
        let column = &self.columns[column];
        let some = !column.is_null(row);
        if some {
            column.text(row, out);
        }
        some
    }
}

/// The values of one column.
enum Cells {
    Bool(BooleanArray),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    Oid(UInt32Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Bytes(BinaryArray),
    Date(Date32Array),
    Time(Time64MicrosecondArray),
    Timestamp(TimestampMicrosecondArray),
    TimestampTz(TimestampMicrosecondArray),
    Interval(IntervalMonthDayNanoArray),
    Numeric(StringArray),
    Text(StringViewArray),
    Jsonb(StringViewArray),
    List(u32, ListArray, Box<Cells>),
}

impl Cells {
    fn of(field: &Field, values: &ArrayRef) -> Result<Self, ArrowError> {
        let oid = oid_of_field(field);
        let to = match oid {
            JSON if field.data_type().is_nested() => return Ok(Self::Text(json(field, values)?)),
            25 | JSON | JSONB => Some(DataType::Utf8View),
            1700 => Some(DataType::Utf8),
            _ => type_of(oid).filter(|to| !to.is_nested()),
        };
        let Some(to) = to else { return Self::list(values) };
        let values = if oid == 1186 { intervals::of(values)? } else { cast(values, &to)? };
        Ok(match oid {
            16 => Self::Bool(values.as_boolean().clone()),
            17 => Self::Bytes(values.as_binary().clone()),
            20 => Self::Int64(values.as_primitive().clone()),
            21 => Self::Int16(values.as_primitive().clone()),
            23 => Self::Int32(values.as_primitive().clone()),
            700 => Self::Float32(values.as_primitive().clone()),
            701 => Self::Float64(values.as_primitive().clone()),
            1082 => Self::Date(values.as_primitive().clone()),
            1083 => Self::Time(values.as_primitive().clone()),
            1114 => Self::Timestamp(values.as_primitive().clone()),
            1184 => Self::TimestampTz(values.as_primitive().clone()),
            1186 => Self::Interval(values.as_primitive().clone()),
            1700 => Self::Numeric(values.as_string().clone()),
            JSONB => Self::Jsonb(values.as_string_view().clone()),
            _ => Self::Text(values.as_string_view().clone()),
        })
    }

    fn list(values: &ArrayRef) -> Result<Self, ArrowError> {
        let item = match values.data_type() {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.clone(),
            other => return Err(ArrowError::CastError(format!("{other} is not a list"))),
        };
        let lists = cast(values, &DataType::List(item.clone()))?.as_list::<i32>().clone();
        if oid_of(values.data_type()) == OIDS {
            let numbers = lists.values().as_primitive().clone();
            return Ok(Self::List(OID, lists, Box::new(Self::Oid(numbers))));
        }
        let cells = Self::of(&item, lists.values())?;
        Ok(Self::List(oid_of(item.data_type()), lists, Box::new(cells)))
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Bool(v) => v.is_null(row),
            Self::Int16(v) => v.is_null(row),
            Self::Int32(v) => v.is_null(row),
            Self::Int64(v) => v.is_null(row),
            Self::Oid(v) => v.is_null(row),
            Self::Float32(v) => v.is_null(row),
            Self::Float64(v) => v.is_null(row),
            Self::Bytes(v) => v.is_null(row),
            Self::Date(v) => v.is_null(row),
            Self::Time(v) => v.is_null(row),
            Self::Timestamp(v) | Self::TimestampTz(v) => v.is_null(row),
            Self::Interval(v) => v.is_null(row),
            Self::Numeric(v) => v.is_null(row),
            Self::Text(v) | Self::Jsonb(v) => v.is_null(row),
            Self::List(_, v, _) => v.is_null(row),
        }
    }

    /// Writes a value with its length; NULL has the length -1.
    fn put(&self, row: usize, binary: bool, out: &mut BytesMut) {
        if self.is_null(row) {
            return out.put_i32(-1);
        }
        let begin = out.len();
        out.put_u32(0);
        if binary {
            self.binary(row, out);
        } else {
            self.text(row, out);
        }
        let length = (out.len() - begin - 4) as u32;
        out[begin..begin + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn binary(&self, row: usize, out: &mut BytesMut) {
        match self {
            Self::Bool(v) => out.put_u8(v.value(row).into()),
            Self::Int16(v) => out.put_i16(v.value(row)),
            Self::Int32(v) => out.put_i32(v.value(row)),
            Self::Int64(v) => out.put_i64(v.value(row)),
            Self::Oid(v) => out.put_u32(v.value(row)),
            Self::Float32(v) => out.put_f32(v.value(row)),
            Self::Float64(v) => out.put_f64(v.value(row)),
            Self::Bytes(v) => out.put_slice(v.value(row)),
            Self::Date(v) => out.put_i32(v.value(row).saturating_sub(EPOCH_DAYS)),
            Self::Time(v) => out.put_i64(v.value(row)),
            Self::Timestamp(v) | Self::TimestampTz(v) => out.put_i64(v.value(row).saturating_sub(EPOCH_MICROS)),
            Self::Interval(v) => {
                let interval = v.value(row);
                out.put_i64(interval.nanoseconds / 1000);
                out.put_i32(interval.days);
                out.put_i32(interval.months);
            }
            Self::Numeric(v) => numeric(v.value(row), out),
            Self::Text(v) => out.put_slice(v.value(row).as_bytes()),
            Self::Jsonb(v) => {
                // The version of the format.
                out.put_u8(1);
                out.put_slice(v.value(row).as_bytes());
            }
            Self::List(item, lists, cells) => {
                let (from, to) = range(lists, row);
                out.put_i32((from < to).into());
                out.put_i32((from..to).any(|place| cells.is_null(place)).into());
                out.put_u32(*item);
                if from < to {
                    out.put_i32((to - from) as i32);
                    out.put_i32(1);
                }
                (from..to).for_each(|place| cells.put(place, true, out));
            }
        }
    }

    fn text(&self, row: usize, out: &mut BytesMut) {
        let mut put = |text: &str| out.put_slice(text.as_bytes());
        match self {
            Self::Bool(v) => put(if v.value(row) { "t" } else { "f" }),
            Self::Int16(v) => put(&v.value(row).to_string()),
            Self::Int32(v) => put(&v.value(row).to_string()),
            Self::Int64(v) => put(&v.value(row).to_string()),
            Self::Oid(v) => put(&v.value(row).to_string()),
            Self::Float32(v) => {
                put(&float(v.value(row).into(), v.value(row).to_string(), format!("{:e}", v.value(row))));
            }
            Self::Float64(v) => put(&float(v.value(row), v.value(row).to_string(), format!("{:e}", v.value(row)))),
            Self::Bytes(v) => {
                put("\\x");
                v.value(row).iter().for_each(|byte| put(&format!("{byte:02x}")));
            }
            Self::Date(v) => put(&date(v.value(row))),
            Self::Time(v) => put(&time(v.value(row))),
            Self::Timestamp(v) => put(&timestamp(v.value(row))),
            Self::TimestampTz(v) => put(&format!("{}+00", timestamp(v.value(row)))),
            Self::Interval(v) => put(&intervals::text(v.value(row))),
            Self::Numeric(v) => put(v.value(row)),
            Self::Text(v) | Self::Jsonb(v) => put(v.value(row)),
            Self::List(_, lists, cells) => {
                let (from, to) = range(lists, row);
                out.put_u8(b'{');
                for place in from..to {
                    if place > from {
                        out.put_u8(b',');
                    }
                    cells.item(place, out);
                }
                out.put_u8(b'}');
            }
        }
    }

    /// Writes an array element in text format, quoted if needed.
    fn item(&self, row: usize, out: &mut BytesMut) {
        if self.is_null(row) {
            return out.put_slice(b"NULL");
        }
        let mut text = BytesMut::new();
        self.text(row, &mut text);
        if matches!(self, Self::List(..)) {
            return out.put_slice(&text);
        }
        let special = |byte: &u8| matches!(byte, b'{' | b'}' | b',' | b'"' | b'\\') || byte.is_ascii_whitespace();
        if !text.is_empty() && !text.iter().any(special) && !text.eq_ignore_ascii_case(b"null") {
            return out.put_slice(&text);
        }
        out.put_u8(b'"');
        for byte in text {
            if matches!(byte, b'"' | b'\\') {
                out.put_u8(b'\\');
            }
            out.put_u8(byte);
        }
        out.put_u8(b'"');
    }
}

fn range(lists: &ListArray, row: usize) -> (usize, usize) {
    (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1] as usize)
}

fn json(field: &Field, values: &ArrayRef) -> Result<StringViewArray, ArrowError> {
    let options = EncoderOptions::default();
    let field = std::sync::Arc::new(field.clone());
    let mut encoder = make_encoder(&field, values, &options)?;
    let mut text = |row| {
        let mut text = Vec::new();
        encoder.encode(row, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    Ok((0..values.len()).map(|row| values.is_valid(row).then(|| text(row))).collect())
}

/// Formats a float like PostgreSQL, from its digits with and without an exponent.
fn float(value: f64, plain: String, exponent: String) -> String {
    match value {
        v if v.is_nan() => "NaN".to_owned(),
        v if v.is_infinite() => if v > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        v if v == 0.0 || (1e-4..1e15).contains(&v.abs()) => plain,
        _ => exponent,
    }
}

fn date(days: i32) -> String {
    match NaiveDate::from_epoch_days(days) {
        Some(date) => date.format("%Y-%m-%d").to_string(),
        None => if days > 0 { "infinity" } else { "-infinity" }.to_owned(),
    }
}

/// Strips trailing zeros of the fraction, and an empty fraction.
fn short(text: &str) -> &str {
    text.trim_end_matches('0').trim_end_matches('.')
}

fn time(micros: i64) -> String {
    let text = (DateTime::UNIX_EPOCH + TimeDelta::microseconds(micros)).format("%H:%M:%S%.6f").to_string();
    short(&text).to_owned()
}

fn timestamp(micros: i64) -> String {
    match DateTime::from_timestamp_micros(micros) {
        Some(time) => short(&time.format("%Y-%m-%d %H:%M:%S%.6f").to_string()).to_owned(),
        None => if micros > 0 { "infinity" } else { "-infinity" }.to_owned(),
    }
}

/// Writes a number in base 10000: count of digits, weight of the first digit, sign, scale, digits.
fn numeric(text: &str, out: &mut BytesMut) {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = format!("{}{whole}", "0".repeat((4 - whole.len() % 4) % 4));
    let padded = format!("{whole}{fraction}{}", "0".repeat((4 - fraction.len() % 4) % 4));
    let groups = padded.as_bytes().chunks(4).map(|group| group.iter().fold(0_i16, |n, d| n * 10 + i16::from(d - b'0')));
    let groups: Vec<i16> = groups.collect();
    let first = groups.iter().position(|group| *group != 0).unwrap_or(groups.len());
    let last = groups.iter().rposition(|group| *group != 0).map_or(first, |place| place + 1);
    let weight = if first == last { 0 } else { (whole.len() / 4) as i16 - 1 - first as i16 };
    out.put_u16((last - first) as u16);
    out.put_i16(weight);
    out.put_u16(if negative && first < last { 0x4000 } else { 0 });
    out.put_u16(fraction.len() as u16);
    groups[first..last].iter().for_each(|group| out.put_i16(*group));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_as_postgresql_does() {
        let write = |v: f64| float(v, v.to_string(), format!("{v:e}"));
        let written = [0.1, -2.0, 1e300, 1e-7, f64::NAN, f64::NEG_INFINITY].map(write);
        assert_eq!(written, ["0.1", "-2", "1e300", "1e-7", "NaN", "-Infinity"]);
        assert_eq!(
            [timestamp(0), timestamp(1_500_000), timestamp(-1)].map(|t| t[11..].to_owned()),
            ["00:00:00", "00:00:01.5", "23:59:59.999999"]
        );
        assert_eq!((date(EPOCH_DAYS), time(10_000_000)), ("2000-01-01".to_owned(), "00:00:10".to_owned()));
    }

    #[test]
    fn numerics_are_groups_of_four_digits() {
        let groups = |text: &str| {
            let mut out = BytesMut::new();
            numeric(text, &mut out);
            out.chunks(2).map(|two| i16::from_be_bytes([two[0], two[1]])).collect::<Vec<_>>()
        };
        assert_eq!(groups("0"), [0, 0, 0, 0]);
        assert_eq!(groups("12345.678"), [3, 1, 0, 3, 1, 2345, 6780]);
        assert_eq!(groups("-0.00005"), [1, -2, 0x4000, 5, 5000]);
        assert_eq!(groups("18446744073709551615"), [5, 4, 0, 0, 1844, 6744, 737, 955, 1615]);
    }
}
