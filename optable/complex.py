"""Complex numbers: their parts, conjugates, polar form, and the views between complex and real tensors.

conj() is lazy, see Note [Lazy conjugation] in csrc/core/tensor.h. The formulas here are not those of holomorphic functions, so each is written out
for complex numbers (`wirtinger`): the gradient of a complex input is d/dre + i d/dim of the loss.
Samples are of real numbers, as everywhere in the table; tests/ops/test_complex.py makes complex ones of them.
"""

from __future__ import annotations

from . import FLOATING, composite, native, op, pointwise, view
from .facts import FLOAT32, FOUND, LOOP, OBJECT, PART, Out
from .samples import BROADCAST_ERROR, E, I, S, T, binary, unary

COMPLEX = [S(T(3, 4)), S(T()), S(T(0)), S(T(2, 3, 4))]  # of numbers that must be complex

op(
    "conj(Tensor self) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="The complex conjugate, without touching memory; real tensors are returned as they are.",
    samples=unary() + [S(I(3))],
    test={"alias": "self"},
)
op(
    "_conj(Tensor self) -> Tensor",
    variants="internal",
    kernel=view(),
    grad={"self": "ops::conj(grad)"},
    node="ConjBackward0",
    wirtinger=True,
    jvp="linear",
    batching=LOOP,
    doc="The complex conjugate as a view.",
)
op(
    "conj_physical(Tensor self) -> Tensor",
    variants="function method inplace out",
    kernel=composite(),
    out=Out(exact=FOUND),
    aliases="maybe",
    inplace_function=True,
    doc="The complex conjugate, computed at once; real tensors are returned as they are.",
    samples=[S(T(3)), S(I(3))],
    test={"alias": "self"},
)
op(
    "_conj_physical(Tensor self) -> Tensor",
    variants="internal inplace",
    kernel=native(complex=True),
    inplace="conj_physical_inplace",
    grad={"self": "ops::conj(grad)"},
    node="ConjPhysicalBackward0",
    samples=[S(T(3)), S(T()), S(T(2, 0))],
    wirtinger=True,
    jvp="linear",
    batching=LOOP,
    doc="The conjugate of complex numbers, computed at once.",
)
op(
    "resolve_conj(Tensor self) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="self with any pending conjugation carried out.",
    samples=unary(),
    test={"alias": "self"},
)
op(
    "resolve_neg(Tensor self) -> Tensor",
    kernel=composite(),
    aliases="maybe",
    doc="self with any pending negation carried out.",
    samples=unary(),
    test={"alias": "self"},
)
op(
    "_neg_view(Tensor self) -> Tensor",
    variants="internal",
    kernel=view(),
    grad={"self": "-grad"},
    node="NegViewBackward0",
    jvp="linear",
    batching=LOOP,
    doc="-self as a view.",
)
op(
    "view_as_real(Tensor self) -> Tensor",
    variants="function",
    kernel=view(),
    grad={"self": "complex_of_pairs(grad)"},
    wirtinger=True,
    jvp="ops::view_as_real(ops::resolve_conj(self_t))",
    batching=LOOP,
    doc="A complex tensor as a real one with a last dimension of size 2.",
    samples=COMPLEX,
    test={"only_complex": True},
    errors=(E(S(I(3)), RuntimeError, "view_as_real is only supported for complex tensors"),),
)
op(
    "view_as_complex(Tensor self) -> Tensor",
    variants="function",
    kernel=view(),
    grad={"self": "ops::view_as_real(ops::resolve_conj(grad))"},
    wirtinger=True,
    jvp="complex_of_pairs(self_t)",
    autocast=FLOAT32,
    batching=LOOP,
    doc="A real tensor whose last dimension has size 2 as a complex one without it.",
    samples=[S(T(3, 2)), S(T(2)), S(T(0, 2)), S(T(4, 3, 2))],
    test={"noncontiguous": False},  # the pairs must lie together
    errors=(
        E(S(T(3)), RuntimeError, "Tensor must have a last dimension of size 2"),
        E(S(T()), RuntimeError, "Input tensor must have one or more dimensions"),
        E(S(I(2)), RuntimeError, "view_as_complex is only supported for half, float and double tensors"),
    ),
)
op(
    "real(Tensor self) -> Tensor",
    variants="function",
    kernel=composite(),
    aliases="maybe",
    doc="The real part, a view; real tensors are returned as they are.",
    samples=unary() + [S(I(3))],
    test={"alias": "self"},
)
op(
    "imag(Tensor self) -> Tensor",
    variants="function",
    kernel=composite(),
    aliases="maybe",
    doc="The imaginary part of a complex tensor, a view.",
    samples=COMPLEX,
    test={"only_complex": True},
    errors=(E(S(I(3)), RuntimeError, "imag is not implemented for tensors with non-complex dtypes"),),
)
op(
    "complex(Tensor real, Tensor imag) -> Tensor",
    variants="function out",
    kernel=native(elementwise=True),
    grad={"real": "ops::real(grad)", "imag": "ops::imag(grad)"},
    wirtinger=True,
    jvp="linear",
    out=Out(exact=OBJECT),
    doc="real + i imag.",
    samples=binary(),
    errors=(
        E(S(T(2, 3), T(4)), RuntimeError, "must match the size of tensor b"),
        E(S(I(3), I(3)), RuntimeError, "Expected both inputs to be Half, Float or Double tensors but got Long and Long"),
        E(S(T(3), I(3)), RuntimeError, "Expected both inputs to be Half, Float or Double tensors"),
    ),
)
op(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    variants="function out",
    kernel=native(elementwise=True),
    grad={"abs": "ops::real(ops::conj(grad) * ops::sgn(result))", "angle": "ops::real(ops::conj(grad) * quarter_turn(result))"},
    wirtinger=True,
    jvp="abs_t * ops::polar(ops::ones_like(abs, {}, {}, {}, {}, {}, {}), angle) + angle_t * quarter_turn(result)",
    out=Out(exact=OBJECT),
    autocast=FLOAT32,
    doc="abs * exp(i angle).",
    samples=binary(low=0.3),
    errors=(BROADCAST_ERROR, E(S(I(3), I(3)), RuntimeError, "Expected both inputs to be Half, Float or Double tensors")),
)
op(
    "angle(Tensor self) -> Tensor",
    variants="function method out",
    kernel=native(complex=True, whole=True, guests="moves"),
    grad={"self": "angle_backward(grad, self)"},
    wirtinger=True,
    jvp="along(self_t, angle_backward(ops::ones_like(result, {}, {}, {}, {}, {}, {}), self))",
    batching=LOOP,
    doc="The angle of each element in (-pi, pi]; of real numbers 0 or pi.",
    samples=[S(T(4)), S(T(3, low=-2, high=-1)), S(I(4, low=-2)), S(T(3, values=(0.0, -0.0, float("nan")), grad=False)), S(T()), S(T(0))],
    reference="numpy.angle",
)
op(
    "_angle(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("x != x ? x : x < T(0) ? T(3.141592653589793) : T(0)", dtypes=FLOATING, out="real", complex="angle_of(x)", cost=12),
    no_grad=PART,
    doc="angle of floating and complex numbers.",
)
op(
    "_conj_elements(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("x", dtypes=(), out="same", complex="conj_of(x)"),
    no_grad=PART,
    doc="The conjugates of what is in memory.",
)
op(
    "_polar(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("x", dtypes=(), out="same", complex=("polar_of(x.re, x.im)", "far_angle(x)", "T(x.re * std::cos(x.im), x.re * std::sin(x.im))"), cost=24),
    no_grad=PART,
    doc="abs * exp(i angle) of numbers abs + i angle.",
)
