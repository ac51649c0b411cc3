"""Categories by a model: what a reply names, what is asked, what becomes of the answers, and what a plan counts."""

from __future__ import annotations

import pytest
from loopback import Loopback, answer, error

from creativemath_utils.categories import (
    LEDGER,
    categorize,
    category_request,
    parse_category,
    read_label,
    with_categories,
)
from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledgers
from creativemath_utils.plan import rehearse
from creativemath_utils.profile import load_profile
from creativemath_utils.prompts import template
from creativemath_utils.records import CATEGORIES, CategoryVote, KitError, Problem, Response
from creativemath_utils.rows import from_row, to_row
from creativemath_utils.run import open_run

PROFILE = """
run: labelled
corpus: {{source: demo}}
generators: [small]
judges: [small]
categories: small
decoding: {{max_new_tokens: 2000}}
judge_decoding: {{max_new_tokens: 256}}
models:
  small: {{backend: api, id: small, base_url: "{url}"{more}}}
"""


def problem(problem_id: str, category: str | None = None, statement: str = "1 + 1?") -> Problem:
    return Problem(problem_id, "AIME", "A", None, 1, None, category, statement, ("Two.", "Count: two."), {"kind": "x"})


@pytest.fixture
def make_profile(tmp_path):
    def make(url="http://127.0.0.1:9/v1", more="", keys=""):
        file = tmp_path / "labelled.yaml"
        file.write_text(PROFILE.format(url=url, more=more) + keys, "utf-8")
        return load_profile(file)

    return make


# --- what a reply names ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", CATEGORIES)
def test_each_category_by_its_name(name):
    for reply in (name, f" {name.upper()}.\n", f"**{name.lower()}**"):
        assert parse_category(reply) == name


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        # in other clothes
        ("Number theory", "Number Theory"),
        ("number-theory", "Number Theory"),
        ("Number_Theory", "Number Theory"),
        ("NumberTheory", "Number Theory"),
        ("Other", "Others"),
        ("4. Geometry", "Geometry"),
        ("(D) Geometry", "Geometry"),
        ("- Geometry", "Geometry"),
        ("Ｇｅｏｍｅｔｒｙ", "Geometry"),  # full-width letters
        ('"Geometry"', "Geometry"),
        ("`Geometry`", "Geometry"),
        ("# Geometry", "Geometry"),
        ("```\nGeometry\n```", "Geometry"),
        (r"$\boxed{\text{Number Theory}}$", "Number Theory"),
        (r"\[\boxed{Geometry}\]", "Geometry"),
        ("<answer>Geometry</answer>", "Geometry"),
        ("Geometry<|im_end|>", "Geometry"),
        ('{"category": "Geometry"}', "Geometry"),
        ('```json\n{"category": "Number Theory", "reason": "it uses algebra"}\n```', "Number Theory"),
        ("{'math_category': 'Geometry'}", "Geometry"),
        # with words around
        ("Category: Geometry", "Geometry"),
        ("**Category:** Geometry", "Geometry"),
        ("**Category: Geometry**", "Geometry"),
        ("The answer is Geometry.", "Geometry"),
        ("The category of this problem is **Counting**.", "Counting"),
        ("This problem belongs to the category of Geometry.", "Geometry"),
        ("This problem belongs to the Number Theory category.", "Number Theory"),
        ("The problem falls under Algebra, since it asks for x.", "Algebra"),
        ("It is best classified as Probability.", "Probability"),
        ("This is a geometry problem.", "Geometry"),
        ("Geometry: the question is about a triangle.", "Geometry"),
        ("Geometry\n\nA triangle is given, and we count its sides.", "Geometry"),
        ("Geometry - because of the circle", "Geometry"),
        ("It has triangles, and the sides are counted.\n\nAnswer: Geometry", "Geometry"),
        ("The ways to choose are many. \\boxed{Counting}", "Counting"),
        ("<think>Algebra? No, primes.</think>Number Theory", "Number Theory"),  # thought, not said
        ("Algebra? no.</think>\nGeometry", "Geometry"),  # the block was opened in the prompt
        ("~~Algebra~~ Geometry", "Geometry"),
        (  # the prompt's own list, repeated before the answer
            f"{template('category').partition('?')[2]}\n\nCategory: Geometry",
            "Geometry",
        ),
        ("- Algebra: equations\n- Geometry: figures\n\nThe category is Geometry.", "Geometry"),  # in its own words
    ],
)
def test_a_clear_reply_is_read(reply, label):
    assert parse_category(reply) == label


