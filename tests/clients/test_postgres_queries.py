"""Queries of tools for charts and reports: what they write around the columns and tables that a user picks.

The statements have the constructs that Superset, Metabase, Grafana, DBeaver and Power BI send.
"""

import asyncio
import datetime
import threading

import connectorx
import pandas
import polars
import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import create_async_engine

from test_postgres import ENDLESS, FIRST, SECOND, code, connect, psql, running, stored, wait_until  # noqa: F401

DAY = datetime.datetime(2025, 10, 9, tzinfo=datetime.timezone.utc)
BOTH = [("a", 8), ("b", 9)]


@pytest.fixture
def connection(server, stored):
    with connect(server, stored) as connection:
        yield connection


def ask(connection, sql, *values):
    """The rows of a statement, which must be the same where it is prepared."""
    rows = connection.execute(sql, *values).fetchall()
    assert connection.execute(sql, *values, prepare=True).fetchall() == rows, sql
    return rows


def test_superset_filters_and_groups_times(connection):
    between = """time >= TO_TIMESTAMP('2025-10-09 08:53:20.000000', 'YYYY-MM-DD HH24:MI:SS.US')
        AND time < TO_TIMESTAMP('2025-10-09 08:53:21.000000', 'YYYY-MM-DD HH24:MI:SS.US')"""
    assert ask(connection, f"SELECT host, cores FROM cpu WHERE {between}") == BOTH[:1]
    assert ask(connection, "SELECT count(*) FROM cpu WHERE time > TO_DATE('2025-10-09', 'YYYY-MM-DD')") == [(2,)]
    for grain, parts in [("minute", "SECOND / 5 seconds"), ("hour", "MINUTE / 15 minutes"), ("hour", "MINUTE / 5 minutes")]:
        part, step = parts.split(" / ")
        bucket = f"DATE_TRUNC('{grain}', time) + INTERVAL '{step}' * FLOOR(EXTRACT({part} FROM time) / {step.split()[0]})"
        sql = f"SELECT {bucket} AS __timestamp, AVG(cores) AS \"AVG(cores)\" FROM cpu GROUP BY {bucket} ORDER BY 2 DESC LIMIT 10"
        seconds = int(step.split()[0]) * (60 if "minutes" in step else 1)
        start = datetime.datetime.fromtimestamp(FIRST.timestamp() // seconds * seconds, datetime.timezone.utc)
        assert ask(connection, sql) == [(start, 8.5)], sql
    # Columns of seconds since 1970.
    sql = "SELECT (timestamp 'epoch' + 1760000001 * interval '1 second'), max(timestamp 'epoch' + cores * interval '1 day') FROM cpu"
    assert ask(connection, sql) == [(datetime.datetime(2025, 10, 9, 8, 53, 21), datetime.datetime(1970, 1, 10))]
    limited = """SELECT host, count(*) AS n FROM cpu JOIN (SELECT host AS host__, avg(cores) AS inner__ FROM cpu GROUP BY host
        ORDER BY inner__ DESC LIMIT 1) AS series_limit ON host = host__ GROUP BY host"""
    assert ask(connection, limited) == [("b", 1)]
    assert ask(connection, "SELECT * FROM (SELECT host, cores FROM cpu ORDER BY 1) AS virtual_table LIMIT 1000") == BOTH


def test_superset_sets_a_schema_and_stops_statements(server, stored, connection):
    server.write(f"/write?db=o{stored}", b"disk,host=z used=1i")
    assert code(connection, "SELECT * FROM disk") == "42P01"
    connection.execute(f'set search_path = "o{stored}"')
    assert ask(connection, "SELECT used FROM disk") == [(1,)]
    assert ask(connection, "SELECT current_schema(), current_database()") == [(f"o{stored}", stored)]
    assert ask(connection, "SELECT 'disk'::regclass::oid = to_regclass('disk'), pg_table_is_visible('disk'::regclass)") == [(True, True)]
    assert connection.execute("SHOW search_path").fetchall() == [(f"sim, o{stored}",)]
    # Names that are no database, and the default.
    for reset in ["SET search_path TO public", "RESET search_path", "DISCARD ALL"]:
        connection.execute(f"SET search_path TO o{stored}, public")
        connection.execute(reset)
        assert ask(connection, "SELECT count(*) FROM cpu") == [(2,)], reset
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path TO o{stored}")
        assert connection.execute("SELECT count(*) FROM disk").fetchall() == [(1,)]
    assert ask(connection, "SELECT count(*) FROM cpu") == [(2,)]
    with connect(server, stored, options=f"-csearch_path=o{stored}") as other:
        assert ask(other, "SELECT used FROM disk") == [(1,)]

    number = ask(connection, "SELECT pg_backend_pid()")[0][0]
    assert number == connection.info.backend_pid
    with connect(server, stored) as other:
        stop = lambda name: other.execute(f"SELECT {name}(pid) FROM pg_stat_activity WHERE pid='{number}'").fetchall()
        for name, expected in [("pg_cancel_backend", "57014"), ("pg_terminate_backend", "57014")]:
            found = []
            thread = threading.Thread(target=lambda: found.append(code(connection, ENDLESS)))
            thread.start()
            wait_until(lambda: running(server) == 1)
            assert stop(name) == [(True,)]
            thread.join()
            assert found == [expected]
            wait_until(lambda: running(server) == 0)
            if name == "pg_cancel_backend":
                assert ask(connection, "SELECT 1") == [(1,)]
        with pytest.raises(psycopg.OperationalError, match="another connection ended this one|closed the connection"):
            connection.execute("SELECT 1")
        wait_until(lambda: other.execute(f"SELECT pg_cancel_backend({number})").fetchall() == [(False,)])


def test_tokens_stop_their_own_statements_only(server, stored, connection):
    if server.token is None:
        pytest.skip("the server needs no token")
    number = connection.info.backend_pid
    reader = server.create(f"stops-{stored}", "--read", "--database", stored)
    with connect(server, stored, password=reader) as other:
        assert other.execute(f"SELECT pg_terminate_backend({number})").fetchall() == [(False,)]
        # A search path leads to no other database.
        server.write(f"/write?db=h{stored}", b"secret,host=a x=1i")
        other.execute(f"SET search_path TO h{stored}")
        assert code(other, "SELECT * FROM secret") == "42P01"
        assert ask(other, "SELECT count(*) FROM cpu") == [(2,)]
    assert ask(connection, "SELECT 1") == [(1,)]
    server.revoke(f"stops-{stored}")


def test_times_are_written_and_read_with_templates(connection):
    assert ask(connection, "SELECT to_char(time, 'YYYY-MM-DD\"T\"HH24:MI:SS.US'), to_char(time, '%H') FROM cpu ORDER BY 1") == [
        ("2025-10-09T08:53:20.000000", "08"),
        ("2025-10-09T08:53:21.000001", "08"),
    ]
    assert ask(connection, "SELECT to_timestamp('20251009 0853', 'YYYYMMDD HH24MI')") == [(FIRST.replace(second=0),)]
    assert code(connection, "SELECT to_char(time, 'YYYY Month') FROM cpu") == "42000"


def test_time_zones_move_times(connection):
    local = "time AT TIME ZONE 'America/New_York'"
    sql = f"SELECT {local}, date_trunc('day', {local}), timezone('UTC', time) FROM cpu WHERE host = 'a'"
    naive = lambda *parts: datetime.datetime(2025, 10, 9, *parts)
    assert ask(connection, sql) == [(naive(4, 53, 20), naive(), naive(8, 53, 20))]
    assert ask(connection, "SELECT timestamp '2025-01-01 00:00:00' AT TIME ZONE 'Europe/Berlin'") == [
        (datetime.datetime(2024, 12, 31, 23, tzinfo=datetime.timezone.utc),)
    ]
    assert ask(connection, "SELECT '2025-10-09 08:00:00Z' AT TIME ZONE '+02:00'") == [(naive(10),)]
    assert code(connection, "SELECT time AT TIME ZONE 'Nowhere/Else' FROM cpu") == "42000"
    warnings = []
    connection.add_notice_handler(lambda notice: warnings.append((notice.severity, notice.message_primary)))
    connection.execute("SET TIME ZONE 'UTC'")
    assert warnings == []
    connection.execute("SET SESSION TIMEZONE TO 'Europe/Berlin'")
    [(severity, message)] = warnings
    assert severity == "WARNING" and "times are in UTC; write time AT TIME ZONE 'Europe/Berlin'" in message


def test_computed_columns_have_names_of_postgresql(server, stored, connection):
    with connection.cursor(row_factory=dict_row) as cursor:
        assert cursor.execute("SELECT count(*), max(cores) FROM cpu").fetchall() == [{"count": 2, "max": 9}]
    names = lambda sql: [column.name for column in connection.execute(sql).description]
    sql = "SELECT host, upper(host), time::date, 1 + 1, 'x'::text, CASE WHEN true THEN 1 END, max(cores), max(load), max(cores) m"
    expected = ["host", "upper", "time", "?column?", "text", "case", "max", "max", "m"]
    assert names(f"{sql} FROM cpu GROUP BY host, time") == expected
    assert names("SELECT time, time, time::date, * FROM cpu") == ["time", "time", "time", "time", "host", "load", "cores"]
    assert names("SELECT count(*) FROM cpu UNION ALL SELECT 1") == ["count"]
    assert ask(connection, "SELECT DISTINCT upper(host) FROM cpu ORDER BY upper(host) DESC") == [("B",), ("A",)]
    assert ask(connection, "SELECT host, count(*) FROM cpu GROUP BY host ORDER BY count DESC, host") == [("a", 1), ("b", 1)]
    assert ask(connection, "SELECT max(cores) FROM cpu GROUP BY host HAVING max(cores) > 8 ORDER BY max(cores)") == [(9,)]
    copied = psql(server, stored, "COPY (SELECT count(*), count(*) FROM cpu) TO STDOUT CSV HEADER")
    assert copied == "count,count\n2,2\n"


def test_metabase_buckets_and_metadata(server, stored, connection):
    table = f'"{stored}"."cpu"'
    sql = f"""-- Metabase
        SELECT DATE_TRUNC('month', {table}."time") AS "time", COUNT(*) AS "count",
            PERCENTILE_CONT(0.5) within group (order by {table}."cores") AS "median" FROM {table}
        WHERE {table}."time" >= timestamp with time zone '2025-10-01 00:00:00.000Z' AND LOWER({table}."host") LIKE %s
        GROUP BY DATE_TRUNC('month', {table}."time") ORDER BY DATE_TRUNC('month', {table}."time") ASC"""
    assert ask(connection, sql, ["%a%"]) == [(DAY.replace(day=1), 1, 8)]
    week = f"""CAST(DATE_TRUNC('week', ({table}."time" + INTERVAL '1 day')) AS timestamp) + INTERVAL '-1 day'"""
    assert ask(connection, f"SELECT ({week}), COUNT(*) FROM {table} GROUP BY ({week})") == [(datetime.datetime(2025, 10, 5), 2)]
    assert ask(connection, f"""SELECT SUBSTRING({table}."host" FROM '[a-z]+') FROM {table} ORDER BY 1""") == [("a",), ("b",)]
    # What a user may do with each table: nothing but read it.
    quoted = """'"' || t.schemaname || '"."' || t.tablename || '"'"""
    may = ", ".join(f"pg_catalog.has_any_column_privilege(current_user, {quoted}, '{what}')" for what in ["select", "update", "insert"])
    sql = f"SELECT {may}, has_table_privilege({quoted}, 'delete, select') FROM pg_tables t WHERE t.schemaname = '{stored}'"
    assert ask(connection, sql) == [(True, False, False, True)]
    keys = """SELECT tmp.name, TRIM(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.oid, tmp.place, false)) FROM (
        SELECT c.relname AS name, c.oid, (information_schema._pg_expandarray(i.indkey)).n AS place FROM pg_class c
        JOIN pg_index i ON c.oid = i.indrelid) tmp WHERE tmp.place = 1"""
    assert ask(connection, keys) == []


def test_dbeaver_reads_settings_and_indexes(server, stored, connection):
    assert ask(connection, "SELECT reset_val FROM pg_settings WHERE name = 'search_path'") == [(f"sim, {stored}",)]
    sql = """SELECT i.*, i.indkey AS keys, c.relname, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred,
        pg_catalog.pg_stat_get_numscans(i.indexrelid) AS scans FROM pg_catalog.pg_index i
        JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid LEFT JOIN pg_catalog.pg_description d ON i.indexrelid = d.objoid
        WHERE i.indrelid = %s ORDER BY c.relname"""
    cursor = connection.execute(sql, [1])
    names = [column.name for column in cursor.description]
    assert cursor.fetchall() == [] and names[:2] == ["indexrelid", "indrelid"] and names[-4:] == ["keys", "relname", "pred", "scans"]
    sql = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = %s), NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = %s)"
    assert ask(connection, sql, ["cpu", stored]) == [(True, False)]
    assert ask(connection, "SELECT relname FROM pg_class t WHERE t.relispartition = 'f' AND t.oid = 'cpu'::regclass") == [("cpu",)]
    assert ask(connection, "SELECT character_set_name FROM INFORMATION_SCHEMA.character_sets") == [("UTF8",)]
    assert ask(connection, "SELECT setting FROM pg_show_all_settings() WHERE name = 'bytea_output'") == [("hex",)]
    # Npgsql looks up how types are received.
    sql = "SELECT count(proc.proname) FROM pg_type AS typ LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive"
    assert ask(connection, sql)[0][0] > 40


