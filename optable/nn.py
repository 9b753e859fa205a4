"""What nn.functional needs beyond arithmetic: losses, normalisation, padding, gates.

`reduction` is an integer as in PyTorch's internals: 0 none, 1 mean, 2 sum.
"""

from __future__ import annotations

from optable import FLOATING, composite, native, op, pointwise, python
from optable.facts import AS_IS, FLOAT32, LOOP, LOWER_PRECISION, PART, along, by
from optable.samples import E, I, S, T

# ---- losses ----

_NLL_ERRORS = (
    E(S(T(2, 3), I(2, values=(0, 3))), IndexError, "Target 3 is out of bounds."),
    E(S(T(2, 3), I(3, high=3)), ValueError, r"Expected input batch_size \(2\) to match target batch_size \(3\)."),
    E(S(T(2, 3), T(2)), RuntimeError, "expected target dtype to be Long or Byte, but got"),
)
op(
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)"},
    node="NllLossBackward0",
    outputs_nondiff=("total_weight",),
    jvp="linear",
    home="",
    nondiff=("target", "weight"),
    batching=by("nll_loss"),
    syncs=True,
    doc="Negative log likelihood of classes, and the sum of the weights that counted.",
    samples=[S(T(4, 3), I(4, high=3), None, 1, -100), S(T(4, 3), I(4, high=3), T(3, low=0.5, grad=False), 2, 1)],
)
op(
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor "
    "total_weight)",
    variants="function internal",
    kernel=native(),
    grad={"self": "ops::nll_loss_backward(grad, self, target, weight, reduction, ignore_index, total_weight)"},
    node="NllLoss2DBackward0",
    outputs_nondiff=("total_weight",),
    jvp="linear",
    home="",
    nondiff=("target", "weight"),
    batching=by("nll_loss"),
    syncs=True,
    doc="nll_loss_forward with one class per pixel.",
    samples=[S(T(2, 3, 2, 2), I(2, 2, 2, high=3), None, 1, -100), S(T(2, 3, 2, 2), I(2, 2, 2, high=3), T(3, low=0.5, grad=False), 0, 1)],
)
op(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, Tensor "
    "total_weight) -> Tensor",
    variants="function internal",
    kernel=native(),
    grad={"grad_output": "nll_loss_any(grad, target, weight, reduction, ignore_index)"},
    jvp="linear",
    home="",
    nondiff=("self", "target", "weight", "total_weight"),
    batching=by("nll_loss_backward"),
    doc="Gradient of nll_loss_forward.",
)
op(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="nn.functional",
    autocast=FLOAT32,
    doc="Negative log likelihood: -weight[target] * self[target], for inputs [C], [N, C] or [N, C, d1, ...].",
    samples=[S(T(4, 3), I(4, high=3), None, r) for r in (0, 1, 2)]
    + [S(T(4, 3), I(4, high=3), T(3, low=0.5, grad=False), r, 1) for r in (0, 1, 2)]
    + [
        S(T(3), I(high=3), None, 1),
        S(T(2, 3, 4), I(2, 4, high=3), None, 1),
        S(T(2, 3, 2, 2), I(2, 2, 2, high=3), None, 0),
        S(T(0, 3), I(0), None, 2),
    ],
    errors=_NLL_ERRORS,
)
op(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100, float "
    "label_smoothing=0.0) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="",
    autocast=FLOAT32,
    doc="Cross entropy of softmax(self) with classes, or with probabilities of the input's shape.",
    samples=[S(T(4, 3), I(4, high=3), None, r) for r in (0, 1, 2)]
    + [S(T(4, 3), I(4, high=3), T(3, low=0.5, grad=False), r, 1, 0.1) for r in (0, 1, 2)]
    + [S(T(4, 3), T(4, 3, low=0.1, high=1), None, r, -100, s) for r in (0, 1, 2) for s in (0.0, 0.2)]
    + [S(T(4, 3), T(4, 3, low=0.1, high=1), T(3, low=0.5, grad=False), 1, -100, 0.2)]
    + [S(T(3), I(high=3), None, 1), S(T(2, 3, 4), I(2, 4, high=3), None, 1), S(T(3), T(3, low=0.1, high=1), None, 1)],
    errors=_NLL_ERRORS[:2]
    + (
        E(S(T(2, 3), I(2, high=3), None, 1, -100, 2.0), RuntimeError, r"label_smoothing must be between 0.0 and 1.0. Got: 2"),
        E(S(T(2, 3), T(2, 3), None, 1, 0), RuntimeError, "ignore_index is not supported for floating point target"),
    ),
)

