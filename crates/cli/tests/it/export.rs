//! Inspects, exports, imports and repairs a table on the command line.

use std::fs;
use std::path::Path;

use crate::support::{failure, json, run};

/// The table `t` with three events.
fn table(data: &Path, folder: &Path) {
    let path = folder.join("t.csv");
    fs::write(
        &path,
        "at,host,ping\n2026-01-01T00:00:00Z,a,5\n2026-01-01T00:00:01Z,\"b,c\",7\n2026-01-01T00:00:02Z,a,\n",
    )
    .unwrap();
    json(data, &["table", "insert", "t", path.to_str().unwrap()]);
}

#[test]
fn what_is_exported_is_what_was_inserted_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    table(&data, folder.path());
    let rows = |data: &Path| json(data, &["sql", "SELECT * FROM t ORDER BY at"]);
    for ending in ["parquet", "csv", "jsonl"] {
        let file = folder.path().join(format!("out.{ending}"));
        let file = file.to_str().unwrap();
        assert!(run(&data, &["export", "t", "--to", file]).status.success(), "{ending}");
        let again = folder.path().join(format!("again-{ending}"));
        json(&again, &["table", "insert", "t", file]);
        assert_eq!(rows(&again), rows(&data), "{ending}");
    }
    let some = run(&data, &["export", "t", "--format", "json", "--columns", "host", "--where", "ping > 5"]);
    assert_eq!(String::from_utf8(some.stdout).unwrap(), "{\"host\":\"b,c\"}\n");
    assert!(failure(&data, &["export", "t", "--to", "x.doc"], 2).contains("--format"));
    assert!(failure(&data, &["export", "t", "--format", "parquet"], 2).contains("--to"));
}

#[test]
fn a_table_tells_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    table(&data, folder.path());
    let told = json(&data, &["info", "t"]);
    assert_eq!((&told["rows"], told["columns"].as_array().unwrap().len()), (&3.into(), 3));
    let (at, host, ping) = (&told["columns"][0], &told["columns"][1], &told["columns"][2]);
    assert_eq!((&at["type"], &at["max"]), (&"times".into(), &"2026-01-01T00:00:02Z".into()));
    assert_eq!(host["commonest"], serde_json::json!([{"value": "a", "rows": 2}, {"value": "b,c", "rows": 1}]));
    assert_eq!((&ping["nulls"], &ping["min"], &ping["mean"]), (&1.into(), &5.into(), &6.0.into()));
    assert_eq!(json(&data, &["tables"])[0]["rows"], 3);
}

#[test]
fn a_table_with_a_damaged_segment_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    table(&data, folder.path());
    let root = data.join("default").join("t");
    let segment = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|e| e == "parquet");
    let broken = fs::read_dir(&root).unwrap().flatten().find(segment).unwrap().path();
    table(&data, &data);
    fs::write(&broken, b"this is no Parquet").unwrap();
    assert!(!run(&data, &["sql", "SELECT sum(ping) FROM t"]).status.success());

    let told = run(&data, &["rebuild", "t", "--format", "json"]);
    assert_eq!(told.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!((&told["applied"], &told["damaged_rows"], &told["rows"]), (&false.into(), &3.into(), &3.into()));
    let done = run(&data, &["rebuild", "t", "--apply"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("_damaged"));
    assert_eq!(json(&data, &["sql", "SELECT sum(ping) AS s FROM t"])[0]["s"], 12);
    assert_eq!(json(&data, &["rebuild", "t"])["rows"], 3);
}

/// The outcome rows of an ensemble, as SQL reads them.
fn outcomes(data: &Path, entity: &str) -> serde_json::Value {
    json(data, &["sql", &format!("SELECT * FROM worlds('season', '{entity}') ORDER BY world")])
}

#[test]
fn an_exported_ensemble_is_imported_with_the_same_values() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    json(
        &data,
        &["run", "football", "--worlds", "12", "--range-worlds", "5", "--events", "replay", "--name", "season"],
    );
    for ending in ["parquet", "csv", "arrow"] {
        let file = folder.path().join(format!("out.{ending}"));
        let file = file.to_str().unwrap();
        assert!(run(&data, &["export", "season", "--kind", "team_season", "--to", file]).status.success(), "{ending}");
        let again = folder.path().join(format!("again-{ending}"));
        let report = json(&again, &["import", "season", file]);
        assert_eq!((&report["worlds"], report["entities"].as_array().unwrap().len()), (&12.into(), 32));
        assert_eq!(outcomes(&again, "team-03"), outcomes(&data, "team-03"), "{ending}");
    }
    let some = run(&data, &["export", "season", "--columns", "team-03:wins,game-017:winner", "--format", "json"]);
    let lines = String::from_utf8(some.stdout).unwrap();
    assert!(lines.starts_with("{\"world\":0,\"team-03:wins\":") && lines.lines().count() == 12, "{lines}");
    let said = |words: &[&str]| failure(&data, &[&["export", "season"], words].concat(), 2);
    assert!(said(&[]).contains("a row may hold 10000: choose one kind of") && said(&[]).contains("--kind"));
    assert!(said(&["--kind", "gane"]).contains("has no kind of entities \"gane\"; there are: "));
    assert!(said(&["--where", "wins > 3"]).contains("--where is for tables"));
}

#[test]
fn an_ensemble_tells_its_facts() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let played = json(&data, &["run", "football", "--worlds", "4", "--events", "replay", "--name", "t"]);
    let told = json(&data, &["info", "t"]);
    assert_eq!((&told["ensemble"], &told["worlds"], &told["hash"]), (&"t".into(), &4.into(), &played["hash"]));
    assert_eq!((&told["model"], &told["state"]), (&"football".into(), &"complete".into()));
    assert!(told["parameters"]["home_edge"].is_number() && told["catalogue"]["entities"].is_array(), "{told}");
    let text = String::from_utf8(run(&data, &["info", "t"]).stdout).unwrap();
    assert!(
        text.contains("4 of 4") && text.contains("home_margin") && text.contains("288 entities with 850 outcomes"),
        "{text}"
    );

    // A table of the same name comes first.
    table(&data, folder.path());
    assert_eq!(json(&data, &["info", "t"])["rows"], 3);
    let note = String::from_utf8(run(&data, &["info", "t"]).stderr).unwrap();
    assert!(note.contains("t is also the name of an ensemble: --ensemble takes it"), "{note}");
    assert_eq!(json(&data, &["info", "t", "--ensemble"])["hash"], played["hash"]);
    assert!(failure(&data, &["export", "t", "--kind", "game"], 2).contains("--kind is for ensembles"));
    assert!(failure(&data, &["info", "nothing", "--ensemble"], 2).contains("unknown ensemble \"nothing\""));
    assert!(failure(&data, &["export", "nothing"], 2).contains("no table or ensemble \"nothing\""));
}
