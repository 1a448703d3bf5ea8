//! Kills a process at random moments while it inserts, clusters, compacts, rewrites and vacuums.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use disk::RealDisk;
use table::cluster::{ClusterOptions, cluster};
use table::upkeep::{VacuumOptions, compact, rewrite, vacuum};
use table::{ErrorKind, Layout};

use crate::support::{batch, batches, change, inserter};

const KILLS: u32 = 15;
/// Environment variables of the killed process: its table, and the number of its first batch.
const ROOT: &str = "MANYWORLDS_TEST_ROOT";
const FIRST: &str = "MANYWORLDS_TEST_FIRST";

#[tokio::test(flavor = "multi_thread")]
async fn tables_survive_random_kills() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let mut random = random(0x5EED);
    let mut stored = 0;
    for kill in 0..KILLS {
        stored = live_until_killed(&root, stored, Duration::from_millis(u64::from(30 + random() % 700)));
        let found = batches(&root).await;
        let count = found.len() as i64;
        assert!(found.into_iter().eq(0..count), "kill {kill}");
        // The last batch may be stored but not reported.
        assert!(count == stored || count == stored + 1, "kill {kill}: {count} batches, {stored} reported");
        let spills = std::fs::read_dir(&root).into_iter().flatten().map(Result::unwrap);
        assert!(!spills.into_iter().any(|e| e.file_name().to_string_lossy().starts_with(".tmp")), "kill {kill}");
    }
    assert!(stored > i64::from(KILLS), "only {stored} batches were stored");
}

/// Runs [`live`] in a process for a while. Returns the number of batches reported as stored.
fn live_until_killed(root: &Path, first: i64, after: Duration) -> i64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::live", "--ignored", "--nocapture"])
        .env(ROOT, root)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let stored = said.filter_map(|line| line.strip_prefix("stored ").and_then(|n| n.parse::<i64>().ok()));
    stored.last().map_or(first, |last| last + 1)
}

/// Writes and maintains a table: one task inserts, another runs maintenance.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs until it is killed"]
async fn live() {
    let Some(root) = std::env::var_os(ROOT).map(PathBuf::from) else { return };
    let first: i64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let writer = inserter(&root, Arc::new(RealDisk)).await.unwrap();
    let upkeep = root.clone();
    tokio::spawn(async move {
        for turn in 0_u32.. {
            let disk = Arc::new(RealDisk);
            let done = match turn % 6 {
                0 => cluster(&upkeep, disk, ClusterOptions { memory: 0, ..ClusterOptions::default() }).await.map(drop),
                1 => compact(&upkeep, disk, None).await.map(drop),
                2 => rewrite(&upkeep, disk, &change(Layout::Column)).await.map(drop),
                3 => rewrite(&upkeep, disk, &change(Layout::Clustered)).await.map(drop),
                4 => cluster(&upkeep, disk, ClusterOptions { all: true, ..ClusterOptions::default() }).await.map(drop),
                _ => vacuum(&upkeep, disk, VacuumOptions { retain: Duration::ZERO, apply: true }).await.map(drop),
            };
            let error = done.err().filter(|e| e.kind() != ErrorKind::Conflict).map(|e| e.to_string());
            // A kill may have come between two layouts.
            assert!(error.is_none_or(|e| e.contains("cannot cluster layout column")));
        }
    });
    for number in first.. {
        writer.insert_once(&number.to_string(), &[batch(number)]).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nstored {number}").and_then(|()| out.flush()).unwrap();
    }
}

/// A deterministic generator (xorshift), so that failures can be reproduced.
fn random(seed: u32) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}
