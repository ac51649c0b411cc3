"""uncertainty.md and uncertainty.csv: what stands in them, and that odd runs get words rather than faults."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest

from creativemath_utils.metrics import OUTCOME_COLUMNS
from creativemath_utils.models import Model
from creativemath_utils.table_formats import RunInfo
from creativemath_utils.uncertainty.measures import CSV_COLUMNS, measure
from creativemath_utils.uncertainty.report import write_uncertainty

pytestmark = pytest.mark.filterwarnings("error")
INFO = RunInfo("my_run", {"j": "Judge|J"}, "strict", "2026-01-31")
DECISIONS = {
    "-": (False, False, False),
    "c": (True, False, False),
    "n": (True, True, False),
    "u": (True, True, True),
    "?": (None, None, None),
}


def model(name, label=""):
    return Model(name=name, backend="api", id="x", label=label)


def outcomes(models, n=2, difficulty=lambda problem: 1 + problem % 4):
    """Models by name, a letter a sample: - wrong, c correct, n novel, u novel-unknown, ? open; n samples a problem."""
    rows = [
        (
            f"{i // n:02}",
            "AMC_8",
            difficulty(i // n),
            None,
            1 + i % n,
            n,
            name,
            "ok",
            *DECISIONS[letter],
            letter == "?",
            0,
        )
        for name, letters in models.items()
        for i, letter in enumerate(letters)
    ]
    frame = pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS), dtype=object)
    return frame.astype({"k": int, "n": int, "undecided": bool, "unparsed": int, "difficulty": float})


SOME = {"a": "uuccn-uu-ccu" * 4, "b": "c--cn---c--u" * 4}


def written(folder, table, models, **how):
    md, csv = write_uncertainty(table, models, folder, INFO, resamples=200, **how)
    return md.read_text("utf-8"), csv.read_text("utf-8")


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """The texts of a run of two models that is shared by tests."""
    return written(tmp_path_factory.mktemp("some"), outcomes(SOME), [model("b", "B_1 | new"), model("a")])


def section(text, heading):
    """The text below a heading, up to the next of its kind."""
    return re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)[1]


def table_of(text):
    """The first pipe table of a text, as lists of cells."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if "---" not in line]


def test_ratios_and_their_order(some):
    text, csv = some
    header, first, second = table_of(section(text, "Ratios"))
    assert header == ["Model", "C", "N", "N/C", "Nu", "Nu/N"]
    assert (first[0], second[0]) == (r"B\_1 \| new", "a")  # as the models are given, and as text
    assert first[1].startswith("41.67 (") and first[1].endswith("; 20/48)")
    assert second[3].startswith("60.00 (") and second[3].endswith("; 24/40)")
    assert r"judged by Judge\|J (verdict rule: strict; newest answer: 2026-01-31)" in text
    assert "96 samples of 2 models on 24 problems" in text

    rows = pd.read_csv(io.StringIO(csv))
    assert tuple(rows.columns) == CSV_COLUMNS
    of_b = rows[(rows["item"] == "ratio") & (rows["generator"] == "b")].set_index("ratio")
    assert of_b.loc["correctness_ratio", ["numerator", "denominator"]].tolist() == [20, 48]
    shown = re.search(r"\((\S+) to (\S+?);", first[1]).groups()
    assert [float(bound) for bound in shown] == pytest.approx(
        (100 * of_b.loc["correctness_ratio", ["low", "high"]].astype(float)).tolist(), abs=0.05
    )
    items = ["ratio", "ratio by k", "ratio by n_minus_k", "difference", "trend", "best set"]
    assert rows["item"].drop_duplicates().tolist() == items


def test_cells_have_wilsons_interval(some):
    """Of a's 24 samples at k = 1, 20 are correct: Wilson's interval is 0.6415 to 0.9332."""
    text, _ = some
    header, _, of_a = table_of(section(text, "C by k"))
    assert header == ["Model", "k = 1", "k = 2"]
    assert of_a[1] == "83.33 (64.1 to 93.3; 20/24)"
    assert table_of(section(text, "N/C by n - k"))[0] == ["Model", "n - k = 1", "n - k = 0"]  # as in Table 4


def test_pairs_are_told_apart_only_where_they_are(tmp_path):
    """c is always right where d never is: 24 problems; e is d's double."""
    models = {"c": "c" * 48, "d": "-" * 48, "e": "-" * 48}
    text, _ = written(tmp_path, outcomes(models), [model(name) for name in models])
    found = section(text, "Differences between models")
    assert "Told apart, of 3 pairs: C 2, N 0, N/C 0, Nu 0, Nu/N 0." in found
    _, *rows = table_of(found)
    by_pair = {(first, second): cells for first, second, *cells in rows}
    assert by_pair["c", "d"][:2] == ["48", "**+100.0 (+72.4 to +100.0†), p 0.015**"]  # 3 / 201; 1 - 2 x 3.84 / 27.84
    assert by_pair["d", "e"][:2] == ["48", "0.0 (-13.8 to +13.8†), p 1.000"]
    assert by_pair["c", "d"][3] == "n/a"  # d has no correct sample


