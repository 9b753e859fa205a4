"""Training loops of the kinds known to leak, run long enough to show it: tensors, nodes, bytes, Python objects and resident memory stay flat.

A few hundred steps each by default; RETROGRAD_SLOW_TESTS=1 runs a hundred thousand. Run as a program, this prints what was measured:

    PYTHONPATH=src python tests/autograd/test_leak_loops.py [steps] [pattern ...]
"""

import copy
import gc
import os
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

import retrograd as torch
from retrograd import _C, nn
from retrograd.utils.checkpoint import checkpoint

STEPS = 100_000 if os.environ.get("RETROGRAD_SLOW_TESTS") == "1" else 400
MEGABYTE = 1 << 20
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # which keeps freed memory for a while
# What malloc and the interpreter may take for themselves; a leak of 64 bytes a step is 6 MB in the long run.
RESIDENT_SLACK = (64 if SANITIZED else 2) * MEGABYTE
PATTERNS = {}


def pattern(make):
    """Registers a function that prepares a loop and returns its step."""
    PATTERNS[make.__name__] = make
    return make


# ---- measuring ----


def resident():
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


class Usage:
    """What is alive after a collection. No reading keeps the one before it alive."""

    def __init__(self):
        gc.collect()
        self.tensors, self.nodes = _C._live_objects()
        stats = torch.memory_stats()
        self.bytes, self.blocks, self.reserved = stats["allocated"], stats["live_blocks"], stats["reserved"]
        self.objects = len(gc.get_objects())
        self.resident = resident()

    def growth_since(self, before):
        return {name: value - getattr(before, name) for name, value in vars(self).items()}


def run(make, steps):
    """(growth over the steps, the most tensors and nodes alive at once, seconds)."""
    step = make()
    for _ in range(max(100, steps // 10)):  # caches fill, the collector settles
        step()
    before = Usage()
    most, started = 0, time.perf_counter()
    for _ in range(steps):
        step()
        most = max(most, sum(_C._live_objects()))
    seconds = time.perf_counter() - started
    return Usage().growth_since(before), most - before.tensors - before.nodes, seconds


# ---- the loops ----


def small_model():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


@pattern
def plain_training():
    model, x = small_model(), torch.randn(3, 4)
    optimizer = torch.optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()

    return step


@pattern
def create_graph_with_grads_left_behind():
    """A gradient with a history holds its leaf, and the leaf holds the gradient."""

    def step():
        w = torch.randn(16, requires_grad=True)
        (w**3).sum().backward(create_graph=True)

    return step


@pattern
def create_graph_into_one_leaf():
    w = torch.randn(16, requires_grad=True)

    def step():
        (w**3).sum().backward(create_graph=True)
        w.grad.pow(2).sum().backward()
        w.grad = None

    return step


@pattern
def ctx_attribute_holds_the_output():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x, ctx.result = x, x * 2
            return ctx.result

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 + 0 * ctx.result

    x = torch.randn(16, requires_grad=True)

    def step():
        y = Doubled.apply(x)
        y.grad_fn.me = y
        y.sum().backward()
        x.grad = None

    return step


@pattern
def saved_outputs_without_backward():
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[1]

    x = torch.randn(16, requires_grad=True)

    def step():
        y = Exp.apply(x)
        Exp.apply(y)

    return step


@pattern
def tensor_hooks_close_over_their_tensor():
    x = torch.randn(16, requires_grad=True)

    def step():
        y = x * 2
        y.register_hook(lambda grad: grad * y.detach())
        z = y.exp()
        z.register_hook(lambda grad: None if z is None else grad)
        z.sum().backward()
        x.grad = None

    return step


@pattern
def node_hooks_close_over_the_graph():
    x = torch.randn(16, requires_grad=True)

    def step():
        y = x.exp()
        y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 0 * y.detach(),))
        y.grad_fn.register_prehook(lambda outputs: (outputs[0] + 0 * y.detach(),))
        y.sum().backward()
        x.grad = None

    return step


