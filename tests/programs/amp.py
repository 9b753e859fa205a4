"""autocast and GradScaler. Numbers are small integers and halves, which 16 bits hold exactly."""

import threading
import warnings

from tests.programs import differs


def _ones(torch, *sizes, dtype=None, grad=False):
    return torch.ones(*sizes, dtype=dtype or torch.float32, requires_grad=grad)


def _kinds(torch):
    return {"f": torch.float32, "h": torch.float16, "b": torch.bfloat16, "d": torch.float64, "i": torch.int64, "c": torch.complex64}


# ---- what runs in which dtype ----


def products(torch, F, show):
    a, v, c = _ones(torch, 2, 2), _ones(torch, 2), _ones(torch, 1, 2, 2)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype):
            show([t.dtype for t in (a @ a, a.mm(a), c.bmm(c), a @ v, a.mv(v), v.dot(v), torch.outer(v, v), torch.kron(a, a))])
            show([t.dtype for t in (torch.addmm(a, a, a), torch.addbmm(a, c, c), torch.baddbmm(c, c, c), torch.addmv(v, a, v))])
            show([t.dtype for t in (F.linear(a, a), F.linear(a, a, v), torch.einsum("ij,jk->ik", a, a), torch.inner(a, a))])
            show(
                [
                    t.dtype
                    for t in (torch.tensordot(a, a, 1), torch.linalg.multi_dot([a, a, a]), torch.linalg.vecdot(a, a), a.matrix_power(3))
                ]
            )
            show([t.dtype for t in (F.bilinear(a, a, c), torch.linalg.matrix_exp(a), torch.cdist(a, a), torch.det(a), torch.linalg.det(a))])
            show((a @ a).sum())


def layers(torch, nn, F, show):
    x, image = _ones(torch, 2, 3, 4), _ones(torch, 1, 2, 4, 4)
    with torch.autocast("cpu"):
        for module, given in (
            (nn.Linear(4, 3), x), (nn.Conv2d(2, 3, 2), image), (nn.Conv2d(2, 3, 3, padding="same"), image), (nn.ConvTranspose2d(2, 3, 2), image),
            (nn.BatchNorm2d(2), image), (nn.LayerNorm(4), x), (nn.GroupNorm(1, 2), image), (nn.PReLU(), x), (nn.Bilinear(4, 4, 2), None),
            (nn.Embedding(4, 3), torch.tensor([1])), (nn.MaxPool2d(2), image.bfloat16()), (nn.AvgPool3d(2), image[None].bfloat16()),
            (nn.Softmax(-1), x.bfloat16()), (nn.GELU(), x.bfloat16()), (nn.ReflectionPad2d(1), image.bfloat16()),
        ):  # fmt: skip
            out = module(x, x) if given is None else module(given)
            show(type(module).__name__, out.dtype)
        q = _ones(torch, 1, 2, 3, 4)
        show(F.scaled_dot_product_attention(q, q, q.bfloat16(), attn_mask=_ones(torch, 3, 3)).dtype)
        attention = nn.MultiheadAttention(4, 2, batch_first=True)
        show([t.dtype for t in attention(x, x, x)], attention(x, x, x, need_weights=False)[0].dtype)
        show(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)(x).dtype)


def recurrent_layers(torch, nn, show):
    x = _ones(torch, 3, 2, 4)
    packed = nn.utils.rnn.pack_sequence([_ones(torch, 3, 4), _ones(torch, 2, 4)])
    with torch.autocast("cpu"):
        for module in (
            nn.RNN(4, 3), nn.RNN(4, 3, nonlinearity="relu"), nn.GRU(4, 3), nn.LSTM(4, 3), nn.LSTM(4, 3, 2, bidirectional=True),
            nn.GRU(4, 3, 2, bidirectional=True),
        ):  # fmt: skip
            out, state = module(x)
            show(type(module).__name__, out.dtype, [t.dtype for t in (state if isinstance(state, tuple) else (state,))])
        for module in (nn.LSTM(4, 3), nn.GRU(4, 3)):
            show("packed", type(module).__name__, module(packed)[0].data.dtype)
        for module in (nn.RNNCell(4, 3), nn.GRUCell(4, 3), nn.LSTMCell(4, 3)):
            out = module(x[0])
            show(type(module).__name__, [t.dtype for t in (out if isinstance(out, tuple) else (out,))])


