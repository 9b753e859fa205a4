"""Passes over graphs."""

from retrograd.fx.passes import graph_drawer as graph_drawer, shape_prop as shape_prop
