"""Numbers computed elsewhere become an ensemble."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._table import arrow_object
from .errors import InvalidError

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
            any Arrow object, such as a data frame: a row for each world (or world and entity), or for each value.
        data: the place of the tables.
        entity: the entity of values that name none.
        kinds: kinds of outcomes that the values do not show: `flag`, `number`, `number:100`, `code` or `real`.
        form: `wide` or `long`; by default long if an Arrow object has the columns of outcomes and values.
        world, entity_column, outcome, value: names of an Arrow object's columns; by default `world`, `entity`,
            `outcome` and `value`.
        seed: ensembles of the same seed are compared world by world.
        replace: replace a stored ensemble.
        append: add the worlds after those of a stored ensemble.
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
        "seed": seed,
        "first_world": first_world,
        "again": again,
    }
    _native.write(store, json.dumps(request), _parts(values))
    return place.ensembles[name]


def _parts(values: Any) -> list[Any]:
    """Arrow objects with the values."""
    if hasattr(values, "data_vars"):
        values = _of_dataset(values)
    elif (arrow := arrow_object(values)) is not None:
        return [arrow]
    if not isinstance(values, Mapping) or not values:
        raise InvalidError(f"the values are {type(values).__name__}: give arrays by outcome, or an Arrow object")
    import numpy as np

    if not all(isinstance(of, Mapping) for of in values.values()):
        return [_native.table([(outcome, np.asarray(array)) for outcome, array in values.items()])]
    if len({frozenset(outcomes) for outcomes in values.values()}) > 1:
        # Entities of different kinds: each column names its entity.
        named = [(f"{entity}:{name}", array) for entity, of in values.items() for name, array in of.items()]
        return [_native.table([(name, np.asarray(array)) for name, array in named])]
    parts = []
    for entity, outcomes in values.items():
        columns = [(outcome, np.asarray(array)) for outcome, array in outcomes.items()]
        worlds = len(columns[0][1]) if columns else 0
        named = [("world", np.arange(worlds)), ("entity", np.full(worlds, entity, dtype=object))]
        parts.append(_native.table([*named, *columns]))
    return parts


def _of_dataset(dataset: Any) -> dict[str, Any]:
    """Arrays by outcome, by entity if the dataset has that dimension."""
    worlds = [dim for dim in ("world", "chain", "draw") if dim in dataset.dims]
    if not worlds:
        raise InvalidError(f"the dimensions are {', '.join(map(str, dataset.dims))}: name one world, or chain and draw")
    flat = dataset.stack(_world=worlds)
    by_entity: dict[str, dict[str, Any]] = {}
    for entity in flat["entity"].values if "entity" in flat.dims else [None]:
        outcomes = by_entity.setdefault(str(entity), {})
        for variable, array in flat.data_vars.items():
            if entity is not None and "entity" in array.dims:
                array = array.sel(entity=entity)
            rest = [dim for dim in array.dims if dim != "_world"]
            if not rest:
                outcomes[str(variable)] = array.values
                continue
            for labels, part in array.stack(_place=rest).groupby("_place", squeeze=False):
                place = ",".join(str(label) for label in (labels if isinstance(labels, tuple) else (labels,)))
                outcomes[f"{variable}[{place}]"] = part.values.reshape(-1)
    return by_entity if "entity" in flat.dims else by_entity["None"]
