//! A model that fails says why, and nothing of the range is stored.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use disk::RealDisk;
use ensemble::{EnsembleError, EventMode, Follow, Plan, Store, StoredEnsemble, verify};
use model::{Catalogue, EventBlock, EventRows, Failure, Model, OutcomeBlock, OwnedEventValues, Sink, Stop, Wanted};
use run::{Control, Options, Player, RunError, Summary, play};
use world::{Seed, World, WorldRange};

use crate::support::{model, plan};

/// What the dice do in addition.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Fail on world 12.
    Fails,
    /// Give the outcomes of the last table twice.
    Repeats,
    /// Give no outcomes of the last table.
    Omits,
    /// Give outcomes of a table that is not declared.
    Invents,
    /// Fail to recount.
    CannotRecount,
    /// Wait for an answer that never comes.
    Waits,
    /// Give no events of the last table in odd worlds.
    Silences,
}

struct Faulty {
    dice: Arc<dyn Model>,
    fault: Fault,
}

impl Model for Faulty {
    fn catalogue(&self) -> &Catalogue {
        self.dice.catalogue()
    }

    fn simulate(&self, seed: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        if self.fault == Fault::Waits {
            loop {
                sink.waiting()?;
            }
        }
        let world = World(12);
        if self.fault == Fault::Fails && range.contains(world) {
            let entity = Some("table-2".to_owned());
            return Err(Failure { message: "a die fell\noff the table".to_owned(), entity, world: Some(world) }.into());
        }
        let is_silent = self.fault == Fault::Silences && range.count() == 1 && range.first().0 % 2 == 1;
        self.dice.simulate(seed, range, wanted, &mut Changed { sink, fault: self.fault, is_silent })
    }

    fn recount(&self, events: &EventBlock<'_>, sink: &mut dyn Sink) -> Result<(), Stop> {
        if self.fault == Fault::CannotRecount {
            return Err(Failure::new("the dice are gone").into());
        }
        self.dice.recount(events, sink)
    }
}

struct Changed<'a> {
    sink: &'a mut dyn Sink,
    fault: Fault,
    /// Whether to keep the events of the last table back.
    is_silent: bool,
}

impl Sink for Changed<'_> {
    fn outcomes(&mut self, block: OutcomeBlock<'_>) -> Result<(), Stop> {
        let OutcomeBlock { entity, range, columns } = block;
        let is_last = entity == 2;
        if is_last && self.fault == Fault::Invents {
            return self.sink.outcomes(OutcomeBlock { entity: 3, range, columns });
        }
        if is_last && self.fault == Fault::Repeats {
            self.sink.outcomes(OutcomeBlock { entity, range, columns: columns.clone() })?;
        }
        if is_last && self.fault == Fault::Omits {
            return Ok(());
        }
        self.sink.outcomes(OutcomeBlock { entity, range, columns })
    }

    fn events(&mut self, block: EventBlock<'_>) -> Result<(), Stop> {
        if self.is_silent && block.entity == 2 { Ok(()) } else { self.sink.events(block) }
    }
}

async fn play_faulty(data: &Path, fault: Fault, plan: Plan) -> Result<Summary, RunError> {
    let mut store = Store::open_or_create(data, Arc::new(RealDisk)).await.unwrap();
    let registered = store.register(plan, false).await.unwrap();
    let options = Options { threads: 1, format: table::PageFormat::default(), until: None };
    let faulty = Arc::new(Faulty { dice: model(&dice::PLUGIN), fault });
    play(faulty, &mut store, registered, options, Arc::new(Control::default())).await
}

