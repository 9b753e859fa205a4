"""Layers and functions that normalise: running statistics, formats, dtypes, refusals."""

import copy
import pickle

from tests.programs import own


def _data(torch, *shape):
    torch.manual_seed(len(shape))
    return torch.randn(*shape, dtype=torch.float64)


def running_statistics(torch, nn, show):
    x = _data(torch, 4, 3)
    for momentum in (0.1, 0.5, 1.0, 0.0, None):
        m = nn.BatchNorm1d(3, momentum=momentum).double()
        for k in range(3):
            m(x * (k + 1) + k)
        show(momentum, m.running_mean, m.running_var, m.num_batches_tracked)
        m.eval()
        show(m(x), m.running_mean, m.num_batches_tracked)
        m.reset_running_stats()
        show(m.running_mean, m.running_var, m.num_batches_tracked)


def without_running_statistics(torch, nn, F, show):
    x = _data(torch, 4, 3)
    m = nn.BatchNorm1d(3, track_running_stats=False, affine=False).double()
    show(m(x), m.eval()(x), m.state_dict(), list(m.parameters()))
    m = nn.BatchNorm1d(3).double()
    m.track_running_stats = False
    show(m(x), m.running_mean, m.num_batches_tracked, m.eval()(x))
    m.running_mean = m.running_var = None
    show(m(x), F.batch_norm(x, None, None, training=True))


def statistics_of_one_value_and_of_none(torch, nn, F, show, attempt):
    for shape in ((1, 3), (1, 3, 1), (1, 3, 1, 1)):
        attempt(lambda shape=shape: F.batch_norm(torch.ones(shape), None, None, training=True))
    show(F.batch_norm(torch.ones(1, 3), torch.zeros(3), torch.ones(3), eps=0.0))
    attempt(lambda: F.instance_norm(torch.ones(2, 3, 1)))
    attempt(lambda: F.instance_norm(torch.ones(2, 3)))
    attempt(lambda: F.group_norm(torch.ones(1, 3), 3))
    show(torch.group_norm(torch.ones(1, 3), 3))
    mean, var = torch.zeros(3), torch.ones(3)
    show(torch.batch_norm(torch.ones(1, 3), None, None, mean, var, True, 0.1, 1e-5, True), mean, var)
    mean, var = torch.zeros(3), torch.ones(3)
    show(F.batch_norm(torch.ones(0, 3, 2), mean, var, training=True).shape, mean, var)
    weight, x = torch.ones(3, requires_grad=True), torch.ones(0, 3, requires_grad=True)
    F.batch_norm(x, None, None, weight, training=True).sum().backward()
    show(weight.grad, x.grad.shape)
    weight, x = torch.ones(4, requires_grad=True), torch.ones(0, 4, 2, requires_grad=True)
    F.group_norm(x, 2, weight).sum().backward()
    show(weight.grad, x.grad.shape, F.group_norm(torch.ones(2, 0, 3), 3).shape, F.instance_norm(torch.ones(0, 3, 4)).shape)


def refusals(torch, nn, F, attempt):
    x = torch.ones(2, 3, 4)
    ones = torch.ones
    for call in (
        lambda: nn.BatchNorm1d(3)(ones(3)),
        lambda: nn.BatchNorm2d(3)(x),
        lambda: nn.BatchNorm3d(3)(x),
        lambda: nn.BatchNorm1d(4)(x),
        lambda: nn.SyncBatchNorm(3)(ones(3)),
        lambda: nn.GroupNorm(2, 3),
        lambda: nn.GroupNorm(2, 4)(x),
        lambda: nn.InstanceNorm1d(3)(ones(3)),
        lambda: nn.InstanceNorm2d(3)(ones(3, 4)),
        lambda: nn.InstanceNorm3d(3)(ones(3, 4)),
        lambda: nn.InstanceNorm1d(4, affine=True)(x),
        lambda: nn.CrossMapLRN2d(3)(x),
        lambda: F.batch_norm(x, None, None),
        lambda: F.batch_norm(x, torch.zeros(3), None),
        lambda: F.batch_norm(x, torch.zeros(3), None, training=True),
        lambda: F.batch_norm(x, torch.zeros(4), ones(4)),
        lambda: F.batch_norm(x, torch.zeros(3), ones(4)),
        lambda: F.batch_norm(x, None, None, ones(4), training=True),
        lambda: F.batch_norm(x, None, None, ones(3), ones(4), training=True),
        lambda: F.batch_norm(ones(3), None, None, training=True),
        lambda: F.batch_norm(x, torch.zeros(3, requires_grad=True), ones(3), training=True),
        lambda: F.batch_norm(x.long(), None, None, training=True),
        lambda: F.batch_norm(x, None, None, ones(3, dtype=torch.float64), training=True),
        lambda: F.batch_norm(x.double(), None, None, ones(3), training=True),
        lambda: F.batch_norm(x, torch.zeros(3).double(), ones(3).double(), training=True),
        lambda: F.batch_norm(x.bfloat16(), None, None, ones(3).half(), training=True),
        lambda: F.batch_norm(x.bfloat16(), torch.zeros(3), ones(3), ones(3).bfloat16(), training=True),
        lambda: F.group_norm(ones(3), 3),
        lambda: F.group_norm(x, 2),
        lambda: F.group_norm(x, -1),
        lambda: F.group_norm(x, 0),
        lambda: F.group_norm(x, 3, ones(4)),
        lambda: F.group_norm(x, 3, ones(3), ones(4)),
        lambda: F.group_norm(x, 3, ones(3, 1)),
        lambda: F.group_norm(x.long(), 3),
        lambda: F.group_norm(x, 3, ones(3).double()),
        lambda: F.instance_norm(x, use_input_stats=False),
        lambda: F.instance_norm(x, torch.zeros(4), ones(4)),
        lambda: F.instance_norm(x, weight=ones(4)),
        lambda: F.local_response_norm(ones(2, 3), 2),
    ):
        attempt(call)


