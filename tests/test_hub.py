"""Any dataset as a corpus: what columns are taken, which rows are one problem, and what is left out with its reason."""

import csv
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from creativemath_utils.corpus import hub
from creativemath_utils.corpus.columns import choose_columns, competition_name
from creativemath_utils.curate import load_corpus
from creativemath_utils.profile import Corpus, Profile, load_profile
from creativemath_utils.records import KitError, Problem
from creativemath_utils.rows import read_problem, to_row

HOSTILE = "Suppose $a<b$ &lt; c &amp; $\x0crac{m}{n}$,\r\n\u2028 <b>not</b> \x00 HTML"


def profile(path=None, offline=False, **corpus):
    corpus = Corpus(source="hub", path=None if path is None else str(path), **corpus)
    return Profile(run="r", corpus=corpus, generators=["g"], judges=["j"], offline=offline)


def load(path, **corpus):
    return load_corpus(profile(path, **corpus))


def jsonl(folder, *rows, name="sums.jsonl"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def reasons(left_out):
    return [row["reason"] for row in left_out]


# --- one problem, whatever the form -----------------------------------------------------------------------------------

ROW = {"statement": HOSTILE, "solutions": [HOSTILE + "!", "Two."], "problem_id": "2016-01-01", "year": 2016}


def as_parquet(folder):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list([ROW]).to_parquet(str(folder / "sums.parquet"))
    return folder / "sums.parquet"


def as_disk(folder):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list([ROW]).save_to_disk(str(folder / "sums"))
    return folder / "sums"


def as_disk_dict(folder):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list([ROW])
    datasets.DatasetDict({"test": rows, "train": rows}).save_to_disk(str(folder / "sums"))
    return folder / "sums"


def as_csv(folder, name="sums.csv", separator=","):
    with (folder / name).open("w", encoding="utf-8-sig", newline="") as file:
        rows = csv.DictWriter(file, ROW, delimiter=separator)
        rows.writeheader()
        rows.writerow(ROW | {"solutions": json.dumps(ROW["solutions"])})
    return folder / name


def as_json(folder, content):
    (folder / "sums.json").write_text(json.dumps(content, indent=1))
    return folder / "sums.json"


@pytest.mark.parametrize(
    "write",
    [
        as_parquet,
        as_disk,
        as_disk_dict,
        as_csv,
        lambda folder: as_csv(folder, "sums.tsv", "\t"),
        lambda folder: jsonl(folder, ROW),
        lambda folder: jsonl(folder, ROW, name="sums.json"),  # JSON Lines under another name
        lambda folder: as_json(folder, [ROW]),
        lambda folder: as_json(folder, {"version": 1, "data": [ROW]}),  # the only list in an object
        lambda folder: as_json(folder, ROW),  # one object, one row
        lambda folder: jsonl(folder, ROW, name="sums/train.jsonl").parent,
        lambda folder: jsonl(folder, ROW, name="sums/data/any.jsonl").parents[1],
    ],
    ids=[
        *("parquet", "disk", "disk-dict", "csv", "tsv", "jsonl", "json-lines", "json", "json-object", "one-object"),
        *("folder", "nested-folder"),
    ],
)
def test_a_text_comes_back_byte_for_byte_from_every_form(tmp_path, write):
    (problem,), left_out = load(write(tmp_path))
    assert (problem.statement, problem.solutions) == (HOSTILE, tuple(ROW["solutions"]))
    assert problem.problem_id == "2016-01-01"  # a text, not a date
    assert (problem.competition, problem.competition_id, problem.year) == ("sums", "2016_sums", 2016)
    assert (problem.number, problem.difficulty, problem.category) == (1, None, None)
    assert (problem.source["kind"], problem.source["dataset"].partition(".")[0]) == ("hub", "sums")
    assert str(tmp_path) not in json.dumps(to_row(problem))  # the same on every machine
    assert left_out == []
    assert read_problem(json.loads(json.dumps(to_row(problem))), "x:1") == problem


def test_a_cell_of_a_csv_file_is_a_text(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text('problem_id,statement,solution,year,difficulty\n0012,"1, or 2?",NA,2016,2.0\n\n0013,b?,5,,\n')
    first, second = load(file)[0]
    assert (first.problem_id, first.number, first.solutions) == ("2016_x/0012", 12, ("NA",))  # NA is no missing value
    assert (first.year, first.difficulty, str(first.difficulty)) == (2016, 2, "2")
    assert (second.problem_id, second.solutions, second.year, second.difficulty) == ("x/0013", ("5",), None, None)
    assert second.source["row"] == "x.csv:4"  # the empty line counts


def test_the_published_form_gives_the_ids_of_the_published_subset(tmp_path):
    item = {
        "competition": "IMO",
        "competition_id": "2030_IMO_Problems",
        "problem_id": 4,
        "difficulty": 6.5,
        "problem": "Suppose $x<y$.",
        "solutions": {"10": "last", "1": "first", "2": "second"},
    }
    (problem,), _ = load(as_json(tmp_path, [item]))
    assert (problem.problem_id, problem.year, problem.number) == ("2030_IMO_Problems/4", 2030, 4)
    assert problem.solutions == ("first", "second", "last")  # by number, not as text


def test_numbers_without_a_text_in_a_struct_are_no_solutions(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = [{"problem": "a?", "solutions": {"1": "x", "2": None}}, {"problem": "b?", "solutions": {"1": "y", "2": "z"}}]
    datasets.Dataset.from_list(rows).to_parquet(str(tmp_path / "x.parquet"))
    problems, left_out = load(tmp_path / "x.parquet")
    assert [p.solutions for p in problems] == [("x",), ("y", "z")]
    assert left_out == []


def test_class_labels_are_named(tmp_path):
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["Algebra", "Geometry"])
    features = datasets.Features({"problem": datasets.Value("string"), "solution": datasets.Value("string")})
    rows = [{"problem": "a?", "solution": "x", "category": 1}, {"problem": "b?", "solution": "y", "category": None}]
    made = datasets.Dataset.from_list(rows, features=datasets.Features(features | {"category": names}))
    made.to_parquet(str(tmp_path / "x.parquet"))
    assert [p.category for p in load(tmp_path / "x.parquet")[0]] == ["Geometry", None]


# --- columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "there, said",
    [
        (["problem", "solution"], "statement from problem, solution from solution"),
        (["ID", "Problem", "Solution", "Answer"], "statement from Problem, solution from Solution, problem_id from ID"),
        (["question", "answer"], "statement from question, solution from answer"),
        (["question", "answer", "solution"], "statement from question, solution from solution"),
        (["problem", "solution", "solutions"], "statement from problem, solutions from solutions"),  # the list wins
        (["statement", "problem", "proof"], "statement from statement, solution from proof"),  # a field's own name wins
        (
            ["Problem-ID", "problem", "solution"],
            "statement from problem, solution from solution, problem_id from Problem-ID",
        ),
    ],
)
def test_usual_columns_are_taken(there, said):
    assert choose_columns(None, there).said == said


def test_columns_that_are_given_win():
    there = ["problem", "solution", "solutions", "id", "text"]
    columns = choose_columns({"solution": "text", "problem_id": "=", "competition": "=Amc 8"}, there)
    assert columns.said == "statement from problem, solution from text, competition = Amc 8"  # `=` takes no column


@pytest.mark.parametrize(
    "given, said",
    [
        (
            {"solution": "soluton"},
            "solution: the dataset has no column 'soluton'; did you mean 'solution'? (it has pro",
        ),
        ({"solutoin": "a"}, "solutoin: no field of a problem; did you mean 'solution'?"),
        ({"statement": "=1 + 1?"}, "statement: '=1 + 1?' is a constant, which only competition, competition_id, year"),
        ({"solution": "solution", "solutions": "problem"}, "give solution (one a row) or solutions (a list), not both"),
    ],
)
def test_a_wrong_column_is_named(given, said):
    with pytest.raises(KitError) as caught:
        choose_columns(given, ["problem", "solution"])
    assert str(caught.value).removeprefix("corpus: columns: ").startswith(said)


@pytest.mark.parametrize(
    "there, said",
    [
        (
            ["text", "solution"],
            "no column statement, problem, question or problem_statement; it has text, solution: say",
        ),
        (
            ["problem", "text"],
            "no column solutions, solution, proof or answer; it has problem, text: say which one it is",
        ),
    ],
)
def test_a_column_that_nothing_can_do_without_is_asked_for(there, said):
    with pytest.raises(KitError, match=r"columns: \{") as caught:
        choose_columns(None, there)
    assert said in str(caught.value)


def test_the_sign_that_takes_no_column_needs_quotes(tmp_path):
    (tmp_path / "x.yaml").write_text("run: r\ncorpus: {source: hub, path: x, columns: {problem_id: =}}\n")
    with pytest.raises(KitError, match=r"x.yaml:2: not readable as YAML \(a lone = needs quotes\); mend that line"):
        load_profile(tmp_path / "x.yaml")


def test_it_is_said_what_was_taken(tmp_path, capsys):
    load(jsonl(tmp_path, {"question": "a?", "answer": "x"}), columns={"competition": "=Amc 8"})
    printed = capsys.readouterr().out
    assert printed == "sums.jsonl: statement from question, solution from answer, competition = Amc 8\n"


@pytest.mark.parametrize(
    "value, name",
    [
        ("AMC8", "AMC_8"),
        ("amc 10", "AMC_10"),
        ("HMMT February", "HMMT_February"),
        ("Olympiad (juniors)", "Olympiad_juniors"),
        ("AMC 10A", "AMC_10A"),  # another one, not to be guessed at
        ("Baltic Way – Estónia", "Baltic_Way_Estonia"),
        ("高考", None),
        (7, None),
    ],
)
def test_competitions_are_named_as_files_name_them(value, name):
    assert competition_name(value) == name


def test_rows_without_a_competition_are_of_the_dataset(tmp_path):
    folder = jsonl(tmp_path, {"problem": "a?", "solution": "x"}, name="AIME 2.5/train.jsonl").parent
    (problem,), _ = load(folder)
    assert (problem.competition, problem.problem_id) == ("AIME_2.5", "AIME_2.5/1")


def test_values_that_cannot_be_read_are_left_empty_and_counted(tmp_path):
    row = {"problem": "a?", "solution": "x", "year": "MMXVI", "number": 1.5, "difficulty": "Level 5"}
    rows = [row | {"category": "Precalculus"}, row | {"problem": "b?", "category": "number theory"}]
    (first, second), left_out = load(jsonl(tmp_path, *rows))
    assert (first.year, first.number, first.difficulty, first.category) == (None, 1, None, None)
    assert (second.number, second.category) == (2, "Number Theory")
    assert {(row["reason"], row["where"], row["detail"].rpartition("; ")[2]) for row in left_out} == {
        ("unread_year", "value", "left empty in 2 rows"),
        ("unread_number", "value", "left empty in 2 rows"),
        ("unread_difficulty", "value", "left empty in 2 rows"),
        ("unread_category", "value", "left empty in 1 row"),
    }
    assert "'Precalculus' in category is no category (one of Algebra, Arithmetic, Co" in left_out[-1]["detail"]


@pytest.mark.parametrize(
    "row, year, difficulty, number",
    [
        ({"year": "2016.0", "difficulty": "2.0", "number": "3."}, 2016, 2, 3),  # as pandas writes them beside nulls
        ({"year": 20160, "difficulty": 1500, "number": 10**30}, None, None, 1),  # no year; a scale of its own; no int64
        ({"year": 0, "difficulty": 0.5, "number": -2}, None, None, -2),
        ({"year": True, "difficulty": True, "number": 2.5}, None, None, 1),
    ],
)
def test_numbers_are_read_where_they_can_be_meant(tmp_path, row, year, difficulty, number):
    (problem,), _ = load(jsonl(tmp_path, {"problem": "a?", "solution": "x"} | row))
    assert (problem.year, problem.difficulty, problem.number) == (year, difficulty, number)


def test_a_competition_that_cannot_be_a_name_is_of_the_dataset(tmp_path):
    (problem,), (row,) = load(jsonl(tmp_path, {"problem": "a?", "solution": "x", "competition": "高考"}))
    assert problem.competition == "sums" and row["detail"].endswith("(letters and digits); sums stands there in 1 row")


# --- which rows are one problem ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([("p", "a?", "1"), ("q", "b?", "2"), ("p", "a?", "3")], {"p": "13", "q": "2"}),  # by id, order of rows kept
        ([("p", "a?", "1"), ("p", None, "2"), ("p", "", "3")], {"p": "123"}),  # the first row holds the statement
        ([("p", "a ?", "1"), ("p", "a  ?\n", "2")], {"p": "12"}),  # white space does not count
        (
            [(None, "a?", "1"), (None, "b?", "2"), (None, "a?", "3")],  # by statement
            {"sums/row_1": "13", "sums/row_2": "2"},
        ),
        ([(2, "a?", "1"), (None, "b?", "2"), (3, "c?", "3")], {"sums/2": "1", "sums/row_2": "2", "sums/3": "3"}),
        ([(None, "a?", "1"), (1, "b?", "2")], {"sums/row_1": "1", "sums/1": "2"}),  # a row's number is no other's id
        ([(3, "a?", "1"), (4, "b?", "2"), (3, "a?", "3")], {"sums/3": "13", "sums/4": "2"}),  # ids count in the contest
        ([(3.0, "a?", "1")], {"sums/3": "1"}),  # as in a column that also holds nulls
        ([("p", "a?", "1"), (None, "a?", "2")], {"p": "12"}),
    ],
)
def test_rows_are_grouped_by_problem(tmp_path, rows, expected):
    file = jsonl(tmp_path, *({"id": i, "problem": statement, "solution": text} for i, statement, text in rows))
    problems, left_out = load(file)
    assert {p.problem_id: "".join(p.solutions) for p in problems} == expected
    assert left_out == []


