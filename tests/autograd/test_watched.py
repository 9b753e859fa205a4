"""Watching changes nothing: with a handler that lets every op pass, training steps give the same bits, write to the same memory, draw the
same random numbers and run the same kernels; and every write is an op that the handler sees. The same holds for transforms that have nothing
to do with the tensors at hand: a level of forward mode that is entered, a tensor that outlived its vmap.

The kernels are what the guarded device was asked for (csrc/testing/guarded.h), call by call, so that nobody watches the run that others are
compared with."""

import contextlib
import pathlib

import pytest

import retrograd as torch
from retrograd import _C, doctor, nn, optim
from retrograd.autograd import forward_ad
from retrograd.nn import functional as F
from retrograd.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from tests.devices.guarded import DEVICE


@pytest.fixture(autouse=True)
def _nobody_else_computes():
    """In a close look the doctor runs ops of its own, on the side."""
    with doctor.off():
        yield


@contextlib.contextmanager
def watching(handler=None):
    seen = []

    def note(op, args, kwargs):
        seen.append(op.name)
        return op(*args, **kwargs)

    _C._push_op_handler(handler or note)
    try:
        yield seen
    finally:
        _C._pop_op_handler()


@contextlib.contextmanager
def beside_a_batched_tensor():
    kept = []
    torch.vmap(lambda x: kept.append(x) or x)(torch.ones(2, device="cpu"))
    yield []


SURROUNDINGS = {
    "alone": lambda: contextlib.nullcontext([]),
    "watched": watching,
    "watched twice": lambda: nested(watching, watching),
    "in forward mode": forward_ad.dual_level,
    "beside a batched tensor": beside_a_batched_tensor,
}


@contextlib.contextmanager
def nested(*managers):
    with contextlib.ExitStack() as stack:
        lists = [stack.enter_context(manager()) for manager in managers]
        yield lists[0]


@contextlib.contextmanager
def made_on(device):
    torch.set_default_device(device)
    try:
        yield
    finally:
        torch.set_default_device(None)


@contextlib.contextmanager
def no_default():
    """Without the mode that tells factories the device: steps of optimizers are made of single calls while a mode sees them."""
    device = torch.get_default_device()
    with made_on(None):
        yield
    torch.set_default_device(device)


def digits(value):
    """Numbers by their digits, tensors with their strides and versions."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape), value.stride(), value._version, [repr(v) for v in value.detach().flatten().tolist()]
    return [digits(v) for v in value] if isinstance(value, (list, tuple)) else repr(value)


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors_in(v)] if isinstance(value, (list, tuple)) else []


def aliasing(value):
    """For each tensor the first with the same memory, and where in it the tensor lies."""
    tensors = tensors_in(value)
    memory = [t.untyped_storage().data_ptr() for t in tensors]
    return [(memory.index(at), t.storage_offset()) for at, t in zip(memory, tensors, strict=True)]


def run(program, device, surroundings):
    """What a program gives and leaves, the kernels of the guarded device that it ran, and the ops that were seen."""
    torch.manual_seed(0)
    _C._guarded_kernels(True)
    with made_on(device), SURROUNDINGS[surroundings]() as seen:
        found = program()
    calls = _C._guarded_kernels(False)
    result = digits([found, torch.get_rng_state()]), aliasing(found)
    return result, calls, seen


def both(program, *without):
    """Compares a program alone with the same in all surroundings, on both devices; the ops that were seen."""
    alone, _, _ = run(program, "cpu", "alone")
    _, expected, _ = run(program, DEVICE, "alone")
    assert expected
    for surroundings in SURROUNDINGS:
        if surroundings not in without:
            assert run(program, "cpu", surroundings)[0] == alone, surroundings
            result, calls, seen = run(program, DEVICE, surroundings)
            assert result == alone, surroundings
            assert calls == expected, surroundings
            assert bool(seen) == ("watched" in surroundings) or surroundings == "in forward mode"
    assert not _C._guarded_faults()
    return run(program, "cpu", "watched")[2]


def test_nothing_below_asks_who_watches():
    """Where ops are computed there is nothing to ask: that is for the dispatch of ops, and for what hands them to handlers."""
    sources = pathlib.Path(__file__).parents[2] / "csrc"
    files = [path for folder in ("core", "autograd", "ops", "cpu") for path in sorted((sources / folder).rglob("*.[ch]*"))]
    assert len(files) > 100
    asks = [
        path.name for path in files if path.name != "state.h" and any(word in path.read_text() for word in (".intercepting", ".handlers"))
    ]
    assert asks == []


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
        with no_default():
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


def test_gradients_of_indexing_and_of_writes_to_views():
    def step():
        x = torch.randn(6, 5, requires_grad=True)
        rows, columns = torch.tensor([0, 0, 2, 5]), torch.tensor([[1], [0], [4], [4], [0], [2]])
        parts = [x.gather(1, columns), x.index_select(0, rows), x[rows, 1], x.take(columns), x.masked_select(x > 0), x[1:4, 2]]
        y = x * 2
        y[1:3] *= x[2:4].sin()
        y[:, 0] = 3
        y.t_()
        sum(p.sin().sum() for p in (*parts, y)).backward()
        return x.grad, y

    assert {"scatter_add_", "index_add_", "index_put_", "put_", "masked_scatter_"} <= set(both(step))


def test_subscripts():
    def step():
        x = torch.arange(60.0).view(3, 4, 5)
        views = [x[1, 2:], x[..., 3], x[0, None, 1:3, ::2], x[2][1], x[:, -1, 4]]
        x[1, 2:] += 1
        return x, views, [v._base is x for v in views], [v._version for v in views]

    both(step)


def test_functions_and_new_tensors_inside_vmap():
    """Who watches inside a vmap does not stand between the level and what belongs to it."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            ran.append(x.shape)
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return 3 * grad * ctx.saved_tensors[0] ** 2

        @staticmethod
        def vmap(info, dims, x):
            rules.append(info.batch_size)
            return Cube.apply(x), dims[0]

    def sample(watch, x):
        def loss(x, weights):
            return (Cube.apply(x) * torch.tensor([1.0, 2.0]).mul_(weights)).sum()

        with watch() as ops:
            return torch.func.grad(loss, argnums=(0, 1))(x, torch.ones(2)), seen.append(ops)

    results = []
    for surroundings in ("alone", "watched"):
        ran, rules, seen = [], [], []
        given = torch.vmap(lambda x, s=surroundings: sample(SURROUNDINGS[s], x)[0])(torch.arange(6.0).view(3, 2))
        results.append((digits(given), ran, rules))
    assert results[0] == results[1]
    assert rules == [3]
    assert {"pow.scalar", "mul_", "sum"} <= set(seen[0])


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

    both(step, "in forward mode")  # where nothing is left out, so that there is no second run

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


