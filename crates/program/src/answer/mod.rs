//! Reads a program's answer to a request.

mod arrow;
mod json;

use crate::error::ProgramError;
use crate::grid::{Fault, Grid};
use crate::process::Process;

/// Names of columns beside those of outcomes.
const WORLD: &str = "world";
const ENTITY: &str = "entity";

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
pub(crate) fn read(process: &mut Process, grid: &mut Grid) -> Result<(), Refused> {
    match process.peek()? {
        arrow::FIRST => arrow::read(process, grid)?,
        json::FIRST | b'\n' | b'\r' => json::read(process, grid)?,
        _ => {
            let rubbish = process.rubbish()?;
            let wanted = "an answer is an Arrow stream, or lines that are JSON objects";
            return Err(ProgramError::Protocol(format!("{rubbish}: {wanted}")).into());
        }
    }
    Ok(grid.check_complete()?)
}

/// Maximum bytes of an answer with so many records and outcomes.
pub(crate) fn bytes_max(records: usize, outcomes: usize) -> u64 {
    const FIXED: u64 = 1 << 20;
    /// World, entity and what frames them.
    const RECORD: u64 = 256;
    const VALUE: u64 = 64;
    FIXED + records as u64 * (RECORD + VALUE * outcomes as u64)
}
