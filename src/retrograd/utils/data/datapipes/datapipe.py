"""What data pipes have in common: steps called as methods, one iterator at a time, and words that say in which pipe something failed."""

from __future__ import annotations

import functools
import inspect
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from retrograd.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe"]


class DataChunk(list[Any]):
    """A batch: a list that is shown as one."""

    def __init__(self, items: Any) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self) -> Iterator[Any]:
        """The items."""
        yield from self.items


class _Steps:
    """Steps that are called as methods of a pipe."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, name: str) -> Any:
        step = None if name.startswith("__") else type(self).functions.get(name)
        if step is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        function = functools.partial(step, self)
        functools.update_wrapper(function, step, assigned=("__doc__",))
        return function

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Makes a function of a pipe a method of all."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name: str, cls_to_register: Any, enable_df_api_tracing: bool = False) -> None:
        """Makes a class of pipes, whose first argument is a pipe, a method of all."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        def step(source: Any, *args: Any, **kwargs: Any) -> Any:
            return cls_to_register(source, *args, **kwargs)

        step.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = step

    def __repr__(self) -> str:
        return type(self).__qualname__

    __str__ = __repr__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *type(self).functions]


class MapDataPipe(_Steps, Dataset[Any]):
    """A dataset with places, made of others."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class IterDataPipe(_Steps, IterableDataset[Any]):
    """A dataset to go through, made of others. It has one iterator at a time: a new one makes the one before invalid."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _valid_iterator_id = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__iter__" in vars(cls):
            cls.__iter__ = _one_at_a_time(cls.__iter__)  # type: ignore[method-assign]

    def reset(self) -> None:
        """Called where a new iterator is asked for."""


class DFIterDataPipe(IterDataPipe):
    """Pipes of data frames, which are not here: for isinstance()."""


def described(pipe: Any) -> str:
    """A pipe with what it was made of."""
    parts = []
    for name in sorted(inspect.signature(type(pipe).__init__).parameters):
        value = vars(pipe).get(name, vars(pipe).get(f"_{name}", pipe))
        if value is not pipe:
            parts.append(f"{name}={getattr(value, '__name__', None) or repr(value)}")
    return f"{type(pipe).__qualname__}({', '.join(parts)})"


class _Guarded:
    """An iterator of a pipe, valid until the pipe makes another."""

    def __init__(self, pipe: IterDataPipe, iterator: Iterator[Any]) -> None:
        self._pipe, self._iterator, self._id = pipe, iterator, pipe._valid_iterator_id

    def __iter__(self) -> _Guarded:
        return self

    def __next__(self) -> Any:
        if self._pipe._valid_iterator_id != self._id:
            raise RuntimeError(
                "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: "
                f"{described(self._pipe)}\nThis may be caused by multiple references to the same IterDataPipe. We recommend using `.fork()` if that is necessary."
            )
        try:
            return next(self._iterator)
        except StopIteration:
            raise
        except Exception as error:
            if error.args and isinstance(error.args[0], str) and "This exception is thrown by" not in error.args[0]:
                error.args = (f"{error.args[0]}\nThis exception is thrown by __iter__ of {described(self._pipe)}", *error.args[1:])
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def _one_at_a_time(function: Callable[[Any], Iterator[Any]]) -> Any:
    @functools.wraps(function)
    def __iter__(self: Any) -> Any:
        self._valid_iterator_id = self._valid_iterator_id + 1
        self.reset()
        iterator = function(self)
        return iterator if iterator is self else _Guarded(self, iterator)

    return __iter__


# -- decorators and checks --------------------------------------------------------------------------


class functional_datapipe:
    """Makes a class of pipes a method, by this name, of all pipes of its kind."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, (IterDataPipe, MapDataPipe))):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        kind.register_datapipe_as_function(self.name, cls)
        return cls


class guaranteed_datapipes_determinism:
    """A block in which pipes that are marked as not deterministic cannot be made."""

    asked: ClassVar[bool] = False

    def __enter__(self) -> None:
        self._before = guaranteed_datapipes_determinism.asked
        guaranteed_datapipes_determinism.asked = True

    def __exit__(self, *error: Any) -> None:
        guaranteed_datapipes_determinism.asked = self._before


def non_deterministic(arg: Any) -> Any:
    """Marks a class of pipes as not deterministic, always or where a function of its arguments says so."""

    def mark(cls: Any, condition: Callable[..., bool] | None = None) -> Any:
        made = cls.__init__

        @functools.wraps(made)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if guaranteed_datapipes_determinism.asked and (condition is None or condition(*args, **kwargs)):
                raise TypeError(
                    f"{cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can turn off determinism for this DataPipe if that is acceptable"
                )
            made(self, *args, **kwargs)

        cls.__init__ = __init__
        return cls

    return mark(arg) if isinstance(arg, type) else lambda cls: mark(cls, arg)


def argument_validation(function: Any) -> Any:
    """Types of pipes are not checked: the function as it is."""
    return function


runtime_validation = argument_validation


class runtime_validation_disabled:
    """A block without checks of types, of which there are none."""

    def __enter__(self) -> None: ...

    def __exit__(self, *error: Any) -> None: ...


def warn_of_local(function: Any) -> None:
    """Functions that pickle cannot take by name do not reach worker processes that are spawned."""
    inner = getattr(function, "func", function)  # of a partial
    if "<locals>" in getattr(inner, "__qualname__", "") or getattr(inner, "__name__", "") == "<lambda>":
        warnings.warn(
            "Local function is not supported by pickle, please use regular python function or functools.partial instead.", stacklevel=3
        )


# -- the pipes that a pipe is made of ---------------------------------------------------------------


def sources(pipe: Any) -> list[Any]:
    """All pipes that one is made of, itself included."""
    found: dict[int, Any] = {}

    def walk(value: Any) -> None:
        if id(value) in found:
            return
        if isinstance(value, (IterDataPipe, MapDataPipe)):
            found[id(value)] = value
            for inner in vars(value).values():
                walk(inner)
        elif isinstance(value, (list, tuple, set)):
            for inner in value:
                walk(inner)
        elif isinstance(value, dict):
            for inner in value.values():
                walk(inner)
        elif getattr(value, "_holds_pipes", False):
            for inner in vars(value).values():
                walk(inner)

    walk(pipe)
    return list(found.values())


def prepare(pipe: Any, seed: int, workers: int, worker: int) -> None:
    """Before a round of a loader: shufflers get the same seeds in all workers (none: the loader has no workers), and sharding filters their part."""
    before, rounds = vars(pipe).get("_round", (seed, -1))  # a worker that stays has one seed for all its rounds
    rounds = rounds + 1 if before == seed and workers else 0
    vars(pipe)["_round"] = seed, rounds
    draw = random.Random(seed + rounds)
    for each in sources(pipe):
        if hasattr(each, "set_seed"):
            each.set_seed(draw.getrandbits(63))
        if hasattr(each, "apply_sharding"):
            each.apply_sharding(max(workers, 1), worker)
