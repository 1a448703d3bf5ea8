//! One play: the row from which all else is counted.

use model::{EventColumn, EventKind, NULL_I8, NULL_LABEL, UnknownName};

/// Declares the words of a play column: a `u8` enum, and the words in code order.
macro_rules! labels {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// The words, in code order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];
            const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value of a code; `None` if the code is unknown.
            pub fn from_code(code: u8) -> Option<Self> {
                Self::ALL.get(usize::from(code)).copied()
            }
        }
    };
}

labels! {
    /// The call.
    Kind {
        /// A designed run.
        Run = "run",
        /// A throw.
        Pass = "pass",
        /// The passer was tackled behind the line.
        Sack = "sack",
        /// The passer ran after dropping back.
        Scramble = "scramble",
        /// The passer knelt to run out the clock.
        Kneel = "kneel",
        Punt = "punt",
        /// A try for three points.
        FieldGoal = "field_goal",
        /// A kick-off, or the free kick after a safety.
        Kickoff = "kickoff",
        /// A short kick-off that the kicking team hopes to recover.
        OnsideKick = "onside_kick",
        /// A kick for one point after a touchdown.
        ExtraPoint = "extra_point",
        /// A pass for two points after a touchdown.
        TwoPointPass = "two_point_pass",
        /// A run for two points after a touchdown.
        TwoPointRun = "two_point_run",
        /// A foul that wiped out the play.
        Penalty = "penalty",
    }
}

labels! {
    /// The result of the play.
    Outcome {
        /// The carrier was tackled in bounds, after a catch too.
        Tackled = "tackled",
        /// The carrier left the field.
        OutOfBounds = "out_of_bounds",
        /// The offence scored a touchdown.
        Touchdown = "touchdown",
        Incomplete = "incomplete",
        /// The defence caught the pass.
        Intercepted = "intercepted",
        /// The offence lost the ball.
        FumbleLost = "fumble_lost",
        /// The carrier was tackled in his own end zone.
        Safety = "safety",
        /// The kick or try scored.
        Good = "good",
        /// The kick or try failed.
        Missed = "missed",
        /// The kick was blocked.
        Blocked = "blocked",
        /// The kick came down in the end zone.
        Touchback = "touchback",
        /// The kick was returned.
        Returned = "returned",
        /// The receiver waved for a fair catch.
        FairCatch = "fair_catch",
        /// The kicking team downed it.
        Downed = "downed",
        /// The kicking team recovered it.
        Recovered = "recovered",
        /// The play did not count.
        NoPlay = "no_play",
    }
}

labels! {
    Foul {
        /// Offensive holding, 10 yards.
        Holding = "offensive_holding",
        /// False start, 5 yards.
        FalseStart = "false_start",
        /// Defensive pass interference, at the spot, automatic first down.
        PassInterference = "defensive_pass_interference",
        /// Defensive holding, 5 yards, automatic first down.
        DefensiveHolding = "defensive_holding",
        /// Defensive off-side, 5 yards.
        Offside = "defensive_offside",
        /// Illegal block, 10 yards.
        IllegalBlock = "illegal_block",
        /// Neutral-zone infraction, 5 yards.
        NeutralZone = "neutral_zone_infraction",
        /// Delay of game, 5 yards.
        Delay = "delay_of_game",
        /// Offensive pass interference, 10 yards.
        OffensivePassInterference = "offensive_pass_interference",
        /// Illegal use of hands, 5 yards, automatic first down.
        Hands = "illegal_use_of_hands",
        /// Unnecessary roughness, 15 yards, added to the play.
        Roughness = "unnecessary_roughness",
        /// Roughing the passer, 15 yards, automatic first down, added to the play.
        RoughingPasser = "roughing_the_passer",
    }
}

/// The sides, for columns that name one.
pub(crate) const SIDES: &[&str] = &["home", "away"];

/// Roster places, as in player columns and outcome names.
pub const ROSTER: [&str; 24] = [
    "qb1", "qb2", "rb1", "rb2", "rb3", "rb4", "wr1", "wr2", "wr3", "wr4", "wr5", "wr6", "te1", "te2", "te3", "k", "p",
    "d1", "d2", "d3", "d4", "d5", "d6", "d_other",
];

pub(crate) const NOBODY: u8 = NULL_LABEL;
/// No number.
pub(crate) const NONE: i8 = NULL_I8;

