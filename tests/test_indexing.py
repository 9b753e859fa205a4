"""Indexing and index assignment, checked against NumPy, and their gradients."""

import itertools
import math
import random
import re

import pytest

import retrograd as torch
from retrograd.testing import assert_close

numpy = pytest.importorskip("numpy")

s = slice
full = slice(None)

BASIC = [
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    (-1, -1, -1),
    s(0, 2),
    s(None, None, 2),
    s(1, None),
    s(-2, None),
    s(2, 1),
    s(0, 100),
    s(-100, 100),
    (full, 1),
    (full, s(1, 3), 0),
    (full, full, s(None, None, 3)),
    Ellipsis,
    (Ellipsis, 0),
    (0, Ellipsis),
    (0, Ellipsis, 0),
    (Ellipsis, s(0, 2)),
    None,
    (None, 0),
    (0, None),
    (full, None, 1),
    (Ellipsis, None),
    (None, Ellipsis, None),
    (),
]
# Lists stand for index tensors, and are turned into one of each library.
ADVANCED = [
    [0, 1],
    [1, 0, 1],
    [-1],
    [],
    [[0, 1], [1, 0]],
    ([0, 1], [2, 0]),
    ([0, 1], full, [2, 0]),
    (full, [2, 0, 1]),
    (full, [2, 0], [3, 1]),
    (full, full, [0, 0, 3]),
    (0, [1, 2]),
    ([1, 0], 0),
    ([0, 1], 0, [1, 2]),
    ([[0], [1]], [0, 2]),
    (s(0, 1), [0, 1]),
    ([0, 1], Ellipsis),
    (Ellipsis, [0, 1]),
    (None, [0, 1]),
    ([0, 1], None),
    (full, [0, 2], None),
    (full, [[0, 1]], [[2], [3]]),
    ([1], s(0, 2), s(1, 3)),
]
MASKS = [
    [True, False],
    ([True, True], 0),
    (full, [True, False, True]),
    ([False, False],),
    (full, full, [True, False, False, True]),
    (full, [True, False, True], [0, 1]),
    [[True, False, True], [False, True, True]],
    ([[True, False, True], [False, True, True]], 0),
]


def convert(index, make):
    """Turn the lists in an index into index arrays."""
    if isinstance(index, tuple):
        return tuple(convert(i, make) for i in index)
    return make(index) if isinstance(index, list) else index


def to_tensor(values):
    return torch.tensor(values) if values else torch.empty(0, dtype=torch.long)


def to_array(values):
    return numpy.array(values) if values else numpy.empty(0, dtype=numpy.int64)


def cube():
    return torch.arange(24.0).reshape(2, 3, 4)


def array():
    return numpy.arange(24.0, dtype=numpy.float32).reshape(2, 3, 4)


every_index = pytest.mark.parametrize("index", BASIC + ADVANCED + MASKS, ids=repr)


# -- reading ------------------------------------------------------------------


@every_index
def test_read(index):
    result, expected = cube()[convert(index, to_tensor)], array()[convert(index, to_array)]
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


@every_index
def test_read_transposed(index):
    if isinstance(index, list) and isinstance(index[0] if index else 0, list):
        pytest.skip("the mask does not fit")
    base, expected = cube().permute(2, 0, 1), array().transpose(2, 0, 1)
    index = convert(index, lambda v: v)
    try:
        expected = expected[convert(index, to_array)]
    except IndexError:
        with pytest.raises(IndexError):
            base[convert(index, to_tensor)]
    else:
        assert base[convert(index, to_tensor)].tolist() == expected.tolist()


@pytest.mark.parametrize("index", BASIC, ids=repr)
def test_basic_reads_are_views(index):
    base = cube()
    base[index].add_(100)
    expected = array()
    expected[index] += 100
    assert base.tolist() == expected.tolist()


@pytest.mark.parametrize("index", ADVANCED + MASKS, ids=repr)
def test_advanced_reads_are_copies(index):
    base = cube()
    base[convert(index, to_tensor)].add_(100)
    assert base.tolist() == array().tolist()


def test_python_lists_as_indices():
    assert cube()[[0, 1]].tolist() == array()[[0, 1]].tolist()
    assert cube()[:, [2, 0]].tolist() == array()[:, [2, 0]].tolist()
    assert cube()[[0, 1], [1, 2]].tolist() == array()[[0, 1], [1, 2]].tolist()
    assert cube()[[True, False]].tolist() == array()[[True, False]].tolist()


def test_numpy_arrays_as_indices():
    assert cube()[numpy.array([0, 1])].shape == (2, 3, 4)
    assert cube()[:, numpy.array([True, False, True])].shape == (2, 2, 4)


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_index_dtypes(dtype):
    index = torch.tensor([1, 0], dtype=getattr(torch, dtype))
    assert torch.equal(torch.arange(3)[index], torch.tensor([1, 0]))


