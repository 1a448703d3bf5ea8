"""Tables behind a server, asked over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from . import _native, _sql
from .errors import (
    AccessError,
    DamagedError,
    Error,
    InvalidError,
    LimitError,
    ModelError,
    StorageError,
    TooFewWorldsError,
    UnknownNameError,
)

_ARROW = "application/vnd.apache.arrow.stream"
#: Errors by the kind that the server names.
_KINDS: dict[str | None, type[Error]] = {
    "damaged": DamagedError,
    "limit": LimitError,
    "model": ModelError,
    "too_few_worlds": TooFewWorldsError,
    "unknown_name": UnknownNameError,
}
#: Other errors by the reply's status.
_CLASSES: dict[int, type[Error]] = {
    400: InvalidError,
    401: AccessError,
    403: AccessError,
    404: UnknownNameError,
    408: LimitError,
    413: LimitError,
    429: StorageError,
    503: StorageError,
}


class Remote:
    """Tables behind a server."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        self.arguments = (url, token, timeout)
        self.place = url.rstrip("/")
        if urllib.parse.urlsplit(self.place).scheme not in ("http", "https"):
            raise InvalidError(f"{url!r} is not a server's address: write http://HOST:PORT")
        self._token, self._timeout = token, timeout

    def request(self, path: str, body: bytes | None = None, **headers: str) -> tuple[bytes, Any]:
        """The reply's body and headers; sends a body by POST.

        Raises:
            Error: of the class that the server's status means, with the server's words.
        """
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = urllib.request.Request(self.place + path, body, named)
        try:
            with urllib.request.urlopen(sent, timeout=self._timeout) as reply:
                return reply.read(), reply.headers
        except urllib.error.HTTPError as error:
            raise _refused(error.code, error.read()) from None
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise StorageError(f"cannot reach {self.place}: {getattr(error, 'reason', error)}") from None

    def ask_json(self, path: str, question: dict[str, Any]) -> Any:
        body, _ = self.request(path, json.dumps(question).encode(), content_type="application/json")
        return json.loads(body)

    def ensembles(self) -> list[dict[str, Any]]:
        return json.loads(self.request("/api/v1/ensembles")[0])

    def ensemble(self, name: str) -> RemoteEnsemble:
        found = next((summary for summary in self.ensembles() if summary["ensemble"] == name), None)
        if found is None or found["state"] == "unreadable":
            # The server says why.
            self.request("/api/v1/catalogue?" + urllib.parse.urlencode({"ensemble": name}))
            raise UnknownNameError(f"unknown ensemble {name!r} at {self.place}")
        return RemoteEnsemble(self, found)

    def tables(self) -> list[tuple[str, str]]:
        rows = self.sql(_sql.TABLES, None)
        count = len(rows)
        return list(zip(rows.values("table_schema", 0, count), rows.values("table_name", 0, count)))

    def sql(self, query: str, only: RemoteEnsemble | None) -> _native.Batches:
        asked = {"sql": query} if only is None else {"sql": query, "ensemble": only.summary()["ensemble"]}
        body = json.dumps(asked).encode()
        reply, _ = self.request("/api/v1/sql", body, content_type="application/json", accept=_ARROW)
        return _native.Batches.from_ipc(reply)

    def ask(self, table: str, request: dict[str, Any]) -> tuple[_native.Batches, list[str]]:
        body = json.dumps({"table": table, **request}).encode()
        reply, headers = self.request("/api/v1/ask", body, content_type="application/json", accept=_ARROW)
        return _native.Batches.from_ipc(reply), headers.get_all("x-manyworlds-note", [])

    def write(self, table: str, form: str, body: bytes, refuse: bool) -> dict[str, Any]:
        path = f"/api/v1/write/{form}?" + urllib.parse.urlencode({"table": table})
        try:
            self.request(path, body, x_manyworlds_on_conflict="refuse" if refuse else "overflow")
        except InvalidError as error:
            reply: dict[str, Any] = getattr(error, "body", {})
            if "refused" not in reply:
                raise
            refused = reply["refused"]
            return {"rows": reply["stored"], "refused": refused, "refused_count": len(refused)}
        return {"rows": None, "refused": [], "refused_count": 0}


class RemoteEnsemble:
    """One ensemble of a server."""

    def __init__(self, remote: Remote, summary: dict[str, Any]) -> None:
        self._remote, self._summary = remote, summary

    def summary(self) -> dict[str, Any]:
        return self._summary

    def description(self) -> dict[str, Any]:
        query = urllib.parse.urlencode({"ensemble": self._summary["ensemble"]})
        return json.loads(self._remote.request("/api/v1/catalogue?" + query)[0])

    def price(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._remote.ask_json("/api/v1/price", question)

    def outcome(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        return self._remote.ask_json("/api/v1/outcome", question)

    def compare(self, other: RemoteEnsemble, question: dict[str, Any]) -> list[dict[str, Any]]:
        return self._remote.ask_json("/api/v1/compare", question)

    def correlate(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._remote.ask_json("/api/v1/correlate", question)

    def book(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._remote.ask_json("/api/v1/book", question)

    def verify(self, replay: bool) -> dict[str, Any]:
        if replay:
            raise InvalidError("a server plays no worlds again: open its data folder to verify by replay")
        return self._remote.ask_json("/api/v1/verify", {"ensemble": self._summary["ensemble"]})

    def array(self, entity: str, outcome: str) -> Any:
        return self._column(entity, outcome)

    def world_numbers(self) -> Any:
        return self._column(self.description()["catalogue"]["entities"][0]["name"], "world")

    def _column(self, entity: str, column: str) -> Any:
        query = _sql.worlds(self._summary["ensemble"], entity, [column]) + " ORDER BY world"
        return self._remote.sql(query, None).array(column)


def _refused(status: int, reply: bytes) -> Error:
    try:
        body = json.loads(reply)
        words = body["error"]
    except (ValueError, KeyError, TypeError):
        return StorageError(f"the server replied {status}: {reply[:200].decode(errors='replace')}")
    error = _KINDS.get(body.get("kind"), _CLASSES.get(status, Error))(words)
    error.body = body  # type: ignore[attr-defined]
    if isinstance(error, TooFewWorldsError):
        for name in ("matched", "worlds", "minimum", "needed"):
            setattr(error, name, body.get(name))
    return error
