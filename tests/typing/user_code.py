"""Typical programs of users, for a type checker to read: every line is right. tests/test_typing.py also runs them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import Tensor, nn, optim
from retrograd.autograd import Function
from retrograd.func import functional_call, grad, hessian, jacrev, jvp, vjp, vmap
from retrograd.utils.checkpoint import checkpoint

# ---- modules ----


class Block(nn.Module):
    """Attention and a multilayer perceptron, each with a residual connection."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.scale * self.project(attended.transpose(1, 2).reshape(batch, length, width))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class Model(nn.Module):
    def __init__(self, vocabulary: int, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList([Block(width, heads=2) for _ in range(depth)])
        self.head = nn.Linear(width, vocabulary)
        self.apply(self._start)

    @staticmethod
    def _start(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        x = self.embed(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.training else block(x)
        logits: Tensor = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


# ---- a training loop ----


def batches(tokens: Tensor, length: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
    for _ in range(count):
        start = int(torch.randint(0, len(tokens) - length - 1, (1,)).item())
        piece = tokens[start : start + length + 1]
        yield piece[None, :-1], piece[None, 1:]


def train(steps: int = 3) -> float:
    torch.manual_seed(0)
    device = torch.device("cpu")
    tokens = torch.arange(64, device=device) % 11
    model = Model(11).to(device)
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    optimizer = optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=1e-2, betas=(0.9, 0.95))
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    total = 0.0
    model.train()
    for inputs, targets in batches(tokens, 8, steps):
        optimizer.zero_grad(set_to_none=True)
        _, loss = model(inputs, targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        assert bool(norm.isfinite())
        optimizer.step()
        scheduler.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        logits, _ = model(tokens[None, :8])
        best = logits.argmax(dim=-1)
    assert best.shape == (1, 8) and best.dtype == torch.int64
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": steps}
    model.load_state_dict(state["model"], strict=True)
    return total / steps


# ---- ops of one's own ----


class Clipped(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, limit: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.limit = limit
        return x.clamp(-limit, limit)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grads[0] * (x.abs() <= ctx.limit), None


def custom_function() -> Tensor:
    x = torch.linspace(-2, 2, 5, requires_grad=True)
    y: Tensor = Clipped.apply(x, 1.0)
    y.sum().backward()
    assert x.grad is not None
    return x.grad


# ---- transforms ----


def loss_of(weights: Tensor, x: Tensor) -> Tensor:
    return ((x @ weights).tanh() ** 2).sum()


def transforms() -> list[Tensor]:
    weights, x = torch.randn(3), torch.randn(4, 3)
    per_sample = vmap(grad(loss_of), in_dims=(None, 0))(weights, x)
    curvature = hessian(loss_of)(weights, x)
    value, tangent = jvp(lambda w: loss_of(w, x), (weights,), (torch.ones_like(weights),))
    again, pull = vjp(loss_of, weights, x)
    pulled = pull(torch.tensor(1.0))
    jacobian = jacrev(torch.sin)(x)
    model = nn.Linear(3, 2)
    out = functional_call(model, dict(model.named_parameters()), (x,))
    return [per_sample, curvature, value, tangent, again, pulled[0], jacobian, out]


def hooks() -> list[float]:
    seen: list[float] = []
    x = torch.ones(2, requires_grad=True)
    handle = x.register_hook(lambda g: g * 2)
    y = x * 3
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.sum().item()))
    y.sum().backward(retain_graph=True)
    handle.remove()
    (g,) = torch.autograd.grad(y.sum(), [x], create_graph=False)
    return [*seen, g.sum().item()]


# ---- data: indexing, operators, reductions ----


def indexing(x: Tensor) -> Tensor:
    first, last = x[0], x[..., -1]
    rows = x[[0, 2]]
    masked = x[x > 0]
    picked = x[torch.tensor([0, 1]), torch.tensor([1, 0])]
    column = x[:, None, 1:3]
    x = x.clone()
    x[0, 1] = 5
    x[x < 0] = 0.0
    x[1] += first
    return torch.cat([last.flatten(), rows.flatten(), masked, picked, column.reshape(-1), x.flatten()])


def operators(x: Tensor, y: Tensor) -> list[Tensor]:
    z = -x + 2 * y - 1 / (y.abs() + 1) + x**2 + 2**y + x // 2 + x % 3 + (x @ y.T).sum() + abs(x)
    z += 1
    z *= y
    mask = (x > y) & (x >= 0) | ~(x != y) ^ (x == y)
    shifted = torch.arange(4) << 1
    return [z, mask, shifted, x.mul_(2).add_(y, alpha=0.5), 1 - x, x.T.mT, x.exp().log1p()]


def reductions(x: Tensor) -> list[Tensor]:
    values, indices = x.max(dim=1)
    named = torch.max(x, 1)
    top = x.topk(2, dim=-1).values
    order = x.sort(descending=True).indices
    total = x.sum() + x.sum(0).mean() + x.sum(dim=(0, 1), keepdim=True)[0, 0]
    deviation, mean = torch.std_mean(x, dim=0)
    low, high = torch.aminmax(x)
    return [
        values,
        indices,
        named.values,
        top,
        order,
        total,
        deviation,
        mean,
        low,
        high,
        x.norm(),
        x.var(0, unbiased=False),
        torch.median(x),
    ]


def shapes(x: Tensor) -> list[Tensor]:
    rows, columns = x.shape
    size: torch.Size = x.size()
    numel: int = x.size(0) * x.size(-1)
    assert rows * columns == numel == x.numel() == size.numel()
    parts = [*x.split(1, dim=0), *x.chunk(2, dim=1), *torch.unbind(x)]
    joined = torch.stack([x, x], dim=0)
    grid = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    where = torch.where(x > 0, x, torch.zeros_like(x))
    return [
        *parts,
        joined,
        *grid,
        where,
        x.view(-1),
        x.reshape(columns, rows),
        x.permute(1, 0),
        x.expand(2, -1, -1),
        x.unsqueeze(0),
        x[None].squeeze(),
    ]


def creation() -> list[Tensor]:
    made = [torch.zeros(2, 3), torch.ones((2, 3)), torch.empty(0), torch.full((2,), math.pi), torch.eye(3), torch.tensor([[1, 2], [3, 4]])]
    made += [torch.rand(2, requires_grad=True), torch.randn(2, 2, dtype=torch.float64), torch.randperm(4), torch.linspace(0, 1, 5)]
    made += [
        torch.tensor(1.5).to(torch.float16),
        torch.ones(2).to("cpu", torch.float64),
        torch.ones(1).double().int().bool(),
        torch.as_tensor([1.0]),
    ]
    return made


def linear_algebra(a: Tensor) -> list[Tensor]:
    spd = a @ a.mT + torch.eye(a.size(0))
    u, s, vh = torch.linalg.svd(a)
    q, r = torch.linalg.qr(a)
    decomposition = torch.linalg.eigh(spd)
    chol = torch.linalg.cholesky(spd)
    solved = torch.linalg.solve(spd, torch.ones(a.size(0)))
    sign, log = torch.linalg.slogdet(spd)
    return [u, s, vh, q, r, decomposition.eigenvalues, decomposition.eigenvectors, chol, solved, sign, log, torch.einsum("ij,kj->ik", a, a)]


def numbers(x: Tensor) -> list[Any]:
    numbers: list[float] = x.flatten().tolist()
    limits = torch.finfo(x.dtype)
    count: int = len(x)
    on: bool = x.requires_grad and x.is_leaf and x.is_floating_point()
    name: str = x.device.type
    return [numbers, limits.eps, count, on, name, float(x[0, 0]), int(x.sum()), torch.is_tensor(x), torch.get_default_dtype()]


def activations(x: Tensor) -> list[Tensor]:
    functions: list[Callable[[Tensor], Tensor]] = [torch.relu, torch.sigmoid, F.gelu, F.silu, torch.tanh, F.softplus, torch.special.expit]
    return [f(x) for f in functions] + [
        F.softmax(x, dim=-1),
        F.dropout(x, p=0.1, training=False),
        F.layer_norm(x, x.shape[-1:]),
        F.pad(x, (1, 1)),
    ]


def main() -> None:
    x = torch.randn(3, 4)
    assert train() > 0
    for result in (custom_function(), *transforms(), indexing(x), *operators(x, torch.randn(3, 4)), *reductions(x), *shapes(x)):
        assert isinstance(result, Tensor)
    assert all(isinstance(t, Tensor) for t in [*creation(), *linear_algebra(torch.randn(3, 3)), *activations(x)])
    assert numbers(x)[2] == 3 and hooks() == [2.0, 2.0, 6.0]


if __name__ == "__main__":
    main()
