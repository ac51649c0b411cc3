"""Executed notebooks as web pages that need no network: code hidden, pictures and formulas inside the page.

nbconvert's own pages fetch scripts for formulas, diagrams and widgets when they are opened. Here formulas are set by
matplotlib, which knows what the notebooks use, and nothing is fetched.
"""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, pass_context
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image
from nbconvert import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from creativemath_utils.profile import Profile
from creativemath_utils.records import KitError
from creativemath_utils.store import shown, write_atomic

POINTS = 10.5  # the size of a formula: that of the text around it
TEMPLATE = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{% endblock %}
{% block html_head_js_mathjax %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
{% block extra_css %}<style>
main { max-width: 62rem; margin: 0 auto; padding: 0 0.5rem; }
img { max-width: 100%; height: auto; }
.formula { display: inline-block; }
.jp-RenderedHTMLCommon table { display: block; overflow-x: auto; max-width: 100%; }
.jp-OutputArea-output pre { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 48rem) { .jp-InputPrompt, .jp-OutputPrompt { display: none; } .jp-Cell { padding: 2px; } }
</style>{% endblock %}
"""


def write_report(profile: Profile) -> list[Path]:
    """The executed notebooks of a run as pages in data/runs/<run>/report; their paths.

    Raises KitError where no notebook has been executed.
    """
    executed = sorted(profile.paths.executed.glob("*.ipynb"))
    if not executed:
        remedy = f"make reproduce PROFILE={profile.run if profile.file is None else shown(profile.file)}"
        raise KitError(f"{shown(profile.paths.executed)} holds no executed notebook; run `{remedy}` first")
    written = []
    for notebook in executed:
        written.append(profile.paths.folder / "report" / f"{notebook.stem}.html")
        write_atomic(written[-1], web_page(notebook).encode("utf-8", "replace"))
    return written


def web_page(notebook: Path) -> str:
    """An executed notebook as a page that needs no other file."""
    exporter = OfflinePages(
        template_file="offline.html.j2",
        extra_loaders=[DictLoader({"offline.html.j2": TEMPLATE})],
        exclude_input=True,
        exclude_output_prompt=True,
        embed_images=True,
    )
    return exporter.from_filename(str(notebook))[0]


class OfflinePages(HTMLExporter):
    """nbconvert's pages with formulas as pictures."""

    @pass_context
    def markdown2html(self, context: Any, source: str) -> str:
        """Markdown as HTML. The name is nbconvert's: it is a filter of its templates."""
        renderer = Renderer(escape=False, embed_images=True, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)


class Renderer(IPythonRenderer):
    """nbconvert's renderer of Markdown with formulas as pictures."""

    def inline_math(self, body: str) -> str:
        return formula(body)

    def block_math(self, body: str) -> str:
        return f"<p>{formula(body)}</p>"


def formula(body: str) -> str:
    """A formula in TeX as an SVG picture on the line's base; its source where matplotlib cannot set it."""
    picture = io.BytesIO()
    try:
        depth = math_to_image(f"${body.strip()}$", picture, prop=FontProperties(size=POINTS), format="svg")
    except ValueError:  # what mathtext does not know
        return f"<code>{html.escape(body)}</code>"
    data = base64.b64encode(picture.getvalue()).decode("ascii")
    style = f"vertical-align: -{depth:.2f}pt"
    return f'<img class="formula" alt="{html.escape(body)}" style="{style}" src="data:image/svg+xml;base64,{data}">'
