"""Of PyTorch's own test tools, what the tests of other libraries import: `common_utils`."""
