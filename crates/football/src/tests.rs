//! What must hold of every simulated game and season, whatever the draws.

use model::{EventBlock, EventValues, Model, OutcomeBlock, Parameters, Sink, Stop, Values, Wanted};
use proptest::prelude::*;
use world::{Seed, Stream, World, WorldRange};

use crate::box_score::{BoxScore, Stat, Window};
use crate::game::{Game, Meeting};
use crate::league::Site;
use crate::parameters::Settings;
use crate::play::{Kind, NOBODY, Outcome, Play};
use crate::roster::Roster;
use crate::tables::Tables;
use crate::{Football, GAME_OUTCOMES, GAMES, PARAMETERS, SEASON_OUTCOMES, TEAMS, calibrate};

/// A game of two usual teams.
fn meeting(edges: [f32; 2], roster: &Roster) -> Meeting<'_> {
    Meeting { edges, rosters: [roster; 2], site: Site::default(), returns: None }
}

/// Plays `games` games of evenly matched teams and hands each to `check`.
fn each_game(seed: u64, games: u32, mut check: impl FnMut(&[Play], &BoxScore)) {
    let tables = Tables::new();
    let settings = Settings::new(&Parameters::parse(PARAMETERS, []).unwrap());
    let (usual, mut plays) = (Roster::usual(), Vec::new());
    for game in 0..games {
        let random = Stream::new(Seed(seed), World(game), 0, 0);
        Game::play(&tables, &settings, meeting([0.0, 0.0], &usual), random, &mut plays, |_| ()).unwrap();
        check(&plays, &BoxScore::of(&plays));
    }
}

pub(crate) fn parameters(given: &[(&str, &str)]) -> Parameters {
    Parameters::parse(PARAMETERS, given.iter().copied()).unwrap()
}

/// Keeps every block that a simulation hands over.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Kept {
    pub(crate) outcomes: Vec<(usize, Vec<Vec<i16>>)>,
    pub(crate) rows: Vec<(usize, Vec<u32>)>,
    pub(crate) recounted: Vec<Vec<Vec<i16>>>,
}

fn columns(block: &OutcomeBlock<'_>) -> Vec<Vec<i16>> {
    let values = |c: &Values<'_>| match c {
        Values::I16(v) => v.to_vec(),
        _ => panic!("football's outcomes are 16-bit"),
    };
    block.columns.iter().map(values).collect()
}

struct Keep<'a> {
    model: &'a Football,
    kept: Kept,
}

impl Sink for Keep<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        self.kept.outcomes.push((block.entity, columns(&block)));
        Ok(())
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        struct Recount<'a>(&'a mut Vec<Vec<Vec<i16>>>);
        impl Sink for Recount<'_> {
            fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
                self.0.push(columns(&block));
                Ok(())
            }
            fn events(&mut self, _: EventBlock<'_>) -> Result<(), Stop> {
                Ok(())
            }
        }
        let rows: usize = block.rows.iter().map(|&r| r as usize).sum();
        let lengths = block.columns.iter().map(EventValues::len);
        assert!(lengths.into_iter().all(|n| n == rows));
        self.kept.rows.push((block.entity, block.rows.to_vec()));
        self.model.recount(&block, &mut Recount(&mut self.kept.recounted))
    }
}

