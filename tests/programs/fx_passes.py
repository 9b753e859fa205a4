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


def matching(torch, show, attempt):
    from importlib import import_module

    matcher = import_module(f"{torch.__name__}.fx.passes.utils.matcher_utils").SubgraphMatcher

    def two(x):
        y = torch.relu(x)
        return y, y.neg()

    def kept(a):
        r = torch.relu(a)
        return r.neg() + r

    def once(a):
        s = torch.sin(a)
        return s + s

    def twice(x):
        return torch.relu(torch.relu(x))

    def both(x, y):
        return torch.sin(x), torch.cos(y)

    def chain(a):
        return torch.relu(torch.relu(a).neg()).neg()

    def link(x):
        return torch.relu(x).neg()

    cases = [
        (link, chain, {}),
        (link, chain, {"match_output": True}),
        (link, lambda a: torch.relu(a + 1).neg(), {"match_placeholder": True}),
        (link, link, {"match_placeholder": True, "match_output": True}),
        (link, kept, {}),  # what is inside is used outside
        (twice, lambda a: torch.relu(twice(a)), {}),
        (twice, lambda a: torch.relu(twice(a)), {"remove_overlapping_matches": False}),
        (lambda x: x + 1, lambda a: a + 2, {}),
        (lambda x: x + 1, lambda a: a + 2, {"ignore_literals": True}),
        (lambda x, y: x + y, lambda a: a + 2, {}),
        (lambda x, y: x + y, lambda a: a + a, {}),  # two parameters are two values
        (lambda x, y: torch.sin(x) + torch.cos(y), lambda a: torch.sin(a) + torch.cos(a), {}),
        (two, lambda a: (torch.relu(a), torch.relu(a).neg()), {}),
        (both, lambda a, b: torch.sin(a) + torch.cos(b) + torch.sin(b), {}),
        (both, lambda a: torch.sin(a) + torch.cos(a), {}),
        (lambda x: torch.sin(x) + torch.sin(x), once, {}),
        (once, lambda x: torch.sin(x) + torch.sin(x), {}),
        (lambda x: torch.cat([x, x]), lambda a: torch.cat([a, a]) + torch.cat([a, a + 1]), {}),
        (lambda x: x[1:], lambda a: a[1:] + a[2:], {}),
        (lambda x: torch.flatten(x, 1), lambda a: torch.flatten(a, start_dim=1), {}),
    ]
    for pattern, target, options in cases:
        found = matcher(torch.fx.symbolic_trace(pattern).graph, **options).match(torch.fx.symbolic_trace(target).graph)
        show(len(found))
        for m in found:
            show([str(n) for n in m.anchors], {str(k): str(v) for k, v in m.nodes_map.items()}, m.name_node_map)
            show([str(n) for n in m.placeholder_nodes], [str(n) for n in m.returning_nodes])
    attempt(lambda: matcher(torch.fx.Graph()))


def sizes(torch, show, attempt):
    from importlib import import_module

    s = import_module(f"{torch.__name__}.fx.experimental.symbolic_shapes")
    x = torch.ones(2, 3)
    show(
        s.guard_or_false(3 > 2),
        s.guard_or_true(False),
        s.statically_known_true(True),
        s.statically_known_false(True),
        s.guard_size_oblivious(True),
    )
    show(s.guard_int(3), s.guard_float(2.0), s.guard_bool(False), s.guard_scalar(3), s.expect_true(False))
    for call in (s.guard_or_false, s.guard_int, s.guard_float, s.guard_scalar, s.is_concrete_int, s.statically_known_true):
        attempt(lambda call=call: call("a"))
    show(
        len(s.free_symbols(x)),
        len(s.free_unbacked_symbols([3, x])),
        s.has_free_symbols(3),
        s.has_free_unbacked_symbols(x),
        s.is_symbolic(3),
    )
    show(
        s.has_symbolic_sizes_strides(x),
        s.is_concrete_int(3),
        s.is_concrete_bool(True),
        s.is_nested_int(3),
    )
    show(
        s.sym_and(True, False),
        s.sym_and(True, True),
        s.sym_or(False, True),
        s.sym_eq(3, 3),
        s.sym_eq([1, 2], [1, 3]),
        s.sym_eq((1, 2), (1, 2)),
        s.sym_eq([1], [1, 2]),
    )
    attempt(lambda: s.sym_eq("a", "a"))
    show(s.optimization_hint(3), s.guarding_hint_or_throw(4), s.has_static_value(3), s.constrain_range(3, min=1, max=5))
    attempt(lambda: s.constrain_range(3, min=4))
    s.check_consistent(x, x)
    attempt(lambda: s.check_consistent(x, torch.ones(3, 2)))
    attempt(lambda: s.check_consistent(2, 3))