def test_the_same_statement_under_two_ids_is_one_problem_that_names_both(tmp_path):
    rows = [("A/4", "a?", "1"), ("B/3", "a ?", "1"), ("B/3", "a ?", "2"), ("A/4", "a?", "3")]
    file = jsonl(tmp_path, *({"id": i, "problem": statement, "solution": text} for i, statement, text in rows))
    (problem,), left_out = load(file)
    assert (problem.problem_id, problem.shared_with, problem.solutions) == ("A/4", ("B/3",), ("1", "2", "3"))
    assert [(row["row"], row["problem_id"], row["reason"]) for row in left_out] == [
        ("sums.jsonl:2", "B/3", "duplicate_problem"),
        ("sums.jsonl:2", "A/4", "duplicate_solution"),
    ]


def test_ids_that_start_again_in_each_contest_are_told_apart(tmp_path):
    row = {"id": 1, "solution": "x", "competition": "AMC8"}
    rows = [row | {"problem": "a?", "year": 2015}, row | {"problem": "b?", "year": 2016}]
    problems, left_out = load(jsonl(tmp_path, *rows))
    assert [(p.problem_id, p.competition) for p in problems] == [("2015_AMC_8/1", "AMC_8"), ("2016_AMC_8/1", "AMC_8")]
    assert left_out == []


