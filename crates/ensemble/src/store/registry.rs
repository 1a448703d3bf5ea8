//! The rows of `sim.ensembles`: one file per version of an ensemble.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::str::FromStr as _;

use chrono::SecondsFormat;
use disk::Disk;
use table::{
    Change, Codec, Committed, Encoder, EncodingSet, ErrorKind, Field, FieldType, FlatColumn, FlatValues, PageFormat,
    Rewrite, Segment, SegmentReader, SegmentSchema, SegmentWriter, TableError, TransactionId, WrittenSegment,
};
use uuid::Uuid;
use world::{Seed, World, WorldRange};

use super::{Registered, Result, Store};
use crate::error::EnsembleError;
use crate::needs::{Access, COMPACT, EXTENSION, Needs};
use crate::paths::{partition, version_of};
use crate::plan::{EventMode, Plan};
use crate::schema::{ENOUGH, ENSEMBLE_COLUMNS, NEEDS, ensemble_fields};
use crate::stored::{damaged, fetch};

/// How often to try a change of a row.
const TRIES: usize = 20;

/// The content of a row of `sim.ensembles`.
#[derive(Clone, PartialEq)]
pub(super) struct Described {
    pub(super) plan: Plan,
    /// Registration time.
    pub(super) created: String,
    /// See [`StoredEnsemble::enough`](crate::stored::StoredEnsemble::enough).
    pub(super) enough: Option<String>,
    pub(super) needs: Needs,
}

impl Described {
    /// Columns that only some rows have, with their texts.
    fn optional(&self) -> Vec<(&'static str, String)> {
        let enough = self.enough.clone().map(|enough| (ENOUGH, enough));
        enough.into_iter().chain(self.needs.text().map(|needs| (NEEDS, needs))).collect()
    }

    /// All columns if some may be missing in the table.
    fn added_fields(&self) -> Vec<Field> {
        if self.optional().is_empty() { Vec::new() } else { self.fields() }
    }

    fn fields(&self) -> Vec<Field> {
        let optional = self.optional().into_iter().map(|(name, _)| Field::new(name, FieldType::Text));
        ensemble_fields().into_iter().chain(optional).collect()
    }
}

fn described(name: &str, disk: &dyn Disk, path: &Path, bytes: u64) -> std::result::Result<Described, Box<dyn Error>> {
    fetch(disk, [(path, Some(bytes))])?;
    let segment = SegmentReader::open(path)?;
    let text = |column: &str| -> std::result::Result<String, TableError> {
        match segment.flat(0, segment.column(column)?, 0..1)? {
            FlatValues::Texts { dictionary, .. } => Ok(dictionary.into_iter().next().unwrap_or_default()),
            FlatValues::Integers(values) => Ok(values.first().map(i32::to_string).unwrap_or_default()),
            FlatValues::Reals { values, .. } => Ok(values.first().map(f64::to_string).unwrap_or_default()),
        }
    };
    let number = |column: &str| -> std::result::Result<u64, Box<dyn Error>> {
        let text = text(column)?;
        Ok(text.parse().map_err(|_| format!("its {column} cannot be {text:?}"))?)
    };
    let optional = |column: &str| -> std::result::Result<Option<String>, TableError> {
        let found = segment.column(column).is_ok().then(|| text(column)).transpose()?;
        Ok(found.filter(|text| !text.is_empty()))
    };
    let needs = Needs::parse(&optional(NEEDS)?.unwrap_or_default());
    // Other columns may hold what only a newer program reads.
    needs.check(name, Access::Read)?;
    let plan = Plan {
        name: name.to_owned(),
        model: text("model")?,
        parameters: text("parameters")?,
        seed: Seed(number("seed")?),
        worlds: WorldRange::new(World(0), u32::try_from(number("worlds")?)?)?,
        range_worlds: u32::try_from(number("range_worlds")?)?,
        events: EventMode::from_str(&text("events")?).map_err(|_| "its events are neither stored nor replayed")?,
        catalogue: serde_json::from_str(&text("catalogue")?)
            .map_err(|e| format!("its catalogue does not read: {e}"))?,
    };
    Ok(Described { plan, created: text("created")?, enough: optional(ENOUGH)?, needs })
}

