"""Chromium without a window, driven by WebDriver's plain HTTP calls."""

from __future__ import annotations

import base64
import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from paths import ROOT

AXE = ROOT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"


class Browser:
    """A running Chromium."""

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
        wanted = {
            "timeouts": {"script": 150_000},
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
        }
        self.session = ""
        self.session = self.call("/session", {"capabilities": {"alwaysMatch": wanted}}, tries=100)["sessionId"]

    def call(self, path, body, tries=1):
        address = f"http://127.0.0.1:{self.port}" + (f"/session/{self.session}" if self.session else "") + path
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        for left in reversed(range(tries)):
            try:
                with urllib.request.urlopen(request, timeout=180) as answer:
                    return json.load(answer)["value"]
            except urllib.error.HTTPError as error:
                raise AssertionError(error.read().decode()) from None
            except urllib.error.URLError:
                if not left:
                    raise
                time.sleep(0.1)
        return None

    def open(self, path, width, fragment=""):
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", size)
        self.call("/url", {"url": (path if isinstance(path, str) else path.as_uri()) + fragment})

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

    def pdf(self) -> tuple[bytes, int]:
        """Return the page as it is printed on A4, and the number of pages."""
        printed = self.devtools("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True})
        found = base64.b64decode(printed["data"])
        return found, len(re.findall(rb"/Type\s*/Page\b", found))

    def dark(self, wanted: bool) -> None:
        """Ask for dark or light colours."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}
        self.devtools("Emulation.setEmulatedMedia", {"features": [scheme]})


@contextmanager
def opened() -> Iterator[Browser | None]:
    """Start Chromium and end it; None where it is not installed."""
    driver = shutil.which("chromedriver")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not driver or not chromium:
        yield None
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = Browser(driver, chromium, profile)
        try:
            yield running
        finally:
            running.close()


def running() -> Iterator[Browser]:
    """Yield a browser for a fixture, or skip where there is none."""
    with opened() as browser:
        if browser is None:
            pytest.skip("needs chromium and chromedriver")
        yield browser
