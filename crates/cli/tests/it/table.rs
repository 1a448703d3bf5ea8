//! Inserts rows of files, and inspects and queries them on the command line.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{failure, json, program, run};

/// A file of 1,000 calls in `folder`.
fn calls(folder: &Path) -> PathBuf {
    let mut text = "id,at,phone,tower,price\n".to_owned();
    for i in 0..1_000 {
        let (phone, tower, price) = (i * 7_919 % 5_000, i * 31 % 97, f64::from(i) / 4.0);
        writeln!(text, "{i},2025-10-01T{:02}:00:00,+1-{phone:010},{tower},{price}", i / 50).unwrap();
    }
    let path = folder.join("calls.csv");
    fs::write(&path, text).unwrap();
    path
}

fn insert<'a>(file: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    [&["table", "insert", "calls", file.to_str().unwrap(), "--batch-rows", "300"], more].concat()
}

#[test]
fn rows_of_a_file_are_inserted_once_and_asked_in_every_layout() {
    for layout in ["column", "pruned", "clustered"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let file = calls(folder.path());
        let more: &[&str] = match layout {
            "clustered" => &["--cluster", "tower,at", "--bloom", "phone"],
            "pruned" => &["--bloom", "phone"],
            other => &["--layout", other],
        };
        let inserted = json(&data, &insert(&file, more));
        assert_eq!((&inserted["rows"], &inserted["rows_before"]), (&1_000.into(), &0.into()), "{layout}");
        let sql = "SELECT count(*) AS n, sum(price) AS price, max(at) AS at FROM calls WHERE tower >= 50";
        let answer = json(&data, &["sql", sql]);
        let towers: Vec<i32> = (0..1_000).filter(|i| i * 31 % 97 >= 50).collect();
        let price: f64 = towers.iter().map(|i| f64::from(*i) / 4.0).sum();
        assert_eq!((&answer[0]["n"], &answer[0]["price"]), (&towers.len().into(), &price.into()), "{layout}");
        assert_eq!(answer[0]["at"], "2025-10-01T19:00:00Z", "{layout}");
        let listed = json(&data, &["table", "list"]);
        assert_eq!((&listed[0]["table"], &listed[0]["layout"]), (&"calls".into(), &layout.into()));
        assert_eq!(listed[0]["files"], 4);
        // A second time, as after an interruption, `insert` skips the rows, unless a flag says otherwise.
        assert_eq!(json(&data, &insert(&file, &[]))["rows_before"], 1_000, "{layout}");
        assert_eq!(json(&data, &insert(&file, &["--again"]))["rows"], 1_000, "{layout}");
        assert_eq!(json(&data, &["sql", "SELECT count(*) AS n FROM calls"])[0]["n"], 2_000, "{layout}");
        assert!(run(&data, &["table", "drop", "calls"]).status.success());
        assert_eq!(json(&data, &["table", "list"]), serde_json::json!([]), "{layout}");
    }
}

