"""Elementwise ops: arithmetic, comparison, logic, rounding, bounds, selection; functions and activations are in the modules beside.

Expressions are C++ over x, y, z (the tensor arguments in order) and the named scalar parameters; what they may call beside operators is in
csrc/cpu/vecmath.h (exp_, tanh_, ...) and csrc/cpu/pointwise_math.h. Formulas follow PyTorch where a derivative does not exist:
abs'(0) = 0, relu'(0) = 0, clamp passes the gradient at its bounds, maximum splits it between equal inputs.
"""

from __future__ import annotations

from . import ALL, BITWISE, FLOATING, INTEGRAL, NUMERIC, Kernel, alias, composite, native, op, pointwise, python
from .facts import FOUND, INTEGERS, PART, Out, by
from .pointwise_activations import *
from .pointwise_functions import EVERYWHERE, FUNCTION
from .samples import BROADCAST_ERROR, B, E, I, S, T, binary, unary


def far_quotient(expr: str) -> tuple[str, str]:
    """Division with remainder: what is too large for the vectorised kernel takes the C library's fmod, or the processor's division of integers."""
    return "quotient_too_large(x, y)", expr


# ---- arithmetic ----

op(
    "add(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("add_scaled(x, y, alpha)", params=("alpha",), check="check_alpha(self, other, alpha);", complex=True, guests="bits"),
    grad={"self": "grad", "other": "times(grad, alpha)"},
    jvp="elementwise",
    vmap_name="inplace arithmetic",
    doc="self + alpha * other.",
    samples=binary(scalar=1.5) + binary(alpha=2.5)[:3] + [S(I(3), I(3)), S(I(3), 2), S(B(3), B(3)), S(I(3), T(2, 3)), S(T(3), True)],
    errors=(
        BROADCAST_ERROR,
        E(S(I(3), I(3), alpha=1.5), RuntimeError, "alpha must not be a floating point number"),
        E(S(I(3), I(3), alpha=True), RuntimeError, "Boolean alpha only supported"),
    ),
    reference="numpy.add",
)
op(
    "sub(Tensor self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "sub_scaled(x, y, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);", complex=True, guests="bits"
    ),
    grad={"self": "grad", "other": "times(grad, -alpha)"},
    jvp="elementwise",
    vmap_name="inplace arithmetic",
    doc="self - alpha * other.",
    samples=binary(scalar=1.5) + binary(alpha=2.5)[:3] + [S(I(3), I(3)), S(I(3), 2), S(I(3), T(2, 3))],
    errors=(
        BROADCAST_ERROR,
        E(S(B(3), B(3)), RuntimeError, "with two bool tensors is not supported"),
        E(S(B(3), T(3)), RuntimeError, "with a bool tensor is not supported"),
    ),
    reference="numpy.subtract",
)
op(
    "rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=pointwise(
        "sub_scaled(y, x, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);", complex=True, guests="bits"
    ),
    grad={"self": "times(grad, -alpha)", "other": "grad"},
    jvp="elementwise",
    doc="other - alpha * self.",
    samples=binary() + binary(alpha=2.5)[:2],
    errors=(BROADCAST_ERROR,),
)
op(
    "rsub.scalar(Tensor self, Operand other, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=pointwise(
        "sub_scaled(y, x, alpha)", dtypes=NUMERIC, params=("alpha",), check="check_sub(self, other, alpha);", complex=True, guests="bits"
    ),
    grad={"self": "times(grad, -alpha)"},
    node="RsubBackward1",
    jvp="elementwise",
    nondiff=("other",),
    doc="other - alpha * self.",
    samples=unary(other=1.5) + [S(I(3), 2)],
    errors=(E(S(B(3), 1), RuntimeError, "with a bool tensor is not supported"),),
)
op(
    "mul(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("multiply(x, y)", exact_numbers=True, complex=True, guests="bits"),
    grad={"self": "grad * other", "other": "grad * self"},
    jvp="elementwise",
    vmap_name="inplace arithmetic",
    doc="self * other.",
    samples=binary(scalar=1.5) + [S(I(3), I(3)), S(I(3), 2), S(B(3), B(3)), S(I(3), T(2, 3))],
    errors=(BROADCAST_ERROR,),
    reference="numpy.multiply",
)
op(
    "div(Tensor self, Operand other) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise("x / y", dtypes=FLOATING, out="float", cost=6, exact_numbers=True, complex=True),
    grad={"self": "grad / other", "other": "ops::_div_backward_other(grad, self, other)"},
    jvp="elementwise",
    vmap_name="inplace arithmetic",
    doc="self / other; integers give a floating result.",
    samples=binary(low2=0.5, scalar=1.5) + [S(I(3), I(3, low=1)), S(I(3), 2)],
    errors=(BROADCAST_ERROR,),
    reference="numpy.true_divide",
)
op(
    "_div_backward_other(Tensor grad_output, Tensor self, Operand other) -> Tensor",
    steep=True,
    variants="internal",
    kernel=pointwise("-x * ((y / z) / z)", dtypes=FLOATING, out="float", cost=8, complex=True),
    grad={
        "grad_output": "ops::_div_backward_other(grad, self, other)",
        "self": "ops::_div_backward_other(grad, grad_output, other)",
        "other": "ops::_div_backward_other(grad * grad_output, self, other) / other * -2",
    },
    jvp="elementwise",
    doc="Gradient of div for its divisor.",
)
op(
    "div.mode(Tensor self, Operand other, *, str? rounding_mode) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=native(elementwise=True, complex=True, whole=True, guests="moves"),
    inplace="div_mode_inplace",
    grad={
        "self": "div_mode_backward_self(grad, other, rounding_mode)",
        "other": "div_mode_backward_other(grad, self, other, rounding_mode)",
    },
    node="DivBackward2",
    jvp="elementwise",
    vmap_name="inplace arithmetic",
    syncs=True,
    doc="self / other, rounded down ('floor') or towards zero ('trunc').",
    samples=[
        s
        for mode in ("floor", "trunc", None)
        for s in binary(low2=0.5, scalar=1.5, rounding_mode=mode)[:-2] + [S(I(5, low=-4), I(5, low=1), rounding_mode=mode)]
    ],
    errors=(
        E(
            S(T(3), T(3), rounding_mode="up"),
            RuntimeError,
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'",
        ),
    ),
)
op(
    "_div_trunc(Tensor self, Operand other) -> Tensor",
    variants="internal",
    kernel=pointwise("trunc_div(x, y)", dtypes=NUMERIC, label="div_trunc", check="check_int_divisor(self, other);", guests="own"),
    no_grad=PART,
    doc="self / other rounded towards zero, integers staying integers.",
)
op(
    "floor_divide(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "floor_div(x, y)",
        dtypes=NUMERIC,
        cost=12,
        label="div_floor",
        rare=far_quotient("floor_div_far(x, y)"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"self": 'not_implemented("floor_divide")', "other": 'not_implemented("floor_divide")'},
    out=Out(name="aten::floor_divide"),
    syncs=True,
    doc="self / other rounded down.",
    samples=binary(low2=0.5, scalar=1.5) + [S(I(5, low=-4), I(5, low=1)), S(I(3), 2)],
    errors=(
        BROADCAST_ERROR,
        E(S(I(3), 0), RuntimeError, "ZeroDivisionError"),
        E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError"),
    ),
    reference="numpy.floor_divide",
    test={"grad": False},  # not differentiable, as in PyTorch
)
op(
    "floor_divide.self_scalar(Operand self, Tensor other) -> Tensor",
    variants="function",
    kernel=pointwise(
        "floor_div(x, y)",
        dtypes=NUMERIC,
        cost=12,
        label="div_floor",
        rare=far_quotient("floor_div_far(x, y)"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"other": 'not_implemented("floor_divide")'},
    node="FloorDivideBackward1",
    nondiff=("self",),
    syncs=True,
    doc="self / other rounded down.",
    samples=[S(3.0, T(4, low=0.5, grad=False)), S(7, I(3, low=1))],
)

op(
    "remainder(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "remainder_of(x, y)",
        dtypes=NUMERIC,
        cost=12,
        rare=far_quotient("remainder_with(y, fmod_far(x, y))"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"self": "grad", "other": '-grad * ops::div_mode(self, other, "floor")'},
    node="RemainderBackward1",
    jvp="elementwise",
    syncs=True,
    doc="self modulo other, with the sign of other.",
    samples=binary(low2=0.5) + [S(T(7, low=-5, high=5), T(7, low=-2, high=-0.5)), S(I(5, low=-4), I(5, low=1))],
    errors=(BROADCAST_ERROR, E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError")),
    reference="numpy.remainder",
)
op(
    "remainder.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "remainder_of(x, y)",
        dtypes=NUMERIC,
        cost=12,
        rare=far_quotient("remainder_with(y, fmod_far(x, y))"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"self": "grad"},
    node="RemainderBackward0",
    jvp="elementwise",
    nondiff=("other",),
    doc="self modulo a number, with the sign of the number.",
    samples=unary(other=0.7) + [S(I(5, low=-4), 3), S(I(5), -3), S(I(5), 1.5)],
    errors=(E(S(I(3), 0), RuntimeError, "ZeroDivisionError"),),
)
op(
    "remainder.self_scalar(Operand self, Tensor other) -> Tensor",
    variants="function",
    kernel=pointwise(
        "remainder_of(x, y)",
        dtypes=NUMERIC,
        cost=12,
        rare=far_quotient("remainder_with(y, fmod_far(x, y))"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"other": 'not_implemented("remainder")'},
    node="RemainderBackward2",
    nondiff=("self",),
    syncs=True,
    doc="A number modulo other.",
    samples=[S(5.0, T(4, low=0.5, grad=False)), S(7, I(3, low=1))],
)
op(
    "fmod(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "fmod_of(x, y)",
        dtypes=NUMERIC,
        cost=12,
        rare=far_quotient("fmod_far(x, y)"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"self": "grad", "other": '-grad * ops::div_mode(self, other, "trunc")'},
    node="FmodBackward1",
    jvp="elementwise",
    syncs=True,
    doc="Remainder of self / other, with the sign of self.",
    samples=binary(low2=0.5) + [S(T(7, low=-5, high=5), T(7, low=-2, high=-0.5)), S(I(5, low=-4), I(5, low=1))],
    errors=(BROADCAST_ERROR, E(S(I(3), I(3, values=(1, 0, 2))), RuntimeError, "ZeroDivisionError")),
    reference="numpy.fmod",
)
op(
    "fmod.scalar(Tensor self, Operand other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise(
        "fmod_of(x, y)",
        dtypes=NUMERIC,
        cost=12,
        rare=far_quotient("fmod_far(x, y)"),
        check="check_int_divisor(self, other);",
        guests="own",
    ),
    grad={"self": "grad"},
    node="FmodBackward0",
    jvp="elementwise",
    nondiff=("other",),
    doc="Remainder of self divided by a number, with the sign of self.",
    samples=unary(other=0.7) + [S(I(5, low=-4), 3), S(I(5), 1.5)],
    errors=(E(S(I(3), 0), RuntimeError, "ZeroDivisionError"),),
)
op(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("add_product(x, y, z, value)", dtypes=NUMERIC, params=("value",), complex=True),
    grad={"self": "grad", "tensor1": "product_backward(grad, tensor2, value)", "tensor2": "product_backward(grad, tensor1, value)"},
    jvp="elementwise",
    doc="self + value * tensor1 * tensor2.",
    samples=[
        S(T(3, 4), T(3, 4), T(3, 4)),
        S(T(3, 4), T(3, 4), T(3, 4), value=1.5),
        S(T(4), T(3, 1), T(3, 4), value=-2),
        S(T(), T(3), T(3)),
        S(T(0), T(0), T(0)),
        S(I(3), I(3), I(3), value=2),
    ],
    errors=(E(S(T(3), T(4), T(3)), RuntimeError, "must match the size of tensor b"),),
)
op(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    steep=True,
    variants=EVERYWHERE,
    kernel=pointwise(
        "x + value * (y / z)", dtypes=FLOATING, params=("value",), cost=6, check="check_addcdiv(tensor1, tensor2);", complex=True
    ),
    grad={
        "self": "grad",
        "tensor1": "times(grad, value) / tensor2",
        "tensor2": "times(ops::_div_backward_other(grad, tensor1, tensor2), value)",
    },
    jvp="elementwise",
    doc="self + value * tensor1 / tensor2.",
    samples=[
        S(T(3, 4), T(3, 4), T(3, 4, low=0.5)),
        S(T(3, 4), T(3, 4), T(3, 4, low=0.5), value=1.5),
        S(T(4), T(3, 1), T(3, 4, low=0.5), value=-2),
        S(T(), T(3), T(3, low=0.5)),
        S(T(0), T(0), T(0)),
    ],
    errors=(E(S(T(3), I(3), I(3, low=1)), RuntimeError, "Integer division with addcdiv is no longer supported"),),
)
op(
    "lerp.tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    variants="function method inplace out",
    kernel=pointwise("lerp_of(x, y, z)", dtypes=FLOATING, check="check_lerp(self, end, weight);", complex=True),
    grad={"self": "grad * (1 - weight)", "end": "grad * weight", "weight": "grad * (end - self)"},
    node="LerpBackward1",
    jvp="elementwise",
    doc="self + weight * (end - self).",
    samples=[S(T(3, 4), T(3, 4), T(3, 4, low=0, high=1)), S(T(3, 4), T(4), T(3, 1)), S(T(3), T(3), T()), S(T(0), T(0), T(0))],
    errors=(E(S(T(3), T(3), I(3)), RuntimeError, "expected dtype .* for `weight` but got dtype"),),
)
op(
    "lerp(Tensor self, Tensor end, Scalar weight) -> Tensor",
    variants="function method inplace out",
    kernel=pointwise("lerp_of(x, y, weight)", dtypes=FLOATING, params=("weight",), check="check_lerp(self, end);", complex=True),
    grad={"self": "times(grad, one_minus(weight))", "end": "times(grad, weight)"},
    node="LerpBackward0",
    jvp="elementwise",
    out=Out(exact=FOUND),
    doc="self + weight * (end - self).",
    samples=[S(T(3, 4), T(3, 4), 0.3), S(T(3, 4), T(4), 0.8), S(T(), T(3), 0.5), S(T(0), T(0), 0.1), S(T(33), T(33), 2.0)],
    errors=(
        E(S(T(3), I(3), 0.5), RuntimeError, "expected dtype .* for `end` but got dtype"),
        E(S(T(3), T(4), 0.5), RuntimeError, "must match the size of tensor b"),
    ),
)

# ---- comparison ----

for name, sign, full, words in (
    ("eq", "==", "equal", "equals"),
    ("ne", "!=", "not_equal", "differs from"),
    ("lt", "<", "less", "is less than"),
    ("le", "<=", "less_equal", "is at most"),
    ("gt", ">", "greater", "is greater than"),
    ("ge", ">=", "greater_equal", "is at least"),
):
    op(
        f"{name}(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"x {sign} y", out="bool", complex=name in ("eq", "ne"), guests="bits" if name in ("eq", "ne") else "own"),
        grad={"self": "zero_gradient(grad)", "other": "zero_gradient(grad)"},  # of the in-place form on floats; a bool result has none
        jvp="zero",
        doc=f"Whether each element {words} that of other.",
        samples=binary(scalar=0.5) + [S(I(5), I(5)), S(I(5), 1), S(I(5), 1.5), S(B(4), B(4)), S(I(5), T(5))],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.{full}",
    )

_NO_COMPLEX = {
    "isposinf": "isposinf does not support complex inputs.",
    "isneginf": "isneginf does not support complex inputs.",
    "signbit": "NotImplementedError: signbit is not implemented for complex tensors.",
}
for name, expr, dtypes, words in (
    ("isnan", "is_nan(x)", ALL, "is nan"),
    ("isinf", "is_inf(x)", ALL, "is infinite"),
    ("isfinite", "is_finite(x)", ALL, "is neither infinite nor nan"),
    ("isposinf", "is_inf(x) && x > T(0)", ALL, "is inf"),
    ("isneginf", "is_inf(x) && x < T(0)", ALL, "is -inf"),
    ("isreal", "true", ALL, "has no imaginary part"),
    ("signbit", "sign_bit(x)", ALL, "is negative, -0.0 included"),
):
    op(
        f"{name}(Tensor self) -> Tensor",
        no_complex=_NO_COMPLEX.get(name, ""),
        variants="function method out" if name in ("isposinf", "isneginf", "signbit") else "function method",
        kernel=pointwise(
            expr,
            dtypes=dtypes,
            out="bool",
            complex={"isnan": True, "isinf": True, "isfinite": True, "isreal": "x.im == 0"}.get(name, False),
            guests="own" if name == "signbit" else "bits",
        ),
        no_grad=INTEGERS,
        out=Out(exact=(f"{name} does not support non-boolean outputs.",)),
        doc=f"Whether each element {words}.",
        samples=unary() + [S(I(3, low=-2)), S(B(3)), S(T(6, values=(0.0, -0.0, 1.0, float("inf"), float("-inf"), float("nan"))))],
    )
op(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    kernel=python("retrograd._ops.pointwise:isclose"),
    doc="Whether elements are equal within atol + rtol * |other|.",
    samples=[
        S(T(3, 4), T(3, 4)),
        S(T(3), T(3), rtol=0.5),
        S(T(4, values=(1.0, float("nan"), float("inf"), 2.0)), T(4, values=(1.000001, float("nan"), float("inf"), 2.1)), equal_nan=True),
        S(I(4), I(4)),
    ],
    errors=(
        E(S(T(3), I(3)), RuntimeError, "did not match"),
        E(S(T(3), T(3), rtol=-1.0), RuntimeError, "rtol must be greater than or equal to zero"),
    ),
    reference="numpy.isclose",
)
op(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    kernel=python("retrograd._ops.pointwise:allclose"),
    doc="Whether all elements are equal within atol + rtol * |other|.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3), T(3), atol=100.0)],
)

# ---- logic and bits ----

for name, expr, words in (
    ("and", "(x != T(0)) & (y != T(0))", "are both true"),
    ("or", "(x != T(0)) | (y != T(0))", "are not both false"),
    ("xor", "(x != T(0)) ^ (y != T(0))", "differ"),
):
    op(
        f"logical_{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(expr, out="bool", complex=True, guests="bits"),
        no_grad=INTEGERS,
        doc=f"Whether the truth values of self and other {words}.",
        samples=[S(B(3, 4), B(4)), S(I(5), I(5)), S(T(4), B(4)), S(T(), T(3)), S(B(0), B(0))],
        errors=(E(S(B(3), B(4)), RuntimeError, "must match the size of tensor b"),),
        reference=f"numpy.logical_{name}",
    )
op(
    "logical_not(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x == T(0)", out="bool", complex=True, guests="bits"),
    no_grad=INTEGERS,
    doc="Whether each element is zero or false.",
    samples=unary() + [S(B(3)), S(I(4))],
    reference="numpy.logical_not",
)
for name, sign, words in (("and", "&", "and"), ("or", "|", "or"), ("xor", "^", "exclusive or")):
    op(
        f"bitwise_{name}(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"x {sign} y", dtypes=BITWISE, guests="bits"),
        no_grad=INTEGERS,
        doc=f"Bitwise {words} of integers, logical {words} of booleans.",
        samples=[S(I(3, 4), I(4)), S(B(5), B(5)), S(I(4), B(4)), S(I(4), 3), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(I(3), I(4)), RuntimeError, "must match the size of tensor b"), E(S(T(3), T(3)), RuntimeError, "not implemented for")),
        reference=f"numpy.bitwise_{name}",
    )
    op(
        f"bitwise_{name}.self_scalar(Operand self, Tensor other) -> Tensor",
        variants="function",
        kernel=pointwise(f"x {sign} y", dtypes=BITWISE, guests="bits"),
        no_grad=INTEGERS,
        doc=f"Bitwise {words} of a number and integers.",
        samples=[S(3, I(4))],
    )
