//! Sessions of browsers: who asks, logging in with a token, and logging out.
//!
//! The cookie holds the token itself, so it is checked in each request like a token from anywhere else, and is worth
//! nothing once the token is revoked. Scripts cannot read it.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::{Access, Peer};
use crate::app::App;
use crate::authenticate::{cookie_name, find};
use crate::error::Refusal;

/// Reports the permissions of the request.
pub(crate) async fn session(State(app): State<App>, Extension(access): Extension<Access>) -> Json<Value> {
    Json(describe(&app, &access))
}

fn describe(app: &App, access: &Access) -> Value {
    json!({
        "tokens": app.tokens.is_some(),
        "name": access.name(),
        "read": access.has(|grant| grant.read),
        "write": access.has(|grant| grant.write),
        "admin": access.may_administer().is_ok(),
        "databases": access.databases(),
        "version": env!("CARGO_PKG_VERSION"),
        "fleet": app.settings.fleet.is_some(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

/// Sets the cookie if the token is valid. A server without tokens needs no cookie.
pub(crate) async fn login(
    State(app): State<App>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let Login { token } = app.question(body).await.map_err(|error| error.after("send {\"token\": \"...\"}"))?;
    let Some(tokens) = &app.tokens else { return Ok(Json(describe(&app, &Access::all())).into_response()) };
    let grant = find(&app, tokens, token.trim(), peer.map(|Extension(peer)| peer)).await?;
    let session = describe(&app, &Access::of(grant));
    Ok(with_cookie(Json(session).into_response(), &cookie(&app, &headers, token.trim(), "")?))
}

/// Removes the cookie.
pub(crate) async fn logout(State(app): State<App>, headers: HeaderMap) -> Result<Response, Refusal> {
    Ok(with_cookie(StatusCode::NO_CONTENT.into_response(), &cookie(&app, &headers, "", "; Max-Age=0")?))
}

fn with_cookie(mut response: Response, cookie: &HeaderValue) -> Response {
    response.headers_mut().append(header::SET_COOKIE, cookie.clone());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The cookie of a token. Ends with the browser's session unless `age` says otherwise.
fn cookie(app: &App, headers: &HeaderMap, token: &str, age: &str) -> Result<HeaderValue, Refusal> {
    let is_plain = |c: u8| c.is_ascii_graphic() && !matches!(c, b'"' | b',' | b';' | b'\\' | b'=');
    if !token.bytes().all(is_plain) {
        return Err(Refusal::bad("the token has characters that cookies cannot hold: create a new one"));
    }
    // A proxy that ends TLS shows in the page's origin only.
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let is_secure = app.settings.tls.is_some() || origin.is_some_and(|origin| origin.starts_with(b"https://"));
    let secure = if is_secure { "; Secure" } else { "" };
    let text = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}", cookie_name(app));
    HeaderValue::from_str(&text).map_err(|error| Refusal::bad(format!("the token cannot be a cookie: {error}")))
}
