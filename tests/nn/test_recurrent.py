"""Recurrent layers beyond what the table, the layer cases and the programs say: larger sizes, threads, dtypes, transforms, derivatives of derivatives."""

import importlib
import itertools
import warnings

import pytest

import retrograd
from retrograd import nn

KINDS = ("RNN", "LSTM", "GRU")


def states(value):
    return value if isinstance(value, tuple) else (value,)


def results(torch, kind, lengths, **options):
    """Outputs, last states and gradients of everything, for sequences of these lengths, packed where they differ."""
    torch.manual_seed(3)
    layer = getattr(torch.nn, kind)(13, 33, **options)
    x = torch.randn(max(lengths), len(lengths), 13, requires_grad=True)
    width = options.get("proj_size", 0) or 33
    count = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    h = torch.randn(count, len(lengths), width, requires_grad=True)
    c = torch.randn(count, len(lengths), 33, requires_grad=True)
    hx = (h, c) if kind == "LSTM" else h
    rnn = importlib.import_module(torch.__name__ + ".nn.utils.rnn")
    if len(set(lengths)) == 1:
        out, last = layer(x.transpose(0, 1) if options.get("batch_first") else x, hx)
    else:
        out, last = layer(rnn.pack_padded_sequence(x, lengths, enforce_sorted=False), hx)
        out, _ = rnn.pad_packed_sequence(out)  # sequences of one length may be packed in any order
    made = [out, *states(last)]
    leaves = [x, *states(hx), *layer.parameters()]
    loss = sum((t * torch.linspace(-1, 1, t.numel()).reshape(t.shape)).sum() for t in made)
    return [t.detach().double().flatten().tolist() for t in (*made, *torch.autograd.grad(loss, leaves))]


OPTIONS = [
    {"num_layers": layers, "bias": bias, "bidirectional": both, "batch_first": first}
    for layers, bias, both, first in itertools.product((1, 2), (True, False), (False, True), (False, True))
]


@pytest.mark.parametrize("lengths", [[7] * 17, [1, 9, 4, 4, 6, 9, 2, 3, 5, 5, 8, 1, 7, 7, 2, 6, 4, 3, 9]], ids=["dense", "packed"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_arguments(oracle, kind, lengths):
    more = [{"proj_size": 5}, {"proj_size": 5, "bidirectional": True, "num_layers": 2}] if kind == "LSTM" else []
    more += [{"nonlinearity": "relu"}] if kind == "RNN" else []
    for options in OPTIONS + more:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch has no fast way for projections, and says so
            want = results(oracle, kind, lengths, **options)
        for got, expected in zip(results(retrograd, kind, lengths, **options), want, strict=True):
            assert got == pytest.approx(expected, rel=2e-4, abs=2e-4), options


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [[6] * 40, [40, *range(20, 1, -1)]], ids=["dense", "packed"])
def test_threads_change_nothing(kind, lengths):
    before, found = retrograd.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            retrograd.set_num_threads(threads)
            found.append(results(retrograd, kind, lengths, bidirectional=True))
    finally:
        retrograd.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2, "bias": False}], ids=str)
def test_gradients_that_have_derivatives_are_the_same(kind, options):
    retrograd.manual_seed(0)
    layer = getattr(nn, kind)(3, 4, dtype=retrograd.float64, **options)
    x = retrograd.randn(5, 2, 3, dtype=retrograd.float64, requires_grad=True)
    leaves = [x, *layer.parameters()]
    plain = retrograd.autograd.grad(layer(x)[0].square().sum(), leaves)
    graphed = retrograd.autograd.grad(layer(x)[0].square().sum(), leaves, create_graph=True)
    for a, b in zip(plain, graphed, strict=True):
        retrograd.testing.assert_close(a, b.detach())
    second = retrograd.autograd.grad(sum(g.square().sum() for g in graphed), leaves)
    assert all(g.isfinite().all() and g.abs().sum() > 0 for g in second)
    assert retrograd.autograd.gradgradcheck(lambda x: layer(x)[0], (x[:2, :1].detach().requires_grad_(),))


