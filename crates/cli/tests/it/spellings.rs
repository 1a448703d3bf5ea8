//! The overview of commands, and old spellings that scripts use.

use serde_json::json;

use crate::support::{json, program, run};

#[test]
fn every_way_to_ask_for_help_shows_the_overview() {
    let shown = |words: &[&str], code: i32| {
        let output = program(words).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let overview = shown(&["--help"], 0);
    assert!(overview.contains("\nExplore    ensembles    List the stored ensembles\n"), "{overview}");
    assert!(!overview.contains('\u{1b}'), "styles are for terminals only");
    for (words, code) in [(&["-h"][..], 0), (&["help"], 0), (&[], 2)] {
        assert_eq!(shown(words, code), overview, "{words:?}");
    }
    assert!(shown(&["help", "flush"], 0).contains("Example:\n  manyworlds flush visits"));
}

#[test]
fn probability_has_an_interval_and_price_odds() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    json(data, &["run", "football", "--worlds", "200", "--events", "replay", "--name", "season"]);
    let ask = |command, flag| json(data, &[command, "season", "--entity", "game-017", flag, "home_margin > 3"]);
    let (probability, price) = (ask("probability", "--condition"), ask("price", "--condition"));
    assert_eq!(ask("price", "--leg"), price);
    assert_eq!(ask("probability", "--leg"), probability);
    let odds = 1.0 / price["probability"].as_f64().unwrap();
    assert!((price["fair_odds"].as_f64().unwrap() - odds).abs() < 1e-9, "{price}");
    let mut without = price;
    without.as_object_mut().unwrap().remove("fair_odds");
    assert_eq!(probability, without);
    let words = ["--entity", "game-017", "--condition", "home_margin > 3", "--condition", "total_points > 40"];
    let said = |command| String::from_utf8(run(data, &[&[command, "season"], &words[..]].concat()).stdout).unwrap();
    let (probability, price) = (said("probability"), said("price"));
    for part in ["condition", "if independent", "all, in 200 worlds", "% to "] {
        assert!(probability.contains(part), "{probability}");
    }
    assert!(!probability.contains("odds") && price.contains("fair odds"), "{probability}\n{price}");
}

#[test]
fn old_spellings_do_what_the_new_ones_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let rows = folder.path().join("rows.jsonl");
    std::fs::write(&rows, "{\"time\": 1760000000, \"n\": 1}\n{\"time\": 1760000001, \"n\": 2}\n").unwrap();
    for command in ["digest", "flush"] {
        assert!(run(data, &["append", "t", rows.to_str().unwrap()]).status.success());
        assert_eq!(json(data, &[command, "t"])["rows"], 2, "{command}");
    }
    assert_eq!(json(data, &["tables"]), json(data, &["table", "list"]));
    assert_eq!(json(data, &["tables"])[0]["rows"], 4);
    assert_eq!(json(data, &["inspect", "t"]), json(data, &["table", "inspect", "t"]));
    for words in [&["rebuild", "t", "--apply"][..], &["table", "rebuild", "t"]] {
        assert_eq!(
            (&json(data, words)["rows"], &json(data, words)["damaged_rows"]),
            (&json!(4), &json!(0)),
            "{words:?}"
        );
    }
    for words in [&["table", "trim", "t", "--keep-bytes", "0"][..], &["trim", "t", "--keep-bytes", "0", "--apply"]] {
        assert_eq!(json(data, words)["rows"], 4, "{words:?}");
    }
    assert_eq!(json(data, &["table", "list"])[0]["rows"], 0);
    let load = program(&["load", "127.0.0.1:8080", "--max"]).output().unwrap();
    assert!(String::from_utf8_lossy(&load.stderr).contains("http://HOST:PORT"), "{load:?}");
}
