"""Hooks on saved tensors, and what nodes have saved."""

import threading

from tests.programs import told


def saved_tensors_hooks(graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: (show("pack", t), t)[1], lambda t: (show("unpack", t), t)[1]):
        y = x * x
    y.backward()
    show(x.grad)


def saved_tensors_hooks_nest(graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        with graph.saved_tensors_hooks(lambda t: t * 3, lambda t: t):
            y = x * x
        z = x * x
    y.backward()
    show(x.grad)
    x.grad = None
    z.backward()
    show(x.grad)


def saved_tensors_hooks_with_numbers(torch, graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: 5, lambda t: torch.tensor(float(t))):
        y = x * x
    y.backward()
    show(x.grad)


def unpack_hook_of_other_types(graph, leaf, attempt):
    x = leaf(2.0)
    for made in (None, 3, "a", [1], (x,)):
        with graph.saved_tensors_hooks(lambda t: t, lambda t: made):
            y = x * x
        attempt(lambda: y.backward())


def unpack_hook_of_other_shapes(torch, graph, leaf, show, attempt):
    x = leaf(2.0, 3.0)
    for made in (torch.ones(1), torch.ones(3), torch.ones(2).double()):
        x.grad = None
        with graph.saved_tensors_hooks(lambda t: t, lambda t: made):
            y = x * x
        attempt(lambda: y.sum().backward())
        show(x.grad)


def pack_hook_that_writes(graph, leaf, attempt):
    x = leaf(2.0)

    def pack(t):
        t.mul_(2)
        return t

    with graph.saved_tensors_hooks(pack, lambda t: t):
        y = x * 1
        attempt(lambda: y * y)


def pack_hook_that_fails(graph, leaf, attempt):
    x = leaf(2.0)

    def pack(t):
        raise KeyError("mine")

    with graph.saved_tensors_hooks(pack, lambda t: t):
        attempt(lambda: x * x)
    attempt(lambda: x * x)


def unpack_hook_that_fails(graph, leaf, attempt):
    x = leaf(2.0)

    def unpack(t):
        raise KeyError("mine")

    with graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x * x
    attempt(lambda: y.backward())


def hooks_that_are_no_functions(graph, leaf, kind):
    x = leaf(2.0)
    for a, b in ((1, 2), (None, lambda t: t), (lambda t: t, None), (lambda: 1, lambda: 2)):

        def f():
            with graph.saved_tensors_hooks(a, b):
                y = x * x
            y.backward()

        kind(f)


def grad_mode_in_pack_and_unpack_hooks(torch, autograd, graph, leaf, show):
    x = leaf(2.0)

    def pack(t):
        show("pack", torch.is_grad_enabled(), t, t is x)
        return t

    def unpack(t):
        show("unpack", torch.is_grad_enabled(), t)
        return t

    with graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.backward(retain_graph=True)
    autograd.grad(y, x, create_graph=True)


def ops_inside_pack_hooks_are_not_packed(graph, leaf, show):
    x = leaf(2.0)

    def pack(t):
        show("pack")
        return t * t * 3

    with graph.saved_tensors_hooks(pack, lambda t: t):
        x * x
    show("done")


def hooks_see_saved_outputs(graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: (show("pack", float(t)), t)[1], lambda t: (show("unpack", float(t)), t)[1]):
        y = x.exp()
    y.backward()


def hooks_are_not_called_without_graph(torch, graph, leaf, show):
    x = torch.tensor(2.0)
    with graph.saved_tensors_hooks(lambda t: show("pack"), lambda t: t):
        y = x * x
        with torch.no_grad():
            leaf(1.0) * leaf(2.0)
    show(y)


def hooks_and_custom_functions(Function, graph, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            ctx.save_for_backward(x, None, out, x * 5)
            return out

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g

    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: (show("pack", float(t)), t.detach().clone())[1], lambda t: (show("unpack", float(t)), t)[1]):
        y = F.apply(x)
    y.backward()


def hooks_and_in_place_writes_to_what_was_packed(torch, graph, leaf, show, attempt):
    x = leaf(2.0)
    y = x * 1
    with graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        z = y * y
    with torch.no_grad():
        y.mul_(3)
    attempt(lambda: z.backward())
    show(x.grad)


def hooks_that_keep_the_tensor_do_not_see_writes(torch, graph, leaf, show, attempt):
    x = leaf(2.0)
    y = x * 1
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        z = y * y
    with torch.no_grad():
        y.mul_(3)
    attempt(lambda: z.backward())
    show(x.grad)


def retain_graph_and_hooks(graph, leaf, show, attempt):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: (show("unpack"), t)[1]):
        y = x**2
    y.backward(retain_graph=True)
    y.backward()
    attempt(lambda: y.backward())


