//! A season inside one world: ratings that carry from week to week, standings, play-offs, and the 54 outcomes of each
//! team.

mod playoffs;

use std::fmt::Display;

use model::Outcome;
use world::Stream;

use crate::box_score::{BoxScore, Stat, Window};
use crate::league::{Fixture, League, Site};
use crate::outcomes::{Emit, flag, number};
use crate::parameters::Settings;
use playoffs::Playoffs;

/// Outcomes of one team's season.
pub const SEASON_OUTCOMES: usize = 54;

/// Elo points per point of margin (nflseedR).
const ELO_A_POINT: f32 = 25.0;
/// Points of both offences' edges for one more point of both sides together, measured.
const SCORING_EDGE: f32 = 0.9;
/// Teams of a league at most: [`TeamSeason`] has a bit for each.
pub(crate) const TEAMS_MAX: usize = 64;
/// Teams of a division at most.
pub(crate) const DIVISION_MAX: usize = 16;

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
    against: [i8; DIVISION_MAX],
    /// Beaten teams, one bit each.
    beaten: u64,
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
    home_edge: f32,
    carry: f32,
    /// Weeks of the first half of the season.
    early_weeks: usize,
    /// The place of each team in its division.
    seats: Vec<usize>,
}

impl Rules {
    pub(crate) fn new(settings: &Settings, league: &League) -> Self {
        let division = |team: usize| &league.divisions[league.teams[team].division];
        let seat = |team: usize| division(team).iter().position(|t| *t == team).unwrap_or_default();
        Self {
            log_margin: std::array::from_fn(|m| libm::logf(m.max(1) as f32 + 1.0)),
            home_edge: settings.home_edge,
            carry: settings.carry,
            early_weeks: league.weeks / 2,
            seats: (0..league.teams.len()).map(seat).collect(),
        }
    }

    /// The home advantage at a place, in Elo points.
    fn home_elo(&self, site: Site) -> f32 {
        site.home_edge.unwrap_or(self.home_edge) * ELO_A_POINT
    }
}

/// The season of all teams in one world.
#[derive(Debug, Clone)]
pub(crate) struct Season {
    pub(crate) teams: Vec<TeamSeason>,
}

impl Season {
    pub(crate) fn new(teams: usize) -> Self {
        Self { teams: vec![TeamSeason { fewest_points: i16::MAX, ..TeamSeason::default() }; teams] }
    }

    fn elo(&self, league: &League, team: usize) -> f32 {
        let t = &league.teams[team];
        (t.offence + t.defence) * ELO_A_POINT + self.teams[team].drift
    }

    /// Points by which home's and away's offence are expected to beat the average against this opponent.
    pub(crate) fn edges(&self, league: &League, settings: &Settings, fixture: &Fixture) -> [f32; 2] {
        let Fixture { teams, site, .. } = fixture;
        let [home, away] = teams.map(|t| &league.teams[t]);
        let drift = (self.teams[teams[0]].drift - self.teams[teams[1]].drift) / (2.0 * ELO_A_POINT);
        let edge = site.home_edge.unwrap_or(settings.home_edge) / 2.0;
        [home.offence - away.defence + drift + edge, away.offence - home.defence - drift - edge]
            .map(|side| side + SCORING_EDGE * site.scoring)
    }

    /// Adds a finished game to both teams' seasons.
    pub(crate) fn add(&mut self, league: &League, rules: &Rules, fixture: &Fixture, game: &BoxScore) {
        let points = [0, 1].map(|side| game.count(side, Stat::Points, Window::Game));
        self.carry(league, rules, fixture, points[0] - points[1]);
        for side in 0..2 {
            let (us, them) = (fixture.teams[side], fixture.teams[1 - side]);
            let team = &mut self.teams[us];
            let opponent = Opponent {
                team: them,
                seat: rules.seats[them],
                same_division: league.same_division(us, them),
                same_conference: league.same_conference(us, them),
                early: fixture.week < rules.early_weeks,
            };
            team.add_result(fixture, side == 0, &opponent, [points[side], points[1 - side]], game.overtime);
            team.add_counts(game, side);
        }
    }

