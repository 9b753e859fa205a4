"""Classes and decorators of PyTorch's own tests, as far as the tests of other libraries use them. A name that is not here is refused in words."""

from __future__ import annotations

# ruff: noqa: PT009, PT027 - unittest is what this is about
import contextlib
import functools
import importlib
import importlib.util
import inspect
import itertools
import os
import random
import re
import sys
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import retrograd as torch
from retrograd.autograd import gradcheck as _gradcheck, gradgradcheck as _gradgradcheck
from retrograd.testing import FileCheck, assert_close, make_tensor

__all__ = [
    "FILE_SCHEMA",
    "IS_CI",
    "IS_LINUX",
    "IS_MACOS",
    "IS_WINDOWS",
    "SEED",
    "TEST_CUDA",
    "TEST_MPS",
    "TEST_NUMPY",
    "TEST_SCIPY",
    "TEST_WITH_ASAN",
    "TEST_WITH_CROSSREF",
    "TEST_WITH_ROCM",
    "TEST_WITH_SLOW",
    "TEST_WITH_TORCHDYNAMO",
    "FileCheck",
    "TemporaryDirectoryName",
    "TemporaryFileName",
    "TestCase",
    "decorateIf",
    "dtype_name",
    "freeze_rng_state",
    "gradcheck",
    "gradgradcheck",
    "instantiate_parametrized_tests",
    "make_tensor",
    "numpy_to_torch_dtype_dict",
    "parametrize",
    "run_tests",
    "set_default_dtype",
    "set_rng_seed",
    "skipIfNoLapack",
    "skipIfRocm",
    "skipIfTorchDynamo",
    "slowTest",
    "subtest",
    "suppress_warnings",
    "torch_to_numpy_dtype_dict",
    "xfailIfTorchDynamo",
]  # fmt: skip

SEED = 1234
FILE_SCHEMA = "file://"
IS_WINDOWS, IS_MACOS, IS_LINUX = sys.platform == "win32", sys.platform == "darwin", sys.platform == "linux"
IS_CI = bool(os.environ.get("CI"))
TEST_WITH_SLOW = os.environ.get("PYTORCH_TEST_WITH_SLOW", "0") == "1"
TEST_CUDA = TEST_MPS = TEST_WITH_ROCM = TEST_WITH_ASAN = TEST_WITH_TORCHDYNAMO = TEST_WITH_CROSSREF = False


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


TEST_NUMPY, TEST_SCIPY = _has("numpy"), _has("scipy")
numpy_to_torch_dtype_dict: dict[Any, Any] = {}
if TEST_NUMPY:
    numpy = importlib.import_module("numpy")
    for _name in [
        "bool",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]:
        numpy_to_torch_dtype_dict[numpy.bool_ if _name == "bool" else getattr(numpy, _name)] = getattr(torch, _name)
torch_to_numpy_dtype_dict = {ours: theirs for theirs, ours in numpy_to_torch_dtype_dict.items()}


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        f"{name}: of torch.testing._internal.common_utils there is what other libraries' tests use ({', '.join(__all__[:1] + ['TestCase', 'run_tests', 'parametrize'])}, ...); the rest "
        "serves PyTorch's own tests"
    )


# -- random numbers, dtypes, files --------------------------------------------------------------------


def set_rng_seed(seed: int | None = None) -> None:
    """Seeds the generators of torch, random and NumPy."""
    seed = SEED if seed is None else seed
    torch.manual_seed(seed)
    random.seed(seed)
    if TEST_NUMPY:
        numpy.random.seed(seed)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Draws inside the block do not move the default generator."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextlib.contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    """Another default dtype inside the block."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def dtype_name(dtype: Any) -> str:
    """float32 for torch.float32"""
    return str(dtype).split(".")[1]


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **kwargs: Any) -> Iterator[str]:
    """The name of a new file, which is deleted after the block."""
    handle, name = tempfile.mkstemp(*args, **kwargs)
    os.close(handle)
    try:
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """The name of a new folder, which is deleted after the block."""
    with tempfile.TemporaryDirectory(suffix=suffix) as name:
        yield name