GOOD = {"id": "p", "problem": "a?", "solutions": ["x"]}


@pytest.mark.parametrize(
    "row, reason, detail",
    [
        ({"id": "q", "problem": " \n"}, "no_statement", "the statement is empty"),
        ({"id": "q", "problem": 5}, "statement_not_text", "the statement is a number, no text: '5'"),
        ({"id": "q", "problem": "b?"}, "no_solution", "no row gives one"),
        ({"id": "q", "problem": "b?", "solutions": []}, "no_solution", "no row gives one"),
        ({"id": "p", "problem": "c?"}, "other_statement", "sums.jsonl:1 has the same id and another statement"),
        (GOOD | {"solutions": ["y", ""]}, "empty_solution", "solution 2 of 2"),
        (GOOD | {"solutions": ["y", None]}, "empty_solution", "solution 2 of 2"),
        (GOOD | {"solutions": ["y", 41]}, "solution_not_text", "solution 2 of 2 is a number, no text: '41'"),
        (GOOD | {"solutions": ["y", {"text": "z"}]}, "solution_not_text", "solution 2 of 2 is an object, no text"),
        (GOOD | {"solutions": ["y", "x"]}, "duplicate_solution", "solution 2 of 2 stands already"),
        (GOOD | {"solutions": ["y", " x\n"]}, "duplicate_solution", "solution 2 of 2 stands already"),
        (GOOD | {"solutions": "one text"}, "solutions_not_a_list", "a text that is no list in JSON; if it is one sol"),
        (GOOD | {"solutions": "['x', 'y']"}, "solutions_not_a_list", "a printed list or object that is no JSON; save"),
        (GOOD | {"solutions": "['x' 'y']"}, "solutions_not_a_list", "a printed list or object"),  # numpy's: two texts
        (GOOD | {"solutions": "[{'solution': 'x'}]"}, "solutions_not_a_list", "a printed list or object"),
        ({"id": "q", "problem": "['b?']"}, "statement_not_text", "the statement is a printed list or object, no text"),
        (GOOD | {"solutions": {"by": "me"}}, "solutions_not_a_list", "an object with the keys by, no numbers"),
    ],
)
def test_what_gives_nothing_is_left_out_with_its_reason(tmp_path, row, reason, detail):
    problems, left_out = load(jsonl(tmp_path, GOOD, row))
    assert [p.problem_id for p in problems] == ["p"]
    found = next(row for row in left_out if row["reason"] == reason)
    assert found["row"] == "sums.jsonl:2" and found["detail"].startswith(detail)


