"""A parameter type is one row of optable/types.py, and C++ has what each row names."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import optable
from optable import types
from tests.meta.test_one_entry import opgen

ROOT = Path(__file__).parent.parent.parent
ROWS = [row for row in types.PARAM_TYPES.values() if row.cpp]


def source(path: str) -> str:
    return (ROOT / "csrc" / path).read_text()


def by_spelling(row):
    return row.spelling


@pytest.mark.parametrize("row", ROWS, ids=by_spelling)
def test_the_parser_reads_it(row):
    read = source("python/parse.cpp").split("bool Parsed::read_other(", 1)[1].split("\n}\n", 1)[0]
    assert f"case Kind::{row.kind}:" in read


@pytest.mark.parametrize("row", ROWS, ids=by_spelling)
def test_the_thunks_get_it(row):
    value = row.cpp.removeprefix("const ").removesuffix("&")  # of an argument that is passed by reference
    assert re.search(rf"^  (const )?{re.escape(value)}&? {row.accessor}\(int i\) const", source("python/bind.h"), re.M)


@pytest.mark.parametrize("row", ROWS, ids=by_spelling)
def test_handlers_see_it(row):
    value = re.sub(r"std::optional<(.*)>", r"\1", row.cpp.removeprefix("const ").removesuffix("&"))
    assert re.search(rf"^PyObject\* box\((const )?{re.escape(value)}[&]? ?\w+\);", source("python/intercept.h"), re.M)


@pytest.mark.parametrize("row", [row for row in ROWS if row.saved], ids=by_spelling)
def test_nodes_keep_it(row):
    kinds = source("autograd/node.h").split("enum class FieldKind", 1)[1].split("};", 1)[0]
    assert re.search(rf"\b{row.saved.field}\b", kinds)
    assert f"case FieldKind::{row.saved.field}:" in source("python/node_type.cpp")


def test_kinds_have_one_row_each():
    kinds = [row.kind for row in ROWS]
    assert len(set(kinds)) == len(kinds)
    assert not re.search(r"enum class Kind\b", source("python/bind.h")), "the enumeration is generated"


@pytest.fixture
def files(monkeypatch):
    """The generated files of a table with one more type of parameter, and an op that takes it."""
    opgen.generate()
    before = list(optable.entries)
    row = types.ParamType("angle", "Angle", "Angle", "angle", "torch.angle", "_angle", types.number, types.Saved("Angle", "Float"))
    for each in (row, types.optional(row)):
        monkeypatch.setitem(types.PARAM_TYPES, each.spelling, each)
    monkeypatch.setattr(optable, "_loading", "pointwise")
    optable.op(
        "turn(Tensor self, angle by=1.5, *, angle? from_=None) -> Tensor",
        kernel=optable.native(),
        grad={"self": "turned(grad, by, from_)"},
        batching=optable.facts.LOOP,
        doc="Turned.",
    )
    try:
        yield opgen.generate()
    finally:
        optable.entries[:] = before


def test_one_row_is_a_type(files):
    assert "Tensor turn(const Tensor& self, Angle by, std::optional<Angle> from_);" in files["ops.h"]
    assert "  Angle,\n  AngleOpt,\n" in files["param_kinds.h"] and '"torch.angle",  // AngleOpt' in files["param_kinds.h"]
    ops = files["ops_pointwise.cpp"]
    assert "  Angle by;\n  std::optional<Angle> from_;\n" in ops
    assert '{"from_", FieldKind::OptFloat, offsetof(TurnBackward0, from_)}' in ops
    assert "fn->by = by;" in ops and "const auto& from_ = fn->from_;" in ops
    bindings = files["bindings_pointwise.cpp"]
    assert '{"by", Kind::Angle, kHasDefault, {.d = 1.5, .is_float = true}}' in bindings
    assert '{"from_", Kind::AngleOpt, kKeywordOnly | kHasDefault, {.none = true}}' in bindings
    assert "ops::turn(p.tensor(0), p.angle(1), p.opt_angle(2))" in bindings
    assert "(Tensor input, torch.angle by = 1.5, *, torch.angle from_ = None)" in bindings
    assert "def turn(input: Tensor, by: _angle = 1.5, *, from_: _angle | None = None, /) -> Tensor:" in files["_generated/native.pyi"]


def test_a_type_without_a_row_is_refused():
    with pytest.raises(ValueError, match="cannot read parameter 'angle by'"):
        optable.op("turn(Tensor self, angle by) -> Tensor", kernel=optable.native())
    with pytest.raises(ValueError, match="cannot read result 'angle'"):
        optable.op("turn(Tensor self) -> angle", kernel=optable.native())


def test_a_formula_cannot_use_what_nodes_cannot_keep(monkeypatch):
    monkeypatch.setitem(types.PARAM_TYPES, "int", replace(types.PARAM_TYPES["int"], saved=None))
    entry = next(e for e in optable.load() if e.cname == "cumsum")
    with pytest.raises(ValueError, match="a node cannot keep 'dim', for the type int has no `saved`"):
        opgen.plan.Plan(entry)
