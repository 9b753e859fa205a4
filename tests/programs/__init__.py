"""Programs that run on PyTorch and on retrograd, and have to show the same.

Each module of this folder is a topic, and each of its functions whose name does not begin with `_` a program. It names what it needs as parameters, as a test names
fixtures: `torch` is the engine, `nn`, `graph`, `vmap` ... are parts of it (`runner.py` has the list), `show(...)` says what is to be compared,
`attempt(f)` shows the value of `f()` or the exception it raises, `kind(f)` the value or only the type of the exception. How a program ends, if by an
exception, and what it warns about are compared as well.

`outcomes/*.json` hold what PyTorch shows; `python tools/make_references.py programs` writes them. tests/test_programs.py holds retrograd to
them and needs no PyTorch; tests/compat/test_programs_live.py holds them to PyTorch and does not run retrograd. So nothing is compared twice.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
OUTCOMES = FOLDER / "outcomes"
TOPICS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "runner"))

Function = Callable[..., None]


def says(*words: str) -> Callable[[Function], Function]:
    """Messages of both engines, errors or warnings, have these words: for what the opening of a message, which is compared anyway, leaves out."""
    return _marked(says=words)


def own(*parts: str) -> Callable[[Function], Function]:
    """Not compared, because retrograd's are its own: "nodes", the names of the nodes of results, or "words", of the exception that ends the program."""
    return _marked(own=parts)


def differs(how: str) -> Callable[[Function], Function]:
    """The engines differ on purpose, see docs/differences.md, and how retrograd does. Both outcomes are stored."""
    return _marked(differs=how)


def told(*codes: str, why: str) -> Callable[[Function], Function]:
    """The doctor of retrograd is right to tell these codes of the program, and why it does on purpose what they stand for."""
    return _marked(told=codes, why=why)


def _marked(**marks: Any) -> Callable[[Function], Function]:
    def mark(function: Function) -> Function:
        function.__dict__.update(marks)
        return function

    return mark


class Program(NamedTuple):
    topic: str
    function: Function
    says: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    differs: str = ""
    told: tuple[str, ...] = ()
    why: str = ""

    @property
    def name(self) -> str:
        return self.function.__name__

    def __str__(self) -> str:
        return f"{self.topic}: {self.name}"


def programs(topic: str) -> list[Program]:
    module = importlib.import_module(f"{__name__}.{topic}")
    found = [f for name, f in vars(module).items() if not name.startswith("_") and getattr(f, "__module__", "") == module.__name__]
    return [Program(topic, f, **vars(f)) for f in found]


def read(topic: str) -> dict[str, Any]:
    """What is stored, by name of the program: the lines PyTorch shows, or those of each engine where the two differ on purpose."""
    path = OUTCOMES / f"{topic}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def missing() -> list[str]:
    """Programs without a stored outcome, and stored outcomes without a program."""
    lines = []
    for topic in TOPICS:
        names, found = [p.name for p in programs(topic)], read(topic)
        lines += [f"{topic}: {name}: no stored outcome" for name in names if name not in found]
        lines += [f"{topic}: stored outcome {name} of a program that is gone" for name in found if name not in names]
    gone = [path.stem for path in OUTCOMES.glob("*.json") if path.stem not in TOPICS]
    return lines + [f"{topic}: stored outcomes of a topic that is gone" for topic in gone]


def write(topic: str, outcomes: dict[str, Any]) -> None:
    OUTCOMES.mkdir(exist_ok=True)
    (OUTCOMES / f"{topic}.json").write_text(json.dumps(outcomes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
