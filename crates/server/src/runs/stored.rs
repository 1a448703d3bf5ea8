//! What the tables say about the newest version of each ensemble, read again after commits.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use disk::RealDisk;
use ensemble::{EnsembleError, Newest, ReadRows, Store};

use crate::warm::{Commits, is_settled};

/// Time over which to measure how fast an ensemble grows.
const GROWTH: Duration = Duration::from_secs(30);
/// Share of the time that reading the tables may take: one part of this many.
const SHARE: u32 = 10;

/// The tables of ensembles, kept open.
#[derive(Default)]
pub(crate) struct Stored(tokio::sync::Mutex<Option<Open>>);

struct Open {
    store: Option<Store>,
    rows: ReadRows,
    commits: Commits,
    /// Runs that had ended.
    ended: u64,
    view: View,
    growth: BTreeMap<String, VecDeque<(Instant, usize)>>,
    looked: Instant,
    /// How long the last look took.
    took: Duration,
}

/// The tables at one moment.
#[derive(Clone, Default)]
pub(crate) struct View {
    pub(crate) newest: Arc<Vec<Newest>>,
    /// Counts changes of the list of ensembles: names, versions, and which are complete.
    pub(crate) lists: u64,
    /// Worlds per second of ensembles that grow.
    pub(crate) growing: Arc<BTreeMap<String, f64>>,
}

impl Stored {
    /// Has the next look read the tables again.
    pub(crate) async fn renew(&self) {
        if let Some(open) = &mut *self.0.lock().await {
            (open.commits, open.took) = ([None; 3], Duration::ZERO);
        }
    }

    /// The current tables, `ended` runs having ended. While they change often, the answer may be a moment old, but not
    /// older than the last end of a run.
    pub(crate) async fn look(&self, data: &Path, ended: u64) -> Result<View, EnsembleError> {
        let mut open = self.0.lock().await;
        // Taken before the tables are read, so that a commit in between triggers another read.
        let commits = Store::committed_at(data);
        if let Some(open) = &mut *open {
            let is_known = open.commits == commits && is_settled(&commits);
            let is_recent = open.ended == ended && open.looked.elapsed() < SHARE * open.took;
            if is_known || is_recent {
                open.measure();
                return Ok(open.view.clone());
            }
        }
        let began = Instant::now();
        let (store, mut rows, before, mut growth) = match open.take() {
            Some(Open { store, rows, view, growth, .. }) => (store, rows, Some(view), growth),
            None => (None, ReadRows::default(), None, BTreeMap::new()),
        };
        let store = match store {
            Some(mut store) => {
                store.refresh().await?;
                Some(store)
            }
            None => Store::open(data, Arc::new(RealDisk)).await?,
        };
        let newest = match &store {
            Some(store) => store.newest(&mut rows).await?,
            None => Vec::new(),
        };
        growth.retain(|name, _| newest.iter().any(|one| one.name == *name));
        for one in &newest {
            let seen = growth.entry(one.name.clone()).or_default();
            // A new version begins anew.
            if seen.back().is_some_and(|(_, worlds)| *worlds > one.stored) {
                seen.clear();
            }
            if seen.back().is_none_or(|(_, worlds)| *worlds != one.stored) {
                seen.push_back((Instant::now(), one.stored));
            }
        }
        let list = |newest: &[Newest]| {
            newest.iter().map(|one| (one.name.clone(), one.version, one.is_complete())).collect::<Vec<_>>()
        };
        let lists = match &before {
            Some(view) if list(&view.newest) == list(&newest) => view.lists,
            Some(view) => view.lists + 1,
            None => 0,
        };
        let view = View { newest: Arc::new(newest), lists, growing: Arc::default() };
        let (looked, took) = (Instant::now(), began.elapsed());
        let open = open.insert(Open { store, rows, commits, ended, view, growth, looked, took });
        open.measure();
        Ok(open.view.clone())
    }
}

impl Open {
    /// Measures how fast ensembles grow that grew lately.
    fn measure(&mut self) {
        let mut growing = BTreeMap::new();
        for (name, seen) in &mut self.growth {
            // The last count before the time stays: growth counts from it.
            while seen.len() > 1 && seen[1].0.elapsed() > GROWTH {
                seen.pop_front();
            }
            if let [(first, from), .., (_, to)] = &*seen.make_contiguous() {
                growing.insert(name.clone(), (to - from) as f64 / first.elapsed().as_secs_f64().max(0.001));
            }
        }
        self.view.growing = Arc::new(growing);
    }
}
