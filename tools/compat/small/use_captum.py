"""Attributions by gradients, layers and perturbations."""

import torch
from captum.attr import DeepLift, FeatureAblation, GradientShap, IntegratedGradients, LayerGradCam, Occlusion, Saliency
from torch import nn

model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3)).eval()
x = torch.randn(2, 1, 8, 8, requires_grad=True)
found = [
    IntegratedGradients(model).attribute(x, target=1, n_steps=8),
    Saliency(model).attribute(x, target=0),
    DeepLift(model).attribute(x, target=2),
    GradientShap(model).attribute(x, baselines=torch.zeros(3, 1, 8, 8), target=1, n_samples=3),
    Occlusion(model).attribute(x, sliding_window_shapes=(1, 4, 4), strides=(1, 4, 4), target=1),
    FeatureAblation(model).attribute(x, target=1),
    LayerGradCam(model, model[0]).attribute(x, target=1),
]
for attribution in found:
    (attribution.detach() * 3 + model[3].weight.sum()).square().mean().backward()
