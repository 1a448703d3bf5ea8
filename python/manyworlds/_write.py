"""Numbers computed elsewhere become an ensemble."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._given import MAX_32, MAX_64, whole
from ._table import arrow_object
from .errors import Error, ExistsError, InvalidError

if TYPE_CHECKING:
    from ._data import Data
    from ._ensemble import Ensemble


def write(
    name: str,
    values: Any,
    data: Data | str | os.PathLike[str] = "data",
    *,
    entity: str = "all",
    kinds: Mapping[str, str] | None = None,
    form: str | None = None,
    world: str | None = None,
    entity_column: str | None = None,
    outcome: str | None = None,
    value: str | None = None,
    seed: int = 0,
    replace: bool = False,
    append: bool = False,
    first_world: int = 0,
    again: bool = False,
) -> Ensemble:
    """Stores numbers as an ensemble, and opens it. Then everything can be asked of it that can be asked of a played one.

    Args:
        name: the ensemble's name.
        values: one of
            arrays by outcome, each with one value for each world;
            such arrays by entity, which may have different outcomes;
            an xarray Dataset: the dimensions `world`, or `chain` and `draw`, are the worlds, `entity` the entities, and
            each place in a further dimension is an outcome of its own, such as `theta[2]`;
            ArviZ's DataTree or InferenceData: the draws of the groups `posterior` and `posterior_predictive`, together;
            any Arrow object, such as a data frame: a row for each world (or world and entity), or for each value.
        data: the place of the tables.
        entity: the entity of values that name none; for a Dataset or DataTree also the dimension whose coordinates are
            the entities.
        kinds: kinds of outcomes that the values do not show: `flag`, `number`, `number:100`, `code` or `real`.
        form: `wide` or `long`; by default long if an Arrow object has the columns of outcomes and values.
        world, entity_column, outcome, value: names of an Arrow object's columns; by default `world`, `entity`,
            `outcome` and `value`.
        seed: ensembles of the same seed are compared world by world.
        replace: replace a stored ensemble.
        append: add the worlds after those of a stored ensemble. Worlds that the values number, by a column, an array or a
            coordinate `world`, must continue the stored ones.
        first_world: the number of world 0 in an Arrow object's column of worlds, such as 1.
        again: append values without numbers of worlds even if they equal the last stored ones.

    Raises:
        InvalidError: if a value is missing or repeated, or cannot be stored to the bit; names its place.
        ExistsError: if the name is taken.

    Example:
        >>> import manyworlds as mw, numpy as np
        >>> rng = np.random.default_rng(1)
        >>> queue = mw.write("queue", {"wait": rng.exponential(3, 1000), "late": rng.random(1000) < 0.1}, DATA)
        >>> queue["all"].worlds("late").dtype, queue.worlds
        (dtype('bool'), 1000)
    """
    from ._data import Data, open

    if replace and append:
        raise InvalidError("replace and append exclude each other: give one of them")
    place = data if isinstance(data, Data) else open(data)
    store = getattr(place._backend, "native", None)
    if store is None:
        raise InvalidError("a server imports no numbers: give a folder or a bucket")
    request = {
        "name": name,
        "mode": "replace" if replace else "append" if append else "new",
        "form": form,
        "world": world,
        "entity_column": entity_column,
        "outcome": outcome,
        "value": value,
        "entity": entity,
        "kinds": dict(kinds or {}),
        "seed": whole("seed", seed, 0, MAX_64),
        "first_world": whole("first_world", first_world, 0, MAX_32),
        "again": again,
    }
    try:
        _native.write(store, json.dumps(request), _parts(values, entity))
    except ExistsError as error:
        advice = "add worlds with append=True, replace it with replace=True, or choose another name"
        raise ExistsError(f"{error}; {advice}") from None
    except Error:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidError(f"the values cannot be read: {error}; give arrays by outcome, or a table with named columns") from None
    return place.ensembles[name]


def _parts(values: Any, entity: str) -> list[Any]:
    """Arrow objects with the values."""
    groups = getattr(values, "groups", None)
    if callable(groups) or isinstance(groups, tuple):
        values = _of_groups(values)
    if hasattr(values, "to_dataset") and not hasattr(values, "data_vars"):
        values = _of_array(values)
    if hasattr(values, "data_vars"):
        values = _of_dataset(values, entity)
    elif (arrow := arrow_object(values)) is not None:
        return [arrow]
    if not isinstance(values, Mapping) or not values:
        raise InvalidError(f"the values are {type(values).__name__}: give arrays by outcome, or an Arrow object")
    import numpy as np

    if not all(isinstance(of, Mapping) for of in values.values()):
        return [_table(values.items())]
    if len({frozenset(outcomes) for outcomes in values.values()}) > 1:
        # Entities of different kinds: each column names its entity, and rows are worlds.
        named = [(f"{entity}:{name}", array) for entity, of in values.items() for name, array in of.items() if name != "world"]
        if (worlds := _common_worlds(values)) is not None:
            named.insert(0, ("world", worlds))
        return [_table(named)]
    parts = []
    for name, outcomes in values.items():
        # Without numbers, the importer counts an entity's worlds, from the first that is not stored.
        worlds = max((np.size(array) for array in outcomes.values()), default=0)
        parts.append(_table([("entity", np.full(worlds, str(name), dtype=object)), *outcomes.items()]))
    return parts


def _common_worlds(values: Mapping[str, Mapping[str, Any]]) -> Any:
    """The array `world` of all entities; `None` if none has one."""
    import numpy as np

    (first, outcomes), *others = values.items()
    worlds = outcomes.get("world")
    for entity, of in others:
        own = of.get("world")
        same = own is worlds if own is None or worlds is None else np.array_equal(own, worlds)
        if not same:
            raise InvalidError(f"{first} and {entity} have different worlds: give both the same array 'world', or none")
    return worlds


def _table(columns: Iterable[tuple[Any, Any]]) -> Any:
    """Arrays as an Arrow table. NumPy would read a value that is missing as another one."""
    import numpy as np

    arrays = []
    for name, values in columns:
        if not isinstance(name, str):
            raise InvalidError(f"{name!r} cannot name an outcome: give a text")
        missing = _missing(values)
        if missing is not None and np.any(missing):
            place = int(np.argmax(missing)) + 1
            raise InvalidError(f"{name}: value {place} is missing: give a number for each world, or NaN")
        arrays.append((name, np.asarray(values)))
    return _native.table(arrays)


def _missing(values: Any) -> Any:
    """Which values are masked or NULL; `None` if the type has neither. NaN is a number, except in pandas' own types."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    find = getattr(values, "is_null", None) or getattr(values, "isna", None)
    if callable(find) and not isinstance(getattr(values, "dtype", None), np.dtype):
        return np.asarray(find())
    array = np.asarray(values)
    if array.dtype != object or array.ndim != 1:
        return None
    return np.array([value is None for value in array])