def names_of_nodes(torch, nn, F, show):
    x = _data(torch, 2, 4, 3).requires_grad_()
    weight = torch.ones(4, dtype=torch.float64, requires_grad=True)
    for y in (
        F.batch_norm(x, None, None, weight, training=True),
        F.group_norm(x, 2, weight),
        F.instance_norm(x, weight=weight),
        F.rms_norm(x, (3,)),
        F.local_response_norm(x, 2),
    ):
        show(y.grad_fn.name(), [fn and fn.name() for fn, _ in y.grad_fn.next_functions])


def formats_of_results(torch, F, show):
    x = _data(torch, 2, 4, 3, 5)
    for laid in (x, x.contiguous(memory_format=torch.channels_last), x.transpose(2, 3), x[:, :, ::2], x.transpose(0, 1)):
        given = laid.detach().requires_grad_()
        y = F.batch_norm(given, None, None, training=True)
        z = F.group_norm(given, 2) if given.shape[1] % 2 == 0 else y
        show(y.stride(), z.stride(), F.instance_norm(given).stride())
        (gy,) = torch.autograd.grad((y * y * y).sum(), given)
        (gz,) = torch.autograd.grad((z * z * z).sum(), given)
        show(gy.stride(), (gy * gy).sum(), gz.stride(), (gz * gz).sum())
    x = _data(torch, 2, 4, 3, 2, 2).contiguous(memory_format=torch.channels_last_3d)
    show(F.batch_norm(x, None, None, training=True).stride(), F.group_norm(x, 2).stride())


def dtypes_of_results(torch, F, show):
    x, ones = _data(torch, 4, 3, 2).float(), torch.ones(3)
    for dtype in (torch.bfloat16, torch.float16, torch.float64):
        given = x.to(dtype)
        plain = torch.native_batch_norm(given, None, None, None, None, True, 0.1, 1e-5)
        show([t.dtype for t in plain], [t.dtype for t in torch.native_group_norm(given, None, None, 4, 3, 2, 3, 1e-5)])
        show([t.dtype for t in torch.native_batch_norm(given, ones.to(dtype), None, None, None, True, 0.1, 1e-5)])
        if dtype != torch.float64:
            mixed = torch.native_batch_norm(given, ones, ones, torch.zeros(3), torch.ones(3), True, 0.1, 1e-5)
            show([t.dtype for t in mixed], [t.dtype for t in torch.native_group_norm(given, ones, ones, 4, 3, 2, 3, 1e-5)])
            weight = ones.clone().requires_grad_()
            F.batch_norm(given.requires_grad_(), torch.zeros(3), torch.ones(3), weight, training=True).float().pow(3).sum().backward()
            show(given.grad.dtype, weight.grad.dtype)


@own("nodes")
def second_derivatives(torch, nn, F, func, show):
    x = _data(torch, 2, 3, 4)
    weight, bias = torch.linspace(0.5, 1.5, 3, dtype=torch.float64), torch.linspace(-1, 1, 3, dtype=torch.float64)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    for f in (
        lambda x, w: F.batch_norm(x, None, None, w, bias, training=True),
        lambda x, w: F.batch_norm(x, mean, var, w, bias),
        lambda x, w: F.group_norm(x, 1, w, bias),
        lambda x, w: F.instance_norm(x, weight=w, bias=bias),
    ):
        a, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
        first = torch.autograd.grad(f(a, w).pow(3).sum(), (a, w), create_graph=True)
        show(first, torch.autograd.grad(sum(g.pow(2).sum() for g in first), (a, w)))
        show(func.jvp(f, (x, weight), (x.cos(), weight.sin())))
        show(func.vmap(lambda x, w, f=f: f(x, w))(torch.stack([x, x * 2]), torch.stack([weight, weight + 1])))
        show(func.vmap(lambda x, f=f: f(x, weight))(torch.stack([x, x * 2])))


