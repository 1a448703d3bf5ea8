//! Error replies about runs. The field `parameter` or `field` says which input of a form is wrong.

use axum::http::StatusCode;
use definitions::DefinitionsError;
use ensemble::EnsembleError;
use fleet::FleetError;
use model::ParameterError;
use run::RequestError;
use serde_json::json;

use crate::error::{Refusal, UNKNOWN_NAME};

const TAKEN: &str = "taken";
const STATE: &str = "state";
const MODEL: &str = "model";

/// The ensemble is not in a state that allows this.
pub(crate) fn conflict(text: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::CONFLICT, text).of_kind(STATE)
}

pub(crate) fn no_model(ensemble: &str, reason: &str) -> Refusal {
    conflict(format!("ensemble {ensemble:?} cannot be played here: {reason}")).of_kind(MODEL)
}

pub(crate) fn of_parameters(error: &ParameterError) -> Refusal {
    let refusal = Refusal::bad(error.to_string());
    match error.parameter() {
        Some(name) => refusal.with("parameter", json!(name)).with("field", json!("parameters")),
        None => refusal.with("field", json!("parameters")),
    }
}

pub(crate) fn of_request(error: RequestError) -> Refusal {
    let field = match error {
        RequestError::Parameters(error) => return of_parameters(&error),
        RequestError::Name(_) => "name",
        RequestError::Worlds(_) | RequestError::NoRange => "worlds",
        RequestError::TakesNone { .. } | RequestError::Undefined { .. } | RequestError::Faults { .. } => "definition",
        RequestError::Outcome(_) | RequestError::NoOutcome(_) | RequestError::Goal(_) => "until",
        RequestError::FirstWorld(_) => "model",
    };
    Refusal::bad(error.to_string()).with("field", json!(field))
}

pub(crate) fn of_ensemble(error: EnsembleError) -> Refusal {
    let text = error.to_string();
    match error {
        EnsembleError::Taken { .. } => {
            let text = format!("{text}: choose another name, or replace or extend it");
            Refusal::new(StatusCode::CONFLICT, text).of_kind(TAKEN).with("field", json!("name"))
        }
        EnsembleError::Incomplete { .. } | EnsembleError::Extension { .. } | EnsembleError::Version { .. } => {
            conflict(text)
        }
        error => error.into(),
    }
}

pub(crate) fn of_fleet(error: FleetError) -> Refusal {
    let text = error.to_string();
    match error {
        FleetError::Ensemble(error) => of_ensemble(error),
        FleetError::Unknown { .. } => Refusal::new(StatusCode::NOT_FOUND, text).of_kind(UNKNOWN_NAME),
        FleetError::State { .. } => conflict(text),
        FleetError::Ledger { .. } | FleetError::Broker { .. } => {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
        }
        FleetError::Migration { .. } | FleetError::Address { .. } | FleetError::Thread(_) => Refusal::internal(text),
    }
}

pub(crate) fn of_definitions(error: &DefinitionsError) -> Refusal {
    let text = error.to_string();
    match error {
        DefinitionsError::Unknown(_) | DefinitionsError::Version { .. } => {
            Refusal::new(StatusCode::NOT_FOUND, text).of_kind(UNKNOWN_NAME)
        }
        DefinitionsError::Model { .. } => Refusal::new(StatusCode::CONFLICT, text).of_kind(TAKEN),
        DefinitionsError::Large { .. } => Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text),
        DefinitionsError::Name(_) => Refusal::bad(text).with("field", json!("name")),
        DefinitionsError::Io { .. } => Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5),
        DefinitionsError::Damaged { .. } => Refusal::internal(text),
    }
}
