"""Recurrent layers over whole sequences."""

from registry import case


def forward_backward(torch, layer, x):
    def step():
        layer(x)[0].sum().backward()
        layer.zero_grad()
        x.grad = None

    return step


@case("nn.GRU 64, batch 8, 32 steps, forward + backward", target=4)
def gru(torch):
    return forward_backward(torch, torch.nn.GRU(64, 64), torch.randn(32, 8, 64, requires_grad=True))


@case("nn.LSTM 128, batch 16, 32 steps, forward + backward", target=2)
def lstm(torch):
    return forward_backward(torch, torch.nn.LSTM(128, 128), torch.randn(32, 16, 128, requires_grad=True))


@case("nn.RNN 64, batch 1, 16 steps, forward + backward", target=4)
def rnn(torch):
    return forward_backward(torch, torch.nn.RNN(64, 64), torch.randn(16, 1, 64, requires_grad=True))


@case("nn.GRU 64, both directions, packed, forward + backward", target=4)
def packed(torch):
    layer, lengths = torch.nn.GRU(64, 64, bidirectional=True), [32, 30, 24, 24, 17, 12, 5, 1]
    data = torch.randn(sum(lengths), 64, requires_grad=True)
    sizes = torch.tensor([sum(n > t for n in lengths) for t in range(lengths[0])])
    sequences = torch.nn.utils.rnn.PackedSequence(data, sizes)

    def step():
        layer(sequences)[0].data.sum().backward()
        layer.zero_grad()
        data.grad = None

    return step


@case("LSTM language model, 2 layers, hidden 128, batch 16, 32 steps, training step", target=2)
def language_model(torch):
    nn, vocabulary = torch.nn, 1000
    embedding, lstm, head = nn.Embedding(vocabulary, 128), nn.LSTM(128, 128, 2), nn.Linear(128, vocabulary)
    text, target = torch.randint(0, vocabulary, (32, 16)), torch.randint(0, vocabulary, (32 * 16,))
    optimizer = torch.optim.SGD([*embedding.parameters(), *lstm.parameters(), *head.parameters()], lr=0.1)

    def step():
        optimizer.zero_grad()
        out, _ = lstm(embedding(text))
        nn.functional.cross_entropy(head(out).flatten(0, 1), target).backward()
        optimizer.step()

    return step
