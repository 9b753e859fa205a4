"""Elementwise functions: powers, exponentials, trigonometry, hyperbolic and special functions. Part of the family pointwise."""

from __future__ import annotations

from . import FLOATING, NUMERIC, composite, native, op, pointwise, view
from .facts import FOUND, HANDS_ON, INTEGERS, PART, Out, leading
from .samples import BROADCAST_ERROR, B, E, I, S, T, binary, unary

EVERYWHERE = "function method inplace out"
FUNCTION = "function method out"


def quick(name: str, far: str) -> tuple[str, str, str]:
    """Of complex elements: csrc/cpu/complex_quick.h, but for those that are far."""
    return f"quick_{name}(x)", f"far_{far}(x)", f"{name}_(x)"


# ---- signs, powers and roots ----

op(
    "neg(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("negated(x)", dtypes=NUMERIC, check="check_neg(self);", complex="-x", guests="bits", halves=True),
    grad={"self": "-grad"},
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="-self.",
    samples=unary() + [S(I(3))],
    errors=(E(S(B(3)), RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),),
    reference="numpy.negative",
)
op(
    "abs(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("abs_of(x)", dtypes=NUMERIC, out="real", complex=True, halves=True),
    grad={"self": "grad * ops::sgn(self)"},
    wirtinger=True,
    jvp="along(self_t, ops::sgn(self))",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="Absolute value of each element.",
    samples=unary() + [S(I(5, low=-4))],
    errors=(E(S(B(3)), RuntimeError, "not implemented for 'Bool'"),),
    special=(0.0,),
    reference="numpy.abs",
)
for name in ("sign", "sgn"):
    op(
        f"{name}(Tensor self) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise("sign_of(x)", complex=name == "sgn", check="check_sign(self);" if name == "sign" else ""),
        grad={"self": "zero_gradient(grad)" if name == "sign" else "sgn_backward(grad, self, result)"},
        wirtinger=True,
        jvp="elementwise",  # of complex numbers too: the derivative is its own adjoint
        out=Out(exact=FOUND),
        doc="-1, 0 or 1 after the sign of each element.",
        samples=unary() + [S(I(5, low=-4)), S(B(3))],
        reference="numpy.sign",
    )
