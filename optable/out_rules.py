"""What `out=` may be, per op: PyTorch asks for the very dtype of the result in some ops, in words of their own, and for one that takes the
result (no floats to integers) in all others.

In the words {out} and {result} stand for dtypes as in "Float", {out_cpp} and {result_cpp} as in "float". Ops with several results have one
sentence for each.
"""

from __future__ import annotations

from dataclasses import dataclass

FOUND = "Found dtype {out} but expected {result}"
EXPECTED = "Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead"
SCALAR_TYPE = "expected scalar_type {result} but found {out}"
SEARCH = (
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is"
    " True, but we got output tensor's dtype {out}"
)
MEDIAN_VALUES = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{out}Tensor does not equal"
    " torch.{result}Tensor (while checking arguments for median)"
)
MEDIAN_INDICES = (
    "Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{out}Tensor instead"
    " (while checking arguments for median)"
)
CAT = "TypeError: torch.cat(): input types can't be cast to the desired output type {out}"

# The result has to be of exactly this dtype, or else these words. By name, or by qualified name for one overload.
EXACT: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(
        ["abs", "bitwise_not", "ceil", "clamp", "clamp_max", "clamp_min", "conj_physical", "elu", "floor", "frac", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "lerp", "mish", "neg", "round", "sgn", "sign", "silu", "softplus", "softshrink", "trunc"],
        FOUND,
    ),
    **dict.fromkeys(
        ["addmm", "addmv", "aminmax", "argmax", "argmin", "argsort", "baddbmm", "bmm", "gather", "index_add", "index_copy", "index_reduce", "linalg_vector_norm", "log_softmax", "max.dim", "min.dim", "mm", "msort", "norm", "renorm", "scatter", "scatter_add", "scatter_reduce", "softmax", "sort", "take_along_dim", "topk", "tril", "triu", "matmul", "diag", "sum", "prod", "cumsum", "cumprod"],
        EXPECTED,
    ),
    "complex": "Expected object of scalar type {result} but got scalar type {out} for argument 'out'",
    "polar": "Expected object of scalar type {result} but got scalar type {out} for argument 'out'",
    "cummax": SCALAR_TYPE,
    "cummin": SCALAR_TYPE,
    "logcumsumexp": SCALAR_TYPE,
    "dot": "result dtype {out} does not match input dtype {result}",
    "vdot": "result dtype {out} does not match input dtype {result}",
    "mv": "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",
    "amax": "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.",
    "amin": "Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.",
    "kthvalue": ("output values must be of same type as input", "output indices must be of scalar type Long"),
    "mode": (
        "expected scalar type '{result}' but got '{out}' for values output",
        "expected scalar type '{result}' but got '{out}' for indices output",
    ),
    "median": (MEDIAN_VALUES, MEDIAN_INDICES),
    "nanmedian": (MEDIAN_VALUES, MEDIAN_INDICES),
    "searchsorted": SEARCH,
    "bucketize": SEARCH,
    "histc": "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {result_cpp} and hist {out_cpp}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {result} and out.dtype = {out}",
    "index_select": "index_select(): self and result must have the same scalar type",
    "masked_select": "masked_select(): self and result must have the same scalar type",
    "multinomial": "multinomial expects Long tensor out, got: {out}",
    "log_sigmoid": "expected scalar type {result} but found {out}",
    "nan_to_num": "nan_to_num: dtype of out: {out} should be same as input: {result}",
    "where": "Expected out type to be {result} but got {out}",
    "isposinf": "isposinf does not support non-boolean outputs.",
    "isneginf": "isneginf does not support non-boolean outputs.",
    "signbit": "signbit does not support non-boolean outputs.",
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "any": "any only supports bool tensor for result, got: {out}",
    "all": "all only supports bool tensor for result, got: {out}",
    "norm.str": "linalg.matrix_norm expected out tensor dtype {result} but got: {out}",
    "addbmm": "self and mat2 must have the same dtype, but got {out} and {result}",
}

# Overloads of those that take any dtype the result can be cast to.
TAKES_ANY = {"max", "min", "max.other", "min.other", "clamp.tensor", "clamp_min.tensor", "clamp_max.tensor", "lerp.tensor"}

# Words for a result that out= cannot take, where they are not the usual ones.
CAST: dict[str, str] = {
    **dict.fromkeys(["cat", "stack", "column_stack", "concat", "concatenate", "dstack", "hstack", "vstack", "row_stack"], CAT),
    "ldexp": "ldexp can't be cast to the desired output type {out}",
    "mean": "mean.dtype_out(): input types can't be cast to the desired output type {out}",
    "logsumexp": "logsumexp(): Expected floating point type for result tensor, but got: {out}",
}

# Computed in the dtype of out= where no dtype is given.
IN_DTYPE_OF_OUT = {"sum.dim", "prod.dim_int", "nansum.dim", "nansum", "cumsum", "cumprod", "sum", "prod"}

# out= of another size is resized without a warning.
SILENT = {"log_sigmoid", "addbmm", "multinomial", "bernoulli"}

# The name in "...(): functions with out=... arguments don't support automatic differentiation", where it is not the op's.
NAMES = {
    "square": "pow", "column_stack": "cat", "concat": "cat", "concatenate": "cat", "dstack": "cat", "hstack": "cat", "vstack": "cat",
    "row_stack": "cat", "floor_divide": "aten::floor_divide", "heaviside": "aten::heaviside", "ger": "mul", "outer": "mul",
    "log_sigmoid": "log_sigmoid_forward", "log_softmax": "aten::log_softmax", "softmax": "aten::softmax", "max.other": "maximum",
    "min.other": "minimum", "msort": "sort", "argsort": "sort", "norm": "linalg_vector_norm", "scatter.reduce": "aten::scatter", "scatter.value_reduce": "aten::scatter",
    "take_along_dim": "gather", "normal": "aten::normal",
}  # fmt: skip

# Factories that fill out= where it lies, in the order of its memory; arguments in braces. The others compute a tensor and copy it.
DRAWN = {
    "rand": "ops::uniform_inplace_(out, 0.0, 1.0, {generator})",
    "randn": "ops::normal_inplace_(out, 0.0, 1.0, {generator})",
    "randint": "ops::random_from_(out, 0, {high}, {generator})",
    "randint.low": "ops::random_from_(out, {low}, {high}, {generator})",
    "normal.float_float": "ops::normal_inplace_(out, {mean}, {std}, {generator})",
}


# Others that do: the size, and the statement.
FILLED = {
    "bernoulli": ("{self}.sizes()", "impl::bernoulli_inplace_Tensor_(out, {self}, {generator})"),
    "normal.Tensor_float": (
        "{mean}.sizes()",
        "impl::normal_inplace_(out, 0.0, {std}, {generator}); impl::add_out(out, {mean}, Scalar(1), out)",
    ),
}


@dataclass(frozen=True)
class OutRule:
    exact: tuple[str, ...]  # one for all results, or one for each; empty: anything that takes the result
    cast: str
    in_dtype_of_out: bool
    silent: bool
    name: str
    bytes: bool  # uint8 will do for bool


def rule_of(name: str, qualified: str) -> OutRule:
    exact = EXACT.get(qualified, EXACT.get(name, ()) if qualified not in TAKES_ANY else ())
    return OutRule(
        (exact,) if isinstance(exact, str) else exact,
        CAST.get(qualified, CAST.get(name, "")) if qualified != "mean.dim" else "",
        qualified in IN_DTYPE_OF_OUT,
        name in SILENT,
        NAMES.get(qualified, NAMES.get(name, name)),
        name in ("any", "all"),
    )
