"""One saved page as a problem, or the reason why it is none.

Rule numbers (R1, S4, C3, D2, ...) are the curation rules'.

All problems, solutions and names are invented.
"""

from __future__ import annotations

import json
import os
import re
import time
import unicodedata
from pathlib import Path

import pytest

from creativemath_utils.aops import Dropped, parse_page, read_page
from creativemath_utils.wiki.names import is_by_line
from creativemath_utils.wiki.sections import clean_heading, kind_of
from creativemath_utils.wiki.titles import category_of, parse_title, title_of_address, title_of_file

ROOT = Path(__file__).resolve().parents[1]
OWN = Path(__file__).resolve().parent / "pages"
CURATION_ENV = "CREATIVEMATH_CURATION"
PLACES = [os.environ.get(CURATION_ENV), ROOT.parent / "shared" / "curation"]
GIVEN = next((Path(place) for place in PLACES if place and (Path(place) / "expected.json").is_file()), None)

AIME = "2041 AIME I Problems/Problem 3"
AMC = "2041 AMC 10A Problems/Problem 7"
CHOICES = r"$\textbf{(A) }1\quad\textbf{(B) }2\quad\textbf{(C) }3\quad\textbf{(D) }4\quad\textbf{(E) }5$"


def img(source):
    return f'<img src="//x/y.png" class="latex" alt="{source}" width="9" height="9" />'


def html(body, title=AIME, head="", frame=""):
    return (
        f'<!DOCTYPE html><html><head>{head}</head><body><h1 id="firstHeading">{title}</h1>{frame}'
        f'<div id="mw-content-text"><div class="mw-parser-output">{body}</div></div></body></html>'
    ).encode()


def section(heading, body, level=2):
    return f'<h{level}><span class="mw-headline">{heading}</span></h{level}>{body}'


def rendered(problem="<p>Find it.</p>", solution="<p>Count them.</p>", **about):
    return html(section("Problem", problem) + section("Solution", solution), **about)


def wiki(problem="Find it.", solution="Count them."):
    return f"== Problem ==\n{problem}\n== Solution ==\n{solution}\n".encode()


def read(content, name="2041_AIME_I_Problems_Problem_3.wikitext"):
    return parse_page(content if isinstance(content, bytes) else content.encode(), name)


def kept(content, **about):
    outcome = read(content, **about)
    assert not isinstance(outcome, Dropped), outcome
    return outcome


def flat(text):
    return " ".join(unicodedata.normalize("NFC", text).replace("\u00a0", " ").split())


# --- whole pages against expectations (rule 10) -----------------------------------------------------------------------


def differences(folder, expected):
    """What differs from an object of expected.json, by its names."""
    outcome, metadata = parse_page((folder / expected["file"]).read_bytes(), expected["file"]), expected["metadata"]
    dropped = isinstance(outcome, Dropped)
    found = {
        "status": "drop" if dropped else "keep",
        "drop_reason": outcome.reason if dropped else None,
        "title": outcome.title if dropped else outcome.source["title"],
        "removed_solutions": [dict(removed) for removed in outcome.removed_solutions],
        "redirect_target": outcome.redirect_target if dropped else None,
        "competition": outcome.competition,
        "competition_id": outcome.competition_id,
        "contest": outcome.contest if dropped else outcome.source["contest"],
        "year": outcome.year,
        "problem_id": outcome.number,
    }
    if not dropped:
        found |= {
            "difficulty": outcome.difficulty,
            "category": outcome.category and outcome.category.lower(),
            "wiki_categories": outcome.source["wiki_categories"],
            "shared_with": list(outcome.shared_with),
            "problem": flat(outcome.statement),
            "solutions": [flat(text) for text in outcome.solutions],
            "solution_headings": list(outcome.solution_headings),
        }
    asked = expected | metadata
    if not dropped:
        asked |= {"problem": flat(asked["problem"]), "solutions": [flat(text) for text in asked["solutions"]]}
    wrong = {name: (value, asked[name]) for name, value in found.items() if value != asked[name]}
    missing = set(expected["warnings"]) - set(() if dropped else outcome.warnings)
    return wrong | ({"warnings": missing} if missing else {})


def pages_of(folder):
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))["pages"] if folder else []


@pytest.mark.skipif(
    GIVEN is None, reason=f"the given pages are not part of the kit; say where they are in {CURATION_ENV}"
)
def test_the_given_pages():
    assert {page["file"]: found for page in pages_of(GIVEN) if (found := differences(GIVEN, page))} == {}


@pytest.mark.parametrize("page", pages_of(OWN), ids=lambda page: page["file"])
def test_our_own_pages(page):
    assert differences(OWN, page) == {}


# --- R1 to R6: what a file is -----------------------------------------------------------------------------------------

