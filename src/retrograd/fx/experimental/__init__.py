"""Tracing by running: `proxy_tensor.make_fx`."""

from retrograd.fx.experimental import proxy_tensor as proxy_tensor
