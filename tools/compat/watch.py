"""Runs a program unchanged and writes down what it computes; started by __main__.py, once on each engine.

    python watch.py RESULT --steps 20 PROGRAM [arguments]
    python watch.py RESULT --pytest tests [arguments]

What is written down: the value of each tensor that `backward` is called on, and the processor time between the first and the last
(the machine may be busy with other things), or of the whole run with its imports where there are not two; for tests, each one's outcome. And what the doctor
found, unless RETROGRAD_DOCTOR=0: its diagnoses up to the end of the process, and whether it was on from the beginning to then.
After so many steps the program is stopped. Imports whatever is `torch` where it runs.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import runpy
import sys
import time
from collections.abc import Generator
from typing import Any

import numpy

_result: dict[str, Any] = {"losses": [], "times": [], "tests": {}, "seconds": 0.0}


def _watch_backward(limit: int) -> None:
    import torch

    backward = torch.Tensor.backward
    owner = os.getpid()  # a worker of a loader has the hook too, and nothing to say

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        if os.getpid() == owner:
            _result["losses"].append(float(self.detach().double().sum()))
        outcome = backward(self, *arguments, **options)
        if os.getpid() == owner:
            _result["times"].append(time.process_time())
            if limit and len(_result["losses"]) >= limit:
                raise SystemExit(0)
        return outcome

    assert torch.__file__
    watched.__code__ = watched.__code__.replace(co_filename=torch.__file__)  # a line of the library: those of the program are below it
    torch.Tensor.backward = watched  # type: ignore[method-assign]


def _watch_doctor() -> None:
    """Writes down what the doctor of retrograd finds."""
    if "retrograd" not in sys.modules or os.environ.get("RETROGRAD_DOCTOR") == "0":
        return
    from retrograd import doctor

    began = doctor.is_on()

    def write_down() -> None:
        _result["doctor_was_on"] = began and doctor.is_on()
        _result["findings"] = [[finding.code, str(finding.place), finding.text()] for finding in doctor.findings()]

    atexit.register(write_down)


class _Outcomes:
    """A plugin of pytest."""

    def __init__(self) -> None:
        import pytest

        hook = type(self).pytest_runtest_call
        type(self).pytest_runtest_call = pytest.hookimpl(hookwrapper=True)(hook)  # type: ignore[method-assign]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            _result["tests"][report.nodeid] = report.outcome

    def pytest_runtest_call(self, item: Any) -> Generator[None, None, None]:
        start = time.process_time()
        yield
        _result["seconds"] += time.process_time() - start

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            _result["tests"][report.nodeid] = "does not import"


def _main() -> None:
    result, kind, *rest = sys.argv[1:]
    owner = os.getpid()

    def write() -> None:
        if os.getpid() == owner:
            with open(result, "w") as file:
                json.dump(_result, file)

    atexit.register(write)  # the first to be registered is the last to be called: after what the doctor says at the end
    limit = int(rest.pop(0)) if kind == "--steps" else 0
    random.seed(0)
    numpy.random.seed(0)  # noqa: NPY002  # the programs draw from it
    if kind == "--pytest":
        sys.path[0] = os.getcwd()  # before PyTorch, which may import an installed one of what is tested
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("COMPAT_THREADS", "1")))
    torch.set_default_dtype(getattr(torch, os.environ.get("COMPAT_DTYPE", "float32")))
    _watch_doctor()
    if kind == "--pytest":
        import pytest

        filters = [part for option in sys.warnoptions for part in ("-W", option)]  # pytest has filters of its own for each test
        _result["code"] = int(pytest.main(["-q", "-p", "no:cacheprovider", *filters, *rest], plugins=[_Outcomes()]))
        return
    _watch_backward(limit)
    sys.argv = rest
    sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
    try:
        runpy.run_path(rest[0], run_name="__main__")
    finally:
        times = _result.pop("times")
        _result["seconds"] = times[-1] - times[0] if len(times) > 1 else time.process_time()


if __name__ == "__main__":
    _main()
