"""Where retrograd and PyTorch are not compared, each with its reason. What a single op needs for itself stands in its entry (`test=`)."""

from __future__ import annotations

import math
import re

import optable
from tests.ops.cases import Case
from tests.ops.harness import variants_of

NOT_IN_TORCH = {
    "_all_within": "ours: a check of arguments with one answer",
    "_linear_recurrence": "ours: the scan that derivatives of cumulative products are made of",
    "_nonzero": "ours: nonzero as one matrix, without the as_tuple choice",
    "_block_diag": "ours: block_diag of matrices only",
    "_as_strided_transfer": "ours: the derivative of as_strided",
    "_conj_physical": "ours: the kernel of conj_physical",
    "_clone_as": "ours: a copy with the strides of another tensor",
    "_convolution_input": "ours: PyTorch has one op for all gradients of a convolution",
    "_convolution_weight": "ours: PyTorch has one op for all gradients of a convolution",
    "_exponent": "ours: a part of frexp",
    "_expand_reduced": "ours: a reduced gradient brought back to the input's shape",
    "_attention": "ours: PyTorch's has another order of arguments",
    "_attention_backward": "ours: PyTorch's has another order of arguments",
    "_less_exponent": "ours: a part of frexp",
    "_group_keys": "ours: equal rows of indices found, for coalesce",
    "_linear": "ours: a layer as one product, where nothing is recorded",
    "_mm": "ours: a product that reads transposed matrices through their strides",
    "_adaptive_avg_pool_backward": "ours: PyTorch has one for each number of dimensions",
    "_avg_pool_backward": "ours: PyTorch has one for each number of dimensions",
    "_pool_put": "ours: the derivative of every max pooling",
    "_pool_take": "ours: its transpose",
    "_put_along": "ours: the derivative of taking along a dimension",
    "_recurrent_layer": "ours: one layer in one direction over whole sequences",
    "_recurrent_layer_backward": "ours: its gradients",
    "_reverse_cumsum": "ours: cumsum from the end, its derivative",
    "_sparse_dots": "ours: the gradient of a sparse matrix's values in a product",
    "_sum_to": "ours: broadcasting undone",
    "_take_along": "ours: gather with indices known to be in range",
    "_unique_consecutive": "ours; PyTorch's unique_consecutive is the public one",
    "_unique_dim": "ours; PyTorch's unique_dim has no Python name",
}

NO_DERIVATIVE = "special_(airy_ai|.*bessel.*|.*_polynomial_.*)"  # in PyTorch

# PyTorch's result is the less accurate or the less sensible one: (op, the message of the comparison, why).
PYTORCH_IS_OFF = [
    (
        NO_DERIVATIVE,
        "requires_grad is True|defined, expected undefined|node is .*, expected ''",
        "PyTorch has no derivative",
    ),
    ("bincount", "expected RuntimeError", "PyTorch has no derivative for the weights"),
    ("conv_transpose.*", "in float16: output: .* numbers differ", "PyTorch adds up in half precision"),
    ("histc", "numbers differ", "PyTorch finds the bin of a half precision number in half precision"),
    ("hardsigmoid", "gradient 0: .* numbers differ", "PyTorch rounds the slope 1/6 to float32 in float64 too"),
    (
        "as_strided_scatter",
        "gradient 0: .* numbers differ",
        "PyTorch keeps the gradient of what was overwritten; its own gradcheck refuses it",
    ),
    ("as_strided_scatter", "INTERNAL ASSERT FAILED", "PyTorch does not expect inputs that are not contiguous"),
    ("embedding_dense_backward", "gradient 0: .* numbers differ", "PyTorch forgets scale_grad_by_freq in its second derivative"),
    ("embedding_dense_backward", "expected True", "a bool table scaled by frequencies means nothing"),
    ("matrix_exp", "expected (nan|inf|-inf)", "PyTorch overflows in half precision"),
    (
        "linalg_(eigh|eigvalsh|lu_factor_ex|lu)|det|inverse",
        "Expected a floating|Low precision",
        "PyTorch checks dtypes here and there by the path an empty matrix takes",
    ),
    ("(native_)?batch_norm", "got None \\(or an undefined", "PyTorch fails in the second derivative without a weight"),
    ("(native_)?batch_norm", "SmallVector|should contain 0 elements not 1", "PyTorch takes the channels of a 0-d tensor to be none"),
    ("native_dropout", "output 1: dtype is 'bool'", "PyTorch's mask of an empty tensor is floating"),
    ("trapezoid|trapz", "requires_grad is True|defined, expected undefined|dtype is 'float", "PyTorch gives new zeros for an empty input"),
    ("fill_diagonal", "version raised by 1, expected 2", "PyTorch fills in two steps when it wraps"),
    (".*", "expected RuntimeError .*does not support automatic differentiation for outputs", "we do"),
    (
        "fractional_max_pool2d|max_unpool2d|_?adaptive_avg_pool2d",
        "not implemented for '(Long|Int|Short|Char|Byte|Bool)'.*expected a result",
        "PyTorch does not look at the dtype of an empty batch",
    ),
    ("avg_pool2d", "ComplexDouble.*expected IndexError", "PyTorch looks at the sizes before the dtype"),
    ("index_reduce", "expected NotImplementedError .*ComplexDouble", "PyTorch looks at the dtype before the index"),
    ("complex|view_as_complex", "no complex dtype of two halves", "PyTorch has complex32"),
    ("lobpcg", "expected KeyError", "PyTorch looks up a tolerance for the dtype and finds none"),
    ("narrow_copy", "must match the size of tensor b", "PyTorch has no derivative for a start that counts from the end"),
    ("vander", "modified by an inp|requires_grad is True|defined, expected undefined", "PyTorch writes over what its derivative needs"),
    ("norm_except_dim", "cannot reshape tensor of 0 elements", "PyTorch cannot tell how many norms an empty tensor has"),
    (
        "pixel_(un)?shuffle",
        r"PixelShuffleBackward0 returned an invalid|divisible|\(0, 4, 1, 1\)",
        "PyTorch leaves empty images as they are",
    ),
    ("gru_cell|lstm_cell", "result type Float can't be cast", "PyTorch computes gates in place, so not of integers"),
    ("affine_grid_generator", "floating point type", "coordinates that are integers mean nothing"),
    (
        "_upsample_.*_aa|grid_sampler_2d",
        "not implemented for .*expected a result",
        "where nothing is to be computed PyTorch does not look at the dtype",
    ),
    ("hinge_embedding_loss", "dtype is 'float32'", "PyTorch rounds the margin to integers beside them"),
    ("_?fft_.*|i?stft", "MKL FFT error", "MKL refuses to transform nothing"),
    ("_fft_.*", r"shape '\[-1, 0\]' is invalid", "PyTorch looks at the dimensions of a 0-d tensor too late"),
    (
        "mm|bmm|mv|addbmm|baddbmm|native_dropout|max_unpool2d",
        "not implemented for 'UInt",
        "PyTorch looks at the dtype only where there is work",
    ),
    ("index_reduce|searchsorted|bucketize", "not implemented for 'UInt", "PyTorch has these for some arguments and not for others"),
    ("index_fill", "setStorage", "PyTorch runs into its own view of a 0-d value"),
    ("native_channel_shuffle", r"expected RuntimeError \(derivative for", "PyTorch has no derivative of it"),
    ("_standard_gamma_grad|_standard_gamma", "numbers differ", "PyTorch's derivative is right to three digits, in part"),
    ("_standard_gamma_grad|_dirichlet_grad", "stride is", "PyTorch gives a contiguous result"),
    ("_sample_dirichlet", "expected RuntimeError .derivative for aten::_sample_dirichlet", "we have it"),
]

