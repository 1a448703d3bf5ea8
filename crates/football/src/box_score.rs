//! Counts a game from its plays alone.
//!
//! The simulation and `verify` share this code: a game's 850 outcomes are a function of its stored plays.

mod fold;

use crate::play::{Kind, Outcome, Play};
use crate::roster::PLAYERS;

/// Statistics counted per side and quarter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Stat {
    Points,
    Touchdowns,
    FieldGoals,
    PassYards,
    RushYards,
    FirstDowns,
    Plays,
    Interceptions,
    FumblesLost,
    SacksAllowed,
    Penalties,
    PenaltyYards,
    Possession,
    /// Of passes and runs.
    Yards,
    /// Interceptions and lost fumbles.
    Turnovers,
}
/// The length of rows of counts: a power of two, for vector instructions.
pub(crate) const STATS: usize = 16;

/// A span of a game: the whole game, a half or a quarter. Overtime counts to the second half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Window {
    Game,
    Half(usize),
    Quarter(usize),
}

impl Window {
    /// The game, the halves and the quarters.
    pub(crate) const SEVEN: [Self; 7] = [
        Self::Game,
        Self::Half(0),
        Self::Half(1),
        Self::Quarter(0),
        Self::Quarter(1),
        Self::Quarter(2),
        Self::Quarter(3),
    ];
    /// The game and the halves.
    pub(crate) const THREE: [Self; 3] = [Self::Game, Self::Half(0), Self::Half(1)];

    /// The place in [`Self::SEVEN`].
    fn place(self) -> usize {
        match self {
            Self::Game => 0,
            Self::Half(half) => 1 + half,
            Self::Quarter(quarter) => 3 + quarter,
        }
    }
}

/// One side's counts over the whole game.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Side {
    pub(crate) quarters: [[i16; STATS]; 5],
    /// Counts over [`Window::SEVEN`].
    windows: [[i16; STATS]; 7],
    pub(crate) third_downs: [i16; 2],
    pub(crate) fourth_downs: [i16; 2],
    pub(crate) red_zone: [i16; 2],
    pub(crate) punts: i16,
    pub(crate) punt_yards: i16,
    pub(crate) kickoffs: i16,
    pub(crate) touchbacks: i16,
    pub(crate) kick_return_yards: i16,
    pub(crate) punt_return_yards: i16,
    pub(crate) return_touchdowns: i16,
    pub(crate) defensive_touchdowns: i16,
    pub(crate) safeties: i16,
    pub(crate) two_points: [i16; 2],
    pub(crate) extra_points: [i16; 2],
    pub(crate) field_goals: i16,
    pub(crate) drives: i16,
    pub(crate) three_and_outs: i16,
    /// Drives that ended in a touchdown, field goal, punt, turnover, or on downs.
    pub(crate) drive_ends: [i16; 5],
    pub(crate) longest_rush: i16,
    pub(crate) longest_catch: i16,
    pub(crate) longest_field_goal: i16,
    pub(crate) longest_punt: i16,
    pub(crate) longest_touchdown: i16,
    pub(crate) shortest_touchdown: i16,
    pub(crate) longest_drive_plays: i16,
    pub(crate) longest_drive_yards: i16,
    pub(crate) max_lead: i16,
    pub(crate) longest_scoring_run: i16,
    /// Touchdowns by passing, by rushing, and by the defence or special teams.
    pub(crate) touchdowns_by: [i16; 3],
    /// By roster place. Places from [`PLAYERS`] on count plays that name no player.
    places: [Player; PLACES],
}

/// Places for players: a power of two, so that each code of a player is one after a mask. That of
/// [`NOBODY`](crate::play::NOBODY) is the last.
const PLACES: usize = 32;

impl Side {
    /// The named players, by roster place.
    pub(crate) fn players(&self) -> &[Player; PLAYERS] {
        self.places.first_chunk().expect("there are more places than players")
    }

    #[inline]
    fn player(&mut self, place: u8) -> &mut Player {
        &mut self.places[usize::from(place) % PLACES]
    }
}

