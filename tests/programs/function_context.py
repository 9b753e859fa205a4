"""Custom Functions: the context, its attributes and setup_context."""

from tests.programs import told


def repr_of_ctx(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            show(ctx)
            show(repr(ctx).split(" at ")[0])
            show(type(ctx).__name__, type(ctx).__module__, type(ctx).__qualname__)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(repr(ctx).split(" at ")[0], ctx.name())
            return g

    y = F.apply(leaf(1.0))
    show(repr(y.grad_fn).split(" at ")[0])
    y.backward()


def bases_of_ctx(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            show(isinstance(ctx, torch.autograd.function.FunctionCtx), isinstance(ctx, torch.autograd.function.BackwardCFunction))
            show(isinstance(ctx, torch.autograd.graph.Node))
            return x * 2

    F.apply(leaf(1.0))
    show(issubclass(Function, torch.autograd.function.FunctionCtx))


def types_of_nodes(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    def make():
        class F(Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

        return F

    a, b = F.apply(leaf(1.0)), make().apply(leaf(1.0))
    show(type(a.grad_fn) is type(F.apply(leaf(1.0)).grad_fn))
    show(a.grad_fn._forward_cls is F, type(a.grad_fn) is F._backward_cls)
    show(a.grad_fn.name(), b.grad_fn.name())


def needs_input_grad(torch, autograd, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, k, y, z):
            show(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, g):
            show(ctx.needs_input_grad)
            return g, None, g, None

    x, y = leaf(1.0), leaf(2.0)
    out = F.apply(x, 3, y, torch.ones(()))
    out.backward(retain_graph=True)
    autograd.grad(out, x, retain_graph=True)
    autograd.grad(out, y, retain_graph=True)
    out.backward(inputs=[x], retain_graph=True)
    with torch.no_grad():
        F.apply(x, 3, y, None)


def needs_input_grad_can_be_set(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.needs_input_grad = (False,)
            show(ctx.needs_input_grad)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.needs_input_grad)
            return g

    F.apply(leaf(1.0)).backward()


def materialize_grads(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x, on):
            ctx.set_materialize_grads(on)
            return x * 2, x * 3, x.long(), 7, None

        @staticmethod
        def backward(ctx, *grads):
            show(grads)
            return grads[0], None

    x = leaf(1.0, 2.0)
    F.apply(x, True)[0].sum().backward()
    F.apply(x, False)[0].sum().backward()


def set_materialize_grads_with_odd_arguments(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, on):
            ctx.set_materialize_grads(on)
            show(ctx.materialize_grads)
            return x * 2

    for on in (1, 0, None, "x", []):
        attempt(lambda: F.apply(leaf(1.0), on))


def materialize_grads_attribute_set(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.materialize_grads = False
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, *grads):
            show(grads)
            return grads[0]

    attempt(lambda: F.apply(leaf(1.0))[0].backward())


@told("custom_function_wrong_gradient", why="an input is one of them")
def attributes_of_ctx(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.a = 1
            ctx.b = [x]
            show(sorted(ctx.__dict__))
            attempt(lambda: ctx.missing)
            del ctx.a
            attempt(lambda: ctx.a)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.b)
            return g * 2

    y = F.apply(leaf(1.0))
    y.backward()
    show(y.grad_fn.b)
    y.grad_fn.c = 3
    show(y.grad_fn.c)
    attempt(lambda: delattr(y.grad_fn, "nothing"))


def ctx_names(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            show(
                [
                    n
                    for n in (
                        "saved_tensors",
                        "saved_variables",
                        "needs_input_grad",
                        "next_functions",
                        "metadata",
                        "name",
                        "register_hook",
                        "register_prehook",
                        "_register_hook_dict",
                        "_sequence_nr",
                        "_set_sequence_nr",
                        "to_save",
                        "dirty_tensors",
                        "non_differentiable",
                        "save_for_backward",
                        "save_for_forward",
                        "mark_dirty",
                        "mark_non_differentiable",
                        "mark_shared_storage",
                        "set_materialize_grads",
                        "_raw_saved_tensors",
                        "saved_for_forward",
                        "_input_metadata",
                        "apply",
                        "_forward_cls",
                        "maybe_clear_saved_tensors",
                        "requires_grad",
                    )
                    if hasattr(ctx, n)
                ]
            )
            return x * 2

    F.apply(leaf(1.0))


@told("custom_function_wrong_gradient", why="its values are not shown")
def input_metadata(Function, graph, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.double().view(-1, 1)

        @staticmethod
        def backward(ctx, g, h):
            return g

    x = leaf(1.0, 2.0)
    a, b = F.apply(x)

    def about(m):
        return m.dtype, m.device, tuple(m.shape), m.is_nested_tensor

    show([about(m) for m in a.grad_fn._input_metadata])
    show([about(m) for m in graph.get_gradient_edge(x).node._input_metadata])


def mark_shared_storage(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            attempt(lambda: ctx.mark_shared_storage((x, x)))
            return x * 2

    F.apply(leaf(1.0))


def setup_context_with_defaults(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(x, k=2):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            show(inputs, output)
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k, None

    x = leaf(1.0)
    F.apply(x).backward()
    F.apply(x, 3).backward()
    show(x.grad)


def setup_context_without_staticmethod_forward(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            show(len(inputs), output, ctx.needs_input_grad)
            ctx.save_for_backward(*inputs)
            ctx.set_materialize_grads(False)
            ctx.extra = 1
            return 5

        @staticmethod
        def backward(ctx, g):
            show(ctx.extra, ctx.saved_tensors)
            return g * 2

    x = leaf(1.0)
    attempt(lambda: F.apply(x).backward())


def setup_context_of_a_non_differentiable_output(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(x):
            return x * 2, x.argmax()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(inputs[0], output[1])

        @staticmethod
        def backward(ctx, g, _):
            show(g, _, ctx.saved_tensors)
            return g * 2

    x = leaf(1.0, 5.0)
    a, b = F.apply(x)
    show(a, b)
    a.sum().backward()


def setup_context_that_fails(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            raise KeyError("mine")

    attempt(lambda: F.apply(leaf(1.0)))


def hooks_on_a_ctx_inside_forward(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.register_hook(lambda gi, go: show("hook", gi, go))
            ctx.register_prehook(lambda go: (go[0] * 10,))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show("backward", g)
            return g * 2

    x = leaf(1.0)
    F.apply(x).backward()
    show(x.grad)


def metadata_of_a_ctx(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.metadata["a"] = 5
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.metadata)
            return g * 2

    F.apply(leaf(1.0)).backward()


def function_ctx_by_hand(torch, Function, leaf, show, attempt):
    C = torch.autograd.function.FunctionCtx
    c = C()
    x = leaf(1.0)
    c.save_for_backward(x)
    c.save_for_forward(x)
    c.mark_dirty(x)
    c.mark_non_differentiable(x)
    c.set_materialize_grads(False)
    show(c.__dict__)
    attempt(lambda: c.saved_tensors)

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

    show(F.forward(c, x), c.to_save)
    show(isinstance(c, C), isinstance(3, C), issubclass(F, C))


def forward_called_by_hand(torch, Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    y = F.forward(None, x)
    show(y)
    show(F.backward(None, torch.ones(())))
