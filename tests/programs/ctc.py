"""Connectionist temporal classification."""

from tests.programs import differs, told


def _frames(torch, *sizes):
    torch.manual_seed(0)
    return torch.randn(*sizes, dtype=torch.float64).log_softmax(-1).requires_grad_()


def _shown(torch, show, loss, frames):
    show(loss.detach().round(decimals=8), loss.grad_fn)
    (grad,) = torch.autograd.grad((loss * torch.linspace(0.5, 1.5, loss.numel(), dtype=loss.dtype).reshape(loss.shape)).sum(), frames)
    show(grad.round(decimals=8) + 0.0)


def reductions_and_forms(torch, nn, show):
    ctc, frames = nn.functional.ctc_loss, _frames(torch, 6, 2, 4)
    padded, lengths, sizes = torch.tensor([[1, 2], [3, 3]]), torch.tensor([6, 5]), torch.tensor([2, 2])
    for reduction in ("none", "mean", "sum"):
        _shown(torch, show, ctc(frames, padded, lengths, sizes, reduction=reduction), frames)
    _shown(torch, show, ctc(frames, torch.tensor([1, 2, 3, 3]), (6, 5), (2, 2), reduction="none"), frames)
    _shown(torch, show, ctc(frames, torch.tensor([1, 2, 3]), (6, 5), (2, 1), reduction="none"), frames)
    _shown(torch, show, ctc(frames, padded.int(), lengths.int(), sizes.int(), reduction="none"), frames)
    _shown(torch, show, ctc(frames, torch.tensor([[1, 2], [0, 1]]), lengths, sizes, blank=3), frames)
    show(torch.ctc_loss(frames, padded, (6, 5), (2, 2)).detach(), torch.ctc_loss(frames, padded, lengths, sizes, 0, 1, True).detach())


@differs("PyTorch's gradient at the last step leaves the blank out, where the last label is one")
def labels_that_are_blanks(torch, nn, show):
    frames = _frames(torch, 6, 1, 4)
    _shown(torch, show, nn.functional.ctc_loss(frames, torch.tensor([[1, 0]]), (6,), (2,)), frames)


def one_sequence(torch, nn, show):
    frames = _frames(torch, 6, 4)
    for reduction in ("none", "mean", "sum"):
        loss = nn.functional.ctc_loss(frames, torch.tensor([1, 2]), torch.tensor(6), torch.tensor(2), reduction=reduction)
        _shown(torch, show, loss, frames)
    _shown(torch, show, nn.functional.ctc_loss(frames, torch.tensor([1, 2]), (5,), (2,)), frames)


def nothing_to_spell(torch, nn, show):
    ctc, frames = nn.functional.ctc_loss, _frames(torch, 5, 2, 4)
    padded = torch.tensor([[1, 2], [3, 3]])
    _shown(torch, show, ctc(frames, padded, (5, 5), (0, 2), reduction="none"), frames)
    _shown(torch, show, ctc(frames, torch.zeros(2, 0, dtype=torch.long), (5, 4), (0, 0)), frames)
    _shown(torch, show, ctc(frames, padded, (0, 5), (0, 2), reduction="none"), frames)


@told("nan_origin", why="no path is long enough")
def too_little_time(torch, nn, show):
    ctc, frames = nn.functional.ctc_loss, _frames(torch, 5, 2, 4)
    padded = torch.tensor([[1, 2], [3, 3]])
    for short in (1, 0):
        _shown(torch, show, ctc(frames, padded, (short, 5), (2, 2), reduction="none"), frames)
        for reduction in ("none", "mean", "sum"):
            _shown(torch, show, ctc(frames, padded, (short, 5), (2, 2), reduction=reduction, zero_infinity=True), frames)
    _shown(torch, show, ctc(frames, padded, (5, 2), (2, 2), reduction="none", zero_infinity=True), frames)  # 3 3 needs a blank between


def frames_laid_out_otherwise(torch, nn, show):
    torch.manual_seed(0)
    frames = torch.randn(2, 4, 6, dtype=torch.float64).log_softmax(1).requires_grad_()
    loss = nn.functional.ctc_loss(frames.permute(2, 0, 1), torch.tensor([[1, 2], [3, 3]]), (6, 5), (2, 2))
    _shown(torch, show, loss, frames)
    show(nn.functional.ctc_loss(frames.permute(2, 0, 1).float(), torch.tensor([[1, 2], [3, 3]]), (6, 5), (2, 2)).dtype)


def refusals(torch, nn, attempt):
    ctc, frames = nn.functional.ctc_loss, _frames(torch, 6, 2, 4)
    padded, lengths, sizes = torch.tensor([[1, 2], [3, 3]]), torch.tensor([6, 5]), torch.tensor([2, 2])
    attempt(lambda: ctc(frames, padded, lengths.float(), sizes))
    attempt(lambda: ctc(frames, padded, lengths, sizes, blank=7))
    attempt(lambda: ctc(frames, padded, lengths, sizes, blank=-1))
    attempt(lambda: ctc(frames, padded, lengths + 1, sizes))
    attempt(lambda: ctc(frames, padded, lengths - 7, sizes))
    attempt(lambda: ctc(frames, padded, lengths, sizes + 1))
    attempt(lambda: ctc(frames, padded, lengths, sizes - 3))
    attempt(lambda: ctc(frames, padded, lengths[:1], sizes))
    attempt(lambda: ctc(frames, padded, lengths, sizes[:1]))
    attempt(lambda: ctc(frames, padded[:1], lengths, sizes))
    attempt(lambda: ctc(frames, torch.tensor([1, 2, 3]), lengths, sizes))
    attempt(lambda: ctc(frames, padded[None], lengths, sizes))
    attempt(lambda: ctc(frames[:, 0, 0], padded[0], lengths, sizes))
    attempt(lambda: ctc(frames[None], padded, lengths, sizes))
    attempt(lambda: ctc(frames.half(), padded, lengths, sizes))
    attempt(lambda: ctc(frames.long(), padded, lengths, sizes))
    attempt(lambda: ctc(frames[:, :0], padded[:0], lengths[:0], sizes[:0]))
    attempt(lambda: ctc(frames, padded, lengths, sizes, reduction="x"))


@differs("retrograd refuses labels that are no class, where PyTorch reads what lies beyond the frame")
def labels_that_are_no_class(torch, nn, kind):
    kind(lambda: nn.functional.ctc_loss(_frames(torch, 6, 2, 4), torch.tensor([[1, 9], [3, 3]]), (6, 5), (2, 2)) is not None)


def on_meta(torch, nn, show):
    loss = nn.functional.ctc_loss(torch.empty(6, 2, 4, device="meta"), torch.empty(2, 2, dtype=torch.long, device="meta"), (6, 5), (2, 2))
    show(loss.shape, loss.device, loss.dtype)


def in_vmap(torch, nn, show, vmap):
    frames = torch.stack([_frames(torch, 6, 2, 4).detach(), _frames(torch, 6, 2, 4).detach().flip(0)])
    padded = torch.tensor([[1, 2], [3, 3]])
    show(vmap(lambda f: nn.functional.ctc_loss(f, padded, (6, 5), (2, 2)))(frames))