def register_hooks_of_a_raw_saved_tensor(torch, leaf, show):
    x = leaf(2.0)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    show(type(raw))
    raw.register_hooks(lambda t: (show("pack", t), 2)[1], lambda n: torch.tensor(float(n) * 10))
    show(y.grad_fn._saved_self, y.grad_fn._saved_other)
    y.backward()
    show(x.grad)


def register_hooks_errors(leaf, attempt, kind):
    x = leaf(2.0)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    kind(lambda: raw.register_hooks(lambda t: t))
    kind(lambda: raw.register_hooks(1, 2))
    attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    y = x * x
    raw = y.grad_fn._raw_saved_self
    y.backward()
    attempt(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    attempt(lambda: y.grad_fn._raw_saved_self)
    attempt(lambda: y.grad_fn._saved_self)


def register_hooks_that_writes(leaf, attempt):
    x = leaf(2.0)
    y = x.exp()
    raw = y.grad_fn._raw_saved_result
    attempt(lambda: raw.register_hooks(lambda t: t.mul_(2), lambda t: t))


def register_hooks_when_default_hooks_are_set(graph, leaf, attempt):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * x
    attempt(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))


@told("custom_function_wrong_gradient", why="what is saved is the point")
def raw_saved_tensors_of_none(torch, Function, leaf, show, attempt):
    x = leaf(1.0, 2.0)
    y = torch.clamp(x, torch.zeros(2), None)
    show(y.grad_fn._saved_min, y.grad_fn._saved_max)
    attempt(lambda: y.grad_fn._raw_saved_max.register_hooks(lambda t: t, lambda t: t))

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    y = F.apply(x)
    attempt(lambda: len(y.grad_fn._raw_saved_tensors))
    attempt(lambda: y.grad_fn._raw_saved_tensors[1].register_hooks(lambda t: t, lambda t: t))


def raw_saved_tensors_of_a_function(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g

    x = leaf(1.0)
    y = F.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 3, lambda t: t)
    show(y.grad_fn.saved_tensors)
    y.backward()
    attempt(lambda: y.grad_fn._raw_saved_tensors)


def raw_data_and_unpack_hook(leaf, show, attempt):
    x = leaf(2.0)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    show([n for n in dir(raw) if not n.startswith("_")])
    attempt(lambda: raw.data)
    attempt(lambda: raw.unpack_hook)


def saved_values_of_nodes(torch, show, attempt):
    x = torch.ones(2, 3, requires_grad=True)
    show(x.sum(1).grad_fn._saved_dim, x.sum(1).grad_fn._saved_keepdim)
    show((x**2).grad_fn._saved_exponent, (x**2).grad_fn._saved_self)
    show(x.exp().grad_fn._saved_result)
    show(x[0].grad_fn._saved_index, x[0].grad_fn._saved_dim, x[0].grad_fn._saved_self_sym_sizes)
    show(x.softmax(1).grad_fn._saved_dim, x.transpose(0, 1).grad_fn._saved_dim0)
    show(x[:, 1:].grad_fn._saved_start, x[:, 1:].grad_fn._saved_step, x[:, 1:].grad_fn._saved_dim)
    show(x.relu().grad_fn._saved_result)
    show(torch.cat([x, x]).grad_fn._saved_dim)
    attempt(lambda: x.exp().grad_fn._saved_nothing)


def saved_output_has_the_node(leaf, show):
    x = leaf(1.0)
    y = x.exp()
    s = y.grad_fn._saved_result
    show(s, s.grad_fn is y.grad_fn, s is y)
    t = (y * y).grad_fn._saved_self
    show(t is y)


def save_on_cpu(graph, leaf, show, attempt):
    x = leaf(2.0, 3.0)
    with graph.save_on_cpu():
        y = x * x
    y.sum().backward()
    show(x.grad)
    attempt(lambda: graph.save_on_cpu(pin_memory=True) and None)


def disable_saved_tensors_hooks(graph, leaf, attempt):
    x = leaf(2.0)
    with graph.disable_saved_tensors_hooks("not here"):

        def f():
            with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                x * x

        attempt(f)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):

        def f():
            with graph.disable_saved_tensors_hooks("not here"):
                x * x

        attempt(f)
    attempt(lambda: f())