def test_zero_dimensional_indices():
    t = cube()
    assert t[torch.tensor(1)].shape == (3, 4)
    assert t[torch.tensor(1), torch.tensor(2)].tolist() == array()[1, 2].tolist()
    assert t[1, torch.tensor([0, 2])].shape == (2, 4)
    assert torch.tensor(5)[None].shape == (1,)
    assert torch.tensor(5)[()].item() == 5
    assert torch.tensor(5)[True].tolist() == [5]
    assert torch.tensor(5)[False].tolist() == []


def test_bools_add_a_dimension():
    assert cube()[True].shape == (1, 2, 3, 4)
    assert cube()[False].shape == (0, 2, 3, 4)


def test_empty_tensors():
    t = torch.empty(0, 3)
    assert t[torch.empty(0, dtype=torch.long)].shape == (0, 3)
    assert t[:, [0, 1]].shape == (0, 2)
    assert cube()[torch.zeros(2, dtype=torch.bool)].shape == (0, 3, 4)


def test_random_indices():
    rng = random.Random(0)

    def random_index(size, advanced):
        kind = rng.randrange(4)
        if kind == 0:
            # Not both in one index: NumPy puts the result elsewhere than PyTorch.
            return [rng.randrange(-size, size) for _ in range(3)] if advanced else rng.randrange(-size, size)
        if kind == 1:
            return slice(rng.randrange(-size, size), rng.randrange(-size, size + 1), rng.randrange(1, 3))
        return None if kind == 2 else full

    for _ in range(500):
        shape = [rng.randrange(1, 5) for _ in range(rng.randrange(1, 5))]
        data = numpy.arange(math.prod(shape)).reshape(shape)
        index, left, advanced = [], list(shape), rng.random() < 0.5
        while left and rng.random() < 0.9:
            index.append(random_index(left[0], advanced))
            if index[-1] is not None:
                left.pop(0)
        index = tuple(index)
        expected = data[convert(index, to_array)]
        result = torch.from_numpy(data)[convert(index, to_tensor)]
        assert result.shape == expected.shape, (shape, index)
        assert result.tolist() == expected.tolist(), (shape, index)


# -- writing ------------------------------------------------------------------


@every_index
def test_write_a_number(index):
    t, a = cube(), array()
    t[convert(index, to_tensor)] = -1.0
    a[convert(index, to_array)] = -1.0
    assert t.tolist() == a.tolist()


@every_index
def test_write_a_tensor(index):
    t, a = cube(), array()
    where = convert(index, to_array)
    shape = a[where].shape
    values = -numpy.arange(math.prod(shape), dtype=numpy.float32).reshape(shape)
    t[convert(index, to_tensor)] = torch.tensor(values)
    a[where] = values
    assert t.tolist() == a.tolist()


@every_index
def test_write_broadcasts(index):
    t, a = cube(), array()
    where = convert(index, to_array)
    if a[where].ndim == 0:
        return
    size = a[where].shape[-1]
    values = -numpy.arange(size, dtype=numpy.float32) - 1
    t[convert(index, to_tensor)] = torch.tensor(values)
    a[where] = values
    assert t.tolist() == a.tolist()


def test_write_to_a_transposed_tensor():
    t, a = cube().permute(2, 0, 1), array().transpose(2, 0, 1)
    t[[0, 1], :, 1] = 5.0
    a[[0, 1], :, 1] = 5.0
    assert t.tolist() == a.tolist()


def test_write_converts_the_dtype():
    t = torch.zeros(3, dtype=torch.int64)
    t[0] = 2.7
    t[1:] = torch.tensor([1.5, -1.5])
    assert t.tolist() == [2, 1, -1]


def test_write_one_element_of_another_shape():
    t = torch.zeros(3)
    t[0] = torch.tensor([[5.0]])
    assert t.tolist() == [5.0, 0.0, 0.0]


def test_write_itself():
    t = torch.arange(4)
    t[:2] = t[2:]
    assert t.tolist() == [2, 3, 2, 3]
    t[:] = t.flip(0)
    assert t.tolist() == [3, 2, 3, 2]


def test_augmented_write():
    t = torch.zeros(3)
    t[1] += 2
    t[1:] *= 3
    assert t.tolist() == [0.0, 6.0, 0.0]


def test_augmented_write_counts_an_index_once():
    t = torch.zeros(3)
    t[[0, 0, 1]] += 1
    assert t.tolist() == [1.0, 1.0, 0.0]


