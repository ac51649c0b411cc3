"""The audit of published numbers: the shipped ones, clean ones made from random counts, and single cells spoilt."""

import shutil
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from creativemath_utils import published
from creativemath_utils.audit.consistency import ModelRows, add_up
from creativemath_utils.audit.reconcile import COLUMNS
from creativemath_utils.audit.recovery import as_percent, nearest, ratio_counts, read_percent
from creativemath_utils.audit.tallies import PAPER_DESIGN, figure_1_findings, subset_design, subset_findings
from creativemath_utils.records import KitError

RATIOS = ("C", "N", "N_over_C", "Nu", "Nu_over_N")
SHIPPED = published.FOLDER


# --- synthetic tables -----------------------------------------------------------------------------


def ratio(numerator, denominator):
    return as_percent(Fraction(int(numerator), int(denominator))) if denominator else "n/a"


def outcomes(rng, subset):
    """Random decisions of one model on every sample of a subset: competition, k, n - k, correct, novel, Nu."""
    rows = []
    rates = rng.uniform(0.05, 0.95, 3)
    for competition, counts in subset.iterrows():
        for n, problems in enumerate(counts, 1):
            for k in list(range(1, n + 1)) * problems:
                correct, novel, unknown = np.cumprod(rng.random(3) < rates)
                rows.append((competition, k, n - k, correct, novel, novel if k == n else unknown))
    return pd.DataFrame(rows, columns=["competition", "k", "left", "correct", "novel", "unknown"])


