#!/usr/bin/env python3
"""Prints the 200,000 requests that the documents query, as JSON lines: `scripts/sample.py > access.jsonl`.

Their times are spread over the two days before now. Everything else is the same each time.
"""

import json
import random
import sys
import time

ROWS = 200_000
SECONDS = 2 * 86_400
HOSTS = {"web-1": 49, "web-2": 33, "web-3": 18}
STATUSES = {200: 880, 304: 60, 404: 40, 500: 20}
TAGS = {(): 70, ("beta",): 15, ("mobile",): 10, ("beta", "mobile"): 5}


def requests(dice, start):
    def pick(weights):
        return dice.choices(list(weights), weights.values())[0]

    for row in range(ROWS):
        yield {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start + row * SECONDS // ROWS)),
            "host": pick(HOSTS),
            "status": pick(STATUSES),
            "ms": round(dice.lognormvariate(3, 0.6)),
            "tags": list(pick(TAGS)),
        }


if __name__ == "__main__":
    for request in requests(random.Random(1), time.time() - SECONDS):
        sys.stdout.write(json.dumps(request) + "\n")
