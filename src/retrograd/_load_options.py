"""The smaller settings of save() and load(): byte order, mapping, checksums, files without their data; and the helpers PyTorch keeps beside them.

The values live in utils/serialization/config.py, where programs set them too.
"""

from __future__ import annotations

import enum
import mmap
import tempfile
import threading
import warnings
from typing import Any

from retrograd.utils.serialization import config

mkdtemp = tempfile.TemporaryDirectory


class SourceChangeWarning(Warning):
    """The source of a class has changed since a file was written."""


class LoadEndianness(enum.Enum):
    """The byte order of a file."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not name theirs; None is this machine's."""
    return config.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets the byte order of files that do not name theirs, as the oldest do not."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness: LoadEndianness or None is wanted")
    config.load.endianness = endianness


def get_crc32_options() -> bool:
    """Whether save() writes checksums."""
    return config.save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Has save() write checksums or not. Damage to a file without them goes unnoticed, and other tools may refuse to unzip it."""
    config.save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How load(mmap=True) maps files: mmap.MAP_PRIVATE or mmap.MAP_SHARED."""
    return config.load.mmap_flags


class set_default_mmap_options:
    """Sets how load(mmap=True) maps files; as a context manager, for a block. What is written to tensors that are mapped MAP_SHARED goes to the file."""

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                f"Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = config.load.mmap_flags
        config.load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        config.load.mmap_flags = self.prev


class skip_data:
    """Context manager: save() leaves room for the bytes of storages and writes none, load() makes memory for them and reads none.

    Args:
        materialize_fake_tensors: taken, and of no effect: there are no fake tensors.
    """

    _in_thread = threading.local()

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    @classmethod
    def is_on(cls) -> bool:
        """Whether this thread is inside a block."""
        return getattr(cls._in_thread, "on", False)

    def __enter__(self) -> None:
        self._before = self.is_on()
        self._in_thread.on = True

    def __exit__(self, *exc_info: object) -> None:
        self._in_thread.on = self._before


def check_module_version_greater_or_equal(module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True) -> bool:
    """Whether the version of a module, numbers with dots between, is at least this one; a version that cannot be compared is an error, or a warning."""
    try:
        parts = tuple(kind(part) for kind, part in zip(map(type, req_version_tuple), module.__version__.split("."), strict=False))
        if len(parts) < len(req_version_tuple):
            raise ValueError("too few parts")
        return parts >= req_version_tuple
    except ValueError:
        message = f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared with tuple {req_version_tuple}"
        if error_if_malformed:
            raise RuntimeError(message) from None
        warnings.warn(message + ", but continuing assuming that requirement is met", stacklevel=2)
        return True


def normalize_storage_type(storage_type: Any) -> Any:
    """The type of storages of this name in the package: torch.cuda.FloatStorage is torch.FloatStorage."""
    import retrograd

    return getattr(retrograd, storage_type.__name__)


def storage_to_tensor_type(storage: Any) -> Any:
    """The type of tensors, torch.FloatTensor, that have such a storage."""
    import retrograd

    name = retrograd.storage._NAMES.get(getattr(storage, "dtype", None))
    if name is None:
        raise AttributeError(f"a {type(storage).__name__} has no dtype, and so no type of tensors")
    return getattr(retrograd, name.replace("Storage", "Tensor"))
