"""Groups of processes and what they do together, for the one process that there is."""

from __future__ import annotations

import enum
import os
import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

import retrograd as torch
from retrograd.distributed.stores import FileStore, HashStore, Store, TCPStore

__all__ = [
    "Backend", "BackendConfig", "DebugLevel", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "GroupMember", "P2POp", "ProcessGroup",
    "ProcessGroupGloo", "ReduceOp", "Work", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_gather_single", "all_reduce",
    "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "default_pg_timeout",
    "destroy_process_group", "gather", "gather_object", "get_backend", "get_backend_config", "get_debug_level", "get_default_backend_for_device",
    "get_global_rank", "get_group_rank", "get_node_local_rank", "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group",
    "init_process_group", "irecv", "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_single", "reduce_scatter_tensor",
    "register_rendezvous_handler", "rendezvous", "scatter", "scatter_object_list", "send", "send_object_list", "set_debug_level", "supports_complex",
]  # fmt: skip

default_pg_timeout = timedelta(minutes=30)
_NOT_INITIALIZED = "Default process group has not been initialized, please make sure to call init_process_group."
_ALONE = "retrograd computes in one process, and its world has size 1"


class DistError(RuntimeError):
    """Something between processes went wrong."""


class DistBackendError(DistError):
    """Something in the library between processes went wrong."""


class DistNetworkError(DistError):
    """The network between processes failed."""


class DistStoreError(DistError):
    """A store failed."""


class DebugLevel(enum.Enum):
    """How much is checked and told."""

    OFF = 0
    INFO = 1
    DETAIL = 2


def get_debug_level() -> DebugLevel:
    """How much is checked and told."""
    return DebugLevel.OFF


def set_debug_level(level: DebugLevel) -> None:
    """There is nothing to tell of one process."""


class Backend(str):
    """The name of a library between processes."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name}")
        return super().__new__(cls, name.lower())


class BackendConfig:
    """Which library serves which kind of device."""

    def __init__(self, backend: Backend) -> None:
        self.device_backend_map = {"cpu": backend}

    def get_device_backend_map(self) -> dict[str, Backend]:
        """The library of each kind of device."""
        return self.device_backend_map


class ReduceOp:
    """How values of processes become one."""

    class RedOpType(enum.Enum):
        """The kinds there are."""

        SUM = 0
        AVG = 1
        PRODUCT = 2
        MIN = 3
        MAX = 4
        BAND = 5
        BOR = 6
        BXOR = 7
        PREMUL_SUM = 8

    SUM, AVG, PRODUCT, MIN, MAX = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN, RedOpType.MAX
    BAND, BOR, BXOR, PREMUL_SUM = RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR, RedOpType.PREMUL_SUM

    def __init__(self, op: RedOpType) -> None:
        self.op = op

    def __eq__(self, other: object) -> bool:
        return self.op == (other.op if isinstance(other, ReduceOp) else other)

    def __hash__(self) -> int:
        return hash(self.op)


reduce_op = ReduceOp


class Work:
    """A collective under way; here it is done."""

    def __init__(self, result: list[Any]) -> None:
        self._result = result

    def wait(self, timeout: Any = None) -> bool:
        """Waits for its end."""
        return True

    def is_completed(self) -> bool:
        """Whether it has ended."""
        return True

    def is_success(self) -> bool:
        """Whether it ended well."""
        return True

    def exception(self) -> None:
        """What went wrong."""

    def result(self) -> list[Any]:
        """The tensors it wrote."""
        return self._result

    def get_future(self) -> Any:
        """The same as a Future."""
        from retrograd.futures import Future  # type: ignore[import-not-found, unused-ignore]

        future: Any = Future()
        future.set_result(self._result)
        return future


class ProcessGroup:
    """Processes that do things together."""

    def __init__(self, backend: str = "gloo", name: str = "0", store: Store | None = None) -> None:
        self._backend, self.group_name, self._store = Backend(backend), name, store or HashStore()
        self.group_desc = "default_pg" if name == "0" else "undefined"

    def size(self) -> int:
        """The number of processes."""
        return 1

    def rank(self) -> int:
        """The number of this one."""
        return 0

    def name(self) -> str:
        """The name of the library."""
        return str(self._backend)

    def allreduce(self, tensors: Any, *options: Any) -> Work:
        """Sums of one."""
        return Work(list(tensors) if isinstance(tensors, (list, tuple)) else [tensors])

    def barrier(self, *options: Any) -> Work:
        """Nobody to wait for."""
        return Work([])


ProcessGroupGloo = ProcessGroup


class _Groups:
    default: ProcessGroup | None = None
    made: ClassVar[list[ProcessGroup]] = []


class _World(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes, None before init_process_group()."""
        return _Groups.default

    @WORLD.setter
    def WORLD(cls, pg: ProcessGroup | None) -> None:
        _Groups.default = pg


