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
DEGREE = NoGrad("a degree counts by its integer part, which small changes do not change", cuts=True)
BITS = NoGrad("it takes the bits of one dtype for those of another", cuts=True)
SIZES = NoGrad("it reads sizes and dtypes, no values", cuts=False)
HANDS_ON = NoGrad("it gives its argument as it is", cuts=False)
DETACHES = NoGrad("it is there to end a history, which it says itself", cuts=False)
STEP = NoGrad("a step of an optimizer is not recorded", cuts=False)
PART = NoGrad("it is a part of ops that record themselves", cuts=False)


@dataclass(frozen=True)
class Unchecked:
    """Why nothing is said of an argument of another type than the schema of a Python function has."""

    why: str


IN_PYTHON = Unchecked("PyTorch's is a function in Python too, where a wrong argument fails wherever it is used first")
WIDER = Unchecked("it takes more than its schema says")


@dataclass(frozen=True)
class Out:
    """What `out=` may be. PyTorch asks for the very dtype of the result in some ops, in words of their own, and for one that takes the
    result (no floats to integers) in all others.

    In the words {out} and {result} stand for dtypes as in "Float", {out_cpp} and {result_cpp} as in "float". Statements are C++ with the
    arguments of the op in braces."""

    exact: tuple[str, ...] = ()  # words for an out= of another dtype than the result: for all results, or for each
    cast: str = ""  # words for one that cannot take the result, where they are not the usual ones
    same_kind: bool = False  # with `cast`: not complex for a result that is real, either
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


# ---- how vmap runs an op on a batch ----


@dataclass(frozen=True)
class Batching:
    """The rule of src/retrograd/func/_batching*.py that runs the op on a batch, and what the rule has to know: names of arguments, mostly."""

    rule: str
    words: tuple[str, ...] = ()


ELEMENTWISE = Batching("elementwise")  # what pointwise kernels have without saying
PARTS = Batching("parts")  # composites: the ops they are made of
NOTHING = Batching("nothing")  # no tensor to batch, among the arguments or the results
LOOP = Batching("loop")  # one example after the other


def along(dim: str, *second: str) -> Batching:
    """Along the dimensions that one argument names, or two, of tensors of one rank. A 0-d example counts as one of size 1."""
    return Batching("along", (dim, *second))


def along_some(*dims: str) -> Batching:
    """The same for an op that asks for a dimension: 0-d examples are its own to refuse."""
    return Batching("along_some", dims)


def along_new(dim: str) -> Batching:
    """Along a dimension of the result, which has one more than the tensors."""
    return Batching("along_new", (dim,))


def over_example(op: str) -> Batching:
    """Over all elements of an example: `op` does the same along dimensions."""
    return Batching("over_example", (op,))


def sized(size: str, *dims: str) -> Batching:
    """The result has the size that an argument says; `dims` are dimensions of it."""
    return Batching("sized", (size, *dims))


def leading(least: int = 0) -> Batching:
    """The op takes leading dimensions as a batch already, for examples of at least so many dimensions."""
    return Batching("leading", (str(least),))


def by(rule: str, *words: str) -> Batching:
    """A rule of its own, by name."""
    return Batching(rule, words)


# ---- how autocast runs it, as torch.autocast("cpu", bfloat16) does ----

LOWER_PRECISION = "lower precision"  # floating tensors in the dtype of autocast
FLOAT32 = "float32"  # floating tensors in at least that
PROMOTE = "promote"  # in the widest dtype among them
AS_IS = "as it is"  # made of ops that autocast would run otherwise, where PyTorch's is not
