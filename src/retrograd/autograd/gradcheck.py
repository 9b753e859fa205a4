"""Checks derivatives against differences of function values.

`gradcheck` compares the Jacobian that backward computes with the one central differences give; `gradgradcheck` does the same for
the gradient. The slow mode compares every entry. The fast mode compares one number, v' J u for random v and u, and computes the
whole Jacobian only to explain a failure.

Jacobians here are matrices with a row for each element of the input and a column for each element of the output.

Of complex outputs the real and the imaginary parts are checked, one after the other. The derivative of a real number with respect
to a complex one, x + iy, is what backward gives: d/dx + i d/dy.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retrograd import _C, autograd
from retrograd._C import Tensor
from retrograd.autograd.function import Function
from retrograd.autograd.grad_mode import _unsafe_preserve_version_counter

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck", "gradgradcheck"]

_Func = Callable[..., Any]

_ops = _C._ops


class GradcheckError(RuntimeError):
    """A derivative is wrong."""


def gradcheck(
    func: _Func,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compares the gradients of a function with differences of its values.

    Checked are the inputs that require grad, which should be of dtype float64 or complex128, and the outputs that are differentiable.

    Args:
        func: takes the inputs and returns a tensor or several.
        eps: half the step of the differences.
        atol, rtol: how far an entry may be off.
        raise_exception: raise a `GradcheckError` that says what is wrong, or return False.
        nondet_tol: how far two backwards of the same thing may differ.
        check_undefined_grad: also check that outputs without a gradient are handled, and in forward mode inputs without a tangent.
        check_grad_dtypes: also check that gradients have the dtype of their inputs.
        check_batched_grad: also check batches of gradients (`is_grads_batched`).
        check_forward_ad, check_batched_forward_grad, check_backward_ad: which modes of differentiation to check.
        fast_mode: compare one random projection of each Jacobian instead of all its entries.
        masked: for sparse inputs; without effect on others.

    Example::

        >>> x = retrograd.rand(3, dtype=retrograd.float64, requires_grad=True)
        >>> retrograd.autograd.gradcheck(lambda t: t.sin() * t, (x,))
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    check = _Check(func, _as_tuple(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        check.check_inputs()
        for part in check.parts():
            outputs = part.run()
            if not outputs:
                part.constant()
                continue
            if check_backward_ad:
                part.backward_mode(outputs)
                if check_batched_grad:
                    part.batched_backward(outputs)
                part.zero_gradients(outputs)
                if check_undefined_grad:
                    part.undefined_gradients()
            if check_forward_ad:
                part.forward_mode(outputs)
                if check_undefined_grad:
                    part.undefined_tangents()
                if check_batched_forward_grad:
                    part.batched_forward(outputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: _Func,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compares second derivatives with differences of first ones: `gradcheck` of the gradient of a function.

    The gradient is checked as a function of the inputs and of those `grad_outputs` that require grad, which are random ones if none are given.

    Args:
        gen_non_contig_grad_outputs: make the random `grad_outputs` non-contiguous.
        check_fwd_over_rev, check_rev_over_rev: differentiate the gradient in forward or in backward mode.
        (others): as for `gradcheck`.

    Example::

        >>> x = retrograd.rand(3, dtype=retrograd.float64, requires_grad=True)
        >>> retrograd.autograd.gradgradcheck(lambda t: t.sin() * t, (x,))
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    inputs = _as_tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(_as_tuple(func(*inputs)))
        grad_outputs = tuple(_random_like(o, gen_non_contig_grad_outputs).requires_grad_() for o in outputs)
    else:
        grad_outputs = _as_tuple(grad_outputs)
    count = len(grad_outputs)
    differentiated = [isinstance(i, Tensor) and i.requires_grad for i in inputs]

    def gradient(*args: Any) -> tuple[Tensor, ...]:
        arguments, grads = args[: len(args) - count], args[len(args) - count :]
        for argument in itertools.compress(arguments, differentiated):
            if not argument.requires_grad:  # a dual tensor that the check of forward mode made
                argument._mark_requires_grad(True)
        results = _differentiable(_as_tuple(func(*arguments)))
        wanted = [a for a in arguments if isinstance(a, Tensor) and a.requires_grad]
        found = autograd.grad(results, wanted, grads, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient,
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


# -- small things -------------------------------------------------------------


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def _is_double(tensor: Tensor) -> bool:
    return tensor.dtype in (_C.float64, _C.complex128)


def _inner(a: Tensor, b: Tensor) -> Tensor:
    """The sum of products; complex numbers count as pairs of real ones."""
    return (a * b.conj()).sum().real


def _differentiable(outputs: tuple[Any, ...]) -> tuple[Tensor, ...]:
    for i, output in enumerate(outputs):
        if not isinstance(output, Tensor):
            raise AttributeError(
                f"gradcheck expects func to return tensors, and output {i} is of type {type(output).__name__}: it has no requires_grad"
            )
    return tuple(o for o in outputs if o.requires_grad)


def _random_like(tensor: Tensor, strided: bool) -> Tensor:
    shape = tuple(tensor.shape)
    if not strided or tensor.numel() < 2:
        return _ops.rand(shape, dtype=tensor.dtype, device=tensor.device) * 2 - 1
    return (_ops.rand((*shape, 2), dtype=tensor.dtype, device=tensor.device) * 2 - 1)[..., 0]


def _indices(tensor: Tensor) -> Iterator[tuple[int, ...]]:
    """The index of each element, in the order of reshape(-1)."""
    return itertools.product(*(range(n) for n in tensor.shape))


def _flat(tensor: Tensor) -> Tensor:
    return tensor.detach().reshape(-1)


def _filled(tensor: Tensor | None, like: Tensor) -> Tensor:
    return _ops.zeros_like(like, requires_grad=False) if tensor is None else tensor


def _zeros(rows: int, columns: int, like: Tensor) -> Tensor:
    return _ops.zeros((rows, columns), dtype=like.dtype, device=like.device)


# -- numerical Jacobians ------------------------------------------------------


class _Perturbed:
    """Writes to a tensor in place, as nobody was meant to see, and puts everything back: values and version."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.detach()
        self.original = self.tensor.clone()
        self.version = _unsafe_preserve_version_counter(tensor)

    def __enter__(self) -> Tensor:
        self.version.__enter__()
        return self.tensor

    def __exit__(self, *exc_info: object) -> None:
        with _C.no_grad():
            self.tensor.copy_(self.original)
        self.version.__exit__(*exc_info)


