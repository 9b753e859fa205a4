# code: inference_tensor_misuse
import torch


class Tracker:
    def __init__(self):
        self.mean = None

    @torch.inference_mode()
    def start(self, x):
        self.mean = x.mean(0)  # ALSO

    def update(self, x):
        self.mean.mul_(0.9).add_(0.1 * x.mean(0))  # LINE


tracker = Tracker()
tracker.start(torch.randn(8, 3))
tracker.update(torch.randn(8, 3))
