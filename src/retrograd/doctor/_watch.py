"""The watcher: receives what the core tells (Note [How closely the doctor looks] in csrc/autograd/doctor.h) and hands it to the checks.

A close look begins at a place of the program that is new (a backward, the call of a model), when a number that is always watched is out of the ordinary, and
when something changes (a new optimizer). It lasts for a few steps. In strict mode, and under `retrograd doctor`, it never ends. Checks hold no tensors, nodes or
gradients from one event to the next, or they would keep alive what the program lets go.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from retrograd import _C
from retrograd.doctor import _names
from retrograd.doctor._findings import SilentFailureError, SilentFailureWarning
from retrograd.doctor._graph import Graph
from retrograd.doctor._places import Place, here

RUNS, STEPS, MOST_RUNS, CALLS, OPS = 6, 4, 64, 40, 300_000  # how long a close look lasts
RUNS_ALONE = 20  # where no optimizer steps: several backwards may be for one update by hand
FREE, SHARE = 1.0, 0.03  # seconds that looks may take, and the share of the program's time beyond them
MODES = 8  # calls of train() and eval() after which known lines are new
_WAITING = (
    "threading",
    "concurrent.futures._base",
    "concurrent.futures.thread",
    "queue",
    "selectors",
    "asyncio.base_events",
)  # for another thread
clock = time.perf_counter

BAD_GRADIENT, GROWING, ZEROS, JUMP = 1, 2, 4, 8  # as in csrc/python/doctor.cpp
SHAPES, PAIRS, CUTS, WANTED = 1, 2, 4, 8  # what an op is to a check (the last: op() is always called), and
BY_HAND, BAD_VALUES = 0, 1  # who follows tensors, as in csrc/python/look.cpp


class Run:
    """An outermost backward() or grad() while it runs."""

    def __init__(self, roots: tuple[Any, ...], keep_graph: bool, create_graph: bool, accumulate: bool, inputs: Any, bad: bool) -> None:
        self.roots = roots
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.accumulate = accumulate
        self.inputs = inputs
        self.loss_is_bad = bad  # the loss is not finite
        self.trouble = 0
        self.place: Place | None = here()
        self.number = _C._training_step()
        self._graph: Graph | None = None
        self._leaves: list[Any] | None = None

    @property
    def graph(self) -> Graph:
        if self._graph is None:
            self._graph = Graph(self.roots)
        return self._graph

    @property
    def leaves(self) -> list[Any]:
        """The leaves that may get a gradient: those of the graph, and those of optimizers, which may be hidden in a checkpoint or a function. As they were when first asked."""
        if self._leaves is None:
            if self.inputs:
                found = [t for t in self.inputs if not isinstance(t, tuple) and t.is_leaf]
            else:
                found = self.graph.leaves + [p for optimizer in live_optimizers() for p in params_of(optimizer)] if self.roots else []
            self._leaves = list({id(leaf): leaf for leaf in found}.values())
        return self._leaves


class Call:
    """An outermost call of a module while it runs."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs or {}
        self.place: Place | None = here()
        self.records = _C.is_grad_enabled() and not _C.is_inference_mode_enabled()
        self.training = bool(module.training)


