"""Channels in another order."""

from __future__ import annotations

from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """The channels in turn from each of `groups` groups of neighbours."""

    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
