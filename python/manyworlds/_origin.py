"""Where a model is from: its source, what its source uses, and the versions of its libraries."""

from __future__ import annotations

import dataclasses
import dis
import functools
import hashlib
import inspect
import os
import pickle
import platform
import random
import sys
import sysconfig
import tokenize
from collections.abc import Mapping, Set
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Iterable, Iterator

if TYPE_CHECKING:
    from ._model import Model

#: Libraries whose versions are kept if they are loaded.
_LIBRARIES = ("numpy", "numba", "jax", "simpy")
#: Hexadecimal digits of the hash of one name.
_DIGITS = 16


def origin(model: Model) -> dict[str, Any]:
    """Where a model is from. All parts but `uses` are texts.

    `source` is the hash of its class, `uses` has hashes of everything else that its methods use by name, and `state` that
    of its attributes if it has any.
    """
    of = type(model)
    found: dict[str, Any] = {"class": of.__qualname__, "version": model.version, "source": _digest(_source(of))}
    uses = _Uses(of)
    found["uses"] = dict(sorted(uses.found.items()))
    if vars(model):
        found["state"] = _digest(uses._content(vars(model), ()))
    found["python"] = platform.python_version()
    return {**found, **_versions(name for name in _LIBRARIES if name in sys.modules)}


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    # Loaded here, because it takes as long as all else that `import manyworlds` loads.
    from importlib import metadata

    return {name: metadata.version(name) for name in libraries}


def difference(stored: Mapping[str, Any], here: Mapping[str, Any], advice: str) -> str | None:
    """What of a model differs from the one that stored worlds belong to; `None` if nothing does that is known.

    Versions of libraries do not count.
    """
    name = here["class"]
    if stored.get("state") != here.get("state"):
        return f"model {name} was made with arguments that are not stored: make them parameters"
    if stored.get("source") != here["source"]:
        return f"the source of model {name} here differs from the source that the worlds belong to: {advice}"
    # Ensembles of earlier versions do not have it.
    if "uses" in stored:
        one, other = stored["uses"], here.get("uses", {})
        if names := [of for of in sorted({*one, *other}) if one.get(of) != other.get(of)]:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            differs = "differs" if len(names) == 1 else "differ"
            return f"{', '.join(names[:3])}{more}, which model {name} uses, {differs} from what played the worlds: {advice}"
    return None


