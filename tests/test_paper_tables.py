"""The paper's tables and figures rebuilt: counts, intervals, marks of what is wrong, and whose numbers they are."""

import math
import shutil
import subprocess

import pandas as pd
import pytest
from matplotlib.figure import Figure

from creativemath_utils import figures, published
from creativemath_utils.paper import figures as published_figures
from creativemath_utils.paper import tables as published_tables
from creativemath_utils.paper.numbers import read_numbers
from creativemath_utils.records import KitError

pytestmark = pytest.mark.filterwarnings("error")
OWN = "not results of this kit"


@pytest.fixture(scope="module")
def numbers():
    return read_numbers()


@pytest.fixture(scope="module")
def findings():
    return published.audit()


@pytest.fixture(scope="module")
def tables(numbers, findings):
    return {number: published_tables.rebuilt_table(number, numbers, findings) for number in (2, 3, 4, 5)}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "PNG_DPI", 60)
        return published_tables.write_published(tmp_path_factory.mktemp("published") / "new")


@pytest.fixture
def source(tmp_path):
    return shutil.copytree(published.FOLDER, tmp_path / "source")


def details(table, row, column):
    found = table[table.iloc[:, 1] == row].iloc[0]
    names = ("state", "expected", "numerator", "denominator", "candidates", "low", "high")
    return tuple(found[f"{column}_{name}"] for name in names)


def wilson(count, size):
    """(p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), in percent."""
    share, z = count / size, 1.9599639845
    middle, half = share + z * z / (2 * size), z * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return [100 * (middle + sign * half) / (1 + z * z / size) for sign in (-1, 1)]


def test_wilson_by_hand():
    found = published_tables._details([(30, 42)], "agrees")
    assert (found["low"], found["high"]) == ("56.43", "82.83")
    assert wilson(30, 42) == pytest.approx([56.43, 82.83], abs=0.005)


@pytest.mark.parametrize(
    ("number", "row", "column", "state", "expected", "counts"),
    [
        (2, "GPT-4o", "C", "agrees", "", [(368, 605)]),
        (2, "Claude-3-Opus", "C", "wrong", "59.83", [(362, 605)]),
        (2, "Gemini-1.5-Pro", "N_over_C", "wrong", "95.74", [(405, 423)]),
        (3, "DeepSeek-V2", "k3", "wrong", "71.43", [(30, 42), (31, 42)]),  # the interval covers both
        (3, "Gemini-1.5-Pro", "k4", "agrees", "", [(8, 8)]),  # 8 samples: from 67.56 to 100
        (4, "Mixtral-8x22B", "n_minus_k_2", "agrees", "", [(8, 24), (9, 27), (10, 30)]),
        (5, "AHSME", "mean_C", "wrong", "65.80", [(329, 500)]),
        (5, "AMC 8", "mean_N_over_C", "", "", []),  # a mean of ratios
    ],
)
def test_cells(tables, number, row, column, state, expected, counts):
    found = details(tables[number], row, column)
    assert found[:2] == (state, expected)
    assert found[2:4] == (tuple(map(str, counts[0])) if len(counts) == 1 else ("", ""))
    assert found[4] == ", ".join(f"{a}/{b}" for a, b in counts)
    if counts:
        lows, highs = zip(*(wilson(*count) for count in counts), strict=True)
        assert list(map(float, found[5:])) == pytest.approx([min(lows), max(highs)], abs=0.005001)
    else:
        assert found[5:] == ("", "")


def test_a_cell_in_doubt_has_no_interval(tables):
    state, expected, numerator, _, candidates, low, high = details(tables[4], "Yi-1.5-34B", "n_minus_k_1")
    assert (state, numerator, low, high) == ("suspect", "", "", "")
    assert expected == "77.78" and candidates.endswith("pairs of counts")
    assert "52.87 in doubt" in published_tables.as_markdown(4, tables[4])


def test_printed_columns_come_first_and_as_printed(tables):
    for number, table in tables.items():
        printed = published.load(f"table{number}")
        assert list(table.columns[1 : 1 + len(printed.columns)]) == list(printed.columns)
        assert table[list(printed.columns)].to_numpy().tolist() == printed.to_numpy().tolist()


@pytest.mark.parametrize(
    ("number", "widest"),
    [
        (2, math.sqrt(5)),  # at most five samples share a problem; the few misses of Nu/N could all be there
        (3, 1),  # one sample a problem for each k,
        (4, 1),  # and for each n - k
        (5, math.sqrt(10)),  # ten models
    ],
)
def test_how_much_wider_intervals_could_be(tables, number, widest):
    table = tables[number]
    values = [float(v) for name in table if name.endswith("_widening") for v in table[name] if v]
    assert max(values) == pytest.approx(widest, abs=0.01) and min(values) >= 1


def test_all_files_are_there_and_say_whose_numbers_they_hold(written):
    names = [f"table_{n}.{s}" for n in (2, 3, 4, 5) for s in ("csv", "md", "tex")]
    names += ["claims.md", "audit.md", *(f"figure_{n}.{s}" for n in (1, 2, 6) for s in ("png", "pdf"))]
    assert [path.name for path in written] == [*names, "figures.md"]
    for path in written:
        if path.suffix == ".csv":
            assert set(pd.read_csv(path)["numbers_of"]) == {published_tables.OWNER}
        elif path.suffix in (".md", ".tex"):
            assert OWN in "".join(path.read_text("utf-8").splitlines()[:3])


