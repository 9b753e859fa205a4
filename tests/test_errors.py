"""Bad input: the exception's type, the words users match on, and a process that goes on.

`A` is a 2x3 matrix of ones, `M` one without data on the meta device, `L` three integers.
"""

import os
import signal
import threading
import time

import pytest

import retrograd as torch

SHAPES = [
    ("A + torch.ones(4)", RuntimeError, "size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"),
    ("A + torch.ones(3, 3)", RuntimeError, "size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
    ("A.add_(torch.ones(5))", RuntimeError, "size of tensor a (3) must match the size of tensor b (5)"),
    ("A.copy_(torch.ones(5))", RuntimeError, "size of tensor a (3) must match the size of tensor b (5)"),
    ("torch.where(A > 0, A, torch.ones(4))", RuntimeError, "size of tensor a (3) must match the size of tensor b (4)"),
    ("A @ torch.ones(4, 5)", RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
    ("torch.mm(A, A)", RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    ("torch.addmm(torch.ones(2, 2), A, A)", RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    ("torch.nn.functional.linear(A, torch.ones(4, 5))", RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)"),
    ("A @ torch.ones(2)", RuntimeError, "size mismatch"),
    ("torch.mv(A, torch.ones(4))", RuntimeError, "size mismatch"),
    ("torch.mm(A, torch.ones(3))", RuntimeError, "mat2 must be a matrix"),
    ("torch.bmm(A, A)", RuntimeError, "batch1 must be a 3D tensor"),
    ("torch.bmm(torch.ones(2, 2, 3), torch.ones(3, 3, 2))", RuntimeError, "batch2 tensor to be: [2, 3] but got: [3, 3]"),
    ("torch.dot(torch.ones(2), torch.ones(3))", RuntimeError, "inconsistent tensor size"),
    ("torch.dot(A, A)", RuntimeError, "1D tensors expected, but got 2D and 2D tensors"),
    ("torch.einsum('ij,jk', A, torch.ones(4, 2))", RuntimeError, "einsum(): subscript j has size 4"),
    ("torch.einsum('ij', A, A)", RuntimeError, "more operands were provided than specified"),
    ("torch.einsum('i', A)", RuntimeError, "number of subscripts in the equation (1)"),
    ("A.view(5)", RuntimeError, "shape '[5]' is invalid for input of size 6"),
    ("A.reshape(7)", RuntimeError, "shape '[7]' is invalid for input of size 6"),
    ("A.view(-1, -1)", RuntimeError, "only one dimension can be inferred"),
    ("A.view(2, -3)", RuntimeError, "invalid shape dimension -3"),
    ("A.t().view(6)", RuntimeError, "view size is not compatible with input tensor's size and stride"),
    ("A.expand(4, 3)", RuntimeError, "expanded size of the tensor (4) must match the existing size (2)"),
    ("A.expand(3)", RuntimeError, "must be greater or equal to the number of dimensions in the tensor (2)"),
    ("A.permute(0)", RuntimeError, "number of dimensions"),
    ("A.permute(0, 0)", RuntimeError, "duplicate dims are not allowed"),
    ("A.narrow(0, 1, 5)", RuntimeError, "start (1) + length (5) exceeds dimension size (2)"),
    ("A.narrow(0, 0, -1)", RuntimeError, "length must be non-negative"),
    ("A.split(0)", RuntimeError, "split_size can only be 0 if dimension size is 0"),
    ("A.split(-1)", RuntimeError, "split_size=-1"),
    ("A.split([1, 2])", RuntimeError, "split_sizes=[1, 2]"),
    ("A.chunk(0)", RuntimeError, "chunks` to be greater than 0, got: 0"),
    ("A.flatten(1, 0)", RuntimeError, "start_dim cannot come after end_dim"),
    ("A.unfold(0, 5, 1)", RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 5"),
    ("A.repeat(2)", RuntimeError, "repeat dims can not be smaller than number of dimensions"),
    ("A.topk(5)", RuntimeError, "selected index k out of range"),
    ("torch.cat([A, torch.ones(3, 3)], 1)", RuntimeError, "Expected size 2 but got size 3 for tensor number 1 in the list"),
    ("torch.cat([A, torch.ones(3)])", RuntimeError, "Tensors must have same number of dimensions: got 2 and 1"),
    (
        "torch.stack([A, torch.ones(3, 2)])",
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [3, 2] at entry 1",
    ),
    ("torch.cat([])", (ValueError, RuntimeError), "expected a non-empty list of Tensors"),
    ("torch.stack([])", RuntimeError, "stack expects a non-empty TensorList"),
    ("torch.tril(torch.ones(3))", RuntimeError, "at least 2 dimensions"),
    ("A.view(torch.int64)", RuntimeError, "self.size(-1) must be divisible by 2"),
    ("A.item()", RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
    ("torch.ones(0).max()", RuntimeError, "input.numel() == 0. Pass 'dim'"),
    ("torch.ones(0).argmax()", IndexError, "Expected reduction dim to be specified for input.numel() == 0"),
    ("torch.ones(0, 3).max(0)", IndexError, "Expected reduction dim 0 to have non-zero size"),
    ("torch.nn.functional.nll_loss(A, torch.tensor([0]))", ValueError, "Expected input batch_size (2) to match target batch_size (1)"),
]

DIMS = [
    (f"A.{call}", IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)")
    for call in (
        *("sum(5)", "mean(5)", "transpose(0, 5)", "permute(0, 5)", "squeeze(5)", "select(5, 0)", "unbind(5)"),
        *("gather(5, torch.tensor([[0]]))", "topk(1, 5)", "sort(5)", "argmax(5)", "cumsum(5)", "softmax(5)"),
        *("flip(5)", "std(5)", "size(5)", "stride(5)", "max(5)", "log_softmax(5)", "split(1, 5)", "all(5)"),
    )
] + [
    ("A.sum(-3)", IndexError, "but got -3"),
    ("A.unsqueeze(5)", IndexError, "range of [-3, 2], but got 5"),
    ("torch.stack([A, A], 5)", IndexError, "range of [-3, 2], but got 5"),
    ("torch.cat([A, A], 5)", IndexError, "range of [-2, 1], but got 5"),
    ("A.sum((0, 0))", RuntimeError, "dim 0 appears multiple times in the list of dims"),
    ("A.diagonal(0, 0, 0)", RuntimeError, "diagonal dimensions cannot be identical"),
]

INDICES = [
    ("A[5]", IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ("A.select(0, 5)", IndexError, "index 5 out of range for tensor of size [2, 3] at dimension 0"),
    ("A.gather(0, torch.tensor([[5]]))", RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"),
    ("A.gather(0, torch.tensor([0]))", RuntimeError, "Index tensor must have the same number of dimensions as input tensor"),
    ("A.gather(0, torch.tensor([[0.0]]))", RuntimeError, "for index"),
    ("A.scatter(0, torch.tensor([[5]]), 1.0)", RuntimeError, "index 5 is out of bounds for dimension 0 with size 2"),
    ("A.scatter(0, torch.tensor([[0, 1, 0, 1]]), 1.0)", RuntimeError, "to be no larger than self [2, 3]"),
    ("A.index_select(0, torch.tensor([5]))", IndexError, "index out of range in self"),
    ("A.index_select(0, torch.tensor([0.0]))", RuntimeError, "for index"),
    ("A.index_select(0, torch.tensor([[0]]))", IndexError, "Index is supposed to be a vector"),
    ("A.index_add_(0, torch.tensor([5]), torch.ones(1, 3))", (IndexError, RuntimeError), "out of"),
    ("torch.take(A, torch.tensor([10]))", IndexError, "out of range"),
    ("torch.nn.functional.embedding(torch.tensor([5]), A)", IndexError, "index out of range in self"),
    ("torch.nn.functional.embedding(torch.tensor([-1]), A)", IndexError, "index out of range in self"),
    ("torch.nn.functional.nll_loss(A, torch.tensor([0, 5]))", IndexError, "Target 5 is out of bounds"),
    ("torch.nn.functional.cross_entropy(A, torch.tensor([0, -1]))", IndexError, "Target -1 is out of bounds"),
    ("A.as_strided((9,), (1,))", RuntimeError, "out of bounds for storage of size 24"),
    ("A.as_strided((2,), (-1,))", RuntimeError, "egative strides are not supported"),
    ("A.as_strided((2, 2), (1,))", RuntimeError, "mismatch in length of strides and shape"),
]

SIZES = [
    ("torch.zeros(-1)", RuntimeError, "negative"),
    ("torch.empty(2, -3)", RuntimeError, "negative"),
    ("torch.eye(-1)", RuntimeError, "greater or equal to 0, got -1"),
    ("torch.linspace(0, 1, -1)", RuntimeError, "number of steps must be non-negative"),
    ("torch.arange(5, 0)", RuntimeError, "upper bound and lower bound inconsistent with step sign"),
    ("torch.arange(0, 5, 0)", RuntimeError, "step must be nonzero"),
    ("torch.arange(0, float('inf'))", RuntimeError, "unsupported range"),
    ("torch.arange(float('nan'))", RuntimeError, "unsupported range"),
    ("torch.empty(2**62)", RuntimeError, "overflow"),
    ("torch.empty(2**40, 2**40)", RuntimeError, "overflow"),
    ("torch.empty(2**50)", (RuntimeError, MemoryError), "allocate"),
    ("A.expand(2**61, 2, 3).clone()", (RuntimeError, MemoryError), ""),
]

DTYPES = [
    ("A @ A.long().t()", RuntimeError, "same dtype"),
    ("A.half() @ A.t()", RuntimeError, "same dtype"),
    ("torch.add(L, 1, alpha=1.5)", RuntimeError, "argument alpha must not be a floating point number"),
    (
        "torch.add(A, 1, out=torch.ones(2, 3, dtype=torch.long))",
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    ("L.add_(1.5)", RuntimeError, "can't be cast to the desired output type Long"),
    ("torch.where(A, A, A)", RuntimeError, "condition to be a boolean tensor"),
    ("A.masked_fill(A, 0)", RuntimeError, "only supports boolean masks"),
    ("A.masked_fill(A > 0, torch.ones(2))", RuntimeError, "only supports a 0-dimensional value tensor"),
    ("A.fill_(torch.ones(2))", RuntimeError, "0-dimension"),
    ("L.mean()", RuntimeError, "dtype"),
    ("A & A", (RuntimeError, NotImplementedError), "not implemented for 'Float'"),
    ("torch.tensor(2) ** -1", RuntimeError, "Integers to negative integer powers are not allowed"),
    ("L // 0", RuntimeError, "ZeroDivisionError"),
    ("L % 0", RuntimeError, "ZeroDivisionError"),
    ("torch.div(A, A, rounding_mode='up')", RuntimeError, "rounding_mode"),
    ("torch.nn.functional.embedding(torch.tensor([0.5]), A)", RuntimeError, "Long, Int; but got torch.FloatTensor instead"),
    ("torch.nn.functional.dropout(A, 2.0)", ValueError, "dropout probability has to be between 0 and 1, but got 2.0"),
    ("torch.nn.functional.mse_loss(A, A, reduction='most')", ValueError, "most is not a valid value for reduction"),
    ("A.clamp()", (RuntimeError, ValueError), "At least one of"),
]

TYPES = [
    ("A + 'a'", TypeError, "unsupported operand type(s) for +: 'Tensor' and 'str'"),
    ("A + None", TypeError, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'"),
    ("A - [1]", TypeError, "unsupported operand type(s) for -: 'Tensor' and 'list'"),
    ("torch.add(A, 'a')", TypeError, "add(): argument 'other' (position 2) must be Tensor, not str"),
    ("torch.add('a', A)", TypeError, "add(): argument 'input' (position 1) must be Tensor, not str"),
    ("torch.add(A)", TypeError, "add()"),
    ("torch.add(A, 1, 2, 3)", TypeError, "add()"),
    ("torch.add(A, 1, colour=2)", TypeError, "colour"),
    ("torch.exp(3)", TypeError, "exp(): argument 'input' (position 1) must be Tensor, not int"),
    ("torch.exp([1.0])", TypeError, "exp(): argument 'input' (position 1) must be Tensor, not list"),
    ("A.exp(3)", TypeError, "takes no arguments (1 given)"),
    ("A.mean('x')", TypeError, "mean()"),
    ("A.sum(colour=3)", TypeError, "colour"),
    ("A.add_('a')", TypeError, "add_(): argument 'other' (position 1) must be Tensor, not str"),
    ("A.fill_('a')", TypeError, "fill_()"),
    ("A.clamp('a')", TypeError, "clamp()"),
    ("A.view('a')", TypeError, "view()"),
    ("A.view()", TypeError, "view()"),
    ("A.size('a')", TypeError, "size(): argument 'dim' (position 1) must be int, not str"),
    ("A.nothing", AttributeError, "'Tensor' object has no attribute 'nothing'"),
    ("torch.cat(A)", TypeError, "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"),
    ("torch.cat([A, 3])", TypeError, "expected Tensor as element 1 in argument 0, but got int"),
    ("torch.cat((A, A), dim='x')", TypeError, "cat(): argument 'dim' must be int, not str"),
    ("torch.maximum(A, 3)", TypeError, "maximum(): argument 'other' (position 2) must be Tensor, not int"),
    ("torch.equal(A, 3)", TypeError, "equal(): argument 'other' (position 2) must be Tensor, not int"),
    ("torch.zeros('a')", TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not str"),
    ("torch.zeros(2.5)", TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not float"),
    ("torch.zeros((2, 'a'))", TypeError, "size"),
    ("torch.zeros(None)", TypeError, "zeros(): argument 'size' (position 1) must be tuple of ints, not NoneType"),
    ("torch.zeros(2, dtype='float32')", TypeError, "zeros(): argument 'dtype' must be torch.dtype, not str"),
    ("torch.zeros(2, colour=3)", TypeError, "zeros() got an unexpected keyword argument 'colour'"),
    ("torch.ones()", TypeError, 'ones() missing 1 required positional arguments: "size"'),
    ("torch.full((2,))", TypeError, 'full() missing 1 required positional arguments: "fill_value"'),
    ("torch.full((2,), 'a')", TypeError, "full(): argument 'fill_value' (position 2) must be Number, not str"),
    ("torch.tensor('a')", TypeError, "str"),
    ("torch.promote_types(3, 4)", TypeError, "promote_types(): argument 'type1' (position 1) must be torch.dtype, not int"),
    ("torch.set_default_dtype(torch.int32)", TypeError, "only floating-point types are supported as the default type"),
    ("torch.autograd.grad(3, A)", TypeError, "int"),
    ("torch.autograd.backward(3)", TypeError, "int"),
    ("A.requires_grad_('a')", TypeError, "must be bool, not str"),
    ("A.type('colour')", ValueError, "invalid type: 'colour'"),
]

DEVICES = [
    ("A + M", RuntimeError, "device"),
    ("torch.cat([A, M])", RuntimeError, "device"),
    ("A.copy_(M)", NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    ("M.sum().item()", RuntimeError, "meta"),
    ("torch.zeros(2, device='colour')", RuntimeError, "device type at start of device string: colour"),
    ("A.to('colour')", RuntimeError, "device type at start of device string: colour"),
    ("torch.device('cpu:x')", RuntimeError, "Invalid device string: 'cpu:x'"),
    ("torch.device(3.5)", TypeError, "device()"),
    ("torch.set_num_threads(0)", RuntimeError, "expects a positive integer"),
]


@pytest.mark.parametrize(
    ("source", "error", "words"), SHAPES + DIMS + INDICES + SIZES + DTYPES + TYPES + DEVICES, ids=lambda v: str(v)[:60]
)
def test_bad_input(source, error, words):
    names = {"torch": torch, "A": torch.ones(2, 3), "M": torch.ones(2, 3, device="meta"), "L": torch.arange(3)}
    with pytest.raises(error) as info:
        eval(source, names)
    assert words in str(info.value)
    assert names["A"].tolist() == [[1.0] * 3] * 2, "refused input must leave its operands alone"
    assert names["L"].tolist() == [0, 1, 2]


@pytest.mark.skipif(torch.__name__ != "retrograd", reason="PyTorch computes with memory that is not there, or crashes")
@pytest.mark.parametrize(
    "source",
    ["A @ M.t()", "A.mm(M.t())", "A.resize_(-1)", "torch.add(A, 1, out=3)", "torch.add(A, 1, out=M)"],
)
def test_bad_input_that_pytorch_lets_through(source):
    a = torch.ones(2, 3)
    with pytest.raises((RuntimeError, TypeError)):
        eval(source, {"torch": torch, "A": a, "M": torch.ones(2, 3, device="meta")})
    assert a.tolist() == [[1.0] * 3] * 2


def test_cuda_without_cuda():
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.ones(1).cuda()
    with pytest.raises((AssertionError, RuntimeError), match="CUDA"):
        torch.zeros(1, device="cuda")


def test_out_of_memory_leaves_the_process_usable():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    for _ in range(3):
        with pytest.raises((RuntimeError, MemoryError)):
            torch.ones(2**46)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_errors_in_backward_leave_gradients_alone():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    y = x.exp()
    z = (y * w).sum()
    with torch.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError):
        z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def interrupt_soon():
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def repeat(call):
    """Call for a while, until the interrupt comes."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        call()


def test_interrupt_during_forward():
    a = torch.ones(200, 200)
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        repeat(lambda: a.copy_((a @ a).clamp(0, 1)))
    assert torch.isfinite(a @ a).all()


def test_interrupt_during_backward():
    x = torch.ones(100, 100, requires_grad=True)
    y = x
    for _ in range(100):
        y = (y @ x).clamp(0, 1)
    loss = y.sum()
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        repeat(lambda: torch.autograd.grad(loss, x, retain_graph=True))
    (g,) = torch.autograd.grad(loss, x)
    assert torch.isfinite(g).all()


# ---- lists that are no tensor ----


def cyclic():
    one, two = [1.0], [2.0]
    one.append(two)
    two.append(one)
    return one


def deep(levels, kind):
    data = kind([1.0])
    for _ in range(levels):
        data = kind([1.0, data])
    return data


@pytest.mark.parametrize("read", [torch.tensor, torch.as_tensor, torch.asarray])
def test_lists_without_end(read):
    itself, first = [], [1.0]
    itself.append(itself)
    first.append(first)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        read(itself)
    with pytest.raises(TypeError, match=r"new\(\): self-referential lists are incompatible"):
        read(first)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        read(cyclic())
    for kind in (list, tuple):
        with pytest.raises(ValueError, match="too many dimensions"):
            read(deep(100_000, kind))
    with pytest.raises(TypeError, match="must be real number, not list"):  # the dtype is known, the numbers are read at once
        torch.ones(3).new_tensor(first)


def test_an_index_without_end():
    index = [0]
    index.append(index)
    with pytest.raises((IndexError, TypeError, ValueError)), pytest.warns(UserWarning):
        torch.ones(3)[index]


@pytest.mark.parametrize(
    "use", [torch.zeros, torch.ones(4).view, torch.ones(4).permute, torch.ones(4).sum, torch.ones(2, 2).repeat, torch.ones(4).split]
)
def test_sizes_that_shrink_while_they_are_read(use):
    class Shrink:
        def __index__(self):
            sizes.clear()
            return 2

    sizes = [Shrink(), *[1] * 5000]
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
        use(sizes)


@pytest.mark.parametrize("dtype", [None, torch.int64])
def test_a_list_that_shrinks_while_it_is_read(dtype):
    class Shrink:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            if i == 1:
                data.clear()
            if i == 2:
                raise IndexError
            return i

    data = [[0, 1], Shrink(), *([i, i] for i in range(1000))]
    with pytest.raises(ValueError, match="expected sequence of length 1002 at dim 0"):
        torch.tensor(data, dtype=dtype)
