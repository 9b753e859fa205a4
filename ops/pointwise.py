"""Elementwise ops: arithmetic, comparison, logic, transcendental functions, activations.

Expressions are C++ over x, y, z (the tensor arguments in order) and the named scalar parameters; what they may call beside operators is in
csrc/cpu/vecmath.h (exp_, tanh_, ...) and csrc/cpu/pointwise_loop.h. Formulas follow PyTorch at the points where a derivative does not exist:
abs'(0) = 0, relu'(0) = 0, clamp passes the gradient at its bounds, maximum splits it between equal inputs.
"""

from __future__ import annotations

from . import ALL, BITWISE, FLOATING, INTEGRAL, NUMERIC, Kernel, alias, composite, native, op, pointwise, python, view
from .samples import BROADCAST_ERROR, E, S, B, I, T, binary, unary

EVERYWHERE = "function method inplace out"
FUNCTION = "function method out"


def far_quotient(expr: str) -> tuple[str, str]:
    """Division with remainder: a quotient too large for the vectorised kernel takes the C library's fmod. Integers never do."""
    return "quotient_too_large(x, y)", expr.replace("std::fmod(x, y)", "static_cast<T>(std::fmod(x, y))")


# ---- arithmetic ----

op(
    "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("add_scaled(x, y, alpha)", params=("alpha",), check="check_alpha(self, other, alpha);"),
    grad={"self": "grad", "other": "times(grad, alpha)"},
    jvp="elementwise",
    doc="self + alpha * other.",
    samples=binary(scalar=1.5) + binary(alpha=2.5)[:3] + [S(I(3), I(3)), S(I(3), 2), S(B(3), B(3)), S(I(3), T(2, 3)), S(T(3), True)],
    errors=(BROADCAST_ERROR, E(S(I(3), I(3), alpha=1.5), RuntimeError, "alpha must not be a floating point number"), E(S(I(3), I(3), alpha=True), RuntimeError, "Boolean alpha only supported")),
    reference="numpy.add",
)
op(
    "sub(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("sub_scaled(x, y, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);"),
    grad={"self": "grad", "other": "times(grad, -alpha)"},
    jvp="elementwise",
    doc="self - alpha * other.",
    samples=binary(scalar=1.5) + binary(alpha=2.5)[:3] + [S(I(3), I(3)), S(I(3), 2), S(I(3), T(2, 3))],
    errors=(BROADCAST_ERROR, E(S(B(3), B(3)), RuntimeError, "with two bool tensors is not supported"), E(S(B(3), T(3)), RuntimeError, "with a bool tensor is not supported")),
    reference="numpy.subtract",
)
op(
    "rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=pointwise("sub_scaled(y, x, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);"),
    grad={"self": "times(grad, -alpha)", "other": "grad"},
    jvp="elementwise",
    doc="other - alpha * self.",
    samples=binary() + binary(alpha=2.5)[:2],
    errors=(BROADCAST_ERROR,),
)
op(
    "rsub.scalar(Tensor self, Operand other, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=pointwise("sub_scaled(y, x, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);"),
    grad={"self": "times(grad, -alpha)"},
    node="RsubBackward1",
    jvp="elementwise",
    doc="other - alpha * self.",
    samples=unary(other=1.5) + [S(I(3), 2)],
    errors=(E(S(B(3), 1), RuntimeError, "with a bool tensor is not supported"),),
)
op(
    "mul(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("multiply(x, y)"),
    grad={"self": "grad * other", "other": "grad * self"},
    jvp="elementwise",
    doc="self * other.",
    samples=binary(scalar=1.5) + [S(I(3), I(3)), S(I(3), 2), S(B(3), B(3)), S(I(3), T(2, 3))],
    errors=(BROADCAST_ERROR,),
    reference="numpy.multiply",
)
op(
    "div(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x / y", dtypes=FLOATING, out="float", cost=6),
    grad={"self": "grad / other", "other": "ops::_div_backward_other(grad, self, other)"},
    jvp="elementwise",
    doc="self / other; integers give a floating result.",
    samples=binary(low2=0.5, scalar=1.5) + [S(I(3), I(3, low=1)), S(I(3), 2)],
    errors=(BROADCAST_ERROR,),
    reference="numpy.true_divide",
)
op(
    "_div_backward_other(Tensor grad_output, Tensor self, Operand other) -> Tensor",
    variants="internal",
    kernel=pointwise("-x * ((y / z) / z)", dtypes=FLOATING, out="float", cost=8),
    grad={
        "grad_output": "ops::_div_backward_other(grad, self, other)",
        "self": "ops::_div_backward_other(grad, grad_output, other)",
        "other": "grad * grad_output * self * 2 / ops::pow_scalar(other.tensor, 3)",
    },
    jvp="elementwise",
    doc="Gradient of div for its divisor.",
)
op(
    "div.mode(Tensor self, Operand other, *, str? rounding_mode) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="div_mode_inplace",
    grad={"self": "div_mode_backward_self(grad, other, rounding_mode)", "other": "div_mode_backward_other(grad, self, other, rounding_mode)"},
    node="DivBackward2",
    jvp="elementwise",
    doc="self / other, rounded down ('floor') or towards zero ('trunc').",
    samples=[s for mode in ("floor", "trunc", None) for s in binary(low2=0.5, scalar=1.5, rounding_mode=mode)[:-2] + [S(I(5, low=-4), I(5, low=1), rounding_mode=mode)]],
    errors=(E(S(T(3), T(3), rounding_mode="up"), RuntimeError, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'"),),
)
op(
    "_div_trunc(Tensor self, Operand other) -> Tensor",
    variants="internal",
    kernel=pointwise("trunc_div(x, y)", dtypes=NUMERIC, label="div_trunc", check="check_int_divisor(self, other);"),
    doc="self / other rounded towards zero, integers staying integers.",
)
op(
    "floor_divide(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("floor_div(x, y)", dtypes=NUMERIC, cost=12, label="div_floor", rare=far_quotient("floor_div_with(x, y, std::fmod(x, y))"), check="check_int_divisor(self, other);"),
    grad={"self": 'not_implemented("floor_divide")', "other": 'not_implemented("floor_divide")'},
    doc="self / other rounded down.",
    samples=binary(low2=0.5, scalar=1.5) + [S(I(5, low=-4), I(5, low=1)), S(I(3), 2)],
    errors=(BROADCAST_ERROR, E(S(I(3), 0), RuntimeError, "ZeroDivisionError"), E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError")),
    reference="numpy.floor_divide",
    test={"grad": False},  # not differentiable, as in PyTorch
)
op(
    "floor_divide.self_scalar(Operand self, Tensor other) -> Tensor",
    variants="function",
    kernel=pointwise("floor_div(x, y)", dtypes=NUMERIC, cost=12, label="div_floor", rare=far_quotient("floor_div_with(x, y, std::fmod(x, y))"), check="check_int_divisor(self, other);"),
    grad={"other": 'not_implemented("floor_divide")'},
    node="FloorDivideBackward1",
    doc="self / other rounded down.",
    samples=[S(3.0, T(4, low=0.5, grad=False)), S(7, I(3, low=1))],
)

op(
    "remainder(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("remainder_of(x, y)", dtypes=NUMERIC, cost=12, rare=far_quotient("remainder_with(y, std::fmod(x, y))"), check="check_int_divisor(self, other);"),
    grad={"self": "grad", "other": '-grad * ops::div_mode(self, other, "floor")'},
    node="RemainderBackward1",
    jvp="elementwise",
    doc="self modulo other, with the sign of other.",
    samples=binary(low2=0.5) + [S(T(7, low=-5, high=5), T(7, low=-2, high=-0.5)), S(I(5, low=-4), I(5, low=1))],
    errors=(BROADCAST_ERROR, E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError")),
    reference="numpy.remainder",
)
op(
    "remainder.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("remainder_of(x, y)", dtypes=NUMERIC, cost=12, rare=far_quotient("remainder_with(y, std::fmod(x, y))"), check="check_int_divisor(self, other);"),
    grad={"self": "grad"},
    node="RemainderBackward0",
    jvp="elementwise",
    doc="self modulo a number, with the sign of the number.",
    samples=unary(other=0.7) + [S(I(5, low=-4), 3), S(I(5), -3), S(I(5), 1.5)],
    errors=(E(S(I(3), 0), RuntimeError, "ZeroDivisionError"),),
)
op(
    "remainder.self_scalar(Operand self, Tensor other) -> Tensor",
    variants="function",
    kernel=pointwise("remainder_of(x, y)", dtypes=NUMERIC, cost=12, rare=far_quotient("remainder_with(y, std::fmod(x, y))"), check="check_int_divisor(self, other);"),
    grad={"other": 'not_implemented("remainder")'},
    node="RemainderBackward2",
    doc="A number modulo other.",
    samples=[S(5.0, T(4, low=0.5, grad=False)), S(7, I(3, low=1))],
)
op(
    "fmod(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("fmod_of(x, y)", dtypes=NUMERIC, cost=12, rare=far_quotient("std::fmod(x, y)"), check="check_int_divisor(self, other);"),
    grad={"self": "grad", "other": '-grad * ops::div_mode(self, other, "trunc")'},
    node="FmodBackward1",
    jvp="elementwise",
    doc="Remainder of self / other, with the sign of self.",
    samples=binary(low2=0.5) + [S(T(7, low=-5, high=5), T(7, low=-2, high=-0.5)), S(I(5, low=-4), I(5, low=1))],
    errors=(BROADCAST_ERROR, E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError")),
    reference="numpy.fmod",
)
op(
    "fmod.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("fmod_of(x, y)", dtypes=NUMERIC, cost=12, rare=far_quotient("std::fmod(x, y)"), check="check_int_divisor(self, other);"),
    grad={"self": "grad"},
    node="FmodBackward0",
    jvp="elementwise",
    doc="Remainder of self divided by a number, with the sign of self.",
    samples=unary(other=0.7) + [S(I(5, low=-4), 3), S(I(5), 1.5)],
    errors=(E(S(I(3), 0), RuntimeError, "ZeroDivisionError"),),
)
op(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("add_product(x, y, z, value)", dtypes=NUMERIC, params=("value",)),
    grad={"self": "grad", "tensor1": "product_backward(grad, tensor2, value)", "tensor2": "product_backward(grad, tensor1, value)"},
    jvp="elementwise",
    doc="self + value * tensor1 * tensor2.",
    samples=[S(T(3, 4), T(3, 4), T(3, 4)), S(T(3, 4), T(3, 4), T(3, 4), value=1.5), S(T(4), T(3, 1), T(3, 4), value=-2), S(T(), T(3), T(3)), S(T(0), T(0), T(0)), S(I(3), I(3), I(3), value=2)],
    errors=(E(S(T(3), T(4), T(3)), RuntimeError, "must match the size of tensor b"),),
)
op(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x + value * (y / z)", dtypes=FLOATING, params=("value",), cost=6, check="check_addcdiv(tensor1, tensor2);"),
    grad={"self": "grad", "tensor1": "times(grad, value) / tensor2", "tensor2": "times(ops::_div_backward_other(grad, tensor1, tensor2), value)"},
    jvp="elementwise",
    doc="self + value * tensor1 / tensor2.",
    samples=[S(T(3, 4), T(3, 4), T(3, 4, low=0.5)), S(T(3, 4), T(3, 4), T(3, 4, low=0.5), value=1.5), S(T(4), T(3, 1), T(3, 4, low=0.5), value=-2), S(T(), T(3), T(3, low=0.5)), S(T(0), T(0), T(0))],
    errors=(E(S(T(3), I(3), I(3, low=1)), RuntimeError, "Integer division with addcdiv is no longer supported"),),
)
op(
    "lerp(Tensor self, Tensor end, Scalar weight) -> Tensor",
    variants="function method inplace out",
    kernel=pointwise("lerp_of(x, y, weight)", dtypes=FLOATING, params=("weight",), check='check_same_dtype(self, end, "end");'),
    grad={"self": "ops::mul(grad, 1 - weight.to_double())", "end": "ops::mul(grad, weight)"},
    node="LerpBackward0",
    jvp="elementwise",
    doc="self + weight * (end - self).",
    samples=[S(T(3, 4), T(3, 4), 0.3), S(T(3, 4), T(4), 0.8), S(T(), T(3), 0.5), S(T(0), T(0), 0.1), S(T(33), T(33), 2.0)],
    errors=(E(S(T(3), I(3), 0.5), RuntimeError, "expected dtype .* for `end` but got dtype"), E(S(T(3), T(4), 0.5), RuntimeError, "must match the size of tensor b")),
)
op(
    "lerp.tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    variants="function method inplace out",
    kernel=pointwise("lerp_of(x, y, z)", dtypes=FLOATING, check='check_same_dtype(self, end, "end"); check_same_dtype(self, weight, "weight");'),
    grad={"self": "grad * (1 - weight)", "end": "grad * weight", "weight": "grad * (end - self)"},
    node="LerpBackward1",
    jvp="elementwise",
    doc="self + weight * (end - self).",
    samples=[S(T(3, 4), T(3, 4), T(3, 4, low=0, high=1)), S(T(3, 4), T(4), T(3, 1)), S(T(3), T(3), T()), S(T(0), T(0), T(0))],
    errors=(E(S(T(3), T(3), I(3)), RuntimeError, "expected dtype .* for `weight` but got dtype"),),
)

# ---- comparison ----

for name, sign, words in (("eq", "==", "equals"), ("ne", "!=", "differs from"), ("lt", "<", "is less than"), ("le", "<=", "is at most"), ("gt", ">", "is greater than"), ("ge", ">=", "is at least")):
    op(
        f"{name}(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"x {sign} y", out="bool"),
        grad={"self": "zero_gradient(grad)", "other": "zero_gradient(grad)"},  # of the in-place form on floats; a bool result has none
        doc=f"Whether each element {words} that of other.",
        samples=binary(scalar=0.5) + [S(I(5), I(5)), S(I(5), 1), S(I(5), 1.5), S(B(4), B(4)), S(I(5), T(5))],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.{dict(eq='equal', ne='not_equal', lt='less', le='less_equal', gt='greater', ge='greater_equal')[name]}",
    )

for name, expr, dtypes, words in (
    ("isnan", "x != x", ALL, "is nan"),
    ("isinf", "is_inf(x)", ALL, "is infinite"),
    ("isfinite", "is_finite(x)", ALL, "is neither infinite nor nan"),
    ("isposinf", "is_inf(x) && x > T(0)", ALL, "is inf"),
    ("isneginf", "is_inf(x) && x < T(0)", ALL, "is -inf"),
    ("isreal", "true", ALL, "has no imaginary part"),
    ("signbit", "sign_bit(x)", ALL, "is negative, -0.0 included"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        variants="function method out" if name in ("isposinf", "isneginf", "signbit") else "function method",
        kernel=pointwise(expr, dtypes=dtypes, out="bool"),
        doc=f"Whether each element {words}.",
        samples=unary() + [S(I(3, low=-2)), S(B(3)), S(T(6, values=(0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"))))],
    )
op(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    kernel=python("retrograd._ops.pointwise:isclose"),
    doc="Whether elements are equal within atol + rtol * |other|.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3), T(3), rtol=0.5), S(T(4, values=(1.0, float("nan"), float("inf"), 2.0)), T(4, values=(1.000001, float("nan"), float("inf"), 2.1)), equal_nan=True), S(I(4), I(4))],
    errors=(E(S(T(3), I(3)), RuntimeError, "did not match"), E(S(T(3), T(3), rtol=-1.0), RuntimeError, "rtol must be greater than or equal to zero")),
    reference="numpy.isclose",
)
op(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    kernel=python("retrograd._ops.pointwise:allclose"),
    doc="Whether all elements are equal within atol + rtol * |other|.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3), T(3), atol=100.0)],
)

# ---- logic and bits ----

for name, expr, words in (("and", "(x != T(0)) & (y != T(0))", "are both true"), ("or", "(x != T(0)) | (y != T(0))", "are not both false"), ("xor", "(x != T(0)) ^ (y != T(0))", "differ")):
    op(
        f"logical_{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(expr, out="bool"),
        doc=f"Whether the truth values of self and other {words}.",
        samples=[S(B(3, 4), B(4)), S(I(5), I(5)), S(T(4), B(4)), S(T(), T(3)), S(B(0), B(0))],
        errors=(E(S(B(3), B(4)), RuntimeError, "must match the size of tensor b"),),
        reference=f"numpy.logical_{name}",
    )
op(
    "logical_not(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x == T(0)", out="bool"),
    doc="Whether each element is zero or false.",
    samples=unary() + [S(B(3)), S(I(4))],
    reference="numpy.logical_not",
)
for name, sign, words in (("and", "&", "and"), ("or", "|", "or"), ("xor", "^", "exclusive or")):
    op(
        f"bitwise_{name}(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"x {sign} y", dtypes=BITWISE),
        doc=f"Bitwise {words} of integers, logical {words} of booleans.",
        samples=[S(I(3, 4), I(4)), S(B(5), B(5)), S(I(4), B(4)), S(I(4), 3), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(I(3), I(4)), RuntimeError, "must match the size of tensor b"), E(S(T(3), T(3)), RuntimeError, "not implemented for")),
        reference=f"numpy.bitwise_{name}",
    )
    op(
        f"bitwise_{name}.self_scalar(Operand self, Tensor other) -> Tensor",
        variants="function",
        kernel=pointwise(f"x {sign} y", dtypes=BITWISE),
        doc=f"Bitwise {words} of a number and integers.",
        samples=[S(3, I(4))],
    )
op(
    "bitwise_not(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("bit_not(x)", dtypes=BITWISE),
    doc="Every bit of integers flipped; the opposite of booleans.",
    samples=[S(I(3, 4)), S(B(5)), S(I()), S(I(0))],
    errors=(E(S(T(3)), RuntimeError, "not implemented for"),),
    reference="numpy.bitwise_not",
)
for name, expr, words in (("left", "shift_left(x, y)", "left"), ("right", "shift_right(x, y)", "right, keeping the sign")):
    op(
        f"bitwise_{name}_shift(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(expr, dtypes=INTEGRAL, label=f"{name[0]}shift"),
        doc=f"Integers shifted {words} by other bits.",
        samples=[S(I(3, 4), I(4)), S(I(4), 3), S(I(4, low=-9), 70), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(T(3), T(3)), RuntimeError, "not implemented for"),),
        reference=f"numpy.{name}_shift",
    )
    op(
        f"bitwise_{name}_shift.self_scalar(Operand self, Tensor other) -> Tensor",
        variants="function",
        kernel=pointwise(expr, dtypes=INTEGRAL, label=f"{name[0]}shift"),
        doc=f"A number shifted {words} by other bits.",
        samples=[S(3, I(4))],
    )
for name, words in (("gcd", "Greatest common divisor"), ("lcm", "Least common multiple")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_of(x, y)", dtypes=INTEGRAL, cost=100),
        doc=f"{words} of integers.",
        samples=[S(I(3, 4, low=-20, high=20), I(4, low=-20, high=20)), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(T(3), T(3)), RuntimeError, "not implemented for"),),
        reference=f"numpy.{name}",
    )

# ---- powers and roots ----

op(
    "neg(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("-x", dtypes=NUMERIC, check="check_neg(self);"),
    grad={"self": "-grad"},
    jvp="elementwise",
    doc="-self.",
    samples=unary() + [S(I(3))],
    errors=(E(S(B(3)), RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),),
    reference="numpy.negative",
)
op(
    "abs(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("abs_of(x)", dtypes=NUMERIC),
    grad={"self": "grad * ops::sgn(self)"},
    jvp="elementwise",
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
        kernel=pointwise("sign_of(x)"),
        grad={"self": "zero_gradient(grad)"},
        jvp="elementwise",
        doc="-1, 0 or 1 after the sign of each element.",
        samples=unary() + [S(I(5, low=-4)), S(B(3))],
        reference="numpy.sign",
    )
op(
    "positive(Tensor self) -> Tensor",
    kernel=view(),
    doc="self.",
    samples=unary() + [S(I(3))],
    errors=(E(S(B(3)), RuntimeError, "The `\\+` operator, on a bool tensor is not supported"),),
    test={"alias": "self"},
)
op(
    "pow(Tensor self, Tensor exponent) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24),
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
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
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
    variants="function out",
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24),
    grad={"exponent": "pow_backward_exponent(grad, self, exponent, result)"},
    node="PowBackward2",
    jvp="elementwise",
    doc="A number to the power of exponent.",
    samples=[S(2.5, T(3, 4)), S(2, T()), S(2, I(3)), S(2.0, T(0))],
)
op(
    "_pow(Tensor self, Operand exponent) -> Tensor",
    variants="internal",
    kernel=pointwise("pow_any(x, y)", dtypes=NUMERIC, cost=24),
    doc="self to the power of a number, without the shortcuts of pow.",
)
op(
    "_scaled_product(Tensor self, Tensor other, Scalar scale) -> Tensor",
    variants="internal",
    kernel=pointwise("scale * x * y", dtypes=FLOATING, out="float", params=("scale",)),
    grad={"self": "ops::_scaled_product(grad, other, scale)", "other": "ops::_scaled_product(grad, self, scale)"},
    jvp="elementwise",
    doc="scale * self * other: the derivative of a square, a hyperbolic tangent, ...",
)
op(
    "square(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=composite(),
    doc="self * self.",
    samples=unary() + [S(I(3))],
    reference="numpy.square",
)
op("_square(Tensor self) -> Tensor", variants="internal", kernel=pointwise("multiply(x, x)", dtypes=NUMERIC), doc="self * self.")
op(
    "sqrt(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("sqrt_(x)", dtypes=FLOATING, out="float", cost=6),
    grad={"self": "grad / (result * 2)"},
    jvp="elementwise",
    doc="Square root of each element.",
    samples=unary(low=0.2, high=3) + [S(I(3))],
    special=(0.0, -1.0),
    reference="numpy.sqrt",
)
op(
    "rsqrt(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("rsqrt_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "ops::_scaled_product(grad, ops::pow_scalar(result, 3), -0.5)"},
    jvp="elementwise",
    doc="1 / sqrt(self).",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
)
op(
    "reciprocal(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("1 / x", dtypes=FLOATING, out="float", cost=6),
    grad={"self": "ops::_scaled_product(grad, result * result, -1)"},
    jvp="elementwise",
    doc="1 / self.",
    samples=unary(low=0.5) + [S(I(3, low=1))],
    special=(0.0,),
    reference="numpy.reciprocal",
)

# ---- exponentials and logarithms ----

op(
    "exp(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("exp_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "grad * result"},
    jvp="elementwise",
    doc="e to the power of each element.",
    samples=unary() + [S(I(3))],
    special=(0.0, 100.0, -100.0),
    reference="numpy.exp",
)
op(
    "log(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("log_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "grad / self"},
    jvp="elementwise",
    doc="Natural logarithm of each element.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log",
)

op(
    "exp2(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("exp2_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "ops::_scaled_product(grad, result, 0.6931471805599453)"},
    jvp="elementwise",
    doc="2 to the power of each element.",
    samples=unary() + [S(I(3))],
    reference="numpy.exp2",
)
op(
    "expm1(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("expm1_(x)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "grad * (result + 1)"},
    jvp="elementwise",
    doc="exp(self) - 1, accurate near 0.",
    samples=unary() + [S(I(3))],
    special=(0.0, 1e-10),
    reference="numpy.expm1",
)
op(
    "log2(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("log2_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "grad / (self * 0.6931471805599453)"},
    jvp="elementwise",
    doc="Logarithm to base 2.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log2",
)
op(
    "log10(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("log10_(x)", dtypes=FLOATING, out="float", cost=8),
    grad={"self": "grad / (self * 2.302585092994046)"},
    jvp="elementwise",
    doc="Logarithm to base 10.",
    samples=unary(low=0.2, high=3) + [S(I(3, low=1))],
    special=(0.0, -1.0),
    reference="numpy.log10",
)
op(
    "log1p(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("log1p_(x)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "grad / (self + 1)"},
    node="Log1PBackward0",
    jvp="elementwise",
    doc="log(1 + self), accurate near 0.",
    samples=unary(low=-0.5, high=3) + [S(I(3))],
    special=(0.0, 1e-10, -1.0),
    reference="numpy.log1p",
)
op(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    variants=FUNCTION,
    kernel=pointwise("log_add_exp_(x, y)", dtypes=FLOATING, cost=16),
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
    variants=EVERYWHERE,
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "xlogy_backward_self(grad, self, other)", "other": "grad * self / other"},
    jvp="elementwise",
    doc="self * log(other), 0 where self is 0.",
    samples=binary(low2=0.3) + [S(I(3), I(3, low=1))],
    errors=(BROADCAST_ERROR,),
)
op(
    "xlogy.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "xlogy_backward_self(grad, self, other)"},
    node="XlogyBackward2",
    jvp="elementwise",
    doc="self * log(other), 0 where self is 0.",
    samples=unary(other=1.7),
)
op(
    "xlogy.self_scalar(Operand self, Tensor other) -> Tensor",
    variants="function out",
    kernel=pointwise("x_log_y(x, y)", dtypes=FLOATING, out="float", cost=10),
    grad={"other": "xlogy_backward_other(grad, self, other)"},
    node="XlogyBackward1",
    jvp="elementwise",
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
        variants=EVERYWHERE,
        # Past the range that the vectorised reduction covers, the C library's function does the few that are there.
        kernel=pointwise(f"{expr}_(x)", dtypes=FLOATING, out="float", cost=12, rare=("abs_(x) > trig_bound<T>()", f"std::{expr}(x)")),
        grad={"self": formula},
        jvp="elementwise",
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
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_(x)", dtypes=FLOATING, out="float", cost=12),
        grad={"self": formula},
        jvp="elementwise",
        doc=f"{words} of each element, in radians.",
        samples=unary(low=low, high=high) + [S(I(3, high=2))],
        special=(0.0, 1.0, -1.0, 2.0),
        reference=f"numpy.arc{name[1:]}",
    )
