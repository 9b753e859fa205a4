"""Autograd graphs to look at: `viz.graph(loss)` is a page, a drawing or a DOT file of what backward would run.

The page stands alone (nothing from the network) and stays usable with tens of thousands of nodes.
"""

from __future__ import annotations

from retrograd.viz._graph import Graph, graph
from retrograd.viz._modules import watch

__all__ = ["Graph", "graph", "watch"]
