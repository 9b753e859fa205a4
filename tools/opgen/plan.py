"""The graph node of an op: which inputs get gradients, what has to be saved for each formula, the edge each gradient leaves by."""

from __future__ import annotations

import re

from optable import Op
from optable.types import GEOMETRY, TENSOR, Saved

from .text import fill


def words(formula: str) -> list[str]:
    """The names in a formula that are not members or qualified; not a set, so that the generated text is the same each time."""
    return list(dict.fromkeys(re.findall(r"(?<![.\w:])([A-Za-z_]\w*)", formula)))


class Plan:
    def __init__(self, op: Op) -> None:
        self.op = op
        self.formulas = [(key.split(", "), expr) for key, expr in op.grad.items()]
        wanted = {name for targets, _ in self.formulas for name in targets}
        self.inputs = [p for p in op.params if p.name in wanted]
        self.list_input = next((p for p in self.inputs if p.is_list), None)
        self.outputs = [r for r in op.returns if r.is_tensor and r.name not in op.outputs_nondiff]
        self.fields: dict[str, Saved] = {}
        self.uses: list[set[str]] = []  # the fields of each formula
        for _, expr in self.formulas:
            found = {word: saved for word in words(expr) if (saved := self.field(word))}
            self.fields |= found
            self.uses.append(set(found))

    def field(self, word: str) -> Saved | None:
        """How a name in a formula is kept; None where it is no argument, result, or geometry of one."""
        for p in self.op.params:
            if word == p.name:
                if p.row.saved is None:
                    raise ValueError(
                        f"{self.op.schema}: a node cannot keep {word!r}, for the type {p.type} has no `saved` in optable/types.py"
                    )
                return p.row.saved
        for r in self.op.returns:
            if word == r.name and r.type == "Tensor":
                return TENSOR
        base, _, suffix = word.rpartition("_")
        tensors = {p.name for p in self.op.params if p.is_tensor} | {r.name for r in self.op.returns}
        return GEOMETRY[suffix][0] if base in tensors and suffix in GEOMETRY else None

    @property
    def num_edges(self) -> str:
        return str(len(self.inputs)) if self.list_input is None else f"{self.list_input.name}.size() + {len(self.inputs) - 1}"

    def edge(self, name: str) -> str:
        """Index of an input's edge; list inputs take as many as they have elements."""
        at = [p.name for p in self.inputs].index(name)
        if self.list_input is None or at <= self.inputs.index(self.list_input):
            return str(at)
        return f"{self.list_input.name}.size() + {at - 1}"

    def place(self, target: str) -> str:
        """The same inside apply, where the list is gone."""
        at = [p.name for p in self.inputs].index(target)
        return str(at) if self.list_input is None or at < self.inputs.index(self.list_input) else f"list_size + {at - 1}"

    def is_of_result(self, word: str) -> bool:
        """Whether a field is known only when the kernel has run."""
        return any(word == r.name or word.startswith(f"{r.name}_") for r in self.op.returns)

    def save_statement(self, word: str, source: str | None = None) -> str:
        """Fills a field of the node; `source` is the tensor that stands for the named one, in place."""
        saved = self.fields[word]
        if any(p.name == word for p in self.op.params):
            return saved.save.format(name=word, value=source or word)
        for r in self.op.returns:
            if r.name == word:
                if r not in self.outputs:
                    return saved.save.format(name=word, value=source or word)
                return f"fn->{word}.save_output({source or word}, {self.outputs.index(r)});"
        base, suffix = word.rsplit("_", 1)
        tensor = present = source or base
        if any(q.name == base and q.is_operand for q in self.op.params):
            tensor, present = f"Tensor::borrow({base}.tensor)", f"{base}.tensor"
        statement = saved.save.format(name=word, value=GEOMETRY[suffix][1].format(tensor))
        return statement if suffix in ("shapes", "dtypes") else f"if ({present}) {statement}"

    def unpack_statement(self, word: str) -> str:
        return self.fields[word].unpack.format(name=word)

    def shared_tensors(self) -> set[str]:
        """What several formulas read: unpacked once, for hooks may have to compute it."""
        read = [w for used in self.uses for w in used if self.fields[w].unpacked]
        return {w for w in read if read.count(w) > 1}

    def needed(self, target: str) -> str:
        return "true" if self.list_input is not None and target == self.list_input.name else f"call.needs({self.place(target)})"


