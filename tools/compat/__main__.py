"""Runs programs and libraries written for PyTorch on PyTorch and on retrograd, compares losses step by step and time, and writes docs/compat.md.

retrograd's doctor watches, as it does by default: a program of which it says anything, but for the diagnoses that programs.py knows to be true, has failed.

    python -m tools.compat programs --repositories FOLDER --environment VENV --pytorch SITE_PACKAGES [--only PART ...]
    python -m tools.compat libraries --environment VENV --pytorch SITE_PACKAGES [--only PART ...]
    python -m tools.compat page

FOLDER holds clones of the repositories as owner+name (a work tree, or a git directory in owner+name/repo): nothing is downloaded here. What runs
is the revision named in programs.py. VENV is an environment without PyTorch, with retrograd, its shim and the libraries in it
(`python -m tools.compat environment VENV` makes one; pip is the only thing here that may reach for the network);
SITE_PACKAGES is where PyTorch is installed, put before it for the other half of each comparison. Results are kept in tools/compat/results.json,
from which `page` makes the page.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from . import compare, environment, page


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.compat", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("programs", "libraries"):
        command = commands.add_parser(name)
        command.add_argument("--environment", type=pathlib.Path, required=True)
        command.add_argument("--pytorch", type=pathlib.Path, required=True)
        command.add_argument("--only", nargs="*", default=[], help="parts of titles")
        command.add_argument("--seconds", type=int, default=300, help="for one run")
        command.add_argument("--keep", type=pathlib.Path, help="a folder for what the runs print and compute")
        command.add_argument("--reuse", action="store_true", help="take PyTorch's results from that folder where they are there")
        command.add_argument("--strict-warnings", action="store_true", help="what the doctor warns of is an error, as under -W error")
        if name == "programs":
            command.add_argument("--repositories", type=pathlib.Path, required=True)
    commands.add_parser("page")
    made = commands.add_parser("environment")
    made.add_argument("path", type=pathlib.Path)
    options = parser.parse_args()
    if options.command == "environment":
        environment.make(options.path)
        return 0
    if options.command == "page":
        page.write()
        return 0
    failures = compare.run(options)
    page.write()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
