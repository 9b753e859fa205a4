"""What a checkpoint does about a second run that is not the first: random numbers, other tensors, debug."""

import functools

from tests.programs import differs, own, says, told


def random_numbers(torch, checkpoint, f64, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x * torch.rand(3, dtype=f64), a, use_reentrant=False)
    y.sum().backward()
    show(bool(torch.allclose(y, a * a.grad)))


@told("checkpoint_side_effects", why="other numbers are what it shows")
def random_numbers_without_preserve_rng_state(torch, checkpoint, f64, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x * torch.rand(3, dtype=f64), a, use_reentrant=False, preserve_rng_state=False)
    y.sum().backward()
    show(bool(torch.allclose(y, a * a.grad)))


def random_numbers_reentrant(torch, checkpoint, f64, x3, show):
    a = x3.clone().requires_grad_()
    y = checkpoint(lambda x: x * torch.rand(3, dtype=f64), a, use_reentrant=True)
    y.sum().backward()
    show(bool(torch.allclose(y, a * a.grad)))


def random_state_outside(torch, checkpoint, f64, x3, show):
    a = x3.clone().requires_grad_()
    torch.manual_seed(1)
    y = checkpoint(lambda x: x * torch.rand(3, dtype=f64), a, use_reentrant=False)
    before = torch.get_rng_state()
    y.sum().backward()
    show(bool((before == torch.get_rng_state()).all()))


def dropout(torch, F, checkpoint, show):
    torch.manual_seed(1)
    a = torch.ones(50, requires_grad=True)
    y = checkpoint(lambda x: F.dropout(x, 0.5), a, use_reentrant=False)
    y.sum().backward()
    show(bool((a.grad == y.detach()).all()))


@says("A different number of tensors was saved during the original forward and recomputation")
def another_number_of_saved_tensors(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().exp() if len(count) == 1 else x.sin()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False).sum().backward()


@says("Recomputed values for the following tensors have different metadata than during the forward pass")
def other_metadata(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().sum() if len(count) == 1 else x[:2].sin().sum()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False).sum().backward()


def another_dtype(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().sum() if len(count) == 1 else x.float().sin().sum()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False).sum().backward()


def the_type_of_the_error(checkpointing, checkpoint, x3, show):
    count = []

    def f(x):
        count.append(1)
        return x.sin().exp() if len(count) == 1 else x.sin()

    a = x3.clone().requires_grad_()
    try:
        checkpoint(f, a, use_reentrant=False).sum().backward()
    except checkpointing.CheckpointError as e:
        show(type(e), isinstance(e, RuntimeError))


@told("checkpoint_side_effects", why="the block counts its runs, to differ")
def determinism_check_none_with_other_metadata(checkpoint, x3, show):
    count = []

    def f(x):
        count.append(1)
        return x.exp().sum() if len(count) == 1 else x[:1].exp().sum()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False, determinism_check="none").sum().backward()
    show(a.grad)


def determinism_check_none_with_another_number(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().exp() if len(count) == 1 else x.sin()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False, determinism_check="none").sum().backward()


@own("words")
def debug(checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().exp() if len(count) == 1 else x.sin()

    a = x3.clone().requires_grad_()
    checkpoint(f, a, use_reentrant=False, debug=True).sum().backward()


def debug_switched_off_by_context(checkpointing, checkpoint, x3):
    count = []

    def f(x):
        count.append(1)
        return x.sin().exp() if len(count) == 1 else x.sin()

    a = x3.clone().requires_grad_()
    with checkpointing.set_checkpoint_debug_enabled(False):
        y = checkpoint(f, a, use_reentrant=False, debug=True)
    y.sum().backward()


@differs("accepts both")
def debug_and_context_fn(checkpoint, x3):
    checkpoint(lambda x: x.sin(), x3.clone().requires_grad_(), use_reentrant=False, debug=True, context_fn=lambda: (functools, functools))
