//! A season inside one world: ratings that carry from week to week, standings, play-offs, and the 54 outcomes of each
//! team.

use model::Outcome;
use world::Stream;

use crate::box_score::{BoxScore, Stat, Window};
use crate::league::{League, TEAMS, WEEKS, same_conference, same_division};
use crate::outcomes::{Emit, flag, number};
use crate::parameters::Settings;

/// Outcomes of one team's season.
pub const SEASON_OUTCOMES: usize = 54;

/// Elo points per point of margin (nflseedR).
const ELO_A_POINT: f32 = 25.0;
/// Factor on rating differences in the play-offs (nflseedR).
const PLAYOFF_FACTOR: f32 = 1.2;
/// Value of the top seed's week off, in Elo points (nflseedR: 25 for a week of rest).
const BYE_ELO: f32 = 25.0;
/// Standard deviation of a game's margin about its expectation (nflseedR).
const MARGIN_SPREAD: f32 = 13.0;
const SEEDS: usize = 7;

/// One team's season to date, in one world.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TeamSeason {
    /// Elo points gained since the start of the season.
    drift: f32,
    wins: i16,
    losses: i16,
    ties: i16,
    points_for: i16,
    points_against: i16,
    home_wins: i16,
    away_wins: i16,
    division_wins: i16,
    division_ties: i16,
    conference_wins: i16,
    conference_ties: i16,
    early_wins: i16,
    close_wins: i16,
    close_losses: i16,
    overtimes: i16,
    /// Current winning streak; negative for a losing streak.
    streak: i16,
    best_streak: i16,
    worst_streak: i16,
    opening_wins: i16,
    first_loss: i16,
    counts: [i16; COUNTS],
    most_points: i16,
    fewest_points: i16,
    biggest_win: i16,
    biggest_loss: i16,
    thirties: i16,
    /// Wins against each team of its division, by place in the division.
    against: [i8; 4],
    /// Beaten teams, one bit each.
    beaten: u32,
    result: SeasonResult,
}

#[derive(Debug, Clone, Copy, Default)]
struct SeasonResult {
    division_rank: i16,
    seed: i16,
    league_rank: i16,
    playoff_wins: i16,
    reached_conference_final: bool,
    won_conference: bool,
    won_title: bool,
}

/// Season totals of a team's game counts, in this order.
const COUNTS: usize = 16;
const COUNT_NAMES: [(&str, &str); COUNTS] = [
    ("touchdowns", "touchdowns"),
    ("pass_touchdowns", "touchdowns"),
    ("rush_touchdowns", "touchdowns"),
    ("defensive_or_return_touchdowns", "touchdowns"),
    ("field_goals", "field goals"),
    ("yards", "yards"),
    ("pass_yards", "yards"),
    ("rush_yards", "yards"),
    ("yards_allowed", "yards"),
    ("first_downs", "first downs"),
    ("sacks_made", "sacks"),
    ("sacks_allowed", "sacks"),
    ("giveaways", "turnovers"),
    ("takeaways", "turnovers"),
    ("penalties", "penalties"),
    ("penalty_yards", "yards"),
];

/// Tables of the rating system, shared by all games of a league.
pub(crate) struct Rules {
    /// ln(margin + 1), by margin.
    log_margin: [f32; 128],
    home_elo: f32,
    carry: f32,
}

impl Rules {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            log_margin: std::array::from_fn(|m| libm::logf(m.max(1) as f32 + 1.0)),
            home_elo: settings.home_edge * ELO_A_POINT,
            carry: settings.carry,
        }
    }
}

/// The season of all teams in one world.
#[derive(Debug, Clone)]
pub(crate) struct Season {
    pub(crate) teams: [TeamSeason; TEAMS],
}

impl Season {
    pub(crate) fn new() -> Self {
        Self { teams: [TeamSeason { fewest_points: i16::MAX, ..TeamSeason::default() }; TEAMS] }
    }

    fn elo(&self, league: &League, team: usize) -> f32 {
        let t = &league.teams[team];
        (t.offence + t.defence) * ELO_A_POINT + self.teams[team].drift
    }

    /// Points by which home's and away's offence are expected to beat the average against this opponent.
    pub(crate) fn edges(&self, league: &League, settings: &Settings, teams: [usize; 2]) -> [f32; 2] {
        let [home, away] = teams.map(|t| &league.teams[t]);
        let drift = (self.teams[teams[0]].drift - self.teams[teams[1]].drift) / (2.0 * ELO_A_POINT);
        let edge = settings.home_edge / 2.0;
        [home.offence - away.defence + drift + edge, away.offence - home.defence - drift - edge]
    }

