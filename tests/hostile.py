"""Random calls of everything public with wrong, extreme, self-referential and lying arguments.

Whatever a program passes, a call returns or raises one of Python's ordinary exceptions; it does not crash, hang, or fail in words meant for
nobody (a SystemError, an internal assertion). `python -m tests.hostile --seed 3 --calls 20000` makes one run; the index of the call being made is
in the file that --trace names, so that a crash can be traced, and `--only INDEX` makes that call alone.
"""

import argparse
import array
import faulthandler
import math
import os
import random
import resource
import struct
import sys
import warnings

import retrograd as torch
from tests import hostile_actors as actors

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# ---- objects that are not what they say ----


class Liar:
    """Says that it has a length, an index and a value, and goes back on it."""

    def __init__(self, mood):
        self.mood = mood

    def __len__(self):
        return {"long": 3, "negative": -1, "huge": 2**62}.get(self.mood, 2)

    def __getitem__(self, i):
        if self.mood == "endless" and i < 10000:  # list() of what has no end does not come back, whoever calls it
            return self
        if self.mood == "raises":
            raise ZeroDivisionError("from __getitem__")
        if i < 2:
            return 1.0
        raise IndexError(i)

    def __index__(self):
        if self.mood == "raises":
            raise ZeroDivisionError("from __index__")
        return 2**80 if self.mood == "huge" else 1

    def __float__(self):
        if self.mood == "raises":
            raise ZeroDivisionError("from __float__")
        return math.nan

    def __bool__(self):
        if self.mood == "raises":
            raise ZeroDivisionError("from __bool__")
        return True


class Shape(tuple):
    """A tuple whose length is another than the number of its elements."""

    def __len__(self):
        return 5


class Changing(list):
    """A list that shrinks while it is read."""

    def __getitem__(self, i):
        if self:
            self.pop()
        return super().__getitem__(i)

    def __iter__(self):
        while self:
            yield self.pop()


class Override:
    """Takes calls over, and has nothing to give."""

    def __init__(self, answer):
        self.answer = answer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if self.answer is ValueError:
            raise ValueError("from __torch_function__")
        return self.answer


class Array:
    def __init__(self, answer):
        self.answer = answer

    def __array__(self, dtype=None, copy=None):
        return self.answer


class DLPack:
    def __dlpack__(self, **kwargs):
        return "not a capsule"

    def __dlpack_device__(self):
        return (1, 0)


class Sub(torch.Tensor):
    pass


class Whole(int):
    pass


class Text(str):
    __slots__ = ()


def raising(*args, **kwargs):
    raise ZeroDivisionError("from a callback")


def itself():
    items: list = []
    items.append(items)
    return items


def circle():
    a: list = []
    b: tuple = (1.0, a)
    a.append(b)
    return a


def deep(depth):
    items: list = [1.0]
    for _ in range(depth):
        items = [items]
    return items


# ---- arguments ----

ACTORS = 0.0  # how many of the arguments act while they are used, see tests/hostile_actors.py

INTEGERS = [
    0,
    1,
    -1,
    2,
    3,
    -2,
    4,
    7,
    -5,
    64,
    127,
    128,
    255,
    256,
    2**31 - 1,
    2**31,
    -(2**31),
    2**40,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    -(10**30),
]
FLOATS = [0.0, -0.0, 1.0, 0.5, -1.5, 2.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-45, 3.4e38, 65520.0, 9.3e18]
TEXTS = [
    "",
    "mean",
    "sum",
    "none",
    "floor",
    "trunc",
    "constant",
    "reflect",
    "replicate",
    "circular",
    "tanh",
    "linear",
    "ij",
    "xy",
    "amax",
    "prod",
    "fro",
    "nuc",
    "i,i->",
    "ij,jk->ik",
    "...a->a",
    "i->ii",
    "cpu",
    "meta",
    "cuda",
    "cpu:7",
    "float32",
    "\x00",
    "\ud800",
    "é" * 3,
    "x" * 2000,
]
DTYPES = [
    torch.bool,
    torch.uint8,
    torch.uint16,
    torch.uint64,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
    torch.float8_e4m3fn,
]
SHAPES = [
    (),
    (),
    (0,),
    (1,),
    (3,),
    (4,),
    (2, 3),
    (3, 3),
    (1, 4),
    (0, 3),
    (2, 0),
    (2, 3, 4),
    (1, 1, 1),
    (2, 2, 2, 2),
    (1, 2, 1, 3, 1),
    (1,) * 8,
    (2,) * 7,
    (1,) * 20,
]