op(
    "atan2(Tensor self, Tensor other) -> Tensor",
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
    kernel=pointwise("sinc_of(x)", dtypes=FLOATING, out="float", cost=16, rare=("abs_(x) > trig_bound<T>() / 4", "std::sin(T(3.141592653589793) * x) / (T(3.141592653589793) * x)")),
    grad={"self": "sinc_backward(grad, self)"},
    jvp="elementwise",
    doc="sin(pi x) / (pi x), 1 at 0.",
    samples=unary(low=0.2, high=2.5) + [S(I(3))],
    special=(0.0,),
    reference="numpy.sinc",
)
op(
    "hypot(Tensor self, Tensor other) -> Tensor",
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
    variants=EVERYWHERE,
    kernel=pointwise("x * T(0.017453292519943295)", dtypes=FLOATING, out="float"),
    grad={"self": "grad * 0.017453292519943295"},
    node="Deg2RadBackward0",
    jvp="elementwise",
    doc="Degrees to radians.",
    samples=unary(low=-180, high=180) + [S(I(3))],
    reference="numpy.deg2rad",
)
op(
    "rad2deg(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x * T(57.29577951308232)", dtypes=FLOATING, out="float"),
    grad={"self": "grad * 57.29577951308232"},
    node="Rad2DegBackward0",
    jvp="elementwise",
    doc="Radians to degrees.",
    samples=unary() + [S(I(3))],
    reference="numpy.rad2deg",
)

