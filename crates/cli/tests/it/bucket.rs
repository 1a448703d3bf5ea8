//! Ensembles in the S3 server of `scripts/services.sh` give the same answers as in a folder, from any writer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::gate::Gate;
use crate::support::{json, program};

/// A unique prefix in the services' bucket, and a folder for its mirrors.
struct Place {
    url: String,
    folder: tempfile::TempDir,
}

impl Place {
    /// `None` if the services are not running.
    fn new() -> Option<Self> {
        if std::env::var_os("MANYWORLDS_S3").is_none() {
            assert!(std::env::var_os("CI").is_none(), "start the services: scripts/services.sh start");
            return None;
        }
        let url = format!("s3://manyworlds/cli-{}", uuid::Uuid::new_v4().simple());
        Some(Self { url, folder: tempfile::tempdir().unwrap() })
    }

    fn mirrors(&self, machine: &str) -> PathBuf {
        self.folder.path().join(machine)
    }

    /// Runs the program like another machine, with its own mirror.
    fn program(&self, machine: &str, words: &[&str]) -> Command {
        let mut command = program(words);
        command.args(["--data", &self.url]).env("MANYWORLDS_MIRROR", self.mirrors(machine));
        command
    }

    fn json(&self, machine: &str, words: &[&str]) -> Value {
        let output = self.program(machine, &[words, &["--format", "json"]].concat()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The number of a table's files in a mirror, without its log.
    fn mirrored(&self, machine: &str, table: &str) -> usize {
        let mirrors = std::fs::read_dir(self.mirrors(machine)).into_iter().flatten().map(Result::unwrap);
        mirrors.map(|mirror| count(&mirror.path().join("sim").join(table))).sum()
    }
}

/// Segments below a folder.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| match path.is_dir() {
        true if path.ends_with("_delta_log") => 0,
        true => count(&path),
        false => usize::from(path.extension() == Some(OsStr::new("parquet"))),
    };
    entries.map(of).sum()
}

/// Three ranges of worlds.
const RUN: [&str; 8] = ["run", "football", "--worlds", "12", "--range-worlds", "5", "--name", "season"];

