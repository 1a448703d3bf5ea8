"""`psql`, `psycopg` and `asyncpg` against the wire protocol of PostgreSQL."""

import asyncio
import datetime
import subprocess
import threading
import time
from decimal import Decimal

import asyncpg
import psycopg
import pytest
from psycopg.types import TypeInfo

from conftest import ENVIRONMENT, Server

LINES = "cpu,host=a load=0.5,cores=8i 1760000000000000000\ncpu,host=b cores=9i 1760000001000001000\n"
FIRST = datetime.datetime(2025, 10, 9, 8, 53, 20, tzinfo=datetime.timezone.utc)
SECOND = datetime.datetime(2025, 10, 9, 8, 53, 21, 1, tzinfo=datetime.timezone.utc)
ROWS = [(FIRST, "a", 0.5, 8), (SECOND, "b", None, 9)]
# Makes 10^12 rows out of little.
ENDLESS = "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b"
BOTH = pytest.mark.parametrize("binary", [False, True], ids=["text", "binary"])


def connect(server, database, **more):
    words = {"host": server.host, "port": server.pg_port, "dbname": database, "user": "me", "password": server.token}
    return psycopg.connect(**{**words, "autocommit": True, **more})


@pytest.fixture
def stored(server, database):
    server.write(f"/write?db={database}", LINES.encode())
    return database


@pytest.fixture
def connection(server, stored):
    with connect(server, stored) as connection:
        yield connection


def code(connection, sql, *values, **more):
    """The code of the error that a statement ends with."""
    with pytest.raises(psycopg.Error) as raised:
        connection.execute(sql, *values, **more)
    return raised.value.sqlstate


def psql(server, database, *statements, env=None, fails=False):
    words = ["psql", "--no-psqlrc", "-h", server.host, "-p", str(server.pg_port), "-U", "me", "-d", database]
    words += ["--no-align", "--tuples-only", "--set", "VERBOSITY=sqlstate", "--set", "ON_ERROR_STOP=1"]
    words += [word for statement in statements for word in ("-c", statement)]
    password = {"PGPASSWORD": server.token} if server.token else {}
    ran = subprocess.run(words, env={**ENVIRONMENT, **password, **(env or {})}, capture_output=True, text=True, timeout=60)
    assert (ran.returncode != 0) == fails, ran.stderr
    return ran.stderr if fails else ran.stdout


def test_psql_asks_and_looks_around(server, stored):
    said = psql(server, stored, "SELECT * FROM cpu ORDER BY host", r"\dt", r"\d", r"\d cpu", r"\l", r"\dn", r"\df", r"\dv")
    assert "2025-10-09 08:53:20+00|a|0.5|8\n2025-10-09 08:53:21.000001+00|b||9\n" in said
    assert said.count(f"{stored}|cpu|table|me\n") == 2 and said.count("sim|outcomes|table|me\n") == 2
    assert "time|timestamp with time zone|||\nhost|text|||\nload|double precision|||\ncores|bigint|||\n" in said
    assert f"{stored}|me|UTF8|" in said and f"{stored}|me\n" in said
    assert psql(server, stored, f"SELECT count(*) FROM {stored}.cpu; SELECT 7") == "2\n7\n"
    assert psql(server, stored, "SELECT current_database(), current_schema(), current_user") == f"{stored}|{stored}|me\n"
    assert "PostgreSQL 15" in psql(server, stored, "SELECT version()")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM nope", "42P01"),
        ("SELECT nope FROM cpu", "42703"),
        ("SELECT nope(1)", "42883"),
        ("SELEC 1", "42601"),
        ("SELECT 1 / 0", "22012"),
        ("SELECT 'x'::INT", "22P02"),
        ("SELECT quantile(cores, 7) FROM cpu", "22023"),
        ("INSERT INTO cpu VALUES (1)", "25006"),
        ("CREATE TABLE t (a INT)", "25006"),
        ("DROP TABLE cpu", "25006"),
        ("SET statement_timeout = 'soon'", "22023"),
    ],
)
def test_errors_have_the_codes_of_postgresql(server, stored, connection, sql, expected):
    assert expected in psql(server, stored, sql, fails=True)
    assert code(connection, sql) == expected
    assert code(connection, sql, prepare=True) == expected
    assert connection.execute("SELECT 1").fetchall() == [(1,)], "the connection goes on"


