"""Embeddings and bags of them."""

from tests.programs import differs


def _table(torch, rows=6, columns=3):
    torch.manual_seed(0)
    return torch.randn(rows, columns, dtype=torch.float64, requires_grad=True)


def _bags(torch):
    return torch.tensor([0, 2, 2, 5, 1]), torch.tensor([0, 2, 2, 4])


def _shown(torch, show, out, *leaves):
    show(out.detach(), out.grad_fn)
    show(*torch.autograd.grad((out * torch.linspace(0.5, 1.5, out.numel(), dtype=out.dtype).reshape(out.shape)).sum(), leaves))


def bags_by_mode(torch, nn, show):
    table, (words, offsets) = _table(torch), _bags(torch)
    for mode in ("sum", "mean", "max"):
        for padding in (None, 2, -1):
            _shown(torch, show, nn.functional.embedding_bag(words, table, offsets, mode=mode, padding_idx=padding), table)
        _shown(torch, show, nn.functional.embedding_bag(words[:4].reshape(2, 2), table, mode=mode), table)
        ends = torch.tensor([0, 2, 2, 5])
        _shown(torch, show, nn.functional.embedding_bag(words, table, ends, mode=mode, include_last_offset=True), table)
        _shown(torch, show, nn.functional.embedding_bag(words.int(), table, offsets.int(), mode=mode), table)


def four_results(torch, show):
    table, (words, offsets) = _table(torch), _bags(torch)
    for mode in (0, 1, 2):
        show(*(t.detach() for t in torch.embedding_bag(table, words, offsets, False, mode)))
        show(*(t.detach() for t in torch.embedding_bag(table, words, offsets, False, mode, False, None, False, 2)))
        show(*(t.detach() for t in torch.embedding_bag(table, words.int(), offsets.int(), False, mode)))
        show(*(t.detach() for t in torch.embedding_bag(table, words, torch.tensor([0, 2, 2, 5]), False, mode, False, None, True)))


def weights_of_words(torch, nn, show):
    table, (words, offsets) = _table(torch), _bags(torch)
    factors = torch.rand(5, dtype=torch.float64, requires_grad=True)
    for padding in (None, 2):
        out = nn.functional.embedding_bag(words, table, offsets, mode="sum", per_sample_weights=factors, padding_idx=padding)
        _shown(torch, show, out, table, factors)
    pairs = nn.functional.embedding_bag(words[:4].reshape(2, 2), table, mode="sum", per_sample_weights=factors[:4].reshape(2, 2))
    _shown(torch, show, pairs, table, factors)


def empty_bags(torch, nn, show):
    table = _table(torch)
    for mode in ("sum", "mean", "max"):
        none = torch.tensor([], dtype=torch.long)
        _shown(torch, show, nn.functional.embedding_bag(none, table, torch.tensor([0, 0]), mode=mode), table)
        _shown(torch, show, nn.functional.embedding_bag(none, table, none, mode=mode), table)


def the_first_of_equals(torch, show):
    table = torch.ones(3, 2, dtype=torch.float64)
    show(*torch.embedding_bag(table, torch.tensor([2, 0, 1]), torch.tensor([0]), False, 2))
    table = torch.tensor([[float("nan")], [1.0], [2.0]])
    show(*torch.embedding_bag(table, torch.tensor([1, 0, 2]), torch.tensor([0]), False, 2))
    show(*torch.embedding_bag(table, torch.tensor([0, 1, 2]), torch.tensor([0]), False, 2))


def bounded_rows(torch, nn, show):
    table = _table(torch)
    before = table._version
    _shown(torch, show, nn.functional.embedding(torch.tensor([1, 3, 1]), table, max_norm=0.8), table)
    show(table.detach(), table._version - before)
    _shown(torch, show, nn.functional.embedding_bag(torch.tensor([[4, 0]]), table, max_norm=0.3, norm_type=1.0), table)
    show(table.detach())
    rows = _table(torch).detach()
    for norm_type in (0.0, 1.0, 2.0, 3.0, float("inf")):
        changed = rows.clone()
        result = torch.embedding_renorm_(changed, torch.tensor([[1, 2], [1, 5]]), 0.5, norm_type)
        show(result is changed, changed)


def counts_of_words(torch, nn, show):
    table = _table(torch)
    _shown(torch, show, nn.functional.embedding(torch.tensor([1, 2, 1, 1]), table, scale_grad_by_freq=True), table)
    _shown(torch, show, nn.functional.embedding(torch.tensor([1, 2, 1, 1]), table, scale_grad_by_freq=True, padding_idx=1), table)


