"""Modules for inference: batch norms folded into what stands before them, dropouts taken out."""

from __future__ import annotations

import copy
from typing import Any

from retrograd import nn
from retrograd.fx import GraphModule, symbolic_trace
from retrograd.nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["fuse", "remove_dropout"]

_PAIRS: dict[tuple[type, type], Any] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn_eval,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn_eval,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn_eval,
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn_eval,
}


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> nn.Module:
    """The model with each batch norm, in evaluation mode, folded into the convolution or linear layer whose result it alone uses."""
    if not inplace:
        model = copy.deepcopy(model)
    traced: Any = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if node.op != "call_module" or not node.args or getattr(node.args[0], "op", "") != "call_module":
            continue
        before = node.args[0]
        layer, norm = modules[before.target], modules[node.target]
        fold = _PAIRS.get((type(layer), type(norm)))
        if fold is None or len(before.users) > 1 or not norm.track_running_stats:
            continue
        modules[before.target] = fold(layer, norm)
        parent, _, name = before.target.rpartition(".")
        setattr(modules[parent], name, modules[before.target])
        node.replace_all_uses_with(before)
        traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)


def remove_dropout(model: nn.Module) -> nn.Module:
    """The model without its dropouts."""
    traced = symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and isinstance(modules[str(node.target)], nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    return GraphModule(traced, traced.graph)
