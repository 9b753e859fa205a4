"""retrograd: PyTorch's autograd built again, small and fast.

`import retrograd as torch` runs autograd code written for PyTorch. Heavy parts (nn, optim, testing, ...) are imported when first used.
What is put here at run time, the ops of the table and those parts, stands under TYPE_CHECKING for tools to see; tests/test_typing.py holds the two together.
"""

import importlib as _importlib
import math as _math
import os as _os
import sys as _sys
import typing as _typing

from retrograd import _C
from retrograd.version import __version__ as __version__

_package_dir = _os.path.dirname(_os.path.abspath(__file__)) + _os.sep
_C._set_paths(_package_dir, _os.path.dirname(_os.__file__) + _os.sep, _os.path.join(_package_dir, ".libs", "libscipy_openblas.so"))

from retrograd._C import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
    Generator as Generator,
    Size as Size,
    Tensor as Tensor,
    bfloat16 as bfloat16,
    bits1x8 as bits1x8,
    bits2x4 as bits2x4,
    bits4x2 as bits4x2,
    bits8 as bits8,
    bits16 as bits16,
    bool as bool,
    can_cast as can_cast,
    cdouble as cdouble,
    cfloat as cfloat,
    chalf as chalf,
    channels_last as channels_last,
    channels_last_3d as channels_last_3d,
    complex32 as complex32,
    complex64 as complex64,
    complex128 as complex128,
    contiguous_format as contiguous_format,
    default_generator as default_generator,
    device as device,
    double as double,
    dtype as dtype,
    float as float,
    float4_e2m1fn_x2 as float4_e2m1fn_x2,
    float8_e4m3fn as float8_e4m3fn,
    float8_e4m3fnuz as float8_e4m3fnuz,
    float8_e5m2 as float8_e5m2,
    float8_e5m2fnuz as float8_e5m2fnuz,
    float8_e8m0fnu as float8_e8m0fnu,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    get_default_dtype as get_default_dtype,
    get_num_threads as get_num_threads,
    half as half,
    int as int,
    int1 as int1,
    int2 as int2,
    int3 as int3,
    int4 as int4,
    int5 as int5,
    int6 as int6,
    int7 as int7,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    jagged as jagged,
    layout as layout,
    long as long,
    memory_format as memory_format,
    preserve_format as preserve_format,
    promote_types as promote_types,
    qint8 as qint8,
    qint32 as qint32,
    quint2x4 as quint2x4,
    quint4x2 as quint4x2,
    quint8 as quint8,
    result_type as result_type,
    set_default_dtype as set_default_dtype,
    set_num_threads as set_num_threads,
    short as short,
    sparse_bsc as sparse_bsc,
    sparse_bsr as sparse_bsr,
    sparse_coo as sparse_coo,
    sparse_csc as sparse_csc,
    sparse_csr as sparse_csr,
    strided as strided,
    uint1 as uint1,
    uint2 as uint2,
    uint3 as uint3,
    uint4 as uint4,
    uint5 as uint5,
    uint6 as uint6,
    uint7 as uint7,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
legacy_contiguous_format = contiguous_format
has_lapack = has_spectral = True
has_mkl = has_openmp = False

from retrograd import _tensor

_tensor.install()

from retrograd._ops import install as _install_ops

_install_ops(globals())

from retrograd import autograd as autograd
from retrograd._memory import *  # noqa: F403
from retrograd._ops.create import (
    as_tensor as as_tensor,
    asarray as asarray,
    from_dlpack as from_dlpack,
    from_file as from_file,
    from_numpy as from_numpy,
    frombuffer as frombuffer,
    tensor as tensor,
)
from retrograd._ops.queries import *  # noqa: F403
from retrograd._settings import *  # noqa: F403
from retrograd._types import *  # noqa: F403
from retrograd.autograd.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from retrograd.random import (
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)

