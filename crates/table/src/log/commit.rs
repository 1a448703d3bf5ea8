//! Commits: atomic, idempotent and concurrent.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, Instant};

use deltalake::kernel::transaction::{CommitBuilder, CommitProperties};
use deltalake::kernel::{Action, DataType, Metadata, MetadataExt as _, StructField, StructType, Transaction};
use deltalake::protocol::{DeltaOperation, SaveMode, checkpoints};
use deltalake::table::state::DeltaTableState;

use super::actions::{to_add, to_remove};
use super::turn::in_turn;
use super::{Change, Committed, DeltaResult, Result, Rewrite, Table};
use crate::error::{TableError, is_conflict};
use crate::schema::{Field, FieldType};

/// Time limit for retries against other writers.
const COMMIT_DEADLINE: Duration = Duration::from_mins(1);
/// Versions between log checkpoints, which make opening a table cheap.
pub(super) const CHECKPOINT_EACH: u64 = 50;

impl Table {
    /// Commits a change and moves this handle to the new version. The change is durable when it returns. After a disk
    /// failure at the very end, the change may be in the table. To find out, commit a named change again.
    pub async fn commit(&mut self, change: &Change) -> Result<Committed> {
        let mut committed = self.commit_all(std::slice::from_ref(change)).await?;
        Ok(committed.pop().unwrap_or(Committed::Before))
    }

    /// Atomically commits changes as one version, except those committed before. Returns the outcome of each.
    pub async fn commit_all(&mut self, changes: &[Change]) -> Result<Vec<Committed>> {
        let started = Instant::now();
        let appends = self.is_append(changes).map_err(TableError::log("read", &self.root))?;
        if !appends || self.check_columns_of(changes).is_err() || !self.has_entry(self.version())? {
            // Another writer may have added or widened columns since, or removed segments. If the log lacks this version's
            // entry, later ones may have been cleaned up, too, and their numbers must not be taken again.
            self.refresh().await?;
        }
        let mut is_behind = true;
        loop {
            if self.replayed.is_some() && !self.is_append(changes).map_err(TableError::log("read", &self.root))? {
                // The library commits all but appends, on a state of its own.
                self.read_state().await.map_err(TableError::log("read", &self.root))?;
            }
            // What changes columns or rows is committed on the version that it was checked against.
            self.check_columns_of(changes)?;
            for change in changes {
                self.check_removed(change).await?;
            }
            match self.try_commit(changes).await {
                Ok(committed) => {
                    if committed.contains(&Committed::Before) {
                        self.make_durable()?;
                    }
                    return Ok(committed);
                }
                Err(error) if is_conflict(&error) && started.elapsed() < COMMIT_DEADLINE => {
                    tracing::debug!(table = %self.root.display(), %error, "another writer was faster; retrying");
                    // The first conflict often comes from a stale handle, later ones from concurrent commits.
                    if !std::mem::take(&mut is_behind) {
                        tokio::time::sleep(jitter()).await;
                    }
                    self.refresh().await?;
                }
                Err(error) => return Err(TableError::log("commit to", &self.root)(error)),
            }
        }
    }

    /// Checks that a rewrite's inputs are still in the table. delta-rs allows conflicting removals without data change,
    /// so two rewrites of one segment would duplicate its rows. A rewrite that widens columns must replace all segments.
    async fn check_removed(&self, change: &Change) -> Result<()> {
        if change.rewrite.is_none() {
            return Ok(());
        }
        let have: BTreeSet<String> = self.segments().await?.into_iter().map(|s| s.path).collect();
        let removed: BTreeSet<&str> = change.remove.iter().map(|s| s.path.as_str()).collect();
        let gone = removed.iter().copied().find(|path| !have.contains(*path));
        let narrow = have.iter().map(String::as_str).find(|path| !change.widen.is_empty() && !removed.contains(path));
        match gone.or(narrow) {
            Some(path) => Err(TableError::Overtaken { path: self.root.clone(), segment: path.to_owned() }),
            None => Ok(()),
        }
    }

