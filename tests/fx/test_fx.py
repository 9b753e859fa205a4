"""What of torch.fx is this package's own; programs that PyTorch runs too are in tests/programs/fx.py and fx_graphs.py."""

import math
import pickle
import subprocess
import sys

import pytest

import retrograd as torch
from retrograd import fx, nn
from retrograd.fx.experimental.proxy_tensor import make_fx
from retrograd.nn import functional as F


def test_modules_are_quick_again_after_tracing():
    """Tracing assigns nn.Module.__call__, which takes a slot away from every module class."""
    code = (
        "import retrograd as torch, time\nfrom retrograd import fx, nn\n"
        "m, x = nn.Identity(), torch.ones(2)\n"
        "def best():\n    found = []\n    for _ in range(15):\n        start = time.perf_counter()\n"
        "        for _ in range(3000): m(x)\n        found.append(time.perf_counter() - start)\n    return min(found)\n"
        "before = best()\nfx.symbolic_trace(nn.Sequential(nn.ReLU()))\nprint(best() / before)\n"
    )
    ratio = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert ratio < 1.5


def test_tracing_leaves_nothing_behind_when_it_fails():
    call, find, root = nn.Module.__call__, nn.Module.__getattr__, math.sqrt
    with pytest.raises(fx.proxy.TraceError):
        fx.symbolic_trace(lambda x: 1 if x else 2)
    assert (nn.Module.__call__, nn.Module.__getattr__, math.sqrt) == (call, find, root)
    assert nn.Linear(2, 2)(torch.ones(2)).shape == (2,)


def calling(function):
    return lambda x: function(x)


def test_every_function_of_nn_runs_from_its_code():
    """The text names functions as PyTorch does; those names have to lead to ours."""
    x = torch.linspace(-1, 1, 32).reshape(2, 4, 4)
    for name in ("relu", "gelu", "softplus", "logsigmoid", "softshrink", "hardswish", "normalize", "softmin"):
        traced = fx.symbolic_trace(calling(getattr(F, name)))
        assert torch.equal(traced(x), getattr(F, name)(x)), traced.code
    for function in (torch.linalg.norm, torch.fft.fft, torch.special.expit, torch.special.entr, torch.norm, torch.atleast_2d):
        traced = fx.symbolic_trace(calling(function))
        assert torch.equal(traced(x), function(x)), traced.code


def test_long_graphs():
    """Nothing recurses along the nodes: building, copying, pickling, freeing."""
    graph = fx.Graph()
    value = graph.placeholder("x")
    for _ in range(20_000):
        value = graph.call_function(torch.neg, (value,))
    graph.output(value)
    module = fx.GraphModule(nn.Module(), graph)
    assert len(pickle.loads(pickle.dumps(module)).graph.nodes) == 20_002
    assert torch.equal(fx.Interpreter(module).run(torch.ones(2)), torch.ones(2))


def test_a_write_in_place_is_not_dead():
    """Although nobody uses its result. PyTorch takes it out, and the function computes something else."""

    def function(x):
        x.add_(1)
        F.relu(x, inplace=True)
        return x

    traced = fx.symbolic_trace(function)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    assert torch.equal(traced(torch.zeros(2)), torch.ones(2))


def test_errors_of_generated_code_show_its_lines():
    traced = fx.symbolic_trace(lambda x: torch.relu(x).reshape(5))
    with pytest.raises(RuntimeError, match="invalid for input of size 6") as caught:
        traced(torch.ones(2, 3))
    lines = [str(entry.statement) for entry in caught.traceback]
    assert any("relu.reshape(5)" in line for line in lines)


def test_make_fx_sees_a_whole_step():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def step(x):
        return torch.autograd.grad(model(x).pow(2).mean(), list(model.parameters()))

    traced = make_fx(step)(torch.ones(2, 3))
    x = torch.linspace(-1, 1, 6).reshape(2, 3)
    assert all(torch.equal(a, b) for a, b in zip(traced(x), step(x), strict=True))
    assert "torch.ops.aten.tanh.default" in traced.code
    fx.symbolic_trace(traced)


def test_make_fx_follows_views_and_writes():
    def function(x):
        y = x.clone()
        y[0] += 1
        y.mul_(2)
        first, second = y.split(1)
        return first + second, torch.max(y, 0)[0]

    traced = make_fx(function)(torch.ones(2, 3))
    x = torch.arange(6.0).reshape(2, 3)
    assert all(torch.equal(a, b) for a, b in zip(traced(x), function(x), strict=True))


