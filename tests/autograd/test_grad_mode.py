"""no_grad, enable_grad, set_grad_enabled, inference_mode: as blocks, decorators and calls."""

import asyncio
import copy
import functools
import gc
import inspect
import pickle
import threading
import weakref

import pytest

import retrograd as torch
from retrograd.autograd import grad_mode

# What PyTorch gets silently wrong, and these modes do not.
ours = pytest.mark.skipif(torch.__name__ != "retrograd", reason="PyTorch leaves the wrong mode behind")

# How to make the mode, and what is_grad_enabled() is inside it.
MODES = [
    pytest.param(lambda: torch.no_grad(), False, id="no_grad"),
    pytest.param(lambda: torch.enable_grad(), True, id="enable_grad"),
    pytest.param(lambda: torch.inference_mode(), False, id="inference_mode"),
    pytest.param(lambda: torch.inference_mode(False), True, id="inference_mode(False)"),
    pytest.param(lambda: torch.set_grad_enabled(False), False, id="set_grad_enabled(False)"),
    pytest.param(lambda: torch.set_grad_enabled(True), True, id="set_grad_enabled(True)"),
]
every_mode = pytest.mark.parametrize(("mode", "inside"), MODES)


@pytest.fixture(autouse=True, params=[True, False], ids=["grad", "nograd"])
def outside(request):
    """Grad mode around the test; every test must leave it as it was."""
    before = torch.is_grad_enabled()
    torch._C._set_grad_enabled(request.param)
    yield request.param
    after = torch.is_grad_enabled()
    torch._C._set_grad_enabled(before)
    assert after == request.param


# -- blocks -------------------------------------------------------------------


@every_mode
def test_block(mode, inside, outside):
    with mode():
        assert torch.is_grad_enabled() == inside
    assert torch.is_grad_enabled() == outside


@every_mode
def test_block_left_by_an_exception(mode, inside, outside):
    with pytest.raises(ZeroDivisionError), mode():
        1 / 0
    assert torch.is_grad_enabled() == outside


@every_mode
@pytest.mark.parametrize(("inner", "innermost"), MODES)
def test_nested_blocks(mode, inside, inner, innermost, outside):
    with mode():
        with inner():
            assert torch.is_grad_enabled() == innermost
        assert torch.is_grad_enabled() == inside
    assert torch.is_grad_enabled() == outside


@every_mode
def test_one_object_used_twice(mode, inside, outside):
    manager = mode()
    for _ in range(2):
        with manager:
            assert torch.is_grad_enabled() == inside
        torch._C._set_grad_enabled(outside)


@ours
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_one_object_inside_itself(mode, outside):
    manager = mode()
    with manager, torch.enable_grad(), manager, torch.no_grad(), manager:
        pass
    assert torch.is_grad_enabled() == outside
    assert not torch.is_inference_mode_enabled()


def test_what_is_recorded():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        assert not y.requires_grad and y.grad_fn is None and y.is_leaf
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert torch.ones(2, requires_grad=True).requires_grad
        assert x.requires_grad
    with torch.enable_grad():
        assert (x * 2).requires_grad
        assert not (y * 2).requires_grad


def test_grad_mode_of_backward():
    with torch.enable_grad():
        x = torch.ones(1, requires_grad=True)
        y = x * x
    with torch.no_grad():
        y.backward()
        assert x.grad.tolist() == [2.0]
        assert not x.grad.requires_grad


def test_a_block_gives_none():
    with torch.no_grad() as a, torch.inference_mode() as b, torch.set_grad_enabled(True) as c:
        assert a is b is c is None


# -- calls --------------------------------------------------------------------


def test_set_grad_enabled_acts_at_once(outside):
    torch.set_grad_enabled(not outside)
    assert torch.is_grad_enabled() != outside
    torch.set_grad_enabled(mode=outside)
    assert torch.is_grad_enabled() == outside


def test_set_grad_enabled_text():
    with torch.set_grad_enabled(False):
        pass
    mode = torch.set_grad_enabled(torch.is_grad_enabled())
    assert repr(mode).endswith(f"set_grad_enabled(mode={torch.is_grad_enabled()})")


@pytest.mark.parametrize("value", [1, None, "no", 0.0])
def test_set_grad_enabled_wants_a_bool(value):
    with pytest.raises(TypeError, match="must be bool"):
        torch.set_grad_enabled(value)


# -- decorators ---------------------------------------------------------------


