"""save and load, in PyTorch's file formats: what either library writes, the other reads.

A file is a zip archive whose members are stored, not compressed, and start at multiples of 64 bytes:

    <name>/data.pkl      the object, pickled; each storage in it is a persistent id ("storage", type, key, location, numel)
    <name>/data/<key>    the bytes of a storage
    <name>/byteorder, <name>/version, ...

Global names inside the pickle are PyTorch's (`torch._utils._rebuild_tensor_v2`), whichever library wrote it; see Note [Names in files].
The format before that, several pickles in a row, is read and written too.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import mmap as _mmap
import os
import pickle
import struct
import sys
import warnings
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

from retrograd import _C
from retrograd._C import Tensor

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
_ALIGNMENT = 64
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001

# -- storages -----------------------------------------------------------------


class _StorageType:
    """Stands for torch.FloatStorage and its like: the name a storage's dtype goes by inside a file."""

    def __init__(self, name: str, dtype: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "torch"
        self.dtype = dtype


_STORAGE_TYPES = {
    dtype: _StorageType(name, dtype)
    for name, dtype in {
        "BoolStorage": _C.bool, "ByteStorage": _C.uint8, "CharStorage": _C.int8, "ShortStorage": _C.int16, "IntStorage": _C.int32,
        "LongStorage": _C.int64, "HalfStorage": _C.float16, "BFloat16Storage": _C.bfloat16, "FloatStorage": _C.float32, "DoubleStorage": _C.float64,
    }.items()
}  # fmt: skip


class _Storage:
    """The whole memory behind a tensor, on its way into a file."""

    def __init__(self, tensor: Tensor) -> None:
        nbytes = tensor._storage_info()[1]
        self.dtype = tensor.dtype
        self.location = str(tensor.device)
        self.numel = nbytes // tensor.element_size()
        with _C._NoGrad():
            self.flat = tensor.detach().as_subclass(Tensor).as_strided((self.numel,), (1,), 0)  # also keeps the memory alive

    def raw(self) -> memoryview | bytes:
        if not self.numel:
            return b""
        return memoryview(self.flat if self.flat.dtype == _C.uint8 else self.flat.view(_C.uint8))


class _Storages:
    """Gives every storage that turns up while pickling a key; tensors on the same memory get the same one."""

    def __init__(self) -> None:
        self.by_key: dict[str, _Storage] = {}
        self._by_address: dict[tuple[int, int], tuple[str, _Storage]] = {}

    def add(self, tensor: Tensor) -> _Storage:
        address, nbytes = tensor._storage_info()[:2]
        found = self._by_address.get((address, nbytes)) if nbytes else None
        if found is not None:
            if found[1].dtype != tensor.dtype:
                raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
            return found[1]
        storage = _Storage(tensor)
        key = str(len(self.by_key))
        self.by_key[key] = storage
        self._by_address[(address, nbytes) if nbytes else (-len(self.by_key), 0)] = (key, storage)
        storage.key = key  # type: ignore[attr-defined]
        return storage

    def persistent_id(self, storage: _Storage) -> tuple[Any, ...]:
        return ("storage", _STORAGE_TYPES[storage.dtype], storage.key, storage.location, storage.numel)  # type: ignore[attr-defined]


# -- rebuilding ---------------------------------------------------------------


def _rebuild_tensor(flat: Tensor, storage_offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    if flat.is_meta:
        return _C._ops.empty_strided(tuple(size), tuple(stride), dtype=flat.dtype, device="meta")
    return _C._ops.empty((0,), dtype=flat.dtype).set_(flat, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Tensor, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, metadata: Any = None
) -> Tensor:
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_tensor_v3(
    storage: Tensor, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, dtype: Any, metadata: Any = None
) -> Tensor:
    """Of files that keep storages as plain bytes and the dtype with the tensor."""
    return _rebuild_tensor_v2(storage.view(dtype), storage_offset, size, stride, requires_grad, backward_hooks)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    tensor = _C._ops.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_from_type_v2(function: Callable[..., Any], cls: type, args: tuple[Any, ...], state: Any) -> Tensor:
    """A tensor of a subclass, or one with attributes."""
    tensor = function(*args)
    if type(tensor) is not cls:
        tensor = tensor.as_subclass(cls)
    own = getattr(type(tensor), "__setstate__", None)
    if own is not None:
        tensor.__setstate__(state)
    elif state:
        attributes, slots = state if isinstance(state, tuple) else (state, None)
        tensor.__dict__.update(attributes or {})
        for name, value in (slots or {}).items():
            setattr(tensor, name, value)
    return tensor


def _reduce_tensor(tensor: Tensor, storages: _Storages) -> tuple[Any, ...]:
    """What __reduce_ex__ would return, with the memory replaced by a reference to its storage."""
    if tensor._backward_hooks:
        warnings.warn(f"backward hook {next(iter(tensor._backward_hooks.values()))!r} on tensor will not be serialized. Remove it first if that is expected.", stacklevel=6)  # fmt: skip
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    rebuild: tuple[Any, tuple[Any, ...]]
    if tensor.is_meta:
        rebuild = (_rebuild_meta_tensor_no_storage, (tensor.dtype, size, stride, tensor.requires_grad))
    else:
        args = (storages.add(tensor), tensor.storage_offset(), size, stride, tensor.requires_grad, OrderedDict())
        rebuild = (_rebuild_tensor_v2, args)
    state = tensor.__dict__
    if type(tensor) is Tensor and not state:
        return rebuild
    return (_rebuild_from_type_v2, (rebuild[0], type(tensor), rebuild[1], dict(state) or None))


# -- names --------------------------------------------------------------------

# Note [Names in files]
# Inside a file everything of ours goes by PyTorch's name: the package's own prefix becomes `torch`, and back again on
# loading. Modules and classes sit where PyTorch has them, so that is all, but for the functions listed here.
_MOVED = {
    ("retrograd.serialization", "_rebuild_tensor_v2"): ("torch._utils", "_rebuild_tensor_v2"),
    ("retrograd.serialization", "_rebuild_tensor_v3"): ("torch._utils", "_rebuild_tensor_v3"),
    ("retrograd.serialization", "_rebuild_meta_tensor_no_storage"): ("torch._utils", "_rebuild_meta_tensor_no_storage"),
    ("retrograd.serialization", "_rebuild_from_type_v2"): ("torch._tensor", "_rebuild_from_type_v2"),
    ("retrograd.nn.parameter", "_rebuild_parameter"): ("torch._utils", "_rebuild_parameter"),
    ("retrograd.nn.parameter", "_rebuild_parameter_with_state"): ("torch._utils", "_rebuild_parameter_with_state"),
}
_MOVED_BACK = {there: here for here, there in _MOVED.items()}
_STORAGE_NAMES = {t.__name__: t for t in _STORAGE_TYPES.values()}
_STORAGE_NAMES["UntypedStorage"] = _StorageType("UntypedStorage", _C.uint8)


def _is_ours(module: str) -> bool:
    return module == "retrograd" or module.startswith("retrograd.")


def _name_in_file(module: str, name: str) -> tuple[str, str]:
    if (module, name) in _MOVED:
        return _MOVED[module, name]
    return ("torch" + module[len("retrograd") :], name) if _is_ours(module) else (module, name)


def _find(module: str, name: str) -> Any:
    """What a global name of a file stands for; None if the name is not ours."""
    if name in _STORAGE_NAMES and module in ("torch", "torch.cuda", "torch.storage"):
        return _STORAGE_NAMES[name]
    if module != "torch" and not module.startswith("torch."):
        return None
    module, name = _MOVED_BACK.get((module, name), ("retrograd" + module[len("torch") :], name))
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ModuleNotFoundError, AttributeError) as error:
        there = "torch" + module[len("retrograd") :]
        raise pickle.UnpicklingError(f"the file refers to {there}.{name}, which retrograd does not have") from error
    return found


# -- pickling -----------------------------------------------------------------


class _Names:
    """The part of a pickler that writes PyTorch's names for what is ours. Goes before a Pickler written in Python."""

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None) or ""
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        if isinstance(obj, _StorageType):
            module = "torch"
        elif not _is_ours(module) or "." in name:
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


