"""Arguments that act while they are used: asked for a length, a number, an item or a gradient, they resize, free or rewrite the other arguments.

`cast(rng)` gives one. What they act on is in `STAGE`: the tensors of the call that is being made, which tests/hostile.py puts there.
"""

import ctypes
import gc
import random
import weakref

import retrograd as torch

ORDINARY = (RuntimeError, TypeError, ValueError, IndexError, AttributeError, BufferError, MemoryError, OverflowError, KeyError)
STAGE: list = []  # of the call that is being made: tensors, and lists that are arguments
_depth = 0


def act(rng):
    """Does something to what is on the stage. Not without end: what it calls may ask again."""
    global _depth
    if _depth > 3:
        return
    _depth += 1
    try:
        for _ in range(rng.randrange(3)):
            rng.choice(ACTS)(rng)
    except ORDINARY:
        if rng.random() < 0.2:
            raise
    finally:
        _depth -= 1


def some_tensor(rng):
    tensors = [t for t in STAGE if isinstance(t, torch.Tensor)]
    return rng.choice(tensors) if tensors else torch.ones(2, requires_grad=True)


def fresh(rng):
    return torch.ones(
        rng.choice([(), (0,), (3,), (2, 3), (40, 40)]), dtype=rng.choice([torch.float32, torch.float64, torch.int64, torch.bool])
    )


def empty_lists(rng):
    for item in STAGE:
        if isinstance(item, list) and item is not STAGE:
            item.clear()


def run_backward(rng):
    t = some_tensor(rng)
    (t * t).sum().backward(retain_graph=rng.random() < 0.5)


def free_memory(rng):
    t = some_tensor(rng)
    t.untyped_storage().resize_(rng.choice([0, 1, 4, 10000]))


def free_graph(rng):
    t = some_tensor(rng)
    if t.grad_fn is not None:
        t.backward(torch.ones_like(t), retain_graph=False)


def hook_itself(rng):
    some_tensor(rng).register_hook(callback(rng))


def change_names(rng):
    t = some_tensor(rng)
    t.__class__ = rng.choice([torch.Tensor, Acting])


def write_exported(rng):
    t = some_tensor(rng).detach()
    array = memoryview(t)
    some_tensor(rng).data = fresh(rng)
    del t
    gc.collect(0)
    bytes(array)


def consume_capsule(rng):
    capsule = torch.utils.dlpack.to_dlpack(some_tensor(rng).detach())
    for _ in range(rng.randrange(3)):
        torch.utils.dlpack.from_dlpack(capsule)


ACTS = [
    empty_lists,
    run_backward,
    free_memory,
    free_graph,
    hook_itself,
    change_names,
    write_exported,
    consume_capsule,
    lambda rng: STAGE.clear(),
    lambda rng: gc.collect(1),
    lambda rng: some_tensor(rng).resize_(rng.choice([(0,), (1,), (2, 3), (100, 100)])),
    lambda rng: some_tensor(rng).set_(),
    lambda rng: some_tensor(rng).set_(fresh(rng)),
    lambda rng: setattr(some_tensor(rng), "data", fresh(rng)),
    lambda rng: setattr(some_tensor(rng), "grad", None),
    lambda rng: setattr(some_tensor(rng), "grad", fresh(rng)),
    lambda rng: some_tensor(rng).detach_(),
    lambda rng: some_tensor(rng).requires_grad_(rng.random() < 0.5),
    lambda rng: some_tensor(rng).zero_(),
    lambda rng: some_tensor(rng).data.fill_(2),
    lambda rng: some_tensor(rng).squeeze_(),
    lambda rng: some_tensor(rng).unsqueeze_(0),
    lambda rng: some_tensor(rng).t_(),
    lambda rng: torch._C._set_grad_enabled(rng.random() < 0.5),
    lambda rng: torch.inference_mode().__enter__(),
    lambda rng: repr(some_tensor(rng)),
]


def callback(rng):
    """A function that acts, and returns something."""
    answer = rng.choice([lambda a: None, lambda a: a, lambda a: fresh(rng), lambda a: 3.0, lambda a: (a, a), lambda a: some_tensor(rng)])

    def called(*args, **kwargs):
        act(rng)
        return answer(args[0] if args else None)

    return called


class Acting(torch.Tensor):
    """A tensor that acts when something is done with it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        act(RANDOM)
        return super().__torch_function__(func, types, args, kwargs or {})


class Items(list):
    def __len__(self):
        act(RANDOM)
        return super().__len__()

    def __iter__(self):
        for item in super().__iter__():
            act(RANDOM)
            yield item

    def __getitem__(self, i):
        act(RANDOM)
        return super().__getitem__(i)


class Number:
    """A number that acts when it is read."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        act(RANDOM)
        return int(self.value)

    def __int__(self):
        return self.__index__()

    def __float__(self):
        act(RANDOM)
        return float(self.value)

    def __complex__(self):
        act(RANDOM)
        return complex(self.value)

    def __bool__(self):
        act(RANDOM)
        return bool(self.value)


class Integer(int):
    def __index__(self):
        act(RANDOM)
        return 1

    def __eq__(self, other):
        act(RANDOM)
        return NotImplemented

    __hash__ = int.__hash__


