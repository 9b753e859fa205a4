"""Writes the files of this folder with PyTorch: what it saves, in either format, is what retrograd has to read."""

import pathlib
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


if __name__ == "__main__":
    torch.save(contents(), here / "zip.pt")
    torch.save(contents(), here / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.manual_seed(0)
    torch.save(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh()), here / "module.pt")
