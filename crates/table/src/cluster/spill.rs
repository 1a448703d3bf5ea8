//! Rows spilled to disk.
//!
//! The file has no name, so it disappears with the process.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;

use crate::error::{Result, TableError};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    at: u64,
    stored: usize,
    bytes: usize,
}

/// A spill file: Arrow streams compressed with LZ4.
#[derive(Debug)]
pub(crate) struct Spill {
    /// The folder that it is in.
    root: PathBuf,
    file: File,
    end: u64,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Spill {
    pub(crate) fn create(root: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(root).map_err(TableError::io("create a temporary file in", root))?;
        Ok(Self { root: root.to_owned(), file, end: 0, plain: Vec::new(), packed: Vec::new() })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.end
    }

    pub(crate) fn put(&mut self, batches: &[RecordBatch], schema: &SchemaRef) -> Result<Piece> {
        self.plain.clear();
        let encoded = StreamWriter::try_new(&mut self.plain, schema).and_then(|mut writer| {
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.finish()
        });
        encoded.map_err(|e| TableError::encode(&self.root, e.into()))?;
        self.packed.resize(lz4_flex::block::get_maximum_output_size(self.plain.len()), 0);
        let stored = lz4_flex::block::compress_into(&self.plain, &mut self.packed)
            .map_err(|e| TableError::Unexpected(format!("cannot compress rows: {e}")))?;
        let piece = Piece { at: self.end, stored, bytes: self.plain.len() };
        self.file
            .write_all_at(&self.packed[..stored], piece.at)
            .map_err(TableError::io("write a temporary file in", &self.root))?;
        self.end += stored as u64;
        Ok(piece)
    }

    pub(crate) fn get(&mut self, piece: Piece) -> Result<Vec<RecordBatch>> {
        self.packed.resize(piece.stored, 0);
        self.file
            .read_exact_at(&mut self.packed, piece.at)
            .map_err(TableError::io("read a temporary file in", &self.root))?;
        let plain = lz4_flex::block::decompress(&self.packed, piece.bytes)
            .map_err(|e| TableError::Unexpected(format!("cannot decompress rows: {e}")))?;
        let mut plain = Buffer::from_vec(plain);
        let mut decoder = StreamDecoder::new();
        let mut batches = Vec::new();
        let failed = |e| TableError::Unexpected(format!("cannot decode rows: {e}"));
        while let Some(batch) = decoder.decode(&mut plain).map_err(failed)? {
            batches.push(batch);
        }
        Ok(batches)
    }
}
