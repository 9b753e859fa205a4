"""Averages of models over their training, and the rate to train with meanwhile."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import retrograd as torch
from retrograd._C import Tensor
from retrograd._progress import each
from retrograd.nn.modules.module import Module
from retrograd.optim.lr_scheduler import LRScheduler, _per_group
from retrograd.optim.optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """An exponential moving average of lists of tensors, in place."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """A running mean of lists of tensors, in place."""

    @torch.no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 / (int(num_averaged) + 1))
            else:
                average.add_((current - average).div(int(num_averaged) + 1, rounding_mode="trunc"))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """An exponential moving average of one tensor."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """A running mean of one tensor."""

    @torch.no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those it had at each update_parameters().

    Args:
        avg_fn: (average, current, number averaged) -> the new average of a tensor; the running mean if left out.
        multi_avg_fn: the same for lists of tensors, in place.
        use_buffers: average the buffers too; otherwise they are those of the model.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes the present parameters of the model into the average."""
        own, given = (
            [t.detach() for t in (itertools.chain(m.parameters(), m.buffers()) if self.use_buffers else m.parameters())]
            for m in (self.module, model)
        )
        given = [theirs.to(ours.device) for ours, theirs in zip(own, given, strict=True)]
        if self.n_averaged == 0:
            for ours, theirs in zip(own, given, strict=True):
                ours.copy_(theirs)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(own, given, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for ours, theirs in zip(own, given, strict=True):
                ours.copy_(average(ours, theirs, self.n_averaged))
        if not self.use_buffers:
            for buffer, theirs in zip(self.module.buffers(), model.buffers(), strict=True):
                buffer.detach().copy_(theirs.detach().to(buffer.device))
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the running statistics of the batch norms of a model anew, from the inputs that a loader gives.

    Args:
        loader: of batches, or of tuples whose first element is one.
        device: to bring them to.

    On a terminal a bar shows how far it is, where it takes longer than a second.
    """
    norms: dict[Any, Any] = {}
    for module in model.modules():
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):
            module.reset_running_stats()
            norms[module] = module.momentum
    if not norms:
        return
    training = model.training
    model.train()
    for module in norms:
        module.momentum = None  # plain means
    for batch in each(loader, "update_bn"):
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for module, momentum in norms.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Anneals the rate from what it is to swa_lr, then keeps it.

    Args:
        swa_lr: for all groups, or a list with one for each.
        anneal_epochs: in how many epochs.
        anneal_strategy: "cos" or "linear".
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        for group, rate in zip(optimizer.param_groups, _per_group(optimizer, swa_lr, "swa_lr"), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How much of the rate is swa_lr's after a number of steps."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        """The next rates: of what the present ones were mixed from, with another share of swa_lr."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal = group["swa_lr"]
            start = goal if before == 1 else (group["lr"] - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
