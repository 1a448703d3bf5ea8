//! A file that threads read at places of their own.
//!
//! The Parquet library reads a [`File`] by moving its one cursor, also in its clones: threads that do so at once read
//! each other's pages. Here every read names its place.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// An open file without a cursor.
#[derive(Debug)]
pub(super) struct SharedFile {
    file: Arc<File>,
    bytes: u64,
}

/// A cursor of its own over a shared file.
pub(super) struct Cursor {
    file: Arc<File>,
    at: u64,
}

impl SharedFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        Ok(Self { bytes: file.metadata()?.len(), file: Arc::new(file) })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Cursor { file: self.file.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Lengths come from the file itself, which may be damaged: none asks for more memory than the file has bytes.
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} lie outside of the file")));
        }
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, start)?;
        Ok(buffer.into())
    }
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
