"""How an op runs on a batch: the handler of a vmap level, and the table of rules.

A tensor that is batched at a level looks to the program like one example; its physical value has the whole batch, always along dimension 0
here. An op that meets one calls the handler of the level, which takes the physical values out and runs the rule that the entry of the op
names (`batching`, see optable/facts.py):

    @rule("trace")
    def _trace(batch, op, values, batched): ...

`values` are the arguments of the op with physical tensors, `batched` says for each of them whether it has the batch dimension (for a list of
tensors a list). A rule returns physical results, all with the batch at dimension 0. It runs below its level: what it calls are ordinary
ops on ordinary tensors, or on tensors of the vmap outside. Rules that serve many ops are made for each, from what the entry says to them:

    @maker("sized")
    def _sized(op, size, *dims): return run
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

_ops = _C._ops
_unwrap, _make = _C._unwrap_batched, _C._make_batched

Values = list[Any]
Flags = list[Any]  # bool, or list[bool] for a list of tensors
Rule = Callable[["Batch", Any, Values, Flags], Any]

_rules: dict[str, Rule] = {}
_makers: dict[str, Callable[..., Rule]] = {}


def rule(name: str) -> Callable[[Any], Any]:
    """Registers a rule."""
    return _registers(_rules, name)


def maker(name: str) -> Callable[[Any], Any]:
    """Registers maker(op, *words): it makes the rule of an op when the op is first met."""
    return _registers(_makers, name)


def _registers(table: dict[str, Any], name: str) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        if name in _rules or name in _makers:
            raise ValueError(f"there are two batching rules {name!r}")
        table[name] = function
        return function

    return register


def batching_rule(op: Any) -> Rule:
    """The rule that the entry of an op names."""
    from retrograd.func import _batching_rules  # noqa: F401  (fills the tables)

    name, *words = op.batching
    if name in _makers:
        return _makers[name](op, *words)
    if name not in _rules or words:
        raise NotImplementedError(f"vmap: the op table names the batching rule {op.batching} for {op.name}, which does not exist")
    return _rules[name]


def place(op: Any, name: str) -> int:
    """Which argument of the op has this name."""
    return [p.name for p in op.parameters].index(name)


def writes_first(op: Any) -> bool:
    """Whether it is an in-place form: what it writes is its result."""
    return bool(op.mutates) and op.mutates[0] == op.parameters[0].name


def tensor_places(op: Any) -> tuple[int, ...]:
    return tuple(i for i, p in enumerate(op.parameters) if p.type in ("Tensor", "Tensor?", "Operand"))


def list_places(op: Any) -> tuple[int, ...]:
    return tuple(i for i, p in enumerate(op.parameters) if p.type in ("Tensor[]", "Tensor?[]"))


Runner = Callable[["Batch", Any, tuple[Any, ...]], Any]

_runners: dict[Any, Runner] = {}


def _runner_of(op: Any) -> Runner:
    """What the handler does for an op; made when it is first seen."""
    tensors, lists = tensor_places(op), list_places(op)
    run = _general_runner(batching_rule(op), op, tensors, lists)
    if op.batching == ("elementwise",) and not op.mutates and len(tensors) <= 2:
        run = _unary_runner(tensors[0]) if len(tensors) == 1 else _binary_runner(tensors, run)
    _runners[op] = run
    return run


def _general_runner(function: Rule, op: Any, tensors: tuple[int, ...], lists: tuple[int, ...]) -> Runner:
    random, inplace = op.random, writes_first(op)
    logical = op.batching == ("as_strided",)  # its rule asks for the first argument as the program sees it

    def run(batch: Batch, op: Any, args: tuple[Any, ...]) -> Any:
        level = batch.level
        values: Values = list(args)
        batched: Flags = [False] * len(values)
        any_batched = False
        for i in tensors:
            value = args[i]
            if isinstance(value, Tensor) and (pair := _unwrap(value, level)) is not None:
                values[i] = pair[0]
                if pair[1] is not None:
                    batched[i] = any_batched = True
                    if pair[1]:
                        values[i] = pair[0].movedim(pair[1], 0)
        for i in lists:
            values[i], batched[i] = batch.open_list(args[i])
            any_batched = any_batched or True in batched[i]
        if inplace:
            if any_batched and not batched[0]:
                raise RuntimeError(_unbatched_self(op))
            (function if any_batched or random else _plain)(batch, op, values, batched)
            return args[0]
        if random:
            return function(batch, op, values, batched)
        if not any_batched:
            result = op(*values)
            return args[0] if result is values[0] else batch.close(result, None)
        if logical:
            values.append(args[0])
        result = function(batch, op, values, batched)
        return args[0] if result is values[0] else batch.close(result)

    return run


def _unary_runner(place: int) -> Runner:
    """One tensor, whose elements stay where they are: the batch too."""

    def run(batch: Batch, op: Any, args: tuple[Any, ...]) -> Any:
        value, dim = _unwrap(args[place], batch.level)
        result = op(value, *args[1:]) if place == 0 else op(*args[:place], value, *args[place + 1 :])
        return _make(result, dim, batch.level)

    return run


def _binary_runner(places: tuple[int, ...], general: Runner) -> Runner:
    """Two tensors of one rank, a batched one and a smaller one, or a tensor and a number, need no preparation."""
    if places != (0, 1):
        return general

    def run(batch: Batch, op: Any, args: tuple[Any, ...]) -> Any:
        level = batch.level
        first, second = _unwrap(args[0], level), _unwrap(args[1], level)
        if second is None and not isinstance(args[1], Tensor):
            return _make(op(first[0], *args[1:]), first[1], level)
        a, a_dim = (args[0], None) if first is None else first
        b, b_dim = (args[1], None) if second is None else second
        if isinstance(a, Tensor) and a.dtype is b.dtype:
            if a_dim == 0 and b_dim == 0:
                fits = a.ndim == b.ndim
            elif a_dim == 0:
                fits = b_dim is None and a.ndim > b.ndim
            else:
                fits = b_dim == 0 and a_dim is None and b.ndim > a.ndim
            if fits:
                return _make(op(a, b, *args[2:]), 0, level)
        return general(batch, op, args)

    return run


class Batch:
    """One vmap level: its number, the size of its batch, and what it says about randomness. Called for each op that meets the level."""

    __slots__ = ("level", "randomness", "size")

    def __init__(self, level: int, size: int, randomness: str = "error") -> None:
        self.level = level
        self.size = size
        self.randomness = randomness

    def __call__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return (_runners.get(op) or _runner_of(op))(self, op, args)

    def open_list(self, items: Sequence[Any]) -> tuple[list[Any], list[bool]]:
        pairs = [self.open(item) for item in items]
        return [p[0] for p in pairs], [p[1] for p in pairs]

    def open(self, value: Any) -> tuple[Any, bool]:
        """(the physical value, whether it has the batch at dimension 0)."""
        pair = _unwrap(value, self.level) if isinstance(value, Tensor) else None
        if pair is None:
            return value, False
        if pair[1]:
            return pair[0].movedim(pair[1], 0), True
        return pair[0], pair[1] is not None

    def close(self, result: Any, bdim: int | None = 0) -> Any:
        """Physical results as tensors of the level."""
        if isinstance(result, Tensor):
            return _make(result, bdim, self.level)
        if isinstance(result, (tuple, list)):
            return [self.close(r, bdim) for r in result]
        return result

    def full(self, value: Tensor, batched: bool) -> Tensor:
        """The value with the batch dimension, expanded where it had none."""
        return value if batched else value.expand(self.size, *value.shape)


@rule("parts")
@rule("nothing")
def _plain(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    """The op itself."""
    return op(*values)


@maker("leading")
def _leading(op: Any, least: str) -> Rule:
    """For an op that takes leading dimensions as a batch already, on examples of at least so many dimensions."""
    if least == "0":
        return _plain
    enough = int(least) + 1

    def run(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
        return op(*values) if values[0].ndim >= enough else loop(batch, op, values, batched)

    return run


def _unbatched_self(op: Any) -> str:
    name = op.vmap_name or f"aten::{op.name.partition('.')[0]}"
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements "
        "than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over: all examples share `self`, "
        f"which has no room for their results. Use the out-of-place form of {name}."
    )


# -- one example after the other ------------------------------------------------------------------


def _example(value: Any, batched: Any, i: int) -> Any:
    if isinstance(value, list):
        return [_example(v, b, i) for v, b in zip(value, batched, strict=True)]
    return value.select(0, i) if batched is True else value


def _imagined(value: Any, batched: Any) -> Any:
    """An example where there is none: zeros of its shape."""
    if isinstance(value, list):
        return [_imagined(v, b) for v, b in zip(value, batched, strict=True)]
    return value.new_zeros(value.shape[1:]) if batched is True else value


def _stack(rows: list[Any]) -> Any:
    if isinstance(rows[0], Tensor):
        return _ops.stack(rows)
    if isinstance(rows[0], (tuple, list)):
        return [_stack(list(column)) for column in zip(*rows, strict=True)]
    if rows[0] is None:  # a result that was not asked for
        return None
    raise RuntimeError(f"vmap: this op gives a {type(rows[0]).__name__} for each example, which cannot be batched")


def _none(result: Any) -> Any:
    if isinstance(result, Tensor):
        return result.new_empty((0, *result.shape))
    return None if result is None else [_none(r) for r in result]


def loop(batch: Batch, op: Any, values: Values, batched: Flags) -> Any:
    """Runs an op for each example and stacks the results."""
    rows = [op(*(_example(v, b, i) for v, b in zip(values, batched, strict=True))) for i in range(batch.size)]
    if writes_first(op):
        return values[0]
    if not rows:
        return _none(op(*(_imagined(v, b) for v, b in zip(values, batched, strict=True))))
    return _stack(rows)


# -- what rules share -----------------------------------------------------------------------------


def rank(value: Tensor, batched: bool) -> int:
    """How many dimensions an example has."""
    return value.ndim - 1 if batched else value.ndim


def wrap_dim(dim: int, ndim: int) -> int:
    """The physical dimension of dimension `dim` of an example with `ndim` of them."""
    if dim < 0:
        dim += ndim
        if dim < 0:
            raise _out_of_range(dim - ndim, ndim)
    elif dim >= ndim:
        raise _out_of_range(dim, ndim)
    return dim + 1


def _out_of_range(dim: int, ndim: int) -> IndexError:
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")


def wrap_dims(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    return tuple([wrap_dim(d, ndim) for d in dims])


def padded(value: Tensor, ndim: int) -> Tensor:
    """A batched value whose examples get leading dimensions of size 1, up to `ndim`."""
    missing = ndim + 1 - value.ndim
    if missing <= 0:
        return value
    shape = value.shape
    return value.view((shape[0], *(1,) * missing, *shape[1:]))


def examples_like(values: Sequence[Tensor], batched: Sequence[bool]) -> list[Tensor]:
    """Tensors that broadcast against each other by example: batched ones are padded to the largest rank among all."""
    ndim = max([v.ndim - b for v, b in zip(values, batched, strict=True)])
    return [padded(v, ndim) if b else v for v, b in zip(values, batched, strict=True)]


rule("loop")(loop)
