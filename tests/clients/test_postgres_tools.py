"""Tools that read PostgreSQL's catalogue before they ask: drivers' metadata, reflection, pickers, and cursors."""

import asyncio
import datetime
import decimal
import io
import subprocess
import uuid
from pathlib import Path

import asyncpg
import pandas
import psycopg
import pyarrow
import pytest
import sqlalchemy
from adbc_driver_postgresql import dbapi as adbc
from sqlalchemy.engine.reflection import ObjectKind

from test_postgres import FIRST, ROWS, connect, psql, running, stored, wait_until  # noqa: F401

# Where the system's package of the JDBC driver puts it.
DRIVER = "/usr/share/java/postgresql.jar"
TYPES = {"time": "TIMESTAMP", "host": "TEXT", "load": "DOUBLE PRECISION", "cores": "BIGINT"}


@pytest.fixture(params=["psycopg", "psycopg2", "pg8000"])
def engine(request, server, stored):
    password = f":{server.token}" if server.token else ":none"
    url = f"postgresql+{request.param}://me{password}@{server.host}:{server.pg_port}/{stored}"
    engine = sqlalchemy.create_engine(url)
    yield engine
    engine.dispose()


def test_sqlalchemy_reflects_tables(engine, stored):
    looked = sqlalchemy.inspect(engine)
    assert looked.default_schema_name == stored
    assert {stored, "sim", "information_schema"} <= set(looked.get_schema_names())
    assert looked.get_table_names(schema=stored) == ["cpu"]
    assert set(looked.get_table_names()) == {"cpu", "ensembles", "events", "outcomes"}
    assert looked.has_table("cpu") and looked.has_table("cpu", schema=stored) and not looked.has_table("nope")
    for schema in [None, stored]:
        columns = looked.get_columns("cpu", schema=schema)
        assert {column["name"]: str(column["type"]) for column in columns} == TYPES
        assert all(column["nullable"] and column["default"] is None for column in columns)
        # Nothing is made up.
        assert looked.get_pk_constraint("cpu", schema=schema)["constrained_columns"] == []
        for lists in ["get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints"]:
            assert getattr(looked, lists)("cpu", schema=schema) == [], lists
        assert looked.get_table_comment("cpu", schema=schema) == {"text": None}
        for none in [looked.get_view_names, looked.get_materialized_view_names, looked.get_sequence_names]:
            assert none(schema=schema) == []
    assert set(looked.get_multi_columns(schema=stored, kind=ObjectKind.ANY)) == {(stored, "cpu")}
    assert looked.get_domains() == [] and looked.get_enums() == []
    with pytest.raises(sqlalchemy.exc.NoSuchTableError):
        looked.get_columns("nope")


def test_pandas_reads_tables_through_sqlalchemy(engine, stored):
    for schema in [None, stored]:
        frame = pandas.read_sql_table("cpu", engine, schema=schema).sort_values("host")
        assert list(frame["host"]) == ["a", "b"] and list(frame["cores"]) == [8, 9]
        assert frame["time"].iloc[0] == pandas.Timestamp(FIRST)
    table = sqlalchemy.Table("cpu", sqlalchemy.MetaData(), autoload_with=engine)
    query = sqlalchemy.select(table.c.host, sqlalchemy.func.max(table.c.cores)).where(table.c.cores > 8)
    with engine.connect() as connection:
        assert connection.execute(query.group_by(table.c.host)).all() == [("b", 9)]
        # A cursor on the server sends the rows in parts.
        streamed = connection.execution_options(stream_results=True)
        sql = "SELECT value FROM generate_series(1, 2500)"
        assert [len(part) for part in pandas.read_sql(sql, streamed, chunksize=1000)] == [1000, 1000, 500]


JAVA = Path(__file__).parent / "Metadata.java"


def test_jdbc_reads_metadata(server, stored):
    words = ["java", "-cp", DRIVER, str(JAVA)]
    words += [f"jdbc:postgresql://{server.host}:{server.pg_port}/{stored}", server.token or "none", stored]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = dict(line.split("=", 1) for line in ran.stdout.splitlines())
    assert found["tables"] == f"{stored}.cpu:TABLE"
    assert found["columns"] == "1 time timestamptz 93,2 host text 12,3 load float8 8,4 cores int8 -5"
    assert stored in found["schemas"].split(",") and stored in found["catalogs"].split(",")
    for empty in ["primary", "indexes", "imported", "exported", "functions", "procedures", "udts"]:
        assert found[empty] == "", empty
    assert {"int8", "text", "timestamptz", "_text"} <= set(found["types"].split(","))
    assert "qualify" in found["keywords"].split(",")
    # All but the few that the driver lacks, and nobody may write.
    called, failed = found["failed"].split(" ", 1)
    assert int(called) > 160 and failed == "[]", found["failed"]
    assert found["privileges"] == "me SELECT" and found["schema"] == stored
    assert (found["prepared"], found["any"]) == ("a 8", "1")
    assert found["copied"] == "2 host,cores|a,8|b,9|"


