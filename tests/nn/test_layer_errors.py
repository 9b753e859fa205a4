"""Errors that leave a module name the layer, what it got and what it expected, behind the words of PyTorch."""

import pickle

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.utils.checkpoint import checkpoint


def failure(kind, call, *args, **kwargs):
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    assert type(caught.value) is kind
    return facts_of(caught.value)


def facts_of(error):
    """Without the lines that say which op it was, where the layer was made and what to do: tests/doctor/test_messages.py has those."""
    return "\n".join(line for line in str(error).split("\n") if not line.startswith("  "))


def x(*sizes):
    return torch.zeros(sizes)


class Block(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *args):
        return self.inner(*args)


LAYERS = [
    (nn.Linear(32, 64), (x(8, 16),), RuntimeError, "got input [8, 16], expected [..., 32]"),
    (nn.Linear(3, 4), (x(2, 3).double(),), RuntimeError, "got input [2, 3] of float64, expected [..., 3] of float32"),
    (nn.Linear(3, 4), (None,), TypeError, "got input of type NoneType, expected [..., 3]"),
    (nn.Bilinear(3, 4, 2), (x(5, 3), x(5, 3)), RuntimeError, "got input1 [5, 3], input2 [5, 3], expected [..., 3] and [..., 4]"),
    (nn.Conv1d(3, 4, 3), (x(2, 3, 2),), RuntimeError, "got input [2, 3, 2], expected [N, 3, L] or [3, L]"),
    (nn.Conv2d(3, 4, 3), (x(2, 4, 5, 5),), RuntimeError, "got input [2, 4, 5, 5], expected [N, 3, H, W] or [3, H, W]"),
    (nn.ConvTranspose3d(3, 4, 3), (x(2, 3),), RuntimeError, "got input [2, 3], expected [N, 3, D, H, W] or [3, D, H, W]"),
    (nn.BatchNorm1d(3), (x(2, 4, 5, 5),), ValueError, "got input [2, 4, 5, 5], expected [N, 3] or [N, 3, L]"),
    (nn.BatchNorm2d(3), (x(2, 4, 5, 5),), RuntimeError, "got input [2, 4, 5, 5], expected [N, 3, H, W]"),
    (nn.SyncBatchNorm(3), (x(3),), ValueError, "got input [3], expected [N, 3, ...]"),
    (nn.InstanceNorm2d(3, affine=True), (x(2, 4, 5, 5),), ValueError, "got input [2, 4, 5, 5], expected [N, 3, H, W] or [3, H, W]"),
    (nn.GroupNorm(2, 4), (x(3, 5),), RuntimeError, "got input [3, 5], expected [N, 4, ...]"),
    (nn.LayerNorm([2, 4]), (x(3, 5),), RuntimeError, "got input [3, 5], expected [..., 2, 4]"),
    (nn.RMSNorm(3), (x(4),), RuntimeError, "got x [4], expected [..., 3]"),
    (nn.Embedding(5, 3), (torch.tensor([1, 7]),), IndexError, "got input [2] of values from 1 to 7, expected integers from 0 to 4"),
    (nn.Embedding(5, 3), (x(2),), RuntimeError, "got input [2] of float32, expected integers from 0 to 4"),
    (nn.LSTM(3, 4), (x(5, 2, 4),), RuntimeError, "got input [5, 2, 4], expected [L, N, 3] or [L, 3] and as state [1, N, 4] and [1, N, 4]"),
    (
        nn.GRU(3, 4, 2, batch_first=True, bidirectional=True),
        (x(5, 2, 3), x(2, 2, 4)),
        RuntimeError,
        "got input [5, 2, 3], hx [2, 2, 4], expected [N, L, 3] or [L, 3] and as state [4, N, 4]",
    ),
    (nn.LSTMCell(3, 4), (x(2, 4),), RuntimeError, "got input [2, 4], expected [N, 3] or [3] and as state [N, 4] or [4]"),
    (
        nn.MultiheadAttention(8, 2, batch_first=True),
        (x(2, 4, 7), x(2, 4, 7), x(2, 4, 7)),
        AssertionError,
        "got query [2, 4, 7], key [2, 4, 7], value [2, 4, 7], expected query [N, L, 8], key [N, L, 8], value [N, L, 8]",
    ),
    (nn.CrossEntropyLoss(), (x(3, 4), torch.zeros(2, dtype=torch.long)), ValueError, "got input [3, 4], target [2]"),
]


