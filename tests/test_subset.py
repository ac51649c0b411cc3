"""The published subset: where it comes from, and that its texts stay as they are. Real counts where it is at hand."""

import csv
import hashlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from creativemath_utils import __main__
from creativemath_utils.corpus import subset
from creativemath_utils.corpus.dirt import dirt_markdown, dirt_report, find_dirt
from creativemath_utils.corpus.repair import repair_problems
from creativemath_utils.corpus.subset import load_subset, read_subset, subset_file
from creativemath_utils.curate import load_corpus, run_samples
from creativemath_utils.generate import generation_request
from creativemath_utils.profile import SUBSET_ENV, Corpus, Profile, load_profile
from creativemath_utils.records import COMPETITIONS, KitError, samples_of
from creativemath_utils.spending import CHARACTERS_PER_TOKEN
from creativemath_utils.store import ROOT

PLACES = [os.environ.get(SUBSET_ENV), ROOT.parent / "shared" / "creativemath" / "subset.json"]
SUBSET = next((Path(place) for place in PLACES if place and Path(place).is_file()), None)
with_subset = pytest.mark.skipif(
    SUBSET is None, reason=f"the published subset is not part of the kit; give its place in {SUBSET_ENV}"
)

ITEM = {
    "competition": "IMO",
    "competition_id": "2030_IMO_Problems",
    "problem_id": 4,
    "problem": "Suppose $x<y$, $\x0crac{m}{n}$",
    "solutions": {"10": "last", "1": "first", "2": "second"},  # by number, not as text
}


def profile(offline=False, **corpus):
    given = Corpus(source="creativemath", **corpus)
    return Profile(run="r", corpus=given, generators=["g"], judges=["j"], offline=offline)


def ids(problems):
    return [p.problem_id for p in problems]


# --- where it comes from --------------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No path is given, nothing is downloaded yet; what would be fetched is written down."""
    fetched = []
    monkeypatch.delenv(SUBSET_ENV, raising=False)
    monkeypatch.setattr(subset, "DOWNLOADED", tmp_path / "downloads" / "subset.json")
    monkeypatch.setattr(subset, "fetch", lambda source, target: fetched.append((source, target)))
    return fetched


def test_without_a_path_it_is_downloaded_from_the_pinned_commit(nowhere):
    with pytest.raises(KitError, match="cannot be read: No such file"):  # the stub brought nothing
        load_subset(profile())
    ((source, target),) = nowhere
    commit = "39cba50650b7ad22c943fb5e4d91fa7f2e6f4a08"
    assert source.address == f"https://raw.githubusercontent.com/JunyiYe/CreativeMath/{commit}/data/subset.json"
    assert source.sha256.startswith("7811d8e9") and len(source.sha256) == 64
    assert target == subset.DOWNLOADED and str(target).endswith("downloads/subset.json")


def test_an_offline_profile_downloads_nothing(nowhere):
    with pytest.raises(
        KitError, match=r"an offline profile downloads nothing: take data/subset.json at commit 39cba50"
    ):
        load_subset(profile(offline=True))
    assert nowhere == []


def test_a_plan_downloads_nothing(nowhere):
    with pytest.raises(KitError, match=r"not here yet: `make curate` downloads it \(749,138 bytes\).*" + SUBSET_ENV):
        load_corpus(profile(), download=False)
    assert nowhere == []
    assert __main__.corpus_file(profile()) == subset.DOWNLOADED  # make is told only once it is there


def test_a_path_that_leads_nowhere_is_named(nowhere):
    with pytest.raises(KitError, match=r"^/no/such.json is missing; correct the path"):
        load_subset(profile(path="/no/such.json"))
    assert nowhere == []


def test_another_file_than_the_published_one_is_refused(tmp_path):
    (tmp_path / "subset.json").write_text("[]")
    with pytest.raises(KitError) as caught:
        load_corpus(profile(path=str(tmp_path / "subset.json")))
    # printf '[]' | sha256sum
    said = "SHA-256 is 4f53cda1... (2 bytes), the release at commit 39cba50 has 7811d8e9... (749,138 bytes); take the"
    assert said in str(caught.value)


def test_a_damaged_download_is_deleted_by_hand_alone(nowhere, monkeypatch, tmp_path):
    monkeypatch.setattr(subset, "DOWNLOADED", tmp_path / "half.json")
    (tmp_path / "half.json").write_text("[")
    with pytest.raises(KitError, match="delete it, and it is downloaded again, or read your own problems"):
        load_subset(profile())
    assert nowhere == []


def test_a_folder_is_not_the_published_file(tmp_path):
    with pytest.raises(KitError, match="is a folder; correct the path of the published subset"):
        load_subset(profile(path=str(tmp_path)))


