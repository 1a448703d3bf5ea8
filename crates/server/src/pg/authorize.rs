//! Tokens as passwords.

use super::error::PgError;
use crate::access::Access;
use crate::app::App;

/// PostgreSQL's code for a wrong password.
pub(super) const UNKNOWN_TOKEN: &str = "28P01";

/// The current permissions of a token.
pub(super) fn authorize(app: &App, token: Option<&str>) -> Result<Access, PgError> {
    let Some(tokens) = &app.tokens else { return Ok(Access::all()) };
    let found = tokens.find(token.unwrap_or_default()).map_err(|error| {
        tracing::error!(%error, "cannot read the tokens");
        PgError::fatal("57P03", "the server cannot check tokens now: see its log")
    })?;
    found
        .map(Access::of)
        .ok_or_else(|| PgError::fatal(UNKNOWN_TOKEN, "unknown or revoked token: send a valid one as the password"))
}
