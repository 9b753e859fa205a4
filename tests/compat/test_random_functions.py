"""Custom Functions made at random, on PyTorch and on retrograd.

Forward writes to inputs or not, returns inputs, views of them, new tensors and things that are no tensors, marks and saves some of these;
inputs are leaves, results, views and tensors without gradient. Compared are the outputs (values, flags, what they are views of, whether they
are an input, versions, nodes), what backward sees, and the gradients.
"""

import random

import pytest

import retrograd
from tests.programs.runner import all_agree, as_compared, difference, shown, stored

torch = pytest.importorskip("torch")

PROGRAMS = 1500
BATCHES = 10

OUTPUTS = [
    "x", "y", "x.view(-1)", "x[:1]", "x * 2", "y + 1", "x.long()", "None", "5", "x.detach()", "(x * 2).view(-1)", "n", "n",
    "x.expand(2, 2)", "y.view(2)", "n[:1]", "torch.ones(2)", "x * y", "x.clone()",
]  # fmt: skip
INPUTS = [
    "leaf(1., 2.)", "leaf(1., 2.) * 1", "torch.tensor([1., 2.])", "(leaf(1., 2., 3.) * 1)[:2]", "torch.tensor([1., 2., 3.])[:2]",
    "leaf(1., 2., 3.)[1:]",
]  # fmt: skip
GRADIENTS = ["torch.ones(2) * 2, torch.ones(2) * 3", "torch.ones(2), None", "None, torch.ones(2)"]
WRITES = ["add_(1)", "mul_(2)", "detach_()", "requires_grad_()"]

PROGRAM = """
def program(torch, Function, leaf, show, attempt):
    def plain(t):
        return t.detach() if isinstance(t, torch.Tensor) else t

    class F(Function):
        boxed_grads_call, clear_saved_tensors_on_access = {boxed}, {clear}

        @staticmethod
        def forward(ctx, x, y):
            {forward}
            return {result}

        @staticmethod
        def backward(ctx, *grads):
            show("grads", [plain(g) for g in (grads[0] if {boxed} else grads)])
            attempt(lambda: [plain(t) for t in ctx.saved_tensors])
            return {gradients}

    a = {a}
    b = {b}
    with torch.set_grad_enabled({grad_mode}):
        results = F.apply(a, {keyword}b)
    results = results if isinstance(results, tuple) else (results,)

    def about(t):
        if not isinstance(t, torch.Tensor):
            return t
        flags = t.requires_grad, t.is_leaf, t._is_view(), t._base is a, t._base is b, t is a, t is b
        return plain(t), flags, t._version, t.grad_fn and t.grad_fn.name(), t.output_nr

    for t in (*results, a, b):
        show(about(t))
    show([results[i] is results[j] for i in range(len(results)) for j in range(i)])
    if isinstance(results[{chosen}], torch.Tensor):
        attempt(lambda: {write})
        show(about(a), about(b))
    used = [t for t in results if isinstance(t, torch.Tensor) and t.requires_grad]
    if used:
        attempt(lambda: sum(t.sum() * (i + 2) for i, t in enumerate(used)).backward(create_graph={create_graph}))
    show(*[plain(t.grad) for t in (a, b) if t.is_leaf])
"""


def make(rng):
    """The text of one program."""
    dirty, lines = [], []
    for name in "xy":
        if rng.random() < 0.2:
            lines.append(f"{name}.mul_(2)")
            if rng.random() < 0.85:
                dirty.append(name)
    outputs = [rng.choice(OUTPUTS) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    outputs += [name for name in dirty if name not in outputs and rng.random() < 0.9]
    names = [f"o{i}" for i in range(len(outputs))]
    lines += ["n = x * 3", *(f"{name} = {output}" for name, output in zip(names, outputs, strict=True))]
    tensors = [name for name, output in zip(names, outputs, strict=True) if output not in ("None", "5")]
    b = "a" if rng.random() < 0.1 else rng.choice(INPUTS)
    # A tensor that is dirty and not differentiable is one of docs/differences.md.
    marked = [name for name in tensors if rng.random() < 0.15 and not (dirty and outputs[int(name[1:])] in ("x", "y"))]
    saved = [rng.choice(["x", "y", "n", *tensors]) for _ in range(rng.choice([0, 0, 1, 2]))]
    for method, arguments in (("mark_dirty", dirty), ("mark_non_differentiable", marked), ("save_for_backward", saved)):
        if arguments:
            lines.append(f"ctx.{method}({', '.join(arguments)})")
    if rng.random() < 0.3:
        lines.append("ctx.set_materialize_grads(False)")
    if rng.random() < 0.1:
        lines.append("ctx._is_pure_view = True")
    return PROGRAM.format(
        forward="\n            ".join(lines),
        result=names[0] if len(names) == 1 and rng.random() < 0.8 else f"({', '.join(names)},)",
        gradients=rng.choice(GRADIENTS),
        a=rng.choice(INPUTS),
        b=b,
        grad_mode=rng.random() < 0.75,
        chosen=(chosen := rng.randrange(len(names))),
        write=f"about(results[{chosen}].{rng.choice(WRITES)})" if rng.random() < 0.4 else "'no write'",
        boxed=rng.random() < 0.2,
        clear=rng.random() < 0.2,
        keyword="y=" if rng.random() < 0.1 else "",
        create_graph=rng.random() < 0.2,
    )


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_functions(batch):
    for seed in range(batch, PROGRAMS, BATCHES):
        code = make(random.Random(seed))
        space = {}
        exec(code, space)
        with as_compared(torch):
            theirs, ours = stored(shown(torch, space["program"])), shown(retrograd, space["program"])
        assert all_agree(theirs, ours), f"seed {seed}:\n{code}\n{difference(theirs, ours)}"
