"""grad, vjp and what is made of them: reverse mode."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.func._arguments import (
    Argnums,
    check_aux,
    check_inputs,
    check_real,
    entered,
    entered_keywords,
    map_tensors,
    output_tensors,
    picked,
    released,
    split_aux,
    tracked_below,
    tracked_outside,
    wrap_argnums,
)
from retrograd.func._vmap import vmap
from retrograd.utils._pytree import TreeSpec, tree_flatten, tree_unflatten, treespec_pprint

_ops = _C._ops


# -- gradients ------------------------------------------------------------------------------------


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of `func`, which returns one number as a 0-d tensor.

    Transforms nest: `grad(grad(f))` is the second derivative, `vmap(grad(f))` the gradient of each example.

    Args:
        argnums: with respect to which argument, or arguments: an int, or a tuple of ints. Each may be a container of tensors.
        has_aux: `func` returns (output, anything else); the new function returns (gradient, the rest).

    Example::

        >>> retrograd.func.grad(lambda x: x.sin().sum())(retrograd.zeros(2))
        tensor([1., 1.])
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes (gradient, value) of `func`, with has_aux (gradient, (value, aux)). See `grad`.

    Example::

        >>> retrograd.func.grad_and_value(lambda x: x**2)(retrograd.tensor(3.0))
        (tensor(6.), tensor(9.))
    """
    api = "grad_and_value(f)(*args)"

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        outside = _C.is_grad_enabled()
        numbers = wrap_argnums(argnums, len(args))
        leaves, spec = tree_flatten(picked(args, numbers))
        check_inputs(leaves)
        with _C._ReverseTransform():
            own = [_C._fresh_leaf(leaf) for leaf in leaves]
            output = func(*entered(args, numbers, tree_unflatten(own, spec)), **entered_keywords(kwargs))
            aux = None
            if has_aux:
                output, aux = split_aux(output, api)
                check_aux(aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(output)}")
            if output.ndim:
                raise RuntimeError(
                    f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. Maybe you wanted to use the "
                    "vjp or jacrev APIs instead?"
                )
        keep = outside and tracked_outside([output], own)
        with _C._ReverseTransform():
            gradients = _backward([output], [None], own, create_graph=keep, retain_graph=keep or has_aux)
        results = [released(g, own, keep) for g in gradients]
        value = released(output, own, keep)
        if has_aux:
            aux_keep = outside
            aux = map_tensors(lambda t: released(t, own, aux_keep), aux)
            return tree_unflatten(results, spec), (value, aux)
        return tree_unflatten(results, spec), value

    return wrapper


def _backward(
    outputs: Sequence[Tensor], cotangents: Sequence[Tensor | None], inputs: Sequence[Tensor], create_graph: bool, retain_graph: bool
) -> list[Tensor]:
    """Gradients of outputs, zeros where there is no dependence. Outputs without history are constants."""
    used = [(o, c) for o, c in zip(outputs, cotangents, strict=True) if o.requires_grad]
    if not used or not inputs:
        return [_zeros(i) for i in inputs]
    roots, grads = zip(*used, strict=True)
    found = _C._run_backward(roots, grads, retain_graph, create_graph, tuple(inputs), True, False)
    return [_zeros(i) if g is None else g for i, g in zip(inputs, found, strict=True)]


def _zeros(like: Tensor) -> Tensor:
    return _ops.zeros_like(like, requires_grad=False)


