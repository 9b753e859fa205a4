"""Packed sequences, and cells of recurrent networks."""

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
