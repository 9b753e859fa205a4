"""Errors about a missing history name the line where it was cut: programs as people write them, one bug each.

In a program the lines that the error has to name end in `# <-`; `loss` is what backward() is called on.
"""

import gc
import linecache
import re
import textwrap

import pytest

import retrograd as torch

PROGRAMS = {
    "no_grad block, used far away": """
        with torch.no_grad():  # <-
            h = w * 2  # <-
            y = h.sum()
        loss = (y * 3 + 1).exp().reshape(1)[0]
        """,
    "set_grad_enabled(False) that was never switched back": """
        torch.set_grad_enabled(False)  # <-
        h = (w * 2).sum()  # <-
        torch.set_grad_enabled(True)
        loss = h / 2
        """,
    "set_grad_enabled in a with statement": """
        train = False
        with torch.set_grad_enabled(train):  # <-
            h = model(x)  # <-
        loss = ((h - 1) ** 2).mean()
        """,
    "decorated function": """
        @torch.no_grad()  # <-
        def evaluate(x):
            return model(x).pow(2).mean()  # <-
        loss = evaluate(x) * 2
        """,
    "decorator without brackets": """
        @torch.no_grad  # <-
        def evaluate(x):
            return model(x).pow(2).mean()  # <-
        loss = evaluate(x) * 2
        """,
    "decorated method": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 2)

            @torch.no_grad()  # <-
            def encode(self, x):
                return self.layer(x)  # <-

            def forward(self, x):
                return self.encode(x).relu().sum()
        loss = Net()(x)
        """,
    "one manager that decorates two functions": """
        quiet = torch.no_grad()
        @quiet
        def first(x):
            return model(x).sum()
        @quiet  # <-
        def second(x):
            return model(x).mean()  # <-
        first(x)
        loss = second(x) + 1
        """,
    "decorated with set_grad_enabled": """
        @torch.set_grad_enabled(False)  # <-
        def evaluate(x):
            return model(x).sum()  # <-
        loss = evaluate(x) * 2
        """,
    "decorated generator": """
        @torch.no_grad()  # <-
        def batches():
            for i in range(2):
                yield model(x) + i  # <-
        loss = sum(batches()).mean()
        """,
    "decorated with inference_mode": """
        @torch.inference_mode()  # <-
        def evaluate(x):
            return model(x).sum()  # <-
        loss = evaluate(x)
        """,
    "inference_mode block": """
        with torch.inference_mode():  # <-
            features = model(x)  # <-
        loss = (features * 2).sum()
        """,
    "the loss of the evaluation loop": """
        losses = []
        for epoch in range(2):
            out = ((model(x) - 1) ** 2).mean()
            out.backward()
            with torch.no_grad():  # <-
                losses.append(((model(x) - 1) ** 2).mean())  # <-
        loss = sum(losses) / len(losses)
        """,
    "outer no_grad after an inner enable_grad": """
        with torch.no_grad():  # <-
            with torch.enable_grad():
                with torch.no_grad():
                    model(x)
            h = w * 2  # <-
        loss = h.sum()
        """,
    "detach": """
        h = model(x).detach()  # <-
        loss = ((h - 1) ** 2).mean()
        """,
    "detach of a detached tensor names the first": """
        h = (w * 2).detach()  # <-
        g = h.detach() + 1
        loss = g.detach().sum()
        """,
    "detach_": """
        h = model(x)
        h.detach_()  # <-
        loss = h.sum()
        """,
    ".data": """
        h = model(x).data  # <-
        loss = (h ** 2).sum()
        """,
    "Variable of .data": """
        h = torch.autograd.Variable(model(x).data)  # <-
        loss = (h ** 2).sum()
        """,
    "argmax": """
        predicted = model(x).argmax(1)  # <-
        loss = (predicted.float() - 1).pow(2).mean()
        """,
    "accuracy in place of a loss": """
        correct = model(x).max(1).indices == torch.zeros(4, dtype=torch.long)  # <-
        loss = 1 - correct.float().mean()
        """,
    "a comparison": """
        hits = model(x) > 0.5  # <-
        loss = hits.float().mean()
        """,
    "conversion to integers and back": """
        rounded = model(x).round().long()  # <-
        loss = rounded.float().sum()
        """,
    "topk indices": """
        best = model(x).topk(1).indices  # <-
        loss = best.double().sum()
        """,
    "sampling actions": """
        probabilities = torch.softmax(model(x), 1)
        actions = torch.multinomial(probabilities, 1)  # <-
        loss = -actions.float().mean()
        """,
    "a mask chooses among constants": """
        inside = model(x) > 0  # <-
        loss = torch.where(inside, torch.ones(4, 2), torch.zeros(4, 2)).sum()
        """,
    "integers as indices": """
        chosen = torch.argmax(model(x), 1)  # <-
        table = torch.randn(2, 3)
        loss = table[chosen].sum()
        """,
    "torch.tensor of a tensor": """
        h = torch.tensor(model(x).sum())  # <-
        loss = h * 2
        """,
    "torch.tensor of a list of losses": """
        losses = torch.tensor([model(x).sum(), model(x).mean()])  # <-
        loss = losses.mean()
        """,
    "torch.tensor of numbers": """
        numbers = [model(x).sum().item() for _ in range(3)]
        losses = torch.tensor(numbers)  # <-
        loss = losses.mean() * 2
        """,
    "as_tensor of a list from tolist": """
        values = model(x).tolist()
        h = torch.as_tensor(values)  # <-
        loss = (h - 1).pow(2).mean()
        """,
    "through NumPy memory": """
        array = model(x).detach().numpy()  # <-
        h = torch.from_numpy(array[:2])  # <-
        loss = h.sum()
        """,
    "computed by NumPy": """
        array = model(x).detach().numpy() * 2 + 1
        h = torch.from_numpy(array)  # <-
        loss = h.sum()
        """,
    "torch.tensor of an array": """
        h = torch.tensor(model(x).detach().numpy())  # <-
        loss = h.sum()
        """,
    "parameters frozen one by one": """
        for p in model.parameters():
            p.requires_grad = False  # <-
        loss = model(x).sum()
        """,
    "a frozen module": """
        model.requires_grad_(False)  # <-
        loss = model(x).pow(2).sum()
        """,
    "a target network": """
        import copy
        target = copy.deepcopy(model)
        for p in target.parameters():
            p.requires_grad_(False)  # <-
        loss = ((target(x) - 1) ** 2).mean()
        """,
    "a parameter made without requires_grad": """
        scale = torch.nn.Parameter(torch.ones(3), requires_grad=False)  # <-
        loss = (scale * x).sum()
        """,
    "written into a buffer": """
        buffer = torch.zeros(4, 2)
        with torch.no_grad():  # <-
            buffer.copy_(model(x))  # <-
        loss = buffer.sum()
        """,
    "written into a slice": """
        history = torch.zeros(3)
        history[1] = model(x).sum().detach()  # <-
        loss = history.mean()
        """,
    "accumulated in place": """
        total = torch.zeros(())
        for _ in range(3):
            total += model(x).sum().data  # <-
        loss = total / 3
        """,
    "a view made before the write": """
        buffer = torch.zeros(4, 2)
        row = buffer[1]
        buffer.add_(model(x).detach())  # <-
        loss = row.sum()
        """,
    "out=": """
        out = torch.empty(3)
        with torch.no_grad():  # <-
            torch.mul(w, 2, out=out)  # <-
        loss = out.sum()
        """,
    "out= of a matrix product": """
        out = torch.empty(4, 4)
        with torch.no_grad():  # <-
            torch.mm(x @ torch.outer(w, w), x.t(), out=out)  # <-
        loss = out.sum()
        """,
    "stack, cat and indexing": """
        h = model(x).detach()  # <-
        parts = torch.stack([h, torch.ones(4, 2)])
        loss = torch.cat([parts, parts])[1:, 0].sum()
        """,
    "split and unbind": """
        h = model(x).detach()  # <-
        a, b = h.split(2)
        loss = a.unbind(0)[0].sum() + b.chunk(2)[1].mean()
        """,
    "a custom Function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return grad * 2
        h = model(x).detach()  # <-
        loss = Double.apply(h).sum()
        """,
    "an output that a Function marks": """
        class Best(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                values, indices = x.max(1)
                ctx.mark_non_differentiable(values)
                return values
            @staticmethod
            def backward(ctx, grad):
                return grad
        h = Best.apply(model(x))  # <-
        loss = h.sum()
        """,
    "a Function that returns its input, under no_grad": """
        class Same(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x
            @staticmethod
            def backward(ctx, grad):
                return grad
        with torch.no_grad():  # <-
            h = Same.apply(w * 2) + Same.apply(w)  # <-
        loss = h.sum()
        """,
    "what a Function uses without taking it as an argument": """
        class Scale(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * w
            @staticmethod
            def backward(ctx, grad):
                return grad
        h = Scale.apply(x)  # <-
        loss = h.sum()
        """,
    "a reentrant checkpoint of a constant": """
        import warnings
        from retrograd.utils.checkpoint import checkpoint
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            h = checkpoint(model, x, use_reentrant=True)  # <-
        loss = h.sum()
        """,
    "a checkpoint under no_grad": """
        from retrograd.utils.checkpoint import checkpoint
        with torch.no_grad():  # <-
            h = checkpoint(model, x, use_reentrant=False)  # <-
        loss = h.sum()
        """,
    "a module": """
        h = model(x).detach()  # <-
        loss = torch.nn.LayerNorm(2, elementwise_affine=False)(torch.nn.functional.gelu(h)).sum()
        """,
    "a penalty on .grad": """
        model(x).sum().backward()  # <-
        loss = sum((p.grad ** 2).sum() for p in model.parameters())
        """,
    "a penalty on a gradient without create_graph": """
        g, = torch.autograd.grad((w * w * w).sum(), w)  # <-
        loss = g.pow(2).sum()
        """,
    "two cuts": """
        with torch.no_grad():  # <-
            target = model(x)  # <-
        predicted = model(x).detach()  # <-
        loss = torch.nn.functional.mse_loss(predicted, target)
        """,
    "a subclass": """
        h = torch.nn.Parameter(model(x).detach(), requires_grad=False)  # <-
        loss = h.as_subclass(torch.Tensor).sum()
        """,
    "a deep copy": """
        import copy
        h = copy.deepcopy(model(x).detach())  # <-
        loss = copy.copy(h).sum()
        """,
    "through DLPack": """
        h = model(x).detach()  # <-
        loss = torch.from_dlpack(h).sum()
        """,
    "set_": """
        h = torch.empty(0).set_(model(x).detach())  # <-
        loss = h.sum()
        """,
    "a forward derivative of a constant": """
        h = w.detach()  # <-
        loss = torch.func.jvp(lambda v: v * 2, (h,), (h,))[0].sum()
        """,
    "a vmap over a constant": """
        h = model(x).detach()  # <-
        loss = torch.func.vmap(lambda row: row * 2)(h).sum()
        """,
    "a list of rows": """
        h = model(x).detach()  # <-
        rows = [row for row in h]
        loss = sum(row.sum() for row in rows)
        """,
    "the largest of several": """
        h = model(x).detach()  # <-
        loss = max(h.sum(), h.mean())
        """,
    "advanced indexing and masks": """
        h = model(x).detach()  # <-
        loss = h[h > 0].sum() + h[[0, 1], [1, 0]].sum()
        """,
    "written with indices": """
        buffer = torch.zeros(4, 2)
        buffer[torch.tensor([0, 2])] = model(x).detach()[:2]  # <-
        loss = buffer.sum()
        """,
    "an EMA": """
        average = torch.zeros(3)
        average.mul_(0.9).add_(w.data, alpha=0.1)  # <-
        loss = (average * x).sum()
        """,
    "clamped in place": """
        h = (w * 2).detach()  # <-
        h.clamp_(0, 1).mul_(3)
        loss = h.sum()
        """,
    "an einsum of a transposed copy": """
        h = model(x).detach()  # <-
        loss = torch.einsum("ij,kj->ik", h.t().contiguous().t(), torch.ones(3, 2)).sum()
        """,
}


