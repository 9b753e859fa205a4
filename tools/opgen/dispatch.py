"""ops::<op>, out of place and in place: interception, kernel, history. The templates show the functions whole."""

from __future__ import annotations

from optable import Op

from . import jvp
from .native import of_rule
from .plan import Plan
from .signature import is_cpp, is_function, names, parameters, return_type, tensors
from .text import fill, truth

# ---- the kernel ----

# With impl:: inside it, for which it takes to be flattened: most calls go straight through, and each call less counts.
KERNEL = """
[[gnu::flatten]] $ret ${name}_kernel($params) {
  $guard
  return impl::$name($args);
}
"""
# Apart, so that others need no such frame.
UNUSUAL = """
[[gnu::cold, gnu::noinline]] $ret ${name}_unusual($params) {
  $run
}
"""


def kernel_name(op: Op) -> str:
    return f"{op.cname}_kernel" if op.kernel.kind == "native" else f"impl::{op.cname}"


# Guest dtypes, where integers that the kernel knows can stand in for them: see Note [Guest dtypes].
STAND_IN = """
[[gnu::cold, gnu::noinline]] $ret ${name}_guest($params) {
  $wanted
  const StandIn stand_in("$op", $ordered, $kind);
  $results
}
"""
STAND_IN_INPLACE = """
[[gnu::cold, gnu::noinline]] void ${name}_guest($params) {
  rule::$name($args);
  const StandIn stand_in("$op", $ordered, self.dtype());
  const Tensor held = stand_in(self);
  impl::$name($given);
  copy_data(self, stand_in.back(held, self.dtype()));
}
"""


def guards(op: Op) -> str:
    """Native kernels behind a test of their arguments: none meets lazy elements, and complex ones and guests only those made for them."""
    given = [p for p in op.params if p.is_tensor]
    dtypes = [p for p in op.params if p.type in ("dtype", "dtype?")] if op.kernel.guests != "moves" else []
    traits = (
        ["kLazyBits"] * (op.kernel.complex != "lazy")
        + ["kComplexBits"] * (not op.kernel.complex)
        + ["kGuestBits"] * (op.kernel.guests != "moves")
    )
    tests = [f"has_trait<{' | '.join(traits)}>({p.name})" for p in given] if traits else []
    tests += [f"is_guest({p.name})" for p in dtypes]
    check = "" if op.kernel.complex else "".join(f' check_real("{op.name}", {p.name});' for p in given)
    if not op.kernel.guests:
        check += "".join(f' check_known("{op.name}", {p.name});' for p in (*given, *dtypes))
    for p in op.params:
        if not given or op.kernel.complex:
            break
        if p.type == "Scalar":
            tests.append(f"(({p.name}).is_complex())")
            check += f' check_real("{op.name}", {p.name});'
        elif p.type == "Scalar?":
            tests.append(f"({p.name} && (*{p.name}).is_complex())")
            check += f' if ({p.name}) check_real("{op.name}", *{p.name});'
    unusual = " || ".join(tests)
    replaced = {p.name for p in (*given, *dtypes)}
    guest = " || ".join(f"is_guest({p.name})" for p in (*given, *dtypes)) if op.kernel.guests in ("value", "order") else ""
    shared = {"op": op.name, "ordered": truth(op.kernel.guests == "order"), "params": parameters(op), "ret": return_type(op)}
    out = []
    if is_function(op) or not op.inplace:
        written = [p.name for p in op.params if p.name in op.mutates and p.type in ("Tensor", "Tensor?")]
        plain = ", ".join(f"held_{p.name}" if p.name in written else f"plain({p.name})" if p.is_tensor else p.name for p in op.params)
        run = f"return impl::{op.cname}({plain});"
        if written:
            held = " ".join(f"const Tensor held_{n} = plain({n});" for n in written)
            back = " ".join(f"if (!held_{n}.is({n})) copy_data({n}, held_{n});" for n in written)
            run = f"{held} auto results = impl::{op.cname}({plain}); {back} return results;"
        if guest:
            call = f"impl::{op.cname}({', '.join(f'stand_in({p.name})' if p.name in replaced else p.name for p in op.params)})"
            out.append(fill(STAND_IN, **shared, name=op.cname, **stood_in(op, call)))
            run = f"if ({guest}) return {op.cname}_guest({names(op)});\n  {run}"
        out.append(guarded(op, op.cname, return_type(op), unusual, f"{check} {run}"))
    if op.inplace:
        plain = ", ".join("held" if p.name == "self" else f"plain({p.name})" if p.is_tensor else p.name for p in op.params)
        run = f"const Tensor held = plain(self); impl::{op.inplace}({plain}); if (!held.is(self)) copy_data(self, held);"
        if guest:
            args = ", ".join("held" if p.name == "self" else f"stand_in({p.name})" if p.name in replaced else p.name for p in op.params)
            out.append(fill(STAND_IN_INPLACE, **shared, name=op.inplace, args=names(op), given=args))
            run = f"if ({guest}) return {op.inplace}_guest({names(op)});\n  {run}"
        out.append(guarded(op, op.inplace, "void", unusual, f"{check} {run}"))
    return "".join(out)


