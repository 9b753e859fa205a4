"""Passes over graphs."""

from retrograd.fx.passes import shape_prop as shape_prop
