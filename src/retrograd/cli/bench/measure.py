"""Rounds and what follows from them: each engine in a process of its own, programs in a new random order every round."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .models import BenchError
from .programs import Spec

ROUNDS, LEAST_ROUNDS = 21, 7
COVERED = 0.95  # by the interval around a ratio


class Engine:
    """A worker process with one engine in it."""

    def __init__(self, name: str, threads: int, clock: str) -> None:
        self.name = name
        limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        package = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "retrograd.cli.bench.worker", name, str(threads), clock],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **limits, "PYTHONPATH": path},
        )
        self.version = self._answer()["version"]

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise BenchError(f"{self.name}: the process that measures ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise BenchError(answer["error"] if self.name == "retrograd" else f"{self.name}: {answer['error']}")
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise BenchError(f"{self.name}: the process that measures ended with status {self.process.wait()}") from None
        return self._answer()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@dataclass
class Row:
    """What was measured of one program on one engine."""

    engine: str
    spec: Spec
    samples: list[float] = field(default_factory=list)  # seconds of one run, a round each
    peak: int = 0
    kept: int = 0

    @property
    def seconds(self) -> float:
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """Half the range that the middle half of the samples lies in, as a part of the median."""
        low, _, high = statistics.quantiles(self.samples, n=4)
        return (high - low) / 2 / self.seconds


@dataclass
class Difference:
    """How the time of one row stands to another's: a ratio, and the range that chance alone leaves it."""

    ratio: float
    low: float
    high: float

    @property
    def real(self) -> bool:
        """Whether it exceeds the noise."""
        return not self.low <= 1.0 <= self.high


def compare(base: Row, other: Row) -> Difference:
    """By rounds, since neighbours in time met the same machine.

    The interval is that of the sign test: were the true median outside, that many rounds on one side of it would be rarer than tails of
    a coin. It holds for any distribution, and a bootstrap of the median is too narrow with so few rounds.
    """
    ratios = sorted(b / a for a, b in zip(base.samples, other.samples, strict=True))
    outside, tail = 0, 0.0
    while outside < len(ratios) // 2 and (tail := tail + math.comb(len(ratios), outside) / 2 ** len(ratios)) <= (1 - COVERED) / 2:
        outside += 1
    outside = max(outside - 1, 0)
    return Difference(statistics.median(ratios), ratios[outside], ratios[-1 - outside])


def rounds(engines: list[Engine], specs: list[Spec], seconds: float, progress: Callable[[], None]) -> list[list[Row]]:
    """A row for each spec on each engine. Each gets about `seconds` of time, however many rounds that makes."""
    for engine in engines:
        blocks = engine.ask(prepare=specs, seconds=seconds / ROUNDS)["blocks"]
        for spec in specs:
            spec["blocks"] = blocks
    rows = [[Row(engine.name, spec) for spec in specs] for engine in engines]
    turns = [(e, i) for e in range(len(engines)) for i in range(len(specs))]
    for e, i in turns:
        found = engines[e].ask(memory=i)
        rows[e][i].peak, rows[e][i].kept = found["peak"], found["kept"]
    chance = random.Random(0)
    end = time.perf_counter() + 1.5 * seconds * len(turns)
    for count in range(ROUNDS):
        if count >= LEAST_ROUNDS and time.perf_counter() > end:
            break
        for e, i in chance.sample(turns, len(turns)):
            rows[e][i].samples.append(engines[e].ask(sample=i)["seconds"])
        progress()
    return rows
