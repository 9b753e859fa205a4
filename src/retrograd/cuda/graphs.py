"""Work of a device recorded to run again, which needs a CUDA build."""

from retrograd.cuda import CUDAGraph, graph, graph_pool_handle, is_current_stream_capturing, make_graphed_callables  # noqa: F401
