"""Where storages of a file go: the tags that say on which device each was, and who turns a tag into a place when the file is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.storage import TypedStorage, UntypedStorage, memory_of

Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]

_NOWHERE = (
    "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)


def _accelerator_tag(storage: Any) -> str | None:
    """Of devices without a line of their own below: their name."""
    return str(storage.device)


def _restore_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" or location.startswith("cpu:") else None


def _restore_meta(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def _restore_accelerator(storage: Any, location: str) -> Any:
    kind = location.partition(":")[0]
    if kind == "cuda":
        return storage.cuda(validate_cuda_device(location))
    if kind == "hpu":
        validate_hpu_device(location)
    if kind in ("xpu", "mtia"):
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is False. {_NOWHERE}"
        )
    try:
        device = _C.device(location)
    except RuntimeError:
        return None  # the name of no device
    return storage.to(device=device)


# (priority, tagger, deserializer): asked in this order until one has an answer.
_package_registry: list[tuple[int, Tagger, Deserializer]] = [
    (10, lambda storage: "cpu" if storage.device.type == "cpu" else None, _restore_cpu),
    (20, lambda storage: "meta" if storage.device.type == "meta" else None, _restore_meta),
    (30, _accelerator_tag, _restore_accelerator),
]


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Has others say where storages go. Those with a lower number are asked first; the CPU's has 10.

    Args:
        tagger: storage -> the tag written to the file, or None for a storage of others.
        deserializer: (storage on the CPU, tag) -> the storage in its place, or None for a tag of others.
    """
    if not isinstance(priority, int):
        raise TypeError(f"register_package: priority must be a number, got {type(priority).__name__}")
    if not callable(tagger) or not callable(deserializer):
        raise TypeError("register_package: tagger and deserializer must be functions")
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda entry: entry[0])


def location_tag(storage: Any) -> str:
    """What a file says of the place of a storage: 'cpu'."""
    for _, tagger, _ in _package_registry:
        location = tagger(storage)
        if location is not None:
            return location
    raise RuntimeError(f"don't know how to determine data location of {_name_of(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage in the place that the tag of a file names."""
    for _, _, deserializer in _package_registry:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(f"don't know how to restore data location of {_name_of(storage)} (tagged with {location})")


def _name_of(storage: Any) -> str:
    return f"torch.storage.{type(storage).__name__}" if isinstance(storage, (UntypedStorage, TypedStorage)) else type(storage).__name__


def validate_cuda_device(location: Any) -> int:
    """The number of the CUDA device that a tag names; an error where there is none."""
    if isinstance(location, str):
        location = _C.device(location)
    if isinstance(location, _C.device):
        if location.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {location}")
        location = location.index
    from retrograd import cuda

    if not cuda.is_available():
        raise RuntimeError(f"Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. {_NOWHERE}")
    index = cuda.current_device() if location is None else int(location)
    if index >= cuda.device_count():
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is {cuda.device_count()}. Please use "
            "torch.load with map_location to map your storages to an existing device."
        )
    return index


def validate_hpu_device(location: Any) -> int:
    """There is no HPU here."""
    raise RuntimeError(f"The HPU device module is not registered. {_NOWHERE}")


def room(nbytes: int) -> Tensor:
    """Memory for a storage. That there is none of that much is no fault of the file."""
    return _C._ops.empty((nbytes,), dtype=_C.uint8, device="cpu")


def make_restore(map_location: Any) -> Callable[[Tensor, str], Tensor]:
    """The function (flat tensor, location in the file) -> flat tensor that map_location asks for."""
    if map_location is not None and not isinstance(map_location, (dict, str, bytes, _C.device)) and not callable(map_location):
        raise TypeError(
            f"map_location must be a device, the name of one, a dict from names to names or a function (storage, location) -> storage: "
            f"{type(map_location).__name__!r} object is not callable"
        )

    def place(storage: Any, location: str) -> Any:
        if isinstance(map_location, dict):
            return default_restore_location(storage, map_location.get(location, location))
        if isinstance(map_location, (str, bytes, _C.device)):
            return default_restore_location(storage, map_location.decode() if isinstance(map_location, bytes) else str(map_location))
        result = None if map_location is None else map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    def restore(flat: Tensor, location: str) -> Tensor:
        storage = UntypedStorage._of(flat)
        result = place(storage, location)
        if result is storage:
            return flat
        if not isinstance(result, UntypedStorage):
            raise TypeError(f"what map_location or register_package returns must be UntypedStorage, but got {type(result)}")
        if result.nbytes() != storage.nbytes():
            raise RuntimeError(f"map_location returned a storage of {result.nbytes()} bytes for one of {storage.nbytes()}")
        return memory_of(result, flat.dtype)

    return restore
