"""`curl`, with bodies of every text format, plain and compressed."""

import gzip
import json
import subprocess

import pytest

LINES = "cpu,host=a load=0.5,cores=8i 1760000000000000000\ncpu,host=b cores=9i 1760000001000001000\n"
OBJECTS = '{"time": 1760000000, "host": "a", "load": 0.5, "cores": 8}\n{"time": 1760000001000001, "host": "b", "cores": 9}\n'
TABLE = "time,host,load,cores\n1760000000,a,0.5,8\n2025-10-09T08:53:21.000001Z,b,,9\n"
ROWS = [("2025-10-09T08:53:20Z", "a", 0.5, 8), ("2025-10-09T08:53:21.000001Z", "b", None, 9)]


def curl(server, path, body, *words):
    """Posts a body; gives the status and what was said."""
    token = ["--header", f"x-api-key: {server.token}"] if server.token else []
    command = ["curl", "--silent", "--show-error", "--write-out", "\n%{http_code}", *token, *words]
    sent = subprocess.run([*command, "--data-binary", "@-", server.url + path], input=body, check=True, capture_output=True)
    said, _, status = sent.stdout.decode().rpartition("\n")
    return int(status), said


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/write?db={}", LINES),
        ("/api/v2/write?bucket={}&org=any&precision=ns", LINES),
        ("/api/v1/write/json?table={}.cpu", OBJECTS),
        ("/api/v1/write/csv?table={}.cpu", TABLE),
    ],
    ids=["v1", "v2", "json", "csv"],
)
def test_rows_of_every_format(server, database, path, body, packed):
    body = gzip.compress(body.encode()) if packed else body.encode()
    assert curl(server, path.format(database), body) == (204, "")
    assert server.rows(f"SELECT time, host, load, cores FROM {database}.cpu ORDER BY time") == ROWS


def test_a_key_makes_sending_again_safe(server, database):
    for _ in range(3):
        assert curl(server, f"/write?db={database}", b"cpu n=1i", "--header", "idempotency-key: batch 17")[0] == 204
    assert server.rows(f"SELECT count(*) FROM {database}.cpu") == [(1,)]


def test_answers_in_other_formats(server, database):
    curl(server, f"/write?db={database}", LINES.encode())
    ask = json.dumps({"sql": f"SELECT time, host, load, cores FROM {database}.cpu ORDER BY time"}).encode()
    answer = curl(server, "/api/v1/sql?format=csv", ask, "--header", "content-type: application/json")
    assert answer == (200, "time,host,load,cores\n2025-10-09T08:53:20Z,a,0.5,8\n2025-10-09T08:53:21.000001Z,b,,9\n")