FRAGMENT = '<div class="mw-parser-output"><h2>Problem</h2><p>Find it.</p><h2>Solution</h2><p>Count.</p></div>'
QUERY = {"query": {"pages": {"7": {"title": AMC, "revisions": [{"revid": 5, "*": wiki().decode()}]}}}}


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "unreadable"),  # R1
        (b"\xef\xbb\xbf \n", "unreadable"),  # R1: a byte order mark is no text
        (b"\x89PNG\r\n\x1a\n\x00\x00", "unreadable"),  # R1
        ("== Problem ==\nFür".encode("latin-1"), "unreadable"),  # R1
        ("== Problem ==\nx".encode("utf-16"), "unreadable"),  # R1
        ("== Problem ==\nx".encode("utf-16-le"), "unreadable"),  # R1: decodes, to zero bytes
        (rendered()[:-7], "truncated_page"),  # R3
        (rendered()[:300], "truncated_page"),  # R3 before R4
        (b'{"parse": {"title": "20', "truncated_page"),  # R2, 9: an answer saved half-way
        (b"<!-- saved --><HTML><body>Log in</body></HTML>", "not_wiki_page"),  # R4
        (b'[{"id": 3}]', "not_wiki_page"),
        (html("<p>There is currently no text in this page. You can search.</p>"), "missing_page"),  # R4
        (
            rendered()
            .replace(b'class="mw-parser-output"', b'class="noarticletext"')
            .replace(b"Find it.", b"There is currently no text in this page."),
            "missing_page",
        ),  # R4: outside the root
        (b'{"error": {"code": "missingtitle", "info": "gone"}}', "missing_page"),
        (b'{"query": {"pages": [{"title": "X", "missing": true}]}}', "missing_page"),
        (b"<!-- a -->\n#Redirect:[[AMC]]", "redirect"),  # R5
        (
            html('<div class="redirectMsg"><p class="redirectText"><a href="/wiki/index.php/A_b">A b</a></p></div>'),
            "redirect",
        ),  # R5
        (rendered(title="2041 AMC 10A Problems"), "not_problem_page"),  # R6
        (rendered(title="2041 AMC 10A Answer Key"), "not_problem_page"),
        (rendered(title="User:Ab"), "not_problem_page"),
        (rendered(title="2041 HMMT Problems/Problem 3"), "not_problem_page"),
        (html(section("Problem 1", "<p>A</p>") + section("Problem 2", "<p>B</p>")), "not_problem_page"),  # S2
        (wiki(problem=""), "no_problem_text"),  # S2
        (wiki(problem="~ab_cd"), "no_problem_text"),
        (wiki(problem="These problems will not be posted until the test is over."), "incomplete_problem"),  # D3
        (wiki(problem="Coming soon."), "incomplete_problem"),  # D3
        (wiki(problem="{{incomplete|problem}}"), "incomplete_problem"),  # D3
        (wiki(problem="Find <math>x</math>. {{stub}}"), "incomplete_problem"),  # D3
        (b"{{stub}}\n" + wiki(), "incomplete_problem"),  # D3: above the problem
        (rendered("<p>This article is a stub. <a href='x'>Help us out</a> by expanding it.</p>"), "incomplete_problem"),
        (
            rendered(solution="<p>This problem needs a solution. If you have one, <a href='x'>add it</a>.</p>"),
            "no_solutions",
        ),
        (rendered("<p>Which of the following is odd?</p>", title=AMC), "incomplete_problem"),  # D3
        (wiki(problem="Find it. <asy>draw((0,0));</asy>"), "diagram_in_problem"),  # D1
        (wiki(problem="Find it. [[Image:Two.png|thumb|right]]"), "diagram_in_problem"),  # D1
        (rendered("<p>Find it.</p><pre class='asy'>draw();</pre>"), "diagram_in_problem"),  # D1
        (rendered("<p>Find it.<svg><path d='M0'/></svg></p>"), "diagram_in_problem"),  # D1
        (rendered("<p>Find it. [asy] draw(); [/asy]</p>"), "diagram_in_problem"),  # D1
        (wiki() + b"== Diagram ==\n[[File:A.png]]", "diagram_in_problem"),  # S6
        (wiki(problem="Find the area as shown."), "missing_diagram"),  # D2
        (wiki(problem="The diagram shows two circles. Find it."), "missing_diagram"),  # D2
        (wiki(problem="Find it. {{image}}"), "missing_diagram"),  # D2
        (wiki(problem="Find <math>x^2."), "bad_latex_in_problem"),  # R11
        (rendered(f"<p>Find {img('')}.</p>"), "bad_latex_in_problem"),  # R11
        (rendered('<p>Find <img class="latex" src="x.png">.</p>'), "bad_latex_in_problem"),  # R11
        (rendered("<p>Find [mathjax]x^2.</p>"), "bad_latex_in_problem"),  # R11
        (rendered(f"<p>Find {img('$' + chr(92) + 'begin{matrix}1$')}.</p>"), "bad_latex_in_problem"),  # R11
        (b"== Problem ==\nFind it.\n== See also ==\nmore", "no_solutions"),  # D4
        (wiki(solution="{{solution}}"), "no_solutions"),  # D4
        (b"== Problem ==\nFind it.\n== Video Solution ==\nhttps://youtu.be/0", "no_solutions"),  # D4, S5
        (wiki(solution="So. <asy>draw((0,0));</asy>"), "diagram_in_solution"),  # D1
        (wiki(solution="So <math>x. Done."), "bad_latex_in_solution"),  # R11
        (wiki(solution="So <math>x<math>y</math>."), "bad_latex_in_solution"),  # R11
        (wiki(solution=r"So <cmath>\begin{align*}x\end{align}</cmath>."), "bad_latex_in_solution"),  # R11
    ],
)
def test_a_page_that_gives_no_problem(content, reason):
    outcome = read(content)
    assert isinstance(outcome, Dropped) and (outcome.reason, outcome.file[:4]) == (reason, "2041")


@pytest.mark.parametrize(
    "content",
    [
        wiki(),
        b"\xef\xbb\xbf" + wiki(),
        FRAGMENT,
        json.dumps({"parse": {"title": AIME, "text": {"*": FRAGMENT}}}),  # api.php?action=parse
        json.dumps({"parse": {"title": AIME, "text": FRAGMENT, "revid": 9}}),  # its second version
        json.dumps({"parse": {"title": AIME, "wikitext": wiki().decode()}}),
        json.dumps(QUERY).replace(AMC, AIME),
        json.dumps(
            {"query": {"pages": [{"title": AIME, "revisions": [{"slots": {"main": {"content": wiki().decode()}}}]}]}}
        ),
        rendered() + b"\n<!-- saved from a browser -->\n",  # R3
        b"<?xml version='1.0' encoding='utf-8'?>\n" + rendered(),
        html(FRAGMENT, title="Odd", head='<script>{"wgPageName":"2041_AIME_I_Problems\\/Problem_3"}</script>'),  # R6
        html(FRAGMENT, title="Odd", head='<link rel="canonical" href="https://x.com./Wiki/index.php/' + AIME + '">'),
        html(
            FRAGMENT,
            title="Odd",
            frame=f'<div class="printfooter"><a href="/wiki/index.php?title={AIME}&amp;oldid=8">x</a></div>',
        ),  # R6
    ],
)
def test_every_way_to_save_a_page(content):
    problem = kept(content)
    assert (problem.source["title"], problem.statement) == (AIME, "Find it.")
    assert problem.solutions in [("Count them.",), ("Count.",)]


@pytest.mark.parametrize(
    "text, title, competition, difficulty",
    [
        ("2021_Fall_AMC_12A_Problems/Problem_16", "2021 Fall AMC 12A Problems/Problem 16", "AMC_12", 3),
        ("1985 AJHSME Problems/Problem 13", "1985 AJHSME Problems/Problem 13", "AMC_8", 1.5),
        ("2000 AMC 10 Problems/Problem 25", "2000 AMC 10 Problems/Problem 25", "AMC_10", 3),
        ("2002 AMC 12P Problems/Problem 10", "2002 AMC 12P Problems/Problem 10", "AMC_12", 2),
        ("1950 AHSME Problems/Problem 50", "1950 AHSME Problems/Problem 50", "AHSME", None),
        ("1985 AIME Problems/Problem 11", "1985 AIME Problems/Problem 11", "AIME", 5),
        ("2020 AOIME Problems/Problem 15", "2020 AIME II Problems/Problem 15", "AIME", 6),  # R6
        ("2020 USOJMO Problems/Problem 5", "2020 USAJMO Problems/Problem 5", "USAJMO", 6.5),  # R6
        ("2020 USOMO Problems/Problem 3", "2020 USAMO Problems/Problem 3", "USAMO", 9),  # R6
        ("1964 IMO Problems/Problem 7", "1964 IMO Problems/Problem 7", "IMO", None),  # outside the table
    ],
)
def test_titles(text, title, competition, difficulty):  # 1.1, R6, 3.4
    read = parse_title(text)
    assert (read.text, read.competition, read.difficulty) == (title, competition, difficulty)


@pytest.mark.parametrize(
    "text",
    [
        "2041 AMC 10C Problems/Problem 1",
        "2041 AMC 10A Problems/Problem 1/Solution",
        "2041 Fall AIME I Problems/Problem 1",
        "2041 AIME III Problems/Problem 1",
        "Mock 2041 AMC 8 Problems/Problem 1",
        "2041 AMC 8 Problems/Problem 0",
    ],
)
def test_other_titles(text):  # R6
    assert parse_title(text) is None


@pytest.mark.parametrize(
    "address",
    [
        "/wiki/index.php/2041_AIME_I_Problems/Problem_3",
        "https://www.x.com./Wiki/index.php?title=2041_AIME_I_Problems/Problem_3",
        "http://x.com/wiki/index.php/2041_AIME_I_Problems%2FProblem_3",
        "/wiki/2041_AIME_I_Problems/Problem_3",
        "//x.com/wiki/index.php?title=2041_AIME_I_Problems/Problem_3&oldid=77&action=raw",
    ],
)
def test_addresses(address):  # 1.1
    assert title_of_address(address) == AIME


