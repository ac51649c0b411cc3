"""A run's problems as a dataset in the form of the Hugging Face hub: one parquet file, and a card about it.

`corpus: {source: hub, path: <the folder>}` reads the same problems back, byte for byte. Nothing is uploaded.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from creativemath_utils.corpus.hub import NESTED, quiet_datasets
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import figure_1_counts, figure_2_counts
from creativemath_utils.profile import Profile
from creativemath_utils.records import SCHEMA, KitError, Problem
from creativemath_utils.rows import read_problem
from creativemath_utils.store import read_rows, shown, write_atomic

SPLIT = "test"  # what is here asks questions of models; it is not for training
DATA = f"data/{SPLIT}-00000-of-00001.parquet"
TAG = "creativemath-kit"  # by which the kit knows a folder of its own
SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}  # the hub's words

COLUMNS = {  # what a row holds; the order is that of the file
    "problem_id": "unique, such as `2030_AMC_8_Problems/15`",
    "competition": "`AMC_8` ... `IMO`, or another contest",
    "competition_id": "the contest and year that the problem stood in",
    "year": "of the contest, or null",
    "number": "of the problem in its contest",
    "difficulty": "1 to 10, or null where the source gives none",
    "category": "one of the seven of the paper, or null",
    "statement": "the problem, formulas in LaTeX",
    "solutions": "human solutions in the order in which they were contributed",
    "source": "where the texts come from, as JSON",
    "solution_headings": "titles of the solutions, where the source has them",
    "removed_solutions": "what was no solution, and why, as JSON",
    "warnings": "codes of what a reader should look at",
    "shared_with": "the same problem in other contests",
    "schema": "number of this form",
}
WHOLE = {"page": "a whole page", "row": "a whole row", "value": "a single value"}
COMES_FROM = {
    "demo": "The problems and their solutions were written for the kit itself.",
    "creativemath": "The problems are those of the published CreativeMath subset.",
    "pages": "The problems were read from saved pages of the AoPS wiki. A page gave one problem or was dropped for "
    "one reason: if the problem or a real solution could not be given as text (a picture, a broken formula), the page "
    "went, since a solution left out in silence would let a repetition of it pass for new. What is no solution "
    "(empty, a link, a bare answer, a repetition) was taken off the list; signatures and remarks to readers were cut.",
    "hub": "The problems were read from a dataset. Rows with one id, or with one statement where there is no id, are "
    "one problem; empty and repeated solutions were left out; the texts are as they stand there.",
    "jsonl": "The problems were read from a file in this form, and nothing was changed.",
}
RIGHTS = (
    "The front matter says `license: unknown`, since the kit cannot know who holds the rights to these texts. "
    "Statements mostly belong to those who set the contest, solutions to those who wrote them. Whoever shares this "
    "folder clears that first, and then puts the licence's identifier there (https://huggingface.co/docs/hub/repositories-licenses)."
)
READ = """```python
from datasets import load_dataset

problems = load_dataset("path/of/this/folder", split="SPLIT")
```""".replace("SPLIT", SPLIT)


def export_corpus(profile: Profile, folder: Path | None = None) -> list[Path]:
    """Write a run's problems and their card into `folder` (default: data/runs/<run>/dataset); the two paths.

    The same run gives the same bytes. Raises KitError where notebook 01 has not run, where the folder holds something
    else, and for a text that parquet cannot hold.
    """
    folder = folder or profile.paths.folder / "dataset"
    problems = [read_problem(row, at) for at, row in read_rows(profile.paths.problems, "run notebook 01 first")]
    if not problems:
        raise KitError(
            f"{shown(profile.paths.problems)} holds no problem to export; correct the corpus and curate again"
        )
    left_out = [row for _, row in read_rows(profile.paths.dropped, "run notebook 01 first")]
    card = folder / "README.md"
    if folder.exists() and not folder.is_dir():
        raise KitError(f"{shown(folder)} is a file; name a folder")
    if folder.exists() and any(folder.iterdir()) and not (card.is_file() and TAG in card.read_text("utf-8", "replace")):
        raise KitError(f"{shown(folder)} holds other files; name an empty folder, or one that the kit wrote")
    rows = [_row(problem) for problem in problems]
    datasets = quiet_datasets()
    dataset = datasets.Dataset.from_list(rows, features=_features(datasets))
    content = io.BytesIO()
    dataset.to_parquet(content)
    write_atomic(folder / DATA, content.getvalue())
    matter = _front_matter(profile.run, dataset, len(content.getvalue()))
    write_atomic(card, f"---\n{matter}---\n\n{_card(profile, problems, left_out)}".encode())
    return [folder / DATA, card]


def _row(problem: Problem) -> dict[str, Any]:
    row = asdict(problem) | {"schema": SCHEMA}
    row |= {name: json.dumps(row[name], ensure_ascii=False) for name in NESTED}
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        why = "half of a surrogate pair, which parquet cannot hold"
        raise KitError(f"{problem.problem_id}: a text holds {why}; mend it in the corpus and curate again") from None
    for name in ("year", "number"):
        if row[name] is not None and abs(row[name]) >= 2**63:
            raise KitError(f"{problem.problem_id}: {name} {row[name]} is too large for parquet; mend it in the corpus")
    return {name: row[name] for name in COLUMNS}


def _features(datasets: Any) -> Any:
    texts, others = datasets.List(datasets.Value("string")), {"year": "int64", "number": "int64", "schema": "int64"}
    others["difficulty"] = "float64"
    lists = {"solutions", "solution_headings", "warnings", "shared_with"}
    kinds = {name: texts if name in lists else datasets.Value(others.get(name, "string")) for name in COLUMNS}
    return datasets.Features(kinds)


def _front_matter(run: str, dataset: Any, size: int) -> str:
    """The card's YAML, by which the hub shows a dataset and `datasets` knows its columns without reading them."""
    from datasets.info import DatasetInfo, DatasetInfosDict
    from datasets.splits import SplitDict, SplitInfo
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    data = DatasetCardData(
        pretty_name=f"{run}: problems with their human solutions",
        license="unknown",
        task_categories=["text-generation"],
        size_categories=[next((word for limit, word in SIZES.items() if len(dataset) < limit), "n>1M")],
        tags=["mathematics", "competition-mathematics", TAG],
    )
    split = SplitInfo(SPLIT, num_bytes=dataset.data.nbytes, num_examples=len(dataset))
    info = DatasetInfo(
        features=dataset.features,
        splits=SplitDict({SPLIT: split}),
        download_size=size,
        dataset_size=dataset.data.nbytes,
    )
    DatasetInfosDict({"default": info}).to_dataset_card_data(data)
    files = [{"split": SPLIT, "path": f"data/{SPLIT}-*"}]
    MetadataConfigs({"default": {"data_files": files}}).to_dataset_card_data(data)
    return data.to_yaml() + "\n"


