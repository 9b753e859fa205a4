"""Anomaly mode: which op of forward made the nan that turned up in backward."""

import warnings

import torch


def loss_of(x):
    root = torch.sqrt(x)  # its derivative at zero is infinite
    return (root * 0).sum()  # and zero times infinity is nan


x = torch.zeros(2, requires_grad=True)
loss_of(x).backward()
print("without: no error, and x.grad =", x.grad.tolist())

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.autograd.detect_anomaly():
        loss = loss_of(x)
        try:
            loss.backward()
        except RuntimeError as error:
            print("with:", str(error).splitlines()[0])
texts = [str(warning.message) for warning in caught]
print("the warning names the line of forward:", any("torch.sqrt(x)" in text for text in texts))

# It is a setting with a context manager: off again behind the block.
print("on now:", torch.is_anomaly_enabled())
with torch.autograd.set_detect_anomaly(True, check_nan=False):  # remembers lines, looks for no nan
    loss_of(x).backward()
    print("without the check for nan:", torch.is_anomaly_enabled(), x.grad.tolist())
