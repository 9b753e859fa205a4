"""Checkpointing: less memory for more time.

`checkpoint(f, x)` computes f(x) without keeping what backward will need, and computes f a second time during backward to get it.

How it works, without `use_reentrant`:

1. The forward pass records its graph as always, under hooks on saved tensors: where a node would keep a tensor, it keeps a `_Slot`, a
   number in the region's `_Region`.
2. The first time backward asks for a slot, the function runs again on the same inputs, under hooks of its own. The n-th tensor saved now
   belongs to the n-th slot. The graph of this second run is thrown away; only what it would have saved is taken from it.
3. As soon as the last slot has its tensor the second run is broken off (early stop).
4. A tensor is handed out once and forgotten, so memory goes down as backward goes on. A second backward (`retain_graph`) computes again.
5. The inputs are kept by a graph node (`_Inputs`). So when a checkpoint stands inside another one, its inputs are slots of the outer
   region, and are recomputed like everything else there.
6. Inside a level of forward mode nothing of this happens: the function runs as it is, for its tangents cannot be computed again later.
   What the function saves inside a level of forward mode that it enters itself is kept, for the same reason.
7. The second run happens inside the transforms of the first: the same levels of vmap, the same depth (`surrounded`).
8. For each slot the region remembers the op it was saved for, the line, and the tensor's shape, dtype and device. A second run that does
   something else is an error that names the first op that differs.

With `use_reentrant=True` a `Function` runs the forward without a graph, and its backward runs it again and calls backward on that.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from retrograd import _C, autograd
from retrograd._C import Tensor
from retrograd._cells import line_text
from retrograd.autograd.function import Function
from retrograd.autograd.graph import saved_tensors_hooks
from retrograd.func._inside import version_of
from retrograd.func._vmap import surrounded
from retrograd.random import get_rng_state, set_rng_state

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_Contexts = tuple[contextlib.AbstractContextManager[Any], contextlib.AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The function did something else when it was run again."""

    code = "checkpoint_side_effects"  # what the doctor calls it


class _StopRecomputation(BaseException):
    """Everything that was saved is there again."""


def noop_context_fn() -> _Contexts:
    """The default of `context_fn`: nothing around either run."""
    return contextlib.nullcontext(), contextlib.nullcontext()


# -- switches -----------------------------------------------------------------


class _Settings(threading.local):
    early_stop: bool | None = None
    debug: bool | None = None
    group: GraphExecGroup | None = None
    # For selective checkpointing: who wants to know what the forward run saves, and for which node a tensor is saved that no op saves.
    saving: Callable[[Tensor, str], None] | None = None
    node: str | None = None
    second_runs: int = 0  # that are going on, one inside another: what watches a first run is not to watch those that happen in it
    replays_random: bool = False  # whether the innermost of them draws the random numbers of the first run


_settings = _Settings()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether checkpoints called in the block stop their second run when it has computed all that is needed; over their own `early_stop`."""
    before, _settings.early_stop = _settings.early_stop, enable
    try:
        yield
    finally:
        _settings.early_stop = before


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether checkpoints called in the block compare both runs op by op; over their own `debug`, unless None."""
    before, _settings.debug = _settings.debug, enabled
    try:
        yield
    finally:
        _settings.debug = before


class GraphExecGroup:
    """Several backward calls in one block recompute each checkpoint only once. They must not use the same part of the graph."""

    def __enter__(self) -> GraphExecGroup:
        if _settings.group is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested")
        self.regions: list[weakref.ref[_Region]] = []
        _settings.group = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        _settings.group = None
        for reference in self.regions:
            region = reference()
            if region is not None:
                region.found.pop(self, None)


class DefaultDeviceType:
    """Which device's random state is restored besides the CPU's."""

    _default = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        DefaultDeviceType._default = device

    @staticmethod
    def get_device_type() -> str:
        return DefaultDeviceType._default


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The random states of the devices (other than the CPU) of the given tensors."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Restores what get_device_states() gave."""


@contextlib.contextmanager
def _random_state(state: Tensor | None) -> Iterator[None]:
    """The default generator as it was, for the length of the block."""
    if state is None:
        yield
        return
    now = get_rng_state()
    set_rng_state(state)
    try:
        yield
    finally:
        set_rng_state(now)


# -- without reentering backward ----------------------------------------------