@every_mode
def test_function(mode, inside, outside):
    @mode()
    def seen(a, *, b=2):
        "What a decorated function keeps."
        return torch.is_grad_enabled(), a, b

    assert torch.is_grad_enabled() == outside
    assert seen(1, b=3) == (inside, 1, 3)
    assert torch.is_grad_enabled() == outside
    assert seen.__name__ == "seen" and seen.__doc__ == "What a decorated function keeps."
    assert list(inspect.signature(seen).parameters) == ["a", "b"]


@pytest.mark.parametrize(("mode", "inside"), [(torch.no_grad, False), (torch.enable_grad, True), (torch.inference_mode, False)])
def test_without_brackets(mode, inside):
    @mode
    def seen():
        return torch.is_grad_enabled()

    assert seen() == inside


@every_mode
def test_function_that_raises(mode, inside, outside):
    @mode()
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert torch.is_grad_enabled() == outside


def test_recursion(outside):
    @torch.no_grad()
    def count(n):
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            return 0 if n == 0 else 1 + count(n - 1)

    assert count(20) == 20
    assert torch.is_grad_enabled() == outside


def test_methods_of_all_kinds():
    class Thing:
        @torch.no_grad()
        def method(self):
            return torch.is_grad_enabled()

        @classmethod
        @torch.no_grad()
        def of_class(cls):
            return torch.is_grad_enabled()

        @staticmethod
        @torch.no_grad()
        def of_nobody():
            return torch.is_grad_enabled()

        @property
        @torch.no_grad()
        def attribute(self):
            return torch.is_grad_enabled()

    thing = Thing()
    assert not any([thing.method(), Thing.of_class(), Thing.of_nobody(), thing.attribute])


def test_partial_and_callable_object():
    class Callable:
        def __call__(self):
            return torch.is_grad_enabled()

    assert torch.no_grad()(functools.partial(torch.is_grad_enabled))() is False
    assert torch.no_grad()(Callable())() is False


def test_class_warns_and_makes_objects_in_the_mode(outside):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Thing:
            def __init__(self, size):
                self.size, self.mode = size, torch.is_grad_enabled()

            def method(self):
                return torch.is_grad_enabled()

    thing = Thing(3)
    assert thing.size == 3
    assert thing.mode is False
    assert thing.method() == outside


# -- generators ---------------------------------------------------------------


@every_mode
def test_generator(mode, inside, outside):
    @mode()
    def steps():
        for _ in range(3):
            yield torch.is_grad_enabled()

    assert inspect.isgeneratorfunction(steps)
    for seen in steps():
        assert seen == inside
        assert torch.is_grad_enabled() == outside


def test_generator_send_and_return(outside):
    @torch.no_grad()
    def echo():
        got = yield "ready"
        while got is not None:
            assert not torch.is_grad_enabled()
            got = yield got * 2
        return "done"

    it = echo()
    assert next(it) == "ready"
    assert it.send(2) == 4
    assert it.send(5) == 10
    with pytest.raises(StopIteration) as stop:
        next(it)
    assert stop.value.value == "done"
    assert torch.is_grad_enabled() == outside


def test_generator_throw():
    @torch.no_grad()
    def stubborn():
        try:
            yield 1
        except ValueError as error:
            yield str(error), torch.is_grad_enabled()

    it = stubborn()
    next(it)
    assert it.throw(ValueError("why")) == ("why", False)
    with pytest.raises(KeyError):
        it.throw(KeyError("and now"))


def test_generator_close():
    seen = []

    @torch.no_grad()
    def tidy():
        try:
            yield 1
        finally:
            seen.append(torch.is_grad_enabled())

    it = tidy()
    next(it)
    it.close()
    assert seen == [False]


def test_generator_that_raises(outside):
    @torch.no_grad()
    def fail():
        yield 1
        raise ZeroDivisionError

    it = fail()
    next(it)
    with pytest.raises(ZeroDivisionError):
        next(it)
    assert torch.is_grad_enabled() == outside


def test_two_generators_in_turns(outside):
    @torch.no_grad()
    def off():
        while True:
            yield torch.is_grad_enabled()

    @torch.enable_grad()
    def on():
        while True:
            yield torch.is_grad_enabled()

    a, b = off(), on()
    for _ in range(3):
        assert (next(a), next(b), torch.is_grad_enabled()) == (False, True, outside)


# -- coroutines ---------------------------------------------------------------


@ours
@every_mode
def test_coroutine(mode, inside, outside):
    @mode()
    async def work():
        before = torch.is_grad_enabled()
        await asyncio.sleep(0)
        return before, torch.is_grad_enabled()

    async def main():
        torch._C._set_grad_enabled(outside)
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        assert torch.is_grad_enabled() == outside
        return await task

    assert inspect.iscoroutinefunction(work)
    assert asyncio.run(main()) == (inside, inside)


