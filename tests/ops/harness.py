"""Runs the samples of the op table on either engine and compares what they give.

A sample (see optable/samples.py) is data; a case (cases.py) gives it numbers, the same ones for retrograd and for PyTorch. `call` finds the
function, `run` writes down everything worth comparing: values, dtypes, shapes, strides, graph node and first gradients.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import optable
from tests.ops.cases import Case
from tests.ops.tensors import COMPLEX, INEXACT, flatten, half, paired, seed_of, tensor_numbers

TORCH_NAMES = {"nll_loss": "nll_loss_nd"}  # where PyTorch's function of the entry's name takes fewer inputs


def _index(x: Any, indices: list[Any]) -> Any:
    return x[tuple(slice(None) if i is None else i for i in indices)]


# Entries that are no functions in Python, and how they are spelled there.
SPELLED = {
    "numpy_T": lambda x: x.T,
    "matrix_H": lambda x: x.H,
    "mT": lambda x: x.mT,
    "mH": lambda x: x.mH,
    "index": _index,
}

# ---- functions ----


def variants_of(entry: optable.Op) -> list[str]:
    """How the entry is reached from Python, the main way first."""
    if entry.name in SPELLED:
        return ["spelled"]
    return [v for v in ("function", "method", "inplace") if v in entry.variants]


def _function(engine: Any, name: str) -> Callable[..., Any] | None:
    homes = [engine]
    if engine.__name__ == "torch":
        name = TORCH_NAMES.get(name, name)
        homes += [engine._C._nn, engine._C._special, engine._C._linalg, engine._C._fft, engine.ops.aten]
    else:
        homes.append(engine._C._ops)  # what PyTorch keeps out of its top level
    for home in homes:
        if hasattr(home, name):
            return getattr(home, name)
    return None


def inplace_function(engine: Any, entry: optable.Op) -> Callable[..., Any] | None:
    """`Tensor.x_`, or the function of that name for activations, which are no methods."""
    return getattr(engine.Tensor, entry.name + "_", None) or _function(engine, entry.name + "_")


def exists(engine: Any, entry: optable.Op) -> bool:
    variant = variants_of(entry)[0]
    if variant == "function":
        return _function(engine, entry.name) is not None
    if variant == "inplace":
        return inplace_function(engine, entry) is not None
    return variant == "spelled" or hasattr(engine.Tensor, entry.name)


def call(engine: Any, entry: optable.Op, args: list[Any], kwargs: dict[str, Any], variant: str = "") -> Any:
    """Calls an entry as function, method, by its spelling or in place (on a clone of the first argument, whose gradient flows through)."""
    variant = variant or variants_of(entry)[0]
    if entry.random:
        engine.manual_seed(1234)
    if variant == "inplace":
        args = [args[0].clone(), *args[1:]]
    return bound(engine, entry, variant)(*args, **kwargs)


def bound(engine: Any, entry: optable.Op, variant: str = "") -> Callable[..., Any]:
    """The function of an entry in one of its variants, or the main one; a method takes the tensor first."""
    variant = variant or variants_of(entry)[0]
    if variant == "function":
        return _function(engine, entry.name)
    if variant == "spelled":
        return SPELLED[entry.name]
    return inplace_function(engine, entry) if variant == "inplace" else getattr(engine.Tensor, entry.name)


# ---- what a run gives ----


@dataclass
class Output:
    """One tensor or number that came back."""

    dtype: str  # "float32", or the Python type of a number
    shape: tuple[int, ...]
    stride: tuple[int, ...] | None  # None where the memory is dense, row by row
    requires_grad: bool
    node: str
    values: list[Any]


@dataclass
class Record:
    error: str  # name of the exception, or ""
    outputs: list[Output]
    grads: list[list[float] | None]
    message: str = ""  # of the exception; not compared


def dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(max(n, 1) for n in shape[i + 1 :]) for i in range(len(shape)))


def _output(engine: Any, value: Any) -> Output:
    if not isinstance(value, engine.Tensor):
        return Output(
            dtype_name(value) if isinstance(value, engine.dtype) else type(value).__name__,
            (),
            None,
            False,
            "",
            [] if value is None or isinstance(value, engine.dtype) else [value],
        )
    shape, stride = tuple(value.shape), tuple(value.stride())
    # Strides of dimensions with one element, or of tensors without any, mean nothing.
    same = 0 in shape or all(n == 1 or a == b for n, a, b in zip(shape, stride, _dense(shape), strict=True))
    node = value.grad_fn.name().rpartition("::")[2] if value.grad_fn is not None else ""
    return Output(dtype_name(value.dtype), shape, None if same else stride, value.requires_grad, node, tensor_numbers(value))


def cotangent(engine: Any, tensor: Any, salt: int = 0) -> Any:
    """A fixed grad_output for an output of that shape: nothing zero, nothing equal."""
    rng = seed_of(f"cotangent {tuple(tensor.shape)} {salt}")
    count = math.prod(tensor.shape) * (2 if tensor.is_complex() else 1)
    values = [half(0.5 + rng.random()) * (1 if rng.random() < 0.5 else -1) for _ in range(count)]
    made = engine.tensor(paired(values) if tensor.is_complex() else values, dtype=tensor.dtype).reshape(tuple(tensor.shape))
    return made.to(tensor.device)


def gradients(engine: Any, outputs: list[Any], inputs: list[Any], salt: int = 0, **options: Any) -> list[Any]:
    """Gradients of the outputs that have any, for fixed grad_outputs."""
    tracked = [(o, cotangent(engine, o, salt + i)) for i, o in enumerate(outputs) if isinstance(o, engine.Tensor) and o.requires_grad]
    if not tracked or not inputs:
        return [None] * len(inputs)
    results, weights = zip(*tracked, strict=True)
    return list(engine.autograd.grad(results, inputs, weights, allow_unused=True, **options))


def run(engine: Any, case: Case, dtype: str = "float64", layout: str = "contiguous", variant: str = "") -> Record:
    """Forward, then backward where there is anything to differentiate."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, kwargs, inputs = (case.as_complex() if dtype in COMPLEX else case).bind(engine, dtype, layout)
            outputs = flatten(call(engine, case.entry, args, kwargs, variant))
            record = Record("", [_output(engine, o) for o in outputs], [])
            record.grads = [None if g is None else tensor_numbers(g) for g in gradients(engine, outputs, inputs)]
    except Exception as error:
        return Record(type(error).__name__, [], [], str(error).partition("\n")[0][:200])
    return record


