"""Bags of embeddings, and losses over sequences and vocabularies."""

from registry import case


def forward_backward(loss, *leaves):
    def step():
        loss().backward()
        for leaf in leaves:
            leaf.grad = None

    return step


def bags(torch, mode, rows, width, words, each):
    table = torch.randn(rows, width, requires_grad=True)
    at = torch.randint(0, rows, (words // each, each))
    return forward_backward(lambda: torch.nn.functional.embedding_bag(at, table, mode=mode).sum(), table)


@case("embedding_bag sum, 16 words of 64 columns, forward + backward", target=5)
def few_words(torch):
    return bags(torch, "sum", 100, 64, 16, 4)


@case("embedding_bag mean, 100000 words of 64 columns, forward + backward", target=1)
def many_words(torch):
    return bags(torch, "mean", 10000, 64, 100000, 50)


@case("embedding_bag max, 100000 words of 64 columns, forward + backward", target=1)
def many_maxima(torch):
    return bags(torch, "max", 10000, 64, 100000, 50)


def ctc(torch, steps, batch, classes, length):
    x = torch.randn(steps, batch, classes, requires_grad=True)
    targets = torch.randint(1, classes, (batch, length))
    lengths, sizes = (steps,) * batch, (length,) * batch
    return forward_backward(lambda: torch.nn.functional.ctc_loss(x.log_softmax(2), targets, lengths, sizes), x)


@case("ctc_loss, 8 steps, batch 2, 3 labels, forward + backward", target=5)
def short_ctc(torch):
    return ctc(torch, 8, 2, 6, 3)


@case("ctc_loss, 200 steps, batch 16, 30 labels of 40, forward + backward", target=1)
def long_ctc(torch):
    return ctc(torch, 200, 16, 40, 30)


@case("linear_cross_entropy in parts, 1024 rows of 64, 8000 classes, forward + backward", target=1)
def vocabulary(torch):
    x, w = torch.randn(1024, 64, requires_grad=True), torch.randn(8000, 64, requires_grad=True)
    target = torch.randint(0, 8000, (1024,))
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=128)
    return forward_backward(lambda: torch.nn.functional.linear_cross_entropy(x, w, target, options=options), x, w)
