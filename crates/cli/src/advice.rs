//! Adds the flag or command to use to an error; libraries name neither.

use ask::AskError;
use ensemble::{EnsembleError, QuestionError};
use fleet::FleetError;
use import::{ImportError, WideError};
use model::ModelsError;
use server::ServerError;
use sql::QueryError;

/// The error with its causes and the advice.
pub(crate) fn explain(error: &anyhow::Error) -> String {
    let advice = error.chain().find_map(|cause| {
        None.or_else(|| cause.downcast_ref().and_then(on_ensemble))
            .or_else(|| match cause.downcast_ref()? {
                QuestionError::Ensemble(error) => on_ensemble(error),
                QuestionError::TooFew(_) => Some("set the minimum with --min-worlds N".to_owned()),
                _ => None,
            })
            .or_else(|| match cause.downcast_ref()? {
                QueryError::Ensemble(error) => on_ensemble(error),
                QueryError::Unreadable(error) => on_ensemble(error),
                _ => None,
            })
            .or_else(|| match cause.downcast_ref()? {
                FleetError::Ensemble(EnsembleError::Taken { .. }) => {
                    Some("replace it with --replace, or choose another --name".to_owned())
                }
                FleetError::Ensemble(error) => on_ensemble(error),
                _ => None,
            })
            .or_else(|| match cause.downcast_ref()? {
                AskError::Memory { .. } => Some("or allow more with --memory".to_owned()),
                _ => None,
            })
            .or_else(|| match cause.downcast_ref()? {
                ModelsError::Load { name, .. } if name.starts_with(program::PREFIX) => {
                    Some("name it with --program COMMAND".to_owned())
                }
                _ => None,
            })
            .or_else(|| cause.downcast_ref().and_then(on_import))
            .or_else(|| match cause.downcast_ref()? {
                WideError::Columns { .. } | WideError::Entity { .. } => Some("choose it with --kind KIND".to_owned()),
                WideError::Repeated { .. } => Some("choose them with --columns".to_owned()),
                _ => None,
            })
            .or_else(|| cause.downcast_ref().and_then(on_server))
    });
    advice.map_or_else(|| format!("{error:#}"), |advice| format!("{error:#}; {advice}"))
}

fn on_ensemble(error: &EnsembleError) -> Option<String> {
    match error {
        EnsembleError::Taken { .. } => {
            Some("resume it with --resume, replace it with --replace, or choose another --name".to_owned())
        }
        EnsembleError::Incomplete { .. } => Some("complete it with --resume".to_owned()),
        EnsembleError::Damaged { name, .. } => {
            Some(format!("replace it with `manyworlds run --replace`, or remove it with `manyworlds drop {name}`"))
        }
        _ => None,
    }
}

fn on_import(error: &ImportError) -> Option<String> {
    let advice = match error {
        ImportError::Ensemble(error) => return on_ensemble(error),
        ImportError::Taken { .. } => "replace it with --replace, add worlds with --append, or choose another name",
        ImportError::Interrupted { .. } | ImportError::Kept { .. } => "import it again with --replace",
        ImportError::Memory { .. } => "--memory sets the limit",
        ImportError::Begins { expected: 0, first } => {
            return Some(format!("--first-world {first} counts from {first}"));
        }
        ImportError::Again { .. } => "--again appends them once more",
        ImportError::Kind { .. } => "--kind OUTCOME=KIND declares another kind of a new ensemble",
        _ => return None,
    };
    Some(advice.to_owned())
}

fn on_server(error: &ServerError) -> Option<String> {
    let advice = match error {
        ServerError::Open { .. } => "require tokens with --token-file F, or listen on 127.0.0.1",
        ServerError::Plain { .. } => "encrypt with --tls-cert and --tls-key, or let --pg listen on 127.0.0.1",
        ServerError::Tokens(_) => "`manyworlds token create` writes a token file",
        _ => return None,
    };
    Some(advice.to_owned())
}
