//! Identities that hold in every world: parts sum to wholes, and results follow from scores.

use model::Identity;

use crate::game::MERCY_POINTS;
use crate::league::{League, Team};
use crate::roster::ROSTER;
use crate::{GAME_KIND, TEAM_KIND};

/// Team statistics by half and by quarter.
const BY_QUARTER: [&str; 7] =
    ["points", "touchdowns", "field_goals", "yards", "pass_yards", "rush_yards", "first_downs"];
/// Team statistics by half.
const BY_HALF: [&str; 8] = [
    "plays",
    "interceptions_thrown",
    "fumbles_lost",
    "sacks_allowed",
    "penalties",
    "penalty_yards",
    "possession",
    "turnovers",
];

/// All identities of the league's games and seasons.
pub(crate) fn identities(league: &League) -> Vec<Identity> {
    let game = |condition: String| Identity { kind: Some(GAME_KIND), condition };
    let team = |condition: &str| Identity { kind: Some(TEAM_KIND), condition: condition.to_owned() };
    let mut list: Vec<Identity> = whole_game().into_iter().map(game).collect();
    for side in ["home", "away"] {
        list.extend(windows(side).into_iter().chain(players(side)).chain(scoring(side)).map(game));
    }
    list.extend([
        team("home_wins + away_wins = wins"),
        team("point_difference = points_for - points_against"),
        team(&format!("draft_slot = {} - league_rank", league.teams.len() + 1)),
        team("pass_yards + rush_yards = yards"),
        team("made_playoffs = min(conference_seed, 1)"),
        team("won_title <= won_conference and won_conference <= reached_conference_final"),
        team("wild_card + won_division = made_playoffs"),
    ]);
    list.extend(games(league));
    list.extend(seasons(league).into_iter().map(|condition| Identity { kind: None, condition }));
    list
}

fn whole_game() -> Vec<String> {
    let ended_early =
        |window| format!("home_points{window} >= {MERCY_POINTS} or away_points{window} >= {MERCY_POINTS}");
    let mut list = vec![
        "(winner = 1 and home_margin > 0) or (winner = 2 and home_margin < 0) or (winner = 0 and home_margin = 0)"
            .to_owned(),
        "home_won + away_won = min(winner, 1)".to_owned(),
        "home_max_lead = away_max_deficit and away_max_lead = home_max_deficit".to_owned(),
        "total_sacks = home_sacks_allowed + away_sacks_allowed".to_owned(),
        "overtime = 1 or home_points_h2 = home_points_q3 + home_points_q4".to_owned(),
        format!("{} or home_possession_h1 + away_possession_h1 = 1800", ended_early("_h1")),
        format!("{} or overtime = 1 or home_possession + away_possession = 3600", ended_early("")),
    ];
    for window in ["", "_h1", "_h2", "_q1", "_q2", "_q3", "_q4"] {
        list.push(format!("total_points{window} = home_points{window} + away_points{window}"));
        list.push(format!("home_margin{window} = home_points{window} - away_points{window}"));
    }
    for total in ["touchdowns", "field_goals", "turnovers", "penalties", "plays", "drives", "punts", "yards"] {
        list.push(format!("total_{total} = home_{total} + away_{total}"));
    }
    list
}

fn windows(side: &str) -> Vec<String> {
    let halves = |stat: &str| format!("{side}_{stat}_h1 + {side}_{stat}_h2 = {side}_{stat}");
    let quarters = |stat: &str| format!("{side}_{stat}_q1 + {side}_{stat}_q2 = {side}_{stat}_h1");
    let mut list: Vec<String> = BY_QUARTER.iter().chain(&BY_HALF).map(|stat| halves(stat)).collect();
    list.extend(BY_QUARTER.iter().map(|stat| quarters(stat)));
    list.push(format!("{side}_yards = {side}_pass_yards + {side}_rush_yards"));
    list.push(format!("{side}_turnovers = {side}_interceptions_thrown + {side}_fumbles_lost"));
    list
}

