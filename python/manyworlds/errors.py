"""Errors, as classes. Each message says what is wrong, where, and what to do."""


class Error(Exception):
    """Base of all errors of this package."""


class InvalidError(Error, ValueError):
    """A question, a condition, a parameter or a row is invalid."""


class UnknownNameError(Error, KeyError):
    """No ensemble, entity, outcome, table, column or world has this name; the message suggests similar ones."""

    # A KeyError shows its message in quotes.
    __str__ = Exception.__str__


class ExistsError(Error):
    """The name is taken."""


class LimitError(Error):
    """The answer needs more memory or time than allowed, or the question is too large."""


class TooFewWorldsError(Error):
    """Too few worlds meet the conditions.

    Attributes:
        matched: worlds that meet them.
        worlds: worlds of the ensemble.
        minimum: the fewest worlds that the question accepts.
        needed: worlds to play so that enough match; `None` if no world matches.
    """

    matched: int | None = None
    worlds: int | None = None
    minimum: int | None = None
    needed: int | None = None


class RefusedRowsError(InvalidError):
    """Some rows could not be stored. The others are.

    Attributes:
        stored: number of stored rows.
        refused: the refused items, each a dict with `position`, `field` and `reason`.
    """

    stored: int = 0
    refused: list = []


class DamagedError(Error):
    """Stored data cannot be read, or only by a newer version. Other ensembles and tables are not affected."""


class ModelError(Error):
    """A model is missing, or failed."""


class StorageError(Error, OSError):
    """A disk, a bucket or the network fails."""


class AccessError(Error, PermissionError):
    """The server requires a token, or the token does not permit this."""


class ForkedError(Error, RuntimeError):
    """The process was forked after the package had started threads."""