/// Checks that a stored version can get the worlds of `plan`.
fn check_extension(registered: &Registered, plan: &Plan) -> Result<()> {
    let (old, name) = (&registered.plan, plan.name.clone());
    let (stored, planned) = (registered.done.iter().map(|range| range.count()).sum(), old.worlds.count());
    if registered.replaces || stored < planned {
        return Err(EnsembleError::Incomplete { name, stored, planned });
    }
    let reason = if let Some(difference) = (Plan { worlds: plan.worlds, ..old.clone() }).difference(plan) {
        format!("it was played with {difference}")
    } else if !plan.catalogue.has_outputs_of(&old.catalogue) {
        "its model has changed since and has other outputs".to_owned()
    } else if plan.worlds.count() < planned {
        format!("it has {planned} worlds already, more than {}", plan.worlds.count())
    } else {
        return Ok(());
    };
    Err(EnsembleError::Extension { name, reason })
}

impl Store {
    /// Commits the plan's row under the version number of the commit; `None` after a concurrent commit, which may have
    /// outdated our view of the store. Of several writers with the same number, one wins.
    pub(super) async fn commit_plan(&mut self, plan: &Plan) -> Result<Option<u64>> {
        let version = self.ensembles.version() + 1;
        let created = chrono::Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true);
        let needs = Needs::default();
        let needs = if plan.events == EventMode::Compact { needs.with(COMPACT) } else { needs };
        let described = Described { plan: plan.clone(), created, enough: None, needs };
        let segment = self.write_plan(version, &described)?;
        let transaction = Some(TransactionId::once(format!("version/{version}")));
        let add = vec![segment.clone()];
        let change = Change { add, columns: described.added_fields(), transaction, ..Change::default() };
        match self.ensembles.commit(&change).await? {
            Committed::At(at) if at == version => Ok(Some(version)),
            Committed::At(_) => {
                let undo = Change { remove: vec![segment], ..Change::default() };
                self.ensembles.commit(&undo).await?;
                Ok(None)
            }
            Committed::Before => Ok(None),
        }
    }

    /// Records that the current worlds of a version suffice, because the goal is met; `None` removes the record, to add
    /// more worlds.
    ///
    /// # Errors
    /// When there is no such version.
    pub async fn note_enough(&mut self, name: &str, version: u64, enough: Option<&str>) -> Result<()> {
        self.change_plan(name, version, |described| described.enough = enough.map(str::to_owned)).await
    }

    /// Plans more worlds for the newest version of a complete ensemble: those of `plan`, which must be its plan
    /// otherwise. Readers see the stored worlds throughout. If the process ends before the new worlds are stored, the
    /// ensemble is incomplete and can be resumed.
    ///
    /// # Errors
    /// [`EnsembleError::Incomplete`] if worlds of the old plan are missing, also if they are not needed because a goal
    /// was met; [`EnsembleError::Extension`] if `plan` differs or has fewer worlds.
    pub async fn extend(&mut self, plan: &Plan) -> Result<Registered> {
        let name = &plan.name;
        let mut tries = 0;
        loop {
            tries += 1;
            self.refresh().await?;
            let rows = self.rows_of(name).await?;
            let versions = rows.len();
            let newest = rows.into_iter().max_by_key(version_of);
            let row = newest.ok_or_else(|| damaged(name, "it has no version"))?;
            let described = self.read_plan(name, &row)?;
            let registered = self.take_up_row(name, &row, versions).await?;
            check_extension(&registered, plan)?;
            if described.plan.worlds == plan.worlds {
                return Ok(registered);
            }
            let longer = Plan { worlds: plan.worlds, range_worlds: plan.range_worlds, ..described.plan };
            // Its ranges no longer begin at multiples of one length.
            let needs = described.needs.with(EXTENSION);
            if self.rewrite_plan(row, &Described { plan: longer.clone(), needs, ..described }, tries == TRIES).await? {
                return Ok(Registered { plan: longer, ..registered });
            }
        }
    }

    /// Plans `worlds` for a version, in place of those that it planned, and takes it up. Its worlds, of which the caller
    /// has seen `stored`, stay.
    ///
    /// # Errors
    /// When there is no such version; [`EnsembleError::Extension`] if it stores other worlds than the caller has seen.
    pub async fn plan_worlds(
        &mut self,
        name: &str,
        version: u64,
        stored: u32,
        worlds: WorldRange,
    ) -> Result<Registered> {
        let mut tries = 0;
        loop {
            tries += 1;
            let row = self.row_of(name, version).await?;
            let now: usize = self.done(name, version).await?.into_iter().map(WorldRange::count).sum();
            if now != stored as usize {
                let reason = format!("it has {now} worlds by now, and had {stored}: another process adds worlds to it");
                return Err(EnsembleError::Extension { name: name.to_owned(), reason });
            }
            let described = self.read_plan(name, &row)?;
            described.needs.check(name, Access::Write)?;
            let longer = Plan { worlds, ..described.plan.clone() };
            let is_planned = longer == described.plan;
            if is_planned || self.rewrite_plan(row, &Described { plan: longer, ..described }, tries == TRIES).await? {
                return self.take_up(name, version).await;
            }
        }
    }

    /// The current row of a version.
    async fn row_of(&mut self, name: &str, version: u64) -> Result<Segment> {
        self.refresh().await?;
        let row = self.rows_of(name).await?.into_iter().find(|s| version_of(s) == version);
        row.ok_or_else(|| EnsembleError::Version { name: name.to_owned(), version })
    }

    /// Changes the row of a version, and tries again after concurrent commits.
    async fn change_plan(&mut self, name: &str, version: u64, change: impl Fn(&mut Described)) -> Result<()> {
        let mut tries = 0;
        loop {
            tries += 1;
            let row = self.row_of(name, version).await?;
            let stored = self.read_plan(name, &row)?;
            stored.needs.check(name, Access::Write)?;
            let mut described = stored.clone();
            change(&mut described);
            if described == stored || self.rewrite_plan(row, &described, tries == TRIES).await? {
                return Ok(());
            }
        }
    }

    /// Replaces the row of a version; `false` after a concurrent commit, unless `is_last_try`.
    async fn rewrite_plan(&mut self, row: Segment, described: &Described, is_last_try: bool) -> Result<bool> {
        let add = self.write_plan(version_of(&row), described)?;
        let (columns, rewrite) = (described.added_fields(), Some(Rewrite::SameRows));
        let change = Change { add: vec![add], remove: vec![row], columns, rewrite, ..Change::default() };
        match self.ensembles.commit(&change).await {
            Err(TableError::Overtaken { .. }) if !is_last_try => Ok(false),
            committed => Ok(committed.map(|_| true)?),
        }
    }

    /// Writes the row of a version to a file of its own.
    fn write_plan(&self, version: u64, described: &Described) -> Result<Segment> {
        let Described { plan, created, .. } = described;
        let fail = |cause| TableError::Encode { path: "of the ensemble's description".into(), cause };
        let catalogue = serde_json::to_string(&plan.catalogue)
            .map_err(|e| EnsembleError::Description { name: plan.name.clone(), reason: e.to_string() })?;
        let seed = plan.seed.0.to_string();
        let texts = [plan.model.as_str(), &plan.parameters, &seed, "", "", plan.events.into_str(), created, &catalogue];
        let numbers = [0, 0, 0, plan.worlds.count() as i32, plan.range_worlds as i32];
        let schema = SegmentSchema::new(&described.fields()).map_err(fail)?;
        let mut encoder = Encoder::new(&schema, PageFormat { codec: Codec::Zstd(3), encodings: EncodingSet::Portable })
            .map_err(fail)?;
        let columns = (0..ENSEMBLE_COLUMNS.len()).map(|i| match ENSEMBLE_COLUMNS[i].1 {
            FieldType::Text => encoder.flat(i, FlatColumn::TextRuns(&[(texts[i], 1)])),
            _ => encoder.flat(i, FlatColumn::IntRuns(&[(numbers[i], 1)])),
        });
        let mut columns = columns.collect::<std::result::Result<Vec<_>, _>>().map_err(fail)?;
        for (_, text) in described.optional() {
            columns.push(encoder.flat(columns.len(), FlatColumn::TextRuns(&[(&text, 1)])).map_err(fail)?);
        }
        let path = format!("ensemble={}/version={version}/plan-{}.parquet", plan.name, Uuid::new_v4().simple());
        let mut writer = SegmentWriter::create(self.disk.clone(), &self.ensembles.root().join(&path), &schema)?;
        writer.row_group(columns)?;
        let WrittenSegment { bytes, rows, .. } = writer.finish(Vec::new())?;
        let partition = partition(&plan.name, version);
        Ok(Segment { path, bytes, rows, partition, columns: BTreeMap::new(), tags: BTreeMap::new() })
    }

    pub(super) fn read_plan(&self, name: &str, row: &Segment) -> Result<Described> {
        let path = self.ensembles.root().join(&row.path);
        described(name, &*self.disk, &path, row.bytes).map_err(|reason| match reason.downcast::<TableError>() {
            // A permission error is not damage.
            Ok(refused) if refused.kind() == ErrorKind::Environment => EnsembleError::Table(*refused),
            Ok(error) => damaged(name, &error.to_string()),
            Err(reason) => match reason.downcast::<EnsembleError>() {
                Ok(newer) => *newer,
                Err(reason) => damaged(name, &reason.to_string()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use disk::RealDisk;
    use model::{Catalogue, EventColumn, EventKind, Expectation, Formula};

    use super::super::ReadRows;
    use super::*;

    fn plan(worlds: u32) -> Plan {
        Plan {
            name: "season".to_owned(),
            model: "walk".to_owned(),
            parameters: "{}".to_owned(),
            seed: Seed(1),
            worlds: WorldRange::new(World(0), worlds).unwrap(),
            range_worlds: 10,
            events: EventMode::Replay,
            catalogue: Catalogue { kinds: Vec::new(), entities: Vec::new(), events: Vec::new() },
        }
    }

    /// What every way to an ensemble says, once its row needs `needs`: readers first, then writers.
    async fn said(needs: &str) -> Vec<Option<String>> {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        let version = store.register(plan(25), false).await.unwrap().version;
        let with = |described: &mut Described| described.needs = Needs::parse(needs);
        store.change_plan("season", version, with).await.unwrap();
        let error = |error: EnsembleError| error.to_string();
        vec![
            store.ensemble("season").await.err().map(error),
            store.ensembles(&mut ReadRows::default()).await.unwrap().remove(0).1.err().map(error),
            store.resume("season").await.err().map(error),
            store.take_up("season", version).await.err().map(error),
            store.extend(&plan(30)).await.err().map(error),
            store.plan_worlds("season", version, 0, plan(30).worlds).await.err().map(error),
            store.note_enough("season", version, Some("met")).await.err().map(error),
        ]
    }

    #[tokio::test]
    async fn rows_of_newer_programs_are_refused() {
        let refused = |action: &str, need: &str| {
            let newer = format!("a newer version of this program stored it with {need:?}");
            Some(format!(
                "cannot {action} ensemble \"season\": {newer}, which this version does not know; update this program"
            ))
        };
        let writing = said("write:extension,write:zones").await;
        assert_eq!(writing[..2], [None, None]);
        assert!(writing[2..].iter().all(|said| *said == refused("change", "write:zones")), "{writing:?}");
        let reading = said("zones").await;
        assert!(reading.iter().all(|said| *said == refused("read", "zones")), "{reading:?}");
        let known = said("write:extension").await;
        let incomplete = "ensemble \"season\" cannot be extended before it is complete: it stores 0 of 25 worlds";
        assert_eq!(known.into_iter().flatten().collect::<Vec<_>>(), [incomplete]);
    }

    #[tokio::test]
    async fn compact_events_are_a_need() {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        let x = EventColumn {
            expected: Some(Expectation::always(Formula::constant(1))),
            ..EventColumn::new("x", EventKind::I8)
        };
        let catalogue = Catalogue { events: vec![x], ..plan(25).catalogue };
        for (events, needs, is_expected) in [
            (EventMode::Store, None, false),
            (EventMode::Compact, Some("compact"), true),
            (EventMode::Replay, None, false),
        ] {
            let plan = Plan { events, catalogue: catalogue.clone(), ..plan(25) };
            let registered = store.register(plan, true).await.unwrap();
            let row = store.row_of("season", registered.version).await.unwrap();
            let described = store.read_plan("season", &row).unwrap();
            assert_eq!((described.needs.text().as_deref(), described.plan.events), (needs, events));
            assert_eq!(described.plan.catalogue.has_expectations(), is_expected);
            assert_eq!(described.plan, registered.plan);
        }
    }

    #[tokio::test]
    async fn newer_versions_can_be_replaced_and_dropped() {
        let data = tempfile::tempdir().unwrap();
        let mut store = Store::open_or_create(data.path(), Arc::new(RealDisk)).await.unwrap();
        for _ in 0..2 {
            let version = store.register(plan(25), true).await.unwrap().version;
            store.change_plan("season", version, |described| described.needs = Needs::parse("zones")).await.unwrap();
        }
        store.drop_ensemble("season").await.unwrap();
        assert_eq!(store.names().await.unwrap(), Vec::<String>::new());
    }
}
