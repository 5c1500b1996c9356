"""What a person does against the Hub, each step in a process of its own: the libraries read their environment once.

`python hub_client.py STEP JSON` calls the step with the arguments of the JSON, and prints what it returned together
with every connection that left the loopback.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUTSIDE: list[str] = []


def watch(event: str, args: tuple[Any, ...]) -> None:
    """Note connections and name look-ups beyond this machine; Python calls this before it makes them."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        host = args[1][0] if isinstance(args[1], tuple) else "127.0.0.1"  # else a socket in the file system
    elif event in {"socket.getaddrinfo", "socket.gethostbyname"}:
        host = args[0]
    else:
        return
    if host not in {"127.0.0.1", "localhost", "::1"}:
        OUTSIDE.append(f"{event} {host}")


def resolve(host: Any, *arguments: Any, look_up: Callable[..., Any] = socket.getaddrinfo, **options: Any) -> Any:
    """Find the hosts beneath the Hub where the Hub is: `datasets` puts `datasets-server.` before its address."""
    return look_up("127.0.0.1" if str(host).endswith(".127.0.0.1") else host, *arguments, **options)


socket.getaddrinfo = resolve
sys.addaudithook(watch)


def publish(first: str, second: str, metrics: list[str]) -> dict[str, Any]:
    """Push a dataset with `datasets`, a folder twice and metrics with lapsus, and tag the folder's first state."""
    from datasets import DatasetDict, load_dataset
    from huggingface_hub import HfApi

    from lapsus.hub.upload import upload, upload_space

    for config in ("clean", "keyboard.1"):
        splits = load_dataset(first, config)
        DatasetDict(splits).push_to_hub("org/pushed", config, set_default=config == "clean")
    built = upload(Path(first), "org/built")
    repeated = upload(Path(first), "org/built")
    api = HfApi()
    api.create_tag("org/built", tag="v1", repo_type="dataset")
    changed = upload(Path(second), "org/built")
    spaces = [str(upload_space(Path(metric), f"org/{Path(metric).name}")) for metric in metrics]
    return {
        "pushed": sorted(api.list_repo_files("org/pushed", repo_type="dataset")),
        "built": [str(built), built.uploaded],
        "repeated": [str(repeated), repeated.uploaded],
        "changed": [str(changed), changed.uploaded, changed.removed],
        "spaces": spaces,
        "whoami": api.whoami()["name"],
    }


def read(commit: str, metrics: list[str]) -> dict[str, Any]:
    """Load what was published as any user would: by config, by default, streamed, at a tag and at a commit."""
    sys.modules["transformers"] = None  # evaluate would import it, and torch with it, for a pipeline nobody asks for
    import datasets
    import evaluate
    from datasets import load_dataset

    del sys.modules["transformers"]

    builder = datasets.load_dataset_builder("org/built", "clean", revision="v1")
    streamed = load_dataset("org/built", "keyboard.1", split="test", streaming=True, revision="v1")
    return {
        "configs": datasets.get_dataset_config_names("org/pushed"),
        "pushed": load_dataset("org/pushed", "keyboard.1", split="test")[0],
        "default": load_dataset("org/pushed")["train"].num_rows,
        "tagged": load_dataset("org/built", "clean", split="test", revision="v1").num_rows,
        "at commit": load_dataset("org/built", "clean", split="test", revision=commit).num_rows,
        "now": load_dataset("org/built", split="test").num_rows,
        "announced": {name: split.num_examples for name, split in builder.info.splits.items()},
        "names": builder.info.features["label"].names,
        "streamed": [row["id"] for row in streamed],
        "loaded": [evaluate.load(f"org/{metric}").name for metric in metrics],
        "metric": evaluate.load("org/agreement").compute(predictions=["a", "b", "b"], references=["a", "b", "c"]),
    }


def stray() -> None:
    """Knock at an address that belongs to nobody, to see that the watch notices."""
    with socket.socket() as knock, contextlib.suppress(OSError):
        knock.settimeout(0.01)
        knock.connect(("192.0.2.1", 9))


def command(*arguments: str) -> dict[str, Any]:
    """Run a `lapsus` command as from a shell."""
    from click.testing import CliRunner

    from lapsus.cli.main import main

    done = CliRunner().invoke(main, arguments)
    return {"exit": done.exit_code, "output": done.stdout, "error": done.stderr}


if __name__ == "__main__":
    positional, named = json.loads(sys.argv[2])
    result = globals()[sys.argv[1]](*positional, **named)
    print(json.dumps({"result": result, "outside": OUTSIDE}))  # noqa: T201 - the answer to the caller
