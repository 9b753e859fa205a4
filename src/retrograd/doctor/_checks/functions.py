"""custom_function_wrong_gradient: a Function whose backward disagrees with its forward, or that keeps its inputs or outputs on ctx.

The gradient is compared in one random direction for each input, in float64, once per class; on first use in strict mode and under check_functions(), and otherwise when the inputs are
small. To that end forward runs a few more times, so it must be seen to have no side effects: its code stores nothing outside, draws nothing, prints nothing, and gives the same twice.

Estimators are left alone: a forward that gives back its input (gradient reversal, scaling, clipping), and one that is constant in pieces (sign, round, a threshold). Where only some elements
of the output stand still (a clamp whose backward lets everything pass), only the others are compared.
"""

from __future__ import annotations

import ast
import dis
import inspect
import itertools
import weakref
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from retrograd import _C
from retrograd.doctor import _findings
from retrograd.doctor._findings import Finding, tell
from retrograd.doctor._places import Place, of_backward, tree_of
from retrograd.doctor._watch import Check

SMALL, MIDDLE, LARGE = (
    20_000,
    200_000,
    1_000_000,
)  # elements of all inputs together: by default for each of the first uses, and for one, and where it is asked for
TOLERANCE = 0.01
_STEPS = (1e-5, 1e-6)
_PLACES, _HALVINGS = 48, 30


class WrongFunctions(Check):
    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._checked: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()  # how often each class was looked at

    def function(self, cls: Any, args: tuple[Any, ...], ctx: Any, results: tuple[Any, ...]) -> None:
        if cls.__module__.partition(".")[0] == "retrograd":
            return
        times = self._checked.get(cls, 0)
        if times >= 3:
            return
        self._checked[cls] = times + 1
        if self._kept_on_ctx(cls, args, ctx, results):
            return
        thorough = _findings.settings.strict or _findings.settings.check_functions
        elements = sum(a.numel() for a in args if isinstance(a, _C.Tensor))
        hooked = _C._top_saved_tensors_hooks() is not None
        if elements > SMALL:
            self._checked[cls] = 3
        if elements <= (LARGE if thorough else MIDDLE) and not hooked and _is_pure(cls):
            wrong = _compare(cls, args)
            if wrong is not None:
                self._checked[cls] = 3
                _tell_wrong(cls, *wrong)

    def _kept_on_ctx(self, cls: Any, args: tuple[Any, ...], ctx: Any, results: tuple[Any, ...]) -> bool:
        for name, value in list(vars(ctx).items()):
            if name == "saved_for_forward":
                continue
            for held in value if isinstance(value, tuple | list) else value.values() if isinstance(value, dict) else (value,):
                if not isinstance(held, _C.Tensor):
                    continue
                is_output = any(held is result for result in results)
                if not is_output and not (held.requires_grad and any(held is a for a in args)):
                    continue
                place = _assignment(cls, name)
                role = "output" if is_output else "input"
                cycle = "an output holds its graph, and the graph its ctx: a cycle that only the garbage collector frees" if is_output else (
                    "it stays in memory as long as the graph does, also after backward() has freed what is saved"
                )  # fmt: skip
                tell(
                    Finding(
                        "custom_function_wrong_gradient",
                        f"{cls.__name__} keeps an {role}, a tensor of shape {tuple(held.shape)}, as ctx.{name}.",
                        place,
                        f"Kept like that, {cycle}; and a write to it before backward() goes unnoticed.",
                        f"ctx.save_for_backward(...) in forward, and take it from ctx.saved_tensors in backward, in place of ctx.{name}",
                    )
                )
                return True
        return False


def _tell_wrong(cls: Any, index: int, expected: float, given: float | None) -> None:
    shown = "None" if given is None else f"{given:.6g}"
    tell(
        Finding(
            "custom_function_wrong_gradient",
            f"The backward of {cls.__name__} disagrees with its forward: along a random direction of input {index} the output changes by "
            f"{expected:.6g}, and the gradient says {shown}.",
            of_backward(cls),
            "Training follows this gradient, and what it finds is not a minimum of the loss.",
            f"correct the gradient for input {index}; torch.autograd.gradcheck({cls.__name__}.apply, inputs in float64) shows it element by element",
        )
    )


# -- the comparison -------------------------------------------------------------------


