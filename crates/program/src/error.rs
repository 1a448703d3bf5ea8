//! Why a program cannot be used, or cannot play a range.

use std::io;
use std::time::Duration;

use model::Stop;

#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    #[error("cannot split the command line {0:?} into words: a quote is not closed, or it is empty")]
    Words(String),
    #[error("cannot start {program}: {cause}")]
    Start { program: String, cause: io::Error },
    /// A file of the command line cannot be read.
    #[error("cannot read {file}: {cause}")]
    Read { file: String, cause: io::Error },
    #[error("the program does not describe itself: {reason}")]
    Description { reason: String },
    /// It describes itself differently than when it was started first.
    #[error("the program describes itself differently when it is started again: a description must not change")]
    Changed,
    /// The process ended, or closed its output.
    #[error("the program {how}{}", shown(stderr))]
    Ended { how: String, stderr: String },
    #[error("the program did not answer within {} s{}", limit.as_secs_f64(), shown(stderr))]
    TimedOut { limit: Duration, stderr: String },
    #[error("the program printed a line of more than {0} bytes")]
    LongLine(u64),
    #[error("the program printed an answer of more than {0} bytes")]
    LongAnswer(u64),
    /// The output is not as the protocol demands.
    #[error("the program printed {0}")]
    Protocol(String),
    /// The caller wants no answer any more.
    #[error(transparent)]
    Stopped(Stop),
    #[error("cannot exchange data with the program: {0}")]
    Pipe(#[from] io::Error),
}

/// The end of standard error, to follow the reason.
fn shown(stderr: &str) -> String {
    if stderr.is_empty() {
        return "; it wrote nothing to stderr".to_owned();
    }
    said(stderr)
}

/// Lines of standard error, to follow a reason.
pub(crate) fn said(stderr: &str) -> String {
    let lines: Vec<String> = stderr.lines().map(|line| format!("\n  {line}")).collect();
    format!("; the end of its stderr:{}", lines.concat())
}
