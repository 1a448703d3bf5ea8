//! Plays one world: all teams from the event's start to its end.

use world::{Seed, World};

use crate::board::Board;
use crate::team_state::{NEVER, TeamState};

/// All teams in one world.
pub(crate) struct Play<'a> {
    board: &'a Board,
    pub(crate) states: Vec<TeamState<'a>>,
}

impl<'a> Play<'a> {
    /// Records the happenings of the teams for which `keeps` holds.
    pub(crate) fn new(board: &'a Board, keeps: impl Fn(usize) -> bool) -> Self {
        Self { board, states: (0..board.teams.len()).map(|team| TeamState::new(board, team, keeps(team))).collect() }
    }

    /// Plays a world.
    pub(crate) fn world(&mut self, seed: Seed, world: World) {
        self.states.iter_mut().for_each(|state| state.reset(seed, world));
        if self.board.switches.idle_until_quiet {
            self.together();
        } else {
            // Teams do not affect each other.
            self.states.iter_mut().for_each(|state| alone(state, self.board.duration));
        }
    }

    /// All teams on one clock. Idle players are scheduled only while no team has an attempt: `BingoSim`'s rule.
    fn together(&mut self) {
        let mut now = 0;
        self.states.iter_mut().for_each(|state| state.schedule_all(now));
        loop {
            let ends = self.states.iter().enumerate().map(|(team, state)| (state.next_end(), team));
            let next = ends.min_by_key(|((end, leader), team)| (*end, *team, *leader));
            match next {
                Some(((end, leader), team)) if end != NEVER => {
                    if end > self.board.duration {
                        return;
                    }
                    now = end;
                    self.states[team].end_attempt(leader, now);
                }
                _ => {
                    now = self.states.iter().map(|state| state.next_session(now)).min().unwrap_or(NEVER);
                    if now > self.board.duration {
                        return;
                    }
                    self.states.iter_mut().for_each(|state| state.schedule_all(now));
                }
            }
        }
    }

    /// Each team's share of a win, in parts of `whole`: the teams with the most points share it, or the first of them
    /// has it all.
    pub(crate) fn win_shares(&self, whole: i32) -> impl Iterator<Item = i32> {
        let most = self.states.iter().map(|state| state.points).max().unwrap_or(0);
        let winners = self.states.iter().filter(|state| state.points == most).count() as i32;
        let first = self.states.iter().position(|state| state.points == most);
        self.states.iter().enumerate().map(move |(team, state)| match self.board.switches.first_team_wins {
            true if first == Some(team) => whole,
            false if state.points == most => whole / winners,
            _ => 0,
        })
    }
}

/// One team on its own clock.
fn alone(state: &mut TeamState<'_>, duration: u32) {
    state.schedule_all(0);
    let mut session = state.next_session(0);
    loop {
        let (end, leader) = state.next_end();
        if end.min(session) > duration {
            return;
        }
        if end <= session {
            state.end_attempt(leader, end);
        } else {
            state.start_sessions(session);
            session = state.next_session(session);
        }
    }
}
