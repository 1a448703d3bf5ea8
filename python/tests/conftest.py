"""A data folder with a small season, played by the package's own command."""

import subprocess
import sys

import pytest

import manyworlds as mw


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    command = [sys.executable, "-m", "manyworlds", "run", "football", "--worlds", "200", "--seed", "1", "--events", "store"]
    subprocess.run([*command, "--name", "season", "--data", str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def data(folder):
    return mw.open(folder)


@pytest.fixture(scope="session")
def season(data):
    return data.ensembles["season"]


@pytest.fixture(autouse=True)
def examples(doctest_namespace, folder):
    doctest_namespace["DATA"] = folder
