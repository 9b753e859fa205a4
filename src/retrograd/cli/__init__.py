"""The `retrograd` command, also `python -m retrograd`.

Each command is a module of this package with `main(arguments) -> int`, imported only when called for.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable

from ..version import __version__

COMMANDS = {
    "demo": "train a character GPT for a minute, let it write, leave a report",
    "doctor": "run a PyTorch script under the doctor, and report what is wrong with it",
    "bench": "measure grad modes, checkpointing, training steps and ops, on your own model too",
    "run": "run a PyTorch script on retrograd, unchanged",
    "profile": "run a script and write down what it spends its time on",
    "shim": "let a whole environment import retrograd as torch",
    "env": "print what a bug report needs: versions, machine, settings",
}
RUN_PROGRAMS = ("doctor", "run", "profile")  # of the user, with streams of its own


def usage() -> str:
    commands = "\n".join(f"  {name:<8}{text}" for name, text in COMMANDS.items())
    return (
        f"usage: retrograd [--version] [--help] <command> [arguments]\n\ncommands:\n{commands}\n\n"
        "`retrograd <command> --help` says more about each."
    )


def refuse(command: str, words: str) -> int:
    """Says in one line why a command does nothing; the exit status."""
    print(f"retrograd {command}: {' '.join(words.split())} (`retrograd {command} --help` says more)", file=sys.stderr)
    return 2


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    name, *rest = arguments
    if name in ("-V", "--version"):
        print(f"retrograd {__version__}")
        return 0
    if name not in COMMANDS:
        print(f"retrograd: no command {name!r}\n\n{usage()}", file=sys.stderr)
        return 2
    command = importlib.import_module(f".{name}", __name__).main
    return command(rest) if name in RUN_PROGRAMS else _speak(command, rest)


def _speak(command: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Runs a command whose output is our own: where nobody takes it any more there is nothing left to say."""
    try:
        status = command(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still in the buffer
        return 1
    return status