def tensor(rng):
    dtype = rng.choice(DTYPES)
    kind = rng.random()
    shape = rng.choice(SHAPES)
    if kind < 0.06:
        return torch.empty(shape, dtype=dtype, device="meta")
    count = math.prod(shape)
    if dtype.is_floating_point or dtype.is_complex:
        values = [rng.choice(FLOATS) if rng.random() < 0.2 else rng.uniform(-2, 2) for _ in range(count)]
    else:
        values = [rng.randint(-3, 4) for _ in range(count)]
        if not dtype.is_signed:
            values = [abs(v) for v in values]
        elif rng.random() < 0.1:
            info = torch.iinfo(dtype)
            values = [rng.choice([info.min, info.max, v]) for v in values]
    t = torch.tensor(values, dtype=torch.float64 if dtype.is_floating_point or dtype.is_complex else dtype).to(dtype).reshape(shape)
    if kind < 0.15 and t.dim() >= 2:
        t = t.transpose(0, -1)
    elif kind < 0.22:
        t = t.expand((2, *t.shape))
    elif kind < 0.27 and t.dim():
        t = t[..., ::2]
    elif kind < 0.30 and t.dim():
        t = torch.cat([t, t])[1:]
    elif kind < 0.33 and dtype.is_complex:
        t = t.conj()
    elif kind < 0.35 and dtype.is_complex:
        t = t.conj().imag
    elif kind < 0.37:
        t = t.as_subclass(Sub)
    elif kind < 0.39:
        with torch.inference_mode():
            return t.clone()
    elif kind < 0.41:
        return torch.zeros(0, dtype=dtype).as_strided((0, 2**40), (1, 1))
    if dtype.is_floating_point or dtype.is_complex:
        more = rng.random()
        if more < 0.25:
            t = t.detach().requires_grad_()
            if more < 0.12:
                t = t.clone()
            elif more < 0.15:
                t = torch.nn.Parameter(t)
    return t


def ndarray(rng):
    if numpy is None:
        return array.array("f", [1.0, 2.0])
    return rng.choice(
        [
            lambda: numpy.ones((2, 3), "float32"),
            lambda: numpy.ones((2, 3), ">f8"),
            lambda: numpy.ones((2, 3), "float128" if hasattr(numpy, "float128") else "f8"),
            lambda: numpy.array([None, "a"], dtype=object),
            lambda: numpy.zeros(3, dtype=[("a", "i4"), ("b", "f8")]),
            lambda: numpy.broadcast_to(numpy.float32(2), (2, 3)),
            lambda: numpy.arange(6)[::-1],
            lambda: numpy.array("text"),
            lambda: numpy.array(["2020-01-01"], dtype="M8[D]"),
            lambda: numpy.float32(1.5),
            lambda: numpy.int64(-1),
            lambda: numpy.uint64(2**64 - 1),
            lambda: numpy.bool_(True),
            lambda: numpy.zeros((0, 3)),
            lambda: numpy.zeros((3, 3), dtype="complex64"),
        ]
    )()


def oddity(rng):
    return rng.choice(
        [
            lambda: Liar(rng.choice(["long", "negative", "huge", "endless", "raises"])),
            lambda: Shape((1, 2)),
            lambda: Changing([1, 2, 3]),
            lambda: Override(rng.choice([NotImplemented, None, ValueError, 3])),
            lambda: Array(rng.choice([None, 3, "x", [1.0]])),
            DLPack,
            lambda: Whole(rng.choice([0, 1, 2**70])),
            lambda: Text("mean"),
            itself,
            circle,
            lambda: deep(rng.choice([10, 70, 2000])),
            object,
            lambda: type,
            lambda: raising,
            lambda: lambda *a: None,
            lambda: (i for i in range(3)),
            lambda: bytearray(8),
            lambda: memoryview(b"12345678"),
            lambda: array.array("d", [1.0, 2.0]),
            lambda: {1: 2},
            lambda: {1, 2},
            lambda: range(2),
            lambda: slice(rng.choice([None, 0, -(2**70)]), rng.choice([None, 2**70]), rng.choice([None, 0, -1, 2**62])),
            lambda: Ellipsis,
            lambda: NotImplemented,
            lambda: torch,
            lambda: torch.Generator(),
            lambda: torch.Size([2, 3]),
            lambda: torch.finfo(torch.float32),
            lambda: torch.strided,
            lambda: torch.channels_last,
            lambda: torch.ones(2).untyped_storage(),
            lambda: torch.ones(2, requires_grad=True).sum().grad_fn,
            lambda: struct.pack("d", 1.0),
            lambda: b"",
            lambda: 10**400,
            lambda: 1e400 + 1e400j,
        ]
    )()


