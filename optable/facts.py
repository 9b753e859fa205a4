"""Facts of an op that entries state: typed, so that a slip in one is an error where it is written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NoGrad:
    """Why an op on floating tensors has no derivative."""

    why: str
    cuts: bool  # it computes from the values of its tensors: their history ends here, see Note [Where the history was cut]


INTEGERS = NoGrad("its results are integers or truth values", cuts=True)
COUNTS = NoGrad("it counts elements, which small changes of them do not change", cuts=True)
BITS = NoGrad("it takes the bits of one dtype for those of another", cuts=True)
SIZES = NoGrad("it reads sizes and dtypes, no values", cuts=False)
HANDS_ON = NoGrad("it gives its argument as it is", cuts=False)
DETACHES = NoGrad("it is there to end a history, which it says itself", cuts=False)
STEP = NoGrad("a step of an optimizer is not recorded", cuts=False)
PART = NoGrad("it is a part of ops that record themselves", cuts=False)


@dataclass(frozen=True)
class Out:
    """What `out=` may be. PyTorch asks for the very dtype of the result in some ops, in words of their own, and for one that takes the
    result (no floats to integers) in all others.

    In the words {out} and {result} stand for dtypes as in "Float", {out_cpp} and {result_cpp} as in "float". Statements are C++ with the
    arguments of the op in braces."""

    exact: tuple[str, ...] = ()  # words for an out= of another dtype than the result: for all results, or for each
    cast: str = ""  # words for one that cannot take the result, where they are not the usual ones
    in_dtype_of_out: bool = False  # computed in the dtype of out= where no dtype is given
    silent: bool = False  # resized without a warning
    name: str = ""  # in "...(): functions with out=... arguments don't support automatic differentiation", where it is not the op's
    bytes: bool = False  # uint8 will do for bool
    size: str = ""  # with `fill`: the size, an expression
    fill: str = ""  # a statement that fills out= where it lies, in the order of its memory; the others compute a tensor and copy it
    resize_counts: bool = False  # a factory: the resize is a write of its own
    holds: str = "Values"  # a factory: Creates::<holds> of python/bind.h


NO_RULE = Out()
FOUND = ("Found dtype {out} but expected {result}",)
EXPECTED = ("Expected out tensor to have dtype {result_cpp}, but got {out_cpp} instead",)
SCALAR_TYPE = ("expected scalar_type {result} but found {out}",)
SAME_AS_INPUT = ("result dtype {out} does not match input dtype {result}",)
INPUT_AND_OUT = ("Expected the dtype for input and out to match, but got {result} for input's dtype and {out} for out's dtype.",)
OBJECT = ("Expected object of scalar type {result} but got scalar type {out} for argument 'out'",)
SEARCH = (
    ("torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether out_int32 flag is"
    " True, but we got output tensor's dtype {out}"),
)
MEDIAN = (
    ("Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type torch.{out}Tensor does not equal"
    " torch.{result}Tensor (while checking arguments for median)"),
    ("Expected tensor for argument #1 'indices' to have scalar type Long; but got torch.{out}Tensor instead"
    " (while checking arguments for median)"),
)
CAT = "TypeError: torch.cat(): input types can't be cast to the desired output type {out}"
