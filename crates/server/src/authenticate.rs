//! Authenticates requests by their token.

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;

use crate::access::{Access, Peer};
use crate::app::App;
use crate::error::Refusal;

/// Attaches the token's permissions to a request before reading its body.
pub(crate) async fn check(State(app): State<App>, mut request: Request, next: Next) -> Result<Response, Response> {
    let access = match &app.tokens {
        None => Access::all(),
        Some(tokens) => {
            let from = request.extensions().get::<Peer>().copied();
            let Some(token) = token_of(request.headers(), request.uri()) else {
                return Err(unauthorized("send a token: authorization: Bearer TOKEN, or x-api-key: TOKEN"));
            };
            // An unreadable token file refuses every token: one of them may have been revoked.
            let found = tokens.find(&token).map_err(|error| {
                tracing::error!(%error, "cannot read the tokens");
                let text = "the server cannot check tokens now: see its log";
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5).into_response()
            })?;
            let Some(grant) = found else {
                if let Some(Peer(address)) = from
                    && !app.failures.slow_down(address).await
                {
                    let text = "too many failed logins: retry with a valid token";
                    return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(5).into_response());
                }
                return Err(unauthorized("unknown or revoked token"));
            };
            Access::of(grant)
        }
    };
    request.extensions_mut().insert(access);
    Ok(next.run(request).await)
}

fn unauthorized(text: &str) -> Response {
    let mut response = Refusal::new(StatusCode::UNAUTHORIZED, text).into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

#[derive(Deserialize)]
struct Password {
    p: Option<String>,
}

/// The token, from any place used by clients of this server, of Arc and of both versions of line protocol.
fn token_of(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        let rest = rest.trim();
        return match scheme.to_ascii_lowercase().as_str() {
            "bearer" | "token" => Some(rest.to_owned()),
            "basic" => {
                let pair = String::from_utf8(BASE64.decode(rest).ok()?).ok()?;
                Some(pair.split_once(':')?.1.to_owned())
            }
            _ => None,
        };
    }
    if let Some(key) = headers.get("x-api-key") {
        return Some(key.to_str().ok()?.to_owned());
    }
    Query::<Password>::try_from_uri(uri).ok()?.0.p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_wherever_clients_put_it() {
        let found = |name: &'static str, value: &str, uri: &'static str| {
            let mut headers = HeaderMap::new();
            if !name.is_empty() {
                headers.insert(name, value.parse().unwrap());
            }
            token_of(&headers, &Uri::from_static(uri))
        };
        let some = Some("mw_1".to_owned());
        assert_eq!(found("authorization", "Bearer mw_1", "/"), some);
        assert_eq!(found("authorization", "token  mw_1", "/"), some);
        assert_eq!(found("authorization", "Basic dTptd18x", "/"), some);
        assert_eq!(found("x-api-key", "mw_1", "/"), some);
        assert_eq!(found("", "", "/write?db=d&u=me&p=mw_1"), some);
        for (name, value) in
            [("authorization", "Digest mw_1"), ("authorization", "Basic ???"), ("authorization", "mw_1")]
        {
            assert_eq!(found(name, value, "/?p=mw_1"), None, "{value}");
        }
        assert_eq!(found("", "", "/write?db=d"), None);
    }
}