def sequence(rng, depth):
    make = rng.choice([list, tuple])
    if rng.random() < 0.6:
        return make(rng.choice(INTEGERS[:10]) for _ in range(rng.randrange(5)))
    return make(argument(rng, depth + 1) for _ in range(rng.randrange(4)))


def argument(rng, depth=0):
    made = new_argument(rng, depth)
    if isinstance(made, (torch.Tensor, list)):
        actors.STAGE.append(made)
    return made


def new_argument(rng, depth):
    if rng.random() < ACTORS:
        return actors.cast(rng)
    r = rng.random()
    if r < 0.36:
        return tensor(rng)
    if r < 0.50:
        return rng.choice(INTEGERS) if rng.random() < 0.4 else rng.randint(-3, 4)
    if r < 0.58:
        return rng.choice(FLOATS)
    if r < 0.62:
        return rng.choice([True, False, None])
    if r < 0.66:
        return rng.choice(TEXTS)
    if r < 0.70:
        return rng.choice(
            DTYPES
            + [torch.int4, torch.device("cpu"), torch.device("meta"), torch.contiguous_format, torch.preserve_format, float, int, bool]
        )
    if r < 0.82 and depth < 3:
        return sequence(rng, depth)
    if r < 0.84:
        return complex(rng.choice(FLOATS), rng.choice(FLOATS))
    if r < 0.88:
        return ndarray(rng)
    return oddity(rng)


KEYWORDS = [
    "dim",
    "keepdim",
    "dtype",
    "out",
    "device",
    "requires_grad",
    "other",
    "alpha",
    "reduction",
    "p",
    "memory_format",
    "generator",
    "size",
    "weight",
    "axis",
    "mode",
    "value",
    "eps",
    "input",
    "nonsense",
    "\ud800",
]

# ---- what is called ----

# What changes the process, waits, reads files by name, or runs callbacks over every element.
LEFT_OUT = {
    "set_num_threads", "set_num_interop_threads", "set_default_dtype", "set_default_tensor_type", "set_default_device", "set_printoptions", "seed", "save", "load",
    "from_file", "set_grad_enabled", "set_anomaly_enabled", "set_flush_denormal", "set_deterministic_debug_mode", "use_deterministic_algorithms", "set_float32_matmul_precision",
    "set_warn_always", "set_rng_state", "initial_seed", "fork_rng", "hook", "enter_dual_level", "exit_dual_level", "set_detect_anomaly", "set_multithreading_enabled", "set_cache_limit",
}  # fmt: skip


def members(owner, prefix):
    for name in sorted(dir(owner)):
        if name in LEFT_OUT or (name.startswith("_") and not (owner is torch.Tensor and name.startswith("__"))):
            continue
        if name in ("__class__", "__init_subclass__", "__subclasshook__", "__new__", "__dir__", "__getattribute__", "__subclasscheck__"):
            continue
        try:
            member = getattr(owner, name)
        except Exception:  # a property that only instances have
            continue
        if callable(member):
            yield f"{prefix}.{name}", member


