# code: training_without_grad
import torch
from torch import nn


def train_model(model, loaders, criterion, optimizer, epochs=2):
    for epoch in range(epochs):
        for phase in ["train", "val"]:
            model.train() if phase == "train" else model.eval()
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "training"):  # LINE
                    outputs = model(inputs)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()  # ALSO
                        optimizer.step()


loaders = {p: [(torch.randn(4, 5), torch.randint(0, 2, (4,))) for _ in range(3)] for p in ("train", "val")}
net = nn.Linear(5, 2)
train_model(net, loaders, nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), 0.1))
