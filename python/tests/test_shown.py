"""What notebooks and prompts show."""

import base64
import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import manyworlds as mw

GAME = "game-017"


class Checked(HTMLParser):
    """Elements that viewers of untrusted notebooks keep, all of them closed, and their texts."""

    KEPT = {"table", "thead", "tbody", "tr", "th", "td", "p", "figure", "figcaption", "img"}

    def __init__(self, html):
        super().__init__()
        self.open, self.images, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in self.KEPT
        if tag == "img":
            self.images.append(dict(attributes))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def shown(answer):
    return Checked(answer._repr_html_())


def picture(answer):
    """The elements of an answer's picture."""
    [image] = shown(answer).images
    form, data = image["src"].split(",")
    assert form == "data:image/svg+xml;base64" and image["alt"]
    return ElementTree.fromstring(base64.b64decode(data))


def words(element):
    return [text.text for text in element if text.tag.endswith("text")]


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    rng = np.random.default_rng(1)
    values = {"wait": rng.exponential(3, 1000), "late": rng.random(1000) < 0.1, "state": np.tile(["busy", "calm"], 500)}
    return mw.write("queue", values, tmp_path_factory.mktemp("queue"))


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Outcomes whose values are not all finite."""
    many = np.linspace(0, 1, 50)
    values = {
        "some": np.where(np.arange(50) % 10, many, np.nan),
        "none": np.full(50, np.nan),
        "infinite": np.where(np.arange(50) < 2, np.inf, many),
        "whole": np.arange(50),
    }
    return mw.write("broken", values, tmp_path_factory.mktemp("broken"))


def test_picture_is_an_image_with_its_axis(season):
    found = season.outcome(GAME, "home_margin")
    bars = [bar for bar in picture(found) if bar.tag.endswith("rect")]
    heights = np.array([float(bar.get("height")) for bar in bars])
    worlds = np.array([b.worlds for b in found.histogram])
    assert np.allclose(heights, 120 * worlds / worlds.max(), atol=0.051)
    highest = f"highest bar: {worlds.max() / worlds.sum():.2%} of the worlds"
    ends = [f"{found.histogram[0].low:g}", f"{found.histogram[-1].high:g}"]
    assert words(picture(found)) == [highest, *ends, f"home_margin of {GAME}, points, home less away"]


def test_numbers_have_at_most_four_digits(tmp_path):
    values = {"x": np.array([-1234567.891, 0.000123456, 45678.9]), "y": np.array([0.0, -0.0, 12.3456789])}
    ens = mw.write("digits", values, tmp_path)
    assert words(picture(ens.outcome("x")))[1:3] == ["-1,235,000", "45,680"]
    assert words(picture(ens.outcome("y")))[1:3] == ["0", "12.35"]
    assert not re.search(r"[1-9]\d{4}|\d\.\d{4}", " ".join(shown(ens.outcome("y")).texts))


def test_long_captions_are_cut_in_the_picture_only(season):
    found = season.outcome(GAME, " + ".join(["home_points"] * 12))
    caption = words(picture(found))[-1]
    assert len(caption) == 58 and caption.endswith("…")
    assert found.outcome in " ".join(shown(found).texts)


def test_labels_are_a_table_of_shares(queue):
    texts = shown(queue.outcome("state")).texts
    assert texts == ["state of all", "share of worlds", "busy", "50.00%", "calm", "50.00%", "1,000 worlds"]


@pytest.mark.parametrize(("outcome", "others"), [("some", 5), ("none", 50), ("infinite", 2)])
def test_values_that_are_not_finite_are_counted(broken, outcome, others):
    found = broken.outcome(outcome)
    assert isinstance(found.mean, float) and not math.isfinite(found.mean)
    assert all(isinstance(end, float) for b in found.histogram for end in (b.low, b.high))
    assert found.quantile(0.0) == (found.min if outcome != "none" else pytest.approx(math.nan, nan_ok=True))
    assert not shown(found).images
    assert f"50 worlds, {others} of them with NaN or an infinite value" in " ".join(shown(found).texts)
    assert f"{outcome} of all" in repr(found)


def test_infinities_that_an_answer_names_are_kept():
    answer = {
        "entity": "all", "outcome": "x", "unit": "", "worlds": 4, "mean": "NaN", "ci": ["NaN", "NaN"],
        "standard_deviation": "NaN", "min": "-Infinity", "max": "Infinity",
        "histogram": [{"from": "-Infinity", "to": "Infinity", "worlds": 4}],
    }  # fmt: skip
    steps = [{"value": value, "probability": p} for value, p in (("-Infinity", 0.25), (1.5, 0.75), ("Infinity", 1.0))]
    found = mw.Distribution._of(answer, lambda: steps)
    assert (found.min, found.max, found.quantile(0.5)) == (-math.inf, math.inf, 1.5) and math.isnan(found.mean)
    assert "2 of them with NaN or an infinite value" in found._repr_html_()


def test_comparisons_of_values_that_are_not_finite(broken):
    [found] = broken.compare(broken, "some")
    assert math.isnan(found.difference) and all(map(math.isnan, found.means))
    assert "nan" in shown(found).texts
    assert math.isnan(broken.correlate("whole", "some")["whole", "some"])


def test_probabilities_show_fair_odds(season):
    found = season.price("home_margin > 3", "total_points > 40", entity=GAME)
    texts = shown(found).texts
    assert texts[:3] == ["condition", "probability", "fair odds"] and "home_margin > 3" in texts
    assert texts[-1] == f"{found.fair_odds:.2f}" and texts[-2].startswith(f"{found.probability:.2%} (")
    never = season.probability("home_margin > 99", entity=GAME)
    assert never.fair_odds is None and shown(never).texts[-1].startswith("0.00%")


def test_texts_are_short(season, queue):
    found = season.probability(*["home_margin > 3"] * 50, entity=GAME)
    assert repr(found).startswith(f"<manyworlds.Probability {found.probability:.2%} (95%: ") and len(repr(found)) < 120
    assert repr(queue.outcome("wait")).startswith("<manyworlds.Distribution of wait of all: mean 3.025 (95%: ")
    assert len(repr(queue.outcome("wait"))) < 120


def test_comparisons_are_a_list_and_a_table(season):
    found = season.compare(season, f"{GAME}:home_margin", f"{GAME}:home_won")
    assert isinstance(found, list) and [c.outcome for c in found] == [f"{GAME}:home_margin", f"{GAME}:home_won"]
    texts = shown(found).texts
    assert texts.count("mean in season") == 2 and texts.count("in pairs") == 2
    assert texts[texts.index(f"{GAME}:home_margin") + 3] == "0" and f"{found[0].means[1]:.4g}" in texts
    assert "home_won" in " ".join(shown(found[1]).texts) and "home_margin" not in " ".join(shown(found[1]).texts)


def test_correlations_show_a_matrix_or_the_strongest_pairs(season):
    few = season[GAME].correlate("home_points", "away_points", "home_margin")
    texts = shown(few).texts
    assert texts[:3] == list(few.outcomes) and texts.count("1.000") == 3
    assert texts.count(f"{few['home_points', 'home_margin']:.3f}") == 2
    lines = str(few).splitlines()
    assert lines[0].split() == ["home_points", "1.000"] and len(lines) == 4 and lines[-1] == "200 worlds"
    assert lines[2].split() == ["home_margin", f"{few['home_points', 'home_margin']:.3f}", f"{few['away_points', 'home_margin']:.3f}", "1.000"]
    every = season["team-01"].correlate()
    assert str(every).splitlines()[-2] == f"{len(every.outcomes) - 12} more outcomes"
    matrix = every.matrix()
    strongest = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    strongest = np.sort(strongest[~np.isnan(strongest)])[::-1][:20]
    cells = [abs(float(text)) for text in shown(every).texts if re.fullmatch(r"-?\d\.\d{3}", text)]
    assert len(every.outcomes) > 12 and np.allclose(cells, strongest, atol=0.0006)


def test_verification_lists_its_checks(season):
    texts = shown(season.verify()).texts
    assert "every world is stored once" in texts and "yes" in texts and "outcome hash" in texts


def test_ensembles_and_entities_list_what_they_have(season, queue):
    texts = " ".join(shown(season).texts)
    assert "game-001, game-002, game-003 and 285 more" in texts and "200 worlds of football, seed 1" in texts
    texts = " ".join(shown(season[GAME]).texts)
    assert "total_points number points" in texts and f"game {GAME} (week" in texts and "840 more outcomes" in texts
    assert shown(queue["all"]).texts[3:12] == ["late", "flag", "0 or 1", "state", "code", "busy, calm", "wait", "real"] + [
        "entity all of ensemble queue"
    ]


def test_names_are_escaped(tmp_path):
    ens = mw.write("escaped", {"<i>": np.arange(3), "x & y": np.array(["<u>", "a", "a"], dtype=object)}, tmp_path, entity="<s>")
    for answer in (ens, ens["<s>"], ens.outcome("<i>"), ens.outcome("x & y"), ens.correlate(), ens.compare(ens)):
        assert "<" in "".join(shown(answer).texts)
    assert words(picture(ens.outcome("<i>")))[-1] == "<i> of <s>"


def test_a_single_entity_needs_no_name(queue):
    wait, late = queue["all"].worlds("wait"), queue["all"].worlds("late")
    assert queue.probability("wait > 8").hits == (wait > 8).sum()
    assert queue.price("wait > 2", given="late", min_worlds=1).worlds == late.sum()
    for found in (queue.outcome("wait"), queue.outcome(None, "wait"), queue.outcome("all:wait"), queue["all"].outcome("wait")):
        assert math.isclose(found.mean, wait.mean())
    assert queue.correlate("wait", "late")["wait", "late"] == queue.correlate("all", "wait", "late")["wait", "late"]
    assert queue.correlate().outcomes == queue.correlate("all").outcomes == ("late", "state", "wait")
    assert queue.compare(queue, "wait")[0].outcome == "wait"
    with pytest.raises(mw.UnknownNameError, match="did you mean wait"):
        queue.outcome("wate")


def test_names_with_entities_need_no_other(season):
    assert season.outcome("team-03:wins").mean == season["team-03"].outcome("wins").mean
    assert season.correlate("team-03:wins", "team-04:wins").outcomes == ("team-03:wins", "team-04:wins")
    with pytest.raises(mw.UnknownNameError, match="did you mean game-"):
        season.correlate("game-999", "home_won")


def test_compare_takes_what_both_have(tmp_path):
    rng = np.random.default_rng(3)
    values = lambda names: {name: {"x": rng.random(20), "y": rng.random(20)} for name in names}  # noqa: E731
    first = mw.write("first", values("AB"), tmp_path)
    second = mw.write("second", values("BC"), tmp_path)
    assert [c.outcome for c in first.compare(second)] == ["B:x", "B:y"]
    other = mw.write("other", {"z": rng.random(20)}, tmp_path)
    with pytest.raises(mw.UnknownNameError, match="'first' and 'other' have no outcome"):
        first.compare(other)


def test_expressions_over_worlds_are_arrays(season, queue):
    game, other = season[GAME], season["game-018"]
    home, away = game.worlds("home_points"), game.worlds("away_points")
    assert game.worlds("home_points + away_points").tolist() == (home + away).tolist()
    assert game.worlds("0.1 * home_points").tolist() == (home / 10).tolist()
    held = season.where("home_points > away_points and game-018:home_won", entity=GAME)
    assert held.dtype == bool and held.tolist() == ((home > away) & other.worlds("home_won")).tolist()
    assert held.sum() == season.probability("home_points > away_points", "game-018:home_won", entity=GAME).hits
    difference = season.array(f"{GAME}:home_points - game-018:home_points")
    assert difference.dtype == np.int64 and difference.tolist() == (home - other.worlds("home_points")).tolist()
    assert game.where("home_won").tolist() == game.worlds("home_won").tolist()
    assert queue.where("wait > 8 and state = 'busy'").sum() == queue.probability("wait > 8", "state = 'busy'").hits


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda q: q.where("wait"), mw.InvalidError, "'wait' is a number: write a condition"),
        (lambda q: q.where("wait >"), mw.InvalidError, "expected"),
        (lambda q: q.array("wait / late"), mw.InvalidError, "divides by 0"),
        (lambda q: q.array("wate + 1"), mw.InvalidError, "did you mean wait"),
        (lambda q: q.array("wait", entity="al"), mw.UnknownNameError, "did you mean all"),
    ],
)
def test_expressions_without_values(queue, ask, error, said):
    with pytest.raises(mw.Error, match=said) as raised:
        ask(queue)
    assert type(raised.value) is error
