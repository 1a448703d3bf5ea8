//! `PostgreSQL`'s protocol, message by message.

use crate::postgres::{Client, cancel, code, columns, kinds, parameters, rows, tags, words};
use crate::served::Served;
use crate::support::program;

/// A short query with 10^12 rows.
const ENDLESS: &str =
    "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b";
const LINES: &[u8] = b"cpu,host=a load=0.5,cores=8i 1760000000000000000\ncpu,host=b cores=9i 1760000001000001000\n";

struct Asked {
    server: Served,
    _data: tempfile::TempDir,
}

/// A server with two rows in `default.cpu`.
fn serve(words: &[&str]) -> Asked {
    let data = tempfile::tempdir().unwrap();
    let server = Served::start(data.path(), &[&["--pg", "127.0.0.1:0"], words].concat());
    assert_eq!(server.post("/write?db=default", LINES).status, 204);
    Asked { server, _data: data }
}

impl Asked {
    fn client(&self) -> Client {
        Client::open(&self.server, &[], "").unwrap()
    }
}

#[test]
fn errors_have_their_codes_and_the_connection_goes_on() {
    let asked = serve(&["--question-memory", "16"]);
    let mut client = asked.client();
    for (sql, expected) in [
        ("SELECT * FROM nope", "42P01"),
        ("SELECT nope FROM cpu", "42703"),
        ("SELECT nope(1)", "42883"),
        ("SELECT host FROM cpu a JOIN cpu b ON a.cores = b.cores", "42702"),
        ("SELEC 1", "42601"),
        ("SELECT 1 / 0", "22012"),
        ("SELECT abs(-9223372036854775807 - 1)", "22003"),
        ("SELECT 'x'::INT", "22P02"),
        ("SELECT quantile(cores, 7) FROM cpu", "22023"),
        ("SELECT quantile(value, 0.5) FROM generate_series(1, 100000000)", "53200"),
        ("INSERT INTO cpu VALUES (1)", "25006"),
        ("UPDATE cpu SET cores = 1", "25006"),
        ("DELETE FROM cpu", "25006"),
        ("CREATE TABLE t (a INT)", "25006"),
        ("CREATE TABLE t AS SELECT * FROM cpu", "25006"),
        ("DROP TABLE cpu", "25006"),
        ("COPY cpu TO '/tmp/manyworlds-copy.csv'", "25006"),
        ("SET statement_timeout = 'soon'", "22023"),
        ("SET client_encoding = 'latin1'", "22023"),
    ] {
        let reply = client.ask(sql);
        assert_eq!(code(&reply).as_deref(), Some(expected), "{sql}: {}", words(&reply));
        let reply = client.ask_in(sql, 0);
        assert_eq!(code(&reply).as_deref(), Some(expected), "{sql}, in messages: {}", words(&reply));
        assert_eq!(kinds(&reply).matches('E').count(), 1, "{sql}");
        assert_eq!(client.column("SELECT count(*) FROM cpu"), ["2"], "{sql}");
    }
}

#[test]
fn the_state_of_a_transaction_is_told() {
    let asked = serve(&[]);
    let mut client = asked.client();
    for (sql, tag, error, status) in [
        ("SELECT 1", Some("SELECT 1"), None, b'I'),
        ("SELECT nope", None, Some("42703"), b'I'),
        ("BEGIN", Some("BEGIN"), None, b'T'),
        ("SELECT host FROM cpu", Some("SELECT 2"), None, b'T'),
        ("SELECT nope", None, Some("42703"), b'E'),
        ("SELECT 1", None, Some("25P02"), b'E'),
        ("SHOW search_path", None, Some("25P02"), b'E'),
        ("COMMIT", Some("ROLLBACK"), None, b'I'),
        ("START TRANSACTION", Some("BEGIN"), None, b'T'),
        ("SAVEPOINT a", Some("SAVEPOINT"), None, b'T'),
        ("SELECT nope", None, Some("42703"), b'E'),
        ("ROLLBACK TO SAVEPOINT a", Some("ROLLBACK"), None, b'T'),
        ("SELECT 1", Some("SELECT 1"), None, b'T'),
        ("COMMIT", Some("COMMIT"), None, b'I'),
        ("EXPLAIN SELECT 1", Some("EXPLAIN"), None, b'I'),
        ("SHOW timezone", Some("SHOW"), None, b'I'),
    ] {
        let reply = client.ask(sql);
        let tags = tags(&reply);
        let found = (tags.first().map(String::as_str), code(&reply), client.status);
        assert_eq!(found, (tag, error.map(str::to_owned), status), "{sql}");
    }
    assert_eq!(kinds(&client.ask("")), "I");
    assert_eq!(kinds(&client.ask("SELECT 1; SELECT nope; SELECT 2")), "TDCE", "what follows an error is left out");
}

