"""Selective checkpoints: policies and what they keep."""

import functools

from tests.programs import differs


def checkpoint_policy(checkpointing, show):
    P = checkpointing.CheckpointPolicy
    show([(p.name, p.value) for p in P])


def selective_with_a_list(torch, checkpointing, checkpoint, x33, show):
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    y = checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    show(a.grad)


def selective_with_a_policy(torch, checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    log = []

    def policy(ctx, op, *args, **kwargs):
        log.append((ctx.is_recompute, op == torch.ops.aten.mm.default))
        return P.MUST_SAVE if op == torch.ops.aten.mm.default else P.PREFER_RECOMPUTE

    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, policy)
    y = checkpoint(lambda x: (x @ x).sin().cos(), a, use_reentrant=False, context_fn=ctx)
    show(log)
    y.sum().backward()
    show(a.grad, log)


def selective_that_saves_all(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    checkpoint(lambda x: (x @ x).sin().cos(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


def selective_that_recomputes_all(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_RECOMPUTE)
    checkpoint(lambda x: (x @ x).sin().cos(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


def selective_with_prefer_save(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.PREFER_SAVE)
    checkpoint(lambda x: (x @ x).sin().cos(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


def selective_with_a_bool(checkpointing, checkpoint, x33, show):
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: True)
    checkpoint(lambda x: (x @ x).sin().cos(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


def selective_with_views(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    checkpoint(lambda x: (x.t() @ x).view(9).sin(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


def selective_with_in_place_on_what_was_saved(checkpointing, checkpoint, x33):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)

    def f(x):
        y = x.sin()
        y.mul_(2)
        return y.cos()

    checkpoint(f, a, use_reentrant=False, context_fn=ctx).sum().backward()


def selective_with_in_place_outside_on_what_was_saved(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    y = checkpoint(lambda x: x.sin().cos(), a, use_reentrant=False, context_fn=ctx)
    y.mul_(2)
    y.sum().backward()
    show(a.grad)


def selective_with_in_place_mutation_allowed(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(
        checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE, allow_cache_entry_mutation=True
    )

    def f(x):
        y = x * 3
        y.mul_(1)
        return y.cos()

    checkpoint(f, a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


@differs("works")
def selective_twice(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    y = checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx).sum()
    y.backward(retain_graph=True)
    y.backward()
    show(a.grad)


@differs("works")
def selective_with_two_outputs_backward_apart(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    y, z = checkpoint(lambda x: (x.sin(), x.cos()), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    z.sum().backward()
    show(a.grad)


def selective_with_something_else(checkpointing):
    checkpointing.create_selective_checkpoint_contexts(3)


def selective_with_a_list_of_something_else(checkpointing):
    checkpointing.create_selective_checkpoint_contexts([3])


def selective_with_a_list_that_has_a_packet(torch, checkpointing):
    checkpointing.create_selective_checkpoint_contexts([torch.ops.aten.mm])


def selective_with_an_empty_list(checkpointing, checkpoint, x33, show):
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, [])
    checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(a.grad)


@differs("refuses it")
def selective_whose_policy_returns_nonsense(checkpointing, checkpoint, x33, show):
    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: "save")
    y = checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    show(a.grad)


def selective_whose_policy_changes_its_mind(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(
        checkpointing.create_selective_checkpoint_contexts,
        lambda ctx, op, *args, **kwargs: P.MUST_SAVE if ctx.is_recompute else P.MUST_RECOMPUTE,
    )
    y = checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    show(a.grad)


def selective_whose_policy_changes_its_mind_the_other_way(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    a = x33.clone().requires_grad_()
    ctx = functools.partial(
        checkpointing.create_selective_checkpoint_contexts,
        lambda ctx, op, *args, **kwargs: P.MUST_RECOMPUTE if ctx.is_recompute else P.MUST_SAVE,
    )
    y = checkpoint(lambda x: (x @ x).sin(), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    show(a.grad)


@differs("finds it")
def selective_with_other_ops_in_the_second_run(checkpointing, checkpoint, x33):
    P = checkpointing.CheckpointPolicy
    count = []

    def f(x):
        count.append(1)
        return x.sin().cos() if len(count) == 1 else x.cos().sin()

    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    checkpoint(f, a, use_reentrant=False, context_fn=ctx).sum().backward()


@differs("another type of error")
def selective_with_more_of_an_op_in_the_second_run(checkpointing, checkpoint, x33):
    P = checkpointing.CheckpointPolicy
    count = []

    def f(x):
        count.append(1)
        return x.sin() if len(count) == 1 else x.sin().sin()

    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    checkpoint(f, a, use_reentrant=False, context_fn=ctx, early_stop=False).sum().backward()


def selective_with_random_ops(torch, F, checkpointing, checkpoint, show):
    P = checkpointing.CheckpointPolicy
    a = torch.ones(20, requires_grad=True)
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.PREFER_RECOMPUTE)
    y = checkpoint(lambda x: F.dropout(x.sin(), 0.5).exp(), a, use_reentrant=False, context_fn=ctx)
    y.sum().backward()
    show(bool(torch.isfinite(a.grad).all()))


def selective_reentrant(checkpointing, checkpoint, x3):
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, [])
    checkpoint(lambda x: x.sin(), x3.clone().requires_grad_(), use_reentrant=True, context_fn=ctx)


@differs("works")
def selective_with_a_second_derivative(torch, checkpointing, checkpoint, x3, show):
    P = checkpointing.CheckpointPolicy
    a = x3.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, lambda ctx, op, *args, **kwargs: P.MUST_SAVE)
    y = checkpoint(lambda x: (x**3).sin(), a, use_reentrant=False, context_fn=ctx)
    (g,) = torch.autograd.grad(y.sum(), a, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), a)
    show(g, h)


def selective_context_attributes(checkpointing, show):
    c = checkpointing.SelectiveCheckpointContext(is_recompute=True)
    show(c.is_recompute, c.op_output)


def selective_context_without_arguments(checkpointing):
    checkpointing.SelectiveCheckpointContext()


def selective_with_op_output(checkpointing, checkpoint, x3, show):
    P = checkpointing.CheckpointPolicy
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append(ctx.op_output is None)
        return P.PREFER_RECOMPUTE

    a = x3.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, policy)
    checkpoint(lambda x: x.sin(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(seen)


def arguments_of_a_policy(checkpointing, checkpoint, x33, show):
    P = checkpointing.CheckpointPolicy
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append((len(args), sorted(kwargs)))
        return P.PREFER_RECOMPUTE

    a = x33.clone().requires_grad_()
    ctx = functools.partial(checkpointing.create_selective_checkpoint_contexts, policy)
    checkpoint(lambda x: x.mm(x).relu(), a, use_reentrant=False, context_fn=ctx).sum().backward()
    show(seen)
