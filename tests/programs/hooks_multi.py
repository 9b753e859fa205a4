"""Hooks on several tensors, and callbacks of a backward."""


def multi_grad_hook_all(graph, leaf, show):
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    h = graph.register_multi_grad_hook((a, b, c), lambda gs: show(gs))
    (a * b).backward()
    (a * b * c).backward()
    h.remove()
    (a * b).backward()


def multi_grad_hook_any(graph, leaf, show):
    a, b = leaf(1.0), leaf(2.0)
    x = a * 2
    y = b * 3
    h = graph.register_multi_grad_hook((x, y), lambda g: show(g), mode="any")
    (x * y).backward()
    show(type(h))


def multi_grad_hook_arguments(torch, graph, leaf, attempt):
    a = leaf(1.0)
    attempt(lambda: graph.register_multi_grad_hook((a,), print, mode="some"))
    attempt(lambda: graph.register_multi_grad_hook((torch.ones(1),), print))
    attempt(lambda: graph.register_multi_grad_hook((torch.ones(1),), print, mode="any"))
    attempt(lambda: type(graph.register_multi_grad_hook((), print)))
    attempt(lambda: graph.register_multi_grad_hook((a,), print, "any"))
    attempt(lambda: graph.register_multi_grad_hook((3,), print))


def multi_grad_hook_on_inner_tensors_with_inputs(autograd, graph, leaf, show):
    a, b = leaf(1.0), leaf(2.0)
    x, y = a * 2, b * 3
    graph.register_multi_grad_hook((x, y), lambda gs: show(gs))
    out = x * y
    autograd.grad(out, a, retain_graph=True)
    autograd.grad(out, b, retain_graph=True)
    out.backward()


def multi_grad_hook_sees_hooked_gradients(graph, leaf, show):
    a = leaf(1.0)
    x = a * 2
    x.register_hook(lambda g: g * 10)
    graph.register_multi_grad_hook((x,), lambda gs: show(gs))
    x.register_hook(lambda g: g * 10)
    (x * 2).backward()
    show(a.grad)


def multi_grad_hook_that_fails(graph, leaf, attempt):
    a = leaf(1.0)
    graph.register_multi_grad_hook((a,), lambda gs: 1 / 0)
    attempt(lambda: (a * 2).backward())


def multi_grad_hook_with_the_same_tensor_twice(graph, leaf, show):
    a = leaf(1.0)
    x = a * 2
    graph.register_multi_grad_hook((x, x), lambda gs: show(gs))
    (x * 2).backward()


def queue_callback(torch, leaf, show, attempt):
    x = leaf(1.0)
    y = x * 2

    def hook(g):
        show("hook")
        torch.autograd.Variable._execution_engine.queue_callback(lambda: show("done", x.grad))

    y.register_hook(hook)
    y.backward()
    attempt(lambda: torch.autograd.Variable._execution_engine.queue_callback(lambda: None))


def queue_callback_that_fails(torch, leaf, show, attempt):
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: torch.autograd.Variable._execution_engine.queue_callback(lambda: 1 / 0))
    attempt(lambda: y.backward())
    show(x.grad)


def queue_callback_order(torch, leaf, show):
    x = leaf(1.0)
    y = x * 2

    def hook(g):
        for i in range(3):
            torch.autograd.Variable._execution_engine.queue_callback(lambda i=i: show(i))

    y.register_hook(hook)
    y.backward()


def multi_grad_hooks_in_two_backwards_at_once(graph, leaf, show):
    a = leaf(1.0)
    x, y = a * 2, a * 3
    graph.register_multi_grad_hook((x, y), lambda gs: show(gs))
    (x * 1).backward(retain_graph=True)
    (y * 1).backward(retain_graph=True)
    (x + y).backward()


def multi_grad_hook_any_in_two_backwards(graph, leaf, show):
    a = leaf(1.0)
    x, y = a * 2, a * 3
    graph.register_multi_grad_hook((x, y), lambda g: show(g), mode="any")
    x.backward(retain_graph=True)
    (x + y).backward()


def multi_grad_hook_among_leaves_and_inner_tensors(graph, leaf, show):
    a, b = leaf(1.0), leaf(2.0)
    x = a * 2
    graph.register_multi_grad_hook((x, b), lambda gs: show(gs))
    (x * b).backward()


def multi_grad_hook_that_changes_gradients(graph, leaf, show):
    a = leaf(1.0)
    x = a * 2
    graph.register_multi_grad_hook((x,), lambda gs: [g * 100 for g in gs])
    x.backward()
    show(a.grad)
