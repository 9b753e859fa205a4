"""Processes that run out of data at different times: of one, nobody waits."""

from __future__ import annotations

from typing import Any

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process does for those that still run."""

    def main_hook(self) -> None:
        """In each of their steps."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """When all have ended."""


class Joinable:
    """Something that takes part in Join."""


class Join:
    """A block in which processes may have different numbers of steps."""

    def __init__(self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self.joinables = joinables

    def __enter__(self) -> Join:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    @staticmethod
    def notify_join_context(joinable: Any) -> None:
        """Tells the others that a step is made."""
