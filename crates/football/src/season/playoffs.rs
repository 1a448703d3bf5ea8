//! The play-offs of one world.

use world::Stream;

use super::{ELO_A_POINT, Rules, Season};
use crate::league::League;

/// Factor on rating differences in the play-offs (nflseedR).
const PLAYOFF_FACTOR: f32 = 1.2;
/// Value of the top seed's week off, in Elo points (nflseedR: 25 for a week of rest).
const BYE_ELO: f32 = 25.0;
/// Standard deviation of a game's margin about its expectation (nflseedR).
const MARGIN_SPREAD: f32 = 13.0;

/// Play-offs by a simple margin model: a game's margin is normal about the rating difference.
pub(super) struct Playoffs<'a> {
    pub(super) season: &'a mut Season,
    pub(super) league: &'a League,
    pub(super) rules: &'a Rules,
    pub(super) random: Stream,
    pub(super) normal: &'a [f32; 1024],
}

impl Playoffs<'_> {
    /// Plays one conference's bracket, reseeded after each round; returns its champion. The best seeds rest in the first
    /// round, so that two, four or eight teams are left after it.
    pub(super) fn conference(&mut self, seeds: &[usize]) -> usize {
        for (i, &team) in seeds.iter().enumerate() {
            self.season.teams[team].result.seed = i as i16 + 1;
        }
        let rested = seeds.len().next_power_of_two() - seeds.len();
        let mut left: Vec<usize> = (0..seeds.len()).collect();
        for round in 0.. {
            if left.len() <= 2 {
                left.iter().for_each(|seed| self.season.teams[seeds[*seed]].result.reached_conference_final = true);
            }
            if left.len() == 1 {
                break;
            }
            let playing = left.split_off(if round == 0 { rested } else { 0 });
            for (&high, &low) in playing.iter().zip(playing.iter().rev()).take(playing.len() / 2) {
                let rest = if round == 1 && high < rested && low >= rested { BYE_ELO } else { 0.0 };
                let advantage = self.rules.home_elo(self.league.teams[seeds[high]].site) + rest;
                left.push(if self.winner(seeds[high], seeds[low], advantage) == seeds[high] { high } else { low });
            }
            left.sort_unstable();
        }
        let champion = seeds[left[0]];
        self.season.teams[champion].result.won_conference = true;
        champion
    }

    /// Plays one game with `advantage` Elo points for `host`; returns the winner.
    pub(super) fn winner(&mut self, host: usize, guest: usize, advantage: f32) -> usize {
        let difference = self.season.elo(self.league, host) - self.season.elo(self.league, guest) + advantage;
        let expected = PLAYOFF_FACTOR * difference / ELO_A_POINT;
        let draw = self.normal[(self.random.next_u32() >> 22) as usize];
        let winner = if expected + MARGIN_SPREAD * draw > 0.0 { host } else { guest };
        self.season.teams[winner].result.playoff_wins += 1;
        winner
    }
}
