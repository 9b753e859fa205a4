"""Graphs that are built and changed, run node by node, rewritten, copied."""

import copy
import importlib
import operator
import pickle

from tests.programs import says


def _part(torch, name):
    return importlib.import_module(f"{torch.__name__}.fx.{name}")


def _traced_sum(torch):
    return torch.fx.symbolic_trace(lambda x, y: torch.relu(x) + y)


def building(torch, show):
    graph = torch.fx.Graph()
    x = graph.placeholder("x", type_expr=int, default_value=3)
    weight = graph.get_attr("layer.weight")
    called = graph.call_module("layer", (x,), {"k": weight})
    method = graph.call_method("view", (called, [1, (2, x)], slice(0, 1)))
    function = graph.call_function(torch.add, (method, x), {"alpha": 2}, name="total")
    graph.output({"r": function, "l": [x]}, type_expr=dict)
    show(str(graph), len(graph.nodes), str(list(reversed(graph.nodes))), str(graph.output_node()))
    show(graph.python_code("self").src)
    show(graph.python_code("root").src.count("root.layer"))
    show(str(graph.find_nodes(op="placeholder")), str(graph.find_nodes(op="call_function", target=torch.add)))
    show(str(graph.find_nodes(op="call_method", target="view")), str(graph.find_nodes(op="call_module", target="nope")))
    show(x < called, called > x, x <= x, called < weight, str(sorted([function, x, method])))


def inserting(torch, show, attempt):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    end = graph.output(x)
    with graph.inserting_before(end):
        a = graph.call_function(torch.neg, (x,))
        b = graph.call_method("sum", (a,))
    with graph.inserting_after(x):
        graph.get_attr("w")
        graph.get_attr("v")
    with graph.inserting_before():
        graph.placeholder("first")
        graph.placeholder("second")
    end.args = (b,)
    show(str(graph))
    graph.lint()
    other = torch.fx.Graph().placeholder("y")
    attempt(lambda: graph.inserting_before(other))
    attempt(lambda: graph.inserting_after(other))
    attempt(lambda: x.prepend(other))
    attempt(lambda: graph.erase_node(other))
    attempt(lambda: graph.erase_node(x))
    b.prepend(x)
    attempt(graph.lint)
    x.append(a)
    show([n.name for n in graph.nodes])


def arguments_and_users(torch, show, attempt):
    traced = _traced_sum(torch)
    x, y, relu, add, output = traced.graph.nodes
    add.args = (y, y)
    show(str(dict(relu.users)), str(dict(y.users)), str(add.all_input_nodes), type(add.kwargs).__name__, type(relu.args).__name__)
    show(traced.graph.eliminate_dead_code(), traced.graph.eliminate_dead_code(), len(traced.graph.nodes))
    traced.recompile()
    show(traced.code, traced(torch.ones(1), torch.ones(1)))
    show(str(add.replace_all_uses_with(x)), str(dict(x.users)), str(dict(add.users)))
    output.replace_input_with(x, add)
    add.update_arg(1, x)
    add.insert_arg(0, 5)
    add.update_kwarg("alpha", [x, 2])
    show(str(add.args), str(add.kwargs), str(add.all_input_nodes), type(add.kwargs["alpha"]).__name__)
    attempt(lambda: add.insert_arg(9, 1))
    attempt(lambda: add.kwargs["alpha"].append(1))
    attempt(lambda: add.kwargs.update(a=1))
    attempt(lambda: add.kwargs.__setitem__("a", 1))


def replacing_some_uses(torch, show):
    traced = torch.fx.symbolic_trace(lambda x: (x.neg().abs(), x.sin()))
    x = next(iter(traced.graph.nodes))
    with traced.graph.inserting_after(x):
        new = traced.graph.call_function(torch.exp, (x,))
    show(str(x.replace_all_uses_with(new, lambda user: user is not new and user.target != "sin")))
    traced.recompile()
    traced.graph.lint()
    show(traced.code)


