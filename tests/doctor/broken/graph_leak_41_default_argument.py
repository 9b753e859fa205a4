# code: graph_leak
import torch


def log(value, store=[]):  # noqa: B006
    store.append(value)  # ALSO
    return len(store)


model = torch.nn.Embedding(10, 4)
head = torch.nn.Linear(4, 10)
opt = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
k = 0
while k < 9:
    idx = torch.randint(0, 10, (6,))
    loss = torch.nn.functional.cross_entropy(head(model(idx)), idx)  # LINE
    opt.zero_grad()
    loss.backward()
    opt.step()
    k = log(loss)
