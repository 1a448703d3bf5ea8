//! Answers as an Arrow IPC stream, decoded column by column.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::buffer::Buffer;
use arrow::compute::{cast, take};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type,
};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::root_as_message;
use model::{Outcome, OutcomeKind};
use world::World;

use super::{ENTITY, Refused, WORLD};
use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::Layout;
use crate::numbers::{Column, Misfit, Slots, store_integers, store_reals};
use crate::process::Process;

/// The first byte of such an answer.
pub(super) const FIRST: u8 = 0xFF;

/// The marker before each message and its length.
const HEAD_BYTES: usize = 8;

pub(super) fn read(process: &mut Process, grid: &mut Grid) -> Result<(), Refused> {
    let mut decoder = StreamDecoder::new();
    let mut columns = None;
    loop {
        let (message, is_last) = message(process)?;
        let mut rest = message.clone();
        while !rest.is_empty() {
            let Some(batch) = decode(&mut decoder, &mut rest)? else { continue };
            let columns = match &columns {
                Some(columns) => columns,
                None => columns.insert(Columns::of(&batch.schema(), grid.layout())?),
            };
            columns.store(&batch, grid)?;
        }
        drop(rest);
        process.keep_buffer(message);
        if is_last {
            return Ok(());
        }
    }
}

/// The next message with its head, and whether it ends the stream.
fn message(process: &mut Process) -> Result<(Buffer, bool), ProgramError> {
    let mut head = vec![0; HEAD_BYTES];
    process.read(&mut head)?;
    if head[..4] != [FIRST; 4] {
        return Err(unreadable("a message does not begin with its marker"));
    }
    let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if u64::from(length) > process.bytes_left() {
        return Err(process.long_answer());
    }
    if length == 0 {
        return Ok((head.into(), true));
    }
    head.resize(HEAD_BYTES + length as usize, 0);
    process.read(&mut head[HEAD_BYTES..])?;
    let body = root_as_message(&head[HEAD_BYTES..]).map_err(|error| unreadable(&error.to_string()))?.bodyLength();
    let body = u64::try_from(body).map_err(|_| unreadable("a message has a negative length"))?;
    if body > process.bytes_left() {
        return Err(process.long_answer());
    }
    // Columns are used in place, so they begin where numbers may.
    let mut message = process.buffer(head.len() + body as usize);
    message.extend_from_slice(&head);
    message.resize(head.len() + body as usize, 0);
    process.read(&mut message.as_slice_mut()[head.len()..])?;
    Ok((message.into(), false))
}

fn decode(decoder: &mut StreamDecoder, message: &mut Buffer) -> Result<Option<RecordBatch>, ProgramError> {
    // Arrow's reader checks its input, but panics on some errors.
    match catch_unwind(AssertUnwindSafe(|| decoder.decode(message))) {
        Ok(decoded) => decoded.map_err(|error: ArrowError| unreadable(&error.to_string())),
        Err(_) => Err(unreadable("it holds what Arrow's reader does not take")),
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
                    Fault { reason: misfit.reason, entity: Some(entities[row]), world }
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
    if let Some(row) = array.logical_nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
        return Err(Misfit { row, reason: format!("{} is NULL", outcome.name) });
    }
    let cast_to = |to: &DataType| {
        let failed = |error: ArrowError| Misfit { row: 0, reason: format!("{}: {error}", outcome.name) };
        cast(array, to).map_err(failed)
    };
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
        DataType::UInt64 | DataType::Float16 | DataType::Float32 => {
            store_reals(values::<Float64Type>(&cast_to(&DataType::Float64)?), outcome, slots, column)
        }
        of => {
            let wanted = if outcome.kind == OutcomeKind::Real { "real numbers" } else { "numbers or booleans" };
            Err(Misfit { row: 0, reason: format!("{} has type {of}: give {wanted}", outcome.name) })
        }
    }
}

fn values<T: ArrowPrimitiveType>(array: &ArrayRef) -> &[T::Native] {
    array.as_primitive::<T>().values()
}
