"""Custom Functions: what they save, when it can be read, and writes to it."""

from tests.programs import told


def saved_tensors_in_forward(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            attempt(lambda: ctx.saved_tensors, "before saving")
            ctx.save_for_backward(x)
            attempt(lambda: ctx.saved_tensors, "after saving")
            attempt(lambda: ctx.to_save, "to_save")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            attempt(lambda: ctx.saved_tensors, "in backward")
            attempt(lambda: ctx.to_save, "to_save")
            return g * 2

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    attempt(lambda: y.grad_fn.saved_tensors, "between")
    attempt(lambda: y.grad_fn.to_save, "to_save between")
    y.sum().backward(retain_graph=True)
    attempt(lambda: y.grad_fn.saved_tensors, "retained")
    y.sum().backward()
    attempt(lambda: y.grad_fn.saved_tensors, "freed")
    attempt(lambda: y.grad_fn._raw_saved_tensors, "freed raw")
    attempt(lambda: y.sum().backward(), "again")


def saved_tensors_in_setup_context(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            attempt(lambda: ctx.saved_tensors, "before saving")
            ctx.save_for_backward(inputs[0], output)
            attempt(lambda: ctx.saved_tensors, "after saving")

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g * 2

    x = leaf(1.0, 2.0)
    F.apply(x).sum().backward()


def nothing_saved(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g * 2

    x = leaf(1.0, 2.0)
    y = F.apply(x)
    y.sum().backward()
    attempt(lambda: y.grad_fn.saved_tensors, "after")
    y.sum().backward()
    show(x.grad)


def saved_without_requires_grad(torch, Function, show, attempt):
    kept = []

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            kept.append(ctx)
            show(ctx.needs_input_grad)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    y = F.apply(torch.tensor([1.0, 2.0]))
    show(y)
    attempt(lambda: kept[0].saved_tensors)
    attempt(lambda: kept[0].to_save)
    attempt(lambda: kept[0].next_functions)


def saving_things_that_are_no_tensors(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, what):
            ctx.save_for_backward(x, what)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g * 2, None

    x = leaf(1.0)
    for what in (None, 3, "a", [1], x, (x,)):
        attempt(lambda: F.apply(x, what).backward())


def saving_twice(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_backward(x * 3, None)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g * 2

    F.apply(leaf(1.0)).backward()


def saving_intermediates_inputs_outputs(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            mid = x * x
            out = mid * 3
            ctx.save_for_backward(x, mid, out)
            return out

        @staticmethod
        def backward(ctx, g):
            a, b, c = ctx.saved_tensors
            show(a, b, c)
            show(a is x, c is y, c.grad_fn is y.grad_fn)
            return g * 2

    x = leaf(2.0)
    y = F.apply(x)
    y.backward()


def saved_variables(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_variables)
            return g * 2

    F.apply(leaf(1.0)).backward()


def freed_graph_of_a_function(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g * 2

    x = leaf(1.0)
    y = F.apply(x)
    y.backward()
    attempt(lambda: y.backward())


def maybe_clear_saved_tensors(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.maybe_clear_saved_tensors()
            attempt(lambda: ctx.saved_tensors)
            return g * 2

    x = leaf(1.0)
    y = F.apply(x)
    attempt(lambda: y.backward())
    y = F.apply(x)
    attempt(lambda: y.backward(retain_graph=True))


def saved_tensor_changed_in_place(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g * 2

    x = leaf(1.0)
    z = x * 1
    y = F.apply(z)
    z.add_(1)
    attempt(lambda: y.backward())


def saved_output_changed_in_place(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g * 2

    x = leaf(1.0)
    y = F.apply(x)
    z = y.add_(1)
    attempt(lambda: z.backward())


def saved_dirty_input(Function, leaf, show):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            show(y)
            return g * y

    x = leaf(0.0, 1.0)
    y = x * 1
    F.apply(y)
    y.sum().backward()
    show(x.grad)


def version_of_saved_tensors(Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            y.add_(1)
            return y

        @staticmethod
        def backward(ctx, g):
            show(ctx.saved_tensors)
            return g

    x = leaf(1.0)
    attempt(lambda: F.apply(x).backward())


@told("custom_function_wrong_gradient", why="what is saved is the point")
def saved_leaf_detached_in_place(Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            return g

    x = leaf(1.0)
    y = x * 1
    z = F.apply(y)
    y.detach_()
    attempt(lambda: z.backward())
    y = x * 1
    z = y * y
    y.detach_()
    attempt(lambda: z.backward())


def inference_tensors_saved(torch, Function, leaf, attempt):
    with torch.inference_mode():
        i = torch.ones(())

    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g, None

    attempt(lambda: F.apply(leaf(1.0), i))
