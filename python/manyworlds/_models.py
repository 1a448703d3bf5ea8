"""Models by name, for commands."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from . import _native
from ._model import Model, Prepared, described, file_name, place_of
from ._origin import difference, origin
from .errors import InvalidError, ModelError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Packages name their models here.
GROUP = "manyworlds.models"

FILE = re.compile(r"(?P<file>[^-].*\.py):(?P<model>[A-Za-z_]\w*)")
MODULE = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<model>[A-Za-z_][\w.]*)")


#: Models that `run` has played in this process, by name: those with arguments cannot be made anew.
_played: dict[str, deque[Model]] = {}
#: The most models of one name that are kept.
_PLAYED_MAX = 16


def remember(model: Model) -> None:
    """Keeps a model for questions that play its worlds again."""
    _played.setdefault(place_of(type(model)), deque(maxlen=_PLAYED_MAX)).appendleft(model)


class Named:
    """A model that a command plays."""

    def __init__(self, model: Model | type[Model]) -> None:
        self._model = model if isinstance(model, Model) else _made(model)
        # Of the source that was loaded: its file may change later.
        self._origin = origin(self._model)

    def describe(self) -> str:
        """What the native module needs to know before the parameters are known."""
        parameters = json.loads(described(self._model))
        summary = (type(self._model).__doc__ or "").strip().split("\n")[0]
        return json.dumps({"summary": summary, "parameters": parameters, "origin": self._origin})

    def build(self, parameters: str) -> tuple[str, Callable[..., Any]]:
        """The catalogue, and the function that plays ranges."""
        values = json.loads(parameters)
        advice = "install the same source, and start this process again"
        if differs := difference(values.pop("definition", None) or self._origin, self._origin, advice):
            raise ModelError(differs)
        prepared = Prepared(self._model, values)
        return prepared.catalogue_json, prepared.play


def _made(model: type[Model]) -> Model:
    try:
        return model()
    except TypeError as error:
        name = model.__qualname__
        advice = f"resume its ensemble with run({name}(...), resume=True), which keeps the model at hand"
        raise InvalidError(f"cannot make a {name} without arguments: {error}; {advice}") from None


class AtHand:
    """The models of a name that this process has imported or played. A class may be defined again later."""

    def __init__(self, name: str, imported: type[Model] | None) -> None:
        self._name, self._imported = name, imported

    def describe(self) -> str:
        """What the native module needs to know before the parameters are known."""
        return self._find(None).describe()

    def build(self, parameters: str) -> tuple[str, Callable[..., Any]]:
        """The catalogue, and the function that plays ranges, of the model that played these worlds."""
        return self._find(json.loads(parameters).get("definition")).build(parameters)

    def _find(self, stored: Mapping[str, Any] | None) -> Named:
        imported = _loaded_class(self._name) or self._imported
        played = [model for model in _played.get(self._name, ()) if imported in (None, type(model))]
        same = (model for model in played if stored is None or not difference(stored, origin(model), ""))
        return Named(next(same, None) or imported or played[0])


def named(name: str) -> Named | None:
    """The model of an installed module, as `MODULE:CLASS`, or of an entry point.

    Names that come from stored data lead here, so files in the working folder are not loaded.
    """
    if FILE.fullmatch(name):
        return None
    if found := MODULE.fullmatch(name):
        module = importlib.import_module(found["module"])
        return Named(_model(name, getattr(module, found["model"], None)))
    point = _entry_point(name)
    return Named(_model(name, point.load())) if point else None


def _entry_point(name: str) -> EntryPoint | None:
    # Loaded here, because it takes as long as all else that `import manyworlds` loads.
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=name)), None)


def loaded(name: str) -> AtHand | None:
    """The model of a module that this process has imported already, or of its script or notebook, or that it has played.

    Names that come from stored data lead here, so nothing is imported.
    """
    imported = _loaded_class(name)
    return AtHand(name, imported) if imported or name in _played else None


def _loaded_class(name: str) -> type[Model] | None:
    if ":" not in name:
        point = _entry_point(name)
        return _loaded_class(point.value) if point and ":" in point.value else None
    module, _, path = name.rpartition(":")
    # The shell knows the models of a file by its path, and importing it gives them the module's name.
    imported = os.path.splitext(os.path.basename(module))[0] if FILE.fullmatch(name) else module
    for place in (imported, "__main__"):
        found: Any = sys.modules.get(place)
        for part in path.split("."):
            found = getattr(found, part, None)
        is_named = isinstance(found, type) and place_of(found) in (name, f"{imported}:{path}")
        if is_named and issubclass(found, Model) and found is not Model:
            return found
    return None


def add_files(words: list[str]) -> list[str]:
    """Adds the models that words of a command name as `FILE.py:CLASS`. Returns the words with such models as tables name
    them: without their folders."""
    return [_added(word) for word in words]


def _added(word: str) -> str:
    name = word.removeprefix("--model=")
    found = FILE.fullmatch(name)
    if found is None:
        return word
    model = _model(name, getattr(_load(found["file"]), found["model"], None))
    stored = file_name(found["file"], found["model"])
    _native.add_model(stored, Named(model))
    return word.removesuffix(name) + stored


def _load(file: str) -> Any:
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not os.path.isfile(file):
        raise InvalidError(f"cannot load {file}: the file does not exist, or is not Python")
    module = importlib.util.module_from_spec(spec)
    # Imports beside the file work as in a script, and its classes can be inspected.
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _model(name: str, found: Any) -> type[Model]:
    if not (isinstance(found, type) and issubclass(found, Model)):
        raise InvalidError(f"{name} is not a model: name a subclass of manyworlds.Model")
    return found