class group(metaclass=_World):
    """The group of all processes, as `group.WORLD`."""


class GroupMember(metaclass=_World):
    """The group of all processes, and what new_group() gives to those outside."""

    NON_GROUP_MEMBER = -100


# -- beginning and end -------------------------------------------------------------


def is_available() -> bool:
    """Whether this package is there."""
    return True


def is_initialized() -> bool:
    """Whether init_process_group() was called."""
    return _Groups.default is not None


def is_gloo_available() -> bool:
    """Whether groups of the CPU can be made: of one process."""
    return True


def is_nccl_available() -> bool:
    """NVIDIA's library."""
    return False


def is_mpi_available() -> bool:
    """MPI."""
    return False


def is_ucc_available() -> bool:
    """UCC."""
    return False


def is_xccl_available() -> bool:
    """Intel's library."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a library can be used."""
    return backend.lower() in (Backend.GLOO, Backend.FAKE)


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def supports_complex(reduceOp: Any) -> bool:
    """Whether complex numbers can be reduced so."""
    return reduceOp not in (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR)


def _from_environment(name: str, given: int) -> int:
    if given >= 0:
        return given
    if name not in os.environ:
        raise ValueError(f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, but not set")
    return int(os.environ[name])


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **options: Any) -> Any:
    """An iterator whose one item is (store, rank, world_size)."""
    kind, _, rest = url.partition("://")
    if kind == "env":
        rank, world_size = _from_environment("RANK", rank), _from_environment("WORLD_SIZE", world_size)
    elif kind not in ("tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {kind}://")
    elif rank < 0 or world_size < 0:
        missing = "rank" if rank < 0 else "world_size"
        raise ValueError(f"Error initializing torch.distributed using {kind}:// rendezvous: {missing} parameter missing")
    if world_size != 1:
        raise NotImplementedError(f"torch.distributed: a world of {world_size} processes was asked for, but {_ALONE}")
    if kind == "file":
        yield FileStore(rest, 1), rank, 1
    else:
        host, _, port = rest.partition("/")[0].partition(":")
        yield (
            TCPStore(host or os.environ.get("MASTER_ADDR", "localhost"), int(port or os.environ.get("MASTER_PORT", "0")), 1, True),
            rank,
            1,
        )