    /// Adds a finished game to both teams' seasons.
    pub(crate) fn add(&mut self, league: &League, rules: &Rules, week: usize, teams: [usize; 2], game: &BoxScore) {
        let points = [0, 1].map(|side| game.count(side, Stat::Points, Window::Game));
        self.carry(league, rules, teams, points[0] - points[1]);
        for side in 0..2 {
            let (us, them) = (teams[side], teams[1 - side]);
            let team = &mut self.teams[us];
            team.add_result(week, side == 0, us, them, [points[side], points[1 - side]], game.overtime);
            team.add_counts(game, side);
        }
    }

    /// The Elo system of nflseedR: a result moves both ratings by K, times its surprise and its clarity.
    fn carry(&mut self, league: &League, rules: &Rules, teams: [usize; 2], margin: i16) {
        let difference = self.elo(league, teams[0]) - self.elo(league, teams[1]) + rules.home_elo;
        let expected = 1.0 / (1.0 + libm::exp10f(-difference / 400.0));
        let outcome = match margin.signum() {
            1 => 1.0,
            -1 => 0.0,
            _ => 0.5,
        };
        let towards_winner = if margin >= 0 { difference } else { -difference };
        let clarity = rules.log_margin[margin.unsigned_abs().min(127) as usize] * 2.2 / (towards_winner * 0.001 + 2.2);
        let shift = rules.carry * clarity * (outcome - expected);
        self.teams[teams[0]].drift += shift;
        self.teams[teams[1]].drift -= shift;
    }

    /// Ranks divisions, conferences and the league, and plays the play-offs.
    pub(crate) fn finish(&mut self, league: &League, rules: &Rules, mut random: Stream, normal: &[f32; 1024]) {
        let coins: [u32; TEAMS] = std::array::from_fn(|_| random.next_u32());
        let standing = Standing { season: self, coins, strength: self.strength_of_victory() };
        let divisions: Vec<Vec<usize>> =
            (0..TEAMS / 4).map(|d| standing.division((4 * d..4 * d + 4).collect())).collect();
        let mut league_order: Vec<usize> = (0..TEAMS).collect();
        league_order.sort_by(|&a, &b| standing.compare(b, a));
        let seeds = [0, 1].map(|conference| standing.seeds(&divisions[4 * conference..4 * conference + 4]));
        for division in &divisions {
            for (rank, &team) in division.iter().enumerate() {
                self.teams[team].result.division_rank = rank as i16 + 1;
            }
        }
        for (rank, &team) in league_order.iter().enumerate() {
            self.teams[team].result.league_rank = rank as i16 + 1;
        }
        let mut playoffs = Playoffs { season: self, league, home_elo: rules.home_elo, random, normal };
        let champions = seeds.map(|seeds| playoffs.conference(&seeds));
        let champion = playoffs.winner(champions[0], champions[1], 0.0);
        self.teams[champion].result.won_title = true;
    }

    /// Wins of the teams that each team beat, per beaten team.
    fn strength_of_victory(&self) -> [f32; TEAMS] {
        std::array::from_fn(|team| {
            let beaten = self.teams[team].beaten;
            let wins: i32 = (0..TEAMS)
                .filter(|other| beaten >> other & 1 == 1)
                .map(|other| i32::from(self.teams[other].wins))
                .sum();
            wins as f32 / beaten.count_ones().max(1) as f32
        })
    }
}

impl TeamSeason {
    fn add_result(&mut self, week: usize, home: bool, us: usize, them: usize, points: [i16; 2], overtime: bool) {
        let margin = points[0] - points[1];
        let (division, conference) = (same_division(us, them), same_conference(us, them));
        self.points_for += points[0];
        self.points_against += points[1];
        self.most_points = self.most_points.max(points[0]);
        self.fewest_points = self.fewest_points.min(points[0]);
        self.thirties += i16::from(points[0] >= 30);
        self.overtimes += i16::from(overtime);
        match margin.signum() {
            1 => {
                self.wins += 1;
                self.home_wins += i16::from(home);
                self.away_wins += i16::from(!home);
                self.division_wins += i16::from(division);
                self.conference_wins += i16::from(conference);
                self.early_wins += i16::from(week < WEEKS / 2);
                self.close_wins += i16::from(margin <= 8);
                self.biggest_win = self.biggest_win.max(margin);
                self.streak = self.streak.max(0) + 1;
                self.best_streak = self.best_streak.max(self.streak);
                self.beaten |= 1 << them;
                if division {
                    self.against[them % 4] += 1;
                }
            }
            -1 => {
                self.losses += 1;
                self.close_losses += i16::from(margin >= -8);
                self.biggest_loss = self.biggest_loss.max(-margin);
                self.streak = self.streak.min(0) - 1;
                self.worst_streak = self.worst_streak.max(-self.streak);
                if self.first_loss == 0 {
                    self.first_loss = week as i16 + 1;
                }
            }
            _ => {
                self.ties += 1;
                self.division_ties += i16::from(division);
                self.conference_ties += i16::from(conference);
                self.streak = 0;
            }
        }
        if self.wins == week as i16 + 1 {
            self.opening_wins = self.wins;
        }
    }

