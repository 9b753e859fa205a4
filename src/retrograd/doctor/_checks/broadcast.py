"""silent_broadcast_loss: sizes such as (N, 1) and (N) that meet on the way to the loss and make (N, N)."""

from __future__ import annotations

import weakref
from typing import Any, ClassVar, NamedTuple

from retrograd import _C
from retrograd.doctor._books import node_of, place_of, same_line, tensors_in
from retrograd.doctor._findings import Finding, tell
from retrograd.doctor._graph import is_leaf_node, saved_value
from retrograd.doctor._places import Place, here, of_node
from retrograd.doctor._watch import PAIRS, SHAPES, Check, Run

# Ops that take two tensors element by element, by the first part of their name; _broadcast_tensors is what losses call.
_PAIRWISE = {
    "sub",
    "add",
    "mul",
    "div",
    "rsub",
    "pow",
    "_broadcast_tensors",
    "squared_difference",
    "where",
    "maximum",
    "minimum",
    "sub_",
    "mul_",
    "xlogy",
    "lerp",
    "hypot",
    "atan2",
    "logaddexp",
}
_SHAPING = {"unsqueeze", "view", "reshape", "expand", "index"}
# What may come between: element by element, with one reduction of everything.
_ALONG = ("Pow", "Mul", "Abs", "Neg", "Add", "Sub", "Div", "Square", "Sqrt", "Exp", "Log", "Clamp", "Where", "Mean", "Sum", "Huber", "Smooth", "Mse", "L1",
          "Softplus", "Sigmoid", "Maximum", "Minimum", "Expand", "To", "Relu", "Cosh", "Logaddexp", "Xlogy", "Lgamma", "Tanh", "Atan", "Sin", "Cos", "Erf",
          "Rsqrt", "Reciprocal", "Lerp", "Hypot", "BinaryCrossEntropy", "LinalgVectorNorm", "Norm")  # fmt: skip
_REDUCTIONS = ("MeanBackward0", "SumBackward0", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
_NORMS = ("LinalgVectorNorm", "Norm")  # of everything, where they are the loss or no dim is given


class Met:
    """Two tensors that were broadcast against each other."""

    def __init__(self, node: Any, place: Place, shapes: tuple[tuple[int, ...], tuple[int, ...]], result: tuple[int, ...]) -> None:
        self.node, self.place, self.shapes, self.result = weakref.ref(node), place, shapes, result


def _compares(node: Any, target: _Target) -> bool:
    """Whether a node is a loss function of predictions of one of the sizes that were broadcast, and a target of the size that came of them."""
    if not node.name().startswith(_REDUCTIONS[2:]):
        return False
    value = saved_value(node, "target")
    expanded = node.next_functions[0][0]
    sizes = getattr(expanded, "_saved_self_sizes", None)
    if value is None or value.requires_grad or sizes is None or not expanded.name().startswith("Expand"):
        return False
    return tuple(value.shape) == target.result and _squeezed(tuple(sizes)) == _squeezed(target.shapes[0])


def _is_of_everything(norm: Any) -> bool:
    return getattr(norm, "_saved_dim", ()) is None


def _is_product(node: Any, result: tuple[int, ...]) -> bool:
    """Whether a node gives a matrix product with as many columns, or a multiple of one."""
    for _ in range(5):
        if node.name().startswith(("MmBackward", "AddmmBackward", "BmmBackward", "BaddbmmBackward")):
            right = saved_value(node, "mat2" if "Bad" not in node.name() else "batch2")
            if right is not None:
                return bool(right.shape[-1] == result[-1])
            # Data times what is learned: the weight of a layer, or vectors.
            behind = node.next_functions[-1][0]
            while behind is not None and behind.name().startswith(("T", "Permute", "View")) and behind.next_functions[0][0] is not None:
                behind = behind.next_functions[0][0]
            return behind is not None and (not is_leaf_node(behind) or result[-1] in behind.variable.shape)
        children = [child for child, _ in node.next_functions if child is not None]
        if not node.name().startswith(("Mul", "Div", "Neg", "View", "Reshape", "UnsafeView", "T")) or len(children) != 1:
            return False
        node = children[0]
    return False


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)


