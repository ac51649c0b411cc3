"""A model says what is talk; only whole sentences of the text that cannot be a step go, and the rest is counted."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from creativemath_utils.clean import sentences_of, strip_commentary
from creativemath_utils.commentary import may_be_a_step
from creativemath_utils.generate import generate_solutions, mark_answers
from creativemath_utils.ledger import Ledgers
from creativemath_utils.marked_commentary import cut_marked, marked_spans, read_marking, summary
from creativemath_utils.models import Model
from creativemath_utils.plan import rehearse
from creativemath_utils.profile import Corpus, Profile, load_profile
from creativemath_utils.records import Edit, KitError, Problem, Response, Sample, samples_of
from creativemath_utils.store import ROOT, read_rows

RECORDED = ROOT / "data" / "demo" / "responses"

PROBLEM = Problem("p", "IMO", "i", 2020, 1, None, None, "1 + 1?", ("Two.", "Count: two."))
TALK = "We are proud of what follows."  # that the rules do not know
TEXT = f"{TALK}\n\nLet $x = 2$. So it is even.\n\nNobody has done it like that."
END = "Nobody has done it like that."


@pytest.mark.parametrize(
    ("text", "spans", "solution", "removed", "refused"),
    [
        (TEXT, [TALK, END], "Let $x = 2$. So it is even.", [TALK, END], []),  # what the rules would have left
        (TEXT, [f"{TALK}\n"], TEXT.removeprefix(f"{TALK}\n\n"), [TALK], []),  # white space around it does not count
        (TEXT, [], TEXT, [], []),  # nothing marked
        (TEXT, ["", "  "], TEXT, [], []),  # nothing either
        (TEXT, ["We are proud of what follows"], TEXT, [], ["no whole sentence"]),  # the full stop is left out
        (TEXT, ["we are proud of what follows."], TEXT, [], ["not in the text"]),  # a letter differs
        (TEXT, ["proud"], TEXT, [], ["no whole sentence"]),  # a word of a sentence
        (TEXT, ["Let $x = 2$."], TEXT, [], ["a step"]),  # a formula
        (TEXT, [f"{TALK}\n\nLet $x = 2$."], TEXT, [], ["a step"]),  # talk and a formula in one
        (TEXT, [END, "Let $x = 2$."], TEXT.removesuffix(f"\n\n{END}"), [END], ["a step"]),  # the other one goes
        ("It is true. It is true. Let $x = 2$.", ["It is true."], None, [], ["stands more than once"]),  # which one?
        ("It is true. It is true. Let $x = 2$.", ["It is true."] * 2, "Let $x = 2$.", ["It is true."] * 2, []),  # both
        ("We are proud. Here it comes.", ["We are proud.", "Here it comes."], None, [], ["would leave nothing"] * 2),
        ("We conclude that it is even. Done.", ["We conclude that it is even."], None, [], ["a step"]),  # an inference
        ("Proud. Triangle ABC is right-angled.", ["Triangle ABC is right-angled."], None, [], ["a step"]),  # a figure
        ("We draw the altitude. Done so.", ["We draw the altitude."], None, [], ["a step"]),  # an act
        ("Look:\n\n    proud of it\n\nSo $x = 2$.", ["proud of it"], None, [], ["a step"]),  # code by its indent
        ("```\nproud of it\n```\nSo $x = 2$.", ["proud of it"], None, [], ["no whole sentence"]),  # code
        ("\\begin{align}\nproud\n\\end{align}\nSo $x = 2$.", ["proud"], None, [], ["no whole sentence"]),
        ("| proud |\n|---|\n| yes |\n\nSo $x = 2$.", ["| proud |"], None, [], ["no whole sentence"]),  # a table
        ("## Proud of it\n\nSo $x = 2$.", ["## Proud of it"], "So $x = 2$.", ["## Proud of it"], []),  # a heading
    ],
)
def test_cut_marked(text, spans, solution, removed, refused):
    marking = cut_marked(text, spans)
    assert marking.solution == (text if solution is None else solution)
    assert (list(marking.removed), sorted(marking.refused)) == (removed, sorted(refused))


def test_no_formula_is_lost_whatever_a_model_marks():
    """Every sentence of the demo's recorded answers is marked; what stays still holds all formulas, in order."""
    answers = [row["text"] for file in sorted(RECORDED.glob("generate.*.jsonl")) for _, row in read_rows(file)]
    assert len(answers) > 100
    signs = re.compile(r"\\\w+|\S*[$=<>^+/]\S*")
    for text in answers:
        marking = cut_marked(text, [text[s.start : s.end] for s in sentences_of(text)])
        assert signs.findall(marking.solution) == signs.findall(text)
        assert all(passage in text for passage in marking.removed)


