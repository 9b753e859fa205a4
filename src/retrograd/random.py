"""Seeding and the state of the default generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from retrograd import _C
from retrograd._C import Generator, Tensor, default_generator

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> Generator:
    """Sets the seed of the default generator and returns it."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seeds the default generator from the system's entropy and returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default generator was last given."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator as a ByteTensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restores a state that get_rng_state() gave."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cpu", **kwargs: Any) -> Iterator[None]:
    """Restores the state of the default generator when the block ends."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def _rebuild_generator(state: Tensor) -> Generator:
    generator = _C.Generator()
    generator.set_state(state)
    return generator
