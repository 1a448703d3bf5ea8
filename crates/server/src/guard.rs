//! Protects against requests from foreign web pages.
//!
//! A browser sends requests for any page. DNS rebinding points a foreign page's own name at this server, so the `Host`
//! of a request must be a name of this server. A foreign page can also send requests under its own name and ignore the
//! replies. So a request that may write must not come from a foreign page. Neither header is a secret: other programs
//! can send any header, and authenticate with tokens.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::error::Refusal;

const FETCH_SITE: &str = "sec-fetch-site";

/// The server's host names.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    listen: IpAddr,
    names: Vec<String>,
}

impl Hosts {
    /// The names of a server that listens on `listen`; `names` adds to those of the machine.
    pub(crate) fn new(listen: IpAddr, names: &[String]) -> Self {
        Self { listen, names: names.iter().map(|name| plain(name)).collect() }
    }

    fn has(&self, host: &str) -> bool {
        let host = plain(host);
        if let Ok(address) = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            let address = address.to_canonical();
            // DNS rebinding needs a name, so addresses are safe. A server on all addresses has any address.
            return address.is_loopback() || self.listen.is_unspecified() || address == self.listen.to_canonical();
        }
        host == "localhost" || host.ends_with(".localhost") || self.names.contains(&host)
    }

    /// Whether to answer a request.
    fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let to = self.addressed(uri, headers)?;
        if method.is_safe() { Ok(()) } else { self.check_sender(headers, to.as_ref()) }
    }

    /// Refuses a request of a page of another site. Browsers add cookies to requests by themselves, so whoever trusts a
    /// cookie must call this, also for reads.
    ///
    /// # Errors
    /// 403 if `Origin` or `Sec-Fetch-Site` names another site.
    pub(crate) fn check_page(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        self.check_sender(headers, self.addressed(uri, headers)?.as_ref())
    }

    /// The host that a request names, which must be this server's.
    fn addressed(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<Authority>, Refusal> {
        let mut to = None;
        let named = headers.get_all(header::HOST).iter().map(authority);
        for host in uri.authority().cloned().map(Some).into_iter().chain(named) {
            match host {
                Some(host) if self.has(host.host()) && to.as_ref().is_none_or(|first| *first == host) => {
                    to = Some(host);
                }
                Some(host) => {
                    let name = host.host();
                    let text = format!("unknown host {name:?}: the server's operator can add it to its host names");
                    return Err(forbidden(text));
                }
                None => return Err(forbidden("the header host is not a host name")),
            }
        }
        Ok(to)
    }

    fn check_sender(&self, headers: &HeaderMap, to: Option<&Authority>) -> Result<(), Refusal> {
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            return Err(forbidden("a page of another site sent this request: only pages of this server may"));
        }
        headers.get_all(header::ORIGIN).iter().try_for_each(|origin| {
            if self.is_own(origin, to) {
                return Ok(());
            }
            Err(forbidden(format!("a page of {origin:?} sent this request: only pages of this server may")))
        })
    }

    /// Whether an origin belongs to this server's pages. A configured name may be a proxy with another port.
    fn is_own(&self, origin: &HeaderValue, to: Option<&Authority>) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let Some(origin) = origin else { return false };
        let (Some(scheme), Some(host)) = (origin.scheme_str(), origin.authority()) else { return false };
        let port = |of: &Authority| of.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        let is_named = self.names.contains(&plain(host.host()));
        is_named || (self.has(host.host()) && to.is_some_and(|to| port(to) == port(host)))
    }
}

fn forbidden(text: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, text)
}

/// Normalizes a host name.
fn plain(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn authority(value: &HeaderValue) -> Option<Authority> {
    let authority: Authority = value.to_str().ok()?.parse().ok()?;
    (!authority.as_str().contains('@')).then_some(authority)
}

/// Admits requests for this server's names; writes must not come from a foreign page.
pub(crate) async fn check(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Result<Response, Refusal> {
    hosts.admit(request.method(), request.uri(), request.headers())?;
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(hosts: &Hosts, method: &Method, uri: &str, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        hosts.admit(method, &uri.parse().unwrap(), &map).is_ok()
    }

    fn local() -> Hosts {
        Hosts::new([127, 0, 0, 1].into(), &["Tables.Example".to_owned()])
    }

    #[test]
    fn only_names_of_the_server_are_answered() {
        let has = |hosts: &Hosts, host: &str| admits(hosts, &Method::GET, "/", &[("host", host)]);
        for host in
            ["localhost", "LOCALHOST:8080", "localhost.", "a.localhost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:80"]
        {
            assert!(has(&local(), host), "{host}");
        }
        assert!(has(&local(), "tables.example:443"));
        for host in
            ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "notlocalhost", "", "a b"]
        {
            assert!(!has(&local(), host), "{host}");
        }
        assert!(!has(&local(), "u@localhost"));
        let one = Hosts::new([10, 0, 0, 1].into(), &[]);
        assert!(has(&one, "10.0.0.1:80") && has(&one, "localhost") && !has(&one, "10.0.0.2"));
        let all = Hosts::new([0, 0, 0, 0].into(), &[]);
        assert!(has(&all, "192.168.1.7:9000") && has(&all, "[fe80::1]") && !has(&all, "evil.example"));
        assert!(admits(&local(), &Method::GET, "/", &[]), "HTTP/1.0 names no server");
        assert!(!admits(&local(), &Method::GET, "/", &[("host", "localhost"), ("host", "evil.example")]));
        assert!(!admits(&local(), &Method::GET, "http://evil.example/", &[("host", "localhost")]));
        assert!(admits(&local(), &Method::GET, "http://localhost/", &[("host", "localhost")]));
    }

    #[test]
    fn foreign_pages_may_not_write() {
        let post = |headers: &[(&'static str, &str)]| {
            let headers = [&[("host", "localhost:8080")], headers].concat();
            admits(&local(), &Method::POST, "/write", &headers)
        };
        assert!(post(&[]));
        assert!(post(&[("origin", "http://localhost:8080"), ("sec-fetch-site", "same-origin")]));
        assert!(post(&[("origin", "https://tables.example")]));
        assert!(post(&[("sec-fetch-site", "none")]));
        for origin in
            ["http://evil.example", "http://localhost:3000", "null", "http://localhost", "localhost:8080", "x:y:z"]
        {
            assert!(!post(&[("origin", origin)]), "{origin}");
        }
        for site in ["cross-site", "same-site", "?"] {
            assert!(!post(&[("sec-fetch-site", site)]), "{site}");
        }
        let get = [("host", "localhost"), ("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")];
        assert!(admits(&local(), &Method::GET, "/health", &get));
    }

    #[test]
    fn cookies_count_for_own_pages_only() {
        let trusts = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8080"))]);
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            local().check_page(&Uri::from_static("/api/v1/ensembles"), &map).is_ok()
        };
        assert!(trusts(&[]) && trusts(&[("sec-fetch-site", "same-origin")]) && trusts(&[("sec-fetch-site", "none")]));
        // Another port of this machine is the same site, and gets the cookie.
        assert!(!trusts(&[("sec-fetch-site", "same-site")]) && !trusts(&[("origin", "http://localhost:3000")]));
        assert!(!trusts(&[("sec-fetch-site", "cross-site")]) && !trusts(&[("origin", "null")]));
    }
}
