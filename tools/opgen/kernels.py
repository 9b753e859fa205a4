"""Pointwise kernels: a functor from each expression, tables of loops over dtypes, and impl::<op>, which names its row."""

from __future__ import annotations

import optable
from optable import Op, Param

from .signature import parameters
from .text import fill, generated, truth

KERNELS_PER_FILE = 14
CPP_TYPE = {
    "bool": "bool",
    "u8": "uint8_t",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "f16": "Half",
    "bf16": "BFloat16",
    "f32": "float",
    "f64": "double",
    "c64": "Complex<float>",
    "c128": "Complex<double>",
    "u64": "uint64_t",
}
LOOP_NUMBER = {d: i for i, d in enumerate(CPP_TYPE)} | {"c64": 16, "c128": 17, "u64": 10}  # loop_of() in core/dtype.h
NUM_LOOPS = 18


def inputs_of(op: Op) -> list[Param]:
    return [p for p in op.params if p.type in ("Tensor", "Operand")]


def text_or_null(text: str) -> str:
    return f'"{text}"' if text else "nullptr"


class KernelFiles:
    """Which file holds the kernel of which op. Overloads that differ in their derivative only share the kernel of the first."""

    def __init__(self, table: list[Op]) -> None:
        self._first: dict[tuple, Op] = {}
        self.files: dict[str, list[Op]] = {}
        for family in optable.FAMILIES:
            group = [op for op in table if op.family == family and op.kernel.kind == "pointwise" and self.owner(op) is op]
            for i in range(0, len(group), KERNELS_PER_FILE):
                self.files[f"kernels_{family}_{i // KERNELS_PER_FILE}"] = group[i : i + KERNELS_PER_FILE]
        self.rows = {op.cname: name for name, group in self.files.items() for op in group}

    def owner(self, op: Op) -> Op:
        k = op.kernel
        return self._first.setdefault(
            (k.expr, k.complex, k.dtypes, k.guests, k.out, k.params, k.rare, k.complex_rare, len(inputs_of(op))), op
        )

    def row(self, op: Op) -> str:
        """The name of the number of its kernel, by which a device knows it: see kernels/pointwise.h."""
        return f"kernels::rows::{self.owner(op).cname}"


# ---- what is said of complex numbers ----

COMPLEX_WORDS = """
$generated
#pragma once

#include <string_view>

#include "core/format.h"

namespace retrograd {

struct ComplexWords { std::string_view kernel; ErrorKind kind; std::string_view words; };
inline constexpr ComplexWords complex_words[] = {
  $rows
};

}  // namespace retrograd
"""


def complex_words(table: list[Op]) -> str:
    """By the name that the kernel goes by in errors."""
    rows = {}
    for op in table:
        kind, colon, words = op.no_complex.partition("Error: ")
        if op.no_complex:
            rows[op.kernel.label or op.name] = (kind, words) if colon else ("Runtime", op.no_complex)
    lines = [f'{{"{name}", ErrorKind::{kind}, "{words}"}},' for name, (kind, words) in rows.items()]
    return fill(COMPLEX_WORDS, generated=generated(), rows="\n".join(lines))


# ---- impl::<op> ----

IMPL = """
const PointwiseInfo pw_$name = {"$label", $dtypes, PointwiseOut::$out, $count, $cost, $row$exceptions};
Tensor $name($params) {
  $check
  $kernel_params
  $array_if_many
  return pointwise(pw_$name, $given, $passed);
}
void ${name}_out($params, const Tensor& out) {
  $check
  $array
  $kernel_params
  pointwise_out(pw_$name, in, $passed, out);
}
"""


def pointwise_impl(op: Op, kernels: KernelFiles) -> str:
    inputs = inputs_of(op)
    operands = ", ".join(f"Operand({p.name})" for p in inputs)
    params = ", ".join(f"kernel_param({name})" for name in op.kernel.params)
    exceptions = [
        truth(op.kernel.exact_numbers),
        text_or_null("".join(op.out.exact)),
        text_or_null(op.out.cast),
        truth(op.kernel.any_overlap),
    ]
    check = [op.kernel.check] * bool(op.kernel.check)
    for p in op.params:
        if p.name in op.kernel.params and p.type == "Scalar":
            check.append(f"check_param({p.name}, {{{operands}}});")
    array = f"const Operand in[] = {{{operands}}};"
    # One or two inputs go as they are: most of the time they are tensors, for which there is a short way.
    given = "in"
    if len(inputs) == 1 and inputs[0].type == "Tensor":
        given = f"{inputs[0].name}.get()"
    elif len(inputs) == 2:
        given = f"{inputs[0].name}, {inputs[1].name}"
    return fill(
        IMPL,
        name=op.cname,
        label=op.kernel.label or op.name,
        dtypes=" | ".join(f"1u << {LOOP_NUMBER[d]}" for d in op.kernel.dtypes),
        out=op.kernel.out.capitalize(),
        count=str(len(inputs)),
        cost=str(op.kernel.cost),
        row=kernels.row(op),
        exceptions=f", {', '.join(exceptions)}" if exceptions != ["false", "nullptr", "nullptr", "false"] else "",
        params=parameters(op),
        check="\n".join(check),
        kernel_params=f"const KernelParam params[] = {{{params}}};" if params else "",
        array=array,
        array_if_many=array if given == "in" else "",
        given=given,
        passed="params" if params else "{}",
    )


# ---- the kernels ----