def test_samples_are_refused(connection):
    assert code(connection, "SELECT * FROM cpu TABLESAMPLE SYSTEM (10)") == "0A000"


def test_series_in_columns_are_rows(connection):
    assert ask(connection, "SELECT generate_series(1, 3)") == [(1,), (2,), (3,)]
    assert connection.execute("SELECT generate_series(1, 2)").description[0].name == "generate_series"
    assert ask(connection, "SELECT host, generate_series(8, cores) * 10 AS n FROM cpu ORDER BY 1, 2") == [("a", 80), ("b", 80), ("b", 90)]
    assert ask(connection, "SELECT sum(generate_series) FROM (SELECT generate_series(1, 4)) s") == [(10,)]
    assert ask(connection, "SELECT ARRAY(SELECT generate_series(1, 3))") == [([1, 2, 3],)]
    assert ask(connection, "SELECT sum(i) FROM generate_series(%s::int, 4::smallint) AS i", [2]) == [(9,)]
    days = "SELECT generate_series('2025-01-01'::timestamp, '2025-01-03'::timestamp, '1 day'::interval) AS day"
    assert ask(connection, f"SELECT count(*), max(day) FROM ({days}) d") == [(3, datetime.datetime(2025, 1, 3))]


def test_columns_ask_whether_queries_return_a_value(connection):
    values = "(VALUES ('a', 1), ('b', NULL), ('c', 3)) AS v(host, n)"
    for sql, expected in [
        ("8 IN (SELECT cores FROM cpu)", True),
        ("8 NOT IN (SELECT cores FROM cpu)", False),
        ("7 IN (SELECT cores FROM cpu)", False),
        ("NULL IN (SELECT cores FROM cpu)", None),
        ("NULL NOT IN (SELECT cores FROM cpu WHERE false)", True),
        (f"1 IN (SELECT n FROM {values})", True),
        (f"2 IN (SELECT n FROM {values})", None),
        (f"2 NOT IN (SELECT n FROM {values})", None),
        ("9 IN (SELECT max(cores) FROM cpu GROUP BY host LIMIT 5)", True),
        ("0.5 IN (SELECT load FROM cpu)", True),
        ("CASE WHEN 1 IN (SELECT 1 UNION SELECT 2) THEN 'yes' END", "yes"),
    ]:
        assert ask(connection, f"SELECT {sql} AS found") == [(expected,)], sql
    sql = f"SELECT v.host, host IN (SELECT host FROM cpu), n NOT IN (SELECT cores - 5 FROM cpu o WHERE o.host <> 'z') FROM {values} ORDER BY 1"
    assert ask(connection, sql) == [("a", True, True), ("b", True, None), ("c", False, False)]
    sql = "SELECT host, 9 IN (SELECT cores FROM cpu o WHERE o.host = cpu.host) FROM cpu ORDER BY 1"
    assert ask(connection, sql) == [("a", False), ("b", True)]
    found = "host IN (SELECT host FROM cpu WHERE cores > 8)"
    sql = f"SELECT sum(CASE WHEN {found} THEN cores ELSE 0 END), count(*) FILTER (WHERE NOT {found}) AS others, max(cpu.cores) FROM cpu"
    assert ask(connection, sql) == [(9, 1, 9)]
    sql = "SELECT host, bool_or(EXISTS (SELECT 1 FROM cpu o WHERE o.host = c.host AND o.cores = 8)) FROM cpu c GROUP BY host ORDER BY host"
    assert ask(connection, sql) == [("a", True), ("b", False)]
    assert ask(connection, "SELECT host, cores IN (SELECT cores FROM cpu WHERE host = 'b') AS x FROM cpu ORDER BY x") == [("a", False), ("b", True)]


