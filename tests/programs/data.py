"""Datasets, samplers, collation and the loader in one process: with the same seed the same batches in the same order."""

import collections
import random


def _data(torch):
    import importlib

    return importlib.import_module(f"{torch.__name__}.utils.data")


def _stream(D, length=5, said=None):
    class Stream(D.IterableDataset):
        def __iter__(self):
            return iter(range(length))

    class Sized(Stream):
        def __len__(self):
            return said

    return Stream() if said is None else Sized()


def shuffled_epochs(torch, show):
    D = _data(torch)
    torch.manual_seed(3)
    loader = D.DataLoader(D.TensorDataset(torch.arange(10), torch.arange(10.0) * 2), batch_size=3, shuffle=True)
    for _ in range(3):
        show([[a.tolist(), b.tolist()] for a, b in loader])
    show(torch.randint(1000, (3,)))  # how much of the stream was used


def generators(torch, show):
    D = _data(torch)
    g = torch.Generator().manual_seed(5)
    loader = D.DataLoader(range(7), batch_size=2, shuffle=True, generator=g, drop_last=True)
    show([b.tolist() for b in loader], [b.tolist() for b in loader], torch.randint(1000, (3,), generator=g))


def samplers(torch, show):
    D = _data(torch)
    g = torch.Generator().manual_seed(1)
    show(list(D.SequentialSampler(range(4))), list(D.RandomSampler(range(5), generator=g)), list(D.RandomSampler(range(5), generator=g)))
    show(list(D.RandomSampler(range(3), num_samples=8, generator=g)), list(D.RandomSampler(range(3), True, 40, generator=g)))
    show(list(D.SubsetRandomSampler([7, 8, 9], g)), list(D.WeightedRandomSampler([0.1, 0.9, 2.0], 10, generator=g)))
    show(list(D.WeightedRandomSampler([0.1, 0.9, 2.0], 3, False, generator=g)), torch.rand(2, generator=g))
    show(list(D.BatchSampler(range(7), 3, False)), list(D.BatchSampler(range(7), 3, True)), len(D.BatchSampler(range(7), 3, True)))
    torch.manual_seed(2)
    show(
        list(D.RandomSampler(range(6))), list(D.SubsetRandomSampler(range(4))), list(D.WeightedRandomSampler([1.0, 2.0], 4)), torch.rand(1)
    )
    for kw in ({}, {"shuffle": False}, {"drop_last": True}, {"seed": 4}):
        s = D.DistributedSampler(range(10), num_replicas=3, rank=2, **kw)
        s.set_epoch(2)
        show(list(s), len(s), s.total_size)


def bad_samplers(torch, attempt):
    D = _data(torch)
    attempt(lambda: D.RandomSampler([]))
    attempt(lambda: D.RandomSampler(range(3), replacement=1))
    attempt(lambda: D.RandomSampler(range(3), num_samples=0))
    attempt(lambda: D.RandomSampler(range(3), num_samples=1.5))
    attempt(lambda: D.WeightedRandomSampler([0.1], 0))
    attempt(lambda: D.WeightedRandomSampler([0.1], 1, replacement=2))
    attempt(lambda: D.WeightedRandomSampler([[0.1]], 1))
    attempt(lambda: list(D.WeightedRandomSampler([0.1], 2, replacement=False)))
    attempt(lambda: D.BatchSampler(range(7), 0, True))
    attempt(lambda: D.BatchSampler(range(7), True, True))
    attempt(lambda: D.BatchSampler(range(7), 2, 1))
    attempt(lambda: D.DistributedSampler(range(10), num_replicas=3, rank=5))
    attempt(lambda: D.DistributedSampler(range(10)))