class Check:
    """Watches for one code, or a few that lie close together. Every method is an event; place is the user's line."""

    traces_ops = False  # whether op() is to be called, for those that csrc/python/look.cpp finds may matter
    traces_nodes = False  # whether node() is to be called, likewise
    op_names: ClassVar[dict[str, int]] = {}  # SHAPES, PAIRS, CUTS or WANTED, by the names of ops that are
    has_closure = False  # whether the step that runs has a function that computes the loss

    def opened(self) -> None:
        """A close look begins: what happened since the last one was not seen."""

    def before_backward(self, run: Run) -> None: ...
    def node(self, run: Run, node: Any, received: tuple[Any, ...], sent: tuple[Any, ...]) -> None: ...
    def after_backward(self, run: Run) -> None: ...
    def failed_backward(self) -> None: ...
    def before_module(self, call: Call) -> None: ...
    def after_module(self, call: Call, result: Any) -> None: ...
    def before_step(self, optimizer: Any, place: Place | None) -> None: ...
    def after_step(self, optimizer: Any, place: Place | None) -> None: ...
    def evaluating(self, optimizer: Any, times: int) -> None:
        """A step calls its closure, for the first time or once more."""

    def joined_step(self, optimizer: Any) -> None:
        """A step is over that called a closure, in which the look began."""

    def made(self, optimizer: Any) -> None:
        """An optimizer is being made; it has no parameters yet."""

    def zeroed(self, owner: Any, params: list[Any], place: Place | None) -> None:
        """zero_grad() of an optimizer or a module is about to run."""

    def op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None: ...
    def function(self, cls: Any, args: tuple[Any, ...], ctx: Any, results: tuple[Any, ...]) -> None:
        """A custom Function was applied and recorded."""

    def read(self, tensor: Any) -> None:
        """Its value became a number of Python's."""

    def exported(self, tensor: Any) -> None:
        """It became an array of NumPy's."""

    def ending(self) -> None:
        """The program ends; warnings may still be given."""

    def forget(self) -> None:
        """All that was learnt so far is of another program."""