def test_functions_write_and_read_json(connection):
    for sql, expected in [
        ("pg_typeof(cores)", "bigint"),
        ("pg_typeof(time)", "timestamp with time zone"),
        ("pg_typeof(to_json(cores))", "json"),
        ("md5(host)", "0cc175b9c0f1b6a831c399e269772661"),
        ("mod(cores, 3)", 2),
        ("to_json(host)", "a"),
        ("to_json(ARRAY[cores, NULL])", [8, None]),
        ("json_build_object('host', host, 'more', json_build_array(cores, load, NULL))", {"host": "a", "more": [8, 0.5, None]}),
        ("'{\"a\": {\"b\": [1, \"x\"]}}'::json -> 'a' -> 'b' ->> 1", "x"),
        ("'{\"a\": {\"b\": [1, \"x\"]}}'::jsonb #> '{a,b}'", [1, "x"]),
        ("('{\"a\": ' || cores || '}') ->> 'a' = '8'", True),
        ("'{\"a\": null}' ->> 'a'", None),
        ("'{\"a\": null}' -> 'b'", None),
        ("'[1, 2]'::json", [1, 2]),
    ]:
        assert ask(connection, f"SELECT {sql} AS v FROM cpu WHERE host = 'a'") == [(expected,)], sql
    assert ask(connection, "SELECT json_agg(cores ORDER BY host DESC), jsonb_agg(load ORDER BY host) FROM cpu") == [([9, 8], [0.5, None])]
    assert ask(connection, "SELECT json_agg(cores) FROM cpu WHERE false") == [(None,)]
    rows = "SELECT host, cores AS n FROM cpu ORDER BY host"
    assert ask(connection, f"SELECT row_to_json(t) FROM ({rows}) t") == [({"host": "a", "n": 8},), ({"host": "b", "n": 9},)]
    assert ask(connection, f"SELECT json_agg(t ORDER BY n) AS rows FROM ({rows}) t") == [([{"host": "a", "n": 8}, {"host": "b", "n": 9}],)]
    types = [column.type_display for column in connection.execute("SELECT json_agg(cores), jsonb_agg(cores) FROM cpu").description]
    assert types == ["json", "jsonb"]
    inner = "SELECT host, json_build_object('n', cores) AS more FROM cpu WHERE host = 'a'"
    assert ask(connection, f"SELECT json_agg(row_to_json(t)) FROM ({inner}) t") == [([{"host": "a", "more": {"n": 8}}],)]
    assert connection.execute("SELECT to_jsonb(cores) FROM cpu ORDER BY 1", binary=True).fetchall() == [(8,), (9,)]
    assert code(connection, "SELECT '{'::json") == "22P02"


