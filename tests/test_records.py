"""Rows of files, and the key of a request: what it covers and what it does not."""

import pytest

from creativemath_utils.models import Model
from creativemath_utils.records import (
    CATEGORIES,
    COMPETITIONS,
    KitError,
    Problem,
    Request,
    Response,
    Solution,
    Vote,
    canonical_json,
    competition_order,
    samples_of,
    user_message,
)
from creativemath_utils.rows import from_row, one_of_the_eight, read_problem, to_row

API = Model(name="m", backend="api", id="id", base_url="http://a/v1")
REQUEST = Request("m", {"id": "id"}, user_message("2 + 2?"), {"max_new_tokens": 9, "temperature": 0})
PROBLEM = {
    "problem_id": "2016_AMC_8_Problems/15",
    "competition": "AMC_8",
    "competition_id": "2016_AMC_8_Problems",
    "year": 2016,
    "number": 15,
    "difficulty": 1.5,
    "category": "Algebra",
    "statement": "1 + 1?",
    "solutions": ["2.", "Two."],
}
SOLUTION = Solution("p", 1, 2, "m", "Here: 2.", "2.", ("Here: ",), "ok", "0" * 64)


def asked_of(model, *, system=None, decoding=REQUEST.decoding, text="2 + 2?", **more):
    return Request(model.name, model.identity(), user_message(text, system), decoding, **more)


# --- the key --------------------------------------------------------------------------------------


def test_the_key_is_the_sha256_of_canonical_json():
    # Made outside the kit: printf '%s' '<the text below>' | sha256sum
    text = '{"decoding":{"max_new_tokens":9,"temperature":0},"messages":[{"content":"2 + 2?","role":"user"}],'
    assert canonical_json(REQUEST.asked()) == text + '"model":{"id":"id"},"sample":0}'
    assert REQUEST.key == "e4b50a348252f5cde1e5cca8073c9f99f5231ce4714c548b954b7919fc291693"


@pytest.mark.parametrize(
    "other",
    [
        asked_of(API.model_copy(update={"id": "id2"})),
        asked_of(API.model_copy(update={"revision": "2"})),
        asked_of(API.model_copy(update={"weights": "sha256:1"})),
        asked_of(API.model_copy(update={"quantization": "4bit"})),
        asked_of(API.model_copy(update={"dtype": "float32"})),
        asked_of(API.model_copy(update={"gguf_file": "x.gguf"})),
        asked_of(API.model_copy(update={"interface": "completion"})),
        asked_of(API.model_copy(update={"add_generation_prompt": False})),
        asked_of(API.model_copy(update={"use_fast_tokenizer": False})),
        asked_of(API.model_copy(update={"end_tokens": ("<e>",)})),
        asked_of(API.model_copy(update={"extra_body": {"top_k": 1}})),
        asked_of(API.model_copy(update={"threshold": 0.5})),
        asked_of(API, text="2 + 3?"),
        asked_of(API, system="You are a helpful assistant."),
        asked_of(API, decoding={"max_new_tokens": 9, "temperature": 0.8}),
        asked_of(API, decoding={"max_new_tokens": 9, "temperature": 0, "seed": 1}),
        asked_of(API, sample=1),
    ],
)
def test_what_can_change_an_answer_changes_the_key(other):
    assert other.key != asked_of(API).key


@pytest.mark.parametrize(
    "other",
    [
        asked_of(API.model_copy(update={"name": "other"})),
        asked_of(API.model_copy(update={"base_url": "https://b/v1"})),
        asked_of(API.model_copy(update={"api_key_env": "MY_KEY"})),
        asked_of(API.model_copy(update={"batch_size": 1})),
        asked_of(API.model_copy(update={"label": "Other"})),
        asked_of(API.model_copy(update={"price": {"input": 1, "output": 2, "date": "2024-01-01"}})),
        asked_of(API.model_copy(update={"window": 10})),
        asked_of(API.model_copy(update={"timeout_seconds": 1})),
        asked_of(API.model_copy(update={"family": "f", "source": "open", "gpus": 4})),
        asked_of(API, slots={"problem": "other"}),
        asked_of(API, ledger="judge.other"),
        asked_of(API, system=""),  # an empty system message is left out
        asked_of(API, decoding={"temperature": 0, "max_new_tokens": 9}),  # another order
    ],
)
def test_what_cannot_change_an_answer_leaves_the_key(other):
    assert other.key == asked_of(API).key