    fn add_counts(&mut self, score: &BoxScore, us: usize) {
        let them = 1 - us;
        let of = |side: usize, stat: Stat| score.count(side, stat, Window::Game);
        let yards = |side: usize| of(side, Stat::PassYards) + of(side, Stat::RushYards);
        let turnovers = |side: usize| of(side, Stat::Interceptions) + of(side, Stat::FumblesLost);
        let [pass, rush, other] = score.sides[us].touchdowns_by;
        let game: [i16; COUNTS] = [
            of(us, Stat::Touchdowns),
            pass,
            rush,
            other,
            of(us, Stat::FieldGoals),
            yards(us),
            of(us, Stat::PassYards),
            of(us, Stat::RushYards),
            yards(them),
            of(us, Stat::FirstDowns),
            of(them, Stat::SacksAllowed),
            of(us, Stat::SacksAllowed),
            turnovers(us),
            turnovers(them),
            of(us, Stat::Penalties),
            of(us, Stat::PenaltyYards),
        ];
        for (sum, count) in self.counts.iter_mut().zip(game) {
            *sum += count;
        }
    }

    /// The 54 outcomes, in order.
    pub(crate) fn emit(&self, e: &mut impl Emit) {
        let r = &self.result;
        let mut put = |name: &str, unit: &str, value: i16| e.put(|| number(name, unit), value);
        put("wins", "games", self.wins);
        put("losses", "games", self.losses);
        put("ties", "games", self.ties);
        put("points_for", "points", self.points_for);
        put("points_against", "points", self.points_against);
        put("point_difference", "points", self.points_for - self.points_against);
        put("home_wins", "games", self.home_wins);
        put("away_wins", "games", self.away_wins);
        put("division_wins", "games", self.division_wins);
        put("conference_wins", "games", self.conference_wins);
        put("first_half_wins", "games in weeks 1 to 9", self.early_wins);
        put("one_score_wins", "games won by 8 or less", self.close_wins);
        put("one_score_losses", "games lost by 8 or less", self.close_losses);
        put("overtime_games", "games", self.overtimes);
        put("longest_winning_streak", "games", self.best_streak);
        put("longest_losing_streak", "games", self.worst_streak);
        put("opening_winning_streak", "games", self.opening_wins);
        put("week_of_first_loss", "week; 0 none", self.first_loss);
        put("division_rank", "1 to 4", r.division_rank);
        put("conference_seed", "1 to 7; 0 none", r.seed);
        put("league_rank", "1 to 32", r.league_rank);
        put("draft_slot", "1 to 32, the worst record first", TEAMS as i16 + 1 - r.league_rank);
        put("playoff_wins", "games", r.playoff_wins);
        for ((name, unit), value) in COUNT_NAMES.into_iter().zip(self.counts) {
            put(name, unit, value);
        }
        put("most_points", "points in a game", self.most_points);
        put("fewest_points", "points in a game", self.fewest_points);
        put("biggest_win", "points; 0 none", self.biggest_win);
        put("biggest_loss", "points; 0 none", self.biggest_loss);
        put("games_of_30_points", "games", self.thirties);
        let mut mark = |name: &str, holds: bool| e.put(|| flag(name), i16::from(holds));
        mark("won_division", r.division_rank == 1);
        mark("wild_card", r.seed > 4);
        mark("made_playoffs", r.seed > 0);
        mark("first_seed", r.seed == 1);
        mark("reached_conference_final", r.reached_conference_final);
        mark("won_conference", r.won_conference);
        mark("won_title", r.won_title);
        mark("last_in_division", r.division_rank == 4);
        mark("unbeaten", self.losses == 0);
        mark("winless", self.wins == 0);
    }
}