def test_psql_describes_everything(server, stored):
    commands = [r"\d", r"\d cpu", r"\d+ cpu", r"\dt *.*", r"\dn+", r"\l+", r"\df", r"\du", r"\dT", r"\dx", r"\dp"]
    commands += [r"\di", r"\ds", r"\dD", r"\dA", r"\ddp", r"\dew", r"\dF", r"\dc", r"\dC", r"\do", r"\drds", r"\dRp"]
    for command in commands:
        psql(server, stored, command)
    assert "cores|bigint|||\n" in psql(server, stored, rf"\d {stored}.cpu")
    assert "me|" in psql(server, stored, r"\du")
    copied = psql(server, stored, r"\copy (SELECT host, cores FROM cpu ORDER BY host) TO STDOUT CSV HEADER")
    assert copied == "host,cores\na,8\nb,9\n"


# The constructs of Grafana's, Metabase's and DBeaver's queries: lists of settings as tables, membership in subqueries
# within CASE and ORDER BY, casts to regclass in joins, functions of rows, and `t.oid, t.*`.
PATH = "string_to_array(current_setting('search_path'), ',')"
IN_PATH = f"""quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower({PATH}, 1), array_upper({PATH}, 1)) AS i, {PATH} s)"""


def rows(connection, sql):
    return connection.execute(sql).fetchall()


def test_grafana_fills_its_pickers(server, stored):
    with connect(server, stored) as connection:
        assert rows(connection, "SELECT current_setting('server_version_num')::int / 100") == [(1500,)]
        assert rows(connection, "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'") == []
        tables = f"""SELECT CASE WHEN {IN_PATH} THEN quote_ident(table_name)
            ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
            FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog')
            ORDER BY CASE WHEN {IN_PATH} THEN 0 ELSE 1 END, 1"""
        found = [row[0] for row in rows(connection, tables)]
        assert found[:4] == ["cpu", "ensembles", "events", "outcomes"]
        for name in ["cpu", f"{stored}.cpu"]:
            columns = f"""SELECT quote_ident(column_name), data_type FROM information_schema.columns
                WHERE CASE WHEN array_length(parse_ident('{name}'), 1) = 2
                    THEN quote_ident(table_schema) = (parse_ident('{name}'))[1]
                        AND quote_ident(table_name) = (parse_ident('{name}'))[2]
                    ELSE quote_ident(table_name) = '{name}' AND {IN_PATH} END"""
            expected = ["timestamp with time zone", "text", "double precision", "bigint"]
            assert [row[1] for row in rows(connection, columns)] == expected, name
        for bucket in ["floor(extract(epoch from time) / 60) * 60", "time_bucket('60.000s', time)"]:
            sql = f"""SELECT {bucket} AS "time", avg(cores) FROM cpu
                WHERE time BETWEEN '2025-10-09T08:00:00Z' AND '2025-10-09T09:00:00.5Z' GROUP BY 1 ORDER BY 1"""
            assert [row[1] for row in rows(connection, sql)] == [8.5], bucket


def test_metabase_and_dbeaver_list_tables_and_columns(server, stored):
    described = "LEFT JOIN pg_catalog.pg_description d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass"
    with connect(server, stored) as connection:
        sql = f"""SELECT n.nspname, c.relname, CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE NULL END, d.description,
            s.n_live_tup FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid {described}
            LEFT JOIN pg_stat_user_tables s ON n.nspname = s.schemaname AND c.relname = s.relname
            WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND n.nspname = '{stored}'"""
        assert rows(connection, sql) == [(stored, "cpu", "TABLE", None, None)]
        sql = f"""SELECT c.column_name, FORMAT('%s', c.udt_name), c.ordinal_position - 1, k.column_name IS NOT NULL,
            col_description(CAST(CAST(FORMAT('%I.%I', c.table_schema, c.table_name) AS REGCLASS) AS OID), c.ordinal_position)
            FROM information_schema.columns c LEFT JOIN (
                SELECT u.table_name, u.column_name FROM information_schema.table_constraints t
                JOIN information_schema.key_column_usage u ON t.constraint_name = u.constraint_name) k
            ON c.column_name = k.column_name WHERE c.table_schema = '{stored}' ORDER BY 3"""
        expected = [("time", "timestamptz"), ("host", "text"), ("load", "float8"), ("cores", "int8")]
        assert rows(connection, sql) == [(*column, place, False, None) for place, column in enumerate(expected)]
        sql = f"SELECT c.oid, c.*, d.description FROM pg_catalog.pg_class c {described} WHERE c.oid = 'cpu'::regclass"
        cursor = connection.execute(sql)
        names = [column.name for column in cursor.description]
        assert names.count("oid") == 1 and len(cursor.fetchall()) == 1
        cursor = connection.execute("SELECT i.*, c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid")
        assert [column.name for column in cursor.description][:2] == ["indexrelid", "indrelid"] and not cursor.fetchall()
        number = rows(connection, "SELECT attrelid, attnum FROM pg_attribute WHERE attrelid = 'cpu'::regclass ORDER BY 2")
        assert {row[0] for row in number} == {rows(connection, f"SELECT to_regclass('{stored}.cpu')")[0][0]}
        assert [row[1] for row in number] == [1, 2, 3, 4]