@pytest.mark.parametrize(
    "text, solutions",
    [
        ('["By hand.", "By sums."]', ("By hand.", "By sums.")),  # as OlympiadBench has them in a csv file
        ('{"2": "By sums.", "1": "By hand."}', ("By hand.", "By sums.")),
        ("['By hand.', 'By sums.']", None),  # two solutions that nobody may take for one
        ("['By hand.' None]", None),
        ("[0, 1] is where it is least.", ("[0, 1] is where it is least.",)),
        ("[1, 2]", ("[1, 2]",)),  # an interval is an answer
        ("{\\bf By hand} $\\{1\\}$}", ("{\\bf By hand} $\\{1\\}$}",)),
        ('"Yes", she said.', ('"Yes", she said.',)),
    ],
)
def test_a_list_in_a_column_of_one_solution_is_no_solution(tmp_path, text, solutions):
    problems, left_out = load(jsonl(tmp_path, {"problem": "a?", "solution": text}, {"problem": "b?", "solution": "x"}))
    assert problems[0].solutions == (solutions or ("x",))
    assert ("solutions_not_a_list" in reasons(left_out)) is (solutions is None)


def test_a_dataset_without_a_problem_says_why(tmp_path):
    file = jsonl(tmp_path, {"problem": "a?", "answer": 41}, {"problem": "b?", "answer": 42})
    with pytest.raises(KitError) as caught:
        load(file)
    assert str(caught.value) == (
        "corpus: sums.jsonl gives no problem (solution_not_text 2, no_solution 2); the first is sums.jsonl:1: "
        "solution 1 of 1 is a number, no text: '41'; mend the data, or name other `columns:`"
    )