def losses(torch, F, show):
    x, y = _ones(torch, 2, 3, dtype=torch.bfloat16), torch.zeros(2, 3)
    classes = torch.tensor([0, 2])
    signs = _ones(torch, 2)
    with torch.autocast("cpu"):
        show([F.mse_loss(x, y).dtype, F.l1_loss(x, y).dtype, F.smooth_l1_loss(x, y).dtype, F.huber_loss(x, y).dtype])
        show(
            [
                F.cross_entropy(x, classes).dtype,
                F.nll_loss(x, classes).dtype,
                F.kl_div(x, y, reduction="batchmean").dtype,
                F.soft_margin_loss(x, y).dtype,
            ]
        )
        show([F.binary_cross_entropy(x, y).dtype, F.binary_cross_entropy_with_logits(x, y).dtype, F.poisson_nll_loss(x, y).dtype])
        show([F.cosine_embedding_loss(x, x, signs).dtype, F.hinge_embedding_loss(x, y).dtype, F.margin_ranking_loss(x, x, y).dtype])
        show(
            [
                F.triplet_margin_loss(x, x, x).dtype,
                F.multi_margin_loss(x, classes).dtype,
                F.multilabel_margin_loss(x, classes.new_zeros(2, 3)).dtype,
            ]
        )
        show(
            [
                F.mse_loss(x, y.double()).dtype,
                torch.quantile(x, 0.5).dtype,
                x.prod().dtype,
                torch.linalg.inv(_ones(torch, 1, 1, dtype=torch.bfloat16)).dtype,
            ]
        )


def the_widest(torch, show, attempt):
    kinds, a = _kinds(torch), _ones(torch, 2, 2)
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype):
            for one in kinds:
                for other in kinds:
                    attempt(lambda one=one, other=other: torch.cat([a.to(kinds[one]), a.to(kinds[other])]).dtype, one + other)
            show(torch.stack([a, a.to(dtype)]).dtype, a.index_copy(0, torch.tensor([0]), a[:1].to(dtype)).dtype)


def what_stays(torch, show, attempt):
    a = _ones(torch, 2, 2)
    with torch.autocast("cpu"):
        show((a.double() @ a.double()).dtype, (a + a).dtype, a.softmax(0).dtype, a.exp().dtype, (a.long() @ a.long()).dtype, a.sum().dtype)
        show((torch.ones(2, 2, device="meta") @ torch.ones(2, 2, device="meta")).dtype, (a.cfloat() @ a.cfloat()).dtype)
        out = torch.empty(2, 2)
        show(torch.mm(a, a, out=out) is out, out.dtype, a.clone().addmm_(a, a).dtype)
        attempt(lambda: torch.mm(a, a, out=torch.empty(2, 2, dtype=torch.bfloat16)).dtype)
    show((a @ a).dtype)


# ---- blocks ----


def nesting(torch, show):
    a = _ones(torch, 2, 2)
    state = lambda: (torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), torch.is_autocast_cache_enabled(), (a @ a).dtype)
    show(state())
    with torch.autocast("cpu"):
        show(state())
        with torch.autocast("cpu", enabled=False):
            show(state())
            with torch.autocast("cpu", torch.float16, cache_enabled=False):
                show(state())
            show(state())
        with torch.autocast("cpu", torch.float16):
            show(state())
        show(state())
        with torch.autocast("cpu", torch.float16), torch.autocast("cpu"):
            show(state())
    show(state())


