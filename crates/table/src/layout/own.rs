//! Columns that this crate encodes, rather than the Parquet library.

use arrow::array::ArrayRef;
use pages::{ChunkWriter, Compressor, EncodedColumn};
use parquet::basic::Type as Physical;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::extras::Extras;
use super::text::Prefix;
use super::values::{Value, Values};
use super::{dictionary, number, text};

/// How the values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Texts or bytes without a prefix that they share with the one before.
    Prefixes(Prefix),
    /// Differences between neighbouring integers or times.
    Deltas,
    /// A dictionary, or plain values where they are mostly different.
    Dictionary,
    Plain,
}

/// A column chunk being written.
pub(crate) struct OwnColumn {
    column: ColumnDescPtr,
    form: Form,
    extras: Extras,
    parts: Vec<ArrayRef>,
}

impl OwnColumn {
    pub(crate) fn new(column: ColumnDescPtr, form: Form, extras: Extras) -> Self {
        Self { column, form, extras, parts: Vec::new() }
    }

    pub(crate) fn write(&mut self, part: &ArrayRef) {
        self.parts.push(part.clone());
    }

    pub(crate) fn close(self, compressor: &mut Compressor) -> Result<EncodedColumn> {
        let (physical, nullable) = (self.column.physical_type(), self.column.max_def_level() > 0);
        let chunk = ChunkWriter::new(self.column, compressor);
        let (parts, extras) = (&self.parts, self.extras);
        match (self.form, physical) {
            (Form::Prefixes(prefix), _) => text::encode_prefixes(prefix, chunk, &text::texts(parts), nullable, extras),
            (Form::Deltas, Physical::INT32) => {
                number::encode_deltas(chunk, &number::small_integers(parts), nullable, extras)
            }
            (Form::Deltas, _) => number::encode_deltas(chunk, &number::integers(parts), nullable, extras),
            (form, Physical::BYTE_ARRAY) => encode(form, chunk, &text::texts(parts), nullable, extras),
            (form, Physical::INT32) => encode(form, chunk, &number::small_integers(parts), nullable, extras),
            (form, Physical::DOUBLE) => encode(form, chunk, &number::reals(parts), nullable, extras),
            (form, _) => encode(form, chunk, &number::integers(parts), nullable, extras),
        }
    }
}

fn encode<T: Value>(
    form: Form,
    chunk: ChunkWriter<'_>,
    values: &Values<T>,
    nullable: bool,
    extras: Extras,
) -> Result<EncodedColumn> {
    match form {
        Form::Plain => values.write_plain(chunk, nullable, extras),
        _ => dictionary::encode(chunk, values, nullable, extras),
    }
}

#[cfg(test)]
mod tests;
