"""How the weights of a transformers model are loaded: from where, onto what, how precise, with whose code.

A folder with `adapter_config.json` is an adapter of PEFT: its base is loaded first, from where the adapter names it.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lapsus.core.imports import import_optional, import_package
from lapsus.core.messages import format_list
from lapsus.core.terminal import hide_transformers_bars
from lapsus.io.readers import strip_error_message

PIECES = 64  # of a weights file that its fingerprint reads
PIECE_BYTES = 1 << 16
QUANTISATIONS = ("4bit", "8bit")
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")
ADAPTER_TASKS = {  # how PEFT calls what transformers loads
    "CAUSAL_LM": "AutoModelForCausalLM",
    "QUESTION_ANS": "AutoModelForQuestionAnswering",
    "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
    "SEQ_CLS": "AutoModelForSequenceClassification",
    "TOKEN_CLS": "AutoModelForTokenClassification",
}


@dataclass(frozen=True)
class Checkpoint:
    """Where the files of a model are.

    Args:
        path: The folder or the id that was given.
        base: Where the weights are: `path`, or what an adapter was trained on.
        revision: The revision of `base`, if not the newest.
        adapter: The config of the adapter, if `path` is one.
        trust_remote_code: Whether code that comes with the model may run.
    """

    path: str
    base: str
    revision: str | None
    adapter: Mapping[str, Any] | None
    trust_remote_code: bool

    @property
    def kwargs(self) -> dict[str, Any]:
        """What every file of the base is read with."""
        return {"trust_remote_code": self.trust_remote_code} | ({"revision": self.revision} if self.revision else {})

    @cached_property
    def base_config(self) -> Any:
        """The config of the base."""
        return self._read_config(self.base, self.kwargs)

    @cached_property
    def config(self) -> Any:
        """The config of the model; an adapter may bring its own, with the labels that it was trained for."""
        if self.adapter is None or not (Path(self.path) / "config.json").is_file():
            return self.base_config
        return self._read_config(self.path, {"trust_remote_code": self.trust_remote_code})

    def _read_config(self, path: str, kwargs: Mapping[str, Any]) -> Any:
        try:
            with refuse_remote_code(path):
                return import_optional("transformers", "models").AutoConfig.from_pretrained(path, **kwargs)
        except OSError as error:
            raise FileNotFoundError(
                f"there is no folder {path}, and the Hub gives no model of this id ({strip_error_message(error)}); "
                "give the folder that save_pretrained wrote, or another id"
            ) from error

    def load_tokenizer(self) -> Any:
        """Return the tokenizer: the adapter's own, if it has one."""
        own = self.adapter is not None and (Path(self.path) / "tokenizer_config.json").is_file()
        auto = import_optional("transformers", "models").AutoTokenizer
        with refuse_remote_code(self.path):
            if own:
                return auto.from_pretrained(self.path, trust_remote_code=self.trust_remote_code)
            return auto.from_pretrained(self.base, **self.kwargs)

    def fingerprint(self) -> str:
        """Return what tells these weights from others: a hash of a folder, or the commit of the Hub."""
        local = Path(self.base)
        mark = (
            fingerprint_folder(local)
            if local.is_dir()
            else getattr(self.base_config, "_commit_hash", None) or self.revision or "unknown"
        )
        return mark if self.adapter is None else f"{fingerprint_folder(Path(self.path))} on {self.base} at {mark}"


def find_checkpoint(spec: str, *, trust_remote_code: bool = False) -> Checkpoint:
    """Return the model that `PATH-OR-ID[@REVISION]` names."""
    path, _, revision = spec.partition("@")
    adapter_file = Path(path) / "adapter_config.json"
    if not adapter_file.is_file():
        _check_folder(path)
        return Checkpoint(path, path, revision or None, None, trust_remote_code)
    adapter = json.loads(adapter_file.read_text(encoding="utf-8"))
    base = adapter.get("base_model_name_or_path")
    if not base:
        raise ValueError(f"{adapter_file} does not say what it was trained on; add base_model_name_or_path")
    _check_folder(base, f", the base of the adapter {path}; mend base_model_name_or_path in its adapter_config.json")
    return Checkpoint(path, base, adapter.get("revision"), adapter, trust_remote_code)


def _check_folder(path: str, cure: str = "; give the folder of a model, or its id on the Hub") -> None:
    local = Path(path)
    if local.exists() and not (local / "config.json").is_file():
        raise FileNotFoundError(f"{path} has no config.json; give the folder that save_pretrained wrote")
    if not local.exists() and (path.startswith((".", "/", "~")) or path.count("/") > 1):
        raise FileNotFoundError(f"there is no folder {path}{cure}")


def explain_remote_code(path: str) -> str:
    """Return what to do about a model that needs code of its own, which nobody has asked to run."""
    return (
        f"{path} needs code that comes with it; read that code, and add --trust-remote-code to run it "
        "(trust_remote_code=True in Python)"
    )


@contextmanager
def refuse_remote_code(path: str) -> Iterator[None]:
    """Refuse in one sentence what transformers refuses in many."""
    try:
        yield
    except ValueError as error:
        if "trust_remote_code" in str(error):
            raise ValueError(explain_remote_code(path)) from error
        raise


