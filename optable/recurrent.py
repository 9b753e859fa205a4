"""Recurrent networks: one time step, and whole sequences of several layers in one or both directions.

The weights of a layer and direction are w_ih, w_hh, then b_ih and b_hh if there are biases, then w_hr if there is a projection. Their rows are
blocks of hidden_size: one, or those of input, forget, cell and output gate (LSTM), or of reset gate, update gate and new state (GRU).
"""

from __future__ import annotations

from optable import composite, native, op, python
from optable.facts import LOOP, LOWER_PRECISION, PART, WIDER
from optable.samples import E, I, S, T

# ---- one time step ----

for _name, _gates, _doc in (
    ("rnn_tanh_cell", 1, "The next state of a plain recurrent network with tanh."),
    ("rnn_relu_cell", 1, "The next state of a plain recurrent network with relu."),
    ("gru_cell", 3, "The next state of a gated recurrent unit."),
):
    op(
        f"{_name}(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        variants="function",
        kernel=python(f"retrograd._ops.nn.recurrent:{_name}"),
        doc=_doc,
        samples=[
            S(T(2, 3), T(2, 4), T(4 * _gates, 3), T(4 * _gates, 4), T(4 * _gates), T(4 * _gates)),
            S(T(3, 3), T(3, 2), T(2 * _gates, 3), T(2 * _gates, 2)),
            S(T(3, 0), T(3, 2), T(2 * _gates, 0), T(2 * _gates, 2)),
        ],
        errors=(
            E(S(T(2, 2), T(2, 4), T(4 * _gates, 3), T(4 * _gates, 4)), RuntimeError, "input has inconsistent input_size: got 2 expected 3"),
            E(
                S(T(2, 3), T(2, 3), T(4 * _gates, 3), T(4 * _gates, 4)),
                RuntimeError,
                "hidden0 has inconsistent hidden_size: got 3, expected 4",
            ),
            E(
                S(T(2, 3), T(3, 4), T(4 * _gates, 3), T(4 * _gates, 4)),
                RuntimeError,
                "Input batch size 2 doesn't match hidden0 batch size 3",
            ),
        ),
    )
op(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor[]",
    variants="function",
    kernel=python("retrograd._ops.nn.recurrent:lstm_cell", unchecked=WIDER),
    doc="The next output and memory of an LSTM.",
    samples=[
        S(T(2, 3), [T(2, 4), T(2, 4)], T(16, 3), T(16, 4), T(16), T(16)),
        S(T(3, 3), [T(3, 2, high=1), T(3, 2, low=-1)], T(8, 3, low=-1, high=1), T(8, 2, low=-1, high=1)),
        S(T(3, 0), [T(3, 2, low=-1, high=1), T(3, 2, low=-1, high=1)], T(8, 0), T(8, 2, low=-1, high=1)),
    ],
    errors=(
        E(S(T(2, 3), [T(2, 4)], T(16, 3), T(16, 4)), RuntimeError, "lstm_cell expects two hidden states"),
        E(S(T(2, 3), [T(2, 4), T(2, 3)], T(16, 3), T(16, 4)), RuntimeError, "hidden1 has inconsistent hidden_size: got 3, expected 4"),
    ),
)

# ---- sequences ----

_WORDS = "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"


def _weights(gates: int, input: int, hidden: int, *, layers: int = 1, directions: int = 1, bias: bool = True, projection: int = 0) -> list:
    """The parameters of all layers; small, since complex tanh has poles."""
    shown, out = projection or hidden, []
    for layer in range(layers):
        for _ in range(directions):
            out += [(gates * hidden, input if layer == 0 else shown * directions), (gates * hidden, shown)]
            out += [(gates * hidden,)] * 2 if bias else []
            out += [(projection, hidden)] if projection else []
    return [T(*shape, low=-0.2, high=0.2) for shape in out]