class Watcher:
    """Tells the checks what happens, while a close look lasts."""

    def __init__(self) -> None:
        self.always = False  # a close look without end
        self.checks: list[Check] = []
        self._methods: dict[str, list[Callable[..., None]]] = {}  # by event, of the checks that have one
        self._busy = False
        self._thread = 0
        self._run: Run | None = None
        self._calls: list[Call] = []
        self._runs = self._steps = self._modules = self.looks = 0
        self._stepping = self._modes = 0
        self._began = clock()
        self._spent = 0.0  # in looks, by the doctor alone
        self.checkpoints = 0  # calls of checkpoint() that were watched
        self._handler = self._op
        self._here = threading.local()  # pushed: the handler is on the stack of this thread
        self._loaded = False

    # -- how closely ------------------------------------------------------------

    def _load(self) -> None:
        from retrograd.doctor._checks import make_checks

        self._loaded = True
        self.checks = make_checks()
        self._methods.clear()
        atexit.register(self.end)

    def open(self, at_once: bool = False) -> None:
        """Begins a close look, or makes the present one last again. In a program that is always new looks get rarer, unless it has to be at once."""
        on, close, _ = _C._doctor_state()
        if not on:
            return
        if not self._loaded:
            self._load()
        if close and not self._is_here() and self._is_idle():
            self.leave_thread()
            close = False
        if close:
            _tell_python_parts(self)  # one may have been loaded since the look began
        if not (self.always or at_once) and self._spent > FREE + SHARE * (clock() - self._began):
            return
        self._runs = self._steps = self._modules = 0
        if close:
            return
        self.looks += 1
        self._thread = threading.get_ident()
        _C._look_begin({name: what for check in self.checks for name, what in check.op_names.items()}, 0 if self.always else OPS)
        _C._doctor_set(True, True, any(check.traces_nodes for check in self.checks))
        if any(check.traces_ops for check in self.checks) and _C._top_op_handler() is None:
            _C._push_look(self._handler)
            self._here.pushed = True
        _tell_python_parts(self)
        self._each("opened")

    def close(self) -> None:
        """Ends the close look."""
        self._calls.clear()  # of those that run the end will not be told
        if self._run is not None:
            self.failed_backward()  # its end will not be told
        self._drop_handler()
        on = _C._doctor_state()[0]
        _C._doctor_set(on, False, False)
        _tell_python_parts(None)

    def _drop_handler(self) -> None:
        """From the stack of this thread. Another in which a look began drops it when it comes to an op."""
        if getattr(self._here, "pushed", False):
            _C._drop_op_handler(self._handler)
            self._here.pushed = False

    def _is_here(self) -> bool:
        """Whether the look is at this thread."""
        return threading.get_ident() == self._thread

    def _is_idle(self) -> bool:
        """Whether the thread that the look is at is gone, or waits for another in between its steps."""
        frame = sys._current_frames().get(self._thread)
        if frame is None:
            return True
        return not (self._busy or self._run or self._calls or self._stepping) and frame.f_globals.get("__name__") in _WAITING

    def leave_thread(self) -> None:
        """The look is over at the thread that it began in, which may not be in this process any more."""
        self._busy = False
        self._run, self._calls, self._stepping = None, [], 0
        self.close()

    def _count(self, runs: int = 0, steps: int = 0, modules: int = 0) -> None:
        self._runs += runs
        self._steps += steps
        self._modules += modules
        if self._steps or live_optimizers():
            enough = (self._runs >= RUNS and self._steps >= STEPS) or self._runs >= MOST_RUNS
        else:
            enough = self._runs >= RUNS_ALONE
        if not self.always and (enough or (not self._runs and max(self._modules, self._steps) >= CALLS)):
            self.close()

    @property
    def called(self) -> Any:
        """The module whose outermost call is running, or None."""
        return self._calls[0].module if self._calls else None

    # -- events -----------------------------------------------------------------

    def _each(self, event: str, *args: Any) -> None:
        """Calls the method of every check. What they compute records nothing and is not watched; where somebody else would see it, nothing is computed."""
        methods = self._methods.get(event)
        if methods is None:
            base = getattr(Check, event)
            methods = [getattr(check, event) for check in self.checks if getattr(type(check), event) is not base]
            self._methods[event] = methods
        if not methods or self._busy or not self._is_here():
            return
        if _C._in_transform() or _C._len_function_modes() or (event != "op" and _C._top_op_handler() not in (None, self._handler)):
            return
        recording = _C.is_grad_enabled()
        self._busy = True
        _C._look_pause(True)
        started = clock()
        _C._set_grad_enabled(False)
        try:
            for method in methods:
                method(*args)
        except (SilentFailureError, SilentFailureWarning):
            raise
        except RecursionError:  # the program has little of its stack left: what happens down there is not looked at
            self._run = None
        except Exception as error:
            self._broken(error)
        finally:
            _C._set_grad_enabled(recording)
            _C._look_pause(False)
            self._busy = False
            self._spent += clock() - started

    @contextlib.contextmanager
    def unwatched(self) -> Iterator[None]:
        """For what the doctor computes by itself: nothing is recorded, and nothing told."""
        busy, self._busy = self._busy, True
        paused = _C._look_pause(True)
        recording = _C.is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            yield
        finally:
            _C._set_grad_enabled(recording)
            _C._look_pause(paused)
            self._busy = busy

    def _broken(self, error: Exception) -> None:
        """A check failed: the program goes on, unwatched, and its user is told."""
        if os.environ.get("RETROGRAD_DOCTOR") == "debug":
            raise error
        self.close()
        _C._doctor_set(False, False, False)
        text = "".join(traceback.format_exception(error)[-3:])
        warnings.warn(
            f"the doctor failed and is off now; the program is not affected. Please report this:\n{text}", RuntimeWarning, stacklevel=3
        )

    def before_backward(
        self, roots: tuple[Any, ...], keep: bool, create: bool, accumulate: bool, inputs: Any, is_new: bool, bad: bool
    ) -> None:
        if self._busy:
            return
        if is_new or bad:
            self.open(bad)
        if _C._doctor_state()[1] and self._is_here():
            self._run = Run(roots, keep, create, accumulate, inputs, bad)
            self._each("before_backward", self._run)

    def node(self, node: Any, received: tuple[Any, ...], sent: tuple[Any, ...]) -> None:
        if self._run is not None:
            self._each("node", self._run, node, received, sent)

    def failed_backward(self) -> None:
        if self._is_here():
            self._run = None
            self._each("failed_backward")

    def after_backward(self, trouble: int, roots: tuple[Any, ...]) -> None:
        if self._busy:
            return
        if trouble:
            self.open(bool(trouble & (BAD_GRADIENT | JUMP)))
        if not (_C._doctor_state()[1] and self._is_here()):
            return
        run, self._run = self._run, None
        if run is None:
            run = Run(roots, False, False, True, None, False)
        run.trouble = trouble
        self._each("after_backward", run)
        self._count(runs=1)

    def before_module(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, is_new: bool) -> None:
        if self._busy:
            return
        if is_new:
            self.open()
        if not self._is_here():
            return
        if any(True for _ in module.parameters()):
            _names.remember(module)
        call = Call(module, args, kwargs)
        self._calls.append(call)
        self._each("before_module", call)

    def after_module(self, module: Any, result: Any) -> None:
        if self._busy or not self._is_here() or not self._calls or self._calls[-1].module is not module:
            return
        self._each("after_module", self._calls.pop(), result)
        self._count(modules=1)

    def made(self, optimizer: Any) -> None:
        self.open()
        _C._doctor_forget_sizes()
        if _C._doctor_state()[1]:
            self._each("made", optimizer)

    def before_step(self, optimizer: Any, has_closure: bool) -> None:
        if not self._is_here():
            return
        self._stepping += 1
        if self._stepping == 1:
            Check.has_closure = has_closure
            self._each("before_step", optimizer, here())

    def evaluating(self, optimizer: Any, times: int) -> None:
        if self._stepping == 1:
            self._each("evaluating", optimizer, times)

    def failed_step(self, optimizer: Any) -> None:
        if self._is_here() and self._stepping:
            self._stepping -= 1

    def after_step(self, optimizer: Any) -> None:
        if not (self._is_here() and self._stepping):  # the look came here while it ran
            return
        self._stepping -= 1
        if self._stepping == 0:
            self._each("after_step", optimizer, here())
            self._count(steps=1)

    def joined_step(self, optimizer: Any) -> None:
        self._each("joined_step", optimizer)

    def zeroed(self, owner: Any, params: list[Any]) -> None:
        self._each("zeroed", owner, params, here())

    def function(self, cls: Any, args: tuple[Any, ...], ctx: Any, results: tuple[Any, ...]) -> None:
        if self._busy:
            return
        if not _C._doctor_state()[1]:
            self.open()  # the first use of a class
        self._each("function", cls, args, ctx, results)

    def _op(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *made: Any) -> Any:
        """What has run and may matter, with its result; or what is to be run, where the core leaves that to handlers (out=)."""
        result = made[0] if made else op(*args, **kwargs)
        if not (self._is_here() and _C._doctor_state()[1]):
            self._drop_handler()
        elif _C._look_is_over():
            self.close()
        elif not self._busy:
            self._each("op", op, args, kwargs, result)
        return result

    def read(self, tensor: Any) -> None:
        if not self._stepping:
            self._each("read", tensor)

    def exported(self, tensor: Any) -> None:
        if not self._stepping:
            self._each("exported", tensor)

    def mode_called(self) -> None:
        """train() or eval() was called: the same lines may now do something else. The first few times they are looked at again."""
        if self._modes < MODES:
            self._modes += 1
            _C._doctor_forget_places()

    def end(self) -> None:
        self._thread = threading.get_ident()
        if _C._doctor_state()[0]:
            self._each("ending")

    def forget(self) -> None:
        """Begins again, as in a new program."""
        self.close()
        for check in self.checks:
            check.forget()
        _names.forget()
        self._run, self._calls, self._stepping, self._modes, self.looks, self._spent = None, [], 0, 0, 0, 0.0
        self._began = clock()
        self.checkpoints = 0
        _C._doctor_forget()


def _tell_python_parts(watcher: Watcher | None) -> None:
    """What is written in Python looks at a variable of its file."""
    for name in ("retrograd.optim.optimizer", "retrograd.nn.modules.module", "retrograd._tensor"):
        module = sys.modules.get(name)
        if module is not None:
            module._watcher = watcher  # type: ignore[attr-defined]


def live_optimizers() -> list[Any]:
    """The optimizers that exist, in no particular order."""
    module = sys.modules.get("retrograd.optim.optimizer")
    return [] if module is None else list(module._live)


def params_of(optimizer: Any) -> list[Any]:
    """The parameters of an optimizer that require grad."""
    groups = getattr(optimizer, "param_groups", ())  # none while it is being made
    return [p for group in groups for p in group["params"] if p.requires_grad]


def weak(tensor: Any) -> Any:
    """A reference that does not keep a tensor."""
    return weakref.ref(tensor)


def _after_fork() -> None:
    if watcher._thread not in (0, threading.get_ident()):
        watcher.leave_thread()


watcher = Watcher()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