@differs("PyTorch divides the gradient of the last word by how often another occurs")
def counts_of_words_in_bags(torch, nn, show):
    table, (words, offsets) = _table(torch), _bags(torch)
    _shown(torch, show, nn.functional.embedding_bag(words, table, offsets, mode="sum", scale_grad_by_freq=True), table)


def layers(torch, nn, show, attempt):
    rows = torch.arange(12.0).reshape(4, 3)
    for cls in (nn.Embedding, nn.EmbeddingBag):
        for freeze in (True, False):
            m = cls.from_pretrained(rows, freeze=freeze, padding_idx=1)
            show(m, m.weight.requires_grad, m.weight.data_ptr() == rows.data_ptr())
        attempt(lambda cls=cls: cls.from_pretrained(torch.zeros(3)))
        attempt(lambda cls=cls: cls(4, 3, _weight=torch.zeros(2, 2)))
        attempt(lambda cls=cls: cls(4, 3, padding_idx=4))
        attempt(lambda cls=cls: cls(4, 3, padding_idx=-5))
        torch.manual_seed(3)
        m = cls(3, 2, padding_idx=0)
        show(m.weight.detach())
        m.reset_parameters()
        show(m.weight.detach())


def refused_bags(torch, nn, attempt):
    bag, table, (words, offsets) = nn.functional.embedding_bag, _table(torch), _bags(torch)
    factors = torch.rand(5, dtype=torch.float64)
    for mode in ("sum", "mean", "max"):
        attempt(lambda mode=mode: bag(torch.tensor([7]), table, torch.tensor([0]), mode=mode))
        attempt(lambda mode=mode: bag(torch.tensor([-1]), table, torch.tensor([0]), mode=mode))
        attempt(lambda mode=mode: bag(words, table, torch.tensor([1, 2]), mode=mode))
        attempt(lambda mode=mode: bag(words, table, torch.tensor([0, 9]), mode=mode))
    attempt(lambda: bag(words.float(), table, offsets))
    attempt(lambda: bag(words, table, offsets.float()))
    attempt(lambda: bag(words, table, offsets, mode="sum", per_sample_weights=factors.float()))
    attempt(lambda: bag(words, table, offsets, mode="mean", per_sample_weights=factors))
    attempt(lambda: bag(words, table, offsets, mode="sum", per_sample_weights=factors[:2]))
    attempt(lambda: torch.embedding_bag(table, words, offsets, False, 1, False, factors))
    attempt(lambda: torch.embedding_bag(table, words, offsets, False, 0, False, factors[:2]))
    attempt(lambda: bag(words[:4].reshape(2, 2), table, offsets))
    attempt(lambda: bag(words[:4].reshape(2, 2, 1), table))
    attempt(lambda: bag(words[0], table))
    attempt(lambda: bag(words, table))
    attempt(lambda: bag(words, table, offsets[None]))
    attempt(lambda: bag(words, table, offsets, mode="x"))
    attempt(lambda: bag(words, table[0], offsets))
    attempt(lambda: bag(words, table[None], offsets))
    attempt(lambda: bag(words, table.long(), offsets))
    attempt(lambda: bag(words, table, offsets, mode="max", scale_grad_by_freq=True))
    attempt(lambda: bag(words, table, offsets, mode="max", sparse=True))
    attempt(lambda: bag(words, table, offsets, padding_idx=9))
    attempt(lambda: torch.embedding_bag(table, words[:0], words[:0], False, 0, False, None, True))
    attempt(lambda: torch.embedding_renorm_(table, words, 1.0, 2.0))
    attempt(lambda: torch.embedding_renorm_(table.detach(), words.float(), 1.0, 2.0))
    attempt(lambda: torch.embedding_renorm_(table.detach()[0], words, 1.0, 2.0))


@differs(
    "retrograd refuses offsets that fall or leave words without a bag, where PyTorch reads other memory, and a last offset that is not the end"
)
def offsets_that_cannot_be(torch, nn, kind):
    table, (words, _) = _table(torch), _bags(torch)
    kind(lambda: nn.functional.embedding_bag(words, table, torch.tensor([0, 3, 2])).shape)
    kind(lambda: nn.functional.embedding_bag(words, table, torch.tensor([0, 2, 4]), include_last_offset=True).shape)


def elsewhere(torch, nn, show, vmap):
    table, (words, offsets) = _table(torch).detach(), _bags(torch)
    tables = torch.stack([table, table.flip(0)])
    show(vmap(lambda t: nn.functional.embedding_bag(words, t, offsets))(tables))
    show([t.shape for t in torch.embedding_bag(table.to("meta"), words.to("meta"), offsets.to("meta"), False, 2)])
    show(
        nn.functional.embedding_bag(words, table.bfloat16(), offsets).dtype, nn.functional.embedding_bag(words, table.half(), offsets).dtype
    )