def test_a_lone_surrogate_has_a_key():
    assert asked_of(API, text="\ud800").key != asked_of(API, text="\ud801").key


@pytest.mark.parametrize(
    "system, roles",
    [("Be short.", ["system", "user"]), (None, ["user"]), ("", ["user"])],
)
def test_an_empty_system_message_is_left_out(system, roles):
    assert [message["role"] for message in user_message("hi", system)] == roles


def test_responses_carry_the_key_and_what_was_asked():
    answer = Response.answer(REQUEST, "4", status="truncated", finish_reason="length")
    failure = Response.failure(REQUEST, "timed out")
    assert (answer.key, answer.status, answer.text) == (REQUEST.key, "truncated", "4")
    assert (failure.key, failure.status, failure.text, failure.error) == (REQUEST.key, "failed", "", "timed out")
    assert answer.request == REQUEST.asked()
    assert answer.usage is None  # not known, which is not 0


# --- rows -----------------------------------------------------------------------------------------


def test_rows_have_the_fields_of_the_contract():
    assert " ".join(to_row(SOLUTION)) == "problem_id k n generator text solution removed status key schema"
    vote = Vote("p", 1, "m", "coarse", "j", "UNPARSED", None)
    assert " ".join(to_row(vote)) == "problem_id k generator stage judge verdict key schema"
    assert " ".join(to_row(read_problem(PROBLEM, "x"))) == (
        "problem_id competition competition_id year number difficulty category statement solutions source schema"
    )


def test_rows_come_back_as_they_went():
    for record in (SOLUTION, Vote("p", 1, "m", "fine", "j", "NO", None)):
        assert from_row(type(record), to_row(record), "x:1") == record


def test_unknown_fields_of_a_row_are_passed_over():
    assert read_problem({**PROBLEM, "note": "mine"}, "x:1").number == 15


@pytest.mark.parametrize(
    "kind, change, message",
    [
        (Solution, {"k": None}, "x:1: missing k"),  # not also `n` and `key`, whose letters are in every error text
        (Solution, {"problem_id": None, "key": None}, "x:1: missing problem_id, key"),
        (Solution, {"schema": 2}, "x:1: schema 2, this kit reads 1; use the kit that wrote the file"),
        (Solution, {"status": "done"}, "x:1: status 'done' is none of ok, truncated, blocked, refused, failed"),
        (Vote, {"verdict": "Yes"}, "x:1: verdict 'Yes' is none of YES, NO, UNPARSED"),  # would count as no vote
        (Vote, {"stage": "novelty"}, "x:1: stage 'novelty' is none of correctness, coarse, fine"),
    ],
)
def test_a_row_that_is_none_is_refused_with_its_place(kind, change, message):
    record = SOLUTION if kind is Solution else Vote("p", 1, "m", "fine", "j", "NO", None)
    absent = {name for name, value in change.items() if value is None}
    row = {name: value for name, value in {**to_row(record), **change}.items() if name not in absent}
    with pytest.raises(KitError) as caught:
        from_row(kind, row, "x:1")
    assert str(caught.value) == message


def test_a_row_must_be_an_object():
    with pytest.raises(KitError, match=r"^x:3: expected a JSON object, found list$"):
        from_row(Solution, [1], "x:3")


# --- problems and samples -------------------------------------------------------------------------


@pytest.mark.parametrize("name, value", [("difficulty", None), ("category", None), ("year", None)])
def test_what_a_source_does_not_say_is_none(name, value):
    assert getattr(read_problem({**PROBLEM, name: value}, "x:1"), name) is None


@pytest.mark.parametrize("text", ["Suppose $x<y$ and $p>q$.", "Let $\x0crac{m}{n}$", "a\r\nb\u2028c"])
def test_a_text_stays_as_it_is(text):
    problem = read_problem({**PROBLEM, "statement": text, "solutions": [text]}, "x:1")
    assert (problem.statement, problem.solutions) == (text, (text,))


