"""Checkpointing trades time for memory: a region saves its inputs alone, and runs again when backward comes to it."""

import torch
from torch.utils.checkpoint import checkpoint

saved = []
runs = 0


def block(x, w):
    global runs
    runs += 1
    for _ in range(4):
        x = torch.tanh(x @ w)
    return x


def pack(tensor):
    saved.append(tensor.numel())
    return tensor


torch.manual_seed(0)
w = torch.randn(16, 16, requires_grad=True)
x = torch.randn(8, 16)

gradients = []
for name in ("plain", "checkpointed"):
    saved.clear()
    runs = 0
    w.grad = None
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = block(x, w) if name == "plain" else checkpoint(block, x, w, use_reentrant=False)
    kept = len(saved)
    out.sum().backward()
    gradients.append(w.grad)
    print(f"{name}: forward saved {'several tensors' if kept > 2 else 'at most its inputs'}, block ran {runs} time(s)")
print("same gradient:", torch.equal(*gradients))

# Random numbers are the same the second time: the state of the generator is saved with the region.
drop = torch.nn.Dropout(0.5)
v = torch.ones(10, requires_grad=True)
out = checkpoint(lambda t: drop(t) * t, v, use_reentrant=False)
out.sum().backward()
print("dropout agrees with its second run:", torch.equal(v.grad, 2 * out.detach()))