def one_object_in_itself(torch, show):
    mode = torch.autocast("cpu")
    with mode, torch.autocast("cpu", enabled=False):
        show(torch.is_autocast_enabled("cpu"))
    try:
        with mode:
            raise ValueError
    except ValueError:
        show(torch.is_autocast_enabled("cpu"))


def decorated(torch, show):
    a = _ones(torch, 2, 2)

    @torch.autocast("cpu", dtype=torch.float16)
    def product(a):
        """Doc."""
        return a @ a

    show(product(a).dtype, product.__name__, product.__doc__, product(a).dtype, torch.is_autocast_enabled("cpu"))


def devices(torch, show, attempt):
    a = _ones(torch, 2, 2)
    for device in (
        "cuda",
        "xpu",
        "mps",
        "hpu",
        "xla",
        "ipu",
        "mtia",
        "maia",
        "cpu:0",
        "meta",
        "vulkan",
        "privateuseone",
        "nowhere",
        None,
        3,
    ):
        attempt(lambda device=device: torch.autocast(device)._enabled, str(device))
        attempt(lambda device=device: torch.get_autocast_dtype(device))
        attempt(lambda device=device: torch.is_autocast_enabled(device))
        attempt(lambda device=device: torch.amp.is_autocast_available(device))
    with torch.autocast("cuda", dtype=torch.bfloat16):
        show((a @ a).dtype, torch.is_autocast_enabled("cuda"))
    with torch.autocast("xpu"):
        show((a @ a).dtype, torch.is_autocast_enabled("xpu"), torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled())


def dtypes_that_are_not_lower(torch, attempt):
    for dtype in (torch.float32, torch.float64, torch.int32, "bfloat16"):
        attempt(lambda dtype=dtype: torch.autocast("cpu", dtype=dtype)._enabled)
    attempt(lambda: torch.autocast("cpu", dtype=torch.float32, enabled=False)._enabled)
    attempt(lambda: torch.autocast())


def functions_of_the_state(torch, show, attempt):
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    show(torch.is_autocast_enabled("cpu"), (_ones(torch, 2, 2) @ _ones(torch, 2, 2)).dtype)
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    torch.set_autocast_enabled(True)
    show(torch.is_autocast_enabled(), torch.is_autocast_enabled("cuda"))
    torch.set_autocast_enabled(device_type="cuda", enabled=False)
    show(
        torch.autocast_increment_nesting(),
        torch.autocast_increment_nesting(),
        torch.autocast_decrement_nesting(),
        torch.autocast_decrement_nesting(),
    )
    show(torch.clear_autocast_cache())
    attempt(lambda: torch.set_autocast_enabled("cpu", 1))
    attempt(lambda: torch.set_autocast_enabled(1))
    attempt(lambda: torch.set_autocast_dtype("cpu", 3))
    attempt(lambda: torch.set_autocast_cache_enabled(1))
    attempt(lambda: torch.set_autocast_enabled("meta", True))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        show(torch.get_autocast_cpu_dtype(), torch.get_autocast_gpu_dtype(), torch.is_autocast_cpu_enabled())
        torch.set_autocast_cpu_dtype(torch.bfloat16)
        torch.set_autocast_cpu_enabled(False)
        torch.set_autocast_gpu_dtype(torch.float16)
    for one in found:
        show(one.category.__name__, str(one.message).split(" (Triggered")[0])