def register_rendezvous_handler(scheme: str, handler: Any) -> None:
    """Ways for processes to meet, of which one process needs none."""
    raise NotImplementedError(f"torch.distributed.register_rendezvous_handler: {_ALONE}, which meets nobody")


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Makes the group of all processes, which is of this one."""
    if _Groups.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = Backend(backend) if backend is not None else Backend("gloo")
    parts = {part.partition(":")[2] or part for part in name.split(",")}  # "cpu:gloo,cuda:nccl"
    if parts == {Backend.NCCL}:
        raise RuntimeError("Distributed package doesn't have NCCL built in: this build of retrograd computes on the CPU, with gloo")
    if parts == {Backend.MPI}:
        raise RuntimeError("Distributed package doesn't have MPI built in. Use the backend gloo, which is here for one process")
    unknown = sorted(part for part in parts if part not in Backend.backend_list)
    if unknown:
        raise AssertionError(f"Unknown backend type {unknown[0]}")
    if store is None:
        store, rank, world_size = next(rendezvous(init_method or "env://", rank, world_size))
    elif rank < 0 or world_size < 0:
        raise AssertionError("world_size must be positive if using store" if world_size < 0 else "rank must be non-negative if using store")
    if world_size != 1:
        raise NotImplementedError(f"torch.distributed: a world of {world_size} processes was asked for, but {_ALONE}")
    if rank != 0:
        raise ValueError(f"invalid rank {rank} in a world of size 1")
    _Groups.default = ProcessGroup("gloo" if Backend.GLOO in parts else name, "0", store)
    _Groups.made.append(_Groups.default)


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Ends a group, or all of them."""
    if _Groups.default is None:
        raise AssertionError("Process group cannot be None")
    if group is None or group is _Groups.default:
        _Groups.default = None
        _Groups.made.clear()
    else:
        _of(group)
        _Groups.made.remove(group)


def _get_default_group() -> ProcessGroup:
    if _Groups.default is None:
        raise ValueError(_NOT_INITIALIZED)
    return _Groups.default


def _get_default_store() -> Store:
    return _get_default_group()._store


def _of(group: Any) -> ProcessGroup:
    found = _get_default_group() if group is None else group
    if found not in _Groups.made:
        raise ValueError("Invalid process group specified" if _Groups.default is not None else _NOT_INITIALIZED)
    return found


def _rank_group_name(group: Any) -> str:
    return _of(group).group_name


def get_rank(group: ProcessGroup | None = None) -> int:
    """The number of this process in a group."""
    return _of(group).rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """The number of processes in a group."""
    return _of(group).size()


def get_backend(group: ProcessGroup | None = None) -> Backend:
    """The library of a group."""
    return _of(group)._backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """The library of each kind of device."""
    return f"cpu:{_of(group)._backend}"


