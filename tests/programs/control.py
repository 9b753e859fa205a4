"""Control flow as functions, settings, removed names, files as memory: what is left of torch's top level."""

import os
import tempfile


def choosing(torch, attempt, kind):
    x = torch.arange(3.0)
    attempt(lambda: torch.cond(torch.tensor(True), lambda a: a + 1, lambda a: a - 1, (x,)))
    attempt(lambda: torch.cond(False, lambda a: a + 1, lambda a: a - 1, (x,)))
    attempt(lambda: torch.cond(x[:1] > 0, lambda a: a + 1, lambda a: a * 2, (x,)))
    attempt(lambda: torch.cond("yes", lambda: x, lambda: x))
    attempt(lambda: torch.cond(torch.tensor([True, False]), lambda a: a, lambda a: a + 1, (x,)))


def choosing_with_gradients(torch, show):
    x = torch.arange(3.0, requires_grad=True)
    torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,)).sum().backward()
    show(x.grad)


def looping(torch, attempt):
    x = torch.ones(2)
    attempt(lambda: torch.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(0), x)))
    attempt(lambda: torch.while_loop(lambda i: i < 3, lambda i: (i + 1,), [torch.tensor(0)]))
    attempt(lambda: torch.while_loop(lambda i: False, lambda i: (i + 1,), (torch.tensor(0),)))
    attempt(lambda: torch.while_loop(3, lambda i: (i + 1,), (torch.tensor(0),)))


def deterministic_modes(torch, attempt, show):
    for mode in (1, "error", "warn", "default", 3, "x", 1.5):
        attempt(lambda mode=mode: torch.set_deterministic_debug_mode(mode))
        show(torch.get_deterministic_debug_mode(), torch.are_deterministic_algorithms_enabled())
        show(torch.is_deterministic_algorithms_warn_only_enabled())
    torch.use_deterministic_algorithms(True, warn_only=True)
    show(torch.get_deterministic_debug_mode())
    torch.set_deterministic_debug_mode("default")


def warning_always(torch, attempt, show):
    attempt(lambda: torch.set_warn_always(1))
    torch.set_warn_always(True)
    show(torch.is_warn_always_enabled())
    torch.set_warn_always(False)
    show(torch.is_warn_always_enabled(), torch.init_num_threads())


def removed_functions(torch, attempt):
    x = torch.eye(2)
    attempt(lambda: torch.matrix_rank(x))
    attempt(lambda: torch.eig(x))
    attempt(lambda: torch.symeig(x))
    attempt(lambda: torch.solve(x, x))
    attempt(lambda: torch.lstsq(x, x))


def small_questions(torch, attempt):
    x = torch.arange(3.0)
    attempt(lambda: (torch.get_device(x), torch.is_distributed(x), torch.legacy_contiguous_format))
    attempt(lambda: (issubclass(torch.OutOfMemoryError, RuntimeError), issubclass(torch.AcceleratorError, RuntimeError)))
    attempt(lambda: (torch.sym_int(-2.7), torch.sym_float(2), torch.sym_max(1, 2.0), torch.sym_max(3, 2.0), torch.sym_min(3, 2)))
    attempt(lambda: (torch.sym_not(3), torch.sym_ite(True, 1, 2), torch.sym_sqrt(4), torch.sym_sum([1, 2, 3])))
    attempt(lambda: torch.sym_ite(1, 1, 2))
    attempt(lambda: torch.sym_constrain_range(3, min=5))
    attempt(lambda: torch.sym_constrain_range(3, min=5, max=2))
    attempt(lambda: torch.sym_constrain_range_for_size(-3))
    attempt(lambda: torch.sym_constrain_range_for_size(3, max=2))
    attempt(lambda: (isinstance(x.size(0), torch.SymInt), isinstance(1.0, torch.SymFloat)))


