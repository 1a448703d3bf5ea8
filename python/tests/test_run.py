"""Runs: in threads and in processes, until an estimate is precise enough, and what may go wrong."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import manyworlds as mw

MODELS = """
    import os, signal, time
    import numpy as np, manyworlds as mw

    class Walk(mw.Model):
        parameters = {"drift": mw.Param(0.0, -1, 1, "steps"), "steps": mw.Param((1.0, 2.0), 0, 9)}
        def catalogue(self, p):
            outcomes = {"end": mw.number(), "up": mw.flag(), "length": mw.real()}
            events = {"step": mw.number("steps"), "size": mw.real("steps")}
            return mw.Catalogue({"walk": outcomes}, ["walk-1", "walk-2"], events=events)
        def simulate(self, p, worlds, emit):
            for walk in ("walk-1", "walk-2"):
                r = worlds.stream(walk)
                length, steps = r.normal(p.drift + sum(p.steps)), r.poisson(2)
                at = np.repeat(np.arange(len(worlds)), steps)
                emit.events(walk, at, step=np.arange(len(at)) - np.repeat(np.cumsum(steps) - steps, steps), size=length[at])
                emit(walk, end=np.rint(length), up=length > 0, length=length)

    class Broken(Walk):
        "Fails as its parameter says, in world 17."
        parameters = {"how": mw.Param("raise", words=("raise", "kill", "exit", "sleep"))}
        def simulate(self, p, worlds, emit):
            if 17 in worlds.numbers:
                if p.how == "raise":
                    worlds.stream("walk-2")
                    raise ValueError("the walker fell")
                elif p.how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                elif p.how == "exit":
                    os._exit(3)
            if p.how == "sleep":
                # One write, so that lines of two processes never mix.
                os.write(1, f"sleeping {os.getpid()}\\n".encode())
                time.sleep(60)
            for walk in ("walk-1", "walk-2"):
                zero = np.zeros(len(worlds))
                emit(walk, end=zero, up=zero, length=zero)
