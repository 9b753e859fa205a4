"""Tensors and the rest of Python: numbers, lists, NumPy, DLPack, buffers; Size, dtype and device."""

import math
import operator

import pytest

import retrograd as torch

ours = pytest.mark.skipif(torch.__name__ != "retrograd", reason="PyTorch has no buffer protocol")

NUMPY_DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
ALL_DTYPES = [*NUMPY_DTYPES, "bfloat16"]


@pytest.fixture
def numpy():
    return pytest.importorskip("numpy")


def matrix():
    return torch.arange(6.0).reshape(2, 3)


# -- Python numbers -----------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_item(dtype):
    value = torch.ones((), dtype=getattr(torch, dtype)).item()
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    assert type(value) is kind and value == 1
    assert torch.ones(1, 1, dtype=getattr(torch, dtype)).item() == 1


def test_item_keeps_every_bit():
    assert torch.tensor(2**53 + 1).item() == 2**53 + 1
    assert torch.tensor(0.1, dtype=torch.float64).item() == 0.1
    assert torch.tensor(0.1).item() == 0.10000000149011612
    assert math.isnan(torch.tensor(math.nan).item())


@pytest.mark.parametrize(("shape", "count"), [((2,), 2), ((0,), 0), ((2, 3), 6)])
def test_item_of_other_than_one(shape, count):
    with pytest.raises(RuntimeError, match=f"a Tensor with {count} elements cannot be converted to Scalar"):
        torch.ones(shape).item()


def test_number_conversions():
    assert float(torch.tensor(3)) == 3.0 and type(float(torch.tensor(3))) is float
    assert int(torch.tensor(3.7)) == 3
    assert int(torch.tensor([[5]])) == 5
    assert complex(torch.tensor(3.0)) == 3 + 0j
    assert math.sqrt(torch.tensor(4.0)) == 2.0
    assert "%.2f" % torch.tensor(3.0) == "3.00"  # noqa: UP031 - the conversion is the point
    with pytest.raises(OverflowError):
        int(torch.tensor(math.inf))
    with pytest.raises(ValueError, match="NaN"):
        int(torch.tensor(math.nan))
    for convert in (int, float):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            convert(torch.ones(2))


def test_index():
    assert operator.index(torch.tensor(3)) == 3
    assert operator.index(torch.tensor([3])) == 3
    assert operator.index(torch.tensor(True)) == 1
    assert [10, 20, 30][torch.tensor(1)] == 20
    assert list(range(torch.tensor(3))) == [0, 1, 2]
    for bad in (torch.tensor(3.0), torch.tensor([3, 4])):
        with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
            operator.index(bad)


def test_truth():
    assert torch.tensor([2.0]) and not torch.tensor(0)
    assert bool(torch.tensor(math.nan))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        bool(torch.ones(0))


