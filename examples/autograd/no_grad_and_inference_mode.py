"""`no_grad` stops recording; `inference_mode` also makes tensors that can never take part in a graph again."""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)

with torch.no_grad():
    quiet = w * 2
print("no_grad: requires_grad =", quiet.requires_grad, "is_inference =", quiet.is_inference())
print("its result may be used in a graph:", (w * quiet).sum().requires_grad)

with torch.inference_mode():
    frozen = w * 2
print("inference_mode: requires_grad =", frozen.requires_grad, "is_inference =", frozen.is_inference())
try:
    _ = w * frozen  # the derivative would have to save it
except RuntimeError as error:
    print("saving it:", str(error).split(".")[0])
print("a copy is an ordinary tensor:", (w * frozen.clone()).requires_grad)

# A leaf that requires grad may not be written in place, except where nothing is recorded: a step by hand.
(w**2).sum().backward()
try:
    w -= 0.1 * w.grad
except RuntimeError as error:
    print("a step by hand:", str(error).splitlines()[0])
with torch.no_grad():
    w -= 0.1 * w.grad
print("inside no_grad:", [round(v, 4) for v in w.tolist()])

# Both nest, and enable_grad switches recording on again inside no_grad.
with torch.no_grad():
    with torch.enable_grad():
        print("enable_grad inside no_grad:", (w * 2).requires_grad)
    print("back in no_grad:", (w * 2).requires_grad)


@torch.no_grad()
def evaluate(inputs):
    return (inputs * w).sum()


print("as a decorator:", evaluate(torch.ones(2)).requires_grad, torch.is_grad_enabled())
