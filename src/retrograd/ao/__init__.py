"""torch.ao: tools for smaller models."""

from retrograd.ao import quantization as quantization
