"""A run's problems as a dataset: they come back byte for byte, and the card says what they are."""

import pytest
import yaml

from creativemath_utils.__main__ import main
from creativemath_utils.curate import DEMO, load_corpus, read_problems
from creativemath_utils.export import COLUMNS, DATA, export_corpus
from creativemath_utils.profile import Corpus, Profile, Select
from creativemath_utils.records import KitError, Problem
from creativemath_utils.rows import to_row
from creativemath_utils.store import RunPaths, dump_line, write_records

HOSTILE = "Suppose $a<b$ &lt; c | $\x0crac{m}{n}$,\r\n\u2028 \x00 <b>`_*"
ODD = [
    Problem("2030/1", "AMC_8", "2030", None, 1, 2, None, HOSTILE, (HOSTILE, "Two."), {"kind": "hub", "dataset": "a_b"}),
    Problem("2030/2", "Putnam", "2030", 2030, 2, 2.5, "Others", HOSTILE, ("x", "x"), {"z": [1, None], "a": {"b": "é"}}),
    Problem(
        *("2030/3", "IMO", "", 2030, 3, None, "Algebra", "c?", ("x", "y")),
        solution_headings=("Trig", ""),
        removed_solutions=({"heading": "Video", "reason": "link"},),
        warnings=("possible_credit",),
        shared_with=("2030 USAMO Problems/Problem 1",),
    ),
]
LEFT_OUT = [
    *({"file": f"{n}.html", "problem_id": None, "reason": "redirect", "detail": "", "where": "page"} for n in range(2)),
    {"file": "3.html", "problem_id": "p", "reason": "C1", "detail": "~ab", "where": "Solution 2"},
    {"problem_id": "p", "reason": "same_problem", "detail": ""},
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A profile whose run has been curated, in a root folder of its own."""
    monkeypatch.setattr(Profile, "paths", property(lambda self: RunPaths(self.run, tmp_path)))

    def curated(problems, left_out=(), source="pages", **settings):
        profile = Profile(run="my_run", corpus=Corpus(source=source), generators=["g"], judges=["j"], **settings)
        write_records(profile.paths.problems, problems)
        write_records(profile.paths.dropped, left_out)
        return profile

    return curated


def read_back(folder):
    corpus = Corpus(source="hub", path=str(folder))
    return load_corpus(Profile(run="r", corpus=corpus, generators=["g"], judges=["j"]))


@pytest.mark.parametrize("problems", [ODD, read_problems(DEMO)], ids=["odd", "demo"])
def test_the_same_problems_come_back_to_the_byte(run, tmp_path, problems):
    export_corpus(run(problems), tmp_path / "out")
    back, left_out = read_back(tmp_path / "out")
    assert [dump_line(to_row(p)) for p in back] == [dump_line(to_row(p)) for p in problems]
    assert left_out == []


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    paths = export_corpus(run(ODD, LEFT_OUT), tmp_path / "out")
    before = [path.read_bytes() for path in paths]
    assert export_corpus(run(ODD, LEFT_OUT), tmp_path / "out") == paths  # its own folder may be written again
    assert [path.read_bytes() for path in paths] == before


def test_datasets_reads_it_with_the_columns_that_the_card_names(run, tmp_path):
    datasets = pytest.importorskip("datasets")
    export_corpus(run(ODD), tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["test"] and loaded["test"].column_names == list(COLUMNS)
    assert loaded["test"]["statement"][0] == HOSTILE


def test_the_card(run, tmp_path):
    select = Select(per_competition=50, max_prompt_tokens=3000, seed=7)
    _, card = export_corpus(run(ODD, LEFT_OUT, select=select), tmp_path / "out")
    _, matter, text = card.read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(matter)
    assert about["license"] == "unknown" and "identifier there" in text
    assert about["configs"] == [
        {"config_name": "default", "data_files": [{"split": "test", "path": "data/test-*"}]},
    ]
    assert [f["name"] for f in about["dataset_info"]["features"]] == list(COLUMNS)
    assert about["dataset_info"]["splits"][0]["num_examples"] == 3
    assert about["dataset_info"]["download_size"] == (tmp_path / "out" / DATA).stat().st_size
    assert about["size_categories"] == ["n<1K"]
    assert "# my\\_run: problems" in text and "3 competition problems with 6 human solutions" in text
    flat = [" ".join(line.replace("|", " ").split()) for line in text.splitlines()]
    assert "competition Algebra Arithmetic Counting Geometry Number Theory Probability Others unknown all" in flat
    assert "IMO 1 0 0 0 0 0 0 0 1" in flat  # Algebra, and the sum
    assert "Putnam 0 1 1" in flat  # n = 1, n = 2, and the sum
    assert "a whole page `redirect` 2" in flat and "part of a problem `C1` 1" in flat
    assert "a problem or part of one `same_problem` 1" in flat
    assert "kind hub, dataset a\\_b 1" in flat and "not said 2" in flat
    assert "50 problems whose longest prompt stays within 3000 tokens were drawn at random (seed 7)" in text
    assert str(tmp_path) not in card.read_text("utf-8")


def test_nothing_left_out_is_said(run, tmp_path):
    _, card = export_corpus(run(ODD[:1]), tmp_path / "out")
    assert "## What was left out\n\nNothing.\n" in card.read_text("utf-8")


def test_a_folder_with_other_files_is_left_alone(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.md").write_text("mine")
    with pytest.raises(KitError, match="holds other files; name an empty folder"):
        export_corpus(run(ODD), tmp_path / "out")
    assert (tmp_path / "out" / "README.md").read_text() == "mine"


def test_a_text_that_parquet_cannot_hold_is_named(run, tmp_path):
    broken = Problem("p/1", "IMO", "p", None, 1, None, None, "a \ud800?", ("x",))
    with pytest.raises(KitError, match=r"^p/1: a text holds half of a surrogate pair"):
        export_corpus(run([broken]), tmp_path / "out")


@pytest.mark.parametrize("field", ["year", "number"])
def test_a_number_that_parquet_cannot_hold_is_named(run, tmp_path, field):
    numbers = {"year": None, "number": 1} | {field: 2**63}
    broken = Problem("p/1", "IMO", "p", difficulty=None, category=None, statement="a?", solutions=("x",), **numbers)
    with pytest.raises(KitError, match=f"^p/1: {field} 9223372036854775808 is too large for parquet; mend it"):
        export_corpus(run([broken]), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_without_problems_has_nothing_to_export(run, tmp_path):
    with pytest.raises(KitError, match=r"problems.jsonl holds no problem to export; correct the corpus and curate"):
        export_corpus(run([]), tmp_path / "out")


def test_a_file_is_no_folder(run, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(KitError, match="out is a file; name a folder"):
        export_corpus(run(ODD), tmp_path / "out")


def test_a_run_that_was_not_curated_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Profile, "paths", property(lambda self: RunPaths(self.run, tmp_path)))
    assert main(["export", "--profile", "demo"]) == 2
    assert "problems.jsonl is missing; run notebook 01 first" in capsys.readouterr().err


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Profile, "paths", property(lambda self: RunPaths(self.run, tmp_path)))
    write_records(RunPaths("demo", tmp_path).problems, ODD)
    write_records(RunPaths("demo", tmp_path).dropped, [])
    assert main(["export", "--profile", "demo", "--to", str(tmp_path / "there")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path}/there/{DATA}\nwrote {tmp_path}/there/README.md\n"
    assert main(["export", "--profile", "demo"]) == 0
    assert (tmp_path / "data" / "runs" / "demo" / "dataset" / "README.md").is_file()
