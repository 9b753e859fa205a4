"""Selective checkpointing: some ops keep their results, the rest is recomputed.

Two context managers share a store. In the forward run an op handler asks the policy about each op and keeps the results it says to. In
the second run the handler gives those back instead of calling the op, together with what the op had saved for backward: an
argument of the op by its place, anything else (results, mostly) as it was.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from retrograd import _C
from retrograd._C import Tensor
from retrograd.autograd.function import Function
from retrograd.func._inside import memory_of, version_of
from retrograd.ops import _Overloads

__all__ = ["SAC_IGNORED_OPS", "CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"]


def _hands_on(op: Any) -> bool:
    """Whether it gives the memory of its only argument, and no view of it."""
    return any(how == "memory" for _, how in op.aliases) and len(op.parameters) == 1


# Ops no policy is asked about: they compute nothing.
SAC_IGNORED_OPS = {op for op in map(_C._find_op, _C._op_names()) if _hands_on(op)}


class CheckpointPolicy(enum.Enum):
    """What to do with the result of an op. MUST and PREFER differ only for a compiler that is free to choose."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTE = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """What a policy is told: the result of the op. It is asked in the forward run only, so is_recompute is False."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def _name(op: Any) -> str:
    name = op if isinstance(op, str) else None if isinstance(op, _Overloads) else getattr(op, "name", None) or getattr(op, "__name__", None)
    if not isinstance(name, str):
        hint = "Name one overload of it, as in ops.aten.mm.default." if isinstance(op, _Overloads) else ""
        raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}")
    return name


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [t for item in value for t in _tensors(item)] if isinstance(value, (tuple, list)) else []


