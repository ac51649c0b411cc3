r"""Text and tables in GitHub-flavoured Markdown.

>>> plain_markdown("lab_model|x")
'lab\\_model\\|x'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tabulate import tabulate


def pipe_table(rows: Sequence[Sequence[Any]], header: Sequence[str]) -> str:
    """Rows of cells, plain in Markdown already, as a table with its columns in line."""
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, stralign="left")


def plain_markdown(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or formulas."""
    return re.sub(r"([\\`*_\[\]<>|$~])", r"\\\1", " ".join(str(text).split()))
