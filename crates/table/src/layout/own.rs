//! Columns that this crate encodes, rather than the Parquet library.

use arrow::array::ArrayRef;
use pages::{ChunkWriter, Codec, Compressor, EncodedColumn};
use parquet::basic::Type as Physical;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::extras::Extras;
use super::{dictionary, number, text};

/// How the values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Texts or bytes with the common prefix of their page.
    Common,
    /// Differences between neighbouring integers or times.
    Deltas,
    /// A dictionary, or plain values where they are mostly different.
    Dictionary,
}

/// A column chunk being written.
pub(crate) struct OwnColumn {
    column: ColumnDescPtr,
    form: Form,
    compressor: Compressor,
    extras: Extras,
    parts: Vec<ArrayRef>,
}

impl OwnColumn {
    pub(crate) fn new(column: ColumnDescPtr, form: Form, codec: Codec, extras: Extras) -> Result<Self> {
        Ok(Self { column, form, compressor: Compressor::new(codec)?, extras, parts: Vec::new() })
    }

    pub(crate) fn write(&mut self, part: &ArrayRef) {
        self.parts.push(part.clone());
    }

    pub(crate) fn close(mut self) -> Result<EncodedColumn> {
        let (physical, nullable) = (self.column.physical_type(), self.column.max_def_level() > 0);
        let chunk = ChunkWriter::new(self.column, &mut self.compressor);
        let (parts, extras) = (&self.parts, self.extras);
        match (self.form, physical) {
            (Form::Common, _) => text::encode_common(chunk, &text::texts(parts), nullable, extras),
            (Form::Deltas, Physical::INT32) => {
                number::encode_deltas(chunk, &number::small_integers(parts), nullable, extras)
            }
            (Form::Deltas, _) => number::encode_deltas(chunk, &number::integers(parts), nullable, extras),
            (Form::Dictionary, Physical::BYTE_ARRAY) => {
                dictionary::encode(chunk, &text::texts(parts), nullable, extras)
            }
            (Form::Dictionary, Physical::INT32) => {
                dictionary::encode(chunk, &number::small_integers(parts), nullable, extras)
            }
            (Form::Dictionary, Physical::DOUBLE) => dictionary::encode(chunk, &number::reals(parts), nullable, extras),
            (Form::Dictionary, _) => dictionary::encode(chunk, &number::integers(parts), nullable, extras),
        }
    }
}

#[cfg(test)]
mod tests;
