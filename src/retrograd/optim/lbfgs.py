"""L-BFGS."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Tensor
from retrograd.optim.optimizer import Optimizer, check_lr, scalar

__all__ = ["LBFGS"]


class _Point(NamedTuple):
    """A step along the search direction: its length, the loss and gradient there, and the loss's slope along the direction."""

    t: float
    loss: float
    grad: Tensor
    slope: float


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:  # the name and order that programs with a line search of their own import
    """Where the cubic through two points, with values f and slopes g, is least, within bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def _cubic_minimum(a: _Point, b: _Point, bounds: tuple[float, float] | None = None) -> float:
    at: float = _cubic_interpolate(a.t, a.loss, a.slope, b.t, b.loss, b.slope, bounds)
    return at


class _StrongWolfe:
    """A line search for a step that lowers the loss enough (c1) and flattens its slope enough (c2)."""

    def __init__(
        self,
        evaluate: Callable[[float], tuple[float, Tensor]],
        direction: Tensor,
        start: _Point,
        tolerance_change: float,
        c1: float = 1e-4,
        c2: float = 0.9,
        max_iter: int = 25,
    ) -> None:
        self.evaluate_at, self.direction, self.start = evaluate, direction, start
        self.tolerance, self.c1, self.c2, self.max_iter = tolerance_change, c1, c2, max_iter
        self.evals = self.iterations = 0

    def at(self, t: float) -> _Point:
        loss, grad = self.evaluate_at(t)
        self.evals += 1
        return _Point(t, loss, grad, grad.dot(self.direction).item())

    def too_high(self, p: _Point) -> bool:
        return p.loss > self.start.loss + self.c1 * p.t * self.start.slope

    def flat_enough(self, p: _Point) -> bool:
        return abs(p.slope) <= -self.c2 * self.start.slope

    def search(self, t: float) -> _Point:
        previous, new = self.start._replace(t=0), self.at(t)
        while self.iterations < self.max_iter:
            if self.too_high(new) or (self.iterations > 1 and new.loss >= previous.loss):
                return self.zoom(previous, new)
            if self.flat_enough(new):
                return new
            if new.slope >= 0:
                return self.zoom(previous, new)
            bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10)
            t = _cubic_minimum(previous, new, bounds)
            previous, new = new, self.at(t)
            self.iterations += 1
        start = self.start._replace(t=0)
        return start if start.loss <= new.loss else new

    def zoom(self, first: _Point, second: _Point) -> _Point:
        """Narrows the bracket between two points until one inside will do."""
        bracket = [first, second]
        low, high = (0, 1) if first.loss <= second.loss else (1, 0)
        reach = self.direction.abs().max().item()
        slow = False  # whether the last step was close to an end of the bracket
        while self.iterations < self.max_iter:
            left, right = sorted((bracket[0].t, bracket[1].t))
            if (right - left) * reach < self.tolerance:
                break
            t = _cubic_minimum(bracket[0], bracket[1])
            margin = 0.1 * (right - left)
            close = min(right - t, t - left) < margin
            if close and (slow or t >= right or t <= left):
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                close = False
            slow = close
            new = self.at(t)
            self.iterations += 1
            if self.too_high(new) or new.loss >= bracket[low].loss:
                bracket[high] = new
                low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
                continue
            done = self.flat_enough(new)
            if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = new
            if done:
                break
        return bracket[low]


def _strong_wolfe(
    obj_func: Callable[[Any, float, Tensor], tuple[Any, Tensor]],
    x: Any,
    t: float,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, float, int]:
    """The search, for programs that import it under PyTorch's name: `obj_func(x, t, d)` gives loss and gradient a step t from x along d, where
    f, g and gtd are loss, gradient and slope at x. Returns loss, gradient and length of the step, and how often it called."""

    def evaluate(t: float) -> tuple[Any, Tensor]:
        loss, grad = obj_func(x, t, d)
        return loss, grad.clone()  # the function may fill the same tensor each time

    search = _StrongWolfe(evaluate, d, _Point(0, f, g, scalar(gtd)), tolerance_change, c1, c2, max_ls)
    found = search.search(t)
    return found.loss, found.grad, found.t, search.evals


def _real(tensor: Tensor) -> Tensor:
    """Complex numbers count as pairs of real ones."""
    return _C._ops.view_as_real(tensor) if tensor.is_complex() else tensor


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last history_size gradients; step() needs a closure and calls it many times.

    Args:
        max_iter: iterations of one step().
        max_eval: calls of the closure in one step(); max_iter * 1.25 if None.
        tolerance_grad: stops when no gradient is larger.
        tolerance_change: stops when parameters or loss change less.
        line_search_fn: None, for steps of length lr, or "strong_wolfe".
    """

    def __init__(
        self,
        params: Any,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # -- parameters as one vector -------------------------------------------------

    def _gather_flat_grad(self) -> Tensor:
        flat = [_real(_C._ops.zeros_like(p) if p.grad is None else p.grad.to_dense().resolve_conj()).reshape(-1) for p in self._params]
        return _C._ops.cat(flat, 0)

    def _add_grad(self, step_size: float, direction: Tensor) -> None:
        offset = 0
        for p in self._params:
            p = _real(p)
            n = p.numel()
            p.add_(direction[offset : offset + n].view_as(p), alpha=step_size)
            offset += n

    def _directional_evaluate(self, closure: Callable[[], Any], start: list[Tensor], t: float, direction: Tensor) -> tuple[float, Tensor]:
        """Loss and gradient a step away from where the parameters were, which they return to."""
        self._add_grad(t, direction)
        loss = float(closure())
        grad = self._gather_flat_grad()
        for p, value in zip(self._params, start, strict=True):
            p.copy_(value)
        return loss, grad

    # -- steps --------------------------------------------------------------------

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimises for max_iter iterations; returns the loss before the first."""
        with _C.no_grad():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any]) -> Any:
        def with_grad() -> Any:
            with _C.enable_grad():
                return closure()

        group = self.param_groups[0]
        lr, max_iter, max_eval = scalar(group["lr"]), group["max_iter"], group["max_eval"]
        line_search = group["line_search_fn"]
        if line_search is not None and line_search != "strong_wolfe":
            raise RuntimeError(f"only 'strong_wolfe' is supported, got line_search_fn={line_search!r}")
        # PyTorch keeps the state under the first parameter.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        first_loss = with_grad()
        loss = float(first_loss)
        evals = 1
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss

        direction, t = state.get("d"), state.get("t")
        n_iter = 0
        while n_iter < max_iter:
            n_iter += 1
            state["n_iter"] += 1
            direction = self._direction(state, group, grad, direction, t)
            previous_grad = state["prev_flat_grad"] = grad.clone()
            previous_loss = state["prev_loss"] = loss
            t = min(1.0, 1.0 / grad.abs().sum().item()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(direction).item()
            if slope > -group["tolerance_change"]:
                break

            new_evals = 0
            if line_search is not None:
                start = [p.clone() for p in self._params]

                def evaluate(t: float, start: list[Tensor] = start, direction: Tensor = direction) -> tuple[float, Tensor]:
                    return self._directional_evaluate(with_grad, start, t, direction)

                search = _StrongWolfe(evaluate, direction, _Point(0, loss, previous_grad, slope), group["tolerance_change"])
                found = search.search(t)
                t, loss, grad = found.t, found.loss, found.grad
                self._add_grad(t, direction)
                new_evals = search.evals
            else:
                self._add_grad(t, direction)
                if n_iter != max_iter:  # the loss after the last step is not needed
                    loss = float(with_grad())
                    grad = self._gather_flat_grad()
                    new_evals = 1
            evals += new_evals
            state["func_evals"] += new_evals
            if (
                n_iter == max_iter
                or evals >= max_eval
                or grad.abs().max() <= group["tolerance_grad"]
                or direction.mul(t).abs().max() <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break
        state["d"], state["t"] = direction, t
        return first_loss

    def _direction(self, state: dict[str, Any], group: dict[str, Any], grad: Tensor, direction: Tensor | None, t: float | None) -> Tensor:
        """Minus the gradient times the inverse of the Hessian that the history gives (the two-loop recursion)."""
        if state["n_iter"] == 1 or direction is None or t is None:
            state.update({"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1})
            return grad.neg()
        old_dirs, old_stps, ro = state["old_dirs"], state["old_stps"], state["ro"]
        y = grad.sub(state["prev_flat_grad"])
        s = direction.mul(t)
        ys = y.dot(s)
        if ys > 1e-10:
            if len(old_dirs) == group["history_size"]:
                for history in (old_dirs, old_stps, ro):
                    history.pop(0)
            old_dirs.append(y)
            old_stps.append(s)
            ro.append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        al = state.setdefault("al", [None] * group["history_size"])
        q = grad.neg()
        for i in range(len(old_dirs) - 1, -1, -1):
            al[i] = old_stps[i].dot(q) * ro[i]
            q.add_(old_dirs[i], alpha=-al[i].item())
        r = q.mul(state["H_diag"])
        for i in range(len(old_dirs)):
            be = old_dirs[i].dot(r) * ro[i]
            r.add_(old_stps[i], alpha=(al[i] - be).item())
        return r
