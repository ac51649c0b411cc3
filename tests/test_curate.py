"""From a corpus to problems and samples."""

import json
from collections import Counter

import pytest

from creativemath_utils.corpus.token_counts import token_counter
from creativemath_utils.curate import (
    limit_samples,
    load_corpus,
    longest_prompt_tokens,
    run_samples,
    select_problems,
    with_difficulty,
)
from creativemath_utils.profile import SUBSET_ENV, Corpus, Profile, Select, load_profile
from creativemath_utils.records import COMPETITIONS, KitError, Problem, samples_of
from creativemath_utils.rows import to_row


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
        (json.dumps({**to_row(problem("a")), "competition": "AMC 8"}), ":1: competition 'AMC 8' is written AMC_8"),
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
        ("creativemath", {"path": "/no/such.json"}, "/no/such.json is missing; correct the path"),
        ("hub", {}, "corpus: source hub needs a path: the name of a dataset, or a local file or folder"),
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
        (
            Select(per_competition=21),
            "21 problems of each competition are asked for, AMC_8 has 20, IMO has 20; lower per_competition or leave",
        ),
        (
            Select(per_competition=1, max_prompt_tokens=9),
            "1 problems of each competition that fit are asked for, AMC_8 has 0 of 20, IMO has 0 of 20; lower "
            "per_competition, raise max_prompt_tokens or leave those competitions out of the corpus",
        ),
    ],
)
def test_too_few_problems_are_said_and_not_padded(select, message):
    with pytest.raises(KitError) as caught:
        select_problems(POOL, select)
    assert str(caught.value).startswith(f"select: {message}")


def test_a_corpus_of_small_contests_is_said_in_one_line():
    many = [problem(f"{name}/1", f"C{name}") for name in range(9)]
    with pytest.raises(
        KitError, match="asked for, C0 has 1, C1 has 1, C2 has 1, C3 has 1, C4 has 1 and 4 more have too"
    ):
        select_problems(many, Select(per_competition=2))


def test_other_competitions_are_drawn_after_the_eight():
    others = [problem(f"{name}/{number}", name) for name in ("Putnam", "BMO") for number in range(3)]
    chosen = select_problems([*others, *POOL], Select(per_competition=1))
    assert [p.competition for p in chosen] == ["AMC_8", "IMO", "BMO", "Putnam"]
    # The draw of a competition does not hang on the others.
    assert ids(chosen)[:2] == ids(select_problems(POOL, Select(per_competition=1)))


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


def test_the_limit_goes_round_other_competitions_too():
    mixed = samples_of([problem("p", "Putnam", 2), problem("b", "BMO"), problem("i", "IMO")])
    assert [s.problem.problem_id for s in limit_samples(mixed, 2)] == ["b", "i"]  # IMO, BMO, Putnam
    assert [s.problem.problem_id for s in limit_samples(mixed, 3)] == ["p", "b", "i"]


def test_no_samples_is_no_fault():
    assert limit_samples([], 3) == []


def test_the_demo_runs_on_all_its_samples():
    demo = load_profile("demo")
    samples = run_samples(load_corpus(demo)[0], demo)
    assert len(samples) == 52
    assert set(Counter(s.problem.competition for s in samples)) == set(COMPETITIONS)


# --- by what tokens are counted -------------------------------------------------------------------


