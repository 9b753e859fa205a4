"""Nothing that a program can call on a sparse tensor crashes it, or hands out the tensor without memory that C++ has of it."""

import warnings

import pytest

import retrograd as torch

NAMES = sorted(
    n
    for n in dir(torch.Tensor)
    if n not in ("backward", "register_hook", "register_post_accumulate_grad_hook", "apply_", "map_", "map2_", "__torch_function__")
)


def tensors():
    coo = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)).coalesce()
    return [
        coo,
        coo.to_sparse_csr(),
        coo.to_sparse_csc(),
        coo.to_sparse_bsr((1, 1)),
        torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 2)),
    ]


def has_memory(value):
    """No tensor in it is one of C++'s, on the device meta."""
    if isinstance(value, torch.Tensor):
        return not value.is_meta and (value.layout is not torch.strided or not torch.Tensor.is_meta.__get__(value))
    if isinstance(value, (tuple, list)):
        return all(has_memory(v) for v in value)
    return True


def arguments():
    dense = torch.ones(2, 2)
    return [(), (1,), (0, 1), (dense,), (dense, dense), (dense.to_sparse(),), (torch.float64,), (0, torch.tensor([0])), ((2, 2),), (2, 2)]


@pytest.mark.parametrize("grad", [False, True])
def test_methods(grad):
    wrong = []
    for index in range(5):
        for name in NAMES:
            for number in range(len(arguments())):
                x = tensors()[index]
                x = x.requires_grad_() if grad else x
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        attribute = getattr(x, name)
                        result = attribute(*arguments()[number]) if callable(attribute) else attribute
                except (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError, BufferError, AssertionError):
                    continue
                except AttributeError as error:
                    if "parts" in str(error):
                        wrong.append((name, number, repr(error)))
                    continue
                if not has_memory(result):
                    wrong.append((name, number, "a tensor without memory"))
    assert not wrong, wrong[:20]


@pytest.mark.parametrize("where", ["torch", "nn.functional", "linalg", "special"])
def test_functions(where):
    home = torch
    for part in where.split(".") if where != "torch" else ():
        home = getattr(home, part)
    skipped = ("seed", "manual_seed", "set_", "save", "load", "compile", "cli", "sparse_", "embedding_renorm")
    wrong = []
    for name in sorted(n for n in dir(home) if not n.startswith(("_", *skipped)) and callable(getattr(home, n)) and n[0].islower()):
        function = getattr(home, name)
        if isinstance(function, type):
            continue
        for number in range(len(arguments())):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    result = function(tensors()[number % 2], *arguments()[number])
            except Exception as error:  # what kinds are raised is test_every_op's business
                if isinstance(error, AttributeError) and "parts" in str(error):
                    wrong.append((name, number, repr(error)))
                continue
            if not has_memory(result):
                wrong.append((name, number, "a tensor without memory"))
    assert not wrong, wrong[:20]


def test_a_switched_off_torch_function_computes_nothing():
    """Then a call reaches C++, where the tensor has no memory."""
    x, dense = tensors()[0], torch.ones(2, 2)
    with torch._C.DisableTorchFunctionSubclass():
        for f in (lambda: x + dense, lambda: dense @ x, lambda: dense.add_(x), lambda: torch.cat([dense, x]), lambda: dense.copy_(x)):
            with pytest.raises((RuntimeError, NotImplementedError)):
                f()
        result = x.exp()
    assert result.is_meta
    with pytest.raises((RuntimeError, NotImplementedError)):
        result.tolist()


def test_modes_see_the_calls():
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Mode():
        out = tensors()[0] @ torch.ones(2, 1)
    assert "matmul" in seen and torch.equal(out, torch.tensor([[1.0], [2.0]]))


def test_transforms_of_a_sparse_tensor_are_refused_in_words():
    x = tensors()[0]
    with pytest.raises(NotImplementedError, match="the derivative by func of a sparse tensor is not supported"):
        torch.func.grad(lambda t: t.to_dense().sum())(x)
    with pytest.raises(NotImplementedError, match="vmap of a sparse tensor is not supported"):
        torch.vmap(lambda t: t * 2)(x)
    with (
        pytest.raises(NotImplementedError, match="the tangent of a sparse tensor is not supported"),
        torch.autograd.forward_ad.dual_level(),
    ):
        torch.autograd.forward_ad.make_dual(x, x)


def test_transforms_of_dense_arguments_beside_a_sparse_one():
    a, w = tensors()[0], torch.ones(2, 2)
    loss = lambda w, a: (a @ w).pow(2).sum()
    assert torch.equal(torch.func.grad(loss)(w, a), torch.func.grad(loss)(w, a.to_dense()))
    assert torch.equal(torch.vmap(loss, in_dims=(0, None))(w.expand(3, 2, 2), a), loss(w, a).expand(3))
    assert torch.equal(torch.func.jacrev(loss)(w, a), torch.func.jacfwd(loss)(w, a))


def test_indices_that_a_program_changed():
    x = tensors()[0].clone()
    x._indices()[0, 0] = 7
    for f in (lambda: x @ torch.ones(2, 2), x.to_dense, lambda: torch.ones(2, 2) + x):
        with pytest.raises(IndexError):
            f()


def test_no_import_until_one_is_made():
    import subprocess
    import sys

    code = "import retrograd as torch, sys; torch.ones(2).sum(); print([m for m in sys.modules if 'sparse' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
