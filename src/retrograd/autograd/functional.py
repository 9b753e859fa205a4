"""Derivatives of functions: products with Jacobians and Hessians, and the matrices themselves.

Each takes a function of tensors and the inputs to evaluate it at, leaves `.grad` alone, and by default gives results without history.
With `create_graph=True` they can be differentiated further. With `strict=True` an output that does not depend on an input is an
error instead of a zero.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from retrograd import _C, autograd
from retrograd._C import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_ops = _C._ops
_Tensors = Tensor | tuple[Tensor, ...]


# -- arguments and results ----------------------------------------------------


# Some programs compute Jacobians of their own with these, under PyTorch's names.


def _as_tuple(value: Any, what: str | None = None, function: str | None = None) -> Any:
    """(whether a tuple was given, the tensors); without names for the error, any values as a tuple."""
    many = isinstance(value, tuple)
    items = value if many else (value,)
    if what is None:
        return tuple(value) if isinstance(value, list) else items
    for i, item in enumerate(items):
        if not isinstance(item, Tensor):
            where = f"the value at index {i}" if many else f"the given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but {where} has type {type(item)}."
            )
    return many, items


def _grad_postprocess(tensors: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
    """Tensors, or tuples of them, without history unless that is wanted."""
    if create_graph:
        return tuple(tensors)
    return tuple(t.detach() if isinstance(t, Tensor) else _grad_postprocess(t, create_graph) for t in tensors)


def _tuple_postprocess(tensors: Any, many: bool | tuple[bool, bool]) -> Any:
    """A tuple, or its only element; for a tuple of tuples the same twice, outer first."""
    if isinstance(many, tuple):
        many, inner = many
        tensors = tuple(_tuple_postprocess(row, inner) for row in tensors)
    return tensors if many else tensors[0]


def _construct_standard_basis_for(tensors: Sequence[Tensor], sizes: Sequence[int]) -> tuple[Tensor, ...]:
    """Unit vectors of the space that tensors span together: for each tensor, flattened, its part of all of them, stacked."""
    from retrograd.func._reverse import basis

    if not tensors:
        raise AssertionError("Expected at least one tensor")
    return tuple(part.view(part.shape[0], -1) for part in basis(tensors, sizes))


def _fresh(inputs: Sequence[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    """Inputs to differentiate with respect to: part of the caller's graph only where that is wanted."""
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in inputs)


def _result(tensors: Sequence[Tensor], many: bool, create_graph: bool) -> Any:
    return _tuple_postprocess(_grad_postprocess(tensors, create_graph), many)