#[test]
fn a_table_tells_what_its_columns_cost() {
    let folder = tempfile::tempdir().unwrap();
    let file = calls(folder.path());
    json(folder.path(), &insert(&file, &["--bloom", "phone"]));
    let told = json(folder.path(), &["table", "inspect", "calls"]);
    assert_eq!((&told["layout"], &told["rows"], &told["bloom"][0]), (&"pruned".into(), &1_000.into(), &"phone".into()));
    let columns = told["columns"].as_array().unwrap();
    let names: Vec<_> = columns.iter().map(|c| c["column"].as_str().unwrap()).collect();
    assert_eq!(names, ["id", "at", "phone", "tower", "price"]);
    let phone = &columns[2];
    let rate = phone["bloom_false_positives"].as_f64().unwrap();
    assert!(phone["bloom_bytes"].as_u64().unwrap() > 1_000 && (0.001..0.02).contains(&rate), "{phone}");
    assert_eq!(
        (&columns[0]["bloom_false_positives"], &columns[0]["encodings"]),
        (&serde_json::Value::Null, &"delta_binary_packed".into())
    );
    let bytes: u64 = columns.iter().map(|c| c["bytes"].as_u64().unwrap()).sum();
    assert!(bytes < told["bytes"].as_u64().unwrap());
    let shares: f64 = columns.iter().map(|c| c["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
}

#[test]
fn secondary_indexes_are_asked_and_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let file = calls(folder.path());
    let data = folder.path().join("data");
    json(&data, &insert(&file, &["--layout", "column", "--lookup", "phone,at"]));
    let told = json(&data, &["table", "inspect", "calls"]);
    assert_eq!(told["lookup"], serde_json::json!(["phone", "at"]));
    assert!(told["lookup_bytes"].as_u64().unwrap() > 1_000, "{told}");
    let asked = ["sql", "--stats", "SELECT id FROM calls WHERE phone = '+1-0000002919'"];
    let output = run(&data, &asked);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("1 of 4 segments, 1 of 4 row groups (3 skipped by secondary indexes)"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains('1'));
    let times = json(
        &data,
        &["sql", "SELECT count(*) AS n FROM calls WHERE at BETWEEN '2025-10-01T03:00:00' AND '2025-10-01T04:00:00'"],
    );
    assert_eq!(times[0]["n"], 100);
    let other = failure(&data, &insert(&file, &["--lookup", "tower"]), 2);
    assert!(other.contains("omit --layout, --bloom, --lookup, --cluster and --encodings"), "{other}");
    assert!(run(&data, &["table", "drop", "calls"]).status.success());
    assert!(!data.join("default/calls").exists());
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), calls(folder.path()));
    let missing = failure(&data, &insert(&file, &["--cluster", "tower,nope"]), 2);
    assert!(missing.contains("no column \"nope\": the columns are id, at, phone, tower, price"), "{missing}");
    let missing = failure(&data, &insert(&file, &["--bloom", "hone"]), 2);
    assert!(missing.contains("no column \"hone\""), "{missing}");
    let layout = program(&insert(&file, &["--layout", "rows"])).arg("--data").arg(&data).output().unwrap();
    assert!(String::from_utf8_lossy(&layout.stderr).contains("choose column, pruned or clustered"));
    let kind = failure(&data, &["table", "insert", "calls", "calls.txt"], 2);
    assert!(kind.contains("calls.txt"), "{kind}");
    assert!(failure(&data, &["table", "inspect", "calls"], 2).contains("no table calls: "));

    json(&data, &insert(&file, &[]));
    let other = folder.path().join("other.csv");
    fs::write(&other, "id,at,phone,tower,price\n1,2025-10-01T00:00:00,+1-1,five,1.5\n").unwrap();
    let mismatch = failure(&data, &insert(&other, &["--on-conflict", "refuse"]), 2);
    assert!(mismatch.contains("other.csv: line 2: tower: it is text here and integer"), "{mismatch}");
    let layout = failure(&data, &insert(&file, &["--layout", "column"]), 2);
    assert!(layout.contains("exists already in layout pruned"), "{layout}");
    assert_eq!(json(&data, &["table", "list"])[0]["rows"], 1_000);

    // Values that do not fit are kept by default.
    let kept = run(&data, &insert(&other, &[]));
    let said = String::from_utf8_lossy(&kept.stderr);
    assert!(kept.status.success() && said.contains("fit the column tower: 1, kept as text in tower_text"), "{said}");
    fs::write(&other, "id,at,phone,tower,cost\n2,2025-10-01T00:00:00,+1-1,5,1.5\n").unwrap();
    json(&data, &insert(&other, &[]));
    let sql =
        "SELECT id, tower, tower_text, cost FROM calls WHERE tower_text IS NOT NULL OR cost IS NOT NULL ORDER BY id";
    let expected = serde_json::json!([
        {"id": 1, "tower": null, "tower_text": "five", "cost": null},
        {"id": 2, "tower": 5, "tower_text": null, "cost": 1.5},
    ]);
    assert_eq!(json(&data, &["sql", sql]), expected);
    // A real number turns an integer column into a real column.
    fs::write(&other, "id,tower\n3,2.5\n").unwrap();
    json(&data, &insert(&other, &[]));
    let sums = json(&data, &["sql", "SELECT sum(tower) AS towers, count(*) AS n FROM calls"]);
    let towers: f64 = (0..1_000).map(|i| f64::from(i * 31 % 97)).sum();
    assert_eq!(sums, serde_json::json!([{"towers": towers + 7.5, "n": 1_003}]));
}

