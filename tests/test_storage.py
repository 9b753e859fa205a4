"""Storages: handles on the memory of tensors."""

import copy
import io
import pickle

import pytest

import retrograd as torch


def test_bytes_and_elements():
    x = torch.arange(4.0)
    untyped, typed = x.untyped_storage(), x[1:].storage()
    assert untyped.nbytes() == len(untyped) == untyped.size() == 16 and untyped.element_size() == 1
    assert typed.size() == len(typed) == 4 and typed.element_size() == 4 and typed.dtype == torch.float32
    assert typed.tolist() == list(typed) == [0.0, 1.0, 2.0, 3.0]
    assert untyped.tolist()[4:8] == [0, 0, 128, 63]
    assert untyped.data_ptr() == typed.data_ptr() == x.data_ptr()
    assert typed.untyped() == untyped and hash(typed.untyped()) == hash(untyped)
    assert torch.is_storage(untyped) and torch.is_storage(typed) and not torch.is_storage(x)
    assert repr(typed) == " 0.0\n 1.0\n 2.0\n 3.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 4]"
    assert repr(untyped).endswith("[torch.storage.UntypedStorage(device=cpu) of size 16]")


def test_writes_reach_the_tensors():
    x = torch.arange(4.0)
    version = x._version
    x.storage()[1] = 7.5
    x.untyped_storage()[0:4] = 0
    assert x.tolist() == [0.0, 7.5, 2.0, 3.0]
    x.storage().fill_(2)
    assert x.tolist() == [2.0] * 4
    x.storage().copy_(torch.arange(4).storage())
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0] and x.storage()[3] == 3.0 and x.storage()[-1] == 3.0
    assert x._version == version  # storages are below version counters
    with pytest.raises(IndexError, match="out of range"):
        x.storage()[4]
    with pytest.raises(TypeError, match="can't index"):
        x.storage()["a"]


def test_a_write_through_a_storage_to_a_saved_value_is_noticed():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    z = (y * y).sum()
    y.untyped_storage().fill_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_copies_have_memory_of_their_own():
    x = torch.arange(3.0)
    for made in (x.storage().clone(), copy.copy(x.storage()), copy.deepcopy(x.storage()), pickle.loads(pickle.dumps(x.storage()))):
        assert made.tolist() == [0.0, 1.0, 2.0] and made.data_ptr() != x.data_ptr()
    memo: dict = {}
    assert copy.deepcopy(x.storage(), memo) is copy.deepcopy(x.storage(), memo)


def test_constructors():
    assert torch.UntypedStorage().nbytes() == 0 and torch.UntypedStorage(8).nbytes() == 8
    assert torch.UntypedStorage([1, 2, 255]).tolist() == [1, 2, 255]
    assert torch.FloatStorage([1, 2.5]).tolist() == [1.0, 2.5] and torch.FloatStorage(3).size() == 3
    assert torch.TypedStorage(3, dtype=torch.int16).nbytes() == 6
    assert torch.LongStorage([1]).type() == "torch.LongStorage" and torch.UntypedStorage(1).type() == "torch.storage.UntypedStorage"
    wrapped = torch.TypedStorage(wrap_storage=torch.UntypedStorage([0, 0, 128, 63]), dtype=torch.float32)
    assert wrapped.tolist() == [1.0]
    with pytest.raises(TypeError, match="wrap_storage"):
        torch.TypedStorage(wrap_storage=3)
    with pytest.raises(TypeError, match="a size or a sequence"):
        torch.UntypedStorage("ab")
    with pytest.raises(TypeError, match="at most one argument"):
        torch.UntypedStorage(1, 2)


def test_conversions():
    s = torch.tensor([1.5, -2.0]).storage()
    assert s.int().tolist() == [1, -2] and s.int().dtype == torch.int32
    assert s.double().dtype == torch.float64 and s.bool().tolist() == [True, True] and s.complex_float().dtype == torch.complex64
    assert s.type(torch.float16).dtype == torch.float16
    assert s.cpu() is s and s.to(device="cpu") is s
    assert not s.is_cuda and not s.is_shared() and not s.is_pinned() and s.get_device() == -1 and s.filename is None


