"""Tables 2 to 5 of made-up runs that can be counted by hand, and the three forms they are written in."""

import shutil
import subprocess

import pandas as pd
import pytest

from creativemath_utils import published, table_formats, tables
from creativemath_utils.metrics import OUTCOME_COLUMNS
from creativemath_utils.models import Model

INFO = table_formats.RunInfo("my-run", {"rules": "Rules (baseline)", "j": "Judge_J"}, "strict", "2026-01-31")


def model(name, label="", source=None):
    return Model(name=name, backend="api", id="x", label=label, source=source)


def sample(generator, decisions, k=1, n=1, competition="AMC_8", difficulty=1.0, status="ok", unparsed=0):
    """An outcome from three letters for correct, novel, novel_unknown: '1' yes, '0' no, '?' open."""
    correct, novel, unknown = ({"1": True, "0": False, "?": None}[letter] for letter in decisions)
    row = ("p", competition, difficulty, "Algebra", k, n, generator, status, correct, novel, unknown, "?" in decisions)
    return dict(zip(OUTCOME_COLUMNS, (*row, unparsed), strict=True))


def outcomes(*samples):
    return pd.DataFrame(samples, columns=list(OUTCOME_COLUMNS))


def row(table, index=0):
    """A row with None where the csv is empty."""
    return {name: None if pd.isna(value) else value for name, value in table.iloc[index].items()}


TABLE_2 = ["C", "N", "N_over_C", "Nu", "Nu_over_N"]


@pytest.mark.parametrize(
    ("samples", "ratios", "counts"),
    [
        # one of each kind of decision
        (["111", "110", "100", "000"], ("75.00", "50.00", "66.67", "25.00", "50.00"), (4, 3, 2, 1, 0)),
        (["000"] * 5, ("0.00", "0.00", None, "0.00", None), (5, 0, 0, 0, 0)),  # 0 of 5 correct
        (["100"], ("100.00", "0.00", "0.00", "0.00", None), (1, 1, 0, 0, 0)),  # nothing novel
        (["111", "???"], ("50.00", "50.00", "100.00", "50.00", "100.00"), (2, 1, 1, 1, 1)),  # one open
        (["111"] * 3, ("100.00",) * 5, (3, 3, 3, 3, 0)),  # k = n everywhere: all that is novel is Novel-Unknown
        ([], (None,) * 5, (0, 0, 0, 0, 0)),  # a model without samples
    ],
)
def test_table_2(samples, ratios, counts):
    found = row(tables.table_2(outcomes(*(sample("m", decisions) for decisions in samples)), [model("m")]))
    assert tuple(found[name] for name in TABLE_2) == ratios
    assert tuple(found[name] for name in ("samples", "correct", "novel", "novel_unknown", "undecided")) == counts


def test_a_model_that_was_only_blocked_has_ratios_over_all_its_samples():
    blocked = [sample("m", "000", status="blocked") for _ in range(3)]
    found = row(tables.table_2(outcomes(*blocked), [model("m")]))
    assert (found["C"], found["N_over_C"], found["samples"], found["blocked"], found["refused"]) == (
        "0.00",
        None,
        3,
        3,
        0,
    )


def test_columns_of_every_table_hold_the_published_ones():
    made = tables.make_tables(outcomes(sample("m", "111")), [model("m")])
    for number, table in made.items():
        names = list(published.load(f"table{number}").columns)
        assert list(table.columns)[: len(names)] == names


def test_table_2_is_grouped_and_takes_math_from_the_paper_by_label():
    models = [model("a", "My Model"), model("b", "Llama-3-70B", "open"), model("c", "GPT-4o", "closed")]
    table = tables.table_2(outcomes(), models)
    assert list(table["model"]) == ["GPT-4o", "Llama-3-70B", "My Model"]
    assert [row(table, i)["MATH"] for i in range(3)] == ["76.6", "50.4", None]
    assert [row(table, i)["source"] for i in range(3)] == ["closed", "open", None]


def test_models_that_share_a_label_are_told_apart():
    assert tables.labels([model("a", "M"), model("b", "M"), model("c")]) == {"a": "M (a)", "b": "M (b)", "c": "c"}


