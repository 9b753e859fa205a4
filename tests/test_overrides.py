"""__torch_function__ of foreign types and of modes, and the helpers in retrograd.overrides."""

import threading

import pytest

import retrograd as torch
from retrograd import _C, overrides
from retrograd.overrides import TorchFunctionMode


class Foreign:
    """A type that is no tensor and takes every call."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return cls.__name__, func, types, args, kwargs or {}


class MoreForeign(Foreign):
    pass


class Shy:
    """A type that takes no call."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Log(TorchFunctionMode):
    """Writes down the name of each function called in it."""

    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


# -- foreign types ------------------------------------------------------------


def test_function_call():
    x = Foreign()
    name, func, types, args, kwargs = torch.add(x, 1)
    assert name == "Foreign" and func is torch.add and types == (Foreign,) and args == (x, 1) and kwargs == {}


def test_keywords_are_passed_on():
    x = Foreign()
    assert torch.add(torch.ones(1), x, alpha=2)[4] == {"alpha": 2}
    assert torch.sum(x, dim=0)[3:] == ((x,), {"dim": 0})
    assert torch.sum(input=x)[4] == {"input": x}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.matmul(torch.ones(2, 2), x),
        lambda x: torch.where(x, 1.0, 2.0),
        lambda x: torch.cat([torch.ones(1), x]),
        lambda x: torch.stack((x, torch.ones(1))),
        lambda x: torch.ones(1).add(x),
        lambda x: torch.ones(1) + x,
        lambda x: torch.ones(1) * x,
        lambda x: torch.zeros_like(x),
        lambda x: torch.nn.functional.relu(x),
        lambda x: torch.nn.functional.linear(torch.ones(1, 1), x),
    ],
)
def test_any_argument_takes_over(call):
    assert call(Foreign())[0] == "Foreign"


def test_subclass_goes_first():
    name, _, types, *_ = torch.add(Foreign(), MoreForeign())
    assert name == "MoreForeign" and types == (MoreForeign, Foreign)


def test_left_goes_first_among_strangers():
    class Other(Foreign):
        pass

    assert torch.add(MoreForeign(), Other())[0] == "MoreForeign"
    assert torch.add(Other(), MoreForeign())[0] == "Other"


def test_one_of_each_type():
    assert torch.cat([Foreign(), Foreign(), MoreForeign()])[2] == (MoreForeign, Foreign)


def test_the_next_is_asked_when_one_declines():
    assert torch.add(Shy(), Foreign())[0] == "Foreign"


def test_nobody_takes_it():
    with pytest.raises(TypeError, match=r"(?s)torch\.add.*NotImplemented.*Shy"):
        torch.add(Shy(), 1)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
        torch.ones(1) + Shy()


def test_exceptions_pass_through():
    class Broken:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        torch.add(Broken(), 1)


# -- switched off -------------------------------------------------------------


def test_disable_subclass():
    class Sub(torch.Tensor):
        pass

    x = torch.ones(1).as_subclass(Sub)
    assert type(x + 1) is Sub
    with torch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is torch.Tensor
        with pytest.raises(TypeError, match="must be Tensor, not Foreign"):
            torch.add(Foreign(), 1)
    assert type(x + 1) is Sub


def test_disable_subclass_leaves_modes_on():
    with Log() as log, torch._C.DisableTorchFunctionSubclass():
        torch.add(torch.ones(1), 1)
    assert log.names == ["ones", "add"]


def test_disable_all():
    with Log() as log:
        with torch._C.DisableTorchFunction():
            torch.add(torch.ones(1), 1)
        torch.ones(1)
    assert log.names == ["ones"]


