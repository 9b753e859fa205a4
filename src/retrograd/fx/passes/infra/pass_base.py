"""What a pass is: a function of a GraphModule that says whether it changed it."""

from __future__ import annotations

import abc
from typing import NamedTuple

from retrograd.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module after a pass, and whether the pass changed anything."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A pass with checks before and behind it."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """The pass itself."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027 - a pass may have no checks
        """Raises unless the module is one that the pass can take."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raises unless the module is as the pass is to leave it."""
