//! Runs that are started over HTTP: real processes that play, stop, wait, fail and go on.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::served::{Reply, Served};
use crate::support::{json as run_json, program};

/// Runs have a low priority, so a busy machine plays them slowly.
const PATIENCE: Duration = Duration::from_mins(10);
/// Long enough to be stopped in the middle, short enough to be completed.
const WORLDS: u32 = 240;
/// Long enough to be stopped twice.
const LONG: u32 = 480;

/// A server without a fleet.
pub(crate) fn start(data: &Path, words: &[&str]) -> Served {
    // A check of an ensemble takes long on a busy machine.
    let mut command = program(&["serve", "--listen", "127.0.0.1:0", "--question-seconds", "600"]);
    command.args(words).arg("--data").arg(data);
    Served::of(command.env_remove("MANYWORLDS_LEDGER").env_remove("MANYWORLDS_BROKER"))
}

/// A season to play; its events are replayed, because they take time to store.
fn season(name: &str, worlds: u32) -> Value {
    json!({"model": "football", "name": name, "worlds": worlds, "events": "replay", "seed": 7})
}

/// The hash of the same season, played by the shell.
fn hash_of_shell(folder: &Path, worlds: u32) -> Value {
    let words = ["run", "football", "--worlds", &worlds.to_string(), "--events", "replay", "--seed", "7"];
    run_json(&folder.join("shell"), &words)["hash"].clone()
}

impl Served {
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// Posts a body that must be accepted with `status`.
    pub(crate) fn accepts(&self, path: &str, body: &Value, status: u16) -> Value {
        let reply = self.post_json(path, body);
        assert_eq!(reply.status, status, "{path} {body}: {}", reply.text());
        reply.json()
    }

    fn act(&self, action: &str, name: &str) -> Value {
        self.accepts(&format!("/api/v1/{action}"), &json!({"ensemble": name}), 200)
    }

    fn refuses(&self, action: &str, name: &str) -> String {
        let reply = self.post_json(&format!("/api/v1/{action}"), &json!({"ensemble": name}));
        assert_eq!(reply.status, 409, "{action}: {}", reply.text());
        reply.text()
    }

    pub(crate) fn run_of(&self, name: &str) -> Option<Value> {
        let status = self.get("/api/v1/status").json();
        status["runs"].as_array().unwrap().iter().find(|run| run["ensemble"] == name).cloned()
    }