def run(name, program):
    """Runs a program; gives its namespace and the lines that are marked."""
    file = f"<{name}>"
    source = textwrap.dedent(program).strip() + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    torch.manual_seed(0)
    namespace = {"torch": torch, "w": torch.ones(3, requires_grad=True), "x": torch.randn(4, 3), "model": torch.nn.Linear(3, 2)}
    exec(compile(source, file, "exec"), namespace)
    return namespace, [f"{file}:{n}" for n, line in enumerate(source.splitlines(), 1) if line.endswith("# <-")]


SHARED = pytest.mark.on_cpu("memory is shared on the CPU alone")
SHARING = {"through NumPy memory", "computed by NumPy", "torch.tensor of an array", "through DLPack"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[SHARED] * (name in SHARING)) for name in PROGRAMS])
def test_the_line_of_the_cut_is_named(name):
    namespace, lines = run(name, PROGRAMS[name])
    loss = namespace["loss"]
    with pytest.raises(RuntimeError, match="^element 0 of tensors does not require grad and does not have a grad_fn") as error:
        loss.backward()
    text = str(error.value)
    assert lines
    for line in lines:
        assert line + " " in text, text
        assert line + " " in loss.why_no_grad()
    assert set(re.findall(re.escape(f"<{name}>:") + r"\d+", text)) == set(lines), text  # and no other line
    hints = [part for part in text.splitlines() if part.startswith("  Hint: ")]
    assert hints and not any("requires_grad_(" in hint for hint in hints)  # which would hide the bug


