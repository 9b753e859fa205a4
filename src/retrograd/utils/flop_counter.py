"""FlopCounterMode: how many floating-point operations the products, convolutions and attentions of a block take, forward and backward, by module.

An op handler sees every op and asks its formula. The fused ops here count under the names that PyTorch's have: a layer computed by one op is
`aten.addmm`, the gradients of a convolution are `aten.convolution_backward`.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import retrograd as torch
from retrograd import _C, Tensor
from retrograd._custom_ops import op as custom
from retrograd.utils._pytree import tree_map

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = torch.ops.aten
Formula = Callable[..., int]

# ---- formulas: of shapes ----


def mm_flop(a_shape: Any, b_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of a product of matrices."""
    m, k = a_shape
    return int(m * b_shape[1] * 2 * k)


def addmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of a product of matrices; the sum is not counted."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of products of matrices."""
    b, m, k = a_shape
    return int(b * m * b_shape[2] * 2 * k)


def baddbmm_flop(self_shape: Any, a_shape: Any, b_shape: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of products of matrices; the sum is not counted."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Sequence[int], w_shape: Sequence[int], out_shape: Sequence[int], transposed: bool = False) -> int:
    """Of a convolution."""
    places = x_shape[2:] if transposed else out_shape[2:]
    return math.prod(places) * math.prod(w_shape) * x_shape[0] * 2


def conv_flop(
    x_shape: Any, w_shape: Any, _bias: Any, _stride: Any, _padding: Any, _dilation: Any, transposed: bool, *args: Any, out_shape: Any = None,
    **kwargs: Any,
) -> int:  # fmt: skip
    """Of a convolution, by the arguments of the op."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


def sdpa_flop_count(query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Of attention: the scores, and the weighted sums."""
    b, h, s_q, d = query_shape
    s_k, d_v = key_shape[2], value_shape[3]
    return int(b * h * s_q * s_k * 2 * (d + d_v))


def sdpa_flop(query_shape: Any, key_shape: Any, value_shape: Any, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Of attention, by the arguments of the op."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(grad_out_shape: Any, query_shape: Any, key_shape: Any, value_shape: Any) -> int:
    """Of the gradients of attention: the scores once more, and four products."""
    b, h, s_q, d = query_shape
    s_k, d_v = key_shape[2], value_shape[3]
    return int(b * h * s_q * s_k * 2 * (3 * d + 2 * d_v))


def sdpa_backward_flop(grad_out_shape: Any, query_shape: Any, key_shape: Any, value_shape: Any, *args: Any, **kwargs: Any) -> int:
    """Of the gradients of attention, by the arguments of the op."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


flop_registry: dict[Any, Formula] = {}


def _by_shapes(formula: Formula) -> Formula:
    """A formula of tensors from one of shapes."""

    @functools.wraps(formula)
    def of_values(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        shapes = tree_map(lambda v: v.shape if isinstance(v, Tensor) else v, (args, kwargs, out_val))
        return formula(*shapes[0], out_shape=shapes[2], **shapes[1])

    return of_values


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Registers the formula of an op, or of several: it gets the shapes of tensors and other arguments as they are, and `out_shape`.

    Args:
        targets: ops as `torch.ops.aten.mm`, or of `torch.library`.
        get_raw: gives the formula tensors, and the result as `out_val`.

    Example:
        >>> @torch.utils.flop_counter.register_flop_formula(torch.ops.aten.sin)
        ... def sin_flop(shape, *args, out_shape=None, **kwargs):
        ...     return shape.numel()
    """

    def register(formula: Formula) -> Formula:
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            if not isinstance(target, (type(aten.mm), custom.Packet)):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), got {target} which "
                    f"is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula if get_raw else _by_shapes(formula)
        return formula

    return register


_FORMULAS: dict[str, Formula] = {"mm": mm_flop, "addmm": addmm_flop, "bmm": bmm_flop, "baddbmm": baddbmm_flop, "convolution": conv_flop}
for _name, _formula in _FORMULAS.items():
    register_flop_formula(getattr(aten, _name))(_formula)


# ---- ops that have no counterpart: under which of PyTorch's names they count, and how many ----


class _Counted:
    """A name of PyTorch's that is no op here."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"aten.{self.name}"


_conv_backward = _Counted("convolution_backward")
_attention = _Counted("_scaled_dot_product_flash_attention")
_attention_backward = _Counted("_scaled_dot_product_flash_attention_backward")


def _columns(transposed: bool, matrix: Tensor) -> tuple[int, ...]:
    return tuple(matrix.shape[::-1] if transposed else matrix.shape)


def _count_mm(a: Tensor, b: Tensor, a_transposed: bool, b_transposed: bool, *_: Any) -> tuple[Any, int]:
    return aten.mm, mm_flop(_columns(a_transposed, a), _columns(b_transposed, b))


def _count_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Any, int]:
    return (aten.mm if bias is None else aten.addmm), 2 * x.numel() * weight.size(0)


def _count_conv_input(
    grad: Tensor, weight: Tensor, size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *_: Any
) -> tuple[Any, int]:
    return _conv_backward, conv_flop_count(grad.shape, weight.shape, tuple(size), not transposed)


def _count_conv_weight(
    grad: Tensor, x: Tensor, size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, *_: Any
) -> tuple[Any, int]:
    places = (x if transposed else grad).shape[2:]
    return _conv_backward, 2 * x.size(0) * x.size(1) * grad.size(1) * math.prod(places) * math.prod(size[2:])


def _count_attention(q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Any, int]:
    return _attention, sdpa_flop_count(q.shape, k.shape, v.shape)


def _count_attention_backward(grad: Tensor, _: Any, q: Tensor, k: Tensor, v: Tensor, *__: Any) -> tuple[Any, int]:
    return _attention_backward, sdpa_backward_flop_count(grad.shape, q.shape, k.shape, v.shape)


def _count_recurrent(x: Tensor, h: Tensor, c: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any, w_hr: Any, *_: Any) -> tuple[Any, int]:
    elements = x.size(0)
    return aten.addmm, 2 * elements * (w_ih.numel() + w_hh.numel() + (w_hr.numel() if w_hr is not None else 0))


_FUSED: dict[str, Callable[..., tuple[Any, int]]] = {
    "_mm": _count_mm,
    "_linear": _count_linear,
    "_convolution_input": _count_conv_input,
    "_convolution_weight": _count_conv_weight,
    "_attention": _count_attention,
    "_attention_backward": _count_attention_backward,
    "_recurrent_layer": _count_recurrent,
}


# ---- modules ----


class _Modules:
    """The modules whose forward, or backward, is running, by their paths."""

    def __init__(self) -> None:
        self.names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self.parents = {"Global"}
        self.handles: list[Any] = []

    def name_of(self, module: Any) -> str:
        if module not in self.names:
            root = type(module).__name__
            for path, part in module.named_modules():
                self.names.setdefault(part, f"{root}.{path}" if path else root)
        return self.names[module]

    def enter(self) -> None:
        modules = torch.nn.modules.module
        self.handles = [
            modules.register_module_forward_pre_hook(self._before),
            modules.register_module_forward_hook(self._after, always_call=True),
        ]

    def leave(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.parents = {"Global"}

    @staticmethod
    def _tensors(values: Any) -> list[Tensor]:
        found: list[Tensor] = []
        tree_map(lambda v: found.append(v) if isinstance(v, Tensor) and v.requires_grad else None, values)
        return found

    def _before(self, module: Any, args: Any) -> None:
        name = self.name_of(module)
        self.parents.add(name)
        if torch.is_grad_enabled():
            for t in self._tensors(args):
                if t.grad_fn is not None:  # its gradient comes when the module's are computed
                    t.register_hook(functools.partial(self._done, name))

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self.name_of(module)
        self.parents.discard(name)
        if torch.is_grad_enabled():
            for t in self._tensors(output):
                t.register_hook(functools.partial(self._begun, name))

    def _begun(self, name: str, _: Any) -> None:
        self.parents.add(name)

    def _done(self, name: str, _: Any) -> None:
        self.parents.discard(name)


# ---- the mode ----

suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number: int) -> str:
    """The suffix that a number is shown with."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in thousands, millions and so on."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """A part of a whole in percent."""
    return f"{num / denom:.2%}" if denom else "0%"


class FlopCounterMode:
    """Counts the floating-point operations of what runs in the block.

    Args:
        mods: accepted for PyTorch's sake: modules are found by themselves.
        depth: how deep into modules the table that is shown goes.
        display: shows a table when the block is left.
        custom_mapping: formulas for ops, beside those that are registered.

    Example:
        >>> with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        ...     _ = torch.ones(2, 3) @ torch.ones(3, 4)
        >>> counter.get_total_flops()
        48
    """

    def __init__(self, mods: Any = None, depth: int = 2, display: bool = True, custom_mapping: dict[Any, Any] | None = None) -> None:
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        given = {op: f if getattr(f, "_get_raw", False) else _by_shapes(f) for op, f in (custom_mapping or {}).items()}
        self.flop_registry = {**flop_registry, **given}
        self.mod_tracker = _Modules()

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """By module, then by op."""
        return {name: dict(counts) for name, counts in self.flop_counts.items() if counts}

    def _count(self, op: Any, flops: int) -> None:
        for name in self.mod_tracker.parents:
            self.flop_counts[name][op] += flops

    def _handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        out = op(*args, **kwargs)
        name = op.name.partition(".")[0]
        if name in _FUSED:
            self._count(*_FUSED[name](*args, **kwargs))
            return out
        found = self._by_name.get(name)
        if found is not None and not op.mutates:
            packet, formula = found
            named = {name: v for (name, _, _, by_name, _), v in zip(op.parameters, args, strict=False) if by_name}
            self._count(packet, formula(*args[: len(args) - len(named)], **named, **kwargs, out_val=out))
        return out

    def _handle_custom(self, op: Any, args: Any, kwargs: Any, out: Any) -> None:
        packet = custom.registry[op.namespace][op._opname]
        if packet in self.flop_registry:
            self._count(packet, self.flop_registry[packet](*args, **kwargs, out_val=out))

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._by_name = {p._name: (p, f) for p, f in self.flop_registry.items() if isinstance(p, type(aten.mm))}
        self.mod_tracker.enter()
        custom.watchers.append(self._handle_custom)
        _C._push_op_handler(self._handle)
        return self

    def __exit__(self, *error: Any) -> None:
        _C._pop_op_handler()
        custom.watchers.remove(self._handle_custom)
        self.mod_tracker.leave()
        if self.display:
            print(self.get_table(self.depth))

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text, modules down to a depth."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)
        rows: list[tuple[str, str, str]] = []

        def add(name: str) -> None:
            counts = self.flop_counts[name]
            whole = sum(counts.values())
            rows.append((name, convert_num_with_suffix(whole, suffix), convert_to_percent_str(whole, total)))
            rows.extend((f"- {op}", convert_num_with_suffix(n, suffix), convert_to_percent_str(n, total)) for op, n in counts.items())

        names = sorted(name for name, counts in self.flop_counts.items() if name != "Global" and counts)
        roots = {name.partition(".")[0] for name in names}
        if not names or sum(sum(self.flop_counts[r].values()) for r in roots) != total:
            add("Global")
        for name in names:
            if name.count(".") + 1 <= depth:
                add(name)
        if not rows:
            rows = [("Global", "0", "0%")]
        table = [("Module", "FLOP", "% Total"), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in table]
        return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])
