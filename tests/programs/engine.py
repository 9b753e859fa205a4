"""The engine: order of nodes, reentrant backwards, callbacks, threads, modes, errors."""

import gc
import threading
import weakref

from tests.programs import told


def reentrant_backward(leaf, show):
    x = leaf(2.0)

    def hook(g):
        w = leaf(3.0)
        (w * w).backward()
        show(w.grad)

    y = x * 2
    y.register_hook(hook)
    y.backward()
    show(x.grad)


def reentrant_backward_on_the_same_graph(leaf, show):
    x = leaf(2.0)
    y = x * x
    z = y * 3

    def hook(g):
        y.backward(retain_graph=True)
        show(x.grad)

    z.register_hook(hook)
    z.backward()
    show(x.grad)


def backward_inside_no_grad(torch, leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        y.backward()
    show(x.grad)
    with torch.no_grad():
        attempt(lambda: (x * x).backward())


def backward_with_create_graph_inside_no_grad(torch, autograd, leaf, show):
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        (g,) = autograd.grad(y, x, create_graph=True)
    show(g)


def backward_inside_inference_mode(torch, leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    with torch.inference_mode():
        attempt(lambda: y.backward())
    show(x.grad)


def graph_after_an_error(leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    z = y + 0
    h = y.register_hook(lambda g: 1 / 0)
    attempt(lambda: z.backward())
    h.remove()
    attempt(lambda: z.backward())
    show(x.grad)


def integer_and_bool_outputs(torch, leaf, attempt):
    x = leaf(2.0)
    attempt(lambda: (x > 1).backward())
    attempt(lambda: x.long().backward())
    attempt(lambda: (x * 2).long().requires_grad_())
    attempt(lambda: torch.ones(2, dtype=torch.long, requires_grad=True))


def leaf_rules(torch, leaf, attempt):
    x = leaf(1.0, 2.0)
    attempt(lambda: x.mul_(2))
    attempt(lambda: x[0].mul_(2))
    attempt(lambda: x.requires_grad_(False))
    y = leaf(1.0) * 2
    attempt(lambda: y.requires_grad_(False))
    attempt(lambda: setattr(y, "requires_grad", False))
    attempt(lambda: setattr(torch.ones(1), "requires_grad", 3))


def set_multithreading_enabled(torch, leaf, show):
    with torch.autograd.set_multithreading_enabled(False):
        x = leaf(2.0)
        (x * x).backward()
    show(x.grad)
    m = torch.autograd.set_multithreading_enabled(False)
    show(type(m), [n for n in ("prev", "mode", "clone") if hasattr(m, n)])
    torch.autograd.set_multithreading_enabled(True)


def enforce_grad_layout_policy(torch, attempt):
    attempt(lambda: torch.autograd.enforce_grad_layout_policy(True) and None)


def grad_at_freed_saved_values_of_a_function(leaf, attempt):
    x = leaf(2.0)
    y = x.exp()
    y.backward()
    attempt(lambda: y.grad_fn._saved_result)
    attempt(lambda: (y * 1).backward())


@told("custom_function_wrong_gradient", why="None for an input that matters")
def undefined_results(autograd, Function, leaf, show, attempt):
    class Half(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, None

    x, y = leaf(2.0), leaf(3.0)
    show(autograd.grad(Half.apply(x, y), (x, y), allow_unused=True))
    attempt(lambda: autograd.grad(Half.apply(x, y), (x, y)))
    attempt(lambda: autograd.grad(Half.apply(x, y), (x, y), materialize_grads=True))
    Half.apply(x, y * 1).backward()
    show(x.grad, y.grad)


def gradient_of_an_unused_part(leaf, show):
    x = leaf(1.0, 2.0, 3.0)
    a, b, c = x.unbind()
    b.backward()
    show(x.grad)


def variable(torch, leaf, show, attempt):
    V = torch.autograd.Variable
    x = V(torch.ones(2), requires_grad=True)
    show(x, type(x), isinstance(x, V))
    show(V(torch.ones(2)))
    attempt(lambda: V(torch.ones(2).long(), requires_grad=True))
    attempt(lambda: V(leaf(1.0)))
    attempt(lambda: V())
    attempt(lambda: V(torch.ones(1), True))
    attempt(lambda: V([1.0, 2.0]))


def legacy_attributes_of_tensors(leaf, attempt):
    x = leaf(1.0)
    attempt(lambda: x._grad)
    attempt(lambda: (x * 2)._grad_fn)


def output_nr(leaf, show):
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    show(a.output_nr, b.output_nr, x.output_nr, (x * 2).output_nr)
    v, i = x.max(0)
    show(v.output_nr, i.output_nr, v.grad_fn, i.grad_fn)


def backward_in_a_thread(leaf, show):
    x = leaf(2.0)

    def work():
        (x * x).backward()

    t = threading.Thread(target=work)
    t.start()
    t.join()
    show(x.grad)


def errors_of_ops_in_backward(leaf, attempt):
    x = leaf(2.0)
    y = x * 1
    z = y.exp()
    z.mul_(2)
    attempt(lambda: z.backward())


def what_is_alive_after_backward(Function, leaf, show):
    class Kept:
        pass

    kept = [Kept()]

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.kept = kept[0]
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = F.apply(leaf(1.0, 2.0))
    ref = weakref.ref(kept[0])
    kept.clear()
    y.sum().backward()
    show(ref() is None)
    del y
    gc.collect()
    show(ref() is None)


def grad_fn_of_results(leaf, show, kind):
    x = leaf(1.0, 2.0)
    y = x * 2
    show(y.grad_fn is y.grad_fn, y.is_leaf, x.is_leaf, x.grad_fn)
    kind(lambda: setattr(y, "grad_fn", None))


def casts(leaf, show):
    x = leaf(1.0, 2.0)
    y = x.double()
    (y * 2).sum().backward()
    show(x.grad, y.grad_fn)
    h = x.half()
    h.sum().backward()
    show(x.grad)


def post_order_of_leaves_and_hooks(leaf, show):
    order = []
    a, b, c = leaf(1.0), leaf(2.0), leaf(3.0)
    for n, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, n=n: order.append(n))
    ((a * b) * c).backward()
    show(order)
    order.clear()
    (a * (b * c)).backward()
    show(order)
    order.clear()
    (a + b * 2 + c.exp()).backward()
    show(order)


def order_of_nodes(leaf, show):
    order = []
    x = leaf(1.0)
    a = x * 2
    b = x * 3
    c = a * b
    d = a + c
    for n, t in (("a", a), ("b", b), ("c", c), ("d", d)):
        t.register_hook(lambda g, n=n: order.append(n))
    d.backward()
    show(order)


def order_of_accumulate_grad_among_others(leaf, show):
    order = []
    x, y = leaf(1.0), leaf(2.0)
    x.register_post_accumulate_grad_hook(lambda p: order.append("x"))
    y.register_post_accumulate_grad_hook(lambda p: order.append("y"))
    a = y * 2
    a.register_hook(lambda g: order.append("a"))
    b = a.exp()
    b.register_hook(lambda g: order.append("b"))
    c = b * x
    c.register_hook(lambda g: order.append("c"))
    c.backward()
    show(order)


def a_backward_that_fails_in_a_reentrant_backward(leaf, show, attempt):
    x = leaf(1.0)
    y = x * 2

    def hook(g):
        z = leaf(1.0) * 2
        z.register_hook(lambda g: 1 / 0)
        z.backward()

    y.register_hook(hook)
    attempt(lambda: y.backward(retain_graph=True))
    show(x.grad)


def a_reentrant_backward_with_inputs(autograd, leaf, show):
    x, w = leaf(2.0), leaf(3.0)
    y = x * w

    def hook(g):
        show(autograd.grad(w * w * x, [w, x]))

    y.register_hook(hook)
    y.backward()
    show(x.grad, w.grad)


def callbacks_of_a_reentrant_backward(torch, leaf, show):
    x = leaf(1.0)
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y = x * 2

    def inner(g):
        queue(lambda: show("inner done"))

    def outer(g):
        queue(lambda: show("outer done"))
        z = leaf(1.0) * 2
        z.register_hook(inner)
        z.backward()
        show("inner returned")

    y.register_hook(outer)
    y.backward()


def a_callback_that_queues_a_callback(torch, leaf, show, attempt):
    x = leaf(1.0)
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y = x * 2
    y.register_hook(lambda g: queue(lambda: queue(lambda: show("second"))))
    attempt(lambda: y.backward())


def a_callback_that_runs_a_backward(torch, leaf, show):
    x, w = leaf(1.0), leaf(2.0)
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y = x * 2
    y.register_hook(lambda g: queue(lambda: (w * 3).backward()))
    y.backward()
    show(x.grad, w.grad)


def deep_recursion_of_reentrant_backwards(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            if ctx.depth:
                with torch.enable_grad():
                    t = torch.ones((), requires_grad=True)
                    F.apply(t, ctx.depth - 1).backward()
                return g * t.grad * 2, None
            return g, None

    x = leaf(1.0)
    F.apply(x, 20).backward()
    show(x.grad)