# -- vector-Jacobian products ---------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(func(*primals), the function that multiplies a vector by the Jacobian from the left).

    Returns:
        (output, vjp_fn), with has_aux (output, vjp_fn, aux). `vjp_fn(cotangents)` takes what has the structure of the output and returns
        a tuple with one gradient for each of the primals. It may be called any number of times.

    Example::

        >>> output, vjp_fn = retrograd.func.vjp(lambda x: x**2, retrograd.tensor([1.0, 2.0]))
        >>> vjp_fn(retrograd.ones(2))
        (tensor([2., 4.]),)
    """
    return vjp_with_argnums(func, *primals, argnums=None, has_aux=has_aux)


def vjp_with_argnums(func: Callable[..., Any], *primals: Any, argnums: Argnums | None = None, has_aux: bool = False) -> Any:
    """vjp with respect to some of the primals; vjp_fn returns gradients in the structure that `argnums` picks."""
    outside = _C.is_grad_enabled()
    numbers = None if argnums is None else wrap_argnums(argnums, len(primals))
    leaves, spec = tree_flatten(primals if numbers is None else picked(primals, numbers))
    check_inputs(leaves)
    aux = None
    with _C._ReverseTransform():
        own = [_C._fresh_leaf(leaf) for leaf in leaves]
        new = tree_unflatten(own, spec)
        output = func(*(new if numbers is None else entered(primals, numbers, new)))
        if has_aux:
            output, aux = split_aux(output, "vjp(f, *primals)")
            check_aux(aux)
        outputs, output_spec = output_tensors(output, "vjp(f, *primals)")
    for tensor in outputs:
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError(
                f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {tensor.dtype}"
            )
    followed = tracked_outside(outputs, own)
    shown = tree_unflatten([released(t, own, outside and followed) for t in outputs], output_spec)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        vectors = _cotangents(cotangents, outputs, output_spec)
        enabled = _C.is_grad_enabled() if create_graph is None else create_graph
        keep = enabled and (followed or any(v.requires_grad or tracked_below(v) for v in vectors))
        with _C._ReverseTransform():
            gradients = _backward(outputs, vectors, own, create_graph=keep, retain_graph=retain_graph)
        return tree_unflatten([released(g, own, keep) for g in gradients], spec)

    if has_aux:
        return shown, vjp_fn, map_tensors(lambda t: released(t, own, outside), aux)
    return shown, vjp_fn


def _cotangents(cotangents: Any, outputs: Sequence[Tensor], spec: TreeSpec) -> list[Tensor]:
    vectors, given = tree_flatten(cotangents)
    if given != spec:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. Got cotangents: "
            f"{treespec_pprint(given)}, primal output: {treespec_pprint(spec)}"
        )
    for i, (vector, output) in enumerate(zip(vectors, outputs, strict=True)):
        if not isinstance(vector, Tensor):
            raise TypeError(f"expected the cotangents to be Tensors, got {type(vector)}")
        if vector.shape != output.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {vector.shape} and output[{i}] has a shape of {output.shape}."
            )
    return vectors


# -- Jacobians ------------------------------------------------------------------------------------


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """The function that computes the Jacobian of `func` by reverse mode: a row for each element of the output, all at once.

    Args:
        argnums: with respect to which argument, or arguments.
        has_aux: `func` returns (output, anything else); the new function returns (Jacobian, the rest).
        chunk_size: at most so many rows at a time, to need less memory; 1 does without vmap.

    Returns:
        For an output of sizes O and an input of sizes I a tensor of sizes (*O, *I). For containers of outputs and inputs: in each
        place of the output a container like the input.

    Example::

        >>> retrograd.func.jacrev(lambda x: x**2)(retrograd.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inner = functools.partial(func, **kwargs) if kwargs else func
        numbers = wrap_argnums(argnums, len(args))
        check_real("jacrev", "inputs", picked(args, numbers))
        output, vjp_fn, *aux = vjp_with_argnums(inner, *args, argnums=numbers, has_aux=has_aux)
        check_real("jacrev", "outputs", output)
        outputs, output_spec = tree_flatten(output)
        inputs, input_spec = tree_flatten(picked(args, numbers))
        sizes = [o.numel() for o in outputs]
        rows = _rows(outputs, sizes, output_spec, vjp_fn, chunk_size)
        parts = [row.split(sizes) for row in rows]
        blocks = [
            tree_unflatten([p[k].reshape((*o.shape, *i.shape)) for p, i in zip(parts, inputs, strict=True)], input_spec)
            for k, o in enumerate(outputs)
        ]
        jacobian = tree_unflatten(blocks, output_spec)
        return (jacobian, *aux) if has_aux else jacobian

    return wrapper


def basis(tensors: Sequence[Tensor], sizes: Sequence[int], start: int = 0, count: int | None = None) -> list[Tensor]:
    """Unit vectors of the space that tensors span together: for each tensor its part of vectors `start` and following, stacked."""
    total = sum(sizes)
    count = total - start if count is None else count
    parts, at = [], 0
    for tensor, size in zip(tensors, sizes, strict=True):
        part = _ops.zeros((count, size), dtype=tensor.dtype, device=tensor.device)
        first, last = max(at, start), min(at + size, start + count)
        if first < last:
            part[first - start : last - start, first - at : last - at].fill_diagonal_(1)
        parts.append(part.view((count, *tensor.shape)))
        at += size
    return parts


def _rows(outputs: list[Tensor], sizes: list[int], spec: TreeSpec, vjp_fn: Callable[..., Any], chunk_size: int | None) -> list[Tensor]:
    """For each input the gradients of all elements of the outputs, stacked."""

    def pull(*vectors: Tensor) -> list[Tensor]:
        return tree_flatten(vjp_fn(tree_unflatten(vectors, spec)))[0]

    total = sum(sizes)
    if not total:
        return [g.new_zeros((0, *g.shape)) for g in pull(*[_zeros(o) for o in outputs])]
    step = total if chunk_size is None else chunk_size
    chunks = []
    for start in range(0, total, step):
        vectors = basis(outputs, sizes, start, min(step, total - start))
        if step == 1:
            chunks.append([g.unsqueeze(0) for g in pull(*[v.squeeze(0) for v in vectors])])
        else:
            chunks.append(vmap(pull)(*vectors))
    return chunks[0] if len(chunks) == 1 else [_ops.cat(column) for column in zip(*chunks, strict=True)]
