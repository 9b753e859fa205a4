"""What a tensor without history can say about where its history ended: the words for the notes of csrc/autograd/cut.h.

No advice here is to call requires_grad_() on the result: backward() would then run, and compute nothing.
"""

from __future__ import annotations

import linecache
import sys
from typing import Any

from retrograd import _C
from retrograd._cells import line_text

Place = tuple[str, int, str, bool]  # file, line, function, whether the line is where the function is defined

_HINTS = {
    "no_grad": "compute what is to be differentiated outside of that block or function. If it is evaluation, call backward() on the "
    "loss of the training step instead.",
    "inference_mode": "compute what is to be differentiated outside of inference_mode: what is made inside can never enter a graph.",
    "forward": "the outputs of a Function (a reentrant checkpoint is one) require grad only if one of its tensor arguments does: pass "
    "what is to be differentiated to apply() as an argument.",
    "backward": "pass create_graph=True to that call if derivatives of its gradients are wanted; inside a hook or a custom backward, compute "
    "what is to be differentiated under torch.enable_grad().",
    "hook": "what hooks on saved tensors compute is not recorded: use the tensor that the hook was given.",
    "detach": "take the tensor as it was before detach() into the loss, and detach only targets and what is logged.",
    "data": "take the tensor itself, not its .data, into the loss; detach() says the same more visibly where it is meant.",
    "op": "compute the loss from what went into that operation (scores or probabilities rather than the class, the distance rather than "
    "the comparison).",
    "copied": "use the tensor itself instead of a copy of its values; torch.stack and torch.cat join tensors and keep their history.",
    "numpy": "stay with tensor operations between parameters and loss, or write an autograd.Function with a backward for the NumPy part.",
    "frozen": "if that is to be learned, do not freeze it; if it is frozen on purpose, the loss has to depend on something that is not.",
    "parameter": "if that parameter is to be learned, make it without requires_grad=False.",
    "made": "if the data was computed from parameters (item(), tolist(), NumPy), keep tensors instead: that is where the history ended. If "
    "this tensor is what is to be learned, make it with requires_grad=True in that line.",
    "leaf": "make the tensors that are to be learned with requires_grad=True (an nn.Parameter has it) before they are used; numbers that "
    "were taken out of tensors (item(), tolist(), float()) have left the history behind. Setting requires_grad on this result would let "
    "backward() run, and compute nothing.",
}


_ZERO = {
    "RoundBackward0",
    "RoundBackward1",
    "FloorBackward0",
    "CeilBackward0",
    "SignBackward0",
    "SgnBackward0",
    "TruncBackward0",
    "FixBackward0",
}


def has_zero_derivative(node: Any, name: str = "") -> bool:
    """Whether the derivative of the op of a node is zero everywhere. The name of the node may be given where it is known."""
    name = name or node.name()
    if name in _ZERO:
        return True
    return name == "DivBackward2"  # a quotient that is rounded: of rounding_mode=None it is the name too, but its gradient is not zero


def blocks(root: Any) -> str:
    """What can be said of a graph whose every path to a leaf goes through an op with a derivative of zero: that no gradient will arrive."""
    stack, seen, zeros = [root], {root}, {}
    while stack:
        node = stack.pop()
        if has_zero_derivative(node):
            zeros[node] = True
            continue
        if hasattr(node, "variable"):
            return ""  # a leaf that a gradient comes to
        for child, _ in node.next_functions:
            if child is not None and child not in seen:
                seen.add(child)
                stack.append(child)
    at = [f"{node.name()}, made at {_at((*node._site[:2], '', False))}" if node._site else node.name() for node in zeros]
    if not at:
        return ""
    return (
        f", but the gradients of all leaves are zero: the derivative of {' and of '.join(at[:3])} is zero everywhere\n  Hint: "
        + _HINTS["op"]
    )


def _at(place: Place | None) -> str:
    if place is None:
        return "an unknown line"
    file, line, function, is_definition = place
    text = linecache.getline(file, line).strip()
    where = line_text(file, line) + (f" ({text})" if text else "")
    return f"{where}, around all of {function}()" if is_definition else where