def test_times_need_no_seconds(connection):
    for condition, *values in [
        ("time < '2025-10-09 08:54+00'",),
        ("time BETWEEN '2025-10-09 08:53Z' AND '2025-10-09T10:54+02:00'",),
        ("time > TIMESTAMPTZ '2025-10-09 10:53+02'",),
        ("time > '2025-10-09 08:53+00'::timestamptz",),
        ("time > %t", "2025-10-09 08:53+00"),
        ("time > %t::timestamptz", "2025-10-09 08:53+00"),
    ]:
        assert ask(connection, f"SELECT count(*) FROM cpu WHERE {condition}", values) == [(2,)], condition
    assert ask(connection, "SELECT TIMESTAMP '2025-01-01 10:00', '2025-01-01 10:00+01'::timestamptz") == [
        (datetime.datetime(2025, 1, 1, 10), datetime.datetime(2025, 1, 1, 9, tzinfo=datetime.timezone.utc))
    ]


def test_tables_by_name_are_shown_as_names(connection, stored):
    assert ask(connection, "SELECT 'cpu'::regclass, 'pg_class'::regclass, 'cpu'::regclass::text || '!'") == [("cpu", "pg_class", "cpu!")]
    assert connection.execute("SELECT 'cpu'::regclass").description[0].name == "regclass"
    assert ask(connection, f"SELECT '{stored}.cpu'::regclass UNION ALL SELECT 'pg_type'::regclass ORDER BY 1") == [("cpu",), ("pg_type",)]
    sql = "SELECT 'cpu'::regclass::oid = oid, oid = 'cpu'::regclass FROM pg_class WHERE oid IN (SELECT 'cpu'::regclass)"
    assert ask(connection, sql) == [(True, True)]
    assert ask(connection, "SELECT oid::regclass, 'is ' || 'cpu'::regclass FROM pg_class WHERE oid::regclass = 'cpu'::regclass") == [("cpu", "is cpu")]
    assert code(connection, "SELECT 'nope'::regclass") == "42P01"