def _values(func: _Func, inputs: tuple[Any, ...]) -> list[Tensor]:
    return [o.detach().clone() for o in _as_tuple(func(*inputs))]


def _difference(func: _Func, inputs: tuple[Any, ...], shift: Callable[[float], None], eps: float, where: str = "") -> list[Tensor]:
    """Central differences of all outputs: `shift(h)` moves the input by h along some direction."""
    shift(-eps)
    below = _values(func, inputs)
    shift(eps)
    above = _values(func, inputs)
    moved = f"when inputs are perturbed{where} by {eps:g}, but got:"
    if len(above) != len(below):
        raise AssertionError(f"Expected `func` to return as many outputs {moved} {len(below)} and {len(above)}.")
    for a, b in zip(above, below, strict=True):
        if a.shape != b.shape:
            raise AssertionError(f"Expected `func` to return outputs with the same shape {moved} shapes {b.shape} and {a.shape}.")
        if a.dtype != b.dtype:
            raise AssertionError(f"Expected `func` to return outputs with the same dtype {moved} dtypes {b.dtype} and {a.dtype}.")
    return [(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)]


def _numerical(func: _Func, inputs: tuple[Any, ...], index: int, eps: float) -> list[Tensor]:
    """The Jacobian of each output with respect to one input."""
    target = inputs[index]
    columns: list[list[Tensor]] = []
    with _Perturbed(target) as data:
        for place in _indices(data):
            value = data[place].item()

            def shift(h: float, place: tuple[int, ...] = place, value: Any = value, unit: complex = 1.0) -> None:
                with _C.no_grad():
                    data[place] = value + h * unit

            where = f" on index {place}"
            rows = [_flat(d) for d in _difference(func, inputs, shift, eps, where)]
            if data.is_complex():
                upwards = _difference(func, inputs, lambda h, shift=shift: shift(h, unit=1j), eps, where)  # type: ignore[misc]
                rows = [row + 1j * _flat(d) for row, d in zip(rows, upwards, strict=True)]
            columns.append(rows)
            shift(0.0)
    if not columns:
        return [_zeros(0, o.numel(), o) for o in _values(func, inputs)]
    return [_ops.stack([column[i] for column in columns]) for i in range(len(columns[0]))]


