"""Queries that drivers, object mappers and database tools send before and around a user's own.

The statements have the constructs that Npgsql, pgx, ruby-pg, DBD::Pg, PDO, Kysely, Drizzle, pgAdmin, DataGrip,
Hibernate, TypeORM, Prisma and Rails send.
"""

import datetime

import psycopg
import pytest

from test_postgres import FIRST, ROWS, code, connect, psql, stored  # noqa: F401
from test_postgres_queries import ask, connection  # noqa: F401

TYPES = ["timestamptz", "text", "float8", "int8"]


def test_drivers_learn_the_types(connection, stored):
    # Npgsql, and Power BI with it: lists are the types whose functions are those of lists.
    sql = """SELECT ns.nspname, t.typname, t.typtype, t.elemtypname FROM (
            SELECT typ.typnamespace, typ.typname, elemtyp.typname AS elemtypname,
                CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype
            FROM pg_type AS typ
            LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
            LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
            LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
            LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = CASE WHEN proc.proname='array_recv' THEN typ.typelem END) AS t
        JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
        WHERE t.typname IN ('int8', '_int8', '_timestamptz') ORDER BY t.typname"""
    assert ask(connection, sql) == [
        ("pg_catalog", "_int8", "a", "int8"),
        ("pg_catalog", "_timestamptz", "a", "timestamptz"),
        ("pg_catalog", "int8", "b", None),
    ]
    # ruby-pg.
    sql = """SELECT t.typname, ti.proname AS typinput FROM pg_type t JOIN pg_proc ti ON ti.oid = t.typinput
        WHERE t.typname IN ('bool', 'date', '_text') ORDER BY 1"""
    assert ask(connection, sql) == [("_text", "array_in"), ("bool", "boolin"), ("date", "date_in")]
    # pgx, which sends the name of a type.
    sql = "SELECT typname FROM pg_type WHERE oid = %s::text::regtype::oid"
    assert [ask(connection, sql, (name,)) for name in ["_text", "bigint", "timestamptz"]] == [[("_text",)], [("int8",)], [("timestamptz",)]]
    # TypeORM writes the name in quotes.
    sql = """SELECT ('"' || udt_schema || '"."' || udt_name || '"')::"regtype"::text FROM information_schema.columns
        WHERE table_schema = %s AND table_name = 'cpu' AND column_name = 'cores'"""
    assert ask(connection, sql, (stored,)) == [("bigint",)]


def test_mappers_describe_columns(connection, stored):
    # Kysely compares a flag with a parameter whose type it leaves open.
    sql = """SELECT a.attname, typ.typname FROM pg_catalog.pg_attribute AS a
        INNER JOIN pg_catalog.pg_class AS c ON a.attrelid = c.oid
        INNER JOIN pg_catalog.pg_namespace AS ns ON c.relnamespace = ns.oid
        INNER JOIN pg_catalog.pg_type AS typ ON a.atttypid = typ.oid
        WHERE c.relkind IN (%s, %s) AND ns.nspname !~ %s AND ns.nspname = %s AND a.attisdropped != %s ORDER BY a.attnum"""
    names = list(zip(["time", "host", "load", "cores"], TYPES))
    assert ask(connection, sql, ("r", "v", "^pg_", stored, "true")) == names
    # DBD::Pg compares it with a text.
    sql = """SELECT a.attname, CASE a.attnotnull WHEN 't' THEN 0 ELSE 1 END AS nullable FROM pg_attribute a
        WHERE a.attrelid = 'cpu'::regclass AND a.attnum = 1"""
    assert ask(connection, sql) == [("time", 1)]
    # Drizzle.
    sql = """SELECT a.attname, CASE WHEN a.atttypid = ANY ('{int,int8,int2}'::regtype[]) AND EXISTS (
                SELECT FROM pg_attrdef ad WHERE ad.adrelid = a.attrelid AND ad.adnum = a.attnum) THEN 'serial'
            WHEN a.atttypid = ANY ('{int,int8,int2}'::regtype[]) THEN 'number' ELSE format_type(a.atttypid, a.atttypmod) END
        FROM pg_attribute a WHERE a.attrelid = 'cpu'::regclass ORDER BY a.attnum"""
    assert [row[1] for row in ask(connection, sql)] == ["timestamp with time zone", "text", "double precision", "number"]
    assert ask(connection, "SELECT jsonb_build_object('always', a.attidentity = 'a', 'start', 1) FROM pg_attribute a LIMIT 1") == [
        ({"always": False, "start": 1},)
    ]


