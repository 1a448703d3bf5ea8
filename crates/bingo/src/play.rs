//! Plays one world: all teams from the event's start to its end.

use world::{Seed, World};

use crate::board::Board;
use crate::side::{NEVER, Side};

/// All teams in one world.
pub(crate) struct Play<'a> {
    board: &'a Board,
    pub(crate) sides: Vec<Side<'a>>,
}

impl<'a> Play<'a> {
    /// Records the happenings of the teams for which `keeps` holds.
    pub(crate) fn new(board: &'a Board, keeps: impl Fn(usize) -> bool) -> Self {
        Self { board, sides: (0..board.teams.len()).map(|team| Side::new(board, team, keeps(team))).collect() }
    }

    /// Plays a world.
    pub(crate) fn world(&mut self, seed: Seed, world: World) {
        self.sides.iter_mut().for_each(|side| side.reset(seed, world));
        if self.board.switches.idle_until_quiet {
            self.together();
        } else {
            // Teams do not affect each other.
            self.sides.iter_mut().for_each(|side| alone(side, self.board.duration));
        }
    }

    /// All teams on one clock. Idle players are scheduled only while no team has an attempt: `BingoSim`'s rule.
    fn together(&mut self) {
        let mut now = 0;
        self.sides.iter_mut().for_each(|side| side.schedule_all(now));
        loop {
            let ends = self.sides.iter().enumerate().map(|(team, side)| (side.next_end(), team));
            let next = ends.min_by_key(|((end, leader), team)| (*end, *team, *leader));
            match next {
                Some(((end, leader), team)) if end != NEVER => {
                    if end > self.board.duration {
                        return;
                    }
                    now = end;
                    self.sides[team].end_attempt(leader, now);
                }
                _ => {
                    now = self.sides.iter().map(|side| side.next_session(now)).min().unwrap_or(NEVER);
                    if now > self.board.duration {
                        return;
                    }
                    self.sides.iter_mut().for_each(|side| side.schedule_all(now));
                }
            }
        }
    }

    /// Each team's share of a win, in parts of `whole`: the teams with the most points share it, or the first of them
    /// has it all.
    pub(crate) fn win_shares(&self, whole: i32) -> impl Iterator<Item = i32> {
        let most = self.sides.iter().map(|side| side.points).max().unwrap_or(0);
        let winners = self.sides.iter().filter(|side| side.points == most).count() as i32;
        let first = self.sides.iter().position(|side| side.points == most);
        self.sides.iter().enumerate().map(move |(team, side)| match self.board.switches.first_team_wins {
            true if first == Some(team) => whole,
            false if side.points == most => whole / winners,
            _ => 0,
        })
    }
}

/// One team on its own clock.
fn alone(side: &mut Side<'_>, duration: u32) {
    side.schedule_all(0);
    let mut session = side.next_session(0);
    loop {
        let (end, leader) = side.next_end();
        if end.min(session) > duration {
            return;
        }
        if end <= session {
            side.end_attempt(leader, end);
        } else {
            side.start_sessions(session);
            session = side.next_session(session);
        }
    }
}