class Sequence:
    def __len__(self):
        act(RANDOM)
        return RANDOM.choice([0, 1, 2, 3])

    def __getitem__(self, i):
        act(RANDOM)
        if i > 2:
            raise IndexError
        return RANDOM.choice([1, 1.0, Number(1), STAGE and STAGE[0]])


class Exporter:
    def __array__(self, dtype=None, copy=None):
        act(RANDOM)
        return memoryview(some_tensor(RANDOM).detach())

    def __dlpack__(self, **kwargs):
        act(RANDOM)
        return torch.utils.dlpack.to_dlpack(some_tensor(RANDOM).detach())

    def __dlpack_device__(self):
        act(RANDOM)
        return (1, 0)


class Overriding:
    def __torch_function__(self, func, types, args=(), kwargs=None):
        act(RANDOM)
        return RANDOM.choice([NotImplemented, None, self, some_tensor(RANDOM)])


class Mortal:
    """Acts when it is freed."""

    def __del__(self):
        try:
            act(RANDOM)
        except ORDINARY as error:
            self.error = error  # there is nobody to raise to


class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        act(RANDOM)
        return func(*args, **(kwargs or {}))


class Op(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *rest):
        act(RANDOM)
        ctx.save_for_backward(x, *[t for t in rest if isinstance(t, torch.Tensor)])
        ctx.mortal = Mortal()
        STAGE.append(x)
        if RANDOM.random() < 0.2:
            ctx.mark_dirty(x)
            return x.add_(1)
        if RANDOM.random() < 0.2:
            ctx.mark_non_differentiable(x)
        return RANDOM.choice([lambda: x.clone(), lambda: x.view_as(x), lambda: (x.clone(), x), lambda: x, lambda: (), lambda: (x, 3)])()

    @staticmethod
    def backward(ctx, *grads):
        act(RANDOM)
        saved = ctx.saved_tensors
        act(RANDOM)
        return (*(g * saved[0] for g in grads[:1]), None)

    @staticmethod
    def jvp(ctx, *tangents):
        act(RANDOM)
        return tangents[0]


def capsule(rng):
    made = torch.utils.dlpack.to_dlpack(torch.ones(3))
    if rng.random() < 0.3:
        torch.utils.dlpack.from_dlpack(made)
    return made


def foreign_capsule(rng):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(id(rng), rng.choice([None, b"used_dltensor", b"something"]), None)


def hooked(rng):
    x = torch.ones(3, requires_grad=True)
    y = x * torch.ones(3, requires_grad=True)
    y.register_hook(callback(rng))
    y.grad_fn.register_hook(callback(rng))
    y.grad_fn.register_prehook(callback(rng))
    x.register_post_accumulate_grad_hook(callback(rng))
    STAGE.extend([x, y])
    return rng.choice([x, y, y.sum()])


def packed(rng):
    with torch.autograd.graph.saved_tensors_hooks(callback(rng), callback(rng)):
        x = torch.ones(3, requires_grad=True)
        y = x * x
    STAGE.extend([x, y])
    return y


def custom(rng):
    x = torch.ones(3, requires_grad=True)
    STAGE.append(x)
    made = Op.apply(x, some_tensor(rng))
    return made[0] if isinstance(made, tuple) and made else made


RANDOM = random.Random(0)
CAST = [
    lambda rng: torch.ones(2, 3).as_subclass(Acting),
    lambda rng: torch.ones(3, requires_grad=True).as_subclass(Acting),
    lambda rng: Items([some_tensor(rng), some_tensor(rng)]),
    lambda rng: Items([1, 2, Number(1)]),
    lambda rng: [Number(1), Number(0)],
    lambda rng: (Number(2), some_tensor(rng)),
    lambda rng: [some_tensor(rng), Overriding(), some_tensor(rng)],
    lambda rng: Number(rng.choice([0, 1, -1, 2, 3, 2.5])),
    lambda rng: Number(1),
    lambda rng: Integer(1),
    lambda rng: Sequence(),
    lambda rng: Exporter(),
    lambda rng: Overriding(),
    lambda rng: Mortal(),
    lambda rng: Mode(),
    lambda rng: Op,
    lambda rng: Op.apply,
    callback,
    callback,
    capsule,
    foreign_capsule,
    hooked,
    packed,
    custom,
    lambda rng: torch.no_grad(),
    lambda rng: torch.inference_mode(),
    lambda rng: torch.enable_grad(),
    lambda rng: torch.ones(3).untyped_storage(),
    lambda rng: torch.ones(3).storage(),
    lambda rng: some_tensor(rng).untyped_storage(),
    lambda rng: torch.ones(3, 3).max(0),
    lambda rng: torch.linalg.slogdet(torch.eye(2)),
    lambda rng: torch.nn.Linear(2, 2),
    lambda rng: weakref.ref(some_tensor(rng)),
    lambda rng: some_tensor(rng).grad_fn,
    lambda rng: torch.nn.ParameterList([torch.ones(2)]),
    lambda rng: memoryview(some_tensor(rng).detach()),
]


def cast(rng):
    """An argument that acts."""
    try:
        return rng.choice(CAST)(rng)
    except ORDINARY:
        return Number(1)
