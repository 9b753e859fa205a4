"""Steps of optimizers: each writes the parameters of a group, and what the optimizer keeps of them, in one pass over their memory.

Where a step cannot be made so (tensors of several dtypes, views, memory that is shared), nothing is written, the result is False, and the
optimizer makes the step of ordinary ops. Adam's count the step first.
"""

from __future__ import annotations

from optable import native, op
from optable.facts import STEP

op(
    "_fused_sgd_(Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, *, float weight_decay, float momentum, float lr, float dampening, "
    "bool nesterov, bool maximize) -> bool",
    variants="internal",
    kernel=native(complex="lazy"),
    no_grad=STEP,
    mutates=("self", "momentum_buffer_list"),
    doc="A step of SGD, where it can be made in one pass. The list of buffers is empty for a momentum of 0.",
)

for _name, _decay in (("_fused_adam_", "added to the gradients"), ("_fused_adamw_", "taken off the parameters")):
    op(
        f"{_name}(Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, Tensor[] state_steps, *, "
        "float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, bool maximize) -> bool",
        variants="internal",
        kernel=native(complex="lazy"),
        no_grad=STEP,
        mutates=("self", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs", "state_steps"),
        crosses_devices=True,  # the counts of steps are kept on the CPU
        doc=f"A step of Adam with the weight decay {_decay}, where it can be made in one pass.",
    )
