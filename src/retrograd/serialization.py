"""save and load, in PyTorch's file formats: what either library writes, the other reads.

A file is a zip archive whose members are stored, not compressed, and start at multiples of 64 bytes:

    <name>/data.pkl      the object, pickled; each storage in it is a persistent id ("storage", type, key, location, numel)
    <name>/data/<key>    the bytes of a storage
    <name>/byteorder, <name>/version, ...

Global names inside the pickle are PyTorch's (`torch._utils._rebuild_tensor_v2`), whichever library wrote it: see Note [Names in
files] in _pickling.py. The format before that, several pickles in a row, is read and written too.

A file at a path is written beside it and put in its place when it is whole. A file that is not whole when it is read is a CorruptFileError.
"""

from __future__ import annotations

import contextlib
import io
import mmap as _mmap
import os
import pickle
import stat
import struct
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from retrograd import _C
from retrograd._archives import Archive, Writer, read_all, write_all
from retrograd._C import Tensor
from retrograd._load_options import (
    LoadEndianness,
    SourceChangeWarning,
    check_module_version_greater_or_equal,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    mkdtemp,
    normalize_storage_type,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
    storage_to_tensor_type,
)
from retrograd._locations import (
    _package_registry as _package_registry,
    default_restore_location,
    location_tag,
    make_restore,
    register_package,
    room,
    validate_cuda_device,
    validate_hpu_device,
)
from retrograd._pickling import (
    CorruptFileError,
    Refused,
    Skimmer,
    Storages,
    StorageType,
    UnknownName,
    add_safe_globals,
    clear_safe_globals,
    damaged,
    get_safe_globals,
    make_pickler,
    make_unpickler,
    safe_globals,
    source_of,
    unsafe_globals,
)
from retrograd.storage import TypedStorage, UntypedStorage
from retrograd.types import Storage
from retrograd.utils.serialization import config

__all__ = [
    "CorruptFileError", "LoadEndianness", "SourceChangeWarning", "StorageType", "add_safe_globals", "check_module_version_greater_or_equal",
    "clear_safe_globals", "default_restore_location", "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options",
    "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag", "mkdtemp", "normalize_storage_type", "register_package",
    "safe_globals", "save", "set_crc32_options", "set_default_load_endianness", "set_default_mmap_options", "skip_data", "storage_to_tensor_type",
    "validate_cuda_device", "validate_hpu_device",
]  # fmt: skip

MAP_LOCATION: TypeAlias = Callable[[Storage, str], Storage] | _C.device | str | dict[str, str] | None

DEFAULT_PROTOCOL = 2
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

    Tensors that share memory still do after loading. History is not saved: what was computed comes back as a leaf. A file that is at the path
    already stays as it is until the new one is whole.

    Args:
        f: a path, or an object with write().
        pickle_module: what pickles everything that is not a tensor.
        _disable_byteorder_record: taken for the sake of old code. As in PyTorch, the byte order is written all the same.

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
    if skip_data.is_on() and not _use_new_zipfile_serialization:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    name = (os.path.splitext(os.path.basename(os.fspath(f)))[0] or "archive") if is_path else "archive"
    # Pickled before the file is opened: an object that cannot be pickled leaves an existing file as it was.
    storages, pickled = Storages(), io.BytesIO()
    make_pickler(pickle_module, pickled, pickle_protocol, storages, not _use_new_zipfile_serialization).dump(obj)
    with _replacing(os.fspath(f)) if is_path else contextlib.nullcontext(f) as file:
        if _use_new_zipfile_serialization:
            _write_zip(file, name, pickled.getbuffer(), storages)
        else:
            _write_legacy(file, pickled.getbuffer(), storages, pickle_protocol)
        if hasattr(file, "flush"):
            file.flush()


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[Any]:
    """A file that takes the place of the one at the path when it is whole. Until then, and after an error, that one is as it was."""
    path = os.path.realpath(path)  # the file behind a link, not the link
    before = None
    with contextlib.suppress(FileNotFoundError):
        before = os.stat(path)
    if before is not None:
        if not stat.S_ISREG(before.st_mode):  # a device or a pipe is written to, a folder is an error
            with open(path, "wb") as file:
                yield file
            return
        os.close(os.open(path, os.O_WRONLY))  # a file that may not be written to may not be replaced either
    beside = os.path.join(os.path.dirname(path), f".saving-{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except PermissionError as error:
        if before is None:
            raise PermissionError(error.errno, error.strerror, path) from None
        with open(path, "wb") as file:  # a folder that takes no new files: there is no other way
            yield file
        return
    try:
        with os.fdopen(handle, "wb") as file:
            if before is not None:
                os.chmod(beside, stat.S_IMODE(before.st_mode))
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):  # only root gives files away
                        os.chown(beside, before.st_uid, before.st_gid)
            yield file
            if before is not None:  # there is something to lose: the new file is on the disk before the old one goes
                file.flush()
                os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _write_zip(file: Any, name: str, pickled: memoryview, storages: Storages) -> None:
    alignment, skip = config.save.storage_alignment, skip_data.is_on()
    writer = Writer(file, name, alignment, config.save.compute_crc32)
    writer.add("data.pkl", pickled)
    writer.add(".format_version", b"1")
    writer.add(".storage_alignment", str(alignment).encode())
    writer.add("byteorder", sys.byteorder.encode())
    for key, storage in storages.by_key.items():
        writer.add(f"data/{key}", storage.raw(), skip)
    writer.add("version", b"3\n")
    writer.finish()