op(
    "bitwise_not(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("bit_not(x)", dtypes=BITWISE, guests="bits"),
    no_grad=INTEGERS,
    out=Out(exact=FOUND),
    doc="Every bit of integers flipped; the opposite of booleans.",
    samples=[S(I(3, 4)), S(B(5)), S(I()), S(I(0))],
    errors=(E(S(T(3)), RuntimeError, "not implemented for"),),
    reference="numpy.bitwise_not",
)
for name, expr, words in (("left", "shift_left(x, y)", "left"), ("right", "shift_right(x, y)", "right, keeping the sign")):
    op(
        f"bitwise_{name}_shift(Tensor self, Operand other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(expr, dtypes=INTEGRAL, label=f"{name[0]}shift", guests="own"),
        no_grad=INTEGERS,
        doc=f"Integers shifted {words} by other bits.",
        samples=[S(I(3, 4), I(4)), S(I(4), 3), S(I(4, low=-9), 70), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(T(3), T(3)), RuntimeError, "not implemented for"),),
        reference=f"numpy.{name}_shift",
    )
    op(
        f"bitwise_{name}_shift.self_scalar(Operand self, Tensor other) -> Tensor",
        variants="function",
        kernel=pointwise(expr, dtypes=INTEGRAL, label=f"{name[0]}shift", guests="own"),
        no_grad=INTEGERS,
        doc=f"A number shifted {words} by other bits.",
        samples=[S(3, I(4))],
    )
