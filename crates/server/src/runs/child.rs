//! The process that plays a run.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use disk::RealDisk;
use ensemble::{Registered, Store};
use fleet::{Broker, Ledger, SubmitOptions};
use model::Model;
use run::{Control, Options, Until, play};
use table::PageFormat;
use tokio::runtime::Builder;

use super::message::{Begun, Ended, Goal, Job, Order, Progress, Refused, Report, Setup, Width, Wish};
use super::refuse::{no_model, of_ensemble, of_fleet, of_request};
use super::wish::{Known, cores, planned};
use crate::error::Refusal;
use crate::processes::message::{put, take};

/// Priority under a busy processor: ingest comes first, then queries.
const NICE: i32 = 15;
/// Time between reports of progress.
const REPORT_EACH: Duration = Duration::from_millis(50);
/// Time for the ranges in progress to finish once the server is gone.
const GRACE: Duration = Duration::from_secs(20);
/// Time for an end after the ranges in progress were dropped.
const PARTING: Duration = Duration::from_secs(5);

/// Does the job that arrives on standard input, a socket, and ends. Plays models of `known` only: a name in a request
/// loads no file and starts no program.
///
/// # Errors
/// If standard input is not a socket, or the threads cannot start.
pub fn play_run(known: Vec<Arc<model::Plugin>>) -> io::Result<()> {
    // Applies to this thread and to those that it starts.
    rustix::process::nice(NICE)?;
    let mut stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(Setup { data, job }) = take::<Setup>(&mut stream)? else { return Ok(()) };
    let control = Arc::new(Control::default());
    let (listening, asked) = (stream.try_clone()?, control.clone());
    thread::Builder::new().name("listen".to_owned()).spawn(move || listen(listening, &asked))?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let worker = Worker { data, known: Known(known), control, out: Arc::new(Mutex::new(stream)) };
    let done = runtime.block_on(worker.work(job));
    // A model may not notice that its range is dropped.
    runtime.shutdown_timeout(PARTING);
    done
}

/// Obeys orders. If the server is gone, the run stops at the end of its ranges, so that it can be resumed.
fn listen(mut stream: UnixStream, control: &Control) {
    while let Ok(Some(order)) = take::<Order>(&mut stream) {
        match order {
            Order::Pause if control.is_draining() => {}
            Order::Pause => _ = control.stop(),
            Order::Cancel => drop_ranges(control),
        }
    }
    if !control.is_draining() {
        control.stop();
    }
    thread::sleep(GRACE);
    drop_ranges(control);
    thread::sleep(PARTING);
    std::process::exit(1);
}

fn drop_ranges(control: &Control) {
    // The first request lets ranges finish.
    if control.stop() {
        control.stop();
    }
}

struct Worker {
    data: PathBuf,
    known: Known,
    control: Arc<Control>,
    out: Arc<Mutex<UnixStream>>,
}

/// A registered ensemble, ready to play.
struct Ready {
    store: Store,
    model: Arc<dyn Model>,
    ensemble: Registered,
    options: Options,
    play: bool,
}

impl Worker {
    async fn work(&self, job: Job) -> io::Result<()> {
        let ready = match job {
            Job::Start { wish, play } => self.start(&wish, play).await.map(Some),
            Job::Resume { name, version, threads, until } => {
                self.resume(&name, version, threads, until).await.map(Some)
            }
            Job::Submit { wish, ledger, broker } => self.submit(&wish, &ledger, &broker).await.map(|()| None),
        };
        match ready {
            Ok(Some(ready)) => self.play(ready).await,
            Ok(None) => Ok(()),
            Err(refusal) => self.report(&Report::Refused(Refused::from(refusal))),
        }
    }

    fn report(&self, report: &Report) -> io::Result<()> {
        put(&mut *self.out.lock().unwrap_or_else(PoisonError::into_inner), report)
    }

    async fn start(&self, wish: &Wish, play: bool) -> Result<Ready, Refusal> {
        let (model, plan) = planned(wish, &self.known, &self.data)?;
        let until = until(wish.until.as_ref(), &*model)?;
        let mut store = open(&self.data).await?;
        let registered = if wish.extend { store.extend(&plan).await } else { store.register(plan, wish.replace).await };
        let ensemble = registered.map_err(of_ensemble)?;
        Ok(Ready { store, model, ensemble, options: options(wish.threads, until), play })
    }

