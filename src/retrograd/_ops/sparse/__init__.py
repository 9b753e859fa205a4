"""Sparse tensors: COO, the compressed layouts, and what can be computed with them. Imported when the first is made.

See docs/decisions/0010-sparse.md. `tensor.py` has the class and its parts, `history.py` how gradients pass between a sparse tensor and its values,
`calls.py` finds the function for a call or refuses it; the others hold those functions.
"""