def write_tables(folder, seed, names, subset=None):
    """Tables 2 to 5 of random models, counted and rounded, and counts of the figures that are as they should be."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    subset = published.load("subset_counts") if subset is None else subset
    subset.to_csv(folder / "subset_counts.csv")
    runs = {name: outcomes(rng, subset) for name in names}
    tables = {name: [] for name in ("table2", "table3", "table4", "table5")}
    for name, run in runs.items():
        total = run[["correct", "novel", "unknown"]].sum()
        c, v, u = total
        cells = [ratio(c, len(run)), ratio(v, len(run)), ratio(v, c), ratio(u, len(run)), ratio(u, v)]
        tables["table2"].append([name, "open", *cells, "50.0"])
        by_k, by_left = (run.groupby(column)[["correct", "novel"]].agg(["sum", "size"]) for column in ("k", "left"))
        tables["table3"].append([name, *(ratio(*by_k.loc[k, "correct"]) for k in (1, 2, 3, 4))])
        left = [by_left.loc[m, [("novel", "sum"), ("correct", "sum")]] for m in (2, 1, 0)]
        tables["table4"].append([name, *(ratio(*counts) for counts in left)])
    for competition in PAPER_DESIGN.problems:
        first = [run[(run["competition"] == competition) & (run["k"] == 1)] for run in runs.values()]
        correct = sum(part["correct"].sum() for part in first)
        defined = [Fraction(int(p["novel"].sum()), int(p["correct"].sum())) for p in first if p["correct"].sum()]
        mean = as_percent(sum(defined) / len(defined)) if defined else "n/a"
        tables["table5"].append([competition, "1-2", 1, ratio(correct, sum(map(len, first))), mean])
    heads = {name: pd.read_csv(SHIPPED / f"{name}.csv", nrows=0).columns for name in tables}
    for name, rows in tables.items():
        pd.DataFrame(rows, columns=heads[name]).to_csv(folder / f"{name}.csv", index=False)
    figure_1 = pd.DataFrame(
        rng.multinomial(6469, np.full(56, 1 / 56)).reshape(7, 8), columns=list(PAPER_DESIGN.problems)
    )
    figure_1.rename_axis("category").to_csv(folder / "figure1.csv")
    upper = np.triu(rng.integers(0, 18, (len(names), len(names))), 1)
    figure_6 = pd.DataFrame(upper + upper.T + 17 * np.eye(len(names), dtype=int), names, names)
    figure_6.rename_axis("model").to_csv(folder / "figure6_similarity.csv")
    return folder


def spoil(folder, table, row, column, text):
    """Write another text into one cell; the text before."""
    path = folder / f"{table}.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    where = frame.iloc[:, 0] == row
    before = frame.loc[where, column].iloc[0]
    frame.loc[where, column] = text
    frame.to_csv(path, index=False)
    return before


def found(folder, item=None):
    findings = published.audit(folder)
    assert list(findings.columns) == ["item", "model", "column", "printed", "expected", "reason"]
    assert all(isinstance(text, str) for text in findings.to_numpy().ravel())
    assert findings["reason"].str.len().min() > 20 or findings.empty
    return findings if item is None else findings[findings["item"] == item]


def cells(findings):
    return [tuple(row) for row in findings[["item", "model", "column"]].to_numpy()]


@pytest.fixture(scope="module")
def shipped_findings():
    return found(None)


@pytest.fixture
def shipped(tmp_path):
    return shutil.copytree(SHIPPED, tmp_path / "published")


@pytest.fixture(scope="module")
def clean_once(tmp_path_factory):
    return write_tables(tmp_path_factory.mktemp("audit") / "clean", 5, ["One", "Two"])


@pytest.fixture
def clean(clean_once, tmp_path):
    return shutil.copytree(clean_once, tmp_path / "clean")


# --- counts behind a percentage -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numerator", "denominator", "gives"),
    [
        ("71.43", 30, 42, True),  # 71.428...
        ("71.32", 30, 42, False),
        ("64.28", 27, 42, False),  # 64.2857... cut off, not rounded
        ("59.84", 362, 605, False),  # 59.8347...
        ("3.12", 1, 32, True),  # 3.125, half to even
        ("3.13", 1, 32, True),  # 3.125, half up
        ("3.14", 1, 32, False),
        ("64.3", 27, 42, True),  # by its own decimals
        ("100", 8, 8, True),
        ("0.00", 0, 8, True),
        ("0.00", 0, 0, False),  # nothing of nothing is no percentage
        ("-1.00", 0, 8, False),
    ],
)
def test_a_count_gives_a_printed_percentage(text, numerator, denominator, gives):
    assert bool(read_percent(text, "a cell").matches(numerator, denominator)) is gives


@pytest.mark.parametrize("text", ["", "n/a", " NaN ", "-", "–"])
def test_a_cell_without_a_number(text):
    assert read_percent(text, "a cell") is None


@pytest.mark.parametrize("text", ["7O.78", "1e2", "70,78", "1.2345678", "70.78%", "٣"])
def test_a_cell_that_is_no_number_is_named(text):
    with pytest.raises(KitError, match=r"table3\.csv, One, k2"):
        read_percent(text, "table3.csv, One, k2")


def test_ratio_counts_are_all_there_are():
    printed = read_percent("52.38", "a cell")
    by_hand = [(c, v) for c in range(43) for v in range(c + 1) if c and round(Fraction(100 * v, c), 2) == printed.value]
    assert [tuple(pair) for pair in ratio_counts(printed, 42)] == by_hand == [(21, 11), (42, 22)]


def test_nearest_gives_both_where_two_are_as_near():
    printed = read_percent("65.10", "a cell")
    assert nearest(printed, ["65.20", "65.00", "80.00"]) == ["65.00", "65.20"]


# --- the search -----------------------------------------------------------------------------------


def test_add_up_is_the_least_cost_of_each_sum():
    # sums 0..3 of one number 0..1 that should be 1 and one 0..2 that should be 0
    assert add_up([np.array([1, 0]), np.array([0, 1, 1])]).tolist() == [1, 0, 1, 1]


def test_the_search_agrees_with_trying_everything():
    """Two samples with k = 1 (n = 1 and n = 2) and one with k = 2, so sizes 2, 1; every table of the counts listed."""
    sizes = (2, 1)
    rng = np.random.default_rng(0)
    texts = ["0.00", "33.33", "50.00", "66.67", "100", "n/a"]
    keys = [("table2", c) for c in RATIOS]
    keys += [("table3", "k1"), ("table3", "k2"), ("table4", "n_minus_k_0"), ("table4", "n_minus_k_1")]
    worlds = []  # the counts (numerator, denominator) behind each key
    for c1, c2, g0, g1 in np.ndindex(3, 2, 3, 2):
        if c1 + c2 == g0 + g1:
            for v0, v1 in np.ndindex(g0 + 1, g1 + 1):
                for u in range(v0 + v1 + 1):
                    c, v = c1 + c2, v0 + v1
                    worlds.append([(c, 3), (v, 3), (v, c), (u, 3), (u, v), (c1, 2), (c2, 1), (v0, g0), (v1, g1)])
    for _ in range(40):
        printed = [read_percent(text, "") for text in rng.choice(texts, len(keys))]
        wrong = [[p is not None and not p.matches(*w) for p, w in zip(printed, world, strict=True)] for world in worlds]
        best = min(map(sum, wrong))
        chosen = [(w, bad) for w, bad in zip(worlds, wrong, strict=True) if sum(bad) == best]
        verdicts = ModelRows(dict(zip(keys, printed, strict=True)), sizes).verdicts()
        for at, key in enumerate(keys):
            if printed[at] is not None:
                assert verdicts[key].counts == tuple(sorted({world[at] for world, _ in chosen}))
                assert verdicts[key].if_wrong == tuple(sorted({world[at] for world, bad in chosen if bad[at]}))


# --- clean tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_clean_tables_have_no_finding(seed, tmp_path):
    names = ["One", "Two", "Three"][: 1 + seed % 3]
    assert found(write_tables(tmp_path / "clean", seed, names)).to_dict("records") == []


def test_clean_tables_under_the_papers_names_have_no_finding(tmp_path):
    names = ["GPT-4o", "Llama-3-70B", "Yi-1.5-34B"]  # the text quotes other numbers, so it is not about these tables
    assert found(write_tables(tmp_path / "clean", 3, names)).to_dict("records") == []


def test_clean_tables_of_another_subset_have_no_finding(tmp_path):
    subset = published.load("subset_counts").iloc[:, :4] * 0 + [20, 8, 4, 2]
    assert found(write_tables(tmp_path / "clean", 4, ["One"], subset)).to_dict("records") == []


# --- single cells spoilt --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "row", "column", "text"),
    [
        ("table2", "One", "C", "47.30"),  # no count out of 605
        ("table2", "One", "N", "101.00"),
        ("table2", "One", "N_over_C", "1.00"),  # a ratio by itself, but not that of N and C
        ("table2", "Two", "Nu", "0.01"),
        ("table2", "Two", "Nu_over_N", "12.34"),
        ("table3", "One", "k1", "50.10"),  # steps of 0.25
        ("table3", "One", "k2", "50.01"),
        ("table3", "Two", "k3", "71.32"),
        ("table3", "Two", "k4", "71.32"),
        ("table4", "One", "n_minus_k_2", "99.00"),
        ("table5", "AMC 8", "mean_C", "65.08"),  # two models: steps of 1
        ("table5", "IMO", "mean_C", "-3.00"),
        ("table5", "IMO", "mean_N_over_C", "100.01"),
    ],
)
def test_a_cell_that_cannot_be_is_named_with_its_value(table, row, column, text, clean):
    before = spoil(clean, table, row, column, text)
    findings = found(clean)
    assert cells(findings) == [(table, row, column)]
    assert findings.loc[0, "printed"] == text
    if column != "mean_N_over_C" and column not in ("k3", "k4", "n_minus_k_2"):  # there more than one value may remain
        assert findings.loc[0, "expected"] == before


@pytest.mark.parametrize("column", ["k2", "k3"])
def test_another_possible_count_is_found_by_the_sum(column, clean):
    before = float(spoil(clean, "table3", "One", column, "0.00"))
    assert before > 10
    findings = found(clean)
    assert ("table3", "One", column) in cells(findings)  # and the other k that could be to blame, saying so
    assert all(item == "table3" and model == "One" for item, model, _ in cells(findings))
    if len(findings) > 1:
        assert findings["reason"].str.contains("nothing tells which").all()


def test_a_mean_that_only_the_sum_excludes_is_a_constraint(clean):
    before = pd.read_csv(clean / "table5.csv", index_col=0).loc["AMC 8", "mean_C"]
    spoil(clean, "table5", "AMC 8", "mean_C", f"{before + 1:.2f}")  # one more answer of two models' hundred
    findings = found(clean)
    assert len(findings) == 1 and findings.loc[0, ["item", "model", "column"]].tolist() == ["table5", "", "mean_C"]
    assert findings.loc[0, "printed"] != findings.loc[0, "expected"]


# --- the shipped numbers --------------------------------------------------------------------------


def test_the_shipped_findings(shipped_findings):
    findings = shipped_findings
    tables = findings[findings["item"].str.startswith("table")]
    assert {tuple(row) for row in tables[["item", "model", "column", "printed", "expected"]].to_numpy()} == {
        ("table2", "Claude-3-Opus", "C", "59.84", "59.83"),  # 362 of 605 is 59.8347
        ("table2", "Gemini-1.5-Pro", "N_over_C", "95.75", "95.74"),  # 405 of 423 is 95.7447
        ("table3", "DeepSeek-V2", "k3", "71.32", "71.43"),  # 30 of 42
        ("table3", "Mixtral-8x22B", "k3", "64.28", "64.29"),  # 27 of 42 is 64.2857
        ("table4", "Yi-1.5-34B", "n_minus_k_1", "52.87", "77.78"),  # all groups are below 53, N/C in all is 67.69:
        ("table4", "Yi-1.5-34B", "n_minus_k_0", "46.43", "76.92"),  # one of the two
        ("table5", "AHSME", "mean_C", "65.08", "65.80"),  # Table 3 has 2,043 correct answers at k = 1, the rest 1,714
    }
    assert findings[findings["item"] == "figure1"][["printed", "expected"]].to_numpy().tolist() == [["6480", "6469"]]
    text = findings[findings["item"] == "text"].set_index("column")
    assert set(text.index) == {
        "table2 N_over_C",  # the wrong 95.75, repeated
        "table2 Nu_over_N",  # best in all metrics, but Qwen1.5-72B has 98.00
        "table3 k1..k4",  # Qwen1.5-72B rises by 11 and 13 points, then falls: no minimal increase
        "table4 n_minus_k_0..n_minus_k_2",
        "table5 mean_C",  # consistently decreases, but for USAJMO
        "figure6_similarity",
    }
    assert text.loc["figure6_similarity", ["printed", "expected"]].tolist() == ["2 pairs at 47", "4 pairs at 47"]
    assert set(findings["item"]) == {"table2", "table3", "table4", "table5", "figure1", "text"}


def test_mended_tables_lose_their_findings(shipped, shipped_findings):
    mended = shipped_findings[shipped_findings["item"] == "table3"]
    for _, row in mended.iterrows():
        spoil(shipped, "table3", row["model"], row["column"], row["expected"])
    assert len(mended) == 2 and found(shipped, "table3").empty


def test_spoilt_cells_of_the_paper_are_named(shipped, shipped_findings):
    spoilt = {  # each in a row of its own, so that none hides another
        ("table2", "Llama-3-70B", "N"): ("48.67", "48.76"),  # digits swapped
        ("table2", "Qwen1.5-72B", "Nu_over_N"): ("98.11", "98.00"),
        ("table3", "GPT-4o", "k3"): ("66.76", "66.67"),
        ("table4", "Claude-3-Opus", "n_minus_k_2"): ("91.76", "91.67"),
        ("table5", "IMO", "mean_N_over_C"): ("178.86", "100"),
        ("figure6_similarity", "GPT-4o", "GPT-4o"): ("16", "17"),
        ("figure6_similarity", "Qwen1.5-72B", "Yi-1.5-34B"): ("18", "3"),
        ("subset_counts", "AIME", "n2"): ("18", "17"),
        ("figure1", "Geometry", "AIME"): ("-222", "0"),
    }
    for cell, (text, _) in spoilt.items():
        spoil(shipped, *cell, text)
    findings = found(shipped)
    before = set(cells(shipped_findings))
    new = findings[[cell not in before for cell in cells(findings)]].set_index(["item", "model", "column"])
    assert {cell: tuple(row) for cell, row in new[["printed", "expected"]].iterrows()} == spoilt


def test_two_images_of_a_pair_are_both_named_where_they_differ(shipped, shipped_findings):
    spoil(shipped, "figure6_similarity", "GPT-4o", "Yi-1.5-34B", "4")
    pair = found(shipped, "figure6_similarity")[["model", "column", "printed", "expected"]].to_numpy().tolist()
    assert pair == [["GPT-4o", "Yi-1.5-34B", "4", "3"], ["Yi-1.5-34B", "GPT-4o", "3", "4"]]


def test_the_text_contradicts_changed_cells(shipped, shipped_findings):
    spoil(shipped, "table2", "GPT-4o", "MATH", "67.6")  # the text has 76.6
    spoil(shipped, "table5", "USAMO", "mean_N_over_C", "38.01")  # the text has 83.01
    for pair in (("Llama-3-70B", "Yi-1.5-34B"), ("Yi-1.5-34B", "Llama-3-70B")):  # by the text the least similar pair
        spoil(shipped, "figure6_similarity", *pair, "7")
    before, after = (frame[frame["item"] == "text"] for frame in (shipped_findings, found(shipped)))
    new = set(cells(after)) - set(cells(before))
    assert {column for _, _, column in new} == {"table2 MATH", "table5 mean_N_over_C", "figure6_similarity"}


def test_figure_1_with_the_right_sum_has_no_finding(shipped):
    spoil(shipped, "figure1", "Algebra", "AMC 8", str(216 - 11))
    assert list(figure_1_findings(published.load("figure1", shipped))) == []


def test_sums_of_the_subset_are_named_where_no_cell_is(shipped):
    spoil(shipped, "subset_counts", "AIME", "n2", "18")
    spoil(shipped, "subset_counts", "IMO", "n3", "3")
    rows = [list(finding[1:5]) for finding in subset_findings(published.load("subset_counts", shipped))]
    assert rows == [["AIME", "", "51", "50"], ["IMO", "", "51", "50"], ["", "n2", "113", "112"], ["", "n3", "35", "34"]]


# --- files that are not whole ---------------------------------------------------------------------


def test_a_missing_row_is_said_and_the_rest_checked(shipped):
    frame = pd.read_csv(shipped / "table3.csv", dtype=str)
    frame[frame["model"] != "Qwen1.5-72B"].to_csv(shipped / "table3.csv", index=False)
    rows = cells(found(shipped, "table3"))
    assert rows == [("table3", "Qwen1.5-72B", ""), ("table3", "DeepSeek-V2", "k3"), ("table3", "Mixtral-8x22B", "k3")]


def test_another_model_makes_table_5_a_mean_over_others(shipped):
    for name in ("table2", "table3", "table4"):
        frame = pd.read_csv(shipped / f"{name}.csv", dtype=str)
        frame.loc[len(frame)] = ["New", *frame.iloc[1, 1:]]
        frame.to_csv(shipped / f"{name}.csv", index=False)
    findings = found(shipped, "table5")
    assert cells(findings) == [("table5", "", "mean_C")] and "other models" in findings["reason"].iloc[0]


def test_a_cell_without_a_number_is_no_finding(clean):
    text = "n/a"
    for table, column in [("table2", "C"), ("table3", "k2"), ("table4", "n_minus_k_0")]:
        spoil(clean, table, "One", column, text)
    spoil(clean, "table5", "AIME", "mean_C", text)
    assert found(clean).empty


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("table2", None, r"table2\.csv is missing"),
        ("figure6_similarity", None, r"figure6_similarity\.csv is missing"),
        ("table3", "model,k1,k2,k3\nA,50.00,50.00,50.00\n", r"table3\.csv has no column k4"),
        ("table3", "model,k1,k2,k3,k4\n", r"table3\.csv has no rows"),
        ("table3", "model,k1,k2,k3,k4\nA,1,2,3,4\nA,1,2,3,4\n", r"one row for each model; mend 'A'"),
        ("table3", "model,k1,k2,k3,k4\nA,fifty,2,3,4\n", r"table3\.csv, A, k1 is 'fifty'"),
        ("table3", "model,k1,k2,k3,k4,k6\nA,1,2,3,4,5\n", "k6, which has no samples"),
        ("subset_counts", "competition,many\nIMO,50\n", "has a column 'many'"),
        ("table5", "competition,difficulty,k,mean_C,mean_N_over_C\nPutnam,9,1,1.00,2.00\n", "Putnam"),
        ("figure6_similarity", "model,A,B\nA,17,3\n", "same models as rows and columns"),
        ("table4", "", r"table4\.csv is not readable"),
    ],
)
def test_files_that_cannot_be_audited_are_named(name, content, says, shipped):
    path = shipped / f"{name}.csv"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(KitError, match=says):
        published.audit(shipped)


# --- what else the counts give --------------------------------------------------------------------


def test_recovered_counts():
    counts = published.recovered_counts().set_index(["item", "model", "column"])
    assert counts.loc[("table2", "GPT-4o", "C"), ["numerator", "denominator"]].tolist() == [368, 605]
    assert counts.loc[("table2", "GPT-4o", "N_over_C"), ["numerator", "denominator"]].tolist() == [182, 368]
    assert counts.loc[("table4", "Qwen1.5-72B", "n_minus_k_0"), "candidates"] == "134/196"
    assert counts.loc[("table5", "AHSME", "mean_C"), ["state", "candidates"]].tolist() == ["wrong", "329/500"]
    unsure = counts.loc[("table3", "DeepSeek-V2", "k3")]
    assert unsure["candidates"] == "30/42, 31/42" and pd.isna(unsure["numerator"])
    assert len(counts) == 10 * (5 + 4 + 3) + 8 * 2
    settled = counts.dropna(subset="numerator")
    again = [ratio(*pair) for pair in settled[["numerator", "denominator"]].to_numpy()]
    right = settled["state"] == "agrees"
    assert (settled["printed"] == again)[right].all() and right.sum() > 90


def test_sizes_follow_from_the_subset():
    assert subset_design(published.load("subset_counts")) == PAPER_DESIGN
    assert set(COLUMNS) == set(published.TABLES)


def test_the_report_has_every_finding_as_a_row(shipped_findings):
    findings = shipped_findings
    report = published.audit_markdown(findings)
    assert "## Table 3" in report and "N\\_over\\_C" in report
    rows = [line for line in report.splitlines() if line.startswith("| ")]
    assert len(rows) == len(findings) + findings["item"].nunique()  # a heading each
    assert published.audit_markdown(findings.iloc[:0]).startswith(
        "# Audit"
    ) and "0 findings" in published.audit_markdown(findings.iloc[:0])