#[test]
fn what_follows_an_error_is_left_out_until_the_client_asks_for_an_end() {
    let asked = serve(&[]);
    let mut client = asked.client();
    client.parse("", "SELECT nope", &[]);
    client.bind(["", ""], &[], [&[], &[]]);
    client.execute("", 0);
    client.parse("good", "SELECT 1", &[]);
    client.bind(["", "good"], &[], [&[], &[]]);
    client.execute("", 0);
    assert_eq!(kinds(&client.sync()), "12E");
    client.bind(["", "good"], &[], [&[], &[]]);
    let reply = client.sync();
    assert_eq!((kinds(&reply).as_str(), code(&reply).as_deref()), ("E", Some("26000")), "it was never prepared");
    client.parse("good", "SELECT 1", &[]);
    client.bind(["", "good"], &[], [&[], &[]]);
    client.execute("", 0);
    assert_eq!(kinds(&client.sync()), "12DC");
    // In a transaction, the error persists.
    client.ask("BEGIN");
    client.execute("nowhere", 0);
    assert_eq!((code(&client.sync()).as_deref(), client.status), (Some("34000"), b'E'));
    assert_eq!((code(&client.ask("SELECT 1")).as_deref(), client.status), (Some("25P02"), b'E'));
}

#[test]
fn statements_are_described_before_they_have_values() {
    let asked = serve(&[]);
    let mut client = asked.client();
    let mut describe = |sql: &str, types: &[u32]| {
        client.parse("", sql, types);
        client.describe(b'S', "");
        client.sync()
    };
    let reply = describe("SELECT host, cores FROM cpu", &[]);
    assert_eq!(kinds(&reply), "1tT");
    assert!(parameters(&reply).is_empty());
    assert_eq!(columns(&reply), [("host".to_owned(), 25, -1, 0), ("cores".to_owned(), 20, 8, 0)]);
    let reply = describe("SELECT load FROM cpu WHERE cores > $1 AND host = $2", &[]);
    assert_eq!((parameters(&reply), columns(&reply)), (vec![20, 25], vec![("load".to_owned(), 701, 8, 0)]));
    let sql = "SELECT coalesce($1, cores), greatest(load, $2) FROM cpu
               WHERE (host = $3 OR $3 IS NULL) AND CASE WHEN cores > 1 THEN $4 ELSE load END > $5";
    assert_eq!(parameters(&describe(sql, &[])), [20, 701, 25, 701, 701]);
    // Types that the client sends for parameters stay.
    let sql = "SELECT load FROM cpu WHERE cores > $1 AND host = $2";
    assert_eq!(parameters(&describe(sql, &[23, 0])), [23, 25]);
    assert_eq!(parameters(&describe(sql, &[0, 1043])), [20, 1043]);
    for (sql, expected) in [("BEGIN", "1tn"), ("SET x = 1", "1tn"), ("", "1tn"), ("SHOW timezone", "1tT")] {
        assert_eq!(kinds(&describe(sql, &[])), expected, "{sql}");
    }
    assert_eq!(code(&describe("SELECT nope FROM cpu", &[])).as_deref(), Some("42703"));
    assert_eq!(code(&describe("SELECT 1; SELECT 2", &[])).as_deref(), Some("42601"));
}

