"""Models too large for any machine, on "meta": built, run, differentiated and stepped in seconds, without memory for one element."""

import resource
import time
from typing import NamedTuple

import pytest

import retrograd
from retrograd import nn

F = nn.functional


class Sizes(NamedTuple):
    words: int
    width: int
    heads: int
    groups: int  # of heads that share keys and values
    hidden: int
    layers: int
    tokens: int


LARGE = Sizes(words=128256, width=8192, heads=64, groups=8, hidden=28672, layers=80, tokens=2048)
SMALL = Sizes(words=50, width=16, heads=4, groups=2, hidden=24, layers=2, tokens=5)


class Attention(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.copies, self.size = sizes.heads // sizes.groups, sizes.width // sizes.heads
        self.query = nn.Linear(sizes.width, sizes.width, bias=False)
        self.key = nn.Linear(sizes.width, sizes.groups * self.size, bias=False)
        self.value = nn.Linear(sizes.width, sizes.groups * self.size, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (layer(x).view(batch, tokens, -1, self.size).transpose(1, 2) for layer in (self.query, self.key, self.value))
        k, v = (t.repeat_interleave(self.copies, 1) for t in (k, v))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    def __init__(self, sizes, norm):
        super().__init__()
        self.before, self.between, self.attention = norm(sizes.width), norm(sizes.width), Attention(sizes)
        self.gate, self.up = (nn.Linear(sizes.width, sizes.hidden, bias=False) for _ in range(2))
        self.down, self.dropout = nn.Linear(sizes.hidden, sizes.width, bias=False), nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        h = self.between(x)
        return x + self.dropout(self.down(F.silu(self.gate(h)) * self.up(h)))


class Decoder(nn.Module):
    def __init__(self, sizes, norm):
        super().__init__()
        self.words = nn.Embedding(sizes.words, sizes.width)
        self.blocks = nn.ModuleList(Block(sizes, norm) for _ in range(sizes.layers))
        self.norm, self.head = norm(sizes.width), nn.Linear(sizes.width, sizes.words, bias=False)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def train(model, optimizer, tokens):
    logits = model(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return logits, loss


def made(sizes, norm, device, dtype=None):
    with retrograd.device(device):
        model, tokens = Decoder(sizes, norm), retrograd.randint(0, sizes.words, (4, sizes.tokens))
    return (model.to(dtype) if dtype else model), tokens


NORMS = [pytest.param(nn.RMSNorm, id="rms_norm"), pytest.param(nn.LayerNorm, id="layer_norm")]
OPTIMIZERS = {
    "adamw": lambda parameters: retrograd.optim.AdamW(parameters, lr=1e-4),
    "sgd": lambda parameters: retrograd.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adam one by one": lambda parameters: retrograd.optim.Adam(parameters, amsgrad=True, foreach=False),
}


@pytest.mark.parametrize("dtype", [None, retrograd.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("norm", NORMS)
def test_seventy_billion_parameters_take_seconds_and_no_memory(norm, dtype):
    start, resident = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = retrograd.memory_allocated()
    retrograd.reset_peak_memory_stats()
    model, tokens = made(LARGE, norm, "meta", dtype)
    assert sum(p.numel() for p in model.parameters()) > 70e9
    logits, loss = train(model, OPTIMIZERS["adamw"](model.parameters()), tokens)
    assert logits.shape == (4, LARGE.tokens, LARGE.words) and loss.shape == ()
    assert all(p.grad.is_meta and p.grad.shape == p.shape and p.grad.dtype == p.dtype for p in model.parameters())
    assert retrograd.max_memory_allocated() - held < 1e6  # a number or two for each parameter, such as the count of steps
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident < 100e3  # kilobytes; the parameters alone would be 280 GB
    assert time.perf_counter() - start < 20  # a fraction of a second, when nothing else runs


def described(model, optimizer, results):
    """All that is known of a step without its values."""

    def known(t):
        return tuple(t.shape), t.stride(), t.dtype, t.requires_grad

    state = [{name: known(t) for name, t in optimizer.state[p].items() if t.dim()} for p in model.parameters()]
    return [known(t) for t in results], [(known(p), known(p.grad)) for p in model.parameters()], state


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("norm", NORMS)
def test_a_step_is_the_real_one_without_values(norm, optimizer):
    steps = []
    for device in ("cpu", "meta"):
        model, tokens = made(SMALL, norm, device)
        rule = OPTIMIZERS[optimizer](model.parameters())
        steps.append(described(model, rule, train(model, rule, tokens)))
    assert steps[0] == steps[1]