/// Every file below `folder`, with its content.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.push((path.clone(), Vec::new()));
            found.extend(contents(&path));
        } else {
            found.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn every_command_refuses_a_table_of_layout_row_and_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), calls(folder.path()));
    let root = data.join("default/calls");
    fs::create_dir_all(&root).unwrap();
    for (name, content) in [("schema.arrow", "columns"), ("0.avro", "rows")] {
        fs::write(root.join(name), content).unwrap();
    }
    let before = contents(&data);
    let said = format!(
        "cannot open the table {}: an older version wrote it in layout row, which this version does not support: \
         rewrite the table in layout pruned with that version, or insert its source files into a new table",
        root.display()
    );
    for words in [
        &insert(&file, &[])[..],
        &["append", "calls", file.to_str().unwrap()],
        &["flush", "calls"],
        &["sql", "SELECT * FROM calls"],
        &["ask", "calls"],
        &["export", "calls"],
        &["info", "calls"],
        &["table", "inspect", "calls"],
        &["table", "rewrite", "calls", "--layout", "pruned"],
        &["table", "compact", "calls"],
        &["table", "cluster", "calls"],
        &["table", "cluster", "calls", "--columns", "id"],
        &["table", "delete", "calls", "--where", "id < 3", "--apply"],
        &["table", "trim", "calls", "--keep-bytes", "0", "--apply"],
        &["table", "vacuum", "calls", "--retain", "0", "--apply"],
        &["table", "rebuild", "calls", "--apply"],
        &["table", "drop", "calls"],
    ] {
        let refused = failure(&data, words, 2);
        assert!(refused.contains(&said), "{words:?}: {refused}");
        assert_eq!(contents(&data), before, "{words:?}");
    }
    // Listing the tables reports it beside the others.
    let listed = json(&data, &["table", "list"]);
    assert_eq!((&listed[0]["table"], listed.as_array().unwrap().len()), (&"calls".into(), 1));
    assert!(listed[0]["trouble"].as_str().unwrap().contains(&said), "{listed}");
}

#[test]
fn json_lines_are_inserted_as_the_same_rows_of_other_files_are() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), calls(folder.path()));
    json(&data, &insert(&file, &[]));
    let mut lines = String::new();
    for row in fs::read_to_string(&file).unwrap().lines().skip(1) {
        let [id, at, phone, tower, price] = row.split(',').collect::<Vec<_>>().try_into().unwrap();
        writeln!(lines, r#"{{"at":"{at}Z","price":{price},"tower":{tower},"id":{id},"phone":"{phone}"}}"#).unwrap();
    }
    for ending in ["jsonl", "ndjson", "json"] {
        let path = folder.path().join("calls").with_extension(ending);
        fs::write(&path, &lines).unwrap();
        let inserted = json(&data, &["table", "insert", "calls", path.to_str().unwrap(), "--batch-rows", "300"]);
        assert_eq!(inserted["rows"], 1_000, "{ending}");
        let alike = "SELECT count(*) AS n, count(DISTINCT id) AS ids FROM (SELECT DISTINCT * FROM calls)";
        assert_eq!(json(&data, &["sql", alike])[0], serde_json::json!({"n": 1_000, "ids": 1_000}), "{ending}");
        // A new table: texts stay texts, and missing values are NULL.
        let own = ["table", "insert", ending, path.to_str().unwrap()];
        assert_eq!(json(&data, &own)["rows"], 1_000, "{ending}");
        let sums = format!("SELECT sum(price) AS price, sum(tower) AS tower, max(at) AS at FROM {ending}");
        assert_eq!(json(&data, &["sql", &sums])[0]["at"], "2025-10-01T19:00:00Z", "{ending}");
    }
    let more = folder.path().join("more.jsonl");
    let refused = |lines: &str| {
        fs::write(&more, lines).unwrap();
        failure(&data, &["table", "insert", "calls", more.to_str().unwrap(), "--on-conflict", "refuse"], 2)
    };
    let five = refused("{\"id\": 1}\n{\"id\": 2, \"tower\": \"five\"}\n");
    assert!(five.contains("more.jsonl: line 2: tower"), "{five}");
    assert!(refused("[1, 2]\n").contains("more.jsonl"));
    assert!(refused("{\"id\": 1,\n").contains("more.jsonl"));
    fs::write(&more, "{\"id\": 1}\n").unwrap();
    assert_eq!(json(&data, &["table", "insert", "calls", more.to_str().unwrap()])["rows"], 1);
    let missing = "SELECT count(*) AS n FROM calls WHERE phone IS NULL AND tower IS NULL AND at IS NULL";
    assert_eq!(json(&data, &["sql", missing])[0]["n"], 1);
}

