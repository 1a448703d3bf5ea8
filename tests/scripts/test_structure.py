"""The check of the crates' structure finds what it looks for, and nothing else."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import structure


@pytest.fixture
def crate(tmp_path, monkeypatch):
    """Makes a crate of files, and gives the circles and the findings in it."""
    monkeypatch.setattr(structure, "CRATES", tmp_path / "crates")

    def make(**files):
        for name, text in files.items():
            path = tmp_path / "crates/some/src" / (name.replace("__", "/") + ".rs")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [sorted(Path(f).stem for f in circle) for circle in structure.Crate("some").circles()]

    return make


@pytest.mark.parametrize("way", ["use crate::{a::A};", "fn f() { crate::a::A::new() }", "use super::a::{self, A};"])
def test_two_files_in_a_circle_are_found(crate, way):
    assert crate(lib="mod a; mod b;", a="use crate::b::B; pub struct A;", b=way) == [["a", "b"]]


def test_a_name_passed_on_counts_where_it_is_defined(crate):
    lib = "mod a; mod b; pub use a::A;"
    assert crate(lib=lib, a="use crate::b::B;\nstruct A;", b="use crate::A;") == [["a", "b"]]


def test_a_module_and_its_submodules_may_use_each_other(crate):
    files = {"lib": "mod a;", "a__mod": "mod b; mod c; use b::B; struct A;", "a__b": "use super::A; struct B;"}
    assert crate(**files, a__c="use super::b::B;") == []
    assert crate(**files | {"a__b": "use super::c::C; struct B;"}, a__c="use super::b::B; struct C;") == [["b", "c"]]


def test_tests_comments_and_texts_make_no_circle(crate):
    others = '// use crate::a::A;\nconst T: &str = "use crate::a::A;";\n#[cfg(test)]\nmod tests { use crate::a::A; }'
    assert crate(lib="mod a; mod b;", a="use crate::b::B;", b=others) == []


def found(words):
    return [line.split(": ", 1)[1] for line in structure.findings() if words in line]


def test_flags_are_found_in_shipped_texts_only(crate):
    crate(
        lib="""/// Not in a comment: --resume
        #[error("use --resume, or `manyworlds run`")] struct E;
        const RAW: &str = r#"SELECT 1 -- no flag"#; const C: char = '"'; const OTHER: &str = "a--b";
        #[cfg(test)] mod tests { const T: &str = "--name"; }"""
    )
    assert [line.rsplit(": ", 1)[1] for line in found("command line")] == ["--resume", "`manyworlds r"]


def test_words_of_a_model_are_found_in_code_texts_and_comments(crate):
    crate(lib='struct Quarter; // a possession\nconst T: &str = "home_points";\n#[cfg(test)] mod tests { fn punt() {} }')
    assert sorted(line.rsplit(": ", 1)[1] for line in found("word of a model")) == ["Quarter", "home_points", "possession"]


def test_a_circle_is_a_finding(crate):
    crate(lib="mod a; mod b;", a="use crate::b::B;", b="use crate::a::A;")
    assert len(found("in a circle")) == 1
    crate(b="struct B;")
    assert found("in a circle") == []
