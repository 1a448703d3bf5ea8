//! A server that knows a fleet: submitted, watched and controlled over HTTP, with real services and workers.
//!
//! `make services` starts the services; their addresses are in the environment.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;
use crate::support::{json as run_json, program};

fn service(name: &str) -> String {
    let hint = "start the services with `make services`, and export what it prints";
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: {hint}"))
}

fn start(data: &Path, ledger: &str, broker: &str) -> Served {
    Served::start(data, &["--ledger", ledger, "--broker", broker, "--question-seconds", "600"])
}

/// A worker process; killed when dropped.
struct Worker(Child);

impl Worker {
    fn start(data: &Path) -> Self {
        let mut command = program(&["worker", "--concurrency", "1", "--ledger", &service("MANYWORLDS_LEDGER")]);
        command.args(["--broker", &service("MANYWORLDS_BROKER"), "--data"]).arg(data);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn a_fleet_of_two_is_controlled_over_http() {
    const WORLDS: u32 = 200;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, &service("MANYWORLDS_LEDGER"), &service("MANYWORLDS_BROKER"));
    let name = format!("h-{}", uuid::Uuid::new_v4().simple());
    let wish = json!({"model": "football", "name": name, "worlds": WORLDS, "events": "replay", "seed": 7});
    let run = server.accepts("/api/v1/submit", &wish, 202);
    assert_eq!((&run["by"], &run["state"], &run["worlds"]), (&json!("fleet"), &json!("running"), &json!(WORLDS)));
    assert_eq!(run["can"], json!(["pause", "cancel"]));
    let again = server.post_json("/api/v1/submit", &wish);
    assert_eq!((again.status, again.json()["field"].clone()), (409, json!("name")), "{}", again.text());
    let named = json!({"ensemble": name});
    assert_eq!(server.accepts("/api/v1/pause", &named, 200)["state"], "paused");
    let workers = [Worker::start(&data), Worker::start(&data)];
    let pids: Vec<i64> = workers.iter().map(|worker| i64::from(worker.0.id())).collect();
    let since = Instant::now();
    loop {
        let status = server.get("/api/v1/status").json();
        let there = |pid: &i64| {
            status["workers"]
                .as_array()
                .unwrap()
                .iter()
                .any(|worker| worker["pid"] == *pid && worker["is_there"] == true)
        };
        if pids.iter().all(there) {
            break;
        }
        assert!(since.elapsed() < Duration::from_mins(2), "{status}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.run_of(&name).unwrap()["worlds_done"], 0, "a paused ensemble is not played");
    assert_eq!(server.post_json("/api/v1/pause", &named).status, 409);
    server.accepts("/api/v1/resume", &named, 200);
    server.until(&name, |run| run["worlds_done"].as_u64() > Some(0));
    assert_eq!(server.accepts("/api/v1/cancel", &named, 200)["can"], json!(["retry"]));
    server.accepts("/api/v1/retry", &named, 200);
    let run = server.until_state(&name, "complete");
    let played: i64 =
        run["workers"].as_array().unwrap().iter().map(|worker| worker["worlds_done"].as_i64().unwrap()).sum();
    assert_eq!(played, i64::from(WORLDS), "{run}");
    let words = ["run", "football", "--worlds", "200", "--events", "replay", "--seed", "7"];
    assert_eq!(server.hash(&name), run_json(&folder.path().join("shell"), &words)["hash"]);
    drop(workers);
}

#[test]
fn a_ledger_that_is_gone_hides_no_other_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let nowhere = "postgres://me:secret@127.0.0.1:1/x";
    let server = start(&data, nowhere, "amqp://me:secret@127.0.0.1:1/%2f");
    let wish = json!({"model": "football", "name": "s", "worlds": 20, "events": "replay"});
    server.accepts("/api/v1/run", &wish, 202);
    server.until_state("s", "complete");
    let status = server.get("/api/v1/status").json();
    let error = status["fleet_error"].as_str().unwrap();
    assert!(error.contains("the ledger at 127.0.0.1:1 could not be reached") && !error.contains("secret"), "{error}");
    let refused = server.post_json("/api/v1/submit", &json!({"model": "football", "name": "t", "worlds": 20}));
    assert!(refused.status == 503 && !refused.text().contains("secret"), "{}", refused.text());
    let config = program(&["config", "--ledger", nowhere]).output().unwrap();
    let said = String::from_utf8(config.stdout).unwrap();
    assert!(said.contains("# ledger is set") && !said.contains("secret"), "{said}");
    assert!(server.get("/api/v1/status").json()["workers"] == Value::Array(Vec::new()));
}
