"""Optimizers: what they keep and count."""

from importlib import import_module


def evaluations_of_lbfgs(torch, nn, show):
    for options in ({}, {"max_iter": 1}, {"line_search_fn": "strong_wolfe"}, {"max_eval": 3}):
        p = nn.Parameter(torch.tensor([3.0, -2.0], dtype=torch.float64))
        optimizer = torch.optim.LBFGS([p], lr=0.5, **{"max_iter": 4, **options})
        calls = []

        def closure(p=p, optimizer=optimizer, calls=calls):
            optimizer.zero_grad()
            loss = (p**4).sum() + p.prod()
            loss.backward()
            calls.append(loss.item())
            return loss

        for _ in range(3):
            optimizer.step(closure)
        state = optimizer.state[p]
        show(calls, state["func_evals"], state["n_iter"])


def betas_given_as_a_list(torch, nn, show):
    for name in ("Adam", "AdamW", "NAdam", "RAdam", "Adamax"):
        optimizer = getattr(torch.optim, name)([nn.Parameter(torch.ones(1))], betas=[0.8, 0.9])
        show(name, optimizer.defaults["betas"], optimizer.param_groups[0]["betas"])


def steps_without_an_optimizer(torch, show, attempt):
    adam, adamw, sgd = (getattr(import_module(f"{torch.__name__}.optim.{name}"), name) for name in ("adam", "adamw", "sgd"))
    for function in (adam, adamw):
        for amsgrad in (False, True):
            p, grads = [torch.ones(2)], [torch.tensor([0.5, -2.0])]
            mean, square, largest, step = ([torch.zeros(2)], [torch.zeros(2)], [torch.zeros(2)], [torch.tensor(0.0)])
            options = {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.2, "eps": 1e-8, "maximize": False}
            for _ in range(2):
                function(p, grads, mean, square, largest if amsgrad else [], step, amsgrad=amsgrad, **options)
            show(p, mean, square, largest, step)
    attempt(lambda: adam(p, grads, mean, square, [], [1], amsgrad=False, **options))
    buffers = [None]
    for momentum in (0.0, 0.9):
        for _ in range(2):
            sgd(p, grads, buffers, weight_decay=0.1, momentum=momentum, lr=0.1, dampening=0.0, nesterov=False, maximize=False)
        show(p, buffers)


def steps_without_an_optimizer_under_a_scaler(torch, show, attempt):
    adam, sgd = (getattr(import_module(f"{torch.__name__}.optim.{name}"), name) for name in ("adam", "sgd"))
    for given in ({"grad_scale": torch.tensor(2.0)}, {"found_inf": torch.tensor(1.0)}, {"found_inf": torch.tensor(0.0)}):
        for fused in (None, True):
            p, grads = [torch.ones(2)], [torch.full((2,), 4.0)]
            options = {"lr": 0.1, "weight_decay": 0.0, "maximize": False, "fused": fused, **given}
            attempt(lambda: sgd(p, grads, [None], momentum=0.0, dampening=0.0, nesterov=False, **options))
            show(p, grads)
            states = [[torch.zeros(2)], [torch.zeros(2)], [], [torch.tensor(0.0)]]
            attempt(lambda: adam(p, grads, *states, amsgrad=False, beta1=0.9, beta2=0.99, eps=1e-8, **options))
            show(p, grads, states)


def other_steps_without_an_optimizer(torch, show, attempt):
    functional = import_module(f"{torch.__name__}.optim._functional")
    common = {"lr": 0.1, "weight_decay": 0.2}
    means = {"beta1": 0.8, "beta2": 0.9, "eps": 1e-8}
    sizes = {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5, "etaplus": 1.2}
    mean = {"alpha": 0.9, "eps": 1e-8}
    for name, values, options in (
        ("adadelta", (0.0, 0.0), {**common, "rho": 0.9, "eps": 1e-6, "maximize": False}),
        ("adagrad", (0.5,), {**common, "lr_decay": 0.1, "eps": 1e-10, "maximize": True}),
        ("adamax", (0.0, 0.0), {**common, **means}),
        ("asgd", (0.0, 1.0, 0.1), {**common, "lambd": 1e-2, "t0": 1.0, "alpha": 0.75}),
        ("nadam", (0.0, 0.0, 1.0), {**common, **means, "momentum_decay": 0.1}),
        ("nadam", (0.0, 0.0, 1.0), {**common, **means, "momentum_decay": 0.1, "decoupled_weight_decay": True}),
        ("radam", (0.0, 0.0), {**common, **means}),
        ("rmsprop", (0.0, 0.0, 0.0), {**common, **mean, "momentum": 0.5, "centered": True}),
        ("rmsprop", (0.0, None, None), {**common, **mean, "momentum": 0.0, "centered": False}),
        ("rprop", (0.0, 0.1), sizes),
    ):
        function = getattr(functional, name)
        for dtype in (torch.float64, torch.complex128):
            p = [torch.ones(2, dtype=dtype), torch.zeros(1, dtype=dtype)]
            single = name == "asgd"
            lists = [
                []
                if x is None
                else [torch.full(() if single and i else (len(q),), x, dtype=torch.float64 if single and i else dtype) for q in p]
                for i, x in enumerate(values)
            ]
            if name == "nadam":
                lists[2] = [torch.ones(()) for _ in p]
            steps = [torch.tensor(0.0), torch.tensor(0.0)]
            before = [x for each in lists for x in each]
            for k in range(3):
                function(p, [torch.tensor([0.5, -2.0], dtype=dtype) * (-1) ** k, torch.ones(1, dtype=dtype)], *lists, steps, **options)
            show(name, p, lists, steps, all(a is b for a, b in zip(before, [x for each in lists for x in each], strict=True)))
        if name != "asgd":
            attempt(lambda: function(p, p, *lists, [1, 1], **options))
        if name != "adagrad":
            attempt(lambda: function(p, p, *lists, steps, capturable=True, **options))


