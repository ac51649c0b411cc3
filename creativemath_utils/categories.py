r"""The category of a problem, one of the seven of Figure 1, by a model's word. Paper, Section 3 (there Llama-3-70B).

A reply counts if it takes one side. One that names two categories, hedges or was cut off is UNPARSED, and counted as
that: a guess would be data that nobody gave.

    >>> parse_category("**Category:** Number theory.")
    'Number Theory'
    >>> parse_category("Counting & Probability")
    'UNPARSED'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from creativemath_utils.engine import Complete
from creativemath_utils.markup import plain_characters
from creativemath_utils.parsing import CUT_OFF
from creativemath_utils.profile import Profile
from creativemath_utils.prompts import render, template
from creativemath_utils.reasoning import without_reasoning
from creativemath_utils.records import CATEGORIES, CategoryVote, Problem, Request, Response, user_message

LEDGER = "curate"
MAX_NEW_TOKENS = 64  # a label, and room for a sentence around it; a model's own limit wins, for those that reason
UNPARSED = "UNPARSED"


def categorize(problems: Sequence[Problem], profile: Profile, complete: Complete) -> list[CategoryVote]:
    """The category of each problem by the word of `profile.categories`, in their order; none where it names no model.

    Problems that have a category are asked about too: how far the model agrees with those says what it is worth on the
    rest. Calls that failed for good stand in the engine's `failures` under LEDGER.
    """
    if profile.categories is None:
        return []
    responses = complete([category_request(problem, profile) for problem in problems])
    return [
        CategoryVote(problem.problem_id, profile.categories, *read_label(response), problem.category)
        for problem, response in zip(problems, responses, strict=True)
    ]


def category_request(problem: Problem, profile: Profile) -> Request:
    """The call that asks for a problem's category, with its first solution shown as in the authors' release.

    Decoding is that of judges with at most MAX_NEW_TOKENS, unless the model's own entry sets a limit.
    """
    model = profile.model(profile.categories)
    decoding = profile.decoding_of(profile.categories, judge=True)
    if "max_new_tokens" not in model.decoding:
        decoding["max_new_tokens"] = min(MAX_NEW_TOKENS, decoding["max_new_tokens"] or MAX_NEW_TOKENS)
    prompt = render("category", problem=problem.statement, solution=problem.solutions[0])
    return Request(
        model=model.name,
        identity=model.identity(),
        messages=user_message(prompt, model.system),
        decoding=decoding,
        slots={"about": f"category of {problem.problem_id}"},
        ledger=LEDGER,
    )


def read_label(response: Response) -> tuple[str, str | None]:
    """The category in a reply, and its key. A call that failed, or an answer blocked or refused, holds none."""
    if response.status == "failed":
        return UNPARSED, None
    if response.status in ("blocked", "refused"):
        return UNPARSED, response.key
    finish = "length" if response.status == "truncated" else response.finish_reason
    return parse_category(response.text, finish or "stop"), response.key


def with_categories(problems: Sequence[Problem], votes: Sequence[CategoryVote]) -> list[Problem]:
    """The problems, those without a category with the model's where it named one; `source` then says which model."""
    said = {vote.problem_id: vote for vote in votes if vote.label != UNPARSED}
    return [
        replace(problem, category=vote.label, source={**problem.source, "category_source": f"model:{vote.model}"})
        if problem.category is None and (vote := said.get(problem.problem_id))
        else problem
        for problem in problems
    ]


# --- from a reply to a label ------------------------------------------------------------------------------------------

