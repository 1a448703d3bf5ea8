//! Questions of the page about ensembles: leverage, shapes of distributions, and single worlds.

use std::fmt::Write as _;
use std::path::Path;

use arrow::array::{AsArray as _, RecordBatchReader as _};
use arrow::datatypes::{Float64Type, Int32Type, UInt32Type};
use hyper::body::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use crate::served::{Reply, Served};
use crate::support::{json as answer, run};

fn ask(server: &Served, path: &str, question: &Value) -> Value {
    let reply = server.post_json(path, question);
    assert_eq!(reply.status, 200, "{path} {question}: {}", reply.text());
    reply.json()
}

fn refused(server: &Served, path: &str, question: &Value, status: u16, said: &str) -> Value {
    let reply = server.post_json(path, question);
    assert_eq!(reply.status, status, "{path} {question}: {}", reply.text());
    assert!(reply.text().contains(said), "{path} {question}: {}", reply.text());
    reply.json()
}

const WORLDS: usize = 400;
const QUEUES: usize = 3;

/// The wait in tenths, whether it is late, and the state of a queue in a world.
fn values(world: usize, queue: usize) -> (usize, bool, &'static str) {
    let wait = (world * (37 + 2 * queue) + world * world * queue % 61) % 200;
    (wait, wait + world % 90 > 150, ["open", "it's full", "closed"][(wait / 40 + world % 2) % 3])
}

/// Imports the ensemble `queues`.
fn import(data: &Path) {
    let mut text = "world,entity,wait,late,state\n".to_owned();
    for world in 0..WORLDS {
        for queue in 0..QUEUES {
            let (wait, late, state) = values(world, queue);
            writeln!(text, "{world},queue-{queue},{}.{},{late},{state}", wait / 10, wait % 10).unwrap();
        }
    }
    let path = data.join("draws.csv");
    std::fs::write(&path, text).unwrap();
    answer(data, &["import", "queues", path.to_str().unwrap()]);
}

/// Every event with its worlds, with, without and movement, computed one by one.
fn expected(given: impl Fn(usize) -> bool, condition: impl Fn(usize) -> bool) -> Vec<(String, usize, f64, f64, f64)> {
    let worlds: Vec<usize> = (0..WORLDS).filter(|world| given(*world)).collect();
    let mut found = Vec::new();
    let mut add = |leg: String, holds: &dyn Fn(usize) -> bool| {
        let (with, without): (Vec<usize>, Vec<usize>) = worlds.iter().partition(|world| holds(**world));
        if with.is_empty() || without.is_empty() {
            return;
        }
        let share = |of: &[usize]| of.iter().filter(|world| condition(**world)).count() as f64 / of.len() as f64;
        let p = with.len() as f64 / worlds.len() as f64;
        let (a, b) = (share(&with), share(&without));
        found.push((leg, with.len(), a, b, 2.0 * p * (1.0 - p) * (a - b).abs()));
    };
    for queue in 0..QUEUES {
        for state in ["open", "it''s full", "closed"] {
            let holds = |world| values(world, queue).2 == state.replace("''", "'");
            add(format!("queue-{queue}:state = '{state}'"), &holds);
        }
        if queue > 0 {
            // The condition is about the first queue's flag.
            add(format!("queue-{queue}:late"), &|world| values(world, queue).1);
        }
        let mut waits: Vec<usize> = worlds.iter().map(|world| values(*world, queue).0).collect();
        waits.sort_unstable();
        let above = |bound: usize| waits.iter().filter(|wait| **wait > bound).count();
        let bounds = waits.iter().copied().filter(|bound| above(*bound) > 0);
        let bound = bounds.min_by_key(|bound| (2 * above(*bound)).abs_diff(worlds.len())).unwrap();
        let shown = if bound % 10 == 0 { (bound / 10).to_string() } else { format!("{}.{}", bound / 10, bound % 10) };
        add(format!("queue-{queue}:wait > {shown}"), &|world| values(world, queue).0 > bound);
    }
    found
}