def _numerical_along(func: _Func, inputs: tuple[Any, ...], index: int, direction: Tensor, eps: float) -> list[Tensor]:
    """The derivative of each output along one direction of one input."""
    with _Perturbed(inputs[index]) as data:
        start = data.clone()

        def shift(h: float) -> None:
            with _C.no_grad():
                data.copy_(start + h * direction)

        return _difference(func, inputs, shift, eps)


# -- analytical Jacobians -----------------------------------------------------


def _grads(output: Tensor, inputs: Sequence[Tensor], grad_output: Tensor) -> tuple[Tensor | None, ...]:
    return autograd.grad(output, inputs, grad_output, retain_graph=True, allow_unused=True)


def _analytical(output: Tensor, inputs: Sequence[Tensor], check: Callable[[int, Tensor], None] = lambda i, g: None) -> list[Tensor]:
    """The Jacobian of one output with respect to each input, a column for each backward."""
    jacobians = [_zeros(t.numel(), output.numel(), t) for t in inputs]
    one = _ops.zeros_like(output, requires_grad=False)
    for column, place in enumerate(_indices(output)):
        with _C.no_grad():
            one.zero_()
            one[place] = 1
        for i, grad in enumerate(_grads(output, inputs, one.clone())):
            if grad is None:
                continue
            check(i, grad)
            jacobians[i][:, column] = _flat(grad)
    return jacobians


# -- the checks ---------------------------------------------------------------


