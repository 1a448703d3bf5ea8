//! Arguments of `import`.

use std::path::PathBuf;

use clap::ValueEnum;
use import::Kind;

use super::{FormatArgs, PlaceArgs, parse_pair};

/// How rows hold outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A column for each outcome
    Wide,
    /// A row for each value
    Long,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Name of the ensemble
    pub(crate) name: String,
    /// Files to read, in order
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Replace a stored ensemble
    ///
    /// The old version stays readable until the new one is complete.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Add worlds to an imported ensemble
    ///
    /// The worlds of the files follow the stored ones. Entities, outcomes and kinds must be the same.
    #[arg(long, conflicts_with = "replace")]
    pub(crate) append: bool,
    /// Append numbers that equal the last stored ones
    ///
    /// Rows that name no worlds are refused if they seem to be appended already.
    #[arg(long, requires = "append")]
    pub(crate) again: bool,
    /// Choose the form of the rows
    ///
    /// Default: long if there are columns of outcomes and values, else wide.
    #[arg(long, value_enum)]
    pub(crate) form: Option<Form>,
    /// Column with the number of the world
    ///
    /// Default: world, if there is one. Without it, rows are worlds in order.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) world_column: Option<String>,
    /// Number of the first world in that column
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first_world: u32,
    /// Column with the name of the entity
    ///
    /// Default: entity, if there is one.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) entity_column: Option<String>,
    /// Column with the name of the outcome
    ///
    /// Of the long form. Default: outcome, if there is one.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) outcome_column: Option<String>,
    /// Column with the value
    ///
    /// Of the long form. Default: value, if there is one.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) value_column: Option<String>,
    /// Name of the only entity
    ///
    /// For rows without a column of entities.
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub(crate) entity: String,
    /// Declare the kind of an outcome (repeatable)
    ///
    /// flag (0 or 1), number, number:100 (steps of 1/100), code, or real. Others are inferred.
    #[arg(long = "kind", value_name = "OUTCOME=KIND", value_parser = parse_kind)]
    pub(crate) kinds: Vec<(String, Kind)>,
    /// Seed that `compare` pairs worlds by
    ///
    /// Worlds of ensembles with the same seed are compared one by one.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Hold this many MB of values
    ///
    /// Rows that are sorted by world may be more.
    #[arg(long, value_name = "MB", default_value_t = 1024)]
    pub(crate) memory: usize,
    /// Encode on this many threads
    ///
    /// Default: one per core.
    #[arg(long, value_name = "T")]
    pub(crate) threads: Option<usize>,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

fn parse_kind(text: &str) -> Result<(String, Kind), String> {
    let (outcome, kind) = parse_pair(text)?;
    Ok((outcome, kind.parse()?))
}
