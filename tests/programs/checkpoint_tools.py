"""checkpoint_sequential and the smaller functions of torch.utils.checkpoint."""

from tests.programs import own, says, told


def checkpoint_sequential(torch, checkpointing, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpointing.checkpoint_sequential([torch.sin, torch.exp, torch.cos, torch.tanh], 2, a, use_reentrant=False)
    y.sum().backward()
    show(y, a.grad)


def checkpoint_sequential_of_a_sequential(nn, checkpointing, x3, show):
    m = nn.Sequential(nn.Tanh(), nn.Sigmoid(), nn.Tanh())
    a = x3.clone().requires_grad_()
    y = checkpointing.checkpoint_sequential(m, 3, a, use_reentrant=False)
    y.sum().backward()
    show(y, a.grad)


def checkpoint_sequential_reentrant(torch, checkpointing, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpointing.checkpoint_sequential([torch.sin, torch.exp, torch.cos, torch.tanh], 2, a, use_reentrant=True)
    y.sum().backward()
    show(y, a.grad)


def checkpoint_sequential_without_use_reentrant(torch, checkpointing, x3):
    a = x3.clone().requires_grad_()
    checkpointing.checkpoint_sequential([torch.sin, torch.exp], 2, a)


def checkpoint_sequential_with_one_segment(torch, checkpointing, x3, show):
    a = x3.clone().requires_grad_()
    show(checkpointing.checkpoint_sequential([torch.sin, torch.exp], 1, a, use_reentrant=False))


@own("words")
def checkpoint_sequential_with_too_many_segments(torch, checkpointing, x3):
    checkpointing.checkpoint_sequential([torch.sin, torch.exp], 3, x3.clone().requires_grad_(), use_reentrant=False)


def checkpoint_sequential_with_no_segments(torch, checkpointing, x3):
    checkpointing.checkpoint_sequential([torch.sin, torch.exp], 0, x3.clone().requires_grad_(), use_reentrant=False)


def checkpoint_sequential_with_unknown_keywords(torch, checkpointing, x3):
    checkpointing.checkpoint_sequential([torch.sin, torch.exp], 2, x3.clone().requires_grad_(), use_reentrant=False, some=1)


def checkpoint_sequential_with_several_inputs(torch, checkpointing, x3):
    checkpointing.checkpoint_sequential([torch.sin, torch.exp], 2, x3, x3, use_reentrant=False)


@own("words")
def checkpoint_sequential_of_nothing(checkpointing, x3):
    checkpointing.checkpoint_sequential([], 1, x3.clone().requires_grad_(), use_reentrant=False)


def set_checkpoint_early_stop_nested(checkpointing, show):
    with checkpointing.set_checkpoint_early_stop(False), checkpointing.set_checkpoint_early_stop(True):
        show("inside")
    show("done")


def detach_variable(checkpointing, x3, show):
    a = x3.clone().requires_grad_()
    out = checkpointing.detach_variable((a, 3, x3))
    show(out, out[0].is_leaf)


def detach_variable_of_a_list(checkpointing, x3):
    checkpointing.detach_variable([x3])


@says("None of the inputs have requires_grad=True. Gradients will be None")
def check_backward_validity(checkpointing, x3):
    checkpointing.check_backward_validity([x3, 3])


def check_backward_validity_that_is_fine(checkpointing, x3, show):
    show(checkpointing.check_backward_validity([x3.clone().requires_grad_()]))


def noop_context_fn(checkpointing, show):
    a, b = checkpointing.noop_context_fn()
    with a, b:
        show("fine")


def default_device_type(checkpointing, show):
    before = checkpointing.DefaultDeviceType.get_device_type()
    for name in ("cpu", "cuda", before):
        checkpointing.DefaultDeviceType.set_device_type(name)
        show(checkpointing.DefaultDeviceType.get_device_type())


def get_device_states(checkpointing, x3, show):
    show(checkpointing.get_device_states(x3))


def names_of_checkpoint(checkpointing, show):
    show(sorted(checkpointing.__all__))


@told("checkpoint_side_effects", why="the block counts its runs")
def graph_exec_group(checkpointing, checkpoint, x3, show):
    count = []
    a = x3.clone().requires_grad_()

    def f(x):
        count.append(1)
        return x.sin(), x.cos()

    y, z = checkpoint(f, a, use_reentrant=False)
    with checkpointing.GraphExecGroup():
        y.sum().backward()
        z.sum().backward()
    show(a.grad, len(count))


@told("checkpoint_side_effects", why="the block counts its runs")
def without_graph_exec_group(checkpoint, x3, show):
    count = []
    a = x3.clone().requires_grad_()

    def f(x):
        count.append(1)
        return x.sin(), x.cos()

    y, z = checkpoint(f, a, use_reentrant=False)
    y.sum().backward()
    z.sum().backward()
    show(a.grad, len(count))


def graph_exec_group_nested(checkpointing):
    with checkpointing.GraphExecGroup(), checkpointing.GraphExecGroup():
        pass
