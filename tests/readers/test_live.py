"""Tables that a server writes, cut by day and without rows that came twice, in readers that we did not write."""

import os
import re
import subprocess
import urllib.request

import deltalake
import duckdb
import polars

DAY = 86_400
DAYS = ["2026-11-20", "2026-11-21", "2026-11-22"]
FIRST = 1_795_132_800
HOURS = 72


def serve(data, *lines):
    """Has a server take some bodies of line protocol in, and write everything out."""
    words = ["--partition", "day", "--unique", "cpu=host", "--listen", "127.0.0.1:0", "--data", str(data)]
    server = subprocess.Popen([os.environ["MANYWORLDS"], "serve", *words], stderr=subprocess.PIPE, text=True)
    try:
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://[0-9.:]+", line)))
        for body in lines:
            with urllib.request.urlopen(f"{address}/write?precision=s", data=body.encode()) as reply:
                assert reply.status == 204
    finally:
        server.terminate()
        server.communicate()
    assert server.returncode == 0


def body(hours, value):
    return "\n".join(f"cpu,host=h{hour % 3} hour={hour}i,value={value}i {FIRST + hour * 3600}" for hour in hours)


def test_rows_of_three_days_that_come_again_read_alike(tmp_path):
    mixed = [hour * 7 % HOURS for hour in range(HOURS)]
    serve(tmp_path, body(mixed, 1), body(mixed[:10], 2))
    serve(tmp_path, body([30, 31], 3))
    root = tmp_path / "default" / "cpu"
    delta = deltalake.DeltaTable(str(root))
    files = delta.file_uris()
    assert sorted(os.path.basename(os.path.dirname(file)) for file in files) == ["2026-11-20", "2026-11-21", "2026-11-21", "2026-11-22"]
    last = {hour: 1 for hour in range(HOURS)} | {hour: 2 for hour in mixed[:10]} | {30: 3, 31: 3}
    arrow = delta.to_pyarrow_table()
    assert sorted(zip(arrow["hour"].to_pylist(), arrow["value"].to_pylist())) == sorted(last.items())
    assert sorted(polars.read_delta(str(root)).select("hour", "value").rows()) == sorted(last.items())
    by_duckdb = duckdb.sql(f"select hour, value from read_parquet({files!r})").fetchall()
    assert sorted(by_duckdb) == sorted(last.items())
    for day, name in enumerate(DAYS):
        first = FIRST + day * DAY
        of_day = [file for file in files if f"/{name}/" in file]
        times = duckdb.sql(f'select epoch(min("time")), epoch(max("time")) from read_parquet({of_day!r})').fetchall()[0]
        assert first <= times[0] <= times[1] < first + DAY
