//! Bad input gives one clear sentence and the right exit code, and stores nothing in part.

use crate::support::{description, failure, json, program, run};

#[test]
fn bad_input_is_told_clearly() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let check =
        |words: &[&str], expected: &str| assert_eq!(failure(data, words, 2).trim_end(), format!("error: {expected}"));
    check(&["run", "footbal"], "no model \"footbal\"; did you mean football?");
    check(&["run", "football", "--worlds", "0"], "--worlds: a range needs at least one world");
    check(&["run", "football", "--threads", "0"], "--threads 0: a run needs at least one thread");
    check(&["run", "football", "--range-worlds", "0"], "--range-worlds 0: a range needs at least one world");
    check(&["run", "football", "--param", "home_egde=2"], "no parameter \"home_egde\"; did you mean home_edge?");
    check(&["run", "football", "--param", "pace=9"], "parameter pace is 9: give a number from 0.7 to 1.5");
    check(
        &["run", "football", "--name", "Bad Name"],
        "\"Bad Name\" cannot name an ensemble: use 1 to 64 lower-case letters, digits, '-', '_' and '.', beginning with \
         a letter or digit",
    );
    let nothing = format!(
        "{} stores no data: play an ensemble with `manyworlds run`, or name another folder with --data",
        data.display()
    );
    check(&["price", "season", "--leg", "1 > 0"], &nothing);
    check(&["drop", "season"], &nothing);
    assert!(std::fs::read_dir(data).unwrap().next().is_none(), "a refused command wrote something");
}

#[test]
fn a_file_is_no_place_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("season.toml");
    std::fs::write(&file, "x").unwrap();
    let message = format!("{} is a file: name the folder of the tables", file.display());
    for words in [
        &["ensembles"][..],
        &["run", "football"],
        &["price", "season", "--leg", "1 > 0"],
        &["import", "draws", "x.csv"],
        &["sql", "SELECT 1"],
        &["tables"],
        &["ask", "visits", "--count"],
        &["append", "visits"],
        &["table", "insert", "visits", "x.csv"],
        &["table", "list"],
        &["flush", "visits"],
        &["serve"],
    ] {
        let output = program(words).arg("--data").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(&message), "{words:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn questions_that_cannot_be_answered_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "4", "--name", "season"]);
    let check =
        |words: &[&str], expected: &str| assert_eq!(failure(data, words, 2).trim_end(), format!("error: {expected}"));
    check(
        &["run", "football", "--worlds", "4", "--name", "season"],
        "ensemble \"season\" exists already; resume it with --resume, replace it with --replace, or choose another --name",
    );
    check(
        &["run", "football", "--worlds", "5", "--name", "season", "--resume"],
        "cannot resume ensemble \"season\": it was started with worlds 4, not 5; use the same, or --replace",
    );
    check(
        &["price", "saison", "--leg", "1 > 0"],
        &format!("unknown ensemble \"saison\" in {}; did you mean season?", data.display()),
    );
    check(
        &["price", "season", "--entity", "game-17", "--leg", "home_margin > 3"],
        "no entity \"game-17\"; did you mean game-017, game-107, game-117?",
    );
    check(
        &["price", "season", "--entity", "game-017", "--leg", "home_margn > 3"],
        "a game has no outcome \"home_margn\"; did you mean home_margin, home_margin_h1, home_margin_h2?\n  \
         home_margn > 3\n  ^",
    );
    check(
        &["price", "season", "--entity", "game-017", "--leg", "home_margin > 3", "--given", "home_points > 99"],
        "too few worlds meet \"home_points > 99\": 0 of 4, fewer than the minimum of 100; widen the condition; or play \
         many more worlds; set the minimum with --min-worlds N",
    );
    check(
        &["outcome", "season", "--entity", "team-01", "--outcome", "winss"],
        "a team_season has no outcome \"winss\"; did you mean wins, winless?",
    );
    check(
        &["correlate", "season", "--entity", "team-01", "--outcome", "winss"],
        "a team_season has no outcome \"winss\"; did you mean wins, winless?",
    );
    check(
        &["events", "season", "--entity", "game-017", "--world", "0", "--where", "yard=3"],
        "events have no column \"yard\"; did you mean yards, yard_line?\n  yard=3\n  ^",
    );
}