def _make_pickler(pickle_module: Any, file: Any, protocol: int, storages: _Storages, legacy: bool = False) -> Any:
    base = getattr(pickle_module, "_Pickler", None) or pickle_module.Pickler

    class Pickler(_Names, base):  # type: ignore[misc, valid-type]
        dispatch = dict(base.dispatch)
        dispatch[FunctionType] = _Names.save_global  # the base class's table names functions, not methods to look up

        def save_type(self, obj: Any) -> None:
            if _is_ours(obj.__module__ or ""):
                self.save_global(obj)
            else:
                base.dispatch[type](self, obj)

        dispatch[type] = save_type

        def persistent_id(self, obj: Any) -> Any:
            if type(obj) is not _Storage:
                return None
            pid = storages.persistent_id(obj)
            return (*pid, None) if legacy else pid

        def reducer_override(self, obj: Any) -> Any:
            if type(obj) is _StorageType:
                return obj.__name__
            if isinstance(obj, Tensor) and type(obj).__reduce_ex__ is Tensor.__reduce_ex__:
                return _reduce_tensor(obj, storages)
            return NotImplemented

    return Pickler(file, protocol=protocol)


# -- save ---------------------------------------------------------------------


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Writes an object to a file that load, here or in PyTorch, reads back.

    Tensors that share memory still do after loading. History is not saved: what was computed comes back as a leaf.

    Args:
        f: a path, or an object with write().
        pickle_module: what pickles everything that is not a tensor.

    Example:
        >>> import retrograd as torch, io
        >>> file = io.BytesIO()
        >>> torch.save({"w": torch.ones(2), "epoch": 3}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'w': tensor([1., 1.]), 'epoch': 3}
    """
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if is_path and not os.path.isdir(os.path.dirname(os.path.abspath(f))):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(f))} does not exist.")
    name = (os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive") if is_path else "archive"
    # Pickled before the file is opened: an object that cannot be pickled leaves an existing file as it was.
    storages, pickled = _Storages(), io.BytesIO()
    _make_pickler(pickle_module, pickled, pickle_protocol, storages, not _use_new_zipfile_serialization).dump(obj)
    with open(f, "wb") if is_path else contextlib.nullcontext(f) as file:
        if _use_new_zipfile_serialization:
            _write_zip(file, name, pickled.getbuffer(), storages, not _disable_byteorder_record)
        else:
            _write_legacy(file, pickled.getbuffer(), storages, pickle_protocol)


def _write_zip(file: Any, name: str, pickled: memoryview, storages: _Storages, byteorder: bool) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def write(member: str, data: Any) -> None:
            info = zipfile.ZipInfo(f"{name}/{member}")
            info.file_size = len(data)
            info.extra = _padding(archive.fp.tell(), info)  # type: ignore[union-attr]
            with archive.open(info, "w") as out:
                out.write(data)

        write("data.pkl", pickled)
        write(".format_version", b"1")
        write(".storage_alignment", str(_ALIGNMENT).encode())
        if byteorder:
            write("byteorder", sys.byteorder.encode())
        for key, storage in storages.by_key.items():
            write(f"data/{key}", storage.raw())
        write("version", b"3\n")


def _padding(offset: int, info: zipfile.ZipInfo) -> bytes:
    """An extra field that makes the data of the member written at `offset` start at a multiple of 64 bytes."""
    before = offset + 30 + len(info.filename.encode())
    if info.file_size * 1.05 > zipfile.ZIP64_LIMIT:
        before += 20  # zipfile will add sizes of 64 bits
    needed = -before % _ALIGNMENT
    if 0 < needed < 4:
        needed += _ALIGNMENT  # a field has a header of four bytes
    return struct.pack("<2sH", b"FB", needed - 4) + b"Z" * (needed - 4) if needed else b""


def _write_legacy(file: Any, pickled: memoryview, storages: _Storages, protocol: int) -> None:
    system = {"protocol_version": _LEGACY_PROTOCOL, "little_endian": sys.byteorder == "little", "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for part in (_LEGACY_MAGIC, _LEGACY_PROTOCOL, system):
        pickle.dump(part, file, protocol=protocol)
    file.write(pickled)
    pickle.dump(list(storages.by_key), file, protocol=protocol)
    for storage in storages.by_key.values():
        file.write(struct.pack("=q", storage.numel))
        file.write(storage.raw())


# -- what may be loaded without trust -----------------------------------------

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
    _user_safe_globals.extend(entry for entry in safe_globals if entry not in _user_safe_globals)


def get_safe_globals() -> list[Any]:
    """What add_safe_globals() has added."""
    return list(_user_safe_globals)


def clear_safe_globals() -> None:
    """Forgets what add_safe_globals() has added."""
    _user_safe_globals.clear()


class safe_globals:  # noqa: N801
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
        raise pickle.UnpicklingError(f"bytes in a pickle are text in latin1, got {encoding!r}")
    return text.encode(encoding)


# Names in files that stand for data or for functions that make data, and nothing else.
_ALLOWED_OTHERS: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "_codecs.encode": _encode,
    "builtins.bytearray": bytearray,
    "builtins.set": set,
    "builtins.complex": complex,
    "__builtin__.bytearray": bytearray,
    "__builtin__.set": set,
    "__builtin__.complex": complex,
}
_ALLOWED_OURS = {
    "torch.Tensor", "torch.Size", "torch.device", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer", "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3", "torch._utils._rebuild_meta_tensor_no_storage", "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state", "torch._tensor._rebuild_from_type_v2",
}  # fmt: skip


def _find_safe(module: str, name: str) -> Any:
    full = f"{module}.{name}"
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
    raise pickle.UnpicklingError(
        f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust this class/function."
    )


class _SafeUnpickler(pickle._Unpickler):  # type: ignore[name-defined, misc]
    """Knows no names but the allowed ones, calls nothing but what they stand for, sets state on nothing but instances of them."""

    dispatch = dict(pickle._Unpickler.dispatch)  # type: ignore[attr-defined]
    for _opcode in (pickle.EXT1, pickle.EXT2, pickle.EXT4, pickle.INST, pickle.OBJ, pickle.PERSID):
        dispatch.pop(_opcode[0])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._found: list[Any] = []

    def find_class(self, module: str, name: str) -> Any:
        found = _find_safe(module, name)
        self._found.append(found)
        return found

    def _is_found(self, obj: Any) -> bool:
        return any(obj is f for f in self._found)

    def load_reduce(self) -> None:
        if not self._is_found(self.stack[-2]):
            raise pickle.UnpicklingError(f"the pickle calls {self.stack[-2]!r}, which is not one of its global names")
        pickle._Unpickler.load_reduce(self)  # type: ignore[attr-defined]

    def load_newobj(self) -> None:
        if not self._is_found(self.stack[-2]):
            raise pickle.UnpicklingError(f"the pickle makes an instance of {self.stack[-2]!r}, which is not one of its global names")
        pickle._Unpickler.load_newobj(self)  # type: ignore[attr-defined]

    def load_build(self) -> None:
        target = self.stack[-2]
        if self._is_found(target) or not (isinstance(target, Tensor) or self._is_found(type(target))):
            raise pickle.UnpicklingError(f"the pickle sets the state of {target!r}, which is not an instance of one of its global names")
        pickle._Unpickler.load_build(self)  # type: ignore[attr-defined]

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = lambda self: self._refuse("keyword arguments")
    dispatch[pickle.BUILD[0]] = load_build

    def _refuse(self, what: str) -> None:
        raise pickle.UnpicklingError(f"the pickle makes an object with {what}, which weights_only=True does not allow")


def _make_unpickler(file: Any, persistent_load: Callable[[Any], Any], weights_only: bool, pickle_module: Any, arguments: dict[str, Any]) -> Any:
    if weights_only:
        unpickler = _SafeUnpickler(file, **arguments)
        unpickler.persistent_load = persistent_load
        return unpickler

    class Unpickler(pickle_module.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            found = _find(module, name)
            return super().find_class(module, name) if found is None else found

    Unpickler.persistent_load = staticmethod(persistent_load)  # type: ignore[attr-defined]
    return Unpickler(file, **arguments)


# -- devices ------------------------------------------------------------------


def _default_location(flat: Tensor, location: str) -> Tensor:
    if location == "cpu" or location.startswith("cpu:"):
        return flat
    if location == "meta":
        return flat.to("meta")
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, "
            "please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    raise RuntimeError(f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})")


def _make_restore(map_location: Any) -> Callable[[Tensor, str], Tensor]:
    """The function (flat tensor, location in the file) -> flat tensor that map_location asks for."""
    if map_location is None:
        return _default_location
    if isinstance(map_location, dict):
        return lambda flat, location: _default_location(flat, map_location.get(location, location))
    if isinstance(map_location, (str, bytes)):
        name = map_location.decode() if isinstance(map_location, bytes) else map_location
        return lambda flat, location: _default_location(flat, name)
    if isinstance(map_location, _C.device):
        return lambda flat, location: _default_location(flat, str(map_location))

    def restore(flat: Tensor, location: str) -> Tensor:
        result = map_location(flat, location)
        return _default_location(flat, location) if result is None else result

    return restore


# -- load ---------------------------------------------------------------------


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None, mmap: bool | None = None, **pickle_load_args: Any) -> Any:
    """Reads what save, here or in PyTorch, has written.

    Args:
        f: a path, or a file object that can seek.
        map_location: where storages go: a device, its name, a dict from names to names, or a function (storage, location) -> storage.
        weights_only: allow tensors and plain data only, and what add_safe_globals() names. False runs whatever code the file asks
            for: use it on files you trust. Default: True.
        mmap: leave storages in the file, mapped copy-on-write, until they are touched. Needs a path.
    """
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not isinstance(f, (str, os.PathLike)):
        _check_file(f)
    context = (_make_restore(map_location), weights_only, pickle_module or pickle, pickle_load_args)
    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else contextlib.nullcontext(f) as file:
        start = file.tell()
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        if mmap and not is_zip:
            raise RuntimeError("mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in order to use mmap.")  # fmt: skip
        try:
            return _read_zip(file, bool(mmap), *context) if is_zip else _read_legacy(file, *context)
        except pickle.UnpicklingError as error:
            raise _explained(error) if weights_only else error from None


def _check_file(file: Any) -> None:
    for name in ("read", "seek", "tell"):
        if not hasattr(file, name):
            raise AttributeError(
                f"{type(file).__name__!r} object has no attribute {name!r}. You can only torch.load from a file that is seekable. "
                "Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
            )


def _explained(error: pickle.UnpicklingError) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        "Weights only load failed. In PyTorch 2.6, the default value of the `weights_only` argument in `torch.load` became `True`, here too. "
        "Pass `weights_only=False` if you trust the source of the file: it runs whatever code the file asks for.\n"
        f"WeightsUnpickler error: {error}"
    )


class _Archive:
    """A zip file of save's, by the names of its members without their common prefix."""

    def __init__(self, file: Any) -> None:
        try:
            self.zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
        names = self.zip.namelist()
        if not names:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: it has no members")
        self.prefix = names[0].split("/", 1)[0] + "/"

    def info(self, name: str) -> zipfile.ZipInfo:
        try:
            return self.zip.getinfo(self.prefix + name)
        except KeyError:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found") from None

    def read(self, name: str) -> bytes:
        return self.zip.read(self.info(name))

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.zip.NameToInfo

    def start_of(self, info: zipfile.ZipInfo) -> int:
        """Where in the file the data of a stored member starts."""
        file = self.zip.fp
        file.seek(info.header_offset)  # type: ignore[union-attr]
        header = file.read(30)  # type: ignore[union-attr]
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        return info.header_offset + 30 + name_length + extra_length

    def read_into(self, name: str, target: memoryview) -> None:
        info = self.info(name)
        if info.file_size != len(target):
            raise RuntimeError(f"storage {name} of the file has {info.file_size} bytes, {len(target)} are expected")
        with self.zip.open(info) as member:
            position = 0
            while position < len(target):
                count = member.readinto(target[position : position + (1 << 24)])
                if not count:
                    raise RuntimeError(f"the file ends in the middle of storage {name}")
                position += count


