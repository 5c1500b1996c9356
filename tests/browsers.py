"""A headless Chromium for tests of pages, driven by WebDriver's plain HTTP calls."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest


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
        self.call("/url", {"url": path if isinstance(path, str) else path.as_uri()})

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
        session = f"http://127.0.0.1:{self.port}/session/{self.session}"
        urllib.request.urlopen(
            urllib.request.Request(session, method="DELETE"), timeout=60
        ).close()  # ends Chromium too
        self.process.terminate()
        self.process.wait(10)


def running(tmp_path_factory):
    """Yield a browser for a fixture, or skip where there is none."""
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not driver or not chromium:
        pytest.skip("needs chromium and chromedriver")
    browser = Browser(driver, chromium, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
