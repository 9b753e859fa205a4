"""Lazy modules, and parameters without a size."""

import copy
import importlib
import pickle


def _lazy(torch):
    return importlib.import_module(f"{torch.__name__}.nn.modules.lazy").LazyModuleMixin


def uninitialized_parameters(torch, nn, show, attempt, kind):
    is_lazy = nn.parameter.is_lazy
    p = nn.UninitializedParameter()
    show(
        repr(p),
        p.size(),
        p.dtype,
        p.device,
        p.requires_grad,
        p.is_leaf,
        p.grad,
        p.is_floating_point(),
        is_lazy(p),
        isinstance(p, nn.Parameter),
    )
    attempt(lambda: p.shape)
    attempt(lambda: p.share_memory_())
    for use in (
        lambda: p + 1,
        lambda: p.numel(),
        lambda: p.detach(),
        lambda: torch.sum(p),
        lambda: p.dim(),
        lambda: p.fill_(0),
        lambda: len(p),
        lambda: p == p,
    ):
        kind(use)
    show(copy.deepcopy(p), pickle.loads(pickle.dumps(p)), p.cpu(), p.data, type(p.double()))
    show(p.materialize((2, 3)), type(p), p.shape, p.requires_grad, is_lazy(p))
    kind(lambda: p.materialize((2, 3)))
    p = nn.UninitializedParameter(requires_grad=False, dtype=torch.float64)
    p.materialize((2,))
    show(p.dtype, p.requires_grad)
    p = nn.UninitializedParameter()
    p.materialize((2,), dtype=torch.float16)
    show(p.dtype)


def uninitialized_buffers(torch, nn, show):
    b = nn.UninitializedBuffer()
    show(repr(b), b.requires_grad, b.persistent, isinstance(b, nn.Buffer), nn.UninitializedBuffer(persistent=False).persistent)
    b.materialize((2,))
    show(type(b), b.shape, isinstance(b, nn.Buffer), isinstance(b, nn.Parameter))


def lazy_linear(torch, nn, show):
    torch.manual_seed(0)
    m = nn.LazyLinear(3)
    show(repr(m), m.has_uninitialized_params(), m.state_dict(), list(m.parameters()), m.in_features)
    show(m(torch.ones(2, 5)), type(m), repr(m), m.state_dict(), len(m._forward_pre_hooks), len(m._load_state_dict_pre_hooks))
    show(nn.LazyLinear(3, bias=False)(torch.ones(1, 2)).shape, nn.LazyLinear(0)(torch.ones(1, 2)).shape)
    torch.manual_seed(0)
    whole = nn.Linear(5, 3)
    show(torch.equal(whole.weight, m.weight), torch.equal(whole.bias, m.bias))


def lazy_state(torch, nn, show, attempt):
    m = nn.LazyLinear(3)
    state = nn.Linear(4, 3).state_dict()
    show(m.load_state_dict(state), m, m.has_uninitialized_params())
    m(torch.ones(1, 4))
    show(m, torch.equal(m.weight, state["weight"]))
    attempt(lambda: nn.Linear(4, 3).load_state_dict(nn.LazyLinear(3).state_dict()))
    m = nn.LazyLinear(3)
    show(m.load_state_dict(nn.LazyLinear(3).state_dict()), m.has_uninitialized_params())
    show(copy.deepcopy(m)(torch.ones(1, 2)).shape, pickle.loads(pickle.dumps(m))(torch.ones(1, 2)).shape, m)


def lazy_modules_in_others(torch, nn, show, attempt):
    torch.manual_seed(0)
    m = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(2)).double()
    opt = torch.optim.SGD(m.parameters(), 0.1)
    y = m(torch.ones(1, 3, dtype=torch.float64))
    y.sum().backward()
    opt.step()
    show(m, y, m[0].weight)
    m = nn.LazyLinear(3)
    attempt(lambda: m.share_memory())
    attempt(lambda: m.zero_grad())
    m.reset_parameters()
    show(m.half().weight.dtype, m.eval().training)


def lazy_modules_of_ones_own(torch, nn, show, attempt):
    class Scale(_lazy(torch), nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()
            self.register_buffer("seen", nn.UninitializedBuffer())

        def initialize_parameters(self, x, k=1):
            with torch.no_grad():
                self.weight.materialize(x.shape)
                self.weight.fill_(k)
                self.seen.materialize((1,))
                self.seen.fill_(0)

        def forward(self, x, k=1):
            return x * self.weight

    m = Scale()
    show(m(torch.ones(2), k=3), type(m), m.state_dict(), m(torch.ones(2), k=5))

    class Unfinished(_lazy(torch), nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.UninitializedParameter()

    attempt(lambda: Unfinished()(torch.ones(1)))
    Unfinished.initialize_parameters = lambda self, x: None
    attempt(lambda: Unfinished()(torch.ones(1)))
