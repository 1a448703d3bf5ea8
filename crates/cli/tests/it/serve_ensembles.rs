//! Ensembles over HTTP have the answers of the commands.

use std::path::Path;

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{json, run};

fn play(data: &Path, words: &[&str]) {
    let words = [&["run", "football", "--name", "season"], words].concat();
    let output = run(data, &words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn answer(server: &Served, path: &str, question: &Value) -> Value {
    let reply = server.post_json(path, question);
    assert_eq!(reply.status, 200, "{path} {question}: {}", reply.text());
    reply.json()
}

#[test]
fn the_server_answers_as_the_commands_do() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    assert_eq!(server.send("GET", "/api/v1/ensembles", &[], b"").json(), json!([]));
    play(data.path(), &["--worlds", "120", "--events", "replay"]);
    let ensembles = server.send("GET", "/api/v1/ensembles", &[], b"").json();
    assert_eq!(ensembles, json(data.path(), &["ensembles"]));
    let words = ["price", "season", "--entity", "game-001", "--leg", "home_margin > 3", "--leg", "home_won"];
    let price = json!({"ensemble": "season", "entity": "game-001", "legs": ["home_margin > 3", "home_won"]});
    assert_eq!(answer(&server, "/api/v1/price", &price), json(data.path(), &words));
    // Given an outcome, and a moment that must be replayed.
    let given = ["home_points > 10", "at q3 8:00 ±900, score 14-10 ±40"];
    let under = [&words[..], &["--given", given[0], "--given", given[1], "--min-worlds", "5"]].concat();
    let mut conditional = price.clone();
    (conditional["given"], conditional["min_worlds"]) = (json!(given), json!(5));
    assert_eq!(answer(&server, "/api/v1/price", &conditional), json(data.path(), &under));
    let words = ["outcome", "season", "--entity", "game-001", "--outcome", "home_points", "--cdf"];
    let outcome = json!({"ensemble": "season", "entities": ["game-001"], "outcomes": ["home_points"], "cdf": true});
    assert_eq!(answer(&server, "/api/v1/outcome", &outcome), json(data.path(), &words));
    // A new version answers at once, even if the old one is cached.
    for seed in ["2", "3"] {
        for _ in 0..3 {
            answer(&server, "/api/v1/price", &price);
        }
        play(data.path(), &["--worlds", "150", "--seed", seed, "--events", "replay", "--replace"]);
        let priced = answer(&server, "/api/v1/price", &price);
        assert_eq!(priced["worlds"], 150);
        assert_eq!(answer(&server, "/api/v1/outcome", &outcome), json(data.path(), &words));
    }
    for (path, question, status, said) in [
        ("/api/v1/price", json!({"ensemble": "season", "legs": []}), 400, "at least one"),
        ("/api/v1/price", json!({"ensemble": "reason", "legs": ["a > 1"]}), 404, "unknown ensemble"),
        (
            "/api/v1/price",
            json!({"ensemble": "season", "entity": "game-001", "legs": ["home_margn > 1"]}),
            400,
            "home_margin",
        ),
        ("/api/v1/price", json!({"ensemble": "season", "legs": ["home_margin >"]}), 400, "home_margin >"),
        ("/api/v1/price", json!({"ensemble": "season", "leg": "x"}), 400, "unknown field"),
        (
            "/api/v1/price",
            json!({"ensemble": "season", "entity": "game-001", "legs": ["home_margin > 1"],
            "given": ["home_points > 900"]}),
            400,
            "fewer than the minimum of 100",
        ),
        (
            "/api/v1/outcome",
            json!({"ensemble": "season", "entities": ["game-999"], "outcomes": ["x"]}),
            400,
            "game-999",
        ),
        (
            "/api/v1/price",
            json!({"ensemble": "season", "entity": "game-001", "legs": ["(".repeat(200_000)]}),
            400,
            "nested more than 200 levels",
        ),
        (
            "/api/v1/price",
            json!({"ensemble": "season", "entity": "game-001", "legs": vec!["home_won"; 1_001]}),
            400,
            "1001 legs and conditions in one question are too many",
        ),
        (
            "/api/v1/outcome",
            json!({"ensemble": "season", "entities": vec!["game-001"; 101], "outcomes": vec!["home_points"; 100]}),
            400,
            "10100 outcomes in one question are too many",
        ),
    ] {
        let reply = server.post_json(path, &question);
        let text = reply.json()["error"].as_str().unwrap().to_owned();
        let asked = question.to_string();
        let asked = &asked[..asked.len().min(200)];
        assert!(reply.status == status && text.contains(said), "{asked}: {} {text}", reply.status);
    }
}

#[test]
fn an_ensemble_is_verified_and_asked_alone() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    play(data.path(), &["--worlds", "6", "--events", "replay"]);
    let output = run(data.path(), &["run", "football", "--name", "other", "--worlds", "4", "--events", "replay"]);
    assert!(output.status.success());
    let found = answer(&server, "/api/v1/verify", &json!({"ensemble": "season"}));
    assert_eq!(found, json(data.path(), &["verify", "season"]));
    for (ensemble, expected) in [(json!("season"), json!(["season"])), (json!(null), json!(["other", "season"]))] {
        let sql = "SELECT DISTINCT ensemble FROM outcomes ORDER BY 1";
        let rows = answer(&server, "/api/v1/sql", &json!({"sql": sql, "ensemble": ensemble}));
        let names: Value = rows.as_array().unwrap().iter().map(|row| row["ensemble"].clone()).collect();
        assert_eq!(names, expected);
    }
    for (path, question, status, kind) in [
        ("/api/v1/verify", json!({"ensemble": "reason"}), 404, json!("unknown_name")),
        ("/api/v1/sql", json!({"sql": "SELECT 1", "ensemble": "reason"}), 404, json!("unknown_name")),
        ("/api/v1/sql", json!({"sql": "SELECT nothing FROM outcomes"}), 400, json!("unknown_name")),
        ("/api/v1/sql", json!({"sql": "SELECT 1 +"}), 400, json!(null)),
        ("/api/v1/sql", json!({"sql": format!("SELECT {}1", "1+".repeat(20_000))}), 400, json!("limit")),
        ("/api/v1/ask", json!({"table": "nothing", "count": true}), 404, json!("unknown_name")),
        ("/api/v1/price", json!({"ensemble": "season", "legs": ["nothing:a > 1"]}), 400, json!(null)),
    ] {
        let reply = server.post_json(path, &question);
        assert_eq!((reply.status, &reply.json()["kind"]), (status, &kind), "{path} {question}: {}", reply.text());
    }
}