for name, words in (("gcd", "Greatest common divisor"), ("lcm", "Least common multiple")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        variants=EVERYWHERE,
        kernel=pointwise(f"{name}_of(x, y)", dtypes=INTEGRAL, cost=100, guests="own"),
        inplace_function=True,
        no_grad=INTEGERS,
        doc=f"{words} of integers.",
        samples=[S(I(3, 4, low=-20, high=20), I(4, low=-20, high=20)), S(I(), I(3)), S(I(0), I(0))],
        errors=(E(S(T(3), T(3)), RuntimeError, "not implemented for"),),
        reference=f"numpy.{name}",
    )

# ---- rounding ----

for name, expr in (("floor", "floor"), ("ceil", "ceil"), ("round", "rint"), ("trunc", "trunc")):
    op(
        f"{name}(Tensor self) -> Tensor",
        no_complex=f"NotImplementedError: {name} is not supported for complex inputs" if name != "round" else "",
        variants=EVERYWHERE,
        kernel=pointwise(f"{expr}_of(x)", dtypes=NUMERIC, guests="bits"),
        grad={"self": "zero_gradient(grad)"},
        jvp="elementwise",
        inplace_function=True,
        out=Out(exact=FOUND),
        doc={
            "floor": "Largest integer not above each element.",
            "ceil": "Smallest integer not below each element.",
            "round": "Nearest integer, the even one of two.",
            "trunc": "Each element without its fraction.",
        }[name],
        samples=unary() + [S(I(3))],
        errors=(E(S(B(3)), RuntimeError, "not implemented for 'Bool'"),),
        special=(-0.5, 0.5, 1.5, 2.5),
        reference=f"numpy.{name}",
    )