def gradcheck(fn: Any, inputs: Any, **options: Any) -> bool:
    """torch.autograd.gradcheck"""
    return _gradcheck(fn, inputs, **options)


def gradgradcheck(fn: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """torch.autograd.gradgradcheck"""
    return _gradgradcheck(fn, inputs, grad_outputs, **options)


# -- decorators ---------------------------------------------------------------------------------------


def suppress_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Runs a test without warnings."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return run


def slowTest(function: Any) -> Any:
    """Skipped unless PYTORCH_TEST_WITH_SLOW=1."""
    return unittest.skipUnless(TEST_WITH_SLOW, "test is slow; run with PYTORCH_TEST_WITH_SLOW to enable test")(function)


def _never(*args: Any, **options: Any) -> Any:
    """A decorator for what is not the case here; as `@name` or as `@name(words)`."""
    return args[0] if len(args) == 1 and callable(args[0]) and not options else lambda function: function


skipIfRocm = skipIfTorchDynamo = xfailIfTorchDynamo = skipIfNoLapack = _never


def decorateIf(decorators: Any, predicate: Callable[[dict[str, Any]], bool]) -> Callable[[Any], Any]:
    """Decorates those tests of a parametrized one whose parameters fulfil a condition."""
    chosen = list(decorators) if isinstance(decorators, (list, tuple)) else [decorators]

    def mark(function: Any) -> Any:
        function._conditions = [*getattr(function, "_conditions", []), (chosen, predicate)]
        return function

    return mark


class subtest:
    """A set of values for @parametrize, with a name and decorators of its own."""

    __slots__ = ("arg_values", "decorators", "name")

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Sequence[Any] | None = None) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, list(decorators or [])


class parametrize:
    """Makes a test into one for each set of values, with names that say them: test_x becomes test_x_a_1, test_x_a_2. The class has to be handed to
    instantiate_parametrized_tests() when it is written. Two of them on one test give all combinations."""

    def __init__(self, arg_str: str, arg_values: Iterable[Any], name_fn: Callable[..., str] | None = None) -> None:
        self.names = [name.strip() for name in arg_str.split(",") if name.strip()]
        self.values, self.name_fn = list(arg_values), name_fn
        if not self.values and arg_str:
            raise ValueError(f"An empty arg_values was passed to @parametrize({arg_str!r}): a test without values would never run")

    def __call__(self, function: Any) -> Any:
        if inspect.isclass(function):
            raise RuntimeError("@parametrize decorates a test method, not a class")
        function._parametrized = [self, *getattr(function, "_parametrized", [])]
        return function

    def sets(self) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
        """A name, values by name, and decorators of each set."""
        for i, entry in enumerate(self.values):
            given = entry if isinstance(entry, subtest) else subtest(entry)
            values = [given.arg_values] if len(self.names) == 1 else list(given.arg_values)
            if len(values) != len(self.names):
                raise RuntimeError(
                    f"Expected # values == # arg names, but got: {len(values)} values and {len(self.names)} names for {','.join(self.names)}"
                )
            if given.name is not None:
                name = given.name
            elif self.name_fn is not None:
                name = self.name_fn(*values)
            else:
                name = "_".join(f"{n}_{_word(v)}" if _word(v) is not None else f"{n}{i}" for n, v in zip(self.names, values, strict=True))
            yield name, dict(zip(self.names, values, strict=True)), given.decorators


def _word(value: Any) -> str | None:
    """A value as part of a name; None where it has no short one."""
    if isinstance(value, torch.dtype):
        return dtype_name(value)
    if isinstance(value, torch.device):
        return str(value).replace(":", "_")
    if isinstance(value, (int, float, str, bool, type(None))):
        return re.sub(r"\W", "_", str(value))
    return getattr(value, "__name__", None)


def instantiate_parametrized_tests(generic_cls: Any) -> Any:
    """Replaces each test of a class that is @parametrize'd by one for each set of values. Also a decorator."""
    for name, test in list(vars(generic_cls).items()):
        marks: list[parametrize] = getattr(test, "_parametrized", [])
        if not marks:
            continue
        delattr(generic_cls, name)
        for chosen in itertools.product(*(list(mark.sets()) for mark in marks)):
            full = "_".join([name, *(part for part, _, _ in chosen)])
            values = {key: value for _, given, _ in chosen for key, value in given.items()}
            if hasattr(generic_cls, full):
                raise RuntimeError(f"Redefinition of test {full}: two sets of values have one name")
            setattr(generic_cls, full, _instance(test, full, values, [d for _, _, decorators in chosen for d in decorators]))
    return generic_cls