"""


@pytest.fixture
def python(tmp_path):
    """Runs a script in a folder with `walks.py`."""
    (tmp_path / "walks.py").write_text(textwrap.dedent(MODELS))

    def run(script, *, start=False):
        (tmp_path / "script.py").write_text("import manyworlds as mw, walks\n" + textwrap.dedent(script))
        command = [sys.executable, "script.py"]
        if start:
            return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return run


def printed(done):
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_worlds_do_not_depend_on_processes(python):
    script = """
        if __name__ == "__main__":
            for n, options in enumerate([dict(threads=1), dict(processes=1, range_worlds=77), dict(processes=2, range_worlds=40)]):
                e = mw.run(walks.Walk(), 300, 5, f"walk-{n}", "data", parameters={"drift": 0.5, "steps": [1, 3]}, **options)
                v = e.verify()
                print(bool(v), v.hash, v.event_hash, e.worlds)
    """
    found = printed(python(script))
    assert found == found[:4] * 3 and found[0] == "True" and found[3] == "300"


def test_processes_replace_and_resume(python):
    script = """
        if __name__ == "__main__":
            options = dict(data="data", name="walk", processes=2, range_worlds=50)
            first = mw.run(walks.Walk(), 200, 1, **options)
            second = mw.run(walks.Walk(), 200, 2, replace=True, **options)
            again = mw.run(walks.Walk(), 200, 2, resume=True, **options)
            print(first.version < second.version == again.version, again.seed, again.verify().ok)
    """
    assert printed(python(script)) == ["True", "2", "True"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", r"worlds 00000010-00000019 could not be played: model walks:Broken failed on walk-2 in world 17: ValueError: the walker fell"),
        ("kill", r"worlds 00000010-00000019 could not be played: model walks:Broken failed: its process was ended by signal 9 \(SIGKILL\)"),
        ("exit", r"worlds 00000010-00000019 could not be played: model walks:Broken failed: its process ended with code 3"),
    ],
)
def test_processes_report_failures(python, how, words):
    script = f"""
        import re
        if __name__ == "__main__":
            try:
                mw.run(walks.Broken(), 40, 1, "broken", "data", processes=2, range_worlds=10, parameters={{"how": {how!r}}})
            except mw.ModelError as error:
                print(error)
            print(mw.open("data").ensembles["broken"].worlds <= 30)
    """
    import re

    done = python(script)
    assert re.search(words, done.stdout), done.stdout + done.stderr
    assert how != "raise" or 'walks.py", line' in done.stdout
    assert done.stdout.split()[-1] == "True"


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_processes_end_with_the_run(python, sent):
    script = """
        if __name__ == "__main__":
            mw.run(walks.Broken(), 40, 1, "slow", "data", processes=2, range_worlds=10, parameters={"how": "sleep"})
    """
    run = python(script, start=True)
    said = [run.stdout.readline() for _ in range(2)]
    assert all(said), run.communicate()[1]
    children = [int(line.split()[1]) for line in said]
    began = time.monotonic()
    run.send_signal(sent)
    run.wait(30)
    assert time.monotonic() - began < 5
    while any(map(is_running, children)) and time.monotonic() - began < 10:
        time.sleep(0.05)
    assert not any(map(is_running, children))
    error = run.communicate()[1]
    assert sent == signal.SIGKILL or "KeyboardInterrupt" in error


def test_ctrl_c_at_a_terminal_reaches_the_run_alone(python):
    """A terminal sends the signal to all processes of its group."""
    script = """
        import os
        if __name__ == "__main__":
            os.setpgrp()
            mw.run(walks.Broken(), 40, 1, "slow", "data", processes=2, range_worlds=10, parameters={"how": "sleep"})
    """
    run = python(script, start=True)
    assert all(run.stdout.readline().startswith("sleeping") for _ in range(2))
    os.killpg(run.pid, signal.SIGINT)
    error = run.communicate(timeout=60)[1]
    assert error.count("Traceback") == 1 and error.rstrip().endswith("KeyboardInterrupt"), error


def test_every_process_starts_with_ctrl_c_blocked(python):
    """The first one, too: `multiprocessing` starts its resource tracker with it, and that unblocks the signal."""
    script = """
        import os, signal
        def is_blocked():
            return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        class Masked(walks.Walk):
            def simulate(self, p, worlds, emit):
                super().simulate(p, worlds, emit)
                os.write(1, f"{is_blocked()}\\n".encode())
        if __name__ == "__main__":
            before = is_blocked()
            mw.run(Masked(), 20, 1, "masked", "data", processes=1, range_worlds=10)
            print("restored", is_blocked() == before)
    """
    assert printed(python(script)) == ["True", "True", "restored", "True"]


def test_models_of_a_script_play_in_processes(python):
    model = """
        class Own(walks.Walk):
            pass
    """
    guarded = model + """
        if __name__ == "__main__":
            e = mw.run(Own(), 100, 1, "own", "data", processes=2, range_worlds=30)
            print(e.worlds, e.model)
    """
    assert printed(python(guarded)) == ["100", "script.py:Own"]
    unguarded = model + """
        mw.run(Own(), 100, 1, "other", "data", processes=2)
    """
    refused = python(unguarded)
    assert 'put the calls of your script under `if __name__ == "__main__":`' in refused.stderr


def test_models_at_a_prompt_need_cloudpickle(tmp_path):
    code = textwrap.dedent(MODELS) + "try:\n    print(mw.run(Walk(), 60, 1, 'walk', 'data', processes=2, range_worlds=20).worlds)\nexcept mw.InvalidError as error:\n    print(error)"
    found = lambda *before: subprocess.run(  # noqa: E731
        [sys.executable, "-c", "\n".join([*before, code])], cwd=tmp_path, capture_output=True, text=True, timeout=120
    ).stdout
    hidden = "import sys; sys.modules['cloudpickle'] = None"
    assert "another process cannot load model Walk" in found(hidden) and "install cloudpickle" in found(hidden)
    piped = subprocess.run([sys.executable, "-"], input=code, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert piped.stdout == "another process cannot load the script <stdin>: write it to a file, or use threads\n"
    pytest.importorskip("cloudpickle")
    assert found() == "60\n"


class Coin(mw.Model):
    def catalogue(self, p):
        return mw.Catalogue({"coin": {"heads": mw.flag(), "size": mw.real("mm")}}, ["coin-1"])

    def simulate(self, p, worlds, emit):
        r = worlds.stream("coin-1")
        emit("coin-1", heads=r.chance(0.5), size=r.normal(20, 1))


def test_a_run_stops_once_an_estimate_is_precise(tmp_path):
    options = dict(worlds=20_000, data=tmp_path, range_worlds=500, threads=1)
    shares = mw.run(Coin(), name="shares", until=("coin-1:heads", "3%"), **options)
    assert 500 <= shares.worlds < 5000 and shares.summary["state"] == "enough"
    ci = shares.probability("coin-1:heads").ci
    assert ci.high - ci.low < 0.07
    sizes = mw.run(Coin(), name="sizes", until=("coin-1:size", 0.05), **options)
    assert 1500 <= sizes.worlds < 5000
    # The goal and the remaining worlds come from the shell's words, too.
    listed = subprocess.run(
        [sys.executable, "-m", "manyworlds", "ensembles", "--format", "json", "--data", str(tmp_path)], capture_output=True, text=True
    )
    assert "coin-1:heads within 3%" in json.dumps(json.loads(listed.stdout))
    # Processes send their estimates with their ranges.
    elsewhere = mw.run(Coin(), name="elsewhere", until=("coin-1:heads", "3%"), processes=2, **{**options, "threads": None})
    assert 500 <= elsewhere.worlds < 5000 and elsewhere.summary["state"] == "enough"
    more = mw.run(Coin(), name="sizes", resume=True, **{**options, "worlds": 20_000})
    assert more.worlds == 20_000


class Wide(mw.Model):
    """So many outcomes that a run follows only that of its goal."""

    def catalogue(self, p):
        return mw.Catalogue({"a": {f"x{n}": mw.number() for n in range(40)}}, [f"a-{n}" for n in range(50)])

    def simulate(self, p, worlds, emit):
        for n in range(50):
            values = np.rint(worlds.stream(f"a-{n}").normal(100, 1))
            emit(f"a-{n}", **{f"x{of}": values for of in range(40)})


def test_processes_follow_the_goal_among_many_outcomes(tmp_path):
    # The interval of the first 500 worlds is about 0.1% of the mean.
    wide = mw.run(Wide(), 4000, data=tmp_path, processes=2, range_worlds=500, until=("a-49:x39", "1%"))
    assert 500 <= wide.worlds < 4000 and wide.summary["state"] == "enough"


def test_a_replacement_takes_all_worlds(tmp_path):
    def stop(played, worlds):
        raise KeyboardInterrupt

    options = dict(worlds=2000, name="coins", data=tmp_path, range_worlds=1, threads=1)
    mw.run(Coin(), **{**options, "range_worlds": 500})
    with pytest.raises(KeyboardInterrupt):
        mw.run(Coin(), seed=2, replace=True, progress=stop, **options)
    with pytest.raises(mw.InvalidError, match="replaces an older version, which takes all of its worlds: leave out until"):
        mw.run(Coin(), seed=2, resume=True, until=("coin-1:heads", "3%"), **options)
    resumed = mw.run(Coin(), seed=2, resume=True, **options)
    assert (resumed.worlds, resumed.seed, resumed.version) == (2000, 2, 2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"until": ("coin-1:heads", "wide")}, mw.InvalidError, '"wide" is not a width of an interval'),
        ({"until": ("heads", "1%")}, mw.InvalidError, "write it as ENTITY:OUTCOME"),
        ({"until": ("coin-1:tails", "1%")}, mw.UnknownNameError, 'no outcome "tails"'),
        ({"until": ("coin-1:heads", "1%"), "replace": True}, mw.InvalidError, "replace and until exclude each other"),
        ({"threads": 1, "processes": 2}, mw.InvalidError, "threads and processes exclude each other"),
        ({"events": "keep"}, mw.InvalidError, "write 'store' or 'replay'"),
    ],
)
def test_invalid_options_are_refused(tmp_path, options, error, words):
    with pytest.raises(error, match=words):
        mw.run(Coin(), 100, data=tmp_path, **options)
    assert list(mw.open(tmp_path).ensembles) == []


def test_resume_after_kill_keeps_hash(python, tmp_path):
    script = """
        import os, time
        class Slow(walks.Walk):
            def simulate(self, p, worlds, emit):
                time.sleep(0.2)
                super().simulate(p, worlds, emit)
                os.write(1, b"played\\n")
        if __name__ == "__main__":
            resume = "slow" in mw.open("data").ensembles
            e = mw.run(Slow(), 100, 1, "slow", "data", processes=2, range_worlds=5, resume=resume)
            v = e.verify()
            print(v.hash, v.event_hash, mw.run(Slow(), 100, 1, "whole", "data", threads=2).verify().hash)
    """
    run = python(script, start=True)
    for _ in range(6):
        assert run.stdout.readline() == "played\n"
    run.send_signal(signal.SIGKILL)
    run.wait(30)
    stored = mw.open(tmp_path / "data").ensembles["slow"].worlds
    assert 0 < stored < 100
    words = printed(python(script))
    assert words.count("played") < 22 and words[-3] == words[-1]


def test_a_model_that_is_defined_again_is_played_again(tmp_path):
    def steps(**parameters):
        class Steps(mw.Model):
            def catalogue(self, p):
                return mw.Catalogue({"walk": {"at": mw.number()}}, ["a"])

            def simulate(self, p, worlds, emit):
                emit("a", at=worlds.stream().integers(0, int(sum(vars(p).values()))))

        Steps.parameters = parameters
        return Steps()

    drift = mw.Param(np.int64(9), np.int64(1), np.float32(99))
    one = mw.run(steps(drift=drift), 20, name="one", data=tmp_path)
    assert one.verify(replay=True).hash == one.verify().hash
    two = mw.run(steps(drift=drift, more=mw.Param(3.0, 0, 10)), 20, name="two", data=tmp_path)
    assert two.verify(replay=True).hash == two.verify().hash != one.verify().hash