    /// The Elo system of nflseedR: a result moves both ratings by K, times its surprise and its clarity.
    fn carry(&mut self, league: &League, rules: &Rules, fixture: &Fixture, margin: i16) {
        let teams = fixture.teams;
        let difference = self.elo(league, teams[0]) - self.elo(league, teams[1]) + rules.home_elo(fixture.site);
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
        let teams = self.teams.len();
        let coins = (0..teams).map(|_| random.next_u32()).collect();
        let standing = Standing { season: self, coins, strength: self.strength_of_victory() };
        let divisions: Vec<Vec<usize>> = league.divisions.iter().map(|division| standing.division(division)).collect();
        let mut league_order: Vec<usize> = (0..teams).collect();
        league_order.sort_by(|&a, &b| standing.compare(b, a));
        let of_conference = |c: usize| league.divisions_of(c).map(|d| divisions[d].as_slice()).collect::<Vec<_>>();
        let seeds: Vec<Vec<usize>> =
            (0..league.conferences).map(|c| standing.seeds(&of_conference(c), league.seeds)).collect();
        for division in &divisions {
            for (rank, &team) in division.iter().enumerate() {
                self.teams[team].result.division_rank = rank as i16 + 1;
            }
        }
        for (rank, &team) in league_order.iter().enumerate() {
            self.teams[team].result.league_rank = rank as i16 + 1;
        }
        let mut playoffs = Playoffs { season: self, league, rules, random, normal };
        let champions: Vec<usize> = seeds.iter().map(|seeds| playoffs.conference(seeds)).collect();
        let champion = match champions[..] {
            [one, other] => playoffs.winner(one, other, 0.0),
            _ => champions[0],
        };
        self.teams[champion].result.won_title = true;
    }

    /// Wins of the teams that each team beat, per beaten team.
    fn strength_of_victory(&self) -> Vec<f32> {
        let strength = |team: &TeamSeason| {
            let beaten = self.teams.iter().enumerate().filter(|(other, _)| team.beaten >> other & 1 == 1);
            let wins: i32 = beaten.map(|(_, other)| i32::from(other.wins)).sum();
            wins as f32 / team.beaten.count_ones().max(1) as f32
        };
        self.teams.iter().map(strength).collect()
    }
}

/// The other team of a game, from one side.
struct Opponent {
    team: usize,
    /// Its place in its division.
    seat: usize,
    same_division: bool,
    same_conference: bool,
    /// Whether the game is in the first half of the season.
    early: bool,
}

impl TeamSeason {
    fn add_result(&mut self, fixture: &Fixture, home: bool, them: &Opponent, points: [i16; 2], overtime: bool) {
        let margin = points[0] - points[1];
        let (division, conference) = (them.same_division, them.same_conference);
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
                self.early_wins += i16::from(them.early);
                self.close_wins += i16::from(margin <= 8);
                self.biggest_win = self.biggest_win.max(margin);
                self.streak = self.streak.max(0) + 1;
                self.best_streak = self.best_streak.max(self.streak);
                self.beaten |= 1 << them.team;
                if division {
                    self.against[them.seat] += 1;
                }
            }
            -1 => {
                self.losses += 1;
                self.close_losses += i16::from(margin >= -8);
                self.biggest_loss = self.biggest_loss.max(-margin);
                self.streak = self.streak.min(0) - 1;
                self.worst_streak = self.worst_streak.max(-self.streak);
                if self.first_loss == 0 {
                    self.first_loss = fixture.week as i16 + 1;
                }
            }
            _ => {
                self.ties += 1;
                self.division_ties += i16::from(division);
                self.conference_ties += i16::from(conference);
                self.streak = 0;
            }
        }
        if self.losses == 0 && self.ties == 0 {
            self.opening_wins = self.wins;
        }
    }

    fn add_counts(&mut self, score: &BoxScore, us: usize) {
        let them = 1 - us;
        let of = |side: usize, stat: Stat| score.count(side, stat, Window::Game);
        let [pass, rush, other] = score.sides[us].touchdowns_by;
        let game: [i16; COUNTS] = [
            of(us, Stat::Touchdowns),
            pass,
            rush,
            other,
            of(us, Stat::FieldGoals),
            of(us, Stat::Yards),
            of(us, Stat::PassYards),
            of(us, Stat::RushYards),
            of(them, Stat::Yards),
            of(us, Stat::FirstDowns),
            of(them, Stat::SacksAllowed),
            of(us, Stat::SacksAllowed),
            of(us, Stat::Turnovers),
            of(them, Stat::Turnovers),
            of(us, Stat::Penalties),
            of(us, Stat::PenaltyYards),
        ];
        for (sum, count) in self.counts.iter_mut().zip(game) {
            *sum += count;
        }
    }

    /// The 54 outcomes of a team, in order.
    pub(crate) fn emit(&self, league: &League, team: usize, e: &mut impl Emit) {
        let r = &self.result;
        let (teams, of) = (league.teams.len() as i16, &league.teams[team]);
        let rivals = league.divisions[of.division].len() as i16;
        let largest = league.divisions.iter().map(Vec::len).max().unwrap_or_default();
        let winners = league.divisions_of(of.conference).count() as i16;
        put(e, "wins", "games", self.wins);
        put(e, "losses", "games", self.losses);
        put(e, "ties", "games", self.ties);
        put(e, "points_for", "points", self.points_for);
        put(e, "points_against", "points", self.points_against);
        put(e, "point_difference", "points", self.points_for - self.points_against);
        put(e, "home_wins", "games", self.home_wins);
        put(e, "away_wins", "games", self.away_wins);
        put(e, "division_wins", "games", self.division_wins);
        put(e, "conference_wins", "games", self.conference_wins);
        put(e, "first_half_wins", format_args!("games in weeks 1 to {}", league.weeks / 2), self.early_wins);
        put(e, "one_score_wins", "games won by 8 or less", self.close_wins);
        put(e, "one_score_losses", "games lost by 8 or less", self.close_losses);
        put(e, "overtime_games", "games", self.overtimes);
        put(e, "longest_winning_streak", "games", self.best_streak);
        put(e, "longest_losing_streak", "games", self.worst_streak);
        put(e, "opening_winning_streak", "games", self.opening_wins);
        put(e, "week_of_first_loss", "week; 0 none", self.first_loss);
        put(e, "division_rank", format_args!("1 to {largest}"), r.division_rank);
        put(e, "conference_seed", format_args!("1 to {}; 0 none", league.seeds), r.seed);
        put(e, "league_rank", format_args!("1 to {teams}"), r.league_rank);
        put(e, "draft_slot", format_args!("1 to {teams}, the worst record first"), teams + 1 - r.league_rank);
        put(e, "playoff_wins", "games", r.playoff_wins);
        for ((name, unit), value) in COUNT_NAMES.into_iter().zip(self.counts) {
            put(e, name, unit, value);
        }
        put(e, "most_points", "points in a game", self.most_points);
        put(e, "fewest_points", "points in a game", self.fewest_points);
        put(e, "biggest_win", "points; 0 none", self.biggest_win);
        put(e, "biggest_loss", "points; 0 none", self.biggest_loss);
        put(e, "games_of_30_points", "games", self.thirties);
        let mut mark = |name: &str, holds: bool| e.put(|| flag(name), i16::from(holds));
        mark("won_division", r.division_rank == 1);
        mark("wild_card", r.seed > winners);
        mark("made_playoffs", r.seed > 0);
        mark("first_seed", r.seed == 1);
        mark("reached_conference_final", r.reached_conference_final);
        mark("won_conference", r.won_conference);
        mark("won_title", r.won_title);
        mark("last_in_division", r.division_rank == rivals);
        mark("unbeaten", self.losses == 0);
        mark("winless", self.wins == 0);
    }
}