@pattern
def mark_dirty_on_views():
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.randn(4, 4, requires_grad=True)

    def step():
        y = x.clone()
        Scale.apply(y[1])
        Scale.apply(y.t()[2])
        y.sum().backward()
        x.grad = None

    return step


@pattern
def retained_graphs_dropped():
    x = torch.randn(16, requires_grad=True)

    def step():
        y = x.exp().sin().sum()
        y.backward(retain_graph=True)
        y.backward(retain_graph=True)
        torch.autograd.grad(y, x, retain_graph=True)
        x.grad = None

    return step


@pattern
def saved_tensors_hooks_with_closures():
    x = torch.randn(16, requires_grad=True)

    def step():
        kept = {}

        def pack(tensor):
            kept[len(kept)] = (tensor.detach(), kept)
            return len(kept) - 1

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda key: kept[key][0]):
            y = x.exp().sin()
        kept["output"] = y
        y.sum().backward()
        x.grad = None

    return step


@pattern
def metadata_and_attributes():
    x = torch.randn(16, requires_grad=True)

    def step():
        y = x.exp()
        y.grad_fn.metadata["output"] = y
        y.me = [y]
        x.latest = y.sum()

    return step


@pattern
def tensors_in_tracebacks():
    x = torch.randn(16, requires_grad=True)

    def fail(y):
        local = y.exp()
        raise ValueError(local)

    def step():
        y = x * 2
        try:
            fail(y)
        except ValueError as error:
            kept = error  # the frame holds the exception, whose traceback holds the frame
        try:
            y.reshape(3, 3)
        except RuntimeError as error:
            kept.second = error

    return step


@pattern
def exceptions_inside_backward():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            saved = ctx.saved_tensors
            raise ValueError(saved)

    x = torch.randn(16, requires_grad=True)

    def step():
        y = Fails.apply(x.exp()).sin()
        try:
            y.sum().backward()
        except ValueError as error:
            y.error = error

    return step


@pattern
def retained_grads():
    x = torch.randn(16, requires_grad=True)

    def step():
        y = x * 2
        y.retain_grad()
        z = y.exp()
        z.retain_grad()
        z.sum().backward(create_graph=True)
        x.grad = None

    return step


@pattern
def multi_grad_hooks():
    x = torch.randn(16, requires_grad=True)

    def step():
        parts = [x * i for i in range(3)]
        torch.autograd.graph.register_multi_grad_hook(parts, lambda grads: parts.append(grads[0]))
        handle = torch.autograd.graph.register_multi_grad_hook((parts[0], x), lambda grad: parts.append(grad), mode="any")
        sum(parts).sum().backward()
        handle.remove()
        x.grad = None

    return step


@pattern
def post_accumulate_hooks():
    x = torch.randn(16, requires_grad=True)

    def step():
        w = torch.randn(16, requires_grad=True)
        w.register_post_accumulate_grad_hook(lambda t: setattr(w, "seen", t))
        handle = x.register_post_accumulate_grad_hook(lambda t: setattr(t, "grad", None))
        (x * w).sum().backward()
        handle.remove()

    return step


@pattern
def checkpointing():
    model, x = small_model(), torch.randn(3, 4, requires_grad=True)

    def step():
        y = checkpoint(model, x, use_reentrant=False)
        z = checkpoint(torch.tanh, y, use_reentrant=True)
        checkpoint(torch.exp, z, use_reentrant=False)  # never recomputed
        z.sum().backward()
        x.grad = None
        model.zero_grad()

    return step


@pattern
def module_hooks_close_over_the_module():
    x = torch.randn(3, 4, requires_grad=True)

    def step():
        model = small_model()
        seen = []
        model.register_forward_hook(lambda module, args, result: seen.append((model, result)))
        model.register_full_backward_hook(lambda module, grads, outputs: seen.append((model, grads)))
        model[0].register_forward_pre_hook(lambda module, args: seen.append(args))
        model(x).sum().backward()
        x.grad = None

    return step


