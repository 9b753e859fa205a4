"""Ops that programs define: torch.library. Each program has a namespace of its own, since definitions stay."""

keep = []


def _triple(torch, name, **options):
    def triple(x, k=1.0):
        return x.detach() * 3 * k

    triple.__annotations__ = {"x": torch.Tensor, "k": float, "return": torch.Tensor}
    return torch.library.custom_op(name, mutates_args=(), **options)(triple)


def a_function(torch, show, attempt):
    op = _triple(torch, "lib_one::triple")
    x = torch.ones(3)
    show(op(x), op(x, 2.0), op(x, k=2.0), torch.ops.lib_one.triple(x), torch.ops.lib_one.triple.default(x, 3))
    show(
        str(op._opoverload._schema),
        str(torch.ops.lib_one.triple),
        torch.ops.lib_one.triple.overloads(),
        torch.ops.lib_one.triple.default.name(),
    )
    attempt(lambda: op(3))
    attempt(lambda: op())
    attempt(lambda: op(x, y=3))
    attempt(lambda: op(x, "a"))
    attempt(lambda: torch.ops.lib_one.nothing)
    attempt(lambda: torch.ops.lib_nowhere.nothing)
    attempt(lambda: torch.ops.lib_one.triple.nothing)


def gradients(torch, show, attempt):
    op = _triple(torch, "lib_grad::triple")
    x = torch.ones(3, requires_grad=True)
    y = op(x)
    show(y.requires_grad, type(y.grad_fn).__name__)
    attempt(lambda: y.sum().backward())

    def setup(ctx, inputs, output):
        ctx.k = inputs[1]
        ctx.save_for_backward(inputs[0])

    def backward(ctx, grad):
        return grad * 3 * ctx.k * ctx.saved_tensors[0], None

    op.register_autograd(backward, setup_context=setup)
    op(x, 2.0).sum().backward()
    show(x.grad)
    with torch.no_grad():
        show(op(x).requires_grad)
    (g,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
    show(torch.autograd.grad(g.sum(), x))


def meta_tensors(torch, show, attempt):
    op = _triple(torch, "lib_meta::triple")
    attempt(lambda: op(torch.empty(3, device="meta")))
    op.register_fake(lambda x, k=1.0: torch.empty_like(x))
    out = op(torch.empty(3, device="meta"))
    show(out.shape, out.device)


def samples(torch, vmap, show):
    op = _triple(torch, "lib_vmap::triple")
    x = torch.arange(6.0).reshape(2, 3)
    show(vmap(op)(x), vmap(op, in_dims=1)(x))
    op.register_vmap(lambda info, in_dims, x, k=1.0: (op(x, k) + 100, in_dims[0]))
    show(vmap(op)(x), vmap(op, in_dims=1)(x))


def annotations(torch, show, attempt, kind):
    from collections.abc import Sequence
    from typing import Optional

    def many(x, n, o=None, s="a", b=True, d=None, f=1):
        return x.clone(), x + 1

    types = {
        "x": torch.Tensor,
        "n": Sequence[int],
        "o": Optional[torch.Tensor],  # noqa: UP045
        "s": str,
        "b": bool,
        "d": Optional[torch.dtype],  # noqa: UP045
        "f": int | float | bool,
    }
    many.__annotations__ = types | {"return": tuple[torch.Tensor, torch.Tensor]}
    show(torch.library.infer_schema(many, mutates_args=()), torch.library.infer_schema(many, mutates_args={"x"}, op_name="foo"))
    op = torch.library.custom_op("lib_types::many", mutates_args=())(many)
    show(op(torch.ones(2), [1, 2]))

    def plain(x):
        return x

    attempt(lambda: torch.library.infer_schema(plain, mutates_args=()))
    plain.__annotations__ = {"x": torch.Tensor}
    attempt(lambda: torch.library.infer_schema(plain, mutates_args=()))
    plain.__annotations__ = {"x": dict, "return": torch.Tensor}
    attempt(lambda: torch.library.infer_schema(plain, mutates_args=()))
    plain.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    attempt(lambda: torch.library.infer_schema(plain, mutates_args={"y"}))
    same = torch.library.custom_op("lib_types::same", mutates_args=())(plain)
    kind(lambda: same(torch.ones(2)))


def writes(torch, show):
    def grow(x):
        x.add_(1)

    grow.__annotations__ = {"x": torch.Tensor, "return": None}
    op = torch.library.custom_op("lib_writes::grow", mutates_args={"x"})(grow)
    y = torch.ones(2)
    before = y._version
    show(op(y), y, y._version > before, str(op._opoverload._schema))


def kernels(torch, show, kind):
    op = _triple(torch, "lib_kernels::triple", device_types="cuda")
    kind(lambda: op(torch.ones(2)))
    op.register_kernel("cpu")(lambda x, k=1.0: x * 5)
    show(op(torch.ones(2)))
    show(
        torch.library.custom_op("lib_kernels::by", mutates_args=(), schema="(Tensor x, float y) -> Tensor")(lambda x, y: x * y)(
            torch.ones(2), 2
        )
    )


def libraries(torch, show, attempt, kind):
    library = torch.library.Library("lib_old", "FRAGMENT")
    library.define("foo(Tensor x, int n=2) -> Tensor")
    kind(lambda: torch.ops.lib_old.foo(torch.ones(2)))
    library.impl("foo", lambda x, n=2: x * n, "CPU")
    x = torch.ones(2, requires_grad=True)
    show(torch.ops.lib_old.foo(torch.ones(2)), torch.ops.lib_old.foo(torch.ones(2), 3), str(torch.ops.lib_old.foo.default._schema))
    attempt(lambda: library.define("foo(Tensor x) -> Tensor"))
    attempt(lambda: torch.library.Library("prim", "DEF"))
    attempt(lambda: torch.library.Library("lib_other", "SOME"))
    torch.library.define("lib_old::bar", "(Tensor x) -> Tensor")

    @torch.library.impl("lib_old::bar", "cpu")
    def bar(x):
        return x + 1

    torch.library.register_fake("lib_old::bar")(lambda x: torch.empty_like(x))
    show(torch.ops.lib_old.bar(torch.ones(2)), torch.ops.lib_old.bar(torch.ones(2, device="meta")).shape)
    torch.library.register_autograd("lib_old::bar", lambda ctx, g: g * 5)
    torch.ops.lib_old.bar(x).sum().backward()
    show(x.grad)
    keep.append(library)


def checks(torch, show, kind):
    op = _triple(torch, "lib_checks::triple")
    op.register_fake(lambda x, k=1.0: torch.empty_like(x))
    op.register_autograd(lambda ctx, grad: (grad * 3, None))
    show(torch.library.opcheck(op, (torch.ones(3),)), torch.library.opcheck(op, (torch.ones(3, requires_grad=True),)))
    wrong = _triple(torch, "lib_checks::wrong")
    wrong.register_fake(lambda x, k=1.0: x.new_empty(7))
    kind(lambda: torch.library.opcheck(wrong, (torch.ones(3),)))
