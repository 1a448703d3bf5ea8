//! Watches whether the server answers, and its memory.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::front::Front;
use super::writers::exchange;
use crate::harness::machine::size_of;

/// Time between checks.
const PAUSE: Duration = Duration::from_millis(50);

/// Checks the health and memory of the server until the life is over.
pub(super) fn watch(front: &Front<'_>) {
    let mut connection = None;
    let mut answered = Instant::now();
    while !front.is_over() {
        let reply = exchange(front, &mut connection, b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
        if reply.is_ok() {
            front.campaign.findings.silence(answered.elapsed().as_secs_f64());
            answered = Instant::now();
        }
        let [server, questions] = memory(front.server);
        front.campaign.peaks[0].fetch_max(server, Ordering::Relaxed);
        front.campaign.peaks[1].fetch_max(questions, Ordering::Relaxed);
        std::thread::sleep(PAUSE);
    }
}

/// Anonymous resident bytes of a server, and of the processes that it has started.
fn memory(server: u32) -> [u64; 2] {
    let tasks = fs::read_dir(format!("/proc/{server}/task")).into_iter().flatten().flatten();
    // Threads and processes may end at any time.
    let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<String> = children.collect();
    let ids = children.iter().flat_map(|ids| ids.split_whitespace()).filter_map(|id| id.parse().ok());
    let resident = |process| size_of(process, "RssAnon:");
    [resident(server), ids.map(resident).sum()]
}
