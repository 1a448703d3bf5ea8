//! The risk of a book of bets.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{failure, json, run};

const BETS: &str = "\
id,legs,stake,odds,side,entity
home,home_won,25.50,1.9,back,game-017
over,total_points > 44.5; home_margin > 3.5,10,4.25,,game-017
lay,game-017:winner = 'home',12,2.1,Lay,
wins,team-03:wins >= 9,40,1.75,back,
";

/// What each bet earns in a world, in thousandths, and whether it is met, in SQL.
const PROFITS: [(&str, &str, i64, i64); 4] = [
    ("game-017", "home_won = 1", 22_950, -25_500),
    ("game-017", "total_points > 44.5 AND home_margin > 3.5", 32_500, -10_000),
    ("game-017", "winner = 1", -13_200, 12_000),
    ("team-03", "wins >= 9", 30_000, -40_000),
];

fn season() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    json(
        &data,
        &["run", "football", "--worlds", "150", "--range-worlds", "40", "--events", "replay", "--name", "season"],
    );
    (folder, data)
}

fn file(folder: &Path, text: &str) -> String {
    let path = folder.join("bets.csv");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The profit of each bet in each world, in thousandths.
fn profits(data: &Path) -> Vec<Vec<i64>> {
    let of = |(entity, met, gain, loss): &(&str, &str, i64, i64)| {
        let query = format!(
            "SELECT CASE WHEN {met} THEN {gain} ELSE {loss} END AS x FROM worlds('season', '{entity}') ORDER BY world"
        );
        let rows = json(data, &["sql", &query]);
        rows.as_array().unwrap().iter().map(|row| row["x"].as_i64().unwrap()).collect()
    };
    PROFITS.iter().map(of).collect()
}

fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} and not {expected}");
}

#[test]
fn a_book_has_the_risk_of_its_worlds() {
    let (folder, data) = season();
    let bets = file(folder.path(), BETS);
    let found = json(&data, &["book", "season", "--file", &bets, "--level", "0.9", "--worst", "3"]);
    let profits = profits(&data);
    let mut sums: Vec<(i64, usize)> =
        (0..150).map(|world| (profits.iter().map(|bet| bet[world]).sum(), world)).collect();
    sums.sort_unstable();
    assert_eq!((&found["worlds"], &found["is_exact"], &found["stake"]), (&json!(150), &json!(true), &json!(87.5)));
    near(&found["mean"], sums.iter().map(|(sum, _)| *sum as f64).sum::<f64>() / 150.0 / 1000.0);
    near(&found["min"], sums[0].0 as f64 / 1000.0);
    near(&found["loss"]["probability"], sums.iter().filter(|(sum, _)| *sum < 0).count() as f64 / 150.0);
    for (shown, (sum, world)) in found["worst"].as_array().unwrap().iter().zip(&sums) {
        assert_eq!(shown["world"], *world);
        near(&shown["profit"], *sum as f64 / 1000.0);
        let lost: Vec<&str> =
            (0..4).filter(|bet| profits[*bet][*world] < 0).map(|bet| ["home", "over", "lay", "wins"][bet]).collect();
        assert_eq!(shown["lost"], json!(lost));
    }
    // The worst tenth is 15 worlds; the 16th worst is the value at risk.
    let tail = &found["tails"][0];
    near(&tail["value_at_risk"], -sums[15].0 as f64 / 1000.0);
    let shortfall = -sums[..15].iter().map(|(sum, _)| *sum as f64).sum::<f64>() / 15.0 / 1000.0;
    near(&tail["expected_shortfall"], shortfall);
    let parts = found["bets"].as_array().unwrap().iter().map(|bet| bet["shortfall"][0]["amount"].as_f64().unwrap());
    assert!((parts.sum::<f64>() - shortfall).abs() < 1e-9);
    for bet in found["bets"].as_array().unwrap() {
        let part = &bet["shortfall"][0];
        near(&part["share"], part["amount"].as_f64().unwrap() / shortfall);
        let [low, edge, high] = [&bet["edge_ci"][0], &bet["edge"], &bet["edge_ci"][1]].map(|end| end.as_f64().unwrap());
        assert!(low < edge && edge < high, "{bet}");
    }
    let expected = found["bets"].as_array().unwrap().iter().map(|bet| bet["expected_profit"].as_f64().unwrap());
    near(&found["mean"], expected.sum::<f64>());

    // The same over HTTP, and in the other formats.
    let server = Served::start(&data, &[]);
    let bets_of = |bet: [&str; 5], legs: Value| json!({"id": bet[0], "stake": bet[1], "odds": bet[2], "side": bet[3], "entity": bet[4], "legs": legs});
    let plain =
        |id: &str, stake: f64, odds: f64, leg: &str| json!({"id": id, "stake": stake, "odds": odds, "legs": [leg]});
    let mut lay = plain("lay", 12.0, 2.1, "game-017:winner = 'home'");
    lay["side"] = json!("lay");
    let question = json!({"ensemble": "season", "levels": [0.9], "worst": 3, "bets": [
        bets_of(["home", "25.50", "1.9", "back", "game-017"], json!(["home_won"])),
        bets_of(["over", "10", "4.25", "back", "game-017"], json!(["total_points > 44.5", "home_margin > 3.5"])),
        lay,
        plain("wins", 40.0, 1.75, "team-03:wins >= 9"),
    ]});
    let reply = server.post_json("/api/v1/book", &question);
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json(), found);
    let csv = String::from_utf8(run(&data, &["book", "season", "--file", &bets, "--format", "csv"]).stdout).unwrap();
    assert!(csv.starts_with("id,legs,side,stake,odds,probability,"), "{csv}");
    assert!(csv.contains("\nover,total_points > 44.5; home_margin > 3.5,back,10,4.25,"), "{csv}");
    let text = String::from_utf8(run(&data, &["book", "season", "--file", &bets]).stdout).unwrap();
    assert!(text.starts_with("4 bets, stakes of 87.50; 150 worlds\nmean profit "), "{text}");
    assert!(text.contains("\nlevel  value at risk") && text.contains("in 99% shortfall"), "{text}");
}

