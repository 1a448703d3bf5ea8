//! The parameters of the football model.

use model::{ParameterSpec, Parameters};

const fn spec(name: &'static str, doc: &'static str, default: f64, min: f64, max: f64) -> ParameterSpec {
    ParameterSpec { name, doc, default, min, max }
}

/// Every parameter, with its default: the seasons 2015 to 2019 as measured.
pub const PARAMETERS: &[ParameterSpec] = &[
    spec("league", "number of the generated league: its teams, ratings and schedule", 1.0, 0.0, 4_294_967_295.0),
    spec("rating_spread", "standard deviation of a team's offence and of its defence, in points", 3.1, 0.0, 10.0),
    spec("form_spread", "standard deviation of a team's form on the day, in points", 1.2, 0.0, 10.0),
    spec("home_edge", "points that playing at home is worth", 1.74, -10.0, 10.0),
    spec("carry", "how far a result moves a team's rating for the weeks after (K of the Elo system)", 10.0, 0.0, 100.0),
    spec("pace", "time between snaps against the measured one: above 1 is slower", 1.0, 0.7, 1.5),
    spec("pass_bias", "added to the log-odds of dropping back to pass", 0.0, -2.0, 2.0),
    spec("aggression", "share of fourth downs gone for, against the measured one", 1.0, 0.0, 4.0),
    spec("touchback_yard_line", "where a drive starts after a touchback on a kick-off", 25.0, 10.0, 40.0),
    spec("touchback_share", "share of kicks-off that are touchbacks", 0.60, 0.0, 1.0),
];

/// The parameters as the simulation reads them.
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
