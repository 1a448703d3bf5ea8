"""Random questions about random messy tables: SQL over HTTP, PostgreSQL's protocol and DuckDB agree.

A failure prints its seed and the question. MANYWORLDS_SEED and MANYWORLDS_QUESTIONS choose others."""

import datetime
import decimal
import json
import math
import os
import random
import subprocess
import urllib.error

import deltalake
import duckdb
import psycopg
import pyarrow
import pyarrow.parquet
import pytest

from conftest import ENVIRONMENT, MANYWORLDS, Server

SEED = int(os.environ.get("MANYWORLDS_SEED", 1))
QUESTIONS = int(os.environ.get("MANYWORLDS_QUESTIONS", 1200))
# Conditions that are counted by one statement, and statements with one condition each, which prune by it.
TOGETHER, ALONE = 25, 5
TEXTS = ["", "alpha", "Alpha", "beta", "a%b", "a_b", "a\\b", "\\", "\\\\", "é", "日本", "a\nb", "'q'", "NULL", "a.b"]
REGEXES = ["\\\\", "^a", "b$", "^$", "%", "_", "a\\\\b", "A", "é", ".", "^\\\\+$", "a.b", "a\\.b", "^(alpha|beta)$", "", "[^a-z]", "^\\\\"]
LIKES = ["%", "_", "a%", "%b", "%a%", "", "alpha", "a\\%b", "a\\_b", "a\\\\b", "\\\\%", "%\\\\", "__", "%é%", "日_"]
WHOLE = [-(2**63), -(2**63) + 1, 2**63 - 1, 2**63 - 2, 0, -1, 1, 2**53, 2**53 + 1, 1234567890123456789]
REALS = [0.0, -0.0, 1.5, -2.25, math.nan, math.inf, -math.inf, 1e300, -1e300, 1e-300, 3.0]
START = datetime.datetime(2026, 11, 22, tzinfo=datetime.timezone.utc)
TYPES = {
    "k": pyarrow.int64(), "host": pyarrow.string(), "n": pyarrow.int32(), "big": pyarrow.int64(), "x": pyarrow.float64(), "y": pyarrow.float64(),
    "flag": pyarrow.bool_(), "day": pyarrow.date32(), "time": pyarrow.timestamp("us", "UTC"), "price": pyarrow.decimal128(9, 2),
}


def row(dice, k):
    values = {
        "k": k,
        "host": dice.choice(TEXTS),
        "n": dice.choice([-3, -1, 0, 1, 2, 7, -(2**31), 2**31 - 1]),
        "big": dice.choice(WHOLE) if dice.random() < 0.5 else dice.randrange(-(2**63), 2**63),
        "x": dice.choice(REALS),
        "y": dice.randrange(20000) / 16,
        "flag": dice.random() < 0.3,
        "day": START.date() + datetime.timedelta(days=dice.randrange(9)),
        "time": START + datetime.timedelta(minutes=30 * dice.randrange(48)),
        "price": decimal.Decimal(dice.randrange(-99999, 99999)).scaleb(-2),
    }
    return {name: None if name != "k" and dice.random() < 0.1 else value for name, value in values.items()}


