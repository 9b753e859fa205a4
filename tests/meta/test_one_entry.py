"""Adding a pointwise op is one entry in one file: everything else follows from it.

Shown by `_softbump`, an entry of optable/pointwise.py that no other file of the project knows of.
"""

import functools
import importlib
import inspect
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import optable
import retrograd
from retrograd import _C
from retrograd.autograd import forward_ad, gradcheck, gradgradcheck
from retrograd.func import vmap
from retrograd.testing import assert_close
from retrograd.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import opgen  # noqa: E402

NAME = "_softbump"
GENERATED = ("_C.pyi", "_generated")


def bump(x, width=1):
    return retrograd.exp(-x * x / width)


@pytest.fixture
def x():
    return retrograd.linspace(-1.5, 1.4, 12, dtype=retrograd.float64).reshape(3, 4)


def test_no_other_source_knows_the_op():
    """Not by name, and the files that are made from the table do not count."""
    folders = [
        ROOT / name for name in ("optable", "csrc", "src", "tools", "benchmarks", "docs", "examples", "tests") if (ROOT / name).exists()
    ]
    files = [f for folder in folders for f in folder.rglob("*") if f.suffix in (".py", ".pyi", ".cpp", ".h", ".txt", ".md", ".json")]
    knowing = [f for f in files if not set(GENERATED) & set(f.parts) and NAME.strip("_") in f.read_text().lower()]
    assert sorted(str(f.relative_to(ROOT)) for f in knowing) == ["optable/pointwise.py", "tests/meta/test_one_entry.py"]
    assert (ROOT / "optable/pointwise.py").read_text().count(NAME) == 1


def test_function_method_in_place_and_out(x):
    expected = [[math.exp(-v * v) for v in row] for row in x.tolist()]
    assert_close(retrograd._softbump(x), retrograd.tensor(expected, dtype=x.dtype))
    assert_close(x._softbump(width=2), bump(x, 2))
    out, written = retrograd.empty_like(x), x.clone()
    assert retrograd._softbump(x, 2.5, out=out) is out
    assert written._softbump_(2.5) is written
    assert_close(out, bump(x, 2.5))
    assert_close(written, bump(x, 2.5))
    assert x[0].to(retrograd.bfloat16)._softbump().dtype is retrograd.bfloat16
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        retrograd._softbump(x.requires_grad_(), out=out)


def test_derivatives(x):
    x.requires_grad_()
    y = retrograd._softbump(x)
    assert y.grad_fn.name() == "SoftbumpBackward0" and y.grad_fn._saved_width == 1
    assert gradcheck(functools.partial(retrograd._softbump, width=2), (x,))
    assert gradgradcheck(retrograd._softbump, (x,))
    assert gradcheck(lambda x: x.clone()._softbump_(3), (x,))


def test_forward_mode(x):
    direction = retrograd.ones_like(x)
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(retrograd._softbump(forward_ad.make_dual(x, direction), 2)).tangent
    assert_close(tangent, -x * bump(x, 2))


def test_vmap(x):
    """Without a loop over the samples: the op is called once."""
    seen = []

    def log(op, args, kwargs):
        seen.append(op.name)
        return op(*args, **kwargs)

    _C._push_op_handler(log)
    try:
        result = vmap(retrograd._softbump, in_dims=1)(x)
    finally:
        _C._pop_op_handler()
    assert seen.count(NAME) == 1
    assert_close(result, bump(x).t())
    assert_close(vmap(lambda row: row.clone()._softbump_(2))(x), bump(x, 2))


def test_selective_checkpoint(x):
    calls = []

    def function(x):
        return x.sin()._softbump(2).cos()

    def policy(ctx, op, *args, **kwargs):
        calls.append(op.name)
        return op.name == NAME

    x.requires_grad_()
    context = functools.partial(create_selective_checkpoint_contexts, policy)
    (kept,) = retrograd.autograd.grad(checkpoint(function, x, use_reentrant=False, context_fn=context).sum(), x)
    (plain,) = retrograd.autograd.grad(function(x).sum(), x)
    assert NAME in calls and retrograd.equal(kept, plain)


def test_meta(x):
    on_meta = x.to("meta").t()
    assert (y := retrograd._softbump(on_meta)).is_meta and y.shape == (4, 3) and y.stride() == retrograd._softbump(x.t()).stride()
    assert on_meta._softbump_() is on_meta


