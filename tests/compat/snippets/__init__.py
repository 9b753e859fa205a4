"""Small programs, run on PyTorch and on retrograd: what they print, raise and warn about has to agree.

A file of snippets is text. `### title` opens one; the lines below it are a program, in which `torch` is the engine and the names of `scope()` are
there. `show(...)` says what is to be compared. A program may end with an exception: its type has to agree, and its words
where a line `#! words` names them (in both messages). `#? words` does the same for warnings. `#= reason` says that the engines
differ on purpose, see docs/differences.md, and how retrograd does.
"""

from __future__ import annotations

import functools
import gc
import importlib
import pathlib
import re
import warnings
from typing import Any, NamedTuple

_HERE = pathlib.Path(__file__).parent
# What PyTorch warns about for reasons of its inside: deprecated parts it uses itself, rules it lacks, and its tracer.
_NOISE = ("torch.jit.script", "performance drop because we have not yet implemented", "insert a get_attr Node")


class Snippet(NamedTuple):
    name: str
    code: str
    error: tuple[str, ...]  # words of the exception
    warning: tuple[str, ...]
    differs: str  # on purpose, and how; "" for a snippet whose outcomes agree


class Outcome(NamedTuple):
    shown: list[str]
    error: str  # the type of the exception, "" for none
    message: str
    warned: list[tuple[str, str]]


def load(name: str) -> list[Snippet]:
    found = []
    for block in re.split(r"(?m)^### ", (_HERE / f"{name}.txt").read_text())[1:]:
        title, _, body = block.partition("\n")
        words = [line[3:].strip() for line in body.splitlines() if line.startswith("#! ")]
        warned = [line[3:].strip() for line in body.splitlines() if line.startswith("#? ")]
        differs = "".join(line[3:].strip() for line in body.splitlines() if line.startswith("#= "))
        found.append(Snippet(f"{name}: {title.strip()}", body, tuple(words), tuple(warned), differs))
    return found


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    text = f"{value:.4g}"
    return "0" if text == "-0" else text


def _values(value: Any) -> str:
    return "[" + " ".join(_values(v) for v in value) + "]" if isinstance(value, list) else _number(value)


def render(torch: Any, value: Any) -> str:
    """A value as text that two engines can agree on: numbers to four digits, flags of tensors."""
    if isinstance(value, torch.Tensor):
        flags = "".join(" " + word for word, on in [("tracked", value.requires_grad), ("node", value.grad_fn is not None)] if on)
        values = value.detach().resolve_conj() if value.is_complex() else value.detach()
        return f"<{tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}{flags} {_values(values.tolist())}>"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {render(torch, v)}" for key, v in value.items()) + "}"
    if isinstance(value, tuple):
        name = "" if type(value) is tuple else type(value).__name__
        return name + "(" + ", ".join(render(torch, v) for v in value) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(render(torch, v) for v in value) + "]"
    if isinstance(value, type):
        return value.__name__
    return _number(value) if isinstance(value, (float, bool, int, str)) or value is None else type(value).__name__


def scope(name: str) -> dict[str, Any]:
    """What a program finds: the engine and short names of its parts."""
    torch = importlib.import_module(name)
    part = {
        p: importlib.import_module(f"{name}.{p}") for p in ("func", "nn", "autograd.forward_ad", "autograd.functional", "utils.checkpoint")
    }
    func, checkpointing = part["func"], part["utils.checkpoint"]
    short = {
        "torch": torch,
        "nn": part["nn"],
        "F": torch.nn.functional,
        "func": func,
        "fwAD": part["autograd.forward_ad"],
        "AF": part["autograd.functional"],
        "checkpointing": checkpointing,
        "checkpoint": checkpointing.checkpoint,
        "autograd": torch.autograd,
        "functools": functools,
        "warnings": warnings,
        "gc": gc,
    }
    short |= {
        n: getattr(func, n)
        for n in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "vmap", "functional_call")
    }
    short["x3"] = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    short["x23"] = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64)
    short["x33"] = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [0.1, 0.2, 0.3]], dtype=torch.float64)
    short["f64"] = torch.float64
    return short


def run(name: str, snippet: Snippet) -> Outcome:
    names = scope(name)
    torch = names["torch"]
    shown: list[str] = []
    names["show"] = lambda *values: shown.append(" ".join(render(torch, v) for v in values))
    error = message = ""
    torch.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(snippet.code, f"<{snippet.name}>", "exec"), names)
        except Exception as e:
            error, message = type(e).__name__, str(e)
    warned = [(w.category.__name__, str(w.message)) for w in caught if not any(words in str(w.message) for words in _NOISE)]
    return Outcome(shown, error, message, warned)


def differences(snippet: Snippet, ours: Outcome, theirs: Outcome) -> list[str]:
    found = []
    for i in range(max(len(ours.shown), len(theirs.shown))):
        a, b = (o.shown[i] if i < len(o.shown) else "nothing" for o in (ours, theirs))
        if a != b:
            found.append(f"line {i}: {a}\n  PyTorch: {b}")
    if ours.error != theirs.error:
        found.append(f"error: {ours.error or 'none'}: {ours.message}\n  PyTorch: {theirs.error or 'none'}: {theirs.message}")
    if [w[0] for w in ours.warned] != [w[0] for w in theirs.warned]:
        found.append(f"warnings: {ours.warned}\n  PyTorch: {theirs.warned}")
    for words in snippet.error:
        found += [
            f"{who} does not say {words!r}: {o.message!r}"
            for who, o in (("retrograd", ours), ("PyTorch", theirs))
            if words not in o.message
        ]
    for words in snippet.warning:
        found += [
            f"{who} does not warn {words!r}: {o.warned}"
            for who, o in (("retrograd", ours), ("PyTorch", theirs))
            if not any(words in w[1] for w in o.warned)
        ]
    return found


__all__ = ["Outcome", "Snippet", "differences", "load", "render", "run", "scope"]