# --- files, folders and names that cannot be read ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("x.jsonl", b'{"problem": "a?"}\n{"prob\n', "x.jsonl:2: not readable as JSON"),
        ("x.jsonl", b"[1]\n", "x.jsonl:1: expected a JSON object with columns and values, found list"),
        ("x.jsonl", b"", "x.jsonl holds no row"),
        ("x.json", b'["a", "b"]', "x.json:1: expected a JSON object with columns and values, found str"),
        ("x.json", b'{"a": [{}], "b": [{}]}', "x.json holds the lists 'a', 'b'; save the one that is wanted as a file"),
        ("x.json", b'{"7": {"problem": "a?"}, "8": {}}', "x.json has rows or columns by name; make it a list of obj"),
        ("x.json", b'{"problem": ["a?"], "solution": ["x"]}', "x.json has rows or columns by name"),
        ("x.json", b"null", "x.json: expected a list of objects"),
        ("x.json", b"[" * 10**5, "x.json: not readable as JSON (maximum recursion depth exceeded"),
        ("x.jsonl", b"[" * 10**5, "x.jsonl: a value holds too many others in one another"),
        ("x.json", b"[" + b"9" * 5000 + b"]", "x.json: not readable as JSON (Exceeds the limit (4300 digits)"),
        ("x.jsonl", '{"problem": "a?"}'.encode("utf-16"), "x.jsonl is UTF-16, as Excel's Unicode text is; save it as"),
        ("x.csv", "a,b".encode("utf-16"), "x.csv is UTF-16"),
        ("x.csv", b"problem;solution\na;x\n", "x.csv:1: the columns are set apart by semicolons, not by commas; save"),
        ("x.csv", b"problem\tsolution\na\tx\n", "x.csv:1: the columns are set apart by tabs, not by commas"),
        ("x.tsv", b"problem,solution\na,x\n", "x.tsv:1: the columns are set apart by commas, not by tabs"),
        ("x.csv.gz", b"nope", "x.csv.gz is compressed; unpack it and run again"),
        (
            "[x].parquet",
            b"nope",
            "[x].parquet: `datasets` takes *, ?, [ and ] in a path for a pattern; give it another",
        ),
        ("x.json", b'[{"a": 1},\n}', "x.json:2: not readable as JSON"),
        ("x.csv", b"a,b\n1,2\n\n1,2,3\n", "x.csv:4: 3 cells, the header has 2; mend that line"),
        ("x.csv", b"a,a\n1,2\n", "x.csv:1: column 'a' stands twice in the header"),
        ("x.csv", b'a,b\n1,"2\n', "x.csv:2: not readable as csv"),
        ("x.csv", b"a,b\n1,\xe9\n", "x.csv: byte 6 is not UTF-8; save the file as UTF-8"),
        ("x.parquet", b"nope", "x.parquet cannot be read (Parquet file size is 4 bytes"),
        ("x.xlsx", b"nope", "x.xlsx: a dataset is one of .jsonl, .ndjson, .json, .csv, .tsv, .parquet, or a folder"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_the_place(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(KitError) as caught:
        load(tmp_path / name)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_table_without_rows_gives_no_problem(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"problem": [], "solution": []}, dtype="str").to_parquet(tmp_path / "x.parquet")
    with pytest.raises(KitError, match=r"x.parquet gives no problem \(it has no row\); mend the data"):
        load(tmp_path / "x.parquet")


def test_a_message_lists_no_thousand_columns():
    with pytest.raises(KitError, match=r"it has c0, .*, c19 and 980 more: say which one it is"):
        choose_columns(None, [f"c{n}" for n in range(1000)])
    with pytest.raises(KitError, match=r"no column 'wrong'; correct it \(it has c0, .*, c19 and 980 more\)"):
        choose_columns({"statement": "wrong"}, [f"c{n}" for n in range(1000)])


def test_what_a_folder_holds_besides_is_said(tmp_path, capsys):
    jsonl(tmp_path, {"problem": "a?", "solution": "x"}, name="sums/a.jsonl")
    for name in ("b.csv", "README.md", "meta.json"):
        (tmp_path / "sums" / name).write_text("{}" if name == "meta.json" else "")
    problems, _ = load(tmp_path / "sums")
    assert [p.statement for p in problems] == ["a?"]
    assert "sums: not read: b.csv; to read one, give it as `path`\n" in capsys.readouterr().out


def test_a_folder_may_be_named_in_a_roundabout_way(tmp_path, capsys):
    jsonl(tmp_path, {"problem": "a?", "solution": "x"}, name="sums/data/train.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "sums")
    for path, name in ((tmp_path / "sums" / "data" / "..", "sums"), (tmp_path / "link", "link")):
        (problem,), _ = load(path)
        assert problem.problem_id == f"{name}/1"
    assert "not read" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "files, said",
    [
        ({"a.jsonl.gz": b""}, "a.jsonl.gz is compressed; unpack it and run again"),  # else 2016-01-01 is a date there
        ({"a.jsonl": b"{}", "README.md": b"---\nx: [\n---\n"}, "the front matter of sums/README.md cannot be read (wh"),
    ],
)
def test_a_folder_that_cannot_be_read_is_named_with_the_remedy(tmp_path, files, said):
    (tmp_path / "sums").mkdir()
    for name, content in files.items():
        (tmp_path / "sums" / name).write_bytes(content)
    with pytest.raises(KitError) as caught:
        load(tmp_path / "sums")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_differ_in_their_columns_are_said(tmp_path):
    datasets = pytest.importorskip("datasets")
    (tmp_path / "sums").mkdir()
    for name, row in (("a", {"problem": "a?", "solution": "x"}), ("b", {"question": "b?", "answer": "y"})):
        datasets.Dataset.from_list([row]).to_parquet(str(tmp_path / "sums" / f"{name}.parquet"))
    with pytest.raises(
        KitError, match="the files of sums differ in their columns or types; give one of them as `path`"
    ):
        load(tmp_path / "sums")


def test_the_split_is_the_one_asked_for_the_only_one_or_train(tmp_path):
    for part in ("train", "test"):
        jsonl(tmp_path, {"problem": f"{part}?", "solution": "x"}, name=f"sums/{part}.jsonl")
    assert [p.statement for p in load(tmp_path / "sums")[0]] == ["train?"]
    assert [p.statement for p in load(tmp_path / "sums", split="test")[0]] == ["test?"]
    with pytest.raises(KitError, match="split: sums has no 'tset'; did you mean 'test'"):
        load(tmp_path / "sums", split="tset")
    (tmp_path / "sums" / "train.jsonl").rename(tmp_path / "sums" / "validation.jsonl")
    with pytest.raises(KitError, match="sums has the parts validation, test; name one of them as `split`"):
        load(tmp_path / "sums")


def test_one_of_several_configurations_is_named(tmp_path):
    for part in ("main", "socratic"):
        jsonl(tmp_path, {"problem": f"{part}?", "solution": "x"}, name=f"sums/{part}/a.jsonl")
    configs = "\n".join(f"- config_name: {part}\n  data_files: {part}/a.jsonl" for part in ("main", "socratic"))
    (tmp_path / "sums" / "README.md").write_text(f"---\nconfigs:\n{configs}\n---\n")
    with pytest.raises(KitError, match="sums has the configurations main, socratic; name one, `path: sums:main`"):
        load(tmp_path / "sums")
    (problem,), _ = load(f"{tmp_path / 'sums'}:socratic")
    assert (problem.statement, problem.source["config"]) == ("socratic?", "socratic")


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda folder: (folder / "README.md").write_text("x"), "sums holds no file that datasets reads (.jsonl"),
        (
            lambda folder: (folder / "sums.py").write_text("x"),
            "sums holds a script, which is not run; save its data as",
        ),
    ],
)
def test_a_folder_without_data_says_so(tmp_path, make, said):
    (tmp_path / "sums").mkdir()
    make(tmp_path / "sums")
    with pytest.raises(KitError) as caught:
        load(tmp_path / "sums")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "path, corpus, said",
    [
        ("no/such/place", {}, "corpus: path: there is no file or folder no/such/place"),
        (
            "sums.jsonl",
            {},
            "corpus: path: there is no file or folder sums.jsonl",
        ),  # a file's name is not asked of the hub
        (
            "someone/sums",
            {"offline": True},
            "corpus: offline: true, and someone/sums is not in the cache of datasets; run",
        ),
        (
            "data/demo/problems.jsonl",
            {"revision": "v1"},
            "corpus: revision: data/demo/problems.jsonl lies here and has n",
        ),
        ("C:\\data\\sums.csv", {}, "corpus: path: there is no file or folder C:\\data\\sums.csv; correct it"),
        (
            "https://huggingface.co/datasets/someone/sums/viewer",
            {},
            "corpus: path: https://huggingface.co/datasets/someone/sums/viewer is an address; give the name alone, "
            "someone/sums",
        ),
        ("data/demo/problems.jsonl", {"split": "test"}, "corpus: data/demo/problems.jsonl is one file, without parts"),
    ],
)
def test_a_dataset_that_is_not_there_is_named_with_the_remedy(path, corpus, said):
    with pytest.raises(KitError) as caught:
        load_corpus(profile(path, **corpus))
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_a_plan_downloads_nothing():
    with pytest.raises(KitError, match="someone/sums is not downloaded yet; notebook 01 does that"):
        load_corpus(profile("someone/sums"), download=False)


