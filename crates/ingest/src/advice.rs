//! The columns of a table, noted beside its log, so that an append can report overflows at once. The note is only
//! advice: values are fitted when the log is read.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use decode::OnConflict;
use disk::{Disk, TEMPORARY_SUFFIX, create_options};
use serde_json::{Value, json};
use table::Appender;

use crate::columns::{Columns, Fitted, Integers, Policy};
use crate::error::IngestError;

const NAME: &str = "columns";

/// The kind of integers in a column, noted beside its type. Older programs ignore it.
const EXACT: &str = "exact";
const LARGE: &str = "large";

/// The noted columns of the table in the folder `root`; none without a note.
pub(crate) fn read(root: &Path, disk: &Arc<dyn Disk>) -> Columns {
    let column = |column: &Value| {
        let integers = match column[2].as_str() {
            Some(EXACT) => Integers::Exact,
            Some(LARGE) => Integers::Large,
            _ => Integers::Unknown,
        };
        Some((Field::new(column[0].as_str()?, of_word(column[1].as_str()?), true), integers))
    };
    let columns = || -> Option<Vec<(Field, Integers)>> {
        let path = root.join(Appender::LOG_FOLDER).join(NAME);
        let columns: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        columns.as_array()?.iter().map(column).collect()
    };
    Columns::noted(columns().unwrap_or_default(), root, disk)
}

/// Returns the columns noted beside the log of the table in the folder `root`; none without a note.
pub fn columns(root: &Path, disk: &Arc<dyn Disk>) -> SchemaRef {
    read(root, disk).schema().clone()
}

/// What an append that refuses misfits stores: the rows that fit the columns noted for the table in the folder `root`.
///
/// # Errors
/// When the rows cannot be cast to their columns.
pub fn fitting(root: &Path, disk: &Arc<dyn Disk>, rows: RecordBatch) -> Result<Fitted, IngestError> {
    let policy = Policy { on_conflict: OnConflict::Refuse, ..Policy::KEEP };
    read(root, disk).fit(rows, policy).map_err(IngestError::rows(root.display()))
}

/// Adds columns to the note of the table in the folder `root`. The caller holds the append lock.
pub(crate) fn write(root: &Path, disk: &Arc<dyn Disk>, columns: &Columns) -> Result<(), IngestError> {
    let columns = columns.joined(&read(root, disk));
    let column = |(field, integers): (&Arc<Field>, &Integers)| match (field.data_type(), integers) {
        (DataType::Int64, Integers::Exact) => json!([field.name(), "integer", EXACT]),
        (DataType::Int64, Integers::Large) => json!([field.name(), "integer", LARGE]),
        (ty, _) => json!([field.name(), to_word(ty)]),
    };
    let columns: Vec<Value> = columns.schema().fields().iter().zip(columns.integers()).map(column).collect();
    let folder = root.join(Appender::LOG_FOLDER);
    let path = folder.join(NAME);
    let temporary = folder.join(format!(".{NAME}{TEMPORARY_SUFFIX}"));
    let text = Value::from(columns).to_string();
    let opened = create_options(&temporary).write(true).create(true).truncate(true).open(&temporary);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    let written = written.and_then(|()| fs::rename(&temporary, &path));
    written.map_err(IngestError::io("write", &path))
}

fn to_word(ty: &DataType) -> &'static str {
    match ty {
        DataType::Int64 => "integer",
        DataType::Float64 => "real",
        DataType::Utf8 => "text",
        DataType::Boolean => "boolean",
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => "time",
        DataType::List(of) if *of.data_type() == DataType::Utf8 => "set",
        _ => "other",
    }
}

fn of_word(word: &str) -> DataType {
    match word {
        "integer" => DataType::Int64,
        "real" => DataType::Float64,
        "text" => DataType::Utf8,
        "boolean" => DataType::Boolean,
        "time" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "set" => table::set_type(),
        // No appended value fits it.
        _ => DataType::Null,
    }
}