@pytest.mark.parametrize(
    "name",
    [
        "2041_AIME_I_Problems_Problem_3.wikitext",
        "2041 AIME I Problems%2FProblem 3",
        "2041_AIME_I_Problems/Problem_3.txt",
        "pages/2041_AIME_I_Problems/Problem_3",
        "index.php?title=2041_AIME_I_Problems%2FProblem_3&action=raw",
        "2041 AIME I Problems_Problem 3 - AoPS Wiki.html",
        "2041_AIME_I_Problems_Problem_3 (1).json",
    ],
)
def test_file_names(name):  # R6
    assert parse_title(title_of_file(name)).text == AIME


def test_only_a_page_without_a_title_is_named_by_its_file():  # R6
    assert read(html(FRAGMENT, title="Main Page")).reason == "not_problem_page"
    assert read(html(FRAGMENT, title="Main Page")).title == "Main Page"


@pytest.mark.parametrize(
    "names, category",
    [
        (["Introductory Algebra Problems", "Olympiad Inequality Problems"], "Algebra"),
        (["Intermediate Trigonometry Problems"], "Geometry"),
        (["Introductory Combinatorics Problems"], "Counting"),
        (["Introductory Algebra Problems", "Introductory Geometry Problems"], None),  # two labels
        (["Olympiad Topology Problems", "Articles"], None),
    ],
)
def test_categories(names, category):  # 3.5
    assert category_of(names) == category


def test_a_page_reached_by_a_redirect_names_where_from():  # R5
    frame = '<div id="contentSub"><span class="mw-redirectedfrom">(Redirected from '
    frame += '<a href="/wiki/index.php?title=2041_AMC_12A'
    frame += '_Problems/Problem_4&amp;redirect=no">x</a>)</span></div>'
    assert kept(rendered(frame=frame)).shared_with == ("2041 AMC 12A Problems/Problem 4",)


@pytest.mark.parametrize(
    "links",
    [
        "[[2041 AIME I Problems/Problem 3|2041 AIME I #3]] and [[2041 AMC 12A Problems/Problem 4|2041 AMC 12A #4]]",
        "[[2041 AIME I Problems#Problem 3|2041 AIME I #3]] and [[2041 AMC 12A Problems#Problem 4|2041 AMC 12A #4]]",
        "2041 AIME I #3 and 2041 AMC 12A #4",
    ],
)
def test_the_shared_sentence_in_wikitext(links):  # R8
    problem = kept(f"{{{{duplicate|{links}}}}}\n".encode() + wiki())
    assert problem.shared_with == ("2041 AMC 12A Problems/Problem 4",)
    assert problem.statement == "Find it." and "lead_text" not in problem.warnings


# --- T1 to T8, R7, R10: the text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, text",
    [
        ("<p>One\n two</p><p>three<br />four</p>", "One two\n\nthree\nfour"),  # T1
        (f"<p>{img('$a &lt; b$')}{img('$c$')}</p>", "$a < b$ $c$"),  # T5, R10
        ("<p>It costs $5, not \\$6.</p>", "It costs \\$5, not \\$6."),  # T4
        ("<p>a\u200bb\u00a0c e\u0301 &quot;d&quot; “q”</p>", 'ab c \u00e9 "d" “q”'),  # T3
        (
            "<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul><ol><li>e</li></ol>",
            "- a\n  1. b\n  2. c\n- d\n\n1. e",
        ),  # T6
        ("<p>so</p><dl><dd>a</dd><dd>b<dl><dd>c</dd></dl></dd></dl><p>end</p>", "so\n\na\nb\nc\n\nend"),  # T6
        (
            "<table><caption>T</caption><tr><th>n</th><td>1</td></tr><tr><th>m</th><td>2<br/>3</td></tr></table>",
            "T\nn | 1\nm | 2 3",
        ),  # T6
        (
            "<p>a<b>b</b> <i>c</i><a href='/x'>d</a><span>e</span> x<sup>2</sup><sub>i</sub>"
            "<sup class='reference'>[1]</sup></p>",
            "ab cde x^{2}_{i}",
        ),  # T7
        ("<center>mid</center><div>div</div><pre>a\n b</pre><blockquote>q</blockquote>", "mid\n\ndiv\n\na\nb\n\nq"),
        ("<p>so [mathjax]x[/mathjax] and [mathjax display=true]y[/mathjax]</p>", r"so $x$ and \[y\]"),  # R10
        (
            "<!-- c --><script>s</script><style>t</style><noscript>n</noscript><p class='mw-empty-elt'></p>kept",
            "kept",
        ),  # R7
        ("<p>kept</p><table><tr><td>Followed&#160;by</td></tr></table>", "kept"),  # R7
        (
            "<p>kept. The problems on this page are copyrighted by the "
            "<a href='x'>Mathematical Association of America</a>'s "
            "<a href='y'>American Mathematics Competitions</a>. <img alt='AMC logo.png' src='z.png'/></p>",
            "kept.",
        ),  # R7
        (
            "<div class='mw-heading3'><h3>Lemma</h3><span class='mw-editsection'>[edit]</span></div><p>t</p>",
            "Lemma\n\nt",
        ),  # T8
    ],
)
def test_rendered_markup(body, text):
    assert kept(rendered(solution="<p>Start.</p>" + body)).solutions == ("Start.\n\n" + text,)


