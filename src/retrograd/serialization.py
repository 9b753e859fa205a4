"""save and load, in PyTorch's file formats: what either library writes, the other reads.

A file is a zip archive whose members are stored, not compressed, and start at multiples of 64 bytes:

    <name>/data.pkl      the object, pickled; each storage in it is a persistent id ("storage", type, key, location, numel)
    <name>/data/<key>    the bytes of a storage
    <name>/byteorder, <name>/version, ...

Global names inside the pickle are PyTorch's (`torch._utils._rebuild_tensor_v2`), whichever library wrote it: see Note [Names in
files] in _pickling.py. The format before that, several pickles in a row, is read and written too.
"""

from __future__ import annotations

import contextlib
import io
import mmap as _mmap
import os
import pickle
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd._pickling import (
    CorruptFileError,
    Refused,
    Storages,
    StorageType,
    add_safe_globals,
    clear_safe_globals,
    damaged,
    find_safe,
    get_safe_globals,
    make_pickler,
    make_unpickler,
    modern,
    safe_globals,
)
from retrograd.storage import TypedStorage, UntypedStorage, memory_of

__all__ = [
    "CorruptFileError", "add_safe_globals", "clear_safe_globals", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save",
]  # fmt: skip

DEFAULT_PROTOCOL = 2
_ALIGNMENT = 64
_LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001

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
    storages, pickled = Storages(), io.BytesIO()
    make_pickler(pickle_module, pickled, pickle_protocol, storages, not _use_new_zipfile_serialization).dump(obj)
    with open(f, "wb") if is_path else contextlib.nullcontext(f) as file:
        if _use_new_zipfile_serialization:
            _write_zip(file, name, pickled.getbuffer(), storages, not _disable_byteorder_record)
        else:
            _write_legacy(file, pickled.getbuffer(), storages, pickle_protocol)


def _write_zip(file: Any, name: str, pickled: memoryview, storages: Storages, byteorder: bool) -> None:
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


def _write_legacy(file: Any, pickled: memoryview, storages: Storages, protocol: int) -> None:
    system = {
        "protocol_version": _LEGACY_PROTOCOL,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for part in (_LEGACY_MAGIC, _LEGACY_PROTOCOL, system):
        pickle.dump(part, file, protocol=protocol)
    file.write(pickled)
    pickle.dump(list(storages.by_key), file, protocol=protocol)
    for storage in storages.by_key.values():
        file.write(struct.pack("=q", storage.numel))
        file.write(storage.raw())


# -- devices ------------------------------------------------------------------


def _default_location(flat: Tensor, location: str) -> Tensor:
    if location == "cpu" or location.startswith("cpu:"):
        return flat
    if location == "meta":
        return flat.to("meta")
    if location.startswith("cuda"):
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. Pass map_location='cpu' to "
            "torch.load to put its storages on the CPU."
        )
    try:
        device = _C.device(location)
    except RuntimeError:
        words = f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})"
        raise RuntimeError(words) from None
    return flat.to(device)


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
        result = map_location(UntypedStorage._of(flat), location)
        if result is None:
            return _default_location(flat, location)
        return memory_of(result.untyped(), flat.dtype)

    return restore


# -- load ---------------------------------------------------------------------


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Reads what save, here or in PyTorch, has written.

    Args:
        f: a path, or a file object that can seek.
        map_location: where storages go: a device, its name, a dict from names to names, or a function (storage, location) -> storage.
        weights_only: allow tensors and plain data only, and what add_safe_globals() names. False runs whatever code the file asks
            for: use it on files you trust. Default: True.
        mmap: leave storages in the file, mapped copy-on-write, until they are touched. Needs a path.
    """
    weights_only = _asked_for(weights_only, pickle_module)
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
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`: save the checkpoint "
                "again with this option, or load it without mmap."
            )
        try:
            return _read_zip(file, bool(mmap), *context) if is_zip else _read_legacy(file, *context)
        except Refused as error:
            raise _explained(error) from None
        except (pickle.UnpicklingError, EOFError, zipfile.BadZipFile, *_OF_PICKLE) as error:
            if isinstance(error, CorruptFileError) or not _of_the_file(error):
                raise
            raise damaged(error) from error


# Raised by pickle itself for damaged data, and at times by the code that the file asks for.
_OF_PICKLE = (ValueError, LookupError, TypeError, MemoryError, OverflowError, AttributeError, struct.error)


def _of_the_file(error: BaseException) -> bool:
    """Whether the reader itself raised it, and not code of the user's that the pickle called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_globals.get("__name__") in (__name__, "zipfile", "zipfile._path")


