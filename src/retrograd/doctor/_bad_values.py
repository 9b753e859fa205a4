"""Values that are not finite: whether a tensor has any, where in a graph they began, and what can be said about the op that makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._books import node_of, tensors_in
from retrograd.doctor._graph import Graph, is_leaf_node, saved, saved_value, walk

INF, NAN = 1, 2


def badness(tensor: Any) -> int:
    """0 for finite values, INF, or NAN. What cannot be read here (a sample of vmap, a tensor without data, a sparse one) counts as finite."""
    largest = _C._doctor_largest(tensor)
    if largest is not None:
        if math.isfinite(largest):
            return 0
    elif (
        not (tensor.is_floating_point() or tensor.is_complex())
        or tensor.device.type != "cpu"
        or tensor.layout != _C.strided
        or _C._batch_level(tensor)
    ):
        return 0
    if bool(tensor.isnan().any()):
        return NAN
    return INF if bool(tensor.isinf().any()) else 0


def shown(tensor: Any) -> str:
    """'nan' or 'inf', of a tensor with one element."""
    return str(float(tensor.real if tensor.is_complex() else tensor))


def shown_of(tensors: tuple[Any, ...]) -> str:
    for tensor in tensors:
        if tensor is not None and (level := badness(tensor)):
            count = int((~tensor.isfinite()).sum())
            return f"with {count:,} of {tensor.numel():,} elements {'nan' if level == NAN else 'infinite'}"
    return "infinite"


def op_name(node: Any) -> str:
    """'sqrt' for SqrtBackward0, the name of the class for a custom Function."""
    name = node.name().rpartition("::")[2]
    short = name.partition("Backward")[0]
    if not isinstance(node, _C._FunctionCtx):
        known = {
            "LinalgVectorNorm": "norm",
            "EuclideanDist": "cdist",
            "Reciprocal": "reciprocal",
            "BinaryCrossEntropy": "binary_cross_entropy",
        }
        short = known.get(short, "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(short)))
    return short


# -- words for ops --------------------------------------------------------------------

_VALUES = {
    "log": "log of 0 is -inf and of a negative number nan.|take the log of x.clamp_min(1e-12), or use a function that works with logits (log_softmax, logsigmoid, cross_entropy)",
    "div": "Something other than 0, divided by 0, is infinite, and 0 / 0 is nan.|divide by something that cannot be 0, such as (y + eps) or y.clamp_min(eps)",
    "exp": "exp overflows: above 88 in float32, above 11 in float16.|subtract the maximum first (logsumexp, softmax and log_softmax do), or clamp(max=...) the exponent",
    "sqrt": "The root of a negative number is nan.|take the root of x.clamp_min(0)",
    "pow": "A power of a negative number that is no integer is nan, and a large one overflows.|take it of x.abs() or x.clamp_min(0)",
    "mean": "The mean of no elements is nan.|skip what is empty, or divide a sum by count.clamp_min(1)",
    "std": "The standard deviation of one element, with one degree of freedom, is nan.|pass correction=0, or skip groups of one",
    "var": "The variance of one element, with one degree of freedom, is nan.|pass correction=0, or skip groups of one",
    "softmax": "A row that is -inf everywhere has no softmax: 0 / 0.|leave at least one element of each row unmasked, or mask with a large finite number",
    "ctc_loss": "No path of so few steps says so long a target, so its loss is infinite.|pass zero_infinity=True, or drop targets that are longer than their input",
    "acos": "acos is nan outside of [-1, 1].|clamp(-1 + 1e-6, 1 - 1e-6) what goes into it",
    "asin": "asin is nan outside of [-1, 1].|clamp(-1 + 1e-6, 1 - 1e-6) what goes into it",
}
_ALIASES = {"log_softmax": "softmax", "_softmax": "softmax", "_log_softmax": "softmax", "log2": "log", "log10": "log", "log1p": "log", "divide": "div",
            "true_divide": "div", "reciprocal": "div", "rsqrt": "div", "std_mean": "std", "var_mean": "var", "_safe_softmax": "softmax"}  # fmt: skip


def reason(name: str) -> str:
    """Why an op gives values that are not finite, and what to do, with a | between; empty where nothing is known."""
    name = name.rstrip("_")
    return _VALUES.get(_ALIASES.get(name, name), "")


_DERIVATIVES = {
    "sqrt": "The derivative of sqrt is infinite at 0.",
    "rsqrt": "The derivative of rsqrt is infinite at 0.",
    "norm": "The norm has no derivative at 0.",
    "pow": "The derivative of a power below 1 is infinite at 0.",
    "log": "The derivative of log is infinite at 0.",
    "div": "The derivative of a quotient is infinite where it is divided by 0.",
    "acos": "The derivative of acos is infinite at -1 and 1.",
    "asin": "The derivative of asin is infinite at -1 and 1.",
    "acosh": "The derivative of acosh is infinite at 1.",
    "atanh": "The derivative of atanh is infinite at -1 and 1.",
    "atan2": "atan2(0, 0) has no derivative.",
    "std": "The standard deviation has no derivative where all elements are equal, and none at all of one element.",
    "var": "The variance of one element has no derivative.",
    "cdist": "The distance of two points that are equal has no derivative.",
    "exp": "exp is so large that its product with the gradient overflows.",
    "prod": "The derivative of a product divides by its elements.",
}
_FIXES = {
    "sqrt": "write torch.sqrt(x + 1e-12), or torch.sqrt(x.clamp_min(1e-12))",
    "norm": "write (x.pow(2).sum(dim) + 1e-12).sqrt() in place of the norm",
    "pow": "write x.clamp_min(1e-12) ** p",
    "log": "write torch.log(x.clamp_min(1e-12)), or work with logits (log_softmax, logsigmoid)",
    "div": "divide by (y + eps) or y.clamp_min(eps)",
    "acos": "clamp(-1 + 1e-6, 1 - 1e-6) what goes into it",
    "asin": "clamp(-1 + 1e-6, 1 - 1e-6) what goes into it",
    "atan2": "add a small number to the second argument where both are 0",
    "std": "write torch.sqrt(x.var(...) + 1e-12)",
    "cdist": "add a small number to the squared distance before its root, or leave the diagonal out",
}


def _known(table: dict[str, str], name: str) -> str:
    for part in (name, name.removeprefix("linalg_"), name.rstrip("_"), _ALIASES.get(name, "")):
        if part in table:
            return table[part]
    return next((text for key, text in table.items() if name.startswith(key)), "")


def derivative(name: str, node: Any) -> str:
    if node is not None and isinstance(node, _C._FunctionCtx):
        return f"The backward of {name} made it."
    return _known(_DERIVATIVES, name) or "All gradients behind it are not finite either, and a step with them ruins the parameters."


def gradient_fix(name: str) -> str:
    return _known(_FIXES, name) or "keep what goes into that operation away from where its derivative is infinite, for example with clamp()"


def masked_fix(name: str, mask: str) -> str:
    if mask == "where":
        return f"make the input safe first, too: safe = torch.where(mask, x, torch.ones_like(x)); torch.where(mask, {name}(safe), other)"
    return f"choose the elements before {name}, not after it: {name}(torch.where(mask, x, torch.ones_like(x)))"


_MASKS = {
    "where": "where",
    "masked_fill": "masked_fill",
    "mul": "a product with a mask",
    "masked_select": "masked_select",
    "index": "indexing",
    "nan_to_num": "nan_to_num",
}


def masked_consumer(graph: Graph, node: Any) -> str:
    """Whether the result of a node is thrown away in places by what it goes into: where() and its like, over ops that keep elements where they are."""
    current, steps = [node], 0
    while current and steps < 4:
        after = [n for n in graph.nodes if any(child in current for child, _ in n.next_functions if child is not None)]
        for consumer in after:
            name = op_name(consumer)
            if name in ("where", "masked_fill", "nan_to_num"):
                return _MASKS[name]
        current, steps = (
            [n for n in after if op_name(n) in ("mul", "div", "neg", "add", "sub", "log", "exp", "unsqueeze", "squeeze", "view")],
            steps + 1,
        )
    return ""


_PRONE = ("sqrt", "norm", "cdist", "acos", "asin", "rsqrt", "pow", "std", "atan2", "log", "div")  # the likeliest first


def suspect(graph: Graph) -> Any:
    """After a backward that left gradients which are not finite: the op that is likeliest to have made them. All leaves behind it have such a gradient."""
    bad_leaves = {id(leaf) for leaf in graph.leaves if leaf.grad is not None and badness(leaf.grad)}
    found = None
    for node in reversed(graph.nodes):
        name = op_name(node)
        if is_leaf_node(node) or not _known(_FIXES, name) or (node.name() == "PowBackward0" and node._saved_exponent >= 1):
            continue
        rank = next((i for i, prone in enumerate(_PRONE) if prone in name), len(_PRONE))
        if found is None or rank < found[0]:
            behind = {id(n.variable) for n in walk([node]) if is_leaf_node(n)}
            if behind and behind <= bad_leaves:
                found = (rank, node)
    return None if found is None else found[1]


# -- the graph of a loss that is not finite ---------------------------------------------


class Story(NamedTuple):
    """Where the first bad value of a graph began."""

    node: Any = None  # an op, with finite values going in; or the one that data went into
    data: Any = None  # a tensor without history that was bad already
    parameter: Any = None
    detail: str = ""


INFINITE_ON_PURPOSE = {
    "masked_fill",
    "where",
    "copy_slices",
    "index_put",
    "fill",
    "masked_scatter",
    "scatter",
    "slice_scatter",
    "add",
    "sub",
    "index_fill",
    "full",
}
_RECOMPUTE = {
    "log": lambda x: x.log(), "log2": lambda x: x.log2(), "log10": lambda x: x.log10(), "log1p": lambda x: x.log1p(), "acos": lambda x: x.acos(), "asin": lambda x: x.asin(),
    "acosh": lambda x: x.acosh(), "atanh": lambda x: x.atanh(), "lgamma": lambda x: x.lgamma(), "erfinv": lambda x: x.erfinv(), "logit": lambda x: x.logit(),
    "cosh": lambda x: x.cosh(), "sinh": lambda x: x.sinh(),
}  # fmt: skip


# What they give was there before, in the one thing that goes in.
_MOVES = {
    "view",
    "_unsafe_view",
    "squeeze",
    "unsqueeze",
    "select",
    "slice",
    "permute",
    "transpose",
    "t",
    "expand",
    "clone",
    "alias",
    "neg",
    "real",
    "imag",
}


def _recomputed(node: Any, kept: list[tuple[str, Any]]) -> int:
    """What the result of a node was, from what it was computed from; 0 where that is not known."""
    name = op_name(node)
    inputs = dict(kept)
    if name in _RECOMPUTE and "self" in inputs:
        return badness(_RECOMPUTE[name](inputs["self"]))
    if name == "div" and "other" in inputs and not badness(inputs["other"]) and bool((inputs["other"] == 0).any()):
        return NAN
    if name == "mul" and "self" in inputs and "other" in inputs:
        return badness(inputs["self"] * inputs["other"])
    if name == "xlogy" and "self" in inputs and "other" in inputs:
        return badness(inputs["self"].xlogy(inputs["other"]))
    if name == "pow" and "self" in inputs and (exponent := saved_value(node, "exponent")) is not None:
        return badness(inputs["self"].pow(exponent))
    if name == "var" and "self" in inputs:
        dim, correction, keepdim = (saved_value(node, key) for key in ("dim", "correction", "keepdim"))
        return badness(inputs["self"].double().var(dim, correction=correction, keepdim=keepdim))
    if name in ("mm", "bmm", "addmm") and "mat2" in inputs and (left := inputs.get("mat1", inputs.get("self"))) is not None:
        return badness(left @ inputs["mat2"])
    if name == "nll_loss" and saved_value(node, "reduction") == 1 and "total_weight" in inputs:
        return NAN if float(inputs["total_weight"]) == 0 else 0
    if name == "div" and isinstance(other := saved_value(node, "other"), int | float) and other == 0:
        return NAN
    if name == "mean" and 0 in tuple(getattr(node, "_saved_self_sizes", ())):
        return NAN
    return 0


def _detail(name: str, kept: list[tuple[str, Any]]) -> str:
    for key, value in kept:
        if key in ("self", "other") and not badness(value) and value.numel() and not value.is_complex():
            which = " by" if name == "div" and key == "other" else " of" if key == "self" else ""
            if which:
                return (
                    f"{which} a tensor of shape {_names.shape(value)} with values from {float(value.min()):.4g} to {float(value.max()):.4g}"
                )
    return ""


def _in_variables() -> Iterator[Any]:
    """The tensors that variables of the running functions hold, and of those that called them."""
    for frame in _names.user_frames():
        for value in list(frame.f_locals.values()):
            yield from tensors_in(value, 1)


def _likeliest(node: Any, unknown: set[Any], kept: dict[Any, list[tuple[str, Any]]]) -> Any:
    """Where all is finite that is known, behind a node: the only one whose op may give something else, if there is one."""
    seen, stack = {node}, [node]
    while stack:
        for child, _ in stack.pop().next_functions:
            if child in unknown and child not in seen:
                seen.add(child)
                stack.append(child)
    risky = [one for one in seen if reason(op_name(one)) and not (op_name(one) in _RECOMPUTE and kept[one])]
    return risky[0] if len(risky) == 1 else node


def find(graph: Graph) -> Story:
    """Follows the bad values of a graph back from its root to where they began."""
    state: dict[Any, int] = {}  # of the result of a node: what is known
    unknown: set[Any] = set()  # nodes whose results nothing is left of
    data: dict[Any, Any] = {}
    kept = {node: list(saved(node)) for node in graph.nodes}
    for node, values in kept.items():
        for key, value in values:
            level = badness(value)
            maker = value.grad_fn
            if key in ("result", "neg_log_likelihood") or maker is node:
                state[node] = max(state.get(node, 0), level)
            elif maker is not None and maker is not node:
                state[maker] = max(state.get(maker, 0), level)
            elif level == NAN and maker is None and not value.requires_grad:
                data.setdefault(node, value)
    for tensor in _in_variables():
        node = node_of(tensor)
        if node in kept:
            state[node] = max(state.get(node, 0), badness(tensor))
    for root in graph.roots:
        state[root] = NAN
    leaves = {node for node in graph.nodes if is_leaf_node(node)}
    for node in leaves:  # whose own nodes may be younger than what is computed from them
        state[node] = badness(node.variable)
    for node in graph.nodes:  # oldest first
        if node in leaves:
            continue
        children = [child for child, _ in node.next_functions if child is not None]
        if state.get(node) == INF and op_name(node) in INFINITE_ON_PURPOSE and not any(map(state.get, children)):
            state[node] = 0
        if node in state:
            continue
        level = max(_recomputed(node, kept[node]), NAN if node in data else 0)
        state[node] = max([level, *(state.get(child, 0) for child in children)])
        if not state[node]:
            unknown.add(node)
    unknown.update(node for node in graph.roots if node not in leaves)
    seen: set[Any] = set()
    stack, ends = list(graph.roots), []
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        worse = [child for child, _ in node.next_functions if child is not None and state.get(child)]
        stack.extend(worse)
        if not worse or node in data:
            ends.append(node)
    first = min(ends, key=lambda node: node._sequence_nr() if not is_leaf_node(node) else -1, default=None)
    while first is not None and op_name(first) in _MOVES and first.next_functions[0][0] not in (None, *leaves):
        first = first.next_functions[0][0]
    if first is None:
        return Story()
    if first in unknown:
        first = _likeliest(first, unknown, kept)
    if is_leaf_node(first):
        return Story(parameter=first.variable, data=next(iter(data.values()), None))
    if first in data:
        return Story(node=first, data=data[first])
    return Story(node=first, detail=_detail(op_name(first), kept[first]))
