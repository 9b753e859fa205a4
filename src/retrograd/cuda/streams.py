"""Where PyTorch has the streams of devices."""

from retrograd.cuda import (  # noqa: F401
    Event,
    Stream,
)
