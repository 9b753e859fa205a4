# ruff: noqa: F722  # shapes, not types
"""Shapes in annotations, checked as functions run."""

import torch
from jaxtyping import Float, Int, TypeCheckError, jaxtyped
from torch import Tensor, nn


def check(value, kind):
    if not isinstance(value, kind):
        raise SystemExit(f"{type(value).__name__} of {tuple(value.shape)} is no {kind}")


@jaxtyped(typechecker=None)
def attend(q: Float[Tensor, "batch time width"], k: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time time"]:
    check(q, Float[Tensor, "batch time width"])
    check(k, Float[Tensor, "batch time width"])
    return q @ k.mT


model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
x, labels = torch.randn(2, 5, 4), torch.randint(0, 5, (2, 5))
check(labels, Int[Tensor, "2 5"])
if isinstance(labels, Float[Tensor, "2 5"]) or isinstance(x, Float[Tensor, "2 5"]) or not issubclass(TypeCheckError, Exception):
    raise SystemExit("a wrong annotation is accepted")
for _ in range(5):
    loss = nn.functional.cross_entropy(attend(model(x), x).transpose(1, 2), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
