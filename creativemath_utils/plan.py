"""What a run will ask before it asks: calls, what the ledger holds, tokens, money, memory, and what is missing.

Spends nothing. The plan is a rehearsal of the stages themselves: answers that the ledger holds are taken as they are,
every other solution is assumed to be as long as the longest human one and every other vote to be YES. So the calls that
are left are never fewer than those of the run, which ends early for each solution that fails a stage.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tabulate import tabulate

from creativemath_utils.agreement import common_novel_samples
from creativemath_utils.backends import open_backend
from creativemath_utils.categories import categorize
from creativemath_utils.curate import load_corpus, run_samples, select_problems
from creativemath_utils.generate import generation_request, mark_answers, solution_from
from creativemath_utils.judge import judge_pairs, judge_solutions
from creativemath_utils.ledger import Ledgers
from creativemath_utils.metrics import collect_outcomes
from creativemath_utils.models import Model
from creativemath_utils.profile import Profile
from creativemath_utils.records import KitError, Problem, Request, Response, Sample, Solution
from creativemath_utils.review import read_edits
from creativemath_utils.spending import CHARACTERS_PER_TOKEN, Spending, cost_usd, prompt_characters
from creativemath_utils.stability import ask_again

BASELINES = ("rules", "embedding")  # judges that are no language model: no tokens, no money
HEADER = ("stage", "model", "calls", "answered", "input tokens", "output tokens, at most", "US dollars")


@dataclass
class Rehearsal:
    """Stands in for the engine: `calls` are the requests by (stage, model) and key, `answered` keys in the ledger.

    Equal requests are asked once in a run, and so counted once, where they are first made.
    """

    ledgers: Ledgers
    calls: dict[tuple[str, str], dict[str, Request]] = field(default_factory=lambda: defaultdict(dict))
    answered: set[str] = field(default_factory=set)
    _stage: str | None = None
    _seen: set[str] = field(default_factory=set)

    def recorded(self, request: Request, stage: str) -> Response | None:
        """Count a call. Returns its answer if the ledger holds it."""
        stage = stage if stage in ("generate", "categories", "commentary") else f"judge: {stage}"
        if request.key not in self._seen:
            self._seen.add(request.key)
            self.calls[stage, request.model][request.key] = request
        found = self.ledgers.find(request.key, request.ledger)
        if found is not None:
            self.answered.add(request.key)
        return found

    @contextlib.contextmanager
    def named(self, stage: str) -> Iterator[None]:
        """Count all calls within under one name."""
        self._stage = stage
        yield
        self._stage = None

    def complete(self, requests: Sequence[Request]) -> list[Response]:
        """The judges' answers, and YES where there is none yet."""
        found = [self.recorded(request, self._stage or request.slots["stage"]) for request in requests]
        return [
            answer or Response.answer(request, "YES", finish_reason="stop")
            for answer, request in zip(found, requests, strict=True)
        ]


def plan_text(profile: Profile) -> str:
    """The plan of a run as plain text: a table of calls, GPU memory, then everything that is missing.

    Raises KitError with everything that is missing where the problems are among it.
    """
    missing = missing_things(profile)
    try:
        problems, _ = load_corpus(profile, download=False)
    except KitError as error:
        raise KitError("; ".join([str(error), *missing])) from None
    problems = select_problems(problems, profile.select, profile.path, profile.offline)
    samples = run_samples(problems, profile)
    everything = rehearse(profile.model_copy(update={"early_stop": False}), problems, samples)
    lines = [
        f"{profile.run}: {len(problems)} problems, {len(samples)} samples, "
        f"{len(profile.generators)} generators, {len(profile.judges)} judges",
        "",
        _calls_table(profile, everything),
        "",
        f"Tokens: one for {CHARACTERS_PER_TOKEN:g} characters; a solution that is not written yet is taken to be as "
        "long as the problem's longest human one. Judge calls that are not answered yet are counted as if every "
        "solution passed all stages; a run needs fewer. Tokens and money are for the calls without an answer.",
        *_price_lines(profile),
        *_window_lines(profile, everything),
    ]
    if profile.judge_retries:
        lines.append(
            f"A reply without a verdict is asked again, up to {profile.judge_retries} times; that comes on top."
        )
    if profile.early_stop:
        lines.append(_saving_line(profile, everything, rehearse(profile, problems, samples)))
    for limit in ("max_calls", "max_cost_usd"):
        if (most := getattr(profile, limit)) is not None:
            lines.append(f"The run stops before it passes {limit}: {most:g}.")
    lines += ["", *_memory_lines(profile)]
    if profile.offline:
        lines.append("offline: no model is asked; every answer must be in the recording")
    elif missing:
        lines += ["missing:", *(f"  {line}" for line in missing)]
    else:
        lines.append("nothing is missing")
    return "\n".join(lines)


