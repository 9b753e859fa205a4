"""torch.onnx: models in another format, which are not written. Exporting is refused in words."""

# ruff: noqa: F822 - refused() makes some of these names

from __future__ import annotations

from retrograd._refusals import refused

__all__ = ["ExportableModule", "InputObserver", "ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export"]


class OnnxExporterError(RuntimeError):
    """A model that could not be exported."""


def is_in_onnx_export() -> bool:
    """Whether a model is being exported."""
    return False


_WHY = "{name}: retrograd does not write ONNX. Save the weights with torch.save() and export them with PyTorch, which reads them"
_NAMES = "ExportableModule InputObserver ONNXProgram export dynamo_export register_custom_op_symbolic unregister_custom_op_symbolic select_model_mode_for_export"
globals().update(refused(__name__, _NAMES, NotImplementedError, _WHY))