def tangents_move_running_statistics_once(torch, nn, F, fwAD, show):
    x = _data(torch, 4, 3)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    with fwAD.dual_level():
        y = F.batch_norm(fwAD.make_dual(x, x.cos()), mean, var, training=True)
        show(fwAD.unpack_dual(y), mean, var)


def running_statistics_under_vmap(torch, F, vmap, show, attempt):
    x = _data(torch, 2, 4, 3)
    mean, var = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    attempt(lambda: vmap(lambda x: F.batch_norm(x, mean, var, training=True))(x))
    show(vmap(lambda x: F.batch_norm(x, mean, var))(x).sum())
    means, variances = mean.expand(2, 3).clone(), var.expand(2, 3).clone()
    show(vmap(lambda x, m, v: F.batch_norm(x, m, v, training=True))(x, means, variances), means, variances)


def states(torch, nn, show, attempt):
    m = nn.BatchNorm1d(3)
    show(list(m.state_dict()), dict(m.state_dict()._metadata), m)
    old = m.state_dict()
    del old["num_batches_tracked"]
    attempt(lambda: nn.BatchNorm1d(3).load_state_dict(old))
    old._metadata = {}
    attempt(lambda: nn.BatchNorm1d(3).load_state_dict(old))
    attempt(lambda: nn.InstanceNorm1d(3).load_state_dict({"running_mean": torch.zeros(3), "running_var": torch.ones(3)}))
    m(torch.arange(6.0).reshape(2, 3))
    for again in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        show(again.running_mean, again.num_batches_tracked, again)
    show(nn.BatchNorm2d(3, device="meta").running_var.is_meta, nn.BatchNorm2d(3, dtype=torch.float64).running_var.dtype)
    show(nn.BatchNorm1d(3, device="meta")(torch.ones(2, 3, device="meta")).shape)


def conversion_to_synchronised(torch, nn, show):
    model = nn.Sequential(nn.BatchNorm1d(2, bias=False), nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2, affine=False), nn.ReLU())).eval()
    new = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    show(new, new[0].weight is model[0].weight, new[2][0].training, type(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(2))))
    new.train()
    show(new(torch.tensor([[1.0, 2.0], [3.0, 5.0]])).shape, new[0].running_mean)


def lazy_norms(torch, nn, show, attempt):
    for m, x in (
        (nn.LazyBatchNorm1d(), torch.ones(2, 3)),
        (nn.LazyBatchNorm2d(affine=False), torch.ones(2, 3, 2, 2)),
        (nn.LazyInstanceNorm1d(), torch.ones(2, 3, 4)),
        (nn.LazyInstanceNorm3d(bias=False), torch.ones(2, 3, 4, 1, 2)),
    ):
        show(m, list(m.state_dict()), m.has_uninitialized_params(), m.num_features)
        m(x)
        show(m, type(m), list(m.state_dict()), m.running_mean)
    attempt(lambda: nn.LazyBatchNorm2d()(torch.ones(2, 3)))
    m = nn.LazyBatchNorm1d()
    m.load_state_dict(nn.BatchNorm1d(3).state_dict())
    show(m.has_uninitialized_params(), m.running_var, m(torch.ones(2, 3)).shape, type(m))


def instances_without_a_batch(torch, nn, show):
    for m, x in ((nn.InstanceNorm1d(3), _data(torch, 3, 4)), (nn.InstanceNorm2d(3), _data(torch, 3, 2, 2))):
        show(m.double()(x))
    show(nn.InstanceNorm1d(4)(torch.arange(6.0).reshape(2, 3)))


def windows_over_channels(torch, nn, F, show):
    for channels in (1, 2, 5, 8):
        x = _data(torch, 2, channels, 2, 3)
        for size in (1, 2, 3, 4, 5):
            show(F.local_response_norm(x, size, 0.5, 0.6, 2.0).sum(), nn.CrossMapLRN2d(size, 0.5, 0.6, 2.0)(x).sum())


def layer_norm_of_16_bits_beside_float_parameters(torch, nn, F, show, attempt):
    x = _data(torch, 3, 4)
    for dtype in (torch.bfloat16, torch.float16):
        m = nn.LayerNorm(4)
        nn.init.normal_(m.weight)
        given = x.to(dtype).requires_grad_()
        y = m(given)
        y.float().square().sum().backward()
        show(y.dtype, given.grad.dtype, m.weight.grad.dtype)
        show((y.float() - m(given.float())).abs().max() < 0.05, m.bias.grad.dtype)
        attempt(lambda given=given, dtype=dtype: F.layer_norm(given, (4,), None, torch.ones(4)).dtype)
    show(m(torch.zeros(0, 4).half()).shape)
    attempt(lambda: F.layer_norm(x, (4,), torch.ones(4)))
    attempt(lambda: F.layer_norm(x.bfloat16(), (4,), torch.ones(4, dtype=torch.float64)))