def _map(value: Any, f: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return f(value)
    if isinstance(value, (tuple, list)):
        return type(value)(_map(v, f) for v in value) if type(value) in (tuple, list) else type(value)([_map(v, f) for v in value])
    return value


def _same_memory(a: Tensor, b: Tensor) -> bool:
    return memory_of(a) == memory_of(b)


class _Kept:
    """The result of one call of an op, and what the op saved."""

    def __init__(self, result: Any, saved: list[tuple[int | Tensor, str]], random_state: Tensor | None) -> None:
        self.result = _map(result, lambda t: t.detach()._mark_requires_grad(t.requires_grad and (t.is_floating_point() or t.is_complex())))
        self.versions = [version_of(t) for t in _tensors(self.result)]
        self.saved = saved  # by place among the arguments or as a tensor, and for which node
        self.random_state = random_state


class _Store:
    def __init__(self, policy: Callable[..., Any], allow_mutation: bool) -> None:
        self.policy = policy
        self.allow_mutation = allow_mutation
        self.calls: dict[str, list[_Kept | None]] = {}
        self.complete = False  # the forward run is over

    def wants(self, context: SelectiveCheckpointContext, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        answer = self.policy(context, op, *args, **kwargs)
        if isinstance(answer, bool):
            return answer
        if not isinstance(answer, CheckpointPolicy):
            raise TypeError(
                f"the policy of a selective checkpoint must return a CheckpointPolicy, got {type(answer).__name__} for {op.name}"
            )
        return answer not in _RECOMPUTE


class _Handler:
    """A context manager around an op handler. It does not see second runs inside: of the function itself, or of a checkpoint in it, when the
    function differentiates something."""

    def __init__(self, store: _Store) -> None:
        self.store = store

    def __enter__(self) -> _Handler:
        from retrograd.utils.checkpoint import _settings

        self.second_runs = _settings.second_runs
        _C._push_op_handler(self.called)
        return self

    def called(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from retrograd.utils.checkpoint import _settings

        return op(*args, **kwargs) if _settings.second_runs > self.second_runs else self.handle(op, args, kwargs)

    def __exit__(self, *exc_info: object) -> None:
        _C._pop_op_handler()

    def handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


def _ignored(op: Any) -> bool:
    """Whether the policy is not asked: about ops that compute nothing, and those that are made of others, which it is asked about."""
    return op.composite or op in SAC_IGNORED_OPS


class _Caching(_Handler):
    """The forward run: keeps results."""

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        self.store.complete = True

    def handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from retrograd.utils.checkpoint import _settings

        store = self.store
        if _ignored(op):
            return op(*args, **kwargs)
        saved: list[tuple[Tensor, str]] = []
        outer, _settings.saving = _settings.saving, lambda tensor, node: saved.append((tensor, node))
        try:
            result = op(*args, **kwargs)
        finally:
            _settings.saving = outer
        if outer is not None:
            for tensor, node in saved:
                outer(tensor, node)
        calls = store.calls.setdefault(op.name, [])
        keep = store.wants(SelectiveCheckpointContext(is_recompute=False, op_output=result), op, args, kwargs)
        inputs = _tensors(args) + _tensors(list(kwargs.values()))
        if keep and not any(_same_memory(r, i) for r in _tensors(result) for i in inputs):  # views and in-place ops must run again
            random = _C.default_generator.get_state() if op.random else None
            calls.append(_Kept(result, [(_place(t, inputs), node) for t, node in saved], random))
        else:
            calls.append(None)
        return result


def _place(tensor: Tensor, inputs: list[Tensor]) -> int | Tensor:
    for i, t in enumerate(inputs):
        if t is tensor:
            return i
    return tensor.detach()


class _Cached(_Handler):
    """The second run: gives results back."""

    def __enter__(self) -> _Handler:
        self.at: dict[str, int] = {}
        return super().__enter__()

    def handle(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from retrograd.utils.checkpoint import _settings

        store = self.store
        if _ignored(op):
            return op(*args, **kwargs)
        at = self.at.get(op.name, 0)
        self.at[op.name] = at + 1
        calls = store.calls.get(op.name, ())
        if at >= len(calls) and not store.complete:
            return op(*args, **kwargs)
        if at >= len(calls):
            raise RuntimeError(
                f"{op.name} encountered during backward but not found in storage: the forward pass called it {len(calls)} time(s). This can "
                "happen if the function does something else when it is run again."
            )
        kept = calls[at]
        if kept is None:
            return op(*args, **kwargs)
        inputs = _tensors(args) + _tensors(list(kwargs.values()))
        pack, _ = _C._top_saved_tensors_hooks()
        checked = False
        for saved, node in kept.saved:
            # An op saves its arguments before it computes: the second run may end here, and the result is not needed.
            if not isinstance(saved, int) and not checked:
                self.check(op, kept)
                checked = True
            _settings.node = node
            try:
                pack(inputs[saved] if isinstance(saved, int) else saved)
            finally:
                _settings.node = None
        if not checked:
            self.check(op, kept)
        if kept.random_state is not None and _settings.replays_random:
            _C.default_generator.set_state(kept.random_state)
        return _map(kept.result, _given)

    def check(self, op: Any, kept: _Kept) -> None:
        if not self.store.allow_mutation and [version_of(t) for t in _tensors(kept.result)] != kept.versions:
            raise RuntimeError(
                f"Tensor cached during selective activation checkpoint has been mutated: the result of {op.name}. "
                "Hint: allow_cache_entry_mutation=True, if the recomputation is meant to see the change."
            )


class _Given(Function):
    """A kept result as a tensor that was computed: it is no leaf, so that the second run may write to it where the first did."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, kept: Tensor) -> Tensor:
        return kept.detach()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("the graph of the second run of a checkpoint is not part of any gradient")


def _given(kept: Tensor) -> Tensor:
    return _Given.apply(_C._ops.empty((0,), requires_grad=True, device=kept.device), kept) if kept.requires_grad else kept.detach()


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> tuple[_Caching, _Cached]:
    """The contexts of a checkpoint that keeps the results of some ops.

    Args:
        policy_fn_or_list: `policy(ctx, op, *args, **kwargs)` returns a `CheckpointPolicy` for each op; `op.name` is its name in the op
            table. Or a list of the ops to keep: names or functions.
        allow_cache_entry_mutation: do not complain when a kept result was written to in between.

    Example::

        >>> import functools
        >>> from retrograd.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> keep = functools.partial(create_selective_checkpoint_contexts, ["mm"])
        >>> w = retrograd.ones(2, 2, requires_grad=True)
        >>> y = checkpoint(lambda a: (a @ a).sin(), w, use_reentrant=False, context_fn=keep)
        >>> y.sum().backward()
    """
    if isinstance(policy_fn_or_list, (list, tuple, set)):
        names = {_name(op) for op in policy_fn_or_list}

        def policy(ctx: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            listed = op.name in names or op.name.split(".")[0] in names
            return CheckpointPolicy.MUST_SAVE if listed else CheckpointPolicy.PREFER_RECOMPUTE
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    store = _Store(policy, allow_cache_entry_mutation)
    return _Caching(store), _Cached(store)
