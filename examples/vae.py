"""A variational autoencoder: pictures of digits as points of a plane of eight dimensions, and back."""

import argparse

import torch
from glyphs import digits
from torch import nn


class VAE(nn.Module):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 128), nn.ReLU(), nn.Linear(128, 256), nn.Unflatten(1, (1, 16, 16)))

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


def loss_of(model, x):
    logits, mean, log_variance = model(x)
    reconstruction = nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
    return reconstruction / len(x), divergence / len(x)


def picture(image):
    return "\n".join("".join(" .:*#"[min(int(v * 5), 4)] * 2 for v in row) for row in image.tolist())


def main(pictures, epochs):
    torch.manual_seed(0)
    x, _ = digits(pictures)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        losses = []
        for batch in x[torch.randperm(len(x))].split(64):
            reconstruction, divergence = loss_of(model, batch)
            optimizer.zero_grad()
            (reconstruction + divergence).backward()
            optimizer.step()
            losses.append([reconstruction.item(), divergence.item()])
        reconstruction, divergence = torch.tensor(losses).mean(0).tolist()
        print(f"epoch {epoch:2d}  reconstruction {reconstruction:.4f}  divergence {divergence:.4f}")
    if epochs > 5:
        with torch.no_grad():
            print(picture(model.decoder(torch.randn(1, 8)).sigmoid()[0, 0]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few steps, for tests")
    main(*(256, 2) if parser.parse_args().short else (4000, 20))