    async fn try_commit(&mut self, changes: &[Change]) -> DeltaResult<Vec<Committed>> {
        let appends = self.is_append(changes)?;
        let mut new: Vec<&Change> = Vec::with_capacity(changes.len());
        let mut is_new = Vec::with_capacity(changes.len());
        for change in changes {
            let before = match &change.transaction {
                Some(id) => {
                    let among = new.iter().filter_map(|c| c.transaction.as_ref());
                    among.clone().any(|c| c.name == id.name && c.version >= id.version)
                        || self.version_of(&id.name).await? >= Some(id.version)
                }
                None => false,
            };
            is_new.push(!before);
            if !before {
                new.push(change);
            }
        }
        let at = match new.is_empty() {
            true => 0,
            false if appends => self.append(&new).await?,
            false => self.write_version(self.delta.snapshot()?.clone(), &new).await?,
        };
        self.checkpoint_at(at).await;
        Ok(is_new.into_iter().map(|new| if new { Committed::At(at) } else { Committed::Before }).collect())
    }

    /// The highest version of the transaction `name` in this version of the table; `None` if none.
    pub async fn transaction_version(&self, name: &str) -> Result<Option<u64>> {
        self.version_of(name).await.map_err(TableError::log("read", &self.root))
    }

    async fn version_of(&self, name: &str) -> DeltaResult<Option<u64>> {
        if let Some(version) = self.appended.transactions.get(name) {
            return Ok(Some(*version));
        }
        if let Some(replayed) = &self.replayed {
            return Ok(replayed.transactions.get(name).copied());
        }
        let store = self.delta.log_store();
        let version = in_turn(self.delta.snapshot()?.transaction_version(store.as_ref(), name)).await?;
        Ok(version.map(|v| v as u64))
    }

    async fn checkpoint_at(&mut self, version: u64) {
        if version == 0 || !version.is_multiple_of(CHECKPOINT_EACH) {
            return;
        }
        let written = match self.read_state().await {
            Ok(()) => in_turn(checkpoints::create_checkpoint(&self.delta, None)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            // The commit stands; without the checkpoint, opening only takes longer.
            tracing::warn!(table = %self.root.display(), %error, "cannot write a log checkpoint");
        }
    }

    async fn write_version(&mut self, state: DeltaTableState, changes: &[&Change]) -> DeltaResult<u64> {
        let properties = CommitProperties::default()
            .with_create_checkpoint(false)
            .with_application_transactions(transactions(changes));
        // A rewrite was checked against this version, so no other version may come between.
        let rewrites = changes.iter().any(|c| c.rewrite.is_some());
        let properties = if rewrites { properties.with_max_retries(0) } else { properties };
        let mut actions: Vec<Action> = Vec::new();
        if let Some(metadata) = self.changed_metadata(&state, changes)? {
            actions.push(Action::Metadata(metadata));
        }
        for change in changes {
            let data_change = change.rewrite != Some(Rewrite::SameRows);
            actions.extend(change.remove.iter().map(|s| Action::Remove(to_remove(s, data_change))));
            actions.extend(change.add.iter().map(|s| Action::Add(to_add(s, data_change))));
        }
        let operation = if changes.iter().all(|c| c.rewrite == Some(Rewrite::SameRows)) {
            DeltaOperation::Optimize { predicate: None, target_size: 0 }
        } else {
            DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None }
        };
        let commit = CommitBuilder::from(properties).with_actions(actions);
        let finalized = in_turn(commit.build(Some(&state), self.delta.log_store(), operation).into_future()).await?;
        let version = finalized.version();
        self.delta.state = Some(finalized.snapshot());
        Ok(version)
    }