@BOTH
def test_values_of_every_type_arrive(connection, binary):
    cursor = connection.cursor(binary=binary)
    assert cursor.execute("SELECT * FROM cpu ORDER BY host").fetchall() == ROWS
    assert [column.type_display for column in cursor.description] == ["timestamptz", "text", "float8", "int8"]
    for sql, name, value in [
        ("true", "bool", True),
        ("1::SMALLINT", "int2", 1),
        ("-2::INT", "int4", -2),
        ("9223372036854775807", "int8", 2**63 - 1),
        ("18446744073709551615", "numeric", Decimal(2**64 - 1)),
        ("1.5::REAL", "float4", 1.5),
        ("'-inf'::DOUBLE", "float8", float("-inf")),
        ("1e300", "float8", 1e300),
        ("'ü;''x'", "text", "ü;'x"),
        ("X'00ff'", "bytea", b"\x00\xff"),
        ("DATE '1969-12-31'", "date", datetime.date(1969, 12, 31)),
        ("TIME '10:00:00.5'", "time", datetime.time(10, 0, 0, 500_000)),
        ("TIMESTAMP '1999-12-31 23:59:59.999999'", "timestamp", datetime.datetime(1999, 12, 31, 23, 59, 59, 999_999)),
        ("-12345.678::DECIMAL(12, 4)", "numeric", Decimal("-12345.6780")),
        ("0.00::DECIMAL(5, 2)", "numeric", Decimal("0.00")),
        ("['a', NULL, 'b \"c', '', 'NULL', '{}']", "text[]", ["a", None, 'b "c', "", "NULL", "{}"]),
        ("[1, 2]", "int8[]", [1, 2]),
        ("make_array()", "text[]", []),
        ("NULL", "text", None),
        ("{'a': 1, 'b': 'x'}", "json", {"a": 1, "b": "x"}),
    ]:
        cursor.execute(f"SELECT {sql}")
        assert (cursor.description[0].type_display, cursor.fetchall()) == (name, [(value,)]), sql


@pytest.mark.parametrize("form", ["%t", "%b"])
def test_values_are_sent(connection, form):
    for value in [1, -(2**40), 2.5, "it's", "\\'; --", True, Decimal("-12.345"), Decimal("1e-7"), FIRST.date(), SECOND]:
        assert connection.execute(f"SELECT {form} AS v", (value,)).fetchall() == [(value,)], value
    some = ["a", None, 'q"x', "{}", "null"]
    assert connection.execute(f"SELECT {form}::TEXT[] AS v", (some,)).fetchall() == [(some,)]
    assert connection.execute("SELECT %s AS v", (None,)).fetchall() == [(None,)]
    named = {"host": "a", "cores": 3, "time": FIRST}
    where = "host = %(host)s AND cores > %(cores)s AND time >= %(time)s"
    for _ in range(8):  # from the sixth time on as a statement that was prepared
        assert connection.execute(f"SELECT * FROM cpu WHERE {where}", named).fetchall() == ROWS[:1]
    assert connection.execute(f"SELECT cores FROM cpu WHERE host = ANY({form})", (["b", "c"],)).fetchall() == [(9,)]
    assert connection.execute(f"SELECT count(*) FROM cpu LIMIT {form}", (1,)).fetchall() == [(2,)]
    assert connection.execute(f"SELECT quantile(cores, {form}) FROM cpu", (0.5,)).fetchall() == [(8,)]


def test_types_can_be_looked_up(connection):
    found = TypeInfo.fetch(connection, "timestamptz")
    assert (found.oid, found.array_oid) == (1184, 1185)
    assert TypeInfo.fetch(connection, "nope") is None


def memory(server, field):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def test_a_long_answer_takes_little_memory(server, connection):
    rows, numbers = 0, "SELECT value, repeat('x', 200) AS text FROM generate_series(1, 1000000)"
    for _ in connection.cursor().stream("SELECT value FROM generate_series(1, 10000)"):
        pass
    before = memory(server, "VmHWM")
    for value, text in connection.cursor().stream(numbers):
        rows += 1
        assert value == rows and len(text) == 200
    # All of them are 200 MB, and more than a question over HTTP may answer.
    assert rows == 1_000_000 and memory(server, "VmHWM") - before < 100_000


def running(server):
    said = server.get("/metrics")
    return int(next(line.split()[1] for line in said.splitlines() if line.startswith("manyworlds_questions_running ")))


def wait_until(holds):
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < 60, "never"
        time.sleep(0.05)


def test_a_statement_is_cancelled_from_another_thread(server, connection):
    def cancel():
        wait_until(lambda: running(server) == 1)
        connection.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    assert code(connection, ENDLESS) == "57014"
    thread.join()
    wait_until(lambda: running(server) == 0)
    assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_statement_that_takes_too_long_ends(server, stored, connection):
    connection.execute("SET statement_timeout = '200ms'")
    assert connection.execute("SHOW statement_timeout").fetchall() == [("200ms",)]
    assert code(connection, ENDLESS) == "57014"
    assert code(connection, ENDLESS, prepare=True) == "57014"
    with connect(server, stored, options="-c statement_timeout=200") as other:
        assert code(other, ENDLESS) == "57014"
    wait_until(lambda: running(server) == 0)