pub(crate) fn simulate(model: &Football, worlds: (u32, u32), entity: Option<usize>) -> Kept {
    let range = WorldRange::new(World(worlds.0), worlds.1).unwrap();
    let mut keep = Keep { model, kept: Kept::default() };
    model.simulate(Seed(7), range, Wanted { entity, events: true }, &mut keep).unwrap();
    keep.kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn counts_of_a_game_add_up(seed in any::<u64>()) {
        each_game(seed, 40, |plays, score| {
            for side in 0..2 {
                check_windows(score, side);
                check_points(score, side);
                check_players(score, side);
            }
            let (last, points) = (plays.last().unwrap(), [0, 1].map(|s| score.count(s, Stat::Points, Window::Game)));
            assert_eq!([i16::from(last.home_score), i16::from(last.away_score)], points);
            let possession: i16 = (0..2).map(|s| score.count(s, Stat::Possession, Window::Game)).sum();
            let overtime = possession - 3600;
            assert!(overtime == 0 || (score.overtime && (1..=600).contains(&overtime)), "{possession} seconds");
        });
    }

    #[test]
    fn plays_follow_from_each_other(seed in any::<u64>()) {
        each_game(seed, 40, |plays, _| {
            plays.iter().for_each(check_bounds);
            plays.windows(2).for_each(|pair| check_order(&pair[0], &pair[1]));
        });
    }

    #[test]
    fn games_end_under_any_parameters(
        seed in any::<u64>(), pace in 0.7f64..1.5, pass in -2.0f64..2.0, aggression in 0.0f64..4.0,
        edge in -40.0f32..40.0,
    ) {
        let text = [pace, pass, aggression].map(|x| x.to_string());
        let given = [("pace", &*text[0]), ("pass_bias", &*text[1]), ("aggression", &*text[2])];
        let settings = Settings::new(&parameters(&given));
        let (tables, mut plays) = (Tables::new(), Vec::new());
        let usual = Roster::usual();
        let random = Stream::new(Seed(seed), World(0), 0, 0);
        Game::play(&tables, &settings, meeting([edge, -edge], &usual), random, &mut plays, |_| ()).unwrap();
        plays.iter().for_each(check_bounds);
        assert!((80..400).contains(&plays.len()), "{} rows", plays.len());
    }
}

/// Quarters make the halves, halves the game; overtime belongs to the second half.
fn check_windows(score: &BoxScore, side: usize) {
    let all = [
        Stat::Points,
        Stat::Touchdowns,
        Stat::FieldGoals,
        Stat::PassYards,
        Stat::RushYards,
        Stat::FirstDowns,
        Stat::Plays,
        Stat::Possession,
    ];
    for stat in all {
        let count = |window| score.count(side, stat, window);
        let overtime = score.sides[side].quarters[4][stat as usize];
        assert_eq!(count(Window::Half(0)) + count(Window::Half(1)), count(Window::Game));
        assert_eq!(count(Window::Quarter(0)) + count(Window::Quarter(1)), count(Window::Half(0)));
        assert_eq!(count(Window::Quarter(2)) + count(Window::Quarter(3)) + overtime, count(Window::Half(1)));
    }
}

fn check_points(score: &BoxScore, side: usize) {
    let team = &score.sides[side];
    let count = |stat| score.count(side, stat, Window::Game);
    let scored = 6 * count(Stat::Touchdowns)
        + team.extra_points[1]
        + 2 * team.two_points[1]
        + 3 * count(Stat::FieldGoals)
        + 2 * team.safeties;
    assert_eq!(count(Stat::Points), scored);
    assert_eq!(team.touchdowns_by.iter().sum::<i16>(), count(Stat::Touchdowns));
    let tries = team.extra_points[0] + team.two_points[0];
    let walk_off = i16::from(score.overtime);
    assert!((count(Stat::Touchdowns) - walk_off..=count(Stat::Touchdowns)).contains(&tries), "a try a touchdown");
}

fn check_players(score: &BoxScore, side: usize) {
    let team = &score.sides[side];
    let count = |stat| score.count(side, stat, Window::Game);
    let sum = |value: fn(&crate::box_score::Player) -> i16| team.players().iter().map(value).sum::<i16>();
    assert_eq!(sum(|p| p.pass_yards), count(Stat::PassYards));
    assert_eq!(sum(|p| p.catch_yards), count(Stat::PassYards));
    assert_eq!(sum(|p| p.rush_yards), count(Stat::RushYards));
    assert_eq!(sum(|p| p.completions), sum(|p| p.catches));
    assert_eq!(sum(|p| p.pass_touchdowns), team.touchdowns_by[0]);
    assert_eq!(sum(|p| p.catch_touchdowns), team.touchdowns_by[0]);
    assert_eq!(sum(|p| p.rush_touchdowns), team.touchdowns_by[1]);
    assert_eq!(sum(|p| p.interceptions), count(Stat::Interceptions));
    assert_eq!(sum(|p| p.sacked), count(Stat::SacksAllowed));
    assert_eq!(sum(|p| p.fumbles_lost), count(Stat::FumblesLost));
    assert_eq!(sum(|p| p.attempts) + sum(|p| p.rushes) + sum(|p| p.sacked), count(Stat::Plays));
    assert!(sum(|p| p.catches) <= sum(|p| p.targets) && sum(|p| p.targets) <= sum(|p| p.attempts));
    assert_eq!(sum(|p| p.kicks_made.iter().sum()), count(Stat::FieldGoals));
}

