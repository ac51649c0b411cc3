"""A profile: one YAML file that says everything about a run, validated before anything is asked or paid.

>>> load_profile("demo").run
'demo'
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from creativemath_utils.models import NAME, DecodingValues, Model, explain, find_model, keys_of, load_table, nearest
from creativemath_utils.records import KitError
from creativemath_utils.store import ROOT, RunPaths, shown

PROFILES = ROOT / "notebooks" / "profiles"
SUBSET_ENV = "CREATIVEMATH_SUBSET"
GREEDY = {"max_new_tokens": 1024, "temperature": 0}  # Section 5.2; a profile's decoding is laid over it


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Corpus(Strict):
    """Where the problems come from."""

    source: Literal["demo", "creativemath", "pages", "hub", "jsonl"]
    path: str | None = None  # a file, a folder, or for hub a name such as owner/name
    columns: dict[str, str] | None = None  # hub: field of a problem -> column of the dataset
    split: str | None = None  # hub: which part of the dataset; default: the only one, or train
    revision: str | None = None  # hub: commit of the dataset
    repair: bool = False  # creativemath: mend what can be mended without guessing


class Select(Strict):
    """The paper's selection: so many problems a competition, at random, with prompts that fit (Section 5.1)."""

    per_competition: int = Field(gt=0)
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    seed: int = 42
    tokenizer: str = "characters"  # by what a prompt's tokens are counted: see curate.longest_prompt_tokens


class Profile(Strict):
    """A run. The fields are those of the YAML file; README.md explains them one by one."""

    run: str
    corpus: Corpus
    select: Select | None = None
    limit: int | None = Field(default=None, gt=0)
    generators: tuple[str, ...] = Field(min_length=1)
    judges: tuple[str, ...] = Field(min_length=1)
    similarity: tuple[str, ...] | None = None
    categories: str | None = None  # the model that is asked for the category of each problem
    commentary: str | None = None  # the model that marks the talk in each answer; None: the rules of `clean`
    decoding: DecodingValues = GREEDY
    judge_decoding: DecodingValues | None = None  # laid over decoding
    concurrency: int = Field(default=50, gt=0)
    offline: bool = False
    recording: str | None = None
    verdict_rule: Literal["strict", "release"] = "strict"
    judge_truncated: bool = True
    judge_retries: int = Field(default=0, ge=0)
    both_directions: bool = False  # Figure 6: each pair of models is asked both ways, and the difference is shown
    stability: int = Field(default=0, ge=0)  # so many questions are put to the judges a second time, in each of 3 ways
    early_stop: bool = False  # once the votes in hand decide, the other judges are not asked
    max_cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_calls: int | None = Field(default=None, gt=0)
    models: dict[str, Any] = {}

    # filled by load_profile
    file: Path | None = Field(default=None, exclude=True)
    table: dict[str, Model] = Field(default={}, exclude=True)

    @property
    def paths(self) -> RunPaths:
        return RunPaths(self.run)

    @property
    def compared(self) -> tuple[str, ...]:
        """The models of Figure 6."""
        return self.generators if self.similarity is None else self.similarity

    def path(self, text: str) -> Path:
        """A path of the profile: absolute, or below the profile's folder, or below the kit's root folder."""
        path = Path(os.path.expandvars(text)).expanduser()
        beside = (self.file.parent if self.file else ROOT) / path
        return beside if path.is_absolute() or beside.exists() else ROOT / path

    @property
    def recording_path(self) -> Path | None:
        return self.path(self.recording) if self.recording else None

    def model(self, name: str) -> Model:
        return self.table[name]

    def decoding_of(self, name: str, *, judge: bool = False) -> dict[str, Any]:
        """Decoding of a model: greedy, over that the profile's, for a judge its judge_decoding, and the model's own.

        A key that is not given keeps its value, so `judge_decoding: {max_new_tokens: 256}` stays greedy.
        """
        for_judges = (self.judge_decoding or {}) if judge else {}
        return {**GREEDY, **self.decoding, **for_judges, **self.model(name).decoding}


