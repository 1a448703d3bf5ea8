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

from . import _native

# Type checkers know this name. Importing `typing` for it takes milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import math as math
    from ._answers import BetRisk as BetRisk, Bin as Bin, Book as Book, Check as Check, Comparison as Comparison
    from ._answers import Comparisons as Comparisons, Condition as Condition, Correlation as Correlation
    from ._answers import Distribution as Distribution, Interval as Interval, Probability as Probability, Share as Share
    from ._answers import TailRisk as TailRisk, Verification as Verification, WorstWorld as WorstWorld
    from ._catalogue import Catalogue as Catalogue, Outcome as Outcome, Param as Param
    from ._catalogue import code as code, flag as flag, number as number, optional as optional, real as real
    from ._check import Promise as Promise, check as check
    from ._data import Data as Data, Ensembles as Ensembles, connect as connect, open as open
    from ._draws import Stream as Stream, World as World, Worlds as Worlds
    from ._ensemble import Ensemble as Ensemble, Entity as Entity
    from ._model import Emit as Emit, Model as Model, per_world as per_world
    from ._run import run as run
    from ._table import Table as Table
    from ._write import write as write
    from .errors import AccessError as AccessError, DamagedError as DamagedError, Error as Error
    from .errors import ExistsError as ExistsError, ForkedError as ForkedError, InvalidError as InvalidError
    from .errors import LimitError as LimitError, ModelError as ModelError, RefusedRowsError as RefusedRowsError
    from .errors import StorageError as StorageError, TooFewWorldsError as TooFewWorldsError
    from .errors import UnknownNameError as UnknownNameError

#: The public names by module. A module is loaded when one of its names is first used: all of them take several times as
#: long as Python's own start, and the command and the server's processes need few.
_PUBLIC = {
    "_answers": (
        "BetRisk Bin Book Check Comparison Comparisons Condition Correlation Distribution Interval Probability Share"
        " TailRisk Verification WorstWorld"
    ),
    "_catalogue": "Catalogue Outcome Param code flag number optional real",
    "_check": "Promise check",
    "_data": "Data Ensembles connect open",
    "_draws": "Stream World Worlds",
    "_ensemble": "Ensemble Entity",
    "_model": "Emit Model per_world",
    "_run": "run",
    "_table": "Table",
    "_write": "write",
    "errors": (
        "AccessError DamagedError Error ExistsError ForkedError InvalidError LimitError ModelError RefusedRowsError"
        " StorageError TooFewWorldsError UnknownNameError"
    ),
}
_PLACES = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted([*_PLACES, "math"])


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "__version__":
        # Takes longer than all else.
        from importlib.metadata import version

        return version(__name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "math":
        return import_module(".math", __name__)
    found = globals()[name] = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _model(name: str) -> object:
    from ._models import loaded

    return loaded(name)


# Questions about a model's ensembles may need the model. A notebook may define it again.
_native.find_models(_model, each_time=True)