def test_cursors_of_psycopg_stay_on_the_server(server, stored):
    with connect(server, stored, autocommit=False) as connection:
        with connection.cursor("part by part") as cursor:
            cursor.execute("SELECT value FROM generate_series(%s, 1000000000)", (8,))
            assert cursor.fetchmany(3) == [(8,), (9,), (10,)]
            assert cursor.fetchone() == (11,)
        with connection.cursor("binary", binary=True) as cursor:
            assert cursor.execute("SELECT * FROM cpu ORDER BY host").fetchall() == ROWS
    wait_until(lambda: running(server) == 0)


def test_copies_arrive(server, stored):
    with connect(server, stored) as connection, connection.cursor() as cursor:
        with cursor.copy("COPY (SELECT host, cores, load FROM cpu ORDER BY host) TO STDOUT") as copy:
            assert list(copy.rows()) == [("a", "8", "0.5"), ("b", "9", None)]
        with cursor.copy("COPY (SELECT host, cores FROM cpu ORDER BY host) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "int8"])
            assert list(copy.rows()) == [("a", 8), ("b", 9)]
        # A client that leaves in the middle.
        with pytest.raises(RuntimeError):
            with cursor.copy("COPY (SELECT value FROM generate_series(1, 1000000000)) TO STDOUT") as copy:
                copy.read()
                raise RuntimeError
    wait_until(lambda: running(server) == 0)


def test_adbc_reads_arrow_through_binary_copy(server, stored):
    password = f":{server.token}" if server.token else ""
    with adbc.connect(f"postgresql://me{password}@{server.host}:{server.pg_port}/{stored}") as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT time, host, load, cores FROM cpu ORDER BY host")
            table = cursor.fetch_arrow_table()
    assert table.column("cores").to_pylist() == [8, 9] and table.column("load").to_pylist() == [0.5, None]
    assert table.schema.field("time").type == pyarrow.timestamp("us", "UTC")


def test_asyncpg_takes_types_from_casts(server, stored):
    day = datetime.date(2025, 10, 9)

    async def ask():
        words = {"host": server.host, "port": server.pg_port, "user": "me", "password": server.token}
        connection = await asyncpg.connect(database=stored, **words)
        for cast, value in [
            ("text[]", ["a", None]),
            ("bigint[]", [1, 2]),
            ("timestamptz[]", [FIRST]),
            ("timestamptz", FIRST),
            ("date", day),
            ("int4", -3),
            ("float8", 0.5),
            ("numeric(10, 2)", decimal.Decimal("1.50")),
            ("varchar", "x"),
            ("bool", True),
            ("bytea", b"\x00\xff"),
            ("jsonb", "{}"),
        ]:
            assert await connection.fetchval(f"SELECT $1::{cast} AS v", value) == value, cast
        assert await connection.fetchval("SELECT $1::uuid AS v", uuid.UUID(int=7)) == str(uuid.UUID(int=7))
        later = await connection.fetchval("SELECT max(time + $1::interval) FROM cpu WHERE host = 'a'", datetime.timedelta(hours=1, days=2))
        assert later == FIRST + datetime.timedelta(hours=1, days=2)
        for sql, value in [("host = any($1)", ["a", "x"]), ("cores = any($1)", [8]), ("time = any($1)", [FIRST]), ("load = any($1)", [0.5])]:
            assert await connection.fetchval(f"SELECT count(*) FROM cpu WHERE {sql}", value) == 1, sql
        assert await connection.fetchval("SELECT host FROM cpu ORDER BY host LIMIT $1 OFFSET $2", 1, 1) == "b"
        copied = io.BytesIO()
        await connection.copy_from_query("SELECT host FROM cpu WHERE host = $1", "a", output=copied, format="csv", header=True)
        assert copied.getvalue() == b"host\na\n"
        await connection.close()

    asyncio.run(ask())


def test_tokens_hide_other_databases_from_catalogues(server, stored):
    if server.token is None:
        return
    server.write(f"/write?db=y{stored}", b"secret,host=a load=1")
    reader = server.create(f"r{stored}", "--read", "--database", stored)
    with connect(server, stored, password=reader) as connection:
        for sql in [
            "SELECT relname FROM pg_class",
            "SELECT table_name FROM information_schema.tables",
            "SELECT table_name FROM information_schema.columns",
            "SELECT attrelid::regclass FROM pg_attribute",
        ]:
            found = {row[0] for row in rows(connection, sql)}
            assert "cpu" in found and not any("secret" in name for name in found), sql
        with pytest.raises(psycopg.Error) as raised:
            connection.execute(f"COPY y{stored}.secret TO STDOUT")
        assert raised.value.sqlstate in ("42501", "42P01")
    server.revoke(f"r{stored}")