#[test]
fn leverage_is_exact_over_all_worlds() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let late = |world: usize| values(world, 0).1;
    for (given, holds) in [
        (json!([]), Box::new(|_| true) as Box<dyn Fn(usize) -> bool>),
        (json!(["queue-1:wait > 6"]), Box::new(|world| values(world, 1).0 > 60)),
    ] {
        let question = json!({"ensemble": "queues", "condition": "late", "entity": "queue-0", "given": given});
        let found = ask(&server, "/api/v1/leverage", &question);
        let counted: Vec<usize> = (0..WORLDS).filter(|world| holds(*world)).collect();
        let probability = counted.iter().filter(|world| late(**world)).count() as f64 / counted.len() as f64;
        assert_eq!(found["worlds"], counted.len());
        // Reading JSON may round the last digit.
        assert!((found["probability"].as_f64().unwrap() - probability).abs() < 1e-15, "{found}");
        let mut expected = expected(&holds, late);
        assert_eq!((&found["compared"], &found["left_out"]), (&json!(expected.len()), &json!(0)), "{found}");
        expected.retain(|event| event.4 > 0.0);
        let events = found["events"].as_array().unwrap();
        assert_eq!(events.len(), expected.len());
        for event in events {
            let same = expected.iter().find(|other| event["leg"] == other.0).unwrap_or_else(|| panic!("{event}"));
            assert_eq!(event["worlds"], same.1, "{event}");
            for (key, value) in [("with", same.2), ("without", same.3), ("movement", same.4)] {
                assert!((event[key].as_f64().unwrap() - value).abs() < 1e-12, "{key} of {event}: {value}");
            }
            // The leg and the event say the same as a condition.
            let leg = json!({"ensemble": "queues", "legs": ["queue-0:late"], "given": [event["leg"]], "min_worlds": 1});
            let price = ask(&server, "/api/v1/price", &leg);
            let unconditional = given == json!([]);
            assert!(!unconditional || price["worlds"] == event["worlds"], "{event}: {price}");
            assert!(!unconditional || price["probability"] == event["with"], "{event}: {price}");
            let entity = event["entity"].as_str().unwrap();
            let both = json!({"ensemble": "queues", "entity": entity, "legs": [event["event"], event["leg"]]});
            let price = ask(&server, "/api/v1/price", &both);
            assert_eq!(price["probability"], price["legs"][0]["probability"], "{event}");
        }
        let movements: Vec<f64> = events.iter().map(|event| event["movement"].as_f64().unwrap()).collect();
        assert!(movements.is_sorted_by(|a, b| a >= b), "{movements:?}");
        let mut few = question.clone();
        few["limit"] = json!(3);
        assert_eq!(ask(&server, "/api/v1/leverage", &few)["events"], json!(events[..3]));
    }
}

