"""Forks, signals, the command, and an installation without other packages."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import manyworlds as mw


def hits(place):
    return mw.open(place).ensembles["season"].probability("game-017:home_won").hits


def forked(place, results):
    try:
        results.put(hits(place))
    except mw.ForkedError as error:
        results.put(str(error))


def test_spawned_processes_answer(folder, season):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(hits, [str(folder)] * 2) == [season.probability("game-017:home_won").hits] * 2


def test_a_forked_process_gets_advice(folder, season):
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    process = fork.Process(target=forked, args=(str(folder), results), daemon=True)
    process.start()
    assert "spawn" in results.get(timeout=30)
    process.join(30)
    assert process.exitcode == 0


def test_a_fork_before_the_first_question_is_harmless(folder):
    script = textwrap.dedent(
        f"""
        import os, manyworlds as mw
        child = os.fork()
        hits = mw.open({str(folder)!r}).ensembles["season"].probability("game-017:home_won").hits
        if child:
            assert os.waitpid(child, 0)[1] == 0
            print(hits)
        """
    )
    assert int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=120).stdout) > 0


def test_it_is_imported_last_in_a_large_process():
    """A library that is loaded late gets little thread-local memory."""
    script = "import numpy, pandas, polars, pyarrow, duckdb, xarray, jax, numba, matplotlib; import manyworlds as mw; print('sim.outcomes' in mw.open('none').tables)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


class Normal(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"a": {f"x{n}": mw.real() for n in range(20)}}, ["a-1"])

    def simulate(self, p, worlds, emit):
        emit("a-1", **{f"x{n}": worlds.stream("a-1", n).normal() for n in range(20)})


@pytest.mark.parametrize(
    "ask",
    [
        "ens.probability('x1 > 0', 'x2 > 0', min_worlds=1)",
        "ens.outcome('x1 * x2').quantile(0.3)",
        "ens.correlate()",
        "ens.compare(ens)",
        "ens.verify()",
        "ens.sql('SELECT count(*) FROM outcomes a JOIN outcomes b USING (world)')",
        "data.append('rows', [{'a': n} for n in range(1000)])",
        "mw.write('written', {'x': values}, data, replace=True)",
    ],
)
def test_ctrl_c_ends_everything(tmp_path, ask):
    mw.run(Normal(), 20_000, name="normal", data=tmp_path / "data")
    script = textwrap.dedent(
        f"""
        import manyworlds as mw, numpy as np
        data, values = mw.open("data"), np.random.default_rng(1).normal(size=100_000)
        ens = data.ensembles["normal"]
        ens.verify()
        print("asking", flush=True)
        try:
            while True:
                {ask}
        except KeyboardInterrupt:
            print("ended", flush=True)
        assert ens.probability("x1 > 0").worlds == 20_000 and data.sql("SELECT 2 AS n")["n"].tolist() == [2]
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "asking\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=120)[0] == "ended\n" and process.returncode == 0


def test_ctrl_c_ends_a_query(tmp_path):
    script = textwrap.dedent(
        """
        import manyworlds as mw, time
        data = mw.open("data")
        data.sql("SELECT 1")
        print("asking", flush=True)
        try:
            data.sql("SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 10000000) b WHERE a.value * b.value % 7 = 3")
        except KeyboardInterrupt:
            print("ended", flush=True)
        assert data.sql("SELECT 2 AS n")["n"].tolist() == [2]
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "asking\n"
    # The query would take hours.
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "ended\n"
    assert process.returncode == 0


def test_the_command_serves_its_own_processes(tmp_path, folder):
    """A server of the package starts its question processes through the package."""
    run = [sys.executable, "-m", "manyworlds"]
    version = subprocess.run([*run, "--version"], check=True, capture_output=True, text=True).stdout
    assert version.startswith("manyworlds ")
    missing = subprocess.run([*run, "outcome", "nothing", "--entity", "a", "--outcome", "b", "--data", str(folder)], capture_output=True, text=True)
    assert missing.returncode == 2 and "there are: season" in missing.stderr


@pytest.mark.skipif("EMPTY_VENV" not in os.environ, reason="scripts/python_package.sh makes an environment without other packages")
def test_an_empty_environment_is_enough(folder, tmp_path):
    script = textwrap.dedent(
        f"""
        import pickle, sys, manyworlds as mw
        data = mw.open({str(folder)!r})
        season = data.ensembles["season"]
        game = season["game-017"]
        assert season.probability("game-017:home_won").worlds == 200
        margin = game.outcome("home_margin")
        assert margin.quantile(0.5) is not None and "<img" in margin._repr_html_()
        assert data.sql("SELECT 1 AS n").to_dicts() == [{{"n": 1}}]
        assert "<table>" in data.sql("SELECT interval '1 month' AS m, [1, 2] AS l")._repr_html_()
        assert game.correlate("home_points", "home_margin")["home_points", "home_margin"] > 0
        assert season.compare(season, "game-017:home_margin")[0].difference == 0
        assert season.book([{{"legs": "home_won", "stake": 1, "odds": 2}}], entity="game-017").worlds == 200
        assert season.events("game-017", 3).to_dicts()[0]["world"] == 3
        assert len(game.table("home_margin").to_dicts()) == 200 and season.verify()
        assert pickle.loads(pickle.dumps((data, season, game, margin)))[1].worlds == 200
        rows = mw.open("rows")
        assert rows.append("t", [{{"host": "a", "ms": 3}}]) == 1
        assert rows.ask("t", group="host", avg="ms").to_dicts() == [{{"host": "a", "avg(ms)": 3.0}}]
        assert "numpy" not in sys.modules
        try:
            season["game-017"].worlds("home_margin")
        except ImportError as error:
            assert "numpy" in str(error)
        """
    )
    python = os.path.join(os.environ["EMPTY_VENV"], "bin", "python")
    subprocess.run([python, "-c", script], check=True, cwd=tmp_path)
    script = os.path.join(os.environ["EMPTY_VENV"], "bin", "manyworlds")
    listed = subprocess.run([script, "ensembles", "--data", str(folder)], check=True, capture_output=True, text=True)
    assert "season" in listed.stdout


def test_names_load_their_modules_when_they_are_used():
    script = textwrap.dedent(
        """
        import sys
        import manyworlds as mw
        assert not {"dataclasses", "inspect", "json", "multiprocessing", "manyworlds._data"} & set(sys.modules)
        assert set(mw.__all__) <= set(dir(mw)) and mw.open is mw.open
        for name in mw.__all__:
            assert getattr(getattr(mw, name), "__module__", "manyworlds.math").startswith("manyworlds."), name
        assert mw.__version__ and not hasattr(mw, "opn")
        from manyworlds import *
        assert Model is mw.Model and math is mw.math
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_command_loads_modules_for_models_only():
    script = textwrap.dedent(
        """
        import sys, types
        from manyworlds import _command
        # The real one ends the process.
        _command._native = types.SimpleNamespace(find_models=lambda find: None, main=lambda words, program: 0)
        sys.argv = ["manyworlds", "run", "football", "--name=a.py"]
        assert _command.main() == 0 and "manyworlds._models" not in sys.modules
        sys.argv = ["manyworlds", "run", "nothing.py:Nothing"]
        assert _command.main() == 2 and "manyworlds._models" in sys.modules
        """
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert "cannot load nothing.py" in done.stderr
