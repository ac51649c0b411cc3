r"""A model's reply as plain lines, without what it is wrapped in: reasoning, Markdown, HTML, JSON, LaTeX.

What a verdict may be dressed in is taken off; what is only cited (code, quotations, the instruction) is taken out.

    >>> plain_lines('**Verdict**: the proof ends with "so YES, it holds"').strip()
    'Verdict: the proof ends with  …'
    >>> plain_lines('{"reason": "It says YES.", "verdict": "NO"}').strip()
    'Verdict: NO'
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any

# Private-use characters, so that no reply holds them by chance.
BOX_MARK = "\ue000"  # stands before and behind what is boxed
SET_OFF_MARK = "\ue001"  # stands before a verdict that is alone in code or in a block quotation

_PLAIN_MARKS = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "「": '"', "」": '"', "‘": "'", "’": "'", "。": ". "}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad")
)


_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"


def plain_characters(text: str) -> str:
    """The text with full-width letters, typographic quotation marks and the like as plain ones, invisible ones gone.

    Words in Latin letters are set apart from the Chinese, Japanese or Korean around them.
    """
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN_MARKS)
    return re.sub(rf"(?<={_CJK})(?=[A-Za-z])|(?<=[A-Za-z])(?={_CJK})", " ", text)


_YES_NO = r"(?:YES|NO|Yes|No|yes|no)"
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
# A model that runs on writes the next turns, too: another question, and another answer.
_NEXT_TURN = re.compile(
    r"^[ \t]*[#*]*[ \t]*(?:User|Human|Instruction)[ \t*]*:|^Given the following mathematical problem:"
    r"|(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>)\s*user\b"
    r"|<\|user\|>|\[INST\]"
    r"|<\|(?:im_end|endoftext|end_of_text|eot_id|end▁of▁sentence)\|>|<eos>|<end_of_turn>",
    re.MULTILINE,
)
# Runs without end of the same words or signs, as of a model in a loop, say nothing and would be slow to read.
_BLANKS, _BLANK_LINES, _REPEATED = (
    re.compile(r"[^\S\n]+"),
    re.compile(r"\n\s*\n"),
    re.compile(r"(.{1,12}?)\1{7,}"),
)
_FENCE_END = re.compile(r"\s*(?:```|~~~)?")
_BLOCK_QUOTE = re.compile(r"^[ \t]*>(?!=).*$", re.MULTILINE)
_ANSWER_TAG = re.compile(
    r"[<\[](answer|final_answer|verdict|output|decision|result|judge?ment)[>\]]((?:(?![<\[]\1[>\]]).){0,1500}?)[<\[]/\1[>\]]",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"</?(?:b|strong|i|em|u|br|p|span|div|h\d)\b[^<>]*>|<\|[^<>|]*\|>|</s>|<e\w+>", re.IGNORECASE)
_STRUCK_OUT = re.compile(r"~~.*?~~|<(s|del|strike)>(?:(?!<\1>).)*?</\1>", re.IGNORECASE)
# A form filled in: what has no cross is not chosen.
_EMPTY = r"(?:\[\s*\]|\(\s+\)|[☐□⬜◻])"
_UNTICKED = re.compile(
    rf"^[ \t]*{_YES_NO}[ \t]*{_EMPTY}|{_YES_NO}[ \t]*{_EMPTY}[ \t]*$|{_EMPTY}[ \t]*{_YES_NO}\b"
    rf"|(?<=[✔✓✅☑])(\W*{_YES_NO}\s+)[✘✗❌✖]\W*{_YES_NO}\b|[✘✗❌✖]\W*{_YES_NO}\s+(?=[✔✓✅☑]\W*{_YES_NO}\b)",
    re.MULTILINE,
)
_TICKED = re.compile(r"\[[xX✓✔]\]|\([xX✓✔]\)")
_TEXT_COMMAND = r"\\(?:text|textbf|textrm|textit|textsf|texttt|mathrm|mathbf|mathsf|mathtt|emph|mbox|underline)"
_LATEX_TEXT = re.compile(rf"{_TEXT_COMMAND}\s*\{{([^{{}}]*)\}}")
# $\text{NO}$ is a word dressed as a formula; $NO$ is a segment.
_ONLY_TEXT = re.compile(rf"(?:\$\$?|\\[(\[])\s*({_TEXT_COMMAND}\s*\{{[^{{}}$]*\}}\}}?)[\s.]*(?:\$\$?|\\[)\]])")
_BOX = re.compile(r"\${0,2}(?:\\[(\[]\s*)?\\(?:boxed|fbox|framebox)\s*\{([^{}]*)\}(?:\s*\\[)\]])?\$*")
_QUOTED = re.compile(r'"([^"]{1,1500})"|``([^`]{1,1500}?)\'\'|`([^`\n]{1,300})`', re.DOTALL)
_VERDICT_KEY = re.compile(
    r"(?:final_|my_|overall_)?(?:verdict|answer|output|decision|judge?ment|result|response|conclusion|evaluation|"
    r"assessment)|final|overall"
)
_PROPERTY_KEY = re.compile(
    r"(?:is_)?(?:novel|correct)(?:_solution)?|novelty|correctness|(?:leads_to_)?(?:the_)?same_(?:final_)?(?:result|answer)"
)
# The instruction repeated, or both words offered as a choice: the reply quotes the question.
_ECHO = re.compile(
    r"(?:YES|yes|Yes)[\"'`*]*,?\s+(?:if|when|only\s+if)\b(?:(?!\n\s*\n|YES,?\s+if)[^?!]){0,400}?\b(?:otherwise|else)\b"
    r"[,:]?(?:\s*(?:please\s+)?(?:output|answer|say|reply|respond|write|return|print)(?:\s+with)?)?\s*[\"'`*]*"
    r"(?:NO|no|No)\b[\"'`*]*"
)
_CHOICE = re.compile(
    r"\b(?:neither|either|both|between)?\s*(?:"
    + "|".join(
        rf"[\"'`*(\[]*\b{a}\b[\"'`*)\]]*\s*(?:/|\||(?:,\s*)?\b(?:or|and|nor|vs\.?|versus)\b)\s*[\"'`*(\[]*\b{b}\b"
        for a, b in (("YES", "NO"), ("NO", "YES"), ("[Yy]es", "[Nn]o"), ("[Nn]o", "[Yy]es"))
    )
    + r")(?:\"|'|`|\*|\)|\])*"
)


def plain_lines(text: str) -> str:
    """A reply as plain lines: JSON and answer tags turned into labelled lines, quotations and echoes taken out.

    A boxed word has BOX_MARK on both sides. The text is expected without reasoning, in plain characters.
    """
    text = _REPEATED.sub(r"\1\1\1", _BLANK_LINES.sub("\n\n", _BLANKS.sub(" ", _json_as_lines(text))))
    text = re.sub(r"\A\s*<s>(.*)</s>\s*\Z", r"\1", text, flags=re.DOTALL)  # tokens around the reply
    if "<s>" not in text:  # else what it ends is struck out
        text = text.replace("</s>", "<eos>")
    if (said := re.search(rf"\b{_YES_NO}\b", text)) and (turn := _NEXT_TURN.search(text, said.end())):
        text = text[: turn.start()]
    if re.fullmatch(r"\s*(```|~~~)[^\n]*\n(?:(?!\1).)*\1\s*", text, re.DOTALL):
        text = "\n".join(text.strip().splitlines()[1:-1])  # the whole reply in one fence is no citation
    if all(_BLOCK_QUOTE.match(line) for line in text.split("\n") if line.strip()):
        text = re.sub(r"^[ \t]*>", "", text, flags=re.MULTILINE)  # nor is a reply that is one block quotation
    text = _BLOCK_QUOTE.sub(_set_off, _FENCE.sub(_set_off, text))
    text = _ANSWER_TAG.sub(lambda tag: f"\nVerdict: {tag[2].strip()}\n", text)
    text = _TAG.sub("", _STRUCK_OUT.sub("", text))
    text = _TICKED.sub(" ", _UNTICKED.sub(lambda form: form[1] or "", text))
    text = re.sub(r"\\(?:large|Large|huge|Huge|bf|bfseries|displaystyle)(?![A-Za-z])", "", text)
    text = _ONLY_TEXT.sub(r"\1", text)
    for _ in range(3):  # \boxed{\textbf{\text{NO}}}: from the inside out
        text = _LATEX_TEXT.sub(r"\1", text)
    text = _BOX.sub(rf" {BOX_MARK}\1{BOX_MARK} ", text)
    text = re.sub(r"\\(?:quad|qquad|[,;:! ])|~", " ", text)
    text = re.sub(rf"(?:\*\*|__)({_YES_NO}[.!]?)(?:\*\*|__)", lambda m: m[1].upper(), text)  # in bold: meant
    text = re.sub(r"\*+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)", "", text)
    text = re.sub(rf"'({_YES_NO}[.!]?)'", r'"\1"', text)
    text = _CHOICE.sub(" … ", _ECHO.sub(" … ", text))
    whole = text.strip()
    if len(whole) > 1 and whole[0] == whole[-1] == '"' and '"' not in whole[1:-1]:
        text = whole[1:-1]  # the whole reply in quotation marks is no citation
    return _QUOTED.sub(_cited, text)


def _set_off(block: re.Match[str]) -> str:
    """Code and block quotations go; but not a lone verdict that nobody else is said to have given.

    It is at the head of the reply (code alone), behind a label or a finished sentence that end it, or behind a label.
    """
    word = re.fullmatch(
        rf"\s*(?:>\s*)?(?:\**(?:output|answer|verdict)\W+)?\W*({_YES_NO})\W*",
        block[2] if block.re is _FENCE else block[0],
        re.IGNORECASE,
    )
    if not word:
        return "\n"
    before = block.string[max(0, block.start() - 300) : block.start()].rstrip().rpartition("\n")[2]
    after = block.string[block.end() : block.end() + 300].strip()
    introduced = re.search(
        r"\b(?:output|answer|verdict|decision|judge?ment|conclusion)\W*\Z", before[-40:], re.IGNORECASE
    ) and not re.search(r"candidate|solution|reference|student|author|program", before, re.IGNORECASE)
    lone = introduced or (not after and before.endswith((".", "!"))) or (not before and block.re is _FENCE)
    return f"\n{SET_OFF_MARK}{word[1].upper()}\n" if lone else "\n"


def _cited(quotation: re.Match[str]) -> str:
    """A quoted lone verdict stays, in its marks; any other quotation goes."""
    words = next(group for group in quotation.groups() if group is not None).strip()
    return f'"{words}"' if re.fullmatch(rf"{_YES_NO}[.!]?", words) else " … "


def _json_as_lines(text: str) -> str:
    """The text with each JSON object replaced by a line for its verdict; what its other fields say does not decide."""
    decoder, out, at = json.JSONDecoder(), [], 0
    for brace in islice(re.finditer(r'\{(?=\s*")', text), 1000):
        if brace.start() < at:
            continue
        try:
            value, end = decoder.raw_decode(text, brace.start())
        except json.JSONDecodeError:  # cut off, or a set of quotations
            continue
        except RecursionError:  # braces without end
            break
        # A fence around it belongs to the object.
        before = re.sub(r"(```|~~~)\w*\s*$", "", text[at : brace.start()])
        out += [before, "\n", *(f"{line}\n" for line in _verdict_fields(value))]
        at = _FENCE_END.match(text, end).end() if before != text[at : brace.start()] else end
    return "".join([*out, text[at:]])


def _verdict_fields(value: Any) -> Iterator[str]:
    """A line `Verdict: NO` for each verdict of an object, `Novel: NO` where the key names a property.

    An object inside is read where its key is one for verdicts and there is none beside it: `{"evaluation": {"verdict":
    "NO"}}`; that of `{"candidate": {"answer": "NO"}}` is somebody else's.
    """
    inner = []
    found = False
    fields = value if isinstance(value, dict) and not isinstance(value.get("criterion"), int | str) else {}
    for key, field in fields.items():
        name = re.sub(r"[\s-]+|(?<=[a-z])(?=[A-Z])", "_", key.strip()).lower()
        label = "Verdict" if _VERDICT_KEY.fullmatch(name) else "Novel" if _PROPERTY_KEY.fullmatch(name) else None
        if label and isinstance(field, str | bool):
            found = True
            yield f"{label}: {field if isinstance(field, str) else 'YES' if field else 'NO'}"
        elif label and isinstance(field, dict):
            inner.append(field)
    if not found:
        for field in inner:
            yield from _verdict_fields(field)
