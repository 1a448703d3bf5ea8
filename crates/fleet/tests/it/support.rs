//! A fleet of its own for each test: a database, queues, a data folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use disk::{Disk, RealDisk};
use ensemble::{EventMode, MakeModel, Plan, Store, StoredEnsemble};
use fleet::{Broker, EnsembleStatus, FleetError, Halt, Ledger, State, SubmitOptions, WorkerOptions, status_of};
use model::{Catalogue, Failure, Model, Parameters, Sink, Stop, Wanted};
use run::{Control, Meter, Options, Summary, play};
use sqlx::{Connection as _, PgConnection};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use world::{Seed, World, WorldRange};

/// How long anything may take: much longer than it does on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

fn service(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!("{name} is not set: start the services with `make services`, and export what it prints")
    })
}

pub(crate) struct Site {
    pub(crate) ledger: Ledger,
    pub(crate) broker: Broker,
    pub(crate) ledger_url: String,
    folder: tempfile::TempDir,
}

impl Site {
    pub(crate) async fn new() -> Self {
        let url = service("MANYWORLDS_LEDGER");
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        let mut admin = PgConnection::connect(&url).await.unwrap();
        sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut admin).await.unwrap();
        let (server, _) = url.rsplit_once('/').unwrap();
        let ledger_url = format!("{server}/{name}");
        let ledger = Ledger::open(&ledger_url).await.unwrap();
        let broker = Broker::new(&service("MANYWORLDS_BROKER"), &ledger).unwrap();
        Self { ledger, broker, ledger_url, folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) async fn submit(&self, plan: Plan) -> Result<i64, FleetError> {
        self.submit_with(plan, SubmitOptions::default()).await
    }

    pub(crate) async fn submit_with(&self, plan: Plan, options: SubmitOptions) -> Result<i64, FleetError> {
        fleet::submit(&self.ledger, &self.broker, &self.data(), Arc::new(RealDisk), plan, options).await
    }

    pub(crate) fn worker(&self) -> Worker {
        self.worker_with(make_dice(), Arc::new(RealDisk), 1)
    }

    pub(crate) fn worker_with(&self, make_model: MakeModel, disk: Arc<dyn Disk>, threads: usize) -> Worker {
        let (halt, receiver) = watch::channel(Halt::No);
        let meter = Arc::new(Meter::default());
        let options = WorkerOptions {
            data: self.data(),
            disk,
            threads,
            make_model,
            world_pause: Duration::ZERO,
            meter: meter.clone(),
        };
        let (ledger, broker) = (self.ledger.clone(), self.broker.clone());
        let task = tokio::spawn(async move { fleet::join(ledger, broker, options, receiver).await?.work().await });
        Worker { halt, task, meter }
    }

    pub(crate) async fn status(&self, name: &str) -> EnsembleStatus {
        status_of(&self.ledger, name).await.unwrap()
    }

    /// Waits until an ensemble is in one of some states.
    pub(crate) async fn until(&self, name: &str, states: &[State]) -> EnsembleStatus {
        self.until_it(name, |status| states.contains(&status.state)).await
    }

