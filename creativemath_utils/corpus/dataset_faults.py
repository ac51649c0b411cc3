"""What `datasets`, and what is below it, raise about a dataset: as one line that names it, and the remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from creativemath_utils.corpus.flat_files import FILES
from creativemath_utils.profile import Profile
from creativemath_utils.records import KitError


@contextmanager
def in_one_line(name: str, of_hub: Profile | None = None) -> Iterator[None]:
    """Turn what `datasets` and what is below it raise into a KitError. `of_hub` is the profile that names the hub."""
    import httpx2
    import pyarrow
    from datasets.exceptions import DatasetsError
    from yaml import YAMLError

    below = (httpx2.HTTPError, pyarrow.ArrowException, YAMLError)
    faults = (DatasetsError, OSError, ValueError, RuntimeError, ImportError, *below)
    try:
        yield
    except faults as error:
        said = " ".join(str(error.__cause__ or error).split())
        line = (of_hub and _hub_fault(error, said, name, of_hub)) or _fault(error, said, name)
        raise KitError(f"corpus: {line}") from None


def _hub_fault(error: Exception, said: str, name: str, profile: Profile) -> str | None:
    """What is wrong with a name of the hub, and the remedy; None where it is something else."""
    from datasets import config
    from datasets.exceptions import DatasetNotFoundError
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    copy = f"give the path of a local copy (hf download {name} --repo-type dataset --local-dir FOLDER)"
    if isinstance(error, ConnectionError) or said.startswith("Couldn't find cache"):
        if profile.offline:
            return f"offline: true, and {name} is not in the cache of datasets; run once without it, or {copy}"
        if os.environ.get("HF_HUB_OFFLINE") and config.HF_HUB_OFFLINE:
            return f"HF_HUB_OFFLINE is set, and {name} is not in the cache of datasets; unset it once, or {copy}"
        if config.HF_HUB_OFFLINE:
            return f"{name} is not downloaded yet; notebook 01 does that, or {copy}"
        return f"the Hugging Face hub cannot be reached for {name}; mend the network, or {copy}"
    if isinstance(error, DatasetNotFoundError | RepositoryNotFoundError | RevisionNotFoundError):
        if "revision" in said.lower():
            return f"{name} has no revision {profile.corpus.revision}; correct it"
        if "gated" in said:
            return f"{name} is gated: ask for access at https://huggingface.co/datasets/{name}, and set HF_TOKEN"
        return f"the hub has no dataset {name}, or a private one; correct the name, or set HF_TOKEN to a key for it"
    if "scripts are no longer supported" in said:
        return f"{name} is a script, which is not run; try `revision: refs/convert/parquet`, or {copy}"
    return None


def _fault(error: Exception, said: str, name: str) -> str:
    """What is wrong with a dataset, wherever it lies, and the remedy."""
    from datasets.data_files import EmptyDatasetError
    from datasets.exceptions import DataFilesNotFoundError
    from yaml import YAMLError

    if isinstance(error, EmptyDatasetError | DataFilesNotFoundError):
        return f"{name} holds no file that datasets reads ({', '.join(FILES)}, ...); give the folder that does"
    if "scripts are no longer supported" in said:
        return f"{name} holds a script, which is not run; save its data as one of {', '.join(FILES)}"
    if isinstance(error, YAMLError):
        return f"the front matter of {name}/README.md cannot be read ({said[:80]}); mend it, or take that file away"
    if said.startswith("Couldn't cast"):
        return f"the files of {name} differ in their columns or types; give one of them as `path`, or make them alike"
    if found := re.search(r"(?:vailable configs|Available)(?: in the cache)?: \[(.*?)\]", said):
        choices = found[1].replace("'", "")
        return f"{name} has the configurations {choices}; name one, `path: {name}:{choices.partition(',')[0]}`"
    return f"{name} cannot be read ({said[:200] or type(error).__name__}); mend it, or save it in another form"
