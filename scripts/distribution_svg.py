#!/usr/bin/env python3
"""Draws the distribution of one outcome as SVG.

  manyworlds outcome season --entity game-017 --outcome home_margin --cdf --format json |
      scripts/distribution_svg.py "Home margin of game-017" > docs/images/distribution.svg

Reads the JSON of `manyworlds outcome` on stdin. With --cdf it draws one bar for each value, without it one for each bucket.
"""

import json
import sys
from html import escape
from math import ceil, floor

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 20, 62, 46
BAR, TAIL, INK, RULE = "#4878a8", "#a9c1da", "#333333", "#d8d8d8"


def bars(outcome):
    """(low, high, share) of each bar, ascending."""
    if "cdf" not in outcome:
        worlds = outcome["worlds"]
        return [(b["from"], b["to"], b["worlds"] / worlds) for b in outcome["histogram"]]
    found, below = [], 0.0
    for point in outcome["cdf"]:
        found.append((point["value"], point["value"], point["probability"] - below))
        below = point["probability"]
    return found


def step(span, count):
    """The smallest step of 1, 2 or 5 times a power of ten that cuts span into at most count parts."""
    size = 10.0**-9
    while True:
        for factor in (1, 2, 5):
            if size * factor * count >= span:
                return size * factor
        size *= 10


def ticks(low, high, count):
    size = step(high - low, count)
    return [place * size for place in range(ceil(low / size), floor(high / size) + 1)]


def text(x, y, words, size=13, anchor="middle", weight="normal"):
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'


def draw(outcome, title):
    shown = bars(outcome)
    # The narrowest gap between two bars: 1 between whole numbers, 0 between buckets of real numbers.
    unit = min((b[0] - a[1] for a, b in zip(shown, shown[1:])), default=1.0)
    low, high = shown[0][0] - unit / 2, shown[-1][1] + unit / 2
    top = max(share for _, _, share in shown)
    wide, tall, base = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM, HEIGHT - BOTTOM

    def across(value):
        return LEFT + (value - low) / (high - low) * wide

    quantiles = outcome["quantiles"]
    fifth, median, last = quantiles["0.05"], quantiles["0.5"], quantiles["0.95"]
    summary = f"{outcome['worlds']:,} worlds; median {median:g}; 90% of worlds from {fifth:g} to {last:g} (dark bars)"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' font-family="sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(LEFT, 24, title, 16, "start", "bold"),
        text(LEFT, 45, summary, 13, "start"),
    ]
    for share in ticks(0, top, 5):
        y = base - share / top * tall
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{RULE}"/>')
        parts.append(text(LEFT - 8, y + 4, f"{share * 100:g}%", 12, "end"))
    for first, end, share in shown:
        colour = BAR if fifth <= first and end <= last else TAIL
        left, right, height = across(first - unit / 2), across(end + unit / 2), share / top * tall
        gap = min(1.5, (right - left) / 5)
        box = f'x="{left + gap / 2:.1f}" y="{base - height:.1f}" width="{right - left - gap:.1f}" height="{height:.1f}"'
        parts.append(f'<rect {box} fill="{colour}"/>')
    for value in ticks(low, high, 12):
        parts.append(text(across(value), base + 18, f"{value:g}", 12))
    parts.append(text(LEFT + wide / 2, HEIGHT - 8, outcome["unit"]))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    outcomes = json.load(sys.stdin)
    if len(outcomes) != 1:
        sys.exit(f"error: expected one outcome on stdin, got {len(outcomes)}: name one --entity and one --outcome")
    outcome = outcomes[0]
    title = sys.argv[1] if len(sys.argv) == 2 else f"{outcome['outcome']} of {outcome['entity']}"
    sys.stdout.write(draw(outcome, title))


if __name__ == "__main__":
    main()
