"""Turns the op table (optable/) into C++, stubs and documentation.

Per family F of the table: native_F.h (what native ops are written from), ops_F.cpp (dispatch and graph nodes), bindings_F.cpp (Python signatures), docs_F.cpp
(docstrings), kernels_F_N.cpp (pointwise kernels, compiled once per CPU level); and ops.h, pointwise_tables.h, pointwise_rows.h, complex_words.h, param_kinds.h, boxed_arguments.h, bindings.h for all, stubs (*.pyi) for type checkers.
The generated code is meant to be read: each piece names the entry it came from.

    plan        what a graph node saves, and its apply function
    dispatch    ops::<op>: interception, kernel, history
    kernels     pointwise kernels
    native      native ops: results as their rules say, then their kernels
    jvp         forward-mode rules
    sources     the files of those five
    bindings    signatures and thunks for Python; out: what a thunk does for out=
    doc         docstrings; stub, stub_core, python_source: stubs

Each opens with its templates (text.fill), which show the C++ as it will stand. What depends on the type of a parameter is in optable/types.py.
"""

from __future__ import annotations

import optable

from . import bindings, kernels, python_ops, sources, stub
from .signature import is_cpp


def generate() -> dict[str, str]:
    """The files by name."""
    table = optable.load()
    pointwise = kernels.KernelFiles(table)
    out = {
        "ops.h": sources.ops_header(table),
        "pointwise_tables.h": kernels.pointwise_tables(pointwise),
        "pointwise_rows.h": kernels.row_numbers(pointwise),
        "complex_words.h": kernels.complex_words(table),
        "kernels_rows.cpp": kernels.row_source(pointwise),
        "param_kinds.h": bindings.param_kinds(),
        "boxed_arguments.h": bindings.boxed_arguments(),
        "bindings.h": bindings.bindings_header(),
    }
    for family in optable.FAMILIES:
        out[f"native_{family}.h"] = sources.native_header(family, table)
        out[f"ops_{family}.cpp"] = sources.ops_source(family, table, pointwise)
        out[f"bindings_{family}.cpp"], docs = bindings.bindings_source(family, table)
        out[f"docs_{family}.cpp"] = bindings.docs_source(family, docs)
    for name, group in pointwise.files.items():
        out[f"{name}.cpp"] = kernels.kernel_source(name, group)
    out |= stub.stubs(table, [op for op in table if is_cpp(op)])
    out["_generated/__init__.py"] = '"""Files written by tools/opgen."""\n'
    out["_generated/python_ops.py"] = python_ops.python_ops(table)
    return out
