"""The cards of the metrics: what the code says about itself is generated; the other sections are kept as written.

`make cards` rewrites them.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module

from lapsus import metrics

GRADIO = "6.31.0"  # the version that the apps were last seen to start with
FRONT_MATTER = """\
---
title: {title}
emoji: 〰️
colorFrom: blue
colorTo: yellow
sdk: gradio
sdk_version: {gradio}
app_file: app.py
pinned: false
license: apache-2.0
tags:
- evaluate
- metric
description: >-
{description}
---
"""
HOW_TO_USE = """\
```python
{example}
```

The same as a plain function, without evaluate: `from lapsus.metrics import {name}`."""


def card(name: str) -> str:
    """Return the card of a metric, with the hand-written sections of the present one."""
    module = import_module(f"{metrics.__name__}.{name}.{name}")
    title, _, example = (inspect.getdoc(module) or "").partition(".\n\n")
    docstring = inspect.getdoc(getattr(metrics, name)) or ""
    generated = {
        "Description": module._DESCRIPTION.strip(),  # noqa: SLF001 - evaluate's own convention
        "How to use": HOW_TO_USE.format(example=example, name=name),
        "Inputs and options": _bullets(docstring, "Args"),
        "Output": _bullets(docstring, "Returns"),
    }
    path = metrics.FOLDER / name / "README.md"
    written = {
        heading: text
        for heading, text in _sections(path.read_text("utf-8") if path.is_file() else "").items()
        if heading not in {*generated, "Citation"}
    }
    citation = {"Citation": f"```bibtex\n{module._CITATION}\n```"}  # noqa: SLF001 - as above
    head = FRONT_MATTER.format(
        title=title.partition(":")[0],
        gradio=GRADIO,
        description="\n".join(f"  {line}" for line in generated["Description"].splitlines()),
    )
    sections = {**generated, **written, **citation}
    return f"{head}\n# {title}\n\n" + "\n\n".join(f"## {head}\n\n{text}" for head, text in sections.items()) + "\n"


def _sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}


def _bullets(docstring: str, section: str) -> str:
    """Return a section of a Google docstring as a Markdown list."""
    found = re.search(rf"^{section}:\n((?:    .+\n?)+)", docstring, flags=re.MULTILINE)
    if not found:
        raise LookupError(f"The docstring has no section {section!r}: add one.")
    entries = re.sub(r"\n {6,}", " ", found[1]).splitlines()
    return "\n".join("- **{}**: {}".format(*entry.strip().split(": ", 1)) for entry in entries)