@pytest.mark.parametrize(("layer", "args", "kind", "facts"), LAYERS, ids=[f"{layer[0]._get_name()}{i}" for i, layer in enumerate(LAYERS)])
def test_each_layer(layer, args, kind, facts):
    alone = failure(kind, layer, *args)
    words, _, added = alone.partition("\n")
    assert words and added == f"in {layer._get_name()}({layer.extra_repr()}): {facts}"
    below = failure(kind, nn.Sequential(nn.Identity(), Block(layer)) if len(args) == 1 else Block(Block(layer)), *args)
    path = "1.inner" if len(args) == 1 else "inner.inner"
    assert below == f"{words}\nin {path} ({layer._get_name()}({layer.extra_repr()})): {facts}"


LINEAR = "(Linear(in_features=3, out_features=4, bias=True)): got input [2, 5], expected [..., 3]"


def mistake(path):
    return f"mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)\nin {path} {LINEAR}"


def test_deep_in_a_model():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 4)
    encoder.layers[3].linear1 = nn.Linear(9, 16)
    said = failure(RuntimeError, nn.Sequential(Block(encoder)), x(2, 3, 8))
    assert "\nin 0.inner.layers.3.linear1 (Linear(in_features=9, " in said


def test_containers():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.many = nn.ModuleList([nn.Identity(), nn.ModuleDict({"wide": nn.Linear(3, 4)})])

        def forward(self, t):
            return self.many[1]["wide"](self.many[0](t))

    assert failure(RuntimeError, nn.Sequential(Branches()), x(2, 5)) == mistake("0.many.1.wide")


def test_data_parallel():
    assert failure(RuntimeError, nn.DataParallel(Block(nn.Linear(3, 4))), x(2, 5)) == mistake("module.inner")


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointed(reentrant):
    class Saved(Block):
        def forward(self, t):
            return checkpoint(self.inner, t, use_reentrant=reentrant)

    model = nn.Sequential(Saved(nn.Linear(3, 4)))
    assert failure(RuntimeError, model, x(2, 5).requires_grad_()) == mistake("0.inner")


def test_vmap_and_functional_call():
    model = Block(nn.Linear(3, 4))
    said = failure(RuntimeError, torch.func.vmap(model), x(7, 2, 5))
    assert said == mistake("inner")
    said = failure(RuntimeError, torch.func.functional_call, model, dict(model.named_parameters()), (x(2, 5),))
    assert said == mistake("inner")
    loss = lambda p, t: torch.func.functional_call(model, p, (t,)).sum()
    assert failure(RuntimeError, torch.func.grad(loss), dict(model.named_parameters()), x(2, 5)) == mistake("inner")
    said = failure(IndexError, torch.func.vmap(nn.Embedding(5, 3)), torch.tensor([[0, 1], [6, 2]]))
    assert "got input [2] of values from 0 to 6" in said


def test_hooks():
    model = Block(nn.Linear(3, 4))
    seen = []
    model.inner.register_forward_pre_hook(lambda m, args: seen.append("before"))
    model.register_forward_hook(lambda m, args, out: seen.append("never"))
    model.register_full_backward_hook(lambda m, grad_in, grad_out: None)
    assert failure(RuntimeError, model, x(2, 5)) == mistake("inner")
    assert seen == ["before"]
    # the sizes are those that forward was called with by the program
    model = Block(nn.Linear(5, 4))
    model.inner.register_forward_pre_hook(lambda m, args: (args[0][:, :3],))
    assert "in inner (Linear(in_features=5" in failure(RuntimeError, model, x(2, 5))