/// Puts a number, and formats its unit only where the name is wanted.
#[inline]
fn put(e: &mut impl Emit, name: &str, unit: impl Display, value: i16) {
    e.put(|| number(name, &unit.to_string()), value);
}

/// The names of a season's outcomes, in order.
pub(crate) fn season_outcomes(league: &League) -> Vec<Outcome> {
    let mut list = Vec::with_capacity(SEASON_OUTCOMES);
    TeamSeason::default().emit(league, 0, &mut list);
    list
}

/// Order of teams: by record; inside a division by head-to-head and division record; then by conference record,
/// strength of victory, net points and lot.
struct Standing<'a> {
    season: &'a Season,
    coins: Vec<u32>,
    strength: Vec<f32>,
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
    fn division(&self, all: &[usize]) -> Vec<usize> {
        let mut teams = all.to_vec();
        let record = |team: usize| {
            let t = &self.season.teams[team];
            2 * t.wins + t.ties
        };
        let among_level = |team: usize| -> i16 {
            let level =
                all.iter().zip(self.season.teams[team].against).filter(|(other, _)| record(**other) == record(team));
            level.map(|(_, wins)| i16::from(wins)).sum()
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

    /// The seeds of a conference: the division winners, then the best other teams.
    fn seeds(&self, divisions: &[&[usize]], count: usize) -> Vec<usize> {
        let mut winners: Vec<usize> = divisions.iter().map(|d| d[0]).collect();
        let mut others: Vec<usize> = divisions.iter().flat_map(|d| d[1..].iter().copied()).collect();
        winners.sort_by(|&a, &b| self.compare(b, a));
        others.sort_by(|&a, &b| self.compare(b, a));
        winners.into_iter().chain(others).take(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_season_has_54_outcomes_of_different_names() {
        let parameters = model::Parameters::parse(crate::PARAMETERS, []).unwrap();
        let league = League::generate(&Settings::new(&parameters));
        let names: std::collections::BTreeSet<_> = season_outcomes(&league).into_iter().map(|o| o.name).collect();
        assert_eq!(names.len(), SEASON_OUTCOMES);
    }
}