def get_default_backend_for_device(device: Any) -> str:
    """The library for a kind of device."""
    return Backend.GLOO if torch.device(device).type == "cpu" else Backend.NCCL


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """The number in the world of a process of a group."""
    if group is _get_default_group():
        return group_rank
    _of(group)
    if group_rank != 0:
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return 0


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """The number in a group of a process of the world."""
    _of(group)
    if global_rank != 0:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return 0


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """The processes of a group."""
    _of(group)
    return [0]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """The number of this process on its machine, as torchrun says it."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work, assuming you are not "
                       "running in a multi-device context and want the code to run locally instead.")  # fmt: skip


def get_pg_count() -> int:
    """The number of groups."""
    return len(_Groups.made)


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | None = None, backend: str | None = None, pg_options: Any = None, **options: Any
) -> Any:
    """A group of some of the processes."""
    world = _get_default_group()
    if ranks is not None:
        if len(ranks) > 1:
            raise ValueError("the new group's world size should be less or equal to the world size set by init_process_group")
        if any(rank != 0 for rank in ranks):
            raise ValueError("The new group's rank should be within the world_size set by init_process_group")
        if not ranks:
            return GroupMember.NON_GROUP_MEMBER
    made = ProcessGroup(backend or world._backend, str(len(_Groups.made)), world._store)
    _Groups.made.append(made)
    return made


def new_subgroups(group_size: int | None = None, *args: Any, **options: Any) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of equal size."""
    if group_size not in (None, 1):
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size (1)")
    made = new_group([0])
    return made, [made]


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]], *args: Any, **options: Any
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of these processes."""
    made = [new_group(ranks) for ranks in ranks_per_subgroup_list]
    return made[0], made


# -- collectives -------------------------------------------------------------------


def _check(tensor: Any, name: str) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n             but got {type(tensor)} instead."
        )


def _check_list(tensors: Any, name: str) -> None:
    if not isinstance(tensors, list) or not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        kind = [type(tensor) for tensor in tensors] if isinstance(tensors, list) else type(tensors)
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n             but got {kind} instead."
        )


def _check_root(what: str, group_rank: int | None, rank: int | None) -> None:
    root = group_rank if group_rank is not None else rank
    if root not in (0, None):
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid root rank: {root}")


def _work(async_op: bool, *tensors: Any) -> Work | None:
    return Work(list(tensors)) if async_op else None


def _copy(what: str, output: Any, input: Any) -> None:
    if output.shape != input.shape:
        sizes = [f"({', '.join(map(str, t.shape))})" for t in (input, output)]
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid tensor size at index 0 (expected {sizes[0]}, got {sizes[1]})")
    if output.dtype != input.dtype:
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid tensor type at index 0 (expected {input.dtype}, got {output.dtype})")
    with torch.no_grad():
        output.copy_(input)


def _only(what: str, tensors: Any) -> Any:
    if len(tensors) != 1:
        raise RuntimeError(f"ProcessGroupGloo::{what}: invalid output tensor list at index 0 (expected length 1, got {len(tensors)})")
    return tensors[0]


def all_reduce(tensor: torch.Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """The sum over all processes, in place: of one it is the tensor."""
    _check(tensor, "tensor")
    _of(group)
    return _work(async_op, tensor)


def all_reduce_coalesced(
    tensors: list[torch.Tensor], op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Any:
    """all_reduce of several tensors."""
    _check_list(tensors, "tensors")
    _of(group)
    return _work(async_op, *tensors)


def broadcast(
    tensor: torch.Tensor, src: int | None = None, group: ProcessGroup | None = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """What one process has, for all."""
    _check(tensor, "tensor")
    _of(group)
    _check_root("broadcast", group_src, src)
    return _work(async_op, tensor)


def reduce(
    tensor: torch.Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """The sum over all processes, for one of them."""
    _check(tensor, "tensor")
    _of(group)
    _check_root("reduce", group_dst, dst)
    return _work(async_op, tensor)


def all_gather(
    tensor_list: list[torch.Tensor], tensor: torch.Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """What all processes have, for all."""
    _check_list(tensor_list, "tensor_list")
    _check(tensor, "tensor")
    _of(group)
    _copy("allgather", _only("allgather", tensor_list), tensor)
    return _work(async_op, *tensor_list)


def all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Any:
    """all_gather of several tensors."""
    _of(group)
    for output, tensor in zip(_only("allgather_coalesced", output_tensor_lists), input_tensor_list, strict=True):
        _copy("allgather_coalesced", output, tensor)
    return _work(async_op)


def _renamed(old: str, new: str) -> None:
    warnings.warn(f"`torch.distributed.{old}` is deprecated. Please use `torch.distributed.{new}` instead.", FutureWarning, stacklevel=3)


def all_gather_into_tensor(
    output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """The older name of all_gather_single()."""
    _renamed("all_gather_into_tensor", "all_gather_single")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def all_gather_single(output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """What all processes have, one behind the other."""
    _check(input_tensor, "input_tensor")
    _check(output_tensor, "output_tensor")
    _of(group)
    same = output_tensor.shape == (1, *input_tensor.shape)
    _copy("allgather", output_tensor[0] if same else output_tensor, input_tensor)
    return _work(async_op, output_tensor)


def gather(
    tensor: torch.Tensor,
    gather_list: list[torch.Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """What all processes have, for one of them."""
    _check(tensor, "tensor")
    _of(group)
    _check_root("gather", group_dst, dst)
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _copy("gather", _only("gather", gather_list), tensor)
    return _work(async_op, *gather_list)


def scatter(
    tensor: torch.Tensor,
    scatter_list: list[torch.Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """A part for each process, from one of them."""
    _check(tensor, "tensor")
    _of(group)
    _check_root("scatter", group_src, src)
    if not scatter_list:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    _copy("scatter", tensor, _only("scatter", scatter_list))
    return _work(async_op, tensor)


def reduce_scatter(output: torch.Tensor, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """The sum over all processes of one part for each."""
    _check(output, "output")
    _check_list(input_list, "input_list")
    _of(group)
    _copy("reduce_scatter", output, _only("reduce_scatter", input_list))
    return _work(async_op, output)


def reduce_scatter_tensor(
    output: torch.Tensor, input: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The older name of reduce_scatter_single()."""
    _renamed("reduce_scatter_tensor", "reduce_scatter_single")
    return reduce_scatter_single(output, input, op, group, async_op)


