"""Runs a PyTorch script on retrograd, unchanged.

    retrograd run train.py --epochs 3
    retrograd run -m package.module

The script's `import torch` gets retrograd; `torch.nn`, `torch.optim` and so on are retrograd's modules of those names. So it is in the
processes it starts, through multiprocessing or by itself.
"""

from __future__ import annotations

import importlib.machinery
import os
import pathlib
import runpy
import sys
from types import ModuleType, TracebackType

from retrograd._as_torch import install_as_torch
from retrograd.cli import refuse
from retrograd.cli.shim import PACKAGES

_USAGE = "usage: retrograd run (script.py | -m module) [arguments]"


# -- running a program as the interpreter does ---------------------------------


def _main_module(file: str | None = None) -> ModuleType:
    """A fresh `__main__`: the one there is belongs to the launcher."""
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    if file is not None:
        main.__file__ = file
        main.__loader__ = importlib.machinery.SourceFileLoader("__main__", file)
        main.__dict__["__cached__"] = None
    sys.modules["__main__"] = main
    return main


def _run_script(script: pathlib.Path) -> None:
    sys.path.insert(0, str(script if script.is_dir() else script.resolve().parent))
    if script.is_dir() or script.suffix in (".zip", ".pyz"):
        runpy.run_path(str(script), run_name="__main__")
        return
    file = os.path.abspath(script)
    code = compile(script.read_bytes(), file, "exec", dont_inherit=True)
    exec(code, _main_module(file).__dict__)


def _run_module(name: str) -> None:
    sys.path.insert(0, os.getcwd())
    _main_module()
    runpy._run_module_as_main(name)  # type: ignore[attr-defined]  # what `python -m` calls


def _is_launcher(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    ours = file == os.path.join(package, "__main__.py") or os.path.dirname(file) == os.path.join(package, "cli")
    return ours or file == "<frozen runpy>" or file == runpy.__file__ or trace.tb_frame.f_globals is _launcher_globals


_launcher_globals = sys.modules["__main__"].__dict__  # of the console script, or of `python -m retrograd`


def _open_tracebacks_at_the_program() -> None:
    """Leaves the frames of the launcher out of the traceback of the exception that ends the program."""
    report = sys.excepthook  # the program's own, if it has set one

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        while trace is not None and _is_launcher(trace):
            trace = trace.tb_next
        error.__traceback__ = trace
        report(kind, error, trace)

    sys.excepthook = excepthook


def missing(arguments: list[str]) -> str | None:
    """What is wrong with a command line to run, if anything is."""
    if not arguments:
        return "no script is given"
    if arguments[0] == "-m":
        return None if len(arguments) > 1 else "no module is given"
    if pathlib.Path(arguments[0]).exists():
        return None
    return f"no {'option' if arguments[0].startswith('-') else 'file'} {arguments[0]!r}"


def execute(arguments: list[str]) -> None:
    """Runs a program as the interpreter would, with retrograd as its torch: the path of a script or `-m` and a module, then its arguments."""
    as_module = arguments[0] == "-m"
    install_as_torch()
    sys.path.insert(0, str(PACKAGES))  # and in the environment: for the processes it starts
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PACKAGES), os.environ.get("PYTHONPATH"))))
    sys.argv = arguments[1:] if as_module else arguments
    try:
        if as_module:
            _run_module(arguments[1])
        else:
            _run_script(pathlib.Path(arguments[0]))
    except BaseException:
        _open_tracebacks_at_the_program()
        raise


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__}")
        return 0 if arguments else 2
    if wrong := missing(arguments):
        return refuse("run", wrong)
    execute(arguments)
    return 0