def test_typeorm_joins_columns_to_their_attributes(connection, stored):
    sql = """SELECT columns.*, pg_catalog.col_description((quote_ident(table_catalog) || '.' || quote_ident(table_schema) || '.'
            || quote_ident(table_name))::regclass::oid, ordinal_position) AS description,
            pg_catalog.format_type("col_attr"."atttypid", "col_attr"."atttypmod") AS "format_type"
        FROM "information_schema"."columns" LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr"
            ON "col_attr"."attname" = "columns"."column_name" AND "col_attr"."attrelid" = (
                SELECT "cls"."oid" FROM "pg_catalog"."pg_class" AS "cls"
                LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON "ns"."oid" = "cls"."relnamespace"
                WHERE "cls"."relname" = "columns"."table_name" AND "ns"."nspname" = "columns"."table_schema")
        WHERE ("table_schema" = '{}' AND "table_name" = 'cpu')""".format(stored)
    cursor = connection.execute(sql)
    names = [column.name for column in cursor.description]
    rows = [dict(zip(names, row)) for row in cursor]
    assert [(row["column_name"], row["format_type"], row["description"]) for row in rows] == [
        ("time", "timestamp with time zone", None),
        ("host", "text", None),
        ("load", "double precision", None),
        ("cores", "bigint", None),
    ]


def test_prisma_introspects_tables(connection, stored):
    sql = """SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) AS formatted_type,
            pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default
        FROM information_schema.columns info
        JOIN pg_attribute att ON att.attname = info.column_name
        JOIN (SELECT pg_class.oid, relname, pg_namespace.nspname AS namespace
              FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = ANY ( %s )
              WHERE reltype > 0) AS oid
            ON oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
        LEFT OUTER JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND table_schema = namespace
        WHERE table_schema = ANY ( %s ) ORDER BY namespace, table_name, ordinal_position"""
    assert [row[2:] for row in ask(connection, sql, ([stored], [stored]))] == [
        ("time", "timestamp with time zone", None),
        ("host", "text", None),
        ("load", "double precision", None),
        ("cores", "bigint", None),
    ]


def test_rails_reads_settings(connection):
    assert connection.execute("SHOW client_min_messages").fetchall() == [("notice",)]


def test_hibernate_writes_patterns_without_escape(connection):
    assert ask(connection, "SELECT host FROM cpu WHERE lower(host) LIKE '%a%' ESCAPE ''") == [("a",)]
    escaped = "SELECT 'a!b' LIKE 'a!!b' ESCAPE '!', 'a%b' LIKE 'a!%b' ESCAPE '!', 'axb' LIKE 'a!%b' ESCAPE '!'"
    assert ask(connection, escaped) == [(True, True, False)]
    assert ask(connection, r"SELECT 'a\_b' LIKE 'a\_b' ESCAPE '', 'axb' LIKE 'a\_b' ESCAPE ''") == [(True, False)]


def test_names_of_schemas_and_roles_are_numbers(connection, stored):
    sql = "SELECT relname FROM pg_class WHERE relnamespace = '{}'::regnamespace"
    assert ask(connection, sql.format(stored)) == [("cpu",)]
    assert {row[0] for row in ask(connection, sql.format("sim"))} == {"outcomes", "events", "ensembles"}
    sql = "SELECT relnamespace::regnamespace::text, relowner::regrole::text FROM pg_class WHERE oid = 'cpu'::regclass"
    assert ask(connection, sql) == [(stored, "me")]
    assert ask(connection, "SELECT nspname FROM pg_namespace WHERE oid = to_regnamespace(%s)", (stored,)) == [(stored,)]
    assert ask(connection, "SELECT current_schema, pg_catalog.current_schema AS own, current_role, localtimestamp > TIMESTAMP '2025-01-01'") == [
        (stored, stored, "me", True)
    ]
    assert connection.execute("SELECT current_schema").description[0].name == "current_schema"


