"""The child process that holds one engine: prepares programs, and runs them when asked.

Requests and answers are one JSON object a line. {"prepare": [specs]} builds programs and settles how often each runs in a sample of
{"seconds": s}; {"sample": i} answers the seconds of one run; {"memory": i} the bytes of tensors at the peak of a run and after it,
both beyond those before. A failure is answered as {"error": words}.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from .models import BenchError, one_line
from .programs import Program, build, run


class Worker:
    def __init__(self, engine: Any, clock: Callable[[], float]) -> None:
        self.engine, self.clock = engine, clock
        self.programs: list[Program] = []
        self.counts: list[int] = []

    def prepare(self, specs: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
        self.programs = []  # the last ones' tensors go first
        gc.collect()
        self.programs, blocks = build(self.engine, specs)
        self.counts = [self.calibrate(program, seconds) for program in self.programs]
        return {"blocks": blocks}

    def loop(self, program: Program, count: int) -> float:
        if program.before is not None:
            program.before()
        body, clock = program.run, self.clock
        with program.context():
            start = clock()
            for _ in range(count):
                body()
            return clock() - start

    def calibrate(self, program: Program, seconds: float) -> int:
        count, elapsed = 1, self.loop(program, 1)
        while elapsed < seconds / 2 and count < 1_000_000:
            count = max(2 * count, min(100 * count, int(count * seconds / max(elapsed, 1e-9))))
            elapsed = self.loop(program, count)
        return max(1, round(count * seconds / elapsed))

    def sample(self, index: int) -> dict[str, float]:
        gc.collect()
        return {"seconds": self.loop(self.programs[index], self.counts[index]) / self.counts[index]}

    def memory(self, index: int) -> dict[str, int]:
        program, engine = self.programs[index], self.engine
        run(program)
        gc.collect()
        if hasattr(engine, "max_memory_allocated"):
            before = engine.memory_allocated()
            engine.reset_peak_memory_stats()
            held = run(program)
            found = {"peak": engine.max_memory_allocated() - before, "kept": engine.memory_allocated() - before}
        else:
            found, held = self.traced(program)
        del held
        return found

    def traced(self, program: Program) -> tuple[dict[str, int], Any]:
        """PyTorch's CPU allocator counts nothing; its profiler sees every allocation."""
        profiler = self.engine.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
            result = run(program)
        events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
        held = peak = 0
        for event in sorted(events, key=lambda e: e.start_ns()):
            held += event.nbytes()
            peak = max(peak, held)
        return {"peak": peak, "kept": held}, result

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            if "prepare" in request:
                return self.prepare(request["prepare"], request["seconds"])
            if "sample" in request:
                return self.sample(request["sample"])
            return dict(self.memory(request["memory"]))
        except BenchError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"error": one_line(error)}


def main() -> None:
    name, threads, clock = sys.argv[1], int(sys.argv[2]), getattr(time, sys.argv[3])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a model prints must not reach the answers
    warnings.simplefilter("ignore")

    def send(message: dict[str, Any]) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        if name == "retrograd":
            import retrograd as engine  # `import torch` in the user's script means it too

            engine.install_as_torch()
        else:
            engine = importlib.import_module(name)
            if engine.Tensor is importlib.import_module("retrograd").Tensor:  # standing in for it
                raise ImportError("PyTorch is not installed, retrograd stands in for it")
        engine.set_num_threads(threads)
    except Exception as error:
        send({"error": f"import {name}: {one_line(error)}"})
        return
    gc.collect()
    gc.freeze()  # what importing made: each sample collects before it starts, which would take longer than many samples
    send({"version": str(engine.__version__)})
    worker = Worker(engine, clock)
    for line in sys.stdin:
        send(worker.answer(json.loads(line)))


if __name__ == "__main__":
    main()
