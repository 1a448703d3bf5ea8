"""`python -m manyworlds` without the script `manyworlds`."""

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import manyworlds as mw


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """The Python of an environment that has the package and no script, and a folder whose modules nobody may import."""
    home = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home / "env")], check=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(home / "env"), "platbase": str(home / "env")})
    places = {str(Path(mw.__file__).parent.parent), *(path for path in sys.path if path.endswith("site-packages"))}
    (Path(packages) / "places.pth").write_text("\n".join(sorted(places)))
    assert not (home / "env/bin/manyworlds").exists()
    work = home / "work"
    work.mkdir()
    for module in ("manyworlds", "_command", "json", "importlib"):
        (work / f"{module}.py").write_text("raise SystemExit('a module of the working folder was imported')\n")
    return [str(home / "env/bin/python"), "-P", "-m", "manyworlds"], work


def run(bare, *words):
    command, work = bare
    # No script of another environment either.
    environment = {**os.environ, "PATH": os.defpath, "PYTHONPATH": ""}
    return subprocess.run([*command, *words], cwd=work, env=environment, capture_output=True, text=True, timeout=300)


def test_a_server_answers_sql(bare, tmp_path):
    data = tmp_path / "data"
    played = run(bare, "run", "football", "--worlds", "20", "--events", "replay", "--name", "season", "--data", str(data))
    assert played.returncode == 0, played.stderr
    command, work = bare
    with open(tmp_path / "log", "w+") as log:
        serve = [*command, "serve", "--data", str(data), "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(serve, stdout=log, stderr=log, cwd=work, env={**os.environ, "PATH": os.defpath})
    try:
        url = None
        while url is None:
            found = re.search(r"http://127\.0\.0\.1:\d+", (tmp_path / "log").read_text())
            assert server.poll() is None, (tmp_path / "log").read_text()
            url = found and found[0]
            time.sleep(0.1)
        body = json.dumps({"sql": "SELECT count(*) AS n FROM worlds('season', 'game-017')"}).encode()
        request = urllib.request.Request(f"{url}/api/v1/sql", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            assert json.load(reply) == [{"n": 20}]
        remote = mw.connect(url)
        assert remote.ensembles["season"].sql("SELECT count(*) AS n FROM worlds('season', 'team-01')").to_numpy()["n"] == [20]
    finally:
        server.terminate()
        assert server.wait(60) == 0, (tmp_path / "log").read_text()


def test_a_benchmark_starts_processes_of_itself(bare):
    small = ["--scales", "10", "--threads-list", "1", "--range-list", "10", "--codecs", "none", "--sweep-worlds", "10"]
    measured = run(bare, "bench", "season", *small, "--skip-plays", "--read-seconds", "0.01", "--format", "json")
    assert measured.returncode == 0, measured.stderr
    assert json.loads(measured.stdout)


def test_ctrl_c_ends_a_command(bare, tmp_path):
    command, work = bare
    mw.write("queue", {"x": np.arange(3)}, tmp_path)
    endless = "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b"
    asking = subprocess.Popen([*command, "sql", endless, "--data", str(tmp_path)], cwd=work, stderr=subprocess.PIPE, text=True)
    # It has threads once the command has begun.
    while len(os.listdir(f"/proc/{asking.pid}/task")) < 3:
        assert asking.poll() is None, asking.communicate()
        time.sleep(0.05)
    asking.send_signal(signal.SIGINT)
    asking.communicate(timeout=60)
    assert asking.returncode in (-signal.SIGINT, 130)


def test_stored_names_import_nothing_from_the_working_folder(tmp_path):
    """A module of an installed package is another one than a file of this name."""
    model = """
import manyworlds as mw
class Walk(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"walk": {"end": mw.real()}}, ["walk-1"])
    def simulate(self, p, worlds, emit):
        emit("walk-1", end=worlds.stream("walk-1").normal())
"""
    (tmp_path / "strolls.py").write_text(model)
    play = "import strolls, manyworlds as mw; print(mw.run(strolls.Walk(), 10).model)"
    played = subprocess.run([sys.executable, "-c", play], cwd=tmp_path, capture_output=True, text=True)
    assert played.stdout == "strolls:Walk\n", played.stderr
    (tmp_path / "strolls.py").write_text("raise SystemExit('a module of the working folder was imported')\n")
    verify = [sys.executable, "-m", "manyworlds", "verify", "walk", "--format", "json"]
    verified = subprocess.run(verify, cwd=tmp_path, capture_output=True, text=True)
    assert verified.returncode == 0 and json.loads(verified.stdout)["ok"], verified.stderr
