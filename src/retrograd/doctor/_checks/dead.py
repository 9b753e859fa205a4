"""dead_gradient: a parameter whose gradient is exactly zero, step after step, and the op where it turned into zeros.

A factor that starts at zero lets the others learn from the second step on, and masks and gates close for a batch or two; so three steps have to pass, each with zeros
alone. A loss that is zero has nothing to teach. What makes zeros of everything by its nature (rounding, comparison) is another mistake, and is told as such.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from retrograd import _C
from retrograd.doctor import _names, _owners
from retrograd.doctor._books import WeakTable, training
from retrograd.doctor._checks.by_hand import ByHand, Listener, is_zero, pointer, total, version
from retrograd.doctor._findings import Finding, counted, listed, tell
from retrograd.doctor._graph import is_leaf_node, saved_value
from retrograd.doctor._places import Place, of_node
from retrograd.doctor._watch import Check, Run, params_of

STEPS = 3

_CONSTANT = ("Round", "Floor", "Ceil", "Trunc", "Frac", "Sign", "Sgn", "Heaviside")  # their derivative is zero everywhere


class _Entry:
    __slots__ = ("nonzero", "seen", "steps")

    def __init__(self) -> None:
        self.seen = self.nonzero = False  # since the last step: a gradient, one that is not zero
        self.steps = 0  # in a row, with zeros


class _Turn(NamedTuple):
    """A node that received something and sent zeros."""

    node: Any
    zeros: list[int]  # its inputs that got them
    meant: bool
    factor: int  # where the memory of the other factor of a product begins, if that is not tracked


class DeadGradient(Check, Listener):
    traces_nodes = True

    def __init__(self, by_hand: ByHand) -> None:
        by_hand.listeners.append(self)
        self.forget()

    def forget(self) -> None:
        self._entries: WeakTable[_Entry] = WeakTable()
        self._turns: list[_Turn] = []  # in this run
        self._watching = False
        self._asked: tuple[list[int], list[tuple[int, int, float]]] = (
            [],
            [],
        )  # the leaves that grad() was last asked for, and what they were then

    def opened(self) -> None:
        self.forget()

    def _entry(self, leaf: Any) -> _Entry:
        return self._entries.setdefault(leaf, _Entry)

    # -- a run ------------------------------------------------------------------

    def before_backward(self, run: Run) -> None:
        self._turns = []
        root = run.roots[0] if len(run.roots) == 1 else None
        empty = isinstance(root, _C.Tensor) and root.numel() == 1 and is_zero(root)
        taken = run.accumulate or self._is_step_by_hand(run)
        self._watching = taken and not run.create_graph and not empty and root is not None and not run.loss_is_bad

    def _is_step_by_hand(self, run: Run) -> bool:
        """Whether grad() is asked for leaves alone. Where they were changed since it was asked for the same ones, that was a step."""
        if not run.inputs or len(run.leaves) != len(run.inputs):
            return False
        ids, states = [id(leaf) for leaf in run.leaves], [(pointer(leaf), version(leaf), total(leaf)) for leaf in run.leaves]
        if self._asked[0] == ids and self._asked[1] != states:
            self._count(run.leaves)
        self._asked = ids, states
        return True

    def node(self, run: Run, node: Any, received: tuple[Any, ...], sent: tuple[Any, ...]) -> None:
        if not self._watching or is_leaf_node(node):
            return
        zeros = []
        for i, (grad, (next_node, _)) in enumerate(zip(sent, node.next_functions, strict=False)):
            if grad is None or next_node is None:
                continue
            if (is_leaf_node(next_node) or self._suspects()) and is_zero(grad):
                zeros.append(i)
        if zeros and any(grad is not None and not is_zero(grad) for grad in received):
            factor = _factor(node) if node.name().startswith("MulBackward") else None
            self._turns.append(_Turn(node, zeros, self._is_meant(node), 0 if factor is None else pointer(factor)))

    def _suspects(self) -> bool:
        return any(entry.steps for _, entry in self._entries.items())

    def after_backward(self, run: Run) -> None:
        sent = _C._look_sent()  # leaves that got a gradient, and whether one was not zero
        turns, self._turns = self._turns, []
        if not run.accumulate and not self._watching:
            return
        dead = []
        for leaf in run.leaves:
            entry = self._entry(leaf)
            if not self._watching:
                entry.nonzero = True  # no evidence either way
            elif id(leaf) in sent:
                entry.seen = True
                entry.nonzero = entry.nonzero or sent[id(leaf)]
                if entry.steps >= STEPS - 1 and not entry.nonzero:
                    dead.append(leaf)
        if dead:
            self._diagnose(dead, turns, run)

    def failed_backward(self) -> None:
        self._turns = []

    # -- steps ------------------------------------------------------------------

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        self._count(params_of(optimizer))

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        self._count([leaf])

    def _count(self, params: list[Any]) -> None:
        for param in params:
            entry = self._entry(param)
            entry.steps = entry.steps + 1 if entry.seen and not entry.nonzero else 0
            entry.seen = entry.nonzero = False

    # -- telling ----------------------------------------------------------------

    def _diagnose(self, dead: list[Any], turns: list[_Turn], run: Run) -> None:
        """Finds the node where the gradient of the dead leaves turned into zeros: the one nearest to the loss from which they can be reached."""
        ids = {id(leaf) for leaf in dead if leaf not in training.explained}
        found: tuple[_Turn, list[Any], list[Any]] | None = None
        for turn in sorted(turns, key=lambda turn: -turn.node._sequence_nr()):
            node, zeros = turn.node, turn.zeros
            edges = [next_node for next_node, _ in node.next_functions]
            if all(_is_weight(edges[i]) for i in zeros) and len(zeros) < sum(edge is not None for edge in edges):
                continue  # a weight alone, whose input was zero
            behind = _leaves_behind([edges[i] for i in zeros])
            reached = [leaf for leaf in behind if id(leaf) in ids]
            if not reached:
                continue
            blocking = [leaf for leaf in _behind_other_factor(node, zeros) if id(leaf) in ids]
            if turn.meant or _is_satisfied_term(node, run):
                break
            found = turn, reached, blocking or reached
            ids = {id(leaf) for leaf in blocking} - {id(leaf) for leaf in reached}
            if not ids:
                break
            # The factor that is zero cannot learn either: the op that blocks it blocks both.
        if found is not None:
            self._tell(*found)

    def _is_meant(self, node: Any) -> bool:
        name = node.name()
        if name.startswith(_CONSTANT):
            return True
        if not name.startswith(("MulBackward", "DivBackward", "WhereBackward")):
            return False
        tracked = [next_node is not None for next_node, _ in node.next_functions]
        if all(tracked[:2]) and len(tracked) > 1:
            return False  # factors that block each other
        other = _factor(node)
        if other is None:
            return True  # a weight that is zero, as a number: a schedule
        kept = {pointer(t) for model in _names.models() for t in [*model.buffers(), *model.parameters()]}
        return pointer(other) not in kept  # a mask of this batch, or a layer that was dropped

    def _tell(self, turn: _Turn, dead: list[Any], causes: list[Any]) -> None:
        names = listed(_names.parameters(dead[:8]))
        op = turn.node.name().rstrip("0123456789").removesuffix("Backward")
        tell(
            Finding(
                "dead_gradient",
                f"a gradient that is not zero becomes all zeros in {op}, so {counted(len(dead), 'parameter')} ({names}) had a gradient of exactly zero in the last {STEPS} steps.",
                of_node(turn.node),
                "a parameter with a zero gradient stays as it is, and nothing in it can bring the gradient back.",
                "start from values at which this op has a slope (the default initialisation of layers has; one of two factors may be zero, not both), or use an "
                "activation without a flat side such as LeakyReLU.",
                (turn.factor and _owners.of_buffer(turn.factor)) or _owners.initialisation(_owners.largest_beside(causes[0], causes)),
                "initialised at",
            )
        )


def _factor(node: Any) -> Any:
    """Of a product or quotient with one tracked side: the tensor on the other, or None."""
    tracked = [next_node is not None for next_node, _ in node.next_functions]
    value = saved_value(node, "other" if tracked[0] else "self")
    return value if isinstance(value, _C.Tensor) else None


_VIEWS = ("T", "Transpose", "Permute", "View", "Reshape", "UnsafeView", "Expand", "Unsqueeze", "Squeeze", "ToCopy", "Alias")


def _is_weight(node: Any) -> bool:
    """Whether a leaf is behind it, or a view of one."""
    while node.name().partition("Backward")[0] in _VIEWS and node.next_functions[0][0] is not None:
        node = node.next_functions[0][0]
    return is_leaf_node(node)


_LINEAR = (
    "Mean",
    "Sum",
    "Add",
    "Sub",
    "Neg",
    "View",
    "Reshape",
    "Expand",
    "Squeeze",
    "Unsqueeze",
    "Stack",
    "Cat",
    "Select",
    "ToCopy",
    "Alias",
    "Unbind",
)


def _is_satisfied_term(node: Any, run: Run) -> bool:
    """Whether it is a term of the loss that has come down to zero: a hinge or a penalty, from which the way to the loss is a weighted sum."""
    if not node.name().startswith(("Relu", "Clamp", "Threshold", "Softshrink", "Maximum")):
        return False
    users: dict[Any, list[Any]] = {}
    for user in run.graph.nodes:
        for child, _ in user.next_functions:
            if child is not None:
                users.setdefault(child, []).append(user)
    seen, stack = {node}, [node]
    while stack:
        for user in users.get(stack.pop(), ()):
            tracked = sum(child is not None for child, _ in user.next_functions)
            if not user.name().startswith(_LINEAR) and not (user.name().startswith(("Mul", "Div")) and tracked == 1):
                return False
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return True


def _behind_other_factor(node: Any, zeros: list[int]) -> list[Any]:
    """Of a product that sends zeros to one factor: the leaves of the other, which is zero."""
    edges = [next_node for next_node, _ in node.next_functions]
    if not node.name().startswith("MulBackward") or len(zeros) != 1 or len(edges) != 2 or None in edges:
        return []
    return _leaves_behind([edges[1 - zeros[0]]])


def _leaves_behind(nodes: list[Any]) -> list[Any]:
    """The leaves that can be reached from nodes, the nearest first."""
    seen, queue, found = set(), list(nodes), []
    for node in queue:  # grows while it is read
        if node in seen:
            continue
        seen.add(node)
        if is_leaf_node(node):
            found.append(node.variable)
        queue += [next_node for next_node, _ in node.next_functions if next_node is not None]
    return found
