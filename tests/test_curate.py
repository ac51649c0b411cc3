"""From a corpus to problems and samples; the published subset where it is at hand."""

import csv
import hashlib
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from creativemath_utils import curate
from creativemath_utils.curate import limit_samples, load_corpus, longest_prompt_tokens, run_samples, select_problems
from creativemath_utils.generate import generation_request
from creativemath_utils.profile import SUBSET_ENV, Corpus, Profile, Select, load_profile
from creativemath_utils.records import COMPETITIONS, KitError, Problem, samples_of, to_row
from creativemath_utils.store import ROOT

PLACES = [os.environ.get(SUBSET_ENV), ROOT.parent / "shared" / "creativemath" / "subset.json"]
SUBSET = next((Path(place) for place in PLACES if place and Path(place).is_file()), None)
with_subset = pytest.mark.skipif(
    SUBSET is None, reason=f"the published subset is not part of the kit; give its place in {SUBSET_ENV}"
)


def problem(problem_id, competition="AMC_8", n=1, statement="1 + 1?"):
    return Problem(problem_id, competition, "c", 2020, 1, None, None, statement, ("Two.",) * n)


def profile(source, **corpus):
    return Profile(run="r", corpus=Corpus(source=source, **corpus), generators=["g"], judges=["j"])


def ids(problems):
    return [p.problem_id for p in problems]


# --- corpora --------------------------------------------------------------------------------------


def test_the_demo_corpus():
    problems, dropped = load_corpus(profile("demo"))
    assert len(problems) >= 16 and dropped == []
    assert all(count >= 2 for count in Counter(p.competition for p in problems).values())
    assert set(COMPETITIONS) == {p.competition for p in problems}


