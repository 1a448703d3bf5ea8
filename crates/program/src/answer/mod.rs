//! Reads a program's answer to a request.

mod arrow;
mod json;

use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::layout::Layout;
use crate::process::Reading;

/// Why an answer is of no use.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Its records are wrong.
    Fault(Fault),
    /// It cannot be read, or does not come.
    Program(ProgramError),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<ProgramError> for Refused {
    fn from(error: ProgramError) -> Self {
        Self::Program(error)
    }
}

/// Reads an answer into `grid`, which has begun its range.
pub(crate) fn read(reading: &mut Reading<'_>, grid: &mut Grid) -> Result<(), Refused> {
    match reading.peek()? {
        arrow::FIRST => arrow::read(reading, grid)?,
        json::FIRST | b'\n' | b'\r' => json::read(reading, grid)?,
        _ => {
            let rubbish = reading.rubbish()?;
            let wanted = "an answer is an Arrow stream, or lines that are JSON objects";
            return Err(ProgramError::Protocol(format!("{rubbish}: {wanted}")).into());
        }
    }
    Ok(grid.check_complete()?)
}

/// Maximum bytes of an answer with so many records. Events have a limit of their own, because their number is not known.
pub(crate) fn bytes_max(records: usize, layout: &Layout, with_events: bool) -> u64 {
    const FIXED: u64 = 1 << 20;
    /// World, entity and what frames them.
    const RECORD: u64 = 256;
    const VALUE: u64 = 64;
    /// JSON may write a letter as `\u00e9`.
    const LETTER: u64 = 6;
    const EVENTS: u64 = 2 << 30;
    let names = LETTER * layout.record_letters() as u64;
    let record = RECORD + VALUE * layout.outcomes() as u64 + names;
    FIXED + records as u64 * record + if with_events { EVENTS } else { 0 }
}
