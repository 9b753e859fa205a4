"""Complex parameters, optimizers, transforms and forward mode."""


def sgd(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    o = torch.optim.SGD([z], lr=0.1, momentum=0.9)
    for _ in range(3):
        o.zero_grad()
        z.abs().pow(2).sum().backward()
        o.step()
    show(z)


def adam(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    o = torch.optim.Adam([z], lr=0.1)
    for _ in range(3):
        o.zero_grad()
        z.abs().pow(2).sum().backward()
        o.step()
    show(z)


def adam_with_amsgrad_and_weight_decay(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    o = torch.optim.Adam([z], lr=0.1, amsgrad=True, weight_decay=0.1)
    for _ in range(3):
        o.zero_grad()
        z.abs().pow(2).sum().backward()
        o.step()
    show(z)


def clipping(torch, show):
    z = torch.tensor([3 + 4j], requires_grad=True)
    z.grad = torch.tensor([3 + 4j])
    show(torch.nn.utils.clip_grad_norm_([z], 1.0), z.grad)


def a_complex_parameter(torch, show):
    p = torch.nn.Parameter(torch.tensor([1j]))
    show(p)


def func_grad(torch, show):
    show(torch.func.grad(lambda z: z.abs().sum())(torch.tensor([3 + 4j])))


def func_vjp(torch, show):
    show(torch.func.vjp(lambda z: z * z, torch.tensor([3 + 4j]))[1](torch.tensor([1j])))


def func_jvp(torch, show):
    show(torch.func.jvp(lambda z: z * z, (torch.tensor([3 + 4j]),), (torch.tensor([1j]),)))


def func_vmap(torch, show):
    show(torch.func.vmap(lambda z: z.conj() * z)(torch.tensor([[3 + 4j], [1j]])))


def func_jacrev_of_the_real_part(torch, show):
    show(torch.func.jacrev(lambda z: z.real)(torch.tensor([3 + 4j])))


def func_jacrev(torch, show):
    show(torch.func.jacrev(lambda z: z * z)(torch.tensor([3 + 4j])))


def func_jacfwd(torch, show):
    show(torch.func.jacfwd(lambda z: z * z)(torch.tensor([3 + 4j])))


def func_grad_of_a_complex_result(torch, show):
    show(torch.func.grad(lambda z: (z * z).sum())(torch.tensor([3 + 4j])))


def functional_jacobian(torch, show):
    show(torch.autograd.functional.jacobian(lambda z: z * z, torch.tensor([3 + 4j])))


def functional_vjp(torch, show):
    show(torch.autograd.functional.vjp(lambda z: z * z, torch.tensor([3 + 4j]), torch.tensor([1j])))


def functional_jvp(torch, show):
    show(torch.autograd.functional.jvp(lambda z: z * z, torch.tensor([3 + 4j]), torch.tensor([1j])))


def forward_mode(torch, fwAD, show):
    with fwAD.dual_level():
        z = fwAD.make_dual(torch.tensor([1 + 2j]), torch.tensor([1j]))
        show([fwAD.unpack_dual(y).tangent for y in (z.conj(), z.abs(), z * z, z.real)])