def rehearse(profile: Profile, problems: Sequence[Problem], samples: Sequence[Sample]) -> Rehearsal:
    """Go through the stages without asking anything. Every call that the run could make is counted."""
    rehearsal, edits = Rehearsal(Ledgers(profile.paths.responses, profile.recording_path)), read_edits()
    try:
        with rehearsal.named("categories"):
            categorize(problems, profile, rehearsal.complete)
        asked = [(name, sample) for name in profile.generators for sample in samples]
        requests = [generation_request(sample, name, profile) for name, sample in asked]
        answers = [rehearsal.recorded(request, "generate") for request in requests]
        with rehearsal.named("commentary"):
            written = [
                answer or Response.answer(request, _stand_in(sample, name).text)
                for answer, request, (name, sample) in zip(answers, requests, asked, strict=True)
            ]
            markings = mark_answers(asked, written, profile, rehearsal.complete, edits)
        solutions = [
            solution_from(sample, name, answer, edits, markings.get(answer.key)) if answer else _stand_in(sample, name)
            for answer, (name, sample) in zip(answers, asked, strict=True)
        ]
        votes = judge_solutions(samples, solutions, profile.judges, profile, rehearsal.complete)
        outcomes = collect_outcomes(problems, solutions, votes, profile.judges, profile.judge_truncated)
        common = common_novel_samples(outcomes, profile.compared)
        pair_votes = judge_pairs(
            common, samples, solutions, profile.compared, profile.judges, profile, rehearsal.complete
        )
        if profile.stability:
            with rehearsal.named("asked again"):
                ask_again(samples, solutions, votes, pair_votes, profile, rehearsal.complete)
    finally:
        rehearsal.ledgers.close()
    return rehearsal


def missing_things(profile: Profile) -> list[str]:
    """Everything that stands in the way of the first call, of all models at once."""
    account = Spending(profile.max_cost_usd, profile.max_calls)
    models = [profile.model(name) for name in _asked(profile)]
    return [f"{m.name}: {line}" for m in models for line in (*open_backend(m).missing(), *account.missing(m))]


def _asked(profile: Profile) -> list[str]:
    """The names of all models that the run asks."""
    helping = [name for name in (profile.categories, profile.commentary) if name]
    return list(dict.fromkeys((*helping, *profile.generators, *profile.judges)))


def _stand_in(sample: Sample, generator: str) -> Solution:
    text = f"{generator}, {sample.k}: {max(sample.problem.solutions, key=len)}"
    return Solution(sample.problem.problem_id, sample.k, sample.n, generator, text, text, (), "ok", "")


def _calls_table(profile: Profile, rehearsal: Rehearsal) -> str:
    """Calls by stage and model, and their sum."""
    rows: list[list[int | float | str]] = []
    for (stage, name), calls in rehearsal.calls.items():
        left = [request for key, request in calls.items() if key not in rehearsal.answered]
        costs = _tokens_and_money(profile.model(name), left)
        rows.append([stage, profile.model(name).shown, len(calls), len(calls) - len(left), *costs])
    columns = [[row[column] for row in rows if row[column] != ""] for column in range(2, len(HEADER))]
    rows.append(["in all", "", *(sum(values) if values else "" for values in columns)])
    return tabulate(rows, HEADER, tablefmt="simple", floatfmt=".2f", intfmt=",", disable_numparse=[1])


