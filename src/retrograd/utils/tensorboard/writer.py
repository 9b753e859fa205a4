"""SummaryWriter, over the package tensorboard's own writer of event files."""

from __future__ import annotations

import io
import os
import socket
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import retrograd as torch

_BUCKETS = 30


class SummaryWriter:
    """Writes scalars, histograms, texts, images and hyperparameters to a folder that TensorBoard shows.

    Args:
        log_dir: the folder; by default a new one in `runs`, named after the time and this machine.
        comment: put behind that name.
        purge_step: steps from this one on, of a run that crashed, are not shown.
        max_queue, flush_secs: how many events wait, and how long, until they are written.
        filename_suffix: put behind the names of files.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is None:
            log_dir = os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
        self.log_dir = str(log_dir)
        self.purge_step, self.max_queue, self.flush_secs, self.filename_suffix = purge_step, max_queue, flush_secs, filename_suffix
        self._files: dict[str, Any] = {}
        self._writer(self.log_dir)

    def _writer(self, folder: str) -> Any:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        if folder not in self._files:
            writer = self._files[folder] = EventFileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)
            if self.purge_step is not None:
                start = SessionLog(status=SessionLog.START)
                writer.add_event(Event(wall_time=time.time(), step=self.purge_step, session_log=start))
        return self._files[folder]

    def _add(self, summary: Any, step: Any, walltime: float | None, folder: str | None = None) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        event = Event(wall_time=time.time() if walltime is None else walltime, summary=summary)
        if step is not None:
            event.step = int(step)
        self._writer(folder or self.log_dir).add_event(event)

    def _value(self, **fields: Any) -> Any:
        from tensorboard.compat.proto.summary_pb2 import Summary

        return Summary(value=[Summary.Value(**fields)])

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number."""
        self._add(self._value(tag=tag, simple_value=float(scalar_value)), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several numbers in one chart: each is a run of its own, in a folder beside."""
        for tag, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(self._value(tag=main_tag, simple_value=float(value)), global_step, walltime, folder)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How the numbers of a tensor are spread."""
        from tensorboard.compat.proto.summary_pb2 import HistogramProto

        numbers = torch.as_tensor(values).detach().double().flatten()
        if numbers.numel() == 0:
            raise ValueError("The input has no element.")
        if isinstance(bins, (str, int)):
            edges = torch.linspace(numbers.min().item(), numbers.max().item(), (bins if isinstance(bins, int) else _BUCKETS) + 1).double()
        else:
            edges = torch.tensor(list(bins), dtype=torch.float64)
        place = torch.bucketize(numbers, edges[1:-1], right=True)
        counts = torch.bincount(place, minlength=len(edges) - 1)
        histogram = HistogramProto(
            min=numbers.min().item(),
            max=numbers.max().item(),
            num=numbers.numel(),
            sum=numbers.sum().item(),
            sum_squares=numbers.square().sum().item(),
            bucket_limit=edges[1:].tolist(),
            bucket=counts.double().tolist(),
        )
        self._add(self._value(tag=tag, histo=histogram), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """A text, in Markdown."""
        from tensorboard.compat.proto.summary_pb2 import SummaryMetadata
        from tensorboard.compat.proto.tensor_pb2 import TensorProto
        from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

        shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
        tensor = TensorProto(dtype="DT_STRING", string_val=[text_string.encode()], tensor_shape=shape)
        about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text", content=b""))
        self._add(self._value(tag=f"{tag}/text_summary", metadata=about, tensor=tensor), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """One picture; numbers are from 0 to 1, or to 255 where they are bytes. Needs the package pillow."""
        from PIL import Image
        from tensorboard.compat.proto.summary_pb2 import Summary

        picture = torch.as_tensor(img_tensor).detach()
        order = [dataformats.upper().index(letter) for letter in "HWC" if letter in dataformats.upper()]
        if picture.dim() != len(order):
            raise ValueError(f"an image of {picture.dim()} dimensions does not fit dataformats={dataformats!r}")
        picture = picture.permute(order)
        if picture.dtype != torch.uint8:
            picture = (picture.float() * 255).clamp(0, 255).to(torch.uint8)
        if picture.dim() == 3 and picture.size(2) == 1:
            picture = picture.squeeze(2)
        data = io.BytesIO()
        Image.fromarray(picture.contiguous().numpy()).save(data, format="PNG")
        channels = 1 if picture.dim() == 2 else picture.size(2)
        image = Summary.Image(height=picture.size(0), width=picture.size(1), colorspace=channels, encoded_image_string=data.getvalue())
        self._add(self._value(tag=tag, image=image), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None, dataformats: str = "NCHW"
    ) -> None:
        """Several pictures, side by side."""
        batch = torch.as_tensor(img_tensor).detach()
        order = [dataformats.upper().index(letter) for letter in "NCHW"]
        self.add_image(tag, torch.cat(batch.permute(order).unbind(), dim=2), global_step, walltime, "CHW")

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """The settings of a run and what came of them."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        settings = {k: v.item() if isinstance(v, torch.Tensor) else v for k, v in hparam_dict.items()}
        self._add(hparams_pb(settings), None, None, folder)
        for tag, value in metric_dict.items():
            self._add(self._value(tag=tag, simple_value=float(value)), global_step, None, folder)

    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True) -> None:
        """The graph of a model is written from a TorchScript trace, which there is none of."""
        raise NotImplementedError(
            "add_graph needs a TorchScript trace, which retrograd does not make; torch.fx.symbolic_trace shows a model's graph"
        )

    def flush(self) -> None:
        """Writes what waits."""
        for writer in self._files.values():
            writer.flush()

    def close(self) -> None:
        """Writes what waits and ends the files."""
        for writer in self._files.values():
            writer.close()
        self._files.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
