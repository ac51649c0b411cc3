"""What a figure turned out to be, for tests: its picture and its words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import image

from creativemath_utils import figures


def rendered(drawn: Any, folder: Path) -> np.ndarray:
    """The picture of a figure, as an array; that both files are there and are what they say is checked on the way."""
    png, pdf = figures.save(drawn, folder / "figure_1.x")
    assert (png.name, pdf.name) == ("figure_1.x.png", "figure_1.x.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    return image.imread(png)


def texts(drawn: Any) -> list[str]:
    """What a figure says, in order; nothing of it read as a formula."""
    figure = getattr(drawn, "figure", drawn)
    found = [text for text in figure.findobj(lambda a: hasattr(a, "get_parse_math")) if text.get_text()]
    assert not any(text.get_parse_math() for text in found)
    return [text.get_text() for text in found]
