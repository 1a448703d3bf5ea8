//! Questions about a small stored season.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::{failure, json, program, run};

#[test]
fn prices_and_distributions_agree() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let summary = json(data, &["run", "football", "--worlds", "40", "--range-worlds", "15", "--name", "season"]);
    assert_eq!(summary["outcomes"]["values"], (288 * 850 + 32 * 54) * 40);
    let shown = json(data, &["outcome", "season", "--entity", "game-017", "--outcome", "home_margin", "--cdf"]);
    let below = |bound: f64| {
        let cdf = shown[0]["cdf"].as_array().unwrap();
        cdf.iter()
            .filter(|c| c["value"].as_f64().unwrap() <= bound)
            .map(|c| c["probability"].as_f64().unwrap())
            .fold(0.0, f64::max)
    };
    let price = |leg: &str| json(data, &["price", "season", "--entity", "game-017", "--leg", leg]);
    for bound in [-3.5, 0.5, 3.5, 10.5] {
        let priced = price(&format!("home_margin > {bound}"));
        assert_eq!(priced["worlds"], 40);
        assert!((priced["probability"].as_f64().unwrap() - (1.0 - below(bound))).abs() < 1e-9, "{bound}");
    }
    // A condition and its opposite never hold together. Given itself, a condition is certain.
    let both = json(
        data,
        &["price", "season", "--entity", "game-017", "--leg", "home_margin > 0", "--leg", "home_margin <= 0"],
    );
    assert_eq!((&both["probability"], &both["fair_odds"]), (&0.0.into(), &serde_json::Value::Null));
    let given = json(
        data,
        &[
            "price",
            "season",
            "--entity",
            "game-017",
            "--leg",
            "home_margin > 0",
            "--given",
            "home_won = 1",
            "--min-worlds",
            "1",
        ],
    );
    assert_eq!(given["probability"], 1.0);
}

#[test]
fn a_world_can_be_looked_at_and_counted_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "6", "--range-worlds", "4", "--name", "stored"]);
    json(data, &["run", "football", "--worlds", "6", "--events", "replay", "--name", "replayed"]);
    let shown = |command: &str, ensemble: &str, more: &[&str]| {
        json(data, &[&[command, ensemble, "--entity", "game-040", "--world", "5"], more].concat())
    };
    let plays = |ensemble: &str, more: &[&str]| shown("events", ensemble, more);
    let all = plays("stored", &[]);
    assert_eq!(all, plays("replayed", &[]));
    let rows = all.as_array().unwrap();
    assert!(rows.len() > 100);
    let count = |more: &[&str]| plays("stored", more).as_array().unwrap().len();
    let expected = |keeps: &dyn Fn(&serde_json::Value) -> bool| rows.iter().filter(|r| keeps(r)).count();
    assert_eq!(count(&["--drive", "3"]), expected(&|r| r["drive"] == 3));
    assert_eq!(
        count(&["--where", "down>=3", "--where", "play_type=pass"]),
        expected(&|r| r["down"].as_i64() >= Some(3) && r["play_type"] == "pass")
    );
    assert_eq!(count(&["--player", "away_wr1"]), expected(&|r| r["player"] == "wr1" && r["offence"] == "away"));
    assert_eq!(count(&["--where", "foul!=false_start"]), expected(&|r| r["foul"] != "false_start"));
    for ensemble in ["stored", "replayed"] {
        let said = failure(data, &["events", ensemble, "--entity", "team-01", "--world", "5"], 2);
        assert_eq!(said, "error: team-01 has no events: the model records none for it\n");
    }
    let score = plays("stored", &["--summary"]);
    assert_eq!(plays("replayed", &["--summary"]), score);
    // The old command names.
    assert_eq!(shown("plays", "stored", &["--box"]), score);
    let box_score = score["tables"][0]["rows"].as_array().unwrap();
    let points = box_score.iter().find(|row| row[0] == "points").unwrap();
    assert_eq!((&points[2], &points[3]), (&score["outcomes"]["home_points"], &score["outcomes"]["away_points"]));
    let season = run(data, &["events", "stored", "--entity", "team-01", "--world", "5", "--summary"]);
    assert!(season.status.success(), "a team's season has outcomes and no events");
    let last = rows.last().unwrap();
    assert_eq!(score["outcomes"]["home_points"].as_f64(), last["home_score"].as_f64());
    assert_eq!(score["outcomes"]["away_points"].as_f64(), last["away_score"].as_f64());
}

