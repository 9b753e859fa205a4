"""torch.utils.tensorboard: what is written is what TensorBoard reads."""

import subprocess
import sys

import pytest

import retrograd as torch


@pytest.fixture
def read():
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")

    def read(folder):
        found = accumulator.EventAccumulator(str(folder))
        found.Reload()
        return found

    return read


def test_numbers(read, tmp_path):
    from retrograd.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.0 / (step + 1)), step)
        writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 5)
    assert [(s.step, round(s.value, 4)) for s in read(tmp_path).Scalars("loss")] == [(0, 1.0), (1, 0.5), (2, 0.3333)]
    assert [s.value for s in read(tmp_path / "both_b").Scalars("both")] == [2.0]


def test_spreads_and_words(read, tmp_path):
    from retrograd.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", torch.tensor([0.0, 0.0, 1.0, 3.0]), 1, bins=3)
        writer.add_text("note", "hello", 2)
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("none", torch.zeros(0))
        with pytest.raises(NotImplementedError, match="TorchScript"):
            writer.add_graph(torch.nn.Linear(1, 1))
    found = read(tmp_path)
    histogram = found.Histograms("weights")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 3, 4, 4)
    assert list(histogram.bucket) == [2, 1, 1]
    assert found.Tensors("note/text_summary")[0].tensor_proto.string_val == [b"hello"]


def test_pictures(read, tmp_path):
    pytest.importorskip("PIL")
    from retrograd.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        writer.add_image("one", torch.rand(3, 4, 5))
        writer.add_images("row", torch.rand(2, 1, 4, 5))
        with pytest.raises(ValueError, match="does not fit"):
            writer.add_image("flat", torch.rand(4, 5))
    found = read(tmp_path)
    assert [(i.height, i.width) for name in ("one", "row") for i in found.Images(name)] == [(4, 5), (4, 10)]


def test_without_the_package():
    program = "import sys; sys.modules['tensorboard'] = None  # as where it is not installed\nimport retrograd.utils.tensorboard"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (
        done.stderr.splitlines()[-1]
        == "ModuleNotFoundError: torch.utils.tensorboard needs the package tensorboard: pip install tensorboard"
    )
