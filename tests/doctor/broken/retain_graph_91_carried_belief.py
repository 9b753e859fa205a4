# code: retain_graph_leak, graph_leak
import torch

torch.manual_seed(0)
A = (torch.eye(3) * 0.9).requires_grad_()
B = torch.randn(3, 2, requires_grad=True)
belief = torch.zeros(3)
rate = 1e-2
for t in range(14):
    u = torch.randn(2)
    belief = torch.tanh(A @ belief + B @ u)  # ALSO
    surprise = (belief - u.sum()).pow(2).sum()
    ga, gb = torch.autograd.grad(surprise, (A, B), retain_graph=True)  # LINE
    A = (A - rate * ga).detach().requires_grad_()
    B = (B - rate * gb).detach().requires_grad_()
