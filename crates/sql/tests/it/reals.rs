//! Event columns of real numbers: stored, replayed, hashed, filtered and queried alike.

use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _};
use arrow::datatypes::Float64Type;
use disk::RealDisk;
use ensemble::{EventFilter, EventMode, Plan, Store, verify};
use model::{
    Catalogue, Entity, EntityKind, EventBlock, EventColumn, EventKind, EventValues, Model, Outcome, OutcomeBlock,
    OutcomeKind, Sink, Stop, Values, Wanted,
};
use run::{Control, Options, play};
use sql::Engine;
use table::{Codec, EncodingSet, PageFormat};
use world::{Seed, World, WorldRange};

use crate::support::{ask, create};

/// Each world has three events. `level` is never NULL, `gain` is NULL in every second event of an even world.
struct Waves(Catalogue);

fn waves() -> Waves {
    let column = |name: &str, nullable| EventColumn { nullable, ..EventColumn::new(name, EventKind::F64) };
    let peak = Outcome::new("peak", "m", OutcomeKind::Real);
    Waves(Catalogue {
        kinds: vec![EntityKind { name: "wave".to_owned(), outcomes: vec![peak] }],
        entities: vec![Entity::new("sea", 0)],
        events: vec![column("level", false), column("gain", true)],
    })
}

/// The level and the gain of an event of a world.
fn event(world: u32, number: u32) -> (f64, Option<f64>) {
    const STRANGE: [f64; 7] = [-0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, 0.1];
    let level = STRANGE[((world + number) % 7) as usize];
    let gain = (world % 2 == 1 || number != 1).then(|| f64::from(world) / 3.0 - f64::from(number));
    (level, gain)
}

impl Model for Waves {
    fn catalogue(&self) -> &Catalogue {
        &self.0
    }

    fn simulate(&self, _: Seed, range: WorldRange, wanted: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
        let events: Vec<_> = range.worlds().flat_map(|world| [0, 1, 2].map(|number| event(world.0, number))).collect();
        let level: Vec<f64> = events.iter().map(|(level, _)| *level).collect();
        // The number in a NULL row has no meaning.
        let gain: Vec<f64> = events.iter().map(|(_, gain)| gain.unwrap_or(f64::from(range.first().0))).collect();
        let valid: Vec<bool> = events.iter().map(|(_, gain)| gain.is_some()).collect();
        if wanted.events {
            let columns = vec![
                EventValues::F64 { values: &level, valid: None },
                EventValues::F64 { values: &gain, valid: Some(&valid) },
            ];
            sink.events(EventBlock { entity: 0, range, rows: &vec![3; range.count()], columns })?;
        }
        let peaks: Vec<f64> = range.worlds().map(|world| f64::from(world.0)).collect();
        sink.outcomes(OutcomeBlock { entity: 0, range, columns: vec![Values::F64(&peaks)] })
    }
}

