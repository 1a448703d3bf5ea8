"""`arc-tsdb-client`, the peer's own client."""

import asyncio

import pandas
import polars
import pyarrow
import pytest
from arc_client import ArcClient, AsyncArcClient
from arc_client.exceptions import ArcIngestionError, ArcQueryError

# 2025-10-09T08:53:20Z, in microseconds as this client sends times.
START = 1_760_000_000_000_000
TIMES = [START, START + 1_000_001]
ROWS = [("2025-10-09T08:53:20Z", "a", 0.5, 8), ("2025-10-09T08:53:21.000001Z", "b", None, 9)]


@pytest.fixture(params=[False, True], ids=["plain", "gzip"])
def client(request, server, database):
    with ArcClient(server.host, server.port, token=server.token, database=database, compression=request.param) as client:
        yield client


def stored(server, database):
    return server.rows(f"SELECT time, host, load, cores FROM {database}.cpu ORDER BY time")


def test_columns(client, server, database):
    client.write.write_columnar("cpu", {"time": TIMES, "host": ["a", "b"], "load": [0.5, None], "cores": [8, 9]})
    assert stored(server, database) == ROWS


@pytest.mark.parametrize(("unit", "a_second"), [("s", 1), ("ms", 10**3), ("us", 10**6)])
def test_columns_of_every_unit(client, server, database, unit, a_second):
    client.write.write_columnar("cpu", {"time": [1_760_000_000 * a_second], "n": [1]}, time_unit=unit)
    assert server.rows(f"SELECT time, n FROM {database}.cpu") == [("2025-10-09T08:53:20Z", 1)]


def test_records(client, server, database):
    records = [
        {"measurement": "cpu", "timestamp": TIMES[0], "fields": {"load": 0.5, "cores": 8}, "tags": {"host": "a"}},
        {"measurement": "cpu", "timestamp": TIMES[1], "fields": {"cores": 9}, "tags": {"host": "b"}},
    ]
    client.write.write_records(records)
    assert stored(server, database) == ROWS


def test_lines_and_points(client, server, database):
    client.write.write_line_protocol([f"cpu,host=a load=0.5,cores=8i {TIMES[0]}000"])
    client.write.write_point("cpu", {"cores": 9}, {"host": "b"}, TIMES[1])
    assert stored(server, database) == ROWS


def frames():
    """Of each library, with times in the type that this client can send."""
    columns = {"time": TIMES, "host": ["a", "b"], "load": [0.5, None], "cores": [8, 9]}
    # It takes them for nanoseconds, whatever pandas keeps them in.
    at = pandas.to_datetime(TIMES, unit="us", utc=True).as_unit("ns")
    load = pandas.Series([0.5, None], dtype=object)
    yield pytest.param(pandas.DataFrame({**columns, "time": at, "load": load}), id="pandas")
    yield pytest.param(polars.DataFrame(columns), id="polars")
    yield pytest.param(pyarrow.table(columns), id="pyarrow")


@pytest.mark.parametrize("frame", list(frames()))
def test_frames(client, server, database, frame):
    client.write.write_dataframe(frame, "cpu", tag_columns=["host"])
    assert stored(server, database) == ROWS


def test_buffered(client, server, database):
    with client.write.buffered(batch_size=64) as buffer:
        for n in range(1_000):
            fields = {"n": n} if n % 2 else {"n": n, "even": True}
            buffer.write({"measurement": "cpu", "timestamp": START + n, "fields": fields, "tags": {"host": f"h{n % 9}"}})
    counted = server.rows(f"SELECT count(*), sum(n), count(even), count(DISTINCT host) FROM {database}.cpu")
    assert counted == [(1_000, 499_500, 500, 9)]


def test_questions(client, server, database):
    client.write.write_columnar("cpu", {"time": TIMES, "host": ["a", "b"], "load": [0.5, None], "cores": [8, 9]})
    sql = "SELECT time, host, load, cores FROM cpu ORDER BY time"
    answer = client.query.query(sql)
    assert answer.success and answer.columns == ["time", "host", "load", "cores"]
    assert [tuple(row) for row in answer.data] == ROWS and answer.row_count == 2
    arrow = client.query.query_arrow(sql)
    assert arrow["host"].to_pylist() == ["a", "b"] and arrow["load"].to_pylist() == [0.5, None]
    assert arrow["time"].cast("int64").to_pylist() == TIMES
    assert client.query.query_pandas(sql)["cores"].tolist() == [8, 9]
    assert client.query.query_polars(sql)["cores"].to_list() == [8, 9]
    assert client.query.query("SELECT 1 AS n", database="default").data == [[1]]
    assert database in client.query.list_databases()
    assert client.query.show_tables(database).data == [["cpu"]]
    assert client.health().status == "pass" and client.ready()


def test_side_by_side(server, database):
    async def write_and_ask():
        async with AsyncArcClient(server.host, server.port, token=server.token, database=database) as client:
            writes = [client.write.write_columnar("cpu", {"time": [START + n], "n": [n]}) for n in range(20)]
            await asyncio.gather(*writes)
            return (await client.query.query("SELECT count(*), sum(n) FROM cpu")).data

    assert asyncio.run(write_and_ask()) == [[20, 190]]


def test_refusals_reach_the_caller(client, server, database):
    with pytest.raises(ArcIngestionError, match="400.*stored 1 row"):
        client.write.write_line_protocol(["cpu n=1i 1", "cpu n=oops 2"])
    with pytest.raises(ArcQueryError, match="no table"):
        client.query.query("SELECT * FROM nothing")
    if server.token:
        with ArcClient(server.host, server.port, token="mw_wrong") as stranger:
            with pytest.raises(ArcIngestionError, match="Authentication failed"):
                stranger.write.write_columnar("cpu", {"time": TIMES, "n": [1, 2]})
