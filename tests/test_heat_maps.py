"""Heat maps of models and of judges, rendered to files: the paper's numbers, and input that leaves cells open."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.patches import Rectangle

from creativemath_utils import figures, published
from creativemath_utils.agreement import judge_agreement, similarity_ratio
from creativemath_utils.heat_maps import agreement_heat_map, similarity_heat_map
from creativemath_utils.records import KitError, PairVote, Vote

pytestmark = pytest.mark.filterwarnings("error")  # a missing glyph, a changed default, a division by zero

PUBLISHED = similarity_ratio(published.load("figure6_similarity"))
HOSTILE = ["$\\textbf{(A)}\\ \\frac12$ costs $$5", "lab_model$v2", "模型 100%", "a^b\\n_{c}"]
LONG = "A model whose label goes on for sixty characters, as some do."


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr(figures, "PNG_DPI", 60)


def table(names, pairs, other=0.5):
    """A symmetric table with `other` for the pairs not given, 1 on the diagonal."""
    values = pd.DataFrame(other, index=list(names), columns=list(names), dtype=object)
    for first, second in pairs:
        values.loc[first, second] = values.loc[second, first] = pairs[first, second]
    for name in names:
        values.loc[name, name] = 1.0
    return values


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


def hatched(axes):
    return [patch.get_xy() for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_hatch()]


def inside(figure):
    """Whether all that is drawn lies inside the figure, to a hundredth of an inch."""
    figure.draw_without_rendering()
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    return min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) > -0.01


def test_similarity_of_the_published_models(tmp_path):
    axes = similarity_heat_map(PUBLISHED, samples=17)
    assert rendered(axes, tmp_path).std() > 0.05
    shown = texts(axes)
    assert [shown.count(name) for name in PUBLISHED.index] == [1] * 8  # each name once
    assert len([text for text in shown if text.endswith("%")]) == 28  # and each pair
    assert shown.count("47%") == 4  # 8 of 17, the most similar
    assert shown.count("6%") == 1  # 1 of 17
    assert "Solutions that the judges call alike, of 17 common samples" in shown
    assert inside(axes.figure)


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_a_pair_that_was_not_compared_is_hatched_and_no_zero(nothing, tmp_path):
    axes = similarity_heat_map(table("abc", {("a", "b"): nothing, ("a", "c"): 0.0}))
    rendered(axes, tmp_path)
    assert hatched(axes) == [(0, 1)]  # column a, row b
    assert [text for text in texts(axes) if text in ("0%", "50%", "n/a")] == ["0%", "50%", "n/a"]
    assert "hatched: pairs without a verdict (1)" in axes.figure.get_supxlabel()


@pytest.mark.parametrize(
    ("similarity", "samples", "shown"),
    [
        (pd.DataFrame(), None, "nothing to compare: fewer than two models"),
        (table("a", {}), 5, "nothing to compare: fewer than two models"),
        (table("abc", {}), 0, "nothing to compare: no sample for which every model's solution is novel"),
        (table("ab", {}, other=0.125), 8, "13%"),  # two models are enough, and 12.5 is rounded half up
        (table("abc", {}, other=None), 8, "n/a"),  # nothing decided, though there was something to decide
        (table("abc", {}, other=0.0), 8, "0%"),
        (table("abc", {}, other=1.0), 8, "100%"),
    ],
)
def test_tables_at_the_edge_are_drawn_or_say_why_not(similarity, samples, shown, tmp_path):
    axes = similarity_heat_map(similarity, samples=samples)
    rendered(axes, tmp_path)
    assert shown in [" ".join(text.split()) for text in texts(axes)]
    assert inside(axes.figure)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (published.load("figure6_similarity"), "from 0 to 1"),  # counts, not ratios
        (table("ab", {}, other=-0.5), "from 0 to 1"),
        (table("abc", {}).iloc[:2], "symmetric"),
        (table("abc", {}).assign(a=[1, 0.1, 0.2]), "symmetric"),
    ],
)
def test_what_is_no_table_of_similarities_is_refused(similarity, message):
    with pytest.raises(KitError, match=message):
        similarity_heat_map(similarity)


def test_names_of_models_are_labels_shown_as_they_are(tmp_path):
    axes = similarity_heat_map(table("abcde", {}), dict(zip("abcde", [*HOSTILE, LONG], strict=True)))
    rendered(axes, tmp_path)
    joined = " ".join(" ".join(texts(axes)).split())
    assert all(figures.plain(label) in joined for label in [*HOSTILE, LONG])
    assert inside(axes.figure)


def test_ten_models_with_long_names_fit():
    names = "abcdefghij"
    axes = similarity_heat_map(table(names, {}), {name: f"{LONG} {name}" for name in names}, samples=3)
    assert inside(axes.figure)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


def votes(stage, judge, verdicts):
    return [Vote(f"p{i}", 1, "m", stage, judge, verdict, None) for i, verdict in enumerate(verdicts)]


PANEL = [
    *votes("correctness", "a", ["YES", "YES", "NO", "UNPARSED"]),
    *votes("correctness", "b", ["YES", "NO", "NO", "NO"]),
    *votes("correctness", "c", ["UNPARSED"] * 4),  # never a verdict
    *votes("coarse", "a", ["YES"]),
    *votes("coarse", "b", ["YES"]),
    *(PairVote("p0", 1, "m", "other", judge, "NO", None) for judge in "ab"),
]


def test_agreement_of_judges_with_its_counts(tmp_path):
    figure = agreement_heat_map(judge_agreement(PANEL), {"b": "Bee", "a": "Ay"})
    assert rendered(figure, tmp_path).std() > 0.05
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Correctness",
        "Novelty beside the k solutions shown",
        "Pairs of models",
    ]
    correctness, coarse, _ = figure.axes
    assert "67%\n2/3" in [text.get_text() for text in correctness.texts]  # a gave none on p3
    assert [text.get_text() for text in correctness.texts if text.get_text() in ("Ay", "Bee", "c")] == [
        "Bee",
        "Ay",
        "c",
    ]
    assert hatched(correctness) == [(0, 2), (1, 2)]  # c beside each of the others
    assert hatched(coarse) == [(0, 2), (1, 2)]  # c was not asked
    assert "100%\n1/1" in [text.get_text() for text in coarse.texts]
    assert inside(figure)


@pytest.mark.parametrize("given", [[], votes("correctness", "a", ["YES", "NO"])])
def test_fewer_than_two_judges_give_a_message(given, tmp_path):
    figure = agreement_heat_map(judge_agreement(given))
    rendered(figure, tmp_path)
    assert texts(figure) == ["nothing to compare: no two judges voted at a stage"]


def test_many_judges_with_long_hostile_names_fit(tmp_path):
    judges = "abcdefg"
    given = [vote for judge in judges for vote in votes("fine", judge, ["YES", "NO"])]
    labels = dict(zip(judges, [*HOSTILE, LONG, f"{LONG} 6", f"{LONG} 7"], strict=True))
    figure = agreement_heat_map(judge_agreement([*given, *PANEL]), labels)
    rendered(figure, tmp_path)
    assert inside(figure)


def test_the_same_tables_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        figures.save(similarity_heat_map(PUBLISHED, samples=17), tmp_path / f"similarity_{name}")
        figures.save(agreement_heat_map(judge_agreement(PANEL)), tmp_path / f"agreement_{name}")
    for kind in ("similarity", "agreement"):
        for suffix in ("png", "pdf"):
            one, two = (tmp_path / f"{kind}_{name}.{suffix}" for name in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()
