"""`influxdb`, the client of InfluxDB's first version."""

import pytest
from influxdb import InfluxDBClient
from influxdb.exceptions import InfluxDBClientError

ODD = 'she said "no", a=b\\c é'


@pytest.fixture(params=[False, True], ids=["plain", "gzip"])
def client(request, server, database):
    # A token is sent as a password; without tokens the client sends a name and a password of its own.
    user = {"username": "anyone", "password": server.token} if server.token else {}
    client = InfluxDBClient(server.host, server.port, database=database, gzip=request.param, **user)
    yield client
    client.close()


def point(time, tags, **fields):
    return {"measurement": "cpu", "time": time, "tags": tags, "fields": fields}


def test_points_are_stored_as_they_were(client, server, database):
    tags = {"host": "a b,c=d", "zone": "é"}
    points = [
        point("2025-10-01T00:00:00Z", tags, load=0.5, cores=8, up=True, note=ODD),
        point("2025-10-01T00:00:01.000002Z", {"host": "b"}, load=-1e-300, cores=-(2**63)),
        point("2025-10-01T00:00:02Z", {}, up=False, note=""),
    ]
    assert client.write_points(points)
    assert server.rows(f"SELECT time, host, zone, load, cores, up, note FROM {database}.cpu ORDER BY time") == [
        ("2025-10-01T00:00:00Z", "a b,c=d", "é", 0.5, 8, True, ODD),
        ("2025-10-01T00:00:01.000002Z", "b", None, -1e-300, -(2**63), None, None),
        ("2025-10-01T00:00:02Z", None, None, None, None, False, ""),
    ]


@pytest.mark.parametrize(
    ("precision", "a_day"),
    [("n", 86_400 * 10**9), ("u", 86_400 * 10**6), ("ms", 86_400_000), ("s", 86_400), ("m", 1_440), ("h", 24)],
)
def test_times_of_every_precision(client, server, database, precision, a_day):
    client.write_points([point(a_day * 20_000, {}, n=1)], time_precision=precision)
    client.write_points([f"cpu n=2i {a_day * 20_001}"], time_precision=precision, protocol="line")
    assert server.rows(f"SELECT time, n FROM {database}.cpu ORDER BY time") == [
        ("2024-10-04T00:00:00Z", 1),
        ("2024-10-05T00:00:00Z", 2),
    ]


def test_batches_with_tags_of_all(client, server, database):
    points = [point(n, {"host": f"h{n % 7}"}, n=n) for n in range(1_000)]
    client.write_points(points, time_precision="s", batch_size=64, tags={"site": "north"})
    counted = server.rows(f"SELECT count(*), sum(n), count(DISTINCT n), min(site), max(site) FROM {database}.cpu")
    assert counted == [(1_000, 499_500, 1_000, "north", "north")]


def test_what_there_is(client, server, database):
    assert client.ping().startswith("manyworlds-")
    client.create_database(database)
    client.write_points([point(1, {}, n=1), {"measurement": "mem", "fields": {"n": 1}}])
    assert {"name": database} in client.get_list_database()
    assert client.get_list_measurements() == [{"name": "cpu"}, {"name": "mem"}]
    with pytest.raises(InfluxDBClientError, match="POST /api/v1/sql"):
        client.query("SELECT * FROM cpu")


def test_refusals_reach_the_caller(client, server, database):
    lines = ["cpu n=1i 1", "cpu n=oops 2", "cpu n=3i 3"]
    with pytest.raises(InfluxDBClientError, match="rejected 1 item, stored 2 rows") as refused:
        client.write_points(lines, protocol="line")
    assert refused.value.code == 400
    assert server.rows(f"SELECT sum(n) FROM {database}.cpu") == [(4,)]
    if server.token:
        stranger = InfluxDBClient(server.host, server.port, database=database)
        with pytest.raises(InfluxDBClientError) as refused:
            stranger.write_points(lines, protocol="line")
        assert refused.value.code == 401
