//! Arguments of queries on ensembles.

use std::path::PathBuf;

use ensemble::Decimal;

use super::{FormatArgs, PlaceArgs, PlayedByArgs};

// The worlds that count.
#[derive(Debug, clap::Args)]
pub(crate) struct GivenArgs {
    /// Count only worlds that meet this (repeatable)
    ///
    /// A condition over outcomes, or a moment of the entity's game such as
    /// 'at q3 8:00 ±60, score 14-10 ±3, possession home'.
    #[arg(long, value_name = "EXPR")]
    pub(crate) given: Vec<String>,
    /// Require this many worlds that meet --given
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) min_worlds: usize,
}

// Arguments of `probability` and `price`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProbabilityArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Entity whose outcomes the conditions name
    ///
    /// Write outcomes of other entities as ENTITY:OUTCOME.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Option<String>,
    /// Require a condition over outcomes (repeatable)
    ///
    /// For example 'home_margin > 3.5'. All conditions must hold in the same world.
    #[arg(long = "condition", alias = "leg", value_name = "EXPR", required = true)]
    pub(crate) conditions: Vec<String>,
    #[command(flatten)]
    pub(crate) worlds: GivenArgs,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BookArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Read the bets from this CSV file
    ///
    /// Its header names the columns: legs (conditions, separated by ;), stake, odds (decimal), and if you like id, side
    /// (back or lay) and entity. Several columns leg_1, leg_2 and so on may replace legs.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Entity whose outcomes legs and conditions name
    ///
    /// The column entity overrides it. Write outcomes of other entities as ENTITY:OUTCOME.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Option<String>,
    #[command(flatten)]
    pub(crate) worlds: GivenArgs,
    /// Measure the tail beyond this level (repeatable)
    ///
    /// A share of the worlds between 0 and 1, of value at risk and expected shortfall.
    #[arg(long = "level", value_name = "P", default_values = ["0.95", "0.99"])]
    pub(crate) levels: Vec<Decimal>,
    /// List this many of the worst worlds
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) worst: usize,
    /// Limit the bets of the table
    ///
    /// The bets with the largest part of the last expected shortfall come first. JSON and CSV have all bets.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OutcomeArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Entity to show
    ///
    /// Leave it out if the ensemble has only one, or if every outcome is written as ENTITY:OUTCOME and named with
    /// --outcome.
    pub(crate) entity: Option<String>,
    /// Outcomes to show, or expressions of them
    ///
    /// For example home_margin, 'home_points + away_points' or 'home_points > 2 * away_points'.
    #[arg(value_name = "OUTCOME")]
    pub(crate) names: Vec<String>,
    /// Entity to show (repeatable)
    #[arg(long = "entity", value_name = "NAME")]
    pub(crate) entities: Vec<String>,
    /// Outcome or expression to show (repeatable)
    #[arg(long = "outcome", value_name = "NAME|EXPR")]
    pub(crate) outcomes: Vec<String>,
    /// List the cumulative distribution
    ///
    /// Prints every value with the share of worlds that do not exceed it.
    #[arg(long)]
    pub(crate) cdf: bool,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Ensemble to compare with
    pub(crate) first: String,
    /// Ensemble to compare
    ///
    /// Differences are its values minus those of the first ensemble.
    pub(crate) second: String,
    /// Outcome or expression to compare (repeatable)
    ///
    /// For example team-03:wins, or 'team-03:wins - team-04:wins'.
    #[arg(long = "outcome", value_name = "ENTITY:OUTCOME|EXPR", required = true)]
    pub(crate) outcomes: Vec<String>,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CorrelateArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Entity whose outcomes to correlate
    ///
    /// Write outcomes of other entities as ENTITY:OUTCOME.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Option<String>,
    /// Outcome or expression to correlate (repeatable)
    ///
    /// Default: all outcomes of the entity.
    #[arg(long = "outcome", value_name = "NAME|EXPR")]
    pub(crate) outcomes: Vec<String>,
    /// Limit the pairs of a long table
    ///
    /// The strongest pairs come first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LeverageArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Condition whose probability moves
    #[arg(long, value_name = "EXPR")]
    pub(crate) condition: String,
    /// Entity whose outcomes the conditions name
    ///
    /// Write outcomes of other entities as ENTITY:OUTCOME.
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: Option<String>,
    #[command(flatten)]
    pub(crate) worlds: GivenArgs,
    /// Look for events of this entity only (repeatable)
    ///
    /// Default: all entities.
    #[arg(long, value_name = "NAME")]
    pub(crate) among: Vec<String>,
    /// Outcome or expression to look at (repeatable)
    ///
    /// Default: all flags and codes with labels, and as many numbers as the ensemble's size allows.
    #[arg(long = "outcome", value_name = "NAME|EXPR")]
    pub(crate) outcomes: Vec<String>,
    /// Limit the events
    ///
    /// Those that move the probability most come first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// Ensemble to ask
    pub(crate) ensemble: String,
    /// Entity whose events to show
    #[arg(long, value_name = "NAME")]
    pub(crate) entity: String,
    /// World to show
    #[arg(long, value_name = "W")]
    pub(crate) world: u32,
    /// Show only events of this player
    ///
    /// The model names its players: football's are `home_wr1`, `wr1` of either side, or a player's name.
    #[arg(long, value_name = "NAME")]
    pub(crate) player: Option<String>,
    // The condition of football's `--drive N`, an old spelling.
    #[arg(long, hide = true, value_parser = parse_drive)]
    pub(crate) drive: Option<String>,
    /// Show only events that meet this (repeatable)
    ///
    /// For example "down >= 3 AND play_type IN ('pass', 'sack')".
    #[arg(long = "where", value_name = "COND")]
    pub(crate) conditions: Vec<String>,
    /// Show the model's summary instead
    #[arg(long, alias = "box")]
    pub(crate) summary: bool,
    #[command(flatten)]
    pub(crate) played_by: PlayedByArgs,
    #[command(flatten)]
    pub(crate) data: PlaceArgs,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

fn parse_drive(text: &str) -> Result<String, String> {
    text.parse().map(|drive: i32| format!("drive = {drive}")).map_err(|_| "expected a number".to_owned())
}