def _read_zip(file: Any, use_mmap: bool, restore: Any, weights_only: bool, pickle_module: Any, arguments: dict[str, Any]) -> Any:
    archive = _Archive(file)
    if "constants.pkl" in archive:
        raise RuntimeError("the file is a TorchScript archive: torch.jit.load reads those, and retrograd has no TorchScript")
    swapped = "byteorder" in archive and archive.read("byteorder").decode() != sys.byteorder
    mapped = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY) if use_mmap else None
    loaded: dict[str, Tensor] = {}

    def storage(key: str, dtype: Any, numel: int, location: str) -> Tensor:
        nbytes = numel * dtype.itemsize
        if mapped is not None and nbytes:
            start = archive.start_of(archive.info(f"data/{key}"))
            raw = _C._from_buffer(memoryview(mapped)[start : start + nbytes])[0]
        else:
            raw = _C._ops.empty((nbytes,), dtype=_C.uint8)
            if nbytes:
                archive.read_into(f"data/{key}", memoryview(raw))
        flat = raw if dtype == _C.uint8 else raw.view(dtype)
        return restore(_byteswapped(flat) if swapped and dtype.itemsize > 1 else flat, location)

    def persistent_load(saved_id: Any) -> Tensor:
        kind, storage_type, key, location, numel = _storage_id(saved_id)
        if key not in loaded:
            loaded[key] = storage(key, storage_type.dtype, numel, location)
        return loaded[key]

    unpickler = _make_unpickler(io.BytesIO(archive.read("data.pkl")), persistent_load, weights_only, pickle_module, arguments)
    return unpickler.load()


