//! Measures how well a table is clustered.
//!
//! The *overlap depth* is the number of row groups with bounds that include a row's key in all clustering columns,
//! averaged over the rows. A question for one key reads that many row groups: 1 at best, all of them if clustering has
//! no effect.

use arrow::array::{Array, ArrayRef, RecordBatch};
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;

use super::keys::Keys;
use super::rank::Ranks;
use crate::input::Input;

const POINTS: usize = 1024;

type Bounds = (u32, u32);

/// Keys of some rows, as coordinates in every dimension.
pub(crate) struct Points(Vec<Vec<u32>>);

impl Points {
    /// The keys of a sample of the columns at `columns` of a table.
    pub(crate) fn of_sample(keys: &Keys, sample: &RecordBatch, columns: &[usize]) -> Self {
        let each = sample.num_rows().div_ceil(POINTS).max(1);
        let mut points = vec![Vec::new(); sample.num_rows().div_ceil(each)];
        for (position, ranks) in keys.ranks() {
            let Some(column) = columns.iter().position(|c| c == position) else { continue };
            ranks.places(sample.column(column), |row, place| {
                if row % each == 0 {
                    points[row / each].push(place);
                }
            });
        }
        Self(points)
    }

    pub(crate) fn depth<'a>(&self, keys: &Keys, segments: impl Iterator<Item = &'a Input>) -> f64 {
        let groups: Vec<Vec<Bounds>> = segments.flat_map(|input| groups(keys, input)).collect();
        let holds = |group: &&Vec<Bounds>, point: &Vec<u32>| {
            group.iter().zip(point).all(|(&(low, high), place)| (low..=high).contains(place))
        };
        let hits: usize = self.0.iter().map(|point| groups.iter().filter(|group| holds(group, point)).count()).sum();
        hits as f64 / self.0.len().max(1) as f64
    }
}

/// The bounds of each row group in every dimension.
fn groups(keys: &Keys, input: &Input) -> Vec<Vec<Bounds>> {
    let count = input.metadata().metadata().num_row_groups();
    let mut groups = vec![Vec::new(); count];
    for (position, ranks) in keys.ranks() {
        let bounds = bounds(input, *position, ranks).unwrap_or_else(|| vec![(0, u32::MAX); count]);
        groups.iter_mut().zip(bounds).for_each(|(group, bounds)| group.push(bounds));
    }
    groups
}

/// The bounds of each row group in one column; `None` if the footer has none.
fn bounds(input: &Input, position: usize, ranks: &Ranks) -> Option<Vec<Bounds>> {
    let metadata = input.metadata();
    let name = input.schema().field(position).name();
    let converter = StatisticsConverter::try_new(name, metadata.schema(), metadata.parquet_schema()).ok()?;
    let groups = metadata.metadata().row_groups();
    let places = |bounds: &ArrayRef| {
        let mut places = Vec::with_capacity(bounds.len());
        ranks.places(bounds, |row, place| places.push(bounds.is_valid(row).then_some(place)));
        places
    };
    let low = places(&converter.row_group_mins(groups).ok()?);
    let high = places(&converter.row_group_maxes(groups).ok()?);
    let nulls = converter.row_group_null_counts(groups).ok()?;
    let bounds = low.into_iter().zip(high).zip(nulls.iter()).zip(groups).map(|(((low, high), nulls), group)| {
        // A missing bound excludes nothing. A group of NULLs has no bounds.
        let only_nulls = nulls == Some(group.num_rows() as u64);
        let low = low.unwrap_or(if only_nulls { ranks.null() } else { 0 });
        let high = if nulls == Some(0) { high.unwrap_or(u32::MAX) } else { u32::MAX };
        (low, high)
    });
    Some(bounds.collect())
}
