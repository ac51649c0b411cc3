"""uncertainty.md and uncertainty.csv of a run: how sure its ratios, differences and trends are, and the best teams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import RATIOS, percent
from creativemath_utils.models import Model
from creativemath_utils.store import write_atomic
from creativemath_utils.table_formats import RunInfo, column_name
from creativemath_utils.tables import TABLE_2, labels
from creativemath_utils.uncertainty.coverage import MOST_MODELS
from creativemath_utils.uncertainty.intervals import FEW_PROBLEMS
from creativemath_utils.uncertainty.measures import measure
from creativemath_utils.uncertainty.resampling import RESAMPLES
from creativemath_utils.uncertainty.trends import ALL_MODELS, FIRST_K, TRENDS, VIEWS

SHORT = {  # ratio -> its name for readers, in the order of Table 2
    ratio: column_name(column)
    for column, counted in TABLE_2.items()
    for ratio, same in RATIOS.items()
    if same == counted
}
IN_CELLS = {"k": ("k", "correctness_ratio"), "n_minus_k": ("n - k", "novelty_to_correctness_ratio")}  # Tables 3 and 4
ALONG = {"k": "k", "n_minus_k": "n - k", "difficulty": "difficulty"}
SURE = 0.05  # a p value below it is told as a difference
MOST_TIES = 10  # sets of models shown for one m


def write_uncertainty(
    outcomes: pd.DataFrame,
    models: Sequence[Model],
    folder: Path,
    info: RunInfo,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Path]:
    """Write uncertainty.md and uncertainty.csv into `folder`; their paths. All intervals are at 95 %.

    `outcomes` is as from `metrics.collect_outcomes`; `models` gives the models and their order. The same outcomes, in
    whatever order, and the same seed give the same bytes. The csv is `Uncertainty.as_table`: ratios 0..1.
    """
    names = [model.name for model in models]
    found = measure(outcomes, names, resamples=resamples, seed=seed)
    shown = {name: plain_markdown(label) for name, label in labels(models).items()}
    parts = [
        *_head(outcomes[outcomes["generator"].isin(names)], info, resamples, seed),
        *_ratios(found.ratios, shown),
        *_undecided(found.ratios, shown),
        *(part for along, table in found.cells.items() for part in _cells(table, along, shown)),
        *_small_cells(found.small_cells, len(found.differences["correctness_ratio"])),
        *_differences(found.differences, shown),
        *_trends(found.trends, shown),
        *_teams(found.teams, shown),
    ]
    texts = {
        "md": "\n\n".join(parts) + "\n",
        "csv": found.as_table().to_csv(index=False, lineterminator="\n", float_format="%.6f"),
    }
    paths = []
    for suffix, text in texts.items():
        paths.append(Path(folder) / f"uncertainty.{suffix}")
        write_atomic(paths[-1], text.encode("utf-8", "replace"))
    return paths


def _head(outcomes: pd.DataFrame, info: RunInfo, resamples: int, seed: int) -> list[str]:
    return [
        f"# How sure the numbers of {plain_markdown(info.run)} are",
        f"{len(outcomes)} samples of {outcomes['generator'].nunique()} models on {outcomes['problem_id'].nunique()} "
        f"problems, judged by {plain_markdown(', '.join(info.judges.values()))} (verdict rule: {info.verdict_rule}; "
        f"newest answer: {info.newest_answer or 'none'}). Ratios in percent, differences in percentage points. "
        "What chance could have done is told by intervals at 95 % and by p values; what the judges get wrong is not in "
        "them (see judges.md). Undecided samples count as not.",
        f"The samples of one problem hang together, so intervals come from {resamples} draws of whole problems "
        f"(cluster bootstrap, seed {seed}), and p values from turning the sign of what whole problems add to a "
        "difference or trend (wild cluster test). Where each problem gives one sample, the interval is Wilson's.",
    ]


def _ratios(ratios: pd.DataFrame, shown: Mapping[str, str]) -> list[str]:
    rows = [
        [label, *(_with_interval(row, "low", "high") for row in _in_order(ratios[ratios["generator"] == name]))]
        for name, label in shown.items()
    ]
    widths = ratios[(ratios["ratio"] == "correctness_ratio") & ratios["value"].between(0, 1, inclusive="neither")]
    wider = (widths["high"] - widths["low"]) / (widths["wilson_high"] - widths["wilson_low"])
    about = (
        f"In brackets the counts. †: all problems came out the same, or there are fewer than {FEW_PROBLEMS} in the "
        "base, which resamples cannot tell from certainty: the wider of the bootstrap's interval and Wilson's over "
        "problems stands. n/a: an empty base."
    )
    if len(wider):
        about += (
            " Were all samples independent, Wilson's interval would do (in the csv). For C the one over problems is "
            f"{wider.median():.2f} times as wide (median of the models)."
        )
    return ["## Ratios", pipe_table(rows, ["Model", *SHORT.values()]), about]


def _undecided(ratios: pd.DataFrame, shown: Mapping[str, str]) -> list[str]:
    """Nothing where all is decided."""
    open_ones = set(ratios.loc[ratios["undecided_low"] < ratios["undecided_high"], "generator"])
    rows = [
        [label, *(_range(row["undecided_low"], row["undecided_high"]) for row in _in_order(of_model))]
        for name, label in shown.items()
        if name in open_ones
        for of_model in [ratios[ratios["generator"] == name]]
    ]
    if not rows:
        return []
    return [
        "## What undecided samples could change",
        "Between these values each ratio lies, however the samples are decided that the votes leave open. This comes "
        "on top of the intervals.",
        pipe_table(rows, ["Model", *SHORT.values()]),
    ]


def _cells(table: pd.DataFrame, along: str, shown: Mapping[str, str]) -> list[str]:
    name, ratio = IN_CELLS[along]
    table = table[table["ratio"] == ratio].set_index(["generator", along])
    places = sorted({place for _, place in table.index}, reverse=along == "n_minus_k")
    rows = [
        [
            label,
            *(
                _with_interval(table.loc[(model, place)], "wilson_low", "wilson_high")
                if (model, place) in table.index
                else "n/a"
                for place in places
            ),
        ]
        for model, label in shown.items()
    ]
    return [
        f"## {SHORT[ratio]} by {name}",
        "Each problem gives one sample to a cell, so the intervals are Wilson's.",
        pipe_table(rows, ["Model", *(f"{name} = {place}" for place in places)]),
    ]


def _small_cells(tables: Mapping[str, pd.DataFrame], pairs: int) -> list[str]:
    parts = [
        "## What small cells can and cannot show",
        "How good a cell could be at best. *Width*: of the interval where half of the samples are correct. *All "
        "correct*: the lowest true ratio with which a cell of nothing but correct answers is still compatible. "
        f"*Smallest difference*: between two models on the same samples, to be found at p < {SURE} when they are the "
        f"only two compared, or among all {pairs} pairs; none: not even if one model gets all right and the other "
        "nothing. N/C is over the correct samples of a cell alone, so it shows less.",
    ]
    columns = [name for name in tables["k"] if name != "cell"]
    alike = tables["k"][columns].equals(tables["n_minus_k"][columns])  # so it is unless a run has a limit
    for along, table in tables.items():
        rows = [
            [
                f"k = {row['cell'] + 1} or n - k = {row['cell']}" if alike else f"{IN_CELLS[along][0]} = {row['cell']}",
                row["samples"],
                f"{100 * row['widest']:.0f}",
                f"{100 * row['all_low']:.1f} to 100",
                _points_or_none(row["smallest_difference"]),
                _points_or_none(row["smallest_difference_holm"]),
            ]
            for row in table.to_dict("records")
        ]
        header = ["Cell", "Samples of a model", "Width", "All correct", "Smallest difference", f"among {pairs} pairs"]
        if not alike or along == "n_minus_k":
            parts.append(pipe_table(rows, header))
    return parts


def _differences(pairs: Mapping[str, pd.DataFrame], shown: Mapping[str, str]) -> list[str]:
    heading = "## Differences between models"
    count = len(pairs["correctness_ratio"])
    if not count:
        return [heading, "One model has nothing to be compared with."]
    told = [f"{short} {int((pairs[ratio]['p_holm'] < SURE).sum())}" for ratio, short in SHORT.items()]
    rows = []
    for place, first in enumerate(pairs["correctness_ratio"].to_dict("records")):
        cells = [_difference(pairs[ratio].iloc[place]) for ratio in SHORT]
        rows.append([shown[first["first"]], shown[first["second"]], first["samples"], *cells])
    return [
        heading,
        "First less second, over the samples that both have; p is corrected for the number of pairs (Holm), and bold "
        f"where it is below {SURE}. A pair that is not told apart is not thereby alike: the interval, that of a pair "
        "by itself, says how far apart the two may be. †: widened, as above.",
        f"Told apart, of {count} pairs: {', '.join(told)}.",
        pipe_table(rows, ["First", "Second", "Samples", *SHORT.values()]),
    ]


def _trends(slopes: pd.DataFrame, shown: Mapping[str, str]) -> list[str]:
    shown = {**shown, ALL_MODELS: "*All models*"}
    parts = [
        "## Trends",
        "Slope of the straight line through the samples, in percentage points for each step, with its interval and p; "
        "for single models p is corrected for their number (Holm), for all together it is not. Samples at different k "
        "are not of the same problems: *same problems* compares each problem with itself alone, so it shows what k "
        "does, and *all samples* what the tables show. For difficulty, *k = 1* has one sample a problem, as in Table "
        "5. All models together: each about its own mean.",
    ]
    for ratio, along in TRENDS:
        table = slopes[(slopes["ratio"] == ratio) & (slopes["along"] == along)].set_index(["view", "generator"])
        rows = [[label, *(_slope(table.loc[(view, model)]) for view in VIEWS[along])] for model, label in shown.items()]
        told = [f"{view}: {_verdict(table.loc[(view, ALL_MODELS)])}" for view in VIEWS[along]]
        left_out = table.loc[(VIEWS[along][-1], ALL_MODELS), "left_out"]
        parts += [
            f"### {SHORT[ratio]} along {ALONG[along]}",
            f"All models together, {'; '.join(told)}."
            + (f" Samples left out, since their {along} is not known: {left_out}." if left_out else ""),
            pipe_table(rows, ["Model", *(view if view == FIRST_K else view.capitalize() for view in VIEWS[along])]),
        ]
    return parts


def _teams(teams: Mapping[str, pd.DataFrame], shown: Mapping[str, str]) -> list[str]:
    heading = "## The best set of m models"
    if not teams:
        return [heading, f"Not computed: more than {MOST_MODELS} models have too many sets."]
    parts = [
        heading,
        "A sample is covered if one of the set at least has a new solution to it. All sets were tried; those that tie "
        "are all best.",
    ]
    titles = {"novel": "Novel beside the k solutions shown", "novel_unknown": "Unlike all n human solutions"}
    for decision, table in teams.items():
        rows = []
        for m, best in table.groupby("m"):
            sets = [" + ".join(shown[name] for name in names) for names in best["models"][:MOST_TIES]]
            more = f"; and {len(best) - MOST_TIES} more" if len(best) > MOST_TIES else ""
            covered, samples = best["covered"].iloc[0], best["samples"].iloc[0]
            rows.append([m, _share(covered, samples), "; or ".join(sets) + more])
        parts += [f"{titles[decision]}:", pipe_table(rows, ["m", "Covered", "Best sets"])]
    return parts


def _in_order(of_model: pd.DataFrame) -> list[Mapping[str, Any] | None]:
    """The rows of a model in the order of Table 2; None where it has no sample."""
    found = {row["ratio"]: row for row in of_model.to_dict("records")}
    return [found.get(ratio) for ratio in SHORT]


def _with_interval(row: Mapping[str, Any] | None, low: str, high: str) -> str:
    """A ratio with its interval and counts: 71.43 (56.4 to 82.8; 30/42)."""
    if row is None:
        return "n/a (no sample)"
    counts = f"{row['numerator']}/{row['denominator']}"
    value = percent(row["numerator"], row["denominator"])
    if value is None:
        return f"n/a ({counts})"
    mark = "†" if low == "low" and row["widened"] else ""
    return f"{value} ({_range(row[low], row[high])}{mark}; {counts})"


def _difference(row: Mapping[str, Any]) -> str:
    if pd.isna(row["difference"]):
        return "n/a"
    text = f"{_points(row['difference'])} ({_points_range(row)}{'†' if row['widened'] else ''}), p {_p(row['p_holm'])}"
    return f"**{text}**" if row["p_holm"] < SURE else text


def _slope(row: Mapping[str, Any]) -> str:
    if pd.isna(row["slope"]):
        return f"n/a ({row['note']})"
    within = row["note"] or _points_range(row)
    text = f"{_points(row['slope'])} ({within}), p {_p(row['p_holm'])}"
    return f"**{text}**" if row["p_holm"] < SURE else text


def _verdict(row: Mapping[str, Any]) -> str:
    if pd.isna(row["slope"]):
        return f"no trend can be told ({row['note']})"
    if row["p_value"] >= SURE:
        return f"neither rise nor fall can be told (p {_p(row['p_value'])})"
    return f"{'rises' if row['slope'] > 0 else 'falls'} (p {_p(row['p_value'])})"


def _share(numerator: int, denominator: int) -> str:
    return f"{percent(numerator, denominator) or 'n/a'} ({numerator}/{denominator})"


def _range(low: float, high: float) -> str:
    return "n/a" if pd.isna(low) else f"{100 * low:.1f} to {100 * high:.1f}"


def _points(value: float) -> str:
    """A share as percentage points with its sign; nothing has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def _points_range(row: Mapping[str, Any]) -> str:
    return f"{_points(row['low'])} to {_points(row['high'])}"


def _points_or_none(value: float) -> str:
    return "none" if pd.isna(value) else f"{100 * value:.0f} points"


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"
