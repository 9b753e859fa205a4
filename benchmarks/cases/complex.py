"""Complex numbers: small ops, where overhead is all there is, and large ones, where the kernels are."""

from registry import case


def on_complex(name, statement, *sizes, target=None, requires_grad=False):
    @case(name, target=target)
    def setup(torch):
        torch.manual_seed(0)
        tensors = [torch.randn(*size, dtype=torch.complex64, requires_grad=requires_grad) for size in sizes]
        return statement, {"torch": torch, **dict(zip("ab", tensors, strict=False))}


on_complex("complex mul 4x4", "a * b", (4, 4), (4, 4), target=5)
on_complex("complex matmul 4x4", "a @ b", (4, 4), (4, 4), target=3)
on_complex("complex a.conj() * a, forward + backward", "(a.conj() * a).real.sum().backward()", (8,), requires_grad=True, target=3)
on_complex("complex mul 1M", "a * b", (1 << 20,), (1 << 20,))
on_complex("complex exp 1M", "a.exp()", (1 << 20,))
on_complex("complex abs 1M", "a.abs()", (1 << 20,))
on_complex("complex sum 1M", "a.sum()", (1 << 20,))
on_complex("complex matmul 512x512", "a @ b", (512, 512), (512, 512))
