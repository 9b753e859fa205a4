# code: inference_tensor_misuse
import torch

with torch.inference_mode():
    memory = torch.zeros(10, 4)  # ALSO
for i in range(3):
    memory[i] = torch.randn(4)  # LINE