_NAME = r"(?:algebra|arithmetic|counting|geometry|number[\s_-]*theory|probability|others?)"
_LABEL = rf"(?<![\w-]){_NAME}(?![\w'-])"
_JOINED = rf"\s*(?:[,;/&+|(]|,?\s*\b(?:and/or|and|or|nor|vs\.?|versus|with|plus)\b)\s*(?:the\s+)?(?={_LABEL})"
_NAMES = rf"(?P<names>{_LABEL}(?:{_JOINED}{_LABEL})*)"
_MARK = "\ue000"  # stands before what was boxed or set in bold
# What may follow a category: nothing, a stop, or what it is the category of. "counting the ways" names none.
_ENDS = r"(?=\s*(?:$|[.,;:!()\]}–—|]|-\s|\b(?:problems?|questions?|category|because|since|as)\b))"
_OTHER_TOO = re.compile(r"\s*(?:[/&+|]|\bor\b)\s*\w|\s+and\s+[A-Z]")  # "Geometry or Trigonometry": two, if not of ours
_NOUN = r"(?:category|class|classification|answer|label|branch|topic|area|field|subject|domain|type)"
_KIND = rf"(?:(?:an?|the)\s+)?(?:(?:math(?:ematic(?:s|al))?|{_NOUN})\s+)*(?:of\s+)?(?:math(?:ematics)?\s+)?[:\s]*"
_SAYS = (
    rf"(?<![a-z]){_NOUN}\b[^.:;?!]{{0,60}}?(?:\b(?:is|would\s+be|must\s+be|should\s+be)\b|[:=→]|[-=]+>)"
    r"|\b(?:belongs?\s+(?:to|in|under)|falls?\s+(?:under|into|within|in)|(?:classified|categori[sz]ed|labell?ed)\s+"
    r"(?:as|under)|classify\s+(?:it|this)(?:\s+problem)?\s+as)\b"
    r"|\b(?:problem|question|it|this|that)(?:\s+is|'s)\s+(?:about|in|from)\b|\b(?:involves|concerns|deals\s+with)\b"
)
_ADVERB = r"(?:(?:best|most|clearly|primarily|mainly|mostly|therefore|thus|likely)\s+)*"
_PHRASE = re.compile(rf"(?:{_SAYS})\s*{_ADVERB}{_KIND}{_MARK}?\s*{_NAMES}{_ENDS}", re.IGNORECASE)
_IS_A = re.compile(
    rf"(?:\bis|'s)\s+{_ADVERB}an?\s+{_ADVERB}{_MARK}?\s*{_NAMES}(?=\s+(?:problem|question|exercise)\b)", re.IGNORECASE
)
_MARKED = re.compile(rf"{_MARK}\s*{_NAMES}{_ENDS}", re.IGNORECASE)
_NUMBER = r"(?:\(?(?:\d{1,2}|[A-Ga-g])[.)]\s*)?"
_ALONE = re.compile(rf"[^\w?]*{_NUMBER}[^\w?]*{_NAMES}(?:\s+(?:problem|category))?[^\w?]*", re.IGNORECASE)
_LEADS = re.compile(rf"\W*{_NUMBER}\W*{_NAMES}\s*(?:[.:;(–—]|-\s|,?\s*\b(?:because|since|as)\b)", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\b(?:not|never|neither|nor|cannot|without|rather\s+than|instead\s+of|unlike|if|whether|could|might|may|either|"
    r"unable|at\s+first|initially|tempt\w*|seems?|looks?)\b|n't\b",
    re.IGNORECASE,
)


def parse_category(text: str | None, finish_reason: str | None = "stop") -> str:
    """The category (one of CATEGORIES) that a reply names, or UNPARSED.

    It is named by a line that holds nothing else, by one at the head of the reply with a reason behind it, in bold or
    a box, or in a sentence that says so. Reasoning blocks, quotations and a repeated list of choices name none. Two
    categories, a hedged one, and every reply that was cut off are UNPARSED.
    """
    if (finish_reason or "").lower() in CUT_OFF:
        return UNPARSED
    named = list(_statements(_plain_lines(without_reasoning(text or ""))))
    labels = {label for names in named for label in names}
    return labels.pop() if len(labels) == 1 and all(named) else UNPARSED


def _statements(lines: Sequence[str]) -> Iterator[set[str]]:
    """The categories that each statement of the reply names; an empty set for one that leaves it open."""
    alone = {at: found for at, line in enumerate(lines) if len(line) <= _REACH and (found := _ALONE.fullmatch(line))}
    leads = {at: found for at, line in enumerate(lines) if at not in alone and (found := _LEADS.match(line[:_REACH]))}
    led = {label for found in leads.values() for label in _labels(found["names"])}
    repeated = len(leads) > 1 and len(led) > 1  # the list of choices, each with its description
    said = False
    for at, line in enumerate(lines):
        named: list[set[str]] = []
        if at in alone:
            named = [_labels(alone[at]["names"])]
        elif at not in leads:
            named = [labels for sentence in re.split(r"(?<=[.!?;])\s+", line) for labels in _spoken(sentence)]
        elif not repeated and (at == 0 or said):
            # a capital makes a second name of what may else be a common word: "Geometry. Counting is not needed."
            capitals = " ".join(re.findall(r"\b[A-Z]\w+(?: Theory)?", line[leads[at].end() :]))
            named = [_labels(leads[at]["names"]) | _labels(capitals)]
        yield from named
        said = said or bool(named)


def _spoken(sentence: str) -> Iterator[set[str]]:
    """What a sentence of running text says, if it says so outright."""
    if sentence.rstrip().endswith("?") or len(sentence) > _REACH:
        return
    for pattern in (_PHRASE, _IS_A, _MARKED):
        for found in pattern.finditer(sentence):
            if not _TAKEN_BACK.search(sentence[: found.start("names")]):
                yield set() if _OTHER_TOO.match(sentence, found.end("names")) else _labels(found["names"])


def _labels(text: str) -> set[str]:
    """The categories named in a text, by their names here."""
    found = (re.sub(r"[\s_-]+", "", name).lower() for name in re.findall(_LABEL, text, re.IGNORECASE))
    return {_BY_NAME[name] for name in found}


_REACH = 400  # characters of a line, or a sentence, that are read: a model in a loop writes on without a stop
_BY_NAME = {name.replace(" ", "").lower(): name for name in CATEGORIES} | {"other": "Others"}

_UNWRAPPED = (
    (r"^[ \t]*(?:```|~~~)\w*[ \t]*$", ""),
    (r"~~[^\n]{1,400}?~~|<(s|del|strike)>[^\n]{1,400}?</\1>", ""),  # struck out
    (r"</?(?:answer|final_answer|output|category|label|br|p|div)\b[^<>]*>", "\n"),
    (r"</?\w+>|<\|[^<>|]*\|>", ""),
    (r"\\(?:text\w*|mathrm|mathbf|mathsf|emph|mbox|underline)\s*\{([^{}]*)\}", r"\1"),
    (r"\\(?:boxed|fbox|framebox)\s*\{([^{}]*)\}", rf" {_MARK}\1"),
    (r"\*\*([^*\n]+?)(:?)\*\*|__([^_\n]+?)__", rf" {_MARK}\1\3\2 "),
    (r"\\[()\[\]]|\$", ""),
    (r"\\(?=[&_])", ""),
    (r"\\[,;:! ]|~", " "),
    (r"^[ \t]*>[^\n]*$", ""),  # a quotation
    (r"^[ \t]*(?:#+|[-+•*])[ \t]+", ""),
    (r'"(\w+)"\s*:', r"\1:"),  # a key of JSON
    (rf"[\"'`]\s*({_NAME})\s*[.!]?[\"'`]", r"\1"),
    (r"\"[^\"]*\"|`[^`\n]*`", " … "),  # any other quotation
    (r"(?<!\w)[*_]+|[*_]+(?!\w)|[{}\[\]]", " "),
)


def _plain_lines(text: str) -> list[str]:
    """The lines of a reply without what they are wrapped in, without quotations and lines of the prompt itself.

    _MARK stands before what was boxed or in bold.
    """
    text = plain_characters(text).strip()
    if len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1]  # the whole reply in quotation marks is no quotation
    for pattern, plain in _UNWRAPPED:
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE | re.MULTILINE)
    asked = {line.strip() for line in template("category").splitlines()}
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and line not in asked]
