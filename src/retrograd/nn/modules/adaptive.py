"""A softmax over very many classes, most of them rare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn import functional as F
from retrograd.nn.modules.container import ModuleList, Sequential
from retrograd.nn.modules.linear import Linear
from retrograd.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ops = _C._ops


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes in order of frequency: the frequent ones in a head, the others in clusters that the head chooses among.

    Args:
        cutoffs: where the clusters begin.
        div_value: how much narrower the hidden layer of each cluster is than that of the one before.
        head_bias: whether the head has a bias.
    """

    head: Any
    tail: Any

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 "
                f"and n_classes-1, got {cutoffs} for n_classes={n_classes}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, hidden, bias=False, **options), Linear(hidden, size, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Draws all weights anew."""
        self.head.reset_parameters()
        for to_hidden, to_classes in self.tail:
            to_hidden.reset_parameters()
            to_classes.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        batched = target_.dim() == 1
        if batched:
            if input_.dim() < 1 or input_.shape[0] != target_.shape[0]:
                raise RuntimeError(
                    f"Input and target should have the same size in the batch dimension. Got {list(input_.shape)} and {list(target_.shape)}."
                )
            input, target = input_, target_
        elif target_.dim() == 0:
            if input_.dim() != 1:
                raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input_.size()}")
            input, target = input_.unsqueeze(0), target_.unsqueeze(0)
        else:
            raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported, got a target of shape {list(target_.shape)}")
        if target.numel() and not (target.min().item() >= 0 and target.max().item() < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        # Each target's place in the head, its own or that of its cluster, and what its cluster adds.
        in_head = target.clone()
        parts, rows = [], []
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            row = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if not row.numel():
                continue
            cluster = F.log_softmax(self.tail[i](input.index_select(0, row)), dim=1)
            in_head[row] = self.shortlist_size + i
            rows.append(row)
            parts.append(cluster.gather(1, (target[row] - low).unsqueeze(1)).squeeze(1))
        output = F.log_softmax(self.head(input), dim=1).gather(1, in_head.unsqueeze(1)).squeeze(1)
        added = _ops.zeros_like(output)
        for row, part in zip(rows, parts, strict=True):
            added = added.index_copy(0, row, part)
        output = output + added
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        in_head = F.log_softmax(head_output, dim=1)
        short = self.shortlist_size
        clusters = [F.log_softmax(self.tail[i](input), dim=1) + in_head[:, short + i].unsqueeze(1) for i in range(self.n_clusters)]
        return _ops.cat([in_head[:, :short], *clusters], 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each example; the clusters are computed only for examples whose head may choose one."""
        head_output = self.head(input)
        output = head_output.argmax(dim=1)
        unsure = output >= self.shortlist_size
        if unsure.any():
            output = output.masked_scatter(unsure, self._get_full_log_prob(input[unsure], head_output[unsure]).argmax(dim=1))
        return output