@pytest.mark.parametrize(
    "body, text",
    [
        ("one\ntwo\n\nthree<br/>four", "one\ntwo\n\nthree\nfour"),  # T1
        ("<math>a</math><imath>b</imath><cmath>c</cmath>", r"$a$ $b$ \[c\]"),  # R10, T5
        (r"<math>\begin{align*}a&=b\end{align*}</math>", r"\begin{align*}a&=b\end{align*}"),  # R10
        ("<cmath>\n\\begin{gather}a\\end{gather}\n</cmath>", r"\begin{gather}a\end{gather}"),  # R10
        (
            r"<math>\frac{{{1}}}{2}</math> {{foo}} [[a|b]]s ''c'' '''d'''",
            r"$\frac{{{1}}}{2}$ bs c d",
        ),  # R12: not in math
        (
            "* a\n** b\n* c\n\n# d\n## e\n## f\n# g\n#: h\n# i\n: j",
            "- a\n  - b\n- c\n\n1. d\n  1. e\n  2. f\n2. g\nh\n3. i\nj",
        ),  # T6
        ("{| class='wikitable'\n|-\n! n !! m\n|-\n| 1 || <math>2</math>\n|}", "n | m\n1 | $2$"),  # T6
        (
            "<!-- ~ab -->a<ref>r</ref> costs $5 x<sup>2</sup> &lt;b&gt; <nowiki>''n''</nowiki> __NOTOC__",
            r"a costs \$5 x^{2} <b> ''n''",
        ),
        ("<center>mid</center>\n[https://x.y a site]\n[[Page (x)|]]", "mid\n\na site\nPage"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("# a\n# b\n\n# c\n", "1. a\n2. b\n\n1. c"),  # T6: a new list
        ("<noinclude>a</noinclude><includeonly>b</includeonly>", "a"),
        ("<math>a &lt; b</math> and <math>x&times</math>", "$a < b$ and $x&times$"),
        (
            "so\n{{AIME box|year=2041|n=I|num-b=2}}\n{{MAA Notice}}\n[[Category:Introductory Algebra Problems]]",
            "so",
        ),
        ("a <math>x==y</math> b\n=== Lemma ===\nc", "a $x==y$ b\n\nLemma\n\nc"),  # T8, R9
    ],
)
def test_wiki_markup(body, text):
    assert kept(wiki(solution="Start.\n\n" + body)).solutions == ("Start.\n\n" + text,)


def test_an_open_formula_ends_with_its_section():  # R9
    page = wiki(solution="So <math>x.") + b"== Solution 2 ==\nCount <math>y</math>.\n"
    assert read(page).detail.startswith("Solution: a formula without")
    relaxed = parse_page(page, AIME.replace(" ", "_") + ".txt", on_unusable_solution="drop_solution")  # D1
    assert relaxed.solutions == ("Count $y$.",)
    assert relaxed.removed_solutions == ({"heading": "Solution", "reason": "bad_latex_in_solution"},)


# --- S1 to S10: sections ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading, kind",
    [
        *(
            (h, "problem")
            for h in ("Problem", "Problem 7", "Problem #7", "Problem Statement", "Statement", "Question:")
        ),  # S2
        *(
            (h, "solution")
            for h in (
                "Solution",
                "Solutions",
                "Solution1",
                "Solution #2",
                "Sol 3",
                "Alternate Solution",
                "Official Solution",
                "Solution 3 (Not legit)",
                "Second Solution",
                "Quick and Easy Solution",
                "solution 2: AM-GM",
            )
        ),
        *(
            (h, "ignored")
            for h in (
                "See Also",
                "Video Solution",
                "Solution 5 (Video)",
                "Video by X",
                "Notes",
                "Remark 2",
                "Note on Solution 2",
                "Comments",
                "External links",
                "Trivia",
                "Related problems",
                "Credits",
            )
        ),  # S5
        *((h, "proof") for h in ("Proof", "Method 2", "Alternate Approach", "Proof 2: sums")),  # S4
        *(
            (h, "other") for h in ("Lemma", "Case 1", "Proof of the lemma", "Motivation for Solution 1", "Noteworthy")
        ),  # S7
        ("Diagram", "diagram"),  # S6
    ],
)
def test_kinds_of_headings(heading, kind):
    assert kind_of(heading) == kind


@pytest.mark.parametrize(
    "heading, cleaned",
    [
        ("Solution 3 (Strengthened Induction, by gravelroad)", "Solution 3 (Strengthened Induction)"),
        ("Solution 2 by ab_cd", "Solution 2"),
        ("Solution 2 by ab_cd (Casework)", "Solution 2 (Casework)"),
        ("Solution 4 (by Ab)", "Solution 4"),
        ("Solution 2 (credit: ab_cd)", "Solution 2"),
        ("Solution 1 (Sums) (Modified by Ef)", "Solution 1 (Sums)"),
        ("Solution 1 ~ab_cd", "Solution 1"),
        ("Solution 2 by induction", "Solution 2 by induction"),
        ("Solution 1 - Circles", "Solution 1 - Circles"),
        ("Solution 2 ()", "Solution 2"),
        ("Solution by Ab (Sums)", "Solution (Sums)"),
    ],
)
def test_clean_headings(heading, cleaned):  # S10
    assert clean_heading(heading) == cleaned


@pytest.mark.parametrize(
    "sections, headings, warning",
    [
        ("== Solutions ==\n=== Solution 1 ===\na\n=== Solution 2 ===\nb", "Solution 1|Solution 2", None),  # S8
        ("== Solution ==\nown\n=== Solution 2 ===\nb", "Solution|Solution 2", None),  # S8: a solution of its own
        (
            "== Solution ==\nown\n=== Solution 1 ===\na\n=== Solution 2 ===\nb",
            "Solution 1|Solution 2",
            "container_preamble",
        ),
        (
            "== Solution 3 ==\nc\n== Solution 1 ==\na\n== Solution 1 ==\nb",
            "Solution 3|Solution 1|Solution 1",
            None,
        ),  # S9
        ("== Solution 1 ==\na\n=== Proof ===\nb\n== Solution 2 ==\nc", "Solution 1|Solution 2", None),  # S4: a part
        ("== Solution 1 ==\na\n== Proof ==\nb", "Solution 1|Proof", None),  # S4: at the level of the solutions
        ("== Solutions ==\n=== Method 1 ===\na\n=== Method 2 ===\nb", "Method 1|Method 2", None),  # S4
        ("== Solution 1 ==\na\n== Lemma ==\nx\n== Solution 2 ==\nb", "Solution 1|Solution 2", "unknown_section"),  # S7
        (
            "== Solution 1 ==\na\n=== Note ===\n[[File:x.png]]\n=== Solution 2 ===\nb",
            "Solution 1|Solution 2",
            None,
        ),  # S5
        ("=== Solution ===\na\n==== Solution 2 ====\nb", "Solution|Solution 2", None),  # below the problem
        ("<h2>Solution</h2>\na\n== '''Solution''' 2 ===\nb", "Solution|Solution 2 =", None),
    ],
)
def test_sections(sections, headings, warning):
    problem = kept(f"== Problem ==\nFind it.\n{sections}\n== See also ==\nx")
    assert "|".join(problem.solution_headings) == headings
    assert [w for w in problem.warnings if w != "refers_to_other_solution"] == ([warning] if warning else [])


def test_a_shared_preamble_stands_before_each():  # S8
    page = "== Problem ==\nFind it.\n== Solution ==\nown\n=== Solution 1 ===\na\n=== Solution 2 ===\nb"
    assert kept(page).solutions == ("own\n\na", "own\n\nb")


def test_a_shared_stem_belongs_to_the_problem():  # S3
    problem = kept(b"== Data ==\nProblems 8 and 9 use this.\n" + wiki())
    assert problem.statement == "Problems 8 and 9 use this.\n\nFind it." and problem.warnings == ("shared_stem",)
    assert read(b"== Data ==\n[[File:x.png]]\n" + wiki()).reason == "diagram_in_problem"  # D1


def test_text_before_the_headings():  # S2, 8
    assert kept("Find it.\n== Solution ==\nCount.").statement == "Find it."
    problem = kept(b"Odd words.\n" + wiki())
    assert (problem.statement, problem.warnings) == ("Find it.", ("lead_text",))


# --- C1 to C9: credits and comments -----------------------------------------------------------------------------------