def test_disabled_impl():
    class Quiet(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    x = torch.ones(1).as_subclass(Quiet)
    assert type(x + 1) is torch.Tensor
    assert not overrides.has_torch_function_unary(x)


# -- modes --------------------------------------------------------------------


def test_mode_sees_calls():
    x = torch.ones(2)
    with Log() as log:
        torch.add(x, 1)
        x.mul(2)
        x + 1
        torch.zeros(2)
        x.sum()
    torch.add(x, 1)
    assert log.names == ["add", "mul", "add", "zeros", "sum"]


def test_mode_sees_inplace_and_out():
    x = torch.ones(2)
    with Log() as log:
        x.add_(1)
        torch.add(x, 1, out=x)
        x[0] = 5.0
    assert log.names == ["add_", "add", "__setitem__"]
    assert x.tolist() == [5.0, 3.0]


def test_mode_is_off_in_itself():
    class Nosy(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            torch.ones(1) + 1  # would recurse for ever
            return func(*args, **(kwargs or {}))

    with Nosy():
        assert torch.add(torch.ones(1), 1).item() == 2.0


def test_mode_can_switch_itself_on_again():
    class Deep(TorchFunctionMode):
        depth = deepest = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Deep.depth += 1
            Deep.deepest = max(Deep.deepest, Deep.depth)
            if Deep.depth < 3:
                with self:
                    func(*args, **(kwargs or {}))
            Deep.depth -= 1
            return func(*args, **(kwargs or {}))

    with Deep():
        torch.ones(1)
    assert Deep.deepest == 3


def test_inner_mode_goes_first():
    order = []

    class Named(TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append(self.name)
            return func(*args, **(kwargs or {}))

    with Named("outer"), Named("inner"):
        torch.ones(1)
    assert order == ["inner", "outer"]


def test_mode_replaces_a_result():
    class Zero(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 0 if func is torch.add else func(*args, **(kwargs or {}))

    with Zero():
        assert torch.add(torch.ones(1), 1) == 0
        assert torch.mul(torch.ones(1), 3).item() == 3.0


def test_mode_goes_before_subclass():
    class Sub(torch.Tensor):
        pass

    x = torch.ones(1).as_subclass(Sub)
    with Log() as log:
        y = torch.add(x, 1)
    assert log.names == ["add"]
    assert type(y) is Sub


def test_mode_sees_the_types_of_overloaded_arguments():
    seen = []

    class Types(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(types)
            return func(*args, **(kwargs or {}))

    with Types():
        torch.add(MoreForeign(), Foreign())
    assert seen == [(MoreForeign, Foreign)]


def test_mode_that_declines():
    class Declines(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Declines():
        assert torch.add(Foreign(), 1)[0] == "Foreign"
        with pytest.raises(TypeError, match=r"(?s)NotImplemented.*mode object.*Declines"):
            torch.ones(1)


def test_mode_without_a_method():
    class Empty(TorchFunctionMode):
        pass

    with Empty(), pytest.raises(NotImplementedError):
        torch.ones(1)


def test_base_mode_changes_nothing():
    with overrides.BaseTorchFunctionMode():
        assert torch.add(torch.ones(1), 1).item() == 2.0


def test_mode_is_left_after_an_exception():
    with pytest.raises(ZeroDivisionError), Log() as log:
        1 / 0
    torch.ones(1)
    assert log.names == []


def test_mode_is_back_after_an_exception_in_it():
    class Fails(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ZeroDivisionError

    with Fails():
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                torch.ones(1)


def test_mode_belongs_to_its_thread():
    with Log() as log:
        thread = threading.Thread(target=lambda: torch.ones(1))
        thread.start()
        thread.join()
    assert log.names == []


def test_mode_does_not_change_gradients():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with Log() as log:
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [4.0, 6.0]
    assert log.names == ["mul", "sum"]


def test_current_modes():
    assert overrides._get_current_function_mode() is None
    with Log() as outer, Log() as inner:
        assert overrides._get_current_function_mode() is inner
        assert overrides._get_current_function_mode_stack() == [outer, inner]
    assert overrides._get_current_function_mode_stack() == []


# -- Python functions ---------------------------------------------------------


def scale(x, factor=2):
    if overrides.has_torch_function((x,)):
        return overrides.handle_torch_function(scale, (x,), x, factor=factor)
    return x * factor


def test_handle_torch_function():
    assert scale(torch.ones(1)).item() == 2.0
    x = Foreign()
    assert scale(x, 3) == ("Foreign", scale, (Foreign,), (x,), {"factor": 3})
    with Log() as log:
        assert scale(torch.ones(1)).item() == 2.0
    assert "scale" in log.names
    with pytest.raises(TypeError, match=r"no implementation found for .*scale.*Shy"):
        scale(Shy())


def test_wrap_torch_function():
    @overrides.wrap_torch_function(lambda x, n=1: (x,))
    def repeat(x, n=1):
        return [x] * n

    x = Foreign()
    assert repeat(1, 2) == [1, 1]
    assert repeat(x, n=2) == ("Foreign", repeat, (Foreign,), (x,), {"n": 2})
    assert repeat.__name__ == "repeat"


def test_has_torch_function():
    assert not overrides.has_torch_function((torch.ones(1), 3))
    assert overrides.has_torch_function((torch.ones(1), Foreign()))
    assert not overrides.has_torch_function_unary(3)
    assert overrides.has_torch_function_unary(Foreign())
    assert overrides.has_torch_function_variadic(1, 2, Foreign())
    with Log():
        assert overrides.has_torch_function_unary(3)
        with torch._C.DisableTorchFunction():
            assert not overrides.has_torch_function_unary(3)


def test_is_tensor_like():
    assert overrides.is_tensor_like(torch.ones(1))
    assert overrides.is_tensor_like(Foreign())
    assert not overrides.is_tensor_like(3)
    assert not overrides.is_tensor_like([torch.ones(1)])


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda: torch.add, "torch.add"),
        (lambda: torch.Tensor.add, "torch.Tensor.add"),
        (lambda: torch.Tensor.__add__, "torch.Tensor.__add__"),
        (lambda: torch.Tensor.grad.__get__, "torch.Tensor.grad.__get__"),
        (lambda: torch.Tensor.requires_grad.__set__, "torch.Tensor.requires_grad.__set__"),
        (lambda: torch.nn.functional.relu, "torch.nn.functional.relu"),
        (lambda: len, None),
    ],
)
def test_resolve_name(function, name):
    assert overrides.resolve_name(function()) == name


def test_is_tensor_method_or_property():
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)


def test_lists_of_functions():
    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch]
    assert torch.Tensor.add in functions[torch.Tensor]
    assert torch.ones in overrides.get_ignored_functions()
    assert torch.add in overrides.get_testing_overrides()
    assert torch.Tensor.grad.__get__ in overrides.get_default_nowrap_functions()


# -- modes and transforms --------------------------------------------------------------------------


class Names(torch.overrides.TorchFunctionMode):
    """Notes the names of what it sees, and keeps the results."""

    def __init__(self, tag=""):
        self.tag, self.seen, self.results = tag, [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(self.tag + func.__name__)
        result = func(*args, **(kwargs or {}))
        self.results.append(result)
        return result


def smooth(x):
    return (torch.maximum(x.sin(), x.cos()).exp() + x).sum()


SMOOTH = ["sin", "cos", "maximum", "exp", "add", "sum"]


def rows():
    return torch.linspace(0.1, 1.2, 6, dtype=torch.float64).reshape(2, 3)


TRANSFORMED = {
    "vmap": lambda f: torch.func.vmap(f)(rows()),
    "grad": lambda f: torch.func.grad(f)(rows()),
    "jvp": lambda f: torch.func.jvp(f, (rows(),), (rows(),))[1],
    "vmap of grad": lambda f: torch.func.vmap(torch.func.grad(f))(rows()),
    "jacrev": lambda f: torch.func.jacrev(f)(rows()),
    "vmap of vmap": lambda f: torch.func.vmap(torch.func.vmap(f))(rows()),
    "checkpoint": lambda f: torch.func.grad(lambda x: torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False))(rows()),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_mode_around_a_transform_sees_the_calls_of_the_program(name):
    expected = TRANSFORMED[name](smooth)
    for _ in range(20):
        with Names() as mode:
            result = TRANSFORMED[name](smooth)
        torch.testing.assert_close(result, expected)
        own = [n for n in mode.seen if n in SMOOTH]
        assert own[:6] == SMOOTH
        assert own[6:] == SMOOTH[: len(own) - 6]  # the second run of a checkpoint stops early


@pytest.mark.told("checkpoint_side_effects", why="the mode notes each run", sometimes=True)
@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_mode_inside_a_transform(name):
    mode = Names()

    def watched(x):
        with mode:
            return smooth(x)

    torch.testing.assert_close(TRANSFORMED[name](watched), TRANSFORMED[name](smooth))
    assert mode.seen[:6] == SMOOTH
    count = len(mode.seen)
    torch.ones(2).sin()
    assert len(mode.seen) == count


def test_a_mode_sees_one_sample():
    x = rows()
    with Names() as mode:
        torch.func.vmap(lambda x: x.sin())(x)
    assert [name for name in mode.seen if name != "__get__"] == ["sin"]  # vmap itself looks at shapes
    assert mode.results[-1].shape == (3,)


@pytest.mark.parametrize("name", TRANSFORMED)
def test_nested_modes_around_a_transform(name):
    with Names("outer.") as outer, Names("inner.") as inner:
        result = TRANSFORMED[name](smooth)
    torch.testing.assert_close(result, TRANSFORMED[name](smooth))
    assert [n.split(".")[1] for n in outer.seen] == [n.split(".")[1] for n in inner.seen]


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_mode_that_fails_inside_a_transform_leaves_nothing_behind(name):
    class Refuses(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func.__name__ == "exp":
                raise ValueError("not today")
            return func(*args, **(kwargs or {}))

    for _ in range(3):
        with pytest.raises(ValueError, match="not today"), Refuses():
            TRANSFORMED[name](smooth)
    assert torch.overrides._get_current_function_mode() is None
    TRANSFORMED[name](smooth)


def test_a_mode_that_leaves_itself_leaves_the_one_around_it():
    """As in PyTorch: while a mode runs it is off the stack, so what is innermost then is another one."""

    class Leaves(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            self.__exit__(None, None, None)
            return result

    x, outer = rows(), Names()
    outer.__enter__()
    leaves = Leaves().__enter__()
    x.sin()
    with pytest.raises(RuntimeError, match="trying to pop from empty mode stack"):
        x.cos()
    assert torch.overrides._get_current_function_mode() is leaves
    assert outer.seen == ["sin"]
    while torch.overrides._get_current_function_mode() is not None:
        _C._pop_function_mode()


def test_an_op_handler_that_pops_and_pushes_while_it_runs():
    """What it does to the stack below it is over when it returns."""
    seen = []

    def below(op, args, kwargs):
        seen.append(op.name)
        return op(*args, **kwargs)

    def careless(op, args, kwargs):
        _C._pop_op_handler()
        _C._push_op_handler(lambda op, args, kwargs: op(*args, **kwargs))
        return op(*args, **kwargs)

    _C._push_op_handler(below)
    _C._push_op_handler(careless)
    try:
        for _ in range(50):
            torch.func.vmap(lambda x: (x.sin() + x).exp())(rows())
    finally:
        assert _C._pop_op_handler() is careless
        assert _C._pop_op_handler() is below
    assert not seen


@pytest.mark.parametrize("name", TRANSFORMED)
def test_allow_mutation_on_saved_tensors_around_a_transform(name):
    expected = TRANSFORMED[name](smooth)
    for _ in range(10):
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            torch.testing.assert_close(TRANSFORMED[name](smooth), expected)


def test_allow_mutation_inside_vmap():
    """What vmap saves is the tensor with all samples, and a write inside it is one to that."""

    def f(x):
        y = x * 1
        z = y.exp() * y
        y.mul_(2)
        return (z * y).sum()

    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        found = torch.func.vmap(torch.func.grad(f))(rows())
    torch.testing.assert_close(found, torch.func.vmap(torch.func.grad(lambda x: (x.exp() * x * x * 2).sum()))(rows()))


def test_ops_called_by_name_are_seen_with_their_own_arguments():
    """What is positional in an op may be a keyword of the function: a mode gets the op."""
    add = _C._find_op("add")
    ones = torch.ones(2)
    with Names() as mode:
        result = add(ones, ones, 3)
    assert mode.seen == ["add"]
    torch.testing.assert_close(result, torch.full((2,), 4.0))


# -- attributes, subscripts, lists ----------------------------------------------------


class Asked(torch.Tensor):
    """Notes what it is asked for."""

    seen: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        owner = getattr(func, "__self__", func)
        name = owner.__name__ if hasattr(owner, "__name__") else func.__name__
        cls.seen.append(name)
        return super().__torch_function__(func, types, args, kwargs or {})


READS = {
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype,
    "grad": lambda x: x.grad,
    "data": lambda x: x.data,
    "requires_grad": lambda x: x.requires_grad,
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real,
    "is_leaf": lambda x: x.is_leaf,
    "device": lambda x: x.device,
    "_version": lambda x: x._version,
    "__len__": len,
    "__getitem__": lambda x: x[0],
    "__bool__": lambda x: bool(x.as_subclass(torch.Tensor)[0, 0].as_subclass(Asked)),
    "item": lambda x: x.as_subclass(torch.Tensor)[0, 0].as_subclass(Asked).item(),
    "__float__": lambda x: float(x.as_subclass(torch.Tensor)[0, 0].as_subclass(Asked)),
    "tolist": lambda x: x.tolist(),
    "size": lambda x: x.size(0),
    "stride": lambda x: x.stride(),
    "dim": lambda x: x.dim(),
    "numel": lambda x: x.numel(),
    "requires_grad_": lambda x: x.requires_grad_(False),
    "is_contiguous": lambda x: x.is_contiguous(),
    "numpy": lambda x: x.numpy(),
    "__contains__": lambda x: 1 in x,
    "__reversed__": lambda x: reversed(x),
}


@pytest.mark.parametrize("name", READS)
def test_attributes_and_plain_methods_are_asked_for(name):
    if name == "numpy":
        pytest.importorskip("numpy")
    x = torch.ones(2, 2).as_subclass(Asked)
    Asked.seen.clear()
    result = READS[name](x)
    assert name in Asked.seen
    plain = READS[name](torch.ones(2, 2)) if name not in ("item", "__float__", "__bool__") else 1.0
    if isinstance(result, torch.Tensor):
        assert type(result) is Asked and torch.equal(result.as_subclass(torch.Tensor), plain)
    elif name != "numpy":
        assert result == plain and type(result) is not Asked
    with torch._C.DisableTorchFunctionSubclass():
        Asked.seen.clear()
        READS[name](x)
        assert not Asked.seen


def test_attributes_are_written_and_deleted_through_overrides():
    x = torch.ones(2).as_subclass(Asked)
    Asked.seen.clear()
    x.grad = torch.ones(2)
    del x.grad
    x.requires_grad = True
    assert Asked.seen == ["grad", "grad", "requires_grad"]
    with Names() as mode:
        torch.ones(2).grad = None
    assert mode.seen == ["ones", "__set__"]


class Over:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__


def test_objects_are_asked_wherever_they_stand():
    y, o = torch.ones(2, 2), Over()
    assert y[o] == "__getitem__" and y[0, o] == "__getitem__"
    y[0] = o  # taken over: nothing is written
    y[o] = 1
    assert torch.equal(y, torch.ones(2, 2))
    assert torch.add(y, y, out=o) == "add" and torch.zeros(o) == "zeros" and torch.cat([y, o]) == "cat"
    assert torch.sum(o, "anything") == "sum"  # what else the arguments are is for the override to judge
    assert torch.linalg.inv(o) == "inv" and torch.linalg.multi_dot([y, o]) == "multi_dot"
    assert torch.nn.functional.dropout(o) == "dropout" and torch.nn.functional.embedding(y, o) == "embedding"
    assert torch.numel(o) == "numel" and torch.is_floating_point(o) == "is_floating_point"
    assert torch.autograd.grad(o, y) == "grad" and torch.as_tensor(o) == "as_tensor"
    with pytest.raises(TypeError, match="must be Tensor|invalid combination"):
        torch.add("a", "b")


def test_an_index_of_a_subclass_decides_the_type_of_the_result():
    index = torch.tensor([1, 0]).as_subclass(Asked)
    assert type(torch.arange(2.0)[index]) is Asked and type(torch.ones(2, 2)[0, index]) is Asked


def test_functions_written_in_python_stay_functions():
    import inspect
    import pickle

    F = torch.nn.functional
    for function, name in (
        (F.dropout, "torch.nn.functional.dropout"),
        (torch.linalg.inv, "torch.linalg.inv"),
        (F.relu, "torch.nn.functional.relu"),
    ):
        assert torch.overrides.resolve_name(function) == name
        assert pickle.loads(pickle.dumps(function)) is function
        assert "Tensor" in str(inspect.signature(function)) and function.__doc__ and function.__name__ == name.rpartition(".")[2]
        assert inspect.isroutine(function) and repr(function).startswith("<function ")
    assert inspect.ismethod(torch.ones(2).register_hook)


class Taken(Exception):
    pass


class Taking(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise Taken(func, args, kwargs or {})

    def __repr__(self):  # for the report of a failure
        return "Taking()"


def handed_over(function, x):
    """What __torch_function__ gets of a call of the function with some arguments that it can read, all by position, and these; None if nobody asks it."""
    for count in range(1, 14):
        for other in (x, 1, [1]):
            given = (x, *[other] * (count - 1))
            try:
                function(*given)
            except Taken as taken:
                return taken.args, given
            except Exception:  # these arguments do not fit: others will
                continue
    return None


@pytest.mark.parametrize("place", ["", "functional", "nn.functional", "linalg", "fft", "special", "Tensor"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_handed_over_is_the_public_function_with_its_arguments(place):
    owner = overrides._namespace(place)
    x = torch.ones(2, 2).as_subclass(Taking)
    # Operators that PyTorch too shows as the method they stand for; reflected ones are so with a tensor on either side.
    plain = "add sub mul div matmul mod ge gt le lt ne iadd isub imul idiv ifloordiv imod abs neg pos radd rmul copy iter rdiv rfloordiv rlshift rmatmul rmod rpow rrshift rsub"
    other = {f"__{name}__" for name in (plain + " rand ror rxor truediv itruediv rtruediv").split()} | {"backward", "why_no_grad"}
    # Functions without a tensor to ask, and aliases of functions with another name.
    other |= {"dsmm", "spmm", "memory_summary", "to_dlpack", "vmap", "sym_constrain_range", "sym_constrain_range_for_size"}
    other |= {f"sparse_{kind}_tensor" for kind in ("bsc", "bsr", "coo", "csc", "csr")}
    wrong, unasked = [], []
    for name, function in overrides._members(owner):
        if name in other or not isinstance(function, overrides._CALLABLES) or (not place and function in overrides.get_ignored_functions()):
            continue
        handed = handed_over(function, x)
        if handed is None:
            unasked.append(name)
            continue
        (func, args, kwargs), given = handed
        if func is not function or kwargs or len(args) != len(given) or any(a is not b for a, b in zip(args, given, strict=True)):
            wrong.append((name, getattr(func, "__qualname__", func), len(args), kwargs))
    assert not wrong
    if place == "Tensor":
        assert set(unasked) <= {
            "as_subclass",
            "eig",
            "lstsq",
            "reinforce",
            "solve",
            "symeig",
            *(f"__{name}__" for name in ["delattr", "delitem", "dir", "hash", "init", "new", "setattr"]),
        }
    elif place:
        assert not unasked


def test_operators_that_are_methods_of_their_own():
    x = torch.ones(2).as_subclass(Taking)

    def seen(call):
        with pytest.raises(Taken) as taken:
            call()
        return taken.value.args[0].__name__, taken.value.args[1]

    assert seen(lambda: 2 - x) == ("__rsub__", (x, 2)) and seen(lambda: 2 / x)[0] == "__rtruediv__" and seen(lambda: 2**x)[0] == "__rpow__"
    assert seen(lambda: 2 // x)[0] == "__rfloordiv__" and seen(lambda: 2 % x)[0] == "__rmod__" and seen(lambda: 2 << x)[0] == "__rlshift__"
    assert seen(lambda: x == 2) == ("__eq__", (x, 2)) and seen(lambda: x != 2)[0] == "ne" and seen(lambda: ~x) == ("__invert__", (x,))
    assert (
        seen(lambda: x & x)[0] == "__and__"
        and seen(lambda: 2 & x)[0] == "bitwise_and"
        and seen(lambda: torch.ones(2) // x)[0] == "__floordiv__"
    )
    assert seen(lambda: 2 @ x) == ("__rmatmul__", (x, 2))

    class Doubled(torch.Tensor):
        """Runs what it is handed."""

    y = torch.tensor([1, 2]).as_subclass(Doubled)
    for call in (
        lambda t: 6 - t,
        lambda t: 6 / t,
        lambda t: 2**t,
        lambda t: 7 // t,
        lambda t: 7 % t,
        lambda t: t == 2,
        lambda t: ~t,
        lambda t: t & 1,
        lambda t: t**2,
    ):
        result, plain = call(y), call(torch.tensor([1, 2]))
        assert type(result) is Doubled and torch.equal(result.as_subclass(torch.Tensor), plain)


@pytest.mark.parametrize(
    "name", ["relu", "silu", "elu", "leaky_relu", "celu", "threshold", "hardtanh", "layer_norm", "nll_loss", "soft_margin_loss"]
)
def test_functions_that_go_straight_to_their_op_give_what_the_function_gives(name):
    F = torch.nn.functional
    x, y = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
    more = {"threshold": (0.1, 2.0), "layer_norm": ((3,),), "nll_loss": (y,), "soft_margin_loss": (torch.ones(4, 3),)}.get(name, ())
    straight, written = getattr(F, name), getattr(F, name).__wrapped__
    calls = [(more, {})]
    if name not in ("layer_norm", "nll_loss", "soft_margin_loss"):
        slopes = {"elu": (0.5,), "leaky_relu": (0.5,), "celu": (0.5,), "hardtanh": (-0.5, 0.5)}.get(name, more)
        calls += [(slopes, {}), ((*slopes, False), {}), (slopes, {"inplace": False}), (slopes, {"inplace": True})]
        with pytest.raises(TypeError, match="positional argument"):
            straight(x, *slopes, False, False)
    for args, kwargs in calls:
        assert torch.equal(straight(x.clone(), *args, **kwargs), written(x.clone(), *args, **kwargs))
    z = x.clone()
    assert "inplace" not in written.__code__.co_varnames or straight(z, *more, inplace=True) is z
    with pytest.raises(TypeError):
        straight()


def test_functions_go_straight_to_their_op_by_name_too():
    """All arguments but the first, by their names: the op has the same ones."""
    from retrograd import linalg
    from retrograd.nn import functional as F

    x, image, matrix, labels = torch.randn(4, 3), torch.randn(1, 2, 6, 6), torch.randn(3, 3), torch.tensor([0, 2, 1, 1])
    LD, pivots = linalg.ldl_factor(matrix @ matrix.mT)
    pool = {"kernel_size": 3, "stride": 2, "padding": 1, "dilation": 1, "ceil_mode": True}
    calls = {
        F: {
            "celu": (x, {"alpha": 0.5}), "elu": (x, {"alpha": 0.5}), "hardtanh": (x, {"min_val": -0.5, "max_val": 0.5}),
            "layer_norm": (x, {"normalized_shape": (3,), "weight": x[0], "bias": x[1], "eps": 0.1}), "leaky_relu": (x, {"negative_slope": 0.3}),
            "max_pool1d": (image[0], pool), "max_pool2d": (image, pool), "max_pool3d": (image, pool), "nll_loss": (x, {"target": labels}),
            "soft_margin_loss": (x, {"target": x.sign()}), "threshold": (x, {"threshold": 0.1, "value": 2.0}),
        },
        linalg: {
            "cross": (x, {"other": x.flip(0)}), "eigh": (matrix, {"UPLO": "U"}), "eigvalsh": (matrix, {"UPLO": "U"}),
            "ldl_solve": (LD, {"pivots": pivots, "B": matrix}), "qr": (matrix, {"mode": "r"}), "solve": (matrix, {"B": matrix}),
            "solve_ex": (matrix, {"B": matrix}), "svd": (x, {"full_matrices": False}), "vector_norm": (x, {"ord": 1, "dim": 1, "keepdim": True}),
        },
    }  # fmt: skip
    for home, named in calls.items():
        assert named.keys() == {name for name, most in home._STRAIGHT.items() if most > 1}
        for name, (first, rest) in named.items():
            straight, written = getattr(home, name), getattr(home, name).__wrapped__
            assert tuple(rest) == written.__code__.co_varnames[1 : home._STRAIGHT[name]]
            native = getattr(torch._C._ops, ("linalg_" if home is linalg else "") + name)
            for call in (straight, native):
                for found, expected in zip(flat(call(first, **rest)), flat(written(first, *rest.values())), strict=True):
                    assert torch.equal(found, expected)
    with pytest.raises(TypeError, match="max_pool2d"):
        F.max_pool2d(image, 3, kernel_size=3)


def flat(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def test_methods_written_in_python_are_seen_under_their_names():
    class Seen(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    x = torch.ones(2).as_subclass(Seen)
    for name, args in {
        "type": (), "cpu": (), "cuda": (), "get_device": (), "is_shared": (), "share_memory_": (), "pin_memory": (), "is_pinned": (),
        "is_set_to": (x,), "is_same_size": (x,), "apply_": (abs,), "map_": (x, max), "register_post_accumulate_grad_hook": (print,),
    }.items():  # fmt: skip
        assert getattr(x, name)(*args) == name
    assert torch.ones(2).type() == "torch.FloatTensor"