def test_operators_on_numbers():
    t = torch.tensor(7)
    assert [(t + 1).item(), (1 - t).item(), (t * 2).item(), (t / 2).item()] == [8, -6, 14, 3.5]
    assert [(t // 2).item(), (t % 4).item(), (15 // t).item(), (15 % t).item()] == [3, 3, 2, 1]
    assert [(2**t).item(), (t**2).item(), (-t).item(), abs(-t).item()] == [128, 49, -7, 7]
    assert [(t & 3).item(), (8 | t).item(), (t ^ 1).item(), (t << 1).item(), (t >> 1).item()] == [3, 15, 6, 14, 3]
    assert (~torch.tensor([True, False])).tolist() == [False, True]
    assert (torch.tensor([1, 2]) @ torch.tensor([3, 4])).item() == 11


def test_floor_division_and_remainder_follow_python():
    for a in (-7, 7):
        for b in (-2, 2):
            assert (torch.tensor(a) // b).item() == a // b
            assert (torch.tensor(a) % b).item() == a % b
            assert (torch.tensor(float(a)) % b).item() == a % b


def test_comparison_with_foreign_objects():
    t = torch.ones(2)
    assert (t == None) is False and (t != None) is True  # noqa: E711
    assert (t == "text") is False
    with pytest.raises(TypeError):
        operator.lt(t, "text")
    with pytest.raises(TypeError):
        t + "text"
    with pytest.raises(TypeError):
        t + None


def test_invert_wants_integers():
    with pytest.raises(TypeError, match="integer and Boolean"):
        ~torch.ones(1)


# -- sequences ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_tolist(dtype):
    values = torch.tensor([[0, 1], [1, 1]]).to(getattr(torch, dtype)).tolist()
    assert values == [[0, 1], [1, 1]]
    kind = bool if dtype == "bool" else float if "float" in dtype else int
    assert type(values[0][1]) is kind


def test_tolist_shapes():
    assert torch.tensor(5).tolist() == 5
    assert torch.empty(0, 3).tolist() == []
    assert torch.empty(2, 0).tolist() == [[], []]
    assert matrix().t().tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert torch.ones(1).expand(3).tolist() == [1.0, 1.0, 1.0]


def test_sequence_protocol():
    t = matrix()
    assert len(t) == 2
    assert [row.tolist() for row in t] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert [x.item() for x in reversed(torch.arange(3))] == [2, 1, 0]
    a, b = t
    assert a.tolist() == [0.0, 1.0, 2.0] and b._version == t._version
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(torch.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        list(torch.tensor(1))


def test_contains():
    assert 3 in matrix() and 9 not in matrix()
    assert torch.tensor(3.0) in matrix()
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        operator.contains(matrix(), "a")


# -- torch.tensor -------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, "int64", ()),
        (1.5, "float32", ()),
        (True, "bool", ()),
        ([], "float32", (0,)),
        ([[]], "float32", (1, 0)),
        ([1, 2.5], "float32", (2,)),
        ([1, True], "int64", (2,)),
        ([True, 1.5], "float32", (2,)),
        ((1, 2), "int64", (2,)),
        ([[1, 2], [3, 4], [5, 6]], "int64", (3, 2)),
        (range(3), "int64", (3,)),
        ([(1, 2), [3, 4]], "int64", (2, 2)),
    ],
)
def test_constructor_infers(data, dtype, shape):
    t = torch.tensor(data)
    assert t.dtype == getattr(torch, dtype) and t.shape == shape


def test_constructor_takes_tensors():
    assert torch.tensor([torch.tensor(1), torch.tensor(2)]).tolist() == [1, 2]
    assert torch.tensor([torch.tensor(1.5), 2]).dtype == torch.float32


def test_constructor_converts():
    assert torch.tensor([1.7, -1.7], dtype=torch.int64).tolist() == [1, -1]
    assert torch.tensor([0, 2], dtype=torch.bool).tolist() == [False, True]
    assert torch.tensor([1, 2], dtype=float).dtype == torch.float64
    assert torch.tensor([1e40]).item() == math.inf
    assert torch.tensor(2**63 - 1).item() == 2**63 - 1


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ("abc", TypeError, "str"),
        ([1, "a"], TypeError, "str"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([None], RuntimeError, "Could not infer dtype of NoneType"),
        ({}, RuntimeError, "Could not infer dtype of dict"),
        ([[1], 2], TypeError, None),
        (2**63, (ValueError, RuntimeError, OverflowError), "[Oo]verflow"),
    ],
)
def test_constructor_errors(data, error, words):
    with pytest.raises(error, match=words):
        torch.tensor(data)


def test_constructor_overflow():
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor([300], dtype=torch.uint8)


def test_constructor_copies():
    source = [1.0, 2.0]
    t = torch.tensor(source)
    source[0] = 9.0
    assert t.tolist() == [1.0, 2.0]


# -- NumPy --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_numpy_shares_memory_both_ways(numpy, dtype):
    t = torch.zeros(2, 3, dtype=getattr(torch, dtype))
    a = t.numpy()
    assert a.dtype == numpy.dtype(dtype) and a.shape == (2, 3)
    a[0, 1] = 1
    assert t[0, 1].item() == 1
    back = torch.from_numpy(a)
    assert back.dtype == t.dtype and back.data_ptr() == t.data_ptr()
    back[1, 2] = 1
    assert a[1, 2] == 1


def test_numpy_keeps_strides(numpy):
    t = matrix().t()
    assert t.numpy().strides == (4, 12)
    a = numpy.arange(12.0).reshape(3, 4)[::2, 1:3]
    assert torch.from_numpy(a).tolist() == a.tolist()
    assert torch.from_numpy(a).stride() == (8, 1)


def test_numpy_keeps_memory_alive(numpy):
    a = torch.arange(1000.0).numpy()
    t = torch.from_numpy(numpy.arange(1000.0))
    garbage = [torch.zeros(1000) for _ in range(10)]
    assert a[999] == 999.0 and t[999].item() == 999.0
    del garbage


def test_numpy_scalars(numpy):
    assert torch.tensor(numpy.float64(2)).dtype == torch.float64
    assert torch.tensor([numpy.float32(1.5), 2]).tolist() == [1.5, 2.0]
    assert (torch.ones(2) * numpy.float64(2)).dtype == torch.float32
    assert torch.zeros(numpy.int64(2), 3).shape == (2, 3)
    assert torch.arange(5)[numpy.int64(2)].item() == 2


def test_numpy_arrays_as_data(numpy):
    a = numpy.ones((2, 2), dtype=numpy.int16)
    assert torch.tensor(a).dtype == torch.int16
    t = torch.tensor(a)
    a[0, 0] = 7
    assert t[0, 0].item() == 1
    assert torch.as_tensor(a).data_ptr() == a.ctypes.data
    assert torch.tensor([a, a]).shape == (2, 2, 2)


def test_array_protocol(numpy):
    t = matrix()
    assert numpy.asarray(t).ctypes.data == t.data_ptr()
    assert numpy.array(t, copy=True).ctypes.data != t.data_ptr()
    assert numpy.asarray(t, dtype=numpy.float64).dtype == numpy.float64
    assert numpy.allclose(t, t.numpy())


def test_bfloat16_has_no_numpy_dtype(numpy):
    with pytest.raises(TypeError, match="BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()


def test_meta_has_no_numpy(numpy):
    with pytest.raises(TypeError, match="meta"):
        torch.ones(2, device="meta").numpy()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda np: np.array(["a"]), TypeError, "can't convert np.ndarray of type"),
        (lambda np: np.arange(6)[::-1], ValueError, "negative"),
        (lambda np: [1, 2], TypeError, r"expected np.ndarray \(got list\)"),
        (lambda np: np.array([object()]), TypeError, "can't convert np.ndarray of type"),
    ],
)
def test_from_numpy_errors(numpy, make, error, words):
    with pytest.raises(error, match=words):
        torch.from_numpy(make(numpy))