def errors(torch, nn, attempt):
    Graph, GraphModule = torch.fx.Graph, torch.fx.GraphModule

    def module_of(build, root):
        graph = Graph()
        build(graph)
        module = GraphModule(root, graph)
        module.graph.lint()
        return module.code

    attempt(lambda: Graph().create_node("foo", "x"))
    attempt(lambda: Graph().call_function("x"))
    attempt(lambda: module_of(lambda g: g.call_module("a.b"), {}))
    attempt(lambda: module_of(lambda g: g.output(g.get_attr("w")), {"w": torch.ones(1)}))
    attempt(lambda: GraphModule(3, Graph()))
    module = GraphModule(nn.Module(), Graph())
    attempt(lambda: setattr(module, "graph", 3))
    attempt(lambda: module())
    attempt(lambda: _part(torch, "node").map_arg(3, 4))

    def foreign(graph):
        graph.output(graph.call_function(torch.add, (graph.placeholder("x"), Graph().placeholder("y"))))

    attempt(lambda: module_of(foreign, {}))


def copying_nodes(torch, show):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.add, (x,), {"other": x})
    y.meta["note"] = 1
    graph.output(y)
    other, values = torch.fx.Graph(), {}
    result = other.graph_copy(graph, values)
    show(str(other), str(result), str(values))
    again = other.node_copy(y, lambda n: values[n])
    show(str(again), again.meta, str(other))
    show(str(torch.fx.Graph().graph_copy(graph, {}, return_output_node=True)))
    copied = copy.deepcopy(graph)
    show(str(copied) == str(graph), copied is graph, [n.meta for n in copied.nodes])
    node = _part(torch, "node")
    show(node.map_aggregate([1, (2, {"a": 3}), slice(1, 2)], lambda v: v), str(node.map_arg((x, 1, [y]), lambda n: n.name)))


def modules_with_state(torch, nn, show):
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
            self.unused = nn.Parameter(torch.ones(1))
            self.register_buffer("kept", torch.ones(2))
            self.register_buffer("hidden", torch.ones(2), persistent=False)

        def forward(self, x):
            return self.a(x) * 3 + self.kept + self.hidden

    torch.manual_seed(1)
    x = torch.ones(2)
    traced = torch.fx.symbolic_trace(M().eval())
    show(list(traced.state_dict()), hasattr(traced, "b"), hasattr(traced, "unused"), traced.graph.owning_module is traced, traced.meta)
    copied, loaded = copy.deepcopy(traced), pickle.loads(pickle.dumps(traced))
    for other in (copied, loaded, copy.copy(traced)):
        show(type(other).__name__, other.code == traced.code, other.graph is traced.graph, torch.equal(other(x), traced(x)), other.training)
        show(list(other.state_dict()), type(other) is type(traced), isinstance(other, torch.fx.GraphModule))
    show(copied.a is traced.a, torch.equal(copied.a.weight, traced.a.weight))
    show(traced.add_submodule("x.y.z", nn.ReLU()), traced.add_submodule("x.y", nn.ReLU()), traced.add_submodule("kept.t", nn.ReLU()))
    show([n for n, _ in traced.named_modules()], traced.delete_submodule("x.y"), traced.delete_submodule("x.nope"))
    traced.delete_all_unused_submodules()
    show([n for n, _ in traced.named_modules()])
    traced.graph = torch.fx.Graph()
    show(traced.code)
    show(str(torch.fx.GraphModule(nn.Module(), torch.fx.Graph(), class_name="Foo")))


def changing_code(torch, show):
    traced = _traced_sum(torch)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is operator.add:
            node.target = operator.mul
    show(traced.code)
    traced.recompile()
    show(traced.code, traced(torch.tensor([2.0]), torch.tensor([5.0])))


@says("While executing %expand")
def interpreting(torch, show, attempt):
    class Telling(torch.fx.Interpreter):
        def run_node(self, n):
            result = super().run_node(n)
            show(n.op, n.name, result)
            return result

        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is torch.relu else target, args, kwargs)

    traced = torch.fx.symbolic_trace(lambda x, y=2: (torch.relu(x) + y).sum())
    show(Telling(traced).run(torch.ones(2)), torch.fx.Interpreter(traced).run(torch.ones(2), 5))
    show(torch.fx.Interpreter(traced).boxed_run([torch.ones(2), 1]))
    relu = traced.graph.find_nodes(op="call_function", target=torch.relu)[0]
    show(torch.fx.Interpreter(traced).run(torch.ones(2), initial_env={relu: torch.full((2,), 7.0)}))
    attempt(lambda: torch.fx.Interpreter(traced).run())
    wrong = torch.fx.symbolic_trace(lambda x: x.expand(5, 3))
    attempt(lambda: torch.fx.Interpreter(wrong).run(torch.ones(2, 3)))
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    show(torch.fx.Interpreter(module).run(-torch.ones(2)), torch.fx.Interpreter(module).fetch_attr("0"))