class Block(nn.Module):
    """A transformer block of plain layers, with the ops that training steps are made of."""

    def __init__(self, width, out):
        super().__init__()
        self.table = nn.Embedding(11, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=False)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.head = nn.Linear(width, out)
        self.drop = nn.Dropout(0.2)
        self.register_buffer("mask", torch.ones(6, 6).tril().log())

    def attend(self, x):
        q, k, v = self.qkv(self.first(x)).chunk(3, dim=-1)
        weights = (q @ k.transpose(-2, -1) / 4 + self.mask).softmax(-1)
        return self.merge(self.drop(weights) @ v)

    def feed(self, x):
        return self.narrow(self.drop(F.gelu(self.wide(self.second(x)))))

    def forward(self, tokens, recomputed):
        x = self.table(tokens)
        x = x + (checkpoint(self.attend, x, use_reentrant=False) if recomputed else self.attend(x))
        x = x + self.feed(x)
        last = x[:, -1].clone()
        last[:, 2:4] *= 2
        last[torch.tensor([0, 2], device=tokens.device), 1] += 1
        return self.head(last.relu_())


def train(make, *, flat=False, recomputed=False, hooks=False, penalty=False, steps=3):
    """Whole training steps; what they leave behind."""
    net = Block(8, 5)
    params = list(net.parameters())
    log, bucket = [], None
    if flat:  # the gradients are views of one buffer, as for a bucketed all-reduce
        bucket, at = torch.zeros(sum(p.numel() for p in params)), 0
        for p in params:
            p.grad = bucket[at : at + p.numel()].view_as(p)
            at += p.numel()
    kept = [p.grad for p in params]
    if hooks:
        net.narrow.weight.register_hook(lambda g: g * 0.5)
        net.head.register_full_backward_hook(lambda module, grads, outer: log.append(grads[0].clone()))
        net.head.bias.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.clone()))
    optimizer = make(params)
    tokens, wanted = torch.randint(0, 11, (4, 6)), torch.randint(0, 5, (4,))
    total = torch.zeros(())
    with no_default():
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=not flat)
            loss = F.cross_entropy(net(tokens, recomputed), wanted, label_smoothing=0.1)
            if penalty:
                (slope,) = torch.autograd.grad(loss, [net.wide.weight], create_graph=True)
                loss = loss + slope.pow(2).sum()
            loss.backward()
            log.append(nn.utils.clip_grad_norm_(params, 1.0))
            optimizer.step()
            torch.add(total, loss.detach(), out=total)
    same = [p.grad is g for p, g in zip(params, kept, strict=True)] if flat else []
    states = [list(s.values()) for s in optimizer.state.values()]
    return [total, log, params, [p.grad for p in params], [bucket] if flat else [], states, same]