def test_pgadmin_and_datagrip_look_around(connection, stored):
    sql = """SELECT db.datname, t.spcname, (SELECT pg_catalog.shobj_description(db.oid, 'pg_database')) AS description
        FROM pg_catalog.pg_database db JOIN pg_tablespace t ON db.dattablespace = t.oid WHERE db.datname = current_database()"""
    assert ask(connection, sql) == [(stored, "pg_default", None)]
    sql = """SELECT rel.relname, (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggers,
            (SELECT count(1) FROM pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS inherits
        FROM pg_class rel WHERE rel.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"""
    assert ask(connection, sql) == [("cpu", 0, 0)]
    # The number of the transaction that wrote a row.
    sql = """SELECT T.relname AS table_name, T.xmin, T.xmin AS table_state_number FROM pg_catalog.pg_class T
        WHERE relnamespace = '{}'::regnamespace ORDER BY CASE WHEN relname = pg_catalog.current_schema THEN -1::bigint ELSE T.oid::bigint END""".format(stored)
    assert ask(connection, sql) == [("cpu", 0, 0)]
    assert connection.execute(sql).description[1].name == "xmin"
    assert ask(connection, "SELECT txid_current() >= 0, pg_postmaster_start_time(), inet_server_port()") == [(True, None, None)]
    for command in [r"\l+", r"\db"]:
        assert "pg_default" in psql_of(connection, stored, command)


def psql_of(connection, stored, *commands):
    """What `psql` prints, at the server of a connection."""
    info = connection.info
    server = type("Address", (), {"host": info.host, "pg_port": info.port, "token": info.password or None})
    return psql(server, stored, *commands)


def test_psql_lists_what_nobody_has(connection, stored):
    for command in [r"\deu", r"\lo_list"]:
        psql_of(connection, stored, command)


def test_wildcards_of_tables_with_their_schema(connection, stored):
    assert ask(connection, f'SELECT cpu.* FROM {stored}.cpu ORDER BY host') == ROWS
    assert ask(connection, f'SELECT "cpu".*, 1 AS one FROM "{stored}"."cpu" ORDER BY host') == [(*row, 1) for row in ROWS]
    assert len(ask(connection, f"SELECT cpu.*, o.host FROM {stored}.cpu JOIN {stored}.cpu o USING (host)")) == 2
    names = connection.execute("SELECT columns.* FROM information_schema.columns WHERE table_name = 'cpu'").description
    assert [name.name for name in names][:4] == ["table_catalog", "table_schema", "table_name", "column_name"]
    assert ask(connection, "SELECT pg_class.* FROM pg_class WHERE relname = 'cpu'")[0][1] == "cpu"


def test_columns_ask_whether_rows_exist(connection):
    for sql, expected in [
        ("EXISTS (SELECT 1 FROM cpu)", True),
        ("EXISTS (SELECT * FROM cpu WHERE host = 'z') AS found", False),
        ("NOT EXISTS (SELECT host FROM cpu ORDER BY host LIMIT 1)", False),
        ("CASE WHEN EXISTS (SELECT DISTINCT host FROM cpu) THEN 'yes' ELSE 'no' END", "yes"),
    ]:
        assert ask(connection, f"SELECT {sql}") == [(expected,)], sql
    sql = "SELECT host, EXISTS (SELECT 1 FROM cpu o WHERE o.host = cpu.host AND o.cores > 8) FROM cpu ORDER BY host"
    assert ask(connection, sql) == [("a", False), ("b", True)]


def test_rows_are_numbered_and_limited(connection):
    sql = "SELECT host, row_number() OVER (ORDER BY host), rank() OVER (ORDER BY host) AS r FROM cpu ORDER BY r"
    assert ask(connection, sql) == [("a", 1, 1), ("b", 2, 2)]
    assert [column.type_display for column in connection.execute(sql).description] == ["text", "int8", "int8"]
    # Hibernate and jOOQ.
    assert ask(connection, "SELECT host FROM cpu ORDER BY host FETCH FIRST 1 ROWS ONLY") == [("a",)]
    assert ask(connection, "SELECT host FROM cpu ORDER BY host OFFSET %s ROWS FETCH NEXT %s ROWS ONLY", (1, 5)) == [("b",)]
    # Django rounds decimals of 1000 digits.
    assert [str(row[0]) for row in ask(connection, "SELECT round(cores::numeric(1000, 15), 1) FROM cpu ORDER BY 1")] == ["8.0", "9.0"]


