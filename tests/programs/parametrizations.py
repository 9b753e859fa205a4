"""nn.utils.parametrizations: weight_norm, spectral_norm and orthogonal, and the first two in their old form."""

import copy

from tests.programs import own

_SHAPES = ((4, 3), (3, 4), (3, 3))


def _trained(torch, m, n):
    """One step, then what the module computes and holds."""
    y = m(torch.linspace(-1, 1, 2 * n, dtype=torch.float64).reshape(2, n))
    y.square().sum().backward()
    return y, {name: p.grad for name, p in m.named_parameters()}, m.state_dict()


@own("nodes")
def weight_norm(torch, nn, show):
    for dim in (0, 1, None, -1):
        torch.manual_seed(0)
        m = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3, dtype=torch.float64), dim=dim)
        show(repr(m), m.weight, _trained(torch, m, 4))
        m.weight = torch.ones(3, 4, dtype=torch.float64)
        show(m.weight, m.parametrizations.weight.original0)
    show(nn.utils.parametrize.remove_parametrizations(m, "weight"), m.weight)


def weight_norm_loads_the_old_names(torch, nn, show):
    m = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    show(m.load_state_dict({"bias": torch.ones(2), "weight_g": torch.ones(2, 1), "weight_v": torch.ones(2, 3)}), m.weight.detach())


def spectral_norm(torch, nn, show):
    for options in ({}, {"n_power_iterations": 3}, {"dim": 1}, {"dim": -1, "eps": 0.1}):
        torch.manual_seed(0)
        m = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3, dtype=torch.float64), **options)
        show(repr(m), _trained(torch, m, 4))
        show(m.eval().weight, m.weight, _trained(torch, m, 4))
    m = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3, dtype=torch.float64), "bias")
    show(m.bias.norm().detach(), m.state_dict().keys())
    m.weight = torch.ones(3, 4)
    show(m.weight)


@own("nodes")
def orthogonal(torch, nn, show):
    for kind in (None, "matrix_exp", "cayley", "householder"):
        for trivial in (True, False):
            for rows, columns in _SHAPES:
                torch.manual_seed(0)
                m = nn.Linear(rows, columns, dtype=torch.float64)
                nn.utils.parametrizations.orthogonal(m, orthogonal_map=kind, use_trivialization=trivial)
                y, grads, state = _trained(torch, m, rows)
                show(repr(m.parametrizations), list(state), m.weight, y)
                show({name: grad.round(decimals=9) + 0.0 for name, grad in grads.items()})


def orthogonal_assigned(torch, nn, show, attempt):
    Q = torch.linalg.qr(torch.arange(12, dtype=torch.float64).reshape(4, 3).cos())[0].T
    for kind, trivial in ((None, True), ("householder", False), ("cayley", True), ("cayley", False), ("matrix_exp", False)):
        m = nn.utils.parametrizations.orthogonal(nn.Linear(4, 3, dtype=torch.float64), "weight", kind, use_trivialization=trivial)
        attempt(lambda: setattr(m, "weight", Q) or (m.weight - Q).abs().max().item() < 1e-12)
    attempt(lambda: setattr(m, "weight", torch.ones(3, 3)))


def orthogonal_of_complex_numbers(torch, nn, show):
    torch.manual_seed(0)
    m = nn.Linear(3, 3, dtype=torch.complex128)
    nn.utils.parametrizations.orthogonal(m)
    W = m.weight.detach()
    show((W.mH @ W - torch.eye(3)).abs().max().item() < 1e-12, list(m.state_dict()))


def refusals(torch, nn, attempt):
    Z = nn.utils.parametrizations
    attempt(lambda: Z.weight_norm(nn.Linear(3, 3), "foo"))
    attempt(lambda: Z.weight_norm(nn.Linear(3, 3), dim=5))
    attempt(lambda: Z.spectral_norm(nn.Linear(3, 3), n_power_iterations=0))
    attempt(lambda: Z.spectral_norm(nn.Linear(3, 3), "foo"))
    attempt(lambda: Z.spectral_norm(nn.Linear(3, 3), dim=2))
    attempt(lambda: Z.spectral_norm(nn.Linear(3, 3), dim=-3))
    attempt(lambda: Z.orthogonal(nn.Linear(3, 3), orthogonal_map="foo"))
    attempt(lambda: Z.orthogonal(nn.Linear(3, 3), "bias"))
    attempt(lambda: Z.orthogonal(nn.Linear(3, 3), "foo"))
    attempt(lambda: Z.orthogonal(nn.Linear(3, 3, dtype=torch.complex64), orthogonal_map="householder"))


