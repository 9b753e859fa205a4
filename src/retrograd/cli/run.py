"""Runs a PyTorch script on retrograd, unchanged.

    retrograd run train.py --epochs 3
    retrograd run -m package.module

The script's `import torch` gets retrograd; `torch.nn`, `torch.optim` and so on are retrograd's modules of those names.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import pathlib
import runpy
import sys
from collections.abc import Sequence
from types import ModuleType

_USAGE = "usage: retrograd run (script.py | -m module) [arguments]"


class _AliasLoader(importlib.abc.Loader):
    """Hands out a module that exists already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has just put the alias's in its place


class _TorchFinder(importlib.abc.MetaPathFinder):
    """Finds `torch.x.y` where `retrograd.x.y` is."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "torch" and not fullname.startswith("torch."):
            return None
        ours = "retrograd" + fullname[len("torch") :]
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name != ours:
                raise
            message = f"No module named {fullname!r}: it stands for {ours!r} here, which does not exist"
            raise ModuleNotFoundError(message, name=fullname) from None
        return importlib.machinery.ModuleSpec(fullname, _AliasLoader(module), is_package=hasattr(module, "__path__"))


def install_as_torch() -> None:
    """Makes every later `import torch` of this process, submodules included, give retrograd."""
    if any(isinstance(finder, _TorchFinder) for finder in sys.meta_path):
        return
    if "torch" in sys.modules:
        raise RuntimeError("PyTorch is imported already; install_as_torch() has to come before the first `import torch`")
    sys.meta_path.insert(0, _TorchFinder())


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{_USAGE}\n\n{__doc__}")
        return 0 if arguments else 2
    if arguments[0] == "-m" and len(arguments) > 1:
        install_as_torch()
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    script = pathlib.Path(arguments[0])
    if not script.exists():
        print(f"retrograd run: no file {arguments[0]!r}\n{_USAGE}", file=sys.stderr)
        return 2
    install_as_torch()
    sys.argv = arguments
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(str(script), run_name="__main__")
    return 0
