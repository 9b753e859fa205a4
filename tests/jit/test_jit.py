"""What of torch.jit, torch.compile and what stands around them is this package's own; programs that PyTorch runs too are in tests/programs."""

import io
import sys
import threading
import time
import zipfile

import pytest

import retrograd as torch
from retrograd import _compile, _dynamo, _inductor, compiler, export, futures, jit, nn
from retrograd.utils._python_dispatch import TorchDispatchMode


def test_what_there_is_no_torchscript_for_says_so():
    module, function = jit.script(nn.Linear(2, 2)), jit.script(lambda x: x)
    for ask in (
        lambda: module.code,
        lambda: module.graph,
        lambda: module.graph_for(1),
        lambda: function.code,
        lambda: function.graph,
        lambda: function.graph_for(1),
        lambda: function.save("x"),
        lambda: jit.CompilationUnit("def f(x):\n    return x\n"),
        lambda: jit.export_opnames(module),
    ):
        with pytest.raises(NotImplementedError, match="there is no TorchScript here"):
            ask()


def test_attributes_of_a_module_win():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.graph = nn.Linear(2, 2)
            self.code = 3

        def forward(self, x):
            return self.graph(x) + self.code

    net = Net()
    assert torch.equal(jit.script(net)(torch.ones(2)), net(torch.ones(2)))


def test_a_scripted_module_is_still_what_it_was():
    """Code that looks at the type of a layer, or iterates over a container, goes on working."""
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    scripted = jit.script(model)
    assert (
        isinstance(scripted[0], nn.Linear) and len(scripted) == 2 and [type(m).__name__ for m in scripted] == ["RecursiveScriptModule"] * 2
    )
    shared = nn.ModuleList([layer := nn.Linear(1, 1), layer])
    twice = jit.script(shared)
    assert twice[0] is twice[1]


def test_files():
    buffer = io.BytesIO()
    jit.save(jit.script(nn.Linear(2, 2)), buffer, _extra_files={"a": "b"})
    buffer.seek(0)
    extra = {"a": ""}
    assert jit.load(buffer, _extra_files=extra).weight.shape == (2, 2) and extra == {"a": "b"}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("net/code/__torch__.py", "")
    archive.seek(0)
    with pytest.raises(NotImplementedError, match="TorchScript archive"):
        jit.load(archive)
    other = io.BytesIO()
    torch.save({"weight": torch.ones(1)}, other)
    other.seek(0)
    with pytest.raises(RuntimeError, match=r"not written by torch.jit.save"):
        jit.load(other)
    with pytest.raises(RuntimeError, match="cannot be pickled"):
        torch.save(jit.script(nn.Linear(1, 1)), io.BytesIO())


def test_a_trace_of_a_function_that_fails_is_over():
    def fails(x):
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        jit.trace(fails, torch.ones(1))
    assert not jit.is_tracing()


def test_futures_across_threads():
    future = futures.Future()
    threading.Timer(0.05, lambda: future.set_result(3)).start()
    start = time.perf_counter()
    assert future.wait() == 3 and time.perf_counter() - start < 5
    with pytest.raises(RuntimeError, match="once"):
        future.set_result(4)
    with pytest.raises(RuntimeError, match="no value yet"):
        futures.Future().value()
    waiting = futures.Future()
    both = futures.collect_all([future, waiting])
    assert not both.done()
    waiting.set_result(1)
    assert [f.wait() for f in both.wait()] == [3, 1] and futures.collect_all([]).done()


def test_refusals():
    for ask, words in (
        (lambda: _dynamo.explain(len), "not compiled"),
        (lambda: _inductor.aot_compile(None, ()), "no compiler"),
        (lambda: compiler.load_compiled_function(io.BytesIO()), "cannot be run here"),
        (lambda: export.export(nn.Linear(1, 1), ()), "exported programs"),
        (lambda: export.ExportedProgram(), "exported programs"),
    ):
        with pytest.raises(NotImplementedError, match=words):
            ask()
    with pytest.raises(AttributeError, match="associative_scan is not there"):
        torch._higher_order_ops.associative_scan
    with pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        compiler.set_stance("nope")


def test_registered_backends_are_known(monkeypatch):
    monkeypatch.setattr(_compile, "backends", dict(_compile.backends))

    @_dynamo.register_backend(name="ours")
    def ours(graph, examples):
        raise AssertionError("nothing is compiled")

    assert "ours" in compiler.list_backends() and torch.compile(torch.sin, backend="ours")(torch.zeros(1)) == 0


def test_settings_are_kept():
    _inductor.config.some_new_setting = 3
    assert _inductor.config.some_new_setting == 3
    with _dynamo.config.patch("verbose", True):
        assert _dynamo.config.verbose is True
    assert _dynamo.config.verbose is False


def test_compiled_modules_run_hooks_and_are_quick():
    model = nn.Identity()
    compiled = torch.compile(model)
    heard = []
    compiled.register_forward_hook(lambda module, args, result: heard.append(type(module).__name__))
    model.register_forward_hook(lambda module, args, result: heard.append(type(module).__name__))
    compiled(torch.ones(1))
    assert heard == ["Identity", "OptimizedModule"]


def test_dispatch_modes_nest_and_see_backward():
    class Names(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(func.name)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Names() as outer, Names() as inner:
        x.sin().sum().backward()
    assert "cos" in inner.names and outer.names == inner.names
    with pytest.raises(NotImplementedError, match="__torch_dispatch__"), TorchDispatchMode():
        x + 1


def test_nothing_is_imported_early():
    assert "retrograd.jit" in sys.modules  # by this file
    import subprocess

    code = "import sys, retrograd; print([n for n in sys.modules if n.startswith(('retrograd.jit', 'retrograd.fx', 'retrograd._dynamo', 'retrograd.compiler'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