    pub(crate) async fn until_it(&self, name: &str, is_so: impl Fn(&EnsembleStatus) -> bool) -> EnsembleStatus {
        let started = Instant::now();
        loop {
            let status = self.status(name).await;
            if is_so(&status) {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "it does not come: {status:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) async fn stored(&self, name: &str) -> StoredEnsemble {
        Store::open(&self.data(), Arc::new(RealDisk)).await.unwrap().unwrap().ensemble(name).await.unwrap()
    }

    /// Worlds stored, and the hashes of outcomes and events that are counted anew from what is stored.
    pub(crate) async fn verified(&self, name: &str) -> (usize, String, Option<String>) {
        let stored = self.stored(name).await;
        let model = make_dice()(&stored.plan).unwrap();
        let found = ensemble::verify(&stored, &*model).unwrap();
        (stored.worlds(), found.hash, found.event_hash)
    }

    /// A connection to the broker of one's own, and the names of an ensemble's queue and of the fleet's dead letters.
    pub(crate) async fn queues(&self, ensemble: i64) -> (lapin::Connection, String, String) {
        let fleet: uuid::Uuid = self.ask("SELECT id FROM fleet").await;
        let prefix = format!("manyworlds.{}", fleet.simple());
        (self.broker.connect().await.unwrap(), format!("{prefix}.{ensemble}"), format!("{prefix}.dead"))
    }

    /// What the ledger says.
    pub(crate) async fn ask<T>(&self, sql: &'static str) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        let mut connection = PgConnection::connect(&self.ledger_url).await.unwrap();
        sqlx::query("SET search_path TO manyworlds").execute(&mut connection).await.unwrap();
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// Something in the ledger, as if it had come to be so.
    pub(crate) async fn tamper(&self, sql: &'static str) {
        let mut connection = PgConnection::connect(&self.ledger_url).await.unwrap();
        sqlx::query("SET search_path TO manyworlds").execute(&mut connection).await.unwrap();
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }
}

/// A worker of this process.
pub(crate) struct Worker {
    pub(crate) halt: watch::Sender<Halt>,
    task: JoinHandle<Result<(), FleetError>>,
    pub(crate) meter: Arc<Meter>,
}

impl Worker {
    /// Lets it end as it should.
    pub(crate) async fn end(self) {
        self.halt.send(Halt::Drain).unwrap();
        self.task.await.unwrap().unwrap();
    }

    pub(crate) fn count(&self, name: &str) -> u64 {
        let text = self.meter.prometheus();
        let line = text.lines().find(|line| line.starts_with(&format!("manyworlds_worker_{name} "))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

/// A plan of dice.
pub(crate) fn plan(name: &str, seed: u64, worlds: u32, range_worlds: u32) -> Plan {
    let parameters = Parameters::parse(dice::PARAMETERS, []).unwrap();
    let model = dice::Dice::new(&parameters).unwrap();
    Plan {
        name: name.to_owned(),
        model: "dice".to_owned(),
        parameters: parameters.to_json(),
        seed: Seed(seed),
        worlds: WorldRange::new(World(0), worlds).unwrap(),
        range_worlds,
        events: EventMode::Store,
        catalogue: model.catalogue().clone(),
    }
}

fn dice_of(plan: &Plan) -> dice::Dice {
    dice::Dice::new(&Parameters::from_json(dice::PARAMETERS, &plan.parameters).unwrap()).unwrap()
}

pub(crate) fn make_dice() -> MakeModel {
    Arc::new(|plan| Ok(Arc::new(dice_of(plan)) as Arc<dyn Model>))
}

/// Dice with something that happens before a range is played.
struct Before<F> {
    dice: dice::Dice,
    before: F,
}

impl<F: Fn(WorldRange) + Send + Sync> Model for Before<F> {
    fn catalogue(&self) -> &Catalogue {
        self.dice.catalogue()
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        (self.before)(range);
        self.dice.simulate(seed, range, wanted, sink)
    }
}

pub(crate) fn make_with(before: impl Fn(WorldRange) + Clone + Send + Sync + 'static) -> MakeModel {
    Arc::new(move |plan| Ok(Arc::new(Before { dice: dice_of(plan), before: before.clone() }) as Arc<dyn Model>))
}

/// Dice that fail on one world.
pub(crate) fn make_failing(world: World, message: &'static str) -> MakeModel {
    struct Failing(dice::Dice, World, &'static str);
    impl Model for Failing {
        fn catalogue(&self) -> &Catalogue {
            self.0.catalogue()
        }

        fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
            if range.contains(self.1) {
                return Err(Failure { world: Some(self.1), ..Failure::new(self.2) }.into());
            }
            self.0.simulate(seed, range, wanted, sink)
        }
    }
    Arc::new(move |plan| Ok(Arc::new(Failing(dice_of(plan), world, message)) as Arc<dyn Model>))
}

/// Dice that take a while for each range.
pub(crate) fn make_slow(each: Duration) -> MakeModel {
    make_with(move |_| std::thread::sleep(each))
}

/// How often a model was played.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicU32>);

impl Count {
    pub(crate) fn more(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The same plan played by one process: worlds, hash of outcomes, hash of events.
pub(crate) async fn embedded(plan: Plan) -> (usize, String, Option<String>) {
    let summary = alone(plan).await;
    (summary.worlds, summary.hash, summary.events.hash)
}

/// What one process says of a plan.
pub(crate) async fn alone(plan: Plan) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(folder.path(), Arc::new(RealDisk)).await.unwrap();
    let model = make_dice()(&plan).unwrap();
    let registered = store.register(plan, false).await.unwrap();
    let options = Options { threads: 2, format: table::PageFormat::default(), until: None };
    play(model, &mut store, registered, options, Arc::new(Control::default())).await.unwrap()
}

/// Every file below a folder, with its bytes.
pub(crate) fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                all.push((entry.path(), std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    all.sort();
    all
}
