//! Ranges played by another player, as a process of its own has one, and committed here.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use disk::RealDisk;
use ensemble::{Follow, Store, WrittenRange};
use run::{Control, ElsewhereError, Options, PlayElsewhere, Player, Players, RunError, Summary, play_by};
use table::PageFormat;
use world::WorldRange;

use crate::support::{model, plan, play_fresh};

/// Opens the tables for each range, as a process that was just started.
struct Elsewhere {
    data: PathBuf,
    /// Ranges to play before the fault.
    left: AtomicUsize,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    Interrupted,
    Killed,
}

impl Elsewhere {
    fn written(&self, version: u64, range: WorldRange) -> WrittenRange {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ensemble = runtime.block_on(async {
            let mut store = Store::open(&self.data, Arc::new(RealDisk)).await.unwrap().unwrap();
            store.take_up("test", version).await.unwrap()
        });
        let follow = Follow::new(&ensemble.plan.catalogue, Vec::new());
        let (model, format) = (model(&dice::PLUGIN), PageFormat::default());
        let player = Player { model, ensemble, disk: Arc::new(RealDisk), format, follow };
        player.play(range, &mut player.encoders().unwrap(), &|| false).unwrap().unwrap()
    }
}

impl PlayElsewhere for Elsewhere {
    fn play(&self, version: u64, range: WorldRange) -> Result<Option<WrittenRange>, ElsewhereError> {
        let has_left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        match self.fault {
            Fault::Interrupted if !has_left => Ok(None),
            Fault::Killed if !has_left => Err("the process was killed".into()),
            _ => {
                let sent = postcard::to_stdvec(&self.written(version, range))?;
                Ok(Some(postcard::from_bytes(&sent)?))
            }
        }
    }
}

/// Plays 100 worlds in ranges of 10.
async fn play_elsewhere(left: usize, fault: Fault) -> (Result<Summary, RunError>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open_or_create(folder.path(), Arc::new(RealDisk)).await.unwrap();
    let ensemble = store.register(plan(&dice::PLUGIN, 3, 100, 10), false).await.unwrap();
    let data = folder.path().to_owned();
    let players = Players::Elsewhere(Arc::new(Elsewhere { data, left: left.into(), fault }));
    let options = Options { threads: 3, format: PageFormat::default(), until: None };
    let control: Arc<Control> = Arc::default();
    let played = play_by(players, &mut store, ensemble, options, control.clone()).await;
    store.refresh().await.unwrap();
    let stored = store.ensemble("test").await.unwrap();
    // The run counts a block for each entity of each world.
    assert_eq!(control.done() as usize, stored.worlds() * stored.plan.catalogue.entities.len());
    (played, stored.worlds())
}

#[tokio::test(flavor = "multi_thread")]
async fn worlds_played_elsewhere_are_the_same() {
    let here = play_fresh(&dice::PLUGIN, plan(&dice::PLUGIN, 3, 100, 25), 1).await;
    let (elsewhere, worlds) = play_elsewhere(usize::MAX, Fault::None).await;
    let elsewhere = elsewhere.unwrap();
    assert_eq!((elsewhere.hash, elsewhere.events.hash, worlds), (here.hash, here.events.hash, 100));
    let means = |known: &[ensemble::KnownOutcome]| known.iter().map(|known| known.mean).collect::<Vec<_>>();
    assert_eq!(means(&elsewhere.known), means(&here.known));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_ranges_are_not_stored() {
    let (played, worlds) = play_elsewhere(4, Fault::Interrupted).await;
    assert_eq!((played.unwrap().complete, worlds), (false, 40));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_process_ends_the_run() {
    let (played, worlds) = play_elsewhere(4, Fault::Killed).await;
    assert_eq!(played.unwrap_err().to_string(), "the process was killed");
    assert!(worlds <= 40);
}