/// The names of a season's outcomes, in order.
pub(crate) fn season_outcomes() -> Vec<Outcome> {
    let mut list = Vec::with_capacity(SEASON_OUTCOMES);
    TeamSeason::default().emit(&mut list);
    list
}

/// Order of teams: by record; inside a division by head-to-head and division record; then by conference record,
/// strength of victory, net points and lot.
struct Standing<'a> {
    season: &'a Season,
    coins: [u32; TEAMS],
    strength: [f32; TEAMS],
}

impl Standing<'_> {
    fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let key = |team: usize| {
            let t = &self.season.teams[team];
            (2 * t.wins + t.ties, 2 * t.conference_wins + t.conference_ties)
        };
        let net = |team: usize| {
            let t = &self.season.teams[team];
            t.points_for - t.points_against
        };
        key(a)
            .cmp(&key(b))
            .then(self.strength[a].total_cmp(&self.strength[b]))
            .then(net(a).cmp(&net(b)))
            .then(self.coins[a].cmp(&self.coins[b]))
    }

    /// The teams of a division, best first.
    fn division(&self, mut teams: Vec<usize>) -> Vec<usize> {
        let all = teams.clone();
        let record = |team: usize| {
            let t = &self.season.teams[team];
            2 * t.wins + t.ties
        };
        let among_level = |team: usize| -> i16 {
            let level = all.iter().filter(|&&other| record(other) == record(team));
            level.map(|&other| i16::from(self.season.teams[team].against[other % 4])).sum()
        };
        let inside = |team: usize| {
            let t = &self.season.teams[team];
            2 * t.division_wins + t.division_ties
        };
        teams.sort_by(|&a, &b| {
            let key = |team| (record(team), among_level(team), inside(team));
            key(b).cmp(&key(a)).then_with(|| self.compare(b, a))
        });
        teams
    }

    /// The seven seeds of a conference: the division winners, then the best other teams.
    fn seeds(&self, divisions: &[Vec<usize>]) -> [usize; SEEDS] {
        let mut winners: Vec<usize> = divisions.iter().map(|d| d[0]).collect();
        let mut others: Vec<usize> = divisions.iter().flat_map(|d| d[1..].iter().copied()).collect();
        winners.sort_by(|&a, &b| self.compare(b, a));
        others.sort_by(|&a, &b| self.compare(b, a));
        std::array::from_fn(|i| if i < 4 { winners[i] } else { others[i - 4] })
    }
}

/// Play-offs by a simple margin model: a game's margin is normal about the rating difference.
struct Playoffs<'a> {
    season: &'a mut Season,
    league: &'a League,
    home_elo: f32,
    random: Stream,
    normal: &'a [f32; 1024],
}

impl Playoffs<'_> {
    /// Plays one conference's bracket, reseeded after each round; returns its champion.
    fn conference(&mut self, seeds: &[usize; SEEDS]) -> usize {
        for (i, &team) in seeds.iter().enumerate() {
            self.season.teams[team].result.seed = i as i16 + 1;
        }
        let host = self.home_elo;
        let mut left = vec![0];
        for (high, low) in [(1, 6), (2, 5), (3, 4)] {
            left.push(if self.winner(seeds[high], seeds[low], host) == seeds[high] { high } else { low });
        }
        left.sort_unstable();
        let first = self.winner(seeds[left[0]], seeds[left[3]], host + BYE_ELO);
        let second = self.winner(seeds[left[1]], seeds[left[2]], host);
        for team in [first, second] {
            self.season.teams[team].result.reached_conference_final = true;
        }
        let better = |team: usize| self.season.teams[team].result.seed;
        let (high, low) = if better(first) < better(second) { (first, second) } else { (second, first) };
        let champion = self.winner(high, low, host);
        self.season.teams[champion].result.won_conference = true;
        champion
    }

    /// Plays one game with `advantage` Elo points for `host`; returns the winner.
    fn winner(&mut self, host: usize, guest: usize, advantage: f32) -> usize {
        let difference = self.season.elo(self.league, host) - self.season.elo(self.league, guest) + advantage;
        let expected = PLAYOFF_FACTOR * difference / ELO_A_POINT;
        let draw = self.normal[(self.random.next_u32() >> 22) as usize];
        let winner = if expected + MARGIN_SPREAD * draw > 0.0 { host } else { guest };
        self.season.teams[winner].result.playoff_wins += 1;
        winner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_has_54_outcomes_of_different_names() {
        let names: std::collections::BTreeSet<_> = season_outcomes().into_iter().map(|o| o.name).collect();
        assert_eq!(names.len(), SEASON_OUTCOMES);
    }
}