def _sequences(name: str, gates: int, doc: str) -> None:
    two = name == "lstm"
    results = "(Tensor, Tensor, Tensor)" if two else "(Tensor, Tensor)"
    hx = "Tensor[] hx" if two else "Tensor hx"

    def state(*shape: int):
        return [T(*shape, low=-0.5, high=0.5), T(*shape, low=-0.5, high=0.5)] if two else T(*shape, low=-0.5, high=0.5)

    plain = _weights(gates, 3, 4)
    op(
        f"{name}.data(Tensor data, Tensor batch_sizes, {hx}, Tensor[] params, {_WORDS}) -> {results}",
        variants="function",
        kernel=composite(),
        syncs=True,
        crosses_devices=True,  # batch_sizes are on the CPU
        doc=f"{doc}, of packed sequences: `batch_sizes` says how many of them have a first, a second, ... element.",
        samples=[
            S(T(6, 3, low=-0.5, high=0.5), I(3, values=(3, 2, 1)), state(1, 3, 4), plain, True, 1, 0.0, False, False),
            S(
                T(7, 3, low=-0.5, high=0.5),
                I(3, values=(3, 3, 1)),
                state(4, 3, 2),
                _weights(gates, 3, 2, layers=2, directions=2, bias=False),
                False,
                2,
                0.0,
                True,
                True,
            ),
        ],
        errors=(
            E(
                S(T(5, 3), I(2, values=(2, 3)), state(1, 2, 4), plain, True, 1, 0.0, False, False),
                RuntimeError,
                r"The size of tensor a \(2\) must",
            ),
            E(
                S(T(5, 3), I(3, values=(3, 2, 2)), state(1, 3, 4), plain, True, 1, 0.0, False, False),
                RuntimeError,
                r"start \(5\) \+ length \(2\) exceeds",
            ),
        ),
    )
    op(
        f"{name}.input(Tensor input, {hx}, Tensor[] params, {_WORDS}, bool batch_first) -> {results}",
        variants="function",
        kernel=composite(),
        doc=f"{doc}, of sequences [time, batch, input_size].",
        samples=[
            S(T(4, 2, 3, low=-0.5, high=0.5), state(1, 2, 4), plain, True, 1, 0.0, False, False, False),
            S(T(2, 3, 3, low=-0.5, high=0.5), state(2, 2, 4), _weights(gates, 3, 4, layers=2), True, 2, 0.0, True, False, True),
            S(
                T(3, 2, 3, low=-0.5, high=0.5),
                state(4, 2, 2),
                _weights(gates, 3, 2, layers=2, directions=2, bias=False),
                False,
                2,
                0.5,
                False,
                True,
                False,
            ),
            S(T(2, 0, 3, low=-0.5, high=0.5), state(1, 0, 4), plain, True, 1, 0.0, False, False, False),
            *(
                [
                    S(
                        T(3, 2, 3, low=-0.5, high=0.5),
                        [T(2, 2, 2, low=-0.5, high=0.5), T(2, 2, 4, low=-0.5, high=0.5)],
                        _weights(4, 3, 4, directions=2, projection=2),
                        True,
                        1,
                        0.0,
                        False,
                        True,
                        False,
                    )
                ]
                if two
                else []
            ),
        ],
        errors=(
            E(
                S(T(0, 2, 3), state(1, 2, 4), plain, True, 1, 0.0, False, False, False),
                RuntimeError,
                "Expected sequence length to be larger than 0 in RNN",
            ),
            *(
                (
                    E(
                        S(T(2, 2, 3), state(1, 2, 4)[:1], plain, True, 1, 0.0, False, False, False),
                        RuntimeError,
                        "lstm expects two hidden states",
                    ),
                )
                if two
                else (
                    E(
                        S(T(2, 2, 3), state(1, 2, 4), plain[:3], True, 1, 0.0, False, False, False),
                        RuntimeError,
                        "got an incorrect number of RNN parameters",
                    ),
                    E(S(T(2, 2, 3), state(2, 2, 4), plain, True, 2, 0.0, False, False, False), RuntimeError, "Expected more"),
                    E(
                        S(T(2, 2, 3), state(2, 2, 4), plain, True, 1, 0.0, False, False, False),
                        RuntimeError,
                        "Expected more hidden states in stacked_rnn",
                    ),
                    E(
                        S(T(2, 2, 2), state(1, 2, 4), plain, True, 1, 0.0, False, False, False),
                        RuntimeError,
                        "mat1 and mat2 shapes cannot be multiplied",
                    ),
                    E(
                        S(T(2, 2, 3), state(1, 3, 4), plain, True, 1, 0.0, False, False, False),
                        RuntimeError,
                        r"The size of tensor a \(3\) must match the size of tensor b",
                    ),
                )
            ),
        ),
    )


