//! HTTPS with a certificate made by the test.

use std::path::Path;
use std::process::{Command, Output};

use crate::served::Served;
use crate::support::failure;

/// Makes `NAME.pem` and `NAME.key`, for this machine's loopback address.
fn certificate(folder: &Path, name: &str) -> (String, String) {
    let path = |suffix: &str| folder.join(format!("{name}.{suffix}")).to_str().unwrap().to_owned();
    let (certificate, key) = (path("pem"), path("key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (certificate, key)
}

fn curl(words: &[&str]) -> Output {
    Command::new("curl").args(["-sS", "--max-time", "20"]).args(words).output().unwrap()
}

#[test]
fn https_is_spoken_in_both_versions_of_http() {
    let data = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate(data.path(), "server");
    let server = Served::start(data.path(), &["--tls-cert", &certificate, "--tls-key", &key]);
    let url = format!("https://{}/write?db=d", server.address);
    for (flag, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let words = ["--cacert", &certificate, flag, "-w", "%{http_code} %{http_version}", "-d", "cpu load=1 1", &url];
        let output = curl(&words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, format!("204 {version}"), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let plain = curl(&["-d", "cpu load=1 2", &format!("http://{}/write?db=d", server.address)]);
    assert!(!plain.status.success(), "nothing is taken in the clear");
    assert!(server.stop().contains("flushed all rows"));
}

#[test]
fn a_changed_certificate_is_served_without_restart() {
    let data = tempfile::tempdir().unwrap();
    let (old, old_key) = certificate(data.path(), "old");
    let (new, new_key) = certificate(data.path(), "new");
    let (certificate, key) = certificate(data.path(), "server");
    let put = |from: &str, to: &str| {
        std::fs::copy(from, format!("{to}.part")).unwrap();
        std::fs::rename(format!("{to}.part"), to).unwrap();
    };
    put(&old, &certificate);
    put(&old_key, &key);
    let server = Served::start(data.path(), &["--tls-cert", &certificate, "--tls-key", &key]);
    let url = format!("https://{}/health", server.address);
    let trusted = |ca: &str| curl(&["--cacert", ca, &url]).status.success();
    assert_eq!((trusted(&old), trusted(&new)), (true, false));
    put(&new, &certificate);
    assert_eq!((trusted(&old), trusted(&new)), (true, false), "half of a new pair is no good: keeping the old one");
    put(&new_key, &key);
    assert_eq!((trusted(&old), trusted(&new)), (false, true));
    std::fs::write(&certificate, "no certificate").unwrap();
    assert!(trusted(&new), "keeping the old one");
    let said = server.stop();
    assert_eq!(said.matches("keeping the old one").count(), 2, "{said}");
}

#[test]
fn a_certificate_that_cannot_be_used_is_named() {
    let data = tempfile::tempdir().unwrap();
    let (one, one_key) = certificate(data.path(), "one");
    let (_, other_key) = certificate(data.path(), "other");
    let serve = |certificate: &str, key: &str| {
        let words = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", certificate, "--tls-key", key];
        failure(data.path(), &words, 2)
    };
    assert!(serve("/nowhere.pem", &one_key).contains("/nowhere.pem"));
    assert!(serve(&one, "/nowhere.key").contains("/nowhere.key"));
    assert!(serve(&one_key, &one_key).contains("holds no certificate"));
    let said = serve(&one, &other_key);
    assert!(said.contains("other.key") && said.contains("does not belong to"), "{said}");
    let said = failure(data.path(), &["serve", "--tls-cert", &one], 2);
    assert!(said.contains("--tls-key"), "{said}");
}
