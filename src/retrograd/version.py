"""The version, in the one place that states it: the build reads it from here. And what programs ask of PyTorch's build."""

__version__ = "0.1.0"

pytorch = "2.13.0"  # whose behaviour this is, and whose place the package takes as `torch`
debug = False
git_version = f"retrograd-{__version__}"
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
