"""Small made-up data for the programs that read files."""

from __future__ import annotations

import pathlib
import pickle
import random
import sys
import zipfile

import numpy


def text(folder: pathlib.Path) -> None:
    draw = random.Random(0)
    words = ["O God", "the king", "shall be", "my lord", "and so", "good night", "no more", "what news"]
    (folder / "input.txt").write_text("O God, O God!\n" + "".join(draw.choice(words) + draw.choice(" ,.!\n") for _ in range(2000)))


def _picture(path: pathlib.Path, size: int, seed: int) -> None:
    from PIL import Image

    draw = numpy.random.default_rng(seed)
    coarse = Image.fromarray(draw.integers(0, 256, (8, 8, 3)).astype(numpy.uint8))
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse.resize((size, size), Image.Resampling.BILINEAR).save(path)


def photographs(folder: pathlib.Path) -> None:
    for part, count in (("train", 8), ("test", 4)):
        for n in range(count):
            _picture(folder / "dataset/BSDS300/images" / part / f"{n}.jpg", 260, n)


def styles(folder: pathlib.Path) -> None:
    _picture(folder / "style.jpg", 48, 99)
    for n in range(8):
        _picture(folder / f"images/one/{n}.jpg", 64, n)


def waves(folder: pathlib.Path) -> None:
    """What the program's generator writes, with fewer and shorter waves."""
    draw = numpy.random.default_rng(2)
    steps = numpy.arange(60) + draw.integers(-80, 80, 10)[:, None]
    with zipfile.ZipFile(folder / "traindata.pt", "w") as file:
        file.writestr("traindata/data.pkl", pickle.dumps(numpy.sin(steps / 20.0), protocol=2))
        file.writestr("traindata/byteorder", sys.byteorder)
        file.writestr("traindata/version", "3\n")


def checkpoint_folder(folder: pathlib.Path) -> None:
    (folder / "checkpoint").mkdir(exist_ok=True)
