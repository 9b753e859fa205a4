"""From keys to batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor
from retrograd.utils.data._utils.collate import default_collate
from retrograd.utils.data.dataset import Subset, TensorDataset


class _MapDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        many = getattr(dataset, "__getitems__", None)
        self.many = many if callable(many) else None
        if auto_collation and collate_fn is default_collate and (rows := _rows(dataset)):
            self.fetch = rows  # type: ignore[method-assign, assignment]

    def fetch(self, keys: Any) -> Any:
        if not self.auto_collation:
            return self.collate_fn(self.dataset[keys])
        if self.many:
            samples = self.many(keys)
        else:
            samples = []
            for key in keys:
                try:
                    samples.append(self.dataset[key])
                except Exception as error:
                    error.add_note(f"in dataset[{key!r}], a sample of the batch {keys}")
                    raise
        try:
            return self.collate_fn(samples)
        except Exception as error:
            error.add_note(
                f"while the samples {keys} of the dataset were put together by {getattr(self.collate_fn, '__name__', self.collate_fn)}"
            )
            raise


def _rows(dataset: Any) -> Callable[[Any], Any] | None:
    """How the batches of a plain TensorDataset, or of a part of one, are had in one step: rows of its tensors, and no sample by itself."""
    chosen = None
    if type(dataset) is Subset:
        dataset, chosen = dataset.dataset, dataset.indices
    if type(dataset) is not TensorDataset:
        return None
    tensors = dataset.tensors
    if any(type(t) is not Tensor or t.requires_grad or t.device.type != "cpu" or t.dim() == 0 for t in tensors):
        return None

    def fetch(keys: Any) -> list[Tensor]:
        index = torch.tensor(keys if chosen is None else [chosen[key] for key in keys])
        return [t[index] for t in tensors]

    return fetch


class _IterableDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.samples = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, keys: Any) -> Any:
        """The next samples, as many as there are keys. StopIteration where there are none left, or too few for `drop_last`."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.samples))
        batch = []
        for _ in keys:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)
