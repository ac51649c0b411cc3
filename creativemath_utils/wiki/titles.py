"""Which problem a wiki page is about: titles, addresses and file names, and what follows from them.

>>> title = parse_title("2021_Fall_AMC_12A_Problems/Problem_16")
>>> title.text, title.competition, title.difficulty
('2021 Fall AMC 12A Problems/Problem 16', 'AMC_12', 3)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from creativemath_utils.records import COMPETITIONS

_SAME_CONTEST = {"USOMO": "USAMO", "USOJMO": "USAJMO", "AOIME": "AIME II"}  # names of 2020, when the rounds were online
_CONTEST = r"AMC (?:8|1[02][ABP]?)|Fall AMC 1[02][AB]|AJHSME|AHSME|AIME(?: II?)?|AOIME|US[AO]J?MO|IMO"
_TITLE = re.compile(rf"(\d{{4}}) ({_CONTEST}) Problems ?/ ?Problem (0*[1-9]\d*)", re.IGNORECASE)
_PAPER_ANCHOR = re.compile(rf"(\d{{4}}) ({_CONTEST})(?: Problems)? ?# ?(?:Problem )?(\d+)", re.IGNORECASE)
_FILE_END = re.compile(r"\.(?:x?html?|wikitext|wiki|mediawiki|mw|txt|json|raw)$", re.IGNORECASE)

# Number of the problem up to which a difficulty holds, by competition. It follows the wiki's page of competition
# ratings, and all rated problems of the published subset agree with it.
_BY_STEPS = {
    "AMC_8": ((12, 1), (25, 1.5)),
    "AMC_10": ((5, 1), (20, 2), (25, 3)),
    "AMC_12": ((10, 2), (20, 3), (25, 4)),
    "AIME": ((5, 3), (9, 4), (11, 5), (15, 6)),
}
_BY_DAY = {"USAJMO": (6, 6.5, 7), "USAMO": (7, 8, 9), "IMO": (6.5, 8, 9.5)}  # problems 1 and 4, 2 and 5, 3 and 6

_CATEGORY_OF = {
    "Algebra": "Algebra",
    "Inequality": "Algebra",
    "Functional Equation": "Algebra",
    "Geometry": "Geometry",
    "Trigonometry": "Geometry",
    "Number Theory": "Number Theory",
    "Combinatorics": "Counting",
    "Counting": "Counting",
    "Probability": "Probability",
    "Arithmetic": "Arithmetic",
}


@dataclass(frozen=True, order=True)
class Title:
    """A problem's place: `contest` as the wiki writes it ("Fall AMC 12A", "AIME II"), and the problem's number."""

    year: int
    contest: str
    number: int

    @property
    def text(self) -> str:
        """The canonical page title."""
        return f"{self.year} {self.contest} Problems/Problem {self.number}"

    @property
    def competition(self) -> str:
        """One of records.COMPETITIONS."""
        name = self.contest.removeprefix("Fall ")
        for prefix in ("AMC 10", "AMC 12", "AIME"):
            if name.startswith(prefix):
                return prefix.replace(" ", "_")
        return {"AJHSME": "AMC_8", "AMC 8": "AMC_8"}.get(name, name)

    @property
    def competition_id(self) -> str:
        """As in the published file: `2021_Fall_AMC_12A_Problems`."""
        return f"{self.year} {self.contest} Problems".replace(" ", "_")

    @property
    def problem_id(self) -> str:
        """Unique and readable: `2021_Fall_AMC_12A_Problems/16`."""
        return f"{self.competition_id}/{self.number}"

    @property
    def multiple_choice(self) -> bool:
        """Whether the contest offers choices A to E."""
        return self.competition in ("AMC_8", "AMC_10", "AMC_12", "AHSME")

    @property
    def olympiad(self) -> bool:
        """Whether the contest asks for proofs, and names who proposed a problem."""
        return self.competition in _BY_DAY

    @property
    def difficulty(self) -> float | None:
        """1..10 by competition and number; None where the table has none, as for the AHSME. Rule 3.4."""
        if self.competition in _BY_DAY:
            return _BY_DAY[self.competition][(self.number - 1) % 3] if self.number <= 6 else None
        return next((value for last, value in _BY_STEPS.get(self.competition, ()) if self.number <= last), None)

    @property
    def rank(self) -> tuple[int, int, str, int]:
        """Sorts by competition in the paper's order, then year, contest and number."""
        return COMPETITIONS.index(self.competition), self.year, self.contest, self.number