def _storage_id(saved_id: Any) -> tuple[Any, ...]:
    if not isinstance(saved_id, tuple) or len(saved_id) < 5 or saved_id[0] != "storage" or not isinstance(saved_id[1], _StorageType):
        raise pickle.UnpicklingError(f"Unknown typename for persistent_load, expected 'storage' but got {saved_id[0] if isinstance(saved_id, tuple) and saved_id else saved_id!r}")  # fmt: skip
    return saved_id[:5]


def _byteswapped(flat: Tensor) -> Tensor:
    raw = flat.view(_C.uint8).reshape(-1, flat.element_size())
    return raw.flip(1).contiguous().view(flat.dtype).reshape(-1)


def _read_legacy(file: Any, restore: Any, weights_only: bool, pickle_module: Any, arguments: dict[str, Any]) -> Any:
    loaded: dict[str, tuple[Tensor, str]] = {}
    views: dict[str, Tensor] = {}

    def persistent_load(saved_id: Any) -> Any:
        if isinstance(saved_id, tuple) and saved_id and saved_id[0] == "module":
            return saved_id[1]  # a class, with its source as it was when the file was written
        kind, storage_type, key, location, numel = _storage_id(saved_id)
        if key not in loaded:
            loaded[key] = (_C._ops.empty((numel,), dtype=storage_type.dtype), location)
            restored = restore(loaded[key][0], location)
            views[key] = restored
        part = saved_id[5] if len(saved_id) > 5 else None
        return views[key] if part is None else views[key][part[1] : part[1] + part[2]]

    def read(function: Callable[[Any], Any] | None = None) -> Any:
        try:
            return _make_unpickler(file, persistent_load, weights_only, pickle_module, arguments).load()
        except (EOFError, IndexError, KeyError, ValueError, AttributeError, struct.error, UnicodeDecodeError) as error:
            raise pickle.UnpicklingError(f"{type(error).__name__}: {error}; this is no file of torch.save's") from None

    magic = read()
    if magic != _LEGACY_MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    protocol = read()
    if protocol != _LEGACY_PROTOCOL:
        raise RuntimeError(f"Invalid protocol version: {protocol}")
    system = read()
    result = read()
    keys = read()
    for key in keys:
        flat, location = loaded[key]
        file.read(8)  # the number of elements, known already
        if flat.numel():
            data = file.read(flat.numel() * flat.element_size())
            if len(data) != flat.numel() * flat.element_size():
                raise RuntimeError(f"the file ends in the middle of storage {key}")
            memoryview(flat if flat.dtype == _C.uint8 else flat.view(_C.uint8))[:] = data
            if system.get("little_endian", True) != (sys.byteorder == "little"):
                flat.copy_(_byteswapped(flat))
        if views[key].data_ptr() != flat.data_ptr() and not views[key].is_meta:
            views[key].copy_(flat)
    return result


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The global names of a file that load(weights_only=True) would refuse."""
    import pickletools

    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else contextlib.nullcontext(f) as file:
        data = _Archive(file).read("data.pkl")
    unsafe: list[str] = []
    strings: list[str] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name == "GLOBAL":
            module, name = argument.split(" ", 1)
        elif opcode.name == "STACK_GLOBAL":
            module, name = strings[-2:]
        else:
            if isinstance(argument, str):
                strings.append(argument)
            continue
        try:
            _find_safe(module, name)
        except pickle.UnpicklingError:
            if f"{module}.{name}" not in unsafe:
                unsafe.append(f"{module}.{name}")
    return unsafe