class _Record(NamedTuple):
    """What is known of a tensor that was saved: for whom, where, and what it looked like."""

    node: str
    file: str | None
    line: int
    shape: tuple[int, ...]
    dtype: Any
    device: Any

    @classmethod
    def of(cls, tensor: Tensor) -> _Record:
        node, file, line = _C._saving()
        return cls(_settings.node or node, file, line, tuple(tensor.shape), tensor.dtype, tensor.device)

    def metadata(self) -> dict[str, Any]:
        return {"shape": self.shape, "dtype": self.dtype, "device": self.device}

    def named(self) -> tuple[str, Any]:
        """What was saved, in words, and the line, for the doctor."""
        from retrograd.doctor._places import Place

        return f"a tensor of shape {self.shape} that {self.node} saves", Place(self.file, self.line, "") if self.file else None

    def __str__(self) -> str:
        return f"{self.node.removesuffix('0').removesuffix('Backward')} at {line_text(str(self.file), self.line)}"


class _Slot:
    """Stands for a saved tensor in the graph."""

    __slots__ = ("__weakref__", "position", "region")

    def __init__(self, region: _Region, position: int) -> None:
        self.region = region
        self.position = position


class _Inputs(Function):
    """A node that keeps the arguments of a checkpoint as saved tensors."""

    @staticmethod
    def forward(anchor: Tensor, *args: Any) -> Tensor:
        return anchor.detach()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        args = inputs[1:]
        ctx.save_for_backward(*(a for a in args if isinstance(a, Tensor)))
        ctx.rest = [None if isinstance(a, Tensor) else (a,) for a in args]

    @staticmethod
    def vmap(info: Any, in_dims: Any, anchor: Tensor, *args: Any) -> Any:
        return anchor.detach(), in_dims[0]

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> None:
        """The anchor is a constant; the tangents of the arguments are saved with them."""

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("the node that keeps the inputs of a checkpoint is not part of any gradient")


def _kept_arguments(node: Any) -> list[Any]:
    tensors = iter(node.saved_tensors)
    return [next(tensors) if rest is None else rest[0] for rest in node.rest]


