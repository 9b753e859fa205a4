"""Settings of torch._inductor. There is no compiler: they are kept, and change nothing."""

import sys

from retrograd._settings_module import Group, SettingsModule

allow_buffer_reuse = True
benchmark_kernel = False
compile_threads = 1
conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_tuning = False
cpp_wrapper = False
debug = False
disable_progress = True
dynamic_scale_rblock = True
emulate_precision_casts = False
epilogue_fusion = True
fallback_random = False
force_disable_caches = False
freezing = False
fx_graph_cache = True
fx_graph_remote_cache = None
max_autotune = False
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
max_autotune_pointwise = False
optimize_scatter_upon_const_tensor = True
permute_fusion = False
reorder_for_compute_comm_overlap = False
reorder_for_locality = True
search_autotune_cache = False
shape_padding = True
size_asserts = True
use_mixed_mm = False

cpp = Group(threads=-1, simdlen=None, min_chunk_size=4096, enable_kernel_profile=False)
trace = Group(enabled=False, debug_dir=None, graph_diagram=False)
triton = Group(
    autotune_at_compile_time=None,
    autotune_cublasLt=True,
    cudagraph_skip_dynamic_graphs=False,
    cudagraph_trees=True,
    cudagraphs=False,
    unique_kernel_names=True,
    persistent_reductions=True,
)

sys.modules[__name__].__class__ = SettingsModule