#[test]
fn correlations_are_those_of_the_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "50", "--events", "replay", "--name", "season"]);
    let words = ["correlate", "season", "--entity", "game-001", "--outcome", "home_points", "--outcome", "away_points"];
    let found = json(data, &[&words[..], &["--outcome", "home_margin"]].concat());
    let cell = |i: usize, j: usize| found["matrix"][i][j].as_f64().unwrap();
    assert_eq!((cell(0, 0), cell(0, 2)), (1.0, cell(2, 0)));
    assert!(cell(0, 2) > 0.3 && cell(1, 2) < -0.3, "{found}");
    let all = json(data, &["correlate", "season", "--entity", "game-001"]);
    assert_eq!(all["outcomes"].as_array().unwrap().len(), 850);
    assert_eq!(all["matrix"].as_array().unwrap().len(), 850);
}

#[test]
fn leverage_is_the_share_of_worlds_with_and_without_an_event() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "60", "--events", "replay", "--name", "season"]);
    let asked = ["leverage", "season", "--condition", "team-01:made_playoffs", "--outcome", "home_won", "--top", "5"];
    let found = json(data, &asked);
    assert_eq!((&found["worlds"], &found["compared"]), (&60.into(), &288.into()));
    let events = found["events"].as_array().unwrap();
    let movements: Vec<f64> = events.iter().map(|event| event["movement"].as_f64().unwrap()).collect();
    assert!(movements.len() == 5 && movements.is_sorted_by(|a, b| a >= b), "{movements:?}");
    for (event, movement) in events.iter().zip(movements) {
        let given = |condition: &str| {
            let words =
                ["probability", "season", "--condition", "team-01:made_playoffs", "--min-worlds", "1", "--given"];
            json(data, &[&words[..], &[condition]].concat())["probability"].as_f64().unwrap()
        };
        let leg = event["leg"].as_str().unwrap();
        let (with, without) = (given(leg), given(&format!("not ({leg})")));
        let share = event["worlds"].as_f64().unwrap() / 60.0;
        assert_eq!((event["with"].as_f64(), event["without"].as_f64()), (Some(with), Some(without)), "{event}");
        assert!((movement - 2.0 * share * (1.0 - share) * (with - without).abs()).abs() < 1e-12, "{event}");
    }
    let shown = run(data, &[&asked[..], &["--among", "game-273"]].concat());
    let (table, about) = (String::from_utf8(shown.stdout).unwrap(), String::from_utf8(shown.stderr).unwrap());
    assert!(table.lines().nth(1).unwrap().starts_with("game-273:home_won"), "{table}");
    assert!(about.contains("of 60 worlds") && about.contains("none of 1 events"), "{about}");
}

#[test]
fn a_moment_of_a_game_selects_worlds_alike_from_stored_and_replayed_events() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "80", "--range-worlds", "30", "--name", "stored"]);
    json(
        data,
        &["run", "football", "--worlds", "80", "--range-worlds", "30", "--events", "replay", "--name", "replayed"],
    );
    let price = |ensemble: &str, given: &str| {
        json(
            data,
            &["price", ensemble, "--entity", "game-003", "--leg", "home_won", "--given", given, "--min-worlds", "1"],
        )
    };
    let given = "at q2 5:00 +-120, score 7-7 +-7, possession home";
    let (stored, replayed) = (price("stored", given), price("replayed", given));
    assert_eq!(stored, replayed);
    let matched = stored["worlds"].as_u64().unwrap();
    assert!(matched > 0 && matched < 80, "{matched}");
    // A moment of another entity's game.
    let named = format!("game-003: {given}");
    let words = ["price", "stored", "--leg", "game-003:home_won", "--given", &named, "--min-worlds", "1"];
    let found = json(data, &words);
    assert_eq!((&found["worlds"], &found["hits"]), (&stored["worlds"], &stored["hits"]));
}

