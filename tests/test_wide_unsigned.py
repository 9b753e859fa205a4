"""uint16, uint32, uint64: dtypes that kernels do not know (Note [Guest dtypes]). The numbers are PyTorch's, or NumPy's where PyTorch has nothing."""

import array
import copy
import io
import pickle

import pytest

import retrograd as torch

DTYPES = [torch.uint16, torch.uint32, torch.uint64]
BITS = {torch.uint16: 16, torch.uint32: 32, torch.uint64: 64}
OTHERS = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
TOP = 2**63

each = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def last(dtype):
    return 2 ** BITS[dtype] - 1


def huge(*numbers):
    return torch.tensor(numbers, dtype=torch.uint64)


# -- the dtypes ---------------------------------------------------------------


@each
def test_what_they_are(dtype):
    bits = BITS[dtype]
    assert repr(dtype) == f"torch.uint{bits}" and dtype.itemsize == bits // 8
    assert not dtype.is_floating_point and not dtype.is_complex and not dtype.is_signed
    assert pickle.loads(pickle.dumps(dtype)) is dtype and dtype.to_real() is dtype
    info = torch.iinfo(dtype)
    assert (info.min, info.max, info.bits, info.dtype) == (0, last(dtype), bits, f"uint{bits}")
    with pytest.raises(RuntimeError, match=f"Unknown Complex ScalarType for UInt{bits}"):
        dtype.to_complex()
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(dtype)
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        torch.ones(2, dtype=dtype).requires_grad_()


# -- making and reading -------------------------------------------------------


@each
def test_numbers_go_in_and_come_out(dtype):
    t = torch.tensor([[0, 1], [last(dtype), 7]], dtype=dtype)
    assert t.tolist() == [[0, 1], [last(dtype), 7]] and t.dtype is dtype and t.element_size() == BITS[dtype] // 8
    assert t[1, 0].item() == last(dtype) == int(t[1, 0]) == t[1, 0].__index__()
    assert float(t[1, 0]) == float(last(dtype)) and bool(t[1, 0]) and not bool(t[0, 0])
    assert list(range(9))[t[1, 1]] == 7 and format(t[1, 1], "03d") == "007"
    for made in (
        torch.zeros(2, dtype=dtype),
        torch.ones(2, dtype=dtype),
        torch.full((2,), 5, dtype=dtype),
        t.new_zeros(2),
        torch.empty_like(t),
    ):
        assert made.dtype is dtype
    assert torch.full((2,), last(dtype), dtype=dtype).tolist() == [last(dtype)] * 2
    assert torch.zeros(2, dtype=dtype).fill_(last(dtype)).tolist() == [last(dtype)] * 2
    assert torch.full((1,), -1, dtype=dtype).item() == last(dtype)
    t[0] = last(dtype)
    assert t.tolist() == [[last(dtype)] * 2, [last(dtype), 7]]


def test_numbers_that_do_not_fit():
    assert torch.tensor([-1, -65535], dtype=torch.uint16).tolist() == [65535, 1]
    for number in (65536, -65536, -1.5, 70000.5):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint16 without overflow"):
            torch.tensor(number, dtype=torch.uint16)
    for number in (65536, -65536, 65535.7, -1.0):
        with pytest.raises(RuntimeError, match="value cannot be converted to type uint16_t without overflow"):
            torch.full((2,), number, dtype=torch.uint16)
    with pytest.raises(RuntimeError, match="type uint32 without overflow"):
        torch.tensor(2**32, dtype=torch.uint32)
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        torch.tensor(-1, dtype=torch.uint64)
    for make in (lambda: torch.tensor(2**64, dtype=torch.uint64), lambda: torch.full((2,), 2**64, dtype=torch.uint64)):
        with pytest.raises(OverflowError, match="int too big to convert"):
            make()
    with pytest.raises(RuntimeError, match="uint64_t without overflow"):
        torch.full((2,), -1.0, dtype=torch.uint64)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.tensor(TOP)
    with pytest.raises(RuntimeError, match="value cannot be converted to type int64_t without overflow"):
        torch.full((2,), TOP)
    with pytest.raises(RuntimeError, match="int64_t without overflow"):
        torch.zeros(2, dtype=torch.int64).fill_(TOP)


