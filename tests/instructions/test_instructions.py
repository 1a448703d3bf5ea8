"""The program needs no more instructions than before: a count that is the same on every machine, unlike a time.

Valgrind runs the program that the other tests use, and hides instruction sets beyond AVX2. A lower count fails, too, so
that later commits cannot lose the gain unseen. After an intended change, update the count here.
"""

import os
import re
import signal
import subprocess
import urllib.request

import msgpack
import numpy as np
import pytest

# Two counts of one program differed by up to 1%, and of a server beside other work by 2%, from how its threads met.
TOLERANCE = 0.05
COUNTER = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]

LEAGUE = """
teams = [
  { id = "a", name = "A", offence = 3, defence = 1 },
  { id = "b", name = "B", offence = -2, defence = 0.5 },
]
schedule = [{ week = 1, home = "a", away = "b" }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A league of one game, 40,000 rows as MessagePack, the same rows as the table `cpu`, and the ensemble `draws`."""
    folder = tmp_path_factory.mktemp("instructions")
    (folder / "league.toml").write_text(LEAGUE)
    rows = [
        {"time": 1_700_000_000 + n, "host": f"h{n * 7 % 50}", "status": (200, 404, 500)[n * n % 3], "load": n * 37 % 1000 / 10}
        for n in range(40_000)
    ]
    bodies = (msgpack.packb(rows[first : first + 1000]) for first in range(0, len(rows), 1000))
    (folder / "rows.msgpack").write_bytes(b"".join(bodies))
    n = np.arange(50_000)
    np.savez(folder / "draws.npz", a=n * 7919 % 50, b=n * 6007 % 49, c=n % 2 == 0)
    for command in (
        "import draws draws.npz --data data",
        "append cpu rows.msgpack --data data",
        "flush cpu --data data",
        "append cpu rows.msgpack --data log",
    ):
        subprocess.run([os.environ["MANYWORLDS"], *command.split()], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    "command, inside, millions",
    [
        pytest.param("check football --league league.toml --worlds 40", "*football*simulate*", 246, id="football"),
        pytest.param("price draws --condition a>20 --condition b>a --condition c --data data", None, 11.2, id="price"),
        pytest.param("ask cpu --group host,status --threads 1 --no-cache --data data", "ask::run::answer*", 3.27, id="ask"),
        pytest.param("append cpu rows.msgpack --data new", "*decode::messagepack*", 108, id="decode"),
        pytest.param("flush cpu --data log", None, 102, id="flush"),
    ],
)
def test_instructions_stay(folder, command, inside, millions):
    counter = [*COUNTER, f"--toggle-collect={inside}"] if inside else COUNTER
    program = [os.environ["MANYWORLDS"], *command.split()]
    counted = subprocess.run([*counter, *program], cwd=folder, capture_output=True, text=True)
    assert counted.returncode == 0, counted.stderr
    assert collected(counted.stderr) == pytest.approx(millions, rel=TOLERANCE)


def test_instructions_of_ingest_stay(tmp_path):
    """A server's, from its start over 100 columnar requests of 1,000 rows, one after another, to its last segment."""
    words = [*COUNTER, os.environ["MANYWORLDS"], "serve", "--data", str(tmp_path), "--listen", "127.0.0.1:0"]
    # A slow machine must not write a segment early.
    words += ["--flush-seconds", "600"]
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    while not (found := re.search(r"listening on (http://[\d.:]+)", line := server.stderr.readline())):
        assert line, "the server ended"
    for first in range(0, 100_000, 1000):
        n = range(first, first + 1000)
        columns = {
            "time": [1_700_000_000_000_000 + 1_000 * i for i in n],
            "host": [f"h{i * 7 % 50}" for i in n],
            "status": [(200, 404, 500)[i * i % 3] for i in n],
            "load": [i * 37 % 1000 / 10 for i in n],
        }
        body = msgpack.packb({"m": "cpu", "columns": columns})
        request = urllib.request.Request(found[1] + "/api/v1/write/msgpack", body, {"x-arc-database": "metrics"})
        with urllib.request.urlopen(request) as reply:
            assert reply.status == 204
    server.send_signal(signal.SIGTERM)
    said = server.communicate()[1]
    assert server.returncode == 0, said
    assert collected(said) == pytest.approx(275, rel=TOLERANCE)


def collected(said):
    """The millions of instructions that Valgrind counted."""
    return int(re.search(r"Collected : (\d+)", said)[1]) / 1e6
