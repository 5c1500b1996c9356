"""Start the app of every metric's Space with the gradio that is installed, and ask it its example.

Run by CI in an environment of its own: gradio and the tests do not agree on one version of everything.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from lapsus.hub.metric_space import metric_class
from lapsus.kernel.space import app
from lapsus.metrics import metrics, names


def ask(address: str, name: str, text: str) -> Any:
    """Call an app as its API's clients do: post the input, read the answer as an event."""
    call = f"{address}gradio_api/call/{name}"
    body = json.dumps({"data": [text]}).encode()
    request = urllib.request.Request(call, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        event = json.load(reply)["event_id"]
    with urllib.request.urlopen(f"{call}/{event}", timeout=60) as reply:
        kind, data = reply.read().decode().split("\n")[:2]
    assert kind == "event: complete", f"{name}: {kind} {data}"
    return json.loads(data.removeprefix("data: "))[0]


def main() -> None:
    for name in names():
        example = metric_class(name).EXAMPLE
        _, address, _ = (running := app(metrics()[name], example)).launch(prevent_thread_lock=True, quiet=True)
        result = ask(address, name, json.dumps(example))
        assert isinstance(result, dict) and result, f"{name} answered {result!r}"
        running.close()
        print(f"{name}: {', '.join(result)}")  # noqa: T201 - CI's log


if __name__ == "__main__":
    main()