def guarded(op: Op, name: str, ret: str, unusual: str, run: str) -> str:
    shared = {"ret": ret, "name": name, "params": parameters(op)}
    text = fill(UNUSUAL, **shared, run=run) if unusual else ""
    guard = f"if (RG_UNLIKELY({unusual})) return {name}_unusual({names(op)});" if unusual else ""
    return text + fill(KERNEL, **shared, args=names(op), guard=guard)


def stood_in(op: Op, call: str) -> dict[str, str]:
    """How the results come to be those of the dtypes that were given: the rule says what these are, and otherwise the first has that of self."""
    if not op.kernel.needs_values:
        rule = f"const auto wanted = rule::{op.cname}({of_rule(op)[1]});"
        return {"wanted": rule, "kind": "wanted", "results": f"return stand_in.back({call}, wanted);"}
    results = f"return {call};"
    if op.kernel.guests == "order" and op.returns[0].is_tensor:
        results = f"auto results = {call}; std::get<0>(results) = stand_in.back(std::get<0>(results), self.dtype()); return results;"
    return {"wanted": "", "kind": "self.dtype()" if op.kernel.guests == "order" else "DType::Int64", "results": results}


# ---- history ----


def needs_grad(plan: Plan) -> str:
    return "any_requires_grad(" + ", ".join(p.name for p in plan.inputs) + ")"


def records(op: Op, plan: Plan) -> str:
    """Whether an op out of place records: something requires grad, and not all there is are inference tensors."""
    if op.copies:
        return needs_grad(plan)
    return f"{needs_grad(plan)} && !all_inference({tensors(op)})"


def edges(plan: Plan) -> list[str]:
    statements = []
    for p in plan.inputs:
        if p is plan.list_input:
            statements.append(f"for (size_t i = 0; i < {p.name}.size(); ++i) if ({p.name}[i]) fn->set_edge(i, {p.name}[i]);")
        else:
            given = f"if ({p.name}) " if p.type == "Tensor?" else ""
            statements.append(f"{given}fn->set_edge({plan.edge(p.name)}, {p.name});")
    return statements


def saves(plan: Plan, *, inplace: bool) -> tuple[list[str], list[str]]:
    """Statements that fill the node: those that can run before the kernel, and those that need its result."""
    early: list[str] = []
    late: list[str] = []
    for word, saved in plan.fields.items():
        of_result = plan.is_of_result(word)
        overwritten = inplace and word == "self"
        source = "original" if overwritten else "self" if inplace and of_result else None
        statement = plan.save_statement(word, source)
        if overwritten:
            statement = f"{{ const Tensor original = inplace_original(self); {statement} }}"
        users = [t for (targets, _), used in zip(plan.formulas, plan.uses, strict=True) if word in used for t in targets]
        one_of_several = len(plan.inputs) > 1 and plan.list_input is None and set(users) != {p.name for p in plan.inputs}
        if one_of_several and saved.field in ("Tensor", "Operand"):
            statement = f"if ({' || '.join(f'fn->edges[{plan.edge(t)}].node' for t in dict.fromkeys(users))}) {statement}"
        (late if of_result else early).append(statement)
    return early, late


