//! Answers as an Arrow IPC stream, decoded column by column.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::buffer::Buffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::root_as_message;
use model::{EventColumn, EventKind, Misfit, Number, Outcome, OutcomeKind, inexact};
use world::World;

use super::Refused;
use super::json::code_of;
use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::{ENTITY, Layout, WORLD};
use crate::numbers::{Column, Slots, store_integers, store_reals};
use crate::process::Reading;

/// The first byte of such an answer.
pub(super) const FIRST: u8 = 0xFF;

/// The marker before each message and its length.
const HEAD_BYTES: usize = 8;

/// Reads the stream of outcomes, and then that of events if they are wanted.
pub(super) fn read(reading: &mut Reading<'_>, grid: &mut Grid) -> Result<(), Refused> {
    let mut columns = None;
    read_stream(reading, |batch| {
        let columns = match &columns {
            Some(columns) => columns,
            None => columns.insert(Columns::of(&batch.schema(), grid.layout())?),
        };
        columns.store(batch, grid)
    })?;
    if !grid.events.are_wanted {
        return Ok(());
    }
    if reading.peek()? != FIRST {
        let rubbish = reading.rubbish()?;
        let wanted = "the request has \"events\": true, so a second Arrow stream, of events, must follow the first";
        return Err(ProgramError::Protocol(format!("{rubbish}: {wanted}")).into());
    }
    let mut columns = None;
    read_stream(reading, |batch| {
        let columns = match &columns {
            Some(columns) => columns,
            None => columns.insert(EventColumns::of(&batch.schema(), grid.layout())?),
        };
        columns.store(batch, grid)
    })
}

/// Reads a stream to its end.
fn read_stream(
    reading: &mut Reading<'_>,
    mut store: impl FnMut(&RecordBatch) -> Result<(), Fault>,
) -> Result<(), Refused> {
    let mut decoder = StreamDecoder::new();
    loop {
        let (message, is_last) = message(reading)?;
        let mut rest = message.clone();
        while !rest.is_empty() {
            if let Some(batch) = decode(&mut decoder, &mut rest)? {
                store(&batch)?;
            }
        }
        drop(rest);
        reading.process().keep_buffer(message);
        if is_last {
            return Ok(());
        }
    }
}

/// The next message with its head, and whether it ends the stream.
fn message(reading: &mut Reading<'_>) -> Result<(Buffer, bool), ProgramError> {
    let mut head = vec![0; HEAD_BYTES];
    reading.read(&mut head)?;
    if head[..4] != [FIRST; 4] {
        return Err(unreadable("a message does not begin with its marker"));
    }
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if u64::from(length) > reading.process().bytes_left() {
        return Err(reading.process().long_answer());
    }
    if length == 0 {
        return Ok((head.into(), true));
    }
    head.resize(HEAD_BYTES + length as usize, 0);
    reading.read(&mut head[HEAD_BYTES..])?;
    let body = root_as_message(&head[HEAD_BYTES..]).map_err(|error| unreadable(&error.to_string()))?.bodyLength();
    let body = u64::try_from(body).map_err(|_| unreadable("a message has a negative length"))?;
    if body > reading.process().bytes_left() {
        return Err(reading.process().long_answer());
    }
    // Columns are used in place, so they begin where numbers may.
    let mut message = reading.process().buffer(head.len() + body as usize);
    message.extend_from_slice(&head);
    message.resize(head.len() + body as usize, 0);
    reading.read(&mut message.as_slice_mut()[head.len()..])?;
    Ok((message.into(), false))
}

fn decode(decoder: &mut StreamDecoder, message: &mut Buffer) -> Result<Option<RecordBatch>, ProgramError> {
    // Arrow's reader checks its input, but panics on some errors.
    match catch_unwind(AssertUnwindSafe(|| decoder.decode(message))) {
        Ok(decoded) => decoded.map_err(|error: ArrowError| unreadable(&error.to_string())),
        Err(_) => Err(unreadable("Arrow's reader cannot decode it")),
    }
}

fn unreadable(reason: &str) -> ProgramError {
    ProgramError::Protocol(format!("an Arrow stream that cannot be read: {reason}"))
}

/// The columns of a stream.
struct Columns {
    world: usize,
    /// `None` if the catalogue has one entity.
    entity: Option<usize>,
    /// The column of each outcome, by the number of its name.
    outcomes: Vec<usize>,
}

/// The records of one kind in a batch.
#[derive(Default)]
struct Part {
    /// Their positions; empty if the catalogue has one kind, whose records are all.
    rows: Vec<u32>,
    /// The places of their values.
    slots: Vec<u32>,
}

