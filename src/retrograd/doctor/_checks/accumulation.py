"""grad_accumulation_scaling: mean losses that are accumulated for one step, and not divided by their number.

The sum of the gradients of k mean losses is k times the gradient of the mean over all k batches. That is a mistake only where the k backwards are parts of one batch: the
same line, reached the same way, the same graph over the same parameters, other data, each time the mean over a batch, step after step with the same k. Sums over things that
are not parts of a batch look alike (tasks, domains, time steps, episodes, real and fake samples), so loops over those are left alone.
"""

from __future__ import annotations

import ast
import re
import weakref
from typing import Any, NamedTuple

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._books import WeakTable
from retrograd.doctor._checks.by_hand import ByHand, Listener, grad_of, total
from retrograd.doctor._findings import Finding, tell
from retrograd.doctor._graph import is_leaf_node, saved_value
from retrograd.doctor._places import Place, statement_at, tree_of
from retrograd.doctor._watch import Call, Check, Run, params_of

STEPS = 2  # in a row, with the same number of backwards
MOST = 64  # backwards for one step

_Chain = tuple[tuple[str, str, int], ...]  # (file, function, line) of the frames that run, innermost first

# Loops whose rounds are things of their own rather than parts of a batch.
_THINGS = re.compile(
    r"(^|_)(t|time|times|task|tasks|domain|domains|env|envs|episode|episodes|ep|rollout|rollouts|traj|trajectories|view|views|crop|crops|aug|augs|scale|scales|level|"
    r"levels|head|heads|objective|objectives|criterion|criteria|loss|losses|client|clients|agent|agents|player|players|particle|particles|model|models|net|nets|"
    r"timestep|timesteps|horizon|chunks?_of_time|segment|segments|window|windows|real|fake|term|terms)"
    r"(s?$|_)",
    re.IGNORECASE,
)

_PASSED = ("View", "Reshape", "Squeeze", "Unsqueeze", "ToCopy", "Clone", "Alias", "Neg", "Select")


class _Part(NamedTuple):
    """One backward that added to gradients which no step has used yet."""

    chain: _Chain
    place: Place | None
    factor: float  # by which the mean is multiplied; 0 where the root is no mean
    leaves: frozenset[int]
    graph: int  # of the names of its nodes
    data: frozenset[float]  # sums of what modules were called with


def _number(node: Any) -> float | None:
    """What a node multiplies or divides by, if that is a number, or a tensor of one element without history."""
    edges = [next_node is not None for next_node, _ in node.next_functions]
    if all(edges):
        return None  # not read: hooks on saved tensors would run
    value = saved_value(node, "other" if edges[0] else "self")
    if isinstance(value, _C.Tensor):
        return float(value) if value.numel() == 1 else None
    return float(value) if isinstance(value, int | float) else None


def _mean_factor(node: Any, deepest: int = 12) -> float:
    """The number that a mean is multiplied by to give the root, 0 where the root is no mean over a batch."""
    factor = 1.0
    for depth in range(deepest):
        if node is None or is_leaf_node(node):
            return 0.0
        name = node.name()
        reduction = getattr(node, "_saved_reduction", None)
        if reduction is not None:
            return factor if reduction == 1 else 0.0
        following = [n for n, _ in node.next_functions if n is not None]
        if name.startswith("MeanBackward"):
            return 0.0 if _is_score(node) else factor
        if name.startswith(("AddBackward", "SubBackward")):
            return max((factor * _mean_factor(n, deepest - depth - 1) for n in following), default=0.0)
        if name.startswith(("MulBackward", "DivBackward")):
            number = _number(node)
            if not number or len(following) != 1:
                return 0.0
            inner = following[0]
            if name.startswith("Div"):
                sizes = _sizes_of_sum(inner)
                if sizes and number in (sizes[0], _product(sizes)):
                    return factor  # a mean, written out
                number = 1 / number
            factor *= abs(number)
            node = inner
        elif name.startswith(_PASSED) and following:
            node = following[0]
        else:
            return 0.0
    return 0.0


def _sizes_of_sum(node: Any) -> Any:
    """The size of what a node sums up, also of a loss with reduction="sum"; None for any other."""
    if getattr(node, "_saved_reduction", None) == 2:
        scores = saved_value(node, "self")
        return None if scores is None else tuple(scores.shape)
    return getattr(node, "_saved_self_sizes", None) if node.name().startswith("SumBackward") else None