    /// The table's metadata with new columns and properties; `None` if unchanged.
    fn changed_metadata(&self, state: &DeltaTableState, changes: &[&Change]) -> DeltaResult<Option<Metadata>> {
        let mut metadata = state.metadata().clone();
        // Several changes in one commit may add the same column.
        let mut names = HashSet::new();
        let columns = changes.iter().flat_map(|c| &c.columns).filter(|field| names.insert(&field.name));
        let columns: Vec<Field> = columns.cloned().collect();
        let widen: Vec<&String> = changes.iter().flat_map(|c| &c.widen).collect();
        if let Some(schema) = self.grown_schema(&columns, &widen)? {
            metadata = metadata.with_schema(&schema)?;
        }
        for (key, value) in changes.iter().flat_map(|c| &c.properties) {
            metadata = match value {
                Some(value) => metadata.add_config_key(key.clone(), value.clone())?,
                None => metadata.remove_config_key(key)?,
            };
        }
        Ok((metadata != *state.metadata()).then_some(metadata))
    }

    /// The schema with new and widened columns; `None` if unchanged.
    fn grown_schema(&self, columns: &[Field], widen: &[&String]) -> DeltaResult<Option<StructType>> {
        let schema = self.delta.snapshot()?.schema();
        let new: Vec<_> = columns.iter().filter(|f| schema.field(&f.name).is_none()).map(Field::to_delta).collect();
        if new.is_empty() && widen.is_empty() {
            return Ok(None);
        }
        let widened = |field: &StructField| {
            if widen.contains(&&field.name) {
                Field::new(&field.name, FieldType::Double).to_delta()
            } else {
                field.clone()
            }
        };
        Ok(Some(StructType::try_new(schema.fields().map(widened).chain(new))?))
    }

    /// Checks the columns of each change against the table, and new ones against those of the other changes.
    fn check_columns_of(&self, changes: &[Change]) -> Result<()> {
        let schema = self.schema()?;
        let mut first: BTreeMap<&str, &Field> = BTreeMap::new();
        for field in changes.iter().flat_map(|change| &change.columns) {
            let known = first.entry(&field.name).or_insert(field);
            if known.ty != field.ty && schema.field(&field.name).is_none() {
                return Err(self.column_type(field, known.to_delta().data_type()));
            }
        }
        let new: Vec<&Field> = first.into_values().filter(|field| schema.field(&field.name).is_none()).collect();
        if !new.is_empty() {
            // Other readers ignore case.
            let stored = schema.fields().map(StructField::name);
            let mut names: BTreeMap<String, &str> = stored.map(|name| (name.to_lowercase(), name.as_str())).collect();
            for column in new.into_iter().map(|field| &field.name) {
                if let Some(have) = names.insert(column.to_lowercase(), column) {
                    let (path, column, have) = (self.root.clone(), column.clone(), have.to_owned());
                    return Err(TableError::ColumnName { path, column, have });
                }
            }
        }
        changes.iter().try_for_each(|change| self.check_columns(&change.columns))
    }

    /// Checks that the table lacks each of `columns`, or has it with the same type.
    pub fn check_columns(&self, columns: &[Field]) -> Result<()> {
        let schema = self.schema()?;
        for field in columns {
            if let Some(have) = schema.field(&field.name).filter(|have| !field.ty.is_in(have.data_type())) {
                return Err(self.column_type(field, have.data_type()));
            }
        }
        Ok(())
    }

    fn column_type(&self, field: &Field, have: &DataType) -> TableError {
        TableError::ColumnType {
            path: self.root.clone(),
            column: field.name.clone(),
            have: have.to_string(),
            want: field.to_delta().data_type().to_string(),
        }
    }
}

/// The transactions of some changes, each with its highest version.
pub(super) fn transactions(changes: &[&Change]) -> Vec<Transaction> {
    let mut highest: BTreeMap<&str, u64> = BTreeMap::new();
    for id in changes.iter().filter_map(|c| c.transaction.as_ref()) {
        let version = highest.entry(&id.name).or_default();
        *version = id.version.max(*version);
    }
    highest.into_iter().map(|(name, version)| Transaction::new(name, version as i64)).collect()
}

/// A random pause of 5 to 50 ms, so that colliding processes diverge.
fn jitter() -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() as u64;
    Duration::from_millis(5 + random % 46)
}
