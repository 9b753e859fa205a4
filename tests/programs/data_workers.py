"""The loader with worker processes: seeds, order, errors."""

import random

from tests.programs.data import _data


def _made(D, function, length=6):
    class Made(D.Dataset):
        def __len__(self):
            return length

        def __getitem__(self, i):
            return function(i)

    return Made()


def _told(torch, D):
    """What a sample knows of its worker, and numbers from every random stream there is."""
    import numpy

    def sample(i):
        w = D.get_worker_info()
        drawn = (random.randrange(10**6), numpy.random.randint(10**6), int(torch.randint(10**6, ())))  # noqa: NPY002 - the stream that is seeded
        return (i, w.id, w.num_workers, w.seed, *drawn, torch.get_num_threads(), torch.initial_seed() == w.seed)

    return _made(D, sample)


def _run(show, loader, times=2):
    for _ in range(times):
        for batch in loader:
            show(batch)


def seeds(torch, show):
    D = _data(torch)
    torch.manual_seed(5)
    _run(show, D.DataLoader(_told(torch, D), batch_size=None, num_workers=2, shuffle=True))
    show(torch.randint(1000, ()), D.get_worker_info())


def seeds_of_workers_that_stay(torch, show):
    D = _data(torch)
    torch.manual_seed(6)
    _run(show, D.DataLoader(_told(torch, D), batch_size=2, num_workers=2, shuffle=True, persistent_workers=True))
    show(torch.randint(1000, ()))


def epochs_that_are_left_early(torch, show):
    D = _data(torch)
    torch.manual_seed(7)
    for stay in (False, True):
        loader = D.DataLoader(_told(torch, D), batch_size=2, num_workers=1, shuffle=True, persistent_workers=stay)
        for _ in range(3):
            show(next(iter(loader)))
    show(torch.randint(1000, ()))


def a_generator_of_ones_own(torch, show):
    D = _data(torch)
    g = torch.Generator().manual_seed(7)
    _run(show, D.DataLoader(_told(torch, D), batch_size=4, num_workers=2, shuffle=True, generator=g, drop_last=True))
    show(torch.randint(1000, (), generator=g))


def streams(torch, show):
    D = _data(torch)

    class Stream(D.IterableDataset):
        def __iter__(self):
            w = D.get_worker_info()
            yield from range(5 + w.id)

    for kw in ({"batch_size": 2}, {"batch_size": 2, "drop_last": True}, {"batch_size": None}):
        show(list(D.DataLoader(Stream(), num_workers=2, **kw)))
    loader = D.DataLoader(Stream(), batch_size=2, num_workers=2, persistent_workers=True)
    show(list(loader), list(loader))


def what_is_sent(torch, show):
    import numpy

    D = _data(torch)

    def sample(i):
        rest = {"a": torch.full((500,), i), "b": "x" * i, "c": torch.zeros(0, 3), "d": torch.ones(2, 3).t(), "e": numpy.ones(3), "f": None}
        return torch.full((300, 300), float(i)), rest

    for batch, rest in D.DataLoader(_made(D, sample, 3), batch_size=None, num_workers=1):
        batch.add_(1)
        show(batch.sum(), rest["a"].sum(), rest["b"], rest["c"], rest["d"].shape, rest["e"].dtype, rest["f"])
    kinds = (torch.float16, torch.bfloat16, torch.complex64, torch.bool, torch.int8)
    for i, batch in enumerate(D.DataLoader(_made(D, lambda i: torch.ones(2).to(kinds[i]), 5), num_workers=1)):
        show(i, batch)


def init_functions(torch, show, attempt):
    D = _data(torch)
    marks = []
    loader = D.DataLoader(_made(D, lambda i: len(marks), 2), num_workers=1, worker_init_fn=lambda i: marks.append(i))
    show(list(loader), marks)

    def bad(i):
        raise RuntimeError("not today")

    attempt(lambda: list(D.DataLoader(range(3), num_workers=1, worker_init_fn=bad)))


class _Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def errors(torch, show, attempt):
    D = _data(torch)

    def sample(i):
        if i == 1:
            raise ValueError("boo")
        return i

    it = iter(D.DataLoader(_made(D, sample, 3), num_workers=1))
    for _ in range(4):
        attempt(lambda: show(next(it)))
    for error in (KeyError("k"), _Odd(1, 2), IndexError(3)):

        def raises(i, error=error):
            raise error

        attempt(lambda raises=raises: list(D.DataLoader(_made(D, raises), num_workers=1)))


def more_workers_than_processors(torch, attempt):
    D = _data(torch)
    attempt(lambda: D.DataLoader(range(3), num_workers=10000) and None)
