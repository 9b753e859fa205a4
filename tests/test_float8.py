"""Floats of 8 bits, and the dtypes that only have names. Codes and words are PyTorch 2.13's."""

import copy
import io
import math
import pickle

import pytest

import retrograd as torch

KINDS = {
    "float8_e4m3fn": [0, 128, 56, 56, 58, 197, 126, 126, 126, 126, 126, 254, 127, 1, 0, 1, 0, 126, 126, 119, 120],
    "float8_e5m2": [0, 128, 60, 60, 61, 195, 95, 95, 96, 124, 124, 252, 127, 24, 20, 22, 0, 123, 124, 92, 92],
    "float8_e4m3fnuz": [0, 0, 64, 64, 66, 205, 128, 128, 128, 128, 128, 128, 128, 2, 1, 2, 0, 128, 128, 127, 128],
    "float8_e5m2fnuz": [0, 0, 64, 64, 65, 199, 99, 99, 100, 128, 128, 128, 128, 28, 24, 26, 1, 127, 128, 96, 96],
    "float8_e8m0fnu": [0, 0, 127, 127, 127, 129, 136, 136, 136, 147, 255, 255, 255, 118, 117, 118, 110, 143, 143, 135, 135],
}
NUMBERS = [
    0.0, -0.0, 1.0, 1.0625, 1.1875, -3.3, 448.0, 464.0, 480.0, 1e6, math.inf, -math.inf, math.nan,
    2.0**-9, 2.0**-10, 1.5 * 2**-10, 2.0**-17, 57344.0, 61440.0, 240.0, 248.0,
]  # fmt: skip
LIMITS = {  # of finfo: largest, smallest normal, eps
    "float8_e4m3fn": (448.0, 2.0**-6, 0.125),
    "float8_e5m2": (57344.0, 2.0**-14, 0.25),
    "float8_e4m3fnuz": (240.0, 2.0**-7, 0.125),
    "float8_e5m2fnuz": (57344.0, 2.0**-15, 0.125),
    "float8_e8m0fnu": (2.0**127, 2.0**-127, 1.0),
}
OTHERS = {  # bytes, floating, complex, signed
    "complex32": (4, False, True, True),
    "float4_e2m1fn_x2": (1, True, False, True),
    **{f"int{n}": (1, False, False, True) for n in range(1, 8)},
    **{f"uint{n}": (1, False, False, False) for n in range(1, 8)},
    **{name: (2 if name == "bits16" else 1, False, False, None) for name in ("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2")},
    **{name: (4 if name == "qint32" else 1, False, False, None) for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")},
}

each = pytest.mark.parametrize("name", KINDS)


def kind(name):
    return getattr(torch, name)


def codes(t):
    return t.view(torch.uint8).tolist()


def same(a, b):
    return all(x == y or (x != x and y != y) for x, y in zip(a, b, strict=True))


# -- what they are --------------------------------------------------------------


@each
def test_dtype(name):
    dtype = kind(name)
    assert repr(dtype) == f"torch.{name}" and dtype.itemsize == 1 and dtype.is_floating_point and not dtype.is_complex
    assert dtype.is_signed is (name != "float8_e8m0fnu") and pickle.loads(pickle.dumps(dtype)) is dtype and dtype.to_real() is dtype
    info = torch.finfo(dtype)
    assert (info.max, info.smallest_normal, info.eps) == LIMITS[name] and info.bits == 8 and info.resolution == 1.0
    assert info.min == (-info.max if dtype.is_signed else info.smallest_normal)
    with pytest.raises(TypeError, match=f"couldn't find storage object {name.capitalize()}Storage"):
        torch.set_default_dtype(dtype)
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Float8"):
        dtype.to_complex()


# -- conversions ------------------------------------------------------------------


@each
def test_rounding(name):
    assert codes(torch.tensor(NUMBERS).to(kind(name))) == KINDS[name]
    assert codes(torch.tensor(NUMBERS, dtype=torch.float64).to(kind(name))) == KINDS[name]
    assert codes(torch.tensor(NUMBERS, dtype=kind(name))) == KINDS[name]
    for number, code in zip(NUMBERS, KINDS[name], strict=True):
        assert codes(torch.zeros(1, dtype=kind(name)).copy_(torch.tensor(number))) == [code]


@each
def test_every_number_comes_back(name):
    every = torch.arange(256).to(torch.uint8).view(kind(name))
    floats = every.float()
    nan = floats.isnan()
    assert codes(floats.to(kind(name)))[:127] == list(range(127)) or name == "float8_e5m2"
    assert floats.to(kind(name)).view(torch.uint8)[~nan].tolist() == every.view(torch.uint8)[~nan].tolist()
    assert same(floats.tolist(), every.tolist()) and same([x.item() for x in every[120:136]], floats[120:136].tolist())
    ordered = floats[:128][~nan[:128]].tolist()
    assert ordered == sorted(ordered)  # the next code is the next number
    # Halves between neighbours go to the even one, and all else to the nearer.
    if name != "float8_e8m0fnu":
        for low, high in ((8, 9), (9, 10), (40, 41), (57, 58), (1, 2), (0, 1)):
            between = (ordered[low] + ordered[high]) / 2
            assert codes(torch.tensor([between]).to(kind(name))) == [low if low % 2 == 0 else high]
            assert codes(torch.tensor([between * (1 - 2.0**-20), between * (1 + 2.0**-20)]).to(kind(name))) == [low, high]


@each
def test_from_and_to_all_dtypes(name):
    t = torch.tensor([1.0, 2.0, 4.0]).to(kind(name))
    for other in ("float16", "bfloat16", "float64", "complex64", "int8", "uint8", "int64", "uint16", "uint64", "float8_e5m2"):
        there = t.to(kind(other))
        assert there.dtype is kind(other) and there.tolist() == [1, 2, 4] and codes(there.to(kind(name))) == codes(t)
    assert t.bool().tolist() == [True] * 3 and t.long().tolist() == [1, 2, 4]
    strided = torch.arange(1.0, 17.0).reshape(4, 4)
    assert codes(strided.t().to(kind(name)).contiguous()) == codes(strided.to(kind(name)).t().contiguous())
    assert strided.to(kind(name))[:, ::2].float().tolist() == strided[:, ::2].to(kind(name)).float().tolist()


# -- what works ---------------------------------------------------------------------


@each
def test_making_moving_and_asking(name):
    dtype = kind(name)
    t = torch.tensor([[1.0, 2.0], [4.0, 0.5]]).to(dtype)
    assert torch.ones(2, dtype=dtype).tolist() == [1.0, 1.0] and torch.full((2,), 2.0, dtype=dtype).tolist() == [2.0, 2.0]
    assert codes(torch.zeros(2, dtype=dtype)) == [0, 0] and torch.empty(3, dtype=dtype).shape == (3,) and t.new_ones(1).dtype is dtype
    assert float(t[0, 1]) == 2.0 and t[1, 1].item() == 0.5 and bool(t[0, 0]) and t.element_size() == 1
    for use in (
        lambda x: torch.cat([x, x]),
        lambda x: torch.stack([x, x], 1),
        lambda x: x.t().contiguous(),
        lambda x: x.roll(1),
        lambda x: x.flip(0),
        lambda x: x[torch.tensor([1, 0])],
        lambda x: x[torch.tensor([True, False])],
        lambda x: x.index_select(0, torch.tensor([1])),
        lambda x: torch.where(torch.tensor([True, False]), x, x.t()),
        lambda x: x.masked_fill(torch.tensor([True, False]), 2.0),
        lambda x: x.repeat(2, 1),
        lambda x: x.clone(),
        lambda x: x.index_put((torch.tensor([0]),), x[1:]),
        lambda x: torch.nn.functional.embedding(torch.tensor([1]), x),
        lambda x: torch.nn.functional.pad(x, (1, 0), value=1.0),
        lambda x: x.reshape(4).expand(2, 4),
    ):
        assert use(t).dtype is dtype and use(t).float().tolist() == use(t.float()).tolist()
    t[0] = 2.0
    assert t.tolist() == [[2.0, 2.0], [4.0, 0.5]] and t.copy_(torch.ones(2, 2)).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert (t == t).all() and not (t != t).any() and torch.equal(t, t.clone()) and not t.isnan().any()
    assert torch.tensor([math.nan]).to(dtype).isnan().item()


@each
def test_assert_close(name):
    t = torch.tensor([1.0, 2.0]).to(kind(name))
    torch.testing.assert_close(t, t.clone())
    with pytest.raises(AssertionError, match="Greatest absolute difference: 1.0 at index"):
        torch.testing.assert_close(t, torch.tensor([1.0, 1.0]).to(kind(name)))


def test_repr():
    assert repr(torch.ones(3).to(torch.float8_e4m3fn)) == "tensor([1., 1., 1.], dtype=torch.float8_e4m3fn)"
    assert repr(torch.tensor([1.0, 2.25]).to(torch.float8_e4m3fn)) == "tensor([1.0000, 2.2500], dtype=torch.float8_e4m3fn)"
    assert torch.ones(1).to(torch.float8_e5m2).type() == "torch.Float8_e5m2Tensor"


@each
def test_gradients_go_through_conversions(name):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    there = x.to(kind(name))
    assert there.requires_grad
    (there.float() * torch.tensor([1.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [1.0, 4.0]
    assert torch.nn.Parameter(torch.ones(2).to(kind(name))).requires_grad


@each
def test_files_copies_and_other_programs(name):
    t = torch.tensor([1.0, 2.0, 0.5]).to(kind(name))
    for made in (copy.deepcopy(t), pickle.loads(pickle.dumps(t)), torch.from_dlpack(t)):
        assert made.dtype is t.dtype and codes(made) == codes(t)
    file = io.BytesIO()
    torch.save({"t": t, "p": torch.nn.Parameter(t)}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)
    assert loaded["t"].dtype is t.dtype and codes(loaded["t"]) == codes(t) and isinstance(loaded["p"], torch.nn.Parameter)
    assert torch.frombuffer(bytes(codes(t)), dtype=kind(name)).tolist() == t.tolist()
    with pytest.raises(TypeError, match=f"Got unsupported ScalarType {name.capitalize()}"):
        t.numpy()


# -- what is refused ------------------------------------------------------------------


@each
def test_arithmetic_is_refused(name):
    t, title = torch.ones(2, 2).to(kind(name)), name.capitalize()
    for wrong in (
        lambda: t + t,
        lambda: t * 2.0,
        lambda: t.add_(1),
        lambda: -t,
        lambda: t.sin(),
        lambda: t.sum(),
        lambda: t.mean(),
        lambda: t.cumsum(0),
        lambda: t.sort(),
        lambda: t.max(),
        lambda: t.unique(),
        lambda: t.clamp(0, 1),
        lambda: t @ t,
        lambda: t.softmax(0),
        lambda: torch.arange(3, dtype=kind(name)),
        lambda: torch.rand(3, dtype=kind(name)),
        lambda: torch.linspace(0, 1, 3, dtype=kind(name)),
        lambda: t.uniform_(),
        lambda: t.random_(5),
        lambda: t.scatter_add(0, torch.zeros(1, 2, dtype=torch.int64), t),
    ):
        with pytest.raises(NotImplementedError, match=f"not implemented for '{title}'"):
            wrong()
    for other in (torch.ones(2, 2), torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 2, dtype=torch.uint16)):
        words = f"Promotion for Float8 Types is not supported, attempted to promote {title} and {other.dtype._title}"
        with pytest.raises(RuntimeError, match=words):
            t + other
    assert torch.result_type(t, 2.0) is torch.result_type(t, torch.tensor(1.0)) is t.dtype
    if name != "float8_e8m0fnu":
        with pytest.raises(RuntimeError, match=f"value cannot be converted to type c10::{title} without overflow"):
            torch.full((2,), 1e9, dtype=kind(name))


# -- dtypes that are names -------------------------------------------------------------


@pytest.mark.parametrize("name", OTHERS)
def test_names(name):
    dtype, (size, floating, is_complex, signed) = kind(name), OTHERS[name]
    assert isinstance(dtype, torch.dtype) and repr(dtype) == f"torch.{name}" and dtype.itemsize == size
    assert (dtype.is_floating_point, dtype.is_complex) == (floating, is_complex)
    assert pickle.loads(pickle.dumps(dtype)) is dtype and copy.deepcopy(dtype) is dtype
    assert dtype == dtype and dtype != torch.float32 and len({dtype, torch.float32, dtype}) == 2 and torch.ones(1).dtype != dtype
    if signed is None:
        with pytest.raises(RuntimeError, match="Bits types are undefined|not supported for quantized types"):
            dtype.is_signed
    else:
        assert dtype.is_signed is signed
    for wrong in (
        lambda: torch.zeros(2, dtype=dtype),
        lambda: torch.empty(2, dtype=dtype),
        lambda: torch.ones(2).to(dtype),
        lambda: torch.tensor([1], dtype=dtype),
        lambda: torch.ones(4, dtype=torch.uint8).view(dtype),
        lambda: torch.promote_types(dtype, torch.float32),
    ):
        with pytest.raises(NotImplementedError, match=rf"not implemented for '\w+': there are no tensors of torch\.{name} here"):
            wrong()


def test_half_complex():
    assert torch.chalf is torch.complex32 and torch.complex32.to_real() is torch.float16 and torch.finfo(torch.complex32).max == 65504
    with pytest.raises(TypeError, match=r"torch\.iinfo\(\) requires an integer input type"):
        torch.iinfo(torch.int4)