#[test]
fn leverage_takes_names_and_expressions() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let ask = |more: Value| {
        let mut question = json!({"ensemble": "queues", "condition": "queue-0:late"});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = ask(&server, "/api/v1/leverage", &question);
        let events =
            found["events"].as_array().unwrap().iter().map(|event| (event["entity"].clone(), event["event"].clone()));
        let mut events: Vec<_> = events.map(|(entity, event)| format!("{entity} {event}")).collect();
        events.sort_unstable();
        events
    };
    assert_eq!(ask(json!({"outcomes": ["late"]})), [r#""queue-1" "late""#, r#""queue-2" "late""#]);
    assert_eq!(ask(json!({"outcomes": ["late"], "entities": ["queue-2"]})), [r#""queue-2" "late""#]);
    assert_eq!(ask(json!({"outcomes": ["queue-1:late"]})), [r#""queue-1" "late""#]);
    let joint = ["queue-1:late and queue-2:wait > 9", "abs(wait - 8)"];
    let found = ask(json!({"outcomes": joint, "entities": ["queue-1", "queue-2"]}));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&format!("null {:?}", joint[0])), "{found:?}");
    assert!(found.iter().filter(|event| event.contains("abs(wait - 8) > ")).count() == 2, "{found:?}");
    for (more, status, said) in [
        (json!({"condition": "lat"}), 400, "ambiguous"),
        (json!({"condition": "late +", "entity": "queue-0"}), 400, "expected a name"),
        (json!({"outcomes": ["wayt"]}), 400, "did you mean wait?"),
        (json!({"outcomes": ["wait"], "entities": ["queue-9"]}), 400, "queue-9"),
        (json!({"entity": "queue-9"}), 400, "queue-9"),
        (json!({"given": ["queue-1:wait > 500"]}), 400, "min_worlds"),
        (json!({"given": ["queue-1:wait > 500"], "min_worlds": 0}), 400, "min_worlds"),
        (json!({"limit": 100_000}), 400, "too many"),
        (json!({"limit": -1}), 400, "cannot read"),
        (json!({"unknown": 1}), 400, "unknown"),
        (json!({"ensemble": "none"}), 404, "unknown ensemble"),
        (json!({"outcomes": ["1 / (wait - wait)"]}), 400, "no finite value"),
    ] {
        let mut question = json!({"ensemble": "queues", "condition": "queue-0:late"});
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refused(&server, "/api/v1/leverage", &question, status, said);
    }
    // A condition without doubt is moved by nothing.
    let sure = json!({"ensemble": "queues", "condition": "queue-0:wait >= 0"});
    let sure = crate::serve_looking::ask(&server, "/api/v1/leverage", &sure);
    assert_eq!((&sure["probability"], &sure["events"], &sure["chance"]), (&json!(1.0), &json!([]), &json!(0.0)));
}

#[test]
fn distributions_have_the_wanted_bins_and_quantiles() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let question = json!({"ensemble": "queues", "entities": ["queue-1"], "outcomes": ["wait"]});
    let usual = ask(&server, "/api/v1/outcome", &question);
    let words = ["outcome", "queues", "--entity", "queue-1", "--outcome", "wait"];
    assert_eq!(usual, answer(data.path(), &words));
    assert_eq!(usual[0]["histogram"].as_array().unwrap().len(), 20);
    let mut fine = question.clone();
    (fine["bins"], fine["quantiles"], fine["cdf"]) = (json!(1000), json!([0.0, 0.125, 0.5, 1.0]), json!(true));
    let fine = ask(&server, "/api/v1/outcome", &fine);
    let mut waits: Vec<usize> = (0..WORLDS).map(|world| values(world, 1).0).collect();
    waits.sort_unstable();
    let tenth = |place: usize| json!(waits[place] as f64 / 10.0);
    let quantiles = json!({"0": tenth(0), "0.125": tenth(49), "0.5": tenth(199), "1": tenth(399)});
    assert_eq!(fine[0]["quantiles"], quantiles);
    let bins = fine[0]["histogram"].as_array().unwrap();
    assert!(bins.iter().all(|bin| bin["from"] == bin["to"]), "every value has a bin");
    assert_eq!(bins.iter().map(|bin| bin["worlds"].as_u64().unwrap()).sum::<u64>(), WORLDS as u64);
    assert_eq!((&fine[0]["mean"], &fine[0]["ci"]), (&usual[0]["mean"], &usual[0]["ci"]));
    for (bins, quantiles, said) in [
        (json!(0), json!([0.5]), "at least one bin"),
        (json!(1001), json!([0.5]), "too many"),
        (json!(-1), json!([0.5]), "cannot read"),
        (json!(20), json!([1.5]), "is not from 0 to 1"),
        (json!(20), json!([-0.1]), "is not from 0 to 1"),
        (json!(20), json!(vec![0.5; 1001]), "too many"),
    ] {
        let mut question = question.clone();
        (question["bins"], question["quantiles"]) = (bins, quantiles);
        refused(&server, "/api/v1/outcome", &question, 400, said);
    }
    let many = json!({"ensemble": "queues", "outcomes": vec!["queue-1:wait"; 1000], "bins": 1000});
    refused(&server, "/api/v1/outcome", &many, 400, "bins and quantiles");
}

#[test]
fn one_world_is_what_the_command_shows() {
    let data = tempfile::tempdir().unwrap();
    assert!(run(data.path(), &["run", "football", "--name", "season", "--worlds", "3"]).status.success());
    let server = Served::start(data.path(), &[]);
    let words = ["events", "season", "--entity", "game-001", "--world", "2"];
    let condition = "down >= 3 and play_type in ('pass', 'sack')";
    let all = answer(data.path(), &[&words[..], &["--where", condition]].concat());
    let question = json!({"ensemble": "season", "entity": "game-001", "world": 2, "where": condition});
    let found = ask(&server, "/api/v1/events", &question);
    let columns: Vec<&str> = found["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let objects = |found: &Value| {
        let object = |row: &Value| -> Value {
            let cells = row.as_array().unwrap().iter().cloned();
            Value::Object(columns.iter().map(|name| (*name).to_owned()).zip(cells).collect())
        };
        found["rows"].as_array().unwrap().iter().map(object).collect::<Vec<_>>()
    };
    let all = all.as_array().unwrap();
    assert!(all.len() > 5 && columns[0] == "number", "{columns:?}");
    assert_eq!((&objects(&found), &found["total"]), (all, &json!(all.len())));
    let mut page = question.clone();
    (page["limit"], page["offset"]) = (json!(3), json!(2));
    let page = ask(&server, "/api/v1/events", &page);
    assert_eq!((objects(&page), &page["total"]), (all[2..5].to_vec(), &json!(all.len())));
    let mut split = question.clone();
    split["where"] = json!(["down >= 3", "play_type in ('pass', 'sack')"]);
    assert_eq!(ask(&server, "/api/v1/events", &split), found);
    let whole = json!({"ensemble": "season", "entity": "game-001", "world": 2, "where": " "});
    assert_eq!(objects(&ask(&server, "/api/v1/events", &whole)), *answer(data.path(), &words).as_array().unwrap());

    let summary = json!({"ensemble": "season", "entity": "game-001", "world": 2});
    let shown = answer(data.path(), &[&words[..], &["--summary"]].concat());
    assert_eq!(ask(&server, "/api/v1/summary", &summary), shown);
    assert!(shown["tables"][0]["columns"].is_array() && shown["title"].is_string(), "{shown}");
    let first = ask(&server, "/api/v1/summary", &json!({"ensemble": "season", "world": 0}));
    assert!(first["entity"].is_string() && first["tables"].is_array(), "{first}");

    for (path, more, status, said) in [
        ("events", json!({"world": 3}), 400, "does not store world 3"),
        ("events", json!({"entity": "game-999"}), 400, "game-999"),
        ("events", json!({"where": "downn > 3"}), 400, "did you mean down?"),
        ("events", json!({"limit": 1_000_000}), 400, "at most 100000 events"),
        ("events", json!({"world": -1}), 400, "cannot read"),
        ("events", json!({"entity": "team-01", "where": ""}), 400, "has no events"),
        ("events", json!({"ensemble": "none"}), 404, "unknown ensemble"),
        ("summary", json!({"world": 3}), 400, "does not store world 3"),
        ("summary", json!({"entity": "game-999"}), 400, "game-999"),
        ("summary", json!({"ensemble": "none"}), 404, "unknown ensemble"),
    ] {
        let mut question = if path == "events" { question.clone() } else { summary.clone() };
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        refused(&server, &format!("/api/v1/{path}"), &question, status, said);
    }
}

#[test]
fn a_program_that_is_not_here_leaves_the_outcomes() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let summary = json!({"ensemble": "queues", "entity": "queue-1", "world": 7});
    let found = ask(&server, "/api/v1/summary", &summary);
    assert_eq!(found["outcomes"]["wait"], json!(values(7, 1).0 as f64 / 10.0));
    assert_eq!(found["tables"][0]["name"], "outcomes");
    assert!(found["note"].is_string(), "{found}");
    let rows = found["tables"][0]["rows"].as_array().unwrap();
    let names = |row: &Value| row[0].as_str().unwrap().to_owned();
    let all: Vec<String> = found["outcomes"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(rows.iter().map(names).collect::<std::collections::BTreeSet<_>>(), all.into_iter().collect());
    let events = json!({"ensemble": "queues", "entity": "queue-1", "world": 7});
    refused(&server, "/api/v1/events", &events, 400, "has no events");
    let leverage = json!({"ensemble": "queues", "condition": "queue-1:at q1 8:00", "min_worlds": 1});
    assert_eq!(server.post_json("/api/v1/leverage", &leverage).status, 400);
}

#[test]
fn errors_of_expressions_name_their_place() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let rows = [0, 1, 2, 3, 4].map(|n| format!("cpu,host=h{n} load={n}\n")).concat();
    assert_eq!(server.post("/write?db=d", rows.as_bytes()).status, 204);
    let price = |leg: &str| json!({"ensemble": "queues", "entity": "queue-0", "legs": ["late", leg]});
    let outcome = |text: &str| json!({"ensemble": "queues", "entities": ["queue-0"], "outcomes": [text]});
    for (path, question, text, position) in [
        ("/api/v1/price", price("wait > 3 and wayt < 4"), "wait > 3 and wayt < 4", 13),
        ("/api/v1/price", price("wait > "), "wait > ", 7),
        ("/api/v1/price", price("late and ä = 1"), "late and ä = 1", 9),
        ("/api/v1/price", price("'é' = wayt"), "'é' = wayt", 7),
        (
            "/api/v1/price",
            json!({"ensemble": "queues", "entity": "queue-0", "legs": ["late"], "given": ["wait >> 1"]}),
            "wait >> 1",
            6,
        ),
        ("/api/v1/outcome", outcome("wait + * 2"), "wait + * 2", 7),
        (
            "/api/v1/correlate",
            json!({"ensemble": "queues", "entity": "queue-0", "outcomes": ["wait", "late +"]}),
            "late +",
            6,
        ),
        (
            "/api/v1/compare",
            json!({"first": "queues", "second": "queues", "outcomes": ["queue-0:wait )"]}),
            "queue-0:wait )",
            13,
        ),
        ("/api/v1/worlds", json!({"ensemble": "queues", "outcomes": ["queue-0:wait / "]}), "queue-0:wait / ", 15),
        ("/api/v1/leverage", json!({"ensemble": "queues", "condition": "queue-0:late )"}), "queue-0:late )", 13),
        ("/api/v1/ask", json!({"table": "d.cpu", "count": true, "where": ["load > 1", "load ! 2"]}), "load ! 2", 5),
    ] {
        let reply = server.post_json(path, &question);
        assert_eq!(reply.status, 400, "{path} {question}: {}", reply.text());
        let found = reply.json();
        assert_eq!((&found["text"], &found["position"]), (&json!(text), &json!(position)), "{path}: {found}");
        let pointed = format!("\n  {text}\n  {}^", " ".repeat(text[..position].chars().count()));
        assert!(found["error"].as_str().unwrap().contains(&pointed), "{path}: {found}");
    }
    // Longer than what is shown of it.
    let long = format!("late and {} wayt > 1", "wait > 1 and ".repeat(100));
    let found = server.post_json("/api/v1/price", &price(&long)).json();
    assert_eq!((&found["text"], &found["position"]), (&json!(long), &json!(long.find("wayt").unwrap())));
    assert!(found["error"].as_str().unwrap().len() < 400, "{found}");
    let other = server.post_json("/api/v1/price", &json!({"ensemble": "queues", "legs": []})).json();
    assert!(other.get("position").is_none() && other.get("text").is_none(), "{other}");
}

fn parquet(reply: &Reply) -> arrow::array::RecordBatch {
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(reply.head.contains("content-type: application/vnd.apache.parquet"), "{}", reply.head);
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(reply.body.clone())).unwrap().build().unwrap();
    let schema = reader.schema();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

#[test]
fn worlds_are_downloaded_as_csv_and_parquet() {
    let data = tempfile::tempdir().unwrap();
    import(data.path());
    let server = Served::start(data.path(), &[]);
    let question = json!({"ensemble": "queues", "entities": ["queue-1"], "outcomes": ["wait", "late", "state"]});
    let rows = parquet(&server.post_json("/api/v1/worlds?format=parquet", &question));
    assert_eq!(rows.num_rows(), WORLDS);
    let column = |name: &str| rows.column_by_name(name).unwrap();
    let csv = server.post_json("/api/v1/worlds?format=csv", &question);
    assert!(csv.head.contains("content-type: text/csv"), "{}", csv.head);
    let csv = csv.text();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("world,queue-1:wait,queue-1:late,queue-1:state"));
    for world in 0..WORLDS {
        let (wait, late, state) = values(world, 1);
        let wait = wait as f64 / 10.0;
        // Codes in the order of the texts.
        let code = ["closed", "it's full", "open"].iter().position(|other| *other == state).unwrap() as i32;
        assert_eq!(column("world").as_primitive::<UInt32Type>().value(world) as usize, world);
        assert_eq!(column("queue-1:wait").as_primitive::<Float64Type>().value(world), wait);
        assert_eq!(column("queue-1:late").as_boolean().value(world), late);
        assert_eq!(column("queue-1:state").as_primitive::<Int32Type>().value(world), code);
        assert_eq!(lines.next(), Some(&*format!("{world},{wait:?},{late},{code}")));
    }
    assert_eq!(lines.next(), None);
    let accepts = |accept: &str| {
        let headers = [("accept", accept), ("content-type", "application/json")];
        let reply = server.send("POST", "/api/v1/worlds", &headers, question.to_string().as_bytes());
        let kind = reply.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap().to_owned();
        kind.split(';').next().unwrap().to_owned()
    };
    assert_eq!(accepts("text/csv"), "text/csv");
    assert_eq!(accepts("application/vnd.apache.parquet"), "application/vnd.apache.parquet");
    for accept in ["", "*/*", "application/json", "application/vnd.apache.arrow.stream"] {
        assert_eq!(accepts(accept), "application/vnd.apache.arrow.stream", "{accept}");
    }
    refused(&server, "/api/v1/worlds?format=json", &question, 400, "choose arrow, csv or parquet");
    refused(&server, "/api/v1/worlds?format=xml", &question, 400, "unknown format");
}

