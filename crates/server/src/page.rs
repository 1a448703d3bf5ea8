//! The page: files of `ui/dist`, which are in the program.
//!
//! Files need no token, because they hold no data. `/assets/` has files whose names contain a hash of their content, so
//! browsers keep them forever. All other paths of the page have one file, which looks at the path itself.

use std::io::Read as _;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::error::Refusal;

/// Path, content type, and content compressed with gzip.
type File = (&'static str, &'static str, &'static [u8]);

static FILES: &[File] = include!("../../../ui/dist/files.rs");

/// The path of the page itself.
const INDEX: &str = "/";

/// The page's scripts and styles are its own files, it talks to this server only, and no site shows it in a frame.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                              connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; \
                              frame-ancestors 'none'";

/// For files with a hash of their content in their name, and for the page itself.
const FOREVER: &str = "public, max-age=31536000, immutable";
const CHECK_FIRST: &str = "no-cache";

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(index))
        .route("/ui", get(index))
        .route("/ui/", get(index))
        .route("/ui/{*path}", get(index))
        .route("/assets/{*path}", get(asset))
}

async fn index(headers: HeaderMap) -> Result<Response, Refusal> {
    static TAG: LazyLock<Option<HeaderValue>> = LazyLock::new(|| tag(find(INDEX)?.2));
    let file =
        find(INDEX).ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "this program was built without a page"))?;
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let tag = TAG.as_ref().and_then(|tag| tag.to_str().ok()).unwrap_or_default();
    let is_known = known.flat_map(|value| value.split(',')).any(|known| !tag.is_empty() && known.trim() == tag);
    let mut response =
        if is_known { StatusCode::NOT_MODIFIED.into_response() } else { content(file, &headers, CHECK_FIRST)? };
    if let Some(tag) = TAG.as_ref() {
        response.headers_mut().insert(header::ETAG, tag.clone());
    }
    Ok(guarded(response))
}

async fn asset(request: Request) -> Result<Response, Refusal> {
    let no_file = || Refusal::new(StatusCode::NOT_FOUND, "the page has no such file: reload the page");
    let file = find(request.uri().path()).ok_or_else(no_file)?;
    Ok(guarded(content(file, request.headers(), FOREVER)?))
}

fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|(other, ..)| *other == path)
}

/// A weak tag, because the content is the same with and without compression.
fn tag(content: &[u8]) -> Option<HeaderValue> {
    let digest = Sha256::digest(content);
    HeaderValue::from_str(&format!("W/\"{}\"", BASE64.encode(&digest[..9]))).ok()
}

fn content((_, kind, compressed): &File, headers: &HeaderMap, cache: &'static str) -> Result<Response, Refusal> {
    let head = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if takes_gzip(headers) {
        let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
        return Ok((head, encoding, *compressed).into_response());
    }
    let mut plain = Vec::new();
    let read = GzDecoder::new(*compressed).read_to_end(&mut plain);
    read.map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot read the page: {error}")))?;
    Ok((head, plain).into_response())
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(',')).map(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f64>().ok()).unwrap_or(1.0);
        (name, weight)
    });
    codings.any(|(name, weight)| matches!(name.as_str(), "gzip" | "x-gzip" | "*") && weight > 0.0)
}

fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_inflates_and_hashed_names_are_assets() {
        assert!(find(INDEX).is_some(), "the page is missing");
        for (path, kind, compressed) in FILES {
            let mut plain = Vec::new();
            GzDecoder::new(*compressed).read_to_end(&mut plain).unwrap();
            assert!(!plain.is_empty() && kind.contains('/'), "{path}");
            assert!(*path == INDEX || path.starts_with("/assets/"), "{path}");
        }
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let takes = |value: &str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_str(value).unwrap())]))
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("*") && takes("deflate,gzip"));
        assert!(
            !takes("") && !takes("br") && !takes("gzip;q=0") && !takes("gzipped") && !takes_gzip(&HeaderMap::new())
        );
    }
}
