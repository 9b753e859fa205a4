"""As much of torchvision as the programs use, on made-up images."""

from . import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
__version__ = "0.28.0"
