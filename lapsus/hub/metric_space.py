"""The generated files of a metric's Space: its card, its requirements, and its app.

The card's sections that follow from the code are generated; its other sections stay as they are in README.md.
`make generated` writes card and requirements, an upload adds the app.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from importlib.metadata import version

from lapsus import metrics
from lapsus.metrics.base import StrictMetric

PYTHON = "3.11"  # the oldest that lapsus runs on; the Hub's default is older
GRADIO = "6.31.0"  # the last version with which the apps were tested
FRONT_MATTER = """\
---
title: {title}
emoji: 〰️
colorFrom: blue
colorTo: yellow
sdk: gradio
sdk_version: {gradio}
python_version: "{python}"
app_file: app.py
pinned: false
license: apache-2.0
tags:
- evaluate
- metric
- lapsus
description: >-
{description}
---
"""
HOW_TO_USE = """\
```python
{example}
```

The same as a plain function, without evaluate: `from lapsus.metrics import {name}`."""


HANDWRITTEN_SECTIONS = ("Values from the papers", "Limits")
APP = '''\
"""The app of this metric's Space; `lapsus push` writes it."""

from lapsus.integrations.metric_app import build_app
{imports}

if __name__ == "__main__":
    build_app({name}, {class_name}.EXAMPLE).launch()
'''


def load_metric_class(name: str) -> type[StrictMetric]:
    """Return the class that `evaluate` loads for a metric of this package."""
    module = import_module(f"{metrics.__name__}.{name}.{name}")
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, StrictMetric)]
    if len(classes) != 1:
        raise LookupError(f"metrics/{name}/{name}.py has {len(classes)} metric classes: write one.")
    return classes[0]


def render_metric_card(name: str) -> str:
    """Return the card of a metric, with the hand-written sections of the present one."""
    path = metrics.FOLDER / name / "README.md"
    handwritten = _split_sections(path.read_text("utf-8") if path.is_file() else "")
    if missing := [heading for heading in HANDWRITTEN_SECTIONS if not handwritten.get(heading)]:
        raise LookupError(f"metrics/{name}/README.md has no section {missing[0]!r}: write it, under ## {missing[0]}.")
    metric = load_metric_class(name)
    title, _, example = (inspect.getdoc(sys.modules[metric.__module__]) or "").partition(".\n\n")
    description = inspect.getdoc(metric) or ""
    docstring = inspect.getdoc(metrics.load_metrics()[name]) or ""
    sections = {
        "Description": description,
        "How to use": HOW_TO_USE.format(example=example, name=name),
        "Inputs and options": _format_bullets(docstring, "Args"),
        "Output": _format_bullets(docstring, "Returns"),
        **{heading: handwritten[heading] for heading in HANDWRITTEN_SECTIONS},
        "Citation": f"```bibtex\n{metric.CITATION}\n```",
    }
    head = FRONT_MATTER.format(
        title=title.partition(":")[0],
        gradio=GRADIO,
        python=PYTHON,
        description="\n".join(f"  {line}" for line in description.splitlines() if line),
    )
    return f"{head}\n# {title}\n\n" + "\n\n".join(f"## {head}\n\n{text}" for head, text in sections.items()) + "\n"


def render_space_files(name: str, repo_id: str, wheel: str | None = None) -> dict[str, str]:
    """Return the files of a metric's Space that depend on where it is: card, requirements and app.

    The card loads the metric by the name of the Space. `wheel` is the file of the Space to install; otherwise the
    version of lapsus comes from PyPI.
    """
    from huggingface_hub import constants

    pinned = f'evaluate.load("{repo_id}", revision="lapsus-{version("lapsus")}")'
    card = render_metric_card(name).replace(f'evaluate.load("metrics/{name}")', f'evaluate.load("{repo_id}")')
    card = card.replace(
        "The same as a plain function,", f"`{pinned}` stays at this version.\n\nThe same as a plain function,"
    )
    requirements = render_requirements(name)
    if wheel:
        address = f"lapsus @ {constants.ENDPOINT}/spaces/{repo_id}/resolve/main/{wheel}"
        requirements = requirements.replace(f"lapsus=={version('lapsus')}", address)
    return {"README.md": card, "requirements.txt": requirements, "app.py": render_app(name)}


def render_app(name: str) -> str:
    """Return the program of a metric's Space."""
    class_name = load_metric_class(name).__name__
    imports = sorted(
        f"from lapsus.metrics.{name}.{module} import {symbol}"
        for module, symbol in ((name, class_name), ("score", name))
    )
    return APP.format(name=name, class_name=class_name, imports="\n".join(imports))


def render_requirements(name: str) -> str:
    """Return what a metric's Space installs, one per line: this version of lapsus, and what else the metric imports."""
    imported = {"evaluate"}  # loads it
    for script in (f"{name}.py", "score.py"):
        for node in ast.walk(ast.parse((metrics.FOLDER / name / script).read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                imported.add(node.module.partition(".")[0])
    packages = sorted(imported - {"lapsus", *sys.stdlib_module_names})
    return "\n".join((f"lapsus=={version('lapsus')}", *packages)) + "\n"


def parse_docstring_section(docstring: str, section: str) -> dict[str, str]:
    r"""Return the names in a section of a Google docstring, in order, with their descriptions.

    >>> section = "Args:\n    texts: those to score.\n    seed: of the resampling,\n        a number.\n"
    >>> parse_docstring_section(section, "Args")
    {'texts': 'those to score.', 'seed': 'of the resampling, a number.'}
    """
    match = re.search(rf"^{section}:\n((?:    .+\n?)+)", docstring, flags=re.MULTILINE)
    if not match:
        raise LookupError(f"The docstring has no section {section!r}: add one.")
    entries = re.sub(r"\n {6,}", " ", match[1]).splitlines()
    return dict(entry.strip().split(": ", 1) for entry in entries)


def _format_bullets(docstring: str, section: str) -> str:
    return "\n".join(f"- **{name}**: {text}" for name, text in parse_docstring_section(docstring, section).items())


def _split_sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)[1:]
    return {heading: body.strip() for heading, body in zip(parts[::2], parts[1::2], strict=True)}