def test_a_problem_of_the_subset_in_the_kits_form(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps([ITEM]))
    (read,) = read_subset(tmp_path / "x.json", sha256=None)
    assert (read.problem_id, read.year, read.number) == ("2030_IMO_Problems/4", 2030, 4)
    assert read.solutions == ("first", "second", "last")
    assert read.statement == ITEM["problem"]
    assert (read.difficulty, read.category) == (None, None)  # not said, which is not 0


@pytest.mark.parametrize(
    ("repair", "statement", "acts"),
    [(False, "Suppose $x<y$, $\x0crac{m}{n}$", 0), (True, r"Suppose $x<y$, $\frac{m}{n}$", 1)],
)
def test_only_a_repair_changes_a_text(monkeypatch, tmp_path, repair, statement, acts):
    monkeypatch.setattr(subset, "read_subset", lambda path: read_subset(path, sha256=None))
    (tmp_path / "x.json").write_text(json.dumps([ITEM]))
    (read,), rows = load_corpus(profile(path=str(tmp_path / "x.json"), repair=repair))
    assert read.statement == statement and len(rows) == acts


# --- the file itself ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published():
    return read_subset(SUBSET)


@with_subset
def test_the_place_of_the_subset_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv(SUBSET_ENV, str(SUBSET))
    assert subset_file(load_profile("creativemath")) == SUBSET


@with_subset
def test_what_was_downloaded_is_read(nowhere, monkeypatch):
    def bring(source, target):
        target.parent.mkdir()
        shutil.copy(SUBSET, target)

    monkeypatch.setattr(subset, "fetch", bring)
    problems, rows = load_subset(profile())
    assert len(problems) == 400 and rows == []
    monkeypatch.setattr(subset, "fetch", None)  # and not fetched again
    assert load_subset(profile(offline=True))[0] == problems


@with_subset
def test_the_published_subset_is_the_pinned_file():
    assert hashlib.sha256(SUBSET.read_bytes()).hexdigest() == subset.SUBSET_SHA256
    assert SUBSET.stat().st_size == subset.SUBSET_SOURCE.size


@with_subset
def test_a_changed_byte_is_refused(tmp_path):
    content = SUBSET.read_bytes()
    (tmp_path / "subset.json").write_bytes(content + b"\n")
    with pytest.raises(KitError, match="the release at commit 39cba50 has 7811d8e9"):
        read_subset(tmp_path / "subset.json")


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
    tokens = max(map(len, prompts)) / CHARACTERS_PER_TOKEN  # a judge's prompt is 20 characters longer
    solution, verdict = (small.decoding_of(name, judge=judge)["max_new_tokens"] for judge in (False, True))
    assert tokens + solution + verdict + 100 < small.model(name).window


# --- what is wrong with it, counted ---------------------------------------------------------------


@with_subset
def test_the_dirt_of_the_published_subset(published):
    """Counted by hand: drawings, pictures lost, control characters, bare answers, twins, dollars, blanks. The other
    counts are the rules' own."""
    found = find_dirt(published)
    report = dirt_report(published, found).set_index("kind")
    assert {kind: (int(row["count"]), int(row["problems"])) for kind, row in report.iterrows()} == {
        "drawing": (42, 38),
        "picture_lost": (7, 7),
        "words_lost": (62, 33),
        "possible_gap": (92, 61),
        "block_lost": (19, 14),
        "control_character": (6, 2),
        "other_control": (5, 4),
        "credit": (8, 8),
        "remark": (6, 5),
        "unfinished": (2, 2),
        "answer_only": (2, 2),
        "refers_to_other": (31, 28),
        "same_solution": (0, 0),
        "same_problem": (2, 2),
        "same_but_for_form": (2, 2),
        "answer_in_problem": (0, 0),
        "choices_missing": (1, 1),
        "unbalanced_dollar": (4, 4),
        "unbalanced_formula": (2, 1),
        "double_dollar": (9, 6),
        "markup": (1, 1),
        "outer_blanks": (47, 41),
        "special_space": (18, 17),
        "no_difficulty": (50, 50),
        "no_category": (400, 400),
    }
    assert dirt_markdown(published, "the subset", found).count("\n|") == 23 + 2  # a row for each kind that occurs


@with_subset
def test_the_repair_of_the_published_subset(published):
    repaired, rows = repair_problems(published)
    assert Counter(row["reason"] for row in rows) == {
        "control_character": 2,
        "answer_only": 2,
        "same_problem": 4,
        "no_solutions": 2,
    }
    assert (len(repaired), sum(p.n for p in repaired)) == (394, 599)
    before = {p.problem_id: p for p in published}
    changed = [p.problem_id for p in repaired if p.statement != before[p.problem_id].statement]
    assert changed == ["1967_IMO_Problems/6", "2019_USAJMO_Problems/6"]
    left = dirt_report(repaired).set_index("kind")["count"]
    assert not left[["control_character", "answer_only", "same_problem", "same_but_for_form"]].any()
