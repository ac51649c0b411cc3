"""The released code's rules beside the kit's on the same votes: every way a panel of three can vote."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from creativemath_utils import released_section as section
from creativemath_utils.metrics import collect_outcomes
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Problem, Solution, Vote
from creativemath_utils.released import (
    K_IS_N,
    NO_SOLUTION,
    NO_VERDICT,
    NOT_JUDGED,
    UNEXPLAINED,
    ReleasedRules,
    released_ratios,
)
from creativemath_utils.table_formats import RunInfo

JUDGES = ("a", "b", "c")
VERDICTS = {"Y": "YES", "N": "NO", "U": "UNPARSED"}
INFO = RunInfo("my-run", dict(zip(JUDGES, "ABC", strict=True)), "strict")


def cast(problem, letters, generator="m", k=1):
    """Votes of the stages given as words of Y, N, U, one letter a judge; a dot is a judge who was not asked."""
    return [
        Vote(problem, k, generator, stage, judge, VERDICTS[letter], "key")
        for stage, word in zip(("correctness", "coarse", "fine"), letters, strict=False)
        for judge, letter in zip(JUDGES, word, strict=True)
        if letter != "."
    ]


def samples(*rows):
    """Problems and solutions from rows (problem, n, status); k = 1."""
    problems = [Problem(p, "IMO", p, None, 1, None, None, "1 + 1?", ("Two.",) * n) for p, n, _ in rows]
    return problems, [Solution(p, 1, n, "m", "text", "text", (), status, "key") for p, n, status in rows]


def decided(rows, votes, **settings):
    problems, solutions = samples(*rows)
    return collect_outcomes(problems, solutions, votes, JUDGES, **settings)


@pytest.mark.parametrize(
    ("letters", "n", "decisions", "at_k_n_yes"),
    [
        (("YYY", "YYN", "NYY"), 2, "YES YES YES", "YES"),
        (("YYY", "YYN", "YNN"), 2, "YES YES NO", "NO"),
        (("YYY", "YYN"), 1, "YES YES NO", "YES"),  # k = n: the script writes NO, the analysis notebook YES
        (("YYY", "YNN"), 1, "YES NO NO", "NO"),
        (("YYN", "YYY", "YYY"), 2, "NO NO NO", "NO"),  # each stage only for what passed the one before
        (("YYU",), 2, "NO NO NO", "NO"),  # no YES is a NO
        (("YYY", "YUU"), 2, "YES NO NO", "NO"),
        (("YYY", "YYU", "YY."), 2, "YES YES YES", "YES"),  # two of three are enough
        ((), 1, "NO NO NO", "NO"),  # nobody was asked
    ],
)
def test_released_decisions(letters, n, decisions, at_k_n_yes):
    outcomes = decided([("p", n, "ok")], [])
    votes = [*cast("p", letters), Vote("p", 1, "m", "correctness", "stranger", "NO", "key")]  # not of the panel
    found = ReleasedRules(votes, JUDGES).decide(outcomes)
    assert " ".join(found.iloc[0][["correct", "novel", "novel_unknown"]]) == decisions
    assert ReleasedRules(votes, JUDGES).decide(outcomes, at_k_n="YES").loc[0, "novel_unknown"] == at_k_n_yes


def test_every_vote_of_three_judges():
    """C and N agree whatever the votes; Nu differs by the novel samples with k = n; all else is undecided here."""
    words = ["".join(word) for word in product("YNU", repeat=3)]
    kinds = [(word,) for word in words] + [("YYY", word) for word in words] + [("YYY", "YYN", word) for word in words]
    cases = [(letters[: 2 if n == 1 else 3], n) for letters in kinds for n in (1, 2)]
    rows = [(f"p{i}", n, "ok") for i, (_, n) in enumerate(cases)]
    votes = [vote for i, (letters, _) in enumerate(cases) for vote in cast(f"p{i}", letters)]
    outcomes = decided(rows, votes)
    theirs = ReleasedRules(votes, JUDGES).decide(outcomes)
    for decision in ("correct", "novel"):
        assert ((outcomes[decision].eq(True)) == (theirs[decision] == "YES")).all()
    unknown = outcomes["novel_unknown"].eq(True)
    assert (theirs["novel_unknown"] == "YES").equals(unknown & (outcomes["k"] < outcomes["n"]))
    found = ReleasedRules(votes, JUDGES).differences(outcomes)
    assert set(found["problem_id"]) == set(
        outcomes["problem_id"][outcomes["undecided"] | (unknown & (outcomes["n"] == 1))]
    )
    assert set(found["reason"]) == {K_IS_N, NO_VERDICT}
    assert (found["n"][found["reason"] == K_IS_N] == 1).all()
    as_notebook = ReleasedRules(votes, JUDGES).differences(outcomes, at_k_n="YES")
    assert set(as_notebook["reason"]) == {NO_VERDICT}


@pytest.mark.parametrize(
    ("status", "n", "letters", "settings", "expected"),
    [
        ("ok", 1, ("YYY", "YYN"), {}, ("novel_unknown", "YES", "NO", K_IS_N)),
        ("ok", 2, ("YYU",), {}, ("correct", "undecided", "NO", NO_VERDICT)),
        ("ok", 2, ("YYY", "YNU"), {}, ("novel", "undecided", "NO", NO_VERDICT)),
        ("ok", 2, ("YYY", "YYY", "UYN"), {}, ("novel_unknown", "undecided", "NO", NO_VERDICT)),
        ("ok", 2, ("YYY", "YYY", "YYU"), {}, None),  # the missing vote decides nothing
        ("ok", 2, ("NUU",), {}, None),  # one NO is enough
        ("truncated", 2, (), {"judge_truncated": False}, ("correct", "undecided", "NO", NOT_JUDGED)),
        ("truncated", 1, ("YYY", "NNN"), {}, None),  # judged like others
        (
            "refused",
            2,
            ("YYY", "YYY", "YYY"),
            {},
            ("correct", "NO", "YES", NO_SOLUTION),
        ),  # votes on what is no solution
        ("blocked", 2, (), {}, None),
    ],
)
def test_the_reason_of_a_difference(status, n, letters, settings, expected):
    votes = cast("p", letters)
    found = ReleasedRules(votes, JUDGES).differences(decided([("p", n, status)], votes, **settings))
    assert [tuple(row) for row in found[["decision", "ours", "released", "reason"]].to_numpy()] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(
    ("tampered", "letters", "n"),
    [
        ({"correct": None, "novel": None, "novel_unknown": None}, ("YYN",), 2),  # a NO decides: nothing is open
        ({"correct": False, "novel": False, "novel_unknown": False}, ("YYY", "NNN"), 2),
        ({"novel": None, "novel_unknown": None}, ("YYY", "NNU"), 2),  # the vote without a verdict decides nothing
        ({"novel_unknown": True}, ("YYY", "YYY", "NNN"), 2),  # Novel-Unknown against the votes, and k < n
        ({"correct": True, "novel": True, "novel_unknown": True}, ("NNN",), 1),  # k = n explains no other decision
    ],
)
def test_a_fault_is_not_explained_away(tampered, letters, n):
    votes = cast("p", letters)
    outcomes = decided([("p", n, "ok")], votes)
    for name, value in tampered.items():
        outcomes[name] = pd.Series([value], dtype=object)
    assert list(ReleasedRules(votes, JUDGES).differences(outcomes)["reason"]) == [UNEXPLAINED]


def test_released_ratios_are_zero_over_nothing():
    votes = [*cast("p", ("YYY", "YYY", "YYY")), *cast("q", ("YYY", "NNN")), *cast("p", ("NNN",), generator="none")]
    outcomes = decided([("p", 2, "ok"), ("q", 2, "ok"), ("r", 2, "blocked")], votes)
    outcomes = pd.concat([outcomes, outcomes.iloc[:1].assign(generator="none")])
    table = released_ratios(ReleasedRules(votes, JUDGES).decide(outcomes)).set_index("generator")
    assert list(table.loc["m"]) == pytest.approx([3, 2, 1, 1, 2 / 3, 1 / 3, 1 / 2, 1 / 3, 1])  # of all samples
    assert list(table.loc["none"]) == [1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_without_judges_there_is_nothing_to_decide():
    with pytest.raises(KitError, match="no judges"):
        ReleasedRules([], ())


def page(outcomes, votes, label="Model"):
    return "\n\n".join(
        section.released_section(outcomes, votes, [Model(name="m", backend="api", id="x", label=label)], INFO)
    )


def test_section_counts_and_lists_what_differs(monkeypatch):
    rows = [("p_1", 1, "ok"), ("p_2", 1, "ok"), ("p_3", 2, "ok"), ("p_4", 2, "ok")]
    votes = [
        *(vote for problem in ("p_1", "p_2") for vote in cast(problem, ("YYY", "YYY"))),
        *cast("p_3", ("YYY", "YYY", "YYY")),
        *cast("p_4", ("YYU",)),
    ]
    text = page(decided(rows, votes), votes, "lab<b>_$x")
    assert [cell.strip() for cell in text.splitlines()[6].strip("|").split("|")] == [
        r"lab\<b\>\_\$x", "3", "3", "3, 1", "2", "1", "0",
    ]  # fmt: skip
    for said in (
        "C and N agree for every model.",
        "Nu differs by just the novel samples with k = n, 2 in all.",
        "analysis notebook, Nu agrees, too.",
        "Undecided here and NO there: 1.",
        "<summary>lab&lt;b&gt;_&#36;x: 3</summary>\n\n- *k = n",  # the empty line: what follows is Markdown
        "- *k = n: 2, novel-unknown YES here, NO there.* p\\_1 (k = 1 of 1); p\\_2 (k = 1 of 1)",
        "- *no clear verdict: 1, correct undecided here, NO there.* p\\_4 (k = 1 of 2)",
    ):
        assert said in text
    assert "Unexplained" not in text
    assert "n/a here and 0 there" not in text  # no ratio of this run is over nothing
    monkeypatch.setattr(section, "MOST_LISTED", 1)
    assert "p\\_1 (k = 1 of 1); and 1 more" in page(decided(rows, votes), votes)


def test_section_says_so_when_something_else_differs():
    votes = cast("p", ("YYY", "YYY"))
    outcomes = decided([("p", 1, "ok")], votes).assign(correct=False, novel=False, novel_unknown=False)
    text = page(outcomes, votes)
    assert "**C or N differs: Model.**" in text
    assert "**Unexplained: 1." in text
    assert "N/C is n/a here and 0 there: Model." in text
    assert "Nu agrees, too" not in text


def test_section_without_votes():
    assert page(decided([("p", 1, "ok")], []), []) == "No votes yet."