#[test]
fn too_few_worlds_are_refused_with_ways_out_that_lead_out() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(
        data,
        &["run", "football", "--worlds", "80", "--range-worlds", "30", "--events", "replay", "--name", "season"],
    );
    let answered = |given: &str| json(data, &home_won(given, "1"))["worlds"].as_u64().unwrap();
    let refused = |given: &str, least: &str| failure(data, &home_won(given, least), 2);
    let given = |times: u32| format!("at q3 8:00 ±{}, score 14-10 ±{}, possession home", 60 * times, 2 * times);
    let matched = answered(&given(1));
    let said = refused(&given(1), "20");
    let (times, rest) = said.split_once("widen the tolerances ").unwrap().1.split_once(" times, to \"").unwrap();
    let (wider, rest) = rest.split_once("\", for ").unwrap();
    let times: u32 = times.parse().unwrap();
    assert!(times > 1 && wider == given(times), "{said}");
    assert!(answered(wider) >= 20 && answered(&given(times - 1)) < 20, "{said}");
    let needed = (80 * 20_u64).div_ceil(matched);
    let expected = format!(
        "{} to match; play about {needed} worlds; or lower the minimum to {matched}; set the minimum with --min-worlds N\n",
        answered(wider)
    );
    assert_eq!(rest, expected);
    let said = refused(&given(1), "81");
    assert!(said.contains("no tolerance is wide enough, "), "{said}");
}

fn home_won<'a>(given: &'a str, least: &'a str) -> [&'a str; 10] {
    ["price", "season", "--entity", "game-003", "--leg", "home_won", "--given", given, "--min-worlds", least]
}

#[test]
fn verification_finds_a_changed_value() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let words = ["run", "football", "--worlds", "4", "--range-worlds", "4"];
    let summary = json(data, &[&words[..], &["--name", "season"]].concat());
    let found = json(data, &["verify", "season"]);
    assert_eq!((&found["ok"], &found["hash"]), (&true.into(), &summary["hash"]));
    assert_eq!(found["event_hash"], summary["events"]["hash"]);
    assert!(found["checks"].as_array().unwrap().len() >= 5);
    // Another seed's range under this name: whole and readable, but with the wrong events.
    json(data, &[&words[..], &["--name", "other", "--seed", "2"]].concat());
    let file = |ensemble: &str, version: u32| {
        data.join(format!("sim/outcomes/ensemble={ensemble}/version={version}/00000000-00000003.parquet"))
    };
    std::fs::copy(file("other", 2), file("season", 1)).unwrap();
    let output = run(data, &["verify", "season", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let recount = found["checks"].as_array().unwrap().iter().find(|c| c["name"] == "outcomes recount from the events");
    assert_eq!(recount.unwrap()["ok"], false, "{found}");
    // A truncated event segment fails a check, without a crash.
    let events = data.join("sim/events/ensemble=other/version=2/00000000-00000003.parquet");
    std::fs::write(&events, b"PAR1").unwrap();
    let output = run(data, &["verify", "other"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is damaged"));
}

/// The stdout, stderr and exit code of `sql` with statements on its stdin.
fn piped(data: &std::path::Path, text: &str, words: &[&str]) -> (String, String, i32) {
    let mut command = program(&["sql", "--data"]);
    command.arg(data).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn statements_come_from_stdin_where_none_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let file = data.join("rows.csv");
    std::fs::write(&file, "id,name\n1,a\n2,b\n").unwrap();
    assert!(run(data, &["table", "insert", "t", file.to_str().unwrap()]).status.success());
    let csv = ["--format", "csv"];
    assert_eq!(piped(data, "SELECT 1 AS one", &csv), ("one\n1\n".to_owned(), String::new(), 0));
    let many = "-- two\nSELECT count(*) AS n\n  FROM t; SELECT ';' AS s;\n\n";
    assert_eq!(piped(data, many, &csv), ("n\n2\ns\n;\n".to_owned(), String::new(), 0));
    assert_eq!(piped(data, " \n-- nothing\n", &csv), (String::new(), String::new(), 0));
    let (said, wrong, code) = piped(data, "SELECT 1 AS one; SELECT nope FROM t; SELECT 2", &csv);
    assert_eq!((said.as_str(), code), ("one\n1\n", 2), "nothing follows an error");
    assert!(wrong.starts_with("error: no column \"nope\""), "{wrong}");
}
