"""Trains a small network to tell two spirals apart, with plain tensor operations only, and shows what it learned."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import itertools
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SIZES = (2, 32, 32, 1)
POINTS = 400
TURNS = 2.0
BATCH = 50
LEARNING_RATE = 0.06
MOMENTUM = 0.9
BARS = "▁▂▃▄▅▆▇█"


def make_spirals(torch: Any, noise: float = 0.02) -> tuple[Any, Any]:
    """Points of two interleaved spirals in random order, (POINTS, 2), and their labels +1 or -1, (POINTS, 1)."""
    generator = random.Random(0)
    rows = []
    for i in range(POINTS):
        label = 1.0 if i % 2 else -1.0
        radius = 0.08 + 0.87 * (i // 2) / (POINTS // 2)
        angle = TURNS * math.tau * radius + (math.pi if label > 0 else 0.0)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        rows.append((x + generator.gauss(0, noise), y + generator.gauss(0, noise), label))
    generator.shuffle(rows)
    return torch.tensor([row[:2] for row in rows]), torch.tensor([row[2:] for row in rows])


class Network:
    """A multilayer perceptron with tanh everywhere, and stochastic gradient descent with momentum."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        layers = list(itertools.pairwise(SIZES))
        scales = [2.0] + [1.0] * (len(layers) - 1)  # a finer first layer: spirals turn quickly
        self.weights = [
            (torch.randn(i, o) * (scale * math.sqrt(2 / i))).requires_grad_() for (i, o), scale in zip(layers, scales, strict=True)
        ]
        self.biases = [(torch.randn(o) * 0.1).requires_grad_() for _, o in layers]
        self.parameters = self.weights + self.biases
        self.velocities = [torch.zeros(*p.shape) for p in self.parameters]

    def __call__(self, x: Any) -> Any:
        for w, b in zip(self.weights, self.biases, strict=True):
            x = self.torch.tanh(x @ w + b)
        return x

    def loss(self, x: Any, label: Any) -> Any:
        return ((self(x) - label) ** 2).mean()

    def accuracy(self, x: Any, label: Any) -> float:
        with self.torch.no_grad():
            return (self(x) * label > 0).float().mean().item()

    def step(self, x: Any, label: Any, rate: float) -> Any:
        loss = self.loss(x, label)
        loss.backward()
        with self.torch.no_grad():
            for p, v in zip(self.parameters, self.velocities, strict=True):
                v *= MOMENTUM
                v += p.grad
                p -= rate * v
                p.grad = None
        return loss


@dataclass
class Result:
    """What a training run leaves to report."""

    steps: int
    seconds: float
    losses: list[float]  # a few dozen along the way
    before: tuple[float, float]  # loss and accuracy over all points
    after: tuple[float, float]


