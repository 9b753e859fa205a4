import os

import torch


def make_grid(images, nrow=8, **options):
    return torch.cat(list(images), dim=-1)


def save_image(images, path, nrow=8, **options):
    """Writes nothing that is worth reading: the programs only save."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "wb") as file:
        file.write(bytes(make_grid(images.detach()).mul(255).clamp(0, 255).to(torch.uint8).flatten().tolist()))
