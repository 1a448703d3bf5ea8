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
    process = fork.Process(target=forked, args=(str(folder), results))
    process.start()
    assert "spawn" in results.get(timeout=30)
    process.join(30)
    assert process.exitcode == 0


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
    assert missing.returncode == 2 and "stored: season" in missing.stderr


@pytest.mark.skipif("EMPTY_VENV" not in os.environ, reason="scripts/python_package.sh makes an environment without other packages")
def test_an_empty_environment_is_enough(folder):
    script = textwrap.dedent(
        f"""
        import sys, manyworlds as mw
        data = mw.open({str(folder)!r})
        season = data.ensembles["season"]
        assert season.probability("game-017:home_won").worlds == 200
        assert season.outcome("game-017", "home_margin").quantile(0.5) is not None
        assert data.sql("SELECT 1 AS n").to_dicts() == [{{"n": 1}}]
        assert "numpy" not in sys.modules
        try:
            season["game-017"].worlds("home_margin")
        except ImportError as error:
            assert "numpy" in str(error)
        """
    )
    python = os.path.join(os.environ["EMPTY_VENV"], "bin", "python")
    subprocess.run([python, "-c", script], check=True)
    script = os.path.join(os.environ["EMPTY_VENV"], "bin", "manyworlds")
    listed = subprocess.run([script, "ensembles", "--data", str(folder)], check=True, capture_output=True, text=True)
    assert "season" in listed.stdout