def test_intervals_arrive(server, stored):
    second = datetime.timedelta(seconds=1, microseconds=1)
    for binary in [False, True]:
        with connect(server, stored) as connection, connection.cursor(binary=binary) as cursor:
            for sql, value in [
                ("SELECT max(time) - min(time) FROM cpu", second),
                ("SELECT INTERVAL '1 day 2 hours'", datetime.timedelta(days=1, hours=2)),
                ("SELECT TIMESTAMP '2025-03-01' - TIMESTAMP '2025-03-02 12:00:00'", datetime.timedelta(days=-1, hours=-12)),
            ]:
                assert cursor.execute(sql).fetchall() == [(value,)], sql
                assert cursor.description[0].type_display == "interval"
            assert cursor.execute("SELECT max(time) - INTERVAL '1 second' FROM cpu WHERE host = 'b'").fetchone()[0] < FIRST + second
    assert psql(server, stored, "SELECT INTERVAL '14 months 3 days 90 minutes'") == "1 year 2 mons 3 days 01:30:00\n"


def test_cursors_skip_rows(server, stored):
    with connect(server, stored, autocommit=False) as connection:
        with connection.cursor("skipping") as cursor:
            cursor.execute("SELECT value FROM generate_series(1, 10)")
            assert cursor.fetchone() == (1,)
            cursor.scroll(3)
            assert cursor.fetchmany(2) == [(5,), (6,)]
        connection.execute("DECLARE c CURSOR FOR SELECT value FROM generate_series(1, 10)")
        assert [connection.execute(f"MOVE {words} c").statusmessage for words in ["2 FROM", "NEXT IN", "FORWARD ALL"]] == ["MOVE 2", "MOVE 1", "MOVE 7"]
        # As PDO declares cursors.
        connection.execute("DECLARE s SCROLL CURSOR WITH HOLD FOR SELECT value FROM generate_series(1, 10)")
        assert connection.execute("FETCH NEXT FROM s").fetchall() == [(1,)]
        assert code(connection, "FETCH PRIOR FROM s") == "0A000"


def test_settings_and_copies_of_other_drivers(connection):
    assert code(connection, "SHOW nothing") == "42704"
    # PDO asks for rows so.
    with connection.cursor().copy("COPY cpu (host) TO STDIN WITH DELIMITER AS E'\\t' NULL AS E'\\\\N'") as copy:
        assert sorted(row[0] for row in copy.rows()) == ["a", "b"]


def test_values_without_a_type_take_it_from_the_statement(server, database):
    # As node-postgres, PDO and others send all values.
    server.write(f"/write?db={database}", b"flags,host=a ok=t,n=1i,x=0.5 1\nflags,host=b ok=f,n=10i,x=2 2")
    with connect(server, database) as connection:
        for sql, values, expected in [
            ("SELECT host FROM flags WHERE ok = %s", ["true"], [("a",)]),
            ("SELECT host FROM flags WHERE ok = %s AND n = %s", ["f", "10"], [("b",)]),
            ("SELECT n + %s, x * %s FROM flags ORDER BY host LIMIT %s OFFSET %s", ["1", "2", "1", "1"], [(11, 4.0)]),
            ("SELECT CASE WHEN ok = %s THEN 1 ELSE 0 END FROM flags ORDER BY host", ["no"], [(0,), (1,)]),
            ("SELECT host FROM flags WHERE n < %s ORDER BY host", ["9"], [("a",)]),
            ("SELECT %s AS v", ["1"], [("1",)]),
            ("SELECT count(*) FROM flags WHERE host = any(%s)", ["{a,b}"], [(2,)]),
        ]:
            assert ask(connection, sql, values) == expected, sql
        assert code(connection, "SELECT host FROM flags WHERE ok = %s", ["perhaps"]) in ("42804", "22P02")
