"""Watches for mistakes that would pass in silence, and names them with the lines they are in.

By default a diagnosis is a `SilentFailureWarning`, once per place; in strict mode it is a `SilentFailureError`. Both have the code of the mistake, one of
`CODES`, as their `code`. Errors that PyTorch raises too have the code beside their own type and words.

Most of the time the doctor reads a few numbers of each backward. It looks closely at the first steps of a loop and wherever one of those numbers is out of the
ordinary: `docs/doctor.md`. `off()` or the environment variable RETROGRAD_DOCTOR=0 switch it off; RETROGRAD_STRICT=1 makes it strict.

Memory that is shared with NumPy or through DLPack may be written without any version counter moving, so tensors that are saved for backward and share theirs
leave a fingerprint, which is compared in backward: by default up to `MEMORY_CHECK_BYTES`, in strict mode for every size.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from retrograd import _C
from retrograd.doctor import _findings, _names
from retrograd.doctor._findings import CODES, Finding, SilentFailureError, SilentFailureWarning
from retrograd.doctor._watch import watcher as _watcher

if TYPE_CHECKING:
    from retrograd import nn
    from retrograd.doctor._memory import memory as memory
    from retrograd.doctor._report import Report

__all__ = [
    "CODES", "MEMORY_CHECK_BYTES", "Finding", "SilentFailureError", "SilentFailureWarning", "check_functions", "configure", "findings", "forget", "is_on", "is_strict", "memory", "off", "on", "report", "strict", "watch",
]  # fmt: skip

MEMORY_CHECK_BYTES = 16384


def is_strict() -> bool:
    """Whether a diagnosis is an exception, and checks that cost more are made."""
    return _findings.settings.strict


def is_on() -> bool:
    """Whether anything is watched."""
    return _C._doctor_state()[0]


def findings() -> list[Finding]:
    """The diagnoses so far, in order."""
    return list(_findings.found)


def report() -> Report:
    """The whole picture at this moment: str(report) is text, report.save("page.html") a page that stands alone."""
    from retrograd.doctor._report import Report

    return Report()


def __getattr__(name: str) -> Any:
    if name == "memory":
        from retrograd.doctor._memory import memory

        return memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def watch(model: nn.Module | None = None, optimizer: Any = None) -> None:
    """Looks closely at the next steps, and lets the parameters of a model have their names in what is told.

    For programs that the automatic view does not see into: models that are never called as modules, optimizers that are no `optim.Optimizer`. Such an optimizer needs
    `param_groups` as PyTorch's have them.
    """
    if model is not None:
        _names.remember(model)
    if optimizer is not None:
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"watch() takes an optimizer with param_groups, got {type(optimizer).__name__}")
        import retrograd.optim.optimizer as optim

        optim._live.add(optimizer)
    _watcher.open(at_once=True)


def forget() -> None:
    """Forgets the diagnoses and all that was learnt of the program so far, as if it began here."""
    _watcher.forget()
    _findings.forget()
    if is_strict():
        _watcher.open()


def _set_strict(mode: bool) -> None:
    _findings.settings.strict = mode
    _C._set_memory_check(-1 if mode else MEMORY_CHECK_BYTES)
    _watcher.always = mode
    if mode:
        _watcher.open()
    else:
        _watcher.close()


def _set_on(mode: bool) -> None:
    if mode == is_on():
        return
    if not mode:
        _watcher.close()
    _C._doctor_set(mode, False, False)
    if mode and _watcher.always:
        _watcher.open()


class _Setting:
    """Something that is set at once and, as a context manager, until the block ends."""

    def _undo(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc_info: Any) -> None:
        self._undo()


class strict(_Setting):
    """Makes every diagnosis an exception, and every check, also those that cost more. Works at once, and as a context manager until the block ends.

    Example:
        >>> import retrograd as torch
        >>> weights = torch.ones(10_000, requires_grad=True)
        >>> data = torch.ones(10_000)
        >>> with torch.doctor.strict():
        ...     loss = (weights * data).sum()
        ...     data.numpy()[0] = 5.0  # backward needs the data as it was
        ...     try:
        ...         loss.backward()
        ...     except RuntimeError as error:
        ...         print("written from outside" in str(error))
        True
    """

    def __init__(self, mode: bool = True) -> None:
        self._before = is_strict()
        _set_strict(bool(mode))

    def _undo(self) -> None:
        _set_strict(self._before)


class off(_Setting):
    """Watches nothing from here on, or inside the block."""

    def __init__(self) -> None:
        self._before = is_on()
        _set_on(False)

    def _undo(self) -> None:
        _set_on(self._before)


class on(_Setting):
    """Watches again from here on, or inside the block."""

    def __init__(self) -> None:
        self._before = is_on()
        _set_on(True)

    def _undo(self) -> None:
        _set_on(self._before)


class check_functions(_Setting):
    """Compares the backward of every custom Function with its forward, numerically, on its first use from here on or inside the block. Strict mode does too.

    Example:
        >>> import retrograd as torch
        >>> class Square(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * 2 * ctx.saved_tensors[0]
        >>> with torch.doctor.check_functions():
        ...     y = Square.apply(torch.ones(3, requires_grad=True))
    """

    def __init__(self, mode: bool = True) -> None:
        self._before = _findings.settings.check_functions
        self._set(bool(mode))

    def _set(self, mode: bool) -> None:
        _findings.settings.check_functions = mode
        _watcher.always = mode or is_strict()
        if mode:
            _watcher.open()

    def _undo(self) -> None:
        self._set(self._before)


class configure(_Setting):
    """Chooses codes; at once, and as a context manager until the block ends.

    Args:
        disable: codes that are not told from here on.
        enable: codes that are told again.
    """

    def __init__(self, *, disable: Iterable[str] = (), enable: Iterable[str] = ()) -> None:
        self._before = set(_findings.settings.disabled)
        disable, enable = ({codes} if isinstance(codes, str) else set(codes) for codes in (disable, enable))
        for code in disable | enable:
            if code not in CODES:
                raise ValueError(f"unknown code {code!r}: there are {', '.join(CODES)}")
        _findings.settings.disabled = (self._before | disable) - enable

    def _undo(self) -> None:
        _findings.settings.disabled = self._before


if os.environ.get("RETROGRAD_STRICT", "0") not in ("", "0"):  # the core reads it too, when it is loaded, for the size of memory checks
    _set_strict(True)

for _option in (
    sys.warnoptions
):  # of -W and PYTHONWARNINGS; Python reads them before an installed package can be imported, and drops those that name its classes
    if _option.split(":")[2:3] in (["retrograd.doctor.SilentFailureWarning"], ["torch.doctor.SilentFailureWarning"]):
        warnings._setoption(_option)  # type: ignore[attr-defined]
