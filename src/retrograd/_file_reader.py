"""torch.PyTorchFileReader: the members of a saved file, one by one, for libraries that load tensors when they need them."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd._archives import Archive


class PyTorchFileReader:
    """A file of torch.save(), by the names of its members: `data.pkl`, `data/0`, ..."""

    def __init__(self, file: Any) -> None:
        self._archive = Archive(file)

    def has_record(self, name: str) -> bool:
        return name in self._archive

    def get_record(self, name: str) -> bytes:
        return self._archive.read(name)

    def get_all_records(self) -> list[str]:
        return [name.removeprefix(self._archive.prefix) for name in self._archive.zip.namelist()]

    def get_storage_from_record(self, name: str, numel: int, dtype: torch.dtype) -> torch.Tensor:
        """A tensor of the elements of a member."""
        data = bytearray(self._archive.read(name))
        return torch.frombuffer(data, dtype=dtype, count=numel) if numel else torch.empty(0, dtype=dtype)