def literal(dice, column):
    if column == "host":
        return quoted(dice.choice(TEXTS))
    if column == "day":
        return f"DATE '{START.date() + datetime.timedelta(days=dice.randrange(9))}'"
    if column == "time":
        return f"TIMESTAMPTZ '{(START + datetime.timedelta(minutes=30 * dice.randrange(48))).isoformat()}'"
    if column == "flag":
        return dice.choice(["true", "false"])
    if column == "big":
        # -2^63 is an operator before a number that is too large.
        return f"({max(dice.choice(WHOLE), -(2**63) + 1)})"
    return dice.choice(["0", "1", "-1", "2", "7", "0.5", "-2.25", "1.5", "600", "3"])


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def condition(dice, depth=2):
    """In the SQL of the server and in that of DuckDB."""
    if depth and dice.random() < 0.4:
        (a, b), (c, d) = condition(dice, depth - 1), condition(dice, depth - 1)
        word = dice.choice(["AND", "OR", "NOT"])
        return (f"NOT ({a})", f"NOT ({b})") if word == "NOT" else (f"({a} {word} {c})", f"({b} {word} {d})")
    column = dice.choice(["host", "n", "big", "x", "y", "flag", "day", "time", "price"])
    sign = dice.choice(["=", "<>", "<", "<=", ">", ">="])
    kind = dice.randrange(9)
    if kind == 0:
        one = f"{column} IS {dice.choice(['', 'NOT '])}NULL"
    elif kind == 1:
        elements = [literal(dice, column) for _ in range(dice.randrange(1, 4))]
        if dice.random() < 0.2:
            elements.append(dice.choice(["NULL", column]))
        one = f"{column} {dice.choice(['', 'NOT '])}IN ({', '.join(elements)})"
    elif kind == 2:
        operator, pattern = dice.choice(["~", "!~", "~*", "!~*"]), quoted(dice.choice(REGEXES))
        flags = ", 'i'" if "*" in operator else ""
        return f"host {operator} {pattern}", f"{'NOT ' if '!' in operator else ''}regexp_matches(host, {pattern}{flags})"
    elif kind == 3:
        words, pattern = f"host {dice.choice(['', 'NOT '])}{dice.choice(['LIKE', 'ILIKE'])}", quoted(dice.choice(LIKES))
        return f"{words} {pattern}", f"{words} {pattern} ESCAPE '\\'"
    elif kind == 4:
        one = f"{dice.choice(['n::BIGINT', 'k'])} {dice.choice('+-*%')} {dice.choice(['2', '7', 'k'])} {sign} {literal(dice, 'n')}"
        one = one.replace("% k", "% 7")
    elif kind == 5:
        one = f"{dice.choice(['n', 'big', 'x'])} {sign} {dice.choice(['n', 'k', 'y'])}"
    elif kind == 6:
        one = f"{column} IS {dice.choice(['', 'NOT '])}DISTINCT FROM {literal(dice, column)}"
    elif kind == 7:
        one = f"{column} BETWEEN {literal(dice, column)} AND {literal(dice, column)}"
    else:
        one = f"{column} {sign} {literal(dice, column)}"
    return one, one


MEASURES = [
    "count(*)", "sum(big)", "sum(n)", "avg(big)", "avg(n)", "sum(price)", "min({})", "max({})", "count(DISTINCT {})", "count({})",
    "sum(k * 2)", "sum(DISTINCT n)", "avg(y)",
]


GROUPS = ["host", "n", "flag", "day", "big"]


def grouped(dice):
    group = dice.choice(GROUPS)
    picked = [dice.choice(MEASURES).format(dice.choice(["host", "n", "big", "y", "day"])) for _ in range(3)]
    measures = ", ".join(f"{measure} AS m{i}" for i, measure in enumerate(picked))
    return [f"SELECT {group} AS g, {measures} FROM messy WHERE {side} GROUP BY {group}" for side in condition(dice)]


def first_rows(dice):
    column, where = dice.choice([name for name in TYPES if name != "k"]), condition(dice)
    order = f"{column} {dice.choice(['', 'DESC'])} NULLS {dice.choice(['FIRST', 'LAST'])}, k"
    rest = f"ORDER BY {order} LIMIT {dice.randrange(1, 40)} OFFSET {dice.choice([0, 0, 7])}"
    return [f"SELECT k, {column} FROM messy WHERE {side} {rest}" for side in where]


def of_others(dice):
    """Rows that are chosen by a subquery."""
    column, inner, outer = dice.choice(["host", "n", "big", "x", "day", "flag"]), condition(dice), condition(dice)
    among = dice.choice([
        f"{column} IN (SELECT {column} FROM messy WHERE {{}})",
        f"{column} NOT IN (SELECT {column} FROM messy WHERE {{}})",
        f"{column} NOT IN (SELECT {column} FROM messy WHERE {column} IS NOT NULL AND {{}})",
        f"EXISTS (SELECT 1 FROM messy AS others WHERE others.{column} = messy.{column} AND others.k > messy.k AND {{}})",
        f"NOT EXISTS (SELECT 1 FROM messy AS others WHERE others.{column} = messy.{column} AND others.k < messy.k AND {{}})",
        "y > (SELECT avg(y) FROM messy WHERE {})",
    ])
    # In a correlated subquery a condition is about the rows of the subquery.
    return [f"SELECT k FROM messy WHERE {among.format(a)} AND ({b})" for a, b in zip(inner, outer)]


