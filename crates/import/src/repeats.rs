//! Finds rows that were appended already.

use arrow::buffer::MutableBuffer;
use ensemble::{Columns, OutcomeRef};
use model::Values;

use crate::before::Before;
use crate::catalogue::Description;
use crate::error::{ImportError, Result};
use crate::kinds::Coded;
use crate::read::Content;

/// Whether all values of the input equal those of the last stored worlds, to the bit.
pub(crate) fn repeats(content: &Content, description: &Description, before: &Before) -> Result<bool> {
    let worlds = content.grid.end(0);
    let Some(first) = (before.worlds as usize).checked_sub(worlds) else { return Ok(false) };
    let columns = Columns::open(before.stored.clone(), 0)?;
    let (mut buffer, mut coded) = (MutableBuffer::new(0), Coded::default());
    for (entity, places) in description.places.iter().enumerate() {
        for (outcome, (place, of)) in places.iter().enumerate() {
            let stored = columns.get(&[OutcomeRef { entity, outcome }])?;
            let mut world = 0;
            while world < worlds {
                // Values in the file are read by range.
                let end = (world - world % content.range_worlds + content.range_worlds).min(worlds);
                let values = content.grid.values(*place, world..end, &mut buffer);
                let values = values.map_err(|cause| ImportError::Spill { doing: "read", cause })?;
                let described = &description.outcomes[*of];
                let scale = f64::from(described.outcome.scale);
                let same =
                    |value: f64, place: usize| value.to_bits() == stored[0].value(first + world + place).to_bits();
                let all = match described.coder.code(values, &mut coded) {
                    Values::I16(v) => v.iter().enumerate().all(|(at, x)| same(f64::from(*x) / scale, at)),
                    Values::I32(v) => v.iter().enumerate().all(|(at, x)| same(f64::from(*x) / scale, at)),
                    Values::F64(v) => v.iter().enumerate().all(|(at, x)| same(*x, at)),
                };
                if !all {
                    return Ok(false);
                }
                world = end;
            }
        }
    }
    Ok(true)
}