def _asked_for(weights_only: bool | None, pickle_module: Any) -> bool:
    """Whether plain data alone is allowed: what the caller says, and PyTorch's two environment variables."""
    force, forbid = (
        os.environ.get(name, "0").lower() in ("1", "y", "yes", "true")
        for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    )
    if force and forbid:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both are: unset one."
        )
    if force:
        return True
    return weights_only if weights_only is not None else pickle_module is None and not forbid


def _check_file(file: Any) -> None:
    for name in ("read", "seek", "tell"):
        if not hasattr(file, name):
            raise AttributeError(
                f"{type(file).__name__!r} object has no attribute {name!r}. You can only torch.load from a file that is seekable. Read "
                "it into an io.BytesIO first, and load from that."
            )


def _explained(error: pickle.UnpicklingError) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        "Weights only load failed: `torch.load` takes tensors and plain data unless it is told otherwise. Pass `weights_only=False` if "
        "you trust the "
        "source of the file: then it runs whatever code the file asks for.\n"
        f"WeightsUnpickler error: {error}"
    )


_ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error, LookupError)


class _Archive:
    """A zip file of save's, by the names of its members without their common prefix."""

    def __init__(self, file: Any) -> None:
        try:
            self.zip = zipfile.ZipFile(file)
        except (*_ZIP_DAMAGE, OSError) as error:
            raise CorruptFileError(f"PytorchStreamReader failed reading zip archive: {error}. The file is cut off or damaged.") from None
        names = self.zip.namelist()
        if not names:
            raise CorruptFileError("PytorchStreamReader failed reading zip archive: it has no members")
        self.prefix = names[0].split("/", 1)[0] + "/"

    def info(self, name: str) -> zipfile.ZipInfo:
        try:
            return self.zip.getinfo(self.prefix + name)
        except KeyError:
            raise CorruptFileError(f"PytorchStreamReader failed locating file {name}: file not found") from None

    @contextlib.contextmanager
    def reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except CorruptFileError:
            raise
        except (*_ZIP_DAMAGE, OSError) as error:
            raise CorruptFileError(f"PytorchStreamReader failed reading file {name}: {error}. The file is damaged.") from None

    def read(self, name: str) -> bytes:
        with self.reading(name):
            return self.zip.read(self.info(name))

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.zip.NameToInfo

    def start_of(self, info: zipfile.ZipInfo) -> int:
        """Where in the file the data of a stored member starts."""
        file = self.zip.fp
        file.seek(info.header_offset)  # type: ignore[union-attr]
        header = file.read(30)  # type: ignore[union-attr]
        if len(header) < 30:
            raise CorruptFileError(f"unexpected EOF: the file ends before {info.filename}")
        name_length, extra_length = struct.unpack("<HH", header[26:30])
        return info.header_offset + 30 + name_length + extra_length

    def read_into(self, name: str, target: memoryview) -> None:
        info = self.info(name)
        if info.file_size != len(target):
            raise CorruptFileError(f"storage {name} of the file has {info.file_size} bytes, {len(target)} are expected")
        member: Any
        with self.reading(name), self.zip.open(info) as member:
            position = 0
            while position < len(target):
                count = member.readinto(target[position : position + (1 << 24)])
                if not count:
                    raise CorruptFileError(f"unexpected EOF: the file ends in the middle of storage {name}")
                position += count


def _read_zip(file: Any, use_mmap: bool, restore: Any, weights_only: bool, pickle_module: Any, arguments: dict[str, Any]) -> Any:
    archive = _Archive(file)
    if "constants.pkl" in archive:
        raise RuntimeError("the file is a TorchScript archive: torch.jit.load reads those, and retrograd has no TorchScript")
    swapped = "byteorder" in archive and archive.read("byteorder").decode("ascii", "replace") != sys.byteorder
    mapped = _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY) if use_mmap else None
    loaded: dict[str, Tensor] = {}

    def storage(key: str, dtype: Any, numel: int, location: str) -> Tensor:
        nbytes = numel * dtype.itemsize
        if mapped is not None and nbytes:
            start = archive.start_of(archive.info(f"data/{key}"))
            if start + nbytes > len(mapped):
                raise CorruptFileError(f"unexpected EOF: the file ends in the middle of storage {key}")
            raw = _C._from_buffer(memoryview(mapped)[start : start + nbytes])[0]
        else:
            raw = _C._ops.empty((nbytes,), dtype=_C.uint8, device="cpu")
            if nbytes:
                archive.read_into(f"data/{key}", memoryview(raw))
        flat = raw if dtype == _C.uint8 else raw.view(dtype)
        return restore(_byteswapped(flat) if swapped and dtype.itemsize > 1 else flat, location)

    def persistent_load(saved_id: Any) -> TypedStorage:
        storage_type, key, location, numel = _storage_id(saved_id)
        if key not in loaded:
            loaded[key] = storage(key, storage_type.dtype, numel, location)
        return TypedStorage._of(loaded[key])

    unpickler = make_unpickler(io.BytesIO(archive.read("data.pkl")), persistent_load, weights_only, pickle_module, arguments)
    return unpickler.load()