    /// Waits until a run is as wanted.
    pub(crate) fn until(&self, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let since = Instant::now();
        loop {
            let run = self.run_of(name);
            if let Some(run) = run.clone().filter(|run| is_so(run)) {
                return run;
            }
            assert!(since.elapsed() < PATIENCE, "it does not come: {run:?}");
            sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn until_state(&self, name: &str, state: &str) -> Value {
        self.until(name, |run| run["state"] == state)
    }

    /// The content hash of an ensemble, which must be sound.
    pub(crate) fn hash(&self, name: &str) -> Value {
        let verified = self.accepts("/api/v1/verify", &json!({"ensemble": name}), 200);
        assert!(verified["checks"].as_array().unwrap().iter().all(|check| check["ok"] != false), "{verified}");
        verified["hash"].clone()
    }

    fn stored(&self, name: &str) -> u64 {
        let all = self.get("/api/v1/ensembles").json();
        let one = all.as_array().unwrap().iter().find(|one| one["ensemble"] == name).unwrap().clone();
        one["worlds"].as_u64().unwrap()
    }

    /// The process that plays a run; there must be one.
    fn player(&self) -> Pid {
        let children = Command::new("pgrep").args(["-P", &self.child.id().to_string(), "-f", "run-process"]).output();
        let children = String::from_utf8(children.unwrap().stdout).unwrap();
        Pid::from_raw(children.trim().parse().unwrap_or_else(|_| panic!("{children:?}")))
    }
}

/// A client of the stream of the status.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(server: &Served, headers: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!("GET /api/v1/status/stream HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut stream = Self(BufReader::new(stream));
        assert!(stream.line().unwrap().starts_with("HTTP/1.1 200"));
        stream
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event: its name and its data; `None` once the server has closed the stream.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let line = self.line()?;
            if let Some(event) = line.strip_prefix("event: ") {
                event.clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// Reads until a run has ended as `state`; returns all that was said of the run, and the other events.
    fn until(&mut self, name: &str, state: &str) -> (Vec<Value>, Vec<String>) {
        let (mut said, mut others) = (Vec::new(), Vec::new());
        loop {
            let (event, data) = self.next().expect("the stream ended");
            if event != "status" {
                others.push(event);
                continue;
            }
            let Some(run) = data["runs"].as_array().unwrap().iter().find(|run| run["ensemble"] == name) else {
                continue;
            };
            said.push(run.clone());
            if run["state"] == state {
                return (said, others);
            }
        }
    }
}

#[test]
fn runs_are_watched_and_equal_the_shells() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder.path().join("data"), &[]);
    let mut stream = Stream::open(&server, "");
    assert_eq!(stream.next(), Some(("status".to_owned(), json!({"runs": [], "workers": [], "fleet_error": null}))));
    let run = server.accepts("/api/v1/run", &season("s", WORLDS), 202);
    assert_eq!((&run["by"], &run["worlds"], &run["model"]), (&json!("process"), &json!(WORLDS), &json!("football")));
    assert_eq!(run["can"], json!(["pause", "cancel"]));
    let (said, others) = stream.until("s", "complete");
    let done: Vec<u64> = said.iter().map(|run| run["worlds_done"].as_u64().unwrap()).collect();
    assert!(done.is_sorted() && done.last() == Some(&u64::from(WORLDS)), "{done:?}");
    assert!(done.iter().any(|done| (1..u64::from(WORLDS)).contains(done)), "it is seen to grow: {done:?}");
    assert!(said.iter().any(|run| run["worlds_per_s"].as_f64() > Some(0.0) && run["left_s"].as_f64() > Some(0.0)));
    assert!(others.contains(&"ensembles".to_owned()) || stream.next().unwrap().0 == "ensembles");
    assert_eq!(server.hash("s"), hash_of_shell(folder.path(), WORLDS));
    // A stream does not keep a server from stopping.
    let said = server.stop();
    assert!(said.contains("flushed all rows"), "{said}");
    while stream.next().is_some() {}
}

#[test]
fn paused_runs_go_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, &[]);
    server.accepts("/api/v1/run", &season("s", LONG), 202);
    let run = server.act("pause", "s");
    assert!(["pausing", "paused"].contains(&run["state"].as_str().unwrap()), "{run}");
    let run = server.until_state("s", "paused");
    let stored = server.stored("s");
    assert!(stored < u64::from(LONG) && run["worlds_done"] == stored, "{run}");
    assert_eq!(run["can"], json!(["resume", "cancel"]));
    assert!(server.refuses("pause", "s").contains("is paused"));
    server.stop();
    let server = start(&data, &[]);
    assert_eq!(server.run_of("s").unwrap()["state"], "paused");
    let run = server.act("resume", "s");
    assert_eq!(run["by"], "process", "{run}");
    // A server that is asked to stop pauses its run.
    server.stop();
    let server = start(&data, &[]);
    let run = server.run_of("s").unwrap();
    assert_eq!((&run["state"], &run["error"]), (&json!("paused"), &Value::Null), "{run}");
    server.act("resume", "s");
    server.until_state("s", "complete");
    assert_eq!(server.hash("s"), hash_of_shell(folder.path(), LONG));
}

