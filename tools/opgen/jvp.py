"""Forward-mode rules: void <op>_jvp(result, arguments) for each differentiable op, from the entry's `jvp` and derivative formulas.

"elementwise"   the derivative formulas, with the tangent of the input in place of the gradient
"linear"        the op itself, applied to the tangents
"symmetric"     the same: the Jacobian is its own transpose
"zero"          nothing moves
"multilinear"   the sum over inputs of the op with that input replaced by its tangent
an expression   in the arguments, `result`, and `<argument>_t` for their tangents (zeros where there is none)
nothing         the op's backward, transposed (ops/forward.h)
"""

from __future__ import annotations

import re
from collections.abc import Callable

from optable import Op, Param, Return
from optable.types import GEOMETRY

from .plan import Plan, words
from .signature import is_function, return_type
from .text import fill

RULE = """
void ${name}_jvp([[maybe_unused]] const $ret& result_$params) {
  for ([[maybe_unused]] const uint32_t level : levels_of($inputs)) {
    $refusals
    $body
  }
}
"""

ELEMENTWISE = """
Tensor total;
$terms
forward::give($result, level, total);
"""
TERM = """
if (const Tensor t = tangent_of(${input}_, level)) {
  [[maybe_unused]] const Tensor grad = forward::spread(t, $result);
  $binds
  forward::add_to(total, $formula);
}
"""
TRANSPOSED = """
std::vector<Tensor> inputs;
$gather
const auto values = forward::transposed(inputs, level, [&](std::span<const Tensor> q) -> std::vector<Tensor> { $run });
$give
"""


def has_rule(op: Op) -> bool:
    return bool(op.grad) and op.jvp != "zero" and op.kernel.kind not in ("composite", "alias", "python") and is_function(op)


def bind(op: Op, word: str) -> str:
    """Gives a word of a formula its meaning inside a rule for one level."""
    param = next((p for p in op.params if p.name == word), None)
    if param is not None:
        return f"[[maybe_unused]] const auto {word} = primal({word}_, level);" if param.is_tensor else f"const auto& {word} = {word}_;"
    for r in op.returns:
        if r.name == word:
            return f"[[maybe_unused]] const auto {word} = primal({result_name(op, word)}, level);"
    base, suffix = word.rsplit("_", 1)
    source = f"{base}_" if any(p.name == base for p in op.params) else result_name(op, base)
    if any(p.name == base and p.is_operand for p in op.params):
        source = f"forward::tensor_of({source})"
    return f"const {'IntSpan' if suffix in ('sizes', 'strides') else 'auto'} {word} = {GEOMETRY[suffix][1].format(source)};"


def result_name(op: Op, name: str) -> str:
    if len(op.returns) == 1:
        return "result_"
    return f"std::get<{[r.name for r in op.returns].index(name)}>(result_)"


def lines(*items: str) -> str:
    return "".join(f"{item}\n" for item in items)


def call(op: Op, argument: Callable[[Param], str]) -> str:
    return f"ops::{op.cname}({', '.join(argument(p) for p in op.params)})"


def give(op: Op, outputs: list[Return], value: str) -> str:
    """Statements that hand the tangents in `value`, of the op's own return type, to the results."""
    view = ", true" if op.kernel.kind == "view" else ""
    if len(op.returns) == 1:
        return lines(f"forward::give(result_, level, {value}{view});")
    text = lines(f"const auto value = {value};")
    for r in outputs:
        at = [x.name for x in op.returns].index(r.name)
        text += lines(f"forward::give(std::get<{at}>(result_), level, std::get<{at}>(value){view});")
    return text


def elementwise(op: Op, plan: Plan) -> str:
    result = result_name(op, plan.outputs[0].name)
    terms = ""
    for (targets, expr), used in zip(plan.formulas, plan.uses, strict=True):
        if len(targets) > 1:
            raise ValueError(f"{op.schema}: an elementwise rule needs one formula per input")
        binds = "\n".join(bind(op, word) for word in sorted(used))
        terms += fill(TERM, input=targets[0], result=result, binds=binds, formula=expr)
    return fill(ELEMENTWISE, terms=terms, result=result)


