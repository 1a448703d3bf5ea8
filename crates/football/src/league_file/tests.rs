//! The built-in league as a file, other leagues, and files with mistakes.

use std::fmt::Write as _;

use model::{EventValues, Model as _, Parameters};
use world::{World, WorldRange};

use super::{example, parse, read};
use crate::league::League;
use crate::parameters::Settings;
use crate::play::{Kind, Outcome};
use crate::roster::{PLAYERS, ROSTER};
use crate::tests::{Kept, parameters, simulate};
use crate::{Football, PARAMETERS, SEASON_OUTCOMES};

fn generated(number: u32) -> League {
    let number = number.to_string();
    let parameters = Parameters::parse(PARAMETERS, [("league", number.as_str())]).unwrap();
    League::generate(&Settings::new(&parameters))
}

fn model(text: &str) -> Football {
    Football::new(&parameters(&[]).defining(read(text).unwrap())).unwrap()
}

/// A league of `teams` teams in one table, which play each other once, with the lines of `more` at its end.
fn small(teams: usize, more: &str) -> String {
    let mut text = "teams = [\n".to_owned();
    for team in 0..teams {
        writeln!(text, "  {{ id = \"t{team}\", name = \"Team {team}\", offence = 0, defence = {team}.5 }},").unwrap();
    }
    text.push_str("]\nschedule = [\n");
    // The circle method: the first team stays, the others rotate.
    for week in 0..teams - 1 {
        let at = |place: usize| if place == 0 { 0 } else { (place - 1 + week) % (teams - 1) + 1 };
        for game in 0..teams / 2 {
            let (home, away) = (at(game), at(teams - 1 - game));
            writeln!(text, "  {{ week = {}, home = \"t{home}\", away = \"t{away}\" }},", week + 1).unwrap();
        }
    }
    text + "]\n" + more
}

/// The players of a team, one a line.
fn roster(team: &str, change: impl Fn(&str) -> &'static str) -> String {
    let line = |position: &&str| {
        format!(
            "  {{ team = \"{team}\", position = \"{position}\", name = \"{team} {position}\"{} }},\n",
            change(position)
        )
    };
    ROSTER[..PLAYERS].iter().map(line).collect()
}

/// The only mistake of a file.
fn mistake(text: &str) -> String {
    let faults = parse(text).unwrap_err().0;
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].to_string()
}

#[test]
fn example_is_the_built_in_league() {
    for number in [1, 7, 4_000_000_000] {
        let (file, league) = (parse(&example(number).unwrap()).unwrap().league(), generated(number));
        assert_eq!(file.fixtures, league.fixtures);
        assert_eq!(
            (&file.divisions, file.conferences, file.seeds, file.weeks),
            (&league.divisions, 2, league.seeds, 18)
        );
        for (team, expected) in file.teams.iter().zip(&league.teams) {
            assert_eq!((&team.id, &team.name, &team.players), (&expected.id, &expected.name, &expected.players));
            assert_eq!(team.offence.to_bits(), expected.offence.to_bits());
            assert_eq!(team.defence.to_bits(), expected.defence.to_bits());
            assert_eq!((team.conference, team.division), (expected.conference, expected.division));
            assert_eq!((&team.roster, team.site), (&expected.roster, expected.site));
        }
    }
}

#[test]
fn example_plays_the_same_outcomes() {
    let built_in = Football::new(&parameters(&[])).unwrap();
    let from_file = model(&example(1).unwrap());
    let (expected, found) = (simulate(&built_in, (2, 3), None), simulate(&from_file, (2, 3), None));
    assert_eq!(found.outcomes, expected.outcomes);
    assert_eq!(found.rows, expected.rows);
    assert_eq!(found.recounted, expected.recounted);
    let (old, new) = (built_in.catalogue(), from_file.catalogue());
    assert_eq!((&old.kinds, &old.entities), (&new.kinds, &new.entities));
    assert_eq!(old.events[..], new.events[..old.events.len()]);
    assert_eq!(new.events.len(), old.events.len() + 2);
    assert_eq!(built_in.identities(), from_file.identities());
}