@pytest.mark.parametrize(
    ("reply", "spans"),
    [
        ('["A.", "B."]', ["A.", "B."]),  # the list
        ('```json\n["A."]\n```', ["A."]),  # in a fence
        ('Here it is:\n["A."]\nThat is all.', ["A."]),  # in prose
        ("[]", []),  # none
        ('["A.\nB."]', ["A.\nB."]),  # a line break in a string
        (r'["So \(x\) is 2."]', [r"So \(x\) is 2."]),  # backslashes that were not doubled
        ('<think>["A."]</think>["B."]', ["B."]),  # reasoning
        ('["A."] or rather ["B."]', ["B."]),  # the last word
        ('["A.", 2]', None),  # no list of texts
        ('{"spans": ["A."]}', ["A."]),  # an object around it
        ("There is no commentary.", None),  # no list
        ('["A.", "B', None),  # cut off
        ("[1] and [2]", None),  # footnotes
        ("", None),
    ],
)
def test_marked_spans(reply, spans):
    assert marked_spans(reply) == spans


def reply_to(text, **about):
    return Response("key", "m", {}, about.pop("status", "ok"), text, finish_reason="stop", **about)


@pytest.mark.parametrize(
    "reply",
    [
        reply_to("I see none."),  # no list
        reply_to('["Let"]', status="truncated"),  # cut off
        replace(reply_to('["Let"]'), finish_reason="length"),
        reply_to("", status="failed"),
    ],
)
def test_the_rules_stand_in(reply):
    text = f"Sure! Here is a novel solution:\n\n{TEXT}"
    marking = read_marking(text, reply)
    assert (marking.solution, list(marking.removed)) == strip_commentary(text)
    assert marking.removed and not marking.marked


def test_a_marked_answer_is_not_cleaned_by_the_rules_too():
    text = f"Sure! Here is a novel solution:\n\n{TEXT}"
    assert read_marking(text, reply_to("[]")).solution == text


@pytest.mark.parametrize(
    ("sentence", "step"),
    [
        ("This approach is novel, as it is short.", False),  # talk by the rules
        ("Nobody has done it like that.", False),  # plain words
        ("Therefore we get the same.", True),  # an inference
        ("The sum is 5.", True),  # a digit
        ("Let us first draw the altitude.", True),  # an act
        ("**Key idea**", False),  # a heading
    ],
)
def test_what_may_be_a_step(sentence, step):
    assert may_be_a_step(sentence) is step


def test_the_line_that_counts():
    markings = [cut_marked(TEXT, [TALK, "Let $x = 2$.", "Never said."]), read_marking(TEXT, reply_to("?"))]
    assert summary(markings) == (
        "commentary marked in 1 of 2 answers, the rules in 1 without a readable list: 1 passages cut, "
        "2 refused (1 not in the text, 1 a step)"
    )


def profile(**about):
    table = {name: Model(name=name, backend="api", id=f"id of {name}") for name in ("a", "marker")}
    made = Profile(run="r", corpus=Corpus(source="demo"), generators=["a"], judges=["a"], **about)
    return made.model_copy(update={"table": table})


