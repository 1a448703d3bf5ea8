//! Events of the bingo model, from an example definition to results.

use std::path::{Path, PathBuf};

use crate::support::{failure, json, program, run};

/// The stdout and stderr of a command that must succeed.
fn said(words: &[&str]) -> (String, String) {
    let output = program(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Writes an example to a file in a folder.
fn example(folder: &Path, which: &str) -> PathBuf {
    let file = folder.join(format!("{which}.toml"));
    std::fs::write(&file, said(&["bingo", "example", which]).0).unwrap();
    file
}

#[test]
fn examples_are_good_and_need_no_advice() {
    let folder = tempfile::tempdir().unwrap();
    let check = |which| said(&["bingo", "check", example(folder.path(), which).to_str().unwrap()]);
    let (teams, counts) = check("small");
    let counted = "Winter board: 24h from 2026-01-09T17:00, 20 rows, 80 tiles, 83 rules, 6 activities, 8 players\n";
    assert_eq!(counts, counted);
    assert_eq!(teams.lines().next().unwrap(), "team   strategy       players  hours of play");
    assert_eq!(teams.lines().count(), 3, "{teams}");
    let (teams, counts) = check("big");
    assert_eq!(counts.lines().count(), 1, "{counts}");
    assert_eq!(teams.lines().count(), 4, "{teams}");
}

#[test]
fn all_that_is_wrong_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = example(folder.path(), "small");
    let good = std::fs::read_to_string(&file).unwrap();
    let bad = good.replace("\"24h\"", "\"a day\"").replace("\"boss.serpent\"", "\"boss.serpants\"");
    let bad = bad.replacen("activity = \"boss.serpants\"", "activity = \"boss.serpent\"", 1);
    std::fs::write(&file, bad).unwrap();
    let refused = |words: &[&str]| {
        let output = program(words).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let path = file.to_str().unwrap();
    let faults = refused(&["bingo", "check", path]);
    let lines: Vec<&str> = faults.lines().collect();
    assert_eq!(lines[0], format!("error: {path} does not define a valid event:"));
    assert_eq!(lines[1], "duration: invalid duration \"a day\": write 24h or 9days");
    assert!(lines[2].starts_with("rows[") && lines[2].contains("did you mean boss.serpants"), "{faults}");
    assert_eq!(lines.len(), 3, "{faults}");
    // `run` prints the same error, and stores no ensemble.
    let data = folder.path().join("data");
    assert_eq!(failure(&data, &["run", "bingo", "--event", path], 2), faults);
    assert!(!data.exists());
    std::fs::write(&file, "name = \"Board\"\nduration\n").unwrap();
    let unread = refused(&["bingo", "check", path]);
    assert!(
        unread.starts_with(&format!("error: {path} does not define a valid event:\nline 2, column 9: ")),
        "{unread}"
    );
}

#[test]
fn what_is_odd_is_told_of_a_good_event() {
    let folder = tempfile::tempdir().unwrap();
    let file = example(folder.path(), "small");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, good.replace("[capabilities]", "[capabilities]\n\"quest.lost\" = \"Lost\"")).unwrap();
    let (_, told) = said(&["bingo", "check", file.to_str().unwrap()]);
    assert_eq!(told.lines().last().unwrap(), "capabilities.\"quest.lost\": no player has it");
}

#[test]
fn files_that_are_missing_or_not_asked_for_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let lost = folder.path().join("lost.toml");
    let lost = lost.to_str().unwrap();
    let missing = format!("error: cannot read {lost}: No such file or directory (os error 2)\n");
    assert_eq!(failure(&data, &["run", "bingo", "--event", lost], 2), missing);
    let check = program(&["bingo", "check", lost]).output().unwrap();
    assert_eq!((check.status.code(), String::from_utf8(check.stderr).unwrap()), (Some(2), missing));
    assert_eq!(
        failure(&data, &["run", "bingo"], 2),
        "error: bingo needs an event: name its file with --event FILE (activities, players, rows of tiles \
         and teams, in TOML or JSON)\n"
    );
    let file = example(folder.path(), "small");
    let words = ["run", "football", "--event", file.to_str().unwrap()];
    assert_eq!(failure(&data, &words, 2), "error: --event: football takes no event\n");
    assert!(!data.exists());
}

