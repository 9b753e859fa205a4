"""The checks, one file for codes that look at the same things."""

from __future__ import annotations

from retrograd.doctor._watch import Check


def make_checks() -> list[Check]:
    """One of each, in the order in which they are asked."""
    return []
