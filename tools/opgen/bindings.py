"""Python's way in: for each name and form (function, method, in place) the signatures of its overloads, and a thunk that calls the op."""

from __future__ import annotations

import optable
from optable import Op, Param
from optable.types import PARAM_TYPES

from . import doc
from .out import write_out
from .records import has_out
from .signature import is_cpp
from .text import fill, generated, truth

MODES = ("function", "method", "inplace", "internal")


def default_value(p: Param) -> str:
    if p.default is None:
        return "{}"
    return "{.none = true}" if p.default == "None" else p.row.default(p.default)


def signature_text(op: Op, method: bool) -> str:
    """The signature as error messages show it."""
    shown, star = [], False
    for p in op.params:
        if method and p.name == "self":
            continue
        if p.keyword_only and not star:
            shown.append("*")
            star = True
        name = "input" if p.name == "self" else p.name
        shown.append(f"{p.row.word} {name}" + (f" = {p.default}" if p.default is not None else ""))
    if has_out(op) and not method:
        if not star:
            shown.append("*")
        shown.append("Tensor out = None" if len(op.returns) == 1 else "tuple of Tensors out = None")
    return "(" + ", ".join(shown) + ")"


# ---- one overload ----

THUNK = """
PyObject* $thunk(Parsed& p) { ${cache}return $result; }
"""
THUNK_WITH_OUT = """
PyObject* $thunk(Parsed& p) {
  if (p.has_out()) {
    if (RG_UNLIKELY(thread_state.intercepting) && intercepts(op_$record)) return intercept_out(op_$record, p);
    $write
  }
  ${cache}return $result;
}
"""

# Several results with names: what was given comes back under them.
THUNK_WITH_NAMED_OUT = """
static PyObject* ${thunk}_into(Parsed& p) {
  if (RG_UNLIKELY(thread_state.intercepting) && intercepts(op_$record)) return intercept_out(op_$record, p);
  $write
}
PyObject* $thunk(Parsed& p) {
  if (p.has_out()) {
    static PyTypeObject* named_out = nullptr;
    return wrap_named_out(named_out, "${op}_out", {$fields}, ${thunk}_into(p));
  }
  ${cache}return $result;
}
"""


def thunk(op: Op, name: str, mode: str) -> str:
    args = ", ".join(f"p.{q.row.accessor}({i})" for i, q in enumerate(op.params))
    call, cache, fields = f"ops::{op.cname}({args})", "", ""
    if mode == "inplace":
        result = f"wrap(ops::{op.cname}_({args}))"
    elif len(op.returns) == 1:
        result = op.returns[0].row.wrap.format(call=call)
    elif op.has_plain_results:
        result = f"wrap_plain({call})"
    else:
        fields = ", ".join(f'"{r.name}"' for r in op.returns)
        result = f'wrap_named(named_{op.cname}, "{op.name}", {{{fields}}}, {call})'
        cache = f"static PyTypeObject* named_{op.cname} = nullptr; "
    if has_out(op) and mode == "function":
        parts = {"thunk": name, "record": f"{op.cname}_out", "write": write_out(op), "cache": cache, "result": result}
        return fill(THUNK_WITH_NAMED_OUT, **parts, op=op.name, fields=fields) if fields else fill(THUNK_WITH_OUT, **parts)
    return fill(THUNK, thunk=name, cache=cache, result=result)


def param_spec(p: Param, mode: str) -> str:
    shown = "input" if p.name == "self" and mode == "function" else p.name
    flags = ["kKeywordOnly"] * p.keyword_only + ["kHasDefault"] * (p.default is not None) + ["kSelf"] * (shown != p.name)
    return f'{{"{shown}", Kind::{p.row.kind}, {" | ".join(flags) or "0"}, {default_value(p)}}}'


# ---- one name ----

GROUP = """
$overloads
const Signature g_${name}_${mode}_sigs[] = {$signatures};
Group g_${name}_$mode = {"$python_name", g_${name}_${mode}_sigs, $method, $doc, $internal};
"""


def group(name: str, members: list[Op], mode: str) -> str:
    overloads, signatures = [], []
    for i, op in enumerate(members):
        specs = ", ".join(param_spec(p, mode) for p in op.params)
        array, function = f"s_{op.cname}_{mode}_{i}", f"t_{op.cname}_{i}_{mode}"
        if specs:
            overloads.append(f"const ParamSpec {array}[] = {{{specs}}}; static_assert(std::size({array}) <= Parsed::kMaxParams);")
        overloads.append(thunk(op, function, mode))
        text = signature_text(op, method=mode != "function")
        record = f"op_{op.cname}_" if mode == "inplace" else f"op_{op.cname}"
        out = f"&op_{op.cname}_out" if mode == "function" and has_out(op) else "nullptr"
        signatures.append(f'{{R"({text})", {array if specs else "{}"}, {function}, &{record}, {out}, {truth(op.hidden)}}}')
    return fill(
        GROUP,
        overloads="\n".join(overloads),
        signatures=", ".join(signatures),
        name=name,
        mode=mode,
        python_name=name + "_" * (mode == "inplace"),
        method=truth(mode in ("method", "inplace")),
        doc="nullptr" if mode == "internal" else f"doc_{name}_{mode}",
        internal=truth(mode == "internal"),
    )