def test_a_client_that_goes_away_ends_its_statement(server, stored):
    connection = connect(server, stored)
    connection.pgconn.send_query(ENDLESS.encode())
    wait_until(lambda: running(server) == 1)
    connection.close()
    wait_until(lambda: running(server) == 0)


def test_memory_has_a_limit(connection):
    sql = "SELECT quantile(value, 0.5) FROM generate_series(1, 100000000)"
    assert code(connection, sql) == "53200"


def test_transactions_change_nothing_and_fail_as_a_whole(server, stored):
    with connect(server, stored, autocommit=False) as connection:
        assert connection.execute("SELECT count(*) FROM cpu").fetchall() == [(2,)]
        assert code(connection, "SELECT nope FROM cpu") == "42703"
        assert code(connection, "SELECT 1") == "25P02"
        connection.rollback()
        with connection.transaction():
            connection.execute("SAVEPOINT here")
            connection.execute("SET LOCAL statement_timeout = 1000")
            assert connection.execute("SHOW statement_timeout").fetchall() == [("1000ms",)]
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
        assert connection.execute("SHOW statement_timeout").fetchall() == [("60000ms",)]


def test_each_statement_sees_what_was_stored(server, stored, connection):
    count = lambda: connection.execute("SELECT count(*) FROM cpu", prepare=True).fetchone()[0]
    assert count() == 2
    server.write(f"/write?db={stored}", b"cpu,host=c cores=1i")
    assert count() == 3


def test_asyncpg_describes_binds_and_fetches_in_parts(server, stored):
    async def ask():
        words = {"host": server.host, "port": server.pg_port, "user": "me", "password": server.token}
        connection = await asyncpg.connect(database=stored, **words)
        found = await connection.fetch("SELECT * FROM cpu WHERE cores > $1 AND host = $2", 3, "a")
        assert [tuple(row) for row in found] == ROWS[:1]
        async with connection.transaction():
            cursor = connection.cursor("SELECT value FROM generate_series(1, 20000)", prefetch=1000)
            assert [row["value"] async for row in cursor] == list(range(1, 20001))
            # A cursor that is left where it is holds no place longer than the connection.
            await (await connection.cursor("SELECT value FROM generate_series(1, 1000000)")).fetch(10)
        await connection.close()

    asyncio.run(ask())
    wait_until(lambda: running(server) == 0)


def test_a_database_that_is_not_there_is_refused(server, stored):
    with pytest.raises(psycopg.OperationalError, match="unknown database"):
        connect(server, "nowhere")
    # Without a database clients send the user's name.
    with connect(server, "me") as connection:
        assert connection.execute("SELECT current_database()").fetchone() == ("default",)


def test_tokens_are_passwords(server, stored, database):
    if server.token is None:
        return
    with pytest.raises(psycopg.OperationalError, match="unknown or revoked token"):
        connect(server, stored, password="mw_wrong")
    with pytest.raises(psycopg.OperationalError, match="unknown or revoked token|password"):
        connect(server, stored, password="")
    server.write(f"/write?db=x{stored}", LINES.encode())
    writer = server.create("writer", "--write")
    with pytest.raises(psycopg.OperationalError, match="may not read"):
        connect(server, stored, password=writer)
    reader = server.create("reader", "--read", "--database", stored)
    with pytest.raises(psycopg.OperationalError, match="is not for database"):
        connect(server, f"x{stored}", password=reader)
    with connect(server, stored, password=reader) as connection:
        assert connection.execute("SELECT count(*) FROM cpu").fetchall() == [(2,)]
        assert code(connection, f"SELECT * FROM x{stored}.cpu") == "42501"
        listed = [row[0] for row in connection.execute("SELECT datname FROM pg_database").fetchall()]
        assert stored in listed and f"x{stored}" not in listed
        # From the next statement on.
        server.revoke("reader")
        assert code(connection, "SELECT 1") == "28P01"
    server.revoke("writer")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "cert.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    words += ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    return certificate, key


def test_tls_is_spoken_and_nothing_else(certificate, tmp_path):
    file, key = map(str, certificate)
    server = Server(tmp_path, True, "--tls-cert", file, "--tls-key", key)
    try:
        with connect(server, "default", sslmode="verify-full", sslrootcert=file) as connection:
            assert connection.pgconn.ssl_in_use and connection.execute("SELECT 1").fetchall() == [(1,)]
            stopped = threading.Timer(0.2, connection.cancel_safe)
            stopped.start()
            assert code(connection, ENDLESS) == "57014"
        with pytest.raises(psycopg.OperationalError, match="this server requires TLS"):
            connect(server, "default", sslmode="disable")
        with pytest.raises(psycopg.OperationalError, match="unknown or revoked token"):
            connect(server, "default", sslmode="require", password="mw_wrong")
    finally:
        server.stop()