def test_the_kits_own_problems_are_read_as_they_are(tmp_path):
    one = Problem("A/4", "Putnam", "A", None, 4, 2.5, None, HOSTILE, ("x", "x"), {"kind": "pages", "file": "a.html"})
    two = Problem("B/3", "Putnam", "B", 2030, 3, 2, "Algebra", HOSTILE, ("x",), {}, ("Trig",), ({"reason": "z"},))
    problems, left_out = load(jsonl(tmp_path, to_row(one), to_row(two)))
    assert problems == [one, two] and left_out == []  # nothing is united or taken off
    with pytest.raises(KitError, match="problem_id 'A/4' stands twice"):
        load(jsonl(tmp_path, to_row(one), to_row(one)))


def test_datasets_is_quiet_and_tells_nobody():
    from huggingface_hub import constants

    datasets = hub.quiet_datasets()
    assert constants.HF_HUB_DISABLE_TELEMETRY and not datasets.config.HF_UPDATE_DOWNLOAD_COUNTS


# --- the hub itself, played by a server on this machine ---------------------------------------------------------------

COMMIT = "a" * 40
ROWS = b'{"problem": "a<b &lt; c?", "solution": "x"}\n'


class Hub(BaseHTTPRequestHandler):
    """What `datasets` asks of the hub about x/sums (one file), x/script (a script) and x/gated; the rest is unknown."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.asked.append((self.command, path))
        if "x/sums" not in path and "x/script" not in path:
            return self.reply(401, error="GatedRepo" if "x/gated" in path else "RepoNotFound")
        if path.endswith(("/train.jsonl", "/script.py")):
            return self.reply(200, ROWS)
        if "/resolve/" in path:
            return self.reply(404, error="RevisionNotFound" if "/v9/" in path else "EntryNotFound")
        if "/tree/" in path:
            return self.reply(200, [{"path": "train.jsonl", "type": "file", "size": len(ROWS), "oid": "b" * 40}])
        return self.reply(200, {"id": "x/sums", "sha": COMMIT, "siblings": [{"rfilename": "train.jsonl"}]})

    do_HEAD = do_POST = do_GET

    def reply(self, code, content=b"", error=None):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(code)
        headers = {"Content-Length": len(body), "X-Repo-Commit": COMMIT, "ETag": '"0"', "X-Error-Code": error}
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *about):
        """Nothing to the terminal."""


ASK = """
import json, sys
from creativemath_utils.curate import load_corpus
from creativemath_utils.profile import Corpus, Profile
from creativemath_utils.records import KitError
for line in sys.stdin:
    about = json.loads(line)
    offline = about.pop("offline", False)
    run = Profile(run="r", corpus=Corpus(source="hub", **about), generators=["g"], judges=["j"], offline=offline)
    try:
        (problem,), _ = load_corpus(run)
        print(json.dumps([problem.statement, problem.source["revision"]]))
    except KitError as error:
        print(json.dumps(str(error)))
