"""Web pages of executed notebooks: nothing is fetched when they are opened, and formulas are shown."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest

from creativemath_utils.report import formula, web_page

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


@pytest.mark.parametrize("body", ["k", "N_u/N", r"k = 1, \dots, n", "n - k"])
def test_a_formula_is_a_picture_with_its_source_as_text(body):
    shown = formula(body)
    assert f'alt="{body}"' in shown
    picture = base64.b64decode(re.search(r"base64,([^\"]+)", shown)[1])
    assert picture.startswith(b"<?xml") and b"</svg>" in picture


def test_a_formula_that_cannot_be_set_is_shown_as_it_is():
    assert formula(r"\begin{cases} a < b") == r"<code>\begin{cases} a &lt; b</code>"


def test_every_formula_of_the_notebooks_can_be_set():
    cells = [c for file in NOTEBOOKS.glob("*.ipynb") for c in nbformat.read(file, as_version=4).cells]
    bodies = [b for c in cells if c.cell_type == "markdown" for b in re.findall(r"\$([^$]+)\$", c.source)]
    assert len(bodies) > 10
    assert [body for body in bodies if "<code>" in formula(body)] == []


def test_a_page_fetches_nothing_hides_code_and_keeps_what_was_printed(tmp_path):
    code = nbformat.v4.new_code_cell("print(hidden)")
    code.outputs = [nbformat.v4.new_output("stream", name="stdout", text="shown: $5 <b>\n")]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title\n\n$N/C$, not \\$5"), code])
    nbformat.write(notebook, tmp_path / "one.ipynb")
    page = web_page(tmp_path / "one.ipynb")
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|url\(["']?http""", page)
    assert "print(hidden)" not in page
    assert "shown: $5 &lt;b&gt;" in page  # what a cell prints is text
    assert 'alt="N/C"' in page and "not $5" in page
