//! Arrow IPC streams.
//!
//! Integers of any width become `Int64`, floats `Float64`, texts (also large, views and dictionaries) `Utf8`. `time`
//! may be a timestamp of any unit and zone, an integer, a float or a text; NULL or a missing column means now. A column
//! of any other type refuses the stream, because every row has it; the refusal names all such columns, at position 0. A
//! record batch with a value that does not fit (an unsigned integer over 63 bits, a text over the limit) is refused
//! whole. A compressed batch refuses the stream: bodies are compressed whole instead. So do views that name more bytes than
//! a body may have.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::types::{
    ArrowPrimitiveType, Float64Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, PrimitiveArray, RecordBatch, TimestampMicrosecondArray};
use arrow::buffer::Buffer;
use arrow::compute::{CastOptions, cast_with_options, concat_batches, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;

use super::arrow_messages::{self, Danger, danger};
use super::decoded::Decoded;
use super::error::DecodeError;
use super::limits::Limits;
use super::names::{NANOS_TWICE, TIME, TIME_NANOS, body_table, check_name, normal};
use super::refusal::{Refusal, Refusals, Taken, refuse, refuse_field};
use super::request::Request;
use super::table::time_type;
use super::time::{self, Moment};

const EXACT: CastOptions<'static> =
    CastOptions { safe: false, format_options: arrow::util::display::FormatOptions::new() };

pub(super) fn decode(body: &[u8], table: &str, request: &Request<'_>, limits: &Limits) -> Result<Decoded, DecodeError> {
    let now = request.now_micros;
    body_table(table, limits)?;
    let mut budget = Budget { cells: limits.cells_max, text_bytes: limits.expanded_bytes_max.min(i32::MAX as usize) };
    let mut taken = Vec::new();
    let mut refused = Refusals::default();
    let mut refuse = |position, refusal| refused.push(position, Some(table.as_bytes()), refusal, limits);
    let schema = arrow_messages::schema(body);
    let mut plan = schema.as_ref().map(|schema| Plan::new(schema, limits));
    if let Some(schema) = &schema {
        let types: Vec<&DataType> = schema.fields().iter().map(|field| field.data_type()).collect();
        check_messages(body, &types, budget.text_bytes)?;
    }
    let mut stream = Stream { decoder: StreamDecoder::new(), rest: Buffer::from(body), bytes: body.len() };
    let mut is_finer = false;
    match &mut plan {
        // Its columns are not read: what they cost is not known.
        Some(plan) if !plan.bad.is_empty() => plan.bad.drain(..).for_each(|refusal| refuse(0, refusal)),
        plan => {
            let mut position = 0;
            while let Some(batch) = stream.next()? {
                let plan = plan.get_or_insert_with(|| Plan::new(&batch.schema(), limits));
                match plan.convert(&batch, now, &mut budget, limits) {
                    Ok(converted) => taken.push(converted),
                    Err(refusal) => refuse(position, *refusal),
                }
                position += 1;
            }
        }
    }
    let tables = match plan {
        Some(plan) if !taken.is_empty() => {
            let rows = concat_batches(&plan.schema, &taken);
            let mut rows = rows.map_err(|error| DecodeError::unassembled(&error))?;
            is_finer = plan.tells_nanos && rows.column(rows.num_columns() - 1).null_count() < rows.num_rows();
            if plan.tells_nanos && !is_finer {
                rows.remove_column(rows.num_columns() - 1);
            }
            if rows.num_rows() == 0 { Vec::new() } else { vec![(table.to_owned(), rows)] }
        }
        _ => Vec::new(),
    };
    let finer = if is_finer { vec![table.to_owned()] } else { Vec::new() };
    Ok(Decoded { tables, refused: refused.refused, refused_beyond: refused.beyond, finer, overflows: Vec::new() })
}

/// Refuses a stream with batches that must not be read. Views may name `text_bytes`.
fn check_messages(body: &[u8], types: &[&DataType], text_bytes: usize) -> Result<(), DecodeError> {
    match danger(body, types, text_bytes) {
        None => Ok(()),
        Some(Danger::Compressed(at)) => Err(malformed(
            "a record batch is compressed: send uncompressed batches, and compress the whole body with gzip or zstd"
                .to_owned(),
            at,
        )),
        Some(Danger::Views(at)) => {
            Err(malformed(format!("its texts have more than {text_bytes} bytes in all: send fewer rows at once"), at))
        }
    }
}

struct Stream {
    decoder: StreamDecoder,
    rest: Buffer,
    bytes: usize,
}

impl Stream {
    fn next(&mut self) -> Result<Option<RecordBatch>, DecodeError> {
        let at = self.bytes - self.rest.len();
        // Arrow's reader checks its input, but panics on some errors.
        let decoded = catch_unwind(AssertUnwindSafe(|| match self.decoder.decode(&mut self.rest) {
            Ok(None) if self.decoder.schema().is_none() => Err(ArrowError::IpcError("it has no schema".to_owned())),
            Ok(None) => self.decoder.finish().map(|()| None),
            decoded => decoded,
        }));
        match decoded {
            Ok(Ok(batch)) => Ok(batch),
            Ok(Err(error)) => Err(malformed(error.to_string(), at)),
            Err(_) => Err(malformed("Arrow's reader cannot decode it".to_owned(), at)),
        }
    }
}

fn malformed(reason: String, at: usize) -> DecodeError {
    DecodeError::Malformed { format: "Arrow IPC stream", reason, at }
}

/// Limits on the rest of the stream.
struct Budget {
    cells: usize,
    /// Bytes of texts: dictionaries and views may repeat one text many times.
    text_bytes: usize,
}

/// How to convert the columns of a stream.
struct Plan {
    schema: SchemaRef,
    time: Option<usize>,
    /// The other columns, with their names.
    columns: Vec<(usize, String)>,
    /// Whether times may be finer than a microsecond: then the last resulting column holds the nanoseconds past it.
    tells_nanos: bool,
    /// Why the stream is refused.
    bad: Vec<Refusal>,
}

impl Plan {
    fn new(schema: &Schema, limits: &Limits) -> Self {
        let mut plan = Self {
            schema: Arc::new(Schema::empty()),
            time: None,
            columns: Vec::new(),
            tells_nanos: false,
            bad: Vec::new(),
        };
        let mut fields = vec![Field::new(TIME, time_type(), false)];
        let mut names = HashSet::new();
        for (index, field) in schema.fields().iter().enumerate() {
            match plan_field(field, limits) {
                _ if !names.insert(normal(field.name())) => {
                    plan.bad.push(Refusal {
                        field: Some(field.name().clone()),
                        reason: "the name occurs twice".to_owned(),
                    });
                }
                Ok(_) if field.name() == TIME => {
                    plan.time = Some(index);
                    plan.tells_nanos = match field.data_type() {
                        DataType::Timestamp(unit, _) => *unit == TimeUnit::Nanosecond,
                        from => from.is_integer() || target(from) == Some(DataType::Utf8),
                    };
                }
                Ok(Some(target)) => {
                    fields.push(Field::new(field.name(), target, true));
                    plan.columns.push((index, field.name().clone()));
                }
                // A column of type Null holds NULLs only.
                Ok(None) => {}
                Err(refusal) => plan.bad.push(*refusal),
            }
        }
        if plan.columns.len() > limits.columns_max {
            let reason = format!("it has {} columns, where {} are allowed", plan.columns.len(), limits.columns_max);
            plan.bad.push(Refusal { field: None, reason });
        }
        if plan.columns.is_empty() && plan.bad.is_empty() {
            plan.bad.push(Refusal { field: None, reason: "it names no field".to_owned() });
        }
        // The sender uses that name for something else.
        plan.tells_nanos &= fields.iter().all(|field| field.name() != TIME_NANOS);
        if plan.tells_nanos {
            fields.push(Field::new(TIME_NANOS, DataType::Int64, true));
        }
        plan.schema = Arc::new(Schema::new(fields));
        plan
    }

    fn convert(&self, batch: &RecordBatch, now: i64, budget: &mut Budget, limits: &Limits) -> Taken<RecordBatch> {
        // Check before expanding: a batch may claim rows that take no bytes.
        let cells = batch.num_rows().saturating_mul(batch.num_columns() + 1);
        let Some(cells_left) = budget.cells.checked_sub(cells) else {
            return limits.too_many_cells();
        };
        let mut text_left = budget.text_bytes;
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len() + 1);
        let times = match self.time {
            Some(index) => {
                text_left = check_texts(batch.column(index), TIME, text_left, limits)?;
                times(batch.column(index), now)?
            }
            None => Times::whole(TimestampMicrosecondArray::from_value(now, batch.num_rows())),
        };
        if !self.tells_nanos && times.nanos.is_some() {
            return refuse_field(TIME_NANOS.as_bytes(), NANOS_TWICE);
        }
        arrays.push(Arc::new(times.micros.with_timezone("UTC")));
        for (place, (index, name)) in self.columns.iter().enumerate() {
            let array = batch.column(*index);
            let target = self.schema.field(place + 1).data_type();
            if matches!(target, DataType::Utf8 | DataType::List(_)) {
                text_left = check_texts(array, name, text_left, limits)?;
            }
            match plain(array).and_then(|array| cast_with_options(&array, target, &EXACT)) {
                Ok(stored) if is_finer(array, &stored) => {
                    return refuse_field(
                        name.as_bytes(),
                        "it holds times finer than microseconds, which would lose digits",
                    );
                }
                Ok(stored) => arrays.push(stored),
                Err(error) => return refuse_field(name.as_bytes(), error.to_string()),
            }
        }
        if self.tells_nanos {
            arrays.push(Arc::new(times.nanos.unwrap_or_else(|| Int64Array::new_null(batch.num_rows()))));
        }
        *budget = Budget { cells: cells_left, text_bytes: text_left };
        match RecordBatch::try_new(self.schema.clone(), arrays) {
            Ok(batch) => Ok(batch),
            Err(error) => refuse(error.to_string()),
        }
    }
}

