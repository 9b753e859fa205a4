"""Programs and libraries written for PyTorch, run on PyTorch and on retrograd, and compared: see __main__.py."""
