"""einsum. A plan is made once per equation and shapes and kept; running it is a short list of tensor ops.

Operands are contracted from left to right. To multiply a and b, each label is one of: batch (in both, still needed), summed (in both, not
needed any more), or free (in one). Both become [batch, free, summed] matrices by permute and reshape, and one (batched) product does the
rest. Labels that nobody else has and the result does not want are summed before. A label of size 1 that is larger elsewhere broadcasts: it
is dropped.
"""

from __future__ import annotations

import functools
import string
from math import prod
from typing import Any

import retrograd as torch
from retrograd import Tensor

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def einsum(*args: Any) -> Tensor:
    """Sums of products in Einstein's notation.

    einsum("ij,jk->ik", a, b), or with lists of integers: einsum(a, [0, 1], b, [1, 2], [0, 2]).
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or operands that each have their subscripts list"
        )
    operands: Any
    if isinstance(args[0], torch.Tensor):
        equation, operands = _from_sublists(args)
    else:
        equation, operands = args[0], args[1:]
        if not isinstance(equation, str):
            raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = operands[0]
    return _run(_plan(equation, tuple([t.shape for t in operands])), list(operands))


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, tuple[Tensor, ...]]:
    """The equation that (operand, subscripts, operand, subscripts, ..., output subscripts) means."""

    def text(subscripts):
        out = ""
        for s in subscripts:
            if s is Ellipsis:
                out += "..."
            elif 0 <= s < len(_LETTERS):
                out += _LETTERS[s]
            else:
                raise ValueError(f"einsum(): subscript in subscript list is not within the valid range [0, {len(_LETTERS)})")
        return out

    pairs = len(args) // 2
    equation = ",".join(text(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, args[: 2 * pairs : 2]


def _labels(term: str, start: int, ndim: int, operand: int) -> list:
    """The labels of one operand; the dims under an ellipsis are numbered from -1 (the last) down."""
    out: list = []
    i = 0
    while i < len(term):
        c = term[i]
        if c == ".":
            if term[i : i + 3] != "..." or "ellipsis" in out:
                raise RuntimeError(f"einsum(): found '.' for operand {operand} that is not part of any ellipsis")
            out.append("ellipsis")
            i += 3
            continue
        if c not in _LETTERS:
            if c != " ":
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {start + i} in the equation string, subscripts must be in [a-zA-Z]"
                )
        else:
            out.append(c)
        i += 1
    count = len(out) - ("ellipsis" in out)
    if "ellipsis" in out:
        if count > ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({count}) is more than the number of dimensions ({ndim}) for "
                f"operand {operand}"
            )
        at = out.index("ellipsis")
        out[at : at + 1] = range(count - ndim, 0)
    elif count != ndim:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({count}) does not match the number of dimensions ({ndim}) for "
            f"operand {operand} and no ellipsis was given"
        )
    return out


def _parse(equation: str, shapes) -> tuple[list[list], list]:
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) < len(shapes):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(terms) > len(shapes):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    inputs, start = [], 0
    for n, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        inputs.append(_labels(term, start, len(shape), n))
        start += len(term) + 1
    known = {x for labels in inputs for x in labels}
    covered = sorted(x for x in known if isinstance(x, int))
    if not arrow:
        seen = [x for labels in inputs for x in labels if isinstance(x, str)]
        return inputs, covered + sorted(x for x in known if isinstance(x, str) and seen.count(x) == 1)
    output: list = []
    i = 0
    while i < len(right):
        c = right[i]
        if right[i : i + 3] == "...":
            output += covered
            i += 3
            continue
        if c in _LETTERS:
            if c in output:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
            if c not in known:
                raise RuntimeError(f"einsum(): output subscript {c} does not appear in the equation for any input operand")
            output.append(c)
        elif c != " ":
            where = len(left) + len(arrow) + i
            raise RuntimeError(f"einsum(): invalid subscript given at index {where} in the equation string, subscripts must be in [a-zA-Z]")
        i += 1
    return inputs, output


def _sizes(inputs, shapes) -> dict:
    sizes: dict = {}
    for n, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        own: dict = {}
        for label, size in zip(labels, shape, strict=True):
            if own.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {n} but the sizes don't match, {size} != {own[label]}"
                )
        for label, size in own.items():
            before = sizes.get(label, 1)
            if 1 not in (before, size) and before != size:
                if isinstance(label, int):
                    raise RuntimeError(
                        f"einsum(): dimension {len([x for x in labels if isinstance(x, int)]) + label} covered by ellipsis in "
                        f"operand {n} has size {size} "
                        f"which does not broadcast with previously seen ellipsis with size {before} for the respective dimension"
                    )
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {n} which does not broadcast with previously seen "
                    f"size {before}"
                )
            sizes[label] = size if before == 1 else before
    return sizes


@functools.lru_cache(maxsize=4096)
def _plan(equation: str, shapes) -> list:
    """Steps (function, slot, the other slot or -1, arguments) for _run."""
    parsed, output = _parse(equation, shapes)
    sizes = _sizes(parsed, shapes)
    inputs = [list(labels) for labels in parsed]
    steps: list = []
    for n, shape in enumerate(shapes):
        labels = inputs[n]
        for label in dict.fromkeys(labels):  # a repeated label is a diagonal
            while labels.count(label) > 1:
                i, j = [k for k, x in enumerate(labels) if x == label][:2]
                steps.append(("diagonal", n, i, j))
                del labels[j], labels[i]
                labels.append(label)
        own = dict(zip(parsed[n], shape, strict=True))
        for k in reversed(range(len(labels))):
            if own[labels[k]] == 1 and sizes[labels[k]] != 1:
                steps.append(("squeeze", n, k))
                del labels[k]

    def sum_out(n, later):
        """Sums labels of operand n that neither the result nor anyone later has."""
        gone = tuple(k for k, x in enumerate(inputs[n]) if x not in output and x not in later)
        if gone:
            steps.append(("sum", n, gone))
            inputs[n] = [x for k, x in enumerate(inputs[n]) if k not in gone]

    for n in range(1, len(inputs)):
        rest = {x for labels in inputs[n + 1 :] for x in labels}
        sum_out(0, rest | set(inputs[n]))
        sum_out(n, rest | set(inputs[0]))
        inputs[0] = _pair(steps, inputs[0], inputs[n], n, set(output) | rest, sizes)
    sum_out(0, set())
    labels = inputs[0]
    order = [labels.index(x) for x in output if x in labels]
    if order != list(range(len(order))) or not any(step[0] in ("sum", "mm", "bmm", "mul") for step in steps):
        steps.append(("permute", 0, order))
    if len(inputs) > 1:  # as in PyTorch, the last node is a view's
        if steps[-1][0] == "reshape" and steps[-1][1] == 0:
            del steps[-1]
        steps.append(("view", 0, [sizes[x] for x in output]))
    return [
        (_STEPS[name], n, rest[0], ())
        if name in ("mm", "bmm", "mul")
        else (_STEPS[name], n, -1, (0, *rest) if name == "diagonal" else rest)
        for name, n, *rest in steps
    ]


def _pair(steps, a, b, n, wanted, sizes) -> list:
    """Adds the steps of operand 0 times operand n, and gives the labels of the product."""
    shared = [x for x in a if x in b]
    batch = [x for x in shared if x in wanted]
    summed = [x for x in shared if x not in wanted]
    free_a, free_b = [x for x in a if x not in b], [x for x in b if x not in a]

    def size(labels):
        return prod(sizes[x] for x in labels)

    def arrange(n, labels, order, shape):
        places = [labels.index(x) for x in order]
        if places != list(range(len(places))):
            steps.append(("permute", n, places))
        if [sizes[x] for x in order] != shape:
            steps.append(("reshape", n, shape))

    if not summed:  # no sum: an elementwise product with broadcasting
        arrange(0, a, batch + free_a, [sizes[x] for x in batch + free_a] + [1] * len(free_b))
        arrange(n, b, batch + free_b, [sizes[x] for x in batch] + [1] * len(free_a) + [sizes[x] for x in free_b])
        steps.append(("mul", 0, n))
        return batch + free_a + free_b
    head = [size(batch)] if batch else []
    arrange(0, a, batch + free_a + summed, [*head, size(free_a), size(summed)])
    arrange(n, b, batch + summed + free_b, [*head, size(summed), size(free_b)])
    steps.append(("bmm" if batch else "mm", 0, n))
    result = batch + free_a + free_b
    if [sizes[x] for x in result] != [*head, size(free_a), size(free_b)]:
        steps.append(("reshape", 0, [sizes[x] for x in result]))
    return result


_STEPS = {name: getattr(torch.Tensor, name) for name in ("reshape", "view", "permute", "sum", "squeeze", "diagonal", "mm", "bmm", "mul")}


def _run(steps: list, t: list[Tensor]) -> Tensor:
    for f, n, other, rest in steps:
        t[n] = f(t[n], *rest) if other < 0 else f(t[n], t[other])
    return t[0]