def message(tensor):
    with pytest.raises(RuntimeError) as error:
        tensor.backward()
    return str(error.value)


def test_other_copies_are_not_taken_for_parameters():
    import copy

    plain = torch.randn(2)
    assert copy.copy(plain)._cut == [] and copy.deepcopy(plain)._cut == []


def test_gradients_of_transforms_are_not_blamed_on_a_backward():
    text = message(torch.func.grad(lambda v: (v * v).sum())(torch.randn(3)).sum())
    assert "create_graph" not in text


def test_leaves_without_a_known_line():
    text = message((torch.randn(3) * 2).sum())
    assert "nothing that it was computed from requires grad" in text
    assert "requires_grad=True" in text
    assert message(torch.zeros((), dtype=torch.long)).count("torch.int64") == 1


def test_a_tensor_with_history_is_not_accused():
    w = torch.ones(3, requires_grad=True)
    y = w.detach() * w
    assert "MulBackward0" in y.why_no_grad()
    assert w.why_no_grad() == "this tensor is a leaf that requires grad"
    y.sum().backward()


def test_a_history_through_which_nothing_comes():
    w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    said = (w.round() + v.sign()).sum().why_no_grad()
    assert said.startswith("this tensor has a history: its grad_fn is SumBackward0, but the gradients of all leaves are zero")
    assert f"RoundBackward0, made at {__file__}:" in said and "SignBackward0" in said and "Hint: " in said
    assert (w.round() + v).sum().why_no_grad() == "this tensor has a history: its grad_fn is SumBackward0"