async fn play_waves(
    store: &mut Store,
    name: &str,
    range_worlds: u32,
    events: EventMode,
    encodings: EncodingSet,
) -> String {
    let plan = Plan {
        name: name.to_owned(),
        model: "waves".to_owned(),
        parameters: "{}".to_owned(),
        seed: Seed(1),
        worlds: WorldRange::new(World(0), 50).unwrap(),
        range_worlds,
        events,
        catalogue: waves().0,
    };
    let registered = store.register(plan, false).await.unwrap();
    let options = Options { threads: 1, format: PageFormat { codec: Codec::default(), encodings }, until: None };
    let summary = play(Arc::new(waves()), store, registered, options, Arc::new(Control::default())).await.unwrap();
    summary.events.hash.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn real_events_are_stored_and_replayed_alike() {
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    let hash = play_waves(&mut store, "stored", 20, EventMode::Store, EncodingSet::Dense).await;
    // Neither ranges nor encodings change the hash, and NULL rows hash alike whatever number they hold.
    assert_eq!(play_waves(&mut store, "cut", 7, EventMode::Store, EncodingSet::Portable).await, hash);
    play_waves(&mut store, "replayed", 20, EventMode::Replay, EncodingSet::Dense).await;
    store.refresh().await.unwrap();
    for name in ["stored", "cut"] {
        let found = verify(&store.ensemble(name).await.unwrap(), &waves()).unwrap();
        assert!(found.ok && found.event_hash == Some(hash.clone()), "{found:?}");
    }
    let make = Arc::new(|_: &Plan| Ok(Arc::new(waves()) as Arc<dyn Model>));
    let worlds = WorldRange::new(World(22), 3).unwrap();
    let stored = store.ensemble("stored").await.unwrap().events_of(0, worlds, &(make.clone() as _)).unwrap();
    let replayed = store.ensemble("replayed").await.unwrap().events_of(0, worlds, &(make.clone() as _)).unwrap();
    for (row, (world, number)) in (22..25).flat_map(|world| [(world, 0), (world, 1), (world, 2)]).enumerate() {
        let (level, gain) = event(world, number);
        for events in [&stored, &replayed] {
            // All zeros are one value, and all NaNs.
            let read = events.columns[0].value(row).unwrap();
            assert_eq!(read.to_bits(), table::plain(level).to_bits(), "world {world}, event {number}");
            assert_eq!(events.columns[1].value(row), gain);
        }
    }
    let rows = |condition: &str| -> Vec<usize> {
        let filter = EventFilter::parse(condition, &waves().0).unwrap();
        (0..9).filter(|row| filter.holds(&stored, *row)).collect()
    };
    assert_eq!(rows("gain IS NULL"), [1, 7]);
    assert_eq!(rows("gain > 7.5"), (0..9).filter(|&row| stored.columns[1].value(row) > Some(7.5)).collect::<Vec<_>>());
    assert_eq!(rows("gain != 8"), [0, 1, 2, 3, 4, 5, 7, 8]);

    let session = sql::Session::new(sql::Options::default()).unwrap();
    let engine = Engine::open(data.path(), Arc::new(RealDisk), make, &session).await.unwrap().unwrap();
    let all = "world, number, level, gain FROM";
    let of = |source: &str| format!("SELECT {all} {source} ORDER BY world, number");
    let scanned = ask(&engine, &of("events WHERE ensemble = 'stored'")).await.unwrap();
    assert_eq!(scanned.num_rows(), 150);
    for source in
        ["events('stored', 'sea', '0-49')", "events('replayed', 'sea', '0-49')", "events WHERE ensemble = 'cut'"]
    {
        let other = ask(&engine, &of(source)).await.unwrap();
        for column in [2, 3] {
            let bits = |batch: &arrow::record_batch::RecordBatch| -> Vec<Option<u64>> {
                let values = batch.column(column).as_primitive::<Float64Type>();
                (0..values.len())
                    .map(|row| values.is_valid(row).then(|| table::plain(values.value(row)).to_bits()))
                    .collect()
            };
            assert_eq!(bits(&other), bits(&scanned), "column {column} of {source}");
        }
    }
    let nulls =
        "SELECT count(*) - count(gain) AS nulls, sum(gain) > 0 AS positive FROM events('stored', 'sea', '0-49')";
    let nulls = ask(&engine, nulls).await.unwrap();
    assert_eq!(crate::support::cells(&nulls), [["25", "true"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn undeclared_nulls_are_refused() {
    struct Careless(Waves);
    impl Model for Careless {
        fn catalogue(&self) -> &Catalogue {
            self.0.catalogue()
        }

        fn simulate(&self, _: Seed, range: WorldRange, _: Wanted, sink: &mut dyn Sink) -> Result<(), Stop> {
            let (values, valid) = (vec![0.5; range.count()], vec![false; range.count()]);
            let column = EventValues::F64 { values: &values, valid: Some(&valid) };
            sink.events(EventBlock { entity: 0, range, rows: &vec![1; range.count()], columns: vec![column, column] })
        }
    }
    let data = tempfile::tempdir().unwrap();
    let mut store = create(data.path()).await;
    let plan = Plan { catalogue: waves().0, ..crate::support::plan(&dice::PLUGIN, "waves", 1, 10, 10) };
    let registered = store.register(plan, false).await.unwrap();
    let options = Options { threads: 1, format: PageFormat::default(), until: None };
    let played = play(Arc::new(Careless(waves())), &mut store, registered, options, Arc::new(Control::default())).await;
    assert_eq!(
        played.unwrap_err().to_string(),
        "worlds 00000000-00000009 could not be played: level of sea is NULL in world 0, and is declared to have a value"
    );
}
