//! A process that takes rows in is killed at random moments.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use disk::RealDisk;
use ingest::Store;

use crate::support::{batch, batches, by_day, name, options};

const KILLS: u64 = 20;
const WRITERS: i64 = 3;
/// Where the process that will be killed finds its store, and the number of its first batch.
const DATA: &str = "MANYWORLDS_TEST_DATA";
const FIRST: &str = "MANYWORLDS_TEST_FIRST";
/// Whether its segments are cut by day.
const CUT: &str = "MANYWORLDS_TEST_CUT";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_kills_at_random_moments() {
    check(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_where_segments_are_cut_by_day() {
    check(true).await;
}

async fn check(cut: bool) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut acknowledged = Vec::new();
    for kill in 0..KILLS {
        let first = (kill as i64) * 1_000_000;
        acknowledged.extend(live_until_killed(&data, first, cut, Duration::from_millis(30 + kill * 7919 % 500)));
        let store = store(&data, cut).await;
        let found = batches(&data, Some(&store), &name("cpu")).await;
        assert!(found.is_sorted_by(|a, b| a < b), "kill {kill}: some are there twice");
        let lost: Vec<_> = acknowledged.iter().filter(|n| found.binary_search(n).is_err()).collect();
        assert!(lost.is_empty(), "kill {kill}: {lost:?} are lost");
        // Of what is there, only what was under way was not acknowledged.
        assert!(found.len() - acknowledged.len() <= ((kill as i64 + 1) * WRITERS) as usize, "kill {kill}");
        store.close().await;
    }
    assert!(acknowledged.len() > 100, "only {} batches were acknowledged", acknowledged.len());
}

async fn store(data: &Path, cut: bool) -> Arc<Store> {
    let options = if cut { by_day() } else { options() };
    Store::open(data, Arc::new(RealDisk), options).await.unwrap()
}

/// Runs [`live`] in a process of its own for a while. Gives the batches that it said were acknowledged.
fn live_until_killed(data: &Path, first: i64, cut: bool, after: Duration) -> Vec<i64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::live", "--ignored", "--nocapture"])
        .env(DATA, data)
        .env(FIRST, first.to_string())
        .env(CUT, cut.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = said.lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix("stored ").and_then(|n| n.parse::<i64>().ok())).collect()
    });
    sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

/// The life of a store: some writers send batch after batch, and say which were acknowledged.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "runs until it is killed"]
async fn live() {
    let Some(data) = std::env::var_os(DATA).map(PathBuf::from) else { return };
    let first: i64 = std::env::var(FIRST).unwrap().parse().unwrap();
    let store = store(&data, std::env::var(CUT).unwrap() == "true").await;
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in (first + writer..).step_by(WRITERS as usize) {
                store.write(vec![(name("cpu"), batch(number))], None, decode::OnConflict::Refuse).await.unwrap();
                let mut out = std::io::stdout().lock();
                writeln!(out, "\nstored {number}").and_then(|()| out.flush()).unwrap();
            }
        })
    });
    futures::future::join_all(writers).await;
}
