//! Progress of a run: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ensemble::Registered;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use run::Control;

use crate::output::{count, note};

const TICK: Duration = Duration::from_millis(200);
const LINE_EACH: Duration = Duration::from_secs(5);

/// Shows a run's progress until it is finished.
pub(crate) struct Progress {
    done: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Watches `control` from a thread of its own.
    pub(crate) fn start(ensemble: &Registered, control: Arc<Control>) -> Self {
        let (done, finished) = channel();
        let left: usize = ensemble.plan.worlds.count() - ensemble.done.iter().map(|r| r.count()).sum::<usize>();
        let entities = ensemble.plan.catalogue.entities.len().max(1) as u64;
        let thread = std::thread::spawn(move || {
            let watch = Watch { control, entities, worlds: left as u64, started: Instant::now() };
            let tick = |each| finished.recv_timeout(each) == Err(RecvTimeoutError::Timeout);
            if std::io::stderr().is_terminal() { watch.draw_bar(tick) } else { watch.print_lines(tick) }
        });
        Self { done, thread: Some(thread) }
    }

    /// Ends the display.
    pub(crate) fn finish(mut self) {
        drop(std::mem::replace(&mut self.done, channel().0));
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            note("the progress display failed");
        }
    }
}

struct Watch {
    control: Arc<Control>,
    entities: u64,
    worlds: u64,
    started: Instant,
}

impl Watch {
    /// Worlds' worth of work done.
    fn done(&self) -> u64 {
        (self.control.done() / self.entities).min(self.worlds)
    }

    fn draw_bar(&self, tick: impl Fn(Duration) -> bool) {
        let bar = ProgressBar::with_draw_target(Some(self.worlds), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} worlds  {per_sec}  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        while tick(TICK) {
            bar.set_position(self.done());
        }
        bar.finish_and_clear();
    }

    fn print_lines(&self, tick: impl Fn(Duration) -> bool) {
        while tick(LINE_EACH) {
            let (done, elapsed) = (self.done(), self.started.elapsed().as_secs_f64());
            let rate = done as f64 / elapsed;
            let left = if done == 0 { "?".to_owned() } else { format!("{:.0}", (self.worlds - done) as f64 / rate) };
            note(&format!("{} of {} worlds, {rate:.0}/s, {left} s left", count(done), count(self.worlds)));
        }
    }
}
