"""Selective checkpointing: what the policy says to keep is not computed again."""

import functools

import pytest

import optable
import retrograd as torch
from retrograd.testing import assert_close
from retrograd.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts
from tests.ops.cases import cases
from tests.ops.harness import bound

pytestmark = pytest.mark.skipif(torch.__name__ != "retrograd", reason="ops are named as in our table")


def block(x, w):
    h = (x @ w).tanh()
    return (h @ w).softmax(-1) * h.sum()


def gradients(run, seed=0):
    torch.manual_seed(seed)
    x, w = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
    run(x, w).square().sum().backward()
    return x.grad, w.grad


class Counter:
    """Counts ops that are really computed, by name."""

    def __init__(self):
        self.ops = []

    def __enter__(self):
        torch._C._push_op_handler(self.handle)
        return self

    def __exit__(self, *exc_info):
        torch._C._pop_op_handler()

    def handle(self, op, args, kwargs):
        self.ops.append(op.name)
        return op(*args, **kwargs)


def keeping(policy, **options):
    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


def by_name(*names):
    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op.name in names else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


EVERYTHING = lambda ctx, op, *args, **kwargs: CheckpointPolicy.PREFER_SAVE
NOTHING = lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_RECOMPUTE
POLICIES = {
    "mm": by_name("mm"),
    "softmax and tanh": by_name("softmax", "tanh"),
    "everything": EVERYTHING,
    "nothing": NOTHING,
    "list of names": ["mm", "sum"],
    "list of functions": [torch.mm, torch.tanh],
    "true or false": lambda ctx, op, *args, **kwargs: op.name == "mm",
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("early_stop", [True, False])
def test_gradients_are_those_without_checkpoint(name, early_stop):
    run = lambda x, w: checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(POLICIES[name]), early_stop=early_stop)
    assert_close(gradients(run), gradients(block))


def recomputed(policy):
    x, w = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
    y = checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(policy), early_stop=False)
    counter = Counter()
    _, rerun = create_selective_checkpoint_contexts(policy)
    with counter:
        y.square().sum().backward()
    del rerun
    return counter.ops


def test_what_is_kept_is_not_computed_again():
    assert recomputed(NOTHING).count("tanh") == 1
    assert recomputed(by_name("tanh")).count("tanh") == 0
    backward_only = recomputed(EVERYTHING).count("mm")
    assert recomputed(NOTHING).count("mm") == backward_only + 2
    assert recomputed(by_name("mm")).count("mm") == backward_only


def test_the_policy_is_asked_once_and_told_the_result():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        if op.name == "tanh":
            seen.append((ctx.is_recompute, None if ctx.op_output is None else tuple(ctx.op_output.shape), tuple(args[0].shape)))
        return CheckpointPolicy.MUST_SAVE

    gradients(lambda x, w: checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(policy)))
    assert seen == [(False, (3, 3), (3, 3))]


def test_ops_by_their_names_in_pytorch():
    assert torch.ops.aten.add.Tensor is torch.ops.aten.add.Scalar and torch.ops.aten.sum.dim_IntList.name == "sum.dim"
    with pytest.raises(AttributeError, match="has no overload name 'nothing'"):
        torch.ops.aten.mm.nothing
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        torch.ops.aten.nothing
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append(op)
        return op in {torch.ops.aten.mm.default}

    run = lambda keep: lambda x, w: checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(keep))
    assert_close(gradients(run(policy)), gradients(block))
    assert seen.count(torch.ops.aten.mm.default) == 2
    assert_close(gradients(run([torch.ops.aten.mm.default, torch.ops.aten.tanh.default])), gradients(block))
    for wrong in (3, torch.ops.aten.mm):
        with pytest.raises(ValueError, match="to be an OpOverload but got"):
            create_selective_checkpoint_contexts([wrong])


def test_a_write_to_what_was_kept():
    def written(x, w):
        y = x * 3
        y.mul_(2)
        return (y @ w).cos()

    allowed = lambda x, w: checkpoint(written, x, w, use_reentrant=False, context_fn=keeping(["mm"], allow_cache_entry_mutation=True))
    assert_close(gradients(allowed), gradients(written))
    refused = lambda x, w: checkpoint(written, x, w, use_reentrant=False, context_fn=keeping(EVERYTHING))
    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint has been mutated"):
        gradients(refused)
    # A result that the second run does not get to is not looked at.
    x = torch.ones(2, requires_grad=True)
    y = checkpoint(lambda x: x.sin().cos(), x, use_reentrant=False, context_fn=keeping(EVERYTHING))
    y.mul_(2)
    y.sum().backward()
    assert_close(x.grad, -2 * torch.ones(2).sin().sin() * torch.ones(2).cos())


def test_another_op_in_the_second_run():
    runs = []

    def f(x):
        runs.append(1)
        return x.sin().cos() if len(runs) == 1 else (x.detach().exp(), x.sin().cos())[1]

    y = checkpoint(f, torch.ones(2, requires_grad=True), use_reentrant=False, context_fn=keeping(EVERYTHING))
    with pytest.raises(RuntimeError, match="exp encountered during backward but not found in storage"):
        y.sum().backward()


def test_second_derivative_and_second_backward():
    def second(f):
        torch.manual_seed(0)
        x, w = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
        (g,) = torch.autograd.grad(f(x, w).sum(), x, create_graph=True)
        g.square().sum().backward()
        return x.grad, w.grad

    run = lambda x, w: checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(["mm", "tanh"]))
    assert_close(second(run), second(block))
    x, w = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
    y = run(x, w).sum()
    y.backward(retain_graph=True)
    once = w.grad.clone()
    y.backward()
    assert_close(w.grad, 2 * once)