impl Columns {
    fn of(schema: &Schema, layout: &Layout) -> Result<Self, Fault> {
        let (mut world, mut entity) = (None, None);
        let mut outcomes = vec![None; layout.outcomes()];
        for (place, field) in schema.fields().iter().enumerate() {
            let column = match &**field.name() {
                WORLD => &mut world,
                ENTITY => &mut entity,
                name => {
                    let number = layout.outcome(name).map_err(|error| Fault::new(format!("the answer: {error}")))?;
                    &mut outcomes[number]
                }
            };
            if column.replace(place).is_some() {
                return Err(Fault::new(format!("the answer has column {:?} twice", field.name())));
            }
        }
        let missing = |name: &str| Fault::new(format!("the answer has no column {name:?}"));
        let names = layout.catalogue.kinds.iter().flat_map(|kind| &kind.outcomes).map(|outcome| &*outcome.name);
        for name in names {
            let number = layout.outcome(name).map_err(|error| Fault::new(error.to_string()))?;
            outcomes[number].ok_or_else(|| missing(name))?;
        }
        if entity.is_none() && layout.entities() > 1 {
            return Err(missing(ENTITY));
        }
        let outcomes = outcomes.into_iter().flatten().collect();
        Ok(Self { world: world.ok_or_else(|| missing(WORLD))?, entity, outcomes })
    }

    fn store(&self, batch: &RecordBatch, grid: &mut Grid) -> Result<(), Fault> {
        let layout = grid.layout().clone();
        let worlds = integers(WORLD, batch.column(self.world))?;
        let worlds: &[i64] = worlds.as_primitive::<Int64Type>().values();
        let entities = match self.entity {
            Some(column) => entities(batch.column(column), &layout)?,
            None => vec![0; worlds.len()],
        };
        let mut parts: Vec<Part> = layout.catalogue.kinds.iter().map(|_| Part::default()).collect();
        let is_mixed = parts.len() > 1;
        for (row, (world, entity)) in worlds.iter().zip(&entities).enumerate() {
            let (kind, slot) = grid.claim(*entity, *world)?;
            let part = &mut parts[kind];
            part.slots.push(slot);
            if is_mixed {
                part.rows.push(row as u32);
            }
        }
        for (kind, Part { rows, slots }) in parts.into_iter().enumerate() {
            let Some(first) = slots.first().copied() else { continue };
            let is_run = slots.iter().zip(first..).all(|(slot, next)| *slot == next);
            let slots = if is_run { Slots::Run(first as usize) } else { Slots::Each(&slots) };
            let rows = UInt32Array::from(rows);
            for (number, column) in self.outcomes.iter().enumerate() {
                let Some(place) = layout.in_kind(number, kind) else { continue };
                let column = batch.column(*column);
                let of_kind = if is_mixed { take(column, &rows, None) } else { Ok(column.clone()) };
                let of_kind = of_kind.map_err(|error| Fault::new(error.to_string()))?;
                let outcome = &layout.catalogue.kinds[kind].outcomes[place];
                store_array(&of_kind, outcome, slots, grid.column(kind, place)).map_err(|misfit| {
                    let row = if is_mixed { rows.value(misfit.row) as usize } else { misfit.row };
                    let world = Some(World(worlds[row] as u32));
                    let reason = format!("{} is {}{}", outcome.name, misfit.value, misfit.reason);
                    Fault { reason, entity: Some(entities[row]), world }
                })?;
            }
        }
        Ok(())
    }
}

/// A column of integers as `Int64`, without NULL.
fn integers(name: &str, column: &ArrayRef) -> Result<ArrayRef, Fault> {
    if !column.data_type().is_integer() {
        return Err(Fault::new(format!("column {name:?} has type {}: give integers", column.data_type())));
    }
    let column = cast(column, &DataType::Int64).map_err(|error| Fault::new(error.to_string()))?;
    match column.null_count() {
        0 => Ok(column),
        _ => Err(Fault::new(format!("column {name:?} has a NULL, or a number that is too large"))),
    }
}

