r"""The final answer that a solution states, and the options that a problem offers, as LaTeX source.

>>> final_answer(r"Try \boxed{5}. No: \boxed{\textbf{(B)}\ 41}")
'\\textbf{(B)}\\ 41'
>>> options_of(r"$\textbf{(A)}\ 40 \qquad \textbf{(B)}\ 41 \qquad \textbf{(C)}\ 42 \qquad \textbf{(D)}\ 43$")
{'A': '40', 'B': '41', 'C': '42', 'D': '43'}
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from creativemath_utils.reasoning import without_reasoning

# --- Finding the answer in a solution ---------------------------------------------------------------------------------

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_MATH = r"\$\$?(?P<math>[^$]+)\$|\\\((?P<paren>.+?)\\\)|\\\[(?P<bracket>.+?)\\\]"
_PLAIN = (
    r"(?P<plain>\(?[A-E]\)?(?![\w'])(?:\s*-?\d[\d.,/]*)?"
    r"|-?\\?\$?\d(?:[\d.,/]*\d)?(?:\s*\\?%)?|-?\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\})"
)
_SAYS = re.compile(
    r"(?i:\b(?:answer|option|choice)(?:\s+(?:choice|option))?\b(?:\s+(?:to|of|for)\b[^.:\n]{0,60}?)?"
    r"\s*(?:\*\*|__)?\s*(?:\b(?:is|equals|must be|should be|comes out as)\b|[:=]|-|—)\s*(?:\*\*|__)?[\s:]*"
    r"(?:(?:therefore|thus|hence|then|simply|just|indeed|option|choice|exactly)\b[\s,:]*)*(?:\*\*|__)?\s*)"
    rf"(?:{_MATH}|{_PLAIN})"
)
_BOLD = re.compile(rf"(?:\*\*|__)\s*(?:{_MATH}|{_PLAIN})\s*\.?\s*(?:\*\*|__)")
_LAST_LETTER = re.compile(
    r"(\\(?:textbf|text|mathrm|mathbf)\s*\{\s*\(?[A-E]\)?\s*\}|\(\s*(?:\\\w+\s*\{)?[A-E]\}?\s*\)"
    r"|(?<=implies)\s+[A-E]|(?<=arrow)\s+[A-E]|(?<==>)\s*[A-E])[\s.$*\\)\]}]*$"
)


def final_answer(text: str) -> str | None:
    r"""The LaTeX source of a solution's final answer, or None where it states none.

    The last \boxed, \fbox or \framebox (boxes joined by "and", "or" or a comma are one answer); else the last "the
    answer is ..." or "Answer: ..."; else a bold value in the last line, or an option letter that ends it. A last box
    that is never closed (a solution cut off) is no answer, and an earlier one was not meant as the last.
    """
    text = without_reasoning(text)
    boxes = list(_boxes(text))
    if boxes:
        return _joined(text, boxes)
    says = list(_SAYS.finditer(text))
    if says:
        return _captured(says[-1])
    last_line = (text.strip().splitlines() or [""])[-1]
    bold = list(_BOLD.finditer(last_line))
    if bold:
        return _captured(bold[-1])
    letter = _LAST_LETTER.search(last_line)
    return letter[1].strip() if letter else None


def _captured(match: re.Match[str]) -> str:
    return next(match[name] for name in ("math", "paren", "bracket", "plain") if match[name] is not None).strip()


def _boxes(text: str) -> Sequence[tuple[int, int, str | None]]:
    """(start, end, content) of the outermost boxes that are not empty; content None for one that is never closed."""
    found, at = [], 0
    for command in _BOX.finditer(text):
        if command.start() < at:
            continue
        if text.startswith("{", command.end()):
            end = _closing_brace(text, command.end())
            content = None if end is None else text[command.end() + 1 : end]
            end = len(text) if end is None else end + 1
        else:  # \boxed 41: TeX would box the 4, the writer means the number
            bare = re.compile(r"-?[\w.,]*\w|\\[A-Za-z]+(?:\s*\{[^{}]*\})*").match(text, command.end())
            if not bare:
                continue
            content, end = bare[0], bare.end()
        if content is None or content.strip():
            found.append((command.start(), end, content and _unboxed(content)))
        at = end
    return found


def _unboxed(content: str) -> str:
    r"""The content of a box without the boxes inside it: x = \boxed{41} becomes x = 41."""
    inner = [box for box in _boxes(content) if box[2] is not None]
    for start, end, text in reversed(inner):
        content = f"{content[:start]}{text}{content[end:]}"
    return content.strip()


def _closing_brace(text: str, opening: int) -> int | None:
    depth, at = 0, opening
    while at < len(text):
        if text[at] == "\\":  # \{ and \} are no grouping
            at += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    return None


def _joined(text: str, boxes: Sequence[tuple[int, int, str | None]]) -> str | None:
    """The last box, with those that a bare "and", "or" or comma ties to it."""
    parts = [boxes[-1][2]]
    for before, after in zip(reversed(boxes[:-1]), reversed(boxes[1:]), strict=True):
        between = re.sub(r"\\(?:text|mbox|quad|qquad|[()\[\],; ])|[${}\s]", "", text[before[1] : after[0]])
        if between not in ("and", "or", ",", ",and", ",or") or before[2] is None:
            break
        parts.insert(0, before[2])
    return None if parts[-1] is None else ", ".join(parts)


# --- Options ----------------------------------------------------------------------------------------------------------

_STYLE = r"\\(?:textbf|textrm|textit|textsf|text|mathrm|mathbf|mathit|mathsf|mbox|bf|rm)"
_LABEL_BRACED = re.compile(
    rf"\(\s*{_STYLE}\s*\{{\s*([A-E])\s*\}}\s*\)|{_STYLE}\s*\{{\s*\(?\s*([A-E])\s*[).]\s*(?:\\?\s)*\}}"
)
_LABEL_OPEN = re.compile(rf"{_STYLE}\s*\{{\s*\(([A-E])\)((?:[^{{}}]|\{{[^{{}}]*\}})+)\}}")
_LABEL_OLD = re.compile(r"\{\s*\\(?:bf|rm)\s*\(?([A-E])\)?\s*\}")
_LABEL_PLAIN = re.compile(r"\(\s*([A-E])\s*\)")
_EDGE = r"(?:\\(?:qquad|quad|,|;|:|!|\s|\\|hspace\s*\{[^{}]*\}|newline)|(?<!\\)\$|~|\s|[,;:]|&)"


def options_of(statement: str) -> dict[str, str]:
    """Option letter -> LaTeX of its value, or {} where the statement lists none (or shows them in a picture).

    The last run of labels A, B, C, D, ... (four at least) counts, in any of the usual styles.
    """
    text = re.sub(r"\[asy\].*?\[/asy\]", "", statement, flags=re.DOTALL)
    text = _LABEL_OPEN.sub(r"(\1) \2", _LABEL_OLD.sub(r"(\1)", text))
    text = _LABEL_BRACED.sub(lambda label: f"({label[1] or label[2]})", text)
    runs: list[list[re.Match[str]]] = []
    for label in _LABEL_PLAIN.finditer(text):
        if label[1] == "A":
            runs.append([label])
        elif runs and ord(label[1]) == ord(runs[-1][-1][1]) + 1:
            runs[-1].append(label)
    labels = next((run for run in reversed(runs) if len(run) >= 4), [])
    ends = [*(label.start() for label in labels[1:]), len(text)][: len(labels)]
    options = {}
    for label, end in zip(labels, ends, strict=True):
        value = text[label.end() : end]
        if end == len(text):  # the last one ends with its line
            value = value.lstrip().split("\n")[0]
        options[label[1]] = re.sub(rf"^{_EDGE}+|{_EDGE}+$", "", value)
    return options if all(options.values()) else {}
