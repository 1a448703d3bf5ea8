"""The notebooks run in an empty folder and give the results that are stored in them.

`python python/tests/test_notebooks.py [NAME ...]` runs them and stores their results.
"""

import sys
import tempfile
from pathlib import Path
from textwrap import dedent

# Building the cache of fonts prints a note, which would else be in the first notebook.
import matplotlib.font_manager  # noqa: F401
import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples" / "notebooks"

#: What must hold after each notebook, checked where its variables live.
FACTS = {
    "clinic": """
        # The same patients come under both policies, and no others with another seed.
        patients = [ensemble["clinic"].worlds("patients") for ensemble in (first_come, minor_first, other_days)]
        assert np.array_equal(patients[0], patients[1]) and not np.array_equal(patients[0], patients[2])
        for one, two in zip(paired, independent):
            assert one.is_paired and not two.is_paired
            assert width(one) < width(two), one.outcome
        one, two = paired[-1], independent[-1]
        assert one.outcome == "clinic:overtime" and width(two) > 5 * width(one)
        assert one.ci.low > 0 and two.ci.low < 0
        assert abs(one.difference - (minor_first["clinic"].worlds("overtime") - before).mean()) < 1e-9
        replayed = mw.run(Clinic(), 100, 1, "again", data, parameters={"policy": "minor first"}, range_worlds=7)
        assert np.array_equal(replayed["clinic"].worlds("overtime"), minor_first["clinic"].worlds("overtime")[:100])
    """,
    "schools": """
        for group, names in (("posterior", ("mu", "tau", "theta")), ("posterior_predictive", ("repeat",))):
            for name in names:
                for school in SCHOOLS:
                    array = tree[group][name]
                    drawn = (array.sel(school=school) if "school" in array.dims else array).values.ravel()
                    assert drawn.tobytes() == schools[school].worlds(name).tobytes(), (name, school)
        # The posterior again, by brute force: weights of a grid of mu (rows) and tau (columns).
        mus, taus = np.linspace(-40, 60, 401)[:, None], np.linspace(0.05, 60, 1200)
        spreads = ERROR[:, None, None] ** 2 + taus**2
        weights = np.exp(-((EFFECT[:, None, None] - mus) ** 2 / spreads + np.log(spreads)).sum(axis=0) / 2)
        weights /= weights.sum()
        for j, school in enumerate(SCHOOLS):
            pull = taus**2 / spreads[j]
            mean = mus + pull * (EFFECT[j] - mus)
            exact = (weights * mean).sum()
            sd = np.sqrt((weights * (mean**2 + pull * ERROR[j] ** 2)).sum() - exact**2)
            effect = schools[school].outcome("theta")
            assert abs(effect.mean - exact) < 4 * sd / 100 and abs(effect.standard_deviation / sd - 1) < 0.06, school
        repeat = tree["posterior_predictive"]["repeat"].values.reshape(-1, 8)
        assert schools.price("A:repeat <= 5", "G:repeat <= 5").hits == (repeat[:, [0, 6]] <= 5).all(axis=1).sum()
        assert schools.price(f"{count} >= 7").hits == ((repeat > 5).sum(axis=1) >= 7).sum()
        for condition, independent in contracts.values():
            assert schools.price(f"{count} {condition}").ci.low > independent.sum()
        assert abs(jointly.sum() - 1) < 1e-12 and abs(alone.sum() - 1) < 1e-12
        assert abs(jointly @ np.arange(9) - chances.sum()) < 1e-9
    """,
    "league": """
        assert np.bincount(np.array(GAMES).ravel()).tolist() == [18] * 16
        wins = np.stack([season[team].worlds("wins") for team in TEAMS])
        assert (wins.sum(axis=0) == len(GAMES)).all()
        playoffs = np.stack([season[team].worlds("playoffs") for team in TEAMS])
        assert (playoffs[:8].sum(axis=0) == 4).all() and (playoffs[8:].sum(axis=0) == 4).all()
        champion = np.stack([season[team].worlds("champion") for team in TEAMS])
        assert (champion.sum(axis=0) == 1).all() and not (champion & ~playoffs).any()
        for half in (slice(0, 8), slice(8, 16)):
            # Nobody who stays out has more wins than somebody who plays on.
            out = np.where(playoffs[half], -1, wins[half]).max(axis=0)
            assert (out <= np.where(playoffs[half], wins[half], 99).min(axis=0)).all()
        assert np.abs(gap - lean).max() < 0.003
        # Worlds of another seed agree within their sampling error, 0.0035, and that of the fit, 0.007.
        assert np.abs(target - over(season) - lean).max() < 0.03
        both = season.price("Drakes:playoffs", "Eagles:playoffs")
        assert both.hits == (playoffs[3] & playoffs[4]).sum() and both.ci.high < both.independent
        # The command settles the book as NumPy does.
        assert abs(together.mean() - book["mean"]) < 1e-6
        assert abs(shortfall(together) - tail["expected_shortfall"]) < 1e-6
        assert shortfall(together) > 1.2 * shortfall(shuffled)
        assert mw.check(League(), worlds=100, parameters=parameters)
    """,
}


def executed(name, folder, facts=""):
    """A notebook, run in a folder of its own, and a last cell with facts."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(dedent(facts)))
    where = {"metadata": {"path": str(folder)}}
    options = {"timeout": 120, "kernel_name": "python3", "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, resources=where, **options).execute()
    notebook.cells.pop()
    return notebook


def results(notebook):
    """What each cell shows: its texts, and where it has pictures."""
    found = {}
    for cell in notebook.cells:
        shown = found[cell.id] = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                shown.append((output.name, output.text))
            elif "image/png" in output.data:
                shown.append(("picture", ""))
            else:
                # The form that a notebook displays; the other has more digits than all processors agree about.
                shown.append(("value", output.data.get("text/html", output.data["text/plain"])))
    return found


@pytest.fixture(autouse=True)
def own_jupyter(tmp_path, monkeypatch):
    """The kernel is that of this interpreter, whatever is installed for the user."""
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


@pytest.mark.parametrize("name", sorted(FACTS))
def test_notebook_gives_its_stored_results(name, tmp_path):
    (tmp_path / "work").mkdir()
    stored = results(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4))
    assert results(executed(name, tmp_path / "work", FACTS[name])) == stored
    kinds = [kind for shown in stored.values() for kind, _ in shown]
    assert kinds[-1] == "picture" and "stderr" not in kinds


@pytest.mark.parametrize("name", sorted(FACTS))
def test_notebook_is_small_and_clean(name):
    file = NOTEBOOKS / f"{name}.ipynb"
    text = file.read_text()
    assert len(text) < 250_000
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not any(cell.metadata for cell in notebook.cells)
    assert not any(word in text for word in ("/tmp/", "/home/", "/root/", "application/vnd.jupyter.widget"))


def test_every_notebook_is_tested():
    assert {file.stem for file in NOTEBOOKS.glob("*.ipynb")} == set(FACTS)


def store(name):
    """Runs a notebook and stores its results."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(name, folder)
    notebook.metadata = {key: notebook.metadata[key] for key in ("kernelspec", "language_info")}
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, NOTEBOOKS / f"{name}.ipynb")


if __name__ == "__main__":
    for each in sys.argv[1:] or sorted(FACTS):
        store(each)