/// The entity of each row. Names may be texts, plain or from a dictionary; numbers are places from 0.
fn entities(column: &ArrayRef, layout: &Layout) -> Result<Vec<u32>, Fault> {
    if column.null_count() > 0 {
        return Err(Fault::new(format!("column {ENTITY:?} has a NULL")));
    }
    match column.data_type() {
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_any_dictionary();
            // Words that no row has need not be entities.
            let names = texts(dictionary.values())?;
            let names = names.as_string::<i32>();
            let known: Vec<Option<u32>> = names.iter().map(|name| layout.entity(name?).ok()).collect();
            let keys = dictionary.normalized_keys();
            let find = |key: usize| known[key].ok_or_else(|| unknown(names.value(key), layout));
            keys.into_iter().map(find).collect()
        }
        of if of.is_integer() => {
            let places = integers(ENTITY, column)?;
            let places = places.as_primitive::<Int64Type>().values();
            let beyond =
                |place: i64| Fault::new(format!("a record has entity {place}: there are {}", layout.entities()));
            let find = |place: &i64| match u32::try_from(*place) {
                Ok(entity) if (entity as usize) < layout.entities() => Ok(entity),
                _ => Err(beyond(*place)),
            };
            places.iter().map(find).collect()
        }
        _ => {
            let names = texts(column)?;
            let mut last = 0;
            let find = |name: Option<&str>| {
                let name = name.unwrap_or_default();
                // Mostly the same entity again, or the next.
                let next = (last + 1) % layout.entities() as u32;
                let near = [last, next].into_iter().find(|entity| layout.name(*entity as usize) == name);
                last = near.map_or_else(|| layout.entity(name).map_err(|_| unknown(name, layout)), Ok)?;
                Ok(last)
            };
            names.as_string::<i32>().iter().map(find).collect()
        }
    }
}

fn unknown(name: &str, layout: &Layout) -> Fault {
    Fault::new(layout.entity(name).map_or_else(|error| error.to_string(), |_| String::new()))
}

/// A column of texts as `Utf8`.
fn texts(column: &ArrayRef) -> Result<ArrayRef, Fault> {
    match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            cast(column, &DataType::Utf8).map_err(|error| Fault::new(error.to_string()))
        }
        of => Err(Fault::new(format!("column {ENTITY:?} has type {of}: give names, or places from 0"))),
    }
}