def test_table_3_by_k():
    run = outcomes(sample("m", "111"), sample("m", "000"), sample("m", "???", k=2), sample("m", "100", k=5, n=5))
    found = row(tables.table_3(run, [model("m")]))
    assert [found[f"k{k}"] for k in range(1, 6)] == ["50.00", "0.00", None, None, "100.00"]  # k = 3, 4: no sample
    assert [found[f"k{k}_samples"] for k in range(1, 6)] == [2, 1, 0, 0, 1]
    assert (found["k1_correct"], found["k2_undecided"]) == (1, 1)


def test_what_is_neither_yes_nor_no_is_counted_in_every_table_and_shown():
    run = outcomes(sample("m", "111"), sample("m", "???", k=2), sample("m", "000", status="truncated"))
    for number, table in tables.make_tables(run, [model("m")]).items():
        found = row(table)
        assert (found["undecided"], found["truncated"], found["blocked"]) == ((0 if number == 5 else 1), 1, 0), number
        headers = [column.header for column in table_formats.layout(number, table)[1]]
        assert headers[-6:] == ["Undecided", "Truncated", "Blocked", "Refused", "Failed", "Unparsed"]
        assert len(set(headers)) == len(headers)  # no two columns of one name
    assert "0.00 (0/1; 1 undecided)" in table_formats.as_markdown(3, tables.table_3(run, [model("m")]), INFO)


def test_table_4_by_solutions_not_shown():
    run = outcomes(sample("m", "111"), sample("m", "100", n=2), sample("m", "000", n=3), sample("m", "111", n=5))
    found = row(tables.table_4(run, [model("m")]))
    cells = [name for name in found if name.removeprefix("n_minus_k_").isdigit()]
    assert cells == ["n_minus_k_4", "n_minus_k_2", "n_minus_k_1", "n_minus_k_0"]  # as in the paper, most left first
    assert [found[name] for name in cells] == ["100.00", None, "0.00", "100.00"]
    assert (found["n_minus_k_2_samples"], found["n_minus_k_2_correct"], found["n_minus_k_1_novel"]) == (1, 0, 0)


def test_table_5_averages_over_the_models_whose_ratio_is_defined():
    run = outcomes(
        *(sample("a", "111", difficulty=1.0), sample("a", "100", difficulty=1.5)),  # C 100, N/C 50
        *(sample("b", "000"), sample("b", "000")),  # C 0, N/C undefined
        sample("c", "111", k=2, n=2),  # not k = 1
    )
    table = tables.table_5(run, [model("a"), model("b"), model("c")])
    assert list(table["competition"]) == list(published.load("table5")["competition"])
    amc = row(table)
    assert (amc["mean_C"], amc["mean_N_over_C"]) == ("50.00", "50.00")
    assert (amc["models_C"], amc["models_N_over_C"], amc["samples"], amc["correct"]) == (2, 1, 4, 2)
    assert (amc["difficulty"], amc["k"]) == ("1-1.5", 1)
    empty = row(table, 1)  # a competition with no rows
    assert (empty["mean_C"], empty["mean_N_over_C"], empty["difficulty"], empty["samples"]) == (None, None, None, 0)


def test_table_5_has_other_competitions_after_the_eight():
    run = outcomes(sample("a", "110", competition="Putnam"), sample("a", "000"), sample("a", "100", competition="BMO"))
    table = tables.table_5(run, [model("a")])
    assert list(table["competition"])[7:] == ["IMO", "BMO", "Putnam"]
    assert (row(table, 9)["mean_C"], row(table, 9)["samples"]) == ("100.00", 1)


@pytest.mark.parametrize(
    ("difficulties", "text"),
    [([2.0], "2"), ([1.0, None, 1.5], "1-1.5"), ([5.5, 10.0], "5.5-10"), ([None], None)],
)
def test_difficulty_is_the_range_in_the_run(difficulties, text):
    run = outcomes(*(sample("m", "000", difficulty=d) for d in difficulties)).astype({"difficulty": float})
    assert row(tables.table_5(run, [model("m")]))["difficulty"] == text


def bold_cells(number, table):
    _, columns = table_formats.layout(number, table)
    rows, bold = table_formats.cells(table, columns)
    return {(rows[i][1 if number == 2 else 0], columns[j].header) for i, j in bold}


