"""The published numbers as they ship, and a run beside them."""

import pandas as pd
import pytest

from creativemath_utils import published
from creativemath_utils.records import CATEGORIES, COMPETITIONS, KitError


def test_figure_1_is_as_printed():
    counts = published.load("figure1")
    assert counts.sum().tolist() == [960, 1151, 1135, 1666, 862, 83, 269, 354]
    assert counts.to_numpy().sum() == 6480  # the cells printed; the paper's text counts 6,469 problems
    assert tuple(counts.index) == CATEGORIES
    assert tuple(counts.columns) == tuple(name.replace("_", " ") for name in COMPETITIONS)


def test_sample_sizes_follow_from_the_subset():
    sizes = published.sample_sizes()
    assert published.load("subset_counts").to_numpy().sum() == 400
    assert sizes["all"] == 605
    assert [sizes[f"k{k}"] for k in range(1, 6)] == [400, 154, 42, 8, 1]
    assert [sizes[f"n_minus_k_{m}"] for m in (2, 1, 0)] == [42, 154, 400]


def test_tables_keep_the_printed_decimals():
    table = published.load("table3").set_index("model")
    assert table.loc["Gemini-1.5-Pro", "k4"] == "100"
    assert table.loc["Mixtral-8x22B", "k3"] == "64.28"


def test_similarity_is_symmetric_over_seventeen_samples():
    counts = published.load("figure6_similarity")
    assert (counts.to_numpy() == counts.to_numpy().T).all()
    assert set(counts.to_numpy().diagonal()) == {17}


@pytest.mark.parametrize("name", [*published.TABLES, *published.COUNT_FILES])
def test_every_file_loads(name):
    assert len(published.load(name)) >= 7  # categories, the shortest


def test_load_names_what_is_wrong(tmp_path):
    with pytest.raises(KitError, match=r"table2\.csv is missing"):
        published.load("table2", tmp_path)
    with pytest.raises(KitError, match="no file 'table9'"):
        published.load("table9")
    for cell in ("many", "8.5", ""):  # no number, half a problem, nothing
        (tmp_path / "figure1.csv").write_text(f"category,AMC 8\nAlgebra,{cell}\nGeometry,2\n")
        with pytest.raises(KitError, match=r"figure1\.csv is not readable \(.+\); restore it"):
            published.load("figure1", tmp_path)


def run_tables(label):
    """A run's tables with one model, which got 1 of 2 right at k = 1 and nothing elsewhere."""
    cells = {"k1": "50.00", "k2": None, "k3": None, "k4": None}
    left = {"n_minus_k_2": None, "n_minus_k_1": None, "n_minus_k_0": "100.00"}
    ratios = {"C": "50.00", "N": "50.00", "N_over_C": "100.00", "Nu": "50.00", "Nu_over_N": None}
    sizes = {"k1_samples": 2, "k2_samples": 0, "k3_samples": 0, "k4_samples": 0}
    left_sizes = {"n_minus_k_2_samples": 0, "n_minus_k_1_samples": 0, "n_minus_k_0_samples": 2}
    rows = {
        "table2": {"model": label, **ratios, "samples": 2},
        "table3": {"model": label, **cells, **sizes},
        "table4": {"model": label, **left, **left_sizes},
    }
    return {name: pd.DataFrame([row], dtype=object) for name, row in rows.items()}


def test_comparison_sets_common_models_side_by_side():
    frame = published.comparison(run_tables("GPT-4o")).set_index(["item", "column"])
    assert len(frame) == 5 + 4 + 3
    assert tuple(frame.loc[("table2", "C")]) == ("GPT-4o", "50.00", 2, "60.83", 605)
    assert tuple(frame.loc[("table3", "k2")]) == ("GPT-4o", None, 0, "64.94", 154)
    assert tuple(frame.loc[("table4", "n_minus_k_0")]) == ("GPT-4o", "100.00", 2, "47.35", 400)


def test_comparison_is_empty_without_common_models():
    assert published.comparison(run_tables("My Model")).empty
