"""Runs a PyTorch script on retrograd and writes down what it spends its time on.

    retrograd profile train.py --epochs 1
    retrograd profile -o runs/first --memory -m package.module

It writes <folder>/trace.json, for https://ui.perfetto.dev or chrome://tracing, and <folder>/summary.txt, a table by op. A script that
fails leaves both too, with what it did until then.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from retrograd import _files
from retrograd.profiler import _ExperimentalConfig, profile

from . import refuse, run
from ._parser import Parser

_SORTS = ("self_cpu_time_total", "cpu_time_total", "cpu_time", "count", "self_cpu_memory_usage", "cpu_memory_usage")


def _parser() -> argparse.ArgumentParser:
    parser = Parser("profile", __doc__, usage="retrograd profile [options] (script.py | -m module) [arguments]")
    parser.add_argument("-o", "--output", default="retrograd-profile", help="the folder (default: %(default)s)")
    parser.add_argument("--shapes", action="store_true", help="tell calls of an op apart by the shapes of their inputs")
    parser.add_argument("--memory", action="store_true", help="what tensors take and give back")
    parser.add_argument("--stack", action="store_true", help="Python functions and modules too: takes longer")
    parser.add_argument("--sort-by", choices=_SORTS, default=_SORTS[0], help="the order of the table (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=100, help="of the table; -1 for all (default: %(default)s)")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing at the end")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="a module instead of a script")
    parser.add_argument("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def _write(recorded: Any, folder: str, options: argparse.Namespace) -> bool:
    """Whether it could be."""
    trace, summary = (os.path.join(folder, name) for name in ("trace.json", "summary.txt"))
    averages = recorded.key_averages(group_by_input_shape=options.shapes)
    try:
        os.makedirs(folder, exist_ok=True)
        _files.write_text(summary, averages.table(sort_by=options.sort_by, row_limit=options.rows) or "no op ran\n")
        recorded.export_chrome_trace(trace)
    except OSError as error:
        print(f"retrograd profile: cannot write to {options.output!r}: {error.strerror}", file=sys.stderr)
        return False
    if not options.quiet:
        print(f"retrograd profile: {len(recorded.events())} events in {trace}, by op in {summary}", file=sys.stderr)
    return True


def main(arguments: list[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    program = options.script if options.module is None else ["-m", *options.module]
    if wrong := run.missing(program) or _files.folder_refusal(options.output):
        return refuse("profile", wrong)
    recorded = profile(
        record_shapes=options.shapes,
        profile_memory=options.memory,
        with_stack=options.stack,
        experimental_config=_ExperimentalConfig(profile_all_threads=True),
    )
    folder = os.path.abspath(options.output)  # the script may go elsewhere
    if not options.quiet and sys.stderr.isatty():
        print("retrograd profile: recording", file=sys.stderr, flush=True)
    try:
        with recorded:
            run.execute(program)
    finally:
        written = _write(recorded, folder, options)
    return 0 if written else 1