/// The players' statistics sum to their team's.
fn players(side: &str) -> Vec<String> {
    let sum = |roles: &[&str], stat: &str| {
        let terms: Vec<String> = roles.iter().map(|role| format!("{side}_{role}_{stat}")).collect();
        terms.join(" + ")
    };
    let (quarterbacks, backs, receivers) = (&ROSTER[0..2], &ROSTER[2..6], &ROSTER[6..15]);
    let runners = &ROSTER[0..6];
    let catchers = &ROSTER[2..15];
    vec![
        format!("{} = {side}_pass_yards", sum(quarterbacks, "pass_yards")),
        format!("{} = {side}_pass_yards", sum(catchers, "catch_yards")),
        format!("{} = {side}_rush_yards", sum(runners, "rush_yards")),
        format!("{} = {}", sum(quarterbacks, "completions"), sum(catchers, "catches")),
        // A pass thrown away is an attempt without a target.
        format!("{} >= {}", sum(quarterbacks, "attempts"), sum(catchers, "targets")),
        format!("{} = {}", sum(quarterbacks, "pass_touchdowns"), sum(catchers, "catch_touchdowns")),
        format!("{} = {side}_interceptions_thrown", sum(quarterbacks, "interceptions")),
        format!("{} = {side}_sacks_allowed", sum(quarterbacks, "sacked")),
        format!(
            "{} + {} + {} = {side}_fumbles_lost",
            sum(quarterbacks, "fumbles_lost"),
            sum(backs, "fumbles_lost"),
            sum(receivers, "fumbles_lost")
        ),
        format!("{side}_k_field_goals = {side}_field_goals"),
        format!("{side}_p_punts = {side}_punts"),
    ]
}

fn scoring(side: &str) -> Vec<String> {
    vec![
        format!(
            "{side}_points = 6 * {side}_touchdowns + {side}_extra_points_made + 2 * {side}_two_points_made \
             + 3 * {side}_field_goals + 2 * {side}_safeties"
        ),
        format!(
            "{side}_drives >= {side}_drives_ended_by_touchdown + {side}_drives_ended_by_field_goal \
             + {side}_drives_ended_by_punt + {side}_drives_ended_by_turnover + {side}_drives_ended_by_downs"
        ),
        format!("{side}_red_zone_touchdowns <= {side}_red_zone_trips"),
        format!("{side}_third_down_conversions <= {side}_third_down_attempts"),
    ]
}

/// Wins, losses and ties are a team's games: in most leagues the same number for every team.
fn games(league: &League) -> Vec<Identity> {
    let counts: Vec<usize> = (0..league.teams.len()).map(|team| league.games_of(team).count()).collect();
    if counts.iter().all(|count| *count == counts[0]) {
        let condition = format!("wins + losses + ties = {}", counts[0]);
        return vec![Identity { kind: Some(TEAM_KIND), condition }];
    }
    let of = |(team, count): (&Team, usize)| {
        let id = &team.id;
        Identity { kind: None, condition: format!("{id}:wins + {id}:losses + {id}:ties = {count}") }
    };
    league.teams.iter().zip(counts).map(of).collect()
}

/// Seasons follow from the games, and wins and losses balance over the league.
fn seasons(league: &League) -> Vec<String> {
    let over_teams = |stat: &str| {
        let terms: Vec<String> = league.teams.iter().map(|team| format!("{}:{stat}", team.id)).collect();
        terms.join(" + ")
    };
    let teams = league.teams.len();
    let mut list = vec![
        format!("{} = {}", over_teams("wins"), over_teams("losses")),
        format!("{} = {}", over_teams("points_for"), over_teams("points_against")),
        format!("{} = {}", over_teams("giveaways"), over_teams("takeaways")),
        format!("{} = {}", over_teams("made_playoffs"), league.conferences * league.seeds),
        format!("{} = {}", over_teams("won_division"), league.divisions.len()),
        format!("{} = 1", over_teams("won_title")),
        format!("{} = {}", over_teams("league_rank"), teams * (teams + 1) / 2),
    ];
    for (place, team) in league.teams.iter().enumerate() {
        let id = &team.id;
        for (season, of_game) in [("points_for", "points"), ("wins", "won"), ("yards", "yards")] {
            let term = |(game, side): (usize, usize)| {
                format!("{}:{}_{of_game}", league.fixtures[game].id, ["home", "away"][side])
            };
            let terms: Vec<String> = league.games_of(place).map(term).collect();
            list.push(format!("{id}:{season} = {}", terms.join(" + ")));
        }
    }
    list
}