def plain_title(text: str) -> str:
    """A title with blanks for underscores, without its anchor and the wiki's name."""
    text = re.sub(r"\s+", " ", text.replace("_", " ").partition("#")[0]).strip(" :")
    return re.sub(r" - (?:AoPS Wiki|Art of Problem Solving)$", "", text)


def parse_title(text: str) -> Title | None:
    """The problem that a page title names, or None if it is not the title of a single problem. Rules 1.1, R6."""
    found = _TITLE.fullmatch(plain_title(text))
    return _title(found) if found else None


def parse_reference(text: str) -> Title | None:
    """Like parse_title, for a link that may also lead into a whole paper: `2041 AMC 12A Problems#Problem 4`."""
    title = parse_title(text)
    found = _PAPER_ANCHOR.fullmatch(re.sub(r"\s+", " ", text.replace("_", " ")).strip()) if title is None else None
    return _title(found) if found else title


def _title(found: re.Match[str]) -> Title:
    contest = found[2].upper().replace("FALL", "Fall")
    return Title(int(found[1]), _SAME_CONTEST.get(contest, contest), int(found[3]))


def references(text: str) -> list[Title]:
    """The problems that a text names as in "2041 AMC 12A #4", in order."""
    return [_title(found) for found in _PAPER_ANCHOR.finditer(re.sub(r"\s+", " ", text))]


def title_of_address(address: str) -> str:
    """The page title in an address of the wiki, with its anchor; "" if there is none.

    The forms: `/wiki/index.php/TITLE`, `/wiki/index.php?title=TITLE&...`, `/wiki/TITLE`, with or without a host.
    """
    try:
        parts = urlsplit(address.strip())
    except ValueError:  # not an address at all
        return ""
    title = parse_qs(parts.query).get("title", [""])[0]
    if not title:
        found = re.search(r"/index\.php/(.+)", parts.path, re.IGNORECASE) or re.search(
            r"/wiki/(?!index\.php)(.+)", parts.path, re.IGNORECASE
        )
        title = unquote(found[1]) if found else ""
    anchor = f"#{unquote(parts.fragment)}" if title and parts.fragment else ""
    return (title + anchor).replace("_", " ").strip()


def title_of_file(file_name: str) -> str:
    """The page title that a file's name or path ends in; `_Problem_`, `/Problem_` and `%2F` for the slash. Rule R6."""
    path = unquote(file_name).replace("\\", "/")
    found = re.search(r"[?&]title=([^&]+)", path)
    name = re.sub(r"[_\s]+", " ", found[1] if found else _FILE_END.sub("", path))
    name = re.sub(r" - AoPS Wiki$| ?\(\d+\)$", "", name.strip())
    tail = re.search(r"(?:^|/)([^/]* Problems)(?: ?/ ?| | ?- ?)(Problem \d+)$", name, re.IGNORECASE)
    return f"{tail[1]}/{tail[2]}" if tail else name.rpartition("/")[2]


def category_of(wiki_categories: Iterable[str]) -> str | None:
    """The category that a page's own categories give; None if they give none, or two different ones. Rule 3.5 (a)."""
    found = set()
    for name in wiki_categories:
        subject = re.fullmatch(r"(?:Introductory|Intermediate|Olympiad) (.+?) Problems?", name.strip())
        if subject and subject[1] in _CATEGORY_OF:
            found.add(_CATEGORY_OF[subject[1]])
    return found.pop() if len(found) == 1 else None
