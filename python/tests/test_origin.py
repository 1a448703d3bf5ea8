"""A model whose source or constants have changed does not continue the worlds of the old one."""

import functools
import importlib
import json
import os
import subprocess
import sys
import textwrap

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import manyworlds as mw
from manyworlds._origin import is_own, origin

LEAGUE = """
    import dataclasses
    import functools
    import random
    from pathlib import Path

    import numpy as np

    import manyworlds as mw
    import tables
    from tables import edge

    HOME = 2.5
    GAMES = [("a", "b"), ("b", "a")]
    RATINGS = np.array([1.0, -1.0])
    NAMES = {"a", "b", "c"}
    FOLDER = Path(__file__).parent
    DRAWS = np.random.default_rng(1)
    UNUSED = 1

    @dataclasses.dataclass
    class Team:
        skill: float
        def strength(self):
            return self.skill * SPREAD

    SPREAD = 3.0
    TEAMS = {"a": Team(1.0), "b": Team(2.0)}

    @functools.cache
    def factor(x, more=HOME):
        return x * DEEP

    DEEP = 1.5
    RULES = {"plain": lambda x: x + HOME}

    class Base(mw.Model):
        def catalogue(self, p):
            return mw.Catalogue({"game": {"margin": mw.real()}}, ["game-1"])
        def base(self):
            return 4.0

    class League(Base):
        WEIGHT = 2.0
        def simulate(self, p, worlds, emit):
            def inside():
                return sum(RATINGS) + len(NAMES) + len(str(FOLDER))
            margin = worlds.stream("game-1").normal(HOME + edge(1) + factor(2) + inside(), self.base() * self.WEIGHT)
            emit("game-1", margin=margin + TEAMS["a"].strength() + RULES["plain"](len(GAMES)) + tables.LOW)

    if __name__ == "__main__":
        import sys
        print(mw.run(League(), worlds=int(sys.argv[1]), data="data", resume="resume" in sys.argv).worlds)
"""
TABLES = """
    LOW, HIGH = 1, 2
    STEP = 0.5
    def edge(x):
        return x * STEP
"""


@pytest.fixture
def league(tmp_path):
    """A folder with the model, and a function that runs Python there, after replacing some text."""
    files = {"league.py": textwrap.dedent(LEAGUE), "tables.py": textwrap.dedent(TABLES)}

    def python(*words, change=("", "")):
        for name, text in files.items():
            (tmp_path / name).write_text(text.replace(*change) if change[0] else text)
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)

    return tmp_path, python


USES = "import json, league\nfrom manyworlds._origin import origin\nprint(json.dumps(origin(league.League())))"

WITH_SET = USES.replace("print", "model = league.League(); model.rivals = {'ada', 'bob', 'cy'}\nprint").replace(
    "origin(league.League())", "origin(model)"
)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("HOME = 2.5", "HOME = 3", "HOME"),
        ('("b", "a")]', '("b", "c")]', "GAMES"),
        ("-1.0])", "-1.5])", "RATINGS"),
        ('"c"}', '"d"}', "NAMES"),
        ("SPREAD = 3.0", "SPREAD = 3.5", "SPREAD"),
        ("Team(2.0)", "Team(2.5)", "TEAMS"),
        ("self.skill * SPREAD", "self.skill + SPREAD", "Team"),
        ("DEEP = 1.5", "DEEP = 2", "DEEP"),
        ("x * DEEP", "x / DEEP", "factor"),
        ("x + HOME", "x - HOME", "<lambda>"),
        ("return 4.0", "return 5.0", "Base"),
        ("STEP = 0.5", "STEP = 1", "tables.STEP"),
        ("x * STEP", "x / STEP", "tables.edge"),
        ("HIGH = 1, 2", "HIGH = 1, 3", "tables"),
    ],
)
def test_everything_that_the_methods_use_counts(league, old, new, name):
    _, python = league
    before, after = (json.loads(python("-c", USES, change=change).stdout)["uses"] for change in (("", ""), (old, new)))
    changed = {of for of in {*before, *after} if before.get(of) != after.get(of)}
    # A default value and a lambda in a dict are parts of others, and so is a file of a module.
    assert name in changed and changed - {name} <= {"factor()", "Base.x", "RULES", "tables"}


def test_nothing_else_counts(league):
    folder, python = league
    before = json.loads(python("-c", USES).stdout)
    state = json.loads(python("-c", WITH_SET).stdout)["state"]
    for change in (("UNUSED = 1", "UNUSED = 2"), ("DRAWS = np", "DRAWS = 1 + 0 * np.pi; np"), ("import sys", "import sys, os")):
        assert json.loads(python("-c", USES, change=change).stdout) == before, change
    for seed in ("1", "2", "3"):
        os.environ["PYTHONHASHSEED"] = seed
        try:
            assert json.loads(python("-c", USES).stdout) == before
            assert json.loads(python("-c", WITH_SET).stdout)["state"] == state
        finally:
            del os.environ["PYTHONHASHSEED"]


