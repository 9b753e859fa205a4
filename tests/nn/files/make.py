"""Writes the files of this folder with PyTorch: what it saves, in either format, is what retrograd has to read."""

import copy
import pathlib
import sys
import warnings
from collections import OrderedDict

import torch

here = pathlib.Path(__file__).parent


def contents():
    base = torch.arange(6.0)
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 1)
    layer(torch.ones(2)).sum().backward()
    optimizer = torch.optim.Adam(layer.parameters())
    optimizer.step()
    return OrderedDict(
        base=base,
        view=base[1:5:2],
        transposed=base.reshape(2, 3).t(),
        parameter=torch.nn.Parameter(torch.ones(2)),
        computed=torch.ones(2, requires_grad=True) * 3,
        dtypes=[torch.ones(2, dtype=d) for d in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)],
        floats=[torch.full((2,), 1.5, dtype=d) for d in (torch.float16, torch.bfloat16, torch.float32, torch.float64)],
        empty=torch.empty(0, 3),
        plain=[1, 2.5, "text", None, True, (1, 2), {3}, b"bytes", 2**70],
        small=[torch.float16, torch.Size([1, 2]), torch.device("cpu")],
        model=layer.state_dict(),
        optimizer=optimizer.state_dict(),
    )


def kinds():
    """Whatever else a file may hold."""
    base = torch.arange(6.0)
    return OrderedDict(
        sparse=torch.eye(3).to_sparse(),
        compressed=torch.eye(3).to_sparse_csr(),
        conjugate=torch.tensor([1 + 2j]).conj(),
        negative=torch.tensor([1 + 2j]).conj().imag,
        meta=torch.empty(3, device="meta"),
        storage=base.storage(),
        base=base,
        unsigned=[torch.tensor([1, 40000], dtype=d) for d in (torch.uint16, torch.uint32, torch.uint64)],
        eighths=[torch.tensor([0.5, 2.0]).to(d) for d in (torch.float8_e4m3fn, torch.float8_e5m2)],
        generator=torch.Generator().manual_seed(3).get_state(),
        layouts=[torch.strided, torch.sparse_coo],
        buffer=torch.nn.Buffer(torch.ones(2)),
    )


def training():
    """States of every optimizer and scheduler in the middle of a run, and where the run went from there."""
    sys.path.insert(0, str(here.parents[2]))
    from tests.nn.training_runs import OPTIMIZERS, SCHEDULERS, optimizer_run, schedule, scheduler_run, train

    optimizers, schedulers = {}, {}
    for kind in OPTIMIZERS:
        model, optimizer = optimizer_run(torch, kind)
        train(torch, model, optimizer, 3)
        saved = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
        train(torch, model, optimizer, 3)
        optimizers[kind] = [*saved, model.state_dict()]
    for kind in SCHEDULERS:
        optimizer, scheduler = scheduler_run(torch, kind)
        schedule(optimizer, scheduler, 3)
        saved = copy.deepcopy([optimizer.state_dict(), scheduler.state_dict()])
        schedulers[kind] = [*saved, schedule(optimizer, scheduler, 6)]
    return {"optimizers": optimizers, "schedulers": schedulers}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for new, name in ((True, "kinds.pt"), (False, "kinds_legacy.pt")):
        torch.save(kinds(), here / name, _use_new_zipfile_serialization=new)
    torch.save(training(), here / "training.pt", _use_new_zipfile_serialization=False)  # much smaller than a zip file
    torch.serialization.set_crc32_options(False)
    torch.save({"a": torch.arange(3)}, here / "no_checksums.pt")
    torch.serialization.set_crc32_options(True)
    torch.save(contents(), here / "zip.pt")
    torch.save(contents(), here / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.manual_seed(0)
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()), here / "module.pt")