_PAIRS = [S(T(3, 4), T(3, 4), r) for r in (0, 1, 2)] + [S(T(), T(), 1), S(T(0), T(0), 2), S(T(3, 4), T(4), 0)]
op(
    "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={"self": "mse_loss_grad(grad, self, target, reduction)", "target": "mse_loss_grad(grad, target, self, reduction)"},
    home="nn.functional",
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    doc="Squared differences.",
    samples=_PAIRS,
)
op(
    "_squared_difference(Tensor self, Tensor other) -> Tensor",
    variants="internal",
    kernel=pointwise("(x - y) * (x - y)", dtypes=FLOATING),
    no_grad=PART,
    doc="(self - other) ** 2, without derivative.",
)
op(
    "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function internal",
    kernel=composite(),
    home="nn.functional",
    autocast=FLOAT32,
    doc="Absolute differences.",
    samples=_PAIRS,
)
op(
    "smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={
        "self": "smooth_l1_loss_grad(grad, self, target, reduction, beta)",
        "target": "smooth_l1_loss_grad(grad, target, self, reduction, beta)",
    },
    home="nn.functional",
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    doc="Squared differences below beta, absolute ones above.",
    samples=_PAIRS + [S(T(3, 4), T(3, 4), 1, 0.5)],
    errors=(E(S(T(3), T(3), 1, -1.0), RuntimeError, "smooth_l1_loss does not support negative values for beta."),),
)
op(
    "_smooth_l1(Tensor self, Tensor other, Scalar beta) -> Tensor",
    variants="internal",
    no_grad=PART,
    doc="The elements of smooth_l1_loss, without derivative.",
    kernel=pointwise(
        "abs_of(x - y) < beta ? T(0.5) * (x - y) * (x - y) / beta : abs_of(x - y) - T(0.5) * beta", dtypes=FLOATING, params=("beta",)
    ),
)
op(
    "huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={
        "self": "huber_loss_grad(grad, self, target, reduction, delta)",
        "target": "huber_loss_grad(grad, target, self, reduction, delta)",
    },
    home="nn.functional",
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    doc="Half the squared differences below delta, linear above.",
    samples=_PAIRS + [S(T(3, 4), T(3, 4), 1, 0.5)],
    errors=(E(S(T(3), T(3), 1, 0.0), RuntimeError, "huber_loss does not support non-positive values for delta."),),
)
op(
    "_huber(Tensor self, Tensor other, Scalar delta) -> Tensor",
    variants="internal",
    no_grad=PART,
    doc="The elements of huber_loss, without derivative.",
    kernel=pointwise(
        "abs_of(x - y) < delta ? T(0.5) * (x - y) * (x - y) : delta * (abs_of(x - y) - T(0.5) * delta)", dtypes=FLOATING, params=("delta",)
    ),
)