@ours
def test_coroutine_that_raises_and_is_cancelled(outside):
    @torch.no_grad()
    async def wait():
        try:
            await asyncio.sleep(10)
        finally:
            assert not torch.is_grad_enabled()

    async def main():
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert torch.is_grad_enabled() == outside

    asyncio.run(main())


@ours
def test_async_generator(outside):
    @torch.no_grad()
    async def numbers():
        try:
            for i in range(3):
                await asyncio.sleep(0)
                yield i, torch.is_grad_enabled()
        except ValueError:
            yield "caught", torch.is_grad_enabled()

    async def main():
        got = []
        async for item in numbers():
            assert torch.is_grad_enabled() == outside
            got.append(item)
        it = numbers()
        await it.__anext__()
        got.append(await it.athrow(ValueError()))
        await it.aclose()
        return got

    assert inspect.isasyncgen(numbers())
    assert asyncio.run(main()) == [(0, False), (1, False), (2, False), ("caught", False)]


# -- threads ------------------------------------------------------------------


@every_mode
def test_a_new_thread_starts_with_grad_on(mode, inside):
    seen = []
    with mode():
        thread = threading.Thread(target=lambda: seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled())))
        thread.start()
        thread.join()
    assert seen == [(True, False)]


def test_threads_do_not_see_each_other():
    inside, leave = threading.Event(), threading.Event()

    def stay_in_no_grad():
        with torch.no_grad():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=stay_in_no_grad)
    thread.start()
    inside.wait(10)
    with torch.enable_grad():
        assert (torch.ones(1, requires_grad=True) * 2).requires_grad
    leave.set()
    thread.join()


# -- the rest of the family ---------------------------------------------------


def test_inference_mode_changes_both_modes():
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_inference_mode_enabled() and torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


def test_inference_mode_forgets_what_happened_inside(outside):
    with torch.inference_mode():
        torch.set_grad_enabled(True)
    assert torch.is_grad_enabled() == outside


def test_preserve_version_counter():
    x = torch.ones(2)
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.add_(1)
    assert x._version == 0
    y = torch.ones(2)
    with torch.autograd._unsafe_preserve_version_counter((x, y)):
        x.add_(1)
        y.add_(1)
    assert (x._version, y._version) == (0, 0)
    assert x.tolist() == [3.0, 3.0]


def test_multithreading_switch():
    with torch.autograd.set_multithreading_enabled(False):
        pass
    torch.autograd.set_multithreading_enabled(True)
    with pytest.raises(TypeError, match="must be bool"):
        torch.autograd.set_multithreading_enabled(1)


# -- the objects --------------------------------------------------------------

SWITCHES = [(torch.no_grad, False), (torch.enable_grad, True)]


@ours
@pytest.mark.parametrize("depth", [1, 31, 32, 33, 64, 65, 200])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_one_object_deep_inside_itself(mode, depth, outside):
    manager = mode()
    before = []
    for i in range(depth):
        torch._C._set_grad_enabled(i % 3 == 0)
        before.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
        manager.__enter__()
    for expected in reversed(before):
        manager.__exit__(None, None, None)
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == expected
    torch._C._set_grad_enabled(outside)


@ours
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode])
def test_leaving_without_entering(mode, outside):
    manager = mode()
    with pytest.raises(RuntimeError, match="not entered"):
        manager.__exit__(None, None, None)
    with manager:
        pass
    with pytest.raises(RuntimeError, match="not entered"):
        manager.__exit__(None, None, None)
    assert torch.is_grad_enabled() == outside
    with manager, pytest.raises(TypeError, match="argument"):
        manager.__exit__()


def test_attributes(outside):
    for mode, _ in SWITCHES:
        manager = mode()
        with manager:
            assert manager.prev == outside
    with (manager := torch.set_grad_enabled(not outside)):
        assert manager.mode == (not outside) and manager.prev == outside
    assert torch.inference_mode().mode is True and torch.inference_mode(False).mode is False
    assert torch.inference_mode(mode=False).mode is False


def test_mode_can_be_changed(outside):
    manager = torch.set_grad_enabled(outside)
    manager.mode = not outside
    with manager:
        assert torch.is_grad_enabled() != outside
    manager = torch.inference_mode(False)
    manager.mode = True
    with manager:
        assert torch.is_inference_mode_enabled()


@every_mode
def test_attributes_of_ones_own(mode, inside, outside):
    manager = mode()
    manager.note = "mine"
    manager.itself = manager
    assert vars(manager)["note"] == "mine" and weakref.ref(manager)() is manager
    gone = weakref.ref(manager)
    with manager:
        assert torch.is_grad_enabled() == inside
    torch._C._set_grad_enabled(outside)
    del manager
    gc.collect()
    assert gone() is None


