"""Models in Python, played by commands."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

import manyworlds as mw

MODEL = """
    import manyworlds as mw

    class Walk(mw.Model):
        "Steps of a walk."
        parameters = {"drift": mw.Param(0.0, -1, 1, "steps"), "kind": mw.Param("plain", words=("plain", "wild"))}
        def catalogue(self, p):
            return mw.Catalogue({"walk": {"end": mw.real("steps")}}, ["walk-1", "walk-2"])
        def simulate(self, p, worlds, emit):
            for walk in ("walk-1", "walk-2"):
                emit(walk, end=worlds.stream(walk).normal(p.drift) * (9 if p.kind == "wild" else 1))
"""


@pytest.fixture
def walk(tmp_path):
    """A folder with `walks.py`, and a function that runs a command there."""
    (tmp_path / "walks.py").write_text(textwrap.dedent(MODEL))

    def command(*words, **options):
        run = [sys.executable, "-m", "manyworlds", *words]
        return subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120, **options)

    return tmp_path, command


def played(found):
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_a_command_plays_what_python_plays(walk):
    folder, command = walk
    run = ["run", "walks.py:Walk", "--worlds", "300", "--seed", "5", "--format", "json"]
    summary = played(command(*run, "--param", "drift=0.5", "--param", "kind=wild"))
    assert (summary["ensemble"], summary["worlds"]) == ("walk", 300)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    script = (
        "import manyworlds as mw, walks\n"
        "e = mw.run(walks.Walk(), 300, 5, 'same', parameters={'drift': 0.5, 'kind': 'wild'}, range_worlds=7)\n"
        "print(e.model, e.verify().hash)"
    )
    same = subprocess.run([sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert same.stdout.split() == ["walks:Walk", summary["hash"]]
    # An installed module is found by its name.
    extended = played(command(*run[:1], "walks:Walk", *run[2:], "--name", "module", env=environment))
    assert extended["hash"] != summary["hash"] and extended["ensemble"] == "module"


def test_models_of_a_file_are_listed(walk):
    _, command = walk
    found = played(command("models", "walks.py:Walk", "--format", "json"))
    assert [(p["parameter"], p["default"]) for p in found] == [("drift", 0.0), ("kind", "plain")]


def test_a_changed_source_is_not_continued(walk):
    folder, command = walk
    run = ["run", "walks.py:Walk", "--worlds", "10", "--format", "json"]
    first = played(command(*run))
    assert played(command(*run, "--resume"))["hash"] == first["hash"]
    longer = played(command("run", "walks.py:Walk", "--extend", "25", "--format", "json"))
    assert longer["worlds"] == 25 and longer["played"] == 15
    source = (folder / "walks.py").read_text()
    (folder / "walks.py").write_text(source.replace("9 if", "8 if"))
    refused = command("run", "walks.py:Walk", "--worlds", "25", "--resume")
    assert refused.returncode == 2 and "it was started with" in refused.stderr
    checked = command("verify", "walk", "--format", "json")
    assert checked.returncode == 0 and json.loads(checked.stdout)["ok"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["walks.py:Nothing"], "walks.py:Nothing is not a model"),
        (["nothing.py:Walk"], "the file does not exist"),
        (["nothing:Walk"], "No module named 'nothing'"),
        (["json:dumps"], "json:dumps is not a model"),
        (["walks.py:Walk", "--param", "drift=2"], "parameter drift is"),
        (["walks.py:Walk", "--param", "kind=odd"], "give one of plain, wild"),
        (["broken.py:Walk"], "SyntaxError"),
    ],
)
def test_models_that_cannot_be_used(walk, words, said):
    folder, command = walk
    (folder / "broken.py").write_text("class Walk(")
    refused = command("run", *words, "--worlds", "5")
    assert refused.returncode == 2 and said in refused.stderr, refused.stderr
    assert list(mw.open(folder / "data").ensembles) == []


def test_python_replays_what_the_shell_played(walk):
    folder, command = walk
    played(command("run", "walks.py:Walk", "--worlds", "10", "--format", "json"))
    script = "import manyworlds as mw, walks\nprint(mw.open().ensembles['walk'].verify(replay=True).ok)"
    replay = lambda: subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)  # noqa: E731
    assert replay().stdout == "True\n"
    (folder / "walks.py").write_text((folder / "walks.py").read_text().replace("normal(p.drift)", "normal(2)"))
    assert "the source of model Walk here differs" in replay().stderr


def test_python_replays_what_an_entry_point_played(walk):
    folder, command = walk
    (folder / "walks-1.dist-info").mkdir()
    (folder / "walks-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: walks\nVersion: 1\n")
    (folder / "walks-1.dist-info" / "entry_points.txt").write_text("[manyworlds.models]\nstroll = walks:Walk\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}
    assert command("run", "stroll", "--worlds", "10", env=environment).returncode == 0
    script = "import manyworlds as mw{}\nprint(mw.open().ensembles['stroll'].verify(replay=True).ok)"
    replay = lambda names: subprocess.run(  # noqa: E731
        [sys.executable, "-c", script.format(names)], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert replay(", walks").stdout == "True\n"
    # Nothing that stored data names is imported.
    assert 'no model "stroll"' in replay("").stderr


def test_stored_names_load_no_files(walk):
    """Reading data that somebody else wrote runs no code of the folder that it is in."""
    folder, command = walk
    played(command("run", "walks.py:Walk", "--worlds", "10", "--format", "json"))
    (folder / "walks.py").write_text("raise SystemExit('loaded')")
    checked = command("verify", "walk", "--format", "json")
    assert checked.returncode == 0 and "loaded" not in checked.stdout + checked.stderr
    assert any("no model" in check["detail"] for check in json.loads(checked.stdout)["checks"])


def test_a_file_replays_its_worlds_from_any_folder(walk):
    folder, command = walk
    played(command("run", "walks.py:Walk", "--worlds", "10", "--events", "replay", "--format", "json"))
    refused = command("verify", "walk", "--replay")
    assert refused.returncode == 2 and 'no model "walks.py:Walk"' in refused.stderr and "name it with --model FILE.py:CLASS" in refused.stderr
    (folder / "other folder").mkdir()

    def elsewhere(*words):
        run = [sys.executable, "-m", "manyworlds", *words, "--data", "../data"]
        return subprocess.run(run, cwd=folder / "other folder", capture_output=True, text=True, timeout=120)

    for named in (["--model", "../walks.py:Walk"], [f"--model={folder}/walks.py:Walk"]):
        checked = json.loads(elsewhere("verify", "walk", *named, "--format", "json").stdout)
        assert checked["ok"] and "worlds are the same when they are played again" in {check["name"] for check in checked["checks"]}
    extended = played(elsewhere("run", "../walks.py:Walk", "--extend", "25", "--events", "replay", "--format", "json"))
    whole = played(command("run", "walks.py:Walk", "--worlds", "25", "--name", "whole", "--format", "json"))
    assert extended["hash"] == whole["hash"]
    (folder / "other folder" / "steps.py").write_text((folder / "walks.py").read_text())
    refused = elsewhere("verify", "walk", "--model", "steps.py:Walk")
    assert refused.returncode == 2 and 'ensemble "walk" was played by walks.py:Walk, not by steps.py:Walk' in refused.stderr


def test_python_continues_what_the_shell_played(walk):
    folder, command = walk
    played(command("run", "walks.py:Walk", "--worlds", "10", "--events", "replay", "--format", "json"))
    script = "import manyworlds as mw, walks\nprint(mw.run(walks.Walk(), 10, resume=True).model)"
    resumed = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
    assert resumed.stdout == "walks.py:Walk\n", resumed.stderr