if _typing.TYPE_CHECKING:
    from retrograd import (
        __config__ as __config__,
        __future__ as __future__,
        _dynamo as _dynamo,
        _inductor as _inductor,
        accelerator as accelerator,
        amp as amp,
        ao as ao,
        backends as backends,
        cli as cli,
        compiler as compiler,
        cpu as cpu,
        cuda as cuda,
        distributed as distributed,
        distributions as distributions,
        doctor as doctor,
        export as export,
        fft as fft,
        func as func,
        functional as functional,
        futures as futures,
        fx as fx,
        hub as hub,
        jit as jit,
        library as library,
        linalg as linalg,
        masked as masked,
        mps as mps,
        mtia as mtia,
        multiprocessing as multiprocessing,
        nested as nested,
        nn as nn,
        onnx as onnx,
        ops as ops,
        optim as optim,
        overrides as overrides,
        package as package,
        profiler as profiler,
        quasirandom as quasirandom,
        random as random,
        return_types as return_types,
        serialization as serialization,
        signal as signal,
        sparse as sparse,
        special as special,
        storage as storage,
        testing as testing,
        torch_version as torch_version,
        types as types,
        utils as utils,
        version as version,
        viz as viz,
        xpu as xpu,
    )
    from retrograd._as_torch import install_as_torch as install_as_torch
    from retrograd._checks import (
        _assert as _assert,
        _check as _check,
        _check_index as _check_index,
        _check_is_size as _check_is_size,
        _check_not_implemented as _check_not_implemented,
        _check_tensor_all as _check_tensor_all,
        _check_type as _check_type,
        _check_value as _check_value,
        _check_with as _check_with,
    )
    from retrograd._compile import compile as compile
    from retrograd._control import cond as cond, while_loop as while_loop
    from retrograd._file_reader import PyTorchFileReader as PyTorchFileReader
    from retrograd._generated.functions import *  # noqa: F403
    from retrograd._info import finfo as finfo, iinfo as iinfo
    from retrograd._old_names import (
        eig as eig,
        lstsq as lstsq,
        matrix_rank as matrix_rank,
        solve as solve,
        symeig as symeig,
    )
    from retrograd._ops.amp import (
        _amp_foreach_non_finite_check_and_unscale_ as _amp_foreach_non_finite_check_and_unscale_,
        _amp_update_scale_ as _amp_update_scale_,
    )
    from retrograd._ops.foreach import *  # noqa: F403
    from retrograd._ops.nn.activations import rrelu_ as rrelu_
    from retrograd._ops.nn.normalize import batch_norm_update_stats as batch_norm_update_stats
    from retrograd._ops.nn.scaled import _scaled_mm as _scaled_mm
    from retrograd._ops.sparse.construct import (
        sparse_bsc_tensor as sparse_bsc_tensor,
        sparse_bsr_tensor as sparse_bsr_tensor,
        sparse_compressed_tensor as sparse_compressed_tensor,
        sparse_coo_tensor as sparse_coo_tensor,
        sparse_csc_tensor as sparse_csc_tensor,
        sparse_csr_tensor as sparse_csr_tensor,
    )
    from retrograd._ops.sparse.old_names import (
        ccol_indices_copy as ccol_indices_copy,
        col_indices_copy as col_indices_copy,
        crow_indices_copy as crow_indices_copy,
        dsmm as dsmm,
        hsmm as hsmm,
        indices_copy as indices_copy,
        resize_as_sparse_ as resize_as_sparse_,
        row_indices_copy as row_indices_copy,
        saddmm as saddmm,
        values_copy as values_copy,
    )
    from retrograd._ops.sparse.products import hspmm as hspmm, smm as smm, spmm as spmm, sspaddmm as sspaddmm
    from retrograd._streams import Event as Event, Stream as Stream, get_device_module as get_device_module
    from retrograd._symbolic import *  # noqa: F403
    from retrograd._tensor_str import set_printoptions as set_printoptions
    from retrograd.amp import GradScaler as GradScaler, autocast as autocast
    from retrograd.amp._state import (
        autocast_decrement_nesting as autocast_decrement_nesting,
        autocast_increment_nesting as autocast_increment_nesting,
        clear_autocast_cache as clear_autocast_cache,
        get_autocast_cpu_dtype as get_autocast_cpu_dtype,
        get_autocast_dtype as get_autocast_dtype,
        get_autocast_gpu_dtype as get_autocast_gpu_dtype,
        get_autocast_ipu_dtype as get_autocast_ipu_dtype,
        get_autocast_xla_dtype as get_autocast_xla_dtype,
        is_autocast_cache_enabled as is_autocast_cache_enabled,
        is_autocast_cpu_enabled as is_autocast_cpu_enabled,
        is_autocast_enabled as is_autocast_enabled,
        is_autocast_ipu_enabled as is_autocast_ipu_enabled,
        is_autocast_xla_enabled as is_autocast_xla_enabled,
        set_autocast_cache_enabled as set_autocast_cache_enabled,
        set_autocast_cpu_dtype as set_autocast_cpu_dtype,
        set_autocast_cpu_enabled as set_autocast_cpu_enabled,
        set_autocast_dtype as set_autocast_dtype,
        set_autocast_enabled as set_autocast_enabled,
        set_autocast_gpu_dtype as set_autocast_gpu_dtype,
        set_autocast_ipu_dtype as set_autocast_ipu_dtype,
        set_autocast_ipu_enabled as set_autocast_ipu_enabled,
        set_autocast_xla_dtype as set_autocast_xla_dtype,
        set_autocast_xla_enabled as set_autocast_xla_enabled,
    )
    from retrograd.autograd.anomaly_mode import (
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
        is_anomaly_enabled as is_anomaly_enabled,
        set_anomaly_enabled as set_anomaly_enabled,
    )
    from retrograd.cuda import AcceleratorError as AcceleratorError, OutOfMemoryError as OutOfMemoryError
    from retrograd.func import vmap as vmap
    from retrograd.futures import Future as Future
    from retrograd.jit import ScriptFunction as ScriptFunction, ScriptModule as ScriptModule, fork as fork, wait as wait
    from retrograd.serialization import load as load, save as save
    from retrograd.storage import (
        BFloat16Storage as BFloat16Storage,
        BoolStorage as BoolStorage,
        ByteStorage as ByteStorage,
        CharStorage as CharStorage,
        ComplexDoubleStorage as ComplexDoubleStorage,
        ComplexFloatStorage as ComplexFloatStorage,
        DoubleStorage as DoubleStorage,
        FloatStorage as FloatStorage,
        HalfStorage as HalfStorage,
        IntStorage as IntStorage,
        LongStorage as LongStorage,
        ShortStorage as ShortStorage,
        Storage as Storage,
        StorageBase as StorageBase,
        TypedStorage as TypedStorage,
        UntypedStorage as UntypedStorage,
        is_storage as is_storage,
    )
    from retrograd.utils.dlpack import to_dlpack as to_dlpack