#[test]
fn answers_of_sql_are_downloaded_as_parquet() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-memory", "64"]);
    let row = |n: i64| format!("cpu,host=h{} load={n}.5,big={}i {n}\n", n % 3, i64::MAX - n);
    let rows = (0..500).map(row).collect::<Vec<_>>().concat();
    assert_eq!(server.post("/write?db=d", rows.as_bytes()).status, 204);
    let sql = |sql: &str| server.post_json("/api/v1/sql?format=parquet", &json!({"sql": sql}));
    let rows = parquet(&sql("SELECT big, load, host, time FROM d.cpu ORDER BY time"));
    assert_eq!((rows.num_rows(), rows.num_columns()), (500, 4));
    let big = rows.column_by_name("big").unwrap().as_primitive::<arrow::datatypes::Int64Type>();
    assert!((0..500).all(|n| big.value(n) == i64::MAX - n as i64));
    assert_eq!(rows.column_by_name("load").unwrap().as_primitive::<Float64Type>().value(499), 499.5);
    assert_eq!(parquet(&sql("SELECT 1 AS a WHERE false")).num_rows(), 0);
    // Many rows, in several row groups.
    let many = parquet(&sql("SELECT value AS n, value * 7 % 1000003 AS m FROM generate_series(1, 2000000)"));
    assert_eq!(many.num_rows(), 2_000_000);
    let refused = sql("SELECT big, load FROM d.nothing");
    assert_eq!(refused.status, 400, "{}", refused.text());
    let odd = sql("SELECT INTERVAL '1 month 2 days' AS i");
    assert_eq!(odd.status, 400, "{}", odd.text());
    assert!(odd.text().contains("CAST the column"), "{}", odd.text());
    let huge = sql("SELECT random() AS a, random() AS b, random() AS c FROM generate_series(1, 9000000)");
    assert_eq!(huge.status, 413, "{}", huge.text());
    let asked =
        server.post_json("/api/v1/ask?format=parquet", &json!({"table": "d.cpu", "group": ["host"], "count": true}));
    assert_eq!(parquet(&asked).num_rows(), 3);
}
