"""The programs: where each comes from, at which revision, and how to run a short form of it."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field

from . import data


@dataclass(frozen=True)
class Program:
    repository: str
    name: str  # of the row; beside the repository
    run: tuple[str, ...]  # a script and its arguments, or what pytest gets
    folder: str = "."  # where it runs, in the repository
    steps: int = 20  # calls of `backward` until it is stopped; 0: it runs to its end
    tests: bool = False
    printed: bool = False  # it calls no `backward`: the numbers that it prints are compared
    stand_ins: tuple[str, ...] = ()
    prepare: Callable[[pathlib.Path], None] | None = None  # makes data in the folder
    sizes: dict[str, str] = field(default_factory=dict)  # constants that are written in the script and are too large here
    environment: dict[str, str] = field(default_factory=dict)
    tolerance: float = 1e-4  # of a loss, relative
    diagnoses: dict[str, str] = field(default_factory=dict)  # codes of the doctor that are true of it, and why

    @property
    def title(self) -> str:
        return f"{self.repository} {self.name}".strip()


REVISIONS = {
    "dgasmith/opt_einsum": "2ebc7b809cf0e1f584fe70bc90d2c0e6b5b7c521",
    "eriklindernoren/PyTorch-GAN": "36d3c77e5ff20ebe0aeefd322326a134a279b93e",
    "facebookresearch/higher": "15a247ac06cac0d22601322677daff0dcfff062e",
    "jcjohnson/pytorch-examples": "0003fcdc606a79951e53bf8f46f8574fa4739f23",
    "karpathy/makemore": "988aa59e4d8fefa526d06f3b453ad116258398d4",
    "karpathy/micrograd": "c911406e5ace8742e5841a7e0df113ecb5d54685",
    "karpathy/minGPT": "37baab71b9abea1b76ab957409a1cc2fbfba8a26",
    "karpathy/ng-video-lecture": "52201428ed7b46804849dea0b3ccf0de9df1a5c3",
    "kuangliu/pytorch-cifar": "49b7aa97b0c12fe0d4054e670403a16b6b834ddd",
    "lucidrains/vit-pytorch": "69d24fe9e3024c0d4b02761123b8583a24ebed1e",
    "pytorch/examples": "77f55b912142e11fcfdf5b530231fb9c52f181e8",
    "rfeinman/pytorch-minimize": "7fed93e99ae7d1af6576737165b8068ea65c2a29",
    "sksq96/pytorch-summary": "345d898d84507b848e92dab4629e03405e19afce",
}

_SEE = ("torchvision",)


def _minGPT(name: str, *options: str, **more: object) -> Program:
    return Program(
        "karpathy/minGPT",
        name,
        (f"projects/{name}/{name}.py", "--trainer.num_workers=0", *options),
        environment={"PYTHONPATH": "."},
        **more,  # type: ignore[arg-type]
    )


def _makemore(kind: str) -> Program:
    return Program(
        "karpathy/makemore",
        f"makemore.py --type {kind}",
        ("makemore.py", "--type", kind, "-n", "0"),
        steps=60,
    )


def _example(name: str, *run: str, **more: object) -> Program:
    folder, _, script = name.partition(" ")
    return Program("pytorch/examples", name, (script or "main.py", *run), folder, **more)  # type: ignore[arg-type]


_CIFAR = ("VGG('VGG19')", "ResNet18()", "PreActResNet18()", "MobileNetV2()", "ShuffleNetV2(1)", "SENet18()", "SimpleDLA()")

PROGRAMS = [
    _minGPT("adder", "--model.model_type=gpt-nano", "--data.ndigit=1", steps=60),
    _minGPT("chargpt", "--model.model_type=gpt-nano", steps=20, prepare=data.text),
    *(_makemore(kind) for kind in ("transformer", "bigram", "mlp", "rnn", "gru", "bow")),
    Program("karpathy/ng-video-lecture", "bigram.py", ("bigram.py",), steps=100, sizes={"eval_iters = 200": "eval_iters = 2"}),
    Program(
        "karpathy/ng-video-lecture",
        "gpt.py",
        ("gpt.py",),
        steps=10,
        sizes={
            "eval_iters = 200": "eval_iters = 1",
            "batch_size = 64 ": "batch_size = 8 ",
            "block_size = 256": "block_size = 64",
            "n_embd = 384": "n_embd = 96",
        },
    ),
    Program("karpathy/micrograd", "its tests", ("test",), tests=True),
    _example("mnist", "--epochs", "1", "--log-interval", "4", steps=0, stand_ins=_SEE),
    _example("regression", steps=200),
    _example("vae", "--epochs", "2", steps=0, stand_ins=_SEE),
    _example("reinforcement_learning reinforce.py", steps=15, stand_ins=("gymnasium",)),
    _example("reinforcement_learning actor_critic.py", steps=15, stand_ins=("gymnasium",)),
    _example("gcn", "--epochs", "20", steps=0, stand_ins=("requests",)),
    _example("gat", "--epochs", "3", "--num-heads", "2", steps=0, stand_ins=("requests",)),
    _example(
        "super_resolution",
        *("--upscale_factor", "3", "--batchSize", "4", "--testBatchSize", "2", "--nEpochs", "2", "--threads", "0"),
        steps=0,
        stand_ins=_SEE,
        prepare=data.photographs,
    ),
    Program(
        "pytorch/examples",
        "fast_neural_style",
        (
            *("neural_style/neural_style.py", "train", "--dataset", "images", "--style-image", "style.jpg", "--save-model-dir", "saved"),
            *("--epochs", "1", "--image-size", "48", "--batch-size", "2"),
        ),
        "fast_neural_style",
        steps=4,
        stand_ins=_SEE,
        prepare=data.styles,
    ),
    _example(
        "siamese_network",
        *("--epochs", "1", "--batch-size", "16", "--lr", "0.001"),
        steps=4,
        stand_ins=_SEE,
        tolerance=1e-3,  # a difference by rounding in the first loss, 7e-7, is five to ten times as large in each that follows
    ),
    _example(
        "time_sequence_prediction train.py",
        *("--steps", "1"),
        steps=3,
        prepare=data.waves,
        environment={"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"},  # it saves a NumPy array, which `torch.load` refuses by default
        tolerance=1e-6,
    ),
    *(
        Program(
            "kuangliu/pytorch-cifar",
            f"{model} in float64",
            ("main.py",),
            steps=3,
            stand_ins=(*_SEE, "stty"),
            prepare=data.checkpoint_folder,
            sizes={"net = SimpleDLA()": f"net = {model}", "batch_size=128": "batch_size=8"},
            environment={"COMPAT_DTYPE": "float64"},  # at this learning rate a rounding of the first step is seen in the third loss
            tolerance=1e-7,
        )
        for model in _CIFAR
    ),
    Program("lucidrains/vit-pytorch", "its tests", ("tests",), tests=True, stand_ins=_SEE),
    *(
        Program("jcjohnson/pytorch-examples", script, (script,), steps=50)
        for script in (
            "autograd/two_layer_net_autograd.py",
            "autograd/two_layer_net_custom_function.py",
            "nn/dynamic_net.py",
            "nn/two_layer_net_module.py",
            "nn/two_layer_net_nn.py",
            "nn/two_layer_net_optim.py",
        )
    ),
    Program(
        "jcjohnson/pytorch-examples",
        "tensor/two_layer_net_tensor.py",
        ("tensor/two_layer_net_tensor.py",),
        steps=0,
        printed=True,
        tolerance=0.05,
    ),  # down to 1e-9 of the first loss
    Program(
        "facebookresearch/higher",
        "its tests",
        ("tests",),
        tests=True,
        diagnoses={
            "disconnected_parameter": "one of its models has a parameter that it does not use, on purpose",
            "nan_origin": "the sum of squares that is trained grows without bound, to infinity on PyTorch, too",
            "dead_gradient": "the same loop drives a sigmoid to where it is flat",
        },
    ),
    Program(
        "rfeinman/pytorch-minimize",
        "its tests",
        ("tests",),
        tests=True,
        diagnoses={
            "nan_origin": "`cg`, started at the exact minimum by one test, divides zero by zero, and what it returns is NaN on PyTorch, too"
        },
    ),
    Program("eriklindernoren/PyTorch-GAN", "wgan_gp", ("wgan_gp.py",), "implementations/wgan_gp", steps=20, stand_ins=_SEE),
    Program("sksq96/pytorch-summary", "its tests", ("torchsummary/tests/unit_tests",), tests=True),
    Program(
        "dgasmith/opt_einsum", "its tests", ("opt_einsum/tests", "-k", "torch or not backends"), tests=True
    ),  # most of them on NumPy's arrays
    Program("dgasmith/opt_einsum", "its tests on tensors", ("opt_einsum/tests", "-k", "torch"), tests=True),
]
