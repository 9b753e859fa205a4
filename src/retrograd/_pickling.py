"""Pickles with PyTorch's names and with storages apart: what files of save and load hold besides the bytes of tensors."""

from __future__ import annotations

import _compat_pickle
import importlib
import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

from retrograd import _C
from retrograd._C import Tensor
from retrograd._locations import location_tag
from retrograd._tensor import _rebuild_from_type_v2
from retrograd._utils import _rebuild_meta_tensor_no_storage, _rebuild_tensor_v2, _rebuild_tensor_v3
from retrograd.storage import _NAMES, StorageBase, UntypedStorage
from retrograd.utils.hooks import warn_if_has_hooks

# -- storages -----------------------------------------------------------------


class StorageType:
    """Stands for torch.FloatStorage and its like: the name a storage's dtype goes by inside a file."""

    def __init__(self, name: str, dtype: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "torch"
        self.dtype = dtype


_STORAGE_TYPES = {dtype: StorageType(name, dtype) for dtype, name in _NAMES.items()}
_UNTYPED = StorageType("UntypedStorage", _C.uint8)  # of the dtypes that have no class of storages: the tensor says which it is
_UNTYPED.__module__ = "torch.storage"


class Storage:
    """The whole memory behind a tensor, on its way into a file."""

    def __init__(self, tensor: Tensor, key: str) -> None:
        nbytes = tensor._storage_info()[1]
        self.key = key
        self.dtype = tensor.dtype
        self.location = location_tag(UntypedStorage._of(tensor))
        self.numel = nbytes // tensor.element_size()
        with _C.no_grad():
            self.flat = tensor.detach().as_subclass(Tensor).as_strided((self.numel,), (1,), 0)  # also keeps the memory alive
            if tensor.dtype not in _STORAGE_TYPES:
                self.numel, self.flat = nbytes, self.flat.view(_C.uint8)

    def raw(self) -> memoryview | bytes:
        if not self.numel:
            return b""
        return memoryview((self.flat if self.flat.dtype == _C.uint8 else self.flat.view(_C.uint8)).cpu())


class Storages:
    """Gives every storage that turns up while pickling a key; tensors on the same memory get the same one."""

    def __init__(self) -> None:
        self.by_key: dict[str, Storage] = {}
        self._by_address: dict[tuple[int, int], Storage] = {}

    def add(self, tensor: Tensor) -> Storage:
        address = tensor._storage_info()[:2]
        storage = self._by_address.get(address)
        if storage is None:
            key = str(len(self.by_key))
            storage = self.by_key[key] = Storage(tensor, key)
            if storage.numel:  # empty memory may have any address
                self._by_address[address] = storage
        elif storage.dtype != tensor.dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return storage


# -- tensors ------------------------------------------------------------------


def _reduce_tensor(tensor: Tensor, storages: Storages) -> tuple[Any, ...]:
    """What __reduce_ex__ would return, with the memory replaced by a reference to its storage."""
    warn_if_has_hooks(tensor)
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    rebuild: tuple[Any, tuple[Any, ...]]
    if tensor.is_meta:
        rebuild = (_rebuild_meta_tensor_no_storage, (tensor.dtype, size, stride, tensor.requires_grad))
    else:
        hooks: OrderedDict[int, Any] = OrderedDict()
        lazy = {name: True for name, on in (("conj", tensor.is_conj()), ("neg", tensor.is_neg())) if on}
        memory = tensor.detach().conj() if tensor.is_conj() else tensor
        memory = _C._internal_ops._neg_view(memory) if tensor.is_neg() else memory
        arguments = (storages.add(memory), tensor.storage_offset(), size, stride, tensor.requires_grad, hooks)
        if tensor.dtype in _STORAGE_TYPES:
            rebuild = (_rebuild_tensor_v2, (*arguments, lazy) if lazy else arguments)
        else:
            rebuild = (_rebuild_tensor_v3, (*arguments, tensor.dtype))
    state = tensor.__getstate__()
    if type(tensor) is Tensor and not state:
        return rebuild
    return (_rebuild_from_type_v2, (rebuild[0], type(tensor), rebuild[1], state))


# -- names --------------------------------------------------------------------

# Note [Names in files]
# Inside a file everything of ours goes by PyTorch's name: the package's own prefix becomes `torch`, and back again on
# loading. Modules, classes and functions sit where PyTorch has them, so that is all.
_STORAGE_NAMES = {t.__name__: t for t in _STORAGE_TYPES.values()}
_STORAGE_NAMES[_UNTYPED.__name__] = _UNTYPED


def storage_type_of(name: str) -> StorageType:
    """What picklers that cannot rename write in the place of a storage's type."""
    return _STORAGE_NAMES[name]


def _is_ours(module: str) -> bool:
    return module == "retrograd" or module.startswith("retrograd.")


def _name_in_file(module: str, name: str) -> tuple[str, str]:
    return ("torch" + module[len("retrograd") :], name) if _is_ours(module) else (module, name)


def _find(module: str, name: str) -> Any:
    """What a global name of a file stands for; None if the name is not ours."""
    if name in _STORAGE_NAMES and module in ("torch", "torch.cuda", "torch.storage"):
        return _STORAGE_NAMES[name]
    if module != "torch" and not module.startswith("torch."):
        return None
    module = "retrograd" + module[len("torch") :]
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ModuleNotFoundError, AttributeError) as error:
        there = "torch" + module[len("retrograd") :]
        raise UnknownName(f"the file refers to {there}.{name}, which retrograd does not have") from error
    return found