#[test]
fn cancelled_runs_stay_readable_and_can_be_retried() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, &[]);
    server.accepts("/api/v1/run", &season("s", WORLDS), 202);
    server.until_state("s", "complete");
    // More worlds than anybody waits for.
    let mut wish = season("s", 1_000_000);
    wish["extend"] = true.into();
    server.accepts("/api/v1/run", &wish, 202);
    server.act("cancel", "s");
    let run = server.until_state("s", "cancelled");
    assert_eq!(run["can"], json!(["retry"]));
    assert!((u64::from(WORLDS)..1_000_000).contains(&server.stored("s")));
    server.accepts("/api/v1/outcome", &json!({"ensemble": "s", "outcomes": ["team-01:wins"]}), 200);
    for action in ["pause", "resume", "cancel"] {
        assert!(server.refuses(action, "s").contains("is cancelled"));
    }
    server.stop();
    let server = start(&data, &[]);
    assert_eq!(server.run_of("s").unwrap()["state"], "cancelled");
    assert_eq!(server.act("retry", "s")["state"], "running");
    server.act("cancel", "s");
    server.until_state("s", "cancelled");
}

#[test]
fn killed_processes_fail_and_killed_servers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut server = start(&data, &[]);
    server.accepts("/api/v1/run", &season("s", WORLDS), 202);
    kill(server.player(), Signal::SIGKILL).unwrap();
    let run = server.until_state("s", "failed");
    assert!(run["error"].as_str().unwrap().contains("signal 9"), "{run}");
    assert_eq!(run["can"], json!(["retry"]));
    server.act("retry", "s");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = start(&data, &[]);
    // The process of the killed server finishes its ranges; nobody else may play meanwhile.
    let run = server.until("s", |run| ["paused", "complete"].contains(&run["state"].as_str().unwrap()));
    if run["state"] == "paused" {
        server.act("resume", "s");
    }
    server.until("s", |run| run["state"] == "complete");
    assert_eq!(server.hash("s"), hash_of_shell(folder.path(), WORLDS));
}

#[test]
fn runs_beyond_the_limit_wait() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder.path().join("data"), &["--runs", "1"]);
    server.accepts("/api/v1/run", &season("a", 100_000), 202);
    for name in ["b", "c"] {
        server.accepts("/api/v1/run", &season(name, 60), 202);
        let run = server.until_state(name, "queued");
        assert_eq!(run["can"], json!(["pause", "cancel"]), "{run}");
    }
    let taken = server.post_json("/api/v1/run", &season("b", 60));
    assert_eq!((taken.status, taken.json()["kind"].clone()), (409, json!("state")), "{}", taken.text());
    assert_eq!(server.act("cancel", "c")["state"], "cancelled");
    assert_eq!(server.run_of("a").unwrap()["state"], "running");
    server.act("cancel", "a");
    server.until_state("b", "complete");
    assert_eq!(server.run_of("c").unwrap()["state"], "cancelled");
    assert_eq!(server.stored("b"), 60);
}

