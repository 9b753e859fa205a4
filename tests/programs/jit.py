"""TorchScript's entrances: modules and functions that are scripted or traced compute what they did."""

import copy
import io
from typing import Dict, List, Optional, Tuple  # noqa: UP035


def _model(torch):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = torch.nn.Linear(2, 2)
            self.seq = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
            self.register_buffer("scale", torch.full((3,), 2.0))
            self.count = 3

        def forward(self, x):
            return self.seq(self.l(x).relu()) * self.scale + self.count

    torch.manual_seed(0)
    return Model()


def scripted_modules(torch, show):
    model, x = _model(torch), torch.linspace(-1, 1, 4).reshape(2, 2)
    scripted = torch.jit.script(model)
    show(scripted(x).tolist(), torch.equal(scripted(x), model(x)), type(scripted).__name__, isinstance(scripted, torch.jit.ScriptModule))
    show(list(scripted.state_dict()), scripted.l.weight is model.l.weight, scripted.original_name, scripted.count)
    show(repr(scripted), [n for n, _ in scripted.named_modules()], torch.jit.script(scripted) is scripted)
    scripted.count = 4
    scripted.eval()
    show(model.count, model.training, scripted.training, scripted.l.training, model.l.training)
    scripted(x).sum().backward()
    show(model.l.weight.grad)
    copied = copy.deepcopy(scripted)
    show(type(copied).__name__, torch.equal(copied(x), scripted(x)), copied.l.weight is scripted.l.weight)


def scripted_functions(torch, show):
    def scaled(x: torch.Tensor, k: int = 2) -> torch.Tensor:
        """A doc."""
        return x * k

    function = torch.jit.script(scaled)
    show(function(torch.ones(2)), function(torch.ones(2), k=3), function.name, function.__doc__)
    show(isinstance(function, torch.jit.ScriptFunction), torch.jit.script(function) is function)


def marks(torch, nn, show):
    class Marked(nn.Module):
        def forward(self, x):
            return x + 1

        @torch.jit.export
        def other(self, x):
            return x + 5

        @torch.jit.ignore
        def ignored(self):
            return 6

        @torch.jit.unused
        def never(self):
            return 7

    scripted = torch.jit.script(Marked())
    show(scripted(torch.ones(1)), scripted.other(torch.ones(1)), scripted.ignored(), Marked().never())

    def function(x):
        return x

    show(torch.jit.ignore(function) is function, torch.jit.ignore(drop=True)(function) is function, torch.jit.unused(function) is function)
    show(torch.jit.export(function) is function, torch.jit.is_scripting(), torch.jit.is_tracing())


def traced(torch, show, kind):
    seen = []

    def function(x, k=2):
        seen.append(torch.jit.is_tracing())
        return x * k

    model, x = _model(torch), torch.linspace(-1, 1, 4).reshape(2, 2)
    of_model, of_function = torch.jit.trace(model, x), torch.jit.trace(function, (x,))
    show(of_model(x).tolist(), list(of_model.state_dict()), of_model.original_name, isinstance(of_model, torch.jit.ScriptModule))
    show(of_function(x), isinstance(of_function, torch.jit.ScriptFunction), seen[0], torch.jit.is_tracing())
    show(torch.jit.trace(model, example_kwarg_inputs={"x": x})(x).shape, torch.jit.trace_module(model, {"forward": x})(x).shape)
    kind(lambda: torch.jit.trace(model))
    show(torch.jit.script_if_tracing(function)(x, 3))


def questions(torch, show):
    isinstance_ = torch.jit.isinstance
    x = torch.ones(1)
    show(isinstance_([1], List[int]), isinstance_(["a"], List[int]), isinstance_({"a": [x]}, Dict[str, List[torch.Tensor]]))  # noqa: UP006
    show(isinstance_(None, Optional[int]), isinstance_((1, "a"), Tuple[int, str]), isinstance_((1, 2), Tuple[int, str]))  # noqa: UP006, UP045
    show(isinstance_(3, int), isinstance_(3, (str, int)), isinstance_([], List[int]), isinstance_(3, str))  # noqa: UP006
    show(torch.jit.annotate(List[int], [1]), torch.jit.Attribute(1, int).value)  # noqa: UP006
    show(torch.jit.TracerWarning.__mro__[1].__name__, torch.jit.Error.__mro__[1].__name__)


def script_modules_by_hand(torch, nn, show):
    class Scripted(torch.jit.ScriptModule):
        __constants__ = ["k"]

        def __init__(self):
            super().__init__()
            self.k = 3
            self.a = torch.jit.Attribute(2, int)
            self.p = nn.Parameter(torch.ones(2))

        @torch.jit.script_method
        def forward(self, x):
            return x * self.k + self.a + self.p

    module = Scripted()
    show(module(torch.ones(2)), module.a, list(module.state_dict()))


def freezing(torch, attempt):
    model, x = _model(torch), torch.ones(2)
    attempt(lambda: torch.jit.freeze(model))
    attempt(lambda: torch.jit.freeze(torch.jit.script(model)))
    attempt(lambda: torch.jit.freeze(torch.jit.script(model.eval()))(x).shape)
    attempt(lambda: torch.jit.optimize_for_inference(torch.jit.script(model.eval()))(x).shape)


def saving(torch, show, kind):
    model, x, file = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()).eval(), torch.ones(1, 2), io.BytesIO()
    torch.jit.save(torch.jit.script(model), file)
    file.seek(0)
    loaded = torch.jit.load(file)
    show(torch.equal(loaded(x), model(x)), isinstance(loaded, torch.jit.ScriptModule), list(loaded.state_dict()), loaded.training)
    kind(lambda: torch.jit.save(model, io.BytesIO()))


def forking(torch, show, attempt):
    future = torch.jit.fork(torch.add, torch.ones(2), torch.ones(2))
    show(torch.jit.wait(future), torch.jit.wait(torch.jit.fork(lambda a, b=1: a + b, 3, b=4)))

    def fails():
        raise ValueError("inside")

    attempt(lambda: torch.jit.wait(torch.jit.fork(fails)))


def futures(torch, show, attempt):
    import importlib

    module = importlib.import_module(f"{torch.__name__}.futures")
    future, heard = module.Future(), []
    following = future.then(lambda f: f.wait() + 1)
    future.add_done_callback(lambda f: heard.append(f.value()))
    show(future.done(), following.done())
    future.set_result(4)
    show(future.done(), future.wait(), following.wait(), heard)
    failed = module.Future()
    failed.set_exception(ValueError("no"))
    attempt(failed.wait)
    show(module.wait_all([future, following]), len(module.collect_all([future, following]).wait()))
    attempt(lambda: module.Future().set_exception(3))