# -- errors -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (2, IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (-3, IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
        ((0, 5), IndexError, "index 5 is out of bounds"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (1.5, IndexError, "only integers, slices"),
        ("a", (IndexError, TypeError), None),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (slice(None, None, 0), ValueError, "step"),
        (slice(0.5, 1), TypeError, "slice indices must be integers"),
    ],
    ids=repr,
)
def test_read_errors(index, error, words):
    with pytest.raises(error, match=words):
        cube()[index]
    with pytest.raises(error, match=words):
        cube()[index] = 0.0


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (lambda: torch.tensor([0, 2]), "index 2 is out of bounds for dimension 0 with size 2"),
        (lambda: torch.tensor([-3]), "index -3 is out of bounds for dimension 0 with size 2"),
        (lambda: (slice(None), torch.tensor([7])), r"index 7 is out of bounds for dimension \d with size 3"),
        (lambda: torch.tensor([0.5]), "must be long, int, byte or bool|tensors used as indices"),
        (lambda: torch.tensor([True, False, True]), "does not match the shape of the indexed tensor"),
        (lambda: (torch.tensor([0, 1]), torch.tensor([0, 1, 2])), "shape mismatch: indexing tensors could not be"),
    ],
)
def test_index_tensor_errors(index, words):
    with pytest.raises(IndexError, match=words):
        cube()[index()]


def test_write_errors():
    t = cube()
    with pytest.raises(RuntimeError, match=r"expanded size|shape mismatch|must match"):
        t[0] = torch.ones(5)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor"):
        t[torch.tensor([0, 1])] = torch.ones(5)
    with pytest.raises(TypeError):
        t[0] = "a"
    assert t.tolist() == array().tolist()


def test_zero_dimensional_tensor_has_no_items():
    with pytest.raises(IndexError, match="0-dim tensor"):
        torch.tensor(1)[0]
    with pytest.raises(IndexError, match=r"0-dim tensor|too many indices"):
        torch.tensor(1)[0:1]


def test_deletion():
    with pytest.raises(TypeError, match="delet"):
        del cube()[0]


# -- gradients ----------------------------------------------------------------


@every_index
def test_gradient_of_reading(index):
    x = cube().requires_grad_()
    y = x[convert(index, to_tensor)]
    weights = torch.arange(1.0, y.numel() + 1).reshape(y.shape)
    (y * weights).sum().backward()
    expected = numpy.zeros((2, 3, 4), dtype=numpy.float32)
    numpy.add.at(expected, convert(index, to_array), weights.numpy())
    assert_close(x.grad, torch.tensor(expected))


@every_index
def test_gradient_of_writing(index):
    x = cube().requires_grad_()
    value = torch.tensor(2.0, requires_grad=True)
    y = x * 1
    where = convert(index, to_array)
    y[convert(index, to_tensor)] = value
    weights = array() + 1
    (y * torch.tensor(weights)).sum().backward()
    kept = numpy.ones((2, 3, 4), dtype=numpy.float32)
    kept[where] = 0
    assert_close(x.grad, torch.tensor(kept * weights))
    # An element that is written twice counts twice.
    assert_close(value.grad, torch.tensor(weights[where].sum()))


def test_gradient_of_a_repeated_index():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x[[0, 0, 2, 0]].sum().backward()
    assert x.grad.tolist() == [3.0, 0.0, 1.0]


ITEMS = [0, -1, 3, slice(None), slice(1, None), slice(None, -1), slice(0, 3, 2), slice(5, 1), slice(-9, 9, 7), None, Ellipsis]


def test_one_view_for_all_items_is_the_view_of_one_after_the_other():
    """Tensors without a history take a short way; those that require grad make a view for each item."""
    x = torch.arange(60.0).reshape(3, 4, 5).transpose(0, 2)
    tracked = x.detach().clone(memory_format=torch.preserve_format).requires_grad_()
    for index in itertools.product(ITEMS, repeat=3):
        try:
            expected = tracked[index]
        except IndexError as error:
            with pytest.raises(IndexError, match=re.escape(str(error))):
                x[index]
            continue
        view = x[index]
        assert (view.shape, view.tolist()) == (expected.shape, expected.tolist())
        if view.numel():
            assert (view.stride(), view.storage_offset()) == (expected.stride(), expected.storage_offset())
        assert view._is_view() and view._base is x._base


def test_a_write_through_a_short_view_is_seen():
    x = torch.zeros(3, 4)
    y = torch.ones(2, requires_grad=True)
    x[1, 1:3] = y * 2
    (x[1, :] * x[1, ...]).sum().backward()
    assert y.grad.tolist() == [8.0, 8.0]
    w = torch.zeros(3, 4)
    w[0, 0:2].add_(1)
    assert w._version == 1 and w.sum().item() == 2.0


def test_tensors_on_the_cpu_index_others_on_meta():
    x = torch.empty(3, 4, device="meta")
    index = torch.tensor([0, 2])
    assert x[index].shape == (2, 4) and x[:, index].is_meta
    x[index] = 1.0
    with pytest.raises(NotImplementedError, match="depends on values"):
        x[torch.tensor([True, False, True])]


def test_a_list_that_contains_itself_is_no_index():
    nested = []
    nested.append(nested)
    for index in (nested, (0, nested)):
        with pytest.raises(TypeError, match=r"new\(\): self-referential lists are incompatible"):
            torch.ones(2, 3)[index]
