"""Nodes and gradient edges."""

import collections


def gradient_edges(torch, autograd, graph, leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    e = graph.get_gradient_edge(y)
    show(e, type(e), e._fields, e.output_nr)
    show(autograd.grad(e, x, retain_graph=True))
    show(autograd.grad(y, graph.get_gradient_edge(x), retain_graph=True))
    show(autograd.grad(y * 3, e, retain_graph=True))
    attempt(lambda: graph.get_gradient_edge(torch.ones(1)))
    attempt(lambda: graph.get_gradient_edge(3))


def backward_of_gradient_edges(torch, autograd, graph, leaf, show, attempt):
    x = leaf(2.0, 3.0)
    y = x * x
    e = graph.get_gradient_edge(y)
    attempt(lambda: autograd.backward(e, torch.ones(2), retain_graph=True))
    show(x.grad)
    attempt(lambda: autograd.backward(e, retain_graph=True))
    attempt(lambda: autograd.backward([e], [None], retain_graph=True))
    attempt(lambda: autograd.backward(e, torch.ones(3), retain_graph=True))
    attempt(lambda: autograd.backward(e, (torch.ones(2),), retain_graph=True))
    attempt(lambda: autograd.backward((e, y), (torch.ones(2), torch.ones(2)), retain_graph=True))
    show(x.grad)
    attempt(lambda: autograd.backward(y, torch.ones(2), inputs=[graph.get_gradient_edge(x)], retain_graph=True))
    attempt(lambda: autograd.backward(y, torch.ones(2), inputs=graph.get_gradient_edge(x), retain_graph=True))
    show(x.grad)
    attempt(lambda: autograd.backward(y, torch.ones(2), inputs=[e], retain_graph=True))
    show(y.grad)


def grad_of_gradient_edges(torch, autograd, graph, leaf, attempt):
    x = leaf(2.0, 3.0)
    y = x * x
    e = graph.get_gradient_edge(y)
    attempt(lambda: autograd.grad(e, x, retain_graph=True))
    attempt(lambda: autograd.grad(e, x, torch.ones(2), retain_graph=True))
    attempt(lambda: autograd.grad(e, x, torch.ones(3), retain_graph=True))
    attempt(lambda: autograd.grad(e, x, torch.ones(2, 2), retain_graph=True))
    attempt(lambda: autograd.grad(y.sum(), [e, x], retain_graph=True))
    attempt(lambda: autograd.grad(y.sum(), graph.get_gradient_edge(leaf(1.0)), retain_graph=True))
    attempt(lambda: autograd.grad(y.sum(), graph.get_gradient_edge(leaf(1.0)), retain_graph=True, allow_unused=True))
    attempt(lambda: autograd.grad(y.sum(), graph.get_gradient_edge(leaf(1.0)), retain_graph=True, materialize_grads=True))


def gradient_edge_made_by_hand(torch, autograd, graph, leaf, attempt):
    x = leaf(2.0)
    y = x * x
    attempt(lambda: autograd.grad(y, graph.GradientEdge(y.grad_fn.next_functions[0][0], 0), retain_graph=True))
    attempt(lambda: graph.GradientEdge(1, 2, 3))
    attempt(lambda: autograd.grad(graph.GradientEdge(y.grad_fn, 0), x, torch.ones(()), retain_graph=True))


def gradient_edges_of_several_outputs(torch, autograd, graph, leaf, show, attempt):
    x = leaf(2.0, 3.0)
    a, b = (x * 2).unbind()
    ea, eb = graph.get_gradient_edge(a), graph.get_gradient_edge(b)
    show(ea, eb)
    del a, b
    attempt(lambda: autograd.grad([ea, eb], x, [torch.ones(()), torch.ones(())]))


def nodes(graph, leaf, show, attempt, kind):
    x = leaf(2.0)
    y = (x * x).exp().sum()
    n = y.grad_fn
    show(n.next_functions, n.next_functions[0][0].next_functions)
    show(type(n), type(n.metadata), n.metadata)
    n.metadata["a"] = 1
    show(y.grad_fn.metadata)
    show(isinstance(n, graph.Node), issubclass(type(n), graph.Node))
    kind(lambda: graph.Node())
    attempt(lambda: type(n)())
    show(y.grad_fn is n)


def sequence_numbers(leaf, show, attempt):
    x = leaf(2.0)
    a = x * 2
    b = a * 2
    show(b.grad_fn._sequence_nr() > a.grad_fn._sequence_nr())
    show(a.grad_fn.next_functions[0][0]._sequence_nr() > 10**15)
    attempt(lambda: b.grad_fn._set_sequence_nr(10**9))
    show(b.grad_fn._sequence_nr())


def names_of_special_nodes(torch, graph, show):
    x = torch.ones(3, requires_grad=True)
    y = x.clone()
    y[0] = 2
    show(y.grad_fn.name(), type(y.grad_fn), repr(y.grad_fn).split(" at ")[0], [f[0] and f[0].name() for f in y.grad_fn.next_functions])
    acc = graph.get_gradient_edge(x).node
    show(acc.name(), type(acc), repr(acc).split(" at ")[0], acc.next_functions)
    show(hasattr(x.exp().grad_fn, "variable"))


def requires_grad_of_nodes(torch, graph, attempt):
    x = torch.ones(3, requires_grad=True)
    attempt(lambda: x.exp().grad_fn.requires_grad)
    attempt(lambda: graph.get_gradient_edge(x).node.requires_grad)


def register_hook_dict(torch, show, attempt):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    d = collections.OrderedDict([(1, lambda gi, go: show("called"))])
    attempt(lambda: y.grad_fn._register_hook_dict(d))


def comparing_nodes(leaf, show):
    x = leaf(2.0)
    y = x * x
    show(y.grad_fn == y.grad_fn, y.grad_fn != (x * x).grad_fn, len({y.grad_fn, y.grad_fn}))


def nodes_in_functions_module(torch, graph, leaf, show):
    show(
        [
            n
            for n in (
                "AccumulateGrad",
                "DelayedError",
                "UndefinedGrad",
                "Error",
                "CopySlices",
                "CopyBackwards",
                "MulBackward0",
                "UndefinedGradBackward",
            )
            if hasattr(torch._C._functions, n)
        ]
    )
    x = leaf(2.0)
    show(isinstance(graph.get_gradient_edge(x).node, torch._C._functions.AccumulateGrad))
    y = x.clone()
    y[...] = 3.0
    show(isinstance((x * 2).grad_fn, torch._C._functions.MulBackward0))


def delayed_error(torch, leaf, show, attempt):
    d = torch._C._functions.DelayedError("mine", 1)
    x = leaf(2.0)
    y = d(x * 1)
    show(y)
    attempt(lambda: y.backward())
    d = torch._C._functions.DelayedError("mine", 2)
    a, b = d(x, x * 2)
    show(a, b)
    attempt(lambda: (a + b).backward())
    attempt(lambda: torch._C._functions.DelayedError("mine", 1)(torch.ones(2)))


def undefined_grad(torch, autograd, leaf, show, attempt):
    u = torch._C._functions.UndefinedGrad()
    x = leaf(2.0)
    y = u(x)
    show(y)
    y.backward()
    show(x.grad)
    attempt(lambda: autograd.grad(u(x * 1), x))


def current_node_and_task(torch, leaf, show):
    x = leaf(2.0)
    y = x * 3
    show(torch._C._current_graph_task_id())
    y.register_hook(lambda g: show(torch._C._current_graph_task_id() >= 0, torch._C._current_autograd_node()))
    y.backward()
    show(torch._C._current_autograd_node())


def will_engine_execute_node(torch, autograd, leaf, show, kind):
    x = leaf(2.0)
    y = x * 3
    z = y * 2
    n = y.grad_fn
    kind(lambda: torch._C._will_engine_execute_node(n))
    z.register_hook(lambda g: show(torch._C._will_engine_execute_node(n)))
    z.backward(retain_graph=True)
    autograd.grad(z, y, retain_graph=True)
    autograd.grad(z, x, retain_graph=True)


def gradient_edges_after_the_tensor_is_gone(autograd, graph, leaf, show):
    x = leaf(2.0)
    y = x * x
    e = graph.get_gradient_edge(y)
    z = y * 3
    del y
    show(autograd.grad(z, [e, x]))


def gradient_edge_of_a_view_after_a_write(graph, leaf, show):
    x = leaf(1.0, 2.0)
    y = x * 2
    v = y[0]
    y.mul_(3)
    e = graph.get_gradient_edge(v)
    show(e.node)


def gradient_edge_of_a_leaf(torch, autograd, graph, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    e = graph.get_gradient_edge(x)
    show(e.node, e.output_nr, e.node.variable is x)
    autograd.backward(e, torch.ones(2))
    show(x.grad)
    attempt(lambda: autograd.backward(e))
    attempt(lambda: autograd.backward(e, torch.ones(3)))


def walking_the_graph(leaf, show):
    x, w = leaf(1.0), leaf(2.0)
    y = (x * w).exp() + x
    seen = []
    stack = [y.grad_fn]
    while stack:
        n = stack.pop()
        if n is None or n in seen:
            continue
        seen.append(n)
        stack.extend(f for f, _ in n.next_functions)
    show([n.name() for n in seen])