def _write_legacy(file: Any, pickled: memoryview, storages: Storages, protocol: int) -> None:
    system = {
        "protocol_version": _LEGACY_PROTOCOL,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for part in (_LEGACY_MAGIC, _LEGACY_PROTOCOL, system):
        write_all(file, pickle.dumps(part, protocol=protocol))
    write_all(file, pickled)
    write_all(file, pickle.dumps(list(storages.by_key), protocol=protocol))
    for storage in storages.by_key.values():
        write_all(file, struct.pack("=q", storage.numel))
        write_all(file, storage.raw())


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
        mmap: leave storages in the file, mapped copy-on-write, until they are touched. Needs a path. Checksums are not looked at.
    """
    weights_only = _asked_for(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    is_path = isinstance(f, (str, os.PathLike))
    mmap = config.load.mmap if mmap is None else mmap
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not is_path:
        _check_file(f)
    for name in pickle_load_args:
        if name not in ("encoding", "errors", "fix_imports", "buffers"):
            raise TypeError(f"load() got an unexpected keyword argument {name!r}")
    context = (make_restore(map_location), weights_only, (pickle_module or pickle).Unpickler, pickle_load_args)
    shared = bool(mmap) and config.load.mmap_flags == _mmap.MAP_SHARED
    with open(f, "r+b" if shared else "rb") if is_path else contextlib.nullcontext(f) as file:
        start = file.tell()
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        if mmap and not is_zip:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`: save the checkpoint "
                "again with this option, or load it without mmap."
            )
        try:
            return _read_zip(file, _map(file, shared) if mmap else None, shared, *context) if is_zip else _read_legacy(file, *context)
        except Refused as error:
            raise _explained(error) from None
        except _OF_READING as error:
            if isinstance(error, (CorruptFileError, UnknownName)) or not _is_of_the_file(error):
                raise
            raise damaged(error) from error


# What pickle, and the functions that rebuild tensors, raise for data that make no sense; and at times code that the file asks for.
_OF_READING = (
    pickle.UnpicklingError, zipfile.BadZipFile, EOFError, ValueError, LookupError, TypeError, MemoryError, OverflowError, AttributeError, RuntimeError,
    ImportError, AssertionError, struct.error,
)  # fmt: skip
_READERS = (
    "pickle",
    "zipfile",
    "zipfile._path",
    "codecs",
    "encodings",
    "collections",
    "struct",
    "copyreg",
    "importlib",
    "importlib._bootstrap",
)


def _is_of_the_file(error: BaseException) -> bool:
    """Whether the reader itself raised it, and not code of the user's that the pickle called, nor a place that storages cannot go to."""
    trace = error.__traceback__
    while trace is not None:
        name, text = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_frame.f_code.co_filename == "<string>"  # what eval() was given
        package = name.partition(".")[0] in ("retrograd", "torch")  # by either name: _as_torch.py
        ours = package and name != make_restore.__module__ and not text
        if not ours and name not in _READERS:
            return False
        trace = trace.tb_next
    return True


def _map(file: Any, shared: bool) -> _mmap.mmap:
    return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_WRITE if shared else _mmap.ACCESS_COPY)


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