fn check_bounds(play: &Play) {
    let clock_max = if play.quarter == 5 { 600 } else { 900 };
    assert!((1..=5).contains(&play.quarter) && (0..=clock_max).contains(&play.clock), "{play:?}");
    assert!((1..=99).contains(&play.yard_line) && i16::from(play.run_off) <= play.clock, "{play:?}");
    let snapped = !matches!(
        play.kind,
        Kind::Kickoff | Kind::OnsideKick | Kind::ExtraPoint | Kind::TwoPointPass | Kind::TwoPointRun
    );
    if snapped {
        assert!((1..=4).contains(&play.down) && (1..=play.yard_line).contains(&play.distance), "{play:?}");
        assert!(play.yards <= play.yard_line || play.kind == Kind::FieldGoal, "{play:?}");
    } else {
        assert_eq!((play.down, play.distance), (0, 0), "{play:?}");
    }
    assert!(play.foul == NOBODY || play.foul_yards >= 0, "{play:?}");
    assert_eq!(play.kind == Kind::Penalty, play.outcome == Outcome::NoPlay, "{play:?}");
}

/// The clock runs down, drives and quarters count up, and the score moves by a play's points and by nothing else.
fn check_order(before: &Play, after: &Play) {
    assert!(after.drive >= before.drive && after.quarter >= before.quarter, "{before:?} {after:?}");
    if after.quarter == before.quarter {
        assert_eq!(after.clock, before.clock - i16::from(before.run_off), "{before:?} {after:?}");
    }
    let (points, scorer) = (after.points.abs(), usize::from(after.offence) ^ usize::from(after.points < 0));
    let gained = [after.home_score - before.home_score, after.away_score - before.away_score];
    assert_eq!(gained[scorer], points, "{before:?} {after:?}");
    assert_eq!(gained[1 - scorer], 0, "{before:?} {after:?}");
}

#[test]
fn one_entity_replayed_equals_the_full_run() {
    let model = Football::new(&parameters(&[])).unwrap();
    let full = simulate(&model, (3, 3), None);
    assert_eq!(full.outcomes.len(), GAMES + TEAMS);
    for entity in [0, 17, 140, GAMES - 1, GAMES, GAMES + 31] {
        let alone = simulate(&model, (3, 3), Some(entity));
        let expected = full.outcomes.iter().find(|(e, _)| *e == entity).unwrap();
        assert_eq!(&alone.outcomes, std::slice::from_ref(expected), "entity {entity}");
    }
    // Worlds do not depend on the range they are played in.
    let one = simulate(&model, (4, 1), None);
    for ((_, whole), (_, part)) in full.outcomes.iter().zip(&one.outcomes) {
        assert!(whole.iter().zip(part).all(|(w, p)| w[1] == p[0]));
    }
}

#[test]
fn outcomes_recounted_from_the_plays_are_the_same() {
    let model = Football::new(&parameters(&[])).unwrap();
    let kept = simulate(&model, (0, 2), None);
    for ((_, counted), recounted) in kept.outcomes.iter().zip(&kept.recounted) {
        assert_eq!(counted.len(), GAME_OUTCOMES);
        assert_eq!(counted, recounted);
    }
}

