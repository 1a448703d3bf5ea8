"""ADBC for Arrow Flight SQL, `pyarrow.flight` and `influxdb3-python`, unchanged."""

import datetime
import json
import struct
import subprocess
import threading
import time
from decimal import Decimal

import adbc_driver_manager
import pandas
import polars
import pyarrow
import pyarrow.flight as flight
import pytest
from adbc_driver_flightsql import DatabaseOptions, dbapi
from influxdb_client_3 import InfluxDBClient3

from conftest import Server
from test_postgres import ENDLESS, FIRST, LINES, ROWS, SECOND, running, stored, wait_until  # noqa: F401

HEADER = DatabaseOptions.RPC_CALL_HEADER_PREFIX.value
# 100 GB of rows.
LONG = "SELECT value, repeat('x', 10000) AS text FROM generate_series(1, 10000000)"


def uri(server):
    return f"grpc://{server.host}:{server.flight_port}"


def adbc(server, database, token=None, **more):
    options = {HEADER + "database": database, **more}
    if token or server.token:
        options[DatabaseOptions.AUTHORIZATION_HEADER.value] = f"Bearer {token or server.token}"
    return dbapi.connect(uri(server), db_kwargs=options, autocommit=True)


@pytest.fixture
def cursor(server, stored):
    with adbc(server, stored) as connection, connection.cursor() as cursor:
        yield cursor


@pytest.fixture
def client(server):
    with flight.connect(uri(server)) as client:
        yield client


@pytest.fixture
def influx(server, stored):
    words = {"host": server.url, "query_port_overwrite": server.flight_port}
    with InfluxDBClient3(token=server.token or "none", database=stored, **words) as client:
        yield client


def options(server, database=None):
    headers = [("authorization", f"Bearer {server.token}")] if server.token else []
    headers += [("database", database)] if database else []
    return flight.FlightCallOptions(headers=[(name.encode(), value.encode()) for name, value in headers])


def test_adbc_reads_rows(cursor, stored):
    cursor.execute("SELECT * FROM cpu ORDER BY host")
    assert [column[0] for column in cursor.description] == ["time", "host", "load", "cores"]
    assert cursor.fetchall() == ROWS
    table = cursor.execute(f"SELECT cores, host FROM {stored}.cpu ORDER BY host").fetch_arrow_table()
    assert table.to_pylist() == [{"cores": 8, "host": "a"}, {"cores": 9, "host": "b"}]
    frame = cursor.execute("SELECT * FROM cpu ORDER BY host").fetch_df()
    assert isinstance(frame, pandas.DataFrame) and frame["cores"].tolist() == [8, 9] and frame["host"].tolist() == ["a", "b"]
    assert cursor.execute("SELECT count(*) AS n FROM cpu").fetch_polars().to_dicts() == [{"n": 2}]
    assert cursor.execute("SELECT 1 AS one WHERE false").fetchall() == []
    with cursor.execute("SELECT value FROM generate_series(1, 1000000)").fetch_record_batch() as reader:
        assert sum(pyarrow.compute.sum(batch.column(0)).as_py() for batch in reader) == 500_000_500_000
    named = polars.read_database("SELECT host, cores FROM cpu ORDER BY host", cursor.connection)
    assert named.rows() == [("a", 8), ("b", 9)]


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("true", True),
        ("1::SMALLINT", 1),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", 2**64 - 1),
        ("1.5::REAL", 1.5),
        ("'-inf'::DOUBLE", float("-inf")),
        ("'ü;''x'", "ü;'x"),
        ("X'00ff'", b"\x00\xff"),
        ("DATE '1969-12-31'", datetime.date(1969, 12, 31)),
        ("TIME '10:00:00.5'", datetime.time(10, 0, 0, 500_000)),
        ("TIMESTAMP '1999-12-31 23:59:59.999999'", datetime.datetime(1999, 12, 31, 23, 59, 59, 999_999)),
        ("-12345.678::DECIMAL(12, 4)", Decimal("-12345.6780")),
        ("['a', NULL, 'b']", ["a", None, "b"]),
        ("{'a': 1, 'b': 'x'}", {"a": 1, "b": "x"}),
        ("arrow_cast('x', 'Dictionary(Int32, Utf8)')", "x"),
        ("NULL", None),
    ],
)
def test_values_of_every_type_arrive(cursor, sql, value):
    found = cursor.execute(f"SELECT {sql} AS v").fetchone()[0]
    assert (found.to_pydatetime() if isinstance(found, pandas.Timestamp) else found) == value


