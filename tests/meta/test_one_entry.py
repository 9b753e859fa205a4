"""Adding a pointwise op is one entry in one file: everything else follows from it."""

import sys
from pathlib import Path

import pytest

import ops
from ops.samples import unary

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import opgen  # noqa: E402


@pytest.fixture
def extended():
    """The generated files of the table with one more entry, and of the table as it is."""
    plain = opgen.generate()
    before = list(ops.table)
    ops._loading = "pointwise"
    ops.op(
        "softbump(Tensor self, Scalar width=1) -> Tensor",
        variants="function method inplace out",
        kernel=ops.pointwise("exp_(-x * x / width)", dtypes=ops.FLOATING, out="float", params=("width",)),
        grad={"self": "grad * result * self * (-2.0 / width)"},
        doc="A bump.",
        samples=unary(),
    )
    try:
        yield opgen.generate(), plain
    finally:
        ops.table[:] = before


def test_one_entry_reaches_every_generated_file(extended):
    files, _ = extended
    kernels = [text for name, text in files.items() if name.startswith("kernels_pointwise")]
    assert "softbump" in files["ops.h"]
    assert "struct SoftbumpBackward0" in files["ops_pointwise.cpp"]
    assert "Tensor softbump(" in files["ops_pointwise.cpp"] and "softbump_(" in files["ops_pointwise.cpp"]
    assert '"softbump"' in files["bindings_pointwise.cpp"] and '"softbump_"' in files["bindings_pointwise.cpp"]
    assert any("exp_(-x * x / width)" in text for text in kernels)
    assert "softbump" in files["pointwise_tables.h"]
    assert "    def softbump(self, width: Number = 1) -> Tensor:" in files["_C.pyi"]
    assert "def softbump(input: Tensor, width: Number = 1, *, out: Tensor | None = None) -> Tensor:" in files["_generated/native.pyi"]
    assert "softbump as softbump" in files["_generated/functions.pyi"]


def test_nothing_else_changes(extended):
    files, plain = extended
    changed = {name for name in files if files[name] != plain.get(name)}
    stubs = ("_C.pyi", "_generated/native.pyi", "_generated/functions.pyi")
    shared = (*stubs, "ops.h", "pointwise_tables.h", "_generated/python_ops.py")  # the last holds the names of all nodes
    assert all(name in shared or "pointwise" in name for name in changed), changed
    assert "SoftbumpBackward0" in files["_generated/python_ops.py"]


def test_generation_is_repeatable(extended):
    _, plain = extended
    del ops.table[[o.name for o in ops.table].index("softbump")]
    assert opgen.generate() == plain


def test_an_entry_that_is_wrong_is_refused():
    with pytest.raises(ValueError, match="cannot read schema"):
        ops.op("nonsense", kernel=ops.native())
    with pytest.raises(ValueError, match="cannot read parameter 'Tensr self'"):
        ops.op("nonsense(Tensr self) -> Tensor", kernel=ops.native())
    with pytest.raises(ValueError, match="gradient for unknown argument 'other'"):
        ops.op("nonsense(Tensor self) -> Tensor", kernel=ops.native(), grad={"other": "grad"})
    with pytest.raises(ValueError, match="in the table twice"):
        ops.op("tanh(Tensor self) -> Tensor", kernel=ops.native())
