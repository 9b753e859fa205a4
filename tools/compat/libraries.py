"""The libraries, and the small program of ours that uses each."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Library:
    package: str  # as pip knows it
    script: str = ""  # small/use_<script>.py; of the package's name otherwise
    tolerance: float = 1e-4
    environment: dict[str, str] = field(default_factory=dict)
    diagnoses: dict[str, str] = field(default_factory=dict)  # as those of a program

    stand_ins: tuple[str, ...] = ()
    steps: int = 0
    tests: bool = False
    printed: bool = False

    @property
    def run(self) -> tuple[str, ...]:
        return (f"use_{self.script or self.package.lower().replace('-', '_')}.py",)

    @property
    def title(self) -> str:
        return self.package + (f" ({self.script})" if self.script else "")


_NAMES = """
captum curvlinops-for-pytorch einops geoopt gpytorch higher jaxtyping loralib nflows opacus peft prodigyopt pytorch-lightning pytorch-metric-learning
rotary-embedding-torch sentence-transformers skorch tensorboardX tensorly torch-ema torch-geometric torch-optimizer torchcde torchdiffeq torchinfo torchjd
torchmetrics transformers vit-pytorch xitorch zuko
"""

_SCRIPTS = {"transformers": ("transformers_gpt2", "transformers_llama", "transformers_bert")}
_STAND_INS = {"vit-pytorch": ("torchvision",)}

LIBRARIES = [Library(name, script, stand_ins=_STAND_INS.get(name, ())) for name in _NAMES.split() for script in _SCRIPTS.get(name, ("",))]