NODE = """
struct $node : Node {
  static const NodeInfo info;
  $fields
  $edges
};
$saved_table
$apply
const NodeInfo $node::info = {.name = "$node", .bytes = sizeof($node), .edges_offset = $edges_offset, .apply = ${node}_apply, .saved = $saved$conjugates$steep};
"""


def node_struct(op: Op, plan: Plan) -> str:
    fixed = plan.list_input is None
    rows = ", ".join(f'{{"{name}", FieldKind::{saved.field}, offsetof({op.node}, {name})}}' for name, saved in plan.fields.items())
    # What is linear with real coefficients has the same formula for complex numbers.
    conjugates = not op.wirtinger and op.jvp != "linear"
    return fill(
        NODE,
        node=op.node,
        fields="\n".join(f"{saved.type} {name};" for name, saved in plan.fields.items()),
        edges=f"Edge edge_array[{len(plan.inputs)}];" if fixed else "",
        saved_table=f"const SavedField {op.node}_saved[] = {{{rows}}};" if plan.fields else "",
        apply=apply_function(op, plan),
        edges_offset=f"offsetof({op.node}, edge_array)" if fixed else "0",
        saved=f"{op.node}_saved" if plan.fields else "{}",
        conjugates=", .conjugates = true" if conjugates else "",
        steep=", .steep = true" if op.steep else "",
    )


APPLY = """
void ${node}_apply(Call& call) {
  [[maybe_unused]] auto* fn = static_cast<$node*>(call.node);
  $one_grad
  [[maybe_unused]] const std::span<Tensor> grads = call.in;
  $list_size
  $unpack_shared
  $formulas
}
"""
ONE = """
if (call.needs($at)) {
  $unpack
  call.out[$at] = $formula;
}
"""
TOGETHER = """
if ($any_needed) {
  $needs
  $unpack
  std::tie($outs) = $formula;
}
"""
LIST = """
{
  $unpack
  std::vector<Tensor> parts = $formula;
  for (size_t i = 0; i < parts.size() && i < list_size; ++i) call.out[i] = std::move(parts[i]);
}
"""


def apply_function(op: Op, plan: Plan) -> str:
    one_grad = len(plan.outputs) == 1 and plan.outputs[0].type == "Tensor"
    return fill(
        APPLY,
        node=op.node,
        one_grad="[[maybe_unused]] const Tensor& grad = call.in[0];" if one_grad else "",
        list_size=f"const size_t list_size = fn->num_edges - {len(plan.inputs) - 1};" if plan.list_input else "",
        unpack_shared="\n".join(unpack_if_needed(plan, word) for word in sorted(plan.shared_tensors())),
        formulas="".join(formula_block(plan, *each) for each in zip(plan.formulas, plan.uses, strict=True)),
    )


def unpack_if_needed(plan: Plan, word: str) -> str:
    users = [targets for (targets, _), used in zip(plan.formulas, plan.uses, strict=True) if word in used]
    wanted = dict.fromkeys(plan.needed(t) for targets in users for t in targets)
    name, value = plan.unpack_statement(word).removesuffix(";").split(" = ")
    return f"{name} = {' || '.join(wanted)} ? {value} : {plan.fields[word].unpacked}();"


def formula_block(plan: Plan, formula: tuple[list[str], str], used: set[str]) -> str:
    targets, expr = formula
    unpack = "\n".join(plan.unpack_statement(w) for w in sorted(used - plan.shared_tensors()))
    if len(targets) > 1:
        at = {t: [p.name for p in plan.inputs].index(t) for t in targets}
        return fill(
            TOGETHER,
            any_needed=" || ".join(f"call.needs({i})" for i in at.values()),
            needs="\n".join(f"[[maybe_unused]] const bool needs_{t} = call.needs({i});" for t, i in at.items()),
            outs=", ".join(f"call.out[{i}]" for i in at.values()),
            unpack=unpack,
            formula=expr,
        )
    if plan.list_input is not None and targets[0] == plan.list_input.name:
        return fill(LIST, unpack=unpack, formula=expr)
    return fill(ONE, at=plan.place(targets[0]), unpack=unpack, formula=expr)
