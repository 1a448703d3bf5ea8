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

from . import _models, _native, math
from ._answers import (
    BetRisk,
    Bin,
    Book,
    Check,
    Comparison,
    Comparisons,
    Condition,
    Correlation,
    Distribution,
    Interval,
    Probability,
    Share,
    TailRisk,
    Verification,
    WorstWorld,
)
from ._catalogue import Catalogue, Outcome, Param, code, flag, number, optional, real
from ._check import Promise, check
from ._data import Data, Ensembles, connect, open
from ._draws import Stream, World, Worlds
from ._ensemble import Ensemble, Entity
from ._model import Emit, Model, per_world
from ._run import run
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

# Questions about a model's ensembles may need the model.
_native.find_models(_models.loaded)

__all__ = [
    "AccessError",
    "BetRisk",
    "Bin",
    "Book",
    "Catalogue",
    "Check",
    "Comparison",
    "Comparisons",
    "Condition",
    "Correlation",
    "DamagedError",
    "Data",
    "Distribution",
    "Emit",
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
    "Share",
    "StorageError",
    "Stream",
    "Table",
    "TailRisk",
    "TooFewWorldsError",
    "UnknownNameError",
    "Verification",
    "World",
    "Worlds",
    "WorstWorld",
    "check",
    "code",
    "connect",
    "flag",
    "math",
    "number",
    "optional",
    "open",
    "per_world",
    "real",
    "run",
    "write",
]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Loaded here, because it takes as long as all else that `import manyworlds` loads.
    from importlib.metadata import version

    return version(__name__)
