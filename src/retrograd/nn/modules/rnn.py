"""Recurrent networks, one time step at a time."""

from __future__ import annotations

import math
from typing import Any

import retrograd as torch
from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn import init
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """Weights and biases for input and state, `num_chunks` blocks of hidden_size rows each."""

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(_C._ops.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_C._ops.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_C._ops.empty((rows,), device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all weights anew, uniformly within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            shown += f", nonlinearity={self.nonlinearity}"
        return shown

    def _check_dims(self, name: str, tensor: Tensor) -> None:
        if tensor.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {tensor.dim()}D instead")

    def _zeros(self, input: Tensor) -> Tensor:
        return _C._ops.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype, device=input.device)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _state(self, input: Tensor, hx: Tensor | None) -> Tensor:
        self._check_dims("input", input)
        if hx is None:
            return self._zeros(input)
        self._check_dims("hidden", hx)
        return hx


class RNNCell(RNNCellBase):
    """tanh(weight_ih @ input + bias_ih + weight_hh @ state + bias_hh).

    Args:
        nonlinearity: "tanh" or "relu".
    """

    nonlinearity: str

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        hx = self._state(input, hx)
        if self.nonlinearity == "tanh":
            return torch.rnn_tanh_cell(input, hx, *self._weights())
        if self.nonlinearity == "relu":
            return torch.rnn_relu_cell(input, hx, *self._weights())
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """Long short-term memory: a step takes and gives (output, memory)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        self._check_dims("input", input)
        if hx is None:
            hx = (self._zeros(input),) * 2
        for i, state in enumerate(hx):
            self._check_dims(f"hx[{i}]", state)
        return torch.lstm_cell(input, hx, *self._weights())


class GRUCell(RNNCellBase):
    """A gated recurrent unit."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return torch.gru_cell(input, self._state(input, hx), *self._weights())