#[test]
fn seasons_add_up() {
    let model = Football::new(&parameters(&[])).unwrap();
    let worlds = 12;
    let kept = simulate(&model, (0, worlds), None);
    let teams = &kept.outcomes[GAMES..];
    let names: Vec<String> = model.catalogue().kinds[1].outcomes.iter().map(|o| o.name.clone()).collect();
    let place = |name: &str| names.iter().position(|n| n == name).unwrap();
    for world in 0..worlds as usize {
        let of = |team: usize, name: &str| i32::from(teams[team].1[place(name)][world]);
        let sum = |name: &str| (0..TEAMS).map(|t| of(t, name)).sum::<i32>();
        assert!(teams.iter().all(|(_, columns)| columns.len() == SEASON_OUTCOMES));
        for team in 0..TEAMS {
            assert_eq!(of(team, "wins") + of(team, "losses") + of(team, "ties"), 18);
            assert_eq!(of(team, "home_wins") + of(team, "away_wins"), of(team, "wins"));
        }
        assert_eq!(sum("wins"), sum("losses"));
        assert_eq!(sum("ties") % 2, 0);
        assert_eq!(sum("points_for"), sum("points_against"));
        assert_eq!(sum("sacks_made"), sum("sacks_allowed"));
        assert_eq!(sum("giveaways"), sum("takeaways"));
        assert_eq!(sum("yards"), sum("yards_allowed"));
        assert_eq!((sum("made_playoffs"), sum("won_division"), sum("won_conference"), sum("won_title")), (14, 8, 2, 1));
        let mut ranks: Vec<i32> = (0..TEAMS).map(|t| of(t, "league_rank")).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (1..=32).collect::<Vec<_>>());
        for division in 0..8 {
            let mut ranks: Vec<i32> = (0..4).map(|i| of(4 * division + i, "division_rank")).collect();
            ranks.sort_unstable();
            assert_eq!(ranks, [1, 2, 3, 4]);
        }
    }
}

#[test]
fn the_calibration_bars_hold() {
    let rows = calibrate(&parameters(&[]), 200 * GAMES, Seed(11)).unwrap();
    let bars: Vec<_> = rows.iter().filter(|r| r.tolerance.is_some()).collect();
    assert_eq!(bars.len(), 8);
    for bar in bars {
        assert!(bar.holds(3.0), "{bar:?}");
    }
    // No figure is a bar without being one: the count of rows and points that follow from everything else stay near.
    for (what, share) in [("all, with penalties that wipe a play out", 0.02), ("total points", 0.04)] {
        let row = rows.iter().find(|r| r.what == what).unwrap();
        assert!((row.model / row.spec - 1.0).abs() < share, "{row:?}");
    }
}

#[test]
fn scores_fit_their_columns_at_all_extremes() {
    let specs: Vec<_> = PARAMETERS.iter().filter(|spec| spec.name != "league").collect();
    let mut highest = 0;
    for corner in 0..1u32 << specs.len() {
        let end = |place: usize| specs[place].bounds().unwrap()[corner as usize >> place & 1].to_string();
        let given: Vec<(&str, String)> = (0..specs.len()).map(|place| (&*specs[place].name, end(place))).collect();
        let model =
            Football::new(&parameters(&given.iter().map(|(n, v)| (*n, v.as_str())).collect::<Vec<_>>())).unwrap();
        let (mut season, mut plays) = (crate::season::Season::new(TEAMS), Vec::new());
        for game in 0..GAMES / 2 {
            let score = model.play(Seed(3), World(corner), game, &mut season, &mut plays).unwrap();
            let counted = [0, 1].map(|side| score.count(side, Stat::Points, Window::Game));
            let last = plays.last().unwrap();
            assert_eq!([last.home_score, last.away_score].map(i16::from), counted, "{given:?}, game {game}");
            assert!(plays.iter().all(|p| p.drive > 0 && p.run_off >= 0 && p.yard_line > 0), "{given:?}, game {game}");
            highest = highest.max(counted[0]).max(counted[1]);
        }
    }
    assert!(highest >= 120, "the rule that ends a game was needed, but {highest} points were most");
}
