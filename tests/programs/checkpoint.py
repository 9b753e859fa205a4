"""checkpoint, reentrant and not: arguments, outputs, early stop, exceptions."""

from tests.programs import own, says, told


@says("the use_reentrant parameter should be passed explicitly")
def use_reentrant_is_missing(checkpoint, x3):
    checkpoint(lambda x: x.sin(), x3.clone().requires_grad_())


def reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin() * x, a, use_reentrant=True)
    y.sum().backward()
    show(y, a.grad)


def non_reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin() * x, a, use_reentrant=False)
    y.sum().backward()
    show(y, a.grad)


def keyword_arguments(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x, scale=1: x.sin() * scale, a, scale=3, use_reentrant=False)
    y.sum().backward()
    show(y, a.grad)


def keyword_arguments_that_are_tensors(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x=None: x.sin(), x=a, use_reentrant=False)
    y.sum().backward()
    show(y, a.grad)


def keyword_arguments_reentrant(checkpoint, x3):
    checkpoint(lambda x, scale=1: x.sin() * scale, x3.clone().requires_grad_(), scale=3, use_reentrant=True)


def context_fn_reentrant(checkpoint, x3):
    checkpoint(lambda x: x, x3.clone().requires_grad_(), use_reentrant=True, context_fn=lambda: (None, None))


def debug_reentrant(checkpoint, x3):
    checkpoint(lambda x: x, x3.clone().requires_grad_(), use_reentrant=True, debug=True)


def determinism_check_reentrant(checkpoint, x3, show):
    show(checkpoint(lambda x: x * 2, x3.clone().requires_grad_(), use_reentrant=True, determinism_check="none"))


def determinism_check_unknown(checkpoint, x3):
    checkpoint(lambda x: x * 2, x3.clone().requires_grad_(), use_reentrant=False, determinism_check="some")


def reentrant_without_an_input_that_requires_grad(checkpoint, x3, show):
    y = checkpoint(lambda x: x.sin(), x3, use_reentrant=True)
    show(y)


def reentrant_with_a_parameter_only(checkpoint, x3, show):
    w = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x * w, x3, use_reentrant=True)
    show(y)


def reentrant_with_autograd_grad(torch, checkpoint, x3):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=True)
    torch.autograd.grad(y.sum(), a)


def reentrant_with_inputs(checkpoint, x3):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=True)
    y.sum().backward(inputs=[a])


def reentrant_whose_output_does_not_require_grad(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.detach() * 2, a, use_reentrant=True)
    show(y)
    y.sum().backward()


def reentrant_twice(checkpoint, x3):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=True).sum()
    y.backward()
    y.backward()


def reentrant_with_retain_graph(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=True).sum()
    y.backward(retain_graph=True)
    y.backward()
    show(a.grad)