def test_byte_order():
    s = torch.tensor([1.0, 2.0]).untyped_storage()
    s.byteswap(torch.float32)
    assert s.tolist() == [63, 128, 0, 0, 64, 0, 0, 0]
    assert torch.FloatStorage.from_buffer(bytes(s.tolist()), byte_order="big").tolist() == [1.0, 2.0]
    assert torch.UntypedStorage.from_buffer(b"abcd", count=2, offset=1).tolist() == [98, 99]


def test_resize():
    x = torch.arange(4.0)
    s = x.untyped_storage()
    version = x._version
    assert s.resizable()
    s.resize_(0)
    assert s.nbytes() == 0 and x.shape == (4,) and x._version == version
    s.resize_(16)
    x.fill_(1.0)
    assert s.nbytes() == 16
    borrowed = torch.frombuffer(bytearray(8), dtype=torch.float32).untyped_storage()
    assert not borrowed.resizable()
    with pytest.raises(RuntimeError, match="not resizable"):
        borrowed.resize_(16)


def test_memory_that_was_given_back_is_missed_by_backward():
    """Offloading: the storage of a saved tensor is emptied, and filled again before backward, or not."""
    for restored in (True, False):
        x = torch.ones(5000, requires_grad=True)
        y = x * 3
        z = (y * y).sum()
        kept, storage = y.detach().clone(), y.untyped_storage()
        storage.resize_(0)
        storage.resize_(20000)
        if restored:
            y.data.copy_(kept)
            z.backward()
            assert x.grad.tolist() == [18.0] * 5000
        else:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.backward()


def test_set_takes_storages():
    x = torch.arange(4.0)
    assert torch.empty(0).set_(x.untyped_storage()).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert torch.empty(0).set_(x.storage()).data_ptr() == x.data_ptr()
    assert torch.empty(0).set_(x.untyped_storage(), 1, (2,), (2,)).tolist() == [1.0, 3.0]
    assert torch.empty(0).set_(source=x.untyped_storage(), storage_offset=1, size=(2,)).tolist() == [1.0, 2.0]
    assert torch.empty(0, dtype=torch.int16).set_(torch.UntypedStorage(5)).shape == (2,)
    with pytest.raises(RuntimeError, match=r"Expected a Storage of type .*int64 or an UntypedStorage"):
        torch.empty(0, dtype=torch.int64).set_(x.storage())
    with pytest.raises(TypeError, match="set_"):
        torch.empty(0).set_(3)


def test_tensor_reads_a_storage():
    x = torch.tensor([1.0, 2.0])
    assert torch.tensor(x.storage()).tolist() == [1.0, 2.0]
    assert torch.tensor(x.untyped_storage(), dtype=torch.float32).tolist() == [1.0, 2.0]


def test_files(tmp_path):
    path = tmp_path / "numbers"
    s = torch.FloatStorage.from_file(path, shared=True, size=3)
    s.fill_(1.5)
    assert str(s.untyped().filename or path) == str(path)
    assert torch.FloatStorage.from_file(path, size=3).tolist() == [1.5] * 3
    private = torch.FloatStorage.from_file(path, size=3)
    private.fill_(0)
    assert torch.FloatStorage.from_file(path, size=3).tolist() == [1.5] * 3


def test_saved_storages_share_memory_with_saved_tensors():
    x = torch.arange(4.0)
    file = io.BytesIO()
    torch.save({"x": x, "s": x.storage(), "u": torch.UntypedStorage([1, 2])}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["s"].tolist() == [0.0, 1.0, 2.0, 3.0] and loaded["s"].data_ptr() == loaded["x"].data_ptr()
    assert loaded["u"].tolist() == [1, 2]