@pytest.mark.parametrize(
    "reply",
    [
        "",
        None,
        "   \n",
        "I'm sorry, I cannot do that.",
        "24",
        "Trigonometry",  # not one of the seven, and not for us to sort
        "Combinatorics",
        "Pre-algebra",
        "Geometry-based",
        "Algebraic",
        # two
        "Counting & Probability",
        "Counting and Probability",
        "Counting/Probability",
        "Algebra, Geometry",
        "Algebra (Number Theory)",
        "Geometry or Trigonometry",  # two as well, though one is none of ours
        "Geometry\nAlgebra",
        "Geometry. Algebra is used, too.",
        "Geometry\nAlgebra: it is used, too.",
        "The category is Algebra.\n\nFinal answer: Geometry",
        "The problem belongs to Counting and Probability.",
        '{"category": ["Geometry", "Algebra"]}',
        '{"Geometry": 0.8, "Algebra": 0.2}',
        "**Algebra** and **Geometry** both fit.",
        # none said outright
        "Not Geometry",
        "The category is not Geometry.",
        "This is not a geometry problem.",
        "Geometry?",
        "Is this a geometry problem?",
        "It could be classified as Geometry.",
        "If it were about angles, the category would be Geometry.",
        "Counting the ways, we find 12.",
        "Let me think.\nCounting: there are 12 ways.",
        "The answer is counting the ways.",
        "The category is other than these.",
        "Since there are 12 ways, the probability is 1/2.",
        'The solution says "the category is Geometry".',  # somebody else's words
        template("category").partition("?")[2],  # the list of choices alone
        "- Algebra: equations\n- Geometry: figures",
        "<think>Geometry",  # never came to an answer
        "<think>It is</think>",
    ],
)
def test_an_unclear_reply_is_never_guessed_at(reply):
    assert parse_category(reply) == "UNPARSED"


@pytest.mark.parametrize("reason", ["length", "max_tokens", "content_filter", "LENGTH"])
def test_a_reply_that_was_cut_off_names_nothing(reason):
    assert parse_category("Geometry", reason) == "UNPARSED"  # "or rather Algebra" could have followed


def test_long_replies_are_read_in_no_time():
    words = ("category ", "is ", "the problem is about ", "Algebra, Counting, ", "*", '"', "{", "\\text{", "~~", "- ")
    for word in words:
        assert parse_category(word * 20_001) == "UNPARSED"


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"finish_reason": "stop"}, "Geometry"),
        ({}, "Geometry"),  # an endpoint that gives no reason
        ({"finish_reason": "length", "status": "truncated"}, "UNPARSED"),
        ({"status": "blocked"}, "UNPARSED"),
        ({"status": "refused"}, "UNPARSED"),
    ],
)
def test_what_is_no_answer_names_nothing_but_keeps_its_key(make_profile, about, expected):
    response = Response.answer(category_request(problem("a"), make_profile()), "Geometry", **about)
    assert read_label(response) == (expected, response.key)


def test_a_failed_call_has_no_key(make_profile):
    assert read_label(Response.failure(category_request(problem("a"), make_profile()), "no")) == ("UNPARSED", None)


# --- what is asked --------------------------------------------------------------------------------


def test_the_prompt_has_the_problem_its_first_solution_and_each_category_once(make_profile):
    asked = category_request(problem("a", statement="Find {solution} in $x<y$."), make_profile())
    text = asked.messages[-1]["content"]
    assert text.startswith("Problem:\nFind {solution} in $x<y$.\n\nOne solution:\nTwo.\n\n")
    assert "Count: two." not in text
    assert tuple(line.partition(":")[0] for line in text.split("?\n")[1].splitlines()[:7]) == CATEGORIES
    assert (asked.ledger, asked.slots["about"]) == (LEDGER, "category of a")