def _product(sizes: Any) -> int:
    product = 1
    for size in sizes:
        product *= size
    return product


def _is_score(node: Any) -> bool:
    """Whether a mean is of weighted log probabilities of what was chosen, as policies are trained with: episodes are no parts of a batch."""
    for _ in range(8):
        node = next((n for n, _ in node.next_functions if n is not None), None)
        if node is None:
            return False
        if node.name().startswith(("Gather", "Index", "Stack", "Cat", "Minimum")):
            return True
    return False


def _chain() -> _Chain:
    return tuple((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno) for frame in _names.user_frames())


class Accumulation(Check, Listener):
    def __init__(self, by_hand: ByHand) -> None:
        by_hand.listeners.append(self)
        self.forget()

    def forget(self) -> None:
        self._parts: list[_Part] = []
        self._data: set[float] = set()
        self._carried = False
        self._scaled: dict[int, list[float]] = {}  # what the gradient of a leaf was multiplied by since: numbers, and tensors
        self._marks: WeakTable[Any] = WeakTable()  # weak references to gradients, by leaf
        self._streaks: dict[Any, tuple[int, int]] = {}  # by the place of an update or the optimizer: how many backwards, how often in a row

    def opened(self) -> None:
        self.forget()

    def before_module(self, call: Call) -> None:
        for value in [*call.args, *call.kwargs.values()]:
            for tensor in value if isinstance(value, list | tuple) else (value,):
                if not isinstance(tensor, _C.Tensor):
                    continue
                if any(kind == "detach" for kind, *_ in tensor._cut):
                    self._carried = True  # a state goes from one backward to the next
                if tensor.is_floating_point() and not tensor.requires_grad:
                    self._data.add(total(tensor))

    def before_backward(self, run: Run) -> None:
        if not run.accumulate:
            self._data = set()  # derivatives inside a step: nothing is simple here
            return
        data, self._data = frozenset(self._data), set()
        carried, self._carried = self._carried, False
        simple = len(run.roots) == 1 and not run.create_graph and not run.inputs and isinstance(run.roots[0], _C.Tensor) and not carried
        factor = _mean_factor(run.roots[0].grad_fn) if simple and run.roots[0].numel() == 1 else 0.0
        leaves = frozenset(id(leaf) for leaf in run.graph.leaves)
        graph = hash(tuple(run.graph.names))
        self._parts = [*self._parts[-MOST + 1 :], _Part(_chain(), run.place, factor, leaves, graph, data)]

    def after_backward(self, run: Run) -> None:
        for leaf in run.leaves if run.accumulate else ():
            if (grad := grad_of(leaf)) is not None:
                self._marks[leaf] = weakref.ref(grad)

    def failed_backward(self) -> None:
        self._parts = []

    def _drop(self, params: list[Any]) -> None:
        ids = {id(p) for p in params}
        self._parts = [part for part in self._parts if not part.leaves & ids]

    def zeroed(self, owner: Any, params: list[Any], place: Place | None) -> None:
        self._drop(params)

    def grad_zeroed(self, leaf: Any, place: Place | None) -> None:
        self._drop([leaf])

    def grad_scaled(self, leaf: Any, factor: float, is_number: bool) -> None:
        self._scaled.setdefault(id(leaf), [1.0, 1.0])[0 if is_number else 1] *= factor

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        if place is not None and any(id(leaf) in part.leaves for part in self._parts):
            if _adds_gradients(place):
                self._judge(place, [leaf])
            self._drop([leaf])  # and with it the other leaves of the same backwards
            self._scaled = {}

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        self._judge(weakref.ref(optimizer), params_of(optimizer))  # not its identity, which another may have later

    def _judge(self, owner: Any, params: list[Any]) -> None:
        """An optimizer is about to apply the gradients of parameters, or a line is."""
        ids = {id(p) for p in params}
        parts = [part for part in self._parts if part.leaves & ids]
        replaced = any((ref := self._marks.get(p)) is not None and p.grad is not None and ref() is not p.grad for p in params)
        hooked = any(p._backward_hooks or p._post_accumulate_grad_hooks for p in params)  # which may divide by k
        by_number, by_tensor = self._scaled.get(next(iter(ids), 0), (1.0, 1.0))
        if self.has_closure or replaced or hooked or not self._are_parts(parts, ids, by_number, by_tensor):
            self._streaks.pop(owner, None)
            return
        loop = _loop_around(parts[0].chain)
        if loop is None or not (_is_in(_chain(), loop) or _is_over_batches(loop[2])):
            self._streaks.pop(owner, None)
            return
        k, count = self._streaks.get(owner, (0, 0))
        count = count + 1 if k == len(parts) else 1
        k = len(parts)
        self._streaks[owner] = (k, count)
        if count >= STEPS:
            tell(
                Finding(
                    "grad_accumulation_scaling",
                    f"the gradients of {k} mean losses are added up for each step, and none is divided by {k}.",
                    parts[0].place,
                    f"the step is {k} times as long as that of one batch of the same samples, as if the learning rate were {k} times larger.",
                    f"(loss / {k}).backward()",
                )
            )

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        self._drop(params_of(optimizer))
        self._scaled = {}

    def _are_parts(self, parts: list[_Part], ids: set[int], by_number: float, by_tensor: float) -> bool:
        if len(parts) < 2:
            return False
        first, k = parts[0], len(parts)
        if any((p.chain, p.leaves & ids, p.graph) != (first.chain, first.leaves & ids, first.graph) for p in parts):
            return False  # leaves beside the parameters are data that requires grad
        factor = first.factor * by_number
        clipped = 0.99 <= factor < 1.5 and abs(by_tensor * k - 1) > 1e-3
        if any(p.factor != first.factor for p in parts) or not (clipped or _is_unscaled(factor * by_tensor, k)):
            return False
        data = [p.data for p in parts if p.data]
        return len(set(data)) == len(data)


