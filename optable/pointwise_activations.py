"""Activation functions and their gradients. Part of the family pointwise.

A gradient that is more than a product or two is an op of its own (`tanh_backward`): one pass over memory, one small-op overhead.
"""

from __future__ import annotations

from . import FLOATING, NUMERIC, composite, native, op, pointwise
from .facts import FOUND, PART, Out
from .samples import B, E, I, S, T, unary

# ---- activations ----

op(
    "relu(Tensor self) -> Tensor",
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants="function method inplace",
    kernel=pointwise("x < T(0) ? T(0) : x", dtypes=NUMERIC, check="check_relu(self);"),
    grad={"self": "ops::threshold_backward(grad, result, 0)"},
    jvp="elementwise",
    inplace_function=True,
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
    kernel=pointwise(
        "x <= threshold ? value : x",
        dtypes=NUMERIC,
        params=("threshold", "value"),
        check="check_threshold(self, threshold, value);",
        any_overlap=True,
    ),
    grad={"self": "ops::threshold_backward(grad, self, threshold)"},
    jvp="elementwise",
    inplace_function=True,
    doc="self where it exceeds the threshold, else value.",
    samples=unary(threshold=0.1, value=-1.0) + [S(I(4), 1, 7)],
)
op(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x > 0 ? x : x * negative_slope", dtypes=FLOATING, params=("negative_slope",)),
    grad={"self": "ops::leaky_relu_backward(grad, self, negative_slope)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
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
    kernel=pointwise(
        "x > 0 ? x * scale : alpha * scale * expm1_(x * input_scale)", dtypes=FLOATING, params=("alpha", "scale", "input_scale"), cost=12
    ),
    grad={"self": "ops::elu_backward(grad, self, alpha, scale, input_scale)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="self where positive, else alpha * (exp(self) - 1).",
    samples=unary() + unary(alpha=1.5)[:2] + unary(alpha=1.2, scale=0.7, input_scale=1.3)[:2],
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar input_scale) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "y <= 0 ? x * input_scale * alpha * scale * exp_(y * input_scale) : x * scale",
        dtypes=FLOATING,
        out="float",
        params=("alpha", "scale", "input_scale"),
        cost=12,
    ),
    grad={
        "grad_output": "ops::elu_backward(grad, self, alpha, scale, input_scale)",
        "self": "elu_double_backward(grad, grad_output, self, alpha, scale, input_scale)",
    },
    jvp="elementwise",
    doc="Gradient of elu.",
)
op(
    "selu(Tensor self) -> Tensor",
    variants="function inplace",
    kernel=composite(),
    inplace_function=True,
    doc="Self-normalising exponential linear unit.",
    samples=unary(),
)
op(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    variants="function inplace",
    kernel=native(elementwise=True, whole=True),
    inplace="celu_inplace",
    grad={"self": "ops::elu_backward(grad, self, alpha, 1, 1 / alpha.to_double())"},
    jvp="elementwise",
    inplace_function=True,
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
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="log(1 + exp(beta * self)) / beta.",
    samples=unary() + unary(beta=2, threshold=1)[:2],
    special=(0.0, 50.0, -50.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "y * beta > threshold ? x : x * sigmoid_(y * beta)", dtypes=FLOATING, out="float", params=("beta", "threshold"), cost=12
    ),
    grad={
        "grad_output": "ops::softplus_backward(grad, self, beta, threshold)",
        "self": "softplus_double_backward(grad * grad_output, self, beta, threshold)",
    },
    jvp="elementwise",
    doc="Gradient of softplus.",
)
op(
    "log_sigmoid(Tensor self) -> Tensor",
    variants="function out",
    kernel=native(elementwise=True, whole=True),
    grad={"self": "ops::log_sigmoid_backward(grad, self)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=("expected scalar type {result} but found {out}",), name="log_sigmoid_forward", silent=True),
    doc="log(sigmoid(self)) without overflow.",
    samples=unary(),
    special=(0.0, 100.0, -100.0),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "_log_sigmoid(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("log_sigmoid_(x)", dtypes=FLOATING, cost=14, label="log_sigmoid"),
    no_grad=PART,
    doc="log_sigmoid, whatever the layout of self.",
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
    kernel=pointwise("silu_(x)", dtypes=FLOATING, cost=12, complex=("x * quick_sigmoid(x)", "far_exp(x)", "x * sigmoid_(x)")),
    grad={"self": "ops::silu_backward(grad, self)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
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
    home="nn.functional",
    out=Out(exact=FOUND),
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
    kernel=native(elementwise=True, whole=True),
    grad={"self": "gelu_backward(grad, self, approximate)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="self times the normal distribution function of self, exactly or by PyTorch's 'tanh' approximation.",
    samples=unary() + unary(approximate="tanh"),
    special=(0.0, 10.0, -10.0),
    errors=(
        E(S(T(3), approximate="x"), RuntimeError, "approximate argument must be either none or tanh"),
        E(S(I(3)), RuntimeError, "not implemented for 'Long'"),
    ),
)
op(
    "_gelu(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("gelu_(x)", dtypes=FLOATING, label="gelu", cost=16),
    no_grad=PART,
    doc="gelu, exact.",
)
op(
    "_gelu_tanh(Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("gelu_tanh_(x)", dtypes=FLOATING, label="gelu", cost=14),
    no_grad=PART,
    doc="gelu, approximate.",
)
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
    no_complex="NotImplementedError: clamp is not supported for complex types",
    variants="function inplace out",
    kernel=pointwise(
        "min_nan(max_val, max_nan(min_val, x))",
        dtypes=NUMERIC,
        params=("min_val", "max_val"),
        check="check_hardtanh(self, min_val, max_val);",
    ),
    grad={"self": "ops::hardtanh_backward(grad, self, min_val, max_val)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="self limited to [min_val, max_val]; no gradient passes at the bounds.",
    samples=unary() + unary(min_val=-0.5, max_val=0.7)[:2] + [S(I(4, low=-3))],
    errors=(E(S(T(3), 2, 1), ValueError, "min_val cannot be greater than max_val"),),
)
op(
    "relu6(Tensor self) -> Tensor",
    variants="function inplace",
    kernel=composite(),
    home="nn.functional",
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
    kernel=pointwise("clamp_of(x + 3, T(0), T(6)) / 6", dtypes=FLOATING),
    grad={"self": "times(ops::hardtanh_backward(grad, self, -3, 3), 1.0 / 6)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="A piecewise linear sigmoid: (self + 3) / 6 limited to [0, 1].",
    samples=unary(low=-5, high=5),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "hardswish(Tensor self) -> Tensor",
    variants="function inplace out",
    kernel=pointwise("x * clamp_of(x + 3, T(0), T(6)) / 6", dtypes=FLOATING),
    grad={"self": "ops::hardswish_backward(grad, self)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="self * hardsigmoid(self).",
    samples=unary(low=-5, high=5),
    errors=(E(S(I(3)), RuntimeError, "not implemented for 'Long'"),),
)
op(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    variants="internal",
    kernel=pointwise("y <= -3 ? T(0) : y < 3 ? x * (y / 3 + T(0.5)) : x", dtypes=FLOATING, out="float"),
    grad={
        "grad_output": "ops::hardswish_backward(grad, self)",
        "self": "times(ops::hardtanh_backward(grad * grad_output, self, -3, 3), 1.0 / 3)",
    },
    jvp="elementwise",
    doc="Gradient of hardswish.",
)
op(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    variants="function method out",
    kernel=pointwise("x >= -lambd && x <= lambd ? T(0) : x", dtypes=FLOATING, params=("lambd",), check="lambd = as_element(self, lambd);"),
    grad={"self": "ops::_shrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    out=Out(exact=FOUND),
    doc="self, but 0 in [-lambd, lambd].",
    samples=unary() + unary(lambd=0.3)[:2],
)
op(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    variants="function out",
    kernel=pointwise(
        "x > lambd ? x - lambd : x < -lambd ? x + lambd : x * T(0)", dtypes=FLOATING, params=("lambd",), check="check_softshrink(lambd);"
    ),
    grad={"self": "ops::_shrink_backward(grad, self, lambd)"},
    jvp="elementwise",
    home="nn.functional",
    out=Out(exact=FOUND),
    doc="self moved towards 0 by lambd.",
    samples=unary() + unary(lambd=0.3)[:2],
    errors=(E(S(T(3), -1.0), RuntimeError, "lambda must be in range"),),
)
op(
    "_shrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
    variants="internal",
    kernel=pointwise(
        "y >= -lambd && y <= lambd ? T(0) : x",
        dtypes=FLOATING,
        out="float",
        params=("lambd",),
        check="lambd = as_element(self, lambd);",
    ),
    grad={"grad_output": "ops::_shrink_backward(grad, self, lambd)", "self": "zero_gradient(grad)"},
    jvp="elementwise",
    doc="Gradient of hardshrink and softshrink.",
)
