# code: disconnected_parameter
import torch
import torch.nn as nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(r, base.in_features) * 0.02)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))  # LINE
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scale


model = nn.Sequential(LoRALinear(nn.Linear(8, 16)), nn.ReLU(), LoRALinear(nn.Linear(16, 2)))
nn.init.normal_(model[0].lora_B, std=0.02)
nn.init.normal_(model[2].lora_B, std=0.02)
opt = torch.optim.Adam([p for n, p in model.named_parameters() if "lora_A" in n], lr=1e-2)  # ALSO
for _ in range(20):
    x, y = torch.randn(8, 8), torch.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
