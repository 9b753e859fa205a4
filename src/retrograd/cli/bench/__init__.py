"""Measures grad modes, checkpointing, training steps and ops, on built-in models or your own.

    retrograd bench modes                            default, no_grad and inference_mode, over the built-in models
    retrograd bench modes train.py:model_fn          over your own: model_fn(batch_size) gives the model and its inputs
    retrograd bench checkpoint --plot plots          memory against time, for none to all blocks checkpointed
    retrograd bench train transformer --against torch
    retrograd bench ops mul exp --against torch

Times are medians over rounds in random order, after warming up; a difference counts where the 95% interval of the ratio, by the sign test
over rounds, leaves out 1. Memory is what tensors hold beyond what they held before, at the peak and after the forward.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import retrograd
from retrograd import _files

from ..._progress import Bar
from .._parser import Parser
from . import show
from .measure import ROUNDS, Engine, Row, compare, rounds
from .models import BUILT_IN, BenchError, load
from .programs import MODES, Spec, arguments_of

KINDS = {
    "modes": "grad modes: time, throughput, memory at the peak and kept after the forward",
    "checkpoint": "checkpointing: peak memory against added time, by how many blocks are checkpointed",
    "train": "whole training steps, as they are and under detect_anomaly",
    "ops": "ops of the table, on square matrices",
}
BATCHES = {"modes": [1, 8, 32], "checkpoint": [8], "train": [8, 32]}
MODELS = {"modes": list(BUILT_IN), "checkpoint": ["transformer"], "train": list(BUILT_IN)}
PARTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def parser_of() -> argparse.ArgumentParser:
    parser = Parser("bench", __doc__)
    parser.add_argument("kind", choices=KINDS, help="; ".join(f"{name}: {text}" for name, text in KINDS.items()))
    models = "; ".join(f"{name}: {built_in.about}" for name, built_in in BUILT_IN.items())
    parser.add_argument("subjects", nargs="*", metavar="model", help=f"script.py:model_fn, or built in ({models}); for ops: names of ops")
    parser.add_argument("--batch-sizes", type=int, nargs="+", metavar="N")
    parser.add_argument(
        "--depths", type=int, nargs="+", metavar="N", help="blocks of the built-in models, to see how savings grow with depth"
    )
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", default=[4, 256], help="ops: rows and columns (default: 4 256)")
    parser.add_argument("--device", default="cpu", help="cpu is all there is")
    parser.add_argument("--against", choices=["torch"], help="the same on an installed PyTorch, side by side")
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring for each row and engine (default: %(default)g)")
    parser.add_argument("--threads", type=int, default=retrograd.get_num_threads(), help="of both engines (default: %(default)s)")
    parser.add_argument(
        "--cpu-time", action="store_true", help="time of the processor, not of the clock: for a busy machine, with --threads 1"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="writes the numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="writes the numbers, every sample among them")
    parser.add_argument("--plot", type=Path, metavar="DIR", help="draws what was measured (needs matplotlib)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def check(options: argparse.Namespace) -> None:
    """Says what is wrong before anything is measured."""
    if options.device != "cpu":
        raise BenchError(f"--device {options.device}: this build measures on the CPU alone")
    if not (options.seconds > 0 and math.isfinite(options.seconds)):
        raise BenchError("--seconds has to be more than 0")
    for name in ("batch_sizes", "depths", "sizes"):
        if any(n < 1 for n in getattr(options, name) or ()):
            raise BenchError(f"--{name.replace('_', '-')} have to be at least 1")
    if options.threads < 1:
        raise BenchError("--threads has to be at least 1")
    if options.cpu_time and options.threads > 1:
        raise BenchError("--cpu-time adds up the time of all threads: it needs --threads 1")
    if options.against and importlib.util.find_spec("torch") is None:
        raise BenchError("--against torch: PyTorch is not installed")
    if options.plot and importlib.util.find_spec("matplotlib") is None:
        raise BenchError("--plot needs matplotlib, which is not installed: pip install matplotlib")
    for path in filter(None, (options.csv, options.json)):
        if why := _files.refusal(path):
            raise BenchError(why)
    if options.plot and (why := _files.folder_refusal(options.plot)):
        raise BenchError(f"--plot: {why}")
    if options.kind != "ops":
        for name in options.subjects:
            if name not in BUILT_IN and ":" not in name:
                load(name)  # says what could be meant


# -- what is compared ---------------------------------------------------------


def groups_of(options: argparse.Namespace) -> list[list[Spec]]:
    """Specs that are compared with the first of their group."""
    if options.kind == "ops":
        return ops_of(options.subjects, options.sizes)
    groups = []
    for model in options.subjects or MODELS[options.kind]:
        deep = options.depths or ([12] if options.kind == "checkpoint" and model == "transformer" else None)
        depths: list[int | None] = list(deep) if deep and model in BUILT_IN else [None]
        for depth in depths:
            for batch in options.batch_sizes or BATCHES[options.kind]:
                about: Spec = {"kind": options.kind, "model": model, "batch": batch}
                if depth is not None:
                    about["depth"] = depth
                if options.kind == "modes":
                    groups += [[{**about, "eval": quiet, "mode": mode} for mode in MODES] for quiet in (False, True)]
                elif options.kind == "checkpoint":
                    groups.append([{**about, "part": part} for part in PARTS])
                else:
                    groups.append([{**about, "mode": mode} for mode in ("default", "detect_anomaly")])
    return groups


def ops_of(words: list[str], sizes: list[int]) -> list[list[Spec]]:
    """Ops that can be called with what there is to guess: matrices and small numbers."""
    found = []
    for name in sorted(retrograd._C._op_names()):
        op = retrograd._C._find_op(name)
        assert op is not None
        if name.startswith("_") or op.mutates or op.overload or (words and not any(word == name for word in words)):
            continue
        if (arguments := arguments_of(op.parameters)) is not None:
            found += [[{"kind": "ops", "op": name, "size": size, "arguments": arguments}] for size in sizes]
    missing = [word for word in words if not any(group[0]["op"] == word for group in found)]
    if missing:
        raise BenchError(f"there is no op {missing[0]!r} that takes matrices alone")
    return found


def labels_of(spec: Spec) -> dict[str, Any]:
    if spec["kind"] == "ops":
        return {"op": spec["op"], "size": f"{spec['size']}x{spec['size']}"}
    found = {"model": spec["model"].rpartition("/")[2], "batch": spec["batch"]}
    if "depth" in spec:
        found["depth"] = spec["depth"]
    if spec["kind"] == "checkpoint":
        blocks = spec.get("blocks")  # known once the model is made
        return {**found, "checkpointed": f"{round(spec['part'] * blocks)} of {blocks}" if blocks else f"{spec['part']:.0%}"}
    if spec["kind"] == "modes":
        found["call"] = "eval()" if spec["eval"] else "train()"
    return {**found, "mode": spec["mode"]}


def results_of(engines: list[Engine], groups: list[list[Spec]], options: argparse.Namespace) -> tuple[list[show.Result], list[str]]:
    """Everything measured; and of ops, those that could not be."""
    results: list[show.Result] = []
    skipped: list[str] = []
    with Bar(options.quiet, len(groups) * ROUNDS, "rounds") as bar:
        for number, specs in enumerate(groups):
            done, words = [number * ROUNDS], " ".join(map(str, labels_of(specs[0]).values()))

            def progress(done: list[int] = done, words: str = words) -> None:
                done[0] += 1
                bar.show(done[0], words)

            try:
                rows = rounds(engines, specs, options.seconds, progress)
            except BenchError:
                if options.kind != "ops" or options.subjects or any(engine.process.poll() is not None for engine in engines):
                    raise
                skipped.append(specs[0]["op"])  # of the whole table some need more than matrices
                continue
            for i, spec in enumerate(specs):
                pairs = [(found[i], found[0] if len(specs) > 1 else None) for found in rows]
                results.append(show.Result(labels_of(spec), *pairs[0], *(pairs[1] if len(pairs) > 1 else ())))
        bar.show(bar.total, "", finished=True)
    return results, sorted(set(skipped))


def statements(results: list[show.Result]) -> list[str]:
    """Whether differences exceed the noise, in words: one sentence for each comparison on each engine."""
    found = []
    for before, result in zip([None, *results], results, strict=False):
        for side, (row, base) in enumerate(result.sides):
            where = " ".join(map(str, result.labels.values())) + (", PyTorch" if side else "")
            if base is not None and base is not row:
                found.append(f"{where}: {sentence(base, row)}")
            if before is not None and row.spec.get("mode") == "inference_mode":  # what comes before it is no_grad
                found.append(f"{where} against no_grad: {sentence(before.sides[side][0], row)}")
    return found


def sentence(base: Row, row: Row) -> str:
    difference = compare(base, row)
    interval = f"time {difference.ratio - 1:+.0%} (95%: {difference.low - 1:+.0%} to {difference.high - 1:+.0%})"
    time = interval if difference.real else "no difference in time beyond the noise"
    return f"{time}, peak memory {show.percent(row.peak, base.peak) or 'none'}"


def run(options: argparse.Namespace) -> None:
    check(options)
    groups = groups_of(options)
    engines: list[Engine] = []
    try:
        for name in ("retrograd", *filter(None, [options.against])):
            engines.append(Engine(name, options.threads, "process_time" if options.cpu_time else "perf_counter"))
        results, skipped = results_of(engines, groups, options)
    finally:
        for engine in engines:
            engine.close()
    if not results:
        raise BenchError("nothing could be measured")
    facts = {
        "engines": {engine.name: engine.version for engine in engines},
        "threads": options.threads,
        "clock": "processor" if options.cpu_time else "wall",
        "seconds": options.seconds,
    }
    files: dict[Path, bytes] = {}
    if options.csv:
        files[options.csv] = show.csv_text(results).encode()
    if options.json:
        files[options.json] = show.json_text(results, facts).encode()
    if options.plot:
        files |= {options.plot / name: content for name, content in show.plots(results).items()}
        options.plot.mkdir(parents=True, exist_ok=True)
    show.table(results)
    if lines := statements(results):
        print("\n" + "\n".join(lines))
    if skipped:
        print(f"\n{len(skipped)} ops need other arguments than matrices and are left out: {', '.join(skipped)}")
    _files.write_all(files.items())
    for path in files:
        print(f"written: {path}")


def main(arguments: list[str]) -> int:
    options = parser_of().parse_args(arguments)
    try:
        run(options)
    except BenchError as error:
        print(f"retrograd bench: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"retrograd bench: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("retrograd bench: interrupted", file=sys.stderr)
        return 130
    return 0
