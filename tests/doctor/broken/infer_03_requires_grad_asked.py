# code: inference_tensor_misuse
import torch

with torch.inference_mode():
    image = torch.rand(1, 3, 4, 4)  # ALSO
adversarial = image
adversarial.requires_grad_(True)  # LINE
(adversarial**2).sum().backward()