def test_random_ops_after_a_kept_random_op():
    def f(x, w):
        a = torch.rand_like(x) * x
        b = torch.rand_like(x) * w
        return (a @ b).tanh()

    for policy in (EVERYTHING, NOTHING, by_name("mul")):
        assert_close(gradients(lambda x, w, p=policy: checkpoint(f, x, w, use_reentrant=False, context_fn=keeping(p))), gradients(f))

    calls = []

    def first_only(ctx, op, *args, **kwargs):
        if op.name == "rand_like" and not ctx.is_recompute:
            calls.append(op.name)
        return op.name == "rand_like" and (len(calls) == 1 or ctx.is_recompute)

    assert_close(gradients(lambda x, w: checkpoint(f, x, w, use_reentrant=False, context_fn=keeping(first_only))), gradients(f))


@pytest.mark.told("checkpoint_side_effects", why="it notes each run")
@pytest.mark.parametrize("preserve", [True, False])
def test_random_ops_after_a_kept_dropout(preserve):
    def f(x):
        dropped = torch.native_dropout(x * 2, 0.5, True)[0]
        noise = torch.rand_like(x)
        seen.append((dropped.tolist(), noise.tolist()))
        return (dropped.sin() * noise).exp()

    keep = functools.partial(create_selective_checkpoint_contexts, ["native_dropout"])
    seen, after = [], []
    for context in (keep, None):
        torch.manual_seed(3)
        x = torch.ones(8, requires_grad=True)
        options = {"context_fn": context} if context else {}
        checkpoint(f, x, use_reentrant=False, early_stop=False, preserve_rng_state=preserve, **options).sum().backward()
        after.append((x.grad.tolist(), torch.rand(1).item()))
    assert seen[0] == seen[2]  # the forward runs
    if preserve:
        assert seen[0] == seen[1] == seen[3] and after[0] == after[1]
    else:
        assert seen[0][0] == seen[1][0] and seen[0][1] != seen[1][1]  # what was kept, and numbers that follow those of the forward run


def test_debug_with_kept_results():
    for name in ("sin", "exp", "pow"):
        x, y = (torch.tensor([0.5, 0.7], requires_grad=True) for _ in "12")
        keep = functools.partial(create_selective_checkpoint_contexts, [name])
        checkpoint(lambda x: (x.sin() ** 2).exp(), x, use_reentrant=False, debug=True, context_fn=keep).sum().backward()
        (y.sin() ** 2).exp().sum().backward()
        assert_close(x.grad, y.grad)


def test_views_and_writes_in_place_run_again():
    def f(x, w):
        y = (x @ w).t()
        y = y * 1
        y.mul_(2)
        y[0] = 1
        return y.t().view(-1).tanh()

    names = ["mm", "t", "mul_", "select", "fill_", "copy_", "view", "tanh"]
    assert_close(gradients(lambda x, w: checkpoint(f, x, w, use_reentrant=False, context_fn=keeping(names))), gradients(f))


def test_nested_checkpoints():
    inner = lambda x, w: checkpoint(block, x, w, use_reentrant=False)
    run = lambda x, w: checkpoint(lambda x, w: inner(x, w).sin() @ w, x, w, use_reentrant=False, context_fn=keeping(["mm"]))
    assert_close(gradients(run), gradients(lambda x, w: block(x, w).sin() @ w))


@pytest.mark.told("checkpoint_side_effects", why="which is allowed here")
def test_a_kept_result_that_was_written_to():
    def f(x, w):
        y = x @ w
        z = y.tanh()
        y.zero_()
        return z

    run = lambda **options: lambda x, w: checkpoint(f, x, w, use_reentrant=False, context_fn=keeping(["mm"], **options))
    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint has been mutated"):
        gradients(run())
    gradients(run(allow_cache_entry_mutation=True))


def test_the_policy_must_answer():
    with pytest.raises(TypeError, match="must return a CheckpointPolicy"):
        gradients(lambda x, w: checkpoint(block, x, w, use_reentrant=False, context_fn=keeping(lambda *a, **k: "yes")))
    with pytest.raises(TypeError, match="policy_fn_or_list"):
        create_selective_checkpoint_contexts(3)


RANDOM = [e for e in optable.load() if e.random and e.samples and e.kernel.kind == "native" and e.variants & {"function", "method"}]


@pytest.mark.parametrize("entry", RANDOM, ids=lambda e: e.qualified)
def test_every_random_op_that_is_kept_leaves_the_numbers_after_it_as_they_were(entry):
    """A dropout after it has the mask of the first run when it is recomputed: which ops draw numbers is a fact of the table."""
    args, kwargs, _ = cases(entry)[0].bind(torch, grad=False)
    kwargs.pop("requires_grad", None)

    def function(x):
        bound(torch, entry)(*args, **kwargs)
        return torch.dropout(x * 2, 0.5, True).sin()

    def gradient(run):
        torch.manual_seed(5)
        x = torch.ones(64, requires_grad=True)
        run(x).sum().backward()
        return x.grad

    keep = functools.partial(create_selective_checkpoint_contexts, [entry.qualified])
    kept = gradient(lambda x: checkpoint(function, x, use_reentrant=False, context_fn=keep))
    assert torch.equal(kept, gradient(function))
