"""viz.graph: what it reads of a graph, how it groups and lays it out, and the forms it gives."""

import gc
import math
import re
import weakref
import xml.etree.ElementTree
from pathlib import Path

import pytest

import retrograd as torch
from retrograd import nn, viz
from retrograd.viz import _layout


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, blocks=2, width=4):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(blocks)])
        self.head = nn.Linear(width, 3)

    def forward(self, codes):
        x = self.embed(codes)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_of(model):
    return model(torch.tensor([[1, 2], [3, 4]])).square().mean()


def named(graph, name):
    return [node for node in graph.nodes if node.name == name]


# -- reading --------------------------------------------------------------------


def test_nodes_come_inputs_first_with_lines_and_saved_tensors():
    x = torch.ones(2, 3, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    loss = (x * w).exp().sum()
    graph = viz.graph(loss, names={"x": x, "w": w})
    assert [node.name for node in graph.nodes] == ["AccumulateGrad", "AccumulateGrad", "MulBackward0", "ExpBackward0", "SumBackward0"]
    assert all(a < b for a, b in graph.edges) and len(graph.edges) == 4
    assert [(n.label, n.sizes) for n in graph.nodes[:2]] == [("x", "[2, 3]"), ("w", "[3]")]
    mul, exp = graph.nodes[2:4]
    assert [(s.words, s.parameter) for s in mul.saved] == [("[3] float32", True), ("[2, 3] float32", True)] and mul.bytes == 0
    assert [(s.name, s.bytes, s.parameter) for s in exp.saved] == [("result", 24, False)] and exp.bytes == 24 == graph.total_saved
    assert exp.site is not None and exp.site[0] == __file__
    assert "names={" in Path(__file__).read_text().splitlines()[exp.site[1]]  # the line after the one that made it


def test_memory_that_two_nodes_share_counts_once():
    x = torch.ones(8, requires_grad=True)
    y = x.exp()
    graph = viz.graph((y * y.sin()).sum())
    assert (
        graph.total_saved == 3 * 32 - 32 and sum(node.bytes for node in graph.nodes) > graph.total_saved
    )  # y, sin(y): y is saved three times


def test_a_backward_frees_and_a_write_is_told():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    loss = y.sum()
    y.detach().zero_()
    assert "written to" in viz.graph(loss).nodes[1].saved[0].words
    loss = x.exp().sum()
    loss.backward()
    graph = viz.graph(loss)
    assert graph.nodes[1].saved[0].words == "freed by backward" and graph.total_saved == 0
    assert graph.nodes[0].norm() == pytest.approx(math.sqrt(3) * math.e)


def test_custom_functions_and_hooks():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    x = torch.ones(4, requires_grad=True)
    y = x.exp()
    custom = named(viz.graph(Double.apply(y)), "DoubleBackward")[0]
    assert custom.custom and custom.bytes == 16 and custom.saved[0].name == "saved_tensors[0]"
    unpacked = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: ("packed", t.shape), unpacked.append):
        z = x.exp()
    saved = viz.graph(z).nodes[-1].saved
    assert saved[0].words == "kept by a hook, as tuple" and unpacked == []


def test_a_checkpoint_is_not_run_again():
    from retrograd.utils.checkpoint import checkpoint

    runs = []

    def body(x):
        runs.append(1)
        return x.exp().sin()

    x = torch.ones(4, requires_grad=True)
    viz.graph(checkpoint(body, x, use_reentrant=False).sum()).html()
    assert runs == [1]


def test_several_tensors_one_of_them_inside_the_other():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    graph = viz.graph([y.sum(), y, x])
    assert [n.name for n in graph.nodes] == ["AccumulateGrad", "ExpBackward0", "SumBackward0"] and all(a < b for a, b in graph.edges)
    assert [n.name for n in viz.graph([y, y.sum()]).nodes] == [n.name for n in graph.nodes]


def test_norms_of_every_node_when_asked_for():
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    loss = (2 * x).sum()
    graph = viz.graph(loss, gradients=True)
    assert [node.norm() for node in graph.nodes] == [None] * 3 and '"norm"' in graph.html()
    loss.backward()
    assert [node.norm() for node in graph.nodes] == pytest.approx([math.sqrt(8), math.sqrt(2), 1.0])
    assert "gradient norm 2.828" in graph.html()
    with torch.no_grad():
        x.grad[0] = float("nan")
    assert '"nan"' in graph.html()


def test_sparse_gradients_have_norms():
    table = nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1])).sum().backward()
    assert viz._collect.norm_of(table.weight.grad) == pytest.approx(math.sqrt(8))