_PROBABILITIES = [S(T(3, 4, low=0.1, high=0.9), T(3, 4, low=0.1, high=0.9), None, r) for r in (0, 1, 2)] + [
    S(T(3, 4, low=0.1, high=0.9), T(3, 4, low=0.1, high=0.9), T(3, 4, low=0.5, grad=False), 1),
    S(T(3, 4, low=0.1, high=0.9), T(3, 4, low=0.1, high=0.9), T(4, low=0.5, grad=False), 0),
    S(T(low=0.1, high=0.9), T(low=0.1, high=0.9), None, 1),
]
op(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
    steep=True,
    variants="function internal",
    kernel=native(whole=True),
    grad={
        "self": "binary_cross_entropy_grad(grad, self, target, weight, reduction)",
        "target": "binary_cross_entropy_target_grad(grad, self, target, weight, reduction)",
    },
    home="nn.functional",
    nondiff=("weight",),
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    syncs=True,
    doc="Cross entropy of probabilities with targets in [0, 1].",
    samples=_PROBABILITIES,
    errors=(E(S(T(2, values=(0.5, 1.5)), T(2, values=(0.0, 1.0))), RuntimeError, "all elements of input should be between 0 and 1"),),
)
op(
    "_binary_cross_entropy(Tensor self, Tensor target) -> Tensor",
    variants="internal",
    no_grad=PART,
    doc="The elements of binary_cross_entropy, without derivative. Logarithms stop at -100.",
    kernel=pointwise("(y - T(1)) * max_(log1p_(-x), T(-100)) - y * max_(log_(x), T(-100))", dtypes=FLOATING, cost=24),
)
op(
    "_bce_slope(Tensor self, Tensor target) -> Tensor",
    variants="internal",
    doc="Derivative of the elements of binary_cross_entropy. The denominator stops at 1e-12, which its own derivative does not notice.",
    kernel=pointwise("(x - y) / max_(x * (T(1) - x), T(1e-12))", dtypes=FLOATING, cost=8),
    grad={"self": "bce_curve(grad, self, target)", "target": "-grad / ops::clamp_min(self * (1 - self), 1e-12)"},
    jvp="elementwise",
)
op(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=0) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={
        "self": "bce_with_logits_grad(grad, self, target, weight, pos_weight, reduction)",
        "target": "bce_with_logits_target_grad(grad, self, target, weight, pos_weight, reduction)",
    },
    nondiff=("weight", "pos_weight"),
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    doc="Cross entropy of sigmoid(self) with targets in [0, 1], without overflow.",
    samples=[S(T(3, 4), T(3, 4, low=0.1, high=0.9), None, None, r) for r in (0, 1, 2)]
    + [S(T(3, 4), T(3, 4, low=0.1, high=0.9), T(3, 4, low=0.5, grad=False), T(4, low=0.5, grad=False), 1), S(T(), T(), None, None, 1)],
)
op(
    "_bce_with_logits(Tensor self, Tensor target) -> Tensor",
    variants="internal",
    no_grad=PART,
    doc="The elements of binary_cross_entropy_with_logits, without derivative.",
    kernel=pointwise("(T(1) - y) * x - log_sigmoid_(x)", dtypes=FLOATING, cost=16),
)
op(
    "_bce_with_logits_weighted(Tensor self, Tensor target, Tensor pos_weight) -> Tensor",
    variants="internal",
    no_grad=PART,
    doc="The same with a weight for the positive class.",
    kernel=pointwise("(T(1) - y) * x - ((z - T(1)) * y + T(1)) * log_sigmoid_(x)", dtypes=FLOATING, cost=16),
)
op(
    "kl_div(Tensor self, Tensor target, int reduction=0, *, bool log_target=False) -> Tensor",
    variants="function internal",
    kernel=composite(),
    autocast=FLOAT32,
    doc="target * (log(target) - self): self holds log-probabilities, target probabilities or with log_target their logarithms.",
    samples=[S(T(3, 4), T(3, 4, low=0.1, high=1), r) for r in (0, 1, 2)]
    + [S(T(3, 4), T(3, 4), 1, log_target=True), S(T(), T(low=0.1, high=1), 1)],
)
op(
    "soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={"self": "soft_margin_loss_grad(grad, self, target, reduction)", "target": "soft_margin_loss_grad(grad, target, self, reduction)"},
    home="nn.functional",
    autocast=FLOAT32,
    batching=by("elementwise_loss", "reduction"),
    doc="log(1 + exp(-target * self)).",
    samples=[S(T(3, 4), T(3, 4, grad=False), r) for r in (0, 1, 2)] + [S(T(5), T(5), 1)],
    test={"compat": False},  # torch has no derivative for the target
)
op(
    "_soft_margin(Tensor self, Tensor target) -> Tensor",
    variants="internal",
    kernel=pointwise("-log_sigmoid_(x * y)", dtypes=FLOATING, cost=16),
    no_grad=PART,
    doc="The elements of soft_margin_loss, without derivative.",
)