@pytest.mark.parametrize(
    ("more", "keys", "tokens"),
    [
        ("", "", 64),  # a label needs few
        ("", "judge_decoding: {max_new_tokens: 16}", 16),
        ("", "judge_decoding: {max_new_tokens: null}", 64),
        (", decoding: {max_new_tokens: 8192}", "", 8192),  # a model that reasons first: its own entry wins
        (", decoding: {max_new_tokens: null}", "", None),  # the endpoint's own limit
    ],
)
def test_a_label_needs_few_tokens(tmp_path, make_profile, more, keys, tokens):
    text = PROFILE.format(url="http://127.0.0.1:9/v1", more=more)
    text = text.replace("judge_decoding: {max_new_tokens: 256}", keys) if keys else text
    (tmp_path / "other.yaml").write_text(text, "utf-8")
    assert category_request(problem("a"), load_profile(tmp_path / "other.yaml")).decoding == {
        "max_new_tokens": tokens,
        "temperature": 0,
    }


# --- from asking to problems ----------------------------------------------------------------------


def test_problems_without_a_category_get_the_models_and_the_others_keep_theirs(tmp_path, make_profile):
    replies = {"figure": "Geometry", "primes": "Counting & Probability", "sum": "Algebra", "late": "Algebra"}

    def reply(call):
        statement = call.body["messages"][-1]["content"].splitlines()[1]
        return answer(replies[statement], "length" if statement == "late" else "stop")

    problems = [
        problem("1", None, "figure"),
        problem("2", None, "primes"),
        problem("3", "Arithmetic", "sum"),
        problem("4", None, "late"),
    ]
    with Loopback(reply) as server:
        profile = make_profile(server.url)
        with Engine(profile.table, Ledgers(tmp_path / "responses")) as engine:
            votes = categorize(problems, profile, engine.complete)
            assert categorize(problems, profile, engine.complete) == votes and engine.asked == 4  # once, not twice
    assert [(v.problem_id, v.model, v.label, v.given) for v in votes] == [
        ("1", "small", "Geometry", None),
        ("2", "small", "UNPARSED", None),
        ("3", "small", "Algebra", "Arithmetic"),  # asked all the same: how far does it agree?
        ("4", "small", "UNPARSED", None),
    ]
    assert (tmp_path / "responses" / "curate.jsonl").is_file()
    labelled = with_categories(problems, votes)
    assert [p.category for p in labelled] == ["Geometry", None, "Arithmetic", None]
    assert [p.source for p in labelled] == [{"kind": "x", "category_source": "model:small"}, *[{"kind": "x"}] * 3]
    assert [p.category for p in problems] == [None, None, "Arithmetic", None]


def test_without_a_model_nothing_is_asked(make_profile):
    profile = make_profile().model_copy(update={"categories": None})
    assert categorize([problem("a")], profile, complete=None) == []
    assert with_categories([problem("a")], []) == [problem("a")]


def test_while_a_call_has_failed_no_file_is_written(tmp_path, make_profile):
    with Loopback(lambda call: error(400, "no")) as server:
        profile = make_profile(server.url)
        run = open_run(profile.file)
        votes = categorize([problem("a")], run.profile, run.engine.complete)
        assert [(v.label, v.key) for v in votes] == [("UNPARSED", None)]
        run.write(tmp_path / "categories.jsonl", votes, ledger=LEDGER)
        run.write(tmp_path / "problems.jsonl", with_categories([problem("a")], votes), ledger=LEDGER)
        with pytest.raises(KitError, match="curate: "):
            run.finish()
    assert not list(tmp_path.glob("*.jsonl"))


def test_a_row_goes_to_the_file_and_back(make_profile):
    vote = CategoryVote("a", "small", "UNPARSED", None, None)
    assert from_row(CategoryVote, to_row(vote), "x:1") == vote
    with pytest.raises(KitError, match="x:1: label 'Topology' is none of Algebra, "):
        from_row(CategoryVote, {**to_row(vote), "label": "Topology"}, "x:1")


def test_a_plan_counts_the_calls(make_profile):
    problems = [problem("1"), problem("2", "Algebra", "2 + 2?")]
    calls = rehearse(make_profile(), problems, []).calls
    assert {place: len(requests) for place, requests in calls.items()} == {("categories", "small"): 2}
    without = make_profile().model_copy(update={"categories": None})
    assert not rehearse(without, problems, []).calls
