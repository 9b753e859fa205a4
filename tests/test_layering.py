"""Dependencies point one way: kernels <- core <- autograd <- ops <- python <- retrograd, and kernels <- cpu. Read off #include and import lines."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CSRC, PACKAGE = ROOT / "csrc", ROOT / "src" / "retrograd"
GENERATED = {
    "ops.h": "ops",
    "complex_words.h": "ops",
    "pointwise_tables.h": "cpu",
    "pointwise_rows.h": "kernels",
    "bindings.h": "python",
    "param_kinds.h": "python",
    "boxed_arguments.h": "python",
}

MAY_INCLUDE = {
    "kernels": {"kernels"},
    "cpu": {"cpu", "kernels"},
    "core": {"core", "kernels"},
    "autograd": {"autograd", "core", "kernels"},
    "ops": {"ops", "autograd", "core", "kernels"},
    "python": {"python", "ops", "autograd", "core", "kernels"},
    "testing": {"testing", "python", "core", "cpu", "kernels"},
}
# Which files may include what from where their layer does not reach, and why.
EXCEPTIONS = {
    # Kernels are plain functions on memory, but what a dtype and a device are they must know.
    "kernels/": {"core/dtype.h", "core/device.h"},
    "cpu/": {"core/dtype.h", "core/device.h"},
    # Generated dispatch tests the handler stack; boxing arguments for a Python handler is python/'s.
    "ops/generated_support.h": {"python/intercept.h"},
    # Where the CPU is registered, and the settings that are its own: threads, level, the path of BLAS.
    "python/module.cpp": {"cpu/cpu.h", "cpu/blas.h", "testing/guarded.h"},
    "python/settings.cpp": {"cpu/isa.h", "cpu/parallel.h"},
}
PYTHON_FREE = ("kernels", "cpu")  # layers that never see <Python.h>


def sources(layer):
    return sorted(p for p in (CSRC / layer).rglob("*") if p.suffix in (".h", ".cpp"))


def includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("layer", MAY_INCLUDE)
def test_includes(layer):
    assert sources(layer), f"no sources in csrc/{layer}"
    wrong = []
    for path in sources(layer):
        for header in includes(path):
            home = "ops" if header.startswith("native_") else GENERATED.get(header, header.partition("/")[0])
            name = path.relative_to(CSRC).as_posix()
            excused = any(header in headers for where, headers in EXCEPTIONS.items() if name.startswith(where))
            if home not in MAY_INCLUDE[layer] and not excused:
                wrong.append(f"{path.relative_to(ROOT)} includes {header}")
    assert not wrong


@pytest.mark.parametrize("layer", PYTHON_FREE)
def test_kernels_know_nothing_of_python(layer):
    assert [str(p) for p in sources(layer) if "Python.h" in p.read_text() or "PyObject" in p.read_text()] == []


# Above the seam nobody touches elements (tests/devices shows it at run time). What is left: memory that is known to be the process's own.
TOUCHES = {
    "core/transfer.cpp",  # the way across
    "core/scalar.h",  # a number as an element
}


def test_elements_are_left_to_kernels():
    """`data<T>()` and the visitors of dtypes are what a loop over elements is made of."""
    loops = re.compile(r"\.data<\w+>\(\)\[|\*\w+\.data<|\bvisit_(dtype|all|floating|complex)\(")
    found = {
        path.relative_to(CSRC).as_posix()
        for layer in ("core", "autograd", "ops", "python")
        for path in sources(layer)
        if path.name != "dtype.h" and loops.search(path.read_text())
    }
    assert found <= TOUCHES


def test_every_layer_is_listed():
    assert {p.name for p in CSRC.iterdir() if p.is_dir()} - {"cuda"} == set(MAY_INCLUDE)


# ---- the Python package ----

CORE = (
    "_settings.py",
    "_info.py",
    "_memory.py",
    "_tensor.py",
    "_tensor_str.py",
    "_types.py",
    "overrides.py",
    "random.py",
    "autograd",
    "_ops",
)
ABOVE = ("nn", "optim", "func", "amp", "cuda", "profiler", "doctor", "compile", "distributed", "cli", "testing")


def imported_at_load(path):
    """Modules named by import statements outside functions."""
    tree, found = ast.parse(path.read_text()), []
    stack = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module] + [f"{node.module}.{alias.name}" for alias in node.names if node.module == "retrograd"]
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _type_checking(node):
            stack += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return found


def _type_checking(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def python_files(*names):
    paths = [PACKAGE / name for name in names]
    return [p for path in paths for p in ([path] if path.is_file() else sorted(path.rglob("*.py")))]


def test_the_package_needs_nothing_but_itself():
    """NumPy, tqdm, matplotlib, safetensors are imported where they are used, never when a module loads."""
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        for module in imported_at_load(path):
            top = module.partition(".")[0]
            if top != "retrograd" and top not in sys.stdlib_module_names:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_the_core_does_not_import_what_stands_on_it():
    wrong = []
    for path in python_files(*CORE):
        for module in imported_at_load(path):
            parts = module.split(".")
            if parts[0] == "retrograd" and len(parts) > 1 and parts[1] in ABOVE:
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert not wrong


def test_import_loads_little():
    """`import retrograd` leaves NumPy, torch and the parts above the core alone."""
    code = "import sys, retrograd; print(*sorted(sys.modules))"
    loaded = set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())
    heavy = {"numpy", "torch", "matplotlib", "tqdm", "asyncio", "unittest"} | {f"retrograd.{name}" for name in ABOVE}
    assert loaded & heavy == set()