op(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="round_decimals_inplace",
    grad={"self": "zero_gradient(grad)"},
    node="RoundBackward1",
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="Rounded to a number of decimals.",
    samples=unary(decimals=1) + unary(low=-100, high=100, decimals=-1)[:3] + [S(T(5), decimals=0)],
    errors=(E(S(I(3), decimals=1), RuntimeError, "not implemented for"),),
)
op(
    "_round_decimals(Tensor self, float scale, bool multiply) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "multiply != T(0) ? rint_of(x * scale) / scale : rint_of(x / scale) * scale",
        dtypes=FLOATING,
        params=("scale", "multiply"),
        cost=8,
        label="round",
    ),
    no_grad=PART,
    doc="Rounding at a power of ten.",
)
op(
    "frac(Tensor self) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x - trunc_of(x)", dtypes=FLOATING),
    grad={"self": "grad"},
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="The fraction of each element, with its sign.",
    samples=unary(low=0.1, high=0.9),
)

# ---- bounds ----

op(
    "clamp.tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="clamp_tensor_inplace",
    grad={
        "self": "clamp_tensor_backward_self(grad, self, min, max)",
        "min": "clamp_tensor_backward_min(grad, self, min, max)",
        "max": "clamp_tensor_backward_max(grad, self, min, max)",
    },
    jvp="elementwise",
    inplace_function=True,
    doc="self limited to [min, max].",
    samples=[
        S(T(3, 4), T(3, 4, low=-1, high=0), T(3, 4, low=0, high=1)),
        S(T(3, 4), T(4, low=-1, high=0), T(3, 1, low=0, high=1)),
        S(T(3, 4), min=T(4)),
        S(T(3, 4), max=T()),
        S(T(0), T(0), T(0)),
        S(I(5), I(5), T(5)),
        S(T(4), T(4, low=1, high=2), T(4, low=-2, high=-1)),
    ],
    errors=(E(S(T(3), T(4)), RuntimeError, "must match the size of tensor b"),),
)
op(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="clamp_inplace",
    grad={"self": "clamp_backward(grad, self, min, max)"},
    node="ClampBackward1",
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="self limited to [min, max].",
    samples=unary(min=-1.0, max=0.7) + unary(min=0.3)[:3] + unary(max=0.3)[:3] + [S(T(5), 0.7, -0.3), S(I(5), 1, 2), S(I(5), 1.5)],
    errors=(E(S(T(3)), RuntimeError, "At least one of 'min' or 'max' must not be None"),),
)
op(
    "clamp_min.tensor(Tensor self, Tensor min) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=pointwise("max_nan(x, y)", guests="own"),
    grad={"self": "clamp_tensor_backward_self(grad, self, min, Tensor())", "min": "clamp_tensor_backward_min(grad, self, min, Tensor())"},
    node="ClampMinBackward1",
    jvp="elementwise",
    inplace_function=True,
    doc="self, at least min.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
)
op(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="clamp_min_inplace",
    grad={"self": "clamp_backward(grad, self, min, std::nullopt)"},
    node="ClampMinBackward0",
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="self, at least min.",
    samples=unary(min=0.3) + [S(I(5), 2)],
)
op(
    "clamp_max.tensor(Tensor self, Tensor max) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=pointwise("min_nan(x, y)", guests="own"),
    grad={"self": "clamp_tensor_backward_self(grad, self, Tensor(), max)", "max": "clamp_tensor_backward_max(grad, self, Tensor(), max)"},
    node="ClampMaxBackward1",
    jvp="elementwise",
    inplace_function=True,
    doc="self, at most max.",
    samples=binary(),
    errors=(BROADCAST_ERROR,),
)
op(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True, guests="moves"),
    inplace="clamp_max_inplace",
    grad={"self": "clamp_backward(grad, self, std::nullopt, max)"},
    node="ClampMaxBackward0",
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=FOUND),
    doc="self, at most max.",
    samples=unary(max=0.3) + [S(I(5), 2)],
)
op(
    "_clamp(Tensor self, Operand min, Operand max) -> Tensor",
    variants="internal",
    kernel=pointwise("min_nan(z, max_nan(y, x))", dtypes=NUMERIC, label="clamp_scalar", guests="own"),
    no_grad=PART,
    doc="self limited to [min, max].",
)
op(
    "_clamp_below(Tensor self, Operand min) -> Tensor",
    variants="internal",
    kernel=pointwise("max_nan(y, x)", dtypes=NUMERIC, label="clamp_min_scalar", guests="own"),
    no_grad=PART,
    doc="self, at least min.",
)
op(
    "_clamp_above(Tensor self, Operand max) -> Tensor",
    variants="internal",
    kernel=pointwise("min_nan(y, x)", dtypes=NUMERIC, label="clamp_max_scalar", guests="own"),
    no_grad=PART,
    doc="self, at most max.",
)
op(
    "_clamp_backward(Tensor grad_output, Tensor self, Scalar min, Scalar max) -> Tensor",
    variants="internal",
    kernel=pointwise("y >= min && y <= max ? x : T(0)", dtypes=FLOATING, out="float", params=("min", "max")),
    grad={"grad_output": "ops::_clamp_backward(grad, self, min, max)"},
    jvp="elementwise",
    nondiff=("self",),
    doc="Gradient of clamp: passes inside the bounds, the bounds included.",
)

