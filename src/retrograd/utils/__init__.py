"""Tools around the engine."""
