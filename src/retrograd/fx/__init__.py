"""torch.fx: programs as graphs that can be looked at, changed, and run as Python again.

`symbolic_trace` runs a module once on stand-ins (`Proxy`) and writes down what it does as a `Graph` of `Node`s; a `GraphModule` is a module
whose `forward` is the code of a graph. `Interpreter` and `Transformer` run a graph node by node, `replace_pattern` rewrites parts of it.
"""

from retrograd.fx import (
    graph as graph,
    graph_module as graph_module,
    immutable_collections as immutable_collections,
    interpreter as interpreter,
    node as node,
    passes as passes,
    proxy as proxy,
    subgraph_rewriter as subgraph_rewriter,
)
from retrograd.fx._symbolic_trace import PH as PH, ProxyableClassMeta as ProxyableClassMeta, Tracer, symbolic_trace, wrap
from retrograd.fx.graph import CodeGen, Graph
from retrograd.fx.graph_module import GraphModule
from retrograd.fx.interpreter import Interpreter, Transformer
from retrograd.fx.node import Node, has_side_effect, map_arg
from retrograd.fx.proxy import Proxy
from retrograd.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
