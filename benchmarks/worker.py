"""The child process that holds one engine and times one case at a time, a round per request.

Requests and answers are one JSON object a line: {"prepare": name, "seconds": s} readies a case and settles how many
iterations fill a round of about s seconds; {"round": true} answers {"seconds": per iteration}. Any failure of a case is
answered as {"error": text} and the worker lives on.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from ops import PREFIX, op_cases
from registry import Case, Program, all_cases


def compile_loop(program: Program) -> Callable[[int], float]:
    """A function of n that runs the program n times and returns the seconds it took.

    The statement stands in the loop itself and its variables are locals, so little else is timed: a few nanoseconds.
    """
    statement, variables = ("program()", {"program": program}) if callable(program) else program
    source = (
        f"def loop(n, _repeat, _clock, {', '.join(variables)}):\n"
        "    _start = _clock()\n"
        "    for _ in _repeat(None, n):\n"
        f"        {statement}\n"
        "    return _clock() - _start\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(source, "<benchmark>", "exec"), namespace)
    loop = namespace["loop"]
    return lambda n: loop(n, itertools.repeat, time.perf_counter, **variables)


class Round:
    """One case, ready to run on one engine."""

    def __init__(self, engine: Any, case: Case, seconds: float) -> None:
        assert case.setup is not None
        engine.manual_seed(0)
        self.context = getattr(engine, case.under) if case.under else contextlib.nullcontext
        self.loop = compile_loop(case.setup(engine))
        self.count = self._calibrate(seconds)

    def run(self) -> float:
        gc.collect()  # so that no round pays for what an earlier one left behind
        with self.context():
            return self.loop(self.count) / self.count

    def _calibrate(self, seconds: float) -> int:
        with self.context():
            began = time.perf_counter()
            for _ in range(50):  # the first calls may load libraries, fill caches, or be looked at closely
                self.loop(1)
                if time.perf_counter() - began > max(min(0.1, 10 * seconds), 4 * seconds):
                    break
            count, elapsed = 1, self.loop(1)
            while elapsed < seconds / 2:
                count = max(count * 2, min(count * 100, int(count * seconds / max(elapsed, 1e-9))))
                elapsed = self.loop(count)
        return max(1, round(count * seconds / elapsed))


def serve(engine: Any, requests, answer: Callable[[dict], None]) -> None:
    cases = dict(all_cases())
    current: Round | None = None
    for line in requests:
        request = json.loads(line)
        try:
            if "prepare" in request:
                current = None  # free the last case's tensors first
                if request["prepare"].startswith(PREFIX) and request["prepare"] not in cases:
                    cases |= op_cases()
                current = Round(engine, cases[request["prepare"]], request["seconds"])
                answer({"count": current.count})
            else:
                assert current is not None
                answer({"seconds": current.run()})
        except Exception as error:
            current = None
            answer({"error": f"{type(error).__name__}: {error}"})


def main() -> None:
    name, threads = sys.argv[1], int(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a case prints must not reach the answers

    def answer(message: dict) -> None:
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    try:
        engine = importlib.import_module(name)
        if hasattr(engine, "set_num_threads"):
            engine.set_num_threads(threads)
    except Exception as error:
        answer({"error": f"import {name}: {type(error).__name__}: {error}"})
        return
    answer({"version": str(getattr(engine, "__version__", "?"))})
    serve(engine, sys.stdin, answer)


if __name__ == "__main__":
    main()
