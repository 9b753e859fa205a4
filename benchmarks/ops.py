"""A row for each op of the table: its largest sample, as the tests make it, in float32 and out of place where there is such a form."""

from __future__ import annotations

import math
import pathlib
import sys
from typing import Any

from registry import Case, Program

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

PREFIX = "op "


def op_cases() -> dict[str, Case]:
    """By name: `op sum.dim`."""
    import optable
    from tests.ops.harness import variants_of

    found = (entry for entry in optable.load() if entry.samples and variants_of(entry))
    return {name: Case(name, None, setup=_setup(entry)) for entry in found for name in [PREFIX + entry.qualified]}


def _setup(entry: Any) -> Any:
    def setup(torch: Any) -> Program:
        from tests.ops.cases import cases, specs_of
        from tests.ops.harness import bound, exists

        if not exists(torch, entry):
            raise NotImplementedError(f"there is no {entry.name}")
        case = max(cases(entry), key=lambda c: sum(math.prod(spec.shape) for spec in specs_of(c.sample)))
        args, kwargs, _ = case.bind(torch, dtype="float32", grad=False)
        names = {f"a{i}": value for i, value in enumerate(args)} | {f"k_{name}": value for name, value in kwargs.items()}
        given = [f"a{i}" for i in range(len(args))] + [f"{name}=k_{name}" for name in kwargs]
        return f"f({', '.join(given)})", {"f": bound(torch, entry)} | names

    return setup