def test_small_cells_say_that_they_show_nothing(tmp_path):
    text, _ = written(tmp_path, outcomes({"a": "cc" * 4, "b": "-c" * 4}), [model("a"), model("b")])
    _, first, second = table_of(section(text, "What small cells can and cannot show"))
    assert first == ["k = 1 or n - k = 0", "4", "70", "51.0 to 100", "none", "none"]
    assert second[0] == "k = 2 or n - k = 1"


def test_trends_are_told_in_words(tmp_path):
    """At each of 24 problems a is wrong at k = 1 and right at k = 2; difficulty has nothing to do with it."""
    text, _ = written(tmp_path, outcomes({"a": "-c" * 24}), [model("a")])
    rising = section(text, "C along k")
    assert "All models together, all samples: rises (p 0.005); same problems: rises (p 0.005)." in rising
    flat = section(text, "C along difficulty")
    assert "k = 1: neither rise nor fall can be told (p 1.000)" in flat
    assert table_of(flat)[0] == ["Model", "k = 1", "All samples"]
    assert "One model has nothing to be compared with." in text


def test_best_sets_with_ties(tmp_path):
    text, _ = written(tmp_path, outcomes({"a": "uu--", "b": "--un"}), [model("a", "A"), model("b", "B")])
    found = section(text, "The best set of m models")
    novel, unknown = found.split("Unlike all n human solutions:")
    assert table_of(novel)[1:] == [["1", "50.00 (2/4)", "A; or B"], ["2", "100.00 (4/4)", "A + B"]]
    assert table_of(unknown)[1:] == [["1", "50.00 (2/4)", "A"], ["2", "75.00 (3/4)", "A + B"]]


def test_sets_that_tie_by_the_hundred_are_counted_and_not_all_listed():
    """Of 12 models without anything new every set ties: 924 of 6 models, and 220 of 3."""
    names = [f"m{i:02}" for i in range(12)]
    rows = measure(outcomes(dict.fromkeys(names, "-")), names, resamples=1).as_table()
    sets = rows[(rows["item"] == "best set") & (rows["ratio"] == "novel")].groupby("cell")
    assert (len(sets.get_group(6)), set(sets.get_group(6)["note"])) == (252, {"924 sets tie, not all are listed"})
    assert len(sets.get_group(3)) == 220 and sets.get_group(3)["note"].isna().all()


def test_undecided_samples_are_shown_where_there_are_any(tmp_path, some):
    assert "What undecided samples could change" not in some[0]
    text, _ = written(tmp_path, outcomes({"a": "cc??", "b": "cccc"}), [model("a"), model("b")])
    assert table_of(section(text, "What undecided samples could change"))[1:] == [
        ["a", "50.0 to 100.0", "0.0 to 50.0", "0.0 to 50.0", "0.0 to 50.0", "0.0 to 100.0"]
    ]


@pytest.mark.parametrize(
    ("table", "names", "words"),
    [
        (outcomes({}), ["a"], ["n/a (no sample)", "no sample"]),
        (outcomes({}), [], ["0 samples of 0 models"]),
        (outcomes({"a": "u"}), ["a"], ["100.00 (20.7 to 100.0†; 1/1)"]),
        (outcomes({"a": "cc" * 12}), ["a", "silent"], ["n/a (no sample)"]),  # a model without answers
        (outcomes({"a": "--" * 12}), ["a"], ["0.00 (0.0 to 24.2†; 0/24)", "n/a (0/0)"]),
        (outcomes({"a": "u" * 40}, n=1), ["a"], ["all at one place"]),
        (outcomes({"a": "uc" * 12}, difficulty=lambda problem: np.nan), ["a"], ["difficulty is not known: 24."]),
        (
            outcomes({f"m{i:02}": "u" for i in range(21)}),
            [f"m{i:02}" for i in range(21)],
            ["Not computed: more than 20"],
        ),
    ],
)
def test_runs_that_have_little(tmp_path, table, names, words):
    text, csv = written(tmp_path, table, [model(name) for name in names])
    for word in words:
        assert word in text
    assert "nan" not in text.replace("not known", "").lower().split()
    assert csv.startswith(",".join(CSV_COLUMNS))


def test_the_same_bytes_from_rows_in_any_order(tmp_path, some):
    shuffled, models = outcomes(SOME).sample(frac=1, random_state=0), [model("b", "B_1 | new"), model("a")]
    assert written(tmp_path, shuffled, models) == some
    assert written(tmp_path, shuffled, models, seed=1) != some


def test_models_that_are_not_asked_for_are_left_out():
    found = measure(outcomes(SOME), ["a"], resamples=50)
    assert set(found.ratios["generator"]) == {"a"}
    assert found.differences["novelty_ratio"].empty
    assert found.teams["novel"]["models"].tolist() == [("a",)]
