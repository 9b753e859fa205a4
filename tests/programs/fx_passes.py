"""Passes over graphs."""


def _three(torch):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.b = torch.nn.Linear(2, 2)
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y):
            z = self.a(x)
            z = torch.relu(z) + y
            w = self.b(z) * self.scale
            v = w + z
            return v.sum(), w

    return torch.fx.symbolic_trace(M())


def splitting(torch, show):
    from importlib import import_module

    split_module = import_module(f"{torch.__name__}.fx.passes.split_module").split_module
    torch.manual_seed(0)
    m = _three(torch)
    x, y = torch.arange(4.0).reshape(2, 2), torch.ones(2, 2)
    for rule in ({"a": 0, "relu": 0, "add": 0}, {"a": 0, "relu": 1, "add": 1, "b": 2}, {"a": "first", "b": "second"}):
        last = [next(iter(rule.values()))]

        def part(node, rule=rule, last=last):
            last[0] = rule.get(node.name, last[0])
            return last[0]

        names = {}
        s = split_module(m, m, part, names)
        show(s.code.strip(), [(n, getattr(s, n).code.strip()) for n, _ in s.named_children()], names)
        show(all(bool(torch.equal(a, b)) for a, b in zip(s(x, y), m(x, y), strict=True)), sorted(n for n, _ in s.named_parameters()))


def managers(torch, show, attempt):
    from importlib import import_module

    base = import_module(f"{torch.__name__}.fx.passes.infra.pass_base")
    manager = import_module(f"{torch.__name__}.fx.passes.infra.pass_manager")

    class Swap(base.PassBase):
        def call(self, graph_module):
            changed = False
            for node in graph_module.graph.nodes:
                if node.target is torch.relu:
                    node.target, changed = torch.tanh, True
            graph_module.recompile()
            return base.PassResult(graph_module, changed)

        def ensures(self, graph_module):
            show("ensures")

    m = _three(torch)
    result = manager.PassManager(passes=[Swap()], steps=2)(m)
    show(result.modified, "tanh" in result.graph_module.code)
    show(Swap()(result.graph_module).modified)
    attempt(lambda: manager.PassManager(passes=[lambda g: None])(m))

    def one(g):
        return base.PassResult(g, False)

    def two(g):
        return base.PassResult(g, False)

    before = manager.this_before_that_pass_constraint(one, two)
    attempt(lambda: manager.PassManager(passes=[two, one], constraints=[before])(m))
    ordered = manager.PassManager(passes=[two, one], constraints=[before])
    attempt(ordered.solve_constraints)
    show([p.__name__ for p in ordered.passes])


def order(torch, show):
    from importlib import import_module

    legalize = import_module(f"{torch.__name__}.fx.passes.tools_common").legalize_graph
    m = _three(torch)
    nodes = {n.name: n for n in m.graph.nodes}
    nodes["b"].append(nodes["a"])
    legalize(m)
    show([n.name for n in m.graph.nodes][:4])
    m.graph.lint()


def fusing(torch, show):
    from importlib import import_module

    optimization = import_module(f"{torch.__name__}.fx.experimental.optimization")
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Dropout(), torch.nn.ReLU()).eval()
    m[1].running_mean.uniform_()
    m[1].running_var.uniform_(1, 2)
    fused = optimization.fuse(m)
    x = torch.rand(1, 1, 4, 4)
    show(torch.allclose(fused(x), m(x), atol=1e-6), [type(c).__name__ for c in fused.modules()][1:], fused.code.strip())
    bare = optimization.remove_dropout(m)
    show(torch.equal(bare(x), m(x)), "2" in bare.code.split("return")[0].replace("input_2", "").replace("_2", ""))


def notes(torch, show):
    from importlib import import_module

    traceback = import_module(f"{torch.__name__}.fx.traceback")
    show(traceback.has_preserved_node_meta())
    with traceback.preserve_node_meta():
        show(traceback.has_preserved_node_meta())
    show(traceback.has_preserved_node_meta(), traceback.get_current_meta())
