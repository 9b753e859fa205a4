"""What recording costs: a small transformer's training step inside torch.profiler.profile and outside, by turns.

    python benchmarks/profiling.py
    python benchmarks/profiling.py --rounds 60 --threads 2

Prints the median of both and the median of their ratios, for each of the profiler's options. Reading the profile is not part of it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import nn

STEPS = 10  # of one measurement
OPTIONS: list[dict[str, Any]] = [{}, {"record_shapes": True}, {"profile_memory": True}, {"with_modules": True}, {"with_stack": True}]


def training_step() -> Callable[[], None]:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(64, 64))
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = torch.randn(8, 32, 64), torch.randint(64, (256,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x).flatten(0, 1), y).backward()
        optimizer.step()

    return step


def seconds(step: Callable[[], None]) -> float:
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return (time.perf_counter() - start) / STEPS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    step = training_step()
    for _ in range(10):
        step()
    print(f"{'':32}{'plain':>10}{'profiled':>10}{'ratio':>8}{'events':>8}")
    for options in OPTIONS:
        plain, profiled = [], []
        for _ in range(arguments.rounds):
            plain.append(seconds(step))
            with torch.profiler.profile(**options) as recorded:
                profiled.append(seconds(step))
        ratio = statistics.median(b / a for a, b in zip(plain, profiled, strict=True))
        count = len(recorded.events()) // STEPS
        words = ", ".join(f"{name}=True" for name in options) or "no options"
        print(f"{words:32}{statistics.median(plain) * 1e3:7.3f} ms{statistics.median(profiled) * 1e3:7.3f} ms{ratio:8.3f}{count:8}")


if __name__ == "__main__":
    main()
