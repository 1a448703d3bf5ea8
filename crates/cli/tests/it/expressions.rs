//! Expressions in place of the names of outcomes.

use std::path::Path;

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{failure, json, run};

const WORLDS: &str = "60";

fn play(data: &Path, words: &[&str]) {
    let all = [&["run", "football", "--worlds", WORLDS, "--events", "replay"], words].concat();
    json(data, &all);
}

/// One column of each world, computed by SQL.
fn column(data: &Path, text: &str, entity: &str) -> Vec<f64> {
    let query = format!("SELECT {text} AS x FROM worlds('season', '{entity}') ORDER BY world");
    json(data, &["sql", &query]).as_array().unwrap().iter().map(|row| row["x"].as_f64().unwrap()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} and not {expected}");
}

/// The cumulative distribution as values with their share.
fn cdf(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let share = |value: f64| sorted.partition_point(|x| *x <= value) as f64 / sorted.len() as f64;
    let mut distinct = sorted.clone();
    distinct.dedup();
    distinct.into_iter().map(|value| (value, share(value))).collect()
}

#[test]
fn expressions_have_distributions() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play(data, &["--name", "season"]);
    let yards = "0.04 * home_qb1_pass_yards + 6 * home_touchdowns";
    let words = ["outcome", "season", "game-017", "home_points + away_points", yards, "home_points > 20", "--cdf"];
    let found = json(data, &words);
    let shown = |place: usize| (found[place]["entity"].clone(), found[place]["outcome"].clone());
    assert_eq!(shown(0), (json!("game-017"), json!("home_points + away_points")));
    assert_eq!([&found[0]["unit"], &found[1]["unit"], &found[2]["unit"]], ["points", "", "0 or 1"]);
    let hundredths = column(data, "4 * home_qb1_pass_yards + 600 * home_touchdowns", "game-017");
    let twins = [
        column(data, "home_points + away_points", "game-017"),
        hundredths.iter().map(|x| x / 100.0).collect(),
        column(data, "CASE WHEN home_points > 20 THEN 1 ELSE 0 END", "game-017"),
    ];
    for (place, twin) in twins.iter().enumerate() {
        near(&found[place]["mean"], mean(twin));
        let found = found[place]["cdf"].as_array().unwrap();
        let twin = cdf(twin);
        let values: Vec<f64> = found.iter().map(|row| row["value"].as_f64().unwrap()).collect();
        assert_eq!(values, twin.iter().map(|(value, _)| *value).collect::<Vec<_>>());
        found.iter().zip(twin).for_each(|(row, (_, share))| near(&row["probability"], share));
    }
    // The total is an outcome too, with the same distribution and another name.
    let mut total = json(data, &["outcome", "season", "--entity", "game-017", "--outcome", "total_points", "--cdf"]);
    total[0]["outcome"] = json!("home_points + away_points");
    assert_eq!(total[0], found[0]);

    // Conditions and flags are numbers, 0 and 1.
    let words =
        ["outcome", "season", "game-017", "10 * (home_points > 20) - (away_won)", "home_won + away_won", "--cdf"];
    let found = json(data, &words);
    let twins = [
        "CASE WHEN home_points > 20 THEN 10 ELSE 0 END - CASE WHEN away_won = 1 THEN 1 ELSE 0 END",
        "CASE WHEN home_won + away_won > 0 THEN 1 ELSE 0 END",
    ];
    for (place, twin) in twins.into_iter().enumerate() {
        near(&found[place]["mean"], mean(&column(data, twin, "game-017")));
        assert_eq!(found[place]["unit"], "");
    }

    // No interval leaves the possible shares.
    let found = json(data, &["outcome", "season", "game-017", "home_points >= 0", "home_points < 0"]);
    let end = |place: usize, end: usize| found[place]["ci"][end].as_f64().unwrap();
    assert!(end(0, 0) < 1.0 && end(1, 1) > 0.0, "{found}");
    assert_eq!((end(0, 1), end(1, 0)), (1.0, 0.0));

    // Of two entities, so without one.
    let across = "team-03:wins - team-04:wins";
    let found = json(data, &["outcome", "season", "--outcome", across]);
    assert_eq!((&found[0]["entity"], &found[0]["unit"]), (&Value::Null, &json!("games")));
    let (a, b) = (column(data, "wins", "team-03"), column(data, "wins", "team-04"));
    near(&found[0]["mean"], mean(&a) - mean(&b));
    let text = run(data, &["outcome", "season", "--outcome", across]).stdout;
    assert!(String::from_utf8(text).unwrap().starts_with("team-03:wins - team-04:wins, games; 60 worlds\nmean "));
    let csv = run(data, &["outcome", "season", "--outcome", "max(team-03:wins, 5)", "--format", "csv"]).stdout;
    assert!(String::from_utf8(csv).unwrap().contains("\n,\"max(team-03:wins, 5)\",60,"));
    let plain = json(data, &["outcome", "season", "--outcome", "team-03:wins"]);
    assert_eq!(plain, json(data, &["outcome", "season", "team-03", "wins"]));
}

