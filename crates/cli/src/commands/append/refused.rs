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
    files: Vec<(PathBuf, File)>,
    /// Whether the last file takes more records.
    is_open: bool,
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
            files: Vec::new(),
            is_open: false,
        }
    }

    /// Starts another input.
    pub(super) fn begin(&mut self, input: &Input) {
        self.input.clone_from(&input.name);
        // Each CSV has a header of its own.
        self.is_open &= self.format == input.format && self.format != InputFormat::Csv;
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
        if !std::mem::replace(&mut self.is_open, true) {
            let begun = self.begin_file();
            self.files.push(begun.with_context(|| format!("setting aside in {}", self.folder.display()))?);
        }
        let Some((path, file)) = self.files.last_mut() else { return Ok(()) };
        file.write_all(&kept).with_context(|| format!("writing {}", path.display()))
    }

    fn report_one(&self, record: &RefusedRecord) {
        let what = if self.format == InputFormat::Msgpack { "record" } else { "line" };
        let field = record.field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        note(&format!("{}, {what} {}: {field}{}", self.input, record.position, record.reason));
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
        for (path, file) in &self.files {
            file.sync_all().with_context(|| format!("writing {}", path.display()))?;
        }
        if self.records > 0 {
            let paths: Vec<_> = self.files.iter().map(|(path, _)| path.display().to_string()).collect();
            let (records, paths) = (count(self.records), paths.join(", "));
            note(&format!("invalid records: {records}, not appended and set aside in {paths}"));
        }
        Ok(self.records > 0)
    }
}
