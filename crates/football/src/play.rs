//! One play: the row from which all else is counted.

use model::{EventColumn, EventKind, MembersOf, NULL_I8, NULL_LABEL, UnknownName};
use strum::{FromRepr, VariantNames};

use crate::roster::{KICKER, PUNTER, ROSTER};

/// The call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr, VariantNames)]
#[repr(u8)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// A designed run.
    Run,
    /// A throw.
    Pass,
    /// The passer was tackled behind the line.
    Sack,
    /// The passer ran after dropping back.
    Scramble,
    /// The passer knelt to run out the clock.
    Kneel,
    Punt,
    /// A try for three points.
    FieldGoal,
    /// A kick-off, or the free kick after a safety.
    Kickoff,
    /// A short kick-off that the kicking team hopes to recover.
    OnsideKick,
    /// A kick for one point after a touchdown.
    ExtraPoint,
    /// A pass for two points after a touchdown.
    TwoPointPass,
    /// A run for two points after a touchdown.
    TwoPointRun,
    /// A foul that wiped out the play.
    Penalty,
}

/// The result of the play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr, VariantNames)]
#[repr(u8)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// The carrier was tackled in bounds, after a catch too.
    Tackled,
    /// The carrier left the field.
    OutOfBounds,
    /// The offence scored a touchdown.
    Touchdown,
    Incomplete,
    /// The defence caught the pass.
    Intercepted,
    /// The offence lost the ball.
    FumbleLost,
    /// The carrier was tackled in his own end zone.
    Safety,
    /// The kick or try scored.
    Good,
    /// The kick or try failed.
    Missed,
    /// The kick was blocked.
    Blocked,
    /// The kick came down in the end zone.
    Touchback,
    /// The kick was returned.
    Returned,
    /// The receiver waved for a fair catch.
    FairCatch,
    /// The kicking team downed it.
    Downed,
    /// The kicking team recovered it.
    Recovered,
    /// The play did not count.
    NoPlay,
}

impl Kind {
    /// Whether the offence ran, passed or knelt for yards.
    #[inline]
    pub(crate) fn is_from_scrimmage(self) -> bool {
        matches!(self, Self::Run | Self::Pass | Self::Sack | Self::Scramble | Self::Kneel)
    }

