# code: stale_optimizer, disconnected_parameter
import torch
from torch import nn

torch.manual_seed(0)


class Client:
    def __init__(self):
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)  # LINE

    def receive(self, weights):
        self.net = nn.Linear(4, 2)  # ALSO
        self.net.load_state_dict(weights)

    def train(self):
        for _ in range(5):
            x = torch.randn(8, 4)
            self.opt.zero_grad()
            nn.functional.cross_entropy(self.net(x), (x[:, 0] > 0).long()).backward()
            self.opt.step()


server = nn.Linear(4, 2)
client = Client()
for _ in range(3):
    client.receive(server.state_dict())
    client.train()
