"""Complex tensors: making, converting, printing, computing, storing."""

import copy
import io
import pickle

import numpy


def making_complex_tensors(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: torch.tensor([1 + 2j]).dtype)
    attempt(lambda: torch.tensor([1, 2.5, 3j]))
    attempt(lambda: torch.tensor(1 + 2j, dtype=torch.complex128))
    attempt(lambda: torch.tensor([1j], dtype=torch.float32))
    attempt(
        lambda: (
            torch.zeros(2, dtype=torch.cfloat),
            torch.ones(2, dtype=torch.cdouble),
            torch.full((2,), 1 - 1j),
            torch.eye(2, dtype=torch.complex64),
            torch.empty(0, dtype=torch.complex64),
        )
    )
    attempt(lambda: (torch.full((2,), 1.5, dtype=torch.complex64), torch.full((2,), 1j, dtype=torch.float32)))
    attempt(lambda: torch.full_like(torch.ones(2), 1j))
    attempt(lambda: torch.arange(3, dtype=torch.complex64))


def dtypes_and_numbers(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: (torch.linspace(0, 1j, 3), torch.linspace(0, 1, 3, dtype=torch.complex64)))
    attempt(
        lambda: (
            torch.complex64.is_complex,
            torch.complex64.is_floating_point,
            torch.complex128.itemsize,
            torch.complex64.to_real(),
            torch.float64.to_complex(),
            torch.complex64.is_signed,
        )
    )
    attempt(
        lambda: (
            torch.promote_types(torch.complex64, torch.float64),
            torch.promote_types(torch.int64, torch.complex64),
            torch.result_type(torch.ones(2), 1j),
            torch.result_type(torch.ones(2, dtype=torch.float64), 1j),
            torch.result_type(torch.ones(2, dtype=torch.int64), 1j),
            torch.result_type(torch.ones((), dtype=torch.complex128), torch.ones(2)),
        )
    )
    attempt(lambda: (torch.can_cast(torch.complex64, torch.float32), torch.can_cast(torch.float64, torch.complex64)))
    attempt(lambda: (torch.is_complex(torch.ones(1)), torch.is_complex(torch.ones(1, dtype=torch.cfloat)), torch.tensor([1j]).is_complex()))
    attempt(lambda: (torch.finfo(torch.complex64), torch.finfo(torch.complex128).eps))
    attempt(lambda: (torch.tensor(1 + 2j).item(), complex(torch.tensor(1 + 2j)), torch.tensor([1 + 2j, 3]).tolist()))
    attempt(lambda: (float(torch.tensor(1 + 0j)), int(torch.tensor(2 + 0j))))


def order_equality_and_flags(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: (bool(torch.tensor(1j)), bool(torch.tensor(0j))))
    attempt(lambda: (torch.tensor([1 + 2j, 3 - 4j]).abs(), torch.tensor([1 + 2j, 3 - 4j]).angle(), torch.tensor([1 + 2j, 3 - 4j]).sgn()))
    attempt(lambda: torch.tensor([1 + 2j]) > torch.tensor([1j]))
    attempt(lambda: (torch.tensor([1 + 2j]) == 1 + 2j, torch.tensor([1 + 2j]) != 1))
    attempt(lambda: torch.tensor([1 + 2j]).conj().conj().is_conj())
    attempt(lambda: torch.tensor([1 + 2j]).conj().resolve_conj().is_conj())
    attempt(
        lambda: (
            torch.tensor([1 + 2j]).conj().imag.is_neg(),
            torch.tensor([1 + 2j]).conj().imag,
            torch.tensor([1 + 2j]).conj().real.is_neg(),
        )
    )
    attempt(lambda: torch.tensor([1 + 2j]).conj_physical().is_conj())


def views_of_parts(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: torch.view_as_real(torch.ones(2)))
    attempt(lambda: torch.view_as_complex(torch.ones(3)))
    attempt(lambda: torch.view_as_complex(torch.ones(3, 2).t()))
    attempt(lambda: (torch.view_as_complex(torch.ones(3, 4)[:, :2]), torch.view_as_complex(torch.ones(4, 2)[::2])))
    attempt(lambda: torch.ones(2).imag)
    attempt(lambda: torch.ones(2).real)
    attempt(lambda: torch.tensor([1 + 2j]).conj().numpy())
    attempt(lambda: torch.tensor([1 + 2j]).numpy())


