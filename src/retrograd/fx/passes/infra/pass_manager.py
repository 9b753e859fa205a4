"""PassManager: runs passes, in an order that fulfils constraints."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from retrograd.fx.graph_module import GraphModule
from retrograd.fx.passes.infra.pass_base import PassResult
from retrograd.nn import Module

__all__ = ["PassManager", "inplace_wrapper", "pass_result_wrapper", "this_before_that_pass_constraint"]


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def pass_result_wrapper(fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A function that changes a module in place, as a pass."""
    if fn is None:
        return None

    @functools.wraps(fn)
    def wrapped(gm: GraphModule) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        return result if isinstance(result, PassResult) else PassResult(result, True)

    return wrapped


inplace_wrapper = pass_result_wrapper


def this_before_that_pass_constraint(this: Callable[..., Any], that: Callable[..., Any]) -> Callable[[Any, Any], bool]:
    """A constraint for PassManager: whether a may stand before b."""

    def holds(a: Any, b: Any) -> bool:
        return not (a is that and b is this)

    return holds


class PassManager:
    """Runs passes on a module, `steps` times or until none changes anything.

    Args:
        constraints: functions of two passes that say whether the first may stand before the second.
        run_checks_after_each_pass: whether check() runs behind each.
    """

    def __init__(
        self,
        passes: Sequence[Callable[..., Any]] | None = None,
        constraints: Sequence[Callable[[Any, Any], bool]] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self.steps = steps or 1
        self.run_checks_after_each_pass, self.suppress_check_failures = run_checks_after_each_pass, suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Callable[..., Any]) -> None:
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Any, Any], bool]) -> None:
        self.constraints.append(constraint)
        self._validated = False

    def add_checks(self, check: Callable[[Any], Any]) -> None:
        """What runs behind each pass in place of check()."""
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> None:
        """Behind each pass: raises where the module is not as it has to be."""

    def validate_constraints(self) -> None:
        """Raises RuntimeError unless the order fulfils the constraints."""
        for constraint in self.constraints:
            for i, first in enumerate(self.passes):
                for second in self.passes[i + 1 :]:
                    if not constraint(first, second):
                        raise RuntimeError(
                            f"pass schedule constraint violated. Expected {_name(second)} before {_name(first)} but found {_name(first)} before {_name(second)}"
                        )
        self._validated = True

    def solve_constraints(self) -> None:
        """Puts the passes into an order that fulfils the constraints."""
        left, ordered = list(self.passes), []
        while left:
            for chosen in left:
                if all(constraint(chosen, other) for constraint in self.constraints for other in left if other is not chosen):
                    break
            else:
                raise RuntimeError(f"Circular dependency detected within the following passes: {[_name(p) for p in left]}")
            left.remove(chosen)
            ordered.append(chosen)
        self.passes = ordered
        self._validated = True

    def __call__(self, module: Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            again = False
            for i, each in enumerate(self.passes):
                try:
                    result = each(module)
                    if not isinstance(result, PassResult):
                        raise TypeError(
                            f"The result of the pass {_name(each)} should be type PassResult. Please wrap it with pass_result_wrapper()"
                        )
                    module, again = result.graph_module, again or result.modified
                    if isinstance(module, GraphModule):
                        module.recompile()
                    if self.run_checks_after_each_pass:
                        self.check(module)
                except Exception as error:
                    before = [_name(p) for p in self.passes[:i]]
                    raise Exception(
                        f"An error occurred when running the {_name(each)!r} pass after the following passes: {before}"
                    ) from error
            changed = changed or again
            if not again:
                break
        return PassResult(module, changed)  # type: ignore[arg-type]
