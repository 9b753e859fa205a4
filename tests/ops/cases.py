"""The samples of the op table with numbers: a `Case` makes the arguments of one call, for either engine."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import optable
from optable.samples import Sample, TensorSpec
from tests.ops.tensors import COMPLEX, FLOATS, half, make_tensor, numbers, repeats, seed_of

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


@dataclass(frozen=True)
class Case:
    """One sample of one entry, with numbers."""

    entry: optable.Op
    index: int
    sample: Sample
    values: tuple[list[Any], ...]
    edge: bool = False  # made by edge_samples()
    complex: bool = False  # floating tensors hold complex numbers: two floats of `values` each

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

    def as_complex(self) -> Case:
        """The same sample with imaginary parts."""
        if self.complex:
            return self
        rng = seed_of(f"imaginary {self.sample!r}")
        imaginary = lambda spec: half(min(1.0, spec.high - spec.low) * (0.1 + 0.8 * rng.random()) * (1 if rng.random() < 0.5 else -1))
        return replace(
            self,
            complex=True,
            values=tuple(
                [part for x in values for part in (x, imaginary(spec))] if spec.kind == "float" else values
                for spec, values in zip(specs_of(self.sample), self.values, strict=True)
            ),
        )

    def with_values(self, values: dict[int, list[float]]) -> Case:
        return replace(self, values=tuple(values.get(i, v) for i, v in enumerate(self.values)))

    def expanded(self) -> Case:
        """Every floating tensor repeats its first slice, so that a stride can be 0."""
        values = {}
        for i, spec in enumerate(specs_of(self.sample)):
            if repeats(spec):
                step = math.prod(spec.shape[1:]) * (2 if self.complex else 1)
                values[i] = self.values[i][:step] * spec.shape[0]
        return self.with_values(values)

    def bind(
        self, engine: Any, dtype: str = "float64", layout: str = "contiguous", grad: bool | set[int] = True
    ) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """(args, kwargs, tensors that require grad). `grad` may be the set of tensors to differentiate."""
        inputs: list[Any] = []
        if self.complex and dtype in FLOATS:
            dtype = COMPLEX[0 if dtype == "float64" else 1]
        position = iter(range(len(self.values)))
        wanted = set(self.differentiable) & grad if isinstance(grad, set) else set(self.differentiable if grad else ())

        def make(spec: TensorSpec) -> Any:
            i = next(position)
            tensor = make_tensor(engine, spec, self.values[i], dtype, layout)
            if i in wanted and dtype in FLOATS + COMPLEX:
                inputs.append(tensor.requires_grad_())
            # An op that reads one triangle of a symmetric matrix has derivatives among symmetric ones only.
            square = len(spec.shape) >= 2 and spec.shape[-1] == spec.shape[-2]
            return (tensor + tensor.mH) / 2 if i == 0 and square and self.entry.test.get("symmetric") else tensor

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


def not_implemented(entry: optable.Op) -> set[str]:
    """Arguments whose derivative is declared to be missing."""
    source = optable.target(entry)
    return {name for key, formula in source.grad.items() if formula.startswith("not_implemented") for name in key.split(", ")}


def named_value(engine: Any, kind: str, value: Any) -> Any:
    """Samples spell dtypes, layouts and memory formats as strings."""
    if isinstance(value, str) and kind.rstrip("?") in ("dtype", "layout", "memory_format"):
        return getattr(engine, value)
    return value


def make_case(entry: optable.Op, index: int, sample: Sample) -> Case:
    rng = seed_of(repr(sample))
    case = Case(entry, index, sample, tuple(numbers(spec, rng) for spec in specs_of(sample)))
    return case.as_complex() if entry.test.get("only_complex") else case


def samples_of(entry: optable.Op) -> list[Sample]:
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


def cases(entry: optable.Op) -> list[Case]:
    return [make_case(entry, i, sample) for i, sample in enumerate(samples_of(entry))]


def edge_samples(entry: optable.Op) -> list[Sample]:
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


def all_cases(entry: optable.Op) -> list[Case]:
    """The samples of the table and the edges. Only results are compared on edges: a difference quotient may mean nothing there."""
    found = cases(entry)
    return found + [replace(make_case(entry, len(found) + i, sample), edge=True) for i, sample in enumerate(edge_samples(entry))]
