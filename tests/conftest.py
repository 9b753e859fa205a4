"""Settings for every test: how many threads it gets, which tests need PyTorch, a fixed seed, and no mode or default left behind.

Tests that need PyTorch carry the mark `needs_torch`, so that CI runs them in a step of their own and every other test without PyTorch.
There are three ways to need it, and no test asks for it in its body (tests/meta/test_suite.py):

- a module has `torch = pytest.importorskip("torch")` at its top: all its tests do;
- a test takes the fixture `oracle`, which is PyTorch, or `torch`, which is retrograd and then PyTorch;
- a parameter has the mark: `pytest.param("torch", marks=pytest.mark.needs_torch)`.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import itertools
import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

# Workers share the cores. Two threads at least: one would leave all code that cuts work in pieces untested.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    cores = len(os.sched_getaffinity(0))
    os.environ.setdefault("OMP_NUM_THREADS", str(max(2, cores // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))))

# A shell's background jobs ignore interrupts, and so would Python, and all processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("RETROGRAD_DOCTOR", "0")

import retrograd
from retrograd import doctor
from retrograd.doctor import _findings, _watch

# The doctor is on in tests, as it is for users (`_watched`). RETROGRAD_TEST_DOCTOR=1 has it on everywhere, =0 nowhere.
doctor.off()  # the package may be loaded already, by its plugin for pytest
DOCTOR = os.environ.get("RETROGRAD_TEST_DOCTOR", "")
EVENTS = 150  # after as many no new look begins: without a limit tests with long loops would take several times as long

# What runs on another device too: on the guarded one of csrc/testing/guarded.h, as the default of whatever makes a tensor. A test that has to
# do with the CPU says why by the mark `on_cpu`.
TESTS = Path(__file__).parent
UNWATCHED = ("compat", "devices", "doctor", "meta")  # compare single results, have memory that it does not read, switch it themselves

ELSEWHERE = """
    test_tiny test_anomaly test_custom_function test_engine test_forward_ad test_functional test_grad_mode test_gradcheck test_graph_hooks
    test_history_cut test_hooks test_inference_mode test_inplace_views test_leaf_rules test_saved test_sites
    test_differentiable test_lr_scheduler test_optimizer test_optimizers
""".split()  # noqa: SIM905 - a paragraph reads better than a list of strings


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """A test that is named, or a debugger, wants no workers."""
    return 0 if config.option.usepdb or (config.args and all("::" in arg for arg in config.args)) else None


def _parameters(item: pytest.Item) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = bool(os.environ.get("RETROGRAD_SLOW_TESTS"))
    has_torch = importlib.util.find_spec("torch") is not None
    live: dict[ModuleType, bool] = {}
    items[:] = [item for item in items if "on_cpu" not in item.keywords or "guarded" not in _parameters(item)]
    for item in items:
        module = getattr(item, "module", None)
        if module not in live:
            live[module] = any(value is sys.modules.get("torch") for value in vars(module).values() if isinstance(value, ModuleType))
        if live[module] or "oracle" in getattr(item, "fixturenames", ()):
            item.add_marker("needs_torch")
        if not has_torch and "needs_torch" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs PyTorch"))
        if not slow and "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="set RETROGRAD_SLOW_TESTS=1"))


def _freeze() -> None:
    """Tens of thousands of tests are as many objects that the collector would visit whenever a test calls it, and that a child of fork would copy for it."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    _freeze()


@pytest.fixture(autouse=True, scope="module")
def _small_heap():
    """What earlier modules keep, stored results above all, is not visited either."""
    _freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    both_engines = {"oracle", "torch"} & set(metafunc.fixturenames)
    if metafunc.module.__name__.rpartition(".")[2] in ELSEWHERE and not both_engines:
        metafunc.parametrize("_device", ["cpu", "guarded"], indirect=True)


@pytest.fixture(autouse=True)
def _device(request: pytest.FixtureRequest):
    if getattr(request, "param", "cpu") == "cpu":
        yield
        return
    from tests.devices.guarded import DEVICE, watched

    with watched() as faults:
        retrograd.set_default_device(DEVICE)
        yield
        retrograd.set_default_device(None)
    assert not faults


@pytest.fixture(autouse=True)
def _same_start():
    retrograd.manual_seed(0)
    before = (retrograd.is_grad_enabled(), retrograd.is_inference_mode_enabled(), retrograd.get_default_dtype())
    yield
    after = (retrograd.is_grad_enabled(), retrograd.is_inference_mode_enabled(), retrograd.get_default_dtype())
    assert after == before, "the test left a mode or the default dtype changed"


def _watched(node: pytest.Item) -> bool:
    if DOCTOR in ("0", "1"):
        return DOCTOR == "1"
    return node.path.relative_to(TESTS).parts[0] not in UNWATCHED and "needs_torch" not in node.keywords  # which compare single results too


class _Meant(set[str]):
    """Codes that are not told, and which of them would have been."""

    def __init__(self, marks: Iterable[pytest.Mark]) -> None:
        super().__init__(code for mark in marks for code in mark.args)
        self.met: set[str] = set()

    def __contains__(self, code: object) -> bool:
        if super().__contains__(code):
            self.met.add(str(code))
            return True
        return False


@pytest.fixture(autouse=True)
def _doctor(request: pytest.FixtureRequest):
    """Each test is a program of its own, and the doctor has nothing to say of it but what its mark `told` lists, which it has."""
    if not _watched(request.node):
        yield
        return
    meant = _Meant(request.node.iter_markers("told"))
    with pytest.MonkeyPatch.context() as patch, doctor.on():
        patch.setattr(_watch, "clock", itertools.count().__next__)  # counts events, so that a busy machine sees what an idle one does
        patch.setattr(_watch, "FREE", EVENTS)
        patch.setattr(_findings.settings, "disabled", meant)
        patch.setenv("RETROGRAD_DOCTOR", "debug")  # for processes it starts too; a check that fails raises
        _other_program()
        yield
        if doctor.is_on():
            _watch.watcher.end()
        told = [finding.text() for finding in doctor.findings()]
    doctor.forget()
    assert not told, "the doctor found:\n" + "\n".join(told)
    marks = [mark for mark in request.node.own_markers if mark.name == "told" and not mark.kwargs.get("sometimes")]
    if "guarded" in _parameters(request.node):
        marks = []  # the doctor does not read its memory
    missed = {code for mark in marks for code in mark.args} - meant.met
    assert not missed, f"marked as told, and was not: {', '.join(missed)}"


def _other_program() -> None:
    """What earlier tests left, and the collector has not come to, is nothing to the doctor."""
    for name in ("retrograd.optim.optimizer", "retrograd.amp.grad_scaler"):
        if name in sys.modules:
            sys.modules[name]._live.clear()
    doctor.forget()


@pytest.fixture
def oracle() -> ModuleType:
    return importlib.import_module("torch")


@pytest.fixture(params=["retrograd", pytest.param("torch", marks=pytest.mark.needs_torch)])
def torch(request: pytest.FixtureRequest) -> ModuleType:
    """Every test that asks for it runs on both: what it expects is what PyTorch does."""
    return importlib.import_module(request.param)