_CTC_PROBABILITIES = T(5, 2, 4, low=-3.0, high=-0.5)
_CTC_PADDED = I(2, 2, values=(1, 2, 3, 3))
_CTC = (
    S(_CTC_PROBABILITIES, _CTC_PADDED, (5, 4), (2, 2)),
    S(_CTC_PROBABILITIES, I(3, values=(1, 1, 0)), (5, 2), (2, 1), 3, True),
    S(_CTC_PROBABILITIES, I(2, 0), (5, 0), (0, 0)),
)
# PyTorch's derivative is that of log_softmax and ctc_loss together: one of ctc_loss alone, as differences see it, has no exp(log_probs) in it.
# tests/nn/test_ctc.py takes it.
_CTC_TEST = {"gradcheck": False, "gradgrad": False}
_CTC_ERRORS = (
    E(S(T(5, 2, 4), _CTC_PADDED, (5, 6), (2, 2)), RuntimeError, "Expected input_lengths to have value at most 5, but got value 6"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5, -1), (2, 2)), RuntimeError, "Expected input_lengths to have value at least 0, but got value -1"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5, 4), (2, -2)), RuntimeError, "Expected target_lengths to have value at least 0, but got value -2"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5, 4), (3, 2)), RuntimeError, "Expected tensor to have size at least 3 at dimension 1, but got size 2"),
    E(S(T(5, 2, 4), I(3, low=1), (5, 4), (2, 2)), RuntimeError, "Expected tensor to have size 4 at dimension 0, but got size 3"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5,), (2, 2)), RuntimeError, "input_lengths must be of size batch_size"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5, 4), (2,)), RuntimeError, "target_lengths must be of size batch_size"),
    E(S(T(5, 2, 4), _CTC_PADDED, (5, 4), (2, 2), 4), RuntimeError, "blank must be in label range"),
    E(S(T(5, 0, 4), I(0, 2), (), ()), RuntimeError, "log_probs tensor must not be empty"),
)
op(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[+] input_lengths, int[+] target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor "
    "neg_log_likelihood, Tensor log_alpha)",
    variants="function internal",
    kernel=native(),
    grad={
        "log_probs": "ctc_loss_grad(grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity)"
    },
    outputs_nondiff=("log_alpha",),
    nondiff=("targets",),
    node="CtcLossBackward0",
    home="",
    batching=LOOP,
    syncs=True,
    doc="-log of the likelihood that the frames log_probs, [T, N, C], spell the targets, over all alignments; and what its gradient is made from.",
    samples=list(_CTC),
    errors=_CTC_ERRORS
    + (E(S(T(5, 2, 4), I(2, 2, values=(1, 2, 4, 1)), (5, 4), (2, 1)), RuntimeError, "ctc_loss: target 4 is out of bounds"),),
    test=_CTC_TEST | {"compat": False},  # PyTorch leaves the steps behind the end of a sequence unwritten
)
op(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[+] input_lengths, int[+] target_lengths, Tensor neg_log_likelihood, "
    "Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
    variants="function internal",
    kernel=native(),
    no_grad=PART,
    home="",
    batching=LOOP,
    doc="The gradient of _ctc_loss, without derivative.",
    samples=[
        S(
            T(2, grad=False),
            T(5, 2, 4, grad=False, low=-3, high=-0.5),
            _CTC_PADDED,
            (5, 4),
            (2, 1),
            T(2, grad=False, low=3, high=4),
            T(2, 5, 5, grad=False, low=-9, high=-2),
            0,
            False,
        )
    ],
)
for _lengths, _type in (("IntList", "int[+]"), ("Tensor", "Tensor")):
    _given = ((5, 4), (2, 2)) if _type == "int[+]" else (I(2, values=(5, 4)), I(2, values=(2, 2)))
    op(
        f"ctc_loss.{_lengths}(Tensor log_probs, Tensor targets, {_type} input_lengths, {_type} target_lengths, int blank=0, int reduction=0, "
        "bool zero_infinity=False) -> Tensor",
        variants="function internal",
        kernel=composite(),
        autocast=FLOAT32,
        syncs=True,
        doc="-log of the likelihood that the frames log_probs, [T, N, C] or [T, C], spell the targets, padded or one after the other, over all "
        "alignments with blanks between the labels.",
        samples=[S(_CTC_PROBABILITIES, _CTC_PADDED, *_given, 0, r, z) for r, z in ((0, False), (1, True), (2, False))]
        + [S(T(5, 4, low=-3.0, high=-0.5), I(2, values=(1, 3)), *(((5,), (2,)) if _type == "int[+]" else (I(values=(5,)), I(values=(2,)))))],
        errors=_CTC_ERRORS
        if _type == "int[+]"
        else (E(S(T(5, 2, 4), _CTC_PADDED, T(2), I(2)), RuntimeError, "input_lengths must be integral"),),
        test=_CTC_TEST,
    )