def _card(profile: Profile, problems: Sequence[Problem], left_out: Sequence[Mapping[str, Any]]) -> str:
    """The card's text."""
    solutions = sum(problem.n for problem in problems)
    parts = [
        f"# {plain_markdown(profile.run)}: problems with their human solutions",
        f"{len(problems)} competition problems with {solutions} human solutions, to ask whether a language model can "
        "find a new one (Ye et al., arXiv 2410.18336). Written by the CreativeMath kit.",
        "## Columns",
        pipe_table([[f"`{name}`", about] for name, about in COLUMNS.items()], ["column", "holds"]),
        "## How many",
        "Problems by competition and category:",
        _counts(figure_1_counts(problems).T, "competition"),
        "Problems by competition and number of solutions:",
        _counts(figure_2_counts(problems).rename(columns=lambda name: name.removeprefix("n")), "competition"),
        "## How it was curated",
        *_curation(profile),
        "## What was left out",
        *_left_out(left_out),
        "## Where it comes from",
        *_provenance(problems),
        "## Licence",
        RIGHTS,
        "## To read it",
        READ,
        "In a profile of the kit: `corpus: {source: hub, path: path/of/this/folder}`.",
    ]
    return "\n\n".join(parts) + "\n"


def _counts(counts: Any, name: str) -> str:
    """A table of counts with its sums."""
    counts = counts.assign(all=counts.sum(axis=1))
    counts.loc["all"] = counts.sum()
    rows = [[plain_markdown(label), *map(str, row)] for label, row in zip(counts.index, counts.to_numpy(), strict=True)]
    return pipe_table(rows, [name, *map(plain_markdown, counts.columns)])


def _curation(profile: Profile) -> list[str]:
    """Paragraphs on the corpus, the selection and the categories, as the profile has them."""
    corpus, select = profile.corpus, profile.select
    texts = [COMES_FROM[corpus.source]]
    if corpus.repair:
        texts[0] += " What could be mended without guessing was mended (`repair: true`)."
    if corpus.columns:
        taken = ", ".join(f"{name} from {column}" for name, column in corpus.columns.items())
        texts[0] += f" Columns: {plain_markdown(taken)}."
    if select is None:
        texts.append("All problems were kept; none was selected.")
    else:
        fits = (
            f" whose longest prompt stays within {select.max_prompt_tokens} tokens" if select.max_prompt_tokens else ""
        )
        texts.append(
            f"Of each competition, {select.per_competition} problems{fits} were drawn at random (seed {select.seed}), "
            "as in Section 5.1 of the paper."
        )
    if profile.categories:
        model = plain_markdown(profile.model(profile.categories).shown)
        texts.append(f"Categories that the source does not give are those of a model, {model}.")
    return texts


def _left_out(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What curation left out or changed, by reason."""
    if not rows:
        return ["Nothing."]
    kinds = Counter((_what(row), str(row["reason"])) for row in rows)
    table = [[what, f"`{reason}`", str(count)] for (what, reason), count in sorted(kinds.items())]
    return [
        pipe_table(table, ["what", "reason", "how many"]),
        "Each of them, with its text, is in the run's `dropped.jsonl`.",
    ]


def _what(row: Mapping[str, Any]) -> str:
    where = row.get("where")
    return "a problem or part of one" if where is None else WHOLE.get(where, "part of a problem")


def _provenance(problems: Sequence[Problem]) -> list[str]:
    """The sources that the problems name, each with how many come from it."""
    told = ("kind", "dataset", "config", "split", "revision", "commit")
    sources = Counter(
        ", ".join(f"{name} {problem.source[name]}" for name in told if problem.source.get(name)) or "not said"
        for problem in problems
    )
    lines = [[plain_markdown(source), str(count)] for source, count in sorted(sources.items())]
    return [pipe_table(lines, ["source", "problems"]), "The column `source` says it for each problem."]