def _vectors(v: Any, like: Sequence[Tensor], function: str, sole: str) -> tuple[Tensor, ...]:
    """The vectors of a product, one for each tensor of `like`; ones for a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if {sole} a single Tensor with a single element.")
        return (_ops.ones_like(like[0], requires_grad=False),)
    _, vectors = _as_tuple(v, "v", function)
    if len(vectors) != len(like):
        if len(like) == 1:
            raise RuntimeError(f"The given v should contain a single Tensor, but got {len(vectors)}.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}.")
    for i, (vector, tensor) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != tensor.shape:
            entry = f"Entry {i} in v" if len(like) > 1 else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {tensor.shape} but got {vector.shape}.")
    return vectors


def _grads(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], grads: Sequence[Tensor], create_graph: bool, keep: bool = False
) -> tuple[Any, ...]:
    """autograd.grad that takes outputs without history for constants."""
    used = [(o, g) for o, g in zip(outputs, grads, strict=True) if o.requires_grad]
    if not used:
        return (None,) * len(inputs)
    roots, vectors = zip(*used, strict=True)
    return autograd.grad(roots, inputs, vectors, retain_graph=create_graph or keep, create_graph=create_graph, allow_unused=True)


# -- strict mode --------------------------------------------------------------


def _refuse(text: str, mode: str = "in strict mode.") -> NoReturn:
    raise RuntimeError(f"{text} This is not allowed {mode}")


def _check_outputs(outputs: Sequence[Tensor], strict: bool) -> None:
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. In strict mode every output must be computed "
                "from the inputs by differentiable operations."
            )


def _check_jacobian(jacobian: Sequence[Tensor], strict: bool) -> None:
    for i, part in enumerate(jacobian):
        if strict and not part.requires_grad:
            raise RuntimeError(
                f"While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
                "independent of the input. This is not allowed in strict mode. A linear function has such a jacobian: pass "
                "strict=False for a hessian of zeros."
            )


def _filled(
    grads: Sequence[Tensor | None], like: Sequence[Tensor], strict: bool, create_graph: bool, missing: str, constant: str
) -> tuple[Tensor, ...]:
    """Gradients with zeros for what is independent, or the error that strict mode asks for.

    `missing` says what it means that a gradient is not there, `constant` that it cannot be differentiated further; {} is its number.
    """
    filled = []
    for i, (grad, tensor) in enumerate(zip(grads, like, strict=True)):
        if strict and grad is None:
            _refuse(missing.format(i))
        if strict and create_graph and not grad.requires_grad:  # type: ignore[union-attr]
            _refuse(constant.format(i), "in strict mode when create_graph=True.")
        filled.append(_ops.zeros_like(tensor, requires_grad=False) if grad is None else grad)
    return tuple(filled)


_NO_OUTPUT = "The output of the user-provided function is independent of input {}."
_NO_JACOBIAN = "The jacobian of the user-provided function is independent of input {}."
_NO_HESSIAN = "The hessian of the user-provided function is independent of input {}."
_NO_TANGENT = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double backward trick "
    "to compute forward mode gradients."
)
_NO_CURVATURE = "The hessian of the user-provided function is independent of entry {} in the grad_jacobian."


# -- products with the Jacobian -----------------------------------------------


def vjp(
    func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector with the Jacobian of a function: (func(*inputs), v' J).

    Args:
        v: of the size of the output; may be left out for an output with one element.

    Example::

        >>> retrograd.autograd.functional.vjp(lambda x: x**2, retrograd.tensor([1.0, 2.0]), retrograd.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with _C.enable_grad():
        many, given = _as_tuple(inputs, "inputs", "vjp")
        points = _fresh(given, create_graph)
        many_outputs, outputs = _as_tuple(func(*points), "outputs of the user-provided function", "vjp")
        _check_outputs(outputs, strict)
        vectors = _vectors(v, outputs, "vjp", "the user-provided function returns")
        grads = _filled(_grads(outputs, points, vectors, create_graph), points, strict, create_graph, _NO_OUTPUT, _NO_JACOBIAN)
        return _result(outputs, many_outputs, create_graph), _result(grads, many, create_graph)


def jvp(
    func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Jacobian of a function with a vector: (func(*inputs), J v).

    Computed as the derivative of u' J with respect to u, by two backwards.

    Args:
        v: of the size of the input; may be left out for an input with one element.

    Example::

        >>> retrograd.autograd.functional.jvp(lambda x: x**2, retrograd.tensor([1.0, 2.0]), retrograd.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with _C.enable_grad():
        _, given = _as_tuple(inputs, "inputs", "jvp")
        points = _fresh(given, create_graph)
        vectors = _vectors(v, points, "jvp", "the input to the user-provided function is")
        many, outputs = _as_tuple(func(*points), "outputs of the user-provided function", "jvp")
        _check_outputs(outputs, strict)
        u = tuple(_ops.zeros_like(o, requires_grad=False).requires_grad_() for o in outputs)
        back = _grads(outputs, points, u, True)
        for i, grad in enumerate(back):
            if strict and grad is None:
                _refuse(_NO_OUTPUT.format(i))
        linear = _filled(back, points, False, False, "", "")
        tangents = _filled(_grads(linear, u, vectors, create_graph), outputs, strict, create_graph, _NO_TANGENT, _NO_JACOBIAN)
        return _result(outputs, many, create_graph), _result(tangents, many, create_graph)


# -- Jacobian and Hessian -----------------------------------------------------


def _reverse_jacobian(output: Tensor, o: int, inputs: Sequence[Tensor], create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobian of one output, a row for each backward."""
    rows: list[list[Tensor | None]] = [[] for _ in inputs]
    one = _ops.zeros_like(output, requires_grad=False)
    for place in itertools.product(*(range(n) for n in output.shape)):
        with _C.no_grad():
            one.zero_()
            one[place] = 1
        for i, grad in enumerate(_grads((output,), inputs, (one.clone(),), create_graph, keep=True)):
            if strict and create_graph and grad is not None and not grad.requires_grad:
                _refuse(_NO_JACOBIAN.format(i), "in strict mode when create_graph=True.")
            if strict and grad is None:
                _refuse(f"Output {o} of the user-provided function is independent of input {i}.")
            rows[i].append(grad)
    whole = []
    for tensor, column in zip(inputs, rows, strict=True):
        shape = (*output.shape, *tensor.shape)
        if all(g is None for g in column):
            whole.append(_ops.zeros(shape, dtype=tensor.dtype, device=tensor.device))
        else:
            whole.append(_ops.stack([_ops.zeros_like(tensor, requires_grad=False) if g is None else g for g in column]).view(shape))
    return whole


