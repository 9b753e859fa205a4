"""Tracing by running: `proxy_tensor.make_fx`. Sizes are numbers in it: `symbolic_shapes`."""

from retrograd.fx.experimental import proxy_tensor as proxy_tensor, symbolic_shapes as symbolic_shapes