def threads(torch, show):
    def ask():
        show(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"), (_ones(torch, 2, 2) @ _ones(torch, 2, 2)).dtype)
        with torch.autocast("cpu"):
            show((_ones(torch, 2, 2) @ _ones(torch, 2, 2)).dtype)

    with torch.autocast("cpu", torch.float16):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        show((_ones(torch, 2, 2) @ _ones(torch, 2, 2)).dtype)


# ---- gradients ----


def a_step(torch, nn, F, show):
    torch.manual_seed(0)
    w, b = _ones(torch, 3, 2, grad=True), _ones(torch, 3, grad=True)
    x = torch.tensor([[1.0, 2.0]])
    with torch.autocast("cpu"):
        y = F.linear(x, w, b)
        loss = F.mse_loss(y, torch.zeros(1, 3))
    show(y, loss, y.grad_fn, [n for n, _ in y.grad_fn.next_functions])
    loss.backward()
    show(w.grad, b.grad, w.grad.dtype)


def a_cast_is_kept(torch, F, show):
    w = _ones(torch, 2, 2, grad=True)
    x = _ones(torch, 1, 2)
    source = lambda y: y.grad_fn.next_functions[1][0].next_functions[0][0]
    with torch.autocast("cpu"):
        one, other = F.linear(x, w), F.linear(x, w)
        show(source(one) is source(other))
        with torch.autocast("cpu", enabled=False):
            pass
        show(source(F.linear(x, w)) is source(one))
        torch.clear_autocast_cache()
        show(source(F.linear(x, w)) is source(one))
        with torch.no_grad():
            F.linear(x, w)
        show(F.linear(x, w).requires_grad)
    (one + other).sum().backward()
    show(w.grad)
    with torch.autocast("cpu", cache_enabled=False):
        show(source(F.linear(x, w)) is source(F.linear(x, w)))


@differs("a weight that was written is cast anew")
def a_weight_written_inside(torch, F, show):
    w = _ones(torch, 2, 2, grad=True)
    with torch.autocast("cpu"):
        F.linear(_ones(torch, 1, 2), w)
        with torch.no_grad():
            w.mul_(3)
        show(F.linear(_ones(torch, 1, 2), w))


def backward_inside(torch, F, show):
    w = _ones(torch, 2, 2, grad=True)
    y = F.linear(_ones(torch, 1, 2), w).sum()
    with torch.autocast("cpu"):
        y.backward()
    show(w.grad, w.grad.dtype)


def with_a_checkpoint(torch, F, checkpoint, show):
    for reentrant in (False, True):
        w, x = _ones(torch, 2, 2, grad=True), _ones(torch, 1, 2, grad=True)
        seen = []

        def function(x, w=w, seen=seen):
            seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
            return F.linear(F.linear(x, w), w).float().square().sum()

        with torch.autocast("cpu", torch.float16):
            y = checkpoint(function, x, use_reentrant=reentrant)
        with torch.autocast("cpu"):
            pass
        y.backward()
        show(seen, w.grad, x.grad, torch.is_autocast_enabled("cpu"))


def custom_functions(torch, Function, show, attempt):
    class Product(Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            show("forward", a.dtype, (a @ b).dtype, torch.is_autocast_enabled("cpu"))
            return a @ b

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            show("backward", grad.dtype, torch.is_autocast_enabled("cpu"))
            return grad.mm(b.t()), a.t().mm(grad)

    class Cast(Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, a, rest):
            show("forward", a.dtype, [r.dtype for r in rest], torch.is_autocast_enabled("cpu"))
            return a * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            show("backward", grad.dtype, torch.is_autocast_enabled("cpu"))
            return grad * 2, None

    a = _ones(torch, 2, 2, grad=True)
    with torch.autocast("cpu"):
        y = Product.apply(a, a)
    y.sum().backward()
    show(a.grad)
    half = _ones(torch, 2, dtype=torch.bfloat16, grad=True)
    with torch.autocast("cpu"):
        y = Cast.apply(half, [half, half.double(), half.long()])
    y.sum().backward()
    show(y.dtype, half.grad)
    Cast.apply(half, [half])
    attempt(lambda: torch.amp.custom_fwd(lambda ctx, x: x))
    attempt(lambda: torch.amp.custom_fwd(lambda ctx, x: x, device_type=3))
    attempt(lambda: torch.amp.custom_bwd(lambda ctx, x: x, device_type=3))


def under_transforms(torch, vmap, grad, show):
    w = _ones(torch, 2, 2)
    with torch.autocast("cpu"):
        show(vmap(lambda x: w @ x)(_ones(torch, 3, 2)).dtype)
        show(grad(lambda w: (w @ w).float().sum())(w))
        show(grad(lambda w: vmap(lambda x: w @ x)(_ones(torch, 3, 2)).float().sum())(w))


# ---- the older names ----


def older_names(torch, show):
    import importlib

    for kind in ("cuda", "cpu"):
        names = importlib.import_module(f"{torch.__name__}.{kind}.amp")
        for name in ("autocast", "GradScaler", "custom_fwd", "custom_bwd"):
            if hasattr(names, name):
                with warnings.catch_warnings(record=True) as found:
                    warnings.simplefilter("always")
                    made = getattr(names, name)(lambda ctx: ctx) if name.startswith("custom") else getattr(names, name)()
                show(name, type(made).__name__, [(w.category.__name__, str(w.message)) for w in found])
    show(torch.cuda.amp.common.amp_definitely_not_available())


# ---- GradScaler ----


def _scaler(torch, **options):
    p = torch.nn.Parameter(torch.ones(2))
    return p, torch.optim.SGD([p], lr=0.5), torch.amp.GradScaler("cpu", **{"init_scale": 8.0, "growth_interval": 2} | options)


def scaling(torch, show, attempt):
    p, optimizer, scaler = _scaler(torch)
    show(scaler.get_scale(), scaler._scale, scaler.is_enabled(), scaler.state_dict())
    show(scaler.scale(torch.ones(2)), scaler.scale([torch.ones(1), (torch.ones(1),)]), list(scaler.scale(torch.ones(1) for _ in range(2))))
    show(scaler.scale(torch.ones(2).half()), scaler.scale(torch.ones(2).int()))
    attempt(lambda: scaler.scale(3))


def steps(torch, show):
    p, optimizer, scaler = _scaler(torch)
    for i in range(5):
        optimizer.zero_grad()
        scaler.scale(p.square().sum()).backward()
        if i == 3:
            p.grad[0] = float("inf")
        show(p.grad)
        scaler.step(optimizer)
        scaler.update()
        show(p, p.grad, scaler.state_dict())


def stages(torch, show, attempt):
    p, optimizer, scaler = _scaler(torch)
    attempt(lambda: scaler.unscale_(optimizer))
    attempt(lambda: scaler.step(optimizer))
    attempt(lambda: scaler.update())
    scaler.scale(p.sum()).backward()
    attempt(lambda: scaler.update())
    scaler.unscale_(optimizer)
    show(p.grad)
    attempt(lambda: scaler.unscale_(optimizer))
    scaler.step(optimizer)
    attempt(lambda: scaler.unscale_(optimizer))
    attempt(lambda: scaler.step(optimizer))
    scaler.update()
    p.grad = None
    attempt(lambda: scaler.step(optimizer))
    attempt(lambda: scaler.step(optimizer, closure=lambda: 1))
    scaler.update(4.0)
    show(scaler.get_scale())
    attempt(lambda: scaler.update(torch.ones(2)))
    attempt(lambda: scaler.update(torch.ones((), requires_grad=True)))


def several_optimizers(torch, show):
    p, optimizer, scaler = _scaler(torch)
    q = torch.nn.Parameter(torch.ones(2))
    other = torch.optim.SGD([q], lr=0.5)
    scaler.scale(p.sum() + (q * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.step(other)
    scaler.update()
    show(p, q, scaler.get_scale())


def settings(torch, show, attempt):
    p, optimizer, scaler = _scaler(torch)
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(7)
    show(scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval(), scaler.state_dict())
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict() | {"_growth_tracker": 2})
    show(other.state_dict(), other.scale(torch.ones(1)), other.state_dict())
    attempt(lambda: other.load_state_dict({}))
    attempt(lambda: torch.amp.GradScaler("cpu", growth_factor=1.0))
    attempt(lambda: torch.amp.GradScaler("cpu", backoff_factor=1.0))
    import pickle

    show(pickle.loads(pickle.dumps(other)).state_dict())
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    attempt(lambda: pickle.dumps(scaler))


def disabled(torch, show, attempt):
    for scaler in (torch.amp.GradScaler("cpu", enabled=False), torch.amp.GradScaler()):
        p, optimizer, _ = _scaler(torch)
        loss = p.sum()
        show(scaler.scale(loss) is loss, scaler.is_enabled(), scaler.get_scale(), scaler.state_dict(), scaler.load_state_dict({}))
        loss.backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        show(p)


def gradients_of_16_bits(torch, show, attempt):
    p = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    optimizer, scaler = torch.optim.SGD([p], lr=0.5), torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(p.sum()).backward()
    attempt(lambda: scaler.unscale_(optimizer))
    q = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    optimizer, scaler = torch.optim.SGD([q], lr=0.5), torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(q.sum()).backward()
    scaler.step(optimizer)
    show(q.grad, q)


def sparse_gradients(torch, nn, show):
    table = nn.Embedding(4, 2, sparse=True)
    with torch.no_grad():
        table.weight.fill_(1.0)
    optimizer, scaler = torch.optim.SGD(table.parameters(), lr=0.5), torch.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(table(torch.tensor([1, 1])).sum()).backward()
    scaler.unscale_(optimizer)
    show(table.weight.grad.to_dense())
    scaler.step(optimizer)
    show(table.weight)


def fused_optimizers(torch, show):
    for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        p = torch.nn.Parameter(torch.ones(2))
        optimizer, scaler = make([p], lr=0.5, fused=True), torch.amp.GradScaler("cpu", init_scale=4.0)
        scaler.scale(p.sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        show(p, p.grad, hasattr(optimizer, "grad_scale"), scaler.get_scale())
        optimizer.zero_grad()
        scaler.scale(p.sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        show(p, p.grad)
        p.grad.fill_(float("inf"))
        scaler.step(optimizer)
        scaler.update()
        show(p, scaler.get_scale())


def optimizers_that_take_the_scaler(torch, show):
    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None, *, grad_scaler=None):
            return type(grad_scaler).__name__

    p = torch.nn.Parameter(torch.ones(2))
    optimizer, scaler = Own([p], lr=0.5), torch.amp.GradScaler("cpu")
    scaler.scale(p.sum()).backward()
    show(scaler.step(optimizer))


def parts_of_the_scaler(torch, show, attempt):
    check, update = torch._amp_foreach_non_finite_check_and_unscale_, torch._amp_update_scale_
    x, y, found = torch.tensor([1.0, 3.0]), torch.tensor([2.0, float("nan")]), torch.zeros(())
    check([x], found, torch.tensor(0.5))
    show(x, found)
    check([x, y], found, torch.tensor(0.5))
    show(x, y, found)
    attempt(lambda: check([], torch.zeros(1), torch.tensor(0.5)))
    attempt(lambda: check([x], torch.zeros(1).half(), torch.tensor(0.5)))
    attempt(lambda: check([x], torch.zeros(1), torch.ones(2)))
    scale, tracker = torch.tensor([4.0]), torch.zeros(1, dtype=torch.int32)
    for bad in (0.0, 0.0, 0.0, 1.0):
        update(scale, tracker, torch.tensor([bad]), 2.0, 0.5, 2)
        show(scale, tracker)
    scale.fill_(3e38)
    update(scale, tracker, torch.zeros(1), 2.0, 0.5, 1)
    show(scale, tracker)
    attempt(lambda: update(scale.double(), tracker, torch.zeros(1), 2.0, 0.5, 1))
    attempt(lambda: update(scale, tracker.long(), torch.zeros(1), 2.0, 0.5, 1))
