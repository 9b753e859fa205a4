"""Writes to complex tensors, to their parts and to conjugates."""


def assigning_parts(torch, show):
    z = torch.tensor([1 + 2j])
    z.real = 5
    show(z)
    z.imag = torch.tensor([7.0])
    show(z)


def a_write_to_an_element_of_the_real_part(torch, show):
    z = torch.tensor([1 + 2j])
    z.real[0] = 9
    show(z, z._version)


def assigning_elements(torch, show):
    z = torch.tensor([1 + 2j, 3])
    z[0] = 1j
    z[1:] = 5
    show(z)


def a_complex_number_into_a_real_tensor(torch, attempt):
    z = torch.tensor([1.0, 3])
    attempt(lambda: z.__setitem__(0, 1j))


def a_complex_tensor_into_a_real_one(torch, show):
    z = torch.tensor([1.0, 3])
    z[0] = torch.tensor(1j)
    show(z)


def a_conjugate_follows_its_base(torch, show):
    z = torch.tensor([1 + 2j])
    w = z.conj()
    z.mul_(1j)
    show(w, w._version, z._version)


def an_element_of_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = z.conj()
    w[0] = 1j
    show(z, w)


def copying_into_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = z.conj()
    w.copy_(torch.tensor([5 + 6j, 7j]))
    show(z, w)


def filling_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = z.conj()
    w.fill_(2 + 3j)
    show(z, w)


def exp_of_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = z.conj()
    w.exp_()
    show(z, w, w.is_conj())


def a_write_to_the_imaginary_part_of_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = z.conj().imag
    w.add_(1)
    show(z, w)


def out_is_a_conjugate(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = torch.empty(2, dtype=torch.complex64).conj()
    torch.add(z, 1, out=w)
    show(w)


def abs_with_out(torch, show):
    z = torch.tensor([1 + 2j, 4])
    w = torch.empty(2)
    torch.abs(z, out=w)
    show(w)


def abs_of_complex_numbers(torch, attempt):
    z = torch.tensor([1 + 2j, 4])
    attempt(lambda: z.abs_())


def a_complex_result_into_a_real_out(torch, attempt):
    z = torch.tensor([1 + 2j, 4])
    w = torch.empty(2)
    attempt(lambda: torch.add(z, z, out=w))


def writes_under_no_grad(torch, show):
    z = torch.tensor([1 + 2j], requires_grad=True)
    with torch.no_grad():
        z.mul_(1j)
    show(z)
