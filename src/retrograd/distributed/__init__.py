"""torch.distributed in one process: a world of one does all that a larger one does, and every collective is what it would be there. A larger one is refused."""

import importlib as _importlib
import typing as _typing

from retrograd.distributed.distributed_c10d import *  # noqa: F403
from retrograd.distributed.stores import (
    FileStore as FileStore,
    HashStore as HashStore,
    PrefixStore as PrefixStore,
    Store as Store,
    TCPStore as TCPStore,
)

if _typing.TYPE_CHECKING:
    from retrograd.distributed import (
        algorithms as algorithms,
        checkpoint as checkpoint,
        device_mesh as device_mesh,
        distributed_c10d as distributed_c10d,
        elastic as elastic,
        fsdp as fsdp,
        nn as nn,
        optim as optim,
        rpc as rpc,
        tensor as tensor,
    )
    from retrograd.distributed.device_mesh import DeviceMesh as DeviceMesh, init_device_mesh as init_device_mesh
else:
    _MODULES = (
        "algorithms",
        "checkpoint",
        "device_mesh",
        "elastic",
        "fsdp",
        "nn",
        "optim",
        "rpc",
        "tensor",
        "_functional_collectives",
        "_tensor",
        "_composable",
    )

    def __getattr__(name):
        if name in _MODULES:
            return _importlib.import_module(f"{__name__}.{name}")
        if name in ("DeviceMesh", "init_device_mesh"):
            return getattr(_importlib.import_module(f"{__name__}.device_mesh"), name)
        from retrograd._missing import missing

        raise missing(__name__, name)