#[test]
fn a_bucket_answers_as_a_folder_does() {
    let Some(place) = Place::new() else { return };
    let local = place.mirrors("local");
    let [here, there] = [json(&local, &RUN), place.json("writer", &RUN)];
    for field in ["hash", "worlds", "complete"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    assert_eq!(here["events"], there["events"]);
    let questions: [&[&str]; 9] = [
        &["price", "season", "--entity", "game-001", "--leg", "home_margin > 0", "--min-worlds", "1"],
        &["outcome", "season", "--entity", "game-001", "--outcome", "home_margin"],
        &["correlate", "season", "--entity", "game-001", "--outcome", "home_margin", "--outcome", "total_points"],
        &["sql", "SELECT count(*) AS n, sum(value) AS s FROM outcomes WHERE entity = 'game-002'"],
        &["sql", "SELECT avg(home_margin) AS m FROM worlds('season', 'game-003')"],
        &["sql", "SELECT count(*) AS n FROM events WHERE entity = 'game-001' AND world < 5"],
        &["sql", "SELECT count(*) AS n, sum(down) AS d FROM events('season', 'game-004', '3-9')"],
        &["events", "season", "--entity", "game-001", "--world", "7"],
        &["verify", "season"],
    ];
    for (number, words) in questions.into_iter().enumerate() {
        assert_eq!(json(&local, words), place.json("reader", words), "{words:?}");
        // Events are fetched on demand: first one range's, then two ranges', then all.
        let events = [0, 0, 0, 0, 0, 1, 2, 2, 3][number];
        assert_eq!(place.mirrored("reader", "events"), events, "after {words:?}");
        assert_eq!(place.mirrored("reader", "outcomes"), 3);
    }
    assert_eq!(place.json("reader", &["ensembles"])[0]["state"], "complete");
    // A mirror may be deleted at any time.
    std::fs::remove_dir_all(place.mirrors("reader")).unwrap();
    assert_eq!(json(&local, questions[7]), place.json("reader", questions[7]));
    // So may an ensemble with files in the mirrors of others.
    assert!(place.program("writer", &["drop", "season"]).output().unwrap().status.success());
    assert_eq!(place.json("reader", &["ensembles"]), Value::Array(Vec::new()));
    assert_eq!(place.json("reader", &RUN)["hash"], here["hash"]);
    assert_eq!(place.json("writer", questions[4]), json(&local, questions[4]));
}

#[test]
fn an_ensemble_in_a_bucket_is_replaced_in_one_commit() {
    let Some(place) = Place::new() else { return };
    place.json("one", &RUN);
    let seed: [&str; 3] = ["--replace", "--seed", "9"];
    let replaced = place.json("other", &[&RUN[..], &seed].concat());
    assert_eq!(replaced["hash"], json(&place.mirrors("local"), &[&RUN[..], &seed[1..]].concat())["hash"]);
    assert_eq!(place.json("one", &["verify", "season"])["hash"], replaced["hash"]);
}

#[test]
fn a_run_killed_while_it_writes_to_a_bucket_is_completed_by_another_machine() {
    const KILLS: u32 = 6;
    let Some(place) = Place::new() else { return };
    let words = ["run", "football", "--worlds", "40", "--range-worlds", "4", "--threads", "2", "--name", "season"];
    let expected = json(&place.mirrors("local"), &words);
    let resume = |machine: &str| -> &[&str] {
        let listed = place.json(machine, &["ensembles"]);
        if listed.as_array().is_some_and(|l| !l.is_empty()) { &["--resume"] } else { &[] }
    };
    let mut stored = 0;
    for kill in 0..KILLS {
        let machine = format!("machine-{}", kill % 3);
        let mut run = place.program(&machine, &words);
        let run = run.args(resume(&machine)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = run.spawn().unwrap();
        sleep(Duration::from_millis(300 + u64::from(kill * 7_919 % 1_500)));
        child.kill().unwrap();
        child.wait().unwrap();
        // Every reader sees only whole ranges, and never fewer than before.
        let listed = place.json("reader", &["ensembles"]);
        let worlds = listed[0]["worlds"].as_u64().unwrap_or(0);
        assert!(worlds >= stored && worlds.is_multiple_of(4), "kill {kill}: {worlds} worlds after {stored}");
        stored = worlds;
    }
    let resumed = place.json("last", &[&words[..], resume("last")].concat());
    assert_eq!(resumed["complete"], Value::Bool(true));
    assert_eq!((&resumed["hash"], &resumed["events"]), (&expected["hash"], &expected["events"]));
    let home = ["sql", "SELECT sum(home_margin) AS m FROM worlds('season', 'game-003')"];
    assert_eq!(place.json("reader", &home), json(&place.mirrors("local"), &home));
}

/// Workers; killed when dropped.
struct Workers(Vec<Child>);

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            worker.kill().unwrap();
            worker.wait().unwrap();
        }
    }
}

