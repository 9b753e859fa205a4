"""Saving scripted modules: as the modules they are, through `torch.save`, because there is no TorchScript to write."""

from __future__ import annotations

import zipfile
from typing import Any

import retrograd as torch
from retrograd.jit._script import RecursiveScriptModule, ScriptModule, scripted

_MARK = "retrograd.jit"


def save(m: Any, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
    """Writes a scripted module for `jit.load` of this package: the module is pickled, so loading it needs its class. PyTorch cannot read it."""
    if not isinstance(m, ScriptModule):
        raise AttributeError(
            f"'{type(m).__name__}' object has no attribute 'save_to_buffer': torch.jit.save() takes what torch.jit.script() gives"
        )
    module = m._unscripted() if isinstance(m, RecursiveScriptModule) else m
    torch.save({_MARK: 1, "module": module, "extra": dict(_extra_files or {})}, f)


def load(f: Any, map_location: Any = None, _extra_files: dict[str, Any] | None = None, _restore_shapes: bool = False) -> Any:
    """Reads what `jit.save` of this package wrote. TorchScript archives of PyTorch are refused: there is nothing here to run their code."""
    if _is_torchscript(f):
        raise NotImplementedError(
            "torch.jit.load: this file is a TorchScript archive, whose code only PyTorch can run. Save the state_dict() of the module "
            "there, and load it into the module's class here"
        )
    content = torch.load(f, map_location=map_location, weights_only=False)
    if not isinstance(content, dict) or _MARK not in content:
        raise RuntimeError("torch.jit.load: this file was not written by torch.jit.save; torch.load reads others")
    if _extra_files is not None:
        _extra_files.update({name: content["extra"][name] for name in _extra_files if name in content["extra"]})
    module = content["module"]
    return module if isinstance(module, ScriptModule) else scripted(module)


def _is_torchscript(f: Any) -> bool:
    """Whether a file is an archive with code in it."""
    place = f.tell() if hasattr(f, "tell") else None
    try:
        with zipfile.ZipFile(f) as archive:
            return any("/code/" in name or name.endswith("constants.pkl") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False
    finally:
        if place is not None:
            f.seek(place)
