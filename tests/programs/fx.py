"""Symbolic tracing: what functions and modules become as graphs, and the code of those."""

import collections
import math
import operator
from typing import Dict, List, Optional, Tuple  # noqa: UP035

_Pair = collections.namedtuple("_Pair", "a b")


def _model_of(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.param = nn.Parameter(torch.arange(12.0).reshape(3, 4))
            self.linear = nn.Linear(4, 5)
            self.seq = nn.Sequential(nn.Linear(5, 5), nn.ReLU())
            self.register_buffer("buf", torch.ones(5))
            self.lst = nn.ModuleList([nn.Tanh()])

        def forward(self, x, y=None, *, z: int = 3):
            a = self.linear(x + self.param).clamp(min=0.0, max=1.0)
            a = self.lst[0](self.seq(a) + self.buf)
            return {"a": a, "b": (a[0], a[:, 1:], a[..., None]), "n": [a.size(0), a.shape]}

    return Block()


def _calling(function, count=1):
    return (lambda x: function(x)) if count == 1 else (lambda x, y: function(x, y))


def a_module(torch, show):
    traced = torch.fx.symbolic_trace(_model_of(torch))
    show(traced.code)
    show(str(traced.graph))
    show(str(traced))
    show(repr(traced))
    show(traced.print_readable(False))
    show(list(traced.state_dict()), type(traced).__name__, traced.training)


def a_module_runs(torch, show):
    torch.manual_seed(3)
    model = _model_of(torch)
    traced, x = torch.fx.symbolic_trace(model), torch.linspace(-1, 1, 12).reshape(3, 4)
    show(traced(x)["a"], traced(x)["n"], traced(x)["b"][1])
    show(torch.equal(traced(x)["a"], model(x)["a"]), traced.linear is model.linear, torch.fx.symbolic_trace(traced).code == traced.code)
    traced(x)["a"].sum().backward()
    show(model.param.grad)


def nodes(torch, show):
    traced = torch.fx.symbolic_trace(lambda x, y=2: torch.relu(x).add(y, alpha=3) @ x)
    for n in traced.graph.nodes:
        show(
            n.name,
            n.op,
            str(n.args),
            str(n.kwargs),
            str(n.type),
            str(list(n.users)),
            str(n.all_input_nodes),
            str(n.prev),
            str(n.next),
            str(n.meta),
        )
        show(str(n.format_node()), n.is_impure(), str(n.stack_trace))
    show([n.target for n in traced.graph.nodes if isinstance(n.target, str)])
    show([n.target is torch.relu for n in traced.graph.nodes], [n.target is operator.matmul for n in traced.graph.nodes])


def operators(torch, show):
    def both(x, y):
        arithmetic = (x + y, x - y, x * y, x / y, x // y, x % y, x**y, x @ y, x & y, x | y, x ^ y, x << y, x >> y)
        return arithmetic, (x < y, x <= y, x > y, x >= y, x == y, x != y), (-x, +x, ~x, abs(x))

    def reflected(x):
        return (1 + x, 1 - x, 2 * x, 2 / x, 2 // x, 2 % x, 2**x, 2 & x, 2 | x, 2 ^ x, 2 << x, 2 >> x, x > 1, x == 1)

    def in_place(x):
        x += 1
        x -= 2
        x *= 3
        x /= 4
        x @= x
        x //= 2
        x **= 2
        x &= 1
        return x

    for function in (both, reflected, in_place):
        show(torch.fx.symbolic_trace(function).code)


def attributes_and_indices(torch, show):
    fx = torch.fx
    show(fx.symbolic_trace(lambda x: (x.T.shape[0], x.dtype, x.device, x.grad.data)).code)
    show(fx.symbolic_trace(lambda x: (x[1:], x[:, 0], x[x > 0], x[1:2, ..., None], x[[0, 1]], x[(0, 1)], x[x.size(0) - 1 :])).code)
    show(fx.symbolic_trace(lambda x: (x.max(dim=0).values, torch.topk(x, 2).indices, x(3))).code)
    show(fx.symbolic_trace(lambda x: (x.new_zeros(3), isinstance(x, torch.Tensor), hasattr(x, "foo"), torch.is_tensor(x))).code)
    show(fx.symbolic_trace(lambda x: (x.view(torch.Size([1, 2])), x.to(torch.device("cuda:0")), f"{x}")).code)


def names(torch, show):
    def f(x):
        add = x + 1
        total = add.sum().abs()
        return total, x.max(), x.type(torch.int), x.is_cuda, (lambda: x.foo())()

    show(torch.fx.symbolic_trace(f).code)
    graph = torch.fx.Graph()
    wanted = [
        "x",
        "x",
        "x_1",
        "1a",
        "foo.bar",
        "None",
        "for",
        "print",
        "self",
        "a~b",
        "x_1",
        "add",
        "Tensor",
        "torch",
        "inf",
        "nan",
        "device",
        "_1",
        "X",
        "fooBar",
        "x_5",
        "x_5",
        "ConvBn2d",
    ]
    show([graph.placeholder(name).name for name in wanted])
    show([graph.call_method(name).name for name in ("add", "__call__", "addBar", "sum", "forward", "_foo")])
    show([graph.call_module(name).name for name in ("layers.0.fooBar", "x", "Conv2D", "0", "0", "layers.0.fooBar")])
    show([graph.call_function(f).name for f in (torch.add, operator.add, math.sqrt, len, print, torch.nn.Linear, lambda x: x)])
    show(
        graph.create_node("call_function", torch.add, name="hello").name,
        graph.create_node("call_function", torch.add, name="Bad Name!").name,
    )


def parameters(torch, show):
    def star(*args, **kwargs):
        return args[0] + kwargs["k"]

    def default(x, y=2.5, z="s", w=(1, 2)):
        return x + y

    def annotated(x: torch.Tensor, y: int = 3) -> torch.Tensor:
        return x + y

    def generics(x: List[torch.Tensor], y: Optional[torch.Tensor] = None, z: Dict[str, int] = {}) -> Tuple[torch.Tensor, int]:  # noqa: B006, UP006, UP045
        return x[0], 1

    def newer(
        x: "list[int]",
        y: torch.Tensor | None = None,
        z: dict[str, int] = {},  # noqa: B006
        a: float = math.inf,
        b: float = math.nan,
    ) -> list[int]:
        return x[0] + a + b

    for function in (star, default, annotated, generics, newer):
        traced = torch.fx.symbolic_trace(function)
        show(traced.code)
        show(str(traced.graph))
    show(torch.fx.symbolic_trace(star)(torch.ones(2), k=3), torch.fx.symbolic_trace(default)(torch.ones(2)))


def constants(torch, show):
    fx = torch.fx
    show(fx.symbolic_trace(lambda x: (x + torch.ones(2), x.to(torch.float64), x.to("cpu"), x.to(torch.device("cpu")))).code)
    show(fx.symbolic_trace(lambda x: (x.to(memory_format=torch.channels_last), math.inf, float("nan"), -0.0, 1e-8, None, True)).code)
    show(fx.symbolic_trace(lambda x: torch.rand(2) + x).code)
    show(fx.symbolic_trace(lambda x: _Pair(x, 1)).code)
    show(fx.symbolic_trace(lambda x: {"k": {"z": [x, (x,)]}, 1: slice(x, None)}).code)
    show(fx.symbolic_trace(lambda x: None).code, fx.symbolic_trace(lambda: 5).code)
    traced = fx.symbolic_trace(lambda x: x + torch.arange(2.0))
    show(traced(torch.ones(2)), list(traced.state_dict()))


def functions(torch, F, show):
    def of_nn(x):
        a = F.relu(x), F.relu(x, inplace=True), F.softmax(x, dim=1), F.dropout(x, 0.3), F.gelu(x), F.linear(x, x), F.layer_norm(x, (2,))
        b = F.max_pool2d(x, 2), F.pad(x, (1, 1)), F.mse_loss(x, x), F.one_hot(x), F.scaled_dot_product_attention(x, x, x, is_causal=True)
        c = (
            F.leaky_relu(x, 0.2),
            F.silu(x),
            F.batch_norm(x, x, x),
            F.cross_entropy(x, x),
            F.interpolate(x, scale_factor=2),
            F.embedding(x, x),
        )
        return a, b, c, (F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1), F.normalize(x), F.group_norm(x, 2), F.log_softmax(x, -1))

    def of_torch(x):
        a = torch.relu(x), torch.flatten(x, 1), torch.cat([x, x], dim=1), torch.stack((x, x)), torch.where(x > 0, x, 0), torch.sum(x, dim=1)
        b = torch.split(x, 2), x.split(2), torch.einsum("ij->ji", x), torch.norm(x), torch.conv2d(x, x, stride=2), torch.matmul(x, x)
        return a, b, torch.linalg.norm(x), torch.fft.fft(x), torch.zeros_like(x), torch.arange(x), torch.meshgrid(x, x, indexing="ij")

    for function in (of_nn, of_torch):
        traced = torch.fx.symbolic_trace(function)
        show(traced.code)
        show([line.split("[target=")[1].split("]")[0] for line in str(traced.graph).splitlines() if "call_function" in line])


def activations_by_name(torch, F, show):
    unary = (
        "celu elu hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish relu relu6 selu sigmoid silu softplus softsign tanh tanhshrink"
    )
    for name in unary.split():
        traced = torch.fx.symbolic_trace(_calling(getattr(F, name)))
        show(traced.code.split("\n")[4], traced(torch.tensor([-0.5, 2.0])))


def losses_by_name(torch, F, show):
    for name in [
        "binary_cross_entropy",
        "huber_loss",
        "mse_loss",
        "poisson_nll_loss",
        "smooth_l1_loss",
        "soft_margin_loss",
    ]:
        traced = torch.fx.symbolic_trace(_calling(getattr(F, name), 2))
        show(traced.code.split("\n")[4], traced(torch.tensor([0.25, 0.5]), torch.tensor([0.5, 1.0])))


def what_cannot_be_traced(torch, attempt):
    def branch(x):
        return x if x.sum() > 0 else -x

    def unpack_rest(x):
        a, *_ = x
        return a

    def assign(x):
        x[0] = 1
        return x

    fx = torch.fx
    cases = [branch, unpack_rest, assign, lambda x: list(x), lambda x: len(x), lambda x: 3 in x, lambda x: float(x), lambda x: int(x)]
    cases += [lambda x: [1, 2][x], lambda x: range(x), lambda x: dict(**x), lambda x: {x: 1}, lambda x: {1, 2}, lambda x: x.to(int)]
    for function in cases:
        attempt(lambda function=function: fx.symbolic_trace(function).code)
    attempt(lambda: fx.symbolic_trace(3))
    relu, weight = torch.nn.ReLU(), torch.nn.Parameter(torch.ones(2))
    attempt(lambda: fx.symbolic_trace(lambda x: relu(x)).code)
    attempt(lambda: fx.symbolic_trace(lambda x: x + weight).code)
    attempt(lambda: fx.symbolic_trace(lambda x, y: x, concrete_args=(1,)).code)


def unpacking(torch, show):
    def f(x):
        a, b = x.chunk(2)
        (c, d), e = a, b
        return c + d * e

    show(torch.fx.symbolic_trace(f).code)


def concrete_arguments(torch, show, attempt):
    def f(x, flag, d):
        return x + d["a"] if flag else x

    fx = torch.fx
    for concrete in ({"flag": True, "d": {"a": 1}}, {"flag": False}, {"flag": True, "d": {"a": fx.PH}}):
        traced = fx.symbolic_trace(f, concrete_args=concrete)
        show(traced.code)
        attempt(lambda traced=traced, flag=concrete["flag"]: traced(torch.ones(2), flag, {"a": 1}))
        attempt(lambda traced=traced, flag=concrete["flag"]: traced(torch.ones(2), not flag, {"a": 1}))
    show(fx.symbolic_trace(lambda x, s, n: x + len(s), concrete_args={"s": "abc", "n": None}).code)
    show(fx.symbolic_trace(lambda x, s: x + s, concrete_args=(fx.PH, 2.5)).code)
    traced = fx.symbolic_trace(lambda x, pair: {"sum": pair[0] + x, "rest": [pair[1]]}, concrete_args={"pair": (fx.PH, fx.PH)})
    show(traced.code, traced(1, (2, 3)))


WRAPPING = """
def helper(x, y):
    return x * y if y else x

fx.wrap("helper")
fx.wrap("len")

@fx.wrap
def decorated(x):
    return len(x)

def uses(x):
    return helper(x, 1), decorated(x), len(x), math.sqrt(x.size(0)), helper(2, 3)
"""


def wrapped_functions(torch, show, attempt):
    scope = {"fx": torch.fx, "math": math, "__name__": "program"}
    exec(WRAPPING, scope)
    traced = torch.fx.symbolic_trace(scope["uses"])
    show(traced.code)
    show(str(traced.graph))
    show(traced(torch.ones(2)), torch.fx.symbolic_trace(traced).code == traced.code)
    show(scope["helper"](3, 4), scope["decorated"]("abc"), len("abc"))
    attempt(lambda: torch.fx.wrap(3))
    attempt(lambda: torch.fx.wrap("here"))


def checks_are_kept(torch, show, attempt):
    def f(x):
        torch._assert(x.sum() > 0, "not positive")
        return x

    traced = torch.fx.symbolic_trace(f)
    show(traced.graph.eliminate_dead_code(), traced.recompile() is not None, traced.code)
    attempt(lambda: traced(torch.ones(2)))
    attempt(lambda: traced(-torch.ones(2)))


def own_tracers(torch, nn, show):
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = nn.Sequential(nn.ReLU())
            self.p = nn.Parameter(torch.ones(1))
            self.d = {"k": self.p}

        def forward(self, x):
            return self.n(x) * self.p + self.d["k"]

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x) + self.inner(x), self.inner.p.shape

    class Telling(torch.fx.Tracer):
        def is_leaf_module(self, m, name):
            show("leaf?", type(m).__name__, name)
            return super().is_leaf_module(m, name)

        def call_module(self, m, forward, args, kwargs):
            show("call", type(m).__name__, str(args))
            return super().call_module(m, forward, args, kwargs)

        def create_proxy(self, kind, target, *rest, **options):
            made = super().create_proxy(kind, target, *rest, **options)
            show("proxy", kind, str(made))
            return made

    tracer, model = Telling(), Outer()
    graph = tracer.trace(model)
    show(str(graph), [n.name for n in graph.nodes], {k: v[0] for k, v in tracer.node_name_to_scope.items()})
    show(torch.fx.GraphModule(model, graph).code)

    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, m, name):
            return True

    show(torch.fx.GraphModule(model, Whole().trace(model)).code)
    show(torch.fx.GraphModule(model.inner, Whole(param_shapes_constant=True).trace(model.inner)).code)
    show([list(n.meta) for n in graph.nodes])