def test_read_only_array_warns(numpy):
    a = numpy.ones(2)
    a.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        torch.from_numpy(a)


# -- DLPack -------------------------------------------------------------------


@ours
def test_arrays_go_by_numpys_own_interface(numpy, monkeypatch):
    """and not through the buffer protocol, which takes ten times as long, but for what is out of the ordinary."""
    to_buffer: list = []
    monkeypatch.setattr("builtins.memoryview", lambda o: to_buffer.append(o))
    with torch.doctor.off():  # who looks closely is told of arrays
        assert type(torch.ones(2).numpy()) is numpy.ndarray
        assert type(torch.from_numpy(numpy.ones(2))) is torch.Tensor
    assert not to_buffer


@pytest.mark.parametrize(
    "make",
    [
        lambda np: np.ones(()),
        lambda np: np.ones((0, 3)),
        lambda np: np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)[1:, :, ::2],
        lambda np: np.broadcast_to(np.arange(3.0), (2, 3)).copy(order="F"),
        lambda np: np.arange(3, dtype="long"),
        lambda np: np.arange(3, dtype="longlong"),
        lambda np: np.arange(3, dtype="uintc"),
        lambda np: np.arange(6, dtype="int16")[::-1].copy()[1::2],
        lambda np: np.ones((2, 2), dtype="complex128").T,
        lambda np: np.frombuffer(bytearray(9), dtype="float32", count=2, offset=1),  # not aligned
    ],
)
def test_arrays_of_all_kinds(numpy, make):
    array = make(numpy)
    t = torch.from_numpy(array)
    assert t.shape == array.shape and t.tolist() == array.tolist() and str(t.dtype)[6:] == str(array.dtype)
    assert t.data_ptr() == array.ctypes.data or not array.size
    if array.flags.aligned:
        back = t.numpy()
        assert back.shape == array.shape and back.dtype == array.dtype and back.tolist() == array.tolist()
        assert back.strides == array.strides or not array.size
        assert back.flags.writeable and back.flags.c_contiguous == array.flags.c_contiguous