def conversions(torch, attempt):
    torch.manual_seed(3)
    attempt(
        lambda: (
            torch.from_numpy(numpy.array([1 + 2j])),
            torch.from_numpy(numpy.array([1 + 2j], dtype=numpy.complex64)),
            torch.tensor(numpy.complex64(1 + 2j)),
            torch.as_tensor(numpy.array([1j])),
        )
    )
    attempt(lambda: (torch.tensor([1 + 2j]).type(), torch.tensor([1 + 2j], dtype=torch.complex128).type()))
    attempt(
        lambda: (torch.ones(2).to(torch.complex64), torch.ones(2).cfloat(), torch.ones(2).cdouble(), torch.ones(2).type(torch.complex64))
    )
    attempt(lambda: torch.tensor([1 + 2j]).to(torch.float32))
    attempt(lambda: torch.tensor([1 + 2j]).float())
    attempt(lambda: (torch.tensor([1.5 + 2j]).bool(), torch.tensor([0j]).bool()))
    attempt(
        lambda: (
            torch.tensor([1.0, 2.0]) * 2j,
            2j * torch.tensor([1.0, 2.0]),
            torch.tensor([1, 2]) + 1j,
            torch.tensor([1, 2]) / 2j,
            1j - torch.tensor([1.0]),
            1j / torch.tensor([2.0]),
            torch.tensor([2.0]) ** 1j,
            1j ** torch.tensor([2.0]),
        )
    )
    attempt(lambda: torch.ones(2).add(1, alpha=1j))


def writes_and_scaled_sums(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: torch.ones(2, dtype=torch.cfloat).add(1, alpha=1j))
    attempt(lambda: torch.ones(2).mul_(1j))
    attempt(lambda: torch.ones(2).add_(torch.ones(2, dtype=torch.cfloat)))
    attempt(lambda: torch.ones(2, dtype=torch.cfloat).mul_(1j).add_(torch.ones(2)))
    attempt(lambda: torch.ones(2).fill_(1j))
    attempt(lambda: (torch.ones(2, dtype=torch.cfloat).fill_(1j), torch.ones(2, dtype=torch.cfloat).zero_()))
    attempt(
        lambda: torch.addcmul(
            torch.ones(2, dtype=torch.cfloat), torch.ones(2, dtype=torch.cfloat), torch.ones(2, dtype=torch.cfloat), value=2j
        )
    )
    attempt(lambda: torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=2j))


def choosing_and_testing(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: torch.ones(2, dtype=torch.cfloat).masked_fill(torch.tensor([True, False]), 2j))
    attempt(lambda: torch.ones(2).masked_fill(torch.tensor([True, False]), 2j))
    attempt(lambda: torch.where(torch.tensor([True, False]), torch.ones(2), 1j))
    attempt(lambda: torch.where(torch.tensor([True, False]), 1j, 2.0))
    attempt(
        lambda: (
            torch.isreal(torch.tensor([1j, 1 + 0j])),
            torch.isnan(torch.tensor([complex(float("nan"), 0)])),
            torch.isinf(torch.tensor([complex(0, float("inf"))])),
            torch.isfinite(torch.tensor([1j])),
        )
    )
    attempt(
        lambda: (
            torch.isclose(torch.tensor([1j]), torch.tensor([1j + 1e-9])),
            torch.allclose(torch.tensor([1j]), torch.tensor([2j])),
            torch.equal(torch.tensor([1j]), torch.tensor([1j])),
        )
    )
    attempt(lambda: torch.set_default_dtype(torch.complex64))
    attempt(lambda: torch.tensor([1j], requires_grad=True).requires_grad)


def reductions_and_indexing(torch, attempt):
    torch.manual_seed(3)
    attempt(
        lambda: (
            torch.tensor([1j]).sum(),
            torch.tensor([[1j, 2], [3, 4j]]).mean(0),
            torch.tensor([1j, 2, 3]).prod(),
            torch.tensor([1j, 2]).cumsum(0),
            torch.tensor([1j, 2]).cumprod(0),
            torch.tensor([1j, 2, 4]).var(),
            torch.tensor([1j, 2, 4]).std(),
            torch.tensor([3, 4j]).norm(),
        )
    )
    attempt(lambda: (torch.tensor([1j, 2]).sum(dtype=torch.complex128), torch.ones(2).sum(dtype=torch.complex64)))
    attempt(
        lambda: (
            torch.tensor([1j, 0]).any(),
            torch.tensor([1j, 0]).all(),
            torch.tensor([1j, 0]).count_nonzero(),
            torch.tensor([1j, 0]).nonzero(),
        )
    )
    attempt(lambda: torch.stack([torch.tensor([1j]), torch.tensor([2.0])]))
    attempt(lambda: torch.cat([torch.tensor([1j]), torch.tensor([2.0])]))
    attempt(
        lambda: (
            torch.tensor([1j, 2, 3])[[0, 2]],
            torch.tensor([1j, 2, 3])[1:],
            torch.tensor([1j, 2, 3])[torch.tensor([True, False, True])],
        )
    )
    attempt(
        lambda: (
            torch.tensor([1j, 2, 3]).flip(0),
            torch.tensor([1j, 2, 3]).roll(1),
            torch.tensor([1j, 2, 3]).repeat(2),
            torch.diag(torch.tensor([1j, 2])),
            torch.tril(torch.ones(2, 2, dtype=torch.cfloat)),
            torch.trace(torch.eye(2, dtype=torch.cfloat) * 1j),
        )
    )
    attempt(lambda: (torch.polar(torch.tensor([1.0]), torch.tensor([0.5])), torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))))