def test_ones_own_problems(tmp_path):
    rows = [to_row(problem("b", n=2)), to_row(problem("a", statement="Suppose $x<y$ and $p>q$, $\x0crac12$."))]
    (tmp_path / "my.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    problems, _ = load_corpus(profile("jsonl", path=str(tmp_path / "my.jsonl")))
    assert ids(problems) == ["b", "a"]  # file order
    assert problems[1].statement == "Suppose $x<y$ and $p>q$, $\x0crac12$."
    assert problems[1].difficulty is None


@pytest.mark.parametrize(
    "content, message",
    [
        ('{"problem_id": "a"', ":1: not readable as JSON"),
        (json.dumps(to_row(problem("a"))) + "\n[]\n", ":2: expected a JSON object, found list"),
        (json.dumps({**to_row(problem("a")), "competition": "AMC 8"}), ":1: competition 'AMC 8' is none of"),
        ((json.dumps(to_row(problem("a"))) + "\n") * 2, ":2: problem_id 'a' stands twice; ids must be unique"),
        ("\n", ": holds no problem"),
    ],
)
def test_an_unreadable_corpus_line_is_named(tmp_path, content, message):
    file = tmp_path / "my.jsonl"
    file.write_text(content)
    with pytest.raises(KitError) as caught:
        load_corpus(profile("jsonl", path=str(file)))
    assert str(caught.value).startswith(f"{file}{message}")


@pytest.mark.parametrize(
    "source, corpus, message",
    [
        ("jsonl", {}, "corpus: source jsonl needs a path"),
        ("jsonl", {"path": "no/such.jsonl"}, "no/such.jsonl is missing; give the path"),
        ("creativemath", {}, "the published subset is not part of the kit: take data/subset.json from the paper's"),
        ("creativemath", {"path": "/no/such.json"}, "/no/such.json is missing; correct the path"),
        ("hub", {"path": "x"}, "corpus: source 'hub' is not built yet; use demo, creativemath, pages or jsonl"),
        ("pages", {}, "corpus: source pages needs a path to a folder of saved pages"),
    ],
)
def test_a_corpus_that_is_not_there_is_named_with_the_remedy(monkeypatch, source, corpus, message):
    monkeypatch.delenv(SUBSET_ENV, raising=False)
    with pytest.raises(KitError) as caught:
        load_corpus(profile(source, **corpus))
    assert str(caught.value).startswith(message)


# --- the selection --------------------------------------------------------------------------------

POOL = [problem(f"{competition}/{number}", competition) for competition in ("IMO", "AMC_8") for number in range(20)]


def test_the_selection_depends_on_seed_and_ids_alone():
    chosen = select_problems(POOL, Select(per_competition=5))
    again = select_problems(POOL[::-1], Select(per_competition=5))
    assert set(ids(again)) == set(ids(chosen))
    assert set(ids(select_problems(POOL, Select(per_competition=5, seed=1)))) != set(ids(chosen))
    # A competition's draw does not hang on which others there are.
    alone = select_problems([p for p in POOL if p.competition == "IMO"], Select(per_competition=5))
    assert set(ids(alone)) == {i for i in ids(chosen) if i.startswith("IMO")}


def test_so_many_of_each_competition_in_the_papers_order():
    chosen = select_problems(POOL, Select(per_competition=3))
    assert [p.competition for p in chosen] == ["AMC_8"] * 3 + ["IMO"] * 3
    assert len(set(ids(chosen))) == 6


def test_only_problems_whose_longest_prompt_fits_are_drawn():
    long = [problem(f"long/{number}", "IMO", statement="x" * 3000) for number in range(20)]
    chosen = select_problems([*long, *POOL], Select(per_competition=20, max_prompt_tokens=1000))
    assert set(ids(chosen)) == set(ids(POOL))


def test_the_longest_prompt_has_all_solutions():
    # The empty prompt, and `Solution k:` with two line ends between, cost the same in both: three characters a token.
    assert longest_prompt_tokens(problem("a", n=1, statement="x" * 3300)) >= 1100
    more = longest_prompt_tokens(problem("a", n=9)) - longest_prompt_tokens(problem("a", n=1))
    assert more == pytest.approx(8 * len("Solution 1:\nTwo.\n\n") / 3, abs=1)


@pytest.mark.parametrize(
    "select, message",
    [
        (Select(per_competition=21), "select: AMC_8 has 20 problems that fit (of 20), 21 are asked for; lower per_"),
        (Select(per_competition=1, max_prompt_tokens=9), "select: AMC_8 has 0 problems that fit (of 20), 1 are asked"),
    ],
)
def test_too_few_problems_are_said_and_not_padded(select, message):
    with pytest.raises(KitError) as caught:
        select_problems(POOL, select)
    assert str(caught.value).startswith(message)


# --- the limit ------------------------------------------------------------------------------------

# IMO comes first in the corpus, AMC_8 in the turns. Samples: i1.1 i1.2 a1.1 i2.1 a2.1 a2.2 a2.3 (problem.k).
MIXED = samples_of([problem("i1", "IMO", 2), problem("a1", n=1), problem("i2", "IMO"), problem("a2", n=3)])


@pytest.mark.parametrize(
    "limit, expected",
    [
        (1, "a1.1"),
        (2, "i1.1 a1.1"),  # one a competition
        (3, "i1.1 a1.1 a2.1"),  # the second turn begins with AMC_8
        (4, "i1.1 i1.2 a1.1 a2.1"),
        (5, "i1.1 i1.2 a1.1 a2.1 a2.2"),
        (6, "i1.1 i1.2 a1.1 i2.1 a2.1 a2.2"),
        (7, "i1.1 i1.2 a1.1 i2.1 a2.1 a2.2 a2.3"),  # IMO has no fourth
        (99, "i1.1 i1.2 a1.1 i2.1 a2.1 a2.2 a2.3"),
        (None, "i1.1 i1.2 a1.1 i2.1 a2.1 a2.2 a2.3"),
    ],
)
def test_the_limit_goes_round_the_competitions(limit, expected):
    # They come back in the order of the corpus, whatever the turn in which they were taken.
    assert " ".join(f"{s.problem.problem_id}.{s.k}" for s in limit_samples(MIXED, limit)) == expected


def test_a_larger_limit_keeps_the_samples_of_a_smaller_one():
    for limit in range(1, 7):
        assert set(map(id, limit_samples(MIXED, limit))) < set(map(id, limit_samples(MIXED, limit + 1)))


def test_no_samples_is_no_fault():
    assert limit_samples([], 3) == []


def test_the_demo_runs_on_all_its_samples():
    demo = load_profile("demo")
    samples = run_samples(load_corpus(demo)[0], demo)
    assert len(samples) == 52
    assert set(Counter(s.problem.competition for s in samples)) == set(COMPETITIONS)


# --- the published subset -------------------------------------------------------------------------


def test_another_file_than_the_published_one_is_refused(tmp_path):
    (tmp_path / "subset.json").write_text("[]")
    with pytest.raises(KitError) as caught:
        load_corpus(profile("creativemath", path=str(tmp_path / "subset.json")))
    # printf '[]' | sha256sum
    assert "SHA-256 is 4f53cda1..., the release at commit 39cba50 has 7811d8e9...; take the file" in str(caught.value)


def test_a_problem_of_the_subset_in_the_kits_form(tmp_path):
    item = {
        "competition": "IMO",
        "competition_id": "2030_IMO_Problems",
        "problem_id": 4,
        "problem": "Suppose $x<y$, $\x0crac{m}{n}$",
        "solutions": {"10": "last", "1": "first", "2": "second"},  # by number, not as text
    }
    (tmp_path / "x.json").write_text(json.dumps([item]))
    (read,) = curate.read_subset(tmp_path / "x.json", check_sum=None)
    assert (read.problem_id, read.year, read.number) == ("2030_IMO_Problems/4", 2030, 4)
    assert read.solutions == ("first", "second", "last")
    assert read.statement == item["problem"]
    assert (read.difficulty, read.category) == (None, None)  # not said, which is not 0


@pytest.fixture(scope="module")
def published():
    return curate.read_subset(SUBSET)


@with_subset
def test_the_place_of_the_subset_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv(SUBSET_ENV, str(SUBSET))
    assert curate.subset_file(load_profile("creativemath")) == SUBSET


@with_subset
def test_the_published_subset_is_the_pinned_file():
    assert hashlib.sha256(SUBSET.read_bytes()).hexdigest().startswith("7811d8e9")


@with_subset
def test_a_changed_byte_is_refused(tmp_path):
    content = SUBSET.read_bytes()
    (tmp_path / "subset.json").write_bytes(content + b"\n")
    with pytest.raises(KitError, match="the release at commit 39cba50 has 7811d8e9"):
        curate.read_subset(tmp_path / "subset.json")


@with_subset
def test_400_problems_605_samples_with_unique_ids(published):
    assert len(published) == len(set(ids(published))) == 400
    assert len(samples_of(published)) == 605
    assert "2016_AMC_8_Problems/15" in ids(published)


@with_subset
def test_the_counts_are_the_published_ones(published):
    counted = Counter((p.competition.replace("_", " "), p.n) for p in published)
    with (ROOT / "data" / "published" / "subset_counts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    printed = {(row["competition"], n): int(row[f"n{n}"]) for row in rows for n in range(1, 6) if int(row[f"n{n}"])}
    assert counted == printed


@with_subset
def test_the_texts_are_the_files_byte_for_byte(published):
    raw = {f"{item['competition_id']}/{item['problem_id']}": item for item in json.loads(SUBSET.read_bytes())}
    assert set(raw) == set(ids(published))
    for read in published:
        item = raw[read.problem_id]
        assert read.statement == item["problem"]
        assert list(read.solutions) == [item["solutions"][str(number)] for number in range(1, read.n + 1)]
        assert (read.competition, read.difficulty) == (item["competition"], item.get("difficulty"))


@with_subset
def test_the_small_profile_fits_the_window_of_its_model(published):
    small = load_profile("creativemath")
    samples = run_samples(published, small)
    assert Counter(s.problem.competition for s in samples) == dict.fromkeys(COMPETITIONS, 3)
    (name,) = small.generators
    prompts = [generation_request(s, name, small).messages[0]["content"] for s in samples]
    tokens = max(map(len, prompts)) / curate.CHARACTERS_PER_TOKEN  # a judge's prompt is 20 characters longer
    solution, verdict = (small.decoding_of(name, judge=judge)["max_new_tokens"] for judge in (False, True))
    assert tokens + solution + verdict + 100 < small.model(name).window