op(
    "positive(Tensor self) -> Tensor",
    kernel=view(),
    no_grad=HANDS_ON,
    batching=leading(),
    doc="self.",
    samples=unary() + [S(I(3))],
    errors=(E(S(B(3)), RuntimeError, "The `\\+` operator, on a bool tensor is not supported"),),
    test={"alias": "self"},
)
op(
    "pow(Tensor self, Tensor exponent) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24, complex=True, guests="own"),
    grad={"self": "pow_backward_self(grad, self, exponent)", "exponent": "pow_backward_exponent(grad, self, exponent, result)"},
    node="PowBackward1",
    jvp="elementwise",
    doc="self to the power of exponent.",
    samples=binary(low=0.5, high=2.0, low2=-2.0, high2=2.0) + [S(I(5), I(5))],
    errors=(BROADCAST_ERROR,),
    reference="numpy.power",
)
op(
    "pow.scalar(Tensor self, Scalar exponent) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=native(elementwise=True, complex=True, whole=True, guests="moves"),
    inplace="pow_scalar_inplace",
    grad={"self": "pow_backward(grad, self, exponent)"},
    node="PowBackward0",
    jvp="elementwise",
    doc="self to the power of a number.",
    samples=[s for e in (2, 3.0, 0.5, -1, -0.5, 1, 0, 2.3) for s in unary(low=0.5, exponent=e)[:4]] + [S(I(3), 2), S(I(3), 1.5)],
    errors=(E(S(I(3), -1), RuntimeError, "Integers to negative integer powers are not allowed"),),
    reference="numpy.power",
)
op(
    "pow.self_scalar(Operand self, Tensor exponent) -> Tensor",
    steep=True,
    variants="function out",
    kernel=native(elementwise=True, complex=True, whole=True, guests="moves"),
    grad={"exponent": "pow_backward_exponent(grad, self, exponent, result)"},
    node="PowBackward2",
    jvp="elementwise",
    nondiff=("self",),
    doc="A number to the power of exponent.",
    samples=[S(2.5, T(3, 4)), S(2, T()), S(2, I(3)), S(2.0, T(0))],
)
op(
    "_pow_left(Operand self, Tensor exponent) -> Tensor",
    variants="internal",
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24, label="pow", complex=True, guests="own"),
    no_grad=PART,
    doc="A number to the power of exponent, whatever its layout.",
)
op(
    "_pow(Tensor self, Operand exponent) -> Tensor",
    variants="internal",
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24, complex=True, guests="own"),
    no_grad=PART,
    doc="self to the power of a number, without the shortcuts of pow.",
)
op(
    "_scaled_product(Tensor self, Tensor other, Scalar scale) -> Tensor",
    variants="internal",
    kernel=pointwise("scale * x * y", dtypes=FLOATING, out="float", params=("scale",), complex=True),
    grad={"self": "ops::_scaled_product(grad, other, scale)", "other": "ops::_scaled_product(grad, self, scale)"},
    jvp="elementwise",
    doc="scale * self * other: the derivative of a square, a hyperbolic tangent, ...",
)
op(
    "square(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=composite(),
    inplace_function=True,
    out=Out(name="pow"),
    doc="self * self.",
    samples=unary() + [S(I(3))],
    reference="numpy.square",
)
op(
    "_square(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("multiply(x, x)", dtypes=NUMERIC, complex=True, guests="bits"),
    no_grad=PART,
    doc="self * self.",
)
op(
    "_cube(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("multiply(multiply(x, x), x)", dtypes=NUMERIC, complex=True, guests="bits"),
    no_grad=PART,
    doc="self * self * self.",
)
op(
    "sqrt(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("sqrt_(x)", dtypes=FLOATING, out="float", cost=6, complex=quick("sqrt", "square")),
    grad={"self": "grad / (result * 2)"},
    jvp="elementwise",
    inplace_function=True,
    doc="Square root of each element.",
    samples=unary(low=0.2, high=3) + [S(I(3))],
    special=(0.0, -1.0),
    reference="numpy.sqrt",
)
op(
    "rsqrt(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("rsqrt_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("rsqrt", "square")),
    grad={"self": "ops::_scaled_product(grad, ops::pow_scalar(result, 3), -0.5)"},
    jvp="elementwise",
    inplace_function=True,
    doc="1 / sqrt(self).",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
)
op(
    "reciprocal(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("1 / x", dtypes=FLOATING, out="float", cost=6, complex=("quick_reciprocal(x)", "far_square(x)", "T(1) / x")),
    grad={"self": "ops::_scaled_product(grad, result * result, -1)"},
    jvp="elementwise",
    inplace_function=True,
    doc="1 / self.",
    samples=unary(low=0.5) + [S(I(3, low=1))],
    special=(0.0,),
    reference="numpy.reciprocal",
)

op(
    "_exponent(Tensor self) -> Tensor",
    variants="function",
    kernel=pointwise("exponent_of(x)", dtypes=FLOATING, cost=20),
    no_grad=INTEGERS,
    doc="The exponent of each number as frexp() gives it, as a float; 0 where there is none.",
    samples=unary(),
    special=(0.0, 1e-310, 1e300, 0.5),
)
op(
    "_less_exponent(Tensor self, Tensor other) -> Tensor",
    variants="function",
    kernel=pointwise("less_exponent(x, y)", dtypes=FLOATING, cost=20),
    grad={"self": "ops::_less_exponent(grad, other)"},
    nondiff=("other",),
    jvp="elementwise",
    doc="self over two to the exponent of other: the mantissa of a number, where both are the same.",
    samples=[
        S(T(3, 4), T(3, 4, grad=False)),
        S(T(5), T(5, grad=False)),
        S(T(), T(grad=False)),
        S(T(3, 4), T(4, grad=False)),
        S(T(0), T(0, grad=False)),
    ],
)

# ---- exponentials and logarithms ----

op(
    "exp(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("exp_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("exp", "exp")),
    grad={"self": "grad * result"},
    jvp="elementwise",
    inplace_function=True,
    doc="e to the power of each element.",
    samples=unary() + [S(I(3))],
    special=(0.0, 100.0, -100.0),
    reference="numpy.exp",
)
op(
    "log(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("log_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("log", "log")),
    grad={"self": "grad / self"},
    jvp="elementwise",
    inplace_function=True,
    doc="Natural logarithm of each element.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log",
)

