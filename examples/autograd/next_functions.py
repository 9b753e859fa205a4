"""The graph is made of nodes: each knows the nodes of its inputs, and at its ends are the accumulators of the leaves."""

import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
loss = (a * b + a).exp()


def show(node, depth=0):
    """Prints a node and, indented, what it passes its gradient on to."""
    if node is None:
        print("  " * depth + "(needs no gradient)")
        return
    leaf = getattr(node, "variable", None)  # only accumulators have one
    print("  " * depth + node.name() + (f" of the leaf {leaf.item()}" if leaf is not None else ""))
    for next_node, _ in node.next_functions:
        show(next_node, depth + 1)


show(loss.grad_fn)

# The accumulator of a leaf is one object, however often the leaf was used.
product, same_leaf = (node for node, _ in loss.grad_fn.next_functions[0][0].next_functions)
print("one accumulator for a:", product.next_functions[0][0] is same_leaf)
print("it accumulates into a:", same_leaf.variable is a)

# A constant has no node behind it.
show((a * torch.tensor(5.0)).grad_fn)
