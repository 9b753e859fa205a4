"""torch.export: refused in words. `torch.fx.symbolic_trace` and `make_fx` give graphs; `state_dict()` carries weights."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Dim", "ExportedProgram", "dims", "draft_export", "export", "load", "register_dataclass", "save", "unflatten"]


def _refused(what: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.export.{what}: exported programs are of PyTorch's ops and not there. torch.fx.symbolic_trace() or make_fx() give graphs"
    )


class ExportedProgram:
    """The class of exported programs, of which there are none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refused("ExportedProgram")


class Dim:
    """A size that may vary, to describe arguments with."""

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__, self.min, self.max = name, min, max


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several sizes that may vary."""
    return tuple(Dim(name, min=min, max=max) for name in names)


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> None:
    """Accepted: only exported programs would ask."""


def export(*args: Any, **kwargs: Any) -> Any:
    """Refused."""
    return _refused("export()")


def draft_export(*args: Any, **kwargs: Any) -> Any:
    """Refused."""
    return _refused("draft_export()")


def save(*args: Any, **kwargs: Any) -> Any:
    """Refused."""
    return _refused("save()")


def load(*args: Any, **kwargs: Any) -> Any:
    """Refused."""
    return _refused("load()")


def unflatten(*args: Any, **kwargs: Any) -> Any:
    """Refused."""
    return _refused("unflatten()")
