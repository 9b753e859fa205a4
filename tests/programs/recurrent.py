"""Packed sequences, recurrent layers and cells."""

import copy

from tests.programs import differs, own


def _padded(torch):
    return torch.arange(24.0).reshape(4, 3, 2)


def packing(torch, nn, show):
    R, x = nn.utils.rnn, _padded(torch)
    show(R.pack_padded_sequence(x, [4, 2, 1]))
    show(R.pack_padded_sequence(x, [3, 2, 2, 1], batch_first=True))
    show(R.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False))
    show(R.pack_padded_sequence(x, torch.tensor([3, 3, 1], dtype=torch.int32)))
    show(R.pack_padded_sequence(x[:, :, 0], torch.tensor([4.0, 2.0, 1.0])))
    show(R.pack_sequence([x[:3, 0], x[:2, 1], x[:2, 2]]))
    show(R.pack_sequence([x[:2, 0], x[:3, 1], x[:2, 2]], enforce_sorted=False))


def unpacking(torch, nn, show, attempt):
    R, x = nn.utils.rnn, _padded(torch)
    packed = R.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    show(R.pad_packed_sequence(packed))
    show(R.pad_packed_sequence(packed, batch_first=True, padding_value=-1))
    show(R.pad_packed_sequence(packed, total_length=5)[0].shape)
    attempt(lambda: R.pad_packed_sequence(packed, total_length=2))
    show(R.unpack_sequence(packed), R.unpad_sequence(x, torch.tensor([2, 1, 3])))
    show(R.invert_permutation(torch.tensor([2, 0, 1])), R.invert_permutation(None))


def gradients_through_packing(torch, nn, show):
    R = nn.utils.rnn
    x = torch.ones(3, 2, 2, requires_grad=True)
    for lengths in ([3, 1], [2, 3]):
        x.grad = None
        packed = R.pack_padded_sequence(x, lengths, enforce_sorted=False)
        padded, sizes = R.pad_packed_sequence(packed._replace(data=packed.data.square()))
        (padded * torch.arange(1.0, 4).reshape(3, 1, 1)).sum().backward()
        show(padded, sizes, x.grad)


def packed_sequences(torch, nn, show, attempt):
    R = nn.utils.rnn
    p = R.pack_padded_sequence(_padded(torch), [2, 4, 1], enforce_sorted=False)
    for name in ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu"):
        show(name, getattr(p, name)().data.dtype, type(getattr(p, name)()))
    show(
        p.to("cpu") is p,
        p.to(torch.float32) is p,
        p.to(torch.float64).data.dtype,
        p.to("meta").sorted_indices.device,
        p.is_cuda,
        p.is_pinned(),
    )
    attempt(lambda: p.to("cpu", copy=True))
    data, sizes, sort, unsort = p
    show(isinstance(p, tuple), p._fields, p._replace(data=data * 2), copy.deepcopy(p).data.shape)
    show(R.PackedSequence(torch.ones(3), torch.tensor([2, 1])), R.PackedSequence((torch.ones(3), torch.tensor([2, 1]))))
    show(R.PackedSequence(torch.ones(3), torch.tensor([2, 1]), torch.tensor([1, 0])))
    attempt(lambda: R.PackedSequence(torch.ones(3)))


def packing_refusals(torch, nn, attempt, kind):
    R, x = nn.utils.rnn, _padded(torch)
    attempt(lambda: R.pack_padded_sequence(x, [2, 4, 1]))
    attempt(lambda: R.pack_padded_sequence(x, [4, 2, 0]))
    attempt(lambda: R.pack_padded_sequence(x, [4, 2, -1]))
    attempt(lambda: R.pack_padded_sequence(x, [4, 2]))
    attempt(lambda: R.pack_padded_sequence(x, [4, 2, 1, 1]))
    attempt(lambda: R.pack_padded_sequence(x, torch.ones(3, 1, dtype=torch.long)))
    kind(lambda: R.pack_padded_sequence(x[:, 0, 0], [4]))
    attempt(lambda: R.pack_padded_sequence(torch.ones(0, 3, 2), [0, 0, 0]))
    attempt(lambda: R.pack_padded_sequence(torch.ones(3, 0, 2), []))
    attempt(lambda: R.pack_sequence([x[:2, 0], x[:3, 1]]))
    attempt(lambda: R.pack_sequence([]))


@differs("refused: PyTorch packs the elements there are and says that there are more")
def packing_lengths_beyond_the_padding(torch, nn, attempt):
    attempt(lambda: nn.utils.rnn.pack_padded_sequence(_padded(torch), [5, 2, 1]))


