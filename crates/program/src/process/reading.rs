//! Reads what a program prints, and notices while nothing comes that the program is gone or nobody waits any more.

use std::io::{self, BufRead as _, Read as _};
use std::time::Duration;

use model::Stop;

use super::{Process, shown};
use crate::error::ProgramError;

/// Time between two looks at a silent program.
const LOOK: Duration = Duration::from_millis(500);

/// The output of a program that answers.
pub(crate) struct Reading<'a> {
    pub(super) process: &'a mut Process,
    /// Called while nothing comes.
    pub(super) waiting: &'a mut dyn FnMut() -> Result<(), Stop>,
}

impl Reading<'_> {
    /// Waits until the next read returns at once.
    fn ready(&mut self) -> Result<(), ProgramError> {
        loop {
            let output = self.process.output.get_ref();
            if !self.process.output.buffer().is_empty() || output.wait(LOOK.min(output.time_left()))? {
                return Ok(());
            }
            if output.time_left().is_zero() {
                return Err(self.process.failed(io::ErrorKind::TimedOut.into()));
            }
            if let Some(error) = self.process.left_behind() {
                // It may have printed after the last look.
                let is_ready = self.process.output.get_ref().wait(Duration::ZERO)?;
                return if is_ready { Ok(()) } else { Err(error) };
            }
            (self.waiting)().map_err(ProgramError::Stopped)?;
        }
    }

    /// What is there to read; not empty.
    fn filled(&mut self) -> Result<&[u8], ProgramError> {
        self.ready()?;
        if let Err(error) = self.process.output.fill_buf() {
            return Err(self.process.failed(error));
        }
        if self.process.output.buffer().is_empty() {
            return Err(self.process.failed(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(self.process.output.buffer())
    }

    /// The next byte, which stays unread.
    pub(crate) fn peek(&mut self) -> Result<u8, ProgramError> {
        Ok(self.filled()?[0])
    }

    /// Fills `into` from the output.
    pub(crate) fn read(&mut self, mut into: &mut [u8]) -> Result<(), ProgramError> {
        while !into.is_empty() {
            self.ready()?;
            match self.process.output.read(into) {
                Ok(0) => return Err(self.process.failed(io::ErrorKind::UnexpectedEof.into())),
                Ok(length) => into = &mut into[length..],
                Err(error) => return Err(self.process.failed(error)),
            }
        }
        Ok(())
    }

    /// Reads a line of at most `bytes_max` bytes, without its end.
    pub(crate) fn line(&mut self, line: &mut Vec<u8>, bytes_max: u64) -> Result<(), ProgramError> {
        line.clear();
        while line.pop_if(|last| *last == b'\n').is_none() {
            if line.len() as u64 > bytes_max {
                return Err(ProgramError::LongLine(bytes_max));
            }
            let mut filled = self.filled()?;
            let read = filled.read_until(b'\n', line)?;
            self.process.output.consume(read);
        }
        if line.len() as u64 > bytes_max {
            return Err(ProgramError::LongLine(bytes_max));
        }
        line.pop_if(|last| *last == b'\r');
        Ok(())
    }

    /// What the program printed, for a message.
    pub(crate) fn rubbish(&mut self) -> Result<String, ProgramError> {
        let text = self.filled()?;
        Ok(match text {
            _ if text.starts_with(&[0xFF; 4]) => "an Arrow stream".to_owned(),
            _ if text.starts_with(b"ARROW1") => "an Arrow file".to_owned(),
            _ => shown(text.split(|byte| *byte == b'\n').next().unwrap_or_default()),
        })
    }

    /// The process, for its memory and limits.
    pub(crate) fn process(&mut self) -> &mut Process {
        self.process
    }
}