def transforming(torch, nn, show):
    class Swap(torch.fx.Transformer):
        def call_function(self, target, args, kwargs):
            return torch.neg(*args, **kwargs) if target is torch.relu else super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("cos" if target == "sin" else target, args, kwargs)

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.l, self.p = nn.Linear(2, 2), nn.Parameter(torch.ones(2))

        def forward(self, x, y=2):
            return torch.relu(self.l(x)).sin() * self.p + y

    changed = Swap(torch.fx.symbolic_trace(M())).transform()
    show(changed.code, type(changed).__name__, list(changed.state_dict()))
    show(torch.fx.Transformer(torch.fx.symbolic_trace(M())).transform().code)


def rewriting(torch, nn, show):
    def model(x):
        b = torch.relu(torch.relu(x) + 1) + 1
        return b + torch.relu(b)

    fx = torch.fx
    traced = fx.symbolic_trace(model)
    matches = fx.replace_pattern(traced, lambda x: torch.relu(x) + 1, lambda x: torch.sigmoid(x) * 2)
    show(traced.code, [(str(m.anchor), str(m.nodes_map)) for m in matches], traced(torch.ones(2)))
    cases = [
        (lambda x, w1, w2: torch.cat([x.mm(w1), x.mm(w2)]).sum(), lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b])),
        (lambda x: (x.neg().abs(), x.neg()), lambda x: x.neg().abs(), lambda x: x.abs()),
        (lambda x: x + 1.0 + 2.0, lambda x, y: x + y, lambda x, y: x - y),
        (lambda x: x + 1.0 + 2.0, lambda x: x + 1.0, lambda x: x - 1.0),
        (lambda x, y: torch.add(x, y) + x, lambda a, b: torch.add(a, b), lambda a, b: torch.mul(a, b)),
        (lambda x: x.sin() + x.sin().cos(), lambda x: x.cos(), lambda x: x.tan() * 2),
        (lambda x: x.relu().neg(), lambda x: x.sigmoid(), lambda x: x),
        (lambda x, y: x * x + y * y, lambda x: x * x, lambda x: x.square()),
    ]
    for function, pattern, replacement in cases:
        traced = fx.symbolic_trace(function)
        show(len(fx.replace_pattern(traced, pattern, replacement)), traced.code)
    kept = fx.symbolic_trace(lambda x: (lambda a: (a.abs(), a))(x.neg()))
    show(len(fx.replace_pattern(kept, lambda x: x.neg().abs(), lambda x: x.abs())), kept.code)


def shapes(torch, nn, show, attempt):
    ShapeProp = _part(torch, "passes.shape_prop").ShapeProp
    traced = torch.fx.symbolic_trace(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3)))
    show(tuple(ShapeProp(traced).propagate(torch.ones(5, 1, 4, 4)).shape))
    for n in traced.graph.nodes:
        m = n.meta["tensor_meta"]
        show(n.name, list(m.shape), str(m.dtype), m.requires_grad, m.stride, str(m.memory_format), m.is_quantized, m.qparams)
    attempt(lambda: ShapeProp(traced).propagate(torch.ones(5, 2, 4, 4)))


def immutable(torch, show, attempt):
    collections = _part(torch, "immutable_collections")
    row, table = collections.immutable_list([1, 2]), collections.immutable_dict({"a": 1})
    show(
        str(row),
        str(table),
        hash(row) == hash(collections.immutable_list([1, 2])),
        type(row + [3]).__name__,
        row == [1, 2],
        table == {"a": 1},
    )
    attempt(lambda: row.append(1))
    attempt(lambda: row.sort())
    attempt(lambda: table.pop("a"))
    show(torch.utils._pytree.tree_map(lambda v: v + 1, [row, table]) == [[2, 3], {"a": 2}], type(pickle.loads(pickle.dumps(row))).__name__)


def ops_that_run(torch, show):
    make_fx = _part(torch, "experimental.proxy_tensor").make_fx
    show(make_fx(lambda x: torch.relu(x) @ x.t() + 1)(torch.ones(2, 2)).code)
    traced = make_fx(lambda x, y: [(x * y).sum(), {"k": y.exp()}])(torch.ones(2), torch.ones(2))
    show(traced.code, traced(torch.full((2,), 3.0), torch.ones(2)))
    gradient = make_fx(torch.func.grad(lambda x: (x.sin() * x).sum()))(torch.ones(3))
    show(gradient(torch.linspace(0, 1, 3)))