def _storage_id(saved_id: Any) -> tuple[Any, ...]:
    if not isinstance(saved_id, tuple) or len(saved_id) < 5 or saved_id[0] != "storage" or not isinstance(saved_id[1], StorageType):
        kind = saved_id[0] if isinstance(saved_id, tuple) and saved_id else saved_id
        raise CorruptFileError(f"Unknown typename for persistent_load, expected 'storage' but got {kind!r}")
    _, key, location, numel = saved_id[1:5]
    if not isinstance(key, str) or not isinstance(location, str) or not isinstance(numel, int) or not 0 <= numel < 1 << 47:
        raise CorruptFileError(f"the file describes a storage that cannot be: key {key!r}, {numel!r} elements on {location!r}")
    return saved_id[1:5]


def _byteswapped(flat: Tensor) -> Tensor:
    raw = flat.view(_C.uint8).reshape(-1, flat.element_size())
    return raw.flip(1).contiguous().view(flat.dtype).reshape(-1)


def _read_legacy(file: Any, restore: Any, weights_only: bool, pickle_module: Any, arguments: dict[str, Any]) -> Any:
    loaded: dict[str, tuple[Tensor, str]] = {}
    views: dict[str, Tensor] = {}

    def persistent_load(saved_id: Any) -> Any:
        if isinstance(saved_id, tuple) and saved_id and saved_id[0] == "module":
            return saved_id[1]  # a class, with its source as it was when the file was written
        storage_type, key, location, numel = _storage_id(saved_id)
        if key not in loaded:
            loaded[key] = (_C._ops.empty((numel,), dtype=storage_type.dtype, device="cpu"), location)
            restored = restore(loaded[key][0], location)
            views[key] = restored
        part = saved_id[5] if len(saved_id) > 5 else None
        return TypedStorage._of(views[key]) if part is None else views[key][part[1] : part[1] + part[2]]

    def read() -> Any:
        return make_unpickler(file, persistent_load, weights_only, pickle_module, arguments).load()

    magic = read()
    if magic != _LEGACY_MAGIC:
        raise CorruptFileError("Invalid magic number; corrupt file?")
    protocol = read()
    if protocol != _LEGACY_PROTOCOL:
        raise CorruptFileError(f"Invalid protocol version: {protocol}")
    system = read()
    result = read()
    keys = read()
    if not isinstance(system, dict) or not isinstance(keys, list) or any(key not in loaded for key in keys):
        raise CorruptFileError("the list of storages at the end of the file is not that of the tensors in it")
    for key in keys:
        flat, _location = loaded[key]
        count = file.read(8)
        if len(count) == 8 and struct.unpack("=q", count)[0] != flat.numel():
            raise CorruptFileError(f"storage has wrong byte size: storage {key} should have {flat.numel()} elements")
        if flat.numel():
            data = file.read(flat.numel() * flat.element_size())
            if len(data) != flat.numel() * flat.element_size():
                raise CorruptFileError(f"unexpected EOF: the file ends in the middle of storage {key}")
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
            module, name = str(argument).split(" ", 1)
        elif opcode.name == "STACK_GLOBAL":
            module, name = strings[-2:]
        else:
            if isinstance(argument, str):
                strings.append(argument)
            continue
        try:
            find_safe(module, name)
        except pickle.UnpicklingError:
            full = ".".join(modern(module, name))
            if full not in unsafe:
                unsafe.append(full)
    return unsafe


def _get_layout(name: str) -> Any:
    """The layout of a name in a file, 'torch.sparse_coo'."""
    found = getattr(_C, name.removeprefix("torch."), None)
    if not isinstance(found, _C.layout):
        raise ValueError(f"{name} is not the name of a layout")
    return found
