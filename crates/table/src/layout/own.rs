//! Columns that this crate encodes, rather than the Parquet library.

use arrow::array::ArrayRef;
use pages::{ChunkWriter, Codec, Compressor, EncodedColumn};
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;

use super::extras::Extras;
use super::{number, text};

/// How the values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Texts or bytes with the common prefix of their page.
    Texts,
    /// Integers or real numbers of 64 bits, with a dictionary.
    Numbers,
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
        let nullable = self.column.max_def_level() > 0;
        let chunk = ChunkWriter::new(self.column, &mut self.compressor);
        match self.form {
            Form::Texts => text::encode(chunk, &self.parts, nullable, self.extras),
            Form::Numbers => number::encode(chunk, &self.parts, nullable, self.extras),
        }
    }
}