@every_mode
def test_objects_made_and_dropped_in_numbers(mode, inside, outside):
    many = [mode() for _ in range(100)]
    del many
    torch._C._set_grad_enabled(outside)
    fresh = [mode() for _ in range(100)]
    assert not any("note" in vars(manager) for manager in fresh)
    torch._C._set_grad_enabled(outside)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=["copy", "deepcopy", "pickle"])
@every_mode
def test_copies(mode, inside, copied, outside):
    manager = mode()
    torch._C._set_grad_enabled(outside)
    manager.note = [1]
    other = copied(manager)
    assert torch.is_grad_enabled() == outside  # a copy of set_grad_enabled() does nothing yet
    assert type(other) is type(manager) and other is not manager and other.note == [1]
    assert getattr(other, "mode", None) == getattr(manager, "mode", None)
    with other:
        assert torch.is_grad_enabled() == inside
    assert torch.is_grad_enabled() == outside


@every_mode
def test_clone(mode, inside, outside):
    manager = mode()
    other = manager.clone()
    torch._C._set_grad_enabled(outside)
    assert type(other) is type(manager) and other is not manager
    with other:
        assert torch.is_grad_enabled() == inside
    torch._C._set_grad_enabled(outside)


def test_subclass(outside):
    class Logged(torch.no_grad):
        def __init__(self, *notes):
            super().__init__()
            self.log = list(notes)

        def __enter__(self):
            self.log.append("in")
            super().__enter__()
            return self

        def __exit__(self, *exc_info):
            self.log.append("out")
            return super().__exit__(*exc_info)

    with Logged() as manager:
        assert not torch.is_grad_enabled()
    assert manager.log == ["in", "out"] and isinstance(manager, torch.no_grad)
    assert Logged()(torch.is_grad_enabled)() is False
    assert Logged(torch.is_grad_enabled)() is False
    assert torch.is_grad_enabled() == outside


def test_subclass_with_arguments(outside):
    class Tagged(torch.set_grad_enabled):
        def __init__(self, mode, tag):
            super().__init__(mode)
            self.tag = tag

        def clone(self):
            return type(self)(self.mode, self.tag)

    class Quiet(torch.inference_mode):
        def __init__(self, mode=True):
            super().__init__(not mode)

    with Tagged(False, "x") as nothing:
        assert nothing is None and not torch.is_grad_enabled()
    manager = Tagged(False, "x")
    assert manager.tag == "x" and manager(torch.is_grad_enabled)() is False
    assert torch.is_grad_enabled() == outside
    with Quiet():
        assert not torch.is_inference_mode_enabled()


def test_subclass_without_room_for_attributes():
    class Small(torch.enable_grad):
        __slots__ = ()

    with Small():
        assert torch.is_grad_enabled()


def test_methods_can_be_replaced(monkeypatch, outside):
    made = []
    monkeypatch.setattr(torch.no_grad, "__init__", lambda self: made.append(self))
    with torch.no_grad() as nothing:
        assert nothing is None and not torch.is_grad_enabled()
    assert len(made) == 1
    monkeypatch.undo()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
    assert len(made) == 1


@ours
@pytest.mark.parametrize("value", [1, "x", 0.5, []])
def test_what_cannot_be_decorated(value):
    for mode in (torch.no_grad, torch.enable_grad, torch.inference_mode, torch.no_grad(), torch.inference_mode()):
        with pytest.raises(TypeError, match="decorates functions and classes"):
            mode(value)


@pytest.mark.parametrize("arguments", [(1, 2), (None, None, None)])
@pytest.mark.parametrize("mode", [torch.no_grad, torch.enable_grad, torch.inference_mode, torch.set_grad_enabled])
def test_too_many_arguments(mode, arguments):
    with pytest.raises(TypeError, match="argument"):
        mode(*arguments)
    with pytest.raises(TypeError, match="argument"):
        mode(nonsense=True)


def test_inference_mode_ends_with_its_object(outside):
    manager = torch.inference_mode()
    manager.__enter__()
    manager = None
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled() == outside


def test_a_base_for_ones_own():
    from retrograd.utils._contextlib import _DecoratorContextManager

    entered = []

    class Noted(_DecoratorContextManager):
        def __init__(self, name="nobody"):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *exc_info):
            entered.append("out")

    assert Noted("block")(lambda x: x + 1)(1) == 2
    assert entered == ["nobody", "out"] and isinstance(torch.no_grad(), _DecoratorContextManager)


def test_names():
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
        assert getattr(torch, name) is getattr(torch.autograd, name) is getattr(grad_mode, name)
