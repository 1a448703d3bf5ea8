//! Appends, which are nearly all commits there are: versions that only add segments.
//!
//! delta-rs reads a table's whole list of segments anew after each commit, which costs the more the longer the list is.
//! An append needs none of it: its entry is written to the log under the next number, by the same durable store, and
//! what was read before is brought up to date when somebody asks for the segments. Whoever writes that number first has
//! it; the other reads on and tries again, so nothing is lost and no name is committed twice.

use std::collections::HashMap;

use deltalake::DeltaTableError;
use deltalake::kernel::{Action, CommitInfo};
use deltalake::logstore::CommitOrBytes;
use serde_json::json;
use uuid::Uuid;

use super::actions::to_add;
use super::commit::transactions;
use super::{Change, Table, now_ms};

/// Tables whose writers must know no more than this version of the protocol are written by ourselves.
const WRITER_VERSION_MAX: i32 = 2;

/// What this handle has appended since it last read the table's state.
#[derive(Debug, Clone, Default)]
pub(super) struct Appended {
    /// The last version appended; 0 where there is none.
    pub(super) version: u64,
    /// Names of the changes, each with the highest of its versions.
    pub(super) transactions: HashMap<String, u64>,
}

type Result<T> = std::result::Result<T, DeltaTableError>;

impl Table {
    /// Whether some changes only add segments, to a table that needs no more than that from its writers.
    pub(super) fn is_append(&self, changes: &[&Change]) -> Result<bool> {
        let plain =
            |c: &&Change| c.remove.is_empty() && c.rewrite.is_none() && c.properties.is_empty() && c.widen.is_empty();
        if !changes.iter().all(plain) {
            return Ok(false);
        }
        let state = self.delta.snapshot()?;
        let schema = state.schema();
        let grows = changes.iter().flat_map(|c| &c.columns).any(|field| schema.field(&field.name).is_none());
        Ok(!grows && state.protocol().min_writer_version() <= WRITER_VERSION_MAX)
    }

    /// Appends some changes as the next version.
    ///
    /// # Errors
    /// `Transaction` where another writer took that version.
    pub(super) async fn append(&mut self, changes: &[&Change]) -> Result<u64> {
        let version = self.version() + 1;
        let info = CommitInfo {
            timestamp: Some(now_ms()),
            operation: Some("WRITE".to_owned()),
            operation_parameters: Some([("mode".to_owned(), json!("Append"))].into()),
            is_blind_append: Some(true),
            engine_info: Some(concat!("manyworlds ", env!("CARGO_PKG_VERSION")).to_owned()),
            ..CommitInfo::default()
        };
        let transactions = transactions(changes);
        let mut lines = serde_json::to_string(&Action::CommitInfo(info))?;
        let mut push = |action: Action| -> Result<()> {
            lines.push('\n');
            lines += &serde_json::to_string(&action)?;
            Ok(())
        };
        transactions.iter().try_for_each(|t| push(Action::Txn(t.clone())))?;
        changes.iter().flat_map(|c| &c.add).try_for_each(|segment| push(Action::Add(to_add(segment, true))))?;
        let entry = CommitOrBytes::LogBytes(lines.into());
        self.delta.log_store().write_commit_entry(version, entry, Uuid::new_v4()).await?;
        self.appended.version = version;
        self.appended.transactions.extend(transactions.into_iter().map(|t| (t.app_id, t.version as u64)));
        Ok(version)
    }
}