def remembered_shapes(op: Op, plan: Plan, result: str) -> list[str]:
    """What broadcast: the engine brings these gradients back to the shapes and dtypes of the inputs."""
    if op.kernel.kind != "pointwise" and not op.kernel.elementwise:
        return []
    pointers = {p.name: f"{p.name}.tensor" if p.is_operand else f"{p.name}.get()" for p in plan.inputs}
    statements = []
    for name, pointer in pointers.items():
        # Another input's dtype may get into the gradient of one that has the result's.
        others = "".join(f" || promotes({other}, {result}.get())" for other in pointers.values() if other != pointer)
        differs = f"fn->edges[{plan.edge(name)}].node && (differs({pointer}, {result}.get()){others})"
        statements.append(f"if ({differs}) remember_shape(fn, {plan.edge(name)}, {pointer});")
    return statements


def record(op: Op, plan: Plan, *, inplace: bool) -> tuple[str, str]:
    """Statements that make the node and save inputs, and those that need the result. In place the kernel runs between them."""
    list_out = len(plan.outputs) == 1 and plan.outputs[0].type == "Tensor[]"
    early, late = saves(plan, inplace=inplace)
    make = [
        f"auto* fn = make_node<{op.node}>({plan.num_edges}, {'result.size()' if list_out else len(plan.outputs)});",
        # The edge of a view that cannot follow its base throws, saving a tensor may run a hook that does, and so may the kernel of an in-place op.
        "Owned<Node> guard(fn);",
        *edges(plan),
        *early,
    ]
    finish = [*late, *remembered_shapes(op, plan, "self" if inplace else "result")]
    if not inplace:
        finish.append("guard.release();")
        if list_out:
            finish.append("for (size_t i = 0; i < result.size(); ++i) set_history(result[i], fn, static_cast<uint32_t>(i));")
            finish.append("if (result.empty()) Py_DECREF(fn->object());")
        elif len(op.returns) > 1:
            finish += [f"set_history({r.name}, fn, {i});" for i, r in enumerate(plan.outputs)]
        else:
            finish.append("set_history(result, fn);")
    return "\n".join(make), "\n".join(finish)


# ---- out of place ----

# Composites and aliases, and what gives a plain value: vmap has no say in it, and there is no history.
DISPATCH_PLAIN = """
// $schema
$ret $name($params) {
  if (RG_UNLIKELY(thread_state.intercepting)) {
    $autocast
    if (begins_event(op_$name)) return recorded(op_$name, ops::$name$more);
    if (intercepts(op_$name)) return intercepted(op_$name, ops::$name$more);
  }
  $call;
}
"""
DISPATCH = """
// $schema
$ret $name($params) {
  $autocast
  $hooks_first
  bool done = false;
  $declared = RG_LIKELY(!thread_state.intercepting) ? $kernel($args) : run_intercepted(done, op_$name, ops::$name, $kernel, $rule$more);
  if (RG_UNLIKELY(done)) return $result;
  $views
  $history
  return $result;
}
"""
# Hooks on saved tensors see the inputs first, so that the recomputation of a checkpoint can stop before the kernel of its last op.
HOOKS_FIRST = """
if (RG_UNLIKELY(saved_hooks_depth > 0) && thread_state.grad_mode && $records && (!thread_state.intercepting || is_plain(op_$name$more))) {
  $before
  $ret result = $kernel($args);
  $after
  return result;
}
"""
# See Note [Where the history was cut].
HISTORY = """
if (any_tracked_or_cut($tensors)) {
  if (thread_state.grad_mode && $records$guard) {
    $before
    $after
    $unrecorded
  } else {
    $untracked
  }
}
"""


