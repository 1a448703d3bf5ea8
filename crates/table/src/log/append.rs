//! Appends: commits that only add segments. Most commits are appends.
//!
//! delta-rs reads a table's whole list of segments after each commit, so its cost grows with the table. An append does
//! not need the list: it writes its log entry under the next number, through the same durable store. The list is read
//! only when segments are requested. The first writer of a number wins; the loser reads the new entries and retries. No
//! rows are lost, and no transaction commits twice.

use std::collections::HashMap;

use deltalake::kernel::{Action, CommitInfo};
use deltalake::logstore::CommitOrBytes;
use serde_json::json;
use uuid::Uuid;

use super::actions::to_add;
use super::commit::transactions;
use super::{Change, DeltaResult, Table, now_ms};

/// The highest writer version of the Delta protocol that this module supports.
const WRITER_VERSION_MAX: i32 = 2;

/// Data appended by this handle since it last read the table's state.
#[derive(Debug, Clone, Default)]
pub(super) struct Appended {
    /// The last appended version; 0 if none.
    pub(super) version: u64,
    /// The transactions, each with its highest version.
    pub(super) transactions: HashMap<String, u64>,
}

impl Table {
    /// Whether the changes only add segments, and the table's protocol permits this.
    pub(super) fn is_append(&self, changes: &[Change]) -> DeltaResult<bool> {
        let plain =
            |c: &Change| c.remove.is_empty() && c.rewrite.is_none() && c.properties.is_empty() && c.widen.is_empty();
        if !changes.iter().all(plain) {
            return Ok(false);
        }
        let (schema, writer_version) = if let Some(replayed) = &self.replayed {
            (replayed.schema.clone(), replayed.writer_version)
        } else {
            let state = self.delta.snapshot()?;
            (state.schema(), state.protocol().min_writer_version())
        };
        let grows = changes.iter().flat_map(|c| &c.columns).any(|field| schema.field(&field.name).is_none());
        Ok(!grows && writer_version <= WRITER_VERSION_MAX)
    }

    /// Appends changes as the next version. Fails with `Transaction` if another writer took that version.
    pub(super) async fn append(&mut self, changes: &[&Change]) -> DeltaResult<u64> {
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
        let mut push = |action: Action| -> DeltaResult<()> {
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
