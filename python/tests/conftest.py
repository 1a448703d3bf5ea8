"""A data folder with a small season, played by the package's own command, and servers of folders."""

import re
import subprocess
import sys
import time
from contextlib import contextmanager

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


@contextmanager
def serving(folder, home, *words):
    """A server of the package over a folder, and the token that it requires."""
    run = [sys.executable, "-m", "manyworlds"]
    tokens = home / "tokens"
    made = subprocess.run(
        [*run, "token", "create", "--token-file", str(tokens), "--read", "--write", "test"], capture_output=True, text=True, cwd=home
    )
    assert made.returncode == 0, made.stderr
    log = open(home / "log", "w+")
    process = subprocess.Popen(
        [*run, "serve", "--data", str(folder), "--listen", "127.0.0.1:0", "--token-file", str(tokens), *words], stdout=log, stderr=log, cwd=home
    )
    try:
        url = None
        for _ in range(600):
            if found := re.search(r"http://127\.0\.0\.1:\d+", (home / "log").read_text()):
                url = found[0]
                break
            assert process.poll() is None, (home / "log").read_text()
            time.sleep(0.1)
        yield url, made.stdout.split()[-1]
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="session")
def server(folder, tmp_path_factory):
    with serving(folder, tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture(scope="session")
def remote(server):
    return mw.connect(*server)


@pytest.fixture(autouse=True)
def examples(request):
    """Examples of docstrings use the season; other tests ask for it."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("doctest_namespace")["DATA"] = request.getfixturevalue("folder")
