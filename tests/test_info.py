"""finfo and iinfo. The numbers are PyTorch 2.13's."""

import pytest

import retrograd as torch

# dtype: bits, eps, max, smallest normal, resolution, name
FLOATS = [
    ("float16", 16, 0.0009765625, 65504.0, 6.103515625e-05, 0.001, "float16"),
    ("bfloat16", 16, 0.0078125, 3.3895313892515355e38, 1.1754943508222875e-38, 0.01, "bfloat16"),
    ("float32", 32, 1.1920928955078125e-07, 3.4028234663852886e38, 1.1754943508222875e-38, 1e-06, "float32"),
    ("float64", 64, 2.220446049250313e-16, 1.7976931348623157e308, 2.2250738585072014e-308, 1e-15, "float64"),
]
INTEGERS = [
    ("uint8", 8, 0, 255),
    ("int8", 8, -128, 127),
    ("int16", 16, -32768, 32767),
    ("int32", 32, -2147483648, 2147483647),
    ("int64", 64, -9223372036854775808, 9223372036854775807),
]


@pytest.fixture(autouse=True)
def default_dtype():
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(("dtype", "bits", "eps", "high", "tiny", "resolution", "name"), FLOATS)
def test_finfo(dtype, bits, eps, high, tiny, resolution, name):
    info = torch.finfo(getattr(torch, dtype))
    assert (info.bits, info.eps, info.max, info.min) == (bits, eps, high, -high)
    assert (info.tiny, info.smallest_normal, info.resolution, info.dtype) == (tiny, tiny, resolution, name)
    assert type(info.bits) is int and type(info.max) is float


@pytest.mark.parametrize(("dtype", "bits", "low", "high"), INTEGERS)
def test_iinfo(dtype, bits, low, high):
    info = torch.iinfo(getattr(torch, dtype))
    assert (info.bits, info.min, info.max, info.dtype) == (bits, low, high, dtype)
    assert type(info.max) is int


def test_finfo_text():
    text = (
        "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)"
    )
    assert repr(torch.finfo(torch.float32)) == text
    assert repr(torch.finfo(torch.float16)).startswith("finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, ")


def test_iinfo_text():
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"
    assert str(torch.iinfo(torch.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"


def test_finfo_of_the_default_dtype():
    assert torch.finfo() == torch.finfo(torch.float32)
    torch.set_default_dtype(torch.float64)
    assert torch.finfo() == torch.finfo(torch.float64)


def test_keyword():
    assert torch.finfo(type=torch.float16).bits == 16
    assert torch.iinfo(type=torch.int16).bits == 16


def test_equality():
    assert torch.finfo(torch.float32) != torch.finfo(torch.float64)
    assert torch.iinfo(torch.int32) == torch.iinfo(torch.int32)
    assert torch.iinfo(torch.int32) != torch.finfo(torch.float32)
    assert torch.finfo(torch.float32) != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(torch.finfo())


def test_attributes_are_read_only():
    with pytest.raises(AttributeError):
        torch.finfo().eps = 1.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.finfo(torch.int32), "requires a floating point input type"),
        (lambda: torch.finfo(torch.bool), "requires a floating point input type"),
        (lambda: torch.finfo("float32"), "must be torch.dtype, not str"),
        (lambda: torch.finfo(None), "must be torch.dtype, not NoneType"),
        (lambda: torch.iinfo(torch.float32), "requires an integer input type"),
        (lambda: torch.iinfo(torch.bool), "torch.bool is not supported by torch.iinfo"),
        (lambda: torch.iinfo(), "missing 1 required positional argument"),
        (lambda: torch.iinfo(8), "must be torch.dtype, not int"),
    ],
)
def test_errors(call, words):
    with pytest.raises(TypeError, match=words):
        call()