def test_large_integers_are_numbers_everywhere():
    assert (torch.zeros(2) + TOP).tolist() == [float(TOP)] * 2
    assert torch.zeros(1).fill_(TOP + 1).item() == float(TOP)
    assert (huge(0, 1) | TOP).tolist() == [TOP, TOP + 1]
    assert (huge(TOP, 1) == TOP).tolist() == [True, False]
    assert torch.add(torch.zeros(1), 1, alpha=TOP).item() == float(TOP)
    with pytest.raises(ValueError, match="Overflow"):
        torch.arange(9)[huge(2**64 - 1)[0]]


def test_repr():
    assert repr(torch.tensor([1, 300], dtype=torch.uint16)) == "tensor([  1, 300], dtype=torch.uint16)"
    assert repr(huge(2**64 - 1, 0)) == "tensor([18446744073709551615,                    0], dtype=torch.uint64)"
    assert repr(torch.ones(2, dtype=torch.uint16).to("meta")) == "tensor(..., device='meta', size=(2,), dtype=torch.uint16)"
    assert torch.ones(2, dtype=torch.uint32).type() == "torch.UInt32Tensor"
    assert torch.ones(2).type("torch.UInt32Tensor").dtype is torch.uint32


# -- conversions --------------------------------------------------------------


@each
def test_conversions_wrap(dtype):
    size = 2 ** BITS[dtype]
    given = [-1, 0, 1, 255, 65537, -(2**40) + 3]
    assert torch.tensor(given).to(dtype).tolist() == [x % size for x in given]
    t = torch.tensor([0, 1, 200, 40000, last(dtype)], dtype=dtype)
    for other in OTHERS[1:] + DTYPES:
        bits = torch.iinfo(other).bits
        wrapped = [x % 2**bits for x in t.tolist()]
        if other.is_signed:
            wrapped = [x - 2**bits if x >= 2 ** (bits - 1) else x for x in wrapped]
        assert t.to(other).tolist() == wrapped and t.to(other).dtype is other
        back = t.to(other).to(dtype).tolist()
        assert back == [x % size for x in wrapped]
    assert t.bool().tolist() == [False, True, True, True, True]
    assert torch.tensor([True, False]).to(dtype).tolist() == [1, 0]


@each
def test_conversions_of_strided_and_transposed_memory(dtype):
    t = torch.arange(12).reshape(3, 4).to(dtype)
    for view in (t.t(), t[:, ::2], t[::2].t(), t[1].expand(3, 4)):
        for other in (torch.float32, torch.int8, torch.float64, torch.complex64, torch.uint16, torch.uint64):
            assert view.to(other).tolist() == view.tolist()
            assert torch.zeros(view.shape, dtype=other).copy_(view).tolist() == view.tolist()
    wide = torch.arange(4000).reshape(40, 100).to(dtype)
    assert wide.t().contiguous().tolist() == wide.float().t().tolist()
    assert wide.t().to(torch.float64).tolist() == wide.t().tolist()


@each
def test_conversions_from_and_to_floats(dtype):
    numbers = [0.0, 1.5, 200.99, 60000.0]
    for kind in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        assert torch.tensor(numbers, dtype=kind).to(dtype).tolist() == [0, 1, 200, 60000]
        assert torch.tensor([0, 1, 60000], dtype=dtype).to(kind).tolist() == [0, 1, 60000]
    assert torch.tensor([1.5, 200.0], dtype=torch.float16).to(dtype).tolist() == [1, 200]
    assert torch.tensor([0, 1, 2049], dtype=dtype).half().tolist() == [0, 1, 2048]
    assert torch.tensor([-1.0]).to(dtype).item() == last(dtype)


