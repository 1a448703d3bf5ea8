//! The page, and the command that opens it.

use std::io::Read as _;
use std::process::{Command, Stdio};

use flate2::read::GzDecoder;

use crate::served::{Reply, Served};
use crate::support::program;

fn get(server: &Served, path: &str, headers: &[(&str, &str)]) -> Reply {
    server.send("GET", path, headers, b"")
}

fn header<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    let lines = reply.head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

/// The paths of the files that the page's head names.
fn assets(index: &str) -> Vec<String> {
    let named = index.split('"').filter(|part| part.starts_with("/assets/"));
    named.map(str::to_owned).collect()
}

#[test]
fn the_page_and_its_files_are_in_the_program() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let index = get(&server, "/", &[]);
    assert_eq!((index.status, header(&index, "content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!((header(&index, "cache-control"), header(&index, "content-encoding")), (Some("no-cache"), None));
    let files = assets(&index.text());
    assert!(files.iter().any(|file| file.rsplit_once('.').is_some_and(|(_, kind)| kind == "js")), "{}", index.text());
    for path in files.iter().map(String::as_str).chain(["/"]) {
        let plain = get(&server, path, &[]);
        let packed = get(&server, path, &[("accept-encoding", "br, gzip")]);
        assert_eq!((plain.status, packed.status), (200, 200), "{path}");
        assert_eq!(
            (header(&packed, "content-encoding"), header(&packed, "vary")),
            (Some("gzip"), Some("accept-encoding"))
        );
        let mut unpacked = Vec::new();
        GzDecoder::new(&*packed.body).read_to_end(&mut unpacked).unwrap();
        assert!(!unpacked.is_empty() && unpacked == plain.body, "{path}");
        let expected = if path == "/" { "no-cache" } else { "public, max-age=31536000, immutable" };
        assert_eq!(header(&plain, "cache-control"), Some(expected), "{path}");
        let head = server.send("HEAD", path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(header(&plain, name), Some(value), "{path}");
        }
        let policy = header(&plain, "content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.split("; ").any(|other| other == part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
    }
    // Views have paths of their own, which the page itself reads.
    for path in ["/ui", "/ui/", "/ui/ensembles/season", "/ui/sql?q=SELECT%201"] {
        assert_eq!(get(&server, path, &[]).body, index.body, "{path}");
    }
    for path in ["/assets/", "/assets/none.js", "/assets/../Cargo.toml", "/assets/%2e%2e/files.rs", "/index.html"] {
        let missing = get(&server, path, &[]);
        assert_eq!(missing.status, 404, "{path}");
        assert!(missing.json()["error"].is_string(), "{path}");
    }
    assert_eq!(server.post("/", b"").status, 405);
}

#[test]
fn an_unchanged_page_is_not_sent_again() {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[]);
    let tag = header(&get(&server, "/", &[]), "etag").unwrap().to_owned();
    assert_eq!(header(&get(&server, "/ui/sql", &[("accept-encoding", "gzip")]), "etag"), Some(tag.as_str()));
    for known in [tag.clone(), format!("\"other\", {tag}")] {
        let again = get(&server, "/", &[("if-none-match", &known)]);
        assert_eq!((again.status, again.body.len(), header(&again, "etag")), (304, 0, Some(tag.as_str())), "{known}");
    }
    for known in ["\"other\"", "", "W/\"\""] {
        assert_eq!(get(&server, "/", &[("if-none-match", known)]).status, 200, "{known}");
    }
}

#[test]
fn the_page_needs_no_token_and_data_does() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let made = program(&["token", "create", "all", "--read", "--token-file"]).arg(&file).output().unwrap();
    assert!(made.status.success());
    let server = Served::start(data.path(), &["--token-file", file.to_str().unwrap()]);
    let index = get(&server, "/", &[]);
    assert_eq!(index.status, 200);
    for file in assets(&index.text()) {
        assert_eq!(get(&server, &file, &[]).status, 200, "{file}");
    }
    assert_eq!(get(&server, "/api/v1/ensembles", &[]).status, 401);
}

#[test]
fn ui_starts_a_server_or_finds_one() {
    let data = tempfile::tempdir().unwrap();
    let mut first = program(&["ui", "--no-open", "--listen", "127.0.0.1:0", "--data"]);
    let mut first = first.arg(data.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = std::io::BufReader::new(first.stdout.take().unwrap());
    let mut address = String::new();
    std::io::BufRead::read_line(&mut stdout, &mut address).unwrap();
    let listen = address.trim().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
    // The browser is a program that notes what it was given.
    let noted = data.path().join("noted");
    let script = data.path().join("browser");
    std::fs::write(&script, format!("#!/bin/sh\necho \"$@\" > {}\n", noted.display())).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&script).status().unwrap().success());
    let second = program(&["ui", "--listen", &listen, "--data"]).arg(data.path()).env("BROWSER", &script).output();
    let second = second.unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.success() && said.contains("listens on"), "{said}");
    assert_eq!(String::from_utf8_lossy(&second.stdout), address);
    let began = std::time::Instant::now();
    while !std::fs::read_to_string(&noted).is_ok_and(|text| text.ends_with('\n')) {
        assert!(began.elapsed() < std::time::Duration::from_mins(1), "no browser was started");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(std::fs::read_to_string(&noted).unwrap(), address);
    let missing =
        program(&["ui", "--listen", &listen, "--data"]).arg(data.path()).env("BROWSER", "/no/browser").output();
    let said = String::from_utf8_lossy(&missing.unwrap().stderr).into_owned();
    assert!(said.contains("cannot start /no/browser") && said.contains("open the address"), "{said}");
    assert!(Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap().success());
    assert!(first.wait().unwrap().success());
}