def test_a_second_time_gives_the_same_bytes(written, tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "PNG_DPI", 60)
    again = published_tables.write_published(tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def test_markdown_marks_wrong_cells_and_the_best(tables):
    text = published_tables.as_markdown(2, tables[2])
    assert r"59.84 wrong,<br>expected 59.83 (362/605)<br>\[55.9, 63.7\]" in text
    assert r"**69.92 (423/605)**<br>\[66.2, 73.4\]" in text  # the best of the closed models
    assert "**63.47 (384/605)**" in text and "**51.7**" in text  # of the others
    assert "up to five samples share a problem" in text and "at most 2.2 times" in text


def test_latex_has_a_line_for_each_line_of_a_cell(tables):
    text = published_tables.as_latex(3, tables[3])
    assert r"\textbf{100 (8/8)} \\" in text
    assert r"& expected 30/42 or 31/42, nearest 71.43 &" in text  # 31 would be 73.81
    assert not [line for line in text.splitlines() if line.startswith("[")]  # it would be read as an option of \\
    assert text.count(r"\addlinespace") == 9 and text.count(r"\bottomrule") == 1


def test_a_mended_number_is_no_longer_marked(source):
    path = source / "table3.csv"
    path.write_text(path.read_text().replace("71.32", "71.43"))
    table = published_tables.rebuilt_table(3, read_numbers(source), published.audit(source), source)
    assert details(table, "DeepSeek-V2", "k3")[:5] == ("agrees", "", "30", "42", "30/42")


@pytest.mark.parametrize(
    ("candidates", "expected", "shown"),
    [
        ("30/42", "71.43", "expected 71.43 (30/42)"),
        ("15/21, 30/42", "71.43", "expected 71.43 (15/21 or 30/42)"),  # one value
        ("30/42, 31/42", "71.43", "expected 30/42 or 31/42, nearest 71.43"),
        ("605 pairs of counts", "49.92 or 50.08", "expected one of 605 pairs of counts, nearest 49.92 or 50.08"),
        ("", "n/a", "expected n/a"),
    ],
)
def test_what_is_expected_of_a_wrong_cell(candidates, expected, shown):
    record = {"C": "71.32", "C_state": "wrong", "C_expected": expected, "C_candidates": candidates}
    record |= {"C_low": "", "C_high": ""}
    assert published_tables._lines(record, "C", True) == ["71.32 wrong,", shown]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model\n", "no counts on its diagonal"),
        ("model,a,b,c\na,3,2,1\nb,1,3,1\nc,1,1,3\n", "symmetric"),  # a beside b, and b beside a
    ],
)
def test_what_the_audit_says_is_there_though_a_figure_cannot_be_drawn(source, tmp_path, text, message):
    (source / "figure6_similarity.csv").write_text(text, encoding="utf-8")
    with pytest.raises(KitError, match=message):
        published_tables.write_published(tmp_path / "new", source)
    assert {"audit.md", "claims.md"} <= {path.name for path in (tmp_path / "new").iterdir()}


def test_figures_are_marked_as_the_papers(monkeypatch, tmp_path):
    shown = {}

    def keep(drawn, path):
        figure = drawn if isinstance(drawn, Figure) else drawn.figure
        texts = [t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
        shown[path.name] = "\n".join(texts)
        return []

    monkeypatch.setattr(figures, "save", keep)
    (path,) = published_figures.write_figures(tmp_path)
    for number in (1, 2, 6):
        assert f"Figure {number} of Ye et al. (arXiv 2410.18336)" in shown[f"figure_{number}"]
        assert "not a result of this kit" in shown[f"figure_{number}"]
    assert "read off a picture" in shown["figure_2"]
    assert "stress-1 = 0.21; 17 common samples" in shown["figure_6"]
    text = path.read_text("utf-8")
    assert "Nearest the middle: Mixtral-8x22B." in text
    assert (
        "Most similar, all that tie: Claude-3-Opus with DeepSeek-V2; Claude-3-Opus with Mixtral-8x22B; "
        "Gemini-1.5-Pro with GPT-4o; GPT-4o with Mixtral-8x22B (8/17, 47.06%)." in text
    )
    assert "Least similar, all that tie: Llama-3-70B with Yi-1.5-34B (1/17, 5.88%)." in text
    assert "6,480 problems, beside the 6,469 of the text" in text


@pytest.mark.slow
def test_latex_compiles(source, tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    for name in published.TABLES[:3]:  # a model's name is text
        path = source / f"{name}.csv"
        path.write_text(path.read_text("utf-8").replace("Qwen1.5-72B", r"lab_$x & 100%|\a"), "utf-8")
    numbers, findings = read_numbers(source), published.audit(source)
    names = []
    for number in (2, 3, 4, 5):
        table = published_tables.rebuilt_table(number, numbers, findings, source)
        names.append(f"table_{number}.tex")
        (tmp_path / names[-1]).write_text(published_tables.as_latex(number, table), "utf-8")
    body = "".join(rf"\input{{{name}}}" for name in names)
    packages = r"\usepackage{booktabs}\usepackage{graphicx}"
    (tmp_path / "all.tex").write_text(rf"\documentclass{{article}}{packages}\begin{{document}}{body}\end{{document}}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
