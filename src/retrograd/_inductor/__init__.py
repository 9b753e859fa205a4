"""torch._inductor: the names that programs use. There is no compiler: settings are kept, compiling a graph is refused."""

from __future__ import annotations

from typing import Any, NoReturn

from retrograd._inductor import config as config
from retrograd.compiler import cudagraph_mark_step_begin as cudagraph_mark_step_begin


def _refused(what: str) -> NoReturn:
    raise NotImplementedError(f"torch._inductor.{what}: there is no compiler here; a GraphModule can be called as it is")


def compile(gm: Any, example_inputs: Any, options: Any = None) -> Any:
    """Refused: there is no compiler."""
    return _refused("compile()")


def aot_compile(gm: Any, args: Any, kwargs: Any = None, *, options: Any = None) -> Any:
    """Refused: there is no compiler."""
    return _refused("aot_compile()")


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """What the modes of `torch.compile` set: nothing."""
    from retrograd._compile import MODES

    return {} if mode else {name: {} for name in MODES}


def list_options() -> list[str]:
    """The names of the settings."""
    return [name for name in vars(config) if not name.startswith("_") and name not in ("sys", "Group", "SettingsModule")]
