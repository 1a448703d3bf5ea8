//! Numbers of files are asked like those of played worlds.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{failure, json, run};

/// Writes the waiting times of two queues over 200 worlds, a row for each world and queue.
fn write(folder: &Path, name: &str, worlds: std::ops::Range<usize>) -> PathBuf {
    let mut text = "world,entity,wait,late,state\n".to_owned();
    for world in worlds {
        for queue in [1, 2] {
            let wait = (world * 37 * queue) % 200;
            let (late, state) = (wait > 150, ["open", "full"][usize::from(wait > 100)]);
            writeln!(text, "{world},queue-{queue},{}.{},{late},{state}", wait / 10, wait % 10).unwrap();
        }
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn imported_worlds_answer_questions() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let (first, rest) = (write(folder.path(), "a.csv", 0..150), write(folder.path(), "b.csv", 150..200));
    let (first, rest) = (first.to_str().unwrap(), rest.to_str().unwrap());
    json(data, &["import", "queues", first]);
    let report = json(data, &["import", "queues", rest, "--append"]);
    assert_eq!((&report["worlds"], &report["imported"], &report["form"]), (&json!(200), &json!(50), &json!("wide")));
    let kinds: Vec<&Value> = report["outcomes"].as_array().unwrap().iter().map(|outcome| &outcome["kind"]).collect();
    assert_eq!(kinds, ["flag", "code", "number in steps of 1/10"]);
    let whole = json(data, &["import", "whole", first, rest]);
    assert_eq!(whole["hash"], report["hash"]);

    let ensembles = json(data, &["ensembles"]);
    assert_eq!((&ensembles[0]["ensemble"], &ensembles[0]["state"]), (&json!("queues"), &json!("complete")));
    assert_eq!((&ensembles[0]["model"], &ensembles[0]["worlds"]), (&json!("import"), &json!(200)));
    let outcome = json(data, &["outcome", "queues", "--entity", "queue-1", "--outcome", "wait"]);
    assert!((outcome[0]["mean"].as_f64().unwrap() - 9.95).abs() < 1e-9, "{outcome}");
    let words =
        ["probability", "queues", "--entity", "queue-1", "--condition", "late", "--condition", "queue-2:wait > 3"];
    let price = json(data, &words);
    let expected = (0..200).filter(|world| world * 37 % 200 > 150 && world * 74 % 200 > 30).count();
    assert_eq!(price["probability"], json!(expected as f64 / 200.0), "{price}");
    let sql = "SELECT count(*) AS n, sum(wait) AS wait FROM worlds('queues', 'queue-1') WHERE late = 1 AND state = 0";
    let rows = json(data, &["sql", sql]);
    let waits: Vec<usize> = (0..200).map(|world| world * 37 % 200).filter(|wait| *wait > 150).collect();
    assert_eq!(rows[0]["n"], json!(waits.len()), "the first text by name, full, is 0: {rows}");
    assert!((rows[0]["wait"].as_f64().unwrap() - waits.iter().sum::<usize>() as f64 / 10.0).abs() < 1e-9, "{rows}");
    let compared = json(data, &["compare", "queues", "whole", "--outcome", "queue-2:wait"]);
    assert_eq!(compared[0]["difference"], json!(0.0), "{compared}");
    let pairs = ["correlate", "queues", "--entity", "queue-1", "--outcome", "wait", "--outcome", "late"];
    assert!(run(data, &pairs).status.success());
}

#[test]
fn the_only_entity_of_an_ensemble_need_not_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let file = folder.path().join("queue.csv");
    std::fs::write(&file, "world,wait,served\n0,1.5,3\n1,2.5,4\n2,0.25,9\n").unwrap();
    json(data, &["import", "queue", file.to_str().unwrap()]);
    let alike = |words: &[&str], named: &[&str]| {
        let found = json(data, words);
        assert_eq!(found, json(data, &[words, named].concat()), "{words:?}");
        found
    };
    let shown = alike(&["outcome", "queue", "--outcome", "wait"], &["--entity", "all"]);
    assert_eq!(shown, json(data, &["outcome", "queue", "wait"]));
    assert_eq!(shown, json(data, &["outcome", "queue", "all", "wait"]));
    alike(&["probability", "queue", "--condition", "wait > 1"], &["--entity", "all"]);
    alike(&["leverage", "queue", "--condition", "wait > 1", "--min-worlds", "1"], &["--entity", "all"]);
    assert_eq!(json(data, &["correlate", "queue"])["outcomes"], json!(["served", "wait"]));
    assert_eq!(json(data, &["compare", "queue", "queue", "--outcome", "wait"])[0]["difference"], json!(0.0));
    let said = |words: &[&str]| String::from_utf8(run(data, words).stderr).unwrap();
    assert!(said(&["outcome", "queue"]).contains("no outcome is named"));
    assert!(said(&["outcome", "queue", "wiat"]).contains("did you mean wait?"));
}

#[test]
fn small_numbers_are_shown_with_their_digits() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let file = folder.path().join("small.csv");
    let values: String = (0..100).fold("x\n".to_owned(), |text, i| format!("{text}{:.6}\n", f64::from(i) * 1e-6));
    std::fs::write(&file, values).unwrap();
    json(data, &["import", "small", file.to_str().unwrap()]);
    let shown = run(data, &["outcome", "small", "--entity", "all", "--outcome", "x"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("standard deviation 0.000029\n") && shown.contains("99%: 0.000098"), "{shown}");
    assert!(shown.contains("\n       0 to 0.000005 ") && !shown.contains(" to 0 "), "{shown}");
}

#[test]
fn refused_imports_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let data = &folder.path().join("data");
    let file = write(folder.path(), "a.csv", 0..10);
    let file = file.to_str().unwrap();
    let check = |name: &str, words: &[&str], expected: &str| {
        let said = failure(data, &[&["import", name, file], words].concat(), 2);
        assert_eq!(said.trim_end(), format!("error: {expected}"));
    };
    check(
        "queues",
        &["--kind", "wait=number:1"],
        "\"wait\" of entity \"queue-1\" is 3.7 in world 1, and cannot be stored as number; --kind OUTCOME=KIND declares \
         another kind of a new ensemble",
    );
    check(
        "queues",
        &["--world-column", "draw"],
        &format!("{file}: no column \"draw\"; it has world, entity, wait, late, state"),
    );
    check(
        "queues",
        &["--append"],
        &format!("unknown ensemble \"queues\" in {}: no ensemble is stored there yet", data.display()),
    );
    check("queues", &["--threads", "0"], "--threads 0: an import needs at least one thread");
    assert!(!data.exists(), "a refused import stored something");
    json(data, &["run", "football", "--worlds", "2", "--name", "season"]);
    check(
        "season",
        &["--append"],
        "cannot append to ensemble \"season\": model football played its worlds, and only imported ensembles can be \
         appended to",
    );
    json(data, &["import", "queues", file]);
    check(
        "queues",
        &[],
        "ensemble \"queues\" exists already; replace it with --replace, add worlds with --append, or choose another name",
    );
    check(
        "queues",
        &["--append"],
        &format!("{file}, row 1, column \"world\": world 0 is stored already: continue with world 10"),
    );
}