def _is_swapped(archive: Archive) -> bool:
    """Whether the storages of a file are in the byte order of another machine."""
    if "byteorder" in archive:
        order = archive.read("byteorder").decode("ascii", "replace")
        if order not in ("little", "big"):
            raise CorruptFileError(f"Unknown endianness type: {order}")
        return order != sys.byteorder
    fallback = get_default_load_endianness()
    return fallback not in (None, LoadEndianness.NATIVE) and fallback is not LoadEndianness[sys.byteorder.upper()]


def _read_zip(
    file: Any, mapped: _mmap.mmap | None, shared: bool, restore: Any, weights_only: bool, unpickler: Any, arguments: dict[str, Any]
) -> Any:
    archive = Archive(file)
    if "constants.pkl" in archive:
        raise CorruptFileError("the file is a TorchScript archive: torch.jit.load reads those, and retrograd has no TorchScript")
    swapped, skip = _is_swapped(archive), skip_data.is_on()
    if mapped is not None and shared:
        archive.forget_checksums(mapped)  # what is written to the tensors is written to the file
    loaded: dict[str, Tensor] = {}

    def storage(key: str, dtype: Any, numel: int, location: str) -> Tensor:
        nbytes, member = numel * dtype.itemsize, f"data/{key}"
        archive.check_size(member, nbytes)
        start = archive.start_of(member) if mapped is not None and archive.is_stored(member) else 0
        if mapped is not None and nbytes and start and not start % dtype.itemsize:
            raw = _C._from_buffer(memoryview(mapped)[start : start + nbytes])[0]
        else:
            raw = room(nbytes)
            if nbytes and not skip:
                archive.read_into(member, memoryview(raw))
        if swapped and dtype.itemsize > 1:
            UntypedStorage._of(raw).byteswap(dtype)
        return restore(raw if dtype == _C.uint8 else raw.view(dtype), location)

    def persistent_load(saved_id: Any) -> TypedStorage:
        storage_type, key, location, numel = _storage_id(saved_id)
        if key not in loaded:
            loaded[key] = storage(key, storage_type.dtype, numel, location)
        return TypedStorage._of(loaded[key])

    pickled = io.BytesIO(archive.read("data.pkl"))
    return make_unpickler(pickled, persistent_load, weights_only, unpickler, arguments).load()


def _storage_id(saved_id: Any) -> tuple[Any, ...]:
    if not isinstance(saved_id, tuple) or len(saved_id) < 5 or saved_id[0] != "storage" or not isinstance(saved_id[1], StorageType):
        kind = saved_id[0] if isinstance(saved_id, tuple) and saved_id else saved_id
        raise CorruptFileError(f"Unknown typename for persistent_load, expected 'storage' but got {kind!r}")
    _, key, location, numel = saved_id[1:5]
    if not isinstance(key, str) or not isinstance(location, str) or not isinstance(numel, int) or not 0 <= numel < 1 << 47:
        raise CorruptFileError(f"the file describes a storage that cannot be: key {key!r}, {numel!r} elements on {location!r}")
    return saved_id[1:5]


