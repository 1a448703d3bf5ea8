//! Converts segments to and from the actions of a Delta log.

use std::collections::BTreeMap;

use deltalake::kernel::{Add, Remove};
use serde_json::Value;

use super::{ColumnStatistics, Segment, now_ms};

pub(super) fn to_add(segment: &Segment, data_change: bool) -> Add {
    let each = |pick: fn(&ColumnStatistics) -> Option<Value>| -> serde_json::Map<String, Value> {
        segment.columns.iter().filter_map(|(name, c)| Some((name.clone(), pick(c)?))).collect()
    };
    let stats = serde_json::json!({
        "numRecords": segment.rows,
        "minValues": each(|c| c.min.clone()),
        "maxValues": each(|c| c.max.clone()),
        "nullCount": each(|c| c.nulls.map(Value::from)),
    });
    Add {
        path: segment.path.clone(),
        partition_values: segment.partition.iter().map(|(k, v)| (k.clone(), Some(v.clone()))).collect(),
        size: segment.bytes as i64,
        modification_time: now_ms(),
        data_change,
        stats: Some(stats.to_string()),
        tags: (!segment.tags.is_empty())
            .then(|| segment.tags.iter().map(|(k, v)| (k.clone(), Some(v.clone()))).collect()),
        deletion_vector: None,
        base_row_id: None,
        default_row_commit_version: None,
        clustering_provider: None,
    }
}

pub(super) fn to_remove(segment: &Segment, data_change: bool) -> Remove {
    Remove {
        path: segment.path.clone(),
        data_change,
        deletion_timestamp: Some(now_ms()),
        extended_file_metadata: Some(true),
        partition_values: Some(segment.partition.iter().map(|(k, v)| (k.clone(), Some(v.clone()))).collect()),
        size: Some(segment.bytes as i64),
        ..Remove::default()
    }
}

/// Converts a file of the log; `None` if a deletion vector removes some of its rows.
pub(super) fn to_segment(add: Add) -> Option<Segment> {
    if add.deletion_vector.is_some() {
        return None;
    }
    let stats: Value = add.stats.and_then(|s| serde_json::from_str(&s).ok()).unwrap_or_default();
    let mut columns: BTreeMap<String, ColumnStatistics> = BTreeMap::new();
    let mut each = |part: &str, put: fn(&mut ColumnStatistics, &Value)| {
        for (name, value) in stats[part].as_object().into_iter().flatten() {
            put(columns.entry(name.clone()).or_default(), value);
        }
    };
    each("minValues", |c, v| c.min = Some(v.clone()));
    each("maxValues", |c, v| c.max = Some(v.clone()));
    each("nullCount", |c, v| c.nulls = v.as_u64());
    let tags = add.tags.unwrap_or_default().into_iter();
    Some(Segment {
        path: add.path,
        bytes: add.size as u64,
        rows: stats["numRecords"].as_u64().unwrap_or(0),
        partition: add.partition_values.into_iter().map(|(k, v)| (k, v.unwrap_or_default())).collect(),
        columns,
        tags: tags.filter_map(|(key, value)| Some((key, value?))).collect(),
    })
}
