"""Statements of a thunk that compute into out=."""

from __future__ import annotations

import optable
from optable import Op
from optable.facts import Out

from .kernels import text_or_null
from .text import fill, truth

DRAW = """
[[maybe_unused]] const DType dtype = begin_create(p, "aten::$op", $dtype);
begin_draw(p, $size, $counts);
const Tensor& out = p.out();
$fill;
return finish_draw(p, $requires_grad);
"""
CREATE = """
[[maybe_unused]] const DType dtype = begin_create(p, "aten::$op", $dtype);
return finish_create(p, ops::$name($args), Creates::$holds, $requires_grad);
"""
FILL = """
check_out(p, "$shown", any_requires_grad($checked));
if (RG_LIKELY(!thread_state.mapped) && !any_layered(p.out(), $tensors)) {
  const Tensor& out = p.out();
  resize_data(out, $size);
  $fill;
  return finish_out(p);
}
return write_out(p, ops::$name($args), {.silent = true});
"""
POINTWISE = """
check_out(p, "$shown", any_requires_grad($checked));
if (RG_UNLIKELY(any_layered(p.out(), $tensors))) {
  $rule
  return write_out(p, ops::$name($args), rule);
}
impl::${name}_out($args, p.out());
if (RG_UNLIKELY(any_tracked_or_cut($tensors))) note_written("$op", false, p.out(), $tensors);
return finish_out(p);
"""
COMPUTE = """
check_out(p, "$shown", any_requires_grad($checked));
$autocast
$rule
return write_out(p, ops::$name($args), rule);
"""


def differentiable(op: Op) -> bool:
    """Whether results can have a history. Composites: what they are made of decides, so they are taken to."""
    op = optable.target(op)
    if op.kernel.kind == "pointwise" and op.kernel.out == "bool":
        return False
    return any(not f.startswith("not_implemented") for f in op.grad.values()) or op.kernel.kind in ("composite", "python")


def declared_rule(rule: Out) -> str:
    exact = f"static constexpr const char* exact[] = {{{', '.join(map(text_or_null, rule.exact))}}};\n" if rule.exact else ""
    fields = ("exact" if rule.exact else "{}", text_or_null(rule.cast), truth(rule.same_kind), truth(rule.silent), truth(rule.bytes))
    return f"{exact}static constexpr OutRule rule = {{{', '.join(fields)}}};"


def write_out(op: Op) -> str:
    at = {q.name: f"p.{q.row.accessor}({i})" for i, q in enumerate(op.params)}
    shared = {"op": op.name, "name": op.cname, "size": op.out.size.format(**at), "fill": op.out.fill.format(**at)}
    if "requires_grad" in at:
        shared |= {"dtype": at["dtype"], "requires_grad": f"{at['requires_grad']}.value_or(false)"}
        if op.out.fill:
            return fill(DRAW, **shared, counts=truth(op.out.resize_counts))
        args = ", ".join((at | {"dtype": "dtype", "requires_grad": "false"}).values())
        return fill(CREATE, **shared, args=args, holds=op.out.holds)
    tensors = [at[q.name] for q in op.params if q.is_tensor]
    checked = ", ".join(tensors if differentiable(op) else []) or "Tensor()"
    shared |= {"shown": op.out.name or optable.target(op).name, "checked": checked, "tensors": ", ".join(tensors)}
    if op.out.in_dtype_of_out:
        at["dtype"] = f"out_dtype(p, {at['dtype']})"
    shared["args"] = ", ".join(at.values())
    if op.out.fill:
        return fill(FILL, **shared)
    shared["rule"] = declared_rule(op.out)
    if op.kernel.kind == "pointwise":
        return fill(POINTWISE, **shared)
    return fill(COMPUTE, **shared, autocast="const AutocastOff off;" if optable.target(op).autocast else "")
