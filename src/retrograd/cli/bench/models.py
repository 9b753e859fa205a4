"""The models that `retrograd bench` brings along, and the user's own. Written against the API that both engines share."""

from __future__ import annotations

import importlib.util
import itertools
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple


class Subject(NamedTuple):
    """What is measured: a model, its inputs, and its blocks where it has them one after the other."""

    model: Any
    inputs: tuple[Any, ...]
    blocks: list[Any] | None = None


class BuiltIn(NamedTuple):
    make: Callable[[Any, int, int], Subject]  # of the engine, the batch size, the depth
    depth: int
    about: str


def _mlp(widths: Callable[[int], list[int]]) -> Callable[[Any, int, int], Subject]:
    def make(torch: Any, batch: int, depth: int) -> Subject:
        nn, sizes = torch.nn, widths(depth)
        layers = [part for a, b in itertools.pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())][:-1]
        return Subject(nn.Sequential(*layers), (torch.randn(batch, sizes[0]),), layers)

    return make


def _resnet(side: int) -> Callable[[Any, int, int], Subject]:
    """Three stages of residual blocks, as for CIFAR."""

    def make(torch: Any, batch: int, depth: int) -> Subject:
        nn = torch.nn

        class Block(nn.Module):  # type: ignore[name-defined]
            def __init__(self, inputs: int, outputs: int, stride: int) -> None:
                super().__init__()
                self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
                self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
                self.norm1, self.norm2 = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
                plain = inputs == outputs and stride == 1
                self.across = nn.Identity() if plain else nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)

            def forward(self, x: Any) -> Any:
                y = torch.relu(self.norm1(self.conv1(x)))
                return torch.relu(self.norm2(self.conv2(y)) + self.across(x))

        blocks = [nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU())]
        width = 16
        for stage, outputs in enumerate((16, 32, 64)):
            for i in range(depth):
                blocks.append(Block(width, outputs, 2 if stage and not i else 1))
                width = outputs
        blocks.append(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)))
        return Subject(nn.Sequential(*blocks), (torch.randn(batch, 3, side, side),), blocks)

    return make


def _transformer(torch: Any, batch: int, depth: int) -> Subject:
    nn, width = torch.nn, 128
    blocks = [nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True) for _ in range(depth)]
    return Subject(nn.Sequential(*blocks), (torch.randn(batch, 64, width),), blocks)


BUILT_IN = {
    "mlp": BuiltIn(_mlp(lambda depth: [16, *[32] * depth, 1]), 2, "an MLP 16-32-32-1"),
    "wide-mlp": BuiltIn(_mlp(lambda depth: [1024, *[2048] * depth, 1024, 10]), 2, "an MLP 1024-2048-2048-1024-10"),
    "resnet32": BuiltIn(_resnet(32), 2, "a ResNet of three stages with two blocks each, on 32x32 images"),
    "resnet64": BuiltIn(_resnet(64), 2, "the same on 64x64 images"),
    "transformer": BuiltIn(_transformer, 4, "four layers of a transformer encoder, width 128, sequences of 64"),
}


class BenchError(Exception):
    """What went wrong, in one line."""


def one_line(error: BaseException, file: str | None = None) -> str:
    """An exception as a line, with the line of the user's file that it came from."""
    words = " ".join(str(error).split()) or "no message"
    places = [f for f in traceback.extract_tb(error.__traceback__) if file is None or os.path.abspath(f.filename) == os.path.abspath(file)]
    where = f" ({os.path.basename(places[-1].filename)}:{places[-1].lineno})" if places and file else ""
    return f"{type(error).__name__}: {words}{where}"


def load(name: str) -> Callable[..., Any]:
    """The function that a script and a name after a colon say."""
    path, _, attribute = name.rpartition(":")
    if not path.endswith(".py") or not attribute:
        known = ", ".join(BUILT_IN)
        raise BenchError(f"no model {name!r}: expected one of {known}, or script.py:model_fn")
    if not os.path.isfile(path):
        raise BenchError(f"no file {path!r}")
    spec = importlib.util.spec_from_file_location("bench_subject", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise BenchError(f"{path} cannot be imported: {one_line(error, path)}") from error
    function = getattr(module, attribute, None)
    if not callable(function):
        raise BenchError(f"{path} has no function {attribute!r}")
    return function


def subject(torch: Any, name: str, batch: int, depth: int | None) -> Subject:
    """A model with inputs: one of ours, or what the user's function gives for a batch size."""
    if name in BUILT_IN:
        built_in = BUILT_IN[name]
        return built_in.make(torch, batch, depth or built_in.depth)
    function = load(name)
    try:
        given = function(batch)
    except (Exception, SystemExit) as error:
        raise BenchError(f"{name}({batch}) failed: {one_line(error, name.rpartition(':')[0])}") from error
    if not isinstance(given, tuple) or len(given) != 2 or not callable(given[0]):
        raise BenchError(
            f"{name}({batch}) has to give a model and its inputs, (model, tensor or tuple of tensors), got {type(given).__name__}"
        )
    model, inputs = given
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if not all(isinstance(t, torch.Tensor) for t in inputs):
        kinds = ", ".join(f"{type(t).__module__}.{type(t).__name__}" for t in inputs)
        raise BenchError(
            f"{name}({batch}): inputs have to be tensors of {torch.__name__}, got {kinds}; import torch in the script, not retrograd"
        )
    blocks = list(model) if isinstance(model, torch.nn.Sequential) else None
    return Subject(model, inputs, blocks)