#[test]
fn questions_that_ask_too_much_are_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    play(data.path(), &["--worlds", "6", "--events", "replay"]);
    let condition = |count: usize| vec!["home_won"; count];
    let bet = |legs: usize| json!({"legs": condition(legs), "stake": 1, "odds": 2});
    let book = |name: &str, value: Value| {
        let mut question = json!({"ensemble": "season", "entity": "game-001", "bets": [bet(1)]});
        question[name] = value;
        question
    };
    let leverage = |name: &str, value: Value| {
        let mut question = json!({"ensemble": "season", "entity": "game-001", "condition": "home_won"});
        question[name] = value;
        question
    };
    for (path, question, count, what, max) in [
        ("book", book("bets", json!(vec![bet(1); 20_001])), 20_001, "bets", 20_000),
        ("book", book("bets", json!([bet(1), bet(100_000)])), 100_001, "legs", 100_000),
        ("book", book("levels", json!(vec![0.9; 17])), 17, "levels", 16),
        ("book", book("worst", json!(1_001)), 1_001, "worst worlds", 1_000),
        (
            "correlate",
            json!({"ensemble": "season", "entity": "game-001", "outcomes": condition(2_001)}),
            2_001,
            "outcomes",
            2_000,
        ),
        (
            "compare",
            json!({"first": "season", "second": "season", "outcomes": vec!["game-001:home_won"; 10_001]}),
            10_001,
            "outcomes",
            10_000,
        ),
        ("leverage", leverage("given", json!(condition(1_001))), 1_001, "conditions", 1_000),
        ("leverage", leverage("limit", json!(10_001)), 10_001, "events", 10_000),
        (
            "events",
            json!({"ensemble": "season", "entity": "game-001", "world": 0, "where": vec!["down > 1"; 1_001]}),
            1_001,
            "conditions",
            1_000,
        ),
    ] {
        let reply = server.post_json(&format!("/api/v1/{path}"), &question);
        let said = reply.json();
        let expected = format!("{count} {what} in one question are too many, {max} at most: ask several questions");
        assert_eq!(
            (reply.status, &said["error"], &said["kind"]),
            (400, &json!(expected), &json!("limit")),
            "{path}: {count} {what}"
        );
    }
}
