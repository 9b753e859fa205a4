"""The files of the ops: ops.h, which declares all, and per family native_<family>.h, which declares what is written by hand for native ops, and
ops_<family>.cpp with records, nodes, forward-mode rules and dispatch."""

from __future__ import annotations

from collections.abc import Iterable

from optable import Op

from . import dispatch, jvp, native, records
from .kernels import KernelFiles, pointwise_impl
from .plan import Plan, node_struct
from .signature import is_cpp, is_function, parameters, return_type
from .text import fill, generated

HEADER = """
$generated
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/format.h"
#include "core/tensor.h"
#include "ops/record.h"

namespace retrograd {
struct Generator;

$records

// Compute and record nothing. Generated from native_<family>.h, or written in csrc/ops.
namespace impl {
$impl
}

// Written in terms of ops::. In csrc/ops.
namespace composite {
$composite
}

// The ops: interception, kernel, history.
namespace ops {
$ops
}

}  // namespace retrograd
"""


def declared(op: Op) -> tuple[list[str], ...]:
    """What an op declares: its records, and functions of impl, composite and ops."""
    function = f"{return_type(op)} {op.cname}({parameters(op)});"
    inplace = "inplace" in op.variants
    impl: list[str] = []
    composite: list[str] = []
    if op.kernel.kind == "composite":
        composite = [function] * (not op.kernel.expr) + [f"void {op.cname}_({parameters(op)});"] * inplace
    elif op.kernel.kind != "alias":
        impl = [function]
        if op.kernel.kind == "pointwise":
            impl.append(f"void {op.cname}_out({parameters(op)}, const Tensor& out);")
        if op.inplace:
            impl.append(f"void {op.inplace}({parameters(op)});")
    ops = [function] * is_function(op) + [f"const Tensor& {op.cname}_({parameters(op)});"] * inplace
    return [f"extern OpRecord {name};" for name in records.names(op)], impl, composite, ops


def ops_header(table: list[Op]) -> str:
    kinds = ("records", "impl", "composite", "ops")
    return fill(HEADER, generated=generated(), **declarations(kinds, map(declared, filter(is_cpp, table))))


def declarations(kinds: tuple[str, ...], found: Iterable[tuple[list[str], ...]]) -> dict[str, str]:
    """The text of each kind: every line once, in order."""
    lines: dict[str, dict[str, None]] = {kind: {} for kind in kinds}
    for lists in found:
        for kind, some in zip(kinds, lists, strict=True):
            lines[kind] |= dict.fromkeys(some)
    return {kind: "\n".join(some) for kind, some in lines.items()}


NATIVE = """
$generated
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/spec.h"
#include "ops.h"
$plans

namespace retrograd {

// What results are: all checks that need no values. Written in csrc/ops/$family.
namespace rule {
$rule
}

// Compute into the memory of results. They never meet meta tensors. Written in csrc/ops/$family.
namespace compute {
$compute
}

}  // namespace retrograd
"""


def native_header(family: str, table: list[Op]) -> str:
    """Apart from ops.h, so that a family whose rules change is compiled alone."""
    mine = [op for op in table if op.family == family and is_cpp(op)]
    plans = f'#include "ops/{family}/plan.h"' * any(op.kernel.plan for op in mine)
    declared = declarations(("rule", "compute"), map(native.declared, mine))
    return fill(NATIVE, generated=generated(f"optable/{family}.py"), family=family, plans=plans, **declared)


SOURCE = """
$generated

#include "native_$family.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/pointwise/pointwise.h"
#include "ops/forward.h"
#include "ops/generated_support.h"
#include "pointwise_rows.h"

namespace retrograd {
namespace {
$words
}  // namespace

$records

namespace impl {

$impl
}  // namespace impl

namespace ops {
using namespace derivatives;

namespace {

$kernels
$nodes
$rules
}  // namespace

$dispatch
}  // namespace ops
}  // namespace retrograd
"""


def impl(op: Op, kernels: KernelFiles) -> str:
    return pointwise_impl(op, kernels) if op.kernel.kind == "pointwise" else native.impl(op)


def ops_source(family: str, table: list[Op], kernels: KernelFiles) -> str:
    mine = [op for op in table if op.family == family and is_cpp(op)]
    nodes = {op.node: op for op in reversed(mine) if op.grad}  # overloads share the node of the first
    functions = []
    for op in mine:
        functions += [dispatch.dispatch(op)] * is_function(op)
        if "inplace" in op.variants:
            functions.append(dispatch.dispatch_inplace(op))
    return fill(
        SOURCE,
        generated=generated(f"optable/{family}.py"),
        family=family,
        words=records.arrays(mine),
        records="\n".join(record for op in mine for record in records.records(op)),
        impl="\n".join(impl(op, kernels) for op in mine if op.kernel.kind == "pointwise" or native.is_split(op)),
        kernels="\n".join(dispatch.guards(op) for op in mine if op.kernel.kind == "native"),
        nodes="\n".join(f"// {op.schema}\n{node_struct(op, Plan(op))}" for op in mine if op.grad and nodes[op.node] is op),
        rules="\n".join(jvp.rule(op, Plan(op)) for op in mine if jvp.has_rule(op)),
        dispatch="\n".join(functions),
    )