def test_uint64_above_int64():
    t = huge(2**64 - 1, TOP, TOP + 1025, TOP + 1024)
    assert t.double().tolist() == [2.0**64, 2.0**63, 2.0**63 + 2048, 2.0**63]
    assert t.float().tolist() == [2.0**64, 2.0**63, 2.0**63, 2.0**63]
    assert huge(2**63 + 2**39 + 1).float().item() == 2.0**63 + 2.0**40  # rounded once
    assert t.half().tolist() == [float("inf")] * 4 and t.bfloat16()[0].item() == 2.0**64
    assert t.long().tolist() == [-1, -TOP, -TOP + 1025, -TOP + 1024]
    for kind in (torch.float32, torch.float64):
        floats = torch.tensor([-1.0, 1.5, 2.0**63, 2.0**64, float("nan"), float("inf"), float("-inf"), 1e20, -(2.0**63)], dtype=kind)
        assert floats.to(torch.uint64).tolist() == [2**64 - 1, 1, TOP, 0, TOP, 0, TOP, 0, TOP]
        floats = torch.tensor([-1.0, 1.5, 65537.0, 2.0**32, float("nan"), float("inf"), float("-inf"), 1e20, -(2.0**31)], dtype=kind)
        assert floats.to(torch.uint32).tolist() == [2**32 - 1, 1, 65537, 0, 2**31, 0, 2**31, 0, 2**31]
        assert floats.to(torch.uint16).tolist() == [65535, 1, 1, 0, 0, 0, 0, 0, 0]


# -- promotion ----------------------------------------------------------------


@each
def test_promotion(dtype):
    title = f"UInt{BITS[dtype]}"
    for other in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert torch.promote_types(dtype, other) is torch.promote_types(other, dtype) is other
    for other in [*OTHERS, torch.complex64, *(d for d in DTYPES if d is not dtype)]:
        words = f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {title} and "
        with pytest.raises(RuntimeError, match=words):
            torch.promote_types(dtype, other)
        with pytest.raises(RuntimeError, match=words):
            torch.ones(2, dtype=dtype) * torch.ones(2, dtype=other)
        with pytest.raises(RuntimeError, match="Promotion for uint16, uint32, uint64 types is not supported"):
            torch.cat([torch.ones(2, dtype=other), torch.ones(2, dtype=dtype)])
    t = torch.tensor([1, 2], dtype=dtype)
    assert torch.result_type(t, 3) is torch.result_type(t, True) is torch.result_type(t, torch.tensor(3)) is dtype
    assert torch.result_type(t, 3.5) is torch.float32 and torch.result_type(t, torch.tensor(1.5, dtype=torch.float64)) is torch.float64
    assert torch.result_type(torch.tensor([1]), t[0]) is torch.int64
    with pytest.raises(RuntimeError, match=f"attempted to promote Bool and {title}"):
        torch.result_type(torch.tensor([True]), t[0])
    assert (t * 3.5).tolist() == [3.5, 7.0] and (t * 3).dtype is dtype
    assert torch.can_cast(dtype, torch.uint8) and torch.can_cast(torch.int64, dtype) and torch.can_cast(dtype, torch.float32)
    assert not torch.can_cast(dtype, torch.bool) and not torch.can_cast(torch.float32, dtype)
    with pytest.raises(RuntimeError, match=f"result type Float can't be cast to the desired output type {title}"):
        t.mul_(2.5)
    assert t.mul_(2).tolist() == [2, 4] and torch.mul(t, t, out=torch.empty(2)).tolist() == [4.0, 16.0]
    assert torch.mul(torch.tensor([3]), torch.tensor([5]), out=torch.empty(1, dtype=dtype)).tolist() == [15]


# -- arithmetic ---------------------------------------------------------------


