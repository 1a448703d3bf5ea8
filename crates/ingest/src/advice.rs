//! What the columns of a table are, written beside its log: so that an append can tell at once what will not fit. It is
//! advice; what becomes of values is decided when they are read.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use serde_json::{Value, json};
use table::Appender;
use table::disk::{TEMPORARY_SUFFIX, create_options};

use crate::columns::Columns;
use crate::error::IngestError;

const NAME: &str = "columns";

/// The columns that the log in `folder` is known to have; none where nobody wrote them.
pub(crate) fn read(folder: &Path) -> Columns {
    let field = |column: &Value| Some(Field::new(column[0].as_str()?, of_word(column[1].as_str()?), true));
    let fields = || -> Option<Vec<Field>> {
        let columns: Value = serde_json::from_slice(&fs::read(folder.join(NAME)).ok()?).ok()?;
        columns.as_array()?.iter().map(field).collect()
    };
    Columns::new(&Schema::new(fields().unwrap_or_default()))
}

/// The columns that the table in the folder `root` is known to have, from what was noted beside its log; none where
/// nothing was.
pub fn columns(root: &Path) -> SchemaRef {
    read(&root.join(Appender::LOG_FOLDER)).schema().clone()
}

/// Writes the columns of a table, with those that others wrote and it does not have yet. Whoever does holds the lock of
/// appends.
///
/// # Errors
/// Where the disk refuses.
pub(crate) fn write(folder: &Path, columns: &Columns) -> Result<(), IngestError> {
    let columns = columns.joined(read(folder).schema());
    let columns: Vec<Value> =
        columns.schema().fields().iter().map(|f| json!([f.name(), to_word(f.data_type())])).collect();
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
        // Nothing that is appended fits it.
        _ => DataType::Null,
    }
}