class _Target(NamedTuple):
    """Two tensors without history that were broadcast against each other: what came of them may become a target."""

    place: Place
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    result: tuple[int, ...]


class SilentBroadcast(Check):
    traces_ops = True
    op_names: ClassVar = dict.fromkeys(_PAIRWISE, PAIRS) | dict.fromkeys(_SHAPING, SHAPES)

    def __init__(self) -> None:
        self.met: list[Met] = []
        self.targets: list[_Target] = []

    forget = __init__

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if op.__name__.partition(".")[0] in _PAIRWISE:
            operands = list(tensors_in(args, 2))[-2:]
            if len(operands) == 2:
                self.pair(operands[0], operands[1], result)

    def pair(self, a: Any, b: Any, result: Any) -> None:
        one, two = tuple(a.shape), tuple(b.shape)
        if len(one) == len(two):
            return
        both = a.requires_grad and b.requires_grad
        if both and any(node_of(t) is None or _C._look_shaped(t) is not None for t in (a, b)):
            return  # both are learned: parameters, and what was given its shape for this, meet on purpose
        kept = _squeezed(one)
        if not kept or kept != _squeezed(two):
            return
        made = next((tensor for tensor in tensors_in(result, 1) if node_of(tensor) is not None), None)
        place = here()
        if place is None or any(same_line(place_of(_C._look_shaped(tensor)), place) for tensor in (a, b)):
            return  # x[:, None] - y: every pair is wanted
        if made is None:
            shape = tuple(next(tensors_in(result, 1)).shape)
            self.targets = [*self.targets[-15:], _Target(place, (one, two), shape)]
            return
        if made.numel() <= max(a.numel(), b.numel()):
            return
        self.met = [met for met in self.met[-16:] if met.node() is not None]
        self.met.append(Met(made.grad_fn, place, (one, two), tuple(made.shape)))

    def before_backward(self, run: Run) -> None:
        met, self.met = self.met, []
        targets, self.targets = self.targets, []
        nodes = set(run.graph.nodes) if met else set()
        for found in met:
            node = found.node()
            if node in nodes and self.is_reduced(node, run, found.result):
                self.say(found, None)
        for target in targets:
            loss = next((node for node in run.graph.nodes if _compares(node, target)), None)
            if loss is not None:
                self.say(target, of_node(loss))

    def say(self, found: Met | _Target, loss: Place | None) -> None:
        (one, two), result = found.shapes, found.result
        tell(
            Finding(
                "silent_broadcast_loss",
                f"sizes {one} and {two} were broadcast to {result} on the way to the loss: every element of one against every element of the other.",
                found.place,
                "the loss is over pairs that do not belong together; its gradient pulls every prediction to the mean of the targets.",
                "give both the same size, as in `prediction.squeeze(-1)` or `target.unsqueeze(-1)`.",
                loss,
                "it is the target at",
            )
        )

    def is_reduced(self, node: Any, run: Run, result: tuple[int, ...]) -> bool:
        """Whether all the way to the loss goes element by element, with a reduction of everything. What meets a matrix of pairs on it, as the squares of a distance meet
        the products, is one too."""
        roots = set(run.graph.roots)
        users: dict[Any, list[Any]] = {}
        for user in run.graph.nodes:
            for child, _ in user.next_functions:
                if child is not None:
                    users.setdefault(child, []).append(user)
        seen, stack, reduced = {node}, [node], node.name().startswith(_REDUCTIONS)
        while stack:
            for user in users.get(stack.pop(), ()):
                name = user.name()
                if user in seen:
                    continue
                if not name.startswith(_ALONG):
                    return False
                if any(child is not None and child not in seen and _is_product(child, result) for child, _ in user.next_functions):
                    return False
                if name.startswith(_REDUCTIONS) or (name.startswith(_NORMS) and (user in roots or _is_of_everything(user))):
                    reduced = True
                    continue
                seen.add(user)
                stack.append(user)
        return reduced