# ---- comparing ----

TOLERANCE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 4e-3,
    "bfloat16": 4e-2,
}  # relative to the largest number of a tensor


def differing(actual: list[Any], expected: list[Any], tolerance: float) -> str:
    """Says which numbers differ, or nothing. Differences are relative to the larger of each number and a typical one."""
    if len(actual) != len(expected):
        return f"{len(actual)} numbers where {len(expected)} are expected"
    if tolerance == 0:
        wrong = [i for i, (a, b) in enumerate(zip(actual, expected, strict=True)) if a != b and not (a != a and b != b)]
    else:
        scale = min(max(max((abs(b) for b in expected if math.isfinite(b)), default=0.0), 1e-3), 1.0)
        wrong = [i for i, (a, b) in enumerate(zip(actual, expected, strict=True)) if not _close(a, b, tolerance, scale)]
    if not wrong:
        return ""
    shown = ", ".join(f"[{i}] {actual[i]!r} expected {expected[i]!r}" for i in wrong[:3])
    return f"{len(wrong)} of {len(actual)} numbers differ: {shown}"


def _close(a: float, b: float, tolerance: float, scale: float) -> bool:
    if a != a or b != b:
        return a != a and b != b
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(abs(b), scale)


def is_one_node(entry: optable.Op) -> bool:
    """Whether the op is one node of the graph. A composite's last node tells how it was put together, which is nobody's business."""
    return bool(optable.target(entry).grad) and entry.test.get("node") is not False


def compare_outputs(actual: Record, expected: Record, entry: optable.Op, dtype: str) -> list[str]:
    """What differs between two runs, in words."""
    if actual.error or expected.error:
        refusals = ("RuntimeError", "NotImplementedError")  # the second is one of the first
        if actual.error == expected.error or (actual.error in refusals and expected.error in refusals):
            return []
        if expected.error == "NotImplementedError" and not actual.error:
            return []  # a dtype that PyTorch has no kernel for
        a, b = (f"{r.error} ({r.message})" if r.error else "a result" for r in (actual, expected))
        return [f"gives {a}, expected {b}"]
    if len(actual.outputs) != len(expected.outputs):
        return [f"{len(actual.outputs)} outputs, expected {len(expected.outputs)}"]
    wrong = []
    for i, (a, b) in enumerate(zip(actual.outputs, expected.outputs, strict=True)):
        where = f"output {i}" if len(expected.outputs) > 1 else "output"
        fields = ["dtype", "shape", "stride", "requires_grad"] + (["node"] if is_one_node(entry) else [])
        wrong += [f"{where}: {f} is {getattr(a, f)!r}, expected {getattr(b, f)!r}" for f in fields if getattr(a, f) != getattr(b, f)]
        values = entry.test.get("values")
        if values is False or (values == "real" and dtype in COMPLEX) or wrong:
            continue
        # A float64 result from lower inputs (`dtype=`) is no better than they are.
        tolerance = max(TOLERANCE.get(b.dtype, 0), TOLERANCE.get(dtype, 0)) if b.dtype in INEXACT or b.dtype == "float" else 0
        if message := differing(a.values, b.values, tolerance):
            wrong.append(f"{where}: {message}")
    return wrong


def compare_grads(actual: Record, expected: Record, dtype: str) -> list[str]:
    if actual.error or expected.error or len(actual.grads) != len(expected.grads):
        return []  # compare_outputs speaks of it
    wrong = []
    for i, (a, b) in enumerate(zip(actual.grads, expected.grads, strict=True)):
        if (a is None) != (b is None):
            wrong.append(f"gradient {i}: {'undefined' if a is None else 'defined'}, expected {'undefined' if b is None else 'defined'}")
        elif a is not None and (message := differing(a, b, 10 * TOLERANCE[dtype])):
            wrong.append(f"gradient {i}: {message}")
    return wrong


# ---- the table, for parametrize ----


def table() -> list[optable.Op]:
    return optable.load()


def reachable(entry: optable.Op) -> bool:
    """Internal ops are C++ only: they are tested through the ops that use them."""
    return bool(variants_of(entry)) and bool(entry.samples)


def entries(wanted: Callable[[optable.Op], bool] = lambda entry: True) -> list[optable.Op]:
    return [entry for entry in table() if reachable(entry) and wanted(entry)]


def ids(entry: Any) -> str:
    return entry.qualified if isinstance(entry, optable.Op) else str(entry)


def report(failures: list[str]) -> None:
    """Fails with one line per sample."""
    __tracebackhide__ = True
    if failures:
        raise AssertionError(f"{len(failures)} failures\n  " + "\n  ".join(failures))
