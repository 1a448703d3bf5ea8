//! A run that is killed at ten random moments and resumed each time has the same result as an undisturbed run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::support::{json, program, run};

const KILLS: u32 = 10;

#[test]
fn a_run_killed_at_random_moments_ends_as_an_undisturbed_one() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, killed] = ["sound", "killed"].map(|name| folder.path().join(name));
    let words = ["run", "football", "--worlds", "40", "--range-worlds", "4", "--threads", "2", "--name", "season"];
    let expected = json(&sound, &words);
    let undisturbed_ms = (expected["wall_s"].as_f64().unwrap() * 1000.0) as u32;
    let mut random = fastrand(0x5EED);
    for kill in 0..KILLS {
        let resume = resume(&killed);
        let mut child = program(&words)
            .args(resume)
            .arg("--data")
            .arg(&killed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(u64::from(random() % (undisturbed_ms / 3).max(20))));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success() || kill > 0, "the first run ended before it was killed");
    }
    let resumed = json(&killed, &[&words[..], resume(&killed)].concat());
    assert_eq!(resumed["complete"], Value::Bool(true));
    for (part, field) in [("outcomes", "values"), ("outcomes", "rows"), ("events", "rows"), ("events", "hash")] {
        assert_eq!(resumed[part][field], expected[part][field], "{part}.{field}");
    }
    assert_eq!(resumed["hash"], expected["hash"]);
}

/// Flags to continue. A run that was killed before it was registered starts again.
fn resume(data: &Path) -> &'static [&'static str] {
    let listed = run(data, &["ensembles", "--format", "json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_default();
    if listed.as_array().is_some_and(|l| !l.is_empty()) { &["--resume"] } else { &[] }
}

/// A small deterministic generator (xorshift), so that failures can be reproduced.
fn fastrand(seed: u32) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}

#[test]
fn an_interrupted_run_stops_at_a_range_and_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let [sound, stopped] = ["sound", "stopped"].map(|name| folder.path().join(name));
    let words =
        ["run", "football", "--worlds", "100", "--range-worlds", "10", "--events", "replay", "--name", "season"];
    let mut child = program(&words).arg("--data").arg(&stopped).stderr(Stdio::piped()).spawn().unwrap();
    // Interrupt once the first ranges are stored.
    let ranges = stopped.join("sim/outcomes/ensemble=season/version=1");
    while std::fs::read_dir(&ranges).map_or(0, Iterator::count) < 4 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it was interrupted");
        sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("continue with --resume"), "{said}");
    let worlds = json(&stopped, &["ensembles"])[0]["worlds"].as_u64().unwrap();
    assert!((20..100).contains(&worlds) && worlds.is_multiple_of(10), "{worlds}");
    let verified = run(&stopped, &["verify", "season"]);
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert_eq!(verified.status.code(), Some(1), "{said}");
    assert!(said.contains("continue with `manyworlds run football --name season --resume`"), "{said}");
    let resumed = json(&stopped, &[&words[..], &["--resume"]].concat());
    assert_eq!(resumed["played"].as_u64().unwrap(), 100 - worlds);
    assert_eq!(resumed["hash"], json(&sound, &words)["hash"]);
}