#[test]
fn canonical_text_reads_as_itself() {
    let text = read(&example(3).unwrap()).unwrap();
    assert_eq!(read(&text).unwrap(), text);
    // Comments, spaces and the order of weeks have no meaning.
    let other = example(3).unwrap().replace("  {", "{").replace("# ", "#");
    let (head, tail) = other.split_once("schedule = [\n").unwrap();
    let (games, tail) = tail.split_once("]\n").unwrap();
    let mut games: Vec<&str> = games.lines().collect();
    games.rotate_left(16);
    assert_eq!(read(&format!("{head}schedule = [\n{}\n]\n{tail}", games.join("\n"))).unwrap(), text);
}

#[test]
fn venues_of_the_example_are_valid() {
    let text = example(1).unwrap();
    let mut inside = false;
    let uncomment = |line: &str| {
        inside = line.starts_with("# venues") || inside && line.starts_with('#');
        if inside { line.trim_start_matches("# ").to_owned() } else { line.to_owned() }
    };
    let lines: Vec<String> = text.lines().map(uncomment).collect();
    let text = lines.join("\n").replacen(", conference", ", venue = \"mile-high\", conference", 1);
    let file = parse(&text).unwrap();
    assert_eq!(file.venues.len(), 2);
    let league = file.league();
    assert_eq!((league.teams[0].site.home_edge, league.teams[0].site.kick_yards), (Some(2.5), 4));
}

#[test]
fn league_of_the_documents_is_valid() {
    let page = include_str!("../../../../docs/football.md");
    let (_, text) = page.split_once("```toml\n").unwrap();
    let (text, _) = text.split_once("```").unwrap();
    let league = parse(text).unwrap().league();
    assert_eq!((league.teams.len(), league.fixtures.len(), league.weeks), (4, 6, 4));
    assert_eq!((league.fixtures[4].id.as_str(), league.fixtures[5].id.as_str()), ("bay-bowl", "game-006"));
}

#[test]
fn kicks_name_their_players() {
    let model = model(&example(1).unwrap());
    let catalogue = model.catalogue();
    let mut keep = KeepPlays::default();
    let range = WorldRange::new(World(0), 20).unwrap();
    let wanted = model::Wanted { events: true, entity: Some(0) };
    model.simulate(world::Seed(5), range, wanted, &mut keep).unwrap();
    let column = |name: &str| &keep.columns[catalogue.event_column(name).unwrap()];
    let (kinds, results) = (column("play_type"), column("result"));
    let (kickers, returners) = (column("kicker"), column("returner"));
    let mut returned = [0; PLAYERS];
    for (row, kind) in kinds.iter().map(|kind| Kind::from_repr(*kind).unwrap()).enumerate() {
        let result = Outcome::from_repr(results[row]).unwrap();
        assert_eq!(kickers[row], kind.kicker(), "{kind:?}");
        let of_kickoff = kind == Kind::Kickoff && result == Outcome::Returned;
        let of_punt = kind == Kind::Punt && [Outcome::Returned, Outcome::FairCatch].contains(&result);
        assert_eq!(returners[row] != model::NULL_LABEL, of_kickoff || of_punt, "{kind:?} {result:?}");
        if of_kickoff || of_punt {
            returned[usize::from(returners[row])] += 1;
        }
        assert!(
            !of_punt || ["wr4", "wr5"].contains(&ROSTER[usize::from(returners[row])]),
            "running backs return no punts"
        );
    }
    let returners: Vec<&str> = (0..PLAYERS).filter(|place| returned[*place] > 0).map(|place| ROSTER[place]).collect();
    assert_eq!(returners, ["rb3", "wr4", "wr5"]);
    assert!(model.events_of_player(0, "home_wr4").unwrap().contains("offence = 'away' AND returner = 'wr4'"));
    let built_in = Football::new(&parameters(&[])).unwrap();
    assert!(!built_in.events_of_player(0, "home_wr4").unwrap().contains("returner"));
    let [home, away] = built_in.league().fixtures[0].teams.map(|team| &built_in.league().teams[team].players);
    let of = |player: &str| built_in.events_of_player(0, player);
    assert_eq!((of(&home[15]), of(&away[6])), (of("home_k"), of("away_wr1")));
    assert_eq!(of(&home[0]).unwrap(), of("home_qb1").unwrap());
    let (first, rest) = home[0].split_at(1);
    let unknown = of(&format!("{first}{first}{rest}")).unwrap_err().to_string();
    assert!(unknown.contains(&format!("did you mean {}", home[0])), "{unknown}");
}

/// The label columns of one entity's plays.
#[derive(Default)]
struct KeepPlays {
    columns: Vec<Vec<u8>>,
}