@pytest.mark.parametrize("mark", ["?", "$1"])
def test_values_are_sent(cursor, mark):
    values = [1, -(2**40), 2.5, "it's", "\\'; --", True, b"\x00\xff", None, Decimal("-12.345"), FIRST.date(), FIRST, SECOND]
    for value in [*values, ["a", None, "q"], [1, 2]]:
        assert cursor.execute(f"SELECT {mark} AS v", (value,)).fetchone() == (value,), value
    assert cursor.execute(f"SELECT cores FROM cpu WHERE host = {mark}", ("b",)).fetchall() == [(9,)]
    assert cursor.execute(f"SELECT host FROM cpu WHERE time >= {mark}", (SECOND,)).fetchall() == [("b",)]
    assert cursor.execute(f"SELECT count(*) FROM cpu LIMIT {mark}", (1,)).fetchall() == [(2,)]
    with pytest.raises(dbapi.ProgrammingError, match="missing value for parameter"):
        cursor.execute(f"SELECT {mark} AS v").fetchall()
    with pytest.raises(dbapi.Error, match="several rows of parameters"):
        cursor.adbc_statement.set_sql_query(f"SELECT {mark} AS v")
        cursor.adbc_statement.prepare()
        cursor.adbc_statement.bind(pyarrow.record_batch({"a": [1, 2]}))
        cursor.adbc_statement.execute_query()


def test_statements_are_prepared(cursor):
    parameters = cursor.adbc_prepare("SELECT host FROM cpu WHERE cores > ? AND host <> ? AND time >= ?")
    assert parameters.types == [pyarrow.int64(), pyarrow.string(), pyarrow.timestamp("us", "UTC")]
    sql = "SELECT ? + cores, ? FROM cpu ORDER BY 1 -- ?"
    for number, text in [(1, "a"), (2, "b")]:
        assert cursor.execute(sql, (number, text)).fetchall() == [(8 + number, text), (9 + number, text)]
    schema = cursor.adbc_execute_schema("SELECT host, cores FROM cpu")
    assert (schema.names, schema.field("cores").type) == (["host", "cores"], pyarrow.int64())
    [partition], _ = cursor.adbc_execute_partitions("SELECT host FROM cpu ORDER BY host")
    cursor.adbc_read_partition(partition)
    assert cursor.fetchall() == [("a",), ("b",)]


def test_adbc_looks_around(server, stored):
    with adbc(server, stored) as connection:
        info = connection.adbc_get_info()
        assert info["vendor_name"] == "manyworlds" and info["vendor_version"]
        assert connection.adbc_get_table_types() == ["TABLE"]
        schema = connection.adbc_get_table_schema("cpu", db_schema_filter=stored)
        assert schema.names == ["time", "host", "load", "cores"]
        assert [field.type for field in schema][2:] == [pyarrow.float64(), pyarrow.int64()]
        with pytest.raises(dbapi.Error, match="No table found"):
            connection.adbc_get_table_schema("nope", db_schema_filter=stored)
        [catalog] = connection.adbc_get_objects(depth="catalogs").read_all().to_pylist()
        assert catalog["catalog_name"] == "manyworlds"
        [catalog] = connection.adbc_get_objects(depth="db_schemas").read_all().to_pylist()
        assert {"default", "sim", stored} <= {schema["db_schema_name"] for schema in catalog["catalog_db_schemas"]}
        words = {"depth": "all", "db_schema_filter": stored[:-1] + "_", "table_name_filter": "c%"}
        [catalog] = connection.adbc_get_objects(**words).read_all().to_pylist()
        [schema] = catalog["catalog_db_schemas"]
        [table] = schema["db_schema_tables"]
        assert (schema["db_schema_name"], table["table_name"], table["table_type"]) == (stored, "cpu", "TABLE")
        assert [column["column_name"] for column in table["table_columns"]] == ["time", "host", "load", "cores"]
        objects = connection.adbc_get_objects(depth="tables", table_types_filter=["VIEW"]).read_all().to_pylist()
        assert not any(schema["db_schema_tables"] for catalog in objects for schema in catalog["catalog_db_schemas"])


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT * FROM nope", "NOT_FOUND", 'no table "nope"'),
        ("SELECT nope FROM cpu", "NOT_FOUND", 'no column "nope"'),
        ("SELEC 1", "INVALID_ARGUMENT", "SELEC"),
        ("SELECT 1 / 0", "INVALID_ARGUMENT", "zero"),
        ("INSERT INTO cpu VALUES (1)", "INVALID_ARGUMENT", "cannot run INSERT: only queries are allowed"),
        ("DROP TABLE cpu", "INVALID_ARGUMENT", "cannot run DROP: only queries are allowed"),
    ],
)
def test_errors_are_those_of_http(server, cursor, sql, error, words):
    with pytest.raises(dbapi.Error, match=words) as refused:
        cursor.execute(sql).fetchall()
    assert refused.value.status_code.name == error
    # As an update. A query is refused before it runs.
    with pytest.raises(dbapi.Error, match="cannot run a query as an update" if words == "zero" else words):
        cursor.executescript(sql)
    assert cursor.execute("SELECT 1").fetchone() == (1,), "the connection goes on"