def test_facts():
    op = _C._find_op(NAME)
    assert op.elementwise and op.batching == ("elementwise",) and op.forward == "elementwise" and op.out == "castable" and not op.mutates
    assert [(p.name, p.type, p.default) for p in op.parameters] == [("self", "Tensor", None), ("width", "Scalar", 1)]
    assert _C._find_op("_softbump_").mutates == ("self",) and _C._find_op("_softbump.out").mutates == ("out",)


def test_documentation():
    assert "A bump of the given width" in retrograd._softbump.__doc__ and "A bump of the given width" in retrograd.Tensor._softbump.__doc__
    assert str(inspect.signature(retrograd._softbump)) == "(input, width=1, *, out=None)"


def test_stubs():
    files = opgen.generate()
    assert "    def _softbump(self, width: Number = 1) -> Tensor:" in files["_C.pyi"]
    assert "    def _softbump_(self, width: Number = 1) -> Self:" in files["_C.pyi"]
    assert "def _softbump(input: Tensor, width: Number = 1, *, out: Tensor | None = None) -> Tensor:" in files["_generated/native.pyi"]
    assert "_softbump as _softbump" in files["_generated/functions.pyi"]


def test_benchmark_row():
    run = [sys.executable, str(ROOT / "benchmarks/run.py"), "--ops", NAME, "--smoke", "--engines", "retrograd"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "op _softbump" in done.stdout and "ERROR" not in done.stdout


def test_it_is_tried_like_every_other():
    """The tests that loop over the table have it."""
    from tests.meta.test_facts import OPS
    from tests.ops.test_gradients import CHECKED, TWICE

    entry = next(e for e in optable.load() if e.name == NAME)
    assert entry in CHECKED and entry in TWICE and NAME in OPS


def test_an_entry_changes_the_files_of_its_family_alone():
    plain = opgen.generate()
    place = [o.name for o in optable.entries].index(NAME)
    entry = optable.entries.pop(place)
    try:
        files = opgen.generate()
    finally:
        optable.entries.insert(place, entry)
    changed = {name for name in plain if plain[name] != files.get(name)}
    stubs = {"_C.pyi", "_generated/native.pyi", "_generated/functions.pyi"}
    shared = stubs | {"ops.h", "pointwise_tables.h", "pointwise_rows.h", "kernels_rows.cpp", "_generated/python_ops.py"}
    assert all(name in shared or "pointwise" in name for name in changed), changed
    assert opgen.generate() == plain


@pytest.mark.parametrize(("document", "node"), [("CONTRIBUTING.md", "CubeBackward0"), ("optable/README.md", "TanhBackward0")])
def test_the_entries_that_documents_show(document, node):
    (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.M | re.S)
    before = list(optable.load())
    optable.entries[:] = [entry for entry in before if entry.name != "tanh"]  # which is shown in a shorter form
    try:
        exec(compile(code, document, "exec"), dict(vars(importlib.import_module("optable.pointwise"))))
        (made,) = [entry for entry in optable.entries if entry not in before]
        files = opgen.generate() if made.name == "cube" else {}
    finally:
        optable.entries[:] = before
    assert made.node == node and made.samples and made.variants == {"function", "method", "inplace", "out"}
    assert not files or any("struct CubeBackward0" in text for text in files.values())


def test_an_entry_that_is_wrong_is_refused():
    optable.load()
    with pytest.raises(ValueError, match="cannot read schema"):
        optable.op("nonsense", kernel=optable.native())
    with pytest.raises(ValueError, match="cannot read parameter 'Tensr self'"):
        optable.op("nonsense(Tensr self) -> Tensor", kernel=optable.native())
    with pytest.raises(ValueError, match="gradient for unknown argument 'other'"):
        optable.op("nonsense(Tensor self) -> Tensor", kernel=optable.native(), grad={"other": "grad"})
    with pytest.raises(ValueError, match="batching is missing"):
        optable.op("nonsense(Tensor self) -> Tensor", kernel=optable.native(), grad={"self": "grad"})
    with pytest.raises(ValueError, match="in the table twice"):
        optable.op("tanh(Tensor self) -> Tensor", kernel=optable.native())
