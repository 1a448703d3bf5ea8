"""Tables behind a server, asked over HTTP."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from functools import cache
from typing import TYPE_CHECKING, Any, Iterator

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

if TYPE_CHECKING:
    import numpy as np

_ARROW = "application/vnd.apache.arrow.stream"
#: Values of one reply of `/api/v1/worlds`, and its columns.
_VALUES, _COLUMNS = 4 << 20, 1_000
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


class _Sending:
    """Reads the reply also if the server replies and closes before it has read all of a body."""

    def send(self, data: Any) -> None:
        try:
            super().send(data)  # type: ignore[misc]
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            # If there is no reply, reading it fails in turn.
            pass


class _HttpConnection(_Sending, http.client.HTTPConnection):
    pass


class _HttpsConnection(_Sending, http.client.HTTPSConnection):
    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpConnection, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_HttpsConnection, request)


@cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Http, _Https)


class Remote:
    """Tables behind a server."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        self.arguments = (url, token, timeout)
        self.place = url.rstrip("/")
        if urllib.parse.urlsplit(self.place).scheme not in ("http", "https"):
            raise InvalidError(f"{url!r} is not a server's address: write http://HOST:PORT")
        if token is not None and not token.isprintable():
            raise InvalidError("the token has a line break or another control character: strip it")
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
            try:
                with _opener().open(sent, timeout=self._timeout) as reply:
                    return reply.read(), reply.headers
            except urllib.error.HTTPError as refusal:
                code, words = refusal.code, refusal.read()
        except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
            raise StorageError(f"cannot reach {self.place}: {getattr(error, 'reason', error)}") from None
        raise _refused(code, words)

    def ask_json(self, path: str, question: dict[str, Any]) -> Any:
        body, _ = self.request(path, json.dumps(question).encode(), content_type="application/json")
        return json.loads(body)

    def ask_arrow(self, path: str, question: dict[str, Any]) -> _native.Batches:
        body = json.dumps(question).encode()
        return _native.Batches.from_ipc(self.request(path, body, content_type="application/json", accept=_ARROW)[0])

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
        return self.ask_arrow("/api/v1/sql", asked)

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
            return {"rows": reply["stored"], "refused": reply["refused"], "refused_count": reply["refused_count"]}
        return {"rows": None, "refused": [], "refused_count": 0}


class RemoteEnsemble:
    """One ensemble of a server."""

    def __init__(self, remote: Remote, summary: dict[str, Any]) -> None:
        self._remote, self._summary = remote, summary
        self._numbers: np.ndarray | None = None

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
        if other._remote.place != self._remote.place:
            places = f"{self._remote.place} and {other._remote.place}"
            raise InvalidError(f"the ensembles are behind two servers, {places}: a server compares only its own")
        return self._remote.ask_json("/api/v1/compare", question)

    def correlate(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._remote.ask_json("/api/v1/correlate", question)

    def book(self, question: dict[str, Any]) -> dict[str, Any]:
        return self._remote.ask_json("/api/v1/book", question)

    def verify(self, replay: bool) -> dict[str, Any]:
        if replay:
            raise InvalidError("a server plays no worlds again: open its data folder to verify by replay")
        return self._remote.ask_json("/api/v1/verify", {"ensemble": self._summary["ensemble"]})

    def arrays(self, entities: list[str], outcomes: list[str]) -> Iterator[np.ndarray]:
        return (values for _, values in self._columns(entities, outcomes))

    def world_numbers(self) -> np.ndarray:
        if self._numbers is None:
            [(_, self._numbers)] = self._columns([], [])
        return self._numbers

    def _columns(self, entities: list[str], outcomes: list[str]) -> Iterator[tuple[str, np.ndarray]]:
        """The outcomes of the entities in turn, or the numbers of the worlds, by several requests if they are many."""
        if not outcomes:
            yield from self._request([], []).items()
            return
        numbers = self.world_numbers()
        most = max(1, min(_COLUMNS, _VALUES // (len(numbers) + 1) - 1))
        for place in range(0, len(outcomes), most):
            some = outcomes[place : place + most]
            step = max(1, most // len(some))
            for first in range(0, max(len(entities), 1), step):
                yield from self._request(entities[first : first + step], some).items()

    def _request(self, entities: list[str], outcomes: list[str]) -> dict[str, np.ndarray]:
        """Columns of one request for each part of the worlds."""
        import numpy as np

        columns = len(outcomes) * max(len(entities), 1)
        most = max(1, _VALUES // (columns + 1))
        question = {"ensemble": self._summary["ensemble"], "version": self._summary["version"], "worlds": most}
        question |= {"entities": entities, "outcomes": outcomes}
        parts: list[Any] = []
        while not parts or len(parts[-1]) == most:
            parts.append(self._remote.ask_arrow("/api/v1/worlds", {**question, "first": sum(map(len, parts))}))
        of = lambda name: np.concatenate([np.asarray(part.array(name)) for part in parts])  # noqa: E731
        numbers = of("world").astype(np.int64)
        # Worlds that were stored since belong to no other array of this ensemble.
        kept = numbers[: self._summary["worlds"]] if self._numbers is None else self._numbers
        found = {name: of(name) for name in parts[0].names[1:]} or {"world": numbers}
        for name, values in found.items():
            values = values if len(kept) == len(numbers) else values[np.isin(numbers, kept)]
            found[name] = values.astype(np.int64) if values.dtype.kind in "iu" else values
            found[name].flags.writeable = False
        return found


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
