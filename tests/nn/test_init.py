"""nn.init: the same numbers as PyTorch for the same seed, errors, aliases."""

import math

import pytest

import retrograd

# Function, shape, arguments, and the sum and last element PyTorch gives in float64 after manual_seed(7).
CASES = [
    ("uniform_", (3, 5), (-1, 2)),
    ("normal_", (3, 5), (1, 2)),
    ("normal_", (4, 16), ()),
    ("trunc_normal_", (30, 5), ()),
    ("trunc_normal_", (30, 5), (0.5, 2, -1, 1)),
    ("trunc_normal_", (30, 5), (0.0, 1.0, 2, 4)),
    ("constant_", (2, 3), (4.5,)),
    ("ones_", (2,), ()),
    ("zeros_", (2,), ()),
    ("eye_", (3, 4), ()),
    ("dirac_", (4, 3, 3), ()),
    ("dirac_", (4, 2, 3, 5), (2,)),
    ("xavier_uniform_", (4, 7), ()),
    ("xavier_normal_", (4, 7, 3, 3), (2.0,)),
    ("kaiming_uniform_", (4, 7), (math.sqrt(5),)),
    ("kaiming_normal_", (4, 7), (0, "fan_out", "relu")),
    ("sparse_", (10, 4), (0.3,)),
]
STORED = [
    (4.97881728319, -0.633430472874),
    (20.6486544652, 3.7909015924),
    (2.14783695422, -0.427569531098),
    (11.5093945528, -0.173029045341),
    (17.5333041173, 0.153941909318),
    (347.048822454, 2.35517277046),
    (27, 4.5),
    (2, 1),
    (0, 0),
    (3, 0),
    (3, 0),
    (4, 0),
    (2.57767421134, 0.501312211359),
    (4.00878596171, 0.204327698734),
    (1.31916683426, 0.256554703432),
    (6.86319056916, 0.0315770633494),
    (0.0313673986088, -0.00439394839431),
]


def fill(torch, case, dtype):
    name, shape, args = case
    torch.manual_seed(7)
    tensor = getattr(torch.nn.init, name)(torch.empty(shape, dtype=getattr(torch, dtype)), *args)
    return tensor, torch.rand(1).item()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_same_bits(oracle, case, dtype):
    ours, theirs = fill(retrograd, case, dtype), fill(oracle, case, dtype)
    assert ours[0].tolist() == theirs[0].tolist()
    assert ours[1] == theirs[1]  # and as many random numbers were used


@pytest.mark.parametrize(("case", "expected"), list(zip(CASES, STORED, strict=True)), ids=lambda v: v[0] if isinstance(v[0], str) else "")
def test_stored(case, expected):
    tensor = fill(retrograd, case, "float64")[0]
    assert (tensor.sum().item(), tensor.reshape(-1)[-1].item()) == pytest.approx(expected, rel=1e-9)


def test_without_history(torch):
    p = torch.nn.Parameter(torch.empty(2, 2))
    assert torch.nn.init.normal_(p) is p
    assert p.is_leaf and p.grad_fn is None


def test_generator(torch):
    draws = []
    for _ in range(2):
        g = torch.Generator().manual_seed(3)
        draws.append(torch.nn.init.xavier_uniform_(torch.empty(2, 2), generator=g).tolist())
    assert draws[0] == draws[1]


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [("linear", None, 1), ("sigmoid", None, 1), ("tanh", None, 5 / 3), ("relu", None, 2**0.5), ("leaky_relu", None, (2 / 1.0001) ** 0.5),
     ("leaky_relu", 1, 1.0), ("selu", None, 0.75), ("conv2d", None, 1)],
)  # fmt: skip
def test_gain(torch, name, param, gain):
    assert torch.nn.init.calculate_gain(name, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda i, t: i.calculate_gain("what"), "Unsupported nonlinearity what"),
        (lambda i, t: i.calculate_gain("leaky_relu", "x"), "negative_slope x not a valid number"),
        (lambda i, t: i.eye_(t.ones(2)), "Only tensors with 2 dimensions are supported"),
        (lambda i, t: i.dirac_(t.ones(2)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda i, t: i.dirac_(t.ones(3, 1, 1), 2), "dim 0 must be divisible by groups"),
        (lambda i, t: i.xavier_normal_(t.ones(2)), "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
        (lambda i, t: i.kaiming_normal_(t.ones(2, 2), mode="fan"), "Mode fan not supported, please use one of"),
        (lambda i, t: i.orthogonal_(t.ones(2)), "Only tensors with 2 or more dimensions are supported"),
        (lambda i, t: i.sparse_(t.ones(2), 0.1), "Only tensors with 2 dimensions are supported"),
    ],
)
def test_refusals(torch, call, words):
    with pytest.raises(ValueError, match=words):
        call(torch.nn.init, torch)


def test_warnings(torch):
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        torch.nn.init.kaiming_uniform_(torch.empty(0, 2))
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        torch.nn.init.trunc_normal_(torch.empty(2), 10.0)
    with pytest.warns(FutureWarning, match="`nn.init.constant` is now deprecated in favor of `nn.init.constant_`"):
        assert torch.nn.init.constant(torch.empty(2), 3.0).tolist() == [3.0, 3.0]


def test_orthogonal(torch):
    if not hasattr(getattr(torch, "linalg", None), "qr"):
        pytest.skip("needs linalg.qr")
    torch.manual_seed(0)
    for shape in ((3, 5), (5, 3), (4, 2, 2)):
        w = torch.nn.init.orthogonal_(torch.empty(shape), gain=2.0).reshape(shape[0], -1)
        square = w @ w.t() if shape[0] <= w.shape[1] else w.t() @ w
        torch.testing.assert_close(square, 4 * torch.eye(square.shape[0]), atol=1e-5, rtol=1e-5)