#[test]
fn an_event_is_played_verified_and_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = example(folder.path(), "small");
    let file = file.to_str().unwrap();
    let stored = json(&data, &["run", "bingo", "--event", file, "--worlds", "300", "--name", "stored"]);
    let replayed = ["run", "bingo", "--event", file, "--worlds", "300", "--name", "replayed", "--events", "replay"];
    assert_eq!(json(&data, &replayed)["hash"], stored["hash"], "the same worlds");
    for (name, ok, detail) in [
        ("stored", serde_json::Value::Bool(true), " values"),
        ("replayed", serde_json::Value::Null, "nothing to recount: events are not stored but replayed"),
    ] {
        let found = json(&data, &["verify", name]);
        let recount =
            found["checks"].as_array().unwrap().iter().find(|c| c["name"] == "outcomes recount from the events");
        let recount = recount.unwrap();
        assert_eq!(recount["ok"], ok, "{found}");
        assert!(recount["detail"].as_str().unwrap().ends_with(detail), "{recount}");
    }
    let other = failure(&data, &["run", "football", "--name", "stored", "--resume"], 2);
    let expected = "cannot resume ensemble \"stored\": it was started with model bingo, not football";
    assert_eq!(other, format!("error: {expected}; use the same, or --replace\n"));
    // Both teams' shares of the win sum to one.
    let ask = "SELECT sum(value) / 300 AS wins FROM outcomes WHERE ensemble = 'stored' AND outcome = 'win_share'";
    assert_eq!(json(&data, &["sql", ask])[0]["wins"], 1.0);
    let points = json(&data, &["outcome", "stored", "--entity", "alpha", "--outcome", "points"]);
    assert_eq!(points[0]["worlds"], 300);
    assert!(points[0]["mean"].as_f64().unwrap() > 0.0);
    // The run's report ended with the same summary.
    let known = stored["known"].as_array().unwrap();
    let known = known.iter().find(|known| known["entity"] == "alpha" && known["outcome"] == "points").unwrap();
    assert_eq!((&known["worlds"], &known["mean"]), (&points[0]["worlds"], &points[0]["mean"]));
    assert!(known["ci_half_width"].as_f64().unwrap() > 0.0, "{known}");
    // A replayed world has the events that were stored.
    let events = |name: &str| json(&data, &["events", name, "--entity", "alpha", "--world", "7"]);
    assert!(events("stored").as_array().unwrap().len() > 80, "a drop and a completion a tile at least");
    assert_eq!(events("replayed"), events("stored"));
    standings_select_worlds(&data);
    a_world_is_summarised(&data);
    // The definition in the ensemble's description, written as JSON, gives the same ensemble.
    let described = json(&data, &["sql", "SELECT parameters FROM ensembles WHERE ensemble = 'stored'"]);
    let described: serde_json::Value = serde_json::from_str(described[0]["parameters"].as_str().unwrap()).unwrap();
    let again = folder.path().join("again.json");
    std::fs::write(&again, described["definition"].to_string()).unwrap();
    let words = ["run", "bingo", "--event", again.to_str().unwrap(), "--worlds", "300", "--name", "again"];
    assert_eq!(json(&data, &words)["hash"], stored["hash"]);
    // Another rule gives another ensemble.
    let words =
        ["run", "bingo", "--event", file, "--worlds", "300", "--name", "theirs", "--param", "idle_until_quiet=1"];
    assert_ne!(json(&data, &words)["hash"], stored["hash"]);
}

/// Conditions on the standings select the same worlds as SQL: those with the standings of world 7 after 12 hours.
fn standings_select_worlds(data: &Path) {
    let tiles = |team: &str| {
        format!(
            "SELECT world, count(*) AS n FROM events('stored', '{team}', '0-299') \
             WHERE what = 'completion' AND second <= 43200 GROUP BY world"
        )
    };
    let sql = |text: &str| json(data, &["sql", text])[0]["n"].as_u64().unwrap();
    let [alpha, beta] = ["alpha", "beta"].map(|team| sql(&format!("SELECT n FROM ({}) WHERE world = 7", tiles(team))));
    assert!(alpha > 0 && beta > 0);
    let both = format!(
        "SELECT count(*) AS n FROM ({}) a JOIN ({}) b USING (world) WHERE a.n = {alpha} AND abs(b.n - {beta}) <= 3",
        tiles("alpha"),
        tiles("beta")
    );
    let given = [format!("at 12h, tiles {alpha}"), format!("beta: at 12h, tiles {beta} ±3")];
    let ask = |name: &'static str| {
        let words = ["price", name, "--entity", "alpha", "--leg", "win_share > 0", "--min-worlds", "1"];
        [&words[..], &["--given", &given[0], "--given", &given[1]]].concat()
    };
    let stored = json(data, &ask("stored"));
    assert_eq!(stored["worlds"], sql(&both), "{stored}");
    assert_eq!(json(data, &ask("replayed")), stored);
    let said = failure(data, &[&ask("stored")[..], &["--given", "at 12h, missing r0-4, tiles 80"]].concat(), 2);
    assert!(said.contains("widen the tolerances ") || said.contains("no tolerance is wide enough"), "{said}");
    assert!(said.contains(&format!("and beta: at 12h, tiles {beta} ±3 and at 12h, missing r0-4")), "{said}");
    let said = failure(data, &[&ask("stored")[..], &["--given", "at 12h, tiles"]].concat(), 2);
    assert!(said.starts_with("error: \"tiles\": expected a number, as in 'at 12h ±30m, points 40"), "{said}");
    let said = failure(data, &["price", "stored", "--leg", "alpha:points > 3", "--given", "at 12h, tiles 3"], 2);
    assert!(said.contains("write it as \"ENTITY: at 12h, tiles 3\""), "{said}");
}