# ---- hyperbolic functions and their relatives ----

op(
    "tanh(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("tanh_(x)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "ops::tanh_backward(grad, result)"},
    jvp="elementwise",
    doc="Hyperbolic tangent of each element.",
    samples=unary(low=-3, high=3) + [S(I(3))],
    special=(0.0, 20.0),
    reference="numpy.tanh",
)
op(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    variants="internal",
    kernel=pointwise("x * (1 - y * y)", dtypes=FLOATING, out="float"),
    grad={"grad_output": "ops::tanh_backward(grad, output)", "output": "ops::_scaled_product(grad * grad_output, output, -2)"},
    jvp="elementwise",
    doc="Gradient of tanh, from its result.",
)
op(
    "sigmoid(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("sigmoid_(x)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "ops::sigmoid_backward(grad, result)"},
    jvp="elementwise",
    doc="1 / (1 + exp(-self)).",
    samples=unary(low=-3, high=3) + [S(I(3))],
    special=(0.0, 100.0, -100.0),
)
op(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    variants="internal",
    kernel=pointwise("x * (1 - y) * y", dtypes=FLOATING, out="float"),
    grad={"grad_output": "ops::sigmoid_backward(grad, output)", "output": "grad * grad_output * (1 - output * 2)"},
    jvp="elementwise",
    doc="Gradient of sigmoid, from its result.",
)