#[test]
fn workers_with_mirrors_of_their_own_play_into_one_bucket() {
    let Some(place) = Place::new() else { return };
    let name = format!("fleet-{}", uuid::Uuid::new_v4().simple());
    let plan = ["football", "--worlds", "30", "--range-worlds", "3", "--name", &name];
    let expected = json(&place.mirrors("local"), &[&["run"], &plan[..]].concat());
    let start = |machine: &str| {
        let mut worker = place.program(machine, &["worker", "--concurrency", "1"]);
        worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let submitted = place.program("submitter", &[&["submit"], &plan[..]].concat()).output().unwrap();
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    let workers = Workers(["worker-1", "worker-2"].map(start).into());
    let started = Instant::now();
    while place.json("reader", &["ensembles"])[0]["state"] != "complete" {
        assert!(started.elapsed() < Duration::from_mins(3), "the workers have not played it");
        sleep(Duration::from_millis(300));
    }
    drop(workers);
    let verified = place.json("reader", &["verify", &name]);
    assert_eq!((&verified["ok"], &verified["hash"]), (&Value::Bool(true), &expected["hash"]));
    assert_eq!(verified["event_hash"], expected["events"]["hash"]);
    for machine in ["worker-1", "worker-2"] {
        let played = place.mirrored(machine, "outcomes");
        assert!((1..10).contains(&played), "{machine} has {played} of 10 ranges");
    }
}

#[test]
fn a_worker_waits_for_a_store_that_is_gone_and_goes_on() {
    let Some(place) = Place::new() else { return };
    let name = format!("gone-{}", uuid::Uuid::new_v4().simple());
    let plan = ["football", "--worlds", "20", "--range-worlds", "2", "--events", "replay", "--name", &name];
    let expected = json(&place.mirrors("local"), &[&["run"], &plan[..]].concat());
    let submitted = place.program("submitter", &[&["submit"], &plan[..]].concat()).output().unwrap();
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    let endpoint = std::env::var("AWS_ENDPOINT_URL").unwrap();
    let gate = Gate::before(endpoint.strip_prefix("http://").unwrap());
    let mut worker = place.program("worker", &["worker", "--concurrency", "1"]);
    worker.env("AWS_ENDPOINT_URL", format!("http://{}", gate.address));
    let worker = Workers(vec![worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()]);
    let until = |what: &str, is_so: &dyn Fn(&Value) -> bool| {
        let started = Instant::now();
        loop {
            let status = program(&["status", &name, "--format", "json"]).output().unwrap();
            let status: Value = serde_json::from_slice(&status.stdout).unwrap();
            if is_so(&status) {
                return status;
            }
            assert!(started.elapsed() < Duration::from_mins(3), "{what}: {status}");
            sleep(Duration::from_millis(100));
        }
    };
    let done = |status: &Value| status["ranges_done"].as_u64().unwrap();
    until("a range is done", &|status| done(status) > 0);
    gate.shut();
    let troubled = |status: &Value| status["workers"].as_array().unwrap().iter().any(|w| !w["trouble"].is_null());
    let status = until("the worker tells its trouble", &troubled);
    assert!(done(&status) < 10 && status["state"] == "running", "{status}");
    gate.open();
    let status = until("all is done", &|status| status["state"] == "complete");
    assert_eq!((done(&status), &status["ranges_failed"]), (10, &Value::from(0)));
    drop(worker);
    let verified = place.json("reader", &["verify", &name]);
    assert_eq!((&verified["ok"], &verified["hash"]), (&Value::Bool(true), &expected["hash"]));
}

fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_store_that_refuses_is_told_clearly() {
    let Some(place) = Place::new() else { return };
    let (url, endpoint) = (place.url.as_str(), std::env::var("AWS_ENDPOINT_URL").unwrap());
    let with = |words: &[&str], data: &str, change: &[(&str, Option<&str>)]| {
        let mut command = program(words);
        command.args(["--data", data]).env("MANYWORLDS_MIRROR", place.mirrors("one"));
        for (name, value) in change {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        said(&command.output().unwrap())
    };
    let listing = format!("error: cannot list {url}/sim/outcomes/_delta_log: ");
    for words in [&RUN[..], &["price", "season", "--leg", "1 > 0"], &["sql", "SELECT 1"], &["drop", "season"]] {
        let refused = with(words, url, &[("AWS_ACCESS_KEY_ID", Some("nobody"))]);
        assert!(
            refused.starts_with(&format!("{listing}{endpoint} denied access (InvalidAccessKeyId): check ")),
            "{refused}"
        );
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
    let no_key = [("AWS_ACCESS_KEY_ID", None), ("AWS_SECRET_ACCESS_KEY", None)];
    // Simulate a machine outside Amazon's cloud.
    let refused = with(&RUN, url, &[&no_key[..], &[("AWS_METADATA_ENDPOINT", Some("http://127.0.0.1:9"))]].concat());
    let nobody = "no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    assert_eq!(refused, format!("{listing}{nobody}\n"));
    let refused = with(&RUN, url, &[("AWS_ENDPOINT_URL", Some("http://127.0.0.1:9"))]);
    let unreached = format!("{listing}cannot reach http://127.0.0.1:9 (");
    assert!(refused.starts_with(&unreached) && refused.contains("check AWS_ENDPOINT_URL"), "{refused}");
    let refused = with(&RUN, url, &[("AWS_ALLOW_HTTP", None)]);
    let plain = format!("AWS_ENDPOINT_URL {endpoint} is not encrypted: set AWS_ALLOW_HTTP=true to allow it\n");
    assert_eq!(refused, format!("{listing}{plain}"));
    let mirror = place.folder.path().join("file");
    std::fs::write(&mirror, "").unwrap();
    let refused = with(&RUN, url, &[("MANYWORLDS_MIRROR", mirror.to_str())]);
    assert!(refused.contains("cannot mirror ") && refused.contains("set MANYWORLDS_MIRROR"), "{refused}");
}

/// Runs the program on an address that is invalid, or not supported by this command.
fn refused(words: &[&str], url: &str) -> String {
    said(&program(words).args(["--data", url]).output().unwrap())
}

#[test]
fn what_is_no_address_is_told_clearly() {
    let bad = refused(&RUN, "s3:///x");
    assert!(bad.contains("invalid bucket address \"s3:///x\": write s3://BUCKET/PREFIX"), "{bad}");
    let tables: [&[&str]; 7] = [
        &["append", "t"],
        &["flush", "t"],
        &["ask", "t"],
        &["serve"],
        &["tables"],
        &["table", "insert", "t", "x.csv"],
        &["table", "compact", "t"],
    ];
    for words in tables {
        let said = refused(words, "s3://manyworlds/x");
        assert!(
            said.contains("tables of rows need a folder: only ensembles can be stored in a bucket"),
            "{words:?}: {said}"
        );
    }
    let Some(place) = Place::new() else { return };
    let mut missing = program(&["ensembles", "--data", "s3://no-such-bucket/x"]);
    let missing = said(&missing.env("MANYWORLDS_MIRROR", place.mirrors("one")).output().unwrap());
    let at = std::env::var("AWS_ENDPOINT_URL").unwrap();
    let place = "s3://no-such-bucket/x/sim/outcomes/_delta_log";
    let expected =
        format!("error: cannot list {place}: no bucket \"no-such-bucket\" at {at}: create it or choose another\n");
    assert_eq!(missing, expected);
}

#[test]
fn ensembles_in_buckets_are_described_and_exported() {
    let Some(place) = Place::new() else { return };
    for words in [["info", "season"], ["export", "season"]] {
        let empty = said(&place.program("one", &words).output().unwrap());
        assert!(empty.contains("stores no data: play an ensemble with `manyworlds run`"), "{words:?}: {empty}");
    }
    let played = place.json("one", &["run", "football", "--worlds", "2", "--name", "season", "--events", "replay"]);
    assert_eq!(place.json("two", &["info", "season"])["hash"], played["hash"]);
    let words = ["export", "season", "--kind", "team_season", "--columns", "wins", "--format", "json"];
    let exported = place.program("two", &words).output().unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    assert_eq!(exported.stdout.split(|byte| *byte == b'\n').count(), 2 * 32 + 1, "a line for each world and team");
    let unknown = said(&place.program("two", &["info", "seson"]).output().unwrap());
    assert!(unknown.contains("no table or ensemble \"seson\"; did you mean season?"), "{unknown}");
}
