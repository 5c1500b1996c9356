"""Models that are big or not plain: vLLM's engine, quantised weights, several devices, adapters, code of their own.

vLLM, PEFT and bitsandbytes are not installed here: doubles with their published signatures stand in their place, and
those of vLLM compute with the model that `hf:` loads, so that both must give the same numbers.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("transformers")  # of the extra models

import tiny_models
import torch
import transformers
from click.testing import CliRunner

from lapsus import run
from lapsus.cli.main import main
from lapsus.core.types import Example
from lapsus.evaluation.executors import open_replicas
from lapsus.evaluation.models import make_request, open_model
from lapsus.evaluation.models.weights import find_checkpoint
from lapsus.evaluation.tasks import make_task

TEXTS = ["will it rain today", "play a song of the band", "is there snow in the north"]
ROWS = [{"id": str(i), "text": text, "gold": "music"} for i, text in enumerate(TEXTS)]
LABELS = make_task(["text"], "gold", labels=["music", "weather report"])
FREE = make_task(["text"], "gold")


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("causal")
    words = tiny_models.tokenizer(
        [*TEXTS, "music weather report user assistant ? Answer with one of : ,"], chat=tiny_models.CHAT
    )
    tiny_models.causal(words, folder, length=128)
    return folder


@dataclass(frozen=True)
class SamplingParams:  # of vLLM, as far as it is used
    temperature: float = 1.0
    seed: int | None = None
    max_tokens: int | None = 16
    prompt_logprobs: int | None = None


class LLM:  # of vLLM: its arguments by name, its outputs
    def __init__(
        self, model, *, tokenizer=None, trust_remote_code=False, tensor_parallel_size=1, dtype="auto", revision=None, seed=None
    ):  # fmt: skip
        self.asked = {"tensor_parallel_size": tensor_parallel_size, "seed": seed, "dtype": dtype, "revision": revision}
        self.model = transformers.AutoModelForCausalLM.from_pretrained(model).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=128))

    def get_tokenizer(self):
        return self.tokenizer

    def generate(self, prompts, sampling_params=None, *, use_tqdm=True):
        assert not use_tqdm and sampling_params.temperature == 0
        return [self._answer(prompt["prompt_token_ids"], sampling_params) for prompt in prompts]

    @torch.inference_mode()
    def _answer(self, token_ids, params):
        assert len(token_ids) < 128, "vLLM refuses a whole batch for one long prompt"
        ids = torch.tensor([token_ids])
        logprobs = self.model(ids).logits[0].log_softmax(-1)
        behind = [
            {token: SimpleNamespace(logprob=float(logprobs[place, token]))} for place, token in enumerate(token_ids[1:])
        ]
        generated = self.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=params.max_tokens, do_sample=False, pad_token_id=0
        )[0, len(token_ids) :].tolist()  # fmt: skip
        completion = SimpleNamespace(
            text=self.tokenizer.decode(generated, skip_special_tokens=True),
            finish_reason="stop" if generated[-1] == self.tokenizer.eos_token_id else "length",
        )
        return SimpleNamespace(prompt_logprobs=params.prompt_logprobs and [None, *behind], outputs=[completion])


@pytest.fixture
def vllm(monkeypatch):
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def respond(model, task, rows=ROWS):
    model.prepare(task)
    requests = [make_request(model, task, Example(row["id"], "clean", row)) for row in rows]
    return [response for _, response in sorted(model.respond(task, requests), key=lambda pair: pair[0])]


@pytest.mark.usefixtures("vllm")
def test_vllm_scores_labels_and_writes_as_hf_does(causal):
    hf, engine = open_model(f"hf:{causal}"), open_model(f"vllm:{causal}", {"batch_size": 2})
    for theirs, ours in zip(respond(hf, LABELS), respond(engine, LABELS), strict=True):
        assert ours.value == theirs.value
        assert ours.logprobs == pytest.approx(theirs.logprobs, abs=1e-4)
    free = respond(engine, FREE)
    assert [each.value for each in free] == [each.value for each in respond(hf, FREE)]
    assert {each.finish_reason for each in free} <= {"length", None}
    assert not engine.deterministic and engine.identity == hf.identity.replace("hf:", "vllm:").replace(
        "float32", "auto"
    )


@pytest.mark.usefixtures("vllm")
def test_vllm_says_which_answers_were_cut(causal, monkeypatch):
    engine = open_model(f"vllm:{causal}")
    cut = SimpleNamespace(outputs=[SimpleNamespace(text="a", finish_reason="length")])
    monkeypatch.setattr(engine.model, "generate", lambda prompts, *_, **__: [cut for _ in prompts])
    assert all(each.was_cut for each in respond(engine, FREE))


@pytest.mark.usefixtures("vllm")
def test_vllm_gets_its_settings_and_long_texts_stay_out(causal):
    engine = open_model(f"vllm:{causal}@main", {"tensor_parallel": 2, "dtype": "float16"})
    assert engine.model.asked == {"tensor_parallel_size": 2, "seed": 0, "dtype": "float16", "revision": "main"}
    first, *_, last = respond(engine, LABELS, [*ROWS, {"id": "long", "text": "rain " * 200, "gold": "music"}])
    assert first.error is None and last.error.startswith("longer than the 127 tokens")


@pytest.mark.usefixtures("vllm")
def test_a_run_with_vllm(causal, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row | {"gold": "music"}) + "\n" for row in ROWS))
    command = [
        "run",
        "--rows",
        str(rows),
        "--text",
        "text",
        "--gold",
        "gold",
        "--labels",
        "music,report",
        "--out",
        str(tmp_path / "out"),
    ]
    result = CliRunner().invoke(main, [*command, "--model", f"vllm:{causal}", "--tensor-parallel", "1"])
    assert result.exit_code == 0, result.output


def test_what_vllm_cannot_open_is_one_sentence(causal, vllm, monkeypatch):
    def fail(**_):
        raise RuntimeError("Engine core initialization failed")

    monkeypatch.setattr(vllm, "LLM", fail)
    with pytest.raises(ValueError, match=r"^vLLM does not open .*Engine core initialization failed"):
        open_model(f"vllm:{causal}")
    with pytest.raises(FileNotFoundError, match="there is no folder /no/such"):
        open_model("vllm:/no/such")
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModuleNotFoundError, match=r"^vllm: needs vllm; install it with: pip install vllm$"):
        open_model(f"vllm:{causal}")


@pytest.mark.parametrize(("spec", "options"), [("vllm:m", {}), ("hf:m", {"device_map": "auto"})])
def test_a_cluster_does_not_place_what_spreads_itself(spec, options):
    cluster = SimpleNamespace(placements=lambda: ["a node"])
    with pytest.raises(ValueError, match="spreads itself over GPUs"):
        open_replicas(spec, options, cluster)


def test_a_device_map_gives_the_same_numbers(causal):
    pytest.importorskip("accelerate")
    spread = respond(open_model(f"hf:{causal}", {"device_map": "auto", "dtype": "float32"}), LABELS)
    for ours, plain in zip(spread, respond(open_model(f"hf:{causal}", {"dtype": "float32"}), LABELS), strict=True):
        assert ours.logprobs == pytest.approx(plain.logprobs, abs=1e-4)
    with pytest.raises(ValueError, match="give one of the two"):
        open_model(f"hf:{causal}", {"device_map": "auto", "device": "cpu"})


@pytest.fixture
def loads(monkeypatch):
    """Note what transformers is asked for, and load the plain model."""
    seen, load = [], transformers.AutoModelForCausalLM.from_pretrained

    def note(path, **kwargs):
        seen.append(kwargs)
        plain = {name: value for name, value in kwargs.items() if name not in {"quantization_config", "device_map"}}
        return load(path, **plain)

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", note)
    return seen


@pytest.mark.parametrize("size", ["4bit", "8bit"])
def test_quantised_weights_are_asked_for_and_named(size, causal, loads, monkeypatch):
    pytest.importorskip("accelerate")
    monkeypatch.setitem(sys.modules, "bitsandbytes", ModuleType("bitsandbytes"))
    monkeypatch.setattr(transformers, "BitsAndBytesConfig", lambda **kwargs: kwargs)
    model = open_model(f"hf:{causal}", {"quantisation": size, "device": "cpu"})
    (kwargs,) = loads
    assert kwargs["quantization_config"][f"load_in_{size}"] is True and kwargs["device_map"] == {"": "cpu"}
    assert model.identity.endswith(f"float32 {size}")


def test_quantisation_that_cannot_be_is_one_sentence(causal, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(ModuleNotFoundError, match=r"^--quantisation 4bit needs bitsandbytes; install it with"):
        open_model(f"hf:{causal}", {"quantisation": "4bit"})
    with pytest.raises(ValueError, match="quantisation is '3bit'; give one of: 4bit, 8bit"):
        open_model(f"hf:{causal}", {"quantisation": "3bit"})
    config = json.loads((causal / "config.json").read_text()) | {
        "quantization_config": {"quant_method": "gptq", "bits": 4}
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="is quantised already; leave out --quantisation"):
        open_model(f"hf:{tmp_path}", {"quantisation": "4bit"})


@pytest.fixture
def adapter(causal, tmp_path):
    def write(**settings):
        config = {"peft_type": "LORA", "base_model_name_or_path": str(causal), "task_type": "CAUSAL_LM"} | settings
        (tmp_path / "adapter_config.json").write_text(json.dumps(config))
        return tmp_path

    return write


@pytest.fixture
def peft(monkeypatch):
    """A double whose adapter turns the model's numbers round."""
    module = ModuleType("peft")

    class PeftModel:
        @staticmethod
        def from_pretrained(model, model_id):
            if json.loads((Path(model_id) / "adapter_config.json").read_text()).get("r") == 0:
                warnings.warn("Found missing adapter keys while loading the checkpoint: ['a.lora_A']", stacklevel=1)
            model.lm_head.weight.data.neg_()
            return model

    module.PeftModel = PeftModel
    monkeypatch.setitem(sys.modules, "peft", module)


