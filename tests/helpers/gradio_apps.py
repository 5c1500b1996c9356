"""Start the app of every metric's Space with the gradio that is installed, and use it: JSON, a file, a wrong file.

Run by CI in an environment of its own: gradio and the tests do not agree on one version of everything.
"""

from __future__ import annotations

import csv
import json
import tempfile
from pathlib import Path
from typing import Any

from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from lapsus.hub.metric_space import load_metric_class, render_app
from lapsus.integrations.metric_app import read_documentation, split_example
from lapsus.metrics import list_metrics


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as a table; lists become JSON."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        for row in rows:
            table.writerow({key: json.dumps(value) if isinstance(value, list) else value for key, value in row.items()})
    return path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def use(client: Any, name: str, folder: Path) -> dict[str, Any]:
    """Ask an app in every way that a visitor can, and return its result."""
    example = load_metric_class(name).EXAMPLE
    result, drawn = client.predict(json.dumps(example), api_name=f"/{name}")
    assert result and drawn["plot"].startswith("data:image/"), f"{name} answered {result!r} and drew {str(drawn)[:80]}"
    rows, options = split_example(name, example)
    files = [write_lines(folder / f"{name}.jsonl", rows)]
    if not any(isinstance(value, dict) or value is None for row in rows for value in row.values()):
        files.append(write_csv(folder / f"{name}.csv", rows))
    for file in files:
        by_file, drawn = client.predict([handle_file(str(file))], "\n".join(options), api_name="/files")
        assert {key: by_file[key] for key in result} == result, f"{name} answered {by_file!r} to {file.name}"
        assert drawn["plot"]
    broken = folder / "broken.jsonl"
    broken.write_text('{"predictions": \n', encoding="utf-8")
    for given, sentence in (([handle_file(str(broken))], "broken.jsonl, line 1"), ([], "There is no file")):
        said = refusal(client, given)
        assert sentence in said and str(folder) not in said, f"{name} said {said!r} to {given!r}"
    return dict(result)


def refusal(client: Any, files: list[Any]) -> str:
    """Return the error that an app shows for files; empty where it takes them."""
    try:
        client.predict(files, "", api_name="/files")
    except AppError as error:
        return str(error)
    return ""


def main() -> None:
    for name in list_metrics():
        program: dict[str, Any] = {"__name__": "app"}
        exec(render_app(name), program)  # noqa: S102 - the Space's own program, but for its last line
        running = program["build_app"](program[name], program[load_metric_class(name).__name__].EXAMPLE)
        _, address, _ = running.launch(prevent_thread_lock=True, quiet=True)
        texts = [part["props"].get("value") for part in running.config["components"]]
        assert read_documentation(name).partition("\n")[2].strip() in [str(text).strip() for text in texts]
        with tempfile.TemporaryDirectory() as folder:
            result = use(Client(address, verbose=False), name, Path(folder))
        running.close()
        print(f"{name}: {', '.join(result)}")  # noqa: T201 - CI's log


if __name__ == "__main__":
    main()