def test_rows_are_not_stored_over_flight(cursor):
    with pytest.raises(dbapi.Error, match="cannot store rows over Flight"):
        cursor.adbc_ingest("cpu", pyarrow.table({"a": [1]}), mode="append")


def test_a_query_is_cancelled(server, cursor):
    ended = threading.Event()

    def cancel():
        wait_until(lambda: running(server) == 1)
        # Again, because what ran first may have been the description of the query.
        while not ended.wait(0.1):
            cursor.adbc_cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(dbapi.Error, match="(?i)cancel"):
        cursor.execute(ENDLESS).fetchall()
    ended.set()
    thread.join()
    wait_until(lambda: running(server) == 0)
    # A reader that is closed early ends its query, too.
    reader = cursor.execute(LONG).fetch_record_batch()
    assert reader.read_next_batch().num_rows > 0
    assert running(server) == 1
    reader.close()
    cursor.close()
    wait_until(lambda: running(server) == 0)


def sized(tag, data):
    """A field of a message of Protocol Buffers."""
    length, rest = bytearray(), len(data)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    return bytes([tag, *length, rest]) + data


def cancel(client, info, words, old=False):
    """Cancels the query of a plan with the action of today, or the older one, for which pyarrow has no method."""
    action, request = "CancelFlightInfo", sized(0x0A, info.serialize())
    if old:
        name = b"type.googleapis.com/arrow.flight.protocol.sql.ActionCancelQueryRequest"
        action, request = "CancelQuery", sized(0x0A, name) + sized(0x12, request)
    [result] = client.do_action(flight.Action(action, request), words)
    # The status: cancelled.
    assert result.body.to_pybytes().endswith(b"\x08\x01")


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("sql", [ENDLESS, LONG])
def test_a_query_is_cancelled_by_its_ticket(server, client, stored, sql, old):
    words = options(server, stored)
    descriptor = flight.FlightDescriptor.for_command(json.dumps({"sql_query": sql}))
    info, other = (client.get_flight_info(descriptor, words) for _ in "ab")
    reader = client.do_get(info.endpoints[0].ticket, words)
    wait_until(lambda: running(server) == 1)
    # The same query with another ticket, and the same ticket with another token, cancel nothing.
    with pytest.raises(KeyError, match="no query runs with this ticket"):
        cancel(client, other, words, old)
    if server.token:
        stranger = server.create(f"stranger-{stored}-{sql == LONG}-{old}", "--read")
        theirs = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {stranger}".encode())])
        with pytest.raises(KeyError, match="no query runs with this ticket"):
            cancel(client, info, theirs, old)
    assert running(server) == 1
    cancel(client, info, words, old)
    # At once, although nobody reads the rows.
    wait_until(lambda: running(server) == 0)
    # Not read_all: where a query is cancelled it ends the program, as if somebody had pressed Ctrl-C.
    with pytest.raises(flight.FlightCancelledError, match="the query was cancelled"):
        while reader.read_chunk():
            pass
    with pytest.raises(KeyError, match="no query runs with this ticket"):
        cancel(client, info, words, old)


def test_a_poll_is_complete_at_once(server, client, stored):
    """No client here polls: the request and the reply are those of gRPC."""
    descriptor = b"\x08\x02" + sized(0x12, b'{"sql_query":"SELECT host FROM cpu ORDER BY host"}')
    url = f"http://{server.host}:{server.flight_port}/arrow.flight.protocol.FlightService/PollFlightInfo"
    words = ["curl", "--silent", "--fail", "--http2-prior-knowledge", "--data-binary", "@-", url]
    headers = {"content-type": "application/grpc", "te": "trailers", "database": stored, **server.headers()}
    words += [word for name, value in headers.items() for word in ("--header", f"{name}: {value}")]
    message = b"\0" + len(descriptor).to_bytes(4, "big") + descriptor
    reply = subprocess.run(words, input=message, capture_output=True, check=True, timeout=60).stdout
    # The plan, no descriptor to poll again, and a progress of 1.
    planned, done = reply[5:-9], reply[-9:]
    assert done == b"\x19" + struct.pack("<d", 1)
    assert planned == sized(0x0A, planned[3:])
    info = flight.FlightInfo.deserialize(planned[3:])
    rows = client.do_get(info.endpoints[0].ticket, options(server, stored)).read_all()
    assert rows.column("host").to_pylist() == ["a", "b"]