for name, which, sign in (("maximum", "larger", ">"), ("minimum", "smaller", "<")):
    op(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        no_complex=f"{name} not implemented for complex tensors.",
        variants=FUNCTION,
        kernel=pointwise(f"{name[:3]}_nan(x, y)", guests="own"),
        grad={"self": f"ops::_{name}_backward(grad, self, other)", "other": f"ops::_{name}_backward(grad, other, self)"},
        jvp="elementwise",
        doc=f"The {which} of two elements; nan if either is.",
        samples=binary()
        + [
            S(I(5), I(5)),
            S(B(4), B(4)),
            S(I(3), T(3)),
            S(T(4, values=(1.0, float("nan"), 2.0, float("nan"))), T(4, values=(float("nan"), 1.0, 3.0, float("nan")))),
        ],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.{name}",
    )
    op(
        f"_{name}_backward(Tensor grad_output, Tensor self, Tensor other) -> Tensor",
        variants="internal",
        kernel=pointwise(f"y == z ? x / 2 : z {sign} y ? T(0) : x", dtypes=FLOATING, out="float"),
        grad={"grad_output": f"ops::_{name}_backward(grad, self, other)"},
        jvp="elementwise",
        nondiff=("self", "other"),
        doc=f"Gradient of {name} for self: half of it where both are equal.",
    )
    op(
        f"f{name[:3]}(Tensor self, Tensor other) -> Tensor",
        no_complex=f"f{name[:3]} not implemented for complex tensors.",
        variants=FUNCTION,
        kernel=pointwise(f"y != y || x {sign}= y ? x : y", guests="own"),
        grad={"self": f"f{name[:3]}_backward(grad, self, other, true)", "other": f"f{name[:3]}_backward(grad, self, other, false)"},
        jvp="elementwise",
        doc=f"The {which} of two elements, ignoring nan.",
        samples=binary()
        + [
            S(I(5), I(5)),
            S(
                T(4, values=(1.0, float("nan"), 2.0, float("nan")), grad=False),
                T(4, values=(float("nan"), 1.0, 3.0, float("nan")), grad=False),
            ),
        ],
        errors=(BROADCAST_ERROR,),
        reference=f"numpy.f{name[:3]}",
    )
