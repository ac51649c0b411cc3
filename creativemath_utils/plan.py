"""What a run will ask before it asks: calls, what the ledger holds, tokens, money, and what is missing. Spends nothing.

Judge calls are not known before the solutions are there; what is printed is their largest number: every solution goes
through all three stages.
"""

from __future__ import annotations

from collections import defaultdict

from tabulate import tabulate

from creativemath_utils.backends import open_backend
from creativemath_utils.curate import CHARACTERS_PER_TOKEN, load_corpus, run_samples, select_problems
from creativemath_utils.generate import generation_request
from creativemath_utils.judge import judge_request, stage_ballot
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import Model
from creativemath_utils.profile import Profile
from creativemath_utils.records import STAGES, Request, Sample, Solution


def plan_text(profile: Profile) -> str:
    """The plan of a run as plain text, a table of calls first, then what is missing."""
    problems, _ = load_corpus(profile)
    if profile.select:
        problems = select_problems(problems, profile.select)
    samples = run_samples(problems, profile)
    ledgers = Ledgers(profile.paths.responses, profile.recording_path)
    rows = []
    for stage, requests in planned_requests(profile, samples).items():
        by_model: dict[str, list[Request]] = defaultdict(list)
        for request in requests:
            by_model[request.model].append(request)
        for name, asked in by_model.items():
            keys = {request.key: request for request in asked}
            open_calls = [r for key, r in keys.items() if stage != "generate" or ledgers.find(key) is None]
            answered = len(keys) - len(open_calls) if stage == "generate" else ""
            costs = _tokens_and_money(profile.model(name), open_calls)
            rows.append([stage, profile.model(name).shown, len(keys), answered, *costs])
    ledgers.close()
    header = ["stage", "model", "calls", "answered", "input tokens", "output tokens, at most", "US dollars, at most"]
    lines = [
        f"{profile.run}: {len(problems)} problems, {len(samples)} samples, "
        f"{len(profile.generators)} generators, {len(profile.judges)} judges",
        "",
        tabulate(rows, header, tablefmt="simple", floatfmt=".2f", intfmt=",", disable_numparse=[1]),
        "",
        f"Tokens are counted as one for {CHARACTERS_PER_TOKEN:g} characters. Judge calls are those of every solution "
        "through all three stages, each as long as the references' longest; a run needs fewer.",
        "",
    ]
    missing = missing_things(profile)
    if profile.offline:
        lines.append("offline: no model is asked; every answer must be in the recording")
    elif missing:
        lines += ["missing:", *(f"  {line}" for line in missing)]
    else:
        lines.append("nothing is missing")
    return "\n".join(lines)


def planned_requests(profile: Profile, samples: list[Sample]) -> dict[str, list[Request]]:
    """The calls of each stage. For judges a stand-in takes the place of the solution that is not there yet."""
    planned = {"generate": [generation_request(s, name, profile) for name in profile.generators for s in samples]}
    for stage in STAGES:
        planned[f"judge: {stage}"] = [
            judge_request(stage_ballot(stage, sample, _stand_in(sample, name)), judge, profile)
            for name in profile.generators
            for sample in samples
            if stage != "fine" or sample.k < sample.n
            for judge in profile.judges
        ]
    return planned


def missing_things(profile: Profile) -> list[str]:
    """Everything that stands in the way of the first call, of all models at once."""
    names = dict.fromkeys((*profile.generators, *profile.judges))
    return [f"{name}: {line}" for name in names for line in open_backend(profile.model(name)).missing()]


def _stand_in(sample: Sample, generator: str) -> Solution:
    text = max(sample.problem.solutions, key=len)
    return Solution(
        sample.problem.problem_id, sample.k, sample.n, generator, text, f"{generator}, {sample.k}: {text}", (), "ok", ""
    )


def _tokens_and_money(model: Model, requests: list[Request]) -> tuple[int | str, int | str, float | str]:
    """Input tokens, output tokens and dollars of these calls, at most; blanks for judges that are no language model."""
    if model.backend in ("rules", "embedding"):
        return "", "", ""
    characters = sum(len(message["content"]) for request in requests for message in request.messages)
    input_tokens = round(characters / CHARACTERS_PER_TOKEN)
    output_tokens = sum(int(request.decoding.get("max_new_tokens") or 0) for request in requests)
    if model.price is None:
        return input_tokens, output_tokens, ""
    return input_tokens, output_tokens, (input_tokens * model.price.input + output_tokens * model.price.output) / 1e6
