"""C against N/C, N/C by difficulty and best sets, rendered to files: small frames, odd names, ratios over nothing."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib import image

from creativemath_utils import figures, published
from creativemath_utils.paper.beside import published_intervals
from creativemath_utils.ratio_figures import best_sets, correctness_novelty, novelty_by_difficulty
from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.coverage import best_sets as find_best_sets
from creativemath_utils.uncertainty.intervals import ratio_intervals

pytestmark = pytest.mark.filterwarnings("error")  # a missing glyph, a changed default, a division by zero

HOSTILE = ["$\\textbf{(A)}\\ \\frac12$ costs $$5", "lab_model$v2", "模型 100%", "a^b\\n_{c}"]
LONG = "A model whose label goes on for sixty characters, as some do."


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr(figures, "PNG_DPI", 60)


def outcomes(**of_models):
    """Outcomes of models, each a word with a letter a sample: n novel, c correct alone, - neither, ? undecided.

    Each sample is a problem of its own, one of each competition in turn.
    """
    competitions = ["AMC_8", "AMC_10", "IMO"]
    rows = []
    for generator, word in of_models.items():
        for i, letter in enumerate(word):
            correct, novel = {"n": (True, True), "c": (True, False), "-": (False, False), "?": (None, None)}[letter]
            decisions = {"correct": correct, "novel": novel, "novel_unknown": novel}
            rows.append({"problem_id": f"p{i}", "k": 1, "generator": generator, "competition": competitions[i % 3]})
            rows[-1] |= decisions
    return pd.DataFrame(rows)


def points(name, c, n_over_c, room=0.05, ratios=("correctness_ratio", "novelty_to_correctness_ratio")):
    """The two rows of a model with 100 samples."""
    values = dict(zip(ratios, (c, n_over_c), strict=True))
    return [
        {"generator": name, "ratio": ratio, "numerator": 100 * value, "denominator": 100, "value": value}
        | {"low": max(value - room, 0), "high": min(value + room, 1)}
        for ratio, value in values.items()
    ]


def rendered(drawn, folder):
    png, pdf = figures.save(drawn, folder / "figure")
    assert pdf.read_bytes().startswith(b"%PDF")
    return image.imread(png)


def texts(drawn):
    """What a figure says, in order; nothing of it read as a formula."""
    figure = getattr(drawn, "figure", drawn)
    found = [text for text in figure.findobj(lambda a: hasattr(a, "get_parse_math")) if text.get_text()]
    assert not any(text.get_parse_math() for text in found)
    return [text.get_text() for text in found]


def said(drawn):
    """The same on one line, names that stand on several lines put together."""
    return " ".join(" ".join(texts(drawn)).split())


def inside(figure):
    """Whether all that is drawn lies inside the figure, to a hundredth of an inch."""
    figure.draw_without_rendering()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    return min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > -0.01


def crosses(axes):
    """The ends of the arms of all crosses, in percent, rounded."""
    arms = [arm for collection in axes.collections for arm in collection.get_segments()]
    return [np.round(arm).astype(int).tolist() for arm in arms]


def names_overlap(axes):
    axes.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
    return any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


def test_correctness_novelty_places_points_and_crosses(tmp_path):
    axes = correctness_novelty(pd.DataFrame(points("a", 0.4, 0.9) + points("b", 0.6, 0.5)), {"b": "Model B"})
    assert rendered(axes, tmp_path).std() > 0.03
    (line,) = axes.lines
    assert line.get_xydata().round().tolist() == [[60, 50], [40, 90]]  # in the order of the labels
    assert crosses(axes)[:2] == [[[55, 50], [65, 50]], [[60, 45], [60, 55]]]
    assert {"a", "Model B", "crosses: 95 % intervals"} <= set(texts(axes))
    assert axes.figure.legends == []  # one group needs none


def test_intervals_of_a_run_are_those_drawn():
    table = ratio_intervals(outcomes(a="nnc-----"), "generator")
    row = table.set_index("ratio").loc["correctness_ratio"]
    level = [[round(100 * row[end]), 67] for end in ("low", "high")]
    assert crosses(correctness_novelty(table))[0] == level  # 3 of 8 correct, 2 of 3 novel


@pytest.mark.parametrize(
    ("run", "drawn", "notes"),
    [
        (outcomes(a="nc-", b="-----"), 1, ["no point, since N/C is not defined: b (0 of 5 correct)"]),
        (outcomes(a="nc-", b="???"), 1, ["b (0 of 3 correct)"]),  # undecided is not correct
        (outcomes(a="---", b="-"), 0, ["no model with a correct answer", "a (0 of 3 correct), b (0 of 1 correct)"]),
    ],
)
def test_a_ratio_over_nothing_is_told_and_no_point(run, drawn, notes, tmp_path):
    axes = correctness_novelty(ratio_intervals(run, "generator"))
    rendered(axes, tmp_path)
    assert all(note in said(axes) for note in notes)
    assert sum(len(line.get_xdata()) for line in axes.lines) == drawn


def test_a_run_of_nothing_is_a_message(tmp_path):
    axes = correctness_novelty(pd.DataFrame())
    rendered(axes, tmp_path)
    assert "no model with a correct answer" in texts(axes)


def test_a_long_list_of_models_without_a_point_is_wrapped():
    runs = outcomes(a="n", **{f"m{i}": "---" for i in range(10)})
    labels = {f"m{i}": f"{LONG} {i}" for i in range(10)}
    assert inside(correctness_novelty(ratio_intervals(runs, "generator"), labels).figure)


def test_published_models_stand_beside_the_run(tmp_path):
    papers = published_intervals()
    axes = correctness_novelty(pd.DataFrame(points("a", 0.4, 0.9)), None, papers)
    rendered(axes, tmp_path)
    theirs, ours = axes.lines
    assert (theirs.get_label(), ours.get_label()) == ("published", "this run")
    assert theirs.get_marker() != ours.get_marker()  # told apart without colour
    assert len(theirs.get_xdata()) == 10
    assert [69.92, 95.74] in theirs.get_xydata().round(2).tolist()  # 423/605 and 405/423, not the misprinted 95.75
    assert len(crosses(axes)) == 22
    assert not names_overlap(axes)


def test_a_published_value_whose_counts_are_unknown_has_a_point_and_no_arm(tmp_path):
    recovered = published.recovered_counts()
    one = recovered["item"].eq("table2") & recovered["model"].eq("GPT-4o") & recovered["column"].eq("C")
    recovered.loc[one, ["numerator", "denominator"]] = pd.NA
    axes = correctness_novelty(pd.DataFrame(), None, published_intervals(recovered))
    rendered(axes, tmp_path)
    assert 60.83 in axes.lines[0].get_xdata()  # as printed
    assert len(axes.lines[0].get_xdata()) == 10
    assert len(crosses(axes)) == 19


@pytest.mark.parametrize(
    "placed",
    [
        [(0.4 + 0.004 * i, 0.97) for i in range(10)],  # a row of near ones under the upper edge
        [(0.5, 0.5)] * 4,  # all on one spot
        [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)],  # in the corners
    ],
)
@pytest.mark.parametrize("label", ["model {}", LONG + " {}"])
def test_names_overlap_neither_each_other_nor_the_edge(placed, label):
    rows = [row for i, place in enumerate(placed) for row in points(f"m{i}", *place)]
    axes = correctness_novelty(pd.DataFrame(rows), {f"m{i}": label.format(i) for i in range(len(placed))})
    assert not names_overlap(axes)
    frame = axes.get_window_extent()
    for text in axes.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_a_name_far_from_its_point_is_joined_to_it():
    rows = [row for i in range(10) for row in points(f"m{i}", 0.5 + 0.004 * i, 0.97)]
    axes = correctness_novelty(pd.DataFrame(rows), {f"m{i}": f"{LONG} {i}" for i in range(10)})
    assert any(text.arrow_patch and not text.get_text() for text in axes.texts)


def test_axes_end_at_what_is_possible():
    axes = correctness_novelty(pd.DataFrame(points("a", 0.5, 1.0)))
    axes.figure.draw_without_rendering()
    low, high = axes.get_ylim()
    assert high < 101
    assert max(tick for tick in axes.get_yticks() if low <= tick <= high) == 100


@pytest.mark.parametrize("draw", [correctness_novelty, lambda t, names: best_sets(t, names)], ids=["points", "sets"])
def test_names_are_labels_shown_as_they_are(draw, tmp_path):
    run = outcomes(a="nn--c", b="-n-n-", c="cc--n", d="n----", e="c-n-n")
    labels = dict(zip("abcde", [*HOSTILE, LONG], strict=True))
    table = ratio_intervals(run, "generator") if draw is correctness_novelty else find_best_sets(run, list("abcde"))
    axes = draw(table, labels)
    rendered(axes, tmp_path)
    assert all(figures.plain(label) in said(axes) for label in labels.values())
    assert inside(axes.figure)


def test_intervals_by_more_than_the_model_are_refused():
    with pytest.raises(KitError, match="one correctness_ratio for each generator"):
        correctness_novelty(ratio_intervals(outcomes(a="nncn--"), ("generator", "competition")))


def by_difficulty(run):
    by_model, together = (ratio_intervals(run, by) for by in (("generator", "competition"), "competition"))
    return by_model, together


def test_novelty_by_difficulty_has_a_row_for_each_competition(tmp_path):
    by_model, together = by_difficulty(outcomes(a="nccnn-", b="----n-"))
    figure = novelty_by_difficulty(by_model, {"b": "Bee"}, together)
    assert rendered(figure, tmp_path).std() > 0.03
    assert [axes.get_title() for axes in figure.axes] == ["all models together", "Bee", "a"]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert (rows[0], rows[1], rows[-1]) == ("AMC 8", "AMC 10", "IMO")  # as in Table 5, not in the order of Figure 1
    counts = [text.get_text() for text in figure.axes[2].texts]
    assert [text for text in counts if text != "n/a"] == ["2/2", "1/2", "0/0", "0/0", "0/0", "0/0", "0/0", "0/1"]
    assert counts.count("n/a") == 5  # competitions without a row
    assert [text.get_text() for text in figure.axes[1].texts].count("n/a") == 7  # and those without a correct answer
    drawn = figure.axes[2].lines[0].get_xydata()
    assert drawn[~np.isnan(drawn[:, 0])].tolist() == [[100, 0], [50, 1], [0, 7]]  # AMC 8, AMC 10, IMO
    assert inside(figure)


def test_competitions_that_the_paper_does_not_have_come_last(tmp_path):
    run = outcomes(a="nc-").replace("IMO", "A_league_of_schools_$x$_with_a_long_name")
    figure = novelty_by_difficulty(by_difficulty(run)[0])
    rendered(figure, tmp_path)
    rows = [" ".join(label.get_text().split()) for label in figure.axes[0].get_yticklabels()]
    assert (rows[0], rows[7:]) == ("AMC 8", ["IMO", "A league of schools $x$ with a long name"])
    assert inside(figure)


@pytest.mark.parametrize(
    ("run", "models"), [(outcomes(a="---"), 1), (outcomes(**{f"m{i}": "nc-" for i in range(10)}), 10), (None, 0)]
)
def test_novelty_by_difficulty_of_no_one_or_ten_models(run, models, tmp_path):
    table = pd.DataFrame() if run is None else by_difficulty(run)[0]
    figure = novelty_by_difficulty(table, {f"m{i}": HOSTILE[i % 4] + LONG for i in range(10)})
    rendered(figure, tmp_path)
    assert len(figure.axes) == max(1, models)
    assert models or texts(figure) == ["no samples to show"]
    assert inside(figure)


def sets(*rows):
    return pd.DataFrame(rows, columns=["m", "models", "covered", "samples"])


@pytest.mark.parametrize(
    ("found", "names", "told"),
    [
        (find_best_sets(outcomes(a="nn--", b="-nn-"), ["a"]), ["a"], ["2/4 = 50%"]),  # one model
        (  # each adds what the others lack
            find_best_sets(outcomes(a="nnn---", b="---nn-", c="nn----"), ["a", "b", "c"]),
            ["a", "+ b", "+ c"],
            ["3/6 = 50%", "5/6 = 83%", "5/6 = 83%"],
        ),
        (  # the best pair has not the best one: a leaves
            sets((1, ("a",), 4, 9), (2, ("b", "c"), 6, 9), (3, ("a", "b", "c"), 7, 9)),
            ["a", "+ b\n+ c\n− a", "+ a"],
            ["4/9 = 44%", "6/9 = 67%", "7/9 = 78%"],
        ),
        (  # of two pairs that tie, the one that keeps b
            sets((1, ("b",), 4, 9), (2, ("a", "c"), 6, 9), (2, ("b", "c"), 6, 9)),
            ["b", "+ c"],
            ["4/9 = 44%", "6/9 = 67%\none of 2 such sets"],
        ),
        (sets((1, ("a",), 0, 5)), ["a"], ["0/5 = 0%"]),  # nobody has anything
        (sets((1, ("a",), 0, 0)), ["a"], ["0/0 = n/a"]),  # no samples
    ],
)
def test_best_sets_say_who_joins_and_what_is_covered(found, names, told, tmp_path):
    axes = best_sets(found)
    rendered(axes, tmp_path)
    assert [label.get_text() for label in axes.get_yticklabels()] == names
    shown = [text.get_text() for text in axes.texts]
    assert [text for text in shown if text != "m" and not text.isdigit()] == told
    gained = [bar.get_width() for bar in axes.containers[1]]
    assert sum(gained) == found["covered"].max()
    assert inside(axes.figure)


def test_best_sets_that_change_by_many_models_at_once_stay_apart():
    # of two that tie the one that keeps g; then five go and six come
    rows = [(1, ("g",), 3, 9), (6, tuple("abcdef"), 6, 9), (6, tuple("abcdeg"), 6, 9), (7, tuple("ghijklm"), 9, 9)]
    sets = pd.DataFrame(rows)
    axes = best_sets(sets.set_axis(["m", "models", "covered", "samples"], axis=1))
    assert inside(axes.figure)
    names = axes.get_yticklabels()
    assert names[1].get_text().split("\n") == ["+ a", "+ b", "+ c", "+ d", "+ e"]
    boxes = [name.get_window_extent() for name in names]
    assert not any(one.overlaps(two) for one, two in pairwise(boxes))


def test_best_sets_of_nobody_is_a_message(tmp_path):
    axes = best_sets(find_best_sets(outcomes(a="n"), []))
    rendered(axes, tmp_path)
    assert texts(axes) == ["no models to choose from"]


def test_the_same_tables_give_the_same_bytes(tmp_path):
    run = outcomes(a="nnc-n-", b="-cc-n-")
    for name in ("one", "two"):
        figures.save(correctness_novelty(ratio_intervals(run, "generator")), tmp_path / f"points_{name}")
        figures.save(novelty_by_difficulty(by_difficulty(run)[0]), tmp_path / f"difficulty_{name}")
        figures.save(best_sets(find_best_sets(run, list("ab"))), tmp_path / f"sets_{name}")
    for one in sorted(tmp_path.glob("*_one.*")):
        assert one.read_bytes() == one.with_name(one.name.replace("_one", "_two")).read_bytes()
