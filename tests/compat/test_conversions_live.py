"""Conversions between all dtypes, bit for bit as PyTorch's."""

import itertools

import pytest

torch = pytest.importorskip("torch")

import retrograd  # noqa: E402

INTEGERS = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
]
WHOLE = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    32767,
    65535,
    65536,
    70001,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**53 + 1,
    2**62 + 3,
    2**63 - 1,
    -(2**63),
]


def numbers(dtype):
    """Given to both engines as the bytes of PyTorch's tensor."""
    generator = torch.Generator().manual_seed(0)
    if dtype.is_floating_point:
        spread = torch.randn(200, generator=generator, dtype=torch.float64)
        scaled = [spread * 10.0**e for e in (-6, -3, -1, 0, 1, 2, 4)]
        return torch.cat([*scaled, torch.tensor([0.0, -0.0, 448.0, 464.0, 57344.0, 61440.0, 2.0**-9, 2.0**-10])]).to(dtype)
    return torch.cat([torch.tensor(WHOLE), torch.randint(-(2**63), 2**63 - 1, (200,), generator=generator)]).to(dtype)


def ours(tensor, name):
    data = torch.atleast_1d(tensor).view(torch.uint8).numpy().tobytes()
    return retrograd.frombuffer(bytearray(data), dtype=getattr(retrograd, name))


@pytest.mark.parametrize(("source", "target"), itertools.product(INTEGERS + FLOATS, repeat=2))
def test_conversions(source, target):
    a, b = getattr(torch, source), getattr(torch, target)
    given = numbers(a)
    if a.is_floating_point and not b.is_floating_point:  # what does not fit is undefined, and nan too
        low, high = (0, 1) if target == "bool" else (torch.iinfo(b).min, torch.iinfo(b).max)
        wide = given.double()
        given = given[(wide.abs() < 2.0**31) & ((wide > float(low) - 1) & (wide < float(high)) if target != "bool" else ~wide.isnan())]
    expected = given.to(b)
    for made, wanted in (
        (ours(given, source).to(getattr(retrograd, target)), expected),
        (ours(given, source)[::3].to(getattr(retrograd, target)), expected[::3]),
    ):
        assert str(made.dtype) == str(wanted.dtype)
        if b.is_floating_point:
            there = ours(wanted.contiguous(), target)
            same = (made == there) | (made.isnan() & there.isnan())
            assert same.all(), [(given[i].item(), made[i].item(), wanted[i].item()) for i in same.logical_not().nonzero()[:3, 0].tolist()]
        else:
            assert made.tolist() == wanted.tolist()