/// One player's counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Player {
    pub(crate) attempts: i16,
    pub(crate) completions: i16,
    pub(crate) pass_yards: i16,
    pub(crate) pass_touchdowns: i16,
    pub(crate) interceptions: i16,
    pub(crate) sacked: i16,
    pub(crate) pass_long: i16,
    pub(crate) rushes: i16,
    pub(crate) rush_yards: i16,
    pub(crate) rush_touchdowns: i16,
    pub(crate) rush_long: i16,
    pub(crate) targets: i16,
    pub(crate) catches: i16,
    pub(crate) catch_yards: i16,
    pub(crate) catch_touchdowns: i16,
    pub(crate) catch_long: i16,
    pub(crate) yards_after_catch: i16,
    pub(crate) fumbles_lost: i16,
    pub(crate) half_pass_yards: i16,
    pub(crate) quarter_pass_yards: i16,
    pub(crate) half_rush_yards: i16,
    pub(crate) half_catch_yards: i16,
    pub(crate) solo: i16,
    pub(crate) assisted: i16,
    pub(crate) half_sacks: i16,
    pub(crate) taken: i16,
    pub(crate) defended: i16,
    pub(crate) forced: i16,
    pub(crate) for_loss: i16,
    /// Field goals made from under 30 yards, from the 30s, from the 40s, and from 50 or more.
    pub(crate) kicks_made: [i16; 4],
    pub(crate) half_kick_points: i16,
    pub(crate) inside_twenty: i16,
}

/// How points were scored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(i16)]
pub(crate) enum Score {
    #[default]
    None = 0,
    Touchdown = 1,
    FieldGoal = 2,
    Safety = 3,
}

/// A score, kept for the first and last ones of a game.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scored {
    pub(crate) score: Score,
    /// 0 nobody, 1 home, 2 away.
    pub(crate) side: i16,
    /// Game seconds elapsed.
    pub(crate) at: i16,
}

/// Counts of the whole game.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoxScore {
    pub(crate) sides: [Side; 2],
    pub(crate) first_score: Scored,
    pub(crate) last_score: Scored,
    pub(crate) first_touchdown: Scored,
    pub(crate) last_touchdown: Scored,
    /// Scorer of the first and last touchdown: 0 none, 1 + roster place (home), 24 + roster place (away). 47 and 48 are
    /// a defender or returner of home and away.
    pub(crate) first_touchdown_by: i16,
    pub(crate) last_touchdown_by: i16,
    pub(crate) first_field_goal: i16,
    pub(crate) lead_changes: i16,
    pub(crate) ties: i16,
    pub(crate) first_play: i16,
    pub(crate) late_score: [bool; 2],
    /// The side that first reached 10, 15, 20, 25 and 30 points.
    pub(crate) races: [i16; 5],
    pub(crate) overtime: bool,
    drive: Drive,
    leader: i16,
    run_side: i16,
    run_length: i16,
}

/// The current possession.
#[derive(Debug, Clone, Copy, Default)]
struct Drive {
    number: i8,
    yards: i16,
    first_downs: i16,
    in_red_zone: bool,
    /// Plays from scrimmage, and those that earned a first down, by down.
    by_down: [i16; 8],
    converted: [i16; 8],
    last: Option<Snap>,
}

/// The last snap of a drive. It determines how the drive ended.
#[derive(Debug, Clone, Copy)]
struct Snap {
    offence: u8,
    kind: Kind,
    outcome: Outcome,
    down: i8,
    first_down: i8,
}

impl BoxScore {
    /// Counts the plays of a game, in order.
    pub(crate) fn of(plays: &[Play]) -> Self {
        let mut game = Self::default();
        for play in plays {
            game.add(play);
        }
        game.finish();
        game
    }

    /// Counts the last drive and sums over windows, once all plays are added.
    pub(crate) fn finish(&mut self) {
        self.end_drive();
        for side in &mut self.sides {
            for quarter in &mut side.quarters {
                quarter[Stat::Yards as usize] = quarter[Stat::PassYards as usize] + quarter[Stat::RushYards as usize];
                quarter[Stat::Turnovers as usize] =
                    quarter[Stat::Interceptions as usize] + quarter[Stat::FumblesLost as usize];
            }
            side.windows = windows(&side.quarters);
        }
    }

    #[inline]
    pub(crate) fn count(&self, side: usize, stat: Stat, window: Window) -> i16 {
        self.sides[side].windows[window.place()][stat as usize]
    }
}

/// Counts over [`Window::SEVEN`] from those of the quarters and overtime.
fn windows(quarters: &[[i16; STATS]; 5]) -> [[i16; STATS]; 7] {
    let add = |a: [i16; STATS], b: [i16; STATS]| std::array::from_fn(|stat| a[stat] + b[stat]);
    let [q1, q2, q3, q4, overtime] = *quarters;
    let halves = [add(q1, q2), add(add(q3, q4), overtime)];
    [add(halves[0], halves[1]), halves[0], halves[1], q1, q2, q3, q4]
}

/// 1 if home leads, 2 if away leads, 0 if level.
#[inline]
pub(crate) fn leader<T: PartialOrd + Copy>(home: T, away: T) -> i16 {
    if home > away {
        1
    } else if away > home {
        2
    } else {
        0
    }
}
