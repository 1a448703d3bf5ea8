//! Settings from flags, the environment and a file.

use std::path::Path;

use crate::served::Served;
use crate::support::program;

fn config(words: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let output = program(&["config"]).args(words).envs(environment.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn write(folder: &Path, text: &str) -> String {
    let path = folder.join("server.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn flags_win_over_the_environment_and_that_over_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(
        folder.path(),
        "flush-rows = 1000\nmemory = 64\ncompact = 4\ncodec = \"zstd:3\"\nunique = \"cpu=host;metrics.mem=host,rack\"\n",
    );
    let environment = [("MANYWORLDS_MEMORY", "128"), ("MANYWORLDS_FLUSH_ROWS", "2000")];
    let (code, said, error) = config(&["--config", &file, "--flush-rows", "3000"], &environment);
    assert_eq!(code, Some(0), "{error}");
    for line in [
        "flush-rows = 3000 # flag".to_owned(),
        "memory = 128 # environment MANYWORLDS_MEMORY".to_owned(),
        format!("unique = \"cpu=host;metrics.mem=host,rack\" # file {file}"),
        "partition = \"none\" # default".to_owned(),
        format!("compact = 4 # file {file}"),
        format!("codec = \"zstd:3\" # file {file}"),
        "listen = \"127.0.0.1:8080\" # default".to_owned(),
        "# token-file is not set".to_owned(),
    ] {
        assert!(said.lines().any(|l| l == line), "{line:?} is not in\n{said}");
    }
    // The printed settings are a valid file with the same meaning.
    let again = write(folder.path(), &said);
    let (code, twice, error) = config(&["--config", &again], &[]);
    assert_eq!(code, Some(0), "{error}");
    let values = |text: &str| text.lines().map(|l| l.split(" # ").next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(values(&said), values(&twice));
}

#[test]
fn a_file_of_settings_that_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        ("flush-row = 1", "did you mean flush-rows"),
        ("config = \"other.toml\"", "no setting \"config\""),
        ("flush-rows = 0", "--flush-rows"),
        ("flush-rows = [1]", "flush-rows is of type array: write a text or a whole number"),
        ("listen = \"here\"", "--listen"),
        ("tls-cert = \"a.pem\"", "--tls-key"),
        ("unique = \"cpu\"", "write TABLE=COLUMN,COLUMN"),
        ("partition = \"week\"", "--partition"),
        ("flush-rows", "is not valid TOML"),
    ] {
        let file = write(folder.path(), text);
        let (code, _, said) = config(&["--config", &file], &[]);
        assert!(code == Some(2) && said.contains(words) && said.contains(&file), "{text}: {code:?} {said}");
    }
    let (code, _, said) = config(&["--config", "/nowhere.toml"], &[]);
    assert!(code == Some(2) && said.contains("/nowhere.toml"), "{said}");
}

#[test]
fn a_server_obeys_its_file() {
    let data = tempfile::tempdir().unwrap();
    let file = write(data.path(), "listen = \"127.0.0.1:0\"\nmemory = 7\n");
    let server = Served::start_on(data.path(), &["--config", &file]);
    let said = server.send("GET", "/metrics", &[], b"").text();
    assert!(said.contains(&format!("manyworlds_waiting_bytes_limit {}", 7 << 20)), "{said}");
}