#[test]
fn a_portal_gives_as_many_rows_as_are_asked_for() {
    let asked = serve(&[]);
    let mut client = asked.client();
    client.ask("BEGIN");
    client.parse("", "SELECT value FROM generate_series(1, 5)", &[]);
    client.bind(["p", ""], &[], [&[], &[]]);
    for _ in 0..3 {
        client.execute("p", 2);
    }
    client.execute("p", 2);
    let reply = client.sync();
    assert_eq!(kinds(&reply), "12DDsDDsDCC");
    let values: Vec<_> = rows(&reply).into_iter().map(|row| row[0].clone().unwrap()).collect();
    assert_eq!(values, [b"1", b"2", b"3", b"4", b"5"]);
    assert_eq!(tags(&reply), ["SELECT 1", "SELECT 0"]);
    client.close(b'P', "p");
    client.execute("p", 0);
    let reply = client.sync();
    assert_eq!((kinds(&reply).as_str(), code(&reply).as_deref()), ("3E", Some("34000")));
    // Portals end with their transaction.
    client.ask("ROLLBACK");
    client.bind(["q", ""], &[], [&[], &[]]);
    client.sync();
    client.execute("q", 0);
    assert_eq!(code(&client.sync()).as_deref(), Some("34000"));
}

#[test]
fn a_connection_holds_so_many_statements_and_portals_only() {
    let asked = serve(&[]);
    let mut client = asked.client();
    client.ask("BEGIN");
    client.parse("one", "SELECT 1", &[]);
    client.sync();
    client.parse("one", "SELECT 2", &[]);
    assert_eq!(code(&client.sync()).as_deref(), Some("42P05"));
    client.ask("ROLLBACK");
    client.ask("BEGIN");
    for portal in 0..256 {
        client.bind([&portal.to_string(), "one"], &[], [&[], &[]]);
    }
    assert_eq!(kinds(&client.sync()), "2".repeat(256));
    client.bind(["more", "one"], &[], [&[], &[]]);
    assert_eq!(code(&client.sync()).as_deref(), Some("53200"));
    client.ask("ROLLBACK");
    // At most eight mebibytes of statements, with the types of their parameters, and 32 of values.
    let long = format!("SELECT '{}'", "x".repeat(1 << 20));
    for statement in 0..7 {
        client.parse(&statement.to_string(), &long, &[]);
    }
    assert_eq!(kinds(&client.sync()), "1".repeat(7));
    client.parse("more", &long, &[]);
    assert_eq!(code(&client.sync()).as_deref(), Some("53200"));
    client.ask("DEALLOCATE ALL");
    let types = vec![25; 65_535];
    for statement in 0..31 {
        client.parse(&statement.to_string(), "SELECT 1", &types);
    }
    assert_eq!(kinds(&client.sync()), "1".repeat(31));
    client.parse("more", "SELECT 1", &types);
    assert_eq!(code(&client.sync()).as_deref(), Some("53200"));
    client.ask("DEALLOCATE ALL");
    client.parse("more", "SELECT $1::TEXT", &[]);
    assert_eq!(kinds(&client.sync()), "1");
    let value = "x".repeat(1 << 20);
    for (values, fitting) in [(vec![Some(value.as_bytes())], 31), (vec![None; 65_535], 8)] {
        client.ask("BEGIN");
        for portal in 0..fitting {
            client.bind([&portal.to_string(), "more"], &values, [&[], &[]]);
        }
        assert_eq!(kinds(&client.sync()), "2".repeat(fitting));
        for portal in 0..fitting {
            client.bind([&format!("more{portal}"), "more"], &values, [&[], &[]]);
        }
        assert_eq!(code(&client.sync()).as_deref(), Some("53200"));
        client.ask("ROLLBACK");
    }
    client.ask("BEGIN");
    client.ask("ROLLBACK");
    client.close(b'S', "more");
    client.bind(["", "more"], &[], [&[], &[]]);
    let reply = client.sync();
    assert_eq!((kinds(&reply).as_str(), code(&reply).as_deref()), ("3E", Some("26000")));
}

