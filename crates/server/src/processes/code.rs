//! PostgreSQL's codes for failed queries.

use sql::QueryError;

pub(super) fn code(error: &QueryError) -> &'static str {
    match error {
        QueryError::Syntax { .. } => "42601",
        QueryError::TooLarge { .. } => "54001",
        QueryError::Refused { .. } => "25006",
        QueryError::Unknown(unknown) => match unknown.what.as_str() {
            "no table" => "42P01",
            "no column" => "42703",
            "no function" | "no table function" => "42883",
            _ => "42704",
        },
        QueryError::Arguments { .. } | QueryError::Condition { .. } => "22023",
        QueryError::Memory { .. } => "53200",
        QueryError::Ensemble(_) | QueryError::Unreadable(_) | QueryError::Table(_) | QueryError::Snapshot(_) => "58030",
        QueryError::Invalid { reason } => of_reason(reason),
    }
}

/// Errors about values are recognized by their text only.
fn of_reason(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    let says = |words: &str| reason.contains(words);
    match () {
        () if says("division by zero") => "22012",
        () if says("overflow") => "22003",
        () if says("cannot cast") || says("parse") => "22P02",
        () if says("ambiguous column") => "42702",
        () if says("not implemented") || says("not supported") || says("does not support") => "0A000",
        () if says("type") || says("coerc") => "42804",
        () => "42000",
    }
}