def _sentence(kind: str, op: str | None, mode: Place | None, at: Place | None) -> str:
    if kind == "no_grad":
        return f"gradients were switched off at {_at(mode)}, and the history ended in {op} at {_at(at)}"
    if kind == "inference_mode" and op is None:
        return f"inference_mode was entered at {_at(mode)}, and it was made there at {_at(at)}"
    if kind == "inference_mode":
        return f"inference_mode was entered at {_at(mode)}, and the history ended in {op} at {_at(at)}"
    if kind == "forward":
        return f"it was computed inside the forward of a custom Function, where nothing is recorded; it was applied at {_at(mode)}"
    if kind == "backward":
        return f"it was computed from gradients, or in a hook, of the backward at {_at(mode)}, which ran without create_graph=True"
    if kind == "op" and op == "a custom Function":
        return f"the history ended in a custom Function at {_at(at)}, which marks its result with ctx.mark_non_differentiable(), or gives integers"
    if kind == "op" and op == "_to_copy":
        return f"the history ended in a conversion to integers or booleans at {_at(at)}, which have no derivative"
    if kind == "op":
        return f"the history ended in {op} at {_at(at)}: its result has no derivative (integers, booleans, a choice between elements, or inference tensors alone)"
    words = {
        "hook": "it was computed in a hook on saved tensors",
        "detach": f"the history was cut by detach at {_at(at)}",
        "data": f"the values were taken without their history, through .data, at {_at(at)}",
        "copied": f"the values of a tensor that requires grad were copied, without the history, at {_at(at)}",
        "numpy": f"the values came back from NumPy, which records nothing, at {_at(at)}",
        "frozen": f"all that it was computed from does not require grad; some was frozen (requires_grad=False) at {_at(at)}",
        "parameter": f"all that it was computed from does not require grad; a Parameter was made with requires_grad=False at {_at(at)}",
        "made": f"all that it was computed from does not require grad; some was made from data at {_at(at)}",
    }
    return words[kind]


def _without_note(tensor: Any) -> tuple[str, str]:
    if tensor.is_inference():
        return "it was made in inference mode", _HINTS["inference_mode"]
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return f"its dtype is {tensor.dtype}, and only floating-point and complex numbers have derivatives", _HINTS["op"]
    return "nothing that it was computed from requires grad", _HINTS["leaf"]


def reasons(tensor: Any) -> list[str]:
    """Where the history of a tensor without one ended: a sentence for each place known, then what to do about it."""
    notes = tensor._cut
    if not notes:
        fact, hint = _without_note(tensor)
        return [fact, "Hint: " + hint]
    facts = [_sentence(*note) for note in notes]
    return facts + ["Hint: " + _HINTS[kind] for kind in dict.fromkeys(note[0] for note in notes)]


def _frozen_optimizers() -> list[str]:
    """What explains a backward without history as well as a detach does: optimizers that have nothing but frozen parameters."""
    module = sys.modules.get("retrograd.optim.optimizer")
    found: dict[Any, str] = {}
    for optimizer in list(module._live) if module is not None else ():
        params = [param for group in getattr(optimizer, "param_groups", ()) for param in group["params"]]
        if params and not any(param.requires_grad for param in params):
            at = next((note[3] for note in params[0]._cut if note[0] == "frozen"), None)
            if at is not None:
                found[at] = (
                    f"all parameters of an optimizer are frozen (requires_grad=False), at {_at(at)}: unfreeze those that this is to train"
                )
    return list(found.values())


def explain_backward(tensor: Any) -> str:
    """The same for a backward from it, with its line."""
    site = _C._user_site()
    frozen = [] if any(note[0] == "frozen" for note in tensor._cut) else _frozen_optimizers()
    return (
        "".join("\n  " + line for line in frozen)
        + explain(tensor)
        + ("" if site is None else f"\n  backward() was called at {_at((*site, False))}")
    )


def explain(tensor: Any) -> str:
    """The reasons as lines that follow an error message."""
    return "".join("\n  " + line for line in reasons(tensor))
