"""Runs the samples of the op table on either engine.

A sample (see ops/samples.py) is data. `Case` gives it numbers: the same ones for retrograd and for PyTorch, on every machine, because they
come from Python's `random()` seeded by the sample's own text. `Case.bind` makes the tensors in a dtype and a memory layout, `call` finds
the function, and `run` writes down everything worth comparing: values, dtypes, shapes, strides, graph node and first gradients.
"""

from __future__ import annotations

import hashlib
import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ops
from ops.samples import Sample, TensorSpec

FLOATS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
DTYPES = FLOATS + INTEGERS + ("bool",)
LAYOUTS = ("transposed", "strided", "expanded")

PROPERTIES = {"numpy_T": "T", "matrix_H": "H", "mT": "mT", "mH": "mH"}  # reached as attributes
TORCH_NAMES = {"nll_loss": "nll_loss_nd"}  # where PyTorch's function of the entry's name takes fewer inputs


# ---- walking arguments ----


def map_specs(f: Callable[[TensorSpec], Any], tree: Any) -> Any:
    """The arguments with every TensorSpec replaced, left to right."""
    if isinstance(tree, TensorSpec):
        return f(tree)
    if isinstance(tree, (list, tuple)):
        return type(tree)(map_specs(f, item) for item in tree)
    if isinstance(tree, dict):
        return {key: map_specs(f, item) for key, item in tree.items()}
    return tree


def specs_in(tree: Any) -> list[TensorSpec]:
    found: list[TensorSpec] = []
    map_specs(found.append, tree)
    return found


def specs_of(sample: Sample) -> list[TensorSpec]:
    return specs_in((sample.args, sample.kwargs))


