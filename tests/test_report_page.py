"""The page: one file that asks for nothing else, escapes everything, sorts, and fits a phone."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from random import Random

import pytest

from lapsus.report import report
from lapsus.tracks import Track

LETTERS = "我的花呗为什么不能还款了怎样提前借呗额度没有信用卡绑定手机号码在哪里查询账单日期可以修改吗"
MODELS = {"bert-base": (0.90, 1.6), "roberta-large": (0.94, 1.1), "char-cnn": (0.83, 0.7)}  # clean accuracy, fragility
FAMILIES = {"keyboard": (0.08, 0.16, 0.12), "speech": (0.22, 0.30, 0.18)}  # share of letters each annotator changes


def simulated(models=MODELS, families=FAMILIES, examples=300, dataset="simulated paraphrases"):
    """Predictions of models that miss more the more of a text is changed; the texts are changed letter by letter."""
    draw = Random("report")
    clean = {
        f"t-{number:04}": "".join(draw.choice(LETTERS) for _ in range(draw.randint(8, 24)))
        for number in range(examples)
    }
    gold = {key: draw.choice(["paraphrase", "different"]) for key in clean}
    noisy = {
        f"{family}.{number}": {
            key: "".join(draw.choice(LETTERS) if draw.random() < rate else letter for letter in text)
            for key, text in clean.items()
        }
        for family, rates in families.items()
        for number, rate in enumerate(rates, 1)
    }
    tracks = []
    for model, (accuracy, fragility) in models.items():
        ease = {key: draw.random() for key in clean}
        for name, texts in {"clean": clean, **noisy}.items():
            rows = []
            for key, text in texts.items():
                changed = sum(a != b for a, b in zip(clean[key], text, strict=True)) / len(text)
                right = ease[key] + draw.gauss(0, 0.03) < accuracy - fragility * changed
                other = "different" if gold[key] == "paraphrase" else "paraphrase"
                row = {"id": key, "prediction": gold[key] if right else other, "gold": gold[key]}
                rows.append(row if name == "clean" else row | {"text": text, "clean_text": clean[key]})
            tracks.append(Track(model, name, rows, dataset))
    return tracks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "out"
    report(simulated(), out, n_resamples=2000)
    return out


class Browser:
    """Chromium, driven by WebDriver's plain HTTP calls."""

    def __init__(self, driver, chromium, profile):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([driver, f"--port={self.port}"], stdout=subprocess.DEVNULL)
        arguments = "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking"
        arguments += " disable-component-update disable-sync disable-dev-shm-usage"
        options = {
            "binary": chromium,
            "args": [*(f"--{name}" for name in arguments.split()), f"--user-data-dir={profile}"],
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}
        self.session = ""
        self.session = self.call("/session", {"capabilities": {"alwaysMatch": wanted}}, tries=100)["sessionId"]

    def call(self, path, body, tries=1):
        address = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if self.session else "") + path
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        for left in reversed(range(tries)):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)["value"]
            except urllib.error.HTTPError as error:
                raise AssertionError(error.read().decode()) from None
            except urllib.error.URLError:
                if not left:
                    raise
                time.sleep(0.1)
        return None

    def open(self, path, width):
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", size)
        self.call("/url", {"url": path.as_uri()})

    def devtools(self, command, params):
        return self.call("/goog/cdp/execute", {"cmd": command, "params": params})

    def run(self, script):
        return self.call("/execute/sync", {"script": script, "args": []})

    def log(self, kind):
        return self.call("/se/log", {"type": kind})

    def screenshot(self, path):
        shot = self.devtools("Page.captureScreenshot", {"captureBeyondViewport": True})
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not driver or not chromium:
        pytest.skip("needs chromium and chromedriver")
    running = Browser(driver, chromium, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
