"""The examples of the documents run."""

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

#: Packages that only some examples need.
OPTIONAL = ("jax", "numba", "simpy")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("document", ["README.md", "docs/python.md", "python/README.md"])
def test_examples_run(document, folder, tmp_path, monkeypatch, capsys):
    shutil.copytree(folder, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        needs = [name for name in OPTIONAL if f"import {name}\n" in block]
        if any(importlib.util.find_spec(name) is None for name in needs):
            continue
        exec(compile(block, document, "exec"), {"__name__": "example"})
    assert capsys.readouterr().out
