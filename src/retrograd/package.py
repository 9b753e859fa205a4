"""torch.package: models with their code in one file, which are not written."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from typing import Any

from retrograd._refusals import refused

__all__ = [
    "Directory", "EmptyMatchError", "GlobGroup", "Importer", "ObjMismatchError", "ObjNotFoundError", "OrderedImporter", "PackageExporter",
    "PackageImporter", "PackagingError", "is_from_package", "sys_importer",
]  # fmt: skip


class PackagingError(Exception):
    """A package that could not be made."""


class EmptyMatchError(Exception):
    """A pattern that matches nothing."""


class ObjNotFoundError(Exception):
    """An object that no importer finds."""


class ObjMismatchError(Exception):
    """An object that an importer finds otherwise."""


def is_from_package(obj: Any) -> bool:
    """Whether an object comes out of a package."""
    return False


_WHY = "{name}: retrograd does not write or read packages of models with their code. Use torch.save() and torch.load()"
_NAMES = "Directory GlobGroup Importer OrderedImporter PackageExporter PackageImporter sys_importer"
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
