//! Authenticates requests by their token.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::Deserialize;

use crate::access::{Access, Peer};
use crate::app::App;
use crate::error::Refusal;
use crate::tokens::{Grant, Tokens};

/// Attaches the token's permissions to a request before reading its body.
pub(crate) async fn check(State(app): State<App>, mut request: Request, next: Next) -> Result<Response, Response> {
    let from = request.extensions().get().copied();
    match access(&app, request.headers(), request.uri(), from).await {
        Ok(access) => request.extensions_mut().insert(access),
        Err(refusal) => {
            let unknown = refusal.status() == StatusCode::UNAUTHORIZED;
            let mut response = refusal.into_response();
            if unknown {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return Err(response);
        }
    };
    Ok(next.run(request).await)
}

/// The permissions of a request.
///
/// # Errors
/// 401 without a valid token, 429 after too many failures, 503 if the server cannot check tokens.
pub(crate) async fn access(app: &App, headers: &HeaderMap, uri: &Uri, from: Option<Peer>) -> Result<Access, Refusal> {
    let Some(tokens) = &app.tokens else { return Ok(Access::all()) };
    let token = match token_of(headers, uri) {
        Some(token) => token,
        None if is_silent(headers) => {
            let cookie = cookie_of(headers, &cookie_name(app)).ok_or_else(no_token)?;
            app.hosts.check_page(uri, headers)?;
            cookie.to_owned()
        }
        None => return Err(no_token()),
    };
    Ok(Access::of(find(app, tokens, &token, from).await?))
}

fn no_token() -> Refusal {
    let text = "send a token: authorization: Bearer TOKEN, or x-api-key: TOKEN";
    Refusal::new(StatusCode::UNAUTHORIZED, text)
}

/// The permissions of a token.
///
/// # Errors
/// See [`access`].
pub(crate) async fn find(app: &App, tokens: &Tokens, token: &str, from: Option<Peer>) -> Result<Arc<Grant>, Refusal> {
    // An unreadable token file refuses every token: one of them may have been revoked.
    let found = tokens.find(token).map_err(|error| {
        tracing::error!(%error, "cannot read the tokens");
        let text = "the server cannot check tokens now: see its log";
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(5)
    })?;
    match (found, from) {
        (Some(grant), _) => Ok(grant),
        (None, Some(Peer(address))) if !app.failures.slow_down(address).await => {
            let text = "too many failed logins: retry with a valid token";
            Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(5))
        }
        (None, _) => Err(Refusal::new(StatusCode::UNAUTHORIZED, "unknown or revoked token")),
    }
}

/// The name of the cookie with a token. Servers on one host share their cookies, whatever their ports.
pub(crate) fn cookie_name(app: &App) -> String {
    format!("manyworlds_{}", app.settings.listen.port())
}

/// Whether no header has a token, valid or not.
fn is_silent(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::AUTHORIZATION) && !headers.contains_key(KEY)
}

/// The value of a cookie; `None` if it is missing or there are several.
fn cookie_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut found = pairs.filter(|(other, _)| *other == name).map(|(_, value)| value);
    found.next().filter(|_| found.next().is_none())
}

/// The header for tokens of clients of Arc.
const KEY: &str = "x-api-key";

#[derive(Deserialize)]
struct Password {
    p: Option<String>,
}

/// The token, from any place used by clients of this server, of Arc and of both versions of line protocol.
pub(crate) fn token_of(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        let rest = rest.trim();
        return match scheme.to_ascii_lowercase().as_str() {
            "bearer" | "token" => Some(rest.to_owned()),
            "basic" => {
                // Some clients leave the padding out.
                let pair = String::from_utf8(BASE64.decode(rest.trim_end_matches('=')).ok()?).ok()?;
                Some(pair.split_once(':')?.1.to_owned())
            }
            _ => None,
        };
    }
    if let Some(key) = headers.get(KEY) {
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
        assert_eq!(found("authorization", "Basic OjE=", "/"), Some("1".to_owned()));
        assert_eq!(found("authorization", "Basic OjE", "/"), Some("1".to_owned()));
        assert_eq!(found("x-api-key", "mw_1", "/"), some);
        assert_eq!(found("", "", "/write?db=d&u=me&p=mw_1"), some);
        for (name, value) in
            [("authorization", "Digest mw_1"), ("authorization", "Basic ???"), ("authorization", "mw_1")]
        {
            assert_eq!(found(name, value, "/?p=mw_1"), None, "{value}");
        }
        assert_eq!(found("", "", "/write?db=d"), None);
    }

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let found = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::COOKIE, value.parse().unwrap());
            }
            cookie_of(&headers, "manyworlds_80").map(str::to_owned)
        };
        let some = Some("mw_1".to_owned());
        assert_eq!(found(&["manyworlds_80=mw_1"]), some);
        assert_eq!(found(&["a=b; manyworlds_8080=mw_2;manyworlds_80=mw_1", "c=d"]), some);
        assert_eq!(found(&["a=b", "manyworlds_80=mw_1"]), some);
        assert_eq!(found(&["manyworlds_80=mw_1; manyworlds_80=mw_1"]), None);
        assert_eq!(found(&["xmanyworlds_80=mw_1; manyworlds_80"]), None);
        assert_eq!(found(&[]), None);
    }
}