def answering(text, asked):
    def complete(requests):
        asked.extend(requests)
        return [
            Response.answer(r, json.dumps([TALK]) if r.model == "marker" else text, finish_reason="stop")
            for r in requests
        ]

    return complete


def test_generate_asks_the_model_once_an_answer(capsys):
    asked: list = []
    samples = samples_of([PROBLEM])
    found = generate_solutions(samples, ["a"], profile(commentary="marker"), answering(TEXT, asked))["a"]
    assert [s.solution for s in found] == [TEXT.removeprefix(f"{TALK}\n\n")] * 2
    assert all(s.text == TEXT and s.removed == (TALK,) for s in found)
    assert [r.model for r in asked] == ["a", "a", "marker", "marker"]
    assert {r.ledger for r in asked} == {"generate.a"}  # a solution waits for both
    assert TEXT in asked[-1].messages[-1]["content"]
    assert "marked in 2 of 2 answers" in capsys.readouterr().out


def test_without_the_setting_the_rules_alone(capsys):
    asked: list = []
    (found,) = generate_solutions([Sample(PROBLEM, 1)], ["a"], profile(), answering(TEXT, asked))["a"]
    assert (found.solution, list(found.removed)) == strip_commentary(TEXT)
    assert [r.model for r in asked] == ["a"] and capsys.readouterr().out == ""


def test_a_person_s_edit_and_an_answer_that_is_none_are_not_marked():
    asked: list = []
    answers = [
        Response("edited", "a", {}, "ok", TEXT),
        Response("blocked", "a", {}, "blocked", ""),
        Response("failed", "a", {}, "failed", ""),
    ]
    places = [("a", Sample(PROBLEM, 1))] * 3
    edits = {"edited": Edit("edited", "Let $x = 2$.")}
    assert mark_answers(places, answers, profile(commentary="marker"), answering("", asked), edits) == {}
    assert asked == []


YAML = """
run: marked
corpus: {source: demo}
generators: [free]
judges: [rules]
commentary: COMMENTARY
models:
  free: {backend: api, id: free, base_url: "http://127.0.0.1:9/v1"}
  marker: {backend: api, id: marker, base_url: "http://127.0.0.1:9/v1", api_key_env: MARKER_TEST_KEY}
"""


def test_the_plan_counts_the_calls(tmp_path):
    file = tmp_path / "marked.yaml"
    file.write_text(YAML.replace("COMMENTARY", "marker"), "utf-8")
    counted = load_profile(file)
    samples = samples_of([PROBLEM])
    calls = rehearse(counted, [PROBLEM], samples).calls
    assert {place: len(requests) for place, requests in calls.items() if place[0] != "judge: pair"} == {
        ("generate", "free"): 2,
        ("commentary", "marker"): 2,  # one an answer
        ("judge: correctness", "rules"): 2,
        ("judge: coarse", "rules"): 2,
        ("judge: fine", "rules"): 1,
    }


@pytest.mark.parametrize(("name", "message"), [("rules", "no language model"), ("mraker", "mraker")])
def test_the_setting_is_checked(tmp_path, name, message):
    file = tmp_path / "marked.yaml"
    file.write_text(YAML.replace("COMMENTARY", name), "utf-8")
    with pytest.raises(KitError, match=message):
        load_profile(file)


def test_a_recorded_reply_is_followed_by_the_plan(tmp_path):
    file = tmp_path / "marked.yaml"
    file.write_text(YAML.replace("COMMENTARY", "marker") + "recording: recorded\n", "utf-8")
    counted = load_profile(file)
    asked: list = []
    samples = [Sample(PROBLEM, 1)]
    generate_solutions(samples, ["free"], counted, answering(TEXT, asked))
    ledgers = Ledgers(tmp_path / "recorded")
    replies = answering(TEXT, [])(asked)
    ledgers.writable("generate.free").append(replies)
    ledgers.close()
    assert {r.key for r in replies} <= rehearse(counted, [PROBLEM], samples).answered