# ---- normalisation ----

op(
    "native_layer_norm(Tensor self, int[+] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor output, Tensor "
    "mean, Tensor rstd)",
    variants="function internal",
    kernel=native(),
    grad={
        "self, weight, bias": "layer_norm_grad(grad, self, weight, normalized_shape, eps, mean, rstd, needs_self, needs_weight, needs_bias)"
    },
    outputs_nondiff=("mean", "rstd"),
    batching=by("layer_norm"),
    doc="Layer normalisation, with the mean and the reciprocal deviation of each row.",
    samples=[
        S(T(3, 4), (4,), T(4), T(4), 1e-5),
        S(T(2, 3, 4), (3, 4), None, None, 1e-5),
        S(T(3, 4), (4,), T(4), None, 1e-5),
        S(T(0, 4), (4,), T(4), T(4), 1e-5),
    ],
)
op(
    "native_layer_norm_backward(Tensor grad_out, Tensor self, int[+] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, bool needs_self, "
    "bool needs_weight, bool needs_bias) -> (Tensor grad_self, Tensor grad_weight, Tensor grad_bias)",
    variants="function",
    home="",
    kernel=native(),
    no_grad=PART,
    batching=LOOP,
    doc="The gradients of layer normalisation, without derivative; those that are not needed are None.",
    samples=[
        S(T(3, 4, grad=False), T(3, 4, grad=False), (4,), T(3, 1, grad=False), T(3, 1, grad=False), T(4, grad=False), True, True, True),
        S(T(2, 3, 4, grad=False), T(2, 3, 4, grad=False), (3, 4), T(2, 1, 1, grad=False), T(2, 1, 1, grad=False), None, True, True, True),
    ],
    test={"compat": False},  # PyTorch takes what is needed as a list
)
op(
    "layer_norm(Tensor self, int[+] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
    "cudnn_enable=True) -> Tensor",
    variants="function internal",
    kernel=composite(),
    doc="Normalises the last dimensions to mean 0 and variance 1, then scales and shifts.",
    samples=[S(T(3, 4), (4,), T(4), T(4)), S(T(2, 3, 4), (3, 4)), S(T(4), (4,), T(4)), S(T(0, 4), (4,), T(4), T(4))],
    errors=(
        E(
            S(T(3, 4), (5,)),
            RuntimeError,
            r"Given normalized_shape=\[5\], expected input with shape \[\*, 5\], but got input of size\[3, 4\]",
        ),
        E(
            S(T(3, 4), (4,), T(3)),
            RuntimeError,
            r"Expected weight to be of same shape as normalized_shape, but got weight of shape \[3\] and normalized_shape = \[4\]",
        ),
        E(
            S(T(3, 4), (4,), T(4), T(3)),
            RuntimeError,
            r"Expected bias to be of same shape as normalized_shape, but got bias of shape \[3\] and normalized_shape = \[4\]",
        ),
        E(S(T(3, 4), ()), RuntimeError, "Expected normalized_shape to be at least 1-dimensional"),
    ),
)

# ---- gates and padding ----

