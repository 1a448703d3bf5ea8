//! A mixed load: appends, flushes and questions at once, each in its own process.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::events::Events;
use crate::error::BenchError;
use crate::harness::child::{Used, command, measure};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, clap::Args)]
pub struct MixedLoadPlan {
    /// Mix all work for this many seconds
    ///
    /// Appends 5,000 events per second, flushes every 10 s and queries every 2 s. 0 skips it.
    #[arg(long = "storm-seconds", value_name = "S", default_value_t = 60.0)]
    pub seconds: f64,
    #[arg(skip = 1_000_usize)]
    pub append_events: usize,
    #[arg(skip = 5_000.0)]
    pub events_per_s: f64,
    /// Time between flushes.
    #[arg(skip = 10.0)]
    pub digest_each_s: f64,
    #[arg(skip = 2.0)]
    pub ask_each_s: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MixedLoad {
    pub plan: MixedLoadPlan,
    pub elapsed_s: f64,
    pub events: u64,
    /// Numbers of appends, flushes and questions.
    pub processes: [usize; 3],
    /// Processor time of all appends, flushes and questions.
    pub cpu_s: [f64; 3],
    /// Processor time of all processes per second.
    pub cores: f64,
    pub longest_answer_ms: f64,
}

/// Appends events to the table `events` in `data`, flushes it, and asks questions, all at once. The table must already
/// hold all of `events`. A thread per kind starts its processes, so no kind delays another. Each answer must count at
/// least the acknowledged events and at most the sent ones.
pub(super) fn mixed_load(
    program: &[OsString],
    data: &Path,
    events: &Events,
    plan: MixedLoadPlan,
    stop: &dyn Fn() -> bool,
) -> Result<MixedLoad, BenchError> {
    let [acknowledged, sent] = [0, 0].map(|_| AtomicU64::new(events.len() as u64));
    let (over, order) = (AtomicBool::new(false), Ordering::SeqCst);
    let started = Instant::now();
    let run = |words: &[&str], input: Option<&[u8]>| {
        let mut command = command(program, words);
        command.arg("--data").arg(data);
        measure(command, input)
    };
    let repeat = |each_s: f64, once: &(dyn Fn() -> Result<Used, BenchError> + Sync)| {
        let (mut next, mut used) = (Instant::now(), Vec::new());
        while !over.load(order) {
            if Instant::now() >= next {
                next += Duration::from_secs_f64(each_s);
                used.push(once()?);
            } else {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok::<_, BenchError>(used)
    };
    let append = || {
        let first = (sent.fetch_add(plan.append_events as u64, order) % events.len() as u64) as usize;
        let lines = events.lines(first, plan.append_events);
        let (_, used) = run(&["append", "events", "--in", "json"], Some(lines.as_bytes()))?;
        acknowledged.fetch_add(plan.append_events as u64, order);
        Ok(used)
    };
    let digest = || Ok(run(&["flush", "events"], None)?.1);
    let ask = || {
        let least = acknowledged.load(order);
        let (answer, used) = run(&["ask", "events", "--group", "host", "--count", "--format", "json"], None)?;
        let rows: Vec<Value> = serde_json::from_slice(&answer).map_err(|e| BenchError::Wrong(e.to_string()))?;
        let counted: u64 = rows.iter().filter_map(|row| row["count"].as_u64()).sum();
        let most = sent.load(order);
        if (least..=most).contains(&counted) {
            return Ok(used);
        }
        Err(BenchError::Wrong(format!("{counted} events were counted, expected {least} to {most}")))
    };
    let [appends, digests, answers] = std::thread::scope(|scope| {
        let appends = scope.spawn(|| repeat(plan.append_events as f64 / plan.events_per_s, &append));
        let digests = scope.spawn(|| repeat(plan.digest_each_s, &digest));
        let answers = scope.spawn(|| repeat(plan.ask_each_s, &ask));
        let threads = [appends, digests, answers];
        while started.elapsed().as_secs_f64() < plan.seconds
            && !stop()
            && !threads.iter().any(ScopedJoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        over.store(true, order);
        threads.map(|thread| {
            thread.join().unwrap_or_else(|_| Err(BenchError::Wrong("a thread of the bench panicked".to_owned())))
        })
    });
    let all = [appends?, digests?, answers?];
    let elapsed_s = started.elapsed().as_secs_f64();
    let cpu_s = all.each_ref().map(|used| used.iter().map(|u| u.cpu_ms).sum::<f64>() / 1e3);
    Ok(MixedLoad {
        plan,
        elapsed_s,
        events: acknowledged.load(order) - events.len() as u64,
        processes: all.each_ref().map(Vec::len),
        cores: cpu_s.iter().sum::<f64>() / elapsed_s,
        cpu_s,
        longest_answer_ms: all[2].iter().map(|u| u.wall_ms).fold(0.0, f64::max),
    })
}
