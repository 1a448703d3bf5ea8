//! Sessions of browsers: cookies, permissions, and tokens that are managed over HTTP.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::served::{Reply, Served};
use crate::support::program;

struct Site {
    _data: tempfile::TempDir,
    file: PathBuf,
    server: Served,
}

fn token(file: &Path, words: &[&str]) -> String {
    let made = program(&["token", "create"]).args(words).arg("--token-file").arg(file).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

/// A server with tokens; the first has the name and the permissions of `words`, and is returned.
fn site(words: &[&str]) -> (Site, String) {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let first = token(&file, words);
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    (Site { _data: data, file, server }, first)
}

impl Site {
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        let own = self.server.address.to_string();
        let base = [("host", own.as_str()), ("content-type", "application/json")];
        self.server.send(method, path, &[&base, headers].concat(), body.to_string().as_bytes())
    }

    /// Logs in as a page of the server does; returns the cookie's name and value.
    fn log_in(&self, token: &str) -> String {
        let origin = format!("http://{}", self.server.address);
        let reply = self.send("POST", "/api/v1/login", &[("origin", &origin)], &json!({"token": token}));
        assert_eq!(reply.status, 200, "{}", reply.text());
        cookie(&reply).split(';').next().unwrap().to_owned()
    }
}

fn cookie(reply: &Reply) -> String {
    let line = reply.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    line.unwrap_or_else(|| panic!("{}", reply.head)).to_owned()
}

#[test]
fn a_cookie_is_a_token_that_scripts_cannot_read() {
    let (site, reader) = site(&["reader", "--read"]);
    let port = site.server.address.port();
    let reply = site.send("POST", "/api/v1/login", &[], &json!({"token": reader}));
    let expected = format!("manyworlds_{port}={reader}; Path=/; HttpOnly; SameSite=Strict");
    assert_eq!(cookie(&reply), expected);
    let session = json!({
        "tokens": true, "name": "reader", "read": true, "write": false, "admin": false, "databases": null,
        "version": env!("CARGO_PKG_VERSION"), "fleet": false,
    });
    assert_eq!(reply.json(), session);
    assert!(reply.head.contains("cache-control: no-store"), "{}", reply.head);
    let cookie_line = site.log_in(&reader);
    let session_of = |headers: &[(&str, &str)]| site.send("GET", "/api/v1/session", headers, &json!({}));
    assert_eq!(session_of(&[("cookie", &cookie_line)]).json(), session);
    assert_eq!(session_of(&[("cookie", &format!("a=b; {cookie_line}; c=d"))]).json(), session);
    assert_eq!(session_of(&[("authorization", &format!("Bearer {reader}"))]).json(), session);
    for (cookie, status) in [
        ("", 401),
        ("manyworlds=x", 401),
        (&*format!("manyworlds_{port}=mw_wrong"), 401),
        (&*format!("{cookie_line}; {cookie_line}x"), 401),
    ] {
        assert_eq!(session_of(&[("cookie", cookie)]).status, status, "{cookie}");
    }
    // A header with a token wins, and a wrong one is refused even beside a good cookie.
    assert_eq!(session_of(&[("cookie", &cookie_line), ("authorization", "Bearer mw_wrong")]).status, 401);
    assert_eq!(session_of(&[("cookie", &cookie_line), ("authorization", "Digest x")]).status, 401);
    let out = site.send("POST", "/api/v1/logout", &[("cookie", &cookie_line)], &json!({}));
    assert_eq!(out.status, 204);
    assert_eq!(cookie(&out), format!("manyworlds_{port}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"));
    // A revoked token ends its sessions.
    token(&site.file, &["other", "--read"]);
    let revoked = program(&["token", "revoke", "reader", "--token-file"]).arg(&site.file).output().unwrap();
    assert!(revoked.status.success());
    assert_eq!(session_of(&[("cookie", &cookie_line)]).status, 401);
}

#[test]
fn cookies_behind_a_proxy_with_tls_are_secure() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let reader = token(&file, &["reader", "--read"]);
    let words = ["--host", "tables.example", "--token-file", file.to_str().unwrap()];
    let server = Served::start(data.path(), &words);
    let headers = [("host", "tables.example"), ("origin", "https://tables.example")];
    let reply = server.send("POST", "/api/v1/login", &headers, json!({"token": reader}).to_string().as_bytes());
    assert!(cookie(&reply).ends_with("; SameSite=Strict; Secure"), "{}", reply.head);
}

