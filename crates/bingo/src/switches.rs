//! Rules of the system that this model follows, where ours are others: each can be had back, so that results can be
//! compared.

use model::{ParameterSpec, Parameters};

const fn switch(name: &'static str, doc: &'static str) -> ParameterSpec {
    ParameterSpec { name, doc, default: 0.0, min: 0.0, max: 1.0 }
}

/// Every switch: 1 is the reference's rule, 0 ours.
pub const PARAMETERS: &[ParameterSpec] = &[
    switch(
        "idle_until_quiet",
        "idle players are looked at again when nobody of any team does anything, and not when their session starts, \
         a row opens or a partner is free",
    ),
    switch("first_team_wins", "of teams with the most points the first one wins, and they do not share the win"),
    switch(
        "rounded_weights",
        "outcomes are drawn by the upper numbers of their chances, which modifiers multiply and round, and not by their \
         chances",
    ),
    switch("undersized_groups", "a group below the least size goes ahead where one player could, and not each alone"),
    switch("closed_at_start", "with opening_points 0 rows open once a tile is completed, and not at the start"),
];

/// The switches as the simulation reads them.
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
