"""torch.utils.data.datapipes: datasets made of a source and steps in a row."""

from retrograd.utils.data.datapipes import iter, map

__all__ = ["iter", "map"]
