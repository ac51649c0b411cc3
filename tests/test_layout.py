"""The map of the code in README.md is true: every module stands in it, and imports only from those before it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "creativemath_utils"


def names_of_the_map() -> list[str]:
    """Modules and packages in the order of the map: the first column of text behind the layer's name."""
    block = re.search(r"```\n(ground .*?)```", (PACKAGE.parent / "README.md").read_text("utf-8"), re.DOTALL)[1]
    listed = [re.split(r"\s{2,}", line[9:].strip())[0] for line in block.splitlines()]
    return [name for part in listed for name in re.findall(r"[a-z_]+", part)]


def imported(file: Path) -> set[str]:
    """The modules and packages of the kit that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE.name):
            inner = (node.module or "").split(".")[1:2]
            found |= set(inner) if inner else {alias.name for alias in node.names}
    return found


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem != "__init__")


def test_every_module_stands_in_the_map_once():
    there = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
    assert sorted(names_of_the_map()) == sorted(there)


@pytest.mark.parametrize("file", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(file):
    order = names_of_the_map()
    own = order.index(file.relative_to(PACKAGE).parts[0].removesuffix(".py"))
    assert {name for name in imported(file) if order.index(name) > own} == set()
