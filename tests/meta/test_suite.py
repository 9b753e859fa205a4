"""What tests/conftest.py promises about tests that need PyTorch: they are told apart before they run, and in one place."""

import ast
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent


def asks_for_torch(node):
    match node:
        case ast.Import(names=names):
            return any(alias.name.split(".")[0] == "torch" for alias in names)
        case ast.ImportFrom(module=str(module)):
            return module.split(".")[0] == "torch"
        case ast.Call(func=ast.Attribute(attr="importorskip"), args=[ast.Constant(value="torch"), *_]):
            return True
    return False


def asked_in_a_body(source):
    """Lines inside functions that import PyTorch or skip without it: whoever looks at the test from outside cannot know."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    return sorted({node.lineno for f in functions for node in ast.walk(f) if asks_for_torch(node)})


def test_no_test_asks_for_pytorch_in_its_body():
    found = {str(path.relative_to(TESTS)): lines for path in sorted(TESTS.rglob("*.py")) if (lines := asked_in_a_body(path.read_text()))}
    assert found == {}


def test_a_body_that_asks_is_found():
    source = "import torch\ntorch = pytest.importorskip('torch')\ndef test():\n    import retrograd as torch\n    "
    assert asked_in_a_body(source + "pass") == []
    for line in ("import torch", "import torch.nn", "from torch.nn import Linear", "torch = pytest.importorskip('torch')"):
        assert asked_in_a_body(source + line) == [5]


PROGRAM = """
import pytest, sys

class Show:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("test", item.originalname, item.path.parent.name, "needs_torch" in item.keywords)

sys.exit(pytest.main(["--collect-only", "-qq", "-n", "0", "-p", "no:cacheprovider", *sys.argv[1:]], [Show()]))
"""


def test_who_gets_the_mark():
    """All tests of a module that has PyTorch, all that take `oracle`, those of a parameter that has the mark; nobody else."""
    files = ["tests/optim/test_lr_scheduler.py", "tests/nn/test_serialization.py", "tests/compat/test_names_live.py"]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *files], cwd=TESTS.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    tests = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("test ")]
    kinds = {"test_live": {"True"}, "test_resume": {"True", "False"}, "test_exchange": {"True", "False"}, "test_stored": {"False"}}
    assert {name: {mark for test, _, mark in tests if test == name} for name in kinds} == kinds
    assert all(mark == "True" for _, folder, mark in tests if folder == "compat")
