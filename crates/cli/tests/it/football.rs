//! Leagues of the football model, from the example to results.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{failure, json, program};

/// The stdout of a command that must succeed.
fn said(words: &[&str]) -> String {
    let output = program(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Writes the example to a file in a folder.
fn example(folder: &Path) -> PathBuf {
    let file = folder.join("league.toml");
    std::fs::write(&file, said(&["football", "example"])).unwrap();
    file
}

#[test]
fn example_gives_the_hash_of_the_built_in_league() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = example(folder.path());
    let file = file.to_str().unwrap();
    let play = |name: &str, more: &[&str]| {
        json(&data, &[&["run", "football", "--worlds", "6", "--range-worlds", "4", "--name", name], more].concat())
    };
    let built_in = play("built-in", &[]);
    let from_file = play("file", &["--league", file]);
    assert_eq!(from_file["hash"], built_in["hash"]);
    assert_eq!(play("replayed", &["--league", file, "--events", "replay"])["hash"], built_in["hash"]);
    let events = |name: &str| json(&data, &["events", name, "--entity", "game-003", "--world", "2"]);
    let (stored, old) = (events("file"), events("built-in"));
    assert_eq!(events("replayed"), stored);
    for (row, old) in stored.as_array().unwrap().iter().zip(old.as_array().unwrap()) {
        let (mut row, kicker) = (row.as_object().unwrap().clone(), row["kicker"].clone());
        let kicks = ["punt", "field_goal", "kickoff", "onside_kick", "extra_point"];
        assert_eq!(kicker.is_string(), kicks.contains(&row["play_type"].as_str().unwrap()));
        row.retain(|name, _| !["kicker", "kicker_name", "returner", "returner_name"].contains(&name.as_str()));
        assert_eq!(Value::Object(row), *old);
    }
    // Neither questions nor checks need the file.
    std::fs::remove_file(file).unwrap();
    for name in ["file", "replayed"] {
        assert_ne!(json(&data, &["verify", name])["ok"], false);
    }
    names_are_shown(&data);
}

/// Plays, box scores and SQL show the players' names.
fn names_are_shown(data: &Path) {
    let league = said(&["football", "example"]);
    let name_of = |team: &str, position: &str| {
        let start = format!("{{ team = \"{team}\", position = \"{position}\", name = \"");
        let line = league.lines().find_map(|line| line.trim().strip_prefix(&start)).unwrap();
        line.split('"').next().unwrap().to_owned()
    };
    let entity = "game-003";
    let shown = ["events", "file", "--entity", entity, "--world", "2"];
    let summary = json(data, &[&shown[..], &["--summary"]].concat());
    let title = summary["title"].as_str().unwrap();
    let (away, home) = title.split_once(": ").unwrap().1.split_once(" at ").unwrap();
    let id_of = |name: &str| {
        let line = league.lines().find(|line| line.contains(&format!(", name = \"{name}\", conference"))).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    let team = |side: &str| id_of(if side == "home" { home } else { away });
    let other = |side: &str| if side == "home" { "away" } else { "home" };
    let mut checked = [0; 2];
    for name in ["file", "replayed", "built-in"] {
        for row in json(data, &["events", name, "--entity", entity, "--world", "2"]).as_array().unwrap() {
            let offence = row["offence"].as_str().unwrap();
            for (column, side) in
                [("passer", offence), ("kicker", offence), ("tackler", other(offence)), ("returner", other(offence))]
            {
                let Some(place) = row[column].as_str().filter(|place| *place != "d_other") else { continue };
                assert_eq!(row[format!("{column}_name")], name_of(&team(side), place), "{row}");
                checked[usize::from(side == offence)] += 1;
            }
        }
        let query = format!(
            "SELECT number, passer, passer_name FROM events('{name}', '{entity}', 2) WHERE passer_name IS NOT NULL"
        );
        let rows = json(data, &["sql", &query]);
        let plays = json(data, &["events", name, "--entity", entity, "--world", "2"]);
        assert!(rows.as_array().unwrap().len() > 20);
        for row in rows.as_array().unwrap() {
            let play = &plays[row["number"].as_u64().unwrap() as usize];
            assert_eq!((&row["passer"], &row["passer_name"]), (&play["passer"], &play["passer_name"]));
        }
    }
    assert!(checked.iter().all(|count| *count > 50), "{checked:?}");
    let kicker = name_of(&team("home"), "k");
    let text =
        |more: &[&str]| String::from_utf8(crate::support::run(data, &[&shown[..], more].concat()).stdout).unwrap();
    assert!(text(&[]).contains(&format!("{kicker} (k)")), "{}", text(&[]));
    assert!(text(&["--format", "csv"]).lines().next().unwrap().contains(",passer,passer_name,player,player_name,"));
    let players = summary["tables"][1]["rows"].as_array().unwrap();
    let row = players.iter().find(|row| row[0] == "home" && row[1] == "qb1").unwrap();
    assert_eq!(row[2], name_of(&team("home"), "qb1"));
    let attempts = format!("attempts {}, ", summary["outcomes"]["home_qb1_attempts"]);
    assert!(row[3].as_str().unwrap().starts_with(attempts.trim_end_matches(".0, ")), "{row}");
}

#[test]
fn other_leagues_cannot_continue_an_ensemble() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = example(folder.path());
    let path = file.to_str().unwrap();
    let words = ["run", "football", "--league", path, "--events", "replay", "--name", "season"];
    json(&data, &[&words[..], &["--worlds", "4"]].concat());
    let extended = json(&data, &[&words[..], &["--extend", "6"]].concat());
    let whole = ["run", "football", "--events", "replay", "--name", "whole", "--worlds", "6"];
    assert_eq!(extended["hash"], json(&data, &whole)["hash"]);
    let text = std::fs::read_to_string(&file).unwrap();
    // A comment changes nothing; a rating does.
    std::fs::write(&file, format!("# mine\n{text}")).unwrap();
    json(&data, &[&words[..], &["--extend", "7"]].concat());
    std::fs::write(&file, text.replacen("offence = ", "offence = 1", 1).replacen("offence = 1-", "offence = -1", 1))
        .unwrap();
    let refused = failure(&data, &[&words[..], &["--extend", "8"]].concat(), 2);
    assert_eq!(
        refused,
        "error: ensemble \"season\" cannot be extended: it was played with another definition of its model: teams \
         differs\n"
    );
    let resumed = failure(&data, &[&words[..], &["--worlds", "7", "--resume"]].concat(), 2);
    assert!(resumed.contains("another definition of its model"), "{resumed}");
    // Without a file the league is the stored one.
    let stored = json(&data, &["run", "football", "--name", "season", "--extend", "8"]);
    let whole = ["run", "football", "--events", "replay", "--name", "eight", "--worlds", "8"];
    assert_eq!(stored["hash"], json(&data, &whole)["hash"]);
}

#[test]
fn mistakes_are_told_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = example(folder.path());
    let path = file.to_str().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let line = |start: &str| 1 + text.lines().position(|line| line.trim().starts_with(start)).unwrap();
    let first_game = text.lines().find(|line| line.trim().starts_with("{ week = 1,")).unwrap();
    let bad = text.replacen(first_game, &first_game.replace("away = \"team-", "away = \"taem-"), 1);
    std::fs::write(&file, bad.replacen("carries = 0.67", "carries = 0.6", 1)).unwrap();
    let refused = failure(&data, &["run", "football", "--league", path], 2);
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines[0], format!("error: {path} does not define a valid league:"));
    let unknown = format!("line {}: no team \"taem-", line("{ week = 1,"));
    assert!(lines[1].starts_with(&unknown) && lines[1].contains("did you mean team-"), "{refused}");
    assert!(refused.contains("carries of team \"team-01\" sum to 0.930, and must sum to 1"), "{refused}");
    let check = program(&["football", "check", path]).output().unwrap();
    assert_eq!((check.status.code(), String::from_utf8(check.stderr).unwrap()), (Some(2), refused));
    std::fs::write(&file, "teams = [\n  { id = }\n]\n").unwrap();
    let refused = failure(&data, &["run", "football", "--league", path], 2);
    assert!(refused.lines().nth(1).unwrap().starts_with("line 2, column 10: "), "{refused}");
    let lost = failure(&data, &["run", "football", "--league", "lost.toml"], 2);
    assert_eq!(lost, "error: cannot read lost.toml: No such file or directory (os error 2)\n");
    assert_eq!(failure(&data, &["run", "bingo", "--league", path], 2), "error: --league: bingo takes no league\n");
    assert!(!data.exists());
    std::fs::write(&file, text).unwrap();
    let refused = failure(&data, &["run", "football", "--league", path, "--param", "league=2"], 2);
    assert!(refused.starts_with("error: parameter league is 2: give 1, its default: "), "{refused}");
    let checked = said(&["football", "check", path]);
    assert_eq!(checked.lines().count(), 33);
    assert!(checked.lines().nth(1).unwrap().starts_with("team-01  Alder Bay Herons "), "{checked}");
}
