"""Adding a pointwise op is one entry in one file: everything else follows from it."""

import sys
from pathlib import Path

import pytest

import optable
from optable.samples import unary

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import opgen  # noqa: E402


@pytest.fixture
def extended():
    """The generated files of the table with one more entry, and of the table as it is."""
    plain = opgen.generate()
    before = list(optable.entries)
    optable._loading = "pointwise"
    optable.op(
        "softbump(Tensor self, Scalar width=1) -> Tensor",
        variants="function method inplace out",
        kernel=optable.pointwise("exp_(-x * x / width)", dtypes=optable.FLOATING, out="float", params=("width",)),
        grad={"self": "grad * result * self * (-2.0 / width)"},
        doc="A bump.",
        samples=unary(),
    )
    try:
        yield opgen.generate(), plain
    finally:
        optable.entries[:] = before


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
    del optable.entries[[o.name for o in optable.entries].index("softbump")]
    assert opgen.generate() == plain


def test_an_entry_that_is_wrong_is_refused():
    with pytest.raises(ValueError, match="cannot read schema"):
        optable.op("nonsense", kernel=optable.native())
    with pytest.raises(ValueError, match="cannot read parameter 'Tensr self'"):
        optable.op("nonsense(Tensr self) -> Tensor", kernel=optable.native())
    with pytest.raises(ValueError, match="gradient for unknown argument 'other'"):
        optable.op("nonsense(Tensor self) -> Tensor", kernel=optable.native(), grad={"other": "grad"})
    with pytest.raises(ValueError, match="in the table twice"):
        optable.op("tanh(Tensor self) -> Tensor", kernel=optable.native())