#[test]
fn a_damaged_segment_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "4", "--range-worlds", "4", "--name", "season"]);
    let segment = data.join("sim/outcomes/ensemble=season/version=1/00000000-00000003.parquet");
    let mut bytes = std::fs::read(&segment).unwrap();
    let end = bytes.len();
    bytes.truncate(end / 2);
    std::fs::write(&segment, &bytes).unwrap();
    let said = failure(data, &["price", "season", "--entity", "game-001", "--leg", "home_margin > 3"], 2);
    assert!(said.starts_with(&format!("error: the segment {} is damaged: ", segment.display())), "{said}");
}

#[test]
fn a_damaged_ensemble_is_listed_and_can_be_dropped_or_played_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    for name in ["sound", "dropped", "replaced"] {
        json(data, &["run", "football", "--worlds", "2", "--events", "replay", "--name", name]);
    }
    std::fs::write(description(data, "dropped", 2), b"PAR1").unwrap();
    std::fs::remove_file(description(data, "replaced", 3)).unwrap();
    let states = || {
        let listed = json(data, &["ensembles"]);
        let state =
            |e: &serde_json::Value| format!("{} {} {}", e["ensemble"], e["state"], e["worlds"]).replace('"', "");
        listed.as_array().unwrap().iter().map(state).collect::<Vec<_>>()
    };
    assert_eq!(states(), ["dropped unreadable null", "replaced unreadable null", "sound complete 2"]);
    let output = run(data, &["ensembles"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("replace it with `manyworlds run --replace`, or remove it with `manyworlds drop replaced`\n"),
        "{said}"
    );
    let said = failure(data, &["price", "dropped", "--entity", "game-001", "--leg", "home_won"], 2);
    assert!(said.starts_with("error: ensemble \"dropped\" is damaged: "), "{said}");
    let advice = "; replace it with `manyworlds run --replace`, or remove it with `manyworlds drop dropped`\n";
    assert!(said.ends_with(advice), "{said}");
    let said = failure(data, &["sql", "SELECT count(*) FROM outcomes WHERE ensemble = 'dropped'"], 2);
    assert!(said.ends_with(advice), "{said}");
    json(data, &["price", "sound", "--entity", "game-001", "--leg", "home_won"]);
    assert!(run(data, &["drop", "dropped"]).status.success());
    json(data, &["run", "football", "--worlds", "2", "--events", "replay", "--name", "replaced", "--replace"]);
    assert_eq!(states(), ["replaced complete 2", "sound complete 2"]);
}

#[test]
fn folders_that_cannot_be_written_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let said = failure(&file.join("data"), &["run", "football", "--worlds", "4"], 2);
    assert!(said.starts_with("error: cannot create the folder"), "{said}");
    // /dev/full rejects every byte, like a full disk. The program cannot write its result, and reports it.
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program(&["models"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: cannot write the result"), "{said}");
}

#[test]
fn a_disk_that_fills_up_loses_nothing_committed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "4", "--name", "first"]);
    // A limit on the file size simulates a full disk: the second run's events do not fit.
    let script = format!(
        "trap '' XFSZ; ulimit -f 2000; exec {} run football --worlds 60 --threads 1 --range-worlds 60 --name second --data {}",
        env!("CARGO_BIN_EXE_manyworlds"),
        data.display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error: cannot write") && said.contains("File too large"), "{said}");
    let ensembles = json(data, &["ensembles"]);
    assert_eq!(ensembles[0]["worlds"], 4);
    let left: Vec<_> = std::fs::read_dir(data.join("sim/events/ensemble=second/version=2")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let resumed = run(data, &["run", "football", "--worlds", "60", "--name", "second", "--resume"]);
    assert!(resumed.status.success());
}