def sparse_step_without_an_optimizer(torch, show):
    sparse_adam = import_module(f"{torch.__name__}.optim._functional").sparse_adam
    p, mean, square = [torch.ones(3)], [torch.zeros(3)], [torch.zeros(3)]
    for step in (1, 2):
        grad = torch.sparse_coo_tensor([[0, 2, 0]], [1.0, -2.0, 0.5], (3,))
        sparse_adam(p, [grad], mean, square, [step], eps=1e-8, beta1=0.9, beta2=0.99, lr=0.1, maximize=step == 2)
        show(p, mean, square)


def parts_for_optimizers_of_others(torch, nn, show, attempt):
    parts = import_module(f"{torch.__name__}.optim.optimizer")

    class Descent(parts.Optimizer):
        def __init__(self, params, differentiable=False):
            super().__init__(params, {"lr": 0.5, "differentiable": differentiable})

        @parts._use_grad_for_differentiable
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])
            return torch.is_grad_enabled()

    p = nn.Parameter(torch.ones(2))
    (p * 3).sum().backward()
    show(Descent([p]).step(), p)
    q = torch.ones(2, requires_grad=True).clone()
    q.grad = torch.ones(2)
    show(Descent([q], differentiable=True).step(), q.detach())
    show(parts._get_value(torch.tensor(2.0)), parts._get_value(3), parts._to_scalar(torch.ones(1, 1)), parts._to_scalar(3))
    show(
        parts._stack_if_compiling(torch.tensor(2.0)),
        str(parts._get_scalar_dtype()).split(".")[1],
        parts._get_capturable_supported_devices(supports_xla=False),
    )
    whole, ints, numbers = torch.ones(2), torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.complex64)
    for params in ([whole], [whole, None], [ints]):
        for differentiable in (False, True):
            show(
                parts._default_to_fused_or_foreach(params, differentiable),
                parts._default_to_fused_or_foreach(params, differentiable, use_fused=True),
            )
    attempt(lambda: parts._device_dtype_check_for_fused(whole))
    attempt(lambda: parts._device_dtype_check_for_fused(ints))
    params, state = [numbers, whole], [numbers.clone(), whole.clone()]
    parts._view_as_real(params, state)
    show(params, state)
    for with_indices in (False, True):
        grouped = parts._group_tensors_by_device_and_dtype(
            [[whole, whole.double(), whole], [None, whole.double(), whole], []], with_indices
        )
        show({str(dtype).split(".")[1]: grouped[device, dtype] for device, dtype in sorted(grouped, key=str)})
    show(repr(parts.required), hasattr(parts, "ParamsT"))


def capturable_steps_on_the_cpu(torch, nn, attempt):
    for name in ("Adadelta", "Adam", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"):
        p = nn.Parameter(torch.ones(2))
        p.grad = torch.ones(2)
        attempt(getattr(torch.optim, name)([p], capturable=True).step)


def fused_and_capturable(torch, nn, show):
    for name in ("Adam", "AdamW"):
        for amsgrad in (False, True):
            p = nn.Parameter(torch.ones(2))
            p.grad = torch.tensor([0.5, -2.0])
            optimizer = getattr(torch.optim, name)([p], fused=True, capturable=True, amsgrad=amsgrad)
            optimizer.step()
            show(p, optimizer.state[p])


def amsgrad_switched_on_late(torch, nn, show, attempt):
    for name in ("Adam", "AdamW"):
        params = [nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(1))]
        for p in params:
            p.grad = torch.full_like(p, 0.5)
        optimizer = getattr(torch.optim, name)(params, lr=0.1)
        optimizer.step()
        optimizer.param_groups[0]["amsgrad"] = True
        attempt(optimizer.step)
        show(params, [optimizer.state[p] for p in params])


def steps_of_private_modules(torch, show, attempt):
    from importlib import import_module

    root = torch.__name__
    p, grad = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[0.5, -0.25], [1.0, 2.0]])
    adafactor = import_module(f"{root}.optim._adafactor")
    rows, columns, step = torch.zeros(2, 1), torch.zeros(1, 2), torch.zeros(())
    options = {"d": 1.0, "lr": 0.01, "beta2_decay": -0.8, "weight_decay": 0.1, "eps1": 1e-30, "eps2": 1e-3, "maximize": False}
    for _ in range(3):
        adafactor.adafactor([p], [grad], [rows], [columns], [None], [step], **options)
    show(p, rows, columns, step)
    line, variance, step = torch.tensor([1.0, 2.0]), torch.zeros(2), torch.zeros(())
    adafactor.adafactor([line], [grad[0]], [None], [None], [variance], [step], **options)
    show(line, variance, step)
    attempt(lambda: adafactor.adafactor([line], [grad[0]], [None], [None], [variance], [1], **options))
    muon = import_module(f"{root}.optim._muon")
    mean = torch.zeros(2, 2)
    options = {
        "lr": 0.1,
        "weight_decay": 0.1,
        "momentum": 0.9,
        "nesterov": True,
        "ns_coefficients": (3.4445, -4.775, 2.0315),
        "ns_steps": 5,
        "eps": 1e-7,
    }
    muon.muon([p], [grad], [mean], adjust_lr_fn=None, has_complex=False, **options)
    show(mean, p.round(decimals=2))
    attempt(lambda: muon.muon([p], [grad], [mean], adjust_lr_fn=None, has_complex=False, foreach=True, **options))
    show(adafactor.Adafactor is torch.optim.Adafactor, muon.Muon is torch.optim.Muon)
