"""Stands in for PyTorch: `import torch` gives retrograd. `retrograd shim install` puts this file into an environment."""

import sys

import retrograd

sys.modules.pop("torch")  # this module; the import system hands out the one that takes its place
retrograd.install_as_torch()