# -- pickling -----------------------------------------------------------------


class _Names:
    """The part of a pickler that writes PyTorch's names for what is ours. Goes before a Pickler written in Python."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None) or ""
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        if not isinstance(obj, StorageType) and (not _is_ours(module) or "." in name):
            return super().save_global(obj, name)  # type: ignore[misc]
        module, name = _name_in_file(module, name)
        if self.proto >= 4:  # type: ignore[attr-defined]
            self.save(module)  # type: ignore[attr-defined]
            self.save(name)  # type: ignore[attr-defined]
            self.write(pickle.STACK_GLOBAL)  # type: ignore[attr-defined]
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]
        return None


def source_of(kind: Any) -> tuple[str, str] | tuple[None, None]:
    """The file and the source of a class of the user's; nothing for a class of ours, which goes by its name, or where there is none."""
    import inspect

    if (getattr(kind, "__module__", None) or "").partition(".")[0] in ("retrograd", "torch"):  # by either name: _as_torch.py
        return None, None
    try:
        return inspect.getsourcefile(kind) or "", inspect.getsource(kind)
    except (OSError, TypeError):
        return None, None


def make_pickler(pickle_module: Any, file: Any, protocol: int, storages: Storages, legacy: bool = False) -> Any:
    base = getattr(pickle_module, "_Pickler", None) or pickle_module.Pickler
    from retrograd.nn.modules.module import Module

    renames = issubclass(base, pickle._Pickler)  # one that is written in C (cloudpickle's) keeps our own names, which we read too
    override = getattr(base, "reducer_override", None)  # cloudpickle has one
    sources: dict[Any, Any] = {}

    def module_id(kind: Any) -> Any:
        """Of a module's class, in the old format: the class with its source. Asked again while that is written, it goes by its name."""
        if kind in sources:
            return None
        sources[kind] = source_of(kind)
        return None if sources[kind][1] is None else ("module", kind, *sources[kind])

    class Pickler(*((_Names, base) if renames else (base,))):  # type: ignore[misc]
        if renames:
            dispatch: ClassVar[dict[Any, Any]] = dict(base.dispatch)
            dispatch[FunctionType] = _Names.save_global  # the base class's table names functions, not methods to look up

            def save_type(self, obj: Any) -> None:
                if _is_ours(obj.__module__ or ""):
                    self.save_global(obj)
                else:
                    base.dispatch[type](self, obj)

            dispatch[type] = save_type

        def persistent_id(self, obj: Any) -> Any:
            if legacy and isinstance(obj, type) and issubclass(obj, Module):
                return module_id(obj)
            if isinstance(obj, StorageBase):
                obj = storages.add(obj._whole())
            elif type(obj) is not Storage:
                return None
            raw = _STORAGE_TYPES[_C.uint8] if legacy else _UNTYPED  # PyTorch does not read untyped storages out of the old format
            pid = ("storage", _STORAGE_TYPES.get(obj.dtype, raw), obj.key, obj.location, obj.numel)
            return (*pid, None) if legacy else pid

        def reducer_override(self, obj: Any) -> Any:
            if type(obj) is StorageType:
                return obj.__name__ if renames else (storage_type_of, (obj.__name__,))
            if type(obj) is _C.layout:
                from retrograd.serialization import _get_layout

                return _get_layout, (str(obj),)
            if isinstance(obj, Tensor) and type(obj).__reduce_ex__ is Tensor.__reduce_ex__:
                return _reduce_tensor(obj, storages)
            return NotImplemented if override is None else override(self, obj)

    return Pickler(file, protocol=protocol)