def test_bold_marks_the_best_of_each_group_with_ties():
    models = [model("a", "A", "closed"), model("b", "B", "open"), model("c", "C", "math"), model("d", "D", "open")]
    run = outcomes(
        *(sample("a", "111"), sample("b", "100"), sample("c", "100"), sample("d", "000")),
    )
    # A is alone in its group; B and C share the best C; no other column has two different values among B, C and D
    assert bold_cells(2, tables.table_2(run, models)) == {("B", "C"), ("C", "C")}
    assert bold_cells(3, tables.table_3(run, models)) == {("A", "k = 1"), ("B", "k = 1"), ("C", "k = 1")}
    assert bold_cells(4, tables.table_4(run, models)) == {("A", "n - k = 0")}
    assert bold_cells(2, tables.table_2(run, [model("a"), *models[1:]])) == {("B", "C"), ("C", "C")}  # a: no source
    assert bold_cells(5, tables.table_5(run, models)) == set()


def test_written_tables(tmp_path):
    run = outcomes(sample("a", "111"), sample("b", "000"))
    models = [model("a", "lab_model$v2|x", "open"), model("b", "模型 & 50%", "open")]
    paths = table_formats.write_tables(run, models, tmp_path / "new", INFO)
    assert [p.name for p in paths] == [f"table_{n}.{s}" for n in (2, 3, 4, 5) for s in ("csv", "md", "tex")]
    before = {path: path.read_bytes() for path in paths}
    assert {p: p.read_bytes() for p in table_formats.write_tables(run, models, tmp_path / "new", INFO)} == before
    assert not any(b"\r" in content for content in before.values())
    csv = pd.read_csv(paths[0], dtype=str, keep_default_na=False)
    assert list(csv["model"]) == ["lab_model$v2|x", "模型 & 50%"]
    assert list(csv["N_over_C"]) == ["100.00", ""]  # empty over an empty base
    markdown = paths[1].read_text("utf-8")
    assert "n/a (0/0)" in markdown
    assert "**100.00 (1/1)**" in markdown
    assert r"lab\_model\$v2\|x" in markdown
    for said in ("my-run", "Rules (baseline), Judge\\_J", "strict", "2026-01-31"):
        assert said in markdown
    latex = paths[2].read_text("utf-8")
    assert r"lab\_model\$v2\textbar{}x" in latex
    assert r"\& 50\%" in latex


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 5% #1 {x}", r"a\_b \& 5\% \#1 \{x\}"),
        ("\\frac$2^3~", r"\textbackslash{}frac\$2\textasciicircum{}3\textasciitilde{}"),
        ("k--n", r"k-{}-n"),  # no dash
        ("é", "é"),
        ("a\nb\x07", r"a b\texttt{U+0007}"),  # one line, nothing that cannot be printed
        ("模", r"\ifdefined\Umathchar 模\else\texttt{U+6A21}\fi{}"),  # only modern engines have the letter
    ],
)
def test_latex_shows_text_as_it_is(text, latex):
    assert table_formats.plain_latex(text) == latex


def test_a_caption_says_run_models_judges_rule_and_date():
    said = table_formats.caption(
        "C", [], table_formats.RunInfo("r", {"j": "J"}, "strict", "2026-01-31", models=("A", "B"))
    )
    for words in ("Run: r.", "Models: A, B.", "Judges: J.", "Verdict rule: strict.", "Newest answer: 2026-01-31."):
        assert words in said


@pytest.mark.slow
def test_latex_compiles(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    hostile = [model("a", r"\a$v2_{^~&%#<>|\"--", "closed"), model("b", "模型 é þ 😀", "open"), model("c", "plain")]
    run = outcomes(sample("a", "111"), sample("b", "???"), sample("c", "100", k=5, n=7))
    notes, models = ("A note with $ and 模.",), ("M_1",)
    info = table_formats.RunInfo("my_run", {"j": "J_1 & 100%"}, "strict", None, notes=notes, models=models)
    written = [path.name for path in table_formats.write_tables(run, hostile, tmp_path, info) if path.suffix == ".tex"]
    body = "".join(rf"\input{{{name}}}" for name in written)
    packages = r"\usepackage{booktabs}\usepackage{graphicx}"
    source = rf"\documentclass{{article}}{packages}\begin{{document}}\listoftables {body}\end{{document}}"
    (tmp_path / "all.tex").write_text(source)
    for _ in range(2):  # the second run reads the captions back from the list of tables
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