class _Undefined(Function):
    """The identity, with no gradient."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> None:
        return None


def _warn_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default; check_undefined_grad=False switches it "
        "off.",
        stacklevel=2,
    )


class _Check:
    def __init__(
        self, func: _Func, inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, nondet_tol: float, check_dtypes: bool, fast: bool
    ) -> None:
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol, self.nondet_tol = eps, atol, rtol, nondet_tol
        self.check_dtypes, self.fast = check_dtypes, fast
        self.wanted = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
        self.part = ""  # of complex outputs: what messages begin with
        self.differentiable: list[bool] = []  # which of the outputs require grad
        self.generator = _C.Generator().manual_seed(0)  # not the program's

    def parts(self) -> Iterator[_Check]:
        """Itself, or a check of the imaginary and one of the real parts of what func returns."""
        outputs = [isinstance(o, Tensor) and o.is_complex() for o in _as_tuple(self.func(*self.inputs))]
        if not any(outputs):
            yield self
            return

        def parts_of(part: Callable[[Tensor], Tensor], others: bool) -> _Func:
            """func with one part of its complex outputs; the others are their own real parts."""

            def func(*args: Any) -> tuple[Any, ...]:
                results = zip(_as_tuple(self.func(*args)), outputs, strict=True)
                return tuple(part(r) if is_complex else r for r, is_complex in results if is_complex or others)

            return func

        for name, func in (("imaginary", parts_of(_ops.imag, False)), ("real", parts_of(_ops.real, True))):
            check = _Check(func, self.inputs, self.eps, self.atol, self.rtol, self.nondet_tol, self.check_dtypes, self.fast)
            check.part = f"While considering the {name} part of complex outputs only, "
            yield check

    @property
    def wanted_inputs(self) -> list[Tensor]:
        return [self.inputs[i] for i in self.wanted]

    def run(self) -> tuple[Tensor, ...]:
        results = _as_tuple(self.func(*self.inputs))
        self.differentiable = [isinstance(o, Tensor) and o.requires_grad for o in results]
        return _differentiable(results)

    def check_inputs(self) -> None:
        if not self.wanted:
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
        for i in self.wanted:
            tensor = self.inputs[i]
            if not _is_double(tensor):
                warnings.warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail: "
                    f"its tolerances are those of double precision. Hint: pass input #{i} as .double().",
                    stacklevel=4,
                )
            if any(s == 0 and n > 1 for n, s in zip(tensor.shape, tensor.stride(), strict=True)):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping: it moves "
                    f"one element at a time, and here several share memory. Pass input #{i} as .contiguous()."
                )
            tensor.retain_grad()

    def constant(self) -> None:
        """Without differentiable outputs the differences must be zero."""
        for i in self.wanted:
            for o, jacobian in enumerate(
                _numerical(lambda *a: tuple(t for t in _as_tuple(self.func(*a)) if _is_float(t)), self.inputs, i, self.eps)
            ):
                if jacobian.numel() and jacobian.abs().max().item() > 0:
                    raise GradcheckError(
                        f"Numerical gradient for function expected to be zero: no output requires grad, but output {o} changes with "
                        f"input {i}. "
                        "Hint: the history is cut somewhere, by detach(), .data or no_grad, or an operation has no derivative."
                    )

    def direction(self, like: Tensor) -> Tensor:
        """A random direction with positive entries: no two wrong entries cancel."""
        vector = _ops.rand(tuple(like.shape), generator=self.generator, dtype=like.dtype, device=like.device)
        return vector / _inner(vector, vector).sqrt().clamp(min=1e-30)

    # Comparing

    def close(self, analytical: Tensor, numerical: Tensor, atol: float | None = None) -> bool:
        dtype = _C.promote_types(analytical.dtype, numerical.dtype)
        return analytical.to(dtype).allclose(numerical.to(dtype), self.rtol, self.atol if atol is None else atol)

    def worst(self, analytical: Tensor, numerical: Tensor, i: int, output: Tensor, o: int) -> str:
        """The entry that is farthest beyond what is allowed, by its place in the input and in the output."""
        wide = _C.complex128 if analytical.is_complex() or numerical.is_complex() else _C.float64
        a, n = analytical.to(wide), numerical.to(wide)
        excess = (a - n).abs() - (self.atol + self.rtol * n.abs())
        excess = _ops.where(excess.isnan(), _ops.full_like(excess, float("inf")), excess)
        at = int(excess.reshape(-1).argmax().item())
        row, column = divmod(at, a.shape[1])
        place_in = next(itertools.islice(_indices(self.inputs[i]), row, None))
        place_out = next(itertools.islice(_indices(output), column, None))
        x, y = a[row, column].item(), n[row, column].item()
        wrong = int((excess > 0).sum().item())
        return (
            f"worst entry: output {o}{list(place_out)} with respect to input {i}{list(place_in)}: numerical {y:.10g}, analytical {x:.10g}, "
            f"difference {abs(x - y):.3g} where {self.atol + self.rtol * abs(y):.3g} is allowed ({wrong} of {a.numel()} entries are wrong)"
        )

    def advice(self, output: Tensor) -> str:
        """What to say where the numbers may be at fault and not the derivative."""
        poor = [f"input {i} is {self.inputs[i].dtype}" for i in self.wanted if not _is_double(self.inputs[i])]
        if not _is_double(output):
            poor.append(f"the output is {output.dtype}")
        if not poor:
            return ""
        return (
            f"\nNote: {', '.join(poor)}. In less than double precision the rounding of func drowns a step of eps={self.eps:g}, so "
            "this may be no "
            "mistake in the derivative. Hint: check in double precision (inputs.double()), or, if that cannot be, with eps=1e-2, "
            "atol=1e-2, rtol=1e-2."
        )

    def fail(self, analytical: Tensor, numerical: Tensor, i: int, output: Tensor, o: int, mode: str = "") -> None:
        raise GradcheckError(
            f"{self.part}Jacobian {mode}mismatch for output {o} with respect to input {i},\nnumerical:{numerical}\nanalytical:{analytical}\n"
            + self.worst(analytical, numerical, i, output, o)
            + self.advice(output)
        )

    # Backward mode

    def check_gradient(self, k: int, grad: Tensor) -> None:
        i, tensor = self.wanted[k], self.wanted_inputs[k]
        if grad.shape != tensor.shape:
            raise GradcheckError(f"Analytical gradient has incorrect size: {tuple(grad.shape)} for input {i} of size {tuple(tensor.shape)}")
        if self.check_dtypes and grad.dtype != tensor.dtype:
            raise GradcheckError(f"Analytical gradient has dtype {grad.dtype} for input {i} of dtype {tensor.dtype}")

    def not_reentrant(self, o: int, i: int, difference: float) -> None:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output twice gives different values. The "
            f"tolerance for nondeterminism was {self.nondet_tol}.\nThe gradient of output {o} with respect to input {i} differs by "
            f"{difference:.3g} between two runs. Hint: if the function is meant to be nondeterministic, say by how much with nondet_tol."
        )

    def numerical_for(self, outputs: tuple[Tensor, ...], i: int) -> list[Tensor]:
        return _numerical(self.differentiable_func(), self.inputs, i, self.eps)

    def differentiable_func(self) -> _Func:
        """func with only those outputs that are differentiable at the inputs."""
        return lambda *a: tuple(itertools.compress(_as_tuple(self.func(*a)), self.differentiable))

    def backward_mode(self, outputs: tuple[Tensor, ...]) -> None:
        if self.fast:
            self.fast_backward(outputs)
            return
        numerical = [self.numerical_for(outputs, i) for i in self.wanted]
        for o, output in enumerate(outputs):
            first = _analytical(output, self.wanted_inputs, self.check_gradient)
            second = _analytical(output, self.wanted_inputs)
            for k, i in enumerate(self.wanted):
                if not self.close(first[k], numerical[k][o]):
                    self.fail(first[k], numerical[k][o], i, output, o)
                self.compare_runs(first[k], second[k], o, i)

    def compare_runs(self, first: Tensor, second: Tensor, o: int, i: int) -> None:
        if not first.allclose(second, rtol=0.0, atol=self.nondet_tol, equal_nan=True):
            self.not_reentrant(o, i, (first - second).abs().max().item())

    def fast_backward(self, outputs: tuple[Tensor, ...]) -> None:
        func = self.differentiable_func()
        along = [self.direction(t) for t in self.wanted_inputs]
        moved = [_numerical_along(func, self.inputs, i, u, self.eps) for i, u in zip(self.wanted, along, strict=True)]
        for o, output in enumerate(outputs):
            v = self.direction(output)
            grads, again = (_grads(output, self.wanted_inputs, v) for _ in range(2))
            for k, i in enumerate(self.wanted):
                grad = grads[k]
                if grad is None:
                    grad = _ops.zeros_like(self.wanted_inputs[k], requires_grad=False)
                else:
                    self.check_gradient(k, grad)
                    self.compare_runs(grad, again[k], o, i)  # type: ignore[arg-type]
                analytical = _inner(grad.detach(), along[k])
                numerical = _inner(moved[k][o], v)
                # Errors of size atol in every entry add up to this much.
                atol = self.atol * along[k].abs().sum().item() * v.abs().sum().item()
                if not self.close(analytical, numerical, atol):
                    self.explain_fast(analytical, numerical, i, output, o)

    def explain_fast(self, analytical: Tensor, numerical: Tensor, i: int, output: Tensor, o: int, mode: str = "") -> None:
        text = (
            f"{self.part}Jacobian {mode}mismatch for output {o} with respect to input "
            f"{i},\nnumerical:{numerical.item()}\nanalytical:{analytical.item()}\n\n"
            "These are the Jacobians in a random direction of the input and of the output (fast mode). In full they are:\n\n"
        )
        slow_numerical = self.numerical_for((output,), i)[o]
        slow_analytical = self.slow_jacobian(output, o, i, mode)
        text += f"Numerical:\n {slow_numerical}\nAnalytical:\n{slow_analytical}\n\n"
        difference = (slow_analytical - slow_numerical).abs().max().item()
        text += f"The max per-element difference (slow mode) is: {difference}.\n"
        if self.close(slow_analytical, slow_numerical):
            text += "The entries agree one by one: the small errors of many entries added up. Hint: fast_mode=False, or a larger atol.\n"
        else:
            text += self.worst(slow_analytical, slow_numerical, i, output, o)
        raise GradcheckError(text + self.advice(output))

    def slow_jacobian(self, output: Tensor, o: int, i: int, mode: str) -> Tensor:
        if mode:
            return self.forward_jacobian(i, self.run())[o]
        return _analytical(output, self.wanted_inputs)[self.wanted.index(i)]

    def zero_gradients(self, outputs: tuple[Tensor, ...]) -> None:
        """A gradient of zero must give gradients of zero."""
        zeros = [_ops.zeros_like(o, requires_grad=False) for o in outputs]
        grads: tuple[Tensor | None, ...] = autograd.grad(outputs, self.wanted_inputs, zeros, allow_unused=True, retain_graph=True)
        for i, tensor, grad in zip(self.wanted, self.wanted_inputs, grads, strict=True):
            if grad is None:
                continue
            if grad.shape != tensor.shape:
                raise GradcheckError(f"grad is incorrect size: {tuple(grad.shape)} for input {i} of size {tuple(tensor.shape)}")
            if grad.dtype != tensor.dtype:
                raise GradcheckError(f"grad is incorrect type: {grad.dtype} for input {i} of dtype {tensor.dtype}")
            if not (grad == 0).all().item():
                raise GradcheckError(
                    f"backward not multiplied by grad_output: with grad_outputs of zero, the gradient of input {i} is\n{grad}"
                )

    def undefined_gradients(self) -> None:
        """Outputs without a gradient must count as outputs with a gradient of zero."""
        outputs = self.run()
        choices = [range(len(outputs))] + ([[o] for o in range(len(outputs))] if len(outputs) > 1 else [])
        for undefined in choices:
            outputs = self.run()
            cut = [_Undefined.apply(o) if n in undefined else o for n, o in enumerate(outputs)]
            zeros = [_ops.zeros_like(o, requires_grad=False) for o in outputs]
            names = "all outputs" if len(undefined) == len(outputs) else f"output {undefined[0]}"
            try:
                grads = autograd.grad(cut, self.wanted_inputs, zeros, allow_unused=True)
            except RuntimeError as error:
                _warn_undefined()
                raise GradcheckError(
                    f"Expected backward function to handle undefined output grads: it failed without a gradient for {names}: {error}"
                ) from error
            for i, grad in zip(self.wanted, grads, strict=True):
                if grad is not None and not (grad == 0).all().item():
                    _warn_undefined()
                    raise GradcheckError(
                        "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                        f"Without a gradient for {names} and zeros for the rest, the gradient of input {i} is\n{grad}"
                    )

    def batched_backward(self, outputs: tuple[Tensor, ...]) -> None:
        for o, output in enumerate(outputs):
            batch = _ops.stack([_random_like(output, False) for _ in range(2)])
            try:
                together = autograd.grad(output, self.wanted_inputs, batch, retain_graph=True, allow_unused=True, is_grads_batched=True)
            except RuntimeError as error:
                raise GradcheckError(
                    f"While computing batched gradients, got: {error}\n\nThat is how far vmap came with the backward of output {o}. Hint: write it "
                    "with operations that vmap can batch, or switch this check off with check_batched_grad=False."
                ) from error
            apart = [_grads(output, self.wanted_inputs, v) for v in batch]
            for k, i in enumerate(self.wanted):
                if together[k] is None and all(g[k] is None for g in apart):
                    continue
                expected = _ops.stack([_filled(g[k], self.inputs[i]) for g in apart])
                if not self.close(together[k], expected):
                    raise GradcheckError(
                        f"For output {o} and input {i}: the gradients of a batch differ from those of its entries one by one.\n"
                        f"batch:\n{together[k]}\none by one:\n{expected}"
                    )

    # Forward mode

    def tangents_for(self, tangents: dict[int, Tensor]) -> list[Tensor | None]:
        """The tangents of the differentiable outputs for tangents of some inputs."""
        from retrograd.autograd import forward_ad  # here: importing the package needs none of it

        with forward_ad.dual_level():
            args = [a.detach() if isinstance(a, Tensor) and a.requires_grad else a for a in self.inputs]
            for i, tangent in tangents.items():
                args[i] = forward_ad.make_dual(args[i], tangent)
            results = _as_tuple(self.func(*args))
            found = [forward_ad.unpack_dual(r).tangent if _is_float(r) else None for r in results]
        return list(itertools.compress(found, self.differentiable))

    def tangents(self, i: int, tangent: Tensor) -> list[Tensor | None]:
        """Those for a tangent of one input, and zeros for the others."""
        zeros = {j: _ops.zeros_like(self.inputs[j], requires_grad=False) for j in self.wanted}
        return self.tangents_for({**zeros, i: tangent})

    def undefined_tangents(self) -> None:
        """An input without a tangent must count as one with a tangent of zero."""
        for i in self.wanted:
            others = {j: self.direction(self.inputs[j]) for j in self.wanted if j != i}
            expected = self.tangents_for({**others, i: _ops.zeros_like(self.inputs[i], requires_grad=False)})
            found = self.tangents_for(others)
            for o, (a, b) in enumerate(zip(found, expected, strict=True)):
                given = a if a is not None else b
                if given is not None and not self.close(_filled(a, given), _filled(b, given)):
                    raise GradcheckError(
                        f"{self.part}Mismatch in tangent values for output with index: {o} when input: {i} has an undefined tangent value. "
                        f"Got:\n{a}\nbut with a tangent of zeros it is\n{b}"
                    )

    def forward_jacobian(self, i: int, outputs: tuple[Tensor, ...]) -> list[Tensor]:
        tensor, rows = self.inputs[i], []
        one = _ops.zeros_like(tensor, requires_grad=False)
        for place in _indices(tensor):
            with _C.no_grad():
                one.zero_()
                one[place] = 1
            row = [_flat(_filled(t, o)) for t, o in zip(self.tangents(i, one.clone()), outputs, strict=True)]
            if tensor.is_complex():
                upwards = self.tangents(i, one * 1j)
                row = [r + 1j * _flat(_filled(t, o)) for r, t, o in zip(row, upwards, outputs, strict=True)]
            rows.append(row)
        return [_ops.stack([row[o] for row in rows]) if rows else _zeros(0, outputs[o].numel(), outputs[o]) for o in range(len(outputs))]

    def forward_mode(self, outputs: tuple[Tensor, ...]) -> None:
        mode = "computed with forward mode "
        for i in self.wanted:
            if self.fast:
                u = self.direction(self.inputs[i])
                moved = _numerical_along(self.differentiable_func(), self.inputs, i, u, self.eps)
                for o, (output, tangent) in enumerate(zip(outputs, self.tangents(i, u), strict=True)):
                    v = self.direction(output)
                    analytical = (
                        _ops.zeros((), dtype=output.dtype, device=output.device) if tangent is None else _inner(tangent.detach(), v)
                    )
                    numerical = _inner(moved[o], v)
                    if not self.close(analytical, numerical, self.atol * u.abs().sum().item() * v.abs().sum().item()):
                        self.explain_fast(analytical, numerical, i, output, o, mode)
                continue
            numerical_all, analytical_all = self.numerical_for(outputs, i), self.forward_jacobian(i, outputs)
            for o, output in enumerate(outputs):
                if not self.close(analytical_all[o], numerical_all[o]):
                    self.fail(analytical_all[o], numerical_all[o], i, output, o, mode)

    def batched_forward(self, outputs: tuple[Tensor, ...]) -> None:
        from retrograd.func import vmap

        for i in self.wanted:
            batch = _ops.stack([_random_like(self.inputs[i], False) for _ in range(2)])
            apart = [self.tangents(i, u) for u in batch]

            def fill(u: Tensor, i: int = i) -> tuple[Tensor, ...]:
                found = self.tangents(i, u)
                return tuple(_filled(t, o) for t, o in zip(found, outputs, strict=True))

            functions = _C._plain_functions_in_vmap(True)
            try:
                together = vmap(fill)(batch)
            except RuntimeError as error:
                raise GradcheckError(
                    f"While computing batched gradients, got: {error}\n\nThat is how far vmap came in forward mode, with a batch of tangents of "
                    f"input {i}. Hint: write the function with operations that vmap can batch, or switch this check off with "
                    "check_batched_forward_grad=False."
                ) from error
            finally:
                _C._plain_functions_in_vmap(functions)
            for o, output in enumerate(outputs):
                expected = _ops.stack([_filled(t[o], output) for t in apart])
                if not self.close(together[o], expected):
                    raise GradcheckError(
                        f"For output {o} and input {i}: the tangents of a batch differ from those of its entries one by one."
                    )


# -- Jacobians for their own sake ---------------------------------------------


def _deprecated(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. Use autograd.functional.jacobian or gradcheck instead.",
        FutureWarning,
        stacklevel=3,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out other than 1.0.")


def get_numerical_jacobian(
    fn: Callable[[Any], Any], inputs: Sequence[Any], target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> Any:
    """The Jacobians of `fn(inputs)` by central differences.

    A tuple with a matrix for each input that requires grad (or for `target`, some of the inputs); of several outputs those of the first. A row
    stands for an element of the input, a column for one of the output.
    """
    _deprecated("get_numerical_jacobian", grad_out)
    inputs = tuple(inputs)
    targets = _as_tuple(target) if target is not None else tuple(t for t in inputs if isinstance(t, Tensor) and t.requires_grad)
    where = [next(i for i, t in enumerate(inputs) if t is wanted) for wanted in targets]
    jacobians = [_numerical(lambda *a: fn(a), inputs, i, eps) for i in where]
    return tuple(j[0] for j in jacobians)


def get_analytical_jacobian(inputs: Sequence[Any], output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0) -> Any:
    """The Jacobian of `output` with respect to each input that requires grad, by backward.

    Returns (jacobians, whether two runs agree within `nondet_tol`, whether the sizes of gradients are right, whether their dtypes are).
    """
    _deprecated("get_analytical_jacobian", grad_out)
    wanted = [t for t in _as_tuple(inputs) if isinstance(t, Tensor) and t.requires_grad]
    right = {"size": True, "dtype": True}

    def check(i: int, grad: Tensor) -> None:
        right["size"] &= grad.shape == wanted[i].shape
        right["dtype"] &= grad.dtype == wanted[i].dtype

    first, second = _analytical(output, wanted, check), _analytical(output, wanted)
    same = all(not a.numel() or (a - b).abs().max().item() <= nondet_tol for a, b in zip(first, second, strict=True))
    return tuple(first), same, right["size"], right["dtype"]