GO = [
    ("~ab_cd, minor edits by Ef9", "C1"),
    ("∼ ab", "C1"),
    ("-~ab_cd", "C1"),
    ("-ab_cd", "C2"),
    ("—Firstname Lastname", "C2"),
    ("--- ab_cd and Ef", "C2"),
    ("Solution by ab_cd", "C3"),
    ("(Edited by Ab)", "C3"),
    ("Written by: Ab", "C3"),
    ("Minor LaTeX edits by quietfern", "C3"),
    ("Credit to Ab for the idea", "C3"),
    ("Author: Ab Cd", "C3"),
    ("Proposed by Titu Cd, Romania", "C3"),  # no inequality
    ("Credits go to Ab Cd", "C3"),
    ("Diagram and solution 2 by Ab", "C3"),
    ("Solution by <a href='/wiki/index.php/User:Ab'>Ab</a>", "C3"),
    ("<a href='/wiki/index.php?title=User_talk:Ab'>Ab</a>", "C1"),  # C5
    ("ab cd 13:32, 17 January 2041 (EST)", "C6"),
    (img("$\\textbf{- ab_cd}$"), "C7"),
    (img("$\\phantom{\\text{Solution by ab_cd}}$"), "C7"),
    ("Alternate solutions are always welcome. Add yours.", "C8"),
    ("If there are any mistakes, feel free to edit them.", "C8"),
    ("(Someone please draw this.)", "C8"),
    ("Feel free to edit.", "C8"),
    ("P.S. If anyone finds an error, feel free to fix it.", "C8"),  # C9
    ("Sorry for the mess", "C8"),
    ("https://youtu.be/0", "C8"),
    ("<iframe src='//youtube.com/0'></iframe>", "C8"),
    ("Video: https://youtu.be/0", "C8"),
    ("<a href='#S'>Solution</a>", "C8"),
]
STAY = [
    "The slope is ~80, so it is steep.",
    "-1 is not a root.",
    "Solution by substitution",
    "Proof by induction:",
    "Proof by the lemma",
    "By symmetry, both agree.",
    "By AM-GM, it is larger.",
    "Edited figures by counting",
    "Note that it is odd.",  # C9
    "P.S. It is even.",  # C9
    "This shows 1=2 - fallacy",
]


@pytest.mark.parametrize("line, rule", GO)
def test_lines_that_go(line, rule):
    reading = read_page(rendered(solution=f"<p>{img('$1$')} is first.</p><p>{line}</p><p>More.</p>"), "x")
    assert reading.outcome.solutions == ("$1$ is first.\n\nMore.",)
    assert [removed[1] for removed in reading.removed] == [rule]


@pytest.mark.parametrize("line", STAY)
def test_lines_that_stay(line):
    reading = read_page(rendered(solution=f"<p>{img('$1$')} is first.</p><p>{line}</p>"), "x")
    assert reading.outcome.solutions == (f"$1$ is first.\n\n{line}",) and reading.removed == ()


@pytest.mark.parametrize(
    "line, left",
    [
        (f"is {img('$24$')} ~ ab_cd (edited by Ef)", "is $24$"),  # C4
        ("in six ways.-ab_cd42", "in six ways."),  # C4
        ("as was to be shown! - larkspur", "as was to be shown!"),  # C4
        (f"so {img('$x$')} -tin_sparrow", "so $x$"),  # C4: shaped like a user name
        ("(done) ~<a href='/wiki/index.php/User:Ab'>Ab</a> and Ef", "(done)"),  # C5
        (
            "it holds. by <a href='/wiki/index.php/User:Ab'>Ab</a> "
            "(<a href='/wiki/index.php/User_talk:Ab'>talk</a> | contribs)",
            "it holds.",
        ),  # C5
        ("It holds. --Ab 9:02, 1 May 2041 (UTC)", "It holds."),  # C6
        (f"{img('$PQR$')} ~ {img('$PST$')}", "$PQR$ ~ $PST$"),
        (f"sides {img('$a$')} ~5 cm", "sides $a$ ~5 cm"),
        (img("$\\boxed{\\textbf{(C)}~32}$") + " it is.", "$\\boxed{\\textbf{(C)}~32}$ it is."),
        (f"reflected in the {img('$x$')}-axis", "reflected in the $x$-axis"),
        ("the <a href='/wiki/index.php/User:Ab'>Ab</a> lemma holds here", "the Ab lemma holds here"),
        ("It is odd. (~ab_cd)", "It is odd."),
        ("Sum.\n~ab_cd\nThen more.", "Sum. Then more."),  # a signature on a line of the source
        ("The slope is\n~80, so\nsteep", "The slope is ~80, so steep"),
    ],
)
def test_ends_of_lines(line, left):
    assert kept(rendered(solution=f"<p>First.</p><p>{line}</p>")).solutions == (f"First.\n\n{left}",)


@pytest.mark.parametrize(
    "line, warning",
    [
        (f"Sorry, but {img('$n=3$')} fails too.", "possible_comment"),  # C8, P3
        (f"so {img('$x$')} - larkspur", "possible_credit"),  # C4
        (f"so {img('$x{$')}", "unbalanced_math"),  # R11
        ("as in the figure", "refers_to_figure"),  # D2
        ("An image is supposed to go here. You can help us out by <a href='x'>adding it</a>.", "refers_to_figure"),
    ],
)
def test_what_stays_with_a_warning(line, warning):
    assert warning in kept(rendered(solution=f"<p>First.</p><p>{line}</p>")).warnings


def test_an_unknown_template_is_left_out_with_a_warning():  # R12, but not in a section that is left out
    lost = "<a class='new' href='/i.php?title=Template:Foo&amp;redlink=1'>Template:Foo</a>"
    problem = kept(rendered(solution=f"<p>So {lost} it is.</p>"))
    assert (problem.solutions, problem.warnings) == (("So it is.",), ("unknown_template",))
    problem = kept(wiki(solution="So {{foo|x}} it is.") + b"== See also ==\n{{bar}}")
    assert (problem.solutions, problem.warnings) == (("So it is.",), ("unknown_template",))
    assert kept(wiki() + b"== See also ==\n{{bar}}").warnings == ()


@pytest.mark.parametrize(
    "title, line, left",
    [
        ("2041 IMO Problems/Problem 2", "(Ab Cd)", ""),
        ("2041 IMO Problems/Problem 2", "(Ab Cd) Find it.", "Find it.\n\n"),
        ("2041 USAMO Problems/Problem 2", "[Ab Cd and Ef Gh] Find it.", "Find it.\n\n"),
        ("2041 USAMO Problems/Problem 2", "(a) Find it.", "(a) Find it.\n\n"),
        (AIME, "(Ab Cd) Find it.", "(Ab Cd) Find it.\n\n"),  # no olympiad
    ],
)
def test_a_proposer_at_the_start(title, line, left):  # C3
    assert kept(rendered(f"<p>{line}</p><p>End.</p>", title=title)).statement == left + "End."


@pytest.mark.parametrize(
    "text",
    [
        *("Solution by trial and error", "Edges are fixed by rotation", "Proof: Trivial.", "By Ptolemy"),
        *("Solution by inclusion-exclusion", "Proof by minimality", "Solution by Markov chains"),
    ],
)
def test_no_by_lines(text):
    assert not is_by_line(text)


# --- 7.1: what is no solution -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "empty"),
        ("~ab_cd", "empty"),
        ("[WIP] ~ab_cd", "placeholder"),
        ("Coming soon!", "placeholder"),
        ("No solution here yet.", "placeholder"),
        ("TBD", "placeholder"),
        ("{{solution}}", "placeholder"),
        ("https://youtu.be/0", "video_only"),
        ("[https://youtu.be/0 Watch this]", "video_only"),
        ("See the video below. ~ab_cd", "video_only"),
        ("Let <math>x=1</math>.\n\nTo be continued", "unfinished"),
        ("Let <math>x=1</math>. [will finish that step here]", "unfinished"),
        ("Let <math>x=1</math>.\n\nI will add the rest later.", "unfinished"),
        (r"<math>\boxed{5}</math>", "answer_only"),
        (r"Thus, the answer is <math>\fbox{A}</math>.", "answer_only"),
        (r"<math>\textbf{(B) }7</math>", "answer_only"),
        ("COUNT  them.", "duplicate_solution"),
        ("This is an incomplete subset of <math>S</math>.", None),
        ("Guess <math>5</math> and check; not rigorous, a fakesolve.", None),
        (r"Adding gives <math>\boxed{5}</math>.", None),
        (r"<math>3+4=7, 7-2=\boxed{5}</math>", None),  # a chain shows its work
        ("The wall was unfinished, so <math>5</math> stones are left.", None),
    ],
)
def test_taken_off_the_list(text, reason):
    problem = kept(wiki() + f"== Solution 2 ==\n{text}\n".encode())
    assert [removed["reason"] for removed in problem.removed_solutions] == ([reason] if reason else [])
    assert problem.n == (1 if reason else 2)


