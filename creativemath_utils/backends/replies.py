"""What a reply of an OpenAI-compatible endpoint means: an answer, or an error that is worth another try or is not."""

from __future__ import annotations

import re
from typing import Any, Literal

import httpx2

from creativemath_utils.reasoning import split_reasoning
from creativemath_utils.records import Request, Response, Status

TRANSIENT_STATUS = {408, 409, 425, 429}  # and every 5xx
TRUNCATED = {"length", "max_tokens", "model_length"}
BLOCKED = {"content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii"}
REFUSED = {"refusal"}
BROKEN = {"error", "abort", "cancelled", "insufficient_system_resource"}  # the endpoint gave up half way

# What an error is about, read from its code and message, since endpoints agree on no status for these.
WINDOW = re.compile(
    r"context.?length|context (size|window)|exceed_context|maximum context|prompt is too long|input is too long|"
    r"exceeds the maximum number of tokens|reduce the length"
)
ROLES = re.compile(
    r"system (role|message|prompt|instruction)s?\b|developer instruction|roles? must alternate|\broles? (is|are)\b|"
    r"role'? does(n't| not) support|jinja|chat.?template|template.?error"
)
FILTERED = re.compile(r"content_filter|content_policy|content management policy|moderation|flagged")
CREDIT = re.compile(r"insufficient_quota|insufficient balance|credit balance")
KEY = re.compile(r"invalid_api_key|authentication_error|api key (not valid|is invalid|provided)|invalid api key")
NO_MODEL = re.compile(r"model_not_found|model .{0,80}(not exist|not found)|no such model|unknown model")
UNSUPPORTED = re.compile(
    r"unsupported|not supported|n.t support|not support|unrecognized|unknown|not permitted|not allowed|unexpected|"
    r"extra_forbidden|deprecated|not available"
)
PARAMETER = re.compile(
    r"\b(max_tokens|max_completion_tokens|temperature|top_p|seed|stop|frequency_penalty|presence_penalty|"
    r"reasoning_effort)\b|\b(?:parameter|argument|field)s?:?\s*['\"`](\w+)"
)
STATUS_OF_CODE = {
    "invalid_request_error": 400, "invalid_api_key": 401, "authentication_error": 401, "permission_error": 403,
    "model_not_found": 404, "not_found_error": 404, "rate_limit_exceeded": 429, "rate_limit_error": 429,
}  # fmt: skip

About = Literal["call", "parameter", "roles", "window", "blocked", "key", "credit", "model", "address"]
HOPELESS = ("key", "credit", "model", "address")  # a fault of every call to the model
MOST_TOKENS = 10**12  # more were counted by nobody


class Transient(Exception):
    """Another try may succeed. `retry_after`: in seconds, where the endpoint said; `overload`: it wants fewer calls;
    `stubborn`: the same is likely to come again, and to be paid each time.
    """

    def __init__(self, message: str, *, overload: bool = False, stubborn: bool = False) -> None:
        super().__init__(message)
        self.overload = overload
        self.stubborn = stubborn
        self.retry_after: float | None = None


class Blank(Transient):
    """The model ended of itself and wrote nothing: `response`, should it stay so. `paid`: tokens were counted."""

    def __init__(self, response: Response) -> None:
        self.response = response
        self.paid = bool((response.usage or {}).get("output_tokens"))
        super().__init__("reply without text", stubborn=self.paid)


class Permanent(Exception):
    """The same call would fail again. `about` says what is at fault, `parameter` names it where it is one.

    A fault of the `key`, the `credit`, the `model` or the `address` is one of every call, not of this one alone.
    """

    def __init__(self, message: str, about: About = "call", parameter: str | None = None) -> None:
        super().__init__(message)
        self.about = about
        self.parameter = parameter


