"""What is said of devices and libraries that are not there: torch.accelerator, xpu, mps, mtia, cuda, backends."""


def accelerators(torch, show, attempt):
    a = torch.accelerator
    show(a.is_available(), a.device_count(), a.current_accelerator())
    for name in (
        "current_device_index",
        "current_stream",
        "synchronize",
        "memory_allocated",
        "empty_cache",
        "memory_stats",
        "get_memory_info",
        "Graph",
    ):
        attempt(getattr(a, name), name)
    attempt(lambda: a.set_device_index(0))
    with a.device_index(None):
        show("none")
    attempt(lambda: a.device_index(0).__enter__())


def other_devices(torch, show, attempt, kind):
    for device in (torch.xpu, torch.mps, torch.mtia):
        show(device.is_available(), device.device_count())
    show(
        torch.xpu.memory_allocated(),
        torch.xpu.empty_cache(),
        torch.xpu.manual_seed(1),
        torch.xpu.is_bf16_supported(),
        torch.mtia.memory_stats(),
    )
    for name in ("current_device", "get_device_name", "synchronize", "get_device_properties"):
        attempt(getattr(torch.xpu, name), name)
    kind(torch.mps.empty_cache)
    kind(torch.mtia.current_device)


def streams_and_events(torch, show, attempt):
    show(torch.Stream(), torch.Stream() == torch.Stream(), torch.Stream().query(), torch.Stream().synchronize())
    show(torch.Event(), torch.Event().query())
    for wrong in (
        lambda: torch.Stream(device="cuda"),
        lambda: torch.Event(device="cuda"),
        lambda: torch.Stream().record_event(),
        lambda: torch.Event().record(),
        lambda: torch.Event().elapsed_time(torch.Event()),
    ):
        attempt(wrong)


def cuda_types(torch, show, attempt):
    show(
        torch.cuda.FloatTensor.__name__,
        torch.cuda.FloatTensor.dtype,
        isinstance(torch.ones(1), torch.cuda.FloatTensor),
        torch.cuda.LongTensor.dtype,
    )
    attempt(lambda: torch.cuda.FloatTensor(2))
    attempt(lambda: torch.cuda.nvtx.range_push("a"))
    for name in ("current_blas_handle", "cudart", "get_sync_debug_mode"):
        attempt(getattr(torch.cuda, name), name)
    show(torch.cuda.set_rng_state_all([]), torch.cuda.set_stream(None), torch.cuda.host_memory_stats_as_nested_dict())


def settings_of_cudnn(torch, show):
    cudnn = torch.backends.cudnn
    show(cudnn.is_available(), cudnn.version(), cudnn.is_acceptable(torch.ones(1)))
    show(cudnn.enabled, cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32)
    cudnn.benchmark = True
    show(torch.backends.cudnn.benchmark)
    with cudnn.flags(enabled=False, deterministic=True):
        show(cudnn.enabled, cudnn.benchmark, cudnn.deterministic)
    show(cudnn.enabled, cudnn.benchmark, cudnn.deterministic)
    cudnn.benchmark = False


def settings_of_cuda(torch, show, attempt):
    cuda = torch.backends.cuda
    show(cuda.is_built(), cuda.matmul.allow_tf32, cuda.matmul.allow_fp16_reduced_precision_reduction, cuda.is_flash_attention_available())
    attempt(lambda: cuda.matmul.nonsense)
    attempt(lambda: setattr(cuda.matmul, "nonsense", 1))
    attempt(lambda: cuda.cufft_plan_cache.size)
    ask = (cuda.flash_sdp_enabled, cuda.math_sdp_enabled, cuda.mem_efficient_sdp_enabled)
    show([f() for f in ask])
    with cuda.sdp_kernel(enable_flash=False):
        show([f() for f in ask])
    cuda.enable_math_sdp(False)
    show([f() for f in ask])
    cuda.enable_math_sdp(True)
    show([f() for f in ask])


def precision_of_products(torch, show):
    before = torch.get_float32_matmul_precision()
    torch.backends.cuda.matmul.allow_tf32 = True
    show(torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_tf32)
    torch.set_float32_matmul_precision("highest")
    show(torch.backends.cuda.matmul.allow_tf32)
    torch.set_float32_matmul_precision(before)


def other_libraries(torch, show):
    b = torch.backends
    show(
        b.mps.is_available(),
        b.mps.is_built(),
        b.kleidiai.is_available(),
        b.cusparselt.is_available(),
        b.mkldnn.enabled,
        b.mha.get_fastpath_enabled(),
    )
    show(b.mkldnn.enabled, b.opt_einsum.is_available(), b.opt_einsum.get_opt_einsum())