op(
    "glu(Tensor self, int dim=-1) -> Tensor",
    variants="function internal",
    kernel=native(whole=True),
    grad={"self": "glu_grad(grad, self, dim)"},
    home="nn.functional",
    batching=along("dim"),
    doc="The first half along dim times the sigmoid of the second.",
    samples=[S(T(3, 4)), S(T(4, 3), 0), S(T(2, 6, 2), 1), S(T(0, 4))],
    errors=(
        E(S(T(3, 3)), RuntimeError, "Halving dimension must be even, but dimension 1 is size 3"),
        E(S(T()), RuntimeError, "glu does not support 0-dimensional tensors"),
    ),
)
op(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    variants="internal",
    kernel=pointwise("x > T(0) ? x : x * y", dtypes=FLOATING),
    grad={
        "self": "ops::_prelu_backward(grad, self, weight)",
        "weight": "ops::where(ops::ge(self, 0.0), 0.0, grad * self)",
    },
    node="PreluKernelBackward0",
    jvp="elementwise",
    doc="prelu with a weight that broadcasts.",
)
op(
    "_prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> Tensor",
    variants="internal",
    kernel=pointwise("y > T(0) ? x : x * z", dtypes=FLOATING),
    grad={
        "grad_output": "ops::_prelu_backward(grad, self, weight)",
        "self": "zero_gradient(grad)",
        "weight": "ops::where(ops::ge(self, 0.0), 0.0, grad * grad_output)",
    },
    jvp="elementwise",
    doc="Gradient of prelu for self. At 0, where it has none, that of the negative side, but no second one.",
)
op(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    variants="function method internal",
    kernel=composite(),
    autocast=LOWER_PRECISION,
    doc="self where positive, else weight * self, with one weight or one per channel (dim 1).",
    samples=[S(T(3, 4), T(1)), S(T(3, 4), T(4)), S(T(2, 3, 4), T(3)), S(T(3), T(1)), S(T(), T()), S(T(3, 4), T())],
    errors=(
        E(
            S(T(2, 3), T(2)),
            RuntimeError,
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and channel size = 3.",
        ),
        E(S(T(2, 3), T(3, 1)), RuntimeError, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = 2"),
    ),
)
op(
    "constant_pad_nd(Tensor self, int[+] pad, Scalar value=0) -> Tensor",
    variants="function internal",
    kernel=native(complex=True, guests="moves"),
    grad={"self": "constant_pad_grad(grad, pad)"},
    jvp="ops::constant_pad_nd(self_t, pad, 0)",
    batching=by("constant_pad"),
    doc="Adds elements of one value around a tensor, the last dimension first; negative amounts cut.",
    samples=[
        S(T(3, 4), (1, 2)),
        S(T(3, 4), (1, 2, 0, 3), 1.5),
        S(T(3, 4), (-1, 2)),
        S(T(2, 3, 4), (0, 0, -1, -1), 2),
        S(T(3, 4), ()),
        S(T(0, 4), (1, 1, 2, 0)),
    ],
    errors=(
        E(S(T(3), (1, 2, 3)), RuntimeError, "Length of pad must be even but instead it equals 3"),
        E(
            S(T(3), (1, 1, 1, 1)),
            RuntimeError,
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is 4",
        ),
        E(S(T(3), (-2, -2)), RuntimeError, r"narrow\(\): length must be non-negative."),
    ),
)

op(
    "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.normalize:norm_except_dim"),
    doc="Norm over all dimensions but one, which stays; over all of them for dim=-1.",
    samples=[S(T(3, 4)), S(T(3, 4), 2, 1), S(T(3, 4), 2, -1), S(T(2, 3, 4), 3, 1), S(T(2, 3, 4), 2, 0), S(T(2, 3, 4), 1, 2)],
    errors=(E(S(T(3, 4), 2, 5), IndexError, "Dimension out of range"),),
)

# ---- distances ----

op(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="Cosine of the angle between vectors along dim.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3, 4), T(1, 4)), S(T(4), T(4), 0), S(T(2, 3, 4), T(2, 3, 4), -1)],
)
op(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="p-norm of x1 - x2 + eps along the last dim.",
    samples=[S(T(3, 4), T(3, 4)), S(T(3, 4), T(4)), S(T(3, 4), T(3, 4), 3.0, keepdim=True), S(T(4), T(4), 1.0)],
)
op(
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.distance:bilinear"),
    autocast=AS_IS,
    doc="x1 @ weight[k] @ x2 + bias[k] for every output k.",
    samples=[S(T(2, 3), T(2, 4), T(5, 3, 4), T(5)), S(T(3), T(4), T(5, 3, 4)), S(T(2, 2, 3), T(2, 2, 4), T(5, 3, 4), T(5))],
    errors=(
        E(S(T(2, 3), T(3, 4), T(5, 3, 4)), RuntimeError, r"bilinear\(\): input batch dimensions do not match at dim 0: got 2 and 3"),
        E(S(T(2, 2), T(2, 4), T(5, 3, 4)), RuntimeError, r"bilinear\(\): input1 size does not match weight size: got 2 but expected 3"),
    ),
)
op(
    "pdist(Tensor input, float p=2.0) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="p-norm distances between all pairs of rows.",
    samples=[S(T(4, 3)), S(T(4, 3), 1.0), S(T(3, 2), 3.0), S(T(4, 3, distinct=True), float("inf")), S(T(1, 3)), S(T(3, 0))],
    errors=(
        E(S(T(3)), RuntimeError, "pdist only supports 2D tensors, got: 1D"),
        E(S(I(3, 3)), RuntimeError, "pdist only supports floating-point dtypes"),
        E(S(T(3, 3), -1.0), RuntimeError, "pdist only supports non-negative p values"),
    ),
)

