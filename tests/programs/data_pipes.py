"""Data pipes: sources and steps in a row."""


def wrappers(torch, show, attempt):
    D = torch.utils.data
    from_list = D.datapipes.iter.IterableWrapper
    p = from_list(range(5))
    show(list(p), list(p), len(p), isinstance(p, D.IterDataPipe), isinstance(p, D.IterableDataset))
    data = [[1], [2]]
    copied, shared = from_list(data), from_list(data, deepcopy=False)
    for x in copied:
        x.append(0)
    show(data)
    for x in shared:
        x.append(0)
    show(data)
    m = D.datapipes.map.SequenceWrapper({"a": 1, "b": 2})
    show(m["a"], len(m), isinstance(m, D.MapDataPipe))
    attempt(lambda: len(from_list(iter([1]), deepcopy=False)))


def _double(x):
    return x * 2


def _third(x):
    return x % 3


def _divides(x):
    return x % 3 == 0


def _half(x):
    return x % 2


def _sum(*x):
    return sum(x)


def _same(*x):
    return x


def _five(x):
    return 5


def _word(x):
    return "a"


def _is_a(x):
    return x.endswith("a.txt")


def steps(torch, show):
    def p(n=10):
        return torch.utils.data.datapipes.iter.IterableWrapper(range(n))

    show(list(p().map(_double)), list(p().filter(_divides)), list(p().batch(4)), list(p().batch(4, drop_last=True)))
    show(len(p().map(str)), len(p().batch(4)), len(p().batch(4, drop_last=True)), type(next(iter(p().batch(3)))).__name__)
    show(
        list(p().batch(2).batch(2).unbatch()),
        list(p().batch(2).batch(2).unbatch(unbatch_level=2)),
        list(p().batch(2).batch(2).unbatch(unbatch_level=-1)),
    )
    show(list(p().concat(p(3).map(_double))), list(p().zip(p(3).map(str))), len(p().zip(p(3))), len(p().concat(p())))
    show(list(p().batch(5).collate()), list(p(4).batch(2).collate(collate_fn=len)))
    show(
        list(p().groupby(_third)),
        list(p().groupby(_third, group_size=2)),
        list(p().groupby(_half, buffer_size=4, group_size=2, guaranteed_group_size=2)),
    )
    show(
        list(p().groupby(_third, keep_key=True)),
        list(p().groupby(_third, buffer_size=4)),
        list(p().groupby(_third, group_size=4, drop_remaining=True)),
    )
    show(list(p(4).mux(p(3).map(_double))), list(p().sharding_filter()), len(p().sharding_filter()), len(p(4).mux(p(3))))
    a, b = p().fork(2)
    show(list(a), list(b), len(a))
    a, b = p().fork(2)
    show([(x, y) for x, y in zip(a, b, strict=True)])
    even, odd = p().demux(2, _half)
    show(list(even), list(odd))
    even, odd = p().demux(2, _half)
    show([(x, y) for x, y in zip(even, odd, strict=True)])

    def pairs():
        return torch.utils.data.datapipes.iter.IterableWrapper([(1, 2, 3), (4, 5, 6)])

    show(
        list(pairs().map(_double, input_col=1)),
        list(pairs().map(_sum, input_col=[0, 2], output_col=-1)),
        list(pairs().map(_double, input_col=0, output_col=2)),
    )
    show(list(pairs().filter(_divides, input_col=2)), list(pairs().map(_same, input_col=(0, 1))))

    def named():
        return torch.utils.data.datapipes.iter.IterableWrapper([{"a": 1, "b": 2}])

    show(list(named().map(_double, input_col="a")), list(named().map(_sum, input_col=["a", "b"], output_col="c")))


def maps(torch, show, attempt):
    W = torch.utils.data.datapipes.map.SequenceWrapper
    p = W(range(6))
    show([p.map(_double)[i] for i in range(3)], [p.batch(4)[i] for i in range(2)], len(p.batch(4)), len(p.batch(4, drop_last=True)))
    both = p.concat(W("ab"))
    show(len(both), both[6], both[0], len(p.zip(W("abc"))), p.zip(W("abc"))[2])
    attempt(lambda: both[8])
    attempt(lambda: p.zip(W("abc"))[5])
    show(sorted(p.shuffle()), type(p.shuffle()).__name__)


