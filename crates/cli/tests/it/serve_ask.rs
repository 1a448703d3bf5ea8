//! `ask` over HTTP: the answers of the command.

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::json as command;

fn rows(from: usize, to: usize) -> Vec<u8> {
    let line = |n: usize| {
        let (host, time) = (["alpha", "beta", "gamma"][n % 3], 1_760_000_000_000_000_000 + n * 60_000_000_000);
        format!("cpu,host={host} load={n}i,share={} {time}\n", n as f64 / 8.0)
    };
    (from..to).map(line).collect::<String>().into_bytes()
}

#[test]
fn the_server_asks_as_the_command_does() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--flush-rows", "500"]);
    for (from, to) in [(0, 500), (500, 700)] {
        assert_eq!(server.post("/write?db=db", &rows(from, to)).status, 204);
    }
    let questions: [(Value, &[&str]); 6] = [
        (json!({}), &[]),
        (
            json!({"group": ["host"], "avg": ["load"], "sum": ["share"]}),
            &["--group", "host", "--avg", "load", "--sum", "share"],
        ),
        (
            json!({"group": ["host"], "quantiles": ["load:p50,p99.9"], "where": ["load > 10", "host ~ 'a$'"]}),
            &["--group", "host", "--quantiles", "load:p50,p99.9", "--where", "load > 10", "--where", "host ~ 'a$'"],
        ),
        (json!({"time_bucket": "1h", "count": true, "limit": 3}), &["--time-bucket", "1h", "--count", "--limit", "3"]),
        (
            json!({"group": ["host"], "replace": ["host=/^./x/"], "sort": "host", "asc": true}),
            &["--group", "host", "--replace", "host=/^./x/", "--sort", "host", "--asc"],
        ),
        (json!({"samples": 4, "columns": ["host", "load"]}), &["--samples", "4", "--columns", "host,load"]),
    ];
    for (mut question, words) in questions {
        question["table"] = json!("db.cpu");
        let reply = server.post_json("/api/v1/ask", &question);
        assert_eq!(reply.status, 200, "{question}: {}", reply.text());
        assert_eq!(reply.json(), command(data.path(), &[&["ask", "db.cpu"], words].concat()), "{question}");
    }
    let csv = server.post_json("/api/v1/ask?format=csv", &json!({"table": "db.cpu", "group": ["host"]}));
    assert_eq!(csv.text(), "host,count\nalpha,234\nbeta,233\ngamma,233\n");
    for (question, status, said) in [
        (json!({"group": ["host"]}), 400, "send {\"table\""),
        (json!({"table": "db.gpu"}), 404, "no table \"db.gpu\"; did you mean db.cpu?"),
        (json!({"table": "db.cpu", "gruop": ["host"]}), 400, "unknown field `gruop`"),
        (json!({"table": "db.cpu", "group": ["hots"]}), 400, "did you mean \"host\"?"),
        (json!({"table": "db.cpu", "where": ["load >"]}), 400, "expected a name, a number or a 'text'"),
        (json!({"table": "db.cpu", "where": ["(".repeat(200_000)]}), 400, "nested more than 200 levels"),
        (json!({"table": "db.cpu", "quantiles": ["load:p101"]}), 400, "p101"),
        (json!({"table": "db.cpu", "time_bucket": "soon"}), 400, "soon"),
        (json!({"table": "db.cpu", "since": "soon"}), 400, "soon"),
    ] {
        let reply = server.post_json("/api/v1/ask", &question);
        let text = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(reply.status == status && text.contains(said), "{status} {said}: {} {text}", reply.status);
    }
    // Another database's names are not suggested.
    let other = server.post_json("/api/v1/ask", &json!({"table": "other.cpu"}));
    assert_eq!(other.json()["error"], "no table \"other.cpu\"");
    assert_eq!(server.sql("SELECT count(*) AS n FROM db.cpu")[0]["n"], 700);
}

#[test]
fn a_question_about_too_many_groups_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &["--question-memory", "1"]);
    assert_eq!(server.post("/write?db=db", &rows(0, 30_000)).status, 204);
    let question = json!({"table": "db.cpu", "group": ["load", "share"], "quantiles": ["load", "share"]});
    let reply = server.post_json("/api/v1/ask", &question);
    assert_eq!(reply.status, 413, "{}", reply.text());
    assert_eq!(server.post_json("/api/v1/ask", &json!({"table": "db.cpu"})).json(), json!([{"count": 30_000}]));
}
