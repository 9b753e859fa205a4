"""Function transforms: functions go in, functions that compute derivatives or run on batches come out. They nest in any order."""

from retrograd.func._forward import hessian, jacfwd, jvp, linearize
from retrograd.func._functional_call import functional_call, stack_module_state
from retrograd.func._inside import debug_unwrap, functionalize, replace_all_batch_norm_modules_
from retrograd.func._rearrange import rearrange
from retrograd.func._reverse import grad, grad_and_value, jacrev, vjp
from retrograd.func._vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
