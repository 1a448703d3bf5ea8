//! Arguments of `append`.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use table::TableName;

use super::DataArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// Table to append to, as [DATABASE.]NAME
    ///
    /// It is created if it does not exist.
    pub(crate) name: TableName,
    /// Files to read [default: stdin]
    ///
    /// `-` names stdin.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Choose the input format
    ///
    /// Default: the format that a file's extension names, else json.
    #[arg(long = "in", value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<InputFormat>,
    /// Take rows from inside each document
    ///
    /// A path such as `$.a.b`. An array there holds one row per object.
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Leave out these fields
    ///
    /// An object is left out with all of its fields.
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// Read these fields as integers
    ///
    /// Converts whole numbers that are written as texts or decimals.
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    pub(crate) ints: Vec<String>,
    /// Read a field as times (repeatable)
    ///
    /// FORMAT is a pattern of strftime. Default: a number, or text as in RFC 3339.
    #[arg(long, value_name = "FIELD[=FORMAT]", value_parser = parse_timestamp)]
    pub(crate) timestamps: Vec<(String, Option<String>)>,
    /// Take each row's time from this field
    ///
    /// Default: time. Rows without it get the time at which they are read.
    #[arg(long, value_name = "FIELD")]
    pub(crate) time: Option<String>,
    /// Handle values that do not fit their column
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnConflict::Overflow)]
    pub(crate) on_conflict: OnConflict,
}

/// Handle values that do not fit their column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Keep it as text in an overflow column
    Overflow,
    /// Refuse its row
    Refuse,
}

impl From<OnConflict> for decode::OnConflict {
    fn from(on_conflict: OnConflict) -> Self {
        match on_conflict {
            OnConflict::Overflow => Self::Overflow,
            OnConflict::Refuse => Self::Refuse,
        }
    }
}

/// What rows are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header
    Csv,
    /// MessagePack: maps, or arrays of maps
    Msgpack,
}

impl InputFormat {
    /// The format that the extension of a file names.
    pub(crate) fn of(path: &Path) -> Self {
        match extension(path) {
            Some("csv") => Self::Csv,
            Some("msgpack" | "mpk") => Self::Msgpack,
            _ => Self::Json,
        }
    }

    /// The extension of its files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Json => "jsonl",
            Self::Csv => "csv",
            Self::Msgpack => "msgpack",
        }
    }
}

/// The extension of a file before that of its compression: `csv` of `rows.csv.gz`.
pub(crate) fn extension(path: &Path) -> Option<&str> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz" | "zst" | "zstd") => Path::new(path.file_stem()?).extension()?.to_str(),
        extension => extension,
    }
}

fn parse_timestamp(text: &str) -> Result<(String, Option<String>), String> {
    let (field, format) = text.split_once('=').map_or((text, None), |(field, format)| (field, Some(format)));
    if field.is_empty() {
        return Err("name a field before the format".to_owned());
    }
    Ok((field.to_owned(), format.map(str::to_owned)))
}
