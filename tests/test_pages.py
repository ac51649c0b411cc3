"""A folder of saved pages: every file ends as a problem or a row, and what one page cannot know. Rules 3.2, D5, D6."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from creativemath_utils.aops import REASONS
from creativemath_utils.pages import page_log, read_pages, reason_counts
from creativemath_utils.records import KitError
from creativemath_utils.rows import read_problem
from creativemath_utils.store import write_records

OWN = Path(__file__).resolve().parent / "pages"


def wiki(statement="Find it.", solutions=("Count.",)):
    return f"== Problem ==\n{statement}\n" + "".join(f"== Solution {n} ==\n{s}\n" for n, s in enumerate(solutions, 1))


def api(title, revision, text):
    page = {"title": title, "revisions": [{"revid": revision, "*": text}]}
    return json.dumps({"query": {"pages": {"1": page}}})


def folder_of(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def drops(rows):
    return {row["file"]: row["reason"] for row in rows if row["where"] == "page"}


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own") / "pages"
    shutil.copytree(OWN, folder, ignore=shutil.ignore_patterns("expected.json"))
    return folder, *read_pages(folder)


def test_every_file_is_kept_or_dropped(own):  # P1, 3.2
    folder, problems, rows = own
    log = page_log(problems, rows)
    assert [row["file"] for row in log] == sorted(path.name for path in folder.iterdir())
    assert len(log) == len(problems) + sum(reason_counts(rows).values())
    assert {row["status"] for row in log} == {"keep", "drop"}


def test_our_folder(own):
    _, problems, rows = own
    assert [problem.problem_id for problem in problems] == [
        "2064_AMC_10B_Problems/8",  # AMC 10 before AMC 12, before IMO
        "2068_Fall_AMC_12B_Problems/16",
        "2065_IMO_Problems/1",
    ]
    assert drops(rows)["older_copy.html"] == "duplicate_page"  # D5: revision 11 of 12
    assert drops(rows)["2064_AMC_12B_Problems_Problem_5.wikitext"] == "duplicate_problem"  # D6
    (row,) = [row for row in rows if row["reason"] == "duplicate_problem"]
    assert row["detail"] == "as 2064_AMC_10B_Problems/8; 1 of its solutions are not there"
    assert set(drops(rows).values()) <= set(REASONS)


def test_every_removed_line_is_in_the_log(own):  # P1
    rows = [(row["where"], row["reason"], row["detail"]) for row in own[2] if row["file"].startswith("2064_AMC_10B")]
    assert [row for row in rows if row[0].startswith("Solution")] == [
        ("Solution 1", "C4", "~hive_mind"),
        ("Solution 2", "C8", "Feel free to edit."),
    ]
    assert ("Motivation", "S7", "Bees.") in rows and any(rule == "R8" for _, rule, _ in rows)


def test_rows_are_those_of_the_contract(own, tmp_path):
    _, problems, rows = own
    assert all({"file", "problem_id", "reason", "detail", "where"} <= set(row) for row in rows)
    write_records(tmp_path / "dropped.jsonl", rows)
    write_records(tmp_path / "problems.jsonl", problems)
    lines = (tmp_path / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    assert [read_problem(json.loads(line), "x") for line in lines] == problems


def test_the_same_with_two_processes(own):
    folder, problems, rows = own
    assert read_pages(folder, processes=2) == (problems, rows)


@pytest.mark.parametrize(
    "files, kept, dropped",
    [
        (  # the newer revision
            {
                "a.json": api("2041 IMO Problems/Problem 1", 5, wiki("A.")),
                "b.json": api("2041 IMO Problems/Problem 1", 6, wiki("B.")),
            },
            ["B."],
            {"a.json": "duplicate_page"},
        ),
        (  # no revision to compare: the first by name
            {
                "2041_IMO_Problems_Problem_1.txt": wiki("A."),
                "z.json": api("2041 IMO Problems/Problem 1", 6, wiki("B.")),
            },
            ["A."],
            {"z.json": "duplicate_page"},
        ),
        (  # it stays the page of its title though it is dropped itself
            {
                "a.json": api("2041 IMO Problems/Problem 1", 6, wiki("<asy>x</asy>")),
                "b.json": api("2041 IMO Problems/Problem 1", 5, wiki()),
            },
            [],
            {"a.json": "diagram_in_problem", "b.json": "duplicate_page"},
        ),
        (  # a redirect is no second copy of its title
            {"2041_IMO_Problems_Problem_1.txt": wiki(), "x/2041_IMO_Problems_Problem_1.txt": "#REDIRECT [[X]]"},
            ["Find it."],
            {"x/2041_IMO_Problems_Problem_1.txt": "redirect"},
        ),
        (  # an alias of 2020 is the same title
            {"2041_USAMO_Problems_Problem_1.txt": wiki(), "2041_USOMO_Problems_Problem_1.txt": wiki()},
            ["Find it."],
            {"2041_USOMO_Problems_Problem_1.txt": "duplicate_page"},
        ),
    ],
)
def test_the_same_page_twice(tmp_path, files, kept, dropped):  # D5
    problems, rows = read_pages(folder_of(tmp_path, files))
    assert ([problem.statement for problem in problems], drops(rows)) == (kept, dropped)


SAME = {
    "2040_USAMO_Problems_Problem_1.txt": wiki("Find  it."),
    "2041_USAJMO_Problems_Problem_2.txt": wiki("Find\nit.", ["Count.", "Add."]),
    "2042_IMO_Problems_Problem_3.txt": wiki("Find it", ["Sum."]),  # another text: no full stop
}


def test_the_same_problem_in_two_contests(tmp_path):  # D6
    problems, rows = read_pages(folder_of(tmp_path, SAME))
    assert [(p.competition, p.shared_with) for p in problems] == [
        ("USAJMO", ("2040 USAMO Problems/Problem 1",)),  # before USAMO, whatever the year
        ("IMO", ()),
    ]
    assert [row["detail"] for row in rows if row["where"] == "page"] == ["as 2041_USAJMO_Problems/2"]  # nothing is lost


@pytest.mark.parametrize(
    "one, other, same",
    [
        (r"\textbf{(A)}\ 7\qquad\textbf{(B)}\ 8", r"\text{(A) }7 \quad \text{(B) }8", True),
        (r"(\mathrm{A})\, 7", r"\mbox{(A)} 7", True),
        (r"\textbf{(A)}\ 7", r"\textbf{(B)}\ 7", False),  # another choice
        (r"\textbf{(A)}\ 7", r"\textbf{(A)}\ 9", False),
    ],
)
def test_choices_in_another_face_are_the_same(tmp_path, one, other, same):  # D6
    find = "Find it.\n\n<math>{}</math>"
    files = {
        "2041_AMC_10B_Problems_Problem_4.txt": wiki(find.format(one), ["Count.", "Add."]),
        "2041_AMC_12B_Problems_Problem_3.txt": wiki(find.format(other), ["Sum."]),
    }
    problems, rows = read_pages(folder_of(tmp_path, files))
    assert [problem.competition for problem in problems] == (["AMC_10"] if same else ["AMC_10", "AMC_12"])
    assert [row["detail"] for row in rows if row["where"] == "page"] == (
        ["as 2041_AMC_10B_Problems/4; 1 of its solutions are not there"] if same else []
    )


def test_both_may_be_kept(tmp_path):  # D6
    problems, rows = read_pages(folder_of(tmp_path, SAME), keep_duplicate_problems=True)
    assert (len(problems), drops(rows)) == (3, {})
    assert problems[1].shared_with == ("2041 USAJMO Problems/Problem 2",)


def test_one_bad_page_never_stops_the_rest(tmp_path):  # 3.2
    deep = "<!DOCTYPE html><html><h1 id='firstHeading'>2041 IMO Problems/Problem 2</h1><div class='mw-parser-output'>"
    files = {"deep.html": deep + "<i>" * 1500 + "x" + "</i>" * 1500 + "</div></html>", "empty": ""}
    problems, rows = read_pages(folder_of(tmp_path, files | {"2041_IMO_Problems_Problem_1.txt": wiki()}))
    assert len(problems) == 1 and drops(rows) == {"deep.html": "parse_error", "empty": "unreadable"}


def test_what_is_no_saved_page_is_passed_over(tmp_path):
    files = {"2041_IMO_Problems_Problem_1.txt": wiki(), ".DS_Store": "x", "Page_files/main.css": "x"}
    problems, rows = read_pages(folder_of(tmp_path, files))
    assert len(problems) == 1 and rows == []


def test_the_relaxed_setting_is_in_the_log(tmp_path):  # D1
    files = {"2041_IMO_Problems_Problem_1.txt": wiki(solutions=["Count.", "<asy>draw();</asy>"])}
    problems, rows = read_pages(folder_of(tmp_path, files), on_unusable_solution="drop_solution")
    assert problems[0].removed_solutions == ({"heading": "Solution 2", "reason": "diagram_in_solution"},)
    assert rows[0]["detail"] == "on_unusable_solution = drop_solution"


@pytest.mark.parametrize(
    "make, message", [(False, "is no folder; save the pages"), (True, "holds no file; save the pages")]
)
def test_a_folder_that_is_not_there(tmp_path, make, message):
    if make:
        (tmp_path / "x").mkdir()
    with pytest.raises(KitError, match=message):
        read_pages(tmp_path / "x")