    /// The roster place of the player who kicks.
    #[inline]
    pub(crate) fn kicker(self) -> u8 {
        match self {
            Self::FieldGoal | Self::ExtraPoint | Self::Kickoff | Self::OnsideKick => KICKER,
            Self::Punt => PUNTER,
            _ => NOBODY,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr, VariantNames)]
#[repr(u8)]
#[strum(serialize_all = "snake_case")]
pub enum Foul {
    /// Offensive holding, 10 yards.
    OffensiveHolding,
    /// False start, 5 yards.
    FalseStart,
    /// Defensive pass interference, at the spot, automatic first down.
    DefensivePassInterference,
    /// Defensive holding, 5 yards, automatic first down.
    DefensiveHolding,
    /// Defensive off-side, 5 yards.
    DefensiveOffside,
    /// Illegal block, 10 yards.
    IllegalBlock,
    /// Neutral-zone infraction, 5 yards.
    NeutralZoneInfraction,
    /// Delay of game, 5 yards.
    DelayOfGame,
    /// Offensive pass interference, 10 yards.
    OffensivePassInterference,
    /// Illegal use of hands, 5 yards, automatic first down.
    IllegalUseOfHands,
    /// Unnecessary roughness, 15 yards, added to the play.
    UnnecessaryRoughness,
    /// Roughing the passer, 15 yards, automatic first down, added to the play.
    RoughingThePasser,
}

/// The sides, for columns that name one.
pub(crate) const SIDES: &[&str] = &["home", "away"];

pub(crate) const NOBODY: u8 = NULL_LABEL;
/// No number.
pub(crate) const NONE: i8 = NULL_I8;

/// Storage of one field of [`Play`]: `read` appends the field of many plays, `write` restores it from stored values.
pub(crate) enum Field {
    /// Codes of words.
    Label { read: fn(&[Play], &mut Vec<u8>), write: fn(&mut [Play], &[u8]) },
    /// Small integers.
    I8 { read: fn(&[Play], &mut Vec<i8>), write: fn(&mut [Play], &[i8]) },
    /// 16-bit integers.
    I16 { read: fn(&[Play], &mut Vec<i16>), write: fn(&mut [Play], &[i16]) },
}

/// The accessors of a field by its type. An unknown code of an enum leaves the field unchanged.
macro_rules! accessors {
    (u8, $field:ident) => { accessors!(plain Label, $field) };
    (i8, $field:ident) => { accessors!(plain I8, $field) };
    (i16, $field:ident) => { accessors!(plain I16, $field) };
    (plain $kind:ident, $field:ident) => {
        Field::$kind {
            read: |plays, out| out.extend(plays.iter().map(|p| p.$field)),
            write: |plays, values| {
                for (play, value) in plays.iter_mut().zip(values) {
                    play.$field = *value;
                }
            },
        }
    };
    ($enum:ident, $field:ident) => {
        Field::Label {
            read: |plays, out| out.extend(plays.iter().map(|p| p.$field as u8)),
            write: |plays, values| {
                for (play, value) in plays.iter_mut().zip(values) {
                    play.$field = $enum::from_repr(*value).unwrap_or(play.$field);
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

/// Declares the fields of a play and their columns, in storage order. Each field has its type, its value in an empty
/// play, and its column's name, words and meaning, and whether the column may be empty.
macro_rules! fields {
    ($($field:ident: $type:ident = $empty:expr, $name:literal, $words:expr, $nullable:literal, $doc:literal;)+) => {
        /// One play. The offence is the side that snaps or kicks the ball. Sides and players are codes of words, or
        /// [`NULL_LABEL`]; a number that is missing is [`NULL_I8`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Play {
            $(#[doc = $doc] pub $field: $type,)+
        }

        impl Play {
            pub(crate) const EMPTY: Self = Self { $($field: $empty,)+ };
        }

        /// The columns of a play, in storage order.
        pub(crate) const COLUMNS: &[Column] = &[
            $(Column {
                name: $name,
                doc: $doc,
                words: $words,
                nullable: $nullable,
                field: accessors!($type, $field),
            },)+
        ];
    };
}

fields! {
    drive: i8 = 0, "drive", NO_WORDS, false, "possession of the game, from 1";
    quarter: i8 = 1, "quarter", NO_WORDS, false, "1 to 4; 5 is overtime";
    clock: i16 = 0, "clock", NO_WORDS, false, "seconds left in the quarter at the snap";
    offence: u8 = 0, "offence", SIDES, false, "the side that snaps or kicks";
    down: i8 = 0, "down", NO_WORDS, false, "1 to 4; 0 on kicks-off and tries";
    distance: i8 = 0, "distance", NO_WORDS, false, "yards to a first down; 0 on kicks-off and tries";
    yard_line: i8 = 0, "yard_line", NO_WORDS, false, "yards to the opponent's goal line";
    kind: Kind = Kind::Penalty, "play_type", Kind::VARIANTS, false, "what was called";
    outcome: Outcome = Outcome::NoPlay, "result", Outcome::VARIANTS, false, "how it ended";
    yards: i8 = 0, "yards", NO_WORDS, false, "yards gained; of a kick, its length";
    air_yards: i8 = NONE, "air_yards", NO_WORDS, true, "yards the pass flew past the line of scrimmage";
    return_yards: i8 = NONE, "return_yards", NO_WORDS, true, "yards of the return";
    passer: u8 = NOBODY, "passer", &ROSTER, true, "roster place of the passer";
    player: u8 = NOBODY, "player", &ROSTER, true, "roster place of the runner, or of the receiver thrown to";
    tackler: u8 = NOBODY, "tackler", &ROSTER, true, "roster place of the tackler, in the other team";
    assist: u8 = NOBODY, "assist", &ROSTER, true, "roster place of a second tackler";
    defender: u8 = NOBODY, "defender", &ROSTER, true, "roster place of who intercepted, broke up the pass or forced the fumble";
    points: i8 = 0, "points", NO_WORDS, false, "points scored by the offence; negative: by the other side";
    home_score: i8 = 0, "home_score", NO_WORDS, false, "home score after the play";
    away_score: i8 = 0, "away_score", NO_WORDS, false, "away score after the play";
    first_down: i8 = 0, "first_down", NO_WORDS, false, "1 where the offence earned a first down";
    foul: u8 = NOBODY, "foul", Foul::VARIANTS, true, "the accepted foul";
    foul_side: u8 = NOBODY, "foul_side", SIDES, true, "the side penalised";
    foul_yards: i8 = 0, "foul_yards", NO_WORDS, false, "yards penalised";
    time_out: u8 = NOBODY, "time_out", SIDES, true, "the side that called a time-out after the play";
    run_off: i8 = 0, "run_off", NO_WORDS, false, "seconds from this snap to the next";
    kicker: u8 = NOBODY, "kicker", &ROSTER, true, "roster place of the kicker or punter";
    returner: u8 = NOBODY, "returner", &ROSTER, true, "roster place of who returned the kick or called for a fair catch, in the other team";
}

/// The columns of plays that name no kickers and returners: all but the last two.
pub(crate) const BASIC_COLUMNS: usize = COLUMNS.len() - 2;

/// Columns that name a player of the offence, and of the other team.
const OF_OFFENCE: [&str; 3] = ["passer", "player", "kicker"];
const OF_OTHERS: [&str; 4] = ["tackler", "assist", "defender", "returner"];

/// Whose roster places a column holds: the members of a game are the home and the away team.
fn members_of(column: &str) -> Option<MembersOf> {
    let places = match column {
        _ if OF_OFFENCE.contains(&column) => vec![0, 1],
        _ if OF_OTHERS.contains(&column) => vec![1, 0],
        _ => return None,
    };
    Some(MembersOf { column: "offence".to_owned(), places })
}

/// The event schema of the catalogue, for plays with these columns.
pub(crate) fn event_columns(columns: &[Column]) -> Vec<EventColumn> {
    columns
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
            members: members_of(c.name),
            expected: None,
        })
        .collect()
}

/// The condition for plays in which a player takes part: his name, `home_qb1`, or `qb1` of either side. `players` are
/// those of the home and the away team by roster place. A play's columns name the
/// passer, carrier and kicker of its offence, and the tacklers, defenders and returner of the other side. The kind of
/// kick implies the kicker.
pub(crate) fn condition_of(player: &str, players: [&[String]; 2], columns: &[Column]) -> Result<String, UnknownName> {
    const KICKS: [Kind; 4] = [Kind::FieldGoal, Kind::ExtraPoint, Kind::Kickoff, Kind::OnsideKick];
    let place_of = |(side, names): (usize, &&[String])| Some((side, names.iter().position(|name| name == player)?));
    if let Some((side, place)) = players.iter().enumerate().find_map(place_of) {
        return condition_of(&format!("{}_{}", SIDES[side], ROSTER[place]), [&[]; 2], columns);
    }
    let named =
        SIDES.iter().enumerate().find_map(|(side, name)| Some((side, player.strip_prefix(name)?.strip_prefix('_')?)));
    let (side, role) = named.map_or((None, player), |(side, role)| (Some(side), role));
    if !ROSTER.contains(&role) {
        let of_side = SIDES.iter().flat_map(|side| ROSTER.iter().map(move |role| format!("{side}_{role}")));
        let names = of_side.chain(ROSTER.map(str::to_owned)).chain(players.concat()).collect::<Vec<_>>();
        return Err(UnknownName::new("no player", player, names.iter().map(String::as_str)));
    }
    let part = |is_offence: bool, column: &str, word: &str| {
        let offence = side.map(|side| SIDES[if is_offence { side } else { 1 - side }]);
        let offence = offence.map_or_else(String::new, |offence| format!("offence = '{offence}' AND "));
        format!("{offence}{column} = '{word}'")
    };
    let kick = |kind: Kind| part(true, "play_type", Kind::VARIANTS[kind as usize]);
    let parts = match role {
        "k" => KICKS.map(kick).to_vec(),
        "p" => vec![kick(Kind::Punt)],
        _ => {
            let names = |column: &&&str| columns.iter().any(|c| c.name == **column);
            let own = OF_OFFENCE[..2].iter().map(|column| part(true, column, role));
            let against = OF_OTHERS.iter().filter(names).map(|column| part(false, column, role));
            own.chain(against).collect()
        }
    };
    Ok(parts.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_words_agree() {
        assert_eq!(Kind::from_repr(Kind::Penalty as u8), Some(Kind::Penalty));
        assert_eq!(Kind::VARIANTS[Kind::FieldGoal as usize], "field_goal");
        assert_eq!(Outcome::from_repr(Outcome::VARIANTS.len() as u8), None);
    }

    #[test]
    fn column_names_are_unique() {
        let mut names: Vec<_> = COLUMNS.iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COLUMNS.len());
    }
}