def test_a_script_resumes_its_own_worlds_only(league):
    folder, python = league
    assert python("league.py", "10").stdout == "10\n"
    assert python("league.py", "10", "resume", change=("UNUSED = 1", "UNUSED = 2")).stdout == "10\n"
    refused = python("league.py", "10", "resume", change=("DEEP = 1.5", "DEEP = 2"))
    words = "it was started with another model: DEEP, which model League uses, differs from what played the worlds"
    assert words in refused.stderr and refused.stdout == ""


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_worlds_of_a_changed_simulate_are_not_resumed(league, is_interrupted):
    folder, python = league
    play = """
        import sys, league, manyworlds as mw
        def stop(played, worlds):
            if "stop" in sys.argv:
                raise KeyboardInterrupt
        try:
            resume = "resume" in sys.argv
            mw.run(league.League(), 300, data="data", range_worlds=1, threads=1, resume=resume, progress=stop)
        except KeyboardInterrupt:
            pass
        print(mw.open("data").ensembles["league"].worlds)
    """
    run = lambda *words, **change: python("-c", textwrap.dedent(play), *words, **change)  # noqa: E731
    played = int(run(*["stop"] * is_interrupted).stdout)
    assert (played < 300) == is_interrupted
    refused = run("resume", change=("margin=margin +", "margin=margin -"))
    words = "cannot resume ensemble 'league': it was started with another model: the source of model League here differs"
    assert words in refused.stderr and refused.stdout == "", refused.stderr
    assert mw.open(folder / "data").ensembles["league"].worlds == played
    assert run("resume").stdout == "300\n"


def test_the_shell_extends_its_own_worlds_only(league):
    folder, python = league
    command = ("-m", "manyworlds", "run", "league.py:League")
    assert python(*command, "--worlds", "10").returncode == 0
    refused = python(*command, "--extend", "20", change=("DEEP = 1.5", "DEEP = 2"))
    expected = "it was played with another definition of its model: uses.DEEP differs"
    assert refused.returncode == 2 and expected in refused.stderr, refused.stderr
    assert python(*command, "--extend", "20").returncode == 0


def test_worlds_of_a_changed_constant_are_not_replayed(league):
    folder, python = league
    play = "import league, manyworlds as mw\nmw.run(league.League(), 10)"
    verify = "import league, manyworlds as mw\nprint([c.detail for c in mw.open().ensembles['league'].verify().checks])"
    assert python("-c", play).returncode == 0
    assert "model" not in python("-c", verify).stdout
    said = python("-c", verify, change=("HOME = 2.5", "HOME = 3")).stdout
    assert "HOME, factor(), which model League uses, differ from what played the worlds: install the same source" in said


def cells(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(source)) for source in sources])


def test_a_notebook_notices_a_changed_constant(tmp_path):
    model = """
        import manyworlds as mw
        SHIFT = 1.0
        def shifted(x):
            return x + SHIFT
        class Walk(mw.Model):
            SD = 2.0
            def catalogue(self, p):
                return mw.Catalogue({"walk": {"end": mw.real()}}, ["walk"])
            def simulate(self, p, worlds, emit):
                emit("walk", end=shifted(worlds.stream().normal(0, self.SD)))
        def resumed():
            try:
                return mw.run(Walk(), 10, resume=True).worlds
            except mw.InvalidError as error:
                return str(error)
    """
    notebook = cells(
        model, "mw.run(Walk(), 10).worlds", "resumed()", "SHIFT = 2.0; resumed()", "SHIFT = 1.0; resumed()", "Walk.SD = 3.0; resumed()"
    )
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}, timeout=60).execute()
    found = [cell.outputs[0]["data"]["text/plain"] for cell in notebook.cells[1:]]
    assert found[:2] == ["10", "10"] and found[3] == "10"
    assert "SHIFT, which model Walk uses, differs" in found[2] and "Walk.SD, which model Walk uses, differs" in found[4]


def test_ensembles_without_the_constants_are_continued(league):
    """As an earlier version of the package stored them."""
    folder, python = league
    old = """
        import league, manyworlds as mw
        from manyworlds import _model
        whole = _model.origin
        _model.origin = lambda model: {part: of for part, of in whole(model).items() if part != "uses"}
        mw.run(league.League(), 10)
        _model.origin = whole
        league = mw.run(league.League(), 10, resume=True)
        print(league.worlds, [c.detail for c in league.verify().checks if "model" in c.detail])
    """
    assert python("-c", textwrap.dedent(old)).stdout == "10 []\n"


def test_closures_and_wrapped_functions_count():
    def model(shift, table):
        @functools.cache
        def of(x):
            return x + shift

        class Local(mw.Model):
            def catalogue(self, p):
                return mw.Catalogue({"a": {"x": mw.real()}}, ["a"])

            @mw.per_world
            def simulate(self, p, world):
                return {"a": {"x": of(world.random().random()) + table[0]}}

        return origin(Local())["uses"]

    assert model(1, np.arange(3)) == model(1, np.arange(3))
    assert model(1, np.arange(3)) != model(2, np.arange(3)) and model(1, np.arange(3)) != model(1, np.arange(3.0))


@pytest.mark.parametrize(("place", "own"), [("site-packages", False), ("dist-packages", False), ("work", True)])
def test_packages_of_user_and_system_are_not_the_models(tmp_path, monkeypatch, place, own):
    name = f"rates_{place.replace('-', '_')}"
    (tmp_path / place).mkdir()
    (tmp_path / place / f"{name}.py").write_text("RATE = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path / place))
    importlib.import_module(name)
    assert is_own(name, __name__) == own