/// The type that a column becomes.
fn plan_field(field: &Field, limits: &Limits) -> Taken<Option<DataType>> {
    let name = field.name().as_bytes();
    if field.name() == TIME {
        return match field.data_type() {
            DataType::Timestamp(..) | DataType::Null => Ok(None),
            other if target(other).is_some_and(|target| target.is_numeric() || target == DataType::Utf8) => Ok(None),
            other => refuse_field(name, format!("a time cannot be {other}")),
        };
    }
    check_name(name, limits)?;
    match field.data_type() {
        DataType::Null => Ok(None),
        other => match target(other) {
            Some(target) => Ok(Some(target)),
            None => refuse_field(
                name,
                format!(
                    "its type {other} is not stored: send integers, floats, text, booleans, times or lists of text"
                ),
            ),
        },
    }
}

fn target(from: &DataType) -> Option<DataType> {
    match from {
        from if from.is_integer() => Some(DataType::Int64),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(DataType::Float64),
        from if is_text(from) => Some(DataType::Utf8),
        DataType::Boolean => Some(DataType::Boolean),
        DataType::Timestamp(..) => Some(time_type()),
        // The table decides which texts may be a set.
        DataType::List(item) | DataType::LargeList(item) if is_text(item.data_type()) => {
            Some(DataType::List(Arc::new(Field::new("element", DataType::Utf8, true))))
        }
        DataType::Dictionary(_, values) if is_text(values) => Some(DataType::Utf8),
        _ => None,
    }
}