def _compare(cls: Any, args: tuple[Any, ...]) -> tuple[int, float, float | None] | None:
    """(input, what the forward says, what the backward says) where they disagree."""
    from retrograd.random import get_rng_state, set_rng_state

    state, anomaly, dtype = get_rng_state(), _C._anomaly(), _C.get_default_dtype()
    _C._set_anomaly(False, True)  # what is wrong with numbers of our own is not to be told
    try:
        _C.set_default_dtype(_C.float64)  # for what the functions make by themselves, such as torch.ones(n)
        with _C.enable_grad():
            wrong = _compare_in_directions(cls, args, _noise)
            # A backward may rely on matrices that it knows to be symmetric or triangular: it is asked again with those that stay so.
            if wrong is not None and any(_structure(a) for a in args if isinstance(a, _C.Tensor)):
                wrong = _compare_in_directions(cls, args, _noise_of_its_kind)
            return wrong
    except (
        Exception
    ):  # of the user's code: it does not take float64, or not these values, or is not meant to work; the program will say so itself
        return None
    finally:
        _C.set_default_dtype(dtype)
        _C._set_anomaly(*anomaly)
        set_rng_state(state)


def _noise(t: Any, generator: Any) -> Any:
    return _C._ops.randn(tuple(t.shape), dtype=_C.float64, generator=generator)


def _noise_of_its_kind(t: Any, generator: Any) -> Any:
    noise, kind = _noise(t, generator), _structure(t)
    return noise + noise.mT if kind == "symmetric" else noise.tril() if kind == "lower" else noise.triu() if kind == "upper" else noise


def _structure(t: Any) -> str:
    """ "symmetric", "lower" or "upper" for matrices that are. Diagonal ones are symmetric: that by accident, as of weights that begin as zeros, ends with the first step."""
    if t.dim() < 2 or t.size(-1) != t.size(-2) or not t.is_floating_point():
        return ""
    t = t.detach().double()
    if t.numel() == 0 or bool(((t - t.mT).abs() <= 1e-5 * t.abs().max()).all()):
        return "symmetric"
    return "lower" if not t.triu(1).any() else "upper" if not t.tril(-1).any() else ""


def _compare_in_directions(
    cls: Any, args: tuple[Any, ...], noise_like: Callable[[Any, Any], Any]
) -> tuple[int, float, float | None] | None:
    generator = _C.Generator()
    generator.manual_seed(20)

    def noise(t: Any) -> Any:
        return noise_like(t, generator)

    moving = [i for i, a in enumerate(args) if isinstance(a, _C.Tensor) and a.requires_grad and a.is_floating_point()]
    if not moving or any(isinstance(a, _C.Tensor) and (a.is_complex() or a.layout != _C.strided) for a in args):
        return None
    if any(callable(a) for a in args):
        return None  # what is called cannot be seen
    base = [a.detach().double().clone() if isinstance(a, _C.Tensor) and a.is_floating_point() else a for a in args]
    for i in moving:  # away from zeros and other corners, where there is no derivative
        base[i] = base[i] * (1 + 1e-3 * noise(base[i])) + 1e-4 * noise(base[i])

    def forward(values: list[Any]) -> list[Any]:
        with _C.no_grad():
            return [o.detach() for o in _outputs(cls, [v.clone() if isinstance(v, _C.Tensor) else v for v in values])]

    start = forward(base)
    if not all(_same(a, b) for a, b in zip(start, forward(base), strict=True)) or not all(bool(o.isfinite().all()) for o in start):
        return None
    inputs = [v for v in base if isinstance(v, _C.Tensor)]
    if start and all(any(o.shape == v.shape and _same(o, v) for v in inputs) for o in start):
        return None  # what goes in comes out: the gradient is the point
    weights = [noise(o) if given else o.new_zeros(o.shape) for o, given in zip(start, _differentiable(cls, base, moving), strict=True)]
    wrong = None
    for i in moving:
        direction = noise(base[i])
        slopes = _slopes(forward, base, i, direction, start)
        if slopes is None:
            continue
        # What stands still may have a gradient on purpose. With the signs of the slopes what is wrong adds up, and does not average out over many elements.
        seeds = [w.abs() * s.sign() for w, s in zip(weights, slopes, strict=True)]
        if not any(bool(w.any()) for w in seeds):
            if _analytic(cls, base, i, weights, direction):
                return (
                    None  # it stands still and has a gradient: an estimator, and what it gives for its other inputs may be a part of that
                )
            continue
        given = _analytic(cls, base, i, seeds, direction)
        expected = sum(float((s * w).sum()) for s, w in zip(slopes, seeds, strict=True))
        scale = sum(float((s * w).abs().sum()) for s, w in zip(slopes, seeds, strict=True))
        if wrong is None and abs((given or 0.0) - expected) > TOLERANCE * max(scale, abs(given or 0.0)):
            wrong = i, expected, given
    rounds = any(set(code.co_names) & _ROUNDS for code in _codes(inspect.unwrap(cls.forward).__code__))
    if wrong is not None and rounds and any(_jumps(forward, base, i, start) for i in moving):
        return None  # an estimator
    return wrong