def datasets(torch, show, attempt):
    D = _data(torch)
    stream = _stream(D)
    show(D.TensorDataset(torch.arange(4), torch.arange(8).reshape(4, 2))[1:3], len(D.TensorDataset(torch.ones(3))))
    show(D.StackDataset([1, 2], [3, 4])[1], D.StackDataset(a=[1, 2], b=[3, 4])[0], len(D.StackDataset([1, 2])))
    show(D.StackDataset([1, 2], D.Subset([5, 6, 7], [2, 0])).__getitems__([1, 0]), D.StackDataset(a=[1, 2]).__getitems__([0]))
    joined = D.ConcatDataset([[1], [2, 3]])
    show(joined[-1], joined[0], len(joined), joined.cumulative_sizes, len(D.TensorDataset(torch.ones(2)) + D.TensorDataset(torch.ones(3))))
    attempt(lambda: joined[-5])
    attempt(lambda: joined.cummulative_sizes)
    show(list(D.ChainDataset([stream, stream])), list(stream + stream), len(D.ChainDataset([_stream(D, 3, 3)])))
    part = D.Subset([5, 6, 7], [2, 0])
    show(part[1], len(part), part.__getitems__([0, 1]), D.Subset(torch.arange(9), [4, 5])[[1, 0]])
    for call in (
        lambda: D.TensorDataset(torch.zeros(2), torch.zeros(3)),
        lambda: D.StackDataset(),
        lambda: D.StackDataset([1], [1, 2]),
        lambda: D.StackDataset([1], a=[2]),
        lambda: D.ConcatDataset([]),
        lambda: D.ConcatDataset([stream]),
        lambda: list(D.ChainDataset([stream, [1]])),
        lambda: D.Dataset()[0],
        lambda: len(D.Dataset()),
    ):
        attempt(call)


def splits(torch, show, attempt):
    D = _data(torch)
    g = torch.Generator().manual_seed(3)
    for lengths in ([3, 7], [0.3, 0.7], [0.33, 0.33, 0.34]):
        show([list(s.indices) for s in D.random_split(range(10), lengths, g)])
    torch.manual_seed(0)
    show([list(s) for s in D.random_split(range(5), [2, 3])], [len(s) for s in D.random_split(range(11), [0.3, 0.3, 0.4])])
    attempt(lambda: D.random_split(range(10), [3, 3]))
    attempt(lambda: D.random_split(range(10), [1.5, -0.5]))
    attempt(lambda: [len(s) for s in D.random_split(range(1), [0.1, 0.9])])


def collation(torch, show, attempt):
    import numpy

    D = _data(torch)
    Pair = collections.namedtuple("Pair", "a b")
    for batch in (
        [torch.ones(2), torch.zeros(2)],
        [1, 2],
        [1.5, 2],
        [True, False],
        ["a", "b"],
        [b"a"],
        [(1, "x"), (2, "y")],
        [[1, 2.5], [3, 4.5]],
        [{"a": 1, "b": torch.ones(1)}, {"a": 2, "b": torch.zeros(1), "c": 3}],
        [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
        [Pair(1, 2), Pair(3, 4)],
        [numpy.float32(1), numpy.float32(2)],
        [numpy.ones(2), numpy.zeros(2)],
        [numpy.array(1), numpy.array(2)],
        [range(2), range(2)],
        [collections.deque([1, 2]), collections.deque([3, 4])],
        [{"a": [1, (2, "x")]}, {"a": [3, (4, "y")]}],
    ):
        show(D.default_collate(batch))
    for bad in (
        [torch.zeros(2), torch.zeros(3)],
        [[1, 2], [3]],
        [None],
        [object()],
        [1 + 2j],
        [{1}, {2}],
        [],
        [{"a": 1}, {"b": 2}],
        [numpy.array(["a"])],
        [numpy.array([object()])],
    ):
        attempt(lambda bad=bad: D.default_collate(bad))
    show(
        D.default_convert({"a": numpy.ones(2), "b": [1, "x"], "c": (numpy.float32(2), None)}),
        D.default_convert(range(2)),
        D.default_convert("ab"),
    )


def own_types_in_batches(torch, show):
    C = __import__("importlib").import_module(f"{torch.__name__}.utils.data._utils.collate")

    class Box:
        def __init__(self, value):
            self.value = value

    def boxes(batch, *, collate_fn_map=None):
        return ("boxes", C.collate([box.value for box in batch], collate_fn_map=collate_fn_map))

    known = {**C.default_collate_fn_map, Box: boxes}
    show(C.collate([Box(1), Box(2)], collate_fn_map=known), C.collate([(Box(1), 2), (Box(3), 4)], collate_fn_map=known))


def loader_arguments(torch, show, attempt):
    D = _data(torch)
    data, stream = D.TensorDataset(torch.arange(5)), _stream(D)
    for kw in (
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 2},
        {"persistent_workers": True},
        {"shuffle": True, "sampler": [0]},
        {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "drop_last": True},
        {"batch_size": None, "drop_last": True},
        {"batch_size": 0},
        {"batch_size": 1.5},
        {"multiprocessing_context": "x"},
        {"num_workers": 1, "multiprocessing_context": "nope"},
        {"num_workers": 1, "multiprocessing_context": 3},
        {"num_workers": 1, "prefetch_factor": -1},
        {"drop_last": 3},
    ):
        attempt(lambda kw=kw: D.DataLoader(data, **kw))
    for kw in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}):
        attempt(lambda kw=kw: D.DataLoader(stream, **kw))
    attempt(lambda: D.DataLoader(D.TensorDataset(torch.zeros(0)), shuffle=True))
    loader = D.DataLoader(data, batch_size=2)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        attempt(lambda name=name: setattr(loader, name, 1))
    show(len(loader), len(D.DataLoader(data, batch_size=2, drop_last=True)), len(D.DataLoader(data, batch_size=None)), len(iter(loader)))
    show(loader.batch_size, loader.num_workers, loader.pin_memory, loader.timeout, loader.prefetch_factor, loader.drop_last)
    attempt(lambda: len(D.DataLoader(stream)))