fn a_world_is_summarised(data: &Path) {
    let of = |name: &str| json(data, &["events", name, "--entity", "alpha", "--world", "7", "--summary"]);
    let summary = of("stored");
    assert_eq!(of("replayed"), summary);
    let [team, board, players] = ["team", "board", "players"].map(|name| {
        let tables = summary["tables"].as_array().unwrap();
        tables.iter().find(|table| table["name"] == name).unwrap()["rows"].as_array().unwrap()
    });
    assert_eq!((&team[0][0], &team[0][1]), (&summary["outcomes"]["points"], &summary["outcomes"]["tiles"]));
    let done = board.iter().filter(|tile| !tile[6].is_null());
    assert_eq!(done.clone().count() as f64, team[0][1].as_f64().unwrap());
    assert!(done.clone().all(|tile| tile[3].as_f64() >= tile[4].as_f64()), "{summary}");
    let by_players: f64 = players.iter().map(|player| player[3].as_f64().unwrap()).sum();
    assert_eq!(by_players, done.count() as f64);
    let text = run(data, &["events", "stored", "--entity", "alpha", "--world", "7", "--summary"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("Alpha\n\nteam\npoints  tiles  row  win_share  attempts\n"), "{text}");
}

#[test]
fn a_run_ends_when_what_is_to_be_known_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = example(folder.path(), "small");
    let run = |goal: &str, more: &[&str]| {
        let words = ["run", "bingo", "--worlds", "1000000", "--range-worlds", "200", "--until-ci", goal];
        let outcome = ["--outcome", "alpha:win_share", "--event", file.to_str().unwrap()];
        let enough = json(&data, &[&words[..], &outcome, more].concat());
        assert_eq!((&enough["is_enough"], &enough["complete"]), (&true.into(), &false.into()));
        let known = enough["known"].as_array().unwrap();
        let share = known.iter().find(|known| known["entity"] == "alpha" && known["outcome"] == "win_share").unwrap();
        // Worlds in progress when the goal was met are also stored, and no others.
        assert_eq!(enough["worlds"], share["worlds"], "{enough}");
        // The ensemble has met its goal.
        assert_eq!(json(&data, &["ensembles"])[0]["state"], "enough");
        let found = json(&data, &["verify", "bingo"]);
        let cover = found["checks"][0]["detail"].as_str().unwrap();
        assert!(cover.ends_with(&format!("enough for alpha:win_share within {goal}")), "{cover}");
        (enough["worlds"].as_u64().unwrap(), enough["played"].as_u64().unwrap(), share.clone())
    };
    // 0.96 divided by the square root of the number of worlds is 3% after about a thousand worlds, and 1.5% after four
    // thousand. A busy machine plays more worlds before it evaluates the finished ones.
    let (few, played, share) = run("3%", &[]);
    assert!(played == few && (400..4_000).contains(&few), "{share}");
    assert!((share["mean"].as_f64().unwrap() - 0.5).abs() < 0.2 && share["ci_half_width"].as_f64().unwrap() <= 0.03);
    let (more, played, share) = run("1.5%", &["--resume"]);
    assert!(played == more - few && (2_000..9_000).contains(&more), "{share}");
    assert!(share["ci_half_width"].as_f64().unwrap() <= 0.015, "{share}");
    // The stored worlds already meet this goal.
    assert_eq!(run("2%", &["--resume"]), (more, 0, share));
}
