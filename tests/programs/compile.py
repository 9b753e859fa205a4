"""torch.compile in all its call forms, and what guides it: the same results."""

import copy
import importlib
import pickle


def _part(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


def _model(torch):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = torch.nn.Linear(2, 2)
            self.count = 3

        def forward(self, x):
            return self.l(x).relu() * self.count

        def other(self):
            return 5

    torch.manual_seed(0)
    return Model()


def modules(torch, show):
    model, x = _model(torch), torch.linspace(-1, 1, 4).reshape(2, 2)
    compiled = torch.compile(model, backend="eager")
    show(
        compiled(x),
        type(compiled).__name__,
        compiled._orig_mod is model,
        list(compiled.state_dict()),
        list(dict(compiled.named_parameters())),
    )
    show(repr(compiled), compiled.count, compiled.other(), isinstance(compiled, torch.nn.Module), isinstance(compiled, type(model)))
    compiled.count = 7
    compiled.added = torch.nn.ReLU()
    show(model.count, hasattr(model, "added"), list(compiled._modules), [n for n, _ in compiled.named_modules()], compiled.training)
    del compiled.added
    compiled.eval()
    show(hasattr(model, "added"), model.training, model.l.training, compiled.training)
    compiled.train()
    show(model.training, compiled.training, len(torch.compile(torch.nn.Sequential(torch.nn.ReLU()), backend="eager")))
    compiled(x).sum().backward()
    show(model.l.weight.grad, compiled.l.weight.grad is model.l.weight.grad)


def states(torch, show, attempt):
    model = _model(torch)
    compiled = torch.compile(model, backend="eager")
    attempt(lambda: compiled.load_state_dict(model.state_dict()))
    attempt(lambda: compiled.load_state_dict(compiled.state_dict()))
    copied = copy.deepcopy(compiled)
    show(type(copied).__name__, copied._orig_mod is model, torch.equal(copied(torch.ones(2)), compiled(torch.ones(2))))
    plain = torch.compile(torch.nn.Linear(1, 1), backend="eager")
    show(type(pickle.loads(pickle.dumps(plain))).__name__, list(pickle.loads(pickle.dumps(plain)).state_dict()))


def functions(torch, show):
    def scaled(x, k=2):
        """A doc."""
        return x * k

    x = torch.ones(2)
    for compiled in (
        torch.compile(scaled, backend="eager"),
        torch.compile(backend="eager")(scaled),
        torch.compile(backend="eager", fullgraph=True, dynamic=False)(scaled),
        torch.compile(scaled, backend=lambda graph, examples: graph.forward),
        _part(torch, "compiler").compile(scaled, backend="eager"),
    ):
        show(compiled(x), compiled(x, k=3), compiled.__name__, compiled.__doc__)

    @torch.compile(backend="eager")
    def decorated(x):
        return x.sin() if x.sum() > 0 else x.cos()

    y = torch.ones(2, requires_grad=True)
    decorated(y).sum().backward()
    show(decorated(x), decorated(-x), y.grad, torch.compile(scaled, disable=True) is scaled)
    model = _model(torch)
    model.compile(backend="eager")
    show(model(x), torch.compile(model.forward, backend="eager")(x), list(model.state_dict()))


def bad_arguments(torch, attempt):
    def function(x):
        return x

    x = torch.ones(2)
    attempt(lambda: torch.compile(function, backend="nope")(x))
    attempt(lambda: torch.compile(function, mode="default", options={"a": 1}))
    attempt(lambda: torch.compile(function, mode="nope"))
    attempt(lambda: torch.compile(3))
    attempt(lambda: torch.compile(function, foo=3))


def guidance(torch, show, attempt):
    def function(x):
        return x + 1

    compiler, x = _part(torch, "compiler"), torch.ones(2)
    show(compiler.is_compiling(), compiler.is_dynamo_compiling(), compiler.is_exporting())
    show(compiler.disable(function)(x), compiler.disable(recursive=False)(function)(x), compiler.allow_in_graph(function) is function)
    show(compiler.assume_constant_result(function) is function, compiler.nested_compile_region(function)(x), compiler.get_default_backend())
    compiler.set_default_backend("eager")
    show(compiler.get_default_backend(), torch.compile(function)(x))
    compiler.set_default_backend(None)
    with compiler.set_stance("force_eager"):
        show(torch.compile(function)(x))
    show(compiler.list_backends(), compiler.reset(), compiler.cudagraph_mark_step_begin())
    attempt(lambda: compiler.allow_in_graph(3))
    attempt(lambda: compiler.substitute_in_graph(len)(lambda x: 1))


def dynamo(torch, show, attempt):
    def function(x):
        return x + 1

    dynamo, x = _part(torch, "_dynamo"), torch.ones(2)
    show(dynamo.is_compiling(), dynamo.disable(function)(x), dynamo.optimize("eager")(function)(x), dynamo.OptimizedModule.__name__)
    show(dynamo.eval_frame.OptimizedModule is dynamo.OptimizedModule, dynamo.allow_in_graph(function) is function, dynamo.graph_break())
    show(dynamo.mark_dynamic(x, 0), dynamo.mark_static(x), dynamo.reset(), dynamo.config.suppress_errors, dynamo.config.cache_size_limit)
    with dynamo.config.patch(suppress_errors=True, cache_size_limit=3):
        show(dynamo.config.suppress_errors, dynamo.config.cache_size_limit)
    dynamo.config.suppress_errors = True
    show(dynamo.config.suppress_errors)
    dynamo.config.suppress_errors = False
    attempt(lambda: dynamo.config.nope)
    inductor = _part(torch, "_inductor.config")
    inductor.coordinate_descent_tuning = True
    show(inductor.coordinate_descent_tuning, inductor.triton.cudagraphs, inductor.fallback_random)
    inductor.coordinate_descent_tuning = False
    mode = _part(torch, "_dynamo._trace_wrapped_higher_order_op").TransformGetItemToIndex
    with mode():
        show(torch.arange(6).reshape(2, 3)[torch.tensor(1), torch.tensor([0, 2])])


def watching_ops(torch, show):
    module = _part(torch, "utils._python_dispatch")
    seen = []

    class Counting(module.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.linspace(0, 1, 4).reshape(2, 2)
    with Counting():
        y = (x @ x).sin()
    show(y, torch.ops.aten.mm.default in seen, torch.ops.aten.sin.default in seen, len(seen))
    show(module.is_traceable_wrapper_subclass(x), module._get_current_dispatch_mode())

    class Doubling(module.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is torch.ops.aten.sin.default else result

    with Doubling():
        show(x.sin(), x.cos())


def higher_order(torch, show):
    module = _part(torch, "_higher_order_ops")
    show(module.cond(torch.tensor(True), lambda a: a + 1, lambda a: a - 1, (torch.ones(2),)))
