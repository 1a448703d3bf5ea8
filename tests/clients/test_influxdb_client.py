"""`influxdb-client`, the client of InfluxDB's second version."""

from datetime import datetime, timezone

import pandas
import pytest
from influxdb_client import InfluxDBClient, Point, WriteOptions, WritePrecision
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException


@pytest.fixture(params=[False, True], ids=["plain", "gzip"])
def client(request, server):
    with InfluxDBClient(server.url, token=server.token or "none", org="any", enable_gzip=request.param) as client:
        yield client


def test_points_are_stored_as_they_were(client, server, database):
    at = datetime(2025, 10, 1, 0, 0, 0, 7, timezone.utc)
    points = [
        Point("cpu").tag("host", "a b,c=d").field("load", 0.1).field("cores", 8).field("up", True).time(at),
        Point("cpu").tag("host", "b").field("note", 'a "b" \\ é').time("2025-10-01T00:00:01Z"),
    ]
    with client.write_api(write_options=SYNCHRONOUS) as write:
        write.write(bucket=database, record=points)
        write.write(bucket=database, record={"measurement": "cpu", "fields": {"cores": 1}, "time": "2025-10-01T00:00:02Z"})
    assert server.rows(f"SELECT time, host, load, cores, up, note FROM {database}.cpu ORDER BY time") == [
        ("2025-10-01T00:00:00.000007Z", "a b,c=d", 0.1, 8, True, None),
        ("2025-10-01T00:00:01Z", "b", None, None, None, 'a "b" \\ é'),
        ("2025-10-01T00:00:02Z", None, None, 1, None, None),
    ]


@pytest.mark.parametrize(("precision", "a_second"), [("ns", 10**9), ("us", 10**6), ("ms", 10**3), ("s", 1)])
def test_times_of_every_precision(client, server, database, precision, a_second):
    assert precision in (WritePrecision.NS, WritePrecision.US, WritePrecision.MS, WritePrecision.S)
    write = client.write_api(write_options=SYNCHRONOUS)
    point = Point("cpu").field("n", 1).time(1_760_000_000 * a_second, precision)
    write.write(bucket=database, record=point, write_precision=precision)
    write.write(bucket=database, record=f"cpu n=2i {1_760_000_001 * a_second}", write_precision=precision)
    assert server.rows(f"SELECT time, n FROM {database}.cpu ORDER BY time") == [
        ("2025-10-09T08:53:20Z", 1),
        ("2025-10-09T08:53:21Z", 2),
    ]


def test_batches_from_the_background(client, server, database):
    failed = []
    with client.write_api(
        write_options=WriteOptions(batch_size=100, flush_interval=500), error_callback=lambda *about: failed.append(about)
    ) as write:
        for n in range(1_050):
            write.write(bucket=database, record=Point("cpu").tag("host", f"h{n % 9}").field("n", n).time(n, "s"), write_precision="s")
    assert not failed
    counted = server.rows(f"SELECT count(*), sum(n), count(DISTINCT n), count(DISTINCT host) FROM {database}.cpu")
    assert counted == [(1_050, 1_049 * 525, 1_050, 9)]


def test_a_frame(client, server, database):
    times = pandas.to_datetime(["2025-10-01T00:00:00Z", "2025-10-01T00:00:01Z"])
    frame = pandas.DataFrame({"host": ["a", "b"], "load": [0.5, None]}, index=times)
    frame["n"] = [1, 2]
    client.write_api(write_options=SYNCHRONOUS).write(
        bucket=database, record=frame, data_frame_measurement_name="cpu", data_frame_tag_columns=["host"]
    )
    rows = server.rows(f"SELECT time, host, load, n FROM {database}.cpu ORDER BY time")
    assert rows == [("2025-10-01T00:00:00Z", "a", 0.5, 1), ("2025-10-01T00:00:01Z", "b", None, 2)]


def test_what_there_is(client):
    health = client.health()
    assert (health.name, health.status) == ("manyworlds", "pass")
    assert client.ready().status == "ready"
    assert client.ping() and client.version().startswith("manyworlds-") and client.build() == "manyworlds"


def test_refusals_reach_the_caller(client, server, database):
    write = client.write_api(write_options=SYNCHRONOUS)
    with pytest.raises(ApiException, match="stored 2 rows") as refused:
        write.write(bucket=database, record="cpu n=1i 1\ncpu n=oops 2\ncpu n=3i 3")
    assert refused.value.status == 400
    assert server.rows(f"SELECT sum(n) FROM {database}.cpu") == [(4,)]
    if server.token:
        stranger = InfluxDBClient(server.url, token="mw_wrong", org="any").write_api(write_options=SYNCHRONOUS)
        with pytest.raises(ApiException) as refused:
            stranger.write(bucket=database, record="cpu n=1i 1")
        assert refused.value.status == 401