for name, low, high, formula, words in (
    ("sinh", -2, 2, "grad * ops::cosh(self)", "Hyperbolic sine"),
    ("cosh", -2, 2, "grad * ops::sinh(self)", "Hyperbolic cosine"),
    ("asinh", -2, 2, "grad * ops::rsqrt(self * self + 1)", "Inverse hyperbolic sine"),
    ("acosh", 1.2, 3, "grad * ops::rsqrt(self * self - 1)", "Inverse hyperbolic cosine"),
    ("atanh", -0.8, 0.8, "grad / (1 - self * self)", "Inverse hyperbolic tangent"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_(x)", dtypes=FLOATING, out="float", cost=12),
        grad={"self": formula},
        jvp="elementwise",
        doc=f"{words} of each element.",
        samples=unary(low=low, high=high) + [S(I(3))],
        special=(0.0, 1.0),
        reference=f"numpy.{name.replace('a', 'arc', 1) if name[0] == 'a' else name}",
    )
op(
    "logit(Tensor self, float? eps=None) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="logit_inplace",
    grad={"self": "logit_backward(grad, self, eps)"},
    jvp="elementwise",
    doc="log(self / (1 - self)), self being limited to [eps, 1 - eps] first.",
    samples=unary(low=0.1, high=0.9) + unary(low=-0.5, high=1.5, eps=0.13)[:3] + [S(I(3))],
    special=(0.0, 1.0, 1.5),
)
op(
    "_logit(Tensor self, float eps) -> Tensor",
    variants="internal",
    kernel=pointwise("logit_of(x, eps)", dtypes=FLOATING, out="float", params=("eps",), cost=10),
    doc="logit; a negative eps means none.",
)

# ---- error function, gamma and Bessel functions ----

op(
    "erf(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("erf_(x)", dtypes=FLOATING, out="float", cost=14),
    grad={"self": "ops::_scaled_product(grad, ops::exp(-(self * self)), 1.1283791670955126)"},
    jvp="elementwise",
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
    doc="1 - erf(self).",
    samples=unary() + [S(I(3))],
    special=(0.0, 10.0),
    reference="scipy.special.erfc",
)
op(
    "erfinv(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("erfinv_(x)", dtypes=FLOATING, out="float", cost=16),
    grad={"self": "ops::_scaled_product(grad, ops::exp(result * result), 0.8862269254527580)"},
    jvp="elementwise",
    doc="Inverse of the error function.",
    samples=unary(low=-0.8, high=0.8) + [S(I(3))],
    special=(0.0, 1.0, -1.0, 2.0),
    reference="scipy.special.erfinv",
)

for name, expr, low, high, formula, words in (
    ("lgamma", "lgamma_(x)", 0.3, 5, "grad * ops::digamma(self)", "Logarithm of the absolute gamma function"),
    ("digamma", "digamma_(x)", 0.3, 5, "grad * ops::polygamma(1, self)", "Derivative of lgamma"),
    ("i0", "i0_(x)", -3, 3, "grad * ops::special_i1(self)", "Modified Bessel function of order 0"),
    ("special_i0e", "i0e_(x)", 0.2, 3, "grad * (ops::special_i1e(self) - ops::sgn(self) * result)", "i0 times exp(-|x|)"),
    ("special_i1", "i1_(x)", 0.2, 3, "i1_backward(grad, self, result)", "Modified Bessel function of order 1"),
    ("special_i1e", "i1e_(x)", 0.2, 3, "i1e_backward(grad, self, result)", "special.i1 times exp(-|x|)"),
    ("special_erfcx", "erfcx_(x)", -2, 2, "grad * (result * self * 2 - 1.1283791670955126)", "exp(x ** 2) * erfc(x)"),
    ("special_ndtri", "ndtri_(x)", 0.1, 0.9, "ops::_scaled_product(grad, ops::exp(result * result * 0.5), 2.5066282746310002)", "Inverse of the normal distribution function"),
    ("special_log_ndtr", "log_ndtr_(x)", -3, 3, "ops::_scaled_product(grad, ops::reciprocal(ops::special_erfcx(self * -0.7071067811865476)), 0.7978845608028654)", "Logarithm of the normal distribution function"),
    ("special_entr", "entropy(x)", 0.2, 3, "special_entr_backward(grad, self)", "-x * log(x)"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        variants="function out" if name.startswith("special") else EVERYWHERE,
        kernel=pointwise(expr, dtypes=("f32", "f64") if name in ("special_erfcx", "special_ndtri", "special_log_ndtr") else FLOATING, out="float", cost=200),
        grad={"self": formula},
        node={"special_i0e": "SpecialI0EBackward0", "special_i1e": "SpecialI1EBackward0"}.get(name, ""),
        jvp="elementwise",
        doc=f"{words}.",
        samples=unary(low=low, high=high) + [S(I(3, low=1))],
        special=(0.0, 1.0, 0.5, 40.0),
        reference=f"scipy.special.{ {'lgamma': 'gammaln'}.get(name, name.removeprefix('special_')) }",
    )
op(
    "polygamma(int n, Tensor self) -> Tensor",
    variants="function out",
    kernel=pointwise("polygamma_(static_cast<int>(n), x)", dtypes=FLOATING, out="float", params=("n",), cost=200, check="check_polygamma(n);"),
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
for name, words in (("igamma", "lower"), ("igammac", "upper")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_(x, y)", dtypes=FLOATING, out="float", cost=250),
        grad={"self": f'not_implemented("{name} for its first argument")', "other": f"{'-' if name == 'igammac' else ''}igamma_backward(grad, self, other)"},
        jvp="elementwise",
        doc=f"The regularised {words} incomplete gamma function.",
        samples=[S(T(3, 4, low=0.5, high=4, grad=False), T(3, 4, low=0.3, high=5)), S(T(4, low=0.5, high=4, grad=False), T(3, 4, low=0.3, high=5)), S(T(0), T(0))],
        errors=(BROADCAST_ERROR,),
        reference=f"scipy.special.{dict(igamma='gammainc', igammac='gammaincc')[name]}",
    )
op(
    "special_ndtr(Tensor self) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="The normal distribution function.",
    samples=unary() + [S(I(3))],
    reference="scipy.special.ndtr",
)
for name, first, second in (("", "Tensor", "Tensor"), (".scalar", "Tensor", "Operand"), (".self_scalar", "Operand", "Tensor")):
    log1py = {"self": "xlog1py_backward_self(grad, self, other)", "other": "grad * self / (other + 1)"}
    op(
        f"special_xlog1py{name}({first} self, {second} other) -> Tensor",
        variants="function out",
        kernel=pointwise("x_log1p_y(x, y)", dtypes=FLOATING, out="float", cost=12),
        grad=log1py if not name else {"self": log1py["self"]} if name == ".scalar" else {"other": "xlog1py_backward_other(grad, self, other)"},
        node={"": "SpecialXlog1PyBackward0", ".scalar": "SpecialXlog1PyBackward2", ".self_scalar": "SpecialXlog1PyBackward1"}[name],
        jvp="elementwise",
        doc="self * log1p(other), 0 where self is 0.",
        samples=[*binary(low2=-0.5)] if not name else [S(T(3, 4), 1.5)] if name == ".scalar" else [S(1.5, T(3, 4, low=-0.5)), S(0.0, T(3, low=-0.5))],
    )
    op(
        f"special_zeta{name}({first} self, {second} other) -> Tensor",
        variants="function out",
        kernel=pointwise("zeta_(x, y)", dtypes=("f32", "f64"), out="float", cost=200),
        grad=(
            {"self": 'not_implemented("zeta for its first argument")', "other": "zeta_backward_other(grad, self, other)"} if not name
            else {"self": 'not_implemented("zeta for its first argument")'} if name == ".scalar" else {"other": "zeta_backward_other(grad, self, other)"}
        ),
        node={"": "SpecialZetaBackward0", ".scalar": "SpecialZetaBackward2", ".self_scalar": "SpecialZetaBackward1"}[name],
        jvp="elementwise",
        doc="Hurwitz's zeta function: the sum of (other + k) ** -self.",
        samples=(
            [S(T(3, 4, low=1.5, high=4, grad=False), T(3, 4, low=0.5)), S(T(3, low=1.5, high=4, grad=False), T(2, 3, low=0.5))] if not name
            else [S(T(3, low=1.5, high=4, grad=False), 1.5)] if name == ".scalar" else [S(2.0, T(3, 4, low=0.5)), S(2, I(3, low=1))]
        ),
    )

# ---- rounding ----

for name, expr in (("floor", "floor"), ("ceil", "ceil"), ("round", "rint"), ("trunc", "trunc")):
    op(
        f"{name}(Tensor self) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{expr}_of(x)", dtypes=NUMERIC),
        grad={"self": "zero_gradient(grad)"},
        jvp="elementwise",
        doc={"floor": "Largest integer not above each element.", "ceil": "Smallest integer not below each element.", "round": "Nearest integer, the even one of two.", "trunc": "Each element without its fraction."}[name],
        samples=unary() + [S(I(3))],
        errors=(E(S(B(3)), RuntimeError, "not implemented for 'Bool'"),),
        special=(-0.5, 0.5, 1.5, 2.5),
        reference=f"numpy.{name}",
    )
op(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="round_decimals_inplace",
    grad={"self": "zero_gradient(grad)"},
    node="RoundBackward1",
    jvp="elementwise",
    doc="Rounded to a number of decimals.",
    samples=unary(decimals=1) + unary(low=-100, high=100, decimals=-1)[:3] + [S(T(5), decimals=0)],
    errors=(E(S(I(3), decimals=1), RuntimeError, "not implemented for"),),
)
op(
    "_round_decimals(Tensor self, float scale, bool multiply) -> Tensor",
    variants="internal",
    kernel=pointwise("multiply != T(0) ? rint_of(x * scale) / scale : rint_of(x / scale) * scale", dtypes=FLOATING, params=("scale", "multiply"), cost=8, label="round"),
    doc="Rounding at a power of ten.",
)
op(
    "frac(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x - trunc_of(x)", dtypes=FLOATING),
    grad={"self": "grad"},
    jvp="elementwise",
    doc="The fraction of each element, with its sign.",
    samples=unary(low=0.1, high=0.9),
)

# ---- bounds ----

op(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="clamp_inplace",
    grad={"self": "clamp_backward(grad, self, min, max)"},
    node="ClampBackward1",
    jvp="elementwise",
    doc="self limited to [min, max].",
    samples=unary(min=-1.0, max=0.7) + unary(min=0.3)[:3] + unary(max=0.3)[:3] + [S(T(5), 0.7, -0.3), S(I(5), 1, 2), S(I(5), 1.5)],
    errors=(E(S(T(3)), RuntimeError, "At least one of 'min' or 'max' must not be None"),),
)
op(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="clamp_min_inplace",
    grad={"self": "clamp_backward(grad, self, min, std::nullopt)"},
    node="ClampMinBackward0",
    jvp="elementwise",
    doc="self, at least min.",
    samples=unary(min=0.3) + [S(I(5), 2)],
)
op(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="clamp_max_inplace",
    grad={"self": "clamp_backward(grad, self, std::nullopt, max)"},
    node="ClampMaxBackward0",
    jvp="elementwise",
    doc="self, at most max.",
    samples=unary(max=0.3) + [S(I(5), 2)],
)
op(
    "_clamp(Tensor self, Operand min, Operand max) -> Tensor",
    variants="internal",
    kernel=pointwise("min_nan(max_nan(x, y), z)", dtypes=NUMERIC, label="clamp_scalar"),
    doc="self limited to [min, max].",
)
op("_clamp_below(Tensor self, Operand min) -> Tensor", variants="internal", kernel=pointwise("max_nan(x, y)", dtypes=NUMERIC, label="clamp_min_scalar"), doc="self, at least min.")
op("_clamp_above(Tensor self, Operand max) -> Tensor", variants="internal", kernel=pointwise("min_nan(x, y)", dtypes=NUMERIC, label="clamp_max_scalar"), doc="self, at most max.")
op(
    "_clamp_backward(Tensor grad_output, Tensor self, Scalar min, Scalar max) -> Tensor",
    variants="internal",
    kernel=pointwise("y >= min && y <= max ? x : T(0)", dtypes=FLOATING, out="float", params=("min", "max")),
    grad={"grad_output": "ops::_clamp_backward(grad, self, min, max)"},
    jvp="elementwise",
    doc="Gradient of clamp: passes inside the bounds, the bounds included.",
)

op(
    "clamp.tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="clamp_tensor_inplace",
    grad={"self": "clamp_tensor_backward_self(grad, self, min, max)", "min": "clamp_tensor_backward_min(grad, self, min, max)", "max": "clamp_tensor_backward_max(grad, self, min, max)"},
    jvp="elementwise",
    doc="self limited to [min, max].",
    samples=[S(T(3, 4), T(3, 4, low=-1, high=0), T(3, 4, low=0, high=1)), S(T(3, 4), T(4, low=-1, high=0), T(3, 1, low=0, high=1)), S(T(3, 4), min=T(4)), S(T(3, 4), max=T()), S(T(0), T(0), T(0)), S(I(5), I(5), T(5)), S(T(4), T(4, low=1, high=2), T(4, low=-2, high=-1))],
    errors=(E(S(T(3), T(4)), RuntimeError, "must match the size of tensor b"),),
)
op(
    "clamp_min.tensor(Tensor self, Tensor min) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("max_nan(x, y)", dtypes=NUMERIC, label="clamp_min_scalar"),
    grad={"self": "clamp_tensor_backward_self(grad, self, min, Tensor())", "min": "clamp_tensor_backward_min(grad, self, min, Tensor())"},
    node="ClampMinBackward1",
    jvp="elementwise",
    doc="self, at least min.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
)
op(
    "clamp_max.tensor(Tensor self, Tensor max) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("min_nan(x, y)", dtypes=NUMERIC, label="clamp_max_scalar"),
    grad={"self": "clamp_tensor_backward_self(grad, self, Tensor(), max)", "max": "clamp_tensor_backward_max(grad, self, Tensor(), max)"},
    node="ClampMaxBackward1",
    jvp="elementwise",
    doc="self, at most max.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
)
for name, which, sign in (("maximum", "larger", ">"), ("minimum", "smaller", "<")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        variants=FUNCTION,
        kernel=pointwise(f"{name[:3]}_nan(x, y)"),
        grad={"self": f"ops::_{name}_backward(grad, self, other)", "other": f"ops::_{name}_backward(grad, other, self)"},
        jvp="elementwise",
        doc=f"The {which} of two elements; nan if either is.",
        samples=binary() + [S(I(5), I(5)), S(B(4), B(4)), S(I(3), T(3)), S(T(4, values=(1.0, float("nan"), 2.0, float("nan"))), T(4, values=(float("nan"), 1.0, 3.0, float("nan"))))],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.{name}",
    )
    op(
        f"_{name}_backward(Tensor grad_output, Tensor self, Tensor other) -> Tensor",
        variants="internal",
        kernel=pointwise(f"y == z ? x / 2 : z {sign} y ? T(0) : x", dtypes=FLOATING, out="float"),
        grad={"grad_output": f"ops::_{name}_backward(grad, self, other)"},
        jvp="elementwise",
        doc=f"Gradient of {name} for self: half of it where both are equal.",
    )
    op(
        f"f{name[:3]}(Tensor self, Tensor other) -> Tensor",
        variants=FUNCTION,
        kernel=pointwise(f"y != y || x {sign}= y ? x : y"),
        grad={"self": f"f{name[:3]}_backward(grad, self, other, true)", "other": f"f{name[:3]}_backward(grad, self, other, false)"},
        jvp="elementwise",
        doc=f"The {which} of two elements, ignoring nan.",
        samples=binary() + [S(I(5), I(5)), S(T(4, values=(1.0, float("nan"), 2.0, float("nan")), grad=False), T(4, values=(float("nan"), 1.0, 3.0, float("nan")), grad=False))],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.f{name[:3]}",
    )
op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True),
    inplace="nan_to_num_inplace",
    grad={"self": "ops::masked_fill(grad, ops::logical_not(ops::isfinite(self)), 0)"},
    jvp="elementwise",
    doc="nan, inf and -inf replaced: by 0, the largest and the smallest finite number unless given.",
    samples=unary() + [S(T(4, values=(float("nan"), float("inf"), float("-inf"), 1.0), grad=False)), S(T(4, values=(float("nan"), float("inf"), float("-inf"), 1.0), grad=False), 1.0, 2.0, 3.0), S(I(3)), S(B(3))],
    reference="numpy.nan_to_num",
)
op(
    "_nan_to_num(Tensor self, float nan, float posinf, float neginf) -> Tensor",
    variants="internal",
    kernel=pointwise("x != x ? nan : is_inf(x) ? (x > 0 ? posinf : neginf) : x", dtypes=FLOATING, params=("nan", "posinf", "neginf")),
    doc="nan, inf and -inf replaced.",
)