else:
    _LAZY = {
        "finfo": "retrograd._info",
        "iinfo": "retrograd._info",
        "set_printoptions": "retrograd._tensor_str",
        "load": "retrograd.serialization",
        "vmap": "retrograd.func",
        "save": "retrograd.serialization",
        "UntypedStorage": "retrograd.storage",
        "TypedStorage": "retrograd.storage",
        "Storage": "retrograd.storage",
        "StorageBase": "retrograd.storage",
        "PyTorchFileReader": "retrograd._file_reader",
        "ScriptFunction": "retrograd.jit",
        "ScriptModule": "retrograd.jit",
        **{
            f"{kind}Storage": "retrograd.storage"
            for kind in (
                "Bool",
                "Byte",
                "Char",
                "Short",
                "Int",
                "Long",
                "Half",
                "BFloat16",
                "Float",
                "Double",
                "ComplexFloat",
                "ComplexDouble",
            )
        },
        **{f"sparse_{kind}_tensor": "retrograd._ops.sparse.construct" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed")},
        **dict.fromkeys(("hspmm", "smm", "spmm", "sspaddmm"), "retrograd._ops.sparse.products"),
        **dict.fromkeys(
            (
                "ccol_indices_copy",
                "col_indices_copy",
                "crow_indices_copy",
                "dsmm",
                "hsmm",
                "indices_copy",
                "resize_as_sparse_",
                "row_indices_copy",
                "saddmm",
                "values_copy",
            ),
            "retrograd._ops.sparse.old_names",
        ),
        "is_storage": "retrograd.storage",
        **dict.fromkeys(("Event", "Stream", "get_device_module"), "retrograd._streams"),
        "install_as_torch": "retrograd._as_torch",
        **dict.fromkeys(("GradScaler", "autocast"), "retrograd.amp"),
        **dict.fromkeys(
            (
                "autocast_decrement_nesting",
                "autocast_increment_nesting",
                "clear_autocast_cache",
                "get_autocast_cpu_dtype",
                "get_autocast_dtype",
                "get_autocast_gpu_dtype",
                "get_autocast_ipu_dtype",
                "get_autocast_xla_dtype",
                "is_autocast_cache_enabled",
                "is_autocast_cpu_enabled",
                "is_autocast_enabled",
                "is_autocast_ipu_enabled",
                "is_autocast_xla_enabled",
                "set_autocast_cache_enabled",
                "set_autocast_cpu_dtype",
                "set_autocast_cpu_enabled",
                "set_autocast_dtype",
                "set_autocast_enabled",
                "set_autocast_gpu_dtype",
                "set_autocast_ipu_dtype",
                "set_autocast_ipu_enabled",
                "set_autocast_xla_dtype",
                "set_autocast_xla_enabled",
            ),
            "retrograd.amp._state",
        ),
        **dict.fromkeys(("cond", "while_loop"), "retrograd._control"),
        "compile": "retrograd._compile",
        **dict.fromkeys(("fork", "wait"), "retrograd.jit"),
        "Future": "retrograd.futures",
        "_assert": "retrograd._checks",
        **{
            f"_check{what}": "retrograd._checks"
            for what in ("", "_index", "_is_size", "_not_implemented", "_tensor_all", "_type", "_value", "_with")
        },
        **dict.fromkeys(("eig", "lstsq", "matrix_rank", "solve", "symeig"), "retrograd._old_names"),
        **dict.fromkeys(("AcceleratorError", "OutOfMemoryError"), "retrograd.cuda"),
        **dict.fromkeys(("SymBool", "SymFloat", "SymInt", "sym_constrain_range", "sym_constrain_range_for_size"), "retrograd._symbolic"),
        **{f"sym_{what}": "retrograd._symbolic" for what in ("float", "int", "ite", "max", "min", "not", "sqrt", "sum")},
        "rrelu_": "retrograd._ops.nn.activations",
        "_scaled_mm": "retrograd._ops.nn.scaled",
        "batch_norm_update_stats": "retrograd._ops.nn.normalize",
        "to_dlpack": "retrograd.utils.dlpack",
        "is_anomaly_enabled": "retrograd.autograd.anomaly_mode",
        "set_anomaly_enabled": "retrograd.autograd.anomaly_mode",
        "is_anomaly_check_nan_enabled": "retrograd.autograd.anomaly_mode",
    }
    _MODULES = {
        "__config__",
        "__future__",
        "_dynamo",
        "_higher_order_ops",
        "_inductor",
        "accelerator",
        "amp",
        "ao",
        "backends",
        "cli",
        "compiler",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "doctor",
        "export",
        "fft",
        "func",
        "functional",
        "futures",
        "fx",
        "hub",
        "jit",
        "library",
        "linalg",
        "masked",
        "mps",
        "mtia",
        "multiprocessing",
        "nested",
        "nn",
        "onnx",
        "ops",
        "optim",
        "overrides",
        "package",
        "profiler",
        "quasirandom",
        "random",
        "return_types",
        "serialization",
        "signal",
        "sparse",
        "special",
        "storage",
        "testing",
        "torch_version",
        "types",
        "utils",
        "version",
        "viz",
        "xpu",
    }

    def _core_name(name):
        """torch._C.name: what libraries read there beside the core."""
        if name[:2] != "__":
            value = getattr(_importlib.import_module("retrograd._core_names"), name, None)
            if value is not None:
                return value
        raise AttributeError(f"module '{_C.__name__}' has no attribute {name!r}")

    _C.__getattr__ = _core_name

    def _finish_imports():
        """Before a fork: what another thread is importing (an op or a backward may, the first time) would stay locked in the child for ever."""

        def running():
            modules = ((name, getattr(module, "__spec__", None)) for name, module in list(_sys.modules.items()))
            return [name for name, spec in modules if name.startswith("retrograd.") and getattr(spec, "_initializing", False)]

        before = None
        while (names := running()) and names != before:  # the same again: they are this thread's own
            before = names
            for name in names:
                _importlib.import_module(name)
            if "retrograd.doctor._watch" in _sys.modules:
                _importlib.import_module("retrograd.doctor._checks")  # which come next

    if hasattr(_os, "register_at_fork"):
        _os.register_at_fork(before=_finish_imports)

    def __getattr__(name):
        if name in _LAZY:
            value = getattr(_importlib.import_module(_LAZY[name]), name)
        elif name.startswith(("_foreach_", "_amp_")):
            value = getattr(_importlib.import_module(f"retrograd._ops.{name.split('_')[1]}"), name)
        elif name in _MODULES:
            value = _importlib.import_module(f"retrograd.{name}")
        else:
            from retrograd._missing import missing

            raise missing(__name__, name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted(set(globals()) | set(_LAZY) | _MODULES)

    __all__ = sorted(
        name for name, value in (globals() | _LAZY).items() if not name.startswith("_") and not isinstance(value, type(_typing))
    )
