"""Errors that programs around compilers catch."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """The base of the errors here."""


class InvalidBackend(TorchDynamoException):
    """A backend that nobody registered."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised."""


class Unsupported(TorchDynamoException):
    """Something that cannot be compiled."""


class UserError(Unsupported):
    """Something that a program asked for and cannot have."""
