"""Checkpointing: a step of twelve transformer-like blocks, as it is and with each block checkpointed.

    PYTHONPATH=src python benchmarks/cases/checkpoint.py

prints what checkpointing saves in memory and costs in time, on retrograd alone: the peak by the allocator's own statistics, beyond what
the parameters and their gradients take; the time as the median of alternating steps.
"""

from __future__ import annotations

import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))  # when run as a script

from registry import case

BLOCKS, BATCH, LENGTH, WIDTH, HEADS = 12, 4, 128, 256, 8


def parameters(torch: Any) -> list[Any]:
    """Of one block: attention, two layers, two norms."""
    weights = [torch.randn(*shape) * 0.05 for shape in ((3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH))]
    norms = [torch.ones(WIDTH), torch.zeros(WIDTH), torch.ones(WIDTH), torch.zeros(WIDTH)]
    return [t.requires_grad_() for t in weights + norms]


def block_of(torch: Any) -> Callable[..., Any]:
    functional = torch.nn.functional

    def block(x, qkv, out, up, down, scale1, shift1, scale2, shift2):
        h = functional.layer_norm(x, (WIDTH,), scale1, shift1)
        heads = functional.linear(h, qkv).view(BATCH, LENGTH, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = heads.unbind(0)
        attention = (q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5).softmax(-1)
        mixed = (attention @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
        x = x + functional.linear(mixed, out)
        h = functional.layer_norm(x, (WIDTH,), scale2, shift2)
        return x + functional.linear(functional.gelu(functional.linear(h, up)), down)

    return block


def step_of(torch: Any) -> Callable[[bool], None]:
    from importlib import import_module

    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    block, blocks = block_of(torch), [parameters(torch) for _ in range(BLOCKS)]
    data = torch.randn(BATCH, LENGTH, WIDTH)
    for t in (t for ts in blocks for t in ts):
        t.grad = torch.zeros_like(t)  # there from the start, so that the peak of a step is about activations

    def step(checkpointed: bool) -> None:
        x = data
        for tensors in blocks:
            x = checkpoint(block, x, *tensors, use_reentrant=False) if checkpointed else block(x, *tensors)
        x.square().mean().backward()

    return step


@case("12 transformer blocks, step", target=1)
def plain(torch):
    step = step_of(torch)
    return lambda: step(False)


@case("12 transformer blocks, step, checkpointed", target=1)
def checkpointed(torch):
    step = step_of(torch)
    return lambda: step(True)


def main() -> None:
    import retrograd as torch

    step = step_of(torch)
    peaks, times = [], ([], [])
    for which in (False, True):
        step(which)
        before = torch.memory_allocated()
        torch.reset_peak_memory_stats()
        step(which)
        peaks.append(torch.max_memory_allocated() - before)
    for _ in range(15):
        for which in (False, True):
            start = time.perf_counter()
            step(which)
            times[which].append(time.perf_counter() - start)
    seconds = [statistics.median(t) for t in times]
    for name, peak, second in zip(("plain", "checkpointed"), peaks, seconds, strict=True):
        print(f"{name:13} {peak / 1e6:8.1f} MB {second * 1e3:8.1f} ms")
    ratio = statistics.median(b / a for a, b in zip(*times, strict=True))
    print(f"checkpointing saves {100 * (1 - peaks[1] / peaks[0]):.0f}% of the peak for {100 * (ratio - 1):.0f}% more time")


if __name__ == "__main__":
    main()