@pytest.mark.parametrize("kind", KINDS)
def test_transforms(kind):
    retrograd.manual_seed(0)
    layer = getattr(nn, kind)(3, 4, 2, bidirectional=True, dtype=retrograd.float64)
    xs = retrograd.randn(4, 5, 2, 3, dtype=retrograd.float64)
    retrograd.testing.assert_close(retrograd.func.vmap(lambda x: layer(x)[0])(xs), retrograd.stack([layer(x)[0] for x in xs]))

    sizes = retrograd.tensor([2, 2, 1])
    packed = xs.flatten(1, 2)[:, :5]

    def outputs(data):
        return layer(nn.utils.rnn.PackedSequence(data, sizes))[0].data

    retrograd.testing.assert_close(retrograd.func.vmap(outputs)(packed), retrograd.stack([outputs(data) for data in packed]))

    def loss(x):
        return layer(x)[0].square().sum()

    retrograd.testing.assert_close(
        retrograd.func.vmap(retrograd.func.grad(loss))(xs), retrograd.stack([retrograd.func.grad(loss)(x) for x in xs])
    )
    direction = retrograd.randn_like(xs[0])
    _, forward = retrograd.func.jvp(loss, (xs[0],), (direction,))
    retrograd.testing.assert_close(forward, (retrograd.func.grad(loss)(xs[0]) * direction).sum())


@pytest.mark.parametrize("dtype", [retrograd.float16, retrograd.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_16_bit_numbers_are_rounded_at_the_end(kind, dtype):
    retrograd.manual_seed(0)
    layer = getattr(nn, kind)(5, 6).to(dtype)
    x = retrograd.randn(7, 3, 5).to(dtype).requires_grad_()
    out = layer(x)[0]
    out.sum().backward()
    assert out.dtype == x.grad.dtype == layer.weight_hh_l0.grad.dtype == dtype
    assert out.tolist() == layer.float()(x.detach().float())[0].to(dtype).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_meta(kind):
    layer = getattr(nn, kind)(3, 4, 2, bidirectional=True, device="meta")
    out, last = layer(retrograd.empty(5, 2, 3, device="meta"))
    assert tuple(out.shape) == (5, 2, 8)
    assert [tuple(s.shape) for s in states(last)] == [(4, 2, 4)] * len(states(last))
    assert out.device.type == "meta"


def test_complex_numbers(oracle):
    found = []
    for torch in (retrograd, oracle):
        torch.manual_seed(0)
        x, h = torch.randn(4, 2, 3, dtype=torch.complex128, requires_grad=True), torch.zeros(1, 2, 2, dtype=torch.complex128)
        w = [torch.randn(6, 3, dtype=torch.complex128), torch.randn(6, 2, dtype=torch.complex128)]
        out, _ = torch.gru(x, h, w, False, 1, 0.0, False, False, False)
        (grad,) = torch.autograd.grad(out.abs().sum(), x)
        found.append([torch.view_as_real(t.detach()).flatten().tolist() for t in (out, grad)])
    assert found[0] == [pytest.approx(part, rel=1e-9) for part in found[1]]


def test_training_follows_pytorch(oracle):
    """A small language model; its losses over 50 steps."""
    losses = []
    for torch in (retrograd, oracle):
        torch.manual_seed(1)
        functional, optim = (importlib.import_module(f"{torch.__name__}.{name}") for name in ("nn.functional", "optim"))
        embedding, lstm, head = torch.nn.Embedding(20, 8), torch.nn.LSTM(8, 16, 2), torch.nn.Linear(16, 20)
        optimizer = optim.SGD([*embedding.parameters(), *lstm.parameters(), *head.parameters()], lr=0.5)
        text = torch.arange(12 * 5).reshape(12, 5) * 7 % 20
        found = []
        for _ in range(50):
            optimizer.zero_grad()
            out, _ = lstm(embedding(text[:-1]))
            loss = functional.cross_entropy(head(out).flatten(0, 1), text[1:].flatten())
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        losses.append(found)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert losses[0][-1] < losses[0][0]


@pytest.mark.parametrize("kind", KINDS)
def test_results_may_be_written_to(kind):
    """As PyTorch's of all but LSTMs: an activation in place behind a layer."""
    layer, x = getattr(nn, kind)(3, 4), retrograd.randn(5, 2, 3)
    retrograd.autograd.backward(layer(x)[0].mul(2).sum())
    want = layer.weight_hh_l0.grad.tolist()
    layer.zero_grad()
    out, last = layer(x)
    out.mul_(2)
    for state in states(last):
        state.zero_()
    out.sum().backward()
    assert layer.weight_hh_l0.grad.tolist() == want


def test_weights_are_looked_up_when_they_are_used():
    """A weight that is replaced, as parametrizations and functional_call do, is the one that counts."""
    layer, x = nn.GRU(3, 4), retrograd.randn(5, 2, 3)
    zeros = {name: retrograd.zeros_like(p) for name, p in layer.named_parameters()}
    assert retrograd.func.functional_call(layer, zeros, (x,))[0].abs().sum() == 0
    layer.weight_ih_l0 = nn.Parameter(retrograd.zeros(12, 3))
    assert layer.all_weights[0][0] is layer.weight_ih_l0
    assert retrograd.equal(layer(x)[0], layer(x * 2)[0])