/// One bet earns one of two amounts, so all intervals of its mean are that of a probability. A bet without a stake loses
/// nothing.
#[test]
fn intervals_of_one_bet_are_those_of_its_probability() {
    let (folder, data) = season();
    let bets = file(folder.path(), "legs,stake,odds\ngame-017:home_won,10,3\ngame-017:home_won,0,3\n");
    let found = json(&data, &["book", "season", "--file", &bets, "--worst", "1"]);
    let price = json(&data, &["price", "season", "--condition", "game-017:home_won"]);
    for end in 0..2 {
        let profit = 30.0 * price["ci"][end].as_f64().unwrap() - 10.0;
        near(&found["ci"][end], profit);
        near(&found["bets"][0]["expected_profit_ci"][end], profit);
        near(&found["bets"][0]["edge_ci"][end], profit / 10.0);
    }
    assert_eq!(found["worst"][0]["lost"], json!(["1"]));
}

#[test]
fn a_book_counts_worlds_under_a_condition() {
    let (folder, data) = season();
    let bets = file(folder.path(), "legs,stake,odds\ngame-017:home_won,10,2\n");
    let words = ["book", "season", "--file", &bets, "--given", "game-017:home_margin > 0", "--min-worlds", "1"];
    let found = json(&data, &words);
    assert_eq!(
        (&found["mean"], &found["bets"][0]["edge"], &found["bets"][0]["id"]),
        (&json!(10.0), &json!(1.0), &json!("1"))
    );
    let said = failure(&data, &[&words[..5], &["game-017:home_margin > 90", "--min-worlds", "0"]].concat(), 2);
    assert!(said.contains("0 of 150") && said.contains("--min-worlds"), "{said}");
}