def test_arrays_and_tensors_hold_each_others_memory(numpy):
    gone = []

    class Memory(numpy.ndarray):
        def __del__(self):
            gone.append(True)

    array = numpy.ones(4)
    view = array.view(Memory)[1:].view(numpy.ndarray)  # an array whose base is the one that says when it goes
    t = torch.from_numpy(view)
    del array, view
    again = t[1:].numpy()
    del t
    assert not gone and again.tolist() == [1, 1]
    del again
    assert gone


@ours
def test_an_array_keeps_the_memory_it_was_made_on(numpy):
    t = torch.zeros(4)
    array = t.numpy()
    t.data = torch.ones(1000)
    t.set_(torch.ones(1000))
    assert array.tolist() == [0] * 4
    assert isinstance(array.base, torch.Tensor) and array.base.shape == (4,)


def test_what_has_no_array(numpy):
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."):
        torch.ones(2, requires_grad=True).numpy()
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.numpy().tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="conjugate bit"):
        torch.ones(2, dtype=torch.complex64).conj().numpy()
    assert x.numpy(force=True).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="numpy"):
        torch.func.vmap(lambda t: torch.from_numpy(t.numpy()))(torch.ones(2, 3))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8"])
def test_dlpack_to_numpy_and_back(numpy, dtype):
    t = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    a = numpy.from_dlpack(t)
    assert a.ctypes.data == t.data_ptr() and a.dtype == numpy.dtype(dtype)
    assert a.tolist() == t.tolist()
    back = torch.from_dlpack(a.copy())
    assert back.dtype == t.dtype and torch.equal(back, t)


def test_dlpack_to_itself():
    t = matrix()
    s = torch.from_dlpack(t)
    assert s.data_ptr() == t.data_ptr() and s.shape == t.shape
    capsule = t.t().__dlpack__()
    s = torch.from_dlpack(capsule)
    assert s.stride() == (1, 3) and torch.equal(s, t.t())
    with pytest.raises(RuntimeError, match="can be consumed once"):
        torch.from_dlpack(capsule)


def test_dlpack_keeps_memory_alive():
    s = torch.from_dlpack(torch.arange(1000.0).__dlpack__())
    garbage = [torch.zeros(1000) for _ in range(10)]
    assert s[999].item() == 999.0
    del garbage


def test_unused_capsule_is_freed():
    for _ in range(100):
        torch.ones(10).__dlpack__()


def test_dlpack_device():
    kind, index = torch.ones(1).__dlpack_device__()
    assert (int(kind), index) == (1, 0)


def test_dlpack_refuses_history():
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(2, requires_grad=True).__dlpack__()


# -- buffers ------------------------------------------------------------------