def dispatch(op: Op) -> str:
    kind, ret, many = op.kernel.kind, return_type(op), len(op.returns) > 1
    shared = {
        "schema": op.schema,
        "ret": ret,
        "name": op.cname,
        "params": parameters(op),
        "args": names(op),
        "more": "".join(f", {p.name}" for p in op.params),
        "kernel": kernel_name(op),
        "autocast": "",
    }
    if op.autocast and kind != "alias":
        looks = "" if kind == "composite" else "RG_UNLIKELY(thread_state.intercepting) && "
        shared["autocast"] = f"if ({looks}thread_state.autocast) return autocast(op_{op.cname}, ops::{op.cname}{shared['more']});"
    if kind in ("composite", "alias"):
        target = f"composite::{op.cname}" if kind == "composite" else f"ops::{op.kernel.target}"
        call = f"copied({op.kernel.expr})" if op.kernel.expr else f"{target}({names(op)})"
        return fill(DISPATCH_PLAIN, **shared, call=f"return {call}")
    if not op.returns[0].is_tensor:
        return fill(DISPATCH_PLAIN, **shared, call=f"{'' if ret == 'void' else 'return '}{kernel_name(op)}({names(op)})")
    results = [r.name for r in op.returns] if many else ["result"]
    return fill(
        DISPATCH,
        **shared,
        hooks_first=hooks_first(op, shared) if op.grad else "",
        declared=f"auto [{', '.join(results)}]" if many else f"{ret} result",
        rule=f"{op.cname}_jvp" if jvp.has_rule(op) else "nullptr",
        views=views(op) if kind == "view" else "",
        history=history(op) if op.grad else cut_notes(op),
        result=f"{{{', '.join(f'std::move({r})' for r in results)}}}" if many else "result",
    )


def views(op: Op) -> str:
    base = op.params[0].name
    if op.returns[0].type == "Tensor[]":
        return f"for (const Tensor& view : result) set_view(view, {base}, ViewOrigin::{op.view_origin});"
    return f"if (!result.is({base})) set_view(result, {base}, ViewOrigin::{op.view_origin});"


def hooks_first(op: Op, shared: dict[str, str]) -> str:
    """For ops whose node saves nothing that its kernel, which is worth skipping, makes."""
    plan = Plan(op)
    kept = {word for word, saved in plan.fields.items() if saved.unpacked}
    if not kept or kept & {r.name for r in op.returns} or op.kernel.kind in ("pointwise", "view") or return_type(op) != "Tensor":
        return ""
    before, after = record(op, plan, inplace=False)
    return fill(HOOKS_FIRST, **shared, records=records(op, plan), before=before, after=after)


def history(op: Op) -> str:
    plan, many = Plan(op), len(op.returns) > 1
    before, after = record(op, plan, inplace=False)
    list_out = op.returns[0].type == "Tensor[]"
    guard = ""
    if op.kernel.kind == "view" and not list_out:
        guard = f" && !result.is({op.params[0].name})"
    elif not list_out and any(p.is_tensor and not p.is_list for p in op.params):
        guard = f" && is_differentiable({plan.outputs[0].name if many else 'result'}.dtype())"
    results = [r.name for r in op.returns if r.is_tensor] if many else ["result"]
    recorded = {r.name for r in plan.outputs} if many else {"result"}
    note = {r: f'note_untracked("{op.name}", {r}, {tensors(op)});' for r in results}
    return fill(
        HISTORY,
        tensors=tensors(op),
        records=records(op, plan),
        guard=guard,
        before=before,
        after=after,
        unrecorded="\n".join(text for r, text in note.items() if r not in recorded),
        untracked="\n".join(note.values()),
    )


def cut_notes(op: Op) -> str:
    if not op.no_grad or not op.no_grad.cuts or op.returns[0].type != "Tensor":
        return ""
    results = [r.name for r in op.returns if r.type == "Tensor"] if len(op.returns) > 1 else ["result"]
    given = tensors(op)
    return "\n".join(f'if (RG_UNLIKELY(any_tracked_or_cut({given}))) note_untracked("{op.name}", {r}, {given});' for r in results)


# ---- in place ----