impl model::Sink for KeepPlays {
    fn outcomes(&mut self, _: model::OutcomeBlock<'_>) -> Result<(), model::Stop> {
        Ok(())
    }

    fn events(&mut self, block: model::EventBlock<'_>) -> Result<(), model::Stop> {
        let codes = |values: &EventValues<'_>| match values {
            EventValues::Label(codes) => codes.to_vec(),
            _ => Vec::new(),
        };
        self.columns = block.columns.iter().map(codes).collect();
        Ok(())
    }
}

#[test]
fn leagues_of_any_shape_add_up() {
    let divided = split_in_two(&small(16, "").replace("offence", "division = \"d\", offence"));
    for (teams, text) in [
        (2, small(2, "")),
        (4, "playoff_teams = 3\n".to_owned() + &small(4, "")),
        (8, small(8, "").replacen("offence", "division = \"alone\", offence", 1)),
        (16, "playoff_teams = 1\n".to_owned() + &divided),
        (16, "playoff_teams = 6\n".to_owned() + &divided),
    ] {
        let model = model(&text);
        let worlds = 6;
        let Kept { outcomes, recounted, .. } = simulate(&model, (0, worlds), None);
        let games = model.league().fixtures.len();
        assert_eq!(outcomes.len(), games + teams);
        assert!(outcomes.iter().zip(&recounted).all(|((_, counted), recounted)| counted == recounted));
        let names: Vec<&str> = model.catalogue().kinds[1].outcomes.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names.len(), SEASON_OUTCOMES);
        let sum = |name: &str, world: usize| -> i32 {
            let place = names.iter().position(|n| *n == name).unwrap();
            outcomes[games..].iter().map(|(_, columns)| i32::from(columns[place][world])).sum()
        };
        let seeds = model.league().seeds * model.league().conferences;
        for world in 0..worlds as usize {
            assert_eq!(sum("wins", world), sum("losses", world));
            assert_eq!((sum("wins", world) + sum("losses", world) + sum("ties", world)) as usize, 2 * games);
            assert_eq!(sum("made_playoffs", world) as usize, seeds);
            assert_eq!(sum("won_division", world) as usize, model.league().divisions.len());
            assert_eq!(sum("won_conference", world) as usize, model.league().conferences);
            assert_eq!(sum("won_title", world), 1);
            assert_eq!(sum("league_rank", world) as usize, teams * (teams + 1) / 2);
            assert!(sum("reached_conference_final", world) as usize <= 2 * model.league().conferences);
        }
    }
}

