"""The peak memory of the same programs on PyTorch and on retrograd, a process each.

    python benchmarks/memory.py                     every case that trains, or goes forward and backward
    python benchmarks/memory.py --filter attention  cases whose name contains a word

`tensors` is what tensors hold at the peak of a run beyond what they held before it: PyTorch's from its profiler, ours from the allocator. It
is the same for every run. `resident` is the peak of what the process has in memory beyond what importing the engine took: scratch space of
libraries counts, and what allocators keep.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from registry import all_cases
from worker import compile_loop

HERE = pathlib.Path(__file__).parent
WORDS = ("step", "forward + backward")


def status(field: str) -> int:
    """Bytes, of a line of /proc/self/status in kB."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def tensor_peak(engine: Any, run: Callable[[], Any]) -> int:
    if hasattr(engine, "max_memory_allocated"):
        before = engine.memory_allocated()
        engine.reset_peak_memory_stats()
        run()
        return engine.max_memory_allocated() - before
    with engine.profiler.profile(activities=[engine.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    held = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def measure(name: str, engine_name: str, threads: int) -> dict[str, int]:
    engine = importlib.import_module(engine_name)
    engine.set_num_threads(threads)
    imported = status("VmRSS")
    case = all_cases()[name]
    assert case.setup is not None
    engine.manual_seed(0)
    loop = compile_loop(case.setup(engine))
    loop(2)  # libraries are loaded, gradients and state exist
    gc.collect()
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    loop(2)
    resident = status("VmHWM") - imported
    return {"tensors": tensor_peak(engine, lambda: loop(1)), "resident": resident}


def ask(name: str, engine: str, threads: int) -> dict[str, int]:
    module, _, path = engine.partition("@")
    limits = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    environment = {**os.environ, **limits} | ({"PYTHONPATH": os.path.abspath(path)} if path else {})
    command = [sys.executable, str(HERE / "memory.py"), "--measure", name, "--engines", module, "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{engine}, {name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", help="cases whose name contains this")
    parser.add_argument("--engines", nargs="+", default=["torch", "retrograd"], help="modules, or module@path")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.engines[0], options.threads)))
        return
    names = [n for n, c in all_cases().items() if c.setup and not c.under and options.filter in n and any(w in n for w in WORDS)]
    width = max(map(len, names), default=0)
    print(f"{'MB':<{width}}  {'tensors':>18}  {'ratio':>5}  {'resident':>18}  {'ratio':>5}")
    for name in names:
        base, ours = (ask(name, engine, options.threads) for engine in options.engines[:2])
        cells = [f"{base[k] / 1e6:8.2f} {ours[k] / 1e6:8.2f}   {base[k] / max(ours[k], 1):5.2f}" for k in ("tensors", "resident")]
        print(f"{name:<{width}}  {cells[0]}   {cells[1]}", flush=True)


if __name__ == "__main__":
    main()
