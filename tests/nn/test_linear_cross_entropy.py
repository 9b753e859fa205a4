"""linear_cross_entropy: with and without options the cross entropy of a linear layer, of which only some rows exist at a time."""

import itertools

import pytest

import retrograd
from retrograd import _memory as memory


def given(torch, places=(), probabilities=False):
    torch.manual_seed(0)
    x = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    w = torch.randn(7, *places, 5, dtype=torch.float64, requires_grad=True)
    b = torch.randn(7, *places, dtype=torch.float64, requires_grad=True)
    target = torch.rand(6, 7, *places, dtype=torch.float64).softmax(1) if probabilities else torch.randint(0, 7, (6, *places))
    return x, w, b, target


OPTIONS = [
    None,
    {},
    {"batch_chunk_size": 2},
    {"batch_chunk_size": 4},
    {"batch_chunk_size": 100},
    {"chunking_method": "aspect_ratio:1"},
    {"chunking_method": None, "acc_policy": "accurate"},
    {"allow_retain_graph": True, "batch_chunk_size": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("places", "probabilities"), [((), False), ((), True), ((2, 3), False), ((2,), True)])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_it_is_the_cross_entropy_of_the_logits(options, reduction, places, probabilities, smoothing):
    torch = retrograd
    F = torch.nn.functional
    chosen = None if options is None else torch.nn.LinearCrossEntropyOptions(**options)
    for bias, factors, ignored in itertools.product((False, True), (False, True), (None, 3)):
        if probabilities and ignored is not None:
            continue
        x, w, b, target = given(torch, places, probabilities)
        weight = torch.linspace(0.5, 2, 7, dtype=torch.float64) if factors else None
        logits = (x @ w.flatten(0, -2).T).reshape(6, *w.shape[:-1]) + (b if bias else 0)
        how = {"weight": weight, "reduction": reduction, "label_smoothing": smoothing}
        wanted = F.cross_entropy(logits, target, **how, ignore_index=-100 if ignored is None else ignored)
        found = F.linear_cross_entropy(x, w, target, linear_bias=b if bias else None, options=chosen, **how, ignore_index=ignored)
        torch.testing.assert_close(found, wanted)
        leaves = (x, w, b) if bias else (x, w)
        for ours, theirs in zip(
            torch.autograd.grad(found.sin().sum(), leaves), torch.autograd.grad(wanted.sin().sum(), leaves), strict=True
        ):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("options", [None, {"batch_chunk_size": 4}, {"batch_chunk_size": 2, "allow_retain_graph": True}], ids=str)
def test_as_pytorch(oracle, options):
    found = []
    for torch in (retrograd, oracle):
        x, w, b, target = given(torch)
        loss = torch.nn.functional.linear_cross_entropy(
            x, w, target, linear_bias=b, ignore_index=2, options=None if options is None else torch.nn.LinearCrossEntropyOptions(**options)
        )
        found.append([loss.item(), *(g.tolist() for g in torch.autograd.grad(loss, (x, w, b)))])
    for ours, theirs in zip(*found, strict=True):
        retrograd.testing.assert_close(retrograd.tensor(ours), retrograd.tensor(theirs))


def test_derivatives_of_any_order():
    torch = retrograd
    x, w, b, target = given(torch)
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    f = lambda x, w, b: torch.nn.functional.linear_cross_entropy(x, w, target, linear_bias=b, options=options)
    assert torch.autograd.gradcheck(f, (x, w, b))
    assert torch.autograd.gradgradcheck(f, (x, w, b))
    loss = f(x, w, b)
    loss.backward(retain_graph=True)
    loss.backward()


def test_transforms():
    torch = retrograd
    x, w, _, target = (t.detach() for t in given(torch))
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4)
    f = lambda w, options=options: torch.nn.functional.linear_cross_entropy(x, w, target, options=options)
    torch.testing.assert_close(torch.func.grad(f)(w), torch.func.grad(lambda w: f(w, None))(w))
    ws = torch.stack([w, 2 * w])
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(f))(ws), torch.func.vmap(torch.func.grad(lambda w: f(w, None)))(ws))
    torch.testing.assert_close(torch.func.jvp(f, (w,), (w,))[1], torch.func.jvp(lambda w: f(w, None), (w,), (w,))[1])


