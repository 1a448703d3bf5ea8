"""Random draws: for a range of worlds as arrays, and for one world."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _native
from ._given import MAX_32, whole
from .errors import InvalidError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np


class Stream:
    """Random draws of one entity and purpose: each method returns an array with one value for each world.

    A world's draws depend on the seed, the world, the entity and the purpose alone. Draw in the same order in every
    world: the n-th call of a stream gives the n-th draw of each world. Values are the same on every machine.

    Means, shares and bounds may be numbers, or arrays with one value for each world.
    """

    def __init__(self, draws: _native.Draws) -> None:
        self._draws = draws

    def uniform(self, low: Any = 0.0, high: Any = 1.0) -> np.ndarray:
        """Uniform numbers from `low` to below `high`; `float64`."""
        values = self._draws.uniform()
        values *= high - low
        values += low
        return values

    def normal(self, mean: Any = 0.0, sd: Any = 1.0) -> np.ndarray:
        """Normal numbers; `float64`."""
        _check_not_negative("sd", sd)
        values = self._draws.normal()
        values *= sd
        values += mean
        return values

    def exponential(self, mean: Any = 1.0) -> np.ndarray:
        """Exponential numbers; `float64`."""
        _check_not_negative("mean", mean)
        values = self._draws.exponential()
        values *= mean
        return values

    def integers(self, low: int, high: int) -> np.ndarray:
        """Whole numbers from `low` to below `high`; `int64`."""
        if high <= low:
            raise InvalidError(f"integers from {low} to below {high}: give a higher end")
        values = self._draws.below(high - low)
        values += low
        return values

    def chance(self, p: Any) -> np.ndarray:
        """True with probability `p`; `bool`."""
        p = _plain(p)
        # NaN fails the comparisons, too.
        if not (0 <= p <= 1 if isinstance(p, float) else ((p >= 0) & (p <= 1)).all()):
            raise InvalidError("p has a value that is not a probability from 0 to 1")
        values: np.ndarray = self._draws.uniform() < p
        return values

    def choice(self, p: Sequence[float]) -> np.ndarray:
        """Places in a list of probabilities, which sum to 1; `int64`."""
        total, sums = 0.0, []
        for share in p:
            total += share
            sums.append(total)
        # NaN fails the comparisons, too.
        if not (sums and all(share >= 0 for share in p) and abs(total - 1.0) <= 1e-9):
            raise InvalidError(f"the probabilities of a choice sum to {total}: give numbers from 0 that sum to 1")
        return self._draws.choice(sums)

    def poisson(self, mean: Any) -> np.ndarray:
        """Poisson numbers; `int64`."""
        return self._draws.poisson(_plain(mean))

    def binomial(self, n: Any, p: Any) -> np.ndarray:
        """Hits among `n` trials with probability `p`; `int64`."""
        return self._draws.binomial(_plain(n), _plain(p))


def _check_not_negative(name: str, given: Any) -> None:
    given = _plain(given)
    # NaN fails the comparison, too.
    if not (given >= 0 if isinstance(given, float) else (given >= 0).all()):
        raise InvalidError(f"{name} has a value that is not a number from 0")


def _plain(given: Any) -> Any:
    """A number, or an array of `float64`."""
    if isinstance(given, (int, float)):
        return float(given)
    import numpy as np

    array = np.ascontiguousarray(given, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


class Worlds:
    """A range of worlds, as `Model.simulate` gets it. `len()` is the length of every array."""

    def __init__(self, seed: int, first: int, count: int, entities: dict[str, int]) -> None:
        #: The seed, for generators of other libraries.
        self.seed = seed
        self._entities = entities
        #: Entities that the model has begun.
        self._begun: set[str] = set()
        #: The first world's number.
        self.first = first
        self._count = count

    def __len__(self) -> int:
        return self._count

    @property
    def numbers(self) -> np.ndarray:
        """The worlds' numbers, `int64`."""
        import numpy as np

        return np.arange(self.first, self.first + self._count)

    def stream(self, entity: int | str = 0, purpose: int = 0) -> Stream:
        """The random draws of an entity, given by name or as any number from 0, for a purpose of the model's choice."""
        if isinstance(entity, str):
            if entity not in self._entities:
                raise UnknownNameError(f"no entity {entity!r} in the catalogue")
            self._begun.add(entity)
            entity = self._entities[entity]
        entity, purpose = whole("entity", entity, 0, MAX_32), whole("purpose", purpose, 0, MAX_32)
        return Stream(_native.Draws(self.seed, self.first, self._count, entity, purpose))


class World:
    """One world, as a method under `per_world` gets it."""

    def __init__(self, seed: int, number: int) -> None:
        self._seed = seed
        #: The world's number.
        self.number = number

    def random(self, purpose: int = 0) -> Any:
        """A `random.Random` of this world and purpose."""
        import random

        return random.Random(self._key(purpose))

    def generator(self, purpose: int = 0) -> np.random.Generator:
        """A `numpy.random.Generator` of this world and purpose. NumPy may change its values between versions."""
        import numpy as np

        return np.random.Generator(np.random.Philox(self._key(purpose)))

    def _key(self, purpose: int) -> int:
        key = f"{self._seed}/{self.number}/{purpose}".encode()
        return int.from_bytes(hashlib.sha256(key).digest()[:16], "little")
