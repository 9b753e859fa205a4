"""Trains a character GPT on the docstrings of this package for about a minute, lets it write, and leaves a report of the run."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import retrograd
from retrograd.profiler import profile

from ..._files import refusal
from ..._pages import Page, bar_chart, card, facts as fact_table, grid, line_chart, preformatted
from ..._progress import Bar
from .._parser import Parser
from .model import BATCH, BLOCK, Corpus, Trainer, docstrings

COMPARED, PATIENCE = 12, 10.0  # steps timed on both engines, after two that are not, and the seconds after which fewer will do


@dataclass
class Run:
    """What is noted of a run, step by step."""

    seconds: list[float] = field(default_factory=list)  # since the start, at the end of each step
    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    memory: list[tuple[int, int]] = field(default_factory=list)  # bytes held after the step, and at most during it
    parts: list[tuple[int, dict[str, float]]] = field(default_factory=list)  # gradient norms by part of the model, now and then

    def typical(self) -> float:
        """Seconds of a step: the median, without what the terminal and the report cost."""
        times = sorted(b - a for a, b in zip([0.0, *self.seconds], self.seconds, strict=False))
        return times[len(times) // 2]

    def smooth(self, values: list[float], last: int = 20) -> float:
        tail = values[-last:]
        return sum(tail) / len(tail)


def train(trainer: Trainer, seconds: float, steps: int | None, quiet: bool) -> Run:
    """Trains for a time, or a number of steps."""
    torch, run = trainer.torch, Run()
    with Bar(quiet, steps or seconds, "steps" if steps else "s") as bar:
        start, progress = time.perf_counter(), 0.0
        while progress < 1:
            torch.reset_peak_memory_stats()
            loss, norm = trainer.step(progress)
            run.losses.append(loss.item())
            run.norms.append(norm.item())
            run.memory.append((torch.memory_allocated(), torch.max_memory_allocated()))
            run.seconds.append(time.perf_counter() - start)
            count = len(run.losses)
            if count % 10 == 1:
                run.parts.append((count, trainer.norms()))
            progress = count / steps if steps else run.seconds[-1] / seconds
            speed = BATCH * BLOCK * count / run.seconds[-1]
            words = (
                f"loss {run.smooth(run.losses):.3f}  |grad| {run.norms[-1]:.2f}  {speed:,.0f} tokens/s  {run.memory[-1][1] / 1e6:.1f} MB"
            )
            bar.show(count if steps else run.seconds[-1], words, finished=progress >= 1)
    return run


def time_by_op(trainer: Trainer, steps: int = 9) -> list[tuple[str, float, int]]:
    """Seconds and calls of each op in a step, derivatives included, longest first; of an op that is made of others, what is its own.

    The step is the one that took the middle time of a few: what else the machine does makes single steps longer, and their sum.
    """
    recorded = []
    for _ in range(steps):
        start = time.perf_counter()
        with profile() as step:
            trainer.step(1.0)
        recorded.append((time.perf_counter() - start, step))
    middle = sorted(recorded, key=lambda pair: pair[0])[steps // 2][1]
    ops = [row for row in middle.key_averages() if row.key.startswith("aten::")]
    ops.sort(key=lambda row: -row.self_cpu_time_total)
    return [(row.key.removeprefix("aten::"), row.self_cpu_time_total / 1e6, row.count) for row in ops]


@dataclass
class Comparison:
    """The same first steps on both engines."""

    version: str
    steps: int
    ours: float
    theirs: float
    difference: float  # the largest between losses


def compare(text: str, seed: int) -> Comparison | None:
    """The first steps again, here and on PyTorch, one after the other; None where that is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")
    if torch.Tensor is retrograd.Tensor:  # retrograd standing in for it
        return None
    torch.set_num_threads(retrograd.get_num_threads())
    times: list[list[float]] = [[], []]
    losses: list[list[float]] = [[], []]
    trainers = []
    for engine in (retrograd, torch):
        engine.manual_seed(seed)
        trainers.append(Trainer(engine, Corpus.of(engine, text)))
    began = time.perf_counter()
    for step in range(COMPARED + 2):
        if step > 2 and time.perf_counter() - began > PATIENCE:
            break
        for i, trainer in enumerate(trainers):
            start = time.perf_counter()
            losses[i].append(trainer.step(0.5)[0].item())
            if step >= 2:
                times[i].append(time.perf_counter() - start)
    ours, theirs = (sorted(t)[len(t) // 2] for t in times)
    return Comparison(torch.__version__, len(losses[0]), ours, theirs, max(abs(a - b) for a, b in zip(*losses, strict=True)))


def write_report(path: Path, run: Run, ops: list[tuple[str, float, int]], facts: list[tuple[str, str]], sample: str) -> None:
    """The report of a run."""
    seconds = run.seconds
    every = max(1, len(seconds) // 400)  # enough points for a chart
    mean = [sum(run.losses[max(0, i - 19) : i + 1]) / min(20, i + 1) for i in range(len(run.losses))]

    def line(values: list[float]) -> list[tuple[float, float]]:
        return [(i + 1.0, v) for i, v in enumerate(values)][::every]

    names = run.parts[0][1] if run.parts else {}
    total = sum(t for _, t, _ in ops) or 1.0
    charts = [
        line_chart("Loss", {"each step": line(run.losses), "mean of 20": line(mean)}, "step", "cross entropy"),
        line_chart(
            "Gradient norms by layer", {n: [(s, parts[n]) for s, parts in run.parts if n in parts] for n in names}, "step", "norm", True
        ),
        line_chart(
            "Memory of tensors",
            {
                "most during a step": [(t, m[1] / 1e6) for t, m in zip(seconds, run.memory, strict=True)][::every],
                "after it": [(t, m[0] / 1e6) for t, m in zip(seconds, run.memory, strict=True)][::every],
            },
            "seconds",
            "MB",
        ),
        bar_chart("Time by op", [(n, t, f"{t * 1e3:.2f} ms, {t / total:.0%}, {c} calls") for n, t, c in ops[:14]]),
    ]
    Page("retrograd: a minute of training", [fact_table(facts), grid(charts), card("What it writes", preformatted(sample))]).save(path)


def parser_of() -> Parser:
    parser = Parser("demo", __doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to train (default: %(default)g)")
    parser.add_argument("--steps", type=int, help="how many steps to train, instead of a time")
    parser.add_argument("--output", type=Path, default=Path("report.html"), help="where the report goes (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of weights and batches (default: %(default)s)")
    parser.add_argument("--sample", type=int, default=500, help="how many characters it writes at the end (default: %(default)s)")
    parser.add_argument("--no-compare", action="store_true", help="leave PyTorch alone, where it is installed")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def main(arguments: list[str]) -> int:
    parser = parser_of()
    options = parser.parse_args(arguments)
    if options.steps is not None and options.steps < 1:
        parser.error("--steps has to be at least 1")
    if not (options.seconds > 0 and math.isfinite(options.seconds)):
        parser.error("--seconds has to be more than 0")
    if why := refusal(options.output):
        parser.error(f"--output: {why}")
    with contextlib.suppress(AttributeError):  # a stdout replaced by something simpler
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # terminals without some character

    retrograd.manual_seed(options.seed)
    text = docstrings()
    trainer = Trainer(retrograd, Corpus.of(retrograd, text))
    count = sum(p.numel() for p in trainer.model.parameters())
    print(
        f"retrograd {retrograd.__version__}: a GPT of {count:,} parameters reads the {len(trainer.corpus.codes):,} characters of this "
        f"package's docstrings, {BATCH} x {BLOCK} at a step"
    )
    run = train(trainer, options.seconds, options.steps, options.quiet)
    sample = trainer.sample(options.sample, "\n\n")
    print(f"\n{sample}\n")
    step = run.typical()
    facts = [
        ("loss", f"{run.losses[0]:.3f} -> {run.smooth(run.losses):.3f}"),
        ("training", f"{len(run.losses):,} steps in {run.seconds[-1]:.1f} s"),
        ("per step", f"{step * 1e3:.2f} ms, {BATCH * BLOCK / step:,.0f} tokens/s"),
        ("memory", f"{max(m for _, m in run.memory) / 1e6:.1f} MB of tensors at most"),
        ("engine", f"retrograd {retrograd.__version__}, {retrograd.get_num_threads()} threads"),
    ]
    found = None if options.no_compare else compare(text, options.seed)
    if found is not None:
        words = (
            f"{found.theirs * 1e3:.2f} ms for the same step, {found.theirs / found.ours:.2f} times retrograd's {found.ours * 1e3:.2f} ms "
            f"(version {found.version}, both just now); losses of {found.steps} steps agree to {found.difference:.0e}"
        )
        facts.append(("PyTorch", words))
    elif not options.no_compare:
        facts.append(("PyTorch", "not installed, so there is nothing to compare with"))
    print("\n".join(f"  {name:<10}{words}" for name, words in facts))
    try:
        write_report(options.output, run, time_by_op(trainer), facts, sample)
    except OSError as error:  # it could be written to a minute ago
        print(f"retrograd demo: cannot write {options.output}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"  {'report':<10}{options.output}")
    return 0
