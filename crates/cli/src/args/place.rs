//! Places of tables.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser, ValueParser};
use disk::{Place, PlaceError};

// The place of tables of rows.
#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    /// Folder of the tables
    #[arg(long, value_name = "DIR", default_value = "data", env = "MANYWORLDS_DATA", value_parser = folder())]
    pub(crate) data: PathBuf,
}

// The place of tables of ensembles.
#[derive(Debug, clap::Args)]
pub(crate) struct PlaceArgs {
    /// Folder or bucket of the tables
    ///
    /// A folder, or s3://BUCKET/PREFIX in the object store that the AWS_* variables name.
    #[arg(long, value_name = "DIR|URL", default_value = "data", env = "MANYWORLDS_DATA", value_parser = place())]
    pub(crate) data: Place,
}

fn place() -> ValueParser {
    PathBufValueParser::new().try_map(Place::parse).into()
}

fn folder() -> ValueParser {
    let read = |path: PathBuf| match Place::parse(path) {
        Ok(Place::Folder(folder)) => Ok(folder),
        Err(error @ (PlaceError::File(_) | PlaceError::Scheme(_))) => Err(error.to_string()),
        _ => Err("tables of rows need a folder: only ensembles can be stored in a bucket".to_owned()),
    };
    PathBufValueParser::new().try_map(read).into()
}
