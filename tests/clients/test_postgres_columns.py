"""What the catalogue says of columns: types in all spellings, precisions, and which may be NULL."""

import asyncio
import datetime

import asyncpg
import psycopg
import pytest

from test_postgres import connect, connection, stored  # noqa: F401


def ask(connection, sql, *values):
    return connection.execute(sql, values or None).fetchall()


def test_columns_say_what_they_hold(connection, stored):
    sql = """SELECT column_name, data_type, udt_name, is_nullable, numeric_precision, numeric_precision_radix,
        numeric_scale, datetime_precision FROM information_schema.columns
        WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"""
    assert ask(connection, sql, stored, "cpu") == [
        ("time", "timestamp with time zone", "timestamptz", "YES", None, None, None, 6),
        ("host", "text", "text", "YES", None, None, None, None),
        ("load", "double precision", "float8", "YES", 53, 2, None, None),
        ("cores", "bigint", "int8", "YES", 64, 2, 0, None),
    ]
    found = {row[0]: row[1:] for row in ask(connection, sql, "sim", "outcomes")}
    assert found["world"] == ("integer", "int4", "NO", 32, 2, 0, None)
    assert found["value"] == ("double precision", "float8", "NO", 53, 2, None, None)
    # Both catalogues agree on every column.
    sql = """SELECT c.table_name, c.column_name, c.is_nullable, a.attnotnull, t.typname = c.udt_name, a.attnum = c.ordinal_position
        FROM information_schema.columns c JOIN pg_namespace n ON n.nspname = c.table_schema
        JOIN pg_class r ON r.relname = c.table_name AND r.relnamespace = n.oid
        JOIN pg_attribute a ON a.attrelid = r.oid AND a.attname = c.column_name JOIN pg_type t ON t.oid = a.atttypid
        WHERE c.table_schema IN ('sim', %s)"""
    rows = ask(connection, sql, stored)
    assert len(rows) > 20 and {row[2:] for row in rows} == {("YES", False, True, True), ("NO", True, True, True)}


def copied(connection, sql):
    with connection.cursor().copy(sql) as copy:
        return b"".join(copy).decode()


def test_copies_have_the_options_of_postgresql(connection):
    query = """(SELECT 'a;b' AS "x;y", 'say "z"' AS q, NULL AS n)"""
    for options, expected in [
        ("CSV HEADER DELIMITER ';'", '"x;y";q;n\n"a;b";"say ""z""";\n'),
        ("(FORMAT csv, FORCE_QUOTE *, NULL 'none')", '"a;b","say ""z""",none\n'),
        ("(FORMAT csv, ESCAPE E'\\\\')", 'a;b,"say \\"z\\"",\n'),
        ("(FORMAT csv, QUOTE '''')", "a;b,say \"z\",\n"),
        ("(DELIMITER ';')", 'a\\;b;say "z";\\N\n'),
        ("(ENCODING 'utf-8')", 'a;b\tsay "z"\t\\N\n'),
    ]:
        assert copied(connection, f"COPY {query} TO STDOUT {options}") == expected, options
    for options, words in [
        ("(ENCODING 'latin1')", "unsupported encoding"),
        ("(NULL 'a,b', FORMAT csv)", "COPY NULL cannot contain line ends or the delimiter"),
        ("(FORMAT csv, DELIMITER '\"')", "COPY DELIMITER and QUOTE must differ"),
        ("(FORCE_QUOTE (q), FORMAT csv)", "COPY can quote all columns only"),
    ]:
        with pytest.raises(psycopg.Error, match=words):
            copied(connection, f"COPY {query} TO STDOUT {options}")


def test_values_of_further_types(server, stored, connection):
    moment = datetime.datetime(2025, 10, 9, 8, 53, 20, 5)
    values = [("float4", 0.625), ("timestamp", moment), ("oid", 4_294_967_295), ("smallint", -3), ("time", moment.time())]
    for cast, value in values:
        assert ask(connection, f"SELECT %s::{cast} AS v", value) == [(value,)], cast
    # A time without a zone stays one.
    assert ask(connection, "SELECT %s AS v", moment) == [(moment,)]

    async def ask_in_binary():
        words = {"host": server.host, "port": server.pg_port, "user": "me", "password": server.token}
        other = await asyncpg.connect(database=stored, **words)
        for cast, value in values:
            assert await other.fetchval(f"SELECT $1::{cast} AS v", value) == value, cast
        await other.close()

    asyncio.run(ask_in_binary())
