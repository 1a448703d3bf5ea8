//! The parameters of the football model.

use model::{ParameterError, ParameterSpec, ParameterValue, Parameters};

const fn spec(name: &'static str, doc: &'static str, default: f64, min: f64, max: f64) -> ParameterSpec {
    ParameterSpec::number(name, doc, default, min, max)
}

/// All parameters; the defaults are those measured in the seasons 2015 to 2019.
pub const PARAMETERS: &[ParameterSpec] = &[
    spec("league", "number of the generated league: its teams, ratings and schedule", 1.0, 0.0, 4_294_967_295.0),
    spec("rating_spread", "standard deviation of a team's offence and of its defence, in points", 3.1, 0.0, 10.0),
    spec("form_spread", "standard deviation of a team's form on the day, in points", 1.2, 0.0, 10.0),
    spec("home_edge", "home advantage, in points", 1.74, -10.0, 10.0),
    spec("carry", "effect of a result on a team's rating in later weeks (K of the Elo system)", 10.0, 0.0, 100.0),
    spec("pace", "factor on the measured time between snaps: above 1 is slower", 1.0, 0.7, 1.5),
    spec("pass_bias", "added to the log-odds of dropping back to pass", 0.0, -2.0, 2.0),
    spec("aggression", "factor on the measured share of fourth downs gone for", 1.0, 0.0, 4.0),
    spec("touchback_yard_line", "yard line on which a drive starts after a touchback on a kick-off", 25.0, 10.0, 40.0),
    spec("touchback_share", "share of kick-offs that are touchbacks", 0.60, 0.0, 1.0),
];

/// The parameters in the form that the simulation uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) league: u32,
    pub(crate) rating_spread: f32,
    pub(crate) form_spread: f32,
    pub(crate) home_edge: f32,
    pub(crate) carry: f32,
    pub(crate) pace: f32,
    pub(crate) pass_bias: f32,
    pub(crate) aggression: f32,
    pub(crate) touchback_yard_line: i32,
    pub(crate) touchback_share: f32,
}

impl Settings {
    pub(crate) fn new(p: &Parameters) -> Self {
        Self {
            league: p.get("league") as u32,
            rating_spread: p.get("rating_spread") as f32,
            form_spread: p.get("form_spread") as f32,
            home_edge: p.get("home_edge") as f32,
            carry: p.get("carry") as f32,
            pace: p.get("pace") as f32,
            pass_bias: p.get("pass_bias") as f32,
            aggression: p.get("aggression") as f32,
            touchback_yard_line: p.get("touchback_yard_line") as i32,
            touchback_share: p.get("touchback_share") as f32,
        }
    }
}

/// Parameters that only the generated league has.
const OF_GENERATED: [&str; 2] = ["league", "rating_spread"];

/// Checks that parameters do not ask for a generated league beside a defined one.
///
/// # Errors
/// If one does.
pub(crate) fn generate_nothing(p: &Parameters) -> Result<(), ParameterError> {
    let changed = |spec: &&ParameterSpec| {
        OF_GENERATED.contains(&&*spec.name) && ParameterValue::Number(p.get(&spec.name)) != spec.default
    };
    let Some(spec) = PARAMETERS.iter().find(changed) else { return Ok(()) };
    Err(ParameterError::Refused {
        name: spec.name.to_string(),
        value: p.get(&spec.name).to_string(),
        accepted: format!("{}, its default: the league file defines the teams and their ratings", spec.default),
    })
}