op(
    "exp2(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("exp2_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("exp2", "exp")),
    grad={"self": "ops::_scaled_product(grad, result, 0.6931471805599453)"},
    jvp="elementwise",
    inplace_function=True,
    doc="2 to the power of each element.",
    samples=unary() + [S(I(3))],
    reference="numpy.exp2",
)
op(
    "expm1(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("expm1_(x)", dtypes=FLOATING, out="float", cost=10, complex=quick("expm1", "exp")),
    grad={"self": "grad * (result + 1)"},
    jvp="elementwise",
    inplace_function=True,
    doc="exp(self) - 1, accurate near 0.",
    samples=unary() + [S(I(3))],
    special=(0.0, 1e-10),
    reference="numpy.expm1",
)
op(
    "log2(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("log2_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("log2", "log")),
    grad={"self": "grad / (self * 0.6931471805599453)"},
    jvp="elementwise",
    inplace_function=True,
    doc="Logarithm to base 2.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log2",
)
op(
    "log10(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("log10_(x)", dtypes=FLOATING, out="float", cost=8, complex=quick("log10", "log")),
    grad={"self": "grad / (self * 2.302585092994046)"},
    jvp="elementwise",
    inplace_function=True,
    doc="Logarithm to base 10.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log10",
)
op(
    "log1p(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("log1p_(x)", dtypes=FLOATING, out="float", cost=10, complex=True),
    grad={"self": "grad / (self + 1)"},
    node="Log1PBackward0",
    jvp="elementwise",
    inplace_function=True,
    doc="log(1 + self), accurate near 0.",
    samples=unary(low=-0.5, high=3) + [S(I(3))],
    special=(0.0, 1e-10, -1.0),
    reference="numpy.log1p",
)
op(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    variants=FUNCTION,
    kernel=pointwise("log_add_exp_(x, y)", dtypes=FLOATING, cost=16, complex=True),
    grad={"self": "grad * ops::sigmoid(self - other)", "other": "grad * ops::sigmoid(other - self)"},
    jvp="elementwise",
    doc="log(exp(self) + exp(other)) without overflow.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
    special=(1000.0,),
    reference="numpy.logaddexp",
)
op(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    variants=FUNCTION,
    kernel=pointwise("log_add_exp2(x, y)", dtypes=FLOATING, cost=16),
    grad={"self": "grad / (1 + ops::exp2(other - self))", "other": "grad / (1 + ops::exp2(self - other))"},
    node="Logaddexp2Backward0",
    jvp="elementwise",
    doc="log2(2 ** self + 2 ** other) without overflow.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
    reference="numpy.logaddexp2",
)
op(
    "xlogy(Tensor self, Tensor other) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "xlogy_backward_self(grad, self, other)", "other": "grad * self / other"},
    jvp="elementwise",
    inplace_function=True,
    doc="self * log(other), 0 where self is 0.",
    samples=binary(low2=0.3) + [S(I(3), I(3, low=1))],
    errors=(BROADCAST_ERROR,),
)
op(
    "xlogy.scalar(Tensor self, Operand other) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "xlogy_backward_self(grad, self, other)"},
    node="XlogyBackward2",
    jvp="elementwise",
    inplace_function=True,
    nondiff=("other",),
    doc="self * log(other), 0 where self is 0.",
    samples=unary(other=1.7),
)
op(
    "xlogy.self_scalar(Operand self, Tensor other) -> Tensor",
    steep=True,
    variants="function out",
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"other": "xlogy_backward_other(grad, self, other)"},
    node="XlogyBackward1",
    jvp="elementwise",
    nondiff=("self",),
    doc="self * log(other), 0 where self is 0.",
    samples=[S(1.5, T(3, 4, low=0.3)), S(2, T(low=0.3)), S(0.0, T(3, low=0.3))],
)

# ---- trigonometry ----

