"""torch.distributed.checkpoint.hf_storage: safetensors files that several processes write, refused; the library safetensors does for one."""

from __future__ import annotations

from retrograd._refusals import refused

_NAMES = "HuggingFaceStorageReader HuggingFaceStorageWriter QuantizedHuggingFaceStorageReader"
_WHY = "{name}: files that several processes write are not supported; safetensors.torch does for the one there is"
__all__ = _NAMES.split()
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