def shuffling(torch, show):
    W = torch.utils.data.datapipes.iter.IterableWrapper
    p = W(range(12))
    shuffled = p.shuffle(buffer_size=4).set_seed(3)
    first = list(shuffled)
    show(
        sorted(first) == list(range(12)),
        first != list(range(12)),
        list(shuffled.set_seed(3)) == first,
        list(p.shuffle().set_shuffle(False)) == list(range(12)),
    )
    torch.manual_seed(0)
    a = list(p.shuffle())
    torch.manual_seed(0)
    show(a == list(p.shuffle()), len(p.shuffle()))


def of_ones_own(torch, show, attempt):
    D = torch.utils.data

    @D.functional_datapipe("twice_program")
    class Twice(D.IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            for x in self.source:
                yield x
                yield x

    p = D.datapipes.iter.IterableWrapper([1, 2])
    show(list(p.twice_program()), list(Twice(p)), repr(p), str(p.map(str)))
    attempt(lambda: p.no_such_step())
    attempt(lambda: len(Twice(p)))

    def again():
        @D.functional_datapipe("twice_program")
        class Other(D.IterDataPipe):
            def __iter__(self):
                yield 1

    attempt(again)
    del D.IterDataPipe.functions["twice_program"]


def one_iterator_at_a_time(torch, show, attempt):
    p = torch.utils.data.datapipes.iter.IterableWrapper(range(4))
    first = iter(p)
    show(next(first))
    second = iter(p)
    show(next(second))
    attempt(lambda: next(first))
    child = p.map(_double)
    a = iter(child)
    next(a)
    b = iter(child)
    show(list(b))
    attempt(lambda: next(a))


def what_does_not_fit(torch, attempt):
    p = torch.utils.data.datapipes.iter.IterableWrapper(range(4))
    attempt(lambda: p.batch(0))
    attempt(lambda: p.fork(0))
    attempt(lambda: p.demux(0, _half))
    attempt(lambda: list(p.demux(2, _five)[0]))
    attempt(lambda: list(p.demux(2, _half, buffer_size=1)[0]))
    attempt(lambda: list(p.filter(_word)))
    attempt(lambda: p.shuffle(buffer_size=0))
    attempt(lambda: p.zip(3))
    attempt(lambda: p.concat(3))
    attempt(lambda: list(p.unbatch(unbatch_level=-2)))
    attempt(lambda: list(p.unbatch()))


def in_a_loader(torch, show):
    D = torch.utils.data
    p = D.datapipes.iter.IterableWrapper(range(8)).map(_double)
    show([b.tolist() for b in D.DataLoader(p, batch_size=3)], list(D.DataLoader(p.batch(3), batch_size=None)))
    shuffled = D.DataLoader(D.datapipes.iter.IterableWrapper(range(8)).shuffle(), batch_size=None, shuffle=True)
    torch.manual_seed(0)
    a = [int(x) for x in shuffled]
    torch.manual_seed(0)
    show(
        sorted(a),
        a == [int(x) for x in shuffled],
        [int(x) for x in D.DataLoader(D.datapipes.iter.IterableWrapper(range(4)).shuffle(), batch_size=None, shuffle=False)],
    )
    m = D.datapipes.map.SequenceWrapper(range(5))
    show([b.tolist() for b in D.DataLoader(m, batch_size=2)])


def files(torch, show):
    import os
    import tempfile

    I = torch.utils.data.datapipes.iter
    with tempfile.TemporaryDirectory() as folder:
        for name in ("b.txt", "a.txt", "c.bin"):
            with open(os.path.join(folder, name), "w") as f:
                f.write(name + "\nmore")
        lister = I.FileLister(folder, "*.txt")
        show(sorted(os.path.basename(x) for x in lister))
        opened = lister.filter(_is_a).open_files(mode="rb").read_from_stream()
        show([(os.path.basename(n), data) for n, data in opened])
        show([(os.path.basename(n), data) for n, data in I.FileOpener([os.path.join(folder, "a.txt")], mode="b").read_from_stream(chunk=4)])
