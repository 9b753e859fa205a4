"""Anomaly mode: what is found in backward, what it says, and how it is switched."""

from tests.programs import told


@told("nan_origin", why="which is what anomaly mode is for")
def nan_in_backward(autograd, leaf, attempt):
    x = leaf(-1.0)
    with autograd.set_detect_anomaly(True):
        y = x.sqrt()
        attempt(lambda: y.backward())


def nan_in_backward_without_a_name(autograd, leaf, attempt):
    x = leaf(0.0)
    with autograd.set_detect_anomaly(True):
        y = (x.abs().sqrt() * 0).sum()
        attempt(lambda: y.backward())


def nan_in_a_second_output(autograd, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, g * float("nan")

    with autograd.set_detect_anomaly(True):
        attempt(lambda: F.apply(leaf(1.0), leaf(1.0)).backward())


@told("nan_origin", why="which is what anomaly mode is for")
def forward_outside_anomaly(autograd, leaf, attempt):
    x = leaf(-1.0)
    y = x.sqrt()
    with autograd.set_detect_anomaly(True):
        attempt(lambda: y.backward())


@told("nan_origin", why="which is what anomaly mode is for")
def no_nan_check(autograd, leaf, show, attempt):
    x = leaf(-1.0)
    with autograd.set_detect_anomaly(True, check_nan=False):
        attempt(lambda: x.sqrt().backward())
    show(x.grad)


@told("nan_origin", why="which is what anomaly mode is for")
def no_anomaly(leaf, show, attempt):
    x = leaf(-1.0)
    attempt(lambda: x.sqrt().backward())
    show(x.grad)


@told("nan_origin", why="anomaly mode is not for infinities")
def inf_is_allowed(autograd, leaf, show, attempt):
    x = leaf(0.0)
    with autograd.set_detect_anomaly(True):
        attempt(lambda: x.sqrt().backward())
    show(x.grad)


def detect_anomaly_warns(autograd, show):
    with autograd.detect_anomaly():
        show("inside")
    with autograd.detect_anomaly(check_nan=False):
        show("inside")


def states(torch, autograd, show, attempt):
    show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with autograd.detect_anomaly(check_nan=False):
        show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        with autograd.set_detect_anomaly(False):
            show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
        show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    autograd.set_detect_anomaly(True)
    show(torch.is_anomaly_enabled())
    autograd.set_detect_anomaly(False)
    show(torch.is_anomaly_enabled())
    attempt(lambda: torch.set_anomaly_enabled(True, False))
    show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    attempt(lambda: torch.set_anomaly_enabled(False))
    show(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())


def one_detect_anomaly_used_twice(torch, autograd, show):
    a = autograd.detect_anomaly()
    for _ in range(2):
        with a:
            show(torch.is_anomaly_enabled())
        show(torch.is_anomaly_enabled())


def anomaly_arguments(torch, autograd, kind):
    kind(lambda: autograd.set_detect_anomaly())
    kind(lambda: autograd.set_detect_anomaly("a"))
    kind(lambda: autograd.set_detect_anomaly(True, "a"))
    autograd.set_detect_anomaly(False)
    kind(lambda: torch.set_anomaly_enabled(3))
    kind(lambda: autograd.detect_anomaly("a") and None)


def an_exception_in_a_function(autograd, Function, leaf, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise LookupError("mine")

    with autograd.set_detect_anomaly(True):
        attempt(lambda: F.apply(leaf(1.0)).backward())


def an_error_in_backward(autograd, leaf, attempt):
    x = leaf(2.0)
    with autograd.set_detect_anomaly(True):
        y = x * 1
        z = y * y
        y.add_(1)
        attempt(lambda: z.backward())


def nested_anomaly(torch, autograd, Function, leaf, attempt):
    x = leaf(1.0)

    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return G.apply(g)

    class G(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise LookupError("mine")

    with autograd.set_detect_anomaly(True):
        (g,) = autograd.grad(F.apply(x), x, torch.tensor(1.0, requires_grad=True), create_graph=True)
        attempt(lambda: g.backward())


def metadata(autograd, leaf, show):
    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = x * 2
    show(sorted(y.grad_fn.metadata), type(y.grad_fn.metadata["traceback_"]))
    z = x * 2
    show(z.grad_fn.metadata)


def metadata_of_nodes_made_in_backward(autograd, leaf, show):
    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = x * x
        (g,) = autograd.grad(y, x, create_graph=True)
    show(sorted(g.grad_fn.metadata), g.grad_fn.metadata["parent_"] is y.grad_fn)


def errors_in_hooks(autograd, leaf, attempt):
    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = x * 2
        y.register_hook(lambda g: 1 / 0)
        attempt(lambda: y.backward())


def nan_from_a_hook(autograd, leaf, attempt):
    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = x * 2
        y.register_hook(lambda g: g * float("nan"))
        attempt(lambda: y.backward())


def nan_given_as_the_gradient(torch, autograd, leaf, attempt):
    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = x * 2
        attempt(lambda: y.backward(torch.tensor(float("nan"))))


@told("nan_origin", why="which is what anomaly mode is for")
def nan_in_grad(autograd, leaf, attempt):
    x = leaf(-1.0)
    with autograd.set_detect_anomaly(True):
        attempt(lambda: autograd.grad(x.sqrt(), x))
        attempt(lambda: autograd.grad(x.log().sqrt(), x))


def a_freed_graph_in_anomaly_mode(autograd, leaf, attempt):
    x = leaf(2.0)
    with autograd.set_detect_anomaly(True):
        y = x * x
        y.backward()
        attempt(lambda: y.backward())


def anomaly_through_several_functions(autograd, Function, leaf, show, attempt):
    class F(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g / 0 * 0

    x = leaf(1.0)
    with autograd.set_detect_anomaly(True):
        y = F.apply(F.apply(x) * 2)
        attempt(lambda: y.backward())
    show(x.grad)


@told("nan_origin", why="which is what anomaly mode is for")
def anomaly_and_a_nan_in_a_later_node(autograd, leaf, attempt):
    x = leaf(0.0)
    with autograd.set_detect_anomaly(True):
        y = (x * 0) / x
        attempt(lambda: y.backward())


@told("nan_origin", why="which is what anomaly mode is for")
def anomaly_leaves_the_graph_usable(autograd, leaf, show, attempt):
    x = leaf(-1.0)
    with autograd.set_detect_anomaly(True):
        y = x.sqrt()
        attempt(lambda: y.backward(retain_graph=True))
    attempt(lambda: y.backward())
    show(x.grad)


def anomaly_as_a_decorator_or_by_hand(torch, autograd, show, attempt):
    attempt(lambda: autograd.detect_anomaly()(lambda: 1))
    a = autograd.set_detect_anomaly(True)
    show(torch.is_anomaly_enabled())
    a.__exit__(None, None, None)
    show(torch.is_anomaly_enabled())