def disable_saved_tensors_hooks_nests(graph, attempt):
    def hooks():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass

    with graph.disable_saved_tensors_hooks("outer"):
        with graph.disable_saved_tensors_hooks("inner"):
            attempt(hooks)
        attempt(hooks)
    attempt(hooks)


def disable_saved_tensors_hooks_as_a_decorator(graph, attempt, kind):
    @graph.disable_saved_tensors_hooks("decorated")
    def f():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass

    attempt(f)
    attempt(lambda: graph.disable_saved_tensors_hooks())
    kind(lambda: graph.disable_saved_tensors_hooks(3).__enter__())


def saved_tensors_hooks_used_twice(graph, leaf, show, kind):
    x = leaf(2.0)
    h = graph.saved_tensors_hooks(lambda t: (show("pack"), t)[1], lambda t: t)
    with h:
        x**2
    with h, h:
        x**2
    kind(lambda: h.__exit__())
    kind(lambda: h.__exit__(None, None, None))


def saved_tensors_hooks_as_a_decorator(graph, show, attempt):
    h = graph.saved_tensors_hooks(lambda t: (show("pack"), t)[1], lambda t: t)
    attempt(lambda: h(lambda: 1))


def saved_tensors_hooks_around_a_write_in_place(graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: (show("pack", t.detach()), t)[1], lambda t: t):
        y = x * 1
        y.exp_()
    y.backward()
    show(x.grad)


def saved_tensors_hooks_and_views(torch, graph, show):
    x = torch.ones(2, 2, requires_grad=True)
    with graph.saved_tensors_hooks(lambda t: (show("pack", tuple(t.shape), t._is_view()), t)[1], lambda t: t):
        y = x.t() @ x
    y.sum().backward()
    show(x.grad)


def saved_tensors_hooks_and_double_backward(autograd, graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x**3
    (g,) = autograd.grad(y, x, create_graph=True)
    show(g.detach())
    (h,) = autograd.grad(g, x)
    show(h)


def saved_tensors_hooks_and_double_backward_of_an_output(autograd, graph, leaf, show):
    x = leaf(1.0)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x.exp()
    (g,) = autograd.grad(y, x, create_graph=True)
    (h,) = autograd.grad(g, x)
    show(g.detach(), h)


def unpacked_tensors_that_require_grad(autograd, graph, leaf, show, attempt):
    w = leaf(3.0)
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: w):
        y = x * x
    (g,) = autograd.grad(y, x, create_graph=True)
    show(g.detach())
    attempt(lambda: autograd.grad(g, w, allow_unused=True))


def pack_hook_gives_none(torch, graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: None, lambda n: torch.tensor(7.0)):
        y = x * x
    y.backward()
    show(x.grad)


def pack_hooks_do_not_run_in_backward(graph, leaf, show):
    x = leaf(2.0)
    y = x**3
    with graph.saved_tensors_hooks(lambda t: (show("pack"), t)[1], lambda t: t):
        y.backward()
    show(x.grad)


def pack_hooks_run_in_backward_that_makes_a_graph(autograd, graph, leaf, show):
    x = leaf(2.0)
    y = x.exp()
    packed = []
    with graph.saved_tensors_hooks(lambda t: (packed.append(1), t)[1], lambda t: t):
        (g,) = autograd.grad(y, x, create_graph=True)
    show(len(packed) > 0)


def an_exception_inside_saved_tensors_hooks(graph, leaf, show, attempt):
    x = leaf(2.0)

    def f():
        with graph.saved_tensors_hooks(lambda t: (show("pack"), t)[1], lambda t: t):
            x**2
            raise KeyError("mine")

    attempt(f)
    x**2
    show("after")


def saved_tensors_hooks_in_threads(graph, leaf, show):
    x = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: (show("pack"), t)[1], lambda t: t):
        t = threading.Thread(target=lambda: x**2)
        t.start()
        t.join()
    show("done")


def hooks_and_modules(torch, graph, nn, show):
    torch.manual_seed(0)
    m = nn.Linear(2, 2, bias=False)
    with graph.saved_tensors_hooks(lambda t: (show("pack", tuple(t.shape)), t)[1], lambda t: t):
        y = m(torch.ones(1, 2))
    y.sum().backward()
    show(m.weight.grad)


def save_on_cpu_and_modules(torch, graph, nn, show):
    m = nn.Linear(2, 2)
    with torch.no_grad():
        m.weight.fill_(1.0)
        m.bias.zero_()
    with graph.save_on_cpu():
        y = m(torch.ones(1, 2)).tanh()
    y.sum().backward()
    show(m.weight.grad)