/// One play. The offence is the side that snaps or kicks the ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Play {
    /// Number of the possession in this game, from 1.
    pub drive: i8,
    /// 1 to 4, and 5 for overtime.
    pub quarter: i8,
    /// Seconds left in the quarter at the snap.
    pub clock: i16,
    /// 0 home, 1 away.
    pub offence: u8,
    /// 1 to 4; 0 on kick-offs and tries.
    pub down: i8,
    /// Yards to a first down; 0 on kick-offs and tries.
    pub distance: i8,
    /// Yards to the opponent's goal line.
    pub yard_line: i8,
    pub kind: Kind,
    pub outcome: Outcome,
    /// Yards gained from scrimmage, or the length of a kick.
    pub yards: i8,
    /// Yards the ball flew past the line of scrimmage, or [`NONE`].
    pub air_yards: i8,
    /// Yards of the return, or [`NONE`].
    pub return_yards: i8,
    /// Roster place of the passer, or [`NOBODY`].
    pub passer: u8,
    /// Roster place of the runner or of the pass's target, or [`NOBODY`] if the pass was thrown away.
    pub player: u8,
    /// Roster place of the first tackler, in the other team, or [`NOBODY`].
    pub tackler: u8,
    /// Roster place of a second tackler who shares the tackle or sack, or [`NOBODY`].
    pub assist: u8,
    /// Roster place of the defender who intercepted or broke up the pass or forced the fumble, or [`NOBODY`].
    pub defender: u8,
    /// Points of the offence; negative for points of the other side.
    pub points: i8,
    /// Home score after the play.
    pub home_score: i8,
    /// Away score after the play.
    pub away_score: i8,
    /// Whether the offence earned a first down; a touchdown from scrimmage counts.
    pub first_down: i8,
    /// Code of the accepted foul, or [`NULL_LABEL`].
    pub foul: u8,
    /// The penalised side, or [`NULL_LABEL`].
    pub foul_side: u8,
    pub foul_yards: i8,
    /// The side that called a time-out after the play, or [`NULL_LABEL`].
    pub time_out: u8,
    /// Seconds from this snap to the next.
    pub run_off: i8,
}

impl Play {
    pub(crate) const EMPTY: Self = Self {
        drive: 0,
        quarter: 1,
        clock: 0,
        offence: 0,
        down: 0,
        distance: 0,
        yard_line: 0,
        kind: Kind::Penalty,
        outcome: Outcome::NoPlay,
        yards: 0,
        air_yards: NONE,
        return_yards: NONE,
        passer: NOBODY,
        player: NOBODY,
        tackler: NOBODY,
        assist: NOBODY,
        defender: NOBODY,
        points: 0,
        home_score: 0,
        away_score: 0,
        first_down: 0,
        foul: NOBODY,
        foul_side: NOBODY,
        foul_yards: 0,
        time_out: NOBODY,
        run_off: 0,
    };
}

/// Storage of one field of [`Play`]: `read` appends the field of many plays, `write` restores it from stored values.
pub(crate) enum Field {
    /// Codes of words.
    Label { read: fn(&[Play], &mut Vec<u8>), write: fn(&mut [Play], &[u8]) },
    /// Small integers.
    I8 { read: fn(&[Play], &mut Vec<i8>), write: fn(&mut [Play], &[i8]) },
    /// 16-bit integers.
    I16 { read: fn(&[Play], &mut Vec<i16>), write: fn(&mut [Play], &[i16]) },
}

/// The accessors of a field stored unchanged.
macro_rules! plain {
    ($kind:ident, $field:ident) => {
        Field::$kind {
            read: |plays, out| out.extend(plays.iter().map(|p| p.$field)),
            write: |plays, values| {
                for (play, value) in plays.iter_mut().zip(values) {
                    play.$field = *value;
                }
            },
        }
    };
}

/// The accessors of an enum field. An unknown code leaves the field unchanged.
macro_rules! coded {
    ($enum:ident, $field:ident) => {
        Field::Label {
            read: |plays, out| out.extend(plays.iter().map(|p| p.$field as u8)),
            write: |plays, values| {
                for (play, value) in plays.iter_mut().zip(values) {
                    play.$field = $enum::from_code(*value).unwrap_or(play.$field);
                }
            },
        }
    };
}

/// A play column: its name, its meaning, its words if it holds words, whether it may be empty, and its field.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    doc: &'static str,
    words: &'static [&'static str],
    nullable: bool,
    pub(crate) field: Field,
}

const NO_WORDS: &[&str] = &[];

const fn column(
    name: &'static str,
    doc: &'static str,
    words: &'static [&'static str],
    nullable: bool,
    field: Field,
) -> Column {
    Column { name, doc, words, nullable, field }
}

