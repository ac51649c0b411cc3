"""What replies of endpoints mean, read from their JSON alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from creativemath_utils.backends.replies import (
    Blank,
    Permanent,
    Transient,
    classify,
    error_in,
    read_reply,
)
from creativemath_utils.backends.throttle import read_retry_after
from creativemath_utils.backends.turns import fold_system, merge_turns
from creativemath_utils.records import Request, user_message

REQUEST = Request(model="m", identity={"id": "x"}, messages=user_message("2 + 2?"), decoding={})


@pytest.mark.parametrize(
    ("status", "message", "fields", "about"),
    [
        (500, "internal", {}, None),  # None: worth another try
        (503, "loading model", {}, None),
        (529, "overloaded", {}, None),
        (408, "too slow", {}, None),
        (429, "You exceeded your current quota, please check your plan and billing details", {}, None),  # by the minute
        (429, "You exceeded your current quota", {"code": "insufficient_quota"}, "credit"),
        (402, "Insufficient Balance", {}, "credit"),
        (401, "Incorrect key", {}, "key"),
        (403, "no access", {}, "key"),
        (400, "API key not valid. Please pass a valid API key.", {}, "key"),  # 401 by another number
        (403, "input was flagged by moderation", {}, "blocked"),  # of this prompt, not of the key
        (400, "The response was filtered", {"code": "content_filter"}, "blocked"),
        (404, "The model `x` does not exist", {"code": "model_not_found"}, "model"),
        (400, "Model Not Exist", {"type": "invalid_request_error"}, "model"),
        (404, "Not Found", {}, "model"),  # a wrong path
        (400, "maximum context length is 8192 tokens", {"code": "context_length_exceeded"}, "window"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", {}, "window"),
        (400, "the request exceeds the available context size", {"type": "exceed_context_size_error"}, "window"),
        (500, "context size has been exceeded", {}, "window"),  # a 500 that no retry mends
        (429, "limit of 30000 tokens per minute; reduce the length of the messages", {}, None),
        (400, "Conversation roles must alternate user/assistant/user/...", {}, "roles"),
        (500, "Jinja Exception: System role not supported", {"type": "server_error"}, "roles"),
        (400, "'messages[0].role' does not support 'system' with this model.", {"param": "messages[0].role"}, "roles"),
        (400, "Developer instruction is not enabled for models/gemma", {}, "roles"),
        (429, "the system prompt made the rate too high", {}, None),  # a rate limit, whatever it talks of
        (400, "bad request", {}, "call"),
        (413, "too large", {}, "call"),
    ],
)
def test_errors_are_told_apart_by_meaning(status, message, fields, about):
    fault = classify(status, {"error": {"message": message, **fields}})
    assert isinstance(fault, Transient if about is None else Permanent)
    assert getattr(fault, "about", None) == about
    assert message[:20] in str(fault)


@pytest.mark.parametrize(
    ("error", "about", "parameter"),
    [
        ({"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
          "'max_completion_tokens' instead.", "param": "max_tokens"}, "parameter", "max_tokens"),
        ({"message": "Unsupported parameter: 'max_tokens' is not supported with this model."}, "parameter",
         "max_tokens"),  # not in a field, only in the message
        ({"message": "'temperature' does not support 0 with this model", "param": "temperature"}, "parameter",
         "temperature"),
        ({"message": "`temperature` is deprecated for this model."}, "parameter", "temperature"),
        ({"message": "Unrecognized request argument: 'top_k'"}, "parameter", "top_k"),
        ({"message": "temperature must be between 0 and 1", "param": "temperature"}, "call",
         "temperature"),  # a wrong value is for the person to correct, not to leave out
        ({"message": "max_tokens is too large: 100000", "param": "max_tokens"}, "call", None),
        ({"message": "parameter is wrong"}, "call", None),  # names nothing: `is` is no parameter
    ],
)  # fmt: skip
def test_a_rejected_parameter_is_named(error, about, parameter):
    fault = classify(400, {"error": error})
    assert (fault.about, fault.parameter) == (about, parameter)


def test_a_rejection_in_the_form_of_fastapi_is_read():
    body = {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]}
    fault = classify(422, body)
    assert (fault.about, fault.parameter) == ("parameter", "seed")


@pytest.mark.parametrize("place", [5, [], None, "seed"])
def test_a_rejection_that_names_no_place_is_one_of_the_call(place):
    fault = classify(422, {"detail": [{"loc": place, "msg": "no"}]})
    assert type(fault) is Permanent and "request: no" in str(fault)


@pytest.mark.parametrize(
    ("body", "kind", "about"),
    [
        ({"error": {"code": 524, "message": "upstream"}}, Transient, None),  # by the code inside
        ({"error": {"code": "429", "message": "slow down"}}, Transient, None),
        ({"error": {"code": 401, "message": "who?"}}, Permanent, "key"),
        ({"error": {"code": "invalid_api_key", "message": "who?"}}, Permanent, "key"),
        ({"error": {"type": "invalid_request_error", "message": "no"}}, Permanent, "call"),
        ({"error": {"code": 400, "message": "maximum context length is 10"}}, Permanent, "window"),
        ({"error": {"code": 7, "message": "?"}}, Transient, None),  # no status at all
        ({"error": {"code": "²", "message": "?"}}, Transient, None),  # a digit that is no number
        ({"error": {"code": "9" * 5000, "message": "?"}}, Transient, None),  # longer than Python reads
        ({"error": "overloaded"}, Transient, None),
        ({"choices": None}, Transient, None),
        ({"choices": []}, Transient, None),
        ({"choices": [None]}, Transient, None),
        ({"choices": "none"}, Transient, None),
        ({}, Transient, None),
        (None, Transient, None),
        ([1], Transient, None),
        ("text", Transient, None),
        ({"choices": [{"message": {"content": "Let x"}, "finish_reason": "error"}]}, Transient, None),  # half an answer
        ({"choices": [{"message": {"content": "Let x"}, "error": {"code": 502, "message": "lost"}}]}, Transient, None),
        ({"choices": [{"message": {"content": "Let x"}, "finish_reason": "abort"}]}, Transient, None),
    ],
)
def test_an_error_in_a_reply_of_status_200_is_found(body, kind, about):
    fault = error_in(body)
    assert type(fault) is kind
    assert getattr(fault, "about", None) == about


@pytest.mark.parametrize("error", [None, "", {}])
def test_an_empty_error_beside_choices_is_none(error):
    assert error_in({"error": error, "choices": [{"message": {"content": "4"}}]}) is None


def reply(finish="stop", usage=None, **message):
    return read_reply(REQUEST, {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}, {})


@pytest.mark.parametrize(
    ("finish", "message", "status", "text", "reasoning"),
    [
        ("stop", {"content": "4"}, "ok", "4", None),
        (None, {"content": "4"}, "ok", "4", None),
        ("stop", {"content": [{"type": "text", "text": "4"}, {"type": "image"}, {"text": "!"}]}, "ok", "4!", None),
        ("length", {"content": "Let x=2. Then"}, "truncated", "Let x=2. Then", None),
        ("length", {"content": None, "reasoning_content": "hm"}, "truncated", "", "hm"),  # reasoning stays reasoning
        ("length", {"content": None, "reasoning": "hm"}, "truncated", "", "hm"),
        ("MAX_TOKENS", {"content": "a"}, "truncated", "a", None),
        ("content_filter", {"content": None}, "blocked", "", None),
        ("SAFETY", {"content": "Let"}, "blocked", "Let", None),
        ("stop", {"content": None, "refusal": "I cannot."}, "refused", "I cannot.", None),
        ("refusal", {"content": ""}, "refused", "", None),
        ("stop", {"content": "<think>hm</think>\n\n4"}, "ok", "4", "hm"),
        ("stop", {"content": "hm</think>4"}, "ok", "4", "hm"),  # the prompt had opened the block
        ("length", {"content": "<think>hm, so"}, "truncated", "", "hm, so"),
        ("stop", {"content": " \n4\n "}, "ok", " \n4\n ", None),  # as the model wrote it
        ("stop", {"content": "a\u2028b \ud83d"}, "ok", "a\u2028b \ud83d", None),
    ],
)
def test_outcomes(finish, message, status, text, reasoning):
    response = reply(finish, **message)
    assert (response.status, response.text, response.reasoning) == (status, text, reasoning)


@pytest.mark.parametrize("content", [None, "", " \n", [], "<think>only this</think>", "<think>only this"])
def test_a_reply_without_text_is_no_answer(content):
    with pytest.raises(Blank) as caught:
        reply(content=content)
    assert not caught.value.paid
    assert caught.value.response.text.strip() == ""


def test_a_blank_reply_that_counts_tokens_is_paid():
    with pytest.raises(Blank) as caught:
        reply(content="", usage={"prompt_tokens": 9, "completion_tokens": 1})
    assert caught.value.paid


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, None),  # not 0
        ({}, None),
        ("many", None),
        ({"prompt_tokens": 3}, {"input_tokens": 3}),
        ({"prompt_tokens": 3, "completion_tokens": 0}, {"input_tokens": 3, "output_tokens": 0}),
        ({"prompt_tokens": -3, "completion_tokens": True}, None),  # no counts
        ({"prompt_tokens": 3, "completion_tokens": 10**400}, {"input_tokens": 3}),  # nor is this
    ],
)
def test_usage_is_what_the_endpoint_says(usage, counts):
    assert reply(content="4", usage=usage).usage == counts


def test_a_reply_of_a_completion_endpoint_is_read():
    assert read_reply(REQUEST, {"choices": [{"text": "4", "finish_reason": "stop"}]}, {}).text == "4"


def message(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("messages", "folded"),
    [
        ([message("system", "S"), message("user", "U")], [message("user", "S\n\nU")]),
        ([message("system", "S"), message("user", "U"), message("user", "V")], [message("user", "S\n\nU\n\nV")]),
        ([message("user", "U")], [message("user", "U")]),
        ([message("system", "S"), message("assistant", "A"), message("user", "U")],
         [message("assistant", "A"), message("user", "S\n\nU")]),
        ([message("system", "S")], [message("user", "S")]),  # nothing else was said
    ],
)  # fmt: skip
def test_system_text_is_folded_into_the_user_turn(messages, folded):
    assert merge_turns(fold_system(messages)) == folded


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("5", 5.0),
        (" 1.5 ", 1.5),
        ("-3", 0.0),
        ("7200", 7200.0),
        ("9" * 400, float("inf")),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),  # past
        ("Wed, 99 Oct 99999 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_read(header, seconds):
    assert read_retry_after(header) == seconds


def test_retry_after_may_be_a_date():
    moment = datetime.now(UTC) + timedelta(seconds=90)
    assert read_retry_after(format_datetime(moment, usegmt=True)) == pytest.approx(90, abs=5)
