"""Normalisation by channels and by groups of them."""

from __future__ import annotations

from optable import composite, native, op
from optable.facts import LOOP, PART, by
from optable.samples import E, S, T

_STATISTICS = (T(3, grad=False), T(3, low=0.5, high=2, grad=False))
_NONE = (None, None)

op(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, "
    "float eps) -> (Tensor output, Tensor save_mean, Tensor save_invstd)",
    variants="function internal",
    kernel=native(),
    grad={
        "input, weight, bias": "batch_norm_grad(grad, input, weight, save_mean, save_invstd, training, eps, needs_input, needs_weight, needs_bias)"
    },
    # Not its backward, transposed, which would run it again and move the running statistics twice.
    jvp="batch_norm_tangent(input_t, weight_t, bias_t, input, weight, save_mean, save_invstd, training, eps)",
    nondiff=("running_mean", "running_var"),
    outputs_nondiff=("save_mean", "save_invstd"),
    mutates=("running_mean", "running_var"),
    batching=by("batch_norm"),
    doc="Batch normalisation of [N, C, ...], with the mean and the reciprocal deviation that were used for each channel.",
    samples=[
        S(T(4, 3), T(3), T(3), *_NONE, True, 0.1, 1e-5),
        S(T(2, 3, 4), T(3), None, *_STATISTICS, True, 0.1, 1e-5),
        S(T(2, 3, 4, 5), *_NONE, *_STATISTICS, True, 0.3, 1e-2),
        S(T(2, 3, 2, 2, 5), *_NONE, *_NONE, True, 0.1, 1e-5),
    ],
)
op(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor mean, Tensor invstd, bool train, bool needs_input, "
    "bool needs_weight, bool needs_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)",
    variants="function",
    home="",
    kernel=native(),
    no_grad=PART,
    batching=LOOP,
    doc="The gradients of batch normalisation, without derivative; those that are not needed are None.",
    samples=[
        S(T(2, 3, 4, grad=False), T(2, 3, 4, grad=False), weight, *_STATISTICS, train, True, True, True)
        for train in (True, False)
        for weight in (None, T(3, grad=False))
    ],
    test={"compat": False},  # PyTorch takes what is needed as a list, and the running statistics
)
op(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor",
    variants="function internal",
    kernel=composite(),
    mutates=("running_mean", "running_var"),
    doc="Brings each channel of [N, C, ...] to mean 0 and variance 1, those of the batch or, unless training, the running ones, then scales and shifts.",
    samples=[
        S(T(4, 3), T(3), T(3), *_NONE, True, 0.1, 1e-5, True),
        S(T(2, 3, 4), T(3), T(3), *_STATISTICS, True, 0.1, 1e-5, True),
        S(T(2, 3, 4, 5), T(3), T(3), *_STATISTICS, False, 0.1, 1e-5, True),
        S(T(2, 3, 2, 2, 3), *_NONE, *_STATISTICS, False, 0.1, 1e-2, True),
        S(T(2, 3, 20), None, T(3), *_NONE, True, 0.1, 1e-5, True),
        S(T(0, 3, 2), T(3), T(3), *_STATISTICS, True, 0.1, 1e-5, True),
    ],
    errors=(
        E(S(T(3), *_NONE, *_NONE, True, 0.1, 1e-5, True), IndexError, "Dimension out of range"),
        E(S(T(2, 3), *_NONE, *_NONE, False, 0.1, 1e-5, True), RuntimeError, "running_mean must be defined in evaluation mode"),
        E(S(T(2, 3), *_NONE, T(3), None, False, 0.1, 1e-5, True), RuntimeError, "running_var must be defined in evaluation mode"),
        E(
            S(T(2, 3), *_NONE, T(3), None, True, 0.1, 1e-5, True),
            ValueError,
            "running_mean and running_var must either both be None or neither be None",
        ),
        E(S(T(2, 3), *_NONE, T(4), T(4), True, 0.1, 1e-5, True), RuntimeError, "running_mean should contain 3 elements not 4"),
        E(S(T(2, 3), *_NONE, T(3), T(4), True, 0.1, 1e-5, True), RuntimeError, "running_var should contain 3 elements not 4"),
        E(S(T(2, 3), T(4), None, *_NONE, True, 0.1, 1e-5, True), RuntimeError, "weight should contain 3 elements not 4"),
        E(S(T(2, 3), T(3), T(2), *_NONE, True, 0.1, 1e-5, True), RuntimeError, "bias should contain 3 elements not 2"),
    ),
)
op(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> (Tensor output, Tensor mean, "
    "Tensor rstd)",
    variants="function internal",
    kernel=native(),
    grad={"input, weight, bias": "group_norm_grad(grad, input, weight, mean, rstd, group, eps, needs_input, needs_weight, needs_bias)"},
    jvp="group_norm_tangent(input_t, weight_t, bias_t, input, weight, group, eps)",
    outputs_nondiff=("mean", "rstd"),
    batching=by("group_norm"),
    doc="Group normalisation of [N, C, ...], with the mean and the reciprocal deviation of each group of each sample.",
    samples=[
        S(T(2, 6), T(6), T(6), 2, 6, 1, 2, 1e-5),
        S(T(2, 6, 4), T(6), None, 2, 6, 4, 3, 1e-5),
        S(T(2, 4, 3, 2), *_NONE, 2, 4, 6, 1, 1e-2),
        S(T(0, 4, 3), T(4), T(4), 0, 4, 3, 2, 1e-5),
    ],
    errors=(E(S(T(2, 4, 3), *_NONE, 2, 4, 2, 2, 1e-5), RuntimeError, r"Expected X.numel\(\) == N \* C \* HxW to be true, but got"),),
    test={"compat": False},  # PyTorch differentiates mean and rstd too
)
op(
    "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int group, bool needs_input, bool "
    "needs_weight, bool needs_bias) -> (Tensor grad_input, Tensor grad_weight, Tensor grad_bias)",
    variants="function",
    home="",
    kernel=native(),
    no_grad=PART,
    batching=LOOP,
    doc="The gradients of group normalisation, without derivative; those that are not needed are None.",
    samples=[
        S(T(2, 4, 3, grad=False), T(2, 4, 3, grad=False), T(2, 2, grad=False), T(2, 2, grad=False), weight, 2, True, True, True)
        for weight in (None, T(4, grad=False))
    ],
    test={"compat": False},  # PyTorch takes what is needed as a list
)
op(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
    variants="function internal",
    kernel=composite(),
    doc="Brings each of num_groups groups of channels of a sample to mean 0 and variance 1, then scales and shifts each channel.",
    samples=[
        S(T(2, 6), 2, T(6), T(6)),
        S(T(2, 6, 4), 3, T(6), T(6)),
        S(T(2, 4, 3, 2), 1),
        S(T(1, 4, 3, 2, 2), 4, T(4), T(4), 1e-2),
        S(T(0, 4, 3), 2, T(4), T(4)),
    ],
    errors=(
        E(S(T(3), 3), IndexError, "Dimension out of range"),
        E(
            S(T(2, 3), 2),
            RuntimeError,
            r"Expected number of channels in input to be divisible by num_groups, but got input of shape \[2, 3\] and num_groups=2",
        ),
        E(S(T(2, 3), -1), RuntimeError, "Expected num groups to be greater than 0, got -1"),
        E(
            S(T(2, 3, 4), 3, T(4)),
            RuntimeError,
            r"Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape \[4\] and input of shape",
        ),
        E(S(T(2, 3, 4), 3, T(3), T(2)), RuntimeError, "Expected bias to be a vector of size equal to the number of channels in input"),
    ),
)
op(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, "
    "float eps, bool cudnn_enabled) -> Tensor",
    variants="function internal",
    kernel=composite(),
    mutates=("running_mean", "running_var"),
    doc="Brings each channel of each sample of [N, C, ...] to mean 0 and variance 1, then scales and shifts.",
    samples=[
        S(T(2, 3, 4), *_NONE, *_NONE, True, 0.1, 1e-5, True),
        S(T(2, 3, 4, 5), T(3), T(3), *_STATISTICS, True, 0.1, 1e-5, True),
        S(T(2, 3, 4), T(3), T(3), *_STATISTICS, False, 0.1, 1e-5, True),
    ],
    errors=(
        E(
            S(T(2, 3, 4), *_NONE, *_NONE, False, 0.1, 1e-5, True),
            RuntimeError,
            "Expected running_mean and running_var to be defined when use_input_stats is false",
        ),
        E(S(T(2, 3, 4), T(4), None, *_NONE, True, 0.1, 1e-5, True), RuntimeError, "weight should contain 6 elements not 8"),
    ),
)