def _jumps(forward: Callable[[list[Any]], list[Any]], base: list[Any], i: int, start: list[Any]) -> bool:
    """Whether what rounds shows: outputs jump while one input is moved over zero and as far again. What is continuous, such as sign(x) * sqrt(abs(x)), has no need of an estimator."""
    reach = 2 * float(base[i].abs().max()) + 1e-3

    def at(place: float) -> list[Any] | None:
        out = forward([*base[:i], base[i] + place * reach, *base[i + 1 :]])
        return out if [o.shape for o in out] == [o.shape for o in start] and all(bool(o.isfinite().all()) for o in out) else None

    def change(a: list[Any], b: list[Any]) -> float:
        return max(float((x - y).abs().max()) for x, y in zip(a, b, strict=True) if x.numel())

    places = [-1 + 2 * (k + 0.37) / _PLACES for k in range(_PLACES)]
    points = [(place, out) for place in places if (out := at(place)) is not None]
    pairs = sorted(itertools.pairwise(points), key=lambda pair: -change(pair[0][1], pair[1][1]))
    for (low, below), (high, above) in pairs[:3]:
        before = change(below, above)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            out = at(middle)
            if out is None:
                return True
            if change(below, out) > change(out, above):
                high, above = middle, out
            else:
                low, below = middle, out
        if change(below, above) > 1e-3 * before > 0:
            return True
    return False


def _outputs(cls: Any, values: list[Any]) -> list[Any]:
    out = cls.apply(*values)
    return [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, _C.Tensor) and o.is_floating_point()]


def _differentiable(cls: Any, base: list[Any], moving: list[int]) -> list[bool]:
    """Which outputs have gradients, where all inputs that may want them do: the others were marked with mark_non_differentiable()."""
    values = [v.clone() if isinstance(v, _C.Tensor) else v for v in base]
    for i in moving:
        values[i] = base[i].clone().requires_grad_().clone()
    return [o.requires_grad for o in _outputs(cls, values)]


def _slopes(forward: Callable[[list[Any]], list[Any]], base: list[Any], i: int, direction: Any, start: list[Any]) -> list[Any] | None:
    """How the outputs change along a direction of one input; None at a corner, or where there is no derivative."""
    found: list[list[Any]] = []
    for step in _STEPS:
        up, down = (forward([*base[:i], base[i] + sign * step * direction, *base[i + 1 :]]) for sign in (1, -1))
        if not all(bool(o.isfinite().all()) for o in (*up, *down)) or [o.shape for o in up] != [o.shape for o in start]:
            return None
        found.append([(a - b) / (2 * step) for a, b in zip(up, down, strict=True)])
    one_sided = [(a - c) / _STEPS[-1] for a, c in zip(up, start, strict=True)]
    smooth = all(_near(a, b, 1e-3) and _near(b, c, 1e-2) for a, b, c in zip(*found, one_sided, strict=True))
    return found[0] if smooth else None


def _analytic(cls: Any, base: list[Any], i: int, seeds: list[Any], direction: Any) -> float | None:
    from retrograd import autograd

    leaf = base[i].clone().requires_grad_()
    values = [v.clone() if isinstance(v, _C.Tensor) else v for v in base]
    values[i] = leaf.clone()  # a copy: forward may write in place
    pairs = [(o, w) for o, w in zip(_outputs(cls, values), seeds, strict=True) if o.requires_grad]
    if not pairs:
        return 0.0
    (grad,) = autograd.grad([o for o, _ in pairs], [leaf], [w.clone() for _, w in pairs], allow_unused=True)  # backward may write to them
    return None if grad is None else float((grad * direction).sum())


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and bool((a == b).all())


def _near(a: Any, b: Any, tolerance: float) -> bool:
    return bool(((a - b).abs() <= tolerance * (a.abs().max() + b.abs().max()) + 1e-9).all()) if a.numel() else True


# -- what can be read from its code ------------------------------------------------------

_DRAWS = {"rand", "randn", "randint", "randperm", "bernoulli", "bernoulli_", "multinomial", "normal", "normal_", "uniform_", "dropout", "rand_like", "randn_like", "random", "gauss", "uniform",
          "choice", "shuffle", "exponential_", "rrelu", "poisson", "gumbel_softmax"}  # fmt: skip