def test_plans_are_explained(server, stored, connection):
    lines = ask(connection, "EXPLAIN SELECT host FROM cpu WHERE cores > %s", [8])
    assert len(lines) > 1 and connection.execute("EXPLAIN SELECT 1").description[0].name == "QUERY PLAN"
    for options in ["FORMAT JSON", "ANALYZE, BUFFERS, FORMAT json", "format 'json', costs false"]:
        [([plan],)] = connection.execute(f"EXPLAIN ({options}) SELECT count(*) FROM cpu WHERE cores > 8").fetchall()
        assert "Node Type" in plan["Plan"] and "\1" not in str(plan), options
    assert any("output_rows=1" in line for (line,) in connection.execute("EXPLAIN (ANALYZE, VERBOSE off) SELECT host FROM cpu WHERE cores > 8"))
    assert code(connection, "EXPLAIN (FORMAT YAML) SELECT 1") == "0A000"
    assert "cpu" in psql(server, stored, "EXPLAIN SELECT 'cpu'::regclass, host FROM cpu")


@pytest.mark.parametrize("protocol", ["binary", "csv", "cursor", "simple"])
def test_connectorx_reads_with_each_protocol(server, stored, protocol):
    url = f"postgresql://me:{server.token or 'none'}@{server.host}:{server.pg_port}/{stored}"
    sql = "SELECT time, host, load, cores FROM cpu ORDER BY host"
    frame = connectorx.read_sql(url, sql, protocol=protocol)
    assert list(frame["host"]) == ["a", "b"] and list(frame["cores"]) == [8, 9]
    assert frame["load"][0] == 0.5 and pandas.isna(frame["load"][1])
    assert pandas.Timestamp(frame["time"][1]).tz_localize(None) == pandas.Timestamp(SECOND).tz_localize(None)
    if protocol == "binary":
        frame = polars.read_database_uri(sql, url)
        assert frame.select("host", "cores").rows() == BOTH
        parts = connectorx.read_sql(url, "SELECT cores FROM cpu", partition_on="cores", partition_num=2)
        assert sorted(parts["cores"]) == [8, 9]


def test_sqlalchemy_reflects_with_asyncpg(server, stored):
    url = f"postgresql+asyncpg://me:{server.token or 'none'}@{server.host}:{server.pg_port}/{stored}"

    def look(connection):
        looked = sqlalchemy.inspect(connection)
        types = {column["name"]: str(column["type"]) for column in looked.get_columns("cpu", schema=stored)}
        assert types == {"time": "TIMESTAMP", "host": "TEXT", "load": "DOUBLE PRECISION", "cores": "BIGINT"}
        assert looked.get_table_names(schema=stored) == ["cpu"] and stored in looked.get_schema_names()
        assert looked.get_pk_constraint("cpu")["constrained_columns"] == [] == looked.get_indexes("cpu")

    async def run():
        engine = create_async_engine(url)
        async with engine.connect() as connection:
            await connection.run_sync(look)
            table = sqlalchemy.table("cpu", sqlalchemy.column("host"), sqlalchemy.column("cores"))
            rows = await connection.execute(sqlalchemy.select(table).where(table.c.cores > 8))
            assert rows.all() == [("b", 9)]
        await engine.dispose()

    asyncio.run(run())
