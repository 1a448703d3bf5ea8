"""Tables and pictures that notebooks show."""

from __future__ import annotations

import base64
import math
from html import escape
from typing import Iterable, Sequence

#: Characters of a caption below a picture, whose text does not wrap.
_CAPTION_MAX = 58


def number(value: float) -> str:
    """A number with at most 4 significant digits."""
    if not math.isfinite(value) or value == 0:
        return f"{abs(value) if value == 0 else value:g}"
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1e4 <= abs(rounded) < 1e9 else f"{rounded:.4g}"


def interval(low: float, high: float) -> str:
    """The ends of a 95% confidence interval."""
    return f"95%: {number(low)} to {number(high)}"


def percent(share: float) -> str:
    """A share of worlds."""
    return f"{share:.2%}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """A table of texts, with a note below it."""
    cells = lambda tag, texts: "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)  # noqa: E731
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{cells('th', heads)}</tr></thead><tbody>{body}</tbody></table>{below}"


def figure(image: str, caption: str) -> str:
    """A picture, and the text below it."""
    return f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"


def histogram(bins: Sequence[tuple[float, float, int]], caption: str) -> str:
    """Bars for bins (low, high, worlds), with the ends of their axis and its caption; empty if an end is not finite.

    An image with its data in the address: viewers of untrusted notebooks drop SVG elements and keep images, whose scripts
    no browser runs.
    """
    if not bins or not all(math.isfinite(end) for low, high, _ in bins for end in (low, high)):
        return ""
    head, width, tall, foot = 16, 360, 120, 32
    most = max(worlds for _, _, worlds in bins) or 1
    step = width / len(bins)
    bars = []
    for place, (_, _, worlds) in enumerate(bins):
        height = tall * worlds / most
        bars.append(
            f'<rect x="{place * step:.1f}" y="{head + tall - height:.1f}" width="{step * 0.9:.1f}" height="{height:.1f}"'
            ' fill="#4c78a8"/>'
        )
    text = lambda x, y, anchor, words: (  # noqa: E731
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#777777">{escape(words)}</text>'
    )
    share = most / (sum(worlds for _, _, worlds in bins) or 1)
    short = caption if len(caption) <= _CAPTION_MAX else caption[: _CAPTION_MAX - 1] + "…"
    words = [
        text(0, head - 5, "start", f"highest bar: {percent(share)} of the worlds"),
        text(0, head + tall + 13, "start", number(bins[0][0])),
        text(width, head + tall + 13, "end", number(bins[-1][1])),
        text(width / 2, head + tall + 27, "middle", short),
    ]
    size = f'width="{width}" height="{head + tall + foot}"'
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
        f"{''.join(bars)}{''.join(words)}</svg>"
    )
    data = base64.b64encode(svg.encode()).decode()
    return f'<img {size} alt="histogram of {escape(caption)}" src="data:image/svg+xml;base64,{data}">'