def profile_file(name: str | Path) -> Path:
    """The file of a profile given by name (in notebooks/profiles) or by path."""
    text = str(name)
    candidates = [Path(text).expanduser()] if re.search(r"[/\\]|\.ya?ml$", text) else [PROFILES / f"{text}.yaml"]
    if not candidates[0].is_absolute():
        candidates.append(ROOT / candidates[0])
    for file in candidates:
        if file.is_file():
            return file.absolute()  # its folder must not move with the working folder
    known = sorted(file.stem for file in PROFILES.glob("*.yaml"))
    raise KitError(f"no profile {text!r}; {nearest(text, known)}, or give the path of a .yaml file")


def load_profile(name: str | Path) -> Profile:
    """The profile of that name or path, checked against the table of models.

    Raises KitError, one line that names the file, the key and the remedy.
    """
    file = profile_file(name)
    where = shown(file)
    content = _read_yaml(file, where)
    if not isinstance(content, dict):
        raise KitError(f"{where}: expected a mapping with run, corpus, generators and judges")
    for key in content:
        if key not in (known := keys_of(Profile)):
            raise KitError(f"{where}: unknown key {key!r}; {nearest(key, known)}")
    try:  # a key with nothing behind it, such as `models:` with all its lines commented out, is no key
        profile = Profile(**{key: value for key, value in content.items() if value is not None})
    except ValidationError as error:
        raise KitError(explain(error, where, Profile)) from None
    if not NAME.fullmatch(profile.run) or profile.run.strip(".") == "":
        raise KitError(f"{where}: run {profile.run!r} may hold only letters, digits, '.', '_', '-': it names folders")
    if profile.corpus.source == "demo" and profile.corpus.path:
        raise KitError(f"{where}: corpus: source demo takes no path; for problems of your own use source jsonl")
    for key, source in (("columns", "hub"), ("split", "hub"), ("revision", "hub"), ("repair", "creativemath")):
        if getattr(profile.corpus, key) and profile.corpus.source != source:
            was = profile.corpus.source
            raise KitError(f"{where}: corpus: {key}: belongs to source {source}, this is {was}; take it out")
    if profile.run == "published":
        raise KitError(f"{where}: run 'published' is the name of the paper's own numbers; take another")
    table = load_table(profile.models, where)
    roles = {"generators": profile.generators, "judges": profile.judges, "similarity": profile.compared}
    if profile.categories is not None:
        roles["categories"] = (profile.categories,)
    if profile.commentary is not None:
        roles["commentary"] = (profile.commentary,)
    for role, names in roles.items():
        for name in names:
            find_model(table, name, f"{where}: {role}")
        if len(set(names)) != len(names):
            raise KitError(f"{where}: {role} names a model twice; give the second a name of its own under `models:`")
    for name in profile.compared:
        if name not in profile.generators:
            hint = nearest(name, profile.generators)
            raise KitError(f"{where}: similarity: {name!r} is not among the generators; {hint}")
    for role in ("generators", "categories", "commentary"):
        for name in roles.get(role, ()):
            if table[name].backend in ("rules", "embedding"):
                raise KitError(f"{where}: {role}: {name!r} is no language model, it can only judge; take it out")
    return profile.model_copy(update={"file": file, "table": table})


def _read_yaml(file: Path, where: str) -> Any:
    """The content of a YAML file. Raises KitError with the line of what cannot be read or stands twice."""
    try:
        text = file.read_text("utf-8")
        twice = _repeated_key(yaml.compose(text, Loader=yaml.SafeLoader))
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        problem = "a lone = needs quotes" if "yaml.org,2002:value" in str(error.problem) else error.problem
        raise KitError(f"{where}{line}: not readable as YAML ({problem}); mend that line") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise KitError(f"{where}: not readable as YAML ({' '.join(str(error).split())}); mend that file") from None
    if twice is not None:
        raise KitError(f"{where}:{twice.start_mark.line + 1}: key {twice.value!r} stands twice; take one of them out")
    return content


def _repeated_key(node: yaml.Node | None) -> yaml.Node | None:
    """The first key that its mapping has had before: YAML would let the second win without a word."""
    seen: set[str] = set()
    children = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else []
    for key in children[::2]:
        if isinstance(key, yaml.ScalarNode) and key.value in seen:
            return key
        seen.add(str(key.value))
    children = node.value if isinstance(node, yaml.SequenceNode) else children
    return next((found for child in children if (found := _repeated_key(child)) is not None), None)