def joined(dice):
    column, kind = dice.choice(["n", "host", "day", "x", "time", "price"]), dice.choice(["", "LEFT", "RIGHT", "FULL"])
    sides = list(zip(condition(dice, 1), condition(dice, 1)))
    more = dice.choice(["", "AND a.k < b.k", "AND a.y <> b.y"])
    sums = "count(*) AS c, count(a.k) AS l, count(b.k) AS r, sum(a.k) AS s, sum(b.k) AS t"
    return [
        f"SELECT {sums} FROM (SELECT * FROM messy WHERE {left}) AS a {kind} JOIN (SELECT * FROM messy WHERE {right}) AS b ON a.{column} = b.{column} {more}"
        for left, right in sides
    ]


def windowed(dice):
    group, order = dice.choice(GROUPS), f"{dice.choice(['n', 'y', 'big', 'time', 'host'])} NULLS {dice.choice(['FIRST', 'LAST'])}, k"
    frame = dice.choice(["", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING"])
    over, framed = (f"OVER (PARTITION BY {group} ORDER BY {order} {words})" for words in ("", frame))
    measures = f"row_number() {over} AS a, lag(n, 2) {over} AS b, sum(big) {framed} AS c, count(host) {framed} AS d, max(y) {framed} AS e"
    return [f"SELECT k, {measures} FROM messy WHERE {side}" for side in condition(dice)]


def combined(dice):
    columns = ", ".join(dice.sample([*GROUPS, "y", "price"], 2))
    word = dice.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
    return [
        f"SELECT DISTINCT {columns} FROM messy WHERE {left} {word} SELECT {columns} FROM messy WHERE {right}"
        for left, right in zip(condition(dice), condition(dice))
    ]


def rolled(dice):
    a, b = dice.sample(GROUPS, 2)
    groups = dice.choice([f"ROLLUP ({a}, {b})", f"CUBE ({a}, {b})", f"GROUPING SETS (({a}), ({b}), ())"])
    having = dice.choice(["", f"HAVING count(*) > {dice.randrange(9)}", "HAVING sum(n) > 0"])
    return [f"SELECT {a}, {b}, count(*) AS c, sum(n) AS s, max(y) AS m FROM messy WHERE {side} GROUP BY {groups} {having}" for side in condition(dice)]


def chosen(dice):
    values = [
        "CASE WHEN {0} THEN n WHEN {1} THEN -7 END",
        "coalesce(n, k)", "nullif(n, 2)", "greatest(n, k, 3)", "least(y, 100.5)", f"CASE n WHEN {dice.choice([0, 1])} THEN 'a' WHEN 2 THEN host END",
        "abs(n::BIGINT)", "round(y)", "floor(y)", "k / 7.0", "length(host)", "upper(host)", "host || 'x'", "date_trunc('hour', time)", "n IS NULL OR n = 1",
    ]
    picked = ", ".join(f"{value} AS v{i}" for i, value in enumerate(dice.sample(values, 3)))
    first, second, where = condition(dice, 1), condition(dice, 1), condition(dice)
    return [f"SELECT k, {picked.format(a, b)} FROM messy WHERE {c}" for a, b, c in zip(first, second, where)]


SHAPES = [grouped, grouped, first_rows, of_others, joined, windowed, combined, rolled, chosen]


def normal(value):
    if isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool):
        return decimal.Decimal(value) if not isinstance(value, float) else value
    if isinstance(value, str):
        for read in (decimal.Decimal, datetime.datetime.fromisoformat):
            try:
                return normal(read(value))
            except (ValueError, decimal.InvalidOperation):
                pass
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.timezone.utc)
    return value


def alike(a, b):
    a, b = normal(a), normal(b)
    if isinstance(a, float) or isinstance(b, float):
        # JSON has neither NaN nor infinities.
        if a is None or b is None or not math.isfinite(a) or not math.isfinite(b):
            return a is None or b is None or str(float(a)) == str(float(b))
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


def rank(value):
    """Where a value is among others, however it is written."""
    value = normal(value)
    if value is None or isinstance(value, float) and not math.isfinite(value):
        return 0, 0
    if isinstance(value, (bool, float, decimal.Decimal)):
        return 1, value
    return (2, value) if isinstance(value, datetime.datetime) else (3, value)


