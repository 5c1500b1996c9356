"""Fixtures that several test files share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fake_hub
import pytest
from filelock import FileLock
from hypothesis import settings

settings.register_profile("patient", deadline=None)  # two busy cores are no failure
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Let pytest-xdist, where it is used, end with an error when a worker dies: 3.8 waits for ever after it replaced one."""
    if getattr(config.option, "maxworkerrestart", "") is None:
        config.option.maxworkerrestart = "0"


@pytest.fixture(scope="session")
def built_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built sample, which all workers share and no test changes."""
    from lapsus.dataset_scripts import benchmarks
    from lapsus.hub.build import build_dataset

    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built" / "sample"
    with FileLock(folder.parent.with_suffix(".lock")):
        if not folder.exists():
            build_dataset(benchmarks()["sample"], folder)
    return folder


@pytest.fixture(scope="module")
def hub() -> Iterator[fake_hub.Hub]:
    """Serve an empty Hub on the loopback."""
    with fake_hub.serve() as hub:
        yield hub


@pytest.fixture(scope="module")
def client(hub: fake_hub.Hub, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return a function that runs a step of hub_client.py against the Hub and returns its result.

    Each step has caches of its own, and fails when a connection left the loopback.
    """

    def run(step: str, *arguments: Any, token: str = fake_hub.WRITE_TOKEN, **options: Any) -> Any:
        home = tmp_path_factory.mktemp("hf_home")
        settings = {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(home),
            "HF_TOKEN": token,
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE"))}
        script = Path(__file__).parent / "helpers" / "hub_client.py"
        done = subprocess.run(
            [sys.executable, script, step, json.dumps([arguments, options])],
            cwd=home,
            env=inherited | settings,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        answer = json.loads(done.stdout.splitlines()[-1])
        assert answer["outside"] == [], "a connection left the loopback"
        return answer["result"]

    return run


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many tests the real benchmark files would have run, where these are not there."""
    reports = terminalreporter.stats.get("skipped", ())  # of tests, and of whole modules, which have no keywords
    skipped = [report for report in reports if "data" in getattr(report, "keywords", ())]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests need the real benchmark files, ../shared/data, and were skipped"
        )