@pattern
def a_buffer_written_at_every_step():
    x = torch.randn(4, requires_grad=True)
    buffer = torch.zeros(4, 4)

    def step():
        nonlocal buffer
        buffer[1] = buffer[0] + x
        buffer.t()[2].mul_(0.5)
        view = buffer[3]
        view.add_(x)
        buffer.sum().backward()
        buffer.detach_()
        x.grad = None

    return step


@pattern
def views_rebased_again_and_again():
    x = torch.randn(4, 4, requires_grad=True)

    def step():
        y = x.clone()
        rows = y.unbind(0)[0].detach(), y[0], y[1:3]
        for i in range(4):
            y.t()[i].mul_(1.5)
            rows[2].add_(rows[1])
        rows[1].sum().backward()
        x.grad = None

    return step


@pattern
def hessians():
    x = torch.randn(3)

    def step():
        torch.autograd.functional.hessian(lambda t: (t**3).sum() * t[0], x)

    return step


@pattern
def gradient_penalty():
    critic, real, fake = small_model(), torch.randn(3, 4), torch.randn(3, 4)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.01, momentum=0.9)

    def step():
        optimizer.zero_grad()
        mixed = (real * 0.3 + fake * 0.7).requires_grad_()
        score = critic(mixed)
        (grad,) = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True)
        (score.mean() + 10 * (grad.norm(dim=1) - 1).pow(2).mean()).backward()
        optimizer.step()

    return step


@pattern
def anomaly_mode():
    x = torch.randn(4, requires_grad=True)

    def step():
        with torch.autograd.detect_anomaly(check_nan=True):
            y = (x * 2).exp().sum()
            (grad,) = torch.autograd.grad(y, x, create_graph=True)
            grad.sum().backward()
        x.grad = None

    return step


@pattern
def refused_gradients():
    """Errors on the way: nodes that raise, hooks and jvp that return the wrong thing, nodes that are called wrongly."""
    forward_ad, graph = torch.autograd.forward_ad, torch.autograd.graph

    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            ctx.note = x
            return x * 2, x.view(-1)

        @staticmethod
        def backward(ctx, a, b):
            return torch.ones(2, device="meta")

        @staticmethod
        def jvp(ctx, t):
            return t * 2, None

    def refused(call):
        with pytest.raises((RuntimeError, TypeError, AssertionError)):
            call()

    def step():
        x = torch.ones(2, requires_grad=True)
        x.grad_dtype = torch.float64
        first, second = Odd.apply(x)
        refused(lambda: first.sum().backward())
        refused(lambda: torch._C._functions.DelayedError("no", 2)(x, x * 2)[1].sum().backward())
        torch._C._functions.UndefinedGrad()(x).sum().backward()
        refused(lambda: first.grad_fn(3))
        refused(lambda: torch.autograd.grad(graph.GradientEdge(first.grad_fn, 7), x, torch.ones(2)))
        second.register_hook(lambda g: 3)
        refused(lambda: second.sum().backward())
        second.grad_fn.__dict__["me"] = second
        y = x * 2
        y.register_hook(lambda g: None)
        y.detach_()
        with forward_ad.dual_level():
            refused(lambda: Odd.apply(forward_ad.make_dual(x, x.detach())))
        with graph.allow_mutation_on_saved_tensors() as context:
            z = x * x.detach()
            context.clear()
            refused(lambda: z.sum().backward())

    return step


@pattern
def copies_of_modules():
    model, x = small_model(), torch.randn(3, 4)

    def step():
        twin = copy.deepcopy(model)
        twin(x).sum().backward()
        copy.deepcopy(twin).load_state_dict(model.state_dict())

    return step


@pattern
def detached_losses_added_up():
    w, total = torch.randn(16, requires_grad=True), torch.zeros(())

    def step():
        nonlocal total
        loss = (w**2).mean()
        total += loss.detach()
        total = total * 0.99 + loss.data + loss.item()
        loss.backward()
        w.grad = None

    return step


