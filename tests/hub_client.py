"""What a person does against the Hub, each step in a process of its own: the libraries read their environment once.

`python hub_client.py STEP JSON` calls the step with the arguments of the JSON object, and prints what it returned
together with every connection that left the loopback.
"""

from __future__ import annotations

import json
import sys
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


sys.addaudithook(watch)


def publish(first: str, second: str, metric: str) -> dict[str, Any]:
    """Push a dataset with `datasets`, a folder twice and a metric with lapsus, and tag the folder's first state."""
    from datasets import DatasetDict, load_dataset
    from huggingface_hub import HfApi

    from lapsus.upload import upload, upload_space

    for config in ("clean", "keyboard.1"):
        splits = load_dataset(first, config)
        DatasetDict(splits).push_to_hub("org/pushed", config, set_default=config == "clean")
    built = upload(Path(first), "org/built")
    repeated = upload(Path(first), "org/built")
    api = HfApi()
    api.create_tag("org/built", tag="v1", repo_type="dataset")
    changed = upload(Path(second), "org/built")
    space = upload_space(Path(metric), "org/agreement")
    return {
        "pushed": sorted(api.list_repo_files("org/pushed", repo_type="dataset")),
        "built": [str(built), built.sent],
        "repeated": [str(repeated), repeated.sent],
        "changed": [str(changed), changed.sent, changed.removed],
        "space": [str(space), space.sent],
        "whoami": api.whoami()["name"],
    }


def read(commit: str) -> dict[str, Any]:
    """Load what was published as any user would: by config, by default, streamed, at a tag and at a commit."""
    import datasets
    from datasets import load_dataset

    sys.modules["transformers"] = None  # evaluate would import it, and torch with it, for a pipeline nobody asks for
    import evaluate

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
        "metric": evaluate.load("org/agreement").compute(predictions=["a", "b", "b"], references=["a", "b", "c"]),
    }


def refused(folder: str) -> str:
    """Upload with whatever token the environment has, and return the sentence that came of it."""
    from lapsus.upload import UploadError, upload

    try:
        return str(upload(Path(folder), "org/refused"))
    except UploadError as error:
        return f"UploadError: {error}"


if __name__ == "__main__":
    result = globals()[sys.argv[1]](**json.loads(sys.argv[2]))
    print(json.dumps({"result": result, "outside": OUTSIDE}))  # noqa: T201 - the answer to the caller