@pytest.mark.parametrize(
    "change, said",
    [
        ({"problem_id": " "}, "problem_id is empty"),
        ({"problem_id": 15}, "problem_id is empty or no text"),
        ({"competition": "AMC 8"}, "competition 'AMC 8' is written AMC_8 in files"),  # one of the eight, misspelt
        ({"competition": "amc8"}, "competition 'amc8' is written AMC_8"),
        ({"competition": "Usa-Jmo"}, "competition 'Usa-Jmo' is written USAJMO"),
        ({"competition": "HMMT Feb"}, "competition 'HMMT Feb' may hold only letters (A-Z), digits"),
        ({"competition": ""}, "competition '' is empty or no text"),
        ({"competition": None}, "competition None is empty or no text"),
        ({"competition_id": None}, "competition_id is no text"),
        ({"number": "15"}, "number '15' is no whole number"),
        ({"number": True}, "number True is no whole number"),
        ({"year": "2016"}, "year '2016' is no whole number"),
        ({"difficulty": "1.5"}, "difficulty '1.5' is no number"),
        ({"difficulty": float("nan")}, "difficulty nan is no number"),
        ({"difficulty": True}, "difficulty True is no number"),
        ({"category": "Algebr"}, "category 'Algebr' is none of"),
        ({"statement": "\n"}, "statement is empty"),
        ({"solutions": []}, "solutions must be a non-empty list"),
        ({"solutions": "2."}, "solutions must be a non-empty list"),  # a text is a list of letters to Python
        ({"solutions": {"1": "2."}}, "solutions must be a non-empty list"),
        ({"solutions": ["2.", " "]}, "a solution is empty"),
        ({"solutions": ["2.", None]}, "a solution is empty or no text"),
    ],
)
def test_a_faulty_problem_is_refused_with_its_place(change, said):
    with pytest.raises(KitError) as caught:
        read_problem({**PROBLEM, **change}, "my.jsonl:7")
    assert str(caught.value).startswith(f"my.jsonl:7: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in PROBLEM if name != "source"])
def test_a_missing_field_of_a_problem_is_named(name):
    row = {key: value for key, value in PROBLEM.items() if key != name}
    with pytest.raises(KitError, match=rf"^x:1: missing {name}$"):
        read_problem(row, "x:1")


def test_n_solutions_give_n_samples():
    two = read_problem(PROBLEM, "x:1")
    one = read_problem({**PROBLEM, "problem_id": "q", "solutions": ["2."]}, "x:2")
    samples = samples_of([two, one])
    assert [(s.problem.problem_id, s.k, s.n) for s in samples] == [
        ("2016_AMC_8_Problems/15", 1, 2),
        ("2016_AMC_8_Problems/15", 2, 2),
        ("q", 1, 1),
    ]


@pytest.mark.parametrize("name", ["Putnam", "HMMT_Feb-2024.1", "AMC_12A", "AJHSME"])
def test_other_competitions_are_allowed(name):
    assert read_problem({**PROBLEM, "competition": name}, "x:1").competition == name


@pytest.mark.parametrize(
    "names, order",
    [
        ([], COMPETITIONS),
        (["IMO", "AMC_8", "IMO"], COMPETITIONS),  # all eight, whichever there are
        (["putnam", "IMO", "BMO", "Zhautykov"], (*COMPETITIONS, "BMO", "putnam", "Zhautykov")),  # case does not count
        (["Putnam", "BMO"], ("BMO", "Putnam")),  # the eight are not shown beside others alone
    ],
)
def test_the_order_of_competitions(names, order):
    assert competition_order(names) == list(order)


@pytest.mark.parametrize(
    "name, known",
    [("AMC8", "AMC_8"), ("Amc 8", "AMC_8"), ("a.h.s.m.e", "AHSME"), ("AMC 10A", None), ("", None), ("?", None)],
)
def test_a_misspelt_competition_is_known(name, known):
    assert one_of_the_eight(name) == known


def test_the_lists_of_the_paper():
    assert COMPETITIONS == ("AMC_8", "AMC_10", "AMC_12", "AHSME", "AIME", "USAJMO", "USAMO", "IMO")
    assert set(CATEGORIES) == {
        "Algebra",
        "Arithmetic",
        "Counting",
        "Geometry",
        "Number Theory",
        "Probability",
        "Others",
    }
    assert isinstance(read_problem(PROBLEM, "x"), Problem)