def test_what_is_no_solution_does_not_drop_the_page():  # D1, R11: only a solution that is still on the list
    assert kept(wiki() + b"== Solution 2 ==\n<asy>draw();</asy>\n\nto be continued").n == 1


# --- 8 and the rest ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem, warned",
    [
        (CHOICES, False),
        (CHOICES.replace("textbf", "text"), False),
        (CHOICES.replace("(E)", "(D)"), True),  # a label twice
        (r"(A) 1 (B) 2 (C) 3 (D) 4 (E) 5", False),
        ("none", True),
    ],
)
def test_choices_missing(problem, warned):
    page = rendered(f"<p>Find it.</p><p>{img(problem) if '$' in problem else problem}</p>", title=AMC)
    assert ("choices_missing" in kept(page).warnings) is warned


def test_the_place_of_a_text_is_kept():  # 3.1
    content = wiki()
    source = kept(content).source
    assert source["file"] == "2041_AIME_I_Problems_Problem_3.wikitext" and len(source["sha256"]) == 64
    assert kept(json.dumps(QUERY)).source["revision"] == 5


def test_a_fault_is_a_row_and_not_a_crash():  # parse_error
    deep = html("<p>Find it.</p>" + "<span>" * 1500 + "x" + "</span>" * 1500)
    outcome = read(deep)
    assert (outcome.reason, outcome.detail.split(":")[0]) == ("parse_error", "RecursionError")


def test_a_table_or_an_array_is_no_missing_diagram():  # D2
    assert kept(wiki(problem="The table below is full.\n{|\n|-\n| 1 || 2\n|}")).statement.endswith("1 | 2")
    array = r"Find the sum in the figure. <math>\begin{array}{c}1\end{array}</math>"
    assert kept(wiki(problem=array)).n == 1


# --- edges of the rules -----------------------------------------------------------------------------------------------


def sections(*parts):
    """Wikitext of (level, heading, text) below a problem."""
    return "== Problem ==\nFind it.\n" + "".join(
        f"{'=' * n} {heading} {'=' * n}\n{text}\n" for n, heading, text in parts
    )


@pytest.mark.parametrize(
    "solution, text",
    [
        ("So [mathjax]x_{{a}}'' <b[/mathjax] is it.", "So $x_{{a}}'' <b$ is it."),  # R10: braces are the formula's
        ("<ol><li>a<li>b</ol>", "1. a 2. b"),  # T6: items without an end
        ("{|\n|+ Cap\n! n !! m\n|-\n| 3\n| [[a|b]]\n|}", "Cap n | m 3 | b"),  # T6
        ("<table><caption>Cap</caption><tr><th>n<th>m<tr><td>1<td>2</table>", "Cap n | m 1 | 2"),  # T6: nothing is lost
        ("<b>un <i>closed</b> <s>k x<sup>2", "un closed k x2"),  # T7: tags without an end
        ("a<x and b>y, a<b and c>d, <foo>z</foo>", "a<x and b>y, a<b and c>d, <foo>z</foo>"),  # T7: words, no tags
        ("<b>*</b> no list\n\n'''#''' nor this", "* no list # nor this"),  # T7: no markup at the start of a line
        ("x<sup></sup><sub>{{foo}}i</sub> f''''g", "x_{i} f'g"),  # T7
        ("It is odd. --[https://x.y/wiki/index.php/User:Ef Ef]", "It is odd."),  # C5: the address of a user's page
        ("a\n[[Category:Articles]]\nb", "a b"),
        ("<math>y</math>{{a|[[b [http://x c <sup>d", "$y${{a|[[b [http://x c d"),  # what has no end is text
        ("<pre>\n* a\n<math>b\n</pre>", "* a <math>b"),
        ("<math>a</math>\n=<math>b</math>=<math>c</math>\n=x=y", "$a$ =$b$=$c$ =x=y"),  # R9: no headings
        ("{|\n|\n* a\n* b\n| <math>|x|</math>\n|}", "- a - b | $|x|$"),  # T6: a list in a cell
        ("<math>f''(x)</math>, <math>[[1,2]]</math>, <math>1<i<n</math>", "$f''(x)$, $[[1,2]]$, $1<i<n$"),
        ("Sum\n<cmath>\na\n*b\n~c\n{|\n</cmath>", "Sum \\[ a *b ~c {| \\]"),  # C1, T6: not in a formula
    ],
)
def test_edges_of_wikitext(solution, text):
    assert [flat(solution) for solution in kept(wiki(solution=solution)).solutions] == [text]


@pytest.mark.parametrize(
    "body, text",
    [
        (
            "<table><tr><td>2041<table><tr><td>Preceded by</td></tr></table></td></tr></table>",
            "",
        ),  # R7: a table that holds it
        ("<table><tr><td><h3>Part</h3>b<table><tr><td>Preceded by</td></tr></table></td></tr></table>", "Part b"),
        (
            f"<p>{img('$x=5$')} {img('$' + chr(92) + 'textbf{-ab_cd}$')}</p>",
            "$x=5$ $\\textbf{-ab_cd}$",
        ),  # C7: one formula only
        (f"<p>{img('$x$')} <a href='#s'>Solution</a></p>", "$x$ Solution"),  # P3
        (f"<p>It holds. -see (as {img('$x$')})</p>", "It holds. -see (as $x$)"),  # C4, P3
        ("<p>If there are two errors, the sum is even.</p>", "If there are two errors, the sum is even."),  # C8
        ("<p>If you see an error, please fix it.</p>", ""),  # C8
        ("<p>Solution by calculation</p>", "Solution by calculation"),  # C3: a method
        ("<p>Credit to ab for the idea</p>", ""),  # C3
        ("<p>youtu.be/0</p>", ""),  # C8
        ("<p>It holds. --by ~ <a href='/wiki/index.php/User:Ab'>Ab</a></p>", "It holds."),  # C5
    ],
)
def test_edges_of_rendered_text(body, text):
    assert [flat(text) for text in kept(rendered(solution=f"<p>Start.</p>{body}")).solutions] == [
        f"Start. {text}".strip()
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "<a href='/wiki/index.php/2041_AIME_I_Problems'>2041 AIME I #3</a> and "
        "<a href='/wiki/index.php/2041_AMC_12A_Problems'>2041 AMC 12A #4</a>",  # the number is in the label alone
        "2041 AIME I #3 and <a href='/wiki/index.php/2041_AMC_12A_Problems/Problem_4'>that one</a>",
    ],
)
def test_only_the_shared_sentence_goes(sentence):  # R8
    sentence = f"<i>The following problem is from both the {sentence}, so both problems redirect to this page.</i>"
    problem = kept(rendered(f"<p>{sentence} {img('$x$')} is odd. Find it.</p>"))
    assert (problem.shared_with, problem.statement) == (("2041 AMC 12A Problems/Problem 4",), "$x$ is odd. Find it.")


