# code: nan_origin
import torch
import torch.nn.functional as F

torch.manual_seed(0)
scores = torch.randn(4, 2, 5, requires_grad=True)
targets = torch.tensor([[1, 2, 3], [1, 1, 1]])  # a blank has to stand between equal ones: 5 steps
lengths = torch.tensor([4, 4])
losses = F.ctc_loss(scores.log_softmax(-1), targets, lengths, torch.tensor([3, 3]), reduction="none")  # LINE
weights = torch.tensor([0.5, 1.5])
loss = (losses * weights).sum()
loss.backward()