class Asked:
    def __init__(self, server, connection, duck):
        self.server, self.connection, self.duck = server, connection, duck

    def answers(self, ours, theirs):
        try:
            http = [tuple(row.values()) for row in self.server._ask("/api/v1/sql", ours)]
        except urllib.error.HTTPError as error:
            return error.read().decode(), None, None
        return http, self.connection.execute(ours).fetchall(), self.duck.execute(theirs).fetchall()

    def check(self, seed, ours, theirs):
        """Compares the rows of three answers, in any order."""
        answers = self.answers(ours, theirs)
        assert isinstance(answers[0], list), f"seed {seed}: {ours}: {answers[0]}"
        for answer in answers:
            answer.sort(key=lambda row: [rank(value) for value in row])
        for place, of_duck in enumerate(answers[2]):
            for name, answer in (("HTTP", answers[0]), ("PostgreSQL", answers[1])):
                assert len(answer) == len(answers[2]), f"seed {seed}: {ours}\n{name}: {answer}\nDuckDB: {answers[2]}"
                for column, (a, b) in enumerate(zip(answer[place], of_duck)):
                    assert alike(a, b), f"seed {seed}: column {column} of {ours}\n{name}: {a!r}\nDuckDB: {b!r}"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A server over a table with segments, deleted rows and rows that no segment holds."""
    folder = tmp_path_factory.mktemp("agree")
    data, dice = folder / "data", random.Random(SEED)
    rows = [row(dice, k) for k in range(900)]
    fresh = [{"k": 900 + i, "host": dice.choice(TEXTS), "big": dice.choice(WHOLE), "y": i + 0.5, "x": i / 3, "time": f"2026-11-23T00:{i:02}:00Z"} for i in range(60)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(list(TYPES.items()))), folder / "rows.parquet")

    def manyworlds(*words):
        subprocess.run([MANYWORLDS, *words, "--data", str(data)], env=ENVIRONMENT, check=True, capture_output=True)

    manyworlds("table", "insert", "messy", str(folder / "rows.parquet"), "--batch-rows", "300", "--bloom", "host,big", "--lookup", "n")
    manyworlds("table", "delete", "messy", "--where", "k % 10 = 3", "--apply")
    server = Server(folder, False, "--flush-seconds", "3600", "--compact", "0")
    body = "".join(json.dumps(row) + "\n" for row in fresh).encode()
    server.write("/api/v1/write/json?table=messy", body)
    duck = duckdb.connect()
    duck.execute("set TimeZone = 'UTC'")
    files = deltalake.DeltaTable(str(data / "default" / "messy")).file_uris()
    duck.execute(f"create table messy as select * from read_parquet({files!r})")
    duck.executemany("insert into messy (k, host, big, y, x, time) values (?, ?, ?, ?, ?, ?)", [list(row.values()) for row in fresh])
    with psycopg.connect(host=server.host, port=server.pg_port, dbname="default", user="me", autocommit=True) as connection:
        connection.execute("SET statement_timeout = 60000")
        yield Asked(server, connection, duck)
    server.stop()


def test_http_postgresql_and_duckdb_agree(asked):
    questions = 0
    for seed in range(SEED, SEED + QUESTIONS // (TOGETHER + ALONE)):
        dice = random.Random(seed)
        conditions = [condition(dice) for _ in range(TOGETHER)]
        try:
            both = [", ".join(f"count(*) FILTER (WHERE {one[side]}) AS c{i}" for i, one in enumerate(conditions)) for side in (0, 1)]
            asked.check(seed, *(f"SELECT {counts} FROM messy" for counts in both))
        except AssertionError:
            # Which one it is.
            for one in conditions:
                asked.check(seed, *(f"SELECT count(*) AS n FROM messy WHERE {side}" for side in one))
            raise
        # What they are, not only where they are true.
        asked.check(seed, *(f"SELECT k, {', '.join(f'{one[side]} AS c{i}' for i, one in enumerate(conditions[:4]))} FROM messy" for side in (0, 1)))
        for shape in dice.choices(SHAPES, k=ALONE):
            asked.check(seed, *shape(dice))
        questions += TOGETHER + ALONE
    assert questions >= QUESTIONS - TOGETHER - ALONE
