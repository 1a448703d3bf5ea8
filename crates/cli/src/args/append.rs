//! What `append` takes.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use table::TableName;

use super::DataArgs;

/// What `append` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct AppendArgs {
    /// The table: NAME, or DATABASE.NAME; made where it is not there
    pub(crate) name: TableName,
    /// Files of rows; `-` or none is stdin
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// What the rows are written in [default: what a file's name ends in, or else json]
    #[arg(long = "in", value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<InputFormat>,
    /// Where in each document the row lies, such as `$.a.b`; an array there holds a row in each of its objects
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// Leave fields out, objects with all that is in them
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    pub(crate) exclude: Vec<String>,
    /// Fields of integers: whole numbers that are written as texts or decimals become such
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    pub(crate) ints: Vec<String>,
    /// A field of times, and how it is written in strftime's words [default: a number, or as of RFC 3339]; may be given
    /// more than once
    #[arg(long, value_name = "FIELD[=FORMAT]", value_parser = parse_timestamp)]
    pub(crate) timestamps: Vec<(String, Option<String>)>,
    /// The field that is each row's time [default: time; rows without one get the time at which they are read]
    #[arg(long, value_name = "FIELD")]
    pub(crate) time: Option<String>,
    /// What to do with a value that does not fit its column
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = OnConflict::Overflow)]
    pub(crate) on_conflict: OnConflict,
}

/// What to do with a value that does not fit its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Keep it as text in the column NAME_text
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
    /// One JSON object a line
    Json,
    /// Comma-separated values under a header
    Csv,
    /// MessagePack: maps, or arrays of maps
    Msgpack,
}

impl InputFormat {
    /// That which the name of a file tells.
    pub(crate) fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Self::Csv,
            Some("msgpack" | "mpk") => Self::Msgpack,
            _ => Self::Json,
        }
    }

    /// What the name of a file of it ends in.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Json => "jsonl",
            Self::Csv => "csv",
            Self::Msgpack => "msgpack",
        }
    }
}

fn parse_timestamp(text: &str) -> Result<(String, Option<String>), String> {
    let (field, format) = text.split_once('=').map_or((text, None), |(field, format)| (field, Some(format)));
    if field.is_empty() {
        return Err("name a field before the format".to_owned());
    }
    Ok((field.to_owned(), format.map(str::to_owned)))
}