class _Region:
    """One call of checkpoint(): what its graph saved, and how to compute it again."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], options: _Options) -> None:
        self.function = function
        self.names = tuple(kwargs)
        anchor = _C._ops.empty((0,), requires_grad=True, device="cpu")
        self.inputs = _Inputs.apply(anchor, *args, *kwargs.values()).grad_fn
        self.options = options
        self.surroundings = _C._surroundings()
        self.complete = False  # the forward run is over
        self.slots: list[weakref.ref[_Slot]] = []
        self.records: list[_Record] = []
        self.found: dict[Any, dict[int, tuple[Tensor, int]]] = {}  # by backward, then by position: tensor and its version

    # What the graph of the forward run keeps, and gets back.

    def pack(self, tensor: Tensor) -> Any:
        if _C._dual_levels():  # of a level that the function entered itself
            return _C._keep_saved
        slot = _Slot(self, len(self.slots))
        self.slots.append(weakref.ref(slot))
        if self.options.check:
            self.records.append(_Record.of(tensor))
        if self.options.watched is not None:
            self.options.watched.saved(tensor)
        if _settings.saving is not None:
            _settings.saving(tensor, _C._saving()[0])
        return slot

    @staticmethod
    def unpack(slot: _Slot) -> Tensor:
        region = slot.region
        key: Any = _settings.group or _C._current_graph_task_id()
        if key == -1:
            key = object()  # somebody looks at a node outside backward
        if slot.position not in region.found.get(key, ()):
            region.recompute(key)
        tensor, version = region.found[key].pop(slot.position)
        if not region.found[key] or not _C._in_backward():
            del region.found[key]
        if version_of(tensor) != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation when it was recomputed by "
                f"checkpoint: {region.name(slot.position)}, shape {list(tensor.shape)}, is at version {version_of(tensor)}; expected version {version} "
                f"instead. Hint: write to a clone() instead.{region.story()}"
            )
        return tensor

    def name(self, position: int) -> str:
        return f"saved for {self.records[position]}" if self.options.check else f"saved tensor {position}"

    # The second run.

    def recompute(self, key: Any) -> None:
        self.remember(key)
        second = _SecondRun(self, self.found.setdefault(key, {}))
        watched = self.options.watched
        count = len(self.names)
        with surrounded(self.surroundings), _C.enable_grad(), _second_run(self.options.random_state is not None):
            values = _kept_arguments(self.inputs)
            args, kwargs = values[: len(values) - count], dict(zip(self.names, values[len(values) - count :], strict=True))
            if watched is not None:
                watched.before_second(self.function, values)
            with (
                contextlib.suppress(_StopRecomputation),
                _random_state(self.options.random_state),
                saved_tensors_hooks(second.pack, _identity),
                self.options.recompute_context,
            ):
                try:
                    self.function(*args, **kwargs)
                except CheckpointError:
                    raise
                except Exception as error:
                    place = self.options.place
                    called = f"; checkpoint() was called at {line_text(*place[:2])}" if place else ""
                    error.add_note(f"  while a checkpoint was computed again for backward{called}")
                    raise
        second.finish()
        if watched is not None:
            watched.after_second(self.function, values)

    def story(self) -> str:
        """The lines that a failure is about."""
        from retrograd.doctor._recomputing import impure_line

        place, line = self.options.place, impure_line(self.function, _kept_arguments(self.inputs))
        return (f"\ncheckpoint() was called at {line_text(*place[:2])}" if place else "") + (
            f"\nthe block does something else each time at {line_text(line.file, line.line)}" if line else ""
        )

    def remember(self, key: Any) -> None:
        """Sees to it that what nobody asked for is dropped when the backward, or the group of them, is over."""
        reference = weakref.ref(self)
        if isinstance(key, GraphExecGroup):
            key.regions.append(reference)
        elif _C._in_backward():
            _C._queue_callback(functools.partial(_forget, reference, key))


@contextlib.contextmanager
def _second_run(replays_random: bool) -> Iterator[None]:
    outer = _settings.replays_random
    _settings.second_runs += 1
    _settings.replays_random = replays_random
    try:
        yield
    finally:
        _settings.second_runs -= 1
        _settings.replays_random = outer


def _identity(tensor: Tensor) -> Tensor:
    return tensor


def _forget(reference: weakref.ref[_Region], key: Any) -> None:
    region = reference()
    if region is not None:
        region.found.pop(key, None)


class _SecondRun:
    """Takes what the second run saves and matches it with the slots of the first."""

    def __init__(self, region: _Region, found: dict[int, tuple[Tensor, int]]) -> None:
        self.region = region
        self.found = found
        self.count = 0
        self.failure: CheckpointError | None = None

    def pack(self, tensor: Tensor) -> Any:
        region, position = self.region, self.count
        if _C._dual_levels():
            return _C._keep_saved
        self.count += 1
        plain = _C._strip_history(tensor) if tensor.requires_grad else tensor
        if position >= len(region.slots):
            # While the function still runs for the first time, which it does when it differentiates something itself, more is to come.
            if region.complete and position == len(region.slots) and region.options.check:
                self.failure = CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass, which "
                    f"saved {len(region.slots)}.\nThe first op that is new in the recomputation: {_Record.of(tensor)}{region.story()}{region.options.hint()}"
                )
            return plain
        if region.options.check:
            self.compare(position, now := _Record.of(tensor))
            if region.options.watched is not None:
                region.options.watched.saved_again(position, plain, *now.named())
        if region.slots[position]() is not None:
            self.found[position] = (plain, version_of(plain))
        if region.options.early_stop and self.count == len(region.slots):
            raise _StopRecomputation
        return plain

    def compare(self, position: int, now: _Record) -> None:
        before = self.region.records[position]
        if before.metadata() != now.metadata():
            self.fail(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward pass.\n"
                f"tensor at position {position}:\nsaved metadata: {before.metadata()}\nrecomputed metadata: {now.metadata()}\n"
                f"The first op that diverged:\nforward:       {before}\nrecomputation: {now}"
            )
        if before.node != now.node:
            self.fail(
                "torch.utils.checkpoint: The recomputation ran other operations than the forward pass.\n"
                f"The first op that diverged, at saved tensor {position}:\nforward:       {before}\nrecomputation: {now}"
            )

    def fail(self, text: str) -> None:
        self.failure = CheckpointError(text + self.region.story() + self.region.options.hint())
        raise self.failure

    def finish(self) -> None:
        if self.failure is not None:  # the function may have caught it
            raise self.failure
        if self.count < len(self.region.slots):
            first = f"The first op that is missing: {self.region.records[self.count]}" if self.region.options.check else ""
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\nSaved "
                f"during forward: {len(self.region.slots)}\nSaved during recomputation: {self.count}.\n{first}{self.region.story()}{self.region.options.hint()}"
            )


_DEBUGGED = "\nYou are seeing this error because you passed `debug=True` to checkpoint, or enabled it by set_checkpoint_debug_enabled()."


class _Options:
    """How a region is recomputed."""

    def __init__(
        self, check: bool, early_stop: bool, random_state: Tensor | None, recompute_context: Any, debug: bool, place: Any, watched: Any
    ) -> None:
        self.check = check
        self.early_stop = early_stop
        self.random_state = random_state
        self.recompute_context = recompute_context
        self.debug = debug
        self.place = place  # where checkpoint() was called
        self.watched = watched  # by the doctor, see doctor/_recomputing.py

    def hint(self) -> str:
        return _DEBUGGED if self.debug else "\nHint: checkpoint(..., debug=True) compares both runs op by op, values too."


def _watched(preserve: bool) -> Any:
    """What the doctor keeps of this call, if it looks."""
    if not _C._doctor_state()[0]:
        return None
    return _doctors_begin()(preserve)


@functools.cache
def _doctors_begin() -> Callable[[bool], Any]:
    from retrograd.doctor._recomputing import begin  # not what importing this module should wait for

    return begin


def _run_and_forget(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], context_fn: Callable[[], _Contexts], preserve: bool, determinism_check: str, debug: bool, early_stop: bool) -> Any:  # fmt: skip
    """Runs the function with slots in place of what its graph saves."""
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    if _settings.debug is not None:
        debug = _settings.debug
    forward_context, recompute_context = context_fn()
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    if _C._dual_levels():
        # What is saved is saved with tangents, and for them; those are gone when backward runs after the level has been left.
        with forward_context:
            return function(*args, **kwargs)
    if debug:
        from retrograd.utils._checkpoint_debug import comparing

        forward_context, recompute_context = comparing(forward_context, recompute_context)
    options = _Options(
        check=determinism_check == "default",
        early_stop=early_stop if _settings.early_stop is None else _settings.early_stop,
        random_state=get_rng_state() if preserve else None,
        recompute_context=recompute_context,
        debug=debug,
        place=_C._user_site(),
        watched=_watched(preserve),
    )
    region = _Region(function, args, kwargs, options)
    with saved_tensors_hooks(region.pack, _Region.unpack), forward_context:
        result = function(*args, **kwargs)
        region.complete = True
    if not region.complete:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the checkpointed "
            "function, so there is nothing to return. The context must let exceptions pass."
        )
    return result


# -- reentering backward ------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tensors without their history, that require grad where they did; other things as they are."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: " + type(inputs).__name__)
    return tuple(t.detach().requires_grad_(t.requires_grad) if isinstance(t, Tensor) else t for t in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns when no input requires grad: the reentrant kind then gives no gradients at all."""
    if not any(t.requires_grad for t in inputs if isinstance(t, Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3)


class CheckpointFunction(Function):
    """The reentrant kind: forward runs without a graph, backward runs it again and calls backward on that."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.random_state = get_rng_state() if preserve_rng_state else None
        ctx.surroundings = _C._surroundings()
        ctx.rest = [None if isinstance(a, Tensor) else (a,) for a in args]
        ctx.save_for_backward(*(a for a in args if isinstance(a, Tensor)))
        ctx.watched = _watched(preserve_rng_state)
        with _C.no_grad():
            result = run_function(*args)
        if ctx.watched is not None:
            for output in result if isinstance(result, tuple) else (result,):
                if isinstance(output, Tensor):
                    ctx.watched.saved(output)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if _C._backward_has_inputs():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() and with backward(inputs=...). Pass "
                "use_reentrant=False, or call backward() without inputs."
            )
        inputs = detach_variable(tuple(_kept_arguments(ctx)))
        if ctx.watched is not None:
            ctx.watched.before_second(ctx.run_function, inputs)
        with surrounded(ctx.surroundings), _random_state(ctx.random_state), _C.enable_grad():
            outputs = ctx.run_function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if ctx.watched is not None:
            for position, output in enumerate(o for o in outputs if isinstance(o, Tensor)):
                ctx.watched.saved_again(position, output, f"its result of shape {tuple(output.shape)}", None)
            ctx.watched.after_second(ctx.run_function, inputs)
        roots = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not roots:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([o for o, _ in roots], [g for _, g in roots])
        return (None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs))


# -- what users call ----------------------------------------------------------


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], _Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Calls a function without keeping what its backward needs; backward calls it a second time.

    The function must do the same both times. Its inputs are kept; what it computes inside is not.

    Args:
        function, args, kwargs: what to call.
        use_reentrant: False is recommended. True is the older kind: it needs an input that requires grad, and works only with
            `backward()` without `inputs`.
        preserve_rng_state: (keyword, default True) give the second run the random numbers of the first.
        context_fn: returns two context managers, for the first and for the second run.
        determinism_check: "default" compares what the two runs save, by op, shape, dtype and device; "none" does not.
        debug: compare the two runs op by op, values too. Slow.
        early_stop: break the second run off when it has computed all that is needed.

    Example::

        >>> x = retrograd.ones(3, requires_grad=True)
        >>> y = retrograd.utils.checkpoint.checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
        >>> y.sum().backward()
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; without it "
            "the default is use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _run_and_forget(function, args, kwargs, context_fn, preserve, determinism_check, debug, early_stop)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def _chain(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """Runs functions (or the modules of a Sequential) one after another, checkpointed in segments, all but the last.

    Example::

        >>> x = retrograd.ones(3, requires_grad=True)
        >>> steps = [retrograd.sin, retrograd.exp, retrograd.cos, retrograd.tanh]
        >>> y = retrograd.utils.checkpoint.checkpoint_sequential(steps, 2, x, use_reentrant=False)
    """
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended; without it the default is use_reentrant=True.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments
    if size == 0:
        raise ValueError(f"cannot cut {len(steps)} functions into {segments} segments")
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(_chain(steps[start:end]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _chain(steps[end:])(input)


from retrograd.utils._checkpoint_selective import (  # noqa: E402
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)


def auto(model: Any, *inputs: Any, budget: int | str, loss: Callable[[Any], Tensor] | None = None, **kwargs: Any) -> Any:
    """Checkpoints as many modules of a model as a memory budget asks for, at the least added time.

    A training step is run on the inputs to see what is kept when and by whom, and a few more times to see how long it takes; gradients, buffers and random numbers are then as they
    were before. The choice is among the members of Sequential, ModuleList and ModuleDict, or else among the largest modules that the model calls. A step is taken to begin without
    gradients, as after `zero_grad()`, and to hold nothing of the one before.

    Args:
        model: an nn.Module, changed in place: the modules chosen run under a checkpoint from now on.
        inputs, kwargs: what a step calls the model with.
        budget: bytes of tensors at the peak of a step, or words such as "512 MB".
        loss: from the result of the model to a scalar; without it, the mean of all floating-point elements.

    Returns a plan: its `modules`, the predicted `peak`, `added_seconds`; `remove()` undoes it. A budget that cannot be met gives the least peak that was found (`fits` is False).

    Example::

        >>> from retrograd import nn
        >>> model = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh()) for _ in range(8)))
        >>> plan = retrograd.utils.checkpoint.auto(model, retrograd.randn(512, 64), budget="1.5 MB")
        >>> len(plan.modules) > 0
        True
    """
    from retrograd.doctor._checkpoint_plan import plan as make_plan

    def mean_of(result: Any) -> Tensor:
        from retrograd.utils._pytree import tree_leaves

        return sum(t.float().mean() for t in tree_leaves(result) if isinstance(t, Tensor) and t.is_floating_point())  # type: ignore[return-value]

    params = list(model.parameters())
    gradients = [p.grad for p in params]
    buffers = [(b, b.clone()) for b in model.buffers()]
    random = get_rng_state()
    aside = [random, *(value for _, value in buffers), *(gradient for gradient in gradients if gradient is not None)]

    def step() -> None:
        for p in params:
            p.grad = None
        (loss or mean_of)(model(*inputs, **kwargs)).backward()

    try:
        with autograd.enable_grad():
            found = make_plan(model, step, budget, sum(dict(_C._memory_of(t) for t in aside).values()))
    finally:
        for p, gradient in zip(params, gradients, strict=True):
            p.grad = gradient
        with autograd.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
        set_rng_state(random)
    return found.apply()
