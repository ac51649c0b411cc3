"""The problems that the paper's authors published: 400, with 605 solutions. Read as they are, or repaired.

They are not part of the kit. The file is taken from a path, or once from the paper's repository at a pinned commit.
By default its texts stay byte for byte; what is wrong with them is counted in `dirt`, and what can be mended
without guessing in `repair`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from creativemath_utils.corpus.download import Source, fetch
from creativemath_utils.corpus.repair import repair_problems
from creativemath_utils.profile import SUBSET_ENV, Profile
from creativemath_utils.records import KitError, Problem
from creativemath_utils.store import ROOT, shown

SUBSET_COMMIT = "39cba50650b7ad22c943fb5e4d91fa7f2e6f4a08"
SUBSET_SHA256 = "7811d8e963a5ff4453baeef88ea91fd7bceaa47169ef7a3dfe96ff62d99bc3b4"
_BY_HAND = (
    f"take data/subset.json at commit {SUBSET_COMMIT[:7]} of the paper's repository (github.com/JunyiYe/CreativeMath) "
    f"and give its place in `corpus: {{path: ...}}` or in {SUBSET_ENV}"
)
SUBSET_SOURCE = Source(
    address=f"https://raw.githubusercontent.com/JunyiYe/CreativeMath/{SUBSET_COMMIT}/data/subset.json",
    sha256=SUBSET_SHA256,
    size=749_138,
    what="the published subset",
    by_hand=_BY_HAND,
)
DOWNLOADED = ROOT / "data" / "downloads" / f"creativemath-{SUBSET_COMMIT[:7]}.json"


def load_subset(profile: Profile, download: bool = True) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The published problems in file order, and a row {problem_id, reason, detail} for each act of a repair.

    The file is downloaded where the profile gives no path, unless the profile is offline. `download=False` only looks.
    Raises KitError with the remedy where the file is missing or another one.
    """
    path = subset_file(profile)
    if not path.is_file():
        if profile.offline:
            raise KitError(f"the published subset is not here, and an offline profile downloads nothing: {_BY_HAND}")
        if not download:
            raise KitError(
                f"the published subset is not here yet: `make curate` downloads it ({SUBSET_SOURCE.size:,} bytes) from "
                f"{SUBSET_SOURCE.address}; or give its place in `corpus: {{path: ...}}` or in {SUBSET_ENV}"
            )
        fetch(SUBSET_SOURCE, path)
    problems = read_subset(path)
    return repair_problems(problems) if profile.corpus.repair else (problems, [])


def subset_file(profile: Profile) -> Path:
    """Where the published subset lies: the profile's path, or CREATIVEMATH_SUBSET, or the place of the download.

    Raises KitError if one of the first two names no file; the download may not be there yet.
    """
    given = profile.corpus.path or os.environ.get(SUBSET_ENV)
    if not given:
        return DOWNLOADED
    path = profile.path(given)
    if not path.is_file():
        fault = "a folder" if path.is_dir() else "missing"
        raise KitError(f"{path} is {fault}; correct the path of the published subset")
    return path


def read_subset(path: Path, sha256: str | None = SUBSET_SHA256) -> list[Problem]:
    """The published subset, 400 problems with 605 solutions, its texts byte for byte.

    `sha256` is that of the pinned commit. Raises KitError for any other file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KitError(f"{shown(path)} cannot be read: {error.strerror or error}; mend that and run again") from None
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256:
        again = "delete it, and it is downloaded again" if path == DOWNLOADED else "take the file at that commit"
        raise KitError(
            f"{shown(path)}: SHA-256 is {found[:8]}... ({len(content):,} bytes), the release at commit "
            f"{SUBSET_COMMIT[:7]} has {sha256[:8]}... ({SUBSET_SOURCE.size:,} bytes); {again}, or read your own "
            "problems with `source: jsonl`"
        )
    return [_from_subset(item) for item in json.loads(content)]


def _from_subset(item: dict[str, Any]) -> Problem:
    contest = item["competition_id"]
    year = re.match(r"(\d{4})_", contest)
    return Problem(
        problem_id=f"{contest}/{item['problem_id']}",
        competition=item["competition"],
        competition_id=contest,
        year=int(year.group(1)) if year else None,
        number=item["problem_id"],
        difficulty=item.get("difficulty"),
        category=item.get("category"),
        statement=item["problem"],
        solutions=tuple(text for _, text in sorted(item["solutions"].items(), key=lambda pair: int(pair[0]))),
        source={"kind": "creativemath", "commit": SUBSET_COMMIT[:7]},
    )
