"""Recurrent networks: layers over sequences, and cells that take one time step."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterator
from typing import Any

import retrograd as torch
from retrograd import _C
from retrograd._C import Tensor
from retrograd.nn import init
from retrograd.nn.modules.module import Module
from retrograd.nn.parameter import Parameter
from retrograd.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The old name of index_select for states of sequences."""
    warnings.warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead", FutureWarning, stacklevel=2
    )
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Layers of one or two directions, each with weights weight_ih_l<layer>, weight_hh_l<layer>, bias_ih_l<layer>, bias_hh_l<layer>
    and weight_hr_l<layer>, whose names end in _reverse for the second direction.

    Args:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU".
        num_layers: each takes the outputs of the one before.
        batch_first: sequences are [batch, time, size], not [time, batch, size].
        dropout: the probability of zeroing outputs of all layers but the last, while training.
        bidirectional: a second network of each layer goes from the end to the start; outputs stand side by side.
        proj_size: LSTM alone: what a step shows is a projection to this size.
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        if isinstance(dropout, (bool, str)) or not 0 <= self.dropout <= 1:
            raise ValueError(
                f"dropout should be a number in range [0, 1] representing the probability of an element being zeroed, got {dropout!r}"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
                f"but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=3,
            )
        if not isinstance(hidden_size, int):
            raise TypeError(f"hidden_size should be of type int, got: {type(hidden_size).__name__}")
        if input_size <= 0:
            raise ValueError(f"input_size must be greater than zero, got {input_size}")
        if hidden_size <= 0:
            raise ValueError(f"hidden_size must be greater than zero, got {hidden_size}")
        if num_layers <= 0:
            raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
        if proj_size < 0:
            raise ValueError(f"proj_size should be a positive integer or zero to disable projections, got {proj_size}")
        if proj_size >= hidden_size:
            raise ValueError(f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}")
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self._all_weights: list[list[str]] = []
        rows, shown, directions = _GATES[mode] * hidden_size, proj_size or hidden_size, 2 if bidirectional else 1
        for layer in range(num_layers):
            entering = input_size if layer == 0 else shown * directions
            for direction in range(directions):
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, entering), "weight_hh": (rows, shown)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size > 0:
                    shapes |= {"weight_hr": (proj_size, hidden_size)}
                names = [f"{name}_l{layer}{'_reverse' * direction}" for name in shapes]
                for name, shape in zip(names, shapes.values(), strict=True):
                    self.register_parameter(name, Parameter(_C._ops.empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Tensor]:
        """The weights that the layers compute with. Others may be put in their place, for as long as the attributes stay the same tensors."""
        weights = [getattr(self, name) for names in self._all_weights for name in names]
        if "_given_weights" in self.__dict__:
            given, instead_of = self._given_weights
            if all(map(operator.is_, instead_of, weights)):
                return given
            del self._given_weights
        return weights

    @_flat_weights.setter
    def _flat_weights(self, given: list[Tensor]) -> None:
        weights = [getattr(self, name) for names in self._all_weights for name in names]
        self.__dict__.pop("_given_weights", None)
        if given is None or len(given) != len(weights):
            raise ValueError(f"_flat_weights has to be a list of {len(weights)} tensors: {', '.join(self._flat_weights_names)}")
        if not all(map(operator.is_, given, weights)):
            self._given_weights = list(given), weights

    def flatten_parameters(self) -> None:
        """Nothing: only libraries of other devices want the weights in one piece of memory."""

    def reset_parameters(self) -> None:
        """Draws all weights anew, uniformly within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != usual:
                shown += f", {name}={getattr(self, name)}"
        return shown

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Throws unless the layers take the input."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: input.to({weight.dtype}), "
                f"or convert model: model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _state_size(self, input: Tensor, batch_sizes: Tensor | None, width: int) -> tuple[int, int, int]:
        batch = operator.index(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, width

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The size of the state for an input."""
        return self._state_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Throws unless a state has that size."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Throws unless input and state fit the layers."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states of sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _states(self, hx: Any) -> Iterator[Tensor]:
        yield hx

    def _gathered(self, states: Any) -> Any:
        (state,) = states
        return state

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        return _C._ops.zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _check_batched(self, hx: Any, batched: bool) -> None:
        if hx.dim() != 2 + batched:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {2 + batched}-D but got {hx.dim()}-D tensor")

    def _run_layers(self, function: Any, input: Any, hx: Any) -> tuple[Any, Any]:
        """Calls a function of torch on sequences that are dense, without a batch, or packed."""
        settings = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if isinstance(input, PackedSequence):
            data, batch_sizes, order, original = input
            self.check_input(data, batch_sizes)
            if self.mode == "LSTM" and isinstance(hx, Tensor):
                raise TypeError(
                    "lstm() received an invalid combination of arguments - got (Tensor, Tensor, Tensor, list, bool, int, float, bool, bool), but "
                    "expected a tuple of two tensors, output and memory, for the state"
                )
            hx = self._zeros(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
            self.check_forward_args(data, hx, batch_sizes)
            output, *last = function(data, batch_sizes, hx, *settings)
            return PackedSequence(output, batch_sizes, order, original), self.permute_hidden(self._gathered(last), original)
        if input.dim() not in (2, 3):
            tensor = " tensor" if self.mode.startswith("RNN") else ""
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D{tensor} instead")
        batched, at = input.dim() == 3, 0 if self.batch_first else 1
        if hx is not None:
            self._check_batched(hx, batched)
        if not batched:
            input = input.unsqueeze(at)
            if hx is not None:
                hx = self._gathered([state.unsqueeze(1) for state in self._states(hx)])
        if hx is None:
            self.check_input(input, None)
            hx = self._zeros(input, None)
        self.check_forward_args(input, hx, None)
        output, *last = function(input, hx, *settings, self.batch_first)
        if not batched:
            output, last = output.squeeze(at), [state.squeeze(1) for state in last]
        return output, self._gathered(last)


class RNN(RNNBase):
    """Layers of tanh(weight_ih @ input + bias_ih + weight_hh @ state + bias_hh); gives the outputs of all steps, and the last states.

    Args:
        nonlinearity: "tanh" or "relu".
    """

    nonlinearity: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        return self._run_layers(torch.rnn_tanh if self.mode == "RNN_TANH" else torch.rnn_relu, input, hx)


class LSTM(RNNBase):
    """Layers of long short-term memory. The state is a pair (output, memory)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The size of the memory for an input."""
        return self._state_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Throws unless input, state and memory fit the layers."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states of sequences in another order."""
        return hx if permutation is None else tuple(state.index_select(1, permutation) for state in hx)

    def _states(self, hx: Any) -> Iterator[Tensor]:
        return iter(hx)

    def _gathered(self, states: Any) -> Any:
        return tuple(states)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        memory = _C._ops.zeros(self.get_expected_cell_size(input, batch_sizes), dtype=input.dtype, device=input.device)
        return super()._zeros(input, batch_sizes), memory

    def _check_batched(self, hx: Any, batched: bool) -> None:
        if any(state.dim() != 2 + batched for state in (hx[0], hx[1])):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {2 + batched}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        return self._run_layers(torch.lstm, input, hx)


class GRU(RNNBase):
    """Layers of gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        return self._run_layers(torch.gru, input, hx)


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