# ---- number formats and steps ----

op(
    "copysign(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("copysign_(x, y)", dtypes=FLOATING, out="float"),
    grad={"self": "copysign_backward(grad, self, result)", "other": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="The magnitude of self with the sign of other.",
    samples=binary(low=0.2) + [S(I(3), I(3))],
    errors=(BROADCAST_ERROR,),
    reference="numpy.copysign",
)
op(
    "copysign.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("copysign_(x, y)", dtypes=FLOATING, out="float"),
    grad={"self": "copysign_backward(grad, self, result)"},
    node="CopysignBackward1",
    jvp="elementwise",
    doc="The magnitude of self with the sign of a number.",
    samples=unary(low=0.2, other=-1.0),
)
op(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("std::nextafter(x, y)", dtypes=("f32", "f64"), cost=20),
    grad={"self": "ops::where(ops::eq(self, other), 0.0, grad)", "other": "ops::where(ops::eq(self, other), grad, 0.0)"},
    jvp="elementwise",
    doc="The number next to self in the direction of other.",
    samples=binary(),
    errors=(BROADCAST_ERROR, E(S(I(3), I(3)), RuntimeError, "not implemented for 'Long'")),
    reference="numpy.nextafter",
    test={"grad": False},  # a step function of its second argument: no difference quotient
)
op(
    "ldexp(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x * exp2_(y)", dtypes=FLOATING, out="float", cost=10),
    grad={"self": "grad * ops::exp2(other)", "other": "ops::_scaled_product(grad, result, 0.6931471805599453)"},
    jvp="elementwise",
    doc="self * 2 ** other.",
    samples=binary() + [S(T(3), I(3)), S(I(3), I(3))],
    errors=(BROADCAST_ERROR,),
)
op(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x == T(0) ? y : T(x > T(0))", check="check_heaviside(self, values);"),
    grad={"self": 'not_implemented("heaviside")', "values": 'not_implemented("heaviside")'},
    doc="0 where self is negative, 1 where it is positive, values where it is 0.",
    samples=[S(T(3, 4, grad=False), T(4, grad=False)), S(T(3, values=(-1.0, 0.0, 1.0), grad=False), T(grad=False)), S(I(4, low=-1), I(4))],
    errors=(E(S(T(3), I(3)), RuntimeError, "heaviside is not yet implemented for tensors with different dtypes"),),
    reference="numpy.heaviside",
    test={"grad": False},  # not differentiable, as in PyTorch
)