def test_keyword_arguments():
    assert "got target [4], input [3, 4]" in failure(ValueError, nn.CrossEntropyLoss(), target=torch.zeros(4).long(), input=x(3, 4))


def test_own_modules_and_own_checks():
    class Own(nn.Module):
        def forward(self, left, right=None):
            return left @ x(3, 3)

    said = failure(RuntimeError, nn.ModuleDict({"a": Own()})["a"], x(2, 2))
    assert said.endswith("\nin Own(): got left [2, 2]")
    assert failure(RuntimeError, Block(Own()), x(2, 2)).endswith("\nin inner (Own()): got left [2, 2]")


def test_a_module_that_its_caller_does_not_hold():
    linear = nn.Linear(3, 4)

    class Calls(nn.Module):
        def forward(self, t):
            return linear(t)

    assert failure(RuntimeError, Calls(), x(2, 5)).endswith("\nin " + LINEAR[1:].replace("))", ")", 1))
    model = Block(Calls())
    model.kept = linear
    assert failure(RuntimeError, model, x(2, 5)) == mistake("kept")  # known to one further out


def test_not_twice():
    class Again(Block):
        def forward(self, t):
            try:
                return self.inner(t)
            except RuntimeError as error:
                seen.append(facts_of(error))
                raise

    seen = []
    assert failure(RuntimeError, Block(Again(nn.Linear(3, 4))), x(2, 5)) == mistake("inner.inner")
    assert seen == [mistake("inner").replace("inner ", "", 1).replace("(Linear", "Linear").replace("))", ")", 1)]


def test_threads_keep_their_own():
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda i: failure(RuntimeError, Block(nn.Linear(3, 4)), x(2, 5)), range(100)))
    assert set(said) == {mistake("inner")}


class Raises(nn.Module):
    def __init__(self, what):
        super().__init__()
        self.what = what

    def forward(self, t):
        raise self.what


class OwnError(RuntimeError):
    pass


@pytest.mark.parametrize(
    "error",
    [ValueError("mine"), RuntimeError("mine"), OwnError("mine"), KeyError("mine"), StopIteration(3), KeyboardInterrupt(), SystemExit(1)],
    ids=lambda e: type(e).__name__,
)
def test_errors_of_the_program_stay(error):
    args = error.args
    with pytest.raises(type(error)) as caught:
        Block(Raises(error))(x(2))
    assert caught.value is error and error.args == args and not vars(error)


def test_errors_of_python_stay():
    class Parses(nn.Module):
        def forward(self, t):
            return int("x")

    assert failure(ValueError, Block(Parses()), x(2)) == "invalid literal for int() with base 10: 'x'"
    assert failure(TypeError, Block(nn.Linear(3, 4)), x(2, 3), x(2)).endswith("takes 2 positional arguments but 3 were given")


def test_an_error_from_an_error_stays():
    class Translates(Block):
        def forward(self, t):
            try:
                return self.inner(t)
            except RuntimeError as error:
                raise ValueError("bad sizes") from error

    assert failure(ValueError, Block(Translates(nn.Linear(3, 4))), x(2, 5)) == "bad sizes"


def test_a_module_that_cannot_be_described():
    class Shy(nn.Module):
        def extra_repr(self):
            raise OwnError("no")

        def forward(self, t):
            return t @ x(3, 3)

    assert failure(RuntimeError, Shy(), x(2, 2)) == "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x3)"


def test_pickled():
    with pytest.raises(RuntimeError) as caught:
        Block(nn.Linear(3, 4))(x(2, 5))
    assert facts_of(pickle.loads(pickle.dumps(caught.value))) == mistake("inner")
