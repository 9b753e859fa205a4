"""The files of the ops: ops.h, which declares all, and per family ops_<family>.cpp with records, nodes, forward-mode rules and dispatch."""

from __future__ import annotations

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
#include "core/spec.h"
#include "core/tensor.h"
#include "ops/record.h"

namespace retrograd {
struct Generator;

$records

// What the results of native ops are: all checks that need no values. Written in csrc/ops, as are the next two but for what is generated.
namespace rule {
$rule
}

// Compute into the memory of results. They never meet meta tensors.
namespace compute {
$compute
}

// Compute and record nothing.
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
    """What an op declares: its records, and functions of rule, compute, impl, composite and ops."""
    function = f"{return_type(op)} {op.cname}({parameters(op)});"
    inplace = "inplace" in op.variants
    impl: list[str] = []
    composite: list[str] = []
    if op.kernel.kind == "composite":
        composite = [function] + [f"void {op.cname}_({parameters(op)});"] * inplace
    elif op.kernel.kind != "alias":
        impl = [function]
        if op.kernel.kind == "pointwise":
            impl.append(f"void {op.cname}_out({parameters(op)}, const Tensor& out);")
        if op.inplace:
            impl.append(f"void {op.inplace}({parameters(op)});")
    ops = [function] * is_function(op) + [f"const Tensor& {op.cname}_({parameters(op)});"] * inplace
    return [f"extern OpRecord {name};" for name in records.names(op)], *native.declared(op), impl, composite, ops


def ops_header(table: list[Op]) -> str:
    kinds = ("records", "rule", "compute", "impl", "composite", "ops")
    lines: dict[str, dict[str, None]] = {kind: {} for kind in kinds}  # in order, each once
    for op in table:
        if is_cpp(op):
            for kind, found in zip(kinds, declared(op), strict=True):
                lines[kind] |= dict.fromkeys(found)
    return fill(HEADER, generated=generated(), **{kind: "\n".join(found) for kind, found in lines.items()})


SOURCE = """
$generated

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
        words=records.arrays(mine),
        records="\n".join(record for op in mine for record in records.records(op)),
        impl="\n".join(impl(op, kernels) for op in mine if op.kernel.kind == "pointwise" or native.is_split(op)),
        kernels="\n".join(dispatch.guards(op) for op in mine if op.kernel.kind == "native"),
        nodes="\n".join(f"// {op.schema}\n{node_struct(op, Plan(op))}" for op in mine if op.grad and nodes[op.node] is op),
        rules="\n".join(jvp.rule(op, Plan(op)) for op in mine if jvp.has_rule(op)),
        dispatch="\n".join(functions),
    )