@each
def test_arithmetic_wraps(dtype):
    size = last(dtype) + 1
    x, y = [0, 1, 7, size - 1, size // 2], [1, 3, 5, size - 2, 2]
    a, b = torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)
    pairs = list(zip(x, y, strict=True))
    for ours, python in (
        (a + b, [(i + j) % size for i, j in pairs]),
        (a - b, [(i - j) % size for i, j in pairs]),
        (a * b, [i * j % size for i, j in pairs]),
        (a // b, [i // j for i, j in pairs]),
        (a % b, [i % j for i, j in pairs]),
        (torch.fmod(a, b), [i % j for i, j in pairs]),
        (torch.div(a, b, rounding_mode="trunc"), [i // j for i, j in pairs]),
        (a & b, [i & j for i, j in pairs]),
        (a | b, [i | j for i, j in pairs]),
        (a ^ b, [i ^ j for i, j in pairs]),
        (~a, [size - 1 - i for i in x]),
        (-a, [-i % size for i in x]),
        (a << 3, [(i << 3) % size for i in x]),
        (a >> 3, [i >> 3 for i in x]),
        (a >> torch.tensor(BITS[dtype], dtype=dtype), [0] * 5),
        (a**2, [i * i % size for i in x]),
        (a**3, [i**3 % size for i in x]),
        (torch.maximum(a, b), list(map(max, x, y))),
        (torch.minimum(a, b), list(map(min, x, y))),
        (a.clamp(2, 9), [min(max(i, 2), 9) for i in x]),
        (a.clamp_max(size // 2), [min(i, size // 2) for i in x]),
        (torch.add(a, b, alpha=3), [(i + 3 * j) % size for i, j in pairs]),
        (2 - a, [(2 - i) % size for i in x]),
        (a.trunc(), x),
        (a.round(), x),
    ):
        assert ours.dtype is dtype and ours.tolist() == python
    assert (a + size // 2).tolist() == [(i + size // 2) % size for i in x]
    assert a.clone().add_(b).tolist() == (a + b).tolist() and torch.add(a, b, out=torch.empty(0, dtype=dtype)).tolist() == (a + b).tolist()
    assert (a[::2] + b[::2]).tolist() == (a + b)[::2].tolist() and (a.reshape(5, 1) * b).tolist()[2] == (a[2] * b).tolist()


@each
def test_comparisons(dtype):
    top = last(dtype)
    a, b = torch.tensor([0, 5, top, top // 2 + 1], dtype=dtype), torch.tensor([1, 5, 3, top // 2], dtype=dtype)
    assert (a == b).tolist() == [False, True, False, False] and (a != b).tolist() == [True, False, True, True]
    assert (a < b).tolist() == [True, False, False, False] and (a <= b).tolist() == [True, True, False, False]
    assert (a > b).tolist() == [False, False, True, True] and (a >= b).tolist() == [False, True, True, True]
    assert (a == -1).tolist() == [False, False, True, False] and (a > 1.5).tolist() == [False, True, True, True]
    assert torch.logical_and(a, b).tolist() == [False, True, True, True] and a.logical_not().tolist() == [True, False, False, False]
    assert not a.signbit().any() and not a.isnan().any() and a.isfinite().all() and torch.equal(a, a.clone()) and not torch.equal(a, b)
    assert torch.isclose(a, a).all() and not torch.allclose(a, b)


def test_division_gives_floats():
    t = huge(1, TOP, 5)
    assert (t / 2).tolist() == [0.5, 2.0**62, 2.5] and (t / t).tolist() == [1.0, 1.0, 1.0] and (t / 0).tolist() == [float("inf")] * 3
    assert t.sqrt()[1].item() == pytest.approx(2.0**31.5) and t.double().log2()[1].item() == 63
    assert torch.ones(2, dtype=torch.uint16).exp().dtype is torch.float32
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        t // 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        t % huge(1, 0, 1)


def test_divisors_and_multiples():
    assert torch.gcd(huge(TOP, 15, 0), huge(2**62, 10, 7)).tolist() == [2**62, 5, 7]
    assert torch.lcm(huge(3, TOP, 0), huge(2, 2**62, 5)).tolist() == [6, TOP, 0]


# -- reductions, order --------------------------------------------------------


@each
def test_reductions(dtype):
    t = torch.tensor([[3, 0, 2], [65535, 1, 0]], dtype=dtype)
    assert t.sum().item() == 65541 and t.sum().dtype is t.sum(0).dtype is t.cumsum(0).dtype is t.prod().dtype is torch.int64
    assert t.sum(1).tolist() == [5, 65536] and t.prod(1).tolist() == [0, 0] and t.cumsum(1).tolist() == [[3, 3, 5], [65535, 65536, 65536]]
    assert t.sum(dtype=torch.float32).item() == 65541.0 and t.mean(dtype=torch.float64).item() == 65541 / 6
    assert t.any(0).tolist() == [True, True, True] and t.all(1).tolist() == [False, False] and t.any().dtype is torch.bool
    assert t.count_nonzero().item() == 4 and t.nonzero().tolist() == [[0, 0], [0, 2], [1, 0], [1, 1]]
    assert t.amax().item() == 65535 and t.min().item() == 0 and t.argmax().item() == 3 and t.max(1).values.dtype is dtype
    assert t.logsumexp(1).dtype is torch.float32 and t.softmax(1, dtype=torch.float32).sum().item() == pytest.approx(2)
    with pytest.raises(RuntimeError, match=f"could not infer output dtype.*UInt{BITS[dtype]}"):
        t.mean()
    with pytest.raises(RuntimeError, match="std and var only support floating point"):
        t.std()


def test_the_order_of_uint64():
    t = huge(5, TOP, 1, 2**64 - 1, TOP - 1)
    ordered = [1, 5, TOP - 1, TOP, 2**64 - 1]
    assert t.sort().values.tolist() == ordered and t.sort().values.dtype is torch.uint64 and t.sort().indices.tolist() == [2, 0, 4, 1, 3]
    assert t.argsort(descending=True).tolist() == [3, 1, 4, 0, 2] and t.msort().tolist() == ordered
    assert t.max().item() == 2**64 - 1 and t.min().item() == 1 and t.argmax().item() == 3 and t.amax(0).item() == 2**64 - 1
    assert t.topk(2).values.tolist() == [2**64 - 1, TOP] and t.kthvalue(4).values.item() == TOP and t.median().item() == TOP - 1
    assert t.cummax(0).values.tolist() == [5, TOP, TOP, 2**64 - 1, 2**64 - 1]
    assert torch.cat([t, t]).unique().tolist() == ordered
    values, inverse, counts = torch.cat([t, t[:1]]).unique(return_inverse=True, return_counts=True)
    assert values[inverse].tolist() == [*t.tolist(), 5] and counts.tolist() == [1, 2, 1, 1, 1]
    assert huge(TOP, TOP, 1).unique_consecutive().tolist() == [TOP, 1] and torch.stack([t, t]).unique(dim=0).tolist() == [t.tolist()]
    assert torch.searchsorted(huge(*ordered), huge(TOP, 0, 2**64 - 1)).tolist() == [3, 0, 4]
    assert t.sum().item() == (sum(t.tolist()) + TOP) % 2**64 - TOP  # an int64, which wraps, as in PyTorch
    assert t.sum(dtype=torch.float64).item() == float(sum(t.tolist()))


# -- moving elements ----------------------------------------------------------


@each
def test_everything_that_moves(dtype):
    t = torch.tensor([[1, 2, 3], [4, 5, last(dtype)]], dtype=dtype)
    like = t.double()
    index, mask = torch.tensor([1, 0]), torch.tensor([True, False, True])
    for use in (
        lambda x: x.t().contiguous(),
        lambda x: x.flip(1),
        lambda x: x.roll(1),
        lambda x: x.repeat(2, 2),
        lambda x: x.repeat_interleave(2, 0),
        lambda x: torch.cat([x, x], 1),
        lambda x: torch.stack([x, x]),
        lambda x: x.tril(),
        lambda x: x.diagonal().diag_embed(),
        lambda x: torch.where(mask, x, 7),
        lambda x: x.masked_fill(mask, 9),
        lambda x: x[index],
        lambda x: x[:, mask],
        lambda x: x[..., -1],
        lambda x: x.index_select(1, index),
        lambda x: x.gather(1, torch.tensor([[2], [0]])),
        lambda x: x.take(index),
        lambda x: x.masked_select(mask),
        lambda x: x.scatter(1, torch.tensor([[2], [0]]), 8),
        lambda x: x.index_fill(1, index, 3),
        lambda x: x.index_put((index,), x[:1]),
        lambda x: x.index_copy(0, index, x.flip(0)),
        lambda x: x.masked_scatter(mask, x),
        lambda x: torch.nn.functional.embedding(index, x),
        lambda x: torch.nn.functional.pad(x, (1, 1), value=6),
        lambda x: x.select_scatter(x[0], 0, 1),
        lambda x: x.unfold(1, 2, 1),
        lambda x: torch.block_diag(x, x),
        lambda x: x.expand(2, 2, 3).reshape(-1),
        lambda x: torch.outer(x[0], x[0]),
    ):
        moved = use(t)
        assert moved.dtype is dtype and moved.double().tolist() == use(like).tolist()
    assert t.view(torch.uint8).view(dtype).tolist() == t.tolist()
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}[dtype]
    assert t.view(signed)[1, 2].item() == -1 and t.view(signed).view(dtype).tolist() == t.tolist()


@each
def test_sequences_and_random_numbers(dtype):
    assert torch.arange(5, dtype=dtype).tolist() == [0, 1, 2, 3, 4] and torch.arange(2, 10, 3, dtype=dtype).tolist() == [2, 5, 8]
    assert torch.eye(2, dtype=dtype).tolist() == [[1, 0], [0, 1]] and torch.linspace(0, 10, 5, dtype=dtype).tolist() == [0, 2, 5, 7, 10]
    draw = lambda dtype, high: (torch.manual_seed(0), torch.randint(0, high, (5,), dtype=dtype))[1]
    assert draw(dtype, 100).tolist() == draw(torch.int64, 100).tolist() == [44, 39, 33, 60, 63]
    assert draw(torch.uint64, 2**62).tolist() == draw(torch.int64, 2**62).tolist()
    torch.manual_seed(0)
    assert (
        torch.empty(5, dtype=dtype).random_(7, 100).tolist()
        == torch.randint(7, 100, (5,), generator=torch.Generator().manual_seed(0)).tolist()
    )
    assert sorted(torch.randperm(9, dtype=dtype).tolist()) == list(range(9))
    for wrong in (lambda: torch.rand(2, dtype=dtype), lambda: torch.randn(2, dtype=dtype), lambda: torch.empty(2, dtype=dtype).random_()):
        with pytest.raises(NotImplementedError, match=f"not implemented for 'UInt{BITS[dtype]}'"):
            wrong()
    with pytest.raises(RuntimeError, match="from is out of bounds for .*unsigned int"):
        torch.empty(2, dtype=dtype).random_(-1, 5)
    if dtype is not torch.uint64:
        with pytest.raises(RuntimeError, match="to - 1 is out of bounds for (short )?unsigned int"):
            torch.randint(0, last(dtype) + 2, (3,), dtype=dtype)


# -- what is refused ----------------------------------------------------------


@each
def test_refusals_name_the_dtype(dtype):
    t, index = torch.ones(2, 2, dtype=dtype), torch.tensor([0, 1])
    for wrong in (
        lambda: t @ t,
        lambda: torch.bmm(t[None], t[None]),
        lambda: t.index_add(0, index, t),
        lambda: t.index_put((index,), t, accumulate=True),
        lambda: t.put(index, t[0], accumulate=True),
        lambda: t.scatter_add(0, index[None], t),
        lambda: t.scatter_reduce(0, index[None], t, "amax"),
        lambda: t.cumsum(0).to(dtype).histc(),
        lambda: torch.linalg.inv(t),
        lambda: torch.relu(t),
        lambda: t.bernoulli(),
    ):
        with pytest.raises(RuntimeError, match=f"UInt{BITS[dtype]}"):
            wrong()
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        torch.arange(5)[torch.tensor([1, 2], dtype=dtype)]
    assert torch.arange(5)[torch.tensor(3, dtype=dtype)].item() == 3
    with pytest.raises(RuntimeError):
        torch.arange(5).index_select(0, torch.tensor([1], dtype=dtype))


# -- other programs -----------------------------------------------------------


@each
def test_files_and_copies(dtype, tmp_path):
    t = torch.tensor([[1, 2], [3, last(dtype)]], dtype=dtype)
    for made in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t.clone(), t.storage().tolist() and t):
        assert made.dtype is dtype and made.tolist() == t.tolist()
    for legacy in (False, True):
        file = io.BytesIO()
        torch.save({"t": t, "row": t[1], "n": torch.nn.Parameter(torch.ones(1))}, file, _use_new_zipfile_serialization=not legacy)
        file.seek(0)
        loaded = torch.load(file, weights_only=True)
        assert loaded["t"].dtype is dtype and loaded["t"].tolist() == t.tolist() and loaded["row"].tolist() == t[1].tolist()
        loaded["row"][0] = 9
        assert loaded["t"][1, 0].item() == 9  # still one memory
    assert t.storage().dtype is dtype and t.untyped_storage().nbytes() == 4 * t.element_size()


@each
def test_buffers(dtype):
    code = {torch.uint16: "H", torch.uint32: "I", torch.uint64: "Q"}[dtype]
    memory = array.array(code, [1, 2, last(dtype)])
    t = torch.frombuffer(memory, dtype=dtype)
    assert t.tolist() == [1, 2, last(dtype)] and memoryview(t).tolist() == [1, 2, last(dtype)]
    t[0] = 5
    assert memory[0] == 5 and torch.as_tensor(t).dtype is dtype
    assert torch.from_dlpack(t).tolist() == t.tolist() and torch.from_dlpack(t).dtype is dtype


@each
def test_numpy(dtype):
    numpy = pytest.importorskip("numpy")
    kind = numpy.dtype(f"uint{BITS[dtype]}")
    memory = numpy.array([1, 2, last(dtype)], dtype=kind)
    t = torch.from_numpy(memory)
    assert t.dtype is dtype and t.tolist() == memory.tolist() and t.numpy().dtype == kind and (t.numpy() == memory).all()
    assert torch.tensor(memory).dtype is torch.as_tensor(kind.type(5)).dtype is torch.tensor([kind.type(5)]).dtype is dtype
    assert numpy.from_dlpack(t).tolist() == memory.tolist()


@each
def test_assert_close(dtype):
    t = torch.tensor([1, last(dtype)], dtype=dtype)
    torch.testing.assert_close(t, t.clone())
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        torch.testing.assert_close(t, torch.tensor([1, last(dtype) - 2], dtype=dtype))


@each
def test_meta_and_vmap(dtype):
    t = torch.tensor([[3, 1], [2, last(dtype)]], dtype=dtype)
    there = t.to("meta")
    for use in (lambda x: x + x, lambda x: x < 2, lambda x: x.sum(), lambda x: x.sort().values, lambda x: x[0] * 2.5, lambda x: x.float()):
        assert use(there).dtype is use(t).dtype and use(there).shape == use(t).shape
    assert torch.func.vmap(lambda x: x * 2)(t).tolist() == (t * 2).tolist()
    assert torch.func.vmap(lambda x: x.sort().values)(t).tolist() == t.sort().values.tolist()