#[test]
fn wrong_logins_are_refused_and_slowed_down() {
    let (site, _) = site(&["reader", "--read"]);
    let began = std::time::Instant::now();
    for _ in 0..6 {
        let refused = site.send("POST", "/api/v1/login", &[], &json!({"token": "mw_wrong"}));
        assert_eq!(refused.status, 401, "{}", refused.text());
        assert!(!refused.head.contains("set-cookie"), "{}", refused.head);
    }
    // 10, 20, 40, 80, 160 and 320 ms.
    assert!(began.elapsed() >= std::time::Duration::from_millis(630), "{:?}", began.elapsed());
    for (body, said) in [(json!({}), "token"), (json!({"token": 1}), "token"), (json!([]), "token")] {
        let refused = site.send("POST", "/api/v1/login", &[], &body);
        assert_eq!(refused.status, 400, "{body}");
        assert!(refused.text().contains(said), "{}", refused.text());
    }
}

#[test]
fn cookies_work_for_pages_of_the_server_only() {
    let (site, all) = site(&["all", "--read", "--write", "--admin"]);
    let cookie = site.log_in(&all);
    let own = format!("http://{}", site.server.address);
    let routes = [
        ("GET", "/api/v1/ensembles"),
        ("GET", "/api/v1/tokens"),
        ("GET", "/metrics"),
        ("GET", "/query?q=SHOW%20DATABASES"),
        ("POST", "/api/v1/sql"),
        ("POST", "/write?db=d"),
        ("POST", "/api/v1/tokens"),
        ("DELETE", "/api/v1/tokens?name=all"),
    ];
    for (method, path) in routes {
        let send = |headers: &[(&str, &str)]| {
            let headers = [&[("cookie", cookie.as_str())], headers].concat();
            site.send(method, path, &headers, &json!({"sql": "SELECT 1", "name": "x", "nothing": 1}))
        };
        for foreign in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "http://localhost:3000"), ("sec-fetch-site", "same-site")],
            &[("origin", "null")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
        ] {
            let reply = send(foreign);
            assert_eq!(reply.status, 403, "{method} {path} {foreign:?}: {}", reply.text());
            assert!(!reply.head.contains("access-control-"), "{}", reply.head);
        }
        if path.contains("name=all") {
            continue;
        }
        for own in
            [&[("origin", own.as_str()), ("sec-fetch-site", "same-origin")][..], &[], &[("sec-fetch-site", "none")]]
        {
            assert!(![401, 403].contains(&send(own).status), "{method} {path} {own:?}");
        }
    }
    // Reads with a token in a header are for programs, which no page can make.
    let bearer = format!("Bearer {all}");
    let read = [("authorization", bearer.as_str()), ("origin", "http://evil.example")];
    assert_eq!(site.send("GET", "/api/v1/ensembles", &read, &json!({})).status, 200);
}