@pattern
def switching_modes():
    w, x = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)

    def step():
        with torch.inference_mode():
            y = x @ w
            with torch.inference_mode(False):
                z = (x @ w).sum()
        with torch.no_grad():
            y = (y + x @ w).relu()
            with torch.enable_grad():
                z = z + (y.clone() @ w).sum()
        with torch.set_grad_enabled(False):
            z.detach()
        z.backward()
        w.grad = None

    return step


@pattern
def backward_in_a_thread_that_ends():
    w = torch.randn(16, requires_grad=True)

    def step():
        y = w.exp().sin()
        thread = threading.Thread(target=lambda: (y * 2).sum().backward())
        thread.start()
        thread.join()
        w.grad = None

    return step


@pattern
def graphs_over_several_steps():
    """Truncated backpropagation through time: the state of the last step is cut off after three."""
    w, states = torch.randn(4, 4, requires_grad=True), []

    def step():
        states.append(torch.tanh((states[-1] if states else torch.ones(1, 4)) @ w))
        if len(states) == 3:
            states[-1].sum().backward()
            states[:] = [states[-1].detach()]
            w.grad = None

    return step


@pattern
def optimizers_made_and_restored():
    model, x = small_model(), torch.randn(3, 4)

    def step():
        optimizer = torch.optim.AdamW(model.parameters())
        optimizer.register_step_post_hook(lambda *_: optimizer)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        model(x).sum().backward()
        optimizer.step()
        schedule.step()
        optimizer.load_state_dict(optimizer.state_dict())
        model.zero_grad()

    return step


@pattern
def weak_references_and_subclasses():
    class Labelled(torch.Tensor):
        pass

    x = torch.randn(4, requires_grad=True)

    def step():
        y = (x * 2).as_subclass(Labelled)
        y.label = [y]
        z = y + 1
        weakref.ref(z, lambda _: None)
        weakref.finalize(z, len, "done")
        z.sum().backward()
        x.grad = None

    return step


@pattern
def new_classes_of_modules_and_functions():
    x = torch.randn(4, requires_grad=True)

    def step():
        class Local(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                return t * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        class Wraps(nn.Module):
            def forward(self, t):
                return Local.apply(t)

        Wraps()(x).sum().backward()
        x.grad = None

    return step


# ---- the test ----


@pytest.mark.told("custom_function_wrong_gradient", why="tensors on ctx are what must not leak", sometimes=True)
@pytest.mark.told("retain_graph_leak", why="graphs that are kept for nobody are what must not leak", sometimes=True)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="resident memory is read from /proc")
@pytest.mark.parametrize("name", PATTERNS)
def test_flat(name):
    growth, most, _ = run(PATTERNS[name], STEPS)
    assert {k: growth[k] for k in ("tensors", "nodes", "bytes", "blocks")} == {"tensors": 0, "nodes": 0, "bytes": 0, "blocks": 0}
    assert growth["objects"] < STEPS / 2  # a leak is one a step at least; the doctor keeps notes of the last few backwards
    assert most < 20_000  # cycles wait for the collector, but not for long
    assert growth["resident"] <= RESIDENT_SLACK


def test_the_measure_notices_a_leak():
    kept = []
    growth, _, _ = run(lambda: lambda: kept.append(torch.ones(2, requires_grad=True) * 2), 100)
    assert growth["tensors"] >= 100 and growth["nodes"] >= 100 and growth["bytes"] >= 800


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    print(f"{'pattern':42}{'RSS before':>12}{'after':>9}  growth over {steps} steps")
    for name in sys.argv[2:] or PATTERNS:
        before = resident()
        growth, most, seconds = run(PATTERNS[name], steps)
        rest = ", ".join(f"{k} {v:+d}" for k, v in growth.items() if k != "resident")
        after = (resident()) / MEGABYTE
        print(
            f"{name:42}{before / MEGABYTE:9.1f} MB{after:6.1f} MB  resident {growth['resident'] / 1024:+.0f} kB, {rest}, most {most}, {seconds:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