def linear(op: Op, plan: Plan) -> str:
    inputs = {p.name for p in plan.inputs}
    return give(op, plan.outputs, call(op, lambda p: f"forward::tangent_or_zeros({p.name}_, level)" if p.name in inputs else f"{p.name}_"))


def multilinear(op: Op, plan: Plan) -> str:
    text = lines("Tensor total;")
    for moved in plan.inputs:

        def argument(p: Param, moved: Param = moved) -> str:
            return "t" if p is moved else f"primal({p.name}_, level)" if p.is_tensor else f"{p.name}_"

        text += lines(f"if (const Tensor t = tangent_of({moved.name}_, level)) forward::add_to(total, {call(op, argument)});")
    return text + lines("forward::give(result_, level, total);")


def expression(op: Op, plan: Plan) -> str:
    text, formula = "", op.jvp or ""
    tensors = {f"{p.name}_t": p for p in op.params if p.is_tensor}
    known = {p.name for p in op.params} | {r.name for r in op.returns}
    for word in words(formula):
        if word in tensors:
            text += lines(f"const auto {word} = forward::tangent_or_zeros({tensors[word].name}_, level);")
        elif word in known or plan.field(word):
            text += lines(bind(op, word))
    return text + give(op, plan.outputs, formula)


def transposed(op: Op, plan: Plan) -> str:
    gather, position, at = [], {}, "0"
    for p in plan.inputs:
        position[p.name] = at
        if p.is_list:
            gather.append(f"inputs.insert(inputs.end(), {p.name}_.begin(), {p.name}_.end());")
            at += f" + {p.name}_.size()"
        else:
            gather.append(f"inputs.push_back({f'forward::tensor_of({p.name}_)' if p.is_operand else f'{p.name}_'});")
            at += " + 1"

    def argument(p: Param) -> str:
        if p.name not in position:
            return f"{p.name}_"
        if p.is_list:
            return f"q.subspan({position[p.name]}, {p.name}_.size())"
        return f"forward::operand_or(q[{position[p.name]}], {p.name}_)" if p.is_operand else f"q[{position[p.name]}]"

    run = call(op, argument)
    many = len(op.returns) > 1
    indices = [[x.name for x in op.returns].index(r.name) for r in plan.outputs]
    if many:
        body = f"auto out = {run}; return {{{', '.join(f'std::get<{i}>(out)' for i in indices)}}};"
    elif op.returns[0].type == "Tensor[]":
        body = f"return {run};"
    else:
        body = f"return {{{run}}};"
    if many:
        give = [f"forward::give(std::get<{i}>(result_), level, values[{k}]);" for k, i in enumerate(indices)]
    else:
        give = [f"forward::give(result_, level, {'values' if op.returns[0].type == 'Tensor[]' else 'values[0]'});"]
    return fill(TRANSPOSED, gather="\n".join(gather), run=body, give="\n".join(give))


def refusals(op: Op, plan: Plan) -> str:
    """Checks that no input moves whose derivative does not exist."""
    found = [(t, re.match(r'not_implemented\("(\w+)', formula)) for targets, formula in plan.formulas for t in targets]
    name = op.name
    missing = []
    for target, match in found:
        if match:
            missing.append(target)
            name = match[1] if name.startswith("_") else name  # of a function written in Python
    return lines(*(f'if (tangent_of({t}_, level)) forward::refuse("{name}");' for t in missing))


RULES = {"elementwise": elementwise, "symmetric": elementwise, "linear": linear, "multilinear": multilinear, None: transposed}


def rule(op: Op, plan: Plan) -> str:
    return fill(
        RULE,
        name=op.cname,
        ret=return_type(op),
        params="".join(f", [[maybe_unused]] {p.row.cpp} {p.name}_" for p in op.params),
        inputs=", ".join(f"{p.name}_" for p in plan.inputs),
        refusals=refusals(op, plan),
        body=RULES.get(op.jvp, expression)(op, plan),
    )
