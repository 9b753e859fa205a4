"""Native ops: impl::<op> from the rule that says what the results are, and the kernel that computes them, both written in csrc/ops."""

from __future__ import annotations

from optable import Op

from .signature import is_function, names, parameters, return_type
from .text import fill

ONE = """
// $schema
Tensor $name($params) {
  Tensor result = make(rule::$name($args));
  if ($runs) compute::$name(${before}result);
  return result;
}
"""
SEVERAL = """
// $schema
$ret $name($params) {
  const $specs specs = rule::$name($args);
  $ret result($made);
  if ($runs) compute::$name($before$results);
  return result;
}
"""
LIST = """
// $schema
std::vector<Tensor> $name($params) {
  const std::vector<Spec> specs = rule::$name($args);
  std::vector<Tensor> result;
  result.reserve(specs.size());
  for (const Spec& spec : specs) result.push_back(make(spec));
  if ($runs) compute::$name(${before}result);
  return result;
}
"""
INPLACE = """
// $schema, in place
void $name($params) {
  rule::$name($args);
  if ($runs) compute::$name($args);
}
"""
# What the result is, only the values say.
VALUES = """
// $schema
$ret $name($params) {
  if (RG_UNLIKELY(any_on_meta($tensors))) fail(ErrorKind::NotImplemented, "$words");
  return compute::$name($args);
}
"""


def is_split(op: Op) -> bool:
    return op.kernel.kind == "native" and not op.kernel.whole


def wants_function(op: Op) -> bool:
    return is_function(op) or not op.inplace


def specs_type(op: Op) -> str:
    if op.returns[0].type == "Tensor[]":
        return "std::vector<Spec>"
    return "Spec" if len(op.returns) == 1 else f"std::array<Spec, {len(op.returns)}>"


def declared(op: Op) -> tuple[list[str], list[str]]:
    """What is written by hand: functions of rule and of compute."""
    rules: list[str] = []
    kernels: list[str] = []
    if not is_split(op):
        return rules, kernels
    if wants_function(op) and op.kernel.needs_values:
        kernels.append(f"{return_type(op)} {op.cname}({parameters(op)});")
    elif wants_function(op):
        out = "std::span<const Tensor> out" if op.returns[0].type == "Tensor[]" else ", ".join(f"const Tensor& {n}" for n in out_names(op))
        rules.append(f"{specs_type(op)} {op.cname}({parameters(op)});")
        kernels.append(f"void {op.cname}({', '.join(filter(None, (parameters(op), out)))});")
    if op.inplace:
        rules.append(f"void {op.inplace}({parameters(op)});")
        kernels.append(f"void {op.inplace}({parameters(op)});")
    return rules, kernels


def out_names(op: Op) -> list[str]:
    """The results as parameters of the kernel: `out`, or their names."""
    return ["out"] if len(op.returns) == 1 else [r.name + "_out" * any(p.name == r.name for p in op.params) for r in op.returns]


def impl(op: Op) -> str:
    shared = {"schema": op.schema, "params": parameters(op), "args": names(op), "ret": return_type(op)}
    text = ""
    if wants_function(op):
        text += function(op, shared | {"name": op.cname, "before": "".join(f"{p.name}, " for p in op.params)})
    if op.inplace:
        text += "\n" * bool(text) + fill(INPLACE, **shared, name=op.inplace, runs="RG_LIKELY(has_elements(self))")
    return text


def function(op: Op, shared: dict[str, str]) -> str:
    if op.kernel.needs_values:
        tensors = ", ".join(p.name for p in op.params if p.is_tensor)
        return fill(VALUES, **shared, tensors=tensors, words=op.kernel.needs_values.format(name=op.name))
    if op.returns[0].type == "Tensor[]":
        return fill(LIST, **shared, runs="any_has_elements(result)")
    count = len(op.returns)
    if count == 1:
        return fill(ONE, **shared, runs="!is_meta(result)" if op.kernel.runs_on_empty else "RG_LIKELY(has_elements(result))")
    results = [f"std::get<{i}>(result)" for i in range(count)]
    runs = f"any_has_elements({{{', '.join(f'{r}.get()' for r in results)}}})"
    return fill(
        SEVERAL,
        **shared,
        specs=specs_type(op),
        made=", ".join(f"make(specs[{i}])" for i in range(count)),
        results=", ".join(results),
        runs=f"!is_meta({results[0]})" if op.kernel.runs_on_empty else f"RG_LIKELY({runs})",
    )
