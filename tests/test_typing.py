"""What tools see of the package: a type checker reads programs right and wrong, an editor completes, and both know the names there are at run time."""

from __future__ import annotations

import inspect
import os
import re
import runpy
import types
from pathlib import Path

import jedi
import mypy.build
import mypy.main
import mypy.nodes
import mypy.options
import mypy.types
import pytest

import retrograd

HERE = Path(__file__).parent / "typing"
SOURCE = Path(retrograd.__file__).parent.parent
NAMESPACES = [
    "retrograd", "retrograd.nn", "retrograd.nn.functional", "retrograd.nn.init", "retrograd.nn.utils", "retrograd.linalg", "retrograd.special",
    "retrograd.autograd", "retrograd.autograd.forward_ad", "retrograd.autograd.functional", "retrograd.func", "retrograd.optim",
    "retrograd.optim.lr_scheduler", "retrograd.testing", "retrograd.utils", "retrograd.utils.checkpoint", "retrograd.overrides",
    "retrograd.random", "retrograd.return_types", "retrograd.serialization", "retrograd.storage",
]  # fmt: skip
REVEALED = {
    "torch.ones(3) + 1": "Tensor",
    "1 - torch.ones(3)": "Tensor",
    "torch.ones(3) @ torch.ones(3)": "Tensor",
    "torch.ones(3) > 0": "Tensor",
    "torch.ones(3)[0]": "Tensor",
    "torch.ones(3).mul_(2)": "Tensor",
    "torch.max(torch.ones(3))": "Tensor",
    "torch.max(torch.ones(3), 0)": "tuple[Tensor, Tensor, fallback=max]",
    "torch.ones(3).sort().indices": "Tensor",
    "torch.linalg.svd(torch.ones(3, 3)).S": "Tensor",
    "torch.ones(3, 3).svd().V": "Tensor",
    "torch.ones(3).nonzero(as_tuple=True)": "tuple[Tensor, ...]",
    "torch.ones(4).split(2)": "tuple[Tensor, ...]",
    "torch.ones(3).shape": "Size",
    "torch.ones(3).shape[0]": "int",
    "torch.ones(3).size(0)": "int",
    "torch.ones(3).dtype": "dtype",
    "torch.ones(3).grad": "Tensor | None",
    "torch.equal(torch.ones(3), torch.ones(3))": "bool",
    "torch.nn.Parameter(torch.ones(3))": "Parameter",
    "torch.nn.Linear(2, 3).weight": "Tensor",
    "torch.nn.functional.gelu(torch.ones(3))": "Tensor",
    "torch.special.expit(torch.ones(3))": "Tensor",
    "torch.no_grad()(len)": "def (Sized) -> int",
    "torch.finfo(torch.float32).eps": "float",
    "torch.get_default_dtype()": "dtype",
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """One run of mypy over all programs: its result, and its messages as (file, line, kind, text)."""
    folder = tmp_path_factory.mktemp("mypy")
    reveal = folder / "reveal.py"
    reveal.write_text("import retrograd as torch\n\n" + "".join(f"reveal_type({text})\n" for text in REVEALED))
    names = folder / "names.py"
    names.write_text("".join(f"import {name}\n" for name in NAMESPACES))
    files = [str(HERE / "user_code.py"), str(HERE / "planted_errors.py"), str(reveal), str(names)]
    arguments = [
        "--strict",
        "--config-file=",
        "--follow-imports=silent",
        f"--cache-dir={folder / 'cache'}",
        "--explicit-package-bases",
        *files,
    ]
    old = os.environ.get("MYPYPATH")
    if SOURCE.name != "site-packages":  # an installed package mypy finds by itself
        os.environ["MYPYPATH"] = str(SOURCE)
    try:
        sources, options = mypy.main.process_options(arguments)
        options.preserve_asts = True
        messages: list[str] = []
        result = mypy.build.build(sources, options, flush_errors=lambda _file, new, _serious: messages.extend(new))
    finally:
        os.environ.pop("MYPYPATH", None) if old is None else os.environ.update(MYPYPATH=old)
    lines = [re.fullmatch(r"(.*?):(\d+): (error|note): (.*)", line) for line in messages]
    return result, [(Path(m[1]).name, int(m[2]), m[3], m[4]) for m in lines if m]


# ---- a type checker ----


def test_typical_programs_have_no_errors(checked):
    assert [message for message in checked[1] if message[0] == "user_code.py"] == []


def test_typical_programs_run():
    runpy.run_path(str(HERE / "user_code.py"), run_name="__main__")


def test_planted_errors_are_found_and_nothing_else(checked):
    lines = (HERE / "planted_errors.py").read_text().splitlines()
    planted = {i: m[1] for i, line in enumerate(lines, 1) if (m := re.search(r"# error: ([\w-]+)$", line))}
    found: dict[int, set[str]] = {}
    for file, line, kind, text in checked[1]:
        if file == "planted_errors.py" and kind == "error":
            found.setdefault(line, set()).add(re.search(r"\[([\w-]+)\]$", text)[1])
    assert found.keys() == planted.keys()
    assert {line: code for line, code in planted.items() if code not in found[line]} == {}


def test_types_of_expressions(checked):
    found = [text for file, _, _, text in checked[1] if file == "reveal.py"]
    shown = [re.sub(r"(\w+\.)+", "", re.fullmatch(r'Revealed type is "(.*)"', text)[1]) for text in found]
    assert dict(zip(REVEALED, shown, strict=True)) == REVEALED


# ---- names ----


def public(names):
    return {name for name in names if not name.startswith("_")}


def ours(module, name):
    """Whether a name is offered by a namespace, rather than something it imported for itself."""
    value = getattr(module, name)
    if isinstance(value, types.ModuleType):
        return value.__name__ == f"{module.__name__}.{name}"
    return name in module.__all__ if hasattr(module, "__all__") else value.__module__.startswith("retrograd")


def runtime_names(module):
    return {name for name in public(dir(module)) if ours(module, name)}


@pytest.mark.parametrize("name", NAMESPACES)
def test_tools_see_the_names_there_are(checked, name):
    module = __import__(name, fromlist=["x"])
    seen = {n for n, node in checked[0].files[name].names.items() if node.module_public or n in getattr(module, "__all__", ())}
    there = runtime_names(module)
    submodules = {n for n in there if isinstance(getattr(module, n), types.ModuleType)}  # seen when a program imports them
    assert there - public(seen) - submodules == set()
    assert {n for n in public(seen) if not hasattr(module, n)} == set()


def test_tools_see_the_members_of_tensor(checked):
    known = checked[0].files["retrograd._C"].names["Tensor"].node
    seen = set(known.names)
    there = {name for name in dir(retrograd.Tensor) if not hasattr(object, name)}
    ignored = {"__array_priority__", "__dict__", "__weakref__", "__slotnames__", "__buffer__", "__bool__"}
    ignored |= {"__div__", "__rdiv__", "__idiv__", "__long__", "__nonzero__"}  # operators of Python 2
    ignored |= {
        n for n in there if (getattr(retrograd.Tensor, n).__doc__ or "").startswith("Removed: ")
    }  # a call is an error, also to tools
    assert there - seen - ignored == set()
    assert seen - set(dir(retrograd.Tensor)) - ignored == set()


def signatures(kind):
    """The names of the arguments of each overload; None for those that have no name to a caller."""
    kind = mypy.types.get_proper_type(kind)
    return [item.arg_names for item in kind.items] if isinstance(kind, mypy.types.FunctionLike) else []


def agree(runtime, overloads):
    return any(len(runtime) == len(o) and all(b in (None, a) for a, b in zip(runtime, o, strict=True)) for o in overloads)


def type_of(node):
    return getattr(node.node, "type", None)


@pytest.mark.parametrize("name", ["retrograd", "retrograd.nn.functional", "retrograd.linalg", "retrograd.special", "retrograd.func"])
def test_signatures_agree_with_the_stubs(checked, name):
    module, names = __import__(name, fromlist=["x"]), checked[0].files[name].names
    wrong, compared = [], 0
    for n in public(dir(module)):
        value = getattr(module, n)
        overloads = signatures(type_of(names[n])) if n in names and callable(value) and not isinstance(value, type) else []
        if overloads:
            compared += 1
            runtime = list(inspect.signature(value).parameters)
            if not agree(runtime, overloads) and not agree(["input", *runtime[1:]], overloads):  # torch.relu_ is a method
                wrong.append((n, runtime, overloads))
    assert not wrong
    assert compared > 0.9 * sum(isinstance(getattr(module, n), types.FunctionType | types.BuiltinFunctionType) for n in public(dir(module)))


def test_signatures_of_methods_agree_with_the_stub(checked):
    known = checked[0].files["retrograd._C"].names["Tensor"].node
    wrong, compared = [], 0
    for n in public(dir(retrograd.Tensor)):
        value = inspect.getattr_static(retrograd.Tensor, n)
        overloads = signatures(type_of(known.names[n])) if callable(value) and n in known.names else []
        if overloads:
            compared += 1
            runtime = ["self", *list(inspect.signature(value).parameters)[1:]]
            if not agree(runtime, overloads):
                wrong.append((n, runtime, overloads))
    assert not wrong
    assert compared > 500


@pytest.mark.parametrize("name", NAMESPACES)
def test_everything_in_dir_is_there(name):
    module = __import__(name, fromlist=["x"])
    assert [n for n in dir(module) if not hasattr(module, n)] == []
    assert not {"annotations", "importlib", "TYPE_CHECKING", "Any"} & set(dir(module)) or name not in (
        "retrograd",
        "retrograd.nn.functional",
    )


def test_everything_in_dir_of_a_tensor_is_there():
    x = retrograd.ones(2, 2, dtype=retrograd.complex64)
    assert [name for name in dir(x) if not hasattr(x, name)] == []


def test_star_import_gives_functions_and_no_modules():
    namespace: dict = {}
    exec("from retrograd import *", namespace)
    assert namespace["tanh"] is retrograd.tanh and namespace["Tensor"] is retrograd.Tensor and namespace["float32"] is retrograd.float32
    assert {"vmap", "save", "load", "finfo", "no_grad", "relu_", "isclose", "inf", "FloatTensor"} <= namespace.keys()
    assert [n for n, v in namespace.items() if isinstance(v, types.ModuleType)] == []
    assert [n for n in namespace if n.startswith("_") and n != "__builtins__"] == []


# ---- an editor ----

PROGRAM = """\
import retrograd as torch
import retrograd.nn.functional as F
from retrograd import nn

x = torch.ones(3)
y = x.tanh() + 1
"""


@pytest.fixture(scope="module")
def project():
    return jedi.Project(SOURCE, sys_path=[str(SOURCE)])


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("torch.tan", ["tan", "tan_", "tanh", "tanh_"]),
        ("torch.lins", ["linspace"]),
        ("torch.float3", ["float32"]),
        ("torch.fin", ["finfo"]),
        ("torch.linalg.eig", ["eig", "eigh", "eigvals", "eigvalsh"]),
        ("torch.special.exp", ["exp2", "expit", "expm1"]),
        ("torch.func.vm", ["vmap"]),
        ("x.cumm", ["cummax", "cummin"]),
        ("x.requires_g", ["requires_grad", "requires_grad_"]),
        ("y.sum().me", ["mean", "median"]),
        ("x.register_p", ["register_post_accumulate_grad_hook"]),
        ("torch.max(x, 0).val", ["values"]),
        ("F.cross_", ["cross_entropy"]),
        ("nn.Lin", ["Linear", "LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]),
        ("nn.Linear(2, 3).in_", ["in_features"]),
        ("torch.no_such", []),
    ],
)
def test_completion(project, typed, expected):
    code = PROGRAM + typed
    found = jedi.Script(code, project=project).complete(code.count("\n") + 1, len(typed))
    assert sorted(c.name for c in found) == expected


def test_signature_help(project):
    code = PROGRAM + "torch.tanh("
    (shown,) = jedi.Script(code, project=project).get_signatures()
    assert shown.to_string() == "tanh(input: Tensor, *, out: Tensor | None=None) -> Tensor"
    assert "Hyperbolic tangent of each element." in shown.docstring()