#[test]
fn expressions_are_correlated_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play(data, &["--name", "season"]);
    let words = ["correlate", "season", "--outcome", "team-03:wins", "--outcome", "17 - team-03:losses - team-03:ties"];
    let found = json(data, &words);
    assert_eq!(found["outcomes"], json!(["team-03:wins", "17 - team-03:losses - team-03:ties"]));
    assert_eq!((&found["entity"], found["matrix"][0][1].as_f64().unwrap() > 0.999), (&Value::Null, true));
    let csv =
        run(data, &["correlate", "season", "--entity", "team-03", "--outcome", "max(wins, 3)", "--format", "csv"]);
    assert_eq!(String::from_utf8(csv.stdout).unwrap(), "outcome,\"max(wins, 3)\"\n\"max(wins, 3)\",1\n");

    play(data, &["--name", "other", "--param", "home_edge=6"]);
    let sum = "game-017:home_points + game-017:away_points";
    let of = |outcome: &str| {
        json(data, &["compare", "season", "other", "--outcome", outcome]).as_array().unwrap()[0].clone()
    };
    let (mut sum_of, total) = (of(sum), of("game-017:total_points"));
    assert_eq!(sum_of["outcome"], sum);
    sum_of["outcome"] = total["outcome"].clone();
    assert_eq!(sum_of, total);
    let won = of("game-017:home_margin > 0");
    assert_eq!(won["difference"], of("game-017:home_won")["difference"]);
}

#[test]
fn undefined_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play(data, &["--name", "season"]);
    let said = |text: &str| failure(data, &["outcome", "season", "--entity", "game-017", "--outcome", text], 2);
    let undefined = column(data, "CASE WHEN any_safety = 0 THEN 1 ELSE 0 END", "game-017");
    let first = undefined.iter().position(|x| *x == 1.0).unwrap();
    let refused = said("home_points / any_safety");
    let expected = format!(
        "error: \"home_points / any_safety\" has no finite value in {} of 60 worlds, first in world {first}: ",
        undefined.iter().sum::<f64>()
    );
    assert!(refused.starts_with(&expected), "{refused}");
    assert!(run(data, &["outcome", "season", "game-017", "home_points / max(1, any_safety)"]).status.success());
    assert!(said("home_points +").contains("expected a name, a number or a 'text'"));
    assert!(said("home_points + away_ponts").contains("did you mean away_points"));
    assert!(said("abs(home_points > 1)").contains("put a condition that is an argument in parentheses"));
    assert!(said(&"(".repeat(300)).contains("nested more than"));
    assert!(failure(data, &["outcome", "season", "--outcome", "wins + 1"], 2).contains("ambiguous outcome \"wins\""));
    assert!(failure(data, &["correlate", "season"], 2).contains("no outcome and no entity"));
}

#[test]
fn codes_have_labels() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play(data, &["--name", "season"]);
    let found = json(data, &["outcome", "season", "game-017", "winner"]);
    let won = column(data, "CASE WHEN winner = 1 THEN 1 ELSE 0 END", "game-017").iter().sum::<f64>();
    let labels = found[0]["labels"].as_array().unwrap();
    let home = labels.iter().find(|row| row["label"] == "home").unwrap();
    assert_eq!(home, &json!({"label": "home", "code": 1.0, "worlds": won as u64, "share": won / 60.0}));
    let text = String::from_utf8(run(data, &["outcome", "season", "game-017", "winner"]).stdout).unwrap();
    assert!(text.contains("\nlabel  code  worlds   share\n"), "{text}");
    let words = |condition| ["price", "season", "--entity", "game-017", "--condition", condition];
    assert_eq!(json(data, &words("winner = 'home'"))["hits"], won as u64);
    assert_eq!(
        json(data, &words("half_full_result in ('home/home')"))["hits"],
        json(data, &words("half_full_result = 4"))["hits"]
    );
    let said = failure(data, &words("winner = 'hame'"), 2);
    assert!(said.starts_with("error: winner has no label \"hame\"; did you mean home?\n  winner = 'hame'\n"), "{said}");
}

#[test]
fn the_server_takes_expressions() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    play(data, &["--name", "season"]);
    let server = Served::start(data, &[]);
    let outcomes = json!(["home_points - away_points", "team-03:wins"]);
    let reply = server
        .post_json("/api/v1/outcome", &json!({"ensemble": "season", "entities": ["game-001"], "outcomes": outcomes}));
    assert_eq!(reply.status, 200, "{}", reply.text());
    let words = ["outcome", "season", "game-001", "home_points - away_points", "team-03:wins"];
    assert_eq!(reply.json(), json(data, &words));
    let reply = server.post_json("/api/v1/outcome", &json!({"ensemble": "season", "outcomes": ["1 / 0"]}));
    assert_eq!((reply.status, reply.text().contains("no finite value in 60 of 60 worlds")), (400, true));
}