SOURCE = """
$generated

#include "cpu/complex_quick.h"
#include "cpu/pointwise_loop.h"
#include "pointwise_tables.h"

namespace retrograd::cpu {
namespace {
using namespace RG_LEVEL_NS;

$functors
}  // namespace

RG_EXPORT_KERNELS($struct, $name) = {
    $rows
};

}  // namespace retrograd::cpu
"""
FUNCTOR = """
template <class T> struct $functor {
  $halves
  $members
  explicit $functor(const KernelParam*$inits {}
  RG_INLINE $result operator()($args) const { return static_cast<$result>($expr); }
  $rare
};
"""
FUNCTOR_IN_LANES = """
template <class T> struct $functor {
  static constexpr bool in_lanes = true;
  $members
  explicit $functor(const KernelParam*$inits {}
  RG_INLINE Lanes operator()($args) const { return $expr; }
};
"""
RARE = """
RG_INLINE static bool is_rare($args) { return $test; }
static T rare($args) { return static_cast<T>($expr); }
"""


def functors(op: Op) -> str:
    """F_<op> and, where complex elements have an expression, C_<op>."""
    kernel = op.kernel
    args = ", ".join(f"[[maybe_unused]] T {c}" for c in "xyzw"[: len(inputs_of(op))])
    inits = ", ".join(f"{p}(p[{i}].as<T>())" for i, p in enumerate(kernel.params))
    shared = {
        "members": "\n".join(f"T {p};" for p in kernel.params),
        "inits": f" p) : {inits}" if inits else ")",
        "args": args,
    }
    if kernel.lanes:
        shared["args"] = args.replace(" T ", " Lanes ")
        return f"// {op.schema}\n" + fill(FUNCTOR_IN_LANES, **shared, functor=f"F_{op.cname}", expr=kernel.expr)

    def rare(which: tuple[str, ...]) -> str:
        return fill(RARE, args=args, test=which[0], expr=which[1]) if which else ""

    halves = "static constexpr bool takes_halves = true;" if kernel.halves else ""
    result = "bool" if kernel.out == "bool" else "T"
    real = {"expr": kernel.expr, "rare": rare(kernel.rare), "halves": halves}
    text = f"// {op.schema}\n" + fill(FUNCTOR, **shared, functor=f"F_{op.cname}", result=result, **real)
    if kernel.complex:
        result = {"bool": "bool", "real": "typename T::real_type"}.get(kernel.out, "T")
        of_complex = {"expr": kernel.complex, "rare": rare(kernel.complex_rare), "halves": ""}
        text += "\n" + fill(FUNCTOR, **shared, functor=f"C_{op.cname}", result=result, **of_complex)
    return text


def loop(op: Op, dtype: str) -> str:
    """The loop over elements of one dtype."""
    is_complex = dtype in optable.COMPLEX
    element = CPP_TYPE["i64" if dtype == "u64" and op.kernel.guests == "bits" else dtype]
    out = "bool" if op.kernel.out == "bool" else f"{element}::real_type" if is_complex and op.kernel.out == "real" else element
    cheap = truth(op.kernel.cost <= optable.CHEAP and not is_complex)
    return f"pointwise_loop<{'C' if is_complex else 'F'}_{op.cname}, {element}, {out}, {len(inputs_of(op))}, {cheap}>"


def table_row(op: Op) -> str:
    cells = ["nullptr"] * NUM_LOOPS
    for d in op.kernel.dtypes:
        cells[LOOP_NUMBER[d]] = loop(op, d)
    return f".{op.cname} = {{{', '.join(cells)}}},"


def kernel_source(name: str, group: list[Op]) -> str:
    return fill(
        SOURCE,
        generated=generated(f"optable/{group[0].family}.py"),
        functors="\n".join(functors(op) for op in group),
        struct=optable.camel(name),
        name=name,
        rows="\n".join(table_row(op) for op in group),
    )


TABLES = """
$generated
#pragma once

#include "cpu/isa.h"
#include "cpu/iterate.h"

namespace retrograd::cpu {

$tables

// All of them, by the number of the row and the dtype.
struct PointwiseLoops {
  const Loop* rows[$count];
};
RG_DECLARE_KERNELS(PointwiseLoops, pointwise_loops)

}  // namespace retrograd::cpu
"""
NUMBERS = """
$generated
#pragma once

#include <cstdint>

namespace retrograd::kernels::rows {

enum : uint16_t {
  $names
};

}  // namespace retrograd::kernels::rows
"""
ROWS = """
$generated

#include "pointwise_tables.h"

namespace retrograd::cpu {

RG_EXPORT_KERNELS(PointwiseLoops, pointwise_loops) = {{
    $rows
}};

}  // namespace retrograd::cpu
"""
TABLE = """
struct $struct {
  $members
};
RG_DECLARE_KERNELS($struct, $name)
"""


def row_numbers(kernels: KernelFiles) -> str:
    return fill(NUMBERS, generated=generated(), names="\n".join(f"{name}," for name in kernels.rows))


def row_source(kernels: KernelFiles) -> str:
    rows = [f"RG_CAT({file}, RG_LEVEL).{name}," for name, file in kernels.rows.items()]
    return fill(ROWS, generated=generated(), rows="\n".join(rows))


def pointwise_tables(kernels: KernelFiles) -> str:
    tables = [
        fill(TABLE, struct=optable.camel(name), name=name, members="\n".join(f"Loop {op.cname}[kNumLoops];" for op in group))
        for name, group in kernels.files.items()
    ]
    return fill(TABLES, generated=generated(), tables="\n".join(tables), count=str(len(kernels.rows)))