@pytest.mark.usefixtures("peft")
def test_an_adapter_is_loaded_upon_its_base(causal, adapter):
    base, tuned = open_model(f"hf:{causal}"), open_model(f"hf:{adapter()}")
    assert [each.logprobs for each in respond(base, LABELS)] != [each.logprobs for each in respond(tuned, LABELS)]
    assert torch.equal(tuned.model.lm_head.weight, -base.model.lm_head.weight)
    assert f" on {causal} at {find_checkpoint(str(causal)).fingerprint()} float32" in tuned.identity
    other = open_model(f"hf:{adapter(r=4)}")
    assert other.identity != tuned.identity  # another adapter upon the same base


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"r": 0}, "does not fit .*missing adapter keys.*; name the model that it was trained on"),
        ({"task_type": "SEQ_CLS"}, "is an adapter for SEQ_CLS, but .* is a LlamaForCausalLM; put the config.json"),
        ({"base_model_name_or_path": None}, "does not say what it was trained on"),
        ({"base_model_name_or_path": "/no/base"}, "there is no folder /no/base, the base of the adapter"),
    ],
)
@pytest.mark.usefixtures("peft")
def test_an_adapter_that_does_not_fit_is_one_sentence(settings, message, adapter):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        open_model(f"hf:{adapter(**settings)}")


