"""What a benchmark is, and the list of them. Knows neither engine: cases are handed the module to run on as `torch`.

A case is a function that prepares its tensors and returns what to time. For anything near a microsecond that is a
statement and its variables, because calling a Python function would cost as much as the op:

    @case("add 4x4", target=8)
    def add(torch):
        return "a + b", {"a": torch.randn(4, 4), "b": torch.randn(4, 4)}

    @case("mlp step", target=8)
    def mlp_step(torch):
        ...
        return step  # a callable without arguments

`target` is how many times faster than PyTorch the case has to be.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Program = Callable[[], Any] | tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    name: str
    target: float | None
    setup: Callable[[Any], Program] | None = None
    under: str | None = None  # name of a context manager of the engine, entered around the timed loop: "no_grad"
    source: str | None = None  # instead of setup: statements timed in a fresh process; "{engine}" is the module


_cases: dict[str, Case] = {}


def _add(new: Case) -> None:
    if new.name in _cases:
        raise ValueError(f"two benchmark cases are named {new.name!r}")
    _cases[new.name] = new


def case(name: str, *, target: float | None = None, under: str | None = None) -> Callable:
    """Registers the decorated setup function as a benchmark."""

    def register(setup: Callable[[Any], Program]) -> Callable[[Any], Program]:
        _add(Case(name, target, setup=setup, under=under))
        return setup

    return register


def fresh_process(name: str, source: str, *, target: float | None = None) -> None:
    """Registers statements that each round runs, and times, in a new interpreter."""
    _add(Case(name, target, source=source))


def all_cases() -> dict[str, Case]:
    """Every case of every module in `cases/`, by name, in the order of definition."""
    import cases

    for module in pkgutil.iter_modules(cases.__path__):
        importlib.import_module(f"cases.{module.name}")
    return _cases