def reentrant_with_several_outputs(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y, z = checkpoint(lambda x: (x.sin(), x.cos()), a, use_reentrant=True)
    (y * 2).sum().backward()
    show(a.grad)


def reentrant_with_non_tensor_outputs(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y, z = checkpoint(lambda x: (x.sin(), 3), a, use_reentrant=True)
    y.sum().backward()
    show(a.grad, z)


def reentrant_with_a_list_as_output(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: [x.sin(), x.cos()], a, use_reentrant=True)
    show(type(y), y)


def reentrant_with_a_dict_as_output(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: {"o": x.sin()}, a, use_reentrant=True)
    show(type(y), y)


def reentrant_with_none_as_output(checkpoint, x3, show):
    show(checkpoint(lambda x: None, x3.clone().requires_grad_(), use_reentrant=True))


def reentrant_with_inputs_that_are_no_tensors(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x, n, s: x.sin() * n, a, 3, "word", use_reentrant=True)
    y.sum().backward()
    show(a.grad)


def reentrant_with_nested_containers_of_tensors(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x[0].sin(), [a], use_reentrant=True)
    show(y)


def non_reentrant_with_nested_containers_of_tensors(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x[0].sin(), [a], use_reentrant=False)
    y.sum().backward()
    show(a.grad)


def non_reentrant_without_an_input_that_requires_grad(checkpoint, x3, show):
    w = x3.clone().requires_grad_()
    y = checkpoint(lambda x: (x * w).sin(), x3, use_reentrant=False)
    y.sum().backward()
    show(y, w.grad)


def non_reentrant_with_autograd_grad(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False)
    show(torch.autograd.grad(y.sum(), a))


def non_reentrant_with_inputs(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False)
    y.sum().backward(inputs=[a])
    show(a.grad)


def non_reentrant_twice(checkpoint, x3):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x.sin(), a, use_reentrant=False).sum()
    y.backward()
    y.backward()


@told("checkpoint_side_effects", why="the block counts its runs")
def non_reentrant_with_retain_graph(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    count = []
    y = checkpoint(lambda x: count.append(1) or x.sin(), a, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    show(a.grad, len(count))


@own("nodes")
def non_reentrant_second_derivative(torch, checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: (x**3).sin(), a, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), a, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), a)
    show(g, h)


def non_reentrant_with_several_outputs(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y, z = checkpoint(lambda x: (x.sin(), x.cos()), a, use_reentrant=False)
    (y * 2).sum().backward()
    show(a.grad)


def non_reentrant_with_non_tensor_outputs(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: {"o": x.sin(), "n": 3, "l": [x.exp()]}, a, use_reentrant=False)
    y["l"][0].sum().backward()
    show(y, a.grad)


def non_reentrant_with_none_as_output(checkpoint, x3, show):
    show(checkpoint(lambda x: None, x3.clone().requires_grad_(), use_reentrant=False))


def an_output_without_grad(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y, z = checkpoint(lambda x: (x.sin(), x.detach() * 2), a, use_reentrant=False)
    show(z)
    y.sum().backward()
    show(a.grad)


def an_output_that_is_an_input(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x, a, use_reentrant=False)
    show(y is a)


def an_output_that_is_an_input_reentrant(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x, a, use_reentrant=True)
    show(y is a, y.requires_grad)


def an_unused_output(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    y, z = checkpoint(lambda x: (x.sin(), x.exp().exp()), a, use_reentrant=False)
    y.sum().backward()
    show(a.grad)


@told("checkpoint_side_effects", why="the block counts its runs")
def how_often_the_function_runs(checkpoint, x3, show):
    count = []
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: count.append(1) or x.sin().exp(), a, use_reentrant=False)
    show(len(count))
    y.sum().backward()
    show(len(count))


def early_stop(checkpoint, x3, show):
    count = []

    def f(x):
        y = x.sin()
        count.append("saved")
        z = y * 2
        count.append("end")
        return z

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False).sum().backward()
    show(count)


@told("checkpoint_side_effects", why="the block counts its runs")
def early_stop_switched_off(checkpointing, checkpoint, x3, show):
    count = []

    def f(x):
        y = x.sin()
        count.append("saved")
        z = y + 2
        count.append("end")
        return z

    a = x3.clone().requires_grad_()
    with checkpointing.set_checkpoint_early_stop(False):
        y = checkpoint(f, a, use_reentrant=False)
    y.sum().backward()
    show(count)


@told("checkpoint_side_effects", why="the block counts its runs")
def early_stop_switched_off_by_argument(checkpoint, x3, show):
    count = []

    def f(x):
        y = x.sin()
        count.append("saved")
        z = y + 2
        count.append("end")
        return z

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False, early_stop=False).sum().backward()
    show(count)


def early_stop_switched_on_over_the_argument(checkpointing, checkpoint, x3, show):
    count = []

    def f(x):
        y = x.sin()
        count.append("saved")
        z = y + 2
        count.append("end")
        return z

    a = x3.clone().requires_grad_()
    with checkpointing.set_checkpoint_early_stop(True):
        y = checkpoint(f, a, use_reentrant=False, early_stop=False)
    y.sum().backward()
    show(count)


def nothing_that_is_saved(checkpoint, x3, show):
    a = x3.clone().requires_grad_()
    checkpoint(lambda x: x + 1, a, use_reentrant=False).sum().backward()
    show(a.grad)


def an_exception_in_the_function(checkpoint, x3):
    checkpoint(lambda x: x.view(7), x3.clone().requires_grad_(), use_reentrant=False)


def an_exception_in_the_second_run(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        if len(count) > 1:
            raise KeyError("second")
        return x.sin().exp()

    checkpoint(f, x3.clone().requires_grad_(), use_reentrant=False).sum().backward()


def an_exception_in_the_second_run_reentrant(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        if len(count) > 1:
            raise KeyError("second")
        return x.sin().exp()

    checkpoint(f, x3.clone().requires_grad_(), use_reentrant=True).sum().backward()