def as_stored(stored: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    """A model's origin with the parts of a stored one: an earlier version of this package knew fewer, and other libraries
    may have been loaded by then."""
    parts = {part: of for part, of in here.items() if part not in _LIBRARIES and (part != "uses" or part in stored)}
    return {**parts, **_versions(name for name in _LIBRARIES if name in stored)}


def _digest(content: str | bytes) -> str:
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest() if content else ""


def _source(value: Any) -> str:
    """The source of a function or a class; what its functions do if Python does not find it."""
    try:
        return inspect.getsource(value)
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        # Of classes in notebooks, Python 3.11 does not find the source. A file may have changed since it was read.
        parts = [value] if isinstance(value, FunctionType) else [part for _, part in sorted(vars(value).items())]
        return "".join(_compiled(part) for part in parts if isinstance(part, FunctionType))


def _compiled(value: Any) -> str:
    """What a function or its code does, without the names of files, which change from session to session."""
    if isinstance(value, frozenset):
        return f"{{{','.join(sorted(map(_compiled, value)))}}}"
    if isinstance(value, CodeType):
        return f"{value.co_code!r}{value.co_names}{value.co_varnames}{[*map(_compiled, value.co_consts)]}"
    if isinstance(value, FunctionType):
        # The function that `per_world` wraps is in a cell.
        kept = [content for _, content in _cells(value) if isinstance(content, FunctionType)]
        return _compiled(value.__code__) + repr(value.__defaults__) + "".join(map(_compiled, kept))
    return repr(value)


def _cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The names that a function has from the functions around it, and their values."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield name, cell.cell_contents
        except ValueError:
            # Not bound yet.
            continue


def _names(code: CodeType) -> Iterator[str]:
    """The global names that code reads, with the functions inside it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _function(value: Any) -> FunctionType | None:
    """The function in Python that a callable runs, below decorators and compilers."""
    for _ in range(20):
        if isinstance(value, FunctionType) and not hasattr(value, "__wrapped__"):
            return value
        attributes = ("__wrapped__", "__func__", "py_func", "pyfunc", "fget")
        inner = (vars(type(value)).get(name) and getattr(value, name, None) for name in attributes)
        below = getattr(value, "__wrapped__", None) or next((of for of in inner if callable(of)), None)
        if below is None or isinstance(value, type):
            return None
        value = below
    return None


#: Attributes of a class that say nothing about worlds, or that are compared otherwise.
_NOT_USED = {"name", "version", "parameters"}
#: Modules of Python and of installed packages are below these folders.
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
#: Folders of packages of the user, of the system, and of the Python that a virtual environment is made of.
_PACKAGES = {"site-packages", "dist-packages"}


def is_own(module: str | None, home: str) -> bool:
    """Whether a module is the user's: outside the folders of installed packages, or of the package of the module `home`."""
    top = (module or "").split(".")[0]
    if top == home.split(".")[0] or top in ("__main__", "__mp_main__"):
        return True
    if top in sys.stdlib_module_names or top == __name__.split(".")[0] or top not in sys.modules:
        return False
    file = getattr(sys.modules[module or ""] if module in sys.modules else sys.modules[top], "__file__", None)
    if file is None:
        return False
    file = os.path.abspath(file)
    return not file.startswith(_INSTALLED) and _PACKAGES.isdisjoint(file.split(os.sep))


class _Uses:
    """Hashes of what the methods of a class use by name: functions and classes by their source, constants by their
    values, and modules by their files.

    It follows the user's own modules: those outside the folders of installed packages, and those of the package that the
    class is in. Names of other modules than the class's are written `MODULE.NAME`.
    """

    def __init__(self, of: type) -> None:
        self._home = of.__module__
        self._seen: set[int] = set()
        self.found: dict[str, str] = {}
        self._class(of)

    def _is_own(self, module: str | None) -> bool:
        return is_own(module, self._home)

    def _add(self, module: str | None, name: str, content: str | bytes) -> None:
        key = name if module in (self._home, None) else f"{module}.{name}"
        digest = _digest(content)[:_DIGITS]
        known = self.found.get(key, digest)
        self.found[key] = digest if known == digest else _digest(known + digest)[:_DIGITS]

    def _class(self, of: type) -> None:
        self._seen.add(id(of))
        for base in of.__bases__:
            if self._is_own(base.__module__) and id(base) not in self._seen:
                self._add(base.__module__, base.__qualname__, _source(base))
                self._class(base)
        for name, value in vars(of).items():
            if (function := _function(value)) is not None:
                self._follow(function)
            elif not name.startswith("_abc_") and not (name.startswith("__") and name.endswith("__")):
                if name not in _NOT_USED:
                    self._value(of.__module__, f"{of.__qualname__}.{name}", value)

    def _follow(self, function: FunctionType) -> None:
        """What a function uses."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        module = function.__module__
        for name, content in _cells(function):
            self._value(module, name, content)
        if (module or "").startswith(__name__.split(".")[0] + "."):
            # `per_world` encloses the model's own function.
            return
        defaults = (function.__defaults__, function.__kwdefaults__)
        if any(defaults):
            self._add(module, f"{function.__qualname__}()", self._content(defaults, ()))
        for name in _names(function.__code__):
            if name in function.__globals__:
                self._value(module, name, function.__globals__[name])

    def _value(self, module: str | None, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            file = getattr(value, "__file__", None)
            if self._is_own(value.__name__) and file and id(value) not in self._seen:
                self._seen.add(id(value))
                with open(file, "rb") as source:
                    self._add(None, value.__name__, source.read())
        elif not self._code(value):
            self._add(module, name, self._content(value, ()))

    def _code(self, value: Any) -> bool:
        """Adds a function or a class, and what it uses; false if the value is neither."""
        found: Any = value if isinstance(value, type) else _function(value)
        if found is None:
            return False
        if id(found) not in self._seen and self._is_own(found.__module__):
            self._add(found.__module__, found.__qualname__, _source(found))
            if isinstance(found, type):
                self._class(found)
            else:
                self._follow(found)
        return True

    def _content(self, value: Any, above: tuple[int, ...]) -> str:
        """A value as text: equal for equal values in every process."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range)):
            return f"{type(value).__name__} {value!r}"
        if id(value) in above:
            return "itself"
        content = lambda part: self._content(part, (*above, id(value)))  # noqa: E731
        if isinstance(value, Mapping):
            return f"{{{','.join(f'{content(key)}:{content(of)}' for key, of in value.items())}}}"
        if isinstance(value, (list, tuple)):
            return f"{type(value).__name__}[{','.join(map(content, value))}]"
        if isinstance(value, Set):
            return f"set[{','.join(sorted(map(content, value)))}]"
        if isinstance(value, functools.partial):
            return f"partial{content((value.func, value.args, value.keywords))}"
        if isinstance(value, MethodType):
            return f"method {value.__func__.__qualname__} {content(value.__self__)}"
        if self._code(value):
            return getattr(value, "__qualname__", type(value).__qualname__)
        return self._object(value, content)

    def _object(self, value: Any, content: Any) -> str:
        name = type(value).__qualname__
        if isinstance(value, os.PathLike):
            # Folders differ between machines.
            return name
        if isinstance(value, random.Random) or hasattr(value, "bit_generator") or hasattr(value, "random_raw"):
            # Its state changes with each draw. `check` finds it.
            return name
        if hasattr(value, "dtype") and hasattr(value, "tobytes"):
            if value.dtype.hasobject:
                return f"{name}{content(value.tolist())}"
            return f"{value.dtype.str}{value.shape}{_digest(value.tobytes())}"
        if hasattr(value, "columns") and hasattr(value, "to_numpy"):
            return f"{name}{content([(str(column), value[column].to_numpy()) for column in value.columns])}"
        self._code(type(value))
        if dataclasses.is_dataclass(value):
            return f"{name}{content([getattr(value, field.name, None) for field in dataclasses.fields(value)])}"
        if self._is_own(type(value).__module__) and hasattr(value, "__dict__"):
            return f"{name}{content(vars(value))}"
        try:
            return f"{name} {_digest(pickle.dumps(value, protocol=4))}"
        except Exception:  # pickling runs the value's own code, which may raise anything
            return name
