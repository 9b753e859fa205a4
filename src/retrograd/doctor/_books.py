"""What several checks want to know of the training so far: which leaves backwards reached, and which of them optimizers moved."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from retrograd import _C
from retrograd.doctor._places import Place
from retrograd.doctor._watch import Call, Check, Run, live_optimizers

V = TypeVar("V")


class WeakTable(Generic[V]):
    """Values by the identity of objects, which it does not keep. Tensors compare element by element, so no dictionary of the library will do."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[Any, V]] = {}

    def __setitem__(self, key: Any, value: V) -> None:
        number, items = id(key), self._items
        known = items.get(number)  # of an object that is alive: the entry goes with it
        items[number] = (weakref.ref(key, lambda _: items.pop(number, None)) if known is None else known[0], value)

    def __contains__(self, key: Any) -> bool:
        return id(key) in self._items

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Any) -> V | None:
        item = self._items.get(id(key))
        return None if item is None else item[1]

    def setdefault(self, key: Any, make: Callable[[], V]) -> V:
        item = self._items.get(id(key))
        if item is not None:
            return item[1]
        made = self[key] = make()
        return made

    def items(self) -> Iterator[tuple[Any, V]]:
        for ref, value in list(self._items.values()):
            key = ref()
            if key is not None:
                yield key, value

    def clear(self) -> None:
        self._items.clear()


class Leaf:
    """What happened to a leaf, as numbers of outermost backwards."""

    def __init__(self) -> None:
        self.reached: deque[int] = deque(maxlen=16)  # the last backwards that reached it
        self.stepped: deque[int] = deque(maxlen=16)  # the last steps of an optimizer with a gradient for it


def tensors_in(value: Any, depth: int = 2) -> Iterator[Any]:
    """The tensors in the arguments or the result of a call."""
    if isinstance(value, _C.Tensor):
        yield value
    elif depth and isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, _C.Tensor):
                yield item
            elif depth > 1:
                yield from tensors_in(item, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__"):
        yield from tensors_in(dict(vars(value)), depth - 1)


def node_of(tensor: Any) -> Any:
    """The grad_fn of a tensor; None too for a view that has none any more, because its base was written to in another mode."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def parameters_of(optimizer: Any) -> list[Any]:
    groups = getattr(optimizer, "param_groups", ())  # none while it is being made, perhaps by another thread
    return [param for group in groups for param in group["params"]]


class Training(Check):
    """Comes before the checks that read it."""

    def __init__(self) -> None:
        self.leaves: WeakTable[Leaf] = WeakTable()
        self.explained: WeakTable[bool] = WeakTable()  # leaves of which a check has told why they get no gradient: others need not
        self.forward: WeakTable[Place | None] = WeakTable()  # by model: its call in training
        self.differentiated: WeakTable[bool] = WeakTable()  # leaves that grad() was asked for

    forget = __init__

    def before_backward(self, run: Run) -> None:
        if run.accumulate:
            for leaf in run.graph.leaves:
                self.leaves.setdefault(leaf, Leaf).reached.append(run.number)
        else:
            for leaf in run.leaves if run.inputs else ():
                self.differentiated[leaf] = True

    def after_module(self, call: Call, result: Any) -> None:
        if call.records and any(tensor.requires_grad for tensor in tensors_in(result)):
            self.forward[call.module] = call.place

    def before_step(self, optimizer: Any, place: Place | None) -> None:
        for param in parameters_of(optimizer):
            if param.grad is not None:
                self.leaves.setdefault(param, Leaf).stepped.append(_C._training_step())

    def trains(self, tensors: Iterable[Any]) -> bool:
        """Whether an optimizer has one of them, a backward reached it, or grad() was asked for it."""
        had = in_optimizers()
        return any(id(tensor) in had or tensor in self.leaves or tensor in self.differentiated for tensor in tensors)

    def forward_of(self, model: Any) -> Place | None:
        """Where a model is called in training, or the model that it is a part of, or a part of it."""
        found = self.forward.get(model)
        if found is not None or model is None:
            return found
        for other, place in self.forward.items():
            if any(part is model for part in other.modules()) or any(part is other for part in model.modules()):
                return place
        return None

    def is_trained(self, leaf: Any) -> bool:
        """Whether a leaf is reached again and again, or an optimizer has moved it."""
        facts = self.leaves.get(leaf)
        return facts is not None and (len(facts.reached) > 1 or bool(facts.stepped))

    def last_step(self, leaf: Any) -> int:
        """The number of backwards before the last step of an optimizer that moved a leaf, 0 where there was none."""
        facts = self.leaves.get(leaf)
        return facts.stepped[-1] if facts is not None and facts.stepped else 0

    def outdated(self, leaf: Any) -> int:
        """Graphs of backwards before this number are of no use for a leaf, which has been trained for some steps since."""
        facts = self.leaves.get(leaf)
        if facts is None:
            return 0
        numbers, steps = (facts.stepped, 2) if facts.stepped else (facts.reached, 3)
        return numbers[-steps] if len(numbers) >= steps else 0


training = Training()


def in_optimizers() -> set[int]:
    """The identities of all tensors that optimizers have."""
    return {id(param) for optimizer in live_optimizers() for param in parameters_of(optimizer)}


def same_line(a: Place | None, b: Place | None) -> bool:
    return a is not None and b is not None and a[:2] == b[:2]


def place_of(site: Any) -> Place | None:
    """A place from a note of a cut."""
    return None if site is None else Place(*site[:3])