_SPEAKS = {"print", "open", "input", "write", "log", "info", "debug", "warning", "warn", "exec", "eval", "sleep"}
_WRITES = {"backward", "accumulate_grad", "zero_grad", "step", "load_state_dict"}  # to what outlives the call
_ROUNDS = {"round", "round_", "sign", "sign_", "floor", "floor_", "ceil", "ceil_", "trunc", "argmax", "argmin", "heaviside", "topk",
           "int8", "uint8", "int16", "int32", "short", "char", "byte", "quantize_per_tensor", "quantize_per_channel"}  # fmt: skip
_FORBIDDEN = {"STORE_GLOBAL", "DELETE_GLOBAL", "DELETE_ATTR", "IMPORT_STAR"}


def _functions(cls: Any) -> Iterator[FunctionType]:
    from retrograd.autograd import Function

    for name in ("forward", "setup_context", "backward", "vjp"):
        function = getattr(cls, name)
        if function is not getattr(Function, name):
            function = inspect.unwrap(function)
            if isinstance(function, FunctionType):
                yield function


def _is_pure(cls: Any) -> bool:
    found = list(_functions(cls))
    return bool(found) and all(_function_is_pure(function, set()) for function in found)


def _function_is_pure(function: FunctionType, seen: set[Any]) -> bool:
    if function in seen:
        return True
    seen.add(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    return all(_code_is_pure(code, function, cells, seen) for code in _codes(function.__code__))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code_is_pure(code: CodeType, function: FunctionType, cells: dict[str, Any], seen: set[Any]) -> bool:
    first = code.co_varnames[0] if code.co_argcount else ""
    before = ""
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _FORBIDDEN or (name == "STORE_DEREF" and instruction.argval in code.co_freevars):
            return False
        if name == "STORE_ATTR" and before != first:
            return False
        before = str(instruction.argval) if name.startswith("LOAD_FAST") else ""
    names = set(code.co_names)
    if names & (_DRAWS | _WRITES) or (names & _SPEAKS and not _only_maths(names & _SPEAKS, function)):
        return False
    for name in names | set(code.co_freevars):
        value = function.__globals__.get(name)
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:  # not set yet
                return False
        if isinstance(value, _C.Tensor) and (value.requires_grad or any(n.endswith("_") and not n.startswith("_") for n in names)):
            return False  # it would be written to, or, where it is returned, become the output of another node
        if isinstance(value, list | dict | set | bytearray) or type(value).__name__ == "deque" or hasattr(value, "named_parameters"):
            return False
        if isinstance(value, type) and (names & {"append", "update", "extend"} or not _class_is_pure(value, seen)):
            return False
        if callable(value) and not isinstance(value, FunctionType | BuiltinFunctionType | type | _C.Tensor):
            return False  # a method or an object that is called: what it does is not seen
        if isinstance(value, FunctionType) and value.__module__.partition(".")[0] != "retrograd" and not _function_is_pure(value, seen):
            return False
    return True


def _class_is_pure(cls: type, seen: set[Any]) -> bool:
    """Of another Function, which may be applied; nothing is known of other classes that programs define."""
    from retrograd.autograd import Function

    if cls.__module__.partition(".")[0] in ("builtins", "retrograd"):
        return True
    return issubclass(cls, Function) and all(_function_is_pure(function, seen) for function in _functions(cls))


def _only_maths(names: set[str], function: FunctionType) -> bool:
    """log is a logarithm where nothing is called logger."""
    roots: list[Callable[..., Any] | ModuleType | Any] = [v for v in function.__globals__.values() if type(v).__name__ == "Logger"]
    return names <= {"log"} and not roots


def _assignment(cls: Any, attribute: str) -> Place | None:
    """Where forward sets an attribute of ctx."""
    for function in _functions(cls):
        code = function.__code__
        tree = tree_of(code.co_filename)
        for node in ast.walk(tree) if tree is not None else ():
            if (
                not isinstance(node, ast.FunctionDef)
                or node.name != function.__name__
                or not node.lineno - 3 <= code.co_firstlineno <= node.lineno
            ):
                continue
            for statement in ast.walk(node):
                if isinstance(statement, ast.Attribute) and statement.attr == attribute and isinstance(statement.ctx, ast.Store):
                    return Place(code.co_filename, statement.lineno, code.co_qualname)
        return_line = Place(code.co_filename, code.co_firstlineno, code.co_qualname)
        if attribute in code.co_names:
            return return_line
    return None