INPLACE_ALIAS = """
// $schema, in place
const Tensor& ${name}_($params) {
  if (RG_UNLIKELY(thread_state.intercepting)) {
    if (begins_event(op_${name}_)) return recorded(op_${name}_, ops::${name}_$more);
    if (intercepts(op_${name}_)) return intercepted(op_${name}_, ops::${name}_$more);
  }
  return ops::${target}_($args);
}
"""
INPLACE_COMPOSITE = """
// $schema, in place
const Tensor& ${name}_($params) {
  if (RG_UNLIKELY(thread_state.intercepting)) {
    if (begins_event(op_${name}_)) return recorded(op_${name}_, ops::${name}_$more);
    if (intercepts(op_${name}_)) return intercepted(op_${name}_, ops::${name}_$more);
  }
  composite::${name}_($args);
  return self;
}
"""
INPLACE_WITHOUT_GRAD = """
// $schema, in place
const Tensor& ${name}_($params) {
  if (RG_UNLIKELY(thread_state.intercepting)) { if (write_intercepted(op_${name}_, ops::${name}_$more)) return self;$tangents }
  check_inplace(self, any_requires_grad($tensors));
  if (RG_LIKELY(!thread_state.intercepting) || !batch_writes(op_${name}_$more)) $kernel
  wrote_inplace(self);
  if (thread_state.grad_mode && self->grad_fn) cut_history(self, "${python_name}");
  if (RG_UNLIKELY(any_tracked_or_cut($tensors))) $note
  $move
  return self;
}
"""
INPLACE = """
// $schema, in place
const Tensor& ${name}_($params) {
  if (RG_UNLIKELY(thread_state.intercepting)) { if (write_intercepted(op_${name}_, ops::${name}_$more)) return self;$tangents }
  const bool tracked = any_tracked_or_cut($tensors);
  const bool needs = tracked && is_differentiable(self.dtype()) && ($needs_grad);
  check_inplace(self, needs);
  if (needs && thread_state.grad_mode && (RG_LIKELY(!thread_state.intercepting) || !records_below($args))) {
    $before
    if (RG_LIKELY(!thread_state.intercepting) || !batch_writes(op_${name}_$more)) $kernel
    wrote_inplace(self);
    $after
    rebase_history(self, guard.release());
  } else {
    if (RG_LIKELY(!thread_state.intercepting) || !batch_writes(op_${name}_$more)) $kernel
    wrote_inplace(self);
    if (RG_UNLIKELY(tracked)) $note
  }
  $move
  return self;
}
"""
# Only in place: what is written is one argument, or nothing that moves.
MOVE = """
if (RG_UNLIKELY(thread_state.intercepting) && any_tangent($args))
  for (const uint32_t level : levels_of($args)) forward::give_inplace(self, level, $tangent);
"""


def inplace_kernel(op: Op) -> str:
    """The statement that computes into self."""
    if op.inplace:
        return f"{op.inplace}_kernel({names(op)});"
    if op.kernel.kind == "pointwise":
        return f"impl::{op.cname}_out({names(op)}, self);"
    return f"copy_result(self, {kernel_name(op)}({names(op)}));"


def note_written(op: Op) -> str:
    others = "".join(f", {p.name}" for p in op.params if p.is_tensor and p.name != "self")
    keeps = not op.grad.get("self", "").startswith("zeros_of(")
    return f'note_written("{op.name}_", {truth(keeps)}, self{others});'


def dispatch_inplace(op: Op) -> str:
    shared = {
        "schema": op.schema,
        "name": op.cname,
        "python_name": op.name + "_",
        "params": parameters(op),
        "args": names(op),
        "more": "".join(f", {p.name}" for p in op.params),
    }
    if op.kernel.kind == "alias":
        return fill(INPLACE_ALIAS, **shared, target=op.kernel.target)
    if op.kernel.kind == "composite" or not is_cpp(op):
        return fill(INPLACE_COMPOSITE, **shared)
    shared |= {"kernel": inplace_kernel(op), "note": note_written(op), "tangents": "", "move": ""}
    if is_function(op):
        cloned = ", ".join("ops::clone(self)" if p.name == "self" else p.name for p in op.params)
        shared["tangents"] = f" if (any_tangent({names(op)})) return ops::copy_(self, ops::{op.cname}({cloned}), false);"
    else:
        source = [key for key in op.grad if key != "self"]
        shared["move"] = fill(MOVE, args=names(op), tangent=f"tangent_of({source[0]}, level)" if source else "Tensor()")
    if not op.grad:
        given = ", ".join(p.name for p in op.params if p.is_tensor and p.type != "Tensor?[]")
        return fill(INPLACE_WITHOUT_GRAD, **shared, tensors=given)
    plan = Plan(op)
    before, after = record(op, plan, inplace=True)
    return fill(INPLACE, **shared, tensors=tensors(op), needs_grad=needs_grad(plan), before=before, after=after)