def test_frombuffer():
    data = bytearray(b"\x01\x00\x02\x00\x03\x00")
    t = torch.frombuffer(data, dtype=torch.int16)
    assert t.tolist() == [1, 2, 3]
    t[0] = 7
    assert data[0] == 7
    assert torch.frombuffer(data, dtype=torch.int16, count=1, offset=2).tolist() == [2]
    with pytest.raises(ValueError):
        torch.frombuffer(bytearray(5), dtype=torch.int16)
    with pytest.raises(ValueError):
        torch.frombuffer(bytearray(4), dtype=torch.int16, count=3)
    with pytest.raises(ValueError):
        torch.frombuffer(bytearray(4), dtype=torch.int16, offset=4)


@ours
def test_buffer_protocol():
    t = matrix()
    view = memoryview(t)
    assert view.format == "f" and view.shape == (2, 3) and view.strides == (12, 4)
    assert view.tolist() == t.tolist()
    assert memoryview(t.t()).strides == (4, 12)
    assert bytes(torch.tensor([1, 2], dtype=torch.uint8)) == b"\x01\x02"


# -- Size, dtype, device ------------------------------------------------------


def test_size_is_a_tuple():
    size = matrix().shape
    assert type(size) is torch.Size and isinstance(size, tuple)
    assert size == (2, 3) and size[1] == 3 and repr(size) == "torch.Size([2, 3])"
    assert size.numel() == 6 and torch.Size().numel() == 1
    assert matrix().size() == size and matrix().size(-1) == 3
    assert type(size[:1]) is type(size + (4,)) is type(size * 2) is torch.Size
    assert torch.Size([2, torch.tensor(3)]) == (2, 3)
    assert hash(size) == hash((2, 3))
    with pytest.raises(TypeError):
        torch.Size(["a"])
    with pytest.raises(TypeError):
        torch.Size([2.5])


def test_geometry():
    t = matrix()
    assert (t.dim(), t.ndim, t.ndimension(), t.numel(), t.nelement()) == (2, 2, 2, 6, 6)
    assert (t.stride(), t.stride(0), t.storage_offset(), t[1].storage_offset()) == ((3, 1), 3, 0, 3)
    assert (t.element_size(), t.itemsize, t.nbytes) == (4, 4, 24)
    assert t.is_contiguous() and not t.t().is_contiguous() and t.t().contiguous().is_contiguous()
    assert t[1].untyped_storage().nbytes() == 24


@pytest.mark.parametrize(
    ("name", "alias", "size", "typename"),
    [
        ("float32", "float", 4, "torch.FloatTensor"),
        ("float64", "double", 8, "torch.DoubleTensor"),
        ("float16", "half", 2, "torch.HalfTensor"),
        ("bfloat16", None, 2, "torch.BFloat16Tensor"),
        ("int64", "long", 8, "torch.LongTensor"),
        ("int32", "int", 4, "torch.IntTensor"),
        ("int16", "short", 2, "torch.ShortTensor"),
        ("int8", None, 1, "torch.CharTensor"),
        ("uint8", None, 1, "torch.ByteTensor"),
        ("bool", None, 1, "torch.BoolTensor"),
    ],
)
def test_dtype(name, alias, size, typename):
    dtype = getattr(torch, name)
    assert repr(dtype) == f"torch.{name}"
    assert dtype.itemsize == size
    assert dtype.is_floating_point == ("float" in name)
    assert not dtype.is_complex
    assert dtype.is_signed == (name not in ("uint8", "bool"))
    assert alias is None or getattr(torch, alias) is dtype
    t = torch.zeros(1, dtype=dtype)
    assert t.dtype is dtype and t.type() == typename
    assert torch.zeros(1).type(typename).dtype is dtype
    assert {dtype: 1}[getattr(torch, name)] == 1


def test_python_types_are_dtypes():
    assert torch.ones(1, dtype=float).dtype == torch.float64
    assert torch.ones(1, dtype=int).dtype == torch.int64
    assert torch.ones(1, dtype=bool).dtype == torch.bool


def test_default_dtype():
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.get_default_dtype() == torch.float64
        assert torch.ones(1).dtype == torch.tensor(1.5).dtype == torch.float64
        assert torch.tensor(1).dtype == torch.int64
        assert (torch.tensor(1) / 2).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)


