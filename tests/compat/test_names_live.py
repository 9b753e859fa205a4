"""`from retrograd import *` and `dir()` beside PyTorch's."""

import importlib
import re
import types

import pytest

import retrograd

torch = pytest.importorskip("torch")


def test_star_import_gives_what_pytorchs_gives():
    """Every name of PyTorch's `__all__` that exists here, and beside them only functions about memory: PyTorch has those under torch.cuda."""
    shared = {name for name in torch.__all__ if hasattr(retrograd, name)}
    assert {name for name in shared - set(retrograd.__all__) if not isinstance(getattr(retrograd, name), types.ModuleType)} == set()
    extra = {name for name in retrograd.__all__ if not hasattr(torch, name)}
    assert {
        name
        for name in extra
        if getattr(retrograd, name).__module__ not in ("retrograd._settings", "retrograd._memory", "retrograd._as_torch")
    } == set()


@pytest.mark.parametrize("name", ["nn.functional", "linalg", "special", "fft", "signal.windows"])
def test_namespaces_hold_no_other_names(name):
    ours, theirs = retrograd, torch
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    assert [n for n in dir(ours) if not hasattr(theirs, n)] == []


# What PyTorch has and we leave out, by what it is for.
LEFT_OUT = {
    "quantisation": r".*quant.*|choose_qparams_optimized|Q\w+Storage|fbgemm_.*|q_.*|q(u)?int.*|per_(channel|tensor)_.*|qscheme|int_repr|chalf",
    "parts of a byte": r"u?int[1-7]|bit(s\w+)?",
    "other devices": r"cudnn_.*|miopen_.*|mkldnn_.*|to_mkldnn|ipu|xpu|mtia|is_vulkan_available|record_stream|Event|Stream|get_device_module"
    r"|profiler_allow_\w+|batch_norm_(stats|elemt|backward_\w+|gather_stats\w*)|native_norm",
    "the profiler": r"Profiler\w+|kineto_available|is_view_replay_enabled",
    "nested tensors": r"jagged|to_padded_tensor",
    "mixed precision": r".*autocast.*|GradScaler",
    "the compiler and TorchScript": r"compile|Future|fork|wait|.*Type|Script.*|.*ArgumentSpec|[A-Z]\w*(Graph|Info|Config|Stats|Plan|State)|Graph"
    r"|Argument|AliasDb|Block|BufferDict|CallStack|Capsule|Code|CompilationUnit|ConcreteModuleTypeBuilder|DeepCopyMemoTable|Node|Value|Use"
    r"|\w+StorageContext|DispatchKey\w*|ErrorReport|ExcludeDispatchKeyGuard|FatalError|FileCheck|FunctionSchema|Gradient|GraphExecutorState"
    r"|IODescriptor|JITException|LiteScriptModule|\w*Logger\w*|ModuleDict|ParameterDict|PyTorchFile\w+|StaticModule|Tag|ThroughputBenchmark"
    r"|TracingState|import_ir_\w+|merge_type_\w+|parse_\w+|unify_type_list|sym_fresh_size|AVG|SUM|BroadcastingList\d|boolean_dispatch"
    r"|assert_int_or_pair|StorageBase|PRIVATE_OPS|USE_\w+|compiled_with_cxx11_abi",
    "first class dimensions": r"index",
    "PyTorch's own build and documentation": r"TYPE_CHECKING|classproperty|get_file_path|prepare_multiprocessing_environment|thread_safe_generator"
    r"|common_(notes|args)|factory_common_args|inf|bind|copy_method_params|OpaqueBase|is_opaque_reference_type|is_traceable_wrapper_subclass|get_swap_module_params_on_conversion|is_tensor_like|multi_dim_common|\w+_notes|Callable|DType|Optional|Tensor|has_torch_function\w*|handle_torch_function",
}


def borrowed(value):
    """A module, or what PyTorch imported from Python's library for itself."""
    return isinstance(value, types.ModuleType) or not (getattr(value, "__module__", None) or "torch").startswith(("torch", "builtins"))


def missing(ours, theirs):
    names = (n for n in dir(theirs) if not n.startswith("_") and not borrowed(getattr(theirs, n, None)))
    return [n for n in names if not hasattr(ours, n) and not any(re.fullmatch(pattern, n) for pattern in LEFT_OUT.values())]


@pytest.mark.parametrize("name", ["", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.parametrize", "nn.utils.prune", "nn.utils.rnn", "linalg",
                                  "special", "fft", "signal.windows", "optim", "optim.lr_scheduler", "optim.swa_utils", "autograd", "func"])  # fmt: skip
def test_nothing_is_missing(name):
    ours, theirs = retrograd, torch
    if name == "Tensor":
        ours, theirs = ours.Tensor, theirs.Tensor
    elif name:
        ours, theirs = (importlib.import_module(f"{engine.__name__}.{name}") for engine in (ours, theirs))
    assert missing(ours, theirs) == []