for name, expr, low, high, formula, words in (
    ("sin", "sin", -7, 7, "grad * ops::cos(self)", "Sine"),
    ("cos", "cos", -7, 7, "ops::_scaled_product(grad, ops::sin(self), -1)", "Cosine"),
    ("tan", "tan", -1.2, 1.2, "grad * (result * result + 1)", "Tangent"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        steep=name == "tan",
        variants=EVERYWHERE,
        # Past the range that the vectorised reduction covers, the C library's function does the few that are there.
        kernel=pointwise(
            f"{expr}_(x)",
            dtypes=FLOATING,
            out="float",
            cost=12,
            rare=("abs_(x) > trig_bound<T>()", f"std::{expr}(x)"),
            complex=quick(expr, "tan" if expr == "tan" else "turn"),
        ),
        grad={"self": formula},
        jvp="elementwise",
        inplace_function=True,
        doc=f"{words} of each element, in radians.",
        samples=unary(low=low, high=high) + [S(I(3))],
        special=(0.0, 1e6, 1e22),
        reference=f"numpy.{name}",
    )
for name, low, high, formula, words in (
    ("asin", -0.8, 0.8, "grad * ops::rsqrt(1 - self * self)", "Inverse sine"),
    ("acos", -0.8, 0.8, "ops::_scaled_product(grad, ops::rsqrt(1 - self * self), -1)", "Inverse cosine"),
    ("atan", -3, 3, "grad / (self * self + 1)", "Inverse tangent"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        steep=name != "atan",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_(x)", dtypes=FLOATING, out="float", cost=12, complex=True),
        grad={"self": formula},
        jvp="elementwise",
        inplace_function=True,
        doc=f"{words} of each element, in radians.",
        samples=unary(low=low, high=high) + [S(I(3, high=2))],
        special=(0.0, 1.0, -1.0, 2.0),
        reference=f"numpy.arc{name[1:]}",
    )
op(
    "atan2(Tensor self, Tensor other) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("atan2_(x, y)", dtypes=FLOATING, out="float", cost=16),
    grad={"self": "atan2_backward(grad, self, other, other)", "other": "-atan2_backward(grad, self, other, self)"},
    jvp="elementwise",
    doc="Angle of the point (other, self), in (-pi, pi].",
    samples=binary(low=0.2, low2=0.2) + [S(T(9, low=-2, high=-0.2), T(9, low=-2, high=-0.2)), S(I(3), I(3, low=1))],
    errors=(BROADCAST_ERROR,),
    reference="numpy.arctan2",
)
op(
    "sinc(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "sinc_of(x)",
        dtypes=FLOATING,
        out="float",
        cost=16,
        rare=("abs_(x) > trig_bound<T>() / 4", "std::sin(T(3.141592653589793) * x) / (T(3.141592653589793) * x)"),
        complex=True,
    ),
    grad={"self": "ops::_sinc_backward(grad, self)"},
    jvp="elementwise",
    inplace_function=True,
    doc="sin(pi x) / (pi x), 1 at 0.",
    samples=unary(low=0.2, high=2.5) + unary(low=-0.1, high=0.1)[:2] + [S(I(3))],
    special=(0.0,),
    reference="numpy.sinc",
)
op(
    "_sinc_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "x * sinc_slope(y, sin_(T(3.141592653589793) * y), cos_(T(3.141592653589793) * y))",
        dtypes=FLOATING,
        out="float",
        cost=30,
        rare=(
            "abs_(y) > trig_bound<T>() / 4",
            "x * sinc_slope(y, std::sin(T(3.141592653589793) * y), std::cos(T(3.141592653589793) * y))",
        ),
        complex=True,
    ),
    grad={"grad_output": "ops::_sinc_backward(grad, self)", "self": "sinc_double_backward(grad * grad_output, self)"},
    jvp="elementwise",
    doc="Gradient of sinc.",
)
op(
    "hypot(Tensor self, Tensor other) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("hypot_of(x, y)", dtypes=FLOATING, cost=10),
    grad={"self": "grad * (self / result)", "other": "grad * (other / result)"},
    jvp="elementwise",
    doc="sqrt(self ** 2 + other ** 2) without overflow.",
    samples=binary(low=0.2),
    errors=(BROADCAST_ERROR,),
    special=(1e30,),
    reference="numpy.hypot",
)
op(
    "deg2rad(Tensor self) -> Tensor",
    no_complex="deg2rad is not supported for complex tensors.",
    variants=EVERYWHERE,
    kernel=pointwise("x * T(0.017453292519943295)", dtypes=FLOATING, out="float"),
    grad={"self": "grad * 0.017453292519943295"},
    node="Deg2RadBackward0",
    jvp="elementwise",
    inplace_function=True,
    doc="Degrees to radians.",
    samples=unary(low=-180, high=180) + [S(I(3))],
    reference="numpy.deg2rad",
)
op(
    "rad2deg(Tensor self) -> Tensor",
    no_complex="rad2deg is not supported for complex tensors.",
    variants=EVERYWHERE,
    kernel=pointwise("x * T(57.29577951308232)", dtypes=FLOATING, out="float"),
    grad={"self": "grad * 57.29577951308232"},
    node="Rad2DegBackward0",
    jvp="elementwise",
    inplace_function=True,
    doc="Radians to degrees.",
    samples=unary() + [S(I(3))],
    reference="numpy.rad2deg",
)

