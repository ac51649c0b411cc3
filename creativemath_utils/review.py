"""A person overrules the rules: an answer raw and cleaned side by side, and corrections that win from then on.

Corrections lie in data/human/edits.jsonl, one a line, by the key of the answer, the last one for a key counting. They
change what judges see, so the judges are asked anew about these answers.

    >>> cut_out("Sure! Let x = 2. Hope this helps!", "Let x = 2.")
    ['Sure!', 'Hope this helps!']
"""

from __future__ import annotations

import difflib
import html
import re
from pathlib import Path

from creativemath_utils.records import Edit, KitError, Solution
from creativemath_utils.rows import to_row
from creativemath_utils.store import ROOT, dump_line, read_records, shown

EDITS = ROOT / "data" / "human" / "edits.jsonl"


def read_edits(path: Path | None = None) -> dict[str, Edit]:
    """The corrections by the key of the answer. Raises KitError for a line that cannot be read or leaves nothing."""
    path = path or EDITS
    edits = {edit.key: edit for edit in read_records(path, Edit)} if path.is_file() else {}
    for edit in edits.values():
        if not edit.solution.strip():
            raise KitError(
                f"{shown(path)}: the edit of {edit.key[:12]} leaves nothing to judge; mend or remove that line"
            )
    return edits


def correct(solution: Solution, text: str, note: str = "", path: Path | None = None) -> Edit:
    """Keep `text` as what judges see of this answer from now on. Run notebook 02 again to bring it into the run.

    Raises KitError for a text that leaves nothing.
    """
    path = path or EDITS
    if not text.strip():
        raise KitError(f"{solution.problem_id}, k = {solution.k}: an edit must leave something to judge")
    edit = Edit(solution.key, text, note)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(dump_line(to_row(edit)))
    print(f"kept in {shown(path)}; run notebook 02 again, then this one")
    return edit


def cut_out(raw: str, solution: str) -> list[str]:
    """The parts of `raw` that are not in `solution`, in order, without the white space around them."""
    words, kept = re.findall(r"\S+\s*", raw), re.findall(r"\S+\s*", solution)
    matcher = difflib.SequenceMatcher(None, [w.strip() for w in words], [w.strip() for w in kept], autojunk=False)
    return ["".join(words[a:b]).strip() for tag, a, b, _, _ in matcher.get_opcodes() if tag in ("delete", "replace")]


def side_by_side(solution: Solution) -> str:
    """An answer as HTML: as the model wrote it, what was taken out struck through, and as the judges see it."""
    raw, at, marked = solution.text, 0, []
    for span in solution.removed:
        found = raw.find(span, at)
        if found >= 0:
            marked += [html.escape(raw[at:found]), f"<del>{html.escape(span)}</del>"]
            at = found + len(span)
    marked.append(html.escape(raw[at:]))
    cells = ("".join(marked), html.escape(solution.solution))
    title = f"{solution.generator}: {solution.problem_id}, k = {solution.k} of {solution.n}"
    style = "white-space: pre-wrap; vertical-align: top; text-align: left; width: 50%; overflow-wrap: anywhere"
    columns = "".join(f'<td style="{style}">{cell}</td>' for cell in cells)
    head = "<tr><th>as the model wrote it</th><th>as the judges see it</th></tr>"
    return f"<p>{html.escape(title)}</p><table>{head}<tr>{columns}</tr></table>"
