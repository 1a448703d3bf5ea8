"""The prompt of `manyworlds sql`, typed at as people do."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

from conftest import ENVIRONMENT, MANYWORLDS

ENDLESS = "SELECT sum(a.value * b.value % 7) FROM generate_series(1, 1000000) a CROSS JOIN generate_series(1, 1000000) b;"
CONTROL_C, CONTROL_D, UP, BACK = "\x03", "\x04", "\x1b[A", "\x1b[D"
PROMPT = "manyworlds> "


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, data, state):
        ours, theirs = pty.openpty()
        environment = {**ENVIRONMENT, "TERM": "xterm", "XDG_STATE_HOME": str(state), "COLUMNS": "200"}
        words = [MANYWORLDS, "sql", "--data", str(data)]
        # A session of its own, of which the terminal is the terminal: Ctrl-C comes as a signal.
        command = ["setsid", "--ctty", *words]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self.terminal, self.seen = ours, ""

    def expect(self, pattern):
        """Waits for a text, and gives what came up to its end."""
        deadline = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen, re.DOTALL)):
            assert time.monotonic() < deadline, f"never {pattern!r}: {self.seen!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                read = os.read(self.terminal, 65536).decode()
                self.seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read)
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def type(self, text):
        os.write(self.terminal, text.encode())

    def ask(self, text):
        """Types a line and gives what was said up to the next prompt."""
        self.type(text + "\r")
        self.expect(re.escape(text[-20:]))
        return self.expect(PROMPT)

    def end(self):
        self.type(CONTROL_D)
        assert self.process.wait(timeout=60) == 0
        os.close(self.terminal)


@pytest.fixture
def data(tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("id,name\n1,ann\n2,bob\n")
    folder = tmp_path / "data"
    insert(folder, rows)
    return folder


def insert(folder, rows):
    words = [MANYWORLDS, "table", "insert", "people", str(rows), "--data", str(folder)]
    subprocess.run(words, env=ENVIRONMENT, check=True, capture_output=True)


@pytest.fixture
def terminal(data, tmp_path):
    terminal = Terminal(data, tmp_path / "state")
    terminal.expect(PROMPT)
    yield terminal
    if terminal.process.poll() is None:
        terminal.process.kill()


def test_statements_are_answered_over_several_lines(terminal, data, tmp_path):
    said = terminal.ask("SELECT id, name FROM people WHERE id = 2;")
    assert re.search(r"id\s+name\s+2\s+bob\s+\(1 row, [\d.]+ m?s\)", said), said
    terminal.type("SELECT count(*)\r")
    terminal.type("AS n FROM people;\r")
    assert re.search(r"n\s+2\s", terminal.expect(r"\(1 row, .*" + PROMPT))
    # What came in meanwhile is there.
    more = tmp_path / "more.csv"
    more.write_text("id,name\n3,cy\n")
    insert(data, more)
    assert re.search(r"n\s+3\s", terminal.ask("SELECT count(DISTINCT id) AS n FROM people;"))
    assert 'error: no column "nme"; did you mean name?' in terminal.ask("SELECT nme FROM people;")
    assert "error: invalid SQL" in terminal.ask("SELECT 'a' FROM;")
    terminal.end()


def test_control_c_cancels_the_statement_and_not_the_program(terminal):
    terminal.type(ENDLESS + "\r")
    terminal.expect(re.escape(ENDLESS[-20:]))
    time.sleep(0.5)
    terminal.type(CONTROL_C)
    terminal.expect("cancelled.*" + PROMPT)
    # What was typed is dropped.
    terminal.type("SELECT nonsense" + CONTROL_C)
    terminal.expect(PROMPT)
    assert re.search(r"one\s+1\s", terminal.ask("SELECT 1 AS one;"))
    terminal.end()


def test_commands_of_its_own(terminal):
    assert re.search(r"default\s+people", terminal.ask(r"\d"))
    assert re.search(r"id\s+Int64.*name\s+Utf8", terminal.ask(r"\d people"), re.DOTALL)
    assert "timing is off" in terminal.ask(r"\timing")
    assert "(1 row)" in terminal.ask("SELECT 1;")
    assert "unknown command" in terminal.ask(r"\nope")
    terminal.type("\\q\r")
    assert terminal.process.wait(timeout=60) == 0


def test_names_are_completed(terminal):
    terminal.type("SELECT na FROM people" + BACK * 12 + "\t\t")
    terminal.expect(r"name\s.*nanvl\(.*" + PROMPT)
    terminal.type(CONTROL_C)
    terminal.expect(PROMPT)
    terminal.type("SELECT 1 FROM peo\t;\r")
    terminal.expect(r"\(2 rows.*" + PROMPT)
    terminal.type("SELECT quantile(people.na\t, 0) FROM people;\r")
    terminal.expect("x is Utf8.*" + PROMPT)
    terminal.type("SELECT time_b\t'1 day', now());\r")
    terminal.expect(r"time_bucket\(.*\(1 row.*" + PROMPT)
    terminal.end()


def test_what_was_typed_comes_back(terminal, data, tmp_path):
    terminal.ask("SELECT 40 + 2 AS kept;")
    terminal.end()
    again = Terminal(data, tmp_path / "state")
    again.expect(PROMPT)
    again.type(UP + "\r")
    again.expect(r"kept\s+42\s.*" + PROMPT)
    again.end()
    assert (tmp_path / "state/manyworlds/history").stat().st_mode & 0o077 == 0
