"""allow_mutation_on_saved_tensors and version counters."""


def allow_mutation_on_saved_tensors(graph, leaf, show):
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.mul_(5)
        z.backward()
        show(x.grad, y)


def allow_mutation_cleared(graph, leaf, attempt):
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors() as ctx:
        y = x * 1
        z = y * y
        y.mul_(5)
        ctx.clear()
        attempt(lambda: z.backward())


def allow_mutation_cleared_without_mutation(graph, leaf, attempt):
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors() as ctx:
        z = x * x
        ctx.clear()
        attempt(lambda: z.backward())


def allow_mutation_outside(graph, leaf, attempt):
    x = leaf(2.0)
    with graph.allow_mutation_on_saved_tensors():
        z = x * x
    attempt(lambda: z.backward())


def allow_mutation_nests(graph, attempt):
    with graph.allow_mutation_on_saved_tensors():

        def f():
            with graph.allow_mutation_on_saved_tensors():
                pass

        attempt(f)


def allow_mutation_of_views_and_slices(graph, leaf, show):
    x = leaf(2.0, 3.0)
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y[0] = 7.0
        y.zero_()
        z.backward()
        show(x.grad)


def allow_mutation_with_no_grad_writes_and_out(torch, graph, leaf, show):
    x = leaf(2.0, 3.0)
    with graph.allow_mutation_on_saved_tensors():
        w = torch.ones(2)
        z = (x * w).sum()
        with torch.no_grad():
            w.add_(1)
        z.backward()
        show(x.grad)


def increment_version(torch, graph, leaf, show, attempt):
    x = torch.ones(2)
    show(x._version)
    graph.increment_version(x)
    show(x._version)
    graph.increment_version([x, x])
    show(x._version)
    graph.increment_version(())
    attempt(lambda: graph.increment_version(3))
    attempt(lambda: graph.increment_version([3]))
    y = leaf(1.0) * 1
    z = y * y
    graph.increment_version(y)
    attempt(lambda: z.backward())


def increment_version_of_an_inference_tensor(torch, graph, attempt):
    with torch.inference_mode():
        x = torch.ones(1)
    attempt(lambda: graph.increment_version(x))


def unsafe_preserve_version_counter(torch, leaf, show, attempt):
    x = torch.ones(2)
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.mul_(2)
        show(x._version)
    show(x._version)
    with torch.autograd._unsafe_preserve_version_counter((x, torch.ones(1))):
        x.mul_(2)
    show(x._version)
    y = leaf(2.0) * 1
    z = y * y
    with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(1)
    attempt(lambda: z.backward())


def allow_mutation_and_views_of_what_was_saved(torch, graph, leaf, show):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    with graph.allow_mutation_on_saved_tensors():
        y = torch.ones(2, 2)
        z = (y.view(4) * x).sum()
        y[0].fill_(100.0)
        z.backward()
    show(x.grad)


def allow_mutation_and_copy_index_put_and_out(torch, graph, leaf, show):
    x = leaf(1.0, 2.0)
    with graph.allow_mutation_on_saved_tensors():
        a = torch.ones(2)
        b = torch.ones(2)
        c = torch.ones(2)
        z = (x * a * b * c).sum()
        a.copy_(torch.zeros(2))
        b[torch.tensor([0])] = 5.0
        torch.add(c, 1, out=c)
        z.backward()
    show(x.grad, a, b, c)


def allow_mutation_and_saved_outputs(graph, leaf, show):
    x = leaf(0.0, 1.0)
    with graph.allow_mutation_on_saved_tensors():
        y = x.exp()
        z = y.sum()
        y.mul_(100)
        z.backward()
    show(x.grad)


def allow_mutation_and_custom_functions(Function, graph, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(1.0, 2.0)
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = F.apply(y)
        y.zero_()
        z.sum().backward()
    show(x.grad)