fn store_array(array: &ArrayRef, outcome: &Outcome, slots: Slots<'_>, column: &mut Column) -> Result<(), Misfit> {
    if let Some(row) = first_null(array) {
        return Err(Misfit { row, value: "NULL".to_owned(), reason: String::new() });
    }
    match array.data_type() {
        DataType::Float64 => store_reals(values::<Float64Type>(array), outcome, slots, column),
        DataType::Int8 => store_integers(values::<Int8Type>(array), outcome, slots, column),
        DataType::Int16 => store_integers(values::<Int16Type>(array), outcome, slots, column),
        DataType::Int32 => store_integers(values::<Int32Type>(array), outcome, slots, column),
        DataType::Int64 => store_integers(values::<Int64Type>(array), outcome, slots, column),
        DataType::UInt8 => store_integers(values::<UInt8Type>(array), outcome, slots, column),
        DataType::UInt16 => store_integers(values::<UInt16Type>(array), outcome, slots, column),
        DataType::UInt32 => store_integers(values::<UInt32Type>(array), outcome, slots, column),
        DataType::Boolean => {
            let flags: Vec<u8> = array.as_boolean().values().iter().map(u8::from).collect();
            store_integers(&flags, outcome, slots, column)
        }
        // Numbers that 64 bits hold and whole outcomes do not are refused as real numbers, too.
        DataType::UInt64 if matches!(column, Column::Real(_)) && inexact(values::<UInt64Type>(array)).is_some() => {
            inexact(values::<UInt64Type>(array)).map_or(Ok(()), Err)
        }
        DataType::UInt64 | DataType::Float16 | DataType::Float32 => {
            let reals = cast(array, &DataType::Float64).map_err(|error| of_type(array, &error.to_string()))?;
            store_reals(values::<Float64Type>(&reals), outcome, slots, column)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(_, _)
            if !outcome.labels.is_empty() =>
        {
            let words = cast(array, &DataType::Utf8).map_err(|error| of_type(array, &error.to_string()))?;
            let code = |(row, word): (usize, Option<&str>)| {
                let word = word.unwrap_or_default();
                code_of(word, &outcome.labels).map_err(|_| Misfit {
                    row,
                    value: format!("{word:?}"),
                    reason: format!(": it has the labels {}", outcome.labels.join(", ")),
                })
            };
            let codes = words.as_string::<i32>().iter().enumerate().map(code).collect::<Result<Vec<i64>, _>>()?;
            store_integers(&codes, outcome, slots, column)
        }
        _ if outcome.kind == OutcomeKind::Real => Err(of_type(array, "give real numbers")),
        _ => Err(of_type(array, "give numbers or booleans")),
    }
}

/// The misfit of a column whose type is wrong.
fn of_type(array: &ArrayRef, reason: &str) -> Misfit {
    Misfit { row: 0, value: format!("of type {}", array.data_type()), reason: format!(": {reason}") }
}

fn first_null(array: &ArrayRef) -> Option<usize> {
    array.logical_nulls().and_then(|nulls| nulls.iter().position(|valid| !valid))
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> &[T::Native] {
    array.as_primitive::<T>().values()
}

/// The columns of a stream of events.
struct EventColumns {
    world: usize,
    /// `None` if the catalogue has one entity.
    entity: Option<usize>,
    /// By their places in the catalogue; `None` for one that is NULL in each row.
    own: Vec<Option<usize>>,
}

impl EventColumns {
    fn of(schema: &Schema, layout: &Layout) -> Result<Self, Fault> {
        let events = &layout.catalogue.events;
        let (mut world, mut entity, mut own) = (None, None, vec![None; events.len()]);
        for (place, field) in schema.fields().iter().enumerate() {
            let column = match &**field.name() {
                WORLD => &mut world,
                ENTITY => &mut entity,
                name => {
                    let found = layout.catalogue.find_event_column(name);
                    &mut own[found.map_err(|error| Fault::new(format!("the stream of events: {error}")))?]
                }
            };
            if column.replace(place).is_some() {
                return Err(Fault::new(format!("the stream of events has column {:?} twice", field.name())));
            }
        }
        let missing = |name: &str| Fault::new(format!("the stream of events has no column {name:?}"));
        if let Some((column, _)) = events.iter().zip(&own).find(|(column, own)| own.is_none() && !column.nullable) {
            return Err(missing(&column.name));
        }
        if entity.is_none() && layout.entities() > 1 {
            return Err(missing(ENTITY));
        }
        Ok(Self { world: world.ok_or_else(|| missing(WORLD))?, entity, own })
    }

    fn store(&self, batch: &RecordBatch, grid: &mut Grid) -> Result<(), Fault> {
        let layout = grid.layout().clone();
        let worlds = integers(WORLD, batch.column(self.world))?;
        let worlds: &[i64] = worlds.as_primitive::<Int64Type>().values();
        let entities = match self.entity {
            Some(column) => entities(batch.column(column), &layout)?,
            None => vec![0; worlds.len()],
        };
        for (world, entity) in worlds.iter().zip(&entities) {
            let place = grid.offset(*entity, *world)?;
            grid.events.add(*entity, place);
        }
        for (number, (column, own)) in layout.catalogue.events.iter().zip(&self.own).enumerate() {
            let at = |row: usize, reason: String| {
                let reason = format!("event column {:?} {reason}", column.name);
                Fault { reason, entity: entities.get(row).copied(), world: worlds.get(row).map(|w| World(*w as u32)) }
            };
            let numbers = match own {
                Some(own) => event_numbers(batch.column(*own), column).map_err(|reason| at(0, reason))?,
                None => vec![None; worlds.len()],
            };
            for (row, (entity, value)) in entities.iter().zip(numbers).enumerate() {
                let pushed = grid.events.push(*entity, number, value);
                pushed.map_err(|misfit| at(row, format!("is {}{}", misfit.value, misfit.reason)))?;
            }
        }
        Ok(())
    }
}

/// The numbers of an event column, and the codes of words.
fn event_numbers(array: &ArrayRef, column: &EventColumn) -> Result<Vec<Option<Number>>, String> {
    let cast_to = |to: &DataType| cast(array, to).map_err(|error| error.to_string());
    match (array.data_type(), &column.kind) {
        (
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(_, _),
            EventKind::Label(words),
        ) => {
            let texts = cast_to(&DataType::Utf8)?;
            let code = |word: &str| code_of(word, words).map(Number::Integer);
            texts.as_string::<i32>().iter().map(|word| word.map(code).transpose()).collect()
        }
        (DataType::Null, _) => Ok(vec![None; array.len()]),
        (of, _) if of.is_floating() => {
            let reals = cast_to(&DataType::Float64)?;
            Ok(reals.as_primitive::<Float64Type>().iter().map(|real| real.map(Number::Real)).collect())
        }
        (DataType::UInt64, _) if inexact(array.as_primitive::<UInt64Type>().values()).is_some() => {
            Err("has integers beyond 2^53".to_owned())
        }
        (of, _) if of.is_integer() || *of == DataType::Boolean => {
            let integers = cast_to(&DataType::Int64)?;
            Ok(integers.as_primitive::<Int64Type>().iter().map(|integer| integer.map(Number::Integer)).collect())
        }
        (of, _) => Err(format!("is of type {of}: give numbers or booleans, or the labels of a code")),
    }
}