def _vectorized_jacobian(outputs: Sequence[Tensor], inputs: Sequence[Tensor], create_graph: bool) -> list[list[Tensor]]:
    """The Jacobian by output and input, in one backward for all rows."""
    from retrograd.func._reverse import basis

    sizes = [o.numel() for o in outputs]
    tracked = [(o, v) for o, v in zip(outputs, basis(outputs, sizes), strict=True) if o.requires_grad]
    found: Sequence[Any] = [None] * len(inputs)
    if tracked and sum(sizes):
        roots, vectors = zip(*tracked, strict=True)
        found = autograd.grad(
            roots, inputs, vectors, retain_graph=create_graph, create_graph=create_graph, allow_unused=True, is_grads_batched=True
        )
    whole: list[list[Tensor]] = [[] for _ in outputs]
    for rows, tensor in zip(found, inputs, strict=True):
        parts = [None] * len(outputs) if rows is None else rows.split(sizes)
        for o, (part, output) in enumerate(zip(parts, outputs, strict=True)):
            shape = (*output.shape, *tensor.shape)
            whole[o].append(_ops.zeros(shape, dtype=tensor.dtype, device=tensor.device) if part is None else part.reshape(shape))
    return whole


def _forward_jacobian(func: Callable[..., Any], inputs: Sequence[Tensor]) -> tuple[bool, list[list[Tensor]]]:
    """By forward mode, all columns in one run of the function. (whether func returns a tuple, Jacobian by output and input)."""
    from retrograd.func._forward import _blocks, jvp as jvp_of
    from retrograd.func._reverse import basis
    from retrograd.func._vmap import vmap

    many = False

    def push(*tangents: Tensor) -> tuple[Tensor, ...]:
        nonlocal many

        def run(*points: Tensor) -> tuple[Tensor, ...]:
            nonlocal many
            many, outputs = _as_tuple(func(*points), "outputs of the user-provided function", "jacobian")
            return outputs

        return jvp_of(run, tuple(inputs), tangents)[1]

    sizes = [t.numel() for t in inputs]
    if sum(sizes):
        columns = vmap(push)(*basis(inputs, sizes))
    else:
        columns = tuple(c.new_zeros((0, *c.shape)) for c in push(*(_ops.zeros_like(t) for t in inputs)))
    return many, [_blocks(column, sizes, list(inputs)) for column in columns]


def _check_strategy(strategy: str) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". "forward-mode" is faster where there are more outputs '
            "than inputs."
        )


