//! Whether the server answers, and what memory it takes.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::front::Front;
use super::writers::exchange;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// Asks whether the server is well until the life is over, and looks at its memory.
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

/// Resident bytes of a server, and of the processes that it has started, which nothing else backs.
fn memory(server: u32) -> [u64; 2] {
    let tasks = fs::read_dir(format!("/proc/{server}/task")).into_iter().flatten().flatten();
    // A thread, a process or the server may be gone before it is looked at.
    let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let children: Vec<String> = children.collect();
    let ids = children.iter().flat_map(|ids| ids.split_whitespace()).filter_map(|id| id.parse().ok());
    [resident(server), ids.map(resident).sum()]
}

fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}