def test_logits_are_never_whole():
    torch = retrograd
    x, w = torch.randn(2048, 32, requires_grad=True), torch.randn(8000, 32, requires_grad=True)
    target = torch.randint(0, 8000, (2048,))  # 64 MB of logits
    for _ in range(2):
        memory.reset_peak_memory_stats()
        before = memory.memory_allocated()
        torch.nn.functional.linear_cross_entropy(x, w, target, options=torch.nn.LinearCrossEntropyOptions(batch_chunk_size=128)).backward()
        assert memory.max_memory_allocated() - before < 24e6


def test_sums_of_short_floats():
    torch = retrograd
    torch.manual_seed(0)
    x, w = torch.randn(512, 16), torch.randn(300, 16)
    target = torch.randint(0, 300, (512,))
    exact = torch.nn.functional.linear_cross_entropy(x.bfloat16().float(), w.bfloat16().float(), target)
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4, acc_policy="accurate")
    found = torch.nn.functional.linear_cross_entropy(x.bfloat16(), w.bfloat16(), target, options=options)
    assert found.dtype == torch.bfloat16 and abs(found.item() - exact.item()) < 0.02
    options = torch.nn.LinearCrossEntropyOptions(acc_dtype=torch.float64)
    assert torch.nn.functional.linear_cross_entropy(x, w, target, options=options).dtype == torch.float32


def test_refused_options(torch):
    make = torch.nn.LinearCrossEntropyOptions
    for wrong, words in (
        ({"batch_chunk_size": 0}, "batch_chunk_size must be positive int or None, got 0"),
        ({"batch_chunk_size": -1}, "batch_chunk_size must be positive int or None, got -1"),
        ({"chunking_method": "x"}, "invalid chunking_method: 'x'"),
        ({"chunking_method": "aspect_ratio:0"}, "invalid chunking_method: 'aspect_ratio:0'"),
        ({"acc_policy": "y"}, "invalid acc_policy: 'y'"),
        (
            {"acc_dtype": torch.int32},
            "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got torch.int32",
        ),
    ):
        with pytest.raises(ValueError, match="^" + words.replace("{", r"\{").replace("}", r"\}")):
            make(**wrong)
    assert make() == make() and make(True, 4) != make()
    assert repr(make(True, 4)).startswith(
        "LinearCrossEntropyOptions(allow_retain_graph=True, batch_chunk_size=4, chunking_method='auto', acc_policy='auto'"
    )
    with pytest.raises(AttributeError, match="cannot assign to field"):
        make().batch_chunk_size = 3


@pytest.mark.parametrize("chunked", [False, True])
def test_refused_arguments(torch, chunked):
    x, w, b, target = (t.detach() for t in given(torch))
    options = torch.nn.LinearCrossEntropyOptions() if chunked else None
    for kind, words, args, how in (
        (RuntimeError, "expected input with dimensionality 1 or 2, got 3", (x[None], w, target), {}),
        (RuntimeError, r"expected equal input and linear_weight last dimensions \(in_features\), got 3 and 5", (x[:, :3], w, target), {}),
        (RuntimeError, "expected linear_weight with dimensionality at least 2, got 1", (x, w[0], target), {}),
        (RuntimeError, r"expected linear_bias shape \(7,\), got \(3,\)", (x, w, target), {"linear_bias": b[:3]}),
        (RuntimeError, "K-dimensional loss defined by linear_weight shape", (x[0], w[:, None], target), {}),
        (
            RuntimeError,
            "ignore_index cannot be specified when target contains probabilities",
            (x, w, torch.rand(6, 7)),
            {"ignore_index": 1},
        ),
        (ValueError, "x is not a valid value for reduction", (x, w, target), {"reduction": "x"}),
    ):
        with pytest.raises(kind, match=words):
            torch.nn.functional.linear_cross_entropy(*args, **how, options=options)
