//! The query strings of requests.

use std::error::Error as _;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::Refusal;

/// As [`Query`], but with this server's errors.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let query = Query::from_request_parts(parts, state).await;
        query.map(|Query(query)| Self(query)).map_err(|error| {
            let reason = error.source().map_or_else(|| error.body_text(), ToString::to_string);
            Refusal::bad(format!("cannot read the query string: {reason}"))
        })
    }
}
