import os

import numpy
import torch
from PIL import Image

_SIZES = {True: int(os.environ.get("COMPAT_IMAGES", "512")), False: 128}


class _Images(torch.utils.data.Dataset):
    """Noise around a pattern for each class."""

    shape: tuple[int, ...]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        draw = numpy.random.default_rng(1 if train else 2)
        patterns = numpy.random.default_rng(0).integers(0, 256, (10, *self.shape))
        kinds = draw.integers(0, 10, _SIZES[train])
        noise = draw.integers(0, 256, (_SIZES[train], *self.shape))
        self._pixels = ((patterns[kinds] + noise) // 2).astype(numpy.uint8)
        self.targets = self._labels(kinds)
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self._pixels)

    def __getitem__(self, index):
        image, label = Image.fromarray(self._pixels[index]), int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, label if self.target_transform is None else self.target_transform(label)


class MNIST(_Images):
    shape = (28, 28)

    @staticmethod
    def _labels(kinds):
        return torch.from_numpy(kinds)

    @property
    def data(self):
        return torch.from_numpy(self._pixels)


class FashionMNIST(MNIST):
    pass


class CIFAR10(_Images):
    shape = (32, 32, 3)

    @staticmethod
    def _labels(kinds):
        return kinds.tolist()

    @property
    def data(self):
        return self._pixels


class ImageFolder(torch.utils.data.Dataset):
    def __init__(self, root, transform=None):
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.samples = [
            (os.path.join(root, kind, name), label)
            for label, kind in enumerate(self.classes)
            for name in sorted(os.listdir(os.path.join(root, kind)))
        ]
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        image = Image.open(path).convert("RGB")
        return (image if self.transform is None else self.transform(image)), label