def train(network: Network, x: Any, label: Any, steps: int, show: Callable[[int, float], None]) -> Result:
    """Trains on one batch after another, calling `show(steps done, loss)` about a hundred times."""

    def score() -> tuple[float, float]:
        return network.loss(x, label).item(), network.accuracy(x, label)

    before, losses, waiting = score(), [], 0.0
    every = max(1, steps // 100)
    start = time.perf_counter()
    for step in range(steps):
        first = step * BATCH % POINTS
        rate = LEARNING_RATE * (1 - step / steps)
        loss = network.step(x[first : first + BATCH], label[first : first + BATCH], rate)
        if (step + 1) % every == 0:
            losses.append(loss.item())
            paused = time.perf_counter()
            show(step + 1, losses[-1])
            waiting += time.perf_counter() - paused  # the terminal's time, not the training's
    return Result(steps, time.perf_counter() - start - waiting, losses, before, score())


class Bar:
    """A progress bar: tqdm's where installed, else one line rewritten in place, or ten lines if not a terminal."""

    def __init__(self, total: int) -> None:
        self.total, self.tqdm, self.done = total, None, 0
        self.live = sys.stderr.isatty()
        if self.live:
            with contextlib.suppress(ImportError):
                self.tqdm = importlib.import_module("tqdm").tqdm(total=total, unit="step")

    def __call__(self, done: int, loss: float) -> None:
        if self.tqdm is not None:
            self.tqdm.set_postfix(loss=f"{loss:.4f}", refresh=False)
            self.tqdm.update(done - self.done)
        elif self.live or done * 10 // self.total > self.done * 10 // self.total:
            filled = round(30 * done / self.total)
            line = f"  [{'#' * filled}{'.' * (30 - filled)}] {done:>5}/{self.total} steps  loss {loss:.4f}"
            print(line, end="\r" if self.live and done < self.total else "\n", file=sys.stderr, flush=True)
        self.done = done

    def close(self) -> None:
        if self.tqdm is not None:
            self.tqdm.close()


def count_nodes(root: Any) -> int:
    """How many nodes the graph behind a `grad_fn` has."""
    seen, stack = set(), [root]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack.extend(following for following, _ in node.next_functions)
    return len(seen)


def sparkline(values: list[float], width: int = 50) -> str:
    """Values as a row of bars, on a logarithmic scale."""
    size = max(1, math.ceil(len(values) / width))
    means = [math.log(sum(chunk) / len(chunk) + 1e-9) for chunk in (values[i : i + size] for i in range(0, len(values), size))]
    low, high = min(means), max(means)
    return "".join(BARS[int((m - low) / ((high - low) or 1) * (len(BARS) - 1))] for m in means)


def draw(network: Network, x: Any, label: Any, width: int = 64, height: int = 26) -> str:
    """What the network answers over the square, dark and light, with the points it learned from on top."""
    torch = network.torch
    across, down = torch.linspace(-1.05, 1.05, width).tolist(), torch.linspace(1.05, -1.05, height).tolist()
    with torch.no_grad():
        answers = network(torch.tensor([[a, d] for d in down for a in across])).tolist()
    picture = [["░" if answers[r * width + c][0] > 0 else " " for c in range(width)] for r in range(height)]
    for (a, d), (side,) in zip(x.tolist(), label.tolist(), strict=True):
        row, column = round((1.05 - d) / 2.1 * (height - 1)), round((a + 1.05) / 2.1 * (width - 1))
        if 0 <= row < height and 0 <= column < width:
            picture[row][column] = "●" if side > 0 else "·"
    edge = "─" * width
    return "\n".join([f"  ╭{edge}╮", *(f"  │{''.join(row)}│" for row in picture), f"  ╰{edge}╯"])


def report(network: Network, result: Result, x: Any, label: Any, name: str) -> str:
    nodes = count_nodes(network.loss(x[:BATCH], label[:BATCH]).grad_fn)
    step = result.seconds / result.steps
    (loss0, accuracy0), (loss1, accuracy1) = result.before, result.after
    rows = [
        ("loss", f"{loss0:.4f} -> {loss1:.4f}   {sparkline(result.losses)}"),
        ("accuracy", f"{accuracy0:.1%} -> {accuracy1:.1%} of {POINTS} points"),
        ("training", f"{result.steps:,} steps in {result.seconds:.2f} s"),
        ("per step", f"{step * 1e6:.0f} us: forward, backward and update on a batch of {BATCH}"),
        ("graph", f"{nodes} nodes, {step / nodes * 1e6:.2f} us each, built and differentiated anew every step"),
        ("engine", name),
    ]
    return draw(network, x, label) + "\n\n" + "\n".join(f"  {key:<10}{text}" for key, text in rows)


def run(engine: str, steps: int, seed: int) -> tuple[str, Result]:
    """Trains on one engine; returns its report and the numbers."""
    torch = importlib.import_module(engine)
    torch.manual_seed(seed)
    x, label = make_spirals(torch)
    network = Network(torch)
    count = sum(p.numel() for p in network.parameters)
    print(
        f"{engine} {torch.__version__}: telling two spirals apart with a {'-'.join(map(str, SIZES))} network "
        f"({count:,} parameters), {steps:,} steps"
    )
    bar = Bar(steps)
    result = train(network, x, label, steps, bar)
    bar.close()
    return report(network, result, x, label, f"{engine} {torch.__version__}"), result


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="retrograd demo", description=__doc__)
    parser.add_argument("--steps", type=int, default=3000, help="training steps (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the initial weights (default: %(default)s)")
    parser.add_argument("--compare", action="store_true", help="run the same program on PyTorch too, if it is installed")
    options = parser.parse_args(arguments)
    if options.steps < 1:
        parser.error("--steps has to be at least 1")

    with contextlib.suppress(AttributeError):  # a stdout replaced by something simpler
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # terminals without these characters
    text, ours = run("retrograd", options.steps, options.seed)
    print(f"\n{text}")
    if options.compare and importlib.util.find_spec("torch") is None:
        print("\n  PyTorch is not installed, so there is nothing to compare with.")
    elif options.compare:
        _, theirs = run("torch", options.steps, options.seed)
        print(f"\n  PyTorch took {theirs.seconds / theirs.steps * 1e6:.0f} us a step, {theirs.seconds / ours.seconds:.1f} times as long")
    return 0