def _layers(nn):
    return (nn.RNN, False), (nn.LSTM, True), (nn.GRU, False)


def _first(state, two):
    return state[0] if two else state


@own("nodes")
def layers(torch, nn, show):
    for layer, two in _layers(nn):
        torch.manual_seed(0)
        m = layer(3, 2, num_layers=2, bidirectional=True, dtype=torch.float64)
        show(repr(m), list(m.state_dict()), [[tuple(w.shape) for w in ws] for ws in m.all_weights], isinstance(m, nn.RNNBase))
        x = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(4, 2, 3).requires_grad_()
        out, state = m(x)
        out, state = m(x * 2, state)  # on from where it was
        (out.square().sum() + _first(state, two).sum()).backward()
        show(out, state, x.grad, {name: p.grad for name, p in m.named_parameters()})
        show(m(x[:, 0])[0].shape, m(x[:, :0])[0].shape, m(x[:1])[0].shape, m.flatten_parameters(), m.mode)
    show(nn.RNN(3, 2, 1, "relu").nonlinearity, nn.RNN(3, 2, nonlinearity="relu").mode, nn.RNNBase("GRU", 3, 2))
    m = nn.LSTM(3, 4, 2, False, True, 0.5, True, 2)
    show(m, list(m.state_dict()), m.proj_size, m.dropout, m.batch_first)


def layers_on_packed_sequences(torch, nn, show):
    R = nn.utils.rnn
    for layer, two in _layers(nn):
        torch.manual_seed(0)
        m = layer(3, 2, bidirectional=True, dtype=torch.float64)
        padded = torch.linspace(-1, 1, 36, dtype=torch.float64).reshape(4, 3, 3).requires_grad_()
        packed = R.pack_padded_sequence(padded, [2, 4, 1], enforce_sorted=False)
        out, state = m(packed)
        show(type(out), out.batch_sizes, out.sorted_indices, out.unsorted_indices, out.data, state)
        out, state = m(packed, state)
        (R.pad_packed_sequence(out)[0].square().sum() + _first(state, two).sum()).backward()
        show(out.data, state, padded.grad, m.weight_hh_l0_reverse.grad)
        alone = [m(padded[:n, i])[0] for i, n in enumerate([2, 4, 1])]  # each sequence as if the others were not there
        show([torch.allclose(a, b) for a, b in zip(alone, R.unpack_sequence(m(packed)[0]), strict=True)])


@own("nodes")
def dropout_between_layers(torch, nn, show):
    for layer, _ in _layers(nn):
        torch.manual_seed(0)
        m = layer(3, 2, 3, dropout=0.5, dtype=torch.float64)
        x = torch.ones(4, 2, 3, dtype=torch.float64)
        show(m(x)[0], m(x)[0], m.eval()(x)[0])


def functions(torch, show):
    def t(*shape):
        return torch.linspace(-1, 1, max(1, torch.Size(shape).numel()), dtype=torch.float64).reshape(shape)

    x, data, sizes = t(3, 2, 2), t(5, 2), torch.tensor([3, 2])
    for name, gates in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)):
        f, w = getattr(torch, name), [t(3 * gates, 2), t(3 * gates, 3)]
        two = name == "lstm"
        show(f(x, [t(1, 2, 3)] * 2 if two else t(1, 2, 3), w, False, 1, 0.0, False, False, False))
        show(f(x, [t(1, 3, 3)] * 2 if two else t(1, 3, 3), w, False, 1, 0.0, False, False, True))
        show(f(data, sizes, [t(1, 3, 3)] * 2 if two else t(1, 3, 3), w, False, 1, 0.0, False, False))
        w = [*w, t(3 * gates), t(3 * gates)]
        show(f(input=x, hx=[t(2, 2, 3)] * 2 if two else t(2, 2, 3), params=w * 2, has_biases=True, num_layers=1, dropout=0.0, train=True,
               bidirectional=True, batch_first=False))  # fmt: skip


