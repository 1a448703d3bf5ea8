//! Caches facts about tables between requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::datatypes::SchemaRef;
use decode::TIME;
use disk::RealDisk;
use futures::StreamExt as _;
use futures::stream;
use table::{Table, TableError, TableName};
use tokio::sync::Mutex;

/// Tables opened at once.
const OPENING: usize = 8;
/// File systems count time in steps of some milliseconds, so that a log may change again without a change of its time.
const STEPS: Duration = Duration::from_millis(100);

/// Facts about the segments of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) segments: usize,
    /// An upper bound of the times, in microseconds since 1970.
    pub(crate) latest: Option<i64>,
    pub(crate) layout: String,
    pub(crate) schema: Option<SchemaRef>,
}

/// The facts of all tables, each with the time of the last commit before they were read.
#[derive(Default)]
pub(crate) struct Listing(Mutex<BTreeMap<TableName, (SystemTime, Facts)>>);

impl Listing {
    /// The current facts of some tables; reads those again that have a new commit. An error concerns one table only.
    pub(crate) async fn facts(
        &self,
        data: &Path,
        tables: &BTreeSet<TableName>,
    ) -> BTreeMap<TableName, Result<Facts, TableError>> {
        // One request reads them; the others wait.
        let mut known = self.0.lock().await;
        let (data, names) = (data.to_owned(), tables.clone());
        let committed = move || {
            let committed_at = |name: TableName| {
                let root = name.folder(&data);
                (Table::committed_at(&root), root, name)
            };
            names.into_iter().map(committed_at).collect::<Vec<_>>()
        };
        let stamped = tokio::task::spawn_blocking(committed).await.unwrap_or_default();
        let mut found = BTreeMap::new();
        let mut changed = Vec::new();
        for (committed, root, name) in stamped {
            match (committed, known.get(&name)) {
                (Some(committed), Some((before, facts))) if *before == committed => {
                    found.insert(name, Ok(facts.clone()));
                }
                (committed, _) => changed.push((committed, root, name)),
            }
        }
        let read = stream::iter(changed).map(async |(committed, root, name)| (committed, read(root).await, name));
        let mut read = std::pin::pin!(read.buffer_unordered(OPENING));
        // One by one, so that a request that runs out of time leaves less to the next.
        while let Some((committed, facts, name)) = read.next().await {
            let settled = committed.filter(|at| at.elapsed().is_ok_and(|since| since > STEPS));
            match (settled, &facts) {
                (Some(at), Ok(facts)) => drop(known.insert(name.clone(), (at, facts.clone()))),
                _ => drop(known.remove(&name)),
            }
            found.insert(name, facts);
        }
        found
    }

    /// Forgets tables that no longer exist.
    pub(crate) async fn keep(&self, tables: &BTreeSet<TableName>) {
        self.0.lock().await.retain(|name, _| tables.contains(name));
    }
}

async fn read(root: PathBuf) -> Result<Facts, TableError> {
    let Some(table) = Table::open(&root, Arc::new(RealDisk)).await? else { return Ok(Facts::default()) };
    let segments = table.segments().await?;
    Ok(Facts {
        rows: segments.iter().map(|segment| segment.rows).sum(),
        bytes: segments.iter().map(|segment| segment.bytes).sum(),
        segments: segments.len(),
        latest: segments.iter().filter_map(|segment| segment.columns.get(TIME)?.latest()).max(),
        layout: table.options()?.layout.to_string(),
        schema: Some(table.arrow_schema()?),
    })
}