#[test]
fn a_table_is_in_the_database_that_it_is_named_with() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), calls(folder.path()));
    let file = file.to_str().unwrap();
    json(&data, &["table", "insert", "calls", file]);
    json(&data, &["table", "insert", "day-2.Calls", file]);
    let listed = json(&data, &["table", "list"]);
    assert_eq!([&listed[0]["table"], &listed[1]["table"]], ["day-2.Calls", "calls"]);
    let both = "SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM \"day-2\".\"Calls\") AS n";
    assert_eq!(json(&data, &["sql", both])[0]["n"], 2_000);
    json(&data, &["table", "compact", "day-2.Calls"]);
    let reserved = failure(&data, &["table", "insert", "sim.calls", file], 2);
    assert!(reserved.contains("\"sim\" is reserved for ensembles"), "{reserved}");
}

#[test]
fn a_day_of_call_records_passes_the_gates() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    let words = ["bench", "cdr", "--batches", "24", "--scale", "0.02", "--report", report.to_str().unwrap()];
    let measured = json(&folder.path().join("data"), &words);
    assert_eq!(measured["queries"].as_array().unwrap().len(), 48);
    let rows = measured["rows"].as_u64().unwrap();
    for variant in ["row", "column", "pruned", "clustered"] {
        assert_eq!(measured["variants"][variant]["rows"], rows, "{variant}");
        assert_eq!(measured["second_pass"]["variants"][variant]["rows"], rows, "{variant}");
        let lookup_bytes = measured["second_pass"]["variants"][variant]["lookup_bytes"].as_u64().unwrap();
        assert_eq!(lookup_bytes > 0, variant != "row", "{variant}");
    }
    // Without secondary indexes, layout column reads everything. With them, it reads only the row groups with the
    // number.
    let groups = |pass: &serde_json::Value, name: &str| {
        let of = |q: &&serde_json::Value| q["name"] == name && q["variant"] == "column";
        let found = pass["queries"].as_array().unwrap().iter().find(of).unwrap();
        (found["groups_read"].as_u64().unwrap(), found["groups_total"].as_u64().unwrap())
    };
    let (read, all) = groups(&measured, "absent");
    assert_eq!(read, all);
    for name in ["absent", "cold", "callee", "hour"] {
        let (read, total) = groups(&measured["second_pass"], name);
        assert!(read < all / 2 && total == all, "{name}: {read} of {total}");
    }
    let numbers: Vec<_> = measured["phases"].as_array().unwrap().iter().filter_map(|p| p["number"].as_u64()).collect();
    assert!((1..=11).all(|n| numbers.contains(&n)), "{numbers:?}");
    for gate in measured["gates"].as_array().unwrap() {
        let timed = gate["name"].as_str().unwrap().contains("speed");
        assert!(timed || gate["status"] != "FAIL", "{gate}");
    }
    let page = fs::read_to_string(report.join("cdr.html")).unwrap();
    assert!(page.matches("<svg").count() >= 6 && page.contains("Look-ups") && !page.contains("http"));
    let again = json(&folder.path().join("again"), &words[..6]);
    assert_eq!(again["content_hash"], measured["content_hash"]);
}

/// Events: the third has no members, and the fourth lacks the field.
const TAGGED: &str = r#"{"id": 1, "groups": ["mod2", "mod3"]}
{"id": 2, "groups": ["say \"a\", b"]}
{"id": 3, "groups": []}
{"id": 4}
"#;