# ---- functions of nn.functional under their names in torch, where the reduction that is left out is none ----

_SIGNS = {"values": (1.0, -1.0, 1.0), "grad": False}
for _schema, _doc, _samples in (
    (
        "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=0) -> Tensor",
        "1 - cosine where the target is 1, the cosine beyond a margin where it is -1.",
        [S(T(3, 4), T(3, 4), T(3, **_SIGNS)), S(T(3, 4), T(3, 4), T(3, **_SIGNS), 0.1, 0), S(T(3, 4), T(3, 4), T(3, **_SIGNS), 0.1, 2)],
    ),
    (
        "hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, int reduction=0) -> Tensor",
        "The input where the target is 1, what a margin exceeds it by where it is -1.",
        [S(T(3), T(3, **_SIGNS)), S(T(3), T(3, **_SIGNS), 0.5, 0), S(T(3), T(3, **_SIGNS), 2.0, 2)],
    ),
    (
        "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=0) -> Tensor",
        "What the first input lacks to exceed the second by a margin.",
        [S(T(3), T(3), T(3, **_SIGNS)), S(T(3), T(3), T(3, **_SIGNS), 0.5, 0), S(T(3), T(3), T(3, **_SIGNS), 0.1, 2)],
    ),
    (
        "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
        "The negative log likelihood of counts.",
        [
            S(T(3, 4), T(3, 4, low=0.1, high=1, grad=False), True, False, 1e-8, 1),
            S(T(3, low=0.1, high=2), T(3, low=2, high=5, grad=False), False, True, 1e-8, 0),
            S(T(3), T(3, low=0.1, high=1, grad=False), True, False, 1e-8, 2),
        ],
    ),
    (
        "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, int reduction=0) -> Tensor",
        "What the distance to a negative lacks to exceed that to a positive by a margin.",
        [S(T(3, 4), T(3, 4), T(3, 4)), S(T(3, 4), T(3, 4), T(3, 4), 5.0, 2.0, 1e-6, True, 0), S(T(4), T(4), T(4), 5.0, 1.0, reduction=2)],
    ),
    (
        "frobenius_norm(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
        "The root of the sum of squares, over one dimension or two; over all for none.",
        [S(T(3, 4), (0, 1)), S(T(3, 4), (1,), True), S(T(2, 3, 4), (0, 2)), S(T(3, 4), ())],
    ),
):
    _name = _schema.split("(")[0]
    _casts = FLOAT32 if _name.endswith("_loss") else ""
    op(_schema, variants="function", kernel=python(f"retrograd._ops.nn.short:{_name}"), autocast=_casts, doc=_doc, samples=_samples)
op(
    "rms_norm(Tensor input, int[+] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    variants="function",
    kernel=composite(),
    doc="The input divided by the root of its mean square over the last dimensions, times weight.",
    samples=[S(T(3, 4), (4,)), S(T(2, 3, 4), (3, 4), T(3, 4)), S(T(3, 4), (4,), T(4), 0.1), S(T(0, 4), (4,))],
)
op(
    "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.short:rrelu"),
    doc="leaky_relu with a slope drawn for each element while training, else the mean slope.",
    samples=[S(T(3, 4)), S(T(5), 0.1, 0.2)],
    errors=(E(S(T(3), 0.5, 0.1), RuntimeError, "Lower bound should be less than or equal to the upper bound"),),
)
op(
    "nuclear_norm(Tensor input, bool keepdim=False) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.short:nuclear_norm"),
    doc="The sum of the singular values of a matrix.",
    samples=[S(T(3, 4)), S(T(4, 3), True)],
)
op(
    "nuclear_norm.dim(Tensor input, int[] dim, bool keepdim=False) -> Tensor",
    variants="function",
    kernel=python("retrograd._ops.nn.short:nuclear_norm"),
    doc="The sum of the singular values of the matrices that two dimensions hold.",
    samples=[S(T(2, 3, 4), (1, 2)), S(T(2, 3, 4), (0, 2), True)],
)