def jacobian(
    func: Callable[..., Any],
    inputs: _Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function: sizes of the output, then of the input.

    For several outputs and for several inputs a tuple each: `jacobian(f, (a, b))[i][j]` is that of output i with respect to input j.

    Args:
        vectorize: compute all rows, or columns, at once by vmap instead of one after another.
        strategy: "reverse-mode" runs a backward for each element of the output, "forward-mode" a forward for each of the input (only
            with `vectorize`).

    Example::

        >>> retrograd.autograd.functional.jacobian(lambda x: x**2, retrograd.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    _check_strategy(strategy)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together. Use '
                'strategy="reverse-mode".'
            )
        if strict:
            raise RuntimeError(
                'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together. Use '
                'strategy="reverse-mode".'
            )
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`."
            )
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Pass one of the two."
        )
    with _C.enable_grad():
        many, given = _as_tuple(inputs, "inputs", "jacobian")
        if strategy == "forward-mode":
            many_outputs, whole = _forward_jacobian(func, tuple(t.detach() for t in given))
        else:
            points = _fresh(given, create_graph)
            many_outputs, outputs = _as_tuple(func(*points), "outputs of the user-provided function", "jacobian")
            _check_outputs(outputs, strict)
            for output in outputs:
                if output.is_complex():
                    raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
            if vectorize:
                whole = _vectorized_jacobian(outputs, points, create_graph)
            else:
                whole = [_reverse_jacobian(output, o, points, create_graph, strict) for o, output in enumerate(outputs)]
        rows = tuple(_result(row, many, create_graph) for row in whole)
        return rows if many_outputs else rows[0]


def _scalar(func: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """func, with the check that it returns one number, as a 0-d tensor."""

    @functools.wraps(func)
    def wrapper(*args: Tensor) -> Tensor:
        many, outputs = _as_tuple(func(*args), "outputs of the user-provided function", name)
        if many:
            raise RuntimeError(f"The function given to {name} should return a single Tensor, and it returned {len(outputs)}")
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {name} should contain a single element, and its shape is {list(outputs[0].shape)}"
            )
        return outputs[0].squeeze()

    return wrapper


def hessian(
    func: Callable[..., Any],
    inputs: _Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function that returns one number: sizes of the input, twice.

    For a tuple of inputs a tuple of tuples: `hessian(f, (a, b))[i][j]` is that with respect to input i, then input j.

    Args:
        outer_jacobian_strategy: how the gradient is differentiated, "reverse-mode" or "forward-mode".

    Example::

        >>> retrograd.autograd.functional.hessian(lambda x: (x**3).sum(), retrograd.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    _check_strategy(outer_jacobian_strategy)
    many, given = _as_tuple(inputs, "inputs", "hessian")
    scalar = _scalar(func, "hessian")

    def gradient(*points: Tensor) -> tuple[Tensor, ...]:
        if outer_jacobian_strategy == "forward-mode":
            points = tuple(p._mark_requires_grad(True) for p in points)
        output = scalar(*points)
        _check_outputs((output,), strict)
        grads = _filled(_grads((output,), points, (_ops.ones_like(output, requires_grad=False),), True), points, False, False, "", "")
        _check_jacobian(grads, strict)
        return grads

    blocks = jacobian(gradient, given, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return blocks if many else blocks[0][0]


# -- products with the Hessian ------------------------------------------------


def _gradient(func: Callable[..., Any], points: tuple[Tensor, ...], name: str, strict: bool) -> tuple[Tensor, tuple[Tensor, ...]]:
    many, outputs = _as_tuple(func(*points), "outputs of the user-provided function", name)
    if many:
        raise RuntimeError(f"The function given to {name} should return a single Tensor, and it returned {len(outputs)}")
    (output,) = outputs
    _check_outputs(outputs, strict)
    if output.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element, and its shape is {list(output.shape)}"
        )
    found = _grads(outputs, points, (_ops.ones_like(output, requires_grad=False),), True)
    gradient = _filled(found, points, strict, False, _NO_OUTPUT, "")
    _check_jacobian(gradient, strict)
    return output, gradient


def vhp(
    func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of a vector with the Hessian of a function that returns one number: (func(*inputs), v' H).

    Example::

        >>> retrograd.autograd.functional.vhp(lambda x: (x**3).sum(), retrograd.tensor([1.0, 2.0]), retrograd.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with _C.enable_grad():
        many, given = _as_tuple(inputs, "inputs", "vhp")
        points = _fresh(given, create_graph)
        vectors = _vectors(v, points, "vhp", "the input to the user-provided function is")
        output, gradient = _gradient(func, points, "vhp", strict)
        product = _filled(_grads(gradient, points, vectors, create_graph), points, strict, create_graph, _NO_JACOBIAN, _NO_HESSIAN)
        return _result((output,), False, create_graph), _result(product, many, create_graph)


def hvp(
    func: Callable[..., Any], inputs: _Tensors, v: _Tensors | None = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The product of the Hessian of a function that returns one number with a vector: (func(*inputs), H v).

    The same as `vhp` where second derivatives are continuous, at the price of one more backward.

    Example::

        >>> retrograd.autograd.functional.hvp(lambda x: (x**3).sum(), retrograd.tensor([1.0, 2.0]), retrograd.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with _C.enable_grad():
        many, given = _as_tuple(inputs, "inputs", "hvp")
        points = _fresh(given, create_graph)
        vectors = _vectors(v, points, "hvp", "the input to the user-provided function is")
        output, gradient = _gradient(func, points, "hvp", strict)
        u = tuple(_ops.zeros_like(p, requires_grad=False).requires_grad_() for p in points)
        back = _grads(gradient, points, u, True)
        for i, grad in enumerate(back):
            if strict and grad is None:
                _refuse(_NO_JACOBIAN.format(i))
        linear = _filled(back, points, False, False, "", "")
        product = _filled(_grads(linear, u, vectors, create_graph), points, strict, create_graph, _NO_CURVATURE, _NO_HESSIAN)
        return _result((output,), False, create_graph), _result(product, many, create_graph)