"""


def test_the_hub_is_asked_once_and_then_the_cache(tmp_path):
    cases = [
        (
            {"path": "x/sums", "offline": True},
            "corpus: offline: true, and x/sums is not in the cache of datasets; run on",
        ),
        ({"path": "x/sums"}, ["a<b &lt; c?", COMMIT]),
        ({"path": "x/sums", "offline": True}, ["a<b &lt; c?", COMMIT]),
        ({"path": "x/sums", "offline": True, "revision": COMMIT}, ["a<b &lt; c?", COMMIT]),
        ({"path": "x/sums", "revision": "v9"}, "corpus: x/sums has no revision v9; correct it"),
        (
            {"path": "x/sums", "offline": True, "revision": "v1"},
            f"corpus: revision: v1 of x/sums cannot be had from the hub now, and the copy in the cache is of {COMMIT}",
        ),
        (
            {"path": "x/script"},
            "corpus: x/script is a script, which is not run; try `revision: refs/convert/parquet`, or",
        ),
        (
            {"path": "x/gated"},
            "corpus: x/gated is gated: ask for access at https://huggingface.co/datasets/x/gated, and",
        ),
        (
            {"path": "x/none"},
            "corpus: the hub has no dataset x/none, or a private one; correct the name, or set HF_TOKEN",
        ),
        ({"path": "x/sums", "split": "test"}, "corpus: split: x/sums has no 'test'; known: train"),
    ]
    hidden = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING_FACE"))}
    lines = "".join(json.dumps(about) + "\n" for about, _ in cases)
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        place = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(command, input=lines, env=hidden | place, capture_output=True, text=True, check=True)
        server.shutdown()
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("[", '"'))]
    for found, (about, expected) in zip(said, cases, strict=True):
        assert found == expected if isinstance(expected, list) else found.startswith(expected), about
    assert done.stderr == ""  # no bars, no warnings
    assert {method for method, _ in server.asked} <= {"GET", "HEAD"}  # nothing is reported
    assert len([path for method, path in server.asked if (method, path[-11:]) == ("GET", "train.jsonl")]) == 1
