"""Where nodes stand: rows of a module's members, modules as boxes that can be folded.

The members of a module, nodes and the modules inside it, are laid out on their own: a member stands in the row above the highest of those
that use it, and rows are ordered so that lines cross little. That is `Tree`, done once. How wide and high things are, and where exactly
they stand, depends on what is folded: `place`, which viewer.js does too, by the same arithmetic (tests/viz/test_browser.py compares them).

Nothing here recurses, and all of it takes O(n log n).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence

LETTER, MARGIN = 7.5, 16.0  # how wide a letter is taken to be, and what is around a word
NODE_HEIGHT, FOLDED_HEIGHT = 36.0, 44.0
PAD, HEAD = 14.0, 22.0  # inside the frame of a module: around its members, and above them for its name
GAP_ACROSS, GAP_DOWN = 18.0, 30.0
SWEEPS = 4


class Tree:
    """Nodes and the modules around them. A member is a number: nodes come first, then modules, `root` last of all."""

    def __init__(self, modules: Sequence[str], edges: list[tuple[int, int]], classes: dict[str, str]) -> None:
        self.count = len(modules)
        self.edges = edges
        places: dict[str, int] = {}
        for path in modules:
            while path and path not in places:
                places[path] = self.count + len(places)
                path = path.rpartition(".")[0]
        self.paths = list(places)
        self.classes = [classes.get(path, "") for path in self.paths]
        self.root = self.count + len(places)
        places[""] = self.root
        self.parent = [places[path] for path in modules] + [places[path.rpartition(".")[0]] for path in self.paths] + [-1]
        self.level = [0] * (self.root + 1)
        for i, path in enumerate(self.paths):
            self.level[self.count + i] = path.count(".") + 1
        for i in range(self.count):
            self.level[i] = self.level[self.parent[i]] + 1
        # Members of each module, and lines between them, from the edges between what is inside.
        self.members: dict[int, list[int]] = {m: [] for m in range(self.count, self.root + 1)}
        for member, parent in enumerate(self.parent[:-1]):
            self.members[parent].append(member)
        self.lines: dict[int, dict[tuple[int, int], None]] = {m: {} for m in self.members}
        for start, end in edges:
            a, b = self.siblings(start, end)
            self.lines[self.parent[a]][a, b] = None
        first = list(range(self.count)) + [self.count] * (self.root + 1 - self.count)
        for member in self.inner_first():
            for inside in self.members[member]:
                first[member] = min(first[member], first[inside])
        self.rows = {m: arrange(self.members[m], list(self.lines[m]), first.__getitem__) for m in self.members}
        self.row_of = [0] * (self.root + 1)
        for rows in self.rows.values():
            for i, row in enumerate(rows):
                for member in row:
                    self.row_of[member] = i

    def siblings(self, a: int, b: int) -> tuple[int, int]:
        """The members of one module that two nodes are, or are inside of."""
        parent, level = self.parent, self.level
        while parent[a] != parent[b]:
            if level[a] >= level[b]:
                a = parent[a]
            else:
                b = parent[b]
        return a, b

    def inner_first(self) -> list[int]:
        """Modules, each after those inside it."""
        return sorted(self.members, key=lambda m: -self.level[m])

    def folded_below(self, depth: int | None) -> set[int]:
        """The modules to fold so that what is further down than `depth` is not seen."""
        return set() if depth is None else {m for m in self.members if m != self.root and self.level[m] > depth}


def arrange(members: list[int], lines: list[tuple[int, int]], first: Callable[[int], int]) -> list[list[int]]:
    """Members in rows from top to bottom, each below what it uses."""
    order = in_order(members, lines, first)
    place = {member: i for i, member in enumerate(order)}
    below: dict[int, list[int]] = {m: [] for m in members}
    above: dict[int, list[int]] = {m: [] for m in members}
    for a, b in lines:
        if place[a] < place[b]:  # another would go around in a circle: a module that is used twice
            below[a].append(b)
            above[b].append(a)
    height: dict[int, int] = {}
    for member in reversed(order):
        height[member] = 1 + max((height[b] for b in below[member]), default=-1)
    rows: list[list[int]] = [[] for _ in range(1 + max(height.values(), default=-1))]
    for member in order:
        rows[-1 - height[member]].append(member)
    untangle(rows, above, below)
    widest = max(24, 2 * math.isqrt(len(members)))
    return [row[i : i + widest] for row in rows for i in range(0, len(row), widest)]


def in_order(members: list[int], lines: list[tuple[int, int]], first: Callable[[int], int]) -> list[int]:
    """Each after what it uses; where that goes around in a circle, what came first in the program."""
    uses = dict.fromkeys(members, 0)
    used_by: dict[int, list[int]] = {m: [] for m in members}
    for a, b in lines:
        uses[b] += 1
        used_by[a].append(b)
    waiting = sorted(members, key=first, reverse=True)
    ready = [(first(m), m) for m in members if not uses[m]]
    heapq.heapify(ready)
    done: dict[int, None] = {}
    while len(done) < len(members):
        if ready:
            member = heapq.heappop(ready)[1]
        else:
            member = waiting.pop()
        if member in done:
            continue
        done[member] = None
        for b in used_by[member]:
            uses[b] -= 1
            if not uses[b]:
                heapq.heappush(ready, (first(b), b))
    return list(done)


def untangle(rows: list[list[int]], above: dict[int, list[int]], below: dict[int, list[int]]) -> None:
    """Orders rows by where neighbours stand, down and up in turn."""
    at: dict[int, float] = {}

    def note(row: list[int]) -> None:
        for i, member in enumerate(row):
            at[member] = i - (len(row) - 1) / 2

    for row in rows:
        note(row)
    for sweep in range(SWEEPS):
        near = below if sweep % 2 == 0 else above
        for row in reversed(rows) if sweep % 2 == 0 else rows:
            if len(row) > 1:
                row.sort(key=lambda m: sum(at[o] for o in near[m]) / len(near[m]) if near[m] else at[m])
                note(row)


# -- sizes and places ---------------------------------------------------------


def width_of(words: Iterable[str]) -> float:
    return MARGIN + LETTER * max(map(len, words))


Box = tuple[float, float, float, float]  # left, top, width, height


def place(tree: Tree, widths: Sequence[float], folded: set[int]) -> list[Box | None]:
    """Where every member stands; None for what is inside something folded.

    `widths`: of nodes, and of modules when they are folded.
    """
    size: list[tuple[float, float]] = [(w, NODE_HEIGHT) for w in widths] + [(0.0, 0.0)]
    inside: list[tuple[float, float]] = [(0.0, 0.0)] * (tree.root + 1)  # where a member stands in its module
    for module in tree.inner_first():
        if module in folded:
            size[module] = (widths[module], FOLDED_HEIGHT)
            continue
        centres = across(tree, module, size)
        rows = tree.rows[module]
        left = min((centres[m] - size[m][0] / 2 for row in rows for m in row), default=0.0)
        right = max((centres[m] + size[m][0] / 2 for row in rows for m in row), default=0.0)
        width = max(right - left, 0.0 if module == tree.root else widths[module])
        left -= (width - (right - left)) / 2
        top = PAD if module == tree.root else PAD + HEAD
        for row in rows:
            height = max(size[m][1] for m in row)
            for m in row:
                inside[m] = (PAD + centres[m] - size[m][0] / 2 - left, top + (height - size[m][1]) / 2)
            top += height + GAP_DOWN
        size[module] = (width + 2 * PAD, top - GAP_DOWN + PAD)
    boxes: list[Box | None] = [None] * (tree.root + 1)
    boxes[tree.root] = (0.0, 0.0, *size[tree.root])
    for module in reversed(tree.inner_first()):
        box = boxes[module]
        if box is None or module in folded:
            continue
        for m in tree.members[module]:
            boxes[m] = (box[0] + inside[m][0], box[1] + inside[m][1], *size[m])
    return boxes


def across(tree: Tree, module: int, size: list[tuple[float, float]]) -> dict[int, float]:
    """The middle of each member: near its neighbours, in the order of the row, not on top of each other."""
    rows, members = tree.rows[module], tree.members[module]
    above: dict[int, list[int]] = {m: [] for m in members}
    below: dict[int, list[int]] = {m: [] for m in members}
    for a, b in tree.lines[module]:
        if tree.row_of[a] < tree.row_of[b]:
            below[a].append(b)
            above[b].append(a)
    weight = {m: 8.0 if above[m] else 1.0 for m in members}  # what only goes in makes room for what passes through
    at = dict.fromkeys(members, 0.0)
    for near, order in ((below, rows[::-1]), (above, rows), (below, rows[::-1])):
        for row in order:
            wanted = []
            for m in row:
                total = sum(weight[o] for o in near[m])
                wanted.append(sum(weight[o] * at[o] for o in near[m]) / total if total else at[m])
            for m, x in zip(row, apart([size[m][0] for m in row], wanted, [weight[m] for m in row]), strict=True):
                at[m] = x
    return at


def apart(widths: list[float], wanted: list[float], weights: list[float]) -> list[float]:
    """Middles as near to the wanted ones as gaps allow, by least squares: members that push each other move as one."""
    offsets, offset = [], 0.0
    for i, width in enumerate(widths):
        offset += (width + widths[i - 1]) / 2 + GAP_ACROSS if i else 0.0
        offsets.append(offset)
    blocks: list[list[float]] = []  # weight, weighted sum, how many
    for x, shift, weight in zip(wanted, offsets, weights, strict=True):
        blocks.append([weight, weight * (x - shift), 1])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][0] > blocks[-1][1] * blocks[-2][0]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last, strict=True)]
    flat = [total / weight for weight, total, count in blocks for _ in range(int(count))]
    return [x + shift for x, shift in zip(flat, offsets, strict=True)]


# -- lines --------------------------------------------------------------------

FAR, AROUND = 64, 12.0  # rows that a line is led around, at most, and how far from what stands there


def between(tree: Tree, a: int, b: int) -> list[int]:
    """What stands in the rows between two members, in the modules that a line from one to the other passes through."""
    found: list[int] = []

    def add(module: int, first: int, last: int) -> None:
        if last - first <= FAR:
            found.extend(m for row in tree.rows[module][first:last] for m in row)

    inner_a, inner_b = tree.siblings(a, b)
    while a != inner_a:
        add(tree.parent[a], tree.row_of[a] + 1, len(tree.rows[tree.parent[a]]))
        a = tree.parent[a]
    while b != inner_b:
        add(tree.parent[b], 0, tree.row_of[b])
        b = tree.parent[b]
    add(tree.parent[a], tree.row_of[a] + 1, tree.row_of[b])
    return found


def route(tree: Tree, boxes: Sequence[Box | None], a: int, b: int) -> list[tuple[float, float]]:
    """The points that a line from the bottom of one member to the top of another goes through: two, or four around what is in its way."""
    start, end = boxes[a], boxes[b]
    assert start is not None
    assert end is not None
    x0, y0, x1, y1 = start[0] + start[2] / 2, start[1] + start[3], end[0] + end[2] / 2, end[1]
    obstacles = [box for m in between(tree, a, b) if (box := boxes[m]) is not None]
    if y1 <= y0 or not any(box[0] < x0 + (x1 - x0) * (box[1] + box[3] / 2 - y0) / (y1 - y0) < box[0] + box[2] for box in obstacles):
        return [(x0, y0), (x1, y1)]
    left = min(box[0] for box in obstacles) - AROUND
    right = max(box[0] + box[2] for box in obstacles) + AROUND
    x = left if (x0 + x1) / 2 - left <= right - (x0 + x1) / 2 else right
    return [(x0, y0), (x, min(box[1] for box in obstacles)), (x, max(box[1] + box[3] for box in obstacles)), (x1, y1)]