#[test]
fn admins_manage_tokens() {
    let (site, admin) = site(&["admin", "--admin"]);
    let bearer = |token: &str| format!("Bearer {token}");
    let send = |method: &str, path: &str, token: &str, body: &Value| {
        site.send(method, path, &[("authorization", &bearer(token))], body)
    };
    let reader = json!({"name": "reader", "databases": ["sim", "ä ?"], "read": true});
    let made = send("POST", "/api/v1/tokens", &admin, &reader);
    assert_eq!(made.status, 200, "{}", made.text());
    let reader = made.json()["token"].as_str().unwrap().to_owned();
    assert!(reader.starts_with("mw_"), "{reader}");
    let session = send("GET", "/api/v1/session", &reader, &json!({})).json();
    assert_eq!((&session["databases"], &session["admin"]), (&json!(["sim", "ä ?"]), &json!(false)));
    let grants = json!([
        {"name": "admin", "databases": [], "read": false, "write": false, "admin": true},
        {"name": "reader", "databases": ["sim", "ä ?"], "read": true, "write": false, "admin": false},
    ]);
    assert_eq!(send("GET", "/api/v1/tokens", &admin, &json!({})).json(), grants);
    let listed = program(&["token", "list", "--format", "json", "--token-file"]).arg(&site.file).output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&listed.stdout).unwrap(), grants);
    // An admin of tokens alone reads and writes no data.
    assert_eq!(send("GET", "/api/v1/ensembles", &admin, &json!({})).status, 403);
    assert_eq!(send("POST", "/write?db=d", &admin, &json!({})).status, 403);
    for (method, path) in
        [("GET", "/api/v1/tokens"), ("POST", "/api/v1/tokens"), ("DELETE", "/api/v1/tokens?name=admin")]
    {
        let refused = send(method, path, &reader, &json!({"name": "x", "admin": true}));
        assert_eq!(refused.status, 403, "{method}");
        assert!(refused.text().contains("may not manage tokens"), "{}", refused.text());
        assert_eq!(site.send(method, path, &[], &json!({})).status, 401);
    }
    for (grant, status, said) in [
        (json!({"name": "reader", "read": true}), 409, "exists already"),
        (json!({"name": "", "read": true}), 400, "cannot name a token"),
        (json!({"name": "a\nb", "read": true}), 400, "cannot name a token"),
        (json!({"name": "none"}), 400, "permits nothing"),
        (json!({"name": "half", "admin": true, "databases": ["d"]}), 400, "some databases only"),
        (json!({"name": "x", "read": true, "extra": 1}), 400, "extra"),
        (json!({"read": true}), 400, "name"),
        (json!("x"), 400, "cannot read the question"),
    ] {
        let refused = send("POST", "/api/v1/tokens", &admin, &grant);
        assert_eq!(refused.status, status, "{grant}: {}", refused.text());
        assert!(refused.text().contains(said), "{grant}: {}", refused.text());
    }
    let unknown = send("DELETE", "/api/v1/tokens?name=readr", &admin, &json!({}));
    assert_eq!(unknown.status, 404);
    assert!(unknown.text().contains("did you mean reader?"), "{}", unknown.text());
    assert_eq!(send("DELETE", "/api/v1/tokens", &admin, &json!({})).status, 400);
    assert_eq!(send("DELETE", "/api/v1/tokens?name=reader", &admin, &json!({})).status, 204);
    assert_eq!(send("GET", "/api/v1/session", &reader, &json!({})).status, 401);
    assert_eq!(send("GET", "/api/v1/tokens", &admin, &json!({})).json().as_array().unwrap().len(), 1);
}

#[test]
fn files_of_older_programs_are_read_and_stay_readable() {
    let (site, reader) = site(&["reader", "--read"]);
    let text = std::fs::read_to_string(&site.file).unwrap();
    assert!(!text.contains("admin"), "an older program must read it: {text}");
    token(&site.file, &["boss", "--read", "--admin"]);
    assert!(std::fs::read_to_string(&site.file).unwrap().contains("admin = true"));
    let bearer = format!("Bearer {reader}");
    assert_eq!(site.send("GET", "/api/v1/session", &[("authorization", &bearer)], &json!({})).status, 200);
    for (words, said) in [(&["x", "--admin", "--database", "d"][..], "cannot be used with"), (&["x"], "--admin")] {
        let refused = program(&["token", "create"]).args(words).arg("--token-file").arg(&site.file).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(said), "{words:?}");
    }
}

#[test]
fn a_server_without_tokens_says_so() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let session = server.send("GET", "/api/v1/session", &[], b"").json();
    let expected = json!({
        "tokens": false, "name": null, "read": true, "write": true, "admin": true, "databases": null,
        "version": env!("CARGO_PKG_VERSION"), "fleet": false,
    });
    assert_eq!(session, expected);
    let login = server.post_json("/api/v1/login", &json!({"token": "anything"}));
    assert_eq!((login.status, login.json()), (200, expected));
    assert!(!login.head.contains("set-cookie"), "{}", login.head);
    for (method, body) in [("GET", ""), ("POST", r#"{"name": "x", "read": true}"#), ("DELETE", "")] {
        let refused = server.send(method, "/api/v1/tokens?name=x", &[], body.as_bytes());
        assert_eq!(refused.status, 409, "{method}");
        assert!(refused.text().contains("token-file"), "{}", refused.text());
    }
}
