#!/usr/bin/env python3
"""Answers with prebuilt Arrow buffers, to measure how fast answers are stored.

  manyworlds run --program 'python3 examples/program/flood.py' --worlds 20000 --range-worlds 5000

272 games with four outcomes each: 1,088 values a world. The first request of a size makes the buffers, and later ones
print them again with other worlds, so the program takes little time. Words: `worlds` orders records by world instead of
by game, `shuffled` orders them at random, `texts` names entities by text instead of from a dictionary, `floats` gives
all outcomes as doubles, and `narrow` in 16 bits.
"""

import json
import sys

import numpy as np
import pyarrow as pa

GAMES = 272
NAMES = [f"game-{game:03}" for game in range(GAMES)]
DESCRIPTION = {
    "name": "flood",
    "kinds": {"game": {"home": "number", "away": "number", "margin": "number", "home_won": "flag"}},
    "entities": NAMES,
}


def made(worlds):
    """The places of worlds and the columns of a range."""
    rng = np.random.default_rng(worlds)
    if "worlds" in sys.argv:
        world, game = (array.ravel() for array in np.meshgrid(np.arange(worlds), np.arange(GAMES), indexing="ij"))
    else:
        game, world = (array.ravel() for array in np.meshgrid(np.arange(GAMES), np.arange(worlds), indexing="ij"))
    if "shuffled" in sys.argv:
        order = rng.permutation(len(world))
        world, game = world[order], game[order]
    home, away = rng.poisson(23, len(world)), rng.poisson(21, len(world))
    columns = [home, away, home - away, home > away]
    kind = "f8" if "floats" in sys.argv else "i2" if "narrow" in sys.argv else None
    columns = [pa.array(column.astype(kind) if kind else column) for column in columns]
    entity = pa.DictionaryArray.from_arrays(game.astype("i2"), NAMES)
    return world, [entity.cast(pa.string()) if "texts" in sys.argv else entity, *columns]


ranges = {}
print(json.dumps(DESCRIPTION), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    worlds = request["worlds"]
    if worlds not in ranges:
        ranges[worlds] = made(worlds)
    world, columns = ranges[worlds]
    batch = pa.record_batch([pa.array(world + request["first"]), *columns], names=["world", "entity", *DESCRIPTION["kinds"]["game"]])
    with pa.ipc.new_stream(sys.stdout.buffer, batch.schema) as stream:
        stream.write_batch(batch)
    sys.stdout.flush()
