//! Reports rejected input, and keeps it in files.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use decode::RefusedRecord;
use disk::{create_dir_all, create_options};
use table::TableName;

use super::input::Input;
use crate::args::InputFormat;
use crate::output::{count, note};

/// Subfolder of the data folder for rejected input.
const FOLDER: &str = "refused";
/// Number of rejected records to report individually.
const REPORTED_MAX: u64 = 5;

/// Rejected input so far.
pub(super) struct Refused {
    table: String,
    folder: PathBuf,
    records: u64,
    input: String,
    format: InputFormat,
    /// A CSV's header, to write before the kept records.
    header: Option<Vec<u8>>,
    /// The file that takes more records, and those that take no more.
    file: Option<(PathBuf, File)>,
    done: Vec<(PathBuf, File)>,
}

impl Refused {
    pub(super) fn new(table: &TableName, data: &Path) -> Self {
        Self {
            // Escaped, so that the file stays in its folder.
            table: table.to_string().replace('/', "@2F"),
            folder: data.join(FOLDER),
            records: 0,
            input: String::new(),
            format: InputFormat::Json,
            header: None,
            file: None,
            done: Vec::new(),
        }
    }

    /// Starts another input.
    pub(super) fn begin(&mut self, input: &Input) {
        self.input.clone_from(&input.name);
        // Each CSV has a header of its own.
        if self.format != input.format || self.format == InputFormat::Csv {
            self.done.extend(self.file.take());
        }
        self.format = input.format;
        self.header = None;
    }

    /// Reports and keeps the rejected records of `bytes`.
    pub(super) fn take(&mut self, bytes: &[u8], refused: &[RefusedRecord]) -> Result<()> {
        if self.format == InputFormat::Csv && self.header.is_none() {
            let end = bytes.iter().position(|b| *b == b'\n').map_or(bytes.len(), |end| end + 1);
            self.header = Some(bytes[..end].to_vec());
        }
        if refused.is_empty() {
            return Ok(());
        }
        let mut kept = Vec::new();
        for record in refused {
            self.records += 1;
            if self.records <= REPORTED_MAX {
                self.report_one(record);
            }
            kept.extend_from_slice(&bytes[record.bytes.clone()]);
            if self.format != InputFormat::Msgpack {
                kept.push(b'\n');
            }
        }
        let (path, file) = self.file()?;
        file.write_all(&kept).with_context(|| format!("writing {}", path.display()))
    }

    fn report_one(&self, record: &RefusedRecord) {
        let what = if self.format == InputFormat::Msgpack { "record" } else { "line" };
        let field = record.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        note(&format!("{}, {what} {}: {field}{}", self.input, record.position, record.reason));
    }

    /// The file for rejected input, created at the first record.
    fn file(&mut self) -> Result<&mut (PathBuf, File)> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.begin_file().with_context(|| format!("setting aside in {}", self.folder.display()))?,
        };
        Ok(self.file.insert(file))
    }

    fn begin_file(&self) -> std::io::Result<(PathBuf, File)> {
        create_dir_all(&self.folder)?;
        let mut micros = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
        loop {
            let path = self.folder.join(format!("{}-{micros}.{}", self.table, self.format.ending()));
            match create_options(&path).write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => micros += 1,
                file => {
                    let mut file = file?;
                    file.write_all(self.header.as_deref().unwrap_or_default())?;
                    return Ok((path, file));
                }
            }
        }
    }

    /// Reports the total; returns whether anything was rejected.
    pub(super) fn report(&self) -> Result<bool> {
        let mut paths = Vec::new();
        for (path, file) in self.done.iter().chain(&self.file) {
            file.sync_all().with_context(|| format!("writing {}", path.display()))?;
            paths.push(path.display().to_string());
        }
        if self.records > 0 {
            let (records, paths) = (count(self.records), paths.join(", "));
            note(&format!("invalid records: {records}, not appended and set aside in {paths}"));
        }
        Ok(self.records > 0)
    }
}
