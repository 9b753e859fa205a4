"""What programs do with gradients outside of optimizers: updates written by hand, gradients zeroed or scaled in place."""

from __future__ import annotations

import math
import weakref
from typing import Any

from retrograd import _C
from retrograd.doctor._places import Place, here
from retrograd.doctor._watch import BY_HAND, Check, Run

_ZEROING = {"zero_", "fill_", "copy_", "set_"}


def pointer(tensor: Any) -> int:
    """Where the memory of a tensor begins; 0 for one without."""
    try:
        return int(tensor.data_ptr())
    except (RuntimeError, ValueError):  # no memory, or not yet
        return 0


def version(tensor: Any) -> int:
    """Counts writes to a tensor; inference tensors count none."""
    return 0 if tensor.is_inference() else int(tensor._version)


def grad_of(leaf: Any) -> Any:
    """The gradient of a leaf, if it is one still: also a view whose base was written to in another mode is none."""
    try:
        return leaf.grad if leaf.is_leaf else None
    except RuntimeError:
        return None


def is_zero(tensor: Any) -> bool:
    """Whether every element is zero."""
    largest = _C._doctor_largest(tensor)
    if largest is not None:
        return bool(largest == 0)
    if tensor.layout != _C.strided or tensor.device.type != "cpu":
        return False
    return not bool(tensor.any())


def total(tensor: Any) -> float:
    """The sum of the first elements, to tell values apart; 0 where there are none to read. A sum that is NaN is always the same object: as part of a
    tuple it is equal to itself, and values that did not change are not told apart."""
    if tensor.device.type != "cpu" or tensor.layout != _C.strided or not tensor.is_floating_point():
        return 0.0
    found = float(tensor.detach().reshape(-1)[:65536].double().sum())
    return math.nan if math.isnan(found) else found


class Listener:
    """Hears what is done by hand."""

    def updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        """Something that was computed from gradients was written to a leaf; `amount` is what was added, where an op adds. Without a place it was
        some time since the last backward, by an assignment to .data."""

    def grad_zeroed(self, leaf: Any, place: Place | None) -> None:
        """The gradient of a leaf was overwritten in place."""

    def grad_scaled(self, leaf: Any, factor: float, is_number: bool) -> None:
        """It was multiplied by a number, or by a tensor of one element, as clipping does."""


class ByHand(Check):
    """Follows what ops compute from gradients, and tells its listeners where that is written to a leaf."""

    traces_ops = True

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self._quiet = 0  # inside a backward or a step
        self._leaves: dict[int, Any] = {}  # weak references to leaves with gradients, by their memory
        self._grads: dict[int, Any] = {}  # the same by the memory of their gradients
        self._derived: dict[int, Any] = {}  # weak references to what was computed from gradients

    def opened(self) -> None:
        self._leaves.clear()
        self._grads.clear()
        self._derived.clear()
        self._quiet = 0

    forget = opened

    def before_backward(self, run: Run) -> None:
        self._quiet += 1
        if not run.accumulate:
            return
        for at, ref in list(self._leaves.items()):
            leaf = ref()
            if leaf is None:
                del self._leaves[at]
            elif pointer(leaf) != at:  # p.data = p.data - lr * p.grad
                del self._leaves[at]
                if grad_of(leaf) is not None:
                    self._tell_updated(leaf, None, None)

    def _tell_updated(self, leaf: Any, amount: Any, place: Place | None) -> None:
        for listener in self.listeners:
            listener.updated(leaf, amount, place)

    def after_backward(self, run: Run) -> None:
        self._quiet = 0
        if not run.accumulate:
            return
        self._grads.clear()
        self._derived = {key: ref for key, ref in self._derived.items() if ref() is not None}
        for leaf in run.leaves:
            grad = grad_of(leaf)
            if grad is not None:
                ref = weakref.ref(leaf)
                self._leaves[pointer(leaf)] = ref
                self._grads[pointer(grad)] = ref
        self._follow_anew()

    def zeroed(self, owner: Any, params: list[Any], place: Place | None) -> None:
        """Their memory will be somebody else's."""
        ids = {id(param) for param in params}
        self._grads = {at: ref for at, ref in self._grads.items() if id(ref()) not in ids}
        self._follow_anew()

    def _follow_anew(self) -> None:
        _C._look_follow(BY_HAND, [*self._grads, *self._derived], True)

    def failed_backward(self) -> None:
        self._quiet = 0

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        self._quiet += 1

    def after_step(self, optimizer: Any, place: Place | None) -> None:
        self._quiet = 0

    def _follow(self, tensor: Any) -> None:
        self._derived[id(tensor)] = weakref.ref(tensor)
        _C._look_follow(BY_HAND, (id(tensor),), False)

    def _is_derived(self, tensor: Any) -> bool:
        ref = self._derived.get(id(tensor))
        return (ref is not None and ref() is tensor) or pointer(tensor) in self._grads

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if self._quiet or not self._grads:
            return
        name = op.__name__.partition(".")[0]
        writes = name.endswith("_") and not name.endswith("__")
        tensors = [a for a in args[1:] if isinstance(a, _C.Tensor)] if writes else [a for a in args if isinstance(a, _C.Tensor)]
        if not writes:
            if isinstance(result, _C.Tensor) and any(map(self._is_derived, tensors)):
                self._follow(result)
            return
        if not args or not isinstance(args[0], _C.Tensor):
            return
        at = pointer(args[0])
        owner = self._grads.get(at)
        if owner is not None and (leaf := owner()) is not None and args[0].numel() == leaf.numel():
            self._wrote_grad(leaf, name, args)
            return
        if not any(map(self._is_derived, tensors)):
            return
        owner = self._leaves.get(at)
        leaf = owner() if owner is not None else None
        if leaf is None:
            self._follow(args[0])  # a buffer, such as momentum
        elif args[0].numel() == leaf.numel():
            self._tell_updated(leaf, args[1] if name in ("add_", "sub_") else None, here())

    def _wrote_grad(self, leaf: Any, name: str, args: tuple[Any, ...]) -> None:
        other = args[1] if len(args) > 1 else None
        is_number = isinstance(other, int | float)
        factor = float(other) if is_number or (isinstance(other, _C.Tensor) and other.numel() == 1) else 1.0  # type: ignore[arg-type]
        if name in _ZEROING or (name == "mul_" and factor == 0):
            place = here()
            for listener in self.listeners:
                listener.grad_zeroed(leaf, place)
        elif name in ("mul_", "div_") and factor:
            for listener in self.listeners:
                listener.grad_scaled(leaf, factor if name == "mul_" else 1 / factor, is_number)