# ---- hyperbolic functions and their relatives ----

op(
    "tanh(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("tanh_(x)", dtypes=FLOATING, out="float", cost=10, complex=quick("tanh", "tanh")),
    grad={"self": "ops::tanh_backward(grad, result)"},
    jvp="elementwise",
    inplace_function=True,
    doc="Hyperbolic tangent of each element.",
    samples=unary(low=-3, high=3) + [S(I(3))],
    special=(0.0, 20.0),
    reference="numpy.tanh",
)
op(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    variants="internal",
    kernel=pointwise("x * (1 - y * y)", dtypes=FLOATING, out="float", complex=True),
    grad={"grad_output": "ops::tanh_backward(grad, output)", "output": "ops::_scaled_product(grad * grad_output, output, -2)"},
    jvp="elementwise",
    doc="Gradient of tanh, from its result.",
)
op(
    "sigmoid(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("sigmoid_(x)", dtypes=FLOATING, out="float", cost=10, complex=quick("sigmoid", "exp")),
    grad={"self": "ops::sigmoid_backward(grad, result)"},
    jvp="elementwise",
    inplace_function=True,
    doc="1 / (1 + exp(-self)).",
    samples=unary(low=-3, high=3) + [S(I(3))],
    special=(0.0, 100.0, -100.0),
)
op(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    variants="internal",
    kernel=pointwise("x * (1 - y) * y", dtypes=FLOATING, out="float", complex=True),
    grad={"grad_output": "ops::sigmoid_backward(grad, output)", "output": "grad * grad_output * (1 - output * 2)"},
    jvp="elementwise",
    doc="Gradient of sigmoid, from its result.",
)