def test_the_graph_is_not_kept_alive():
    x = torch.ones(2, requires_grad=True)
    loss = x.exp().sum()
    graph, node = viz.graph(loss, gradients=True), weakref.ref(loss.grad_fn)
    before = torch._C._live_objects()[1]
    del loss
    gc.collect()
    assert node() is None and torch._C._live_objects()[1] <= before - 2
    leaf = weakref.ref(x)
    del x
    gc.collect()
    assert leaf() is None and graph.nodes[0].norm() is None and "AccumulateGrad" in graph.html()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: viz.graph(torch.ones(2)), RuntimeError, "has no graph to show"),
        (lambda: viz.graph(3), TypeError, "not iterable"),
        (lambda: viz.graph(["loss"]), TypeError, "expected a tensor or several, got str"),
        (lambda: viz.graph([]), ValueError, "no tensor"),
        (lambda: viz.watch(3), TypeError, "expected an nn.Module, got int"),
        (lambda: viz.graph(torch.ones(1, requires_grad=True)).save("graph.png"), ValueError, "has to end in .html"),
        (lambda: viz.graph(torch.ones(1, requires_grad=True)).save("/no/such/place/graph.svg"), OSError, "No such file"),
    ],
)
def test_refusals(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


# -- modules --------------------------------------------------------------------


def test_watched_modules_are_exact():
    model = Net()
    with viz.watch(model):
        loss = loss_of(model)
    graph = viz.graph(loss, model=model)
    assert [n.module for n in named(graph, "TanhBackward0")] == ["blocks.0", "blocks.1"]
    assert [n.module for n in named(graph, "NativeLayerNormBackward0")] == ["blocks.0.norm", "blocks.1.norm"]
    assert [n.module for n in named(graph, "EmbeddingBackward0")] == ["embed"] and named(graph, "MeanBackward0")[0].module == ""
    assert all(n.module == n.label.rpartition(".")[0] for n in named(graph, "AccumulateGrad"))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with torch.inference_mode(), viz.watch(model):  # nothing to note, and nothing to fail
        loss_of(model)
    assert set(graph.tree.paths) >= {"blocks", "blocks.0", "blocks.0.norm", "head"} and "Block" in graph.tree.classes


def test_a_watched_forward_that_fails_leaves_no_hooks():
    model = Net()
    with pytest.raises(IndexError), viz.watch(model):
        model(torch.tensor([[99]]))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_parameters_tell_modules_too():
    model = Net()
    graph = viz.graph(loss_of(model), model=model)
    assert [n.module for n in named(graph, "NativeLayerNormBackward0")] == ["blocks.0.norm", "blocks.1.norm"]
    assert [n.module for n in named(graph, "TanhBackward0")] == ["blocks.0", "blocks.1"]
    assert [n.module for n in named(graph, "AddmmBackward0")] == [f"blocks.{i}.{part}" for i in (0, 1) for part in ("up", "down")] + [
        "head"
    ]


# -- layout ---------------------------------------------------------------------


def boxes_of(graph, depth=None):
    tree = graph.tree
    from retrograd.viz._draw import widths_of

    return tree, _layout.place(tree, widths_of(graph), tree.folded_below(depth))


def test_members_stand_inside_their_module_and_apart():
    model = Net()
    with viz.watch(model):
        loss = loss_of(model)
    tree, boxes = boxes_of(viz.graph(loss, model=model))
    for member, parent in enumerate(tree.parent[:-1]):
        x, y, w, h = boxes[member]
        px, py, pw, ph = boxes[parent]
        assert px <= x and py <= y and x + w <= px + pw + 1e-6 and y + h <= py + ph + 1e-6
    for members in tree.members.values():
        placed = [boxes[m] for m in members]
        for i, (x, y, w, h) in enumerate(placed):
            for ox, oy, ow, oh in placed[:i]:
                assert x + w <= ox or ox + ow <= x or y + h <= oy or oy + oh <= y
    for a, b in tree.edges:  # and lines go down
        assert boxes[a][1] + boxes[a][3] <= boxes[b][1]


def test_a_module_that_is_used_twice_goes_around_in_a_circle():
    inner = nn.Linear(3, 3)
    model = nn.ModuleDict({"a": inner, "b": nn.Linear(3, 3)})
    with viz.watch(model):
        loss = model["a"](torch.relu(model["b"](model["a"](torch.ones(1, 3))))).sum()
    graph = viz.graph(loss, model=model)
    assert graph.svg().count("<rect") == len(graph.nodes) + 2


def test_apart_keeps_order_and_gaps():
    widths, wanted = [10.0, 20.0, 30.0], [5.0, 0.0, 100.0]
    at = _layout.apart(widths, wanted, [1.0, 1.0, 1.0])
    gap = _layout.GAP_ACROSS
    assert at[1] - at[0] == pytest.approx(15 + gap) and at[2] == 100.0 and at[0] + at[1] == pytest.approx(5.0)


def test_a_wide_row_is_broken():
    leaves = [torch.ones(1, requires_grad=True) for _ in range(3000)]
    tree, boxes = boxes_of(viz.graph(torch.stack(leaves).sum()))
    assert boxes[tree.root][2] < 200 * 110 and len(tree.rows[tree.root]) > 20


def test_fifty_thousand_deep_takes_no_recursion():
    y = x = torch.ones(1, requires_grad=True)
    for _ in range(50_000):
        y = y * 1.5
    graph = viz.graph(y)
    assert len(graph.nodes) == 50_001
    page = graph.html()
    assert len(page) < 5_000_000 and graph.dot().count("->") == 50_000
    del y, graph
    assert x.grad is None


# -- forms ----------------------------------------------------------------------


def test_dot_and_svg_are_well_formed(tmp_path):
    model = Net()
    with viz.watch(model):
        loss = loss_of(model)
    graph = viz.graph(loss, model=model)
    text = graph.dot()
    assert text.count("{") == text.count("}") and text.count("subgraph") == len(graph.tree.paths) and text.count("->") == len(graph.edges)
    assert '"blocks.0.up (Linear)"' in text and f"{__file__}:" in text
    root = xml.etree.ElementTree.fromstring(graph.svg())
    texts = {t.text for t in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"EmbeddingBackward0", "head.weight", "blocks.1.norm (LayerNorm)"} <= texts
    folded = {t.text for t in xml.etree.ElementTree.fromstring(graph.svg(depth=1)).iter("{http://www.w3.org/2000/svg}text")}
    assert "blocks.0 (Block)" not in graph.svg(depth=0) and "blocks (ModuleList)" in folded and "TanhBackward0" not in folded
    for name in ("g.svg", "g.dot", "g.html"):
        graph.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_hostile_names_stay_text():
    x = torch.ones(1, requires_grad=True)
    bad = '</script><script>alert("x")</script>\\'
    graph = viz.graph((x * 2).sum(), names={bad: x}, title=bad)
    page = graph.html()
    assert page.count("<script") == 2 and "alert(" in page and not re.search(r"<script>alert", page)
    xml.etree.ElementTree.fromstring(graph.svg())
    assert '\\"x\\"' in graph.dot()


def test_the_page_stands_alone():
    page = viz.graph(torch.ones(1, requires_grad=True).exp()).html()
    assert not re.search(r"https?://|src=|href=|@import|url\(", page)


# -- notebooks ------------------------------------------------------------------


def test_graphs_show_themselves():
    graph = viz.graph(torch.ones(1, requires_grad=True).exp())
    assert graph._repr_html_().startswith("<iframe srcdoc=") and repr(graph) == "<retrograd.viz.Graph: 2 nodes, 1 of them leaves, 1 edges>"


def test_tensors_show_themselves():
    x = torch.tensor([[1.0, 2.0], [3.0, float("nan")]], requires_grad=True)
    text = x._repr_html_()
    assert (
        "2 \u00d7 2 · float32 · cpu · 16 B · leaf that requires grad · 1 … 3 · mean 2 · 1 not finite" in text
        and "tensor([[1., 2.]," in text
    )
    assert "MulBackward0" in (x * 2)._repr_html_() and "&lt;MulBackward0&gt;" in (x * 2)._repr_html_()
    assert "Parameter" in nn.Parameter(torch.ones(2))._repr_html_() and "one number" in torch.tensor(1)._repr_html_()
    for other in (
        torch.ones(2, device="meta"),
        torch.ones(2, 2).to_sparse(),
        torch.ones(0),
        torch.ones(2, dtype=torch.complex64),
        torch.tensor(True),
    ):
        assert "<pre" in other._repr_html_()
    shown = []
    torch.vmap(lambda t: (shown.append(t._repr_html_()), t)[1])(torch.ones(3, 2))
    assert "BatchedTensor" in shown[0]


def test_a_subclass_is_asked_for_its_own_words():
    class Mine(torch.Tensor):
        def __repr__(self):
            return "<mine>"

    assert "&lt;mine&gt;" in torch.ones(2).as_subclass(Mine)._repr_html_() and "Mine · 2" in torch.ones(2).as_subclass(Mine)._repr_html_()
