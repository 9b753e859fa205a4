"""Products with sparse matrices, and tables with sparse gradients."""

from registry import case

ROWS, ELEMENTS, WIDTH = 10_000, 100_000, 64


def matrix(torch, layout="coo"):
    torch.manual_seed(0)
    x = torch.sparse_coo_tensor(torch.randint(0, ROWS, (2, ELEMENTS)), torch.rand(ELEMENTS), (ROWS, ROWS)).coalesce()
    return x if layout == "coo" else x.to_sparse_csr()


def product(torch, layout, both):
    a, x, grad = matrix(torch, layout), torch.rand(ROWS, WIDTH, requires_grad=True), torch.rand(ROWS, WIDTH)
    if both:
        a.requires_grad_()

    def step():
        torch.sparse.mm(a, x).backward(grad)
        a.grad = x.grad = None

    return step


# Floor: 2 flops for each element and column, three times; the rows that are read are in the second-level cache.
@case("sparse COO 10k x 10k, 100k elements @ 64 columns, forward + backward", target=1)
def coo(torch):
    return product(torch, "coo", both=False)


@case("sparse COO 10k x 10k, 100k elements @ 64 columns, forward + backward to both", target=1)
def coo_both(torch):
    return product(torch, "coo", both=True)


@case("sparse CSR 10k x 10k, 100k elements @ 64 columns, forward + backward", target=1)
def csr(torch):
    return product(torch, "csr", both=False)


@case("coalesce 100k elements", target=1)
def coalesce(torch):
    torch.manual_seed(0)
    x = torch.sparse_coo_tensor(torch.randint(0, ROWS, (2, ELEMENTS)), torch.rand(ELEMENTS), (ROWS, ROWS))
    return x.coalesce


def table(torch, make):
    torch.manual_seed(0)
    weight, indices = torch.rand(100_000, WIDTH, requires_grad=True), torch.randint(0, 100_000, (256, 20))
    optimizer = make([weight])

    def step():
        optimizer.zero_grad()
        torch.nn.functional.embedding(indices, weight, sparse=True).sum().backward()
        optimizer.step()

    return step


@case("embedding 100k x 64, 5k rows, sparse, SGD step", target=1)
def embedding(torch):
    return table(torch, lambda p: torch.optim.SGD(p, lr=0.1))


@case("embedding 100k x 64, 5k rows, sparse, SparseAdam step", target=1)
def embedding_adam(torch):
    return table(torch, torch.optim.SparseAdam)
