"""Names, signatures and doc strings of torch.autograd."""

import inspect


def names_in_torch_autograd(torch, leaf, show):
    names = [
        "Function",
        "NestedIOFunction",
        "Variable",
        "backward",
        "detect_anomaly",
        "enable_grad",
        "forward_ad",
        "function",
        "functional",
        "grad",
        "grad_mode",
        "gradcheck",
        "gradgradcheck",
        "graph",
        "inference_mode",
        "no_grad",
        "set_detect_anomaly",
        "set_grad_enabled",
        "set_multithreading_enabled",
        "anomaly_mode",
        "is_tensor",
        "_unsafe_preserve_version_counter",
    ]
    show([n for n in names if hasattr(torch.autograd, n)])
    names = [
        "backward",
        "grad",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "retain_grad",
        "retains_grad",
        "is_leaf",
        "output_nr",
        "grad_fn",
        "_grad_fn",
        "_grad",
        "_version",
        "_base",
        "_backward_hooks",
        "_post_accumulate_grad_hooks",
        "requires_grad",
        "requires_grad_",
        "detach",
        "detach_",
        "data",
        "grad_dtype",
        "_is_view",
    ]
    show([n for n in names if hasattr(leaf(1.0), n)])


def names_of_torch_autograd_function(torch, Function, show):
    names = [
        "BackwardCFunction",
        "Function",
        "FunctionCtx",
        "FunctionMeta",
        "InplaceFunction",
        "NestedIOFunction",
        "once_differentiable",
        "traceable",
    ]
    show([n for n in names if hasattr(torch.autograd.function, n)])
    show(torch.autograd.function.Function is Function, torch.autograd.function.FunctionMeta is type(Function))


def names_of_torch_autograd_graph(graph, show):
    names = [
        "GradientEdge",
        "Node",
        "allow_mutation_on_saved_tensors",
        "disable_saved_tensors_hooks",
        "get_gradient_edge",
        "increment_version",
        "register_multi_grad_hook",
        "save_on_cpu",
        "saved_tensors_hooks",
        "_MultiHandle",
        "set_warn_on_accumulate_grad_stream_mismatch",
    ]
    show([n for n in names if hasattr(graph, n)])


def variable_module(torch, show):
    show(hasattr(torch.autograd, "variable"))
    show(torch.autograd.variable.Variable is torch.autograd.Variable, hasattr(torch.autograd, "SavedTensor"))
    show(isinstance(torch.ones(1), torch.autograd.variable.Variable), isinstance(3, torch.autograd.Variable))


def kinds_of_saved_tensors(torch, leaf, show, kind):
    x = leaf(1.0)
    show(isinstance((x * x).grad_fn._raw_saved_self, torch.autograd.SavedTensor))
    kind(lambda: torch.autograd.SavedTensor.register_hooks(3))


def set_warn_on_accumulate_grad_stream_mismatch(graph, attempt):
    attempt(lambda: graph.set_warn_on_accumulate_grad_stream_mismatch(False))
    attempt(lambda: graph.set_warn_on_accumulate_grad_stream_mismatch(True))


def multithreading(torch, show):
    show(torch.autograd.is_multithreading_enabled())
    with torch.autograd.set_multithreading_enabled(False):
        show(torch.autograd.is_multithreading_enabled())
    show(torch.autograd.is_multithreading_enabled())


def signatures(torch, autograd, Function, graph, fwAD, show):
    for f in (
        autograd.backward,
        autograd.grad,
        autograd.gradcheck,
        autograd.gradgradcheck,
        graph.register_multi_grad_hook,
        graph.get_gradient_edge,
        graph.increment_version,
        graph.saved_tensors_hooks.__init__,
        graph.save_on_cpu.__init__,
        graph.disable_saved_tensors_hooks,
        autograd.detect_anomaly.__init__,
        autograd.set_detect_anomaly.__init__,
        autograd.functional.jacobian,
        autograd.functional.hessian,
        autograd.functional.vjp,
        autograd.functional.jvp,
        autograd.functional.vhp,
        autograd.functional.hvp,
        torch.Tensor.register_hook,
        torch.Tensor.register_post_accumulate_grad_hook,
        Function.forward,
        Function.setup_context,
        Function.backward,
        Function.jvp,
        Function.vmap,
        fwAD.make_dual,
        fwAD.unpack_dual,
        fwAD.enter_dual_level,
        fwAD.exit_dual_level,
    ):
        show([(p.name, p.kind.name, p.default if p.default is not p.empty else "-") for p in inspect.signature(f).parameters.values()])


def doc_strings_are_there(torch, autograd, Function, graph, show):
    for f in (
        autograd.backward,
        autograd.grad,
        autograd.gradcheck,
        autograd.detect_anomaly,
        autograd.set_detect_anomaly,
        graph.saved_tensors_hooks,
        graph.save_on_cpu,
        graph.register_multi_grad_hook,
        graph.GradientEdge,
        Function,
        Function.forward,
        Function.backward,
        Function.jvp,
        Function.vmap,
        Function.setup_context,
        torch.Tensor.backward,
        torch.Tensor.register_hook,
        torch.Tensor.retain_grad,
    ):
        show(bool(f.__doc__))


def modules_of_names(autograd, Function, graph, show):
    for f in (
        autograd.backward,
        autograd.grad,
        autograd.gradcheck,
        autograd.detect_anomaly,
        graph.saved_tensors_hooks,
        graph.GradientEdge,
        Function,
        graph.Node,
    ):
        show(f.__module__.split(".", 1)[-1], f.__qualname__)
