"""The benchmark programs. Every module in this folder is imported by the harness; a new one needs no registration."""