def functions_in_place(torch, attempt):
    z = torch.tensor([1 + 2j, 3 - 1j])
    attempt(lambda: (torch.conj_physical_(z), z))
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    attempt(lambda: (torch.detach_(y), y.requires_grad))
    w = torch.tensor([-1.0, 2.0])
    attempt(lambda: (torch.rrelu_(w), w))


def running_statistics(torch, show):
    mean, var = torch.zeros(2), torch.ones(2)
    show(torch.batch_norm_update_stats(torch.arange(8.0).reshape(4, 2), mean, var, 0.1), mean, var)


def files_as_memory(torch, attempt, show):
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            shared = torch.from_file("numbers.bin", shared=True, size=4)
            show(shared)
            shared += 1
            show(torch.from_file("numbers.bin", size=4), os.path.getsize("numbers.bin"))
            private = torch.from_file("numbers.bin", size=2, dtype=torch.int32)
            private.zero_()
            show(private, shared)
            attempt(lambda: torch.from_file("nowhere.bin", size=4))
            attempt(lambda: torch.from_file("numbers.bin", shared=False, size=9))
            attempt(lambda: torch.from_file("numbers.bin"))
        finally:
            os.chdir(before)


def slices_undone(torch, show):
    x = torch.arange(6.0).reshape(3, 2)
    whole = torch.slice_inverse(x[1:2], x, 0, 1, 2)
    whole += 1
    show(x, x[:1].slice_inverse(x))


def capsules(torch, show):
    x = torch.arange(3.0)
    y = torch.from_dlpack(torch.to_dlpack(x))
    y += 1
    show(x)


def draws_of_successes(torch, attempt):
    torch.manual_seed(5)
    count = torch.tensor([[10.0], [200.0], [0.0], [1e6]])
    attempt(lambda: torch.binomial(count.expand(4, 3).contiguous(), torch.tensor([0.1, 0.5, 0.9]).expand(4, 3)))
    attempt(lambda: torch.binomial(count.double(), torch.rand(4, 1, dtype=torch.float64)))
    attempt(lambda: torch.binomial(torch.tensor([5.0, -1.0]), torch.tensor([1.0, 0.3])))
    attempt(lambda: torch.binomial(count, count.double()))
    attempt(lambda: torch.binomial(count.half(), count.half()))
    attempt(lambda: torch.rand(2))
    p = torch.tensor([0.5], requires_grad=True)
    attempt(lambda: torch.binomial(torch.tensor([5.0]), p).requires_grad)


def older_layers(torch, nn, show):
    show(nn.Container(a=nn.ReLU(), b=nn.Identity()))
    scores = torch.log_softmax(torch.arange(12.0).reshape(1, 3, 2, 2), 1)
    show(nn.NLLLoss2d()(scores, torch.zeros(1, 2, 2, dtype=torch.int64)))


def names_of_results(torch, show):
    show(type(torch.slogdet(torch.eye(2))).__name__, type(torch.linalg.slogdet(torch.eye(2))).__name__)


def grouped_products(torch, attempt):
    multiply = torch.nn.functional.grouped_mm
    a, b = torch.arange(48.0).reshape(6, 8), torch.arange(128.0).reshape(2, 8, 8)
    ends = torch.tensor([4, 6], dtype=torch.int32)
    attempt(lambda: multiply(a, b, offs=ends))
    attempt(lambda: multiply(a[:4], a.new_ones(8, 4), offs=torch.tensor([4, 8], dtype=torch.int32)))
    attempt(lambda: multiply(b, torch.ones(8, 8), offs=torch.tensor([4, 8], dtype=torch.int32)))
    attempt(lambda: multiply(b, b))
    attempt(lambda: multiply(a, b))
    attempt(lambda: multiply(a, b, offs=ends.long()))
    attempt(lambda: multiply(a, b, offs=ends[:1]))
    attempt(lambda: multiply(b, b, offs=ends))
    attempt(lambda: multiply(b[:1], b))
    attempt(lambda: multiply(a[0], b))
    attempt(lambda: multiply(a, b, offs=ends[None]))
    attempt(lambda: multiply(a[:, :4], b, offs=ends))