def groups(family: str, table: list[Op], mode: str) -> dict[str, list[Op]]:
    """The overloads behind each name. Internal ops are bound too, out of sight, so that an op handler can call what it was shown."""
    found: dict[str, list[Op]] = {}
    for op in table:
        if is_cpp(op) and mode in op.variants and (mode != "internal" or not op.variants & {"function", "method"}):
            found.setdefault(op.name, []).append(op)
    return {name: members for name, members in found.items() if members[0].family == family}


# ---- the files ----

SOURCE = """
$generated

#include "autograd/untracked.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/out.h"
#include "python/bind.h"
#include "python/intercept.h"
#include "python/out.h"

namespace retrograd {
$docs
namespace {

$groups
}  // namespace

extern const GroupEntry groups_$family[];
const GroupEntry groups_$family[] = {
    $entries
    {}};

}  // namespace retrograd
"""


def bindings_source(family: str, table: list[Op]) -> tuple[str, list[tuple[str, str]]]:
    """The file, and the docstrings it names: they have a file of their own, so that a change of words compiles words alone."""
    texts: list[str] = []
    entries: list[str] = []
    docs: list[tuple[str, str]] = []
    for mode in MODES:
        for name, members in groups(family, table, mode).items():
            python_name = name + "_" * (mode == "inplace")
            texts.append(group(name, members, mode))
            entries.append(f'{{"{python_name}", &g_{name}_{mode}, entry<g_{name}_{mode}>}},')
            if mode != "internal":
                docs.append((f"doc_{name}_{mode}", doc.document(python_name, members, mode)))
    text = fill(
        SOURCE,
        generated=generated(f"optable/{family}.py"),
        docs="\n".join(f"extern const char {name}[];" for name, _ in docs),
        groups="\n".join(texts),
        family=family,
        entries="\n".join(entries),
    )
    return text, docs


DOCS = """
$generated
namespace retrograd {

$rows

}  // namespace retrograd
"""
DOC = """
extern const char $name[];
const char $name[] = R"doc($text)doc";
"""


def docs_source(family: str, docs: list[tuple[str, str]]) -> str:
    rows = "\n".join(fill(DOC, name=name, text=text) for name, text in docs)
    return fill(DOCS, generated=generated(f"optable/{family}.py, for help()"), rows=rows)


BINDINGS_HEADER = """
$generated
#pragma once

#include "python/bind.h"

namespace retrograd {
$declared
inline const GroupEntry* const all_groups[] = {$all};
}  // namespace retrograd
"""


def bindings_header() -> str:
    return fill(
        BINDINGS_HEADER,
        generated=generated(),
        declared="\n".join(f"extern const GroupEntry groups_{f}[];" for f in optable.FAMILIES),
        all=", ".join(f"groups_{f}" for f in optable.FAMILIES),
    )


KINDS = """
$generated
#pragma once

#include <cstdint>

namespace retrograd {

enum class Kind : uint8_t {
  $kinds
};

// What an argument of each kind is called in the errors of a call, and in schemas.
inline constexpr const char* kKindWords[] = {
    $words
};
inline constexpr const char* kKindSpellings[] = {
    $spellings
};

}  // namespace retrograd
"""


def param_kinds() -> str:
    """The kinds of parameters, for the parser of arguments."""
    rows = [row for row in PARAM_TYPES.values() if row.kind]
    return fill(
        KINDS,
        generated=generated("optable/types.py"),
        kinds="\n".join(f"{row.kind}," for row in rows),
        words="\n".join(f'"{row.word}",  // {row.kind}' for row in rows),
        spellings="\n".join(f'"{row.shown or row.spelling}",  // {row.kind}' for row in rows),
    )


BOXED = """
$generated
#pragma once

#include "python/bind.h"
#include "python/intercept.h"

namespace retrograd {

// An argument as a handler gets it.
inline PyObject* boxed(const Parsed& p, int i, Kind kind) {
  switch (kind) {
    $cases
  }
  Py_RETURN_NONE;
}

}  // namespace retrograd
"""


def boxed_arguments() -> str:
    rows = [row for row in PARAM_TYPES.values() if row.kind]
    cases = "\n".join(f"case Kind::{row.kind}: return boxing::box(p.{row.accessor}(i));" for row in rows)
    return fill(BOXED, generated=generated("optable/types.py"), cases=cases)