# ---- complex numbers, which there are none of yet ----

op("real(Tensor self) -> Tensor", variants="function", kernel=view(), doc="The real part: self.", samples=unary() + [S(I(3))], test={"alias": "self"})
op("conj(Tensor self) -> Tensor", kernel=view(), doc="The complex conjugate: self, for real numbers.", samples=unary() + [S(I(3))], test={"alias": "self"})
op("resolve_conj(Tensor self) -> Tensor", kernel=view(), doc="self with any pending conjugation carried out.", samples=unary(), test={"alias": "self"})
op("resolve_neg(Tensor self) -> Tensor", kernel=view(), doc="self with any pending negation carried out.", samples=unary(), test={"alias": "self"})
op("imag(Tensor self) -> Tensor", variants="function", kernel=view(), doc="The imaginary part of a complex tensor.", errors=(E(S(T(3)), RuntimeError, "imag is not implemented for tensors with non-complex dtypes"),))

# ---- activations ----

op(
    "relu(Tensor self) -> Tensor",
    variants="function method inplace",
    kernel=pointwise("x < T(0) ? T(0) : x", dtypes=NUMERIC, check="check_relu(self);"),
    grad={"self": "ops::threshold_backward(grad, result, 0)"},
    jvp="elementwise",
    doc="self where positive, else 0.",
    samples=unary() + [S(I(3, low=-3))],
    errors=(E(S(B(3)), RuntimeError, "Boolean inputs not supported for relu"),),
)
op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    variants="internal",
    kernel=pointwise("y <= threshold ? T(0) : x", dtypes=NUMERIC, params=("threshold",)),
    grad={"grad_output": "ops::threshold_backward(grad, self, threshold)", "self": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="Gradient of relu and threshold.",
)

