"""Ops are found where PyTorch has them: `special_erfcx` as `special.erfcx`, `linalg_det` as `linalg.det`, `fft_rfft` as `fft.rfft`, losses in `nn.functional`."""

import pytest

import retrograd
from tests.ops.harness import entries, ids

FUNCTIONAL = [
    "relu", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "gelu", "hardtanh", "relu6", "hardsigmoid", "hardswish",
    "hardshrink", "softshrink", "softplus", "logsigmoid", "softsign", "tanhshrink", "threshold", "prelu", "glu", "softmax",
    "log_softmax", "softmin", "linear", "bilinear", "embedding", "one_hot", "cross_entropy", "nll_loss", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "soft_margin_loss",
    "layer_norm", "normalize", "cosine_similarity", "pairwise_distance", "pad", "dropout", "alpha_dropout", "feature_alpha_dropout",
]  # fmt: skip


@pytest.mark.parametrize(
    "entry", entries(lambda e: e.name.startswith(("special_", "linalg_", "fft_")) and "function" in e.variants), ids=ids
)
def test_namespaces_of_ops(entry):
    home, _, name = entry.name.partition("_")
    assert callable(getattr(getattr(retrograd, home), name))


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_functional(name):
    assert callable(getattr(retrograd.nn.functional, name))


@pytest.mark.parametrize("entry", entries(lambda e: "function" in e.variants and not e.name.startswith("_")), ids=ids)
def test_functions_have_docs(entry):
    function = getattr(retrograd._C._ops, entry.name, None) or getattr(retrograd, entry.name)
    assert function.__name__ == entry.name
    assert function.__doc__