def _read_legacy(file: Any, restore: Any, weights_only: bool, unpickler: Any, arguments: dict[str, Any]) -> Any:
    """The bytes of storages stand behind the object: it is skimmed for their sizes first, and made when all of them are there."""
    start = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(start)
    if file.read(262)[257:] == b"ustar":
        raise CorruptFileError("the file is a tar archive, as PyTorch wrote them before 0.1.10: load it there, and save it again")
    file.seek(start)

    def read(persistent_load: Any = None) -> Any:
        return make_unpickler(file, persistent_load, weights_only, unpickler, arguments).load()

    magic = read()
    if magic != _LEGACY_MAGIC:
        raise CorruptFileError("Invalid magic number; corrupt file?")
    protocol = read()
    if protocol != _LEGACY_PROTOCOL:
        raise CorruptFileError(f"Invalid protocol version: {protocol}")
    system = read()
    object_at, skimmer = file.tell(), Skimmer(file)
    skimmer.load()
    types = {pid[2]: pid for pid in skimmer.ids if not _is_class(pid) and _storage_id(pid)}
    keys = read()
    if not isinstance(system, dict) or not isinstance(keys, list) or {*keys} != {*types}:
        raise CorruptFileError("the list of storages at the end of the file is not that of the tensors in it")
    swapped = system.get("little_endian", True) != (sys.byteorder == "little")
    loaded = {key: _read_legacy_storage(file, types[key], end, swapped) for key in keys}
    file_end = file.tell()
    restored: dict[str, Tensor] = {}

    def persistent_load(saved_id: Any) -> Any:
        if _is_class(saved_id):
            _compare_source(*saved_id[1:4])
            return saved_id[1]
        _, key, location, _ = _storage_id(saved_id)
        if key not in restored:
            restored[key] = restore(loaded[key], location)
        part = saved_id[5] if len(saved_id) > 5 else None
        return TypedStorage._of(restored[key]) if part is None else restored[key][part[1] : part[1] + part[2]]

    file.seek(object_at)
    result = read(persistent_load)
    file.seek(file_end)  # behind which the next object may stand
    return result


def _is_class(saved_id: Any) -> bool:
    """Whether it stands for the class of a module: ("module", class, file, source)."""
    return isinstance(saved_id, tuple) and len(saved_id) > 1 and saved_id[0] == "module"


def _read_legacy_storage(file: Any, saved_id: Any, end: int, swapped: bool) -> Tensor:
    storage_type, key, _, numel = _storage_id(saved_id)
    count, nbytes = bytearray(8), numel * storage_type.dtype.itemsize
    read_all(file, memoryview(count), f"storage {key}")
    if struct.unpack("=q", count)[0] != numel:
        raise CorruptFileError(f"storage has wrong byte size: storage {key} should have {numel} elements")
    if nbytes > end - file.tell():
        raise CorruptFileError(f"unexpected EOF: the file ends in the middle of storage {key}")
    raw = room(nbytes)
    if skip_data.is_on():
        file.seek(nbytes, os.SEEK_CUR)
    elif nbytes:
        read_all(file, memoryview(raw), f"storage {key}")
        if swapped and storage_type.dtype.itemsize > 1:
            UntypedStorage._of(raw).byteswap(storage_type.dtype)
    return raw.view(storage_type.dtype)


def _compare_source(kind: Any, filename: Any = None, source: Any = None) -> None:
    """Says so where a class of the user's is not what it was when the file was written."""
    _, now = source_of(kind)
    if source is not None and now is not None and now != source:
        warnings.warn(
            f"source code of class '{kind.__module__}.{kind.__qualname__}' has changed. The file holds the source it was written with.",
            SourceChangeWarning,
            stacklevel=2,
        )


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The global names of a file that load(weights_only=True) would refuse. Nothing of the file is run."""
    with open(f, "rb") if isinstance(f, (str, os.PathLike)) else contextlib.nullcontext(f) as file:
        start = file.tell()
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(start)
        if is_zip:
            return unsafe_globals(io.BytesIO(Archive(file).read("data.pkl")), 1)
        try:
            return unsafe_globals(file, 5)  # the magic number, the protocol, the system, the object, the keys of storages
        except CorruptFileError as error:
            raise ValueError(f"Expected input to be a checkpoint returned by torch.save: {error}") from None


def _get_layout(name: str) -> Any:
    """The layout of a name in a file, 'torch.sparse_coo'."""
    found = getattr(_C, name.removeprefix("torch."), None)
    if not isinstance(found, _C.layout):
        raise ValueError(f"{name} is not the name of a layout")
    return found