def _is_unscaled(factor: float, k: int) -> bool:
    """Whether a factor has nothing to do with k: a half is a habit of squared errors."""
    return factor > 1.5 / k and (factor >= 0.99 or abs(factor - 0.5) < 1e-6)


def _adds_gradients(place: Place) -> bool:
    """Whether a line that updates a parameter multiplies its gradient by a rate and nothing else: p -= lr * p.grad, p.data.add_(p.grad, alpha=-lr)."""
    statement = statement_at(place)
    if statement is None or any(isinstance(node, ast.Div | ast.FloorDiv | ast.Pow | ast.Mod) for node in ast.walk(statement)):
        return False
    calls = [node.func.attr for node in ast.walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    plain = all(call in ("add_", "sub_", "add", "sub", "mul", "copy_", "clone", "detach") for call in calls)
    return plain and any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(statement))


_Loop = tuple[str, str, ast.For | ast.AsyncFor | ast.While]


def _loop_around(chain: _Chain) -> _Loop | None:
    """The innermost loop that a line runs in, in its own function or in one that called it."""
    for file, function, line in chain:
        tree = tree_of(file)
        if tree is None:
            continue
        found: ast.For | ast.AsyncFor | ast.While | None = None
        scope = 0
        for node in ast.walk(tree):
            begin, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
            if not begin <= line <= end:
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                scope, found = max(scope, begin), found if found and found.lineno > begin else None
            elif isinstance(node, ast.For | ast.AsyncFor | ast.While) and begin >= scope and (found is None or begin > found.lineno):
                found = node
        if found is not None:
            return file, function, found
    return None


def _is_in(chain: _Chain, loop: _Loop) -> bool:
    """Whether something runs in that loop too."""
    file, function, node = loop
    return any(f == file and name == function and node.lineno <= line <= (node.end_lineno or 0) for f, name, line in chain)


def _is_over_batches(loop: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether its rounds may be batches: not things that are listed, or that have names of another kind."""
    if isinstance(loop, ast.While):
        return False
    names = [n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(loop.target) if isinstance(n, ast.Name | ast.Attribute)]
    for node in ast.walk(loop.iter):
        if isinstance(node, ast.List | ast.Tuple | ast.Dict):
            if node is loop.iter or not isinstance(node, ast.Tuple):
                return False
        elif isinstance(node, ast.Name):
            names.append(node.id)
        elif isinstance(node, ast.Attribute):
            if node.attr in ("items", "values", "keys"):
                return False
            names.append(node.attr)
    return not any(_THINGS.search(name) for name in names)