def proxies(torch, show, attempt):
    traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    x = torch.fx.Proxy(next(iter(traced.graph.nodes)))
    show(str(x), str(x + 1), str(x.foo), str(x["a"]), str(x.keys()), str(x(2)), str(x.foo(3, k=x)), type(x.foo).__name__)
    show(str(traced.graph))
    attempt(lambda: bool(x))
    attempt(lambda: list(x))
    attempt(lambda: len(x))
    other = torch.fx.Proxy(next(iter(torch.fx.symbolic_trace(lambda y: y).graph.nodes)))
    attempt(lambda: torch.add(x, other))
    attempt(lambda: torch.ones(2) + x)


def a_model_with_modules_of_all_kinds(torch, nn, show):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
            self.rest = nn.ModuleDict({"drop": nn.Dropout(0.5), "head": nn.Linear(16, 3)})

        def forward(self, x):
            x = torch.flatten(self.features(x), 1)
            return nn.functional.log_softmax(self.rest["head"](self.rest["drop"](x)), dim=1)

    torch.manual_seed(0)
    model = Net().eval()
    traced = torch.fx.symbolic_trace(model)
    show(traced.code, traced.training)
    x = torch.linspace(-1, 1, 32).reshape(2, 1, 4, 4)
    show(traced(x), torch.equal(traced(x), model(x)))
    show(list(traced.state_dict()) == list(model.state_dict()))
