"""Servers that listen on this machine, one that asks for a token and one that does not, and what they hold."""

import hashlib
import json
import os
import re
import subprocess
import urllib.request

import pytest

MANYWORLDS = os.environ["MANYWORLDS"]
# What is set around the tests is no setting of theirs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("MANYWORLDS")}


class Server:
    """A running server, and its token where it asks for one."""

    def __init__(self, folder, tokens, *more):
        self.token = None
        self.file = ["--token-file", str(folder / "tokens.toml")]
        words = [MANYWORLDS, "serve", "--data", str(folder / "data")]
        words += [word for door in ["--listen", "--pg", "--flight"] for word in (door, "127.0.0.1:0")] + [*more]
        if tokens:
            self.token = self.create("all", "--read", "--write")
            words += self.file
        self.process = subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        said = ""
        while not (found := re.search(r"listening on https?://([\d.]+):(\d+)", said)):
            line = self.process.stderr.readline()
            assert line, f"the server ended: {said}"
            said += line
        self.host, self.port = found[1], int(found[2])
        self.url = f"http://{self.host}:{self.port}"
        self.pg_port = int(re.search(r"serving PostgreSQL clients on [\d.]+:(\d+)", said)[1])
        self.flight_port = int(re.search(r"serving Arrow Flight SQL clients on [\d.]+:(\d+)", said)[1])

    def _token(self, *words):
        command = [MANYWORLDS, "token", *words, *self.file]
        return subprocess.run(command, env=ENVIRONMENT, check=True, capture_output=True, text=True).stdout.strip()

    def create(self, name, *scope):
        return self._token("create", name, *scope)

    def revoke(self, name):
        self._token("revoke", name)

    def write(self, path, body):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body, self.headers())) as reply:
            assert reply.status == 204

    def get(self, path):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=self.headers())) as reply:
            return reply.read().decode()

    def headers(self):
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    def _ask(self, path, sql):
        headers = {"content-type": "application/json", **self.headers()}
        request = urllib.request.Request(self.url + path, json.dumps({"sql": sql}).encode(), headers)
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    def rows(self, sql):
        """The rows of an answer as tuples, which must be the same from both ways to ask."""
        objects = self._ask("/api/v1/sql", sql)
        answer = self._ask("/api/v1/query", sql)
        assert answer["success"] and answer["row_count"] == len(objects)
        rows = [tuple(row) for row in answer["data"]]
        assert rows == [tuple(row.get(column) for column in answer["columns"]) for row in objects]
        return rows

    def stop(self):
        self.process.terminate()
        _, said = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, said


@pytest.fixture(scope="session", params=["open", "tokens"])
def server(request, tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("served"), request.param == "tokens")
    yield server
    server.stop()


@pytest.fixture
def database(request):
    """A database of the test's own."""
    return "d" + hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:20]