for name, low, high, formula, words in (
    ("sinh", -2, 2, "grad * ops::cosh(self)", "Hyperbolic sine"),
    ("cosh", -2, 2, "grad * ops::sinh(self)", "Hyperbolic cosine"),
    ("asinh", -2, 2, "grad * ops::rsqrt(self * self + 1)", "Inverse hyperbolic sine"),
    ("acosh", 1.2, 3, "grad * acosh_slope(self)", "Inverse hyperbolic cosine"),
    ("atanh", -0.8, 0.8, "grad / (1 - self * self)", "Inverse hyperbolic tangent"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        steep=name != "asinh",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_(x)", dtypes=FLOATING, out="float", cost=12, complex=quick(name, "exp") if name in ("sinh", "cosh") else True),
        grad={"self": formula},
        jvp="elementwise",
        inplace_function=True,
        doc=f"{words} of each element.",
        samples=unary(low=low, high=high) + [S(I(3))],
        special=(0.0, 1.0),
        reference=f"numpy.{name.replace('a', 'arc', 1) if name[0] == 'a' else name}",
    )
op(
    "logit(Tensor self, float? eps=None) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="logit_inplace",
    grad={"self": "logit_backward(grad, self, eps)"},
    jvp="elementwise",
    inplace_function=True,
    doc="log(self / (1 - self)), self being limited to [eps, 1 - eps] first.",
    samples=unary(low=0.1, high=0.9) + unary(low=-0.5, high=1.5, eps=0.13)[:3] + [S(I(3))],
    special=(0.0, 1.0, 1.5),
)
op(
    "_logit(Tensor self, float eps) -> Tensor",
    variants="internal",
    kernel=pointwise("logit_of(x, eps)", dtypes=FLOATING, out="float", params=("eps",), cost=10),
    no_grad=PART,
    doc="logit; a negative eps means none.",
)

# ---- error function, gamma and Bessel functions ----

op(
    "erf(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("erf_(x)", dtypes=FLOATING, out="float", cost=14),
    grad={"self": "ops::_scaled_product(grad, ops::exp(-(self * self)), 1.1283791670955126)"},
    jvp="elementwise",
    inplace_function=True,
    doc="Error function.",
    samples=unary() + [S(I(3))],
    special=(0.0, 10.0),
    reference="scipy.special.erf",
)
op(
    "erfc(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("erfc_(x)", dtypes=FLOATING, out="float", cost=16),
    grad={"self": "ops::_scaled_product(grad, ops::exp(-(self * self)), -1.1283791670955126)"},
    jvp="elementwise",
    inplace_function=True,
    doc="1 - erf(self).",
    samples=unary() + [S(I(3))],
    special=(0.0, 10.0),
    reference="scipy.special.erfc",
)
op(
    "erfinv(Tensor self) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("erfinv_(x)", dtypes=FLOATING, out="float", cost=16),
    grad={"self": "ops::_scaled_product(grad, ops::exp(result * result), 0.8862269254527580)"},
    jvp="elementwise",
    doc="Inverse of the error function.",
    samples=unary(low=-0.8, high=0.8) + [S(I(3))],
    special=(0.0, 1.0, -1.0, 2.0),
    reference="scipy.special.erfinv",
)

# Where floats are not computed by the vectorised expression, and what is computed in lanes.
_RARE = {"lgamma": ("lgamma_is_unusual(x)", "lgamma_(x)")}
_LANES = {"digamma", "i0", "special_i0e", "special_i1", "special_i1e", "special_erfcx", "special_ndtri", "special_log_ndtr"}
for name, expr, low, high, formula, words in (
    ("lgamma", "lgamma_usual(x)", 0.3, 5, "grad * ops::digamma(self)", "Logarithm of the absolute gamma function"),
    ("digamma", "digamma_(x)", 0.3, 5, "grad * ops::polygamma(1, self)", "Derivative of lgamma"),
    ("i0", "i0_(x)", -3, 3, "grad * ops::special_i1(self)", "Modified Bessel function of order 0"),
    ("special_i0e", "i0e_(x)", 0.2, 3, "grad * (ops::special_i1e(self) - ops::sgn(self) * result)", "i0 times exp(-|x|)"),
    ("special_i1", "i1_(x)", 0.2, 3, "first_order_backward(grad, self, ops::i0(self), result, 1)", "Modified Bessel function of order 1"),
    ("special_i1e", "i1e_(x)", 0.2, 3, "i1e_backward(grad, self, result)", "special.i1 times exp(-|x|)"),
    ("special_erfcx", "erfcx_(x)", -2, 2, "ops::_erfcx_backward(grad, self)", "exp(x ** 2) * erfc(x)"),
    (
        "special_ndtri",
        "ndtri_(x)",
        0.1,
        0.9,
        "ops::_scaled_product(grad, ops::exp(result * result * 0.5), 2.5066282746310002)",
        "Inverse of the normal distribution function",
    ),
    (
        "special_log_ndtr",
        "log_ndtr_(x)",
        -3,
        3,
        "ops::_log_ndtr_backward(grad, self)",
        "Logarithm of the normal distribution function",
    ),
    ("special_entr", "entropy(x)", 0.2, 3, "special_entr_backward(grad, self)", "-x * log(x)"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        steep=name in ("lgamma", "digamma", "special_entr", "special_ndtri"),
        variants="function out" if name.startswith("special") else EVERYWHERE,
        kernel=pointwise(
            expr,
            dtypes=("f32", "f64") if name in ("special_erfcx", "special_ndtri", "special_log_ndtr") else FLOATING,
            out="float",
            cost=50 if name in _LANES else 20,
            rare=_RARE.get(name, ()),
            lanes=name in _LANES,
        ),
        grad={"self": formula},
        node={"special_i0e": "SpecialI0EBackward0", "special_i1e": "SpecialI1EBackward0"}.get(name, ""),
        jvp="elementwise",
        home="special" if name.startswith("special") else "torch",
        inplace_function=name == "i0",
        doc=f"{words}.",
        samples=unary(low=low, high=high) + [S(I(3, low=1))],
        special=(0.0, 1.0, 0.5, 40.0),
        reference=f"scipy.special.{ {'lgamma': 'gammaln'}.get(name, name.removeprefix('special_')) }",
    )
for name, expr, curve, of in (
    ("_erfcx_backward", "erfcx_slope", "(ops::special_erfcx(self) + self * ops::_erfcx_backward(1, self)) * 2", "special.erfcx"),
    ("_log_ndtr_backward", "log_ndtr_slope", "ops::_log_ndtr_curve(self)", "special.log_ndtr"),
):
    op(
        f"{name}(Operand grad_output, Tensor self) -> Tensor",
        variants="internal",
        kernel=pointwise(f"x * {expr}(y)", dtypes=("f32", "f64"), out="float", cost=70, lanes=True),
        grad={"grad_output": f"ops::{name}(grad, self)", "self": f"grad * grad_output * {curve}"},
        jvp="elementwise",
        doc=f"Gradient of {of}.",
    )
op(
    "_log_ndtr_curve(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("log_ndtr_curve(x)", dtypes=("f32", "f64"), out="float", cost=70, lanes=True),
    grad={"self": "log_ndtr_third(grad, self, result)"},
    jvp="elementwise",
    doc="Second derivative of special.log_ndtr.",
)
op(
    "polygamma(int n, Tensor self) -> Tensor",
    variants="function out",
    kernel=pointwise(
        "polygamma_<T>(static_cast<int>(n), x)", dtypes=FLOATING, out="float", params=("n",), cost=200, check="check_polygamma(n);", lanes=True
    ),
    grad={"self": "grad * ops::polygamma(n + 1, self)"},
    jvp="elementwise",
    doc="The n-th derivative of digamma.",
    samples=[S(n, s.args[0]) for n in (0, 1, 2) for s in unary(low=0.3, high=5)[:3]] + [S(1, I(3, low=1))],
    errors=(E(S(-1, T(3)), RuntimeError, r"polygamma\(n, x\) does not support negative n"),),
    reference="scipy.special.polygamma",
)
op(
    "polygamma.method(Tensor self, int n) -> Tensor",
    variants="method inplace",
    kernel=composite(),
    doc="The n-th derivative of digamma.",
    samples=unary(low=0.3, high=5, n=1)[:3],
)
op(
    "mvlgamma(Tensor self, int p) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    grad={"self": "mvlgamma_backward(grad, self, p)"},
    jvp="elementwise",
    doc="Logarithm of the multivariate gamma function of dimension p.",
    samples=[S(T(3, 4, low=1.5, high=4), 2), S(T(3, low=1.5), 1), S(T(low=2.5, high=4), 4)],
    errors=(E(S(T(3), 0), RuntimeError, "p has to be greater than or equal to 1"),),
)
op(
    "_mvlgamma(Tensor self, int p) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "mvlgamma_of<T>(x, p)", dtypes=FLOATING, out="float", params=("p",), cost=60, check="check_mvlgamma(self, p);", label="mvlgamma", lanes=True
    ),
    no_grad=PART,
    doc="mvlgamma, whatever the layout of self.",
)
for name, words, full in (("igamma", "lower", "gammainc"), ("igammac", "upper", "gammaincc")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_<T>(x, y)", dtypes=FLOATING, out="float", cost=250, lanes=True),
        grad={
            "self": f'not_implemented("{name} for its first argument")',
            "other": f"{'-' if name == 'igammac' else ''}igamma_backward(grad, self, other)",
        },
        jvp="elementwise",
        doc=f"The regularised {words} incomplete gamma function.",
        samples=[
            S(T(3, 4, low=0.5, high=4, grad=False), T(3, 4, low=0.3, high=5)),
            S(T(4, low=0.5, high=4, grad=False), T(3, 4, low=0.3, high=5)),
            S(T(0), T(0)),
        ],
        errors=(BROADCAST_ERROR,),
        reference=f"scipy.special.{full}",
    )
op(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    variants="function",
    kernel=pointwise("gamma_slope_<T>(x, y)", dtypes=("f32", "f64"), cost=250, lanes=True),
    grad=dict.fromkeys(("self", "output"), 'not_implemented("_standard_gamma_grad")'),
    jvp="elementwise",
    doc="How a number that `_standard_gamma` drew moves with the parameter.",
    samples=[S(T(3, 4, low=0.3, high=2, grad=False), T(3, 4, low=0.01, high=0.3, grad=False)), S(T(4, low=1, grad=False), T(3, 1, low=0.1, high=0.3, grad=False))],
    errors=(BROADCAST_ERROR,),
)
op(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    variants="function",
    kernel=pointwise("beta_slope_<T>(x, y, z)", dtypes=("f32", "f64"), cost=250, lanes=True),
    grad=dict.fromkeys(("x", "alpha", "total"), 'not_implemented("_dirichlet_grad")'),
    jvp="elementwise",
    doc="How a number that `_sample_dirichlet` drew moves with its parameter, over what is left of 1.",
    samples=[S(T(3, 4, low=0.01, high=0.1, grad=False), T(3, 4, low=0.2, high=1, grad=False), T(3, 1, low=2, high=3, grad=False))],
)
op(
    "special_ndtr(Tensor self) -> Tensor",
    variants="function out",
    kernel=composite(),
    home="special",
    doc="The normal distribution function.",
    samples=unary() + [S(I(3))],
    reference="scipy.special.ndtr",
)
for name, first, second in (("", "Tensor", "Tensor"), (".scalar", "Tensor", "Operand"), (".self_scalar", "Operand", "Tensor")):
    number = {"": (), ".scalar": ("other",), ".self_scalar": ("self",)}[name]
    log1py = {"self": "xlog1py_backward_self(grad, self, other)", "other": "grad * self / (other + 1)"}
    op(
        f"special_xlog1py{name}({first} self, {second} other) -> Tensor",
        steep=True,
        variants="function out",
        kernel=pointwise("x_log1p_y(x, y)", dtypes=FLOATING, out="float", cost=12),
        grad=log1py
        if not name
        else {"self": log1py["self"]}
        if name == ".scalar"
        else {"other": "xlog1py_backward_other(grad, self, other)"},
        node={"": "SpecialXlog1PyBackward0", ".scalar": "SpecialXlog1PyBackward2", ".self_scalar": "SpecialXlog1PyBackward1"}[name],
        jvp="elementwise",
        home="special",
        nondiff=number,
        doc="self * log1p(other), 0 where self is 0.",
        samples=[*binary(low2=-0.5)]
        if not name
        else [S(T(3, 4), 1.5)]
        if name == ".scalar"
        else [S(1.5, T(3, 4, low=-0.5)), S(0.0, T(3, low=-0.5))],
    )
    op(
        f"special_zeta{name}({first} self, {second} other) -> Tensor",
        variants="function out",
        kernel=pointwise("zeta_<T>(x, y)", dtypes=("f32", "f64"), out="float", cost=250, lanes=True),
        grad=(
            {"self": 'not_implemented("zeta for its first argument")', "other": "zeta_backward_other(grad, self, other)"}
            if not name
            else {"self": 'not_implemented("zeta for its first argument")'}
            if name == ".scalar"
            else {"other": "zeta_backward_other(grad, self, other)"}
        ),
        node={"": "SpecialZetaBackward0", ".scalar": "SpecialZetaBackward2", ".self_scalar": "SpecialZetaBackward1"}[name],
        jvp="elementwise",
        home="special",
        nondiff=number,
        doc="Hurwitz's zeta function: the sum of (other + k) ** -self.",
        samples=(
            [S(T(3, 4, low=1.5, high=4, grad=False), T(3, 4, low=0.5)), S(T(3, low=1.5, high=4, grad=False), T(2, 3, low=0.5))]
            if not name
            else [S(T(3, low=1.5, high=4, grad=False), 1.5)]
            if name == ".scalar"
            else [S(2.0, T(3, 4, low=0.5)), S(2, I(3, low=1))]
        ),
    )
