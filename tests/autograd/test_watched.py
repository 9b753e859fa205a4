"""Watching changes nothing: with a handler that lets every op pass, training steps give the same bits, write to the same memory, and draw the same random numbers."""

import contextlib

import pytest

import retrograd as torch
from retrograd import _C, nn, optim
from retrograd.nn import functional as F
from retrograd.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts


@contextlib.contextmanager
def watching():
    seen = []

    def handler(op, args, kwargs):
        seen.append(op.name)
        return op(*args, **kwargs)

    _C._push_op_handler(handler)
    try:
        yield seen
    finally:
        _C._pop_op_handler()


def digits(value):
    """Numbers by their digits, tensors with their strides and versions."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value._version, [repr(v) for v in value.detach().flatten().tolist()]
    return [digits(v) for v in value] if isinstance(value, (list, tuple)) else repr(value)


def both(program):
    """What a program gives without and with somebody who watches, and the ops that were seen."""
    results = []
    for context in (contextlib.nullcontext([]), watching()):
        torch.manual_seed(0)
        with context as seen:
            found = program()
        results.append(digits([found, torch.get_rng_state()]))
    assert seen
    assert results[0] == results[1]
    return seen


def model():
    return nn.Sequential(
        nn.Linear(20, 33), nn.GELU(), nn.LayerNorm(33), nn.Dropout(0.3), nn.Linear(33, 33), nn.Tanh(), nn.RMSNorm(33), nn.Linear(33, 5)
    )  # fmt: skip


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.01),
    "momentum": lambda p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True, weight_decay=0.1),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True, maximize=True),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_steps(name, dtype):
    def train():
        net = model().to(dtype)
        optimizer = OPTIMIZERS[name](net.parameters())
        x, y = torch.randn(17, 20, dtype=dtype), torch.randint(0, 5, (17,))
        losses = []
        for step in range(4):
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            for _ in range(2):
                loss = F.cross_entropy(net(x), y)
                loss.backward()
            losses.append(loss.item())
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
        states = [list(s.values()) for s in optimizer.state.values()]
        return losses, list(net.parameters()), [p.grad for p in net.parameters()], states

    both(train)


def test_steps_are_seen():
    x = torch.ones(3, requires_grad=True)
    optimizer = optim.Adam([x], lr=0.1)
    for _ in range(2):
        x.grad = torch.ones(3)
        with watching() as seen:
            optimizer.step()
    assert seen == ["_fused_adam_"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_layer_norm(dtype):
    def step():
        x = torch.randn(7, 5, 33, dtype=dtype, requires_grad=True)
        weight, bias = (torch.randn(33, dtype=dtype, requires_grad=True) for _ in "12")
        F.layer_norm(x, (33,), weight, bias).sin().sum().backward()
        only = torch.randn(4, 33, dtype=dtype, requires_grad=True)
        F.layer_norm(only, (33,), weight.detach()).sin().sum().backward()
        return x.grad, weight.grad, bias.grad, only.grad

    assert both(step).count("native_layer_norm_backward") == 2


def test_gradients_stay_where_they_are():
    def step():
        flat = torch.zeros(12)
        x = torch.arange(12.0).reshape(4, 3).requires_grad_()
        x.grad = grad = flat.view(4, 3)
        for _ in range(3):
            (x * x.exp().cos() + x).sum().backward()
        return x.grad is grad, flat, grad

    assert "add_" in both(step)
    with watching():
        assert step()[0]


def test_gradients_of_other_kinds():
    def step():
        results = []
        x, y = (torch.ones(2, 3, requires_grad=True) for _ in "12")
        x.grad = torch.zeros(2, 3).expand(2, 3)
        y.grad = torch.zeros(2, 3)
        y.grad.requires_grad_()
        for t in (x, y):
            grad = t.grad
            (t * 3).sum().backward()
            (t * 2).sum().backward()
            results += [t.grad is grad, t.grad.detach().clone()]
        return results

    both(step)


def test_sums_of_gradients_inside_the_graph():
    def step():
        x = torch.randn(6, 5, requires_grad=True)
        a = x * 2
        b = (a.t() * torch.randn(5, 6)).t().contiguous().sin() + a @ torch.randn(5, 5)
        (b + a.expand(3, 6, 5).cos().sum(0) + a[:, torch.tensor([0, 0, 2, 3, 1])]).sum().backward()
        return x.grad

    both(step)


def test_hooks_and_retained_gradients():
    def step():
        log = []
        x, w = torch.randn(5, requires_grad=True), torch.randn(5, 5, requires_grad=True)
        y = w @ x
        y.register_hook(lambda g: log.append(g.clone()) or g * 2)
        y.retain_grad()
        x.register_post_accumulate_grad_hook(lambda p: log.append((p.grad.clone(), p.grad._version)))
        for _ in range(3):
            y.sin().sum().backward(retain_graph=True)
        return log, y.grad, x.grad, w.grad

    both(step)


def test_double_backward():
    def step():
        net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.LayerNorm(16), nn.Linear(16, 1))
        x = torch.randn(11, 5, requires_grad=True)
        (g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
        g.pow(2).sum().backward()
        return x.grad, [p.grad for p in net.parameters()]

    both(step)


@pytest.mark.parametrize("keep", [None, ["native_dropout"], ["addmm"], ["native_layer_norm", "rand_like"]])
def test_checkpoints(keep):
    def block(x, net):
        return net(torch.native_dropout(x, 0.5, True)[0]) * torch.rand_like(x)

    def step():
        net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 8))
        x = torch.randn(6, 8, requires_grad=True)
        options = {"context_fn": lambda: create_selective_checkpoint_contexts(keep)} if keep else {}
        for _ in range(2):
            checkpoint(block, x, net, use_reentrant=False, **options).sin().sum().backward()
        return x.grad, [p.grad for p in net.parameters()]

    both(step)

    def without():
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 8))
        x = torch.randn(6, 8, requires_grad=True)
        for _ in range(2):
            block(x, net).sin().sum().backward()
        return digits([x.grad, [p.grad for p in net.parameters()]])

    torch.manual_seed(0)
    assert digits(step()) == without()


def test_dropouts_of_any_layout():
    def step():
        results = []
        x = torch.randn(6, 4, 5, 5).permute(2, 0, 3, 1).requires_grad_()
        for f in (F.dropout, F.dropout2d, F.alpha_dropout, F.feature_alpha_dropout):
            x.grad = None
            y = f(x, 0.3, training=True)
            y.sum().backward()
            results += [y, x.grad]
        results.append(torch.dropout(x, 0.4, True))
        return results

    both(step)


def test_without_gradients():
    def step():
        results = []
        with torch.no_grad():
            for shape in ((1, 4), (3, 5), (17, 33), (64, 128), (2, 3, 40), (0, 4)):
                for bias in (True, False):
                    results.append(nn.Linear(shape[-1], 19, bias=bias)(torch.randn(*shape)))
        return results

    both(step)
