"""Labels scored behind an address: the numbers of the model itself, and no number of a server that lies."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("transformers")  # of the extra models

import tiny_models
import torch
from click.testing import CliRunner

from lapsus.cli.main import main
from lapsus.evaluation.models import open_model
from lapsus.evaluation.models.endpoint import PROBE
from lapsus.evaluation.models.endpoint_client import EndpointError
from lapsus.evaluation.runner import Evaluation
from lapsus.evaluation.tasks import make_task
from lapsus.evaluation.tracks import TrackSet

TEXTS = ["will it rain today", "play a song of the band", "is there snow", "turn the music up"]
ROWS = [{"id": str(i), "text": text, "label": "music"} for i, text in enumerate(TEXTS)]
WORDS = ["the weather now", "music"]
TASK = make_task(["text"], "label", labels=WORDS)


class Server(ThreadingHTTPServer):
    """A small model behind the completions API; `lie` says how its log-probabilities are wrong."""

    daemon_threads = True

    def __init__(self, model, tokenizer, lie):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model, self.tokenizer, self.lie, self.asked = model, tokenizer, lie, []

    @property
    def word(self):
        return f"http://127.0.0.1:{self.server_port}/v1#tiny"

    def complete(self, text, most):
        """Return the answer to a request for greedy text with log-probabilities and an echo."""
        read = self.tokenizer(text)["input_ids"]
        tokens = list(read)
        with torch.inference_mode():
            for _ in range(most):
                tokens.append(self.model(torch.tensor([tokens])).logits[0, -1].argmax().item())
            likely = self.model(torch.tensor([tokens])).logits[0].float().log_softmax(-1)
        own = [None, *(likely[place - 1, token].item() for place, token in enumerate(tokens[1:], 1))]
        best = [None, *({"x": likely[place - 1].max().item()} for place in range(1, len(tokens)))]
        after = [likely[place, token].item() for place, token in enumerate(tokens)]
        match self.lie:
            case "shifted":  # each number is that of the place behind it
                own, best = after, [{"x": each.max().item()} for each in likely]
            case "shifted where it echoes":
                own = [*after[: len(read)], *own[len(read) :]]
            case "late" if len(self.asked) > 6:
                own = [None] * len(own)
            case "shifted the other way":
                own = [None, *own[:-1]]
        choice = {"text": text + " " + self.tokenizer.decode(tokens[len(read) :]), "finish_reason": "length"}
        if self.lie == "no echo":
            choice["text"], own, best = choice["text"][len(text) :], own[len(read) :], best[len(read) :]
        names = self.tokenizer.convert_ids_to_tokens(tokens)
        if self.lie != "dropped":
            choice["logprobs"] = {"tokens": names[-len(own) :], "token_logprobs": own, "top_logprobs": best}
        usage = {} if self.lie == "no counts" else {"prompt_tokens": len(read), "completion_tokens": most}
        return {"choices": [choice], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(self.path)
        status, answer = 200, None
        if self.path.endswith("/chat/completions"):
            message = {"message": {"content": "music"}, "finish_reason": "stop"}
            answer = {"choices": [message], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
        elif self.server.lie == "no completions":
            status, answer = 404, {"error": "not found"}
        else:
            answer = self.server.complete(body["prompt"], body["max_tokens"])
        sent = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def causal(tmp_path_factory):
    folder = tmp_path_factory.mktemp("causal")
    words = tiny_models.tokenizer([*TEXTS, PROBE, "user assistant", *WORDS], chat=tiny_models.CHAT)
    return folder, tiny_models.causal(words, folder), words


@contextmanager
def serving(causal, lie=None):
    server = Server(causal[1], causal[2], lie)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("how", ["tokenizer", "plain"])
def test_scores_are_those_of_the_model_itself(causal, how, tmp_path):
    folder, options = causal[0], {"chat_template": False} if how == "plain" else {}
    local = Evaluation(TrackSet.from_rows("mine", TASK, ROWS), open_model(f"hf:{folder}", options)).execute().tracks[0]
    with serving(causal) as server:
        model = open_model(server.word, {"pause": 0.01, **(options or {"tokenizer": str(folder)})})
        outcome = Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, tmp_path).execute()
        before = len(server.asked)
        assert Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model, tmp_path).execute().requested == 0
        assert len(server.asked) == before and "/v1/chat/completions" not in server.asked
    for row, other in zip(outcome.tracks[0].rows, local.rows, strict=True):
        assert (
            row["label_logprobs"] == pytest.approx(other["label_logprobs"], abs=1e-4)
            and row["prediction"] == other["prediction"]
        )
    assert model.get_usage() == {"labels chosen by log-likelihood": 4}


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        ("shifted", "shifts its log-probabilities: what it writes is not the likeliest by them"),
        ("shifted where it echoes", "shifts its log-probabilities: what it wrote has others when it is read"),
        ("dropped", "leaves out the log-probabilities that it was asked for"),
        ("no echo", "does not echo what it read"),
        ("no counts", "does not say which log-probability belongs to which token"),
        ("shifted the other way", "shifts its log-probabilities"),
        ("no completions", "answered with status 404"),
    ],
)
def test_a_server_that_lies_is_asked_to_write(causal, lie, said, tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    words = ["run", "--rows", tmp_path / "rows.jsonl", "--text", "text", "--gold", "label", "--out", tmp_path / "out"]
    with serving(causal, lie) as server:
        words = [*words, "--labels", ",".join(WORDS), "--tokenizer", causal[0], "--model", server.word]
        done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.output.splitlines() if line.startswith("labels written and read")]
    assert said in line and line.endswith(": 4"), done.output
    assert server.asked.count("/v1/chat/completions") == 4 and len(server.asked) <= 6, "it is probed once"
    rows = [json.loads(line) for line in next((tmp_path / "out").rglob("clean.jsonl")).read_text().splitlines()]
    assert all(row["prediction"] == "music" and "scores" not in row for row in rows)


def test_a_server_that_stops_to_tell_is_no_source_of_numbers(causal):
    with serving(causal, "late") as server:
        model = open_model(server.word, {"tokenizer": str(causal[0]), "batch_size": 1})
        with pytest.raises(EndpointError, match="left out log-probabilities that it gave when it was probed"):
            Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model).execute()


def test_labels_that_tokenise_alike_are_refused_behind_an_address_too(causal):
    task = make_task(["text"], "label", labels=["music", "music now"])
    with serving(causal) as server:
        model = open_model(server.word, {"tokenizer": str(causal[0])})
        with pytest.raises(ValueError, match="as the same tokens at their beginning"):
            Evaluation(TrackSet.from_rows("mine", task, ROWS), model).execute()


def test_a_dry_run_does_not_probe(causal):
    with serving(causal) as server:
        model = open_model(server.word, {"tokenizer": str(causal[0])})
        assert Evaluation(TrackSet.from_rows("mine", TASK, ROWS), model).estimate().uncached == 4
        assert server.asked == []
