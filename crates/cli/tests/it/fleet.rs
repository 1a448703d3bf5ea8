//! Fleets of processes: killed workers, service outages, signals, and refusals.
//!
//! `make services` starts the services; their addresses are in the environment.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::gate::Gate;
use crate::programs::{NUMBERS, script};
use crate::support::{json, program};

/// How long a fleet may stand still.
const PATIENCE: Duration = Duration::from_mins(3);

/// The addresses of broker and ledger, as flags.
#[derive(Clone)]
struct Services {
    broker: String,
    ledger: String,
}

impl Services {
    /// The services that all tests share.
    fn shared() -> Self {
        let of = |name: &str| {
            std::env::var(name).unwrap_or_else(|_| {
                panic!("{name} is not set: start the services with `make services`, and export what it prints")
            })
        };
        Self { broker: of("MANYWORLDS_BROKER"), ledger: of("MANYWORLDS_LEDGER") }
    }

    fn fleet(&self, words: &[&str]) -> Command {
        let mut command = program(words);
        command.args(["--ledger", &self.ledger]);
        if ["submit", "worker"].contains(&words[0]) {
            command.args(["--broker", &self.broker]);
        }
        command
    }

    fn status(&self, name: &str) -> Option<Value> {
        let output = self.fleet(&["status", name, "--format", "json"]).output().unwrap();
        // The ledger may be temporarily unreachable.
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    /// Waits until the status meets a condition; fails when nothing moves for [`PATIENCE`]. A busy machine may take
    /// many times as long as an idle one, so only standing still counts.
    fn until(&self, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let (mut moved, mut last) = (Instant::now(), Value::Null);
        loop {
            if let Some(mut status) = self.status(name) {
                if is_so(&status) {
                    return status;
                }
                let progress = ["state", "worlds_done", "ranges_done", "ranges_failed"].map(|key| status[key].take());
                let progress = Value::from(progress.to_vec());
                if progress != last {
                    (moved, last) = (Instant::now(), progress);
                }
            }
            assert!(moved.elapsed() < PATIENCE, "nothing moves after [state, worlds, ranges, failed] = {last}");
            sleep(Duration::from_millis(100));
        }
    }

    fn worker(&self, data: &Path) -> Worker {
        let mut command = self.fleet(&["worker", "--concurrency", "1"]);
        Worker(command.arg("--data").arg(data).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    fn submit(&self, data: &Path, name: &str, worlds: u32) {
        let event = event(data.parent().unwrap());
        let mut command = self.fleet(&["submit", "bingo", "--range-worlds", "100", "--name", name]);
        command.args(["--worlds", &worlds.to_string(), "--event"]).arg(&event);
        let output = command.arg("--data").arg(data).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A worker process; killed if dropped before its end.
struct Worker(Child);

impl Worker {
    /// Whether a status shows that it has registered.
    fn is_in(&self, status: &Value) -> bool {
        status["workers"].as_array().is_some_and(|seen| seen.iter().any(|worker| worker["pid"] == self.0.id()))
    }

    /// Ends the worker with a signal that lets it finish; returns its exit code.
    fn end(mut self) -> Option<i32> {
        kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM).unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn event(folder: &Path) -> PathBuf {
    let file = folder.join("small.toml");
    std::fs::write(&file, program(&["bingo", "example", "small"]).output().unwrap().stdout).unwrap();
    file
}

/// The same ensemble played by one process.
fn embedded(folder: &Path, worlds: u32) -> Value {
    let event = event(folder);
    let words =
        ["run", "bingo", "--worlds", &worlds.to_string(), "--event", event.to_str().unwrap()].map(str::to_owned);
    json(&folder.join("embedded"), &words.each_ref().map(String::as_str))
}

/// A unique name, because tests share a ledger.
fn name() -> String {
    format!("e-{}", uuid::Uuid::new_v4().simple())
}

/// Services of one test, which it may stop. Dropping them stops the services and removes their data.
struct OwnServices {
    folder: PathBuf,
    addresses: Services,
}

impl OwnServices {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("manyworlds-{}", name()));
        let printed = Self::script(&folder, &["start"]);
        let of = |name: &str| {
            let line = printed.lines().find(|line| line.contains(&format!("{name}="))).unwrap();
            line.split_once('=').unwrap().1.trim_matches('\'').to_owned()
        };
        let addresses = Services { broker: of("MANYWORLDS_BROKER"), ledger: of("MANYWORLDS_LEDGER") };
        Self { folder, addresses }
    }

    fn script(folder: &Path, words: &[&str]) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/services.sh");
        let output = Command::new(script).args(words).env("MANYWORLDS_SERVICES", folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn restart(&self, words: &[&str]) {
        Self::script(&self.folder, &[&["restart"], words].concat());
    }
}

impl Drop for OwnServices {
    fn drop(&mut self) {
        Self::script(&self.folder, &["stop", "--wipe"]);
    }
}

#[test]
fn killed_workers_and_restarted_services_lose_and_double_nothing() {
    const WORLDS: u32 = 30_000;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let expected = embedded(folder.path(), WORLDS);
    let own = OwnServices::start();
    let (services, name) = (own.addresses.clone(), name());
    services.submit(&data, &name, WORLDS);
    let mut workers: Vec<Worker> = (0..3).map(|_| services.worker(&data)).collect();
    let mut watching = services.fleet(&["status", &name, "--watch"]);
    let mut watcher = Worker(watching.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let mut random = 0x9E37_79B9u32;
    for disturbance in 0..12 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        sleep(Duration::from_millis(300 + u64::from(random >> 16) % 700));
        if [4, 9].contains(&disturbance) {
            // A worker that finds no ledger when it starts gives up after ten seconds, which is right.
            services.until(&name, |status| {
                workers.iter().all(|worker| worker.is_in(status)) || status["state"] == "complete"
            });
        }
        match disturbance {
            2 => own.restart(&["broker"]),
            4 => own.restart(&["ledger"]),
            7 => own.restart(&["broker", "--kill"]),
            9 => own.restart(&["ledger", "--kill"]),
            _ => {
                // Kill it, and start a replacement.
                drop(workers.remove(random as usize % workers.len()));
                workers.push(services.worker(&data));
            }
        }
    }
    let status = services.until(&name, |status| status["state"] == "complete");
    assert_eq!((&status["worlds_done"], &status["ranges_failed"]), (&Value::from(WORLDS), &Value::from(0)));
    assert_eq!(status["outcomes"], expected["known"], "what is known is what one process knows");
    let verified = json(&data, &["verify", &name]);
    assert_eq!((&verified["ok"], &verified["hash"]), (&Value::Bool(true), &expected["hash"]));
    assert_eq!(verified["event_hash"], expected["events"]["hash"]);
    for worker in workers {
        assert_eq!(worker.end(), Some(0));
    }
    assert_eq!(watcher.0.wait().unwrap().code(), Some(0), "who watches waits for the ledger, too");
}

/// A gate before the service at a URL, and the URL through it.
fn gated(url: &str) -> (Gate, String) {
    let (before, rest) = url.split_once('@').unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let gate = Gate::before(address);
    let through = format!("{before}@{}/{path}", gate.address);
    (gate, through)
}

#[test]
fn a_worker_gives_up_a_dead_connection_to_the_broker_and_goes_on() {
    goes_on_after_silence(|services| &mut services.broker);
}

#[test]
fn a_worker_gives_up_dead_connections_to_the_ledger_and_goes_on() {
    goes_on_after_silence(|services| &mut services.ledger);
}

fn goes_on_after_silence(of: impl Fn(&mut Services) -> &mut String) {
    const WORLDS: u32 = 6_000;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (services, name) = (Services::shared(), name());
    let mut through = services.clone();
    let (gate, url) = gated(of(&mut through));
    *of(&mut through) = url;
    let mut slow = through.fleet(&["worker", "--concurrency", "1", "--world-pause-ms", "5"]);
    slow.arg("--data").arg(&data).stdout(Stdio::null()).stderr(Stdio::null());
    services.submit(&data, &name, WORLDS);
    let worker = Worker(slow.spawn().unwrap());
    services.until(&name, |status| status["ranges_done"].as_u64() > Some(2));
    gate.fall_silent();
    let before = services.status(&name).unwrap();
    assert!(before["worlds_done"].as_u64() < Some(u64::from(WORLDS)), "{before}");
    let status = services.until(&name, |status| status["state"] == "complete");
    assert_eq!((&status["worlds_done"], &status["ranges_failed"]), (&Value::from(WORLDS), &Value::from(0)));
    assert_eq!(json(&data, &["verify", &name])["ok"], true);
    assert_eq!(worker.end(), Some(0));
}

#[test]
fn a_second_signal_ends_a_worker_that_waits() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (services, name) = (Services::shared(), name());
    services.submit(&data, &name, 1_000);
    let mut command = services.fleet(&["worker", "--concurrency", "1", "--world-pause-ms", "10000"]);
    let child = command.arg("--data").arg(&data).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut worker = Worker(child);
    let mut said = BufReader::new(worker.0.stderr.take().unwrap());
    services.until(&name, |status| status["workers"].as_array().is_some_and(|workers| !workers.is_empty()));
    // It sleeps for a quarter of an hour over each range. Its output shows that it received the signal.
    let pid = Pid::from_raw(worker.0.id() as i32);
    for expected in ["stopping after", "dropping the ranges"] {
        kill(pid, Signal::SIGTERM).unwrap();
        let line = said.by_ref().lines().map(Result::unwrap).find(|line| line.starts_with(expected));
        assert!(line.is_some(), "it ended before it said {expected:?}");
    }
    let code = worker.0.wait().unwrap().code();
    assert!([Some(0), Some(130)].contains(&code), "{code:?}");
    assert!(services.fleet(&["cancel", &name]).output().unwrap().status.success());
}

#[test]
fn dropped_ensembles_leave_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (services, name) = (Services::shared(), name());
    services.submit(&data, &name, 200);
    let drop_it = || services.fleet(&["drop", &name]).arg("--data").arg(&data).output().unwrap();
    assert!(services.status(&name).is_some());
    let dropped = drop_it();
    assert!(dropped.status.success(), "{}", String::from_utf8_lossy(&dropped.stderr));
    assert!(services.status(&name).is_none());
    assert_eq!(drop_it().status.code(), Some(2), "there is nothing more to drop");
}

/// The address that a process prints first.
fn metrics_address(said: &mut impl BufRead) -> String {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    line.trim().strip_prefix("metrics at http://").unwrap().strip_suffix("/metrics").unwrap().to_owned()
}

fn metrics_at(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_worker_tells_every_ten_seconds_where_the_time_went() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (services, name) = (Services::shared(), name());
    let mut command = services.fleet(&["worker", "--concurrency", "1", "--world-pause-ms", "30"]);
    let mut child = command.arg("--data").arg(&data).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap());
    let worker = Worker(child);
    services.submit(&data, &name, 1_000);
    let line = said.lines().map(Result::unwrap).find(|line| line.contains(" worlds; ")).unwrap();
    let (worlds, phases) = line.split_once(" worlds; ").unwrap();
    assert!((100..1_000).contains(&worlds.parse::<u32>().unwrap()), "{line}");
    let phases: Vec<(&str, u64)> = phases
        .split(", ")
        .map(|phase| {
            let [name, ns, "ns"] = phase.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            (name, ns.parse().unwrap())
        })
        .collect();
    let named: Vec<&str> = phases.iter().map(|(name, _)| *name).collect();
    let expected = ["dispatch", "wait", "claim", "simulate", "encode", "write", "commit", "note", "acknowledge"];
    assert_eq!(named, expected);
    // It sleeps 30 ms for each world.
    assert!(phases[3].1 > 30_000_000 * 100, "{line}");
    assert!(services.fleet(&["cancel", &name]).output().unwrap().status.success());
    drop(worker);
}

#[test]
fn a_run_of_one_process_tells_prometheus_what_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let event = event(folder.path());
    let mut command = program(&["run", "bingo", "--worlds", "1000000", "--metrics", "127.0.0.1:0", "--event"]);
    command.arg(event).arg("--data").arg(folder.path().join("data"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let address = metrics_address(&mut said);
    let _run = Worker(child);
    let started = Instant::now();
    loop {
        let answer = metrics_at(&address);
        let worlds = answer.lines().find_map(|line| line.strip_prefix("manyworlds_worker_worlds_total ")).unwrap();
        let simulate =
            answer.lines().find_map(|l| l.strip_prefix("manyworlds_worker_phase_seconds_total{phase=\"simulate\"} "));
        if worlds != "0" {
            assert!(simulate.unwrap().parse::<f64>().unwrap() > 0.0, "{answer}");
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{answer}");
        sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_worker_ends_as_it_should_on_a_signal_and_tells_prometheus_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (services, name) = (Services::shared(), name());
    let mut command = services.fleet(&["worker", "--concurrency", "1", "--metrics", "127.0.0.1:0"]);
    let mut child = command.arg("--data").arg(&data).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let address = metrics_address(&mut said);
    let worker = Worker(child);
    services.submit(&data, &name, 1_000);
    services.until(&name, |status| status["state"] == "complete");
    let answer = metrics_at(&address);
    assert!(answer.contains("manyworlds_worker_worlds_total 1000"), "{answer}");
    let phase = |name: &str| {
        let start = format!("manyworlds_worker_phase_seconds_total{{phase=\"{name}\"}} ");
        answer.lines().find_map(|l| l.strip_prefix(&start)).unwrap().parse::<f64>().unwrap()
    };
    for name in ["dispatch", "claim", "simulate", "encode", "write", "commit", "note", "acknowledge"] {
        assert!(phase(name) > 0.0, "{name}: {answer}");
    }
    // Keep reading the pipe until the worker has written its last line.
    let ended = worker.end();
    drop(said);
    assert_eq!(ended, Some(0));
    let there = services.fleet(&["status", &name, "--format", "json"]).output().unwrap();
    let there: Value = serde_json::from_slice(&there.stdout).unwrap();
    assert!(there["workers"].as_array().unwrap().iter().all(|w| w["is_there"] == false || w["worlds_done"] == 0));
}

#[test]
fn what_is_wrong_is_told_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let services = Services::shared();
    let event = event(folder.path());
    let event = event.to_str().unwrap();
    let refused = |services: &Services, words: &[&str], part: &str| {
        let mut command = services.fleet(words);
        if ["submit", "worker"].contains(&words[0]) {
            command.arg("--data").arg(folder.path().join("data"));
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.starts_with("error: ") && said.contains(part) && said.lines().count() == 1, "{words:?}: {said}");
    };
    for words in [["status", "zzz"], ["pause", "zzz"], ["cancel", "zzz"], ["retry", "zzz"], ["resume", "zzz"]] {
        refused(&services, &words, "the fleet has no ensemble \"zzz\"");
    }
    let nowhere = Services { broker: "amqp://127.0.0.1:1/%2f".to_owned(), ..services.clone() };
    let submit = ["submit", "bingo", "--event", event];
    refused(&nowhere, &submit, "the broker at 127.0.0.1:1 could not be reached");
    refused(&nowhere, &["worker"], "the broker at 127.0.0.1:1 could not be reached");
    let nowhere = Services { ledger: "postgres://127.0.0.1:1/x".to_owned(), ..services.clone() };
    refused(&nowhere, &submit, "the ledger at 127.0.0.1:1 could not be reached");
    refused(&nowhere, &["worker"], "the ledger at 127.0.0.1:1 could not be reached");
    let wrong = |url: &str| {
        let (user, rest) = url.split_once('@').unwrap();
        format!("{}:wrong@{rest}", user.rsplit_once(':').unwrap().0)
    };
    let stranger = Services { broker: wrong(&services.broker), ..services.clone() };
    refused(&stranger, &["worker"], "could not be reached");
    let stranger = Services { ledger: wrong(&services.ledger), ..services.clone() };
    refused(&stranger, &["status"], "password authentication failed");
    refused(&services, &["worker", "--concurrency", "0"], "--concurrency 0");
    refused(&services, &["submit", "bingo"], "bingo needs an event");
    refused(&services, &[&submit[..], &["--until-ci", "1%", "--outcome", "alpha"]].concat(), "ENTITY:OUTCOME");
    refused(
        &services,
        &[&submit[..], &["--until-ci", "1%", "--outcome", "alpha:pionts"]].concat(),
        "did you mean points",
    );
}

#[test]
fn ensembles_of_one_seed_are_compared_world_by_world() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = event(folder.path());
    let other = std::fs::read_to_string(&file).unwrap();
    // Only the second team has another strategy.
    let (first, second) = other.rsplit_once("strategy = \"row_unlocking\"").unwrap();
    let changed = folder.path().join("changed.toml");
    std::fs::write(&changed, format!("{first}strategy = \"greedy\"{second}")).unwrap();
    for (name, event, seed) in [("rows", &file, "1"), ("greed", &changed, "1"), ("elsewhere", &changed, "2")] {
        let words =
            ["run", "bingo", "--worlds", "2000", "--name", name, "--seed", seed, "--events", "replay", "--event"];
        json(&data, &[&words[..], &[event.to_str().unwrap()]].concat());
    }
    let compare =
        |other: &str| json(&data, &["compare", "rows", other, "--outcome", "alpha:points", "--outcome", "beta:points"]);
    let paired = compare("greed");
    let (alpha, beta) = (&paired[0], &paired[1]);
    assert_eq!((&alpha["difference"], &alpha["shares"][1]), (&Value::from(0.0), &Value::from(1.0)), "{alpha}");
    assert!(beta["difference"].as_f64().unwrap().abs() > 0.0 && beta["is_paired"] == true, "{beta}");
    let apart = compare("elsewhere");
    assert!(apart[1]["is_paired"] == false && apart[1]["shares"].is_null(), "{apart}");
}

#[test]
fn workers_start_only_programs_of_their_own_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let own = OwnServices::start();
    let (services, name) = (own.addresses.clone(), name());
    let command = script(folder.path(), "sim.sh", &format!("touch \"$0.started\"; {NUMBERS}"));
    let started = folder.path().join("sim.sh.started");
    let words = ["--worlds", "300", "--range-worlds", "100", "--name", &name];
    let mut submit = services.fleet(&["submit", "--program", &command]);
    let submitted = submit.args(words).arg("--data").arg(&data).output().unwrap();
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    std::fs::remove_file(&started).unwrap();
    let (log, mut stranger) = (folder.path().join("stranger.log"), services.fleet(&["worker"]));
    stranger.arg("--data").arg(&data).stdout(Stdio::null()).stderr(std::fs::File::create(&log).unwrap());
    let stranger = Worker(stranger.spawn().unwrap());
    let workers = || {
        let output = services.fleet(&["status", "--workers", "--format", "json"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let since = Instant::now();
    while !workers().contains("that played it is not given") {
        assert!(since.elapsed() < PATIENCE, "{}", workers());
        sleep(Duration::from_millis(100));
    }
    // It looks at the ensemble several times meanwhile.
    sleep(Duration::from_secs(3));
    assert!(!started.exists() && services.status(&name).unwrap()["worlds_done"] == 0);
    assert_eq!(stranger.end(), Some(0));
    let log = std::fs::read_to_string(&log).unwrap();
    assert_eq!(log.matches("cannot play this ensemble here").count(), 1, "{log}");
    assert!(!log.contains('\x1b'), "colours in a file: {log:?}");
    let mut worker = services.fleet(&["worker", "--concurrency", "2", "--program", &command]);
    let worker = worker.arg("--data").arg(&data).stdout(Stdio::null()).stderr(Stdio::null());
    let worker = Worker(worker.spawn().unwrap());
    services.until(&name, |status| status["state"] == "complete");
    assert_eq!(worker.end(), Some(0));
    let alone = json(&folder.path().join("alone"), &["run", "--program", &command, "--worlds", "300"]);
    assert_eq!(json(&data, &["verify", &name])["hash"], alone["hash"]);
}
