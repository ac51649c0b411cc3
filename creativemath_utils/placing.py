"""Where the names in a figure stand: beside their points, covering as little as may be.

A box is x0, y0, x1, y1 in pixels, so the layout of a figure must be settled (`draw_without_rendering`) before anything
is placed. A text to be placed is an annotation whose offset is in points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from creativemath_utils.figures import GREY

Side = tuple[float, float, str, str]
GRAVE = 10  # how much worse it is to cover a name or a point, or to leave the axes, than to cover a line
AMBIGUOUS = 200.0  # pixels that a name would rather cover than stand nearer to a point that is not its own
PULL = 3.0  # and those that it would rather cover than stand a point of length farther off
MARGIN = 5.0  # pixels between a name and the axes' edge
LEADER_FROM = 15  # points of length from which a name has a line to its point


def _sides(directions: Sequence[tuple[int, int]], distances: Sequence[float]) -> list[Side]:
    """Where a text may stand by its point: offset in points, horizontal and vertical alignment."""
    across = {-1: "right", 0: "center", 1: "left"}
    up = {-1: "top", 0: "center", 1: "bottom"}
    return [(x * far, y * far, across[np.sign(x)], up[np.sign(y)]) for far in distances for x, y in directions]


EIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))
BETWEEN = ((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2))
MIDDLE: Side = (0, 0, "center", "center")
SIDES = _sides(EIGHT, (7, 16, 28))  # of equally good ones the first is taken
FAR_SIDES = [
    *_sides(EIGHT, (5, 7, 10, 14, 19, 25, 32, 40, 50, 62, 76, 92, 110, 130, 152)),
    *_sides(BETWEEN, (6, 10, 15, 21, 28, 36, 45, 56, 68, 82, 100, 120)),
]
DISTANCES = np.hypot(*np.array([side[:2] for side in FAR_SIDES]).T)
HAS_LEADER = DISTANCES > LEADER_FROM


def place(text: Annotation, sides: Sequence[Side], taken: Sequence[np.ndarray]) -> np.ndarray:
    """Move a text to the side of its point where it covers least of what is `taken`; the box it then fills."""
    text.set_in_layout(False)
    boxes = _boxes(text, sides)
    best = int(np.argmin(GRAVE * _outside(text, boxes) + _covered(boxes, taken)))
    _move(text, sides[best])
    return boxes[best]


def place_all(
    texts: Sequence[Annotation], points: Sequence[np.ndarray], lines: Sequence[np.ndarray], rounds: int = 3
) -> None:
    """Place names near their points, or farther off with a thin line to them, each beside the others.

    They cover none of each other and of the boxes `points`, and little of the boxes `lines`, if there is room at all.
    After the first round each is placed anew, since it now knows where the later ones stand.
    """
    nothing = np.empty((0, 4))
    filled = [nothing] * len(texts)  # by each text and its line
    for _ in range(rounds):
        for number, text in enumerate(texts):
            others = np.concatenate([nothing, *filled[:number], *filled[number + 1 :]])
            filled[number] = _place_among(text, others, points, lines)
    for text in texts:
        if np.hypot(*text.get_position()) > LEADER_FROM:
            _draw_leader(text)


def _place_among(
    text: Annotation, others: np.ndarray, points: Sequence[np.ndarray], lines: Sequence[np.ndarray]
) -> np.ndarray:
    """Move one of many texts to where it stands best; the boxes that it and its line then fill."""
    text.set_in_layout(False)
    boxes, leaders = _boxes(text, FAR_SIDES), _leaders(text)
    costs = GRAVE * (_outside(text, boxes, MARGIN) + _covered(boxes, others) + _covered(boxes, points))
    costs[HAS_LEADER] += GRAVE * _covered(leaders.reshape(-1, 4), others).reshape(len(leaders), -1).sum(axis=1)
    costs += _covered(boxes, lines)
    costs += PULL * DISTANCES
    costs += AMBIGUOUS * _is_nearer_to_another(text, boxes, points)
    best = int(np.argmin(costs))
    _move(text, FAR_SIDES[best])
    leader = leaders[HAS_LEADER[:best].sum()] if HAS_LEADER[best] else np.empty((0, 4))
    return np.concatenate([boxes[[best]] + [-2, -2, 2, 2], leader])  # two names want a gap between them


def around(axes: Axes, point: Sequence[float], pixels: float) -> np.ndarray:
    """A square box about a point of the data."""
    x, y = axes.transData.transform(point)
    return np.array([x - pixels, y - pixels, x + pixels, y + pixels])


def along(axes: Axes, start: Sequence[float], end: Sequence[float], pixels: float) -> np.ndarray:
    """The box about a level or upright line between two points of the data, `pixels` to either side."""
    corners = axes.transData.transform([start, end])
    return np.concatenate([corners.min(axis=0) - pixels, corners.max(axis=0) + pixels])


def _move(text: Annotation, side: Side) -> None:
    x, y, horizontal, vertical = side
    text.set(position=(x, y), horizontalalignment=horizontal, verticalalignment=vertical)


def _boxes(text: Annotation, sides: Sequence[Side]) -> np.ndarray:
    """The box that a text would fill on each side of its point: only the first is measured, the others follow."""
    _move(text, (0, 0, "left", "bottom"))
    x, y, right, top = text.get_window_extent().extents
    width, height, pixels = right - x, top - y, text.figure.dpi / 72
    boxes = []
    for across, up, horizontal, vertical in sides:
        left = x + across * pixels - {"left": 0, "center": width / 2, "right": width}[horizontal]
        below = y + up * pixels - {"bottom": 0, "center": height / 2, "top": height}[vertical]
        boxes.append((left, below, left + width, below + height))
    return np.array(boxes)


def _leaders(text: Annotation) -> np.ndarray:
    """Boxes along the line that joins a text to its point, for each of FAR_SIDES that has one: sides x 18 x 4."""
    offsets = text.figure.dpi / 72 * np.array([side[:2] for side in FAR_SIDES])[HAS_LEADER]
    middles = text.axes.transData.transform(text.xy) + np.arange(0.1, 1, 0.05)[:, None] * offsets[:, None]
    return np.concatenate([middles - 2, middles + 2], axis=-1)


def _draw_leader(text: Annotation) -> None:
    """Join a text to its point by a thin line: from the corner or side on which its offset is counted."""
    line = {"arrowstyle": "-", "linewidth": 0.5, "color": GREY, "shrinkA": 1, "shrinkB": 3}
    position = text.get_position()
    leader = text.axes.annotate("", text.xy, position, textcoords="offset points", arrowprops=line)
    leader.set_in_layout(False)


def _outside(text: Annotation, boxes: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """The area of each box that lies outside the axes of a text, less a margin in pixels."""
    inside = text.axes.get_window_extent().extents + margin * np.array([1, 1, -1, -1])
    return (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - _covered(boxes, inside)


def _is_nearer_to_another(text: Annotation, boxes: np.ndarray, points: Sequence[np.ndarray]) -> np.ndarray:
    """Whether each box in which a text may stand is nearer to another point than to the text's own."""
    own = text.axes.transData.transform(text.xy)
    middles = np.array([own, *((point[:2] + point[2:]) / 2 for point in points)])
    gaps = np.maximum(boxes[:, None, :2] - middles, middles - boxes[:, None, 2:]).clip(0)
    distances = np.hypot(gaps[..., 0], gaps[..., 1])
    return (distances < distances[:, :1] - 0.5).any(axis=1)


def _covered(boxes: np.ndarray, others: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """The area that each of `boxes`, n x 4, shares with `others`, m x 4, summed over these: n."""
    others = np.reshape(others, (-1, 4))
    across = np.minimum(boxes[:, [2]], others[:, 2]) - np.maximum(boxes[:, [0]], others[:, 0])
    up = np.minimum(boxes[:, [3]], others[:, 3]) - np.maximum(boxes[:, [1]], others[:, 1])
    return (across.clip(0) * up.clip(0)).sum(axis=1)
