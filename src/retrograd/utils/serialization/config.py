"""What save() and load() do where their arguments say nothing: `config.load.mmap = True`, or `with config.patch({"load.mmap": True})`."""

from __future__ import annotations

import contextlib
import mmap as _mmap
from collections.abc import Iterator
from typing import Any


class _Options:
    """Options by name; a name that is not there is an error, not a new option."""

    def __init__(self, section: str, **options: Any) -> None:
        self.__dict__.update(options, _section=section)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"torch.utils.serialization.config.{self._section}.{name} does not exist")
        self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"torch.utils.serialization.config.{self.__dict__.get('_section', '')}.{name} does not exist")


load: Any = _Options(
    "load",
    mmap=False,
    endianness=None,  # the byte order of files that do not name theirs
    mmap_flags=getattr(_mmap, "MAP_PRIVATE", None),
    calculate_storage_offsets=False,  # of use to readers that seek no member: taken, and of no effect
)
save: Any = _Options(
    "save",
    compute_crc32=True,
    use_pinned_memory_for_d2h=False,
    storage_alignment=64,
)
_sections = {"load": load, "save": save}


def get_config_copy() -> dict[str, Any]:
    """All options, as {"load.mmap": False, ...}."""
    return {f"{name}.{key}": value for name, options in _sections.items() for key, value in vars(options).items() if key != "_section"}


def load_config(options: dict[str, Any]) -> None:
    """Sets options, as {"load.mmap": True}."""
    for name, value in options.items():
        section, _, key = name.partition(".")
        if section not in _sections or name not in get_config_copy():
            raise AttributeError(f"torch.utils.serialization.config.{name} does not exist")
        setattr(_sections[section], key, value)


@contextlib.contextmanager
def patch(arg1: Any = None, arg2: Any = None, **options: Any) -> Iterator[None]:
    """Sets options for a block: patch({"load.mmap": True}) or patch("load.mmap", True)."""
    given = {arg1: arg2} if isinstance(arg1, str) else dict(arg1 or {}, **options)
    before = get_config_copy()
    try:
        load_config(given)
        yield
    finally:
        load_config(before)