@pytest.mark.parametrize(
    "parts, solutions",
    [
        ([(2, "Solution", ""), (3, "Lemma", "a"), (3, "Proof", "b")], ["Lemma a Proof b"]),  # S4: parts of one
        ([(2, "Solutions", "own"), (3, "Proof", "b")], ["own", "b"]),  # S4: right under a bare container
        (
            [(2, "Lemma", "a"), (3, "Proof", "b"), (2, "Solutions", ""), (3, "Solution 1", "c")],
            ["c"],
        ),  # S4: the lemma's
        ([(3, "Notation", "n"), (4, "Alternate Solution", "a")], ["a"]),  # S4: anywhere below the problem
        (
            [(2, "Solutions 1 and 2", ""), (3, "Solution 1", "a"), (3, "Method 2", "b")],
            ["a", "b"],
        ),  # S4: at their level
        ([(2, "Solution 1", "a"), (3, "Solution 2", "b"), (3, "Method 3", "c")], ["a", "b", "c"]),  # S4, P2
        ([(2, "Solution 1", "a"), (3, "Method A", "b"), (3, "Proof", "c")], ["a Method A b Proof c"]),  # S4: parts
        ([(2, "Alternate Solutions", ""), (3, "Proof", "a"), (3, "Approach", "b")], ["a", "b"]),  # S4: no number
        ([(3, "Solution", "a"), (3, "Lemma", "b")], ["a"]),  # S7: after a solution nothing is problem text
    ],
)
def test_edges_of_sections(parts, solutions):
    problem = kept(sections(*parts))
    assert [flat(text) for text in problem.solutions] == solutions
    assert flat(problem.statement) in ("Find it.", "Find it. Notation n")


@pytest.mark.parametrize(
    "content, reason",
    [
        ("#REDIRECT", "redirect"),  # R5: without a target
        ('{"error": "rate limit"}', "not_wiki_page"),  # R4
        (
            html(FRAGMENT, head=r'<script>{"wgPageName":"\x41"}</script>'),
            None,
        ),  # R6: what does not parse is passed over
        (rendered(solution=f"<p>{img('')}</p>"), "bad_latex_in_solution"),  # R11: not empty
        (rendered(f"<p>{img('')}</p>"), "bad_latex_in_problem"),  # R11
        (sections((2, "Solution", "a"), (2, "Diagram (by ab_cd)", "[asy]x[/asy]")), "diagram_in_problem"),  # S6
        (
            rendered("<p>Find <a href='/i.php?title=Special:Upload&amp;wpDestFile=M.png'>File:M.png</a></p>"),
            "diagram_in_problem",
        ),  # D1: a picture that is not there any more
        (wiki("A teacher says that problems will be posted on the wall. How many are there?"), None),  # D3
        (wiki("This problem has not been edited in. Help us out by adding it."), "incomplete_problem"),  # D3
        (wiki("Please do not post these problems until Thursday."), "incomplete_problem"),  # D3 before C8
        (wiki("Find the area of the region shown."), "missing_diagram"),  # D2
        (wiki("Find the region illustrated below."), "missing_diagram"),  # D2
        (wiki("The numbers shown on the dice are odd. Find the part of the graph above the line."), None),  # D2
    ],
)
def test_edges_of_reasons(content, reason):
    outcome = read(content)
    assert (outcome.reason if isinstance(outcome, Dropped) else None) == reason


def test_choices_in_another_form_are_choices():  # D3
    page = rendered("<p>Which of the following is odd?</p><p>A) one B) two</p>", title=AMC)
    assert kept(page).warnings == ("choices_missing",)


@pytest.mark.parametrize(
    "text, reason",
    [
        (r"<math>x=3</math>, <math>\boxed{3}</math>", None),  # two formulas
        (r"So <math>x=2</math>, the answer is <math>\boxed{2}</math>", None),
        ("Solution will be added later.", "placeholder"),
        ("<math>x</math>. (I'll finish this later)", "unfinished"),
        ("<math>x</math>\n\nTo be completed.", "unfinished"),
        ("The unfinished wall is even.\n\nWe will complete the square here.", None),  # words of mathematics
        ("<math>x</math> is odd.\n\n{{stub}}", None),  # said of the page, at its foot
        ("<math>x</math> is odd.\n\n{{incomplete|solution}}", "unfinished"),
        ("Will be added soon.", "placeholder"),
        ("(Insert solution here)", "placeholder"),
        ("There are no solutions yet. Please add one!", "placeholder"),
        ("This section is empty.", "placeholder"),
    ],
)
def test_edges_of_the_list(text, reason):  # 7.1
    removed = kept(wiki() + f"== Solution 2 ==\n{text}\n".encode()).removed_solutions
    assert [solution["reason"] for solution in removed] == ([reason] if reason else [])


def test_the_statement_under_the_problem_needs_no_heading():  # S2
    assert kept("== Problem ==\n=== Problem Statement ===\nFind it.\n== Solution ==\na").statement == "Find it."


def test_what_a_container_says_to_readers_is_logged():  # P1, S8
    page = sections((2, "Solutions", "Feel free to add more."), (3, "Solution 1", "a"))
    assert ("Solutions", "S8", "Feel free to add more.") in read_page(page.encode(), f"{AIME}.txt").removed


@pytest.mark.parametrize(
    "heading, cleaned",
    [
        ("Solution 5 - ab_cd", "Solution 5"),
        ("Solution 4 by Stars and Bars", "Solution 4 by Stars and Bars"),
        ("Solution 2 by Ab Cd and ef_g", "Solution 2"),
        ("Solution 4 (step by step)", "Solution 4 (step by step)"),  # no name: the word before it
        ("Solution 2 (Divisibility by Eleven)", "Solution 2 (Divisibility by Eleven)"),
        ("Solution 3 (Author: Ab Cd)", "Solution 3"),
    ],
)
def test_edges_of_headings(heading, cleaned):  # S10
    assert clean_heading(heading) == cleaned