/// A client that sends without a pause must not make the server hold all answers.
#[test]
fn answers_are_sent_before_the_client_asks_for_an_end() {
    let asked = serve(&[]);
    let mut client = asked.client();
    client.parse("", "SHOW search_path", &[]);
    client.bind(["", ""], &[], [&[], &[]]);
    for _ in 0..5_000 {
        client.execute("", 0);
    }
    assert_eq!([client.read().0, client.read().0, client.read().0], *b"12D");
    assert_eq!(kinds(&client.sync()).matches('C').count(), 5_000);
}

/// An SQL expression, its type's number and length, the value as text, and in binary form.
type Case = (&'static str, u32, i16, &'static str, &'static [u8]);

const VALUES: &[Case] = &[
    ("true", 16, 1, "t", b"\x01"),
    ("false", 16, 1, "f", b"\0"),
    ("X'00ff'", 17, -1, "\\x00ff", b"\x00\xff"),
    ("9223372036854775807", 20, 8, "9223372036854775807", b"\x7f\xff\xff\xff\xff\xff\xff\xff"),
    ("arrow_cast(4294967295, 'UInt32')", 20, 8, "4294967295", b"\0\0\0\0\xff\xff\xff\xff"),
    ("(-2)::SMALLINT", 21, 2, "-2", b"\xff\xfe"),
    ("arrow_cast(255, 'UInt8')", 21, 2, "255", b"\0\xff"),
    ("(-2)::INT", 23, 4, "-2", b"\xff\xff\xff\xfe"),
    ("arrow_cast(65535, 'UInt16')", 23, 4, "65535", b"\0\0\xff\xff"),
    ("'ü'", 25, -1, "ü", "ü".as_bytes()),
    ("''", 25, -1, "", b""),
    ("{'a': 1}", 114, -1, "{\"a\":1}", b"{\"a\":1}"),
    ("1.5::REAL", 700, 4, "1.5", b"\x3f\xc0\0\0"),
    ("1.5::DOUBLE", 701, 8, "1.5", b"\x3f\xf8\0\0\0\0\0\0"),
    ("'-inf'::DOUBLE", 701, 8, "-Infinity", b"\xff\xf0\0\0\0\0\0\0"),
    ("DATE '1999-12-31'", 1082, 4, "1999-12-31", b"\xff\xff\xff\xff"),
    ("TIME '00:00:01.5'", 1083, 8, "00:00:01.5", b"\0\0\0\0\0\x16\xe3\x60"),
    ("TIMESTAMP '2000-01-01 00:00:01'", 1114, 8, "2000-01-01 00:00:01", b"\0\0\0\0\0\x0f\x42\x40"),
    (
        "arrow_cast('1999-12-31T23:59:59.999999Z', 'Timestamp(Microsecond, Some(\"UTC\"))')",
        1184,
        8,
        "1999-12-31 23:59:59.999999+00",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
    ),
    ("(-12.5)::DECIMAL(6, 2)", 1700, -1, "-12.50", b"\0\x02\0\0\x40\0\0\x02\0\x0c\x13\x88"),
    (
        "['a', NULL, 'b c']",
        1009,
        -1,
        "{a,NULL,\"b c\"}",
        b"\0\0\0\x01\0\0\0\x01\0\0\0\x19\0\0\0\x03\0\0\0\x01\0\0\0\x01a\xff\xff\xff\xff\0\0\0\x03b c",
    ),
    (
        "[arrow_cast(7, 'Int64')]",
        1016,
        -1,
        "{7}",
        b"\0\0\0\x01\0\0\0\0\0\0\0\x14\0\0\0\x01\0\0\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x07",
    ),
];

#[test]
fn values_of_every_type_go_in_text_and_in_the_binary_form() {
    let asked = serve(&[]);
    let mut client = asked.client();
    for &(sql, oid, length, text, binary) in VALUES {
        for (format, bytes) in [(0, text.as_bytes()), (1, binary)] {
            let reply = client.ask_in(&format!("SELECT {sql} AS v"), format);
            assert_eq!(kinds(&reply), "12TDC", "{sql}: {}", words(&reply));
            assert_eq!(columns(&reply), [("v".to_owned(), oid, length, format)], "{sql}");
            assert_eq!(rows(&reply), [vec![Some(bytes.to_vec())]], "{sql}, format {format}");
        }
    }
    for format in [0, 1] {
        assert_eq!(rows(&client.ask_in("SELECT NULL AS a, CAST(NULL AS INT) AS b", format)), [vec![None, None]]);
    }
    // Each column has its requested format.
    client.parse("", "SELECT 1::INT AS a, 2::INT AS b", &[]);
    client.bind(["", ""], &[], [&[], &[0, 1]]);
    client.describe(b'P', "");
    client.execute("", 0);
    let reply = client.sync();
    assert_eq!(columns(&reply), [("a".to_owned(), 23, 4, 0), ("b".to_owned(), 23, 4, 1)]);
    assert_eq!(rows(&reply), [[Some(b"1".to_vec()), Some(b"\0\0\0\x02".to_vec())]]);
}

#[test]
fn values_are_read_in_text_and_in_the_binary_form() {
    let asked = serve(&[]);
    let mut client = asked.client();
    for &(_, oid, _, text, binary) in VALUES.iter().filter(|case| ![17, 114].contains(&case.1)) {
        for (format, bytes) in [(0, text.as_bytes()), (1, binary)] {
            client.parse("", "SELECT $1 AS v", &[oid]);
            client.bind(["", ""], &[Some(bytes)], [&[format], &[]]);
            client.execute("", 0);
            let reply = client.sync();
            let found = rows(&reply).first().and_then(|row| row[0].clone()).unwrap_or_default();
            assert_eq!(String::from_utf8_lossy(&found), text, "{oid}, format {format}: {}", words(&reply));
        }
    }
    // Integers are described and sent as bigint, real numbers as double precision.
    for (oid, value, widest) in [
        (21, &b"\0\x07"[..], (20, &b"\0\0\0\0\0\0\0\x07"[..])),
        (23, b"\0\0\0\x07", (20, b"\0\0\0\0\0\0\0\x07")),
        (700, b"\x3f\xc0\0\0", (701, b"\x3f\xf8\0\0\0\0\0\0")),
    ] {
        client.parse("", "SELECT $1 AS v", &[oid]);
        client.describe(b'S', "");
        client.bind(["", ""], &[Some(value)], [&[1], &[1]]);
        client.execute("", 0);
        let reply = client.sync();
        assert_eq!((columns(&reply)[0].1, rows(&reply)), (widest.0, vec![vec![Some(widest.1.to_vec())]]));
    }
    for (oid, list) in [
        (1001, r#"{"\\x00ff"}"#),
        (1183, "{00:00:01.5}"),
        (1187, r#"{"1 mon"}"#),
        (2951, "{00000000-0000-0000-0000-000000000001}"),
    ] {
        client.parse("", "SELECT $1 AS v", &[oid]);
        client.bind(["", ""], &[Some(list.as_bytes())], [&[], &[]]);
        client.execute("", 0);
        let reply = client.sync();
        let found = rows(&reply).first().and_then(|row| row[0].clone()).unwrap_or_default();
        assert_eq!(String::from_utf8_lossy(&found), list, "{oid}: {}", words(&reply));
    }
    client.parse("", "SELECT $1::INT IS NULL", &[]);
    client.bind(["", ""], &[None], [&[], &[]]);
    client.execute("", 0);
    assert_eq!(rows(&client.sync()), [[Some(b"t".to_vec())]]);
    client.parse("", "SELECT $1", &[23]);
    client.bind(["", ""], &[Some(b"\0\0")], [&[1], &[]]);
    assert_eq!(code(&client.sync()).as_deref(), Some("22P02"));
}

#[test]
fn only_whoever_knows_the_secret_cancels_a_statement() {
    let asked = serve(&["--question-seconds", "3600"]);
    let (mut client, other) = (asked.client(), asked.client());
    let mut wrong = client.key;
    wrong[7] ^= 1;
    let number_of_another = [&client.key[..4], &other.key[4..]].concat().try_into().unwrap();
    client.ask("SET statement_timeout = '2s'");
    client.send(b'Q', &[ENDLESS.as_bytes(), b"\0"].concat());
    for key in [wrong, number_of_another, other.key] {
        cancel(&asked.server, key);
    }
    let reply = client.until_ready();
    assert_eq!(code(&reply).as_deref(), Some("57014"));
    assert!(words(&reply).contains("longer than"), "nobody else may cancel it: {}", words(&reply));
    client.ask("SET statement_timeout = 0");
    // A statement can be cancelled only while it runs, so try until it has started.
    let key = client.key;
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| client.ask(ENDLESS));
        while !asking.is_finished() {
            cancel(&asked.server, key);
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let reply = asking.join().unwrap();
        assert_eq!((code(&reply).as_deref(), words(&reply).contains("cancelled")), (Some("57014"), true));
    });
    assert_eq!(client.column("SELECT 1"), ["1"]);
}

#[test]
fn a_statement_may_take_as_long_as_the_client_says_and_the_server_lets_it() {
    let asked = serve(&["--question-seconds", "2"]);
    let mut client = asked.client();
    let ends = |client: &mut Client, words_of: &str| {
        let reply = client.ask(ENDLESS);
        assert_eq!(code(&reply).as_deref(), Some("57014"));
        assert!(words(&reply).contains(words_of), "{}", words(&reply));
    };
    for (set, told) in [
        ("SET statement_timeout = '1h'", "2000ms"),
        ("SET statement_timeout = 300", "300ms"),
        ("RESET statement_timeout", "2000ms"),
        ("SET statement_timeout TO '1s'", "1000ms"),
        ("DISCARD ALL", "2000ms"),
        ("BEGIN", "2000ms"),
        ("SET LOCAL statement_timeout = 400", "400ms"),
        ("COMMIT", "2000ms"),
    ] {
        client.ask(set);
        assert_eq!(client.column("SHOW statement_timeout"), [told], "{set}");
    }
    ends(&mut client, "longer than 2 s");
    client.ask("SET statement_timeout = '200ms'");
    ends(&mut client, "longer than");
    for parameters in [("options", "-c statement_timeout=300"), ("statement_timeout", "300")] {
        let mut other = Client::open(&asked.server, &[parameters], "").unwrap();
        assert_eq!(other.column("SHOW statement_timeout"), ["300ms"], "{parameters:?}");
    }
    let refused = Client::open(&asked.server, &[("options", "-c statement_timeout=soon")], "").err();
    assert_eq!(refused.as_deref(), Some("22023"));
}

#[test]
fn whoever_has_no_token_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tokens.toml");
    let file = file.to_str().unwrap();
    let token = |words: &[&str]| {
        let made = program(&["token"]).args(words).args(["--token-file", file]).output().unwrap();
        assert!(made.status.success());
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    };
    let reader = token(&["create", "reader", "--read"]);
    let writer = token(&["create", "writer", "--write"]);
    let elsewhere = token(&["create", "elsewhere", "--read", "--database", "elsewhere"]);
    let server = Served::start(data.path(), &["--pg", "127.0.0.1:0", "--token-file", file]);
    let authorization = format!("Bearer {writer}");
    let sent = server.send("POST", "/write?db=default", &[("authorization", &authorization)], LINES);
    assert_eq!(sent.status, 204);
    let open = |password: &str, database: &str| Client::open(&server, &[("database", database)], password);
    for (password, database, expected) in [
        ("", "default", "28P01"),
        ("mw_wrong", "default", "28P01"),
        (&reader[..reader.len() - 1], "default", "28P01"),
        (&writer, "default", "42501"),
        (&elsewhere, "default", "42501"),
        (&reader, "nowhere", "3D000"),
    ] {
        assert_eq!(open(password, database).err().as_deref(), Some(expected), "{password:?} {database}");
    }
    let mut client = open(&reader, "default").unwrap();
    assert_eq!(client.column("SELECT count(*) FROM cpu"), ["2"]);
    // Takes effect with the next statement.
    token(&["revoke", "reader"]);
    client.send(b'Q', b"SELECT 1\0");
    let (kind, fields) = client.read();
    assert_eq!(code(&[(kind, fields)]).as_deref(), Some("28P01"));
}