def reduce_scatter_single(
    output: torch.Tensor, input: torch.Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The same, of parts in one tensor."""
    _check(output, "output")
    _check(input, "input")
    _of(group)
    _copy("reduce_scatter", output, input[0] if input.shape == (1, *output.shape) else input)
    return _work(async_op, output)


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """A part from each process for each."""
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    _of(group)
    _copy("alltoall", _only("alltoall", output_tensor_list), _only("alltoall", input_tensor_list))
    return _work(async_op, *output_tensor_list)


def all_to_all_single(
    output: torch.Tensor,
    input: torch.Tensor,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """The same, of parts in one tensor."""
    _check(output, "output")
    _check(input, "input")
    _of(group)
    _copy("alltoall_base", output, input)
    return _work(async_op, output)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Waits for all processes."""
    _of(group)
    return _work(async_op)


def monitored_barrier(group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Waits for all processes, and says who does not come."""
    _of(group)


# -- objects -----------------------------------------------------------------------


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """What all processes have, pickled on the way."""
    _of(group)
    object_list[:1] = [_sent(obj)]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
    **options: Any,
) -> None:
    """What one process has, for all."""
    _of(group)
    _check_root("broadcast", group_src, src)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """What all processes have, for one of them."""
    _of(group)
    _check_root("gather", group_dst, dst)
    if not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    object_gather_list[0] = _sent(obj)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """One object for each process, from one of them."""
    _of(group)
    _check_root("scatter", group_src, src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    if not scatter_object_input_list:
        raise ValueError("source rank must provide non-None scatter_object_input_list")
    scatter_object_output_list[0] = _sent(scatter_object_input_list[0])


def _sent(obj: Any) -> Any:
    import pickle

    return pickle.loads(pickle.dumps(obj))


# -- from one to another, of which there is none ---------------------------------------


class P2POp:
    """One sending or receiving of batch_isend_irecv()."""

    def __init__(
        self, op: Any, tensor: Any, peer: int | None = None, group: Any = None, tag: int = 0, group_peer: int | None = None
    ) -> None:
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = op, tensor, peer, group, tag, group_peer


def _other(what: str, rank: int | None, group: Any) -> Any:
    _of(group)
    if rank == 0 and what == "destination":
        raise ValueError("Invalid destination rank: destination rank should not be the same as the rank of the current process.")
    raise ValueError(f"there is no {what} rank {rank}: {_ALONE}")


def send(tensor: torch.Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Sends a tensor to another process."""
    _other("destination", dst if group_dst is None else group_dst, group)


def isend(tensor: torch.Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> Work | None:
    """Sends a tensor to another process, without waiting."""
    return _other("destination", dst if group_dst is None else group_dst, group)


def recv(tensor: torch.Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receives a tensor from another process."""
    return _other("source", src if group_src is None else group_src, group)


def irecv(tensor: torch.Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> Work | None:
    """Receives a tensor from another process, without waiting."""
    return _other("source", src if group_src is None else group_src, group)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Several of them at once."""
    return [op.op(op.tensor, op.peer, op.group, op.tag) for op in p2p_op_list]


def send_object_list(object_list: list[Any], dst: int | None = None, group: Any = None, **options: Any) -> None:
    """Sends objects to another process."""
    _other("destination", dst, group)


def recv_object_list(object_list: list[Any], src: int | None = None, group: Any = None, **options: Any) -> int:
    """Receives objects from another process."""
    return _other("source", src, group)
