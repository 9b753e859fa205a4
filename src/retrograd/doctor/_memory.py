"""Where memory goes: every byte of living tensors by what it is for, what backward keeps by line and by module, now and at the peak.

A storage counts once, for the first of these that has it: parameters and buffers, gradients, the state of optimizers, graphs (for backward), variables of the program, and what
an op or a backward is computing with at the moment.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from retrograd import _C, doctor
from retrograd._memory import _readable
from retrograd.doctor import _names
from retrograd.doctor._places import Place, here
from retrograd.doctor._watch import live_optimizers, watcher

KINDS = ("parameters", "buffers", "gradients", "optimizer state", "saved for backward", "variables", "in flight", "unknown")


class Snapshot:
    """The memory of tensors at one moment.

    Attributes:
        allocated: bytes that living tensors hold.
        kinds: bytes by what they are for.
        lines: bytes saved for backward, by the line that saved them.
        modules: the same by the path of the module that ran.
        variables: bytes of other tensors, by the variable that holds them.
    """

    def __init__(self, model: Any = None) -> None:
        with watcher.unwatched():
            self.allocated: int = _C._memory_stats()["allocated"]
            self.kinds = dict.fromkeys(KINDS, 0)
            self.lines: dict[Place | None, int] = {}
            self.modules: dict[str, int] = {}
            self.variables: dict[str, int] = {}
            self.place = here()
            self.kept: list[tuple[int, int, int]] = []  # number of a node, address and bytes of what it saved, each address once
            self._count(model)

    def name_modules(self, spans: list[Span]) -> None:
        """Sets `modules`, once it is known which ran when."""
        for sequence, _, size in self.kept:
            path = _module_at(spans, sequence)
            self.modules[path] = self.modules.get(path, 0) + size

    def _count(self, model: Any) -> None:
        tensors = _C._live_tensors()
        memory: dict[int, int] = {}
        holders: dict[int, list[Any]] = {}
        for t in tensors:
            if type(t).__name__ == "SparseTensor":
                continue  # has no memory of its own: its parts are tensors
            address, size = _C._memory_of(t)
            memory[address] = size
            holders.setdefault(address, []).append(t)

        def take(kind: str, address: int) -> int:
            size = memory.pop(address, 0)
            self.kinds[kind] += size
            return size

        for t in tensors:
            if t.requires_grad and t.grad_fn is None:
                take("parameters", _C._memory_of(t)[0])
        for module in [*_names.models(), *([model] if model is not None else [])]:
            for kind, members in (("parameters", module.parameters()), ("buffers", module.buffers())):
                for t in members:
                    take(kind, _C._memory_of(t)[0])
        for t in tensors:
            if t.requires_grad and t.grad_fn is None and t.grad is not None:
                take("gradients", _C._memory_of(t.grad)[0])
        for optimizer in live_optimizers():
            for t in _tensors_in(list(getattr(optimizer, "state", {}).values())):  # one of the user's need not have any
                take("optimizer state", _C._memory_of(t)[0])
        for _, site, sequence, kept in sorted(_C._graph_memory(), key=lambda row: row[2]):
            for address, _ in kept:
                size = take("saved for backward", address)
                if size:
                    place = Place(*site) if site else None
                    self.lines[place] = self.lines.get(place, 0) + size
                    self.kept.append((sequence, address, size))
        names = _variables()
        computing = _C._in_backward() or _C._top_op_handler() is not None
        for address in list(memory):
            name = next((names[id(t)] for t in holders[address] if id(t) in names), None)
            if name is None:
                take("in flight" if computing else "unknown", address)
            else:
                self.variables[name] = self.variables.get(name, 0) + take("variables", address)

    @property
    def attributed(self) -> float:
        """The share of the bytes whose purpose is known."""
        return 1.0 - (self.allocated - sum(self.kinds.values()) + self.kinds["unknown"]) / max(1, self.allocated)

    def _summary(self) -> str:
        return f"{_readable(self.allocated)} in tensors, {100 * self.attributed:.1f} % of it known"

    def _tables(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """Titles and rows, most bytes first."""
        yield "by what it is for", [(kind, size) for kind, size in self.kinds.items() if size]
        named: list[tuple[str, dict[Any, int]]] = [
            ("saved for backward, by line", self.lines),
            ("by module", {} if set(self.modules) == {""} else self.modules),
            ("held by variables", self.variables),
        ]
        for title, table in named:
            if table:
                yield title, [(str(key or "outside"), size) for key, size in sorted(table.items(), key=lambda row: -row[1])[:20]]

    def __str__(self) -> str:
        lines = [self._summary()]
        for title, rows in self._tables():
            lines += [title, *(f"  {_readable(size):>12}  {name}" for name, size in rows)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from retrograd import _pages

        charts = [_pages.bar_chart(title, [(name, float(size), _readable(size)) for name, size in rows]) for title, rows in self._tables()]
        return _pages.Page(self._summary(), [_pages.grid(charts)])._repr_html_()


class Span(NamedTuple):
    """One call of a module: the numbers of the nodes that were made in it."""

    first: int
    end: int
    path: str


def _tensors_in(value: Any) -> Iterator[Any]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _C.Tensor):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)


def _variables() -> dict[int, str]:
    """Names of tensors that variables of the program hold, directly or in a container or an object."""
    names: dict[int, str] = {}
    for scope in _names._scopes():
        for name, value in list(scope.items()):
            if name.startswith("__"):
                continue
            if isinstance(value, _C.Tensor):
                names.setdefault(id(value), name)
            elif isinstance(value, dict | list | tuple):
                for t in _tensors_in(value):
                    names.setdefault(id(t), name)
            elif hasattr(value, "__dict__") and not isinstance(value, type | type(sys)):
                for key, member in list(vars(value).items()):
                    for t in _tensors_in(member):
                        names.setdefault(id(t), f"{name}.{key}")
    return names


def _module_at(spans: list[Span], sequence: int) -> str:
    """The innermost module that ran when a node was made."""
    inside = [span for span in spans if span.first <= sequence < span.end]
    return min(inside, key=lambda span: span.end - span.first).path if inside else ""


class memory:
    """A snapshot of the memory of tensors; as a context manager also of the moment at which it was most.

    Args:
        model: whose modules are told apart, in the context manager.

    Example:
        >>> import retrograd as torch
        >>> from retrograd import doctor
        >>> model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1))
        >>> x = torch.randn(1024, 64)
        >>> with doctor.memory(model) as used:
        ...     model(x).mean().backward()
        >>> used.peak.modules["1"] == 1024 * 256 * 4  # the result of Tanh
        True
        >>> used.peak.attributed > 0.99
        True
    """

    def __init__(self, model: Any = None) -> None:
        self.model = model
        self.now = Snapshot(model)
        self.peak = self.now
        self._before = 0  # bytes allocated when the block began
        self.spans: list[Span] = []
        self._handles: list[Any] = []
        self._doctor = False  # whether it is to be switched on again
        self._open: list[int] = []

    def __str__(self) -> str:
        text = str(self.now)
        return text if self.peak is self.now else f"{text}\n\nat the peak, at {self.peak.place}:\n{self.peak}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        text = self.now._repr_html_()
        return text if self.peak is self.now else f"{text}<div>at the peak, at {self.peak.place}:</div>{self.peak._repr_html_()}"

    def __enter__(self) -> memory:
        gc.collect()  # garbage that went away later would hide how much the block itself takes
        self._before = _C._memory_stats()["allocated"]
        clock = _C._ops.zeros((), requires_grad=True)

        def number() -> int:
            with watcher.unwatched():
                _C._set_grad_enabled(True)
                node = clock.view_as(clock).grad_fn
            assert node is not None
            return node._sequence_nr()

        def begin(_module: Any, _args: Any) -> None:
            self._open.append(number())

        def end(path: str, _module: Any, _args: Any, _result: Any) -> None:
            self.spans.append(Span(self._open.pop(), number(), path))

        for path, module in self.model.named_modules() if self.model is not None else ():
            self._handles.append(module.register_forward_pre_hook(begin))
            self._handles.append(module.register_forward_hook(functools.partial(end, path), always_call=True))
        self.peak = self.now
        self._doctor = _C._doctor_state()[0]
        if self._doctor:  # what its checks compute is not the program's
            doctor.off()
        _C._push_op_handler(self._op)
        return self

    def _op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = op(*args, **kwargs)
        grown = _C._memory_stats()["allocated"] - self._before
        if grown > 1.01 * max(0, self.peak.allocated - self._before):
            self.peak = Snapshot(self.model)
        return result

    def __exit__(self, *exc_info: Any) -> None:
        _C._pop_op_handler()
        if self._doctor:
            doctor.on()
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        if self.peak is not self.now:
            self.peak.name_modules(self.spans)
        self.now = Snapshot(self.model)
        self.now.name_modules(self.spans)