def test_tokens_limit_what_is_read(server, stored):
    if not server.token:
        pytest.skip("the server needs no token")
    other = server.create(f"other-{stored}", "--read", "--database", "elsewhere")
    writer = server.create(f"writer-{stored}", "--write")
    for token, error in [("mw_wrong", "UNAUTHENTICATED"), (writer, "UNAUTHORIZED"), (other, "UNAUTHORIZED")]:
        with pytest.raises(dbapi.Error) as refused, adbc(server, stored, token) as connection:
            connection.cursor().execute("SELECT 1").fetchall()
        assert refused.value.status_code.name == error
    with pytest.raises(dbapi.Error, match="send a token"), dbapi.connect(uri(server), autocommit=True) as connection:
        connection.cursor().execute("SELECT 1")
    with adbc(server, "elsewhere", other) as connection, connection.cursor() as cursor:
        with pytest.raises(dbapi.Error, match=f'is not for database "{stored}"'):
            cursor.execute(f"SELECT * FROM {stored}.cpu").fetchall()
        [catalog] = connection.adbc_get_objects(depth="db_schemas").read_all().to_pylist()
        assert stored not in {schema["db_schema_name"] for schema in catalog["catalog_db_schemas"]}
    # With a name and the token as its password.
    words = {adbc_driver_manager.DatabaseOptions.USERNAME.value: "me"}
    words[adbc_driver_manager.DatabaseOptions.PASSWORD.value] = server.token
    with dbapi.connect(uri(server), db_kwargs=words, autocommit=True) as connection:
        assert connection.cursor().execute(f"SELECT count(*) FROM {stored}.cpu").fetchone() == (2,)
    client = flight.connect(uri(server))
    header = client.authenticate_basic_token("me", server.token)
    ticket = flight.Ticket(b'{"sql_query":"SELECT 1 AS one"}')
    assert client.do_get(ticket, flight.FlightCallOptions(headers=[header])).read_all().to_pylist() == [{"one": 1}]


def test_pyarrow_reads_while_the_query_runs(server, client):
    reader = client.do_get(flight.Ticket(json.dumps({"sql_query": LONG}).encode()), options(server))
    first = reader.read_chunk().data
    assert first.schema.names == ["value", "text"] and 0 < first.num_rows < 10_000
    assert running(server) == 1
    reader.cancel()
    wait_until(lambda: running(server) == 0)


def test_pyarrow_plans_and_reads(server, client, stored):
    words = options(server, stored)
    descriptor = flight.FlightDescriptor.for_command(b'{"sql_query":"SELECT host FROM cpu ORDER BY host"}')
    info = client.get_flight_info(descriptor, words)
    assert info.schema.names == ["host"] and client.get_schema(descriptor, words).schema == info.schema
    rows = client.do_get(info.endpoints[0].ticket, words).read_all()
    assert rows.schema == info.schema and rows.column("host").to_pylist() == ["a", "b"]
    actions = {"CreatePreparedStatement", "ClosePreparedStatement", "CancelFlightInfo", "CancelQuery"}
    assert {action.type for action in client.list_actions(words)} == actions


def test_rubbish_is_refused_and_the_server_goes_on(server, client, stored):
    words = options(server, stored)
    for rubbish in [b"", b"\0", b"{", b"SELECT 1", b"\xff" * 100, b"\x0a" * 10_000, b"{" * 100_000]:
        with pytest.raises(pyarrow.ArrowInvalid):
            client.do_get(flight.Ticket(rubbish), words).read_all()
        with pytest.raises(pyarrow.ArrowInvalid):
            client.get_flight_info(flight.FlightDescriptor.for_command(rubbish), words)
        with pytest.raises(pyarrow.ArrowException):
            list(client.do_action(flight.Action("CreatePreparedStatement", rubbish), words))
        for action in ["CancelFlightInfo", "CancelQuery"]:
            with pytest.raises((pyarrow.ArrowInvalid, KeyError)):
                list(client.do_action(flight.Action(action, rubbish), words))
    with pytest.raises(pyarrow.ArrowException, match="exceeds 2097152 bytes"):
        client.do_get(flight.Ticket(b"x" * (3 << 20)), words).read_all()
    with pytest.raises(NotImplementedError, match="cannot open a path"):
        client.get_flight_info(flight.FlightDescriptor.for_path("cpu"), words)
    with pytest.raises(NotImplementedError):
        list(client.list_flights(options=words))
    writer, _ = client.do_put(flight.FlightDescriptor.for_command(b"x"), pyarrow.schema({"a": "int64"}), words)
    with pytest.raises(pyarrow.ArrowInvalid):
        writer.close()
    assert client.do_get(flight.Ticket(b'{"sql_query":"SELECT 1 AS one"}'), words).read_all().num_rows == 1


