//! Creates, lists and revokes tokens over HTTP.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::Access;
use crate::app::App;
use crate::error::{Refusal, UNKNOWN_NAME};
use crate::query::Parameters;
use crate::questions::broken;
use crate::tokens::{Grant, TokenError, TokenFile};

/// Lists the tokens with their permissions.
pub(crate) async fn list(
    State(app): State<App>,
    Extension(access): Extension<Access>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let grants = app.change_tokens(&access, TokenFile::list).await?;
    Ok(Json(grants.iter().map(Grant::to_json).collect()))
}

/// Creates a token, and shows it once.
pub(crate) async fn create(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    access.may_administer()?;
    let grant: Grant = app.question(body).await?;
    let token = app.change_tokens(&access, |file| file.create(grant)).await?;
    Ok(Json(json!({"token": token})))
}

#[derive(Deserialize)]
pub(crate) struct Named {
    name: Option<String>,
}

/// Revokes a token at once.
pub(crate) async fn revoke(
    State(app): State<App>,
    Extension(access): Extension<Access>,
    Parameters(Named { name }): Parameters<Named>,
) -> Result<StatusCode, Refusal> {
    access.may_administer()?;
    let name = name.ok_or_else(|| Refusal::bad("a name is missing: send ?name=NAME"))?;
    app.change_tokens(&access, move |file| file.revoke(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl App {
    async fn change_tokens<T: Send + 'static>(
        &self,
        access: &Access,
        change: impl FnOnce(&TokenFile) -> Result<T, TokenError> + Send + 'static,
    ) -> Result<T, Refusal> {
        access.may_administer()?;
        let Some(path) = self.settings.token_file.clone() else {
            let text = "the server has no tokens, and everyone on this machine may do everything: create a token file \
                        with a token that manages tokens, and start the server with it (setting token-file)";
            return Err(Refusal::new(StatusCode::CONFLICT, text));
        };
        // Waits for a lock, and for the disk.
        let changed = tokio::task::spawn_blocking(move || change(&TokenFile::new(path))).await;
        changed.map_err(|error| broken(&error))?.map_err(|error| refused(&error))
    }
}

fn refused(error: &TokenError) -> Refusal {
    let text = error.to_string();
    match error {
        TokenError::Taken { .. } => Refusal::new(StatusCode::CONFLICT, text),
        TokenError::Unknown(_) => Refusal::new(StatusCode::NOT_FOUND, text).of_kind(UNKNOWN_NAME),
        TokenError::Name { .. } | TokenError::Useless { .. } | TokenError::Limited { .. } => Refusal::bad(text),
        TokenError::Io { .. } | TokenError::Malformed { .. } | TokenError::Random(_) => {
            tracing::error!(%text, "cannot change the tokens");
            let text = "the server cannot change its tokens now: see its log";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
        }
    }
}