#[test]
fn runs_of_a_shell_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = start(&data, &[]);
    let mut shell = program(&["run", "football", "--worlds", "100000", "--range-worlds", "10", "--events", "replay"]);
    shell.args(["--seed", "7", "--name", "s", "--data"]).arg(&data);
    let mut shell = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let run = server.until("s", |run| run["state"] == "running" && run["worlds_done"].as_u64() > Some(0));
    assert_eq!((&run["by"], &run["can"], &run["worlds"]), (&json!("elsewhere"), &json!([]), &json!(100_000)));
    assert!(server.refuses("pause", "s").contains("another program"));
    kill(Pid::from_raw(shell.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(shell.wait().unwrap().code(), Some(130));
    let run = server.until_state("s", "paused");
    assert_eq!(run["can"], json!(["resume", "cancel"]));
    assert_eq!(server.act("resume", "s")["by"], "process");
    server.act("cancel", "s");
    server.until_state("s", "cancelled");
    assert!(server.stored("s") >= run["worlds_done"].as_u64().unwrap());
}

#[test]
fn refusals_name_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder.path().join("data"), &[]);
    server.accepts("/api/v1/run", &season("taken", 20), 202);
    server.until_state("taken", "complete");
    let script = folder.path().join("evil.py");
    std::fs::write(&script, format!("open({:?}, 'w')\n", folder.path().join("loaded"))).unwrap();
    let of_file = format!("{}:Game", script.display());
    let with = |changes: Value| {
        let mut wish = season("x", 20);
        wish.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        wish
    };
    for (changes, status, field, words) in [
        (json!({"model": "footbal"}), 400, "model", "did you mean football"),
        (json!({"model": of_file}), 400, "model", "no model"),
        (json!({"model": "program:sim"}), 400, "model", "no model"),
        (json!({"name": "../x"}), 400, "name", "cannot name an ensemble"),
        (json!({"name": "taken"}), 409, "name", "exists already"),
        (json!({"worlds": 0}), 400, "worlds", ""),
        (json!({"worlds": -1}), 400, "worlds", "give a whole number from 1 to 4294967295"),
        (json!({"worlds": 4_294_967_296_u64}), 400, "worlds", "give a whole number"),
        (json!({"worlds": null}), 400, "worlds", "is missing"),
        (json!({"seed": "x"}), 400, "seed", "18446744073709551615"),
        (json!({"parameters": {"pace": "fast"}}), 400, "parameters", "give a number from 0.7 to 1.5"),
        (json!({"parameters": {"pace": 9}}), 400, "parameters", "give a number from 0.7 to 1.5"),
        (json!({"parameters": {"pase": 1}}), 400, "parameters", "did you mean pace"),
        (json!({"parameters": {"definition": {}}}), 400, "parameters", "no parameter \"definition\""),
        (json!({"parameters": [1]}), 400, "parameters", "JSON object"),
        (json!({"definition": "teams = 3"}), 400, "definition", "does not define a valid league"),
        (json!({"definition": {"name": "nothing"}}), 404, "definition", "no definition"),
        (json!({"until": {"outcome": "team-01", "goal": "1%"}}), 400, "until", "ENTITY:OUTCOME"),
        (json!({"until": {"outcome": "team-01:wims", "goal": "1%"}}), 400, "until", "did you mean wins"),
        (json!({"until": {"outcome": "team-01:wins", "goal": "-1"}}), 400, "until", "is not a width"),
        (json!({"replace": true, "extend": true}), 400, "extend", "not both"),
        (json!({"threads": 0}), 400, "threads", "at least one"),
        (json!({"threads": 100_000}), 400, "threads", "processors"),
        (json!({"extend": true}), 404, "", "unknown ensemble"),
        (json!({"events": "keep"}), 400, "events", "give \"store\", \"compact\" or \"replay\""),
        (json!({"program": "./sim"}), 400, "program", "no field \"program\""),
        (json!({"until": {"outcome": "team-01:wins"}}), 400, "until", "a \"goal\""),
        (json!({"model": "bingo"}), 400, "definition", "needs an event"),
    ] {
        let reply = server.post_json("/api/v1/run", &with(changes.clone()));
        let said = reply.json();
        assert_eq!(reply.status, status, "{changes}: {said}");
        assert_eq!(said["field"].as_str().unwrap_or_default(), field, "{changes}: {said}");
        assert!(said["error"].as_str().unwrap().contains(words), "{changes}: {said}");
        if let (Some(given), "parameters") = (changes["parameters"].as_object(), field) {
            assert_eq!(said["parameter"], *given.keys().next().unwrap(), "{said}");
        }
    }
    assert!(!folder.path().join("loaded").exists());
    assert!(server.run_of("x").is_none());
    for action in ["pause", "resume", "cancel", "retry"] {
        let path = format!("/api/v1/{action}");
        assert_eq!(server.post_json(&path, &json!({"ensemble": "nobody"})).status, 404);
        assert!(server.refuses(action, "taken").contains("is complete"));
    }
    let submitted = server.post_json("/api/v1/submit", &season("x", 20));
    assert!(submitted.status == 409 && submitted.text().contains("has no fleet"), "{}", submitted.text());
    // Longer, and in place of itself.
    server.accepts("/api/v1/run", &with(json!({"name": "taken", "extend": true, "worlds": 30})), 202);
    server.until("taken", |run| run["state"] == "complete" && run["worlds_done"] == 30);
    assert_eq!(server.hash("taken"), hash_of_shell(folder.path(), 30));
    server.accepts("/api/v1/run", &with(json!({"name": "taken", "replace": true, "worlds": 25})), 202);
    server.until("taken", |run| run["state"] == "complete" && run["worlds_done"] == 25);
    assert_eq!(server.stored("taken"), 25);
    let goal = json!({"outcome": "team-01:wins", "goal": 2.0});
    server.accepts("/api/v1/run", &with(json!({"until": goal, "worlds": 100_000})), 202);
    server.until_state("x", "enough");
}

