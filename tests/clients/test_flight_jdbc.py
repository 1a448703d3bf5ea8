"""The JDBC driver for Arrow Flight SQL, unchanged."""

import os
import subprocess
from pathlib import Path

import pytest

from test_postgres import FIRST, SECOND, running, stored, wait_until  # noqa: F401

DRIVER = "flight-sql-jdbc-driver"
VERSION = "18.3.0"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "manyworlds"
PROGRAM = Path(__file__).parent / "FlightJdbc.java"
# What the driver returns for expressions, as Java writes it.
VALUES = {
    "true": "true",
    "1::TINYINT": "1",
    "-3::SMALLINT": "-3",
    "1::INT": "1",
    "9223372036854775807": "9223372036854775807",
    "1.5::REAL": "1.5",
    "2.5": "2.5",
    "'-inf'::DOUBLE": "-Infinity",
    "'ü;''x'": "ü;'x",
    "upper(host)": "A",
    "X'00ff'": "[0, -1]",
    "DATE '1969-12-31'": "1969-12-31",
    "TIME '10:00:00.5'": "10:00:00.500",
    "TIMESTAMP '1999-12-31 23:59:59.999999'": "1999-12-31 23:59:59.999999",
    "TIMESTAMPTZ '1999-12-31 23:59:59.999999Z'": "1999-12-31 23:59:59.999999",
    "-12345.678::DECIMAL(12, 4)": "-12345.6780",
    "['a', NULL, 'b']": "[a, null, b]",
    "[1, 2]": "[1, 2]",
    "{'a': 1, 'b': 'x'}": '{"a":1,"b":"x"}',
    "arrow_cast('x', 'Dictionary(Int32, Utf8)')": "x",
    "arrow_cast('x', 'Utf8View')": "x",
    "arrow_cast(X'00ff', 'BinaryView')": "[0, -1]",
    "[arrow_cast('x', 'Utf8View')]": "[x]",
    "NULL": "null",
}
PARAMETERS = {
    "BOOLEAN": "true",
    "SMALLINT": "3",
    "INT": "3",
    "BIGINT": "3",
    "REAL": "1.5",
    "DOUBLE": "2.5",
    "TEXT": "it's",
    "BYTEA": "[0, -1]",
    "DATE": "2025-10-09",
    "TIME": "10:00:01",
    "TIMESTAMP": "2025-10-09 08:00:00.5",
    "TIMESTAMPTZ": "2025-10-09 08:00:00.5",
    "DECIMAL(12, 4)": "-12.3450",
}


@pytest.fixture(scope="session")
def driver():
    """The driver, from Maven's registry."""
    path = CACHE / f"{DRIVER}-{VERSION}.jar"
    if not path.exists():
        words = ["mvn", "--quiet", "--batch-mode", "dependency:copy", f"-DoutputDirectory={CACHE}"]
        words += [f"-Dartifact=org.apache.arrow:{DRIVER}:{VERSION}", f"-Dmaven.repo.local={CACHE / 'maven'}"]
        subprocess.run(words, check=True, timeout=600)
    return path


def run(driver, server, database, token=None):
    words = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8"]
    words += ["-cp", str(driver), str(PROGRAM), f"jdbc:arrow-flight-sql://{server.host}:{server.flight_port}/", database]
    words += [token] if token else []
    return subprocess.run(words, capture_output=True, text=True, timeout=240)


def test_jdbc_works_unchanged(driver, server, stored):
    ran = run(driver, server, stored, server.token)
    assert ran.returncode == 0, ran.stderr
    found = dict(line.rsplit("=", 1) for line in ran.stdout.splitlines())
    assert not [name for name in found if name.startswith("failed ")]
    assert (found["product"], found["catalogs"], found["table types"]) == ("manyworlds", "manyworlds", "TABLE")
    assert stored in found["schemas"].split(",")
    assert found["tables"] == f"{stored} cpu TABLE"
    assert found["columns"] == "1 time TIMESTAMP_WITH_TIMEZONE 2014,2 host VARCHAR 12,3 load DOUBLE 8,4 cores BIGINT -5"
    assert [found[keys] for keys in ["primary", "imported", "exported"]] == ["", "", ""]
    assert {name: found[f"value {name}"] for name in VALUES} == VALUES
    assert found["unsigned"] == "18446744073709551615"
    assert found["rows"] == f"{FIRST.isoformat().replace('+00:00', 'Z')},a,0.5,8;{SECOND.isoformat().replace('+00:00', 'Z')},b,null,9"
    assert found["many"] == "5000050000"
    assert {name: found[f"parameter {name}"] for name in PARAMETERS} == PARAMETERS
    assert (found["nothing"], found["prepared"], found["late"], found["again"]) == ("null", "b,9", "", "a;b|b")
    assert found["described"] == "Int(64, true) Utf8 Timestamp(MILLISECOND, UTC): host"
    assert (found["at most"], found["after"], found["close"]) == ("1;2;3", "1", "true")
    assert 'no column "nope"; there are: time, host, load, cores' in found["unknown column"]
    assert "cannot run DROP: only queries are allowed" in found["drop"]
    assert "cannot run INSERT: only queries are allowed" in found["insert"]
    assert "division by zero" in found["while it runs"]
    assert "Cancelling" in found["cancel"] and "timed out after 1 SECONDS" in found["timeout"]
    wait_until(lambda: running(server) == 0)


def test_jdbc_needs_a_token_where_the_server_does(driver, server, stored):
    if not server.token:
        pytest.skip("the server needs no token")
    ran = run(driver, server, stored, "mw_wrong")
    assert ran.returncode != 0 and "token" in ran.stderr
