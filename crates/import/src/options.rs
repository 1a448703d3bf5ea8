//! How to read the input.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use table::PageFormat;
use world::Seed;

/// How rows hold outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// A row for each world, or for each world and entity; a column for each outcome.
    Wide,
    /// A row for each value, with columns that name its outcome, entity and world.
    Long,
}

/// The columns that say whose value a row holds. `None` stands for the column of the default name, if there is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// By default `world`. Without it, the rows of an entity are its worlds in order.
    pub world: Option<String>,
    /// By default `entity`. Without it, all rows belong to one entity.
    pub entity: Option<String>,
    /// By default `outcome`; of the long form only.
    pub outcome: Option<String>,
    /// By default `value`; of the long form only.
    pub value: Option<String>,
}

/// A declared kind of outcome. Declare one where the values alone do not show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 0 or 1.
    Flag,
    /// An integer, or a decimal: an integer divided by `scale`, a power of ten. Without one, the smallest that fits.
    Number { scale: Option<i32> },
    /// An integer that stands for something, or one of at most [`LABELS_MAX`] texts.
    Code,
    /// A real number in full precision.
    Real,
}

/// Maximum texts of one outcome.
pub const LABELS_MAX: usize = 1_000;

/// The largest scale: its inverse is the finest step of a decimal.
pub(crate) const SCALE_MAX: i32 = 1_000_000_000;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Number { scale: None | Some(1) } => f.write_str("number"),
            Self::Number { scale: Some(scale) } => write!(f, "number in steps of 1/{scale}"),
            Self::Code => f.write_str("code"),
            Self::Real => f.write_str("real"),
        }
    }
}

/// Parses `flag`, `number`, `number:100`, `code` or `real`.
impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let power_of_ten = |scale: &i32| (0..=9).any(|exponent| 10_i32.pow(exponent) == *scale);
        match text.split_once(':') {
            None if text == "flag" => Ok(Self::Flag),
            None if text == "number" => Ok(Self::Number { scale: None }),
            None if text == "code" => Ok(Self::Code),
            None if text == "real" => Ok(Self::Real),
            Some(("number", scale)) if scale.parse().is_ok_and(|scale| power_of_ten(&scale)) => {
                Ok(Self::Number { scale: scale.parse().ok() })
            }
            _ => Err(format!("{text:?} is no kind: write flag, number, number:100, code or real")),
        }
    }
}

/// What becomes of an ensemble of the same name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// There must be none.
    #[default]
    New,
    /// It stays readable until the import is complete, and is then replaced.
    Replace,
    /// It gets the worlds of the input after its own.
    Append,
}

/// How to read the input, and what to do with it.
#[derive(Debug, Clone)]
pub struct Options {
    pub mode: Mode,
    /// Inferred if `None`: long if the columns of outcomes and values exist.
    pub form: Option<Form>,
    pub columns: ColumnNames,
    /// The name of the only entity of an input without a column of entities.
    pub entity: String,
    /// Declared kinds by outcome; all others are inferred.
    pub kinds: BTreeMap<String, Kind>,
    /// Ensembles of the same seed are compared world by world.
    pub seed: Seed,
    /// The number of world 0 in the column of worlds, such as 1 if the input counts from 1.
    pub first_world: u32,
    /// Append rows that name no worlds, also if they equal the last stored ones.
    pub again: bool,
    /// Bytes of values in memory, 8 each. An input that is sorted by world may be larger.
    pub memory_bytes: usize,
    /// Folder of the unnamed file for larger inputs.
    pub spill_folder: PathBuf,
    /// Threads that encode, at least 1.
    pub threads: usize,
    pub format: PageFormat,
    /// Set it to stop an import from another thread. Nothing is stored then.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            form: None,
            columns: ColumnNames::default(),
            entity: "all".to_owned(),
            kinds: BTreeMap::new(),
            seed: Seed(0),
            first_world: 0,
            again: false,
            memory_bytes: 1 << 30,
            spill_folder: std::env::temp_dir(),
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            format: PageFormat::default(),
            stop: Arc::default(),
        }
    }
}