def flatten(value: Any) -> list[Any]:
    """Tensors and numbers of a result, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


# ---- numbers ----


def _half(x: float) -> float:
    """Rounded to the 11 bits of a half, so that every floating dtype but bfloat16 holds the same number."""
    if x == 0 or not math.isfinite(x):
        return x
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(fraction * 2048), exponent - 11)


def numbers(spec: TensorSpec, rng: random.Random) -> list[Any]:
    """The elements of a tensor, row by row. Floating ones keep off the ends of [low, high), which may be poles."""
    count = math.prod(spec.shape)
    if spec.values is not None:
        return list(spec.values)
    order = list(range(count))
    for i in range(count - 1, 0, -1):  # a shuffle written out, because Random.shuffle may change between versions of Python
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    if spec.kind == "bool":
        return [rng.random() < 0.5 for _ in order]
    span = spec.high - spec.low
    if spec.kind == "int":
        if spec.distinct:
            return [int(spec.low) + k for k in order]
        return [math.floor(spec.low + span * rng.random()) for _ in order]
    if spec.distinct:
        return [_half(spec.low + span * (k + 0.3 + 0.4 * rng.random()) / count) for k in order]
    return [_half(spec.low + span * (0.01 + 0.98 * rng.random())) for _ in order]


def as_integers(values: list[float], spec: TensorSpec, dtype: str) -> list[int]:
    """A floating sample's numbers where the test runs in an integer dtype: domains above zero stay so, distinct numbers stay distinct."""
    if spec.distinct:
        whole = [sorted(values).index(x) - (0 if dtype == "uint8" else len(values) // 2) for x in values]
    else:
        whole = [math.ceil(x) if spec.low > 0 else round(x) for x in values]
    if dtype == "bool":
        return [bool(x) for x in whole]
    return [abs(x) for x in whole] if dtype == "uint8" else whole


@dataclass(frozen=True)
class Case:
    """One sample of one entry, with numbers."""

    entry: ops.Op
    index: int
    sample: Sample
    values: tuple[list[Any], ...]
    edge: bool = False  # made by edge_samples()

    @property
    def key(self) -> str:
        """Changes when the sample or its numbers do: stored references are found by it."""
        return hashlib.sha1(f"{self.sample!r} {self.values!r}".encode()).hexdigest()[:10]

    def __str__(self) -> str:
        parts = [_show(a) for a in self.sample.args] + [f"{k}={_show(v)}" for k, v in self.sample.kwargs.items()]
        return f"{self.entry.qualified} sample {self.index} ({', '.join(parts)})"

    @property
    def differentiable(self) -> list[int]:
        """Which of the tensors are differentiated."""
        return [i for i, _ in self._differentiable()]

    @property
    def differentiable_names(self) -> list[str]:
        """The arguments they belong to."""
        return [name for _, name in self._differentiable()]

    def _differentiable(self) -> Iterator[tuple[int, str]]:
        refused = not_implemented(self.entry)
        position = 0
        for key, value in [*enumerate(self.sample.args), *self.sample.kwargs.items()]:
            for spec in specs_in(value):
                if spec.kind == "float" and spec.grad and self._name(key) not in refused and self.entry.test.get("grad") is not False:
                    yield position, self._name(key)
                position += 1

    def with_values(self, values: dict[int, list[float]]) -> Case:
        return replace(self, values=tuple(values.get(i, v) for i, v in enumerate(self.values)))

    def expanded(self) -> Case:
        """Every floating tensor repeats its first slice, so that a stride can be 0."""
        values = {}
        for i, spec in enumerate(specs_of(self.sample)):
            if _expandable(spec):
                step = math.prod(spec.shape[1:])
                values[i] = self.values[i][:step] * spec.shape[0]
        return self.with_values(values)

    def bind(
        self, engine: Any, dtype: str = "float64", layout: str = "contiguous", grad: bool | set[int] = True
    ) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """(args, kwargs, tensors that require grad). `grad` may be the set of tensors to differentiate."""
        inputs: list[Any] = []
        position = iter(range(len(self.values)))
        wanted = set(self.differentiable) & grad if isinstance(grad, set) else set(self.differentiable if grad else ())

        def make(spec: TensorSpec) -> Any:
            i = next(position)
            tensor = make_tensor(engine, spec, self.values[i], dtype, layout)
            if i in wanted and dtype in FLOATS:
                inputs.append(tensor.requires_grad_())
            # An op that reads one triangle of a symmetric matrix has derivatives among symmetric ones only.
            square = len(spec.shape) >= 2 and spec.shape[-1] == spec.shape[-2]
            return (tensor + tensor.mT) / 2 if i == 0 and square and self.entry.test.get("symmetric") else tensor

        args = [named_value(engine, self._type(i), map_specs(make, a)) for i, a in enumerate(self.sample.args)]
        kwargs = {k: named_value(engine, self._type(k), map_specs(make, v)) for k, v in self.sample.kwargs.items()}
        return args, kwargs, inputs

    def _name(self, key: int | str) -> str:
        params = self.entry.params
        return key if isinstance(key, str) else params[key].name if key < len(params) else ""

    def _type(self, key: int | str) -> str:
        name = self._name(key)
        return next((p.type for p in self.entry.params if p.name == name), name)


def _show(value: Any) -> str:
    if isinstance(value, TensorSpec):
        text = f"{value.kind[0].upper()}{list(value.shape)}"
        return text + (f"={list(value.values)}" if value.values else "")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_show, value))}]"
    return repr(value)


def not_implemented(entry: ops.Op) -> set[str]:
    """Arguments whose derivative is declared to be missing."""
    source = resolved(entry)
    return {name for key, formula in source.grad.items() if formula.startswith("not_implemented") for name in key.split(", ")}


def resolved(entry: ops.Op) -> ops.Op:
    """The entry itself, or the one it is another name of."""
    if entry.kernel.kind != "alias":
        return entry
    return next(e for e in ops.load() if e.cname == entry.kernel.target)


def named_value(engine: Any, kind: str, value: Any) -> Any:
    """Samples spell dtypes, layouts and memory formats as strings."""
    if isinstance(value, str) and kind.rstrip("?") in ("dtype", "layout", "memory_format"):
        return getattr(engine, value)
    return value


def seed_of(text: str) -> random.Random:
    return random.Random(int.from_bytes(hashlib.sha1(text.encode()).digest()[:6], "big"))


def make_case(entry: ops.Op, index: int, sample: Sample) -> Case:
    rng = seed_of(repr(sample))
    return Case(entry, index, sample, tuple(numbers(spec, rng) for spec in specs_of(sample)))


def samples_of(entry: ops.Op) -> list[Sample]:
    """The samples of an entry, and one more for its special values: every combination of them, not differentiated."""
    samples = list(entry.samples or [])
    floats = [spec for spec in specs_of(samples[0]) if spec.kind == "float"] if samples and entry.special else []
    if floats:
        rows = [[]]
        for _ in floats:
            rows = [row + [value] for row in rows for value in entry.special]
        columns = iter(zip(*rows, strict=True))
        special = map_specs(
            lambda s: replace(s, shape=(len(rows),), values=next(columns), grad=False) if s.kind == "float" else s,
            (samples[0].args, samples[0].kwargs),
        )
        samples.append(Sample(*special))
    return samples


