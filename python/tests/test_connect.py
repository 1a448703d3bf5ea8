"""A server gives the answers that the folder gives."""

import pickle
import re
import subprocess
import sys
import time

import polars as pl
import pytest

import manyworlds as mw

GAME = "game-017"


class Coin(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"coin": {"heads": mw.flag()}}, ["coin"])


@pytest.fixture(scope="module")
def server(folder, tmp_path_factory):
    """A server of the package over the season, and the token that it requires."""
    home = tmp_path_factory.mktemp("server")
    run = [sys.executable, "-m", "manyworlds"]
    tokens = home / "tokens"
    made = subprocess.run([*run, "token", "create", "--token-file", str(tokens), "--read", "--write", "test"], capture_output=True, text=True, cwd=home)
    assert made.returncode == 0, made.stderr
    token = made.stdout.split()[-1]
    log = open(home / "log", "w+")
    process = subprocess.Popen(
        [*run, "serve", "--data", str(folder), "--listen", "127.0.0.1:0", "--token-file", str(tokens)], stdout=log, stderr=log, cwd=home
    )
    try:
        url = None
        for _ in range(600):
            if found := re.search(r"http://127\.0\.0\.1:\d+", (home / "log").read_text()):
                url = found[0]
                break
            assert process.poll() is None, (home / "log").read_text()
            time.sleep(0.1)
        yield url, token
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def remote(server):
    return mw.connect(server[0], server[1])


def test_answers_are_those_of_the_folder(remote, season):
    far, game, near = remote.ensembles["season"], remote.ensembles["season"][GAME], season[GAME]
    assert list(remote.ensembles) == ["season"] and (far.worlds, far.seed) == (season.worlds, season.seed)
    assert far.catalogue == season.catalogue and far.parameters == season.parameters
    conditions = ("home_margin > 3", "total_points > 40")
    assert game.probability(*conditions, given="game-018:home_won", min_worlds=1) == near.probability(
        *conditions, given="game-018:home_won", min_worlds=1
    )
    assert game.outcome("home_margin") == near.outcome("home_margin")
    assert game.outcome("home_margin").quantile(0.3) == near.outcome("home_margin").quantile(0.3)
    assert game.correlate("home_points", "away_points") == near.correlate("home_points", "away_points")
    assert far.compare(far, f"{GAME}:home_margin") == season.compare(season, f"{GAME}:home_margin")
    assert game.worlds("home_margin").tolist() == near.worlds("home_margin").tolist()
    assert far.world_numbers().tolist() == season.world_numbers().tolist()
    assert game.events(3).to_dicts() == near.events(3).to_dicts()
    frame = lambda ens: ens.lazy("game").select("entity", "home_margin").head(500).collect()  # noqa: E731
    assert frame(far).equals(frame(season))


def test_rows_and_sql(remote):
    assert remote.append("remote_rows", [{"host": "a", "ms": 3}, {"host": "b", "ms": 5}]) == 2
    assert remote.append("remote_rows", pl.DataFrame({"host": ["c"], "ms": [7]})) == 1
    assert remote.sql("SELECT sum(ms) AS s FROM remote_rows").to_dicts() == [{"s": 15}]
    assert remote.ask("remote_rows", sum="ms").to_dicts() == [{"sum(ms)": 15}]
    assert "default.remote_rows" in remote.tables
    with pytest.raises(mw.RefusedRowsError, match="refused 1") as raised:
        remote.append("remote_rows", [{"ms": 1}, {"ms": "late"}], on_conflict="refuse")
    assert raised.value.stored == 1 and raised.value.refused[0]["field"] == "ms"


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda d: d.ensembles["nothing"], mw.UnknownNameError, "stored: season"),
        (lambda d: d.ensembles["season"]["game-999"], mw.UnknownNameError, "did you mean game-"),
        (lambda d: d.ensembles["season"][GAME].probability("home_margn > 1"), mw.InvalidError, "did you mean home_margin"),
        (lambda d: d.ensembles["season"].outcome(GAME, "home_margn"), mw.UnknownNameError, "did you mean home_margin"),
        (lambda d: d.ensembles["season"][GAME].probability("home_won", given="home_margin > 90"), mw.TooFewWorldsError, "0 of 200"),
        (lambda d: d.sql("SELECT"), mw.InvalidError, "invalid SQL"),
        (lambda d: d.ask("nothing", count=True), mw.UnknownNameError, "nothing"),
        (lambda d: d.ensembles["season"].verify(), mw.InvalidError, "manyworlds verify"),
        (lambda d: mw.run(Coin(), data=d), mw.InvalidError, "a server plays no models"),
    ],
)
def test_errors_are_the_same_classes(remote, ask, error, words):
    with pytest.raises(error, match=words) as raised:
        ask(remote)
    if error is mw.TooFewWorldsError:
        assert (raised.value.matched, raised.value.worlds, raised.value.minimum) == (0, 200, 100)


def test_access_and_addresses(server, remote):
    for token in (None, "wrong"):
        with pytest.raises(mw.AccessError):
            list(mw.connect(server[0], token).ensembles)
    with pytest.raises(mw.StorageError, match="cannot reach http://127.0.0.1:9"):
        list(mw.connect("http://127.0.0.1:9").ensembles)
    with pytest.raises(mw.InvalidError, match="not a server's address"):
        mw.connect("127.0.0.1:8080")
    copy = pickle.loads(pickle.dumps(remote))
    assert list(copy.ensembles) == ["season"] and copy.place == server[0]
