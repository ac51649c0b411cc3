"""Seconds to curate as many saved pages as the full data set has problems. Nothing is asserted: read the table.

6,469 invented pages of 15 kB, half rendered and half wikitext, in a folder that is removed at the end. The wikitext
pages are the harder half: all of their 15 kB is text, while a rendered page is two thirds frame and addresses.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from creativemath_utils.pages import read_pages, reason_counts

CONTESTS = [("AMC 8", 25), ("AMC 10A", 25), ("AMC 12B", 25), ("AHSME", 30), ("AIME I", 15), ("USAMO", 6), ("IMO", 6)]
WORDS = ("every marble in the row has a lighter neighbour so the sum of these weights " * 2).split()


def formulas(draw: random.Random) -> str:
    a, b = draw.randint(2, 99), draw.randint(2, 99)
    return draw.choice([rf"a_{{{a}}}+{b}", rf"\frac{{{a}}}{{{b}}}<x", rf"\binom{{{a}}}{{2}}={a * (a - 1) // 2}"])


def sentence(draw: random.Random, html: bool) -> str:
    source = formulas(draw)
    escaped = source.replace("<", "&lt;")
    shown = f'<img src="//latex/{draw.random()}.png" class="latex" alt="${escaped}$" width="90" height="17" />'
    return " ".join(draw.sample(WORDS, 9)).capitalize() + " " + (shown if html else f"<math>{source}</math>") + "."


def page(title: str, number: int, size: int, html: bool) -> str:
    draw = random.Random(f"{title}/{html}")
    link = f'<a href="/wiki/index.php/Sum_{number}">total</a>' if html else f"[[Sum {number}|total]]"
    paragraphs = [f"Find the {link} of the {number} weights. " + sentence(draw, html)]
    while sum(map(len, paragraphs)) < size - (5500 if html else 300):
        paragraphs.append(" ".join(sentence(draw, html) for _ in range(3)))
    third = len(paragraphs) // 3
    blocks = [("Problem", paragraphs[:1]), ("Solution 1", [*paragraphs[1:third], "~ab_cd"])]
    blocks += [("Solution 2 (Sums)", paragraphs[third : 2 * third]), ("Solution 3", paragraphs[2 * third :])]
    if not html:
        bullets = f"\n* ''first'' {sentence(draw, html)}\n* '''second''' {sentence(draw, html)}\n"
        body = "".join(f"== {heading} ==\n" + "\n\n".join(texts) + bullets for heading, texts in blocks)
        return body + "== See also ==\n{{AMC10 box|year=2041|num-b=1|num-a=3}}\n{{MAA Notice}}\n"
    body = "".join(
        f'<h2><span class="mw-headline">{heading}</span></h2>\n' + "".join(f"<p>{text}\n</p>" for text in texts)
        for heading, texts in blocks
    )
    links = "".join(f'<a href="/wiki/index.php/P_{n}" title="Problem {n}">{n}</a> <b>x</b> ' for n in range(40))
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{'<script>var a = 1;</script>' * 30}</head><body>"
        f'<h1 id="firstHeading">{title}</h1><div id="mw-content-text"><div class="mw-parser-output">{body}'
        f'<h2><span class="mw-headline">See Also</span></h2><table><tr><td>Preceded by {links}</td></tr></table>'
        "</div></div></body></html>"
    )


def write_pages(folder: Path, count: int, size: int) -> int:
    """Write the pages; their bytes together."""
    total = 0
    for number in range(count):
        contest, last = CONTESTS[number % len(CONTESTS)]
        nth = number // len(CONTESTS)
        title = f"{2050 + nth // last} {contest} Problems/Problem {nth % last + 1}"
        html = number % 2 == 0
        text = page(title, number + 2, size, html)
        name = title.replace(" ", "_").replace("/", "_") + (".html" if html else ".wikitext")
        total += (folder / name).write_text(text, encoding="utf-8")
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=6469)
    parser.add_argument("--size", type=int, default=15_000, help="characters of a page")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write_pages(folder, asked.pages, asked.size)
        for suffix in ("html", "wikitext"):
            some = sorted(folder.glob(f"*.{suffix}"))[:100]
            print(f"{suffix}: {sum(path.stat().st_size for path in some) / len(some):.0f} bytes a page")
        started = time.perf_counter()
        problems, left_out = read_pages(folder, processes=asked.processes)
        seconds = time.perf_counter() - started
    print(f"{asked.pages} pages, {size / 1e6:.0f} MB, {asked.processes} processes")
    print(f"{len(problems)} problems, dropped {dict(reason_counts(left_out))}")
    print(f"{seconds:.1f} s, {asked.pages / seconds:.0f} pages/s")


if __name__ == "__main__":
    main()