def fits(case: Case, dtype: str) -> bool:
    """Whether the numbers can be written in the dtype at all: special values may be huge or not finite. Edges are floating."""
    if case.edge and dtype not in FLOATS:
        return False
    limit = {"float64": math.inf, "float32": 1e38, "float16": 6e4, "bfloat16": 1e38, "int8": 127, "uint8": 255}.get(dtype, 1e4)
    floats = [x for spec, values in zip(specs_of(case.sample), case.values, strict=True) if spec.kind == "float" for x in values]
    return all(abs(x) <= limit if math.isfinite(x) else dtype in FLOATS for x in floats)


def cases(entry: ops.Op) -> list[Case]:
    return [make_case(entry, i, sample) for i, sample in enumerate(samples_of(entry))]


def edge_samples(entry: ops.Op) -> list[Sample]:
    """The first sample with all tensors 0-d, and with empty ones, where no sample of the entry has such.

    PyTorch may refuse them; then so do we."""
    if entry.name.endswith(("_backward", "_backward_data")) or entry.name in ("resize", "resize_as", "set"):
        return []  # derivatives get what their forward made; growing memory shows whatever lies there
    shapes = [spec.shape for sample in entry.samples or () for spec in specs_of(sample)]
    first = next((sample for sample in entry.samples or () if any(spec.shape for spec in specs_of(sample))), None)
    if first is None:
        return []
    gone = next(spec.shape[0] for spec in specs_of(first) if spec.shape)

    def reshaped(spec: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
        return replace(spec, shape=shape, values=None if spec.values is None else spec.values[: math.prod(shape)])

    edges = []
    if () not in shapes:
        edges.append(map_specs(lambda spec: reshaped(spec, ()), (first.args, first.kwargs)))
    if all(math.prod(shape) for shape in shapes):
        edges.append(map_specs(lambda spec: reshaped(spec, tuple(0 if n == gone else n for n in spec.shape)), (first.args, first.kwargs)))
    return [Sample(*edge) for edge in edges]


def all_cases(entry: ops.Op) -> list[Case]:
    """The samples of the table and the edges. Only results are compared on edges: a difference quotient may mean nothing there."""
    found = cases(entry)
    return found + [replace(make_case(entry, len(found) + i, sample), edge=True) for i, sample in enumerate(edge_samples(entry))]


# ---- tensors ----


def _expandable(spec: TensorSpec) -> bool:
    return spec.kind == "float" and not spec.distinct and len(spec.shape) > 0 and spec.shape[0] > 1 and math.prod(spec.shape) > 0


def _strides(spec: TensorSpec, layout: str) -> tuple[int, ...]:
    shape = list(spec.shape)
    if layout == "transposed":
        return tuple(math.prod(shape[:i]) for i in range(len(shape)))
    dense = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    if layout == "expanded" and _expandable(spec):
        return (0, *dense[1:])
    return tuple(2 * s for s in dense) if layout == "strided" else tuple(dense)


def _indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in _indices(shape[1:]):
            yield (i, *rest)


def make_tensor(engine: Any, spec: TensorSpec, values: list[Any], dtype: str, layout: str = "contiguous") -> Any:
    """A tensor of the spec's shape. Memory between the elements of a strided one holds NaN (or an index out of all range)."""
    name = {"float": dtype, "int": "int64", "bool": "bool"}[spec.kind]
    if spec.kind == "float" and dtype not in FLOATS:
        values = as_integers(values, spec, dtype)
    kind = getattr(engine, name)
    if layout == "contiguous" or not values:
        return engine.tensor(values, dtype=kind).reshape(spec.shape)
    strides, offset = _strides(spec, layout), 1 if layout == "strided" else 0
    places = [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in _indices(spec.shape)]
    memory: list[Any] = [math.nan if name in FLOATS else 99 if name != "bool" else True] * (max(places) + 2)
    for place, value in zip(places, values, strict=True):
        memory[place] = value
    return engine.tensor(memory, dtype=kind).as_strided(spec.shape, strides, offset)


def tensor_numbers(tensor: Any) -> list[Any]:
    """Elements row by row, as Python numbers."""
    if getattr(tensor, "_is_zerotensor", bool)():  # PyTorch's zeros without memory
        return [0.0] * tensor.numel()
    return flatten(tensor.detach().tolist())


# ---- functions ----


def variants_of(entry: ops.Op) -> list[str]:
    """How the entry is reached from Python, the main way first."""
    if entry.name in PROPERTIES:
        return ["property"]
    return [v for v in ("function", "method", "inplace") if v in entry.variants]


def _function(engine: Any, name: str) -> Callable[..., Any] | None:
    homes = [engine]
    if engine.__name__ == "torch":
        name = TORCH_NAMES.get(name, name)
        homes += [engine._C._nn, engine._C._special, engine._C._linalg, engine.ops.aten]
    for home in homes:
        if hasattr(home, name):
            return getattr(home, name)
    return None


def inplace_function(engine: Any, entry: ops.Op) -> Callable[..., Any] | None:
    """`Tensor.x_`, or the function of that name for activations, which are no methods."""
    return getattr(engine.Tensor, entry.name + "_", None) or _function(engine, entry.name + "_")


def exists(engine: Any, entry: ops.Op) -> bool:
    variant = variants_of(entry)[0]
    if variant == "function":
        return _function(engine, entry.name) is not None
    if variant == "inplace":
        return inplace_function(engine, entry) is not None
    return variant == "property" or hasattr(engine.Tensor, entry.name)


def call(engine: Any, entry: ops.Op, args: list[Any], kwargs: dict[str, Any], variant: str = "") -> Any:
    """Calls an entry as function, method, property or in place (on a clone of the first argument, whose gradient flows through)."""
    variant = variant or variants_of(entry)[0]
    if entry.test.get("random"):
        engine.manual_seed(1234)
    if variant == "function":
        return _function(engine, entry.name)(*args, **kwargs)
    if variant == "property":
        return getattr(args[0], PROPERTIES[entry.name])
    if variant == "inplace":
        return inplace_function(engine, entry)(args[0].clone(), *args[1:], **kwargs)
    return getattr(args[0], entry.name)(*args[1:], **kwargs)


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
    values = [_half(0.5 + rng.random()) * (1 if rng.random() < 0.5 else -1) for _ in range(math.prod(tensor.shape))]
    return engine.tensor(values, dtype=tensor.dtype).reshape(tuple(tensor.shape))


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
            args, kwargs, inputs = case.bind(engine, dtype, layout)
            outputs = flatten(call(engine, case.entry, args, kwargs, variant))
            record = Record("", [_output(engine, o) for o in outputs], [])
            record.grads = [None if g is None else tensor_numbers(g) for g in gradients(engine, outputs, inputs)]
    except Exception as error:
        return Record(type(error).__name__, [], [], str(error).partition("\n")[0][:200])
    return record


# ---- comparing ----

TOLERANCE = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 4e-2}  # relative to the largest number of a tensor


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