def test_device():
    cpu = torch.device("cpu")
    assert torch.ones(1).device == cpu and cpu.type == "cpu" and cpu.index is None
    assert repr(cpu) == "device(type='cpu')" and str(cpu) == "cpu"
    assert torch.device("cuda:1").index == 1 and str(torch.device("cuda", 1)) == "cuda:1"
    assert torch.device("cpu") == torch.device(type="cpu") != torch.device("cpu", 0)
    assert hash(cpu) == hash(torch.device("cpu"))
    assert torch.ones(1).to("cpu").device == torch.ones(1, device=cpu).device
    assert torch.ones(1).get_device() == -1 and not torch.ones(1).is_cuda
    with pytest.raises(RuntimeError, match="device type at start of device string: nope"):
        torch.device("nope")


def test_meta_tensors():
    t = torch.ones(2, 3, device="meta")
    assert t.is_meta and (t @ t.t()).shape == (2, 2) and (t + 1).device.type == "meta"
    with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
        t.tolist()
    with pytest.raises(RuntimeError, match="meta"):
        t.sum().item()


# -- arrays of other kinds ------------------------------------------------------


def test_subclasses_of_ndarray(numpy, tmp_path):
    mapped = numpy.memmap(tmp_path / "m", dtype="float32", mode="w+", shape=(3,))
    shared = torch.from_numpy(mapped)
    shared[0] = 5
    assert mapped[0] == 5 and torch.as_tensor(mapped).data_ptr() == shared.data_ptr()
    assert torch.ones(3)[numpy.array([0, 2]).view(type("Odd", (numpy.ndarray,), {}))].shape == (2,)


def test_what_is_no_array(numpy):
    with pytest.raises(TypeError, match=r"expected np.ndarray \(got numpy.float64\)"):
        torch.from_numpy(numpy.float64(1))
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        torch.from_numpy(numpy.ones(2, ">f4"))
    with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy.str_"):
        torch.from_numpy(numpy.array(["a"]))
    for bad in (3, None, [1], "text"):
        with pytest.raises(ValueError, match="object does not implement Python buffer protocol"):
            torch.frombuffer(bad, dtype=torch.float32)


def test_comparison_with_an_array(numpy):
    x, a = torch.tensor([1.0, 2.0]), numpy.array([1.0, 3.0], "float32")
    for result in (x == a, a == x):
        assert isinstance(result, torch.Tensor) and result.tolist() == [True, False]
    assert (a / x).tolist() == [1.0, 1.5] and isinstance(a / x, torch.Tensor)
    with pytest.raises(TypeError, match="unsupported operand"):
        a @ x


def test_dlpack_memory_can_be_written(numpy):
    x = torch.arange(3.0)
    array = numpy.from_dlpack(x)
    array[0] = 9
    assert x[0] == 9
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0))) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    read_only = numpy.ones(2)
    read_only.flags.writeable = False
    assert torch.from_dlpack(read_only).tolist() == [1.0, 1.0]
    for version in ((1, 0), None):
        capsule = x.__dlpack__(max_version=version)
        assert torch.from_dlpack(capsule).data_ptr() == x.data_ptr()
        with pytest.raises(RuntimeError, match="from_dlpack received an invalid capsule"):
            torch.from_dlpack(capsule)
    copied = torch.utils.dlpack.from_dlpack(x.__dlpack__(copy=True))
    assert copied.tolist() == x.tolist() and copied.data_ptr() != x.data_ptr()


def test_dlpack_refusals():
    x = torch.ones(2)
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=1)
    with pytest.raises(TypeError, match="stream must be ``int`` or ``none``"):
        x.__dlpack__(stream="s")
    with pytest.raises(NotImplementedError, match="Could not run"):
        x.__dlpack__(dl_device=(2, 0))
    meta = torch.ones(2, device="meta")
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        meta.__dlpack__()
    with pytest.raises(ValueError, match="Unknown device type meta for Dlpack"):
        meta.__dlpack_device__()
