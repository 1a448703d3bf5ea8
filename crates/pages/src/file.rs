//! A file for concurrent reads.
//!
//! The Parquet library reads a [`File`] by seeking, and clones of a file share one position. Two threads on one
//! segment would move each other's position and read wrong pages.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// A file that is read by position only.
#[derive(Debug, Clone)]
pub struct SharedFile {
    file: Arc<File>,
    length: u64,
}

impl SharedFile {
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }

    /// Fills `buffer` with the bytes from `start` on.
    pub fn read_at(&self, buffer: &mut [u8], start: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, start)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(From { file: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // A damaged footer may request any length: check before allocating.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!(
                "cannot read {length} bytes at offset {start}: the file is shorter"
            )));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}

#[derive(Debug)]
pub struct From {
    file: SharedFile,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_reads_do_not_interfere() {
        const PART: usize = 4096;
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let written: Vec<u8> = (0..64u8).flat_map(|part| [part; PART]).collect();
        std::fs::write(&path, written).unwrap();
        let source = SharedFile::new(File::open(&path).unwrap()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let source = &source;
                scope.spawn(move || {
                    for i in 0..2_000 {
                        let part = (i * 7 + thread * 13) % 64;
                        let bytes = source.get_bytes(part * PART as u64, PART).unwrap();
                        assert!(bytes.iter().all(|&b| u64::from(b) == part));
                        let mut first = [0; 10];
                        source.get_read(part * PART as u64).unwrap().read_exact(&mut first).unwrap();
                        assert_eq!(first, [part as u8; 10]);
                    }
                });
            }
        });
    }
}