fn is_text(from: &DataType) -> bool {
    matches!(from, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether the conversion to microseconds loses nanoseconds.
fn is_finer(sent: &ArrayRef, stored: &ArrayRef) -> bool {
    let Some(nanos) = sent.as_primitive_opt::<TimestampNanosecondType>() else { return false };
    let micros = stored.as_primitive::<TimestampMicrosecondType>();
    nanos.iter().zip(micros).any(|(nanos, micros)| nanos != micros.and_then(|micros| micros.checked_mul(1_000)))
}

/// Checks the lengths of texts, also in lists, with `left` bytes for all of them; returns the bytes still left. Takes time
/// for rows only: each batch may have a huge dictionary.
fn check_texts(array: &ArrayRef, name: &str, left: usize, limits: &Limits) -> Taken<usize> {
    let mut left = Some(left);
    let mut longest = 0;
    let count = |len: usize| {
        longest = longest.max(len);
        left = left.and_then(|left| left.checked_sub(len));
    };
    let (texts, keys) = match (array.data_type(), array.as_any_dictionary_opt()) {
        // Without values, all keys are NULL.
        (_, Some(dictionary)) if dictionary.values().is_empty() => (dictionary.values(), None),
        (_, Some(dictionary)) => (dictionary.values(), Some(dictionary.normalized_keys())),
        (DataType::List(_), _) => (array.as_list::<i32>().values(), None),
        (DataType::LargeList(_), _) => (array.as_list::<i64>().values(), None),
        _ => (array, None),
    };
    match texts.data_type() {
        DataType::Utf8 => {
            let texts = texts.as_string::<i32>();
            each_length(texts.len(), keys, |row| texts.value_length(row) as usize, count);
        }
        DataType::LargeUtf8 => {
            let texts = texts.as_string::<i64>();
            each_length(texts.len(), keys, |row| texts.value_length(row) as usize, count);
        }
        DataType::Utf8View => {
            let views = texts.as_string_view().views();
            each_length(views.len(), keys, |row| views[row] as u32 as usize, count);
        }
        // A time that is not text.
        _ => {}
    }
    if longest > limits.text_bytes_max {
        let reason = format!("a text has {longest} bytes, where {} are allowed", limits.text_bytes_max);
        return refuse_field(name.as_bytes(), reason);
    }
    match left {
        Some(left) => Ok(left),
        None => refuse_field(name.as_bytes(), "its texts are too long in all: send fewer rows at once"),
    }
}

fn each_length(rows: usize, keys: Option<Vec<usize>>, length: impl Fn(usize) -> usize, mut count: impl FnMut(usize)) {
    match keys {
        Some(keys) => keys.into_iter().for_each(|key| count(length(key))),
        None => (0..rows).for_each(|row| count(length(row))),
    }
}

/// The values of an array without their dictionary: a cast would convert the whole dictionary for each batch.
fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.as_any_dictionary_opt() {
        Some(dictionary) => take(dictionary.values(), dictionary.keys(), None),
        None => Ok(array.clone()),
    }
}

struct Times {
    micros: TimestampMicrosecondArray,
    /// Nanoseconds past them, NULL for none; `None` if no row has any.
    nanos: Option<Int64Array>,
}

impl Times {
    fn whole(micros: TimestampMicrosecondArray) -> Self {
        Self { micros, nanos: None }
    }

    fn of(moments: &[Moment]) -> Self {
        let micros = TimestampMicrosecondArray::from_iter_values(moments.iter().map(|moment| moment.micros));
        let nanos = || moments.iter().map(|moment| Some(moment.nanos).filter(|nanos| *nanos != 0)).collect();
        Self { micros, nanos: moments.iter().any(|moment| moment.nanos != 0).then(nanos) }
    }
}

/// The times of a column; `now`, in microseconds, for NULL.
fn times(array: &ArrayRef, now: i64) -> Taken<Times> {
    let now = Moment::of_micros(now);
    let times: Vec<Option<Moment>> = match array.data_type() {
        DataType::Timestamp(TimeUnit::Microsecond, _)
            if array.null_count() == 0 && all_in_range(array.as_primitive()) =>
        {
            return Ok(Times::whole(array.as_primitive::<TimestampMicrosecondType>().clone()));
        }
        DataType::Null => vec![Some(now); array.len()],
        DataType::Timestamp(unit, _) => {
            let unit = *unit;
            each(cast::<Int64Type>(array)?.iter(), now, |value| of_unit(value, unit).and_then(time::in_range))
        }
        from if from.is_integer() => each(cast::<Int64Type>(array)?.iter(), now, |value| Some(time::of_int(value))),
        from if from.is_floating() => each(cast::<Float64Type>(array)?.iter(), now, time::of_float),
        // The caller bounds these, like all texts.
        _ => {
            let texts = cast_array(array, &DataType::Utf8)?;
            each(texts.as_string::<i32>().iter(), now, |text| time::of_text(text.as_bytes()))
        }
    };
    match times.iter().position(Option::is_none) {
        Some(row) => refuse_field(TIME.as_bytes(), format!("row {row}: the value is not a time, or out of range")),
        None => Ok(Times::of(&times.into_iter().flatten().collect::<Vec<_>>())),
    }
}

fn all_in_range(times: &TimestampMicrosecondArray) -> bool {
    times.values().iter().all(|micros| time::in_range(Moment::of_micros(*micros)).is_some())
}

fn each<T>(
    values: impl Iterator<Item = Option<T>>,
    now: Moment,
    moment: impl Fn(T) -> Option<Moment>,
) -> Vec<Option<Moment>> {
    values.map(|value| value.map_or(Some(now), &moment)).collect()
}

fn of_unit(value: i64, unit: TimeUnit) -> Option<Moment> {
    match unit {
        TimeUnit::Second => value.checked_mul(1_000_000).map(Moment::of_micros),
        TimeUnit::Millisecond => value.checked_mul(1_000).map(Moment::of_micros),
        TimeUnit::Microsecond => Some(Moment::of_micros(value)),
        TimeUnit::Nanosecond => Some(Moment::of_nanos(value)),
    }
}

fn cast<T: ArrowPrimitiveType>(array: &ArrayRef) -> Taken<PrimitiveArray<T>> {
    Ok(cast_array(array, &T::DATA_TYPE)?.as_primitive::<T>().clone())
}

fn cast_array(array: &ArrayRef, target: &DataType) -> Taken<ArrayRef> {
    match plain(array).and_then(|array| cast_with_options(&array, target, &EXACT)) {
        Ok(array) => Ok(array),
        Err(error) => refuse_field(TIME.as_bytes(), error.to_string()),
    }
}
