"""What a type checker must refuse: the lines marked `# error: ...`, with that code, and no others. Never run."""

import retrograd as torch
import retrograd.nn.functional as F
from retrograd import (
    Tensor,
    nn,
    optim,
)

x = torch.ones(2, 3)
y: Tensor = x + 1
count: int = x.numel()

# ---- names that do not exist ----
torch.tanhh(x)  # error: attr-defined
x.tanhh()  # error: attr-defined
x.shap  # error: attr-defined
F.no_such_loss(x, y)  # error: attr-defined
nn.NoSuchLayer(3)  # error: attr-defined
optim.NoSuchOptimizer([x])  # error: attr-defined
torch.linalg.no_such_solver(x)  # error: attr-defined
torch.special.no_such_function(x)  # error: attr-defined
torch.func.no_such_transform(torch.sin)  # error: attr-defined
torch.autograd.no_such_thing  # error: attr-defined
torch.utils.no_such_thing  # error: attr-defined
x.max(0).value  # error: attr-defined

# ---- keywords that do not exist ----
torch.tanh(x, outt=y)  # error: call-arg
torch.zeros(3, dtyp=torch.float32)  # error: call-overload
x.softmax(dims=1)  # error: call-arg
F.dropout(x, probability=0.5)  # error: call-arg
nn.Linear(3, 4, biass=False)  # error: call-arg
optim.SGD([x], learning_rate=0.1)  # error: call-arg
y.backward(retain=True)  # error: call-arg

# ---- arguments of another type ----
torch.add(x, "one")  # error: call-overload
torch.tanh([1.0, 2.0])  # error: arg-type
x + "one"  # error: operator
x @ 3  # error: operator
x.transpose("rows", 1)  # error: arg-type
x.reshape("flat")  # error: arg-type
x.to(dtype="float32")  # error: call-overload
F.relu(3.0)  # error: arg-type
F.cross_entropy(x, 1)  # error: arg-type
nn.Linear("wide", 4)  # error: arg-type
torch.linalg.inv(2.0)  # error: arg-type
torch.manual_seed("zero")  # error: arg-type
x["rows", object()] = "one"  # error: assignment

# ---- results of another type ----
name: str = x.sum()  # error: assignment
size: int = x.shape  # error: assignment
pair: tuple[Tensor, Tensor, Tensor] = x.sort()  # error: assignment
grad: Tensor = x.grad  # error: assignment