    async fn resume(
        &self,
        name: &str,
        version: u64,
        threads: Option<usize>,
        goal: Option<Goal>,
    ) -> Result<Ready, Refusal> {
        let mut store = open(&self.data).await?;
        let ensemble = store.take_up(name, version).await.map_err(of_ensemble)?;
        let plugin = self.known.find(&ensemble.plan.model)?;
        let model = plugin.build_from_json(&ensemble.plan.parameters);
        let model = model.map_err(|error| no_model(name, &error.to_string()))?;
        let until = until(goal.as_ref(), &*model)?;
        Ok(Ready { store, model, ensemble, options: options(threads, until), play: true })
    }

    async fn submit(&self, wish: &Wish, ledger: &str, broker: &str) -> Result<(), Refusal> {
        let (model, plan) = planned(wish, &self.known, &self.data)?;
        let options =
            SubmitOptions { replace: wish.replace, until: until(wish.until.as_ref(), &*model)?, ..Default::default() };
        let ledger = Ledger::open(ledger).await.map_err(of_fleet)?;
        let broker = Broker::new(broker, &ledger).map_err(of_fleet)?;
        let (name, worlds, model) = (plan.name.clone(), plan.worlds.count() as u64, plan.model.clone());
        fleet::submit(&ledger, &broker, &self.data, Arc::new(RealDisk), plan, options).await.map_err(of_fleet)?;
        let status = fleet::status_of(&ledger, &name).await.map_err(of_fleet)?;
        let begun = Begun { name, version: status.version as u64, model, worlds, done: 0 };
        self.report(&Report::Begun(begun)).map_err(|error| Refusal::internal(error.to_string()))
    }

    async fn play(&self, ready: Ready) -> io::Result<()> {
        let Ready { mut store, model, ensemble, options, play: plays } = ready;
        let plan = &ensemble.plan;
        let done: usize = ensemble.done.iter().map(|range| range.count()).sum();
        let (worlds, done) = (plan.worlds.count() as u64, done as u64);
        let entities = plan.catalogue.entities.len().max(1) as u64;
        let (name, model_name) = (plan.name.clone(), plan.model.clone());
        self.report(&Report::Begun(Begun { name, version: ensemble.version, model: model_name, worlds, done }))?;
        if !plays {
            return Ok(());
        }
        let (control, out) = (self.control.clone(), self.out.clone());
        let left = worlds.saturating_sub(done);
        let telling = tokio::spawn(async move {
            let mut before = Progress::default();
            loop {
                tokio::time::sleep(REPORT_EACH).await;
                let stored = control.meter.worlds() as u64;
                let now = Progress { played: (control.done() / entities).clamp(stored, left.max(stored)), stored };
                // The server may be gone; `listen` ends the run.
                if now != before
                    && put(&mut *out.lock().unwrap_or_else(PoisonError::into_inner), &Report::Progress(now)).is_err()
                {
                    return;
                }
                before = now;
            }
        });
        let played = play(model, &mut store, ensemble, options, self.control.clone()).await;
        telling.abort();
        let stored = self.control.meter.worlds() as u64;
        self.report(&Report::Progress(Progress { played: stored, stored }))?;
        self.report(&Report::Ended(match played {
            Ok(summary) if summary.complete => Ended::Complete,
            Ok(summary) if summary.is_enough => Ended::Enough,
            Ok(_) => Ended::Stopped,
            Err(error) => Ended::Failed(error.to_string()),
        }))
    }
}

async fn open(data: &Path) -> Result<Store, Refusal> {
    Store::open_or_create(data, Arc::new(RealDisk)).await.map_err(of_ensemble)
}

fn options(threads: Option<usize>, until: Option<Until>) -> Options {
    Options { threads: threads.unwrap_or_else(cores), format: PageFormat::default(), until }
}

fn until(goal: Option<&Goal>, model: &dyn Model) -> Result<Option<Until>, Refusal> {
    let Some(Goal { outcome, goal }) = goal else { return Ok(None) };
    let goal = match goal {
        Width::Number(number) => number.to_string(),
        Width::Text(text) => text.clone(),
    };
    Until::parse(model.catalogue(), outcome, &goal)
        .map(Some)
        .map_err(|error| of_request(error).with("field", "until".into()))
}
