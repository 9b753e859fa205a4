"""One package under two names: after install_as_torch(), `torch` and `torch.x.y` are this package and its modules.

A module is loaded under our name, by our finder, which runs it as `torch.x.y`: its classes and functions then belong to `torch.x.y`
wherever that shows, in pickles, in `repr`, in `__module__`. Modules that were loaded before are renamed. `import torch.x.y` waits for that
and hands out the same module.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from retrograd import _C
from retrograd._missing import MissingModule, missing
from retrograd.torch_version import TorchVersion
from retrograd.version import pytorch

if TYPE_CHECKING:
    import importlib.metadata

_OURS, _THEIRS = "retrograd", "torch"

METADATA = f"""Metadata-Version: 2.1
Name: {_THEIRS}
Version: {pytorch}
Summary: Stands in for PyTorch: `import torch` gives retrograd
"""


def _is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def _theirs(name: str) -> str:
    return _THEIRS + name[len(_OURS) :] if _is_in(name, _OURS) else name


# -- finding and loading ----------------------------------------------------------


_specs: dict[str, importlib.machinery.ModuleSpec] = {}  # of our modules, by PyTorch's names


class _Loader(importlib.abc.Loader):
    """Runs a module of ours under PyTorch's name."""

    def __init__(self, spec: importlib.machinery.ModuleSpec) -> None:
        self._spec = _renamed_spec(spec)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__ = self._spec.name
        assert self._spec.loader is not None
        with _waited_for(name):
            sys.modules[name] = module
            try:
                self._spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
            _name_as_theirs(module, self._spec)


class _AliasLoader(importlib.abc.Loader):
    """Hands out, as `torch.x`, the module that `retrograd.x` is. Reloading leaves it as it is."""

    def __init__(self, ours: str) -> None:
        self._ours = ours

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(self._ours)

    def exec_module(self, module: ModuleType) -> None:
        _name_as_theirs(module, _specs[_theirs(self._ours)])  # the import system has just put the alias's in its place


@contextlib.contextmanager
def _waited_for(name: str) -> Iterator[None]:
    """While a module runs under our name, other threads that import it under PyTorch's wait: for this one, or for the one that does so already
    and waits for us."""
    lock = importlib._bootstrap._get_module_lock(name)  # type: ignore[attr-defined]
    ours = lock.owner in (None, threading.get_ident())
    if ours:
        try:
            lock.acquire()
        except RuntimeError:  # another thread was faster
            ours = False
    try:
        yield
    finally:
        if ours:
            lock.release()


def _renamed_spec(spec: importlib.machinery.ModuleSpec) -> importlib.machinery.ModuleSpec:
    """The same module, under PyTorch's name."""
    name = _theirs(spec.name)
    loader: Any = spec.loader
    if isinstance(loader, importlib.machinery.SourceFileLoader):
        loader = importlib.machinery.SourceFileLoader(name, loader.path)
    renamed = importlib.machinery.ModuleSpec(name, loader, origin=spec.origin, is_package=spec.submodule_search_locations is not None)
    renamed.submodule_search_locations = spec.submodule_search_locations
    renamed.has_location, renamed.cached = spec.has_location, spec.cached
    return renamed


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if _is_in(fullname, _OURS):
            spec = importlib.machinery.PathFinder.find_spec(fullname, path)
            if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = _Loader(spec)
            return spec
        if not _is_in(fullname, _THEIRS):
            return None
        ours = _OURS + fullname[len(_THEIRS) :]
        # A finder runs with the lock of all imports held: it must not import, as importlib.util.find_spec() does, or it waits for a thread that waits for it.
        loaded = sys.modules.get(ours)
        there = importlib.machinery.PathFinder.find_spec(ours, path) if loaded is None else loaded.__spec__
        if there is None:
            return None
        spec = importlib.machinery.ModuleSpec(
            fullname, _AliasLoader(ours), origin=there.origin, is_package=there.submodule_search_locations is not None
        )
        spec.submodule_search_locations = there.submodule_search_locations
        return spec

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """For importlib.metadata.version("torch")."""
        name = getattr(context, "name", None)
        return iter(()) if name is not None and name.lower() != _THEIRS else _distributions()


class _LastFinder(importlib.abc.MetaPathFinder):
    """Behind all others: what nobody has found, an import says with what is near. Who only asks whether there is one, as importlib.util.find_spec(), is told
    nothing."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if _is_in(fullname, _THEIRS) and sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
            raise MissingModule(fullname)


def _distributions() -> Iterator[importlib.metadata.Distribution]:
    import importlib.metadata
    import pathlib

    class Distribution(importlib.metadata.Distribution):
        def read_text(self, filename: str) -> str | None:
            return METADATA if filename == "METADATA" else None

        def locate_file(self, path: Any) -> pathlib.Path:
            return pathlib.Path(__file__).parent / path

    yield Distribution()


# -- renaming ---------------------------------------------------------------------


def _name_as_theirs(module: ModuleType, spec: importlib.machinery.ModuleSpec) -> None:
    name = spec.name
    _specs[name] = spec
    module.__name__, module.__spec__, module.__loader__, module.__package__ = name, spec, spec.loader, spec.parent

    def __getattr__(attribute: str) -> Any:
        raise missing(name, attribute)

    module.__dict__.setdefault("__getattr__", __getattr__)


_installing = threading.Lock()
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def _rename_members(module: ModuleType) -> None:
    for value in list(vars(module).values()):
        if isinstance(value, (type, FunctionType, BuiltinFunctionType, _C._Overridable)):
            home = getattr(value, "__module__", None)
            if isinstance(home, str) and _is_in(home, _OURS) and not (isinstance(value, type) and value.__flags__ & _IMMUTABLE):
                value.__module__ = _theirs(home)


def install_as_torch() -> None:
    """Makes every later `import torch` of this process, submodules included, give this package.

    The package is then called torch wherever it says its name, as classes do in `repr` and in pickles, and its version is PyTorch's.

    Raises:
        RuntimeError: if PyTorch is imported already.
    """
    with _installing:  # whoever asks second finds all done
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            _install()


def _install() -> None:
    if _THEIRS in sys.modules:
        raise RuntimeError("PyTorch is imported already; install_as_torch() has to come before the first `import torch`")
    sys.meta_path.insert(0, _Finder())
    sys.meta_path.append(_LastFinder())
    for name, module in list(sys.modules.items()):
        if _is_in(name, _OURS) and module is not None and module.__spec__ is not None:
            _name_as_theirs(module, _renamed_spec(module.__spec__))
            _rename_members(module)
            sys.modules[_theirs(name)] = module
    for named_result in tuple.__subclasses__():
        if named_result.__module__ == f"{_OURS}.return_types":
            named_result.__module__ = f"{_THEIRS}.return_types"
    package = sys.modules[_OURS]
    package.torch = package  # type: ignore[attr-defined]  # torch.torch.Tensor, as some write
    version = sys.modules[f"{_OURS}.version"]
    package.__version__ = version.__version__ = TorchVersion(f"{pytorch}+{_OURS}")  # type: ignore[attr-defined]
