"""DataParallel on one device, and other small tools of nn and utils."""

import weakref
from importlib import import_module

from tests.programs import differs


def data_parallel(torch, nn, show):
    torch.manual_seed(0)
    m = nn.Linear(2, 2)
    d = nn.DataParallel(m)
    show(d, d(torch.ones(1, 2)), d(input=torch.ones(1, 2)), list(d.state_dict()), d.device_ids, d.module is m)


def without_other_devices(torch, nn, attempt):
    m = nn.Linear(2, 2)
    attempt(lambda: nn.parallel.gather([torch.ones(2)], "cpu"))
    attempt(lambda: nn.parallel.scatter(torch.ones(4), ["cpu"]))
    attempt(lambda: nn.parallel.replicate(m, [0]))
    attempt(lambda: nn.parallel.parallel_apply([m, m], [(torch.ones(2, 2),)]))
    attempt(lambda: nn.parallel.DistributedDataParallel(m))


@differs("PyTorch wants an accelerator")
def on_the_cpu(torch, nn, attempt):
    m = nn.Linear(2, 2)
    attempt(lambda: nn.parallel.data_parallel(m, torch.ones(3, 2)).shape)
    attempt(lambda: [y.shape for y in nn.parallel.parallel_apply([m, m], [torch.ones(1, 2), (torch.ones(2, 2),)])])


def factory_kwargs(torch, nn, show, attempt):
    f = nn.factory_kwargs
    show(f(None), f({}), f({"device": "cpu"}), f({"device": "cpu", "factory_kwargs": {"dtype": 3}}))
    attempt(lambda: f({"factory_kwargs": {"device": 3}, "device": "cpu"}))
    attempt(lambda: f({"foo": 3}))


def swapping(torch, nn, show, attempt):
    swap = torch.utils.swap_tensors
    a, b = nn.Parameter(torch.ones(2)), torch.zeros(3)
    a.grad = torch.full((2,), 5.0)
    a.note = "a"
    first, second = a, b
    show(swap(a, b), a, b, a is first, b is second, a.grad, b.grad, hasattr(a, "note"), b.note)
    a, b = torch.ones(2), torch.zeros(2, dtype=torch.float64)
    swap(a, b)
    show(a, b)
    c = torch.ones(2)
    reference = weakref.ref(c)
    attempt(lambda: swap(c, torch.zeros(2)))
    show(reference() is c)


def parts_of_parallel_by_module(torch, nn, show, attempt):
    modules = ("data_parallel", "replicate", "parallel_apply", "scatter_gather", "comm")
    found = {name: import_module(f"{torch.__name__}.nn.parallel.{name}") for name in modules}
    show([sorted(getattr(found[name], "__all__", ())) for name in modules])
    show([getattr(nn.parallel, name) is getattr(found[name], name) for name in modules[:3]], nn.parallel.comm is found["comm"])
    show(
        found["data_parallel"].DataParallel is nn.DataParallel,
        found["scatter_gather"].scatter is nn.parallel.scatter,
        nn.utils.fusion.__name__.split(".", 1),
    )
    get = found["parallel_apply"].get_a_var
    show(get([1, {"a": torch.ones(2)}]), get(3), get({}), get((torch.zeros(1), torch.ones(1))))
    attempt(lambda: found["comm"].reduce_add([torch.ones(2)]))