op(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x <= threshold ? value : x", dtypes=NUMERIC, params=("threshold", "value")),
    grad={"self": "ops::threshold_backward(grad, self, threshold)"},
    jvp="elementwise",
    doc="self where it exceeds the threshold, else value.",
    samples=unary(threshold=0.1, value=-1.0) + [S(I(4), 1, 7)],
)
op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x > 0 ? x : x * negative_slope", dtypes=FLOATING, params=("negative_slope",)),
    grad={"self": "ops::leaky_relu_backward(grad, self, negative_slope)"},
    jvp="elementwise",
    doc="self where positive, else negative_slope * self.",
    samples=unary() + unary(negative_slope=0.2)[:2],
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor",
    variants="internal",
    kernel=pointwise("y > 0 ? x : x * negative_slope", dtypes=FLOATING, out="float", params=("negative_slope",)),
    grad={"grad_output": "ops::leaky_relu_backward(grad, self, negative_slope)", "self": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="Gradient of leaky_relu.",
)
op(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x > 0 ? x * scale : alpha * scale * expm1_(x * input_scale)", dtypes=FLOATING, params=("alpha", "scale", "input_scale"), cost=12),
    grad={"self": "ops::elu_backward(grad, self, alpha, scale, input_scale)"},
    jvp="elementwise",
    doc="self where positive, else alpha * (exp(self) - 1).",
    samples=unary() + unary(alpha=1.5)[:2] + unary(alpha=1.2, scale=0.7, input_scale=1.3)[:2],
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar input_scale) -> Tensor",
    variants="internal",
    kernel=pointwise("y <= 0 ? x * input_scale * alpha * scale * exp_(y * input_scale) : x * scale", dtypes=FLOATING, out="float", params=("alpha", "scale", "input_scale"), cost=12),
    grad={"grad_output": "ops::elu_backward(grad, self, alpha, scale, input_scale)", "self": "elu_double_backward(grad, grad_output, self, alpha, scale, input_scale)"},
    jvp="elementwise",
    doc="Gradient of elu.",
)
op(
    "selu(Tensor self) -> Tensor",
    variants="function inplace",
    kernel=composite(),
    doc="Self-normalising exponential linear unit.",
    samples=unary(),
)
op(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    variants="function inplace",
    kernel=native(elementwise=True),
    inplace="celu_inplace",
    grad={"self": "ops::elu_backward(grad, self, alpha, 1, 1 / alpha.to_double())"},
    jvp="elementwise",
    doc="self where positive, else alpha * (exp(self / alpha) - 1).",
    samples=unary() + unary(alpha=1.5)[:2],
    errors=(E(S(T(3), 0), RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU"),),
)
op(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    variants="function out",
    kernel=pointwise("softplus_(x, beta, threshold)", dtypes=FLOATING, params=("beta", "threshold"), cost=16),
    grad={"self": "ops::softplus_backward(grad, self, beta, threshold)"},
    jvp="elementwise",
    doc="log(1 + exp(beta * self)) / beta.",
    samples=unary() + unary(beta=2, threshold=1)[:2],
    special=(0.0, 50.0, -50.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    variants="internal",
    kernel=pointwise("y * beta > threshold ? x : x * sigmoid_(y * beta)", dtypes=FLOATING, out="float", params=("beta", "threshold"), cost=12),
    grad={"grad_output": "ops::softplus_backward(grad, self, beta, threshold)", "self": "softplus_double_backward(grad * grad_output, self, beta, threshold)"},
    jvp="elementwise",
    doc="Gradient of softplus.",
)
op(
    "log_sigmoid(Tensor self) -> Tensor",
    variants="function out",
    kernel=pointwise("log_sigmoid_(x)", dtypes=FLOATING, cost=14),
    grad={"self": "ops::log_sigmoid_backward(grad, self)"},
    jvp="elementwise",
    doc="log(sigmoid(self)) without overflow.",
    samples=unary(),
    special=(0.0, 100.0, -100.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("x * sigmoid_(-y)", dtypes=FLOATING, out="float", cost=12),
    grad={"grad_output": "ops::log_sigmoid_backward(grad, self)", "self": "-ops::sigmoid_backward(grad * grad_output, ops::sigmoid(self))"},
    jvp="elementwise",
    doc="Gradient of log_sigmoid.",
)
op(
    "silu(Tensor self) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("silu_(x)", dtypes=FLOATING, cost=12),
    grad={"self": "ops::silu_backward(grad, self)"},
    jvp="elementwise",
    doc="self * sigmoid(self).",
    samples=unary(),
    special=(0.0, 100.0, -100.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("silu_slope(x, y)", dtypes=FLOATING, out="float", cost=14),
    grad={"grad_output": "ops::silu_backward(grad, self)", "self": "silu_double_backward(grad * grad_output, self)"},
    jvp="elementwise",
    doc="Gradient of silu.",
)
op(
    "mish(Tensor self) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("mish_(x)", dtypes=FLOATING, cost=24),
    grad={"self": "ops::mish_backward(grad, self)"},
    jvp="elementwise",
    doc="self * tanh(softplus(self)).",
    samples=unary(),
    special=(0.0, 100.0, -100.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "mish_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("mish_slope(x, y)", dtypes=FLOATING, out="float", cost=28),
    grad={"grad_output": "ops::mish_backward(grad, self)", "self": "mish_double_backward(grad * grad_output, self)"},
    jvp="elementwise",
    doc="Gradient of mish.",
)
op(
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    variants="function out",
    kernel=native(elementwise=True),
    grad={"self": "gelu_backward(grad, self, approximate)"},
    jvp="elementwise",
    doc="self times the normal distribution function of self, exactly or by PyTorch's 'tanh' approximation.",
    samples=unary() + unary(approximate="tanh"),
    special=(0.0, 10.0, -10.0),
    errors=(E(S(T(3), approximate="x"), RuntimeError, "approximate argument must be either none or tanh"), E(S(I(3)), RuntimeError, "not implemented for 'Long'")),
)
op("_gelu(Tensor self) -> Tensor", variants="internal", kernel=pointwise("gelu_(x)", dtypes=FLOATING, label="gelu", cost=16), doc="gelu, exact.")
op("_gelu_tanh(Tensor self) -> Tensor", variants="internal", kernel=pointwise("gelu_tanh_(x)", dtypes=FLOATING, label="gelu", cost=14), doc="gelu, approximate.")
op(
    "_gelu_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("x * (normal_cdf_(y) + y * normal_pdf_(y))", dtypes=FLOATING, out="float", cost=24),
    grad={"grad_output": "ops::_gelu_backward(grad, self)", "self": "gelu_double_backward(grad * grad_output, self)"},
    node="GeluBackwardBackward0",
    jvp="elementwise",
    doc="Gradient of gelu.",
)
op(
    "_gelu_tanh_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("gelu_tanh_slope(x, y)", dtypes=FLOATING, out="float", cost=20),
    grad={"grad_output": "ops::_gelu_tanh_backward(grad, self)", "self": "gelu_tanh_double_backward(grad * grad_output, self)"},
    node="GeluTanhBackwardBackward0",
    jvp="elementwise",
    doc="Gradient of the approximate gelu.",
)
op(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("min_nan(max_nan(x, min_val), max_val)", dtypes=NUMERIC, params=("min_val", "max_val"), check="check_hardtanh(self, min_val, max_val);"),
    grad={"self": "ops::hardtanh_backward(grad, self, min_val, max_val)"},
    jvp="elementwise",
    doc="self limited to [min_val, max_val]; no gradient passes at the bounds.",
    samples=unary() + unary(min_val=-0.5, max_val=0.7)[:2] + [S(I(4, low=-3))],
    errors=(E(S(T(3), 2, 1), ValueError, "min_val cannot be greater than max_val"),),
)
op(
    "relu6(Tensor self) -> Tensor",
    variants="function inplace",
    kernel=composite(),
    doc="self limited to [0, 6].",
    samples=unary(low=-3, high=9) + [S(I(4, low=-3, high=9))],
)
op(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    variants="internal",
    kernel=pointwise("y <= min_val || y >= max_val ? T(0) : x", dtypes=FLOATING, out="float", params=("min_val", "max_val")),
    grad={"grad_output": "ops::hardtanh_backward(grad, self, min_val, max_val)", "self": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="Gradient of hardtanh.",
)
op(
    "hardsigmoid(Tensor self) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("min_nan(max_nan(x + 3, T(0)), T(6)) / 6", dtypes=FLOATING),
    grad={"self": "times(ops::hardtanh_backward(grad, self, -3, 3), 1.0 / 6)"},
    jvp="elementwise",
    doc="A piecewise linear sigmoid: (self + 3) / 6 limited to [0, 1].",
    samples=unary(low=-5, high=5),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "hardswish(Tensor self) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x * min_nan(max_nan(x + 3, T(0)), T(6)) / 6", dtypes=FLOATING),
    grad={"self": "ops::hardswish_backward(grad, self)"},
    jvp="elementwise",
    doc="self * hardsigmoid(self).",
    samples=unary(low=-5, high=5),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("y <= -3 ? T(0) : y < 3 ? x * (y / 3 + T(0.5)) : x", dtypes=FLOATING, out="float"),
    grad={"grad_output": "ops::hardswish_backward(grad, self)", "self": "times(ops::hardtanh_backward(grad * grad_output, self, -3, 3), 1.0 / 3)"},
    jvp="elementwise",
    doc="Gradient of hardswish.",
)
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    variants="function method out",
    kernel=pointwise("x >= -lambd && x <= lambd ? T(0) : x", dtypes=FLOATING, params=("lambd",)),
    grad={"self": "ops::_shrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    doc="self, but 0 in [-lambd, lambd].",
    samples=unary() + unary(lambd=0.3)[:2],
)
op(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    variants="function out",
    kernel=pointwise("x > lambd ? x - lambd : x < -lambd ? x + lambd : x * T(0)", dtypes=FLOATING, params=("lambd",), check="check_softshrink(lambd);"),
    grad={"self": "ops::_shrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    doc="self moved towards 0 by lambd.",
    samples=unary() + unary(lambd=0.3)[:2],
    errors=(E(S(T(3), -1.0), RuntimeError, "lambda must be in range"),),
)
op(
    "_shrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
    variants="internal",
    kernel=pointwise("y >= -lambd && y <= lambd ? T(0) : x", dtypes=FLOATING, out="float", params=("lambd",)),
    grad={"grad_output": "ops::_shrink_backward(grad, self, lambd)", "self": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="Gradient of hardshrink and softshrink.",
)

# ---- selection ----

op(
    "where(Tensor condition, Operand self, Operand other) -> Tensor",
    variants="function out",
    kernel=native(elementwise=True),
    grad={"self": "ops::where(condition, grad, 0.0)", "other": "ops::where(condition, 0.0, grad)"},
    jvp="elementwise",
    doc="self where the condition holds, other elsewhere.",
    samples=[S(B(3, 4), T(3, 4), T(3, 4)), S(B(4), T(3, 1), T()), S(B(3, 1), T(4), T(3, 4)), S(B(), T(3), 2.0), S(B(3), 1, T(2, 3)), S(B(3), 1.0, 0.0), S(B(3), 1, 0), S(B(0), T(0), T(0)), S(B(3), I(3), T(3)), S(B(70), T(70), T(70))],
    errors=(E(S(T(3), T(3), T(3)), RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype Float"), E(S(B(3), T(4), T(4)), RuntimeError, "must match the size of tensor b")),
    reference="numpy.where",
)
op(
    "where.nonzero(Tensor condition) -> Tensor[]",
    variants="function",
    kernel=composite(),
    doc="The indices at which the condition holds, one tensor per dimension.",
    samples=[S(B(3, 4)), S(B(5)), S(B()), S(B(0))],
)
op(
    "where.method(Tensor self, Tensor condition, Operand other) -> Tensor",
    variants="method",
    kernel=composite(),
    doc="self where the condition holds, other elsewhere.",
    samples=[S(T(3, 4), B(3, 4), T(3, 4)), S(T(3), B(2, 3), 0.0)],
)
op(
    "masked_fill(Tensor self, Tensor mask, Scalar value) -> Tensor",
    variants="function method inplace",
    kernel=native(elementwise=True),
    inplace="masked_fill_inplace",
    grad={"self": "ops::masked_fill(grad, mask, 0)"},
    jvp="elementwise",
    doc="self with value where the mask is true.",
    samples=[S(T(3, 4), B(3, 4), 2.0), S(T(3, 4), B(4), -1), S(T(3), B(), 0), S(T(0), B(0), 1), S(T(), B(), 1.5), S(I(4), B(4), 7)],
    errors=(E(S(T(3), I(3), 1.0), RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype"), E(S(T(3), B(4), 1.0), RuntimeError, "must match the size of tensor b")),
)
op(
    "masked_fill.tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    variants="function method inplace",
    kernel=native(elementwise=True),
    inplace="masked_fill_tensor_inplace",
    grad={"self": "ops::masked_fill(grad, mask, 0)", "value": "ops::where(mask, grad, 0.0)"},
    node="MaskedFillBackward1",
    jvp="elementwise",
    doc="self with a 0-d tensor's value where the mask is true.",
    samples=[S(T(3, 4), B(3, 4), T()), S(T(3, 4), B(4), T()), S(T(3), B(), T())],
    errors=(E(S(T(3), B(3), T(3)), RuntimeError, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension"),),
)

# ---- a number on the left, which torch.add and its siblings take as well ----

op("add.left(Scalar self, Tensor other, *, Scalar alpha=1) -> Tensor", variants="function", kernel=composite(), doc="self + alpha * other.", samples=[S(2, T(3)), S(1.5, T(3), alpha=2)])
op("sub.left(Scalar self, Tensor other, *, Scalar alpha=1) -> Tensor", variants="function", kernel=composite(), doc="self - alpha * other.", samples=[S(2, T(3)), S(1.5, T(3), alpha=2)])
op("mul.left(Scalar self, Tensor other) -> Tensor", variants="function", kernel=composite(), doc="self * other.", samples=[S(2, T(3)), S(2.5, I(3))])
op("div.left(Scalar self, Tensor other) -> Tensor", variants="function", kernel=composite(), doc="self / other.", samples=[S(2, T(3, low=0.5)), S(2, I(3, low=1))])

# ---- in Python ----

op(
    "float_power(Operand self, Operand exponent) -> Tensor",
    variants="function method",
    kernel=python("retrograd._ops.pointwise:float_power"),
    doc="pow computed in float64.",
    samples=[S(T(3, 4, low=0.3), 2), S(I(3), 0.5), S(T(3, low=0.3), T(3)), S(2.0, T(3))],
    reference="numpy.float_power",
)

op(
    "mvlgamma(Tensor self, int p) -> Tensor",
    variants="function method inplace",
    kernel=pointwise("mvlgamma_of(x, p)", dtypes=FLOATING, out="float", params=("p",), cost=250, check="check_mvlgamma(p);"),
    grad={"self": "mvlgamma_backward(grad, self, p)"},
    jvp="elementwise",
    doc="Logarithm of the multivariate gamma function of dimension p.",
    samples=[S(T(3, 4, low=1.5, high=4), 2), S(T(3, low=1.5), 1), S(T(low=2.5, high=4), 4)],
    errors=(E(S(T(3), 0), RuntimeError, "p has to be greater than or equal to 1"),),
)

# ---- other names ----

op("true_divide(Tensor self, Operand other) -> Tensor", variants=EVERYWHERE, kernel=Kernel("alias", target="div"), doc="Another name for `div`.", samples=binary(low2=0.5, scalar=1.5))

for name, of in (
    ("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("negative", "neg"), ("absolute", "abs"), ("clip", "clamp"), ("fix", "trunc"),
    ("arcsin", "asin"), ("arccos", "acos"), ("arctan", "atan"), ("arctan2", "atan2"), ("arcsinh", "asinh"), ("arccosh", "acosh"), ("arctanh", "atanh"),
    ("not_equal", "ne"), ("less", "lt"), ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge"),
):  # fmt: skip
    alias(name, of)