@pytest.mark.parametrize(
    "unit",
    [
        *("<b>", "<sup>", "<b ", "[http://", "[[a|", "{{a|", "\n{|\n", "<ref>", "<h2>", "[mathjax]", "[[Category:a|"),
        *("<sup>{{", "- ~a b. ", "~:", "(", "~a b.\n"),
    ],
)
@pytest.mark.parametrize("make", [lambda s: wiki(solution=s), lambda s: rendered(solution=f"<p>{s}</p>")])
def test_no_page_takes_long(unit, make):  # 3.2: one bad page among thousands
    began = time.process_time()
    read(make("x " + unit * (15_000 // len(unit))))
    assert time.process_time() - began < 5  # seconds, of which well under one is used


@pytest.mark.parametrize(
    "content",
    [
        b"<!--a-->" * 60 + wiki(),  # R2: many ways to end the first comment
        rendered(
            solution=f"<p>{'-' * 60} so <a href='/wiki/index.php/User:Ab'>x</a>'s lemma is true.</p>"
        ),  # C5: many ways to split dashes
        rendered(solution=f"<p>{'~' * 15_000}: 1</p>"),  # C6
        f"== Problem ==\nFind it.\n== Solution {'-' * 15_000} ==\nx",  # S10
    ],
)
def test_nor_do_these(content):
    began = time.process_time()
    assert kept(content).n == 1
    assert time.process_time() - began < 5


# --- pages on which many rules meet -----------------------------------------------------------------------------------


def pictures(text):
    """HTML with `«x»` as the picture of a formula."""
    return re.sub("«(.*?)»", lambda math: img(f"${math[1]}$"), text)


LINES = {  # a page of paragraphs: what stays of each solution
    "The slope is ~80, so «y=3».|~ab_cd, minor edits by Ef9|«PQR» ~ «PST»|The answer is «5» ~ ab_cd (edited by Ef)": (
        "The slope is ~80, so $y=3$. $PQR$ ~ $PST$ The answer is $5$"
    ),
    "-1 is no root.|This is circular - fallacy|There are «5» ways.-ab_cd42|—Ab Cd|Reflect in the «x»-axis": (
        "-1 is no root. This is circular - fallacy There are $5$ ways. Reflect in the $x$-axis"
    ),
    "Solution by ab_cd|Solution by substitution|Proof by induction:|(Edited by Ab)|Sorry, but «n=3» fails too.": (
        "Solution by substitution Proof by induction: Sorry, but $n=3$ fails too."
    ),
    "∼ ab|Use Legendre. ~~~some_one|<b>~bold</b>|Then «n=5». --Ab Cd 09:12, 8 May 2041 (EDT)|«\\textbf{- name}»": (
        "Use Legendre. Then $n=5$."
    ),
    "Note: it is odd.|P.S. It is fun.|[Sorry, no LaTeX]|Video: https://x.y/v|Please note «x>0».|https://x.y": (
        "Note: it is odd. P.S. It is fun. Please note $x>0$."
    ),
}


def test_a_page_of_credits():  # C1 to C9
    solutions = "".join(
        section(f"Solution {n}", "".join(f"<p>{pictures(line)}\n</p>" for line in lines.split("|")))
        for n, lines in enumerate(LINES, 1)
    )
    problem = kept(html(section("Problem", "<p>Find it.</p><p>Author: Ab Cd</p>") + solutions))
    assert problem.statement == "Find it." and "possible_comment" in problem.warnings
    assert [flat(text) for text in problem.solutions] == list(LINES.values())


def test_a_page_of_sections_that_are_no_solutions():  # 7.1, S5, S6, S7
    texts = {
        "Solution 1": "It is half, so «\\boxed{8}».",
        "Solution 2": "«\\boxed{8}»",
        "Solution 3": "It is half,  so «\\boxed{8}». ~late",
        "Diagram": "(someone please add one)",
        "Solution 4 (Video)": "https://x.y <img src='thumb.png'>",
        "Solution 5": "<a href='https://x.y'>https://x.y</a>",
        "Solution 6": "This problem needs a solution. If you have a solution for it, please help us out.",
        "Solution 7": "Cut it.</p><p><img src='cut.png'></p><p>(to be continued)",
        "Solution 8": "",
        "Remark": "<img src='remark.png'> <img class='latex' alt=''>",
    }
    body = "".join(section(heading, f"<p>{pictures(text)}</p>") for heading, text in texts.items())
    problem = kept(html(section("Problem", "<p>Find it.</p>") + body))
    assert (problem.solution_headings, problem.warnings) == (("Solution 1",), ("unknown_section",))
    assert [(removed["heading"][-1], removed["reason"]) for removed in problem.removed_solutions] == [
        ("2", "answer_only"),
        ("3", "duplicate_solution"),
        ("5", "video_only"),
        ("6", "placeholder"),
        ("7", "unfinished"),
        ("8", "empty"),
    ]


def test_a_fragment_with_the_headings_of_today():  # R2, R10, S1
    def headed(level, text):
        edit = "<span class='mw-editsection'>[<a href='?action=edit'>edit</a>]</span>"
        return f"<div class='mw-heading'><h{level} id='x'>{text}</h{level}>{edit}</div>"

    body = (
        headed(2, "Problem")
        + "<p>Find it for [mathjax]m&lt;n[/mathjax] and [mathjax display=true]m=9[/mathjax].</p>"
        + headed(2, "Solution 1: Sum")
        + "<p>It is 3.</p>"
        + headed(3, "Solution 2 <i>(Fast)</i>")
        + "<p>As above, 3.</p>"
        + headed(2, "🎥 Video Solution 🎥")
        + "<p>x</p>"
    )
    problem = kept(f"<div class='mw-content-ltr mw-parser-output' lang='en'>{body}</div>")
    assert problem.statement == "Find it for $m<n$ and \\[m=9\\]."
    assert problem.solution_headings == ("Solution 1: Sum", "Solution 2 (Fast)")
    assert (problem.solutions, problem.warnings) == (("It is 3.", "As above, 3."), ("refers_to_other_solution",))


def test_a_page_of_blocks():  # T3 to T7
    problem = (
        "<p>They play:</p><ol><li>Ab picks «n».</li><li>Ef says<ul><li>one of</li><li>two<ul><li>or none.</li></ul>"
        "</li></ul></li><li>They stop.</li></ol><p>Who wins?</p><ol><li>now</li></ol><dl><dd>«x=1»<dl>"
        "<dd>twice</dd></dl></dd></dl><center>mid</center><table><tr><th>Price</th><td>$5 &amp; up</td></tr>"
        "<tr><td></td><td>«8»</td></tr></table>"
    )
    solution = "<p>Ab<sup>2</sup><sub>1</sub>«a»«b»<sup class='reference'>[1]</sup> zero\u200bwidth, &#160;&amp;lt;</p>"
    page = kept(rendered(pictures(problem), pictures(solution)))
    assert page.statement == (
        "They play:\n\n1. Ab picks $n$.\n2. Ef says\n  - one of\n  - two\n    - or none.\n3. They stop.\n\nWho wins?"
        "\n\n1. now\n\n$x=1$\ntwice\n\nmid\n\nPrice | \\$5 & up\n| $8$"
    )
    assert page.solutions == ("Ab^{2}_{1}$a$ $b$ zerowidth, &lt;",)


def test_a_page_whose_levels_are_odd():  # S4, S8, T8
    page = sections(
        *((2, "Solutions", "These use an idea."), (3, "Solution 2", "a"), (4, "Video Solution", "v"), (4, "Step", "b")),
        *((3, "Proof 2", "c"), (2, "Solution 9", ""), (3, "Case 1", "d"), (3, "Solution 9a", "e"), (2, "Notes", "f")),
    )
    problem = kept(page)
    assert dict(zip(problem.solution_headings, map(flat, problem.solutions), strict=True)) == {
        "Solutions": "These use an idea.",  # the first below it is not the first by number
        "Solution 2": "a Step b",
        "Proof 2": "c",
        "Solution 9": "Case 1 d",  # what stands before its child is a solution of its own
        "Solution 9a": "e",
    }


@pytest.mark.parametrize("piece", ["-", ")-", "~ ", "a.", "-- a ", "(talk) ", "12:30, ", "by ", "[", "{{", "Solution "])
def test_a_line_of_nothing_but_signs_ends(piece):
    """40,000 characters that could each begin a signature: a search that starts anew at each would take minutes."""
    line = f"Count: <math>1+1=2</math>. {piece * (40_000 // len(piece))}"
    text = f"== Problem ==\nFind <math>1+1</math>.\n== Solution ==\n{line}"
    found = parse_page(text.encode(), "2041_AIME_I_Problems_Problem_1.wikitext")
    assert "Count: $1+1=2$" in str(found)