# -- files that are not whole -----------------------------------------------------


class CorruptFileError(RuntimeError, pickle.UnpicklingError, EOFError):
    """A file that load() cannot read: cut off, altered, or never written by save(). What PyTorch raises there is one of the bases."""


def damaged(error: BaseException) -> CorruptFileError:
    """The one error for whatever a reader stumbles over in a damaged file."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return CorruptFileError(f"the file is damaged, or torch.save did not write it ({what}). Load another copy of it.")


class UnknownName(pickle.UnpicklingError):
    """A name in a file that stands for something of PyTorch's that is not here."""


class Refused(pickle.UnpicklingError):
    """Something in a file that weights_only=True does not allow."""


# -- unpickling what may not be trusted ------------------------------------------

_user_safe_globals: list[Any] = []


def _key_of(entry: Any) -> tuple[str, Any]:
    """The name in files, and the object, of what was given to add_safe_globals."""
    if isinstance(entry, tuple):
        obj, name = entry
        module, _, name = name.rpartition(".")
    else:
        obj, module, name = entry, entry.__module__, entry.__qualname__
    return ".".join(_name_in_file(module, name)), obj


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Lets load(weights_only=True) use these classes and functions; (object, "full.name") gives one the name it has in a file."""
    for entry in safe_globals:
        named = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[1], str)
        if not named and not (hasattr(entry, "__module__") and hasattr(entry, "__qualname__")):
            raise TypeError(f"add_safe_globals() takes classes and functions, and pairs (object, 'full.name'), got {entry!r}")
    _user_safe_globals.extend(entry for entry in safe_globals if entry not in _user_safe_globals)


def get_safe_globals() -> list[Any]:
    """What add_safe_globals() has added."""
    return list(_user_safe_globals)


def clear_safe_globals() -> None:
    """Forgets what add_safe_globals() has added."""
    _user_safe_globals.clear()


class safe_globals:
    """Context manager: add_safe_globals() for the length of a block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc_info: object) -> None:
        _user_safe_globals[:] = self.before


def _encode(text: str, encoding: str = "utf-8") -> bytes:
    """_codecs.encode, which old pickles use to write bytes, for the one encoding they need."""
    if encoding != "latin1":
        raise Refused(f"bytes in a pickle are text in latin1, got {encoding!r}")
    return text.encode(encoding)


# Names in files that stand for data or for functions that make data, and nothing else.
_ALLOWED_OTHERS: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "_codecs.encode": _encode,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
}
_NEVER = {"sys", "os", "posix", "nt"}  # modules that add_safe_globals() cannot allow
_ALLOWED_OURS = {
    "torch.Tensor",
    "torch.Size",
    "torch.device",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.Buffer",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_meta_tensor_no_storage",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_sparse_tensor",
    "torch.serialization._get_layout",
    "torch._tensor._rebuild_from_type_v2",
}


def modern(module: str, name: str) -> tuple[str, str]:
    """The name in Python 3 of what protocols up to 2 write as Python 2 called it."""
    return _compat_pickle.NAME_MAPPING.get((module, name), (_compat_pickle.IMPORT_MAPPING.get(module, module), name))


def find_safe(module: str, name: str) -> Any:
    module, name = modern(module, name)
    full = f"{module}.{name}"
    if module.partition(".")[0] in _NEVER:
        raise Refused(
            f"Trying to load unsupported GLOBAL {full} whose module {module} is blocked: nothing in it is data, and nothing can allow it."
        )
    for entry in _user_safe_globals:
        key, obj = _key_of(entry)
        if key == full:
            return obj
    if full in _ALLOWED_OTHERS:
        return _ALLOWED_OTHERS[full]
    if full in _ALLOWED_OURS or (name in _STORAGE_NAMES and module in ("torch", "torch.cuda", "torch.storage")):
        return _find(module, name)
    if module == "torch" and isinstance(getattr(_C, name, None), (_C.dtype, _C.memory_format, _C.layout)):
        return getattr(_C, name)
    raise Refused(
        f"Unsupported global: GLOBAL {full} was not an allowed global by default. If you trust it, allow it with "
        f"`torch.serialization.add_safe_globals([{name}])` or, for one block, `torch.serialization.safe_globals([{name}])`."
    )


