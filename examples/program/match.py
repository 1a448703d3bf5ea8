#!/usr/bin/env python3
"""A model with events in plain Python: matches of two teams, with every goal.

manyworlds run --program 'python3 examples/program/match.py' --worlds 1000
manyworlds events match --entity match-1 --world 3

Answers with two Arrow streams if pyarrow is installed, and with lines of JSON otherwise or with the word `lines`.
"""

import json
import random
import sys

try:
    import pyarrow as pa
except ImportError:
    pa = None

DESCRIPTION = {
    "name": "match",
    "version": "1",
    "summary": "Goals of two teams.",
    "kinds": {"match": {"home_goals": "number", "away_goals": "number"}},
    "entities": ["match-1", "match-2"],
    "events": {
        "minute": {"kind": "number", "unit": "minutes"},
        "side": {"kind": "code", "labels": ["home", "away"]},
        "penalty": "flag",
        # Nobody assists a penalty.
        "assist": {"kind": "code", "labels": ["left", "right", "centre"], "nullable": True},
        "metres": {"kind": "real", "unit": "metres"},
    },
    "parameters": {"goals": {"default": 2.7, "min": 0, "max": 9, "doc": "goals per match"}},
}


def played(request):
    """The record and the goals of each world and entity. They depend on the world's seed and the parameters alone."""
    chance = request["parameters"]["goals"] / 90
    for place, seed in enumerate(request["seeds"]):
        dice = random.Random(seed)
        for entity in request["entities"]:
            where = {"world": request["first"] + place, "entity": entity}
            goals = [goal(minute, dice) for minute in range(90) if dice.random() < chance]
            home = sum(goal["side"] == "home" for goal in goals)
            yield {**where, "home_goals": home, "away_goals": len(goals) - home}, [(where, goal) for goal in goals]


def goal(minute, dice):
    penalty = dice.random() < 0.1
    return {
        "minute": minute,
        "side": "home" if dice.random() < 0.55 else "away",
        "penalty": penalty,
        "assist": None if penalty else dice.choice(["left", "right", "centre"]),
        "metres": 11.0 if penalty else 5 + 25 * dice.random(),
    }


def answer_lines(request):
    for record, goals in played(request):
        print(json.dumps(record))
        for where, goal in goals if request["events"] else ():
            print(json.dumps({**where, "event": goal}))
    print()  # an empty line ends the answer


def answer_arrow(request):
    records, goals = zip(*played(request))
    write(pa.Table.from_pylist(list(records)))
    if request["events"]:
        # A second stream follows the first, even if nothing happened.
        text, integer = pa.string(), pa.int32()
        kinds = {"minute": integer, "side": text, "penalty": pa.bool_(), "assist": text, "metres": pa.float64()}
        rows = [{**where, **goal} for of_match in goals for where, goal in of_match]
        write(pa.Table.from_pylist(rows, schema=pa.schema({"world": integer, "entity": text, **kinds})))


def write(table):
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:  # its end is the end of the table
        stream.write_table(table)


answer = answer_lines if pa is None or "lines" in sys.argv else answer_arrow
print(json.dumps(DESCRIPTION), flush=True)
for line in sys.stdin:
    answer(json.loads(line))
    sys.stdout.flush()
