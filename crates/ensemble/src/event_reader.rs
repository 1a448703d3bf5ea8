//! Reads the events of one entity from a range's segment, as the blocks that the model emitted.

use std::ops::Range;

use model::{Catalogue, EventKind, EventRows, EventValues, NULL_I8, NULL_I16, NULL_LABEL, OwnedEventValues};
use table::{FlatValues, TableError, plain};
use world::WorldRange;

use crate::range_reader::RangeReader;
use crate::residuals::Expected;
use crate::schema::event;

/// Real numbers, emitted or stored, with one zero and one NaN; 0 for NULL.
pub(crate) fn reals(values: &[f64], valid: Option<&[bool]>) -> OwnedEventValues {
    let valid = valid.filter(|valid| valid.contains(&false)).map(<[bool]>::to_vec);
    let value = |(row, x): (usize, &f64)| if valid.as_ref().is_none_or(|valid| valid[row]) { plain(*x) } else { 0.0 };
    OwnedEventValues::F64 { values: values.iter().enumerate().map(value).collect(), valid }
}

/// The rows of one entity in a range's segment.
pub struct EntityRows {
    entity: usize,
    group: usize,
    /// The world of each row, in order.
    worlds: Vec<i32>,
}

impl EntityRows {
    pub fn count(&self) -> usize {
        self.worlds.len()
    }
}

impl RangeReader {
    /// Finds the events of an entity in the segment.
    ///
    /// # Errors
    /// If it has none, or cannot be read.
    pub fn entity_rows(&self, entity: usize) -> Result<EntityRows, TableError> {
        let (group, segment) = (self.group(entity)?, self.segment());
        let FlatValues::Integers(worlds) = segment.flat(group, event::WORLD, 0..segment.rows(group))? else {
            return Err(self.damaged("its worlds are not integers"));
        };
        if !worlds.is_sorted() {
            return Err(self.damaged("its worlds are not in order"));
        }
        Ok(EntityRows { entity, group, worlds })
    }

    /// The events of an entity in the worlds of `range`, part of this segment's. Reads the columns for which `wants`
    /// returns true, by catalogue index.
    ///
    /// # Errors
    /// If the segment lacks some of these worlds, or cannot be read.
    pub fn events(
        &self,
        catalogue: &Catalogue,
        of: &EntityRows,
        range: WorldRange,
        wants: impl Fn(usize) -> bool,
    ) -> Result<EventRows, TableError> {
        let held = self.metadata().range;
        if range.first() < held.first() || range.end() > held.end() {
            return Err(self.damaged(&format!("it lacks some of the worlds {range}")));
        }
        let before = |world: u32| of.worlds.partition_point(|&w| (w as u32) < world);
        let rows: Vec<u32> = range.worlds().map(|w| (before(w.0 + 1) - before(w.0)) as u32).collect();
        let place = before(range.first().0)..before(range.end());
        let columns = self.event_columns(catalogue, of.group, &place, &rows, wants)?;
        Ok(EventRows { entity: of.entity, range, rows, columns })
    }

    /// The columns that are wanted; others are empty.
    fn event_columns(
        &self,
        catalogue: &Catalogue,
        group: usize,
        place: &Range<usize>,
        rows: &[u32],
        wants: impl Fn(usize) -> bool,
    ) -> Result<Vec<OwnedEventValues>, TableError> {
        let circular = || self.damaged("its event columns are expected from each other");
        let order = catalogue.restoring_order().ok_or_else(circular)?;
        let count = catalogue.events.len();
        // Columns that others are expected from come before them.
        let mut needed: Vec<bool> = (0..count).map(&wants).collect();
        let expected: Vec<Option<Expected>> = (0..count).map(|column| Expected::of(catalogue, column)).collect();
        for column in order.iter().rev() {
            if let Some(expected) = expected[*column].as_ref().filter(|_| needed[*column]) {
                expected.operands().for_each(|operand| needed[operand] = true);
            }
        }
        let mut columns: Vec<OwnedEventValues> = vec![OwnedEventValues::Label(Vec::new()); count];
        for column in order.into_iter().filter(|column| needed[*column]) {
            let (stored, kind) = (event::FIRST_OWN + column, &catalogue.events[column].kind);
            columns[column] = match &expected[column] {
                None => self.event_column(group, stored, kind, place.clone())?,
                Some(expected) => {
                    let wrong = || self.damaged("an event column is not what the catalogue says");
                    let FlatValues::Integers(residuals) = self.segment().flat(group, stored, place.clone())? else {
                        return Err(wrong());
                    };
                    let read: Vec<EventValues<'_>> = columns.iter().map(OwnedEventValues::borrow).collect();
                    expected.restore(residuals, &read, rows).ok_or_else(wrong)?
                }
            };
        }
        let unwanted = columns.iter_mut().enumerate().filter(|(column, _)| !wants(*column));
        unwanted.for_each(|(_, values)| *values = OwnedEventValues::Label(Vec::new()));
        Ok(columns)
    }

    fn event_column(
        &self,
        group: usize,
        column: usize,
        kind: &EventKind,
        rows: Range<usize>,
    ) -> Result<OwnedEventValues, TableError> {
        let wrong = || self.damaged("an event column is not what the catalogue says");
        let narrow = |v: i32, null: i32| if v == i32::MIN { null } else { v };
        Ok(match (self.segment().flat(group, column, rows)?, kind) {
            (FlatValues::Texts { codes: places, dictionary: words }, EventKind::Label(labels)) => {
                let code = |word: &String| labels.iter().position(|l| l == word).map(|c| c as u8);
                let codes: Vec<u8> = words.iter().map(code).collect::<Option<_>>().ok_or_else(wrong)?;
                let of = |&p: &u32| if p == u32::MAX { Some(NULL_LABEL) } else { codes.get(p as usize).copied() };
                OwnedEventValues::Label(places.iter().map(of).collect::<Option<_>>().ok_or_else(wrong)?)
            }
            (FlatValues::Integers(v), EventKind::I8) => {
                let values = v.into_iter().map(|v| i8::try_from(narrow(v, i32::from(NULL_I8))));
                OwnedEventValues::I8(values.collect::<Result<_, _>>().map_err(|_| wrong())?)
            }
            (FlatValues::Integers(v), EventKind::I16) => {
                let values = v.into_iter().map(|v| i16::try_from(narrow(v, i32::from(NULL_I16))));
                OwnedEventValues::I16(values.collect::<Result<_, _>>().map_err(|_| wrong())?)
            }
            (FlatValues::Reals { values, valid }, EventKind::F64) => reals(&values, valid.as_deref()),
            // NULL in the segment is NULL in the block.
            (FlatValues::Integers(v), EventKind::I32) => OwnedEventValues::I32(v),
            _ => return Err(wrong()),
        })
    }
}