class _SafeUnpickler(pickle._Unpickler):
    """Knows no names but the allowed ones, calls nothing but what they stand for, sets state on nothing but instances of them."""

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)
    stack: list[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._found: list[Any] = []

    def find_class(self, module: str, name: str) -> Any:
        found = find_safe(module, name)
        self._found.append(found)
        return found

    def _is_found(self, obj: Any) -> bool:
        return any(obj is f for f in self._found)

    def load_reduce(self) -> None:
        if not self._is_found(self.stack[-2]):
            raise Refused(f"the pickle calls {self.stack[-2]!r}, which is not one of its global names")
        function = self.stack[-2]
        pickle._Unpickler.load_reduce(self)  # type: ignore[attr-defined]
        if function is getattr:  # how nested classes are written up to protocol 3
            if not any(self.stack[-1] is _key_of(entry)[1] for entry in _user_safe_globals):
                raise Refused(f"the pickle takes {self.stack[-1]!r} out of another object, and add_safe_globals() does not allow it")
            self._found.append(self.stack[-1])

    def load_newobj(self) -> None:
        if not self._is_found(self.stack[-2]):
            raise Refused(f"the pickle makes an instance of {self.stack[-2]!r}, which is not one of its global names")
        pickle._Unpickler.load_newobj(self)  # type: ignore[attr-defined]

    def load_build(self) -> None:
        target = self.stack[-2]
        if self._is_found(target) or not (isinstance(target, Tensor) or self._is_found(type(target))):
            raise Refused(f"the pickle sets the state of {target!r}, which is not an instance of one of its global names")
        pickle._Unpickler.load_build(self)  # type: ignore[attr-defined]

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.BUILD[0]] = load_build

    def refuse(self) -> None:
        raise Refused("the pickle makes objects in a way that weights_only=True does not allow")

    for _opcode in (pickle.NEWOBJ_EX, pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.PERSID):
        dispatch[_opcode[0]] = refuse


class _Anything:
    """Stands for whatever a pickle makes: called, appended to or given state, it does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def _nothing(self, *args: Any, **kwargs: Any) -> _Anything:
        return self

    __call__ = append = extend = add = update = __setitem__ = __setstate__ = _nothing


class Skimmer(pickle._Unpickler):
    """Goes through a pickle for the names and the persistent ids in it, and makes nothing of what it says."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.names: list[tuple[str, str]] = []
        self.ids: list[Any] = []

    def find_class(self, module: str, name: str) -> Any:
        self.names.append((module, name))
        return _STORAGE_NAMES.get(name, _Anything) if module in ("torch", "torch.cuda", "torch.storage") else _Anything

    def persistent_load(self, pid: Any) -> Any:
        self.ids.append(pid)
        return _Anything  # a class, as it may stand for one


def unsafe_globals(file: Any, pickles: int) -> list[str]:
    """The names in as many pickles, one behind the other in a file, that weights_only=True refuses."""
    unsafe: list[str] = []
    for _ in range(pickles):
        reader = Skimmer(file)
        try:
            reader.load()
        except (pickle.UnpicklingError, EOFError, LookupError, ValueError, TypeError, AttributeError, MemoryError, struct.error) as error:
            raise damaged(error) from error
        for module, name in reader.names:
            full = ".".join(modern(module, name))
            try:
                find_safe(module, name)
            except pickle.UnpicklingError:
                if full not in unsafe:
                    unsafe.append(full)
    return unsafe


def make_unpickler(file: Any, persistent_load: Callable[[Any], Any], weights_only: bool, base: Any, arguments: dict[str, Any]) -> Any:
    if weights_only:
        unpickler = _SafeUnpickler(file, **arguments)
        unpickler.persistent_load = persistent_load  # type: ignore[method-assign, assignment]
        return unpickler

    class Unpickler(base):
        def find_class(self, module: str, name: str) -> Any:
            found = _find(module, name)
            return super().find_class(module, name) if found is None else found

    Unpickler.persistent_load = staticmethod(persistent_load)
    return Unpickler(file, **arguments)
