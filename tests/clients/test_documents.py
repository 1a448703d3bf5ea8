"""The documents: links lead somewhere, and the program knows every command and flag that they show."""

import functools
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
# Examples of names that the reader replaces.
PLACEHOLDERS = {"..."}
GROUPS = {"bench", "bingo", "table", "token"}


@functools.cache
def help_of(command):
    shown = subprocess.run([os.environ["MANYWORLDS"], *command, "--help"], capture_output=True, text=True)
    return shown.stdout if shown.returncode == 0 else None


@functools.cache
def anchors(document):
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(text):
    """The commands of a document as words, from blocks of code and from code in sentences."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    lines += re.findall(r"`(manyworlds [^`]*)`", prose)
    for line in lines:
        for command in re.findall(r"(?:^|\$ |\| )manyworlds ([^|]*)", line):
            command = re.sub(r"\s# .*", "", command)
            quotes = command.count("'") % 2 or command.count('"') % 2
            yield command.split() if quotes else shlex.split(command)


def unknown(words):
    """The first word of a command that the program does not know, or None."""
    if not words or words[0] in PLACEHOLDERS or words[0].startswith("-"):
        return None
    depth = 2 if words[0] in GROUPS and len(words) > 1 and words[1][0].islower() else 1
    text = help_of(tuple(words[:depth]))
    if text is None:
        return " ".join(words[:depth])
    flags = [re.match(r"--[a-z-]+", word) for word in words[depth:]]
    return next((flag[0] for flag in flags if flag and not re.search(rf"{flag[0]}\b(?!-)", text)), None)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_somewhere(document):
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_shown_commands_and_flags_exist(document):
    found = {" ".join(words): unknown(words) for words in commands(document.read_text())}
    assert {command: word for command, word in found.items() if word} == {}


def test_answers_about_the_sample_are_shown_as_they_come(tmp_path):
    sample = subprocess.run([ROOT / "scripts" / "sample.py"], capture_output=True, check=True).stdout
    manyworlds = [os.environ["MANYWORLDS"]]
    subprocess.run([*manyworlds, "append", "access", "--data", tmp_path], input=sample, check=True)
    shown = [(document, words) for document in DOCUMENTS for words in commands(document.read_text())]
    answered = 0
    for document, words in shown:
        # Times of the sample depend on the clock.
        if words[:2] != ["ask", "access"] or document.name not in ("README.md", "ask.md") or "--since" in words:
            continue
        answer = subprocess.run([*manyworlds, *words, "--data", tmp_path], capture_output=True, text=True, check=True)
        answered += answer.stdout in document.read_text()
    assert answered == 3