op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, complex=True, whole=True, guests="moves"),
    inplace="nan_to_num_inplace",
    grad={"self": "ops::masked_fill(grad, ops::logical_not(ops::isfinite(self)), 0)"},
    jvp="elementwise",
    inplace_function=True,
    out=Out(exact=("nan_to_num: dtype of out: {out} should be same as input: {result}",)),
    doc="nan, inf and -inf replaced: by 0, the largest and the smallest finite number unless given.",
    samples=unary()
    + [
        S(T(4, values=(float("nan"), float("inf"), float("-inf"), 1.0), grad=False)),
        S(T(4, values=(float("nan"), float("inf"), float("-inf"), 1.0), grad=False), 1.0, 2.0, 3.0),
        S(I(3)),
        S(B(3)),
    ],
    reference="numpy.nan_to_num",
)
op(
    "_nan_to_num(Tensor self, float nan, float posinf, float neginf) -> Tensor",
    variants="internal",
    kernel=pointwise("x != x ? nan : x > std::numeric_limits<T>::max() ? posinf : x < std::numeric_limits<T>::lowest() ? neginf : x", dtypes=FLOATING, params=("nan", "posinf", "neginf")),
    no_grad=PART,
    doc="nan, inf and -inf replaced.",
)

# ---- number formats and steps ----