def random_numbers_storage_and_functions(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: torch.complex(torch.ones(2), torch.ones(2).double()))
    attempt(
        lambda: (
            torch.rand(2, dtype=torch.cfloat).shape,
            torch.randn(3, dtype=torch.cdouble),
            torch.rand(2, dtype=torch.cfloat),
            torch.randn_like(torch.ones(2, dtype=torch.cfloat)),
        )
    )
    attempt(lambda: torch.tensor([1j]).untyped_storage().nbytes())
    attempt(lambda: (torch.tensor([1 + 2j]).view(torch.float32), torch.ones(4).view(torch.complex64)))
    attempt(lambda: (torch.tensor([1j]).element_size(), torch.tensor([1j]).nbytes, torch.tensor([1j]).data_ptr() != 0))
    attempt(lambda: (torch.ones(3, dtype=torch.cfloat).real.stride(), torch.ones(3, dtype=torch.cfloat).imag.storage_offset()))
    attempt(lambda: torch.autograd.grad(torch.tensor([1j], requires_grad=True).sum(), []))
    attempt(
        lambda: (
            torch.tensor([1 + 2j]).exp(),
            torch.tensor([1 + 2j]).log(),
            torch.tensor([1 + 2j]).sqrt(),
            torch.tensor([1 + 2j]).sin(),
            torch.tensor([1 + 2j]).tanh(),
            torch.tensor([1 + 2j]).pow(2),
            torch.tensor([1 + 2j]) ** (1 + 1j),
            torch.tensor([1 + 2j]).reciprocal(),
            torch.tensor([1 + 2j]).rsqrt(),
            torch.tensor([1 + 2j]).sigmoid(),
            torch.tensor([1 + 2j]).square(),
        )
    )


def operators_and_flags_of_conjugates(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: (torch.tensor([1 + 2j]).logical_not(), torch.tensor([1 + 2j, 0]).logical_and(torch.tensor([True, True]))))
    attempt(lambda: torch.tensor([1 + 2j]) // 2)
    attempt(lambda: torch.tensor([1 + 2j]) % 2)
    attempt(lambda: ~torch.tensor([1j]))
    attempt(lambda: (abs(torch.tensor([3 + 4j])), -torch.tensor([3 + 4j]), +torch.tensor([1j])))
    attempt(lambda: torch.tensor([1j]).int())
    attempt(lambda: torch.tensor([1j]).clone().detach().contiguous().conj().contiguous().is_conj())
    attempt(
        lambda: (
            torch.tensor([1j]).conj().clone().is_conj(),
            torch.tensor([1j]).conj().detach().is_conj(),
            torch.tensor([1j]).conj()[0].is_conj(),
            torch.tensor([1j]).conj().view(1, 1).is_conj(),
            torch.tensor([1j]).conj().t().is_conj(),
            (torch.tensor([1j]).conj() + 1).is_conj(),
        )
    )


def conjugates_and_factories(torch, attempt):
    torch.manual_seed(3)
    attempt(lambda: (torch.ones_like(torch.tensor([1j]).conj()).is_conj(), torch.empty_like(torch.tensor([1j]).conj()).is_conj()))
    attempt(lambda: torch.tensor([1j]).storage_offset())


def assert_close(torch, show):
    torch.testing.assert_close(torch.tensor([1j]), torch.tensor([1j + 1e-9]))
    show("ok")


def saving(torch, show):
    b = io.BytesIO()
    torch.save(torch.tensor([1j, 2]), b)
    b.seek(0)
    show(torch.load(b))


def saving_a_conjugate(torch, show):
    b = io.BytesIO()
    torch.save(torch.tensor([1j, 2]).conj(), b)
    b.seek(0)
    y = torch.load(b)
    show(y, y.is_conj())


def pickling_and_copying(torch, show):
    z = torch.tensor([1j, 2])
    show(pickle.loads(pickle.dumps(z)), copy.deepcopy(z), copy.copy(z), copy.deepcopy(z.conj()).is_conj())


def meta_tensors(torch, show):
    z = torch.ones(2, 3, dtype=torch.cdouble).to("meta")
    show((z * z).dtype, z.conj().is_conj(), z.abs().dtype, z.sum(0).shape, z.real.shape)