DECOMPOSITIONS = {
    "svd", "qr", "det", "logdet", "slogdet", "inverse", "pinverse", "cholesky", "cholesky_solve", "cholesky_inverse", "triangular_solve",
    "lu_solve", "lu_unpack", "geqrf", "orgqr", "ormqr", "lstsq", "tensorinv", "tensorsolve",
}  # fmt: skip

# Checked by PyTorch in nn.functional, where the function of the entry's name is not.
CHECKED_ABOVE = {"hardtanh"}

# The result follows the memory of the input, by definition.
LAYOUT_MATTERS = {
    "view": "refuses memory it cannot view",
    "view_as": "refuses memory it cannot view",
    "_unsafe_view": "refuses memory it cannot view",
    "resize": "keeps the memory and gives it another shape",
    "resize_as": "keeps the memory and gives it another shape",
    "set": "takes over the memory of another tensor",
}


def expandable(entry: optable.Op) -> bool:
    """Whether inputs with equal rows make sense: what is written must not overlap, decompositions of singular matrices are not unique."""
    if entry.name in ("native_batch_norm", "batch_norm", "instance_norm"):
        return False  # running statistics
    if entry.name == "stft":
        return False  # of pieces that share memory with others PyTorch adds up too few gradients
    if entry.qualified in ("norm.str", "nuclear_norm", "nuclear_norm.dim") or (
        entry.family == "linalg" and (entry.name.startswith("linalg_") or entry.name in DECOMPOSITIONS)
    ):
        return False
    return variants_of(entry)[0] != "inplace"


def has_differences(case: Case) -> bool:
    """Whether difference quotients of the sample mean anything."""
    if case.entry.name == "embedding" and True in case.sample.args:
        return False  # scale_grad_by_freq: the gradient is scaled on purpose
    finite = all(math.isfinite(x) for i in case.differentiable for x in case.values[i])
    return bool(case.differentiable) and finite and case.index not in case.entry.test.get("gradcheck_skip_samples", ())


def any_layout(entry: optable.Op) -> bool:
    return entry.name not in LAYOUT_MATTERS and entry.test.get("noncontiguous") is not False


def comparable(entry: optable.Op) -> bool:
    return entry.qualified not in NOT_IN_TORCH and entry.name not in NOT_IN_TORCH and entry.test.get("compat") is not False


def excused(entry: optable.Op, message: str) -> bool:
    return any(re.fullmatch(name, entry.name) and re.search(what, message) for name, what, _ in PYTORCH_IS_OFF)
