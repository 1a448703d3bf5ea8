//! Progress of long work: a bar on a terminal, otherwise plain lines.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ensemble::{Progress, Registered};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use run::{Control, Meter, Reading, Until};

use crate::output::{count, interval, note};

const BAR_EACH: Duration = Duration::from_millis(200);
const LINE_EACH: Duration = Duration::from_secs(5);
/// Time between lines about phases.
const PHASES_EACH: Duration = Duration::from_secs(10);

/// Shows finished worlds in a bar, removed when dropped, or in lines.
pub(crate) struct Display {
    bar: Option<ProgressBar>,
    shown: Instant,
}

impl Display {
    pub(crate) fn start() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{wide_bar} {pos}/{len} worlds, {msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Self { bar, shown: Instant::now() }
    }

    /// Whether an update is due.
    pub(crate) fn is_due(&self) -> bool {
        self.shown.elapsed() >= if self.bar.is_some() { BAR_EACH } else { LINE_EACH }
    }

    /// Shows the numbers of finished and of all worlds, and `said`.
    pub(crate) fn show(&mut self, done: u64, worlds: u64, said: String) {
        self.shown = Instant::now();
        if let Some(bar) = &self.bar {
            bar.set_length(worlds);
            bar.set_position(done);
            bar.set_message(said);
        } else {
            note(&format!("{} of {} worlds, {said}", count(done), count(worlds)));
        }
    }

    /// Prints a line that stays.
    pub(crate) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Reports the time by phase of recently committed ranges, every ten seconds.
struct PhaseLines {
    meter: Arc<Meter>,
    before: Reading,
    told: Instant,
}

impl PhaseLines {
    fn of(meter: Arc<Meter>) -> Self {
        Self { meter, before: Reading::default(), told: Instant::now() }
    }

    fn next(&mut self) -> Option<String> {
        if self.told.elapsed() < PHASES_EACH {
            return None;
        }
        self.told = Instant::now();
        self.meter.line(&mut self.before)
    }
}

/// A thread that repeats an action until it is stopped.
pub(crate) struct Ticker {
    done: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    fn start(mut tick: impl FnMut() + Send + 'static) -> Self {
        let (done, finished) = channel::<()>();
        let thread = std::thread::spawn(move || {
            while finished.recv_timeout(BAR_EACH) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        });
        Self { done, thread }
    }

    /// Shows the progress of a run and its time by phase.
    pub(crate) fn of_run(ensemble: &Registered, control: Arc<Control>, until: Option<Until>) -> Self {
        let done_before: usize = ensemble.done.iter().map(|range| range.count()).sum();
        let watch = Watch {
            worlds: (ensemble.plan.worlds.count() - done_before) as u64,
            entities: ensemble.plan.catalogue.entities.len().max(1) as u64,
            started: Instant::now(),
            until,
            control,
        };
        let mut phases = PhaseLines::of(watch.control.meter.clone());
        let mut display = Display::start();
        Self::start(move || {
            phases.next().iter().for_each(|line| display.say(line));
            if display.is_due() {
                display.show(watch.done(), watch.worlds, watch.said());
            }
        })
    }

    /// Shows how far `verify` is with an ensemble of so many worlds.
    pub(crate) fn of_verify(worlds: u64, progress: Arc<Progress>) -> Self {
        let mut display = Display::start();
        Self::start(move || {
            if let Some((pass, share)) = progress.now().filter(|_| display.is_due()) {
                display.show((worlds as f64 * share) as u64, worlds, pass.to_owned());
            }
        })
    }

    /// Shows a worker's time by phase.
    pub(crate) fn of_worker(meter: Arc<Meter>) -> Self {
        let mut phases = PhaseLines::of(meter);
        Self::start(move || phases.next().iter().for_each(|line| note(line)))
    }

    pub(crate) fn finish(self) {
        drop(self.done);
        if self.thread.join().is_err() {
            note("cannot show progress any more");
        }
    }
}

struct Watch {
    control: Arc<Control>,
    until: Option<Until>,
    entities: u64,
    worlds: u64,
    started: Instant,
}

impl Watch {
    /// Finished work, in worlds.
    fn done(&self) -> u64 {
        (self.control.done() / self.entities).min(self.worlds)
    }

    /// Rate, remaining time, and the estimate so far.
    fn said(&self) -> String {
        let (done, elapsed) = (self.done(), self.started.elapsed().as_secs_f64());
        let rate = done as f64 / elapsed;
        let mut said = vec![format!("{} worlds/s", count(rate as u64))];
        if done > 0 {
            let left = Duration::from_secs_f64((self.worlds - done) as f64 / rate);
            said.push(format!("{} left", HumanDuration(left)));
        }
        let known =
            self.until.and_then(|until| Some((self.control.aggregate(until.entity, until.outcome)?, until.goal)));
        if let Some((known, goal)) = known {
            said.push(format!("{} of ± {goal}", interval(known.mean(), known.ci_half_width())));
        }
        said.join(", ")
    }
}
