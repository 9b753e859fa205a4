"""Ops that make tensors: filled ones, sequences, and the `_like` and `new_` forms that take dtype and device from another tensor."""

from optable import composite, native, op, python
from optable.facts import SIZES, WIDER, Out, by, leading, sized
from optable.samples import E, I, S, T

OPTIONS = "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False"
LIKE = f"{OPTIONS}, memory_format? memory_format=None"
EMPTY_TEST = {"values": False, "gradgrad": False}  # memory that nobody set

_SIZE_ERRORS = (
    E(S((-1,)), RuntimeError, "negative dimension|must be non-negative"),
    E(S((2**40, 2**40)), RuntimeError, "Storage size calculation overflowed"),
    E(S((2,), requires_grad=True, dtype="int64"), RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"),
)
_SIZES = [
    S((2, 3)),
    S(()),
    S((0, 2)),
    S((3,), dtype="int64"),
    S((2,), dtype="bool"),
    S((2, 2), dtype="float16"),
    S((2,), requires_grad=True),
]
_LIKE_SAMPLES = [
    S(T(2, 3, grad=False)),
    S(T(grad=False)),
    S(I(3)),
    S(T(2, grad=False), dtype="int64"),
    S(T(2, grad=False), requires_grad=True),
]

for _name, _doc in (("zeros", "Filled with zeros."), ("ones", "Filled with ones.")):
    op(
        f"{_name}(int[+] size, *, {OPTIONS}) -> Tensor",
        variants="function out",
        kernel=native(guests="moves"),
        out=Out(holds="OneValue"),
        doc=_doc,
        samples=_SIZES,
        errors=_SIZE_ERRORS,
    )
    op(
        f"{_name}_like(Tensor self, *, {LIKE}) -> Tensor",
        variants="function",
        kernel=native(complex="lazy", guests="moves"),
        no_grad=SIZES,
        batching=leading(),
        doc=f"{_doc} The size, dtype and stride order of self.",
        samples=_LIKE_SAMPLES,
    )
    op(
        f"new_{_name}(Tensor self, int[+] size, *, {OPTIONS}) -> Tensor",
        variants="method",
        kernel=native(complex="lazy", guests="moves"),
        no_grad=SIZES,
        batching=sized("size"),
        doc=f"{_doc} The dtype and device of self.",
        samples=[S(T(2, grad=False), (2, 3)), S(I(2), (2,))],
    )
op(
    f"empty(int[+] size, *, {LIKE}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    out=Out(holds="Nothing"),
    uninitialized=True,
    doc="Memory that is not set.",
    samples=_SIZES,
    errors=_SIZE_ERRORS,
    test=EMPTY_TEST,
)
op(
    f"empty_like(Tensor self, *, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(complex="lazy", guests="moves"),
    crosses_devices=True,
    no_grad=SIZES,
    batching=leading(),
    uninitialized=True,
    doc="Memory that is not set, of the size, dtype and stride order of self.",
    samples=_LIKE_SAMPLES,
    test=EMPTY_TEST,
)
op(
    f"new_empty(Tensor self, int[+] size, *, {OPTIONS}) -> Tensor",
    variants="method",
    kernel=native(complex="lazy", guests="moves"),
    no_grad=SIZES,
    batching=sized("size"),
    uninitialized=True,
    doc="Memory that is not set, of the dtype and device of self.",
    samples=[S(T(2, grad=False), (2, 3))],
    test=EMPTY_TEST,
)
op(
    f"empty_strided(int[+] size, int[+] stride, *, {OPTIONS}) -> Tensor",
    variants="function",
    kernel=native(guests="moves"),
    uninitialized=True,
    doc="Memory that is not set, with the given strides.",
    samples=[S((2, 3), (1, 2))],
    errors=(E(S((2, 2), (1,)), RuntimeError, r"dimensionality of sizes \(2\) must match dimensionality of strides \(1\)"),),
    test=EMPTY_TEST,
)
op(
    f"new_empty_strided(Tensor self, int[+] size, int[+] stride, *, {OPTIONS}) -> Tensor",
    variants="method",
    kernel=native(complex="lazy", guests="moves"),
    no_grad=SIZES,
    batching=by("empty_strided"),
    uninitialized=True,
    doc="`empty_strided` with the dtype and device of self.",
    samples=[S(T(2, grad=False), (2, 3), (1, 2))],
    test=EMPTY_TEST,
)
op(
    f"empty_permuted(int[+] size, int[+] physical_layout, *, {OPTIONS}) -> Tensor",
    variants="function",
    kernel=native(guests="moves"),
    uninitialized=True,
    doc="Memory that is not set, dense, with the dimensions in memory in the order physical_layout.",
    samples=[S((2, 3), (1, 0))],
    errors=(E(S((2, 3), (0, 0)), RuntimeError, "Duplicate dim not allowed"),),
    test=EMPTY_TEST,
)
op(
    f"full(int[+] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    out=Out(holds="OneValue"),
    doc="Filled with a value, whose kind decides the dtype when none is given.",
    samples=[S((2, 3), 1.5), S((2,), 3), S((2,), True), S((), 2.0), S((2,), 3, dtype="float32")],
    errors=(
        E(S((2,), 300, dtype="uint8"), RuntimeError, "value cannot be converted to type uint8_t without overflow"),
        E(S((-1,), 1), RuntimeError, "negative dimension"),
    ),
)
op(
    f"full_like(Tensor self, Scalar fill_value, *, {LIKE}) -> Tensor",
    variants="function",
    kernel=native(complex="lazy", guests="moves"),
    no_grad=SIZES,
    batching=leading(),
    doc="Filled with a value; the size, dtype and stride order of self.",
    samples=[S(T(2, 3, grad=False), 2), S(I(3), 2.5)],
)
op(
    f"new_full(Tensor self, int[+] size, Scalar fill_value, *, {OPTIONS}) -> Tensor",
    variants="method",
    kernel=native(complex="lazy", guests="moves"),
    no_grad=SIZES,
    batching=sized("size"),
    doc="Filled with a value; the dtype and device of self.",
    samples=[S(T(2, grad=False), (2, 3), 1.5), S(I(2), (2,), 3.5)],
)
op(
    f"scalar_tensor(Scalar s, *, {OPTIONS}) -> Tensor",
    variants="function",
    kernel=native(guests="moves"),
    doc="A 0-d tensor of the default dtype.",
    samples=[S(2), S(1.5), S(2, dtype="int64")],
)
op(
    f"eye(int n, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    doc="Ones on the diagonal, zeros elsewhere.",
    samples=[S(3), S(0), S(2, dtype="bool")],
    errors=(E(S(-1), RuntimeError, "n must be greater or equal to 0, got -1"),),
    reference="numpy.eye",
)
op(
    f"eye.m(int n, int m, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="moves"),
    doc="An n by m matrix with ones on the diagonal.",
    samples=[S(2, 3), S(3, 2, dtype="int64")],
    errors=(E(S(2, -1), RuntimeError, "m must be greater or equal to 0, got -1"),),
)

# ---- sequences ----

op(
    f"arange(Scalar end, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="value"),
    out=Out(holds="Range"),
    doc="start, start + step, ... up to but not including end. Integers give int64, anything else the default dtype.",
    samples=[S(5), S(5.0), S(2.5), S(0), S(3, dtype="float64"), S(4.0, requires_grad=True)],
    errors=(
        E(S(-1), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        E(S(float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
    ),
)
op(
    f"arange.start_step(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="value"),
    out=Out(holds="Range"),
    doc="start, start + step, ... up to but not including end.",
    samples=[S(1, 5), S(1, 6, 2), S(5, 0, -2), S(0.0, 1.0, 0.25), S(1, 3, 0.5), S(0.5, 3, dtype="int64"), S(3, 3)],
    errors=(
        E(S(5, 1), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        E(S(1, 5, 0), RuntimeError, "step must be nonzero"),
        E(S(0, float("nan")), RuntimeError, "unsupported range: 0 -> nan"),
    ),
    reference="numpy.arange",
)
op(
    f"range(Scalar start, Scalar end, Scalar step=1, *, {OPTIONS}) -> Tensor",
    variants="function out",
    kernel=native(guests="value"),
    doc="start, start + step, ... up to and including end. Deprecated: use arange.",
    samples=[S(1, 4), S(1, 4, 0.5)],
    test={"warns": True},
)
for _name, _base, _doc in (
    ("linspace", "", "`steps` numbers from start to end, both included, at equal distances."),
    ("logspace", "float base=10.0, ", "base to the power of `linspace`."),
):
    op(
        f"{_name}(Scalar start, Scalar end, int steps, {_base}*, {OPTIONS}) -> Tensor",
        variants="function out",
        kernel=native(guests="value"),
        out=Out(holds="Sequence"),
        doc=_doc,
        samples=[S(0, 1, 5), S(0, 1, 1), S(0, 1, 0), S(3.0, -2.0, 7), S(0, 3, 4, dtype="int64"), S(0.0, 1.0, 6, dtype="float64")],
        errors=(E(S(0, 1, -1), RuntimeError, "number of steps must be non-negative"),),
        reference=f"numpy.{_name}",
    )
for _name, _base in (("linspace", ""), ("logspace", "float base=10.0, ")):
    op(
        f"{_name}.tensors(Operand start, Operand end, int steps, {_base}*, {OPTIONS}) -> Tensor",
        variants="function",
        kernel=composite(),
        syncs=True,
        doc=f"`{_name}` between 0-d tensors.",
        samples=[S(I(values=(1,)), 3, 4), S(0, I(values=(3,)), 4)],
        errors=(
            E(S(I(1), 1, 3), RuntimeError, rf"{_name} only supports 0-dimensional start and end tensors, but got start with 1 dimension\(s\)"),
            E(S(0, I(1, 1), 3), RuntimeError, rf"{_name} only supports 0-dimensional start and end tensors, but got end with 2 dimension\(s\)"),
        ),
    )
for _name in ("tril_indices", "triu_indices"):
    op(
        f"{_name}(int row, int col, int offset=0, *, {OPTIONS}) -> Tensor",
        variants="function",
        kernel=native(guests="value"),
        doc=f"Row and column indices of the {'lower' if _name[3] == 'l' else 'upper'} triangle of a matrix, row by row: a [2, n] tensor.",
        samples=[S(3, 3), S(4, 3, -1), S(3, 4, 1), S(0, 2)],
        errors=(E(S(-1, 3), RuntimeError, "row must be non-negative, got-1"), E(S(3, -1), RuntimeError, "col must be non-negative, got-1")),
    )
op(
    "new_tensor(Tensor self, Tensor data) -> Tensor",
    variants="method",
    kernel=python("retrograd._ops.create:new_tensor", unchecked=WIDER),
    doc="A copy of data with the dtype and device of self.",
    samples=[S(T(2, grad=False), [1, 2]), S(I(2), 1.5)],
)
op(
    "new(Tensor self) -> Tensor",
    variants="method",
    kernel=python("retrograd._ops.create:new", unchecked=WIDER),
    doc="A tensor of the type of self from sizes or data.",
    samples=[S(T(2, grad=False), [1, 2])],
)

# ---- windows ----

for _name, _options, _doc in (
    ("bartlett", "", "A triangle from 0 up to 1 and down again."),
    ("blackman", "", "Weights that fade a signal out: 0.42 - 0.5 cos(x) + 0.08 cos(2x), one turn long."),
    ("hamming", ", float alpha=0.54, float beta=0.46", "Weights that fade a signal out: alpha - beta cos(x), one turn long."),
    ("hann", "", "Weights that fade a signal out: (1 - cos(x)) / 2, one turn long."),
    ("kaiser", ", float beta=12.0", "Weights that fade a signal out: i0(beta * sqrt(1 - x ** 2)) / i0(beta) for x from -1 to 1."),
):
    op(
        f"{_name}_window(int window_length, bool periodic=True{_options}, *, {OPTIONS}) -> Tensor",
        variants="function",
        kernel=native(),
        doc=_doc,
        samples=[S(5), S(6, False), S(1), S(0), S(2), S(8, dtype="float64"), *([S(5, True, 0.7)] if _options else [])],
        errors=(
            E(S(-1), RuntimeError, f"{_name}_window requires non-negative window_length, got window_length=-1"),
            E(S(3, dtype="int64"), RuntimeError, f"{_name}_window expects floating point dtypes, got: "),
        ),
    )
