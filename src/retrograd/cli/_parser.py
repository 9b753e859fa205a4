"""Command lines that are refused in one line."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from . import refuse


class Parser(argparse.ArgumentParser):
    """A parser for `retrograd <command>`, whose help opens with the docstring of its module."""

    def __init__(self, command: str, about: str | None, **more: Any) -> None:
        super().__init__(prog=f"retrograd {command}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter, **more)
        self.command = command

    def error(self, message: str) -> NoReturn:
        self.exit(refuse(self.command, message))
