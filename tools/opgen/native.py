"""Native ops: impl::<op> from the rule that says what the results are, and the kernel that computes them, both written in csrc/ops."""

from __future__ import annotations

from optable import Op, Param

from .signature import is_function, names, parameters, return_type
from .text import fill

ONE = """
// $schema
Tensor $name($params) {
  Tensor result = make(rule::$name($asked));
  $compute
  $finish
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
# A plan is the rule, and handed on.
PLANNED = """
// $schema
Tensor $name($params) {
  const $plan plan($args);
  Tensor result = make(plan.spec());
  if ($runs) compute::$name($args, plan, result);
  return result;
}
"""
PLANNED_INPLACE = """
// $schema, in place
void $name($params) {
  const $plan plan($args);
  if ($runs) compute::$name($args, plan);
}
"""
# The in-place form, on a copy of self.
ON_COPY = """
// $schema
Tensor $name($params) {
  Tensor result = make($layout);
  copy_data(result, self);
  $inplace($args);
  return result;
}
"""
# The rule says whether it can be done at all.
DECIDED = """
// $schema
bool $name($params) {
  if (!rule::$name($args)) return false;
  compute::$name($args);
  return true;
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


# What a function that makes tensors is told beside sizes and values: for the rule one `Options`. To the kernel they have nothing more to say.
OPTIONS = ("dtype", "layout", "device", "pin_memory", "requires_grad")


def takes_options(op: Op) -> bool:
    return {p.name for p in op.params}.issuperset(OPTIONS)


def of_rule(op: Op) -> tuple[str, str]:
    """The parameters of the rule, and the arguments in a call of it."""
    if not takes_options(op):
        return parameters(op), names(op)
    given = [(f"{p.row.cpp} {p.name}", p.name) for p in op.params if p.name not in OPTIONS]
    at = [p.name for p in op.params].index(OPTIONS[0])
    given.insert(at, ("const Options& options", f"{{{', '.join(OPTIONS)}}}"))
    return ", ".join(left for left, _ in given), ", ".join(right for _, right in given)


def of_kernel(op: Op) -> list[Param]:
    return [p for p in op.params if not (takes_options(op) and p.name in OPTIONS)]


def is_split(op: Op) -> bool:
    return op.kernel.kind == "native" and not op.kernel.whole


def wants_function(op: Op) -> bool:
    return is_function(op) or not op.inplace


def is_decided(op: Op) -> bool:
    return op.returns[0].type == "bool" and bool(op.mutates)


def specs_type(op: Op) -> str:
    if is_decided(op):
        return "bool"
    if op.returns[0].type == "Tensor[]":
        return "std::vector<Spec>"
    return "Spec" if len(op.returns) == 1 else f"std::array<Spec, {len(op.returns)}>"


def declared(op: Op) -> tuple[list[str], list[str]]:
    """What is written by hand: functions of rule and of compute."""
    rules: list[str] = []
    kernels: list[str] = []
    if not is_split(op):
        return rules, kernels
    plan = [f"const {op.kernel.plan}& plan"] * bool(op.kernel.plan)
    if op.kernel.on_copy:
        pass
    elif wants_function(op) and op.kernel.needs_values:
        kernels.append(f"{return_type(op)} {op.cname}({parameters(op)});")
    elif wants_function(op):
        out = "std::span<const Tensor> out" if op.returns[0].type == "Tensor[]" else ", ".join(f"const Tensor& {n}" for n in out_names(op))
        rules.append(f"{specs_type(op)} {op.cname}({of_rule(op)[0]});")
        if not op.uninitialized:
            given = ", ".join(f"{p.row.cpp} {p.name}" for p in of_kernel(op))
            kernels.append(f"void {op.cname}({', '.join(filter(None, (given, *plan, out)))});")
    if op.inplace:
        rules.append(f"void {op.inplace}({parameters(op)});")
        kernels.append(f"void {op.inplace}({', '.join((parameters(op), *plan))});")
    return [] if plan else rules, kernels


def out_names(op: Op) -> list[str]:
    """The results as parameters of the kernel: `out`, or their names."""
    if is_decided(op):
        return []
    return ["out"] if len(op.returns) == 1 else [r.name + "_out" * any(p.name == r.name for p in op.params) for r in op.returns]


def impl(op: Op) -> str:
    shared = {"schema": op.schema, "params": parameters(op), "args": names(op), "ret": return_type(op), "plan": op.kernel.plan}
    text = ""
    if op.kernel.on_copy:
        text += on_copy(op, shared)
    elif wants_function(op):
        text += function(op, shared | {"name": op.cname, "before": "".join(f"{p.name}, " for p in of_kernel(op))})
    if op.inplace:
        runs = "!is_meta(self)" if op.kernel.runs_on_empty else "RG_LIKELY(has_elements(self))"
        template = PLANNED_INPLACE if op.kernel.plan else INPLACE
        text += "\n" * bool(text) + fill(template, **shared, name=op.inplace, runs=runs)
    return text


def on_copy(op: Op, shared: dict[str, str]) -> str:
    layout = {"contiguous": "Spec::of(self)", "preserve": "Spec::like(self)"}[op.kernel.on_copy]
    args = ", ".join("result" if p.name == "self" else p.name for p in op.params)
    return fill(ON_COPY, **shared | {"name": op.cname, "layout": layout, "inplace": op.inplace, "args": args})


def function(op: Op, shared: dict[str, str]) -> str:
    if op.kernel.needs_values:
        tensors = ", ".join(p.name for p in op.params if p.is_tensor)
        return fill(VALUES, **shared, tensors=tensors, words=op.kernel.needs_values.format(name=op.name))
    if is_decided(op):
        return fill(DECIDED, **shared)
    if op.returns[0].type == "Tensor[]":
        return fill(LIST, **shared, runs="any_has_elements(result)")
    count = len(op.returns)
    if count == 1:
        runs = "!is_meta(result)" if op.kernel.runs_on_empty else "RG_LIKELY(has_elements(result))"
        if op.kernel.plan:
            return fill(PLANNED, **shared, runs=runs)
        return fill(
            ONE,
            **shared,
            asked=of_rule(op)[1],
            compute="" if op.uninitialized else f"if ({runs}) compute::{op.cname}({shared['before']}result);",
            finish="if (RG_UNLIKELY(requires_grad.value_or(false))) require_grad(result);" if takes_options(op) else "",
        )
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
