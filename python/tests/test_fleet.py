"""A fleet of real workers plays models in Python. `make services` starts the broker and the ledger."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import uuid

import pytest

import manyworlds as mw

pytestmark = pytest.mark.skipif(
    "MANYWORLDS_BROKER" not in os.environ or "MANYWORLDS_LEDGER" not in os.environ,
    reason="`make services` starts the broker and the ledger, and prints what to export",
)

MODEL = """
    import numpy as np, manyworlds as mw

    class Walk(mw.Model):
        parameters = {"drift": mw.Param(0.0, -1, 1, "steps")}
        def catalogue(self, p):
            return mw.Catalogue({"walk": {"end": mw.real("steps")}}, ["walk-1"], events={"step": mw.number("steps")})
        def simulate(self, p, worlds, emit):
            r = worlds.stream("walk-1")
            emit("walk-1", end=r.normal(p.drift))
            steps = r.poisson(1)
            emit.events("walk-1", np.repeat(np.arange(len(worlds)), steps), step=np.repeat(steps, steps))
"""


class Fleet:
    def __init__(self, folder):
        self.folder, self.workers = folder, []
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "MANYWORLDS_DATA": str(folder / "data")}

    def command(self, *words):
        run = [sys.executable, "-m", "manyworlds", *words]
        return subprocess.run(run, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=180)

    def start_worker(self, *words):
        log = open(self.folder / f"worker-{len(self.workers)}.log", "w")
        run = [sys.executable, "-m", "manyworlds", "worker", "--concurrency", "1", *words]
        self.workers.append(subprocess.Popen(run, cwd=self.folder, env=self.environment, stdout=log, stderr=log))

    def logs(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("worker-*.log")))

    def submit(self, model, *words):
        name = f"walk-{uuid.uuid4().hex}"
        done = self.command("submit", model, "--worlds", "400", "--seed", "5", "--param", "drift=0.5", "--name", name, *words)
        assert done.returncode == 0, done.stderr
        return name


@pytest.fixture
def fleet(tmp_path):
    (tmp_path / "walks.py").write_text(textwrap.dedent(MODEL))
    # An entry point, as an installed package has it.
    (tmp_path / "walks-1.0.dist-info").mkdir()
    (tmp_path / "walks-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: walks\nVersion: 1.0\n")
    (tmp_path / "walks-1.0.dist-info" / "entry_points.txt").write_text("[manyworlds.models]\nwalker = walks:Walk\n")
    fleet = Fleet(tmp_path)
    yield fleet
    for worker in fleet.workers:
        worker.send_signal(signal.SIGINT)
    for worker in fleet.workers:
        worker.wait(60)


def test_a_fleet_of_two_plays_what_run_plays(fleet):
    for _ in range(2):
        fleet.start_worker("--model=walks.py:Walk")
    hashes = set()
    for model in ("walks:Walk", "walks.py:Walk", "walker"):
        name = fleet.submit(model, "--range-worlds", "20")
        done = fleet.command("status", name, "--watch", "--format", "json")
        assert done.returncode == 0, done.stderr + fleet.logs()
        verified = json.loads(fleet.command("verify", name, "--format", "json").stdout)
        assert verified["ok"]
        hashes.add((verified["hash"], verified["event_hash"]))
    script = (
        "import manyworlds as mw, walks\n"
        "v = mw.run(walks.Walk(), 400, 5, 'same', 'data', parameters={'drift': 0.5}).verify()\n"
        "print(v.hash, v.event_hash)"
    )
    same = subprocess.run([sys.executable, "-c", script], cwd=fleet.folder, env=fleet.environment, capture_output=True, text=True, check=True)
    assert hashes == {tuple(same.stdout.split())}
    workers = json.loads(fleet.command("status", "--workers", "--format", "json").stdout)
    assert {worker.pid for worker in fleet.workers} <= {worker["pid"] for worker in workers}


def test_a_worker_refuses_another_source(fleet):
    # The worker has loaded the old source when the file changes.
    fleet.start_worker()
    first = fleet.submit("walks:Walk")
    assert fleet.command("status", first, "--watch").returncode == 0, fleet.logs()
    source = (fleet.folder / "walks.py").read_text()
    (fleet.folder / "walks.py").write_text(source.replace("r.poisson(1)", "r.poisson(2)"))
    second = fleet.submit("walks:Walk")
    words = "the source of model Walk here differs from the source that the worlds belong to: install the same source"
    for _ in range(300):
        if words in fleet.logs():
            break
        time.sleep(0.1)
    assert words in fleet.logs()
    assert mw.open(fleet.folder / "data").ensembles[second].worlds == 0
    # One with the new source plays it.
    fleet.start_worker()
    assert fleet.command("status", second, "--watch").returncode == 0, fleet.logs()


def test_a_worker_names_models_that_it_lacks(fleet):
    done = fleet.command("worker", "--model", "nothing:Walk")
    assert done.returncode == 2 and "No module named 'nothing'" in done.stderr