#: Groups of ArviZ that become one ensemble.
_GROUPS = ("posterior", "posterior_predictive")


def _of_groups(tree: Any) -> Any:
    """A Dataset with the draws of a DataTree, or of an InferenceData of earlier ArviZ."""
    is_tree = hasattr(tree, "children")
    if is_tree and not tree.children:
        return tree.to_dataset()
    groups = list(tree.children if is_tree else tree.groups())
    found = {name: tree[name].to_dataset() if is_tree else tree[name] for name in _GROUPS if name in groups}
    if not found:
        form = ".to_dataset()" if is_tree else ""
        raise InvalidError(
            f"the groups are {', '.join(groups) or 'missing'}, and only {' and '.join(_GROUPS)} are stored:"
            f" give one group, such as tree[{groups[0] if groups else 'posterior'!r}]{form}"
        )
    if len(found) == 1:
        return next(iter(found.values()))
    import xarray as xr

    twice = sorted(set.intersection(*(set(map(str, dataset.data_vars)) for dataset in found.values())))
    if twice:
        raise InvalidError(f"both {' and '.join(_GROUPS)} have {', '.join(twice)}: rename it in one, or give one group")
    try:
        return xr.merge(found.values(), compat="override", join="exact", combine_attrs="drop")
    except ValueError as error:
        raise InvalidError(f"{' and '.join(_GROUPS)} have different coordinates, so give one group: {error}") from None


def _of_array(array: Any) -> Any:
    """The Dataset of a DataArray. As an Arrow object it would be a long table of all its dimensions."""
    if array.name is None:
        raise InvalidError("the DataArray has no name: give its outcome one, as in array.rename('wait')")
    return array.to_dataset()


def _of_dataset(dataset: Any, entity: str) -> dict[str, Any]:
    """Arrays by outcome; by entity if the dataset has the dimension `entity`, or one of this name."""
    worlds = [dim for dim in ("world", "chain", "draw") if dim in dataset.dims]
    if not worlds:
        dims = ", ".join(map(str, dataset.dims)) or "missing"
        raise InvalidError(f"the dimensions are {dims}: name one world, or chain and draw")
    dim = entity if entity in dataset.dims else "entity"
    if dim in worlds:
        raise InvalidError(f"the dimension {dim} is that of the worlds: name another one as entity")
    if dim not in dataset.dims:
        return _of_entity(dataset, worlds)
    places = range(dataset.sizes[dim])
    names = _labels(dataset, dim) if dim in dataset.coords else [f"{dim}-{place}" for place in places]
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise InvalidError(f"the coordinate {dim} names {twice!r} twice: give each entity its own name")
    return {name: _of_entity(dataset.isel({dim: place}), worlds) for place, name in zip(places, names)}


def _of_entity(dataset: Any, worlds: list[str]) -> dict[str, Any]:
    """Arrays over the worlds by outcome: one for each place in the other dimensions of a variable."""
    import numpy as np

    # Numbers of worlds are those of the caller, which the importer checks.
    is_numbered = worlds == ["world"] and "world" in dataset.coords
    outcomes: dict[str, Any] = {"world": dataset["world"].values} if is_numbered else {}
    for variable, array in dataset.data_vars.items():
        if lacking := [dim for dim in worlds if dim not in array.dims]:
            raise InvalidError(f"{variable} lacks the dimension {lacking[0]}: leave it out with drop_vars({variable!r})")
        others = [dim for dim in array.dims if dim not in worlds]
        values = array.transpose(*others, *worlds).values
        labels = [_labels(array, dim) for dim in others]
        for dim, label in ((dim, label) for dim, of in zip(others, labels) for label in of):
            # The importer would read ENTITY:OUTCOME.
            if ":" in label:
                raise InvalidError(f"the coordinate {dim} has {label!r}: names of outcomes hold no ':', so give it other labels")
        for place in np.ndindex(*(len(of) for of in labels)):
            within = ",".join(of[at] for of, at in zip(labels, place))
            outcomes[f"{variable}[{within}]" if others else str(variable)] = values[place].reshape(-1)
    return outcomes


def _labels(array: Any, dim: str) -> list[str]:
    """The coordinates of a dimension as texts."""
    return [str(label) for label in array[dim].values.tolist()]