def _instance(test: Any, name: str, values: dict[str, Any], decorators: list[Any]) -> Any:
    @functools.wraps(test)
    def run(self: Any) -> Any:
        return test(self, **values)

    run.__name__, run.__qualname__ = name, test.__qualname__.rpartition(".")[0] + "." + name
    del run.__wrapped__  # pytest would look for fixtures of the test's names
    vars(run).pop("_parametrized")
    for chosen, predicate in vars(run).pop("_conditions", []):
        if predicate(values):
            decorators = [*decorators, *chosen]
    decorated: Any = run
    for decorator in decorators:
        decorated = decorator(decorated)
    return decorated


# -- the class of tests -------------------------------------------------------------------------------


class TestCase(unittest.TestCase):
    """A unittest.TestCase whose assertEqual compares tensors, numbers and what holds them up to rounding, and which seeds every test alike."""

    _precision = 0.0
    _rel_tol = 0.0
    __test__ = True

    @property
    def precision(self) -> float:
        """The least absolute tolerance."""
        return self._precision

    @precision.setter
    def precision(self, value: float) -> None:
        self._precision = value

    @property
    def rel_tol(self) -> float:
        """The least relative tolerance."""
        return self._rel_tol

    @rel_tol.setter
    def rel_tol(self, value: float) -> None:
        self._rel_tol = value

    def setUp(self) -> None:
        set_rng_seed(SEED)

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """Equal up to the tolerances of the dtype, or those given; of things that hold no numbers, equal."""
        if not _compared_by_number(x) and not _compared_by_number(y):
            super().assertEqual(x, y, msg)
            return
        if isinstance(x, torch.Tensor) != isinstance(y, torch.Tensor) and isinstance(x, (torch.Tensor, bool, int, float, complex)):
            x, y, exact_dtype = torch.as_tensor(x), torch.as_tensor(y), False
        if atol is None and rtol is None and (self.precision or self.rel_tol):
            atol, rtol = self.precision, self.rel_tol
        elif (atol is None) != (rtol is None):
            atol, rtol = atol or 0.0, rtol or 0.0
        assert_close(
            x, y, atol=atol, rtol=rtol, equal_nan=equal_nan, check_dtype=exact_dtype, check_device=exact_device, check_layout=exact_layout, check_stride=exact_stride,
            msg=(lambda words: f"{words}\n{msg}") if msg is not None and not callable(msg) else msg,
        )  # fmt: skip

    def assertNotEqual(  # type: ignore[override]
        self, x: Any, y: Any, msg: Any = None, *, atol: float | None = None, rtol: float | None = None, **options: Any
    ) -> None:
        """Not equal, in the sense of assertEqual."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **options)

    def assertEqualIgnoreType(self, *args: Any, **kwargs: Any) -> None:
        """assertEqual() whatever the dtypes."""
        self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertExpectedInline(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise NotImplementedError(
            "assertExpectedInline rewrites test files through the package expecttest: derive the test from its TestCase too"
        )

    assertExpected = assertExpectedInline

    @contextlib.contextmanager
    def assertNotWarn(self, callable: Callable[[], Any] | None = None, msg: str = "") -> Iterator[None]:
        """No warning in the block."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        if caught:
            self.fail(msg or f"a warning: {caught[0].message}")


def _compared_by_number(value: Any) -> bool:
    """Whether there is a tensor or a number with rounding in it."""
    if isinstance(value, (torch.Tensor, float, complex)):
        return True
    if isinstance(value, dict):
        return any(map(_compared_by_number, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_compared_by_number, value))


def run_tests(argv: Sequence[str] | None = None) -> None:
    """Runs the tests of the program, as unittest.main() does."""
    unittest.main(argv=list(sys.argv if argv is None else argv))