async fn stored(data: &Path) -> StoredEnsemble {
    Store::open(data, Arc::new(RealDisk)).await.unwrap().unwrap().ensemble("test").await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_range_is_reported_and_not_stored() {
    let data = tempfile::tempdir().unwrap();
    let error = play_faulty(data.path(), Fault::Fails, plan(&dice::PLUGIN, 1, 30, 10)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "worlds 00000010-00000019 could not be played: model dice failed on table-2 in world 12: a die fell\noff the table"
    );
    let left = stored(data.path()).await;
    assert!(left.outcomes.iter().all(|(range, _, _)| range.first() != World(10)), "{:?}", left.outcomes);
}

#[tokio::test(flavor = "multi_thread")]
async fn undeclared_blocks_are_refused() {
    for (fault, reason) in [
        (Fault::Repeats, "the model gave outcomes of table-3 twice"),
        (Fault::Omits, "the model gave no outcomes of table-3"),
        (Fault::Invents, "the model gave entity 3, and declares 3"),
    ] {
        let data = tempfile::tempdir().unwrap();
        let error = play_faulty(data.path(), fault, plan(&dice::PLUGIN, 1, 10, 10)).await.unwrap_err().to_string();
        assert_eq!(error, format!("worlds 00000000-00000009 could not be played: {reason}"));
        assert_eq!(stored(data.path()).await.worlds(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_model_polls_whether_to_stop() {
    let data = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
    let ensemble = store.register(plan(&dice::PLUGIN, 1, 10, 10), false).await.unwrap();
    let follow = Follow::new(&ensemble.plan.catalogue, Vec::new());
    let model = Arc::new(Faulty { dice: model(&dice::PLUGIN), fault: Fault::Waits });
    let player = Player { model, ensemble, disk: Arc::new(RealDisk), format: table::PageFormat::default(), follow };
    // A worker of a fleet notes progress at each poll.
    let polls = Cell::new(0);
    let stop = || polls.replace(polls.get() + 1) == 3;
    let range = WorldRange::new(World(0), 10).unwrap();
    let played = player.play(range, &mut player.encoders().unwrap(), &stop).unwrap();
    assert!(played.is_none() && polls.get() == 4, "{} polls", polls.get());
}

/// The events of an entity in some of 20 worlds, which dice with one fault played and dice with another replay.
async fn replayed(played: Fault, fault: Fault, entity: usize, worlds: WorldRange) -> Result<EventRows, EnsembleError> {
    let data = tempfile::tempdir().unwrap();
    let replay = Plan { events: EventMode::Replay, ..plan(&dice::PLUGIN, 1, 20, 10) };
    play_faulty(data.path(), played, replay).await.unwrap();
    let faulty: Arc<dyn Model> = Arc::new(Faulty { dice: model(&dice::PLUGIN), fault });
    stored(data.path()).await.events_of(entity, worlds, &(Arc::new(move |_: &Plan| Ok(faulty.clone())) as _))
}

#[tokio::test(flavor = "multi_thread")]
async fn replayed_world_may_have_no_events() {
    let events_of = async |entity: usize, world: u32| {
        replayed(Fault::Silences, Fault::Silences, entity, WorldRange::new(World(world), 1).unwrap()).await.unwrap()
    };
    assert_eq!(events_of(2, 12).await.rows, [20]);
    let none = events_of(2, 13).await;
    assert_eq!(
        (none.rows, none.columns),
        (vec![0], vec![OwnedEventValues::Label(vec![]), OwnedEventValues::I8(vec![])])
    );
    assert_eq!(events_of(1, 13).await.rows, [20]);
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_and_recount_report_the_failure() {
    let range = WorldRange::new(World(12), 2).unwrap();
    let error = replayed(Fault::CannotRecount, Fault::Fails, 1, range).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "worlds of ensemble \"test\" cannot be played again: worlds 00000012-00000013 of table-2: model dice failed on table-2 in \
         world 12: a die fell\noff the table"
    );

    let data = tempfile::tempdir().unwrap();
    play_faulty(data.path(), Fault::CannotRecount, plan(&dice::PLUGIN, 1, 20, 10)).await.unwrap();
    let faulty = Faulty { dice: model(&dice::PLUGIN), fault: Fault::CannotRecount };
    let found = verify(&stored(data.path()).await, &faulty).unwrap();
    let failed: Vec<_> = found.checks.iter().filter(|check| check.ok == Some(false)).map(|c| &c.detail).collect();
    assert_eq!(failed, ["worlds 00000000-00000009 of table-1: model dice failed: the dice are gone"]);
}