@own("nodes")
def old_weight_norm(torch, nn, show, attempt):
    for dim in (0, 1, None):
        torch.manual_seed(0)
        m = nn.utils.weight_norm(nn.Linear(4, 3, dtype=torch.float64), dim=dim)
        show(repr(m), type(m.weight), _trained(torch, m, 4), m.weight)
        attempt(lambda: nn.utils.weight_norm(m))
        show(nn.utils.remove_weight_norm(m), m.weight, list(m.state_dict()), list(m._forward_pre_hooks))
        attempt(lambda: nn.utils.remove_weight_norm(m))
    attempt(lambda: nn.utils.weight_norm(nn.Linear(2, 2), "foo"))
    attempt(lambda: copy.deepcopy(nn.utils.weight_norm(nn.Linear(2, 2))))


def old_spectral_norm(torch, nn, show, attempt):
    for options in ({}, {"n_power_iterations": 3, "dim": 1}):
        torch.manual_seed(0)
        m = nn.utils.spectral_norm(nn.Linear(4, 3, dtype=torch.float64), **options)
        show(repr(m), m.weight, m.state_dict(), m.state_dict()._metadata)
        show(_trained(torch, m, 4), m.weight)
        show(_trained(torch, m.eval(), 4), m.weight)
        attempt(lambda: nn.utils.spectral_norm(m))
        show(copy.deepcopy(m.state_dict()).keys(), m.load_state_dict(m.state_dict()))
        show(nn.utils.remove_spectral_norm(m), m.weight, list(m.state_dict()), m.state_dict()._metadata)
        attempt(lambda: nn.utils.remove_spectral_norm(m))
    attempt(lambda: nn.utils.spectral_norm(nn.Linear(2, 2), "foo"))
    attempt(lambda: nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0))


def old_spectral_norm_loads_older_files(torch, nn, show, attempt):
    torch.manual_seed(0)
    m = nn.utils.spectral_norm(nn.Linear(4, 3, dtype=torch.float64))
    m(torch.ones(1, 4, dtype=torch.float64))
    state = {k: v.clone() for k, v in m.state_dict().items()}
    new = nn.utils.spectral_norm(nn.Linear(4, 3, dtype=torch.float64))
    show(new.load_state_dict(dict(state)))
    older = {k: v for k, v in state.items() if k != "weight_v"} | {"weight": m.weight.detach()}
    show(new.load_state_dict(older), new.weight_v)
    older.pop("weight")
    attempt(lambda: new.load_state_dict(older))


def skipping_starting_values(torch, nn, show, attempt):
    m = nn.utils.skip_init(nn.Linear, 3, 4, dtype=torch.float64)
    show(m, m.weight.shape, m.weight.dtype, m.weight.device, nn.utils.skip_init(nn.Linear, 3, 4, device="meta").weight.device)
    attempt(lambda: nn.utils.skip_init(int, 3))
    attempt(lambda: nn.utils.skip_init(nn.ReLU))
    attempt(lambda: nn.utils.skip_init(torch.ones, 3))


def fused_weights(torch, nn, show):
    U = nn.utils
    w, b = torch.arange(6.0).reshape(3, 2), torch.ones(3)
    mean, var, scale, shift = torch.tensor([0.5, 1.0, -1.0]), torch.tensor([1.0, 4.0, 0.25]), torch.tensor([2.0, 1.0, -1.0]), torch.ones(3)
    show(U.fuse_linear_bn_weights(nn.Parameter(w), None, mean, var, 1e-5, scale, shift))
    show(U.fuse_linear_bn_weights(w, b, mean, var, 1e-5, scale, shift))
    kernel = torch.arange(12.0).reshape(3, 2, 2)
    show(U.fuse_conv_bn_weights(nn.Parameter(kernel), nn.Parameter(b), mean, var, 0.1, None, None))
    show(U.fuse_conv_bn_weights(kernel.transpose(0, 1), None, mean, var, 0.1, scale, shift, transpose=True))