@pytest.mark.parametrize(
    ("options", "words"), [({"decomposition_table": {1: 2}}, "rewrite the graph"), ({"tracing_mode": "symbolic"}, "one set of shapes")]
)
def test_make_fx_says_what_it_cannot(options, words):
    with pytest.raises(NotImplementedError, match=words):
        make_fx(lambda x: x, **options)


def test_a_folder_of_code(tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    traced = fx.symbolic_trace(model)
    traced.to_folder(tmp_path / "made")
    code = (
        "import sys, retrograd as torch\nfrom retrograd.cli.run import install_as_torch\ninstall_as_torch()\nimport made\n"
        "print(made.FxModule()(torch.ones(2)).tolist())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == str(traced(torch.ones(2)).tolist()), found.stderr


STANDING_IN = """
import torch, torch.fx, torch._dynamo, torch._inductor.config
from torch import nn
from torch.fx._compatibility import compatibility
from torch.nn import functional as F

traced = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
print(traced.code.strip().splitlines()[0], traced(torch.ones(2)).shape)
print(torch.fx.symbolic_trace(lambda x: (torch.numel(x), F.gelu(x), F.relu(x))).code.strip())
print(type(torch.compile(nn.Linear(1, 1))), torch.jit.script(nn.Linear(1, 1)))
"""


def test_standing_in_for_torch(tmp_path):
    (tmp_path / "program.py").write_text(STANDING_IN)
    found = subprocess.run(
        [sys.executable, "-m", "retrograd", "run", "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    for words in (
        "def forward(self, input): torch.Size([2])",
        "numel = torch.numel(x)",
        "gelu = torch._C._nn.gelu(x)",
        "relu = torch.nn.functional.relu(x, inplace = False)",
        "<class 'torch._dynamo.eval_frame.OptimizedModule'> RecursiveScriptModule(original_name=Linear)",
    ):
        assert words in found.stdout, found.stderr


def test_hooks_hear_of_changes():
    traced = fx.symbolic_trace(lambda x: torch.relu(x))
    heard = []
    traced._register_create_node_hook(lambda node: heard.append(("made", node.name)))
    traced._register_erase_node_hook(lambda node: heard.append(("gone", node.name)))
    with traced.graph.inserting_before(traced.graph.output_node()):
        node = traced.graph.call_function(torch.neg, (next(iter(traced.graph.nodes)),))
    traced.graph.erase_node(node)
    assert heard == [("made", "neg"), ("gone", "neg")]


def test_lines_of_the_program_are_recorded_on_demand():
    class Recording(fx.Tracer):
        record_stack_traces = True

    graph = Recording().trace(lambda x: x + 1)
    assert "test_fx.py" in graph.find_nodes(op="call_function")[0].stack_trace
    assert "# File: " in fx.GraphModule({}, graph).print_readable(False)


def test_code_can_be_changed_while_it_is_written():
    traced = fx.symbolic_trace(lambda x: torch.relu(x))
    traced.graph.on_generate_code(lambda before: lambda body: ["print('running')\n", *body])
    traced.recompile()
    assert "print('running')" in traced.code


def test_drawings(monkeypatch):
    """With a stand-in for pydot, which is no part of the tests' environment; without it in words."""
    from retrograd.fx.passes.graph_drawer import FxGraphDrawer
    from retrograd.fx.passes.shape_prop import ShapeProp

    class Part:
        def __init__(self, *names, **more):
            self.names, self.more, self.nodes, self.edges = names, more, [], []

        def add_node(self, node):
            self.nodes.append(node)

        def add_edge(self, edge):
            self.edges.append(edge.names)

    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(RuntimeError, match="pydot"):
        FxGraphDrawer(traced, "net")
    monkeypatch.setitem(sys.modules, "pydot", type("pydot", (), {"Dot": Part, "Node": Part, "Edge": Part}))
    ShapeProp(traced).propagate(torch.ones(4, 2))
    drawing = FxGraphDrawer(traced, "net").get_dot_graph()
    assert drawing.edges == [("input_1", "_0"), ("_0", "_1"), ("_1", "output")]
    label = next(node.more["label"] for node in drawing.nodes if node.names == ("_0",))
    for part in ("op_code=call_module", "Linear", "weight: (3, 2)", "shape=(4, 3)", "in_features=2"):
        assert part in label
    assert FxGraphDrawer(traced, "net").get_all_dot_graphs().keys() == {"net"}


def test_symbols_are_refused_in_words():
    from retrograd.fx.experimental import symbolic_shapes

    with pytest.raises(NotImplementedError, match="torch.fx.experimental.symbolic_shapes.ShapeEnv: there are no symbolic sizes"):
        symbolic_shapes.ShapeEnv()
