//! Switches back to rules of `BingoSim` that this model changes, so that results can be compared.

use model::{ParameterSpec, Parameters};

const fn switch(name: &'static str, doc: &'static str) -> ParameterSpec {
    ParameterSpec::number(name, doc, 0.0, 0.0, 1.0)
}

/// All switches: 1 is `BingoSim`'s rule, 0 ours.
pub const PARAMETERS: &[ParameterSpec] = &[
    switch(
        "idle_until_quiet",
        "idle players look for work only when no team has an attempt, instead of when their session starts, a row opens \
         or a partner is free",
    ),
    switch("first_team_wins", "the first of the teams with the most points wins, instead of all sharing the win"),
    switch(
        "rounded_weights",
        "outcomes are drawn with the numerators of their chances as weights, which modifiers multiply and round, instead \
         of with their chances",
    ),
    switch("undersized_groups", "a group below the minimum size starts if one player could, instead of each alone"),
    switch("closed_at_start", "with opening_points 0, rows open once a tile is completed, instead of at the start"),
];

/// The switches, parsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each stands for itself")]
pub(crate) struct Switches {
    pub(crate) idle_until_quiet: bool,
    pub(crate) first_team_wins: bool,
    pub(crate) rounded_weights: bool,
    pub(crate) undersized_groups: bool,
    pub(crate) closed_at_start: bool,
}

impl Switches {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let on = |name: &str| parameters.get(name) >= 0.5;
        Self {
            idle_until_quiet: on("idle_until_quiet"),
            first_team_wins: on("first_team_wins"),
            rounded_weights: on("rounded_weights"),
            undersized_groups: on("undersized_groups"),
            closed_at_start: on("closed_at_start"),
        }
    }
}