def fingerprint_folder(folder: Path) -> str:
    """Return a hash of a model's folder: its small files, and pieces from all over its weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith(".") or path.suffix == ".md":
            continue
        size = path.stat().st_size
        digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as file:
            for piece in range(PIECES):
                file.seek(size * piece // PIECES)
                digest.update(file.read(PIECE_BYTES))
    return digest.hexdigest()[:16]


def choose_device(torch: Any, device: str | None) -> str:
    """Return the device of a model: the one that is named, else a GPU, Apple's or any other, else the processor."""
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    usable = [name for name, is_there in present.items() if is_there]
    if device is None:
        return usable[0]
    try:
        kind, number = torch.device(device).type, torch.device(device).index or 0
    except RuntimeError as error:
        raise ValueError(f"{device!r} is no device; use one of: {format_list(usable)}") from error
    if not present.get(kind, True) or (kind == "cuda" and number >= torch.cuda.device_count()):
        raise ValueError(f"this machine has no device {device!r}; use one of: {format_list(usable)}")
    return device


def load_weights(checkpoint: Checkpoint, auto: str, options: Mapping[str, Any]) -> tuple[Any, str, str]:
    """Return the model of a checkpoint, the device that its inputs go to, and the precision as words."""
    transformers, torch = import_optional("transformers", "models"), import_optional("torch", "models")
    device, device_map = choose_device(torch, options.get("device")), options.get("device_map")
    if device_map and options.get("device"):
        raise ValueError("--device names one device, --device-map spreads a model over several; give one of the two")
    dtype = options.get("dtype") or (
        "bfloat16" if device.startswith("cuda") and torch.cuda.is_bf16_supported() else "float32"
    )
    kwargs = checkpoint.kwargs | {"dtype": getattr(torch, dtype), "output_loading_info": True}
    quantisation = options.get("quantisation")
    if quantisation:
        kwargs["quantization_config"] = make_quantisation_config(checkpoint, quantisation, kwargs["dtype"])
    if device_map or quantisation or getattr(checkpoint.config, "quantization_config", None):
        import_package("accelerate", "a model that is quantised or spread over devices")
        kwargs["device_map"] = device_map or {"": device}  # quantised weights cannot be moved later
    if checkpoint.config is not checkpoint.base_config:
        kwargs["config"] = checkpoint.config
    with hide_transformers_bars(), refuse_remote_code(checkpoint.path):
        model, loading_info = getattr(transformers, auto).from_pretrained(checkpoint.base, **kwargs)
    _check_missing(checkpoint, loading_info["missing_keys"])
    if "device_map" not in kwargs:
        model = model.to(device)
    elif device_map:
        device = "cpu" if model.device.type == "meta" else str(model.device)
    if checkpoint.adapter is not None:
        model = add_adapter(model, checkpoint, auto)
    words = [dtype, quantisation, "with its own code" if checkpoint.trust_remote_code else None]
    return model.eval(), device, " ".join(filter(None, words))


def make_quantisation_config(checkpoint: Checkpoint, quantisation: str, dtype: Any) -> Any:
    """Return how bitsandbytes shrinks the weights while they are loaded."""
    if quantisation not in QUANTISATIONS:
        raise ValueError(f"quantisation is {quantisation!r}; give one of: {format_list(QUANTISATIONS)}")
    if getattr(checkpoint.config, "quantization_config", None):
        raise ValueError(f"{checkpoint.base} is quantised already; leave out --quantisation")
    import_package("bitsandbytes", f"--quantisation {quantisation}")
    make_config = import_optional("transformers", "models").BitsAndBytesConfig
    if quantisation == "8bit":
        return make_config(load_in_8bit=True)
    return make_config(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype)


def _check_missing(checkpoint: Checkpoint, keys: Any) -> None:
    """Refuse a model without some of its weights; an adapter may bring those of a new head."""
    trained = set((checkpoint.adapter or {}).get("modules_to_save") or ())
    missing = sorted(key for key in keys if trained.isdisjoint(key.split(".")))
    if missing:
        raise ValueError(
            f"{checkpoint.base} lacks the weights of {format_list(missing, 2)}, "
            "so its answers would be random; give a model that was trained for the task"
        )


def add_adapter(model: Any, checkpoint: Checkpoint, auto: str) -> Any:
    """Return the model with the adapter of its checkpoint."""
    path, task = checkpoint.path, (checkpoint.adapter or {}).get("task_type")
    if ADAPTER_TASKS.get(task or "", auto) != auto:
        raise ValueError(
            f"{path} is an adapter for {task}, but {checkpoint.base} is a {type(model).__name__}; "
            "put the config.json of the tuned model beside adapter_config.json"
        )
    peft = import_package("peft", f"the adapter {path}")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*missing adapter keys.*")
            return peft.PeftModel.from_pretrained(model, path)
    except (RuntimeError, ValueError, UserWarning) as error:
        raise ValueError(
            f"the adapter {path} does not fit {checkpoint.base} ({strip_error_message(error)}); "
            "name the model that it was trained on in adapter_config.json"
        ) from error