def test_conversions_and_functions_are_named_as_such():
    class Marked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x * 2
            ctx.mark_non_differentiable(result)
            return result

    w = torch.ones(3, requires_grad=True)
    assert "ended in a conversion to integers or booleans at" in w.long().why_no_grad()
    assert "which marks its result with ctx.mark_non_differentiable()" in Marked.apply(w).why_no_grad()


def test_what_reads_no_values_is_no_cut():
    w = torch.ones(3, requires_grad=True)
    for made in (torch.zeros_like(w), torch.ones_like(w * 2), w.new_zeros(2), torch.rand_like(w), torch.empty_like(w)):
        assert made._cut == []


def test_overwriting_forgets_the_cut():
    h = (torch.ones(3, requires_grad=True) * 2).detach()
    h.zero_()
    assert h._cut == []
    g = (torch.ones(3, requires_grad=True) * 2).detach()
    g.copy_(torch.randn(3))
    assert g._cut == []


def test_a_cut_outranks_a_leaf():
    data = torch.tensor([1.0, 2.0, 3.0])
    frozen = torch.ones(3, requires_grad=True).requires_grad_(False)
    assert [note[0] for note in (data * frozen)._cut] == ["frozen"]
    cut = torch.ones(3, requires_grad=True).detach()
    assert [note[0] for note in (data * frozen * cut)._cut] == ["detach"]


def test_thawed_parameters_learn_again():
    w = torch.ones(3, requires_grad=True)
    w.requires_grad_(False)
    w.requires_grad_(True)
    w.sum().backward()
    assert w.grad.tolist() == [1, 1, 1]


def test_at_most_a_few_lines_are_listed():
    w = torch.ones(3, requires_grad=True)
    a = w.detach()
    b = w.detach()
    c = w.detach()
    d = w.detach()
    e = w.detach()
    total = a + b + c + d + e
    assert len(total._cut) == 3


def test_notes_keep_nothing_alive():
    before, _ = torch._C._live_objects()
    w = torch.ones(1000, requires_grad=True)
    h = (w * 2).detach().sum()
    del w
    gc.collect()
    assert torch._C._live_objects()[0] <= before + 1
    assert h._cut[0][0] == "detach"


def test_notes_of_code_that_is_gone_are_swept():
    """Programs that compile code again and again (notebooks, templates) do not grow without bound."""
    import weakref

    namespace = {"torch": torch, "w": torch.ones(1, requires_grad=True)}
    first = None
    kept = namespace["w"].detach()
    line = kept._cut
    for i in range(10_000):
        code = compile("h = w.detach()", f"<{i}>", "exec")
        exec(code, namespace)
        if first is None:
            first = weakref.ref(code)
        del code
    gc.collect()
    assert first() is None
    assert kept._cut == line


def test_modes_of_other_threads_are_not_blamed():
    import threading

    w = torch.ones(3, requires_grad=True)
    results = []

    def evaluate():
        with torch.no_grad():
            results.append(w * 2)

    thread = threading.Thread(target=evaluate)
    thread.start()
    thread.join()
    (kind, _, mode, at), *rest = results[0]._cut
    assert (kind, mode[2], at[2], rest) == ("no_grad", evaluate.__qualname__, evaluate.__qualname__, [])
    assert (w * 2).requires_grad


def test_inside_a_function_nothing_stale_is_blamed():
    """The forward of a Function records nothing, whatever was switched off before somewhere else."""

    class Leak(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            Leak.inner = x * 2
            return Leak.inner + 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with torch.no_grad():
        pass
    Leak.apply(torch.ones(3, requires_grad=True))
    assert [note[0] for note in Leak.inner._cut] == ["forward"]