def surface():
    from retrograd import autograd, fft, func, linalg, special
    from retrograd.autograd import forward_ad, functional, graph
    from retrograd.nn import functional as F, init

    named = []
    spaces = [
        (torch.Tensor, "Tensor"),
        (torch.Tensor, "Tensor"),
        (torch, "torch"),
        (F, "F"),
        (fft, "fft"),
        (linalg, "linalg"),
        (special, "special"),
        (autograd, "autograd"),
        (func, "func"),
    ]
    spaces += [
        (forward_ad, "forward_ad"),
        (functional, "functional"),
        (graph, "graph"),
        (init, "init"),
        (torch.Size, "Size"),
        (torch.Generator, "Generator"),
        (torch.random, "random"),
    ]
    spaces += [
        (torch.nn.utils, "utils"),
        (torch.nn.Module, "Module"),
        (type(torch.ones(1).untyped_storage()), "UntypedStorage"),
        (torch.utils.checkpoint, "checkpoint"),
    ]
    for owner, prefix in spaces:
        named += members(owner, prefix)
    return [(n, f) for n, f in named if isinstance(f, object) and getattr(f, "__module__", "") not in ("typing", "warnings", "contextlib")]


def attribute(rng):
    """Reading, writing and deleting attributes, subscripts and operators."""
    t, a, b = tensor(rng), argument(rng), argument(rng)
    name = rng.choice(
        [n for n in dir(torch.Tensor) if not n.startswith("__")]
        + ["grad", "data", "requires_grad", "names", "_backward_hooks", "_grad_fn", "real", "imag", "T"]
    )
    import operator as o

    binary = rng.choice(
        [
            o.add,
            o.sub,
            o.mul,
            o.truediv,
            o.floordiv,
            o.mod,
            o.pow,
            o.matmul,
            o.and_,
            o.or_,
            o.xor,
            o.lshift,
            o.rshift,
            o.eq,
            o.lt,
            o.ge,
            divmod,
        ]
    )
    inplace = rng.choice(
        [o.iadd, o.isub, o.imul, o.itruediv, o.ipow, o.imod, o.ifloordiv, o.iand, o.ior, o.ixor, o.ilshift, o.irshift, o.imatmul]
    )
    return rng.choice(
        [
            ("getattr", lambda: getattr(t, name)),
            ("setattr", lambda: setattr(t, name, a)),
            ("delattr", lambda: delattr(t, name)),
            ("getitem", lambda: t[a]),
            ("getitem2", lambda: t[a, b]),
            ("setitem", lambda: t.__setitem__(a, b)),
            ("setitem2", lambda: t.__setitem__((a, b), tensor(rng))),
            ("delitem", lambda: t.__delitem__(a)),
            ("binary", lambda: binary(t, a)),
            ("reflected", lambda: binary(a, t)),
            ("inplace", lambda: inplace(t, a)),
            ("iterate", lambda: list(zip(t, range(5), strict=False))),
            ("contains", lambda: a in t),
            ("repr", lambda: repr(t)),
            ("convert", lambda: rng.choice([int, float, bool, complex, len, hash, str, list, bytes, o.index])(t)),
        ]
    ) + ((name, t, a, b),)


ORDINARY = (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, ZeroDivisionError, AssertionError, MemoryError, BufferError, StopIteration, UnicodeError, EOFError, ImportError, OSError, NameError)  # fmt: skip


def shown(value, depth=0):
    if isinstance(value, torch.Tensor):
        flags = "".join([" grad" if value.requires_grad else "", " inference" if value.is_inference() else ""])
        return f"<{type(value).__name__} {tuple(value.shape) if value.dim() < 9 else value.dim()} {value.dtype} {value.device}{flags}>"
    if isinstance(value, (list, tuple)) and depth < 3 and type(value) in (list, tuple):
        return "[" + ", ".join(shown(v, depth + 1) for v in value) + "]"
    if isinstance(value, (int, float, str, complex, bool, type(None), torch.dtype)):
        return ascii(value)[:60]
    return f"<{type(value).__name__}>"


class Passing(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def tracked(value):
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.device.type == "cpu"


def samples(call, args):
    """The call inside vmap, with its tensors batched."""
    given = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor) and a.dim()]
    if not given:
        return call(*args)

    def inner(*parts):
        full = list(args)
        for i, part in zip(given, parts, strict=True):
            full[i] = part
        call(*full)

    with torch.no_grad():
        return torch.func.vmap(inner, randomness="different")(*(torch.stack([args[i].as_subclass(torch.Tensor)] * 2) for i in given))


def duals(call, args):
    from retrograd.autograd import forward_ad

    with forward_ad.dual_level():
        return call(*(forward_ad.make_dual(a, torch.ones_like(a)) if tracked(a) and not a.is_inference() else a for a in args))


