//! Reads times for questions that need only their buckets, without decoding the pages that lie within one bucket.

use std::ops::Range;

use pages::ColumnPages;

use super::open::Opened;
use super::page_index::{both, page_rows, page_summary};
use crate::column::{Column, Kind, Values};
use crate::prune::{Bound, Nulls};
use crate::question::Bucket;

/// Some rows of one page. `time` is any time of their bucket, if the page index shows that they share one.
struct Part {
    rows: Range<usize>,
    time: Option<i64>,
}

/// Reads ranges of a column. A row may get another time of its bucket. Returns the bytes read too, or `None` if the page
/// index shows the bucket of less than half of the rows: then reading all of them is faster.
pub(super) fn times(
    opened: &Opened,
    (group, leaf): (usize, usize),
    ranges: &[Range<usize>],
    bucket: Bucket,
) -> pages::Result<Option<(Column, u64)>> {
    let parts = parts(opened, (group, leaf), ranges, bucket);
    let unknown: Vec<Range<usize>> =
        parts.iter().filter(|part| part.time.is_none()).map(|part| part.rows.clone()).collect();
    let rows = |ranges: &[Range<usize>]| ranges.iter().map(Range::len).sum::<usize>();
    let wanted = rows(ranges);
    let is_whole = parts.iter().map(|part| part.rows.len()).sum::<usize>() == wanted;
    if !is_whole || 2 * rows(&unknown) > wanted {
        return Ok(None);
    }
    let (read, bytes) = decoded(opened, (group, leaf), &unknown)?;
    let pages::Values::Ints(times) = read.values else { return Err(pages::Error::Unsupported) };
    let mut values = Vec::with_capacity(wanted);
    let mut valid = read.valid.is_some().then(|| Vec::with_capacity(wanted));
    let mut next = 0;
    for Part { rows, time } in parts {
        if let Some(time) = time {
            values.resize(values.len() + rows.len(), time);
        } else {
            let of_part = next..next + rows.len();
            next = of_part.end;
            values.extend_from_slice(&times[of_part.clone()]);
            if let (Some(valid), Some(read)) = (&mut valid, &read.valid) {
                valid.extend_from_slice(&read[of_part]);
            }
        }
        if let Some(valid) = &mut valid {
            valid.resize(values.len(), true);
        }
    }
    Ok(Some((Column { values: Values::Ints(values), valid }, bytes)))
}

/// The pages of the ranges, ascending; none without a page index.
fn parts(opened: &Opened, (group, leaf): (usize, usize), ranges: &[Range<usize>], bucket: Bucket) -> Vec<Part> {
    let Some((index, locations)) = opened.page_index(group, leaf) else { return Vec::new() };
    let mut parts = Vec::new();
    for page in 0..locations.len() {
        let rows = page_rows(locations, page, opened.rows(group));
        let summary = page_summary(index, page, rows.len() as u64, Kind::Time);
        let time = match (summary.low, summary.high, summary.nulls) {
            (Some(Bound::Int(low)), Some(Bound::Int(high)), Nulls::None) => {
                (bucket.start_of(low) == bucket.start_of(high)).then_some(low)
            }
            _ => None,
        };
        parts.extend(both(ranges, &[rows]).into_iter().map(|rows| Part { rows, time }));
    }
    parts
}

/// Decodes the pages of the rows.
fn decoded(
    opened: &Opened,
    (group, leaf): (usize, usize),
    rows: &[Range<usize>],
) -> pages::Result<(pages::Column, u64)> {
    let chunk = opened.metadata().row_group(group).column(leaf);
    let locations = opened.page_index(group, leaf).map_or(&[][..], |(_, locations)| locations);
    let holds = |page: Range<usize>| rows.iter().any(|r| r.start < page.end && page.start < r.end);
    let pages = ColumnPages::located(&opened.file, chunk, locations, holds)?;
    Ok((pages::read_flat(&pages, chunk, opened.rows(group), rows)?, pages.bytes()))
}
