"""Settings of the pipes that a data pipe is made of."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd.utils.data.datapipes.datapipe import sources

__all__ = ["apply_random_seed", "apply_sharding", "apply_shuffle_seed", "apply_shuffle_settings", "get_all_graph_pipes"]


def get_all_graph_pipes(graph: Any) -> list[Any]:
    """The pipes in what traverse_dps() gives."""
    found: dict[int, Any] = {}
    for key, (pipe, inner) in graph.items():
        found[key] = pipe
        found |= {id(each): each for each in get_all_graph_pipes(inner)}
    return list(found.values())


def apply_sharding(datapipe: Any, num_of_instances: int, instance_id: int, sharding_group: Any = None) -> Any:
    """Tells sharding filters how many there are, and which one this is."""
    for each in sources(datapipe):
        if hasattr(each, "apply_sharding"):
            each.apply_sharding(num_of_instances, instance_id)
    return datapipe


def apply_shuffle_settings(datapipe: Any, shuffle: bool | None = None) -> Any:
    """Switches shufflers on or off."""
    if shuffle is not None:
        for each in sources(datapipe):
            if hasattr(each, "set_shuffle"):
                each.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe: Any, rng: Any) -> Any:
    """Seeds shufflers, each from a draw of the generator."""
    for each in sources(datapipe):
        if hasattr(each, "set_seed"):
            each.set_seed(int(torch.empty((), dtype=torch.int64).random_(generator=rng).item()))
    return datapipe


apply_shuffle_seed = apply_random_seed