def _tokens_and_money(model: Model, requests: Sequence[Request]) -> tuple[int | str, int | str, float | str]:
    """Input tokens, output tokens and dollars of these calls, at most; blanks for judges that are no language model."""
    if model.backend in BASELINES:
        return "", "", ""
    input_tokens = round(sum(map(prompt_characters, requests)) / CHARACTERS_PER_TOKEN)
    limits = [request.decoding.get("max_new_tokens") for request in requests]
    if None in limits:  # nothing bounds what they may write
        return input_tokens, "", ""
    output_tokens = sum(limits)
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens}
    cost = cost_usd(model, usage, batch=model.batch)
    return input_tokens, output_tokens, "" if cost is None else cost


def _price_lines(profile: Profile) -> list[str]:
    """Of what date the prices are, and which endpoints have none."""
    models = [model for model in map(profile.model, _asked(profile)) if model.backend == "api"]
    dated = [f"{m.shown} of {m.price.date}{', batch at half' if m.batch else ''}" for m in models if m.price]
    unpriced = [m.shown for m in models if not m.price]
    return [
        *([f"Prices: {'; '.join(dated)}."] if dated else []),
        *([f"Without a price, so in no sum: {', '.join(unpriced)}."] if unpriced else []),
    ]


def _window_lines(profile: Profile, rehearsal: Rehearsal) -> list[str]:
    """Models with calls that may be too long for their window, by the cautious count."""
    longest: dict[str, list[float]] = defaultdict(list)
    for (_, name), requests in rehearsal.calls.items():
        for request in requests.values():
            tokens = prompt_characters(request) / CHARACTERS_PER_TOKEN + (request.decoding.get("max_new_tokens") or 0)
            longest[name].append(tokens)
    lines = []
    for name, tokens in longest.items():
        window = profile.model(name).window
        if window and (over := sum(count > window for count in tokens)):
            lines.append(
                f"{profile.model(name).shown}: {over} of {len(tokens)} calls may be longer than its window of "
                f"{window:,} tokens (the longest has {max(tokens):,.0f} with its answer); select shorter problems or "
                "lower max_new_tokens."
            )
    return lines


def _saving_line(profile: Profile, everything: Rehearsal, stopping: Rehearsal) -> str:
    """What `early_stop` saves where judges agree: the calls and dollars that are left without it, and with it."""
    totals = []
    for rehearsal in (everything, stopping):
        calls, dollars = 0, 0.0
        for (_, name), requests in rehearsal.calls.items():
            left = [request for key, request in requests.items() if key not in rehearsal.answered]
            calls += len(left)
            dollars += _tokens_and_money(profile.model(name), left)[2] or 0.0
        totals.append((calls, dollars))
    (calls, dollars), (fewer, cheaper) = totals
    money = f", {dollars - cheaper:.2f} of {dollars:.2f} US dollars" if dollars else ""
    return (
        f"Early stop: where judges agree, {calls - fewer:,} of the {calls:,} calls left are not made{money}; more "
        "where one says NO to correctness, fewer where votes on novelty are split."
    )


def _memory_lines(profile: Profile) -> list[str]:
    """What each local model needs of GPU memory, beside what is there; no line where no model is local."""
    local = [model for model in map(profile.model, _asked(profile)) if model.backend == "local"]
    if not local:
        return []
    from creativemath_utils.backends.loading import free_gpu_gib, memory_gib

    free = free_gpu_gib()
    there = ", ".join(f"{gib:.0f} GiB" for gib in free) or "no GPU"
    lines = [f"GPU memory for the weights and a fifth more; free here: {there}"]
    for model in local:
        need = memory_gib(model)
        gpus = f" on {model.gpus} GPU{'s' if model.gpus > 1 else ''}" if model.gpus else ""
        kind = model.quantization or model.dtype or "auto"
        said = "unknown (no parameters_b)" if need is None else f"{need:.0f} GiB in {kind}{gpus}"
        lines.append(f"  {model.shown}: {said}{', more than is free' if need and free and need > sum(free) else ''}")
    return [*lines, ""]
