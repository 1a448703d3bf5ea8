//! A process that inserts, clusters, compacts, rewrites and vacuums is killed at random moments.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use table::cluster::{ClusterOptions, cluster};
use table::disk::RealDisk;
use table::upkeep::{VacuumOptions, compact, rewrite, vacuum};
use table::{ErrorKind, Layout};

use crate::support::{batch, batches, change, inserter};

const KILLS: u32 = 15;
/// Where the process that will be killed finds its table, and the number of its first batch.
const ROOT: &str = "MANYWORLDS_TEST_ROOT";
const FIRST: &str = "MANYWORLDS_TEST_FIRST";

#[tokio::test(flavor = "multi_thread")]
async fn a_table_survives_kills_at_random_moments() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("data");
    let mut random = random(0x5EED);
    let mut stored = 0;
    for kill in 0..KILLS {
        stored = live_until_killed(&root, stored, Duration::from_millis(u64::from(30 + random() % 700)));
        let found = batches(&root).await;
        let count = found.len() as i64;
        assert!(found.into_iter().eq(0..count), "kill {kill}");
        // The last batch may have been stored and not reported.
        assert!(count == stored || count == stored + 1, "kill {kill}: {count} batches, {stored} reported");
        let spills = std::fs::read_dir(&root).into_iter().flatten().map(Result::unwrap);
        assert!(!spills.into_iter().any(|e| e.file_name().to_string_lossy().starts_with(".spill")), "kill {kill}");
    }
    assert!(stored > i64::from(KILLS), "only {stored} batches were stored");
}

/// Runs [`live`] in a process of its own for a while. Gives the number of batches that are known to be stored.
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

/// The life of a table: one task inserts, another keeps it in shape.
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
            assert!(error.is_none_or(|e| e.contains("layout column is not clustered")));
        }
    });
    for number in first.. {
        writer.insert_once(&number.to_string(), &[batch(number)]).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nstored {number}").and_then(|()| out.flush()).unwrap();
    }
}

/// A small generator of the test's own (xorshift), so that a failure can be repeated.
fn random(seed: u32) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}