#[test]
fn readers_watch_and_writers_play() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens.toml");
    let token = |name: &str, words: &[&str]| {
        let output = program(&["token", "create", name]).args(words).arg("--token-file").arg(&file).output().unwrap();
        format!("Bearer {}", String::from_utf8(output.stdout).unwrap().trim())
    };
    let reader = token("reader", &["--read"]);
    let stranger = token("stranger", &["--read", "--write", "--database", "other"]);
    let player = token("player", &["--read", "--write", "--database", "sim"]);
    let server = start(&folder.path().join("data"), &["--token-file", file.to_str().unwrap()]);
    let status = |method: &str, path: &str, token: &str, body: &Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        server.send(method, path, &[("authorization", token)], body.as_bytes()).status
    };
    let named = json!({"ensemble": "s"});
    let kept = json!({"name": "d", "model": "bingo", "text": ""});
    let checked = json!({"model": "bingo", "definition": ""});
    let wish = season("s", 20);
    for (method, path, body, of_reader) in [
        ("GET", "/api/v1/models", &Value::Null, 200),
        ("GET", "/api/v1/status", &Value::Null, 200),
        ("GET", "/api/v1/definitions", &Value::Null, 200),
        ("GET", "/api/v1/definition?name=d", &Value::Null, 404),
        ("POST", "/api/v1/check", &checked, 200),
        ("POST", "/api/v1/run", &wish, 403),
        ("POST", "/api/v1/submit", &wish, 403),
        ("POST", "/api/v1/pause", &named, 403),
        ("POST", "/api/v1/resume", &named, 403),
        ("POST", "/api/v1/cancel", &named, 403),
        ("POST", "/api/v1/retry", &named, 403),
        ("POST", "/api/v1/definition", &kept, 403),
    ] {
        assert_eq!(status(method, path, &reader, body), of_reader, "{path}");
        assert_eq!(status(method, path, &stranger, body), 403, "{path}");
        assert_eq!(server.send(method, path, &[], body.to_string().as_bytes()).status, 401, "{path}");
    }
    assert_eq!(status("GET", "/api/v1/status/stream", &stranger, &Value::Null), 403);
    assert_eq!(status("POST", "/api/v1/run", &player, &season("s", 20)), 202);
    let mut stream = Stream::open(&server, &format!("authorization: {reader}\r\n"));
    stream.until("s", "complete");
    let revoked = program(&["token", "revoke", "reader", "--token-file"]).arg(&file).output().unwrap();
    assert!(revoked.status.success());
    // The server notices, and says nothing more.
    while stream.next().is_some() {}
}

fn example(folder: &Path) -> (PathBuf, String) {
    let file = folder.join("small.toml");
    let text = String::from_utf8(program(&["bingo", "example", "small"]).output().unwrap().stdout).unwrap();
    std::fs::write(&file, &text).unwrap();
    (file, text)
}