@pytest.fixture
def words_tokenizer(tmp_path):
    """A tokenizer.json that counts words and signs, and puts a begin token before a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({"<s>": 0, "?": 1}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer.enable_truncation(8)  # a file may say so: it must not cut the count
    folder = tmp_path / "words"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_tokens_by_a_file_or_a_folder(words_tokenizer):
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8}
    (words_tokenizer / "tokenizer_config.json").write_text(json.dumps(config))
    for name in (words_tokenizer / "tokenizer.json", words_tokenizer):
        count = token_counter(str(name))
        assert (count("one two three"), count("word " * 50), count("")) == (3, 50, 0)  # without the begin token


def test_the_selection_counts_by_the_named_tokenizer(words_tokenizer):
    long = [problem(f"long/{number}", "IMO", statement="x " * 300) for number in range(20)]
    by_words = Select(per_competition=20, max_prompt_tokens=400, tokenizer="words/tokenizer.json")
    found = []

    def path_of(name):  # as Profile.path: a file beside the profile
        found.append(name)
        return words_tokenizer.parent / name

    chosen = select_problems([*long, *POOL], by_words, path_of)
    assert set(ids(chosen)) == set(ids(POOL)) and found == ["words/tokenizer.json"]
    # The prompt's own words are some 190, an `x` is one more: 190 + 300 > 400, but not by the 1,500 characters more.
    shorter = Select(per_competition=20, max_prompt_tokens=700)
    assert len(select_problems([*long, *POOL], shorter)) == 40


def test_a_tokenizer_is_looked_for_only_where_it_counts():
    chosen = select_problems(POOL, Select(per_competition=1, tokenizer="/no/such/folder"))
    assert len(chosen) == 2


def test_a_name_that_is_not_in_the_cache_is_asked_about_once(monkeypatch, tmp_path):
    """Without a network `transformers` tries for a minute before it says so."""
    asked = []

    def model_info(self, name, timeout):
        asked.append(name)
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", model_info)
    select = Select(per_competition=1, max_prompt_tokens=9, tokenizer="no-such/name")
    with pytest.raises(KitError, match=r"the hub's cannot be loaded \(Name or service not known\); give `characters`"):
        select_problems(POOL, select, tmp_path.__truediv__)
    assert asked == ["no-such/name"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no-such/name", None, "no such file or folder is here, and the hub's cannot be loaded ("),
        ("no/such/folder", None, "there is no file or folder "),  # no name of the hub either
        ("words.json", None, "there is no file or folder "),
        ("bad.json", "{}", "it cannot be loaded ("),
        ("bad.gguf", "no weights", "it cannot be loaded ("),
    ],
)
def test_a_bad_name_of_a_tokenizer_is_one_line(monkeypatch, tmp_path, name, content, message):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(KitError) as caught:
        select_problems(POOL, Select(per_competition=1, max_prompt_tokens=9, tokenizer=name), tmp_path.__truediv__)
    assert str(caught.value).startswith(f"select: tokenizer {name!r}: {message}")
    assert "\n" not in str(caught.value) and "give `characters`, a folder" in str(caught.value)


# --- difficulty by the table of rule 3.4 ----------------------------------------------------------


def contest_problem(problem_id, competition, competition_id, number, difficulty=None):
    return Problem(problem_id, competition, competition_id, 2016, number, difficulty, None, "1 + 1?", ("Two.",))


@pytest.mark.parametrize(
    ("args", "difficulty"),
    [
        (("2016_AMC_8_Problems/12", "AMC_8", "2016_AMC_8_Problems", 12), 1),
        (("2016_AMC_8_Problems/13", "AMC_8", "2016_AMC_8_Problems", 13), 1.5),
        (("1992_AJHSME_Problems/13", "AMC_8", "1992_AJHSME_Problems", 13), 1.5),
        (("2016_IMO_Problems/5", "IMO", "2016_IMO_Problems", 5), 8),
        (("1970_AHSME_Problems/5", "AHSME", "1970_AHSME_Problems", 5), None),  # the table has none
        (("2016_AMC_8_Problems/26", "AMC_8", "2016_AMC_8_Problems", 26), None),  # nor beyond the paper's end
        (("2016_AMC_8_Problems/12", "AMC_8", "2016_AMC_8_Problems", 12, 4), 4),  # what the source says stays
        (("2016_AMC_8_Problems/12", "AIME", "2016_AMC_8_Problems", 12), None),  # two contests: whose number is it?
        (("Demo_AMC_8_Problems/2", "AMC_8", "Demo_AMC_8_Problems", 2), None),  # no contest's own id
        (("my-set/12", "AMC_8", "2016_AMC_8_Problems", 12), None),  # numbered by its row in a dataset
    ],
)
def test_difficulty_by_the_table(args, difficulty):
    (rated,) = with_difficulty([contest_problem(*args)])
    assert rated.difficulty == difficulty
    assert rated.source == ({"difficulty_source": "table"} if difficulty and len(args) == 4 else {})


def test_the_table_is_for_datasets_and_files_of_ones_own(tmp_path):
    row = to_row(contest_problem("2016_IMO_Problems/5", "IMO", "2016_IMO_Problems", 5))
    (tmp_path / "my.jsonl").write_text(json.dumps(row) + "\n")
    for source in ("jsonl", "hub"):
        ((read,), _) = load_corpus(profile(source, path=str(tmp_path / "my.jsonl")))
        assert read.difficulty == 8, source