/// Puts the second half of a league's teams into a second conference.
fn split_in_two(text: &str) -> String {
    let of = |line: &str| {
        let late = (8..16).any(|team| line.contains(&format!("{{ id = \"t{team}\"")));
        if late { line.replace("offence", "conference = \"late\", offence") } else { line.to_owned() }
    };
    text.lines().map(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn venues_move_their_outcomes() {
    let mean = |venue: &str, outcome: &str| {
        let text = small(2, &format!("venues = [{{ id = \"v\", {venue} }}]\n"));
        let model =
            model(&text.replacen("offence", "venue = \"v\", offence", 1).replace("defence = 1.5", "defence = 0.5"));
        let place = model.catalogue().kinds[0].outcome(outcome).unwrap();
        let Kept { outcomes, .. } = simulate(&model, (0, 3000), Some(0));
        outcomes[0].1[place].iter().map(|value| f64::from(*value)).sum::<f64>() / 3000.0
    };
    let margin = |venue: &str| mean(venue, "home_margin");
    let difference = margin("home_edge = 10") - margin("home_edge = 0");
    assert!((8.0..12.0).contains(&difference), "{difference}");
    let difference = mean("scoring = 10", "total_points") - mean("scoring = 0", "total_points");
    assert!((8.5..11.5).contains(&difference), "{difference}");
    let made = |venue: &str| mean(venue, "total_field_goals");
    assert!(made("kick_yards = 10") > made("kick_yards = -10") + 0.5);
    let thrown = |venue: &str| mean(venue, "home_qb1_attempts");
    assert!(thrown("passing = 0.5") > thrown("passing = -0.5") + 5.0);
}

#[test]
fn neutral_games_have_no_home_edge() {
    let text = small(2, "venues = [{ id = \"v\", home_edge = 5, scoring = 2 }, { id = \"w\" }]\n");
    let text = text.replacen("offence", "venue = \"v\", offence", 1);
    let site = |text: &str| {
        let league = parse(text).unwrap().league();
        (league.fixtures[0].site.home_edge, league.fixtures[0].site.scoring, league.fixtures[0].neutral)
    };
    assert_eq!(site(&text), (Some(5.0), 2.0, false));
    assert_eq!(site(&text.replace("week = 1,", "week = 1, neutral = true,")), (Some(0.0), 2.0, true));
    let elsewhere = text.replace("week = 1,", "week = 1, venue = \"w\",");
    assert_eq!(site(&elsewhere), (Some(0.0), 0.0, true));
    assert_eq!(model(&elsewhere).catalogue().entities[0].title, "week 1: Team 1 against Team 0");
}

#[test]
fn shares_decide_who_plays() {
    let all = |position: &str| match position {
        "qb2" => ", starts = 1",
        "rb4" => ", carries = 1.0, kick_returns = 0.5",
        "te3" => ", targets = 1",
        "wr6" => ", kick_returns = 0.5",
        _ => "",
    };
    let text = small(2, &format!("players = [\n{}{}]\n", roster("t0", all), roster("t1", |_| "")));
    let model = model(&text);
    let outcomes = &model.catalogue().kinds[0].outcomes;
    let Kept { outcomes: found, .. } = simulate(&model, (0, 40), Some(0));
    let home = model.catalogue().entities[0].members[0] == "t0";
    let total = |name: &str| {
        let side = if home { "home" } else { "away" };
        let place = outcomes.iter().position(|o| o.name == format!("{side}_{name}")).unwrap();
        found[0].1[place].iter().map(|value| i32::from(*value)).sum::<i32>()
    };
    assert!(total("qb2_attempts") > 500 && total("te3_targets") > 500 && total("rb4_rushes") > 300);
    assert_eq!([total("wr1_targets"), total("rb1_rushes"), total("rb1_targets")], [0, 0, 0]);
    assert!(total("qb1_attempts") < total("qb2_attempts") / 10, "the backup plays when the lead is safe");
    let team = &model.league().teams[0];
    assert_eq!((team.players[0].as_str(), model.league().teams[1].players[22].as_str()), ("t0 qb1", "t1 d6"));
    // Those who receive the kick have the returner.
    let mut keep = KeepPlays::default();
    let wanted = model::Wanted { events: true, entity: Some(0) };
    model.simulate(world::Seed(1), WorldRange::new(World(0), 40).unwrap(), wanted, &mut keep).unwrap();
    let column = |name: &str| &keep.columns[model.catalogue().event_column(name).unwrap()];
    let kickoffs = column("play_type").iter().map(|kind| *kind == Kind::Kickoff as u8);
    let mut returned = [0; 2];
    for (row, _) in kickoffs.enumerate().filter(|(_, is_kickoff)| *is_kickoff) {
        let (side, returner) = (column("offence")[row], column("returner")[row]);
        if returner == model::NULL_LABEL {
            continue;
        }
        let by_first = (side == 0) != home;
        let expected: &[&str] = if by_first { &["rb4", "wr6"] } else { &["rb3", "wr4", "wr5"] };
        assert!(expected.contains(&ROSTER[usize::from(returner)]), "{}", ROSTER[usize::from(returner)]);
        returned[usize::from(by_first)] += 1;
    }
    assert!(returned.iter().all(|count| *count > 20), "{returned:?}");
}

#[test]
fn schedules_with_mistakes_are_refused() {
    let good = small(4, "");
    let first = "  { week = 1, home = \"t0\", away = \"t3\" },\n";
    assert!(good.contains(first));
    let with = |other: &str| good.replace(first, other);
    for (text, expected) in [
        (with("{ week = 1, home = \"tt0\", away = \"t3\" },\n"), "line 8: no team \"tt0\"; there are: t0, t1, t2, t3"),
        (
            with("{ week = 1, home = \"t3\", away = \"t3\" },\n"),
            "line 8: \"t3\" plays against itself: name another team",
        ),
        (with("{ week = 0, home = \"t0\", away = \"t3\" },\n"), "line 8: week is 0: must be from 1 to 24"),
        (with("{ week = 25, home = \"t0\", away = \"t3\" },\n"), "line 8: week is 25: must be from 1 to 24"),
        (
            with(&format!("{first}  {{ week = 1, home = \"t3\", away = \"t4\" }},\n")).replace("t4", "t0"),
            "line 9: \"t3\" plays a second game in week 1, the first in line 8",
        ),
        (
            with("{ id = \"t2\", week = 1, home = \"t0\", away = \"t3\" },\n"),
            "line 8: id \"t2\" is used a second time, the first in line 4",
        ),
        (with("{ week = 1, home = \"t0\", away = \"t3\", venue = \"moon\" },\n"), "line 8: no venue \"moon\""),
    ] {
        let faults = parse(&text).unwrap_err();
        assert_eq!(faults.0[0].to_string(), expected);
    }
    // A repeated id is suggested once.
    let faults = parse(&good.replacen("id = \"t2\"", "id = \"t1\"", 1)).unwrap_err();
    assert!(faults.0[1].reason.starts_with("no team \"t2\"; there are: t0, t1, t3"), "{faults}");
    let (head, _) = good.split_once("schedule").unwrap();
    let empty = mistake(&format!("{head}schedule = []\n"));
    assert_eq!(empty, "schedule: is empty: add at least one game");
    let idle = format!("{head}schedule = [{{ week = 1, home = \"t0\", away = \"t2\" }}]\n");
    assert_eq!(mistake(&idle), "schedule: has no games for t1, t3");
}

#[test]
fn teams_and_venues_with_mistakes_are_refused() {
    let good = small(4, "venues = [\n  { id = \"v\", home_edge = 1 },\n]\n");
    assert!(parse(&good).is_ok());
    for (from, to, expected) in [
        ("id = \"t1\"", "id = \"t0\"", "line 3: id \"t0\" is used a second time, the first in line 2"),
        (
            "id = \"t1\"",
            "id = \"1 t\"",
            "line 3: id \"1 t\": must be 1 to 40 letters, digits, '-' and '_', beginning with a letter",
        ),
        ("name = \"Team 1\"", "name = \"\"", "line 3: name \"\": must have 1 to 100 printable characters"),
        ("defence = 1.5", "defence = nan", "line 3: defence of \"t1\" is NaN: must be from -30 to 30"),
        ("defence = 1.5", "defence = inf", "line 3: defence of \"t1\" is inf: must be from -30 to 30"),
        ("defence = 1.5", "defence = -30.5", "line 3: defence of \"t1\" is -30.5: must be from -30 to 30"),
        ("defence = 1.5", "defence = 0, venue = \"vv\"", "line 3: no venue \"vv\"; did you mean v?"),
        ("home_edge = 1", "home_edge = 21", "line 16: home_edge of \"v\" is 21: must be from -20 to 20"),
        ("home_edge = 1", "kick_yards = -11", "line 16: kick_yards of \"v\" is -11: must be from -10 to 10"),
        ("home_edge = 1", "passing = 3", "line 16: passing of \"v\" is 3: must be from -2 to 2"),
        ("home_edge = 1", "scoring = 30", "line 16: scoring of \"v\" is 30: must be from -20 to 20"),
        (
            "teams = [",
            "playoff_teams = 5\nteams = [",
            "the league: playoff_teams is 5: the league has 4 teams in 1 division, so give 1 to 4",
        ),
    ] {
        let faults = parse(&good.replacen(from, to, 1)).unwrap_err();
        assert_eq!(faults.0[0].to_string(), expected);
    }
    let three = good.replace("t1\",", "t1\", conference = \"b\",").replace("t2\",", "t2\", conference = \"c\",");
    let three = three.replace(", conference = \"b\", away", ", away").replace(", conference = \"c\", away", ", away");
    assert_eq!(mistake(&three), "teams: are in 3 conferences (\"\", \"b\", \"c\"): use 1 or 2");
}

#[test]
fn players_with_mistakes_are_refused() {
    let with = |change: fn(&str) -> &'static str| small(2, &format!("players = [\n{}]\n", roster("t1", change)));
    assert!(parse(&with(|_| "")).is_ok());
    let good = with(|_| "");
    for (text, expected) in [
        (
            good.replacen("team = \"t1\"", "team = \"t9\"", 1),
            "line 9: \"t1 qb1\" is in no team \"t9\"; there are: t0, t1",
        ),
        (good.replacen("\"qb1\"", "\"qbl\"", 1), "line 9: \"t1 qb1\" has no position \"qbl\"; did you mean qb1, qb2?"),
        (good.replacen("\"qb1\"", "\"qb2\"", 1), "line 10: team \"t1\" has a second qb2, the first in line 9"),
        (
            with(|position| if position == "rb1" { ", carries = 0.9" } else { "" }),
            "line 31: carries of team \"t1\" sum to 0.900, and must sum to 1",
        ),
        (
            with(|position| if position == "wr1" { ", carries = 1" } else { "" }),
            "line 15: \"t1 wr1\" is a wr1 and has no carries: give them to qb, rb",
        ),
        (
            with(|position| if position == "wr1" { ", targets = 1.5" } else { "" }),
            "line 15: targets of \"t1 wr1\" is 1.5: must be from 0 to 1",
        ),
        (
            with(|position| if position == "wr1" { ", targets = nan" } else { "" }),
            "line 15: targets of \"t1 wr1\" is NaN: must be from 0 to 1",
        ),
    ] {
        let faults = parse(&text).unwrap_err();
        assert_eq!(faults.0[0].to_string(), expected);
    }
    let lines: Vec<&str> = good.lines().filter(|line| !line.contains("\"k\"") && !line.contains("\"te2\"")).collect();
    let missing = mistake(&lines.join("\n"));
    assert_eq!(missing, "line 29: team \"t1\" has no te2, k: each team has one of each position");
    // Rounded shares may miss 1 by a little.
    let halves = |position: &str| match position {
        "rb1" => ", carries = 0.667",
        "rb2" => ", carries = 0.33",
        _ => "",
    };
    assert!(parse(&small(2, &format!("players = [\n{}]\n", roster("t0", halves)))).is_ok());
}

#[test]
fn syntax_errors_have_line_and_column() {
    let good = small(2, "");
    for (from, to, expected) in [
        ("offence = 0", "offence 0", "line 2, column "),
        (
            "offence = 0",
            "offence = \"strong\"",
            "line 2, column 43: teams[0].offence must be a number, not the text \"strong\"",
        ),
        ("offence", "offense", "line 2, column 33: teams[0] has no field \"offense\"; did you mean offence?"),
        ("week = 1", "week = 1.5", "line 6, column 12: schedule[0].week must be a whole number, not 1.5"),
        ("offence = 0, ", "", "line 2, column 3: teams[0] lacks the field offence"),
    ] {
        let found = mistake(&good.replacen(from, to, 1));
        assert!(found.starts_with(expected), "{found}");
    }
    let json = read(&good).unwrap();
    let found = mistake(&json.replace("\"offence\":0.0", "\"offence\":\"x\""));
    assert!(
        found.starts_with("line 1, column ")
            && found.ends_with(": teams[0].offence must be a number, not the text \"x\""),
        "{found}"
    );
    let itself = mistake(
        &json
            .replace("\"away\":\"t1\"", "\"away\":\"t0\"")
            .replace(",\"schedule\":[", ",\"schedule\":[{\"week\":2,\"home\":\"t0\",\"away\":\"t1\"},"),
    );
    assert_eq!(itself, "schedule[1]: \"t0\" plays against itself: name another team");
    assert_eq!(mistake(""), "the league: the text is empty");
}

#[test]
fn leagues_beyond_the_limits_are_refused() {
    let faults = parse(&small(66, "")).unwrap_err().0;
    assert_eq!(faults[0].to_string(), "teams: a league has 2 to 64, not 66");
    assert!(faults.iter().any(|fault| fault.reason == "the league has 66 teams: use at most 16"));
    assert_eq!(faults.len(), 51);
    assert!(faults[50].to_string().starts_with("the league: has 1"), "{}", faults[50]);
    let one = parse("teams = [{ id = \"a\", name = \"A\", offence = 0, defence = 0 }]\nschedule = []\n").unwrap_err().0;
    assert_eq!(one[0].to_string(), "teams: a league has 2 to 64, not 1");
}

#[test]
fn other_leagues_are_refused_beside_a_file() {
    let definition = read(&example(1).unwrap()).unwrap();
    let refused = |given: &[(&str, &str)]| {
        Football::new(&parameters(given).defining(definition.clone())).map(|_| ()).unwrap_err().to_string()
    };
    let reason = "its default: the league file defines the teams and their ratings";
    assert_eq!(refused(&[("league", "7")]), format!("parameter league is 7: give 1, {reason}"));
    assert_eq!(refused(&[("rating_spread", "5")]), format!("parameter rating_spread is 5: give 3.1, {reason}"));
}
