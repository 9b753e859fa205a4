"""Errors that name the layer they come from: its path, what it got, what it takes.

An op knows the sizes it was given, but not which of a model's forty Linear layers gave them. While an error of an op, or of a check of this
package, passes through the calls of modules, from the innermost to the outermost, each adds its part of the path:

    RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x16 and 32x64)
    in encoder.layers.3.linear1 (Linear(in_features=32, out_features=64, bias=True)): got input [8, 16], expected [..., 32]
      the layer was made at model.py:12 and called at model.py:30
      Hint: make it with in_features=16, or give it an input whose last size is 32.

Errors that programs raise themselves stay as they are. Calls that succeed never come here: see csrc/python/module_type.cpp.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import retrograd as torch
from retrograd._batched import whole
from retrograd._C import Tensor
from retrograd._cells import line_text
from retrograd.nn.modules.module import Module

_TABLES = (torch.nn.Embedding, torch.nn.EmbeddingBag)
_PACKAGE = os.path.dirname(torch.__file__) + os.sep


def explain(error: BaseException, from_op: bool, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
    """Puts the layer into the text of an error that leaves its call, or completes the path that is in it already."""
    # Numbers and text alone: errors are pickled with all that is in them.
    seen: tuple[int, str, str, str] | None = getattr(error, "_layer", None)
    if seen is None:
        # A forward that is missing is no matter of what it was given.
        ours = from_op or (not isinstance(error, NotImplementedError) and _raised_here(error.__traceback__))
        if not ours or len(error.args) != 1 or not isinstance(error.args[0], str):
            return
        path, words, layer = "", error.args[0], _described(module, args, kwargs or {})
        if "\n  Hint: " in layer:  # what to do about a layer is better advice than what to do about the op in it
            words = "\n".join(line for line in words.split("\n") if not line.startswith("  Hint: "))
    else:
        inner, path, words, layer = seen
        name = next((name for name, m in module.named_modules() if id(m) == inner), "")
        if not name:  # the module itself, again, or one that is not below it: a module further out may know it
            return
        path = f"{name}.{path}" if path else name
    shown, _, facts = layer.partition("\n")
    error.args = (f"{words}\nin {f'{path} ({shown})' if path else shown}{facts}",)
    error._layer = (id(module), path, words, layer)  # type: ignore[attr-defined]


def _raised_here(traceback: TracebackType | None) -> bool:
    """Whether the innermost frame is one of this package: an op that it called raised, or a check of its own."""
    if traceback is None:
        return False
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _described(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The layer; after a line break what it got and expected."""
    extra = module.extra_repr()
    shown = f"{module._get_name()}({extra})" if "\n" not in extra else module._get_name()
    given = list(_named(module, args, kwargs))
    usual = next((p.dtype for p in module.parameters() if p.is_floating_point()), None)
    got = [f"{name} {text}" for name, value in given if (text := _sizes(value, usual, isinstance(module, _TABLES)))]
    if not got:
        got = [f"{name} of type {type(value).__name__}" for name, value in given]
    expected = next((_EXPECTED[c.__name__](module) for c in type(module).__mro__ if c.__name__ in _EXPECTED and _is_ours(c)), "")
    if expected and usual is not None and any(isinstance(v, Tensor) and _differs(v, usual) for _, v in given):
        expected += f" of {_short(usual)}"
    facts = (": got " + ", ".join(got) if got else "") + (f"{', ' if got else ': '}expected {expected}" if expected else "")
    return shown + "\n" + facts + _lines(module) + _hint(module, [v for _, v in given if isinstance(v, Tensor)], usual)


def _lines(module: Module) -> str:
    """Where a layer with parameters was made, and the running line of the program that calls it."""
    parameter = next(module.parameters(recurse=False), None)
    made = (
        next((at for kind, _, _, at in reversed(parameter._cut) if kind == "made" and at is not None), None)
        if parameter is not None
        else None
    )
    called = torch._C._user_site()
    if made is None or called is None:
        return ""
    return f"\n  the layer was made at {line_text(*made[:2])} and called at {line_text(*called[:2])}"


def _hint(module: Module, given: list[Tensor], usual: Any) -> str:
    wrong = next((t for t in given if _differs(t, usual)), None)
    if isinstance(module, _TABLES):
        return "\n  Hint: indices are integers: input.long()." if given and given[0].is_floating_point() else ""
    if wrong is not None:
        return f"\n  Hint: convert one of them: the input with .to({usual}), or the model with .to({wrong.dtype})."
    if type(module).__name__ == "Linear" and given and given[0].ndim and given[0].shape[-1] != module.in_features:
        return f"\n  Hint: make it with in_features={given[0].shape[-1]}, or give it an input whose last size is {module.in_features}."
    if isinstance(module, torch.nn.modules.conv._ConvNd) and given:
        return _channel_hint(module, given[0])
    return ""


