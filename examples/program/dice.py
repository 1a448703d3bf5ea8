#!/usr/bin/env python3
"""A model in plain Python: two tables at which Ann and Bob roll dice.

manyworlds run --program 'python3 examples/program/dice.py' --worlds 1000

Answers with an Arrow stream if pyarrow is installed, and with lines of JSON otherwise or with the word `lines`.
"""

import json
import random
import sys

try:
    import pyarrow as pa
except ImportError:
    pa = None

DESCRIPTION = {
    "name": "dice",
    "version": "1",
    "summary": "Ann and Bob roll dice.",
    "kinds": {"table": {"ann": {"kind": "number", "unit": "pips"}, "bob": {"kind": "number", "unit": "pips"}, "ann_wins": "flag"}},
    "entities": ["table-1", "table-2"],
    "parameters": {"rolls": {"default": 10, "min": 1, "max": 1000, "doc": "dice that each player rolls"}},
}


def records(request):
    """One record for each world and entity. A world's numbers depend on its seed and the parameters alone."""
    rolls = int(request["parameters"]["rolls"])
    for place, seed in enumerate(request["seeds"]):
        dice = random.Random(seed)
        for entity in request["entities"]:
            ann, bob = (sum(dice.randint(1, 6) for _ in range(rolls)) for _ in range(2))
            yield {"world": request["first"] + place, "entity": entity, "ann": ann, "bob": bob, "ann_wins": ann > bob}


def answer_lines(request):
    for record in records(request):
        print(json.dumps(record))
    print()  # an empty line ends the answer


def answer_arrow(request):
    table = pa.Table.from_pylist(list(records(request)))
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:  # its end is the end of the answer
        stream.write_table(table)


answer = answer_lines if pa is None or "lines" in sys.argv else answer_arrow
print(json.dumps(DESCRIPTION), flush=True)
for line in sys.stdin:
    answer(json.loads(line))
    sys.stdout.flush()
