"""Devices in a grid, each with a process: here a grid of one."""

from __future__ import annotations

import math
from typing import Any

import retrograd as torch
from retrograd.distributed import distributed_c10d as c10d

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """A grid of processes, by number."""

    def __init__(self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None, **options: Any) -> None:
        self.device_type = device_type
        self.mesh = torch.as_tensor(mesh, dtype=torch.int)
        self.mesh_dim_names = tuple(mesh_dim_names) if mesh_dim_names else None
        if self.mesh.numel() != 1:
            raise NotImplementedError(f"a mesh of {self.mesh.numel()} devices: retrograd computes in one process, and its world has size 1")
        if not c10d.is_initialized():
            c10d.init_process_group()

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of the grid."""
        return tuple(self.mesh.shape)

    @property
    def ndim(self) -> int:
        """The number of its dimensions."""
        return self.mesh.ndim

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, or along one dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(mesh_dim)

    def get_rank(self) -> int:
        """The number of this process."""
        return c10d.get_rank()

    def get_local_rank(self, mesh_dim: Any = None) -> int:
        """Its number along a dimension."""
        return 0

    def get_coordinate(self) -> tuple[int, ...]:
        """Its place."""
        return (0,) * self.ndim

    def get_group(self, mesh_dim: Any = None) -> Any:
        """The processes along a dimension."""
        return c10d._get_default_group()

    def get_all_groups(self) -> list[Any]:
        """The processes along each dimension."""
        return [self.get_group(i) for i in range(self.ndim)]

    def __getitem__(self, names: str | tuple[str, ...]) -> DeviceMesh:
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if not self.mesh_dim_names or any(name not in self.mesh_dim_names for name in wanted):
            raise KeyError(f"Invalid mesh_dim_names {wanted} specified. Valid mesh_dim_names are {self.mesh_dim_names}.")
        return DeviceMesh(self.device_type, self.mesh.reshape((1,) * len(wanted)), mesh_dim_names=wanted)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceMesh) and (self.device_type, self.shape, self.mesh_dim_names) == (
            other.device_type,
            other.shape,
            other.mesh_dim_names,
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.shape, self.mesh_dim_names))

    def __enter__(self) -> DeviceMesh:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __repr__(self) -> str:
        names = self.mesh_dim_names or [str(i) for i in range(self.ndim)]
        return f"DeviceMesh(({', '.join(f'{n}={s}' for n, s in zip(names, self.shape, strict=True))}), {self.device_type!r})"


def init_device_mesh(
    device_type: str, mesh_shape: tuple[int, ...], *, mesh_dim_names: tuple[str, ...] | None = None, **options: Any
) -> DeviceMesh:
    """A grid of all processes."""
    if mesh_dim_names is not None and len(set(mesh_dim_names)) != len(mesh_dim_names):
        raise RuntimeError(f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names {mesh_dim_names}")
    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError("mesh_shape and mesh_dim_names should have same length!")
    if math.prod(mesh_shape) != 1:
        raise NotImplementedError(f"a mesh of {tuple(mesh_shape)} devices: retrograd computes in one process, and its world has size 1")
    return DeviceMesh(device_type, torch.zeros(tuple(mesh_shape), dtype=torch.int), mesh_dim_names=mesh_dim_names)