def classify(status: int, body: Any, text: str = "") -> Transient | Permanent:
    """What an error of HTTP status `status` with JSON `body` (or plain `text`) means."""
    error = body.get("error", body) if isinstance(body, dict) else {}
    error = error if isinstance(error, dict) else {"message": str(error)}
    detail = error.get("detail") or error.get("message")
    if isinstance(detail, dict):
        detail = detail.get("detail") or detail.get("message") or detail
    named = error.get("param")
    if isinstance(detail, list) and detail and isinstance(detail[0], dict):  # FastAPI: one entry a fault
        place = detail[0].get("loc")
        named = named or str(place[-1] if isinstance(place, list) and place else "request")
        detail = f"{named}: {detail[0].get('msg')}"
    message = " ".join(str(detail or text or "no message").split())[:300]
    code = f"{error.get('code') or ''} {error.get('type') or ''}"
    said = f"{code} {named or ''} {message}".lower()
    line = f"HTTP {status}: {message}"
    client_fault = 400 <= status < 500 and status not in TRANSIENT_STATUS
    if CREDIT.search(said) or status == 402:
        return Permanent(line, "credit")
    if (client_fault or status == 500) and WINDOW.search(said):
        line = f"prompt and answer exceed the model's window ({line}); lower max_new_tokens or the prompts"
        return Permanent(line, "window")
    if client_fault and FILTERED.search(said):
        return Permanent(line, "blocked")
    if status in (401, 403) or (client_fault and KEY.search(said)):
        return Permanent(line, "key")
    if status in (400, 422, 500) and ROLES.search(said):
        return Permanent(f"{line}; set `system: null`", "roles")
    if not client_fault and (status in TRANSIENT_STATUS or status >= 500):
        return Transient(line, overload=status in (429, 503, 529))
    if status == 404 or NO_MODEL.search(said):
        return Permanent(line, "model")
    parameter = str(named) if named else _named_parameter(message)
    if parameter is None:
        return Permanent(line)
    if parameter in ("max_tokens", "max_completion_tokens") and not UNSUPPORTED.search(said):
        return Permanent(f"{line}; set the model's max_new_tokens accordingly")
    about: About = "parameter" if UNSUPPORTED.search(said) else "call"  # a value out of range is no unknown parameter
    return Permanent(f"{line}; correct {parameter!r} in the model's decoding or extra_body", about, parameter)


def fault_of(reply: httpx2.Response) -> Transient | Permanent:
    """What a reply means whose status is an error's."""
    try:
        body = reply.json()
    except (ValueError, RecursionError):
        body = None
    return classify(reply.status_code, body, reply.text)


def read_json(reply: httpx2.Response) -> Any:
    """The JSON of a reply. Raises Transient where it holds none."""
    try:
        return reply.json()
    except (ValueError, RecursionError):  # or brackets a thousand deep
        raise Transient(f"reply is no JSON: {reply.text[:80]!r}") from None


def error_in(body: Any) -> Transient | Permanent | None:
    """The error in a reply of status 200, if that is what it is."""
    if not isinstance(body, dict):
        return Transient(f"reply is no JSON object: {str(body)[:80]!r}")
    if body.get("error"):
        return inner_error(body["error"])
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Transient("reply without choices")
    if choices[0].get("error"):
        return inner_error(choices[0]["error"])
    if str(choices[0].get("finish_reason") or "").lower() in BROKEN:
        return Transient(f"the endpoint broke off (finish_reason {choices[0]['finish_reason']!r})")
    return None


def read_reply(request: Request, body: dict[str, Any], settings_used: dict[str, Any]) -> Response:
    """The response in a reply that holds a choice.

    Raises Blank where the model ended of itself and said nothing at all.
    """
    choice = body["choices"][0]
    message = choice.get("message") if isinstance(choice.get("message"), dict) else {"content": choice.get("text")}
    finish = choice.get("finish_reason")
    ended = str(finish or "").lower()
    text, thought = split_reasoning(_text_of(message.get("content")))
    reasoning = message.get("reasoning_content") or message.get("reasoning") or thought or None
    refusal = message.get("refusal")
    status: Status = "ok"
    if ended in BLOCKED:
        status = "blocked"
    elif refusal or ended in REFUSED:
        status, text = "refused", text or str(refusal or "")
    elif ended in TRUNCATED:
        status = "truncated"
    elif not text.strip():
        status = "refused"
    response = Response.answer(
        request,
        text,
        status=status,
        reasoning=str(reasoning) if reasoning else None,
        finish_reason=str(finish) if finish is not None else None,
        usage=token_counts(body.get("usage")),
        settings_used=settings_used,
    )
    if status == "refused" and not text.strip() and ended not in REFUSED:
        raise Blank(response)
    return response


def inner_error(error: Any) -> Transient | Permanent:
    """An error that came with status 200, by the code inside; without one that can be read it may pass."""
    about = error if isinstance(error, dict) else {}
    codes = [about.get(name) for name in ("status", "code", "type")]
    numbers = [int(code) for code in codes if re.fullmatch("[45][0-9]{2}", str(code))]
    names = [STATUS_OF_CODE[code] for code in codes if isinstance(code, str) and code in STATUS_OF_CODE]
    return classify((numbers + names + [500])[0], {"error": error})


def _text_of(content: Any) -> str:
    """The text of a message: a string, a list of parts, or nothing."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type", "text") == "text")
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def token_counts(usage: Any) -> dict[str, int] | None:
    """Tokens by the kit's own names; None where the endpoint does not say, or says what cannot be."""
    if not isinstance(usage, dict):
        return None
    counts = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
    return {name: count for name, count in counts.items() if type(count) is int and 0 <= count < MOST_TOKENS} or None


def _named_parameter(message: str) -> str | None:
    match = PARAMETER.search(message)
    return match and (match.group(1) or match.group(2))
