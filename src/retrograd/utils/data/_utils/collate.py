"""A list of samples made into one batch: tensors are stacked, numbers become tensors, containers keep their form."""

from __future__ import annotations

import collections.abc
import copy
import sys
from collections.abc import Callable, Mapping
from typing import Any

import retrograd as torch
from retrograd import Tensor

__all__ = ["collate", "default_collate", "default_convert"]

_WORDS = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
CollateMap = dict[type | tuple[type, ...], Callable[..., Any]]


def _is_of_numpy(value: Any, kind: str) -> bool:
    """Whether it is a numpy array, or a number, without importing numpy: whoever has one has done so."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def _holds_words(array: Any) -> bool:
    return array.dtype.kind in "SUO"


def default_convert(data: Any) -> Any:
    """Numpy arrays and numbers as tensors, wherever they are in a sample; all else as it is."""
    if isinstance(data, Tensor):
        return data
    if _is_of_numpy(data, "ndarray") or _is_of_numpy(data, "generic"):
        return data if _holds_words(data) else torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(item) for item in data])
    return data


def _like_mapping(model: Any, items: dict[Any, Any]) -> Any:
    """These items in a mapping of the same class, with whatever else that one carries, or in a dict if it cannot be made."""
    try:
        if isinstance(model, collections.abc.MutableMapping):
            clone = copy.copy(model)
            clone.update(items)
            return clone
        return type(model)(items)
    except TypeError:
        return items


def _like_sequence(model: Any, items: list[Any]) -> Any:
    try:
        if isinstance(model, collections.abc.MutableSequence):
            clone = copy.copy(model)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(model)(items)
    except TypeError:  # a range, say
        return items


def collate(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Joins samples by the functions of a map from types, or tuples of types, that say how samples of theirs are joined."""
    first = batch[0]
    kind = type(first)
    functions = collate_fn_map or {}
    if kind in functions:
        return functions[kind](batch, collate_fn_map=collate_fn_map)
    for types, function in functions.items():
        if isinstance(first, types):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like_mapping(first, {key: _field(key, [sample[key] for sample in batch], collate_fn_map) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(_field(i, list(samples), collate_fn_map) for i, samples in enumerate(zip(*batch, strict=True))))
    if isinstance(first, collections.abc.Sequence):
        if not all(len(sample) == len(first) for sample in batch):
            raise RuntimeError(
                f"each element in list of batch should be of equal size: the samples have lengths {sorted({len(sample) for sample in batch})}\n"
                "  Hint: pad them, for example by torch.nn.utils.rnn.pad_sequence in a collate_fn of your own."
            )
        joined = [_field(i, samples, collate_fn_map) for i, samples in enumerate(zip(*batch, strict=True))]
        return joined if isinstance(first, tuple) else _like_sequence(first, joined)
    raise TypeError(_WORDS.format(kind))


def _field(name: Any, samples: Any, functions: CollateMap | None) -> Any:
    """The samples' parts of one name, joined."""
    try:
        return collate(samples, collate_fn_map=functions)
    except Exception as error:
        error.add_note(f"in [{name!r}] of each sample")
        raise


def collate_tensor_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """Stacks tensors."""
    return torch.stack(batch if isinstance(batch, list) else list(batch), 0)


def collate_numpy_array_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Stacks arrays, as tensors."""
    if _holds_words(batch[0]):
        raise TypeError(_WORDS.format(batch[0].dtype))
    return collate([torch.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """A tensor of numpy's numbers."""
    return torch.as_tensor(batch)


def collate_float_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """A tensor of float64."""
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Tensor:
    """A tensor of integers, or of bools."""
    return torch.tensor(batch)


def collate_str_fn(batch: list[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """The strings as they are."""
    return batch


default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: list[Any]) -> Any:
    """Joins samples as DataLoader does: see `collate`; how further types are joined can be added to `default_collate_fn_map`."""
    functions = default_collate_fn_map
    numpy = sys.modules.get("numpy")
    if numpy is not None and numpy.ndarray not in functions:
        functions[numpy.ndarray] = collate_numpy_array_fn
        functions[(numpy.bool_, numpy.number, numpy.object_)] = collate_numpy_scalar_fn
    return collate(batch, collate_fn_map=functions)
