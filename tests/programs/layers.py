"""Layers and functions whose inputs have unusual shapes, and names of their modules that programs import."""

from importlib import import_module

from tests.programs import says


@says("dropout2d")
def channels_of_other_inputs(torch, F, show):
    for ndim in (2, 3, 4, 5):
        dropped = F.dropout2d(torch.ones([4] * ndim), 0.5)
        show(ndim, dropped.shape, dropped.flatten(2).var(2).max() if ndim > 2 else "")


@says("dropout3d")
def volumes_of_other_inputs(torch, F, show):
    for ndim in (3, 4, 5, 6):
        show(F.dropout3d(torch.ones([2] * ndim), 0.5).shape)


def triplets_of_unlike_tensors(torch, F, attempt):
    x = torch.ones(3, 4)
    attempt(lambda: F.triplet_margin_loss(x, x, x[0]))
    attempt(lambda: F.triplet_margin_with_distance_loss(x, x[0], x))


def parts_that_programs_import(torch, nn, F, show, attempt):
    package = torch.__name__
    transformer, module, rnn = (import_module(f"{package}.nn.modules.{name}") for name in ("transformer", "module", "rnn"))
    clones = transformer._get_clones(nn.Linear(2, 2), 3)
    show(type(clones), len(clones), torch.equal(clones[0].weight, clones[2].weight), clones[0].weight is clones[2].weight)
    show(transformer._get_activation_fn("gelu") is F.gelu, transformer._get_activation_fn("relu") is F.relu)
    attempt(lambda: transformer._get_activation_fn("tanh"))
    show(repr(module._addindent("a\nb\nc", 2)), repr(module._addindent("a", 4)))
    show(rnn.apply_permutation(torch.arange(6).reshape(2, 3), torch.tensor([2, 0, 1])))


def starting_values_by_their_other_names(torch, nn, show):
    init = nn.init
    show(init._no_grad_uniform_(torch.empty(2), 0.0, 1.0), init._no_grad_normal_(torch.empty(2), 0.0, 1.0))
    show(init._no_grad_trunc_normal_(torch.empty(2), 0.0, 1.0, -1.0, 1.0), init._no_grad_fill_(torch.empty(2), 3.0))
    show(init._no_grad_zero_(torch.empty(2, requires_grad=True)))


def parts_of_attention(torch, F, show, attempt):
    torch.manual_seed(0)
    q, k, v, w, b = (torch.randn(s, dtype=torch.float64) for s in ((2, 4), (3, 4), (3, 4), (12, 4), (12,)))
    for given in ((q, q, q), (q, k, k), (q, k, v)):
        show([t.sum() for t in F._in_projection_packed(*given, w, b)], [t.sum() for t in F._in_projection_packed(*given, w)])
    show([t.sum() for t in F._in_projection(q, k, v, *w.chunk(3), *b.chunk(3))])
    mask = torch.tensor([True, False])
    show(F._canonical_mask(mask, "mask", None, "other", torch.float64), F._none_or_dtype(None), F._none_or_dtype(mask))
    show(F._canonical_mask(None, "mask", None, "other", torch.float64), F._canonical_mask(q, "mask", q.dtype, "other", q.dtype) is q)
    show(F._canonical_mask(mask, "mask", torch.float64, "other", torch.float64, False))
    F._canonical_mask(mask, "mask", torch.float64, "other", torch.float64)
    attempt(lambda: F._canonical_mask(mask.long(), "mask", None, "other", torch.float64))
    show(F._mha_shape_check(q, k, v, None, None, 2), F._mha_shape_check(q[None], k[None], v[None], None, None, 2))
    attempt(lambda: F._mha_shape_check(q, k[None], v, None, None, 2))


def conversions_that_replace_parameters(torch, nn, show):
    ways = import_module(f"{torch.__name__}.__future__")
    show(ways.get_overwrite_module_params_on_conversion(), ways.get_swap_module_params_on_conversion(), torch.__future__ is ways)
    for overwrite, swap in ((False, False), (True, False), (False, True), (True, True)):
        m = nn.Linear(2, 2)
        m(torch.ones(1, 2)).sum().backward()
        before = m.weight
        ways.set_overwrite_module_params_on_conversion(overwrite)
        ways.set_swap_module_params_on_conversion(swap)
        try:
            m.double()
        finally:
            ways.set_overwrite_module_params_on_conversion(False)
            ways.set_swap_module_params_on_conversion(False)
        show(overwrite, swap, m.weight is before, before.dtype, type(m.weight), m.weight.dtype, m.weight.grad, m.weight.requires_grad)


def arguments_of_other_types(torch, nn, F, show, attempt):
    m = nn.Linear(2, 2)
    attempt(lambda: m.to(dtype="float64"))
    attempt(lambda: m.to(device="cpu", dtype=3))
    cell = nn.LSTMCell(3, 4)
    attempt(lambda: cell(torch.ones(2, 3), torch.zeros(2, 4)))
    table = torch.arange(6.0).reshape(3, 2)
    show(F.embedding_bag(table, torch.tensor([[0, 1], [2, 2]])))
