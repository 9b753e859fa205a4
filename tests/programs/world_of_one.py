"""torch.distributed in a world of one process, and DistributedDataParallel over it."""

from contextlib import contextmanager
from importlib import import_module


@contextmanager
def _world(torch):
    dist = import_module(f"{torch.__name__}.distributed")
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    try:
        yield dist
    finally:
        dist.destroy_process_group()


def before_there_is_a_group(torch, show, attempt):
    dist = import_module(f"{torch.__name__}.distributed")
    show(
        dist.is_available(),
        dist.is_initialized(),
        dist.is_nccl_available(),
        dist.is_gloo_available(),
        dist.is_mpi_available(),
        dist.group.WORLD is None,
    )
    for ask in (
        dist.get_rank,
        dist.get_world_size,
        dist.get_backend,
        dist.barrier,
        dist.destroy_process_group,
        lambda: dist.new_group([0]),
    ):
        attempt(ask)
    attempt(lambda: dist.all_reduce(torch.ones(2)))
    attempt(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1)))
    attempt(lambda: dist.init_process_group("gloo", rank=0, world_size=1, init_method="bad://x"))
    attempt(dist.get_node_local_rank)
    show(dist.get_node_local_rank(3), dist.Backend("GLOO"), dist.Backend.NCCL, dist.ReduceOp.SUM, dist.is_initialized())


def questions(torch, show, attempt):
    with _world(torch) as dist:
        show(dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.group.WORLD is dist.GroupMember.WORLD)
        show(
            dist.group.WORLD.size(), dist.group.WORLD.rank(), dist.get_process_group_ranks(None), dist.get_global_rank(dist.group.WORLD, 0)
        )
        attempt(lambda: dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore()))
        attempt(lambda: dist.new_group([0, 1]))
        part = dist.new_group([0])
        show(dist.get_rank(part), dist.get_world_size(part), dist.get_group_rank(part, 0), isinstance(part, dist.ProcessGroup))
        dist.destroy_process_group(part)
        show(dist.is_initialized(), dist.ReduceOp.SUM == dist.ReduceOp.SUM, dist.ReduceOp.SUM == dist.ReduceOp.MAX)
    show(dist.is_initialized(), dist.group.WORLD is None)


def collectives(torch, show, attempt):
    with _world(torch) as dist:
        x, y = torch.arange(3.0), torch.zeros(3)
        show(dist.all_reduce(x), dist.all_reduce(x, op=dist.ReduceOp.AVG), x)
        work = dist.all_reduce(x, async_op=True)
        show(work.wait(), x)
        show(dist.broadcast(x, 0), dist.reduce(x, 0), dist.barrier(), dist.monitored_barrier())
        for write in (
            lambda: dist.all_gather([y], x),
            lambda: dist.all_gather_into_tensor(y, x + 1),
            lambda: dist.gather(x, [y], 0),
            lambda: dist.scatter(y, [x + 2], 0),
            lambda: dist.reduce_scatter(y, [x]),
            lambda: dist.reduce_scatter_tensor(y, x + 3),
            lambda: dist.all_to_all([y], [x]),
            lambda: dist.all_to_all_single(y, x + 4),
        ):
            attempt(write)
            show(y)
        for wrong in (
            lambda: dist.all_reduce(3),
            lambda: dist.broadcast(x, src=1),
            lambda: dist.reduce(x, 1),
            lambda: dist.all_gather([y, y], x),
            lambda: dist.all_gather([torch.zeros(2)], x),
            lambda: dist.all_gather_into_tensor(torch.zeros(4), x),
            lambda: dist.gather(x, None, 0),
            lambda: dist.scatter(y, None, 0),
            lambda: dist.send(x, 0),
        ):
            attempt(wrong)


def objects(torch, show):
    with _world(torch) as dist:
        found, given = [None], {"a": [1, torch.ones(2)]}
        dist.all_gather_object(found, given)
        show(found, found[0] is given)
        listed = [1, "b"]
        dist.broadcast_object_list(listed, 0)
        dist.gather_object(5, found, 0)
        show(listed, found)
        dist.scatter_object_list(found, [{"c": 2}], 0)
        show(found)


def collectives_with_derivatives(torch, leaf, show):
    functional = import_module(f"{torch.__name__}.distributed.nn.functional")
    with _world(torch):
        x = leaf(1.0, 2.0)
        (functional.all_reduce(x * 2).sum() + functional.all_gather(x)[0].pow(2).sum()).backward()
        show(x.grad)


def stores(torch, show, attempt):
    dist = import_module(f"{torch.__name__}.distributed")
    store = dist.HashStore()
    store.set("a", "1")
    show(
        store.get("a"),
        store.add("n", 2),
        store.add("n", 3),
        store.check(["a"]),
        store.check(["b"]),
        store.delete_key("a"),
        store.check(["a"]),
    )
    inner = dist.PrefixStore("p", store)
    inner.set("k", "v")
    show(inner.get("k"), store.get("p/k"))


def data_parallel_over_one(torch, nn, show, attempt):
    with _world(torch):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
        model = nn.parallel.DistributedDataParallel(net)
        show(list(model.state_dict()), model.module is net, type(model).__name__)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        x = torch.randn(8, 2)
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            show(loss)
        with model.no_sync():
            model(x).sum().backward()
        show(net[0].weight.grad.abs().sum() > 0)
        attempt(lambda: nn.parallel.DistributedDataParallel(nn.ReLU()))
        show(nn.SyncBatchNorm.convert_sync_batchnorm(net)[1].__class__.__name__)


def states_by_name(torch, nn, show):
    state_dict = import_module(f"{torch.__name__}.distributed.checkpoint.state_dict")
    with _world(torch):
        torch.manual_seed(0)
        net = nn.Linear(2, 1)
        model = nn.parallel.DistributedDataParallel(net)
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        state = state_dict.get_optimizer_state_dict(model, optimizer)
        show(sorted(state["state"]), [group["params"] for group in state["param_groups"]], list(state_dict.get_model_state_dict(model)))
        state_dict.set_optimizer_state_dict(model, optimizer, state)
        state_dict.set_model_state_dict(model, {"weight": torch.zeros(1, 2), "bias": torch.ones(1)})
        show(net.weight, net.bias, optimizer.state[net.weight]["step"])


def the_redundancy_of_one(torch, nn, show):
    optim = import_module(f"{torch.__name__}.distributed.optim")
    with _world(torch):
        torch.manual_seed(0)
        net = nn.Linear(2, 1)
        optimizer = optim.ZeroRedundancyOptimizer(net.parameters(), optimizer_class=torch.optim.SGD, lr=0.1)
        net(torch.ones(1, 2)).sum().backward()
        before = net.bias.detach().clone()
        optimizer.step()
        show(net.bias - before)


def meshes(torch, show, attempt):
    device_mesh = import_module(f"{torch.__name__}.distributed.device_mesh")
    with _world(torch):
        mesh = device_mesh.init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        show(
            mesh.shape,
            mesh.ndim,
            mesh.size(),
            mesh.get_rank(),
            mesh.get_local_rank(),
            mesh.get_coordinate(),
            mesh.device_type,
            mesh.mesh_dim_names,
        )
        show(mesh["dp"] == mesh, mesh.mesh)
        attempt(lambda: device_mesh.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "a")))