def test_influxdb3_python_asks(server, influx, stored):
    sql = "SELECT host, cores FROM cpu ORDER BY host"
    table = influx.query(sql)
    assert table.to_pylist() == [{"host": "a", "cores": 8}, {"host": "b", "cores": 9}]
    assert influx.query(sql, mode="pandas")["cores"].tolist() == [8, 9]
    assert influx.query(sql, mode="polars").rows() == [("a", 8), ("b", 9)]
    assert influx.query(sql, mode="reader").read_all() == table
    assert influx.query(sql, mode="schema").names == ["host", "cores"]
    assert influx.query(sql, mode="chunk").read_chunk().data.num_rows == 2
    words = {"host": "b", "least": 8}
    found = influx.query("SELECT cores FROM cpu WHERE host = $host AND cores > $least", query_parameters=words)
    assert found.to_pylist() == [{"cores": 9}]
    assert influx.query("SHOW MEASUREMENTS", language="influxql").to_pylist() == [{"name": "cpu"}]
    for sql, language, error in [
        ("SELECT mean(cores) FROM cpu", "influxql", "InfluxQL is not supported"),
        ("SELECT nope FROM cpu", "sql", 'no column \\\\?"nope\\\\?"'),
    ]:
        with pytest.raises(Exception, match=error):
            influx.query(sql, language=language)


def test_influxdb3_python_writes_and_asks(server, database):
    words = {"host": server.url, "query_port_overwrite": server.flight_port, "database": database}
    with InfluxDBClient3(token=server.token or "none", **words) as client:
        client.write(["cpu,host=a cores=8i 1760000000000000000"], database=database)
        wait_until(lambda: server.rows(f"SELECT count(*) FROM {database}.cpu") == [(1,)])
        assert client.query("SELECT time, host, cores FROM cpu").to_pylist() == [{"time": FIRST, "host": "a", "cores": 8}]


def test_limits_hold(tmp_path):
    server = Server(tmp_path, False, "--question-seconds", "5", "--question-memory", "16")
    with dbapi.connect(uri(server), autocommit=True) as connection, connection.cursor() as cursor:
        with pytest.raises(dbapi.Error, match="took longer than 5 s"):
            cursor.execute(ENDLESS).fetchall()
        with pytest.raises(dbapi.Error, match="memory"):
            cursor.execute("SELECT quantile(value, 0.5) FROM generate_series(1, 100000000)").fetchall()
        with pytest.raises(dbapi.Error, match="too large"):
            cursor.execute("SELECT " + "1+" * 300_000 + "1").fetchall()
        # A slow reader has the time of a query, and then its place is free.
        reader = cursor.execute(LONG).fetch_record_batch()
        reader.read_next_batch()
        begun = time.monotonic()
        wait_until(lambda: running(server) == 0)
        assert time.monotonic() - begun < 13
        with pytest.raises(Exception, match="took longer than 5 s"):
            for _ in reader:
                pass
        assert connection.cursor().execute("SELECT 1").fetchone() == (1,)
    server.stop()


def test_tls(tmp_path):
    certificate, key = str(tmp_path / "server.pem"), str(tmp_path / "server.key")
    words = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
    words += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run(["openssl", "req", "-x509", *words], check=True, capture_output=True)
    server = Server(tmp_path, True, "--tls-cert", certificate, "--tls-key", key)
    ticket = flight.Ticket(b'{"sql_query":"SELECT 1 AS one"}')
    secure = f"grpc+tls://{server.host}:{server.flight_port}"
    with flight.connect(secure, tls_root_certs=(tmp_path / "server.pem").read_bytes()) as client:
        assert client.do_get(ticket, options(server)).read_all().to_pylist() == [{"one": 1}]
    with flight.connect(uri(server)) as client, pytest.raises(flight.FlightUnavailableError):
        client.do_get(ticket, options(server))
    server.stop()
