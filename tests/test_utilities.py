"""Namespaces around the engine that only we have words for: benchmark, cpp_extension, __config__, what torch.library refuses."""

import pytest

import retrograd as torch
from retrograd.utils import benchmark, cpp_extension


def test_times_of_a_statement():
    timer = benchmark.Timer("x + 1", globals={"x": torch.ones(4)}, label="add", sub_label="4", description="here")
    once, often = timer.timeit(50), timer.blocked_autorange(min_run_time=0.01)
    assert (once.number_per_run, len(once.times)) == (50, 1) and 0 < once.median == once.mean < 1
    assert sum(often.raw_times) >= 0.01 and often.iqr >= 0 and "add: 4" in repr(often) and "measurements" in repr(often)
    assert timer.adaptive_autorange(0.5, max_run_time=0.2).median > 0
    assert torch.get_num_threads() >= 1


def test_measurements_in_a_table():
    task = benchmark.TaskSpec("x", "pass", label="sum", sub_label="small", description="one")
    other = benchmark.TaskSpec("x", "pass", label="sum", sub_label="small", description="two")
    table = benchmark.Compare([benchmark.Measurement(1, [2e-6, 4e-6], task), benchmark.Measurement(10, [1e-5], other)])
    table.extend_results([benchmark.Measurement(1, [3e-6], task)])
    table.colorize(rowwise=True)
    assert "3.0" in str(table) and "1.0 *" in str(table) and "microseconds (us)" in str(table)
    assert len(benchmark.Measurement.merge(table._results)) == 2
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        table.extend_results([3])


def test_what_is_not_timed():
    with pytest.raises(NotImplementedError, match="Callgrind"):
        benchmark.Timer("1").collect_callgrind()
    with pytest.raises(NotImplementedError, match=r"C\+\+"):
        benchmark.Timer("1", language="c++")
    with pytest.raises(ValueError, match="str"):
        benchmark.Timer(lambda: 1)


@pytest.mark.parametrize(
    "call", [lambda: cpp_extension.load("x", []), lambda: cpp_extension.CppExtension("x", []), cpp_extension.include_paths]
)
def test_extensions_are_refused_in_words(call):
    with pytest.raises(RuntimeError, match=r"PyTorch's C\+\+ interface.*torch.library.custom_op"):
        call()


def test_how_it_was_built():
    assert "retrograd" in torch.__config__.show() and "threads" in torch.__config__.parallel_info()


def test_what_libraries_refuse():
    with pytest.raises(NotImplementedError, match="Triton"):
        torch.library.triton_op("lib_refused::a", mutates_args=())
    with pytest.raises(NotImplementedError, match="__torch_dispatch__"):
        torch.library.register_torch_dispatch("lib_refused::a", object)
    with pytest.raises(OSError, match="custom_op"):
        torch.ops.load_library("x.so")
    with pytest.raises(RuntimeError, match="Could not find the operator lib_refused::a"):
        torch.library.register_fake("lib_refused::a")
    with pytest.raises(RuntimeError, match="cannot read the schema"):
        torch.library.define("lib_refused::b", "(Tensor x")


def test_lists_of_tensors_in_a_custom_op():
    @torch.library.custom_op("lib_lists::total", mutates_args=())
    def total(parts: list[torch.Tensor], scale: float) -> torch.Tensor:
        return sum(p.detach() for p in parts) * scale

    total.register_autograd(
        lambda ctx, grad: ([grad * ctx.scale] * ctx.count, None),
        setup_context=lambda ctx, inputs, output: ctx.__dict__.update(scale=inputs[1], count=len(inputs[0])),
    )
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    total([a, b], 3.0).sum().backward()
    assert a.grad.tolist() == b.grad.tolist() == [3.0, 3.0]


def test_autocast_of_a_custom_op():
    @torch.library.custom_op("lib_cast::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        assert not torch.is_autocast_enabled("cpu")
        return x.clone()

    same.register_autocast("cpu", torch.bfloat16)
    with torch.autocast("cpu"):
        assert same(torch.ones(2)).dtype is torch.bfloat16
    assert torch.ops.lib_cast.same.default._run([torch.ones(2)], {}).dtype is torch.float32


def test_a_recurrent_layer_with_hooks():
    layer, seen = torch.nn.GRU(3, 4), []
    layer.register_forward_hook(lambda module, args, output: seen.append(output[0].shape))
    layer(torch.ones(2, 1, 3))
    assert seen == [(2, 1, 4)]
