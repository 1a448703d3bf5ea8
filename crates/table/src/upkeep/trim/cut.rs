//! Finds the time at which to cut a table so that its newest rows have a given size.

use std::collections::BTreeMap;
use std::path::Path;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::datatypes::SchemaRef;

use super::super::{Fate, Filter, Result};
use super::micros;
use crate::error::TableError;
use crate::input::Input;
use crate::log::Segment;

/// Limit on the sampled times per segment, evenly spread.
const POINTS_MAX: usize = 4_096;

pub(super) struct Cut {
    /// `None` if rows have no times; then whole segments are removed.
    column: Option<String>,
    /// Rows before this time are removed.
    time: i64,
    fates: BTreeMap<String, Fate>,
    earliest: Option<i64>,
}

/// A segment and the distribution of its bytes over time.
struct Spread {
    path: String,
    bytes: u64,
    /// Sorted. Each is the earliest time of equally many rows; only the first may represent fewer rows.
    times: Vec<i64>,
    newest: Option<i64>,
}

impl Spread {
    fn read(root: &Path, schema: &SchemaRef, segment: &Segment, place: usize) -> Result<Self> {
        let mut times = Vec::new();
        for rows in Input::open(root, schema, segment)?.rows(None, Some(&[place]))? {
            let read = micros(rows?.column(0)).map_err(|e| TableError::damaged(&root.join(&segment.path), e))?;
            times.extend(read.into_iter().flatten());
        }
        times.sort_unstable();
        let newest = times.last().copied();
        let step = times.len().div_ceil(POINTS_MAX).max(1);
        let mut times: Vec<i64> = times.rchunks(step).map(|chunk| chunk[0]).collect();
        times.reverse();
        Ok(Self { path: segment.path.clone(), bytes: segment.bytes, times, newest })
    }

    /// Bytes of the rows from a time on, rounded down.
    fn bytes_from(&self, time: i64) -> u64 {
        let rows = self.times.len() - self.times.partition_point(|t| *t < time);
        if rows == 0 { 0 } else { (u128::from(self.bytes) * rows as u128 / self.times.len() as u128) as u64 }
    }

    fn fate(&self, time: i64) -> Fate {
        match (self.times.first(), self.newest) {
            (Some(first), _) if *first >= time => Fate::Keep,
            (_, Some(newest)) if newest < time => Fate::Remove,
            (Some(_), _) => Fate::Look,
            // The age is unknown.
            (None, _) => Fate::Keep,
        }
    }
}

impl Cut {
    /// Finds the cut that keeps at least `keep` bytes; the newest segments come last. Blocks.
    pub(super) fn new(
        root: &Path,
        schema: &SchemaRef,
        segments: Vec<Segment>,
        column: Option<String>,
        keep: u64,
    ) -> Result<Self> {
        let total: u64 = segments.iter().map(|segment| segment.bytes).sum();
        let fate = |fate: Fate| segments.iter().map(|s| (s.path.clone(), fate)).collect::<BTreeMap<_, _>>();
        if total <= keep {
            return Ok(Self { column, time: i64::MIN, fates: fate(Fate::Keep), earliest: None });
        }
        if keep == 0 {
            return Ok(Self { column, time: i64::MAX, fates: fate(Fate::Remove), earliest: None });
        }
        let Some(name) = column else {
            return Ok(Self { column: None, time: i64::MIN, fates: whole(segments, keep), earliest: None });
        };
        let place = schema.index_of(&name).map_err(|e| TableError::damaged(root, e))?;
        let read = |segment: &Segment| Spread::read(root, schema, segment, place);
        let spreads: Vec<Spread> = segments.iter().map(read).collect::<Result<_>>()?;
        let from = |time: i64| spreads.iter().map(|spread| spread.bytes_from(time)).sum::<u64>();
        // Find the latest time that keeps enough.
        let (mut low, mut high) = (i64::MIN, i64::MAX);
        while low < high {
            let middle = ((i128::from(low) + i128::from(high) + 1) >> 1) as i64;
            if from(middle) >= keep { low = middle } else { high = middle - 1 }
        }
        let fates = spreads.iter().map(|spread| (spread.path.clone(), spread.fate(low))).collect();
        let earliest = spreads.iter().filter_map(|spread| spread.times.first().copied()).min();
        Ok(Self { column: Some(name), time: low, fates, earliest })
    }

    pub(super) fn times(&self) -> Option<(i64, i64)> {
        Some((self.earliest?, self.time))
    }
}

/// Removes whole segments, oldest first, while enough remains.
fn whole(segments: Vec<Segment>, keep: u64) -> BTreeMap<String, Fate> {
    let mut kept = 0;
    let fate = |segment: Segment| {
        let fate = if kept < keep { Fate::Keep } else { Fate::Remove };
        kept += segment.bytes;
        (segment.path, fate)
    };
    segments.into_iter().rev().map(fate).collect()
}

impl Filter for Cut {
    fn fate(&self, segment: &Segment) -> Fate {
        // Keep segments that were added since.
        self.fates.get(&segment.path).copied().unwrap_or(Fate::Keep)
    }

    fn columns(&self) -> Vec<String> {
        self.column.iter().cloned().collect()
    }

    fn doomed(&self, rows: &RecordBatch) -> Result<BooleanArray, String> {
        if self.column.is_none() {
            return Ok(BooleanArray::from(vec![false; rows.num_rows()]));
        }
        let times = micros(rows.column(0)).map_err(|e| e.to_string())?;
        Ok(times.into_iter().map(|time| time.map(|time| time < self.time)).collect())
    }
}
