"""Ensembles in a bucket answer as in a folder, also after another process has opened them without a mirror."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import manyworlds as mw


class Match(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"match": {"goals": mw.number("goals"), "luck": mw.real()}}, ["match-1"], events={"minute": mw.number()})

    def simulate(self, p, worlds, emit):
        r = worlds.stream("match-1")
        goals = r.poisson(2.6)
        emit("match-1", goals=goals, luck=r.normal())
        emit.events("match-1", np.repeat(np.arange(len(worlds)), goals), minute=np.repeat(goals * 7, goals))


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    """A store that takes every key, with a bucket."""
    home = tmp_path_factory.mktemp("store")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    keys = {"AWS_ACCESS_KEY_ID": "manyworlds", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    started = {"HOME": str(home), "SERVICES": "s3", "BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port), "LOG_LEVEL": "WARNING"}
    log = open(home / "log", "w")
    store = subprocess.Popen([sys.executable, "-m", "ministack"], env={**os.environ, **started, **keys}, cwd=home, stdout=log, stderr=log)
    changed = {"AWS_ENDPOINT_URL": url, "AWS_ALLOW_HTTP": "true", "MANYWORLDS_MIRROR": str(home / "mirror"), **keys}
    before = {name: os.environ.get(name) for name in changed}
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/lab", method="PUT"), timeout=5)
                break
            except (urllib.error.URLError, ConnectionError):
                assert store.poll() is None, (home / "log").read_text()
                time.sleep(0.2)
        os.environ.update(changed)
        yield "s3://lab/worlds", home
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})
        store.terminate()
        store.wait(60)


def test_a_bucket_answers_as_a_folder(bucket, tmp_path):
    place, home = bucket
    folder, stored = (mw.run(Match(), 300, 3, "match", data) for data in (tmp_path, place))
    assert stored.verify(replay=True).hash == folder.verify().hash
    written = mw.write("queue", {"wait": np.array([0.1, -0.0, 5e-324, np.nan])}, place)
    assert written["all"].worlds("wait").tobytes() == np.array([0.1, -0.0, 5e-324, np.nan]).tobytes()
    ask = f"""
        import pickle, manyworlds as mw
        data = mw.open({place!r})
        match = pickle.loads(pickle.dumps(data.ensembles["match"]))
        assert sorted(data.ensembles) == ["match", "queue"] and data.place == {place!r}
        print(match.probability("goals > 2").hits, match.outcome("luck").quantile(0.3), len(match.events("match-1", range(50))))
        print(data.sql("SELECT sum(value) AS s FROM outcomes WHERE outcome = 'goals'")["s"][0], len(match.lazy().collect()))
    """
    script = "\n".join(line.strip() for line in ask.splitlines())
    # Another machine has another mirror.
    environment = {**os.environ, "MANYWORLDS_MIRROR": str(home / "other")}
    said = subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True).stdout
    events = len(folder.events("match-1", range(50)))
    hits, quantile = folder.probability("goals > 2").hits, folder.outcome("luck").quantile(0.3)
    assert said.split() == [str(hits), str(quantile), str(events), str(float(folder["match-1"].worlds("goals").sum())), "300"]
    with pytest.raises(mw.ExistsError):
        mw.run(Match(), 10, 3, "match", place)
    with pytest.raises(mw.StorageError, match="nothing"):
        list(mw.open("s3://nothing/here").ensembles)
