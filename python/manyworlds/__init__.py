"""Simulate what could happen. Take in what did. Ask both.

Example:
    >>> import manyworlds as mw
    >>> data = mw.open(DATA)                         # a folder, or s3://BUCKET/PREFIX
    >>> season = data.ensembles["season"]            # worlds that were played with `manyworlds run`
    >>> game = season["game-017"]
    >>> game.worlds("home_margin").shape                  # one value for each world
    (200,)
    >>> game.probability("home_margin > 0", "total_points > 40").worlds
    200
    >>> data.sql("SELECT count(*) AS n FROM ensembles").to_dicts()
    [{'n': 1}]
"""

from ._answers import Bin, Check, Comparison, Comparisons, Condition, Correlation, Distribution, Interval, Probability, Verification
from ._data import Data, Ensembles, connect, open
from ._ensemble import Ensemble, Entity
from ._model import Catalogue, Model, Outcome, Param, Promise, Stream, World, Worlds, check, code, flag, number, per_world, real, run
from ._table import Table
from ._write import write
from .errors import (
    AccessError,
    DamagedError,
    Error,
    ExistsError,
    ForkedError,
    InvalidError,
    LimitError,
    ModelError,
    RefusedRowsError,
    StorageError,
    TooFewWorldsError,
    UnknownNameError,
)

__all__ = [
    "AccessError",
    "Bin",
    "Catalogue",
    "Check",
    "Comparison",
    "Comparisons",
    "Condition",
    "Correlation",
    "DamagedError",
    "Data",
    "Distribution",
    "Ensemble",
    "Ensembles",
    "Entity",
    "Error",
    "ExistsError",
    "ForkedError",
    "Interval",
    "InvalidError",
    "LimitError",
    "Model",
    "ModelError",
    "Outcome",
    "Param",
    "Probability",
    "Promise",
    "RefusedRowsError",
    "StorageError",
    "Stream",
    "Table",
    "TooFewWorldsError",
    "UnknownNameError",
    "Verification",
    "World",
    "Worlds",
    "check",
    "code",
    "connect",
    "flag",
    "number",
    "open",
    "per_world",
    "real",
    "run",
    "write",
]