def is_one_node(entry: ops.Op) -> bool:
    """Whether the op is one node of the graph. A composite's last node tells how it was put together, which is nobody's business."""
    return bool(resolved(entry).grad) and entry.test.get("node") is not False


def compare_outputs(actual: Record, expected: Record, entry: ops.Op, dtype: str) -> list[str]:
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
        if entry.test.get("values") is False or wrong:
            continue
        # A float64 result from lower inputs (`dtype=`) is no better than they are.
        tolerance = max(TOLERANCE.get(b.dtype, 0), TOLERANCE.get(dtype, 0)) if b.dtype in FLOATS or b.dtype == "float" else 0
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


def table() -> list[ops.Op]:
    return ops.load()


def reachable(entry: ops.Op) -> bool:
    """Internal ops are C++ only: they are tested through the ops that use them."""
    return bool(variants_of(entry)) and bool(entry.samples)


def entries(wanted: Callable[[ops.Op], bool] = lambda entry: True) -> list[ops.Op]:
    return [entry for entry in table() if reachable(entry) and wanted(entry)]


def ids(entry: Any) -> str:
    return entry.qualified if isinstance(entry, ops.Op) else str(entry)


def report(failures: list[str]) -> None:
    """Fails with one line per sample."""
    __tracebackhide__ = True
    if failures:
        raise AssertionError(f"{len(failures)} failures\n  " + "\n  ".join(failures))