op(
    "copysign(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("copysign_(x, y)", dtypes=FLOATING, out="float", halves=True),
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
    kernel=pointwise("copysign_(x, y)", dtypes=FLOATING, out="float", halves=True),
    grad={"self": "copysign_backward(grad, self, result)"},
    node="CopysignBackward1",
    jvp="elementwise",
    nondiff=("other",),
    doc="The magnitude of self with the sign of a number.",
    samples=unary(low=0.2, other=-1.0),
)
op(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=native(elementwise=True, whole=True),
    inplace="nextafter_inplace",
    grad={"self": "ops::where(ops::eq(self, other), 0.0, grad)", "other": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="The number next to self in the direction of other.",
    samples=binary(),
    errors=(BROADCAST_ERROR, E(S(I(3), I(3)), RuntimeError, "not implemented for 'Long'")),
    reference="numpy.nextafter",
    test={"grad": False},  # a step function of its second argument: no difference quotient
)
op(
    "_nextafter(Tensor self, Tensor other) -> Tensor",
    variants="internal",
    kernel=pointwise("nextafter_(x, y)", dtypes=("f32", "f64"), label="nextafter"),
    no_grad=PART,
    doc="nextafter of the dtypes that C has it for.",
)
op(
    "_nextafter_half(Tensor self, Tensor other) -> Tensor",
    variants="internal",
    kernel=native(elementwise=True),
    no_grad=PART,
    doc="nextafter of float16 and bfloat16.",
)
op(
    "ldexp(Tensor self, Tensor other) -> Tensor",
    variants=EVERYWHERE,
    kernel=pointwise("x * exp2_(y)", dtypes=FLOATING, out="float", cost=10, complex=True),
    grad={"self": "grad * ops::exp2(other)", "other": "ops::_scaled_product(grad, result, 0.6931471805599453)"},
    jvp="elementwise",
    inplace_function=True,
    out=Out(cast="ldexp can't be cast to the desired output type {out}"),
    doc="self * 2 ** other.",
    samples=binary() + [S(T(3), I(3)), S(I(3), I(3))],
    errors=(BROADCAST_ERROR,),
)
op(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    no_complex="heaviside is not yet implemented for complex tensors.",
    variants=EVERYWHERE,
    kernel=pointwise("x == T(0) ? y : T(x > T(0))", check="check_heaviside(self, values);"),
    grad={"self": 'not_implemented("heaviside")', "values": 'not_implemented("heaviside")'},
    out=Out(exact=("heaviside is not yet implemented for tensors with different dtypes.",), name="aten::heaviside"),
    doc="0 where self is negative, 1 where it is positive, values where it is 0.",
    samples=[S(T(3, 4, grad=False), T(4, grad=False)), S(T(3, values=(-1.0, 0.0, 1.0), grad=False), T(grad=False)), S(I(4, low=-1), I(4))],
    errors=(E(S(T(3), I(3)), RuntimeError, "heaviside is not yet implemented for tensors with different dtypes"),),
    reference="numpy.heaviside",
    test={"grad": False},  # not differentiable, as in PyTorch
)

# ---- selection ----

op(
    "where(Tensor condition, Operand self, Operand other) -> Tensor",
    variants="function out",
    kernel=native(elementwise=True, complex=True, guests="moves"),
    grad={"self": "ops::where(condition, grad, 0.0)", "other": "ops::where(condition, 0.0, grad)"},
    jvp="elementwise",
    nondiff=("condition",),
    out=Out(exact=("Expected out type to be {result} but got {out}",)),
    batching=by("where"),
    doc="self where the condition holds, other elsewhere.",
    samples=[
        S(B(3, 4), T(3, 4), T(3, 4)),
        S(B(4), T(3, 1), T()),
        S(B(3, 1), T(4), T(3, 4)),
        S(B(), T(3), 2.0),
        S(B(3), 1, T(2, 3)),
        S(B(3), 1.0, 0.0),
        S(B(3), 1, 0),
        S(B(0), T(0), T(0)),
        S(B(3), I(3), T(3)),
        S(B(70), T(70), T(70)),
    ],
    errors=(
        E(S(T(3), T(3), T(3)), RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype Float"),
        E(S(B(3), T(4), T(4)), RuntimeError, "must match the size of tensor b"),
    ),
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
    "masked_fill.tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    variants="function method inplace",
    kernel=native(elementwise=True, complex=True, guests="moves"),
    inplace="masked_fill_tensor_inplace",
    grad={"self": "ops::masked_fill(grad, mask, 0)", "value": "ops::where(mask, grad, 0.0)"},
    node="MaskedFillBackward1",
    jvp="elementwise",
    nondiff=("mask",),
    batching=by("masked_fill_tensor"),
    vmap_name="inplace arithmetic",
    doc="self with a 0-d tensor's value where the mask is true.",
    samples=[S(T(3, 4), B(3, 4), T()), S(T(3, 4), B(4), T()), S(T(3), B(), T())],
    errors=(
        E(S(T(3), B(3), T(3)), RuntimeError, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension"),
    ),
)
op(
    "masked_fill(Tensor self, Tensor mask, Scalar value) -> Tensor",
    variants="function method inplace",
    kernel=native(elementwise=True, complex=True, guests="moves"),
    inplace="masked_fill_inplace",
    grad={"self": "ops::masked_fill(grad, mask, 0)"},
    jvp="elementwise",
    nondiff=("mask",),
    batching=by("masked_fill"),
    vmap_name="inplace arithmetic",
    doc="self with value where the mask is true.",
    samples=[S(T(3, 4), B(3, 4), 2.0), S(T(3, 4), B(4), -1), S(T(3), B(), 0), S(T(0), B(0), 1), S(T(), B(), 1.5), S(I(4), B(4), 7)],
    errors=(
        E(S(T(3), I(3), 1.0), RuntimeError, "masked_fill_ only supports boolean masks, but got mask with dtype"),
        E(S(T(3), B(4), 1.0), RuntimeError, "must match the size of tensor b"),
    ),
)

# ---- a number on the left, which torch.add and its siblings take as well ----

op(
    "add.left(Scalar self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=composite(),
    hidden=True,
    doc="self + alpha * other.",
    samples=[S(2, T(3)), S(1.5, T(3), alpha=2), S(5, 2), S(1.5, 2, alpha=3)],
)
op(
    "sub.left(Scalar self, Operand other, *, Scalar alpha=1) -> Tensor",
    variants="function",
    kernel=composite(),
    hidden=True,
    doc="self - alpha * other.",
    samples=[S(2, T(3)), S(1.5, T(3), alpha=2), S(5, 2), S(1.5, 2, alpha=3)],
)
op(
    "mul.left(Scalar self, Operand other) -> Tensor",
    variants="function",
    kernel=composite(),
    hidden=True,
    doc="self * other.",
    samples=[S(2, T(3)), S(2.5, I(3)), S(1.5, 2)],
)
op(
    "div.left(Scalar self, Operand other) -> Tensor",
    variants="function",
    kernel=composite(),
    hidden=True,
    doc="self / other.",
    samples=[S(2, T(3, low=0.5)), S(2, I(3, low=1)), S(5, 2)],
)
op(
    "div.mode_left(Scalar self, Operand other, *, str? rounding_mode) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="self / other, rounded down ('floor') or towards zero ('trunc').",
    samples=[S(2, T(3, low=0.5), rounding_mode="floor"), S(5, 2, rounding_mode="trunc"), S(5, 2, rounding_mode=None)],
)
op(
    "floor_divide.left(Scalar self, Scalar other) -> Tensor",
    variants="function",
    kernel=composite(),
    hidden=True,
    doc="self / other rounded down.",
    samples=[S(5, 2), S(-5.0, 2)],
)

# ---- in Python ----

for _schema, _variants, _samples in (
    (
        "float_power(Tensor self, Operand exponent) -> Tensor",
        "function method out",
        [S(T(3, 4, low=0.3), 2), S(I(3), 0.5), S(T(3, low=0.3), T(3))],
    ),
    ("float_power.self_scalar(Operand self, Tensor exponent) -> Tensor", "function out", [S(2.0, T(3))]),
):
    op(
        _schema,
        variants=_variants,
        kernel=composite(),
        out=Out(exact=("the output given to float_power has dtype {out} but the operation's result requires dtype {result}",)),
        doc="pow computed in float64.",
        samples=_samples,
        reference="numpy.float_power",
    )
op(
    "float_power.inplace(Tensor self, Operand exponent) -> Tensor",
    variants="inplace",
    kernel=python("retrograd._ops.pointwise:float_power"),
    doc="float_power into self, which must be of the dtype it computes in.",
    samples=[S(T(3, 4, low=0.3), 2), S(T(3, low=0.3), T(3)), S(T(2, 3, low=0.3), T(3)), S(T(low=0.3), 0.5)],
    errors=(E(S(I(3), 2), RuntimeError, "the base given to float_power_ has dtype Long but the operation's result requires dtype Double"),),
)
op(
    "frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    variants="function method out",
    kernel=composite(),
    out=Out(
        exact=(
            "torch.frexp() expects mantissa to have dtype {result_cpp} but got {out_cpp}",
            "torch.frexp() expects exponent to have int dtype but got {out_cpp}",
        )
    ),
    doc="Mantissas in [0.5, 1) and exponents of two, with self = mantissa * 2**exponent.",
    samples=unary(low=0.3, high=7),
    special=(0.0, -0.0, 1.0, -8.0, 5e-324, -3e-310, 1.7e308, float("inf"), float("-inf"), float("nan")),
    errors=(E(S(I(3)), RuntimeError, r"torch.frexp\(\) only supports floating-point dtypes"),),
)

# ---- other names ----

for _left, _variants in (("Tensor", EVERYWHERE), ("Scalar", "function")):
    op(
        f"true_divide{'' if _left == 'Tensor' else '.left'}({_left} self, Operand other) -> Tensor",
        variants=_variants,
        kernel=Kernel("alias", target="div" if _left == "Tensor" else "div_left"),
        hidden=_left == "Scalar",
        doc="Another name for `div`.",
        samples=binary(low2=0.5, scalar=1.5) if _left == "Tensor" else [S(5.0, T(3, low=0.5)), S(5, 2)],
    )

for names, ops_named in (
    ("subtract multiply divide negative clip fix", "sub mul div neg clamp trunc"),
    ("arcsin arccos arctan arctan2 arcsinh arccosh arctanh", "asin acos atan atan2 asinh acosh atanh"),
    ("not_equal less less_equal greater greater_equal", "ne lt le gt ge"),
):
    for name, of in zip(names.split(), ops_named.split(), strict=True):
        alias(name, of)
alias("absolute", "abs", inplace_function=False)  # there is no torch.absolute_

# An op that nothing else knows of: tests/meta/test_one_entry.py shows by it what an entry gives.
op(
    "_softbump(Tensor self, Scalar width=1) -> Tensor",
    variants="function method inplace out",
    kernel=pointwise("exp_(-x * x / width)", dtypes=FLOATING, out="float", params=("width",), cost=12),
    grad={"self": "ops::_scaled_product(grad, result * self, -2.0 / width.to_double())"},
    jvp="elementwise",
    doc="A bump of the given width: exp(-self ** 2 / width).",
    samples=[*unary(low=-1.5, high=1.5), S(T(3, 4), 2.5), S(I(3))],
    special=(0.0, 30.0),
    test={"compat": False, "ours": True},
)
