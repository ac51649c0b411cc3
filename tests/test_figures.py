"""Figures rendered to files, from the published numbers, from small runs and from input that is out of the ordinary."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import image

from creativemath_utils import figures, published, similarity_map
from creativemath_utils.agreement import similarity_ratio
from creativemath_utils.records import KitError

pytestmark = pytest.mark.filterwarnings("error")  # a missing glyph, a changed default, a division by zero

PUBLISHED = similarity_ratio(published.load("figure6_similarity"))
HOSTILE = ["$\\textbf{(A)}\\ \\frac12$ costs $$5", "lab_model$v2", "模型", "line\nbreak\x07"]


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr(figures, "PNG_DPI", 60)


def matrix(names, pairs, other=0.5):
    """A symmetric table with `other` for the pairs not given."""
    table = pd.DataFrame(other, index=list(names), columns=list(names), dtype=float)
    for first, second in pairs:
        table.loc[first, second] = table.loc[second, first] = pairs[first, second]
    values = table.to_numpy(copy=True)
    np.fill_diagonal(values, 1.0)
    return pd.DataFrame(values, index=table.index, columns=table.columns)


def rendered(drawn, folder):
    """The picture of a figure, as an array; that both files are there and are what they say is checked on the way."""
    png, pdf = figures.save(drawn, folder / "figure_1.x")
    assert (png.name, pdf.name) == ("figure_1.x.png", "figure_1.x.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    return image.imread(png)


def shown_text(figure):
    return {text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))}


def test_figure_1_of_the_published_data(tmp_path):
    axes = figures.category_by_competition(published.load("figure1"))
    assert rendered(axes, tmp_path).std() > 0.05
    numbers = [int(text.get_text()) for text in axes.texts]
    assert len(numbers) == 56
    assert sum(numbers) == published.load("figure1").to_numpy().sum()
    assert [label.get_text() for label in axes.get_xticklabels()][:2] == ["AMC 8", "AMC 10"]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "Others"
    assert {"Competition", "Math Category", "Number of Problems"} <= shown_text(axes.figure)


def test_figure_1_leaves_a_missing_cell_blank(tmp_path):
    counts = published.load("figure1").astype(object)
    counts.iloc[0, 0] = None
    axes = figures.category_by_competition(counts)
    rendered(axes, tmp_path)
    assert len([text for text in axes.texts if text.get_text()]) == 55  # not drawn as 0


def test_figure_2_of_the_published_data(tmp_path):
    figure = figures.solutions_per_problem(published.load("figure2_digitised"))
    assert rendered(figure, tmp_path).std() > 0.05
    assert [axes.get_title() for axes in figure.axes] == list(published.load("figure1").columns)
    assert [bar.get_height() for bar in figure.axes[0].patches] == [516, 252, 92, 38, 24, 6, 6]


@pytest.mark.parametrize(
    "draw", [figures.category_by_competition, figures.solutions_per_problem], ids=["figure 1", "figure 2"]
)
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (pd.DataFrame(), "no problems to show"),
        (pd.DataFrame(columns=["n1", "n2"]), "no problems to show"),  # columns, no rows
        (pd.DataFrame(0, index=["AMC 8"], columns=["n1"]), None),  # one empty competition
    ],
)
def test_counts_of_nothing_are_drawn_with_a_message(draw, counts, message, tmp_path):
    drawn = draw(counts)
    rendered(drawn, tmp_path)
    figure = getattr(drawn, "figure", drawn)
    assert message is None or message in shown_text(figure)


@pytest.mark.parametrize("draw", [figures.category_by_competition, figures.solutions_per_problem])
def test_names_from_data_are_shown_as_they_are(draw, tmp_path):
    drawn = draw(pd.DataFrame(1, index=HOSTILE, columns=["n1", "n2"]))
    rendered(drawn, tmp_path)
    figure = getattr(drawn, "figure", drawn)
    assert {HOSTILE[0], HOSTILE[1]} <= shown_text(figure)
    assert not any(
        t.get_parse_math() for t in figure.findobj(lambda a: hasattr(a, "get_parse_math")) if "$" in t.get_text()
    )


@pytest.mark.parametrize(
    ("more", "rotation", "rows"),
    [(["Putnam"], 0, 3), (["BMO", "HMMT February", "Putnam", "Zhautykov Olympiad"], 35, 3), (list("abcdefgh"), 0, 4)],
)
def test_other_competitions_have_room(more, rotation, rows, tmp_path):
    counts = pd.DataFrame(1, index=[*published.load("figure1").columns, *more], columns=["n1", "n2"])
    axes, bars = figures.category_by_competition(counts.T), figures.solutions_per_problem(counts)
    rendered(axes, tmp_path)
    names = axes.get_xticklabels()
    assert {name.get_rotation() for name in names} == {rotation}
    boxes = [name.get_window_extent() for name in names]
    assert rotation or not any(one.overlaps(two) for one, two in pairwise(boxes))
    assert bars.get_figheight() == pytest.approx(2.1 * rows)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\n b", "a b"), ("x\x07", "x\\u0007"), ("$x$ é", "$x$ é"), ("\U00100000", "\\u100000"), (3, "3")],
)
def test_plain_shows_what_no_font_knows_by_its_code(text, shown):
    assert figures.plain(text) == shown


def test_figure_6_of_the_published_data(tmp_path):
    axes = similarity_map.model_map(PUBLISHED, samples=17)
    assert rendered(axes, tmp_path).std() > 0.05
    shown = shown_text(axes.figure)
    assert set(PUBLISHED.index) <= shown
    assert {"Similarity = 47%", "Similarity = 6%"} <= shown  # 8 and 1 of 17
    assert axes.get_xlabel() == "Distance follows 1 - similarity; stress-1 = 0.21; 17 common samples"


def test_mixtral_is_nearest_the_middle():
    positions, stress = similarity_map.model_positions(PUBLISHED)
    assert np.hypot(positions["x"], positions["y"]).idxmin() == "Mixtral-8x22B"
    assert 0 < stress < 0.25
    distances = np.linalg.norm(positions.to_numpy()[:, None] - positions.to_numpy()[None], axis=-1)
    upper = np.triu_indices(8, 1)
    assert np.corrcoef(distances[upper], 1 - PUBLISHED.to_numpy()[upper])[0, 1] > 0.4


def test_extreme_pairs_include_all_that_tie():
    most, least = similarity_map.extreme_pairs(PUBLISHED)
    assert most == [  # 8 of 17 each; the paper's text names two of the four
        ("Claude-3-Opus", "DeepSeek-V2"),
        ("Claude-3-Opus", "Mixtral-8x22B"),
        ("Gemini-1.5-Pro", "GPT-4o"),
        ("GPT-4o", "Mixtral-8x22B"),
    ]
    assert least == [("Llama-3-70B", "Yi-1.5-34B")]


@pytest.mark.parametrize(
    ("similarity", "distances"),
    [
        (matrix("abc", {}, other=0.0), {"ab": 1, "ac": 1, "bc": 1}),  # an equilateral triangle
        (matrix("abc", {}, other=1.0), {"ab": 0, "ac": 0, "bc": 0}),  # one point
        (matrix("abc", {("a", "b"): 1.0}, other=0.0), {"ab": 0, "ac": 1, "bc": 1}),  # two on one spot
        (
            matrix("abc", {("a", "b"): 0.6, ("b", "c"): 0.6, ("a", "c"): 0.2}),
            {"ab": 0.4, "bc": 0.4, "ac": 0.8},
        ),  # a line
    ],
)
def test_positions_that_are_known(similarity, distances, tmp_path):
    positions, stress = similarity_map.model_positions(similarity)
    for (first, second), distance in distances.items():
        assert np.linalg.norm(positions.loc[first] - positions.loc[second]) == pytest.approx(distance, abs=2e-3)
    assert stress == pytest.approx(0, abs=2e-3)
    rendered(similarity_map.model_map(similarity), tmp_path)


def test_a_pair_without_a_verdict_pulls_nowhere(tmp_path):
    known = {("a", "b"): 0.4, ("a", "c"): 0.4, ("b", "c"): 0.4, ("a", "d"): 0.4, ("b", "d"): 0.4}
    similarity = matrix("abcd", {**known, ("c", "d"): np.nan})
    positions, stress = similarity_map.model_positions(similarity)
    assert stress == pytest.approx(0, abs=1e-3)  # c and d may lie on either side of a and b: nothing is strained
    for first, second in known:
        assert np.linalg.norm(positions.loc[first] - positions.loc[second]) == pytest.approx(0.6, abs=2e-3)
    axes = similarity_map.model_map(similarity.astype(object).where(similarity.notna(), None))
    rendered(axes, tmp_path)
    assert "pairs without a verdict, at no set distance: 1" in axes.get_xlabel()


def test_many_equal_pairs_are_all_drawn_without_hiding_the_map(tmp_path):
    axes = similarity_map.model_map(matrix("abcdefgh", {}))
    rendered(axes, tmp_path)
    assert len(axes.lines) == 28
    assert "all pairs equally similar: 50%" in shown_text(axes.figure)


def test_names_on_the_map_are_labels_shown_as_they_are(tmp_path):
    axes = similarity_map.model_map(matrix("abcd", {("a", "b"): 0.9}), labels=dict(zip("abcd", HOSTILE, strict=True)))
    rendered(axes, tmp_path)
    assert {HOSTILE[0], HOSTILE[1], "line break\\u0007"} <= shown_text(axes.figure)


def test_two_near_pairs_both_part():
    positions, _ = similarity_map.model_positions(matrix("abcd", {("a", "b"): 0.95, ("c", "d"): 0.95}, other=0.1))
    assert np.linalg.norm(positions.loc["a"] - positions.loc["b"]) == pytest.approx(0.05, abs=0.02)
    assert np.linalg.norm(positions.loc["c"] - positions.loc["d"]) == pytest.approx(0.05, abs=0.02)


def test_names_do_not_cover_each_other():
    axes = similarity_map.model_map(matrix("abcd", {("a", "b"): 0.95, ("c", "d"): 0.95}, other=0.1))
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(two) for i, one in enumerate(boxes) for two in boxes[:i])


@pytest.mark.parametrize(
    ("similarity", "samples", "message"),
    [
        (matrix("ab", {}), 3, "three models or more and there are 2"),
        (matrix("abc", {}), 0, "no sample for which every model's solution is novel"),
        (matrix("abc", {}, other=np.nan), None, "no common sample with a verdict for a, b, c"),
        (matrix("abc", {("a", "b"): np.nan, ("a", "c"): np.nan}), None, "with a verdict for a;"),
        (published.load("figure6_similarity"), 17, "from 0 to 1"),  # counts, not ratios
        (matrix("abc", {}).assign(a=[1, 0.1, 0.2]), None, "symmetric"),
    ],
)
def test_maps_that_cannot_be_drawn_say_why(similarity, samples, message):
    with pytest.raises(KitError, match=message):
        similarity_map.model_map(similarity, samples=samples)


def test_the_notebooks_own_settings_change_nothing(tmp_path):
    import matplotlib

    plain = rendered(figures.category_by_competition(published.load("figure1")), tmp_path)
    with matplotlib.rc_context({"font.size": 20, "text.usetex": True, "axes.facecolor": "red"}):
        themed = rendered(figures.category_by_competition(published.load("figure1")), tmp_path)
    assert np.array_equal(plain, themed)


def draw_all(folder):
    figures.save(figures.category_by_competition(published.load("figure1")), folder / "figure_1")
    figures.save(figures.solutions_per_problem(published.load("figure2_digitised")), folder / "figure_2")
    figures.save(similarity_map.model_map(PUBLISHED, labels={"GPT-4o": "模型"}), folder / "figure_6")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_second_save_writes_the_same_bytes(tmp_path):
    paths = [figures.save(similarity_map.model_map(PUBLISHED), tmp_path / name) for name in ("one", "two")]
    assert [path.read_bytes() for path in paths[0]] == [path.read_bytes() for path in paths[1]]


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.undo()  # full size, as in the other process
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    subprocess.run([sys.executable, __file__, there], check=True)
    written = draw_all(here)
    assert list(written) == [f"figure_{n}.{suffix}" for n in (1, 2, 6) for suffix in ("pdf", "png")]
    assert written == {path.name: path.read_bytes() for path in sorted(there.iterdir())}


def test_pdf_letters_stay_text_and_carry_no_date(tmp_path):
    _, pdf = figures.save(figures.category_by_competition(published.load("figure1")), tmp_path / "figure_1")
    content = pdf.read_bytes()
    assert b"/Type3" not in content
    assert b"CreationDate" not in content


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))


def test_hundreds_of_competitions_share_the_room_of_some():
    """The eight stay, with the largest of the others, and the rest in one place."""
    names = [*figures.THE_EIGHT, *(f"Cup {number}" for number in range(300))]
    by_category = pd.DataFrame([range(len(names))], index=["Algebra"], columns=names)
    axes = figures.category_by_competition(by_category)
    assert [text.get_text() for text in axes.get_xticklabels()][-2:] == ["Cup 299", "285 others"]
    figure = figures.solutions_per_problem(by_category.T.set_axis(["n1"], axis=1))
    assert len(figure.axes) == figures.MOST_COMPETITIONS