STEPS = {
    "plain": {},
    "flat gradients": {"flat": True},
    "checkpoint": {"recomputed": True},
    "hooks": {"hooks": True},
    "double backward": {"penalty": True},
    "all": {"flat": True, "recomputed": True, "hooks": True, "penalty": True},
}


@pytest.mark.parametrize("name", ["SGD", "momentum", "Adam", "AdamW", "RMSprop"])
@pytest.mark.parametrize("options", STEPS)
def test_whole_steps(name, options):
    seen = both(lambda: train(OPTIMIZERS[name], **STEPS[options]), *["in forward mode"] * ("recomputed" in STEPS[options]))
    step = {"SGD": "_fused_sgd_", "momentum": "_fused_sgd_", "Adam": "_fused_adam_", "AdamW": "_fused_adamw_"}
    assert {"add_", "native_layer_norm_backward", step.get(name, "addcdiv_")} <= set(seen)
    if STEPS[options].get("flat"):
        with watching():
            assert all(train(OPTIMIZERS[name], **STEPS[options])[-1])


@pytest.mark.parametrize("name", ["SGD", "momentum", "Adam", "AdamW"])
def test_every_write_is_seen(name):
    """The versions of parameters, gradients and states move only inside ops that a handler sees, and that say that they write."""
    x = torch.randn(5, 3)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))
    params = list(net.parameters())
    optimizer = OPTIMIZERS[name](params)

    total, narrow = torch.zeros(5, 2), torch.zeros(5, 1)

    def step():
        y = net(x)
        torch.add(total, y.detach(), out=total)
        torch.sum(y.detach(), 1, keepdim=True, out=narrow)
        y.pow(2).sum().backward()
        optimizer.step()

    step()
    step()
    states = [t for s in optimizer.state.values() for t in s.values()]
    watched = [*params, *(p.grad for p in params), *states, total, narrow]
    before, moved, depth = [t._version for t in watched], [0] * len(watched), 0

    def handler(op, args, kwargs):
        nonlocal depth
        depth += 1
        start = [t._version for t in watched]
        try:
            return op(*args, **kwargs)
        finally:
            depth -= 1
            changes = [t._version - v for t, v in zip(watched, start, strict=True)]
            given = [a for p, a in zip(op.parameters, args, strict=True) if p.name in op.mutates]
            writes = {id(t) for t in tensors_in(given)}
            assert all(id(t) in writes for t, change in zip(watched, changes, strict=True) if change), op.name
            if depth == 0:
                moved[:] = [m + c for m, c in zip(moved, changes, strict=True)]

    with watching(handler):
        step()
    after = [t._version for t in watched]
    assert [a - b for a, b in zip(after, before, strict=True)] == moved
    assert all(moved)


def test_out_is_seen():
    writes = []

    def handler(op, args, kwargs):
        if op.mutates:
            writes.append((op.name, [a for p, a in zip(op.parameters, args, strict=True) if p.name in op.mutates]))
        return op(*args, **kwargs)

    x, out, pair = torch.arange(6.0).view(2, 3), torch.empty(0), (torch.empty(0), torch.empty(0, dtype=torch.int64))
    with watching(handler):
        assert torch.add(x, 1, out=out) is out
        assert torch.sum(x, 1, out=out) is out
        assert torch.max(x, 1, out=pair)[0] is pair[0]
        assert torch.zeros(2, 3, out=out) is out
        assert torch.matmul(x, x.t(), out=out) is out
        assert torch.tril_indices(2, 2).shape == (2, 3)
    assert [name for name, _ in writes] == ["add.out", "sum.dim_out", "max.dim_out", "zeros.out", "matmul.out"]
    assert all(given[0] is out or (given[0] is pair[0] and given[1] is pair[1]) for _, given in writes)
    assert out.tolist() == [[5.0, 14.0], [14.0, 50.0]]

    def refuse(op, args, kwargs):
        raise ValueError(op.name)

    with watching(refuse), pytest.raises(ValueError, match=r"^mul\.out$"):
        torch.mul(x, x, out=out)


def test_out_computes_the_same():
    def step():
        x, out, index = torch.randn(17, 33), torch.empty(0), torch.empty(0, dtype=torch.int64)
        results = []
        torch.add(x, x, out=out)
        results.append(out.clone())
        torch.matmul(x, x.t(), out=out.resize_(0))
        torch.max(x, 1, out=(out.resize_(0), index))
        results += [out.clone(), index.clone()]
        torch.randn(5, 4, out=out)
        torch.arange(3, 30, 2, out=index.resize_(0))
        return [*results, out, index]

    both(step)