def kinds_of_loaders(torch, show):
    D = _data(torch)
    show(list(D.DataLoader(range(5), batch_size=2, collate_fn=list)), list(D.DataLoader(range(3), batch_size=None)))
    show(list(D.DataLoader(range(9), batch_sampler=[[1, 2], [5]])), list(D.DataLoader(range(9), sampler=[3, 1], batch_size=2)))
    show(list(D.DataLoader(_stream(D), batch_size=2)), list(D.DataLoader(_stream(D), batch_size=2, drop_last=True)))
    show(list(D.DataLoader(_stream(D), batch_size=None)), len(D.DataLoader(_stream(D, 5, 5), batch_size=2)))
    keyed = {"x": 1.0, "y": 2.0}
    show(list(D.DataLoader(keyed, batch_size=2, sampler=["y", "x"])))
    part = D.Subset(D.TensorDataset(torch.arange(6), torch.arange(12.0).reshape(6, 2)), [5, 0, 3])
    show(list(D.DataLoader(part, batch_size=2)), list(D.DataLoader(D.TensorDataset(torch.zeros(0, 2)))))
    x = torch.arange(4.0, requires_grad=True)
    show([b.requires_grad for [b] in D.DataLoader(D.TensorDataset(x), batch_size=2)])

    class Many(D.Dataset):
        def __len__(self):
            return 5

        def __getitems__(self, keys):
            return [key * 10 for key in keys]

    show(list(D.DataLoader(Many(), batch_size=2)))


def a_stream_that_says_too_little(torch, show, attempt):
    D = _data(torch)
    loader = D.DataLoader(_stream(D, 9, 3), batch_size=2)
    show(len(loader))
    attempt(lambda: list(loader))


def errors_in_datasets(torch, attempt):
    D = _data(torch)

    class Bad(D.Dataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            if i == 2:
                raise ValueError("no such picture")
            return torch.ones(i + 1)

    attempt(lambda: list(D.DataLoader(Bad(), batch_size=2)))
    attempt(lambda: list(D.DataLoader(Bad())))


def random_numbers_of_python_are_not_touched(torch, show):
    D = _data(torch)
    random.seed(1)
    list(D.DataLoader(range(5), shuffle=True))
    show(random.randrange(10**6))