/// The columns of a play, in storage order.
#[rustfmt::skip]
pub(crate) const COLUMNS: &[Column] = &[
    column("drive", "possession of the game, from 1", NO_WORDS, false, plain!(I8, drive)),
    column("quarter", "1 to 4; 5 is overtime", NO_WORDS, false, plain!(I8, quarter)),
    column("clock", "seconds left in the quarter at the snap", NO_WORDS, false, plain!(I16, clock)),
    column("offence", "the side that snaps or kicks", SIDES, false, plain!(Label, offence)),
    column("down", "1 to 4; 0 on kicks-off and tries", NO_WORDS, false, plain!(I8, down)),
    column("distance", "yards to a first down; 0 on kicks-off and tries", NO_WORDS, false, plain!(I8, distance)),
    column("yard_line", "yards to the opponent's goal line", NO_WORDS, false, plain!(I8, yard_line)),
    column("play_type", "what was called", Kind::WORDS, false, coded!(Kind, kind)),
    column("result", "how it ended", Outcome::WORDS, false, coded!(Outcome, outcome)),
    column("yards", "yards gained; of a kick, its length", NO_WORDS, false, plain!(I8, yards)),
    column("air_yards", "yards the pass flew past the line of scrimmage", NO_WORDS, true, plain!(I8, air_yards)),
    column("return_yards", "yards of the return", NO_WORDS, true, plain!(I8, return_yards)),
    column("passer", "roster place of the passer", &ROSTER, true, plain!(Label, passer)),
    column("player", "roster place of the runner, or of the receiver thrown to", &ROSTER, true, plain!(Label, player)),
    column("tackler", "roster place of the tackler, in the other team", &ROSTER, true, plain!(Label, tackler)),
    column("assist", "roster place of a second tackler", &ROSTER, true, plain!(Label, assist)),
    column("defender", "roster place of who intercepted, broke up the pass or forced the fumble", &ROSTER, true, plain!(Label, defender)),
    column("points", "points scored by the offence; negative: by the other side", NO_WORDS, false, plain!(I8, points)),
    column("home_score", "home score after the play", NO_WORDS, false, plain!(I8, home_score)),
    column("away_score", "away score after the play", NO_WORDS, false, plain!(I8, away_score)),
    column("first_down", "1 where the offence earned a first down", NO_WORDS, false, plain!(I8, first_down)),
    column("foul", "the accepted foul", Foul::WORDS, true, plain!(Label, foul)),
    column("foul_side", "the side penalised", SIDES, true, plain!(Label, foul_side)),
    column("foul_yards", "yards penalised", NO_WORDS, false, plain!(I8, foul_yards)),
    column("time_out", "the side that called a time-out after the play", SIDES, true, plain!(Label, time_out)),
    column("run_off", "seconds from this snap to the next", NO_WORDS, false, plain!(I8, run_off)),
];

/// The event schema of the catalogue.
pub(crate) fn event_columns() -> Vec<EventColumn> {
    COLUMNS
        .iter()
        .map(|c| EventColumn {
            name: c.name.to_owned(),
            doc: c.doc.to_owned(),
            kind: match c.field {
                Field::Label { .. } => EventKind::Label(c.words.iter().map(|&w| w.to_owned()).collect()),
                Field::I8 { .. } => EventKind::I8,
                Field::I16 { .. } => EventKind::I16,
            },
            nullable: c.nullable,
        })
        .collect()
}

/// The condition for plays in which a player takes part: `home_qb1`, or `qb1` of either side. A play's columns name the
/// passer and carrier of its offence, and the tacklers and defenders of the other side. The kind of kick implies the
/// kicker.
pub(crate) fn condition_of(player: &str) -> Result<String, UnknownName> {
    const KICKS: [Kind; 4] = [Kind::FieldGoal, Kind::ExtraPoint, Kind::Kickoff, Kind::OnsideKick];
    let named =
        SIDES.iter().enumerate().find_map(|(side, name)| Some((side, player.strip_prefix(name)?.strip_prefix('_')?)));
    let (side, role) = named.map_or((None, player), |(side, role)| (Some(side), role));
    if !ROSTER.contains(&role) {
        let of_side = SIDES.iter().flat_map(|side| ROSTER.iter().map(move |role| format!("{side}_{role}")));
        let names: Vec<String> = of_side.chain(ROSTER.map(str::to_owned)).collect();
        return Err(UnknownName::new("no player", player, names.iter().map(String::as_str)));
    }
    let part = |is_offence: bool, column: &str, word: &str| {
        let offence = side.map(|side| SIDES[if is_offence { side } else { 1 - side }]);
        let offence = offence.map_or_else(String::new, |offence| format!("offence = '{offence}' AND "));
        format!("{offence}{column} = '{word}'")
    };
    let kick = |kind: Kind| part(true, "play_type", Kind::WORDS[kind as usize]);
    let parts = match role {
        "k" => KICKS.map(kick).to_vec(),
        "p" => vec![kick(Kind::Punt)],
        _ => {
            let own = ["passer", "player"].map(|column| part(true, column, role));
            let against = ["tackler", "assist", "defender"].map(|column| part(false, column, role));
            own.into_iter().chain(against).collect()
        }
    };
    Ok(parts.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_words_agree() {
        assert_eq!(Kind::from_code(Kind::Penalty as u8), Some(Kind::Penalty));
        assert_eq!(Kind::WORDS[Kind::FieldGoal as usize], "field_goal");
        assert_eq!(Outcome::from_code(Outcome::WORDS.len() as u8), None);
    }

    #[test]
    fn column_names_are_unique() {
        let mut names: Vec<_> = COLUMNS.iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }
}
