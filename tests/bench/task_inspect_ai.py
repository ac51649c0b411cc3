"""The calls as an inspect_ai task: inspect eval task_inspect_ai.py@bench -T calls=605"""

from __future__ import annotations

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate
from workload import prompts


@task
def bench(calls: int) -> Task:
    """One generation a prompt, and nothing scored."""
    return Task(dataset=MemoryDataset([Sample(input=prompt) for prompt in prompts(calls)]), solver=generate())