@pytest.mark.usefixtures("vllm")
def test_an_adapter_needs_peft_and_hf(adapter, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ModuleNotFoundError, match=r"^the adapter .* needs peft; install it with: pip install peft$"):
        open_model(f"hf:{adapter()}")
    with pytest.raises(ValueError, match=r"is an adapter; give hf:.*, or merge it into"):
        open_model(f"vllm:{adapter()}")


CODE = """
from transformers import LlamaConfig, LlamaForCausalLM
class OwnConfig(LlamaConfig):
    model_type = "own_llama"
class OwnForCausalLM(LlamaForCausalLM):
    config_class = OwnConfig
"""


def test_code_of_a_model_runs_on_request_only(causal, tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    for file in causal.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    marker = tmp_path / "ran"
    (tmp_path / "own.py").write_text(CODE + f"open({str(marker)!r}, 'w').close()\n")
    config = json.loads((tmp_path / "config.json").read_text()) | {
        "model_type": "own_llama", "architectures": ["OwnForCausalLM"],
        "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnForCausalLM"},
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        ValueError, match=r"needs code that comes with it.* add --trust-remote-code to run it"
    ) as refusal:
        run(LABELS, ROWS, f"hf:{tmp_path}")
    assert "\n" not in str(refusal.value) and not marker.exists()
    model = open_model(f"hf:{tmp_path}", {"trust_remote_code": True})
    assert marker.exists() and type(model.model).__name__ == "OwnForCausalLM"
    assert model.identity.endswith("float32 with its own code")
    plain = respond(open_model(f"hf:{causal}"), LABELS)
    assert [each.logprobs for each in respond(model, LABELS)] == [each.logprobs for each in plain]