def under(mode):
    def run(call, args):
        with mode():
            return call(*args)

    return run


SETTINGS = [lambda call, args: call(*args)] * 12 + [samples, duals, under(Passing), under(torch.inference_mode), under(torch.no_grad)]
SETTINGS += [under(torch.autograd.graph.save_on_cpu)]


def watched(call, args):
    """The call with hooks that act around what it saves, inside a mode that acts."""
    with torch.autograd.graph.saved_tensors_hooks(actors.callback(actors.RANDOM), actors.callback(actors.RANDOM)):
        made = call(*args)
    with actors.Mode():
        return made if not isinstance(made, torch.Tensor) else made * 1


def one(functions, seed, index, tell=False):
    """Makes call `index` of a run; returns what was wrong with it, or None."""
    rng = random.Random(f"{seed}.{index}")
    torch.manual_seed(index)
    actors.STAGE.clear()
    actors.RANDOM.seed(f"{seed}.{index}.acts")
    if rng.random() < 0.15:
        name, call, args = attribute(rng)
        kwargs = {}
    else:
        name, function = rng.choice(functions)
        args = [argument(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 6]))]
        if name.startswith("Tensor.") and rng.random() < 0.95:
            args.insert(0, tensor(rng))
            actors.STAGE.append(args[0])
        kwargs = {rng.choice(KEYWORDS): argument(rng) for _ in range(rng.choice([0, 0, 0, 1, 1, 2]))}
        setting = watched if rng.random() < ACTORS / 2 else rng.choice(SETTINGS)
        call = lambda: setting(lambda *a: function(*a, **kwargs), args)
    if tell:
        print(f"{name}({[shown(a) for a in args]}, { {k: shown(v) for k, v in kwargs.items()} })", flush=True)
    try:
        result = call()
        if isinstance(result, torch.Tensor) and result.numel() < 1000:
            repr(result)
            if result.requires_grad and not result.is_leaf and rng.random() < 0.5 and result.device.type == "cpu":
                result.sum().abs().backward()
    except ORDINARY as error:
        text = str(error)
        if "INTERNAL" in text or "internal error" in text or "please report" in text.lower():
            return f"{name}({[shown(a) for a in args]}, { {k: shown(v) for k, v in kwargs.items()} }): {type(error).__name__}: {text[:200]}"
    except BaseException as error:  # that is the finding
        return (
            f"{name}({[shown(a) for a in args]}, { {k: shown(v) for k, v in kwargs.items()} }): {type(error).__name__}: {str(error)[:200]}"
        )
    finally:
        leave_modes()
    return None


def leave_modes():
    """What an odd call may have switched on."""
    from retrograd.autograd import forward_ad

    if torch.is_inference_mode_enabled():
        torch.inference_mode(False).__enter__()
    torch._C._set_grad_enabled(True) if hasattr(torch._C, "_set_grad_enabled") else torch.set_grad_enabled(True)
    while getattr(forward_ad, "_current_level", -1) >= 0:
        forward_ad.exit_dual_level()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--trace")
    parser.add_argument("--actors", type=float, default=0.0, help="the share of arguments that act while they are used")
    parser.add_argument("--memory", type=int, default=6, help="GB of address space; 0: no limit, which AddressSanitizer needs")
    parser.add_argument("--seconds", type=int, default=20, help="a call that takes longer is a finding")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(3000)
    torch.set_num_threads(1)
    if options.memory:
        resource.setrlimit(resource.RLIMIT_AS, (options.memory << 30, options.memory << 30))
    global ACTORS
    ACTORS = options.actors
    functions = surface()
    trace = os.open(options.trace, os.O_CREAT | os.O_RDWR | os.O_TRUNC) if options.trace else None
    indices = [options.only] if options.only is not None else range(options.start, options.start + options.calls)
    bad = 0
    for i in indices:
        if trace is not None:
            os.pwrite(trace, b"%20d" % i, 0)
        faulthandler.dump_traceback_later(options.seconds, exit=True)
        found = one(functions, options.seed, i, tell=options.only is not None)
        if found:
            bad += 1
            print(f"{options.seed}.{i}: {found}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"{len(indices)} calls, {bad} findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
