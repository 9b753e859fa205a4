"""What a diagnosis is, and how it reaches the user: a warning once per place, an exception in strict mode, a line in the report."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retrograd.doctor._places import Place, here, is_library_file, is_package_file

CODES: dict[str, str] = {
    "graph_leak": "A tensor with its graph is kept across steps, so the graph grows without bound.",
    "missing_zero_grad": "A step applies gradients that still hold those of an earlier step, or none because they were zeroed before it.",
    "training_without_grad": "The loss of a training loop has no path to any parameter.",
    "disconnected_parameter": "A trainable tensor cannot learn: the loss never reaches it, or no optimizer has it.",
    "mode_confusion": "Layers that differ between training and evaluation run in the wrong mode, or an evaluation builds graphs for nobody.",
    "inplace_corruption": "A tensor that was saved for backward was changed before it.",
    "backward_twice": "Backward goes through a part of a graph that was freed already.",
    "retain_graph_leak": "retain_graph=True keeps graphs that no later backward needs, or that are carried from step to step.",
    "non_scalar_backward": "backward() from a tensor of several elements without a gradient for it.",
    "nan_origin": "The first value, or gradient, that is not finite.",
    "exploding_gradient": "The gradient grew by orders of magnitude from one step to the next and was used as it is.",
    "dead_gradient": "The gradient of a parameter is exactly zero, step after step.",
    "custom_function_wrong_gradient": "The backward of a Function disagrees with its forward, or it keeps tensors where they leak.",
    "inference_tensor_misuse": "A tensor made in inference mode is used where autograd needs an ordinary one.",
    "checkpoint_side_effects": "A checkpointed block does not recompute what it computed, or does things twice.",
    "stale_optimizer": "The optimizer holds tensors that are not the model's any more.",
    "grad_accumulation_scaling": "Mean losses are accumulated for one step without dividing them by their number.",
    "dtype_cut": "A conversion, a rounding or a choice between the parameters and the loss cuts the gradient.",
    "silent_broadcast_loss": "Sizes such as (N, 1) and (N) were broadcast to (N, N) on the way to the loss.",
}


class SilentFailureWarning(UserWarning):
    """A mistake that would have passed in silence. `code` says which; `place` and `also` are lines of the program."""

    code: str = ""
    place: Place | None = None
    also: Place | None = None


class SilentFailureError(RuntimeError):
    """The same in strict mode."""

    code: str = ""
    place: Place | None = None
    also: Place | None = None


@dataclasses.dataclass(frozen=True)
class Finding:
    """One diagnosis.

    Args:
        code: a key of CODES.
        what: what happened, one sentence with names and sizes.
        place: the line of the cause.
        why: why it matters, one sentence.
        fix: what to write instead.
        also: the second line that matters, and `also_what` what happens there.
    """

    code: str
    what: str
    place: Place | None
    why: str
    fix: str
    also: Place | None = None
    also_what: str = "see also"

    def text(self) -> str:
        lines = [f"[{self.code}] {self.what}"]
        if self.place is not None:
            lines.append(f"  at {self.place.quoted()}")
        if self.also is not None and (self.place is None or self.also[:2] != self.place[:2]):
            lines.append(f"  {self.also_what} {self.also.quoted()}")
        lines += [f"  Why: {self.why}", f"  Fix: {self.fix}"]
        return "\n".join(lines)


class Settings:
    """What is looked for and how it is told; one for the process."""

    def __init__(self) -> None:
        self.strict = False
        self.disabled: set[str] = set()
        self.check_functions = False  # custom Functions of every size are compared with their backward


settings = Settings()
found: list[Finding] = []  # everything that was told, in order
listeners: list[Callable[[Finding], None]] = []  # are handed each finding before it is told
_told: set[tuple[str, str, int]] = set()


def _note(finding: Finding) -> None:
    found.append(finding)
    for listener in listeners:
        listener(finding)


def note_error(error: BaseException) -> None:
    """An error that is a diagnosis and ended the program: it belongs into the report, too."""
    code = getattr(error, "code", None)
    if code not in CODES or isinstance(error, SilentFailureError):
        return
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_package_file(frame.filename)]
    place = Place(frames[-1].filename, frames[-1].lineno or 0, frames[-1].name) if frames else None
    what, _, more = str(error).partition("\n")
    _note(Finding(code, what, place, CODES[code], more.strip() or "see the message above"))


def was_told(code: str, place: Place | None) -> bool:
    """Whether this was said of this line already, so that a check need not look again."""
    return (code, *(place[:2] if place else ("", 0))) in _told


def forget() -> None:
    """Nothing was told yet."""
    found.clear()
    _told.clear()


def tell(finding: Finding) -> None:
    """Says it once per place: raises in strict mode, warns otherwise."""
    finding = _of_the_user(finding)
    if finding.code in settings.disabled or was_told(finding.code, finding.place):
        return
    place = finding.place
    _told.add((finding.code, *(place[:2] if place else ("", 0))))
    _note(finding)
    cls = SilentFailureError if settings.strict else SilentFailureWarning
    message = cls(finding.text())
    message.code, message.place, message.also = finding.code, place, finding.also
    if isinstance(message, SilentFailureError):
        raise message
    with _as_block():
        warnings.warn_explicit(message, None, place.file if place else "<unknown>", place.line if place else 1)


def _of_the_user(finding: Finding) -> Finding:
    """With the line of the program that called a library, where an op inside the library is the cause: outside of close looks nodes know no more than the op's line."""
    place, caller = finding.place, here()
    if place is None or caller is None or not is_library_file(place.file) or is_library_file(caller.file):
        return finding
    return dataclasses.replace(finding, place=caller, also=place, also_what="in the library, at")


@contextlib.contextmanager
def _as_block() -> Iterator[None]:
    """In a notebook a warning that would be printed is shown as a block below the cell. Filters have their say before, and whoever records warnings or has a
    showwarning of their own gets them as ever."""
    show = warnings.showwarning
    if "ipykernel" not in sys.modules or not _prints(show):
        yield
        return
    from retrograd._cells import in_kernel, show_finding

    if in_kernel():
        warnings.showwarning = lambda message, *args, **kwargs: show_finding(str(message))
    try:
        yield
    finally:
        warnings.showwarning = show


def _prints(show: Any) -> bool:
    """Whether a warning goes to stderr, the way of the standard library. catch_warnings(record=True) puts its list in place of the inner function, or, in later versions,
    into a context."""
    inner = getattr(warnings, "_showwarnmsg_impl", None)
    context = getattr(warnings, "_get_context", None)
    recorded = context is not None and getattr(context(), "log", None) is not None
    return not recorded and all(getattr(f, "__module__", None) in ("warnings", "_py_warnings") for f in (show, inner))


def counted(number: int, noun: str) -> str:
    """'1 node', '1,204 nodes'."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """'a, b and 3 more'."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