_sequences("rnn_tanh", 1, "Plain recurrent layers with tanh")
_sequences("rnn_relu", 1, "Plain recurrent layers with relu")
_sequences("gru", 3, "Layers of gated recurrent units")
_sequences("lstm", 4, "LSTM layers")

# ---- one layer in one direction ----

_LAYER = "Tensor input, Tensor hx, Tensor? cx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, Tensor? w_hr"
_STEPS = "int[] batch_sizes, int kind, bool reverse"
_KINDS = "kind: 0 tanh, 1 relu, 2 LSTM, 3 GRU"


def _layer(kind: int, sizes: tuple[int, ...], *, bias: bool = True, projection: int = 0, grad: bool = True) -> list:
    """The tensors of a layer of input size 3 and hidden size 4."""
    gates, shown = (1, 1, 4, 3)[kind], projection or 4

    def t(*shape: int):
        return T(*shape, low=-1, high=1, grad=grad)

    biases = [t(4 * gates), t(4 * gates)] if bias else [None, None]
    states = [t(sizes[0], shown), t(sizes[0], 4) if kind == 2 else None]
    return [t(sum(sizes), 3), *states, t(4 * gates, 3), t(4 * gates, shown), *biases, t(projection, 4) if projection else None]


op(
    f"_recurrent_layer({_LAYER}, {_STEPS}) -> (Tensor output, Tensor hy, Tensor cy, Tensor saved)",
    variants="function internal",
    home="",
    kernel=native(),
    autocast=LOWER_PRECISION,
    grad={
        "input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr": "recurrent_grad(grads[0], grads[1], grads[2], input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, "
        "saved, batch_sizes, kind, reverse, needs_input, needs_w_ih || needs_w_hh || needs_b_ih || needs_b_hh || needs_w_hr)"
    },
    outputs_nondiff=("saved",),
    batching=LOOP,
    doc=f"One layer in one direction over packed sequences, and what its gradient needs; {_KINDS}.",
    samples=[
        *(S(*_layer(kind, (2, 2, 2)), (2, 2, 2), kind, False) for kind in range(4)),
        *(S(*_layer(kind, (3, 2, 1), bias=False), (3, 2, 1), kind, True) for kind in range(4)),
        S(*_layer(2, (3, 1), projection=2), (3, 1), 2, False),
        S(*_layer(2, (2, 2), projection=2, bias=False), (2, 2), 2, True),
        S(*_layer(3, (0, 0)), (0, 0), 3, False),
    ],
    errors=(
        E(S(*_layer(3, (2, 2)), (2, 1), 3, False), RuntimeError, "Expected as many elements as batch_sizes say, but got 4 and 3"),
        E(S(*_layer(3, (2, 2)), (2, 2), 4, False), RuntimeError, "expected a kind from 0 to 3"),
        E(S(*_layer(3, (2, 2)), (2, 2), 2, False), RuntimeError, "Expected a memory for an LSTM"),
    ),
)
op(
    f"_recurrent_layer_backward(Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy, {_LAYER}, Tensor saved, {_STEPS}, "
    "bool needs_input, bool needs_weights) -> (Tensor grad_input, Tensor grad_hx, Tensor grad_cx, Tensor grad_w_ih, Tensor grad_w_hh, "
    "Tensor grad_b_ih, Tensor grad_b_hh, Tensor grad_w_hr)",
    variants="function",
    home="",
    kernel=native(),
    no_grad=PART,
    batching=LOOP,
    doc="The gradients of _recurrent_layer, without derivative; those that are not needed are None.",
    samples=[
        S(
            T(4, 4, grad=False),
            None,
            None,
            *_layer(3, (2, 2), grad=False),
            T(80, low=0, high=1, grad=False),
            (2, 2),
            3,
            False,
            True,
            True,
        ),
        S(
            T(4, 4, grad=False),
            T(2, 4, grad=False),
            T(2, 4, grad=False),
            *_layer(2, (2, 2), grad=False),
            T(96, low=0, high=1, grad=False),
            (2, 2),
            2,
            True,
            False,
            True,
        ),
    ],
)