#[test]
fn worst_worlds_under_a_condition_keep_their_numbers() {
    let (folder, data) = season();
    let bets = file(folder.path(), BETS);
    let met = "CASE WHEN home_margin > 0 THEN 1 ELSE 0 END";
    let query = format!("SELECT {met} AS x FROM worlds('season', 'game-017') ORDER BY world");
    let rows = json(&data, &["sql", &query]);
    let above: Vec<bool> = rows.as_array().unwrap().iter().map(|row| row["x"] == 1).collect();
    // World 0 does not count, so no world is at the place of its number.
    let given = if above[0] { "game-017:home_margin <= 0" } else { "game-017:home_margin > 0" };
    let profits = profits(&data);
    let counted = (0..150).filter(|world| above[*world] != above[0]);
    let mut sums: Vec<(i64, usize)> =
        counted.map(|world| (profits.iter().map(|bet| bet[world]).sum(), world)).collect();
    sums.sort_unstable();
    let words = ["book", "season", "--file", &bets, "--given", given, "--min-worlds", "1", "--worst", "3"];
    let found = json(&data, &words);
    assert_eq!(found["worlds"], sums.len());
    let worst = found["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 3);
    for (shown, (sum, world)) in worst.iter().zip(&sums) {
        assert_eq!(shown["world"], *world);
        near(&shown["profit"], *sum as f64 / 1000.0);
    }
}

#[test]
fn faults_of_bets_name_file_line_and_column() {
    let (folder, data) = season();
    let said = |text: &str| {
        let bets = file(folder.path(), text);
        let said = failure(&data, &["book", "season", "--file", &bets], 2);
        said.replace(&bets, "bets.csv")
    };
    for (text, expected) in [
        (
            "legs,stake,odds\nteam-03:wins > 8,10,2\nteam-99:wins > 8,10,2\n",
            "error: bets.csv, line 3, column legs: no entity \"team-99\"",
        ),
        (
            "leg_1,stake,odds\nteam-03:winss > 8,10,2\n",
            "error: bets.csv, line 2, column leg_1: a team_season has no outcome \"winss\"; did you mean",
        ),
        (
            "legs,stake,odds,entity\nwins > 8,10,2,team-99\n",
            "error: bets.csv, line 2, column entity: no entity \"team-99\"",
        ),
        (
            "legs,stake,odds\nwins > 8,10,2\n",
            "error: bets.csv, line 2, column legs: ambiguous outcome \"wins\": write ENTITY:wins",
        ),
        (
            "legs,stake,odds\nteam-03:wins > 8,-10,2\n",
            "error: bets.csv, line 2, column stake: the stake -10 is not between 0 and",
        ),
        (
            "legs,stake,odds\nteam-03:wins > 8,10,1.00\n",
            "error: bets.csv, line 2, column odds: decimal odds are above 1 and",
        ),
        ("legs,stake,odds\n;,10,2\n", "error: bets.csv, line 2, column legs: no condition"),
        ("legs,stake,odds\n", "error: bets.csv has no bets below its header"),
        ("legs,odds\na,2\n", "error: bets.csv, line 1: no column stake; the header is: legs,odds"),
    ] {
        assert!(said(text).starts_with(expected), "{text}: {}", said(text));
    }
    let bets = file(folder.path(), "legs,stake,odds\nteam-03:wins > 8,10,2\n");
    let level = failure(&data, &["book", "season", "--file", &bets, "--level", "95"], 2);
    assert!(level.starts_with("error: the level 95 is not between 0 and 1: for 95% give 0.95"), "{level}");
    let missing = failure(&data, &["book", "season", "--file", "nowhere.csv"], 2);
    assert!(missing.starts_with("error: cannot read nowhere.csv"), "{missing}");
    let server = Served::start(&data, &[]);
    let bet = json!({"legs": ["team-03:wins > 8"], "stake": 1, "odds": 1});
    let reply = server.post_json("/api/v1/book", &json!({"ensemble": "season", "bets": [bet]}));
    assert_eq!(
        (reply.status, reply.text().contains("bet 1, odds: decimal odds are above 1")),
        (400, true),
        "{}",
        reply.text()
    );
}