#[test]
fn arrays_of_text_are_sets_in_json_lines_and_in_parquet() {
    for layout in ["column", "pruned"] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let file = folder.path().join("tagged.jsonl");
        fs::write(&file, TAGGED).unwrap();
        let insert = |table: &'static str, file: &Path| {
            let words = ["table", "insert", table, file.to_str().unwrap(), "--layout", layout];
            json(&data, &words)["rows"].as_u64()
        };
        assert_eq!(insert("tagged", &file), Some(4), "{layout}");
        let sql = "SELECT id, groups FROM tagged ORDER BY id";
        let expected: serde_json::Value = serde_json::from_str(
            r#"[{"id": 1, "groups": ["mod2", "mod3"]}, {"id": 2, "groups": ["say \"a\", b"]}, {"id": 3, "groups": []},
                {"id": 4, "groups": null}]"#,
        )
        .unwrap();
        assert_eq!(json(&data, &["sql", sql]), expected, "{layout}");
        // Into an existing table, so the first rows do not determine the types.
        fs::write(&file, "{\"id\": 5, \"groups\": []}\n").unwrap();
        assert_eq!(insert("tagged", &file), Some(1), "{layout}");
        fs::write(&file, "{\"id\": 6, \"groups\": 7}\n").unwrap();
        let words = ["table", "insert", "tagged", file.to_str().unwrap(), "--on-conflict", "refuse"];
        let refused = failure(&data, &words, 2);
        assert!(refused.contains("groups: it is integer here and set of texts"), "{refused}");
        // CSV cells have no structure, so a set is JSON there.
        let csv = run(&data, &["sql", sql, "--format", "csv"]);
        let expected =
            "id,groups\n1,\"[\"\"mod2\"\",\"\"mod3\"\"]\"\n2,\"[\"\"say \\\"\"a\\\"\", b\"\"]\"\n3,[]\n4,\n5,[]\n";
        assert_eq!(String::from_utf8_lossy(&csv.stdout), expected, "{layout}");
        let shown = run(&data, &["sql", sql, "--format", "table"]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("[mod2, mod3]"), "{layout}");
        // The program can read its own files.
        let files = fs::read_dir(data.join("default/tagged")).unwrap().map(|e| e.unwrap().path());
        let written: Vec<PathBuf> = files.filter(|f| f.extension().is_some_and(|e| e == "parquet")).collect();
        let rows: u64 = written.iter().map(|file| insert("copied", file).unwrap()).sum();
        assert_eq!(rows, 5, "{layout}");
        let counted = json(&data, &["sql", "SELECT sum(cardinality(groups)) AS n FROM copied"]);
        assert_eq!(counted[0]["n"], 3, "{layout}");
        let told = json(&data, &["table", "inspect", "copied"]);
        let names: Vec<_> = told["columns"].as_array().unwrap().iter().map(|c| &c["column"]).collect();
        assert!(names.iter().any(|name| *name == "groups") && names.len() == 2, "{names:?}");
    }
}

#[test]
fn what_is_no_set_of_text_is_kept_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let insert = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        json(&data, &["table", "insert", "tagged", file.to_str().unwrap()]);
    };
    insert("numbers.jsonl", "{\"id\": 1, \"groups\": [1, null, \"a\"]}\n");
    insert("tagged.csv", "id,groups\n2,a\n");
    insert("nested.jsonl", "{\"id\": 3, \"groups\": [[1]]}\n");
    let expected = serde_json::json!([
        {"id": 1, "groups": ["1", "a", "null"], "groups_text": null},
        {"id": 2, "groups": null, "groups_text": "a"},
        {"id": 3, "groups": null, "groups_text": "[[1]]"},
    ]);
    assert_eq!(json(&data, &["sql", "SELECT * FROM tagged ORDER BY id"]), expected);
    let bloom = failure(&data, &["table", "rewrite", "tagged", "--bloom", "groups"], 2);
    assert!(
        bloom.contains(
            "column \"groups\" holds sets: Bloom filters, secondary indexes and clustering do not support them"
        ),
        "{bloom}"
    );
}