#[test]
fn kept_definitions_are_played_with_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (file, text) = example(folder.path());
    let server = start(&folder.path().join("data"), &[]);
    let save = |name: &str, text: &str| {
        server.accepts("/api/v1/definition", &json!({"name": name, "model": "bingo", "text": text}), 200)["version"]
            .clone()
    };
    // The players are a part of their own, which the event names.
    let players = &text[text.find("[[players]]").unwrap()..];
    let players = &players[..players.rfind("[[players]]").unwrap()];
    let rest = text.replace(players, "");
    assert_eq!((save("friends", players), save("friends", players)), (json!(1), json!(1)));
    let event = format!("use = [\"friends@1\"]\n{rest}");
    assert_eq!((save("event", "draft"), save("event", &event)), (json!(1), json!(2)));
    assert_eq!(save("friends", "[[players]]\nname = \"zoe\"\n"), 2);
    let listed = server.get("/api/v1/definitions").json();
    assert_eq!(
        listed.as_array().unwrap().iter().map(|one| (one["name"].clone(), one["latest"].clone())).collect::<Vec<_>>(),
        [(json!("event"), json!(2)), (json!("friends"), json!(2))]
    );
    let got = server.get("/api/v1/definition?name=event&version=1").json();
    assert_eq!((&got["text"], &got["model"], &got["version"]), (&json!("draft"), &json!("bingo"), &json!(1)));
    assert_eq!(server.get("/api/v1/definition?name=event").json()["text"], event);
    for (path, status) in [("name=event&version=9", 404), ("name=evnt", 404), ("name=..%2Fx", 400), ("version=1", 400)]
    {
        assert_eq!(server.get(&format!("/api/v1/definition?{path}")).status, status, "{path}");
    }
    let large = json!({"name": "large", "model": "bingo", "text": "x".repeat(1_100_000)});
    assert_eq!(server.post_json("/api/v1/definition", &large).status, 413);
    let other = server.post_json("/api/v1/definition", &json!({"name": "event", "model": "football", "text": ""}));
    assert_eq!(other.status, 409, "{}", other.text());
    let checked = server.accepts("/api/v1/check", &json!({"model": "bingo", "definition": event}), 200);
    assert_eq!((&checked["valid"], &checked["uses"]), (&json!(true), &json!([{"name": "friends", "version": 1}])));
    let broken = event.replace("\"America/New_York\"", "\"Nowhere\"");
    let faults = server.accepts("/api/v1/check", &json!({"model": "bingo", "definition": broken}), 200);
    let line = 1 + broken.lines().position(|line| line.starts_with("zone")).unwrap();
    assert_eq!((&faults["valid"], &faults["faults"][0]["line"]), (&json!(false), &json!(line)), "{faults}");
    let wish = |name: &str, definition: Value| json!({"model": "bingo", "name": name, "worlds": 300, "definition": definition});
    let refused = server.post_json("/api/v1/run", &wish("b", json!(broken)));
    assert_eq!((refused.status, &refused.json()["faults"][0]["line"]), (400, &json!(line)), "{}", refused.text());
    server.accepts("/api/v1/run", &wish("kept", json!({"name": "event"})), 202);
    server.accepts("/api/v1/run", &wish("typed", json!(text)), 202);
    let part = server.post_json("/api/v1/run", &wish("part", json!({"name": "friends", "version": 1})));
    assert!(part.status == 400 && part.text().contains("this is only a part"), "{}", part.text());
    for name in ["kept", "typed"] {
        server.until_state(name, "complete");
    }
    let shell =
        run_json(&folder.path().join("shell"), &["run", "bingo", "--worlds", "300", "--event", file.to_str().unwrap()]);
    assert_eq!((server.hash("kept"), server.hash("typed")), (shell["hash"].clone(), shell["hash"].clone()));
}

#[test]
fn models_are_described_as_the_shell_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder.path().join("data"), &[]);
    let output = program(&["models", "--format", "json"]).output().unwrap();
    let shell: Value = serde_json::from_slice(&output.stdout).unwrap();
    let models = server.get("/api/v1/models").json();
    assert_eq!(models, shell);
    assert_eq!((&models[0]["model"], &models[0]["definition"]["name"]), (&json!("bingo"), &json!("event")));
    let pace = models[1]["parameters"].as_array().unwrap().iter().find(|p| p["name"] == "pace").unwrap();
    assert_eq!((&pace["min"], &pace["max"], &pace["default"]), (&json!(0.7), &json!(1.5), &json!(1.0)));
}