def _channel_hint(module: Any, input: Tensor) -> str:
    """Of a convolution whose input has other channels than it takes."""
    at = input.ndim - len(module.kernel_size) - 1
    if at not in (0, 1) or input.shape[at] == module.in_channels:
        return ""
    if input.shape[-1] == module.in_channels:
        order = [*range(at), input.ndim - 1, *range(at, input.ndim - 1)]
        return f"\n  Hint: the channels are last, and belong before the places: input.permute({', '.join(map(str, order))})."
    return f"\n  Hint: make it with in_channels={input.shape[at]}, or give it an input with {module.in_channels} channels."


def _short(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _differs(tensor: Tensor, usual: Any) -> bool:
    """Whether its dtype is not that of the parameters, though it should be."""
    return usual is not None and tensor.dtype != usual and (tensor.is_floating_point() or tensor.is_complex())


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith(torch.__name__ + ".")


def _named(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments with the names that forward has for them."""
    code = getattr(module.forward, "__code__", None)
    names = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    for i, value in enumerate(args):
        yield names[i] if i < len(names) else "input" if len(args) == 1 else f"input {i}", value
    yield from kwargs.items()


def _sizes(value: Any, usual: Any, is_table: bool) -> str:
    """What there is to say of an argument: of tensors their sizes, and their dtype if it is not that of the parameters."""
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return f"packed {_sizes(value.data, usual, is_table)}"
    if isinstance(value, Tensor):
        text = str(list(value.shape))
        if is_table and not value.is_floating_point() and value.numel() and not value.is_meta:
            values = whole(value.detach())
            return f"{text} of values from {values.min().item()} to {values.max().item()}"
        return text + (f" of {_short(value.dtype)}" if is_table or _differs(value, usual) else "")
    if isinstance(value, (tuple, list)):
        parts = [_sizes(v, usual, is_table) for v in value]
        return f"({', '.join(parts)})" if parts and all(parts) else ""
    return ""


def _linear(m: Any) -> str:
    return f"[..., {m.in_features}]"


def _bilinear(m: Any) -> str:
    return f"[..., {m.in1_features}] and [..., {m.in2_features}]"


_SPREAD = {0: "", 1: ", L", 2: ", H, W", 3: ", D, H, W"}  # behind the channels


def _conv(m: Any) -> str:
    spread = _SPREAD[len(m.kernel_size)]
    return f"[N, {m.in_channels}{spread}] or [{m.in_channels}{spread}]"


def _norm(m: Any) -> str:
    dims = getattr(m, "_dims", None)
    return " or ".join(f"[N, {m.num_features}{_SPREAD[d - 2]}]" for d in dims) if dims else f"[N, {m.num_features}, ...]"


def _instance_norm(m: Any) -> str:
    spread = _SPREAD[m._dims[0] - 1]
    return f"[N, {m.num_features}{spread}] or [{m.num_features}{spread}]"


def _rows(m: Any) -> str:
    return f"integers from 0 to {m.num_embeddings - 1}"


def _recurrent(m: Any) -> str:
    order = ("N, L" if m.batch_first else "L, N") + f", {m.input_size}"
    state = m.proj_size or m.hidden_size
    layers = m.num_layers * (2 if m.bidirectional else 1)
    cell = f" and [{layers}, N, {m.hidden_size}]" if m.mode == "LSTM" else ""
    return f"[{order}] or [L, {m.input_size}] and as state [{layers}, N, {state}]{cell}"


def _cell(m: Any) -> str:
    return f"[N, {m.input_size}] or [{m.input_size}] and as state [N, {m.hidden_size}] or [{m.hidden_size}]"


def _attention(m: Any) -> str:
    order = "N, L" if m.batch_first else "L, N"
    return f"query [{order}, {m.embed_dim}], key [{order}, {m.kdim}], value [{order}, {m.vdim}]"


_EXPECTED: dict[str, Callable[[Any], str]] = {
    "Linear": _linear,
    "Bilinear": _bilinear,
    "_ConvNd": _conv,
    "_InstanceNorm": _instance_norm,
    "_BatchNorm": _norm,
    "GroupNorm": lambda m: f"[N, {m.num_channels}, ...]",
    "LayerNorm": lambda m: f"[..., {', '.join(map(str, m.normalized_shape))}]",
    "RMSNorm": lambda m: f"[..., {', '.join(map(str, m.normalized_shape))}]",
    "Embedding": _rows,
    "EmbeddingBag": _rows,
    "RNNBase": _recurrent,
    "RNNCellBase": _cell,
    "MultiheadAttention": _attention,
}