def layer_refusals(torch, nn, attempt, kind):
    R = nn.utils.rnn
    for layer, two in _layers(nn):
        m = layer(3, 4)

        def state(*shape):
            return (torch.ones(shape),) * 2 if two else torch.ones(shape)

        attempt(lambda: m(torch.ones(2, 2, 2)))
        attempt(lambda: m(torch.ones(2)))
        attempt(lambda: m(torch.ones(2, 2, 2, 2)))
        attempt(lambda: m(torch.ones(2, 5)))
        attempt(lambda: m(torch.ones(2, 2, 3), state(1, 2, 3)))
        attempt(lambda: m(torch.ones(2, 2, 3), state(1, 3, 4)))
        attempt(lambda: m(torch.ones(2, 2, 3), state(1, 4)))
        attempt(lambda: m(torch.ones(2, 3), state(1, 1, 4)))
        attempt(lambda: m(torch.ones(2, 3), state(1, 3)))
        attempt(lambda: m(torch.ones(2, 3), state(2, 4)))
        attempt(lambda: m(torch.ones(2, 3).double()))
        attempt(lambda: m(torch.ones(2, 3, dtype=torch.long)))
        attempt(lambda: m(torch.ones(0, 2, 3)))
        kind(lambda: m(torch.ones(2, 2, 3), 5))
        kind(lambda: m(5))
        (kind if two else attempt)(lambda: m(R.pack_padded_sequence(torch.ones(4, 3, 3), [4, 2, 1]), state(1, 2, 4)))
        attempt(lambda: m(R.PackedSequence(torch.ones(5, 3), torch.tensor([2, 3]))))
        attempt(lambda: m(R.PackedSequence(torch.ones(5, 3), torch.tensor([3, 2, 2]))))
        kind(lambda: m(R.PackedSequence(torch.ones(5, 3), torch.tensor([3.0, 2.0]))))
        kind(lambda: m(R.PackedSequence(torch.ones(5, 2), torch.tensor([3, 2]))))
        kind(lambda: m(R.PackedSequence(torch.ones(5), torch.tensor([3, 2]))))
        for sizes in ((3, 0), (3, -1), (0, 4), (3, 4, 0), (3, 2.5)):
            attempt(lambda s=sizes: layer(*s))
        attempt(lambda: layer(3, 4, dropout=1.5))
        attempt(lambda: layer(3, 4, dropout=True))
        attempt(lambda: layer(3, 4, 2, proj_size=4 if two else 2))
        kind(lambda: layer(3))
    layer(3, 4, dropout=0.5)  # warns
    attempt(lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 3), (torch.ones(1, 2, 4), torch.ones(1, 2, 3))))
    attempt(lambda: nn.LSTM(3, 4)(torch.ones(2, 2, 3), (torch.ones(1, 2, 4), torch.ones(1, 4))))
    attempt(lambda: nn.LSTM(3, 4, proj_size=-1))
    attempt(lambda: nn.RNN(3, 4, nonlinearity="foo"))
    attempt(lambda: nn.RNNBase("FOO", 3, 4))


@differs("refused: PyTorch leaves the elements out that batch_sizes do not name")
def packed_elements_beyond_the_batch_sizes(torch, nn, attempt):
    attempt(lambda: nn.GRU(3, 4)(nn.utils.rnn.PackedSequence(torch.ones(5, 3), torch.tensor([2, 1])))[0].data.shape)


@own("nodes")
def cells(torch, nn, show):
    for cell, two in ((nn.RNNCell, False), (nn.LSTMCell, True), (nn.GRUCell, False)):
        torch.manual_seed(0)
        m = cell(3, 2, dtype=torch.float64)
        x = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(4, 3)
        state = None
        for _ in range(3):
            state = m(x, state)
        (state[0] if two else state).sum().backward()
        show(repr(m), state, {name: p.grad for name, p in m.named_parameters()})
        show(m(x[0]), m(x[:0]), list(m.state_dict()), isinstance(m, nn.RNNCellBase))
        show(cell(3, 0), cell(0, 2), cell(3, 2, bias=False), m.input_size, m.hidden_size, m.bias)
    show(nn.RNNCell(3, 2, nonlinearity="relu"), nn.RNNCellBase(2, 3, True, num_chunks=2).weight_ih.shape)


def cell_refusals(torch, nn, attempt, kind):
    for cell, two in ((nn.RNNCell, False), (nn.LSTMCell, True), (nn.GRUCell, False)):
        m, x = cell(3, 2), torch.ones(4, 3)

        def state(*shape):
            return (torch.ones(shape),) * 2 if two else torch.ones(shape)

        attempt(lambda: m(torch.ones(4, 3, 3)))
        attempt(lambda: m(torch.ones(4, 2)))
        attempt(lambda: m(x, state(1, 4, 2)))
        attempt(lambda: m(x, state(3, 2)))
        attempt(lambda: m(x, state(4, 3)))
        kind(lambda: m(torch.ones(3), state(1, 2)))
        kind(lambda: m(x.double()))
        attempt(lambda: cell(3, -1))
        kind(lambda: cell(3, 2.5))
    attempt(lambda: nn.LSTMCell(3, 2)(torch.ones(4, 3), (torch.ones(4, 2), torch.ones(4, 3))))
    attempt(lambda: nn.RNNCell(3, 2, nonlinearity="foo")(torch.ones(4, 3)))
