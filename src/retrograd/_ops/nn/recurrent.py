"""One time step of recurrent networks."""

from __future__ import annotations

from collections.abc import Sequence

from retrograd import _C, Tensor

_linear = _C._ops.linear


def _check(input: Tensor, w_ih: Tensor, w_hh: Tensor, *states: Tensor) -> None:
    """PyTorch's words for sizes that do not fit: input [batch, input_size], states [batch, hidden_size]."""
    if input.dim() == 2 and input.size(1) == w_ih.size(1):  # what nearly all calls are is settled first
        wanted = (input.size(0), w_hh.size(1))
        for state in states:
            if state.shape != wanted:
                break
        else:
            return
    if input.dim() == 0 or input.size(-1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1) if input.dim() else 1} expected {w_ih.size(1)}")
    for i, state in enumerate(states):
        if state.dim() == 0 or state.size(-1) != w_hh.size(1):
            got = state.size(-1) if state.dim() else 1
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {got}, expected {w_hh.size(1)}")
        if input.dim() != state.dim():
            raise RuntimeError(
                f"Expected input and hidden{i} to both have a batch dimension or none, got {input.dim()}D and {state.dim()}D"
            )
        if input.shape[:-1] != state.shape[:-1]:
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {state.size(0)}")


def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """The next state of a plain recurrent network: tanh of a linear map of input and state."""
    _check(input, w_ih, w_hh, hx)
    return (_linear(input, w_ih, b_ih) + _linear(hx, w_hh, b_hh)).tanh()


def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """The next state of a plain recurrent network: relu of a linear map of input and state."""
    _check(input, w_ih, w_hh, hx)
    return (_linear(input, w_ih, b_ih) + _linear(hx, w_hh, b_hh)).relu()


def lstm_cell(
    input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The next (output, memory) of an LSTM. The rows of the weights are those of input, forget, cell and output gate."""
    if not isinstance(hx, (tuple, list)):
        raise TypeError(f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not {type(hx).__name__}")
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    h, c = hx
    _check(input, w_ih, w_hh, h, c)
    enter, forget, new, show = (_linear(input, w_ih, b_ih) + _linear(h, w_hh, b_hh)).chunk(4, -1)
    c = forget.sigmoid() * c + enter.sigmoid() * new.tanh()
    return show.sigmoid() * c.tanh(), c


def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """The next state of a gated recurrent unit. The rows of the weights are those of reset gate, update gate and new state."""
    _check(input, w_ih, w_hh, hx)
    reset, update, new = _linear(input, w_ih, b_ih).chunk(3, -1)
    reset_h, update_h, new_h = _linear(hx, w_hh, b_hh).chunk(3, -1)
    new = (new + (reset + reset_h).sigmoid() * new_h).tanh()
    return (hx - new) * (update + update_h).sigmoid() + new  # laid out in memory as hx is
